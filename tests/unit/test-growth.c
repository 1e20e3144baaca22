/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What only a memory can tell: counters that grow, links and ports that were better, fans that
 * stopped, disks that are gone. Each fires, does not, and cannot tell. */

#include "machine.h"

#include <stdio.h>

#include "assess.h"
#include "learn.h"
#include "told.h"
#include "when.h"

#define START INT64_C(1767225600) /* 2026-01-01 */

typedef struct World {
        PnInventory inventory, before;
        PnMemory memory;
        PnStatus status;
        PnOverTime time;
} World;

static void set_up(World *world)
{
        *world = (World){.time = {.now = START}};
        pn_memory_init(&world->memory);
        world->time.memory = &world->memory;
}

static void tear_down(World *world)
{
        pn_done(pn_type_Inventory(), &world->inventory);
        pn_done(pn_type_Inventory(), &world->before);
        pn_done(pn_type_Memory(), &world->memory);
        pn_done(pn_type_Status(), &world->status);
        pn_events_done(&world->time.events);
}

/* Assesses the inventory after some time; it is the one before, next time. */
static void look(World *world, int64_t later)
{
        PnInventory copy = {0};
        PnWhen now;

        world->time.now += later;
        pn_done(pn_type_Status(), &world->status);
        assert_int_equal(pn_copy(pn_type_Inventory(), &copy, &world->inventory), 0);
        assert_int_equal(pn_join(&copy), 0);
        assert_int_equal(pn_assess_over_time(&copy, (PnBefore){&world->before, NULL}, NULL,
                                             pn_when_format(now, world->time.now), &world->time,
                                             &world->status),
                         0);
        check_told(&world->status);
        pn_done(pn_type_Inventory(), &world->before);
        world->before = copy;
}

static const PnFinding *find(const World *world, const char *code)
{
        for (unsigned i = 0; i < world->status.findings.n; i++)
                if (pn_text_is(&world->status.findings.v[i].code, code))
                        return &world->status.findings.v[i];
        return NULL;
}

static void expect(const World *world, const char *code, const char *severity, const char *words)
{
        const PnFinding *finding = find(world, code);

        if (!severity) {
                if (finding)
                        fail_msg("%s: %s", code, finding->summary.v);
                return;
        }
        if (!finding)
                fail_msg("no %s", code);
        assert_string_equal(finding->severity.v, severity);
        if (!strstr(finding->summary.v, words))
                fail_msg("\"%s\" has no \"%s\"", finding->summary.v, words);
}

static PnHealth *healthy(World *world)
{
        PnHealth *health;

        port(&world->inventory, "0000:00:01.1", "root_port", NULL, (Ends){16, 4, 16, 4});
        endpoint(&world->inventory, "0000:01:00.0", "0000:00:01.1", NVME_CLASS,
                 (Ends){16, 4, 16, 4});
        health = PN_NEW(&drive(&world->inventory, "nvme0", "0000:01:00.0", "S")->health);
        assert_non_null(health);
        health->temperature_c = pn_int(40);
        health->media_errors = pn_int(0);
        health->warning_temperature_minutes = pn_int(100);
        return health;
}

static void test_media_errors(void **state)
{
        World w;
        PnHealth *health;

        (void)state;
        set_up(&w);
        health = healthy(&w);
        look(&w, 0);
        expect(&w, "nvme.media_errors_rising", NULL, NULL);
        health->media_errors = pn_int(2);
        look(&w, 300);
        expect(&w, "nvme.media_errors_rising", "warning", "from 0 to 2 since 2026-01-01");
        /* Not read: neither more nor less. */
        health->media_errors = (PnInt){.state = PN_UNREAD_OVERFLOW};
        look(&w, 300);
        health->media_errors = pn_int(2);
        look(&w, 6 * PN_DAY);
        expect(&w, "nvme.media_errors_rising", "warning", "from 0 to 2 since 2026-01-01");
        /* A week without: these two are old ones now. */
        look(&w, 2 * PN_DAY);
        expect(&w, "nvme.media_errors_rising", NULL, NULL);
        health->media_errors = pn_int(3);
        look(&w, PN_DAY);
        expect(&w, "nvme.media_errors_rising", "warning", "from 2 to 3 since 2026-01-09");
        /* Lower than before: it counts anew. */
        health->media_errors = pn_int(1);
        look(&w, 300);
        expect(&w, "nvme.media_errors_rising", NULL, NULL);
        tear_down(&w);
}

