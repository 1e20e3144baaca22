/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is wrong, one line each; and what each kind of it means. */

#include <stdio.h>

#include "codes.h"
#include "near.h"
#include "say.h"
#include "source.h"
#include "table.h"
#include "units.h"
#include "view.h"

enum { SEVERITY, DEVICE, CODE, ID, SINCE, SUMMARY };

static const Column columns[] = {
    [SEVERITY] = {"  SEVERITY", 0, 0, 0},
    [DEVICE] = {"DEVICE", 0, 0, 0},
    [CODE] = {"CODE", 0, 0, 2},
    [ID] = {"ID", 0, 0, 3},
    [SINCE] = {"SINCE", COLUMN_SHY, 0, 4},
    [SUMMARY] = {"SUMMARY", 0, 28, 0},
};

static void add_finding(Table *table, const PnFinding *finding)
{
        bool accepted = pn_is_true(finding->accepted);
        Mark mark = accepted ? MARK_UNJUDGED : view_severity(&finding->severity);
        const char *device = pn_text(&finding->device), *since = pn_text(&finding->since);
        _cleanup_free_ char *made = NULL;
        char cell[64];
        Units time;

        (void)table_row(table, TABLE_NO_PARENT);
        (void)snprintf(cell, sizeof cell, "%s %s%s", view_mark(mark),
                       view_severity_word(pn_text(&finding->severity)),
                       accepted ? _(", accepted") : "");
        table_set_styled(table, SEVERITY, view_mark_style(mark), cell);
        table_set(table, DEVICE, device ? view_address(device) : NULL);
        table_set(table, CODE, finding->code.v);
        table_set(table, ID, finding->id.v);
        table_set(table, SINCE, since ? units_time(time, since) : NULL);
        table_set(table, SUMMARY, say_told(pn_text(&finding->summary), &made));
}

/* What an administrator said of each accepted finding: why, and until when. */
static int put_acceptances(Cli *cli, const PnStatus *status)
{
        const char *heading = _("Accepted:");

        for (unsigned i = 0; i < status->findings.n; i++) {
                const PnFinding *finding = &status->findings.v[i];
                const char *until = pn_text(&finding->until), *reason = pn_text(&finding->reason);
                _cleanup_buf_ PnBuf line = {0};
                Units time;

                if (!pn_is_true(finding->accepted))
                        continue;
                if (!reason)
                        reason = _("no reason was given");
                if (until)
                        pn_buf_printf(&line, _("%s until %s: %s"), finding->id.v,
                                      units_time(time, until), reason);
                else
                        pn_buf_printf(&line, _("%s for good: %s"), finding->id.v, reason);
                if (line.error)
                        return -ENOMEM;
                if (heading)
                        pn_buf_printf(&cli->page, "\n%s\n", heading);
                heading = NULL;
                pn_buf_puts(&cli->page, "  ");
                term_put_wrapped(&cli->term, &cli->page, 2, 4, STYLE_PLAIN, line.data);
        }
        return 0;
}

static int put_table(Cli *cli, const PnStatus *status)
{
        _cleanup_table_ Table *table = table_new(&cli->term, columns, PN_ELEMENTS(columns));
        unsigned accepted = 0;

        if (!table)
                return -ENOMEM;
        for (unsigned i = 0; i < status->findings.n; i++) {
                accepted += pn_is_true(status->findings.v[i].accepted);
                if (cli->all || !pn_is_true(status->findings.v[i].accepted))
                        add_finding(table, &status->findings.v[i]);
        }
        if (table_rows(table) || cli->join)
                cli_put_table(cli, table, _("Nothing was found to be wrong."));
        else if (!cli->no_legend)
                term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_PLAIN,
                                 accepted ? _("Nothing was found to be wrong but what is accepted.")
                                          : _("Nothing was found to be wrong."));
        if (cli->all && put_acceptances(cli, status) < 0)
                return -ENOMEM;
        if (cli->no_legend || cli->join)
                return 0;
        if (accepted && !cli->all) {
                char line[160];

                (void)snprintf(line, sizeof line,
                               say_n("Not shown: %u accepted finding (--all)",
                                     "Not shown: %u accepted findings (--all)", accepted),
                               accepted);
                pn_buf_puts(&cli->page, "\n");
                term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_DIM, line);
        }
        if (!table_rows(table))
                return 0;
        pn_buf_puts(&cli->page, "\n");
        term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_DIM,
                         _("What a code means, and what to do: pnhwctl findings --explain CODE"));
        return 0;
}

/* ---- What a code means ---- */

static void put_paragraph(Cli *cli, const char *heading, const char *text)
{
        pn_buf_puts(&cli->page, "\n");
        if (heading)
                term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_BOLD, heading);
        pn_buf_puts(&cli->page, "  ");
        term_put_wrapped(&cli->term, &cli->page, 2, 2, STYLE_PLAIN, text);
}

static void put_fact(Cli *cli, const char *name, const char *text)
{
        unsigned has = term_columns(&cli->term, name);

        term_put(&cli->term, &cli->page, name);
        pn_buf_printf(&cli->page, "%*s ", (int)(has < 11 ? 11 - has : 0), "");
        term_put_wrapped(&cli->term, &cli->page, 12, 12, STYLE_PLAIN, text);
}

