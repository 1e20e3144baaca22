/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Preloaded into a program, answers its requests to ethtool's netlink family with recorded bytes,
 * as a kernel with such a driver would. Knows nothing of what they mean. All else, the family's
 * number among it, is the real kernel's.
 *
 * NETLINK_REPLAY is a folder. INTERFACE-COMMAND has what follows a generic message's head; memory
 * of a module is INTERFACE-I2C-PAGE, of 256 bytes (I2C and PAGE in hexadecimal). A file of the same
 * name with .errno behind it has a number that is answered instead, one with .once behind that,
 * too, once. What has no file is not supported. Each request is a line in the file "log". */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base.h"

#define ROOM 8192

__attribute__((visibility("default"))) ssize_t sendto(int fd, const void *bytes, size_t n,
                                                      int flags, const struct sockaddr *to,
                                                      socklen_t to_size);
__attribute__((visibility("default"))) ssize_t recvmsg(int fd, struct msghdr *message, int flags);

/* The answer that waits to be received. */
static _Thread_local struct {
        int fd;
        size_t n;
        uint8_t bytes[ROOM];
} waiting = {.fd = -1};

/* What a request asks. */
typedef struct Request {
        struct nlmsghdr head;
        struct genlmsghdr generic;
        char interface[16];
        uint32_t offset, length, page, i2c;
} Request;

static void put(const void *bytes, size_t n)
{
        if (waiting.n + n + 4 > sizeof waiting.bytes)
                abort();
        memcpy(waiting.bytes + waiting.n, bytes, n);
        waiting.n = (waiting.n + n + 3) & ~(size_t)3;
}

/* Starts a message, to which `n` bytes will be put. */
static void put_head(int fd, const Request *request, uint16_t type, size_t n)
{
        struct sockaddr_nl address = {0};
        socklen_t size = sizeof address;
        struct nlmsghdr head = {
            .nlmsg_len = (uint32_t)(sizeof head + n),
            .nlmsg_type = type,
            .nlmsg_seq = request->head.nlmsg_seq,
        };

        (void)getsockname(fd, (struct sockaddr *)&address, &size);
        head.nlmsg_pid = address.nl_pid;
        put(&head, sizeof head);
}

static void put_error(int fd, const Request *request, int error)
{
        const struct nlmsgerr body = {.error = -error, .msg = request->head};

        put_head(fd, request, NLMSG_ERROR, sizeof body);
        put(&body, sizeof body);
}

/* Bytes of a file in the folder; negative if there is none. */
static ssize_t load(const char *name, const char *suffix, void *to, size_t room, bool once)
{
        char path[512];
        ssize_t n;
        int fd;

        (void)snprintf(path, sizeof path, "%s/%s%s", getenv("NETLINK_REPLAY"), name, suffix);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return -1;
        n = read(fd, to, room);
        pn_close(fd);
        if (once)
                (void)unlink(path);
        return n;
}

/* An error that is to be answered; 0 if none. */
static int error_for(const char *name)
{
        char number[16] = "";

        if (load(name, ".errno.once", number, sizeof number - 1, true) < 0 &&
            load(name, ".errno", number, sizeof number - 1, false) < 0)
                return 0;
        return (int)strtol(number, NULL, 10);
}

static void note(const char *name, const Request *request)
{
        char path[512], line[128];
        int fd, n;

        (void)snprintf(path, sizeof path, "%s/log", getenv("NETLINK_REPLAY"));
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        n = snprintf(line, sizeof line, "%s %u %u\n", name, request->offset, request->length);
        if (fd < 0 || write(fd, line, (size_t)n) != n)
                abort();
        pn_close(fd);
}

static void answer(int fd, const Request *request)
{
        uint8_t bytes[ROOM / 2];
        bool is_module = request->generic.cmd == ETHTOOL_MSG_MODULE_EEPROM_GET;
        char name[64];
        ssize_t n;
        int error;

        waiting.fd = fd;
        waiting.n = 0;
        if (is_module)
                (void)snprintf(name, sizeof name, "%s-%x-%x", request->interface, request->i2c,
                               request->page);
        else
                (void)snprintf(name, sizeof name, "%s-%u", request->interface,
                               request->generic.cmd);
        note(name, request);
        error = error_for(name);
        n = error ? -1 : load(name, "", bytes, sizeof bytes, false);
        if (n < 0 && !error)
                error = EOPNOTSUPP;
        if (!error && is_module) {
                uint64_t end = (uint64_t)request->offset + request->length;
                const struct nlattr data = {(uint16_t)(sizeof data + request->length),
                                            ETHTOOL_A_MODULE_EEPROM_DATA};
                const struct genlmsghdr generic = {.cmd = ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY};

                /* As the kernel has it. */
                if ((request->offset < 128 && end > 128) || end > 256 ||
                    (request->page && request->offset < 128))
                        error = EINVAL;
                else if (end > (uint64_t)n)
                        error = EIO;
                else {
                        put_head(fd, request, request->head.nlmsg_type,
                                 sizeof generic + sizeof data + request->length);
                        put(&generic, sizeof generic);
                        put(&data, sizeof data);
                        put(bytes + request->offset, request->length);
                }
        } else if (!error) {
                put_head(fd, request, request->head.nlmsg_type, (size_t)n);
                put(bytes, (size_t)n);
        }
        put_error(fd, request, error);
}

