/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Follows the daemons of other machines, over ssh. */
#pragma once

#include "cli.h"

/* The verb `watch` for cli->hosts. Returns the exit code. */
int watch_hosts(Cli *cli);
