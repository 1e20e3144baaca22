/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests lib/metrics.c. */
#include "machine.h"

#include <stdio.h>

#include "assess.h"
#include "metrics.h"

static char *page_of(const PnInventory *inventory, const PnStatus *status)
{
        PnBuf buf = {0};
        char *text;

        assert_int_equal(pn_metrics_write(&buf, inventory, status), 0);
        assert_int_equal(pn_buf_take(&buf, &text, NULL), 0);
        return text;
}

/* The page of an assessed inventory. */
static char *page(PnInventory *inventory)
{
        PnStatus status = {0};
        char *text;

        assert_int_equal(pn_join(inventory), 0);
        assert_int_equal(pn_assess(inventory, (PnBefore){0}, NULL, "2026-01-02T03:04:05Z", &status),
                         0);
        text = page_of(inventory, &status);
        pn_done(pn_type_Status(), &status);
        return text;
}

static bool has_line(const char *page, const char *line)
{
        size_t n = strlen(line);

        for (const char *at = page; (at = strstr(at, line)); at += n)
                if ((at == page || at[-1] == '\n') && (at[n] == '\n' || !at[n]))
                        return true;
        return false;
}

#define assert_line(page, line)                                                                    \
        do {                                                                                       \
                if (!has_line(page, line))                                                         \
                        fail_msg("no line %s in:\n%s", line, page);                                \
        } while (0)

#define assert_without(page, text)                                                                 \
        do {                                                                                       \
                if (strstr(page, text))                                                            \
                        fail_msg("%s is in:\n%s", text, page);                                     \
        } while (0)

static unsigned count(const char *page, const char *text)
{
        unsigned n = 0;

        for (const char *at = page; (at = strstr(at, text)); at += strlen(text))
                n++;
        return n;
}

static PnHealth *health(PnNvme *drive)
{
        PnHealth *health = PN_NEW(&drive->health);

        assert_non_null(health);
        return health;
}

static void an_empty_machine_has_a_page(_unused_ void **state)
{
        PnInventory inventory = {0};
        PnStatus status = {0};
        _cleanup_free_ char *text = page_of(&inventory, &status);

        assert_line(text, "pnhw_build_info{version=\"" PN_VERSION "\"} 1");
        assert_line(text, "pnhw_findings{severity=\"critical\",accepted=\"false\"} 0");
        assert_string_equal(text + strlen(text) - 6, "# EOF\n");
        assert_int_equal(count(text, "# TYPE"), 2);
}

static void what_is_unknown_has_no_sample(_unused_ void **state)
{
        PnInventory inventory = {0};
        _cleanup_free_ char *text = NULL;
        PnHealth *known;

        (void)drive(&inventory, "nvme0", NULL, "S0");
        (void)drive(&inventory, "nvme1", NULL, "S1");
        (void)drive(&inventory, "nvme2", NULL, "S2");
        known = health(&inventory.nvme.v[0]);
        known->temperature_c = pn_int(0);
        known->media_errors.state = PN_UNREAD_OVERFLOW;
        inventory.nvme.v[1].health.state = PN_UNREAD_TIMEOUT;
        inventory.nvme.v[2].lost = pn_bool(true);
        text = page(&inventory);
        assert_line(text, "pnhw_nvme_temperature_celsius{device=\"nvme0\"} 0");
        assert_without(text, "pnhw_nvme_temperature_celsius{device=\"nvme1\"}");
        assert_without(text, "pnhw_nvme_media_errors");
        assert_without(text, "pnhw_nvme_critical_warning");
        assert_without(text, "NaN");
        assert_line(text, "pnhw_nvme_state{device=\"nvme1\",state=\"live\"} 1");
        assert_without(text, "pnhw_nvme_info{device=\"nvme2\"");
        forget(&inventory);
}

