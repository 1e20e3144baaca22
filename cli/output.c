/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The way out: one page, one write, a pager for long ones, JSON in the form that was asked for. */

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

#include "remote.h"
#include "say.h"
#include "table.h"

static int write_all(int fd, const char *data, size_t length)
{
        while (length > 0) {
                ssize_t n = write(fd, data, length);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                data += n;
                length -= (size_t)n;
        }
        return 0;
}

void cli_note(Cli *cli, const char *message)
{
        _cleanup_buf_ PnBuf line = {0};
        Term term = cli->term;
        const char *rest = message;

        /* Standard error may be a terminal where standard output is none. */
        term.color = false;
        pn_buf_puts(&line, "pnhwctl: ");
        while (*rest) {
                size_t n = strcspn(rest, "\n");
                _cleanup_free_ char *part = strndup(rest, n);

                if (!part)
                        break;
                term_put(&term, &line, part);
                pn_buf_put(&line, "\n", 1);
                rest += n + (rest[n] == '\n');
                if (*rest)
                        pn_buf_puts(&line, "  ");
        }
        if (line.data)
                (void)write_all(STDERR_FILENO, line.data, line.len);
}

void cli_put_service(Cli *cli, int code)
{
        pn_buf_printf(&cli->page, "%d \"Hardware", code);
        if (cli->remote && cli->remote->host)
                pn_buf_printf(&cli->page, " %s", cli->remote->host);
        if (cli->checked) {
                pn_buf_puts(&cli->page, " ");
                term_put(&cli->term, &cli->page, cli->checked);
        }
        pn_buf_puts(&cli->page, "\" ");
}

/* What a monitoring system gets instead of an answer: its one line, with the first of ours. */
static void put_unknown(Cli *cli, const char *message)
{
        _cleanup_free_ char *first = strndup(message, strcspn(message, "\n"));

        if (!first) {
                cli->page.error = -ENOMEM;
                return;
        }
        for (char *bar = first; (bar = strchr(bar, '|'));)
                *bar = ' ';
        if (cli->checkmk)
                cli_put_service(cli, CHECK_UNKNOWN);
        pn_buf_puts(&cli->page, cli->checkmk ? "- " : "PNHW UNKNOWN - ");
        if (!cli->checkmk && cli->remote && cli->remote->host)
                pn_buf_printf(&cli->page, "%s: ", cli->remote->host);
        term_put(&cli->term, &cli->page, first);
        pn_buf_puts(&cli->page, "\n");
}

/* For a monitoring system 1 is a warning. */
static int failure(const Cli *cli)
{
        return cli->for_monitoring ? CHECK_UNKNOWN : EXIT_FAILURE;
}

int cli_fail(Cli *cli, const char *error, const char *format, ...)
{
        _cleanup_free_ char *message = NULL;
        va_list args;
        int r;

        va_start(args, format);
        r = vasprintf(&message, say(format), args);
        va_end(args);
        if (r < 0) {
                message = NULL;
                cli->page.error = -ENOMEM;
                return failure(cli);
        }
        pn_buf_done(&cli->page);
        if (cli->remote)
                cli->remote->has_failed = true;
        if (cli->json != JSON_OFF) {
                _cleanup_buf_ PnBuf json = {0};

                pn_buf_puts(&json, "{\"error\":");
                pn_buf_json_string(&json, error);
                pn_buf_puts(&json, ",\"message\":");
                pn_buf_json_string(&json, message);
                pn_buf_puts(&json, "}");
                cli_put_json_buffer(cli, &json);
        } else if (cli->for_monitoring) {
                put_unknown(cli, message);
        } else {
                _cleanup_free_ char *of_host = NULL;

                if (!cli->remote || !cli->remote->host)
                        cli_note(cli, message);
                else if (asprintf(&of_host, "%s: %s", cli->remote->host, message) >= 0)
                        cli_note(cli, of_host);
                else
                        of_host = NULL;
        }
        return failure(cli);
}

