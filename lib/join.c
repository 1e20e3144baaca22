/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Joins what the sources know of the same thing; knows nothing of how it was read. */

#include "join.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "index.h"
#include "parts.h"
#include "pcie.h"
#include "topology.h"

int pn_name_compare(const char *a, const char *b)
{
        while (*a && *b) {
                if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
                        size_t n, m;
                        int r;

                        a += strspn(a, "0");
                        b += strspn(b, "0");
                        n = strspn(a, "0123456789");
                        m = strspn(b, "0123456789");
                        if (n != m)
                                return n < m ? -1 : 1;
                        r = strncmp(a, b, n);
                        if (r)
                                return r;
                        a += n;
                        b += n;
                        continue;
                }
                if (*a != *b)
                        return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
                a++;
                b++;
        }
        return (*a != 0) - (*b != 0);
}

static int compare_pci(const void *a, const void *b)
{
        const PnPci *one = a, *other = b;
        PnPciAddress x, y;
        bool x_ok = pn_pci_address_parse(pn_text(&one->address), &x) == 0;
        bool y_ok = pn_pci_address_parse(pn_text(&other->address), &y) == 0;

        if (x_ok && y_ok)
                return pn_pci_address_compare(&x, &y);
        if (x_ok != y_ok)
                return x_ok ? -1 : 1;
        return strcmp(one->address.v, other->address.v);
}

static int compare_nvme(const void *a, const void *b)
{
        const PnNvme *one = a, *other = b;
        int r = pn_name_compare(one->name.v, other->name.v);

        /* A new drive may have a lost one's name: it comes first, and is found first. */
        return r ? r : (int)pn_is_true(one->lost) - (int)pn_is_true(other->lost);
}

static int compare_disk(const void *a, const void *b)
{
        const PnDisk *one = a, *other = b;

        return pn_name_compare(one->name.v, other->name.v);
}

static int compare_uses_by_number(const void *a, const void *b)
{
        const PnBlockUses *one = *(const PnBlockUses *const *)a;
        const PnBlockUses *other = *(const PnBlockUses *const *)b;

        return strcmp(one->device_number.v, other->device_number.v);
}

static int compare_uses_by_name(const void *a, const void *b)
{
        const PnBlockUses *one = *(const PnBlockUses *const *)a;
        const PnBlockUses *other = *(const PnBlockUses *const *)b;

        return strcmp(one->name.v, other->name.v);
}

/* Far more uses than the drives of one host have. A document in which many namespaces claim one
 * long list of uses would grow by the square of its length. */
#define COPIED_USES_MAX 262144

/* Copies: with native multipath two controllers show the same namespace. `left` is how many more
 * may be copied; a namespace that gets none is one that could not be joined. */
