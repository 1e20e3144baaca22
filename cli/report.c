/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a report says of a machine: the page that an administrator would type by hand. Knows no
 * format. */

#include "report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "index.h"
#include "modules.h"
#include "portview.h"
#include "say.h"
#include "units.h"

/* ---- grids ---- */

void grid_row(Grid *grid, int mark)
{
        GridRow *bigger = reallocarray(grid->rows, (size_t)grid->n_rows + 1, sizeof *bigger);

        if (!bigger) {
                grid->error = -ENOMEM;
                return;
        }
        grid->rows = bigger;
        grid->rows[grid->n_rows++] = (GridRow){.mark = mark};
}

void grid_set(Grid *grid, unsigned column, const char *text)
{
        char *copy;

        if (grid->error || !grid->n_rows || !text || !*text)
                return;
        copy = strdup(text);
        if (!copy) {
                grid->error = -ENOMEM;
                return;
        }
        free(grid->rows[grid->n_rows - 1].cells[column]);
        grid->rows[grid->n_rows - 1].cells[column] = copy;
        grid->is_used[column] = true;
}

void grid_format(Grid *grid, unsigned column, const char *format, ...)
{
        _cleanup_free_ char *text = NULL;
        va_list args;
        int r;

        va_start(args, format);
        r = vasprintf(&text, format, args);
        va_end(args);
        if (r < 0) {
                text = NULL;
                grid->error = -ENOMEM;
                return;
        }
        grid_set(grid, column, text);
}

void grid_done(Grid *grid)
{
        for (unsigned i = 0; i < grid->n_rows; i++)
                for (unsigned k = 0; k < GRID_COLUMNS; k++)
                        free(grid->rows[i].cells[k]);
        free(grid->rows);
        *grid = (Grid){0};
}

bool grid_has_column(const Grid *grid, unsigned column)
{
        return grid->is_used[column];
}

#define _cleanup_grid_ _cleanup_(grid_done)

/* ---- the report ---- */

typedef struct Report {
        PnBuf *out;
        const Format *format;
        const Facts *facts;
        const View *view;
        const PnHost *host; /* never NULL */
        bool all;
        int error;
        PnIndex by_function, by_slot; /* ratings */
        PnIndex by_device;            /* findings */
        PnIndex by_id;                /* ports */
} Report;

static void indexes_done(Report *report)
{
        pn_index_done(&report->by_function);
        pn_index_done(&report->by_slot);
        pn_index_done(&report->by_device);
        pn_index_done(&report->by_id);
}

static int make_indexes(Report *report)
{
        const PnStatus *status = &report->facts->status;
        const PnPorts *ports = &report->facts->ports;
        unsigned n_functions = 0;

        for (unsigned i = 0; i < status->ratings.n; i++)
                n_functions += status->ratings.v[i].functions.n;
        if (pn_index_init(&report->by_function, n_functions) < 0 ||
            pn_index_init(&report->by_slot, status->ratings.n) < 0 ||
            pn_index_init(&report->by_device, status->findings.n) < 0 ||
            pn_index_init(&report->by_id, ports->n) < 0)
                return -ENOMEM;
        for (unsigned i = 0; i < status->ratings.n; i++) {
                const PnRating *rating = &status->ratings.v[i];

                pn_index_add(&report->by_slot, pn_text(&rating->slot), rating);
                for (unsigned k = 0; k < rating->functions.n; k++)
                        pn_index_add(&report->by_function, rating->functions.v[k], rating);
        }
        for (unsigned i = 0; i < status->findings.n; i++)
                pn_index_add(&report->by_device, pn_text(&status->findings.v[i].device),
                             &status->findings.v[i]);
        for (unsigned i = 0; i < ports->n; i++)
                pn_index_add(&report->by_id, ports->v[i].id.v, &ports->v[i]);
        pn_index_sort(&report->by_function);
        pn_index_sort(&report->by_slot);
        pn_index_sort(&report->by_device);
        pn_index_sort(&report->by_id);
        return 0;
}

static void put_heading(Report *report, unsigned level, const char *text)
{
        report->format->heading(report->out, level, _(text));
}

/* A table under its heading; a table without rows is not there. */
static void put_table(Report *report, unsigned level, const char *heading, const Grid *grid)
{
        if (grid->error)
                report->error = grid->error;
        if (grid->error || !grid->n_rows)
                return;
        if (heading)
                put_heading(report, level, heading);
        report->format->table(report->out, grid);
}

/* A fact with its label; facts that are not known are left out. */
static void add_fact(Grid *grid, const char *label, const char *value)
{
        if (!value || !*value)
                return;
        grid_row(grid, MARK_NONE);
        grid_set(grid, 0, _(label));
        grid_set(grid, 1, value);
}

static void put_facts(Report *report, unsigned level, const char *heading, const Grid *grid)
{
        if (grid->error)
                report->error = grid->error;
        if (grid->error || !grid->n_rows)
                return;
        put_heading(report, level, heading);
        report->format->facts(report->out, grid);
}

static const char *text_or_question(const PnText *text)
{
        return pn_is_unread(text->state) ? "?" : pn_text(text);
}

