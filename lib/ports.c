/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Judges network ports and bonds by what is known of their ends; knows no wording. */

#include "ports.h"

#include "index.h"

/* Bits of a port's state in LACP (IEEE 802.1AX, 6.4.2.3). */
#define LACP_SYNCHRONIZATION 0x08
#define LACP_COLLECTING      0x10
#define LACP_DISTRIBUTING    0x20
#define LACP_DEFAULTED       0x40 /* what is known of the partner is made up: it says nothing */
#define LACP_TAKES           (LACP_SYNCHRONIZATION | LACP_COLLECTING)
#define LACP_WORKING         (LACP_SYNCHRONIZATION | LACP_COLLECTING | LACP_DISTRIBUTING)

int64_t pn_fastest(const PnReals *speeds)
{
        int64_t best = 0;

        for (unsigned i = 0; speeds->state == PN_KNOWN && i < speeds->n; i++)
                if (speeds->v[i] > (double)best && speeds->v[i] < 1e9)
                        best = (int64_t)speeds->v[i];
        return best;
}

bool pn_module_is_cable(const PnModule *module)
{
        return pn_text_is(&module->type, "passive copper") ||
               pn_text_is(&module->type, "active copper") ||
               pn_text_is(&module->type, "active optical cable");
}

/* "10GBASE-SR", "1000BASE-SX", "2.5GBASE-T". */
static int64_t mbps_of_type(const char *type)
{
        int64_t whole = 0, tenths = 0;
        size_t digits = strspn(type, "0123456789");

        if (digits == 0 || digits > 6)
                return 0;
        for (size_t i = 0; i < digits; i++)
                whole = whole * 10 + (type[i] - '0');
        type += digits;
        if (*type == '.' && type[1] >= '0' && type[1] <= '9') {
                tenths = type[1] - '0';
                type += 2;
        }
        if (pn_startswith(type, "GBASE"))
                return whole * 1000 + tenths * 100;
        return pn_startswith(type, "BASE") ? whole : 0;
}

/* What one lane carries at a signalling rate. Above 28 GBd rates with two bits a symbol begin, and
 * the rate alone tells nothing. */
static int64_t mbps_of_rate(int64_t mbd)
{
        static const struct {
                int64_t from, to, mbps;
        } rates[] = {
            {100, 155, 100},    {1000, 1300, 1000},   {2500, 3200, 2500},
            {5000, 5200, 5000}, {9900, 11500, 10000}, {25000, 28000, 25000},
        };

        for (size_t i = 0; i < PN_ELEMENTS(rates); i++)
                if (mbd >= rates[i].from && mbd <= rates[i].to)
                        return rates[i].mbps;
        return 0;
}

int64_t pn_module_mbps(const PnModule *module)
{
        const char *type, *form;
        int64_t mbps, lanes = 1;

        if (!module || !pn_text_is(&module->status, "present"))
                return 0;
        type = pn_text(&module->type);
        mbps = type ? mbps_of_type(type) : 0;
        if (mbps)
                return mbps;
        form = pn_text(&module->form);
        if (!form)
                return 0;
        if (pn_startswith(form, "QSFP"))
                lanes = pn_startswith(form, "QSFP-DD") ? 8 : 4;
        else if (pn_startswith(form, "OSFP"))
                lanes = 8;
        else if (!pn_startswith(form, "SFP"))
                return 0;
        return mbps_of_rate(pn_int_or(module->nominal_mbd, 0)) * lanes;
}

