/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* That time grows with the size of a document and not with its square: a document may be made to
 * have very many of one thing. Each shape is joined, assessed and compared at two sizes. */

#include "machine.h"

#include <stdio.h>
#include <time.h>

#include "assess.h"
#include "learn.h"
#include "picture.h"
#include "snapshot.h"

/* Four times the devices may take eight times as long (sorting, and a cache that is left behind);
 * by the square they would take sixteen. What is as short as this says nothing. */
#ifdef __SANITIZE_ADDRESS__ /* looks at memory here, and takes ten times as long */
#define SMALL 1000
#else
#define SMALL 5000
#endif
#define TIMES       4
#define SLOWER_MOST 8
/* What others do on this machine, caches above all, disturbs a measurement; a square stays one. */
#define TRIES 3

#define SHORT_S 0.15

typedef char Name[64];

static const char *name(Name buf, const char *format, unsigned i)
{
        char before[32];
        const char *at = strchr(format, '#');

        (void)snprintf(before, sizeof before, "%.*s", (int)(at - format), format);
        (void)snprintf(buf, sizeof(Name), "%s%u%s", before, i, at + 1);
        return buf;
}

/* The address of the i-th of many functions, each on a bus of its own. */
static const char *address(Name buf, unsigned i, unsigned function)
{
        (void)snprintf(buf, sizeof(Name), "%04x:%02x:00.%u", 1 + i / 255, 1 + i % 255, function);
        return buf;
}

static const char *port_address(Name buf, unsigned i)
{
        (void)snprintf(buf, sizeof(Name), "%04x:00:%02x.%u", 1 + i / 255, i % 255 / 8, i % 8);
        return buf;
}

static const Ends full = {16, 4, 16, 4}, narrow = {16, 1, 16, 1}, wide = {16, 4, 16, 4};

/* A root port, and below it one function. */
static PnPci *behind_port(PnInventory *inventory, unsigned i, const char *class, Ends above,
                          Ends below)
{
        Name at, port_at;
        PnPci *root = port(inventory, port_address(port_at, i), "root_port", NULL, above);

        root->secondary_bus = pn_int(1 + i % 255);
        root->slot_implemented = pn_bool(true);
        return endpoint(inventory, address(at, i, 0), port_at, class, below);
}

static void give_health(PnNvme *drive, int64_t temperature)
{
        PnHealth *health = PN_NEW(&drive->health);

        assert_non_null(health);
        health->temperature_c = pn_int(temperature);
        health->used_percent = pn_int(120);
        health->media_errors = pn_int(1);
}

static void many_drives(PnInventory *inventory, unsigned n)
{
        Name buf, at;

        for (unsigned i = 0; i < n; i++) {
                PnNvme *it;

                (void)behind_port(inventory, i, NVME_CLASS, narrow, (Ends){16, 1, 16, 4});
                it = drive(inventory, name(buf, "nvme#", i), address(at, i, 0), NULL);
                assert_int_equal(pn_set_text(&it->serial, name(buf, "S#", i)), 0);
                in_pool(it, name(buf, "pool#", i));
                give_health(it, 95);
        }
}

/* Drives with two ports each, of which health came for none. */
static void many_twins(PnInventory *inventory, unsigned n)
{
        Name buf, at;

        for (unsigned i = 0; i < n; i++) {
                PnNvme *it;

                (void)behind_port(inventory, i, NVME_CLASS, full, full);
                it = drive(inventory, name(buf, "nvme#", i), address(at, i, 0), NULL);
                assert_int_equal(pn_set_text(&it->serial, name(buf, "S#", i)), 0);
                assert_int_equal(pn_set_text(&it->subsystem, "nqn.one"), 0);
        }
        for (unsigned i = 0; i < n; i++) {
                PnNvmeHealth *health = PN_APPEND(&inventory->nvme_health);

                assert_non_null(health);
                assert_int_equal(pn_set_text(&health->name, name(buf, "nvme#", i)), 0);
                assert_int_equal(pn_set_text(&health->serial, "another"), 0);
        }
}

static void many_given_away(PnInventory *inventory, unsigned n)
{
        Name buf, at;

        for (unsigned i = 0; i < n; i++) {
                behind_port(inventory, i, NVME_CLASS, full, full)->passed_through = pn_bool(true);
                drive(inventory, name(buf, "nvme#", i), address(at, i, 0), NULL)->lost =
                    pn_bool(i % 2 == 0);
        }
}

