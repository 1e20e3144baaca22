/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes what udev and the kernel tell of devices that come, go and change; knows no socket. */

#include "uevent.h"

#include <linux/if.h>
#include <linux/rtnetlink.h>

static uint32_t get_be32(const uint8_t *at)
{
        return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint32_t get_u32(const uint8_t *at)
{
        uint32_t value;

        memcpy(&value, at, sizeof value);
        return value;
}

static uint16_t get_u16(const uint8_t *at)
{
        uint16_t value;

        memcpy(&value, at, sizeof value);
        return value;
}

/* ---- udev ---- */

/* The value, if `property` is KEY=VALUE with this key; else NULL. */
static const char *value_of(const char *property, const char *key)
{
        size_t n = strlen(key);

        return strncmp(property, key, n) == 0 && property[n] == '=' ? property + n + 1 : NULL;
}

int pn_uevent_parse(const void *message, size_t n, PnUevent *ret)
{
        enum { AT_PROPERTIES = 16, AT_PROPERTIES_SIZE = 20 };
        const uint8_t *bytes = message;
        PnUevent event = {0};
        size_t begin, end;

        if (n < PN_UEVENT_HEADER || memcmp(bytes, "libudev", sizeof "libudev") != 0 ||
            get_be32(bytes + PN_UEVENT_AT_MAGIC) != PN_UEVENT_MAGIC)
                return -EBADMSG;
        begin = get_u32(bytes + AT_PROPERTIES);
        end = get_u32(bytes + AT_PROPERTIES_SIZE);
        if (begin < PN_UEVENT_HEADER || begin > n || end == 0 || end > n - begin)
                return -EBADMSG;
        end += begin;
        if (bytes[end - 1] != '\0')
                return -EBADMSG;
        for (const char *at = (const char *)bytes + begin; at < (const char *)bytes + end;
             at += strlen(at) + 1) {
                const char *value;

                if ((value = value_of(at, "ACTION")))
                        event.action = value;
                else if ((value = value_of(at, "DEVPATH")))
                        event.devpath = value;
                else if ((value = value_of(at, "SUBSYSTEM")))
                        event.subsystem = value;
                else if ((value = value_of(at, "PCI_CLASS")))
                        event.pci_class = value;
        }
        if (!event.action || !event.devpath || !event.subsystem)
                return -EBADMSG;
        *ret = event;
        return 0;
}

uint32_t pn_uevent_hash(const char *subsystem)
{
        const uint32_t m = 0x5bd1e995;
        const uint8_t *at = (const uint8_t *)subsystem;
        size_t left = strlen(subsystem);
        uint32_t hash = (uint32_t)left, tail = 0;

        for (; left >= sizeof(uint32_t); left -= sizeof(uint32_t), at += sizeof(uint32_t)) {
                uint32_t word = get_u32(at) * m;

                hash = (hash * m) ^ ((word ^ word >> 24) * m);
        }
        for (size_t i = 0; i < left; i++)
                tail |= (uint32_t)at[i] << 8 * i;
        if (left)
                hash = (hash ^ tail) * m;
        hash = (hash ^ hash >> 13) * m;
        return hash ^ hash >> 15;
}

/* ---- rtnetlink ---- */

enum {
        HEADER_SIZE = sizeof(struct nlmsghdr),
        BODY_SIZE = sizeof(struct ifinfomsg),
        ATTRIBUTE_SIZE = sizeof(struct nlattr),
        FLAGS = IFF_UP | IFF_RUNNING | IFF_LOWER_UP | IFF_DORMANT | IFF_MASTER | IFF_SLAVE,
        OPERSTATE_UP = 6,
};

static size_t padded(size_t n)
{
        return (n + 3) & ~(size_t)3;
}

/* The next attribute in n bytes: 1, 0 at the end, -EBADMSG. */
static int next_attribute(const uint8_t *bytes, size_t n, size_t *offset, uint16_t *ret_type,
                          const uint8_t **ret_value, size_t *ret_size)
{
        size_t length;

        if (*offset >= n)
                return 0;
        if (n - *offset < ATTRIBUTE_SIZE)
                return -EBADMSG;
        length = get_u16(bytes + *offset);
        if (length < ATTRIBUTE_SIZE || length > n - *offset)
                return -EBADMSG;
        *ret_type = (uint16_t)(get_u16(bytes + *offset + 2) & (unsigned)NLA_TYPE_MASK);
        *ret_value = bytes + *offset + ATTRIBUTE_SIZE;
        *ret_size = length - ATTRIBUTE_SIZE;
        *offset += padded(length);
        return 1;
}

/* Text of the kernel's, cut to what there is room for. */
static void take_text(char to[static 16], const uint8_t *value, size_t n)
{
        n = strnlen((const char *)value, n < 15 ? n : 15);
        memcpy(to, value, n);
        to[n] = '\0';
}

static void take_number(uint32_t *to, const uint8_t *value, size_t n)
{
        if (n == sizeof(uint32_t))
                *to = get_u32(value);
        else if (n == sizeof(uint8_t))
                *to = *value;
}

static int read_link_info(const uint8_t *bytes, size_t n, PnLinkEvent *event)
{
        const uint8_t *value;
        size_t offset = 0, size;
        uint16_t type;
        int r;

        while ((r = next_attribute(bytes, n, &offset, &type, &value, &size)) > 0)
                if (type == IFLA_INFO_KIND)
                        take_text(event->kind, value, size);
        return r;
}

static int read_link(const uint8_t *bytes, size_t n, PnLinkEvent *event)
{
        const uint8_t *value;
        size_t offset = 0, size;
        uint16_t type;
        int r;

        while ((r = next_attribute(bytes, n, &offset, &type, &value, &size)) > 0) {
                switch (type) {
                case IFLA_IFNAME:
                        take_text(event->name, value, size);
                        break;
                case IFLA_OPERSTATE:
                        take_number(&event->state.operstate, value, size);
                        break;
                case IFLA_CARRIER:
                        take_number(&event->state.carrier, value, size);
                        break;
                case IFLA_CARRIER_CHANGES:
                        take_number(&event->state.carrier_changes, value, size);
                        break;
                case IFLA_MTU:
                        take_number(&event->state.mtu, value, size);
                        break;
                case IFLA_MASTER:
                        take_number(&event->state.master, value, size);
                        break;
                case IFLA_LINKINFO:
                        if (read_link_info(value, size, event) < 0)
                                return -EBADMSG;
                        break;
                default:
                        break;
                }
        }
        return r;
}

int pn_link_event_next(const void *messages, size_t n, size_t *offset, PnLinkEvent *ret)
{
        while (*offset < n) {
                const uint8_t *message = (const uint8_t *)messages + *offset;
                PnLinkEvent event = {0};
                struct ifinfomsg body;
                struct nlmsghdr header;

                if (n - *offset < HEADER_SIZE)
                        return -EBADMSG;
                memcpy(&header, message, sizeof header);
                if (header.nlmsg_len < HEADER_SIZE || header.nlmsg_len > n - *offset)
                        return -EBADMSG;
                *offset += padded(header.nlmsg_len);
                if (header.nlmsg_type != RTM_NEWLINK && header.nlmsg_type != RTM_DELLINK)
                        continue;
                if (header.nlmsg_len < HEADER_SIZE + BODY_SIZE)
                        return -EBADMSG;
                memcpy(&body, message + HEADER_SIZE, sizeof body);
                if (body.ifi_family != AF_UNSPEC)
                        continue;
                event.is_answer = header.nlmsg_flags & NLM_F_MULTI;
                event.is_gone = header.nlmsg_type == RTM_DELLINK;
                event.is_loopback = body.ifi_flags & IFF_LOOPBACK;
                event.index = body.ifi_index;
                event.state.flags = body.ifi_flags & FLAGS;
                if (read_link(message + HEADER_SIZE + BODY_SIZE,
                              header.nlmsg_len - HEADER_SIZE - BODY_SIZE, &event) < 0)
                        return -EBADMSG;
                *ret = event;
                return 1;
        }
        return 0;
}

bool pn_link_is_up(const PnLinkState *state)
{
        return state->operstate ? state->operstate == OPERSTATE_UP
                                : state->carrier && state->flags & IFF_UP;
}
