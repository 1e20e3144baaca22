/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The findings on the status page: what is wrong, why, what to do, what it affects, and the command
 * that shows more. */

#include "remote.h"
#include "say.h"
#include "status.h"
#include "units.h"

#include <stdio.h>

/* Of more findings than these, the first few of each kind tell the story; the others are named. */
#define FINDINGS_MAX 8
#define ALIKE_MAX    3
#define NAMES_MAX    12

/* How to call us again for the same facts. */
static void put_command(const Cli *cli, Origin origin, PnBuf *out)
{
        pn_buf_puts(out, "pnhwctl ");
        if (cli->remote)
                pn_buf_printf(out, "-H %s ", cli->remote->host);
        if (origin == ORIGIN_PROBE)
                pn_buf_puts(out, "--once ");
        else if (origin == ORIGIN_FILE)
                pn_buf_printf(out, "--from=%s ", cli->from);
}

/* The last lines of a finding: what it affects, since when; and the way to more, on the same line
 * where it fits. */
static int put_context(Cli *cli, const Facts *facts, const PnFinding *finding)
{
        const char *device = pn_text(&finding->device), *since = pn_text(&finding->since);
        _cleanup_buf_ PnBuf line = {0}, command = {0};
        const Term *term = &cli->term;
        Units time;

        pn_buf_puts(&line, "");
        if (finding->affects.n) {
                _cleanup_free_ char *affects = view_join_affected(&finding->affects);

                if (!affects)
                        return -ENOMEM;
                pn_buf_printf(&line, _("affects %s"), affects);
        }
        if (since && facts->origin == ORIGIN_DAEMON)
                pn_buf_printf(&line, "%s", line.len ? " · " : "");
        if (since && facts->origin == ORIGIN_DAEMON)
                pn_buf_printf(&line, _("since %s"), units_time(time, since));
        if (device) {
                put_command(cli, facts->origin, &command);
                pn_buf_printf(&command, "show %s", view_address(device));
        }
        if (line.error || command.error)
                return -ENOMEM;
        if (command.len && line.len &&
            (!term->width || 5 + strlen(line.data) + strlen(command.data) <= term->width)) {
                pn_buf_printf(&line, " · %s", command.data);
                command.len = 0;
        }
        if (line.error)
                return -ENOMEM;
        if (line.len) {
                pn_buf_puts(&cli->page, "  ");
                term_put_wrapped(term, &cli->page, 2, 2, STYLE_DIM, line.data);
        }
        if (command.len) {
                pn_buf_puts(&cli->page, "  ");
                term_put_wrapped(term, &cli->page, 2, 2, STYLE_DIM, command.data);
        }
        return 0;
}

static int put_finding(Cli *cli, const Facts *facts, const PnFinding *finding)
{
        _cleanup_free_ char *summary = NULL, *detail = NULL, *advice = NULL;
        const Term *term = &cli->term;
        PnBuf *out = &cli->page;

        pn_buf_puts(out, "\n");
        status_put_marked(cli, view_severity(&finding->severity), STYLE_BOLD,
                          pn_text(&finding->summary) ? say_told(finding->summary.v, &summary)
                                                     : finding->code.v);
        /* The summary has the figures; how they come about is for those who ask. */
        if (cli->all && pn_text(&finding->detail)) {
                pn_buf_puts(out, "  ");
                term_put_wrapped(term, out, 2, 2, STYLE_PLAIN,
                                 say_told(finding->detail.v, &detail));
        }
        if (pn_text(&finding->advice)) {
                const char *arrow = term->utf8 ? "  → " : "  -> ";
                unsigned at = term->utf8 ? 4 : 5;

                term_put(term, out, arrow);
                term_put_wrapped(term, out, at, at, STYLE_PLAIN,
                                 say_told(finding->advice.v, &advice));
        }
        return put_context(cli, facts, finding);
}

/* What is on the page without --all: an accepted finding was read before, and one of severity info
 * needs no action. */
static bool is_pressing(const PnFinding *finding)
{
        return !pn_is_true(finding->accepted) && view_severity(&finding->severity) > MARK_UNJUDGED;
}

/* How many findings of the same code come before one and are shown or named. */
static unsigned alike_before(const PnStatus *status, unsigned index)
{
        unsigned alike = 0;

        for (unsigned i = 0; i < index && alike <= ALIKE_MAX; i++)
                alike += is_pressing(&status->findings.v[i]) &&
                         pn_text_is(&status->findings.v[i].code, status->findings.v[index].code.v);
        return alike;
}

/* One line for all findings of a code that were not shown, at the first of them. */
static int put_alike(Cli *cli, const PnStatus *status, unsigned first)
{
        const char *code = status->findings.v[first].code.v;
        _cleanup_buf_ PnBuf names = {0}, line = {0};
        unsigned n = 0;

        pn_buf_puts(&names, "");
        for (unsigned i = first; i < status->findings.n; i++) {
                const PnFinding *finding = &status->findings.v[i];
                const char *device = pn_text(&finding->device);

                if (!is_pressing(finding) || !pn_text_is(&finding->code, code))
                        continue;
                if (n++ < NAMES_MAX && device)
                        pn_buf_printf(&names, "%s%s", names.len ? ", " : ": ",
                                      view_address(device));
        }
        pn_buf_printf(&line, _("%u more of %s%s%s · pnhwctl findings lists them"), n, code,
                      names.data, n > NAMES_MAX ? ", …" : "");
        if (names.error || line.error)
                return -ENOMEM;
        pn_buf_puts(&cli->page, "\n");
        status_put_marked(cli, view_severity(&status->findings.v[first].severity), STYLE_PLAIN,
                          line.data);
        return 0;
}

static void put_left_out(Cli *cli, unsigned accepted, unsigned info)
{
        char line[256], first[64] = "", second[64] = "";

        if (accepted)
                (void)snprintf(first, sizeof first,
                               say_n("%u accepted finding", "%u accepted findings", accepted),
                               accepted);
        if (info)
                (void)snprintf(
                    second, sizeof second,
                    say_n("%u note that needs no action", "%u notes that need no action", info),
                    info);
        (void)snprintf(line, sizeof line, "%s%s%s%s%s", _("Not shown: "), first,
                       accepted && info ? _(" and ") : "", second, _(" (--all shows everything)"));
        pn_buf_puts(&cli->page, "\n");
        term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_DIM, line);
}

int status_put_findings(Cli *cli, const Facts *facts)
{
        const PnStatus *status = &facts->status;
        unsigned accepted = 0, info = 0, alike;
        bool few;

        for (unsigned i = 0; i < status->findings.n && !cli->all; i++) {
                if (pn_is_true(status->findings.v[i].accepted))
                        accepted++;
                else if (!is_pressing(&status->findings.v[i]))
                        info++;
        }
        few = cli->all || status->findings.n - accepted - info <= FINDINGS_MAX;
        for (unsigned i = 0; i < status->findings.n; i++) {
                int r = 0;

                if (!cli->all && !is_pressing(&status->findings.v[i]))
                        continue;
                alike = few ? 0 : alike_before(status, i);
                if (alike < ALIKE_MAX)
                        r = put_finding(cli, facts, &status->findings.v[i]);
                else if (alike == ALIKE_MAX)
                        r = put_alike(cli, status, i);
                if (r < 0)
                        return r;
        }
        if ((accepted || info) && !cli->no_legend)
                put_left_out(cli, accepted, info);
        return 0;
}
