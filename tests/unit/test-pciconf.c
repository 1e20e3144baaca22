/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests lib/pciconf.c on images built here, register by register. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/pci_regs.h>

#include "base.h"
#include "pciconf.h"

/* Where the builder puts the PCI Express capability. */
#define PCIE_AT 0x60u

typedef struct Config {
        uint8_t bytes[4096];
} Config;

static void put8(Config *config, size_t at, unsigned value)
{
        config->bytes[at] = (uint8_t)value;
}

static void put16(Config *config, size_t at, unsigned value)
{
        put8(config, at, value & 0xff);
        put8(config, at + 1, value >> 8 & 0xff);
}

static void put32(Config *config, size_t at, uint32_t value)
{
        put16(config, at, value & 0xffff);
        put16(config, at + 2, value >> 16);
}

/* An NVMe drive without any capability. */
static Config device(void)
{
        Config config = {0};

        put16(&config, PCI_VENDOR_ID, 0x1234);
        put16(&config, PCI_DEVICE_ID, 0xabcd);
        put32(&config, PCI_CLASS_REVISION, 0x01080207);
        return config;
}

static void add_list(Config *config, unsigned first)
{
        put16(config, PCI_STATUS, PCI_STATUS_CAP_LIST);
        put8(config, PCI_CAPABILITY_LIST, first);
}

static void add_capability(Config *config, size_t at, unsigned id, unsigned next)
{
        put8(config, at, id);
        put8(config, at + 1, next);
}

static Config pcie_device(PnPcieType type, unsigned version, unsigned extra_flags)
{
        Config config = device();

        add_list(&config, PCIE_AT);
        add_capability(&config, PCIE_AT, PCI_CAP_ID_EXP, 0);
        put16(&config, PCIE_AT + PCI_EXP_FLAGS, version | (unsigned)type << 4 | extra_flags);
        return config;
}

static void put_link(Config *config, uint32_t lnkcap, unsigned lnksta)
{
        put32(config, PCIE_AT + PCI_EXP_LNKCAP, lnkcap);
        put16(config, PCIE_AT + PCI_EXP_LNKSTA, lnksta);
}

static uint32_t lnkcap(unsigned speed, unsigned width, unsigned port)
{
        return speed | width << 4 | port << 24;
}

static unsigned lnksta(unsigned speed, unsigned width)
{
        return speed | width << 4;
}

/* Decodes a copy of exactly n bytes, so that a sanitizer sees a read past the end. */
static int decode(const Config *config, size_t n, PnPciConf *ret)
{
        _cleanup_free_ uint8_t *exact = malloc(n > 0 ? n : 1);

        assert_non_null(exact);
        memcpy(exact, config->bytes, n);
        return pn_pciconf_decode(exact, n, ret);
}

static PnPciConf decoded(const Config *config, size_t n)
{
        PnPciConf conf;

        assert_int_equal(decode(config, n, &conf), 0);
        return conf;
}

static void test_header(void **state _unused_)
{
        Config config = device();
        PnPciConf conf;

        put8(&config, PCI_HEADER_TYPE, 0x80);
        put8(&config, PCI_PRIMARY_BUS, 9); /* a base address in a device */
        for (size_t n = 64; n <= 4096; n *= 2) {
                conf = decoded(&config, n);
                assert_int_equal(conf.vendor_id, 0x1234);
                assert_int_equal(conf.device_id, 0xabcd);
                assert_int_equal(conf.class24, 0x010802);
                assert_int_equal(conf.header_type, 0);
                assert_true(conf.multifunction);
                assert_int_equal(conf.primary_bus, 0);
                assert_false(conf.has_pcie);
                assert_false(conf.has_link);
                assert_int_equal(conf.port_type, PN_PCIE_UNKNOWN);
                assert_false(conf.capabilities_truncated);
        }
}

static void test_bridge(void **state _unused_)
{
        Config config = device();
        PnPciConf conf;

        put8(&config, PCI_HEADER_TYPE, PCI_HEADER_TYPE_BRIDGE);
        put8(&config, PCI_PRIMARY_BUS, 1);
        put8(&config, PCI_SECONDARY_BUS, 2);
        put8(&config, PCI_SUBORDINATE_BUS, 0xff);
        conf = decoded(&config, 256);
        assert_int_equal(conf.header_type, 1);
        assert_false(conf.multifunction);
        assert_int_equal(conf.primary_bus, 1);
        assert_int_equal(conf.secondary_bus, 2);
        assert_int_equal(conf.subordinate_bus, 0xff);
}

