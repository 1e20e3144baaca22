/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Marks and words for ratings and findings, the same in every verb. Knows no source and no page. */

#include "view.h"

#include <inttypes.h>
#include <stdio.h>

#include "say.h"
#include "smart.h"
#include "units.h"

static const struct {
        const char *mark;
        Style style;
} marks[] = {
    [MARK_GOOD] = {"●", STYLE_GOOD},       [MARK_UNJUDGED] = {"○", STYLE_DIM},
    [MARK_UNKNOWN] = {"?", STYLE_NOTICE},  [MARK_NOTICE] = {"▲", STYLE_NOTICE},
    [MARK_WARNING] = {"▲", STYLE_WARNING}, [MARK_CRITICAL] = {"✗", STYLE_CRITICAL},
};

const char *view_mark(Mark mark)
{
        return marks[mark].mark;
}

Style view_mark_style(Mark mark)
{
        return marks[mark].style;
}

Mark view_severity(const PnText *severity)
{
        return pn_text_is(severity, "critical")  ? MARK_CRITICAL
               : pn_text_is(severity, "warning") ? MARK_WARNING
               : pn_text_is(severity, "notice")  ? MARK_NOTICE
                                                 : MARK_UNJUDGED;
}

const char *view_severity_word(const char *severity)
{
        static const char *const known[] = {N_("info"), N_("notice"), N_("warning"),
                                            N_("critical")};

        if (!severity)
                return "?";
        for (size_t i = 0; i < PN_ELEMENTS(known); i++)
                if (strcmp(severity, known[i]) == 0)
                        return _(known[i]);
        return severity;
}

const char *view_reason(PnState state)
{
        /* The words of JSON, for the catalogue. */
        static const char *const words[PN_N_STATES] = {
            [PN_UNREAD_PERMISSION] = N_("permission"),
            [PN_UNREAD_ASLEEP] = N_("asleep"),
            [PN_UNREAD_TIMEOUT] = N_("timeout"),
            [PN_UNREAD_STUCK] = N_("stuck"),
            [PN_UNREAD_MALFORMED] = N_("malformed"),
            [PN_UNREAD_UNSUPPORTED] = N_("unsupported"),
            [PN_UNREAD_OVERFLOW] = N_("overflow"),
            [PN_UNREAD_CANNOT_JOIN] = N_("cannot_join"),
            [PN_UNREAD_IO] = N_("io"),
            [PN_UNREAD_EXCLUDED] = N_("excluded"),
        };

        return state < PN_N_STATES && words[state] ? _(words[state]) : NULL;
}

const char *view_missing(PnState state)
{
        if (!pn_is_unread(state) || state == PN_UNREAD_UNSUPPORTED)
                return NULL;
        return state == PN_UNREAD_EXCLUDED ? view_reason(state) : "?";
}

void view_limits(const PnHealth *health, PnInt *ret_warning, PnInt *ret_critical)
{
        const PnPolicy policy = PN_POLICY_DEFAULT;
        int64_t warning, critical;

        pn_nvme_limits(health, &policy, &warning, &critical);
        *ret_warning = health->warning_temperature_c;
        *ret_critical = health->critical_temperature_c;
        if (ret_warning->state == PN_KNOWN && ret_warning->v != warning)
                *ret_warning = (PnInt){.state = PN_ABSENT};
        if (ret_critical->state == PN_KNOWN && ret_critical->v != critical)
                *ret_critical = (PnInt){.state = PN_ABSENT};
}

void view_part(const PnText *part, const PnText *name, char *buf, size_t size)
{
        /* All that lib/parts.c has, for the catalogue. */
        static const char *const words[] = {
            N_("CPU"),           N_("board"),        N_("memory"),
            N_("graphics card"), N_("network card"), N_("storage controller"),
            N_("power supply"),  N_("disk"),
        };
        const char *word = pn_text(part);

        for (size_t i = 0; i < PN_ELEMENTS(words) && word; i++)
                if (strcmp(words[i], pn_text(part)) == 0)
                        word = _(words[i]);
        (void)snprintf(buf, size, "%s%s%s", word ? word : "", word && pn_text(name) ? " " : "",
                       word && pn_text(name) ? view_address(name->v) : "");
}

static int compare_addresses(const void *a, const void *b)
{
        const PnFinding *const *one = a, *const *other = b;

        return strcmp((*one)->address.v, (*other)->address.v);
}

