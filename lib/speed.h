/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Holds a measured speed against the links that it came over; pure functions. Knows nothing of how
 * it was measured. */
#pragma once

#include "buf.h"
#include "model.h"

/* Gives a text in another language: sentences are made of it. NULL in its place: English. */
typedef const char *PnTranslate(const char *text);

typedef enum PnSpeedLimit {
        PN_SPEED_UNKNOWN, /* no link is known, or it says nothing of this */
        PN_SPEED_DRIVE,   /* far below what the link carries */
        PN_SPEED_EITHER,  /* in between: the drive or the link */
        PN_SPEED_SLOT,    /* the link is full, and the slot offers no more */
        PN_SPEED_FAULT,   /* the link is full, and runs below what both its ends could do */
        PN_SPEED_LINK,    /* the link is full, and at its best */
        PN_SPEED_PATH,    /* a narrower link further up is full */
        PN_SPEED_SHARED,  /* a link further up is full of several devices' data */
} PnSpeedLimit;

/* The word for JSON: drive, either, slot, … */
const char *pn_speed_limit_name(PnSpeedLimit limit);

typedef struct PnSpeed {
        double bytes_per_second;
        PnSpeedLimit limit;
        const PnRating *hop; /* the link that it is held against; NULL if none is known */
        int percent;         /* of that link; -1 */
} PnSpeed;

/* Judges what one device alone reached. `device` must outlive the result. */
void pn_speed_judge(const PnDevice *device, double bytes_per_second, PnSpeed *ret);

/* A link that several devices read over at the same time. */
typedef struct PnSpeedShared {
        const PnRating *hop; /* NULL: they share none */
        double bytes_per_second;
        unsigned devices;
        int percent;
        bool is_limit;
} PnSpeedShared;

/* Of several devices that were read together (`speeds` judged, in the same order), the fullest link
 * that at least two of them share. If it is full, their limits become PN_SPEED_SHARED. */
void pn_speed_share(const PnDevice *const *devices, PnSpeed *speeds, unsigned n,
                    PnSpeedShared *ret);

/* "4,450 MB/s, 57 % of the link: the drive is the limit." */
void pn_speed_sentence(PnBuf *out, const PnSpeed *speed, PnTranslate *say);

/* "Together 6,912 MB/s over 0000:02:00.0, 88 % of that link: it is the limit." */
void pn_speed_shared_sentence(PnBuf *out, const PnSpeedShared *shared, PnTranslate *say);

/* "9,091 reads a second of 4 KiB, one at a time: each takes 110 µs, the longest took 2.3 ms." */
void pn_speed_random_sentence(PnBuf *out, double reads_per_second, unsigned bytes, double mean_us,
                              double longest_us, PnTranslate *say);

/* Bytes a second as "4,450 MB/s". */
void pn_speed_put(PnBuf *out, double bytes_per_second, PnTranslate *say);

/* The finding for which a device should be left alone: it fails, hangs or is gone. NULL if none. */
const PnFinding *pn_speed_forbids(const PnDevice *device);
