/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Judges network ports and bonds: what each runs at of what it could, and who limits it. A pure
 * function; knows no finding and no wording. */
#pragma once

#include "model.h"
#include "rating.h"

typedef PN_LIST(PnPort) PnPorts;

/* One port for each physical port and each bond of a joined inventory, in its order. Speeds are
 * compared as far as they are known: `expected_mbps` is the least of what port, module and partner
 * say of themselves.
 *
 *   verdict: `full`; `limited` (below what the port could do, as fast as module and partner allow,
 *   or slower for a reason that cannot be told); `slow` (below what all that are known have in
 *   common: something is wrong); `half_duplex`; for bonds `degraded` (fewer members carry traffic
 *   than belong to it); `no_link`, `off`, `no_interface`, `other_namespace`, `passed_through`;
 *   `unknown`.
 *
 *   limiter (of `limited` and `slow`): `module`, `cable`, `partner`, `setting`, or `unknown`.
 * 0 or -ENOMEM. */
int pn_ports_judge(const PnInventory *inventory, const PnRatings *ratings, PnPorts *ret);
void pn_ports_done(PnPorts *ports);

/* The fastest of a list of speeds in Mb/s; 0 if there is none, or it is unread. */
int64_t pn_fastest(const PnReals *speeds);

/* What a module carries in Mb/s, by its type or its signalling rate; 0 where that cannot be told,
 * and for NULL. */
int64_t pn_module_mbps(const PnModule *module);

/* Whether it is a cable with ends rather than something that a cable is plugged into. */
bool pn_module_is_cable(const PnModule *module);

/* How a member of a bond does. */
typedef enum PnMemberState {
        PN_MEMBER_WORKS,
        PN_MEMBER_NO_LINK,     /* the bond sees no link on it */
        PN_MEMBER_OTHER_GROUP, /* 802.3ad: in another aggregator than the one that carries */
        PN_MEMBER_NO_PARTNER,  /* 802.3ad: the other end does not speak LACP */
        PN_MEMBER_NOT_IN_SYNC, /* 802.3ad: not collecting and distributing */
        PN_MEMBER_UNKNOWN,
} PnMemberState;

/* What LACP says of a member counts, not the link alone. */
PnMemberState pn_member_state(const PnBond *bond, const PnBondMember *member);

/* Whether traffic goes through a member: it works, or it is the one that the kernel uses for want
 * of any LACP partner. */
bool pn_member_carries(const PnBond *bond, const PnBondMember *member);
