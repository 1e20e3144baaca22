/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads pnhwd.conf and its drop-ins, for daemon and probe alike; the one file that uses libinih.
 * Knows no key.
 *
 * As with systemd: /etc/pnhw/pnhwd.conf, or, where it is missing, /usr/lib/pnhw/pnhwd.conf; then
 * the files *.conf of pnhwd.conf.d beside either, in the order of their names, of which one in /etc
 * takes the place of one of the same name in /usr/lib. A later line wins; an empty value undoes
 * what was said before; an empty file (or a link to /dev/null) masks one of the same name. Nothing
 * is read from /run, which is writable by more than the administrator. */
#pragma once

#include "policy.h"

/* Hears of each line that is wrong, and passed over. `line` is 0 where it is the whole file. */
typedef void (*PnConfigProblem)(void *userdata, const char *file, unsigned line,
                                const char *problem);

/* The policy; the default where there is no file. `problem` may be NULL. 0 or -ENOMEM. */
int pn_config_load(PnPolicy *ret, PnConfigProblem problem, void *userdata);
