/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Network ports, bonds and modules: what each rule makes of facts that fire it, that do not, and
 * that do not tell. */

#include "machine.h"

#include <stdio.h>

#include "assess.h"
#include "device.h"
#include "linkmode.h"
#include "ports.h"
#include "told.h"

#define NOW "2026-01-02T03:04:05Z"

/* Of the last assessment. */
static PnPorts ports;

static PnStatus assess(PnInventory *inventory)
{
        PnStatus status = {0};
        PnRatings ratings = {0};

        assert_int_equal(pn_join(inventory), 0);
        assert_int_equal(pn_assess(inventory, (PnBefore){0}, NULL, NOW, &status), 0);
        check_told(&status);
        pn_ports_done(&ports);
        assert_int_equal(pn_rate(inventory, &ratings), 0);
        assert_int_equal(pn_ports_judge(inventory, &ratings, &ports), 0);
        pn_ratings_done(&ratings);
        return status;
}

static void done(PnStatus *status, PnInventory *inventory)
{
        pn_done(pn_type_Status(), status);
        pn_ports_done(&ports);
        forget(inventory);
}

static const PnFinding *find(const PnStatus *status, const char *code)
{
        for (unsigned i = 0; i < status->findings.n; i++)
                if (pn_text_is(&status->findings.v[i].code, code))
                        return &status->findings.v[i];
        return NULL;
}

static unsigned count(const PnStatus *status, const char *code)
{
        unsigned n = 0;

        for (unsigned i = 0; i < status->findings.n; i++)
                n += pn_text_is(&status->findings.v[i].code, code);
        return n;
}

static void assert_none(const PnStatus *status)
{
        for (unsigned i = 0; i < status->findings.n; i++)
                print_error("unexpected: %s: %s\n", status->findings.v[i].code.v,
                            status->findings.v[i].summary.v);
        assert_int_equal(status->findings.n, 0);
}

static bool affects(const PnFinding *finding, const char *what)
{
        for (unsigned i = 0; i < finding->affects.n; i++)
                if (strcmp(finding->affects.v[i], what) == 0)
                        return true;
        return false;
}

static void set_speeds(PnReals *list, const int *mbps)
{
        for (; *mbps; mbps++)
                assert_int_equal(pn_reals_append(list, *mbps), 0);
}

#define SPEEDS(list, ...) set_speeds((list), (const int[]){__VA_ARGS__, 0})

/* A port that is up, at its best, on copper. Its module field is that of a port without a cage. */
static PnNic *nic(PnInventory *inventory, const char *name, const char *address, int speed)
{
        PnNic *nic = PN_APPEND(&inventory->nics);
        PnModule *module;

        assert_non_null(nic);
        assert_int_equal(pn_set_text(&nic->id, name), 0);
        assert_int_equal(pn_set_text(&nic->name, name), 0);
        assert_int_equal(pn_set_text(&nic->kind, "physical"), 0);
        assert_int_equal(pn_set_text(&nic->address, address), 0);
        assert_int_equal(pn_set_text(&nic->duplex, "full"), 0);
        assert_int_equal(pn_set_text(&nic->port, "tp"), 0);
        assert_int_equal(
            pn_format_text(&nic->permanent_mac, "02:00:00:00:00:%02x", inventory->nics.n), 0);
        nic->enabled = nic->carrier = nic->autonegotiation = pn_bool(true);
        nic->carrier_changes = pn_int(2);
        if (speed) {
                nic->speed_mbps = pn_int(speed);
                SPEEDS(&nic->supported_mbps, speed);
        }
        module = PN_NEW(&nic->module);
        assert_non_null(module);
        assert_int_equal(pn_set_text(&module->status, "none"), 0);
        return nic;
}

static PnModule *plug(PnNic *nic, const char *form, const char *type, int mbd)
{
        PnModule *module = nic->module.v;

        assert_int_equal(pn_set_text(&module->status, "present"), 0);
        assert_int_equal(pn_set_text(&module->form, form), 0);
        assert_int_equal(pn_set_text(&module->type, type), 0);
        assert_int_equal(pn_set_text(&nic->port, "fibre"), 0);
        nic->autonegotiation = pn_bool(false);
        module->nominal_mbd = pn_int(mbd);
        return module;
}

static PnModuleLimits limits(double low_alarm, double low_warning, double high_warning,
                             double high_alarm)
{
        return (PnModuleLimits){.high_alarm = pn_real(high_alarm),
                                .high_warning = pn_real(high_warning),
                                .low_warning = pn_real(low_warning),
                                .low_alarm = pn_real(low_alarm)};
}

/* A module that measures 35 degrees and good light, with or without limits of its own. */
static PnModuleDiagnostics *measure(PnModule *module, bool with_limits)
{
        PnModuleDiagnostics *diagnostics = PN_NEW(&module->diagnostics);
        PnModuleThresholds *thresholds;
        PnModuleLane *lane;

        assert_non_null(diagnostics);
        diagnostics->temperature_c = pn_real(35);
        diagnostics->voltage_v = pn_real(3.3);
        lane = PN_APPEND(&diagnostics->lanes);
        assert_non_null(lane);
        lane->rx_power_mw = pn_real(0.5);
        lane->rx_power_dbm = pn_real(-3.01);
        lane->tx_power_mw = pn_real(0.6);
        lane->tx_power_dbm = pn_real(-2.22);
        lane->bias_ma = pn_real(6);
        if (!with_limits)
                return diagnostics;
        thresholds = PN_NEW(&diagnostics->thresholds);
        assert_non_null(thresholds);
        assert_non_null(PN_NEW(&thresholds->temperature));
        assert_non_null(PN_NEW(&thresholds->voltage));
        assert_non_null(PN_NEW(&thresholds->rx_power));
        assert_non_null(PN_NEW(&thresholds->tx_power));
        assert_non_null(PN_NEW(&thresholds->bias));
        *thresholds->temperature.v = limits(-10, 0, 70, 80);
        *thresholds->voltage.v = limits(3.0, 3.1, 3.5, 3.6);
        *thresholds->rx_power.v = limits(0.0229, 0.04, 1, 1.2);
        *thresholds->tx_power.v = limits(0.2, 0.3, 0.9, 1);
        *thresholds->bias.v = limits(2, 3, 10, 12);
        return diagnostics;
}

/* ---- speeds ---- */

static void test_full(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;

        (void)state;
        (void)nic(&inventory, "eno1", NULL, 1000);
        status = assess(&inventory);
        assert_none(&status);
        assert_int_equal(ports.n, 1);
        assert_true(pn_text_is(&ports.v[0].verdict, "full"));
        assert_int_equal(ports.v[0].best_mbps.v, 1000);
        done(&status, &inventory);
}

