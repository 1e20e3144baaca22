/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the administrator decided: intervals, limits, devices to leave alone, links that are as they
 * are meant to be. Knows the words of pnhwd.conf, and not where it lies. */
#pragma once

#include "value.h"

/* A link that its owner knows to be narrower or slower than it could be, and wants so. */
typedef struct PnExpectedLink {
        char *device; /* as in `excluded` */
        double speed; /* GT/s */
        int64_t width;
} PnExpectedLink;

typedef struct PnPolicy {
        int64_t interval_s; /* between two readings of all but what follows */

        /* NVMe health: a drive's normal interval, that near a limit, and the longest for a drive
         * that answers slowly; whether to ask what a cloud's hypervisor emulates. */
        int64_t health_interval_s, health_hot_interval_s, health_longest_interval_s;
        bool health_of_emulated;
        bool sensors_of_slow_buses;

        /* Limits: of drives that have none of their own (°C), and of wear (percent). */
        int64_t nvme_warning_c, nvme_critical_c;
        int64_t worn_info, worn_warning;

        PnTexts excluded; /* names, addresses, serial numbers; with * and ? as in a shell */
        unsigned n_links;
        PnExpectedLink *links;
} PnPolicy;

/* The policy where there is no file. */
#define PN_POLICY_DEFAULT                                                                          \
        {                                                                                          \
                .interval_s = 60, .health_interval_s = 300, .health_hot_interval_s = 60,           \
                .health_longest_interval_s = 3600, .nvme_warning_c = 70, .nvme_critical_c = 80,    \
                .worn_info = 80, .worn_warning = 100,                                              \
        }

void pn_policy_done(PnPolicy *policy);

/* Applies one line of the file, "key = value" in a section. An empty value undoes what earlier
 * lines said of the key. 0; -ENOMEM; or -EINVAL with a malloc'ed sentence that says what is wrong
 * and what would be right: then the policy is as it was. */
int pn_policy_set(PnPolicy *policy, const char *section, const char *key, const char *value,
                  char **ret_error);

/* Whether a device with one of these names (each may be NULL) is to be left alone. */
bool pn_policy_excludes(const PnPolicy *policy, const char *const *names, size_t n);

/* The expected link of a device with one of these names, or NULL. */
const PnExpectedLink *pn_policy_link(const PnPolicy *policy, const char *const *names, size_t n);
