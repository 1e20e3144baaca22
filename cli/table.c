/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables and trees that fit the terminal; knows nothing of hardware. Measuring, cutting and leaving
 * out columns happens here for both. libsmartcols draws the trees; plain tables, which are on every
 * page, we write ourselves: it takes a tenth of the time, and needs no locale. */

#include "table.h"

#include <stdarg.h>
#include <stdio.h>

#include "say.h"
#include "smartcols.h"

#define GAP 2u

typedef struct Cell {
        char *text; /* cleaned; NULL: empty */
        unsigned width;
        Style style;
} Cell;

typedef struct Row {
        int parent;
        unsigned depth;
        Cell *cells;
} Row;

struct Table {
        const Term *term;
        const Column *columns;
        unsigned n_columns, n_rows, capacity;
        Row *rows;
        Column *own_columns; /* if they are not the author's */
        bool failed;
};

/* How a column comes out. */
typedef struct Fit {
        unsigned natural, width;
        bool dropped;
} Fit;

Table *table_new(const Term *term, const Column *columns, unsigned n_columns)
{
        Table *table = calloc(1, sizeof *table);

        if (table)
                *table = (Table){.term = term, .columns = columns, .n_columns = n_columns};
        return table;
}

void table_free(Table *table)
{
        if (!table)
                return;
        for (unsigned i = 0; i < table->n_rows; i++) {
                for (unsigned c = 0; c < table->n_columns; c++)
                        free(table->rows[i].cells[c].text);
                free(table->rows[i].cells);
        }
        free(table->rows);
        free(table->own_columns);
        free(table);
}

int table_row(Table *table, int parent)
{
        Row row = {.parent = parent};

        if (!table || table->failed)
                return TABLE_NO_PARENT;
        if (table->n_rows == table->capacity) {
                unsigned capacity = table->capacity ? table->capacity * 2 : 16;
                Row *rows = reallocarray(table->rows, capacity, sizeof *rows);

                if (!rows) {
                        table->failed = true;
                        return TABLE_NO_PARENT;
                }
                table->rows = rows;
                table->capacity = capacity;
        }
        row.cells = calloc(table->n_columns, sizeof *row.cells);
        if (!row.cells) {
                table->failed = true;
                return TABLE_NO_PARENT;
        }
        if (parent >= 0)
                row.depth = table->rows[parent].depth + 1;
        table->rows[table->n_rows] = row;
        return (int)table->n_rows++;
}

void table_set_styled(Table *table, unsigned column, Style style, const char *text)
{
        Cell *cell;

        if (!table || table->failed || !table->n_rows || !text || !*text)
                return;
        cell = &table->rows[table->n_rows - 1].cells[column];
        free(cell->text);
        *cell = (Cell){.text = term_clean(table->term, text), .style = style};
        if (cell->text)
                cell->width = term_columns(table->term, cell->text);
        else
                table->failed = true;
}

void table_set(Table *table, unsigned column, const char *text)
{
        table_set_styled(table, column, STYLE_PLAIN, text);
}

void table_format(Table *table, unsigned column, const char *format, ...)
{
        _cleanup_free_ char *text = NULL;
        va_list args;
        int r;

        if (!table)
                return;
        va_start(args, format);
        r = vasprintf(&text, format, args);
        va_end(args);
        if (r < 0) {
                text = NULL;
                table->failed = true;
                return;
        }
        table_set(table, column, text);
}

static Table *joined_new(const Table *table)
{
        unsigned n = table->n_columns + 1;
        _cleanup_free_ Column *columns = calloc(n, sizeof *columns);
        Table *all = columns ? table_new(table->term, columns, n) : NULL;

        if (!all)
                return NULL;
        columns[0] = (Column){"HOST", 0, 0, 0};
        memcpy(columns + 1, table->columns, table->n_columns * sizeof *columns);
        all->own_columns = PN_STEAL(columns);
        return all;
}

