/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a transceiver is and measures, in words and as tables. Knows no verb. */

#include "modules.h"

#include <inttypes.h>
#include <stdio.h>

#include "decibel.h"
#include "say.h"
#include "table.h"
#include "units.h"

/* Cells of the picture that shows where a value is between its limits. */
#define SCALE 16u

static void put_metres(PnBuf *buf, double metres)
{
        if (metres >= 1000)
                pn_buf_printf(buf, "%g km", metres / 1000);
        else
                pn_buf_printf(buf, "%g m", metres);
}

static bool as_far(const PnModuleLength *one, const PnModuleLength *other)
{
        return !(one->metres.v < other->metres.v) && !(one->metres.v > other->metres.v);
}

/* Media on which it is as far share one figure. */
char *module_reach(const PnModule *module, bool longest_only)
{
        const PnModuleLength *lengths = module->lengths.v, *before = NULL;
        _cleanup_buf_ PnBuf buf = {0};
        double longest = 0;
        char *text;

        pn_buf_puts(&buf, "");
        for (unsigned i = 0; i < module->lengths.n; i++)
                if (lengths[i].metres.state == PN_KNOWN && lengths[i].metres.v > longest)
                        longest = lengths[i].metres.v;
        for (unsigned i = 0; i < module->lengths.n; i++) {
                const PnModuleLength *length = &lengths[i];

                if (length->metres.state != PN_KNOWN ||
                    (longest_only && length->metres.v < longest))
                        continue;
                pn_buf_puts(&buf, before ? ", " : "");
                if (!before || !as_far(before, length)) {
                        put_metres(&buf, length->metres.v);
                        pn_buf_puts(&buf, " ");
                }
                pn_buf_puts(&buf, length->medium.v);
                before = length;
        }
        return pn_buf_take(&buf, &text, NULL) < 0 ? NULL : text;
}

bool module_is_shown(const PnNic *nic)
{
        if (pn_is_unread(nic->module.state))
                return true;
        if (nic->module.v && pn_text_is(&nic->module.v->status, "permission_denied") &&
            pn_text_is(&nic->port, "tp"))
                return false;
        return nic->module.v && !pn_text_is(&nic->module.v->status, "none") &&
               !pn_text_is(&nic->module.v->status, "unsupported_by_driver");
}

/* ---- identity ---- */

static void put_line(Cli *cli, const char *label, const char *value)
{
        pn_buf_puts(&cli->page, "  ");
        label = cli->term.utf8 ? _(label) : label;
        term_put_styled(&cli->term, &cli->page, STYLE_DIM, label);
        pn_buf_printf(&cli->page, "%*s", (int)(16 - term_columns(&cli->term, label)), "");
        term_put_wrapped(&cli->term, &cli->page, 18, 18, STYLE_PLAIN, value);
}

static void put_text(Cli *cli, const char *label, const PnText *text)
{
        char why[48];

        if (pn_text(text)) {
                put_line(cli, label, text->v);
        } else if (pn_is_unread(text->state)) {
                (void)snprintf(why, sizeof why, "? (%s)", view_reason(text->state));
                put_line(cli, label, why);
        }
}

