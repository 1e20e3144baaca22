/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs one command on many hosts by ssh, side by side. Knows nothing of what is asked. */
#pragma once

#include <sys/types.h>

#include "buf.h"

/* A longer answer is refused. */
#define HOST_ANSWER_MAX ((size_t)256 << 20)

typedef enum Progress {
        NOT_ASKED,
        ASKED,
        ANSWERED,
        TOO_LATE,
        TOO_MUCH,
        NOT_WAITED_FOR,
        NO_SSH
} Progress;

typedef struct Host {
        char *name;
        Progress progress;
        pid_t child;
        int out, complaint; /* what ssh prints, and what it complains of */
        int64_t deadline;
        PnBuf answer, complaints;
        int status; /* as waitpid() gives it; -1: not ended */
        int error;  /* why ssh could not be run */
} Host;

typedef struct Hosts {
        Host *v;
        unsigned n;
        const char *ssh;
        char *command; /* for the shell over there */
        int64_t patience_ms;
} Hosts;

/* Asks all hosts, so many at once that a slow one delays nobody; each is then ANSWERED or tells why
 * not. An interrupt ends the waiting for those that have not answered. 0 or -errno. */
int remote_ask_all(Hosts *hosts);
