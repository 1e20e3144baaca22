/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Follows the daemon: a page that is drawn at each change, a line for each change, or a program
 * that is run for each alert. Asks nothing twice: the daemon tells when something changes.
 *
 * Findings and alerts are two things. A finding is of one reading, and may be gone with the next;
 * an alert is what the journal was told, begins once and ends once. Pages and lines are about
 * findings, the program is run for alerts. Both are held against what was known before, never
 * counted, so that nothing is told twice and nothing is lost while the daemon is away. */

#include <json-c/json.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <time.h>

#include "assess.h"
#include "changes.h"
#include "exec.h"
#include "say.h"
#include "screen.h"
#include "status.h"
#include "units.h"
#include "view.h"
#include "watch-hosts.h"

/* How long taking the call, or the rest of an answer, may take; and the first answer, for which a
 * daemon that just started reads the hardware. */
#define TALK_MS  5000
#define FIRST_MS 30000

/* Between two attempts to reach a daemon that went away. */
#define RETRY_FIRST_MS 200
#define RETRY_MAX_MS   5000

typedef struct Watch {
        Cli *cli;
        int signals;
        PnClient *client;  /* NULL while the daemon is away */
        PnClient *asker;   /* of alerts, of the same daemon; NULL without a program */
        bool has_answered; /* on this connection */
        bool is_too_old;   /* the daemon that is connected cannot tell of alerts */
        int64_t deadline;  /* CLOCK_MONOTONIC, ms: of its first answer, or of the next attempt */
        int retry_ms;
        char *lost;        /* why the daemon is away, if it once was there */
        Units since;       /* when it went */
        bool is_known;     /* it answered at least once */
        Facts facts;       /* its last status */
        Changes changes;   /* what it has told of findings */
        Findings alerts;   /* what the journal was told, and what nobody can tell the end of */
        bool knows_alerts; /* it told of alerts at least once */
        Screen *screen;
        Runner *runner;
        bool enough;
} Watch;

