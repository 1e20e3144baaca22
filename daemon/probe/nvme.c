/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NVMe controllers and their namespaces, from sysfs alone: listing sends no command to a drive and
 * opens no device node. Reads neither `nuse` nor hwmon, each of which is a command. Knows nothing
 * of what lives on a namespace.
 *
 * With native multipath a controller has hidden path nodes, nvme3c5n1, each of which says that
 * controller 5 reaches namespace nvme3n1, and that is a block device under subsystem 3. Without it
 * the controller's directory holds the namespace itself. The number of a controller says nothing of
 * the names of its namespaces. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "pcie.h"
#include "source.h"
#include "sysfs.h"
#include "walk.h"

#define CONTROLLERS "/sys/class/nvme"
#define SUBSYSTEMS  "/sys/class/nvme-subsystem"
#define BLOCK       "/sys/class/block"

#define SECTOR_SIZE 512

/* The part of a subsystem that is of interest: its namespaces, and which controllers it has. */
typedef struct Subsystem {
        PnNames members;
        unsigned n_controllers;
} Subsystem;

typedef struct Nvme {
        int dir;
        int subsystem_dir; /* -1 where the kernel has none */
        PnNames names;
        PnNames subsystem_names;
        Subsystem *subsystems;
        size_t *subsystem_of; /* for each controller; SIZE_MAX: none */
} Nvme;

static void nvme_done(Nvme *nvme)
{
        for (size_t i = 0; nvme->subsystems && i < nvme->subsystem_names.n; i++)
                pn_names_done(&nvme->subsystems[i].members);
        free(nvme->subsystems);
        free(nvme->subsystem_of);
        pn_names_done(&nvme->subsystem_names);
        pn_names_done(&nvme->names);
        pn_close(nvme->dir);
        pn_close(nvme->subsystem_dir);
}

/* ---- Names ---- */

static bool skip_number(const char **s, unsigned *ret)
{
        unsigned v = 0;

        if (**s < '0' || **s > '9')
                return false;
        for (; **s >= '0' && **s <= '9'; (*s)++)
                if (__builtin_mul_overflow(v, 10u, &v) ||
                    __builtin_add_overflow(v, (unsigned)(**s - '0'), &v))
                        return false;
        *ret = v;
        return true;
}

typedef struct NodeName {
        unsigned instance;  /* of the controller, or of the subsystem where there is multipath */
        bool is_path;       /* nvmeXcYnZ */
        bool is_controller; /* nvmeX */
        unsigned namespace;
} NodeName;

static bool parse_name(const char *s, NodeName *ret)
{
        NodeName name = {0};
        unsigned controller;

        if (!pn_startswith(s, "nvme"))
                return false;
        s += strlen("nvme");
        if (!skip_number(&s, &name.instance))
                return false;
        if (*s == '\0') {
                name.is_controller = true;
        } else {
                if (*s == 'c') {
                        s++;
                        name.is_path = true;
                        if (!skip_number(&s, &controller))
                                return false;
                }
                if (*s++ != 'n' || !skip_number(&s, &name.namespace) || *s != '\0')
                        return false;
        }
        *ret = name;
        return true;
}

static bool has_name(const PnNames *names, const char *name)
{
        for (size_t i = 0; i < names->n; i++)
                if (pn_streq(names->v[i], name))
                        return true;
        return false;
}

static int compare_strings(const void *a, const void *b)
{
        const char *const *x = a, *const *y = b;

        return strcmp(*x, *y);
}

/* ---- Lists ---- */

static void drop_others(PnNames *names)
{
        size_t kept = 0;

        for (size_t i = 0; i < names->n; i++) {
                NodeName name;

                if (parse_name(names->v[i], &name) && name.is_controller)
                        names->v[kept++] = names->v[i];
                else
                        free(names->v[i]);
        }
        names->n = kept;
}

