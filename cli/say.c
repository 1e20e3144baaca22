/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program's own words in the reader's language. */

#include "say.h"

#include <libintl.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>

#include "phrase.h"

#define DOMAIN "pnhw"

static const char *environment(const char *name)
{
        const char *value = getenv(name);

        return value && *value ? value : NULL;
}

/* The catalogues of a build directory, if this program lies in one; else the installed ones. */
static void bind_catalogue(void)
{
        char self[PATH_MAX], *slash;
        _cleanup_free_ char *built = NULL;
        ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

        self[n > 0 ? n : 0] = '\0';
        slash = strrchr(self, '/');
        if (slash) {
                *slash = '\0';
                if (asprintf(&built, "%s/../po", self) < 0)
                        built = NULL;
        }
        (void)bindtextdomain(DOMAIN, built && access(built, X_OK) == 0 ? built : PN_LOCALEDIR);
        (void)bind_textdomain_codeset(DOMAIN, "UTF-8");
        /* The C library's own, which else are in the encoding of a locale that is not loaded. */
        (void)bind_textdomain_codeset("libc", "UTF-8");
}

/* Whether there is anything to translate to. Loading a locale costs more than all the rest of this
 * program, so most are told by their names. */
static bool load(void)
{
        const char *name = environment("LC_ALL"), *languages = environment("LANGUAGE");

        if (!name)
                name = environment("LC_MESSAGES");
        if (!name)
                name = environment("LANG");
        if (!name || strcmp(name, "C") == 0 || strcmp(name, "POSIX") == 0)
                return false;
        if (!languages && (pn_startswith(name, "en") || pn_startswith(name, "C.")))
                return false;
        if (!setlocale(LC_MESSAGES, "")) {
                /* A session over ssh often names a locale that this host does not have; the
                 * language is meant all the same. */
                if (!setlocale(LC_MESSAGES, "C.UTF-8"))
                        return false;
                if (!languages)
                        (void)setenv("LANGUAGE", name, 1);
        }
        bind_catalogue();
        return true;
}

static enum { UNASKED, NO, YES } answer;

static bool is_translated(void)
{
        if (answer == UNASKED)
                answer = load() ? YES : NO;
        return answer == YES;
}

const char *say(const char *text)
{
        /* The empty text is the catalogue's own heading. */
        return *text && is_translated() ? dgettext(DOMAIN, text) : text;
}

const char *say_n(const char *one, const char *many, unsigned n)
{
        if (is_translated())
                return dngettext(DOMAIN, one, many, n);
        return n == 1 ? one : many;
}

static const char *say_key(const char *key)
{
        const char *said = dgettext(DOMAIN, key);

        return said == key ? NULL : said;
}

/* The book is read where there is a catalogue, once. Without memory for it, all stays English. */
static const char *say_phrase(char kind, const char *english, char **ret_made)
{
        static PnPhrases *phrases;
        static bool is_read;

        if (!english || !is_translated())
                return english;
        if (!is_read && *dgettext(DOMAIN, ""))
                (void)pn_phrases_new(pn_phrasebook, pn_phrasebook_size, &phrases);
        is_read = true;
        if (phrases && pn_phrases_translate(phrases, kind, english, say_key, ret_made) > 0)
                return *ret_made;
        return english;
}

const char *say_told(const char *english, char **ret_made)
{
        return say_phrase('.', english, ret_made);
}

const char *say_affected(const char *english, char **ret_made)
{
        return say_phrase('0', english, ret_made);
}

const char *say_reason(const char *english, char **ret_made)
{
        return say_phrase('r', english, ret_made);
}

const char *say_complaint(const char *english, char **ret_made)
{
        return say_phrase('!', english, ret_made);
}

const char *say_error(int error)
{
        (void)is_translated();
        return strerror(error);
}

void say_in_english(bool yes)
{
        answer = yes ? NO : UNASKED;
}