static void set_percent(Grid *grid, unsigned column, const PnInt *percent)
{
        if (percent->state == PN_KNOWN)
                grid_format(grid, column, "%" PRId64 " %%", percent->v);
        else if (pn_is_unread(percent->state))
                grid_set(grid, column, "?");
}

static void set_size(Grid *grid, unsigned column, const PnInt *bytes)
{
        Units units;

        if (bytes->state == PN_KNOWN)
                grid_set(grid, column, units_size(units, bytes->v));
        else if (pn_is_unread(bytes->state))
                grid_set(grid, column, "?");
}

/* ---- what is wrong ---- */

static const char *severity_words(Mark mark)
{
        return mark == MARK_CRITICAL  ? _("critical")
               : mark == MARK_WARNING ? _("warning")
               : mark == MARK_NOTICE  ? _("below its best")
                                      : _("note");
}

static void put_finding(Report *report, const PnFinding *finding)
{
        _cleanup_free_ char *affects = view_join_affected(&finding->affects);
        _cleanup_free_ char *summary = NULL, *advice = NULL;
        Told told = {.mark = view_severity(&finding->severity)};

        if (!affects) {
                report->error = -ENOMEM;
                return;
        }
        told.severity = severity_words(told.mark);
        told.summary =
            pn_text(&finding->summary) ? say_told(finding->summary.v, &summary) : finding->code.v;
        told.summary_is_english = !summary;
        told.advice = say_told(pn_text(&finding->advice), &advice);
        told.advice_is_english = !advice;
        told.affects = *affects ? affects : NULL;
        report->format->finding(report->out, &told);
}

static bool is_note(const PnFinding *finding)
{
        return view_severity(&finding->severity) == MARK_UNJUDGED;
}

/* What needs no action is not wrong: it has a heading of its own. */
static void put_notes(Report *report)
{
        const PnStatus *status = &report->facts->status;
        bool any = false;

        for (unsigned i = 0; i < status->findings.n; i++) {
                const PnFinding *finding = &status->findings.v[i];

                if (!is_note(finding) || (pn_is_true(finding->accepted) && !report->all))
                        continue;
                if (!any)
                        put_heading(report, 2, N_("Notes that need no action"));
                any = true;
                put_finding(report, finding);
        }
}

static void put_findings(Report *report)
{
        const PnStatus *status = &report->facts->status;
        unsigned accepted = 0, wrong = 0;

        put_heading(report, 2, N_("What is wrong, and what to do"));
        for (unsigned i = 0; i < status->findings.n; i++) {
                const PnFinding *finding = &status->findings.v[i];

                wrong += !is_note(finding);
                accepted += pn_is_true(finding->accepted);
                if (!is_note(finding) && (report->all || !pn_is_true(finding->accepted)))
                        put_finding(report, finding);
        }
        if (!wrong)
                report->format->paragraph(report->out, _("Nothing."), PARAGRAPH_ASIDE);
        if (accepted && !report->all) {
                char line[128];

                (void)snprintf(line, sizeof line,
                               say_n("%u accepted finding is not shown.",
                                     "%u accepted findings are not shown.", accepted),
                               accepted);
                report->format->paragraph(report->out, line, PARAGRAPH_ASIDE);
        }
        put_notes(report);
}

/* ---- the machine ---- */

static void add_product(Grid *grid, const char *label, const PnProduct *product)
{
        char text[256];

        if (!product || !(pn_text(&product->vendor) || pn_text(&product->product)))
                return;
        (void)snprintf(text, sizeof text, "%s%s%s",
                       pn_text(&product->vendor) ? product->vendor.v : "",
                       pn_text(&product->vendor) && pn_text(&product->product) ? " " : "",
                       pn_text(&product->product) ? product->product.v : "");
        add_fact(grid, label, text);
}

static void put_slots(Report *report)
{
        static const char *const headings[] = {N_("Slot"), N_("Type"), N_("Lanes"), N_("In it")};
        _cleanup_grid_ Grid grid = {.headings = headings, .n_columns = PN_ELEMENTS(headings)};

        for (unsigned i = 0; i < report->host->slots.n; i++) {
                const PnSlot *slot = &report->host->slots.v[i];
                const PnRating *rating =
                    pn_index_find(&report->by_slot, pn_text(&slot->designation), NULL);

                grid_row(&grid, MARK_NONE);
                grid_set(&grid, 0, text_or_question(&slot->designation));
                grid_set(&grid, 1, text_or_question(&slot->type));
                if (slot->width.state == PN_KNOWN)
                        grid_format(&grid, 2, "x%" PRId64, slot->width.v);
                if (rating)
                        grid_format(&grid, 3, "%s%s%s", view_rating_name(rating),
                                    pn_text(&rating->model) ? " " : "",
                                    pn_text(&rating->model) ? rating->model.v : "");
                else if (slot->in_use.state == PN_KNOWN)
                        grid_set(&grid, 3, slot->in_use.v ? _("in use") : _("free"));
        }
        put_table(report, 3, N_("Slots"), &grid);
}