static void test_cardbus_list_pointer(void **state _unused_)
{
        Config config = pcie_device(PN_PCIE_ENDPOINT, 2, 0);

        put8(&config, PCI_HEADER_TYPE, PCI_HEADER_TYPE_CARDBUS);
        put8(&config, PCI_CAPABILITY_LIST, 0x04);
        put8(&config, PCI_CB_CAPABILITY_LIST, PCIE_AT);
        put8(&config, PCI_SECONDARY_BUS, 3);
        assert_true(decoded(&config, 256).has_pcie);
        assert_int_equal(decoded(&config, 256).secondary_bus, 3);
}

static void test_errors(void **state _unused_)
{
        Config config = device();
        PnPciConf conf = {.vendor_id = 0x5555};

        for (size_t n = 0; n < 64; n++)
                assert_int_equal(decode(&config, n, &conf), -EINVAL);
        assert_int_equal(pn_pciconf_decode(NULL, 0, &conf), -EINVAL);
        assert_int_equal(pn_pciconf_decode(NULL, 256, &conf), -EINVAL);

        memset(&config, 0xff, sizeof config);
        assert_int_equal(decode(&config, 64, &conf), -ENODEV);
        assert_int_equal(decode(&config, 100, &conf), -ENODEV);
        assert_int_equal(decode(&config, 4096, &conf), -ENODEV);
        assert_int_equal(decode(&config, 63, &conf), -EINVAL);
        assert_int_equal(conf.vendor_id, 0x5555);
}

static void test_virtual_function(void **state _unused_)
{
        Config config = pcie_device(PN_PCIE_ENDPOINT, 2, 0);
        PnPciConf conf;

        put32(&config, PCI_VENDOR_ID, UINT32_MAX);
        conf = decoded(&config, 256);
        assert_int_equal(conf.vendor_id, 0xffff);
        assert_true(conf.has_pcie);
        assert_int_equal(conf.current_width, 0);
        assert_int_equal(conf.max_gen, 0);
}

static void test_endpoint(void **state _unused_)
{
        Config config = pcie_device(PN_PCIE_ENDPOINT, 2, 0);
        PnPciConf conf;

        put_link(&config, lnkcap(4, 4, 7), lnksta(3, 2));
        put32(&config, PCIE_AT + PCI_EXP_LNKCAP2, 0x1e);
        put16(&config, PCIE_AT + PCI_EXP_LNKCTL2, 4);
        conf = decoded(&config, 256);
        assert_true(conf.has_pcie);
        assert_int_equal(conf.pcie_version, 2);
        assert_int_equal(conf.port_type, PN_PCIE_ENDPOINT);
        assert_true(conf.has_link);
        assert_int_equal(conf.max_gen, 4);
        assert_int_equal(conf.lnkcap_gen, 4);
        assert_int_equal(conf.max_width, 4);
        assert_int_equal(conf.port_number, 7);
        assert_int_equal(conf.supported, 0x0f);
        assert_int_equal(conf.current_gen, 3);
        assert_int_equal(conf.current_width, 2);
        assert_int_equal(conf.target_gen, 4);
        assert_false(conf.dll_active_reporting);
        assert_false(conf.slot_implemented);
        assert_false(conf.capabilities_truncated);
}

