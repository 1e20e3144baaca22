/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From an inventory to a status: ratings, findings, and the sentence that sums them up. A pure
 * function of its arguments: no clock, no I/O, no memory of its own. */
#pragma once

#include "model.h"

/* Assesses a joined inventory. `previous` (may be NULL) is the status before this one: findings
 * that it has too keep their `since`. `now` is the time to give to new ones (RFC 3339, UTC). The
 * result holds copies; `generation` is for the caller to set (it is 0). 0 or -ENOMEM. */
int pn_assess(const PnInventory *inventory, const PnStatus *previous, const char *now,
              PnStatus *ret);

/* Rank of a severity word, 0 info … 3 critical; -EINVAL for another word. */
int pn_severity_rank(const char *severity);