static int64_t now_ms(void)
{
        struct timespec ts;

        (void)clock_gettime(CLOCK_MONOTONIC, &ts);
        return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* An alert is over when the daemon says so; but one that lost its memory has not heard of it yet.
 */
static bool is_over(const PnStatus *status, const PnFinding *alert)
{
        const PnFinding *finding = findings_find(status->findings.n, status->findings.v, alert);

        return changes_can_tell(status, alert) &&
               (!finding || pn_severity_rank(pn_text(&finding->severity)) < 1);
}

/* ---- what is shown ---- */

static int draw(Watch *watch)
{
        Cli *cli = watch->cli;
        _cleanup_buf_ PnBuf footer = {0};
        Style style = STYLE_DIM;
        int r = 0;

        if (watch->is_known)
                r = status_put_page(cli, &watch->facts);
        else
                pn_buf_puts(&cli->page, _("Waiting for what pnhwd says.\n"));
        if (r == 0 && cli->page.error)
                r = cli->page.error;
        if (watch->lost) {
                style = STYLE_WARNING;
                pn_buf_printf(&footer, _("pnhwd is away since %s, and this is what it said last."),
                              watch->since);
        } else {
                pn_buf_puts(&footer,
                            _("This page is drawn anew when something changes. q ends it."));
        }
        if (r == 0)
                r = footer.error ? footer.error
                                 : screen_draw(&cli->term, &cli->page, footer.data, style);
        pn_buf_done(&cli->page);
        return r;
}

/* ---- what an answer changes ---- */

/* Whether the program is to be run again for an alert that goes on. */
static bool is_news(const PnFinding *before, const PnFinding *now)
{
        return !pn_streq(pn_text(&before->severity), pn_text(&now->severity)) ||
               (pn_is_true(before->accepted) && !pn_is_true(now->accepted));
}

/* Compares the alerts with those that the program was run for, and has it run for each that is new,
 * told to be worse or better, counts again, or is over. Those that stand when it begins were there
 * before. */
static int take_alerts(Watch *watch, const PnStatus *status, unsigned n, const PnFinding *alerts)
{
        Findings next = {0};
        int r = 0;

        for (unsigned i = 0; i < n && r >= 0; i++) {
                const PnFinding *before =
                    findings_find(watch->alerts.n, watch->alerts.v, &alerts[i]);

                if (before ? is_news(before, &alerts[i]) : watch->knows_alerts)
                        r = runner_add(watch->runner, &alerts[i], before ? "changed" : "raised");
                if (r >= 0)
                        r = findings_append(&next, &alerts[i]);
        }
        for (unsigned i = 0; i < watch->alerts.n && r >= 0; i++) {
                const PnFinding *before = &watch->alerts.v[i];

                if (findings_find(n, alerts, before))
                        continue;
                r = is_over(status, before) ? runner_add(watch->runner, before, "cleared")
                                            : findings_append(&next, before);
        }
        findings_done(&watch->alerts);
        watch->alerts = next;
        watch->knows_alerts = true;
        return r;
}

static void say_standing(Watch *watch, unsigned n_alerts)
{
        char line[256];

        if (n_alerts == 0)
                return;
        (void)snprintf(
            line, sizeof line,
            say_n("%u alert was told before this began: the program is run for what comes",
                  "%u alerts were told before this began: the program is run for what "
                  "comes",
                  n_alerts),
            n_alerts);
        cli_note(watch->cli, line);
}

static void keep_status(Watch *watch, PnStatus *status)
{
        pn_done(pn_type_Status(), &watch->facts.status);
        watch->facts.status = *status;
        *status = (PnStatus){0};
        watch->is_known = true;
}

static void subscription_done(PnSubscribeOut *out)
{
        pn_done(pn_type_SubscribeOut(), out);
}

static void alerts_done(PnListAlertsOut *out)
{
        pn_done(pn_type_ListAlertsOut(), out);
}

/* Asks what the journal was told; of a daemon that is too old to tell, once. 0; -ENOMEM; or
 * -ECONNRESET, with a sentence unless memory is short, after which the daemon counts as away. */
static int ask_alerts(Watch *watch, PnListAlertsOut *ret, char **ret_error)
{
        _cleanup_(pn_reply_done) PnReply reply = {0};
        int r;

        if (watch->is_too_old)
                return 0;
        r = pn_client_call(watch->asker, "io.pnhw.Hardware.ListAlerts", NULL, false, &reply,
                           ret_error);
        if (r >= 0 && reply.error && strcmp(source_short_error(&reply), "MethodNotFound") == 0) {
                watch->is_too_old = true;
                return 0;
        }
        if (r >= 0 && reply.error) {
                *ret_error = pn_reply_describe_error(&reply);
                return *ret_error ? -ECONNRESET : -ENOMEM;
        }
        if (r >= 0)
                r = pn_read_json(pn_type_ListAlertsOut(), reply.parameters, PN_JSON_ALLOW_UNKNOWN,
                                 ret, ret_error, NULL);
        return r >= 0 || r == -ENOMEM ? r : -ECONNRESET;
}

/* 0; -EBADMSG with a sentence if it makes no sense; -ECONNRESET with one if the daemon does not
 * tell of its alerts, and then nothing of the answer was taken; or another negative errno. */
static int take_answer(Watch *watch, const PnReply *reply, char **ret_error)
{
        _cleanup_(subscription_done) PnSubscribeOut out = {0};
        _cleanup_(alerts_done) PnListAlertsOut told = {0};
        bool was_too_old = watch->is_too_old;
        int r = pn_read_json(pn_type_SubscribeOut(), reply->parameters, PN_JSON_ALLOW_UNKNOWN, &out,
                             ret_error, NULL);

        if (r < 0)
                return r == -ENOMEM ? r : -EBADMSG;
        /* They are at least as new as the status: what changed since comes with the next one. */
        if (watch->runner)
                r = ask_alerts(watch, &told, ret_error);
        if (r < 0)
                return r;
        if (watch->lost && watch->changes.form != FORM_PAGE)
                cli_note(watch->cli, _("pnhwd is back"));
        free(PN_STEAL(watch->lost));
        watch->has_answered = true;
        watch->retry_ms = RETRY_FIRST_MS;
        if (!watch->is_known)
                changes_begin(watch->cli, &watch->changes, out.status.v);
        if (watch->is_too_old && !was_too_old)
                cli_note(watch->cli, _("pnhwd is too old for --exec: it has no ListAlerts, and the "
                                       "program is not run"));
        if (watch->runner && !watch->is_too_old && !watch->knows_alerts)
                say_standing(watch, told.alerts.n);
        r = changes_take(watch->cli, &watch->changes, out.status.v);
        if (r >= 0 && watch->runner && !watch->is_too_old)
                r = take_alerts(watch, out.status.v, told.alerts.n, told.alerts.v);
        if (r >= 0)
                keep_status(watch, out.status.v);
        return r;
}

/* ---- the daemon ---- */

/* 0 or what lib/client.h has. The one that is asked connects first: if the daemon is another one by
 * the time that it answers the other, it is not asked but found to be gone. */
static int subscribe(Watch *watch, char **ret_error)
{
        int r = 0;

        if (watch->runner)
                r = pn_client_connect(watch->cli->socket, TALK_MS, &watch->asker, ret_error);
        if (r >= 0)
                r = pn_client_connect(watch->cli->socket, TALK_MS, &watch->client, ret_error);
        if (r >= 0)
                r = pn_client_send(watch->client, "io.pnhw.Hardware.Subscribe", NULL, true,
                                   ret_error);
        watch->has_answered = watch->is_too_old = false;
        watch->deadline = now_ms() + FIRST_MS;
        return r;
}

/* Takes note that the daemon is away. */
static int lose(Watch *watch, const char *why)
{
        _cleanup_free_ char *made = NULL;

        why = say_complaint(why, &made);
        pn_client_free(PN_STEAL(watch->client));
        pn_client_free(PN_STEAL(watch->asker));
        watch->deadline = now_ms() + watch->retry_ms;
        watch->retry_ms = watch->retry_ms * 2 > RETRY_MAX_MS ? RETRY_MAX_MS : watch->retry_ms * 2;
        if (watch->lost)
                return 0;
        watch->lost = strdup(why);
        if (!watch->lost)
                return -ENOMEM;
        (void)changes_time(watch->since);
        if (watch->changes.form != FORM_PAGE) {
                _cleanup_free_ char *line = NULL;

                if (asprintf(&line, _("pnhwd is away (%s); trying again until it is back"), why) <
                    0) {
                        line = NULL;
                        return -ENOMEM;
                }
                cli_note(watch->cli, line);
        }
        return 0;
}

static int reconnect(Watch *watch)
{
        _cleanup_free_ char *sentence = NULL;
        int r = subscribe(watch, &sentence);

        if (r >= 0 || r == -ENOMEM)
                return r;
        return lose(watch, sentence ? sentence : say_error(-r));
}

/* What is said after this stays on the terminal. */
static void leave_screen(Watch *watch)
{
        screen_leave(PN_STEAL(watch->screen));
}

/* What can be read from the daemon. `ret_code`, once it is not -1, is the exit code. */
static int listen_to(Watch *watch, int *ret_code)
{
        do {
                _cleanup_(pn_reply_done) PnReply reply = {0};
                _cleanup_free_ char *sentence = NULL;
                int r = pn_client_next(watch->client, &reply, &sentence);

                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        return lose(watch, r == -ECONNRESET ? _("it closed the connection")
                                           : sentence       ? sentence
                                                            : say_error(-r));
                if (reply.error) {
                        const char *error = source_short_error(&reply);

                        /* These pass; another one comes back each time. */
                        if (!watch->is_known && strcmp(error, "NotReady") != 0 &&
                            strcmp(error, "Busy") != 0) {
                                leave_screen(watch);
                                *ret_code = source_refused(watch->cli, &reply);
                                return 0;
                        }
                        sentence = pn_reply_describe_error(&reply);
                        return sentence ? lose(watch, sentence) : -ENOMEM;
                }
                r = take_answer(watch, &reply, &sentence);
                if (r == -ECONNRESET || (r == -EBADMSG && watch->is_known))
                        return lose(watch, sentence ? sentence : _("its answer makes no sense"));
                if (r == -EBADMSG) {
                        leave_screen(watch);
                        *ret_code = source_cannot_ask(watch->cli, r, sentence);
                        return 0;
                }
                if (r < 0)
                        return r;
        } while (pn_client_pending(watch->client));
        return watch->screen ? draw(watch) : 0;
}

/* ---- the loop ---- */

static int stop_for_a_while(Watch *watch)
{
        leave_screen(watch);
        (void)raise(SIGSTOP);
        watch->screen = screen_enter();
        if (!watch->screen)
                return -ENOMEM;
        term_init(&watch->cli->term);
        return draw(watch);
}

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
                return watch->screen ? draw(watch) : 0;
        case SIGTSTP:
                if (watch->screen)
                        return stop_for_a_while(watch);
                (void)raise(SIGSTOP);
                return 0;
        default:
                watch->enough = true;
                return 0;
        }
}

