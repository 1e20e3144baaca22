/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From findings to alerts: two levels of memory, what has held and what the journal was told. */

#include "alerts.h"

#include "assess.h"
#include "codes.h"
#include "when.h"

#define SAMPLES      2
#define REPEAT       PN_HOUR /* between two beginnings that are told */
#define TURNS_WINDOW PN_HOUR
#define TURNS_MAX    6 /* in the window; more is flapping */
#define TURNS_KEPT   (TURNS_MAX + 2)
#define LOWEST_TOLD  1 /* rank of notice */
#define GONE         (-1)

void pn_events_done(PnEvents *events)
{
        for (unsigned i = 0; i < events->n; i++)
                pn_done(pn_type_Finding(), &events->v[i]);
        free(events->v);
        *events = (PnEvents){0};
}

/* What one pass over the findings needs. */
typedef struct Pass {
        PnMemory *memory;
        const PnStatus *status;
        const char **held; /* sorted */
        size_t n_held;
        bool is_unknown[PN_N_CODES];     /* a source that it depends on is not fresh */
        const char *samples[PN_N_CODES]; /* which reading its last source is from */
        int64_t now;
        PnWhen now_text;
        PnEvents *events;
        bool changed;
} Pass;

static const PnSource *source_named(const PnStatus *status, const char *name, size_t n)
{
        for (unsigned i = 0; i < status->sources.n; i++) {
                const PnText *it = &status->sources.v[i].name;

                if (it->state == PN_KNOWN && strlen(it->v) == n && strncmp(it->v, name, n) == 0)
                        return &status->sources.v[i];
        }
        return NULL;
}

/* What each code's sources say of the status. Where a status has none (a saved one), all is
 * fresh. */
static void look_at_sources(Pass *pass)
{
        for (PnCode code = 0; code < PN_N_CODES; code++) {
                const char *at = pn_code_info(code)->sources;

                pass->samples[code] = pass->now_text;
                while (*at) {
                        size_t n = strcspn(at, " ");
                        const PnSource *source = source_named(pass->status, at, n);

                        if (source) {
                                if (!pn_text_is(&source->state, "fresh"))
                                        pass->is_unknown[code] = true;
                                if (pn_text(&source->updated))
                                        pass->samples[code] = source->updated.v;
                        }
                        at += n;
                        at += strspn(at, " ");
                }
        }
}

static int compare_texts(const void *a, const void *b)
{
        const char *const *one = a, *const *other = b;

        return strcmp(*one, *other);
}

static bool is_held(const Pass *pass, const char *id)
{
        return pass->n_held &&
               bsearch(&id, pass->held, pass->n_held, sizeof *pass->held, compare_texts);
}

/* ---- Which severity holds ---- */

static void drop_old_turns(PnAlert *alert, int64_t now)
{
        unsigned n = 0;

        for (unsigned i = 0; i < alert->turns.n; i++)
                if (alert->turns.v[i] > (double)(now - TURNS_WINDOW))
                        alert->turns.v[n++] = alert->turns.v[i];
        alert->turns.n = n;
        if (!n) {
                free(alert->turns.v);
                alert->turns = (PnReals){0};
        }
}

static int add_turn(PnAlert *alert, int64_t now)
{
        if (alert->turns.n >= TURNS_KEPT) {
                memmove(alert->turns.v, alert->turns.v + 1,
                        (alert->turns.n - 1) * sizeof *alert->turns.v);
                alert->turns.v[alert->turns.n - 1] = (double)now;
                return 0;
        }
        return pn_reals_append(&alert->turns, (double)now);
}

static void forget_target(PnAlert *alert)
{
        alert->target = alert->target_since = (PnInt){0};
        alert->samples = pn_int(0);
        pn_take_text(&alert->sample, NULL);
}

/* Takes one more observation of a rank (GONE: nothing is there). */
static int observe(Pass *pass, PnAlert *alert, PnCode code, int rank)
{
        const PnCodeInfo *info = pn_code_info(code);
        int level = (int)pn_int_or(alert->level, GONE);
        bool up = rank > level;
        int target;

        if (rank == level) {
                pass->changed |= alert->target.state == PN_KNOWN;
                forget_target(alert);
                return 0;
        }
        if (alert->target.state != PN_KNOWN || (alert->target.v > level) != up) {
                forget_target(alert);
                alert->target = pn_int(rank);
                alert->target_since = pn_int(pass->now);
                pass->changed = true;
        }
        /* What held all the time is the mildest on the way up, and the worst on the way down. */
        if (up ? rank < alert->target.v : rank > alert->target.v)
                alert->target = pn_int(rank);
        if (!pn_text_is(&alert->sample, pass->samples[code])) {
                if (pn_set_text(&alert->sample, pass->samples[code]) < 0)
                        return -ENOMEM;
                alert->samples.v++;
        }
        target = (int)alert->target.v;
        if (alert->samples.v < SAMPLES ||
            pass->now - alert->target_since.v < (up ? info->raise_s : info->clear_s))
                return 0;
        forget_target(alert);
        alert->level = target == GONE ? (PnInt){0} : pn_int(target);
        pass->changed = true;
        if ((level >= LOWEST_TOLD) != (target >= LOWEST_TOLD) && add_turn(alert, pass->now) < 0)
                return -ENOMEM;
        return rank == target ? 0 : observe(pass, alert, code, rank);
}

