/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pnhwd: options, signals and systemd; puts the manager and the server together. Touches no
 * hardware. */

#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>

#include "config.h"
#include "hotplug.h"
#include "log.h"
#include "manager.h"
#include "server.h"

/* Where the units put the probe's sockets. */
#define PROBE_SOCKETS "/run/pnhw-probe"

typedef struct Options {
        char *socket;
        char *probe;
        char *probe_sockets; /* NULL: none */
        char *state;         /* the folder that is kept */
        uint64_t interval;   /* µs; 0: as the policy says */
        uint64_t deadline;   /* µs */
        bool check_config;
} Options;

typedef struct Daemon {
        Options options;
        PnServer *server;
        bool ready;
} Daemon;

static void options_done(Options *options)
{
        free(options->socket);
        free(options->probe);
        free(options->probe_sockets);
        free(options->state);
}

static void help(void)
{
        puts("pnhwd [OPTIONS]\n\n"
             "Knows whether each piece of hardware runs as fast and as healthily as it could,\n"
             "and tells it to pnhwctl and others over a Varlink socket.\n\n"
             "  --socket=PATH             Listen here (default: $RUNTIME_DIRECTORY/pnhwd.sock,\n"
             "                            else /run/pnhw/pnhwd.sock)\n"
             "  --probe=PATH              The program that reads the hardware\n"
             "  --probe-sockets=DIR       Where systemd's sockets start it with privileges\n"
             "                            (default: /run/pnhw-probe, if the installed probe is\n"
             "                            used; where no socket is, it is started without)\n"
             "  --interval=SECONDS        Between two readings (default: pnhwd.conf's, else 60)\n"
             "  --probe-deadline=SECONDS  What a reading may take (default: 10)\n"
             "  --check-config            Say what is wrong in pnhwd.conf, and end\n"
             "  -h, --help                This text\n"
             "      --version             The version");
}

/* A positive number of seconds, at most a day. */
static int parse_seconds(const char *option, const char *text, uint64_t *ret)
{
        char *end;
        double seconds = strtod(text, &end);

        if (end == text || *end || !isfinite(seconds) || seconds < 0.01 || seconds > 86400) {
                fprintf(stderr, "pnhwd: --%s=%s: expected seconds, from 0.01 to 86400\n", option,
                        text);
                return -EINVAL;
        }
        *ret = (uint64_t)(seconds * 1e6);
        return 0;
}

static int set_string(char **at, const char *value)
{
        free(*at);
        *at = strdup(value);
        return *at ? 0 : -ENOMEM;
}

/* Whether what was asked for has been written; else it is said why not, and -EIO. */
static int flush_output(void)
{
        if (fflush(stdout) == 0 && !ferror(stdout))
                return 0;
        fprintf(stderr, "pnhwd: cannot write: %s\n", strerror(errno));
        return -EIO;
}

/* 1 to go on, 0 when all is done already, or -errno. */
static int parse_options(int argc, char **argv, Options *options)
{
        enum {
                OPTION_SOCKET = 256,
                OPTION_PROBE,
                OPTION_PROBE_SOCKETS,
                OPTION_INTERVAL,
                OPTION_DEADLINE,
                OPTION_CHECK_CONFIG,
                OPTION_VERSION,
        };
        static const struct option table[] = {
            {"socket", required_argument, NULL, OPTION_SOCKET},
            {"probe", required_argument, NULL, OPTION_PROBE},
            {"probe-sockets", required_argument, NULL, OPTION_PROBE_SOCKETS},
            {"interval", required_argument, NULL, OPTION_INTERVAL},
            {"probe-deadline", required_argument, NULL, OPTION_DEADLINE},
            {"check-config", no_argument, NULL, OPTION_CHECK_CONFIG},
            {"help", no_argument, NULL, 'h'},
            {"version", no_argument, NULL, OPTION_VERSION},
            {0},
        };
        int c, r = 0;

        while (r >= 0 && (c = getopt_long(argc, argv, "h", table, NULL)) >= 0) {
                switch (c) {
                case OPTION_SOCKET:
                        r = set_string(&options->socket, optarg);
                        break;
                case OPTION_PROBE:
                        r = set_string(&options->probe, optarg);
                        break;
                case OPTION_PROBE_SOCKETS:
                        r = set_string(&options->probe_sockets, optarg);
                        break;
                case OPTION_INTERVAL:
                        r = parse_seconds("interval", optarg, &options->interval);
                        break;
                case OPTION_DEADLINE:
                        r = parse_seconds("probe-deadline", optarg, &options->deadline);
                        break;
                case OPTION_CHECK_CONFIG:
                        options->check_config = true;
                        break;
                case 'h':
                        help();
                        return flush_output();
                case OPTION_VERSION:
                        puts("pnhwd " PN_VERSION);
                        return flush_output();
                default: /* getopt_long() has said which */
                        r = -EINVAL;
                }
        }
        if (r >= 0 && optind < argc) {
                fprintf(stderr, "pnhwd: unexpected argument '%s'\n", argv[optind]);
                r = -EINVAL;
        }
        if (r == -EINVAL)
                fprintf(stderr, "Possible: --socket=PATH --probe=PATH --probe-sockets=DIR "
                                "--interval=SECONDS --probe-deadline=SECONDS --check-config --help "
                                "--version\n");
        return r < 0 ? r : 1;
}

