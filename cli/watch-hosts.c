/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Follows the daemons of other machines: ssh runs `pnhwctl facts watch` on each, which hands on
 * what the daemon there tells. A host that is away is asked again; its last status stays, and is
 * said to be old. No host waits for another. Knows no finding. */

#include "watch-hosts.h"

#include <fcntl.h>
#include <json-c/json.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <time.h>

#include "changes.h"
#include "facts.h"
#include "remote-ask.h"
#include "remote.h"
#include "say.h"
#include "screen.h"
#include "status.h"
#include "units.h"
#include "view.h"

/* Connections that stay are not free, for either end. */
#define HOSTS_MAX 64u

/* Between two attempts to reach a host. */
#define RETRY_FIRST_MS 1000
#define RETRY_MAX_MS   30000

typedef struct Station {
        Host *host;
        int64_t deadline; /* CLOCK_MONOTONIC, ms: of the first answer, or of the next attempt */
        int retry_ms;
        bool has_answered; /* on this connection */
        bool was_tried;    /* an attempt has ended, well or not */
        char *lost;        /* why it is away */
        Units since;
        Changes changes;
        Facts facts; /* its last status */
} Station;

typedef struct Watch {
        Cli *cli;
        int signals;
        Hosts hosts;
        Station *stations; /* as many */
        Screen *screen;
        bool enough, is_old; /* `is_old`: the page has to be drawn */
} Watch;

