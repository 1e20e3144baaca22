/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PCI functions and their links, from sysfs and, where it may be read, config space. Knows neither
 * what is on a function nor whether a link is good.
 *
 * Config space, and the link attributes of kernels that resume a device for them, are read only
 * from functions that are awake: see is_awake(). What is read of a sleeping one is in the kernel's
 * memory. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "config.h"
#include "pci.h"
#include "pciconf.h"
#include "pcie.h"
#include "source.h"
#include "sysfs.h"
#include "text.h"
#include "udev.h"
#include "walk.h"

#define DEVICES "/sys/bus/pci/devices"
#define SLOTS   "/sys/bus/pci/slots"

/* Slot numbers in a port's registers have 13 bits: what is larger was made up (Hyper-V). */
#define SLOT_NUMBER_MAX 8191

/* How deep to look for ancestors: bus numbers have 8 bits, and no real path is a tenth of this. */
#define DEPTH_MAX 64

/* Drivers that hand a function to a guest or to a program: it is not ours to touch then. */
static const char *const passing_drivers[] = {
    "vfio-pci", "uio_pci_generic", "igb_uio", "pci-stub", "xen-pciback", "pciback",
};

typedef enum Kind {
        KIND_UNKNOWN = 0,
        KIND_ENDPOINT,
        KIND_ROOT_PORT,
        KIND_UPSTREAM_PORT,
        KIND_DOWNSTREAM_PORT,
        KIND_BRIDGE,
        KIND_INTEGRATED,
        KIND_VIRTUAL_FUNCTION,
        KIND_CONVENTIONAL,
} Kind;

static const char *const kind_names[] = {
    [KIND_ENDPOINT] = "endpoint",
    [KIND_ROOT_PORT] = "root_port",
    [KIND_UPSTREAM_PORT] = "upstream_port",
    [KIND_DOWNSTREAM_PORT] = "downstream_port",
    [KIND_BRIDGE] = "bridge",
    [KIND_INTEGRATED] = "integrated",
    [KIND_VIRTUAL_FUNCTION] = "virtual_function",
    [KIND_CONVENTIONAL] = "conventional",
};

/* What is remembered of a function for those below it. */
typedef struct Fact {
        Kind kind;
        unsigned current_gen, current_width; /* 0: unknown */
} Fact;

typedef struct Function {
        char *name; /* the kernel's address */
        char *path; /* the real directory, as the link in DEVICES spells it; never empty */
        char parent[PN_PCI_ADDRESS_MAX];
        size_t parent_at; /* its index; SIZE_MAX: none */
} Function;

typedef struct Slot {
        char address[PN_PCI_ADDRESS_MAX]; /* without the function: "0000:61:00" */
        char *name;
} Slot;

typedef struct Pci {
        int dir;
        Function *functions;
        size_t n;
        Slot *slots;
        size_t n_slots;
        PnHwdb *hwdb;
        Fact *facts;
        PnPolicy policy;
} Pci;

static void pci_done(Pci *pci)
{
        for (size_t i = 0; i < pci->n; i++) {
                free(pci->functions[i].name);
                free(pci->functions[i].path);
        }
        for (size_t i = 0; i < pci->n_slots; i++)
                free(pci->slots[i].name);
        pn_policy_done(&pci->policy);
        free(pci->functions);
        free(pci->slots);
        free(pci->facts);
        pn_hwdb_free(pci->hwdb);
        pn_close(pci->dir);
        *pci = (Pci){.dir = -1};
}

/* ---- The list of functions ---- */

/* Whether the n characters at s are a function's address, which is then copied. */
static bool is_address(const char *s, size_t n, char address[static PN_PCI_ADDRESS_MAX])
{
        char copy[PN_PCI_ADDRESS_MAX];
        PnPciAddress parsed;

        if (n >= sizeof copy)
                return false;
        memcpy(copy, s, n);
        copy[n] = '\0';
        if (pn_pci_address_parse(copy, &parsed) < 0)
                return false;
        memcpy(address, copy, n + 1);
        return true;
}

/* The parent is the nearest function that the real path goes through. Between them may be the root
 * of a domain of its own, as with Intel VMD: …/0000:e2:00.5/pci10000:e0/10000:e0:02.0. */
static void find_parent(Function *function)
{
        const char *end = strrchr(function->path, '/');

        while (end) {
                const char *start = end;

                while (start > function->path && start[-1] != '/')
                        start--;
                if (is_address(start, (size_t)(end - start), function->parent))
                        return;
                end = start > function->path ? start - 1 : NULL;
        }
}

static int compare_paths(const void *a, const void *b)
{
        const Function *x = a, *y = b;

        return strcmp(x->path, y->path);
}

typedef struct ByName {
        const char *name;
        size_t at;
} ByName;

static int compare_by_name(const void *a, const void *b)
{
        const ByName *x = a, *y = b;

        return strcmp(x->name, y->name);
}

