/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of lib/uevent.c with messages made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/if.h>
#include <linux/rtnetlink.h>

#include "uevent.h"

/* ---- udev ---- */

static size_t make_uevent(uint8_t *message, const char *properties, size_t n)
{
        const uint8_t magic[] = {0xfe, 0xed, 0xca, 0xfe};
        uint32_t begin = PN_UEVENT_HEADER, size = (uint32_t)n;

        memset(message, 0, PN_UEVENT_HEADER);
        memcpy(message, "libudev", 8);
        memcpy(message + PN_UEVENT_AT_MAGIC, magic, sizeof magic);
        memcpy(message + 12, &begin, 4);
        memcpy(message + 16, &begin, 4);
        memcpy(message + 20, &size, 4);
        memcpy(message + PN_UEVENT_HEADER, properties, n);
        return PN_UEVENT_HEADER + n;
}

#define BIND                                                                                       \
        "ACTION=bind\0DEVPATH=/devices/pci0000:00/0000:01:00.0\0SUBSYSTEM=pci\0DRIVER=vfio-pci\0"  \
        "PCI_CLASS=10802"

static void reads_what_udev_tells(_unused_ void **state)
{
        uint8_t message[256];
        size_t n = make_uevent(message, BIND, sizeof BIND);
        PnUevent event;

        assert_int_equal(pn_uevent_parse(message, n, &event), 0);
        assert_string_equal(event.action, "bind");
        assert_string_equal(event.devpath, "/devices/pci0000:00/0000:01:00.0");
        assert_string_equal(event.subsystem, "pci");
        assert_string_equal(event.pci_class, "10802");
        n = make_uevent(message, "ACTIONS=x\0SUBSYSTEM=net\0DEVPATH=/d\0ACTION=", 43);
        assert_int_equal(pn_uevent_parse(message, n, &event), 0);
        assert_string_equal(event.action, "");
        assert_null(event.pci_class);
}

static void passes_over_what_is_no_event(_unused_ void **state)
{
        uint8_t message[256];
        size_t n = make_uevent(message, BIND, sizeof BIND);
        PnUevent event = {.action = "untouched"};
        uint32_t wrong;

        for (size_t cut = 0; cut < n; cut++)
                assert_int_equal(pn_uevent_parse(message, cut, &event), -EBADMSG);
        message[0] ^= 1;
        assert_int_equal(pn_uevent_parse(message, n, &event), -EBADMSG);
        message[0] ^= 1;
        message[PN_UEVENT_AT_MAGIC] ^= 1;
        assert_int_equal(pn_uevent_parse(message, n, &event), -EBADMSG);
        message[PN_UEVENT_AT_MAGIC] ^= 1;
        for (size_t at = 16; at <= 20; at += 4) {
                uint32_t was;

                memcpy(&was, message + at, 4);
                wrong = UINT32_MAX - 10;
                memcpy(message + at, &wrong, 4);
                assert_int_equal(pn_uevent_parse(message, n, &event), -EBADMSG);
                memcpy(message + at, &was, 4);
        }
        message[n - 1] = 'x';
        assert_int_equal(pn_uevent_parse(message, n, &event), -EBADMSG);
        n = make_uevent(message, "ACTION=add\0DEVPATH=/d", 22);
        assert_int_equal(pn_uevent_parse(message, n, &event), -EBADMSG);
        assert_string_equal(event.action, "untouched");
}

/* MurmurHash2 by its definition, from another implementation, of names of each length modulo 4. */
static void hashes_as_udev_does(_unused_ void **state)
{
        assert_int_equal(pn_uevent_hash(""), 0);
        if (*(const uint8_t *)&(const uint16_t){1} != 1)
                skip();
        assert_int_equal(pn_uevent_hash("pci"), 0x59163b92);
        assert_int_equal(pn_uevent_hash("nvme"), 0x51cb194e);
        assert_int_equal(pn_uevent_hash("block"), 0xf0031db7);
        assert_int_equal(pn_uevent_hash("queues"), 0xa930e967);
}

/* ---- rtnetlink ---- */

typedef struct Message {
        uint8_t bytes[512];
        size_t n;
} Message;

static void add_attribute(Message *message, uint16_t type, const void *value, size_t n)
{
        uint16_t length = (uint16_t)(4 + n);

        memcpy(message->bytes + message->n, &length, 2);
        memcpy(message->bytes + message->n + 2, &type, 2);
        memcpy(message->bytes + message->n + 4, value, n);
        message->n += (4 + n + 3) & ~(size_t)3;
}

static void add_number(Message *message, uint16_t type, uint32_t value)
{
        add_attribute(message, type, &value, sizeof value);
}

/* Sets the length of the notification that began at `start`. */
static void finish(Message *message, size_t start)
{
        uint32_t length = (uint32_t)(message->n - start);

        memcpy(message->bytes + start, &length, 4);
}

static size_t begin(Message *message, uint16_t type, uint8_t family, int index, unsigned flags)
{
        struct nlmsghdr header = {.nlmsg_type = type};
        struct ifinfomsg body = {.ifi_family = family, .ifi_index = index, .ifi_flags = flags};
        size_t start = message->n;

        memcpy(message->bytes + start, &header, sizeof header);
        memcpy(message->bytes + start + sizeof header, &body, sizeof body);
        message->n += sizeof header + sizeof body;
        finish(message, start);
        return start;
}

