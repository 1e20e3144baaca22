/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NVMe drives: what `nvme list` shows, and the link, the slot, the verdict and the use. */

#include <inttypes.h>
#include <stdio.h>

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
    [USED_BY] = {"USED BY", 0, 11, 3},
};

/* Ratings by address, to be looked up once a drive. Ratings come in the order of addresses; text
 * order is good enough for a search in our own sorted copy. */
static int compare_ratings(const void *a, const void *b)
{
        const PnRating *const *one = a, *const *other = b;

        return strcmp((*one)->address.v, (*other)->address.v);
}

static int compare_to_address(const void *key, const void *element)
{
        const PnRating *const *rating = element;

        return strcmp(key, (*rating)->address.v);
}

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

        if (pn_is_unread(drive->health.state) && drive->health.state != PN_UNREAD_UNSUPPORTED)
                table_set(table, TEMPERATURE, "?");
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

static void set_drive(Table *table, const View *view, const PnNvme *drive, const PnRating *rating,
                      Mark mark, const char *node)
{
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
        table_set(table, ADDRESS, pn_text(&drive->address));
        set_health(table, view, drive);
        if (!rating) {
                if (!pn_text_is(&drive->transport, "pcie"))
                        table_set(table, LINK, pn_text(&drive->transport));
                return;
        }
        table_set(table, SLOT, pn_text(&rating->slot));
        table_set(table, LINK, view_rating_link(rating, buf, sizeof buf));
        table_set(table, GBS, view_rating_gbs(rating, buf, sizeof buf));
        table_set_styled(table, OF_BEST, style, view_rating_percent(rating, buf, sizeof buf));
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

static int add_drive(Table *table, const View *view, const PnNvme *drive, const PnRating *rating)
{
        Mark mark = mark_of(view, drive, rating);

        if (!drive->namespaces.n)
                set_drive(table, view, drive, rating, mark, drive->name.v);
        for (unsigned i = 0; i < drive->namespaces.n; i++) {
                const PnNamespace *ns = &drive->namespaces.v[i];
                _cleanup_free_ char *node = NULL;

                if (asprintf(&node, "/dev/%s", ns->name.v) < 0) {
                        node = NULL;
                        return -ENOMEM;
                }
                set_drive(table, view, drive, rating, mark, node);
                if (set_namespace(table, ns) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int put_table(Cli *cli, const Facts *facts)
{
        const PnStatus *status = &facts->status;
        _cleanup_free_ const PnRating **ratings =
            calloc((size_t)status->ratings.n + 1, sizeof *ratings);
        _cleanup_table_ Table *table = table_new(&cli->term, columns, PN_ELEMENTS(columns));
        View view = {0};
        int r = ratings && table ? view_init(&view, status) : -ENOMEM;

        if (r < 0)
                return r;
        for (unsigned i = 0; i < status->ratings.n; i++)
                ratings[i] = &status->ratings.v[i];
        if (status->ratings.n > 1)
                qsort(ratings, status->ratings.n, sizeof *ratings, compare_ratings);
        for (unsigned i = 0; i < facts->inventory.nvme.n && r == 0; i++) {
                const PnNvme *drive = &facts->inventory.nvme.v[i];
                const PnRating **found = NULL;

                if (pn_text(&drive->address))
                        found = bsearch(drive->address.v, ratings, status->ratings.n,
                                        sizeof *ratings, compare_to_address);
                r = add_drive(table, &view, drive, found ? *found : NULL);
        }
        view_done(&view);
        if (r < 0)
                return r;
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