/* Case 062: a damaged pair. */
static void test_slow_by_cable(void **state)
{
        PnInventory inventory = {0};
        const PnFinding *finding;
        PnStatus status;
        PnNic *port;

        (void)state;
        port = nic(&inventory, "eno1", NULL, 0);
        port->speed_mbps = pn_int(100);
        SPEEDS(&port->supported_mbps, 10, 100, 1000);
        SPEEDS(&port->advertised_mbps, 10, 100, 1000);
        SPEEDS(&port->partner_mbps, 10, 100, 1000);
        status = assess(&inventory);
        finding = find(&status, "nic.slow");
        assert_non_null(finding);
        assert_string_equal(finding->severity.v, "warning");
        assert_string_equal(finding->summary.v, "eno1 runs at 100 Mb/s, although port and partner "
                                                "can do 1 Gb/s: most likely the cable.");
        assert_string_equal(finding->subject.v, "port 02:00:00:00:00:01");
        assert_true(pn_text_is(&ports.v[0].limiter, "cable"));
        assert_non_null(strstr(status.summary.v, "1 network port runs slower than it should."));
        done(&status, &inventory);
}

/* Many drivers do not say what the partner offers. A gigabit port at 100 Mb/s is worth a look all
 * the same; a 10G port at 1 Gb/s cannot be judged. */
static void test_slow_partner_unknown(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;
        PnNic *port;

        (void)state;
        port = nic(&inventory, "eno1", NULL, 0);
        port->speed_mbps = pn_int(100);
        SPEEDS(&port->supported_mbps, 10, 100, 1000);
        port = nic(&inventory, "eno2", NULL, 0);
        port->speed_mbps = pn_int(1000);
        SPEEDS(&port->supported_mbps, 1000, 10000);
        status = assess(&inventory);
        assert_int_equal(count(&status, "nic.slow"), 2);
        assert_string_equal(status.findings.v[0].device.v, "eno1");
        assert_string_equal(status.findings.v[0].severity.v, "warning");
        assert_string_equal(status.findings.v[1].severity.v, "info");
        assert_true(pn_text_is(&ports.v[1].verdict, "limited"));
        assert_true(pn_text_is(&ports.v[1].limiter, "unknown"));
        done(&status, &inventory);
}

/* Case 061: what limits is named, and is no fault. */
static void test_limited(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;
        PnNic *port;

        (void)state;
        port = nic(&inventory, "ens1", NULL, 0);
        port->speed_mbps = pn_int(10000);
        SPEEDS(&port->supported_mbps, 1000, 10000, 25000);
        (void)plug(port, "SFP+", "10GBASE-SR", 10300);
        port = nic(&inventory, "ens2", NULL, 0);
        port->speed_mbps = pn_int(1000);
        SPEEDS(&port->supported_mbps, 100, 1000, 10000);
        SPEEDS(&port->partner_mbps, 10, 100, 1000);
        port = nic(&inventory, "ens3", NULL, 0);
        port->speed_mbps = pn_int(10000);
        SPEEDS(&port->supported_mbps, 10000, 25000);
        (void)plug(port, "SFP+", "passive copper", 10300);
        status = assess(&inventory);
        assert_int_equal(count(&status, "nic.slow"), 3);
        for (unsigned i = 0; i < 3; i++)
                assert_string_equal(status.findings.v[i].severity.v, "info");
        assert_true(pn_text_is(&ports.v[0].limiter, "module"));
        assert_true(pn_text_is(&ports.v[1].limiter, "partner"));
        assert_true(pn_text_is(&ports.v[2].limiter, "cable"));
        assert_int_equal(ports.v[0].expected_mbps.v, 10000);
        done(&status, &inventory);
}

static void test_slow_by_setting(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;
        PnNic *port;

        (void)state;
        port = nic(&inventory, "eno1", NULL, 0);
        port->speed_mbps = pn_int(100);
        port->autonegotiation = pn_bool(false);
        SPEEDS(&port->supported_mbps, 10, 100, 1000);
        port = nic(&inventory, "eno2", NULL, 0);
        port->speed_mbps = pn_int(1000);
        SPEEDS(&port->supported_mbps, 1000, 10000);
        SPEEDS(&port->advertised_mbps, 1000);
        SPEEDS(&port->partner_mbps, 1000, 10000);
        status = assess(&inventory);
        assert_true(pn_text_is(&ports.v[0].limiter, "setting"));
        assert_true(pn_text_is(&ports.v[1].limiter, "setting"));
        /* One is not let negotiate; one does, and offers too little. */
        assert_non_null(strstr(status.findings.v[0].advice.v, "ethtool -s eno1 autoneg on`"));
        assert_non_null(strstr(status.findings.v[0].summary.v, "it is set to that"));
        assert_non_null(strstr(status.findings.v[1].advice.v,
                               "ethtool -s eno2 speed 10000 duplex full autoneg on`"));
        assert_non_null(strstr(status.findings.v[1].summary.v, "it is set to offer no more"));
        done(&status, &inventory);
}

/* A module that carries 10 Gb/s in a port that runs at 1. */
static void test_slow_on_fibre(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;
        PnNic *port;

        (void)state;
        port = nic(&inventory, "ens1", NULL, 0);
        port->speed_mbps = pn_int(1000);
        SPEEDS(&port->supported_mbps, 1000, 10000);
        (void)plug(port, "SFP+", "10GBASE-LRM", 10300);
        status = assess(&inventory);
        assert_true(pn_text_is(&ports.v[0].verdict, "slow"));
        assert_string_equal(find(&status, "nic.slow")->summary.v,
                            "ens1 runs at 1 Gb/s, although port and module can do 10 Gb/s: a "
                            "setting, or the partner.");
        done(&status, &inventory);
}

/* No speed, an unread speed, no link, not set up: nothing is said. */
static void test_cannot_tell_speed(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;
        PnNic *port;

        (void)state;
        port = nic(&inventory, "eno1", NULL, 0);
        port->speed_mbps.state = PN_UNREAD_TIMEOUT;
        SPEEDS(&port->supported_mbps, 1000);
        port = nic(&inventory, "eno2", NULL, 0);
        port->speed_mbps = pn_int(100);
        port->supported_mbps.state = PN_UNREAD_ASLEEP;
        port = nic(&inventory, "eno3", NULL, 1000);
        port->carrier = pn_bool(false);
        port->speed_mbps = (PnInt){0};
        port = nic(&inventory, "eno4", NULL, 1000);
        port->enabled = pn_bool(false);
        port = nic(&inventory, "eno5", NULL, 1000);
        port->carrier.state = PN_UNREAD_TIMEOUT;
        port = nic(&inventory, "ens6", NULL, 0); /* virtio */
        pn_take_text(&port->duplex, NULL);
        status = assess(&inventory);
        assert_none(&status);
        assert_true(pn_text_is(&ports.v[0].verdict, "unknown"));
        assert_true(pn_text_is(&ports.v[1].verdict, "unknown"));
        assert_true(pn_text_is(&ports.v[2].verdict, "no_link"));
        assert_true(pn_text_is(&ports.v[3].verdict, "off"));
        assert_true(pn_text_is(&ports.v[4].verdict, "unknown"));
        assert_true(pn_text_is(&ports.v[5].verdict, "unknown"));
        done(&status, &inventory);
}

