/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was measured: filled in by cmd-measure.c, shown by measure-show.c. */
#pragma once

#include "cli.h"
#include "model.h"
#include "reader.h"
#include "speed.h"

typedef struct Target {
        PnDevice device;
        char *node;          /* "nvme0n1" */
        const PnText *model; /* NULL: not known */
        int fd;
        uint64_t size;
        unsigned sector;
        bool is_done; /* it was read */
        double seconds, bytes_per_second;
        uint64_t bytes, reads;
        unsigned passes;
        double longest_us;
        int error;
        uint64_t error_at;
        bool is_stuck;
        PnSpeed speed;
} Target;

typedef struct Measurement {
        Cli *cli;
        Target *v;
        unsigned n;
        const char *engine;
        unsigned block, depth;
        double seconds;
        bool progress_shown;
        /* those that are read now */
        ReadJob *jobs;
        unsigned first, count;
        PnSpeedShared shared;
        bool interrupted;
} Measurement;

/* Puts all results on the page, in words or as JSON. */
void measure_put_page(const Measurement *all);
void measure_put_json(const Measurement *all);