/* Which subsystem each controller belongs to: the subsystem's directory has a link to it. */
static int list_subsystems(Nvme *nvme)
{
        int r;

        nvme->subsystem_of = calloc(nvme->names.n ? nvme->names.n : 1, sizeof *nvme->subsystem_of);
        if (!nvme->subsystem_of)
                return -ENOMEM;
        for (size_t i = 0; i < nvme->names.n; i++)
                nvme->subsystem_of[i] = SIZE_MAX;
        nvme->subsystem_dir = pn_sysfs_open(AT_FDCWD, SUBSYSTEMS);
        if (nvme->subsystem_dir < 0)
                return 0;
        r = pn_sysfs_names(nvme->subsystem_dir, ".", &nvme->subsystem_names);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        nvme->subsystems =
            calloc(nvme->subsystem_names.n ? nvme->subsystem_names.n : 1, sizeof *nvme->subsystems);
        if (!nvme->subsystems)
                return -ENOMEM;
        for (size_t i = 0; i < nvme->subsystem_names.n; i++) {
                Subsystem *subsystem = &nvme->subsystems[i];

                r = pn_sysfs_names(nvme->subsystem_dir, nvme->subsystem_names.v[i],
                                   &subsystem->members);
                if (r == -ENOMEM)
                        return r;
                for (size_t k = 0; k < subsystem->members.n; k++) {
                        char *const *member = &subsystem->members.v[k], **found;
                        NodeName name;

                        if (!parse_name(*member, &name) || !name.is_controller)
                                continue;
                        subsystem->n_controllers++;
                        found = bsearch(member, nvme->names.v, nvme->names.n, sizeof *nvme->names.v,
                                        compare_strings);
                        if (found)
                                nvme->subsystem_of[found - nvme->names.v] = i;
                }
        }
        return 0;
}

/* ---- A namespace ---- */

static int read_namespace(int at, const char *path, const char *name, PnNvme *object)
{
        _cleanup_close_ int dir = pn_sysfs_open(at, path);
        PnNamespace *namespace;
        PnInt sectors;
        int r;

        if (dir < 0)
                return 0; /* gone in the meantime */
        for (unsigned i = 0; i < object->namespaces.n; i++)
                if (pn_text_is(&object->namespaces.v[i].name, name))
                        return 0;
        namespace = PN_APPEND(&object->namespaces);
        if (!namespace)
                return -ENOMEM;
        r = pn_set_text(&namespace->name, name);
        if (r < 0)
                return r;
        pn_sysfs_int(dir, "nsid", &namespace->nsid);
        pn_sysfs_int(dir, "size", &sectors);
        namespace->capacity_bytes = sectors;
        if (sectors.state == PN_KNOWN &&
            (sectors.v < 0 ||
             __builtin_mul_overflow(sectors.v, (int64_t)SECTOR_SIZE, &namespace->capacity_bytes.v)))
        namespace->capacity_bytes = (PnInt){.state = PN_UNREAD_OVERFLOW};
        pn_sysfs_int(dir, "queue/logical_block_size", &namespace->block_size);
        pn_sysfs_int(dir, "metadata_bytes", &namespace->metadata_size); /* since Linux 6.8 */
        return pn_sysfs_text(dir, "dev", &namespace->device_number);
}

/* The namespace that a path leads to, under its subsystem; where that is not to be seen, among all
 * block devices. */
static int read_head(const Nvme *nvme, size_t subsystem, const char *head, PnNvme *object)
{
        char path[PATH_MAX];

        if (subsystem != SIZE_MAX && has_name(&nvme->subsystems[subsystem].members, head)) {
                (void)snprintf(path, sizeof path, "%s/%s", nvme->subsystem_names.v[subsystem],
                               head);
                return read_namespace(nvme->subsystem_dir, path, head, object);
        }
        (void)snprintf(path, sizeof path, "%s/%s", BLOCK, head);
        return read_namespace(AT_FDCWD, path, head, object);
}

