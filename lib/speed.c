/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Says whether a measured speed is the drive's doing or a link's. No clock, no I/O. */

#include "speed.h"

#include <inttypes.h>
#include <stdio.h>

/* What a link carries are packets with headers: with payloads of 128 bytes five sixths are data, of
 * 256 bytes nine tenths, less what acknowledgements take. From three quarters on it is full; below
 * three fifths it is certainly not. */
#define FULL_PERCENT 75
#define FREE_PERCENT 60

const char *pn_speed_limit_name(PnSpeedLimit limit)
{
        static const char *const names[] = {
            [PN_SPEED_UNKNOWN] = "unknown", [PN_SPEED_DRIVE] = "drive",
            [PN_SPEED_EITHER] = "either",   [PN_SPEED_SLOT] = "slot",
            [PN_SPEED_FAULT] = "fault",     [PN_SPEED_LINK] = "link",
            [PN_SPEED_PATH] = "path",       [PN_SPEED_SHARED] = "shared",
        };

        return names[limit];
}

/* Mb/s that a hop carries now; 0 if that is not known. */
static int64_t bandwidth_of(const PnRating *hop)
{
        return hop->current.v ? pn_int_or(hop->current.v->bandwidth, 0) : 0;
}

static int percent_of(const PnRating *hop, double bytes_per_second)
{
        double percent = bytes_per_second * 8 / 1e6 / (double)bandwidth_of(hop) * 100;

        return percent < 1000 ? (int)(percent + 0.5) : 999;
}

/* The narrowest hop; the device's own, if others are as narrow. */
static const PnRating *narrowest(const PnDevice *device)
{
        const PnRating *found = NULL;

        for (unsigned i = 0; i < device->path.n; i++) {
                const PnRating *hop = &device->path.v[i];

                if (bandwidth_of(hop) > 0 && (!found || bandwidth_of(hop) < bandwidth_of(found)))
                        found = hop;
        }
        return found;
}

/* The hop is full: what does that say? */
static PnSpeedLimit limit_of_full(const PnDevice *device, const PnRating *hop)
{
        if (hop != &device->path.v[0])
                return PN_SPEED_PATH;
        if (pn_text_is(&hop->verdict, "slot_limited"))
                return PN_SPEED_SLOT;
        if (pn_text_is(&hop->verdict, "degraded"))
                return PN_SPEED_FAULT;
        return PN_SPEED_LINK;
}

void pn_speed_judge(const PnDevice *device, double bytes_per_second, PnSpeed *ret)
{
        const PnRating *hop = narrowest(device);

        *ret = (PnSpeed){.bytes_per_second = bytes_per_second, .hop = hop, .percent = -1};
        if (!hop)
                return;
        ret->percent = percent_of(hop, bytes_per_second);
        if (ret->percent >= FULL_PERCENT)
                ret->limit = limit_of_full(device, hop);
        /* A disk hangs on a controller by a link of its own, of which nothing is known here. */
        else if (device->disk.v && !device->nvme.v)
                ret->limit = PN_SPEED_UNKNOWN;
        else
                ret->limit = ret->percent < FREE_PERCENT ? PN_SPEED_DRIVE : PN_SPEED_EITHER;
}

static bool goes_over(const PnDevice *device, const PnRating *hop)
{
        for (unsigned i = 0; i < device->path.n; i++)
                if (strcmp(device->path.v[i].address.v, hop->address.v) == 0)
                        return true;
        return false;
}

void pn_speed_share(const PnDevice *const *devices, PnSpeed *speeds, unsigned n, PnSpeedShared *ret)
{
        *ret = (PnSpeedShared){.percent = -1};
        for (unsigned i = 0; i < n; i++)
                for (unsigned k = 0; k < devices[i]->path.n; k++) {
                        PnSpeedShared here = {.hop = &devices[i]->path.v[k]};

                        if (bandwidth_of(here.hop) <= 0)
                                continue;
                        for (unsigned j = 0; j < n; j++)
                                if (goes_over(devices[j], here.hop)) {
                                        here.bytes_per_second += speeds[j].bytes_per_second;
                                        here.devices++;
                                }
                        here.percent = percent_of(here.hop, here.bytes_per_second);
                        if (here.devices > 1 && here.percent > ret->percent)
                                *ret = here;
                }
        ret->is_limit = ret->hop && ret->percent >= FULL_PERCENT;
        for (unsigned i = 0; i < n && ret->is_limit; i++)
                if (goes_over(devices[i], ret->hop))
                        speeds[i].limit = PN_SPEED_SHARED;
}

/* ---- sentences ---- */

/* The text in the language of whom `say` speaks to. */
static const char *__attribute__((__format_arg__(2))) translated(PnTranslate *say, const char *text)
{
        return say ? say(text) : text;
}

/* Digits in groups of three. */
static void put_grouped(PnBuf *out, int64_t n, PnTranslate *say)
{
        /* Translators: this stands between groups of three digits. */
        const char *separator = translated(say, ",");
        char digits[32];
        int length = snprintf(digits, sizeof digits, "%" PRId64, n);

        for (int i = 0; i < length; i++) {
                if (i && (length - i) % 3 == 0)
                        pn_buf_puts(out, separator);
                pn_buf_put(out, &digits[i], 1);
        }
}

