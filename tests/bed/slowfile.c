/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slowfile FILE DELAY_MS TEXT: mounts a file system of one file over FILE, so that an attribute
 * answers late, never or with an error. It stays in the foreground until it is killed, which ends
 * the mount and every reader that still waits. Meant for a fakehost's mount namespace: there, the
 * mount is nobody else's.
 *
 * A DELAY_MS of -1 never answers; the reader is in uninterruptible sleep, as with a hung device.
 * A TEXT of "!5" fails every read with error 5 (EIO). */

#define FUSE_USE_VERSION 31

#include <errno.h>
#include <fuse3/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static long delay_ms;
static const char *text;

static int get_attributes(const char *path, struct stat *st, struct fuse_file_info *file)
{
        (void)file;
        if (strcmp(path, "/") != 0)
                return -ENOENT;
        /* The size of a sysfs attribute, whatever it holds. */
        *st = (struct stat){.st_mode = S_IFREG | 0444, .st_nlink = 1, .st_size = 4096};
        return 0;
}

static int open_file(const char *path, struct fuse_file_info *file)
{
        (void)path;
        /* Every read is asked for, none comes from the page cache. */
        file->direct_io = 1;
        return 0;
}

static void wait_for_delay(void)
{
        const struct timespec delay = {delay_ms / 1000, delay_ms % 1000 * 1000000};

        while (delay_ms < 0)
                (void)pause();
        (void)nanosleep(&delay, NULL);
}

static int read_file(const char *path, char *buffer, size_t size, off_t offset,
                     struct fuse_file_info *file)
{
        char line[4096];
        size_t length;

        (void)path;
        (void)file;
        /* cat reads once more to see the end; that must not cost the delay again. */
        if (offset == 0)
                wait_for_delay();
        if (text[0] == '!')
                return -(int)strtol(text + 1, NULL, 10);
        length = (size_t)snprintf(line, sizeof line, "%s\n", text);
        if (length >= sizeof line)
                length = sizeof line - 1;
        if (offset < 0 || (size_t)offset >= length)
                return 0;
        if (size > length - (size_t)offset)
                size = length - (size_t)offset;
        memcpy(buffer, line + offset, size);
        return (int)size;
}

int main(int argc, char **argv)
{
        static const struct fuse_operations operations = {
            .getattr = get_attributes,
            .open = open_file,
            .read = read_file,
        };
        static char foreground[] = "-f", option[] = "-o", others[] = "allow_other";
        char *end = NULL;

        if (argc == 4)
                delay_ms = strtol(argv[2], &end, 10);
        if (argc != 4 || end == argv[2] || *end || delay_ms < -1) {
                fprintf(stderr, "Usage: slowfile FILE DELAY_MS TEXT\n");
                return 125;
        }
        text = argv[3];

        char *arguments[] = {argv[0], foreground, option, others, argv[1], NULL};

        return fuse_main(5, arguments, &operations, NULL) == 0 ? 0 : 1;
}