static void test_half_duplex(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;
        PnNic *port;

        (void)state;
        port = nic(&inventory, "eno1", NULL, 100);
        assert_int_equal(pn_set_text(&port->duplex, "half"), 0);
        port = nic(&inventory, "eno2", NULL, 100);
        assert_int_equal(pn_set_text(&port->duplex, "half"), 0);
        port->carrier = pn_bool(false);
        port = nic(&inventory, "eno3", NULL, 100);
        port->duplex.state = PN_UNREAD_IO;
        status = assess(&inventory);
        assert_int_equal(status.findings.n, 1);
        assert_non_null(find(&status, "nic.half_duplex"));
        assert_string_equal(status.findings.v[0].device.v, "eno1");
        done(&status, &inventory);
}

/* ---- ports without an interface ---- */

static PnNic *lone(PnInventory *inventory, const char *address, const char *reason)
{
        PnNic *nic = PN_APPEND(&inventory->nics);

        assert_non_null(nic);
        assert_int_equal(pn_set_text(&nic->id, address), 0);
        assert_int_equal(pn_set_text(&nic->address, address), 0);
        assert_int_equal(pn_set_text(&nic->kind, "physical"), 0);
        assert_int_equal(pn_set_text(&nic->reason, reason), 0);
        return nic;
}

static PnPci *card(PnInventory *inventory, const char *address, const char *vendor,
                   const char *device, Ends ends)
{
        PnPci *function = endpoint(inventory, address, "0000:00:01.0", NIC_CLASS, ends);

        assert_int_equal(pn_set_text(&function->vendor_id, vendor), 0);
        assert_int_equal(pn_set_text(&function->device_id, device), 0);
        return function;
}

/* Case 057: ixgbe and a foreign SFP+. */
static void test_refused_module(void **state)
{
        PnInventory inventory = {0};
        const PnFinding *finding;
        PnStatus status;
        PnDevice device;
        PnNic *port_0;

        (void)state;
        port(&inventory, "0000:00:01.0", "root_port", NULL, (Ends){5, 8, 8, 8});
        card(&inventory, "0000:04:00.0", "0x8086", "0x10fb", (Ends){5, 8, 5, 8});
        card(&inventory, "0000:04:00.1", "0x8086", "0x10fb", (Ends){5, 8, 5, 8});
        port_0 = nic(&inventory, "enp4s0f0", "0000:04:00.0", 10000);
        assert_int_equal(pn_set_text(&port_0->driver, "ixgbe"), 0);
        lone(&inventory, "0000:04:00.1", "no_driver");
        status = assess(&inventory);
        assert_int_equal(status.findings.n, 1);
        finding = find(&status, "nic.no_interface");
        assert_non_null(finding);
        assert_string_equal(finding->severity.v, "warning");
        assert_string_equal(finding->address.v, "0000:04:00.1");
        assert_non_null(strstr(finding->summary.v, "ixgbe probably refused the module"));
        assert_non_null(strstr(finding->advice.v, "allow_unsupported_sfp=1"));
        assert_string_equal(status.ratings.v[0].name.v, "enp4s0f0");

        /* It is about that port and not about the other, which has the same link. */
        assert_int_equal(pn_device_find(&inventory, &status, "enp4s0f0", &device), 0);
        assert_string_equal(device.kind.v, "nic");
        assert_int_equal(device.findings.n, 0);
        assert_int_equal(device.path.n, 1);
        pn_done(pn_type_Device(), &device);
        assert_int_equal(pn_device_find(&inventory, &status, "04:00.1", &device), 0);
        assert_int_equal(device.findings.n, 1);
        assert_non_null(device.nic.v);
        assert_true(pn_text_is(&device.port.v->verdict, "no_interface"));
        pn_done(pn_type_Device(), &device);
        pn_done(pn_type_Status(), &status);

        /* Put in later: the driver stays, the interface goes. */
        for (unsigned i = 0; i < inventory.nics.n; i++)
                if (!pn_text(&inventory.nics.v[i].name)) {
                        assert_int_equal(pn_set_text(&inventory.nics.v[i].reason, "none_made"), 0);
                        assert_int_equal(pn_set_text(&inventory.nics.v[i].driver, "ixgbe"), 0);
                }
        status = assess(&inventory);
        finding = find(&status, "nic.no_interface");
        assert_non_null(finding);
        assert_non_null(strstr(finding->summary.v, "ixgbe probably refused the module"));
        assert_non_null(
            strstr(finding->detail.v, "but made no interface for it, although its other port"));
        assert_non_null(strstr(finding->advice.v, "allow_unsupported_sfp=1"));
        done(&status, &inventory);
}

static void test_no_driver(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;

        (void)state;
        port(&inventory, "0000:00:01.0", "root_port", NULL, (Ends){8, 8, 8, 8});
        card(&inventory, "0000:05:00.0", "0x14e4", "0x16d8", (Ends){8, 8, 8, 8});
        lone(&inventory, "0000:05:00.0", "no_driver");
        status = assess(&inventory);
        assert_int_equal(status.findings.n, 1);
        assert_non_null(strstr(status.findings.v[0].summary.v, "no driver runs it"));
        done(&status, &inventory);
}

/* Given to a guest or a container, or InfiniBand, which needs none. */
static void test_no_interface_is_well(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;

        (void)state;
        lone(&inventory, "0000:05:00.0", "passed_through");
        lone(&inventory, "0000:05:00.1", "other_namespace");
        pci(&inventory, "0000:06:00.0", "endpoint", NULL, "0x020700");
        lone(&inventory, "0000:06:00.0", "none_made");
        status = assess(&inventory);
        assert_none(&status);
        done(&status, &inventory);
}

