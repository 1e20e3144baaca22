/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of daemon/probe/netlink_answers.c with datagrams made by hand, byte by byte as the kernel
 * lays them out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>

#include "netlink_answers.h"

#define SEQUENCE 7
#define PORT     4711
#define FAMILY   21

static const PnAnswerTo to = {SEQUENCE, PORT};

/* ---- A datagram in the making ---- */

static _Alignas(8) uint8_t datagram[65536];
static size_t used, message_at;

static void put(const void *bytes, size_t n)
{
        assert_true(used + n <= sizeof datagram);
        if (n > 0)
                memcpy(datagram + used, bytes, n);
        used += n;
        while (used % 4)
                datagram[used++] = 0;
}

static void start(void)
{
        used = 0;
}

static void message(uint16_t type, uint16_t flags)
{
        const struct nlmsghdr head = {
            .nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = SEQUENCE, .nlmsg_pid = PORT};

        message_at = used;
        put(&head, sizeof head);
}

static void end_message(void)
{
        const uint32_t n = (uint32_t)(used - message_at);

        memcpy(datagram + message_at, &n, sizeof n);
}

static void attribute(uint16_t type, const void *payload, size_t n)
{
        const struct nlattr head = {(uint16_t)(sizeof head + n), type};

        put(&head, sizeof head);
        put(payload, n);
}

static void number8(uint16_t type, uint8_t v)
{
        attribute(type, &v, sizeof v);
}

static void number16(uint16_t type, uint16_t v)
{
        attribute(type, &v, sizeof v);
}

static void number32(uint16_t type, uint32_t v)
{
        attribute(type, &v, sizeof v);
}

static void number64(uint16_t type, uint64_t v)
{
        attribute(type, &v, sizeof v);
}

static void text(uint16_t type, const char *s)
{
        attribute(type, s, strlen(s) + 1);
}

static size_t nest(uint16_t type)
{
        size_t at = used;

        attribute(type | NLA_F_NESTED, NULL, 0);
        return at;
}

static void end_nest(size_t at)
{
        const uint16_t n = (uint16_t)(used - at);

        memcpy(datagram + at, &n, sizeof n);
}

static void done(int32_t error)
{
        message(NLMSG_DONE, NLM_F_MULTI);
        put(&error, sizeof error);
        end_message();
}

/* What the kernel says of a request, with its words if it has some. */
static void acknowledgement(int32_t error, const char *words)
{
        const struct nlmsghdr request = {.nlmsg_len = sizeof request, .nlmsg_seq = SEQUENCE};

        message(NLMSG_ERROR, NLM_F_CAPPED | (words ? NLM_F_ACK_TLVS : 0));
        put(&error, sizeof error);
        put(&request, sizeof request);
        if (words)
                text(NLMSGERR_ATTR_MSG, words);
        end_message();
}

static void link_message(int index, const char *name)
{
        const struct ifinfomsg head = {.ifi_index = index, .ifi_flags = IFF_UP};

        message(RTM_NEWLINK, NLM_F_MULTI);
        put(&head, sizeof head);
        text(IFLA_IFNAME, name);
}

static void reply(uint8_t command)
{
        const struct genlmsghdr head = {.cmd = command, .version = 1};
        size_t about;

        start();
        message(FAMILY, 0);
        put(&head, sizeof head);
        about = nest(1);
        number32(ETHTOOL_A_HEADER_DEV_INDEX, 2);
        text(ETHTOOL_A_HEADER_DEV_NAME, "ens1f0");
        end_nest(about);
}

/* A copy of the exact size, so that a sanitizer sees the first byte too far. */
static int take(PnAnswer answer, size_t n, void *ret)
{
        uint8_t *exact = malloc(n > 0 ? n : 1);
        int r;

        assert_non_null(exact);
        memcpy(exact, datagram, n);
        r = answer(exact, n, &to, ret);
        free(exact);
        return r;
}

/* Every cut of the datagram, and no byte read beyond it: a cut message is none, so it changes
 * nothing unless whole ones precede it. */