/* ---- What the journal is told ---- */

static int tell(Pass *pass, PnAlert *alert, const char *what, const char *remark)
{
        PnFinding *event = PN_APPEND(pass->events);

        if (!event || pn_copy(pn_type_Finding(), event, alert->finding.v) < 0 ||
            pn_set_text(&event->state, what) < 0)
                return -ENOMEM;
        if (remark && pn_format_text(&event->detail, "%s%s%s", remark,
                                     pn_text(&alert->finding.v->detail) ? " " : "",
                                     pn_text(&alert->finding.v->detail) ? alert->finding.v->detail.v
                                                                        : "") < 0)
                return -ENOMEM;
        alert->told_at = pn_int(pass->now);
        pass->changed = true;
        return 0;
}

static int tell_level(Pass *pass, PnAlert *alert, int level, const char *remark)
{
        int told = (int)pn_int_or(alert->told, 0);

        if (told && !level) {
                alert->told = alert->peak = alert->told_extent = (PnInt){0};
                return tell(pass, alert, "cleared", remark);
        }
        if (!told)
                alert->raised_at = pn_int(pass->now);
        alert->told = pn_int(level);
        alert->told_extent = alert->finding.v->extent;
        if (!told || level > pn_int_or(alert->peak, 0))
                alert->peak = pn_int(level);
        return tell(pass, alert, told ? "changed" : "raised", remark);
}

/* Errors that double are news, each further one is not. */
static bool has_grown(const PnAlert *alert)
{
        PnInt now = alert->finding.v->extent;

        return now.state == PN_KNOWN && alert->told_extent.state == PN_KNOWN &&
               alert->told_extent.v >= 0 && now.v / 2 >= alert->told_extent.v &&
               now.v > alert->told_extent.v;
}

/* `news`: something happened to it that is told whatever was told before. */
static int tell_what_is_due(Pass *pass, PnAlert *alert, bool accepted, const char *news)
{
        static const char comes_and_goes[] =
            "It comes and goes: nothing more is told of it until it was steady for an hour.";
        int told = (int)pn_int_or(alert->told, 0), level = (int)pn_int_or(alert->level, 0);

        if (level < LOWEST_TOLD)
                level = 0;
        drop_old_turns(alert, pass->now);
        if (pn_is_true(alert->flapping)) {
                if (alert->turns.n > 0)
                        return 0;
                alert->flapping = pn_bool(false);
                pass->changed = true;
        } else if (alert->turns.n > TURNS_MAX && !accepted) {
                alert->flapping = pn_bool(true);
                return tell_level(pass, alert,
                                  level  ? level
                                  : told ? told
                                         : LOWEST_TOLD,
                                  comes_and_goes);
        }
        if (told && !level)
                return tell_level(pass, alert, 0, NULL);
        if (!level || accepted)
                return 0;
        if (!told) {
                if (alert->raised_at.state == PN_KNOWN && pass->now - alert->raised_at.v < REPEAT)
                        return 0;
                return tell_level(pass, alert, level, news);
        }
        /* Worse than ever is news at once, milder after a while; as bad again is hardly any. */
        if (news || level > pn_int_or(alert->peak, 0) ||
            ((level < told || has_grown(alert)) && pass->now - alert->told_at.v >= REPEAT) ||
            (level > told && pass->now - alert->told_at.v >= PN_DAY))
                return tell_level(pass, alert, level, news);
        return 0;
}

