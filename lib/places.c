/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Free slots, and what a device would get in one; knows no wording. */

#include "places.h"

#include "index.h"
#include "pcie.h"
#include "topology.h"

/* More free places than any machine has: each device that could use one looks at all of them. */
#define PLACES_MAX 1024

static PnPlace *append(PnPlaces *places)
{
        PnPlace *bigger = reallocarray(places->v, places->n + 1, sizeof *bigger);

        if (!bigger)
                return NULL;
        places->v = bigger;
        places->v[places->n] = (PnPlace){0};
        return &places->v[places->n++];
}

/* What is looked at for places, by name and address. */
typedef struct Search {
        const PnRatings *ratings;
        PnTopology topology;
        PnIndex slots_by_name;  /* the firmware's slots */
        const PnSlot **slot_of; /* node -> the firmware's slot that it is or leads to */
        PnIndex used;           /* functions, by the slot that they sit in */
} Search;

static void search_done(Search *search)
{
        pn_index_done(&search->slots_by_name);
        pn_index_done(&search->used);
        free(search->slot_of);
        pn_topology_done(&search->topology);
}

/* The ports that a slot of the firmware may mean by its address: the port itself, or the one that
 * leads to the bus. */
static void ports_of(const PnTopology *topology, const PnSlot *slot, uint32_t ret[static 2])
{
        PnPciAddress address;

        ret[0] = ret[1] = PN_NOBODY;
        if (pn_pci_address_parse(pn_text(&slot->address), &address) < 0)
                return;
        ret[0] = pn_topology_find(topology, slot->address.v);
        if (ret[0] != PN_NOBODY && !pn_is_downward_port(topology->v[ret[0]].pci))
                ret[0] = PN_NOBODY;
        ret[1] = pn_topology_port_to(topology, address.domain, address.bus);
}

/* The firmware's slot that a port leads to: it has the name that the port got, or gives the port's
 * own address, or one on the bus below it; of several the first. */
static const PnSlot *slot_of(const Search *search, uint32_t port)
{
        const PnSlot *by_address = search->slot_of[port];
        const PnSlot *by_name = pn_index_find(&search->slots_by_name,
                                              pn_text(&search->topology.v[port].pci->slot), NULL);

        return by_name && (!by_address || by_name < by_address) ? by_name : by_address;
}

static int search_init(const PnInventory *inventory, const PnRatings *ratings, Search *ret)
{
        const PnHost *host = inventory->host.state == PN_KNOWN ? inventory->host.v : NULL;
        Search search = {.ratings = ratings};
        int r = pn_topology_build(inventory, &search.topology);

        if (r < 0)
                return r;
        search.slot_of = calloc((size_t)inventory->pci.n + 1, sizeof *search.slot_of);
        if (!search.slot_of || pn_index_init(&search.slots_by_name, host ? host->slots.n : 0) < 0 ||
            pn_index_init(&search.used, inventory->pci.n) < 0) {
                search_done(&search);
                return -ENOMEM;
        }
        for (unsigned i = 0; host && i < host->slots.n; i++) {
                const PnSlot *slot = &host->slots.v[i];
                uint32_t ports[2];

                pn_index_add(&search.slots_by_name, pn_text(&slot->designation), slot);
                ports_of(&search.topology, slot, ports);
                for (size_t k = 0; k < PN_ELEMENTS(ports); k++)
                        if (ports[k] != PN_NOBODY && !search.slot_of[ports[k]])
                                search.slot_of[ports[k]] = slot;
        }
        for (unsigned i = 0; i < inventory->pci.n; i++)
                pn_index_add(&search.used, pn_text(&inventory->pci.v[i].slot),
                             &inventory->pci.v[i]);
        pn_index_sort(&search.slots_by_name);
        pn_index_sort(&search.used);
        *ret = search;
        return 0;
}

static bool type_has(const PnSlot *slot, const char *word)
{
        return slot && slot->type.state == PN_KNOWN && strcasestr(slot->type.v, word);
}

