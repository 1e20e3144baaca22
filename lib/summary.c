/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Says in a sentence or two whether all is at its best; looks at the finished status alone. */

#include <stdio.h>

#include "rules.h"

typedef struct Count {
        unsigned judged, below, unjudged;
} Count;

static bool is_below(const PnRating *rating)
{
        return pn_text_is(&rating->verdict, "slot_limited") ||
               pn_text_is(&rating->verdict, "degraded") ||
               pn_text_is(&rating->verdict, "path_limited");
}

static bool is_judged(const PnRating *rating)
{
        return is_below(rating) || pn_text_is(&rating->verdict, "full") ||
               pn_text_is(&rating->verdict, "idle");
}

static const char *plural(unsigned n)
{
        return n == 1 ? "" : "s";
}

static void count(const PnStatus *status, Count *drives, Count *others)
{
        *drives = *others = (Count){0};
        for (unsigned i = 0; i < status->ratings.n; i++) {
                const PnRating *rating = &status->ratings.v[i];
                Count *group = pn_text_is(&rating->kind, "nvme") ? drives : others;

                if (is_judged(rating))
                        group->judged++;
                else
                        group->unjudged++;
                if (is_below(rating))
                        group->below++;
        }
}

/* "2 of 5 drives", or with one group all at its best "2 other devices" */
static void say_below(PnBuf *buf, const Count *drives, const Count *others)
{
        if (drives->below)
                pn_buf_printf(buf, "%u of %u drive%s", drives->below,
                              drives->judged + drives->unjudged,
                              plural(drives->judged + drives->unjudged));
        if (drives->below && others->below)
                pn_buf_puts(buf, " and ");
        if (others->below)
                pn_buf_printf(buf, "%u of %u %sdevice%s", others->below,
                              others->judged + others->unjudged, drives->judged ? "other " : "",
                              plural(others->judged + others->unjudged));
        pn_buf_printf(buf, " run%s below what %s could.",
                      drives->below + others->below == 1 ? "s" : "",
                      drives->below + others->below == 1 ? "it" : "they");
}

static void say_best(PnBuf *buf, const Count *drives, const Count *others)
{
        if (drives->judged + others->judged == 0) {
                pn_buf_puts(buf, drives->unjudged + others->unjudged
                                     ? "No PCI Express link can be judged here."
                                     : "There is no PCI Express link to judge.");
                return;
        }
        if (drives->judged == 1)
                pn_buf_puts(buf, "The drive");
        else if (drives->judged)
                pn_buf_printf(buf, "All %u drives", drives->judged);
        if (drives->judged && others->judged)
                pn_buf_printf(buf, " and %u other device%s run at their best.", others->judged,
                              plural(others->judged));
        else if (drives->judged)
                pn_buf_puts(buf,
                            drives->judged == 1 ? " runs at its best." : " run at their best.");
        else
                pn_buf_printf(buf, "%s%u device%s run%s at %s best.",
                              others->judged == 1 ? "The " : "All ", others->judged,
                              plural(others->judged), others->judged == 1 ? "s" : "",
                              others->judged == 1 ? "its" : "their");
}

/* What is held back: the pools and arrays that findings name, each once. */
static int say_affected(PnBuf *buf, const PnStatus *status)
{
        PnTexts held = {0};
        int r = 0;

        for (unsigned i = 0; i < status->findings.n && r == 0; i++) {
                const PnTexts *affects = &status->findings.v[i].affects;

                for (unsigned k = 0; k < affects->n && r == 0; k++)
                        if (pn_startswith(affects->v[k], "zpool ") ||
                            pn_startswith(affects->v[k], "array ") ||
                            pn_startswith(affects->v[k], "volume group "))
                                r = pn_texts_append_unique(&held, affects->v[k]);
        }
        for (unsigned i = 0; i < held.n && i < 3; i++) {
                pn_buf_puts(buf, i == 0 ? " " : i + 1 == held.n ? " and " : ", ");
                if (i == 0 && held.v[0][0] >= 'a')
                        pn_buf_printf(buf, "%c%s", held.v[0][0] - 'a' + 'A', held.v[0] + 1);
                else
                        pn_buf_puts(buf, held.v[i]);
        }
        if (held.n > 3)
                pn_buf_printf(buf, " and %u more", held.n - 3);
        if (held.n)
                pn_buf_printf(buf, " %s held back.", held.n == 1 ? "is" : "are");
        for (unsigned i = 0; i < held.n; i++)
                free(held.v[i]);
        free(held.v);
        return r;
}

/* Findings that are not about links come after: they are never hidden by a good first half. */
static void say_rest(PnBuf *buf, const PnStatus *status)
{
        unsigned gone = 0, not_live = 0, unread = 0;

        for (unsigned i = 0; i < status->findings.n; i++) {
                const PnText *code = &status->findings.v[i].code;

                gone += pn_text_is(code, "nvme.lost");
                not_live += pn_text_is(code, "nvme.not_live");
                unread += pn_text_is(code, "probe.stale");
        }
        if (gone)
                pn_buf_printf(buf, " %u drive%s %s gone.", gone, plural(gone),
                              gone == 1 ? "is" : "are");
        if (not_live)
                pn_buf_printf(buf, " %u drive%s do%s not work.", not_live, plural(not_live),
                              not_live == 1 ? "es" : "");
        if (unread)
                pn_buf_puts(buf, " Some of this could not be read.");
}

int pn_summarise(PnStatus *status)
{
        _cleanup_buf_ PnBuf buf = {0};
        Count drives, others;
        char *text;
        int r;

        count(status, &drives, &others);
        if (drives.below + others.below) {
                say_below(&buf, &drives, &others);
                r = say_affected(&buf, status);
                if (r < 0)
                        return r;
        } else {
                say_best(&buf, &drives, &others);
        }
        say_rest(&buf, status);
        r = pn_buf_take(&buf, &text, NULL);
        if (r < 0)
                return r;
        pn_take_text(&status->summary, text);
        return 0;
}