int pn_alerts_standing(const PnMemory *memory, PnEvents *ret)
{
        for (unsigned i = 0; i < memory->alerts.n; i++) {
                const PnAlert *alert = &memory->alerts.v[i];
                int told = (int)pn_int_or(alert->told, 0);
                PnFinding *standing;

                if (!told || alert->finding.state != PN_KNOWN)
                        continue;
                standing = PN_APPEND(ret);
                if (!standing || pn_copy(pn_type_Finding(), standing, alert->finding.v) < 0 ||
                    pn_set_text(&standing->state, "raised") < 0 ||
                    pn_set_text(&standing->severity, pn_severity_name(told)) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* ---- Acceptance ---- */

/* Whether a finding is accepted; one that ran out or was outgrown is forgotten, and `ret_news` says
 * so. */
static int look_at_acceptance(Pass *pass, PnFinding *finding, bool *ret_accepted,
                              const char **ret_news)
{
        PnAcceptance *acceptance = pn_memory_acceptance(pass->memory, finding->id.v);
        bool over, worse;
        PnWhen until;

        *ret_accepted = false;
        if (!acceptance)
                return 0;
        over = acceptance->until.state == PN_KNOWN && acceptance->until.v <= pass->now;
        worse = pn_severity_rank(finding->severity.v) > acceptance->rank.v ||
                (finding->extent.state == PN_KNOWN && acceptance->extent.state == PN_KNOWN &&
                 finding->extent.v > acceptance->extent.v);
        if (over || worse) {
                *ret_news = over ? "The time for which it was accepted is over."
                                 : "It was accepted, and has become worse since.";
                (void)pn_alerts_unaccept(pass->memory, finding->id.v);
                pass->changed = true;
                return 0;
        }
        *ret_accepted = true;
        finding->accepted = pn_bool(true);
        if (acceptance->until.state == PN_KNOWN &&
            pn_set_text(&finding->until, pn_when_format(until, acceptance->until.v)) < 0)
                return -ENOMEM;
        return pn_set_text(&finding->reason, pn_text(&acceptance->reason));
}

int pn_alerts_accept(PnMemory *memory, const PnFinding *finding, const char *reason, PnInt until,
                     int64_t now)
{
        PnAcceptance *acceptance;

        if (!pn_memory_acceptance(memory, finding->id.v) && memory->acceptances.n >= PN_MEMORY_MAX)
                return -ENOSPC;
        acceptance = pn_memory_make_acceptance(memory, finding->id.v);
        if (!acceptance || pn_set_text(&acceptance->reason, reason) < 0)
                return -ENOMEM;
        acceptance->at = pn_int(now);
        acceptance->until = until;
        acceptance->rank = pn_int(pn_severity_rank(finding->severity.v));
        acceptance->extent = finding->extent;
        return 0;
}

int pn_alerts_unaccept(PnMemory *memory, const char *id)
{
        const PnAcceptance *acceptance = pn_memory_acceptance(memory, id);

        if (!acceptance)
                return -ENOENT;
        pn_list_remove(pn_type_Acceptance(), &memory->acceptances,
                       (unsigned)(acceptance - memory->acceptances.v));
        return 0;
}

/* ---- The pass ---- */

static int keep_finding(Pass *pass, PnAlert *alert, const PnFinding *finding)
{
        PnFinding *kept = alert->finding.v;

        if (kept && pn_equal(pn_type_Finding(), kept, finding))
                return 0;
        if (!kept)
                pass->changed = true;
        else
                pn_done(pn_type_Finding(), kept);
        kept = kept ? kept : PN_NEW(&alert->finding);
        return kept ? pn_copy(pn_type_Finding(), kept, finding) : -ENOMEM;
}

static int see(Pass *pass, PnFinding *finding)
{
        PnAlert *alert = pn_memory_alert(pass->memory, finding->id.v);
        int rank = pn_severity_rank(finding->severity.v), r;
        const char *news = NULL;
        bool accepted;
        PnCode code;
        PnWhen since;

        if (pn_code_from_name(finding->code.v, &code) < 0 || rank < 0)
                return 0; /* of a newer version */
        if (!alert)
                return 0; /* there was no room for it */
        if (alert->since.state != PN_KNOWN) {
                alert->since = pn_int(pass->now);
                alert->samples = pn_int(0);
                pass->changed = true;
        } else if (alert->level.state != PN_KNOWN && alert->target.state != PN_KNOWN) {
                /* It was over, and is back. */
                alert->since = pn_int(pass->now);
        }
        if (pn_set_text(&finding->since, pn_when_format(since, alert->since.v)) < 0)
                return -ENOMEM;
        r = look_at_acceptance(pass, finding, &accepted, &news);
        if (r < 0)
                return r;
        if (rank < pn_int_or(alert->level, GONE) && is_held(pass, finding->id.v))
                rank = (int)alert->level.v;
        if (!pass->is_unknown[code]) {
                r = observe(pass, alert, code, rank);
                if (r < 0)
                        return r;
        }
        if (pn_set_text(&finding->state, alert->level.state == PN_KNOWN ? "raised" : "new") < 0 ||
            keep_finding(pass, alert, finding) < 0)
                return -ENOMEM;
        return tell_what_is_due(pass, alert, accepted, news);
}

static int miss(Pass *pass, PnAlert *alert)
{
        PnCode code;
        int r;

        if (alert->finding.state != PN_KNOWN) {
                alert->level = alert->told = (PnInt){0};
                forget_target(alert);
                return 0;
        }
        /* What another version knows, and this one does not: there is nobody to end it. */
        if (pn_code_from_name(alert->finding.v->code.v, &code) < 0) {
                alert->level = (PnInt){0};
                forget_target(alert);
                return tell_what_is_due(pass, alert, false, NULL);
        }
        if (!pass->is_unknown[code] && !is_held(pass, alert->id.v)) {
                r = observe(pass, alert, code, GONE);
                if (r < 0)
                        return r;
        }
        return tell_what_is_due(pass, alert,
                                pn_memory_acceptance(pass->memory, alert->id.v) != NULL, NULL);
}

/* Whether nothing of an alert matters any more. */
static bool is_spent(const PnAlert *alert, int64_t now)
{
        return alert->level.state != PN_KNOWN && alert->target.state != PN_KNOWN &&
               alert->told.state != PN_KNOWN && alert->turns.n == 0 &&
               (alert->raised_at.state != PN_KNOWN || now - alert->raised_at.v >= REPEAT);
}

static int compare_findings(const void *a, const void *b)
{
        const PnFinding *const *one = a, *const *other = b;

        return strcmp((*one)->id.v, (*other)->id.v);
}

/* Makes all that are new at once: one by one, each would move those after it. */
static int make_new(Pass *pass, unsigned n, const PnFinding *const *sorted)
{
        _cleanup_free_ const char **ids = calloc((size_t)n + 1, sizeof *ids);
        unsigned n_ids = 0;
        PnCode code;

        if (!ids)
                return -ENOMEM;
        for (unsigned i = 0; i < n; i++)
                if (pn_code_from_name(sorted[i]->code.v, &code) == 0 &&
                    pn_severity_rank(sorted[i]->severity.v) >= 0)
                        ids[n_ids++] = sorted[i]->id.v;
        return pn_memory_make_alerts(pass->memory, n_ids, ids);
}

static int judge(Pass *pass, PnStatus *status)
{
        _cleanup_free_ const PnFinding **present =
            calloc((size_t)status->findings.n + 1, sizeof *present);
        _cleanup_free_ bool *spent = NULL;
        int r;

        if (!present)
                return -ENOMEM;
        for (unsigned i = 0; i < status->findings.n; i++)
                present[i] = &status->findings.v[i];
        qsort(present, status->findings.n, sizeof *present, compare_findings);
        r = make_new(pass, status->findings.n, present);
        for (unsigned i = 0; i < status->findings.n && r >= 0; i++)
                r = see(pass, &status->findings.v[i]);
        if (r < 0)
                return r;
        spent = calloc((size_t)pass->memory->alerts.n + 1, sizeof *spent);
        if (!spent)
                return -ENOMEM;
        for (unsigned i = pass->memory->alerts.n; i-- > 0;) {
                PnAlert *alert = &pass->memory->alerts.v[i];
                PnFinding wanted = {.id = alert->id}, *key = &wanted;

                if (bsearch(&key, present, status->findings.n, sizeof *present, compare_findings))
                        continue;
                r = miss(pass, alert);
                if (r < 0)
                        return r;
                spent[i] = is_spent(alert, pass->now);
                pass->changed |= spent[i];
        }
        pn_memory_drop_alerts(pass->memory, spent);
        return 0;
}

int pn_alerts_judge(PnMemory *memory, PnStatus *status, const PnTexts *held, int64_t now,
                    PnEvents *events, bool *ret_changed)
{
        _cleanup_free_ const char **sorted = NULL;
        Pass pass = {
            .memory = memory, .status = status, .now = now, .events = events, .n_held = held->n};
        int r;

        sorted = calloc((size_t)held->n + 1, sizeof *sorted);
        if (!sorted)
                return -ENOMEM;
        for (unsigned i = 0; i < held->n; i++)
                sorted[i] = held->v[i];
        qsort(sorted, held->n, sizeof *sorted, compare_texts);
        pass.held = sorted;
        (void)pn_when_format(pass.now_text, now);
        look_at_sources(&pass);
        r = judge(&pass, status);
        if (ret_changed)
                *ret_changed = pass.changed;
        return r;
}
