/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is mounted and swapped to, from /proc; knows no block device but by its number and path. */
#include "mounts.h"

#include <fcntl.h>

#include "sysfs.h"
#include "text.h"

/* A host with ten thousand containers has some megabytes of mounts. */
#define MOUNTINFO_MAX ((size_t)64 << 20)
#define SWAPS_MAX     ((size_t)1 << 20)

uint64_t pn_device_number(const char *s)
{
        uint64_t parts[2] = {0};

        for (size_t i = 0; i < 2; i++) {
                if (*s < '0' || *s > '9')
                        return 0;
                for (; *s >= '0' && *s <= '9'; s++)
                        if ((parts[i] = parts[i] * 10 + (uint64_t)(*s - '0')) > UINT32_MAX)
                                return 0;
                if (i == 0 && *s++ != ':')
                        return 0;
        }
        return *s == '\0' || *s == '\n' ? parts[0] << 32 | parts[1] : 0;
}

/* The kernel writes blanks, newlines and backslashes in names as three octal digits. In place. */
static void unescape(char *s)
{
        char *to = s;

        while (*s) {
                if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
                    s[3] >= '0' && s[3] <= '7') {
                        *to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
                        s += 4;
                } else {
                        *to++ = *s++;
                }
        }
        *to = '\0';
}

/* Cuts the next word off; NULL at the end of the line. */
static char *next_word(char **rest)
{
        char *word = *rest + strspn(*rest, " \t");
        size_t n = strcspn(word, " \t");

        if (n == 0)
                return NULL;
        *rest = word + n;
        if (**rest)
                *(*rest)++ = '\0';
        return word;
}

/* proc(5): id parent major:minor root point options [optional…] - type source options */
static int parse_mount(char *line, PnMount *ret)
{
        char *words[6], *word, *fstype, *source;
        PnMount mount;
        int r;

        for (size_t i = 0; i < PN_ELEMENTS(words); i++)
                if (!(words[i] = next_word(&line)))
                        return 0;
        do
                word = next_word(&line);
        while (word && !pn_streq(word, "-"));
        fstype = word ? next_word(&line) : NULL;
        source = fstype ? next_word(&line) : NULL;
        if (!source)
                return 0;
        unescape(words[4]);
        unescape(source);
        mount = (PnMount){.device = pn_device_number(words[2]), .whole = pn_streq(words[3], "/")};
        r = pn_text_from_utf8(words[4], strlen(words[4]), &mount.point);
        if (r <= 0)
                return r;
        mount.fstype = strdup(fstype);
        mount.source = strdup(source);
        *ret = mount;
        if (!mount.fstype || !mount.source)
                return -ENOMEM;
        return 1;
}

/* By device; what shows the whole file system before what shows a part, short names first. */
static int compare_mounts(const void *a, const void *b)
{
        const PnMount *x = a, *y = b;
        size_t n = strlen(x->point), m = strlen(y->point);

        if (x->device != y->device)
                return x->device < y->device ? -1 : 1;
        if (x->whole != y->whole)
                return x->whole ? -1 : 1;
        if (n != m)
                return n < m ? -1 : 1;
        return strcmp(x->point, y->point);
}

/* Parses each line of a file. */
static int for_each_line(char *text, int (*line_function)(char *line, PnMounts *mounts),
                         PnMounts *mounts)
{
        for (char *line = text, *next; line; line = next) {
                int r;

                next = strchr(line, '\n');
                if (next)
                        *next++ = '\0';
                r = line_function(line, mounts);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int add_mount(char *line, PnMounts *mounts)
{
        int r;

        if ((mounts->n & (mounts->n - 1)) == 0) {
                PnMount *grown = reallocarray(mounts->mounts, mounts->n ? mounts->n * 2 : 1,
                                              sizeof *mounts->mounts);

                if (!grown)
                        return -ENOMEM;
                mounts->mounts = grown;
        }
        mounts->mounts[mounts->n] = (PnMount){0};
        r = parse_mount(line, &mounts->mounts[mounts->n]);
        if (r != 0)
                mounts->n++;
        return r;
}

static int add_swap(char *line, PnMounts *mounts)
{
        char *path = next_word(&line);
        char **grown;

        if (!path || *path != '/')
                return 0; /* the heading */
        unescape(path);
        grown = reallocarray(mounts->swaps, mounts->n_swaps + 1, sizeof *grown);
        if (!grown)
                return -ENOMEM;
        mounts->swaps = grown;
        grown[mounts->n_swaps] = strdup(path);
        if (!grown[mounts->n_swaps])
                return -ENOMEM;
        mounts->n_swaps++;
        return 0;
}

/* The machine's mounts are those of PID 1: a unit has a name space of its own, with mounts that its
 * sandbox is made of, and read-only where the machine is not. pnhwd's unit hides PID 1, and has
 * that one file of it in another place, which is empty elsewhere. */
static int read_mountinfo(char **ret)
{
        static const char *const paths[] = {"/proc/1/mountinfo", "/run/pnhw/mountinfo",
                                            "/proc/self/mountinfo"};
        int r = -ENOENT;

        for (size_t i = 0; i < PN_ELEMENTS(paths); i++) {
                _cleanup_free_ char *text = NULL;
                size_t n;

                r = pn_read_file(AT_FDCWD, paths[i], MOUNTINFO_MAX, &text, &n);
                if (r == 0 && n > 0) {
                        *ret = PN_STEAL(text);
                        return 0;
                }
                if (r == -ENOMEM)
                        return r;
        }
        return r < 0 ? r : -ENOENT;
}

int pn_mounts_read(PnMounts *ret)
{
        _cleanup_(pn_mounts_done) PnMounts mounts = {0};
        _cleanup_free_ char *mountinfo = NULL, *swaps = NULL;
        size_t n;
        int r;

        r = read_mountinfo(&mountinfo);
        if (r == 0)
                r = for_each_line(mountinfo, add_mount, &mounts);
        if (r == -ENOMEM)
                return r;
        r = pn_read_file(AT_FDCWD, "/proc/swaps", SWAPS_MAX, &swaps, &n);
        if (r == 0)
                r = for_each_line(swaps, add_swap, &mounts);
        if (r == -ENOMEM)
                return r;
        if (mounts.n > 1)
                qsort(mounts.mounts, mounts.n, sizeof *mounts.mounts, compare_mounts);
        *ret = mounts;
        mounts = (PnMounts){0};
        return 0;
}

void pn_mounts_done(PnMounts *mounts)
{
        for (size_t i = 0; i < mounts->n; i++) {
                free(mounts->mounts[i].point);
                free(mounts->mounts[i].fstype);
                free(mounts->mounts[i].source);
        }
        free(mounts->mounts);
        for (size_t i = 0; i < mounts->n_swaps; i++)
                free(mounts->swaps[i]);
        free(mounts->swaps);
        *mounts = (PnMounts){0};
}

const PnMount *pn_mounts_find(const PnMounts *mounts, uint64_t device)
{
        size_t low = 0, high = mounts->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (mounts->mounts[middle].device < device)
                        low = middle + 1;
                else
                        high = middle;
        }
        return device && low < mounts->n && mounts->mounts[low].device == device
                   ? &mounts->mounts[low]
                   : NULL;
}
