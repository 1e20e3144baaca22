/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What assess.c runs over the facts. */
#pragma once

#include "finding.h"

/* The rules. 0 or -ENOMEM. */
int pn_rules_pcie(PnFacts *facts);
int pn_rules_nvme(PnFacts *facts);
int pn_rules_nic(PnFacts *facts);
int pn_rules_health(PnFacts *facts);
int pn_rules_sensors(PnFacts *facts);
int pn_rules_probe(PnFacts *facts);
int pn_rules_growth(PnFacts *facts); /* what only a memory can tell */

/* The hottest and the most worn of an inventory, for the host of a status; absent where nothing is
 * known. 0 or -ENOMEM. */
int pn_find_vitals(const PnInventory *inventory, const PnPolicy *policy, PnStatus *status);

/* The sentence of PnStatus.summary, for a status whose ratings and findings are complete. */
int pn_summarise(const PnInventory *inventory, const PnPorts *ports, PnStatus *status);
