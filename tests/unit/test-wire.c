/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests lib/wire.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base.h"
#include "wire.h"

/* A string with NULs inside, and its length. */
#define BYTES(s) s, sizeof(s) - 1

/* Feeds `n` bytes in pieces of `piece`, and writes each message as `[text]` and its ending as `0`
 * or `n` into `out`. */
static int feed(PnWire *wire, const char *bytes, size_t n, size_t piece, char *out)
{
        char *end = out;
        PnMessage message;

        *end = '\0';
        for (size_t i = 0; i < n;) {
                size_t room, m = n - i < piece ? n - i : piece;
                char *at;
                int r = pn_wire_reserve(wire, &at, &room);

                assert_int_equal(r, 0);
                assert_true(room > 0);
                if (m > room)
                        m = room;
                memcpy(at, bytes + i, m);
                pn_wire_filled(wire, m);
                i += m;
                while ((r = pn_wire_next(wire, &message)) > 0) {
                        *end++ = '[';
                        memcpy(end, message.text, message.length);
                        end += message.length;
                        *end++ = ']';
                        *end++ = message.ending ? 'n' : '0';
                        *end = '\0';
                }
                if (r < 0)
                        return r;
        }
        return 0;
}

static const struct {
        const char *in;
        size_t n;
        const char *out;
        bool partial;
} cases[] = {
    {BYTES(""), "", false},
    {BYTES("{}\0"), "[{}]0", false},
    {BYTES("{}\n"), "[{}]n", false},
    {BYTES("{}"), "", true},
    {BYTES("{}\0{}\n{}\0"), "[{}]0[{}]n[{}]0", false},
    /* Empty messages. */
    {BYTES("\n\0\r\n \t\n\0\0{}\0\n"), "[{}]0", false},
    {BYTES("   "), "", false},
    {BYTES(" \r\t{}\0"), "[{}]0", false},
    /* White space after the object, CRLF, and a newline that follows a NUL. */
    {BYTES("{} \t\r\n"), "[{} \t\r]n", false},
    {BYTES("{}\r\n{}\r\n"), "[{}\r]n[{}\r]n", false},
    /* A newline inside is white space. */
    {BYTES("{\n\"a\"\n:\n1\n}\n"), "[{\n\"a\"\n:\n1\n}]n", false},
    {BYTES("{\"a\":{\"b\":{}}}\n"), "[{\"a\":{\"b\":{}}}]n", false},
    {BYTES("{\"a\":{\n\"b\":{\n}\n}\n}\n"), "[{\"a\":{\n\"b\":{\n}\n}\n}]n", false},
    /* Braces, quotes and backslashes in strings. */
    {BYTES("{\"}\":\"{{\"}\n"), "[{\"}\":\"{{\"}]n", false},
    {BYTES("{\"a\\\"}\":1}\n"), "[{\"a\\\"}\":1}]n", false},
    {BYTES("{\"a\\\\\":\"}\"}\n"), "[{\"a\\\\\":\"}\"}]n", false},
    /* A NUL ends anything, at once. */
    {BYTES("{\"a\0"), "[{\"a]0", false},
    {BYTES("{\"a\\\0{}\0"), "[{\"a\\]0[{}]0", false},
    {BYTES("{{{\0"), "[{{{]0", false},
    /* A newline in a string is never JSON. */
    {BYTES("{\"a\n\"}\n"), "[{\"a]n[\"}]n", false},
    /* Garbage is handed out, to be refused. */
    {BYTES("GET / HTTP/1.1\r\n"), "[GET / HTTP/1.1\r]n", false},
    {BYTES("hello\0world\n"), "[hello]0[world]n", false},
    {BYTES("[1,2]\n"), "[[1,2]]n", false},
    {BYTES("{} x\n{}\n"), "[{} x]n[{}]n", false},
    {BYTES("{}{}\n"), "[{}{}]n", false},
    {BYTES("}\n"), "[}]n", false},
    {BYTES("hello"), "", true},
    /* Brackets that do not match swallow nothing. */
    {BYTES("{\"a\":[}\n{}\n"), "[{\"a\":[}]n[{}]n", false},
    {BYTES("{\"a\":"), "", true},
    {BYTES("{\"a\":\n"), "", true},
};

