/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws the tree of PCI Express links as SVG: a link as thick as it has lanes, what it runs at
 * within what it could. Where boxes go is lib/picture.c's to know. */

#include "picture.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "pcie.h"
#include "report.h"
#include "say.h"
#include "units.h"

/* Everything that a picture is made of; colours differ by lightness too, and marks, patterns and
 * words say the same. */
static const char style[] =
    ".pn{font-family:\"Liberation Sans\",Arial,Helvetica,sans-serif;font-size:13px}"
    ".pn-page{fill:#fff}.pn text{fill:#1c2128}"
    ".pn .pn-name{font-weight:bold}.pn .pn-dim{fill:#57606a}.pn .pn-small{font-size:11px}"
    ".pn-box{fill:#f6f8fa;stroke:#8c959f}.pn-root{fill:#e3e7ec;stroke:#57606a}"
    ".pn-free{fill:none;stroke:#57606a;stroke-dasharray:5 4}"
    ".pn-trunk{stroke:#57606a;stroke-width:2;fill:none}"
    ".pn-rated{fill:#b1bac4}.pn-best{fill:none;stroke:#57606a;stroke-dasharray:3 2}"
    ".pn-track{fill:#dde2e8}.pn-stripe{stroke:#fff}"
    ".pn-good{fill:#0969c3}.pn-notice{fill:#a04f00}.pn-warning{fill:#a04f00}"
    ".pn-critical{fill:#b3002d}.pn-other{fill:#6e7781}"
    ".pn text.pn-good{fill:#0969c3}.pn text.pn-notice,.pn text.pn-warning{fill:#a04f00}"
    ".pn text.pn-critical{fill:#b3002d}.pn text.pn-other{fill:#57606a}"
    ".pn-arrow{fill:none;stroke:#6f42c1;stroke-width:2.5}.pn-head{fill:#6f42c1}"
    ".pn text.pn-offer{fill:#6f42c1;font-weight:bold}"
    "@media screen and (prefers-color-scheme:dark){"
    ".pn-page{fill:#15181d}.pn text{fill:#e6edf3}.pn .pn-dim{fill:#a3adb8}"
    ".pn-box{fill:#1f242b;stroke:#6e7681}.pn-root{fill:#2b323b;stroke:#8b949e}"
    ".pn-free{stroke:#a3adb8}.pn-trunk{stroke:#8b949e}.pn-rated{fill:#586270}"
    ".pn-best{stroke:#a3adb8}.pn-track{fill:#39424c}.pn-stripe{stroke:#15181d}"
    ".pn-good{fill:#58a6ff}.pn-notice,.pn-warning{fill:#f0a33a}.pn-critical{fill:#ff7b93}"
    ".pn-other{fill:#8b949e}.pn text.pn-good{fill:#79b8ff}"
    ".pn text.pn-notice,.pn text.pn-warning{fill:#f0a33a}.pn text.pn-critical{fill:#ff7b93}"
    ".pn text.pn-other{fill:#a3adb8}.pn-arrow{stroke:#c4a5ff}.pn-head{fill:#c4a5ff}"
    ".pn text.pn-offer{fill:#c4a5ff}}";

/* As wide as a page beside its margins, and as a telephone. */
static const PnPictureMeasures wide = {.width = 980,
                                       .margin = 8,
                                       .indent = 158,
                                       .trunk = 18,
                                       .least = 420,
                                       .row = 50,
                                       .root = 34,
                                       .gap = 8,
                                       .lane = 18,
                                       .boxes = 30};
static const PnPictureMeasures narrow = {.width = 358,
                                         .margin = 2,
                                         .indent = 30,
                                         .trunk = 8,
                                         .least = 236,
                                         .row = 80,
                                         .root = 34,
                                         .gap = 8,
                                         .lane = 12,
                                         .boxes = 20};

typedef struct Drawing {
        PnBuf *out;
        const PnPicture *picture;
        const View *view;
        const PnHost *host; /* may be NULL */
        char id;            /* keeps names apart where several pictures are on a page */
        bool is_narrow;
} Drawing;

