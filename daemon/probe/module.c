/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is plugged into network ports: reads transceivers' memory, as little of it as can be
 * decoded, one port at a time, through ethtool's netlink family or, on older kernels, its ioctl.
 * Knows no map of that memory, and nothing of links.
 *
 * Each page is a slow two-wire transfer, which may hold up what else the driver does: so this
 * source has a slow interval of its own. */
#include "module.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <stdio.h>
#include <time.h>

#include "nics.h"
#include "pci.h"
#include "sysfs.h"
#include "walk.h"

#define I2C_A0    0x50
#define I2C_A2    0x51
#define PAGE_SIZE 128

/* A module that is busy, or that somebody just pushed in, is asked once more after this time. */
#define RETRY_MS 20

typedef struct Area {
        uint8_t i2c, page, offset;
        uint32_t flat; /* where it is in what the ioctl reads */
} Area;

static const Area areas[PN_N_MODULE_AREAS] = {
    [PN_MODULE_LOWER] = {I2C_A0, 0, 0, 0},
    [PN_MODULE_A2] = {I2C_A2, 0, 0, 256},
    [PN_MODULE_PAGE_00] = {I2C_A0, 0, 128, 128},
    [PN_MODULE_PAGE_01] = {I2C_A0, 1, 128, 256},
    [PN_MODULE_PAGE_02] = {I2C_A0, 2, 128, 384},
    [PN_MODULE_PAGE_03] = {I2C_A0, 3, 128, 512},
    [PN_MODULE_PAGE_11] = {I2C_A0, 0x11, 128, UINT32_MAX},
};

/* A port whose module is read, and how. */
typedef struct Reader {
        const char *interface;
        unsigned index;
        PnEthtoolNetlink *netlink; /* NULL: by ioctl */
        int fd;
        uint32_t flat_length; /* by ioctl only: how much there is */
} Reader;

/* The memory of one module. */
typedef struct Memory {
        uint8_t bytes[PN_N_MODULE_AREAS][PAGE_SIZE];
        PnModulePages pages;
        unsigned tried;
} Memory;

static bool is_transient(int r)
{
        return r == -EIO || r == -EBUSY || r == -EAGAIN || r == -ETIMEDOUT || r == -ENXIO;
}

static int read_once(const Reader *reader, PnModuleArea area, uint8_t *bytes)
{
        const Area *at = &areas[area];

        if (reader->netlink)
                return pn_ethtool_netlink_module(reader->netlink, reader->index, reader->interface,
                                                 at->i2c, at->page, at->offset, PAGE_SIZE, bytes);
        if (at->flat == UINT32_MAX || at->flat > reader->flat_length ||
            reader->flat_length - at->flat < PAGE_SIZE)
                return -EOPNOTSUPP;
        return pn_ethtool_module_read(reader->fd, reader->interface, at->flat, PAGE_SIZE, bytes);
}

static int read_area(const Reader *reader, PnModuleArea area, Memory *memory)
{
        const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};
        int r = read_once(reader, area, memory->bytes[area]);

        if (is_transient(r)) {
                (void)nanosleep(&pause, NULL);
                r = read_once(reader, area, memory->bytes[area]);
        }
        memory->tried |= 1u << area;
        memory->pages.area[area] =
            (PnModulePage){.bytes = memory->bytes[area],
                           .n = r == 0 ? PAGE_SIZE : 0,
                           .reason = r == 0 ? PN_ABSENT : pn_reason_from_errno(r)};
        return r;
}

/* Reads what can be decoded, each area once. Returns how it went with the first. */
static int read_memory(const Reader *reader, Memory *memory)
{
        uint8_t first[PAGE_SIZE];
        bool any_failed = false;
        unsigned wanted;
        int r;

        *memory = (Memory){0};
        r = read_area(reader, PN_MODULE_LOWER, memory);
        if (r < 0)
                return r;
        while ((wanted = pn_module_wanted(&memory->pages, false) & ~memory->tried) != 0)
                any_failed |= read_area(reader, (PnModuleArea)__builtin_ctz(wanted), memory) < 0;
        if (!any_failed)
                return 0;
        /* Perhaps it was pulled out: then the rest must not be taken for this module's. */
        memcpy(first, memory->bytes[PN_MODULE_LOWER], sizeof first);
        r = read_once(reader, PN_MODULE_LOWER, memory->bytes[PN_MODULE_LOWER]);
        if (r == 0 && memcmp(first, memory->bytes[PN_MODULE_LOWER], 3) == 0)
                return 0;
        *memory = (Memory){0};
        return r < 0 ? r : -EIO;
}

