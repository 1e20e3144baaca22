/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is known as a page of metrics, for Prometheus and what reads the same: from an inventory and
 * a status to OpenMetrics text. A pure function; knows no clock, no file and no way to be served.
 */
#pragma once

#include "model.h"

/* Appends the page (OpenMetrics 1.0, ended by `# EOF`), in an order that the inventory alone gives.
 * What is unread or does not apply has no sample. No series is there twice, whatever the inventory
 * holds: the first one counts. 0 or -ENOMEM. */
int pn_metrics_write(PnBuf *buf, const PnInventory *inventory, const PnStatus *status);

/* Appends the same page in Prometheus's older text format, which node_exporter's textfile collector
 * reads: it has neither units nor the types `info` and `unknown`, and a counter's name with its
 * `_total`. Lines that it does not know are taken over as they are. */
void pn_metrics_to_prometheus(PnBuf *buf, const char *openmetrics, size_t n);

/* Appends docs/metrics.md: every family with its type, labels and meaning. */
void pn_metrics_describe(PnBuf *buf);