void picture_put_style(PnBuf *out)
{
        pn_buf_puts(out, style);
}

void put_xml(PnBuf *out, const char *text)
{
        while (*text) {
                uint32_t c;
                size_t n = term_take(text, &c);

                switch (c) {
                case '<':
                        pn_buf_puts(out, "&lt;");
                        break;
                case '>':
                        pn_buf_puts(out, "&gt;");
                        break;
                case '&':
                        pn_buf_puts(out, "&amp;");
                        break;
                case '"':
                        pn_buf_puts(out, "&quot;");
                        break;
                case '\'':
                        pn_buf_puts(out, "&#39;");
                        break;
                case 0xfffd:
                        pn_buf_puts(out, "\xef\xbf\xbd");
                        break;
                default:
                        pn_buf_put(out, text, n);
                }
                text += n;
        }
}

/* ---- text that fits ---- */

/* How wide a character is at most, in hundredths of the font's size, in the usual sans-serif fonts
 * (the widest of them is Verdana's kin). */
static int width_of(uint32_t c, bool bold)
{
        int width = c >= 0x1100                          ? 105
                    : c > 0x7e                           ? 66
                    : strchr("ijl.,:;|!'I ()[]", (int)c) ? 40
                    : strchr("mwMW@%", (int)c)           ? 98
                    : (c >= 'A' && c <= 'Z') || c == '&' ? 72
                                                         : 63;

        return bold ? width * 110 / 100 : width;
}

static int text_width(const char *text, int size, bool bold)
{
        int width = 0;

        while (*text && width < 1 << 20) {
                uint32_t c;

                text += term_take(text, &c);
                width += width_of(c, bold);
        }
        return width * size / 100;
}

/* Puts text, cut to a width with an ellipsis. Returns the width that it takes up. */
static int put_fitting(PnBuf *out, const char *text, int width, int size, bool bold)
{
        int used = 0, room = width * 100 / size;
        const char *end = text;
        bool cut = text_width(text, size, bold) > width;

        if (!cut) {
                put_xml(out, text);
                return text_width(text, size, bold);
        }
        room -= width_of(0x2026, bold);
        while (*end) {
                uint32_t c;
                size_t n = term_take(end, &c);

                if (used + width_of(c, bold) > room)
                        break;
                used += width_of(c, bold);
                end += n;
        }
        _cleanup_free_ char *part = strndup(text, (size_t)(end - text));

        if (!part) {
                out->error = -ENOMEM;
                return width;
        }
        put_xml(out, part);
        pn_buf_puts(out, "…");
        return (used + width_of(0x2026, bold)) * size / 100;
}

#define SIZE  13
#define SMALL 11

/* A text at a place, in a class ("" for plain). Returns its width. */
static int put_text(const Drawing *drawing, int x, int y, int width, const char *class,
                    const char *text)
{
        bool bold = strstr(class, "pn-name") || strstr(class, "pn-offer");
        int used;

        if (!*text || width < SIZE)
                return 0;
        pn_buf_printf(drawing->out, "<text x=\"%d\" y=\"%d\"", x, y);
        if (*class)
                pn_buf_printf(drawing->out, " class=\"%s\"", class);
        pn_buf_puts(drawing->out, ">");
        used =
            put_fitting(drawing->out, text, width, strstr(class, "pn-small") ? SMALL : SIZE, bold);
        pn_buf_puts(drawing->out, "</text>\n");
        return used;
}

static void put_text_right(const Drawing *drawing, int x, int y, const char *class,
                           const char *text)
{
        if (!*text)
                return;
        pn_buf_printf(drawing->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" class=\"%s\">", x,
                      y, class);
        put_xml(drawing->out, text);
        pn_buf_puts(drawing->out, "</text>\n");
}

/* ---- words ---- */

static const char *class_of(Mark mark)
{
        return mark == MARK_GOOD       ? "pn-good"
               : mark == MARK_NOTICE   ? "pn-notice"
               : mark == MARK_WARNING  ? "pn-warning"
               : mark == MARK_CRITICAL ? "pn-critical"
                                       : "pn-other";
}

