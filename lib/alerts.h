/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From findings, which are of one moment, to alerts, which the journal is told: when one begins,
 * changes and ends. A pure function of findings, memory and time; knows no rule. */
#pragma once

#include "memory.h"

/* What the journal is to be told, in order: the finding, with `state` raised, changed or
 * cleared. */
typedef PN_LIST(PnFinding) PnEvents;

void pn_events_done(PnEvents *events);

/* Holds the findings of a status (worst first, each id once) against what is remembered, and sets
 * their `state`, `since` and `accepted`.
 *
 * A severity holds once it was seen in two readings, for as long as its code says (lib/codes.h); it
 * is over once less was seen for as long as that code says. `held` are ids for which a reading
 * could not tell, or which are so near to the limit that they are not over: they end nothing. Nor
 * does a code of which a source is not fresh. Nothing is told of severity info, of what is
 * accepted, a second time within an hour, or while it begins and ends more often than six times an
 * hour (but that once).
 *
 * Appends to `events`. `ret_changed` (may be NULL) says whether the memory must be saved soon. 0 or
 * -ENOMEM; then the findings may be marked in part. */
int pn_alerts_judge(PnMemory *memory, PnStatus *status, const PnTexts *held, int64_t now,
                    PnEvents *events, bool *ret_changed);

/* Appends copies of what the journal was told and not yet told to be over: as it was last seen,
 * with `state` raised and the severity that the journal was told. 0 or -ENOMEM. */
int pn_alerts_standing(const PnMemory *memory, PnEvents *ret);

/* Remembers that an administrator accepts a finding, until a moment (absent: for good); `reason`
 * may be NULL. 0; -ENOSPC if too many are; -ENOMEM. */
int pn_alerts_accept(PnMemory *memory, const PnFinding *finding, const char *reason, PnInt until,
                     int64_t now);

/* Undoes it: 0, or -ENOENT if it is not accepted. */
int pn_alerts_unaccept(PnMemory *memory, const char *id);
