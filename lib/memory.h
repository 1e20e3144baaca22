/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was learned over time, which one reading cannot tell: alerts and what an administrator
 * accepted, counters, and what each device was once able to do. Its field lists are the format of
 * state.json. No clock, no I/O; knows no rule. */
#pragma once

#include "model.h"

/* Moments are in seconds since 1970 (UTC). A list's objects are in the order of their keys. */

#define PN_ALERT_FIELDS(F, T)                                                                      \
        F(T, KEY, id, "", "ID", "Of the finding.")                                                 \
        F(T, NUM, since, "s", "SINCE", "When the finding was first seen.")                         \
        F(T, INT, level, "", "LEVEL", "Rank of the severity that has held; null: none has.")       \
        F(T, INT, target, "", "TARGET", "The rank that would hold next; -1: none, it is over.")    \
        F(T, INT, target_since, "s", "TARGET SINCE", "Since when that was seen.")                  \
        F(T, NUM, samples, "", "SAMPLES", "In how many readings since then.")                      \
        F(T, TEXT, sample, "", "SAMPLE", "The last of these readings.")                            \
        F(T, INT, told, "", "TOLD",                                                                \
          "Rank that the journal was told last; null: that all is well.")                          \
        F(T, INT, told_at, "s", "TOLD AT", "When.")                                                \
        F(T, INT, raised_at, "s", "RAISED AT", "When the journal was last told that it began.")    \
        F(T, INT, peak, "", "PEAK", "Worst rank that the journal was told since it began.")        \
        F(T, INT, told_extent, "", "TOLD EXTENT", "The extent that the journal was told last.")    \
        F(T, REALS, turns, "s", "TURNS", "When it began or ended, of the last hour.")              \
        F(T, BOOL, flapping, "", "FLAPPING", "It begins and ends too often to be told each time.") \
        F(T, OBJ, finding, Finding, "FINDING", "As it was seen last.")

#define PN_ACCEPTANCE_FIELDS(F, T)                                                                 \
        F(T, KEY, id, "", "ID", "Of the finding.")                                                 \
        F(T, NUM, at, "s", "AT", "When it was accepted.")                                          \
        F(T, INT, until, "s", "UNTIL", "When that ends; null: never.")                             \
        F(T, NUM, rank, "", "RANK", "Rank of the severity that was accepted.")                     \
        F(T, INT, extent, "", "EXTENT", "The extent that was accepted.")                           \
        F(T, TEXT, reason, "", "REASON", "Why, in an administrator's words.")

#define PN_COUNTER_FIELDS(F, T)                                                                    \
        F(T, KEY, key, "", "KEY", "What is counted, and of which device.")                         \
        F(T, NUM, baseline, "", "BASELINE", "What growth is counted from.")                        \
        F(T, NUM, since, "s", "SINCE", "When that was its value.")                                 \
        F(T, NUM, value, "", "VALUE", "Its value when it was last read.")                          \
        F(T, INT, grew, "s", "GREW", "When it was last seen to have grown; null: never.")          \
        F(T, BOOL, found, "", "FOUND", "The growth is what was there when it was first read.")     \
        F(T, NUM, seen, "s", "SEEN", "When it was last read.")

#define PN_BEST_FIELDS(F, T)                                                                       \
        F(T, KEY, key, "", "KEY", "The device, and the place that it is in.")                      \
        F(T, NUM, value, "", "VALUE", "The best that was ever seen: Mb/s, or turns a minute.")     \
        F(T, REAL, speed, "GT/s", "SPEED", "Link only: lane rate at the best.")                    \
        F(T, INT, width, "lanes", "WIDTH", "Link only: lanes at the best.")                        \
        F(T, NUM, last, "s", "LAST", "When that was last seen.")                                   \
        F(T, NUM, seen, "s", "SEEN", "When anything was last seen of it.")

#define PN_SEEN_FIELDS(F, T)                                                                       \
        F(T, KEY, key, "", "KEY", "Serial number and model, or another name that is unique.")      \
        F(T, TEXT, name, "", "DEVICE", "The kernel's name when it was last there.")                \
        F(T, TEXT, address, "", "ADDRESS", "PCI address of it, or of its controller.")             \
        F(T, TEXT, transport, "", "TRANSPORT", "pcie, sata, sas, ...")                             \
        F(T, TEXT, model, "", "MODEL", "Model.")                                                   \
        F(T, TEXT, serial, "", "SERIAL", "Serial number.")                                         \
        F(T, TEXT, subsystem, "", "NQN", "NVMe qualified name of the subsystem.")                  \
        F(T, TEXTS, uses, "", "USED BY", "What lived on it.")                                      \
        F(T, NUM, last, "s", "LAST", "When it was last there.")

