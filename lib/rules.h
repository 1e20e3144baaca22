/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The finding codes and how a finding is made; used by assess.c and its rules, knows no rule. */
#pragma once

#include "model.h"
#include "places.h"
#include "policy.h"
#include "ports.h"
#include "rating.h"
#include "topology.h"

/* What rules look at; nothing in it changes while they run but `findings` and `places`. */
typedef struct PnFacts {
        const PnInventory *inventory;
        const PnRatings *ratings;
        const PnTopology *topology;
        const PnPorts *ports;
        const PnInventory *before; /* the inventory before this one; NULL: none is known */
        const PnPolicy *policy;
        const char *now; /* RFC 3339, UTC */
        PnPlaces places;
        PN_LIST(PnFinding) findings;
} PnFacts;

/* Adds a finding with its code, severity, device and stable subject; the rule then writes the
 * words. NULL when memory is short. `drive` and `address` may be NULL. */
PnFinding *pn_finding_add(PnFacts *facts, const char *code, const char *severity,
                          const PnNvme *drive, const char *address, const char *other_subject);

/* The same for a port or a bond: its subject is the address that it was made with. */
PnFinding *pn_finding_add_for_nic(PnFacts *facts, const char *code, const char *severity,
                                  const PnNic *nic);

/* The rules. 0 or -ENOMEM. */
int pn_rules_pcie(PnFacts *facts);
int pn_rules_nvme(PnFacts *facts);
int pn_rules_nic(PnFacts *facts);
int pn_rules_health(PnFacts *facts);
int pn_rules_sensors(PnFacts *facts);
int pn_rules_probe(PnFacts *facts);

/* The hottest and the most worn of an inventory, for the host of a status; absent where nothing is
 * known. 0 or -ENOMEM. */
int pn_find_vitals(const PnInventory *inventory, const PnPolicy *policy, PnStatus *status);

/* The sentence of PnStatus.summary, for a status whose ratings and findings are complete. */
int pn_summarise(const PnInventory *inventory, const PnPorts *ports, PnStatus *status);
