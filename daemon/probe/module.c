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
#include "record.h"
#include "sysfs.h"
#include "walk.h"

#define I2C_A0    0x50
#define I2C_A2    0x51
#define PAGE_SIZE 128

/* A module that is busy, or that somebody just pushed in, is asked once more after this time. */
#define RETRY_MS 20

/* The first bytes of all maps that stay the same as long as a module is in: what it is, and of
 * which revision. */
#define N_FIXED 2

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
        unsigned tried;  /* a bit for each area that was read now as a whole, well or not */
        bool is_renewed; /* the rest is the record's */
} Memory;

/* What is kept of a module between runs. Its pages are read once; then, as long as nobody can have
 * put another one in its place, only what it measures. */
typedef struct Record {
        char path[256]; /* of the port in sysfs */
        uint32_t index; /* of the interface */
        int64_t carrier_changes;
        uint32_t areas; /* a bit for each that was read; the driver has no others */
        uint8_t bytes[PN_N_MODULE_AREAS][PAGE_SIZE];
} Record;

#define RECORD_KIND UINT32_C(0x6d310001)

static bool is_transient(int r)
{
        return r == -EIO || r == -EBUSY || r == -EAGAIN || r == -ETIMEDOUT || r == -ENXIO;
}

static bool means_no_such_way(int r)
{
        return r == -EOPNOTSUPP || r == -ENODEV || r == -EINVAL;
}

static PnModuleSpan whole(PnModuleArea area)
{
        return (PnModuleSpan){area, areas[area].offset, PAGE_SIZE};
}

/* Reads some bytes of an area, at most a page. */
static int read_once(const Reader *reader, PnModuleSpan span, uint8_t *bytes)
{
        const Area *at = &areas[span.area];
        uint32_t flat = at->flat + span.at - at->offset;

        if (reader->netlink)
                return pn_ethtool_netlink_module(reader->netlink, reader->index, reader->interface,
                                                 at->i2c, at->page, span.at, span.n, bytes);
        if (at->flat == UINT32_MAX || flat > reader->flat_length ||
            reader->flat_length - flat < span.n)
                return -EOPNOTSUPP;
        return pn_ethtool_module_read(reader->fd, reader->interface, flat, span.n, bytes);
}

static int read_span(const Reader *reader, PnModuleSpan span, uint8_t *bytes)
{
        const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};
        int r = read_once(reader, span, bytes);

        if (!is_transient(r))
                return r;
        (void)nanosleep(&pause, NULL);
        return read_once(reader, span, bytes);
}

static int read_area(const Reader *reader, PnModuleArea area, Memory *memory)
{
        int r = read_span(reader, whole(area), memory->bytes[area]);

        memory->tried |= 1u << area;
        memory->pages.area[area] =
            (PnModulePage){.bytes = memory->bytes[area],
                           .n = r == 0 ? PAGE_SIZE : 0,
                           .reason = r == 0                 ? PN_ABSENT
                                     : means_no_such_way(r) ? PN_UNREAD_UNSUPPORTED
                                                            : pn_reason_from_errno(r)};
        return r;
}

/* Reads what can be decoded, each area once; what `memory` has of it already stays. Returns how it
 * went with the first. */
static int read_memory(const Reader *reader, Memory *memory)
{
        uint8_t first[PAGE_SIZE];
        bool any_failed = false;
        unsigned wanted;
        int r = 0;

        if (!(memory->tried & 1u << PN_MODULE_LOWER))
                r = read_area(reader, PN_MODULE_LOWER, memory);
        if (r < 0)
                return r;
        wanted = pn_module_wanted(&memory->pages, false) | 1u << PN_MODULE_LOWER;
        memory->tried &= wanted;
        for (PnModuleArea area = 0; area < PN_N_MODULE_AREAS; area++)
                if (!(wanted & 1u << area))
                        memory->pages.area[area] = (PnModulePage){0};
        while ((wanted = pn_module_wanted(&memory->pages, false) & ~memory->tried) != 0) {
                r = read_area(reader, (PnModuleArea)__builtin_ctz(wanted), memory);
                any_failed |= r < 0 && r != -EOPNOTSUPP;
        }
        if (!any_failed)
                return 0;
        /* Perhaps it was pulled out: then the rest must not be taken for this module's. */
        memcpy(first, memory->bytes[PN_MODULE_LOWER], sizeof first);
        r = read_once(reader, whole(PN_MODULE_LOWER), memory->bytes[PN_MODULE_LOWER]);
        if (r == 0 && memcmp(first, memory->bytes[PN_MODULE_LOWER], N_FIXED) == 0)
                return 0;
        *memory = (Memory){0};
        return r < 0 ? r : -EIO;
}