static void test_found_errors(void **state)
{
        World w;
        PnHealth *health;

        (void)state;
        set_up(&w);
        health = healthy(&w);
        health->media_errors = pn_int(3);
        look(&w, 0);
        expect(&w, "nvme.media_errors_rising", "notice", "3 times before it was watched");
        health->media_errors = pn_int(4);
        look(&w, 300);
        expect(&w, "nvme.media_errors_rising", "warning", "from 3 to 4");
        tear_down(&w);
}

static void test_hot_minutes(void **state)
{
        World w;
        PnHealth *health;

        (void)state;
        set_up(&w);
        health = healthy(&w);
        look(&w, 0);
        expect(&w, "nvme.hot", NULL, NULL);
        health->warning_temperature_minutes = pn_int(112);
        look(&w, 300);
        expect(&w, "nvme.hot", "notice", "for 12 minutes since 2026-01-01; now it is at 40");
        look(&w, PN_DAY + 1);
        expect(&w, "nvme.hot", NULL, NULL);
        tear_down(&w);
}

static void test_frozen_temperature(void **state)
{
        World w;
        PnHealth *health;

        (void)state;
        set_up(&w);
        health = healthy(&w);
        health->data_units_read = pn_int(1000000);
        health->data_units_written = pn_int(1000000);
        look(&w, 0);
        /* Idle drives stay as warm as they are. */
        look(&w, 30 * PN_DAY);
        expect(&w, "nvme.hot", NULL, NULL);
        health->data_units_written = pn_int(1100000);
        look(&w, 60);
        expect(&w, "nvme.hot", "notice", "has said 40 °C since 2026-01-01, whatever it did");
        health->temperature_c = pn_int(90);
        look(&w, 60);
        expect(&w, "nvme.hot", "critical", "90");
        health->data_units_read = pn_int(2000000);
        look(&w, 60);
        expect(&w, "nvme.hot", "critical", "90");
        health->temperature_c = pn_int(40);
        look(&w, 60);
        expect(&w, "nvme.hot", NULL, NULL);
        tear_down(&w);
}

static void test_aer(void **state)
{
        World w;
        PnAer *aer;

        (void)state;
        set_up(&w);
        (void)healthy(&w);
        aer = PN_NEW(&w.inventory.pci.v[1].aer);
        assert_non_null(aer);
        /* What there was since boot says nothing of now. */
        *aer = (PnAer){pn_int(5000), pn_int(2), pn_int(1)};
        look(&w, 0);
        expect(&w, "pcie.aer_rising", NULL, NULL);
        expect(&w, "pcie.aer_fatal", NULL, NULL);
        aer->correctable = pn_int(5009);
        look(&w, 60);
        expect(&w, "pcie.aer_rising", NULL, NULL);
        aer->correctable = pn_int(5010);
        aer->nonfatal = pn_int(3);
        look(&w, 60);
        expect(&w, "pcie.aer_rising", "notice", "link of nvme0 went from 5000 to 5010");
        expect(&w, "pcie.aer_fatal", "warning", "Non-fatal errors of nvme0");
        aer->correctable = pn_int(6000);
        aer->fatal = pn_int(2);
        look(&w, 60);
        expect(&w, "pcie.aer_rising", "warning", "from 5000 to 6000");
        expect(&w, "pcie.aer_fatal", "critical", "Fatal errors of nvme0");
        /* After a boot. */
        *aer = (PnAer){pn_int(0), pn_int(0), pn_int(0)};
        look(&w, 60);
        expect(&w, "pcie.aer_rising", NULL, NULL);
        expect(&w, "pcie.aer_fatal", NULL, NULL);
        tear_down(&w);
}

static PnNic *nic(World *world)
{
        PnNic *nic = PN_APPEND(&world->inventory.nics);

        assert_non_null(nic);
        assert_int_equal(pn_set_text(&nic->id, "eno1"), 0);
        assert_int_equal(pn_set_text(&nic->name, "eno1"), 0);
        assert_int_equal(pn_set_text(&nic->kind, "physical"), 0);
        assert_int_equal(pn_set_text(&nic->permanent_mac, "00:00:5e:00:53:01"), 0);
        assert_int_equal(pn_set_text(&nic->duplex, "full"), 0);
        nic->enabled = nic->carrier = pn_bool(true);
        nic->speed_mbps = pn_int(1000);
        assert_int_equal(pn_reals_append(&nic->supported_mbps, 100), 0);
        assert_int_equal(pn_reals_append(&nic->supported_mbps, 1000), 0);
        assert_non_null(PN_NEW(&nic->errors));
        return nic;
}

