/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the kernel's netlink answers say: pure functions over bytes. Knows no socket. */
#include "netlink_answers.h"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

/* The largest errno that the kernel gives; what is beyond is none. */
#define ERRNO_MAX 4095

/* Bytes that are still to be looked at. */
typedef struct Bytes {
        const uint8_t *at;
        size_t n;
} Bytes;

static Bytes skip(Bytes bytes, size_t n)
{
        if (n > bytes.n)
                n = bytes.n;
        return (Bytes){bytes.at + n, bytes.n - n};
}

/* Messages and attributes start at multiples of four; their heads are such multiples. */
static size_t aligned(size_t n)
{
        return (n + 3) & ~(size_t)3;
}

/* ---- Attributes ---- */

typedef struct Attribute {
        unsigned type;
        Bytes payload;
} Attribute;

/* Takes the next attribute off the front of a list. false at its end, or where the rest is none. */
static bool next_attribute(Bytes *list, Attribute *ret)
{
        struct nlattr head;

        if (list->n < sizeof head)
                return false;
        memcpy(&head, list->at, sizeof head);
        if (head.nla_len < sizeof head || head.nla_len > list->n)
                return false;
        ret->type = head.nla_type & ~(unsigned)(NLA_F_NESTED | NLA_F_NET_BYTEORDER);
        ret->payload = (Bytes){list->at + sizeof head, head.nla_len - sizeof head};
        *list = skip(*list, aligned(head.nla_len));
        return true;
}

/* A number of one, two or four bytes; false for another size. */
static bool get_number(const Attribute *attribute, uint32_t *ret)
{
        const uint8_t *at = attribute->payload.at;
        uint16_t half;

        switch (attribute->payload.n) {
        case 1:
                *ret = *at;
                return true;
        case 2:
                memcpy(&half, at, sizeof half);
                *ret = half;
                return true;
        case 4:
                memcpy(ret, at, sizeof *ret);
                return true;
        default:
                return false;
        }
}

static void read_unsigned(const Attribute *attribute, unsigned *to)
{
        uint32_t v;

        if (get_number(attribute, &v))
                *to = v;
}

static void read_int(const Attribute *attribute, int *to)
{
        uint32_t v;

        if (get_number(attribute, &v) && v <= INT32_MAX)
                *to = (int)v;
}

/* false for a number that is no byte, either. */
static bool read_byte(const Attribute *attribute, uint8_t *to)
{
        uint32_t v;

        if (!get_number(attribute, &v) || v > UINT8_MAX)
                return false;
        *to = (uint8_t)v;
        return true;
}

/* Counters have eight bytes; newer kernels may send four where that is enough. */
static void read_counter(const Attribute *attribute, uint64_t *to)
{
        uint32_t small;

        if (attribute->payload.n == sizeof *to)
                memcpy(to, attribute->payload.at, sizeof *to);
        else if (attribute->payload.n == sizeof small && get_number(attribute, &small))
                *to = small;
}

/* Counters of the whole, then of each lane. */
static void read_first_counter(const Attribute *attribute, uint64_t *to)
{
        if (attribute->payload.n >= sizeof *to && attribute->payload.n % sizeof *to == 0)
                memcpy(to, attribute->payload.at, sizeof *to);
}

static void read_text(const Attribute *attribute, char *to, size_t size)
{
        size_t n = attribute->payload.n;

        if (n > 0)
                n = strnlen((const char *)attribute->payload.at, n);
        if (n >= size)
                return;
        memcpy(to, attribute->payload.at, n);
        to[n] = '\0';
}

static void read_address(const Attribute *attribute, uint8_t *to, size_t size, uint8_t *ret_length)
{
        size_t n = attribute->payload.n;

        if (n == 0 || n > size)
                return;
        memcpy(to, attribute->payload.at, n);
        *ret_length = (uint8_t)n;
}

/* ---- Bit sets ---- */

static void set_bit(uint32_t *words, uint32_t bit)
{
        if (bit < 32 * PN_LINK_MODE_WORDS)
                words[bit / 32] |= UINT32_C(1) << bit % 32;
}

static void read_words(Bytes bytes, uint32_t *words)
{
        size_t room = PN_LINK_MODE_WORDS * sizeof *words;

        if (bytes.n % sizeof *words == 0)
                memcpy(words, bytes.at, bytes.n < room ? bytes.n : room);
}

