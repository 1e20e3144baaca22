/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NVMe drives: what `nvme list` shows, and the link, the slot, the verdict and the use. */

#include <inttypes.h>
#include <stdio.h>

#include "index.h"
#include "say.h"
#include "source.h"
#include "table.h"
#include "units.h"
#include "view.h"

enum {
        NODE,
        STATE,
        SERIAL,
        MODEL,
        NSID,
        CAPACITY,
        FORMAT,
        FIRMWARE,
        ADDRESS,
        SLOT,
        LINK,
        GBS,
        OF_BEST,
        TEMPERATURE,
        WORN,
        SPARE,
        WRITTEN,
        THROUGH,
        USED_BY,
};

static const Column columns[] = {
    [NODE] = {"  NODE", 0, 0, 0},
    [STATE] = {"STATE", 0, 0, 0},
    [SERIAL] = {"SERIAL", 0, 0, 4},
    [MODEL] = {"MODEL", 0, 14, 0},
    [NSID] = {"NS", COLUMN_RIGHT, 0, 8},
    [CAPACITY] = {"CAPACITY", COLUMN_RIGHT, 0, 2},
    [FORMAT] = {"FORMAT", COLUMN_RIGHT, 0, 7},
    [FIRMWARE] = {"FIRMWARE", 0, 0, 6},
    [ADDRESS] = {"ADDRESS", COLUMN_SHY, 0, 9},
    [SLOT] = {"SLOT", 0, 9, 3},
    [LINK] = {"LINK", 0, 0, 5},
    [GBS] = {"GB/s", COLUMN_RIGHT | COLUMN_SHY, 0, 10},
    [OF_BEST] = {"OF BEST", COLUMN_RIGHT, 0, 1},
    [TEMPERATURE] = {"TEMP", COLUMN_RIGHT, 0, 2},
    [WORN] = {"WORN", COLUMN_RIGHT, 0, 4},
    [SPARE] = {"SPARE", COLUMN_RIGHT | COLUMN_SHY, 0, 11},
    [WRITTEN] = {"WRITTEN", COLUMN_RIGHT | COLUMN_SHY, 0, 12},
    [THROUGH] = {"THROUGH", 0, 0, 3},
    [USED_BY] = {"USED BY", 0, 11, 3},
};

/* A controller that gives access to a namespace. */
typedef struct Path {
        const PnNvme *drive;
        const PnRating *rating; /* NULL: none */
        Mark mark;
} Path;

/* The paths to one namespace, or to a drive without any: most have one, a drive with two ports two.
 * Shown is the one that is worst off. */
typedef struct Paths {
        const Path *v;
        unsigned n;
        const Path *worst;
} Paths;

/* More than any drive has: further ones are not named. */
#define PATHS_MAX 16

static void set_percent(Table *table, unsigned column, Style style, const PnInt *percent)
{
        char buf[32];

        if (percent->state != PN_KNOWN)
                return;
        (void)snprintf(buf, sizeof buf, "%" PRId64 " %%", percent->v);
        table_set_styled(table, column, style, buf);
}

/* Whether one of these findings is about the drive: then the figure behind it is coloured. */
static Style style_by(const View *view, const PnNvme *drive, const char *code)
{
        for (unsigned i = 0; i < view->status->findings.n; i++) {
                const PnFinding *finding = &view->status->findings.v[i];

                if (pn_text_is(&finding->device, drive->name.v) &&
                    pn_text_is(&finding->code, code) &&
                    view_severity(&finding->severity) > MARK_UNKNOWN)
                        return view_mark_style(view_severity(&finding->severity));
        }
        return STYLE_PLAIN;
}

static void set_health(Table *table, const View *view, const PnNvme *drive)
{
        const PnHealth *health = drive->health.v;
        char buf[32];
        Units units;

        if (pn_is_unread(drive->health.state)) {
                table_set(table, TEMPERATURE, view_missing(drive->health.state));
                table_set(table, WORN, view_missing(drive->health.state));
        }
        if (!health)
                return;
        if (health->temperature_c.state == PN_KNOWN) {
                (void)snprintf(buf, sizeof buf, "%" PRId64 " °C", health->temperature_c.v);
                table_set_styled(table, TEMPERATURE, style_by(view, drive, "nvme.hot"), buf);
        }
        set_percent(table, WORN, style_by(view, drive, "nvme.worn"), &health->used_percent);
        set_percent(table, SPARE, style_by(view, drive, "nvme.spare_low"), &health->spare_percent);
        if (health->bytes_written.state == PN_KNOWN)
                table_set(table, WRITTEN, units_size(units, health->bytes_written.v));
}

/* "live" is what everybody expects, so it is not worth a column: other states stand out. */
static const char *state_of(const PnNvme *drive)
{
        if (pn_is_true(drive->lost))
                return _("lost");
        if (pn_is_unread(drive->state.state))
                return "?";
        return pn_text(&drive->state) && !pn_text_is(&drive->state, "live") ? drive->state.v : NULL;
}

