/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A text that grows, and JSON's lexical rules. Ours rather than json-c's serialiser because an
 * answer is written once, straight from the structs, with no tree of objects in between: for 5,000
 * functions that tree would be 20 times the size of the text. */

#include "buf.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void pn_buf_done(PnBuf *buf)
{
        free(buf->data);
        *buf = (PnBuf){0};
}

/* Room for `n` more bytes and the final NUL. */
static bool reserve(PnBuf *buf, size_t n)
{
        size_t capacity = buf->capacity ? buf->capacity : 256;
        char *bigger;

        if (buf->error)
                return false;
        if (n < buf->capacity && buf->len < buf->capacity - n)
                return true;
        if (n > SIZE_MAX / 4 || buf->len > SIZE_MAX / 4)
                capacity = 0;
        else
                while (capacity <= buf->len + n)
                        capacity *= 2;
        bigger = capacity ? realloc(buf->data, capacity) : NULL;
        if (!bigger) {
                buf->error = -ENOMEM;
                return false;
        }
        buf->data = bigger;
        buf->capacity = capacity;
        return true;
}

void pn_buf_put(PnBuf *buf, const void *bytes, size_t n)
{
        if (!reserve(buf, n))
                return;
        if (n)
                memcpy(buf->data + buf->len, bytes, n);
        buf->len += n;
        buf->data[buf->len] = '\0';
}

void pn_buf_puts(PnBuf *buf, const char *s)
{
        pn_buf_put(buf, s, strlen(s));
}

void pn_buf_printf(PnBuf *buf, const char *format, ...)
{
        va_list args;
        char small[256];
        int n;

        va_start(args, format);
        n = vsnprintf(small, sizeof small, format, args);
        va_end(args);
        if (n < 0) {
                buf->error = buf->error ? buf->error : -ENOMEM;
                return;
        }
        if ((size_t)n < sizeof small) {
                pn_buf_put(buf, small, (size_t)n);
                return;
        }
        if (!reserve(buf, (size_t)n))
                return;
        va_start(args, format);
        (void)vsnprintf(buf->data + buf->len, (size_t)n + 1, format, args);
        va_end(args);
        buf->len += (size_t)n;
}

/* Length of the well-formed UTF-8 sequence at `s` (NUL-terminated), 0 if there is none
 * (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF). */
static size_t utf8_sequence(const unsigned char *s)
{
        static const struct {
                unsigned char first, last, second_first, second_last;
                size_t length;
        } rows[] = {
            {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
            {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
            {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
        };

        if (*s < 0x80)
                return 1;
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                if (*s < rows[i].first || *s > rows[i].last)
                        continue;
                if (s[1] < rows[i].second_first || s[1] > rows[i].second_last)
                        return 0;
                for (size_t k = 2; k < rows[i].length; k++)
                        if ((s[k] & 0xc0) != 0x80)
                                return 0;
                return rows[i].length;
        }
        return 0;
}

void pn_buf_json_string(PnBuf *buf, const char *s)
{
        const unsigned char *p = (const unsigned char *)s, *plain = p;

        if (!s) {
                pn_buf_put(buf, "null", 4);
                return;
        }
        pn_buf_put(buf, "\"", 1);
        for (;;) {
                size_t length;

                while (*p >= 0x20 && *p < 0x7f && *p != '"' && *p != '\\')
                        p++;
                if (!*p)
                        break;
                length = utf8_sequence(p);
                if (length > 1) {
                        p += length;
                        continue;
                }
                pn_buf_put(buf, plain, (size_t)(p - plain));
                if (length == 0)
                        pn_buf_put(buf, "\xef\xbf\xbd", 3);
                else if (*p == '"' || *p == '\\')
                        pn_buf_put(buf, (const char[]){'\\', (char)*p}, 2);
                else if (*p == '\n')
                        pn_buf_put(buf, "\\n", 2);
                else
                        pn_buf_printf(buf, "\\u%04x", *p);
                plain = ++p;
        }
        pn_buf_put(buf, plain, (size_t)(p - plain));
        pn_buf_put(buf, "\"", 1);
}

void pn_buf_json_real(PnBuf *buf, double v)
{
        char text[64];

        if (!isfinite(v) || fabs(v) > 1e18) {
                pn_buf_put(buf, "null", 4);
                return;
        }
        for (int precision = 0; precision <= 20; precision++) {
                int n = snprintf(text, sizeof text, "%.*f", precision, v);

                if (n > 0 && (size_t)n < sizeof text && strtod(text, NULL) == v)
                        break;
        }
        pn_buf_puts(buf, strcmp(text, "-0") == 0 ? "0" : text);
}

int pn_buf_take(PnBuf *buf, char **ret, size_t *ret_len)
{
        if (!buf->data && !buf->error)
                pn_buf_put(buf, "", 0);
        if (buf->error)
                return buf->error;
        *ret = buf->data;
        if (ret_len)
                *ret_len = buf->len;
        *buf = (PnBuf){0};
        return 0;
}
