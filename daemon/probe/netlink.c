/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends requests to rtnetlink and to ethtool's generic netlink family, through libmnl. What comes
 * back is netlink_answers.c's to read. */
#include "netlink.h"

#include <libmnl/libmnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

/* A driver answers at once or not at all: whoever waits for one is watched (walk.h). This bounds
 * what nobody watches, the dump. */
#define RECEIVE_TIMEOUT_S 5

/* How often a dump is tried that others kept changing under our hands. */
#define DUMP_TRIES 4

struct PnEthtoolNetlink {
        struct mnl_socket *socket;
        uint32_t sequence;
        uint16_t family;
};

static void close_socket(struct mnl_socket **socket)
{
        if (*socket)
                (void)mnl_socket_close(*socket);
}

static int open_socket(int bus, struct mnl_socket **ret)
{
        _cleanup_(close_socket) struct mnl_socket *socket = mnl_socket_open2(bus, SOCK_CLOEXEC);
        struct timeval timeout = {.tv_sec = RECEIVE_TIMEOUT_S};

        if (!socket)
                return -errno;
        if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0 ||
            setsockopt(mnl_socket_get_fd(socket), SOL_SOCKET, SO_RCVTIMEO, &timeout,
                       sizeof timeout) < 0)
                return -errno;
        *ret = PN_STEAL(socket);
        return 0;
}

/* Sends a request and has `take` read each datagram of the answer. 0 or a negative errno. */
static int talk(struct mnl_socket *socket, const struct nlmsghdr *request, PnAnswer take, void *ret)
{
        _Alignas(struct nlmsghdr) char buf[32768];
        const PnAnswerTo to = {request->nlmsg_seq, mnl_socket_get_portid(socket)};
        int r;

        if (mnl_socket_sendto(socket, request, request->nlmsg_len) < 0)
                return -errno;
        do {
                ssize_t n = mnl_socket_recvfrom(socket, buf, sizeof buf);

                if (n < 0)
                        return errno == EAGAIN ? -ETIMEDOUT : -errno;
                r = take(buf, (size_t)n, &to, ret);
        } while (r > 0);
        return r;
}

/* ---- rtnetlink ---- */

static int compare_links(const void *a, const void *b)
{
        const PnNetLink *one = a, *other = b;

        return strcmp(one->name, other->name);
}