static int find_parents(Pci *pci)
{
        _cleanup_free_ ByName *index = calloc(pci->n ? pci->n : 1, sizeof *index);

        if (!index)
                return -ENOMEM;
        for (size_t i = 0; i < pci->n; i++)
                index[i] = (ByName){pci->functions[i].name, i};
        if (pci->n > 1)
                qsort(index, pci->n, sizeof *index, compare_by_name);
        for (size_t i = 0; i < pci->n; i++) {
                Function *function = &pci->functions[i];
                ByName key = {.name = function->parent}, *found;

                find_parent(function);
                found = bsearch(&key, index, pci->n, sizeof *index, compare_by_name);
                function->parent_at = found ? found->at : SIZE_MAX;
        }
        return 0;
}

/* The n characters at s, which end in a function's address, as a function of its own, unless the
 * list of `n_listed` names has it. */
static int add_ancestor(Pci *pci, const ByName *listed, size_t n_listed, const char *s, size_t n,
                        const char *address)
{
        ByName key = {.name = address};
        Function *bigger;

        if (bsearch(&key, listed, n_listed, sizeof *listed, compare_by_name))
                return 0;
        for (size_t i = n_listed; i < pci->n; i++)
                if (pn_streq(pci->functions[i].name, address))
                        return 0;
        bigger = reallocarray(pci->functions, pci->n + 1, sizeof *bigger);
        if (!bigger)
                return -ENOMEM;
        pci->functions = bigger;
        pci->functions[pci->n] = (Function){.name = strdup(address), .path = strndup(s, n)};
        pci->n++;
        return pci->functions[pci->n - 1].name && pci->functions[pci->n - 1].path ? 0 : -ENOMEM;
}

/* A function that another's real path goes through is there, whether the bus lists it or not: trees
 * that were saved in part leave such ports out, and a link without its port cannot be judged. */
static int add_unlisted_ancestors(Pci *pci)
{
        size_t n_listed = pci->n;
        _cleanup_free_ ByName *listed = calloc(n_listed ? n_listed : 1, sizeof *listed);
        int r = 0;

        if (!listed)
                return -ENOMEM;
        for (size_t i = 0; i < n_listed; i++)
                listed[i] = (ByName){pci->functions[i].name, i};
        if (n_listed > 1)
                qsort(listed, n_listed, sizeof *listed, compare_by_name);
        for (size_t i = 0; i < n_listed && r == 0; i++) {
                const char *path = pci->functions[i].path, *end = strrchr(path, '/');

                while (end && r == 0) {
                        char address[PN_PCI_ADDRESS_MAX];
                        const char *start = end;

                        while (start > path && start[-1] != '/')
                                start--;
                        if (is_address(start, (size_t)(end - start), address))
                                r = add_ancestor(pci, listed, n_listed, path, (size_t)(end - path),
                                                 address);
                        end = start > path ? start - 1 : NULL;
                }
        }
        return r;
}

/* Lists functions so that each comes after its parent: in the order of real paths. */
static int list_functions(Pci *pci, PnReport *report)
{
        _cleanup_names_ PnNames names = {0};
        int r;

        pci->dir = pn_sysfs_open(AT_FDCWD, DEVICES);
        if (pci->dir == -ENOENT)
                return 0;
        r = pci->dir < 0 ? pci->dir : pn_sysfs_names(pci->dir, ".", &names);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                pn_report_reason(report, "%s: %s", DEVICES, strerror(-r));
                return 0;
        }
        pci->functions = calloc(names.n ? names.n : 1, sizeof *pci->functions);
        if (!pci->functions)
                return -ENOMEM;
        for (size_t i = 0; i < names.n; i++) {
                Function *function = &pci->functions[pci->n];
                char target[PATH_MAX];
                PnPciAddress address;
                ssize_t length;

                if (pn_pci_address_parse(names.v[i], &address) < 0)
                        continue;
                length = readlinkat(pci->dir, names.v[i], target, sizeof target - 1);
                if (length < 0 && errno == ENOENT)
                        continue;
                target[length < 0 ? 0 : length] = '\0';
                function->path = strdup(length > 0 ? target : names.v[i]);
                function->name = PN_STEAL(names.v[i]);
                pci->n++;
                if (!function->path)
                        return -ENOMEM;
        }
        r = add_unlisted_ancestors(pci);
        if (r < 0)
                return r;
        if (pci->n > 1)
                qsort(pci->functions, pci->n, sizeof *pci->functions, compare_paths);
        return find_parents(pci);
}

/* ---- Slots ---- */

static int compare_slots(const void *a, const void *b)
{
        const Slot *x = a, *y = b;

        return strcmp(x->address, y->address);
}

/* The kernel appends "-1" and so on to a name that is taken. */
static bool is_made_up(const char *slot)
{
        char digits[NAME_MAX + 1];
        size_t n = strspn(slot, "0123456789");
        PnInt number;

        if (n == 0 || (slot[n] != '\0' && slot[n] != '-'))
                return false;
        memcpy(digits, slot, n);
        digits[n] = '\0';
        number = pn_parse_int(digits);
        return number.state != PN_KNOWN || number.v > SLOT_NUMBER_MAX;
}

