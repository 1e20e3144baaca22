/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds and walks the tree of PCI functions; knows no rating. */

#include "topology.h"

#define DEPTH_MAX 64

static int compare_order(const void *a, const void *b, void *userdata)
{
        const PnTopologyNode *nodes = userdata;
        uint32_t one, other;
        int r;

        memcpy(&one, a, sizeof one);
        memcpy(&other, b, sizeof other);
        r = pn_pci_address_compare(&nodes[one].address, &nodes[other].address);
        return r ? r : (one > other) - (one < other);
}

static uint32_t find_address(const PnTopology *topology, const PnPciAddress *address)
{
        uint32_t low = 0, high = topology->n;

        while (low < high) {
                uint32_t middle = low + (high - low) / 2, node = topology->order[middle];
                int r = pn_pci_address_compare(&topology->v[node].address, address);

                if (r == 0)
                        return node;
                if (r < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return PN_NOBODY;
}

uint32_t pn_topology_find(const PnTopology *topology, const char *address)
{
        PnPciAddress parsed;

        if (!address || pn_pci_address_parse(address, &parsed) < 0)
                return PN_NOBODY;
        return find_address(topology, &parsed);
}

static int64_t bus_below(const PnTopologyNode *node)
{
        return pn_int_or(node->pci->secondary_bus, -1);
}

static int compare_ports(const void *a, const void *b, void *userdata)
{
        const PnTopologyNode *nodes = userdata;
        uint32_t one, other;

        memcpy(&one, a, sizeof one);
        memcpy(&other, b, sizeof other);
        if (nodes[one].address.domain != nodes[other].address.domain)
                return nodes[one].address.domain < nodes[other].address.domain ? -1 : 1;
        if (bus_below(&nodes[one]) != bus_below(&nodes[other]))
                return bus_below(&nodes[one]) < bus_below(&nodes[other]) ? -1 : 1;
        return (one > other) - (one < other);
}

static void sort_ports(PnTopology *topology)
{
        for (uint32_t i = 0; i < topology->n; i++)
                if (pn_is_downward_port(topology->v[i].pci) && bus_below(&topology->v[i]) > 0)
                        topology->ports[topology->n_ports++] = i;
        if (topology->n_ports)
                qsort_r(topology->ports, topology->n_ports, sizeof *topology->ports, compare_ports,
                        topology->v);
}

uint32_t pn_topology_port_to(const PnTopology *topology, uint32_t domain, uint8_t bus)
{
        uint32_t low = 0, high = topology->n_ports;

        while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                const PnTopologyNode *node = &topology->v[topology->ports[middle]];

                if (node->address.domain < domain ||
                    (node->address.domain == domain && bus_below(node) < bus))
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low < topology->n_ports && topology->v[topology->ports[low]].address.domain == domain &&
            bus_below(&topology->v[topology->ports[low]]) == bus)
                return topology->ports[low];
        return PN_NOBODY;
}

/* The place in `order` of the first function that is on this bus or after it, or with `beyond`
 * after it. */
static uint32_t bus_bound(const PnTopology *topology, uint32_t domain, uint8_t bus, bool beyond)
{
        uint32_t low = 0, high = topology->n;

        while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                const PnPciAddress *at = &topology->v[topology->order[middle]].address;

                if (at->domain < domain || (at->domain == domain && at->bus < bus) ||
                    (beyond && at->domain == domain && at->bus == bus))
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

uint32_t pn_topology_bus(const PnTopology *topology, uint32_t domain, uint8_t bus,
                         uint32_t *ret_end)
{
        *ret_end = bus_bound(topology, domain, bus, true);
        return bus_bound(topology, domain, bus, false);
}

static bool chain_ends(const PnTopology *topology, uint32_t node)
{
        for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
                node = topology->v[node].parent;
                if (node == PN_NOBODY)
                        return true;
        }
        return false;
}

int pn_topology_build(const PnInventory *inventory, PnTopology *ret)
{
        PnTopology topology = {.n = inventory->pci.n};

        if (topology.n == 0) {
                *ret = topology;
                return 0;
        }
        topology.v = calloc(topology.n, sizeof *topology.v);
        topology.order = calloc(topology.n, sizeof *topology.order);
        topology.ports = calloc(topology.n, sizeof *topology.ports);
        if (!topology.v || !topology.order || !topology.ports) {
                pn_topology_done(&topology);
                return -ENOMEM;
        }
        for (uint32_t i = 0; i < topology.n; i++) {
                PnTopologyNode *node = &topology.v[i];

                node->pci = &inventory->pci.v[i];
                node->parent = node->first_child = node->next_sibling = PN_NOBODY;
                if (pn_pci_address_parse(pn_text(&node->pci->address), &node->address) < 0)
                        node->address = (PnPciAddress){UINT32_MAX, 0xff, 0xff, 0xff};
                topology.order[i] = i;
        }
        qsort_r(topology.order, topology.n, sizeof *topology.order, compare_order, topology.v);
        sort_ports(&topology);
        for (uint32_t i = 0; i < topology.n; i++)
                topology.v[i].parent =
                    pn_topology_find(&topology, pn_text(&topology.v[i].pci->parent));
        /* Only when all parents are known does a chain show its length; each cut shortens others,
         * and none grows. */
        for (uint32_t i = 0; i < topology.n; i++)
                if (!chain_ends(&topology, i))
                        topology.v[i].parent = PN_NOBODY;
        /* From the last address to the first, each put in front of its siblings. */
        for (uint32_t i = topology.n; i-- > 0;) {
                uint32_t node = topology.order[i], parent = topology.v[node].parent;

                if (parent == PN_NOBODY)
                        continue;
                topology.v[node].next_sibling = topology.v[parent].first_child;
                topology.v[parent].first_child = node;
        }
        *ret = topology;
        return 0;
}

void pn_topology_done(PnTopology *topology)
{
        free(topology->v);
        free(topology->order);
        free(topology->ports);
        *topology = (PnTopology){0};
}

bool pn_is_downward_port(const PnPci *pci)
{
        return pn_text_is(&pci->kind, "root_port") || pn_text_is(&pci->kind, "downstream_port");
}

bool pn_topology_is_empty(const PnTopology *topology, uint32_t port)
{
        for (uint32_t child = topology->v[port].first_child; child != PN_NOBODY;
             child = topology->v[child].next_sibling)
                if (!pn_text_is(&topology->v[child].pci->kind, "virtual_function"))
                        return false;
        return true;
}

/* A root port that leads into a tunnel is itself fixed and has real registers; what is below it
 * does not. Where the firmware does not mark such ports, the hardware database's names do. */
static bool leads_into_tunnel(const PnPci *pci)
{
        const char *name = pn_text(&pci->name);

        return name && (pn_is_downward_port(pci) || pn_text_is(&pci->kind, "upstream_port")) &&
               (strstr(name, "Thunderbolt") || strstr(name, "USB4"));
}

bool pn_topology_is_tunnelled(const PnTopology *topology, uint32_t node)
{
        for (bool self = true; node != PN_NOBODY; node = topology->v[node].parent, self = false) {
                const PnPci *pci = topology->v[node].pci;

                if (pn_is_true(pci->removable) || (!self && leads_into_tunnel(pci)))
                        return true;
        }
        return false;
}
