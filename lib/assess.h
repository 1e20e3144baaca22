/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From an inventory to a status: ratings, findings, and the sentence that sums them up. A pure
 * function of its arguments: no clock, no I/O, no memory of its own. */
#pragma once

#include "alerts.h"
#include "model.h"
#include "policy.h"

/* What was known before; each may be NULL. */
typedef struct PnBefore {
        const PnInventory *inventory;
        const PnStatus *status;
} PnBefore;

/* Assesses a joined inventory. Findings that the status before has too keep their `since`, and
 * what one reading cannot tell is held against the inventory before. `policy` may be NULL for the
 * default. `now` is the time to give to new findings (RFC 3339, UTC). The result holds copies;
 * `generation` is for the caller to set (it is 0). 0 or -ENOMEM. */
int pn_assess(const PnInventory *inventory, PnBefore before, const PnPolicy *policy,
              const char *now, PnStatus *ret);

/* The same for who remembers: learns from the inventory, holds it against what is remembered, and
 * says what is new to the journal (`events`, appended to) and whether the memory should be saved
 * soon
 * (`learned`; otherwise some time will do). `now` must be the same moment as text and in seconds
 * since 1970. After a failure the memory may have learned in part. */
typedef struct PnOverTime {
        PnMemory *memory;
        int64_t now;
        PnEvents events;
        bool learned;
} PnOverTime;

int pn_assess_over_time(const PnInventory *inventory, PnBefore before, const PnPolicy *policy,
                        const char *now, PnOverTime *time, PnStatus *ret);

/* Rank of a severity word, 0 info … 3 critical; -EINVAL for another word. */
int pn_severity_rank(const char *severity);

/* The word for a rank; of one that there is not, the nearest. */
const char *pn_severity_name(int rank);