static bool means_no_such_way(int r)
{
        return r == -EOPNOTSUPP || r == -ENODEV || r == -EINVAL;
}

/* By ioctl, whose answers go by name alone: they count only if the name is still the same
 * interface's. */
static int read_by_ioctl(const PnNicEntry *entry, Reader *reader, Memory *memory)
{
        uint32_t type;
        int r;

        reader->netlink = NULL;
        r = pn_ethtool_module_info(reader->fd, entry->name, &type, &reader->flat_length);
        if (is_transient(r))
                r = pn_ethtool_module_info(reader->fd, entry->name, &type, &reader->flat_length);
        if (r == 0)
                r = read_memory(reader, memory);
        return pn_nic_index(entry) == reader->index ? r : -ENODEV;
}

static int read_by_any_way(const PnNics *nics, const PnNicEntry *entry, unsigned index, int fd,
                           Memory *memory)
{
        _cleanup_(pn_ethtool_netlink_freep) PnEthtoolNetlink *netlink = NULL;
        Reader reader = {.interface = entry->name, .index = index, .fd = fd};
        int r = pn_ethtool_netlink_new(nics->ethtool, &netlink), s;

        if (r == 0) {
                reader.netlink = netlink;
                r = read_memory(&reader, memory);
        }
        if (!means_no_such_way(r))
                return r;
        s = read_by_ioctl(entry, &reader, memory);
        return s;
}

/* What a driver says of the connector; NULL if nothing. */
static const char *connector(const PnNics *nics, const PnNicEntry *entry, unsigned index, int fd)
{
        _cleanup_(pn_ethtool_netlink_freep) PnEthtoolNetlink *netlink = NULL;
        PnEthtoolLink link = {0};

        if (pn_ethtool_netlink_new(nics->ethtool, &netlink) == 0)
                (void)pn_ethtool_netlink_port(netlink, index, entry->name, &link);
        if (!link.has_port && pn_ethtool_link(fd, entry->name, &link) < 0)
                return NULL;
        return pn_link_port(link.port, link.supported);
}

/* An empty cage, and a copper port whose driver has no such request: a copper module's has. */
static int decode_failure(const PnNics *nics, const PnNicEntry *entry, unsigned index, int fd,
                          int error, PnModule *module)
{
        const char *port = connector(nics, entry, index, fd);
        PnModulePages pages = {0};

        if (pn_streq(port, "none") || (pn_streq(port, "tp") && means_no_such_way(error)))
                return pn_set_text(&module->status, "none");
        /* What a driver without this request says differs. */
        pages.area[PN_MODULE_LOWER].reason =
            means_no_such_way(error) ? PN_UNREAD_UNSUPPORTED : pn_reason_from_errno(error);
        return pn_module_decode(&pages, module);
}

static int read_port(const void *context, size_t i, void *object_at, void *fact _unused_)
{
        const PnNics *nics = context;
        const PnNicEntry *entry = &nics->v[i];
        _cleanup_close_ int fd = -1;
        PnPortModule *object = object_at;
        char path[PATH_MAX + sizeof "/dev_port"];
        unsigned index = pn_nic_index(entry);
        PnModule *module;
        Memory memory;
        int r;

        if (!index)
                return -ENODEV;
        if ((r = pn_set_text(&object->name, entry->name)) < 0 ||
            (r = pn_set_text(&object->address, *entry->address ? entry->address : NULL)) < 0)
                return r;
        (void)snprintf(path, sizeof path, "%s/dev_port", entry->path);
        if (*entry->address)
                pn_sysfs_int(AT_FDCWD, path, &object->port_number);
        if (pn_path_is_asleep(entry->path)) {
                object->module.state = PN_UNREAD_ASLEEP;
                return 0;
        }
        module = PN_NEW(&object->module);
        if (!module)
                return -ENOMEM;
        if (pn_nic_is_on_bus(entry, "usb") || pn_nic_is_on_bus(entry, "virtio"))
                return pn_set_text(&module->status, "none");
        fd = pn_ethtool_open();
        r = fd < 0 ? fd : read_by_any_way(nics, entry, index, fd, &memory);
        if (r == 0)
                r = pn_module_decode(&memory.pages, module);
        else if (r != -ENOMEM)
                r = decode_failure(nics, entry, index, fd, r, module);
        if (r < 0)
                return r;
        return pn_nic_index(entry) == index ? 0 : -ENODEV;
}

int pn_source_module(PnEmit *emit, PnReport *report)
{
        const PnWalk walk = {.source = "module", .kind = PN_OBJECT_PORT_MODULE, .read = read_port};

        return pn_nics_walk(&walk, /* physical_only= */ true, emit, report);
}