/* Reads the kernel's slots, once for all functions. */
static int list_slots(Pci *pci)
{
        _cleanup_names_ PnNames names = {0};
        _cleanup_close_ int dir = pn_sysfs_open(AT_FDCWD, SLOTS);
        int r;

        if (dir < 0)
                return 0;
        r = pn_sysfs_names(dir, ".", &names);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        pci->slots = calloc(names.n ? names.n : 1, sizeof *pci->slots);
        if (!pci->slots)
                return -ENOMEM;
        for (size_t i = 0; i < names.n; i++) {
                char path[NAME_MAX + sizeof "/address"], address[64], whole[64 + 2];
                Slot *slot = &pci->slots[pci->n_slots];
                ssize_t n;

                if (is_made_up(names.v[i]))
                        continue;
                (void)snprintf(path, sizeof path, "%s/address", names.v[i]);
                n = pn_sysfs_read(dir, path, address, sizeof address);
                if (n < 0)
                        continue;
                address[strcspn(address, "\n")] = '\0';
                (void)snprintf(whole, sizeof whole, "%s.0", address);
                if (!is_address(whole, strlen(whole), slot->address))
                        continue;
                *strrchr(slot->address, '.') = '\0';
                r = pn_text_from_utf8(names.v[i], strlen(names.v[i]), &slot->name);
                if (r < 0)
                        return r;
                if (r > 0)
                        pci->n_slots++;
        }
        if (pci->n_slots > 1)
                qsort(pci->slots, pci->n_slots, sizeof *pci->slots, compare_slots);
        return 0;
}

static int read_slot(const Pci *pci, const char *address, PnPci *object)
{
        const Slot *found;
        Slot key = {0};

        (void)snprintf(key.address, sizeof key.address, "%s", address);
        *strrchr(key.address, '.') = '\0';
        if (pci->n_slots == 0)
                return 0;
        found = bsearch(&key, pci->slots, pci->n_slots, sizeof *pci->slots, compare_slots);
        return found ? pn_set_text(&object->slot, found->name) : 0;
}

/* ---- Power ---- */

typedef enum Power {
        POWER_UNKNOWN, /* the kernel does not say; then it has no runtime power management either */
        POWER_ACTIVE,
        POWER_SUSPENDED,
} Power;

static Power read_power(int at, const char *name)
{
        char status[32];
        ssize_t n = pn_sysfs_read(at, name, status, sizeof status);

        if (n == -ENOENT)
                return POWER_UNKNOWN;
        if (n < 0)
                return POWER_SUSPENDED; /* in doubt, let it sleep */
        status[strcspn(status, "\n")] = '\0';
        if (pn_streq(status, "active"))
                return POWER_ACTIVE;
        /* The device takes no part in runtime power management: nobody can have put it to sleep,
         * and reading does not wake it. */
        if (pn_streq(status, "unsupported") || pn_streq(status, ""))
                return POWER_UNKNOWN;
        return POWER_SUSPENDED; /* suspended, suspending, resuming, error */
}

/* The power state of a function: suspended if itself or any function above it is not active, for
 * what is behind a sleeping port cannot be reached without waking that. */
static Power read_powers(int dir, const Function *function)
{
        Power power = read_power(dir, "power/runtime_status");
        const char *end = strrchr(function->path, '/');
        char up[DEPTH_MAX * 3 + sizeof "power/runtime_status"];
        size_t depth = 0;

        while (end && power != POWER_SUSPENDED && depth < DEPTH_MAX) {
                char ancestor[PN_PCI_ADDRESS_MAX];
                const char *start = end;

                while (start > function->path && start[-1] != '/')
                        start--;
                memcpy(up + depth * 3, "../", 3);
                depth++;
                if (is_address(start, (size_t)(end - start), ancestor)) {
                        memcpy(up + depth * 3, "power/runtime_status",
                               sizeof "power/runtime_status");
                        if (read_power(dir, up) == POWER_SUSPENDED)
                                power = POWER_SUSPENDED;
                }
                end = start > function->path ? start - 1 : NULL;
        }
        return power;
}

bool pn_path_is_asleep(const char *path)
{
        char file[PATH_MAX + sizeof "/power/runtime_status"];
        size_t n = strlen(path);

        /* Below /sys/devices/ROOT every part is a device or the folder of a class. */
        while (n > strlen("/sys/devices/") && n < PATH_MAX) {
                (void)snprintf(file, sizeof file, "%.*s/power/runtime_status", (int)n, path);
                if (read_power(AT_FDCWD, file) == POWER_SUSPENDED)
                        return true;
                while (n > 0 && path[n - 1] != '/')
                        n--;
                n -= n > 0;
        }
        return false;
}

bool pn_driver_passes_through(const char *driver)
{
        for (size_t i = 0; i < PN_ELEMENTS(passing_drivers); i++)
                if (strcmp(driver, passing_drivers[i]) == 0)
                        return true;
        return false;
}

/* ---- Identity ---- */

