/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Takes an English sentence of ours apart, and says it in another language. Knows no language and
 * no sentence: the first is the caller's, the others are a book's (phrasebook.c). No I/O. */
#pragma once

#include "base.h"

/* A book is text: a row is its kind and what its places may hold, a NUL, its key, and a NUL. The
 * key is what gettext looks up: a context and '\4' where there is one, then the English template.
 * In that,
 * "%s" is a place and "%%" a percent sign.
 *
 * Kinds are single characters. '.' is a whole sentence; a text is sentences with blanks between
 * them. A place may hold: '*' any text but none; '#' a number; else a phrase of that kind, and by a
 * capital letter phrases of its small one, with ", " or "; " between them. */
extern const char pn_phrasebook[];
extern const size_t pn_phrasebook_size;

typedef struct PnPhrases PnPhrases;

/* Reads a book, which must outlive the result. -EINVAL if it is none, -ENOMEM. */
int pn_phrases_new(const char *book, size_t size, PnPhrases **ret);
void pn_phrases_free(PnPhrases *phrases);

static inline void pn_phrases_freep(PnPhrases **phrases)
{
        pn_phrases_free(*phrases);
}

/* Bytes; longer texts are none of ours. */
#define PN_PHRASE_TEXT_MAX 2048

/* The translation of a key, in which "%s" and "%1$s" are places; NULL where there is none. */
typedef const char *PnPhraseSay(const char *key);

/* Says a text of sentences ('.'), or one phrase of another kind. 1, and what is to be freed, if all
 * of it is in the book and translated; 0 if not, and then it is best shown as it came; -ENOMEM. The
 * time it takes has a limit, whatever the text. */
int pn_phrases_translate(const PnPhrases *phrases, char kind, const char *text, PnPhraseSay *say,
                         char **ret);
