/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Turns a field list into a table of PnField; included by the files that define types, and by
 * nobody who only uses them. */
#pragma once

#include "schema.h"

#define PN_ROW_SCALAR(T, kind, name, unit, heading, doc)                                           \
        {#name "\0" unit "\0" heading "\0" doc, NULL, PN_KIND_##kind, offsetof(Pn##T, name)},
#define PN_ROW_OBJECT(T, kind, name, type, heading, doc)                                           \
        {#name "\0\0" heading "\0" doc, pn_type_##type, PN_KIND_##kind, offsetof(Pn##T, name)},

#define PN_ROW_KEY   PN_ROW_SCALAR
#define PN_ROW_TEXT  PN_ROW_SCALAR
#define PN_ROW_NUM   PN_ROW_SCALAR
#define PN_ROW_INT   PN_ROW_SCALAR
#define PN_ROW_REAL  PN_ROW_SCALAR
#define PN_ROW_BOOL  PN_ROW_SCALAR
#define PN_ROW_TEXTS PN_ROW_SCALAR
#define PN_ROW_REALS PN_ROW_SCALAR
#define PN_ROW_OBJ   PN_ROW_OBJECT
#define PN_ROW_ONE   PN_ROW_OBJECT
#define PN_ROW_LIST  PN_ROW_OBJECT
#define PN_ROW_MANY  PN_ROW_OBJECT

#define PN_ROW(T, kind, name, arg, heading, doc) PN_ROW_##kind(T, kind, name, arg, heading, doc)

#define PN_DEFINE_TYPE(T, FIELDS, doc)                                                             \
        static const PnField fields_of_##T[] = {FIELDS(PN_ROW, T)};                                \
        const PnType *pn_type_##T(void)                                                            \
        {                                                                                          \
                static const PnType type = {#T, doc, sizeof(Pn##T), fields_of_##T,                 \
                                            PN_ELEMENTS(fields_of_##T)};                           \
                return &type;                                                                      \
        }
