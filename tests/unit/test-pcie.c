/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests lib/pcie.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <math.h>

#include "base.h"
#include "pcie.h"

static void test_address_round_trip(void **state _unused_)
{
        static const struct {
                const char *in;
                const char *out;
                PnPciAddress address;
        } cases[] = {
            {"0000:01:00.0", "0000:01:00.0", {0, 1, 0, 0}},
            {"0000:00:1f.7", "0000:00:1f.7", {0, 0, 31, 7}},
            {"0000:C1:0A.3", "0000:c1:0a.3", {0, 0xc1, 10, 3}},
            {"10000:e1:00.0", "10000:e1:00.0", {0x10000, 0xe1, 0, 0}}, /* VMD */
            {"6007:00:00.0", "6007:00:00.0", {0x6007, 0, 0, 0}},       /* Hyper-V */
            {"ffffffff:ff:1f.7", "ffffffff:ff:1f.7", {UINT32_MAX, 0xff, 31, 7}},
            {"00010000:00:00.0", "10000:00:00.0", {0x10000, 0, 0, 0}},
        };

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                char text[PN_PCI_ADDRESS_MAX];
                PnPciAddress address;

                assert_int_equal(pn_pci_address_parse(cases[i].in, &address), 0);
                assert_int_equal(pn_pci_address_compare(&address, &cases[i].address), 0);
                assert_string_equal(pn_pci_address_format(&address, text), cases[i].out);
        }
}

static void test_address_rejects(void **state _unused_)
{
        static const char *const cases[] = {
            "",
            ":",
            "01:00.0",
            "000:01:00.0",
            "000000000:01:00.0",
            "0000:01:00",
            "0000:01:00.",
            "0000:01:00.8",
            "0000:01:00.00",
            "0000:01:20.0",
            "0000:1:00.0",
            "0000:001:00.0",
            "0000:01:0.0",
            "0000:01:00.0\n",
            "0000:01:00.0 ",
            " 0000:01:00.0",
            "0x00:01:00.0",
            "+000:01:00.0",
            "-001:01:00.0",
            "0000-01-00.0",
            "0000:01:00:0",
            "000g:01:00.0",
            "0000:01:00.g",
            "0000:01",
            "0000",
            "27bcc0000.nvme",
        };
        PnPciAddress address = {1, 2, 3, 4};

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++)
                assert_int_equal(pn_pci_address_parse(cases[i], &address), -EINVAL);
        assert_int_equal(pn_pci_address_parse(NULL, &address), -EINVAL);

        /* Nothing was written. */
        assert_int_equal(address.domain, 1);
        assert_int_equal(address.bus, 2);
        assert_int_equal(address.device, 3);
        assert_int_equal(address.function, 4);
}

static void test_address_order(void **state _unused_)
{
        /* Ascending; as text, 10000: would come before 9000:. */
        static const PnPciAddress cases[] = {
            {0, 0, 0, 0},       {0, 0, 0, 7},       {0, 0, 1, 0},          {0, 0, 31, 7},
            {0, 1, 0, 0},       {0, 0xff, 31, 7},   {1, 0, 0, 0},          {0x9000, 0, 0, 0},
            {0x10000, 0, 0, 0}, {0x10000, 1, 0, 0}, {0x80000000, 0, 0, 0}, {UINT32_MAX, 0, 0, 0},
        };

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++)
                for (size_t j = 0; j < PN_ELEMENTS(cases); j++) {
                        int order = pn_pci_address_compare(&cases[i], &cases[j]);

                        assert_true(i < j ? order < 0 : i > j ? order > 0 : order == 0);
                }
}

static void test_address_format_stays_in_buffer(void **state _unused_)
{
        const PnPciAddress wrong = {UINT32_MAX, 0xff, 0xff, 0xff};
        char text[PN_PCI_ADDRESS_MAX];

        assert_string_equal(pn_pci_address_format(&wrong, text), "ffffffff:ff:1f.7");
}

static void test_speed_parse(void **state _unused_)
{
        static const struct {
                const char *text;
                unsigned gen;
        } cases[] = {
            {"2.5 GT/s", 1},
            {"2.5 GT/s\n", 1},
            {"2.5 GT/s PCIe\n", 1},
            {"5 GT/s\n", 2},
            {"5.0 GT/s PCIe", 2},
            {"5.0 GT/s PCIe\n", 2},
            {"8 GT/s", 3},
            {"8.0 GT/s PCIe\n", 3},
            {"16 GT/s\n", 4},
            {"16.0 GT/s PCIe\n", 4},
            {"32 GT/s\n", 5},
            {"32.0 GT/s PCIe\n", 5},
            {"64 GT/s\n", 6},
            {"64.0 GT/s PCIe\n", 6},
            {"Unknown", 0},
            {"Unknown\n", 0},
            {"Unknown speed\n", 0},
            {"", 0},
            {"\n", 0},
            {"8.0", 0},
            {"8.0 GT/", 0},
            {"8.0 GT/s PCI", 0},
            {"8.0 GT/s PCIe\n\n", 0},
            {"8.0 GT/s PCIe x4", 0},
            {"8.0GT/s", 0},
            {" 8.0 GT/s", 0},
            {"8.00 GT/s", 0},
            {"08 GT/s", 0},
            {"80 GT/s", 0},
            {"3 GT/s", 0},
            {"2 GT/s", 0},
            {"2.50 GT/s", 0},
            {"128.0 GT/s PCIe\n", 0},
            {"-8 GT/s", 0},
            {"8 Gb/s", 0},
            {"255", 0},
            {"nan GT/s", 0},
            {"PCI-X 133MHz", 0},
        };

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++)
                assert_int_equal(pn_pcie_speed_parse(cases[i].text), cases[i].gen);
        assert_int_equal(pn_pcie_speed_parse(NULL), 0);
}

