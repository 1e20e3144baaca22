/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the rules about health and sensors, of what readings can be believed, and of the
 * policy's words. */
#include "machine.h"

#include "assess.h"
#include "told.h"
#include <stdio.h>

#include "plausible.h"

#define NOW "2026-01-02T03:04:05Z"

static PnHealth *with_health(PnNvme *drive, int64_t celsius)
{
        PnHealth *health = PN_NEW(&drive->health);

        assert_non_null(health);
        assert_int_equal(pn_set_text(&drive->transport, "pcie"), 0);
        health->critical_warnings.state = PN_KNOWN;
        health->temperature_c = pn_int(celsius);
        health->warning_temperature_c = pn_int(80);
        health->critical_temperature_c = pn_int(85);
        health->spare_percent = pn_int(100);
        health->spare_threshold_percent = pn_int(10);
        health->used_percent = pn_int(3);
        health->media_errors = pn_int(0);
        return health;
}

static void warn(PnHealth *health, const char *word)
{
        assert_int_equal(pn_texts_append(&health->critical_warnings, word), 0);
}

/* "code severity, code severity" of all findings, worst first. */
static const char *codes(const PnInventory *inventory, const PnInventory *before)
{
        static char text[512];
        PnStatus status = {0};
        size_t n = 0;

        assert_int_equal(pn_assess(inventory, (PnBefore){before, NULL}, NULL, NOW, &status), 0);
        check_told(&status);
        *text = '\0';
        for (unsigned i = 0; i < status.findings.n; i++)
                n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %s", i ? ", " : "",
                                      status.findings.v[i].code.v, status.findings.v[i].severity.v);
        pn_done(pn_type_Status(), &status);
        return text;
}

static void judges_drives(_unused_ void **state)
{
        static const struct {
                const char *warnings[2];
                int64_t celsius, spare, used, media;
                const char *right;
        } rows[] = {
            {{NULL}, 41, 100, 3, 0, ""},
            {{NULL}, 41, 100, 80, 0, "nvme.worn info"},
            {{NULL}, 41, 100, 100, 0, "nvme.worn warning"},
            {{NULL}, 41, 100, 255, 0, "nvme.worn warning"},
            {{"reliability"}, 28, 100, 100, 0, "nvme.critical_warning warning"},
            {{"reliability"}, 28, 100, 200, 0, "nvme.critical_warning warning"},
            {{"reliability"}, 28, 100, 50, 0, "nvme.critical_warning critical"},
            {{"reliability"},
             28,
             5,
             100,
             0,
             "nvme.spare_low critical, nvme.critical_warning critical"},
            {{"spare"}, 41, 9, 3, 0, "nvme.spare_low critical"},
            {{"spare"}, 41, 100, 3, 0, "nvme.critical_warning critical"},
            {{"read_only"}, 41, 100, 3, 0, "nvme.critical_warning critical"},
            {{"bit_6"}, 41, 100, 3, 0, "nvme.critical_warning critical"},
            {{"temperature"}, 82, 100, 3, 0, "nvme.hot warning"},
            {{"temperature"}, 20, 100, 3, 0, "nvme.critical_warning warning"},
            {{NULL}, 74, 100, 3, 0, ""},
            {{NULL}, 75, 100, 3, 0, "nvme.hot info"},
            {{NULL}, 80, 100, 3, 0, "nvme.hot warning"},
            {{NULL}, 85, 100, 3, 0, "nvme.hot critical"},
            /* Case 028: old media errors alone are no finding. */
            {{NULL}, 41, 53, 2, 3, ""},
        };

        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                PnInventory inventory = {0};
                PnHealth *health =
                    with_health(drive(&inventory, "nvme0", NULL, "A"), rows[i].celsius);

                for (size_t k = 0; k < 2 && rows[i].warnings[k]; k++)
                        warn(health, rows[i].warnings[k]);
                health->spare_percent = pn_int(rows[i].spare);
                health->used_percent = pn_int(rows[i].used);
                health->media_errors = pn_int(rows[i].media);
                assert_string_equal(codes(&inventory, NULL), rows[i].right);
                forget(&inventory);
        }
}

