/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The line of the status page that says how hot and how worn it is at worst. */

#include <inttypes.h>

#include "say.h"
#include "status.h"
#include "units.h"

static void put_heat(PnBuf *line, const char *what, const PnHottest *hottest)
{
        char part[192];

        if (!hottest || hottest->temperature_c.state != PN_KNOWN)
                return;
        view_part(&hottest->part, &hottest->part_name, part, sizeof part);
        pn_buf_printf(line, "%s%s %s", line->len ? " · " : "", what,
                      *part ? part : view_address(hottest->name.v));
        if (pn_text(&hottest->label))
                pn_buf_printf(line, " %s", hottest->label.v);
        pn_buf_printf(line, " %.0f °C", hottest->temperature_c.v);
        if (hottest->limit_c.state == PN_KNOWN)
                pn_buf_printf(line, _(" of %.0f"), hottest->limit_c.v);
}

int status_put_vitals(Cli *cli, const PnHost *host)
{
        const PnVitals *vitals = host ? host->vitals.v : NULL;
        _cleanup_buf_ PnBuf line = {0};

        if (!vitals)
                return 0;
        pn_buf_puts(&line, "");
        put_heat(&line, _("hottest drive"), vitals->hottest_drive.v);
        put_heat(&line, _("hottest sensor"), vitals->hottest_sensor.v);
        if (vitals->most_worn.v && vitals->most_worn.v->used_percent.state == PN_KNOWN)
                pn_buf_printf(&line, "%s%s %s %" PRId64 " %%", line.len ? " · " : "",
                              _("most worn"), vitals->most_worn.v->name.v,
                              vitals->most_worn.v->used_percent.v);
        if (line.error)
                return line.error;
        if (line.len) {
                pn_buf_puts(&cli->page, "\n");
                term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_PLAIN, line.data);
        }
        return 0;
}