PnMemberState pn_member_state(const PnBond *bond, const PnBondMember *member)
{
        int64_t state;

        if (member->mii_up.state != PN_KNOWN)
                return PN_MEMBER_UNKNOWN;
        if (!member->mii_up.v)
                return PN_MEMBER_NO_LINK;
        if (!pn_text_is(&bond->mode, "802.3ad"))
                return bond->mode.state == PN_KNOWN ? PN_MEMBER_WORKS : PN_MEMBER_UNKNOWN;
        /* Who may not see the partner's address sees whether there is one. */
        if (pn_text_is(&member->partner_mac, "00:00:00:00:00:00") ||
            (member->partner_mac.state != PN_KNOWN && member->actor_state.state == PN_KNOWN &&
             member->actor_state.v & LACP_DEFAULTED))
                return PN_MEMBER_NO_PARTNER;
        if (member->aggregator.state == PN_KNOWN && bond->active_aggregator.state == PN_KNOWN &&
            member->aggregator.v != bond->active_aggregator.v)
                return PN_MEMBER_OTHER_GROUP;
        if (member->actor_state.state != PN_KNOWN)
                return PN_MEMBER_UNKNOWN;
        state = member->actor_state.v;
        if ((state & LACP_WORKING) != LACP_WORKING)
                return PN_MEMBER_NOT_IN_SYNC;
        /* What we send is lost where the partner does not take it. */
        return member->partner_state.state == PN_KNOWN &&
                       (member->partner_state.v & LACP_TAKES) != LACP_TAKES
                   ? PN_MEMBER_NOT_IN_SYNC
                   : PN_MEMBER_WORKS;
}

bool pn_member_carries(const PnBond *bond, const PnBondMember *member)
{
        PnMemberState state = pn_member_state(bond, member);

        return state == PN_MEMBER_WORKS ||
               (state == PN_MEMBER_NO_PARTNER && member->aggregator.state == PN_KNOWN &&
                bond->active_aggregator.state == PN_KNOWN &&
                member->aggregator.v == bond->active_aggregator.v);
}

/* ---- One port ---- */

static int64_t least(int64_t a, int64_t b)
{
        return a == 0 || (b != 0 && b < a) ? b : a;
}

typedef struct Judgement {
        const char *verdict, *limiter;
        int64_t best, expected;
} Judgement;

/* A gigabit port at 100 Mb/s or less has a damaged cable or a very old partner; both are worth
 * somebody's while. Of a faster one whose partner says nothing nobody can tell. */
static bool is_worth_a_look(int64_t speed, int64_t best)
{
        return speed <= 100 && best >= 1000;
}

static void judge_speed(const PnNic *nic, Judgement *ret)
{
        int64_t speed = nic->speed_mbps.v, module = pn_module_mbps(nic->module.v);
        int64_t partner = pn_fastest(&nic->partner_mbps);
        int64_t offered = pn_fastest(&nic->advertised_mbps);
        bool is_set = nic->autonegotiation.state == PN_KNOWN && !nic->autonegotiation.v;
        bool is_copper = pn_text_is(&nic->port, "tp");

        ret->expected = least(least(ret->best, module), partner);
        if (speed >= ret->best) {
                ret->verdict = "full";
                return;
        }
        if (speed >= ret->expected) {
                ret->verdict = "limited";
                ret->limiter = partner && partner <= speed         ? "partner"
                               : pn_module_is_cable(nic->module.v) ? "cable"
                                                                   : "module";
                return;
        }
        ret->verdict = "slow";
        if ((is_set && is_copper) || (!is_set && offered && offered <= speed)) {
                ret->limiter = "setting";
        } else if (partner && is_copper) {
                ret->limiter = "cable";
        } else {
                /* The partner may be what limits it, and did not say so. */
                ret->limiter = is_copper && is_worth_a_look(speed, ret->best) ? "cable" : "unknown";
                if (!is_copper || !is_worth_a_look(speed, ret->best))
                        ret->verdict = "limited";
                /* A module that can do more, on a fibre, where speeds are set and not negotiated.
                 */
                if (!is_copper && module > speed)
                        ret->verdict = "slow";
        }
}

static const char *without_interface(const PnNic *nic)
{
        return pn_text_is(&nic->reason, "passed_through")    ? "passed_through"
               : pn_text_is(&nic->reason, "other_namespace") ? "other_namespace"
               : nic->reason.state == PN_KNOWN               ? "no_interface"
                                                             : "unknown";
}