static void cannot_tell(_unused_ void **state)
{
        static const PnState reasons[] = {PN_ABSENT, PN_UNREAD_PERMISSION, PN_UNREAD_CANNOT_JOIN,
                                          PN_UNREAD_IO, PN_UNREAD_UNSUPPORTED};
        PnInventory inventory = {0};
        PnNvme *one = drive(&inventory, "nvme0", NULL, "A");
        PnHealth *health;

        for (size_t i = 0; i < PN_ELEMENTS(reasons); i++) {
                one->health.state = reasons[i];
                assert_string_equal(codes(&inventory, NULL), "");
        }
        one->health.state = PN_UNREAD_STUCK;
        assert_string_equal(codes(&inventory, NULL), "probe.stuck warning");
        one->health.state = PN_ABSENT;
        health = with_health(one, 95);
        health->temperature_c = (PnInt){.state = PN_UNREAD_MALFORMED};
        health->spare_percent = (PnInt){.state = PN_UNREAD_MALFORMED};
        health->used_percent = (PnInt){.state = PN_ABSENT};
        assert_string_equal(codes(&inventory, NULL), "");
        /* Whether media errors grew cannot be told, so "worn but working" cannot, either. */
        health->used_percent = pn_int(100);
        health->spare_percent = pn_int(100);
        health->media_errors = (PnInt){.state = PN_UNREAD_OVERFLOW};
        warn(health, "reliability");
        assert_string_equal(codes(&inventory, NULL), "nvme.critical_warning critical");
        forget(&inventory);
}

static void media_errors_that_grow(_unused_ void **state)
{
        PnInventory before = {0}, now = {0};
        PnHealth *old = with_health(drive(&before, "nvme0", NULL, "A"), 28);
        PnHealth *health = with_health(drive(&now, "nvme0", NULL, "A"), 28);

        health->used_percent = pn_int(100);
        old->media_errors = pn_int(3);
        health->media_errors = pn_int(3);
        warn(health, "reliability");
        assert_string_equal(codes(&now, &before), "nvme.critical_warning warning");
        health->media_errors = pn_int(4);
        assert_string_equal(codes(&now, &before), "nvme.critical_warning critical");
        /* Another drive of the same name is no witness. */
        assert_int_equal(pn_set_text(&before.nvme.v[0].serial, "B"), 0);
        assert_string_equal(codes(&now, &before), "nvme.critical_warning warning");
        forget(&before);
        forget(&now);
}

static void add_sensor(PnHealth *health, int index, int64_t celsius)
{
        PnNvmeSensor *sensor = PN_APPEND(&health->sensors);

        assert_non_null(sensor);
        sensor->index = pn_int(index);
        sensor->temperature_c = pn_int(celsius);
}

/* Case 032: 83 °C while the sensors say 31 and 39. */
static void spikes_need_a_witness(_unused_ void **state)
{
        PnInventory before = {0}, now = {0};
        PnHealth *old = with_health(drive(&before, "nvme0", NULL, "A"), 33);
        PnHealth *health = with_health(drive(&now, "nvme0", NULL, "A"), 83);

        assert_string_equal(codes(&now, NULL), "nvme.hot warning");
        add_sensor(health, 1, 31);
        add_sensor(health, 2, 39);
        assert_string_equal(codes(&now, NULL), "");
        assert_string_equal(codes(&now, &before), "");
        old->temperature_c = pn_int(83);
        assert_int_equal(pn_set_text(&old->updated, "2026-01-02T03:00:00Z"), 0);
        assert_int_equal(pn_set_text(&health->updated, "2026-01-02T03:00:00Z"), 0);
        assert_string_equal(codes(&now, &before), "");
        assert_int_equal(pn_set_text(&health->updated, "2026-01-02T03:01:00Z"), 0);
        assert_string_equal(codes(&now, &before), "nvme.hot warning");
        forget(&before);
        forget(&now);
}

static PnReading *reading(PnChip *chip, const char *label, const char *kind, double value)
{
        PnReading *added = PN_APPEND(&chip->readings);

        assert_non_null(added);
        assert_int_equal(pn_set_text(&added->label, label), 0);
        assert_int_equal(pn_set_text(&added->feature, "temp1"), 0);
        assert_int_equal(pn_set_text(&added->kind, kind), 0);
        added->value = pn_real(value);
        return added;
}

