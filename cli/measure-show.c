/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Says what was measured, in words or as JSON. Reads no device. */

#include "measure.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "say.h"
#include "view.h"

/* What went wrong with a device, or "". */
static void put_trouble(const Target *target, PnBuf *out)
{
        if (target->is_stuck)
                pn_buf_puts(out, _("It holds back reads: it has not answered for 10 seconds. See "
                                   "the kernel log (dmesg)."));
        else if (target->error)
                pn_buf_printf(out,
                              _("It failed to read at byte %llu (sector %llu): %s. See the kernel "
                                "log (dmesg)."),
                              (unsigned long long)target->error_at,
                              (unsigned long long)(target->error_at / 512),
                              say_error(target->error));
}

static void put_result(const Measurement *all, const Target *target, PnBuf *out)
{
        if (!target->is_done) {
                pn_buf_puts(out, _("Not measured."));
                return;
        }
        if (!target->reads) {
                if (!target->error && !target->is_stuck)
                        pn_buf_puts(out, _("Nothing was read."));
                return;
        }
        if (all->cli->random)
                pn_speed_random_sentence(out, (double)target->reads / target->seconds, all->block,
                                         target->seconds * 1e6 / (double)target->reads,
                                         target->longest_us, say);
        else
                pn_speed_sentence(out, &target->speed, say);
        if (all->interrupted)
                pn_buf_printf(out, _(" Interrupted after %.1f s."), target->seconds);
        if (target->passes > 1 && !all->cli->random)
                pn_buf_printf(out, _(" It is small and was read %u times over."), target->passes);
}

static Mark mark_of(const Target *target, bool random)
{
        const PnRating *hop = target->speed.hop;

        if (target->error || target->is_stuck)
                return MARK_CRITICAL;
        if (!target->is_done || !target->reads)
                return MARK_UNKNOWN;
        if (random)
                return MARK_GOOD;
        switch (target->speed.limit) {
        case PN_SPEED_FAULT:
                return MARK_WARNING;
        case PN_SPEED_SLOT:
        case PN_SPEED_PATH:
        case PN_SPEED_SHARED:
                return MARK_NOTICE;
        case PN_SPEED_EITHER:
                return hop && view_is_below(hop) ? MARK_NOTICE : MARK_GOOD;
        default:
                return MARK_GOOD;
        }
}

static void put_paragraph(Cli *cli, const PnBuf *text, Style style)
{
        if (text->error) {
                cli->page.error = text->error;
        } else if (text->len) {
                pn_buf_puts(&cli->page, "  ");
                term_put_wrapped(&cli->term, &cli->page, 2, 2, style, text->data);
        }
}

static void put_target(const Measurement *all, const Target *target)
{
        Cli *cli = all->cli;
        Mark mark = mark_of(target, cli->random);
        const PnRating *own = target->device.path.n ? &target->device.path.v[0] : NULL;
        _cleanup_buf_ PnBuf title = {0}, result = {0}, trouble = {0};
        char link[160];

        pn_buf_puts(&title, target->node);
        if (target->model && pn_text(target->model))
                pn_buf_printf(&title, " · %s", target->model->v);
        if (own && pn_text(&own->slot))
                pn_buf_printf(&title, " · %s", own->slot.v);
        if (own && *view_rating_link(own, link, sizeof link))
                pn_buf_printf(&title, " · %s", link);
        term_put_styled(&cli->term, &cli->page, view_mark_style(mark), view_mark(mark));
        pn_buf_puts(&cli->page, " ");
        if (title.error)
                cli->page.error = title.error;
        else
                term_put_wrapped(&cli->term, &cli->page, 2, 2, STYLE_BOLD, title.data);
        put_result(all, target, &result);
        put_paragraph(cli, &result, STYLE_PLAIN);
        put_trouble(target, &trouble);
        put_paragraph(cli, &trouble, view_mark_style(MARK_CRITICAL));
}

static const char *how_read(const Cli *cli)
{
        if (cli->random && cli->together)
                return _("random reads of %u KiB, %u at a time, %g s all at once, past the cache, "
                         "by %s");
        if (cli->random)
                return _("random reads of %u KiB, %u at a time, %g s each, past the cache, by %s");
        if (cli->together)
                return _("sequential reads of %u KiB, %u at a time, %g s all at once, past the "
                         "cache, by %s");
        return _("sequential reads of %u KiB, %u at a time, %g s each, past the cache, by %s");
}

