/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is known at one moment: inventory and status, never changed once made, with the answers that
 * are made from them serialised at most once. No clock, no I/O, no connections. */
#pragma once

#include "alerts.h"
#include "interface.h"

/* Bytes that several owners share. */
typedef struct PnBlob {
        unsigned n_refs;
        size_t length;
        char *data; /* NUL-terminated for convenience; the NUL is not part of `length` */
} PnBlob;

/* Takes the text of a buffer, which is empty afterwards. NULL when memory is (or was) short. */
PnBlob *pn_blob_new(PnBuf *buf);
PnBlob *pn_blob_ref(PnBlob *blob);
void pn_blob_unref(PnBlob *blob);
PN_DEFINE_CLEANUP(PnBlob *, pn_blob_unref);

/* The parts of the inventory that GetInventory can be asked for. */
#define PN_PARTS(P) P(host) P(pci) P(nvme) P(disks) P(nics) P(sensors)

enum {
#define PN_PART_INDEX(name) PN_PART_INDEX_##name,
        PN_PARTS(PN_PART_INDEX)
#undef PN_PART_INDEX
            PN_N_PARTS,
};

/* A set of them, one bit each. */
typedef unsigned PnParts;
#define PN_ALL_PARTS ((1u << PN_N_PARTS) - 1)

/* The set with only this part; -EINVAL for another word. */
int pn_part_from_name(const char *name, PnParts *ret);

/* Ranks of severities, as pn_severity_rank() gives them. */
#define PN_N_SEVERITIES 4

typedef struct PnSnapshot {
        unsigned n_refs;
        PnInventory inventory;
        PnStatus status; /* its generation is the snapshot's */
        PnEvents alerts; /* pn_alerts_standing(); set before anybody sees the snapshot */

        /* Answers, made when they are first asked for; private. */
        PnBlob *status_answer;
        PnBlob *metrics_answer;
        PnBlob *inventory_answers[PN_ALL_PARTS + 1];
        PnBlob *findings_answers[PN_N_SEVERITIES][2];
        PnBlob *alerts_answer;
} PnSnapshot;

/* Takes over what `inventory` and `status` hold (both are empty afterwards), also on failure. 0 or
 * -ENOMEM. */
int pn_snapshot_new(PnInventory *inventory, PnStatus *status, int64_t generation, PnSnapshot **ret);
PnSnapshot *pn_snapshot_ref(PnSnapshot *snapshot);
void pn_snapshot_unref(PnSnapshot *snapshot);
PN_DEFINE_CLEANUP(PnSnapshot *, pn_snapshot_unref);

/* The complete answers (without terminator) to GetStatus; to GetInventory for a set of parts; to
 * ListFindings; to ListAlerts. The blob is the snapshot's: take a reference to keep it. 0 or
 * -ENOMEM. */
int pn_snapshot_status(PnSnapshot *snapshot, PnBlob **ret);
int pn_snapshot_inventory(PnSnapshot *snapshot, PnParts parts, PnBlob **ret);
int pn_snapshot_findings(PnSnapshot *snapshot, int min_rank, bool include_accepted, PnBlob **ret);
int pn_snapshot_alerts(PnSnapshot *snapshot, PnBlob **ret);

/* The same, to GetMetrics. */
int pn_snapshot_metrics(PnSnapshot *snapshot, PnBlob **ret);

/* Appends the answer to GetDevice. 0, -ENOENT if nothing has that name, or -ENOMEM. */
int pn_snapshot_device(const PnSnapshot *snapshot, const char *name, PnBuf *buf);

/* Appends the answer to Check; `device` may be NULL for all. Accepted findings do not count. A
 * critical finding makes CRITICAL; another of at least `min_rank` makes WARNING; with none of
 * either, a source that is not fresh, or a finding that says that something could not be read
 * (probe.*), makes UNKNOWN: no news is not good news. 0, -ENOENT if
 * nothing has that name, or -ENOMEM. */
int pn_snapshot_check(const PnSnapshot *snapshot, const char *device, int min_rank, PnBuf *buf);

/* Whether a subscriber would want to hear of it: something in the status, the alerts or the
 * inventory is different, other than the generation and when sources were read and how long that
 * took. */
bool pn_snapshot_differs(const PnSnapshot *a, const PnSnapshot *b);

/* The findings of `after` that `before` (NULL: the same as `after`) has not, or has with other
 * contents, then those of `before` that are gone, these with state `cleared`. Appends copies. 0 or
 * -ENOMEM. */
int pn_findings_changed(const PnStatus *before, const PnStatus *after, PnSubscribeOut *out);

/* Appends an answer to Subscribe: `after`, and what changed since `before` (NULL: nothing). 0 or
 * -ENOMEM. */
int pn_snapshot_event(const PnSnapshot *before, const PnSnapshot *after, PnBuf *buf);
