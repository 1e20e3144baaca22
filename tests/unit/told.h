/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of rules: what they say is in the book from which it is translated. Knows no rule. */
#pragma once

#include "machine.h"
#include "phrase.h"

static inline const char *told_same(const char *key)
{
        const char *context = strchr(key, '\4');

        return context ? context + 1 : key;
}

static inline void check_text_told(const PnPhrases *phrases, char kind, const char *text)
{
        char *said = NULL;

        if (!text)
                return;
        if (pn_phrases_translate(phrases, kind, text, told_same, &said) != 1)
                fail_msg("lib/phrasebook.c has no row for this: %s", text);
        assert_string_equal(said, text);
        free(said);
}

static inline void check_told(const PnStatus *status)
{
        PnPhrases *phrases;

        assert_int_equal(pn_phrases_new(pn_phrasebook, pn_phrasebook_size, &phrases), 0);
        check_text_told(phrases, '.', pn_text(&status->summary));
        for (unsigned i = 0; i < status->findings.n; i++) {
                const PnFinding *finding = &status->findings.v[i];

                check_text_told(phrases, '.', pn_text(&finding->summary));
                check_text_told(phrases, '.', pn_text(&finding->detail));
                check_text_told(phrases, '.', pn_text(&finding->advice));
                for (unsigned k = 0; k < finding->affects.n; k++)
                        check_text_told(phrases, '0', finding->affects.v[k]);
        }
        pn_phrases_free(phrases);
}