static void units_are_the_base_ones(_unused_ void **state)
{
        PnInventory inventory = {0};
        PnHealth *drives = health(drive(&inventory, "nvme0", NULL, "S0"));
        _cleanup_free_ char *text = NULL;

        drives->power_on_hours = pn_int(3);
        drives->busy_minutes = pn_int(2);
        drives->used_percent = pn_int(7);
        drives->spare_percent = pn_int(100);
        drives->bytes_written = pn_int(INT64_MAX);
        drives->data_units_written = pn_int(12);
        assert_int_equal(pn_set_text(&drives->updated, "2026-01-02T03:04:05Z"), 0);
        assert_int_equal(pn_texts_append(&drives->critical_warnings, "read_only"), 0);
        text = page(&inventory);
        assert_line(text, "pnhw_nvme_power_on_seconds_total{device=\"nvme0\"} 10800");
        assert_line(text, "pnhw_nvme_busy_seconds_total{device=\"nvme0\"} 120");
        assert_line(text, "pnhw_nvme_used_ratio{device=\"nvme0\"} 0.07");
        assert_line(text, "pnhw_nvme_spare_ratio{device=\"nvme0\"} 1");
        assert_line(text, "pnhw_nvme_written_bytes_total{device=\"nvme0\"} 9223372036854775807");
        assert_line(text, "# UNIT pnhw_nvme_written_bytes bytes");
        assert_line(text, "pnhw_nvme_health_read_timestamp_seconds{device=\"nvme0\"} 1767323045");
        assert_line(text, "pnhw_nvme_critical_warning{device=\"nvme0\",warning=\"read_only\"} 1");
        assert_line(text, "pnhw_nvme_critical_warning{device=\"nvme0\",warning=\"spare\"} 0");
        forget(&inventory);
}

static void a_moment_that_is_none_has_no_sample(_unused_ void **state)
{
        PnInventory inventory = {0};
        PnHealth *drives = health(drive(&inventory, "nvme0", NULL, "S0"));
        _cleanup_free_ char *text = NULL;

        assert_int_equal(pn_set_text(&drives->updated, "yesterday"), 0);
        text = page(&inventory);
        assert_without(text, "pnhw_nvme_health_read");
        forget(&inventory);
}

static void labels_are_escaped(_unused_ void **state)
{
        PnInventory inventory = {0};
        PnNvme *one = drive(&inventory, "nvme0", NULL, "S\"0");
        _cleanup_free_ char *text = NULL;

        assert_int_equal(pn_set_text(&one->model, "a\\b\n\"} 1\ntrap{x=\""), 0);
        assert_int_equal(pn_set_text(&one->firmware, ""), 0);
        assert_int_equal(pn_set_text(&one->transport, "\x1b[1mp\xc2\x9b\xc3\xa9\r"), 0);
        text = page(&inventory);
        assert_line(
            text,
            "pnhw_nvme_info{device=\"nvme0\",model=\"a\\\\b\\n\\\"} 1\\ntrap{x=\\\"\""
            ",serial=\"S\\\"0\",transport=\"\xef\xbf\xbd[1mp\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\"} 1");
        assert_without(text, "\ntrap");
        forget(&inventory);
}

static void no_series_comes_twice(_unused_ void **state)
{
        PnInventory inventory = {0};
        PnChip *chip;
        _cleanup_free_ char *text = NULL;

        for (int i = 0; i < 3000; i++) {
                chip = PN_APPEND(&inventory.sensors);
                assert_non_null(chip);
                assert_int_equal(pn_format_text(&chip->chip, "chip%d", i / 2), 0);

                PnReading *reading = PN_APPEND(&chip->readings);

                assert_non_null(reading);
                assert_int_equal(pn_set_text(&reading->label, "CPU"), 0);
                assert_int_equal(pn_set_text(&reading->kind, "temperature"), 0);
                reading->value = pn_real(20 + i % 2);
        }
        text = page(&inventory);
        assert_int_equal(count(text, "\npnhw_sensor_temperature_celsius{"), 1500);
        assert_line(text, "pnhw_sensor_temperature_celsius{chip=\"chip1499\",sensor=\"CPU\"} 20");
        forget(&inventory);
}

