/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The network ports on the status page: those that are in use or wrong, and a word about the
 * others. */

#include <stdio.h>

#include "portview.h"
#include "say.h"
#include "status.h"
#include "table.h"

/* Above this many, ports at their best are one line. */
#define PORTS_MAX 8

enum { PORT, CARD, SLOT, RUNS_AT, OF, MODULE, PART_OF, VERDICT };

static const Column columns[] = {
    [PORT] = {"  PORT", 0, 0, 0},      [CARD] = {"CARD", 0, 12, 6},
    [SLOT] = {"SLOT", 0, 9, 7},        [RUNS_AT] = {"RUNS AT", COLUMN_RIGHT, 0, 0},
    [OF] = {"OF", COLUMN_RIGHT, 0, 0}, [MODULE] = {"MODULE", 0, 12, 5},
    [PART_OF] = {"PART OF", 0, 0, 4},  [VERDICT] = {"VERDICT", 0, 12, 0},
};

/* A port without a cable, and one that nobody set up, is what most hosts have some of. */
static bool is_idle(const PnPort *port)
{
        return pn_text_is(&port->verdict, "no_link") || pn_text_is(&port->verdict, "off") ||
               pn_text_is(&port->verdict, "passed_through") ||
               pn_text_is(&port->verdict, "other_namespace");
}

static void add_port(Table *table, const View *view, const PnPort *port, Mark mark)
{
        Style style = mark > MARK_UNKNOWN ? view_mark_style(mark) : STYLE_PLAIN;
        char cell[160];
        Units units;

        (void)table_row(table, TABLE_NO_PARENT);
        (void)snprintf(cell, sizeof cell, "%s %s", view_mark(mark), view_address(port->id.v));
        table_set_styled(table, PORT, view_mark_style(mark), cell);
        table_set(table, CARD, pn_text(&port->model));
        table_set(table, SLOT, pn_text(&port->slot));
        table_set_styled(table, RUNS_AT, style, port_speed(units, &port->speed_mbps));
        table_set(table, OF, port_speed(units, &port->best_mbps));
        table_set(table, MODULE, port_module(port));
        table_set(table, PART_OF, pn_text(&port->master));
        table_set_styled(table, VERDICT, mark == MARK_UNJUDGED ? STYLE_DIM : style,
                         port_verdict(view, port, cell, sizeof cell));
}

int status_put_ports(Cli *cli, const View *view, const PnPorts *ports)
{
        _cleanup_table_ Table *table = table_new(&cli->term, columns, PN_ELEMENTS(columns));
        unsigned idle = 0, good = 0;
        char line[128];

        if (!table)
                return -ENOMEM;
        for (unsigned i = 0; i < ports->n; i++) {
                const PnPort *port = &ports->v[i];
                Mark mark = port_mark(view, port);

                if (!cli->all && is_idle(port) && mark <= MARK_UNKNOWN)
                        idle++;
                else if (!cli->all && mark <= MARK_UNKNOWN && ports->n > PORTS_MAX)
                        good++;
                else
                        add_port(table, view, port, mark);
        }
        if (!ports->n)
                return 0;
        pn_buf_puts(&cli->page, "\n");
        if (table_rows(table))
                table_print(table, &cli->page, !cli->no_legend);
        if (!idle && !good)
                return 0;
        if (good)
                (void)snprintf(line, sizeof line,
                               table_rows(table) ? say_n("%u more port runs as it should%s",
                                                         "%u more ports run as they should%s", good)
                                                 : say_n("%u port runs as it should%s",
                                                         "%u ports run as they should%s", good),
                               good, idle ? ", " : "");
        else
                *line = '\0';
        if (idle)
                (void)snprintf(
                    line + strlen(line), sizeof line - strlen(line),
                    say_n("%u port is not in use here", "%u ports are not in use here", idle),
                    idle);
        pn_buf_puts(&cli->page, "  ");
        term_put_wrapped(&cli->term, &cli->page, 2, 2, STYLE_DIM, line);
        return 0;
}