static void survives_cuts(PnAnswer answer, void *ret)
{
        for (size_t n = 0; n < used; n++) {
                int r = take(answer, n, ret);

                assert_true(r == -EBADMSG || r == 1);
        }
}

/* ---- rtnetlink ---- */

static void bond_member(unsigned i)
{
        char name[IFNAMSIZ];
        size_t info, data;

        (void)snprintf(name, sizeof name, "ens%u", i);
        link_message((int)i + 10, name);
        number32(IFLA_MASTER, 5);
        info = nest(IFLA_LINKINFO);
        text(IFLA_INFO_SLAVE_KIND, "bond");
        data = nest(IFLA_INFO_SLAVE_DATA);
        number8(IFLA_BOND_SLAVE_STATE, 0);
        number8(IFLA_BOND_SLAVE_MII_STATUS, i == 3 ? 2 : 0);
        number32(IFLA_BOND_SLAVE_LINK_FAILURE_COUNT, 9);
        number16(IFLA_BOND_SLAVE_AD_AGGREGATOR_ID, (uint16_t)(i + 1));
        number8(IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE, 61);
        number16(IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE, 63);
        end_nest(data);
        end_nest(info);
        end_message();
}

static void bond_of_sixteen(_unused_ void **state)
{
        static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};
        PnNetLinks links = {0};
        size_t info, data, aggregators;

        start();
        link_message(5, "bond0");
        attribute(IFLA_ADDRESS, mac, sizeof mac);
        number32(IFLA_MTU, 9000);
        number8(IFLA_OPERSTATE, 6);
        number8(IFLA_CARRIER, 1);
        number32(IFLA_CARRIER_CHANGES, 4);
        info = nest(IFLA_LINKINFO);
        text(IFLA_INFO_KIND, "bond");
        data = nest(IFLA_INFO_DATA);
        number8(IFLA_BOND_MODE, 4);
        aggregators = nest(IFLA_BOND_AD_INFO);
        number16(IFLA_BOND_AD_INFO_AGGREGATOR, 3);
        number16(IFLA_BOND_AD_INFO_NUM_PORTS, 16);
        end_nest(aggregators);
        end_nest(data);
        end_nest(info);
        end_message();
        assert_int_equal(take(pn_answer_links, used, &links), 1);
        /* The rest comes in a second datagram, and the end in a third. */
        start();
        for (unsigned i = 0; i < 16; i++)
                bond_member(i);
        assert_int_equal(take(pn_answer_links, used, &links), 1);
        start();
        done(0);
        assert_int_equal(take(pn_answer_links, used, &links), 0);

        assert_int_equal(links.n, 17);
        assert_string_equal(links.v[0].kind, "bond");
        assert_int_equal(links.v[0].bond_mode, 4);
        assert_int_equal(links.v[0].bond_aggregator, 3);
        assert_int_equal(links.v[0].mtu, 9000);
        assert_int_equal(links.v[0].operstate, 6);
        assert_int_equal(links.v[0].carrier, 1);
        assert_int_equal(links.v[0].carrier_changes, 4);
        assert_int_equal(links.v[0].mac_length, 6);
        assert_false(links.v[0].is_slave);
        for (unsigned i = 0; i < 16; i++) {
                const PnNetLink *member = &links.v[i + 1];

                assert_int_equal(member->index, i + 10);
                assert_int_equal(member->master, 5);
                assert_true(member->is_slave);
                assert_int_equal(member->slave.mii_up, i != 3);
                assert_int_equal(member->slave.aggregator, i + 1);
                assert_int_equal(member->slave.actor_state, 61);
                assert_int_equal(member->slave.partner_state, 63);
        }
        free(links.v);
}