static void test_pcie_short(void **state)
{
        PnInventory inventory = {0};
        const PnFinding *finding;
        PnStatus status;
        PnNic *second;

        (void)state;
        port(&inventory, "0000:00:01.0", "root_port", NULL, (Ends){5, 4, 8, 4});
        card(&inventory, "0000:04:00.0", "0x8086", "0x10fb", (Ends){5, 4, 5, 4});
        card(&inventory, "0000:04:00.1", "0x8086", "0x10fb", (Ends){5, 4, 5, 4});
        (void)nic(&inventory, "enp4s0f0", "0000:04:00.0", 10000);
        second = nic(&inventory, "enp4s0f1", "0000:04:00.1", 10000);
        assert_int_equal(pn_set_text(&second->master, "vmbr1"), 0);
        assert_int_equal(pn_set_text(&nic(&inventory, "vmbr1", NULL, 0)->kind, "bridge"), 0);
        status = assess(&inventory);
        finding = find(&status, "nic.pcie_short");
        assert_non_null(finding);
        assert_string_equal(finding->summary.v, "2 ports of the card of enp4s0f0 can do 20 Gb/s, "
                                                "but PCI Express gives the card only 16 Gb/s.");
        assert_true(affects(finding, "bridge vmbr1"));
        pn_done(pn_type_Status(), &status);

        /* Of a port that does not say what it can, nothing is counted. */
        for (unsigned i = 0; i < inventory.nics.n; i++)
                if (pn_text_is(&inventory.nics.v[i].name, "enp4s0f1"))
                        inventory.nics.v[i].supported_mbps.state = PN_UNREAD_TIMEOUT;
        status = assess(&inventory);
        assert_null(find(&status, "nic.pcie_short"));
        pn_done(pn_type_Status(), &status);
        for (unsigned i = 0; i < inventory.nics.n; i++)
                inventory.nics.v[i].supported_mbps.state =
                    inventory.nics.v[i].supported_mbps.v ? PN_KNOWN : PN_ABSENT;
        forget(&inventory);
}

/* ---- bonds ---- */

typedef struct Member {
        const char *name;
        bool up;
        int aggregator, actor;
        const char *partner;
        int partner_state;
} Member;

static PnNic *bond(PnInventory *inventory, const char *name, const char *mode, int aggregator,
                   const Member *members, size_t n)
{
        PnNic *above = PN_APPEND(&inventory->nics);
        PnBond *bond;

        assert_non_null(above);
        assert_int_equal(pn_set_text(&above->id, name), 0);
        assert_int_equal(pn_set_text(&above->name, name), 0);
        assert_int_equal(pn_set_text(&above->kind, "bond"), 0);
        above->enabled = above->carrier = pn_bool(true);
        bond = PN_NEW(&above->bond);
        assert_non_null(bond);
        assert_int_equal(pn_set_text(&bond->mode, mode), 0);
        if (aggregator)
                bond->active_aggregator = pn_int(aggregator);
        for (size_t i = 0; i < n; i++) {
                PnBondMember *member = PN_APPEND(&bond->members);

                assert_non_null(member);
                assert_int_equal(pn_set_text(&member->name, members[i].name), 0);
                assert_int_equal(pn_set_text(&member->partner_mac, members[i].partner), 0);
                member->mii_up = pn_bool(members[i].up);
                if (members[i].aggregator)
                        member->aggregator = pn_int(members[i].aggregator);
                if (members[i].actor)
                        member->actor_state = pn_int(members[i].actor);
                if (members[i].partner_state)
                        member->partner_state = pn_int(members[i].partner_state);
        }
        return above;
}

/* Bonds of two ports whose names start alike. */
static void ports_of(PnInventory *inventory, const char *master)
{
        const char *const names[] = {"enp7s0", "enp8s0"};

        for (size_t i = 0; i < 2; i++)
                assert_int_equal(
                    pn_set_text(&nic(inventory, names[i], NULL, 10000)->master, master), 0);
}

#define PARTNER "00:1c:73:00:00:01"

/* Case 063. */
static void test_aggregator_split(void **state)
{
        static const Member members[] = {{"enp7s0", true, 1, 5, PARTNER, 0},
                                         {"enp8s0", true, 2, 61, PARTNER, 0}};
        PnInventory inventory = {0};
        const PnFinding *finding;
        PnStatus status;

        (void)state;
        ports_of(&inventory, "bond0");
        (void)bond(&inventory, "bond0", "802.3ad", 2, members, 2);
        status = assess(&inventory);
        assert_int_equal(status.findings.n, 1);
        finding = find(&status, "bond.degraded");
        assert_non_null(finding);
        assert_string_equal(finding->summary.v,
                            "The bond bond0 is degraded: enp7s0 is in another aggregator. One of 2 "
                            "members carries all of its traffic.");
        assert_string_equal(finding->severity.v, "warning");
        assert_non_null(strstr(status.summary.v, "1 bond is degraded."));
        done(&status, &inventory);
}

/* What it runs at keeps a member apart: other cables or modules then, and not another setting of
 * the switch. */
static void test_other_speed(void **state)
{
        static const Member members[] = {{"enp7s0", true, 2, 61, PARTNER, 61},
                                         {"enp8s0", true, 1, 5, PARTNER, 5}};
        /* Slower; slower and half duplex; half duplex alone. */
        static const char slower[] =
            "802.3ad takes only links of one speed together. enp8s0 runs at "
            "1 Gb/s, but the members that carry traffic run at 10 Gb/s.";
        static const char both[] =
            "802.3ad takes only links of one speed together, and none that is "
            "half duplex. enp8s0 runs at 1 Gb/s and half duplex, but the "
            "members that carry traffic run at 10 Gb/s.";
        static const char half[] =
            "802.3ad takes no link that is half duplex. enp8s0 runs at 10 Gb/s "
            "and half duplex.";
        static const char *const details[] = {slower, both, half};
        PnInventory inventory = {0};
        const PnFinding *finding;
        PnStatus status;

        (void)state;
        for (size_t how = 0; how < PN_ELEMENTS(details); how++) {
                ports_of(&inventory, "bond0");
                if (how > 0)
                        assert_int_equal(pn_set_text(&inventory.nics.v[1].duplex, "half"), 0);
                if (how < 2)
                        inventory.nics.v[1].speed_mbps = pn_int(1000);
                (void)bond(&inventory, "bond0", "802.3ad", 2, members, 2);
                status = assess(&inventory);
                finding = find(&status, "bond.degraded");
                assert_non_null(finding);
                assert_string_equal(finding->detail.v, details[how]);
                assert_non_null(strstr(finding->advice.v, "at the same speed"));
                done(&status, &inventory);
                inventory = (PnInventory){0};
        }
}