static void put_board(Report *report)
{
        const PnHost *host = report->host;
        _cleanup_grid_ Grid grid = {.n_columns = 2};

        add_product(&grid, N_("Machine"), host->machine.v);
        add_product(&grid, N_("Board"), host->board.v);
        if (host->bios.v && pn_text(&host->bios.v->version)) {
                char text[160];

                (void)snprintf(text, sizeof text, "%s%s%s", host->bios.v->version.v,
                               pn_text(&host->bios.v->date) ? ", " : "",
                               pn_text(&host->bios.v->date) ? host->bios.v->date.v : "");
                add_fact(&grid, N_("Firmware"), text);
        }
        if (pn_text(&host->virtualization) && strcmp(host->virtualization.v, "none") != 0)
                add_fact(&grid, N_("Virtual machine"), host->virtualization.v);
        put_facts(report, 2, N_("Board"), &grid);
        put_slots(report);
}

static void put_cpu(Report *report)
{
        const PnCpu *cpu = report->host->cpu.v;
        _cleanup_grid_ Grid grid = {.n_columns = 2};
        char number[32];

        if (!cpu)
                return;
        add_fact(&grid, N_("Model"), pn_text(&cpu->model));
        const struct {
                const char *label;
                PnInt value;
        } counts[] = {{N_("Sockets"), cpu->sockets},
                      {N_("Cores"), cpu->cores},
                      {N_("Threads"), cpu->threads}};

        for (size_t i = 0; i < PN_ELEMENTS(counts); i++) {
                if (counts[i].value.state != PN_KNOWN)
                        continue;
                (void)snprintf(number, sizeof number, "%" PRId64, counts[i].value.v);
                add_fact(&grid, counts[i].label, number);
        }
        put_facts(report, 2, N_("Processor"), &grid);
}

static void put_memory(Report *report)
{
        static const char *const headings[] = {N_("Socket"),  N_("Size"),  N_("Type"), N_("Rated"),
                                               N_("Runs at"), N_("Maker"), N_("Part")};
        const PnHost *host = report->host;
        _cleanup_grid_ Grid grid = {.headings = headings, .n_columns = PN_ELEMENTS(headings)};
        _cleanup_grid_ Grid facts = {NULL, 2, 0, NULL, 0, {false}};
        Units units;

        if (host->memory_bytes.state == PN_KNOWN)
                add_fact(&facts, N_("Usable"), units_memory(units, host->memory_bytes.v));
        for (unsigned i = 0; i < host->dimms.n; i++) {
                const PnDimm *dimm = &host->dimms.v[i];

                grid_row(&grid, MARK_NONE);
                grid_set(&grid, 0, text_or_question(&dimm->locator));
                if (dimm->size_bytes.state == PN_KNOWN)
                        grid_set(&grid, 1, units_memory(units, dimm->size_bytes.v));
                else
                        grid_set(&grid, 1, pn_is_unread(dimm->size_bytes.state) ? "?" : _("empty"));
                grid_set(&grid, 2, pn_text(&dimm->type));
                if (dimm->speed_mts.state == PN_KNOWN)
                        grid_format(&grid, 3, "%" PRId64 " MT/s", dimm->speed_mts.v);
                if (dimm->configured_mts.state == PN_KNOWN)
                        grid_format(&grid, 4, "%" PRId64 " MT/s", dimm->configured_mts.v);
                grid_set(&grid, 5, pn_text(&dimm->manufacturer));
                grid_set(&grid, 6, pn_text(&dimm->part_number));
        }
        put_facts(report, 2, N_("Memory"), &facts);
        put_table(report, 2, facts.n_rows ? NULL : N_("Memory"), &grid);
}

static void put_software(Report *report)
{
        const PnHost *host = report->host;
        _cleanup_grid_ Grid grid = {.n_columns = 2};

        add_fact(&grid, N_("Proxmox VE"), pn_text(&host->proxmox_version));
        add_fact(&grid, N_("System"), pn_text(&host->os));
        add_fact(&grid, N_("Kernel"), pn_text(&host->kernel));
        add_fact(&grid, N_("Written by"), "pnhw " PN_VERSION);
        put_facts(report, 2, N_("Software"), &grid);
}

/* ---- storage ---- */

static int worst_about(const Report *report, const char *device, int mark)
{
        unsigned n;
        const PnIndexEntry *about = pn_index_range(&report->by_device, device, &n);

        for (unsigned i = 0; i < n; i++) {
                const PnFinding *finding = about[i].object;
                Mark found = view_severity(&finding->severity);

                if (!pn_is_true(finding->accepted) && (int)found > mark)
                        mark = (int)found;
        }
        return mark;
}

static int drive_mark(const Report *report, const PnNvme *drive, const PnRating *rating)
{
        int mark = rating ? (int)view_rating_mark(report->view, rating) : MARK_GOOD;

        if (pn_is_true(drive->lost))
                return MARK_CRITICAL;
        return worst_about(report, drive->name.v, mark);
}

/* What `nvme list` shows, in its order and with its headings, and the state where it is not well.
 */
