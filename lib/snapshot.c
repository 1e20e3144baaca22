/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is known at one moment, and the answers made from it. No clock, no I/O, no connections. */

#include "snapshot.h"

#include <stdio.h>

#include "assess.h"
#include "device.h"
#include "index.h"
#include "metrics.h"
#include "varlink.h"

PnBlob *pn_blob_new(PnBuf *buf)
{
        _cleanup_free_ PnBlob *blob = calloc(1, sizeof *blob);

        if (!blob || pn_buf_take(buf, &blob->data, &blob->length) < 0) {
                pn_buf_done(buf);
                return NULL;
        }
        /* A buffer grows by doubling; a blob lives long. */
        char *fitting = realloc(blob->data, blob->length + 1);

        if (fitting)
                blob->data = fitting;
        blob->n_refs = 1;
        return PN_STEAL(blob);
}

PnBlob *pn_blob_ref(PnBlob *blob)
{
        if (blob)
                blob->n_refs++;
        return blob;
}

void pn_blob_unref(PnBlob *blob)
{
        if (!blob || --blob->n_refs > 0)
                return;
        free(blob->data);
        free(blob);
}

int pn_part_from_name(const char *name, PnParts *ret)
{
#define MATCH(part)                                                                                \
        if (strcmp(name, #part) == 0) {                                                            \
                *ret = 1u << PN_PART_INDEX_##part;                                                 \
                return 0;                                                                          \
        }
        PN_PARTS(MATCH)
#undef MATCH
        return -EINVAL;
}

int pn_snapshot_new(PnInventory *inventory, PnStatus *status, int64_t generation, PnSnapshot **ret)
{
        _cleanup_(pn_snapshot_unrefp) PnSnapshot *snapshot = calloc(1, sizeof *snapshot);

        if (!snapshot) {
                pn_done(pn_type_Inventory(), inventory);
                pn_done(pn_type_Status(), status);
                return -ENOMEM;
        }
        snapshot->n_refs = 1;
        snapshot->inventory = *inventory;
        snapshot->status = *status;
        *inventory = (PnInventory){0};
        *status = (PnStatus){0};
        snapshot->status.generation = pn_int(generation);
        snapshot->status.schema = pn_int(PN_SCHEMA_VERSION);
        /* What the interface promises is there, whatever was found. */
        if (!snapshot->status.host.v && !PN_NEW(&snapshot->status.host))
                return -ENOMEM;
        if (!snapshot->status.summary.v && pn_set_text(&snapshot->status.summary, "") < 0)
                return -ENOMEM;
        *ret = PN_STEAL(snapshot);
        return 0;
}

PnSnapshot *pn_snapshot_ref(PnSnapshot *snapshot)
{
        if (snapshot)
                snapshot->n_refs++;
        return snapshot;
}

void pn_snapshot_unref(PnSnapshot *snapshot)
{
        if (!snapshot || --snapshot->n_refs > 0)
                return;
        pn_done(pn_type_Inventory(), &snapshot->inventory);
        pn_done(pn_type_Status(), &snapshot->status);
        pn_events_done(&snapshot->alerts);
        pn_blob_unref(snapshot->status_answer);
        pn_blob_unref(snapshot->metrics_answer);
        pn_blob_unref(snapshot->alerts_answer);
        for (size_t i = 0; i < PN_ELEMENTS(snapshot->inventory_answers); i++)
                pn_blob_unref(snapshot->inventory_answers[i]);
        for (size_t i = 0; i < PN_N_SEVERITIES; i++)
                for (size_t k = 0; k < 2; k++)
                        pn_blob_unref(snapshot->findings_answers[i][k]);
        free(snapshot);
}

/* The answer whose parameters are `object`; it is only read. */
static int make_answer(const PnType *type, const void *object, PnBlob **ret)
{
        _cleanup_buf_ PnBuf buf = {0};

        pn_reply_begin(&buf);
        pn_write_json(&buf, type, object);
        pn_reply_end(&buf, false);
        *ret = pn_blob_new(&buf);
        return *ret ? 0 : -ENOMEM;
}

int pn_snapshot_status(PnSnapshot *snapshot, PnBlob **ret)
{
        if (!snapshot->status_answer) {
                int r = make_answer(pn_type_Status(), &snapshot->status, &snapshot->status_answer);

                if (r < 0)
                        return r;
        }
        *ret = snapshot->status_answer;
        return 0;
}

int pn_snapshot_inventory(PnSnapshot *snapshot, PnParts parts, PnBlob **ret)
{
        PnBlob **at = &snapshot->inventory_answers[parts & PN_ALL_PARTS];

        if (!*at) {
                /* A view of the snapshot's own objects, only written and never released. */
                PnInventory view = snapshot->inventory;
                PnGetInventoryOut out = {
                    .schema = snapshot->status.schema,
                    .generation = snapshot->status.generation,
                    .inventory = {PN_KNOWN, &view},
                };
                int r;

#define DROP(part)                                                                                 \
        if (!(parts & 1u << PN_PART_INDEX_##part))                                                 \
                memset(&view.part, 0, sizeof view.part);
                PN_PARTS(DROP)
#undef DROP
                r = make_answer(pn_type_GetInventoryOut(), &out, at);
                if (r < 0)
                        return r;
        }
        *ret = *at;
        return 0;
}

/* An unknown word, which no rule of ours writes, must not hide a finding. */
static int rank_of(const PnFinding *finding)
{
        const char *severity = pn_text(&finding->severity);
        int rank = severity ? pn_severity_rank(severity) : -EINVAL;

        return rank < 0 || rank >= PN_N_SEVERITIES ? PN_N_SEVERITIES - 1 : rank;
}

int pn_snapshot_findings(PnSnapshot *snapshot, int min_rank, bool include_accepted, PnBlob **ret)
{
        PnBlob **at = &snapshot->findings_answers[min_rank][include_accepted];

        if (!*at) {
                _cleanup_buf_ PnBuf buf = {0};
                const char *separator = "";

                pn_reply_begin(&buf);
                pn_buf_puts(&buf, "{\"findings\":[");
                for (unsigned i = 0; i < snapshot->status.findings.n; i++) {
                        const PnFinding *finding = &snapshot->status.findings.v[i];

                        if (rank_of(finding) < min_rank ||
                            (pn_is_true(finding->accepted) && !include_accepted))
                                continue;
                        pn_buf_puts(&buf, separator);
                        pn_write_json(&buf, pn_type_Finding(), finding);
                        separator = ",";
                }
                pn_buf_puts(&buf, "]}");
                pn_reply_end(&buf, false);
                *at = pn_blob_new(&buf);
                if (!*at)
                        return -ENOMEM;
        }
        *ret = *at;
        return 0;
}

int pn_snapshot_alerts(PnSnapshot *snapshot, PnBlob **ret)
{
        if (!snapshot->alerts_answer) {
                /* A view of the snapshot's own objects, only written and never released. */
                PnListAlertsOut out = {
                    .alerts = {PN_KNOWN, snapshot->alerts.n, snapshot->alerts.v},
                };
                int r = make_answer(pn_type_ListAlertsOut(), &out, &snapshot->alerts_answer);

                if (r < 0)
                        return r;
        }
        *ret = snapshot->alerts_answer;
        return 0;
}

int pn_snapshot_metrics(PnSnapshot *snapshot, PnBlob **ret)
{
        if (!snapshot->metrics_answer) {
                _cleanup_buf_ PnBuf page = {0};
                int r = pn_metrics_write(&page, &snapshot->inventory, &snapshot->status);

                if (r < 0)
                        return r;

                PnGetMetricsOut out = {.openmetrics = {PN_KNOWN, page.data}};

                r = make_answer(pn_type_GetMetricsOut(), &out, &snapshot->metrics_answer);
                if (r < 0)
                        return r;
        }
        *ret = snapshot->metrics_answer;
        return 0;
}

static void device_done(PnDevice *device)
{
        pn_done(pn_type_Device(), device);
}

int pn_snapshot_device(const PnSnapshot *snapshot, const char *name, PnBuf *buf)
{
        _cleanup_(device_done) PnDevice device = {0};
        PnGetDeviceOut out = {.device = {PN_KNOWN, &device}};
        int r;

        r = pn_device_find(&snapshot->inventory, &snapshot->status, name, &device);
        if (r < 0)
                return r;
        pn_reply_begin(buf);
        pn_write_json(buf, pn_type_GetDeviceOut(), &out);
        pn_reply_end(buf, false);
        return buf->error;
}

typedef struct Tally {
        unsigned by_rank[PN_N_SEVERITIES];
        const PnFinding *worst;
        int worst_rank;
        unsigned n_blind;
        const PnFinding *blind; /* one that says that something could not be read */
} Tally;

static void count_finding(Tally *tally, const PnFinding *finding)
{
        int rank = rank_of(finding);

        if (pn_is_true(finding->accepted))
                return;
        if (finding->code.v && pn_startswith(finding->code.v, "probe.")) {
                tally->blind = tally->blind ? tally->blind : finding;
                tally->n_blind++;
                return;
        }
        tally->by_rank[rank]++;
        if (!tally->worst || rank > tally->worst_rank) {
                tally->worst = finding;
                tally->worst_rank = rank;
        }
}

/* The line of a verdict: `PNHW WARNING - nvme3 (0000:07:00.0): x1 of x4 (and 2 more)`. */
static void write_line(PnBuf *line, const char *word, const Tally *tally, int min_rank,
                       const PnSource *unread, const char *summary)
{
        unsigned n = 0;

        pn_buf_printf(line, "PNHW %s - ", word);
        for (int rank = min_rank; rank < PN_N_SEVERITIES; rank++)
                n += tally->by_rank[rank];
        if (n > 0) {
                const char *text = pn_text(&tally->worst->summary);

                pn_buf_puts(line, text ? text : pn_text(&tally->worst->code));
                if (n > 1)
                        pn_buf_printf(line, " (and %u more)", n - 1);
                if (tally->n_blind)
                        pn_buf_printf(line, "; %u could not be read: %s", tally->n_blind,
                                      pn_text(&tally->blind->summary));
        } else if (tally->blind)
                pn_buf_puts(line, pn_text(&tally->blind->summary));
        else if (unread) {
                const char *reason = pn_text(&unread->reason);

                pn_buf_printf(line, "source %s is not fresh: %s", pn_text(&unread->name),
                              reason ? reason : "no reason is known");
        } else
                pn_buf_puts(line, summary);
        /* A monitoring system reads one line, and takes what follows a bar for figures. */
        for (size_t i = 0; i < line->len; i++)
                if (line->data[i] == '|' || (unsigned char)line->data[i] < ' ')
                        line->data[i] = ' ';
}

static const PnSource *first_not_fresh(const PnStatus *status)
{
        for (unsigned i = 0; i < status->sources.n; i++)
                if (!pn_text_is(&status->sources.v[i].state, "fresh"))
                        return &status->sources.v[i];
        return NULL;
}

int pn_snapshot_check(const PnSnapshot *snapshot, const char *device_name, int min_rank, PnBuf *buf)
{
        static const char *const words[] = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};
        _cleanup_(device_done) PnDevice device = {0};
        _cleanup_buf_ PnBuf line = {0}, perfdata = {0};
        const PnSource *unread = first_not_fresh(&snapshot->status);
        Tally tally = {0};
        unsigned code = 0;

        if (device_name) {
                int r =
                    pn_device_find(&snapshot->inventory, &snapshot->status, device_name, &device);

                if (r < 0)
                        return r;
                for (unsigned i = 0; i < device.findings.n; i++)
                        count_finding(&tally, &device.findings.v[i]);
        } else
                for (unsigned i = 0; i < snapshot->status.findings.n; i++)
                        count_finding(&tally, &snapshot->status.findings.v[i]);

        if (tally.by_rank[PN_N_SEVERITIES - 1] > 0)
                code = 2;
        else if (tally.worst && tally.worst_rank >= min_rank)
                code = 1;
        else if (unread || tally.blind)
                code = 3;
        write_line(&line, words[code], &tally, min_rank, unread,
                   device_name ? "nothing that calls for a check is wrong with this device"
                               : pn_text(&snapshot->status.summary));
        pn_buf_printf(&perfdata, "critical=%u warning=%u notice=%u", tally.by_rank[3],
                      tally.by_rank[2], tally.by_rank[1]);
        if (line.error || perfdata.error)
                return -ENOMEM;

        PnCheckOut out = {
            .status = {PN_KNOWN, (char *)(uintptr_t)words[code]},
            .code = pn_int(code),
            .line = {PN_KNOWN, line.data},
            .perfdata = {PN_KNOWN, perfdata.data},
        };

        pn_reply_begin(buf);
        pn_write_json(buf, pn_type_CheckOut(), &out);
        pn_reply_end(buf, false);
        return buf->error;
}

/* A source's state and reason, without the times that change with each reading. */
static bool same_sources(const PnStatus *a, const PnStatus *b)
{
        if (a->sources.n != b->sources.n)
                return false;
        for (unsigned i = 0; i < a->sources.n; i++) {
                const PnSource *one = &a->sources.v[i], *other = &b->sources.v[i];

                if (!pn_streq(pn_text(&one->name), pn_text(&other->name)) ||
                    !pn_streq(pn_text(&one->state), pn_text(&other->state)) ||
                    !pn_streq(pn_text(&one->reason), pn_text(&other->reason)))
                        return false;
        }
        return true;
}

/* A drive without what it measures and counts. Views of ours; only compared, never released. */
static bool same_drive(const PnNvme *a, const PnNvme *b)
{
        PnNvme one = *a, other = *b;

        if (a->namespaces.n != b->namespaces.n)
                return false;
        for (unsigned i = 0; i < a->namespaces.n; i++) {
                PnNamespace x = a->namespaces.v[i], y = b->namespaces.v[i];

                x.used_bytes = y.used_bytes = (PnInt){0};
                if (!pn_equal(pn_type_Namespace(), &x, &y))
                        return false;
        }
        memset(&one.namespaces, 0, sizeof one.namespaces);
        memset(&other.namespaces, 0, sizeof other.namespaces);
        memset(&one.health, 0, sizeof one.health);
        memset(&other.health, 0, sizeof other.health);
        return pn_equal(pn_type_Nvme(), &one, &other);
}

static bool same_drives(const PnInventory *a, const PnInventory *b)
{
        if (a->nvme.n != b->nvme.n)
                return false;
        for (unsigned i = 0; i < a->nvme.n; i++)
                if (!same_drive(&a->nvme.v[i], &b->nvme.v[i]))
                        return false;
        return true;
}

/* The rest of an alert is a finding's, and that is in the status as long as it changes. */
static bool same_alerts(const PnEvents *a, const PnEvents *b)
{
        if (a->n != b->n)
                return false;
        for (unsigned i = 0; i < a->n; i++)
                if (!pn_streq(pn_text(&a->v[i].id), pn_text(&b->v[i].id)) ||
                    !pn_streq(pn_text(&a->v[i].severity), pn_text(&b->v[i].severity)))
                        return false;
        return true;
}

bool pn_snapshot_differs(const PnSnapshot *a, const PnSnapshot *b)
{
        /* Views without what changes at each reading; only compared, never released. */
        PnStatus status_a = a->status, status_b = b->status;
        PnInventory inventory_a = a->inventory, inventory_b = b->inventory;
        PnHost host_a = {0}, host_b = {0};

        if (a == b)
                return false;
        if (!same_sources(&status_a, &status_b) || !same_drives(&inventory_a, &inventory_b) ||
            !same_alerts(&a->alerts, &b->alerts))
                return true;
        if (status_a.host.v && status_b.host.v) {
                host_a = *status_a.host.v;
                host_b = *status_b.host.v;
        }
        status_a.generation = status_b.generation;
        memset(&status_a.sources, 0, sizeof status_a.sources);
        memset(&status_b.sources, 0, sizeof status_b.sources);
        memset(&host_a.vitals, 0, sizeof host_a.vitals);
        memset(&host_b.vitals, 0, sizeof host_b.vitals);
        status_a.host.v = &host_a;
        status_b.host.v = &host_b;
        memset(&inventory_a.sources, 0, sizeof inventory_a.sources);
        memset(&inventory_b.sources, 0, sizeof inventory_b.sources);
        memset(&inventory_a.nvme, 0, sizeof inventory_a.nvme);
        memset(&inventory_b.nvme, 0, sizeof inventory_b.nvme);
        memset(&inventory_a.sensors, 0, sizeof inventory_a.sensors);
        memset(&inventory_b.sensors, 0, sizeof inventory_b.sensors);
        return !pn_equal(pn_type_Status(), &status_a, &status_b) ||
               !pn_equal(pn_type_Inventory(), &inventory_a, &inventory_b);
}

static PnFinding *append_copy(PnSubscribeOut *out, const PnFinding *finding)
{
        PnFinding *copy = PN_APPEND(&out->changed);

        if (!copy || pn_copy(pn_type_Finding(), copy, finding) < 0)
                return NULL;
        return copy;
}

/* The usual case: then nothing has to be looked up. */
static bool have_same_ids(const PnStatus *a, const PnStatus *b)
{
        if (a->findings.n != b->findings.n)
                return false;
        for (unsigned i = 0; i < a->findings.n; i++)
                if (!pn_streq(pn_text(&a->findings.v[i].id), pn_text(&b->findings.v[i].id)))
                        return false;
        return true;
}

static int index_findings(const PnStatus *status, PnIndex *ret)
{
        if (pn_index_init(ret, status->findings.n) < 0)
                return -ENOMEM;
        for (unsigned i = 0; i < status->findings.n; i++)
                pn_index_add(ret, pn_text(&status->findings.v[i].id), &status->findings.v[i]);
        pn_index_sort(ret);
        return 0;
}

/* Without lists to look them up in, both have the same findings in the same order. */
static int append_changed(const PnStatus *before, const PnStatus *after, const PnIndex *old,
                          const PnIndex *new, PnSubscribeOut *out)
{
        for (unsigned i = 0; i < after->findings.n; i++) {
                const PnFinding *now = &after->findings.v[i];
                const PnFinding *then =
                    old ? pn_index_find(old, now->id.v, NULL) : &before->findings.v[i];

                if (then && pn_equal(pn_type_Finding(), now, then))
                        continue;
                if (!append_copy(out, now))
                        return -ENOMEM;
        }
        for (unsigned i = 0; new &&i < before->findings.n; i++) {
                const PnFinding *then = &before->findings.v[i];
                PnFinding *gone;

                if (pn_index_find(new, then->id.v, NULL))
                        continue;
                gone = append_copy(out, then);
                if (!gone || pn_set_text(&gone->state, "cleared") < 0)
                        return -ENOMEM;
        }
        return 0;
}

int pn_findings_changed(const PnStatus *before, const PnStatus *after, PnSubscribeOut *out)
{
        _cleanup_(pn_index_done) PnIndex old = {0}, new = {0};

        if (!before)
                return 0;
        if (have_same_ids(before, after))
                return append_changed(before, after, NULL, NULL, out);
        if (index_findings(before, &old) < 0 || index_findings(after, &new) < 0)
                return -ENOMEM;
        return append_changed(before, after, &old, &new, out);
}

static void changed_done(PnSubscribeOut *out)
{
        /* The status in it is a snapshot's. */
        out->status.v = NULL;
        pn_done(pn_type_SubscribeOut(), out);
}

int pn_snapshot_event(const PnSnapshot *before, const PnSnapshot *after, PnBuf *buf)
{
        _cleanup_(changed_done) PnSubscribeOut out = {
            .generation = after->status.generation,
            .changed = {.state = PN_KNOWN},
            .status = {PN_KNOWN, (PnStatus *)(uintptr_t)&after->status},
        };

        if (pn_findings_changed(before ? &before->status : NULL, &after->status, &out) < 0)
                return -ENOMEM;
        pn_reply_begin(buf);
        pn_write_json(buf, pn_type_SubscribeOut(), &out);
        pn_reply_end(buf, true);
        return buf->error;
}