/* An attribute that is one hexadecimal number: "0x1022". */
static int read_hex(int dir, const char *name, unsigned digits, PnText *ret, unsigned *ret_number)
{
        char buf[32], *end;
        ssize_t n = pn_sysfs_read(dir, name, buf, sizeof buf);
        unsigned long v;

        if (n < 0) {
                ret->state = n == -ENOENT ? PN_ABSENT : pn_reason_from_errno((int)n);
                return 0;
        }
        if (!pn_startswith(buf, "0x") || strspn(buf + 2, "0123456789abcdefABCDEF") == 0) {
                ret->state = PN_UNREAD_MALFORMED;
                return 0;
        }
        errno = 0;
        v = strtoul(buf + 2, &end, 16);
        if (errno != 0 || (*end != '\n' && *end != '\0') || v >> 4 * digits) {
                ret->state = PN_UNREAD_MALFORMED;
                return 0;
        }
        *ret_number = (unsigned)v;
        return pn_format_text(ret, "0x%0*lx", (int)digits, v);
}

typedef struct Ids {
        unsigned class, vendor, device, subvendor, subdevice;
} Ids;

static int read_names(const Pci *pci, const Ids *ids, PnPci *object)
{
        _cleanup_free_ char *vendor = NULL, *model = NULL;
        char modalias[80], *clean;
        int r;

        if (object->vendor_id.state != PN_KNOWN || object->device_id.state != PN_KNOWN)
                return 0;
        (void)snprintf(modalias, sizeof modalias, "pci:v%08Xd%08Xsv%08Xsd%08Xbc%02Xsc%02Xi%02X",
                       ids->vendor, ids->device, ids->subvendor, ids->subdevice,
                       ids->class >> 16 & 0xff, ids->class >> 8 & 0xff, ids->class & 0xff);
        r = pn_hwdb_names(pci->hwdb, modalias, &vendor, &model);
        if (r < 0)
                return r;
        if (vendor) {
                r = pn_text_from_utf8(vendor, strlen(vendor), &clean);
                if (r < 0)
                        return r;
                pn_take_text(&object->vendor, clean);
        }
        if (model) {
                r = pn_text_from_utf8(model, strlen(model), &clean);
                if (r < 0)
                        return r;
                pn_take_text(&object->name, clean);
        }
        return 0;
}

static int read_identity(const Pci *pci, int dir, PnPci *object, Ids *ids)
{
        char buf[NAME_MAX + 1];
        PnText removable = {0};
        int r;

        if ((r = read_hex(dir, "class", 6, &object->class, &ids->class)) < 0 ||
            (r = read_hex(dir, "vendor", 4, &object->vendor_id, &ids->vendor)) < 0 ||
            (r = read_hex(dir, "device", 4, &object->device_id, &ids->device)) < 0 ||
            (r = read_hex(dir, "subsystem_vendor", 4, &object->subsystem_vendor_id,
                          &ids->subvendor)) < 0 ||
            (r = read_hex(dir, "subsystem_device", 4, &object->subsystem_device_id,
                          &ids->subdevice)) < 0 ||
            (r = read_names(pci, ids, object)) < 0)
                return r;

        object->passed_through = pn_bool(false);
        if (pn_sysfs_link(dir, "driver", buf, sizeof buf) == 0) {
                if (pn_driver_passes_through(buf))
                        object->passed_through = pn_bool(true);
                if ((r = pn_set_text(&object->driver, buf)) < 0)
                        return r;
        }
        if (pn_sysfs_link(dir, "physfn", buf, sizeof buf) == 0 &&
            (r = pn_set_text(&object->physical_function, buf)) < 0)
                return r;
        if (pn_sysfs_link(dir, "iommu_group", buf, sizeof buf) == 0)
                object->iommu_group = pn_parse_int(buf);

        r = pn_sysfs_text(dir, "removable", &removable);
        object->removable = (PnBool){removable.state, false};
        if (removable.state == PN_KNOWN)
                object->removable = pn_text_is(&removable, "removable") ? pn_bool(true)
                                    : pn_text_is(&removable, "fixed")   ? pn_bool(false)
                                                                        : (PnBool){0};
        free(removable.v);
        if (r < 0)
                return r;

        pn_sysfs_int(dir, "numa_node", &object->numa_node);
        if (pn_int_or(object->numa_node, 0) < 0)
                object->numa_node = (PnInt){0}; /* -1: the firmware does not say */
        return 0;
}

/* ---- The link ---- */

enum { CURRENT_SPEED, CURRENT_WIDTH, MAX_SPEED, MAX_WIDTH, N_LINK_ATTRIBUTES };

static const char *const link_attributes[N_LINK_ATTRIBUTES] = {
    "current_link_speed",
    "current_link_width",
    "max_link_speed",
    "max_link_width",
};

typedef struct LinkValue {
        bool exists;
        PnState state; /* unread, known, or absent for what is no speed or width */
        unsigned v;    /* generation or lanes */
} LinkValue;

