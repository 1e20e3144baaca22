/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests lib/phrase.c with a small book, and the real one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "buf.h"
#include "phrase.h"

#define S(places, english)                "." places "\0" english "\0"
#define P(kind, context, places, english) kind places "\0" context "\4" english "\0"

static const char book[] = S("*#", "%s is at %s °C.") /* */
    S("**", "%s is %s.")                              /* */
    S("n*", "The %s is in %s.")                       /* */
    S("#", "%s %% lost.")                             /* */
    S("*B", "Bond %s: %s.")                           /* */
    S(".", "Before that: %s")                         /* */
    S("", "It is over.")                              /* */
    S("", "Nobody has said this.")                    /* */
    P("n", "noun", "", "drive")                       /* */
    P("b", "member", "*", "%s has no link") P("b", "member", "*", "%s has no partner");

static const char *say_german(const char *key)
{
        static const struct {
                const char *key, *said;
        } said[] = {
            {"%s is at %s °C.", "%2$s °C: %1$s."},
            {"%s is %s.", "%s ist %s."},
            {"The %s is in %s.", "In %2$s steckt %1$s."},
            {"%s %% lost.", "%s %% verloren."},
            {"Bond %s: %s.", "Bond %s: %s."},
            {"Before that: %s", "Davor: %s"},
            {"It is over.", "Es ist vorbei."},
            {"noun\4drive", "das Laufwerk"},
            {"member\4%s has no link", "%s ohne Link"},
            {"member\4%s has no partner", "%s ohne Gegenstelle"},
        };

        for (size_t i = 0; i < PN_ELEMENTS(said); i++)
                if (strcmp(key, said[i].key) == 0)
                        return said[i].said;
        return NULL;
}

static const char *say_same(const char *key)
{
        const char *context = strchr(key, '\4');

        return context ? context + 1 : key;
}

static void expect(char kind, const char *text, const char *expected)
{
        _cleanup_(pn_phrases_freep) PnPhrases *phrases = NULL;
        _cleanup_free_ char *said = NULL;
        int r;

        assert_int_equal(pn_phrases_new(book, sizeof book - 1, &phrases), 0);
        r = pn_phrases_translate(phrases, kind, text, say_german, &said);
        assert_int_equal(r, expected ? 1 : 0);
        if (expected)
                assert_string_equal(said, expected);
        else
                assert_null(said);
}

static void test_places(void **state _unused_)
{
        expect('.', "nvme0 is at 48 °C.", "48 °C: nvme0.");
        expect('.', "25 % lost.", "25 % verloren.");
        expect('.', "The drive is in slot 3.", "In slot 3 steckt das Laufwerk.");
        expect('n', "drive", "das Laufwerk");
        /* What is no number, or no such phrase, fits another row, or none. */
        expect('.', "nvme0 is at home °C.", "nvme0 ist at home °C.");
        expect('.', "The dog is in slot 3.", "The dog ist in slot 3.");
        expect('.', "x % lost.", NULL);
        expect('n', "dog", NULL);
        /* A place holds something. */
        expect('.', " is at 48 °C.", NULL);
        expect('.', "nvme0 is .", NULL);
}

static void test_most_text_wins(void **state _unused_)
{
        /* "%s is %s." fits, too. */
        expect('.', "a is b is at 1 °C.", "1 °C: a is b.");
}

static void test_sentences(void **state _unused_)
{
        expect('.', "It is over. nvme0 is at 48 °C. 25 % lost.",
               "Es ist vorbei. 48 °C: nvme0. 25 % verloren.");
        /* A name with an end of a sentence in it. */
        expect('.', "FINISAR CORP. X1 is at 7 °C. It is over.",
               "7 °C: FINISAR CORP. X1. Es ist vorbei.");
        expect('.', "Before that: nvme0 is at 48 °C. It is over.",
               "Davor: 48 °C: nvme0. Es ist vorbei.");
        /* All or nothing: half of two languages helps nobody. */
        expect('.', "25 % lost. Quite so.", NULL);
        expect('.', "25 % lost. Nobody has said this.", NULL);
        expect('.', "25 % lost. ", NULL);
        expect('.', "", NULL);
}

static void test_lists(void **state _unused_)
{
        expect('.', "Bond b0: e0 has no link.", "Bond b0: e0 ohne Link.");
        expect('.', "Bond b0: e0 has no link, e1 has no partner, e2 has no link.",
               "Bond b0: e0 ohne Link, e1 ohne Gegenstelle, e2 ohne Link.");
        expect('.', "Bond b0: e0 has no link; a, b has no link.",
               "Bond b0: e0 ohne Link; a, b ohne Link.");
        expect('.', "Bond b0: e0 has no link, .", NULL);
        expect('.', "Bond b0: e0 has no link, e1 is asleep.",
               "Bond b0: e0 has no link, e1 ist asleep.");
}

