/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tree that PCI functions form: who is above whom. Knows no rating; a pure view of an
 * inventory that must outlive it. */
#pragma once

#include "model.h"
#include "pcie.h"

#define PN_NOBODY UINT32_MAX

typedef struct PnTopologyNode {
        const PnPci *pci;
        PnPciAddress address; /* all ones where the text is no address */
        uint32_t parent;      /* index of the function above, or PN_NOBODY */
        uint32_t first_child; /* in the order of addresses, or PN_NOBODY */
        uint32_t next_sibling;
} PnTopologyNode;

/* Node i is function i of the inventory's `pci` list. */
typedef struct PnTopology {
        uint32_t n;
        PnTopologyNode *v;
        uint32_t *order; /* node indexes, sorted by address */
        uint32_t n_ports;
        uint32_t *ports; /* those of downward ports whose bus below is known, sorted by that */
} PnTopology;

/* Builds the tree. A parent that is not in the list, or a chain of parents that is a loop or
 * deeper than any machine (64), counts as none. 0 or -ENOMEM. */
int pn_topology_build(const PnInventory *inventory, PnTopology *ret);
void pn_topology_done(PnTopology *topology);

/* The node with this address, or PN_NOBODY (also for NULL). */
uint32_t pn_topology_find(const PnTopology *topology, const char *address);

/* The place in `order` of the first function on a bus, and that of the first beyond it. */
uint32_t pn_topology_bus(const PnTopology *topology, uint32_t domain, uint8_t bus,
                         uint32_t *ret_end);

/* The first port, in the order of the list, that leads to a bus; PN_NOBODY if none does. */
uint32_t pn_topology_port_to(const PnTopology *topology, uint32_t domain, uint8_t bus);

/* Whether a function is a port that has a link below it. */
bool pn_is_downward_port(const PnPci *pci);

/* Whether anything but virtual functions sits below a port. */
bool pn_topology_is_empty(const PnTopology *topology, uint32_t port);

/* Whether the function or one above it can be taken out of the case or is reached through a
 * Thunderbolt or USB4 tunnel, whose bandwidth PCIe registers do not describe. */
bool pn_topology_is_tunnelled(const PnTopology *topology, uint32_t node);
