/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists the network interfaces that matter, from sysfs and one dump of rtnetlink. Knows nothing of
 * links and modules. */
#include "nics.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "sysfs.h"

#define NET "/sys/class/net"
#define PCI "/sys/bus/pci/devices"

#define CLASS_NETWORK "0x02"

static void nics_done(PnNics *nics)
{
        for (size_t i = 0; i < nics->n; i++) {
                free(nics->v[i].name);
                free(nics->v[i].path);
        }
        free(nics->v);
        free(nics->links);
        *nics = (PnNics){0};
}

static const char *entry_id(const PnNicEntry *entry)
{
        return entry->name ? entry->name : entry->address;
}

unsigned pn_nic_index(const PnNicEntry *entry)
{
        char path[PATH_MAX + sizeof "/ifindex"], buf[32];
        PnInt index;

        (void)snprintf(path, sizeof path, "%s/ifindex", entry->path);
        if (pn_sysfs_read(AT_FDCWD, path, buf, sizeof buf) < 0)
                return 0;
        index = pn_parse_int(buf);
        return index.state == PN_KNOWN && index.v > 0 && index.v <= INT32_MAX ? (unsigned)index.v
                                                                              : 0;
}

bool pn_nic_is_on_bus(const PnNicEntry *entry, const char *bus)
{
        const char *at = strstr(entry->path, bus);

        return at && at > entry->path && at[-1] == '/' && at[strlen(bus)] >= '0' &&
               at[strlen(bus)] <= '9';
}

/* ---- What an interface hangs on ---- */

/* Whether a part of a path, from `start` up to `end`, is a PCI function's address. */
static bool is_address(const char *start, const char *end, char ret[static PN_PCI_ADDRESS_MAX])
{
        size_t n = (size_t)(end - start);
        char copy[PN_PCI_ADDRESS_MAX];
        PnPciAddress parsed;

        if (n >= sizeof copy)
                return false;
        memcpy(copy, start, n);
        copy[n] = '\0';
        if (pn_pci_address_parse(copy, &parsed) < 0)
                return false;
        memcpy(ret, copy, n + 1);
        return true;
}

/* The nearest PCI function that an interface's path goes through. An adapter on USB is on no
 * function of its own. */
static void find_address(PnNicEntry *entry)
{
        const char *end = entry->path + strlen(entry->path);

        if (pn_nic_is_on_bus(entry, "usb"))
                return;
        while (end > entry->path) {
                const char *start = end;

                while (start > entry->path && start[-1] != '/')
                        start--;
                if (is_address(start, end, entry->address))
                        return;
                end = start > entry->path ? start - 1 : entry->path;
        }
}

/* A switch's port that stands for a virtual function ("pf0vf3", "c1pf0vf3", "pf0sf88"). */
static bool stands_for_another(const PnNetLink *link)
{
        const char *name = link ? link->port_name : "";

        if (*name == 'c')
                name += 1 + strspn(name + 1, "0123456789");
        if (!pn_startswith(name, "pf"))
                return false;
        name += 2 + strspn(name + 2, "0123456789");
        return *name != '\0';
}

