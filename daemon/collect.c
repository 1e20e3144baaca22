/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the probe for one source and reads its lines. One process a source, so that a device that
 * hangs in one of them delays nothing in another; a process that cannot be killed is left behind
 * and counted, never waited for.
 *
 * A source that needs privileges is asked for at a socket, where there is one: behind it systemd
 * starts a probe that has them, for this one connection. It is no child of ours, so all that can be
 * done to it is to close the connection; its unit bounds how long and how often it runs. */

#include "collect.h"

#include <fcntl.h>
#include <json-c/json.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "schema.h"
#include "text.h"

PN_DEFINE_CLEANUP(struct json_object *, json_object_put);

#define CHUNK ((size_t)64 << 10)

/* Clients are served before probes are read. */
#define PRIORITY (SD_EVENT_PRIORITY_NORMAL + 10)

typedef struct Run Run;

struct Run {
        PnCollector *collector;
        Run *next;
        PnSourceId source;
        pid_t pid;          /* 0 behind a socket */
        int out_fd, err_fd; /* the connection and -1 behind a socket */
        sd_event_source *child, *out, *err, *deadline;
        uint64_t started; /* CLOCK_MONOTONIC, µs */
        bool over;        /* told; only the process is still there */
        bool exited;
        bool killed;
        bool out_closed;
        int code, status; /* of the exit, as in siginfo_t */

        char *data; /* the beginning of a line */
        size_t length, capacity;
        uint64_t n_bytes;
        unsigned n_lines;
        int64_t n_objects;
        char complaint[160]; /* the last line that it wrote to standard error */
};

struct PnCollector {
        sd_event *event;
        const char *probe;
        const char *sockets;
        uint64_t deadline;
        const PnCollectorHandlers *handlers;
        void *userdata;
        char **environment;
        Run *runs;
};

const char *pn_source_name(PnSourceId source)
{
        static const char *const names[] = {
#define NAME(name) #name,
            PN_SOURCES(NAME)
#undef NAME
        };

        return names[source];
}

int pn_source_from_name(const char *name, PnSourceId *ret)
{
        for (PnSourceId source = 0; source < PN_N_SOURCES; source++)
                if (strcmp(pn_source_name(source), name) == 0) {
                        *ret = source;
                        return 0;
                }
        return -EINVAL;
}

/* Which socket answers for a source; NULL for what needs no privileges, as starting a process
 * behind a socket costs some thirty times what a child does. */
static const char *socket_of(PnSourceId source)
{
        static const char *const names[PN_N_SOURCES] = {
            [PN_SOURCE_host] = "admin.sock", [PN_SOURCE_pci] = "admin.sock",
            [PN_SOURCE_nvme] = "admin.sock", [PN_SOURCE_health] = "admin.sock",
            [PN_SOURCE_net] = "net.sock",    [PN_SOURCE_module] = "net.sock",
        };

        return names[source];
}

static uint64_t now_usec(const PnCollector *collector)
{
        uint64_t now = 0;

        (void)sd_event_now(collector->event, CLOCK_MONOTONIC, &now);
        return now;
}

/* The probe gets our environment without what is ours alone. */
static int copy_environment(char ***ret)
{
        static const char *const ours[] = {"NOTIFY_SOCKET=", "WATCHDOG_", "LISTEN_"};
        size_t n = 0;
        char **copy;

        while (environ[n])
                n++;
        copy = calloc(n + 1, sizeof *copy);
        if (!copy)
                return -ENOMEM;
        n = 0;
        for (char **p = environ; *p; p++) {
                bool keep = true;

                for (size_t i = 0; i < PN_ELEMENTS(ours); i++)
                        keep = keep && !pn_startswith(*p, ours[i]);
                if (keep)
                        copy[n++] = *p;
        }
        *ret = copy;
        return 0;
}

