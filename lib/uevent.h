/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes what udev and the kernel tell of devices that come, go and change: udev's broadcast and
 * rtnetlink's notifications. Pure functions over bytes, which know no socket and no device. */
#pragma once

#include "base.h"

/* udev's message, as its monitors get it: a header of PN_UEVENT_HEADER bytes that begins with
 * "libudev" and its NUL, then the numbers below, then KEY=VALUE strings, each with its NUL. */
#define PN_UEVENT_HEADER       40
#define PN_UEVENT_MAGIC        0xfeedcafe /* in network order, as the hash */
#define PN_UEVENT_AT_MAGIC     8
#define PN_UEVENT_AT_SUBSYSTEM 24 /* pn_uevent_hash() of the subsystem */

/* All point into the message; NULL for what it does not say. */
typedef struct PnUevent {
        const char *action, *devpath, *subsystem;
        const char *pci_class; /* in hex, without 0x and leading zeros: "10802" */
} PnUevent;

/* -EBADMSG for a message that is none, that is cut off, or that lacks action, devpath or
 * subsystem. */
int pn_uevent_parse(const void *message, size_t n, PnUevent *ret);

/* What the header has for a subsystem (MurmurHash2, seed 0, of the name as the machine has its
 * words), so that a socket filter can tell it. */
uint32_t pn_uevent_hash(const char *subsystem);

/* What makes a difference to how a port is doing. Counters are not in it: a notification that came
 * for them alone is equal to the one before. No padding, so it can be compared as memory. */
typedef struct PnLinkState {
        uint32_t flags; /* of IFF_*, those that say whether it is set up and has a link */
        uint32_t operstate, carrier, carrier_changes, mtu, master;
} PnLinkState;

typedef struct PnLinkEvent {
        bool is_answer; /* to a request for all there are; else something happened */
        bool is_gone;
        bool is_loopback;
        int32_t index;
        char name[16];
        char kind[16]; /* of a virtual interface: "veth", "bond", …; else empty */
        PnLinkState state;
} PnLinkEvent;

/* The next notification of an interface in what one read of the socket gave; *offset begins with 0.
 * 1, 0 at the end, -EBADMSG for what the kernel would not send. Messages of other types, and of
 * interfaces as ports of a bridge, are passed over. */
int pn_link_event_next(const void *messages, size_t n, size_t *offset, PnLinkEvent *ret);

/* Whether data can flow, by RFC 2863's state, or by carrier where the driver keeps none. */
bool pn_link_is_up(const PnLinkState *state);
