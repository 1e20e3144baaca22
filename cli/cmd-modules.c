/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is plugged into network ports, one line a module. */

#include <inttypes.h>
#include <stdio.h>

#include "modules.h"
#include "portview.h"
#include "say.h"
#include "source.h"
#include "table.h"

enum {
        PORT,
        TYPE,
        VENDOR,
        PART,
        SERIAL,
        CONNECTOR,
        WAVELENGTH,
        REACH,
        TEMPERATURE,
        RECEIVED,
        SENT
};

static const Column columns[] = {
    [PORT] = {"  PORT", 0, 0, 0},
    [TYPE] = {"TYPE", 0, 10, 0},
    [VENDOR] = {"VENDOR", 0, 8, 5},
    [PART] = {"PART", 0, 8, 3},
    [SERIAL] = {"SERIAL", 0, 0, 7},
    [CONNECTOR] = {"PLUG", 0, 0, 8},
    [WAVELENGTH] = {"WAVE", COLUMN_RIGHT, 0, 6},
    [REACH] = {"REACH", 0, 10, 4},
    [TEMPERATURE] = {"TEMP", COLUMN_RIGHT, 0, 2},
    [RECEIVED] = {"LIGHT IN", COLUMN_RIGHT, 0, 1},
    [SENT] = {"LIGHT OUT", COLUMN_RIGHT, 0, 2},
};

/* Of several lanes the one with the least light. */
static void set_light(Table *table, unsigned column, const PnModuleDiagnostics *diagnostics,
                      bool received)
{
        const PnReal *least = NULL, *level = NULL;

        for (unsigned i = 0; i < diagnostics->lanes.n; i++) {
                const PnModuleLane *lane = &diagnostics->lanes.v[i];
                const PnReal *mw = received ? &lane->rx_power_mw : &lane->tx_power_mw;

                if (mw->state != PN_KNOWN || (least && mw->v >= least->v))
                        continue;
                least = mw;
                level = received ? &lane->rx_power_dbm : &lane->tx_power_dbm;
        }
        if (!least)
                return;
        if (level->state == PN_KNOWN)
                table_format(table, column, "%.2f dBm", level->v);
        else
                table_set(table, column, _("dark"));
}

static const char *instead_of_type(const PnNic *nic)
{
        const PnModule *module = nic->module.v;

        if (!module)
                return _("? (not read)");
        if (pn_text(&module->type))
                return module->type.v;
        return pn_text_is(&module->status, "permission_denied") ? _("? (needs root)")
               : pn_text_is(&module->status, "unreadable")      ? _("unreadable")
               : pn_text_is(&module->status, "unsupported_map") ? _("unknown kind")
               : pn_text(&module->form)                         ? module->form.v
                                                                : "?";
}

static Mark mark_of(const View *view, const PnNic *nic)
{
        Mark worst = nic->module.v && pn_text_is(&nic->module.v->status, "present") ? MARK_GOOD
                                                                                    : MARK_UNKNOWN;

        for (unsigned i = 0; i < view->status->findings.n; i++) {
                const PnFinding *finding = &view->status->findings.v[i];

                if (pn_startswith(finding->code.v, "module.") &&
                    pn_text_is(&finding->device, nic->id.v) &&
                    view_severity(&finding->severity) > worst)
                        worst = view_severity(&finding->severity);
        }
        return worst;
}

static int add_module(Table *table, const View *view, const PnNic *nic)
{
        const PnModule *module = nic->module.v;
        Mark mark = mark_of(view, nic);
        _cleanup_free_ char *reach = NULL;
        char cell[96];
        Units units;

        (void)table_row(table, TABLE_NO_PARENT);
        (void)snprintf(cell, sizeof cell, "%s %s", view_mark(mark), nic->id.v);
        table_set_styled(table, PORT, view_mark_style(mark), cell);
        table_set(table, TYPE, instead_of_type(nic));
        if (!module)
                return 0;
        reach = module_reach(module, /* longest_only= */ true);
        if (!reach)
                return -ENOMEM;
        table_set(table, VENDOR, pn_text(&module->vendor));
        table_set(table, PART, pn_text(&module->part_number));
        table_set(table, SERIAL, pn_text(&module->serial));
        table_set(table, CONNECTOR, pn_text(&module->connector));
        if (module->wavelength_nm.state == PN_KNOWN)
                table_format(table, WAVELENGTH, "%s nm",
                             units_real(units, module->wavelength_nm.v));
        table_set(table, REACH, reach);
        if (!module->diagnostics.v)
                return 0;
        if (module->diagnostics.v->temperature_c.state == PN_KNOWN)
                table_format(table, TEMPERATURE, "%.0f °C", module->diagnostics.v->temperature_c.v);
        set_light(table, RECEIVED, module->diagnostics.v, true);
        set_light(table, SENT, module->diagnostics.v, false);
        return 0;
}

static int put_table(Cli *cli, const Facts *facts)
{
        _cleanup_table_ Table *table = table_new(&cli->term, columns, PN_ELEMENTS(columns));
        View view = {0};
        int r = table ? view_init(&view, &facts->status) : -ENOMEM;

        if (r < 0)
                return r;
        for (unsigned i = 0; i < facts->inventory.nics.n && r == 0; i++)
                if (module_is_shown(&facts->inventory.nics.v[i]))
                        r = add_module(table, &view, &facts->inventory.nics.v[i]);
        view_done(&view);
        if (r < 0)
                return r;
        cli_put_table(cli, table,
                      _("No network port of this machine has a module that can be read."));
        return 0;
}

/* As JSON, the modules with their ports: {"name", "module"}. */
static void put_json(Cli *cli, const PnInventory *inventory)
{
        _cleanup_buf_ PnBuf buf = {0};
        unsigned n = 0;

        pn_buf_puts(&buf, "[");
        for (unsigned i = 0; i < inventory->nics.n; i++) {
                const PnNic *nic = &inventory->nics.v[i];
                PnPortModule view = {
                    .name = nic->id, .address = nic->address, .port_number = nic->port_number};

                if (!module_is_shown(nic))
                        continue;
                /* A view of the port's own objects, only written and never released. */
                view.module.state = nic->module.state;
                view.module.v = nic->module.v;
                pn_buf_puts(&buf, n++ ? "," : "");
                pn_write_json(&buf, pn_type_PortModule(), &view);
        }
        pn_buf_puts(&buf, "]");
        cli_put_json_buffer(cli, &buf);
}

int cmd_modules(Cli *cli, _unused_ const char *argument)
{
        Facts facts = {0};
        int r = source_facts(cli, WANT_NICS, &facts);

        if (r == 0 && cli->json != JSON_OFF)
                put_json(cli, &facts.inventory);
        else if (r == 0 && put_table(cli, &facts) < 0)
                r = cli_out_of_memory(cli);
        facts_done(&facts);
        return r;
}
