/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A report as one HTML file that needs nothing else: no script, no font, no picture from elsewhere.
 * Knows no hardware. */

#include "report.h"
#include "say.h"

static const char css[] =
    ":root{color-scheme:light dark}"
    "body{font:16px/1.5 system-ui,\"Liberation Sans\",Arial,Helvetica,sans-serif;margin:0 auto;"
    "padding:16px;max-width:1180px;color:#1c2128;background:#fff;overflow-wrap:anywhere}"
    "h1{font-size:1.6em;line-height:1.25;margin:.4em 0}"
    "h2{font-size:1.25em;margin:1.8em 0 .5em;border-bottom:1px solid #c9d1d9}"
    "h3{font-size:1.05em;margin:1.4em 0 .4em}"
    ".lead{font-size:1.1em;font-weight:600}.dim{color:#57606a}"
    ".finding{border-left:5px solid #6e7781;padding:.3em 0 .3em .8em;margin:.7em 0;"
    "break-inside:avoid}"
    ".finding p{margin:.2em 0}"
    ".good{color:#0969c3}.notice,.warning{color:#a04f00}.critical{color:#b3002d}.other{color:#"
    "57606a}"
    ".finding.notice,.finding.warning{border-color:#a04f00}"
    ".finding.critical{border-color:#b3002d}"
    ".finding>*{color:#1c2128}.finding .tag{color:inherit;font-weight:600}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.15em 1em;margin:.5em 0}"
    "dt{color:#57606a}dd{margin:0}"
    ".module{border:1px solid #c9d1d9;border-radius:6px;padding:.6em .9em;margin:.7em 0;"
    "break-inside:avoid}.module h4{margin:0 0 .3em;font-size:1em}"
    ".scroll{overflow-x:auto}"
    "table{border-collapse:collapse;font-size:.86em;line-height:1.35;overflow-wrap:normal}"
    "th,td{text-align:left;padding:.35em .5em;border-bottom:1px solid #d5dbe1;vertical-align:top}"
    "th{background:#f0f3f6;color:#3d444d}td{font-variant-numeric:tabular-nums}"
    "td.first,td.short{white-space:nowrap}tr{break-inside:avoid}"
    "figure{margin:.8em 0;break-inside:avoid}figure svg{display:block;max-width:100%;height:auto}"
    ".narrow{display:none}"
    "@media (max-width:700px){"
    ".wide{display:none}.narrow{display:block}"
    "table,tbody,tr,td{display:block}thead{display:none}"
    "tr{border:1px solid #d5dbe1;border-radius:6px;padding:.4em .7em;margin:.6em 0}"
    "td{border:0;padding:.1em 0;display:grid;grid-template-columns:8.2em 1fr;gap:.6em;"
    "overflow-wrap:anywhere}"
    "td::before{content:attr(data-label);color:#57606a}"
    "td.empty{display:none}td.first{font-weight:600;white-space:normal}dl{grid-template-columns:8."
    "2em 1fr;gap:.15em "
    ".6em}}"
    "@media screen and (prefers-color-scheme:dark){"
    "body{color:#e6edf3;background:#15181d}h2{border-color:#3d444d}.dim,dt{color:#a3adb8}"
    ".good{color:#79b8ff}.notice,.warning{color:#f0a33a}.critical{color:#ff7b93}"
    ".other{color:#a3adb8}"
    ".finding.notice,.finding.warning{border-color:#f0a33a}"
    ".finding.critical{border-color:#ff7b93}.finding>*{color:#e6edf3}"
    "th{background:#22272e;color:#c9d1d9}th,td,tr,.module{border-color:#3d444d}"
    "td::before{color:#a3adb8}}"
    "@media print{body{max-width:none;padding:0;font-size:10pt}"
    ".wide{display:block}.narrow{display:none}.scroll{overflow:visible}"
    "h2,h3{break-after:avoid}table{font-size:.78em}th,td{padding:.2em .35em}}";

static const char *class_of(int mark)
{
        return mark == MARK_GOOD       ? "good"
               : mark == MARK_NOTICE   ? "notice"
               : mark == MARK_WARNING  ? "warning"
               : mark == MARK_CRITICAL ? "critical"
                                       : "other";
}

/* The contents of an element without attributes. */
static void put_element(PnBuf *out, const char *name, const char *text)
{
        pn_buf_printf(out, "<%s>", name);
        put_xml(out, text);
        pn_buf_printf(out, "</%s>\n", name);
}

/* What the daemon says: it is English on a page in whatever language if nobody has translated it.
 */
static void put_told(PnBuf *out, const char *class, bool is_english, const char *text)
{
        pn_buf_printf(out, "<p class=\"%s\"%s>", class, is_english ? " lang=\"en\"" : "");
        put_xml(out, text);
        pn_buf_puts(out, "</p>\n");
}

