/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The page of metrics, on standard output or in a file that takes the place of the one before.
 * Knows no series. */

#include <stdio.h>

#include "interface.h"
#include "metrics.h"
#include "metrics_join.h"
#include "remote.h"
#include "save.h"
#include "say.h"
#include "source.h"

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

/* ---- several hosts ---- */

/* Adds the page of one host to that of all. */
static int join_one(Cli *cli, _unused_ const char *argument)
{
        _cleanup_free_ char *sentence = NULL;
        _cleanup_buf_ PnBuf page = {0};
        int r = source_metrics(cli, &page);

        if (r)
                return r;
        r = page.error ? page.error
                       : pn_metrics_join_add(cli->collected, cli->remote->host,
                                             page.data ? page.data : "", page.len, &sentence);
        if (r == -EBADMSG)
                return cli_fail(cli, "BadAnswer", "its answer makes no sense: %s", sentence);
        return r < 0 ? cli_out_of_memory(cli) : 0;
}

static void take_host(Cli *cli, const RemoteResult *result)
{
        pn_metrics_join_answered(cli->collected, result->host, !result->has_failed);
}

/* Always with the label `host`, so that the series are the same ones when a host is added; and
 * without those that gave no answer, of which standard error tells and `pnhw_host_up`. */
static int join_hosts(Cli *cli, PnBuf *ret)
{
        _cleanup_(pn_metrics_join_freep) PnMetricsJoin *join = pn_metrics_join_new();
        JsonMode json = cli->json;
        int code;

        if (!join)
                return cli_out_of_memory(cli);
        cli->collected = join;
        cli->json = JSON_OFF;
        code = remote_collect(cli, join_one, NULL, take_host);
        cli->json = json;
        cli->collected = NULL;
        if (pn_metrics_join_write(join, ret) < 0)
                return cli_out_of_memory(cli);
        return code;
}

int cmd_metrics(Cli *cli, _unused_ const char *argument)
{
        _cleanup_buf_ PnBuf page = {0};
        Format format = OPENMETRICS;
        int r = choose_format(cli, &format), code = 0;

        if (r)
                return r;
        if (cli->hosts)
                code = join_hosts(cli, &page);
        else
                r = source_metrics(cli, &page);
        if (r == 0 && !cli->page.error)
                r = put_page(cli, format, &page);
        if (r == 0)
                r = save_page(cli, SAVE_FOR_ALL);
        return r ? r : code;
}