static void test_port_with_slot(void **state _unused_)
{
        static const PnPcieType types[] = {PN_PCIE_ROOT_PORT, PN_PCIE_DOWNSTREAM_PORT,
                                           PN_PCIE_PCI_TO_PCIE};

        for (size_t i = 0; i < PN_ELEMENTS(types); i++) {
                Config config = pcie_device(types[i], 2, PCI_EXP_FLAGS_SLOT);
                PnPciConf conf;

                put_link(&config, lnkcap(5, 16, 255) | PCI_EXP_LNKCAP_DLLLARC,
                         lnksta(5, 16) | PCI_EXP_LNKSTA_DLLLA | PCI_EXP_LNKSTA_LT);
                put32(&config, PCIE_AT + PCI_EXP_SLTCAP, 8191u << 19 | PCI_EXP_SLTCAP_HPC);
                put16(&config, PCIE_AT + PCI_EXP_SLTSTA, PCI_EXP_SLTSTA_PDS);
                put32(&config, PCIE_AT + PCI_EXP_LNKCAP2, 0x3e);
                conf = decoded(&config, 256);
                assert_int_equal(conf.port_type, types[i]);
                assert_true(conf.slot_implemented);
                assert_int_equal(conf.physical_slot, 8191);
                assert_true(conf.hotplug_capable);
                assert_true(conf.presence_detect);
                assert_true(conf.dll_active_reporting);
                assert_true(conf.dll_active);
                assert_true(conf.training);
                assert_int_equal(conf.port_number, 255);
                assert_int_equal(conf.max_gen, 5);
                assert_int_equal(conf.target_gen, 0);

                /* Without the Slot Implemented bit those registers mean nothing. */
                put16(&config, PCIE_AT + PCI_EXP_FLAGS, 2 | (unsigned)types[i] << 4);
                conf = decoded(&config, 256);
                assert_false(conf.slot_implemented);
                assert_int_equal(conf.physical_slot, 0);
                assert_false(conf.hotplug_capable);
                assert_false(conf.presence_detect);
                assert_int_equal(conf.current_width, 16);
        }
}

/* The bits of a link's upper end are undefined in its lower end. */
static void test_lower_end_has_no_slot(void **state _unused_)
{
        static const PnPcieType types[] = {PN_PCIE_ENDPOINT, PN_PCIE_LEGACY_ENDPOINT,
                                           PN_PCIE_UPSTREAM_PORT, PN_PCIE_PCIE_TO_PCI};

        for (size_t i = 0; i < PN_ELEMENTS(types); i++) {
                Config config = pcie_device(types[i], 2, PCI_EXP_FLAGS_SLOT);
                PnPciConf conf;

                put_link(&config, lnkcap(3, 8, 0), lnksta(3, 8) | 0x2800);
                put32(&config, PCIE_AT + PCI_EXP_SLTCAP, 5u << 19 | PCI_EXP_SLTCAP_HPC);
                put16(&config, PCIE_AT + PCI_EXP_SLTSTA, PCI_EXP_SLTSTA_PDS);
                conf = decoded(&config, 256);
                assert_int_equal(conf.port_type, types[i]);
                assert_true(conf.has_link);
                assert_int_equal(conf.current_width, 8);
                assert_false(conf.slot_implemented);
                assert_int_equal(conf.physical_slot, 0);
                assert_false(conf.hotplug_capable);
                assert_false(conf.presence_detect);
                assert_false(conf.dll_active);
                assert_false(conf.training);
        }
}

static void test_no_link(void **state _unused_)
{
        /* The reserved codes are not in the enum. */
        static const unsigned types[] = {PN_PCIE_RCIEP, PN_PCIE_RCEC, 2, 3, 11, 12, 13, 14, 15};

        for (size_t i = 0; i < PN_ELEMENTS(types); i++) {
                Config config = pcie_device((PnPcieType)types[i], 2, PCI_EXP_FLAGS_SLOT);
                PnPciConf conf;

                memset(config.bytes + PCIE_AT + PCI_EXP_LNKCAP, 0x11, 0x30);
                conf = decoded(&config, 256);
                assert_true(conf.has_pcie);
                assert_int_equal(conf.port_type, i < 2 ? types[i] : PN_PCIE_UNKNOWN);
                assert_false(conf.has_link);
                assert_int_equal(conf.max_gen, 0);
                assert_int_equal(conf.max_width, 0);
                assert_int_equal(conf.supported, 0);
                assert_int_equal(conf.current_gen, 0);
                assert_int_equal(conf.current_width, 0);
                assert_int_equal(conf.target_gen, 0);
                assert_false(conf.slot_implemented);
                assert_false(conf.capabilities_truncated);
        }
}

static void test_version_1(void **state _unused_)
{
        Config config = pcie_device(PN_PCIE_ENDPOINT, 1, 0);
        PnPciConf conf;

        put_link(&config, lnkcap(2, 8, 0), lnksta(1, 4));
        /* The next capability starts where version 2 has more registers. */
        memset(config.bytes + PCIE_AT + PCI_EXP_SLTCAP, 0x33, 0x40);
        conf = decoded(&config, 256);
        assert_int_equal(conf.pcie_version, 1);
        assert_int_equal(conf.max_gen, 2);
        assert_int_equal(conf.supported, 0x03);
        assert_int_equal(conf.current_gen, 1);
        assert_int_equal(conf.target_gen, 0);

        /* It may end with the image, since it has nothing further. */
        conf = decoded(&config, PCIE_AT + PCI_CAP_EXP_ENDPOINT_SIZEOF_V1);
        assert_int_equal(conf.current_width, 4);
        assert_false(conf.capabilities_truncated);
}