static void put_drive_names(Report *report)
{
        static const char *const headings[] = {N_("Node"),      N_("SN"),    N_("Model"),
                                               N_("Namespace"), N_("Usage"), N_("Format"),
                                               N_("FW Rev"),    N_("State")};
        _cleanup_grid_ Grid grid = {.headings = headings, .n_columns = PN_ELEMENTS(headings)};
        Units used, size;

        for (unsigned i = 0; i < report->facts->inventory.nvme.n; i++) {
                const PnNvme *drive = &report->facts->inventory.nvme.v[i];
                unsigned n = drive->namespaces.n;

                for (unsigned k = 0; k < (n ? n : 1); k++) {
                        const PnNamespace *ns = n ? &drive->namespaces.v[k] : NULL;

                        grid_row(&grid, MARK_NONE);
                        grid_format(&grid, 0, "/dev/%s", ns ? ns->name.v : drive->name.v);
                        grid_set(&grid, 1, text_or_question(&drive->serial));
                        grid_set(&grid, 2, text_or_question(&drive->model));
                        grid_set(&grid, 6, text_or_question(&drive->firmware));
                        if (pn_is_true(drive->lost))
                                grid_set(&grid, 7, _("lost"));
                        else if (!pn_text_is(&drive->state, "live"))
                                grid_set(&grid, 7, text_or_question(&drive->state));
                        if (!ns)
                                continue;
                        if (ns->nsid.state == PN_KNOWN)
                                grid_format(&grid, 3, "%" PRId64, ns->nsid.v);
                        if (ns->capacity_bytes.state == PN_KNOWN)
                                grid_format(&grid, 4, "%s / %s",
                                            ns->used_bytes.state == PN_KNOWN
                                                ? units_size(used, ns->used_bytes.v)
                                                : "?",
                                            units_size(size, ns->capacity_bytes.v));
                        if (ns->block_size.state == PN_KNOWN)
                                grid_format(&grid, 5, "%" PRId64 " B + %" PRId64 " B",
                                            ns->block_size.v, pn_int_or(ns->metadata_size, 0));
                }
        }
        put_table(report, 3, N_("Device names"), &grid);
}

static void put_drive_links(Report *report)
{
        static const char *const headings[] = {
            N_("Drive"),   N_("Slot"),         N_("Link"),        N_("Could be"), N_("GB/s"),
            N_("Of best"), N_("Why"),          N_("Temperature"), N_("Worn"),     N_("Spare"),
            N_("Written"), N_("Media errors"), N_("Used by")};
        enum {
                DRIVE,
                SLOT,
                LINK,
                COULD_BE,
                GBS,
                OF_BEST,
                WHY,
                TEMPERATURE,
                WORN,
                SPARE,
                WRITTEN,
                ERRORS,
                USED_BY
        };
        _cleanup_grid_ Grid grid = {.headings = headings, .n_columns = PN_ELEMENTS(headings)};
        char buf[96];

        for (unsigned i = 0; i < report->facts->inventory.nvme.n; i++) {
                const PnNvme *drive = &report->facts->inventory.nvme.v[i];
                const PnRating *rating =
                    pn_index_find(&report->by_function, pn_text(&drive->address), NULL);
                const PnHealth *health = drive->health.v;
                _cleanup_buf_ PnBuf uses = {0};

                grid_row(&grid, drive_mark(report, drive, rating));
                grid_set(&grid, DRIVE, drive->name.v);
                if (rating) {
                        grid_set(&grid, SLOT, pn_text(&rating->slot));
                        grid_set(&grid, LINK, view_rating_link(rating, buf, sizeof buf));
                        grid_set(&grid, COULD_BE, view_rating_could_be(rating, buf, sizeof buf));
                        grid_set(&grid, GBS, view_rating_gbs(rating, buf, sizeof buf));
                        grid_set(&grid, OF_BEST, view_rating_percent(rating, buf, sizeof buf));
                        grid_set(&grid, WHY, view_device_verdict(report->view, rating));
                } else if (!pn_text_is(&drive->transport, "pcie")) {
                        grid_set(&grid, LINK, pn_text(&drive->transport));
                }
                if (pn_is_unread(drive->health.state)) {
                        grid_set(&grid, TEMPERATURE, view_missing(drive->health.state));
                        grid_set(&grid, WORN, view_missing(drive->health.state));
                }
                if (health) {
                        PnInt warning, critical;

                        view_limits(health, &warning, &critical);
                        if (health->temperature_c.state == PN_KNOWN && warning.state == PN_KNOWN)
                                grid_format(&grid, TEMPERATURE, _("%d °C of %d"),
                                            (int)health->temperature_c.v, (int)warning.v);
                        else if (health->temperature_c.state == PN_KNOWN)
                                grid_format(&grid, TEMPERATURE, "%" PRId64 " °C",
                                            health->temperature_c.v);
                        set_percent(&grid, WORN, &health->used_percent);
                        set_percent(&grid, SPARE, &health->spare_percent);
                        set_size(&grid, WRITTEN, &health->bytes_written);
                        if (health->media_errors.state == PN_KNOWN)
                                grid_format(&grid, ERRORS, "%" PRId64, health->media_errors.v);
                }
                for (unsigned k = 0; k < drive->namespaces.n; k++) {
                        const PnNamespace *ns = &drive->namespaces.v[k];
                        _cleanup_free_ char *words =
                            view_uses(ns->uses.state, ns->uses.v, ns->uses.n);

                        if (!words)
                                grid.error = -ENOMEM;
                        else if (*words)
                                pn_buf_printf(&uses, "%s%s", uses.len ? ", " : "", words);
                }
                if (uses.error)
                        grid.error = uses.error;
                grid_set(&grid, USED_BY, uses.data);
        }
        put_table(report, 3, N_("Slot, link, health, use"), &grid);
}

