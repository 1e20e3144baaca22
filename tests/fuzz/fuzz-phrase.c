/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes lib/phrase.c: the input is a text that a daemon sent. */
#include "base.h"
#include "phrase.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
        if (!truth)
                abort();
}

/* English into English: what was taken apart is put together again. */
static const char *say_same(const char *key)
{
        const char *context = strchr(key, '\4');

        return context ? context + 1 : key;
}

/* A catalogue that somebody made badly. */
static const char *say_badly(const char *key)
{
        static const char *const bad[] = {"%", "%1$",     "%9$s", "%d", "%s%s%s%s%s%s%s%s%s%s",
                                          "",  "%1$s%1$s"};

        return bad[strlen(key) % PN_ELEMENTS(bad)];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const char kinds[] = {'.', '0', 'r'};
        static PnPhrases *phrases;
        _cleanup_free_ char *text = malloc(size + 1);

        require(text != NULL);
        if (size > 0)
                memcpy(text, data, size);
        text[size] = '\0';
        if (!phrases)
                require(pn_phrases_new(pn_phrasebook, pn_phrasebook_size, &phrases) == 0);
        for (size_t i = 0; i < sizeof kinds; i++) {
                _cleanup_free_ char *said = NULL, *badly = NULL;
                int r = pn_phrases_translate(phrases, kinds[i], text, say_same, &said);

                require(r == 0 || (r == 1 && strcmp(said, text) == 0));
                r = pn_phrases_translate(phrases, kinds[i], text, say_badly, &badly);
                require(r == 0 || (r == 1 && badly));
        }
        return 0;
}
