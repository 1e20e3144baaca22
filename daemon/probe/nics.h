/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which network interfaces matter, and what each hangs on; asks no driver anything. */
#pragma once

#include "netlink.h"
#include "pcie.h"
#include "walk.h"

typedef struct PnNicEntry {
        char *name;            /* of the interface; NULL for a function without one */
        char *path;            /* its real directory, "/sys/devices/…" */
        bool is_physical;      /* hardware of this machine's, emulated or not */
        const PnNetLink *link; /* by name only: its index is to be compared; may be NULL */
        const char *kind;      /* of what is not physical: "bond", "bridge" or "vlan" */
        char address[PN_PCI_ADDRESS_MAX]; /* of its PCI function, "" if it is on none */
} PnNicEntry;

typedef struct PnNics {
        PnNicEntry *v;
        size_t n;
        PnNetLink *links; /* of all interfaces, in the order of names; NULL if there was no dump */
        size_t n_links;
        uint16_t ethtool; /* for pn_ethtool_netlink_new(): 0 without hardware or such a family */
} PnNics;

/* Walks physical interfaces without virtual functions and their representatives; with
 * `physical_only` false also bonds, bridges and VLANs, and network functions without an interface.
 * All others (veth, tap, …) cost a readlink() each. Of `source` the source, the kind and `read`
 * count; `read` gets a PnNics as its context, and an entry's name is that of its interface, else of
 * its function. What ails the list as a whole goes in the report. 0 or -ENOMEM. */
int pn_nics_walk(const PnWalk *source, bool physical_only, PnEmit *emit, PnReport *report);

/* Whether an entry's interface is still the one that it was: reads its index from sysfs and
 * returns it, 0 if it is gone. */
unsigned pn_nic_index(const PnNicEntry *entry);

/* Whether it is reached through USB or virtio, whose adapters have no cage for a module. */
bool pn_nic_is_on_bus(const PnNicEntry *entry, const char *bus);
