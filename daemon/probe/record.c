/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the probe remembers of a device between its runs; knows nothing of what is remembered. */
#include "record.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define DIRECTORY "/run/pnhw-probe"

typedef struct Header {
        uint32_t magic;
        uint32_t kind;
        uint64_t size;
        uint64_t checksum;
} Header;

#define MAGIC UINT32_C(0x706e7231)

int pn_record_directory(bool create)
{
        const char *runtime = getenv("XDG_RUNTIME_DIR");
        char path[PATH_MAX];

        if (create && geteuid() == 0)
                (void)mkdir(DIRECTORY, 0755);
        if (access(DIRECTORY, W_OK) == 0)
                return open(DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (!runtime || *runtime != '/' ||
            (size_t)snprintf(path, sizeof path, "%s/pnhw-probe", runtime) >= sizeof path)
                return -1;
        if (create)
                (void)mkdir(path, 0700);
        return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* What root makes by hand is for the probe's own user, too: for the group of the directory. */
static void share(int dir, int fd)
{
        struct stat directory, file;

        if (geteuid() == 0 && fstat(dir, &directory) == 0 && fstat(fd, &file) == 0 &&
            file.st_size == 0 && file.st_uid == 0 && file.st_nlink == 1 &&
            fchown(fd, (uid_t)-1, directory.st_gid) == 0)
                (void)fchmod(fd, 0660);
}

static int open_record(const char *name, bool create, PnRecord *ret)
{
        _cleanup_close_ int dir = pn_record_directory(create), fd = -1;

        if (dir < 0)
                return -ENOENT;
        fd = openat(dir, name, O_RDWR | (create ? O_CREAT : 0) | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
                return -errno;
        if (create)
                share(dir, fd);
        ret->fd = PN_STEAL_FD(fd);
        return 0;
}

int pn_record_open(const char *name, PnRecord *ret)
{
        return open_record(name, true, ret);
}

int pn_record_find(const char *name, PnRecord *ret)
{
        return open_record(name, false, ret);
}

/* FNV-1a: finds what was torn by a crash. */
static uint64_t checksum(const void *data, size_t size)
{
        const uint8_t *p = data;
        uint64_t state = UINT64_C(0xcbf29ce484222325);

        for (size_t i = 0; i < size; i++)
                state = (state ^ p[i]) * UINT64_C(0x100000001b3);
        return state;
}

bool pn_record_read(const PnRecord *record, uint32_t kind, void *data, size_t size)
{
        _cleanup_free_ void *copy = malloc(size);
        Header header = {0};
        struct iovec parts[] = {{&header, sizeof header}, {copy, size}};

        if (!copy || preadv(record->fd, parts, 2, 0) != (ssize_t)(sizeof header + size) ||
            header.magic != MAGIC || header.kind != kind || header.size != size ||
            header.checksum != checksum(copy, size))
                return false;
        memcpy(data, copy, size);
        return true;
}

int pn_record_write(const PnRecord *record, uint32_t kind, const void *data, size_t size)
{
        Header header = {MAGIC, kind, size, checksum(data, size)};
        struct iovec parts[] = {{&header, sizeof header}, {(void *)(uintptr_t)data, size}};
        ssize_t n = pwritev(record->fd, parts, 2, 0);

        if (n < 0)
                return -errno;
        return n == (ssize_t)(sizeof header + size) ? 0 : -EIO;
}
