/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text out of devices' bytes: always printable and valid UTF-8. Knows no device and no encoding but
 * ASCII and UTF-8. */
#include "text.h"

/* The locale must not decide what is white space. */
static bool is_space(uint8_t c)
{
        return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The length in bytes, 1..4, of the well-formed sequence that s starts with, 0 if it starts with
 * none. RFC 3629, section 4: the second byte's range depends on the first, which is what excludes
 * overlong forms (e0, f0), surrogates (ed) and code points above U+10FFFF (f4). */
static size_t utf8_sequence(const uint8_t *s, size_t n)
{
        uint8_t low = 0x80, high = 0xbf;
        size_t length;

        if (n == 0)
                return 0;
        if (s[0] <= 0x7f)
                return 1;
        if (s[0] >= 0xc2 && s[0] <= 0xdf)
                length = 2;
        else if (s[0] >= 0xe0 && s[0] <= 0xef)
                length = 3;
        else if (s[0] >= 0xf0 && s[0] <= 0xf4)
                length = 4;
        else
                return 0;
        if (length > n)
                return 0;

        if (s[0] == 0xe0)
                low = 0xa0;
        else if (s[0] == 0xed)
                high = 0x9f;
        else if (s[0] == 0xf0)
                low = 0x90;
        else if (s[0] == 0xf4)
                high = 0x8f;
        if (s[1] < low || s[1] > high)
                return 0;
        for (size_t i = 2; i < length; i++)
                if (s[i] < 0x80 || s[i] > 0xbf)
                        return 0;
        return length;
}

/* Whether a well-formed sequence is a control character: C0, DEL, or C1 (U+0080..U+009F, which are
 * c2 80..c2 9f). */
static bool is_control(const uint8_t *s, size_t length)
{
        if (length == 1)
                return s[0] < 0x20 || s[0] == 0x7f;
        return length == 2 && s[0] == 0xc2 && s[1] < 0xa0;
}

bool pn_utf8_valid(const char *s, size_t n)
{
        const uint8_t *bytes = (const uint8_t *)s;

        for (size_t i = 0; i < n;) {
                size_t length = utf8_sequence(bytes + i, n - i);

                if (length == 0)
                        return false;
                i += length;
        }
        return true;
}

static int text_from(const void *bytes, size_t n, bool utf8, char **ret)
{
        const uint8_t *from = bytes;
        const uint8_t *nul = n > 0 ? memchr(from, '\0', n) : NULL;
        size_t start = 0, end = nul ? (size_t)(nul - from) : n, written = 0;
        char *text;

        while (start < end && is_space(from[start]))
                start++;
        while (end > start && is_space(from[end - 1]))
                end--;
        if (start == end) {
                *ret = NULL;
                return 0;
        }

        text = malloc(end - start + 1);
        if (!text)
                return -ENOMEM;
        for (size_t i = start; i < end;) {
                size_t length = utf8_sequence(from + i, utf8 ? end - i : 1);

                if (length == 0 || is_control(from + i, length))
                        text[written++] = '?';
                else {
                        memcpy(text + written, from + i, length);
                        written += length;
                }
                i += length == 0 ? 1 : length;
        }
        text[written] = '\0';
        *ret = text;
        return 1;
}

int pn_text_from_bytes(const void *bytes, size_t n, char **ret)
{
        return text_from(bytes, n, /* utf8= */ false, ret);
}

int pn_text_from_utf8(const void *bytes, size_t n, char **ret)
{
        return text_from(bytes, n, /* utf8= */ true, ret);
}