/* The probe beside a daemon that runs from its build, and no other; else the installed one, by way
 * of its sockets where they are. */
static int find_probe(Options *options)
{
        char self[PATH_MAX];
        ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
        char *slash;

        if (n > 0) {
                self[n] = '\0';
                slash = strrchr(self, '/');
                if (slash) {
                        _cleanup_free_ char *path = NULL;

                        *slash = '\0';
                        if (asprintf(&path, "%s/probe/pnhw-probe", self) < 0) {
                                path = NULL;
                                return -ENOMEM;
                        }
                        if (access(path, X_OK) == 0) {
                                options->probe = PN_STEAL(path);
                                return 0;
                        }
                }
        }
        if (!options->probe_sockets && set_string(&options->probe_sockets, PROBE_SOCKETS) < 0)
                return -ENOMEM;
        return set_string(&options->probe, PN_PROBE_PATH);
}

static int set_defaults(Options *options)
{
        const char *folder = getenv("RUNTIME_DIRECTORY"), *state = getenv("STATE_DIRECTORY");
        int r;

        if (!options->probe) {
                r = find_probe(options);
                if (r < 0)
                        return r;
        }
        if (!state || !*state)
                state = "/var/lib/pnhw";
        /* systemd joins several with colons. */
        options->state = strndup(state, strcspn(state, ":"));
        if (!options->state)
                return -ENOMEM;
        if (options->socket)
                return 0;
        if (!folder || !*folder)
                folder = "/run/pnhw";
        if (asprintf(&options->socket, "%.*s/pnhwd.sock", (int)strcspn(folder, ":"), folder) < 0) {
                options->socket = NULL;
                return -ENOMEM;
        }
        return 0;
}

static void on_snapshot(void *userdata, PnSnapshot *before, PnSnapshot *now)
{
        Daemon *daemon = userdata;
        const char *summary = pn_text(&now->status.summary);

        pn_server_on_snapshot(daemon->server, before, now);
        if (!before || !pn_streq(pn_text(&before->status.summary), summary))
                (void)sd_notifyf(0, "%sSTATUS=%s", before ? "" : "READY=1\n",
                                 summary ? summary : "");
}

/* The sockets that systemd made, else our own. */
static int open_sockets(Daemon *daemon, PnHotplug *hotplug)
{
        _cleanup_free_ char *error = NULL;
        int r, n = sd_listen_fds(/* unset_environment= */ 1);
        bool adopted = false;

        if (n < 0) {
                pn_log(PN_LOG_ERROR, "cannot take over the sockets: %s", strerror(-n));
                return n;
        }
        for (int fd = SD_LISTEN_FDS_START; fd < SD_LISTEN_FDS_START + n; fd++) {
                r = pn_hotplug_adopt(hotplug, fd);
                if (r < 0) {
                        pn_log(PN_LOG_ERROR, "cannot take over netlink socket %d: %s", fd,
                               strerror(-r));
                        return r;
                }
                if (r > 0)
                        continue;
                r = sd_is_socket_unix(fd, SOCK_STREAM, /* listening= */ 1, NULL, 0);
                if (r <= 0) {
                        pn_log(PN_LOG_ERROR,
                               "descriptor %d is neither a listening Unix socket nor one of "
                               "netlink's",
                               fd);
                        return r < 0 ? r : -EINVAL;
                }
                r = pn_server_adopt(daemon->server, fd);
                if (r < 0) {
                        pn_log(PN_LOG_ERROR, "cannot take over a socket: %s", strerror(-r));
                        return r;
                }
                adopted = true;
        }
        pn_hotplug_start(hotplug);
        if (adopted)
                return 0;
        r = pn_server_listen(daemon->server, daemon->options.socket, &error);
        if (r < 0)
                pn_log(PN_LOG_ERROR, "%s", error ? error : strerror(-r));
        return r;
}

