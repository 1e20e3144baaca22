/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests lib/niccounters.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "niccounters.h"

/* What drivers call the same thing, and what they call alike and is another. */
static void test_names(void **state _unused_)
{
        static const struct {
                const char *driver, *name;
                PnNicCounter counter;
        } cases[] = {
            {"ixgbe", "rx_crc_errors", PN_NIC_COUNTER_FCS},
            {"ixgbe", "rx_long_length_errors", PN_NIC_COUNTER_OVERSIZE},
            {"ixgbe", "rx_errors", PN_NIC_COUNTER_OTHER},
            {"ixgbe", "rx_fcs_errors", PN_NIC_COUNTER_OTHER},
            {"i40e", "port.rx_crc_errors", PN_NIC_COUNTER_FCS},
            {"i40e", "rx_crc_errors", PN_NIC_COUNTER_OTHER},
            {"i40e", "port.illegal_bytes", PN_NIC_COUNTER_OTHER},
            {"ice", "rx_crc_errors.nic", PN_NIC_COUNTER_FCS},
            {"ice", "port.rx_crc_errors", PN_NIC_COUNTER_OTHER},
            {"ice", "rx_oversize.nic", PN_NIC_COUNTER_OVERSIZE},
            {"igb", "rx_crc_errors", PN_NIC_COUNTER_FCS},
            {"igc", "rx_crc_errors", PN_NIC_COUNTER_FCS},
            {"e1000e", "rx_crc_errors", PN_NIC_COUNTER_FCS},
            {"e1000e", "rx_csum_offload_errors", PN_NIC_COUNTER_OTHER},
            {"mlx5_core", "rx_crc_errors_phy", PN_NIC_COUNTER_FCS},
            {"mlx5_core", "rx_symbol_err_phy", PN_NIC_COUNTER_SYMBOL},
            {"mlx5_core", "rx_pcs_symbol_err_phy", PN_NIC_COUNTER_OTHER},
            {"mlx5_core", "rx_oversize_pkts_phy", PN_NIC_COUNTER_OTHER},
            {"bnxt_en", "rx_fcs_err_frames", PN_NIC_COUNTER_FCS},
            {"bnxt_en", "rx_pcs_symbol_err", PN_NIC_COUNTER_SYMBOL},
            {"bnxt_en", "rx_ovrsz_frames", PN_NIC_COUNTER_OVERSIZE},
            {"bnxt_en", "rx_fec_corrected_blocks", PN_NIC_COUNTER_FEC_CORRECTED},
            {"bnxt_en", "rx_fec_uncorrectable_blocks", PN_NIC_COUNTER_FEC_UNCORRECTABLE},
            {"tg3", "rx_fcs_errors", PN_NIC_COUNTER_FCS},
            {"tg3", "rx_frame_too_long_errors", PN_NIC_COUNTER_OTHER},
            {"r8169", "align_errors", PN_NIC_COUNTER_OTHER},
            {"acme", "rx_crc_errors", PN_NIC_COUNTER_OTHER},
            {"ixgbe", "", PN_NIC_COUNTER_OTHER},
            {"", "rx_crc_errors", PN_NIC_COUNTER_OTHER},
            {"ixgbe", "rx_crc_errors2", PN_NIC_COUNTER_OTHER},
        };

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++)
                if (pn_nic_counter(cases[i].driver, cases[i].name) != cases[i].counter)
                        fail_msg("%s: %s", cases[i].driver, cases[i].name);
}

static void test_drivers(void **state _unused_)
{
        static const char *const known[] = {"ixgbe",  "i40e",      "ice",     "igb", "igc",
                                            "e1000e", "mlx5_core", "bnxt_en", "tg3"};
        static const char *const others[] = {"r8169", "r8152", "virtio_net", "mlx5", "ixgbevf", ""};

        for (size_t i = 0; i < PN_ELEMENTS(known); i++)
                if (!pn_nic_counters_are_known(known[i]))
                        fail_msg("%s", known[i]);
        for (size_t i = 0; i < PN_ELEMENTS(others); i++)
                if (pn_nic_counters_are_known(others[i]))
                        fail_msg("%s", others[i]);
        assert_false(pn_nic_counters_are_known(NULL));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_names),
            cmocka_unit_test(test_drivers),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
