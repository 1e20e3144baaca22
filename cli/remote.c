/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Asks other machines over ssh, side by side, and runs a verb on each answer. What comes back is
 * as foreign as what a device says. Knows no hardware and no layout. */

#include "remote.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

#include "facts.h"
#include "table.h"

#define HOSTS_AT_ONCE     64u
#define HOSTS_MAX         1024u
#define ANSWER_MAX        ((size_t)256 << 20)
#define COMPLAINT_MAX     8192u
#define CONNECT_SECONDS   10
#define ANSWER_SECONDS    20
#define ONCE_MORE_SECONDS 30 /* a probe that is run there may take this long */
#define SILENCE_MS        1000

typedef enum Progress {
        NOT_ASKED,
        ASKED,
        ANSWERED,
        TOO_LATE,
        TOO_MUCH,
        NOT_WAITED_FOR,
        NO_SSH
} Progress;

typedef struct Host {
        char *name;
        Progress progress;
        pid_t child;
        int out, complaint; /* what ssh prints, and what it complains of */
        int64_t deadline;
        PnBuf answer, complaints;
        int status; /* as waitpid() gives it; -1: not ended */
        int error;  /* why ssh could not be run */
} Host;

typedef struct Hosts {
        Host *v;
        unsigned n;
        const char *ssh;
        char *command; /* for the shell over there */
        int64_t patience_ms;
} Hosts;

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

static void hosts_done(Hosts *hosts)
{
        for (unsigned i = 0; i < hosts->n; i++) {
                free(hosts->v[i].name);
                pn_close(hosts->v[i].out);
                pn_close(hosts->v[i].complaint);
                pn_buf_done(&hosts->v[i].answer);
                pn_buf_done(&hosts->v[i].complaints);
        }
        free(hosts->v);
        free(hosts->command);
}

/* ---- names of hosts ---- */

/* What ssh would take for an option, and a shell for more than a word, is no host. */
static bool is_host(const char *name)
{
        static const char allowed[] =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
            "._-:%[]";
        const char *at = strchr(name, '@'), *host = at ? at + 1 : name;

        return *name && *name != '-' && *name != '@' && *host && *host != '-' &&
               strspn(host, allowed) == strlen(host) &&
               (!at || strspn(name, allowed) == (size_t)(at - name)) && strlen(name) < 256;
}

static int add_host(Cli *cli, Hosts *hosts, const char *list, size_t length)
{
        _cleanup_free_ char *name = strndup(list, length);
        Host *grown;

        if (!name)
                return cli_out_of_memory(cli);
        if (!is_host(name))
                return cli_fail(cli, "Usage",
                                *name ? "--host: %s is no name of a host; as in root@web1,web2"
                                      : "--host: a name is empty%s; as in root@web1,web2",
                                name);
        for (unsigned i = 0; i < hosts->n; i++)
                if (strcmp(hosts->v[i].name, name) == 0)
                        return 0;
        if (hosts->n == HOSTS_MAX)
                return cli_fail(cli, "Usage", "--host: more than %u hosts", HOSTS_MAX);
        grown = reallocarray(hosts->v, hosts->n + 1, sizeof *grown);
        if (!grown)
                return cli_out_of_memory(cli);
        hosts->v = grown;
        hosts->v[hosts->n++] =
            (Host){.name = PN_STEAL(name), .out = -1, .complaint = -1, .status = -1};
        return 0;
}

static int add_hosts(Cli *cli, Hosts *hosts)
{
        const char *list = cli->hosts;

        for (;;) {
                size_t length = strcspn(list, ",");
                int r = add_host(cli, hosts, list, length);

                if (r || !list[length])
                        return r;
                list += length + 1;
        }
}

/* ---- what is run over there ---- */

/* A word as every shell takes it. */
static void put_quoted(PnBuf *out, const char *word)
{
        pn_buf_puts(out, "'");
        for (; *word; word++)
                if (*word == '\'')
                        pn_buf_puts(out, "'\\''");
                else
                        pn_buf_put(out, word, 1);
        pn_buf_puts(out, "'");
}

static int make_command(Cli *cli, Hosts *hosts, const char *wanted)
{
        PnBuf command = {0};

        /* Words of our own are clean. */
        for (const char *s = wanted; *s; s++)
                if ((unsigned char)*s < ' ' || *s == 0x7f)
                        return cli_fail(cli, "NoSuchDevice", "no device has a name like %s",
                                        wanted + strlen(FACTS_DEVICE));
        pn_buf_puts(&command, "pnhwctl --json=short ");
        if (cli->once)
                pn_buf_puts(&command, "--once ");
        if (cli->socket_given) {
                pn_buf_puts(&command, "--socket=");
                put_quoted(&command, cli->socket);
                pn_buf_puts(&command, " ");
        }
        pn_buf_puts(&command, "facts ");
        put_quoted(&command, wanted);
        return pn_buf_take(&command, &hosts->command, NULL) < 0 ? cli_out_of_memory(cli) : 0;
}

