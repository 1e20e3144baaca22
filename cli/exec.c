/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a program for each alert, one after the other, none for ever. */

#include "exec.h"
#include "say.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* How long one may take; then how long it has to end by itself, and to be gone after SIGKILL. */
#define TIMEOUT_MS 60000
#define GRACE_MS   5000

/* Alerts that wait; more are told of and dropped, oldest first. */
#define QUEUE_MAX 1000

typedef enum Stage { NOT_RUNNING, RUNNING, ASKED_TO_END, KILLED } Stage;

struct Runner {
        Cli *cli;
        char *program; /* as it was given */
        sigset_t mask;
        int64_t timeout_ms;
        PN_LIST(PnFinding) queue; /* `state` is what happened */
        Stage stage;
        pid_t pid;
        int64_t deadline; /* CLOCK_MONOTONIC, ms; of the stage */
        PnFinding now;    /* what it runs for */
};

static int64_t now_ms(void)
{
        struct timespec ts;

        (void)clock_gettime(CLOCK_MONOTONIC, &ts);
        return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* The format is an English text, translated here. */
static void _printf_(2, 3) tell(const Runner *runner, const char *format, ...)
{
        _cleanup_free_ char *words = NULL, *line = NULL;
        va_list args;

        va_start(args, format);
        if (vasprintf(&words, say(format), args) < 0)
                words = NULL;
        va_end(args);
        if (words && asprintf(&line, "%s (%s %s): %s", runner->program, runner->now.id.v,
                              runner->now.state.v, words) < 0)
                line = NULL;
        if (line)
                cli_note(runner->cli, line);
}

/* Whether execvp() would find it. */
static bool is_there(const char *program)
{
        const char *path = getenv("PATH");
        struct stat st;

        if (strchr(program, '/')) {
                if (access(program, X_OK) < 0 || stat(program, &st) < 0)
                        return false;
                errno = EACCES;
                return S_ISREG(st.st_mode);
        }
        for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
                size_t n = strcspn(at, ":");
                char file[PATH_MAX];

                if (snprintf(file, sizeof file, "%.*s/%s", (int)n, at, program) <
                        (int)sizeof file &&
                    access(file, X_OK) == 0)
                        return true;
                at += n + (at[n] == ':');
        }
        errno = ENOENT;
        return false;
}

int runner_new(Cli *cli, const char *program, const sigset_t *mask, Runner **ret)
{
        _cleanup_(runner_freep) Runner *runner = NULL;
        const char *seconds = getenv("PNHW_EXEC_TIMEOUT");

        if (!*program || !is_there(program)) {
                int why = errno;

                return cli_fail(cli, "NoProgram", "--exec=%s: %s", program,
                                !*program       ? _("the name of a program is needed")
                                : why == EACCES ? _("is no program that may be run")
                                                : say_error(why));
        }
        runner = calloc(1, sizeof *runner);
        if (!runner)
                return cli_out_of_memory(cli);
        runner->cli = cli;
        runner->program = strdup(program);
        if (!runner->program)
                return cli_out_of_memory(cli);
        runner->mask = *mask;
        runner->timeout_ms = TIMEOUT_MS;
        if (seconds && *seconds) {
                char *end;
                double given = strtod(seconds, &end);

                if (*end || !(given > 0 && given <= 86400))
                        return cli_fail(cli, "Usage",
                                        "PNHW_EXEC_TIMEOUT=%s: more than 0 and at most 86400 "
                                        "seconds are possible",
                                        seconds);
                runner->timeout_ms = (int64_t)(given * 1000) + 1;
        }
        *ret = PN_STEAL(runner);
        return 0;
}

void runner_free(Runner *runner)
{
        if (!runner)
                return;
        if (runner->queue.n) {
                char line[128];

                (void)snprintf(line, sizeof line,
                               say_n("ended before the program was run for %u alert",
                                     "ended before the program was run for %u alerts",
                                     runner->queue.n),
                               runner->queue.n);
                cli_note(runner->cli, line);
        }
        for (unsigned i = 0; i < runner->queue.n; i++)
                pn_done(pn_type_Finding(), &runner->queue.v[i]);
        free(runner->queue.v);
        pn_done(pn_type_Finding(), &runner->now);
        free(runner->program);
        free(runner);
}

int runner_add(Runner *runner, const PnFinding *finding, const char *state)
{
        PnFinding *queued;

        if (runner->queue.n >= QUEUE_MAX) {
                cli_note(runner->cli,
                         _("too many alerts wait for the program: the oldest is dropped"));
                pn_list_remove(pn_type_Finding(), &runner->queue, 0);
        }
        queued = PN_APPEND(&runner->queue);
        if (!queued || pn_copy(pn_type_Finding(), queued, finding) < 0 ||
            pn_set_text(&queued->state, state) < 0)
                return -ENOMEM;
        return 0;
}