static void test_speeds(void **state _unused_)
{
        static const struct {
                unsigned code;
                uint32_t lnkcap2;
                unsigned max_gen, lnkcap_gen, supported;
        } cases[] = {
            {1, 0, 1, 1, 0x01},
            {2, 0, 2, 2, 0x03},
            {3, 0, 3, 3, 0x07}, /* no vector: all up to the code */
            {6, 0, 6, 6, 0x3f},
            {1, 0x02, 1, 1, 0x01},
            {3, 0x0e, 3, 3, 0x07},
            {4, 0x1e, 4, 4, 0x0f},
            {5, 0x3e, 5, 5, 0x1f},
            {6, 0x7e, 6, 6, 0x3f},
            {1, 0x0e, 3, 1, 0x07},       /* they differ: the vector has it */
            {4, 0x08, 3, 4, 0x04},       /* and need not be complete */
            {3, 0x0180010e, 3, 3, 0x07}, /* crosslink, retimers: other bits */
            {3, 0x80, 3, 3, 0x07},       /* bit 7 is reserved, so the vector is empty */
            {3, 0x01, 3, 3, 0x07},       /* and so is bit 0 */
            {0, 0, 0, 0, 0},
            {7, 0, 0, 0, 0}, /* codes that do not exist */
            {15, 0, 0, 0, 0},
            {15, 0x1e, 4, 0, 0x0f},
        };

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                Config config = pcie_device(PN_PCIE_ENDPOINT, 2, 0);
                PnPciConf conf;

                put_link(&config, lnkcap(cases[i].code, 1, 0), lnksta(cases[i].code, 1));
                put32(&config, PCIE_AT + PCI_EXP_LNKCAP2, cases[i].lnkcap2);
                put16(&config, PCIE_AT + PCI_EXP_LNKCTL2, 0xfff0 | cases[i].code);
                conf = decoded(&config, 256);
                assert_int_equal(conf.max_gen, cases[i].max_gen);
                assert_int_equal(conf.lnkcap_gen, cases[i].lnkcap_gen);
                assert_int_equal(conf.supported, cases[i].supported);
                assert_int_equal(conf.current_gen, cases[i].lnkcap_gen);
                assert_int_equal(conf.target_gen, cases[i].lnkcap_gen);
        }
}

static void test_widths(void **state _unused_)
{
        for (unsigned width = 0; width < 64; width++) {
                bool valid = width == 1 || width == 2 || width == 4 || width == 8 || width == 12 ||
                             width == 16 || width == 32;
                Config config = pcie_device(PN_PCIE_ENDPOINT, 2, 0);
                PnPciConf conf;

                put_link(&config, lnkcap(1, width, 0), lnksta(1, width));
                conf = decoded(&config, 256);
                assert_int_equal(conf.max_width, valid ? width : 0);
                assert_int_equal(conf.current_width, valid ? width : 0);
        }
}

/* A device that goes away between two reads leaves ones in the rest. */
static void test_gone_in_the_middle(void **state _unused_)
{
        for (size_t from = 64; from < 256; from += 2) {
                Config config = pcie_device(PN_PCIE_DOWNSTREAM_PORT, 2, PCI_EXP_FLAGS_SLOT);
                PnPciConf conf;

                put_link(&config, lnkcap(3, 8, 1) | PCI_EXP_LNKCAP_DLLLARC,
                         lnksta(3, 8) | PCI_EXP_LNKSTA_DLLLA);
                put32(&config, PCIE_AT + PCI_EXP_SLTCAP, 3u << 19);
                memset(config.bytes + from, 0xff, sizeof config.bytes - from);
                conf = decoded(&config, 256);
                assert_true(conf.has_pcie == (from > PCIE_AT + PCI_EXP_FLAGS));
                assert_true(conf.capabilities_truncated == (from <= PCIE_AT + PCI_EXP_LNKCTL2));
                if (from <= PCIE_AT + PCI_EXP_LNKCAP) {
                        assert_int_equal(conf.max_width, 0);
                        assert_false(conf.dll_active_reporting);
                }
                if (from <= PCIE_AT + PCI_EXP_LNKSTA) {
                        assert_int_equal(conf.current_gen, 0);
                        assert_int_equal(conf.current_width, 0);
                        assert_false(conf.dll_active);
                }
                if (from <= PCIE_AT + PCI_EXP_SLTCAP)
                        assert_int_equal(conf.physical_slot, 0);
                if (from <= PCIE_AT + PCI_EXP_SLTSTA)
                        assert_false(conf.presence_detect);
                if (from <= PCIE_AT + PCI_EXP_LNKCTL2)
                        assert_int_equal(conf.target_gen, 0);
        }
}

