/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which of a network driver's own counters are ones that a standard defines. Pure; knows no
 * request.
 *
 * The same name means different things with different drivers ("rx_errors", "rx_oversize"), so a
 * name counts with its driver alone. */
#pragma once

#include "base.h"

typedef enum PnNicCounter {
        PN_NIC_COUNTER_OTHER,
        PN_NIC_COUNTER_FCS,               /* IEEE 802.3, 30.3.1.1.6, aFrameCheckSequenceErrors */
        PN_NIC_COUNTER_SYMBOL,            /* 30.3.2.1.5, aSymbolErrorDuringCarrier */
        PN_NIC_COUNTER_OVERSIZE,          /* RFC 2819, etherStatsOversizePkts */
        PN_NIC_COUNTER_FEC_CORRECTED,     /* IEEE 802.3, 30.5.1.1.17, aFECCorrectedBlocks */
        PN_NIC_COUNTER_FEC_UNCORRECTABLE, /* 30.5.1.1.18, aFECUncorrectableBlocks */
} PnNicCounter;

/* Whether any name of a driver (as sysfs has it: "mlx5_core") is known. `driver` may be NULL. */
bool pn_nic_counters_are_known(const char *driver);

/* What a driver's counter is. */
PnNicCounter pn_nic_counter(const char *driver, const char *name);