/* Bits one by one, each with its number, or its name alone, which is of no use. */
static void read_bits(Bytes list, uint32_t *value, uint32_t *mask, bool no_mask)
{
        Attribute bit, part;

        while (next_attribute(&list, &bit)) {
                Bytes parts = bit.payload;
                uint32_t number = UINT32_MAX;
                bool is_set = no_mask;

                if (bit.type != ETHTOOL_A_BITSET_BITS_BIT)
                        continue;
                while (next_attribute(&parts, &part))
                        if (part.type == ETHTOOL_A_BITSET_BIT_INDEX)
                                read_unsigned(&part, &number);
                        else if (part.type == ETHTOOL_A_BITSET_BIT_VALUE)
                                is_set = true;
                if (is_set)
                        set_bit(value, number);
                if (mask)
                        set_bit(mask, number);
        }
}

/* In words, as is asked for, or bit by bit. `mask` may be NULL. */
static void read_bitset(const Attribute *bitset, uint32_t *value, uint32_t *mask)
{
        Bytes list = bitset->payload;
        Attribute part;
        bool no_mask = false;

        for (Bytes all = list; next_attribute(&all, &part);)
                no_mask |= part.type == ETHTOOL_A_BITSET_NOMASK;
        while (next_attribute(&list, &part)) {
                if (part.type == ETHTOOL_A_BITSET_VALUE)
                        read_words(part.payload, value);
                else if (part.type == ETHTOOL_A_BITSET_MASK && mask)
                        read_words(part.payload, mask);
                else if (part.type == ETHTOOL_A_BITSET_BITS)
                        read_bits(part.payload, value, mask, no_mask);
        }
}

/* ---- Messages ---- */

typedef int (*Handle)(const struct nlmsghdr *head, Bytes payload, void *ret);

/* Control messages. 1: go on; 0: the end; or a negative errno. */
static int take_control(const struct nlmsghdr *head, Bytes payload)
{
        int32_t error = 0;

        switch (head->nlmsg_type) {
        case NLMSG_ERROR:
                if (payload.n < sizeof error)
                        return -EBADMSG;
                break;
        case NLMSG_DONE: /* says how the dump ended, if it says anything */
                break;
        case NLMSG_OVERRUN:
                return -EIO;
        default:
                return 1;
        }
        if (payload.n >= sizeof error)
                memcpy(&error, payload.at, sizeof error);
        return error > 0 ? -EBADMSG : error < -ERRNO_MAX ? -EIO : error;
}

static int take(const void *bytes, size_t n, const PnAnswerTo *to, Handle handle, void *ret)
{
        Bytes rest = {bytes, n};

        if (n == 0)
                return -EBADMSG;
        while (rest.n > 0) {
                struct nlmsghdr head;
                Bytes payload;
                int r = 1;

                if (rest.n < sizeof head)
                        return -EBADMSG;
                memcpy(&head, rest.at, sizeof head);
                if (head.nlmsg_len < sizeof head || head.nlmsg_len > rest.n)
                        return -EBADMSG;
                payload = (Bytes){rest.at + sizeof head, head.nlmsg_len - sizeof head};
                rest = skip(rest, aligned(head.nlmsg_len));
                if (head.nlmsg_seq != to->sequence ||
                    (head.nlmsg_pid && head.nlmsg_pid != to->port))
                        continue;
                if (head.nlmsg_flags & NLM_F_DUMP_INTR)
                        return -EINTR;
                r = head.nlmsg_type < NLMSG_MIN_TYPE ? take_control(&head, payload)
                                                     : handle(&head, payload, ret);
                if (r <= 0)
                        return r;
        }
        return 1;
}

/* ---- rtnetlink ---- */

static void read_bond(Bytes list, PnNetLink *link)
{
        Attribute attribute, inner;

        while (next_attribute(&list, &attribute))
                switch (attribute.type) {
                case IFLA_BOND_MODE:
                        read_int(&attribute, &link->bond_mode);
                        break;
                case IFLA_BOND_ACTIVE_SLAVE:
                        read_unsigned(&attribute, &link->bond_active);
                        break;
                case IFLA_BOND_AD_INFO:
                        for (Bytes inners = attribute.payload; next_attribute(&inners, &inner);)
                                if (inner.type == IFLA_BOND_AD_INFO_AGGREGATOR)
                                        read_int(&inner, &link->bond_aggregator);
                        break;
                default:
                        break;
                }
}

