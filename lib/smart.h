/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes what an NVMe controller says of its health (NVM Express Base Specification 1.4, sections
 * 5.14.1 and 5.15.2): pure functions over bytes, which know no drive, no clock and no transport. */
#pragma once

#include "model.h"
#include "policy.h"

#define PN_SMART_LOG_SIZE   512
#define PN_ERROR_ENTRY_SIZE 64
#define PN_IDENTIFY_SIZE    4096

/* Decodes log page 02h, SMART / Health Information, into a zeroed object.
 *  - Counters of 128 bits are exact; above 2^63-1 they are unread as `overflow`, and so are bytes,
 *    which are 512,000 times the data units.
 *  - A temperature of 0 or 65,535 K means that there is no such sensor: absent. One that no drive
 *    survives is unread as `malformed`, and so are shares of spare blocks above 100 percent.
 * A log that is all zeros or all ones was never written by a drive: -EBADMSG. -EINVAL for fewer
 * than PN_SMART_LOG_SIZE bytes, -ENOMEM; the object is empty then. */
int pn_smart_decode(const void *log, size_t n, PnHealth *ret);

/* What Identify Controller says that health needs. Temperatures are absent where the drive sets no
 * limit (0 or 65,535 K), and malformed where no drive could have it. */
typedef struct PnSmartIdentify {
        PnInt warning_c, critical_c; /* WCTEMP, CCTEMP */
        unsigned error_entries;      /* entries that the error log holds: ELPE + 1 */
} PnSmartIdentify;

/* -EINVAL for fewer than PN_IDENTIFY_SIZE bytes, -EBADMSG if all are zeros or ones. */
int pn_smart_identify_controller(const void *data, size_t n, PnSmartIdentify *ret);

/* The bytes of a namespace that hold data, from Identify Namespace (NUSE times the block size of
 * the format in use): absent if the namespace is not active or gives no block size, unread as
 * `malformed` if it claims to use more than it has, as `overflow` above 2^63-1. */
PnInt pn_smart_namespace_used(const void *data, size_t n);

/* Counts, in n bytes of log page 01h (newest entry first), those of the newest `max` entries that
 * the drive refused because it has no such command or field, and those that failed in it. */
void pn_smart_count_errors(const void *log, size_t n, unsigned max, unsigned *ret_refused,
                           unsigned *ret_failed);

/* The temperatures (°C) at which a drive is hot and too hot: its own, where they make sense (no
 * cold room reaches them, and they are in order), else the policy's. */
void pn_nvme_limits(const PnHealth *health, const PnPolicy *policy, int64_t *ret_warning,
                    int64_t *ret_critical);

/* Whether a model number is that of a controller that a cloud's hypervisor emulates: asking it for
 * its health costs seconds of processor time and says nothing. */
bool pn_nvme_is_emulated(const char *model);