/* "60 s", "5 min" */
static const char *say_time(char buf[static 24], int seconds)
{
        bool whole = seconds >= 120 && seconds % 60 == 0;

        (void)snprintf(buf, 24, "%d %s", whole ? seconds / 60 : seconds, whole ? "min" : "s");
        return buf;
}

static void put_sources(PnBuf *buf, const char *names)
{
        for (const char *at = names; *at; at++)
                pn_buf_put(buf, *at == ' ' ? ", " : at, *at == ' ' ? 2 : 1);
}

static int put_explanation(Cli *cli, const PnCodeInfo *info)
{
        _cleanup_buf_ PnBuf line = {0};
        char raise[24], clear[24];

        pn_buf_printf(&line, "%s: %s", info->name, _(info->title));
        if (line.error)
                return -ENOMEM;
        term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_BOLD, line.data);
        put_paragraph(cli, NULL, _(info->meaning));
        put_paragraph(cli, _("What to do"), _(info->remedy));
        pn_buf_puts(&cli->page, "\n");
        put_fact(cli, _("At worst"), view_severity_word(info->worst));
        line.len = 0;
        pn_buf_printf(&line, _("told after %s; over when it has been gone for %s"),
                      say_time(raise, info->raise_s), say_time(clear, info->clear_s));
        if (line.error)
                return -ENOMEM;
        put_fact(cli, _("Journal"), line.data);
        line.len = 0;
        if (*info->sources) {
                put_sources(&line, info->sources);
                if (line.error)
                        return -ENOMEM;
                put_fact(cli, _("Sources"), line.data);
                line.len = 0;
        }
        pn_buf_printf(&line, "journalctl MESSAGE_ID=%s", info->message_id);
        if (line.error)
                return -ENOMEM;
        put_fact(cli, _("History"), line.data);
        return 0;
}

static void put_text_field(PnBuf *buf, const char *name, const char *text)
{
        pn_buf_printf(buf, "\"%s\":", name);
        pn_buf_json_string(buf, text);
        pn_buf_puts(buf, ",");
}

static void put_json_explanation(Cli *cli, const PnCodeInfo *info)
{
        _cleanup_buf_ PnBuf buf = {0};

        pn_buf_puts(&buf, "{");
        put_text_field(&buf, "code", info->name);
        put_text_field(&buf, "title", info->title);
        put_text_field(&buf, "worst_severity", info->worst);
        put_text_field(&buf, "meaning", info->meaning);
        put_text_field(&buf, "remedy", info->remedy);
        pn_buf_printf(&buf, "\"raise_after_s\":%d,\"clear_after_s\":%d,\"sources\":[",
                      info->raise_s, info->clear_s);
        for (const char *at = info->sources; *at;) {
                size_t n = strcspn(at, " ");

                pn_buf_printf(&buf, "%s\"%.*s\"", at == info->sources ? "" : ",", (int)n, at);
                at += n;
                at += *at == ' ';
        }
        pn_buf_puts(&buf, "],");
        put_text_field(&buf, "message_id", info->message_id);
        pn_buf_printf(&buf, "\"history\":\"journalctl MESSAGE_ID=%s\"}", info->message_id);
        cli_put_json_buffer(cli, &buf);
}

/* Says that there is no such code, which ones are close, and all that there are: a line for each
 * part of the hardware. */
static int fail_to_explain(Cli *cli)
{
        _cleanup_free_ char *hint = near_codes(cli->explain);
        _cleanup_buf_ PnBuf all = {0};
        const char *before = "";

        for (unsigned i = 0; i < PN_N_CODES; i++) {
                const char *name = pn_code_info((PnCode)i)->name;
                size_t n = strcspn(name, ".") + 1;

                pn_buf_printf(&all, "%s%s", strncmp(name, before, n) == 0 ? " " : "\n  ", name);
                before = name;
        }
        if (!hint || all.error)
                return cli_out_of_memory(cli);
        return cli_fail(cli, "NoSuchCode", "there is no code %s%s\nThe codes are:%s",
                        *cli->explain ? cli->explain : "\"\"", hint, all.data);
}

static int explain(Cli *cli)
{
        PnCode code;

        if (pn_code_from_name(cli->explain, &code) < 0)
                return fail_to_explain(cli);
        if (cli->json != JSON_OFF)
                put_json_explanation(cli, pn_code_info(code));
        else if (put_explanation(cli, pn_code_info(code)) < 0)
                return cli_out_of_memory(cli);
        return 0;
}

int cmd_findings(Cli *cli, _unused_ const char *argument)
{
        Facts facts = {0};
        int r;

        if (cli->explain)
                return explain(cli);
        r = source_facts(cli, WANT_STATUS, &facts);

        if (r == 0 && cli->json != JSON_OFF)
                cli_put_json_list(cli, pn_type_Finding(), facts.status.findings.v,
                                  facts.status.findings.n);
        else if (r == 0 && put_table(cli, &facts.status) < 0)
                r = cli_out_of_memory(cli);
        facts_done(&facts);
        return r;
}
