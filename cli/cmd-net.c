/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Network ports and bonds: what each runs at of what it could, its partner, what it is part of, and
 * whether PCI Express carries it. */

#include <inttypes.h>
#include <stdio.h>

#include "index.h"
#include "portview.h"
#include "say.h"
#include "source.h"
#include "table.h"

enum {
        PORT,
        SLOT,
        DRIVER,
        STATE,
        RUNS_AT,
        OF,
        PARTNER,
        CONNECTOR,
        MODULE,
        PART_OF,
        PCIE,
        MAC,
        VFS,
        VERDICT
};

static const Column columns[] = {
    [PORT] = {"  PORT", 0, 0, 0},
    [SLOT] = {"SLOT", 0, 9, 5},
    [DRIVER] = {"DRIVER", 0, 0, 4},
    [STATE] = {"STATE", 0, 0, 1},
    [RUNS_AT] = {"RUNS AT", COLUMN_RIGHT, 0, 0},
    [OF] = {"OF", COLUMN_RIGHT, 0, 0},
    [PARTNER] = {"PARTNER", COLUMN_RIGHT, 0, 6},
    [CONNECTOR] = {"BY", 0, 0, 8},
    [MODULE] = {"MODULE", 0, 12, 7},
    [PART_OF] = {"PART OF", 0, 0, 3},
    [PCIE] = {"PCIE", 0, 0, 9},
    [MAC] = {"MAC", COLUMN_SHY, 0, 10},
    [VFS] = {"VFS", COLUMN_RIGHT, 0, 11},
    [VERDICT] = {"VERDICT", 0, 24, 0},
};

/* What a row is made from, by name. */
typedef struct Listing {
        View view;
        PnIndex ports;   /* by id */
        PnIndex ratings; /* by the addresses of their functions */
} Listing;

static void listing_done(Listing *listing)
{
        pn_index_done(&listing->ports);
        pn_index_done(&listing->ratings);
        view_done(&listing->view);
}

static int listing_init(Listing *listing, const Facts *facts)
{
        const PnStatus *status = &facts->status;
        unsigned n = 0;

        for (unsigned i = 0; i < status->ratings.n; i++)
                n += status->ratings.v[i].functions.n;
        if (view_init(&listing->view, status) < 0 ||
            pn_index_init(&listing->ports, facts->ports.n) < 0 ||
            pn_index_init(&listing->ratings, n) < 0)
                return -ENOMEM;
        for (unsigned i = 0; i < facts->ports.n; i++)
                pn_index_add(&listing->ports, facts->ports.v[i].id.v, &facts->ports.v[i]);
        for (unsigned i = 0; i < status->ratings.n; i++)
                for (unsigned k = 0; k < status->ratings.v[i].functions.n; k++)
                        pn_index_add(&listing->ratings, status->ratings.v[i].functions.v[k],
                                     &status->ratings.v[i]);
        pn_index_sort(&listing->ports);
        pn_index_sort(&listing->ratings);
        return 0;
}

static const char *text_or_question(const PnText *text)
{
        return pn_is_unread(text->state) ? "?" : pn_text(text);
}

/* The fastest that the partner offers. */
static void set_partner(Table *table, const PnNic *nic)
{
        double best = 0;
        PnInt mbps = {0};
        Units units;

        for (unsigned i = 0; nic->partner_mbps.state == PN_KNOWN && i < nic->partner_mbps.n; i++)
                if (nic->partner_mbps.v[i] > best)
                        best = nic->partner_mbps.v[i];
        if (best > 0 && best < 1e9)
                mbps = pn_int((int64_t)best);
        table_set(table, PARTNER, port_speed(units, &mbps));
}

/* What PCI Express does to the port's card, if it holds it back and that is no mere information. */
static Mark pcie_mark(const View *view, const PnRating *rating)
{
        Mark mark = rating && view_is_below(rating) ? view_rating_mark(view, rating) : MARK_GOOD;

        return mark > MARK_UNKNOWN ? mark : MARK_GOOD;
}

