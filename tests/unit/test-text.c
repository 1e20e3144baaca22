/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests lib/text.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base.h"
#include "text.h"

/* Copies the bytes to a block of their exact size, so that a sanitizer sees a read past the end. */
static char *convert(int (*function)(const void *, size_t, char **), const char *bytes, size_t n)
{
        _cleanup_free_ char *exact = malloc(n > 0 ? n : 1);
        char *text = (char *)"untouched";
        int r;

        assert_non_null(exact);
        if (n > 0)
                memcpy(exact, bytes, n);
        r = function(exact, n, &text);
        assert_int_equal(r, text ? 1 : 0);
        return text;
}

static void expect(int (*function)(const void *, size_t, char **), const char *bytes, size_t n,
                   const char *expected)
{
        _cleanup_free_ char *text = convert(function, bytes, n);

        if (!expected) {
                assert_null(text);
                return;
        }
        assert_non_null(text);
        assert_string_equal(text, expected);
}

/* A string literal may hold NULs: sizeof counts them, and its own is left out. */
#define EXPECT_BYTES(literal, expected)                                                            \
        expect(pn_text_from_bytes, literal, sizeof(literal) - 1, expected)
#define EXPECT_UTF8(literal, expected)                                                             \
        expect(pn_text_from_utf8, literal, sizeof(literal) - 1, expected)

static void test_bytes_fields(void **state _unused_)
{
        EXPECT_BYTES("EXAMPLE0001         ", "EXAMPLE0001");
        EXPECT_BYTES("  EXAMPLE 2  ", "EXAMPLE 2");
        EXPECT_BYTES("QDV10130", "QDV10130"); /* fills its field */
        EXPECT_BYTES("EXAMPLE-3\n", "EXAMPLE-3");
        EXPECT_BYTES("\t\r\n\v\f x \f\v\n\r\t", "x");
        EXPECT_BYTES("a\nb", "a?b");
        EXPECT_BYTES("a\"b\\c", "a\"b\\c");
        EXPECT_BYTES("abc\0garbage", "abc");
        EXPECT_BYTES("abc  \0  x", "abc");
        EXPECT_BYTES("x\xc2\xa0y", "x??y");
        EXPECT_BYTES("\xff\xff", "??");
        EXPECT_BYTES("\x01 a \x7f", "? a ?");
}

static void test_bytes_empty(void **state _unused_)
{
        static const char zeros[40];
        char *text = (char *)"untouched";

        expect(pn_text_from_bytes, zeros, sizeof zeros, NULL);
        EXPECT_BYTES("", NULL);
        EXPECT_BYTES("        ", NULL);
        EXPECT_BYTES(" \n\0x", NULL);
        EXPECT_BYTES("\0x", NULL);
        assert_int_equal(pn_text_from_bytes(NULL, 0, &text), 0);
        assert_null(text);
}

static void test_bytes_every_byte(void **state _unused_)
{
        for (unsigned c = 0; c < 256; c++) {
                const char bytes[] = {'<', (char)c, '>'};
                _cleanup_free_ char *text = convert(pn_text_from_bytes, bytes, sizeof bytes);
                char expected[] = {'<', c >= 0x20 && c <= 0x7e ? (char)c : '?', '>', '\0'};

                assert_string_equal(text, c == 0 ? "<" : expected);
        }
}

static void test_utf8_kept(void **state _unused_)
{
        EXPECT_UTF8(" L\xc3\xbc"
                    "fter 1\n",
                    "L\xc3\xbc"
                    "fter 1");
        EXPECT_UTF8("\xc2\xa0", "\xc2\xa0"); /* U+00A0, the first after C1 */
        EXPECT_UTF8("\xdf\xbf", "\xdf\xbf");
        EXPECT_UTF8("\xe0\xa0\x80", "\xe0\xa0\x80"); /* U+0800 */
        EXPECT_UTF8("\xe6\xb8\xa9\xe5\xba\xa6", "\xe6\xb8\xa9\xe5\xba\xa6");
        EXPECT_UTF8("\xed\x9f\xbf", "\xed\x9f\xbf"); /* U+D7FF */
        EXPECT_UTF8("\xee\x80\x80", "\xee\x80\x80"); /* U+E000 */
        EXPECT_UTF8("\xef\xbf\xbf", "\xef\xbf\xbf");
        EXPECT_UTF8("\xf0\x90\x80\x80", "\xf0\x90\x80\x80"); /* U+10000 */
        EXPECT_UTF8("\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"); /* U+10FFFF */
        EXPECT_UTF8("caf\xc3\xa9\0more", "caf\xc3\xa9");
}