/* Slots that no drive or card that is looking for a place fits in. */
static bool is_special(const PnSlot *slot)
{
        static const char *const words[] = {"OCP",  "MXM", "M.2 socket 1", "M.2 socket 2",
                                            "Mini", "CXL", "EDSFF",        "E1.",
                                            "E3.",  "AGP", "PCI-X"};

        for (size_t i = 0; i < PN_ELEMENTS(words); i++)
                if (type_has(slot, words[i]))
                        return true;
        return false;
}

static void set_form(PnPlace *place, const PnSlot *slot)
{
        place->is_m2 = type_has(slot, "M.2");
        place->is_bay = type_has(slot, "U.2") || type_has(slot, "U.3") || type_has(slot, "SFF-");
}

/* Whether anything was found on the bus below a port, also what hangs and so has no known parent.
 */
static bool is_inhabited(const PnTopology *topology, uint32_t port)
{
        int64_t bus = pn_int_or(topology->v[port].pci->secondary_bus, -1);
        uint32_t end;

        if (!pn_topology_is_empty(topology, port))
                return true;
        if (bus <= 0 || bus > UINT8_MAX)
                return false;
        return pn_topology_bus(topology, topology->v[port].address.domain, (uint8_t)bus, &end) <
               end;
}

/* What arrives at a port from the root, in Mb/s: the narrowest link above it. 0 for no limit. */
static uint64_t reaches(const PnTopology *topology, const PnRatings *ratings, uint32_t port,
                        bool *ret_shared)
{
        uint64_t least = 0;

        *ret_shared = false;
        for (uint32_t node = topology->v[port].parent; node != PN_NOBODY;
             node = topology->v[node].parent) {
                const PnRating *rating = pn_rating_at(ratings, topology->v[node].pci->address.v);
                uint64_t carries;

                if (!rating)
                        continue;
                *ret_shared = true;
                if (rating->current.state != PN_KNOWN)
                        continue;
                carries = (uint64_t)rating->current.v->bandwidth.v;
                if (!least || carries < least)
                        least = carries;
        }
        return least;
}

static int add_port(const Search *search, uint32_t port, PnPlaces *places)
{
        const PnTopology *topology = &search->topology;
        const PnPci *pci = topology->v[port].pci;
        const PnSlot *slot = slot_of(search, port);
        uint64_t above;
        unsigned gen, width;
        PnPlace *place;

        if (!pn_is_downward_port(pci) || !pn_is_true(pci->slot_implemented) ||
            pci->link.state != PN_KNOWN || pn_text_is(&pci->power, "suspended") ||
            is_inhabited(topology, port) || pn_topology_is_tunnelled(topology, port) ||
            (slot && pn_is_true(slot->in_use)) || is_special(slot))
                return 0;
        gen = pci->link.v->max_speed.state == PN_KNOWN
                  ? pn_pcie_generation(pci->link.v->max_speed.v)
                  : 0;
        /* A port that is told to go no faster gives no more. */
        if (pci->link.v->target_speed.state == PN_KNOWN &&
            pn_pcie_generation(pci->link.v->target_speed.v) < gen)
                gen = pn_pcie_generation(pci->link.v->target_speed.v);
        width = (unsigned)pn_int_or(pci->link.v->max_width, 0);
        if (!pn_pcie_bandwidth(gen, width))
                return 0;
        place = append(places);
        if (!place)
                return -ENOMEM;
        above = reaches(topology, search->ratings, port, &place->is_shared);
        place->name = pn_text(&pci->slot)                   ? pci->slot.v
                      : slot && pn_text(&slot->designation) ? slot->designation.v
                                                            : pci->address.v;
        place->address = pci->address.v;
        place->gen = gen;
        place->width = width;
        place->bandwidth = pn_pcie_bandwidth(gen, width);
        if (above && above < place->bandwidth)
                place->bandwidth = above;
        set_form(place, slot);
        return 0;
}

