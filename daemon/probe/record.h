/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the probe remembers of a device between its runs: one small file each in /run/pnhw-probe
 * that is lock and memory in one. Knows nothing of what is remembered.
 *
 * The directory is writable by the probes' own users alone; what is in it is believed no more than
 * a checksum and the reader's own care allow. It is empty after a boot, so times of CLOCK_BOOTTIME
 * in it are of this boot. */
#pragma once

#include "base.h"

/* The directory, opened; with `create`, root makes it where tmpfiles.d has not, and an ordinary
 * user makes one of his own in his session's. -1 if there is none. */
int pn_record_directory(bool create);

/* A record that this process holds. The lock lasts until pn_record_close(), or, if that is never
 * called because a device does not answer, as long as the process, which is as long as the thread
 * that the kernel holds. */
typedef struct PnRecord {
        int fd; /* -1: none */
} PnRecord;

/* Opens and locks a record without waiting, and makes it where there is none. `name` is a file
 * name. 0; -EWOULDBLOCK if another process (or thread) has it; or another negative errno. */
int pn_record_open(const char *name, PnRecord *ret);

/* The same for a record that is there already: -ENOENT if it is not. */
int pn_record_find(const char *name, PnRecord *ret);

/* Reads what was last written, if that was of this size and kind (a number that changes with the
 * layout). true, or false and nothing is changed. */
bool pn_record_read(const PnRecord *record, uint32_t kind, void *data, size_t size);

/* 0 or a negative errno. */
int pn_record_write(const PnRecord *record, uint32_t kind, const void *data, size_t size);

static inline void pn_record_close(PnRecord *record)
{
        pn_close(PN_STEAL_FD(record->fd));
}
#define _cleanup_record_ _cleanup_(pn_record_close)