static void test_lacp(void **state)
{
        static const struct {
                Member members[2];
                const char *says; /* NULL: no finding */
        } cases[] = {
            {{{"enp7s0", true, 1, 61, PARTNER, 0}, {"enp8s0", true, 1, 61, PARTNER, 0}}, NULL},
            {{{"enp7s0", true, 1, 61, PARTNER, 0}, {"enp8s0", true, 1, 5, PARTNER, 0}},
             "not in sync"},
            {{{"enp7s0", true, 1, 69, "00:00:00:00:00:00", 0},
              {"enp8s0", true, 2, 69, "00:00:00:00:00:00", 0}},
             "no LACP partner"},
            /* Not read: no telling. */
            {{{"enp7s0", true, 1, 61, PARTNER, 0}, {"enp8s0", true, 1, 0, PARTNER, 0}}, NULL},
            /* A partner that takes nothing, and one that does (with another timeout). */
            {{{"enp7s0", true, 1, 61, PARTNER, 61}, {"enp8s0", true, 1, 61, PARTNER, 5}},
             "enp8s0 is not in sync"},
            {{{"enp7s0", true, 1, 61, PARTNER, 61}, {"enp8s0", true, 1, 61, PARTNER, 13}},
             "enp8s0 is not in sync"},
            {{{"enp7s0", true, 1, 63, PARTNER, 63}, {"enp8s0", true, 1, 61, PARTNER, 60}}, NULL},
            /* Who does not see the partner's address sees that there is none. */
            {{{"enp7s0", true, 1, 77, NULL, 0}, {"enp8s0", true, 2, 69, NULL, 0}},
             "enp7s0 finds no LACP partner, enp8s0 finds no LACP partner"},
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                PnInventory inventory = {0};
                PnStatus status;

                ports_of(&inventory, "bond0");
                (void)bond(&inventory, "bond0", "802.3ad", 1, cases[i].members, 2);
                status = assess(&inventory);
                if (cases[i].says) {
                        assert_non_null(find(&status, "bond.degraded"));
                        assert_non_null(
                            strstr(find(&status, "bond.degraded")->summary.v, cases[i].says));
                        /* Without any partner the kernel uses one all the same. */
                        assert_non_null(strstr(find(&status, "bond.degraded")->summary.v,
                                               "One of 2 members carries all of its traffic."));
                        assert_string_equal(find(&status, "bond.degraded")->severity.v, "warning");
                } else {
                        assert_none(&status);
                }
                done(&status, &inventory);
        }
}

static void test_member_down(void **state)
{
        static const Member members[] = {{"enp7s0", true, 0, 0, NULL, 0},
                                         {"enp8s0", false, 0, 0, NULL, 0}};
        PnInventory inventory = {0};
        const PnFinding *finding;
        PnStatus status;
        PnNic *vlan;

        (void)state;
        ports_of(&inventory, "bond0");
        inventory.nics.v[1].carrier = pn_bool(false);
        (void)bond(&inventory, "bond0", "active-backup", 0, members, 2);
        vlan = nic(&inventory, "bond0.5", NULL, 0);
        assert_int_equal(pn_set_text(&vlan->kind, "vlan"), 0);
        assert_int_equal(pn_set_text(&vlan->lower, "bond0"), 0);
        status = assess(&inventory);
        assert_int_equal(status.findings.n, 1);
        finding = find(&status, "bond.member_down");
        assert_non_null(finding);
        assert_string_equal(finding->device.v, "enp8s0");
        assert_string_equal(finding->summary.v, "enp8s0, a member of the bond bond0, has no link. "
                                                "There is no spare for the one that works.");
        assert_true(affects(finding, "bond bond0"));
        assert_true(affects(finding, "VLAN bond0.5"));
        pn_done(pn_type_Status(), &status);
        /* Somebody set it down: no cable is at fault. */
        for (unsigned i = 0; i < inventory.nics.n; i++)
                if (pn_text_is(&inventory.nics.v[i].id, "enp8s0"))
                        inventory.nics.v[i].enabled = pn_bool(false);
        status = assess(&inventory);
        finding = find(&status, "bond.member_down");
        assert_non_null(finding);
        assert_string_equal(finding->summary.v, "enp8s0, a member of the bond bond0, is set down. "
                                                "There is no spare for the one that works.");
        assert_non_null(strstr(finding->advice.v, "ip link set enp8s0 up"));
        done(&status, &inventory);
}

static void test_all_members_down(void **state)
{
        static const Member members[] = {{"enp7s0", false, 0, 0, NULL, 0},
                                         {"enp8s0", false, 0, 0, NULL, 0}};
        PnInventory inventory = {0};
        PnStatus status;

        (void)state;
        ports_of(&inventory, "bond0");
        (void)bond(&inventory, "bond0", "balance-alb", 0, members, 2);
        status = assess(&inventory);
        assert_int_equal(status.findings.n, 1);
        assert_string_equal(find(&status, "bond.degraded")->severity.v, "critical");
        pn_done(pn_type_Status(), &status);
        /* With LACP it is not the switch's group, either. */
        for (unsigned i = 0; i < inventory.nics.n; i++)
                if (inventory.nics.v[i].bond.v)
                        assert_int_equal(pn_set_text(&inventory.nics.v[i].bond.v->mode, "802.3ad"),
                                         0);
        status = assess(&inventory);
        assert_non_null(strstr(find(&status, "bond.degraded")->advice.v, "Check cables"));
        pn_done(pn_type_Status(), &status);

        /* One that is set down is nobody's concern; one that could not be read tells nothing. */
        for (unsigned i = 0; i < inventory.nics.n; i++)
                if (inventory.nics.v[i].bond.v)
                        inventory.nics.v[i].enabled = pn_bool(false);
        status = assess(&inventory);
        assert_none(&status);
        pn_done(pn_type_Status(), &status);
        for (unsigned i = 0; i < inventory.nics.n; i++)
                if (inventory.nics.v[i].bond.v) {
                        inventory.nics.v[i].enabled = pn_bool(true);
                        inventory.nics.v[i].bond.v->members.v[0].mii_up.state = PN_UNREAD_IO;
                }
        status = assess(&inventory);
        assert_none(&status);
        done(&status, &inventory);
}

/* ---- modules ---- */

/* Case 059. */
static void test_hot_module(void **state)
{
        static const struct {
                double celsius;
                bool own_limits;
                const char *severity;
        } cases[] = {
            {69.9, true, NULL}, {70, true, "warning"},  {80, true, "critical"},
            {74, false, NULL},  {76, false, "warning"}, {86, false, "critical"},
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                PnInventory inventory = {0};
                PnNic *port = nic(&inventory, "ens1", NULL, 10000);
                PnModuleDiagnostics *diagnostics =
                    measure(plug(port, "SFP+", "10GBASE-SR", 10300), cases[i].own_limits);
                PnStatus status;

                diagnostics->temperature_c = pn_real(cases[i].celsius);
                status = assess(&inventory);
                if (cases[i].severity)
                        assert_string_equal(find(&status, "module.hot")->severity.v,
                                            cases[i].severity);
                else
                        assert_none(&status);
                done(&status, &inventory);
        }
}