static void many_namespaces(PnInventory *inventory, unsigned n)
{
        PnNvme *it = drive(inventory, "nvme0", "0000:01:00.0", "S0");
        PnNvmeHealth *health = PN_APPEND(&inventory->nvme_health);
        Name buf;

        assert_non_null(health);
        port(inventory, "0000:00:01.0", "root_port", NULL, full);
        endpoint(inventory, "0000:01:00.0", "0000:00:01.0", NVME_CLASS, full);
        assert_int_equal(pn_set_text(&health->name, "nvme0"), 0);
        for (unsigned i = 0; i < n; i++) {
                PnNamespaceUsed *used = PN_APPEND(&health->namespaces);

                in_pool(it, name(buf, "pool#", i));
                it->namespaces.v[i].nsid = pn_int(i + 1);
                assert_non_null(used);
                used->nsid = pn_int(n - i);
        }
}

/* All below one switch, whose link is the fault. */
static void many_behind_a_switch(PnInventory *inventory, unsigned n)
{
        Name buf, at;

        port(inventory, "0000:00:01.0", "root_port", NULL, full);
        port(inventory, "0000:01:00.0", "upstream_port", "0000:00:01.0", narrow)
            ->link.v->max_width = pn_int(4);
        for (unsigned i = 0; i < n; i++) {
                port(inventory, port_address(at, i), "downstream_port", "0000:01:00.0", full);
                endpoint(inventory, address(buf, i, 0), at, NVME_CLASS, full);
                in_pool(drive(inventory, name(buf, "nvme#", i), address(at, i, 0), NULL),
                        name(buf, "pool#", i));
        }
}

static PnNic *nic(PnInventory *inventory, const char *id, const char *kind, const char *at)
{
        PnNic *nic = PN_APPEND(&inventory->nics);

        assert_non_null(nic);
        assert_int_equal(pn_set_text(&nic->id, id), 0);
        assert_int_equal(pn_set_text(&nic->name, id), 0);
        assert_int_equal(pn_set_text(&nic->kind, kind), 0);
        assert_int_equal(pn_set_text(&nic->address, at), 0);
        nic->enabled = nic->carrier = pn_bool(true);
        nic->speed_mbps = pn_int(100);
        assert_int_equal(pn_set_text(&nic->port, "tp"), 0);
        assert_int_equal(pn_set_text(&nic->duplex, "full"), 0);
        assert_int_equal(pn_reals_append(&nic->supported_mbps, 100), 0);
        assert_int_equal(pn_reals_append(&nic->supported_mbps, 100000), 0);
        return nic;
}

/* Ports that are slow, each in a bond and under a bridge and a VLAN, and too fast for their slot.
 */
static void many_ports(PnInventory *inventory, unsigned n)
{
        Name buf, at;

        for (unsigned i = 0; i < n / 4; i++) {
                PnNic *it;
                PnPortModule *module;
                PnBond *bond;
                PnBondMember *member;

                (void)behind_port(inventory, i, NIC_CLASS, narrow, narrow);
                it = nic(inventory, name(buf, "eth#", i), "physical", address(at, i, 0));
                assert_int_equal(pn_set_text(&it->master, name(buf, "bond#", i)), 0);
                it->port_number = pn_int(0);
                it = nic(inventory, name(buf, "bond#", i), "bond", NULL);
                assert_int_equal(pn_set_text(&it->master, name(buf, "vmbr#", i)), 0);
                bond = PN_NEW(&it->bond);
                assert_non_null(bond);
                assert_int_equal(pn_set_text(&bond->mode, "active-backup"), 0);
                member = PN_APPEND(&bond->members);
                assert_non_null(member);
                assert_int_equal(pn_set_text(&member->name, name(buf, "eth#", i)), 0);
                member->mii_up = pn_bool(false);
                (void)nic(inventory, name(buf, "vmbr#", i), "bridge", NULL);
                it = nic(inventory, name(buf, "vlan#", i), "vlan", NULL);
                assert_int_equal(pn_set_text(&it->lower, name(buf, "vmbr#", i)), 0);
                module = PN_APPEND(&inventory->port_modules);
                assert_non_null(module);
                assert_int_equal(pn_set_text(&module->name, name(buf, "eth#", i)), 0);
                assert_int_equal(pn_set_text(&module->address, at), 0);
                module->port_number = pn_int(0);
        }
}

