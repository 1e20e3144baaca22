/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs pnhw-probe once, with a deadline and a cap: a drive that hangs must not hang the command. */

#include "probe.h"
#include "say.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

#define PROBE_DEADLINE_MS 30000
#define PROBE_OUTPUT_MAX  ((size_t)256 << 20)

static int64_t now_ms(void)
{
        struct timespec ts;

        (void)clock_gettime(CLOCK_MONOTONIC, &ts);
        return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Where the probe is: $PNHW_PROBE, beside this program (installed, or in a build directory), else
 * what the search path finds. malloc'ed, NULL without memory. */
static char *find_probe(void)
{
        static const char *const places[] = {"../lib/pnhw/pnhw-probe", "../libexec/pnhw/pnhw-probe",
                                             "../libexec/pnhw-probe", "pnhw-probe",
                                             "../daemon/probe/pnhw-probe"};
        const char *given = getenv("PNHW_PROBE");
        char self[PATH_MAX], *slash;
        ssize_t n;

        if (given && *given)
                return strdup(given);
        n = readlink("/proc/self/exe", self, sizeof self - 1);
        if (n > 0) {
                self[n] = '\0';
                slash = strrchr(self, '/');
                if (slash)
                        *slash = '\0';
                for (size_t i = 0; slash && i < PN_ELEMENTS(places); i++) {
                        _cleanup_free_ char *path = NULL;

                        if (asprintf(&path, "%s/%s", self, places[i]) < 0) {
                                path = NULL;
                                return NULL;
                        }
                        if (access(path, X_OK) == 0)
                                return PN_STEAL(path);
                }
        }
        return strdup("pnhw-probe");
}

/* The child's end: its first line of trouble arrives as errno on `report`, which closes on success.
 */
static _Noreturn void become_probe(const char *path, int out, int report)
{
        char *const argv[] = {(char[]){"pnhw-probe"}, NULL};
        int error, null = open("/dev/null", O_RDONLY | O_CLOEXEC);

        if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
                (void)execvp(path, argv);
        error = errno;
        (void)!write(report, &error, sizeof error);
        _exit(127);
}

typedef enum Ending { WHOLE, TOO_LATE, TOO_MUCH, BROKEN } Ending;

static Ending read_output(int fd, PnBuf *ret)
{
        int64_t deadline = now_ms() + PROBE_DEADLINE_MS;

        for (;;) {
                struct pollfd pollfd = {.fd = fd, .events = POLLIN};
                int64_t left = deadline - now_ms();
                char chunk[65536];
                ssize_t n;
                int r = poll(&pollfd, 1, left > 0 ? (int)left : 0);

                if (r < 0 && errno == EINTR)
                        continue;
                if (r < 0)
                        return BROKEN;
                if (r == 0)
                        return TOO_LATE;
                n = read(fd, chunk, sizeof chunk);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return BROKEN;
                if (n == 0)
                        return WHOLE;
                if (ret->len + (size_t)n > PROBE_OUTPUT_MAX)
                        return TOO_MUCH;
                pn_buf_put(ret, chunk, (size_t)n);
        }
}

/* Ends the probe, and waits for it only as long as a process that can end needs: one that is stuck
 * in a device's driver is left to the kernel. */
static bool reap(pid_t child, bool end_it, int *ret_status)
{
        if (end_it)
                (void)kill(child, SIGKILL);
        for (int i = 0; i < 200; i++) {
                pid_t r = waitpid(child, ret_status, WNOHANG);

                if (r == child)
                        return true;
                if (r < 0 && errno != EINTR)
                        return false;
                /* It has closed its output; if it does not go by itself it must be made to. */
                if (i == 100)
                        (void)kill(child, SIGKILL);
                (void)poll(NULL, 0, i < 20 ? 1 : 10);
        }
        return false;
}

static int judge(Cli *cli, const char *path, Ending ending, bool reaped, int status)
{
        switch (ending) {
        case TOO_LATE:
                return cli_fail(cli, "ProbeTimeout",
                                reaped
                                    ? N_("%s did not finish within %d seconds and was ended")
                                    : N_("%s did not finish within %d seconds and was ended; it is "
                                         "stuck in the kernel, so a device hangs: see the kernel "
                                         "log (dmesg)"),
                                path, PROBE_DEADLINE_MS / 1000);
        case TOO_MUCH:
                return cli_fail(cli, "BadProbe", "%s printed more than %zu MiB and was ended", path,
                                PROBE_OUTPUT_MAX >> 20);
        case BROKEN:
                return cli_fail(cli, "BadProbe", "cannot read what %s prints", path);
        case WHOLE:
                break;
        }
        if (reaped && WIFSIGNALED(status))
                return cli_fail(cli, "BadProbe", "%s crashed: %s", path,
                                strsignal(WTERMSIG(status)));
        if (reaped && WIFEXITED(status) && WEXITSTATUS(status) != 0)
                return cli_fail(cli, "BadProbe", "%s failed with exit status %d", path,
                                WEXITSTATUS(status));
        return 0;
}

int probe_run(Cli *cli, PnBuf *ret)
{
        _cleanup_free_ char *path = find_probe();
        _cleanup_close_ int out = -1, out_child = -1, report = -1, report_child = -1;
        int fds[2], status = 0, error = 0;
        Ending ending;
        bool reaped;
        pid_t child;

        if (!path) {
                cli->page.error = -ENOMEM;
                return EXIT_FAILURE;
        }
        if (pipe2(fds, O_CLOEXEC) < 0)
                return cli_fail(cli, "IO", "cannot make a pipe: %s", say_error(errno));
        out = fds[0];
        out_child = fds[1];
        if (pipe2(fds, O_CLOEXEC) < 0)
                return cli_fail(cli, "IO", "cannot make a pipe: %s", say_error(errno));
        report = fds[0];
        report_child = fds[1];

        child = fork();
        if (child < 0)
                return cli_fail(cli, "IO", "cannot start a process: %s", say_error(errno));
        if (child == 0)
                become_probe(path, out_child, report_child);
        pn_close(PN_STEAL_FD(out_child));
        pn_close(PN_STEAL_FD(report_child));
        if (read(report, &error, sizeof error) == (ssize_t)sizeof error) {
                (void)reap(child, false, &status);
                return cli_fail(cli, "NoProbe", "cannot run %s: %s", path, say_error(error));
        }
        ending = read_output(out, ret);
        reaped = reap(child, ending != WHOLE, &status);
        return judge(cli, path, ending, reaped, status);
}
