/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The page of metrics, on standard output or in a file that takes the place of the one before.
 * Knows no series. */

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "interface.h"
#include "metrics.h"
#include "say.h"
#include "source.h"

/* Who collects the file is another user. */
#define FILE_MODE 0644

typedef enum Format { OPENMETRICS, PROMETHEUS } Format;

static bool ends_with(const char *name, const char *ending)
{
        size_t n = strlen(name), k = strlen(ending);

        return n > k && strcmp(name + n - k, ending) == 0;
}

/* What was asked for; else what reads the file: node_exporter takes those named so, and knows the
 * older format alone. */
static int choose_format(Cli *cli, Format *ret)
{
        Format format = cli->output && ends_with(cli->output, ".prom") ? PROMETHEUS : OPENMETRICS;

        if (cli->format) {
                if (strcmp(cli->format, "prometheus") == 0)
                        format = PROMETHEUS;
                else if (strcmp(cli->format, "openmetrics") == 0)
                        format = OPENMETRICS;
                else
                        return cli_fail(cli, "Usage",
                                        "metrics --format=%s: the formats are openmetrics and "
                                        "prometheus",
                                        cli->format);
        }
        if (cli->json != JSON_OFF && format != OPENMETRICS)
                return cli_fail(cli, "Usage",
                                "there is no JSON of the older format; leave out --json, or say "
                                "--format=openmetrics");
        *ret = format;
        return 0;
}

static int put_page(Cli *cli, Format format, PnBuf *page)
{
        if (page->error)
                return cli_out_of_memory(cli);
        if (cli->json != JSON_OFF) {
                PnGetMetricsOut out = {.openmetrics = {PN_KNOWN, page->data}};
                _cleanup_buf_ PnBuf json = {0};

                pn_write_json(&json, pn_type_GetMetricsOut(), &out);
                cli_put_json_buffer(cli, &json);
        } else if (format == PROMETHEUS)
                pn_metrics_to_prometheus(&cli->page, page->data, page->len);
        else
                pn_buf_put(&cli->page, page->data, page->len);
        return cli->page.error ? cli_out_of_memory(cli) : 0;
}

static int write_all(int fd, const PnBuf *page)
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

static int cannot_write(Cli *cli, int error)
{
        return cli_fail(cli, "WriteFailed", "cannot write %s: %s", cli->output, say_error(-error));
}

/* Into a file beside it, which takes its place when it is whole: who reads it sees the page before
 * or this one. Its name does not end as collectors want it. What is no file (a terminal, a pipe) is
 * written to as it is. */
static int write_file(Cli *cli)
{
        _cleanup_free_ char *beside = NULL;
        _cleanup_close_ int fd = -1;
        struct stat st;
        int r;

        if (stat(cli->output, &st) == 0 && !S_ISREG(st.st_mode)) {
                fd = open(cli->output, O_WRONLY | O_CLOEXEC | O_NOCTTY);
                r = fd < 0 ? -errno : write_all(fd, &cli->page);
                if (r < 0)
                        return cannot_write(cli, r);
                pn_buf_done(&cli->page);
                return 0;
        }
        if (asprintf(&beside, "%s.XXXXXX", cli->output) < 0) {
                beside = NULL;
                return cli_out_of_memory(cli);
        }
        fd = mkostemp(beside, O_CLOEXEC);
        if (fd < 0)
                return cannot_write(cli, -errno);
        r = write_all(fd, &cli->page);
        if (r == 0 && (fchmod(fd, FILE_MODE) < 0 || rename(beside, cli->output) < 0))
                r = -errno;
        if (r < 0) {
                (void)unlink(beside);
                return cannot_write(cli, r);
        }
        pn_buf_done(&cli->page);
        return 0;
}

int cmd_metrics(Cli *cli, _unused_ const char *argument)
{
        _cleanup_buf_ PnBuf page = {0};
        Format format = OPENMETRICS;
        int r = choose_format(cli, &format);

        if (r == 0)
                r = source_metrics(cli, &page);
        if (r == 0)
                r = put_page(cli, format, &page);
        if (r == 0 && cli->output && strcmp(cli->output, "-") != 0)
                r = write_file(cli);
        return r;
}
