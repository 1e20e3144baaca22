/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings: which rules fire and which do not, ids that last, advice that is possible, and the
 * sentence that sums it up. */

#include "machine.h"

#include <stdio.h>

#include "assess.h"
#include "device.h"
#include "told.h"

#define NOW   "2026-01-02T03:04:05Z"
#define LATER "2026-01-02T03:05:05Z"

static PnStatus assess(PnInventory *inventory, const PnStatus *previous, const char *now)
{
        PnStatus status = {0};

        assert_int_equal(pn_join(inventory), 0);
        assert_int_equal(pn_assess(inventory, (PnBefore){NULL, previous}, NULL, now, &status), 0);
        check_told(&status);
        return status;
}

static void done(PnStatus *status)
{
        pn_done(pn_type_Status(), status);
}

static const PnFinding *finding(const PnStatus *status, const char *code, const char *device)
{
        for (unsigned i = 0; i < status->findings.n; i++)
                if (pn_text_is(&status->findings.v[i].code, code) &&
                    pn_text_is(&status->findings.v[i].device, device))
                        return &status->findings.v[i];
        fail_msg("no %s for %s", code, device);
        return NULL;
}

static bool affects(const PnFinding *finding, const char *what)
{
        for (unsigned i = 0; i < finding->affects.n; i++)
                if (strcmp(finding->affects.v[i], what) == 0)
                        return true;
        return false;
}

/* A port with a drive that has a serial, in a pool. */
static PnNvme *seat(PnInventory *inventory, const char *root, const char *address, const char *name,
                    const char *serial, Ends upper, Ends lower)
{
        PnNvme *added;

        port(inventory, root, "root_port", NULL, upper);
        endpoint(inventory, address, root, NVME_CLASS, lower);
        added = drive(inventory, name, address, serial);
        in_pool(added, "rpool");
        return added;
}

static void test_all_well(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;

        (void)state;
        seat(&inventory, "0000:00:01.1", "0000:01:00.0", "nvme0", "A", (Ends){16, 4, 16, 4},
             (Ends){16, 4, 16, 4});
        seat(&inventory, "0000:00:01.2", "0000:02:00.0", "nvme1", "B", (Ends){16, 4, 16, 4},
             (Ends){16, 4, 16, 4});
        status = assess(&inventory, NULL, NOW);
        assert_int_equal(status.findings.n, 0);
        assert_string_equal(status.summary.v, "Both drives run at their best.");
        assert_int_equal(status.schema.v, PN_SCHEMA_VERSION);
        done(&status);
        forget(&inventory);
}

static void test_empty(void **state)
{
        PnInventory inventory = {0};
        PnStatus status = assess(&inventory, NULL, NOW);

        (void)state;
        assert_int_equal(status.findings.n, 0);
        assert_string_equal(status.summary.v, "There is no PCI Express link to judge.");
        done(&status);
        forget(&inventory);
}

static void test_slot_limited(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;
        const PnFinding *found;

        (void)state;
        seat(&inventory, "0000:00:01.1", "0000:01:00.0", "nvme0", "A", (Ends){16, 4, 16, 4},
             (Ends){16, 4, 16, 4});
        seat(&inventory, "0000:00:01.2", "0000:02:00.0", "nvme3", "B", (Ends){16, 1, 16, 1},
             (Ends){16, 1, 16, 4});
        slot(&inventory, "PCIEX1_1", "PCIe 4.0 x1", 16, 1, true, "0000:02:00.0");
        status = assess(&inventory, NULL, NOW);
        assert_int_equal(status.findings.n, 1);
        found = finding(&status, "pcie.slot_limited", "nvme3");
        assert_string_equal(found->severity.v, "notice");
        assert_string_equal(found->address.v, "0000:02:00.0");
        assert_string_equal(found->summary.v,
                            "nvme3: slot PCIEX1_1 has 1 lane; the drive could use 4. 75 % lost "
                            "(2.0 of 7.9 GB/s).");
        assert_true(affects(found, "zpool rpool"));
        assert_string_equal(found->since.v, NOW);
        assert_string_equal(status.summary.v, "1 of 2 drives runs below what it could. Zpool rpool "
                                              "is held back.");
        done(&status);
        forget(&inventory);
}