/* "12 drives at their best" */
static void write_group(char *ret, size_t size, const PnBox *box)
{
        unsigned n = box->n_members;
        const PnRating *rating = box->rating;
        const char *format =
            !rating ? say_n("%u free slot", "%u free slots", n)
            : pn_text_is(&rating->kind, "nvme")
                ? say_n("%u drive at its best", "%u drives at their best", n)
            : pn_text_is(&rating->kind, "network")
                ? say_n("%u network card at its best", "%u network cards at their best", n)
            : pn_text_is(&rating->kind, "display")
                ? say_n("%u graphics card at its best", "%u graphics cards at their best", n)
                : say_n("%u device at its best", "%u devices at their best", n);

        (void)snprintf(ret, size, format, n);
}

static const char *member_name(const PnPicture *picture, const PnBox *box, uint32_t i)
{
        const PnPictureMember *member = &picture->members[box->first_member + i];

        return member->rating ? view_rating_name(member->rating)
                              : view_address(member->place->name);
}

/* Whether a name is another one's with the next number at its end: nvme4 after nvme3. */
static bool follows(const char *one, const char *next)
{
        size_t n = strlen(one), prefix = n;
        char expected[64];

        while (prefix > 0 && one[prefix - 1] >= '0' && one[prefix - 1] <= '9')
                prefix--;
        if (n - prefix == 0 || n - prefix > 8)
                return false;
        (void)snprintf(expected, sizeof expected, "%.*s%ld", (int)prefix, one,
                       strtol(one + prefix, NULL, 10) + 1);
        return strcmp(expected, next) == 0;
}

/* "nvme0 … nvme11, nvme20" */
static void put_names(PnBuf *out, const PnPicture *picture, const PnBox *box)
{
        for (uint32_t i = 0; i < box->n_members; i++) {
                uint32_t first = i;

                while (i + 1 < box->n_members &&
                       follows(member_name(picture, box, i), member_name(picture, box, i + 1)))
                        i++;
                pn_buf_printf(out, "%s%s", first ? ", " : "", member_name(picture, box, first));
                if (i > first)
                        pn_buf_printf(out, "%s%s", i - first > 1 ? " … " : ", ",
                                      member_name(picture, box, i));
        }
}

static void write_device(const PnRating *rating, char *ret, size_t size)
{
        const char *name = pn_text(&rating->name), *model = pn_text(&rating->model);

        if (!model && pn_text_is(&rating->kind, "switch"))
                model = _("switch");
        (void)snprintf(ret, size, "%s%s%s", name ? name : view_address(rating->address.v),
                       model ? " " : "", model ? model : "");
}

/* ---- links ---- */

/* Lanes as thickness: each doubling is clearly thicker, and the widest leaves room for words. */
static int thickness(int64_t lanes)
{
        return lanes >= 16 ? 18 : lanes >= 8 ? 13 : lanes >= 4 ? 9 : lanes >= 2 ? 6 : 3;
}

static int64_t lanes_of(const PnLinkRate *rate)
{
        return rate ? pn_int_or(rate->width, 0) : 0;
}

static void put_band(const Drawing *drawing, const char *class, const char *fill, int x, int end,
                     int y, int height)
{
        pn_buf_printf(drawing->out,
                      "<rect class=\"%s\" x=\"%d\" y=\"%d.%d\" width=\"%d\" height=\"%d\"", class,
                      x, y - (height + 1) / 2, height % 2 ? 5 : 0, end - x, height);
        if (fill)
                pn_buf_printf(drawing->out, " style=\"fill:url(#%c-%s)\"", drawing->id, fill);
        pn_buf_puts(drawing->out, "/>\n");
}

/* Whether the lanes run slower than the device could run them. What rests is not slow. */
static bool is_slow(const PnRating *rating)
{
        const PnLinkRate *now = rating->current.v, *best = rating->best.v;

        return now && best && now->speed.state == PN_KNOWN && best->speed.state == PN_KNOWN &&
               now->speed.v < best->speed.v && view_is_below(rating) &&
               !(pn_text_is(&rating->verdict, "degraded") && pn_text_is(&rating->reason, "width"));
}