/* What a device or another machine says may be anything. */
static void test_hostile(void **state _unused_)
{
        char text[PN_PHRASE_TEXT_MAX * 2];

        expect('.', "%s%n%1$s is at 48 °C.", "48 °C: %s%n%1$s.");
        expect('.', "\x1b[2J is \xff\xfe.", "\x1b[2J ist \xff\xfe.");
        expect('.', "100 % is \4noun.", "100 % ist \4noun.");
        memset(text, 'x', sizeof text);
        memcpy(text + sizeof text - 7, " is a.", 7);
        expect('.', text, NULL);
        /* Very many ways to take it apart, none of which fits: given up. */
        memset(text, '\0', sizeof text);
        for (size_t i = 0; i + 5 < PN_PHRASE_TEXT_MAX; i += 4)
                memcpy(text + i, " is ", 5);
        expect('.', text, NULL);
        memset(text, '\0', sizeof text);
        memcpy(text, "Bond b: ", 9);
        for (size_t i = strlen(text); i + 20 < PN_PHRASE_TEXT_MAX; i = strlen(text))
                memcpy(text + i, "x has no link, ", 16);
        expect('.', text, NULL);
        memset(text, '\0', sizeof text);
        for (size_t i = 0; i + 14 < PN_PHRASE_TEXT_MAX; i = strlen(text))
                memcpy(text + i, "Before that: ", 14);
        expect('.', text, NULL);
        memset(text, '\0', sizeof text);
        for (size_t i = 0; i + 3 < PN_PHRASE_TEXT_MAX; i = strlen(text))
                memcpy(text + i, "a. ", 4);
        expect('.', text, NULL);
}

static void refuse(const char *bytes, size_t size)
{
        PnPhrases *phrases = NULL;

        assert_int_equal(pn_phrases_new(bytes, size, &phrases), -EINVAL);
        assert_null(phrases);
}

static void test_no_books(void **state _unused_)
{
        static const char unended[] = {'.', '\0', 'x'};
        static const char half[] = ".\0";

        refuse("", 0);
        refuse(unended, sizeof unended);
        refuse(half, 2);
        refuse(S("", "%s"), sizeof(S("", "%s")) - 1);
        refuse(S("**", "%s"), sizeof(S("**", "%s")) - 1);
        refuse(S("**", "%s%s"), sizeof(S("**", "%s%s")) - 1);
        refuse(S("*", "%d"), sizeof(S("*", "%d")) - 1);
        refuse(S("", "100 %"), sizeof(S("", "100 %")) - 1);
}

/* ---- the real book ---- */

static const char *first_of(char kind, const char **ret_places)
{
        for (const char *at = pn_phrasebook; at < pn_phrasebook + pn_phrasebook_size;) {
                const char *key = at + strlen(at) + 1;

                if (*at == kind) {
                        *ret_places = at + 1;
                        return say_same(key);
                }
                at = key + strlen(key) + 1;
        }
        fail_msg("no row of the book is of the kind %c", kind);
        return NULL;
}

/* A text that a row would be: places are filled with phrases of their kind. Recursion follows the
 * book. */
static void write_example(PnBuf *out, const char *english, const char *places, unsigned depth)
{
        assert_true(depth < 6);
        for (const char *in = english; *in; in++) {
                if (*in != '%') {
                        pn_buf_put(out, in, 1);
                } else if (*++in == '%') {
                        pn_buf_puts(out, "%");
                } else {
                        char kind = *places++;
                        bool many = kind >= 'A' && kind <= 'Z';

                        if (kind == '*')
                                pn_buf_puts(out, "nvme0 (A. B, c)");
                        else if (kind == '#')
                                pn_buf_puts(out, "-12.5");
                        for (int i = 0; kind != '*' && kind != '#' && i < (many ? 3 : 1); i++) {
                                const char *below = NULL;
                                const char *item =
                                    first_of(many ? (char)(kind - 'A' + 'a') : kind, &below);

                                pn_buf_puts(out, i ? ", " : "");
                                write_example(out, item, below, depth + 1);
                        }
                }
        }
}

static void test_each_row(void **state _unused_)
{
        _cleanup_(pn_phrases_freep) PnPhrases *phrases = NULL;
        unsigned n = 0;

        assert_int_equal(pn_phrases_new(pn_phrasebook, pn_phrasebook_size, &phrases), 0);
        for (const char *at = pn_phrasebook; at < pn_phrasebook + pn_phrasebook_size; n++) {
                const char *key = at + strlen(at) + 1;
                _cleanup_buf_ PnBuf text = {0};
                _cleanup_free_ char *said = NULL;

                write_example(&text, say_same(key), at + 1, 0);
                assert_int_equal(text.error, 0);
                assert_int_equal(pn_phrases_translate(phrases, *at, text.data, say_same, &said), 1);
                assert_string_equal(said, text.data);
                at = key + strlen(key) + 1;
        }
        assert_true(n > 300);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_places),    cmocka_unit_test(test_most_text_wins),
            cmocka_unit_test(test_sentences), cmocka_unit_test(test_lists),
            cmocka_unit_test(test_hostile),   cmocka_unit_test(test_no_books),
            cmocka_unit_test(test_each_row),
        };

        return cmocka_run_group_tests_name("phrase", tests, NULL, NULL);
}
