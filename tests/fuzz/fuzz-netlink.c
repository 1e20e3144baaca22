/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes daemon/probe/netlink_answers.c: the first byte of the input chooses what it answers, the
 * rest is a datagram. */
#include "netlink_answers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
        if (!truth)
                abort();
}

/* Whether a text ends within its room. */
static void require_text(const char *s, size_t room)
{
        require(memchr(s, '\0', room));
}

static void require_links(const PnNetLinks *links)
{
        require(links->n <= links->capacity);
        for (size_t i = 0; i < links->n; i++) {
                const PnNetLink *link = &links->v[i];

                require(link->index > 0 && link->index <= INT32_MAX);
                require(*link->name);
                require_text(link->name, sizeof link->name);
                require_text(link->kind, sizeof link->kind);
                require_text(link->port_name, sizeof link->port_name);
                require(link->mac_length <= sizeof link->mac);
                require(link->permanent_mac_length <= sizeof link->permanent_mac);
                require(link->mtu >= -1 && link->operstate >= -1 && link->carrier >= -1);
                require(link->vlan_id >= -1 && link->bond_mode >= -1);
                require(link->slave.mii_up >= -1 && link->slave.mii_up <= 1);
                require(link->is_slave || link->slave.mii_up == -1);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const PnAnswerTo to = {1, 0x1234};
        static const PnAnswer link_answers[] = {pn_answer_link_modes, pn_answer_link_info,
                                                pn_answer_link_state};
        PnEthtoolLink link = {.ext_state = -1, .ext_substate = -1};
        PnEthtoolStats stats = {PN_NO_COUNTER, PN_NO_COUNTER, PN_NO_COUNTER};
        PnEthtoolFec fec = {
            .active = -1, .corrected = PN_NO_COUNTER, .uncorrectable = PN_NO_COUNTER};
        uint8_t room[128] = {0};
        PnEthtoolBytes bytes = {.to = room, .n = sizeof room};
        PnNetLinks links = {0};
        uint16_t family = 0;
        int r = 0;

        if (size == 0)
                return 0;
        switch (data[0]) {
        case 'r':
                r = pn_answer_links(data + 1, size - 1, &to, &links);
                require_links(&links);
                break;
        case 'n':
                r = pn_answer_family(data + 1, size - 1, &to, &family);
                require(family == 0 || family >= 16);
                break;
        case 'f':
                r = pn_answer_fec(data + 1, size - 1, &to, &fec);
                require(fec.active >= -1);
                (void)pn_link_fec(fec.active);
                break;
        case 's':
                r = pn_answer_stats(data + 1, size - 1, &to, &stats);
                break;
        case 'e':
                r = pn_answer_module(data + 1, size - 1, &to, &bytes);
                require(bytes.got <= bytes.n);
                break;
        default:
                r = link_answers[data[0] % 3](data + 1, size - 1, &to, &link);
                require(link.ext_state >= -1 && link.ext_substate >= -1);
                (void)pn_link_port(link.port, link.supported);
                break;
        }
        require(r <= 1 && r >= -4095);
        free(links.v);
        return 0;
}
