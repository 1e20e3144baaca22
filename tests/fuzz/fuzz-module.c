/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes lib/module.c and the decoders behind it: the input is a memory in ethtool's layout, with
 * page 11h behind it where the map is CMIS. */
#include "base.h"
#include "module.h"
#include "text.h"

#include <math.h>

#include <json-c/json.h>

#define PAGE_11_AT 640u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
        if (!truth)
                abort();
}

/* A value is known and within what the maps can hold, or it has no value. */
static void require_real(PnReal real, double low, double high)
{
        require(real.state < PN_N_STATES);
        if (real.state == PN_KNOWN)
                require(isfinite(real.v) && real.v >= low && real.v <= high);
}

static void require_text(const PnText *text)
{
        require((text->state == PN_KNOWN) == !!text->v);
        if (text->v)
                require(*text->v && pn_utf8_valid(text->v, strlen(text->v)));
}

static void require_limits(PnState state, const PnModuleLimits *limits, double low, double high)
{
        require((state == PN_KNOWN) == !!limits);
        if (!limits)
                return;
        require_real(limits->high_alarm, low, high);
        require_real(limits->low_alarm, low, high);
        require(limits->low_alarm.v <= limits->low_warning.v);
        require(limits->low_warning.v < limits->high_warning.v);
        require(limits->high_warning.v <= limits->high_alarm.v);
}

static void require_power(PnReal mw, PnReal dbm)
{
        require_real(mw, 0, 6.5535);
        require_real(dbm, -40, 8.17);
        /* A level is there exactly where there is light. */
        require((dbm.state == PN_KNOWN) == (mw.state == PN_KNOWN && mw.v > 0));
}

static void require_diagnostics(const PnModuleDiagnostics *diagnostics)
{
        const PnModuleThresholds *thresholds = diagnostics->thresholds.v;

        require_real(diagnostics->temperature_c, -128, 128);
        require_real(diagnostics->voltage_v, 0, 6.5535);
        require(diagnostics->lanes.n <= 8);
        for (unsigned i = 0; i < diagnostics->lanes.n; i++) {
                const PnModuleLane *lane = &diagnostics->lanes.v[i];

                require_power(lane->rx_power_mw, lane->rx_power_dbm);
                require_power(lane->tx_power_mw, lane->tx_power_dbm);
                require_real(lane->bias_ma, 0, 4 * 131.07);
        }
        if (thresholds) {
                require_limits(thresholds->temperature.state, thresholds->temperature.v, -128, 128);
                require_limits(thresholds->voltage.state, thresholds->voltage.v, 0, 6.5535);
                require_limits(thresholds->rx_power.state, thresholds->rx_power.v, 0, 6.5535);
                require_limits(thresholds->tx_power.state, thresholds->tx_power.v, 0, 6.5535);
                require_limits(thresholds->bias.state, thresholds->bias.v, 0, 4 * 131.07);
        }
        require(diagnostics->flags.n <= 8 * 14 + 8 + 1);
}

/* What is written is read back as the same. */
static void require_json(const PnModule *module)
{
        _cleanup_buf_ PnBuf text = {0};
        struct json_object *json = NULL;
        PnModule again = {0};

        pn_write_json(&text, pn_type_Module(), module);
        require(text.error == 0);
        require(pn_parse_json(text.data, text.len, &json, NULL) == 0);
        require(pn_read_json(pn_type_Module(), json, PN_JSON_STRICT, &again, NULL, NULL) == 0);
        json_object_put(json);
        require(pn_text_is(&again.status, module->status.v));
        pn_done(pn_type_Module(), &again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        PnModulePages pages;
        PnModule module;

        require(pn_module_from_flat(data, size, &pages) == (size > 0 ? 0 : -EINVAL));
        if (size == 0)
                return 0;
        if (pages.area[PN_MODULE_PAGE_03].n > 0 && size > PAGE_11_AT)
                pages.area[PN_MODULE_PAGE_11] = (PnModulePage){
                    .bytes = data + PAGE_11_AT,
                    .n = size - PAGE_11_AT < 128 ? size - PAGE_11_AT : 128,
                    .reason = PN_UNREAD_IO,
                };
        require(!((pn_module_wanted(&pages, false) | pn_module_wanted(&pages, true)) >>
                  PN_N_MODULE_AREAS));
        require(pn_module_decode(&pages, &module) == 0);

        require_text(&module.status);
        require(module.status.v);
        require_text(&module.form);
        require_text(&module.vendor);
        require_text(&module.oui);
        require_text(&module.part_number);
        require_text(&module.revision);
        require_text(&module.serial);
        require_text(&module.date_code);
        require_text(&module.type);
        require_text(&module.connector);
        require_real(module.wavelength_nm, 0.05, 65535);
        require(module.nominal_mbd.state != PN_KNOWN ||
                (module.nominal_mbd.v > 0 && module.nominal_mbd.v <= 63750));
        for (unsigned i = 0; i < module.lengths.n; i++)
                require_real(module.lengths.v[i].metres, 0.1, 630000);
        if (module.diagnostics.v)
                require_diagnostics(module.diagnostics.v);
        require_json(&module);
        pn_done(pn_type_Module(), &module);
        return 0;
}