static void put_link(const Drawing *drawing, const PnBox *box, Mark mark)
{
        const PnRating *rating = box->rating;
        int64_t now = lanes_of(rating->current.v), rated = lanes_of(rating->rated.v);
        int64_t best = lanes_of(rating->best.v);
        int x = box->hop_x, end = box->x, y = box->hop_y;

        if (best > rated && best > now)
                put_band(drawing, "pn-best", NULL, x, end, y, thickness(best));
        if (rated > now)
                put_band(drawing, "pn-rated", NULL, x, end, y, thickness(rated));
        if (now)
                put_band(drawing, class_of(mark), NULL, x, end, y, thickness(now));
        else
                pn_buf_printf(
                    drawing->out,
                    "<path class=\"pn-trunk\" stroke-dasharray=\"2 4\" d=\"M%d %dH%d\"/>\n", x, y,
                    end);
        if (now && is_slow(rating))
                put_band(drawing, "pn-stripes", "stripes", x, end, y, thickness(now));
}

/* Above a link what it runs at, below it the port where it begins. */
static void put_link_words(const Drawing *drawing, const PnBox *box)
{
        int x = box->hop_x + 6, width = box->x - x - 2, half = thickness(16) / 2;
        const PnRating *rating = box->rating;
        char buf[96];
        Units units;

        if (drawing->is_narrow)
                return;
        if (rating) {
                (void)put_text(drawing, x, box->hop_y - half - 3, width, "pn-small",
                               view_rating_link(rating, buf, sizeof buf));
                if (pn_text(&rating->port) && box->n_members < 2)
                        (void)put_text(drawing, x, box->hop_y + half + 11, width, "pn-small pn-dim",
                                       view_address(rating->port.v));
                return;
        }
        (void)units_link(units, &(PnReal){PN_KNOWN, pn_pcie_gts(box->place->gen)},
                         &(PnInt){PN_KNOWN, box->place->width});
        (void)put_text(drawing, x, box->hop_y - half - 3, width, "pn-small", units);
        if (box->place->address && strcmp(box->place->address, box->place->name) != 0)
                (void)put_text(drawing, x, box->hop_y + half + 11, width, "pn-small pn-dim",
                               view_address(box->place->address));
}

/* ---- boxes ---- */

static void put_rect(const Drawing *drawing, const PnBox *box, const char *class)
{
        pn_buf_printf(
            drawing->out,
            "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\"/>\n", class,
            box->x, box->y, box->width, box->height);
}

static void put_root(const Drawing *drawing, const PnBox *box)
{
        const PnCpu *cpu = drawing->host ? drawing->host->cpu.v : NULL;
        _cleanup_free_ char *model = NULL;
        char text[256];

        if (cpu && pn_text(&cpu->model))
                model = units_cpu(cpu->model.v);
        if (box->numa_node >= 0)
                (void)snprintf(text, sizeof text, _("Processor, NUMA node %d"),
                               (int)box->numa_node);
        else
                (void)snprintf(text, sizeof text, "%s", _("Processor"));
        put_rect(drawing, box, "pn-root");
        int x = box->x + 10;

        x += put_text(drawing, x, box->y + 22, box->width - 20, "pn-name", text) + 10;
        if (model && *model)
                (void)put_text(drawing, x, box->y + 22, box->x + box->width - 10 - x, "pn-dim",
                               model);
}

/* A bar as long as the device's best, filled as far as it gets. */
static void put_share(const Drawing *drawing, const PnRating *rating, Mark mark, int right, int y,
                      int width)
{
        int64_t percent = pn_int_or(rating->percent, -1);

        if (percent < 0 || percent > 100)
                return;
        pn_buf_printf(
            drawing->out,
            "<rect class=\"pn-track\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"6\" rx=\"3\"/>\n"
            "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"6\" rx=\"3\"/>\n",
            right - width, y, width, class_of(mark), right - width, y,
            (int)(width * percent / 100));
}

