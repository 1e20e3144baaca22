/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rtnetlink's dump of interfaces and ethtool's generic netlink family, through libmnl. Takes every
 * message for possibly malformed; knows nothing of what the answers mean. */
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
        unsigned portid;
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

/* Sends a request and hands each message of the answer to `handle`. 0 or a negative errno. */
static int talk(struct mnl_socket *socket, const struct nlmsghdr *request, mnl_cb_t handle,
                void *data)
{
        _Alignas(struct nlmsghdr) char buf[32768];
        unsigned portid = mnl_socket_get_portid(socket);
        int r;

        if (mnl_socket_sendto(socket, request, request->nlmsg_len) < 0)
                return -errno;
        do {
                ssize_t n = mnl_socket_recvfrom(socket, buf, sizeof buf);

                if (n < 0)
                        return errno == EAGAIN ? -ETIMEDOUT : -errno;
                r = mnl_cb_run(buf, (size_t)n, request->nlmsg_seq, portid, handle, data);
        } while (r > 0);
        return r < 0 ? -errno : 0;
}

/* The attributes of a message or of another attribute, one after the other. */
typedef struct Attributes {
        const struct nlattr *at; /* NULL at the end */
        const char *end;
} Attributes;

static Attributes checked(const void *at, const void *end)
{
        const char *first = at, *last = end;
        bool good =
            first < last && last - first <= INT32_MAX && mnl_attr_ok(at, (int)(last - first));

        return (Attributes){good ? at : NULL, end};
}

static Attributes attributes_in(const struct nlattr *nest)
{
        const char *payload = mnl_attr_get_payload(nest);

        return checked(payload, payload + mnl_attr_get_payload_len(nest));
}

/* Those behind a message's head of so many bytes. */
static Attributes attributes_of(const struct nlmsghdr *message, size_t head)
{
        if (mnl_nlmsg_get_payload_len(message) < head)
                return (Attributes){0};
        return checked(mnl_nlmsg_get_payload_offset(message, head),
                       mnl_nlmsg_get_payload_tail(message));
}

static void next(Attributes *attributes)
{
        *attributes = checked(mnl_attr_next(attributes->at), attributes->end);
}

static uint32_t number(const struct nlattr *attr)
{
        switch (mnl_attr_get_payload_len(attr)) {
        case 1:
                return mnl_attr_get_u8(attr);
        case 2:
                return mnl_attr_get_u16(attr);
        case 4:
                return mnl_attr_get_u32(attr);
        default:
                return 0;
        }
}

static int small_number(const struct nlattr *attr)
{
        uint32_t v = number(attr);

        return v > INT32_MAX ? -1 : (int)v;
}

static void copy_text(char *to, size_t size, const struct nlattr *attr)
{
        const char *text = mnl_attr_get_payload(attr);
        size_t n = strnlen(text, mnl_attr_get_payload_len(attr));

        if (n >= size)
                return;
        memcpy(to, text, n);
        to[n] = '\0';
}

static void copy_address(uint8_t *to, size_t size, uint8_t *ret_length, const struct nlattr *attr)
{
        size_t n = mnl_attr_get_payload_len(attr);

        if (n == 0 || n > size)
                return;
        memcpy(to, mnl_attr_get_payload(attr), n);
        *ret_length = (uint8_t)n;
}

/* ---- rtnetlink ---- */

typedef struct Links {
        PnNetLink *v;
        size_t n, capacity;
} Links;

static void parse_bond(const struct nlattr *data, PnNetLink *link)
{
        const struct nlattr *attr, *inner;

        for (Attributes attrs = attributes_in(data); attrs.at; next(&attrs)) {
                attr = attrs.at;
                switch (mnl_attr_get_type(attr)) {
                case IFLA_BOND_MODE:
                        link->bond_mode = small_number(attr);
                        break;
                case IFLA_BOND_ACTIVE_SLAVE:
                        link->bond_active = number(attr);
                        break;
                case IFLA_BOND_AD_INFO:
                        for (Attributes inners = attributes_in(attr); inners.at; next(&inners)) {
                                inner = inners.at;
                                if (mnl_attr_get_type(inner) == IFLA_BOND_AD_INFO_AGGREGATOR)
                                        link->bond_aggregator = small_number(inner);
                        }
                        break;
                default:
                        break;
                }
        }
}

