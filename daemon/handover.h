/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tells a device that changes hands, from its driver to a guest's or back, from one that is lost.
 * Knows no clock: what is read when is for the manager to say. */
#pragma once

#include "snapshot.h"

typedef enum PnHandover {
        PN_HANDOVER_NONE,    /* what was read can be shown */
        PN_HANDOVER_LOST,    /* a drive went, and so may have its function or its driver since */
        PN_HANDOVER_UNBOUND, /* a function has just lost its driver: the next may be about to come
                              */
} PnHandover;

/* What was read, before it is joined, against what is shown. */
PnHandover pn_handover(const PnInventory *raw, const PnInventory *shown);

/* Says which functions changed hands, one line each. */
void pn_handover_log(const PnInventory *before, const PnInventory *now);