static PnChip *chip(PnInventory *inventory, const char *name)
{
        PnChip *added = PN_APPEND(&inventory->sensors);

        assert_non_null(added);
        assert_int_equal(pn_set_text(&added->chip, name), 0);
        return added;
}

static void judges_sensors(_unused_ void **state)
{
        static const struct {
                const char *chip, *label, *kind;
                double value, max, critical; /* 0: none */
                bool alarm;
                const char *right;
        } rows[] = {
            {"coretemp-isa-0000", "Package id 0", "temperature", 60, 80, 100, false, ""},
            {"coretemp-isa-0000", "Package id 0", "temperature", 85, 80, 100, false,
             "sensor.hot warning"},
            {"coretemp-isa-0000", "Package id 0", "temperature", 100, 80, 100, true,
             "sensor.hot critical"},
            {"coretemp-isa-0000", "Package id 0", "temperature", 60, 0, 0, true,
             "sensor.alarm warning"},
            {"k10temp-pci-00c3", "Tctl", "temperature", 95, 70, 90, false, ""},
            {"k10temp-pci-00c3", "Tdie", "temperature", 95, 70, 90, false, "sensor.hot critical"},
            {"nct6798-isa-0290", "AUXTIN3", "temperature", 100, 80, 0, true, ""},
            {"nct6798-isa-0290", "Water", "temperature", 100, 80, 0, true, "sensor.hot warning"},
            {"it8728-isa-0a30", "Water", "temperature", 127, 126, 0, true, ""},
            {"acpitz-acpi-0", "temp1", "temperature", 3892313, 80, 90, true, ""},
            {"coretemp-isa-0000", "Core 0", "temperature", 40, 20, 30, false, ""},
            {"dummy-i2c-0-18", "fan1", "fan", 0, 0, 0, false, ""},
        };

        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                PnInventory inventory = {0};
                PnChip *one = chip(&inventory, rows[i].chip);
                PnReading *r = reading(one, rows[i].label, rows[i].kind, rows[i].value);

                if (rows[i].max > 0)
                        r->max = pn_real(rows[i].max);
                if (rows[i].critical > 0)
                        r->critical = pn_real(rows[i].critical);
                r->alarm = pn_bool(rows[i].alarm);
                assert_int_equal(pn_reading_judge(one, r), 0);
                assert_string_equal(codes(&inventory, NULL), rows[i].right);
                forget(&inventory);
        }
}

/* Case 070: one sample of 511 °C, or of anything that is far off, shuts nothing down. */
static void jumps_need_a_second_reading(_unused_ void **state)
{
        static const struct {
                double before, now; /* 0: not read */
                const char *right;
        } rows[] = {
            {40, 95, ""},
            {95, 95, "sensor.hot critical"},
            {50, 95, "sensor.hot critical"},
            {0, 95, "sensor.hot critical"},
            {127, 95, "sensor.hot critical"},
        };

        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                PnInventory now = {0}, before = {0};
                PnReading *r =
                    reading(chip(&now, "coretemp-isa-0000"), "Core 0", "temperature", rows[i].now);

                r->critical = pn_real(90);
                assert_int_equal(pn_reading_judge(&now.sensors.v[0], r), 0);
                r = reading(chip(&before, "coretemp-isa-0000"), "Core 0", "temperature",
                            rows[i].before);
                if (rows[i].before <= 0)
                        r->value.state = PN_UNREAD_IO;
                assert_int_equal(pn_reading_judge(&before.sensors.v[0], r), 0);
                assert_string_equal(codes(&now, &before), rows[i].right);
                forget(&now);
                forget(&before);
        }
}

