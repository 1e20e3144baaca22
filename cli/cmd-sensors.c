/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Temperatures, fans, voltages: what each device measures, against its limits. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "say.h"
#include "source.h"
#include "table.h"
#include "units.h"
#include "view.h"

enum { SENSOR, VALUE, LOW, HIGH, CRITICAL, NOTE };

static const Column columns[] = {
    [SENSOR] = {"SENSOR", COLUMN_TREE, 12, 0},     [VALUE] = {"NOW", COLUMN_RIGHT, 0, 0},
    [LOW] = {"LOW", COLUMN_RIGHT, 0, 3},           [HIGH] = {"HIGH", COLUMN_RIGHT, 0, 2},
    [CRITICAL] = {"CRITICAL", COLUMN_RIGHT, 0, 1}, [NOTE] = {"NOTE", 0, 8, 0},
};

/* As many digits as a sensor of the kind is worth. */
static void set_real(Table *table, unsigned column, Style style, const PnReal *real,
                     const PnText *unit)
{
        char buf[48];
        int digits = 0;

        if (pn_is_unread(real->state)) {
                table_set(table, column, "?");
                return;
        }
        if (real->state != PN_KNOWN)
                return;
        if (pn_text_is(unit, "V") || pn_text_is(unit, "A"))
                digits = 2;
        else if (pn_text_is(unit, "W") || pn_text_is(unit, "°C"))
                digits = 1;
        (void)snprintf(buf, sizeof buf, "%.*f %s", digits, real->v + 0.0,
                       pn_text(unit) ? unit->v : "");
        table_set_styled(table, column, style, buf);
}

static Style style_of(const PnReading *reading)
{
        if (!pn_is_true(reading->plausible))
                return STYLE_DIM;
        if (reading->critical.state == PN_KNOWN && reading->value.v >= reading->critical.v)
                return STYLE_CRITICAL;
        if (pn_is_true(reading->alarm) ||
            (reading->max.state == PN_KNOWN && reading->value.v >= reading->max.v) ||
            (reading->min.state == PN_KNOWN && reading->value.v < reading->min.v))
                return STYLE_WARNING;
        return STYLE_PLAIN;
}

static const char *note_of(const PnReading *reading)
{
        if (reading->plausible.state == PN_KNOWN && !reading->plausible.v)
                return reading->value.state == PN_KNOWN ? _("not connected, by its value")
                                                        : _("impossible value");
        if (pn_is_unread(reading->value.state))
                return view_reason(reading->value.state);
        if (pn_is_true(reading->alarm))
                return _("alarm");
        if (pn_text_is(&reading->kind, "control"))
                return _("for fan control, no temperature");
        if (pn_text_is(&reading->kind, "fan") && reading->value.state == PN_KNOWN &&
            reading->value.v <= 0)
                return _("stands, or no fan");
        if (!pn_text_is(&reading->kind, "temperature") || reading->value.state != PN_KNOWN)
                return NULL;
        if (style_of(reading) == STYLE_CRITICAL)
                return _("too hot");
        if (reading->max.state == PN_KNOWN && reading->value.v >= reading->max.v)
                return _("hot");
        return NULL;
}

static void add_chip(Table *table, const PnChip *chip)
{
        const char *device = pn_text(&chip->device), *name = pn_text(&chip->part_name);
        char part[192], title[384];
        int parent;

        if (device && name && strcmp(device, name) == 0)
                device = NULL; /* is said already */
        view_part(&chip->part, &chip->part_name, part, sizeof part);
        (void)snprintf(title, sizeof title, "%s%s%s%s%s", part, *part ? " · " : "",
                       device ? view_address(device) : "", device ? " · " : "", chip->chip.v);
        parent = table_row(table, TABLE_NO_PARENT);
        table_set_styled(table, SENSOR, STYLE_BOLD, title);
        if (pn_is_unread(chip->readings.state))
                table_set(table, NOTE,
                          chip->readings.state == PN_UNREAD_UNSUPPORTED
                              ? _("left alone: slow to read")
                              : view_reason(chip->readings.state));
        for (unsigned i = 0; i < chip->readings.n; i++) {
                const PnReading *reading = &chip->readings.v[i];

                (void)table_row(table, parent);
                table_set(table, SENSOR, reading->label.v);
                set_real(table, VALUE, style_of(reading), &reading->value, &reading->unit);
                set_real(table, LOW, STYLE_PLAIN, &reading->min, &reading->unit);
                set_real(table, HIGH, STYLE_PLAIN, &reading->max, &reading->unit);
                set_real(table, CRITICAL, STYLE_PLAIN, &reading->critical, &reading->unit);
                table_set(table, NOTE, note_of(reading));
        }
}

