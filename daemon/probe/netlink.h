/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Asks the kernel about network interfaces by netlink: rtnetlink for how they are built on one
 * another, ethtool's family for links and modules. The one file that uses libmnl; only requests
 * that change nothing, and never one that makes the kernel ask a card about its virtual functions.
 * Knows no sysfs and not the model.
 *
 * Requests about one interface name it by index and name, and the kernel answers -ENODEV where
 * these have come apart: an interface that was renamed cannot answer for another. */
#pragma once

#include "netlink_answers.h"

/* All interfaces, in the order of names. 0 or a negative errno. Release with free(). */
int pn_netlink_links(PnNetLink **ret, size_t *ret_n);

/* A socket to ethtool's family; each thread needs its own. */
typedef struct PnEthtoolNetlink PnEthtoolNetlink;

/* The number of ethtool's family, which stays the same as long as the kernel runs: one request.
 * -EOPNOTSUPP where the kernel has no such family (before 5.6). 0 or a negative errno. */
int pn_ethtool_netlink_family(uint16_t *ret);

/* `family` is that number; 0 gives -EOPNOTSUPP. No request. 0 or a negative errno. */
int pn_ethtool_netlink_new(uint16_t family, PnEthtoolNetlink **ret);
void pn_ethtool_netlink_free(PnEthtoolNetlink *netlink);
PN_DEFINE_CLEANUP(PnEthtoolNetlink *, pn_ethtool_netlink_free);

/* Link modes, and (if the interface answered at all) with `with_state` why there is no link: one or
 * two requests. Fills what is answered, but not the port; 0, or why the first was not. */
int pn_ethtool_netlink_link(PnEthtoolNetlink *netlink, unsigned index, const char *interface,
                            bool with_state, PnEthtoolLink *ret);

/* The port alone: one request. 0 or a negative errno. */
int pn_ethtool_netlink_port(PnEthtoolNetlink *netlink, unsigned index, const char *interface,
                            PnEthtoolLink *ret);

/* Forward error correction and its counters (kernels from 5.13 on): one request. 0 or a negative
 * errno, -EOPNOTSUPP where the kernel or the driver has none. */
int pn_ethtool_netlink_fec(PnEthtoolNetlink *netlink, unsigned index, const char *interface,
                           PnEthtoolFec *ret);

/* Standard counters (kernels from 5.13 on): one request. 0 or a negative errno, as above. */
int pn_ethtool_netlink_stats(PnEthtoolNetlink *netlink, unsigned index, const char *interface,
                             PnEthtoolStats *ret);

/* Reads n bytes (at most 128) of a module's memory: two-wire address 50h or 51h, page, offset as in
 * the module's own specification: one request. 0, -EIO if fewer came, or another negative errno. */
int pn_ethtool_netlink_module(PnEthtoolNetlink *netlink, unsigned index, const char *interface,
                              uint8_t i2c_address, uint8_t page, uint8_t offset, uint8_t n,
                              uint8_t *ret);
