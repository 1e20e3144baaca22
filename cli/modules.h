/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a transceiver is and measures, in words and as tables. */
#pragma once

#include "cli.h"
#include "view.h"

/* How far it reaches: "220 m OM1, OM2, OM3", "10 km SMF", "3 m copper"; with `longest_only` on the
 * media on which that is farthest. malloc'ed, NULL without memory. */
char *module_reach(const PnModule *module, bool longest_only);

/* Whether a port is in the list of modules: those that have no cage, or an empty one, are not. */
bool module_is_shown(const PnNic *nic);

/* Everything about a module: identity, then what each lane measures, with the value's place between
 * the module's own limits. 0 or -ENOMEM. */
int module_put(Cli *cli, const PnModule *module);
