/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moments as text (RFC 3339, UTC) and as seconds since 1970; asks no clock. */
#pragma once

#include "base.h"

#define PN_MINUTE ((int64_t)60)
#define PN_HOUR   (60 * PN_MINUTE)
#define PN_DAY    (24 * PN_HOUR)

typedef char PnWhen[32];

/* "2026-01-02T03:04:05Z" (a fraction of a second is dropped, another offset than Z is applied), or
 * a date alone, which is its first second. Years 1970 to 9999. 0 or -EINVAL. */
int pn_when_parse(const char *text, int64_t *ret);

/* "2026-01-02T03:04:05Z"; the nearest possible for what no four-digit year has. */
const char *pn_when_format(PnWhen text, int64_t seconds);

/* "2026-01-02" */
const char *pn_when_date(PnWhen text, int64_t seconds);