/* Of a network card's functions, findings about ports, modules and bonds are shown with the ports:
 * nothing is wrong with the link that they share. */
static bool is_about_port(const PnFinding *finding)
{
        const char *code = finding->code.v;

        return pn_startswith(code, "module.") || pn_startswith(code, "bond.") ||
               (pn_startswith(code, "nic.") && strcmp(code, "nic.pcie_short") != 0);
}

static int index_devices(View *view)
{
        const PnStatus *status = view->status;
        unsigned n = status->findings.n;

        for (unsigned i = 0; i < status->findings.n; i++)
                n += status->findings.v[i].affects.n;
        if (pn_index_init(&view->by_device, n) < 0) {
                view_done(view);
                return -ENOMEM;
        }
        for (unsigned i = 0; i < status->findings.n; i++) {
                const PnFinding *finding = &status->findings.v[i];

                pn_index_add(&view->by_device, pn_text(&finding->device), finding);
                for (unsigned k = 0; k < finding->affects.n; k++)
                        if (pn_startswith(finding->affects.v[k], "bond "))
                                pn_index_add(&view->by_device,
                                             finding->affects.v[k] + strlen("bond "), finding);
        }
        pn_index_sort(&view->by_device);
        return 0;
}

int view_init(View *view, const PnStatus *status)
{
        const PnFinding **by_address = calloc((size_t)status->findings.n + 1, sizeof *by_address);
        unsigned n = 0;

        if (!by_address)
                return -ENOMEM;
        for (unsigned i = 0; i < status->findings.n; i++)
                if (pn_text(&status->findings.v[i].address) &&
                    !is_about_port(&status->findings.v[i]) &&
                    !pn_is_true(status->findings.v[i].accepted))
                        by_address[n++] = &status->findings.v[i];
        if (n > 1)
                qsort(by_address, n, sizeof *by_address, compare_addresses);
        *view = (View){.status = status, .by_address = by_address, .n = n};
        return index_devices(view);
}

void view_done(View *view)
{
        pn_index_done(&view->by_device);
        free(view->by_address);
        *view = (View){0};
}