/* What it could be, and how many share it; each after what `out` has. */
static void write_could_be(const PnBox *box, PnBuf *out)
{
        char buf[96];

        if (!*view_rating_could_be(box->rating, buf, sizeof buf))
                return;
        pn_buf_puts(out, " · ");
        pn_buf_printf(out, _("could be %s"), buf);
}

static void write_ratio(const PnBox *box, PnBuf *out)
{
        if (box->ratio <= 1)
                return;
        pn_buf_puts(out, " · ");
        pn_buf_printf(out, _("shared %.1f : 1"), box->ratio);
}

static void write_place(const PnBox *box, PnBuf *out)
{
        const PnPlace *place = box->place;
        Units gbs;

        pn_buf_puts(out, place->is_listed ? _("free, says the firmware") : _("free"));
        if (place->is_m2)
                pn_buf_puts(out, " · M.2");
        pn_buf_printf(out, " · %.6g GT/s x%u, %s GB/s", pn_pcie_gts(place->gen), place->width,
                      units_gbs(gbs, (int64_t)place->bandwidth));
}

/* All that a box says, for those who point at it or have it read to them. */
static void put_title(const Drawing *drawing, const PnBox *box)
{
        _cleanup_buf_ PnBuf words = {0};
        char text[512] = "";

        if (box->n_members > 1) {
                write_group(text, sizeof text, box);
                pn_buf_printf(&words, "%s: ", text);
                put_names(&words, drawing->picture, box);
        } else if (box->rating) {
                char buf[96];

                write_device(box->rating, text, sizeof text);
                pn_buf_printf(&words, "%s%s%s: ", text, pn_text(&box->rating->slot) ? ", " : "",
                              pn_text(&box->rating->slot) ? box->rating->slot.v : "");
                pn_buf_printf(&words, "%s, %s", view_rating_link(box->rating, buf, sizeof buf),
                              view_device_verdict(drawing->view, box->rating));
                write_could_be(box, &words);
                write_ratio(box, &words);
        } else if (box->place) {
                pn_buf_printf(&words, "%s: ", view_address(box->place->name));
                write_place(box, &words);
        }
        if (words.error)
                drawing->out->error = words.error;
        if (!words.data || words.error)
                return;
        pn_buf_puts(drawing->out, "<title>");
        put_xml(drawing->out, words.data);
        pn_buf_puts(drawing->out, "</title>\n");
}

/* A slot's name; a bare number says nothing by itself. "" for none. */
static const char *slot_of(const PnRating *rating, char *buf, size_t size)
{
        const char *slot = pn_text(&rating->slot);

        if (!slot)
                return "";
        if (slot[strspn(slot, "0123456789-")])
                return slot;
        (void)snprintf(buf, size, _("slot %s"), slot);
        return buf;
}

/* The model, or what stands for one. */
static const char *model_of(const PnRating *rating)
{
        const char *model = pn_text(&rating->model);

        return model ? model : pn_text_is(&rating->kind, "switch") ? _("switch") : "";
}

/* Puts a line out of a buffer, if there was memory for it. */
static void put_line(const Drawing *drawing, int x, int y, int width, const char *class,
                     const PnBuf *line)
{
        if (line->error)
                drawing->out->error = line->error;
        else if (line->data)
                (void)put_text(drawing, x, y, width, class, line->data);
}

/* Several alike: how many, and which. */
static void put_group(const Drawing *drawing, const PnBox *box, int x, int left, int right)
{
        _cleanup_buf_ PnBuf names = {0};
        char text[128], buf[96];
        char gbs_buf[UNITS_MAX];
        const char *gbs;

        write_group(text, sizeof text, box);
        (void)put_text(drawing, x, box->y + 20, right - x - (drawing->is_narrow ? 0 : 90),
                       "pn-name", text);
        put_names(&names, drawing->picture, box);
        put_line(drawing, left, box->y + box->height - 12, right - left, "pn-small pn-dim", &names);
        if (!box->rating)
                return;
        if (drawing->is_narrow)
                (void)put_text(drawing, left, box->y + 38, right - left, "pn-small",
                               view_rating_link(box->rating, buf, sizeof buf));
        gbs = view_rating_gbs(box->rating, gbs_buf, sizeof gbs_buf);
        if (*gbs) {
                (void)snprintf(text, sizeof text, "%s GB/s", gbs);
                put_text_right(drawing, right, box->y + (drawing->is_narrow ? 38 : 20),
                               drawing->is_narrow ? "pn-small" : "", text);
        }
}

