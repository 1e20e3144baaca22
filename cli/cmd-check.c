/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The verdict for monitoring: one line and an exit status, as Monitoring Plugins and checkmk's
 * local checks have them. */

#include "assess.h"
#include "remote.h"
#include "source.h"

/* Of several hosts: a monitoring system may show the first line alone, and takes all that follows
 * the first bar for figures. So the worst is first, and all figures follow it. */
typedef struct Verdicts {
        PnBuf lines[CHECK_UNKNOWN + 1]; /* by exit code */
        PnBuf figures;
} Verdicts;

/* What comes after "PNHW WARNING - ": checkmk shows the status itself. */
static const char *without_status(const char *line)
{
        const char *dash = strstr(line, " - ");

        return dash ? dash + 3 : line;
}

/* 1 "Hardware nvme3" critical=0|warning=1|notice=0 nvme3: … */
static void put_checkmk(Cli *cli, int code, const PnCheckOut *verdict)
{
        PnBuf *out = &cli->page;

        cli_put_service(cli, code);
        for (const char *at = verdict->perfdata.v; *at; at++)
                pn_buf_put(out, *at == ' ' ? "|" : at, 1);
        pn_buf_puts(out, *verdict->perfdata.v ? " " : "- ");
        term_put(&cli->term, out, without_status(verdict->line.v));
        pn_buf_puts(out, "\n");
}

/* Puts the line; one of another host's, with the host's name. */
static void put_line(Cli *cli, const PnCheckOut *verdict, int code)
{
        static const char *const words[] = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};
        _cleanup_buf_ PnBuf line = {0};

        if (!cli->remote) {
                term_put(&cli->term, &cli->page, verdict->line.v);
                return;
        }
        pn_buf_printf(&line, "PNHW %s - %s: %s", words[code], cli->remote->host,
                      without_status(verdict->line.v));
        if (line.error) {
                cli->page.error = line.error;
                return;
        }
        /* The daemon there would have seen to it; but who knows what is there. */
        for (char *bar = line.data; (bar = strchr(bar, '|'));)
                *bar = ' ';
        term_put(&cli->term, &cli->page, line.data);
}

/* critical=0 warning=1 as 'web1 critical'=0 'web1 warning'=1. */
static void put_figures(const Cli *cli, PnBuf *out, const char *figures)
{
        static const char allowed[] =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.%;:+-=";

        while (*figures) {
                size_t n = strcspn(figures, " "), name = strcspn(figures, " =");

                if (name && name < n && strspn(figures, allowed) == n)
                        pn_buf_printf(out, "%s'%s %.*s'%.*s", out->len ? " " : "",
                                      cli->remote->host, (int)name, figures, (int)(n - name),
                                      figures + name);
                figures += n + strspn(figures + n, " ");
        }
}

static int check_one(Cli *cli, const char *device)
{
        const char *severity = cli->at_least ? cli->at_least : "warning";
        PnCheckOut verdict = {0};
        int code;

        if (pn_severity_rank(severity) < 0)
                return cli_fail(cli, "Usage",
                                "--at-least=%s: the severities are info, notice, warning and "
                                "critical",
                                severity);
        code = source_check(cli, device, severity, &verdict);
        if (code)
                return code;
        code = verdict.code.v >= 0 && verdict.code.v <= CHECK_UNKNOWN ? (int)verdict.code.v
                                                                      : CHECK_UNKNOWN;
        if (cli->json != JSON_OFF) {
                _cleanup_buf_ PnBuf json = {0};

                pn_write_json(&json, pn_type_CheckOut(), &verdict);
                cli_put_json_buffer(cli, &json);
        } else if (cli->checkmk) {
                put_checkmk(cli, code, &verdict);
        } else {
                put_line(cli, &verdict, code);
                if (cli->collected) {
                        put_figures(cli, &((Verdicts *)cli->collected)->figures,
                                    verdict.perfdata.v);
                } else {
                        pn_buf_puts(&cli->page, " | ");
                        term_put(&cli->term, &cli->page, verdict.perfdata.v);
                }
                pn_buf_puts(&cli->page, "\n");
        }
        pn_done(pn_type_CheckOut(), &verdict);
        return code;
}

static void take_verdict(Cli *cli, const RemoteResult *result)
{
        Verdicts *verdicts = cli->collected;
        int code =
            result->code >= 0 && result->code <= CHECK_UNKNOWN ? result->code : CHECK_UNKNOWN;

        if (result->page->len)
                pn_buf_put(&verdicts->lines[code], result->page->data, result->page->len);
}

/* For checkmk each host is a service of its own, with its figures. */
static void take_service(Cli *cli, const RemoteResult *result)
{
        if (result->page->len)
                pn_buf_put(&cli->page, result->page->data, result->page->len);
}

static int check_hosts(Cli *cli, const char *device)
{
        static const int worst_first[] = {2, 1, CHECK_UNKNOWN, 0};
        Verdicts verdicts = {0};
        PnBuf *out = &cli->page;
        int code;

        cli->collected = &verdicts;
        code = remote_collect(cli, check_one, device, take_verdict);
        cli->collected = NULL;
        for (size_t i = 0; i < PN_ELEMENTS(worst_first); i++) {
                PnBuf *lines = &verdicts.lines[worst_first[i]];
                const char *newline = lines->len ? memchr(lines->data, '\n', lines->len) : NULL;
                size_t first = newline && !out->len && verdicts.figures.len
                                   ? (size_t)(newline - lines->data)
                                   : 0;

                if (first) {
                        pn_buf_put(out, lines->data, first);
                        pn_buf_printf(out, " | %s", verdicts.figures.data);
                }
                if (lines->error)
                        out->error = lines->error;
                else if (lines->len)
                        pn_buf_put(out, lines->data + first, lines->len - first);
                pn_buf_done(lines);
        }
        if (verdicts.figures.error)
                out->error = verdicts.figures.error;
        pn_buf_done(&verdicts.figures);
        return code;
}

int cmd_check(Cli *cli, const char *device)
{
        cli->checked = device;
        if (!cli->hosts)
                return check_one(cli, device);
        if (cli->json != JSON_OFF || !strchr(cli->hosts, ','))
                return remote_run(cli, check_one, device);
        if (cli->checkmk)
                return remote_collect(cli, check_one, device, take_service);
        return check_hosts(cli, device);
}