/* Each controller of a drive has counters of its own. */
static void test_aer_of_two_controllers(void **state)
{
        World w;

        (void)state;
        set_up(&w);
        for (int i = 0; i < 2; i++) {
                char root[16], address[16], name[8];
                PnNvme *controller;
                PnAer *aer;

                (void)snprintf(root, sizeof root, "0000:00:0%d.1", i + 1);
                (void)snprintf(address, sizeof address, "0000:0%d:00.0", i + 1);
                (void)snprintf(name, sizeof name, "nvme%d", i);
                port(&w.inventory, root, "root_port", NULL, (Ends){16, 4, 16, 4});
                aer = PN_NEW(
                    &endpoint(&w.inventory, address, root, NVME_CLASS, (Ends){16, 4, 16, 4})->aer);
                assert_non_null(aer);
                *aer = (PnAer){pn_int(0), pn_int(0), pn_int(i * 3)};
                controller = drive(&w.inventory, name, address, "S");
                assert_int_equal(pn_set_text(&controller->subsystem, "nqn.2014-08.org:S"), 0);
        }
        for (int i = 0; i < 5; i++) {
                look(&w, 60);
                expect(&w, "pcie.aer_fatal", NULL, NULL);
        }
        w.inventory.pci.v[3].aer.v->fatal = pn_int(4);
        w.inventory.pci.v[1].aer.v->fatal = pn_int(1);
        look(&w, 60);
        expect(&w, "pcie.aer_fatal", "critical", "Fatal errors");
        assert_int_equal(w.status.findings.n, 2);
        assert_string_not_equal(w.status.findings.v[0].id.v, w.status.findings.v[1].id.v);
        tear_down(&w);
}

static void test_port_errors(void **state)
{
        World w;
        PnNic *port;

        (void)state;
        set_up(&w);
        port = nic(&w);
        port->errors.v->rx_crc = pn_int(100);
        look(&w, 0);
        expect(&w, "nic.errors_rising", NULL, NULL);
        port->errors.v->rx_crc = pn_int(109);
        look(&w, 60);
        expect(&w, "nic.errors_rising", NULL, NULL);
        port->errors.v->rx_crc = pn_int(110);
        look(&w, 60);
        expect(&w, "nic.errors_rising", "warning", "eno1 received with a wrong checksum: from 100");
        assert_int_equal(find(&w, "nic.errors_rising")->extent.v, 10);
        look(&w, PN_DAY + 1);
        expect(&w, "nic.errors_rising", NULL, NULL);
        /* Some drivers have the standard's counter alone. */
        port->errors.v->fcs = pn_int(7);
        look(&w, 60);
        expect(&w, "nic.errors_rising", NULL, NULL);
        port->errors.v->fcs = pn_int(17);
        look(&w, 60);
        expect(&w, "nic.errors_rising", "warning", "eno1 received with a wrong checksum: from 7");
        tear_down(&w);
}

static void test_port_that_was_faster(void **state)
{
        World w;
        PnNic *port;

        (void)state;
        set_up(&w);
        port = nic(&w);
        look(&w, 0);
        expect(&w, "nic.slow", NULL, NULL);
        /* A partner that offers no more explains it, and yet it was faster. */
        assert_int_equal(pn_reals_append(&port->partner_mbps, 100), 0);
        port->speed_mbps = pn_int(100);
        look(&w, PN_DAY);
        expect(&w, "nic.slow", "warning", "runs at 100 Mb/s; until 2026-01-01 it ran at 1 Gb/s");
        port->carrier = pn_bool(false);
        port->speed_mbps = (PnInt){0};
        look(&w, 60);
        expect(&w, "nic.slow", NULL, NULL);
        port->carrier = pn_bool(true);
        look(&w, 60);
        expect(&w, "nic.slow", "warning", "does not say at which speed");
        /* After so long it is what it is. */
        port->speed_mbps = pn_int(100);
        look(&w, 91 * PN_DAY);
        expect(&w, "nic.slow", "info", "all that the partner can do");
        tear_down(&w);
}