static void vlan_bridge_veth(_unused_ void **state)
{
        static const uint8_t permanent[6] = {2, 0, 0, 0, 0, 9};
        PnNetLinks links = {0};
        size_t info, data;

        start();
        link_message(3, "bond0.20");
        number32(IFLA_LINK, 5);
        info = nest(IFLA_LINKINFO);
        /* The kind may follow what is of it. */
        data = nest(IFLA_INFO_DATA);
        number16(IFLA_VLAN_ID, 20);
        end_nest(data);
        text(IFLA_INFO_KIND, "vlan");
        end_nest(info);
        end_message();

        link_message(4, "vmbr0");
        info = nest(IFLA_LINKINFO);
        text(IFLA_INFO_KIND, "bridge");
        data = nest(IFLA_INFO_DATA);
        number32(IFLA_BR_FORWARD_DELAY, 1500);
        end_nest(data);
        end_nest(info);
        end_message();

        /* Its other end is in another name space: 5 there is not our 5. */
        link_message(6, "veth101i0");
        number32(IFLA_LINK, 5);
        number32(IFLA_LINK_NETNSID, 0);
        end_message();

        link_message(7, "ens1f0np0");
        text(IFLA_PHYS_PORT_NAME, "p0");
        attribute(IFLA_PERM_ADDRESS, permanent, sizeof permanent);
        end_message();
        done(0);

        assert_int_equal(take(pn_answer_links, used, &links), 0);
        assert_int_equal(links.n, 4);
        assert_int_equal(links.v[0].vlan_id, 20);
        assert_int_equal(links.v[0].lower, 5);
        assert_string_equal(links.v[1].kind, "bridge");
        assert_int_equal(links.v[1].vlan_id, -1);
        assert_int_equal(links.v[2].lower, 0);
        assert_string_equal(links.v[3].port_name, "p0");
        assert_int_equal(links.v[3].permanent_mac[5], 9);
        links.n = 0;
        survives_cuts(pn_answer_links, &links);
        free(links.v);
}

/* What has a size that it cannot have says nothing: no master is not index 0, and a member of whose
 * link nothing is known is not down. */
static void wrong_sizes(_unused_ void **state)
{
        static const uint8_t bytes[64];
        PnNetLinks links = {0};
        size_t info, data;

        start();
        link_message(2, "ens1");
        attribute(IFLA_MASTER, bytes, 3);
        attribute(IFLA_MTU, bytes, 0);
        attribute(IFLA_OPERSTATE, bytes, 8);
        attribute(IFLA_CARRIER, bytes, 5);
        number32(IFLA_CARRIER_CHANGES, UINT32_MAX);
        attribute(IFLA_ADDRESS, bytes, 20);
        info = nest(IFLA_LINKINFO);
        text(IFLA_INFO_KIND, "a kind longer than any that there is");
        text(IFLA_INFO_SLAVE_KIND, "bond");
        data = nest(IFLA_INFO_SLAVE_DATA);
        attribute(IFLA_BOND_SLAVE_MII_STATUS, bytes, 0);
        attribute(IFLA_BOND_SLAVE_AD_AGGREGATOR_ID, bytes, 6);
        end_nest(data);
        end_nest(info);
        end_message();
        link_message(3, "a-name-longer-than-any-can-be");
        end_message();
        link_message(0, "index0");
        end_message();
        /* A message that is too short for its head. */
        message(RTM_NEWLINK, NLM_F_MULTI);
        put(bytes, 8);
        end_message();
        done(0);

        assert_int_equal(take(pn_answer_links, used, &links), 0);
        assert_int_equal(links.n, 1);
        assert_int_equal(links.v[0].master, 0);
        assert_int_equal(links.v[0].mtu, -1);
        assert_int_equal(links.v[0].operstate, -1);
        assert_int_equal(links.v[0].carrier, -1);
        assert_int_equal(links.v[0].carrier_changes, -1);
        assert_int_equal(links.v[0].mac_length, 0);
        assert_string_equal(links.v[0].kind, "");
        assert_true(links.v[0].is_slave);
        assert_int_equal(links.v[0].slave.mii_up, -1);
        assert_int_equal(links.v[0].slave.aggregator, -1);
        free(links.v);
}

