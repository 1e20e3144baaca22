/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes lib/text.c: the input is a field's bytes. */
#include "base.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
        if (!truth)
                abort();
}

static void check(int r, const char *text, size_t size, bool ascii)
{
        size_t n;

        if (r == 0) {
                require(text == NULL);
                return;
        }
        require(r == 1 && text != NULL);
        n = strlen(text);
        require(n > 0 && n <= size);
        require(text[0] != ' ' && text[n - 1] != ' ');
        require(pn_utf8_valid(text, n));
        for (size_t i = 0; i < n; i++) {
                unsigned char c = (unsigned char)text[i];

                require(c >= 0x20 && c != 0x7f && (!ascii || c < 0x7f));
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *ascii = NULL, *utf8 = NULL, *again = NULL;
        int r;

        r = pn_text_from_bytes(data, size, &ascii);
        check(r, ascii, size, /* ascii= */ true);
        r = pn_text_from_utf8(data, size, &utf8);
        check(r, utf8, size, /* ascii= */ false);
        require(!ascii == !utf8);

        /* What is clean stays as it is. */
        if (utf8) {
                require(pn_text_from_utf8(utf8, strlen(utf8), &again) == 1);
                require(pn_streq(utf8, again));
        }
        (void)pn_utf8_valid((const char *)data, size);
        return 0;
}