/* A module that was too hot, and then the link is gone. */
static void test_hot_module_and_no_link(void **state)
{
        PnModuleDiagnostics *diagnostics;
        PnBondMember *member;
        PnNic *bond, *port;
        PnModule *module;
        World w;

        (void)state;
        set_up(&w);
        (void)nic(&w);
        bond = PN_APPEND(&w.inventory.nics);
        assert_non_null(bond);
        assert_int_equal(pn_set_text(&bond->id, "bond0"), 0);
        assert_int_equal(pn_set_text(&bond->name, "bond0"), 0);
        assert_int_equal(pn_set_text(&bond->kind, "bond"), 0);
        bond->enabled = pn_bool(true);
        assert_non_null(PN_NEW(&bond->bond));
        member = PN_APPEND(&bond->bond.v->members);
        assert_non_null(member);
        assert_int_equal(pn_set_text(&member->name, "eno2"), 0);
        member->mii_up = pn_bool(true);
        member = PN_APPEND(&bond->bond.v->members);
        assert_non_null(member);
        assert_int_equal(pn_set_text(&bond->bond.v->mode, "active-backup"), 0);
        assert_int_equal(pn_set_text(&member->name, "eno1"), 0);
        member->mii_up = pn_bool(true);
        port = &w.inventory.nics.v[0];
        assert_int_equal(pn_set_text(&port->master, "bond0"), 0);
        module = PN_NEW(&port->module);
        diagnostics = module ? PN_NEW(&module->diagnostics) : NULL;
        assert_non_null(diagnostics);
        assert_int_equal(pn_set_text(&module->status, "present"), 0);
        diagnostics->temperature_c = pn_real(79);
        look(&w, 0);
        expect(&w, "module.hot", "warning", "79");
        expect(&w, "bond.member_down", NULL, NULL);
        diagnostics->temperature_c = (PnReal){.state = PN_UNREAD_IO};
        port->carrier = member->mii_up = pn_bool(false);
        look(&w, 60);
        expect(&w, "bond.member_down", "warning", "eno1, a member of the bond bond0");
        assert_non_null(strstr(find(&w, "bond.member_down")->detail.v, "Before that: "));
        assert_non_null(strstr(find(&w, "bond.member_down")->detail.v, "79"));
        tear_down(&w);
}

static void test_port_that_never_said(void **state)
{
        World w;
        PnNic *port;

        (void)state;
        set_up(&w);
        port = nic(&w);
        port->speed_mbps = (PnInt){0};
        look(&w, 0);
        look(&w, PN_DAY);
        expect(&w, "nic.slow", NULL, NULL);
        tear_down(&w);
}

static void test_link_that_was_wider(void **state)
{
        World w;

        (void)state;
        set_up(&w);
        (void)healthy(&w);
        look(&w, 0);
        /* Of a link that sleeps or is not seen nothing is said. */
        w.inventory.pci.v[1].link.v->current_width = (PnInt){.state = PN_UNREAD_ASLEEP};
        look(&w, 60);
        expect(&w, "pcie.degraded", NULL, NULL);
        w.inventory.pci.v[0].link.v->current_width = pn_int(2);
        w.inventory.pci.v[1].link.v->current_width = pn_int(2);
        w.inventory.pci.v[1].link.v->max_width = pn_int(2);
        look(&w, PN_DAY);
        expect(&w, "pcie.degraded", "warning",
               "nvme0 runs at 16 GT/s x2; until 2026-01-01 it ran at 16 GT/s x4 here. 50 % lost");
        assert_null(find(&w, "pcie.slot_limited"));
        /* A fault of now names what it was before. */
        w.inventory.pci.v[1].link.v->max_width = pn_int(4);
        look(&w, 60);
        expect(&w, "pcie.degraded", "warning", "uses 2 of 4 lanes");
        assert_non_null(strstr(find(&w, "pcie.degraded")->detail.v, "It ran at 16 GT/s x4 here"));
        tear_down(&w);
}

static PnReading *reading(PnChip *chip, const char *label, const char *kind, double value)
{
        PnReading *it = PN_APPEND(&chip->readings);

        assert_non_null(it);
        assert_int_equal(pn_set_text(&it->label, label), 0);
        assert_int_equal(pn_set_text(&it->feature, label), 0);
        assert_int_equal(pn_set_text(&it->kind, kind), 0);
        it->value = pn_real(value);
        it->plausible = pn_bool(true);
        return it;
}