static int put_identity(Cli *cli, const PnModule *module)
{
        _cleanup_free_ char *reach = module_reach(module, /* longest_only= */ false);
        char buf[64];
        Units units;

        if (!reach)
                return -ENOMEM;
        put_text(cli, N_("STATUS"), &module->status);
        put_text(cli, N_("FORM"), &module->form);
        put_text(cli, N_("TYPE"), &module->type);
        put_text(cli, N_("VENDOR"), &module->vendor);
        put_text(cli, N_("OUI"), &module->oui);
        put_text(cli, N_("PART"), &module->part_number);
        put_text(cli, N_("REVISION"), &module->revision);
        put_text(cli, N_("SERIAL"), &module->serial);
        put_text(cli, N_("DATE"), &module->date_code);
        put_text(cli, N_("CONNECTOR"), &module->connector);
        if (module->wavelength_nm.state == PN_KNOWN) {
                (void)snprintf(buf, sizeof buf, "%s nm",
                               units_real(units, module->wavelength_nm.v));
                put_line(cli, N_("WAVELENGTH"), buf);
        }
        if (module->nominal_mbd.state == PN_KNOWN) {
                (void)snprintf(buf, sizeof buf, _("%lld MBd a lane"),
                               (long long)module->nominal_mbd.v);
                put_line(cli, N_("RATE"), buf);
        }
        if (*reach)
                put_line(cli, N_("REACH"), reach);
        put_text(cli, N_("MEMORY"), &module->standard);
        if (module->checksum_ok.state == PN_KNOWN)
                put_line(cli, N_("CHECKSUM"), module->checksum_ok.v ? _("good") : _("wrong"));
        return 0;
}

/* ---- readings ---- */

enum { QUANTITY, NOW, LOW_ALARM, LOW_WARNING, PLACE, HIGH_WARNING, HIGH_ALARM };

static const Column columns[] = {
    [QUANTITY] = {"  READING", 0, 0, 0},
    [NOW] = {"NOW", COLUMN_RIGHT, 0, 0},
    [LOW_ALARM] = {"LOW ALARM", COLUMN_RIGHT, 0, 3},
    [LOW_WARNING] = {"LOW WARNING", COLUMN_RIGHT, 0, 2},
    [PLACE] = {"PLACE", 0, 0, 4},
    [HIGH_WARNING] = {"HIGH WARNING", COLUMN_RIGHT, 0, 2},
    [HIGH_ALARM] = {"HIGH ALARM", COLUMN_RIGHT, 0, 3},
};

typedef struct Reading {
        const char *name;
        unsigned lane; /* from 1; 0 for the module as a whole */
        PnReal value;
        const PnModuleLimits *limits;
        const char *unit;
        int digits;
        bool is_power; /* shown as a level */
} Reading;

static void put_value(Table *table, unsigned column, const Reading *reading, PnReal value,
                      Style style)
{
        char cell[48];

        if (pn_is_unread(value.state)) {
                table_set_styled(table, column, STYLE_NOTICE, "?");
                return;
        }
        if (value.state != PN_KNOWN)
                return;
        if (reading->is_power && value.v <= 0)
                (void)snprintf(cell, sizeof cell, "%s", _("dark"));
        else
                (void)snprintf(cell, sizeof cell, "%.*f %s", reading->digits,
                               reading->is_power ? pn_decibel(value.v) : value.v, reading->unit);
        table_set_styled(table, column, style, cell);
}

/* A line from low to high alarm with the value on it; warnings are the edges of its middle. */
static void put_place(Table *table, const Reading *reading, bool utf8)
{
        const PnModuleLimits *limits = reading->limits;
        double low = limits->low_alarm.v, high = limits->high_alarm.v, now = reading->value.v;
        char cell[SCALE * 3 + 1] = "";
        unsigned at;

        if (reading->is_power) {
                low = pn_decibel(low);
                high = pn_decibel(high);
                now = pn_decibel(now);
        }
        if (!(high > low))
                return;
        now = (now - low) / (high - low);
        at = now <= 0 ? 0 : now >= 1 ? SCALE - 1 : (unsigned)(now * (SCALE - 1) + 0.5);
        for (unsigned i = 0; i < SCALE; i++)
                (void)strncat(cell,
                              i == at ? utf8 ? "●" : "o"
                              : utf8  ? "─"
                                      : "-",
                              sizeof cell - strlen(cell) - 1);
        table_set(table, PLACE, cell);
}

static Mark mark_of(const Reading *reading)
{
        const PnModuleLimits *limits = reading->limits;
        double now = reading->value.v;

        if (reading->value.state != PN_KNOWN)
                return pn_is_unread(reading->value.state) ? MARK_UNKNOWN : MARK_GOOD;
        if (!limits)
                return MARK_GOOD;
        if (now > limits->high_alarm.v || now < limits->low_alarm.v)
                return MARK_CRITICAL;
        return now > limits->high_warning.v || now < limits->low_warning.v ? MARK_WARNING
                                                                           : MARK_GOOD;
}