/* The child's end: why it cannot run ssh arrives as errno on `report`, which closes on success. */
static _Noreturn void become_ssh(const Hosts *hosts, const Host *host, int out, int complaint,
                                 int report)
{
        char timeout[40];
        int error, null = open("/dev/null", O_RDONLY | O_CLOEXEC);

        (void)snprintf(timeout, sizeof timeout, "ConnectTimeout=%d", CONNECT_SECONDS);
        if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
            dup2(complaint, STDERR_FILENO) >= 0)
                (void)execlp(hosts->ssh, hosts->ssh, "-T", "-o", "BatchMode=yes", "-o", timeout,
                             "--", host->name, hosts->command, (char *)NULL);
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
static void ask(const Hosts *hosts, Host *host)
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

static void take_complaints(Host *host)
{
        bool full = false;

        if (host->complaint >= 0 && !take(host->complaint, &host->complaints, COMPLAINT_MAX, &full))
                pn_close(PN_STEAL_FD(host->complaint));
        /* The rest is read and forgotten, so that ssh is not held up. */
}

/* Ends with a host, ssh included. It is waited for only as long as a process that can end needs. */
static void finish(Host *host, Progress progress)
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
        take_complaints(host);
        pn_close(PN_STEAL_FD(host->complaint));
}

static void read_host(Host *host)
{
        bool too_much = false;

        if (!take(host->out, &host->answer, ANSWER_MAX, &too_much))
                finish(host, ANSWERED);
        else if (too_much)
                finish(host, TOO_MUCH);
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
                        take_complaints(owners[i]);
                else if (fds[i].revents)
                        read_host(owners[i]);
                else if (owners[i]->deadline <= now)
                        finish(owners[i], TOO_LATE);
        }
        return 0;
}

/* Who is waited for, on a terminal, in place of a command that seems to hang. */
static void show_waiting(const Hosts *hosts, bool *shown, bool at_end)
{
        char line[160];
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
                (void)snprintf(line, sizeof line, "\r%-.60s has not answered yet%6s", name, "");
        else
                (void)snprintf(line, sizeof line, "\r%u of %u hosts have answered%6s", n, hosts->n,
                               "");
        *shown = true;
        (void)!write(STDERR_FILENO, line, strlen(line));
}

/* Asks all hosts, so many at once that a slow one delays nobody. 0 or -errno. */
static int ask_all(Hosts *hosts)
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
                        ask(hosts, &hosts->v[next]);
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
                        finish(&hosts->v[i], NOT_WAITED_FOR);
                else if (hosts->v[i].progress == NOT_ASKED)
                        hosts->v[i].progress = NOT_WAITED_FOR;
        show_waiting(hosts, &shown, true);
        (void)sigaction(SIGINT, &before, NULL);
        return r;
}

/* ---- showing ---- */

/* The last line of what ssh, or the shell over there, said. malloc'ed, NULL without memory. */
static char *last_complaint(const Host *host)
{
        const char *text = host->complaints.data ? host->complaints.data : "", *end, *begin;

        end = text + strlen(text);
        while (end > text && strchr(" \t\r\n", end[-1]))
                end--;
        begin = end;
        while (begin > text && begin[-1] != '\n' && begin[-1] != '\r')
                begin--;
        return strndup(begin, (size_t)(end - begin));
}

/* Says why a host has no answer, on its own page. 0 if it has one. */
static int judge(Cli *one, const Hosts *hosts, const Host *host)
{
        _cleanup_free_ char *said = last_complaint(host);
        const char *colon = said && *said ? ": " : "";
        int code = host->status >= 0 && WIFEXITED(host->status) ? WEXITSTATUS(host->status) : -1;

        if (!said || host->answer.error)
                return cli_out_of_memory(one);
        switch (host->progress) {
        case NO_SSH:
                return cli_fail(one, "NoSsh", "cannot run %s: %s", hosts->ssh,
                                strerror(host->error));
        case TOO_LATE:
                return cli_fail(one, "Timeout", "no answer within %g seconds%s%s",
                                (double)hosts->patience_ms / 1000, colon, said);
        case TOO_MUCH:
                return cli_fail(one, "BadAnswer", "its answer is longer than %zu MiB",
                                ANSWER_MAX >> 20);
        case ANSWERED:
                break;
        default:
                return cli_fail(one, "Interrupted", "was not waited for");
        }
        if (host->answer.len && code >= 0 && code != 255 && code != 127)
                return 0; /* an answer, or in its place the reason */
        if (code == 127)
                return cli_fail(one, "NoPnhwctl", "pnhwctl is not installed there%s%s", colon,
                                said);
        if (code == 255)
                return cli_fail(one, "NoConnection", "%s", *said ? said : "ssh failed");
        return cli_fail(one, "BadAnswer", "gave no answer%s%s", colon, said);
}

