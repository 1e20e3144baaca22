/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ioctl SIOCETHTOOL, with requests that only read. Knows nothing of what the answers mean. */
#include "ethtool.h"

#include <linux/ethtool.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define MODULE_READ_MAX 256

/* More counters than any driver has, of which some have one for each of many queues. */
#define COUNTERS_MAX 65536

int pn_ethtool_open(void)
{
        /* Any socket will do; this family is the one that a sandboxed probe may use. */
        int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

        return fd < 0 ? -errno : fd;
}

static int ask(int fd, const char *interface, void *data)
{
        struct ifreq request = {0};

        if (strlen(interface) >= sizeof request.ifr_name)
                return -ENODEV;
        memcpy(request.ifr_name, interface, strlen(interface));
        request.ifr_data = data;
        return ioctl(fd, SIOCETHTOOL, &request) < 0 ? -errno : 0;
}

static void copy_text(char *to, size_t size, const char *from, size_t n)
{
        size_t length = strnlen(from, n);

        if (length >= size)
                length = size - 1;
        memcpy(to, from, length);
        to[length] = '\0';
}

int pn_ethtool_driver(int fd, const char *interface, PnEthtoolDriver *ret)
{
        struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
        int r = ask(fd, interface, &info);

        if (r < 0)
                return r;
        copy_text(ret->driver, sizeof ret->driver, info.driver, sizeof info.driver);
        copy_text(ret->firmware, sizeof ret->firmware, info.fw_version, sizeof info.fw_version);
        ret->n_counters = info.n_stats;
        return 0;
}

static void copy_modes(uint32_t *to, const uint32_t *from, size_t n)
{
        memset(to, 0, PN_LINK_MODE_WORDS * sizeof *to);
        memcpy(to, from, (n < PN_LINK_MODE_WORDS ? n : PN_LINK_MODE_WORDS) * sizeof *to);
}

int pn_ethtool_link(int fd, const char *interface, PnEthtoolLink *ret)
{
        enum { WORDS_MAX = 127 };
        union {
                struct ethtool_link_settings head;
                uint8_t
                    room[sizeof(struct ethtool_link_settings) + 3 * WORDS_MAX * sizeof(uint32_t)];
        } request = {.head = {.cmd = ETHTOOL_GLINKSETTINGS}};
        const uint8_t *masks = request.room + sizeof request.head;
        uint32_t words[3 * WORDS_MAX];
        size_t n;
        int r;

        /* The kernel first says how many words it has for a set of modes. */
        r = ask(fd, interface, &request);
        if (r < 0)
                return r;
        if (request.head.link_mode_masks_nwords >= 0)
                return -EPROTO;
        n = (size_t)-request.head.link_mode_masks_nwords;
        request.head = (struct ethtool_link_settings){.cmd = ETHTOOL_GLINKSETTINGS,
                                                      .link_mode_masks_nwords = (int8_t)n};
        r = ask(fd, interface, &request);
        if (r < 0)
                return r;
        if (request.head.link_mode_masks_nwords != (int)n || n > WORDS_MAX)
                return -EPROTO;
        memcpy(words, masks, 3 * n * sizeof *words);
        ret->has_settings = true;
        ret->speed = request.head.speed;
        ret->duplex = request.head.duplex;
        ret->autonegotiation = request.head.autoneg;
        copy_modes(ret->supported, words, n);
        copy_modes(ret->advertised, words + n, n);
        copy_modes(ret->partner, words + 2 * n, n);
        ret->has_port = true;
        ret->port = request.head.port;
        return 0;
}

int pn_ethtool_permanent_address(int fd, const char *interface, uint8_t ret[static 6])
{
        enum { ROOM = 32 };
        union {
                struct ethtool_perm_addr head;
                uint8_t room[sizeof(struct ethtool_perm_addr) + ROOM];
        } request = {.head = {.cmd = ETHTOOL_GPERMADDR, .size = ROOM}};
        const uint8_t *bytes = request.room + sizeof request.head;
        static const uint8_t none[6];
        int r = ask(fd, interface, &request);

        if (r < 0)
                return r;
        if (request.head.size != 6 || memcmp(bytes, none, sizeof none) == 0)
                return -ENODATA;
        memcpy(ret, bytes, 6);
        return 0;
}

int pn_ethtool_counters(int fd, const char *interface, uint32_t n, PnEthtoolCounter take,
                        void *context)
{
        _cleanup_free_ struct ethtool_gstrings *names = NULL;
        _cleanup_free_ struct ethtool_stats *values = NULL;
        /* Most kernels write as many as there are now, whatever they are told that there is room
         * for: somebody may just have given the port more queues, which have counters as well. */
        size_t room = 4 * (size_t)n + 1024;
        int r;

        if (n == 0 || n > COUNTERS_MAX)
                return -EOPNOTSUPP;
        names = calloc(1, sizeof *names + room * ETH_GSTRING_LEN);
        values = calloc(1, sizeof *values + room * sizeof(uint64_t));
        if (!names || !values)
                return -ENOMEM;
        *names = (struct ethtool_gstrings){
            .cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = n};
        *values = (struct ethtool_stats){.cmd = ETHTOOL_GSTATS, .n_stats = n};
        r = ask(fd, interface, names);
        if (r == 0)
                r = ask(fd, interface, values);
        if (r < 0)
                return r;
        if (names->len != n || values->n_stats != n)
                return -EAGAIN;
        for (size_t i = 0; i < n; i++) {
                char name[ETH_GSTRING_LEN + 1];

                copy_text(name, sizeof name, (const char *)names->data + i * ETH_GSTRING_LEN,
                          ETH_GSTRING_LEN);
                take(name, values->data[i], context);
        }
        return 0;
}

int pn_ethtool_module_info(int fd, const char *interface, uint32_t *ret_type, uint32_t *ret_length)
{
        struct ethtool_modinfo info = {.cmd = ETHTOOL_GMODULEINFO};
        int r = ask(fd, interface, &info);

        if (r < 0)
                return r;
        *ret_type = info.type;
        *ret_length = info.eeprom_len;
        return 0;
}

int pn_ethtool_module_read(int fd, const char *interface, uint32_t offset, uint32_t n, uint8_t *ret)
{
        union {
                struct ethtool_eeprom head;
                uint8_t room[sizeof(struct ethtool_eeprom) + MODULE_READ_MAX];
        } request = {.head = {.cmd = ETHTOOL_GMODULEEEPROM, .offset = offset, .len = n}};
        int r;

        if (n > MODULE_READ_MAX)
                return -EINVAL;
        r = ask(fd, interface, &request);
        if (r < 0)
                return r;
        if (request.head.len != n)
                return -EIO;
        memcpy(ret, request.room + sizeof request.head, n);
        return 0;
}