static void test_utf8_replaced(void **state _unused_)
{
        EXPECT_UTF8("a\x01"
                    "b\x7f"
                    "c",
                    "a?b?c");
        EXPECT_UTF8("a\xc2\x85"
                    "b\xc2\x9f"
                    "c",
                    "a?b?c"); /* C1: one each */
        EXPECT_UTF8("\xff", "?");
        EXPECT_UTF8("\x80", "?");
        EXPECT_UTF8("\xc0\x80", "??");           /* overlong NUL */
        EXPECT_UTF8("\xc1\xbf", "??");           /* overlong DEL */
        EXPECT_UTF8("\xe0\x9f\xbf", "???");      /* overlong U+07FF */
        EXPECT_UTF8("\xf0\x8f\xbf\xbf", "????"); /* overlong U+FFFF */
        EXPECT_UTF8("\xed\xa0\x80", "???");      /* surrogate */
        EXPECT_UTF8("\xed\xbf\xbf", "???");
        EXPECT_UTF8("\xf4\x90\x80\x80", "????"); /* U+110000 */
        EXPECT_UTF8("\xf5\x80\x80\x80", "????");
        EXPECT_UTF8("\xc3", "?"); /* cut at the end of the field */
        EXPECT_UTF8("\xe6\xb8", "??");
        EXPECT_UTF8("\xf0\x9f\x8c", "???");
        EXPECT_UTF8("\xc3\0\xbc", "?"); /* cut by NUL */
        EXPECT_UTF8("\xc3"
                    "a",
                    "?a"); /* the follower is not swallowed */
        EXPECT_UTF8("\xe6\xb8"
                    "a",
                    "??a");
        EXPECT_UTF8("\xc3\xc3\xbc", "?\xc3\xbc");
}

static void test_utf8_empty(void **state _unused_)
{
        EXPECT_UTF8("", NULL);
        EXPECT_UTF8("\0", NULL);
        EXPECT_UTF8(" \t\n", NULL);
}

/* Every pair of bytes: printable and valid, whatever went in. */
static void test_utf8_every_pair(void **state _unused_)
{
        for (unsigned pair = 0; pair < 0x10000; pair++) {
                const char bytes[] = {'<', (char)(pair >> 8), (char)pair, '>'};
                _cleanup_free_ char *text = convert(pn_text_from_utf8, bytes, sizeof bytes);

                assert_non_null(text);
                assert_true(strlen(text) <= sizeof bytes);
                assert_true(pn_utf8_valid(text, strlen(text)));
                for (const char *c = text; *c; c++)
                        assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
        }
}

/* Every 3-byte sequence's validity, against the definition by code points. */
static void test_valid_three_bytes(void **state _unused_)
{
        for (unsigned lead = 0xe0; lead <= 0xef; lead++)
                for (unsigned rest = 0; rest < 0x10000; rest++) {
                        unsigned second = rest >> 8, third = rest & 0xff;
                        const char bytes[] = {(char)lead, (char)second, (char)third};
                        unsigned code = (lead & 0xf) << 12 | (second & 0x3f) << 6 | (third & 0x3f);
                        bool valid = second >> 6 == 2 && third >> 6 == 2 && code >= 0x800 &&
                                     (code < 0xd800 || code > 0xdfff);

                        if (pn_utf8_valid(bytes, sizeof bytes) != valid)
                                fail_msg("%02x %02x %02x", lead, second, third);
                }
}

static void test_valid(void **state _unused_)
{
        assert_true(pn_utf8_valid("", 0));
        assert_true(pn_utf8_valid(NULL, 0));
        assert_true(pn_utf8_valid("a\0b", 3));
        assert_true(pn_utf8_valid("\xf0\x9f\x8c\xa1", 4));
        assert_false(pn_utf8_valid("\xf0\x9f\x8c\xa1", 3));
        assert_false(pn_utf8_valid("ok\xff", 3));
        assert_true(pn_utf8_valid("ok\xff", 2));
        assert_false(pn_utf8_valid("\xf8\x88\x80\x80\x80", 5));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_bytes_fields),
            cmocka_unit_test(test_bytes_empty),
            cmocka_unit_test(test_bytes_every_byte),
            cmocka_unit_test(test_utf8_kept),
            cmocka_unit_test(test_utf8_replaced),
            cmocka_unit_test(test_utf8_empty),
            cmocka_unit_test(test_utf8_every_pair),
            cmocka_unit_test(test_valid_three_bytes),
            cmocka_unit_test(test_valid),
        };

        return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
