/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a status changes in what is known: told in a line for each finding, or as JSON. Holds one
 * against the other and counts nothing. Knows no way by which a status comes. */

#include "changes.h"

#include <stdio.h>
#include <time.h>

#include "codes.h"
#include "say.h"
#include "status.h"

const char *changes_time(char buf[static 32])
{
        time_t now = time(NULL);
        struct tm tm;

        if (!localtime_r(&now, &tm) || !strftime(buf, 32, "%Y-%m-%d %H:%M:%S", &tm))
                *buf = '\0';
        return buf;
}

void findings_done(Findings *findings)
{
        for (unsigned i = 0; i < findings->n; i++)
                pn_done(pn_type_Finding(), &findings->v[i]);
        free(findings->v);
        *findings = (Findings){0};
}

int findings_append(Findings *findings, const PnFinding *finding)
{
        PnFinding *copy = PN_APPEND(findings);

        return copy ? pn_copy(pn_type_Finding(), copy, finding) : -ENOMEM;
}

const PnFinding *findings_find(unsigned n, const PnFinding *findings, const PnFinding *wanted)
{
        for (unsigned i = 0; i < n; i++)
                if (pn_streq(pn_text(&findings[i].id), pn_text(&wanted->id)))
                        return &findings[i];
        return NULL;
}

bool changes_can_tell(const PnStatus *status, const PnFinding *finding)
{
        PnCode code;

        if (pn_code_from_name(finding->code.v, &code) < 0)
                return true; /* of a newer version */
        for (const char *at = pn_code_info(code)->sources; *at; at += strspn(at, " ")) {
                size_t n = strcspn(at, " ");

                for (unsigned i = 0; i < status->sources.n; i++) {
                        const PnSource *source = &status->sources.v[i];

                        if (strlen(source->name.v) == n && strncmp(source->name.v, at, n) == 0 &&
                            !status_is_fresh(source))
                                return false;
                }
                at += n;
        }
        return true;
}

/* ---- what is shown ---- */

/* Puts a word, and spaces up to a width and one more. */
static void put_column(Cli *cli, const char *word, unsigned width)
{
        unsigned has = term_columns(&cli->term, word);

        term_put(&cli->term, &cli->page, word);
        pn_buf_printf(&cli->page, "%*s ", (int)(has < width ? width - has : 0), "");
}

/* Puts what happened to a finding, in a column as wide as the widest of these words. */
static void put_happening(Cli *cli, const char *what)
{
        static const char *const known[] = {N_("new"),    N_("raised"),  N_("accepted"),
                                            N_("counts"), N_("changed"), N_("cleared")};
        const char *word = what;
        unsigned width = 0;

        for (size_t i = 0; i < PN_ELEMENTS(known); i++) {
                unsigned columns = term_columns(&cli->term, _(known[i]));

                width = columns > width ? columns : width;
                if (strcmp(what, known[i]) == 0)
                        word = _(known[i]);
        }
        put_column(cli, word, width);
}

/* Figures come and go; a line is for what an administrator would call news. */
static const char *news(const PnFinding *before, const PnFinding *now)
{
        bool was = before && pn_is_true(before->accepted), is = pn_is_true(now->accepted);

        if (!before)
                return pn_text(&now->state) ? now->state.v : "new";
        if (is != was)
                return is ? "accepted" : "counts";
        if (!pn_streq(pn_text(&before->severity), pn_text(&now->severity)))
                return "changed";
        if (!pn_streq(pn_text(&before->state), pn_text(&now->state)))
                return pn_text(&now->state);
        return NULL;
}

static void put_line(Cli *cli, const Changes *changes, const char *what, const PnFinding *finding)
{
        Mark mark =
            pn_is_true(finding->accepted) ? MARK_UNJUDGED : view_severity(&finding->severity);
        const char *summary = pn_text(&finding->summary);
        _cleanup_free_ char *made = NULL;
        bool over = strcmp(what, "cleared") == 0;
        char now[32];

        pn_buf_printf(&cli->page, "%s ", changes_time(now));
        if (changes->host)
                put_column(cli, changes->host, changes->host_width);
        term_put_styled(&cli->term, &cli->page, view_mark_style(over ? MARK_GOOD : mark),
                        view_mark(over ? MARK_GOOD : mark));
        pn_buf_puts(&cli->page, " ");
        put_happening(cli, what);
        put_column(cli, view_severity_word(pn_text(&finding->severity)), 8);
        term_put(&cli->term, &cli->page, summary ? say_told(summary, &made) : finding->code.v);
        pn_buf_printf(&cli->page, " [%s %s]\n", finding->code.v, finding->id.v);
}