static void parse_bond_slave(const struct nlattr *data, PnNetLink *link)
{
        const struct nlattr *attr;

        link->is_slave = true;
        for (Attributes attrs = attributes_in(data); attrs.at; next(&attrs)) {
                attr = attrs.at;
                switch (mnl_attr_get_type(attr)) {
                case IFLA_BOND_SLAVE_MII_STATUS:
                        link->slave.mii_up = number(attr) == 0; /* BOND_LINK_UP */
                        break;
                case IFLA_BOND_SLAVE_AD_AGGREGATOR_ID:
                        link->slave.has_lacp = true;
                        link->slave.aggregator = (uint16_t)number(attr);
                        break;
                case IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE:
                        link->slave.actor_state = (uint8_t)number(attr);
                        break;
                case IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE:
                        link->slave.partner_state = (uint16_t)number(attr);
                        break;
                default:
                        break;
                }
        }
}

static void parse_link_info(const struct nlattr *info, PnNetLink *link)
{
        const struct nlattr *attr, *data = NULL, *slave_data = NULL, *inner;
        char slave_kind[16] = "";

        for (Attributes attrs = attributes_in(info); attrs.at; next(&attrs)) {
                attr = attrs.at;
                switch (mnl_attr_get_type(attr)) {
                case IFLA_INFO_KIND:
                        copy_text(link->kind, sizeof link->kind, attr);
                        break;
                case IFLA_INFO_DATA:
                        data = attr;
                        break;
                case IFLA_INFO_SLAVE_KIND:
                        copy_text(slave_kind, sizeof slave_kind, attr);
                        break;
                case IFLA_INFO_SLAVE_DATA:
                        slave_data = attr;
                        break;
                default:
                        break;
                }
        }
        if (data && strcmp(link->kind, "bond") == 0)
                parse_bond(data, link);
        if (data && strcmp(link->kind, "vlan") == 0)
                for (Attributes inners = attributes_in(data); inners.at; next(&inners)) {
                        inner = inners.at;
                        if (mnl_attr_get_type(inner) == IFLA_VLAN_ID)
                                link->vlan_id = small_number(inner);
                }
        if (slave_data && strcmp(slave_kind, "bond") == 0)
                parse_bond_slave(slave_data, link);
}

static void parse_link_attribute(const struct nlattr *attr, PnNetLink *link, bool *ret_elsewhere)
{
        switch (mnl_attr_get_type(attr)) {
        case IFLA_IFNAME:
                copy_text(link->name, sizeof link->name, attr);
                break;
        case IFLA_PHYS_PORT_NAME:
                copy_text(link->port_name, sizeof link->port_name, attr);
                break;
        case IFLA_ADDRESS:
                copy_address(link->mac, sizeof link->mac, &link->mac_length, attr);
                break;
        case IFLA_PERM_ADDRESS:
                copy_address(link->permanent_mac, sizeof link->permanent_mac,
                             &link->permanent_mac_length, attr);
                break;
        case IFLA_MASTER:
                link->master = number(attr);
                break;
        case IFLA_LINK:
                link->lower = number(attr);
                break;
        case IFLA_LINK_NETNSID: /* what IFLA_LINK says is an index there, not here */
                *ret_elsewhere = true;
                break;
        case IFLA_MTU:
                link->mtu = small_number(attr);
                break;
        case IFLA_OPERSTATE:
                link->operstate = small_number(attr);
                break;
        case IFLA_CARRIER:
                link->carrier = small_number(attr);
                break;
        case IFLA_CARRIER_CHANGES:
                link->carrier_changes = small_number(attr);
                break;
        case IFLA_LINKINFO:
                parse_link_info(attr, link);
                break;
        default:
                break;
        }
}

static int on_link(const struct nlmsghdr *message, void *data)
{
        Links *links = data;
        const struct ifinfomsg *head = mnl_nlmsg_get_payload(message);
        const struct nlattr *attr;
        PnNetLink *link;
        bool elsewhere = false;

        if (message->nlmsg_type != RTM_NEWLINK ||
            mnl_nlmsg_get_payload_len(message) < sizeof *head || head->ifi_index <= 0)
                return MNL_CB_OK;
        if (links->n == links->capacity) {
                size_t bigger = links->capacity ? links->capacity * 2 : 16;
                PnNetLink *grown = reallocarray(links->v, bigger, sizeof *grown);

                if (!grown) {
                        errno = ENOMEM;
                        return MNL_CB_ERROR;
                }
                links->v = grown;
                links->capacity = bigger;
        }
        link = &links->v[links->n];
        *link = (PnNetLink){.index = (unsigned)head->ifi_index,
                            .operstate = -1,
                            .carrier = -1,
                            .carrier_changes = -1,
                            .mtu = -1,
                            .vlan_id = -1,
                            .bond_mode = -1,
                            .bond_aggregator = -1,
                            .enabled = head->ifi_flags & IFF_UP};
        for (Attributes attrs = attributes_of(message, sizeof *head); attrs.at; next(&attrs)) {
                attr = attrs.at;
                parse_link_attribute(attr, link, &elsewhere);
        }
        if (elsewhere)
                link->lower = 0;
        if (*link->name)
                links->n++;
        return MNL_CB_OK;
}

