/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A report in Markdown, as wikis take it: tables as GitHub writes them, and every foreign character
 * that means something there escaped. Knows no hardware. */

#include <ctype.h>

#include "report.h"
#include "say.h"

/* Columns that a character takes up in an editor: tables should look like tables there, too. */
static unsigned columns_of(uint32_t c)
{
        if ((c >= 0x300 && c < 0x370) || c == 0x200d)
                return 0;
        return (c >= 0x1100 && c < 0x1160) || (c >= 0x2e80 && c < 0xd7a4) ||
                       (c >= 0xf900 && c < 0xfb00) || (c >= 0xff00 && c < 0xff61) ||
                       (c >= 0x1f300 && c < 0x1faff) || (c >= 0x20000 && c < 0x40000)
                   ? 2
                   : 1;
}

static bool is_word(char c)
{
        return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* Whether a character would begin or end markup where it stands. `first` is the start of a line or
 * cell, where more of them do. */
static bool is_markup(const char *text, const char *at)
{
        bool first = at == text;

        switch (*at) {
        case '\\':
        case '`':
        case '*':
        case '[':
        case ']':
        case '|':
        case '~':
        case '@': /* a mail address would become a link */
                return true;
        case '_': /* inside a word it means nothing: PCIEX16_3 */
                return first || !is_word(at[-1]) || !is_word(at[1]);
        case '#':
        case '+':
        case '-':
        case '=':
                return first;
        case '!':
                return at[1] == '[';
        case ':':
                return pn_startswith(at, "://");
        case '.':
                if (at - text >= 3 && strncasecmp(at - 3, "www", 3) == 0)
                        return true;
                /* fall through */
        case ')': /* "1. " and "1) " begin a list */
                if (at[1] && at[1] != ' ')
                        return false;
                for (const char *digit = text; digit < at; digit++)
                        if (!isdigit((unsigned char)*digit))
                                return false;
                return !first;
        default:
                return false;
        }
}

/* Puts text with its markup taken out; returns the columns that it takes up. Of white space one
 * blank is left, and none at the start. */
static unsigned put_text(PnBuf *out, const char *text)
{
        unsigned columns = 0;

        text += strspn(text, " ");
        for (const char *at = text; *at;) {
                size_t start = out->len, n;
                uint32_t c;

                if (*at == ' ' && (at[1] == ' ' || !at[1])) {
                        at++;
                        continue;
                }
                n = term_take(at, &c);
                if (c == 0xfffd) {
                        pn_buf_puts(out, "\xef\xbf\xbd");
                        columns++;
                } else if (c == '<' || c == '>' || c == '&') {
                        pn_buf_puts(out, c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;");
                        columns += (unsigned)(out->len - start);
                } else {
                        bool escaped = is_markup(text, at);

                        pn_buf_puts(out, escaped ? "\\" : "");
                        pn_buf_put(out, at, n);
                        columns += columns_of(c) + escaped;
                }
                at += n;
        }
        return columns;
}

static void begin(PnBuf *out, const char *title)
{
        pn_buf_puts(out, "# ");
        (void)put_text(out, title);
        pn_buf_puts(out, "\n");
}

static void heading(PnBuf *out, unsigned level, const char *text)
{
        pn_buf_printf(out, "\n%.*s ", (int)level, "######");
        (void)put_text(out, text);
        pn_buf_puts(out, "\n");
}

static void paragraph(PnBuf *out, const char *text, _unused_ ParagraphKind kind)
{
        pn_buf_puts(out, "\n");
        (void)put_text(out, text);
        pn_buf_puts(out, "\n");
}

static void finding(PnBuf *out, const Told *told)
{
        pn_buf_printf(out, "\n- %s **", view_mark(told->mark));
        (void)put_text(out, told->severity);
        pn_buf_puts(out, ":** ");
        (void)put_text(out, told->summary);
        pn_buf_puts(out, "\n");
        if (told->advice) {
                pn_buf_puts(out, "  - → ");
                (void)put_text(out, told->advice);
                pn_buf_puts(out, "\n");
        }
        if (told->affects) {
                pn_buf_printf(out, "  - %s: ", _("Affects"));
                (void)put_text(out, told->affects);
                pn_buf_puts(out, "\n");
        }
}

static void facts(PnBuf *out, const Grid *grid)
{
        pn_buf_puts(out, "\n");
        for (unsigned i = 0; i < grid->n_rows; i++) {
                pn_buf_puts(out, "- ");
                (void)put_text(out, grid->rows[i].cells[0]);
                pn_buf_puts(out, ": ");
                (void)put_text(out, grid->rows[i].cells[1]);
                pn_buf_puts(out, "\n");
        }
}

static unsigned text_columns(const char *text)
{
        unsigned columns = 0;

        while (*text) {
                uint32_t c;

                text += term_take(text, &c);
                columns += columns_of(c);
        }
        return columns;
}

/* Inside a fence nothing is markup but the fence; ours is longer than any run of it in the text. */
static void put_verbatim(PnBuf *out, const char *text)
{
        while (*text) {
                uint32_t c;
                size_t n = term_take(text, &c);

                if (c == 0xfffd)
                        pn_buf_puts(out, "\xef\xbf\xbd");
                else
                        pn_buf_put(out, text, n);
                text += n;
        }
}

static int fence_for(const Grid *grid)
{
        int longest = 2;

        for (unsigned i = 0; i < grid->n_rows; i++) {
                int run = 0;

                for (const char *s = grid->rows[i].cells[1]; s && *s; s++) {
                        run = *s == '`' ? run + 1 : 0;
                        if (run > longest)
                                longest = run;
                }
        }
        return longest + 1 < 80 ? longest + 1 : 80;
}

static void listing(PnBuf *out, const char *title, const Grid *grid)
{
        static const char ticks[] =
            "````````````````````````````````````````````````````````````````````````````````";
        int fence = fence_for(grid);
        unsigned width = 0;

        for (unsigned i = 0; i < grid->n_rows; i++)
                if (text_columns(grid->rows[i].cells[0]) > width)
                        width = text_columns(grid->rows[i].cells[0]);
        pn_buf_printf(out, "\n%.*s\n", fence, ticks);
        put_verbatim(out, title);
        pn_buf_puts(out, "\n");
        for (unsigned i = 0; i < grid->n_rows; i++) {
                pn_buf_puts(out, " ");
                put_verbatim(out, grid->rows[i].cells[0]);
                pn_buf_printf(out, "%*s : ", (int)(width - text_columns(grid->rows[i].cells[0])),
                              "");
                put_verbatim(out, grid->rows[i].cells[1]);
                pn_buf_puts(out, "\n");
        }
        pn_buf_printf(out, "%.*s\n", fence, ticks);
}

/* A cell as it is written. The mark goes in front of the first. */
static unsigned put_cell(PnBuf *out, const Grid *grid, unsigned row, unsigned column)
{
        const char *cell = grid->rows[row].cells[column];
        unsigned columns = 0;

        if (column == 0 && grid->rows[row].mark != MARK_NONE) {
                pn_buf_printf(out, "%s ", view_mark((Mark)grid->rows[row].mark));
                columns = 2;
        }
        return columns + (cell ? put_text(out, cell) : 0);
}

static unsigned column_width(const Grid *grid, unsigned column)
{
        _cleanup_buf_ PnBuf scratch = {0};
        unsigned width = put_text(&scratch, _(grid->headings[column]));

        for (unsigned i = 0; i < grid->n_rows; i++) {
                unsigned columns = put_cell(&scratch, grid, i, column);

                if (columns > width)
                        width = columns;
        }
        return width < 3 ? 3 : width;
}

static void table(PnBuf *out, const Grid *grid)
{
        unsigned widths[GRID_COLUMNS] = {0};

        for (unsigned k = 0; k < grid->n_columns; k++)
                widths[k] = grid_has_column(grid, k) ? column_width(grid, k) : 0;
        pn_buf_puts(out, "\n");
        for (unsigned k = 0; k < grid->n_columns; k++)
                if (widths[k]) {
                        unsigned columns;

                        pn_buf_puts(out, "| ");
                        columns = put_text(out, _(grid->headings[k]));
                        pn_buf_printf(out, "%*s ", (int)(widths[k] - columns), "");
                }
        pn_buf_puts(out, "|\n");
        for (unsigned k = 0; k < grid->n_columns; k++)
                if (widths[k]) {
                        pn_buf_puts(out, "|-");
                        for (unsigned i = 0; i < widths[k]; i++)
                                pn_buf_puts(out, "-");
                        pn_buf_puts(out, "-");
                }
        pn_buf_puts(out, "|\n");
        for (unsigned i = 0; i < grid->n_rows; i++) {
                for (unsigned k = 0; k < grid->n_columns; k++)
                        if (widths[k]) {
                                unsigned columns;

                                pn_buf_puts(out, "| ");
                                columns = put_cell(out, grid, i, k);
                                pn_buf_printf(out, "%*s ", (int)(widths[k] - columns), "");
                        }
                pn_buf_puts(out, "|\n");
        }
}

static void end(_unused_ PnBuf *out)
{
}

const Format report_markdown = {begin,   heading, paragraph, finding, facts,
                                listing, table,   NULL,      end};
