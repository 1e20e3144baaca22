/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A terminal that shows one page, drawn in place, and is left as it was found. */

#include "screen.h"
#include "say.h"

#include <stdio.h>
#include <sys/signalfd.h>
#include <termios.h>

#define ENTER       "\033[?1049h\033[?25l\033[2J"
#define LEAVE       "\033[?25h\033[?1049l"
#define HOME        "\033[H"
#define CLEAR_LINE  "\033[K"
#define CLEAR_BELOW "\033[J"

struct Screen {
        int keys;
        struct termios before; /* of the keys' terminal */
};

static int put_all(const char *text, size_t n)
{
        while (n > 0) {
                ssize_t written = write(STDOUT_FILENO, text, n);

                if (written < 0 && errno == EINTR)
                        continue;
                if (written < 0)
                        return -errno;
                text += written;
                n -= (size_t)written;
        }
        return 0;
}

bool screen_possible(const Term *term)
{
        const char *name = getenv("TERM");

        return term->tty && name && *name && strcmp(name, "dumb") != 0;
}

Screen *screen_enter(void)
{
        Screen *screen = calloc(1, sizeof *screen);
        struct termios raw;

        if (!screen)
                return NULL;
        screen->keys = -1;
        if (tcgetattr(STDIN_FILENO, &screen->before) == 0) {
                raw = screen->before;
                raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
                raw.c_cc[VMIN] = 0;
                raw.c_cc[VTIME] = 0;
                if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0)
                        screen->keys = STDIN_FILENO;
        }
        (void)put_all(ENTER, sizeof ENTER - 1);
        return screen;
}

void screen_leave(Screen *screen)
{
        if (!screen)
                return;
        (void)put_all(LEAVE, sizeof LEAVE - 1);
        if (screen->keys >= 0)
                (void)tcsetattr(screen->keys, TCSANOW, &screen->before);
        free(screen);
}

int screen_keys(const Screen *screen)
{
        return screen->keys;
}

bool screen_is_enough(Screen *screen)
{
        char keys[32];
        ssize_t n = read(screen->keys, keys, sizeof keys);

        /* The terminal is gone, or nobody types there any more. */
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
                screen->keys = -1;
        for (ssize_t i = 0; i < n; i++)
                if (keys[i] == 'q' || keys[i] == 'Q' || keys[i] == 4)
                        return true;
        return false;
}

int screen_draw(const Term *term, const PnBuf *page, const char *footer, Style style)
{
        unsigned rows = term->rows > 2 ? term->rows - 2 : 1, lines = 0, drawn = 0;
        const char *at = page->data ? page->data : "";
        _cleanup_free_ char *clean = term_clean(term, footer), *cut = NULL;
        _cleanup_buf_ PnBuf out = {0};

        for (const char *s = at; *s; s++)
                lines += *s == '\n';
        if (lines > rows)
                rows--; /* for the line that says so */
        pn_buf_puts(&out, HOME);
        for (; *at && drawn < rows; drawn++) {
                size_t n = strcspn(at, "\n");

                pn_buf_put(&out, at, n);
                /* What was cut off may have ended a style. */
                pn_buf_puts(&out, term->color ? STYLE_END CLEAR_LINE "\r\n" : CLEAR_LINE "\r\n");
                at += n + (at[n] == '\n');
        }
        if (drawn < lines) {
                char more[64];

                (void)snprintf(more, sizeof more,
                               say_n("%u more line", "%u more lines", lines - drawn),
                               lines - drawn);
                term_put_styled(term, &out, STYLE_DIM, more);
                pn_buf_puts(&out, CLEAR_LINE "\r\n");
        }
        pn_buf_puts(&out, CLEAR_LINE "\r\n");
        cut = clean ? term_cut(term, clean, term->width ? term->width - 1 : 79) : NULL;
        if (!cut)
                return -ENOMEM;
        term_put_styled(term, &out, style, cut);
        pn_buf_puts(&out, CLEAR_LINE CLEAR_BELOW);
        return out.error ? out.error : put_all(out.data, out.len);
}

int screen_take_signals(int *ret, sigset_t *ret_before)
{
        static const int wanted[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCHLD};
        sigset_t mask;
        int fd;

        (void)sigemptyset(&mask);
        for (size_t i = 0; i < PN_ELEMENTS(wanted); i++)
                (void)sigaddset(&mask, wanted[i]);
        if (sigprocmask(SIG_BLOCK, &mask, ret_before) < 0)
                return -errno;
        fd = signalfd(-1, &mask, SFD_CLOEXEC);
        if (fd < 0)
                return -errno;
        *ret = fd;
        return 0;
}