/* Reads bytes of an area, and the whole of it where that is what they are. */
static int renew_span(const Reader *reader, PnModuleSpan span, Memory *memory)
{
        uint8_t *to = memory->bytes[span.area] + span.at - areas[span.area].offset;

        return span.n == PAGE_SIZE ? read_area(reader, span.area, memory)
                                   : read_span(reader, span, to);
}

/* Of a module that is another than the record's, what was read of it in whole: the other pages are
 * the old one's. */
static int only_what_is_new(Memory *memory)
{
        for (PnModuleArea area = 0; area < PN_N_MODULE_AREAS; area++)
                if (!(memory->tried & 1u << area))
                        memory->pages.area[area] = (PnModulePage){0};
        return -ESTALE;
}

/* Takes a module's pages from its record and reads what it measures. Without a link nobody notices
 * that a module is exchanged, so then its serial number is read as well. 0; -ESTALE if it is
 * another module, of which then some pages may be in `memory`; or how a read failed. */
static int renew_memory(const Reader *reader, const Record *record, bool has_link, Memory *memory)
{
        PnModuleSpan serial;
        unsigned wanted;
        int r;

        *memory = (Memory){0};
        memcpy(memory->bytes, record->bytes, sizeof memory->bytes);
        for (PnModuleArea area = 0; area < PN_N_MODULE_AREAS; area++) {
                bool has = record->areas & 1u << area;

                memory->pages.area[area] = (PnModulePage){memory->bytes[area], has ? PAGE_SIZE : 0,
                                                          has ? PN_ABSENT : PN_UNREAD_UNSUPPORTED};
        }
        serial = pn_module_serial(&memory->pages);
        if (serial.n == 0 || !(record->areas & 1u << serial.area))
                return only_what_is_new(memory);
        if (!has_link) {
                size_t at = serial.at - areas[serial.area].offset;

                r = renew_span(reader, serial, memory);
                if (r < 0)
                        return r;
                if (memcmp(memory->bytes[serial.area] + at, record->bytes[serial.area] + at,
                           serial.n) != 0)
                        return only_what_is_new(memory);
        }
        wanted = pn_module_wanted(&memory->pages, true) & record->areas;
        for (PnModuleArea area = 0; area < PN_N_MODULE_AREAS; area++) {
                if (!(wanted & 1u << area))
                        continue;
                r = renew_span(reader, pn_module_readings(area), memory);
                if (r < 0)
                        return r;
                if (area == PN_MODULE_LOWER &&
                    memcmp(memory->bytes[area], record->bytes[area], N_FIXED) != 0)
                        return only_what_is_new(memory);
        }
        memory->is_renewed = true;
        return 0;
}

/* ---- The record ---- */

static void name_record(const PnNicEntry *entry, char *buf, size_t size)
{
        (void)snprintf(buf, size, "pages-%s", entry->name);
}

/* What identifies an insertion, as far as the port knows it. false if it does not. */
static bool identify_insertion(const PnNicEntry *entry, unsigned index, Record *ret)
{
        char path[PATH_MAX + sizeof "/carrier_changes"];
        PnInt changes = {0};

        (void)snprintf(path, sizeof path, "%s/carrier_changes", entry->path);
        pn_sysfs_int(AT_FDCWD, path, &changes);
        if (changes.state != PN_KNOWN || strlen(entry->path) >= sizeof ret->path)
                return false;
        *ret = (Record){.index = index, .carrier_changes = changes.v};
        memcpy(ret->path, entry->path, strlen(entry->path));
        return true;
}

static bool is_same_insertion(const Record *one, const Record *other)
{
        return one->index == other->index && one->carrier_changes == other->carrier_changes &&
               memcmp(one->path, other->path, sizeof one->path) == 0;
}

static bool has_link(const PnNicEntry *entry)
{
        char path[PATH_MAX + sizeof "/carrier"];
        PnInt carrier = {0};

        (void)snprintf(path, sizeof path, "%s/carrier", entry->path);
        pn_sysfs_int(AT_FDCWD, path, &carrier);
        return carrier.state == PN_KNOWN && carrier.v == 1;
}

/* The record of the module that is in a port now. false if there is none. */
static bool find_record(const PnNicEntry *entry, const Record *now, Record *ret)
{
        _cleanup_record_ PnRecord file = {-1};
        char name[NAME_MAX + 1];

        name_record(entry, name, sizeof name);
        return pn_record_find(name, &file) == 0 &&
               pn_record_read(&file, RECORD_KIND, ret, sizeof *ret) && is_same_insertion(ret, now);
}

/* Whether all bytes of a page are the same: as yet, or for good, nothing is in it. */
static bool is_blank(const uint8_t *page)
{
        return memcmp(page, page + 1, PAGE_SIZE - 1) == 0;
}

/* Whether what a module measures, if it does, was there to be decoded: a module that was just
 * pushed in may need a while for some of its pages. */