static bool is_listed(const PnPlaces *places, const char *name)
{
        for (size_t i = 0; i < places->n; i++)
                if (strcmp(places->v[i].name, name) == 0)
                        return true;
        return false;
}

/* A slot that the board lists as free and whose port we do not know: the firmware's word alone. */
static int add_slot(const Search *search, const PnSlot *slot, PnPlaces *places)
{
        uint32_t ports[2];
        uint64_t bandwidth;
        unsigned gen, width;
        PnPlace *place;

        if (slot->in_use.state != PN_KNOWN || slot->in_use.v || !pn_text(&slot->designation) ||
            slot->speed.state != PN_KNOWN || slot->width.state != PN_KNOWN || is_special(slot) ||
            is_listed(places, slot->designation.v))
                return 0;
        /* Its port is known, so it was looked at: it is listed above, or it is no place. Nor does
         * `Available` mean that the address is free: hot-plugged drives. */
        ports_of(&search->topology, slot, ports);
        if (ports[0] != PN_NOBODY || ports[1] != PN_NOBODY ||
            pn_index_find(&search->used, slot->designation.v, NULL) ||
            pn_topology_find(&search->topology, pn_text(&slot->address)) != PN_NOBODY)
                return 0;
        gen = pn_pcie_generation(slot->speed.v);
        width = slot->width.v > 0 && slot->width.v <= 32 ? (unsigned)slot->width.v : 0;
        bandwidth = pn_pcie_bandwidth(gen, width);
        if (!bandwidth)
                return 0;
        place = append(places);
        if (!place)
                return -ENOMEM;
        place->name = slot->designation.v;
        place->gen = gen;
        place->width = width;
        place->bandwidth = bandwidth;
        place->is_listed = true;
        set_form(place, slot);
        return 0;
}

int pn_places_find(const PnInventory *inventory, const PnRatings *ratings, PnPlaces *ret)
{
        PnPlaces places = {0};
        Search search;
        int r = search_init(inventory, ratings, &search);

        if (r < 0)
                return r;
        for (uint32_t i = 0; i < search.topology.n && r == 0 && places.n < PLACES_MAX; i++)
                r = add_port(&search, i, &places);
        if (inventory->host.state == PN_KNOWN)
                for (unsigned i = 0; i < inventory->host.v->slots.n && r == 0; i++)
                        if (places.n < PLACES_MAX)
                                r = add_slot(&search, &inventory->host.v->slots.v[i], &places);
        search_done(&search);
        if (r < 0) {
                pn_places_done(&places);
                return r;
        }
        *ret = places;
        return 0;
}

void pn_places_done(PnPlaces *places)
{
        free(places->v);
        *places = (PnPlaces){0};
}

uint64_t pn_place_offers(const PnPlace *place, const PnLinkRate *best)
{
        unsigned gen = pn_pcie_generation(best->speed.v), width = (unsigned)best->width.v;
        uint64_t link = pn_pcie_bandwidth(gen < place->gen ? gen : place->gen,
                                          width < place->width ? width : place->width);

        return link < place->bandwidth ? link : place->bandwidth;
}

const PnPlace *pn_places_take(PnPlaces *places, const PnLinkRate *best, bool is_drive, uint64_t now,
                              uint64_t *ret_bandwidth)
{
        PnPlace *chosen = NULL;
        uint64_t most = now;

        for (size_t i = 0; i < places->n; i++) {
                PnPlace *place = &places->v[i];
                uint64_t offers = place->taken ? 0 : pn_place_offers(place, best);

                if (offers < most || offers == now ||
                    (!is_drive && (place->is_m2 || place->is_bay)))
                        continue;
                /* Of equals, the one that nobody else shares, then the smallest that will do. */
                if (chosen && offers == most &&
                    (place->is_shared > chosen->is_shared ||
                     (place->is_shared == chosen->is_shared && place->width >= chosen->width)))
                        continue;
                chosen = place;
                most = offers;
        }
        if (!chosen)
                return NULL;
        chosen->taken = true;
        *ret_bandwidth = most;
        return chosen;
}