static void put_disks(Report *report)
{
        static const char *const headings[] = {N_("Disk"), N_("Serial"), N_("Model"),  N_("By"),
                                               N_("Kind"), N_("Size"),   N_("Used by")};
        _cleanup_grid_ Grid grid = {.headings = headings, .n_columns = PN_ELEMENTS(headings)};

        for (unsigned i = 0; i < report->facts->inventory.disks.n; i++) {
                const PnDisk *disk = &report->facts->inventory.disks.v[i];
                _cleanup_free_ char *uses = view_uses(disk->uses.state, disk->uses.v, disk->uses.n);

                if (!uses)
                        grid.error = -ENOMEM;
                grid_row(&grid, worst_about(report, disk->name.v, MARK_NONE));
                grid_format(&grid, 0, "/dev/%s", disk->name.v);
                grid_set(&grid, 1, text_or_question(&disk->serial));
                grid_set(&grid, 2, text_or_question(&disk->model));
                grid_set(&grid, 3, text_or_question(&disk->transport));
                grid_set(&grid, 4, view_disk_kind(disk));
                set_size(&grid, 5, &disk->size_bytes);
                grid_set(&grid, 6, uses);
        }
        put_table(report, 3, N_("Other disks"), &grid);
}

static void put_storage(Report *report)
{
        const PnInventory *inventory = &report->facts->inventory;

        if (!inventory->nvme.n && !inventory->disks.n)
                return;
        put_heading(report, 2, N_("Drives"));
        put_drive_names(report);
        put_drive_links(report);
        put_disks(report);
}

/* ---- links ---- */

static void put_picture(Report *report)
{
        if (!report->format->picture || !report->facts->status.ratings.n || report->error)
                return;
        put_heading(report, 2, N_("PCI Express"));
        report->error =
            report->format->picture(report->out, report->facts, report->view, report->all);
}

static void put_links(Report *report)
{
        static const char *const headings[] = {
            N_("Address"), N_("At port"), N_("Device"),  N_("Slot"),    N_("Now"),
            N_("Rated"),   N_("Best"),    N_("Of best"), N_("Verdict"), N_("Shared")};
        _cleanup_grid_ Grid grid = {.headings = headings, .n_columns = PN_ELEMENTS(headings)};
        const PnStatus *status = &report->facts->status;
        char buf[96];
        Units units;

        for (unsigned i = 0; i < status->ratings.n; i++) {
                const PnRating *rating = &status->ratings.v[i];
                const char *name = pn_text(&rating->name), *model = pn_text(&rating->model);

                grid_row(&grid, (int)view_rating_mark(report->view, rating));
                grid_set(&grid, 0, view_address(rating->address.v));
                if (pn_text(&rating->port))
                        grid_set(&grid, 1, view_address(rating->port.v));
                grid_format(&grid, 2, "%s%s%s", name ? name : "", name && model ? " " : "",
                            model                                 ? model
                            : name                                ? ""
                            : pn_text_is(&rating->kind, "switch") ? _("switch")
                                                                  : "");
                grid_set(&grid, 3, pn_text(&rating->slot));
                grid_set(&grid, 4, view_rating_link(rating, buf, sizeof buf));
                grid_set(&grid, 5, units_rate(units, rating->rated.v));
                grid_set(&grid, 6, units_rate(units, rating->best.v));
                grid_set(&grid, 7, view_rating_percent(rating, buf, sizeof buf));
                grid_set(&grid, 8, view_device_verdict(report->view, rating));
                if (rating->shared.v && rating->shared.v->ratio.state == PN_KNOWN &&
                    rating->shared.v->ratio.v > 1)
                        grid_format(&grid, 9, "%.1f : 1", rating->shared.v->ratio.v);
        }
        put_table(report, 2, N_("PCI Express links"), &grid);
}

/* ---- network ---- */

