/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs one command on many hosts by ssh, side by side. Knows nothing of what is asked. */
#pragma once

#include <signal.h>
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
        const sigset_t *mask; /* the signal mask for ssh; NULL: ours */
        bool stays;           /* the command does not end by itself: ssh has to notice if nobody is
                                 there any more, and to end with us */
} Hosts;

void remote_hosts_done(Hosts *hosts);

/* Asks all hosts, so many at once that a slow one delays nobody; each is then ANSWERED or tells why
 * not. An interrupt ends the waiting for those that have not answered. 0 or -errno. */
int remote_ask_all(Hosts *hosts);

/* The same step by step, for one host. Starts ssh: ASKED, or NO_SSH and why. */
void remote_start(const Hosts *hosts, Host *host);

/* Reads what there is, up to `most` bytes. False at the end, and at more than that. */
bool remote_take_answer(Host *host, size_t most, bool *ret_too_much);
void remote_take_complaints(Host *host);

/* Ends with a host, ssh included. It is waited for only as long as a process that can end needs. */
void remote_finish(Host *host, Progress progress);