static LinkValue read_link_value(int dir, unsigned which)
{
        char buf[64];
        ssize_t n = pn_sysfs_read(dir, link_attributes[which], buf, sizeof buf);
        unsigned v;

        if (n == -ENOENT)
                return (LinkValue){0};
        if (n < 0)
                return (LinkValue){.exists = true, .state = pn_reason_from_errno((int)n)};
        v = which == CURRENT_SPEED || which == MAX_SPEED ? pn_pcie_speed_parse(buf)
                                                         : pn_pcie_width_parse(buf);
        return (LinkValue){true, v ? PN_KNOWN : PN_ABSENT, v};
}

/* Whether the function has any of the attributes, which the kernel shows for PCI Express alone. */
static bool has_link_attributes(const LinkValue *link)
{
        for (unsigned i = 0; i < N_LINK_ATTRIBUTES; i++)
                if (link[i].exists)
                        return true;
        return false;
}

/* Whether a speed and a width fit what else is known of the same link; 0 is unknown and fits. */
static bool agrees(const LinkValue *link, unsigned gen, unsigned width)
{
        return (gen == 0 || link[CURRENT_SPEED].v == 0 || link[CURRENT_SPEED].v == gen) &&
               (width == 0 || link[CURRENT_WIDTH].v == 0 || link[CURRENT_WIDTH].v == width);
}

/* What the registers of config space say, as far as they could be read. */
typedef struct Registers {
        bool known;          /* `conf` is valid */
        bool complete;       /* and holds all of the PCI Express capability, or there is none */
        PnState why_missing; /* why what only registers know is not known, unless complete */
        PnPciConf conf;
} Registers;

static Registers read_registers(int dir)
{
        uint8_t config[257];
        Registers registers = {.why_missing = PN_UNREAD_PERMISSION};
        ssize_t n = pn_sysfs_read(dir, "config", (char *)config, sizeof config);
        int r;

        if (n < 0) {
                registers.why_missing =
                    n == -ENOENT ? PN_UNREAD_UNSUPPORTED : pn_reason_from_errno((int)n);
                return registers;
        }
        r = pn_pciconf_decode(config, (size_t)n, &registers.conf);
        if (r < 0) {
                registers.why_missing = r == -ENODEV ? PN_UNREAD_IO : PN_UNREAD_MALFORMED;
                return registers;
        }
        registers.known = true;
        registers.complete = !registers.conf.capabilities_truncated;
        /* Without the privilege the kernel hands out the header alone. */
        if (n > 64)
                registers.why_missing = PN_UNREAD_MALFORMED;
        return registers;
}

static Kind kind_from_registers(const PnPciConf *conf)
{
        if (!conf->has_pcie)
                return KIND_UNKNOWN;
        switch (conf->port_type) {
        case PN_PCIE_ENDPOINT:
        case PN_PCIE_LEGACY_ENDPOINT:
                return KIND_ENDPOINT;
        case PN_PCIE_ROOT_PORT:
                return KIND_ROOT_PORT;
        case PN_PCIE_UPSTREAM_PORT:
                return KIND_UPSTREAM_PORT;
        case PN_PCIE_DOWNSTREAM_PORT:
                return KIND_DOWNSTREAM_PORT;
        case PN_PCIE_PCIE_TO_PCI:
        case PN_PCIE_PCI_TO_PCIE:
                return KIND_BRIDGE;
        case PN_PCIE_RCIEP:
        case PN_PCIE_RCEC:
                return KIND_INTEGRATED;
        case PN_PCIE_UNKNOWN:
                break;
        }
        return KIND_UNKNOWN;
}

static bool is_port_above_link(Kind kind)
{
        return kind == KIND_ROOT_PORT || kind == KIND_DOWNSTREAM_PORT;
}

/* Whether a class is one of the bridges between PCI buses: PCI-to-PCI, CardBus, semi-transparent,
 * InfiniBand-to-PCI. Host and ISA bridges are ordinary functions. */
static bool is_bridge_class(unsigned class)
{
        unsigned subclass = class >> 8;

        return subclass == 0x0604 || subclass == 0x0607 || subclass == 0x0609 || subclass == 0x060a;
}

static bool is_port_by_class(const Pci *pci, size_t at)
{
        char path[PATH_MAX + sizeof "/class"], class[32];

        (void)snprintf(path, sizeof path, "%s/class", pci->functions[at].path);
        return pn_sysfs_read(pci->dir, path, class, sizeof class) > 0 &&
               pn_startswith(class, "0x0604");
}

static bool is_express_port(const Pci *pci, size_t at)
{
        char path[PATH_MAX + sizeof "/max_link_width"];

        (void)snprintf(path, sizeof path, "%s/max_link_width", pci->functions[at].path);
        return is_port_by_class(pci, at) && faccessat(pci->dir, path, F_OK, 0) == 0;
}

/* Whether the first function below this one, if there is any, is no bridge: below a switch's
 * upstream port there are only ports, below a bridge to conventional PCI there may be anything. */
static bool leads_to_devices(const Pci *pci, size_t at)
{
        return at + 1 < pci->n && pci->functions[at + 1].parent_at == at &&
               !is_port_by_class(pci, at + 1);
}