void measure_put_page(const Measurement *all)
{
        Cli *cli = all->cli;
        _cleanup_buf_ PnBuf text = {0};

        for (unsigned i = 0; i < all->n; i++)
                put_target(all, &all->v[i]);
        if (all->shared.hop) {
                pn_speed_shared_sentence(&text, &all->shared, say);
                pn_buf_puts(&cli->page, "\n");
                term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_PLAIN, text.data);
        }
        if (!cli->no_legend) {
                _cleanup_buf_ PnBuf how = {0};

                pn_buf_printf(&how, how_read(cli), all->block / 1024, all->depth, all->seconds,
                              strcmp(all->engine, "threads") == 0 ? _("threads") : all->engine);
                pn_buf_puts(&cli->page, "\n");
                term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_DIM, how.data);
        }
}

static void put_real(PnBuf *json, const char *name, double value)
{
        pn_buf_printf(json, ",\"%s\":", name);
        pn_buf_json_real(json, isfinite(value) ? value : 0);
}

static void put_json_target(const Measurement *all, const Target *target, PnBuf *json)
{
        _cleanup_buf_ PnBuf sentence = {0}, trouble = {0};
        bool is_read = target->is_done && target->reads;

        put_result(all, target, &sentence);
        put_trouble(target, &trouble);
        pn_buf_puts(json, "{\"device\":");
        pn_buf_json_string(json, target->node);
        pn_buf_puts(json, ",\"model\":");
        pn_buf_json_string(json, target->model ? pn_text(target->model) : NULL);
        pn_buf_printf(json, ",\"pattern\":\"%s\",\"block_bytes\":%u,\"queue_depth\":%u",
                      all->cli->random ? "random" : "sequential", all->block, all->depth);
        pn_buf_printf(json, ",\"together\":%s,\"engine\":", all->cli->together ? "true" : "false");
        pn_buf_json_string(json, target->is_done ? all->engine : NULL);
        pn_buf_printf(json, ",\"bytes\":%" PRIu64 ",\"reads\":%" PRIu64, target->bytes,
                      target->reads);
        put_real(json, "seconds", target->seconds);
        put_real(json, "bytes_per_second", target->bytes_per_second);
        if (is_read && all->depth == 1)
                put_real(json, "mean_us", target->seconds * 1e6 / (double)target->reads);
        else
                pn_buf_puts(json, ",\"mean_us\":null");
        put_real(json, "longest_us", target->longest_us);
        pn_buf_puts(json, ",\"link\":");
        pn_buf_json_string(json, target->speed.hop ? target->speed.hop->address.v : NULL);
        if (is_read && !all->cli->random && target->speed.percent >= 0)
                pn_buf_printf(json, ",\"percent\":%d", target->speed.percent);
        else
                pn_buf_puts(json, ",\"percent\":null");
        pn_buf_puts(json, ",\"limit\":");
        pn_buf_json_string(
            json, is_read && !all->cli->random ? pn_speed_limit_name(target->speed.limit) : NULL);
        pn_buf_printf(json,
                      ",\"interrupted\":%s,\"sentence\":", all->interrupted ? "true" : "false");
        pn_buf_json_string(json, sentence.data ? sentence.data : "");
        pn_buf_puts(json, ",\"error\":");
        pn_buf_json_string(json, trouble.data);
        if (target->error)
                pn_buf_printf(json, ",\"error_at\":%" PRIu64 "}", target->error_at);
        else
                pn_buf_puts(json, ",\"error_at\":null}");
        if (sentence.error || trouble.error)
                json->error = -ENOMEM;
}

void measure_put_json(const Measurement *all)
{
        _cleanup_buf_ PnBuf json = {0};

        pn_buf_puts(&json, "[");
        for (unsigned i = 0; i < all->n; i++) {
                pn_buf_puts(&json, i ? "," : "");
                put_json_target(all, &all->v[i], &json);
        }
        pn_buf_puts(&json, "]");
        cli_put_json_buffer(all->cli, &json);
}
