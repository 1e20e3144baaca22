/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Listeners and connections: framing, quotas, deadlines, backpressure. Knows no method by name. */
#pragma once

#include "manager.h"

/* What clients may cost us. */
#define PN_CONNECTIONS_MAX         256 /* fewer where so many descriptors are not to be had */
#define PN_CONNECTIONS_PER_UID_MAX 64
#define PN_CONNECTIONS_RESERVED    16 /* of PN_CONNECTIONS_MAX, for root and the daemon's own user */
#define PN_IN_FLIGHT_MAX           64
#define PN_REQUEST_SECONDS         10 /* from the first byte of a request to its last */
#define PN_STALL_SECONDS           10 /* in which a reader takes nothing */
#define PN_HOLD_SECONDS            5  /* for a request that comes before the first snapshot */

typedef struct PnServer PnServer;

int pn_server_new(sd_event *event, PnManager *manager, PnServer **ret);

/* Closes everything. A socket that the server made is removed, if it is still that socket. */
void pn_server_free(PnServer *server);
PN_DEFINE_CLEANUP(PnServer *, pn_server_free);

/* Takes over a listening socket that somebody else made. 0 or -errno; then it is not taken over. */
int pn_server_adopt(PnServer *server, int fd);

/* Makes a socket of our own, open to every user. Only one daemon has a path: a lock beside it says
 * whose it is, what a dead one left is replaced, and what is no socket is never touched. 0, or
 * -errno and a malloc'ed sentence. */
int pn_server_listen(PnServer *server, const char *path, char **ret_error);

/* Tells the server of a new snapshot: answers what was held, what waited for a reading, and
 * subscribers. */
void pn_server_on_snapshot(PnServer *server, PnSnapshot *before, PnSnapshot *now);