static void finds_the_worst(_unused_ void **state)
{
        PnInventory inventory = {0};
        PnStatus status = {0};
        PnReading *r;
        PnChip *one;

        with_health(drive(&inventory, "nvme0", NULL, "A"), 50)->used_percent = pn_int(30);
        with_health(drive(&inventory, "nvme1", NULL, "B"), 45)->warning_temperature_c = pn_int(60);
        one = chip(&inventory, "k10temp-pci-00c3");
        assert_int_equal(pn_set_text(&one->device, "0000:00:18.3"), 0);
        r = reading(one, "Tdie", "temperature", 66);
        r->plausible = pn_bool(true);
        assert_int_equal(pn_assess(&inventory, (PnBefore){0}, NULL, NOW, &status), 0);
        assert_string_equal(status.host.v->vitals.v->hottest_drive.v->name.v, "nvme1");
        assert_string_equal(status.host.v->vitals.v->most_worn.v->name.v, "nvme0");
        assert_string_equal(status.host.v->vitals.v->hottest_sensor.v->label.v, "Tdie");
        pn_done(pn_type_Status(), &status);
        forget(&inventory);
        assert_int_equal(pn_assess(&inventory, (PnBefore){0}, NULL, NOW, &status), 0);
        assert_int_equal(status.host.v->vitals.state, PN_ABSENT);
        pn_done(pn_type_Status(), &status);
}

/* What a chip is part of, in the words of its driver, its device and the rest of the inventory. */
static void names_parts(_unused_ void **state)
{
        static const struct {
                const char *chip, *device, *right;
        } rows[] = {
            {"k10temp-pci-00c3", "0000:00:18.3", "CPU"},
            {"fam15h_power-pci-00c4", "0000:00:18.4", "CPU"},
            {"coretemp-isa-0000", "coretemp.0", "CPU 0"},
            {"coretemp-isa-0001", "coretemp.1", "CPU 1"},
            {"nct6798-isa-0290", "nct6798.656", "board"},
            {"it8728-isa-0a30", "it87.2608", "board"},
            {"acpitz-acpi-0", "thermal_zone0", "board"},
            {"spd5118-i2c-1-50", "1-0050", "memory 1-0050"},
            {"spd5118-i2c-1-51", "1-0051", "memory 1-0051"},
            {"jc42-i2c-0-18", "0-0018", "memory"},
            {"amdgpu-pci-0300", "0000:03:00.0", "graphics card PCIEX16_2"},
            {"amdgpu-pci-0e00", "0000:0e:00.0", "graphics card 0000:0e:00.0"},
            {"ixgbe-pci-0400", "0000:04:00.0", "network card enp4s0f0"},
            {"ixgbe-pci-0401", "0000:04:00.1", "network card PCIEX16_3"},
            {"a_new_driver-pci-0500", "0000:05:00.0", "network card 0000:05:00.0"},
            {"phy-mdio-0", "enp7s0", "network card enp7s0"},
            {"iwlwifi_1-virtual-0", "0000:2a:00.0", "network card 0000:2a:00.0"},
            {"xe-pci-0900", "0000:09:00.0", "graphics card 0000:09:00.0"},
            {"xenon-virtual-0", NULL, ""},
            {"ice-pci-0a00", "0000:0a:00.0", "network card 0000:0a:00.0"},
            {"icecream-virtual-0", NULL, ""},
            {"mpi3mr-pci-0b00", "0000:0b:00.0", "storage controller 0000:0b:00.0"},
            {"drivetemp-scsi-0-0", "sda", "disk sda"},
            {"new_disk_driver-scsi-1-0", "sdb", "disk sdb"},
            {"BAT0-acpi-0", "BAT0", ""},
            {"corsairpsu-hid-3-1", "0003:1B1C:1C0C.0001", "power supply"},
            {"-", NULL, ""},
            {"", NULL, ""},
        };
        PnInventory inventory = {0};
        PnStatus status = {0};
        PnNic *nic;
        PnDisk *disk;

        assert_int_equal(
            pn_set_text(&pci(&inventory, "0000:03:00.0", "endpoint", NULL, "0x030000")->slot,
                        "PCIEX16_2"),
            0);
        for (int i = 0; i < 2; i++)
                assert_int_equal(pn_set_text(&pci(&inventory, i ? "0000:04:00.1" : "0000:04:00.0",
                                                  "endpoint", NULL, "0x020000")
                                                  ->slot,
                                             "PCIEX16_3"),
                                 0);
        pci(&inventory, "0000:05:00.0", "endpoint", NULL, "0x020000");
        pci(&inventory, "0000:0b:00.0", "endpoint", NULL, "0x010700");
        pci(&inventory, "0000:00:18.3", "integrated", NULL, "0x060000");
        for (int i = 0; i < 2; i++) {
                nic = PN_APPEND(&inventory.nics);
                assert_non_null(nic);
                assert_int_equal(pn_set_text(&nic->id, i ? "enp7s0" : "enp4s0f0"), 0);
                assert_int_equal(pn_set_text(&nic->name, i ? "enp7s0" : "enp4s0f0"), 0);
                assert_int_equal(pn_set_text(&nic->kind, "physical"), 0);
                assert_int_equal(pn_set_text(&nic->address, i ? "0000:07:00.0" : "0000:04:00.0"),
                                 0);
        }
        disk = PN_APPEND(&inventory.disks);
        assert_non_null(disk);
        assert_int_equal(pn_set_text(&disk->name, "sdb"), 0);
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                PnReading *r = reading(chip(&inventory, rows[i].chip), "x", "temperature", 40);

                r->plausible = pn_bool(true);
                assert_int_equal(pn_set_text(&inventory.sensors.v[inventory.sensors.n - 1].device,
                                             rows[i].device),
                                 0);
        }
        /* Twice: joining again changes nothing. */
        for (int turn = 0; turn < 2; turn++) {
                assert_int_equal(pn_join(&inventory), 0);
                for (size_t i = 0; i < PN_ELEMENTS(rows); i++)
                        for (unsigned k = 0; k < inventory.sensors.n; k++) {
                                const PnChip *one = &inventory.sensors.v[k];
                                const char *part = pn_text(&one->part);
                                const char *name = pn_text(&one->part_name);
                                char text[128];

                                if (!pn_text_is(&one->chip, rows[i].chip))
                                        continue;
                                (void)snprintf(text, sizeof text, "%s%s%s", part ? part : "",
                                               name ? " " : "", name ? name : "");
                                assert_string_equal(text, rows[i].right);
                        }
        }
        /* The first page and the findings use the same words. */
        for (unsigned k = 0; k < inventory.sensors.n; k++)
                if (pn_text_is(&inventory.sensors.v[k].chip, "ixgbe-pci-0400")) {
                        inventory.sensors.v[k].readings.v[0].value = pn_real(99);
                        inventory.sensors.v[k].readings.v[0].max = pn_real(95);
                }
        assert_int_equal(pn_assess(&inventory, (PnBefore){0}, NULL, NOW, &status), 0);
        assert_string_equal(status.host.v->vitals.v->hottest_sensor.v->part.v, "network card");
        assert_string_equal(status.host.v->vitals.v->hottest_sensor.v->part_name.v, "enp4s0f0");
        for (unsigned i = 0; i < status.findings.n; i++)
                if (pn_text_is(&status.findings.v[i].code, "sensor.hot"))
                        assert_string_equal(status.findings.v[i].summary.v,
                                            "Network card enp4s0f0 x (ixgbe-pci-0400) measures 99 "
                                            "; its limit is 95 .");
        pn_done(pn_type_Status(), &status);
        forget(&inventory);
}

