/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Everything about one device: what is wrong with it, the way to the root, then every field that
 * the tables know, without knowing one by name. */

#include <inttypes.h>
#include <stdio.h>

#include "modules.h"
#include "say.h"
#include "source.h"
#include "table.h"
#include "units.h"
#include "view.h"

#define LABEL_MAX 14

/* ---- any object, by its field table ---- */

static void put_label(Cli *cli, unsigned indent, unsigned width, const char *label)
{
        pn_buf_printf(&cli->page, "%*s", (int)indent, "");
        term_put_styled(&cli->term, &cli->page, STYLE_DIM, label);
        pn_buf_printf(&cli->page, "%*s", (int)(width - term_columns(&cli->term, label)), "");
}

/* In the reader's language, where the terminal has its letters. */
static const char *heading_of(const Term *term, const PnField *field)
{
        const char *heading = pn_field_heading(field);

        return term->utf8 ? _(heading) : heading;
}

static unsigned label_width(const Term *term, const PnType *type)
{
        unsigned width = LABEL_MAX;

        for (unsigned i = 0; i < type->n_fields; i++)
                if (term_columns(term, heading_of(term, &type->fields[i])) + 2 > width)
                        width = term_columns(term, heading_of(term, &type->fields[i])) + 2;
        return width;
}

static int put_value(Cli *cli, unsigned at, const char *value, const char *unit)
{
        _cleanup_free_ char *text = NULL;

        if (asprintf(&text, "%s%s%s", value, *unit ? " " : "", unit) < 0) {
                text = NULL;
                return -ENOMEM;
        }
        term_put_wrapped(&cli->term, &cli->page, at, at, STYLE_PLAIN, text);
        return 0;
}

/* A unit behind its number, in the reader's language if it is a word. */
static const char *unit_word(const char *unit, int64_t n)
{
        static const struct {
                const char *one, *many;
        } words[] = {
            {NN_("block", "blocks")}, {NN_("byte", "bytes")}, {NN_("error", "errors")},
            {NN_("frame", "frames")}, {NN_("lane", "lanes")},
        };

        for (size_t i = 0; i < PN_ELEMENTS(words); i++)
                if (strcmp(unit, words[i].many) == 0)
                        return say_n(words[i].one, words[i].many, n == 1 ? 1 : 2);
        return unit;
}

static int put_integer(Cli *cli, unsigned at, const PnInt *integer, const char *unit)
{
        char text[96];
        Units units;

        if (strcmp(unit, "bytes") == 0 && integer->v >= 1000000)
                (void)snprintf(text, sizeof text, "%" PRId64 " %s (%s)", integer->v,
                               unit_word(unit, integer->v), units_size(units, integer->v));
        else
                (void)snprintf(text, sizeof text, "%" PRId64 "%s%s", integer->v, *unit ? " " : "",
                               unit_word(unit, integer->v));
        return put_value(cli, at, text, "");
}

static int put_reals(Cli *cli, unsigned at, const PnReals *reals, const char *unit)
{
        _cleanup_buf_ PnBuf buf = {0};
        Units units;

        for (unsigned i = 0; i < reals->n; i++)
                pn_buf_printf(&buf, "%s%s", i ? ", " : "", units_real(units, reals->v[i]));
        return buf.error ? buf.error : put_value(cli, at, buf.data ? buf.data : "-", unit);
}

static int put_texts(Cli *cli, unsigned at, const PnTexts *texts)
{
        _cleanup_free_ char *joined = view_join(texts);

        return joined ? put_value(cli, at, *joined ? joined : "-", "") : -ENOMEM;
}

static int put_object(Cli *cli, unsigned indent, const PnType *type, const void *object);

/* A field's objects: its heading (with a number where there are several), then they, indented.
 * Recursion follows our types, which contain no circle. */
static int put_objects(Cli *cli, unsigned indent, const PnField *field, const void *objects,
                       unsigned n)
{
        const PnType *type = field->type();
        int r = 0;

        for (unsigned i = 0; i < n && r == 0; i++) {
                char heading[64];

                if (n > 1)
                        (void)snprintf(heading, sizeof heading, "%s %u",
                                       heading_of(&cli->term, field), i + 1);
                else
                        (void)snprintf(heading, sizeof heading, "%s",
                                       heading_of(&cli->term, field));
                pn_buf_printf(&cli->page, "%*s", (int)indent, "");
                term_put_styled(&cli->term, &cli->page, STYLE_BOLD, heading);
                pn_buf_puts(&cli->page, "\n");
                r = put_object(cli, indent + 2, type,
                               (const char *)objects + (size_t)i * type->size);
        }
        return r;
}

static bool is_plural(PnKind kind)
{
        return kind == PN_KIND_LIST || kind == PN_KIND_MANY;
}