static int time_left(const Watch *watch)
{
        int wait = watch->runner ? runner_wait_ms(watch->runner) : -1;

        if (!watch->client || !watch->has_answered) {
                int64_t left = watch->deadline - now_ms();

                left = left < 0 ? 0 : left;
                if (wait < 0 || left < wait)
                        wait = (int)left;
        }
        return wait;
}

static int take_time(Watch *watch)
{
        if (now_ms() < watch->deadline)
                return 0;
        if (watch->client && !watch->has_answered) {
                int r = lose(watch, _("it gave no answer"));

                return r < 0 || !watch->screen ? r : draw(watch);
        }
        return watch->client ? 0 : reconnect(watch);
}

static int loop(Watch *watch, int *ret_code)
{
        while (!watch->enough && *ret_code < 0) {
                /* Of standard output only whether somebody still reads it. */
                struct pollfd fds[] = {
                    {watch->signals, POLLIN, 0},
                    {watch->client ? pn_client_fd(watch->client) : -1, POLLIN, 0},
                    {watch->screen ? screen_keys(watch->screen) : -1, POLLIN, 0},
                    {STDOUT_FILENO, 0, 0},
                };
                bool was_there = watch->client;
                int r = poll(fds, PN_ELEMENTS(fds), time_left(watch));

                if (r < 0 && errno != EINTR)
                        return -errno;
                if (r < 0)
                        continue;
                r = fds[0].revents ? take_signal(watch) : 0;
                if (r >= 0 && fds[1].revents)
                        r = listen_to(watch, ret_code);
                if (r >= 0)
                        r = take_time(watch);
                if (r >= 0 && was_there && !watch->client && watch->screen)
                        r = draw(watch);
                if (r < 0)
                        return r;
                if (fds[2].revents && watch->screen && screen_is_enough(watch->screen))
                        watch->enough = true;
                if (fds[3].revents & (POLLERR | POLLHUP | POLLNVAL))
                        watch->enough = true;
                if (watch->runner)
                        runner_step(watch->runner);
        }
        return 0;
}

