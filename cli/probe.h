/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs pnhw-probe once and takes what it prints, with a deadline and a cap. Reads none of it. */
#pragma once

#include "cli.h"

/* 0 and the probe's output; or the exit code, after having said what is wrong. */
int probe_run(Cli *cli, PnBuf *ret);