/* What is on the status page, too. */
static bool is_for_lines(const Cli *cli, const PnFinding *before, const PnFinding *now)
{
        return cli->all || view_severity(&now->severity) > MARK_UNJUDGED ||
               (before && view_severity(&before->severity) > MARK_UNJUDGED);
}

/* Tells of one finding that is new or different, or (`now` is NULL) gone. */
static void show_change(Cli *cli, const Changes *changes, const PnFinding *before,
                        const PnFinding *now, const char **separator)
{
        const char *what;

        if (changes->form == FORM_JSON) {
                pn_buf_puts(&cli->page, *separator);
                *separator = ",";
                pn_write_json(&cli->page, pn_type_Finding(), now ? now : before);
        } else if (changes->form == FORM_LINES && !now) {
                if (is_for_lines(cli, NULL, before) && (cli->all || !pn_is_true(before->accepted)))
                        put_line(cli, changes, "cleared", before);
        } else if (changes->form == FORM_LINES) {
                what = news(before, now);
                if (!what && cli->all)
                        what = "changed";
                if (what && is_for_lines(cli, before, now) &&
                    (cli->all || before || !pn_is_true(now->accepted)))
                        put_line(cli, changes, what, now);
        }
}

/* Puts a document on one line, with what could harm a terminal as escapes. */
static int put_json_line(Cli *cli, const PnBuf *line)
{
        cli_put_json_buffer(cli, line);
        return cli->page.error;
}

/* ---- what a status changes ---- */

void changes_begin(Cli *cli, const Changes *changes, const PnStatus *status)
{
        _cleanup_free_ char *made = NULL;
        char now[32];

        if (changes->form != FORM_LINES)
                return;
        pn_buf_printf(&cli->page, "%s ", changes_time(now));
        if (changes->host)
                put_column(cli, changes->host, changes->host_width);
        term_put(&cli->term, &cli->page, say_told(status->summary.v, &made));
        pn_buf_puts(&cli->page, "\n");
}

void changes_done(Changes *changes)
{
        findings_done(&changes->findings);
}

int changes_take(Cli *cli, Changes *changes, const PnStatus *status)
{
        bool first = !changes->is_known;
        _cleanup_buf_ PnBuf line = {0};
        Findings next = {0};
        const char *separator = "";
        int r = 0;

        changes->is_known = true;
        if (changes->form == FORM_JSON) {
                pn_buf_puts(&cli->page, "{");
                if (changes->host) {
                        pn_buf_puts(&cli->page, "\"host\":");
                        pn_buf_json_string(&cli->page, changes->host);
                        pn_buf_puts(&cli->page, ",");
                }
                pn_buf_printf(&cli->page, "\"generation\":%lld,\"changed\":[",
                              (long long)pn_int_or(status->generation, 0));
        }
        for (unsigned i = 0; i < status->findings.n && r >= 0; i++) {
                const PnFinding *now = &status->findings.v[i];
                const PnFinding *before =
                    findings_find(changes->findings.n, changes->findings.v, now);

                if (!before || !pn_equal(pn_type_Finding(), before, now))
                        show_change(cli, changes, before, now, &separator);
                r = findings_append(&next, now);
        }
        for (unsigned i = 0; i < changes->findings.n && r >= 0; i++) {
                PnFinding *before = &changes->findings.v[i];

                if (findings_find(status->findings.n, status->findings.v, before))
                        continue;
                if (!changes_can_tell(status, before)) {
                        r = findings_append(&next, before);
                        continue;
                }
                r = pn_set_text(&before->state, "cleared");
                if (r >= 0)
                        show_change(cli, changes, before, NULL, &separator);
        }
        findings_done(&changes->findings);
        changes->findings = next;
        if (r < 0)
                return r;
        if (changes->form == FORM_LINES)
                return cli_flush(cli);
        if (changes->form != FORM_JSON)
                return 0;
        pn_buf_puts(&cli->page, "]}");
        if (first || *separator) {
                PnBuf whole = cli->page;

                cli->page = (PnBuf){0};
                line = whole;
                r = put_json_line(cli, &line);
                return r < 0 ? r : cli_flush(cli);
        }
        r = cli->page.error;
        pn_buf_done(&cli->page);
        return r;
}