static void set_celsius(Table *table, unsigned column, const PnInt *celsius)
{
        if (pn_is_unread(celsius->state))
                table_set(table, column, "?");
        else if (celsius->state == PN_KNOWN)
                table_format(table, column, "%" PRId64 " °C", celsius->v);
}

/* Without colour, words alone mark what is over a limit. */
static const char *heat_note(const PnInt *celsius, const PnInt *warning, const PnInt *critical)
{
        if (celsius->state != PN_KNOWN)
                return NULL;
        if (critical->state == PN_KNOWN && celsius->v >= critical->v)
                return _("too hot");
        if (warning->state == PN_KNOWN && celsius->v >= warning->v)
                return _("hot");
        return NULL;
}

/* Drives measure too; what they say comes with their health. */
static void add_drive(Table *table, const PnNvme *drive)
{
        const PnHealth *health = drive->health.v;
        PnInt warning, critical;
        char title[256];
        int parent;

        if (pn_is_true(drive->lost) || drive->health.state == PN_ABSENT)
                return;
        (void)snprintf(title, sizeof title, "%s%s%s", drive->name.v,
                       pn_text(&drive->model) ? " · " : "",
                       pn_text(&drive->model) ? drive->model.v : "");
        parent = table_row(table, TABLE_NO_PARENT);
        table_set_styled(table, SENSOR, STYLE_BOLD, title);
        if (!health) {
                table_set(table, NOTE, view_reason(drive->health.state));
                return;
        }
        (void)table_row(table, parent);
        table_set(table, SENSOR, _("Drive"));
        set_celsius(table, VALUE, &health->temperature_c);
        view_limits(health, &warning, &critical);
        set_celsius(table, HIGH, &warning);
        set_celsius(table, CRITICAL, &critical);
        table_set(table, NOTE, heat_note(&health->temperature_c, &warning, &critical));
        for (unsigned i = 0; i < health->sensors.n; i++) {
                (void)table_row(table, parent);
                table_format(table, SENSOR, _("Sensor %d"), (int)health->sensors.v[i].index.v);
                set_celsius(table, VALUE, &health->sensors.v[i].temperature_c);
        }
}

static int put_table(Cli *cli, const PnInventory *inventory)
{
        _cleanup_table_ Table *table = table_new(&cli->term, columns, PN_ELEMENTS(columns));

        if (!table)
                return -ENOMEM;
        for (unsigned i = 0; i < inventory->sensors.n; i++)
                add_chip(table, &inventory->sensors.v[i]);
        for (unsigned i = 0; i < inventory->nvme.n; i++)
                add_drive(table, &inventory->nvme.v[i]);
        cli_put_table(cli, table, _("Nothing in this machine shows what it measures."));
        return 0;
}

int cmd_sensors(Cli *cli, _unused_ const char *argument)
{
        Facts facts = {0};
        int r = source_facts(cli, WANT_SENSORS, &facts);

        if (r == 0 && cli->json != JSON_OFF)
                cli_put_json_list(cli, pn_type_Chip(), facts.inventory.sensors.v,
                                  facts.inventory.sensors.n);
        else if (r == 0 && put_table(cli, &facts.inventory) < 0)
                r = cli_out_of_memory(cli);
        facts_done(&facts);
        return r;
}