static void many_without_interface(PnInventory *inventory, unsigned n)
{
        Name at;

        for (unsigned i = 0; i < n; i++) {
                PnNic *it;

                (void)behind_port(inventory, i, NIC_CLASS, full, full);
                it = nic(inventory, address(at, i, 0), "physical", at);
                assert_int_equal(pn_set_text(&it->name, NULL), 0);
                assert_int_equal(pn_set_text(&it->reason, "no_driver"), 0);
        }
}

/* One slot of the board for each drive, and one that is free. */
static void many_slots(PnInventory *inventory, unsigned n)
{
        Name buf, at;

        for (unsigned i = 0; i < n; i++) {
                Name port_at;

                (void)behind_port(inventory, 2 * i, NVME_CLASS, narrow, (Ends){16, 1, 16, 4});
                (void)drive(inventory, name(buf, "nvme#", i), address(at, 2 * i, 0), NULL);
                slot(inventory, name(buf, "SLOT#", i), "PCIe 4.0 x4", 16, 4, true, at);
                port(inventory, port_address(port_at, 2 * i + 1), "root_port", NULL, wide)
                    ->secondary_bus = pn_int(1 + (2 * i + 1) % 255);
                inventory->pci.v[inventory->pci.n - 1].slot_implemented = pn_bool(true);
                slot(inventory, name(buf, "FREE#", i), "PCIe 4.0 x4", 16, 4, false,
                     address(at, 2 * i + 1, 0));
                slot(inventory, name(buf, "GHOST#", i), "PCIe 4.0 x4", 16, 4, false, NULL);
        }
}

static void many_sensors(PnInventory *inventory, unsigned n)
{
        Name buf;

        for (unsigned i = 0; i < n; i++) {
                PnChip *chip = PN_APPEND(&inventory->sensors);

                assert_non_null(chip);
                assert_int_equal(pn_set_text(&chip->chip, name(buf, "chip-#", i)), 0);
                for (unsigned k = 0; k < 2; k++) {
                        PnReading *reading = PN_APPEND(&chip->readings);

                        assert_non_null(reading);
                        assert_int_equal(pn_set_text(&reading->label, k ? "Fan" : "Case"), 0);
                        assert_int_equal(pn_set_text(&reading->feature, k ? "fan1" : "temp1"), 0);
                        assert_int_equal(pn_set_text(&reading->kind, k ? "fan" : "temperature"), 0);
                        reading->value = pn_real(k ? 0 : 40);
                        reading->plausible = pn_bool(true);
                }
        }
}

static PnSnapshot *assess(PnInventory *inventory, const PnSnapshot *before, double *ret_seconds)
{
        clock_t start = clock();
        PnSnapshot *snapshot;
        PnStatus status;

        assert_int_equal(pn_join(inventory), 0);
        assert_int_equal(pn_assess(inventory,
                                   (PnBefore){before ? &before->inventory : NULL,
                                              before ? &before->status : NULL},
                                   NULL, "2026-01-02T03:04:05Z", &status),
                         0);
        assert_int_equal(pn_snapshot_new(inventory, &status, 1, &snapshot), 0);
        if (before) {
                static const PnPictureMeasures measures = {.width = 1000, .row = 40, .boxes = 60};
                PnSubscribeOut out = {0};
                PnPicture picture;

                assert_int_equal(pn_picture_lay_out(&snapshot->inventory, &snapshot->status,
                                                    &measures, &picture),
                                 0);
                pn_picture_done(&picture);
                (void)pn_snapshot_differs(before, snapshot);
                assert_int_equal(pn_findings_changed(&before->status, &snapshot->status, &out), 0);
                pn_done(pn_type_SubscribeOut(), &out);
        }
        *ret_seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        return snapshot;
}

/* Seconds of the processor for what the daemon does with a second reading of it. */
static double seconds_for(void (*build)(PnInventory *, unsigned), unsigned n)
{
        PnInventory inventory = {0};
        PnSnapshot *before, *after;
        double first, second;

        build(&inventory, n);
        before = assess(&inventory, NULL, &first);
        build(&inventory, n);
        after = assess(&inventory, before, &second);
        pn_snapshot_unref(before);
        pn_snapshot_unref(after);
        return first + second;
}

