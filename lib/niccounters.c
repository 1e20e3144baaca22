/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names that network drivers have for counters that a standard defines. Pure; knows no request.
 *
 * Left out is what only looks like one: "illegal_bytes" of i40e and ice, whose unit nobody says,
 * and "rx_oversize_pkts_phy" of mlx5, which is aFrameTooLongErrors. r8169 counts alignment errors,
 * and none of these. */
#include "niccounters.h"

static const struct {
        const char *driver, *name;
        PnNicCounter counter;
} names[] = {
    {"e1000e", "rx_crc_errors", PN_NIC_COUNTER_FCS},
    {"e1000e", "rx_long_length_errors", PN_NIC_COUNTER_OVERSIZE},
    {"igb", "rx_crc_errors", PN_NIC_COUNTER_FCS},
    {"igb", "rx_long_length_errors", PN_NIC_COUNTER_OVERSIZE},
    {"igc", "rx_crc_errors", PN_NIC_COUNTER_FCS},
    {"igc", "rx_long_length_errors", PN_NIC_COUNTER_OVERSIZE},
    {"ixgbe", "rx_crc_errors", PN_NIC_COUNTER_FCS},
    {"ixgbe", "rx_long_length_errors", PN_NIC_COUNTER_OVERSIZE},
    {"i40e", "port.rx_crc_errors", PN_NIC_COUNTER_FCS},
    {"i40e", "port.rx_oversize", PN_NIC_COUNTER_OVERSIZE},
    {"ice", "rx_crc_errors.nic", PN_NIC_COUNTER_FCS},
    {"ice", "rx_oversize.nic", PN_NIC_COUNTER_OVERSIZE},
    {"mlx5_core", "rx_crc_errors_phy", PN_NIC_COUNTER_FCS},
    {"mlx5_core", "rx_symbol_err_phy", PN_NIC_COUNTER_SYMBOL},
    {"bnxt_en", "rx_fcs_err_frames", PN_NIC_COUNTER_FCS},
    {"bnxt_en", "rx_ovrsz_frames", PN_NIC_COUNTER_OVERSIZE},
    {"bnxt_en", "rx_pcs_symbol_err", PN_NIC_COUNTER_SYMBOL},
    {"bnxt_en", "rx_fec_corrected_blocks", PN_NIC_COUNTER_FEC_CORRECTED},
    {"bnxt_en", "rx_fec_uncorrectable_blocks", PN_NIC_COUNTER_FEC_UNCORRECTABLE},
    {"tg3", "rx_fcs_errors", PN_NIC_COUNTER_FCS},
};

bool pn_nic_counters_are_known(const char *driver)
{
        for (size_t i = 0; driver && i < PN_ELEMENTS(names); i++)
                if (strcmp(names[i].driver, driver) == 0)
                        return true;
        return false;
}

PnNicCounter pn_nic_counter(const char *driver, const char *name)
{
        for (size_t i = 0; i < PN_ELEMENTS(names); i++)
                if (strcmp(names[i].driver, driver) == 0 && strcmp(names[i].name, name) == 0)
                        return names[i].counter;
        return PN_NIC_COUNTER_OTHER;
}