static void test_width_parse(void **state _unused_)
{
        static const struct {
                const char *text;
                unsigned width;
        } cases[] = {
            {"1\n", 1},        {"2", 2},   {"4\n", 4},     {"8\n", 8},   {"12\n", 12}, {"16\n", 16},
            {"32\n", 32},      {"0\n", 0}, {"63\n", 0},    {"255\n", 0}, {"3\n", 0},   {"24", 0},
            {"64", 0},         {"", 0},    {"\n", 0},      {"x4", 0},    {" 4", 0},    {"4 ", 0},
            {"4\n\n", 0},      {"04", 0},  {"+4", 0},      {"-4", 0},    {"4.0", 0},   {"0x4", 0},
            {"4294967300", 0}, {"1e0", 0}, {"Unknown", 0},
        };

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++)
                assert_int_equal(pn_pcie_width_parse(cases[i].text), cases[i].width);
        assert_int_equal(pn_pcie_width_parse(NULL), 0);

        for (unsigned width = 0; width < 300; width++)
                assert_true(pn_pcie_width_valid(width) ==
                            (width == 1 || width == 2 || width == 4 || width == 8 || width == 12 ||
                             width == 16 || width == 32));
}

static void test_rates(void **state _unused_)
{
        static const double gts[] = {0.0, 2.5, 5.0, 8.0, 16.0, 32.0, 64.0};

        for (unsigned gen = 1; gen <= PN_PCIE_GENERATION_MAX; gen++) {
                assert_true(pn_pcie_gts(gen) == gts[gen]);
                assert_int_equal(pn_pcie_generation(gts[gen]), gen);
        }
        assert_true(pn_pcie_gts(0) == 0.0);
        assert_true(pn_pcie_gts(7) == 0.0);
        assert_true(pn_pcie_gts(UINT_MAX) == 0.0);
        assert_int_equal(pn_pcie_generation(0.0), 0);
        assert_int_equal(pn_pcie_generation(-2.5), 0);
        assert_int_equal(pn_pcie_generation(2.4999), 0);
        assert_int_equal(pn_pcie_generation(128.0), 0);
        assert_int_equal(pn_pcie_generation((double)NAN), 0);
        assert_int_equal(pn_pcie_generation((double)INFINITY), 0);
}

static void test_bandwidth(void **state _unused_)
{
        static const uint64_t lane[] = {0, 2000, 4000, 7876, 15753, 31507, 64000, 0};

        for (unsigned gen = 0; gen < PN_ELEMENTS(lane); gen++)
                assert_int_equal(pn_pcie_lane_mbps(gen), lane[gen]);
        assert_int_equal(pn_pcie_lane_mbps(UINT_MAX), 0);

        /* As kernels have printed them. */
        assert_int_equal(pn_pcie_bandwidth(1, 2), 4000);
        assert_int_equal(pn_pcie_bandwidth(3, 4), 31504);
        assert_int_equal(pn_pcie_bandwidth(3, 16), 126016);
        assert_int_equal(pn_pcie_bandwidth(4, 16), 252048);
        assert_int_equal(pn_pcie_bandwidth(5, 2), 63014);
        assert_int_equal(pn_pcie_bandwidth(6, 16), 1024000);

        /* As kernels have printed them too, and should not have. */
        assert_int_equal(pn_pcie_bandwidth(5, 63), 0);
        assert_int_equal(pn_pcie_bandwidth(3, 255), 0);
        assert_int_equal(pn_pcie_bandwidth(3, 0), 0);
        assert_int_equal(pn_pcie_bandwidth(0, 16), 0);
        assert_int_equal(pn_pcie_bandwidth(15, 16), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_address_round_trip),
            cmocka_unit_test(test_address_rejects),
            cmocka_unit_test(test_address_order),
            cmocka_unit_test(test_address_format_stays_in_buffer),
            cmocka_unit_test(test_speed_parse),
            cmocka_unit_test(test_width_parse),
            cmocka_unit_test(test_rates),
            cmocka_unit_test(test_bandwidth),
        };

        return cmocka_run_group_tests_name("pcie", tests, NULL, NULL);
}
