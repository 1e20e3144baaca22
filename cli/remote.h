/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Other machines, asked over ssh: their own pnhwctl is run there and hands over facts, which are
 * shown here as if they were this machine's. Knows no hardware and no layout. */
#pragma once

#include "cli.h"

/* What a verb runs in. First it is run to find out what it wants to know: then `host` is NULL, and
 * source.c notes it in `wanted`. Later it is run for each host, with that host's answer. */
typedef struct Remote {
        const char *host; /* cleaned of nothing: it holds only what remote_check_hosts() takes */
        char *wanted;     /* malloc'ed: a word of cmd_facts() */
        const char *answer;
        size_t length;
        bool has_failed; /* what is on the page says why there is no answer */
} Remote;

/* Runs a verb for all of cli->hosts. Returns the exit code: not 0 if one host has no answer; for
 * monitoring, the worst of all. */
int remote_run(Cli *cli, VerbFunction verb, const char *argument);

/* What a verb came to with a host's answer, or without one. */
typedef struct RemoteResult {
        const char *host;
        const PnBuf *page;
        int code;
        bool has_failed;
} RemoteResult;

/* The same for a verb that makes one answer of all: each result is handed to `take`, in the order
 * of the hosts, and nothing else is done with it. */
typedef void (*RemoteTake)(Cli *cli, const RemoteResult *result);
int remote_collect(Cli *cli, VerbFunction verb, const char *argument, RemoteTake take);

/* For a verb that keeps its connections: the hosts that were given, with the question `wanted` (a
 * word of cmd_facts()). 0 or the exit code, after having said what is wrong. */
struct Hosts;
struct Host;
int remote_hosts(Cli *cli, const char *wanted, const char *argument, struct Hosts *ret);

/* Why a host has no answer: a name for programs and a malloc'ed sentence. 0 if it has one, 1 if
 * not, -ENOMEM. */
int remote_explain(const struct Hosts *hosts, const struct Host *host, const char **ret_error,
                   char **ret_sentence);

/* The worse of two exit codes: for monitoring critical, warning, unknown, and then what is good. */
int remote_worse(const Cli *cli, int a, int b);