/* Two lines: what it is; where, and how it does. At the right how much arrives. */
static void put_wide(const Drawing *drawing, const PnBox *box, Mark mark, int x, int left,
                     int right)
{
        const PnRating *rating = box->rating;
        const char *class = mark > MARK_UNKNOWN ? class_of(mark) : "";
        char slot_buf[96];
        int share = text_width("00.0 GB/s, 100 %", SIZE, false), end = right - share - 12;
        const char *slot = slot_of(rating, slot_buf, sizeof slot_buf);
        _cleanup_buf_ PnBuf line = {0};
        char text[128], gbs_buf[UNITS_MAX], percent_buf[UNITS_MAX];
        const char *gbs = view_rating_gbs(rating, gbs_buf, sizeof gbs_buf);
        const char *percent = view_rating_percent(rating, percent_buf, sizeof percent_buf);

        (void)snprintf(text, sizeof text, "%s%s%s%s", gbs, *gbs ? " GB/s" : "",
                       *gbs && *percent ? ", " : "", percent);
        put_text_right(drawing, right, box->y + 20, class, text);
        put_share(drawing, rating, mark, right, box->y + box->height - 15, share);
        x += put_text(drawing, x, box->y + 20, end - x, "pn-name", view_rating_name(rating)) + 8;
        (void)put_text(drawing, x, box->y + 20, end - x, "", model_of(rating));
        x = left;
        if (*slot)
                x += put_text(drawing, x, box->y + 39, 150, "pn-dim", slot) + 10;
        pn_buf_puts(&line, view_device_verdict(drawing->view, rating));
        write_could_be(box, &line);
        write_ratio(box, &line);
        put_line(drawing, x, box->y + 39, end - x, class, &line);
}

/* Four lines: name and slot; model; link; verdict. */
static void put_narrow(const Drawing *drawing, const PnBox *box, Mark mark, int x, int left,
                       int right)
{
        const PnRating *rating = box->rating;
        _cleanup_buf_ PnBuf line = {0}, verdict = {0};
        char buf[96], class[64], slot[96];
        int end = right;
        bool is_long;

        (void)snprintf(class, sizeof class, "pn-small %s",
                       mark > MARK_UNKNOWN ? class_of(mark) : "");
        if (*view_rating_percent(rating, buf, sizeof buf)) {
                put_text_right(drawing, right, box->y + 20, class, buf);
                end -= text_width(buf, SMALL, false) + 6;
        }
        put_share(drawing, rating, mark, right, box->y + box->height - 15, 72);
        x += put_text(drawing, x, box->y + 20, end - x, "pn-name", view_rating_name(rating)) + 7;
        (void)put_text(drawing, x, box->y + 20, end - x, "pn-dim",
                       slot_of(rating, slot, sizeof slot));
        (void)put_text(drawing, left, box->y + 37, right - left, "pn-small", model_of(rating));
        pn_buf_puts(&line, view_rating_link(rating, buf, sizeof buf));
        write_could_be(box, &line);
        is_long = *view_rating_could_be(rating, buf, sizeof buf);
        if (!is_long)
                write_ratio(box, &line);
        put_line(drawing, left, box->y + 54, right - left, "pn-small", &line);
        pn_buf_puts(&verdict, view_device_verdict(drawing->view, rating));
        if (is_long)
                write_ratio(box, &verdict);
        put_line(drawing, left, box->y + 71, right - left - 80, class, &verdict);
}