/* A list that is there and one that is not look the same in JSON: here, too. */
static bool is_empty_list(const PnField *field, const void *at)
{
        if (field->kind == PN_KIND_TEXTS)
                return ((const PnTexts *)at)->n == 0;
        return field->kind == PN_KIND_REALS && ((const PnReals *)at)->n == 0;
}

static int put_field(Cli *cli, unsigned indent, unsigned width, const PnField *field,
                     const void *object)
{
        union {
                void *any;
                PnState *state;
                PnText *text;
                PnInt *integer;
                PnReal *real;
                PnBool *boolean;
                PnTexts *texts;
                PnReals *reals;
        } at = {.any = pn_field_at(field, object)};
        unsigned column = indent + width;
        Units units;
        PnList list = {0};
        PnRef ref = {0};

        if (is_plural(field->kind))
                memcpy(&list, at.any, sizeof list);
        else if (field->type)
                memcpy(&ref, at.any, sizeof ref);
        if (*at.state == PN_KNOWN && (ref.v || list.n))
                return put_objects(cli, indent, field, ref.v ? ref.v : list.v, ref.v ? 1 : list.n);

        put_label(cli, indent, width, heading_of(&cli->term, field));
        if (pn_is_unread(*at.state)) {
                _cleanup_free_ char *why = NULL;

                if (asprintf(&why, "? (%s)", view_reason(*at.state)) < 0) {
                        why = NULL;
                        return -ENOMEM;
                }
                term_put_wrapped(&cli->term, &cli->page, column, column, STYLE_NOTICE, why);
                return 0;
        }
        if (*at.state == PN_ABSENT || field->type || is_empty_list(field, at.any)) {
                term_put_styled(&cli->term, &cli->page, STYLE_DIM, "-");
                pn_buf_puts(&cli->page, "\n");
                return 0;
        }
        switch (field->kind) {
        case PN_KIND_KEY:
        case PN_KIND_TEXT:
                return put_value(cli, column, at.text->v, "");
        case PN_KIND_NUM:
        case PN_KIND_INT:
                return put_integer(cli, column, at.integer, pn_field_unit(field));
        case PN_KIND_REAL:
                return put_value(cli, column, units_real(units, at.real->v), pn_field_unit(field));
        case PN_KIND_BOOL:
                return put_value(cli, column, at.boolean->v ? _("yes") : _("no"), "");
        case PN_KIND_TEXTS:
                return put_texts(cli, column, at.texts);
        case PN_KIND_REALS:
                return put_reals(cli, column, at.reals, pn_field_unit(field));
        case PN_KIND_OBJ:
        case PN_KIND_ONE:
        case PN_KIND_LIST:
        case PN_KIND_MANY:
                break;
        }
        return 0;
}

static int put_object(Cli *cli, unsigned indent, const PnType *type, const void *object)
{
        unsigned width = label_width(&cli->term, type);
        int r = 0;

        for (unsigned i = 0; i < type->n_fields && r == 0; i++)
                r = put_field(cli, indent, width, &type->fields[i], object);
        return r;
}

/* ---- the way to the root ---- */

enum { ADDRESS, DEVICE, SLOT, NOW, RATED, BEST, VERDICT };

static const Column columns[] = {
    [ADDRESS] = {"  ADDRESS", 0, 0, 0}, [DEVICE] = {"DEVICE", 0, 12, 4}, [SLOT] = {"SLOT", 0, 9, 5},
    [NOW] = {"NOW", 0, 0, 0},           [RATED] = {"RATED", 0, 0, 3},    [BEST] = {"BEST", 0, 0, 2},
    [VERDICT] = {"VERDICT", 0, 10, 0},
};

static int put_path(Cli *cli, const PnDevice *device, const View *view)
{
        _cleanup_table_ Table *table = table_new(&cli->term, columns, PN_ELEMENTS(columns));

        if (!table)
                return -ENOMEM;
        for (unsigned i = 0; i < device->path.n; i++) {
                const PnRating *rating = &device->path.v[i];
                Mark mark = view_rating_mark(view, rating);
                char buf[160];
                Units units;

                (void)table_row(table, TABLE_NO_PARENT);
                (void)snprintf(buf, sizeof buf, "%s %s", view_mark(mark), rating->address.v);
                table_set_styled(table, ADDRESS, view_mark_style(mark), buf);
                table_set(table, DEVICE,
                          pn_text(&rating->name)                ? rating->name.v
                          : pn_text_is(&rating->kind, "switch") ? _("switch")
                                                                : pn_text(&rating->model));
                table_set(table, SLOT, pn_text(&rating->slot));
                table_set(table, NOW, view_rating_link(rating, buf, sizeof buf));
                table_set(table, RATED, units_rate(units, rating->rated.v));
                table_set(table, BEST, units_rate(units, rating->best.v));
                table_set(table, VERDICT, view_device_verdict(view, rating));
        }
        if (!table_rows(table))
                return 0;
        pn_buf_puts(&cli->page, "\n");
        term_put_styled(&cli->term, &cli->page, STYLE_BOLD,
                        device->path.n > 1 ? _("Its links, from the device up to the root")
                                           : _("Its link"));
        pn_buf_puts(&cli->page, "\n");
        table_print(table, &cli->page, !cli->no_legend);
        return 0;
}