int pn_collector_new(sd_event *event, const char *probe, const char *sockets, uint64_t deadline,
                     const PnCollectorHandlers *handlers, void *userdata, PnCollector **ret)
{
        _cleanup_(pn_collector_freep) PnCollector *collector = calloc(1, sizeof *collector);

        if (!collector || copy_environment(&collector->environment) < 0)
                return -ENOMEM;
        collector->event = sd_event_ref(event);
        collector->probe = probe;
        collector->sockets = sockets;
        collector->deadline = deadline;
        collector->handlers = handlers;
        collector->userdata = userdata;
        *ret = PN_STEAL(collector);
        return 0;
}

/* Lets go of everything but the process. */
static void stop_reading(Run *run)
{
        run->out = sd_event_source_disable_unref(run->out);
        run->err = sd_event_source_disable_unref(run->err);
        pn_close(PN_STEAL_FD(run->out_fd));
        pn_close(PN_STEAL_FD(run->err_fd));
        free(PN_STEAL(run->data));
        run->length = run->capacity = 0;
}

static void run_free(Run *run)
{
        for (Run **at = &run->collector->runs; *at; at = &(*at)->next)
                if (*at == run) {
                        *at = run->next;
                        break;
                }
        stop_reading(run);
        run->deadline = sd_event_source_disable_unref(run->deadline);
        run->child = sd_event_source_disable_unref(run->child);
        free(run);
}

/* Its whole process group, as long as the number is certainly still its own. */
static void run_kill(Run *run)
{
        if (run->exited || run->killed || run->pid <= 0)
                return;
        (void)kill(-run->pid, SIGKILL);
        run->killed = true;
}

void pn_collector_free(PnCollector *collector)
{
        if (!collector)
                return;
        while (collector->runs) {
                run_kill(collector->runs);
                run_free(collector->runs);
        }
        free(collector->environment);
        sd_event_unref(collector->event);
        free(collector);
}

PnSourceSet pn_collector_running(const PnCollector *collector)
{
        PnSourceSet running = 0;

        for (const Run *run = collector->runs; run; run = run->next)
                if (!run->over)
                        running |= 1u << run->source;
        return running;
}

/* Tells how it ended. The run may be gone afterwards. */
static void run_end(Run *run, const char *reason)
{
        PnCollector *collector = run->collector;
        PnSourceId source = run->source;
        uint64_t took = now_usec(collector) - run->started;

        run->over = true;
        if (reason)
                run_kill(run);
        stop_reading(run);
        if (run->exited)
                run_free(run);
        collector->handlers->ended(collector->userdata, source, reason, took / 1000);
}

static void run_fail(Run *run, const char *format, ...) _printf_(2, 3);
static void run_fail(Run *run, const char *format, ...)
{
        char reason[512];
        va_list args;

        va_start(args, format);
        (void)vsnprintf(reason, sizeof reason, format, args);
        va_end(args);
        run_end(run, reason);
}

/* The words for a process that went without saying that it was done. */
static void run_fail_exit(Run *run)
{
        const char *colon = *run->complaint ? ": " : "";

        if (run->pid == 0 && run->n_bytes == 0)
                run_fail(run, "the probe's socket %s/%s was closed without an answer",
                         run->collector->sockets, socket_of(run->source));
        else if (run->code == CLD_EXITED && run->status == 0)
                run_fail(run, "the probe ended in the middle of its output%s%s", colon,
                         run->complaint);
        else if (run->code == CLD_EXITED)
                run_fail(run, "the probe ended with exit status %d%s%s", run->status, colon,
                         run->complaint);
        else
                run_fail(run, "the probe crashed (%s)%s%s", strsignal(run->status), colon,
                         run->complaint);
}

