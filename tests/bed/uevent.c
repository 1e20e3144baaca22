/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* uevent [-n COUNT] ACTION DEVPATH [KEY=VALUE...]: tells every udev monitor of this network
 * namespace of an event, in the format that udevd sends to the group "udev". For a private network
 * namespace (fakehost --net): elsewhere it needs root and would be heard by the real host.
 *
 * SUBSYSTEM= and DEVTYPE= also go into the header, where receivers filter on them. */

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { GROUP_UDEV = 2, MAGIC = 0xfeed };

/* The header before the properties; its numbers are in network order where a hash or the magic is,
 * else in the machine's. */
typedef struct Header {
        char prefix[8];
        uint32_t magic;
        uint32_t header_size;
        uint32_t properties_offset;
        uint32_t properties_size;
        uint32_t subsystem_hash;
        uint32_t devtype_hash;
        uint32_t tag_bloom_high;
        uint32_t tag_bloom_low;
} Header;

/* MurmurHash2 with seed 0, which the receivers' socket filter compares with. */
static uint32_t murmur_hash(const char *string)
{
        const uint32_t multiplier = 0x5bd1e995;
        const uint8_t *bytes = (const uint8_t *)string;
        size_t length = strlen(string);
        uint32_t hash = (uint32_t)length;

        for (; length >= 4; length -= 4, bytes += 4) {
                uint32_t word;

                memcpy(&word, bytes, sizeof word);
                word *= multiplier;
                word ^= word >> 24;
                word *= multiplier;
                hash = hash * multiplier ^ word;
        }
        for (size_t i = length; i > 0; i--)
                hash ^= (uint32_t)bytes[i - 1] << 8 * (i - 1);
        if (length > 0)
                hash *= multiplier;
        hash ^= hash >> 13;
        hash *= multiplier;
        return hash ^ hash >> 15;
}

/* Appends KEY=VALUE and its NUL. Exits when the event grows too big. */
static void append(char *properties, size_t capacity, size_t *size, const char *key,
                   const char *value)
{
        int n = snprintf(properties + *size, capacity - *size, "%s%s", key, value);

        if (n < 0 || (size_t)n >= capacity - *size) {
                fprintf(stderr, "uevent: too many properties\n");
                exit(125);
        }
        *size += (size_t)n + 1;
}

static int send_event(int fd, Header *header, char **words, int n_words, long sequence)
{
        struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = GROUP_UDEV};
        char properties[8192], number[32];
        size_t size = 0;

        (void)snprintf(number, sizeof number, "%ld", sequence);
        append(properties, sizeof properties, &size, "ACTION=", words[0]);
        append(properties, sizeof properties, &size, "DEVPATH=", words[1]);
        append(properties, sizeof properties, &size, "SEQNUM=", number);
        for (int i = 2; i < n_words; i++)
                append(properties, sizeof properties, &size, "", words[i]);
        header->properties_size = (uint32_t)size;

        struct iovec parts[] = {{header, sizeof *header}, {properties, size}};
        struct msghdr message = {
            .msg_name = &address,
            .msg_namelen = sizeof address,
            .msg_iov = parts,
            .msg_iovlen = 2,
        };

        return sendmsg(fd, &message, 0) < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
        Header header = {
            .prefix = "libudev",
            .magic = htonl((uint32_t)MAGIC << 16 | 0xcafe),
            .header_size = sizeof header,
            .properties_offset = sizeof header,
        };
        long count = 1;
        int option, fd;

        while ((option = getopt(argc, argv, "+n:")) != -1) {
                if (option != 'n')
                        return 125;
                count = strtol(optarg, NULL, 10);
        }
        argv += optind;
        argc -= optind;
        if (argc < 2) {
                fprintf(stderr, "Usage: uevent [-n COUNT] ACTION DEVPATH [KEY=VALUE...]\n");
                return 125;
        }
        for (int i = 2; i < argc; i++) {
                if (strncmp(argv[i], "SUBSYSTEM=", 10) == 0)
                        header.subsystem_hash = htonl(murmur_hash(argv[i] + 10));
                if (strncmp(argv[i], "DEVTYPE=", 8) == 0)
                        header.devtype_hash = htonl(murmur_hash(argv[i] + 8));
        }
        fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
        if (fd < 0) {
                perror("uevent: socket");
                return 1;
        }
        for (long i = 0; i < count; i++) {
                if (send_event(fd, &header, argv, argc, getpid() * 1000L + i) < 0) {
                        perror("uevent: sendmsg");
                        return 1;
                }
        }
        return 0;
}