static const PnNetLink *find_link(const PnNics *nics, const char *name)
{
        size_t low = 0, high = nics->n_links;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                int r = strcmp(nics->links[middle].name, name);

                if (r == 0)
                        return &nics->links[middle];
                if (r < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

static bool exists(int dir, const char *name, const char *what)
{
        char path[NAME_MAX + 32];

        (void)snprintf(path, sizeof path, "%s/%s", name, what);
        return faccessat(dir, path, F_OK, 0) == 0;
}

/* "bond", "bridge" or "vlan", or NULL for what is of no interest. sysfs is asked where the dump
 * does not have the interface. */
static const char *kind_of(int dir, const char *name, const PnNetLink *link)
{
        static const char *const kinds[] = {"bond", "bridge", "vlan"};
        char path[NAME_MAX + 32], buf[PN_ATTRIBUTE_MAX + 1];

        if (link) {
                for (size_t i = 0; i < PN_ELEMENTS(kinds); i++)
                        if (strcmp(link->kind, kinds[i]) == 0)
                                return kinds[i];
                return NULL;
        }
        if (exists(dir, name, "bonding"))
                return "bond";
        if (exists(dir, name, "bridge"))
                return "bridge";
        (void)snprintf(path, sizeof path, "%s/uevent", name);
        if (pn_sysfs_read(dir, path, buf, sizeof buf) > 0 && strstr(buf, "DEVTYPE=vlan\n"))
                return "vlan";
        return NULL;
}

/* ---- The lists ---- */

static PnNicEntry *add(PnNics *nics, size_t *capacity)
{
        if (nics->n == *capacity) {
                size_t bigger = *capacity ? *capacity * 2 : 16;
                PnNicEntry *grown = reallocarray(nics->v, bigger, sizeof *grown);

                if (!grown)
                        return NULL;
                nics->v = grown;
                *capacity = bigger;
        }
        nics->v[nics->n] = (PnNicEntry){0};
        return &nics->v[nics->n++];
}

static int add_interface(PnNics *nics, size_t *capacity, int dir, const char *name,
                         bool physical_only)
{
        char target[PATH_MAX];
        ssize_t n = readlinkat(dir, name, target, sizeof target - 1);
        PnNicEntry *entry;
        const PnNetLink *link;
        const char *kind = NULL;
        bool is_physical;

        /* Files in /sys/class/net, such as bonding_masters, are no interfaces. */
        if (n < 0 || !pn_startswith(target, "../../"))
                return 0;
        target[n] = '\0';
        is_physical = !strstr(target, "/devices/virtual/");
        link = find_link(nics, name);
        if (is_physical && (exists(dir, name, "device/physfn") || stands_for_another(link)))
                return 0;
        if (!is_physical && (physical_only || !(kind = kind_of(dir, name, link))))
                return 0;
        entry = add(nics, capacity);
        if (!entry)
                return -ENOMEM;
        entry->name = strdup(name);
        if (asprintf(&entry->path, "/sys/%s", target + strlen("../../")) < 0)
                entry->path = NULL;
        if (!entry->name || !entry->path)
                return -ENOMEM;
        entry->is_physical = is_physical;
        entry->link = link;
        entry->kind = kind;
        if (is_physical)
                find_address(entry);
        return 0;
}

static int list_interfaces(PnNics *nics, size_t *capacity, bool physical_only, PnReport *report)
{
        _cleanup_close_ int dir = pn_sysfs_open(AT_FDCWD, NET);
        _cleanup_names_ PnNames names = {0};
        int r;

        if (dir == -ENOENT)
                return 0;
        r = dir < 0 ? dir : pn_sysfs_names(dir, ".", &names);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                pn_report_reason(report, "%s: %s", NET, strerror(-r));
        for (size_t i = 0; r >= 0 && i < names.n; i++)
                r = add_interface(nics, capacity, dir, names.v[i], physical_only);
        return r == -ENOMEM ? r : 0;
}

static int compare_addresses(const void *a, const void *b)
{
        const char *const *one = a, *const *other = b;

        return strcmp(*one, *other);
}

/* Network functions on which no interface was found; virtual functions need none. */
static int list_functions(PnNics *nics, size_t *capacity, PnReport *report)
{
        _cleanup_close_ int dir = pn_sysfs_open(AT_FDCWD, PCI);
        _cleanup_names_ PnNames names = {0};
        _cleanup_names_ PnNames used = {0}; /* addresses: entries move when the list grows */
        int r;

        if (dir == -ENOENT)
                return 0;
        r = dir < 0 ? dir : pn_sysfs_names(dir, ".", &names);
        if (r < 0) {
                if (r != -ENOMEM)
                        pn_report_reason(report, "%s: %s", PCI, strerror(-r));
                return r == -ENOMEM ? r : 0;
        }
        used.v = calloc(nics->n + 1, sizeof *used.v);
        if (!used.v)
                return -ENOMEM;
        for (size_t i = 0; i < nics->n; i++)
                if (*nics->v[i].address) {
                        used.v[used.n] = strdup(nics->v[i].address);
                        if (!used.v[used.n])
                                return -ENOMEM;
                        used.n++;
                }
        if (used.n > 1)
                qsort(used.v, used.n, sizeof *used.v, compare_addresses);
        for (size_t i = 0; i < names.n && r >= 0; i++) {
                char path[NAME_MAX + 32], class[32], address[PN_PCI_ADDRESS_MAX];
                const char *name = names.v[i];
                PnNicEntry *entry;

                (void)snprintf(path, sizeof path, "%s/class", name);
                if (pn_sysfs_read(dir, path, class, sizeof class) < 0 ||
                    !pn_startswith(class, CLASS_NETWORK) ||
                    !is_address(name, name + strlen(name), address) ||
                    (used.n && bsearch(&name, used.v, used.n, sizeof *used.v, compare_addresses)) ||
                    exists(dir, name, "physfn"))
                        continue;
                entry = add(nics, capacity);
                if (!entry || asprintf(&entry->path, "%s/%s", PCI, name) < 0) {
                        if (entry)
                                entry->path = NULL;
                        r = -ENOMEM;
                        break;
                }
                entry->is_physical = true;
                memcpy(entry->address, address, sizeof address);
        }
        return r == -ENOMEM ? r : 0;
}

static int list_nics(bool physical_only, PnNics *ret, PnReport *report)
{
        PnNics nics = {0};
        size_t capacity = 0;
        int r;

        /* Without the dump, sysfs tells most of it. */
        r = pn_netlink_links(&nics.links, &nics.n_links);
        if (r < 0) {
                nics.links = NULL;
                nics.n_links = 0;
        }
        r = list_interfaces(&nics, &capacity, physical_only, report);
        for (size_t i = 0; i < nics.n; i++)
                if (nics.v[i].is_physical) {
                        (void)pn_ethtool_netlink_family(&nics.ethtool);
                        break;
                }
        if (r == 0 && !physical_only)
                r = list_functions(&nics, &capacity, report);
        if (r < 0) {
                nics_done(&nics);
                return r;
        }
        *ret = nics;
        return 0;
}

static const char *name_of(const void *context, size_t i)
{
        const PnNics *nics = context;

        return entry_id(&nics->v[i]);
}

int pn_nics_walk(const PnWalk *source, bool physical_only, PnEmit *emit, PnReport *report)
{
        PnNics *nics = calloc(1, sizeof *nics);
        PnWalk walk = *source;
        bool abandoned = false;
        int r;

        if (!nics)
                return -ENOMEM;
        r = list_nics(physical_only, nics, report);
        if (r == 0) {
                walk.context = nics;
                walk.name = name_of;
                walk.n = nics->n;
                r = pn_walk(&walk, emit, report, &abandoned);
        }
        /* A worker that was left behind may still come back to it. */
        if (!abandoned) {
                nics_done(nics);
                free(nics);
        }
        return r;
}