static Judgement judge(const PnNic *nic)
{
        Judgement judgement = {.verdict = "unknown", .best = pn_fastest(&nic->supported_mbps)};

        if (nic->name.state != PN_KNOWN)
                judgement.verdict = without_interface(nic);
        else if (nic->enabled.state == PN_KNOWN && !nic->enabled.v)
                judgement.verdict = "off";
        else if (pn_is_unread(nic->carrier.state) || nic->enabled.state != PN_KNOWN)
                judgement.verdict = "unknown";
        else if (!pn_is_true(nic->carrier))
                judgement.verdict = "no_link";
        else if (pn_text_is(&nic->duplex, "half") && nic->speed_mbps.state == PN_KNOWN)
                judgement.verdict = "half_duplex";
        else if (nic->speed_mbps.state == PN_KNOWN && judgement.best)
                judge_speed(nic, &judgement);
        return judgement;
}

/* "10GBASE-SR Intel Corp E10GSFPSR". */
static int describe_module(const PnModule *module, PnText *ret)
{
        const PnText *const parts[] = {&module->type, &module->vendor, &module->part_number};
        _cleanup_buf_ PnBuf buf = {0};
        char *text;
        int r;

        for (size_t i = 0; i < PN_ELEMENTS(parts); i++)
                if (pn_text(parts[i]))
                        pn_buf_printf(&buf, "%s%s", buf.len ? " " : "", parts[i]->v);
        if (buf.error || !buf.len)
                return buf.error;
        r = pn_buf_take(&buf, &text, NULL);
        if (r == 0)
                pn_take_text(ret, text);
        return r;
}

/* What ports are held against, by name. */
typedef struct Names {
        PnIndex nics;    /* by interface name (or, without one, address) */
        PnIndex ratings; /* by the addresses of their functions */
} Names;

static void names_done(Names *names)
{
        pn_index_done(&names->nics);
        pn_index_done(&names->ratings);
}

static int names_init(const PnInventory *inventory, const PnRatings *ratings, Names *ret)
{
        Names names = {0};
        unsigned n = 0;

        for (unsigned i = 0; i < ratings->n; i++)
                n += ratings->v[i].functions.n;
        if (pn_index_init(&names.nics, inventory->nics.n) < 0 ||
            pn_index_init(&names.ratings, n) < 0) {
                names_done(&names);
                return -ENOMEM;
        }
        for (unsigned i = 0; i < inventory->nics.n; i++)
                pn_index_add(&names.nics, pn_text(&inventory->nics.v[i].id), &inventory->nics.v[i]);
        for (unsigned i = 0; i < ratings->n; i++)
                for (unsigned k = 0; k < ratings->v[i].functions.n; k++)
                        pn_index_add(&names.ratings, ratings->v[i].functions.v[k], &ratings->v[i]);
        pn_index_sort(&names.nics);
        pn_index_sort(&names.ratings);
        *ret = names;
        return 0;
}

static int write_port(const Names *names, const PnNic *nic, PnPort *port)
{
        const PnRating *rating = pn_index_find(&names->ratings, pn_text(&nic->address), NULL);
        const PnModule *module = nic->module.v;
        Judgement judgement = judge(nic);

        if (pn_set_text(&port->id, nic->id.v) < 0 ||
            pn_set_text(&port->name, pn_text(&nic->name)) < 0 ||
            pn_set_text(&port->kind, pn_text(&nic->kind)) < 0 ||
            pn_set_text(&port->address, pn_text(&nic->address)) < 0 ||
            pn_set_text(&port->driver, pn_text(&nic->driver)) < 0 ||
            pn_set_text(&port->master, pn_text(&nic->master)) < 0 ||
            pn_set_text(&port->verdict, judgement.verdict) < 0 ||
            pn_set_text(&port->limiter, judgement.limiter) < 0)
                return -ENOMEM;
        port->enabled = nic->enabled;
        port->carrier = nic->carrier;
        port->speed_mbps = nic->speed_mbps;
        if (judgement.best)
                port->best_mbps = pn_int(judgement.best);
        if (judgement.expected)
                port->expected_mbps = pn_int(judgement.expected);
        if (rating && (pn_set_text(&port->model, pn_text(&rating->model)) < 0 ||
                       pn_set_text(&port->slot, pn_text(&rating->slot)) < 0))
                return -ENOMEM;
        if (!module) {
                port->module_status.state = nic->module.state;
                return 0;
        }
        /* Nearly all copper ports have no cage: not being allowed to look is not worth a word. */
        if (pn_text_is(&nic->port, "tp") && pn_text_is(&module->status, "permission_denied"))
                return 0;
        if (pn_set_text(&port->module_status, pn_text(&module->status)) < 0)
                return -ENOMEM;
        return describe_module(module, &port->module);
}

