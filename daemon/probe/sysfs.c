/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads attributes and links below an open directory, and turns a failure into the state of a
 * value; knows no attribute by name. */
#include "sysfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>

#include "text.h"

/* Far more than any class has; keeps a broken or hostile tree from filling memory. */
#define NAMES_MAX 262144u

int pn_sysfs_open(int at, const char *path)
{
        int fd = openat(at, path, O_PATH | O_DIRECTORY | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

ssize_t pn_sysfs_read(int at, const char *name, char *buf, size_t size)
{
        _cleanup_close_ int fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        ssize_t n;

        if (fd < 0)
                return -errno;
        do
                n = read(fd, buf, size - 1);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        buf[n] = '\0';
        return n;
}

static int read_text(int at, const char *name, int (*convert)(const void *, size_t, char **),
                     PnText *ret)
{
        char buf[PN_ATTRIBUTE_MAX + 1], *s;
        ssize_t n = pn_sysfs_read(at, name, buf, sizeof buf);
        int r;

        if (n < 0) {
                pn_take_text(ret, NULL);
                if (n != -ENOENT)
                        ret->state = pn_reason_from_errno((int)n);
                return 0;
        }
        r = convert(buf, (size_t)n, &s);
        if (r < 0)
                return r;
        pn_take_text(ret, s);
        return 0;
}

int pn_sysfs_text(int at, const char *name, PnText *ret)
{
        return read_text(at, name, pn_text_from_bytes, ret);
}

int pn_sysfs_label(int at, const char *name, PnText *ret)
{
        return read_text(at, name, pn_text_from_utf8, ret);
}

PnInt pn_parse_int(const char *s)
{
        bool negative = *s == '-';
        int64_t v = 0;

        if (negative)
                s++;
        if (*s < '0' || *s > '9')
                return (PnInt){.state = PN_UNREAD_MALFORMED};
        for (; *s >= '0' && *s <= '9'; s++)
                if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *s - '0', &v))
                        return (PnInt){.state = PN_UNREAD_OVERFLOW};
        if (*s == '\n')
                s++;
        if (*s != '\0')
                return (PnInt){.state = PN_UNREAD_MALFORMED};
        return pn_int(negative ? -v : v);
}

void pn_sysfs_int(int at, const char *name, PnInt *ret)
{
        char buf[64];
        ssize_t n = pn_sysfs_read(at, name, buf, sizeof buf);

        if (n > 0)
                *ret = pn_parse_int(buf);
        else
                *ret = (PnInt){.state = n == 0 || n == -ENOENT ? PN_ABSENT
                                                               : pn_reason_from_errno((int)n)};
}

int pn_sysfs_link(int at, const char *name, char *buf, size_t size)
{
        char target[PATH_MAX];
        ssize_t n = readlinkat(at, name, target, sizeof target - 1);
        const char *last;

        if (n < 0)
                return -errno;
        target[n] = '\0';
        last = strrchr(target, '/');
        last = last ? last + 1 : target;
        if (strlen(last) >= size)
                return -ENAMETOOLONG;
        memcpy(buf, last, strlen(last) + 1);
        return 0;
}

int pn_read_file(int at, const char *path, size_t max, char **ret, size_t *ret_n)
{
        _cleanup_close_ int fd = openat(at, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        _cleanup_free_ char *data = NULL;
        size_t n = 0, capacity = 0;

        if (fd < 0)
                return -errno;
        for (;;) {
                ssize_t got;

                if (n + 1 >= capacity) {
                        size_t bigger = capacity ? capacity * 2 : 16384;
                        char *grown = realloc(data, bigger);

                        if (!grown)
                                return -ENOMEM;
                        data = grown;
                        capacity = bigger;
                }
                got = read(fd, data + n, capacity - n - 1 < max - n ? capacity - n - 1 : max - n);
                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return -errno;
                n += (size_t)got;
                if (got == 0 || n == max)
                        break;
        }
        data[n] = '\0';
        *ret = PN_STEAL(data);
        *ret_n = n;
        return 0;
}

static int compare_names(const void *a, const void *b)
{
        const char *const *x = a, *const *y = b;

        return strcmp(*x, *y);
}

static int add_name(PnNames *names, size_t *capacity, const char *name)
{
        if (names->n == NAMES_MAX)
                return -E2BIG;
        if (names->n == *capacity) {
                size_t bigger = *capacity ? *capacity * 2 : 32;
                char **grown = reallocarray(names->v, bigger, sizeof *grown);

                if (!grown)
                        return -ENOMEM;
                names->v = grown;
                *capacity = bigger;
        }
        names->v[names->n] = strdup(name);
        if (!names->v[names->n])
                return -ENOMEM;
        names->n++;
        return 0;
}

/* With getdents64() rather than opendir(): two system calls less, for thousands of directories. */
int pn_sysfs_names(int at, const char *path, PnNames *ret)
{
        _cleanup_close_ int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_names_ PnNames names = {0};
        size_t capacity = 0;

        if (fd < 0 && errno != ENOENT)
                return -errno;
        while (fd >= 0) {
                _Alignas(struct dirent64) char buf[16384];
                ssize_t n = getdents64(fd, buf, sizeof buf);

                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;
                for (ssize_t i = 0; i < n;) {
                        const struct dirent64 *entry = (const void *)(buf + i);
                        int r =
                            *entry->d_name == '.' ? 0 : add_name(&names, &capacity, entry->d_name);

                        if (r < 0)
                                return r;
                        i += entry->d_reclen;
                }
        }
        if (names.n > 1)
                qsort(names.v, names.n, sizeof *names.v, compare_names);
        *ret = names;
        names = (PnNames){0};
        return 0;
}

void pn_names_done(PnNames *names)
{
        for (size_t i = 0; i < names->n; i++)
                free(names->v[i]);
        free(names->v);
        *names = (PnNames){0};
}