void table_join(Table **all, Table *table, const char *host)
{
        int first;

        if (!*all)
                *all = joined_new(table);
        if (!*all) {
                table->failed = true;
                return;
        }
        first = (int)(*all)->n_rows;
        for (unsigned i = 0; i < table->n_rows; i++) {
                Row *row = &table->rows[i], *to;
                int parent = row->parent >= 0 ? row->parent + first : TABLE_NO_PARENT;

                if (table_row(*all, parent) < 0)
                        return;
                table_set(*all, 0, host);
                to = &(*all)->rows[(*all)->n_rows - 1];
                memcpy(to->cells + 1, row->cells, table->n_columns * sizeof *row->cells);
                memset(row->cells, 0, table->n_columns * sizeof *row->cells);
        }
        (*all)->failed |= table->failed;
}

unsigned table_rows(const Table *table)
{
        return table ? table->n_rows : 0;
}

/* Columns that the art of a tree takes up in front of a row's text. */
static unsigned art(const Table *table, const Row *row, unsigned column)
{
        return table->columns[column].flags & COLUMN_TREE ? row->depth * 2 : 0;
}

/* In the reader's language, where the terminal has its letters. */
static const char *heading_of(const Table *table, unsigned c)
{
        return table->term->utf8 ? _(table->columns[c].heading) : table->columns[c].heading;
}

static void measure(const Table *table, Fit *fits, bool headings)
{
        for (unsigned c = 0; c < table->n_columns; c++) {
                Fit *fit = &fits[c];

                for (unsigned i = 0; i < table->n_rows; i++) {
                        const Row *row = &table->rows[i];
                        unsigned width;

                        if (!row->cells[c].text)
                                continue;
                        width = row->cells[c].width + art(table, row, c);
                        if (width > fit->natural)
                                fit->natural = width;
                }
                fit->dropped = fit->natural == 0;
                if (headings && !fit->dropped) {
                        unsigned width = term_columns(table->term, heading_of(table, c));

                        if (width > fit->natural)
                                fit->natural = width;
                }
        }
}

static unsigned total(const Table *table, const Fit *fits)
{
        unsigned sum = 0;

        for (unsigned c = 0; c < table->n_columns; c++)
                if (!fits[c].dropped)
                        sum += fits[c].width + (sum ? GAP : 0);
        return sum;
}

/* The least that a column can be: its tree's art, and a letter with an ellipsis. */
static unsigned floor_of(const Table *table, unsigned c)
{
        unsigned depth = 0;

        if (table->columns[c].flags & COLUMN_TREE)
                for (unsigned i = 0; i < table->n_rows; i++)
                        if (table->rows[i].depth > depth)
                                depth = table->rows[i].depth;
        return depth * 2 + 3;
}

/* Takes from the widest of those columns that have something to give, one at a time, until all
 * fits. `hard` takes from every column: a terminal that narrow was chosen by nobody. */
static bool shrink(const Table *table, Fit *fits, bool hard)
{
        unsigned sum;

        for (unsigned c = 0; c < table->n_columns; c++)
                fits[c].width = fits[c].natural;
        while ((sum = total(table, fits)) > table->term->width) {
                Fit *widest = NULL;

                for (unsigned c = 0; c < table->n_columns; c++) {
                        unsigned least = hard ? floor_of(table, c) : table->columns[c].least;

                        if (!fits[c].dropped && least && fits[c].width > least &&
                            (!widest || fits[c].width > widest->width))
                                widest = &fits[c];
                }
                if (!widest)
                        return false;
                widest->width--;
        }
        return true;
}

static bool drop_one(const Table *table, Fit *fits)
{
        int victim = -1;

        for (unsigned c = 0; c < table->n_columns; c++)
                if (!fits[c].dropped && table->columns[c].drop &&
                    (victim < 0 || table->columns[c].drop > table->columns[victim].drop))
                        victim = (int)c;
        if (victim < 0)
                return false;
        fits[victim].dropped = true;
        return true;
}

static void fit(const Table *table, Fit *fits, bool headings)
{
        measure(table, fits, headings);
        for (unsigned c = 0; c < table->n_columns; c++)
                fits[c].width = fits[c].natural;
        if (!table->term->width)
                return;
        for (unsigned c = 0; c < table->n_columns; c++)
                if (table->columns[c].flags & COLUMN_SHY && total(table, fits) > table->term->width)
                        fits[c].dropped = true;
        while (!shrink(table, fits, false))
                if (!drop_one(table, fits))
                        break;
        for (unsigned c = table->n_columns; c-- > 1 && total(table, fits) > table->term->width;)
                if (!shrink(table, fits, true))
                        fits[c].dropped = true;
}