static void test_degraded_severity(void **state)
{
        static const struct {
                Ends device;
                const char *severity;
        } rows[] = {
            /* a quarter is a warning, less is critical; 2.5 GT/s x4 of 8 GT/s x4 is 25.4 % */
            {{2.5, 4, 8, 4}, "warning"},
            {{8, 1, 8, 4}, "warning"},
            {{2.5, 1, 8, 4}, "critical"},
            {{5, 4, 8, 4}, "warning"},
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                PnInventory inventory = {0};
                PnStatus status;

                seat(&inventory, "0000:00:01.1", "0000:01:00.0", "nvme0", "A", rows[i].device,
                     rows[i].device);
                status = assess(&inventory, NULL, NOW);
                assert_int_equal(status.findings.n, 1);
                assert_string_equal(finding(&status, "pcie.degraded", "nvme0")->severity.v,
                                    rows[i].severity);
                done(&status);
                forget(&inventory);
        }
}

/* One finding for the uplink, which lists the four drives behind it. */
static void test_degraded_uplink(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;
        const PnFinding *found;

        (void)state;
        port(&inventory, "0000:00:01.0", "root_port", NULL, (Ends){16, 4, 16, 16});
        port(&inventory, "0000:01:00.0", "upstream_port", "0000:00:01.0", (Ends){16, 4, 16, 16});
        for (int i = 0; i < 4; i++) {
                char down[16], address[16], name[16], serial[16];

                (void)snprintf(down, sizeof down, "0000:02:%02x.0", i);
                (void)snprintf(address, sizeof address, "0000:%02x:00.0", 3 + i);
                (void)snprintf(name, sizeof name, "nvme%d", i);
                (void)snprintf(serial, sizeof serial, "S%d", i);
                port(&inventory, down, "downstream_port", "0000:01:00.0", (Ends){32, 4, 32, 4});
                endpoint(&inventory, address, down, NVME_CLASS, (Ends){32, 4, 32, 4});
                in_pool(drive(&inventory, name, address, serial), "tank");
        }
        status = assess(&inventory, NULL, NOW);
        assert_int_equal(status.findings.n, 1);
        found = finding(&status, "pcie.degraded", "0000:01:00.0");
        for (int i = 0; i < 4; i++) {
                char name[16];

                (void)snprintf(name, sizeof name, "nvme%d", i);
                assert_true(affects(found, name));
        }
        assert_true(affects(found, "zpool tank"));
        done(&status);
        forget(&inventory);
}

/* The same four drives behind an uplink that is what it is: each is told. */
static void test_path_limited(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;

        (void)state;
        port(&inventory, "0000:00:01.0", "root_port", NULL, (Ends){8, 4, 8, 4});
        port(&inventory, "0000:01:00.0", "upstream_port", "0000:00:01.0", (Ends){8, 4, 8, 4});
        port(&inventory, "0000:02:00.0", "downstream_port", "0000:01:00.0", (Ends){16, 4, 16, 4});
        endpoint(&inventory, "0000:03:00.0", "0000:02:00.0", NVME_CLASS, (Ends){16, 4, 16, 4});
        drive(&inventory, "nvme0", "0000:03:00.0", "A");
        status = assess(&inventory, NULL, NOW);
        assert_int_equal(status.findings.n, 1);
        assert_string_equal(finding(&status, "pcie.path_limited", "nvme0")->severity.v, "notice");
        done(&status);
        forget(&inventory);
}

static void check_advice(PnInventory *inventory, const char *device, const char *expected)
{
        PnStatus status = assess(inventory, NULL, NOW);
        const PnFinding *found = finding(&status, "pcie.slot_limited", device);

        if (!strstr(found->advice.v, expected))
                fail_msg("\"%s\" does not say \"%s\"", found->advice.v, expected);
        done(&status);
}

/* The place in the advice, for programs: a port's address, else a slot's name; NULL for none. */
static void check_place(PnInventory *inventory, const char *device, const char *expected)
{
        PnStatus status = assess(inventory, NULL, NOW);
        const char *place = pn_text(&finding(&status, "pcie.slot_limited", device)->place);

        if (expected)
                assert_string_equal(place, expected);
        else
                assert_null(place);
        done(&status);
}