static void test_every_cut(void **state _unused_)
{
        for (size_t i = 0; i < PN_ELEMENTS(cases); i++)
                for (size_t piece = 1; piece <= cases[i].n + 1; piece++) {
                        PnWire wire = {0};
                        char out[256];

                        assert_int_equal(feed(&wire, cases[i].in, cases[i].n, piece, out), 0);
                        assert_string_equal(out, cases[i].out);
                        assert_int_equal(pn_wire_is_partial(&wire), cases[i].partial);
                        pn_wire_done(&wire);
                }
}

static void test_released_when_idle(void **state _unused_)
{
        PnWire wire = {0};
        char out[256];

        assert_int_equal(feed(&wire, BYTES("{\"method\":\"a.B\"}\0"), 100, out), 0);
        assert_null(wire.data);
        assert_int_equal(feed(&wire, BYTES("\r\n  "), 100, out), 0);
        assert_null(wire.data);
        assert_false(pn_wire_is_partial(&wire));
        assert_int_equal(feed(&wire, BYTES("{"), 100, out), 0);
        assert_non_null(wire.data);
        assert_true(wire.capacity <= 1024);
        pn_wire_done(&wire);
}

/* An object with `n` bytes and its terminator. */
static char *object_of(size_t n, char ending)
{
        char *text = malloc(n + 1);

        assert_non_null(text);
        memset(text, 'x', n);
        memcpy(text, "{\"", 2);
        memcpy(text + n - 4, "\":1}", 4);
        text[n] = ending;
        return text;
}

static void test_limit(void **state _unused_)
{
        static const size_t pieces[] = {1, 999, 1000, 4096, 1 << 20};
        char *out = malloc(PN_REQUEST_MAX + 64);

        assert_non_null(out);
        for (size_t i = 0; i < PN_ELEMENTS(pieces); i++) {
                char *most = object_of(PN_REQUEST_MAX, '\0');
                char *more = object_of(PN_REQUEST_MAX + 1, '\n');
                PnWire wire = {0};
                PnMessage message;

                assert_int_equal(feed(&wire, most, PN_REQUEST_MAX + 1, pieces[i], out), 0);
                assert_int_equal(strlen(out), PN_REQUEST_MAX + 3);
                assert_null(wire.data);
                assert_int_equal(feed(&wire, more, PN_REQUEST_MAX + 2, pieces[i], out), -EMSGSIZE);
                assert_int_equal(pn_wire_next(&wire, &message), -EMSGSIZE);
                pn_wire_done(&wire);
                free(most);
                free(more);
        }
        free(out);
}

/* More blanks than a request may have bytes are still nothing. */
static void test_blanks_are_no_request(void **state _unused_)
{
        size_t n = PN_REQUEST_MAX * 3;
        char *blanks = malloc(n), out[16];
        PnWire wire = {0};

        assert_non_null(blanks);
        memset(blanks, ' ', n);
        assert_int_equal(feed(&wire, blanks, n, 4096, out), 0);
        assert_int_equal(feed(&wire, BYTES("{}\n"), 4096, out), 0);
        assert_string_equal(out, "[{}]n");
        free(blanks);
        pn_wire_done(&wire);
}

/* When nothing is taken out, the buffer fills up and says so. */
static void test_full(void **state _unused_)
{
        PnWire wire = {.max = 100};
        size_t room;
        char *at;
        int r;

        while ((r = pn_wire_reserve(&wire, &at, &room)) == 0) {
                memset(at, '\n', room);
                pn_wire_filled(&wire, room);
        }
        assert_int_equal(r, -ENOBUFS);
        assert_true(wire.capacity <= 102);
        pn_wire_done(&wire);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_every_cut), cmocka_unit_test(test_released_when_idle),
            cmocka_unit_test(test_limit),     cmocka_unit_test(test_blanks_are_no_request),
            cmocka_unit_test(test_full),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