static void read_slave(Bytes list, PnNetLink *link)
{
        Attribute attribute;
        uint32_t status;

        link->is_slave = true;
        while (next_attribute(&list, &attribute))
                switch (attribute.type) {
                case IFLA_BOND_SLAVE_MII_STATUS:
                        if (get_number(&attribute, &status))
                                link->slave.mii_up = status == 0; /* BOND_LINK_UP */
                        break;
                case IFLA_BOND_SLAVE_AD_AGGREGATOR_ID:
                        read_int(&attribute, &link->slave.aggregator);
                        break;
                case IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE:
                        read_int(&attribute, &link->slave.actor_state);
                        break;
                case IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE:
                        read_int(&attribute, &link->slave.partner_state);
                        break;
                default:
                        break;
                }
}

static void read_link_info(Bytes list, PnNetLink *link)
{
        Attribute attribute;
        Bytes data = {0}, slave_data = {0};
        char slave_kind[16] = "";

        while (next_attribute(&list, &attribute))
                switch (attribute.type) {
                case IFLA_INFO_KIND:
                        read_text(&attribute, link->kind, sizeof link->kind);
                        break;
                case IFLA_INFO_DATA:
                        data = attribute.payload;
                        break;
                case IFLA_INFO_SLAVE_KIND:
                        read_text(&attribute, slave_kind, sizeof slave_kind);
                        break;
                case IFLA_INFO_SLAVE_DATA:
                        slave_data = attribute.payload;
                        break;
                default:
                        break;
                }
        if (strcmp(link->kind, "bond") == 0)
                read_bond(data, link);
        if (strcmp(link->kind, "vlan") == 0)
                while (next_attribute(&data, &attribute))
                        if (attribute.type == IFLA_VLAN_ID)
                                read_int(&attribute, &link->vlan_id);
        if (slave_data.at && strcmp(slave_kind, "bond") == 0)
                read_slave(slave_data, link);
}

static void read_link_attribute(const Attribute *attribute, PnNetLink *link, bool *ret_elsewhere)
{
        switch (attribute->type) {
        case IFLA_IFNAME:
                read_text(attribute, link->name, sizeof link->name);
                break;
        case IFLA_PHYS_PORT_NAME:
                read_text(attribute, link->port_name, sizeof link->port_name);
                break;
        case IFLA_ADDRESS:
                read_address(attribute, link->mac, sizeof link->mac, &link->mac_length);
                break;
        case IFLA_PERM_ADDRESS:
                read_address(attribute, link->permanent_mac, sizeof link->permanent_mac,
                             &link->permanent_mac_length);
                break;
        case IFLA_MASTER:
                read_unsigned(attribute, &link->master);
                break;
        case IFLA_LINK:
                read_unsigned(attribute, &link->lower);
                break;
        case IFLA_LINK_NETNSID: /* what IFLA_LINK says is an index there, not here */
                *ret_elsewhere = true;
                break;
        case IFLA_MTU:
                read_int(attribute, &link->mtu);
                break;
        case IFLA_OPERSTATE:
                read_int(attribute, &link->operstate);
                break;
        case IFLA_CARRIER:
                read_int(attribute, &link->carrier);
                break;
        case IFLA_CARRIER_CHANGES:
                read_int(attribute, &link->carrier_changes);
                break;
        case IFLA_LINKINFO:
                read_link_info(attribute->payload, link);
                break;
        default:
                break;
        }
}

static int on_link(const struct nlmsghdr *message, Bytes payload, void *ret)
{
        PnNetLinks *links = ret;
        struct ifinfomsg head;
        Attribute attribute;
        PnNetLink *link;
        bool elsewhere = false;

        if (message->nlmsg_type != RTM_NEWLINK || payload.n < sizeof head)
                return 1;
        memcpy(&head, payload.at, sizeof head);
        if (head.ifi_index <= 0)
                return 1;
        if (links->n == links->capacity) {
                size_t bigger = links->capacity ? links->capacity * 2 : 16;
                PnNetLink *grown = reallocarray(links->v, bigger, sizeof *grown);

                if (!grown)
                        return -ENOMEM;
                links->v = grown;
                links->capacity = bigger;
        }
        link = &links->v[links->n];
        *link = (PnNetLink){.index = (unsigned)head.ifi_index,
                            .operstate = -1,
                            .carrier = -1,
                            .carrier_changes = -1,
                            .mtu = -1,
                            .vlan_id = -1,
                            .bond_mode = -1,
                            .bond_aggregator = -1,
                            .slave = {-1, -1, -1, -1},
                            .enabled = head.ifi_flags & IFF_UP};
        payload = skip(payload, aligned(sizeof head));
        while (next_attribute(&payload, &attribute))
                read_link_attribute(&attribute, link, &elsewhere);
        if (elsewhere)
                link->lower = 0;
        if (*link->name)
                links->n++;
        return 1;
}