/* A descriptor from which the finding can be read as JSON; a pipe could fill up. */
static int finding_as_file(const PnFinding *finding)
{
        _cleanup_close_ int fd = memfd_create("finding", MFD_CLOEXEC);
        _cleanup_buf_ PnBuf json = {0};

        if (fd < 0)
                return -errno;
        pn_write_json(&json, pn_type_Finding(), finding);
        pn_buf_put(&json, "\n", 1);
        if (json.error)
                return json.error;
        for (size_t done = 0; done < json.len;) {
                ssize_t n = write(fd, json.data + done, json.len - done);

                if (n < 0 && errno != EINTR)
                        return -errno;
                done += n > 0 ? (size_t)n : 0;
        }
        if (lseek(fd, 0, SEEK_SET) < 0)
                return -errno;
        return PN_STEAL_FD(fd);
}

static void set_variable(const char *name, const PnText *text)
{
        (void)setenv(name, pn_text(text) ? text->v : "", 1);
}

/* The child's end: what is wrong arrives as errno on `report`, which closes on success. */
static _Noreturn void become_program(const Runner *runner, int in, int report)
{
        const PnFinding *finding = &runner->now;
        char *const argv[] = {runner->program, NULL};
        int error;

        set_variable("PNHW_ID", &finding->id);
        set_variable("PNHW_CODE", &finding->code);
        set_variable("PNHW_STATE", &finding->state);
        set_variable("PNHW_SEVERITY", &finding->severity);
        set_variable("PNHW_DEVICE", &finding->device);
        set_variable("PNHW_SUBJECT", &finding->subject);
        set_variable("PNHW_SUMMARY", &finding->summary);
        set_variable("PNHW_ADVICE", &finding->advice);
        /* Ours has JSON for somebody else. */
        if (runner->cli->json != JSON_OFF)
                (void)dup2(STDERR_FILENO, STDOUT_FILENO);
        /* A group of its own, so that what it starts ends with it. */
        (void)setpgid(0, 0);
        (void)sigprocmask(SIG_SETMASK, &runner->mask, NULL);
        if (dup2(in, STDIN_FILENO) >= 0)
                (void)execvp(runner->program, argv);
        error = errno;
        (void)!write(report, &error, sizeof error);
        _exit(127);
}

static void start(Runner *runner)
{
        _cleanup_close_ int in = -1, report = -1, report_child = -1;
        int fds[2], error = 0;

        pn_done(pn_type_Finding(), &runner->now);
        runner->now = runner->queue.v[0];
        /* What it holds is ours now. */
        memset(&runner->queue.v[0], 0, sizeof runner->queue.v[0]);
        pn_list_remove(pn_type_Finding(), &runner->queue, 0);
        in = finding_as_file(&runner->now);
        if (in < 0 || pipe2(fds, O_CLOEXEC) < 0) {
                tell(runner, "cannot be started: %s", say_error(in < 0 ? -in : errno));
                return;
        }
        report = fds[0];
        report_child = fds[1];
        runner->pid = fork();
        if (runner->pid < 0) {
                tell(runner, "cannot be started: %s", say_error(errno));
                return;
        }
        if (runner->pid == 0)
                become_program(runner, in, report_child);
        pn_close(PN_STEAL_FD(report_child));
        if (read(report, &error, sizeof error) == (ssize_t)sizeof error) {
                tell(runner, "cannot be started: %s", say_error(error));
                (void)waitpid(runner->pid, NULL, 0);
                return;
        }
        runner->stage = RUNNING;
        runner->deadline = now_ms() + runner->timeout_ms;
}

static void look_at_end(Runner *runner, int status)
{
        if (WIFSIGNALED(status) && runner->stage == RUNNING)
                tell(runner, "ended by signal %d (%s)", WTERMSIG(status),
                     strsignal(WTERMSIG(status)));
        else if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
                tell(runner, "failed with exit status %d", WEXITSTATUS(status));
        runner->stage = NOT_RUNNING;
}

static void hurry(Runner *runner)
{
        switch (runner->stage) {
        case RUNNING:
                tell(runner, "did not end within %g seconds and is stopped",
                     (double)(runner->timeout_ms / 100) / 10);
                (void)kill(-runner->pid, SIGTERM);
                runner->stage = ASKED_TO_END;
                break;
        case ASKED_TO_END:
                (void)kill(-runner->pid, SIGKILL);
                runner->stage = KILLED;
                break;
        case KILLED:
                tell(runner, "cannot be stopped and is left behind");
                runner->stage = NOT_RUNNING;
                break;
        case NOT_RUNNING:
                break;
        }
        runner->deadline = now_ms() + GRACE_MS;
}

void runner_step(Runner *runner)
{
        for (;;) {
                int status = 0;
                pid_t ended;

                if (runner->stage == NOT_RUNNING && runner->queue.n == 0)
                        return;
                if (runner->stage == NOT_RUNNING) {
                        start(runner);
                        continue;
                }
                ended = waitpid(runner->pid, &status, WNOHANG);
                if (ended == runner->pid)
                        look_at_end(runner, status);
                else if (now_ms() >= runner->deadline)
                        hurry(runner);
                else
                        return;
        }
}

int runner_wait_ms(const Runner *runner)
{
        int64_t left = runner->deadline - now_ms();

        if (runner->stage == NOT_RUNNING)
                return runner->queue.n ? 0 : -1;
        return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}