/* U+007F and U+0080 to U+009F, which some terminals obey, and what turns the direction of writing
 * around. Returns the bytes that the character takes, 0 if it is harmless. */
static size_t harmful(const unsigned char *s, size_t left, unsigned *ret)
{
        if (s[0] == 0x7f) {
                *ret = 0x7f;
                return 1;
        }
        if (left >= 2 && s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0) {
                *ret = s[1];
                return 2;
        }
        if (left >= 3 && s[0] == 0xe2 &&
            ((s[1] == 0x80 && s[2] >= 0x8b && s[2] <= 0x8f) ||
             (s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xae) ||
             (s[1] == 0x81 && s[2] >= 0xa0 && s[2] <= 0xaf))) {
                *ret = 0x2000u | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
                return 3;
        }
        return 0;
}

static void newline(PnBuf *out, unsigned depth)
{
        pn_buf_printf(out, "\n%*s", (int)depth * 2, "");
}

/* Indents and escapes in one pass over the text; a string's start and end, and the brackets, are
 * all it has to know. */
void cli_put_json(Cli *cli, const char *text, size_t length)
{
        PnBuf *out = &cli->page;
        bool pretty = cli->json == JSON_PRETTY, in_string = false;
        unsigned depth = 0;
        size_t i = 0;

        while (i < length) {
                char c = text[i];
                unsigned code;
                size_t n, plain;

                if (in_string) {
                        for (plain = i; plain < length; plain++) {
                                unsigned char b = (unsigned char)text[plain];

                                if (b == '"' || b == '\\' || b == 0x7f || b == 0xc2 || b == 0xe2)
                                        break;
                        }
                        pn_buf_put(out, text + i, plain - i);
                        i = plain;
                        if (i == length)
                                break;
                        c = text[i];
                        if (c == '\\' && i + 1 < length) {
                                pn_buf_put(out, text + i, 2);
                                i += 2;
                                continue;
                        }
                        n = harmful((const unsigned char *)text + i, length - i, &code);
                        if (n) {
                                pn_buf_printf(out, "\\u%04x", code);
                                i += n;
                                continue;
                        }
                        in_string = c != '"';
                        pn_buf_put(out, &c, 1);
                        i++;
                        continue;
                }
                i++;
                if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
                        continue;
                if (c == '"')
                        in_string = true;
                if (!pretty) {
                        pn_buf_put(out, &c, 1);
                        continue;
                }
                if (c == '{' || c == '[') {
                        size_t next = i + strspn(text + i, " \t\r\n");

                        pn_buf_put(out, &c, 1);
                        if (next < length && (text[next] == '}' || text[next] == ']')) {
                                pn_buf_put(out, text + next, 1);
                                i = next + 1;
                        } else {
                                newline(out, ++depth);
                        }
                } else if (c == '}' || c == ']') {
                        if (depth)
                                depth--;
                        newline(out, depth);
                        pn_buf_put(out, &c, 1);
                } else {
                        pn_buf_put(out, &c, 1);
                        if (c == ',')
                                newline(out, depth);
                        else if (c == ':')
                                pn_buf_put(out, " ", 1);
                }
        }
        pn_buf_put(out, "\n", 1);
}

void cli_put_json_buffer(Cli *cli, const PnBuf *buf)
{
        if (buf->error)
                cli->page.error = buf->error;
        else
                cli_put_json(cli, buf->data, buf->len);
}

void cli_put_json_list(Cli *cli, const PnType *type, const void *objects, unsigned n)
{
        _cleanup_buf_ PnBuf buf = {0};

        pn_buf_puts(&buf, "[");
        for (unsigned i = 0; i < n; i++) {
                pn_buf_puts(&buf, i ? "," : "");
                pn_write_json(&buf, type, (const char *)objects + (size_t)i * type->size);
        }
        pn_buf_puts(&buf, "]");
        cli_put_json_buffer(cli, &buf);
}

