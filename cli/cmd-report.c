/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report: everything about the machine as a page for a wiki, a browser or another program, on
 * standard output or in a file. */

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "report.h"
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

/* What was asked for; else what the file's name says; else Markdown. */
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
        for (ReportFormat format = MARKDOWN; cli->output && format < N_FORMATS; format++)
                for (const char *const *ending = formats[format].endings; *ending; ending++)
                        if (cli->json == JSON_OFF && ends_with(cli->output, *ending))
                                *ret = format;
        return 0;
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

static int write_page(int fd, const PnBuf *page)
{
        for (size_t done = 0; done < page->len;) {
                ssize_t n = write(fd, page->data + done, page->len - done);

                if (n < 0 && errno != EINTR)
                        return -errno;
                if (n > 0)
                        done += (size_t)n;
        }
        return 0;
}

/* Into a file beside it that takes its place when it is whole: who reads it sees the report before
 * or this one. What is no file (a pipe, a terminal) is written to as it is. */
static int write_file(Cli *cli)
{
        _cleanup_free_ char *beside = NULL;
        _cleanup_close_ int fd = -1;
        struct stat st;
        bool is_special = stat(cli->output, &st) == 0 && !S_ISREG(st.st_mode);
        int r;

        if (cli->page.error)
                return cli_out_of_memory(cli);
        if (asprintf(&beside, "%s.XXXXXX", cli->output) < 0) {
                beside = NULL;
                return cli_out_of_memory(cli);
        }
        if (is_special)
                fd = open(cli->output, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        else
                fd = mkostemp(beside, O_CLOEXEC);
        if (fd < 0)
                return cli_fail(cli, "WriteFailed", "%s: %s", cli->output, say_error(errno));
        r = write_page(fd, &cli->page);
        if (r == 0 && !is_special) {
                mode_t mask = umask(0);

                (void)umask(mask);
                if (fchmod(fd, 0666 & ~mask) < 0 || rename(beside, cli->output) < 0)
                        r = -errno;
        }
        if (r < 0) {
                if (!is_special)
                        (void)unlink(beside);
                return cli_fail(cli, "WriteFailed", "%s: %s", cli->output, say_error(-r));
        }
        pn_buf_done(&cli->page);
        return 0;
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
        if (r == 0 && cli->output && strcmp(cli->output, "-") != 0)
                r = write_file(cli);
        facts_done(&facts);
        return r;
}
