/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A blocking client of the daemon with a deadline for everything it waits for. */

#include "client.h"

#include <json-c/json.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "schema.h"
#include "varlink.h"

#define FIRST_CAPACITY ((size_t)64 << 10)

struct PnClient {
        int fd;
        int timeout_ms;
        int64_t deadline; /* of the call in progress, ms on CLOCK_MONOTONIC; -1 for none */
        char *path;       /* for sentences */
        char *data;       /* received bytes: the answer handed out, then what follows it */
        size_t length, capacity;
        size_t used;    /* of the answer handed out, with its NUL */
        size_t scanned; /* no NUL before this, after `used` */
};

static int64_t now_ms(void)
{
        struct timespec now;

        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void start_clock(PnClient *client)
{
        client->deadline = client->timeout_ms < 0 ? -1 : now_ms() + client->timeout_ms;
}

/* Puts a sentence into `ret_error` and returns `result`. */
static int _printf_(3, 4) fail(int result, char **ret_error, const char *format, ...)
{
        va_list args;

        if (!ret_error)
                return result;
        va_start(args, format);
        if (vasprintf(ret_error, format, args) < 0) {
                *ret_error = NULL;
                result = -ENOMEM;
        }
        va_end(args);
        return result;
}

static int no_memory(char **ret_error)
{
        return fail(-ENOMEM, ret_error, "memory is short");
}

/* 1 when the descriptor is ready, 0 at the deadline, or a negative errno. */
static int wait_for(PnClient *client, short events)
{
        struct pollfd poller = {.fd = client->fd, .events = events};

        for (;;) {
                int64_t left = client->deadline < 0 ? -1 : client->deadline - now_ms();
                int r;

                if (client->deadline >= 0 && left < 0)
                        left = 0;
                r = poll(&poller, 1, left > INT32_MAX ? INT32_MAX : (int)left);
                if (r >= 0)
                        return r;
                if (errno != EINTR)
                        return -errno;
        }
}

static int timed_out(const PnClient *client, char **ret_error)
{
        return fail(-ETIMEDOUT, ret_error,
                    "the daemon at %s did not answer within %d s; `systemctl status pnhwd` may "
                    "tell why",
                    client->path, (client->timeout_ms + 999) / 1000);
}

static int closed_early(const PnClient *client, char **ret_error)
{
        return fail(-ECONNRESET, ret_error,
                    "the daemon at %s closed the connection before the end of its answer; "
                    "`journalctl -u pnhwd` may tell why",
                    client->path);
}

static int other_error(const PnClient *client, int error, char **ret_error)
{
        return fail(-EIO, ret_error, "cannot talk to the daemon at %s: %s", client->path,
                    strerror(error));
}

/* What connect() said, in the words of client.h. */
static int connect_error(const char *path, int error, char **ret_error)
{
        struct stat st;

        switch (error) {
        case ENOENT:
        case ENOTDIR:
                return fail(-ENOENT, ret_error,
                            "no daemon: there is no socket at %s; `systemctl start pnhwd` starts "
                            "it",
                            path);
        case EACCES:
        case EPERM:
                return fail(-EACCES, ret_error, "you may not connect to %s; `ls -l` shows who may",
                            path);
        case ECONNREFUSED:
        case EPROTOTYPE:
                if (stat(path, &st) == 0 && !S_ISSOCK(st.st_mode))
                        return fail(-ENOTSOCK, ret_error, "%s is not a socket", path);
                return fail(-ECONNREFUSED, ret_error,
                            "no daemon: nobody listens on the socket at %s; `systemctl start "
                            "pnhwd` starts it",
                            path);
        case EAGAIN:
                return fail(-ETIMEDOUT, ret_error,
                            "the daemon at %s takes no connections: too many wait already", path);
        default:
                return fail(-EIO, ret_error, "cannot connect to %s: %s", path, strerror(error));
        }
}

int pn_client_connect(const char *path, int timeout_ms, PnClient **ret, char **ret_error)
{
        _cleanup_(pn_client_freep) PnClient *client = calloc(1, sizeof *client);
        struct sockaddr_un address = {.sun_family = AF_UNIX};

        if (!client)
                return no_memory(ret_error);
        client->fd = -1;
        client->timeout_ms = timeout_ms;
        if (strlen(path) >= sizeof address.sun_path)
                return fail(-ENAMETOOLONG, ret_error,
                            "the path of a socket may have %zu bytes, and this has %zu: %s",
                            sizeof address.sun_path - 1, strlen(path), path);
        memcpy(address.sun_path, path, strlen(path) + 1);
        client->path = strdup(path);
        if (!client->path)
                return no_memory(ret_error);
        client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (client->fd < 0)
                return other_error(client, errno, ret_error);
        if (timeout_ms >= 0) {
                /* connect() waits while the daemon's queue of new connections is full. */
                struct timeval limit = {timeout_ms / 1000, (timeout_ms % 1000) * 1000};

                if (timeout_ms == 0)
                        limit.tv_usec = 1;
                (void)setsockopt(client->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        }
        while (connect(client->fd, (struct sockaddr *)&address, sizeof address) < 0)
                if (errno != EINTR)
                        return connect_error(path, errno, ret_error);
        *ret = PN_STEAL(client);
        return 0;
}

void pn_client_free(PnClient *client)
{
        if (!client)
                return;
        pn_close(client->fd);
        free(client->path);
        free(client->data);
        free(client);
}

void pn_client_set_timeout(PnClient *client, int timeout_ms)
{
        client->timeout_ms = timeout_ms;
}

int pn_client_fd(const PnClient *client)
{
        return client->fd;
}

bool pn_client_pending(const PnClient *client)
{
        return client->length > client->used &&
               memchr(client->data + client->used, '\0', client->length - client->used);
}

static int send_all(PnClient *client, const char *data, size_t n, char **ret_error)
{
        while (n > 0) {
                ssize_t sent = send(client->fd, data, n, MSG_NOSIGNAL | MSG_DONTWAIT);
                int r;

                if (sent >= 0) {
                        data += sent;
                        n -= (size_t)sent;
                        continue;
                }
                if (errno == EINTR)
                        continue;
                /* It may have said why before it closed: the answer tells. */
                if (errno == EPIPE || errno == ECONNRESET)
                        return 0;
                if (errno != EAGAIN)
                        return other_error(client, errno, ret_error);
                r = wait_for(client, POLLOUT);
                if (r < 0)
                        return other_error(client, -r, ret_error);
                if (r == 0)
                        return timed_out(client, ret_error);
        }
        return 0;
}

/* Makes room behind what was received. Doubles, so that an answer of many megabytes is copied a
 * few times, not a few thousand. */
static int make_room(PnClient *client, char **ret_error)
{
        size_t capacity = client->capacity ? client->capacity * 2 : FIRST_CAPACITY;
        char *bigger;

        if (client->length < client->capacity)
                return 0;
        if (capacity > PN_ANSWER_MAX * 2)
                return fail(-EMSGSIZE, ret_error, "the answer is longer than %zu MiB",
                            PN_ANSWER_MAX >> 20);
        bigger = realloc(client->data, capacity);
        if (!bigger)
                return no_memory(ret_error);
        client->data = bigger;
        client->capacity = capacity;
        return 0;
}

/* Receives until the answer that starts at `used` (0 here) is complete; its length. */
static int receive(PnClient *client, size_t *ret_length, char **ret_error)
{
        for (;;) {
                const char *nul = NULL;
                ssize_t n;
                int r;

                if (client->length > client->scanned)
                        nul = memchr(client->data + client->scanned, '\0',
                                     client->length - client->scanned);
                if (nul) {
                        *ret_length = (size_t)(nul - client->data);
                        return 0;
                }
                client->scanned = client->length;
                r = make_room(client, ret_error);
                if (r < 0)
                        return r;
                n = recv(client->fd, client->data + client->length,
                         client->capacity - client->length, MSG_DONTWAIT);
                if (n > 0) {
                        client->length += (size_t)n;
                        continue;
                }
                if (n == 0 || errno == ECONNRESET || errno == EPIPE)
                        return closed_early(client, ret_error);
                if (errno == EINTR)
                        continue;
                if (errno != EAGAIN)
                        return other_error(client, errno, ret_error);
                r = wait_for(client, POLLIN);
                if (r < 0)
                        return other_error(client, -r, ret_error);
                if (r == 0)
                        return timed_out(client, ret_error);
        }
}

/* Takes the answer apart; 0, -EBADMSG or -ENOMEM. */
static int read_reply(PnReply *reply)
{
        struct json_object *error = NULL, *parameters = NULL, *continues = NULL;
        int r;

        r = pn_parse_json(reply->text, reply->text_length, &reply->json, NULL);
        if (r < 0)
                return r == -ENOMEM ? r : -EBADMSG;
        if (!json_object_is_type(reply->json, json_type_object))
                return -EBADMSG;
        (void)json_object_object_get_ex(reply->json, "error", &error);
        (void)json_object_object_get_ex(reply->json, "parameters", &parameters);
        (void)json_object_object_get_ex(reply->json, "continues", &continues);
        if ((error && !json_object_is_type(error, json_type_string)) ||
            (parameters && !json_object_is_type(parameters, json_type_object)) ||
            (continues && !json_object_is_type(continues, json_type_boolean)) ||
            (!error && !parameters && json_object_object_length(reply->json) > 0))
                return -EBADMSG;
        if (!parameters) {
                parameters = json_object_new_object();
                if (!parameters)
                        return -ENOMEM;
                if (json_object_object_add(reply->json, "parameters", parameters) < 0) {
                        json_object_put(parameters);
                        return -ENOMEM;
                }
        }
        reply->parameters = parameters;
        reply->error = error ? json_object_get_string(error) : NULL;
        reply->continues = continues && json_object_get_boolean(continues);
        return 0;
}

static int next_reply(PnClient *client, PnReply *ret, char **ret_error)
{
        _cleanup_(pn_reply_done) PnReply reply = {0};
        int r;

        /* Drop the answer before, keep what came after it. */
        if (client->used > 0) {
                client->length -= client->used;
                memmove(client->data, client->data + client->used, client->length);
                client->scanned = client->used = 0;
        }
        r = receive(client, &reply.text_length, ret_error);
        if (r < 0)
                return r;
        client->used = reply.text_length + 1;
        client->scanned = client->used;
        reply.text = client->data;
        r = read_reply(&reply);
        if (r == -ENOMEM)
                return no_memory(ret_error);
        if (r < 0)
                return fail(r, ret_error,
                            "what listens at %s is not the daemon, or is broken: its answer is not "
                            "Varlink",
                            client->path);
        *ret = reply;
        reply = (PnReply){0};
        return 0;
}

int pn_client_send(PnClient *client, const char *method, const char *parameters, bool more,
                   char **ret_error)
{
        _cleanup_buf_ PnBuf buf = {0};

        start_clock(client);
        pn_write_call(&buf, method, parameters, more);
        if (buf.error)
                return no_memory(ret_error);
        if (parameters && parameters[strspn(parameters, " \t\r\n")] != '{')
                return fail(-EINVAL, ret_error, "parameters are not a JSON object");
        return send_all(client, buf.data, buf.len + 1, ret_error);
}

int pn_client_call(PnClient *client, const char *method, const char *parameters, bool more,
                   PnReply *ret, char **ret_error)
{
        int r = pn_client_send(client, method, parameters, more, ret_error);

        return r < 0 ? r : next_reply(client, ret, ret_error);
}

int pn_client_next(PnClient *client, PnReply *ret, char **ret_error)
{
        start_clock(client);
        return next_reply(client, ret, ret_error);
}

void pn_reply_done(PnReply *reply)
{
        json_object_put(reply->json);
        *reply = (PnReply){0};
}

static const char *parameter(const PnReply *reply, const char *name)
{
        struct json_object *value;

        if (!json_object_object_get_ex(reply->parameters, name, &value) ||
            !json_object_is_type(value, json_type_string))
                return "?";
        return json_object_get_string(value);
}

char *pn_reply_describe_error(const PnReply *reply)
{
        static const struct {
                const char *error, *parameter, *text; /* the text has one %s for the parameter */
        } rows[] = {
            {"io.pnhw.Hardware.NoSuchDevice", "name", "%s: there is no such device"},
            {"io.pnhw.Hardware.NoSuchFinding", "id", "%s: there is no such finding"},
            {"io.pnhw.Hardware.NotReady", NULL,
             "the daemon is still reading the hardware for the first time; try again"},
            {"io.pnhw.Hardware.Busy", NULL, "the daemon has too many connections; try again"},
            {"io.pnhw.Hardware.InvalidRequest", "reason", "the daemon refused the request: %s"},
            {PN_SERVICE ".InterfaceNotFound", "interface", "the daemon has no interface %s"},
            {PN_SERVICE ".MethodNotFound", "method",
             "the daemon is too old for this: it has no %s"},
            {PN_SERVICE ".MethodNotImplemented", "method", "the daemon does not implement %s"},
            {PN_SERVICE ".InvalidParameter", "parameter",
             "the daemon does not accept the parameter %s"},
            {PN_SERVICE ".PermissionDenied", NULL,
             "only root and members of the group pnhw may do this"},
            {PN_SERVICE ".ExpectedMore", NULL, "this method must be called with more"},
        };
        _cleanup_buf_ PnBuf buf = {0};
        char *text;

        if (!reply->error)
                return NULL;
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                const char *mark = strstr(rows[i].text, "%s");

                if (strcmp(reply->error, rows[i].error) != 0)
                        continue;
                if (!mark)
                        return strdup(rows[i].text);
                pn_buf_put(&buf, rows[i].text, (size_t)(mark - rows[i].text));
                pn_buf_puts(&buf, parameter(reply, rows[i].parameter));
                pn_buf_puts(&buf, mark + 2);
                return pn_buf_take(&buf, &text, NULL) < 0 ? NULL : text;
        }
        pn_buf_printf(&buf, "the daemon answered with the error %s", reply->error);
        return pn_buf_take(&buf, &text, NULL) < 0 ? NULL : text;
}
