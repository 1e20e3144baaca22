/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables and trees that fit the terminal: columns leave or shrink in an order that the table's
 * author chose, and lines never break. Knows nothing of hardware. */
#pragma once

#include "term.h"

typedef enum ColumnFlags {
        COLUMN_RIGHT = 1 << 0,
        COLUMN_TREE = 1 << 1,
        COLUMN_SHY = 1 << 2, /* only where there is room to spare: no other column shrinks for it */
} ColumnFlags;

typedef struct Column {
        const char *heading;
        unsigned flags;
        unsigned least; /* a value may be cut down to this many columns; 0: it is never cut */
        unsigned drop;  /* the column with the highest number leaves first; 0: it stays */
} Column;

typedef struct Table Table;

/* NULL when memory is short; then everything below does nothing but table_print(), which says so
 * in the buffer's error. `columns` must outlive the table. */
Table *table_new(const Term *term, const Column *columns, unsigned n_columns);
void table_free(Table *table);
PN_DEFINE_CLEANUP(Table *, table_free);
#define _cleanup_table_ _cleanup_(table_freep)

#define TABLE_NO_PARENT -1

/* A new row, below `parent` in a tree. Returns its number. */
int table_row(Table *table, int parent);

/* Sets a cell of the last row; NULL and "" leave it empty. The text is cleaned. */
void table_set(Table *table, unsigned column, const char *text);
void table_set_styled(Table *table, unsigned column, Style style, const char *text);
void table_format(Table *table, unsigned column, const char *format, ...) _printf_(3, 4);

/* Moves all rows of `table` to the end of `*all` (made if NULL), where the first column says which
 * host they are from. All tables that are joined have the same columns. */
void table_join(Table **all, Table *table, const char *host);

unsigned table_rows(const Table *table);

/* Appends the table to `out`. Columns without a value in any row are left out. */
void table_print(Table *table, PnBuf *out, bool headings);
