/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libsmartcols, loaded when a tree is drawn and not before: linked, it would add a tenth of a
 * millisecond to the start of every command, and `status` has one and a quarter in all. */
#pragma once

#include "base.h"

#include <libsmartcols/libsmartcols.h>

#define SMARTCOLS_FUNCTIONS(F)                                                                     \
        F(scols_new_table)                                                                         \
        F(scols_unref_table)                                                                       \
        F(scols_table_new_column)                                                                  \
        F(scols_table_new_line)                                                                    \
        F(scols_line_set_data)                                                                     \
        F(scols_line_get_cell)                                                                     \
        F(scols_cell_set_color)                                                                    \
        F(scols_column_get_header)                                                                 \
        F(scols_table_set_termforce)                                                               \
        F(scols_table_set_column_separator)                                                        \
        F(scols_table_enable_noheadings)                                                           \
        F(scols_table_enable_ascii)                                                                \
        F(scols_table_enable_colors)                                                               \
        F(scols_print_table_to_string)

typedef struct Smartcols {
#define SMARTCOLS_MEMBER(name) __typeof__(name) *name;
        SMARTCOLS_FUNCTIONS(SMARTCOLS_MEMBER)
#undef SMARTCOLS_MEMBER
} Smartcols;

/* NULL where the library is not installed, or lacks one of these. */
const Smartcols *smartcols(void);
