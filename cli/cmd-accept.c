/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Accepting a finding, and taking that back: the daemon remembers it, and only root may. */

#include <ctype.h>
#include <stdio.h>
#include <time.h>

#include "say.h"
#include "source.h"
#include "units.h"
#include "view.h"
#include "when.h"

#define ID_LENGTH    12
#define PREFIX_LEAST 4 /* fewer could be a slip */
#define LISTED       12

/* ---- which finding ---- */

static bool is_id(const char *word)
{
        return strlen(word) == ID_LENGTH && strspn(word, "0123456789abcdef") == ID_LENGTH;
}

/* The beginning of an id, but one that may come to name another finding tomorrow. */
static bool is_too_short(const char *word)
{
        size_t n = strlen(word);

        return n > 0 && n < PREFIX_LEAST && strspn(word, "0123456789abcdef") == n;
}

static bool is_of_device(const PnFinding *finding, const char *word)
{
        const char *device = pn_text(&finding->device), *address = pn_text(&finding->address);

        return (device && (strcmp(device, word) == 0 || strcmp(view_address(device), word) == 0)) ||
               (address &&
                (strcmp(address, word) == 0 || strcmp(view_address(address), word) == 0));
}

static bool is_meant(const PnFinding *finding, const char *word)
{
        return strlen(word) >= PREFIX_LEAST && pn_startswith(finding->id.v, word);
}

static bool is_any(const PnFinding *finding _unused_, const char *word _unused_)
{
        return true;
}

typedef bool (*Filter)(const PnFinding *finding, const char *word);

/* A line for each finding that passes; how many that are. */
static unsigned list(const PnStatus *status, Filter filter, const char *word, PnBuf *out)
{
        unsigned n = 0;

        for (unsigned i = 0; i < status->findings.n; i++) {
                const PnFinding *finding = &status->findings.v[i];
                const char *device = pn_text(&finding->device);

                if (!filter(finding, word) || ++n > LISTED)
                        continue;
                pn_buf_printf(out, "\n%s  %s  %s%s%s", finding->id.v,
                              device ? view_address(device) : "-", finding->code.v,
                              pn_is_true(finding->accepted) ? "  " : "",
                              pn_is_true(finding->accepted) ? _("accepted") : "");
        }
        if (n > LISTED) {
                pn_buf_puts(out, "\n");
                pn_buf_printf(out, _("and %u more: pnhwctl findings --all"), n - LISTED);
        }
        return n;
}

/* Says that an id names none, and which there are: those of the device, if it is a device's name.
 */
static int no_such_finding(Cli *cli, const PnStatus *status, const char *word)
{
        _cleanup_buf_ PnBuf lines = {0};
        unsigned of_device = list(status, is_of_device, word, &lines);

        if (!of_device)
                (void)list(status, is_any, word, &lines);
        if (lines.error)
                return cli_out_of_memory(cli);
        if (of_device)
                return cli_fail(cli, "NoSuchFinding",
                                "%s is a device, and the id of a finding is needed; it has%s", word,
                                lines.data);
        if (!lines.len)
                return cli_fail(cli, "NoSuchFinding",
                                "there is no finding %s: nothing is found to be wrong", word);
        if (is_too_short(word))
                return cli_fail(cli, "NoSuchFinding",
                                "%s is too short for an id: at least four digits are needed; there "
                                "are%s",
                                word, lines.data);
        return cli_fail(cli, "NoSuchFinding", "there is no finding %s; there are%s",
                        *word ? word : "\"\"", lines.data);
}

/* The finding whose id this is, or begins so. NULL and 0 for an id that no finding has now: one may
 * be accepted that is not there. */