/* ---- the page ---- */

static void put_title(Cli *cli, const PnDevice *device)
{
        static const struct {
                const char *kind, *words;
        } words[] = {
            {"nvme", N_("NVMe drive")},  {"namespace", N_("NVMe namespace")}, {"disk", N_("disk")},
            {"nic", N_("network port")}, {"pci", N_("PCI function")},
        };
        const char *kind = device->kind.v;

        for (size_t i = 0; i < PN_ELEMENTS(words); i++)
                if (strcmp(kind, words[i].kind) == 0)
                        kind = _(words[i].words);
        term_put_styled(&cli->term, &cli->page, STYLE_BOLD, device->name.v);
        term_put(&cli->term, &cli->page, " · ");
        term_put(&cli->term, &cli->page, kind);
        pn_buf_puts(&cli->page, "\n");
}

static void put_finding(Cli *cli, const PnFinding *finding)
{
        const Term *term = &cli->term;
        Mark mark = view_severity(&finding->severity);
        const PnText *const texts[] = {&finding->detail, &finding->advice};
        _cleanup_free_ char *summary = NULL;

        pn_buf_puts(&cli->page, "\n");
        term_put_styled(term, &cli->page, view_mark_style(mark), view_mark(mark));
        pn_buf_puts(&cli->page, " ");
        term_put_wrapped(term, &cli->page, 2, 2, STYLE_BOLD,
                         pn_text(&finding->summary) ? say_told(finding->summary.v, &summary)
                                                    : finding->code.v);
        for (size_t i = 0; i < PN_ELEMENTS(texts); i++)
                if (pn_text(texts[i])) {
                        _cleanup_free_ char *made = NULL;

                        pn_buf_puts(&cli->page, "  ");
                        term_put_wrapped(term, &cli->page, 2, 2, STYLE_PLAIN,
                                         say_told(texts[i]->v, &made));
                }
}

static int put_section(Cli *cli, const char *title, const PnType *type, const void *object)
{
        if (!object)
                return 0;
        pn_buf_puts(&cli->page, "\n");
        term_put_styled(&cli->term, &cli->page, STYLE_BOLD, _(title));
        pn_buf_puts(&cli->page, "\n");
        return put_object(cli, 2, type, object);
}

/* A port without what is plugged in, which is a table of its own. */
static int put_port(Cli *cli, const PnNic *nic)
{
        PnNic view = *nic; /* only read */
        int r;

        if (nic->module.v)
                memset(&view.module, 0, sizeof view.module);
        r = put_section(cli, N_("Port"), pn_type_Nic(), &view);
        if (r < 0 || !nic->module.v || pn_text_is(&nic->module.v->status, "none"))
                return r;
        pn_buf_puts(&cli->page, "\n");
        term_put_styled(&cli->term, &cli->page, STYLE_BOLD, _("Module"));
        pn_buf_puts(&cli->page, "\n");
        return module_put(cli, nic->module.v);
}

static int put_page(Cli *cli, const PnDevice *device)
{
        /* What the marks of the path need of a status. */
        const PnStatus status = {.findings = {PN_KNOWN, device->findings.n, device->findings.v}};
        View view = {0};
        int r = view_init(&view, &status);

        if (r < 0)
                return r;
        put_title(cli, device);
        for (unsigned i = 0; i < device->findings.n; i++)
                put_finding(cli, &device->findings.v[i]);
        r = put_path(cli, device, &view);
        view_done(&view);
        if (r == 0)
                r = put_section(cli, N_("NVMe"), pn_type_Nvme(), device->nvme.v);
        if (r == 0)
                r = put_section(cli, N_("Disk"), pn_type_Disk(), device->disk.v);
        if (r == 0 && device->nic.v)
                r = put_port(cli, device->nic.v);
        if (r == 0)
                r = put_section(cli, "PCI", pn_type_Pci(), device->pci.v);
        return r;
}

int cmd_show(Cli *cli, const char *argument)
{
        PnDevice device = {0};
        int r = source_device(cli, argument, &device);

        if (r == 0 && cli->json != JSON_OFF) {
                _cleanup_buf_ PnBuf json = {0};

                pn_write_json(&json, pn_type_Device(), &device);
                cli_put_json_buffer(cli, &json);
        } else if (r == 0 && put_page(cli, &device) < 0) {
                r = cli_out_of_memory(cli);
        }
        pn_done(pn_type_Device(), &device);
        return r;
}
