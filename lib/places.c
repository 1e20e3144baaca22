/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Free slots, and what a device would get in one; knows no wording. */

#include "places.h"

#include "pcie.h"
#include "topology.h"

static PnPlace *append(PnPlaces *places)
{
        PnPlace *bigger = reallocarray(places->v, places->n + 1, sizeof *bigger);

        if (!bigger)
                return NULL;
        places->v = bigger;
        places->v[places->n] = (PnPlace){0};
        return &places->v[places->n++];
}

/* Whether the firmware's slot is the one that a port leads to: it gives the port's own address, or
 * one on the bus below it, or the name that the port got. */
static bool is_slot_of(const PnSlot *slot, const PnTopologyNode *port)
{
        PnPciAddress address;

        if (slot->designation.state == PN_KNOWN &&
            pn_text_is(&port->pci->slot, slot->designation.v))
                return true;
        if (pn_pci_address_parse(pn_text(&slot->address), &address) < 0 ||
            address.domain != port->address.domain)
                return false;
        return pn_pci_address_compare(&address, &port->address) == 0 ||
               (address.bus != 0 && pn_int_or(port->pci->secondary_bus, -1) == address.bus);
}

static const PnSlot *slot_of(const PnHost *host, const PnTopologyNode *port)
{
        for (unsigned i = 0; host && i < host->slots.n; i++)
                if (is_slot_of(&host->slots.v[i], port))
                        return &host->slots.v[i];
        return NULL;
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

        if (!pn_topology_is_empty(topology, port))
                return true;
        for (uint32_t i = 0; bus > 0 && i < topology->n; i++)
                if (topology->v[i].address.domain == topology->v[port].address.domain &&
                    topology->v[i].address.bus == bus)
                        return true;
        return false;
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

static int add_port(const PnInventory *inventory, const PnTopology *topology,
                    const PnRatings *ratings, uint32_t port, PnPlaces *places)
{
        const PnHost *host = inventory->host.state == PN_KNOWN ? inventory->host.v : NULL;
        const PnPci *pci = topology->v[port].pci;
        const PnSlot *slot = slot_of(host, &topology->v[port]);
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
        above = reaches(topology, ratings, port, &place->is_shared);
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
static int add_slot(const PnInventory *inventory, const PnTopology *topology, const PnSlot *slot,
                    PnPlaces *places)
{
        uint64_t bandwidth;
        unsigned gen, width;
        PnPlace *place;

        if (slot->in_use.state != PN_KNOWN || slot->in_use.v || !pn_text(&slot->designation) ||
            slot->speed.state != PN_KNOWN || slot->width.state != PN_KNOWN || is_special(slot) ||
            is_listed(places, slot->designation.v))
                return 0;
        /* Its port is known, so it was looked at: it is listed above, or it is no place. */
        for (uint32_t i = 0; i < topology->n; i++)
                if (pn_is_downward_port(topology->v[i].pci) && is_slot_of(slot, &topology->v[i]))
                        return 0;
        /* `Available` does not mean that the address is free: hot-plugged drives. */
        for (unsigned i = 0; i < inventory->pci.n; i++)
                if (pn_text_is(&inventory->pci.v[i].slot, slot->designation.v))
                        return 0;
        if (pn_topology_find(topology, pn_text(&slot->address)) != PN_NOBODY)
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
        PnTopology topology;
        int r = pn_topology_build(inventory, &topology);

        if (r < 0)
                return r;
        for (uint32_t i = 0; i < topology.n && r == 0; i++)
                r = add_port(inventory, &topology, ratings, i, &places);
        if (inventory->host.state == PN_KNOWN)
                for (unsigned i = 0; i < inventory->host.v->slots.n && r == 0; i++)
                        r = add_slot(inventory, &topology, &inventory->host.v->slots.v[i], &places);
        pn_topology_done(&topology);
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