static int64_t now_ms(void)
{
        struct timespec ts;

        (void)clock_gettime(CLOCK_MONOTONIC, &ts);
        return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static bool is_asked(const Station *station)
{
        return station->host->progress == ASKED;
}

/* ---- the page ---- */

/* The finding's first line; what to do about it, --host status says. */
static void put_finding(Cli *cli, const PnFinding *finding)
{
        Mark mark = view_severity(&finding->severity);
        const char *summary = pn_text(&finding->summary);
        _cleanup_free_ char *made = NULL;

        pn_buf_puts(&cli->page, "  ");
        term_put_styled(&cli->term, &cli->page, view_mark_style(mark), view_mark(mark));
        pn_buf_puts(&cli->page, " ");
        term_put_wrapped(&cli->term, &cli->page, 4, 4, STYLE_PLAIN,
                         summary ? say_told(summary, &made) : finding->code.v);
}

static void put_lost(Cli *cli, const Station *station)
{
        _cleanup_free_ char *line = NULL;
        int r = station->changes.is_known
                    ? asprintf(&line, _("Away since %s (%s); this is what it said last."),
                               station->since, station->lost)
                    : asprintf(&line, _("Not reached yet: %s"), station->lost);

        if (r < 0) {
                line = NULL;
                cli->page.error = -ENOMEM;
                return;
        }
        pn_buf_puts(&cli->page, "  ");
        term_put_wrapped(&cli->term, &cli->page, 2, 2, STYLE_WARNING, line);
}

/* One of several: its verdict, and what is wrong. */
static void put_station(Cli *cli, const Station *station)
{
        const PnStatus *status = &station->facts.status;
        unsigned width = station->changes.host_width;
        const char *name = station->host->name;
        _cleanup_free_ char *made = NULL;

        term_put_styled(&cli->term, &cli->page, STYLE_BOLD, name);
        pn_buf_printf(&cli->page, "%*s  ", (int)(width > strlen(name) ? width - strlen(name) : 0),
                      "");
        term_put_wrapped(&cli->term, &cli->page, width + 2, 2,
                         station->changes.is_known ? STYLE_PLAIN : STYLE_DIM,
                         station->changes.is_known ? say_told(status->summary.v, &made)
                         : station->lost           ? "?"
                                                   : _("is asked"));
        if (station->lost)
                put_lost(cli, station);
        for (unsigned i = 0; i < status->findings.n; i++) {
                const PnFinding *finding = &status->findings.v[i];

                if (!pn_is_true(finding->accepted) &&
                    (cli->all || view_severity(&finding->severity) > MARK_UNJUDGED))
                        put_finding(cli, finding);
        }
}

static int draw(Watch *watch)
{
        Cli *cli = watch->cli;
        unsigned away = 0;
        char footer[160];
        int r = 0;

        watch->is_old = false;
        if (!watch->screen)
                return 0;
        for (unsigned i = 0; i < watch->hosts.n && r == 0; i++) {
                Station *station = &watch->stations[i];

                away += station->lost != NULL;
                if (watch->hosts.n > 1 || !station->changes.is_known) {
                        put_station(cli, station);
                } else {
                        Remote remote = {.host = station->host->name};

                        if (station->lost)
                                put_lost(cli, station);
                        cli->remote = &remote;
                        r = status_put_page(cli, &station->facts);
                        cli->remote = NULL;
                }
        }
        if (away)
                (void)snprintf(footer, sizeof footer,
                               say_n("%u host is away and is asked again. q ends this.",
                                     "%u hosts are away and are asked again. q ends this.", away),
                               away);
        else
                (void)snprintf(footer, sizeof footer, "%s",
                               _("This page is drawn anew when something changes. q ends it."));
        if (r == 0)
                r = cli->page.error ? cli->page.error
                                    : screen_draw(&cli->term, &cli->page, footer,
                                                  away ? STYLE_WARNING : STYLE_DIM);
        pn_buf_done(&cli->page);
        return r;
}

/* ---- hosts ---- */

static void ask(Watch *watch, Station *station)
{
        Host *host = station->host;

        pn_buf_done(&host->answer);
        pn_buf_done(&host->complaints);
        host->status = -1;
        host->error = 0;
        remote_start(&watch->hosts, host);
        if (is_asked(station))
                (void)fcntl(host->out, F_SETFL, O_NONBLOCK);
        station->has_answered = false;
        station->deadline = now_ms() + watch->hosts.patience_ms;
}

/* Says something of a host on standard error. */
static int note(Watch *watch, const Station *station, const char *format, const char *why)
{
        _cleanup_free_ char *words = NULL, *line = NULL;

        if (watch->screen)
                return 0;
        if (asprintf(&words, say(format), why) < 0) {
                words = NULL;
                return -ENOMEM;
        }
        if (asprintf(&line, "%s: %s", station->host->name, words) < 0) {
                line = NULL;
                return -ENOMEM;
        }
        cli_note(watch->cli, line);
        return 0;
}

/* Takes note that a host is away. `why` NULL: as its ssh says. */
static int lose(Watch *watch, Station *station, Progress progress, const char *why)
{
        _cleanup_free_ char *sentence = NULL, *made = NULL;
        const char *error;
        int r;

        if (is_asked(station))
                remote_finish(station->host, progress);
        if (!why) {
                r = remote_explain(&watch->hosts, station->host, &error, &sentence);
                if (r < 0)
                        return r;
                why = r > 0 ? sentence : _("the connection ended");
        }
        why = say_complaint(why, &made);
        station->was_tried = true;
        station->deadline = now_ms() + station->retry_ms;
        station->retry_ms =
            station->retry_ms * 2 > RETRY_MAX_MS ? RETRY_MAX_MS : station->retry_ms * 2;
        watch->is_old = true;
        r = 0;
        if (!station->lost) {
                (void)changes_time(station->since);
                r = note(watch, station, N_("is away (%s); trying again until it is back"), why);
        } else if (strcmp(station->lost, why) != 0) {
                r = note(watch, station, N_("is still away (%s)"), why);
        } else {
                return 0;
        }
        free(station->lost);
        station->lost = strdup(why);
        return station->lost ? r : -ENOMEM;
}

static int take_status(Watch *watch, Station *station, struct json_object *json)
{
        _cleanup_free_ char *sentence = NULL;
        bool was_known = station->changes.is_known;
        PnStatus status = {0};
        int r =
            pn_read_json(pn_type_Status(), json, PN_JSON_ALLOW_UNKNOWN, &status, &sentence, NULL);

        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return lose(watch, station, TOO_MUCH,
                            sentence ? sentence : _("its answer makes no sense"));
        if (station->lost) {
                free(PN_STEAL(station->lost));
                r = note(watch, station, was_known ? N_("is back") : N_("is there"), "");
        }
        station->has_answered = station->was_tried = true;
        station->retry_ms = RETRY_FIRST_MS;
        if (!was_known)
                changes_begin(watch->cli, &station->changes, &status);
        if (r >= 0)
                r = changes_take(watch->cli, &station->changes, &status);
        pn_done(pn_type_Status(), &station->facts.status);
        station->facts.status = status;
        watch->is_old = true;
        return r;
}

/* A line: a status, or why there is none. */
static int take_line(Watch *watch, Station *station, const char *line, size_t n)
{
        _cleanup_free_ char *sentence = NULL;
        struct json_object *json = NULL, *value = NULL;
        int r = pn_parse_json(line, n, &json, &sentence);

        if (r == -ENOMEM)
                return r;
        if (r < 0 || !json_object_is_type(json, json_type_object)) {
                r = lose(watch, station, TOO_MUCH, _("its answer makes no sense"));
        } else if (json_object_object_get_ex(json, "status", &value)) {
                r = take_status(watch, station, value);
        } else if (json_object_object_get_ex(json, "error", &value) &&
                   pn_streq(json_object_get_string(value), "Usage")) {
                r = lose(watch, station, NOT_WAITED_FOR,
                         _("its pnhwctl does not know the question; is it older than this one?"));
        } else {
                const char *error = json_object_get_string(value);
                bool passes = pn_streq(error, "NotReady") || pn_streq(error, "Busy");
                const char *why = json_object_object_get_ex(json, "message", &value)
                                      ? json_object_get_string(value)
                                      : NULL;
                _cleanup_free_ char *first = why ? strndup(why, strcspn(why, "\n")) : NULL;

                r = lose(watch, station, NOT_WAITED_FOR,
                         first ? first : _("its answer makes no sense"));
                if (passes)
                        station->was_tried = false;
        }
        json_object_put(json);
        return r;
}

/* Takes the lines that are whole. */
static int take_lines(Watch *watch, Station *station)
{
        PnBuf *answer = &station->host->answer;
        size_t done = 0;
        int r = answer->error;

        while (r >= 0 && is_asked(station) && done < answer->len) {
                const char *line = answer->data + done;
                const char *newline = memchr(line, '\n', answer->len - done);

                if (!newline)
                        break;
                r = take_line(watch, station, line, (size_t)(newline - line));
                done = (size_t)(newline + 1 - answer->data);
        }
        if (r >= 0 && is_asked(station) && done) {
                memmove(answer->data, answer->data + done, answer->len - done);
                answer->len -= done;
        }
        return r;
}

static int listen_to(Watch *watch, Station *station)
{
        bool too_much = false;
        bool more = remote_take_answer(station->host, HOST_ANSWER_MAX, &too_much);
        int r;

        if (too_much)
                return lose(watch, station, TOO_MUCH, NULL);
        r = take_lines(watch, station);
        if (r >= 0 && !more && is_asked(station)) {
                /* What is left is no answer. */
                station->host->answer.len = 0;
                r = lose(watch, station, ANSWERED, NULL);
        }
        return r;
}

/* ---- the loop ---- */

static int take_signal(Watch *watch)
{
        struct signalfd_siginfo info;

        if (read(watch->signals, &info, sizeof info) != (ssize_t)sizeof info)
                return 0;
        switch (info.ssi_signo) {
        case SIGCHLD:
                return 0;
        case SIGWINCH:
                term_init(&watch->cli->term);
                watch->is_old = true;
                return 0;
        case SIGTSTP:
                screen_leave(PN_STEAL(watch->screen));
                (void)raise(SIGSTOP);
                if (watch->stations[0].changes.form != FORM_PAGE)
                        return 0;
                watch->screen = screen_enter();
                term_init(&watch->cli->term);
                watch->is_old = true;
                return watch->screen ? 0 : -ENOMEM;
        default:
                watch->enough = true;
                return 0;
        }
}

/* What is due: a first answer that did not come, another attempt. */
static int take_time(Watch *watch)
{
        int64_t now = now_ms();
        int r = 0;

        for (unsigned i = 0; i < watch->hosts.n && r >= 0; i++) {
                Station *station = &watch->stations[i];

                if (is_asked(station) && !station->has_answered && now >= station->deadline) {
                        r = lose(watch, station, TOO_LATE, NULL);
                } else if (!is_asked(station) && now >= station->deadline) {
                        ask(watch, station);
                        if (!is_asked(station))
                                r = lose(watch, station, NO_SSH, NULL);
                }
        }
        return r;
}

static int time_left(const Watch *watch)
{
        int64_t now = now_ms(), left = -1;

        for (unsigned i = 0; i < watch->hosts.n; i++) {
                const Station *station = &watch->stations[i];
                int64_t its = station->deadline > now ? station->deadline - now : 0;

                if (is_asked(station) && station->has_answered)
                        continue;
                left = left < 0 || its < left ? its : left;
        }
        return (int)left;
}

/* Whether every host was tried and none was ever there: then it is a mistake. */
static bool is_hopeless(const Watch *watch)
{
        for (unsigned i = 0; i < watch->hosts.n; i++)
                if (!watch->stations[i].was_tried || watch->stations[i].changes.is_known)
                        return false;
        return true;
}

static int step(Watch *watch)
{
        struct pollfd fds[3 + 2 * HOSTS_MAX] = {
            {watch->signals, POLLIN, 0},
            {watch->screen ? screen_keys(watch->screen) : -1, POLLIN, 0},
            {STDOUT_FILENO, 0, 0}, /* only whether somebody still reads it */
        };
        int r;

        for (unsigned i = 0; i < watch->hosts.n; i++) {
                const Station *station = &watch->stations[i];

                fds[3 + 2 * i] =
                    (struct pollfd){is_asked(station) ? station->host->out : -1, POLLIN, 0};
                fds[4 + 2 * i] =
                    (struct pollfd){is_asked(station) ? station->host->complaint : -1, POLLIN, 0};
        }
        if (poll(fds, 3 + 2 * watch->hosts.n, time_left(watch)) < 0)
                return errno == EINTR ? 0 : -errno;
        r = fds[0].revents ? take_signal(watch) : 0;
        for (unsigned i = 0; i < watch->hosts.n && r >= 0; i++) {
                Station *station = &watch->stations[i];

                if (fds[4 + 2 * i].revents && is_asked(station))
                        remote_take_complaints(station->host);
                if (fds[3 + 2 * i].revents && is_asked(station))
                        r = listen_to(watch, station);
        }
        if (r >= 0)
                r = take_time(watch);
        if (fds[1].revents && watch->screen && screen_is_enough(watch->screen))
                watch->enough = true;
        if (fds[2].revents & (POLLERR | POLLHUP | POLLNVAL))
                watch->enough = true;
        return r >= 0 && watch->is_old && !watch->enough ? draw(watch) : r;
}

static void watch_done(Watch *watch)
{
        screen_leave(watch->screen);
        for (unsigned i = 0; watch->stations && i < watch->hosts.n; i++) {
                Station *station = &watch->stations[i];

                if (is_asked(station))
                        remote_finish(station->host, NOT_WAITED_FOR);
                free(station->lost);
                changes_done(&station->changes);
                facts_done(&station->facts);
        }
        free(watch->stations);
        remote_hosts_done(&watch->hosts);
        pn_close(watch->signals);
}

static int set_up(Watch *watch, Form form)
{
        unsigned width = 0;

        watch->stations = calloc(watch->hosts.n, sizeof *watch->stations);
        if (!watch->stations)
                return -ENOMEM;
        for (unsigned i = 0; i < watch->hosts.n; i++) {
                unsigned columns = (unsigned)strlen(watch->hosts.v[i].name);

                width = columns > width ? columns : width;
        }
        for (unsigned i = 0; i < watch->hosts.n; i++)
                watch->stations[i] = (Station){
                    .host = &watch->hosts.v[i],
                    .retry_ms = RETRY_FIRST_MS,
                    .changes = {.form = form, .host = watch->hosts.v[i].name, .host_width = width},
                    .facts = {.origin = ORIGIN_DAEMON},
                };
        return 0;
}

int watch_hosts(Cli *cli)
{
        _cleanup_(watch_done) Watch watch = {.cli = cli, .signals = -1};
        Form form = cli->json != JSON_OFF         ? FORM_JSON
                    : screen_possible(&cli->term) ? FORM_PAGE
                                                  : FORM_LINES;
        sigset_t mask;
        int r = remote_hosts(cli, FACTS_WATCH, NULL, &watch.hosts);

        if (r)
                return r;
        if (watch.hosts.n > HOSTS_MAX)
                return cli_fail(cli, "Usage", "watch: more than %u hosts", HOSTS_MAX);
        /* One line a document, also on a terminal. */
        if (form == FORM_JSON)
                cli->json = JSON_SHORT;
        r = set_up(&watch, form);
        if (r >= 0)
                r = screen_take_signals(&watch.signals, &mask);
        watch.hosts.mask = &mask;
        watch.hosts.stays = true;
        if (r >= 0 && form == FORM_PAGE) {
                watch.screen = screen_enter();
                r = watch.screen ? draw(&watch) : -ENOMEM;
        }
        while (r >= 0 && !watch.enough && !is_hopeless(&watch))
                r = step(&watch);
        screen_leave(PN_STEAL(watch.screen));
        if (r == -ENOMEM)
                return cli_out_of_memory(cli);
        if (r < 0 && r != -EPIPE && r != -EIO)
                return cli_fail(cli, "IO", "cannot go on: %s", say_error(-r));
        if (watch.enough)
                return 0;
        if (form == FORM_PAGE)
                for (unsigned i = 0; i < watch.hosts.n && r >= 0; i++)
                        r = note(&watch, &watch.stations[i], "%s", watch.stations[i].lost);
        return r < 0 ? 0 : cli_fail(cli, "NoConnection", "none of the hosts can be watched");
}