/* An attribute that reaches beyond its message or nest ends the list. */
static void overlong_attributes(_unused_ void **state)
{
        static const uint16_t lengths[] = {0, 3, 200, UINT16_MAX};

        for (size_t i = 0; i < PN_ELEMENTS(lengths); i++) {
                PnNetLinks links = {0};
                size_t at;

                start();
                link_message(2, "ens1");
                number32(IFLA_MASTER, 9);
                at = used;
                number32(IFLA_MTU, 1500);
                memcpy(datagram + at, &lengths[i], sizeof lengths[i]);
                number32(IFLA_CARRIER_CHANGES, 3);
                end_message();
                done(0);
                assert_int_equal(take(pn_answer_links, used, &links), 0);
                assert_int_equal(links.n, 1);
                assert_int_equal(links.v[0].master, 9);
                assert_int_equal(links.v[0].mtu, -1);
                assert_int_equal(links.v[0].carrier_changes, -1);
                free(links.v);
        }
}

/* ---- What ends an answer ---- */

static void interrupted_dumps(_unused_ void **state)
{
        PnNetLinks links = {0};
        uint16_t flags = NLM_F_MULTI | NLM_F_DUMP_INTR;

        start();
        link_message(2, "ens1");
        end_message();
        memcpy(datagram + message_at + offsetof(struct nlmsghdr, nlmsg_flags), &flags,
               sizeof flags);
        assert_int_equal(take(pn_answer_links, used, &links), -EINTR);
        assert_int_equal(links.n, 0);
        /* It may be said at the end only. */
        start();
        link_message(2, "ens1");
        end_message();
        done(0);
        memcpy(datagram + message_at + offsetof(struct nlmsghdr, nlmsg_flags), &flags,
               sizeof flags);
        assert_int_equal(take(pn_answer_links, used, &links), -EINTR);
        /* A dump that failed on the way. */
        start();
        done(-EMSGSIZE);
        assert_int_equal(take(pn_answer_links, used, &links), -EMSGSIZE);
        free(links.v);
}

static void errors(_unused_ void **state)
{
        static const struct {
                int32_t error;
                const char *words;
                int r;
        } cases[] = {
            {0, NULL, 0},
            {-ENODEV, "ifindex and name point to different netdevices", -ENODEV},
            {-EOPNOTSUPP, "requested operation is not supported", -EOPNOTSUPP},
            {-EINVAL, "reading cross half page boundary is illegal", -EINVAL},
            {-EBUSY, NULL, -EBUSY},
            {-EPERM, NULL, -EPERM},
            {-EIO, NULL, -EIO},
            {-ENODEV, NULL, -ENODEV},
            {EIO, NULL, -EBADMSG}, /* none is positive */
            {INT32_MIN, NULL, -EIO},
            {-4096, NULL, -EIO},
        };

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                PnEthtoolLink link = {.speed = 77};

                start();
                acknowledgement(cases[i].error, cases[i].words);
                assert_int_equal(take(pn_answer_link_modes, used, &link), cases[i].r);
                assert_int_equal(link.speed, 77);
                assert_false(link.has_settings);
        }
        /* No room for an error. */
        start();
        message(NLMSG_ERROR, 0);
        end_message();
        assert_int_equal(take(pn_answer_link_modes, used, &(PnEthtoolLink){0}), -EBADMSG);
        start();
        message(NLMSG_OVERRUN, 0);
        end_message();
        assert_int_equal(take(pn_answer_link_modes, used, &(PnEthtoolLink){0}), -EIO);
        start();
        message(NLMSG_NOOP, 0);
        end_message();
        assert_int_equal(take(pn_answer_link_modes, used, &(PnEthtoolLink){0}), 1);
        assert_int_equal(take(pn_answer_link_modes, 0, &(PnEthtoolLink){0}), -EBADMSG);
}