static void put_ports(Report *report)
{
        static const char *const headings[] = {
            N_("Port"),    N_("Card"),     N_("Slot"),   N_("Driver"), N_("State"),
            N_("Runs at"), N_("Of"),       N_("By"),     N_("Module"), N_("Part of"),
            N_("MAC"),     N_("Firmware"), N_("Verdict")};
        enum {
                PORT,
                CARD,
                SLOT,
                DRIVER,
                STATE,
                RUNS_AT,
                OF,
                BY,
                MODULE,
                PART_OF,
                MAC,
                FIRMWARE,
                VERDICT
        };
        _cleanup_grid_ Grid grid = {.headings = headings, .n_columns = PN_ELEMENTS(headings)};
        const Facts *facts = report->facts;
        char buf[96];
        Units units;

        for (unsigned i = 0; i < facts->inventory.nics.n; i++) {
                const PnNic *nic = &facts->inventory.nics.v[i];
                const PnPort *port = pn_index_find(&report->by_id, nic->id.v, NULL);
                const char *mac =
                    pn_text(&nic->permanent_mac) ? nic->permanent_mac.v : pn_text(&nic->mac);

                grid_row(&grid, port ? (int)port_mark(report->view, port) : MARK_NONE);
                grid_set(&grid, PORT, view_address(nic->id.v));
                grid_set(&grid, DRIVER,
                         pn_text(&nic->driver)                ? nic->driver.v
                         : pn_text_is(&nic->kind, "physical") ? text_or_question(&nic->driver)
                                                              : pn_text(&nic->kind));
                grid_set(&grid, STATE, text_or_question(&nic->state));
                grid_set(&grid, RUNS_AT, port_speed(units, &nic->speed_mbps));
                grid_set(&grid, BY, pn_text(&nic->port));
                grid_set(&grid, PART_OF,
                         pn_text(&nic->master) ? nic->master.v : pn_text(&nic->lower));
                grid_set(&grid, MAC, mac);
                grid_set(&grid, FIRMWARE, pn_text(&nic->firmware));
                if (!port)
                        continue;
                grid_set(&grid, CARD, pn_text(&port->model));
                grid_set(&grid, SLOT, pn_text(&port->slot));
                grid_set(&grid, OF, port_speed(units, &port->best_mbps));
                grid_set(&grid, MODULE, port_module(port));
                grid_set(&grid, VERDICT, port_verdict(report->view, port, buf, sizeof buf));
        }
        put_table(report, 3, N_("Ports"), &grid);
}

/* As switches write it: how far on which fibre, by its core. */
static int add_reach(Grid *grid, const PnModule *module)
{
        static const struct {
                const char *medium, *words;
        } media[] = {
            {"SMF", N_("9um single mode")},
            {"OM1", "62.5um OM1"},
            {"OM2", "50um OM2"},
            {"OM3", "50um OM3"},
            {"OM4", "50um OM4"},
            {"OM5", "50um OM5"},
            {"copper", N_("copper")},
            {"cable", N_("cable")},
        };
        _cleanup_buf_ PnBuf line = {0};
        Units units;

        for (unsigned i = 0; i < module->lengths.n; i++) {
                const PnModuleLength *length = &module->lengths.v[i];
                const char *words = length->medium.v;

                if (length->metres.state != PN_KNOWN)
                        continue;
                for (size_t k = 0; k < PN_ELEMENTS(media); k++)
                        if (strcmp(media[k].medium, words) == 0) {
                                words = _(media[k].words);
                                break;
                        }
                pn_buf_printf(&line, "%s%s m (%s)", line.len ? ", " : "",
                              units_real(units, length->metres.v), words);
        }
        if (line.error)
                return line.error;
        add_fact(grid, N_("Transfer Distance"), line.data);
        return 0;
}

static void add_light(Grid *grid, const char *label, const PnModuleDiagnostics *diagnostics,
                      bool received)
{
        _cleanup_buf_ PnBuf line = {0};

        for (unsigned i = 0; i < diagnostics->lanes.n; i++) {
                const PnModuleLane *lane = &diagnostics->lanes.v[i];
                PnReal mw = received ? lane->rx_power_mw : lane->tx_power_mw;
                PnReal level = received ? lane->rx_power_dbm : lane->tx_power_dbm;

                if (mw.state != PN_KNOWN)
                        continue;
                pn_buf_puts(&line, line.len ? ", " : "");
                if (level.state == PN_KNOWN)
                        pn_buf_printf(&line, "%.2f dBm", level.v);
                else
                        pn_buf_puts(&line, _("dark"));
        }
        if (line.error)
                grid->error = line.error;
        add_fact(grid, label, line.data);
}

