/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the page into the file that --output names; knows nothing of what is on it. */
#pragma once

#include "cli.h"

/* Who may read the file: everybody, its owner alone, or as the umask has it. */
#define SAVE_FOR_ALL   0644
#define SAVE_FOR_OWNER 0600
#define SAVE_AS_UMASK  (-1)

/* Writes the page to cli->output and empties it: into a file beside it that takes its place when it
 * is whole, so that who reads it sees the one before or this one. What is no file (a link, a
 * pipe, a terminal) is written to as it is. Without --output, and for "-", it does nothing. Gives
 * the exit status. */
int save_page(Cli *cli, int mode);