static void test_better_place(void **state)
{
        PnInventory inventory = {0};
        PnPci *empty;

        (void)state;
        seat(&inventory, "0000:00:01.1", "0000:01:00.0", "nvme1", "A", (Ends){8, 4, 8, 4},
             (Ends){8, 4, 16, 4});
        seat(&inventory, "0000:00:01.2", "0000:02:00.0", "nvme3", "B", (Ends){16, 1, 16, 1},
             (Ends){16, 1, 16, 4});
        slot(&inventory, "M.2_2", "M.2 socket 3", 8, 4, true, "0000:01:00.0");
        check_advice(&inventory, "nvme3", "No free place is known");

        /* A free slot that is no better is no advice. */
        slot(&inventory, "PCIEX1_2", "PCIe 4.0 x1", 16, 1, false, NULL);
        check_advice(&inventory, "nvme3", "No free place is known");

        /* An empty port that leads to no slot cannot take a card. */
        empty = port(&inventory, "0000:00:01.3", "root_port", NULL, (Ends){2.5, 1, 16, 4});
        check_advice(&inventory, "nvme3", "No free place is known");

        /* The one that loses most gets the slot; the other is not sent to the same one. */
        empty = &inventory.pci.v[inventory.pci.n - 1];
        for (unsigned i = 0; i < inventory.pci.n; i++)
                if (pn_text_is(&inventory.pci.v[i].address, "0000:00:01.3"))
                        empty = &inventory.pci.v[i];
        empty->slot_implemented = pn_bool(true);
        empty->secondary_bus = pn_int(9);
        check_advice(&inventory, "nvme3", "the slot behind port 0000:00:01.3: free, 16 GT/s x4");
        slot(&inventory, "PCIEX16_4", "PCIe 4.0 x16", 16, 4, false, "0000:09:00.0");
        check_advice(&inventory, "nvme3",
                     "Move it to PCIEX16_4: free, 16 GT/s x4, it would get 7.9 GB/s there.");
        check_advice(&inventory, "nvme1", "No free place is known");
        check_place(&inventory, "nvme3", "0000:00:01.3");
        check_place(&inventory, "nvme1", NULL);

        /* From M.2 to a card slot takes an adapter. */
        slot(&inventory, "PCIEX16_5", "PCIe 4.0 x16", 16, 16, false, NULL);
        check_advice(&inventory, "nvme1", "PCIEX16_5 (with an M.2 adapter card)");
        check_place(&inventory, "nvme1", "PCIEX16_5");
        forget(&inventory);
}

/* What cannot be read makes no finding and hides none. */
static void test_cannot_tell(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;
        PnNvme *one;

        (void)state;
        one = seat(&inventory, "0000:00:01.1", "0000:01:00.0", "nvme0", "A", (Ends){8, 4, 8, 4},
                   (Ends){0, 0, 0, 0});
        assert_int_equal(pn_set_text(&one->state, NULL), 0);
        one->state.state = PN_UNREAD_IO;
        status = assess(&inventory, NULL, NOW);
        assert_int_equal(status.findings.n, 0);
        assert_string_equal(status.ratings.v[0].verdict.v, "unknown");
        assert_string_equal(status.summary.v, "No PCI Express link can be judged here.");
        done(&status);
        forget(&inventory);
}

