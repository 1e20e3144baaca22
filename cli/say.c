/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program's own words in the reader's language. */

#include "say.h"

#include <libintl.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>

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

const char *say_error(int error)
{
        (void)is_translated();
        return strerror(error);
}

void say_in_english(bool yes)
{
        answer = yes ? NO : UNASKED;
}
