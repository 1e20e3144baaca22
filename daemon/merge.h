/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Brings what one reading found together with what was known before; pure functions over lists,
 * know nothing of probes. */
#pragma once

#include "model.h"

/* Lost drives are remembered until the daemon ends, but not without bound. */
#define PN_LOST_MAX 64

/* More objects of one type than one run of the probe may send: beyond it what was kept from runs
 * before is forgotten. Below the limit of a list (schema.c). */
#define PN_KEPT_MAX 131072

/* Merges two PN_LIST of a type whose first field is its key: an object of `incoming` replaces the
 * one in `kept` with the same key; of two in `incoming` the later one counts. With `complete` the
 * objects in `kept` that `incoming` has not are dropped, else they stay. `incoming` is empty
 * afterwards. 0, or -ENOMEM and nothing is changed. */
int pn_merge_list(const PnType *type, void *kept, void *incoming, bool complete);

/* The same for drives, which are told apart by serial number and not by name alone (a new drive may
 * get the old one's name). A drive that is gone, or whose name another drive has, stays as lost,
 * without what can no longer be known of it. */
int pn_merge_nvme(PnInventory *kept, PnInventory *incoming, bool complete);