static void put_module(Report *report, const PnNic *nic)
{
        const PnModule *module = nic->module.v;
        _cleanup_grid_ Grid grid = {.n_columns = 2};
        _cleanup_free_ char *title = NULL;
        char text[160];
        Units units;

        if (asprintf(&title, _("Transceiver in %s"), view_address(nic->id.v)) < 0) {
                title = NULL;
                report->error = -ENOMEM;
                return;
        }
        if (!pn_text_is(&module->status, "present"))
                add_fact(&grid, N_("Status"), module->status.v);
        (void)snprintf(text, sizeof text, "%s%s%s", pn_text(&module->form) ? module->form.v : "",
                       pn_text(&module->form) && pn_text(&module->type) ? " " : "",
                       pn_text(&module->type) ? module->type.v : "");
        add_fact(&grid, N_("Type"), text);
        add_fact(&grid, N_("Vendor"), pn_text(&module->vendor));
        add_fact(&grid, N_("Model"), pn_text(&module->part_number));
        add_fact(&grid, N_("Serial"), pn_text(&module->serial));
        add_fact(&grid, N_("Connector Type"), pn_text(&module->connector));
        if (module->wavelength_nm.state == PN_KNOWN) {
                (void)snprintf(text, sizeof text, "%s nm",
                               units_real(units, module->wavelength_nm.v));
                add_fact(&grid, N_("Wavelength"), text);
        }
        if (add_reach(&grid, module) < 0)
                grid.error = -ENOMEM;
        if (module->diagnostics.v) {
                const PnModuleDiagnostics *diagnostics = module->diagnostics.v;

                if (diagnostics->temperature_c.state == PN_KNOWN) {
                        (void)snprintf(text, sizeof text, "%.0f °C", diagnostics->temperature_c.v);
                        add_fact(&grid, N_("Temperature"), text);
                }
                add_light(&grid, N_("Light received"), diagnostics, true);
                add_light(&grid, N_("Light sent"), diagnostics, false);
        }
        if (grid.error)
                report->error = grid.error;
        else if (grid.n_rows)
                report->format->listing(report->out, title, &grid);
}

static void put_modules(Report *report)
{
        bool first = true;

        for (unsigned i = 0; i < report->facts->inventory.nics.n; i++) {
                const PnNic *nic = &report->facts->inventory.nics.v[i];

                if (!module_is_shown(nic) || !nic->module.v)
                        continue;
                if (first)
                        put_heading(report, 3, N_("Modules"));
                first = false;
                put_module(report, nic);
        }
}

static const char *member_words(PnMemberState state)
{
        static const char *const words[] = {
            [PN_MEMBER_WORKS] = N_("works"),
            [PN_MEMBER_NO_LINK] = N_("no link"),
            [PN_MEMBER_OTHER_GROUP] = N_("in another group than the one that carries"),
            [PN_MEMBER_NO_PARTNER] = N_("the other end does not speak LACP"),
            [PN_MEMBER_NOT_IN_SYNC] = N_("not in sync"),
            [PN_MEMBER_UNKNOWN] = N_("cannot tell"),
        };

        return _(words[state]);
}

static void put_bonds(Report *report)
{
        static const char *const headings[] = {
            N_("Bond"),       N_("Mode"), N_("Member"), N_("State"), N_("Carries traffic"),
            N_("Partner MAC")};
        _cleanup_grid_ Grid grid = {.headings = headings, .n_columns = PN_ELEMENTS(headings)};

        for (unsigned i = 0; i < report->facts->inventory.nics.n; i++) {
                const PnNic *nic = &report->facts->inventory.nics.v[i];
                const PnBond *bond = nic->bond.v;

                for (unsigned k = 0; bond && k < bond->members.n; k++) {
                        const PnBondMember *member = &bond->members.v[k];
                        PnMemberState state = pn_member_state(bond, member);

                        grid_row(&grid, state == PN_MEMBER_WORKS     ? MARK_GOOD
                                        : state == PN_MEMBER_UNKNOWN ? MARK_UNKNOWN
                                                                     : MARK_WARNING);
                        grid_set(&grid, 0, nic->id.v);
                        grid_set(&grid, 1, text_or_question(&bond->mode));
                        grid_set(&grid, 2, member->name.v);
                        grid_set(&grid, 3, member_words(state));
                        grid_set(&grid, 4, pn_member_carries(bond, member) ? _("yes") : _("no"));
                        grid_set(&grid, 5, pn_text(&member->partner_mac));
                }
        }
        put_table(report, 3, N_("Bonds"), &grid);
}

static void put_network(Report *report)
{
        if (!report->facts->inventory.nics.n)
                return;
        put_heading(report, 2, N_("Network"));
        put_ports(report);
        put_modules(report);
        put_bonds(report);
}

/* ---- sensors, sources ---- */

static void set_real(Grid *grid, unsigned column, const PnReal *real, const PnText *unit)
{
        int digits = pn_text_is(unit, "V") || pn_text_is(unit, "A")    ? 2
                     : pn_text_is(unit, "W") || pn_text_is(unit, "°C") ? 1
                                                                       : 0;

        if (real->state == PN_KNOWN)
                grid_format(grid, column, "%.*f %s", digits, real->v + 0.0,
                            pn_text(unit) ? unit->v : "");
        else if (pn_is_unread(real->state))
                grid_set(grid, column, "?");
}

static int reading_mark(const PnReading *reading)
{
        if (!pn_is_true(reading->plausible) || reading->value.state != PN_KNOWN)
                return MARK_UNJUDGED;
        if (reading->critical.state == PN_KNOWN && reading->value.v >= reading->critical.v)
                return MARK_CRITICAL;
        if (pn_is_true(reading->alarm) ||
            (reading->max.state == PN_KNOWN && reading->value.v >= reading->max.v) ||
            (reading->min.state == PN_KNOWN && reading->value.v < reading->min.v))
                return MARK_WARNING;
        return MARK_NONE;
}

