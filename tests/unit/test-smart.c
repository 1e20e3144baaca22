/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of lib/smart.c with logs made by hand, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "smart.h"

static void put16(uint8_t *p, uint16_t v)
{
        p[0] = (uint8_t)v;
        p[1] = (uint8_t)(v >> 8);
}

static void put64(uint8_t *p, uint64_t v)
{
        for (unsigned i = 0; i < 8; i++)
                p[i] = (uint8_t)(v >> 8 * i);
}

static void make_log(uint8_t log[static PN_SMART_LOG_SIZE])
{
        memset(log, 0, PN_SMART_LOG_SIZE);
        put16(log + 1, 273 + 41);
        log[3] = 100;
        log[4] = 10;
        log[5] = 3;
}

static void decodes_every_field(_unused_ void **state)
{
        uint8_t log[PN_SMART_LOG_SIZE];
        PnHealth health;

        make_log(log);
        for (unsigned i = 0; i < 10; i++)
                put64(log + 32 + 16 * i, 1000 + i);
        log[192] = 72;
        log[196] = 1;
        assert_int_equal(pn_smart_decode(log, sizeof log, &health), 0);
        assert_int_equal(health.critical_warnings.state, PN_KNOWN);
        assert_int_equal(health.critical_warnings.n, 0);
        assert_int_equal(health.temperature_c.v, 41);
        assert_int_equal(health.spare_percent.v, 100);
        assert_int_equal(health.spare_threshold_percent.v, 10);
        assert_int_equal(health.used_percent.v, 3);
        assert_int_equal(health.data_units_read.v, 1000);
        assert_int_equal(health.data_units_written.v, 1001);
        assert_int_equal(health.bytes_read.v, 512000000);
        assert_int_equal(health.bytes_written.v, 512512000);
        assert_int_equal(health.host_reads.v, 1002);
        assert_int_equal(health.host_writes.v, 1003);
        assert_int_equal(health.busy_minutes.v, 1004);
        assert_int_equal(health.power_cycles.v, 1005);
        assert_int_equal(health.power_on_hours.v, 1006);
        assert_int_equal(health.unsafe_shutdowns.v, 1007);
        assert_int_equal(health.media_errors.v, 1008);
        assert_int_equal(health.error_log_entries.v, 1009);
        assert_int_equal(health.warning_temperature_minutes.v, 72);
        assert_int_equal(health.critical_temperature_minutes.v, 1);
        pn_done(pn_type_Health(), &health);
}

/* Case 043: 2^64-1, 2^64 and 2^128-1 fit no integer of ours; 2^63-1 does. */
static void counters_are_exact_or_unread(_unused_ void **state)
{
        uint8_t log[PN_SMART_LOG_SIZE];
        PnHealth health;

        make_log(log);
        put64(log + 32, INT64_MAX);
        put64(log + 48, UINT64_MAX);
        put64(log + 64 + 8, 1);
        memset(log + 80, 0xff, 16);
        put64(log + 96, UINT64_C(9007199254740993));
        assert_int_equal(pn_smart_decode(log, sizeof log, &health), 0);
        assert_true(health.data_units_read.v == INT64_MAX);
        assert_int_equal(health.bytes_read.state, PN_UNREAD_OVERFLOW);
        assert_int_equal(health.data_units_written.state, PN_UNREAD_OVERFLOW);
        assert_int_equal(health.bytes_written.state, PN_UNREAD_OVERFLOW);
        assert_int_equal(health.host_reads.state, PN_UNREAD_OVERFLOW);
        assert_int_equal(health.host_writes.state, PN_UNREAD_OVERFLOW);
        assert_true(health.busy_minutes.v == INT64_C(9007199254740993));
        pn_done(pn_type_Health(), &health);

        /* Case 042. */
        make_log(log);
        put64(log + 48, 1277863316);
        assert_int_equal(pn_smart_decode(log, sizeof log, &health), 0);
        assert_true(health.bytes_written.v == INT64_C(654266017792000));
        pn_done(pn_type_Health(), &health);
}

/* Cases 029 and 031. */
static void temperatures_that_are_none(_unused_ void **state)
{
        uint8_t log[PN_SMART_LOG_SIZE];
        PnHealth health;

        make_log(log);
        put16(log + 1, 0);
        put16(log + 202, 316);
        put16(log + 204, 65535);
        put16(log + 206, 900);
        assert_int_equal(pn_smart_decode(log, sizeof log, &health), 0);
        assert_int_equal(health.temperature_c.state, PN_ABSENT);
        assert_int_equal(health.sensors.n, 2);
        assert_int_equal(health.sensors.v[0].index.v, 2);
        assert_int_equal(health.sensors.v[0].temperature_c.v, 43);
        assert_int_equal(health.sensors.v[1].index.v, 4);
        assert_int_equal(health.sensors.v[1].temperature_c.state, PN_UNREAD_MALFORMED);
        pn_done(pn_type_Health(), &health);
}

static void warnings_are_words(_unused_ void **state)
{
        static const char *const words[] = {
            "spare",           "temperature",       "reliability", "read_only",
            "volatile_backup", "persistent_memory", "bit_6",       "bit_7"};
        uint8_t log[PN_SMART_LOG_SIZE];
        PnHealth health;

        make_log(log);
        log[0] = 0xff;
        log[5] = 255;
        assert_int_equal(pn_smart_decode(log, sizeof log, &health), 0);
        assert_int_equal(health.critical_warnings.n, 8);
        for (unsigned i = 0; i < 8; i++)
                assert_string_equal(health.critical_warnings.v[i], words[i]);
        assert_int_equal(health.used_percent.v, 255);
        pn_done(pn_type_Health(), &health);
}

