/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bareserver SOCKET FILE: the least that a server can do, as a baseline for benchmarks. For each
 * NUL-terminated request, whatever it says, it answers with the bytes of FILE and a NUL. One epoll
 * loop, one thread; SIGTERM ends it. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { MAX_EVENTS = 64, READ_SIZE = 65536 };

/* What a connection still has to send: whole answers, the first of them from `offset` on. */
typedef struct Connection {
        int fd;
        size_t n_answers;
        size_t offset;
} Connection;

static char *answer;
static size_t answer_size;

static _Noreturn void fail(const char *what)
{
        perror(what);
        exit(125);
}

static void load_answer(const char *path)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                fail(path);
        answer_size = (size_t)st.st_size + 1;
        answer = calloc(1, answer_size);
        if (!answer || read(fd, answer, answer_size - 1) != (ssize_t)answer_size - 1)
                fail(path);
        (void)close(fd);
}

static int listen_at(const char *path)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (strlen(path) >= sizeof address.sun_path) {
                errno = ENAMETOOLONG;
                fail(path);
        }
        memcpy(address.sun_path, path, strlen(path) + 1);
        (void)unlink(path);
        if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
            listen(fd, SOMAXCONN) < 0)
                fail(path);
        return fd;
}

static void watch(int epoll, int operation, int fd, uint32_t events, void *data)
{
        struct epoll_event event = {.events = events, .data.ptr = data};

        if (epoll_ctl(epoll, operation, fd, &event) < 0)
                fail("epoll_ctl");
}

static void accept_all(int epoll, int listener)
{
        int fd;

        while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
                Connection *connection = calloc(1, sizeof *connection);

                if (!connection)
                        fail("accept");
                connection->fd = fd;
                watch(epoll, EPOLL_CTL_ADD, fd, EPOLLIN, connection);
        }
}

/* Returns 1 when all is sent, 0 when the socket is full, -1 when the client has gone. */
static int flush_answers(Connection *connection)
{
        while (connection->n_answers > 0) {
                ssize_t n = send(connection->fd, answer + connection->offset,
                                 answer_size - connection->offset, MSG_NOSIGNAL);

                if (n < 0)
                        return errno == EAGAIN ? 0 : -1;
                connection->offset += (size_t)n;
                if (connection->offset == answer_size) {
                        connection->offset = 0;
                        connection->n_answers--;
                }
        }
        return 1;
}

/* Returns 1 when there may be more to read, 0 when not now, -1 at the end. */
static int read_requests(Connection *connection)
{
        static char buffer[READ_SIZE];
        ssize_t n = recv(connection->fd, buffer, sizeof buffer, 0);

        if (n <= 0)
                return n < 0 && errno == EAGAIN ? 0 : -1;
        for (ssize_t i = 0; i < n; i++)
                if (buffer[i] == '\0')
                        connection->n_answers++;
        return n == READ_SIZE;
}

static void serve(int epoll, Connection *connection, uint32_t events)
{
        int r = 1;

        if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
                while ((r = read_requests(connection)) > 0)
                        ;
        if (r >= 0)
                r = flush_answers(connection);
        if (r < 0) {
                (void)close(connection->fd);
                free(connection);
                return;
        }
        watch(epoll, EPOLL_CTL_MOD, connection->fd, r == 0 ? EPOLLIN | EPOLLOUT : EPOLLIN,
              connection);
}

int main(int argc, char **argv)
{
        struct epoll_event events[MAX_EVENTS];
        int epoll, listener;

        if (argc != 3) {
                fprintf(stderr, "Usage: bareserver SOCKET FILE\n");
                return 125;
        }
        load_answer(argv[2]);
        listener = listen_at(argv[1]);
        epoll = epoll_create1(EPOLL_CLOEXEC);
        if (epoll < 0)
                fail("epoll");
        watch(epoll, EPOLL_CTL_ADD, listener, EPOLLIN, NULL);
        for (;;) {
                int n = epoll_wait(epoll, events, MAX_EVENTS, -1);

                if (n < 0 && errno != EINTR)
                        fail("epoll_wait");
                for (int i = 0; i < n; i++) {
                        if (events[i].data.ptr)
                                serve(epoll, events[i].data.ptr, events[i].events);
                        else
                                accept_all(epoll, listener);
                }
        }
}
