/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the output can show, and the gate that foreign text passes; knows nothing of hardware. */

#include "term.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <wchar.h>

/* Prose in longer lines is hard to read, however wide the terminal. */
#define PROSE_MAX 116

static const char *const styles[STYLE_N] = {
    [STYLE_PLAIN] = "",
    [STYLE_GOOD] = "\033[32m",
    [STYLE_NOTICE] = "\033[33m",
    [STYLE_WARNING] = "\033[1;33m",
    [STYLE_CRITICAL] = "\033[1;31m",
    [STYLE_DIM] = "\033[2m",
    [STYLE_BOLD] = "\033[1m",
};

const char *term_style(Style style)
{
        return styles[style];
}

/* What we write ourselves beyond ASCII, and what stands in for it. */
static const struct {
        uint32_t c;
        const char *ascii;
} typography[] = {
    {0x00a0, " "}, /* no-break space */
    {0x00b0, ""},  /* degree sign */
    {0x00b5, "u"}, /* micro sign */
    {0x00b7, "-"}, /* middle dot */
    {0x00d7, "x"}, /* multiplication sign */
    {0x00c4, "Ae"}, {0x00d6, "Oe"}, {0x00dc, "Ue"}, {0x00df, "ss"}, {0x00e4, "ae"},
    {0x00f6, "oe"}, {0x00fc, "ue"}, /* German letters */
    {0x2011, "-"},                  /* non-breaking hyphen */
    {0x2013, "-"},                  /* en dash */
    {0x2014, "-"},                  /* em dash */
    {0x2018, "'"},  {0x2019, "'"},  {0x201c, "\""}, {0x201d, "\""}, {0x2026, "..."}, /* ellipsis */
    {0x2192, "->"},                                                                  /* arrow */
    {0x25b2, "!"},                                                                   /* triangle */
    {0x25cb, "o"},                                                                   /* circle */
    {0x25cf, "*"},                                                                   /* disc */
    {0x2717, "X"},                                                                   /* ballot x */
};

static const char *environment(const char *name)
{
        const char *value = getenv(name);

        return value && *value ? value : NULL;
}

void term_load_locale(void)
{
        static bool loaded;

        /* A session over ssh often names a locale that this host does not have: its terminal
         * understands UTF-8 all the same. */
        if (!loaded && !setlocale(LC_CTYPE, ""))
                (void)setlocale(LC_CTYPE, "C.UTF-8");
        loaded = true;
}

/* The name decides where it says what it means: reading a locale's tables takes as long as all the
 * rest of this program. */