/* A line that says that a source is complete. Ends the run. */
static void read_end(Run *run, struct json_object *json, struct json_object *end)
{
        struct json_object *count = NULL, *reason = NULL;
        int64_t n;

        (void)json_object_object_get_ex(json, "count", &count);
        (void)json_object_object_get_ex(json, "reason", &reason);
        if (!json_object_is_type(end, json_type_string) ||
            strcmp(json_object_get_string(end), pn_source_name(run->source)) != 0) {
                run_fail(run, "the probe sent nonsense: the end of another source");
                return;
        }
        if (!json_object_is_type(count, json_type_int) ||
            (reason && !json_object_is_type(reason, json_type_string))) {
                run_fail(run, "the probe sent nonsense: an end without a count");
                return;
        }
        n = json_object_get_int64(count);
        if (n != run->n_objects) {
                run_fail(run, "the probe announced %lld objects and sent %lld", (long long)n,
                         (long long)run->n_objects);
                return;
        }
        if (reason) {
                const char *s = json_object_get_string(reason);
                _cleanup_free_ char *words = NULL;

                (void)pn_text_from_utf8(s, strlen(s), &words);
                run_fail(run, "%.400s", words ? words : "the probe could not read it");
                return;
        }
        run_end(run, NULL);
}

/* One line; false if the run is over. */
static bool read_line(Run *run, const char *line, size_t n)
{
        _cleanup_(json_object_putp) struct json_object *json = NULL;
        struct json_object *end, *source, *kind, *object;
        _cleanup_free_ char *error = NULL;

        if (++run->n_lines > PN_PROBE_LINES_MAX) {
                run_fail(run, "the probe sent more than %d lines", PN_PROBE_LINES_MAX);
                return false;
        }
        if (pn_parse_json(line, n, &json, &error) < 0 ||
            !json_object_is_type(json, json_type_object)) {
                run_fail(run, "the probe sent nonsense: %s", error ? error : "not an object");
                return false;
        }
        if (json_object_object_get_ex(json, "end", &end)) {
                read_end(run, json, end);
                return false;
        }
        if (json_object_object_length(json) != 3 ||
            !json_object_object_get_ex(json, "source", &source) ||
            !json_object_object_get_ex(json, "kind", &kind) ||
            !json_object_object_get_ex(json, "object", &object) ||
            !json_object_is_type(source, json_type_string) ||
            !json_object_is_type(kind, json_type_string)) {
                run_fail(run, "the probe sent nonsense: neither an object nor an end");
                return false;
        }
        if (strcmp(json_object_get_string(source), pn_source_name(run->source)) != 0) {
                run_fail(run, "the probe sent nonsense: an object of another source");
                return false;
        }
        if (run->collector->handlers->object(run->collector->userdata, run->source,
                                             json_object_get_string(kind), object, &error) < 0) {
                run_fail(run, "the probe sent nonsense: %s", error ? error : "memory is short");
                return false;
        }
        run->n_objects++;
        return true;
}

/* All complete lines; false if the run is over. */
static bool read_lines(Run *run, size_t scanned)
{
        size_t start = 0;

        for (;;) {
                char *newline = memchr(run->data + scanned, '\n', run->length - scanned);
                size_t n;

                if (!newline)
                        break;
                n = (size_t)(newline - (run->data + start));
                if (!read_line(run, run->data + start, n))
                        return false;
                start = scanned = start + n + 1;
        }
        run->length -= start;
        memmove(run->data, run->data + start, run->length);
        if (run->length > PN_PROBE_LINE_MAX) {
                run_fail(run, "the probe sent a line of more than %zu KiB",
                         PN_PROBE_LINE_MAX >> 10);
                return false;
        }
        return true;
}

static int on_output(sd_event_source *source _unused_, int fd, uint32_t events _unused_,
                     void *userdata)
{
        Run *run = userdata;
        size_t scanned = run->length;
        ssize_t n;

        if (run->capacity - run->length < CHUNK) {
                size_t capacity = run->capacity ? run->capacity * 2 : CHUNK;
                char *bigger = realloc(run->data, capacity);

                if (!bigger) {
                        run_fail(run, "memory is short");
                        return 0;
                }
                run->data = bigger;
                run->capacity = capacity;
        }
        n = read(fd, run->data + run->length, run->capacity - run->length);
        if (n < 0) {
                if (errno != EAGAIN && errno != EINTR)
                        run_fail(run, "cannot read from the probe: %s", strerror(errno));
                return 0;
        }
        if (n == 0) {
                /* Why is for the exit status to say, which is about to come. */
                run->out_closed = true;
                run->out = sd_event_source_disable_unref(run->out);
                if (run->exited)
                        run_fail_exit(run);
                return 0;
        }
        run->length += (size_t)n;
        run->n_bytes += (size_t)n;
        if (run->n_bytes > PN_PROBE_BYTES_MAX)
                run_fail(run, "the probe sent more than %llu MiB",
                         (unsigned long long)PN_PROBE_BYTES_MAX >> 20);
        else
                (void)read_lines(run, scanned);
        return 0;
}