typedef struct Show {
        Cli *cli;
        Cli one; /* for one host; here, because the table keeps an eye on its terminal */
        VerbFunction verb;
        const char *argument;
        Table *table; /* of all hosts */
        PnBuf notes;  /* in place of a host's rows */
        PnBuf json;
        unsigned n;
} Show;

static void put_json_entry(Show *show, const Host *host, const PnBuf *page, int code)
{
        pn_buf_puts(&show->json, show->n++ ? ",{\"host\":" : "[{\"host\":");
        pn_buf_json_string(&show->json, host->name);
        if (code == 0) {
                pn_buf_puts(&show->json, ",\"answer\":");
                pn_buf_put(&show->json, page->data, page->len);
        } else {
                /* {"error", "message"} */
                pn_buf_puts(&show->json, ",");
                pn_buf_put(&show->json, page->data + 1, page->len - 1);
                return;
        }
        pn_buf_puts(&show->json, "}");
}

static void put_page(Show *show, const Host *host, const PnBuf *page)
{
        PnBuf *out = &show->cli->page;

        if (show->one.has_joined) {
                pn_buf_put(&show->notes, page->data, page->len);
                return;
        }
        if (!page->len)
                return;
        pn_buf_puts(out, out->len ? "\n" : "");
        if (!show->cli->no_legend) {
                term_put_styled(&show->cli->term, out, STYLE_BOLD, host->name);
                pn_buf_puts(out, "\n");
        }
        pn_buf_put(out, page->data, page->len);
}

static int show_host(Show *show, const Hosts *hosts, const Host *host, const char *wanted)
{
        Remote remote = {.host = host->name,
                         .wanted = (char *)(uintptr_t)wanted,
                         .answer = host->answer.data,
                         .length = host->answer.len};
        Cli *one = &show->one;
        bool several = hosts->n > 1;
        int code;

        *one = *show->cli;
        one->page = (PnBuf){0};
        one->remote = &remote;
        if (several && one->json != JSON_OFF)
                one->json = JSON_SHORT;
        if (several)
                one->join = &show->table;
        code = judge(one, hosts, host);
        if (code == 0)
                code = show->verb(one, show->argument);
        if (one->page.error)
                show->cli->page.error = one->page.error;
        else if (!several)
                pn_buf_put(&show->cli->page, one->page.data, one->page.len);
        else if (one->json != JSON_OFF && one->page.len)
                put_json_entry(show, host, &one->page, code);
        else
                put_page(show, host, &one->page);
        pn_buf_done(&one->page);
        one->remote = NULL;
        return code;
}

static void show_all(Show *show)
{
        Cli *cli = show->cli;

        if (show->json.len) {
                pn_buf_puts(&show->json, "]");
                cli_put_json_buffer(cli, &show->json);
        }
        if (show->table)
                table_print(show->table, &cli->page, !cli->no_legend);
        if (show->notes.len) {
                pn_buf_puts(&cli->page, cli->page.len ? "\n" : "");
                pn_buf_put(&cli->page, show->notes.data, show->notes.len);
        }
        if (show->notes.error)
                cli->page.error = show->notes.error;
        table_free(show->table);
        pn_buf_done(&show->notes);
        pn_buf_done(&show->json);
}

int remote_run(Cli *cli, VerbFunction verb, const char *argument)
{
        _cleanup_(hosts_done) Hosts hosts = {.ssh = getenv("PNHW_SSH")};
        Remote question = {0};
        _cleanup_free_ char *wanted = NULL;
        Show show = {.cli = cli, .verb = verb, .argument = argument};
        int r, code = 0;

        if (!hosts.ssh || !*hosts.ssh)
                hosts.ssh = "ssh";
        hosts.patience_ms = cli->timeout > 0
                                ? (int64_t)(cli->timeout * 1000)
                                : (ANSWER_SECONDS + (cli->once ? ONCE_MORE_SECONDS : 0)) * 1000;
        r = add_hosts(cli, &hosts);
        if (r)
                return r;
        /* The verb says what it wants to know, and is stopped there. */
        cli->remote = &question;
        r = verb(cli, argument);
        cli->remote = NULL;
        wanted = question.wanted;
        if (!wanted)
                return r;
        r = make_command(cli, &hosts, wanted);
        if (r)
                return r;
        r = ask_all(&hosts);
        if (r < 0)
                return r == -ENOMEM
                           ? cli_out_of_memory(cli)
                           : cli_fail(cli, "IO", "cannot wait for hosts: %s", strerror(-r));
        for (unsigned i = 0; i < hosts.n; i++)
                if (show_host(&show, &hosts, &hosts.v[i], wanted) != 0)
                        code = EXIT_FAILURE;
        show_all(&show);
        return code;
}
