/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The words by which one pnhwctl asks another for facts. Knows no way from one to the other. */
#pragma once

#include "cli.h"

#define FACTS_INVENTORY "inventory" /* all of it, as it was read */
#define FACTS_DEVICE    "device="   /* and a device's name */
#define FACTS_METRICS   "metrics"
#define FACTS_CHECK     "check=" /* and a severity; for one device, a comma and its name */

#define FACTS_WATCH "watch" /* each status as it comes, one a line, until nobody reads any more */

int facts_watch(Cli *cli);

/* The word for a Want (source.h); NULL if there is none. */
const char *facts_word(int want);