static int find(Cli *cli, const PnStatus *status, const char *word, const PnFinding **ret)
{
        const PnFinding *found = NULL;
        unsigned n = 0;

        for (unsigned i = 0; i < status->findings.n; i++)
                if (is_meant(&status->findings.v[i], word)) {
                        found = &status->findings.v[i];
                        n++;
                }
        if (n > 1) {
                _cleanup_buf_ PnBuf lines = {0};

                (void)list(status, is_meant, word, &lines);
                if (lines.error)
                        return cli_out_of_memory(cli);
                return cli_fail(cli, "AmbiguousId",
                                "%u findings begin with %s; which one is meant?%s", n, word,
                                lines.data);
        }
        if (!found && !is_id(word))
                return no_such_finding(cli, status, word);
        *ret = found;
        return 0;
}

/* ---- until when ---- */

/* A local time, of which the format says what is there; the rest is zero. */
static bool parse_local(const char *text, const char *format, int64_t *ret)
{
        struct tm tm = {.tm_isdst = -1}, back;
        const char *end = strptime(text, format, &tm);
        int day = tm.tm_mday, month = tm.tm_mon;
        time_t t;

        if (!end || *end)
                return false;
        t = mktime(&tm);
        /* The 31st of February is no date. */
        if (t == (time_t)-1 || !localtime_r(&t, &back) || back.tm_mday != day ||
            back.tm_mon != month)
                return false;
        *ret = t;
        return true;
}

/* "+30d": from now on. */
static bool parse_span(const char *text, int64_t now, int64_t *ret)
{
        int64_t n = 0, unit;

        if (*text != '+' || !isdigit((unsigned char)text[1]))
                return false;
        for (text++; isdigit((unsigned char)*text) && n < 1000000; text++)
                n = n * 10 + (*text - '0');
        unit = *text == 'h' ? PN_HOUR : *text == 'd' ? PN_DAY : *text == 'w' ? 7 * PN_DAY : 0;
        if (!unit || text[1])
                return false;
        *ret = now + n * unit;
        return true;
}

static int parse_until(Cli *cli, const char *text, PnWhen ret)
{
        int64_t now = (int64_t)time(NULL), moment, year_9999 = INT64_C(253402300799);

        /* A date alone begins where the reader is, not in Greenwich. */
        if (!parse_span(text, now, &moment) && !parse_local(text, "%Y-%m-%d", &moment) &&
            !parse_local(text, "%Y-%m-%d %H:%M", &moment) &&
            !parse_local(text, "%Y-%m-%d %H:%M:%S", &moment) && pn_when_parse(text, &moment) < 0)
                return cli_fail(cli, "Usage",
                                "--until=%s: not a date; write it as 2031-12-31, as \"2031-12-31 "
                                "18:00\", or as +30d, +2w or +12h from now on",
                                text);
        if (moment > year_9999)
                return cli_fail(cli, "Usage",
                                "--until=%s: that is too far away; without --until it is accepted "
                                "for good",
                                text);
        if (moment <= now)
                return cli_fail(cli, "Usage", "--until=%s: that is over already", text);
        (void)pn_when_format(ret, moment);
        return 0;
}

/* ---- the verbs ---- */

static bool is_lost(const PnFinding *finding)
{
        return pn_text_is(&finding->code, "nvme.lost") || pn_text_is(&finding->code, "disk.lost");
}

