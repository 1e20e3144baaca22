/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a field of the inventory can be: known, absent, or unread for a reason; knows no field by
 * name. */
#pragma once

#include "base.h"

/* Why a value could not be read. The words are contract: they appear in every object's `unread`. */
#define PN_UNREAD_REASONS(R)                                                                       \
        R(PERMISSION, "permission") /* the caller lacks a privilege */                             \
        R(ASLEEP, "asleep")         /* reading it would wake the device */                         \
        R(TIMEOUT, "timeout")       /* the device did not answer in time */                        \
        R(STUCK, "stuck")           /* an earlier read has still not come back */                  \
        R(MALFORMED, "malformed")   /* the answer is not what the kernel or a standard defines */  \
        R(UNSUPPORTED, "unsupported") /* the kernel, driver or device has no such value */         \
        R(OVERFLOW, "overflow")       /* larger than 2^63-1 */                                     \
        R(CANNOT_JOIN, "cannot_join") /* the source that owns it has no matching object */         \
        R(IO, "io")                   /* the kernel reported an I/O error */                       \
        R(EXCLUDED, "excluded")       /* the policy says that the device is to be left alone */

/* PN_ABSENT is zero: a zeroed object is one in which nothing applies. */
typedef enum PnState {
        PN_ABSENT = 0,
        PN_KNOWN,
#define PN_REASON_ENUM(id, word) PN_UNREAD_##id,
        PN_UNREAD_REASONS(PN_REASON_ENUM)
#undef PN_REASON_ENUM
            PN_N_STATES,
} PnState;

static inline bool pn_is_unread(PnState state)
{
        return state > PN_KNOWN;
}

/* The word for an unread state, NULL for known and absent. */
const char *pn_reason_name(PnState state);

/* The state for a word; -EINVAL if there is no such reason. */
int pn_reason_from_name(const char *name, PnState *ret);

/* The reason that an errno (positive or negative) of a read stands for. */
PnState pn_reason_from_errno(int error);

/* Every kind of field starts with its state, so that the schema engine finds it without knowing
 * the kind. */
typedef struct PnText {
        PnState state;
        char *v; /* owned, UTF-8 without control characters, NULL unless known */
} PnText;

typedef struct PnInt {
        PnState state;
        int64_t v;
} PnInt;

typedef struct PnReal {
        PnState state;
        double v; /* finite */
} PnReal;

typedef struct PnBool {
        PnState state;
        bool v;
} PnBool;

typedef struct PnTexts {
        PnState state;
        unsigned n;
        char **v;
} PnTexts;

typedef struct PnReals {
        PnState state;
        unsigned n;
        double *v;
} PnReals;

static inline PnInt pn_int(int64_t v)
{
        return (PnInt){PN_KNOWN, v};
}

static inline PnReal pn_real(double v)
{
        return (PnReal){PN_KNOWN, v};
}

static inline PnBool pn_bool(bool v)
{
        return (PnBool){PN_KNOWN, v};
}

/* Sets a text to a copy of `s` (known), or to absent for NULL. 0 or -ENOMEM. */
int pn_set_text(PnText *text, const char *s);

/* Takes ownership of a malloc'ed `s`; NULL makes it absent. */
void pn_take_text(PnText *text, char *s);

/* Sets a text to a formatted string (known). 0 or -ENOMEM. */
int pn_format_text(PnText *text, const char *format, ...) _printf_(2, 3);

/* The string of a known text, else NULL. */
static inline const char *pn_text(const PnText *text)
{
        return text->state == PN_KNOWN ? text->v : NULL;
}

static inline bool pn_text_is(const PnText *text, const char *s)
{
        return text->state == PN_KNOWN && strcmp(text->v, s) == 0;
}

/* The value of a known integer, else `otherwise`. */
static inline int64_t pn_int_or(PnInt i, int64_t otherwise)
{
        return i.state == PN_KNOWN ? i.v : otherwise;
}

static inline bool pn_is_true(PnBool b)
{
        return b.state == PN_KNOWN && b.v;
}

/* Appends a copy of `s` (makes the list known). 0 or -ENOMEM. */
int pn_texts_append(PnTexts *texts, const char *s);

/* Appends `s` unless the list has it already. 0 or -ENOMEM. */
int pn_texts_append_unique(PnTexts *texts, const char *s);

/* Appends a finite number (makes the list known). 0 or -ENOMEM. */
int pn_reals_append(PnReals *reals, double v);
