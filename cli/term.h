/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the output can show: its width, its characters, its colours; and the one gate that foreign
 * text passes on its way there. Knows nothing of hardware. */
#pragma once

#include "buf.h"

typedef enum Style {
        STYLE_PLAIN,
        STYLE_GOOD,     /* at its best */
        STYLE_NOTICE,   /* below what it could be */
        STYLE_WARNING,  /* broken in part */
        STYLE_CRITICAL, /* broken */
        STYLE_DIM,      /* there, but of no interest now */
        STYLE_BOLD,
        STYLE_N,
} Style;

typedef struct Term {
        unsigned width; /* columns of a line; 0: as long as it needs (a pipe, a file) */
        unsigned rows;  /* of the terminal; 0: not a terminal */
        bool tty, color, utf8;
} Term;

/* Looks at standard output, COLUMNS, TERM, NO_COLOR and the locale's name. */
void term_init(Term *term);

/* Loads LC_CTYPE, for a library that depends on it. What is in this file does so itself once it
 * meets a character that it does not know: most pages have none. */
void term_load_locale(void);

/* The columns that cleaned text takes up. */
unsigned term_columns(const Term *term, const char *clean);

/* A copy (malloc'ed; NULL when memory is short) that is safe to print: no control characters, no
 * invisible ones that turn the direction of writing around, nothing that the locale lacks. Our own
 * typography becomes ASCII where it must; what is foreign and cannot be shown becomes '?'. */
char *term_clean(const Term *term, const char *text);

/* Cuts cleaned text in place to `columns`, the last of them an ellipsis. It may need up to 3 bytes
 * more than the character that it replaces: the result is a new string (NULL without memory). */
char *term_cut(const Term *term, const char *clean, unsigned columns);

/* Takes the first character off text that is not empty, for output that is no terminal: U+FFFD for
 * what is not UTF-8, a control character, or one without ink that turns writing around. Returns the
 * bytes that it took. */
size_t term_take(const char *text, uint32_t *ret);

/* Puts text, cleaned; and in a style where the terminal has colours. */
void term_put(const Term *term, PnBuf *out, const char *text);
void term_put_styled(const Term *term, PnBuf *out, Style style, const char *text);

/* The escape sequence that begins a style, "" for plain; STYLE_END ends every style. */
const char *term_style(Style style);
#define STYLE_END "\033[0m"

/* Puts a paragraph. Its first line starts at column `at` (what is there has been put already), the
 * next ones at `indent`; lines end before the terminal's width, and words stay whole unless they
 * alone are longer than a line. Ends with a newline. */
void term_put_wrapped(const Term *term, PnBuf *out, unsigned at, unsigned indent, Style style,
                      const char *text);
