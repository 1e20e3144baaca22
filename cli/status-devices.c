/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of the status page: every rated device of interest, or, where they are many, those that
 * run below their best and a line for each group of the others. */

#include <stdio.h>

#include "join.h"
#include "say.h"
#include "status.h"
#include "table.h"

/* A page that has to be scrolled is not looked at: above this many devices the fine ones fold to
 * one line a group, and above BELOW_MAX also those that are not. */
#define DEVICES_MAX 12
#define BELOW_MAX   20

enum { DEVICE, ADDRESS, MODEL, SLOT, LINK, COULD_BE, GBS, OF_BEST, VERDICT, USED_BY };

static const Column columns[] = {
    [DEVICE] = {"  DEVICE", 0, 0, 0},
    [ADDRESS] = {"ADDRESS", COLUMN_SHY, 0, 9},
    [MODEL] = {"MODEL", 0, 14, 6},
    [SLOT] = {"SLOT", 0, 9, 3},
    [LINK] = {"LINK", 0, 0, 2},
    [COULD_BE] = {"COULD BE", 0, 0, 8},
    [GBS] = {"GB/s", COLUMN_RIGHT, 0, 5},
    [OF_BEST] = {"OF BEST", COLUMN_RIGHT, 0, 0},
    [VERDICT] = {"VERDICT", COLUMN_SHY, 0, 10},
    [USED_BY] = {"USED BY", 0, 11, 4},
};

typedef struct Shown {
        const PnRating *rating;
        Mark mark;
        unsigned kind;
        const char *verdict; /* in words */
} Shown;

static const char *const kinds[] = {"nvme", "storage", "network", "display", "other", "switch"};

static const char *several(unsigned kind, unsigned n)
{
        switch (kind) {
        case 0:
                return say_n("%u drive", "%u drives", n);
        case 1:
                return say_n("%u storage controller", "%u storage controllers", n);
        case 2:
                return say_n("%u network card", "%u network cards", n);
        case 3:
                return say_n("%u graphics card", "%u graphics cards", n);
        case 4:
                return say_n("%u other device", "%u other devices", n);
        default:
                return say_n("%u switch", "%u switches", n);
        }
}

/* Those that come after some that were shown one by one. */
static const char *several_more(unsigned kind, unsigned n)
{
        switch (kind) {
        case 0:
                return say_n("%u more drive", "%u more drives", n);
        case 1:
                return say_n("%u more storage controller", "%u more storage controllers", n);
        case 2:
                return say_n("%u more network card", "%u more network cards", n);
        case 3:
                return say_n("%u more graphics card", "%u more graphics cards", n);
        case 4:
                return say_n("%u more other device", "%u more other devices", n);
        default:
                return say_n("%u more switch", "%u more switches", n);
        }
}

static unsigned kind_of(const PnRating *rating)
{
        for (unsigned i = 0; i < PN_ELEMENTS(kinds); i++)
                if (pn_text_is(&rating->kind, kinds[i]))
                        return i;
        return 4;
}

/* Hops of a switch and devices that nobody has a name for are of interest when they cost
 * something; a chip that the board's design limits is not. */
static bool is_of_interest(const PnRating *rating, Mark mark)
{
        if (pn_text_is(&rating->verdict, "path_limited") && mark == MARK_UNJUDGED)
                return false;
        return kind_of(rating) < 4 || mark > MARK_UNKNOWN;
}

static int compare_names(const Shown *one, const Shown *other)
{
        if (one->kind != other->kind)
                return one->kind < other->kind ? -1 : 1;
        return pn_name_compare(view_rating_name(one->rating), view_rating_name(other->rating));
}

static int by_name(const void *a, const void *b)
{
        return compare_names(a, b);
}

static int by_need(const void *a, const void *b)
{
        const Shown *one = a, *other = b;
        int64_t one_percent = pn_int_or(one->rating->percent, 100);
        int64_t other_percent = pn_int_or(other->rating->percent, 100);

        if (one->mark != other->mark)
                return one->mark > other->mark ? -1 : 1;
        if (one->mark > MARK_UNKNOWN && one_percent != other_percent)
                return one_percent < other_percent ? -1 : 1;
        return compare_names(one, other);
}

static void set_device(Table *table, const Shown *shown, const char *name)
{
        char cell[160];

        (void)snprintf(cell, sizeof cell, "%s %s", view_mark(shown->mark), name);
        table_set_styled(table, DEVICE, view_mark_style(shown->mark), cell);
}