static void put_device(const Drawing *drawing, const PnBox *box)
{
        Mark mark = box->n_members > 1 ? MARK_GOOD : view_rating_mark(drawing->view, box->rating);
        int left = box->x + 12, right = box->x + box->width - 10, x;

        put_rect(drawing, box, "pn-box");
        pn_buf_printf(drawing->out,
                      "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"5\" height=\"%d\" rx=\"2\"/>\n",
                      class_of(mark), box->x, box->y, box->height);
        x = left + put_text(drawing, left, box->y + 20, 20, class_of(mark), view_mark(mark)) + 4;
        if (box->n_members > 1)
                put_group(drawing, box, x, left, right);
        else if (drawing->is_narrow)
                put_narrow(drawing, box, mark, x, left, right);
        else
                put_wide(drawing, box, mark, x, left, right);
}

static void put_free(const Drawing *drawing, const PnBox *box)
{
        int left = box->x + 12, right = box->x + box->width - 10, y = box->y + 20;
        _cleanup_buf_ PnBuf line = {0};
        char text[256];

        put_rect(drawing, box, "pn-free");
        if (box->n_members > 1) {
                put_group(drawing, box, left, left, right);
                return;
        }
        (void)put_text(drawing, left, y, right - left, "pn-name", view_address(box->place->name));
        write_place(box, &line);
        put_line(drawing, left, y + 19, right - left, "", &line);
        if (box->offered_to != PN_NO_BOX) {
                const PnBox *device = &drawing->picture->boxes[box->offered_to];
                Units gbs;

                (void)snprintf(text, sizeof text, _("← better for %s: %s GB/s"),
                               view_rating_name(device->rating),
                               units_gbs(gbs, (int64_t)box->offered_mbps));
                if (drawing->is_narrow)
                        (void)put_text(drawing, left, y + 39, right - left, "pn-offer", text);
                else
                        put_text_right(drawing, right, y, "pn-offer", text);
        }
}

static void put_box(const Drawing *drawing, const PnBox *box)
{
        pn_buf_puts(drawing->out, "<g>\n");
        put_title(drawing, box);
        switch (box->kind) {
        case PN_BOX_ROOT:
                put_root(drawing, box);
                break;
        case PN_BOX_FREE:
                put_band(drawing, "pn-best", NULL, box->hop_x, box->x, box->hop_y,
                         thickness(box->place->width));
                put_link_words(drawing, box);
                put_free(drawing, box);
                break;
        default:
                put_link(drawing, box,
                         box->n_members > 1 ? MARK_GOOD
                                            : view_rating_mark(drawing->view, box->rating));
                put_link_words(drawing, box);
                put_device(drawing, box);
        }
        if (box->trunk_end)
                pn_buf_printf(drawing->out, "<path class=\"pn-trunk\" d=\"M%d %dV%d\"/>\n",
                              box->trunk_x, box->y + box->height, box->trunk_end);
        pn_buf_puts(drawing->out, "</g>\n");
}

static void put_arrow(const Drawing *drawing, const PnArrow *arrow)
{
        const PnBox *from = &drawing->picture->boxes[arrow->from];
        const PnBox *to = &drawing->picture->boxes[arrow->to];
        int edge = from->x + from->width, a = from->y + from->height / 2,
            b = to->y + to->height / 2;
        int down = b > a ? 1 : -1;

        pn_buf_printf(drawing->out,
                      "<path class=\"pn-arrow\" d=\"M%d %dH%dq6 0 6 %dV%dq0 %d -6 %dH%d\"/>\n"
                      "<path class=\"pn-head\" d=\"M%d %dl8 -5v10z\"/>\n",
                      edge, a, arrow->x - 6, 6 * down, b - 6 * down, 6 * down, 6 * down, edge + 6,
                      edge, b);
}

/* ---- the legend ---- */

#define LEGEND_ROW 22

static int legend_height(const Drawing *drawing)
{
        return LEGEND_ROW * (drawing->is_narrow ? 6 : 3) + 16;
}