static void test_ids(void **state)
{
        PnInventory before = {0}, after = {0}, twins = {0};
        PnStatus first, second;
        const PnFinding *old, *new;

        (void)state;
        seat(&before, "0000:00:01.1", "0000:01:00.0", "nvme0", "A", (Ends){16, 1, 16, 1},
             (Ends){16, 1, 16, 4});
        /* After a reboot the same drive has another name and another bus number. */
        seat(&after, "0000:00:01.1", "0000:07:00.0", "nvme5", "A", (Ends){16, 1, 16, 1},
             (Ends){16, 1, 16, 4});
        first = assess(&before, NULL, NOW);
        second = assess(&after, &first, LATER);
        old = finding(&first, "pcie.slot_limited", "nvme0");
        new = finding(&second, "pcie.slot_limited", "nvme5");
        assert_string_equal(old->id.v, new->id.v);
        assert_string_equal(new->since.v, NOW);
        done(&first);
        done(&second);

        /* Two drives with one serial are two things; their ids go by their places. */
        seat(&twins, "0000:00:01.1", "0000:01:00.0", "nvme0", "0", (Ends){16, 1, 16, 1},
             (Ends){16, 1, 16, 4});
        seat(&twins, "0000:00:01.2", "0000:02:00.0", "nvme1", "0", (Ends){16, 1, 16, 1},
             (Ends){16, 1, 16, 4});
        for (unsigned i = 0; i < 2; i++)
                assert_int_equal(pn_format_text(&twins.nvme.v[i].subsystem, "nqn.%u", i), 0);
        first = assess(&twins, NULL, NOW);
        assert_int_equal(first.findings.n, 2);
        assert_string_not_equal(first.findings.v[0].id.v, first.findings.v[1].id.v);
        done(&first);
        forget(&before);
        forget(&after);
        forget(&twins);
}

/* What the administrator says is meant to be is a note. */
static void test_expected_link(void **state)
{
        PnExpectedLink expected = {(char[]){"B"}, 8, 4};
        PnPolicy policy = PN_POLICY_DEFAULT;
        PnInventory inventory = {0};
        PnStatus status;

        (void)state;
        seat(&inventory, "0000:00:01.1", "0000:01:00.0", "nvme0", "B", (Ends){8, 4, 8, 4},
             (Ends){8, 4, 16, 4});
        policy.n_links = 1;
        policy.links = &expected;
        assert_int_equal(pn_join(&inventory), 0);
        assert_int_equal(pn_assess(&inventory, (PnBefore){0}, &policy, NOW, &status), 0);
        assert_string_equal(finding(&status, "pcie.slot_limited", "nvme0")->severity.v, "info");
        done(&status);
        /* Less than that is a finding again. */
        expected.speed = 16;
        assert_int_equal(pn_assess(&inventory, (PnBefore){0}, &policy, NOW, &status), 0);
        assert_string_equal(finding(&status, "pcie.slot_limited", "nvme0")->severity.v, "notice");
        done(&status);
        forget(&inventory);
}

static void test_drives(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;

        (void)state;
        drive(&inventory, "nvme0", "0000:01:00.0", "A")->lost = pn_bool(true);
        assert_int_equal(pn_set_text(&drive(&inventory, "nvme1", NULL, "B")->state, "resetting"),
                         0);
        drive(&inventory, "nvme2", NULL, "C");
        status = assess(&inventory, NULL, NOW);
        assert_int_equal(status.findings.n, 2);
        /* Worst first. */
        assert_string_equal(status.findings.v[0].code.v, "nvme.lost");
        assert_string_equal(finding(&status, "nvme.not_live", "nvme1")->severity.v, "warning");
        done(&status);
        forget(&inventory);
}

/* A device that hangs is told, keeps its place, and its slot is not given away. */
static void test_stuck(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;
        PnPci *root, *hung;

        (void)state;
        seat(&inventory, "0000:00:01.2", "0000:02:00.0", "nvme3", "B", (Ends){16, 1, 16, 1},
             (Ends){16, 1, 16, 4});
        root = port(&inventory, "0000:00:01.1", "root_port", NULL, (Ends){16, 4, 16, 4});
        root->slot_implemented = pn_bool(true);
        root->secondary_bus = pn_int(1);
        hung = pci(&inventory, "0000:01:00.0", "endpoint", NULL, NVME_CLASS);
        assert_int_equal(pn_set_text(&hung->kind, NULL), 0);
        hung->kind.state = hung->link.state = hung->parent.state = PN_UNREAD_TIMEOUT;
        status = assess(&inventory, NULL, NOW);
        assert_string_equal(finding(&status, "probe.stuck", "0000:01:00.0")->severity.v, "warning");
        assert_non_null(strstr(status.summary.v, "1 device does not answer."));
        done(&status);
        check_advice(&inventory, "nvme3", "No free place is known");
        forget(&inventory);
}

