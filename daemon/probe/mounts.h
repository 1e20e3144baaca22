/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is mounted and swapped to, from /proc; knows no block device but by its number and path. */
#pragma once

#include "base.h"

typedef struct PnMount {
        uint64_t device; /* major in the high half; major 0 for file systems without one device */
        bool whole;      /* the root of the file system, not a part of it (a bind mount) */
        char *point, *fstype, *source;
} PnMount;

typedef struct PnMounts {
        PnMount *mounts; /* by device; of the same device the best to name first */
        size_t n;
        char **swaps; /* paths: "/dev/dm-1" */
        size_t n_swaps;
} PnMounts;

/* Reads the mounts that PID 1 sees, for our own may be those of a sandbox; ours where those may not
 * be read. What cannot be read is empty: -ENOMEM is the only failure. */
int pn_mounts_read(PnMounts *ret);
void pn_mounts_done(PnMounts *mounts);

/* The mount to name for a block device, or NULL. */
const PnMount *pn_mounts_find(const PnMounts *mounts, uint64_t device);

/* "8:1" as PnMount.device; 0 for anything else, which is no block device. */
uint64_t pn_device_number(const char *s);