/* What is left over of an earlier request, and what is for another socket, is not ours. */
static void others_answers(_unused_ void **state)
{
        PnEthtoolLink link = {0};
        uint32_t other = SEQUENCE - 1;

        reply(ETHTOOL_MSG_LINKINFO_GET_REPLY);
        number8(ETHTOOL_A_LINKINFO_PORT, 3);
        end_message();
        memcpy(datagram + message_at + offsetof(struct nlmsghdr, nlmsg_seq), &other, sizeof other);
        assert_int_equal(take(pn_answer_link_info, used, &link), 1);
        assert_false(link.has_port);
        reply(ETHTOOL_MSG_LINKINFO_GET_REPLY);
        number8(ETHTOOL_A_LINKINFO_PORT, 3);
        end_message();
        memcpy(datagram + message_at + offsetof(struct nlmsghdr, nlmsg_pid), &other, sizeof other);
        assert_int_equal(take(pn_answer_link_info, used, &link), 1);
        assert_false(link.has_port);
        /* A message of another command has other attributes. */
        reply(ETHTOOL_MSG_LINKSTATE_GET_REPLY);
        number8(ETHTOOL_A_LINKINFO_PORT, 3);
        end_message();
        assert_int_equal(take(pn_answer_link_info, used, &link), 1);
        assert_false(link.has_port);
}

/* ---- ethtool ---- */

static void family(_unused_ void **state)
{
        const struct genlmsghdr head = {.cmd = CTRL_CMD_NEWFAMILY, .version = 2};
        uint16_t id = 0;

        start();
        message(GENL_ID_CTRL, 0);
        put(&head, sizeof head);
        text(CTRL_ATTR_FAMILY_NAME, "ethtool");
        number16(CTRL_ATTR_FAMILY_ID, FAMILY);
        end_message();
        acknowledgement(0, NULL);
        assert_int_equal(take(pn_answer_family, used, &id), 0);
        assert_int_equal(id, FAMILY);
        survives_cuts(pn_answer_family, &id);
        /* Numbers below 16 are control messages'. */
        start();
        message(GENL_ID_CTRL, 0);
        put(&head, sizeof head);
        number16(CTRL_ATTR_FAMILY_ID, 3);
        end_message();
        assert_int_equal(take(pn_answer_family, used, &id), 1);
        assert_int_equal(id, FAMILY);
}

/* 10000baseSR (43), FIBRE (10), 10000baseT (12) in `ours`; 100 and above need a fourth word. */
static void compact_modes(_unused_ void **state)
{
        static const uint32_t value[] = {1u << 12, 1u << 11, 0, 1u << 12, 0, 0, 0, 0, 7, 7};
        static const uint32_t mask[] = {
            1u << 12 | 1u << 10, 1u << 11, 0, 1u << 12, 0, 0, 0, 0, 7, 7};
        PnEthtoolLink link = {.duplex = 0xff};
        size_t set;

        reply(ETHTOOL_MSG_LINKMODES_GET_REPLY);
        number8(ETHTOOL_A_LINKMODES_AUTONEG, 1);
        set = nest(ETHTOOL_A_LINKMODES_OURS);
        number32(ETHTOOL_A_BITSET_SIZE, 121);
        attribute(ETHTOOL_A_BITSET_VALUE, value, 16);
        attribute(ETHTOOL_A_BITSET_MASK, mask, 16);
        end_nest(set);
        set = nest(ETHTOOL_A_LINKMODES_PEER);
        attribute(ETHTOOL_A_BITSET_NOMASK, NULL, 0);
        attribute(ETHTOOL_A_BITSET_VALUE, value, sizeof value); /* more words than we have */
        end_nest(set);
        number32(ETHTOOL_A_LINKMODES_SPEED, 10000);
        number8(ETHTOOL_A_LINKMODES_DUPLEX, 1);
        end_message();
        acknowledgement(0, NULL);
        assert_int_equal(take(pn_answer_link_modes, used, &link), 0);
        assert_true(link.has_settings);
        assert_int_equal(link.autonegotiation, 1);
        assert_int_equal(link.speed, 10000);
        assert_int_equal(link.duplex, 1);
        assert_memory_equal(link.advertised, value, 16);
        assert_memory_equal(link.supported, mask, 16);
        assert_memory_equal(link.partner, value, sizeof link.partner);
        survives_cuts(pn_answer_link_modes, &link);
}

static void bit(uint32_t index, const char *name, bool value)
{
        size_t at = nest(ETHTOOL_A_BITSET_BITS_BIT);

        if (index != UINT32_MAX)
                number32(ETHTOOL_A_BITSET_BIT_INDEX, index);
        text(ETHTOOL_A_BITSET_BIT_NAME, name);
        if (value)
                attribute(ETHTOOL_A_BITSET_BIT_VALUE, NULL, 0);
        end_nest(at);
}

