/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a verb for other machines: what it wants to know is asked there (remote-ask.h), and it is
 * run on each answer. What comes back is as foreign as what a device says. Knows no hardware and no
 * layout. */

#include "remote.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

#include "facts.h"
#include "remote-ask.h"
#include "say.h"
#include "table.h"

#define HOSTS_MAX         1024u
#define ANSWER_SECONDS    20
#define ONCE_MORE_SECONDS 30 /* a probe that is run there may take this long */

void remote_hosts_done(Hosts *hosts)
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
                                *name ? N_("--host: %s is no name of a host; as in root@web1,web2")
                                      : N_("--host: a name is empty%s; as in root@web1,web2"),
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

static int make_command(Cli *cli, Hosts *hosts, const char *wanted, const char *argument)
{
        PnBuf command = {0};

        /* Words of our own are clean. */
        for (const char *s = wanted; *s; s++)
                if ((unsigned char)*s < ' ' || *s == 0x7f)
                        return cli_fail(cli, "NoSuchDevice", "no device has a name like %s",
                                        argument ? argument : wanted);
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

static int set_up(Cli *cli, Hosts *hosts)
{
        const char *ssh = getenv("PNHW_SSH");

        *hosts = (Hosts){
            .ssh = ssh && *ssh ? ssh : "ssh",
            .patience_ms = cli->timeout > 0
                               ? (int64_t)(cli->timeout * 1000)
                               : (ANSWER_SECONDS + (cli->once ? ONCE_MORE_SECONDS : 0)) * 1000,
        };
        return add_hosts(cli, hosts);
}

int remote_hosts(Cli *cli, const char *wanted, const char *argument, Hosts *ret)
{
        _cleanup_(remote_hosts_done) Hosts hosts;
        int r = set_up(cli, &hosts);

        if (r == 0)
                r = make_command(cli, &hosts, wanted, argument);
        if (r)
                return r;
        *ret = hosts;
        hosts = (Hosts){0};
        return 0;
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

static int _printf_(3, 4) because(char **ret, int code, const char *format, ...)
{
        va_list args;
        int r;

        va_start(args, format);
        r = vasprintf(ret, format, args);
        va_end(args);
        if (r < 0) {
                *ret = NULL;
                return -ENOMEM;
        }
        return code;
}

int remote_explain(const Hosts *hosts, const Host *host, const char **ret_error,
                   char **ret_sentence)
{
        _cleanup_free_ char *said = last_complaint(host);
        const char *colon = said && *said ? ": " : "";
        int code = host->status >= 0 && WIFEXITED(host->status) ? WEXITSTATUS(host->status) : -1;

        if (!said || host->answer.error)
                return -ENOMEM;
        switch (host->progress) {
        case NO_SSH:
                *ret_error = "NoSsh";
                return because(ret_sentence, 1, _("cannot run %s: %s"), hosts->ssh,
                               say_error(host->error));
        case TOO_LATE:
                *ret_error = "Timeout";
                return because(ret_sentence, 1, _("no answer within %g seconds%s%s"),
                               (double)hosts->patience_ms / 1000, colon, said);
        case TOO_MUCH:
                *ret_error = "BadAnswer";
                return because(ret_sentence, 1, _("its answer is longer than %zu MiB"),
                               HOST_ANSWER_MAX >> 20);
        case ANSWERED:
                break;
        default:
                *ret_error = "Interrupted";
                return because(ret_sentence, 1, "%s", _("was not waited for"));
        }
        if (host->answer.len && code >= 0 && code != 255 && code != 127)
                return 0; /* an answer, or in its place the reason */
        if (code == 127) {
                *ret_error = "NoPnhwctl";
                return because(ret_sentence, 1, _("pnhwctl is not installed there%s%s"), colon,
                               said);
        }
        if (code == 255) {
                *ret_error = "NoConnection";
                return because(ret_sentence, 1, "%s", *said ? said : _("ssh failed"));
        }
        *ret_error = "BadAnswer";
        return because(ret_sentence, 1, _("gave no answer%s%s"), colon, said);
}

/* Says why a host has no answer, on its own page. 0 if it has one. */
static int judge(Cli *one, const Hosts *hosts, const Host *host)
{
        _cleanup_free_ char *sentence = NULL;
        const char *error = NULL;
        int r = remote_explain(hosts, host, &error, &sentence);

        return r < 0 ? cli_out_of_memory(one) : r ? cli_fail(one, error, "%s", sentence) : 0;
}

typedef struct Show {
        Cli *cli;
        Cli one; /* for one host; here, because the table keeps an eye on its terminal */
        VerbFunction verb;
        const char *argument;
        RemoteTake take; /* NULL: they are shown here */
        Table *table;    /* of all hosts */
        PnBuf notes;     /* in place of a host's rows */
        PnBuf json;
        unsigned n;
} Show;

static void put_json_entry(Show *show, const Host *host, const PnBuf *page, bool has_failed)
{
        pn_buf_puts(&show->json, show->n++ ? ",{\"host\":" : "[{\"host\":");
        pn_buf_json_string(&show->json, host->name);
        if (!has_failed) {
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
        else if (show->take)
                show->take(show->cli,
                           &(RemoteResult){host->name, &one->page, code, remote.has_failed});
        else if (!several)
                pn_buf_put(&show->cli->page, one->page.data, one->page.len);
        else if (one->json != JSON_OFF && one->page.len)
                put_json_entry(show, host, &one->page, remote.has_failed);
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

int remote_worse(const Cli *cli, int a, int b)
{
        static const unsigned badness[] = {0, 2, 3, 1}; /* 3 is CHECK_UNKNOWN */

        if (!cli->for_monitoring)
                return a || b ? EXIT_FAILURE : 0;
        return badness[(unsigned)a % 4] >= badness[(unsigned)b % 4] ? a : b;
}

int remote_run(Cli *cli, VerbFunction verb, const char *argument)
{
        return remote_collect(cli, verb, argument, NULL);
}

int remote_collect(Cli *cli, VerbFunction verb, const char *argument, RemoteTake take)
{
        _cleanup_(remote_hosts_done) Hosts hosts = {0};
        Remote question = {0};
        _cleanup_free_ char *wanted = NULL;
        Show show = {.cli = cli, .verb = verb, .argument = argument, .take = take};
        int r, code = 0;

        r = set_up(cli, &hosts);
        if (r)
                return r;
        /* The verb says what it wants to know, and is stopped there. */
        cli->remote = &question;
        r = verb(cli, argument);
        cli->remote = NULL;
        wanted = question.wanted;
        if (!wanted)
                return r;
        r = make_command(cli, &hosts, wanted, argument);
        if (r)
                return r;
        r = remote_ask_all(&hosts);
        if (r < 0)
                return r == -ENOMEM
                           ? cli_out_of_memory(cli)
                           : cli_fail(cli, "IO", "cannot wait for hosts: %s", say_error(-r));
        for (unsigned i = 0; i < hosts.n; i++)
                code = remote_worse(cli, code, show_host(&show, &hosts, &hosts.v[i], wanted));
        show_all(&show);
        return code;
}
