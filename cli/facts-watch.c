/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The other end of `pnhwctl --host watch`: hands on each status that the daemon tells of. Ends with
 * the daemon's connection, and when nobody reads any more: whoever asked comes again. Knows no
 * hosts. */

#include <json-c/json.h>
#include <poll.h>
#include <time.h>

#include "facts.h"
#include "say.h"
#include "source.h"

/* As for `watch`: the call; and the first answer of a daemon that just started. */
#define TALK_MS  5000
#define FIRST_MS 30000

static int64_t now_ms(void)
{
        struct timespec ts;

        (void)clock_gettime(CLOCK_MONOTONIC, &ts);
        return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Writes {"status":…} on a line. */
static int hand_on(Cli *cli, const PnReply *reply)
{
        struct json_object *status = json_object_object_get(reply->parameters, "status");
        const char *text = json_object_to_json_string_ext(
            status, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
        _cleanup_buf_ PnBuf line = {0};

        pn_buf_puts(&line, "{\"status\":");
        pn_buf_puts(&line, text ? text : "null");
        pn_buf_puts(&line, "}");
        cli_put_json_buffer(cli, &line);
        return cli_flush(cli);
}

/* 0; 1 with an exit code, after having said why; or a negative errno. */
static int take_answers(Cli *cli, PnClient *client, int *ret_code)
{
        do {
                _cleanup_(pn_reply_done) PnReply reply = {0};
                _cleanup_free_ char *sentence = NULL;
                int r = pn_client_next(client, &reply, &sentence);

                if (r < 0 || reply.error) {
                        *ret_code = r == -ECONNRESET ? cli_fail(cli, "ConnectionLost", "%s",
                                                                _("pnhwd closed the connection"))
                                    : r < 0          ? source_cannot_ask(cli, r, sentence)
                                                     : source_refused(cli, &reply);
                        return 1;
                }
                r = hand_on(cli, &reply);
                if (r < 0)
                        return r;
        } while (pn_client_pending(client));
        return 0;
}

int facts_watch(Cli *cli)
{
        _cleanup_(pn_client_freep) PnClient *client = NULL;
        _cleanup_free_ char *sentence = NULL;
        int64_t deadline = now_ms() + FIRST_MS;
        bool has_answered = false;
        int code = 0, r;

        if (cli->from || cli->once)
                return cli_fail(cli, "Usage", "it is the daemon that is watched: not with --%s",
                                cli->from ? "from" : "once");
        r = pn_client_connect(cli->socket, TALK_MS, &client, &sentence);
        if (r >= 0)
                r = pn_client_send(client, "io.pnhw.Hardware.Subscribe", NULL, true, &sentence);
        if (r < 0)
                return source_cannot_ask(cli, r, sentence);
        for (;;) {
                struct pollfd fds[] = {{pn_client_fd(client), POLLIN, 0}, {STDOUT_FILENO, 0, 0}};
                int64_t left = deadline - now_ms();

                if (!has_answered && left <= 0)
                        return source_cannot_ask(cli, -ETIMEDOUT, NULL);
                r = poll(fds, PN_ELEMENTS(fds), has_answered ? -1 : (int)left);
                if (r < 0 && errno != EINTR)
                        return cli_fail(cli, "IO", "cannot go on: %s", say_error(errno));
                if (r < 0)
                        continue;
                if (fds[1].revents & (POLLERR | POLLHUP | POLLNVAL))
                        return 0;
                if (!fds[0].revents)
                        continue;
                r = take_answers(cli, client, &code);
                if (r > 0)
                        return code;
                if (r < 0)
                        return r == -EPIPE ? 0
                                           : cli_fail(cli, "IO", "cannot go on: %s", say_error(-r));
                has_answered = true;
        }
}
