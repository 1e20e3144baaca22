/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the status page, each of which puts itself on it. They know the status and nothing
 * else, so that the page says what its JSON says. */
#pragma once

#include "source.h"
#include "view.h"

/* The whole page. 0 or -ENOMEM. */
int status_put_page(Cli *cli, const Facts *facts);

/* A paragraph with a mark in front, its further lines indented. */
void status_put_marked(Cli *cli, Mark mark, Style style, const char *text);

bool status_is_fresh(const PnSource *source);

/* The first line: which machine this is. 0 or -ENOMEM, like all of these. */
int status_put_machine(Cli *cli, const PnHost *host);

/* The table of rated devices; `ret_folded` says whether some share a line. */
int status_put_devices(Cli *cli, const View *view, bool *ret_folded);

/* The table of network ports. */
int status_put_ports(Cli *cli, const View *view, const PnPorts *ports);

/* The hottest and the most worn, in one line; nothing where neither is known. */
int status_put_vitals(Cli *cli, const PnHost *host);

/* What is wrong, why, and what to do. */
int status_put_findings(Cli *cli, const Facts *facts);

/* What could not be read or judged, and how it could. */
int status_put_gaps(Cli *cli, const Facts *facts);