static void test_drive_without_controller(void **state)
{
        PnInventory inventory = {0};
        PnSource *source = PN_APPEND(&inventory.sources);
        PnStatus status;

        (void)state;
        assert_non_null(source);
        assert_int_equal(pn_set_text(&source->name, "nvme"), 0);
        assert_int_equal(pn_set_text(&source->state, "fresh"), 0);
        port(&inventory, "0000:00:01.1", "root_port", NULL, (Ends){16, 4, 16, 4});
        endpoint(&inventory, "0000:01:00.0", "0000:00:01.1", NVME_CLASS, (Ends){16, 4, 16, 4});
        status = assess(&inventory, NULL, NOW);
        assert_string_equal(finding(&status, "nvme.not_live", "0000:01:00.0")->severity.v,
                            "warning");
        done(&status);
        /* A guest's drive, and one of which the source was not read, say nothing. */
        inventory.pci.v[1].passed_through = pn_bool(true);
        status = assess(&inventory, NULL, NOW);
        assert_int_equal(status.findings.n, 0);
        done(&status);
        inventory.pci.v[1].passed_through = pn_bool(false);
        assert_int_equal(pn_set_text(&inventory.sources.v[0].state, "never"), 0);
        status = assess(&inventory, NULL, NOW);
        assert_int_equal(status.findings.n, 0);
        done(&status);
        forget(&inventory);
}

/* The slot holds a graphics card back whether it has something to do or not. */
static void test_idle_in_a_slow_slot(void **state)
{
        static const Ends samples[] = {{8, 8, 16, 16}, {2.5, 8, 16, 16}};

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(samples); i++) {
                PnInventory inventory = {0};
                PnStatus status;

                port(&inventory, "0000:00:01.0", "root_port", NULL,
                     (Ends){samples[i].now_speed, 8, 8, 8});
                endpoint(&inventory, "0000:01:00.0", "0000:00:01.0", VGA_CLASS, samples[i]);
                status = assess(&inventory, NULL, NOW);
                assert_int_equal(status.findings.n, 1);
                finding(&status, "pcie.slot_limited", "0000:01:00.0");
                done(&status);
                forget(&inventory);
        }
}

/* Slots that nothing of the kind fits in are no advice. */
static void test_forms(void **state)
{
        static const struct {
                const char *type;
                bool drive_fits, card_fits;
        } rows[] = {{"PCIe 4.0 x16", true, true},
                    {"M.2 socket 3", true, false},
                    {"M.2 socket 1-SD", false, false},
                    {"OCP NIC 3.0 small", false, false},
                    {"U.2", true, false}};

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++)
                for (int is_drive = 0; is_drive < 2; is_drive++) {
                        PnInventory inventory = {0};
                        PnStatus status;
                        bool moved;

                        port(&inventory, "0000:00:01.0", "root_port", NULL, (Ends){8, 1, 8, 1})
                            ->slot_implemented = pn_bool(true);
                        endpoint(&inventory, "0000:01:00.0", "0000:00:01.0",
                                 is_drive ? NVME_CLASS : NIC_CLASS, (Ends){8, 1, 16, 4});
                        slot(&inventory, "FREE", rows[i].type, 16, 4, false, NULL);
                        status = assess(&inventory, NULL, NOW);
                        moved =
                            strstr(finding(&status, "pcie.slot_limited", "0000:01:00.0")->advice.v,
                                   "Move it to FREE") != NULL;
                        assert_int_equal(moved, is_drive ? rows[i].drive_fits : rows[i].card_fits);
                        done(&status);
                        forget(&inventory);
                }
}

static void test_sources(void **state)
{
        static const struct {
                const char *state;
                unsigned findings;
        } rows[] = {{"fresh", 0}, {"never", 0}, {"stale", 1}, {"failed", 1}};

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                PnInventory inventory = {0};
                PnSource *source = PN_APPEND(&inventory.sources);
                PnStatus status;

                assert_non_null(source);
                assert_int_equal(pn_set_text(&source->name, "pci"), 0);
                assert_int_equal(pn_set_text(&source->state, rows[i].state), 0);
                status = assess(&inventory, NULL, NOW);
                assert_int_equal(status.findings.n, rows[i].findings);
                assert_int_equal(status.sources.n, 1);
                done(&status);
                forget(&inventory);
        }
}