static int copy_uses(PnNamespace *to, const PnBlockUses *from, unsigned *left)
{
        if (!pn_is_unread(from->uses.state) && from->uses.n > *left) {
                to->uses.state = PN_UNREAD_OVERFLOW;
                return 0;
        }
        if (pn_is_unread(from->uses.state)) {
                to->uses.state = from->uses.state;
                return 0;
        }
        to->uses.state = PN_KNOWN;
        *left -= from->uses.n;
        for (unsigned i = 0; i < from->uses.n; i++) {
                PnUse *use = PN_APPEND(&to->uses);

                if (!use || pn_copy(pn_type_Use(), use, &from->uses.v[i]) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static void clear_uses(PnNamespace *namespace)
{
        while (namespace->uses.n)
                pn_list_remove(pn_type_Use(), &namespace->uses, namespace->uses.n - 1);
}

/* A namespace's device number is the join; its name serves where sysfs gave no number. */
static int join_namespace(PnNamespace *namespace, PnBlockUses **by_number, size_t n_numbers,
                          PnBlockUses **by_name, size_t n_names, unsigned *left)
{
        PnBlockUses key = {.name = namespace->name, .device_number = namespace->device_number};
        PnBlockUses *key_at = &key, **found = NULL;

        if (namespace->device_number.state == PN_KNOWN)
                found = bsearch(&key_at, by_number, n_numbers, sizeof *by_number,
                                compare_uses_by_number);
        else
                found = bsearch(&key_at, by_name, n_names, sizeof *by_name, compare_uses_by_name);
        if (found) {
                clear_uses(namespace);
                return copy_uses(namespace, *found, left);
        }
        if (namespace->uses.state == PN_ABSENT)
        namespace->uses.state = PN_UNREAD_CANNOT_JOIN;
        return 0;
}

static int join_uses(PnInventory *inventory)
{
        _cleanup_free_ PnBlockUses **by_number = NULL, **by_name = NULL;
        unsigned n = inventory->namespace_uses.n;
        unsigned left = COPIED_USES_MAX;
        size_t n_numbers = 0;

        by_number = calloc((size_t)n + 1, sizeof *by_number);
        by_name = calloc((size_t)n + 1, sizeof *by_name);
        if (!by_number || !by_name)
                return -ENOMEM;
        for (unsigned i = 0; i < n; i++) {
                PnBlockUses *uses = &inventory->namespace_uses.v[i];

                by_name[i] = uses;
                if (uses->device_number.state == PN_KNOWN)
                        by_number[n_numbers++] = uses;
        }
        qsort(by_number, n_numbers, sizeof *by_number, compare_uses_by_number);
        qsort(by_name, n, sizeof *by_name, compare_uses_by_name);
        for (unsigned i = 0; i < inventory->nvme.n; i++) {
                PnNvme *drive = &inventory->nvme.v[i];

                for (unsigned k = 0; k < drive->namespaces.n; k++)
                        if (join_namespace(&drive->namespaces.v[k], by_number, n_numbers, by_name,
                                           n, &left) < 0)
                                return -ENOMEM;
        }
        while (inventory->namespace_uses.n)
                pn_list_remove(pn_type_BlockUses(), &inventory->namespace_uses,
                               inventory->namespace_uses.n - 1);
        free(inventory->namespace_uses.v);
        memset(&inventory->namespace_uses, 0, sizeof inventory->namespace_uses);
        return 0;
}

static int compare_health(const void *a, const void *b)
{
        const PnNvmeHealth *one = a, *other = b;

        return strcmp(one->name.v, other->name.v);
}

static bool same_text(const PnText *a, const PnText *b)
{
        return a->state != PN_KNOWN || b->state != PN_KNOWN || strcmp(a->v, b->v) == 0;
}

static const PnNvmeHealth *find_health(const PnInventory *inventory, const PnNvme *drive)
{
        const PnNvmeHealth key = {.name = drive->name}, *found;

        if (!inventory->nvme_health.n)
                return NULL;
        found = bsearch(&key, inventory->nvme_health.v, inventory->nvme_health.n, sizeof key,
                        compare_health);
        return found && same_text(&found->serial, &drive->serial) ? found : NULL;
}

/* A controller of which health came, by what it shares with the drive's other controllers. */
typedef struct Sibling {
        const PnNvme *drive;
        const PnNvmeHealth *health;
} Sibling;

/* Without regard to the order of the list: of one drive, any controller's answer will do. */
static int compare_siblings(const void *a, const void *b)
{
        const Sibling *one = a, *other = b;
        int r = strcmp(one->drive->subsystem.v, other->drive->subsystem.v);

        return r ? r : strcmp(one->drive->serial.v, other->drive->serial.v);
}

static bool is_of_a_subsystem(const PnNvme *drive)
{
        return pn_text(&drive->subsystem) && pn_text(&drive->serial);
}

/* A drive with two controllers is asked through one of them. */
static const PnNvmeHealth *find_sibling_health(const Sibling *siblings, size_t n,
                                               const PnNvme *drive)
{
        const Sibling key = {.drive = drive}, *found = NULL;

        if (n && is_of_a_subsystem(drive))
                found = bsearch(&key, siblings, n, sizeof *siblings, compare_siblings);
        return found ? found->health : NULL;
}

static Sibling *list_siblings(const PnInventory *inventory, size_t *ret_n)
{
        Sibling *siblings = calloc((size_t)inventory->nvme.n + 1, sizeof *siblings);
        size_t n = 0;

        for (unsigned i = 0; siblings && i < inventory->nvme.n; i++) {
                const PnNvme *drive = &inventory->nvme.v[i];
                const PnNvmeHealth *health =
                    is_of_a_subsystem(drive) ? find_health(inventory, drive) : NULL;

                if (health)
                        siblings[n++] = (Sibling){drive, health};
        }
        if (n)
                qsort(siblings, n, sizeof *siblings, compare_siblings);
        *ret_n = n;
        return siblings;
}

static int compare_used(const void *a, const void *b)
{
        const PnNamespaceUsed *const *one = a, *const *other = b;

        return ((*one)->nsid.v > (*other)->nsid.v) - ((*one)->nsid.v < (*other)->nsid.v);
}

static int copy_used(PnNvme *drive, const PnNvmeHealth *from)
{
        _cleanup_free_ const PnNamespaceUsed **used = NULL;

        if (!from->namespaces.n)
                return 0;
        used = calloc(from->namespaces.n, sizeof *used);
        if (!used)
                return -ENOMEM;
        for (unsigned i = 0; i < from->namespaces.n; i++)
                used[i] = &from->namespaces.v[i];
        qsort(used, from->namespaces.n, sizeof *used, compare_used);
        for (unsigned i = 0; i < drive->namespaces.n; i++) {
                PnNamespace *namespace = &drive->namespaces.v[i];
                const PnNamespaceUsed key = {.nsid = namespace->nsid}, *key_at = &key, **found;

                if (namespace->nsid.state != PN_KNOWN)
                        continue;
                found = bsearch(&key_at, used, from->namespaces.n, sizeof *used, compare_used);
                if (found)
                namespace->used_bytes = (*found)->used_bytes;
        }
        return 0;
}

static int copy_health(PnNvme *drive, const PnNvmeHealth *from)
{
        pn_free(pn_type_Health(), drive->health.v);
        drive->health.v = NULL;
        drive->health.state = from->health.state;
        if (from->health.state == PN_KNOWN) {
                PnHealth *health = PN_NEW(&drive->health);

                if (!health || pn_copy(pn_type_Health(), health, from->health.v) < 0)
                        return -ENOMEM;
        }
        /* What lives on it comes with its health, and is missing for the same reason. */
        for (unsigned i = 0; i < drive->namespaces.n && pn_is_unread(from->health.state); i++)
                if (drive->namespaces.v[i].used_bytes.state == PN_ABSENT)
                        drive->namespaces.v[i].used_bytes.state = from->health.state;
        return copy_used(drive, from);
}

static int join_health(PnInventory *inventory)
{
        _cleanup_free_ Sibling *siblings = NULL;
        size_t n_siblings;

        siblings = list_siblings(inventory, &n_siblings);
        if (!siblings)
                return -ENOMEM;
        for (unsigned i = 0; i < inventory->nvme.n; i++) {
                PnNvme *drive = &inventory->nvme.v[i];
                const PnNvmeHealth *health;

                if (pn_is_true(drive->lost) ||
                    (drive->transport.state != PN_KNOWN && !pn_text(&drive->address)) ||
                    (drive->transport.state == PN_KNOWN && !pn_text_is(&drive->transport, "pcie")))
                        continue;
                health = find_health(inventory, drive);
                if (!health)
                        health = find_sibling_health(siblings, n_siblings, drive);
                if (health && copy_health(drive, health) < 0)
                        return -ENOMEM;
                if (!health && drive->health.state == PN_ABSENT)
                        drive->health.state = PN_UNREAD_CANNOT_JOIN;
        }
        while (inventory->nvme_health.n)
                pn_list_remove(pn_type_NvmeHealth(), &inventory->nvme_health,
                               inventory->nvme_health.n - 1);
        free(inventory->nvme_health.v);
        memset(&inventory->nvme_health, 0, sizeof inventory->nvme_health);
        return 0;
}

/* The function that an SMBIOS slot's address means: firmware gives the device in the slot, or the
 * port that leads to it, or (for an empty slot) the bus below the port. */
static uint32_t slot_owner(const PnTopology *topology, const PnSlot *slot)
{
        uint32_t node = pn_topology_find(topology, pn_text(&slot->address));
        PnPciAddress address;

        if (node != PN_NOBODY || pn_pci_address_parse(pn_text(&slot->address), &address) < 0)
                return node;
        return pn_topology_port_to(topology, address.domain, address.bus);
}

/* A card's functions share its slot; ports that only share a device number do not. */
static bool same_card(const PnTopology *topology, uint32_t node, uint32_t other)
{
        const PnPciAddress *a = &topology->v[node].address, *b = &topology->v[other].address;

        if (node == other)
                return true;
        return !pn_is_downward_port(topology->v[node].pci) && a->domain == b->domain &&
               a->bus == b->bus && a->device == b->device;
}

/* Of two slots that a sloppy firmware gives one address, the one that it found something in. */
static int name_slots_of_board(const PnTopology *topology, PnInventory *inventory, bool in_use)
{
        const PnHost *host = inventory->host.state == PN_KNOWN ? inventory->host.v : NULL;

        for (unsigned i = 0; host && i < host->slots.n; i++) {
                const PnSlot *slot = &host->slots.v[i];
                uint32_t node = slot_owner(topology, slot), place, end;

                if (node == PN_NOBODY || !pn_text(&slot->designation) ||
                    pn_is_true(slot->in_use) != in_use)
                        continue;
                place = pn_topology_bus(topology, topology->v[node].address.domain,
                                        topology->v[node].address.bus, &end);
                for (; place < end; place++) {
                        uint32_t function = topology->order[place];

                        if (same_card(topology, node, function) &&
                            inventory->pci.v[function].slot.state == PN_ABSENT &&
                            pn_set_text(&inventory->pci.v[function].slot, slot->designation.v) < 0)
                                return -ENOMEM;
                }
        }
        return 0;
}

static int inherit_slots(const PnTopology *topology, PnInventory *inventory)
{
        _cleanup_free_ const char **own = calloc((size_t)inventory->pci.n + 1, sizeof *own);

        if (!own)
                return -ENOMEM;
        for (uint32_t i = 0; i < inventory->pci.n; i++)
                own[i] = pn_text(&inventory->pci.v[i].slot);
        for (uint32_t i = 0; i < inventory->pci.n; i++) {
                uint32_t above = topology->v[i].parent;

                /* A virtual function sits in no slot of its own (case 015). */
                if (inventory->pci.v[i].slot.state != PN_ABSENT ||
                    pn_text_is(&inventory->pci.v[i].kind, "virtual_function"))
                        continue;
                /* A port that leads to a slot is not itself in one that a card sits in: its own
                 * slot has no name that is known. */
                if (pn_is_downward_port(&inventory->pci.v[i]) &&
                    pn_is_true(inventory->pci.v[i].slot_implemented))
                        continue;
                while (above != PN_NOBODY && !own[above])
                        above = topology->v[above].parent;
                if (above != PN_NOBODY && pn_set_text(&inventory->pci.v[i].slot, own[above]) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int join_slots(PnInventory *inventory)
{
        PnTopology topology;
        int r = pn_topology_build(inventory, &topology);

        if (r < 0)
                return r;
        r = name_slots_of_board(&topology, inventory, true);
        if (r == 0)
                r = name_slots_of_board(&topology, inventory, false);
        if (r == 0)
                r = inherit_slots(&topology, inventory);
        pn_topology_done(&topology);
        return r;
}

/* A drive that is gone because it was handed to a guest is not lost. */
static int drop_drives_of_guests(PnInventory *inventory)
{
        PnTopology topology;
        unsigned kept = 0;
        int r = pn_topology_build(inventory, &topology);

        if (r < 0)
                return r;
        for (unsigned i = 0; i < inventory->nvme.n; i++) {
                PnNvme *drive = &inventory->nvme.v[i];
                uint32_t node = pn_topology_find(&topology, pn_text(&drive->address));

                if (pn_is_true(drive->lost) && node != PN_NOBODY &&
                    pn_is_true(topology.v[node].pci->passed_through)) {
                        pn_done(pn_type_Nvme(), drive);
                } else {
                        if (kept != i) {
                                inventory->nvme.v[kept] = *drive;
                                memset(drive, 0, sizeof *drive);
                        }
                        kept++;
                }
        }
        /* What is left behind is empty: cut off from the end. */
        while (inventory->nvme.n > kept)
                pn_list_remove(pn_type_Nvme(), &inventory->nvme, inventory->nvme.n - 1);
        pn_topology_done(&topology);
        return 0;
}

/* ---- Ports and their modules ---- */

static int compare_nic(const void *a, const void *b)
{
        const PnNic *one = a, *other = b;
        bool one_named = one->name.state == PN_KNOWN, other_named = other->name.state == PN_KNOWN;

        /* Functions without an interface come after those with one. */
        if (one_named != other_named)
                return one_named ? -1 : 1;
        return pn_name_compare(one->id.v, other->id.v);
}

/* Of a port that did not answer in time its key is known, which is its name. */
static int name_unread_nics(PnInventory *inventory)
{
        PnPciAddress address;

        for (unsigned i = 0; i < inventory->nics.n; i++) {
                PnNic *nic = &inventory->nics.v[i];

                if (!pn_is_unread(nic->name.state))
                        continue;
                if (pn_pci_address_parse(nic->id.v, &address) == 0) {
                        nic->name.state = PN_ABSENT;
                        if (pn_set_text(&nic->address, nic->id.v) < 0)
                                return -ENOMEM;
                } else if (pn_set_text(&nic->name, nic->id.v) < 0) {
                        return -ENOMEM;
                }
                if (pn_is_unread(nic->kind.state) && pn_set_text(&nic->kind, "physical") < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* The same port of the same function; by name where one of them is on none. An interface may get
 * another name between two readings, and another interface its old one. */
static bool is_port(const PnNic *nic, const PnPortModule *module)
{
        const char *nic_at = pn_text(&nic->address), *module_at = pn_text(&module->address);

        if (nic->name.state != PN_KNOWN)
                return false;
        if (nic_at && module_at && nic->port_number.state == PN_KNOWN &&
            module->port_number.state == PN_KNOWN)
                return strcmp(nic_at, module_at) == 0 &&
                       nic->port_number.v == module->port_number.v;
        return strcmp(nic->name.v, module->name.v) == 0 &&
               (!nic_at || !module_at || strcmp(nic_at, module_at) == 0);
}

static void drop_port_modules(PnInventory *inventory)
{
        while (inventory->port_modules.n)
                pn_list_remove(pn_type_PortModule(), &inventory->port_modules,
                               inventory->port_modules.n - 1);
        free(inventory->port_modules.v);
        memset(&inventory->port_modules, 0, sizeof inventory->port_modules);
}

/* The address and number of a port, which sort as one text; NULL where one of them is not known.
 */
static char *port_key(const PnText *address, PnInt number)
{
        char *key;

        if (!pn_text(address) || number.state != PN_KNOWN ||
            asprintf(&key, "%s %" PRId64, address->v, number.v) < 0)
                return NULL;
        return key;
}

typedef struct Modules {
        PnIndex by_port, by_name;
        char **keys; /* of by_port */
        unsigned n;
} Modules;

static void modules_done(Modules *modules)
{
        pn_index_done(&modules->by_port);
        pn_index_done(&modules->by_name);
        for (unsigned i = 0; modules->keys && i < modules->n; i++)
                free(modules->keys[i]);
        free(modules->keys);
}

static int index_modules(const PnInventory *inventory, Modules *ret)
{
        Modules modules = {.n = inventory->port_modules.n};

        modules.keys = calloc((size_t)modules.n + 1, sizeof *modules.keys);
        if (!modules.keys || pn_index_init(&modules.by_port, modules.n) < 0 ||
            pn_index_init(&modules.by_name, modules.n) < 0) {
                modules_done(&modules);
                return -ENOMEM;
        }
        for (unsigned i = 0; i < modules.n; i++) {
                const PnPortModule *module = &inventory->port_modules.v[i];

                modules.keys[i] = port_key(&module->address, module->port_number);
                pn_index_add(&modules.by_port, modules.keys[i], module);
                pn_index_add(&modules.by_name, module->name.v, module);
        }
        pn_index_sort(&modules.by_port);
        pn_index_sort(&modules.by_name);
        *ret = modules;
        return 0;
}

/* More modules of one name than any machine has: further ones are not looked at. */
#define NAMESAKES_MAX 64

static const PnPortModule *find_module(const Modules *modules, const PnNic *nic)
{
        _cleanup_free_ char *key = port_key(&nic->address, nic->port_number);
        const PnPortModule *found = pn_index_find(&modules->by_port, key, NULL);
        unsigned n;
        const PnIndexEntry *named = pn_index_range(&modules->by_name, pn_text(&nic->name), &n);

        if (found)
                return found;
        for (unsigned i = 0; i < n && i < NAMESAKES_MAX; i++)
                if (is_port(nic, named[i].object))
                        return named[i].object;
        return NULL;
}

static int join_modules(PnInventory *inventory)
{
        Modules modules;

        if (index_modules(inventory, &modules) < 0)
                return -ENOMEM;
        for (unsigned i = 0; i < inventory->nics.n; i++) {
                PnNic *nic = &inventory->nics.v[i];
                const PnPortModule *at;
                PnPortModule *found = NULL;

                if (!pn_text_is(&nic->kind, "physical") || nic->name.state != PN_KNOWN)
                        continue;
                at = find_module(&modules, nic);
                if (at)
                        found = &inventory->port_modules.v[at - inventory->port_modules.v];
                if (!found) {
                        if (nic->module.state == PN_ABSENT)
                                nic->module.state = PN_UNREAD_CANNOT_JOIN;
                        continue;
                }
                pn_free(pn_type_Module(), nic->module.v);
                nic->module.state = found->module.state;
                nic->module.v = PN_STEAL(found->module.v);
                found->module.state = PN_ABSENT;
        }
        modules_done(&modules);
        /* Without the ports that they belong to, they are all that is known. */
        if (inventory->nics.n > 0)
                drop_port_modules(inventory);
        return 0;
}

static int compare_chip(const void *a, const void *b)
{
        const PnChip *one = a, *other = b;
        const char *x = pn_text(&one->device), *y = pn_text(&other->device);
        int r = pn_name_compare(x ? x : "", y ? y : "");

        return r ? r : pn_name_compare(one->chip.v, other->chip.v);
}

static void sort(void *elements, unsigned n, size_t size,
                 int (*compare)(const void *, const void *))
{
        if (n > 1)
                qsort(elements, n, size, compare);
}

int pn_join(PnInventory *inventory)
{
        int r;

        sort(inventory->pci.v, inventory->pci.n, sizeof *inventory->pci.v, compare_pci);
        sort(inventory->nvme.v, inventory->nvme.n, sizeof *inventory->nvme.v, compare_nvme);
        sort(inventory->disks.v, inventory->disks.n, sizeof *inventory->disks.v, compare_disk);
        sort(inventory->sensors.v, inventory->sensors.n, sizeof *inventory->sensors.v,
             compare_chip);
        sort(inventory->nvme_health.v, inventory->nvme_health.n, sizeof *inventory->nvme_health.v,
             compare_health);
        r = name_unread_nics(inventory);
        sort(inventory->nics.v, inventory->nics.n, sizeof *inventory->nics.v, compare_nic);
        if (r == 0)
                r = join_modules(inventory);
        if (r == 0)
                r = drop_drives_of_guests(inventory);
        if (r == 0)
                r = join_uses(inventory);
        if (r == 0)
                r = join_health(inventory);
        if (r == 0)
                r = join_slots(inventory);
        return r == 0 ? pn_parts_name(inventory) : r;
}
