/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The numbers that the kernel uses for a network link: link modes, speeds, connectors, reasons for
 * no link. Knows neither netlink nor ioctl, nor what is good. */
#pragma once

#include "value.h"

/* Words of 32 bits that hold every link mode that this table knows, and some to come. */
#define PN_LINK_MODE_WORDS 8u

/* Whether a link mode is set; `bit` is below 32 * PN_LINK_MODE_WORDS. */
bool pn_link_mode_is_set(const uint32_t modes[static PN_LINK_MODE_WORDS], unsigned bit);

/* The speeds, in Mb/s and each once, ascending, of the link modes that are set (bit numbers of
 * `enum ethtool_link_mode_bit_indices`, linux/ethtool.h); modes of kernels newer than this table
 * are passed over. An empty set gives an absent list. 0 or -ENOMEM. */
int pn_link_mode_speeds(const uint32_t modes[static PN_LINK_MODE_WORDS], PnReals *ret);

/* A link's speed in Mb/s, absent for what drivers say when they know none: 0, 65535 (the old
 * 16-bit "unknown"), and everything above 2^31 - 1 (-1 as a sysfs attribute or as 32 bits). */
PnInt pn_link_speed(int64_t raw);

/* "half" and "full" of DUPLEX_HALF and DUPLEX_FULL; NULL for anything else. Static. */
const char *pn_link_duplex(unsigned raw);

/* "tp", "fibre", "da", "backplane", "none" or "other" of PORT_TP, … (linux/ethtool.h). A port whose
 * only modes are those of a backplane says "backplane". Static; NULL for a number that is none. */
const char *pn_link_port(unsigned raw, const uint32_t supported[static PN_LINK_MODE_WORDS]);

/* A kind of forward error correction, by its link mode's bit number, as `ethtool --show-fec` has
 * them: "none", "rs", "baser", "llrs". Static; NULL for a bit that is none. */
const char *pn_link_fec(int bit);

/* A link's extended state (`enum ethtool_link_ext_state`) and substate, -1 for none, in words: "no
 * cable", "unsupported cable". Static; NULL for one that this table does not know. */
const char *pn_link_reason(int state, int substate);

/* A bonding mode's name, as in /sys/class/net/BOND/bonding/mode; NULL for another number. */
const char *pn_bond_mode(unsigned mode);

/* An operational state (RFC 2863, linux/if.h) as sysfs names it; NULL for another number. */
const char *pn_link_operstate(unsigned state);