static void add_link(Message *message, uint8_t operstate, uint32_t changes)
{
        size_t start = begin(message, RTM_NEWLINK, AF_UNSPEC, 7,
                             IFF_UP | IFF_RUNNING | IFF_PROMISC | IFF_LOWER_UP);

        add_attribute(message, IFLA_IFNAME, "enp4s0f0", 9);
        add_number(message, IFLA_TXQLEN, 1000);
        add_attribute(message, IFLA_OPERSTATE, &operstate, 1);
        add_attribute(message, IFLA_CARRIER, &(uint8_t){1}, 1);
        add_number(message, IFLA_CARRIER_CHANGES, changes);
        add_number(message, IFLA_MTU, 9000);
        add_number(message, IFLA_MASTER, 12);
        finish(message, start);
}

static void reads_what_the_kernel_tells_of_links(_unused_ void **state)
{
        Message message = {0};
        PnLinkEvent event, again;
        size_t offset = 0, start;

        add_link(&message, 6, 3);
        assert_int_equal(pn_link_event_next(message.bytes, message.n, &offset, &event), 1);
        assert_false(event.is_answer || event.is_gone || event.is_loopback);
        assert_int_equal(event.index, 7);
        assert_string_equal(event.name, "enp4s0f0");
        assert_string_equal(event.kind, "");
        assert_int_equal(event.state.flags, IFF_UP | IFF_RUNNING | IFF_LOWER_UP);
        assert_int_equal(event.state.operstate, 6);
        assert_int_equal(event.state.carrier, 1);
        assert_int_equal(event.state.carrier_changes, 3);
        assert_int_equal(event.state.mtu, 9000);
        assert_int_equal(event.state.master, 12);
        assert_true(pn_link_is_up(&event.state));
        assert_int_equal(pn_link_event_next(message.bytes, message.n, &offset, &again), 0);

        /* One that is a port of a bridge, one of another type, one that goes, with its kind. */
        message.n = 0;
        (void)begin(&message, RTM_DELLINK, AF_BRIDGE, 7, 0);
        (void)begin(&message, RTM_NEWADDR, AF_UNSPEC, 7, 0);
        start = begin(&message, RTM_DELLINK, AF_UNSPEC, 8, IFF_LOOPBACK);
        add_attribute(&message, IFLA_LINKINFO | NLA_F_NESTED, "\x09\0\x01\0veth\0\0\0", 12);
        finish(&message, start);
        offset = 0;
        assert_int_equal(pn_link_event_next(message.bytes, message.n, &offset, &event), 1);
        assert_true(event.is_gone && event.is_loopback);
        assert_int_equal(event.index, 8);
        assert_string_equal(event.kind, "veth");
        assert_int_equal(pn_link_event_next(message.bytes, message.n, &offset, &event), 0);
}

static void tells_an_answer_from_an_event(_unused_ void **state)
{
        Message message = {0};
        PnLinkEvent event;
        struct nlmsghdr header;
        size_t offset = 0;

        add_link(&message, 6, 3);
        memcpy(&header, message.bytes, sizeof header);
        header.nlmsg_flags = NLM_F_MULTI;
        memcpy(message.bytes, &header, sizeof header);
        assert_int_equal(pn_link_event_next(message.bytes, message.n, &offset, &event), 1);
        assert_true(event.is_answer);
}

static void a_link_is_up(_unused_ void **state)
{
        assert_true(pn_link_is_up(&(PnLinkState){.operstate = 6}));
        assert_false(pn_link_is_up(&(PnLinkState){.operstate = 2, .carrier = 1, .flags = IFF_UP}));
        /* A driver that keeps no state. */
        assert_true(pn_link_is_up(&(PnLinkState){.carrier = 1, .flags = IFF_UP}));
        assert_false(pn_link_is_up(&(PnLinkState){.carrier = 1}));
        assert_false(pn_link_is_up(&(PnLinkState){.flags = IFF_UP}));
}

static void refuses_what_the_kernel_would_not_send(_unused_ void **state)
{
        Message message = {0};
        PnLinkEvent event;
        size_t offset;

        add_link(&message, 6, 3);
        for (size_t cut = 1; cut < message.n; cut++) {
                offset = 0;
                assert_int_equal(pn_link_event_next(message.bytes, cut, &offset, &event), -EBADMSG);
        }
        /* An attribute longer than the message, and one shorter than itself. */
        for (uint16_t length = 0; length < 300; length = (uint16_t)(length + 150)) {
                memcpy(message.bytes + sizeof(struct nlmsghdr) + sizeof(struct ifinfomsg), &length,
                       2);
                offset = 0;
                assert_int_equal(pn_link_event_next(message.bytes, message.n, &offset, &event),
                                 -EBADMSG);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(reads_what_udev_tells),
            cmocka_unit_test(passes_over_what_is_no_event),
            cmocka_unit_test(hashes_as_udev_does),
            cmocka_unit_test(reads_what_the_kernel_tells_of_links),
            cmocka_unit_test(tells_an_answer_from_an_event),
            cmocka_unit_test(a_link_is_up),
            cmocka_unit_test(refuses_what_the_kernel_would_not_send),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