static Mark mark_of(const View *view, const PnNvme *drive, const PnRating *rating)
{
        Mark mark = rating ? view_rating_mark(view, rating) : MARK_GOOD;

        for (unsigned i = 0; !rating && i < view->status->findings.n; i++) {
                const PnFinding *finding = &view->status->findings.v[i];

                if (pn_text_is(&finding->device, drive->name.v) &&
                    view_severity(&finding->severity) > mark)
                        mark = view_severity(&finding->severity);
        }
        return state_of(drive) && mark < MARK_WARNING ? MARK_WARNING : mark;
}

static int percent_of(const Path *path)
{
        return path->rating ? (int)pn_int_or(path->rating->percent, 101) : 101;
}

static const Path *worst_of(const Path *paths, unsigned n)
{
        const Path *worst = &paths[0];

        for (unsigned i = 1; i < n; i++)
                if (paths[i].mark > worst->mark ||
                    (paths[i].mark == worst->mark && percent_of(&paths[i]) < percent_of(worst)))
                        worst = &paths[i];
        return worst;
}

static const char *slot_of(const Path *path)
{
        return path->rating ? pn_text(&path->rating->slot) : NULL;
}

static const char *address_of(const Path *path)
{
        return pn_text(&path->drive->address);
}

static const char *name_of(const Path *path)
{
        return path->drive->name.v;
}

/* What the paths have of something, each different one once. */
static int set_each(Table *table, unsigned column, const Paths *paths,
                    const char *(*get)(const Path *path))
{
        PnTexts texts = {0};
        _cleanup_free_ char *words = NULL;

        for (unsigned i = 0; i < paths->n; i++)
                if (get(&paths->v[i]) && pn_texts_append_unique(&texts, get(&paths->v[i])) < 0)
                        break;
        words = view_join(&texts);
        if (words)
                table_set(table, column, words);
        for (unsigned i = 0; i < texts.n; i++)
                free(texts.v[i]);
        free(texts.v);
        return words ? 0 : -ENOMEM;
}

static int set_drive(Table *table, const View *view, const Paths *paths, const char *node)
{
        const PnNvme *drive = paths->worst->drive;
        const PnRating *rating = paths->worst->rating;
        Mark mark = paths->worst->mark;
        Style style = mark > MARK_UNKNOWN ? view_mark_style(mark) : STYLE_PLAIN;
        char buf[96];

        (void)table_row(table, TABLE_NO_PARENT);
        (void)snprintf(buf, sizeof buf, "%s %s", view_mark(mark), node);
        table_set_styled(table, NODE, view_mark_style(mark), buf);
        table_set_styled(table, STATE, STYLE_CRITICAL, state_of(drive));
        table_set(table, SERIAL, pn_is_unread(drive->serial.state) ? "?" : pn_text(&drive->serial));
        table_set(table, MODEL, pn_is_unread(drive->model.state) ? "?" : pn_text(&drive->model));
        table_set(table, FIRMWARE,
                  pn_is_unread(drive->firmware.state) ? "?" : pn_text(&drive->firmware));
        if (set_each(table, ADDRESS, paths, address_of) < 0 ||
            set_each(table, SLOT, paths, slot_of) < 0 ||
            (paths->n > 1 && set_each(table, THROUGH, paths, name_of) < 0))
                return -ENOMEM;
        set_health(table, view, drive);
        if (!rating) {
                if (!pn_text_is(&drive->transport, "pcie"))
                        table_set(table, LINK, pn_text(&drive->transport));
                return 0;
        }
        table_set(table, LINK, view_rating_link(rating, buf, sizeof buf));
        table_set(table, GBS, view_rating_gbs(rating, buf, sizeof buf));
        table_set_styled(table, OF_BEST, style, view_rating_percent(rating, buf, sizeof buf));
        return 0;
}

static int set_namespace(Table *table, const PnNamespace *ns)
{
        _cleanup_free_ char *uses = view_uses(ns->uses.state, ns->uses.v, ns->uses.n);
        Units units;

        if (!uses)
                return -ENOMEM;
        if (ns->nsid.state == PN_KNOWN)
                table_format(table, NSID, "%" PRId64, ns->nsid.v);
        if (ns->capacity_bytes.state == PN_KNOWN)
                table_set(table, CAPACITY, units_size(units, ns->capacity_bytes.v));
        else if (pn_is_unread(ns->capacity_bytes.state))
                table_set(table, CAPACITY, "?");
        if (ns->block_size.state == PN_KNOWN && ns->metadata_size.state == PN_KNOWN)
                table_format(table, FORMAT, "%" PRId64 " B + %" PRId64 " B", ns->block_size.v,
                             ns->metadata_size.v);
        else if (ns->block_size.state == PN_KNOWN)
                table_format(table, FORMAT, "%" PRId64 " B", ns->block_size.v);
        table_set(table, USED_BY, uses);
        return 0;
}

