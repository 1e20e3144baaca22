/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A terminal that shows one page, drawn in place, and is left as it was found. Knows no page. */
#pragma once

#include <signal.h>

#include "term.h"

typedef struct Screen Screen;

/* Whether a page can be drawn in place: standard output is a terminal that can move its cursor. */
bool screen_possible(const Term *term);

/* Shows an empty page on the terminal's second screen, and has keys come at once and unseen. NULL
 * without memory. */
Screen *screen_enter(void);

/* Gives the terminal back; NULL is allowed. */
void screen_leave(Screen *screen);
PN_DEFINE_CLEANUP(Screen *, screen_leave);

/* Draws a page, cut to the terminal's rows: whole lines that fit its width; and below it `footer`,
 * one line. 0 or a negative errno. */
int screen_draw(const Term *term, const PnBuf *page, const char *footer, Style style);

/* The descriptor to poll for keys, -1 for none. */
int screen_keys(const Screen *screen);

/* Reads keys; whether one of them says that it is enough. */
bool screen_is_enough(Screen *screen);

/* Has the signals that end, stop or resize a page, and those of children, arrive at a descriptor
 * that can be polled; `ret_before` is the mask that was there. 0 or a negative errno. */
int screen_take_signals(int *ret, sigset_t *ret_before);
