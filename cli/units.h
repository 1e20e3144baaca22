/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers as people read them: link rates, sizes, shares, times. Knows no object and no terminal.
 */
#pragma once

#include "model.h"

/* Room for everything that is written here. */
#define UNITS_MAX 48

typedef char Units[UNITS_MAX];

/* "16 GT/s x4"; what is not known of it is left out, "" if nothing is. */
const char *units_link(Units buf, const PnReal *speed, const PnInt *width);
const char *units_rate(Units buf, const PnLinkRate *rate);

/* Mb/s as GB/s with two digits that count: "7.9", "0.25", "31". */
const char *units_gbs(Units buf, int64_t mbps);

/* Decimal, as drives are sold: "2.00 TB". */
const char *units_size(Units buf, int64_t bytes);

/* Binary, as memory is sold: "64 GiB". */
const char *units_memory(Units buf, int64_t bytes);

/* The shortest decimal: 2.5, 16. */
const char *units_real(Units buf, double v);

/* An RFC 3339 time in UTC as local time, without the date if it is today's: "12:04:31",
 * "2021-08-14 12:04:31". A text that is no such time comes back as it is (cut to the room). */
const char *units_time(Units buf, const char *rfc3339);

/* The same with its date always, and to the minute: "2021-08-14 12:04". */
const char *units_date(Units buf, const char *rfc3339);

/* The processor without the words that every processor has: "AMD Ryzen 9 3950X 16-Core Processor"
 * is "Ryzen 9 3950X". malloc'ed, NULL without memory. */
char *units_cpu(const char *model);