/* What a table is made of, by name. */
typedef struct Listing {
        Table *table;
        View view;
        PnIndex ratings;    /* by address */
        PnIndex namespaces; /* the drives that show one, by its name */
} Listing;

static void listing_done(Listing *listing)
{
        pn_index_done(&listing->ratings);
        pn_index_done(&listing->namespaces);
        view_done(&listing->view);
}

static int listing_init(Listing *listing, Table *table, const Facts *facts)
{
        const PnStatus *status = &facts->status;
        const PnInventory *inventory = &facts->inventory;
        unsigned n = 0;

        listing->table = table;
        for (unsigned i = 0; i < inventory->nvme.n; i++)
                n += inventory->nvme.v[i].namespaces.n;
        if (view_init(&listing->view, &facts->status) < 0 ||
            pn_index_init(&listing->ratings, status->ratings.n) < 0 ||
            pn_index_init(&listing->namespaces, n) < 0)
                return -ENOMEM;
        for (unsigned i = 0; i < status->ratings.n; i++)
                pn_index_add(&listing->ratings, status->ratings.v[i].address.v,
                             &status->ratings.v[i]);
        for (unsigned i = 0; i < inventory->nvme.n; i++)
                for (unsigned k = 0; k < inventory->nvme.v[i].namespaces.n; k++)
                        pn_index_add(&listing->namespaces,
                                     inventory->nvme.v[i].namespaces.v[k].name.v,
                                     &inventory->nvme.v[i]);
        pn_index_sort(&listing->ratings);
        pn_index_sort(&listing->namespaces);
        return 0;
}

static Path path_to(const Listing *listing, const PnNvme *drive)
{
        const PnRating *rating = pn_index_find(&listing->ratings, pn_text(&drive->address), NULL);

        return (Path){drive, rating, mark_of(&listing->view, drive, rating)};
}

/* The controllers of a drive that show a namespace (case 040), in their order; 0 if this one is
 * not the first of them. */
static unsigned paths_to(const Listing *listing, const PnNvme *drive, const PnNamespace *ns,
                         Path paths[static PATHS_MAX])
{
        unsigned n_shown, n = 0;
        const PnIndexEntry *shown = pn_index_range(&listing->namespaces, ns->name.v, &n_shown);

        paths[n++] = path_to(listing, drive);
        for (unsigned i = 0; i < n_shown && n < PATHS_MAX && pn_text(&drive->subsystem); i++) {
                const PnNvme *other = shown[i].object;

                if (other == drive || !pn_text_is(&other->subsystem, drive->subsystem.v))
                        continue;
                if (other < drive)
                        return 0;
                paths[n++] = path_to(listing, other);
        }
        return n;
}

static int add_drive(Listing *listing, const PnNvme *drive)
{
        Path v[PATHS_MAX];

        if (!drive->namespaces.n) {
                v[0] = path_to(listing, drive);
                return set_drive(listing->table, &listing->view, &(Paths){v, 1, v}, drive->name.v);
        }
        for (unsigned i = 0; i < drive->namespaces.n; i++) {
                const PnNamespace *ns = &drive->namespaces.v[i];
                _cleanup_free_ char *node = NULL;
                unsigned n = paths_to(listing, drive, ns, v);

                if (!n)
                        continue;
                if (asprintf(&node, "/dev/%s", ns->name.v) < 0) {
                        node = NULL;
                        return -ENOMEM;
                }
                if (set_drive(listing->table, &listing->view, &(Paths){v, n, worst_of(v, n)},
                              node) < 0 ||
                    set_namespace(listing->table, ns) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int put_table(Cli *cli, const Facts *facts)
{
        _cleanup_table_ Table *table = table_new(&cli->term, columns, PN_ELEMENTS(columns));
        _cleanup_(listing_done) Listing listing = {0};

        if (!table || listing_init(&listing, table, facts) < 0)
                return -ENOMEM;
        for (unsigned i = 0; i < facts->inventory.nvme.n; i++)
                if (add_drive(&listing, &facts->inventory.nvme.v[i]) < 0)
                        return -ENOMEM;
        cli_put_table(cli, table, _("There is no NVMe drive in this machine."));
        return 0;
}

int cmd_nvme(Cli *cli, _unused_ const char *argument)
{
        Facts facts = {0};
        int r = source_facts(cli, WANT_NVME, &facts);

        if (r == 0 && cli->json != JSON_OFF)
                cli_put_json_list(cli, pn_type_Nvme(), facts.inventory.nvme.v,
                                  facts.inventory.nvme.n);
        else if (r == 0 && put_table(cli, &facts) < 0)
                r = cli_out_of_memory(cli);
        facts_done(&facts);
        return r;
}
