/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Asks the kernel about network interfaces by netlink: rtnetlink for how they are built on one
 * another, ethtool's family for links and modules. The one file that uses libmnl; only requests
 * that change nothing, and never one that makes the kernel ask a card about its virtual functions.
 * Knows no sysfs and not the model.
 *
 * Requests about one interface name it by index and name, and the kernel answers -ENODEV where
 * these have come apart: an interface that was renamed cannot answer for another. */
#pragma once

#include <net/if.h>

#include "ethtool.h"

/* 802.3ad, as far as the kernel tells it of one member. */
typedef struct PnSlaveInfo {
        bool mii_up;
        bool has_lacp;
        uint16_t aggregator, partner_state;
        uint8_t actor_state;
} PnSlaveInfo;

/* One interface of a dump. Numbers that the kernel did not send are -1, texts "". */
typedef struct PnNetLink {
        unsigned index;
        char name[IFNAMSIZ];
        char kind[16];            /* "bond", "bridge", "vlan", "veth", …; "" for hardware */
        char port_name[IFNAMSIZ]; /* of a switch's port: "p0", "pf0vf3" */
        unsigned master, lower;   /* indexes, 0 for none; `lower` in this namespace only */
        int operstate, carrier, carrier_changes, mtu;
        bool enabled;
        uint8_t mac_length, permanent_mac_length;
        uint8_t mac[8], permanent_mac[8];
        int vlan_id;
        int bond_mode, bond_aggregator;
        unsigned bond_active; /* index, 0 for none */
        bool is_slave;        /* of a bond */
        PnSlaveInfo slave;
} PnNetLink;

/* All interfaces, in the order of names. 0 or a negative errno. Release with free(). */
int pn_netlink_links(PnNetLink **ret, size_t *ret_n);

/* A socket to ethtool's family; each thread needs its own. */
typedef struct PnEthtoolNetlink PnEthtoolNetlink;

/* -EOPNOTSUPP where the kernel has no such family (before 5.6). 0 or a negative errno. */
int pn_ethtool_netlink_new(PnEthtoolNetlink **ret);
void pn_ethtool_netlink_free(PnEthtoolNetlink *netlink);
PN_DEFINE_CLEANUP(PnEthtoolNetlink *, pn_ethtool_netlink_free);

/* Link modes, then (if the interface answered at all) the port, and with `with_state` why there is
 * no link: two or three requests. Fills what is answered; 0, or why the first was not. */
int pn_ethtool_netlink_link(PnEthtoolNetlink *netlink, unsigned index, const char *interface,
                            bool with_state, PnEthtoolLink *ret);

/* The port alone: one request. 0 or a negative errno. */
int pn_ethtool_netlink_port(PnEthtoolNetlink *netlink, unsigned index, const char *interface,
                            PnEthtoolLink *ret);

/* Reads n bytes (at most 128) of a module's memory: two-wire address 50h or 51h, page, offset as in
 * the module's own specification. 0, -EIO if fewer came, or another negative errno. */
int pn_ethtool_netlink_module(PnEthtoolNetlink *netlink, unsigned index, const char *interface,
                              uint8_t i2c_address, uint8_t page, uint8_t offset, uint8_t n,
                              uint8_t *ret);