static void verbose_modes(_unused_ void **state)
{
        PnEthtoolLink link = {0};
        size_t set, bits;

        reply(ETHTOOL_MSG_LINKMODES_GET_REPLY);
        number8(ETHTOOL_A_LINKMODES_AUTONEG, 0);
        set = nest(ETHTOOL_A_LINKMODES_OURS);
        number32(ETHTOOL_A_BITSET_SIZE, 121);
        bits = nest(ETHTOOL_A_BITSET_BITS);
        bit(5, "1000baseT/Full", false);
        bit(12, "10000baseT/Full", true);
        bit(100, "some mode", true);
        bit(4000, "a mode to come", true);
        bit(UINT32_MAX, "no number", true);
        end_nest(bits);
        end_nest(set);
        set = nest(ETHTOOL_A_LINKMODES_PEER);
        bits = nest(ETHTOOL_A_BITSET_BITS);
        bit(5, "1000baseT/Full", false); /* with no mask, to be listed is to be set */
        end_nest(bits);
        attribute(ETHTOOL_A_BITSET_NOMASK, NULL, 0);
        end_nest(set);
        end_message();
        assert_int_equal(take(pn_answer_link_modes, used, &link), 1);
        assert_int_equal(link.supported[0], 1u << 5 | 1u << 12);
        assert_int_equal(link.advertised[0], 1u << 12);
        assert_int_equal(link.supported[3], 1u << 4);
        assert_int_equal(link.advertised[3], 1u << 4);
        assert_int_equal(link.partner[0], 1u << 5);
        survives_cuts(pn_answer_link_modes, &link);
}

static void modes_of_wrong_sizes(_unused_ void **state)
{
        static const uint8_t ones[7] = {255, 255, 255, 255, 255, 255, 255};
        PnEthtoolLink link = {.duplex = 0xff, .speed = 5};
        size_t set;

        reply(ETHTOOL_MSG_LINKMODES_GET_REPLY);
        attribute(ETHTOOL_A_LINKMODES_AUTONEG, ones, 3);
        set = nest(ETHTOOL_A_LINKMODES_OURS);
        attribute(ETHTOOL_A_BITSET_VALUE, ones, sizeof ones);
        end_nest(set);
        attribute(ETHTOOL_A_LINKMODES_SPEED, ones, 0);
        number32(ETHTOOL_A_LINKMODES_DUPLEX, 256);
        end_message();
        assert_int_equal(take(pn_answer_link_modes, used, &link), 1);
        assert_false(link.has_settings);
        assert_int_equal(link.advertised[0], 0);
        assert_int_equal(link.speed, 5);
        assert_int_equal(link.duplex, 0xff);
}

static void port_and_state(_unused_ void **state)
{
        PnEthtoolLink link = {.ext_state = -1, .ext_substate = -1};

        reply(ETHTOOL_MSG_LINKINFO_GET_REPLY);
        number8(ETHTOOL_A_LINKINFO_PORT, 5);
        end_message();
        assert_int_equal(take(pn_answer_link_info, used, &link), 1);
        assert_true(link.has_port);
        assert_int_equal(link.port, 5);
        reply(ETHTOOL_MSG_LINKSTATE_GET_REPLY);
        number8(ETHTOOL_A_LINKSTATE_LINK, 0);
        end_message();
        assert_int_equal(take(pn_answer_link_state, used, &link), 1);
        assert_int_equal(link.ext_state, -1);
        reply(ETHTOOL_MSG_LINKSTATE_GET_REPLY);
        number8(ETHTOOL_A_LINKSTATE_LINK, 0);
        number8(ETHTOOL_A_LINKSTATE_EXT_STATE, 5);
        number8(ETHTOOL_A_LINKSTATE_EXT_SUBSTATE, 1);
        end_message();
        assert_int_equal(take(pn_answer_link_state, used, &link), 1);
        assert_int_equal(link.ext_state, 5);
        assert_int_equal(link.ext_substate, 1);
        assert_string_equal(pn_link_reason(link.ext_state, link.ext_substate), "unsupported cable");
        survives_cuts(pn_answer_link_state, &link);
}