int pn_answer_links(const void *bytes, size_t n, const PnAnswerTo *to, void *ret)
{
        return take(bytes, n, to, on_link, ret);
}

/* ---- Generic netlink ---- */

/* The attributes behind the head of a message, if that is of this command: none otherwise. */
static Bytes attributes_of(Bytes payload, uint8_t command)
{
        struct genlmsghdr head;

        if (payload.n < sizeof head)
                return (Bytes){0};
        memcpy(&head, payload.at, sizeof head);
        return head.cmd == command ? skip(payload, sizeof head) : (Bytes){0};
}

static int on_family(const struct nlmsghdr *message _unused_, Bytes payload, void *ret)
{
        Bytes list = attributes_of(payload, CTRL_CMD_NEWFAMILY);
        Attribute attribute;
        uint16_t *family = ret;
        uint32_t id;

        while (next_attribute(&list, &attribute))
                if (attribute.type == CTRL_ATTR_FAMILY_ID && get_number(&attribute, &id) &&
                    id >= NLMSG_MIN_TYPE && id <= UINT16_MAX)
                        *family = (uint16_t)id;
        return 1;
}

int pn_answer_family(const void *bytes, size_t n, const PnAnswerTo *to, void *ret)
{
        return take(bytes, n, to, on_family, ret);
}

static int on_link_modes(const struct nlmsghdr *message _unused_, Bytes payload, void *ret)
{
        Bytes list = attributes_of(payload, ETHTOOL_MSG_LINKMODES_GET_REPLY);
        PnEthtoolLink *link = ret;
        Attribute attribute;

        while (next_attribute(&list, &attribute))
                switch (attribute.type) {
                case ETHTOOL_A_LINKMODES_AUTONEG:
                        link->has_settings |= read_byte(&attribute, &link->autonegotiation);
                        break;
                case ETHTOOL_A_LINKMODES_OURS:
                        read_bitset(&attribute, link->advertised, link->supported);
                        break;
                case ETHTOOL_A_LINKMODES_PEER:
                        read_bitset(&attribute, link->partner, NULL);
                        break;
                case ETHTOOL_A_LINKMODES_SPEED:
                        read_unsigned(&attribute, &link->speed);
                        break;
                case ETHTOOL_A_LINKMODES_DUPLEX:
                        (void)read_byte(&attribute, &link->duplex);
                        break;
                default:
                        break;
                }
        return 1;
}

int pn_answer_link_modes(const void *bytes, size_t n, const PnAnswerTo *to, void *ret)
{
        return take(bytes, n, to, on_link_modes, ret);
}

static int on_link_info(const struct nlmsghdr *message _unused_, Bytes payload, void *ret)
{
        Bytes list = attributes_of(payload, ETHTOOL_MSG_LINKINFO_GET_REPLY);
        PnEthtoolLink *link = ret;
        Attribute attribute;

        while (next_attribute(&list, &attribute))
                if (attribute.type == ETHTOOL_A_LINKINFO_PORT)
                        link->has_port |= read_byte(&attribute, &link->port);
        return 1;
}

int pn_answer_link_info(const void *bytes, size_t n, const PnAnswerTo *to, void *ret)
{
        return take(bytes, n, to, on_link_info, ret);
}

static int on_link_state(const struct nlmsghdr *message _unused_, Bytes payload, void *ret)
{
        Bytes list = attributes_of(payload, ETHTOOL_MSG_LINKSTATE_GET_REPLY);
        PnEthtoolLink *link = ret;
        Attribute attribute;

        while (next_attribute(&list, &attribute))
                if (attribute.type == ETHTOOL_A_LINKSTATE_EXT_STATE)
                        read_int(&attribute, &link->ext_state);
                else if (attribute.type == ETHTOOL_A_LINKSTATE_EXT_SUBSTATE)
                        read_int(&attribute, &link->ext_substate);
        return 1;
}

int pn_answer_link_state(const void *bytes, size_t n, const PnAnswerTo *to, void *ret)
{
        return take(bytes, n, to, on_link_state, ret);
}