/* Serial numbers are in no order, and functions, links and ports are learned of, too. */
static void many_to_learn(PnInventory *inventory, unsigned n)
{
        Name buf, at;

        for (unsigned i = 0; i < n; i++) {
                PnPci *function = behind_port(inventory, i, NVME_CLASS, full, full);
                PnAer *aer = PN_NEW(&function->aer);
                PnNicErrors *errors;
                PnDisk *disk;
                PnNvme *it;
                PnNic *port;

                assert_non_null(aer);
                aer->correctable = aer->fatal = pn_int(1);
                it = drive(inventory, name(buf, "nvme#", i), address(at, i, 0), NULL);
                assert_int_equal(pn_set_text(&it->serial, name(buf, "#S", i * 7919u % n)), 0);
                give_health(it, 30);
                port = nic(inventory, name(buf, "eth#", i), "physical", NULL);
                assert_int_equal(
                    pn_set_text(&port->permanent_mac, name(buf, "#:mac", i * 7919u % n)), 0);
                errors = PN_NEW(&port->errors);
                assert_non_null(errors);
                errors->rx_crc = pn_int(1);
                disk = PN_APPEND(&inventory->disks);
                assert_non_null(disk);
                assert_int_equal(pn_set_text(&disk->name, name(buf, "sd#", i)), 0);
                assert_int_equal(pn_set_text(&disk->transport, "sata"), 0);
                assert_int_equal(pn_set_text(&disk->wwn, name(buf, "#w", i * 7919u % n)), 0);
        }
        many_sensors(inventory, n);
}

static double seconds_to_learn(unsigned n)
{
        PnInventory inventory = {0};
        PnMemory memory;
        PnOverTime time = {.memory = &memory, .now = 1767225600};
        PnStatus status;
        clock_t start;
        double seconds;

        pn_memory_init(&memory);
        many_to_learn(&inventory, n);
        assert_int_equal(pn_join(&inventory), 0);
        start = clock();
        assert_int_equal(pn_assess_over_time(&inventory, (PnBefore){0}, NULL,
                                             "2026-01-01T00:00:00Z", &time, &status),
                         0);
        seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        assert_true(memory.drives.n == n && memory.counters.n > n && memory.links.n == n);
        pn_done(pn_type_Status(), &status);
        pn_events_done(&time.events);
        pn_done(pn_type_Memory(), &memory);
        pn_done(pn_type_Inventory(), &inventory);
        return seconds;
}

static void test_learning(void **state _unused_)
{
        double small = 0, large = 0;

        for (unsigned i = 0; i < TRIES; i++) {
                /* More than this has no room in the memory. */
                small = seconds_to_learn(SMALL / 5);
                large = seconds_to_learn(SMALL / 5 * TIMES * 2);
                if (large <= SHORT_S || large <= small * SLOWER_MOST * 2)
                        return;
        }
        fail_msg("learning %u of each took %.2f s, %u of each %.2f s", SMALL / 5, small,
                 SMALL / 5 * TIMES * 2, large);
}

static const struct {
        const char *what;
        void (*build)(PnInventory *inventory, unsigned n);
} shapes[] = {
    {"drives", many_drives},
    {"controllers of one subsystem", many_twins},
    {"drives that guests have", many_given_away},
    {"namespaces of a drive", many_namespaces},
    {"drives behind a switch", many_behind_a_switch},
    {"network ports", many_ports},
    {"ports without an interface", many_without_interface},
    {"slots", many_slots},
    {"sensors", many_sensors},
};

static void test_shape(void **state)
{
        size_t which = *(size_t *)*state;
        double small = 0, large = 0;

        for (unsigned i = 0; i < TRIES; i++) {
                /* The first run also pays for memory that later ones have. */
                small = seconds_for(shapes[which].build, SMALL);
                large = seconds_for(shapes[which].build, SMALL * TIMES);
                if (large <= SHORT_S || large <= small * SLOWER_MOST)
                        return;
        }
        fail_msg("%u %s took %.2f s, %u of them %.2f s", SMALL, shapes[which].what, small,
                 SMALL * TIMES, large);
}

int main(void)
{
        static size_t which[PN_ELEMENTS(shapes)];
        struct CMUnitTest tests[PN_ELEMENTS(shapes) + 1];

        for (size_t i = 0; i < PN_ELEMENTS(shapes); i++) {
                which[i] = i;
                tests[i] = (struct CMUnitTest){shapes[i].what, test_shape, NULL, NULL, &which[i]};
        }
        tests[PN_ELEMENTS(shapes)] = (struct CMUnitTest)cmocka_unit_test(test_learning);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