/* Signals are blocked for good and come through the loop; SIGCHLD belongs to the collector. */
static int set_signals(sd_event *event)
{
        static const int ends[] = {SIGTERM, SIGINT, SIGHUP};
        sigset_t blocked;

        (void)signal(SIGPIPE, SIG_IGN);
        (void)sigemptyset(&blocked);
        (void)sigaddset(&blocked, SIGCHLD);
        for (size_t i = 0; i < PN_ELEMENTS(ends); i++)
                (void)sigaddset(&blocked, ends[i]);
        if (sigprocmask(SIG_BLOCK, &blocked, NULL) < 0)
                return -errno;
        for (size_t i = 0; i < PN_ELEMENTS(ends); i++) {
                sd_event_source *source;
                int r = sd_event_add_signal(event, &source, ends[i], NULL, NULL);

                if (r < 0)
                        return r;
                (void)sd_event_source_set_priority(source, SD_EVENT_PRIORITY_IMPORTANT);
                (void)sd_event_source_set_floating(source, true);
                sd_event_source_unref(source);
        }
        return 0;
}

static void log_problem(_unused_ void *userdata, const char *file, unsigned line,
                        const char *problem)
{
        if (line)
                pn_log(PN_LOG_WARNING, "%s:%u: %s; the line is passed over", file, line, problem);
        else
                pn_log(PN_LOG_WARNING, "%s: %s", file, problem);
}

static void print_problem(void *userdata, const char *file, unsigned line, const char *problem)
{
        unsigned *n = userdata;

        if (line)
                fprintf(stderr, "%s:%u: %s\n", file, line, problem);
        else
                fprintf(stderr, "%s: %s\n", file, problem);
        ++*n;
}

static int check_config(void)
{
        _cleanup_(pn_policy_done) PnPolicy policy = PN_POLICY_DEFAULT;
        unsigned n = 0;

        if (pn_config_load(&policy, print_problem, &n) < 0) {
                fprintf(stderr, "memory is short\n");
                return EXIT_FAILURE;
        }
        if (n)
                return EXIT_FAILURE;
        puts("The configuration is good.");
        return flush_output() < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int run(const Options *options, const PnPolicy *policy)
{
        _cleanup_(sd_event_unrefp) sd_event *event = NULL;
        _cleanup_(pn_manager_freep) PnManager *manager = NULL;
        _cleanup_(pn_hotplug_freep) PnHotplug *hotplug = NULL;
        _cleanup_(pn_server_freep) PnServer *server = NULL;
        PnManagerOptions manager_options = {
            .probe = options->probe,
            .sockets = options->probe_sockets,
            .interval =
                options->interval ? options->interval : (uint64_t)policy->interval_s * 1000 * 1000,
            .deadline = options->deadline,
            .policy = policy,
            .state = options->state,
        };
        Daemon daemon = {.options = *options};
        int r;

        r = sd_event_new(&event);
        if (r >= 0)
                r = set_signals(event);
        if (r >= 0)
                r = pn_manager_new(event, &manager_options, &manager);
        if (r >= 0)
                r = pn_hotplug_new(event, manager, &hotplug);
        if (r >= 0)
                r = pn_server_new(event, manager, &server);
        if (r >= 0)
                r = sd_event_set_watchdog(event, true);
        if (r < 0) {
                pn_log(PN_LOG_ERROR, "cannot start: %s", strerror(-r));
                return r;
        }
        daemon.server = server;
        r = open_sockets(&daemon, hotplug);
        if (r < 0)
                return r;
        pn_log(PN_LOG_INFO, "pnhwd " PN_VERSION " reads the hardware each %.3g s with %s",
               (double)manager_options.interval / 1e6, options->probe);
        r = pn_manager_start(manager, on_snapshot, &daemon);
        if (r >= 0)
                r = sd_event_loop(event);
        if (r < 0)
                pn_log(PN_LOG_ERROR, "the loop ended: %s", strerror(-r));
        (void)sd_notify(0, "STOPPING=1");
        return r;
}

/* Closed standard descriptors would be given to the lock, a socket or a client, and then get our
 * messages. */
static int fill_standard_descriptors(void)
{
        int fd;

        do
                fd = open("/dev/null", O_RDWR);
        while (fd >= 0 && fd <= STDERR_FILENO);
        if (fd < 0)
                return -errno;
        pn_close(fd);
        return 0;
}

int main(int argc, char **argv)
{
        _cleanup_(options_done) Options options = {
            .deadline = (uint64_t)10 * 1000 * 1000,
        };
        _cleanup_(pn_policy_done) PnPolicy policy = PN_POLICY_DEFAULT;
        int r;

        if (fill_standard_descriptors() < 0)
                return EXIT_FAILURE;
        r = parse_options(argc, argv, &options);
        if (r == 0)
                return EXIT_SUCCESS;
        if (r < 0)
                return r == -EIO ? EXIT_FAILURE : 2;
        if (options.check_config)
                return check_config();
        if (set_defaults(&options) < 0 || pn_config_load(&policy, log_problem, NULL) < 0)
                return EXIT_FAILURE;
        return run(&options, &policy) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
