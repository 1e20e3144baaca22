/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes and removes the daemon's socket in the file system; knows nothing of what it serves. */
#pragma once

#include "base.h"

#include <sys/stat.h>

typedef struct PnListener {
        int fd;
        int lock_fd; /* -1 for a socket that somebody else made */
        char *path;  /* NULL for such a one */
        dev_t device;
        ino_t inode;
} PnListener;

/* See pn_server_listen(). */
int pn_listener_open(const char *path, PnListener *ret, char **ret_error);

/* Whether a socket that we made is no longer where clients look for it. */
bool pn_listener_is_lost(const PnListener *listener);

/* Makes such a socket again; those who are connected stay so. On failure it is still lost, and may
 * be tried again. 0, or -errno and a malloc'ed sentence. */
int pn_listener_renew(PnListener *listener, char **ret_error);

/* Closes it, and removes the socket if it is ours and still the one that we made. */
void pn_listener_done(PnListener *listener);
