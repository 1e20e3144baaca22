/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Words and marks for network ports, the same on the status page and in the verbs. */
#pragma once

#include "units.h"
#include "view.h"

/* What a port's verdict and the findings about it come to. */
Mark port_mark(const View *view, const PnPort *port);

/* "10 G", "2.5 G", "100 M"; "" for an absent speed, "?" for one that could not be read. */
const char *port_speed(Units buf, const PnInt *mbps);

/* The verdict in words: "at its best", "limited: its module", "no interface", …; where a finding
 * says otherwise of a port at its best speed, what it says: "module hot". */
const char *port_verdict(const View *view, const PnPort *port, char *buf, size_t size);

/* What is plugged in, or why that is not known; "" where nothing is. */
const char *port_module(const PnPort *port);
