/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A text that grows, with an error that sticks; knows JSON's lexical rules and nothing of what is
 * written. */
#pragma once

#include "base.h"

/* After a failed allocation `error` is -ENOMEM, and every further call does nothing: check once,
 * at the end. `data` is NUL-terminated whenever it is not NULL. */
typedef struct PnBuf {
        char *data;
        size_t len, capacity;
        int error;
} PnBuf;

void pn_buf_done(PnBuf *buf);
void pn_buf_put(PnBuf *buf, const void *bytes, size_t n);
void pn_buf_puts(PnBuf *buf, const char *s);
void pn_buf_printf(PnBuf *buf, const char *format, ...) _printf_(2, 3);

/* A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD, so that the result is
 * always valid JSON; NULL writes `null`. */
void pn_buf_json_string(PnBuf *buf, const char *s);

/* A JSON number: the shortest decimal without exponent that reads back as `v`; a value that is
 * not finite or above 1e18 in size writes `null`. */
void pn_buf_json_real(PnBuf *buf, double v);

/* Hands out the text (malloc'ed, NUL-terminated) and empties the buffer. 0, or the error. */
int pn_buf_take(PnBuf *buf, char **ret, size_t *ret_len);

static inline void pn_buf_cleanup(PnBuf *buf)
{
        pn_buf_done(buf);
}
#define _cleanup_buf_ _cleanup_(pn_buf_cleanup)