/* A cell's text at the width that is left for it (malloc'ed). */
static char *fitted(const Table *table, const Row *row, unsigned c, const Fit *fits)
{
        unsigned taken = art(table, row, c), room = fits[c].width;

        return term_cut(table->term, row->cells[c].text, room > taken ? room - taken : 1);
}

static int fill(const Smartcols *lib, const Table *table, struct libscols_table *tb,
                const Fit *fits)
{
        _cleanup_free_ struct libscols_line **lines = calloc(table->n_rows, sizeof *lines);
        bool tree = false;

        if (!lines)
                return -ENOMEM;
        for (unsigned c = 0; c < table->n_columns; c++)
                if (!fits[c].dropped && table->columns[c].flags & COLUMN_TREE)
                        tree = true;
        for (unsigned i = 0; i < table->n_rows; i++) {
                const Row *row = &table->rows[i];
                size_t at = 0;

                lines[i] = lib->scols_table_new_line(
                    tb, tree && row->parent >= 0 ? lines[row->parent] : NULL);
                if (!lines[i])
                        return -ENOMEM;
                for (unsigned c = 0; c < table->n_columns; c++) {
                        _cleanup_free_ char *text = NULL;

                        if (fits[c].dropped)
                                continue;
                        if (!row->cells[c].text) {
                                at++;
                                continue;
                        }
                        text = fitted(table, row, c, fits);
                        if (!text || lib->scols_line_set_data(lines[i], at, text) < 0)
                                return -ENOMEM;
                        if (row->cells[c].style != STYLE_PLAIN && table->term->color)
                                (void)lib->scols_cell_set_color(
                                    lib->scols_line_get_cell(lines[i], at),
                                    term_style(row->cells[c].style));
                        at++;
                }
        }
        return 0;
}

static int add_columns(const Smartcols *lib, const Table *table, struct libscols_table *tb,
                       const Fit *fits)
{
        for (unsigned c = 0; c < table->n_columns; c++) {
                const Column *column = &table->columns[c];
                int flags = (column->flags & COLUMN_RIGHT ? SCOLS_FL_RIGHT : 0) |
                            (column->flags & COLUMN_TREE ? SCOLS_FL_TREE : 0);
                struct libscols_column *cl;
                _cleanup_free_ char *heading = NULL;

                if (fits[c].dropped)
                        continue;
                heading = term_cut(table->term, heading_of(table, c), fits[c].width);
                cl = heading ? lib->scols_table_new_column(tb, heading, 0, flags) : NULL;
                if (!cl)
                        return -ENOMEM;
                if (table->term->color)
                        (void)lib->scols_cell_set_color(lib->scols_column_get_header(cl),
                                                        term_style(STYLE_DIM));
        }
        return 0;
}

/* Blanks at the end of a line are of use to nobody. */
static void put_trimmed(PnBuf *out, const char *text)
{
        while (*text) {
                size_t n = strcspn(text, "\n"), used = n;

                while (used > 0 && text[used - 1] == ' ')
                        used--;
                pn_buf_put(out, text, used);
                pn_buf_put(out, "\n", 1);
                text += n + (text[n] == '\n');
        }
}

static int draw_with_library(const Smartcols *lib, const Table *table, struct libscols_table *tb,
                             const Fit *fits, bool headings, PnBuf *out)
{
        _cleanup_free_ char *text = NULL;
        int r;

        /* Everything is measured, cut and clean: the library shall not look at the terminal. */
        if (lib->scols_table_set_termforce(tb, SCOLS_TERMFORCE_NEVER) < 0 ||
            lib->scols_table_set_column_separator(tb, "  ") < 0 ||
            lib->scols_table_enable_noheadings(tb, !headings) < 0 ||
            lib->scols_table_enable_ascii(tb, !table->term->utf8) < 0 ||
            lib->scols_table_enable_colors(tb, table->term->color) < 0)
                return -ENOMEM;
        r = add_columns(lib, table, tb, fits);
        if (r == 0)
                r = fill(lib, table, tb, fits);
        if (r == 0 && lib->scols_print_table_to_string(tb, &text) != 0)
                r = -ENOMEM;
        if (r == 0 && text)
                put_trimmed(out, text);
        return r;
}

