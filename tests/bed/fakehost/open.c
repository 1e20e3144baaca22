/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of the tree's proc that this kernel's procfs does not have, so that nothing can be bound
 * over them (mdstat where md is not loaded): the supervisor opens them for the caller. Only trees
 * with such files pay for it, with a notification for each open. */

#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>

#include "fakehost.h"

void fh_missing_add(FhMissing *missing, const char *path)
{
        char **grown = reallocarray(missing->paths, missing->n_paths + 1, sizeof *grown);

        if (!grown)
                fh_fail(FH_EXIT_SETUP, "no memory");
        missing->paths = grown;
        missing->paths[missing->n_paths] = strdup(path);
        if (!missing->paths[missing->n_paths++])
                fh_fail(FH_EXIT_SETUP, "no memory");
}

void fh_missing_free(FhMissing *missing)
{
        for (size_t i = 0; i < missing->n_paths; i++)
                free(missing->paths[i]);
        free(missing->paths);
        *missing = (FhMissing){0};
}

/* The string at an address, which may end shortly before memory that is not there. */
static int read_string(const FhCall *call, uint64_t address, char *string, size_t size)
{
        size_t length = 0;

        while (length < size) {
                size_t to_page_end = 4096 - (size_t)((address + length) % 4096);
                size_t chunk = to_page_end < size - length ? to_page_end : size - length;

                if (fh_caller_read(call, address + length, string + length, chunk) < 0)
                        return -EFAULT;
                if (memchr(string + length, '\0', chunk))
                        return 0;
                length += chunk;
        }
        return -ENAMETOOLONG;
}

/* The path that an open names, absolute where its folder is known. */
static int read_path(const FhCall *call, char *path, size_t size)
{
        char name[PATH_MAX], link[64], folder[PATH_MAX];
        int r = read_string(call, call->address, name, sizeof name);
        ssize_t n;

        if (r < 0)
                return r;
        if (name[0] == '/')
                return snprintf(path, size, "%s", name) < (int)size ? 0 : -ENAMETOOLONG;
        if (call->fd == AT_FDCWD)
                (void)snprintf(link, sizeof link, "/proc/%d/cwd", call->pid);
        else
                (void)snprintf(link, sizeof link, "/proc/%d/fd/%d", call->pid, call->fd);
        n = readlink(link, folder, sizeof folder - 1);
        if (n < 0)
                return -errno;
        folder[n] = '\0';
        return snprintf(path, size, "%s/%s", folder, name) < (int)size ? 0 : -ENAMETOOLONG;
}

FhVerdict fh_open_missing(const FhSupervisor *supervisor, int listener, const FhCall *call,
                          FhReply *reply)
{
        const FhMissing *missing = &supervisor->options->missing;
        char path[2 * PATH_MAX], source[2 * PATH_MAX + 64];

        if (read_path(call, path, sizeof path) < 0)
                return FH_CONTINUE;
        for (size_t i = 0; i < missing->n_paths; i++) {
                _cleanup_close_ int fd = -1;
                struct seccomp_notif_addfd request = {.id = call->id, .newfd_flags = O_CLOEXEC};
                int n;

                if (!pn_streq(path, missing->paths[i]))
                        continue;
                (void)snprintf(source, sizeof source, "%s%s", supervisor->options->tree_path, path);
                fd = open(source, O_RDONLY | O_CLOEXEC);
                if (fd < 0)
                        return FH_CONTINUE;
                request.srcfd = (uint32_t)fd;
                n = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &request);
                if (n < 0)
                        return FH_CONTINUE;
                reply->value = n;
                return FH_REPLY;
        }
        return FH_CONTINUE;
}
