/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads pnhwd.conf and its drop-ins, for daemon and probe alike; the one file that uses libinih.
 * Knows no key.
 *
 * As with systemd: /etc/pnhw/pnhwd.conf, or, where it is missing, that in /run/pnhw, or else that
 * in /usr/lib/pnhw; then the files *.conf of pnhwd.conf.d in all of these, in the order of their
 * names, of which one in /etc takes the place of one of the same name in /run, and that of one in
 * /usr/lib. A later line wins; an empty value undoes what was said before; an empty file (or a link
 * to /dev/null) masks those of the same name. */
#pragma once

#include "policy.h"

/* Hears of each line that is wrong, and passed over. `line` is 0 where it is the whole file. */
typedef void (*PnConfigProblem)(void *userdata, const char *file, unsigned line,
                                const char *problem);

/* The policy; the default where there is no file. `problem` may be NULL. 0 or -ENOMEM. */
int pn_config_load(PnPolicy *ret, PnConfigProblem problem, void *userdata);