static void refuses_what_is_no_log(_unused_ void **state)
{
        uint8_t log[PN_SMART_LOG_SIZE] = {0};
        PnHealth health;

        assert_int_equal(pn_smart_decode(log, sizeof log, &health), -EBADMSG);
        memset(log, 0xff, sizeof log);
        assert_int_equal(pn_smart_decode(log, sizeof log, &health), -EBADMSG);
        make_log(log);
        assert_int_equal(pn_smart_decode(log, sizeof log - 1, &health), -EINVAL);
        log[3] = 101;
        assert_int_equal(pn_smart_decode(log, sizeof log, &health), 0);
        assert_int_equal(health.spare_percent.state, PN_UNREAD_MALFORMED);
        pn_done(pn_type_Health(), &health);
}

static void identifies_limits(_unused_ void **state)
{
        static uint8_t data[PN_IDENTIFY_SIZE];
        PnSmartIdentify identify;

        memset(data, 0, sizeof data);
        assert_int_equal(pn_smart_identify_controller(data, sizeof data, &identify), -EBADMSG);
        data[262] = 63;
        put16(data + 266, 353);
        put16(data + 268, 65535);
        assert_int_equal(pn_smart_identify_controller(data, sizeof data, &identify), 0);
        assert_int_equal(identify.error_entries, 64);
        assert_int_equal(identify.warning_c.v, 80);
        assert_int_equal(identify.critical_c.state, PN_ABSENT);
}

static void namespaces_use(_unused_ void **state)
{
        static uint8_t data[PN_IDENTIFY_SIZE];

        memset(data, 0, sizeof data);
        assert_int_equal(pn_smart_namespace_used(data, sizeof data).state, PN_ABSENT);
        put64(data, 1000);
        put64(data + 16, 10);
        data[26] = 1;
        data[130] = 9;
        data[134] = 12;
        assert_int_equal(pn_smart_namespace_used(data, sizeof data).v, 40960);
        put64(data + 16, 1001);
        assert_int_equal(pn_smart_namespace_used(data, sizeof data).state, PN_UNREAD_MALFORMED);
        put64(data, UINT64_MAX);
        put64(data + 16, UINT64_MAX >> 2);
        assert_int_equal(pn_smart_namespace_used(data, sizeof data).state, PN_UNREAD_OVERFLOW);
        /* More than 16 formats: the upper bits of the index are elsewhere. */
        put64(data, 1000);
        put64(data + 16, 2);
        data[25] = 63;
        data[26] = 0x21;
        data[128 + 4 * 17 + 2] = 10;
        assert_int_equal(pn_smart_namespace_used(data, sizeof data).v, 2048);
}

static void put_error(uint8_t *entry, uint64_t count, uint16_t status)
{
        put64(entry, count);
        put16(entry + 12, status);
}

/* Case 023. */
static void refused_commands_are_no_errors(_unused_ void **state)
{
        uint8_t log[5 * PN_ERROR_ENTRY_SIZE] = {0};
        unsigned refused, failed;

        put_error(log, 14620, 0x6004);
        put_error(log + 64, 14619, 0x2002);
        put_error(log + 128, 14618, 0x0281 << 1);
        put_error(log + 192, 14617, 0x0106 << 1);
        pn_smart_count_errors(log, sizeof log, 5, &refused, &failed);
        assert_int_equal(refused, 3);
        assert_int_equal(failed, 1);
        pn_smart_count_errors(log, sizeof log, 1, &refused, &failed);
        assert_int_equal(refused, 1);
        assert_int_equal(failed, 0);
        pn_smart_count_errors(log, 100, 5, &refused, &failed);
        assert_int_equal(refused, 1);
}

/* Cases 029 and 044. */
static void limits_have_fallbacks(_unused_ void **state)
{
        static const struct {
                int64_t warning, critical, right_warning, right_critical; /* 0: absent */
        } rows[] = {
            {80, 85, 80, 85}, {0, 0, 70, 80},   {0, 90, 80, 90},   {75, 0, 75, 85},
            {5, 85, 75, 85},  {85, 80, 85, 95}, {-273, 0, 70, 80}, {70, 1000, 70, 80},
        };

        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                PnHealth health = {0};
                const PnPolicy policy = PN_POLICY_DEFAULT;
                int64_t warning, critical;

                if (rows[i].warning)
                        health.warning_temperature_c = pn_int(rows[i].warning);
                if (rows[i].critical)
                        health.critical_temperature_c = pn_int(rows[i].critical);
                pn_nvme_limits(&health, &policy, &warning, &critical);
                assert_int_equal(warning, rows[i].right_warning);
                assert_int_equal(critical, rows[i].right_critical);
        }
}

static void knows_clouds(_unused_ void **state)
{
        assert_true(pn_nvme_is_emulated("Amazon Elastic Block Store"));
        assert_true(pn_nvme_is_emulated("VMware Virtual NVMe Disk"));
        assert_true(pn_nvme_is_emulated("MSFT NVMe Accelerator v1.0"));
        assert_true(pn_nvme_is_emulated("Microsoft NVMe Direct Disk"));
        assert_false(pn_nvme_is_emulated("Micron_7450_MTFDKBG960TFR"));
        assert_false(pn_nvme_is_emulated(NULL));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(decodes_every_field),
            cmocka_unit_test(counters_are_exact_or_unread),
            cmocka_unit_test(temperatures_that_are_none),
            cmocka_unit_test(warnings_are_words),
            cmocka_unit_test(refuses_what_is_no_log),
            cmocka_unit_test(identifies_limits),
            cmocka_unit_test(namespaces_use),
            cmocka_unit_test(refused_commands_are_no_errors),
            cmocka_unit_test(limits_have_fallbacks),
            cmocka_unit_test(knows_clouds),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
