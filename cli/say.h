/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program's own words in the reader's language, and the daemon's. Knows no text: those are
 * where they are said, in English, and in po/. */
#pragma once

#include "base.h"

/* A translated text, or the text itself where there is no translation. Static. Costs next to
 * nothing where the locale is English or none at all: no catalogue is looked for. */
const char *say(const char *text) __attribute__((__format_arg__(1)));

/* The same with a number: the form that goes with `n`. */
const char *say_n(const char *one, const char *many, unsigned n)
    __attribute__((__format_arg__(1), __format_arg__(2)));

#define _(text) say(text)

/* What the daemon says of the hardware, which is English for all its readers: a text of sentences,
 * or what is affected ("zpool tank"), or why a source could not be read. The text itself where it
 * is not known or not translated, else one that *ret_made owns, which is NULL before. NULL for
 * NULL. */
const char *say_told(const char *english, char **ret_made);
const char *say_affected(const char *english, char **ret_made);
const char *say_reason(const char *english, char **ret_made);

/* The same of what is wrong between this program and the daemon, as lib/client.h words it. */
const char *say_complaint(const char *english, char **ret_made);

/* What the C library says of an errno, in the same language. */
const char *say_error(int error);

/* English whatever the locale, or after the locale again: what programs read is in one language. */
void say_in_english(bool yes);

/* Marks a text in a table, to be translated where it is shown. */
#define N_(text) text

/* The same for the two of say_n(), which become two values. */
#define NN_(one, many) one, many