static void test_fans(void **state)
{
        enum { FAN, EMPTY, HEAT };
        World w;
        PnChip *chip;

        (void)state;
        set_up(&w);
        chip = PN_APPEND(&w.inventory.sensors);
        assert_non_null(chip);
        assert_int_equal(pn_set_text(&chip->chip, "nct6798-isa-0290"), 0);
        (void)reading(chip, "fan1", "fan", 900);
        (void)reading(chip, "fan5", "fan", 0);
        (void)reading(chip, "temp1", "temperature", 40);
        look(&w, 0);
        expect(&w, "sensor.fan_stopped", NULL, NULL);
        /* It rests while it is cool. */
        chip->readings.v[FAN].value = pn_real(0);
        look(&w, 60);
        expect(&w, "sensor.fan_stopped", "info", "fan1 (nct6798-isa-0290) stands; it turned until");
        /* It gets warmer, or is warm. */
        chip->readings.v[HEAT].value = pn_real(44);
        look(&w, 60);
        expect(&w, "sensor.fan_stopped", "warning", "fan1");
        chip->readings.v[HEAT].value = pn_real(75);
        look(&w, 60);
        look(&w, 60);
        expect(&w, "sensor.fan_stopped", "warning", "fan1");
        /* Not read. */
        chip->readings.v[FAN].value = (PnReal){.state = PN_UNREAD_IO};
        look(&w, 60);
        expect(&w, "sensor.fan_stopped", NULL, NULL);
        /* Nobody puts it back in. */
        chip->readings.v[FAN].value = pn_real(0);
        look(&w, 31 * PN_DAY);
        expect(&w, "sensor.fan_stopped", NULL, NULL);
        tear_down(&w);
}

static void test_disks(void **state)
{
        World w;
        PnSource *source;
        PnDisk *disk;
        PnUse *use;

        (void)state;
        set_up(&w);
        source = PN_APPEND(&w.inventory.sources);
        assert_non_null(source);
        assert_int_equal(pn_set_text(&source->name, "block"), 0);
        assert_int_equal(pn_set_text(&source->state, "fresh"), 0);
        for (int i = 0; i < 3; i++) {
                disk = PN_APPEND(&w.inventory.disks);
                assert_non_null(disk);
                assert_int_equal(pn_format_text(&disk->name, "sd%c", 'a' + i), 0);
                assert_int_equal(pn_format_text(&disk->serial, "W%d", i), 0);
                assert_int_equal(pn_set_text(&disk->model, "Example"), 0);
                assert_int_equal(pn_set_text(&disk->transport, i == 2 ? "usb" : "sata"), 0);
        }
        use = PN_APPEND(&w.inventory.disks.v[1].uses);
        assert_non_null(use);
        assert_int_equal(pn_set_text(&use->type, "zfs_member"), 0);
        assert_int_equal(pn_set_text(&use->name, "tank"), 0);
        look(&w, 0);
        expect(&w, "disk.lost", NULL, NULL);
        /* A stick that is pulled out is not missed. */
        pn_list_remove(pn_type_Disk(), &w.inventory.disks, 2);
        look(&w, 60);
        expect(&w, "disk.lost", NULL, NULL);
        pn_list_remove(pn_type_Disk(), &w.inventory.disks, 1);
        assert_int_equal(pn_set_text(&w.inventory.sources.v[0].state, "stale"), 0);
        look(&w, 60);
        expect(&w, "disk.lost", NULL, NULL);
        assert_int_equal(pn_set_text(&w.inventory.sources.v[0].state, "fresh"), 0);
        look(&w, 60);
        expect(&w, "disk.lost", "critical", "The disk sdb (Example, serial W1) is gone.");
        assert_string_equal(find(&w, "disk.lost")->affects.v[0], "tank");
        pn_forget_lost(&w.memory, find(&w, "disk.lost"));
        look(&w, 60);
        expect(&w, "disk.lost", NULL, NULL);
        tear_down(&w);
}

/* Without a memory none of these rules says anything. */
static void test_without_memory(void **state)
{
        World w;
        PnStatus status = {0};

        (void)state;
        set_up(&w);
        healthy(&w)->media_errors = pn_int(7);
        assert_int_equal(pn_join(&w.inventory), 0);
        assert_int_equal(
            pn_assess(&w.inventory, (PnBefore){0}, NULL, "2026-01-01T00:00:00Z", &status), 0);
        assert_int_equal(status.findings.n, 0);
        pn_done(pn_type_Status(), &status);
        tear_down(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_media_errors),
            cmocka_unit_test(test_found_errors),
            cmocka_unit_test(test_hot_minutes),
            cmocka_unit_test(test_frozen_temperature),
            cmocka_unit_test(test_aer),
            cmocka_unit_test(test_aer_of_two_controllers),
            cmocka_unit_test(test_port_errors),
            cmocka_unit_test(test_port_that_was_faster),
            cmocka_unit_test(test_port_that_never_said),
            cmocka_unit_test(test_hot_module_and_no_link),
            cmocka_unit_test(test_link_that_was_wider),
            cmocka_unit_test(test_fans),
            cmocka_unit_test(test_disks),
            cmocka_unit_test(test_without_memory),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
