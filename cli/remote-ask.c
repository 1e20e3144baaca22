/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs ssh for many hosts side by side and takes what they print, with a deadline and a cap for
 * each. Reads none of it. */

#include "remote-ask.h"
#include "say.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define HOSTS_AT_ONCE   64u
#define COMPLAINT_MAX   8192u
#define CONNECT_SECONDS 10
#define SILENCE_MS      1000

static volatile sig_atomic_t interrupted;

static void interrupt(_unused_ int signal_number)
{
        interrupted = 1;
}

static int64_t now_ms(void)
{
        struct timespec ts;

        (void)clock_gettime(CLOCK_MONOTONIC, &ts);
        return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* The child's end: why it cannot run ssh arrives as errno on `report`, which closes on success. */
static _Noreturn void become_ssh(const Hosts *hosts, const Host *host, int out, int complaint,
                                 int report)
{
        char timeout[40];
        int error, null = open("/dev/null", O_RDONLY | O_CLOEXEC);

        (void)snprintf(timeout, sizeof timeout, "ConnectTimeout=%d", CONNECT_SECONDS);
        if (hosts->mask)
                (void)sigprocmask(SIG_SETMASK, hosts->mask, NULL);
        if (hosts->stays)
                (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
            dup2(complaint, STDERR_FILENO) >= 0)
                (void)execlp(hosts->ssh, hosts->ssh, "-T", "-o", "BatchMode=yes", "-o", timeout,
                             hosts->stays ? "-oServerAliveInterval=15" : "-T", "--", host->name,
                             hosts->command, (char *)NULL);
        error = errno;
        (void)!write(report, &error, sizeof error);
        _exit(127);
}

static int make_pipe(int *ret_read, int *ret_write)
{
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        *ret_read = fds[0];
        *ret_write = fds[1];
        return 0;
}

/* Starts ssh. What goes wrong is the host's `error`. */
void remote_start(const Hosts *hosts, Host *host)
{
        _cleanup_close_ int out = -1, complaint = -1, report = -1, report_child = -1;
        int error = 0;

        host->progress = NO_SSH;
        if ((host->error = -make_pipe(&host->out, &out)) ||
            (host->error = -make_pipe(&host->complaint, &complaint)) ||
            (host->error = -make_pipe(&report, &report_child)))
                return;
        host->child = fork();
        if (host->child < 0) {
                host->error = errno;
                return;
        }
        if (host->child == 0)
                become_ssh(hosts, host, out, complaint, report_child);
        pn_close(PN_STEAL_FD(report_child));
        if (read(report, &error, sizeof error) == (ssize_t)sizeof error) {
                host->error = error;
                (void)waitpid(host->child, NULL, 0);
                return;
        }
        (void)fcntl(host->complaint, F_SETFL, O_NONBLOCK);
        host->progress = ASKED;
        host->deadline = now_ms() + hosts->patience_ms;
}

/* ---- answers ---- */

/* False at the end of what there is to read. */
static bool take(int fd, PnBuf *into, size_t most, bool *ret_too_much)
{
        char chunk[65536];
        ssize_t n = read(fd, chunk, sizeof chunk);

        if (n < 0)
                return errno == EINTR || errno == EAGAIN;
        if (into->len + (size_t)n > most) {
                *ret_too_much = true;
                n = (ssize_t)(most - into->len);
        }
        pn_buf_put(into, chunk, (size_t)n);
        return n > 0 || *ret_too_much;
}

void remote_take_complaints(Host *host)
{
        bool full = false;

        if (host->complaint >= 0 && !take(host->complaint, &host->complaints, COMPLAINT_MAX, &full))
                pn_close(PN_STEAL_FD(host->complaint));
        /* The rest is read and forgotten, so that ssh is not held up. */
}

bool remote_take_answer(Host *host, size_t most, bool *ret_too_much)
{
        return take(host->out, &host->answer, most, ret_too_much);
}

void remote_finish(Host *host, Progress progress)
{
        host->progress = progress;
        pn_close(PN_STEAL_FD(host->out));
        if (progress != ANSWERED)
                (void)kill(host->child, SIGKILL);
        for (int i = 0; i < 200; i++) {
                pid_t r = waitpid(host->child, &host->status, WNOHANG);

                if (r == host->child || (r < 0 && errno != EINTR))
                        break;
                if (r == 0)
                        host->status = -1;
                if (i == 100)
                        (void)kill(host->child, SIGKILL);
                (void)poll(NULL, 0, i < 20 ? 1 : 10);
        }
        remote_take_complaints(host);
        pn_close(PN_STEAL_FD(host->complaint));
}

static void read_host(Host *host)
{
        bool too_much = false;

        if (!take(host->out, &host->answer, HOST_ANSWER_MAX, &too_much))
                remote_finish(host, ANSWERED);
        else if (too_much)
                remote_finish(host, TOO_MUCH);
}

/* Waits until a host says something or its time is up. */
static int wait_for_some(Hosts *hosts, unsigned running)
{
        _cleanup_free_ struct pollfd *fds = calloc((size_t)running * 2, sizeof *fds);
        _cleanup_free_ Host **owners = calloc((size_t)running * 2, sizeof(Host *));
        int64_t now = now_ms(), first = now + SILENCE_MS;
        nfds_t n = 0;

        if (!fds || !owners)
                return -ENOMEM;
        for (unsigned i = 0; i < hosts->n; i++) {
                Host *host = &hosts->v[i];

                if (host->progress != ASKED)
                        continue;
                if (host->deadline < first)
                        first = host->deadline;
                owners[n] = host;
                fds[n++] = (struct pollfd){.fd = host->out, .events = POLLIN};
                owners[n] = host;
                fds[n++] = (struct pollfd){.fd = host->complaint, .events = POLLIN};
        }
        if (poll(fds, n, first > now ? (int)(first - now) : 0) < 0)
                return errno == EINTR ? 0 : -errno;
        now = now_ms();
        for (nfds_t i = 0; i < n; i++) {
                if (owners[i]->progress != ASKED)
                        continue;
                if (fds[i].revents && i % 2)
                        remote_take_complaints(owners[i]);
                else if (fds[i].revents)
                        read_host(owners[i]);
                else if (owners[i]->deadline <= now)
                        remote_finish(owners[i], TOO_LATE);
        }
        return 0;
}

/* Who is waited for, on a terminal, in place of a command that seems to hang. */
static void show_waiting(const Hosts *hosts, bool *shown, bool at_end)
{
        char line[200], text[160] = "";
        unsigned n = 0, left = 0;
        const char *name = NULL;

        if (!isatty(STDERR_FILENO) || (at_end && !*shown))
                return;
        for (unsigned i = 0; i < hosts->n; i++)
                if (hosts->v[i].progress == ASKED || hosts->v[i].progress == NOT_ASKED) {
                        left++;
                        name = name ? name : hosts->v[i].name;
                } else {
                        n++;
                }
        if (at_end || !name)
                (void)snprintf(line, sizeof line, "\r%*s\r", 78, "");
        else if (left == 1)
                (void)snprintf(text, sizeof text, _("%.60s has not answered yet"), name);
        else
                (void)snprintf(text, sizeof text, _("%u of %u hosts have answered"), n, hosts->n);
        if (*text)
                (void)snprintf(line, sizeof line, "\r%s%6s", text, "");
        *shown = true;
        (void)!write(STDERR_FILENO, line, strlen(line));
}

int remote_ask_all(Hosts *hosts)
{
        struct sigaction action = {.sa_handler = interrupt}, before;
        int64_t started = now_ms();
        bool shown = false;
        unsigned next = 0;
        int r = 0;

        (void)sigaction(SIGINT, &action, &before);
        while (r == 0) {
                unsigned running = 0;

                for (unsigned i = 0; i < hosts->n; i++)
                        running += hosts->v[i].progress == ASKED;
                while (!interrupted && running < HOSTS_AT_ONCE && next < hosts->n) {
                        remote_start(hosts, &hosts->v[next]);
                        running += hosts->v[next++].progress == ASKED;
                }
                if (!running || interrupted)
                        break;
                r = wait_for_some(hosts, running);
                if (now_ms() - started >= SILENCE_MS)
                        show_waiting(hosts, &shown, false);
        }
        for (unsigned i = 0; i < hosts->n; i++)
                if (hosts->v[i].progress == ASKED)
                        remote_finish(&hosts->v[i], NOT_WAITED_FOR);
                else if (hosts->v[i].progress == NOT_ASKED)
                        hosts->v[i].progress = NOT_WAITED_FOR;
        show_waiting(hosts, &shown, true);
        (void)sigaction(SIGINT, &before, NULL);
        return r;
}
