/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads devices, one after the other or a few at a time, in such a way that a device that hangs
 * costs itself alone. Knows nothing of what is read. */
#pragma once

#include "source.h"

/* How long a device may take, and how many devices of a source may take longer. The more do, the
 * less time the next one has (half, then this much), so that all of them together stay below the 10
 * s that the daemon gives a source: what hangs must not make what works out of date. */
#define PN_WALK_PATIENCE_MS       2000
#define PN_WALK_LEAST_PATIENCE_MS 500
#define PN_WALK_MAX_STUCK         8u

/* The most devices that are read at the same time. */
#define PN_WALK_MAX_WORKERS 8u

/* The devices of a source. Every function and all that it reaches through `context` is used by
 * more than one thread: by the worker, and by workers that were given up and may come back at any
 * time. So what is in `context` must not change during the walk. */
typedef struct PnWalk {
        const char *source;
        PnObjectKind kind;
        void *context;
        size_t n;
        unsigned n_workers;   /* how many devices are read at a time; 0 is one */
        unsigned patience_ms; /* how long the first may take; 0 is PN_WALK_PATIENCE_MS */

        /* A source that reads devices of the same names: what is stuck there is not touched here,
         * as if it were stuck here. May be NULL. */
        const char *heeds;

        /* The device's name: its object's key (if the type has one) and its lock's name. */
        const char *(*name)(const void *context, size_t i);

        /* Fills a zeroed object. 0; -ENODEV if the device has gone, which is no error: it is
         * passed over; or -ENOMEM, which ends the walk. */
        int (*read)(const void *context, size_t i, void *object, void *fact);

        /* Fills what is known of a device without reading it, for one that does not answer. 0 or
         * -ENOMEM. May be NULL. */
        int (*known)(const void *context, size_t i, void *object);

        /* What `read` wants to know of devices that it read before: `read` fills a zeroed
         * `fact`, and the walk keeps it as element i of `facts` when the object is emitted.
         * Elements of devices that were not read are zero. May be NULL and 0. */
        void *facts;
        size_t fact_size;
} PnWalk;

/* Reads and emits all devices, in their order where one is read at a time. A device that takes
 * longer than it may is emitted with its key alone, all else unread as `timeout`; one on which an
 * earlier run's read is still waiting is not touched and emitted likewise, as `stuck`. After
 * PN_WALK_MAX_STUCK of the former in a source (report->timeouts) the rest of its devices is left
 * out, and the report says so.
 *
 * `*ret_abandoned` is set if a worker is left behind: then `context` and `facts` must stay.
 * 0 or -ENOMEM. */
int pn_walk(const PnWalk *walk, PnEmit *emit, PnReport *report, bool *ret_abandoned);

/* Whether any worker of this process was left behind: then end with _exit(). */
bool pn_walk_any_abandoned(void);