static void only_what_is_measured_counts(_unused_ void **state)
{
        static const struct {
                const char *label, *kind;
                double value;
                bool plausible;
        } rows[] = {{"Tctl", "control", 80, true},      {"CPU", "temperature", 41.5, true},
                    {"AUX", "temperature", -60, false}, {"rear", "fan", 0, true},
                    {"Vcore", "voltage", 1.05, true},   {"room", "humidity", 40, true}};
        PnInventory inventory = {0};
        PnChip *chip = PN_APPEND(&inventory.sensors);
        _cleanup_free_ char *text = NULL;

        assert_int_equal(pn_set_text(&chip->chip, "chip"), 0);
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                PnReading *reading = PN_APPEND(&chip->readings);

                assert_non_null(reading);
                assert_int_equal(pn_set_text(&reading->label, rows[i].label), 0);
                assert_int_equal(pn_set_text(&reading->kind, rows[i].kind), 0);
                reading->value = pn_real(rows[i].value);
                reading->plausible = pn_bool(rows[i].plausible);
                reading->alarm = pn_bool(i == 1);
        }
        text = page(&inventory);
        assert_int_equal(count(text, "\npnhw_sensor_temperature_celsius{"), 1);
        assert_line(text, "pnhw_sensor_temperature_celsius{chip=\"chip\",sensor=\"CPU\"} 41.5");
        assert_line(text, "pnhw_sensor_fan_speed_rpm{chip=\"chip\",sensor=\"rear\"} 0");
        assert_line(text, "pnhw_sensor_voltage_volts{chip=\"chip\",sensor=\"Vcore\"} 1.05");
        assert_line(text, "pnhw_sensor_humidity_ratio{chip=\"chip\",sensor=\"room\"} 0.4");
        assert_line(text, "pnhw_sensor_alarm{chip=\"chip\",sensor=\"CPU\"} 1");
        assert_without(text, "Tctl");
        assert_without(text, "AUX");
        forget(&inventory);
}

static void links_have_verdict_and_figures(_unused_ void **state)
{
        PnInventory inventory = {0};
        _cleanup_free_ char *text = NULL;

        port(&inventory, "0000:00:01.1", "root_port", NULL, (Ends){16, 1, 16, 1});
        endpoint(&inventory, "0000:01:00.0", "0000:00:01.1", NVME_CLASS, (Ends){16, 1, 16, 4});
        drive(&inventory, "nvme0", "0000:01:00.0", "S0");
        text = page(&inventory);
#define LINK "{device=\"nvme0\",address=\"0000:01:00.0\","
        assert_line(text,
                    "pnhw_pcie_link_verdict" LINK "verdict=\"slot_limited\",reason=\"width\"} 1");
        assert_line(text, "pnhw_pcie_link_width_lanes" LINK "what=\"current\"} 1");
        assert_line(text, "pnhw_pcie_link_width_lanes" LINK "what=\"best\"} 4");
        assert_line(text, "pnhw_pcie_link_speed_transfers_per_second" LINK
                          "what=\"current\"} 16000000000");
        assert_line(text, "pnhw_pcie_link_bandwidth_bytes_per_second" LINK
                          "what=\"current\"} 1969125000");
        assert_line(text, "pnhw_pcie_link_of_best_ratio{device=\"nvme0\",address="
                          "\"0000:01:00.0\"} 0.25");
        assert_line(text, "pnhw_findings{severity=\"notice\",accepted=\"false\"} 1");
        assert_int_equal(count(text, "\npnhw_finding{id="), 1);
        assert_non_null(strstr(text, "code=\"pcie.slot_limited\",device=\"nvme0\",severity="
                                     "\"notice\",state=\"new\",accepted=\"false\"} 1"));
        forget(&inventory);
}