/* "PCIe slot: few lanes" where the port itself is at its best, else "no link; PCIe slot: …". */
static void set_verdict(Table *table, const View *view, const PnPort *port, const PnRating *rating,
                        Mark mark)
{
        Style style = mark > MARK_UNKNOWN ? view_mark_style(mark) : STYLE_PLAIN;
        char buf[160], cell[320];
        const char *own = port_verdict(view, port, buf, sizeof buf);

        if (pcie_mark(view, rating) == MARK_GOOD)
                (void)snprintf(cell, sizeof cell, "%s", own);
        else if (port_mark(view, port) == MARK_GOOD)
                (void)snprintf(cell, sizeof cell, _("PCIe %s"), view_verdict(rating));
        else
                (void)snprintf(cell, sizeof cell, _("%s; PCIe %s"), own, view_verdict(rating));
        table_set_styled(table, VERDICT, mark == MARK_UNJUDGED ? STYLE_DIM : style, cell);
}

static void add_nic(Table *table, const Listing *listing, const PnNic *nic)
{
        const View *view = &listing->view;
        const PnPort *port = pn_index_find(&listing->ports, nic->id.v, NULL);
        const PnRating *rating = pn_index_find(&listing->ratings, pn_text(&nic->address), NULL);
        Mark own = port ? port_mark(view, port) : MARK_UNJUDGED, pcie = pcie_mark(view, rating);
        Mark mark = pcie > own ? pcie : own;
        char cell[160];
        Units units;

        (void)table_row(table, TABLE_NO_PARENT);
        (void)snprintf(cell, sizeof cell, "%s %s", view_mark(mark), view_address(nic->id.v));
        table_set_styled(table, PORT, view_mark_style(mark), cell);
        table_set(table, DRIVER,
                  pn_text(&nic->driver) || pn_text_is(&nic->kind, "physical")
                      ? text_or_question(&nic->driver)
                      : pn_text(&nic->kind));
        table_set(table, STATE, text_or_question(&nic->state));
        table_set_styled(table, RUNS_AT, own > MARK_UNKNOWN ? view_mark_style(own) : STYLE_PLAIN,
                         port_speed(units, &nic->speed_mbps));
        if (port) {
                table_set(table, SLOT, pn_text(&port->slot));
                table_set(table, OF, port_speed(units, &port->best_mbps));
                table_set(table, MODULE, port_module(port));
                set_verdict(table, view, port, rating, mark);
        }
        set_partner(table, nic);
        table_set(table, CONNECTOR, text_or_question(&nic->port));
        table_set(table, PART_OF, pn_text(&nic->master) ? nic->master.v : pn_text(&nic->lower));
        if (rating)
                table_set(table, PCIE, view_rating_link(rating, cell, sizeof cell));
        table_set(table, MAC,
                  pn_text(&nic->permanent_mac) ? nic->permanent_mac.v : pn_text(&nic->mac));
        if (pn_int_or(nic->vf_count, 0) > 0)
                table_format(table, VFS, "%" PRId64, nic->vf_count.v);
}

static int put_table(Cli *cli, const Facts *facts)
{
        _cleanup_table_ Table *table = table_new(&cli->term, columns, PN_ELEMENTS(columns));
        _cleanup_(listing_done) Listing listing = {0};

        if (!table || listing_init(&listing, facts) < 0)
                return -ENOMEM;
        for (unsigned i = 0; i < facts->inventory.nics.n; i++)
                add_nic(table, &listing, &facts->inventory.nics.v[i]);
        cli_put_table(cli, table, _("There is no network port in this machine."));
        return 0;
}

int cmd_net(Cli *cli, _unused_ const char *argument)
{
        Facts facts = {0};
        int r = source_facts(cli, WANT_NICS, &facts);

        if (r == 0 && cli->json != JSON_OFF)
                cli_put_json_list(cli, pn_type_Nic(), facts.inventory.nics.v,
                                  facts.inventory.nics.n);
        else if (r == 0 && put_table(cli, &facts) < 0)
                r = cli_out_of_memory(cli);
        facts_done(&facts);
        return r;
}