static void forward_error_correction(_unused_ void **state)
{
        static const uint32_t modes[] = {0, 1u << (50 - 32) | 1u << (51 - 32), 0, 0};
        static const uint64_t corrected[] = {1234567, 1000000, 234567};
        PnEthtoolFec fec = {
            .active = -1, .corrected = PN_NO_COUNTER, .uncorrectable = PN_NO_COUNTER};
        size_t set, counters;

        reply(ETHTOOL_MSG_FEC_GET_REPLY);
        set = nest(ETHTOOL_A_FEC_MODES);
        attribute(ETHTOOL_A_BITSET_NOMASK, NULL, 0);
        number32(ETHTOOL_A_BITSET_SIZE, 121);
        attribute(ETHTOOL_A_BITSET_VALUE, modes, sizeof modes);
        end_nest(set);
        number8(ETHTOOL_A_FEC_AUTO, 1);
        number32(ETHTOOL_A_FEC_ACTIVE, 50);
        counters = nest(ETHTOOL_A_FEC_STATS);
        attribute(ETHTOOL_A_FEC_STAT_CORRECTED, corrected, sizeof corrected);
        number64(ETHTOOL_A_FEC_STAT_UNCORR, 2);
        number64(ETHTOOL_A_FEC_STAT_CORR_BITS, 99);
        end_nest(counters);
        end_message();
        assert_int_equal(take(pn_answer_fec, used, &fec), 1);
        assert_string_equal(pn_link_fec(fec.active), "rs");
        assert_true(fec.has_modes && fec.automatic);
        assert_true(pn_link_mode_is_set(fec.configured, 50));
        assert_true(pn_link_mode_is_set(fec.configured, 51));
        assert_false(pn_link_mode_is_set(fec.configured, 49));
        assert_int_equal(fec.corrected, 1234567);
        assert_int_equal(fec.uncorrectable, 2);
        survives_cuts(pn_answer_fec, &fec);

        /* Without counters, or with some of a size that none has. */
        fec = (PnEthtoolFec){
            .active = -1, .corrected = PN_NO_COUNTER, .uncorrectable = PN_NO_COUNTER};
        reply(ETHTOOL_MSG_FEC_GET_REPLY);
        counters = nest(ETHTOOL_A_FEC_STATS);
        attribute(ETHTOOL_A_FEC_STAT_CORRECTED, corrected, 12);
        attribute(ETHTOOL_A_FEC_STAT_UNCORR, NULL, 0);
        end_nest(counters);
        end_message();
        assert_int_equal(take(pn_answer_fec, used, &fec), 1);
        assert_int_equal(fec.active, -1);
        assert_false(fec.has_modes);
        assert_true(fec.corrected == PN_NO_COUNTER && fec.uncorrectable == PN_NO_COUNTER);
}

static void one_counter(uint16_t type, uint64_t v)
{
        size_t at = nest(ETHTOOL_A_STATS_GRP_STAT);

        number64(type, v);
        end_nest(at);
}