/* Whether ports with other device numbers than 0 hang on this one. A link leads to device 0 alone;
 * the bus inside a switch, from its upstream port to its downstream ports, has many. */
static bool leads_to_ports(const Pci *pci, size_t at)
{
        size_t length = strlen(pci->functions[at].path);

        for (size_t i = at + 1; i < pci->n; i++) {
                const Function *below = &pci->functions[i];
                PnPciAddress address;

                if (strncmp(below->path, pci->functions[at].path, length) != 0)
                        break;
                if (below->parent_at == at && pn_pci_address_parse(below->name, &address) == 0 &&
                    address.device > 0 && is_express_port(pci, i))
                        return true;
        }
        return false;
}

/* The kind, from what everybody may read: the kernel shows link attributes for PCI Express
 * functions only, and which kind of port a bridge is follows from what it hangs on. */
static Kind infer_kind(const Pci *pci, size_t at, unsigned class, Kind parent, bool on_root_bus,
                       const LinkValue *link)
{
        if (!has_link_attributes(link))
                return is_bridge_class(class) ? KIND_BRIDGE : KIND_CONVENTIONAL;
        if (class >> 8 == 0x0604) {
                if (on_root_bus)
                        return leads_to_ports(pci, at) ? KIND_UPSTREAM_PORT : KIND_ROOT_PORT;
                if (is_port_above_link(parent))
                        return leads_to_devices(pci, at) ? KIND_BRIDGE : KIND_UPSTREAM_PORT;
                if (parent == KIND_UPSTREAM_PORT)
                        return KIND_DOWNSTREAM_PORT;
                return parent == KIND_UNKNOWN ? KIND_UNKNOWN : KIND_BRIDGE;
        }
        if (on_root_bus && link[MAX_SPEED].v == 0 && link[MAX_WIDTH].v == 0)
                return KIND_INTEGRATED;
        return KIND_ENDPOINT;
}

/* The kind of a sleeping function, whose link attributes must be left alone. KIND_UNKNOWN where the
 * place does not tell. */
static Kind infer_sleeping_kind(unsigned class, Kind parent, bool on_root_bus)
{
        if (class >> 8 == 0x0604) {
                if (on_root_bus)
                        return KIND_ROOT_PORT;
                if (is_port_above_link(parent))
                        return KIND_UPSTREAM_PORT;
                return parent == KIND_UPSTREAM_PORT ? KIND_DOWNSTREAM_PORT : KIND_UNKNOWN;
        }
        if (is_port_above_link(parent))
                return KIND_ENDPOINT;
        return parent == KIND_BRIDGE ? KIND_CONVENTIONAL : KIND_UNKNOWN;
}

static PnReal speed_field(const LinkValue *value, unsigned from_registers)
{
        if (value->state == PN_KNOWN)
                return pn_real(pn_pcie_gts(value->v));
        /* Registers stand in for an attribute that cannot be had, not for one in which the kernel
         * says that it does not know. */
        if (from_registers && (!value->exists || pn_is_unread(value->state)))
                return pn_real(pn_pcie_gts(from_registers));
        return (PnReal){.state = value->state};
}

static PnInt width_field(const LinkValue *value, unsigned from_registers)
{
        if (value->state == PN_KNOWN)
                return pn_int(value->v);
        if (from_registers && (!value->exists || pn_is_unread(value->state)))
                return pn_int(from_registers);
        return (PnInt){.state = value->state};
}

static int fill_link(PnPci *object, Kind kind, const LinkValue *values, const Registers *registers)
{
        const PnPciConf *conf = &registers->conf; /* zero unless known */
        PnLink *link = PN_NEW(&object->link);

        if (!link)
                return -ENOMEM;
        link->current_speed = speed_field(&values[CURRENT_SPEED], conf->current_gen);
        link->current_width = width_field(&values[CURRENT_WIDTH], conf->current_width);
        link->max_speed = speed_field(&values[MAX_SPEED], conf->max_gen);
        link->max_width = width_field(&values[MAX_WIDTH], conf->max_width);

        if (conf->has_link && registers->complete) {
                for (unsigned gen = 1; gen <= PN_PCIE_GENERATION_MAX; gen++)
                        if (conf->supported & 1u << (gen - 1) &&
                            pn_reals_append(&link->supported_speeds, pn_pcie_gts(gen)) < 0)
                                return -ENOMEM;
                /* A target is an order to the port above a link; at the lower end it only sets
                 * the compliance mode. Version 1 of the capability has no such register. */
                if (is_port_above_link(kind) && conf->pcie_version >= 2 && conf->target_gen)
                        link->target_speed = pn_real(pn_pcie_gts(conf->target_gen));
        } else if (!registers->complete) {
                link->supported_speeds.state = registers->why_missing;
                if (is_port_above_link(kind))
                        link->target_speed.state = registers->why_missing;
        }
        return 0;
}

/* Reads the four attributes as one sample of the link, together with the registers. They are read
 * one after the other while links may be retrained (case 002: 1,415 times in two minutes), so where
 * two views of the link do not agree the current values are read once more. The other view is
 * LNKSTA, which is a sample in itself, and what the port above said a moment ago. */