static void set_rates(Table *table, const Shown *shown)
{
        const PnRating *rating = shown->rating;
        Style style = shown->mark > MARK_UNKNOWN ? view_mark_style(shown->mark) : STYLE_PLAIN;
        char buf[96];

        table_set_styled(table, LINK, shown->mark == MARK_UNJUDGED ? STYLE_DIM : STYLE_PLAIN,
                         view_rating_link(rating, buf, sizeof buf));
        table_set(table, COULD_BE, view_rating_could_be(rating, buf, sizeof buf));
        table_set(table, GBS, view_rating_gbs(rating, buf, sizeof buf));
        table_set_styled(table, OF_BEST, style, view_rating_percent(rating, buf, sizeof buf));
        /* Of others that are not judged the link's column says why. */
        if (shown->mark != MARK_UNJUDGED || view_is_below(rating))
                table_set(table, VERDICT, shown->verdict);
}

static int add_device(Table *table, const Shown *shown)
{
        const PnRating *rating = shown->rating;
        _cleanup_free_ char *used_by = view_join_affected(&rating->affects);

        if (!used_by)
                return -ENOMEM;
        (void)table_row(table, TABLE_NO_PARENT);
        set_device(table, shown, view_rating_name(rating));
        table_set(table, MODEL, pn_text(&rating->model));
        table_set(table, SLOT, pn_text(&rating->slot));
        set_rates(table, shown);
        table_set(table, USED_BY, used_by);
        table_set(table, ADDRESS, rating->address.v);
        return 0;
}

static bool same_group(const Shown *one, const Shown *other)
{
        char a[96], b[96];

        return one->kind == other->kind && one->mark == other->mark &&
               strcmp(one->verdict, other->verdict) == 0 &&
               strcmp(view_rating_link(one->rating, a, sizeof a),
                      view_rating_link(other->rating, b, sizeof b)) == 0 &&
               strcmp(view_rating_could_be(one->rating, a, sizeof a),
                      view_rating_could_be(other->rating, b, sizeof b)) == 0;
}

/* One line for devices that are alike; takes them out of the list by clearing their rating. */
static int add_group(Table *table, Shown *shown, unsigned n, bool more)
{
        const Shown first = shown[0];
        PnTexts used_by = {0};
        _cleanup_free_ char *joined = NULL;
        bool one_model = true;
        unsigned members = 0;
        char name[64];
        int r = 0;

        for (unsigned i = 0; i < n; i++) {
                const PnRating *rating = shown[i].rating;

                if (!rating || !same_group(&first, &shown[i]))
                        continue;
                members++;
                one_model &= pn_streq(pn_text(&rating->model), pn_text(&first.rating->model));
                for (unsigned k = 0; k < rating->affects.n && r == 0; k++)
                        r = pn_texts_append_unique(&used_by, rating->affects.v[k]);
                if (i > 0)
                        shown[i].rating = NULL;
        }
        if (r == 0 && members == 1) {
                r = add_device(table, &first);
        } else if (r == 0) {
                joined = view_join_affected(&used_by);
                (void)snprintf(name, sizeof name,
                               more ? several_more(first.kind, members)
                                    : several(first.kind, members),
                               members);
                (void)table_row(table, TABLE_NO_PARENT);
                set_device(table, &first, name);
                table_set(table, MODEL,
                          one_model ? pn_text(&first.rating->model) : _("several models"));
                set_rates(table, &first);
                table_set(table, USED_BY, joined);
                r = joined ? 0 : -ENOMEM;
        }
        for (unsigned i = 0; i < used_by.n; i++)
                free(used_by.v[i]);
        free(used_by.v);
        return r;
}

int status_put_devices(Cli *cli, const View *view, bool *ret_folded)
{
        const PnStatus *status = view->status;
        _cleanup_table_ Table *table = table_new(&cli->term, columns, PN_ELEMENTS(columns));
        _cleanup_free_ Shown *shown = calloc((size_t)status->ratings.n + 1, sizeof *shown);
        unsigned n = 0;
        bool fold;
        int r = table && shown ? 0 : -ENOMEM;

        for (unsigned i = 0; i < status->ratings.n && r == 0; i++) {
                const PnRating *rating = &status->ratings.v[i];
                Mark mark = view_rating_mark(view, rating);

                if (cli->all || is_of_interest(rating, mark))
                        shown[n++] = (Shown){rating, mark, kind_of(rating),
                                             view_device_verdict(view, rating)};
        }
        fold = n > DEVICES_MAX && !cli->all;
        if (n > 1)
                qsort(shown, n, sizeof *shown, fold ? by_need : by_name);
        for (unsigned i = 0; i < n && r == 0; i++) {
                if (!shown[i].rating)
                        continue;
                if (fold && (shown[i].mark <= MARK_UNKNOWN || i >= BELOW_MAX))
                        r = add_group(table, shown + i, n - i, shown[i].mark > MARK_UNKNOWN);
                else
                        r = add_device(table, &shown[i]);
        }
        if (r < 0)
                return r;
        *ret_folded = table_rows(table) < n;
        if (table_rows(table)) {
                pn_buf_puts(&cli->page, "\n");
                table_print(table, &cli->page, !cli->no_legend);
        }
        return 0;
}
