/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes and removes the daemon's socket in the file system. */

#include "listen.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>

static int _printf_(3, 4) fail(int result, char **ret_error, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        if (vasprintf(ret_error, format, args) < 0) {
                *ret_error = NULL;
                result = -ENOMEM;
        }
        va_end(args);
        return result;
}

void pn_listener_done(PnListener *listener)
{
        struct stat st;

        if (listener->path && lstat(listener->path, &st) == 0 && S_ISSOCK(st.st_mode) &&
            st.st_dev == listener->device && st.st_ino == listener->inode)
                (void)unlink(listener->path);
        pn_close(listener->fd);
        /* The lock's file stays: removing it would let two daemons hold two locks of one name. */
        pn_close(listener->lock_fd);
        free(listener->path);
        *listener = (PnListener){.fd = -1, .lock_fd = -1};
}

bool pn_listener_is_lost(const PnListener *listener)
{
        struct stat st;

        if (!listener->path)
                return false;
        if (lstat(listener->path, &st) < 0)
                return errno == ENOENT || errno == ENOTDIR;
        return !S_ISSOCK(st.st_mode) || st.st_dev != listener->device ||
               st.st_ino != listener->inode;
}

/* Root makes the folder of the socket; for others it is no accident that it is missing. */
static int make_folder(const char *path, char **ret_error)
{
        _cleanup_free_ char *folder = strdup(path);
        struct stat st;
        char *slash;

        if (!folder)
                return -ENOMEM;
        slash = strrchr(folder, '/');
        if (!slash || slash == folder)
                return 0;
        *slash = '\0';
        if (stat(folder, &st) == 0 || errno != ENOENT)
                return 0; /* what else may be wrong with it, the next step finds out */
        if (geteuid() != 0)
                return fail(-ENOENT, ret_error,
                            "the folder %s does not exist; --socket=PATH takes another place",
                            folder);
        if (mkdir(folder, 0755) < 0 && errno != EEXIST) {
                int r = -errno;

                return fail(r, ret_error,
                            "cannot make the folder %s: %s; --socket=PATH takes "
                            "another place",
                            folder, strerror(-r));
        }
        return 0;
}

static int take_lock(const char *path, int *ret, char **ret_error)
{
        _cleanup_free_ char *name = NULL;
        _cleanup_close_ int fd = -1;
        int r;

        if (asprintf(&name, "%s.lock", path) < 0) {
                name = NULL;
                return -ENOMEM;
        }
        fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) {
                r = -errno;
                return fail(r, ret_error,
                            "cannot open the lock %s: %s; --socket=PATH takes "
                            "another place",
                            name, strerror(-r));
        }
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
                r = -errno;
                if (r == -EWOULDBLOCK)
                        return fail(-EBUSY, ret_error,
                                    "already running: another pnhwd has %s (it holds %s)", path,
                                    name);
                return fail(r, ret_error, "cannot lock %s: %s", name, strerror(-r));
        }
        *ret = PN_STEAL_FD(fd);
        return 0;
}

/* Whether somebody listens on a socket that exists: 1 or 0. */
static int is_alive(const struct sockaddr_un *address)
{
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

        return fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 ||
               errno != ECONNREFUSED;
}

/* Makes room at the path, if what is there is only what a dead daemon left. */
static int clear_path(const struct sockaddr_un *address, char **ret_error)
{
        const char *path = address->sun_path;
        struct stat st;

        if (lstat(path, &st) < 0)
                return errno == ENOENT ? 0
                                       : fail(-errno, ret_error, "cannot look at %s: %s", path,
                                              strerror(errno));
        if (!S_ISSOCK(st.st_mode))
                return fail(-EEXIST, ret_error,
                            "%s exists and is not a socket; it is left alone: move it away, or "
                            "give --socket=PATH",
                            path);
        if (is_alive(address))
                return fail(-EADDRINUSE, ret_error,
                            "another program listens on %s; stop it, or give --socket=PATH", path);
        if (unlink(path) < 0 && errno != ENOENT)
                return fail(-errno, ret_error, "cannot replace the dead socket %s: %s", path,
                            strerror(errno));
        return 0;
}

/* The socket itself, for one that has the lock; what was opened stays the listener's also on
 * failure.
 */
static int make_socket(PnListener *listener, char **ret_error)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        const char *path = listener->path;
        struct stat st;
        mode_t mask;
        int r;

        memcpy(address.sun_path, path, strlen(path) + 1);
        r = clear_path(&address, ret_error);
        if (r < 0)
                return r;
        listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (listener->fd < 0)
                return fail(-errno, ret_error, "cannot make a socket: %s", strerror(errno));
        /* Every local user may read, whatever the umask is, and from the first moment on. */
        mask = umask(0111);
        r = bind(listener->fd, (struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
        (void)umask(mask);
        if (r < 0)
                return fail(r, ret_error,
                            "cannot make the socket %s: %s; --socket=PATH takes "
                            "another place",
                            path, strerror(-r));
        if (lstat(path, &st) < 0)
                return fail(-errno, ret_error, "cannot look at the socket %s: %s", path,
                            strerror(errno));
        listener->device = st.st_dev;
        listener->inode = st.st_ino;
        if (listen(listener->fd, SOMAXCONN) < 0)
                return fail(-errno, ret_error, "cannot open the socket %s: %s", path,
                            strerror(errno));
        return 0;
}

int pn_listener_open(const char *path, PnListener *ret, char **ret_error)
{
        _cleanup_(pn_listener_done) PnListener listener = {.fd = -1, .lock_fd = -1};
        struct sockaddr_un address;
        int r;

        if (!*path)
                return fail(-EINVAL, ret_error, "--socket= needs the path of a socket");
        if (strlen(path) >= sizeof address.sun_path)
                return fail(-ENAMETOOLONG, ret_error,
                            "the path of a socket may have %zu bytes, and this has %zu: %s",
                            sizeof address.sun_path - 1, strlen(path), path);
        listener.path = strdup(path);
        if (!listener.path)
                return -ENOMEM;
        r = make_folder(path, ret_error);
        if (r == 0)
                r = take_lock(path, &listener.lock_fd, ret_error);
        if (r == 0)
                r = make_socket(&listener, ret_error);
        if (r < 0)
                return r;
        *ret = listener;
        listener = (PnListener){.fd = -1, .lock_fd = -1};
        return 0;
}

/* Whether the lock that is held is still the one that another daemon would take. */
static bool has_lock(const PnListener *listener)
{
        _cleanup_free_ char *name = NULL;
        struct stat ours, there;

        if (asprintf(&name, "%s.lock", listener->path) < 0) {
                name = NULL;
                return false;
        }
        return listener->lock_fd >= 0 && fstat(listener->lock_fd, &ours) == 0 &&
               lstat(name, &there) == 0 && ours.st_dev == there.st_dev &&
               ours.st_ino == there.st_ino;
}

int pn_listener_renew(PnListener *listener, char **ret_error)
{
        int r = 0;

        pn_close(listener->fd);
        listener->fd = -1;
        if (!has_lock(listener)) {
                pn_close(listener->lock_fd);
                listener->lock_fd = -1;
                r = make_folder(listener->path, ret_error);
                if (r == 0)
                        r = take_lock(listener->path, &listener->lock_fd, ret_error);
        }
        if (r == 0)
                r = make_socket(listener, ret_error);
        if (r < 0) {
                pn_close(listener->fd);
                listener->fd = -1;
        }
        return r;
}