static void sample_link(int dir, const Registers *registers, const Fact *parent, LinkValue *values)
{
        values[CURRENT_SPEED] = read_link_value(dir, CURRENT_SPEED);
        values[MAX_SPEED] = read_link_value(dir, MAX_SPEED);
        if (!has_link_attributes(values))
                return; /* then there are no widths either */
        values[CURRENT_WIDTH] = read_link_value(dir, CURRENT_WIDTH);
        values[MAX_WIDTH] = read_link_value(dir, MAX_WIDTH);

        if (!agrees(values, registers->conf.current_gen, registers->conf.current_width) ||
            (is_port_above_link(parent->kind) &&
             !agrees(values, parent->current_gen, parent->current_width))) {
                values[CURRENT_SPEED] = read_link_value(dir, CURRENT_SPEED);
                values[CURRENT_WIDTH] = read_link_value(dir, CURRENT_WIDTH);
        }
}

/* ---- Errors ---- */

/* The total in a list of counters, one "NAME count" a line. */
static PnInt aer_total(int dir, const char *name, const char *total)
{
        char buf[PN_ATTRIBUTE_MAX + 1], *line;
        ssize_t n = pn_sysfs_read(dir, name, buf, sizeof buf);
        size_t length = strlen(total);

        if (n < 0)
                return (PnInt){.state = n == -ENOENT ? PN_ABSENT : pn_reason_from_errno((int)n)};
        for (line = buf; line; line = strchr(line, '\n')) {
                if (*line == '\n')
                        line++;
                if (strncmp(line, total, length) == 0 && line[length] == ' ') {
                        line[length + 1 + strcspn(line + length + 1, "\n")] = '\0';
                        return pn_parse_int(line + length + 1);
                }
        }
        return (PnInt){.state = PN_UNREAD_MALFORMED};
}

static int read_aer(int dir, PnPci *object)
{
        PnInt correctable = aer_total(dir, "aer_dev_correctable", "TOTAL_ERR_COR");
        PnAer *aer;

        if (correctable.state == PN_ABSENT)
                return 0; /* no such capability */
        aer = PN_NEW(&object->aer);
        if (!aer)
                return -ENOMEM;
        aer->correctable = correctable;
        aer->nonfatal = aer_total(dir, "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL");
        aer->fatal = aer_total(dir, "aer_dev_fatal", "TOTAL_ERR_FATAL");
        return 0;
}

/* ---- A function ---- */

static bool may_have_link(Kind kind)
{
        return kind != KIND_INTEGRATED && kind != KIND_VIRTUAL_FUNCTION &&
               kind != KIND_CONVENTIONAL;
}

static int read_awake(const Pci *pci, size_t at, int dir, unsigned class, const Fact *parent,
                      bool on_root_bus, PnPci *object, Fact *fact)
{
        LinkValue values[N_LINK_ATTRIBUTES] = {0};
        Registers registers = {.why_missing = PN_UNREAD_UNSUPPORTED};
        bool express;
        int r;

        /* A guest's device: its config space is the guest's affair. */
        if (pn_policy_excludes(&pci->policy, (const char *const[]){object->address.v}, 1))
                registers.why_missing = PN_UNREAD_EXCLUDED;
        else if (!pn_is_true(object->passed_through))
                registers = read_registers(dir);
        sample_link(dir, &registers, parent, values);
        express = has_link_attributes(values) || registers.conf.has_pcie;

        fact->kind = kind_from_registers(&registers.conf);
        if (fact->kind == KIND_UNKNOWN)
                fact->kind = infer_kind(pci, at, class, parent->kind, on_root_bus, values);
        fact->current_gen = values[CURRENT_SPEED].v;
        fact->current_width = values[CURRENT_WIDTH].v;

        /* Both are reads of the device; the header is at hand for everybody. */
        if (registers.known && registers.conf.secondary_bus)
                object->secondary_bus = pn_int(registers.conf.secondary_bus);
        else if (!registers.known && is_bridge_class(class))
                pn_sysfs_int(dir, "secondary_bus_number", &object->secondary_bus);
        /* The kernel gives a slot the address of the bus that the port leads to. */
        if (is_port_above_link(fact->kind) && object->slot.state == PN_ABSENT &&
            object->secondary_bus.state == PN_KNOWN) {
                char below[PN_PCI_ADDRESS_MAX];
                PnPciAddress address;

                if (pn_pci_address_parse(object->address.v, &address) == 0) {
                        address.bus = (uint8_t)object->secondary_bus.v;
                        address.device = address.function = 0;
                        r = read_slot(pci, pn_pci_address_format(&address, below), object);
                        if (r < 0)
                                return r;
                }
        }
        if (is_port_above_link(fact->kind)) {
                if (registers.complete)
                        object->slot_implemented = pn_bool(registers.conf.slot_implemented);
                else
                        object->slot_implemented.state = registers.why_missing;
        }
        if (!express)
                return 0;
        if (may_have_link(fact->kind)) {
                r = fill_link(object, fact->kind, values, &registers);
                if (r < 0)
                        return r;
        }
        pn_sysfs_int(dir, "sriov_numvfs", &object->vf_count);
        return read_aer(dir, object);
}

