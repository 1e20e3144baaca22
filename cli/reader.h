/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads block devices as fast as they give, and counts. It is handed descriptors that were opened
 * for reading alone, and has no call that writes. Knows no names, no links and no page. */
#pragma once

#include <signal.h>

#include "base.h"

typedef struct ReadPlan {
        bool random;    /* blocks here and there, else one after the other */
        unsigned block; /* bytes of a read: a power of two, a multiple of every device's sector */
        unsigned depth; /* reads that are under way at a time, of each device */
        double seconds;
        bool without_ring;                 /* do without io_uring, for tests */
        const volatile sig_atomic_t *stop; /* not 0: end now */
        void (*progress)(void *userdata);  /* called some ten times a second */
        void *userdata;
} ReadPlan;

/* One device. The caller fills in the first three. */
typedef struct ReadJob {
        int fd;
        uint64_t size; /* bytes; a multiple of the sector, and at least one */
        unsigned sector;

        uint64_t next;  /* where the next read begins */
        uint64_t state; /* of the random numbers; not 0 */
        _Atomic uint64_t bytes, reads;
        unsigned passes; /* times that the end was reached */
        unsigned under_way;
        int64_t started, ended; /* ns on the monotonic clock: first request, last answer */
        int64_t longest;        /* ns that a read took */
        int error;         /* positive errno of the read that failed: the device is left alone */
        uint64_t error_at; /* the byte at which that read began */
        bool is_stuck;     /* reads did not come back; they still may: see read_devices() */
} ReadJob;

/* Reads from all jobs at the same time. Each counts for itself; a job that fails does not end the
 * others. `ret_engine` is "io_uring" or "threads": io_uring may be missing in the build and
 * forbidden by the kernel or a container.
 * If a job is stuck, the memory of jobs and plan must be left alone: the kernel or a thread may
 * still write to it. 0, -ENOMEM, or another negative errno if nothing could be started. */
int read_devices(ReadJob *jobs, unsigned n, const ReadPlan *plan, const char **ret_engine);

/* For the engines alone. */

typedef struct ReadRun {
        ReadJob *jobs;
        unsigned n;
        const ReadPlan *plan;
        int64_t deadline; /* ns */
} ReadRun;

/* Reads that are under way when the time is up must come back within this. */
#define READ_PATIENCE_NS ((int64_t)10 * 1000000000)

int64_t read_now(void);
bool read_is_over(const ReadRun *run);

/* What to read next. */
void read_next(ReadJob *job, const ReadPlan *plan, uint64_t *ret_offset, unsigned *ret_length);

/* Counts an answer: bytes read, or a negative errno. False if the device is to be left alone. */
bool read_account(ReadJob *job, int64_t result, uint64_t offset, int64_t started);

/* -ENOSYS if this build has no liburing, else what the kernel says to a first ring. */
int read_with_ring(ReadRun *run);