/* The worst of the findings about a function; false if there is none. `ret_finding` may be NULL. */
static bool worst_at(const View *view, const char *address, Mark *worst,
                     const PnFinding **ret_finding)
{
        unsigned low = 0, high = view->n;
        bool found = false;

        while (low < high) {
                unsigned middle = low + (high - low) / 2;

                if (strcmp(view->by_address[middle]->address.v, address) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        for (; low < view->n && strcmp(view->by_address[low]->address.v, address) == 0; low++) {
                Mark mark = view_severity(&view->by_address[low]->severity);

                if (mark > *worst) {
                        *worst = mark;
                        if (ret_finding)
                                *ret_finding = view->by_address[low];
                }
                found = true;
        }
        return found;
}

static bool has_verdict(const PnRating *rating, const char *verdict)
{
        return pn_text_is(&rating->verdict, verdict);
}

bool view_is_below(const PnRating *rating)
{
        return has_verdict(rating, "slot_limited") || has_verdict(rating, "degraded") ||
               has_verdict(rating, "path_limited");
}

static bool is_unjudged(const PnRating *rating)
{
        return has_verdict(rating, "idle") || has_verdict(rating, "asleep") ||
               has_verdict(rating, "tunnelled") || has_verdict(rating, "passed_through");
}

static Mark mark_of_verdict(const PnRating *rating)
{
        return has_verdict(rating, "full")       ? MARK_GOOD
               : has_verdict(rating, "degraded") ? MARK_WARNING
               : view_is_below(rating)           ? MARK_NOTICE
               : is_unjudged(rating)             ? MARK_UNJUDGED
                                                 : MARK_UNKNOWN;
}

Mark view_rating_mark(const View *view, const PnRating *rating)
{
        Mark mark = mark_of_verdict(rating), worst = MARK_GOOD;
        unsigned n = rating->functions.n;
        bool found = false;

        for (unsigned i = 0; i < (n ? n : 1); i++)
                found |=
                    worst_at(view, n ? rating->functions.v[i] : rating->address.v, &worst, NULL);
        /* How much a link below its best matters is for the finding about it to say. */
        if (found && view_is_below(rating))
                return worst;
        return worst > mark ? worst : mark;
}

const char *view_rating_name(const PnRating *rating)
{
        const char *name = pn_text(&rating->name);

        return name ? name : view_address(rating->address.v);
}

const char *view_address(const char *address)
{
        return pn_startswith(address, "0000:") ? address + 5 : address;
}

const char *view_rating_link(const PnRating *rating, char *buf, size_t size)
{
        Units now;

        (void)units_rate(now, rating->current.v);
        if (has_verdict(rating, "asleep"))
                return _("asleep");
        if (has_verdict(rating, "tunnelled"))
                return _("tunnelled");
        if (has_verdict(rating, "passed_through"))
                return _("passed to a guest");
        if (has_verdict(rating, "idle"))
                (void)snprintf(buf, size, "%s%s%s", now, *now ? ", " : "", _("idle"));
        else
                (void)snprintf(buf, size, "%s", *now ? now : _("unknown"));
        return buf;
}

const char *view_rating_could_be(const PnRating *rating, char *buf, size_t size)
{
        Units best;

        /* What is limited further up runs at its best itself. */
        if (!view_is_below(rating) || has_verdict(rating, "path_limited"))
                return "";
        (void)snprintf(buf, size, "%s", units_rate(best, rating->best.v));
        return buf;
}

/* What reaches the device in Mb/s, -1 if unknown: what its own link carries, unless the share says
 * otherwise, because the limit is further up, or because the link rests and comes back. */
static int64_t reaching(const PnRating *rating)
{
        const PnLinkRate *now = rating->current.v, *best = rating->best.v;
        int64_t own = now ? pn_int_or(now->bandwidth, -1) : -1;
        int64_t most = best ? pn_int_or(best->bandwidth, -1) : -1;

        if (rating->percent.state != PN_KNOWN || most <= 0)
                return own;
        if (own >= 0 && (int64_t)((double)own * 100 / (double)most + 0.5) == rating->percent.v)
                return own;
        return (int64_t)((double)most * (double)rating->percent.v / 100 + 0.5);
}

const char *view_rating_gbs(const PnRating *rating, char *buf, size_t size)
{
        int64_t mbps = reaching(rating);
        Units gbs;

        if (is_unjudged(rating) || mbps < 0)
                return "";
        (void)snprintf(buf, size, "%s", units_gbs(gbs, mbps));
        return buf;
}

const char *view_rating_percent(const PnRating *rating, char *buf, size_t size)
{
        if (rating->percent.state != PN_KNOWN || is_unjudged(rating))
                return "";
        (void)snprintf(buf, size, "%" PRId64 " %%", rating->percent.v);
        return buf;
}

const char *view_verdict(const PnRating *rating)
{
        static const struct {
                const char *verdict, *reason, *words;
        } words[] = {
            {"full", NULL, N_("at its best")},
            {"slot_limited", "width", N_("slot: few lanes")},
            {"slot_limited", "speed", N_("slot: too slow")},
            {"slot_limited", NULL, N_("slot: too small")},
            {"degraded", "width", N_("fault: lanes lost")},
            {"degraded", "speed", N_("fault: too slow")},
            {"degraded", "target_speed", N_("fault: speed is set")},
            {"degraded", NULL, N_("fault: lanes, speed")},
            {"path_limited", NULL, N_("limited upstream")},
            {"idle", NULL, N_("idle")},
            {"asleep", NULL, N_("asleep")},
            {"tunnelled", NULL, N_("in a tunnel")},
            {"passed_through", NULL, N_("a guest has it")},
            {"unknown", "port_hidden", N_("cannot tell: port hidden")},
            {"unknown", "port_unread", N_("cannot tell: port unread")},
            {"unknown", "device_unread", N_("cannot tell: link unread")},
            {"unknown", "ends_disagree", N_("cannot tell: ends differ")},
            {"unknown", "above_rated", N_("cannot tell: above rated")},
            {"unknown", NULL, N_("cannot tell")},
        };

        for (size_t i = 0; i < PN_ELEMENTS(words); i++)
                if (has_verdict(rating, words[i].verdict) &&
                    (!words[i].reason || pn_text_is(&rating->reason, words[i].reason)))
                        return _(words[i].words);
        return pn_text(&rating->verdict) ? rating->verdict.v : _("cannot tell");
}

const char *view_device_verdict(const View *view, const PnRating *rating)
{
        static const struct {
                const char *code, *words;
        } words[] = {
            {"nvme.critical_warning", N_("the drive warns")},
            {"nvme.spare_low", N_("spare runs out")},
            {"nvme.worn", N_("worn out")},
            {"nvme.media_errors_rising", N_("loses data")},
            {"nvme.hot", N_("too hot")},
            {"nvme.not_live", N_("does not work")},
            {"probe.stuck", N_("does not answer")},
            {"pcie.aer_rising", N_("link errors")},
            {"pcie.aer_fatal", N_("link errors")},
        };
        const PnFinding *finding = NULL;
        unsigned n = rating->functions.n;
        Mark worst = MARK_NOTICE;

        for (unsigned i = 0; i < (n ? n : 1); i++)
                (void)worst_at(view, n ? rating->functions.v[i] : rating->address.v, &worst,
                               &finding);
        for (size_t i = 0; finding && !view_is_below(rating) && i < PN_ELEMENTS(words); i++)
                if (pn_text_is(&finding->code, words[i].code))
                        return _(words[i].words);
        return view_verdict(rating);
}

char *view_join(const PnTexts *texts)
{
        _cleanup_buf_ PnBuf buf = {0};
        char *joined;

        pn_buf_puts(&buf, "");
        for (unsigned i = 0; i < texts->n; i++)
                pn_buf_printf(&buf, "%s%s", i ? ", " : "", texts->v[i]);
        return pn_buf_take(&buf, &joined, NULL) < 0 ? NULL : joined;
}

char *view_join_affected(const PnTexts *texts)
{
        _cleanup_buf_ PnBuf buf = {0};
        char *joined;

        pn_buf_puts(&buf, "");
        for (unsigned i = 0; i < texts->n; i++) {
                _cleanup_free_ char *made = NULL;

                pn_buf_printf(&buf, "%s%s", i ? ", " : "", say_affected(texts->v[i], &made));
        }
        return pn_buf_take(&buf, &joined, NULL) < 0 ? NULL : joined;
}

/* The word in front of a use's name, or NULL for a use that carries others and is none itself. */
static const char *use_word(const PnUse *use)
{
        static const struct {
                const char *type, *word;
        } words[] = {
            {"zfs_member", "zpool "},
            {"lvm2_member", "vg "},
            {"linux_raid_member", "md "},
            {"swap", "swap"},
        };

        for (size_t i = 0; i < PN_ELEMENTS(words); i++)
                if (pn_text_is(&use->type, words[i].type))
                        return words[i].word;
        return "";
}

/* Whether something depends on it: a file system that is not mounted, such as the one for booting,
 * is worth a word only where there is nothing else. */
static bool matters(const PnUse *use)
{
        return *use_word(use) || use->mount.state == PN_KNOWN;
}

static int add_use(PnTexts *things, const PnUse *use)
{
        _cleanup_free_ char *thing = NULL;
        const char *name = pn_text(&use->name), *mount = pn_text(&use->mount);
        const char *word = use_word(use);

        if (mount)
                return pn_texts_append_unique(things, mount);
        if (pn_text_is(&use->type, "partition"))
                return 0;
        if (strcmp(word, "swap") == 0)
                return pn_texts_append_unique(things, "swap");
        if (!name)
                name = *word ? "?" : use->type.v;
        if (asprintf(&thing, "%s%s", word, name) < 0) {
                thing = NULL;
                return -ENOMEM;
        }
        return pn_texts_append_unique(things, thing);
}

char *view_uses(PnState state, const PnUse *uses, unsigned n)
{
        PnTexts things = {0};
        char *joined = NULL;
        int r = 0;

        if (pn_is_unread(state))
                return strdup("?");
        for (unsigned i = 0; i < n && r == 0; i++)
                if (matters(&uses[i]))
                        r = add_use(&things, &uses[i]);
        for (unsigned i = 0; i < n && r == 0 && !things.n; i++)
                if (!matters(&uses[i]))
                        r = add_use(&things, &uses[i]);
        if (r == 0)
                joined = view_join(&things);
        for (unsigned i = 0; i < things.n; i++)
                free(things.v[i]);
        free(things.v);
        return joined;
}

const char *view_disk_kind(const PnDisk *disk)
{
        /* Of a virtual machine's disk the kernel says that it spins because nobody said otherwise:
         * what is below it is the host's. */
        if (disk->rotational.state != PN_KNOWN || pn_text_is(&disk->transport, "virtio"))
                return NULL;
        return disk->rotational.v ? _("spinning") : _("solid");
}