void pn_speed_put(PnBuf *out, double bytes_per_second, PnTranslate *say)
{
        double mbs = bytes_per_second / 1e6;

        if (mbs < 10)
                pn_buf_printf(out, "%.1f", mbs);
        else
                put_grouped(out, mbs < 1e15 ? (int64_t)(mbs + 0.5) : INT64_MAX, say);
        pn_buf_puts(out, " MB/s");
}

/* "of an x1 link" says at once what is wrong with it. */
static void put_of_link(PnBuf *out, const PnRating *hop, PnTranslate *say)
{
        bool width = pn_text_is(&hop->reason, "width") || pn_text_is(&hop->reason, "both");
        bool speed = pn_text_is(&hop->reason, "speed") || pn_text_is(&hop->reason, "both") ||
                     pn_text_is(&hop->reason, "target_speed");
        const PnLinkRate *now = hop->current.v;
        char what[64] = "";
        size_t n = 0;

        width = width && now && now->width.state == PN_KNOWN;
        speed = speed && now && now->speed.state == PN_KNOWN;
        if (!width && !speed) {
                pn_buf_puts(out, translated(say, "of the link"));
                return;
        }
        if (speed)
                n = (size_t)snprintf(what, sizeof what, "%g GT/s%s", now->speed.v,
                                     width ? " " : "");
        if (width)
                (void)snprintf(what + n, sizeof what - n, "x%" PRId64, now->width.v);
        /* Eight is the one number among lane rates that begins with a vowel. */
        if (!speed || (now->speed.v >= 8 && now->speed.v < 9))
                pn_buf_printf(out, translated(say, "of an %s link"), what);
        else
                pn_buf_printf(out, translated(say, "of a %s link"), what);
}

/* What goes behind "57 % of the link". */
static const char *verdict(PnSpeedLimit limit, PnTranslate *say)
{
        switch (limit) {
        case PN_SPEED_DRIVE:
                return translated(say, ": the drive is the limit.");
        case PN_SPEED_EITHER:
                return translated(say, ": the drive or the link is the limit.");
        case PN_SPEED_SLOT:
                return translated(say, ": the slot is the limit.");
        case PN_SPEED_FAULT:
                return translated(say, ": the link is the limit, and it runs below what it could.");
        case PN_SPEED_LINK:
                return translated(say, ": the link is the limit, and it is at its best.");
        default:
                return translated(say, ": what it shares with others is the limit.");
        }
}

void pn_speed_sentence(PnBuf *out, const PnSpeed *speed, PnTranslate *say)
{
        pn_speed_put(out, speed->bytes_per_second, say);
        if (!speed->hop) {
                pn_buf_puts(out, translated(say, "; its link is not known, so there is nothing to "
                                                 "hold this against."));
                return;
        }
        pn_buf_printf(out, ", %d %% ", speed->percent);
        switch (speed->limit) {
        case PN_SPEED_UNKNOWN:
                pn_buf_puts(out, translated(say, "of its controller's link."));
                break;
        case PN_SPEED_PATH:
                pn_buf_printf(
                    out, translated(say, "of the link at %s above it: that link is the limit."),
                    speed->hop->address.v);
                break;
        default:
                put_of_link(out, speed->hop, say);
                pn_buf_puts(out, verdict(speed->limit, say));
        }
}

void pn_speed_shared_sentence(PnBuf *out, const PnSpeedShared *shared, PnTranslate *say)
{
        pn_buf_puts(out, translated(say, "Together "));
        pn_speed_put(out, shared->bytes_per_second, say);
        if (shared->is_limit)
                pn_buf_printf(out,
                              translated(say, " over %s, which %u of them share, %d %% of that "
                                              "link: it is the limit."),
                              shared->hop->address.v, shared->devices, shared->percent);
        else
                pn_buf_printf(out,
                              translated(say, " over %s, which %u of them share, %d %% of that "
                                              "link: it is not the limit."),
                              shared->hop->address.v, shared->devices, shared->percent);
}

static const char *time_text(char buf[static 32], double us)
{
        if (us < 1000)
                (void)snprintf(buf, 32, "%.*f µs", us < 10 ? 1 : 0, us);
        else
                (void)snprintf(buf, 32, "%.*f ms", us < 100000 ? 1 : 0, us / 1000);
        return buf;
}

void pn_speed_random_sentence(PnBuf *out, double reads_per_second, unsigned bytes, double mean_us,
                              double longest_us, PnTranslate *say)
{
        char mean[32], longest[32];

        put_grouped(out, reads_per_second < 1e15 ? (int64_t)(reads_per_second + 0.5) : INT64_MAX,
                    say);
        pn_buf_printf(out,
                      translated(say,
                                 " reads a second of %u KiB, one at a time: each takes %s, the "
                                 "longest took %s."),
                      bytes / 1024, time_text(mean, mean_us), time_text(longest, longest_us));
}

/* ---- what must not be read ---- */

const PnFinding *pn_speed_forbids(const PnDevice *device)
{
        static const char *const codes[] = {"nvme.critical_warning", "nvme.not_live", "nvme.lost",
                                            "disk.lost", "probe.stuck"};

        for (unsigned i = 0; i < device->findings.n; i++) {
                const PnFinding *finding = &device->findings.v[i];
                bool its_own = pn_startswith(finding->code.v, "nvme.") ||
                               pn_startswith(finding->code.v, "disk.");

                if (its_own && pn_text_is(&finding->severity, "critical"))
                        return finding;
                for (size_t k = 0; k < PN_ELEMENTS(codes); k++)
                        if (strcmp(finding->code.v, codes[k]) == 0)
                                return finding;
        }
        return NULL;
}
