/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the probe for one source and reads its lines, all of which it takes for hostile; knows
 * nothing of snapshots or clients. */
#pragma once

#include <systemd/sd-event.h>

#include "base.h"

struct json_object;

/* The sources, in the order of the inventory's `sources`. */
#define PN_SOURCES(S) S(host) S(pci) S(nvme) S(block) S(net) S(module) S(health) S(sensors)

typedef enum PnSourceId {
#define PN_SOURCE_ID(name) PN_SOURCE_##name,
        PN_SOURCES(PN_SOURCE_ID)
#undef PN_SOURCE_ID
            PN_N_SOURCES,
} PnSourceId;

/* A set of sources, one bit each. */
typedef unsigned PnSourceSet;
#define PN_ALL_SOURCES ((1u << PN_N_SOURCES) - 1)

const char *pn_source_name(PnSourceId source);

/* -EINVAL if there is no such source. */
int pn_source_from_name(const char *name, PnSourceId *ret);

/* What one run of the probe may cost us. A host with 1,000 drives has some 10,000 lines. */
#define PN_PROBE_LINE_MAX  ((size_t)256 << 10)
#define PN_PROBE_BYTES_MAX ((uint64_t)64 << 20)
#define PN_PROBE_LINES_MAX 100000

/* Probes that were killed and have not gone (a process in D state does not obey even SIGKILL).
 * Beyond this many, a source that has one of them is not started again. */
#define PN_STUCK_MAX 8

typedef struct PnCollector PnCollector;

typedef struct PnCollectorHandlers {
        /* One object, as the probe sent it. 0, or -EINVAL and a malloc'ed sentence, which ends the
         * run. */
        int (*object)(void *userdata, PnSourceId source, const char *kind,
                      struct json_object *object, char **ret_error);
        /* The run is over, and will call no more: well if `reason` is NULL, and then these were all
         * objects that there are. Not called from within pn_collector_start(). */
        void (*ended)(void *userdata, PnSourceId source, const char *reason, uint64_t took_ms);
} PnCollectorHandlers;

/* `probe` is the path of the program; `sockets` the folder in which a socket, where there is one,
 * answers for sources that need privileges (NULL: always start the program); `deadline` the time
 * that one run may take (µs). Handlers and paths must outlive the collector. SIGCHLD must be
 * blocked. 0 or a negative errno. */
int pn_collector_new(sd_event *event, const char *probe, const char *sockets, uint64_t deadline,
                     const PnCollectorHandlers *handlers, void *userdata, PnCollector **ret);

/* Kills every probe and waits for none. */
void pn_collector_free(PnCollector *collector);
PN_DEFINE_CLEANUP(PnCollector *, pn_collector_free);

/* Starts the probe for a source that is not running. 0, or -EAGAIN, -ENOENT, … with a malloc'ed
 * sentence. */
int pn_collector_start(PnCollector *collector, PnSourceId source, char **ret_error);

/* The sources that are being read. */
PnSourceSet pn_collector_running(const PnCollector *collector);