static void serials_are_in_info_alone(_unused_ void **state)
{
        PnInventory inventory = {0};
        PnHealth *drives = health(drive(&inventory, "nvme0", NULL, "SECRET"));
        PnNic *nic = PN_APPEND(&inventory.nics);
        _cleanup_free_ char *text = NULL;

        drives->temperature_c = pn_int(40);
        assert_int_equal(pn_set_text(&nic->id, "eth0"), 0);
        assert_int_equal(pn_set_text(&nic->name, "eth0"), 0);
        assert_int_equal(pn_set_text(&nic->kind, "physical"), 0);
        assert_int_equal(pn_set_text(&nic->mac, "02:00:00:00:00:01"), 0);
        assert_int_equal(pn_set_text(&nic->permanent_mac, "02:00:00:00:00:01"), 0);
        text = page(&inventory);
        assert_int_equal(count(text, "SECRET"), 1);
        assert_non_null(strstr(text, "pnhw_nvme_info{device=\"nvme0\",model=\"Example SSD\",serial="
                                     "\"SECRET\"} 1"));
        assert_without(text, "02:00");
        assert_line(text, "pnhw_port_verdict{device=\"eth0\",verdict=\"unknown\"} 1");
        forget(&inventory);
}

static PnNic *bond_of(PnInventory *inventory, const char *name)
{
        PnNic *nic = PN_APPEND(&inventory->nics);
        PnBond *bond;

        assert_int_equal(pn_set_text(&nic->id, name), 0);
        assert_int_equal(pn_set_text(&nic->name, name), 0);
        assert_int_equal(pn_set_text(&nic->kind, "bond"), 0);
        bond = PN_NEW(&nic->bond);
        assert_non_null(bond);
        assert_int_equal(pn_set_text(&bond->mode, "active-backup"), 0);
        for (int i = 0; i < 3; i++) {
                PnBondMember *member = PN_APPEND(&bond->members);

                assert_non_null(member);
                assert_int_equal(pn_format_text(&member->name, "eth%d", i), 0);
                if (i < 2)
                        member->mii_up = pn_bool(i == 0);
        }
        return nic;
}

static void bonds_count_their_members(_unused_ void **state)
{
        PnInventory inventory = {0};
        _cleanup_free_ char *text = NULL;

        bond_of(&inventory, "bond0");
        text = page(&inventory);
        assert_line(text, "pnhw_bond_members{device=\"bond0\"} 3");
        assert_line(text, "pnhw_bond_member_working{device=\"bond0\",member=\"eth0\"} 1");
        assert_line(text, "pnhw_bond_member_working{device=\"bond0\",member=\"eth1\"} 0");
        /* Of one nobody can tell, and so not how many work. */
        assert_without(text, "member=\"eth2\"");
        assert_without(text, "pnhw_bond_working_members");
        forget(&inventory);
}

static void modules_measure_light(_unused_ void **state)
{
        PnInventory inventory = {0};
        PnNic *nic = PN_APPEND(&inventory.nics);
        PnModule *module = PN_NEW(&nic->module);
        PnModuleDiagnostics *diagnostics = PN_NEW(&module->diagnostics);
        PnModuleThresholds *limits = PN_NEW(&diagnostics->thresholds);
        PnModuleLane *lane = PN_APPEND(&diagnostics->lanes);
        PnModuleLimits *temperature = PN_NEW(&limits->temperature);
        _cleanup_free_ char *text = NULL;

        assert_int_equal(pn_set_text(&nic->id, "eth0"), 0);
        assert_int_equal(pn_set_text(&nic->kind, "physical"), 0);
        assert_int_equal(pn_set_text(&module->status, "present"), 0);
        lane->rx_power_mw = pn_real(0);
        lane->tx_power_mw = pn_real(0.58);
        temperature->high_warning = pn_real(73);
        text = page(&inventory);
        assert_line(text, "pnhw_module_receive_power_watts{device=\"eth0\",lane=\"1\"} 0");
        assert_line(text, "pnhw_module_transmit_power_watts{device=\"eth0\",lane=\"1\"} 0.00058");
        assert_line(text, "pnhw_module_temperature_limit_celsius{device=\"eth0\","
                          "limit=\"high_warning\"} 73");
        assert_without(text, "pnhw_module_bias_amperes");
        assert_line(text, "pnhw_module_status{device=\"eth0\",status=\"present\"} 1");
        assert_line(text, "pnhw_module_info{device=\"eth0\"} 1");
        forget(&inventory);
}

