/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The only owner and writer of the current snapshot: decides when the hardware is read, and makes
 * a snapshot of what came. Knows no connection. */
#pragma once

#include "collect.h"
#include "policy.h"
#include "snapshot.h"

/* A source is not started again sooner than this after its last start (µs). */
#define PN_REFRESH_MIN ((uint64_t)2 * 1000 * 1000)

typedef struct PnManagerOptions {
        const char *probe;      /* path of the program; must outlive the manager */
        const char *sockets;    /* folder of the probe's sockets, or NULL; likewise */
        uint64_t interval;      /* between two readings of pci, nvme and block; µs */
        uint64_t deadline;      /* of one run of the probe; µs */
        const PnPolicy *policy; /* must outlive the manager */
        const char *state;      /* the folder of state.json, or NULL: nothing is kept */
} PnManagerOptions;

typedef struct PnManager PnManager;

/* Hears of each new snapshot: `before` is the one until now (NULL at first). */
typedef void (*PnSnapshotHandler)(void *userdata, PnSnapshot *before, PnSnapshot *now);

int pn_manager_new(sd_event *event, const PnManagerOptions *options, PnManager **ret);
void pn_manager_free(PnManager *manager);
PN_DEFINE_CLEANUP(PnManager *, pn_manager_free);

/* Starts the first reading of everything, and the timer for all later ones. 0 or -errno. */
int pn_manager_start(PnManager *manager, PnSnapshotHandler handler, void *userdata);

/* The current snapshot; NULL until the first reading has ended, one way or another. */
PnSnapshot *pn_manager_snapshot(const PnManager *manager);

/* The sources that are being read, or have been and are not in the current snapshot yet. */
PnSourceSet pn_manager_busy(const PnManager *manager);

/* Starts those of the sources that may be started; those to wait for. */
PnSourceSet pn_manager_refresh(PnManager *manager, PnSourceSet sources);

/* Accepts a finding of the current snapshot, or takes that back; a new snapshot follows at once.
 * `reason` may be NULL, `until` absent. 0; -ENOENT if no finding has this id (or none that is
 * accepted); -ENOSPC if too many are; -ENOMEM. */
int pn_manager_accept(PnManager *manager, const char *id, const char *reason, PnInt until);
int pn_manager_unaccept(PnManager *manager, const char *id);

/* Something of these has changed: they are read as soon as that has settled, at most two seconds
 * later. One that is being read is read once more. How often is bounded, however often this is
 * called. */
void pn_manager_touch(PnManager *manager, PnSourceSet sources);
