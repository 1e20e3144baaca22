/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Learns from each reading what later ones are held against: counters, the best that links, ports
 * and fans were seen to do, and which drives there are. Knows no rule and no words. */
#pragma once

#include "finding.h"

/* Brings the memory of the facts up to date. Where memory is short or full, less is learned. */
void pn_learn(PnFacts *facts);

/* How much a counter has grown since its baseline. */
typedef struct PnGrowth {
        int64_t from, to;
        int64_t since; /* when it had the value `from` */
        bool found;    /* it had the value `to` already when it was first read */
} PnGrowth;

/* Counters that are learned; the last word of their key. */
#define PN_COUNTS_MEDIA_ERRORS "media_errors"
#define PN_COUNTS_HOT          "hot_minutes"
#define PN_COUNTS_TOO_HOT      "too_hot_minutes"
#define PN_COUNTS_CORRECTABLE  "aer_correctable"
#define PN_COUNTS_NONFATAL     "aer_nonfatal"
#define PN_COUNTS_FATAL        "aer_fatal"
#define PN_COUNTS_RX_CRC       "rx_crc"
#define PN_COUNTS_FCS          "fcs"
#define PN_COUNTS_RX_ERRORS    "rx_errors"
#define PN_COUNTS_TX_ERRORS    "tx_errors"
#define PN_COUNTS_FEC          "fec_uncorrectable"

/* Whether the counter of a drive, of a PCI function or of a port has grown of late. */
bool pn_grew_of_drive(const PnFacts *facts, const char *what, const PnNvme *drive, PnGrowth *ret);
bool pn_grew_of_function(const PnFacts *facts, const char *what, const PnPci *pci, PnGrowth *ret);
bool pn_grew_of_port(const PnFacts *facts, const char *what, const PnNic *nic, PnGrowth *ret);

/* Whether a drive has said one temperature all the time although it has worked: then it cannot be
 * believed. `ret_since` says from when on. */
bool pn_is_frozen(const PnFacts *facts, const PnNvme *drive, int64_t *ret_since);

/* The best that was seen of a link in this place, of a port, of a fan; NULL if nothing was. */
const PnBest *pn_best_of_link(const PnFacts *facts, const PnRating *rating);
const PnBest *pn_best_of_port(const PnFacts *facts, const PnNic *nic);
const PnBest *pn_best_of_fan(const PnFacts *facts, const PnChip *chip, const PnReading *fan);

/* Whether the drive or disk was not in the inventory that the facts are from. */
bool pn_is_missing(const PnFacts *facts, const PnSeen *seen);

/* Forgets the drive or disk that a finding says is lost, once an administrator knows. */
void pn_forget_lost(PnMemory *memory, const PnFinding *finding);