static bool is_settled(const PnModule *module)
{
        PnState state = module->diagnostics.state;

        return state == PN_KNOWN || state == PN_ABSENT || state == PN_UNREAD_UNSUPPORTED;
}

/* Keeps pages that were read in full, of an insertion that is still the same, and of which nothing
 * makes one doubt that they are what the module has: what fails now may be well in the next run. */
static void keep_record(const PnNicEntry *entry, unsigned index, Record *record,
                        const Memory *memory, const PnModule *module)
{
        _cleanup_record_ PnRecord file = {-1};
        char name[NAME_MAX + 1];
        Record now;

        if (!pn_text_is(&module->status, "present") || !is_settled(module) ||
            (module->checksum_ok.state == PN_KNOWN && !module->checksum_ok.v))
                return;
        for (PnModuleArea area = 0; area < PN_N_MODULE_AREAS; area++) {
                const PnModulePage *page = &memory->pages.area[area];

                if (page->n == PAGE_SIZE && is_blank(page->bytes))
                        return;
                if (page->n == PAGE_SIZE)
                        record->areas |= 1u << area;
                else if (memory->tried & 1u << area && page->reason != PN_UNREAD_UNSUPPORTED)
                        return;
        }
        if (!identify_insertion(entry, index, &now) || !is_same_insertion(&now, record))
                return;
        memcpy(record->bytes, memory->bytes, sizeof record->bytes);
        name_record(entry, name, sizeof name);
        if (pn_record_open(name, &file) == 0)
                (void)pn_record_write(&file, RECORD_KIND, record, sizeof *record);
}

/* ---- Ways to a module ---- */

/* With a record, what is not in it; without, or if it is another module's, all. */
static int read_pages(const PnNicEntry *entry, const Reader *reader, const Record *record,
                      Memory *memory)
{
        int r = record ? renew_memory(reader, record, has_link(entry), memory) : -ESTALE;

        if (!record)
                *memory = (Memory){0};
        return r == -ESTALE ? read_memory(reader, memory) : r;
}

/* By ioctl, whose answers go by name alone: they count only if the name is still the same
 * interface's. */
static int read_by_ioctl(const PnNicEntry *entry, Reader *reader, const Record *record,
                         Memory *memory)
{
        uint32_t type;
        int r;

        reader->netlink = NULL;
        r = pn_ethtool_module_info(reader->fd, entry->name, &type, &reader->flat_length);
        if (is_transient(r))
                r = pn_ethtool_module_info(reader->fd, entry->name, &type, &reader->flat_length);
        if (r == 0)
                r = read_pages(entry, reader, record, memory);
        return pn_nic_index(entry) == reader->index ? r : -ENODEV;
}

static int read_by_any_way(const PnNics *nics, const PnNicEntry *entry, unsigned index, int fd,
                           const Record *record, Memory *memory)
{
        _cleanup_(pn_ethtool_netlink_freep) PnEthtoolNetlink *netlink = NULL;
        Reader reader = {.interface = entry->name, .index = index, .fd = fd};
        int r = pn_ethtool_netlink_new(nics->ethtool, &netlink);

        if (r == 0) {
                reader.netlink = netlink;
                r = read_pages(entry, &reader, record, memory);
        }
        return means_no_such_way(r) ? read_by_ioctl(entry, &reader, record, memory) : r;
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

/* Reads and decodes a module: what it measures if its pages are in the record, else all. What goes
 * wrong with the former is no finding; then it is read as if there were no record. */
static int read_module(const PnNics *nics, const PnNicEntry *entry, unsigned index, int fd,
                       PnModule *module)
{
        Record now, record;
        Memory memory;
        bool is_known = identify_insertion(entry, index, &now);
        int r = -ESTALE;

        if (is_known && find_record(entry, &now, &record))
                r = read_by_any_way(nics, entry, index, fd, &record, &memory);
        if (r == 0 && memory.is_renewed)
                return pn_module_decode(&memory.pages, module);
        if (r < 0)
                r = read_by_any_way(nics, entry, index, fd, NULL, &memory);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return decode_failure(nics, entry, index, fd, r, module);
        r = pn_module_decode(&memory.pages, module);
        if (r == 0 && is_known)
                keep_record(entry, index, &now, &memory, module);
        return r;
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
        r = fd < 0 ? decode_failure(nics, entry, index, fd, fd, module)
                   : read_module(nics, entry, index, fd, module);
        if (r < 0)
                return r;
        return pn_nic_index(entry) == index ? 0 : -ENODEV;
}

int pn_source_module(PnEmit *emit, PnReport *report)
{
        const PnWalk walk = {.source = "module", .kind = PN_OBJECT_PORT_MODULE, .read = read_port};

        return pn_nics_walk(&walk, /* physical_only= */ true, emit, report);
}