static void watch_done(Watch *watch)
{
        screen_leave(watch->screen);
        runner_free(watch->runner);
        pn_client_free(watch->client);
        pn_client_free(watch->asker);
        facts_done(&watch->facts);
        changes_done(&watch->changes);
        findings_done(&watch->alerts);
        free(watch->lost);
        pn_close(watch->signals);
}

int cmd_watch(Cli *cli, _unused_ const char *argument)
{
        _cleanup_(watch_done) Watch watch = {.cli = cli, .signals = -1, .retry_ms = RETRY_FIRST_MS};
        _cleanup_free_ char *sentence = NULL;
        int code = -1, r;
        sigset_t mask;

        if (cli->from || cli->once)
                return cli_fail(cli, "Usage", "it is the daemon that is watched: not with --%s",
                                cli->from ? "from" : "once");
        if (cli->hosts && cli->exec)
                return cli_fail(cli, "Usage",
                                "--exec is for the alerts of one machine: run watch there");
        if (cli->hosts)
                return watch_hosts(cli);
        watch.changes.form = cli->json != JSON_OFF                       ? FORM_JSON
                             : screen_possible(&cli->term) && !cli->exec ? FORM_PAGE
                                                                         : FORM_LINES;
        /* One line a document, also on a terminal. */
        if (watch.changes.form == FORM_JSON)
                cli->json = JSON_SHORT;
        r = screen_take_signals(&watch.signals, &mask);
        if (r < 0)
                return cli_fail(cli, "IO", "cannot wait for signals: %s", say_error(-r));
        if (cli->exec) {
                code = runner_new(cli, cli->exec, &mask, &watch.runner);
                if (code)
                        return code;
                code = -1;
        }
        r = subscribe(&watch, &sentence);
        if (r < 0)
                return source_cannot_ask(cli, r, sentence);
        if (watch.changes.form == FORM_PAGE) {
                watch.screen = screen_enter();
                r = watch.screen ? draw(&watch) : -ENOMEM;
        }
        if (r >= 0)
                r = loop(&watch, &code);
        leave_screen(&watch);
        if (r == -ENOMEM)
                return cli_out_of_memory(cli);
        if (r < 0 && r != -EPIPE && r != -EIO)
                return cli_fail(cli, "IO", "cannot go on: %s", say_error(-r));
        return code < 0 ? 0 : code;
}