static void test_hot_cannot_tell(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;
        PnModuleDiagnostics *diagnostics;

        (void)state;
        diagnostics =
            measure(plug(nic(&inventory, "ens1", NULL, 10000), "SFP+", "10GBASE-SR", 10300), false);
        diagnostics->temperature_c.state = PN_UNREAD_IO;
        diagnostics =
            measure(plug(nic(&inventory, "ens2", NULL, 10000), "SFP+", "10GBASE-SR", 10300), false);
        diagnostics->temperature_c = pn_real(78);
        diagnostics->thresholds.state = PN_UNREAD_IO;
        /* As hot as its scale goes. */
        diagnostics =
            measure(plug(nic(&inventory, "ens3", NULL, 10000), "SFP+", "10GBASE-SR", 10300), true);
        diagnostics->temperature_c = pn_real(127.996);
        status = assess(&inventory);
        assert_none(&status);
        done(&status, &inventory);
}

/* Cases 048 and 049: dark, weak, and a spare module in a port that nobody uses. */
static void test_light(void **state)
{
        static const struct {
                double mw;
                bool carrier, enabled;
                int changes;
                const char *severity, *says;
        } cases[] = {
            {0.5, true, true, 1, NULL, NULL},
            {0, false, true, 2, "warning", "the fibre is dark"},
            {0.0001, false, true, 3, "warning", "the fibre is dark"},
            {0, false, true, 0, NULL, NULL},
            {0, false, false, 2, NULL, NULL},
            {0, true, true, 2, NULL, NULL}, /* a link without light: it does not measure well */
            {0.03, true, true, 1, "notice", "Little light reaches ens1: -15.23 dBm"},
            {0.02, true, true, 1, "warning", "Little light reaches ens1: -16.99 dBm"},
            {0.02, false, true, 2, "warning", "Little light reaches ens1: -16.99 dBm"},
            {0.02, false, true, 0, NULL, NULL}, /* a spare one, in daylight */
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                PnInventory inventory = {0};
                PnNic *port = nic(&inventory, "ens1", NULL, 10000);
                PnModuleDiagnostics *diagnostics =
                    measure(plug(port, "SFP+", "10GBASE-SR", 10300), true);
                PnModuleLane *lane = &diagnostics->lanes.v[0];
                PnStatus status;

                lane->rx_power_mw = pn_real(cases[i].mw);
                lane->rx_power_dbm = cases[i].mw > 0.025   ? pn_real(-15.23)
                                     : cases[i].mw > 0.001 ? pn_real(-16.99)
                                                           : (PnReal){0};
                port->carrier = pn_bool(cases[i].carrier);
                port->enabled = pn_bool(cases[i].enabled);
                port->carrier_changes = pn_int(cases[i].changes);
                status = assess(&inventory);
                if (cases[i].severity) {
                        const PnFinding *finding = find(&status, "module.power_low");

                        assert_non_null(finding);
                        assert_string_equal(finding->severity.v, cases[i].severity);
                        assert_non_null(strstr(finding->summary.v, cases[i].says));
                } else {
                        assert_none(&status);
                }
                done(&status, &inventory);
        }
}

/* One fibre of several that is dark takes the link of all with it. */
static void test_a_dark_lane(void **state)
{
        static const struct {
                bool carrier;
                double lanes[4];
                const char *says;
        } cases[] = {
            {false, {0.5, 0.5, 0, 0.5}, "No light reaches ens1 on lane 3, which had a link"},
            {false, {0, 0.5, 0, 0.5}, "No light reaches ens1 on lanes 1, 3, which had a link"},
            {false, {0, 0, 0, 0}, "No light reaches ens1, which had a link"},
            {true, {0.5, 0, 0, 0}, NULL}, /* of which it uses one */
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                PnInventory inventory = {0};
                PnNic *port = nic(&inventory, "ens1", NULL, 40000);
                PnModuleDiagnostics *diagnostics =
                    measure(plug(port, "QSFP+", "40GBASE-SR4", 10300), true);
                PnStatus status;

                for (size_t k = 0; k < 4; k++) {
                        PnModuleLane *lane =
                            k ? PN_APPEND(&diagnostics->lanes) : &diagnostics->lanes.v[0];

                        assert_non_null(lane);
                        lane->rx_power_mw = pn_real(cases[i].lanes[k]);
                }
                port->carrier = pn_bool(cases[i].carrier);
                status = assess(&inventory);
                if (cases[i].says)
                        assert_non_null(
                            strstr(find(&status, "module.power_low")->summary.v, cases[i].says));
                else
                        assert_none(&status);
                done(&status, &inventory);
        }
}

static void test_light_cannot_tell(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;
        PnNic *port;

        (void)state;
        port = nic(&inventory, "ens1", NULL, 10000);
        measure(plug(port, "SFP+", "10GBASE-SR", 10300), true)->lanes.v[0].rx_power_mw.state =
            PN_UNREAD_UNSUPPORTED;
        port = nic(&inventory, "ens2", NULL, 10000);
        measure(plug(port, "SFP+", "10GBASE-SR", 10300), false)->lanes.v[0].rx_power_mw =
            pn_real(0.01);
        port = nic(&inventory, "ens3", NULL, 10000);
        measure(plug(port, "SFP+", "10GBASE-SR", 10300), true)->lanes.v[0].rx_power_mw = pn_real(0);
        port->carrier.state = PN_UNREAD_TIMEOUT;
        status = assess(&inventory);
        assert_none(&status);
        done(&status, &inventory);
}

static void test_weak_laser(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;
        PnModuleLane *lane;

        (void)state;
        lane =
            &measure(plug(nic(&inventory, "ens1", NULL, 10000), "SFP+", "10GBASE-SR", 10300), true)
                 ->lanes.v[0];
        lane->tx_power_mw = pn_real(0.1);
        lane->tx_power_dbm = pn_real(-10);
        status = assess(&inventory);
        assert_string_equal(find(&status, "module.power_low")->summary.v,
                            "The laser of the module in ens1 fails: it sends -10.00 dBm.");
        pn_done(pn_type_Status(), &status);
        lane->tx_power_mw = pn_real(0);
        lane->tx_power_dbm = (PnReal){0};
        status = assess(&inventory);
        assert_non_null(find(&status, "module.power_low"));
        pn_done(pn_type_Status(), &status);
        /* A link without light and without current: it does not measure what it sends. */
        lane->bias_ma = pn_real(0);
        status = assess(&inventory);
        assert_none(&status);
        done(&status, &inventory);
}

