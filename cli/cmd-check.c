/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The verdict for monitoring: one line and an exit status, as Monitoring Plugins and checkmk's
 * local checks have them. */

#include "assess.h"
#include "source.h"

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

int cmd_check(Cli *cli, const char *device)
{
        const char *severity = cli->at_least ? cli->at_least : "warning";
        PnCheckOut verdict = {0};
        int code;

        cli->checked = device;
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
                term_put(&cli->term, &cli->page, verdict.line.v);
                pn_buf_puts(&cli->page, " | ");
                term_put(&cli->term, &cli->page, verdict.perfdata.v);
                pn_buf_puts(&cli->page, "\n");
        }
        pn_done(pn_type_CheckOut(), &verdict);
        return code;
}