static int compare_links(const void *a, const void *b)
{
        const PnNetLink *one = a, *other = b;

        return strcmp(one->name, other->name);
}

static int dump_links(struct mnl_socket *socket, uint32_t sequence, Links *links)
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
        return talk(socket, request, on_link, links);
}

int pn_netlink_links(PnNetLink **ret, size_t *ret_n)
{
        _cleanup_(close_socket) struct mnl_socket *socket = NULL;
        Links links = {0};
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

static struct nlmsghdr *begin(PnEthtoolNetlink *netlink, char *buf, uint16_t family,
                              uint8_t command, uint8_t version)
{
        struct nlmsghdr *request = mnl_nlmsg_put_header(buf);
        struct genlmsghdr *head;

        request->nlmsg_type = family;
        request->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
        request->nlmsg_seq = ++netlink->sequence;
        head = mnl_nlmsg_put_extra_header(request, sizeof *head);
        head->cmd = command;
        head->version = version;
        return request;
}

static int on_family(const struct nlmsghdr *message, void *data)
{
        PnEthtoolNetlink *netlink = data;
        const struct nlattr *attr;

        for (Attributes attrs = attributes_of(message, sizeof(struct genlmsghdr)); attrs.at;
             next(&attrs)) {
                attr = attrs.at;
                if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
                        netlink->family = (uint16_t)number(attr);
        }
        return MNL_CB_OK;
}

int pn_ethtool_netlink_new(PnEthtoolNetlink **ret)
{
        _cleanup_(pn_ethtool_netlink_freep) PnEthtoolNetlink *netlink = calloc(1, sizeof *netlink);
        char buf[128] = {0};
        struct nlmsghdr *request;
        int r;

        if (!netlink)
                return -ENOMEM;
        r = open_socket(NETLINK_GENERIC, &netlink->socket);
        if (r < 0)
                return r;
        request = begin(netlink, buf, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
        mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, ETHTOOL_GENL_NAME);
        r = talk(netlink->socket, request, on_family, netlink);
        if (r == -ENOENT || (r == 0 && !netlink->family))
                return -EOPNOTSUPP;
        if (r < 0)
                return r;
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

/* A request about one interface. All of the family's requests have their header as attribute 1. */
static struct nlmsghdr *begin_about(PnEthtoolNetlink *netlink, char *buf, uint8_t command,
                                    unsigned index, const char *interface)
{
        struct nlmsghdr *request =
            begin(netlink, buf, netlink->family, command, ETHTOOL_GENL_VERSION);
        struct nlattr *head = mnl_attr_nest_start(request, 1);

        mnl_attr_put_u32(request, ETHTOOL_A_HEADER_DEV_INDEX, index);
        mnl_attr_put_strz(request, ETHTOOL_A_HEADER_DEV_NAME, interface);
        mnl_attr_put_u32(request, ETHTOOL_A_HEADER_FLAGS, ETHTOOL_FLAG_COMPACT_BITSETS);
        mnl_attr_nest_end(request, head);
        return request;
}

static void copy_bits(uint32_t *to, const struct nlattr *attr)
{
        size_t n = mnl_attr_get_payload_len(attr), room = PN_LINK_MODE_WORDS * sizeof *to;

        memcpy(to, mnl_attr_get_payload(attr), n < room ? n : room);
}

static void parse_bitset(const struct nlattr *bitset, uint32_t *value, uint32_t *mask)
{
        const struct nlattr *attr;

        for (Attributes attrs = attributes_in(bitset); attrs.at; next(&attrs)) {
                attr = attrs.at;
                if (mnl_attr_get_type(attr) == ETHTOOL_A_BITSET_VALUE)
                        copy_bits(value, attr);
                else if (mnl_attr_get_type(attr) == ETHTOOL_A_BITSET_MASK && mask)
                        copy_bits(mask, attr);
        }
}

static int on_link_modes(const struct nlmsghdr *message, void *data)
{
        PnEthtoolLink *link = data;
        const struct nlattr *attr;

        for (Attributes attrs = attributes_of(message, sizeof(struct genlmsghdr)); attrs.at;
             next(&attrs)) {
                attr = attrs.at;
                switch (mnl_attr_get_type(attr)) {
                case ETHTOOL_A_LINKMODES_AUTONEG:
                        link->autonegotiation = (uint8_t)number(attr);
                        link->has_settings = true;
                        break;
                case ETHTOOL_A_LINKMODES_OURS:
                        parse_bitset(attr, link->advertised, link->supported);
                        break;
                case ETHTOOL_A_LINKMODES_PEER:
                        parse_bitset(attr, link->partner, NULL);
                        break;
                case ETHTOOL_A_LINKMODES_SPEED:
                        link->speed = number(attr);
                        break;
                case ETHTOOL_A_LINKMODES_DUPLEX:
                        link->duplex = (uint8_t)number(attr);
                        break;
                default:
                        break;
                }
        }
        return MNL_CB_OK;
}

static int on_link_info(const struct nlmsghdr *message, void *data)
{
        PnEthtoolLink *link = data;
        const struct nlattr *attr;

        for (Attributes attrs = attributes_of(message, sizeof(struct genlmsghdr)); attrs.at;
             next(&attrs)) {
                attr = attrs.at;
                if (mnl_attr_get_type(attr) == ETHTOOL_A_LINKINFO_PORT) {
                        link->has_port = true;
                        link->port = (uint8_t)number(attr);
                }
        }
        return MNL_CB_OK;
}

static int on_link_state(const struct nlmsghdr *message, void *data)
{
        PnEthtoolLink *link = data;
        const struct nlattr *attr;

        for (Attributes attrs = attributes_of(message, sizeof(struct genlmsghdr)); attrs.at;
             next(&attrs)) {
                attr = attrs.at;
                if (mnl_attr_get_type(attr) == ETHTOOL_A_LINKSTATE_EXT_STATE)
                        link->ext_state = (int)number(attr);
                else if (mnl_attr_get_type(attr) == ETHTOOL_A_LINKSTATE_EXT_SUBSTATE)
                        link->ext_substate = (int)number(attr);
        }
        return MNL_CB_OK;
}

static int ask(PnEthtoolNetlink *netlink, uint8_t command, unsigned index, const char *interface,
               mnl_cb_t handle, void *data)
{
        char buf[256] = {0};
        const struct nlmsghdr *request = begin_about(netlink, buf, command, index, interface);

        return talk(netlink->socket, request, handle, data);
}

int pn_ethtool_netlink_port(PnEthtoolNetlink *netlink, unsigned index, const char *interface,
                            PnEthtoolLink *ret)
{
        return ask(netlink, ETHTOOL_MSG_LINKINFO_GET, index, interface, on_link_info, ret);
}

int pn_ethtool_netlink_link(PnEthtoolNetlink *netlink, unsigned index, const char *interface,
                            bool with_state, PnEthtoolLink *ret)
{
        int r = ask(netlink, ETHTOOL_MSG_LINKMODES_GET, index, interface, on_link_modes, ret);

        if (r < 0)
                return r;
        (void)pn_ethtool_netlink_port(netlink, index, interface, ret);
        ret->ext_state = ret->ext_substate = -1;
        if (with_state)
                (void)ask(netlink, ETHTOOL_MSG_LINKSTATE_GET, index, interface, on_link_state, ret);
        return 0;
}

typedef struct Bytes {
        uint8_t *to;
        size_t n, got;
} Bytes;

static int on_module(const struct nlmsghdr *message, void *data)
{
        Bytes *bytes = data;
        const struct nlattr *attr;

        for (Attributes attrs = attributes_of(message, sizeof(struct genlmsghdr)); attrs.at;
             next(&attrs)) {
                attr = attrs.at;
                size_t n = mnl_attr_get_payload_len(attr);

                if (mnl_attr_get_type(attr) != ETHTOOL_A_MODULE_EEPROM_DATA || n > bytes->n)
                        continue;
                memcpy(bytes->to, mnl_attr_get_payload(attr), n);
                bytes->got = n;
        }
        return MNL_CB_OK;
}

int pn_ethtool_netlink_module(PnEthtoolNetlink *netlink, unsigned index, const char *interface,
                              uint8_t i2c_address, uint8_t page, uint8_t offset, uint8_t n,
                              uint8_t *ret)
{
        char buf[256] = {0};
        struct nlmsghdr *request =
            begin_about(netlink, buf, ETHTOOL_MSG_MODULE_EEPROM_GET, index, interface);
        Bytes bytes = {.to = ret, .n = n};
        int r;

        mnl_attr_put_u32(request, ETHTOOL_A_MODULE_EEPROM_OFFSET, offset);
        mnl_attr_put_u32(request, ETHTOOL_A_MODULE_EEPROM_LENGTH, n);
        mnl_attr_put_u8(request, ETHTOOL_A_MODULE_EEPROM_PAGE, page);
        mnl_attr_put_u8(request, ETHTOOL_A_MODULE_EEPROM_BANK, 0);
        mnl_attr_put_u8(request, ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, i2c_address);
        r = talk(netlink->socket, request, on_module, &bytes);
        if (r < 0)
                return r;
        return bytes.got == n ? 0 : -EIO;
}