/* Case 054: flags alone are no alarm; a reading beyond the limits is. */
static void test_alarm(void **state)
{
        PnInventory inventory = {0};
        PnModuleDiagnostics *diagnostics;
        PnStatus status;

        (void)state;
        diagnostics =
            measure(plug(nic(&inventory, "ens1", NULL, 10000), "SFP+", "10GBASE-SR", 10300), true);
        assert_int_equal(pn_texts_append(&diagnostics->flags, "voltage_high_alarm"), 0);
        assert_int_equal(pn_texts_append(&diagnostics->flags, "temperature_high_alarm"), 0);
        assert_int_equal(pn_texts_append(&diagnostics->flags, "tx_fault"), 0);
        status = assess(&inventory);
        assert_none(&status);
        pn_done(pn_type_Status(), &status);
        /* A fault is one where there is no light, or no link. */
        inventory.nics.v[0].carrier = pn_bool(false);
        status = assess(&inventory);
        assert_string_equal(find(&status, "module.alarm")->summary.v,
                            "Beyond the limits of the module in ens1: transmitter fault.");
        pn_done(pn_type_Status(), &status);
        inventory.nics.v[0].carrier = pn_bool(true);

        diagnostics->voltage_v = pn_real(3.65);
        diagnostics->lanes.v[0].rx_power_mw = pn_real(2);
        diagnostics->lanes.v[0].rx_power_dbm = pn_real(3.01);
        status = assess(&inventory);
        assert_string_equal(find(&status, "module.alarm")->summary.v,
                            "Beyond the limits of the module in ens1: 3.65 V, too much light "
                            "received (3.01 dBm).");
        pn_done(pn_type_Status(), &status);

        /* All ones, and nothing: such a module would not answer. */
        for (int ones = 0; ones < 2; ones++) {
                PnModuleLane *lane = &diagnostics->lanes.v[0];

                diagnostics->voltage_v = pn_real(ones ? 6.5535 : 0);
                lane->rx_power_mw = lane->tx_power_mw = pn_real(ones ? 65535 * 0.0001 : 0.5);
                lane->bias_ma = pn_real(ones ? 65535 * 0.002 : 6);
                status = assess(&inventory);
                assert_none(&status);
                pn_done(pn_type_Status(), &status);
        }

        /* What was not read says nothing, and nor does a reading whose limits were not. */
        diagnostics->voltage_v = (PnReal){.state = PN_UNREAD_IO};
        diagnostics->lanes.v[0].rx_power_mw = (PnReal){.state = PN_UNREAD_IO};
        status = assess(&inventory);
        assert_null(find(&status, "module.alarm"));
        pn_done(pn_type_Status(), &status);
        diagnostics->voltage_v = pn_real(3.65);
        diagnostics->thresholds.v->voltage.state = PN_UNREAD_IO;
        pn_free(pn_type_ModuleLimits(), diagnostics->thresholds.v->voltage.v);
        diagnostics->thresholds.v->voltage.v = NULL;
        status = assess(&inventory);
        assert_null(find(&status, "module.alarm"));
        done(&status, &inventory);
}

static void test_status_of_module(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;
        PnNic *port;

        (void)state;
        port = nic(&inventory, "ens1", NULL, 10000);
        assert_int_equal(pn_set_text(&port->module.v->status, "unreadable"), 0);
        port = nic(&inventory, "ens2", NULL, 10000);
        assert_int_equal(pn_set_text(&port->module.v->status, "unsupported_map"), 0);
        port = nic(&inventory, "ens3", NULL, 10000);
        assert_int_equal(pn_set_text(&port->link_reason, "unsupported cable"), 0);
        port->carrier = pn_bool(false);
        port = nic(&inventory, "ens4", NULL, 10000);
        assert_int_equal(pn_set_text(&port->module.v->status, "permission_denied"), 0);
        port = nic(&inventory, "ens5", NULL, 10000);
        assert_int_equal(pn_set_text(&port->module.v->status, "unsupported_by_driver"), 0);
        status = assess(&inventory);
        assert_int_equal(count(&status, "module.unreadable"), 1);
        assert_int_equal(count(&status, "module.unsupported"), 2);
        assert_int_equal(status.findings.n, 3);
        assert_string_equal(status.findings.v[0].device.v, "ens3");
        assert_string_equal(status.findings.v[0].severity.v, "warning");
        done(&status, &inventory);
}

/* Case 047: a passive cable measures nothing, and that is well. */
static void test_passive_cable(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;

        (void)state;
        (void)plug(nic(&inventory, "ens1", NULL, 10000), "SFP+", "passive copper", 10300);
        status = assess(&inventory);
        assert_none(&status);
        assert_string_equal(ports.v[0].module.v, "passive copper");
        done(&status, &inventory);
}

/* ---- joining ---- */

static PnPortModule *port_module(PnInventory *inventory, const char *name, const char *address,
                                 int number, const char *serial)
{
        PnPortModule *object = PN_APPEND(&inventory->port_modules);
        PnModule *module;

        assert_non_null(object);
        assert_int_equal(pn_set_text(&object->name, name), 0);
        assert_int_equal(pn_set_text(&object->address, address), 0);
        if (number >= 0)
                object->port_number = pn_int(number);
        module = PN_NEW(&object->module);
        assert_non_null(module);
        assert_int_equal(pn_set_text(&module->status, "present"), 0);
        assert_int_equal(pn_set_text(&module->serial, serial), 0);
        return object;
}

static PnNic *bare(PnInventory *inventory, const char *name, const char *address, int number)
{
        PnNic *port = nic(inventory, name, address, 10000);

        if (number >= 0)
                port->port_number = pn_int(number);
        pn_free(pn_type_Module(), port->module.v);
        memset(&port->module, 0, sizeof port->module);
        return port;
}

static void test_join(void **state)
{
        PnInventory inventory = {0};

        (void)state;
        /* Two ports of one function, one of which got another name between the two readings. */
        (void)bare(&inventory, "ens1", "0000:04:00.0", 0);
        (void)bare(&inventory, "ens1d1", "0000:04:00.0", 1);
        (void)bare(&inventory, "eth9", NULL, -1);
        (void)bare(&inventory, "ens2", "0000:05:00.0", 0);
        lone(&inventory, "0000:06:00.0", "no_driver");
        port_module(&inventory, "old", "0000:04:00.0", 1, "B");
        port_module(&inventory, "ens1", "0000:04:00.0", 0, "A");
        port_module(&inventory, "eth9", NULL, -1, "C");
        for (int again = 0; again < 2; again++) {
                assert_int_equal(pn_join(&inventory), 0);
                assert_int_equal(inventory.port_modules.n, 0);
                assert_string_equal(inventory.nics.v[0].id.v, "ens1");
                assert_string_equal(inventory.nics.v[0].module.v->serial.v, "A");
                assert_string_equal(inventory.nics.v[1].module.v->serial.v, "B");
                assert_int_equal(inventory.nics.v[2].module.state, PN_UNREAD_CANNOT_JOIN);
                assert_string_equal(inventory.nics.v[3].module.v->serial.v, "C");
                assert_string_equal(inventory.nics.v[4].id.v, "0000:06:00.0");
                assert_int_equal(inventory.nics.v[4].module.state, PN_ABSENT);
        }
        forget(&inventory);
}