static void read_fec_counters(Bytes list, PnEthtoolFec *fec)
{
        Attribute attribute;

        while (next_attribute(&list, &attribute))
                if (attribute.type == ETHTOOL_A_FEC_STAT_CORRECTED)
                        read_first_counter(&attribute, &fec->corrected);
                else if (attribute.type == ETHTOOL_A_FEC_STAT_UNCORR)
                        read_first_counter(&attribute, &fec->uncorrectable);
}

static int on_fec(const struct nlmsghdr *message _unused_, Bytes payload, void *ret)
{
        Bytes list = attributes_of(payload, ETHTOOL_MSG_FEC_GET_REPLY);
        PnEthtoolFec *fec = ret;
        Attribute attribute;
        uint8_t automatic;

        while (next_attribute(&list, &attribute))
                switch (attribute.type) {
                case ETHTOOL_A_FEC_MODES:
                        read_bitset(&attribute, fec->configured, NULL);
                        fec->has_modes = true;
                        break;
                case ETHTOOL_A_FEC_AUTO:
                        if (read_byte(&attribute, &automatic))
                                fec->automatic = automatic != 0;
                        break;
                case ETHTOOL_A_FEC_ACTIVE:
                        read_int(&attribute, &fec->active);
                        break;
                case ETHTOOL_A_FEC_STATS:
                        read_fec_counters(attribute.payload, fec);
                        break;
                default:
                        break;
                }
        return 1;
}

int pn_answer_fec(const void *bytes, size_t n, const PnAnswerTo *to, void *ret)
{
        return take(bytes, n, to, on_fec, ret);
}

/* Where a counter of a group goes; NULL for one that is not kept. */
static uint64_t *counter_of(PnEthtoolStats *stats, uint32_t group, unsigned counter)
{
        if (group == ETHTOOL_STATS_ETH_PHY && counter == ETHTOOL_A_STATS_ETH_PHY_5_SYM_ERR)
                return &stats->symbol_errors;
        if (group == ETHTOOL_STATS_ETH_MAC && counter == ETHTOOL_A_STATS_ETH_MAC_6_FCS_ERR)
                return &stats->fcs_errors;
        if (group == ETHTOOL_STATS_RMON && counter == ETHTOOL_A_STATS_RMON_OVERSIZE)
                return &stats->oversize;
        return NULL;
}

/* A group says which it is, then has each counter in a nest of its own. */
static void read_group(Bytes list, PnEthtoolStats *stats)
{
        Attribute attribute, counter;
        uint32_t group = UINT32_MAX;

        for (Bytes all = list; next_attribute(&all, &attribute);)
                if (attribute.type == ETHTOOL_A_STATS_GRP_ID)
                        read_unsigned(&attribute, &group);
        while (next_attribute(&list, &attribute)) {
                if (attribute.type != ETHTOOL_A_STATS_GRP_STAT)
                        continue;
                for (Bytes inner = attribute.payload; next_attribute(&inner, &counter);) {
                        uint64_t *to = counter_of(stats, group, counter.type);

                        if (to)
                                read_counter(&counter, to);
                }
        }
}

static int on_stats(const struct nlmsghdr *message _unused_, Bytes payload, void *ret)
{
        Bytes list = attributes_of(payload, ETHTOOL_MSG_STATS_GET_REPLY);
        Attribute attribute;

        while (next_attribute(&list, &attribute))
                if (attribute.type == ETHTOOL_A_STATS_GRP)
                        read_group(attribute.payload, ret);
        return 1;
}

int pn_answer_stats(const void *bytes, size_t n, const PnAnswerTo *to, void *ret)
{
        return take(bytes, n, to, on_stats, ret);
}

static int on_module(const struct nlmsghdr *message _unused_, Bytes payload, void *ret)
{
        Bytes list = attributes_of(payload, ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY);
        PnEthtoolBytes *bytes = ret;
        Attribute attribute;

        while (next_attribute(&list, &attribute)) {
                size_t n = attribute.payload.n;

                if (attribute.type != ETHTOOL_A_MODULE_EEPROM_DATA || n > bytes->n)
                        continue;
                memcpy(bytes->to, attribute.payload.at, n);
                bytes->got = n;
        }
        return 1;
}

int pn_answer_module(const void *bytes, size_t n, const PnAnswerTo *to, void *ret)
{
        return take(bytes, n, to, on_module, ret);
}
