/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is wrong, one line each. */

#include <stdio.h>

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
        char cell[64];
        Units time;

        (void)table_row(table, TABLE_NO_PARENT);
        (void)snprintf(cell, sizeof cell, "%s %s%s", view_mark(mark),
                       pn_text(&finding->severity) ? finding->severity.v : "?",
                       accepted ? ", accepted" : "");
        table_set_styled(table, SEVERITY, view_mark_style(mark), cell);
        table_set(table, DEVICE, device ? view_address(device) : NULL);
        table_set(table, CODE, finding->code.v);
        table_set(table, ID, finding->id.v);
        table_set(table, SINCE, since ? units_time(time, since) : NULL);
        table_set(table, SUMMARY, pn_text(&finding->summary));
}

static int put_table(Cli *cli, const PnStatus *status)
{
        _cleanup_table_ Table *table = table_new(&cli->term, columns, PN_ELEMENTS(columns));

        if (!table)
                return -ENOMEM;
        for (unsigned i = 0; i < status->findings.n; i++)
                if (cli->all || !pn_is_true(status->findings.v[i].accepted))
                        add_finding(table, &status->findings.v[i]);
        if (table_rows(table))
                table_print(table, &cli->page, !cli->no_legend);
        else if (!cli->no_legend)
                term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_PLAIN,
                                 _("Nothing was found to be wrong."));
        return 0;
}

int cmd_findings(Cli *cli, _unused_ const char *argument)
{
        Facts facts = {0};
        int r = source_facts(cli, WANT_STATUS, &facts);

        if (r == 0 && cli->json != JSON_OFF)
                cli_put_json_list(cli, pn_type_Finding(), facts.status.findings.v,
                                  facts.status.findings.n);
        else if (r == 0 && put_table(cli, &facts.status) < 0)
                r = cli_out_of_memory(cli);
        facts_done(&facts);
        return r;
}