static void test_list_of_many(void **state _unused_)
{
        Config config = pcie_device(PN_PCIE_ENDPOINT, 2, 0);

        /* Forwards, backwards, and with reserved low bits in every pointer. */
        add_list(&config, 0x50 | 3);
        add_capability(&config, 0x50, PCI_CAP_ID_MSI, 0x40 | 1);
        add_capability(&config, 0x40, PCI_CAP_ID_PM, 0xfc | 2);
        add_capability(&config, 0xfc, PCI_CAP_ID_VNDR, PCIE_AT | 3);
        assert_true(decoded(&config, 256).has_pcie);
        assert_false(decoded(&config, 256).capabilities_truncated);
}

static void test_list_absent(void **state _unused_)
{
        Config config = pcie_device(PN_PCIE_ENDPOINT, 2, 0);

        /* Only the status bit says that the pointer is one. */
        put16(&config, PCI_STATUS, (unsigned)~PCI_STATUS_CAP_LIST & 0xffff);
        assert_false(decoded(&config, 256).has_pcie);
        assert_false(decoded(&config, 256).capabilities_truncated);

        add_list(&config, 0);
        assert_false(decoded(&config, 256).has_pcie);
        assert_false(decoded(&config, 256).capabilities_truncated);
}

static void test_list_broken(void **state _unused_)
{
        static const struct {
                unsigned first, next;
        } cases[] = {
            {0x40, 0x40}, /* points at itself */
            {0x40, 0x43}, /* likewise, unaligned */
            {0x40, 0x3c}, /* into the header */
            {0x40, 0x04}, {0x04, 0}, {0x3f, 0},
        };

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                Config config = device();

                add_list(&config, cases[i].first);
                add_capability(&config, 0x40, PCI_CAP_ID_PM, cases[i].next);
                assert_false(decoded(&config, 256).has_pcie);
                assert_true(decoded(&config, 256).capabilities_truncated);
        }
}

static void test_list_loop(void **state _unused_)
{
        Config config = device();

        add_list(&config, 0x40);
        for (unsigned at = 0x40; at < 0x100; at += 4)
                add_capability(&config, at, PCI_CAP_ID_VNDR, at == 0xfc ? 0x80 : at + 4);
        assert_false(decoded(&config, 4096).has_pcie);
        assert_true(decoded(&config, 4096).capabilities_truncated);
}

static void test_list_leaves_image(void **state _unused_)
{
        Config config = pcie_device(PN_PCIE_ENDPOINT, 2, 0);

        /* What everybody may read: there is a list, and it is elsewhere. */
        assert_false(decoded(&config, 64).has_pcie);
        assert_true(decoded(&config, 64).capabilities_truncated);
        assert_false(decoded(&config, PCIE_AT + 1).has_pcie);
        assert_true(decoded(&config, PCIE_AT + 1).capabilities_truncated);
}