static int set(PnPolicy *policy, const char *section, const char *key, const char *value)
{
        _cleanup_free_ char *problem = NULL;
        int r = pn_policy_set(policy, section, key, value, &problem);

        assert_true((r == -EINVAL) == !!problem);
        return r;
}

static void reads_the_policy(_unused_ void **state)
{
        PnPolicy policy = PN_POLICY_DEFAULT;
        const PnExpectedLink *link;

        assert_int_equal(set(&policy, "Health", "Interval", "10min"), 0);
        assert_int_equal(policy.health_interval_s, 600);
        assert_int_equal(set(&policy, "Health", "Interval", "5 s"), -EINVAL);
        assert_int_equal(set(&policy, "Health", "Interval", "5 parsecs"), -EINVAL);
        assert_int_equal(set(&policy, "Health", "Interval", "-1h"), -EINVAL);
        assert_int_equal(set(&policy, "Health", "Interval", "99999999999"), -EINVAL);
        assert_int_equal(policy.health_interval_s, 600);
        assert_int_equal(set(&policy, "Health", "Interval", ""), 0);
        assert_int_equal(policy.health_interval_s, 300);
        assert_int_equal(set(&policy, "Health", "Interval", "1min 30s"), 0);
        assert_int_equal(policy.health_interval_s, 90);
        assert_int_equal(set(&policy, "Health", "Interval", "2 hours5minutes"), 0);
        assert_int_equal(policy.health_interval_s, 7500);
        assert_int_equal(set(&policy, "Health", "LongestInterval", "1w"), 0);
        assert_int_equal(policy.health_longest_interval_s, 604800);
        assert_int_equal(set(&policy, "Health", "LongestInterval", "2 weeks"), -EINVAL);
        assert_int_equal(set(&policy, "Health", "Interval", "1min 30"), -EINVAL);
        assert_int_equal(set(&policy, "Health", "Interval", "300 30"), -EINVAL);
        assert_int_equal(set(&policy, "Health", "Interval", "300ms"), -EINVAL);
        assert_int_equal(set(&policy, "Health", "Interval", "1.5min"), -EINVAL);
        assert_int_equal(set(&policy, "Health", "Interval", "min"), -EINVAL);
        assert_int_equal(set(&policy, "Health", "Interval", "999999999w 999999999w"), -EINVAL);
        assert_int_equal(policy.health_interval_s, 7500);
        assert_int_equal(set(&policy, "Health", "Intervall", "1h"), -EINVAL);
        assert_int_equal(set(&policy, "Healht", "Interval", "1h"), -EINVAL);
        assert_int_equal(set(&policy, "Limits", "DriveWarning", "65 °C"), 0);
        assert_int_equal(policy.nvme_warning_c, 65);
        assert_int_equal(set(&policy, "Limits", "DriveWarning", "6500"), -EINVAL);
        assert_int_equal(set(&policy, "Health", "EmulatedDrives", "yes"), 0);
        assert_true(policy.health_of_emulated);
        assert_int_equal(set(&policy, "Health", "EmulatedDrives", "perhaps"), -EINVAL);
        assert_int_equal(set(&policy, "Health", "EmulatedDrives", "No"), 0);
        assert_false(policy.health_of_emulated);

        assert_int_equal(set(&policy, "Devices", "Exclude", "nvme3  0000:01:00.*"), 0);
        assert_int_equal(set(&policy, "Devices", "Exclude", "SERIAL7"), 0);
        assert_true(pn_policy_excludes(&policy, (const char *const[]){NULL, "0000:01:00.7"}, 2));
        assert_true(pn_policy_excludes(&policy, (const char *const[]){"SERIAL7"}, 1));
        assert_false(pn_policy_excludes(&policy, (const char *const[]){"nvme30", NULL}, 2));
        assert_int_equal(set(&policy, "Devices", "Exclude", "nvme8 # too hot"), -EINVAL);
        assert_int_equal(set(&policy, "Devices", "Exclude", "\"nvme8\""), -EINVAL);
        assert_int_equal(set(&policy, "Devices", "Exclude", "nvme8 \\"), -EINVAL);
        assert_false(pn_policy_excludes(&policy, (const char *const[]){"nvme8"}, 1));
        assert_int_equal(set(&policy, "Devices", "Exclude", ""), 0);
        assert_int_equal(policy.excluded.n, 0);

        assert_int_equal(set(&policy, "Links", "Expect", "nvme3 8 GT/s x4"), 0);
        assert_int_equal(set(&policy, "Links", "Expect", "0000:06:00.0 16GT/s x1"), 0);
        assert_int_equal(set(&policy, "Links", "Expect", "nvme3 9 GT/s x4"), -EINVAL);
        assert_int_equal(set(&policy, "Links", "Expect", "nvme3 8 GT/s x3"), -EINVAL);
        assert_int_equal(set(&policy, "Links", "Expect", "nvme3"), -EINVAL);
        link = pn_policy_link(&policy, (const char *const[]){"nvme3"}, 1);
        assert_non_null(link);
        assert_int_equal(link->width, 4);
        pn_policy_done(&policy);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(judges_drives),
            cmocka_unit_test(cannot_tell),
            cmocka_unit_test(media_errors_that_grow),
            cmocka_unit_test(spikes_need_a_witness),
            cmocka_unit_test(judges_sensors),
            cmocka_unit_test(finds_the_worst),
            cmocka_unit_test(names_parts),
            cmocka_unit_test(jumps_need_a_second_reading),
            cmocka_unit_test(reads_the_policy),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