#define PN_MEMORY_FIELDS(F, T)                                                                     \
        F(T, NUM, schema, "", "SCHEMA", "Version of this format.")                                 \
        F(T, TEXT, machine, "", "MACHINE", "Which machine learned this.")                          \
        F(T, MANY, alerts, Alert, "ALERTS", "Findings, and what the journal was told of them.")    \
        F(T, MANY, acceptances, Acceptance, "ACCEPTED", "What an administrator accepted.")         \
        F(T, MANY, counters, Counter, "COUNTERS", "Counters and their baselines.")                 \
        F(T, MANY, links, Best, "LINKS", "The best that each link ever ran at.")                   \
        F(T, MANY, ports, Best, "PORTS", "The best that each network port ever ran at.")           \
        F(T, MANY, fans, Best, "FANS", "Fans that turned.")                                        \
        F(T, MANY, drives, Seen, "DRIVES", "NVMe drives that should be there.")                    \
        F(T, MANY, disks, Seen, "DISKS", "Other disks that should be there.")

#define PN_MEMORY_TYPES(T)                                                                         \
        T(Alert, PN_ALERT_FIELDS, "A finding over time.")                                          \
        T(Acceptance, PN_ACCEPTANCE_FIELDS, "A finding that an administrator accepted.")           \
        T(Counter, PN_COUNTER_FIELDS, "A counter over time.")                                      \
        T(Best, PN_BEST_FIELDS, "The best that a device was seen to do.")                          \
        T(Seen, PN_SEEN_FIELDS, "A drive that was there.")                                         \
        T(Memory, PN_MEMORY_FIELDS, "What was learned over time.")

PN_MEMORY_TYPES(PN_DECLARE_TYPE)

#define PN_MEMORY_SCHEMA 1

/* The most objects that a list keeps; what comes after them is not remembered. */
#define PN_MEMORY_MAX 65536

/* The largest state.json that is read, in bytes: more than all lists can come to. */
#define PN_MEMORY_SIZE_MAX ((size_t)256 << 20)

/* An empty memory. */
void pn_memory_init(PnMemory *memory);

/* Reads one from JSON text into `ret` (set on success only). `ret_newer` (may be NULL): a newer
 * pnhw wrote it, and what only that one knows was passed over. 0, -ENOMEM, or -EINVAL with a
 * malloc'ed sentence in `ret_error` (may be NULL). Moments after `now` (a clock that went back)
 * become `now`. */
int pn_memory_read(const char *text, size_t n, int64_t now, PnMemory *ret, bool *ret_newer,
                   char **ret_error);

/* Sets moments that are not before `now` to the one before it: where the clock went back, nothing
 * must wait for years. */
void pn_memory_limit(PnMemory *memory, int64_t now);

/* Appends it as JSON. */
void pn_memory_write(PnBuf *buf, const PnMemory *memory);

/* The object with this key in one of the lists, or NULL. */
PnAlert *pn_memory_alert(const PnMemory *memory, const char *id);
PnAcceptance *pn_memory_acceptance(const PnMemory *memory, const char *id);
PnCounter *pn_memory_counter(const PnMemory *memory, const char *key);
PnBest *pn_memory_link(const PnMemory *memory, const char *key);
PnBest *pn_memory_port(const PnMemory *memory, const char *key);
PnBest *pn_memory_fan(const PnMemory *memory, const char *key);
PnSeen *pn_memory_drive(const PnMemory *memory, const char *key);
PnSeen *pn_memory_disk(const PnMemory *memory, const char *key);

/* The same, and makes it if it is not there; NULL when memory is short, or the list is full.
 * Objects may move: keep no pointer across a call. */
PnAcceptance *pn_memory_make_acceptance(PnMemory *memory, const char *id);
PnCounter *pn_memory_make_counter(PnMemory *memory, const char *key);
PnBest *pn_memory_make_link(PnMemory *memory, const char *key);
PnBest *pn_memory_make_port(PnMemory *memory, const char *key);
PnBest *pn_memory_make_fan(PnMemory *memory, const char *key);
PnSeen *pn_memory_make_drive(PnMemory *memory, const char *key);
PnSeen *pn_memory_make_disk(PnMemory *memory, const char *key);

/* Makes those alerts that are not there, of `n` ids in their order, as far as there is room. 0 or
 * -ENOMEM. */
int pn_memory_make_alerts(PnMemory *memory, unsigned n, const char *const *ids);

/* Drops the alerts that are marked, by their places. */
void pn_memory_drop_alerts(PnMemory *memory, const bool *gone);

/* Drops what was not seen for `days`. */
void pn_memory_forget(PnMemory *memory, int64_t now, int64_t days);