void cli_put_table(Cli *cli, Table *table, const char *otherwise)
{
        _cleanup_free_ char *of_host = NULL;

        if (!table_rows(table) && cli->no_legend) {
                cli->has_joined = cli->join != NULL;
        } else if (!cli->join) {
                if (table_rows(table))
                        table_print(table, &cli->page, !cli->no_legend);
                else
                        term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_PLAIN, otherwise);
        } else {
                cli->has_joined = true;
                table_join(cli->join, table, cli->remote->host);
                if (!*cli->join)
                        cli->page.error = -ENOMEM;
                if (table_rows(table))
                        return;
                if (asprintf(&of_host, "%s: %s", cli->remote->host, otherwise) < 0) {
                        of_host = NULL;
                        cli->page.error = -ENOMEM;
                        return;
                }
                term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_PLAIN, of_host);
        }
}

int cli_out_of_memory(Cli *cli)
{
        cli->page.error = -ENOMEM;
        return failure(cli);
}

int cli_flush(Cli *cli)
{
        int r = cli->page.error;

        if (r == 0 && cli->page.len)
                r = write_all(STDOUT_FILENO, cli->page.data, cli->page.len);
        pn_buf_done(&cli->page);
        return r;
}

static unsigned lines_of(const PnBuf *page)
{
        unsigned lines = 0;

        for (const char *s = page->data;
             (s = memchr(s, '\n', page->len - (size_t)(s - page->data))); s++)
                lines++;
        return lines;
}

/* The pager's command, or NULL where there shall be none. */
static const char *pager(const Cli *cli)
{
        const char *command = getenv("PNHW_PAGER");

        if (cli->no_pager || !cli->term.tty || !cli->page.len ||
            lines_of(&cli->page) < cli->term.rows)
                return NULL;
        if (!command)
                command = getenv("PAGER");
        if (!command)
                command = "command -v less >/dev/null || exit 127; exec less";
        return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

/* Shows the page in a pager. False if there is none after all. */
static bool page_through(const Cli *cli, const char *command)
{
        _cleanup_close_ int in = -1, out = -1;
        int fds[2], status = 0;
        pid_t child;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return false;
        in = fds[0];
        out = fds[1];
        child = fork();
        if (child < 0)
                return false;
        if (child == 0) {
                if (dup2(in, STDIN_FILENO) < 0)
                        _exit(127);
                (void)setenv("LESS", "FRSX", 0);
                (void)setenv("LESSSECURE", "1", 0);
                if (cli->term.utf8)
                        (void)setenv("LESSCHARSET", "utf-8", 0);
                (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
                _exit(127);
        }
        pn_close(PN_STEAL_FD(in));
        (void)signal(SIGPIPE, SIG_IGN);
        (void)write_all(out, cli->page.data, cli->page.len);
        pn_close(PN_STEAL_FD(out));
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
                ;
        return !(WIFEXITED(status) && WEXITSTATUS(status) == 127);
}

int cli_finish(Cli *cli, int code)
{
        const char *command;
        int r;

        if (cli->page.error) {
                const char *message = _("out of memory");

                (void)write_all(STDERR_FILENO, "pnhwctl: ", 9);
                (void)write_all(STDERR_FILENO, message, strlen(message));
                (void)write_all(STDERR_FILENO, "\n", 1);
                return failure(cli);
        }
        command = pager(cli);
        if (command && page_through(cli, command))
                return code;
        r = cli->page.len ? write_all(STDOUT_FILENO, cli->page.data, cli->page.len) : 0;
        if (r < 0 && r != -EPIPE) {
                (void)cli_fail(&(Cli){.term = cli->term}, "WriteFailed", "cannot write: %s",
                               say_error(-r));
                return failure(cli);
        }
        return r < 0 ? failure(cli) : code;
}