static void test_capability_cut(void **state _unused_)
{
        Config config = pcie_device(PN_PCIE_DOWNSTREAM_PORT, 2, PCI_EXP_FLAGS_SLOT);

        put_link(&config, lnkcap(3, 8, 1), lnksta(2, 4));
        put32(&config, PCIE_AT + PCI_EXP_SLTCAP, 3u << 19);
        put32(&config, PCIE_AT + PCI_EXP_LNKCAP2, 0x0e);
        put16(&config, PCIE_AT + PCI_EXP_LNKCTL2, 1);
        for (size_t n = 64; n <= 256; n++) {
                PnPciConf conf = decoded(&config, n);

                assert_true(conf.has_pcie == (n >= PCIE_AT + PCI_EXP_FLAGS + 2));
                assert_int_equal(conf.max_width, n >= PCIE_AT + PCI_EXP_LNKCAP + 4 ? 8 : 0);
                assert_int_equal(conf.current_width, n >= PCIE_AT + PCI_EXP_LNKSTA + 2 ? 4 : 0);
                assert_int_equal(conf.physical_slot, n >= PCIE_AT + PCI_EXP_SLTCAP + 4 ? 3 : 0);
                assert_int_equal(conf.target_gen, n >= PCIE_AT + PCI_EXP_LNKCTL2 + 2 ? 1 : 0);
                assert_true(conf.capabilities_truncated == (n < PCIE_AT + PCI_EXP_LNKCTL2 + 2));
        }
}

/* The extended space is no continuation of a capability that starts too late. */
static void test_capability_at_the_end(void **state _unused_)
{
        Config config = device();
        PnPciConf conf;

        add_list(&config, 0xf0);
        add_capability(&config, 0xf0, PCI_CAP_ID_EXP, 0);
        put16(&config, 0xf2, 2);
        put32(&config, 0xfc, lnkcap(3, 8, 0));
        put16(&config, 0x102, lnksta(3, 8));
        conf = decoded(&config, 4096);
        assert_true(conf.has_pcie);
        assert_int_equal(conf.max_width, 8);
        assert_int_equal(conf.current_width, 0);
        assert_true(conf.capabilities_truncated);
}

static void test_version_0(void **state _unused_)
{
        Config config = pcie_device(PN_PCIE_ENDPOINT, 0, 0);

        assert_false(decoded(&config, 256).has_pcie);
        assert_true(decoded(&config, 256).capabilities_truncated);
}

/* Any bytes: no overrun, no endless loop, and no number outside its range. */
static void test_noise(void **state _unused_)
{
        uint32_t seed = 1;

        for (unsigned round = 0; round < 20000; round++) {
                Config config;
                PnPciConf conf;
                size_t n;

                for (size_t i = 0; i < 256; i++) {
                        seed = seed * 1664525 + 1013904223;
                        config.bytes[i] = (uint8_t)(seed >> 24);
                }
                n = 64 + seed % 193;
                /* A capability in a few steps' reach is not left to chance. */
                put16(&config, PCI_STATUS, PCI_STATUS_CAP_LIST);
                if (round % 2) {
                        put8(&config, PCI_CAPABILITY_LIST, PCIE_AT);
                        put8(&config, PCIE_AT, PCI_CAP_ID_EXP);
                }
                conf = decoded(&config, n);
                assert_true(conf.max_gen <= 6 && conf.current_gen <= 6 && conf.target_gen <= 6);
                assert_true(conf.lnkcap_gen <= 6 && conf.supported <= 0x3f);
                assert_true(conf.max_width <= 32 && conf.current_width <= 32);
                assert_true(conf.physical_slot <= 8191);
                assert_true(conf.has_link || (conf.max_gen == 0 && conf.current_width == 0));
                assert_true(conf.slot_implemented || conf.physical_slot == 0);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_header),
            cmocka_unit_test(test_bridge),
            cmocka_unit_test(test_cardbus_list_pointer),
            cmocka_unit_test(test_errors),
            cmocka_unit_test(test_virtual_function),
            cmocka_unit_test(test_endpoint),
            cmocka_unit_test(test_port_with_slot),
            cmocka_unit_test(test_lower_end_has_no_slot),
            cmocka_unit_test(test_no_link),
            cmocka_unit_test(test_version_1),
            cmocka_unit_test(test_speeds),
            cmocka_unit_test(test_widths),
            cmocka_unit_test(test_gone_in_the_middle),
            cmocka_unit_test(test_list_of_many),
            cmocka_unit_test(test_list_absent),
            cmocka_unit_test(test_list_broken),
            cmocka_unit_test(test_list_loop),
            cmocka_unit_test(test_list_leaves_image),
            cmocka_unit_test(test_capability_cut),
            cmocka_unit_test(test_capability_at_the_end),
            cmocka_unit_test(test_version_0),
            cmocka_unit_test(test_noise),
        };

        return cmocka_run_group_tests_name("pciconf", tests, NULL, NULL);
}
