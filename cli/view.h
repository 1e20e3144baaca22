/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Marks and words for ratings and findings, the same in every verb. Knows no source and no page. */
#pragma once

#include "index.h"
#include "model.h"
#include "term.h"

/* In the order of how much they matter. */
typedef enum Mark {
        MARK_GOOD,
        MARK_UNJUDGED, /* idle, asleep, handed to a guest; or a finding that needs no action */
        MARK_UNKNOWN,  /* cannot tell */
        MARK_NOTICE,
        MARK_WARNING,
        MARK_CRITICAL,
} Mark;

const char *view_mark(Mark mark);
Style view_mark_style(Mark mark);

/* The mark for a severity word. */
Mark view_severity(const PnText *severity);

/* A severity in the reader's language; "?" for NULL. */
const char *view_severity_word(const char *severity);

/* Why a value is not there, in the reader's language; NULL if it is. */
const char *view_reason(PnState state);

/* The same for a cell of a table: "excluded" where somebody wants it so, else "?". NULL for what a
 * device is not asked, since it has no such value of its own. */
const char *view_missing(PnState state);

/* A drive's own limits where they make sense, as the rules take them; else absent, or unread. */
void view_limits(const PnHealth *health, PnInt *ret_warning, PnInt *ret_critical);

/* What a chip is part of, in the reader's language: "CPU", "network card enp4s0f0"; "" where that
 * is not known. */
void view_part(const PnText *part, const PnText *name, char *buf, size_t size);

/* The findings of a status by the device that they are about, to be looked up often. */
typedef struct View {
        const PnStatus *status;
        const PnFinding **by_address; /* those with an address, sorted */
        unsigned n;
        PnIndex
            by_device; /* findings by the device that they name, and by bonds that they affect */
} View;

/* 0 or -ENOMEM. The status must outlive the view. */
int view_init(View *view, const PnStatus *status);
void view_done(View *view);

/* What a rating's verdict and the findings about its device come to. */
Mark view_rating_mark(const View *view, const PnRating *rating);

/* The device's name, else its address, short. */
const char *view_rating_name(const PnRating *rating);

/* What the link runs at; or, where that says nothing, why: "asleep". */
const char *view_rating_link(const PnRating *rating, char *buf, size_t size);

/* What the device could run at, "" where it does. */
const char *view_rating_could_be(const PnRating *rating, char *buf, size_t size);

/* GB/s that reach the device, and their share of its best; "" where there is no telling. */
const char *view_rating_gbs(const PnRating *rating, char *buf, size_t size);
const char *view_rating_percent(const PnRating *rating, char *buf, size_t size);

/* The verdict in words: "at its best", "slot: few lanes", …. */
const char *view_verdict(const PnRating *rating);

/* The same for the device: a good link to a drive that fails is not what is said first. */
const char *view_device_verdict(const View *view, const PnRating *rating);

/* An address as people write it: without the domain where that is 0000. Every verb takes both. */
const char *view_address(const char *address);

/* Whether a verdict says that less reaches the device than it could use. */
bool view_is_below(const PnRating *rating);

/* Joins texts with ", ". malloc'ed, NULL without memory; "" for none. */
char *view_join(const PnTexts *texts);

/* The same of what depends on something ("zpool tank", "bond bond0"), in the reader's language. */
char *view_join_affected(const PnTexts *texts);

/* What lives on a block device, in one line, each thing once: "zpool rpool". Nothing known is "";
 * uses that could not be found out are "?". malloc'ed, NULL without memory. */
char *view_uses(PnState state, const PnUse *uses, unsigned n);

/* Whether a disk spins, in a word; NULL where there is no telling. */
const char *view_disk_kind(const PnDisk *disk);
