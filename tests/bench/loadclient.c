/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Asks a Unix socket the same question over one kept connection and prints the microseconds that an
 * answer took; knows nothing of what it is told. */

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "base.h"

static double now(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Sends the question with its NUL and reads to the NUL of the answer; its length, or -errno. */
static ssize_t ask(int fd, const char *question, char *buffer, size_t size)
{
        size_t length = strlen(question) + 1;
        ssize_t total = 0;

        if (send(fd, question, length, MSG_NOSIGNAL) != (ssize_t)length)
                return -errno;
        for (;;) {
                ssize_t n = recv(fd, buffer, size, 0);

                if (n <= 0)
                        return n < 0 ? -errno : -ECONNRESET;
                total += n;
                if (buffer[n - 1] == '\0')
                        return total;
        }
}

int main(int argc, char **argv)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        static char buffer[1 << 20];
        _cleanup_close_ int fd = -1;
        ssize_t length = 0;
        long n;
        double start;

        if (argc != 4) {
                (void)fprintf(stderr, "usage: %s SOCKET COUNT QUESTION\n", argv[0]);
                return 2;
        }
        n = strtol(argv[2], NULL, 10);
        if (n < 1 || strlen(argv[1]) >= sizeof address.sun_path)
                return 2;
        memcpy(address.sun_path, argv[1], strlen(argv[1]) + 1);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
                perror(argv[1]);
                return 1;
        }
        for (int i = 0; i < 10; i++)
                length = ask(fd, argv[3], buffer, sizeof buffer);
        start = now();
        for (long i = 0; i < n; i++)
                length = ask(fd, argv[3], buffer, sizeof buffer);
        if (length < 0) {
                (void)fprintf(stderr, "%s: %s\n", argv[1], strerror((int)-length));
                return 1;
        }
        printf("%.3f %zd\n", (now() - start) / (double)n, length);
        return 0;
}