static int read_namespaces(const Nvme *nvme, size_t i, int dir, PnNvme *object)
{
        _cleanup_names_ PnNames entries = {0};
        size_t subsystem = nvme->subsystem_of[i];
        bool any = false;
        int r = pn_sysfs_names(dir, ".", &entries);

        object->namespaces.state = PN_KNOWN;
        if (r < 0) {
                object->namespaces.state = pn_reason_from_errno(r);
                return r == -ENOMEM ? r : 0;
        }
        for (size_t k = 0; k < entries.n; k++) {
                char head[32];
                NodeName name;

                if (!parse_name(entries.v[k], &name) || name.is_controller)
                        continue;
                any = true;
                (void)snprintf(head, sizeof head, "nvme%un%u", name.instance, name.namespace);
                r = name.is_path ? read_head(nvme, subsystem, head, object)
                                 : read_namespace(dir, entries.v[k], entries.v[k], object);
                if (r < 0)
                        return r;
        }
        /* A namespace that shows no paths belongs to the only controller that there is. With more
         * of them it is not to be known which reaches it. */
        if (any || subsystem == SIZE_MAX || nvme->subsystems[subsystem].n_controllers != 1)
                return 0;
        for (size_t k = 0; k < nvme->subsystems[subsystem].members.n; k++) {
                const char *member = nvme->subsystems[subsystem].members.v[k];
                NodeName name;

                if (!parse_name(member, &name) || name.is_controller || name.is_path)
                        continue;
                r = read_head(nvme, subsystem, member, object);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ---- A controller ---- */

/* The address is a PCI function's only for PCIe: elsewhere it tells of hosts and ports. */
static int read_address(int dir, PnNvme *object)
{
        char buf[NAME_MAX + 1];
        PnPciAddress address;
        ssize_t n = 0;

        if (object->transport.state == PN_KNOWN && !pn_text_is(&object->transport, "pcie"))
                return 0;
        n = pn_sysfs_read(dir, "address", buf, sizeof buf);
        if (n >= 0)
                buf[strcspn(buf, "\n")] = '\0';
        /* Before Linux 4.13 there is only the link. */
        if ((n < 0 || pn_pci_address_parse(buf, &address) < 0) &&
            (pn_sysfs_link(dir, "device", buf, sizeof buf) < 0 ||
             pn_pci_address_parse(buf, &address) < 0))
                return 0;
        return pn_set_text(&object->address, buf);
}

static int read_controller(const void *context, size_t i, void *object_at, void *fact _unused_)
{
        const Nvme *nvme = context;
        _cleanup_close_ int dir = pn_sysfs_open(nvme->dir, nvme->names.v[i]);
        PnNvme *object = object_at;
        int r;

        if (dir < 0)
                return dir == -ENOENT || dir == -ENOTDIR ? -ENODEV : dir;
        if ((r = pn_set_text(&object->name, nvme->names.v[i])) < 0 ||
            (r = pn_sysfs_text(dir, "transport", &object->transport)) < 0 ||
            (r = pn_sysfs_text(dir, "state", &object->state)) < 0 ||
            (r = read_address(dir, object)) < 0 ||
            (r = pn_sysfs_text(dir, "model", &object->model)) < 0 ||
            (r = pn_sysfs_text(dir, "serial", &object->serial)) < 0 ||
            (r = pn_sysfs_text(dir, "firmware_rev", &object->firmware)) < 0 ||
            (r = pn_sysfs_text(dir, "subsysnqn", &object->subsystem)) < 0)
                return r;
        pn_sysfs_int(dir, "cntlid", &object->controller_id);
        r = read_namespaces(nvme, i, dir, object);
        if (r < 0)
                return r;
        /* A controller that goes while it is read leaves its attributes behind one by one. */
        if (object->model.state != PN_KNOWN && object->state.state != PN_KNOWN &&
            faccessat(nvme->dir, nvme->names.v[i], F_OK, 0) < 0)
                return -ENODEV;
        return 0;
}

static const char *controller_name(const void *context, size_t i)
{
        const Nvme *nvme = context;

        return nvme->names.v[i];
}

static int list_controllers(Nvme *nvme, PnReport *report)
{
        int r;

        nvme->dir = pn_sysfs_open(AT_FDCWD, CONTROLLERS);
        if (nvme->dir == -ENOENT)
                return 0;
        r = nvme->dir < 0 ? nvme->dir : pn_sysfs_names(nvme->dir, ".", &nvme->names);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                pn_report_reason(report, "%s: %s", CONTROLLERS, strerror(-r));
                return 0;
        }
        drop_others(&nvme->names);
        return list_subsystems(nvme);
}

int pn_source_nvme(PnEmit *emit, PnReport *report)
{
        Nvme *nvme = calloc(1, sizeof *nvme);
        PnWalk walk = {.source = "nvme",
                       .kind = PN_OBJECT_NVME,
                       .context = nvme,
                       .name = controller_name,
                       .read = read_controller};
        bool abandoned = false;
        int r;

        if (!nvme)
                return -ENOMEM;
        nvme->dir = nvme->subsystem_dir = -1;
        r = list_controllers(nvme, report);
        if (r == 0) {
                walk.n = nvme->names.n;
                r = pn_walk(&walk, emit, report, &abandoned);
        }
        if (!abandoned) {
                nvme_done(nvme);
                free(nvme);
        }
        return r;
}
