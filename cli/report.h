/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a report says, and the formats that it can be said in. The one knows no format, the others
 * no hardware. */
#pragma once

#include "source.h"
#include "view.h"

/* A table, or a list of facts: cells in rows, each row with a mark or none. */
#define GRID_COLUMNS 16
#define MARK_NONE    (-1)

typedef struct GridRow {
        int mark; /* a Mark, or MARK_NONE */
        char *cells[GRID_COLUMNS];
} GridRow;

typedef struct Grid {
        const char *const *headings; /* as they are in the source; shown translated */
        unsigned n_columns, n_rows;
        GridRow *rows;
        int error;                  /* -ENOMEM; sticks */
        bool is_used[GRID_COLUMNS]; /* a row has something there */
} Grid;

/* A new row; cells are set in the last one. NULL and "" leave a cell empty. */
void grid_row(Grid *grid, int mark);
void grid_set(Grid *grid, unsigned column, const char *text);
void grid_format(Grid *grid, unsigned column, const char *format, ...) _printf_(3, 4);
void grid_done(Grid *grid);

/* Whether any row has something in a column: those without are left out. */
bool grid_has_column(const Grid *grid, unsigned column);

/* One thing that is wrong, in the reader's language but for what nobody has translated. */
typedef struct Told {
        Mark mark;
        const char *severity, *summary, *advice, *affects;
        bool summary_is_english, advice_is_english;
} Told;

typedef enum ParagraphKind {
        PARAGRAPH_ASIDE,
        PARAGRAPH_LEAD,
        PARAGRAPH_LEAD_IN_ENGLISH
} ParagraphKind;

/* How each part of a report is written in one format. Texts are foreign and unclean: a format lets
 * none of them mean more than its letters. */
typedef struct Format {
        void (*begin)(PnBuf *out, const char *title);
        void (*heading)(PnBuf *out, unsigned level, const char *text);
        void (*paragraph)(PnBuf *out, const char *text, ParagraphKind kind);
        void (*finding)(PnBuf *out, const Told *told);
        void (*facts)(PnBuf *out, const Grid *grid);                      /* label, value */
        void (*listing)(PnBuf *out, const char *title, const Grid *grid); /* the same, verbatim */
        void (*table)(PnBuf *out, const Grid *grid);
        /* The tree of links as a picture; 0 or -ENOMEM. NULL where there are no pictures. */
        int (*picture)(PnBuf *out, const Facts *facts, const View *view, bool all);
        void (*end)(PnBuf *out);
} Format;

extern const Format report_markdown, report_html;

/* Writes all there is to say. 0 or -ENOMEM. */
int report_write(PnBuf *out, const Format *format, const Facts *facts, bool all);

/* The picture of the links: the drawing alone, and in the style of a page around it or with its
 * own. A narrow one is for a telephone. 0 or -ENOMEM. */
typedef enum PictureKind { PICTURE_ALONE, PICTURE_WIDE, PICTURE_NARROW } PictureKind;
int picture_put(PnBuf *out, const Facts *facts, const View *view, PictureKind kind, bool all);

/* The style rules that pictures inside a page need, once. */
void picture_put_style(PnBuf *out);

/* Text for XML and HTML, as contents or in an attribute's quotes: no character of it is markup, a
 * control character, or one that turns the direction of writing around. */
void put_xml(PnBuf *out, const char *text);