static void put_decision(Cli *cli, const PnFinding *finding, const char *id, bool accepted,
                         const char *until)
{
        const char *summary = finding ? pn_text(&finding->summary) : NULL;
        _cleanup_free_ char *made = NULL;
        _cleanup_buf_ PnBuf line = {0};
        Units time;

        if (cli->json != JSON_OFF) {
                _cleanup_buf_ PnBuf json = {0};

                pn_buf_puts(&json, "{\"id\":");
                pn_buf_json_string(&json, id);
                pn_buf_printf(&json, ",\"accepted\":%s,\"until\":", accepted ? "true" : "false");
                pn_buf_json_string(&json, until);
                pn_buf_puts(&json, ",\"reason\":");
                pn_buf_json_string(&json, accepted ? cli->reason : NULL);
                pn_buf_puts(&json, "}");
                cli_put_json_buffer(cli, &json);
                return;
        }
        pn_buf_printf(&line, "%s: %s",
                      !accepted                     ? _("Counts again")
                      : finding && is_lost(finding) ? _("Forgotten")
                                                    : _("Accepted"),
                      summary ? say_told(summary, &made) : id);
        if (line.error) {
                (void)cli_out_of_memory(cli);
                return;
        }
        term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_PLAIN, line.data);
        if (!accepted || (finding && is_lost(finding)) || cli->no_legend)
                return;
        line.len = 0;
        if (until)
                pn_buf_printf(&line,
                              _("It counts again from %s on, when it gets worse, and with: pnhwctl "
                                "unaccept %s"),
                              units_time(time, until), id);
        else
                pn_buf_printf(
                    &line, _("It counts again when it gets worse, and with: pnhwctl unaccept %s"),
                    id);
        if (line.error)
                (void)cli_out_of_memory(cli);
        else
                term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_DIM, line.data);
}

static int refused(Cli *cli, const PnReply *reply, const PnFinding *finding, const char *id,
                   bool accept)
{
        const char *error = source_short_error(reply), *verb = accept ? "accept" : "unaccept";

        if (strcmp(error, "PermissionDenied") == 0)
                return cli_fail(cli, error, "only root may do this: sudo pnhwctl %s %s", verb, id);
        if (strcmp(error, "NoSuchFinding") == 0 && !accept)
                return cli_fail(cli, error,
                                finding ? N_("%s is not accepted: it counts already")
                                        : N_("%s is not accepted, and no finding has this id now"),
                                id);
        if (strcmp(error, "NoSuchFinding") == 0)
                return cli_fail(cli, error, "there is no finding %s now; see pnhwctl findings", id);
        if (strcmp(error, "InvalidParameter") == 0 && cli->reason && strlen(cli->reason) > 1024)
                return cli_fail(cli, error, "--reason: 1024 bytes are the most, and this has %zu",
                                strlen(cli->reason));
        return source_refused(cli, reply);
}

static int decide(Cli *cli, const char *word, bool accept)
{
        _cleanup_(facts_done) Facts facts = {0};
        _cleanup_(pn_reply_done) PnReply reply = {0};
        _cleanup_buf_ PnBuf parameters = {0};
        const PnFinding *finding = NULL;
        const char *id;
        PnWhen until;
        int r;

        if (cli->from || cli->once)
                return cli_fail(cli, "Usage", "it is the daemon that remembers this: not with --%s",
                                cli->from ? "from" : "once");
        r = accept && cli->until ? parse_until(cli, cli->until, until) : 0;
        if (r == 0)
                r = source_facts(cli, WANT_STATUS, &facts);
        if (r == 0)
                r = find(cli, &facts.status, word, &finding);
        if (r)
                return r;
        id = finding ? finding->id.v : word;
        pn_buf_puts(&parameters, "{\"id\":");
        pn_buf_json_string(&parameters, id);
        if (accept && cli->reason) {
                pn_buf_puts(&parameters, ",\"reason\":");
                pn_buf_json_string(&parameters, cli->reason);
        }
        if (accept && cli->until) {
                pn_buf_puts(&parameters, ",\"until\":");
                pn_buf_json_string(&parameters, until);
        }
        pn_buf_puts(&parameters, "}");
        if (parameters.error)
                return cli_out_of_memory(cli);
        r = source_ask(cli, accept ? "io.pnhw.Hardware.Accept" : "io.pnhw.Hardware.Unaccept",
                       parameters.data, &reply);
        if (r)
                return r;
        if (reply.error)
                return refused(cli, &reply, finding, id, accept);
        put_decision(cli, finding, id, accept, accept && cli->until ? until : NULL);
        return 0;
}

int cmd_accept(Cli *cli, const char *id)
{
        return decide(cli, id, true);
}

int cmd_unaccept(Cli *cli, const char *id)
{
        return decide(cli, id, false);
}