static void put_legend(const Drawing *drawing, int top)
{
        static const char *const words[] = {
            N_("as thick as there are lanes in use"),
            N_("lanes that both ends have"),
            N_("lanes that the device could use"),
            N_("striped: slower than it could be"),
            N_("a free slot"),
            N_("advice: move it there"),
        };
        int columns = drawing->is_narrow ? 1 : 2;
        int width = (drawing->picture->width - 20) / columns;

        for (int i = 0; i < (int)PN_ELEMENTS(words); i++) {
                int x = 10 + width * (i / (6 / columns)),
                    y = top + 16 + LEGEND_ROW * (i % (6 / columns));

                switch (i) {
                case 0:
                        put_band(drawing, "pn-good", NULL, x, x + 36, y, 9);
                        break;
                case 1:
                        put_band(drawing, "pn-rated", NULL, x, x + 36, y, 13);
                        put_band(drawing, "pn-warning", NULL, x, x + 36, y, 6);
                        break;
                case 2:
                        put_band(drawing, "pn-best", NULL, x, x + 36, y, 13);
                        put_band(drawing, "pn-notice", NULL, x, x + 36, y, 6);
                        break;
                case 3:
                        put_band(drawing, "pn-notice", NULL, x, x + 36, y, 9);
                        put_band(drawing, "pn-stripes", "stripes", x, x + 36, y, 9);
                        break;
                case 4:
                        pn_buf_printf(drawing->out,
                                      "<rect class=\"pn-free\" x=\"%d\" y=\"%d\" width=\"36\" "
                                      "height=\"14\" rx=\"4\"/>\n",
                                      x, y - 7);
                        break;
                default:
                        pn_buf_printf(drawing->out,
                                      "<path class=\"pn-arrow\" d=\"M%d %dH%d\"/>\n"
                                      "<path class=\"pn-head\" d=\"M%d %dl8 -5v10z\"/>\n",
                                      x + 36, y, x + 6, x, y);
                }
                (void)put_text(drawing, x + 46, y + 4, width - 52, "pn-small", _(words[i]));
        }
}

/* ---- the picture ---- */

static void put_svg(const Drawing *drawing, PictureKind kind)
{
        const PnPicture *picture = drawing->picture;
        const char *hostname = drawing->host ? pn_text(&drawing->host->hostname) : NULL;
        int height = picture->height + legend_height(drawing);
        PnBuf *out = drawing->out;

        pn_buf_printf(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pn\" viewBox=\"0 0 %d %d\" "
            "width=\"%d\" height=\"%d\" role=\"img\">\n<title>",
            picture->width, height, picture->width, height);
        put_xml(out, _("PCI Express links of "));
        put_xml(out, hostname ? hostname : _("this machine"));
        pn_buf_puts(out, "</title>\n");
        if (kind == PICTURE_ALONE)
                pn_buf_printf(out, "<style>%s</style>\n", style);
        pn_buf_printf(
            out,
            "<defs><pattern id=\"%c-stripes\" width=\"6\" height=\"6\" "
            "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
            "<path class=\"pn-stripe\" stroke-width=\"5\" d=\"M0 0V6\"/></pattern></defs>\n",
            drawing->id);
        if (kind == PICTURE_ALONE)
                pn_buf_puts(out, "<rect class=\"pn-page\" width=\"100%\" height=\"100%\"/>\n");
        for (uint32_t i = 0; i < picture->n_boxes; i++)
                put_box(drawing, &picture->boxes[i]);
        for (uint32_t i = 0; i < picture->n_arrows; i++)
                put_arrow(drawing, &picture->arrows[i]);
        put_legend(drawing, picture->height);
        pn_buf_puts(out, "</svg>\n");
}

int picture_put(PnBuf *out, const Facts *facts, const View *view, PictureKind kind, bool all)
{
        PnPictureMeasures measures = kind == PICTURE_NARROW ? narrow : wide;
        PnPicture picture;
        Drawing drawing = {out,
                           &picture,
                           view,
                           facts->status.host.v,
                           kind == PICTURE_NARROW ? 'n' : 'w',
                           kind == PICTURE_NARROW};
        int r;

        if (all)
                measures.boxes = UINT32_MAX;
        r = pn_picture_lay_out(&facts->inventory, &facts->status, &measures, &picture);
        if (r < 0)
                return r;
        put_svg(&drawing, kind);
        pn_picture_done(&picture);
        return out->error;
}