/* Keeps the last line that it complained with. */
static int on_complaint(sd_event_source *source _unused_, int fd, uint32_t events _unused_,
                        void *userdata)
{
        Run *run = userdata;
        _cleanup_free_ char *words = NULL;
        char bytes[4096];
        size_t end, start;
        ssize_t n = read(fd, bytes, sizeof bytes);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        if (n <= 0) {
                run->err = sd_event_source_disable_unref(run->err);
                return 0;
        }
        end = (size_t)n;
        while (end > 0 && bytes[end - 1] == '\n')
                end--;
        start = end;
        while (start > 0 && bytes[start - 1] != '\n')
                start--;
        if (pn_text_from_utf8(bytes + start, end - start, &words) > 0)
                (void)snprintf(run->complaint, sizeof run->complaint, "%s", words);
        return 0;
}

static int on_gone(sd_event_source *source _unused_, const siginfo_t *info, void *userdata)
{
        Run *run = userdata;

        /* Still a zombie: its number, and its group's, are not yet anybody else's. */
        if (!run->killed)
                (void)kill(-run->pid, SIGKILL);
        run->exited = true;
        run->code = info->si_code;
        run->status = info->si_status;
        if (run->over)
                run_free(run);
        else if (run->out_closed)
                run_fail_exit(run);
        return 0;
}

static int on_deadline(sd_event_source *source _unused_, uint64_t usec _unused_, void *userdata)
{
        Run *run = userdata;

        if (run->over)
                run_kill(run); /* it said that it was done, and did not go */
        else
                run_fail(run, "the probe did not end within %.3g s",
                         (double)run->collector->deadline / 1e6);
        return 0;
}

static unsigned count_stuck(const PnCollector *collector, const PnSourceId *source)
{
        unsigned n = 0;

        for (const Run *run = collector->runs; run; run = run->next)
                if (run->killed && (!source || run->source == *source))
                        n++;
        return n;
}

/* A new process in its own group, with both outputs in pipes; the ends for us do not block. */
static int spawn(Run *run)
{
        char *arguments[] = {(char *)(uintptr_t)run->collector->probe,
                             (char *)(uintptr_t) "--lines",
                             (char *)(uintptr_t)pn_source_name(run->source), NULL};
        _cleanup_close_ int out_write = -1, err_write = -1;
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t none, all;
        int pair[2], r;

        if (pipe2(pair, O_CLOEXEC) < 0)
                return -errno;
        run->out_fd = pair[0];
        out_write = pair[1];
        if (pipe2(pair, O_CLOEXEC) < 0)
                return -errno;
        run->err_fd = pair[0];
        err_write = pair[1];
        if (fcntl(run->out_fd, F_SETFL, O_NONBLOCK) < 0 ||
            fcntl(run->err_fd, F_SETFL, O_NONBLOCK) < 0)
                return -errno;

        (void)sigemptyset(&none);
        (void)sigfillset(&all);
        if (posix_spawn_file_actions_init(&actions) != 0)
                return -ENOMEM;
        if (posix_spawnattr_init(&attributes) != 0) {
                (void)posix_spawn_file_actions_destroy(&actions);
                return -ENOMEM;
        }
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                        POSIX_SPAWN_SETSIGDEF);
        (void)posix_spawnattr_setpgroup(&attributes, 0);
        (void)posix_spawnattr_setsigmask(&attributes, &none);
        (void)posix_spawnattr_setsigdefault(&attributes, &all);
        r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (r == 0)
                r = posix_spawn_file_actions_adddup2(&actions, out_write, STDOUT_FILENO);
        if (r == 0)
                r = posix_spawn_file_actions_adddup2(&actions, err_write, STDERR_FILENO);
        if (r == 0)
                r = posix_spawn(&run->pid, run->collector->probe, &actions, &attributes, arguments,
                                run->collector->environment);
        (void)posix_spawnattr_destroy(&attributes);
        (void)posix_spawn_file_actions_destroy(&actions);
        return -r;
}