static int dump_links(struct mnl_socket *socket, uint32_t sequence, PnNetLinks *links)
{
        char buf[128] = {0};
        struct nlmsghdr *request = mnl_nlmsg_put_header(buf);
        struct ifinfomsg *head;

        request->nlmsg_type = RTM_GETLINK;
        request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
        request->nlmsg_seq = sequence;
        head = mnl_nlmsg_put_extra_header(request, sizeof *head);
        head->ifi_family = AF_UNSPEC;
        /* Never RTEXT_FILTER_VF: for that the kernel asks the firmware about each virtual function,
         * with the lock held that all of networking waits for. */
        mnl_attr_put_u32(request, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
        links->n = 0;
        return talk(socket, request, pn_answer_links, links);
}

int pn_netlink_links(PnNetLink **ret, size_t *ret_n)
{
        _cleanup_(close_socket) struct mnl_socket *socket = NULL;
        PnNetLinks links = {0};
        int r = open_socket(NETLINK_ROUTE, &socket);

        if (r < 0)
                return r;
        /* The kernel marks a dump that did not show all interfaces of one moment. */
        for (uint32_t i = 1; i <= DUMP_TRIES; i++) {
                r = dump_links(socket, i, &links);
                if (r != -EINTR)
                        break;
                (void)mnl_socket_close(PN_STEAL(socket));
                if (open_socket(NETLINK_ROUTE, &socket) < 0)
                        break;
        }
        if (r < 0) {
                free(links.v);
                return r;
        }
        if (links.n > 1)
                qsort(links.v, links.n, sizeof *links.v, compare_links);
        *ret = links.v;
        *ret_n = links.n;
        return 0;
}

/* ---- ethtool's family ---- */

static struct nlmsghdr *begin(uint32_t sequence, char *buf, uint16_t family, uint8_t command,
                              uint8_t version)
{
        struct nlmsghdr *request = mnl_nlmsg_put_header(buf);
        struct genlmsghdr *head;

        request->nlmsg_type = family;
        request->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
        request->nlmsg_seq = sequence;
        head = mnl_nlmsg_put_extra_header(request, sizeof *head);
        head->cmd = command;
        head->version = version;
        return request;
}

int pn_ethtool_netlink_family(uint16_t *ret)
{
        _cleanup_(close_socket) struct mnl_socket *socket = NULL;
        char buf[128] = {0};
        struct nlmsghdr *request = begin(1, buf, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
        uint16_t family = 0;
        int r = open_socket(NETLINK_GENERIC, &socket);

        if (r < 0)
                return r;
        mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, ETHTOOL_GENL_NAME);
        r = talk(socket, request, pn_answer_family, &family);
        if (r == -ENOENT || (r == 0 && !family))
                return -EOPNOTSUPP;
        if (r < 0)
                return r;
        *ret = family;
        return 0;
}

int pn_ethtool_netlink_new(uint16_t family, PnEthtoolNetlink **ret)
{
        _cleanup_(pn_ethtool_netlink_freep) PnEthtoolNetlink *netlink = NULL;
        int r;

        if (!family)
                return -EOPNOTSUPP;
        netlink = calloc(1, sizeof *netlink);
        if (!netlink)
                return -ENOMEM;
        r = open_socket(NETLINK_GENERIC, &netlink->socket);
        if (r < 0)
                return r;
        netlink->family = family;
        *ret = PN_STEAL(netlink);
        return 0;
}

void pn_ethtool_netlink_free(PnEthtoolNetlink *netlink)
{
        if (!netlink)
                return;
        close_socket(&netlink->socket);
        free(netlink);
}

/* A request about one interface; `header` is the number of the attribute that says which. */
static struct nlmsghdr *begin_about(PnEthtoolNetlink *netlink, char *buf, uint8_t command,
                                    uint16_t header, unsigned index, const char *interface,
                                    uint32_t flags)
{
        struct nlmsghdr *request =
            begin(++netlink->sequence, buf, netlink->family, command, ETHTOOL_GENL_VERSION);
        struct nlattr *head = mnl_attr_nest_start(request, header);

        mnl_attr_put_u32(request, ETHTOOL_A_HEADER_DEV_INDEX, index);
        mnl_attr_put_strz(request, ETHTOOL_A_HEADER_DEV_NAME, interface);
        mnl_attr_put_u32(request, ETHTOOL_A_HEADER_FLAGS, ETHTOOL_FLAG_COMPACT_BITSETS | flags);
        mnl_attr_nest_end(request, head);
        return request;
}

int pn_ethtool_netlink_port(PnEthtoolNetlink *netlink, unsigned index, const char *interface,
                            PnEthtoolLink *ret)
{
        char buf[256] = {0};

        return talk(netlink->socket,
                    begin_about(netlink, buf, ETHTOOL_MSG_LINKINFO_GET, ETHTOOL_A_LINKINFO_HEADER,
                                index, interface, 0),
                    pn_answer_link_info, ret);
}

int pn_ethtool_netlink_link(PnEthtoolNetlink *netlink, unsigned index, const char *interface,
                            bool with_state, PnEthtoolLink *ret)
{
        char buf[256] = {0}, state_buf[256] = {0};
        int r = talk(netlink->socket,
                     begin_about(netlink, buf, ETHTOOL_MSG_LINKMODES_GET,
                                 ETHTOOL_A_LINKMODES_HEADER, index, interface, 0),
                     pn_answer_link_modes, ret);

        if (r < 0)
                return r;
        ret->ext_state = ret->ext_substate = -1;
        if (with_state)
                (void)talk(netlink->socket,
                           begin_about(netlink, state_buf, ETHTOOL_MSG_LINKSTATE_GET,
                                       ETHTOOL_A_LINKSTATE_HEADER, index, interface, 0),
                           pn_answer_link_state, ret);
        return 0;
}

int pn_ethtool_netlink_fec(PnEthtoolNetlink *netlink, unsigned index, const char *interface,
                           PnEthtoolFec *ret)
{
        char buf[256] = {0};
        PnEthtoolFec fec = {
            .active = -1, .corrected = PN_NO_COUNTER, .uncorrectable = PN_NO_COUNTER};
        int r = talk(netlink->socket,
                     begin_about(netlink, buf, ETHTOOL_MSG_FEC_GET, ETHTOOL_A_FEC_HEADER, index,
                                 interface, ETHTOOL_FLAG_STATS),
                     pn_answer_fec, &fec);

        if (r == 0)
                *ret = fec;
        return r;
}

int pn_ethtool_netlink_stats(PnEthtoolNetlink *netlink, unsigned index, const char *interface,
                             PnEthtoolStats *ret)
{
        static const uint32_t wanted =
            1u << ETHTOOL_STATS_ETH_PHY | 1u << ETHTOOL_STATS_ETH_MAC | 1u << ETHTOOL_STATS_RMON;
        char buf[256] = {0};
        struct nlmsghdr *request = begin_about(netlink, buf, ETHTOOL_MSG_STATS_GET,
                                               ETHTOOL_A_STATS_HEADER, index, interface, 0);
        struct nlattr *groups = mnl_attr_nest_start(request, ETHTOOL_A_STATS_GROUPS);
        PnEthtoolStats stats = {PN_NO_COUNTER, PN_NO_COUNTER, PN_NO_COUNTER};
        int r;

        mnl_attr_put(request, ETHTOOL_A_BITSET_NOMASK, 0, NULL);
        mnl_attr_put_u32(request, ETHTOOL_A_BITSET_SIZE, ETHTOOL_STATS_RMON + 1);
        mnl_attr_put_u32(request, ETHTOOL_A_BITSET_VALUE, wanted);
        mnl_attr_nest_end(request, groups);
        r = talk(netlink->socket, request, pn_answer_stats, &stats);
        if (r == 0)
                *ret = stats;
        return r;
}

int pn_ethtool_netlink_module(PnEthtoolNetlink *netlink, unsigned index, const char *interface,
                              uint8_t i2c_address, uint8_t page, uint8_t offset, uint8_t n,
                              uint8_t *ret)
{
        char buf[256] = {0};
        struct nlmsghdr *request = begin_about(netlink, buf, ETHTOOL_MSG_MODULE_EEPROM_GET,
                                               ETHTOOL_A_MODULE_EEPROM_HEADER, index, interface, 0);
        PnEthtoolBytes bytes = {.to = ret, .n = n};
        int r;

        mnl_attr_put_u32(request, ETHTOOL_A_MODULE_EEPROM_OFFSET, offset);
        mnl_attr_put_u32(request, ETHTOOL_A_MODULE_EEPROM_LENGTH, n);
        mnl_attr_put_u8(request, ETHTOOL_A_MODULE_EEPROM_PAGE, page);
        mnl_attr_put_u8(request, ETHTOOL_A_MODULE_EEPROM_BANK, 0);
        mnl_attr_put_u8(request, ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, i2c_address);
        r = talk(netlink->socket, request, pn_answer_module, &bytes);
        if (r < 0)
                return r;
        return bytes.got == n ? 0 : -EIO;
}
