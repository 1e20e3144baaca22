/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report: everything about the machine as a page for a wiki, a browser or another program, on
 * standard output or in a file. */

#include <stdio.h>

#include "report.h"
#include "save.h"
#include "say.h"
#include "source.h"

typedef enum ReportFormat { MARKDOWN, HTML, SVG, JSON, N_FORMATS } ReportFormat;

static const struct {
        const char *name;
        const char *endings[3]; /* of files that are named so */
} formats[N_FORMATS] = {
    [MARKDOWN] = {"markdown", {".md", ".markdown"}},
    [HTML] = {"html", {".html", ".htm"}},
    [SVG] = {"svg", {".svg"}},
    [JSON] = {"json", {".json"}},
};

static bool ends_with(const char *name, const char *ending)
{
        size_t n = strlen(name), k = strlen(ending);

        return n > k && strcasecmp(name + n - k, ending) == 0;
}

/* What comes after the last dot of a file's name, with the dot; NULL if there is none. */
static const char *ending_of(const char *path)
{
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        const char *dot = strrchr(name, '.');

        return dot && dot > name && dot[1] ? dot : NULL;
}

/* What was asked for; else what the file's name says; else Markdown. A name that promises something
 * else is refused: who opens it would not find what it says. */
static int choose_format(Cli *cli, ReportFormat *ret)
{
        *ret = cli->json != JSON_OFF ? JSON : MARKDOWN;
        if (cli->format) {
                ReportFormat format = MARKDOWN;

                while (format < N_FORMATS && strcmp(formats[format].name, cli->format) != 0)
                        format++;
                if (format == N_FORMATS)
                        return cli_fail(cli, "Usage",
                                        "--format=%s: the formats are markdown, html, svg and json",
                                        cli->format);
                if (cli->json != JSON_OFF && format != JSON)
                        return cli_fail(cli, "Usage", "--json and --format=%s exclude each other",
                                        cli->format);
                *ret = format;
                return 0;
        }
        if (cli->json != JSON_OFF || !cli->output || !ending_of(cli->output))
                return 0;
        for (ReportFormat format = MARKDOWN; format < N_FORMATS; format++)
                for (const char *const *ending = formats[format].endings; *ending; ending++)
                        if (ends_with(cli->output, *ending)) {
                                *ret = format;
                                return 0;
                        }
        return cli_fail(cli, "Usage",
                        "--output=%s: there is no format for %s files; the formats are markdown "
                        "(.md), html, svg and json, and --format=NAME writes any of them to it",
                        cli->output, ending_of(cli->output));
}

/* {"status", "inventory"}: all facts, as the methods of the same names answer them; --from takes
 * it. */
static void put_json(Cli *cli, const Facts *facts)
{
        _cleanup_buf_ PnBuf buf = {0};

        if (cli->json == JSON_OFF)
                cli->json = cli->term.tty && !cli->output ? JSON_PRETTY : JSON_SHORT;
        pn_buf_puts(&buf, "{\"status\":");
        pn_write_json(&buf, pn_type_Status(), &facts->status);
        pn_buf_puts(&buf, ",\"inventory\":");
        pn_write_json(&buf, pn_type_Inventory(), &facts->inventory);
        pn_buf_puts(&buf, "}");
        cli_put_json_buffer(cli, &buf);
}

static int put_report(Cli *cli, const Facts *facts, ReportFormat format)
{
        View view = {0};
        int r;

        switch (format) {
        case MARKDOWN:
                return report_write(&cli->page, &report_markdown, facts, cli->all);
        case HTML:
                return report_write(&cli->page, &report_html, facts, cli->all);
        case SVG:
                r = view_init(&view, &facts->status);
                if (r == 0)
                        r = picture_put(&cli->page, facts, &view, PICTURE_ALONE, cli->all);
                view_done(&view);
                return r;
        default:
                put_json(cli, facts);
                return 0;
        }
}

int report_of_hosts(Cli *cli)
{
        ReportFormat format;
        int r = choose_format(cli, &format);

        if (r == 0 && (cli->output || format == HTML || format == SVG))
                return cli_fail(
                    cli, "Usage",
                    "report: a file, and a page in HTML or SVG, is of one host at a time");
        return r;
}

int cmd_report(Cli *cli, _unused_ const char *argument)
{
        Facts facts = {0};
        ReportFormat format;
        int r = choose_format(cli, &format);

        if (r == 0)
                r = source_facts(cli, WANT_ALL, &facts);
        if (r == 0 && put_report(cli, &facts, format) < 0)
                r = cli_out_of_memory(cli);
        if (r == 0)
                r = save_page(cli, SAVE_AS_UMASK);
        facts_done(&facts);
        return r;
}