static void begin(PnBuf *out, const char *title)
{
        /* Translators: the code of your language, as HTML wants it (de, fr, pt-BR). */
        const char *language = _("en");

        pn_buf_printf(out,
                      "<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n",
                      language);
        pn_buf_puts(out,
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta name=\"color-scheme\" content=\"light dark\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" "
                    "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
                    "<meta name=\"generator\" content=\"pnhw " PN_VERSION "\">\n");
        put_element(out, "title", title);
        pn_buf_puts(out, "<style>");
        pn_buf_puts(out, css);
        picture_put_style(out);
        pn_buf_puts(out, "</style>\n</head>\n<body>\n");
        put_element(out, "h1", title);
}

static void heading(PnBuf *out, unsigned level, const char *text)
{
        put_element(out, level == 2 ? "h2" : "h3", text);
}

static void paragraph(PnBuf *out, const char *text, ParagraphKind kind)
{
        put_told(out, kind == PARAGRAPH_ASIDE ? "dim" : "lead", kind == PARAGRAPH_LEAD_IN_ENGLISH,
                 text);
}

static void finding(PnBuf *out, const Told *told)
{
        pn_buf_printf(out, "<div class=\"finding %s\">\n", class_of((int)told->mark));
        pn_buf_printf(out, "<p class=\"tag\">%s ", view_mark(told->mark));
        put_xml(out, told->severity);
        pn_buf_puts(out, "</p>\n");
        put_told(out, "summary", told->summary_is_english, told->summary);
        if (told->advice) {
                pn_buf_printf(out, "<p class=\"advice\">→ <span%s>",
                              told->advice_is_english ? " lang=\"en\"" : "");
                put_xml(out, told->advice);
                pn_buf_puts(out, "</span></p>\n");
        }
        if (told->affects) {
                pn_buf_puts(out, "<p class=\"dim\">");
                put_xml(out, _("Affects"));
                pn_buf_puts(out, ": ");
                put_xml(out, told->affects);
                pn_buf_puts(out, "</p>\n");
        }
        pn_buf_puts(out, "</div>\n");
}

static void facts(PnBuf *out, const Grid *grid)
{
        pn_buf_puts(out, "<dl>\n");
        for (unsigned i = 0; i < grid->n_rows; i++) {
                put_element(out, "dt", grid->rows[i].cells[0]);
                put_element(out, "dd", grid->rows[i].cells[1]);
        }
        pn_buf_puts(out, "</dl>\n");
}

static void listing(PnBuf *out, const char *title, const Grid *grid)
{
        pn_buf_puts(out, "<div class=\"module\">\n");
        put_element(out, "h4", title);
        facts(out, grid);
        pn_buf_puts(out, "</div>\n");
}

/* Bytes of a cell that is too short to be worth two lines, such as "16 GT/s x16". */
#define ONE_LINE 12

static void put_cell(PnBuf *out, const Grid *grid, unsigned row, unsigned column)
{
        const char *cell = grid->rows[row].cells[column];
        int mark = grid->rows[row].mark;

        if (!cell && column) {
                pn_buf_puts(out, "<td class=\"empty\"></td>");
                return;
        }
        pn_buf_printf(out, "<td%s data-label=\"",
                      column == 0                        ? " class=\"first\""
                      : cell && strlen(cell) <= ONE_LINE ? " class=\"short\""
                                                         : "");
        put_xml(out, _(grid->headings[column]));
        pn_buf_puts(out, "\"><span>");
        if (column == 0 && mark != MARK_NONE)
                pn_buf_printf(out, "<span class=\"%s\">%s</span> ", class_of(mark),
                              view_mark((Mark)mark));
        put_xml(out, cell ? cell : "");
        pn_buf_puts(out, "</span></td>");
}

static void table(PnBuf *out, const Grid *grid)
{
        pn_buf_puts(out, "<div class=\"scroll\"><table>\n<thead><tr>");
        for (unsigned k = 0; k < grid->n_columns; k++)
                if (grid_has_column(grid, k)) {
                        pn_buf_puts(out, "<th scope=\"col\">");
                        put_xml(out, _(grid->headings[k]));
                        pn_buf_puts(out, "</th>");
                }
        pn_buf_puts(out, "</tr></thead>\n<tbody>\n");
        for (unsigned i = 0; i < grid->n_rows; i++) {
                pn_buf_puts(out, "<tr>");
                for (unsigned k = 0; k < grid->n_columns; k++)
                        if (grid_has_column(grid, k))
                                put_cell(out, grid, i, k);
                pn_buf_puts(out, "</tr>\n");
        }
        pn_buf_puts(out, "</tbody>\n</table></div>\n");
}

/* Twice: one is drawn for a page, the other for a telephone; the reader's width chooses. */
static int picture(PnBuf *out, const Facts *facts, const View *view, bool all)
{
        int r;

        pn_buf_puts(out, "<figure class=\"wide\">\n");
        r = picture_put(out, facts, view, PICTURE_WIDE, all);
        pn_buf_puts(out, "</figure>\n<figure class=\"narrow\">\n");
        if (r == 0)
                r = picture_put(out, facts, view, PICTURE_NARROW, all);
        pn_buf_puts(out, "</figure>\n");
        return r;
}

static void end(PnBuf *out)
{
        pn_buf_puts(out, "</body>\n</html>\n");
}

const Format report_html = {begin,   heading, paragraph, finding, facts,
                            listing, table,   picture,   end};