static void put_sensors(Report *report)
{
        static const char *const headings[] = {N_("Of"),  N_("Sensor"), N_("Now"),
                                               N_("Low"), N_("High"),   N_("Critical")};
        _cleanup_grid_ Grid grid = {.headings = headings, .n_columns = PN_ELEMENTS(headings)};

        for (unsigned i = 0; i < report->facts->inventory.sensors.n; i++) {
                const PnChip *chip = &report->facts->inventory.sensors.v[i];
                const char *of;
                char part[192];

                view_part(&chip->part, &chip->part_name, part, sizeof part);
                of = *part                    ? part
                     : pn_text(&chip->device) ? view_address(chip->device.v)
                                              : chip->chip.v;
                if (pn_is_unread(chip->readings.state)) {
                        grid_row(&grid, MARK_UNJUDGED);
                        grid_set(&grid, 0, of);
                        grid_set(&grid, 1, chip->chip.v);
                        grid_set(&grid, 2, view_missing(chip->readings.state));
                }
                for (unsigned k = 0; k < chip->readings.n; k++) {
                        const PnReading *reading = &chip->readings.v[k];

                        if (reading->plausible.state == PN_KNOWN && !reading->plausible.v)
                                continue; /* not connected: nobody would write it down */
                        grid_row(&grid, reading_mark(reading));
                        grid_set(&grid, 0, of);
                        grid_set(&grid, 1, reading->label.v);
                        set_real(&grid, 2, &reading->value, &reading->unit);
                        set_real(&grid, 3, &reading->min, &reading->unit);
                        set_real(&grid, 4, &reading->max, &reading->unit);
                        set_real(&grid, 5, &reading->critical, &reading->unit);
                }
        }
        put_table(report, 2, N_("Sensors"), &grid);
}

/* Unknown is information: what the report cannot say is part of it. */
static void put_sources(Report *report)
{
        static const char *const headings[] = {N_("Source"), N_("State"), N_("Reason"),
                                               N_("Last read")};
        _cleanup_grid_ Grid grid = {.headings = headings, .n_columns = PN_ELEMENTS(headings)};
        const PnStatus *status = &report->facts->status;
        Units units;

        for (unsigned i = 0; i < status->sources.n; i++) {
                const PnSource *source = &status->sources.v[i];
                _cleanup_free_ char *made = NULL;

                if (pn_text_is(&source->state, "fresh"))
                        continue;
                grid_row(&grid, MARK_UNKNOWN);
                grid_set(&grid, 0, source->name.v);
                grid_set(&grid, 1, pn_text(&source->state));
                grid_set(&grid, 2, say_reason(pn_text(&source->reason), &made));
                if (pn_text(&source->updated))
                        grid_set(&grid, 3, units_time(units, source->updated.v));
        }
        put_table(report, 2, N_("What could not be read"), &grid);
}

/* When what is shown was read, at the latest. */
static const char *time_of(const PnStatus *status)
{
        const char *newest = NULL;

        for (unsigned i = 0; i < status->sources.n; i++) {
                const char *updated = pn_text(&status->sources.v[i].updated);

                if (updated && (!newest || strcmp(updated, newest) > 0))
                        newest = updated;
        }
        return newest;
}

static void put_opening(Report *report)
{
        const char *newest = time_of(&report->facts->status), *summary;
        _cleanup_free_ char *line = NULL, *made = NULL;
        Units units;

        summary = say_told(report->facts->status.summary.v, &made);
        report->format->paragraph(report->out, summary,
                                  made ? PARAGRAPH_LEAD : PARAGRAPH_LEAD_IN_ENGLISH);
        if (!newest)
                return;
        if (asprintf(&line, _("As of %s. A question mark stands for what could not be read."),
                     units_date(units, newest)) < 0) {
                line = NULL;
                report->error = -ENOMEM;
                return;
        }
        report->format->paragraph(report->out, line, PARAGRAPH_ASIDE);
}

int report_write(PnBuf *out, const Format *format, const Facts *facts, bool all)
{
        static const PnHost nothing;
        const PnHost *host = facts->status.host.v;
        _cleanup_free_ char *title = NULL;
        View view = {0};
        int r = view_init(&view, &facts->status);
        _cleanup_(indexes_done) Report report = {
            .out = out,
            .format = format,
            .facts = facts,
            .view = &view,
            .host = host ? host : &nothing,
            .all = all,
        };

        if (r == 0)
                r = make_indexes(&report);
        if (r < 0) {
                view_done(&view);
                return r;
        }
        if (asprintf(&title, _("Hardware of %s"),
                     pn_text(&report.host->hostname) ? report.host->hostname.v
                                                     : _("this machine")) < 0) {
                title = NULL;
                view_done(&view);
                return -ENOMEM;
        }
        format->begin(out, title);
        put_opening(&report);
        put_findings(&report);
        put_picture(&report);
        put_board(&report);
        put_cpu(&report);
        put_memory(&report);
        put_storage(&report);
        put_network(&report);
        put_links(&report);
        put_sensors(&report);
        put_software(&report);
        put_sources(&report);
        format->end(out);
        view_done(&view);
        return report.error ? report.error : out->error;
}