static int draw_tree(const Smartcols *lib, const Table *table, const Fit *fits, bool headings,
                     PnBuf *out)
{
        struct libscols_table *tb;
        int r;

        if (table->term->utf8)
                term_load_locale();
        tb = lib->scols_new_table();
        if (!tb)
                return -ENOMEM;
        r = draw_with_library(lib, table, tb, fits, headings, out);
        lib->scols_unref_table(tb);
        return r;
}

/* A line on its way to the page: blanks wait until something follows them. */
typedef struct Line {
        PnBuf *out;
        const Term *term;
        unsigned blanks;
} Line;

static void put_cell(Line *line, const Column *column, unsigned room, Style style, const char *text,
                     unsigned width)
{
        bool styled = line->term->color && style != STYLE_PLAIN;
        unsigned pad = room > width ? room - width : 0;

        if (column->flags & COLUMN_RIGHT)
                line->blanks += pad;
        if (*text) {
                pn_buf_printf(line->out, "%*s", (int)line->blanks, "");
                line->blanks = 0;
                if (styled)
                        pn_buf_puts(line->out, term_style(style));
                pn_buf_puts(line->out, text);
                if (styled)
                        pn_buf_puts(line->out, STYLE_END);
        }
        if (!(column->flags & COLUMN_RIGHT))
                line->blanks += pad;
        line->blanks += GAP;
}

/* Where a tree has no library to draw it, its rows are indented at least. */
static int put_text(const Table *table, Line *line, unsigned c, const Fit *fits, Style style,
                    const char *text, unsigned width, unsigned indent)
{
        _cleanup_free_ char *cut = NULL;

        if (indent + width > fits[c].width) {
                cut = term_cut(table->term, text, fits[c].width - indent);
                if (!cut)
                        return -ENOMEM;
                text = cut;
                width = term_columns(table->term, cut);
        }
        line->blanks += indent;
        put_cell(line, &table->columns[c], fits[c].width - indent, style, text, width);
        return 0;
}

static int draw_plain(const Table *table, const Fit *fits, bool headings, PnBuf *out)
{
        const Term *term = table->term;

        if (headings) {
                Line line = {.out = out, .term = term};

                for (unsigned c = 0; c < table->n_columns; c++)
                        if (!fits[c].dropped &&
                            put_text(table, &line, c, fits, STYLE_DIM, heading_of(table, c),
                                     term_columns(term, heading_of(table, c)), 0) < 0)
                                return -ENOMEM;
                pn_buf_puts(out, "\n");
        }
        for (unsigned i = 0; i < table->n_rows; i++) {
                Line line = {.out = out, .term = term};

                for (unsigned c = 0; c < table->n_columns; c++) {
                        const Cell *cell = &table->rows[i].cells[c];

                        if (!fits[c].dropped && put_text(table, &line, c, fits, cell->style,
                                                         cell->text ? cell->text : "", cell->width,
                                                         art(table, &table->rows[i], c)) < 0)
                                return -ENOMEM;
                }
                pn_buf_puts(out, "\n");
        }
        return 0;
}

static bool is_tree(const Table *table)
{
        for (unsigned c = 0; c < table->n_columns; c++)
                if (table->columns[c].flags & COLUMN_TREE)
                        return true;
        return false;
}

void table_print(Table *table, PnBuf *out, bool headings)
{
        _cleanup_free_ Fit *fits = NULL;
        const Smartcols *lib;
        int r;

        if (!table || table->failed) {
                out->error = -ENOMEM;
                return;
        }
        if (!table->n_rows)
                return;
        fits = calloc(table->n_columns, sizeof *fits);
        if (!fits) {
                out->error = -ENOMEM;
                return;
        }
        fit(table, fits, headings);
        lib = is_tree(table) ? smartcols() : NULL;
        r = lib ? draw_tree(lib, table, fits, headings, out)
                : draw_plain(table, fits, headings, out);
        if (r < 0)
                out->error = r;
}
