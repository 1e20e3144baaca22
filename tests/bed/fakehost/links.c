/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes the tree's network interfaces in the private network namespace, so that netlink tells of
 * them: a tap device for each line of TREE/net-interfaces, in its order, so that their indices are
 * those of the tree (2, 3 ...). What a tap cannot be (its driver, a module) stays the scripts'. */

#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "fakehost.h"

typedef struct Link {
        char name[IFNAMSIZ];
        uint8_t mac[6];
        bool up;
        unsigned speed_mbps; /* 0: unknown */
} Link;

static bool parse_link(const char *line, Link *ret_link)
{
        unsigned byte[6], speed;
        char name[IFNAMSIZ], state[8];
        Link link = {0};

        /* 15 is IFNAMSIZ less the NUL. */
        if (sscanf(line, "%15s %2x:%2x:%2x:%2x:%2x:%2x %7s %u", name, &byte[0], &byte[1], &byte[2],
                   &byte[3], &byte[4], &byte[5], state, &speed) != 9)
                return false;
        memcpy(link.name, name, sizeof link.name);
        for (size_t i = 0; i < 6; i++)
                link.mac[i] = (uint8_t)byte[i];
        link.up = pn_streq(state, "up");
        link.speed_mbps = speed;
        *ret_link = link;
        return true;
}

/* Without an open descriptor a tap has no carrier, so it stays open as long as the supervisor runs.
 * Returns 0 or a negative errno. */
static int make_tap(const Link *link)
{
        struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
        int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

        if (fd < 0)
                return -errno;
        memcpy(request.ifr_name, link->name, sizeof request.ifr_name);
        if (ioctl(fd, TUNSETIFF, &request) < 0) {
                pn_close(fd);
                return -errno;
        }
        return 0;
}

static int set_speed(int socket, const Link *link)
{
        struct ethtool_cmd settings = {
            .cmd = ETHTOOL_SSET,
            .duplex = DUPLEX_FULL,
            .port = PORT_OTHER,
        };
        struct ifreq request = {.ifr_data = (void *)&settings};

        memcpy(request.ifr_name, link->name, sizeof request.ifr_name);
        ethtool_cmd_speed_set(&settings, link->speed_mbps);
        return ioctl(socket, SIOCETHTOOL, &request) < 0 ? -errno : 0;
}

static int configure(int socket, const Link *link)
{
        struct ifreq request = {0};

        memcpy(request.ifr_name, link->name, sizeof request.ifr_name);
        request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
        memcpy(request.ifr_hwaddr.sa_data, link->mac, sizeof link->mac);
        if (ioctl(socket, SIOCSIFHWADDR, &request) < 0)
                return -errno;
        if (link->speed_mbps > 0 && set_speed(socket, link) < 0)
                return -errno;
        memset(&request.ifr_ifru, 0, sizeof request.ifr_ifru);
        request.ifr_flags = link->up ? IFF_UP : 0;
        return ioctl(socket, SIOCSIFFLAGS, &request) < 0 ? -errno : 0;
}

void fh_make_links(const FhOptions *options)
{
        _cleanup_close_ int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        char path[128], line[256];
        FILE *file;

        (void)snprintf(path, sizeof path, "%s/net-interfaces", options->tree_path);
        file = fopen(path, "re");
        if (!file)
                return;
        while (fgets(line, sizeof line, file)) {
                Link link;
                int r;

                if (!parse_link(line, &link))
                        fh_fail(FH_EXIT_SETUP, "%s: wrong line \"%s\"", path, line);
                r = make_tap(&link);
                if (r == 0)
                        r = configure(control, &link);
                if (r < 0) {
                        errno = -r;
                        fh_fail_errno(FH_EXIT_SKIP, "this machine refuses the tap device %s",
                                      link.name);
                }
        }
        (void)fclose(file);
}