/* Connects to the source's socket and sends its name, which is all that a privileged probe reads.
 * 1; 0 if there is no such socket for us; or -errno. */
static int ask_socket(Run *run)
{
        const PnCollector *collector = run->collector;
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        const char *name = socket_of(run->source);
        _cleanup_close_ int fd = -1;
        char request[32];
        int n;

        if (!collector->sockets || !name)
                return 0;
        n = snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", collector->sockets, name);
        if (n < 0 || (size_t)n >= sizeof address.sun_path)
                return -ENAMETOOLONG;
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return -errno;
        if (connect(fd, (const struct sockaddr *)&address, sizeof address) < 0)
                /* An ordinary user's daemon, beside an installed one, reads what it can. */
                return errno == ENOENT || errno == EACCES ? 0 : -errno;
        n = snprintf(request, sizeof request, "%s\n", pn_source_name(run->source));
        if (send(fd, request, (size_t)n, MSG_NOSIGNAL) != n)
                return errno ? -errno : -EIO;
        if (shutdown(fd, SHUT_WR) < 0)
                return -errno;
        run->out_fd = PN_STEAL_FD(fd);
        /* There is no process to wait for. */
        run->exited = true;
        run->code = CLD_EXITED;
        return 1;
}

static int watch(Run *run)
{
        sd_event *event = run->collector->event;
        int r = 0;

        if (run->pid > 0)
                r = sd_event_add_child(event, &run->child, run->pid, WEXITED, on_gone, run);
        if (r >= 0)
                r = sd_event_add_io(event, &run->out, run->out_fd, EPOLLIN, on_output, run);
        if (r >= 0 && run->err_fd >= 0)
                r = sd_event_add_io(event, &run->err, run->err_fd, EPOLLIN, on_complaint, run);
        if (r >= 0)
                r = sd_event_add_time_relative(event, &run->deadline, CLOCK_MONOTONIC,
                                               run->collector->deadline, 100 * 1000, on_deadline,
                                               run);
        if (r < 0)
                return r;
        /* What it complained about, then what it printed, then that it went. */
        if (run->err)
                (void)sd_event_source_set_priority(run->err, PRIORITY);
        (void)sd_event_source_set_priority(run->out, PRIORITY + 1);
        if (run->child)
                (void)sd_event_source_set_priority(run->child, PRIORITY + 2);
        return 0;
}

int pn_collector_start(PnCollector *collector, PnSourceId source, char **ret_error)
{
        bool by_socket;
        Run *run;
        int r;

        if (count_stuck(collector, NULL) >= PN_STUCK_MAX && count_stuck(collector, &source) > 0) {
                if (asprintf(ret_error,
                             "%u probes hang and cannot be killed; this source is read again when "
                             "one of them is gone",
                             count_stuck(collector, NULL)) < 0)
                        *ret_error = NULL;
                return -EAGAIN;
        }
        run = calloc(1, sizeof *run);
        if (!run)
                return -ENOMEM;
        run->collector = collector;
        run->source = source;
        run->out_fd = run->err_fd = -1;
        run->started = now_usec(collector);
        run->next = collector->runs;
        collector->runs = run;
        r = ask_socket(run);
        by_socket = r != 0;
        if (r == 0)
                r = spawn(run);
        if (r >= 0)
                r = watch(run);
        if (r < 0) {
                int n = by_socket ? asprintf(ret_error, "cannot ask the probe at %s/%s: %s",
                                             collector->sockets, socket_of(source), strerror(-r))
                                  : asprintf(ret_error, "cannot start the probe %s: %s",
                                             collector->probe, strerror(-r));

                if (n < 0)
                        *ret_error = NULL;
                run_kill(run);
                run_free(run);
        }
        return r < 0 ? r : 0;
}