static void add_reading(Table *table, const Reading *reading, bool utf8)
{
        Mark mark = mark_of(reading);
        char cell[64];

        if (reading->value.state == PN_ABSENT)
                return;
        (void)table_row(table, TABLE_NO_PARENT);
        if (reading->lane)
                (void)snprintf(cell, sizeof cell, _("%s %s, lane %u"), view_mark(mark),
                               reading->name, reading->lane);
        else
                (void)snprintf(cell, sizeof cell, "%s %s", view_mark(mark), reading->name);
        table_set_styled(table, QUANTITY, view_mark_style(mark), cell);
        put_value(table, NOW, reading, reading->value,
                  mark > MARK_UNKNOWN ? view_mark_style(mark) : STYLE_PLAIN);
        if (!reading->limits)
                return;
        put_value(table, LOW_ALARM, reading, reading->limits->low_alarm, STYLE_PLAIN);
        put_value(table, LOW_WARNING, reading, reading->limits->low_warning, STYLE_PLAIN);
        put_value(table, HIGH_WARNING, reading, reading->limits->high_warning, STYLE_PLAIN);
        put_value(table, HIGH_ALARM, reading, reading->limits->high_alarm, STYLE_PLAIN);
        if (reading->value.state == PN_KNOWN)
                put_place(table, reading, utf8);
}

static int put_readings(Cli *cli, const PnModuleDiagnostics *diagnostics)
{
        _cleanup_table_ Table *table = table_new(&cli->term, columns, PN_ELEMENTS(columns));
        const PnModuleThresholds none = {0}, *limits = diagnostics->thresholds.v;
        unsigned n = diagnostics->lanes.n;

        if (!table)
                return -ENOMEM;
        if (!limits)
                limits = &none;
        add_reading(table,
                    &(Reading){_("temperature"), 0, diagnostics->temperature_c,
                               limits->temperature.v, "°C", 1, false},
                    cli->term.utf8);
        add_reading(
            table,
            &(Reading){_("voltage"), 0, diagnostics->voltage_v, limits->voltage.v, "V", 2, false},
            cli->term.utf8);
        for (unsigned i = 0; i < n; i++) {
                const PnModuleLane *lane = &diagnostics->lanes.v[i];
                unsigned number = n > 1 ? i + 1 : 0;
                const Reading readings[] = {
                    {_("light received"), number, lane->rx_power_mw, limits->rx_power.v, "dBm", 2,
                     true},
                    {_("light sent"), number, lane->tx_power_mw, limits->tx_power.v, "dBm", 2,
                     true},
                    {_("laser current"), number, lane->bias_ma, limits->bias.v, "mA", 2, false},
                };

                for (size_t k = 0; k < PN_ELEMENTS(readings); k++)
                        add_reading(table, &readings[k], cli->term.utf8);
        }
        if (table_rows(table)) {
                pn_buf_puts(&cli->page, "\n");
                table_print(table, &cli->page, !cli->no_legend);
        }
        if (diagnostics->flags.n) {
                _cleanup_free_ char *flags = view_join(&diagnostics->flags);

                if (!flags)
                        return -ENOMEM;
                put_line(cli, N_("FLAGS"), flags);
        }
        return 0;
}

int module_put(Cli *cli, const PnModule *module)
{
        int r = put_identity(cli, module);

        if (r == 0 && module->diagnostics.v)
                r = put_readings(cli, module->diagnostics.v);
        else if (r == 0 && pn_is_unread(module->diagnostics.state))
                put_line(cli, N_("DIAGNOSTICS"), _("? (could not be read)"));
        else if (r == 0 && pn_text_is(&module->status, "present"))
                put_line(cli, N_("DIAGNOSTICS"), _("it measures nothing"));
        return r;
}
