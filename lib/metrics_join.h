/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes one OpenMetrics page of the pages of several hosts: each family once, each sample with the
 * host that it is of. Pages are foreign, and are taken whole or not at all. Knows no series but the
 * one that it adds, and no hardware. */
#pragma once

#include "buf.h"

typedef struct PnMetricsJoin PnMetricsJoin;

/* NULL without memory. */
PnMetricsJoin *pn_metrics_join_new(void);
void pn_metrics_join_free(PnMetricsJoin *join);
PN_DEFINE_CLEANUP(PnMetricsJoin *, pn_metrics_join_free);

/* Adds the page of a host. Its samples get a label `host`; one that they have already becomes
 * `exported_host`, as Prometheus does it. 0; -ENOMEM; or -EBADMSG for what is no page or
 * contradicts those before (a family of another type), of which then nothing is taken, with a
 * malloc'ed sentence in `ret_error`. */
int pn_metrics_join_add(PnMetricsJoin *join, const char *host, const char *page, size_t n,
                        char **ret_error);

/* Appends `pnhw_host_up` with 0 or 1 for a host, so that one that is away can be told of. */
void pn_metrics_join_answered(PnMetricsJoin *join, const char *host, bool up);

/* Appends the page. 0 or -ENOMEM. */
int pn_metrics_join_write(const PnMetricsJoin *join, PnBuf *buf);