/* ---- Bonds ---- */

/* What a bond runs at is the sum over its members that work, or, where one of them stands by for
 * another, what the active one does; what it could is the same over all. */
static void judge_bond(const Names *names, const PnNic *nic, PnPort *port)
{
        const PnBond *bond = nic->bond.v;
        bool stands_by = pn_text_is(&bond->mode, "active-backup");
        int64_t best = 0, sum = 0;
        unsigned working = 0, unknown = 0;

        for (unsigned i = 0; i < bond->members.n; i++) {
                const PnBondMember *member = &bond->members.v[i];
                const PnNic *below = pn_index_find(&names->nics, member->name.v, NULL);
                PnMemberState state = pn_member_state(bond, member);
                int64_t most = below ? pn_fastest(&below->supported_mbps) : 0;

                working += pn_member_carries(bond, member);
                unknown += state == PN_MEMBER_UNKNOWN;
                sum += most;
                if (most > best)
                        best = most;
        }
        if (!stands_by && !pn_text_is(&bond->mode, "broadcast"))
                best = sum;
        if (best)
                port->best_mbps = pn_int(best);
        port->members = pn_int(bond->members.n);
        if (!unknown)
                port->working_members = pn_int(working);
}

static const char *bond_verdict(const PnPort *port)
{
        if (port->enabled.state == PN_KNOWN && !port->enabled.v)
                return "off";
        if (pn_int_or(port->members, 0) == 0 || port->working_members.state != PN_KNOWN)
                return "unknown";
        if (port->working_members.v == 0)
                return "no_link";
        if (port->working_members.v < port->members.v)
                return "degraded";
        if (port->speed_mbps.state != PN_KNOWN || port->best_mbps.state != PN_KNOWN)
                return "unknown";
        return port->speed_mbps.v < port->best_mbps.v ? "limited" : "full";
}

static int write_bond(const Names *names, const PnNic *nic, PnPort *port)
{
        if (pn_set_text(&port->id, nic->id.v) < 0 ||
            pn_set_text(&port->name, pn_text(&nic->name)) < 0 ||
            pn_set_text(&port->kind, "bond") < 0 ||
            pn_set_text(&port->master, pn_text(&nic->master)) < 0 ||
            (nic->bond.v &&
             pn_format_text(&port->model, "bond%s%s", pn_text(&nic->bond.v->mode) ? " " : "",
                            pn_text(&nic->bond.v->mode) ? nic->bond.v->mode.v : "") < 0))
                return -ENOMEM;
        port->enabled = nic->enabled;
        port->carrier = nic->carrier;
        port->speed_mbps = nic->speed_mbps;
        if (nic->bond.v)
                judge_bond(names, nic, port);
        return pn_set_text(&port->verdict, nic->bond.v ? bond_verdict(port) : "unknown");
}

int pn_ports_judge(const PnInventory *inventory, const PnRatings *ratings, PnPorts *ret)
{
        PnPorts ports = {.state = PN_KNOWN};
        Names names;
        int r = names_init(inventory, ratings, &names);

        if (r < 0)
                return r;
        for (unsigned i = 0; i < inventory->nics.n && r == 0; i++) {
                const PnNic *nic = &inventory->nics.v[i];
                bool is_bond = pn_text_is(&nic->kind, "bond");
                PnPort *port;

                if (!is_bond && !pn_text_is(&nic->kind, "physical"))
                        continue;
                port = PN_APPEND(&ports);
                if (!port)
                        r = -ENOMEM;
                else
                        r = is_bond ? write_bond(&names, nic, port) : write_port(&names, nic, port);
        }
        names_done(&names);
        if (r < 0) {
                pn_ports_done(&ports);
                return r;
        }
        *ret = ports;
        return 0;
}

void pn_ports_done(PnPorts *ports)
{
        for (unsigned i = 0; i < ports->n; i++)
                pn_done(pn_type_Port(), &ports->v[i]);
        free(ports->v);
        *ports = (PnPorts){0};
}
