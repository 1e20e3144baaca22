/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a program for each alert, one after the other, none for ever. Knows no daemon and not what
 * an alert is; never waits. */
#pragma once

#include <signal.h>

#include "cli.h"
#include "model.h"

typedef struct Runner Runner;

/* For a program (a path, or a name in $PATH). Its SIGCHLD must reach runner_step(), and `mask` is
 * the signal mask that it gets. 0; or the exit code, after having said what is wrong. */
int runner_new(Cli *cli, const char *program, const sigset_t *mask, Runner **ret);

/* Says how many alerts it was not run for, if any; one that runs is left to run. */
void runner_free(Runner *runner);
PN_DEFINE_CLEANUP(Runner *, runner_free);

/* Queues an alert: `state` is raised, changed or cleared. 0 or -ENOMEM. */
int runner_add(Runner *runner, const PnFinding *finding, const char *state);

/* Looks after the program that runs, and starts the next. */
void runner_step(Runner *runner);

/* Milliseconds until runner_step() has something to do even without SIGCHLD; -1: nothing. */
int runner_wait_ms(const Runner *runner);