static bool is_generic(int fd)
{
        int domain = 0, protocol = 0;
        socklen_t size = sizeof(int);

        return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_NETLINK &&
               getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 &&
               protocol == NETLINK_GENERIC;
}

static uint32_t number(const uint8_t *at, size_t n)
{
        uint32_t v = 0;

        memcpy(&v, at, n < sizeof v ? n : sizeof v);
        return v;
}

/* Reads the attributes of a request, and those of its header, which is a nest. The request is this
 * test's own program's, so it is well made. */
static void parse(const uint8_t *at, size_t n, bool in_header, Request *ret)
{
        while (n >= sizeof(struct nlattr)) {
                struct nlattr head;
                size_t length, step;
                unsigned type;

                memcpy(&head, at, sizeof head);
                type = head.nla_type & 0x3fffu;
                if (head.nla_len < sizeof head || head.nla_len > n)
                        return;
                length = head.nla_len - sizeof head;
                if (in_header && type == ETHTOOL_A_HEADER_DEV_NAME)
                        (void)snprintf(ret->interface, sizeof ret->interface, "%.*s", (int)length,
                                       (const char *)at + sizeof head);
                if (!in_header && head.nla_type & NLA_F_NESTED && !*ret->interface)
                        parse(at + sizeof head, length, true, ret);
                else if (!in_header && type == ETHTOOL_A_MODULE_EEPROM_OFFSET)
                        ret->offset = number(at + sizeof head, length);
                else if (!in_header && type == ETHTOOL_A_MODULE_EEPROM_LENGTH)
                        ret->length = number(at + sizeof head, length);
                else if (!in_header && type == ETHTOOL_A_MODULE_EEPROM_PAGE)
                        ret->page = number(at + sizeof head, length);
                else if (!in_header && type == ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS)
                        ret->i2c = number(at + sizeof head, length);
                step = (head.nla_len + 3u) & ~3u;
                if (step > n)
                        return;
                at += step;
                n -= step;
        }
}

ssize_t sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to,
               socklen_t to_size)
{
        ssize_t (*real)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
        void *symbol = dlsym(RTLD_NEXT, "sendto");
        Request request = {0};
        const size_t heads = sizeof request.head + sizeof request.generic;

        memcpy(&real, &symbol, sizeof real);
        if (!getenv("NETLINK_REPLAY") || !is_generic(fd) || n < heads)
                return real(fd, bytes, n, flags, to, to_size);
        memcpy(&request.head, bytes, sizeof request.head);
        memcpy(&request.generic, (const uint8_t *)bytes + sizeof request.head,
               sizeof request.generic);
        if (request.head.nlmsg_type == GENL_ID_CTRL)
                return real(fd, bytes, n, flags, to, to_size);
        parse((const uint8_t *)bytes + heads, n - heads, false, &request);
        if (request.generic.cmd != ETHTOOL_MSG_MODULE_EEPROM_GET)
                request.offset = request.length = 0;
        answer(fd, &request);
        return (ssize_t)n;
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
        ssize_t (*real)(int, struct msghdr *, int);
        void *symbol = dlsym(RTLD_NEXT, "recvmsg");
        const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};

        memcpy(&real, &symbol, sizeof real);
        if (waiting.fd != fd || message->msg_iovlen != 1 || message->msg_iov->iov_len < waiting.n ||
            message->msg_namelen < sizeof kernel)
                return real(fd, message, flags);
        memcpy(message->msg_iov->iov_base, waiting.bytes, waiting.n);
        memcpy(message->msg_name, &kernel, sizeof kernel);
        message->msg_namelen = sizeof kernel;
        message->msg_flags = 0;
        waiting.fd = -1;
        return (ssize_t)waiting.n;
}