static void standard_counters(_unused_ void **state)
{
        PnEthtoolStats stats = {PN_NO_COUNTER, PN_NO_COUNTER, PN_NO_COUNTER};
        size_t group, inner;

        reply(ETHTOOL_MSG_STATS_GET_REPLY);
        group = nest(ETHTOOL_A_STATS_GRP);
        number32(ETHTOOL_A_STATS_GRP_ID, ETHTOOL_STATS_ETH_MAC);
        number32(ETHTOOL_A_STATS_GRP_SS_ID, 18);
        one_counter(ETHTOOL_A_STATS_ETH_MAC_5_RX_PKT, 1000);
        one_counter(ETHTOOL_A_STATS_ETH_MAC_6_FCS_ERR, 4);
        end_nest(group);
        group = nest(ETHTOOL_A_STATS_GRP);
        number32(ETHTOOL_A_STATS_GRP_ID, ETHTOOL_STATS_RMON);
        inner = nest(ETHTOOL_A_STATS_GRP_STAT);
        /* Padding has the number of a counter, and no bytes. */
        attribute(ETHTOOL_A_STATS_GRP_PAD, NULL, 0);
        number64(ETHTOOL_A_STATS_RMON_OVERSIZE, UINT64_C(1) << 40);
        end_nest(inner);
        end_nest(group);
        group = nest(ETHTOOL_A_STATS_GRP);
        /* A group whose number comes last. */
        one_counter(ETHTOOL_A_STATS_ETH_PHY_5_SYM_ERR, 5);
        number32(ETHTOOL_A_STATS_GRP_ID, ETHTOOL_STATS_ETH_PHY);
        end_nest(group);
        group = nest(ETHTOOL_A_STATS_GRP);
        number32(ETHTOOL_A_STATS_GRP_ID, 99);
        one_counter(ETHTOOL_A_STATS_ETH_MAC_6_FCS_ERR, 77);
        end_nest(group);
        end_message();
        acknowledgement(0, NULL);
        assert_int_equal(take(pn_answer_stats, used, &stats), 0);
        assert_int_equal(stats.fcs_errors, 4);
        assert_int_equal(stats.symbol_errors, 5);
        assert_int_equal(stats.oversize, UINT64_C(1) << 40);
        survives_cuts(pn_answer_stats, &stats);

        /* A driver that has none of them. */
        stats = (PnEthtoolStats){PN_NO_COUNTER, PN_NO_COUNTER, PN_NO_COUNTER};
        reply(ETHTOOL_MSG_STATS_GET_REPLY);
        group = nest(ETHTOOL_A_STATS_GRP);
        number32(ETHTOOL_A_STATS_GRP_ID, ETHTOOL_STATS_ETH_MAC);
        end_nest(group);
        end_message();
        assert_int_equal(take(pn_answer_stats, used, &stats), 1);
        assert_true(stats.fcs_errors == PN_NO_COUNTER && stats.symbol_errors == PN_NO_COUNTER &&
                    stats.oversize == PN_NO_COUNTER);
}

static void module_pages(_unused_ void **state)
{
        uint8_t page[128], room[128] = {0};
        PnEthtoolBytes bytes = {.to = room, .n = sizeof room};

        for (unsigned i = 0; i < sizeof page; i++)
                page[i] = (uint8_t)(i + 3);
        reply(ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY);
        attribute(ETHTOOL_A_MODULE_EEPROM_DATA, page, sizeof page);
        end_message();
        acknowledgement(0, NULL);
        assert_int_equal(take(pn_answer_module, used, &bytes), 0);
        assert_int_equal(bytes.got, 128);
        assert_memory_equal(room, page, sizeof page);
        survives_cuts(pn_answer_module, &bytes);

        /* Fewer than were asked for are told as such; more are none. */
        bytes.got = 0;
        reply(ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY);
        attribute(ETHTOOL_A_MODULE_EEPROM_DATA, page, 100);
        end_message();
        assert_int_equal(take(pn_answer_module, used, &bytes), 1);
        assert_int_equal(bytes.got, 100);
        bytes = (PnEthtoolBytes){.to = room, .n = 64};
        reply(ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY);
        attribute(ETHTOOL_A_MODULE_EEPROM_DATA, page, sizeof page);
        end_message();
        assert_int_equal(take(pn_answer_module, used, &bytes), 1);
        assert_int_equal(bytes.got, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(bond_of_sixteen),
            cmocka_unit_test(vlan_bridge_veth),
            cmocka_unit_test(wrong_sizes),
            cmocka_unit_test(overlong_attributes),
            cmocka_unit_test(interrupted_dumps),
            cmocka_unit_test(errors),
            cmocka_unit_test(others_answers),
            cmocka_unit_test(family),
            cmocka_unit_test(compact_modes),
            cmocka_unit_test(verbose_modes),
            cmocka_unit_test(modes_of_wrong_sizes),
            cmocka_unit_test(port_and_state),
            cmocka_unit_test(forward_error_correction),
            cmocka_unit_test(standard_counters),
            cmocka_unit_test(module_pages),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
