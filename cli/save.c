/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the page into the file that --output names. */

#include "save.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "say.h"

static int write_all(int fd, const PnBuf *page)
{
        for (size_t done = 0; done < page->len;) {
                ssize_t n = write(fd, page->data + done, page->len - done);

                if (n < 0 && errno != EINTR)
                        return -errno;
                if (n > 0)
                        done += (size_t)n;
        }
        return 0;
}

static int cannot_write(Cli *cli, int error)
{
        return cli_fail(cli, "WriteFailed", "%s: %s", cli->output, say_error(-error));
}

/* A link is followed, and stays: /dev/stdout is one. */
static int write_in_place(Cli *cli)
{
        _cleanup_close_ int fd = open(cli->output, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
        int r = fd < 0 ? -errno : write_all(fd, &cli->page);

        return r < 0 ? cannot_write(cli, r) : 0;
}

static int set_mode(int fd, int mode)
{
        mode_t mask;

        if (mode == SAVE_AS_UMASK) {
                mask = umask(0);
                (void)umask(mask);
                mode = (int)(0666 & ~mask);
        }
        return fchmod(fd, (mode_t)mode) < 0 ? -errno : 0;
}

static int replace_file(Cli *cli, int mode)
{
        _cleanup_free_ char *beside = NULL;
        _cleanup_close_ int fd = -1;
        int r;

        if (asprintf(&beside, "%s.XXXXXX", cli->output) < 0) {
                beside = NULL;
                return cli_out_of_memory(cli);
        }
        fd = mkostemp(beside, O_CLOEXEC);
        if (fd < 0)
                return cannot_write(cli, -errno);
        r = write_all(fd, &cli->page);
        if (r == 0)
                r = set_mode(fd, mode);
        if (r == 0 && rename(beside, cli->output) < 0)
                r = -errno;
        if (r < 0) {
                (void)unlink(beside);
                return cannot_write(cli, r);
        }
        return 0;
}

int save_page(Cli *cli, int mode)
{
        struct stat st;
        int r;

        if (!cli->output || strcmp(cli->output, "-") == 0)
                return 0;
        if (cli->page.error)
                return cli_out_of_memory(cli);
        if (lstat(cli->output, &st) == 0 && !S_ISREG(st.st_mode))
                r = write_in_place(cli);
        else
                r = replace_file(cli, mode);
        if (r == 0)
                pn_buf_done(&cli->page);
        return r;
}
