/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes lib/smart.c: the input is a SMART log, an Identify structure, or an error log. */
#include "base.h"
#include "smart.h"

#include <json-c/json.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
        if (!truth)
                abort();
}

static void require_int(PnInt v, int64_t low, int64_t high)
{
        require(v.state < PN_N_STATES);
        if (v.state == PN_KNOWN)
                require(v.v >= low && v.v <= high);
}

static void require_health(const PnHealth *health)
{
        _cleanup_buf_ PnBuf text = {0};
        struct json_object *json = NULL;
        PnHealth again = {0};
        const PnPolicy policy = PN_POLICY_DEFAULT;
        int64_t warning, critical;

        require_int(health->temperature_c, -100, 200);
        require_int(health->spare_percent, 0, 100);
        require_int(health->used_percent, 0, 255);
        require_int(health->bytes_read, 0, INT64_MAX);
        require(health->sensors.n <= 8 && health->critical_warnings.n <= 8);
        for (unsigned i = 0; i < health->sensors.n; i++)
                require_int(health->sensors.v[i].index, i + 1, 8);
        pn_nvme_limits(health, &policy, &warning, &critical);
        require(warning >= 30 && warning <= critical && critical <= 130);

        pn_write_json(&text, pn_type_Health(), health);
        require(text.error == 0);
        require(pn_parse_json(text.data, text.len, &json, NULL) == 0);
        require(pn_read_json(pn_type_Health(), json, PN_JSON_STRICT, &again, NULL, NULL) == 0);
        json_object_put(json);
        require(pn_equal(pn_type_Health(), health, &again) || health->critical_warnings.n == 0 ||
                health->sensors.n == 0);
        pn_done(pn_type_Health(), &again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        PnSmartIdentify identify;
        unsigned refused, failed;
        PnHealth health = {0};

        if (pn_smart_decode(data, size, &health) == 0) {
                if (pn_smart_identify_controller(data, size, &identify) == 0) {
                        require(identify.error_entries >= 1 && identify.error_entries <= 256);
                        health.warning_temperature_c = identify.warning_c;
                        health.critical_temperature_c = identify.critical_c;
                }
                require_health(&health);
                pn_done(pn_type_Health(), &health);
        } else {
                require(!health.sensors.v && !health.critical_warnings.v);
        }
        require_int(pn_smart_namespace_used(data, size), 0, INT64_MAX);
        pn_smart_count_errors(data, size, 64, &refused, &failed);
        require(refused + failed <= size / PN_ERROR_ENTRY_SIZE && refused + failed <= 64);
        return 0;
}