static void accepted_findings_are_counted_apart(_unused_ void **state)
{
        PnInventory inventory = {0};
        PnStatus status = {0};
        _cleanup_free_ char *text = NULL;

        for (int i = 0; i < 2; i++) {
                PnFinding *finding = PN_APPEND(&status.findings);

                assert_non_null(finding);
                assert_int_equal(pn_format_text(&finding->id, "id%d", i), 0);
                assert_int_equal(pn_set_text(&finding->code, "nvme.hot"), 0);
                assert_int_equal(pn_set_text(&finding->address, "0000:01:00.0"), 0);
                assert_int_equal(pn_set_text(&finding->severity, "warning"), 0);
                assert_int_equal(pn_set_text(&finding->state, "raised"), 0);
                assert_int_equal(pn_set_text(&finding->since, "1970-01-01T00:01:00Z"), 0);
                if (i)
                        finding->accepted = pn_bool(true);
        }
        text = page_of(&inventory, &status);
        assert_line(text, "pnhw_findings{severity=\"warning\",accepted=\"true\"} 1");
        assert_line(text, "pnhw_findings{severity=\"warning\",accepted=\"false\"} 1");
        assert_line(text, "pnhw_finding{id=\"id1\",code=\"nvme.hot\",device=\"0000:01:00.0\","
                          "severity=\"warning\",state=\"raised\",accepted=\"true\"} 1");
        assert_line(text, "pnhw_finding_first_seen_timestamp_seconds{id=\"id0\",code=\"nvme.hot\","
                          "device=\"0000:01:00.0\"} 60");
        pn_done(pn_type_Status(), &status);
}

static char *older(const char *openmetrics)
{
        PnBuf buf = {0};
        char *text;

        pn_metrics_to_prometheus(&buf, openmetrics, strlen(openmetrics));
        assert_int_equal(pn_buf_take(&buf, &text, NULL), 0);
        return text;
}

static void the_older_format_has_other_types(_unused_ void **state)
{
        static const struct {
                const char *from, *to;
        } rows[] = {
            {"# TYPE a counter\n# UNIT a bytes\n# HELP a How many.\na_total 1\n# EOF\n",
             "# TYPE a_total counter\n# HELP a_total How many.\na_total 1\n"},
            {"# TYPE b info\n# HELP b What.\nb_info{x=\"# EOF\"} 1\n# TYPE c gauge\n# HELP c C\nc "
             "1\n",
             "# TYPE b_info gauge\n# HELP b_info What.\nb_info{x=\"# EOF\"} 1\n# TYPE c gauge\n"
             "# HELP c C\nc 1\n"},
            {"# TYPE d unknown\nd 1\n# TYPE e stateset\ne{e=\"x\"} 1\n",
             "# TYPE d untyped\nd 1\n# TYPE e gauge\ne{e=\"x\"} 1\n"},
            {"", ""},
            {"# TYPE ", "# TYPE "},
            {"# TYPE a", "# TYPE a \n"},
            {"no newline", "no newline"},
        };

        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                _cleanup_free_ char *text = older(rows[i].from);

                assert_string_equal(text, rows[i].to);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(an_empty_machine_has_a_page),
            cmocka_unit_test(what_is_unknown_has_no_sample),
            cmocka_unit_test(units_are_the_base_ones),
            cmocka_unit_test(a_moment_that_is_none_has_no_sample),
            cmocka_unit_test(labels_are_escaped),
            cmocka_unit_test(no_series_comes_twice),
            cmocka_unit_test(only_what_is_measured_counts),
            cmocka_unit_test(links_have_verdict_and_figures),
            cmocka_unit_test(serials_are_in_info_alone),
            cmocka_unit_test(bonds_count_their_members),
            cmocka_unit_test(modules_measure_light),
            cmocka_unit_test(accepted_findings_are_counted_apart),
            cmocka_unit_test(the_older_format_has_other_types),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