/* Of a port that did not answer in time the probe sends its key alone. */
static void test_unread_port(void **state)
{
        PnInventory inventory = {0};
        PnStatus status;
        PnNic *port;

        (void)state;
        port = PN_APPEND(&inventory.nics);
        assert_non_null(port);
        assert_int_equal(pn_set_text(&port->id, "eth0"), 0);
        port->name.state = port->kind.state = port->speed_mbps.state = PN_UNREAD_TIMEOUT;
        port->carrier.state = port->enabled.state = port->module.state = PN_UNREAD_TIMEOUT;
        status = assess(&inventory);
        assert_none(&status);
        assert_string_equal(ports.v[0].name.v, "eth0");
        assert_true(pn_text_is(&ports.v[0].verdict, "unknown"));
        done(&status, &inventory);
}

/* ---- the kernel's numbers ---- */

static void test_link_modes(void **state)
{
        uint32_t modes[PN_LINK_MODE_WORDS] = {0};
        PnReals speeds = {0};

        (void)state;
        assert_int_equal(pn_link_mode_speeds(modes, &speeds), 0);
        assert_int_equal(speeds.state, PN_ABSENT);
        modes[0] = 1u << 0 | 1u << 1 | 1u << 5 | 1u << 6 | 1u << 12 | 1u << 31; /* and Autoneg */
        modes[1] = 1u << (47 - 32) | 1u << (50 - 32);                           /* 2.5G, FEC RS */
        modes[3] = 1u << (120 - 96);
        modes[7] = 1u << 31; /* of a kernel to come */
        assert_int_equal(pn_link_mode_speeds(modes, &speeds), 0);
        assert_int_equal(speeds.n, 6);
        assert_int_equal((int)speeds.v[0], 10);
        assert_int_equal((int)speeds.v[1], 1000);
        assert_int_equal((int)speeds.v[2], 2500);
        assert_int_equal((int)speeds.v[3], 10000);
        assert_int_equal((int)speeds.v[4], 25000);
        assert_int_equal((int)speeds.v[5], 800000);
        free(speeds.v);
}

/* Case 060. */
static void test_link_speed(void **state)
{
        static const int64_t unknown[] = {-1, 0, 65535, 4294967295, INT64_MIN, INT64_MAX};

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(unknown); i++)
                assert_int_equal(pn_link_speed(unknown[i]).state, PN_ABSENT);
        assert_int_equal(pn_link_speed(10).v, 10);
        assert_int_equal(pn_link_speed(800000).v, 800000);
        assert_null(pn_link_duplex(0xff));
        assert_string_equal(pn_link_duplex(0), "half");
}

static void test_ports_of_links(void **state)
{
        uint32_t none[PN_LINK_MODE_WORDS] = {0}, kr[PN_LINK_MODE_WORDS] = {1u << 19};

        (void)state;
        assert_string_equal(pn_link_port(0, none), "tp");
        assert_string_equal(pn_link_port(3, none), "fibre");
        assert_string_equal(pn_link_port(5, none), "da");
        assert_string_equal(pn_link_port(0xef, none), "none");
        assert_string_equal(pn_link_port(0xef, kr), "backplane");
        assert_string_equal(pn_link_port(0xff, none), "other");
        assert_null(pn_link_port(77, none));
        assert_string_equal(pn_link_reason(4, -1), "no cable");
        assert_string_equal(pn_link_reason(5, 1), "unsupported cable");
        assert_string_equal(pn_link_reason(5, 99), "cable fault");
        assert_null(pn_link_reason(-1, -1));
        assert_string_equal(pn_bond_mode(4), "802.3ad");
        assert_null(pn_bond_mode(7));
        assert_null(pn_bond_mode((unsigned)-1));
        assert_string_equal(pn_link_operstate(6), "up");
        assert_null(pn_link_operstate((unsigned)-1));
}

static void test_module_rates(void **state)
{
        static const struct {
                const char *form, *type;
                int mbd, mbps;
        } cases[] = {
            {"SFP+", "10GBASE-SR", 10300, 10000},
            {"SFP", "1000BASE-SX", 1300, 1000},
            {"SFP+", "passive copper", 10300, 10000},
            {"SFP28", "passive copper", 25750, 25000},
            {"QSFP28", "100GBASE-SR4", 25750, 100000},
            {"QSFP+", "passive copper", 10300, 40000},
            {"SFP", "2.5GBASE-T", 0, 2500},
            {"QSFP-DD", "passive copper", 53125, 0},
            {"SFP", "GPON", 2488, 0},
            {NULL, NULL, 10300, 0},
            {"SFP", "99999999GBASE-X", 0, 0},
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                PnModule module = {0};

                assert_int_equal(pn_set_text(&module.status, "present"), 0);
                assert_int_equal(pn_set_text(&module.form, cases[i].form), 0);
                assert_int_equal(pn_set_text(&module.type, cases[i].type), 0);
                module.nominal_mbd = pn_int(cases[i].mbd);
                assert_int_equal(pn_module_mbps(&module), cases[i].mbps);
                pn_done(pn_type_Module(), &module);
        }
        assert_int_equal(pn_module_mbps(NULL), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_full),
            cmocka_unit_test(test_slow_by_cable),
            cmocka_unit_test(test_slow_partner_unknown),
            cmocka_unit_test(test_limited),
            cmocka_unit_test(test_slow_by_setting),
            cmocka_unit_test(test_slow_on_fibre),
            cmocka_unit_test(test_cannot_tell_speed),
            cmocka_unit_test(test_half_duplex),
            cmocka_unit_test(test_refused_module),
            cmocka_unit_test(test_no_driver),
            cmocka_unit_test(test_no_interface_is_well),
            cmocka_unit_test(test_pcie_short),
            cmocka_unit_test(test_aggregator_split),
            cmocka_unit_test(test_lacp),
            cmocka_unit_test(test_other_speed),
            cmocka_unit_test(test_member_down),
            cmocka_unit_test(test_all_members_down),
            cmocka_unit_test(test_hot_module),
            cmocka_unit_test(test_hot_cannot_tell),
            cmocka_unit_test(test_light),
            cmocka_unit_test(test_a_dark_lane),
            cmocka_unit_test(test_light_cannot_tell),
            cmocka_unit_test(test_weak_laser),
            cmocka_unit_test(test_alarm),
            cmocka_unit_test(test_status_of_module),
            cmocka_unit_test(test_passive_cable),
            cmocka_unit_test(test_join),
            cmocka_unit_test(test_unread_port),
            cmocka_unit_test(test_link_modes),
            cmocka_unit_test(test_link_speed),
            cmocka_unit_test(test_ports_of_links),
            cmocka_unit_test(test_module_rates),
        };

        return cmocka_run_group_tests_name("nic", tests, NULL, NULL);
}