static void test_device(void **state)
{
        static const struct {
                const char *name, *kind;
        } rows[] = {{"nvme3", "nvme"},
                    {"nvme3n1", "namespace"},
                    {"0000:02:00.0", "pci"},
                    {"02:00.0", "pci"}};
        PnInventory inventory = {0};
        PnStatus status;
        PnDevice device;

        (void)state;
        seat(&inventory, "0000:00:01.2", "0000:02:00.0", "nvme3", "B", (Ends){16, 1, 16, 1},
             (Ends){16, 1, 16, 4});
        status = assess(&inventory, NULL, NOW);
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                assert_int_equal(pn_device_find(&inventory, &status, rows[i].name, &device), 0);
                assert_string_equal(device.kind.v, rows[i].kind);
                assert_non_null(device.nvme.v);
                assert_non_null(device.pci.v);
                assert_int_equal(device.path.n, 1);
                assert_int_equal(device.findings.n, 1);
                pn_done(pn_type_Device(), &device);
        }
        /* A port's own link, and what is found about it, are told under the other end. */
        assert_int_equal(pn_device_find(&inventory, &status, "00:01.2", &device), 0);
        assert_null(device.nvme.v);
        assert_int_equal(device.path.n, 1);
        assert_string_equal(device.path.v[0].port.v, "0000:00:01.2");
        assert_int_equal(device.findings.n, 1);
        pn_done(pn_type_Device(), &device);
        assert_int_equal(pn_device_find(&inventory, &status, "nvme4", &device), -ENOENT);
        assert_int_equal(pn_device_find(&inventory, &status, "", &device), -ENOENT);
        done(&status);
        forget(&inventory);
}

/* A source that is not fresh is told; one that was never asked, or is, is not. */
static void test_stale_sources(void **state)
{
        static const struct {
                const char *name, *state, *reason, *wanted;
        } rows[] = {
            {"pci", "fresh", NULL, NULL},
            {"nvme", "never", NULL, NULL},
            {"net", "stale", "no end within 10 s",
             "What is shown of net is out of date: no end within 10 s."},
            {"module", "failed", "it crashed", "What is shown of module is missing: it crashed."},
            {"health", NULL, NULL, NULL},
        };
        PnInventory inventory = {0};
        PnStatus status;
        unsigned n = 0;

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                PnSource *source = PN_APPEND(&inventory.sources);

                assert_non_null(source);
                assert_int_equal(pn_set_text(&source->name, rows[i].name), 0);
                assert_int_equal(pn_set_text(&source->state, rows[i].state), 0);
                assert_int_equal(pn_set_text(&source->reason, rows[i].reason), 0);
        }
        status = assess(&inventory, NULL, NOW);
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++)
                for (unsigned k = 0; rows[i].wanted && k < status.findings.n; k++)
                        if (pn_text_is(&status.findings.v[k].summary, rows[i].wanted)) {
                                assert_string_equal(status.findings.v[k].code.v, "probe.stale");
                                n++;
                        }
        assert_int_equal(n, 2);
        assert_int_equal(status.findings.n, 2);
        done(&status);
        forget(&inventory);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_all_well),
            cmocka_unit_test(test_stale_sources),
            cmocka_unit_test(test_empty),
            cmocka_unit_test(test_slot_limited),
            cmocka_unit_test(test_degraded_severity),
            cmocka_unit_test(test_degraded_uplink),
            cmocka_unit_test(test_path_limited),
            cmocka_unit_test(test_better_place),
            cmocka_unit_test(test_cannot_tell),
            cmocka_unit_test(test_ids),
            cmocka_unit_test(test_expected_link),
            cmocka_unit_test(test_drives),
            cmocka_unit_test(test_sources),
            cmocka_unit_test(test_stuck),
            cmocka_unit_test(test_drive_without_controller),
            cmocka_unit_test(test_idle_in_a_slow_slot),
            cmocka_unit_test(test_forms),
            cmocka_unit_test(test_device),
        };

        return cmocka_run_group_tests_name("assess", tests, NULL, NULL);
}
