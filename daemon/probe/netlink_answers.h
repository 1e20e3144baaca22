/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the kernel's netlink answers say, of rtnetlink's dump of interfaces and of ethtool's family:
 * pure functions over the bytes of a datagram, for which every byte may be wrong. Knows no socket
 * and no request, nor what an answer means.
 *
 * An attribute whose size is not one that it can have is passed over, and one that reaches beyond
 * what it is in ends the list that it is in: what was not said stays as it was before the call. */
#pragma once

#include <net/if.h>

#include "ethtool.h"

/* 802.3ad and link of one member, as far as the kernel tells. Numbers that it did not send are
 * -1. */
typedef struct PnSlaveInfo {
        int mii_up;
        int aggregator, actor_state, partner_state;
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

/* Interfaces in the order of their messages; release `v` with free(). */
typedef struct PnNetLinks {
        PnNetLink *v;
        size_t n, capacity;
} PnNetLinks;

/* Forward error correction. */
typedef struct PnEthtoolFec {
        int active;     /* the link mode bit of what is in use; -1: not said */
        bool has_modes; /* the next two are there */
        bool automatic; /* the driver chooses */
        uint32_t configured[PN_LINK_MODE_WORDS];
        uint64_t corrected, uncorrectable; /* blocks; PN_NO_COUNTER: not said */
} PnEthtoolFec;

/* Counters that a standard defines. PN_NO_COUNTER: the driver has none. */
typedef struct PnEthtoolStats {
        uint64_t fcs_errors;    /* IEEE 802.3, 30.3.1.1.6, aFrameCheckSequenceErrors */
        uint64_t symbol_errors; /* 30.3.2.1.5, aSymbolErrorDuringCarrier */
        uint64_t oversize;      /* RFC 2819, etherStatsOversizePkts */
} PnEthtoolStats;

#define PN_NO_COUNTER UINT64_MAX

/* Bytes of a module's memory. */
typedef struct PnEthtoolBytes {
        uint8_t *to;
        size_t n;   /* room, and what was asked for */
        size_t got; /* more than there is room for is none */
} PnEthtoolBytes;

/* Which request a datagram answers: messages with another number are left over from an earlier one,
 * and passed over; so are those to another port. */
typedef struct PnAnswerTo {
        uint32_t sequence, port;
} PnAnswerTo;

/* Takes one datagram. 1: more will follow; 0: that was the end; or a negative errno: what the
 * kernel answered, -EINTR for a dump that did not show one moment, -EBADMSG for bytes that are no
 * netlink messages, -ENOMEM. After an error `ret` may hold a part. */
typedef int (*PnAnswer)(const void *bytes, size_t n, const PnAnswerTo *to, void *ret);

/* Into PnNetLinks. */
int pn_answer_links(const void *bytes, size_t n, const PnAnswerTo *to, void *ret);

/* Into a uint16_t: a family's number. */
int pn_answer_family(const void *bytes, size_t n, const PnAnswerTo *to, void *ret);

/* Into PnEthtoolLink. */
int pn_answer_link_modes(const void *bytes, size_t n, const PnAnswerTo *to, void *ret);
int pn_answer_link_info(const void *bytes, size_t n, const PnAnswerTo *to, void *ret);
int pn_answer_link_state(const void *bytes, size_t n, const PnAnswerTo *to, void *ret);

/* Into PnEthtoolFec, PnEthtoolStats, PnEthtoolBytes. */
int pn_answer_fec(const void *bytes, size_t n, const PnAnswerTo *to, void *ret);
int pn_answer_stats(const void *bytes, size_t n, const PnAnswerTo *to, void *ret);
int pn_answer_module(const void *bytes, size_t n, const PnAnswerTo *to, void *ret);