static bool locale_is_utf8(void)
{
        const char *name = environment("LC_ALL");

        if (!name)
                name = environment("LC_CTYPE");
        if (!name)
                name = environment("LANG");
        if (!name || strcmp(name, "C") == 0 || strcmp(name, "POSIX") == 0)
                return false;
        if (strcasestr(name, ".utf-8") || strcasestr(name, ".utf8"))
                return true;
        return setlocale(LC_CTYPE, "") && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static unsigned columns_from_environment(void)
{
        const char *columns = environment("COLUMNS");
        char *end;
        unsigned long n;

        if (!columns || *columns < '0' || *columns > '9')
                return 0;
        n = strtoul(columns, &end, 10);
        return *end == '\0' && n > 0 && n < 100000 ? (unsigned)n : 0;
}

void term_init(Term *term)
{
        struct winsize size = {0};

        *term = (Term){.width = columns_from_environment(), .utf8 = locale_is_utf8()};
        /* Only a terminal answers this, so it is the test for one as well. */
        term->tty = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
        if (!term->tty)
                return;
        term->rows = size.ws_row ? size.ws_row : 24;
        if (!term->width)
                term->width = size.ws_col ? size.ws_col : 80;
        term->color = environment("TERM") && strcmp(environment("TERM"), "dumb") != 0 &&
                      !environment("NO_COLOR");
}

/* Takes one character off well-formed UTF-8; anything else is one byte of U+FFFD. Returns its
 * length. */
static size_t decode(const char *text, uint32_t *ret)
{
        const unsigned char *s = (const unsigned char *)text;
        static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
        size_t n = s[0] < 0x80   ? 1
                   : s[0] < 0xc2 ? 0
                   : s[0] < 0xe0 ? 2
                   : s[0] < 0xf0 ? 3
                   : s[0] < 0xf5 ? 4
                                 : 0;
        uint32_t c;

        *ret = 0xfffd;
        if (n == 0)
                return 1;
        c = n == 1 ? s[0] : s[0] & (0xffu >> (n + 1));
        for (size_t i = 1; i < n; i++) {
                if ((s[i] & 0xc0) != 0x80)
                        return 1;
                c = c << 6 | (s[i] & 0x3fu);
        }
        if (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
                return 1;
        *ret = c;
        return n;
}

/* Characters without ink that reorder or break the line around them. */
static bool is_sly(uint32_t c)
{
        return c == 0x061c || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
               (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff0 && c <= 0xfffb) ||
               (c >= 0xe0000 && c <= 0xe0fff);
}

size_t term_take(const char *text, uint32_t *ret)
{
        size_t n = decode(text, ret);

        if (*ret < 0x20 || (*ret >= 0x7f && *ret < 0xa0) || is_sly(*ret) ||
            (*ret & 0xfffe) == 0xfffe)
                *ret = 0xfffd;
        return n;
}

/* The columns of a character; -1 for one that cannot be printed. Our own typography is narrow. */
static int width_of(uint32_t c)
{
        if (c < 0x80)
                return 1;
        for (size_t i = 0; i < PN_ELEMENTS(typography); i++)
                if (typography[i].c == c)
                        return 1;
        term_load_locale();
        return wcwidth((wchar_t)c);
}

static unsigned columns_of(uint32_t c)
{
        int width = width_of(c);

        return width < 0 ? 1 : (unsigned)width;
}

/* The columns of the first n bytes of cleaned text. */
static unsigned span_columns(const Term *term, const char *clean, size_t n)
{
        unsigned columns = 0;

        if (!term->utf8)
                return (unsigned)n;
        for (const char *end = clean + n; clean < end;) {
                uint32_t c = (unsigned char)*clean;

                if (c < 0x80) {
                        clean++;
                        columns++;
                        continue;
                }
                clean += decode(clean, &c);
                columns += columns_of(c);
        }
        return columns;
}

unsigned term_columns(const Term *term, const char *clean)
{
        return span_columns(term, clean, strlen(clean));
}

static void clean_into(const Term *term, PnBuf *out, const char *text)
{
        while (*text) {
                size_t plain = 0;
                uint32_t c;
                size_t n;

                while (text[plain] >= 0x20 && text[plain] < 0x7f)
                        plain++;
                pn_buf_put(out, text, plain);
                text += plain;
                if (!*text)
                        break;
                n = decode(text, &c);
                if (c < 0x20 || (c >= 0x7f && c < 0xa0) || is_sly(c)) {
                        pn_buf_put(out, "?", 1);
                } else if (term->utf8) {
                        if (c == 0xfffd || width_of(c) < 0)
                                pn_buf_puts(out, "\xef\xbf\xbd");
                        else
                                pn_buf_put(out, text, n);
                } else {
                        const char *ascii = "?";

                        for (size_t i = 0; i < PN_ELEMENTS(typography); i++)
                                if (typography[i].c == c)
                                        ascii = typography[i].ascii;
                        pn_buf_puts(out, ascii);
                }
                text += n;
        }
}

char *term_clean(const Term *term, const char *text)
{
        _cleanup_buf_ PnBuf buf = {0};
        char *clean;

        clean_into(term, &buf, text);
        if (!buf.data)
                return buf.error ? NULL : strdup("");
        return pn_buf_take(&buf, &clean, NULL) < 0 ? NULL : clean;
}

/* The bytes of `clean` that fit into `columns`. */
static size_t fitting(const Term *term, const char *clean, unsigned columns)
{
        size_t n = 0;
        unsigned used = 0;

        while (clean[n]) {
                uint32_t c = 0;
                size_t length = term->utf8 ? decode(clean + n, &c) : 1;

                used += term->utf8 ? columns_of(c) : 1;
                if (used > columns)
                        break;
                n += length;
        }
        return n;
}

char *term_cut(const Term *term, const char *clean, unsigned columns)
{
        const char *dots = term->utf8 ? "…" : columns > 5 ? ".." : "~";
        unsigned dots_width = term->utf8 ? 1 : (unsigned)strlen(dots);
        char *cut;
        size_t n;

        if (term_columns(term, clean) <= columns)
                return strdup(clean);
        n = fitting(term, clean, columns > dots_width ? columns - dots_width : 0);
        while (n > 0 && clean[n - 1] == ' ')
                n--;
        return asprintf(&cut, "%.*s%s", (int)n, clean, columns ? dots : "") < 0 ? NULL : cut;
}

void term_put(const Term *term, PnBuf *out, const char *text)
{
        clean_into(term, out, text);
}

void term_put_styled(const Term *term, PnBuf *out, Style style, const char *text)
{
        bool styled = term->color && style != STYLE_PLAIN;

        if (styled)
                pn_buf_puts(out, term_style(style));
        clean_into(term, out, text);
        if (styled)
                pn_buf_puts(out, STYLE_END);
}

/* A figure and its unit are one word: "50 %", "16 GT/s x4". */
static bool is_unit(const char *s)
{
        static const char *const units[] = {"%", "GT/s", "GB/s", "GiB", "TB", "GB", "°C"};

        for (size_t i = 0; i < PN_ELEMENTS(units); i++) {
                size_t n = strlen(units[i]);

                if (strncmp(s, units[i], n) == 0 && strchr(" .,:;)", s[n]))
                        return true;
        }
        return s[0] == 'x' && s[1] >= '0' && s[1] <= '9';
}

static size_t word_length(const char *s)
{
        size_t n = strcspn(s, " ");

        while (s[n] == ' ' && ((s[n - 1] >= '0' && s[n - 1] <= '9') || s[n - 1] == 's') &&
               is_unit(s + n + 1))
                n += 1 + strcspn(s + n + 1, " ");
        return n;
}

void term_put_wrapped(const Term *term, PnBuf *out, unsigned at, unsigned indent, Style style,
                      const char *text)
{
        unsigned width = term->width > PROSE_MAX ? PROSE_MAX : term->width;
        bool styled = term->color && style != STYLE_PLAIN;
        _cleanup_free_ char *clean = term_clean(term, text);
        const char *s = clean;
        bool fresh = true; /* nothing of the text is on this line yet */

        if (!clean) {
                out->error = -ENOMEM;
                return;
        }
        if (width && width <= indent + 8)
                width = indent + 8;
        if (styled)
                pn_buf_puts(out, term_style(style));
        while (*(s += strspn(s, " "))) {
                size_t n = word_length(s);
                unsigned columns = span_columns(term, s, n);

                if (width && at + (fresh ? 0 : 1) + columns > width && !(fresh && at <= indent)) {
                        pn_buf_printf(out, "\n%*s", (int)indent, "");
                        at = indent;
                        fresh = true;
                }
                if (!fresh) {
                        pn_buf_put(out, " ", 1);
                        at++;
                }
                if (width && columns > width - at) {
                        size_t whole = n;

                        n = fitting(term, s, width - at);
                        if (n == 0 || n > whole)
                                n = whole;
                        columns = width;
                }
                pn_buf_put(out, s, n);
                at += columns;
                fresh = false;
                s += n;
        }
        if (styled)
                pn_buf_puts(out, STYLE_END);
        pn_buf_put(out, "\n", 1);
}