static int read_function(const void *context, size_t i, void *object_at, void *fact_at)
{
        static const Fact none = {0};
        const Pci *pci = context;
        const Function *function = &pci->functions[i];
        const Fact *parent =
            function->parent_at == SIZE_MAX ? &none : &pci->facts[function->parent_at];
        _cleanup_close_ int dir = pn_sysfs_open(pci->dir, function->path);
        PnPci *object = object_at;
        Fact *fact = fact_at;
        Ids ids = {0};
        bool on_root_bus;
        Power power;
        int r;

        if (dir < 0)
                return dir == -ENOENT || dir == -ENOTDIR ? -ENODEV : dir;
        power = read_powers(dir, function);

        if ((r = pn_set_text(&object->address, function->name)) < 0 ||
            (r = pn_set_text(&object->parent, *function->parent ? function->parent : NULL)) < 0 ||
            (r = pn_set_text(&object->power, power == POWER_ACTIVE      ? "active"
                                             : power == POWER_SUSPENDED ? "suspended"
                                                                        : "unknown")) < 0 ||
            (r = read_identity(pci, dir, object, &ids)) < 0)
                return r;
        /* A virtual function is nothing that sits in a slot of its own (case 015). */
        if (object->physical_function.state != PN_KNOWN &&
            (r = read_slot(pci, function->name, object)) < 0)
                return r;

        /* Where the parent is no bridge, as that of a VMD domain, this is a root bus as well. */
        on_root_bus = function->parent_at == SIZE_MAX || parent->kind == KIND_INTEGRATED ||
                      parent->kind == KIND_ENDPOINT || parent->kind == KIND_CONVENTIONAL;

        if (object->physical_function.state == PN_KNOWN) {
                fact->kind = KIND_VIRTUAL_FUNCTION; /* has registers, but no link of its own */
        } else if (power == POWER_SUSPENDED) {
                fact->kind = infer_sleeping_kind(ids.class, parent->kind, on_root_bus);
                object->link.state = object->aer.state = PN_UNREAD_ASLEEP;
                if (is_bridge_class(ids.class))
                        object->secondary_bus.state = PN_UNREAD_ASLEEP;
                if (is_port_above_link(fact->kind))
                        object->slot_implemented.state = PN_UNREAD_ASLEEP;
                pn_sysfs_int(dir, "sriov_numvfs", &object->vf_count);
        } else {
                r = read_awake(pci, i, dir, ids.class, parent, on_root_bus, object, fact);
                if (r < 0)
                        return r;
        }
        /* A function that goes while it is read leaves its attributes behind one by one. */
        if (object->vendor_id.state != PN_KNOWN && object->class.state != PN_KNOWN &&
            faccessat(pci->dir, function->path, F_OK, 0) < 0)
                return -ENODEV;
        if (fact->kind == KIND_UNKNOWN) {
                object->kind.state =
                    power == POWER_SUSPENDED ? PN_UNREAD_ASLEEP : PN_UNREAD_CANNOT_JOIN;
                return 0;
        }
        return pn_set_text(&object->kind, kind_names[fact->kind]);
}

/* Where a function is follows from its path. */
static int known_of_function(const void *context, size_t i, void *object_at)
{
        const Pci *pci = context;
        const Function *function = &pci->functions[i];
        PnPci *object = object_at;

        object->slot = (PnText){0};
        if (pn_set_text(&object->parent, *function->parent ? function->parent : NULL) < 0)
                return -ENOMEM;
        return read_slot(pci, function->name, object);
}

static const char *function_name(const void *context, size_t i)
{
        const Pci *pci = context;

        return pci->functions[i].name;
}

int pn_source_pci(PnEmit *emit, PnReport *report)
{
        Pci *pci = calloc(1, sizeof *pci);
        PnWalk walk = {.source = "pci",
                       .kind = PN_OBJECT_PCI,
                       .context = pci,
                       .name = function_name,
                       .read = read_function,
                       .known = known_of_function,
                       .fact_size = sizeof(Fact)};
        bool abandoned = false;
        int r;

        if (!pci)
                return -ENOMEM;
        pci->dir = -1;
        r = pn_config_load(&pci->policy, NULL, NULL);
        if (r == 0)
                r = list_functions(pci, report);
        if (r == 0)
                r = list_slots(pci);
        pci->facts = calloc(pci->n ? pci->n : 1, sizeof *pci->facts);
        if (r == 0 && !pci->facts)
                r = -ENOMEM;
        if (r == 0) {
                pci->hwdb = pn_hwdb_new();
                walk.n = pci->n;
                walk.facts = pci->facts;
                r = pn_walk(&walk, emit, report, &abandoned);
        }
        if (!abandoned) {
                pci_done(pci);
                free(pci);
        }
        return r;
}
