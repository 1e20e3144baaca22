/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rules for network ports, bonds and modules: what is a finding, and the words for it. Pure
 * functions of the facts; a value that could not be read never makes a finding and never hides
 * one. */

#include "rules.h"

#include <inttypes.h>
#include <stdio.h>

#include "decibel.h"
#include "learn.h"
#include "pcie.h"
#include "when.h"

/* How many interfaces may be built on one another before we stop following them. */
#define ABOVE_MAX 64

/* More ports than any function has: further ones are not looked at. */
#define PORTS_MAX 64

/* Where a module gives no limits of its own (SFF-8472 leaves them to the maker): what modules for
 * 0 to 70 degrees have in common. */
#define HOT_C      75.0
#define VERY_HOT_C 85.0

/* No module that answers is as hot: what says so does not measure (7fffh is 127.996 degrees). */
#define IMPOSSIBLE_C 125.0

/* Nor does one answer that is supplied with less or more. */
#define LEAST_V 1.0
#define MOST_V  6.0

/* ffffh, where modules say light and current: the end of the scale, and no reading. */
#define MOST_MW 6.553
#define MOST_MA 131.0

/* What a receiver shows of a fibre without light: its noise. */
#define DARK_MW 0.001

typedef char Words[96];

static const char *say_speed(Words buf, int64_t mbps)
{
        if (mbps >= 1000)
                (void)snprintf(buf, sizeof(Words), "%g Gb/s", (double)mbps / 1000);
        else
                (void)snprintf(buf, sizeof(Words), "%" PRId64 " Mb/s", mbps);
        return buf;
}

/* ---- What is built on a port ---- */

static int add_affected(PnFinding *finding, const PnNic *above)
{
        _cleanup_free_ char *words = NULL;
        const char *kind = pn_text_is(&above->kind, "vlan") ? "VLAN" : above->kind.v;

        if (asprintf(&words, "%s %s", kind, above->id.v) < 0) {
                words = NULL;
                return -ENOMEM;
        }
        return pn_texts_append_unique(&finding->affects, words);
}

/* The first of two lists that are each in the order of the inventory; NULL when both are empty. */
static const PnNic *take_first(const PnIndexEntry **a, unsigned *n_a, const PnIndexEntry **b,
                               unsigned *n_b)
{
        bool first = *n_a && (!*n_b || (const PnNic *)(*a)->object < (const PnNic *)(*b)->object);

        if (!*n_a && !*n_b)
                return NULL;
        --*(first ? n_a : n_b);
        return (*(first ? a : b))++->object;
}

/* Adds the bonds, bridges and VLANs that an interface carries, near ones first. */
static int add_above(const PnFacts *facts, const char *name, PnFinding *finding)
{
        const char *queue[ABOVE_MAX] = {name};
        size_t n = name ? 1 : 0;

        for (size_t at = 0; at < n; at++) {
                const PnNic *nic = pn_nic_named(facts->names, queue[at]), *above;
                unsigned n_masters, n_lowers, left = ABOVE_MAX;
                const PnIndexEntry *masters = pn_index_range(
                    &facts->names->nics_by_name, nic ? pn_text(&nic->master) : NULL, &n_masters);
                const PnIndexEntry *lowers =
                    pn_index_range(&facts->names->nics_by_lower, queue[at], &n_lowers);

                while (left-- > 0 && n < ABOVE_MAX &&
                       (above = take_first(&masters, &n_masters, &lowers, &n_lowers))) {
                        bool known = false;

                        for (size_t k = 0; k < n; k++)
                                known |= strcmp(queue[k], above->id.v) == 0;
                        if (known)
                                continue;
                        queue[n++] = above->id.v;
                        if (pn_text(&above->kind) && add_affected(finding, above) < 0)
                                return -ENOMEM;
                }
        }
        return 0;
}

static PnFinding *add(PnFacts *facts, PnCode code, const char *severity, const PnNic *nic)
{
        PnFinding *finding = pn_finding_add_for_nic(facts, code, severity, nic);

        return finding && add_above(facts, pn_text(&nic->name), finding) == 0 ? finding : NULL;
}

/* ---- Ports ---- */

static const PnPci *function_of(const PnFacts *facts, const PnNic *nic)
{
        uint32_t node = pn_topology_find(facts->topology, pn_text(&nic->address));

        return node == PN_NOBODY ? NULL : facts->topology->v[node].pci;
}

/* The driver that runs another function of the same card, or NULL. */
static const char *driver_of_sibling(const PnFacts *facts, const PnNic *nic)
{
        const char *address = pn_text(&nic->address);
        const PnNic *first = NULL;
        PnPciAddress parsed;

        if (!address || pn_pci_address_parse(address, &parsed) < 0)
                return NULL;
        for (parsed.function = 0; parsed.function < 8; parsed.function++) {
                char at[PN_PCI_ADDRESS_MAX];
                unsigned n;
                const PnIndexEntry *there;

                (void)pn_pci_address_format(&parsed, at);
                there = pn_index_range(&facts->names->nics_by_address, at, &n);
                for (unsigned i = 0; i < n && i < PORTS_MAX; i++) {
                        const PnNic *other = there[i].object;

                        if (other != nic && pn_text(&other->name) && (!first || other < first))
                                first = other;
                }
        }
        return first ? pn_text(&first->driver) : NULL;
}

/* Cards of which ixgbe leaves a function alone when it does not know the module in it; or takes the
 * interface away, if such a module is put in later. */
static bool is_choosy(const PnPci *pci)
{
        static const char *const ids[] = {"0x10fb", "0x1528", "0x154d", "0x1557"};

        for (size_t i = 0; pci && i < PN_ELEMENTS(ids); i++)
                if (pn_text_is(&pci->vendor_id, "0x8086") && pn_text_is(&pci->device_id, ids[i]))
                        return true;
        return false;
}

/* "Port 0000:04:00.1 of the card in slot PCIEX16_3" */
static void name_port(const PnPort *port, char *ret, size_t size)
{
        const char *slot = pn_text(&port->slot);

        (void)snprintf(ret, size, "Port %s%s%.80s", port->id.v, slot ? " of the card in slot " : "",
                       slot ? slot : "");
}

static int no_interface(PnFacts *facts, const PnPort *port, const PnNic *nic)
{
        const PnPci *pci = function_of(facts, nic);
        const char *class = pci ? pn_text(&pci->class) : NULL;
        const char *driver = pn_text(&nic->driver), *sibling = driver_of_sibling(facts, nic);
        bool refused = is_choosy(pci) && (!driver || strcmp(driver, "ixgbe") == 0);
        PnFinding *finding;
        char name[256];

        /* InfiniBand adapters work without an interface. Where the class is not known, it is some
         * network adapter all the same. */
        if (class && (pn_startswith(class, "0x0207") || pn_startswith(class, "0x0208")))
                return 0;
        finding = add(facts, PN_CODE_nic_no_interface,
                      class && pn_startswith(class, "0x0280") ? "notice" : "warning", nic);
        if (!finding)
                return -ENOMEM;
        name_port(port, name, sizeof name);
        if (refused) {
                if (pn_format_text(&finding->summary,
                                   "%s has no interface: its driver ixgbe probably refused the "
                                   "module in it.",
                                   name) < 0 ||
                    pn_format_text(&finding->detail,
                                   driver ? "ixgbe is bound to this port of the %s, but made no "
                                            "interface for it%s. ixgbe lets a port go whose SFP+ "
                                            "module is not on its list, and says so in the kernel "
                                            "log alone (journalctl -k)."
                                          : "No driver is bound to this port of the %s%s. ixgbe "
                                            "lets a port go whose SFP+ module is not on its list, "
                                            "and says so in the kernel log alone (journalctl -k).",
                                   pn_text(&port->model) ? port->model.v : "card",
                                   sibling ? ", although its other port works" : "") < 0)
                        return -ENOMEM;
                return pn_set_text(
                    &finding->advice,
                    "Put in a supported module (Intel E10GSFPSR for multi-mode, E10GSFPLR for "
                    "single-mode fibre), or a direct attach cable that the switch accepts, too; or "
                    "let ixgbe take any, at your own risk: `options ixgbe "
                    "allow_unsupported_sfp=1` in /etc/modprobe.d. Then load ixgbe anew.");
        }
        if (driver) {
                if (pn_format_text(&finding->summary,
                                   "%s has no interface, although the driver %s runs it.", name,
                                   driver) < 0)
                        return -ENOMEM;
        } else if (sibling) {
                if (pn_format_text(&finding->summary,
                                   "%s has no interface: no driver runs it, although %s runs the "
                                   "card's other port.",
                                   name, sibling) < 0)
                        return -ENOMEM;
        } else if (pn_format_text(&finding->summary, "%s has no interface: no driver runs it.",
                                  name) < 0) {
                return -ENOMEM;
        }
        return pn_format_text(
            &finding->advice, "`journalctl -k | grep %s` shows what the driver said of it. %s",
            nic->address.v,
            driver || sibling ? "A module or a firmware that it does not like is a frequent "
                                "reason."
                              : "Perhaps its driver's module is not loaded or not installed, "
                                "or it lacks firmware.");
}

static int advise_slow(const PnPort *port, const PnNic *nic, PnText *ret)
{
        Words best;

        if (pn_text_is(&port->limiter, "setting") && pn_is_true(nic->autonegotiation))
                return pn_format_text(
                    ret,
                    "Let it offer more: `ethtool -s %s speed %" PRId64
                    " duplex full autoneg on`, and remove the setting from the network "
                    "configuration. If it is meant, accept this finding.",
                    nic->id.v, port->expected_mbps.v);
        if (pn_text_is(&port->limiter, "setting"))
                return pn_format_text(
                    ret,
                    "Let it negotiate: `ethtool -s %s autoneg on`, and remove the "
                    "setting from the network configuration. If it is meant, "
                    "accept this finding.",
                    nic->id.v);
        if (pn_text_is(&port->limiter, "cable"))
                return pn_format_text(ret,
                                      "Replace the cable, try another port of the switch, and "
                                      "clean or reseat the plugs: gigabit and more need all four "
                                      "pairs%s.",
                                      port->best_mbps.v >= 10000 ? ", and 10 Gb/s Cat 6A" : "");
        return pn_format_text(ret,
                              "Look at the port of the switch: it may be set to this speed, or "
                              "have no more. Port and module here can do %s.",
                              say_speed(best, pn_int_or(port->expected_mbps, 0)));
}

/* What the port ran at before, if that is more than now; NULL if not, or not known. */
static const PnBest *once_faster(const PnFacts *facts, const PnNic *nic)
{
        const PnBest *best = pn_best_of_port(facts, nic);

        return best && nic->speed_mbps.state == PN_KNOWN && pn_is_true(nic->carrier) &&
                       best->value.v > nic->speed_mbps.v
                   ? best
                   : NULL;
}

static int slow(PnFacts *facts, const PnPort *port, const PnNic *nic)
{
        PnFinding *finding = add(facts, PN_CODE_nic_slow, "warning", nic);
        bool partner_known = pn_fastest(&nic->partner_mbps) > 0;
        bool has_module = pn_module_mbps(nic->module.v) > 0;
        const char *who = partner_known
                              ? has_module ? "port, module and partner" : "port and partner"
                          : has_module ? "port and module"
                                       : "the port";
        const char *why = pn_text_is(&port->limiter, "setting") ? pn_is_true(nic->autonegotiation)
                                                                      ? "it is set to offer no more"
                                                                      : "it is set to that"
                          : pn_text_is(&port->limiter, "cable")
                              ? partner_known ? "most likely the cable"
                                              : "the cable, or a partner that can do no more"
                              : "a setting, or the partner";
        const PnBest *best;
        Words now, could;
        PnWhen when;

        if (!finding ||
            pn_format_text(&finding->summary, "%s runs at %s, although %s can do %s: %s.",
                           nic->id.v, say_speed(now, nic->speed_mbps.v), who,
                           say_speed(could, port->expected_mbps.v), why) < 0)
                return -ENOMEM;
        finding->extent = pn_int(100 - nic->speed_mbps.v * 100 / port->expected_mbps.v);
        best = once_faster(facts, nic);
        if (best &&
            pn_format_text(&finding->detail, "It ran at %s until %s.",
                           say_speed(now, best->value.v), pn_when_date(when, best->last.v)) < 0)
                return -ENOMEM;
        return advise_slow(port, nic, &finding->advice);
}

static int limited(PnFacts *facts, const PnPort *port, const PnNic *nic)
{
        PnFinding *finding = add(facts, PN_CODE_nic_slow, "info", nic);
        const char *limiter = port->limiter.v;
        Words now, best;

        if (!finding)
                return -ENOMEM;
        (void)say_speed(now, nic->speed_mbps.v);
        (void)say_speed(best, port->best_mbps.v);
        if (strcmp(limiter, "unknown") == 0) {
                if (pn_format_text(&finding->summary,
                                   "%s runs at %s of %s; its partner does not say what it can do.",
                                   nic->id.v, now, best) < 0)
                        return -ENOMEM;
        } else if (pn_format_text(&finding->summary,
                                  "%s runs at %s of %s: that is all that the "
                                  "%s can do.",
                                  nic->id.v, now, best, limiter) < 0) {
                return -ENOMEM;
        }
        return pn_format_text(&finding->advice,
                              "Nothing is wrong. A faster %s would make it faster.",
                              strcmp(limiter, "unknown") == 0 ? "partner" : limiter);
}

/* A port that its ends explain, and that was faster before: something on the way has changed. */
static int fell_back(PnFacts *facts, const PnPort *port, const PnNic *nic, const PnBest *best)
{
        PnFinding *finding = add(facts, PN_CODE_nic_slow, "warning", nic);
        const char *limiter = pn_text(&port->limiter);
        Words now, once;
        PnWhen when;

        if (!finding ||
            pn_format_text(&finding->summary, "%s runs at %s; until %s it ran at %s.", nic->id.v,
                           say_speed(now, nic->speed_mbps.v), pn_when_date(when, best->last.v),
                           say_speed(once, best->value.v)) < 0)
                return -ENOMEM;
        finding->extent = pn_int(100 - nic->speed_mbps.v * 100 / best->value.v);
        if (limiter && strcmp(limiter, "unknown") != 0 &&
            pn_format_text(&finding->detail, "What is now at its limit is the %s.", limiter) < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice,
                           "If nobody changed the cable, the module or the switch: replace the "
                           "cable (a broken pair leaves 100 Mb/s), try another port of the switch, "
                           "and reseat the plugs. If it is meant to be so, accept this finding.");
}

/* A link without a speed is a symptom where the driver gave one before. */
static int no_speed(PnFacts *facts, const PnNic *nic)
{
        const PnBest *best = pn_best_of_port(facts, nic);
        PnFinding *finding;
        PnWhen when;
        Words once;

        if (!best || !pn_is_true(nic->carrier) || nic->speed_mbps.state != PN_ABSENT)
                return 0;
        finding = add(facts, PN_CODE_nic_slow, "warning", nic);
        if (!finding ||
            pn_format_text(&finding->summary,
                           "%s has a link, but does not say at which speed; until %s it ran at %s.",
                           nic->id.v, pn_when_date(when, best->last.v),
                           say_speed(once, best->value.v)) < 0)
                return -ENOMEM;
        return pn_format_text(&finding->advice,
                              "Such a link may carry nothing. Look at `journalctl -k` for what the "
                              "driver says, and take the port down and up again (`ip link set %s "
                              "down`, then `up`).",
                              nic->id.v);
}

static int half_duplex(PnFacts *facts, const PnNic *nic)
{
        PnFinding *finding = add(facts, PN_CODE_nic_half_duplex, "warning", nic);
        Words now;

        if (!finding ||
            pn_format_text(&finding->summary,
                           "%s runs at half duplex (%s): it cannot send and receive at once.",
                           nic->id.v, say_speed(now, nic->speed_mbps.v)) < 0 ||
            pn_set_text(&finding->detail,
                        "Almost always one end negotiates and the other is set to full duplex: "
                        "then frames collide and get lost under load.") < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice, "Let both ends negotiate, or set both to the same.");
}

static int judge_port(PnFacts *facts, const PnPort *port)
{
        static const char *const verdicts[] = {"no_interface", "slow", "limited", "half_duplex"};
        const PnNic *nic = pn_nic_named(facts->names, port->id.v);
        const PnBest *best;
        size_t which = 0;

        if (!nic || !pn_text_is(&port->kind, "physical"))
                return 0;
        if ((pn_text_is(&port->verdict, "unknown") || pn_text_is(&port->verdict, "no_link")) &&
            (pn_finding_hold_for_nic(facts, PN_CODE_nic_slow, nic) < 0 ||
             pn_finding_hold_for_nic(facts, PN_CODE_nic_half_duplex, nic) < 0))
                return -ENOMEM;
        /* A module or a setting that somebody chose explains itself. */
        best = once_faster(facts, nic);
        if (best && (pn_text_is(&port->verdict, "full") || (pn_text_is(&port->verdict, "limited") &&
                                                            !pn_text_is(&port->limiter, "module"))))
                return fell_back(facts, port, nic, best);
        while (which < PN_ELEMENTS(verdicts) && !pn_text_is(&port->verdict, verdicts[which]))
                which++;
        switch (which) {
        case 0:
                return no_interface(facts, port, nic);
        case 1:
                return slow(facts, port, nic);
        case 2:
                return limited(facts, port, nic);
        case 3:
                return half_duplex(facts, nic);
        default:
                return no_speed(facts, nic);
        }
}

static int compare_pointers(const void *a, const void *b)
{
        const PnNic *const *one = a, *const *other = b;

        return (*one > *other) - (*one < *other);
}

/* The ports of a card that say what they can do, in the order of the inventory. */
static int list_ports(const PnFacts *facts, const PnRating *rating, const PnNic ***ret,
                      unsigned *ret_n)
{
        _cleanup_free_ const PnNic **ports = NULL;
        unsigned most = 0, n = 0;

        /* Twice, first without a list to fill. */
        for (unsigned round = 0; round < 2; round++) {
                for (unsigned i = 0; i < rating->functions.n; i++) {
                        const char *address = rating->functions.v[i];
                        const PnIndexEntry *there;
                        unsigned n_there;

                        /* In order: twins are neighbours. */
                        if (i > 0 && strcmp(address, rating->functions.v[i - 1]) == 0)
                                continue;
                        there = pn_index_range(&facts->names->nics_by_address, address, &n_there);
                        most += n_there;
                        for (unsigned k = 0; ports && k < n_there; k++) {
                                const PnNic *nic = there[k].object;

                                if (pn_fastest(&nic->supported_mbps))
                                        ports[n++] = nic;
                        }
                }
                if (!ports)
                        ports = calloc((size_t)most + 1, sizeof *ports);
                if (!ports)
                        return -ENOMEM;
        }
        qsort(ports, n, sizeof *ports, compare_pointers);
        *ret = PN_STEAL(ports);
        *ret_n = n;
        return 0;
}

/* A card needs what its ports can do together; of a port that does not say what it can, nothing is
 * counted, so that the card may need even more. */
static int pcie_short(PnFacts *facts, const PnRating *rating)
{
        const PnRating *limit = pn_rating_at(facts->ratings, pn_text(&rating->limit));
        _cleanup_free_ const PnNic **ports = NULL;
        int64_t needs = 0, gets;
        unsigned n;
        PnFinding *finding;
        Words need, have;

        if (!pn_text_is(&rating->kind, "network") || !limit || limit->current.state != PN_KNOWN)
                return 0;
        if (list_ports(facts, rating, &ports, &n) < 0)
                return -ENOMEM;
        for (unsigned i = 0; i < n; i++)
                needs += pn_fastest(&ports[i]->supported_mbps);
        gets = limit->current.v->bandwidth.v;
        if (needs <= gets)
                return 0;
        finding =
            pn_finding_add(facts, PN_CODE_nic_pcie_short, "notice", NULL, rating->address.v, NULL);
        if (!finding || pn_set_text(&finding->device, ports[0]->id.v) < 0 ||
            pn_format_text(
                &finding->summary,
                "%u %s of the card of %s can do %s, but PCI Express gives the card only %s.", n,
                n == 1 ? "port" : "ports", ports[0]->id.v, say_speed(need, needs),
                say_speed(have, gets)) < 0 ||
            pn_format_text(
                &finding->detail, "What limits it is the link of %s, at %g GT/s x%" PRId64 ".",
                limit->address.v, limit->current.v->speed.v, limit->current.v->width.v) < 0 ||
            pn_set_text(&finding->advice,
                        "It matters where all ports are busy at once. A slot with more or faster "
                        "lanes would cure it; `pnhwctl pcie` shows them.") < 0)
                return -ENOMEM;
        for (unsigned i = 0; i < n; i++)
                if (add_above(facts, pn_text(&ports[i]->name), finding) < 0)
                        return -ENOMEM;
        return 0;
}

/* ---- Bonds ---- */

static const PnNic *nic_of(const PnFacts *facts, const PnBondMember *member)
{
        return pn_nic_named(facts->names, member->name.v);
}

static bool is_set_down(const PnNic *nic)
{
        return nic && nic->enabled.state == PN_KNOWN && !nic->enabled.v;
}

static const char *member_words(PnMemberState state, const PnNic *nic)
{
        switch (state) {
        case PN_MEMBER_NO_LINK:
                return is_set_down(nic) ? "is set down" : "has no link";
        case PN_MEMBER_OTHER_GROUP:
                return "is in another aggregator";
        case PN_MEMBER_NO_PARTNER:
                return "finds no LACP partner";
        case PN_MEMBER_NOT_IN_SYNC:
                return "is not in sync with its LACP partner";
        case PN_MEMBER_WORKS:
        case PN_MEMBER_UNKNOWN:
                break;
        }
        return "cannot be judged";
}

static const char *capacity_words(const PnBond *bond, unsigned working, Words buf)
{
        if (working == 0)
                return "It carries nothing.";
        if (pn_text_is(&bond->mode, "active-backup")) {
                (void)snprintf(buf, sizeof(Words),
                               working == 1 ? "There is no spare for the one that works."
                                            : "%u others work.",
                               working);
        } else {
                (void)snprintf(buf, sizeof(Words), "%u of %u members carry%s its traffic.", working,
                               bond->members.n, working == 1 ? "s" : "");
                if (working == 1)
                        (void)snprintf(buf, sizeof(Words),
                                       "One of %u members carries all of its "
                                       "traffic.",
                                       bond->members.n);
        }
        return buf;
}

/* What was found of the heat of a port's module and is not over, or over for long: some modules
 * switch themselves off, and the link that is gone is all that the kernel says of it. NULL if
 * nothing was. */
static const PnFinding *heat_of_module(const PnFacts *facts, const PnNic *nic)
{
        PnText subject = {0};
        const PnAlert *alert = NULL;
        char id[13];

        if (facts->memory && pn_finding_subject_for_nic(facts, nic, &subject) == 0) {
                pn_finding_id(PN_CODE_module_hot, subject.v, id);
                alert = pn_memory_alert(facts->memory, id);
        }
        free(subject.v);
        return alert ? alert->finding.v : NULL;
}

/* A member without a link: told about the member. */
static int member_down(PnFacts *facts, const PnNic *nic, const PnBondMember *member,
                       unsigned working)
{
        const PnNic *below = nic_of(facts, member);
        PnNic unknown = {.id = member->name, .name = member->name};
        PnFinding *finding =
            add(facts, PN_CODE_bond_member_down, "warning", below ? below : &unknown);
        const PnFinding *heat;
        Words capacity;

        if (!finding)
                return -ENOMEM;
        if (!below && add_affected(finding, nic) < 0)
                return -ENOMEM;
        if (pn_format_text(&finding->summary, "%s, a member of the bond %s, %s. %s", member->name.v,
                           nic->id.v, member_words(PN_MEMBER_NO_LINK, below),
                           capacity_words(nic->bond.v, working, capacity)) < 0)
                return -ENOMEM;
        if (is_set_down(below))
                return pn_format_text(&finding->advice,
                                      "If nobody meant to, set it up: `ip link set %s up`. Take it "
                                      "out of the bond if it is not meant to be used.",
                                      member->name.v);
        heat = below ? heat_of_module(facts, below) : NULL;
        if (heat && pn_format_text(&finding->detail, "Before that: %s", heat->summary.v) < 0)
                return -ENOMEM;
        if (!heat && below && pn_text(&below->link_reason) &&
            pn_format_text(&finding->detail, "Its driver says: %s.", below->link_reason.v) < 0)
                return -ENOMEM;
        return pn_set_text(
            &finding->advice,
            "Check cable, module and the switch's port; or take the interface out of "
            "the bond if it is not meant to be used.");
}

/* The first member that is in another aggregator for what it runs at: 802.3ad takes links of one
 * speed together, and none that is half duplex. `ret_other` has the speed of those that carry
 * traffic. NULL if there is none. */
static const PnNic *member_that_differs(const PnFacts *facts, const PnBond *bond,
                                        int64_t *ret_other)
{
        int64_t other = 0;

        for (unsigned i = 0; i < bond->members.n && !other; i++) {
                const PnNic *nic = nic_of(facts, &bond->members.v[i]);

                if (nic && pn_member_carries(bond, &bond->members.v[i]))
                        other = pn_int_or(nic->speed_mbps, 0);
        }
        for (unsigned i = 0; i < bond->members.n; i++) {
                const PnNic *nic = nic_of(facts, &bond->members.v[i]);

                if (!nic || pn_member_state(bond, &bond->members.v[i]) != PN_MEMBER_OTHER_GROUP ||
                    nic->speed_mbps.state != PN_KNOWN)
                        continue;
                *ret_other = other;
                if (pn_text_is(&nic->duplex, "half") || (other && nic->speed_mbps.v != other))
                        return nic;
        }
        return NULL;
}

static int say_what_differs(const PnNic *member, int64_t other, PnFinding *finding)
{
        bool is_half = pn_text_is(&member->duplex, "half");
        Words now, others;
        int r;

        (void)say_speed(now, member->speed_mbps.v);
        (void)say_speed(others, other);
        if (!is_half)
                r = pn_format_text(&finding->detail,
                                   "802.3ad takes only links of one speed together. %s runs at %s, "
                                   "but the members that carry traffic run at %s.",
                                   member->id.v, now, others);
        else if (other && member->speed_mbps.v != other)
                r = pn_format_text(&finding->detail,
                                   "802.3ad takes only links of one speed together, and none that "
                                   "is half duplex. %s runs at %s and half duplex, but the members "
                                   "that carry traffic run at %s.",
                                   member->id.v, now, others);
        else
                r = pn_format_text(&finding->detail,
                                   "802.3ad takes no link that is half duplex. %s runs at %s and "
                                   "half duplex.",
                                   member->id.v, now);
        if (r < 0)
                return -ENOMEM;
        return pn_format_text(&finding->advice,
                              "Let all members run at the same speed, full duplex: look at the "
                              "cable, the module and the switch's port of %s.",
                              member->id.v);
}

/* Members that have a link and carry nothing all the same, or none at all that has one: told about
 * the bond, in one finding. */
static int bond_degraded(PnFacts *facts, const PnNic *nic, unsigned working)
{
        const PnBond *bond = nic->bond.v;
        PnFinding *finding =
            add(facts, PN_CODE_bond_degraded, working ? "warning" : "critical", nic);
        _cleanup_buf_ PnBuf which = {0};
        bool no_partner = false, any_link = false;
        const PnNic *differs;
        int64_t other = 0;
        Words capacity;

        if (!finding)
                return -ENOMEM;
        for (unsigned i = 0; i < bond->members.n; i++) {
                const PnBondMember *member = &bond->members.v[i];
                PnMemberState state = pn_member_state(bond, member);

                if (state == PN_MEMBER_WORKS || state == PN_MEMBER_UNKNOWN)
                        continue;
                no_partner |= state == PN_MEMBER_NO_PARTNER;
                any_link |= state != PN_MEMBER_NO_LINK;
                pn_buf_printf(&which, "%s%s %s", which.len ? ", " : "", member->name.v,
                              member_words(state, nic_of(facts, member)));
        }
        if (which.error || pn_format_text(&finding->summary, "The bond %s is degraded: %s. %s",
                                          nic->id.v, which.data ? which.data : "it has no members",
                                          capacity_words(bond, working, capacity)) < 0)
                return -ENOMEM;
        if (!any_link || !pn_text_is(&bond->mode, "802.3ad"))
                return pn_set_text(&finding->advice,
                                   "Check cables, modules and the switch's ports of its members.");
        differs = member_that_differs(facts, bond, &other);
        if (differs)
                return say_what_differs(differs, other, finding);
        if (pn_set_text(&finding->detail,
                        "A link alone is not enough with 802.3ad: all members must reach the same "
                        "partner, and it must take them into the same aggregator.") < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice,
                           no_partner
                               ? "Turn LACP on for these ports of the switch, in one group."
                               : "Put these ports of the switch into the same LACP group; where "
                                 "they end on two switches, those must be stacked (MLAG, VPC).");
}

static int judge_bond(PnFacts *facts, const PnNic *nic)
{
        const PnBond *bond = nic->bond.v;
        unsigned working = 0, without_link = 0, apart = 0;

        if (!bond || !pn_is_true(nic->enabled) || bond->members.n == 0)
                return 0;
        for (unsigned i = 0; i < bond->members.n; i++)
                switch (pn_member_state(bond, &bond->members.v[i])) {
                case PN_MEMBER_WORKS:
                        break;
                case PN_MEMBER_NO_LINK:
                        without_link++;
                        break;
                case PN_MEMBER_UNKNOWN:
                        return 0;
                case PN_MEMBER_OTHER_GROUP:
                case PN_MEMBER_NO_PARTNER:
                case PN_MEMBER_NOT_IN_SYNC:
                        apart++;
                        break;
                }
        for (unsigned i = 0; i < bond->members.n; i++)
                working += pn_member_carries(bond, &bond->members.v[i]);
        if (apart || without_link == bond->members.n)
                return bond_degraded(facts, nic, working);
        for (unsigned i = 0; i < bond->members.n; i++)
                if (pn_member_state(bond, &bond->members.v[i]) == PN_MEMBER_NO_LINK &&
                    member_down(facts, nic, &bond->members.v[i], working) < 0)
                        return -ENOMEM;
        return 0;
}

/* ---- Modules ---- */

/* "the module of enp4s0f0 (Intel Corp E10GSFPSR, serial AD14)" */
static void name_module(const PnNic *nic, char *ret, size_t size)
{
        const PnModule *module = nic->module.v;
        const char *part = pn_text(&module->part_number), *serial = pn_text(&module->serial);

        (void)snprintf(ret, size, "the module in %s%s%.40s%s%.40s%s", nic->id.v,
                       part || serial ? " (" : "", part ? part : "",
                       serial ? part ? ", serial " : "serial " : "", serial ? serial : "",
                       part || serial ? ")" : "");
}

static int unsupported(PnFacts *facts, const PnNic *nic)
{
        bool refused = pn_text_is(&nic->link_reason, "unsupported cable");
        PnFinding *finding;
        char name[160];

        if (!refused && !pn_text_is(&nic->module.v->status, "unsupported_map"))
                return 0;
        finding = add(facts, PN_CODE_module_unsupported, refused ? "warning" : "info", nic);
        if (!finding)
                return -ENOMEM;
        name_module(nic, name, sizeof name);
        if (refused) {
                if (pn_format_text(&finding->summary, "The driver of %s refuses %s.", nic->id.v,
                                   name) < 0)
                        return -ENOMEM;
                return pn_set_text(&finding->advice,
                                   "Put in a module or cable that the card's maker lists.");
        }
        if (pn_format_text(&finding->summary,
                           "What is plugged into %s (%s) has a kind of memory that pnhw does not "
                           "know.",
                           nic->id.v,
                           pn_text(&nic->module.v->form) ? nic->module.v->form.v : "unknown form") <
            0)
                return -ENOMEM;
        return pn_set_text(&finding->advice,
                           "It may work all the same: nothing can be said of it.");
}

static int unreadable(PnFacts *facts, const PnNic *nic)
{
        PnFinding *finding;

        if (!pn_text_is(&nic->module.v->status, "unreadable"))
                return 0;
        finding = add(facts, PN_CODE_module_unreadable, "notice", nic);
        if (!finding ||
            pn_format_text(&finding->summary, "The module in %s does not let itself be read.",
                           nic->id.v) < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice,
                           pn_is_true(nic->carrier)
                               ? "It carries traffic, so this is a nuisance rather than a fault; "
                                 "reseat it when you can."
                               : "Reseat it; if that does not help, try it in another port, and "
                                 "another one in this.");
}

static double value_or(PnReal real, double otherwise)
{
        return real.state == PN_KNOWN ? real.v : otherwise;
}

static int hot(PnFacts *facts, const PnNic *nic)
{
        const PnModuleDiagnostics *diagnostics = nic->module.v->diagnostics.v;
        const PnModuleThresholds *thresholds = diagnostics->thresholds.v;
        const PnModuleLimits *limits = thresholds ? thresholds->temperature.v : NULL;
        double warning = limits ? value_or(limits->high_warning, HOT_C) : HOT_C;
        double alarm = limits ? value_or(limits->high_alarm, VERY_HOT_C) : VERY_HOT_C;
        double now = diagnostics->temperature_c.v;
        PnFinding *finding;
        char name[160];

        /* Limits that could not be read may be lower, or higher: no telling. */
        if (diagnostics->temperature_c.state != PN_KNOWN || now < warning || now > IMPOSSIBLE_C ||
            pn_is_unread(diagnostics->thresholds.state) ||
            (thresholds && pn_is_unread(thresholds->temperature.state)))
                return 0;
        finding = add(facts, PN_CODE_module_hot, now >= alarm ? "critical" : "warning", nic);
        if (!finding)
                return -ENOMEM;
        name_module(nic, name, sizeof name);
        if (pn_format_text(&finding->summary, "It is %.0f °C in %s; %s warns from %g °C on.", now,
                           name, limits ? "it" : "one of its kind", warning) < 0 ||
            pn_format_text(&finding->detail,
                           "From %g °C on %s switch themselves off, which looks like a cable that "
                           "was pulled.",
                           alarm, limits ? "such modules may" : "many") < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice,
                           "Give the card a stream of air, leave the next cage free, and check the "
                           "fans. 10GBASE-T modules are the hottest: a direct attach cable does "
                           "the same with a tenth of the heat.");
}

static bool is_dark(PnReal mw)
{
        return mw.state == PN_KNOWN && mw.v <= DARK_MW;
}

static const PnModuleLimits *usable_limits(const PnModuleLimits *limits)
{
        return limits && limits->low_warning.state == PN_KNOWN &&
                       limits->low_alarm.state == PN_KNOWN
                   ? limits
                   : NULL;
}

static void say_level(Words buf, PnReal dbm, PnReal mw)
{
        if (dbm.state == PN_KNOWN)
                (void)snprintf(buf, sizeof(Words), "%.2f dBm", dbm.v);
        else
                (void)snprintf(buf, sizeof(Words), "%g mW", value_or(mw, 0));
}

/* No lane has light, or some have none: then it is these fibres. */
static int dark(PnFacts *facts, const PnNic *nic, unsigned n_dark)
{
        const PnModuleDiagnostics *diagnostics = nic->module.v->diagnostics.v;
        PnFinding *finding = add(facts, PN_CODE_module_power_low, "warning", nic);
        _cleanup_buf_ PnBuf lanes = {0};

        for (unsigned i = 0; n_dark < diagnostics->lanes.n && i < diagnostics->lanes.n; i++)
                if (is_dark(diagnostics->lanes.v[i].rx_power_mw))
                        pn_buf_printf(&lanes, "%s%u",
                                      lanes.len     ? ", "
                                      : n_dark == 1 ? " on lane "
                                                    : " on lanes ",
                                      i + 1);
        if (!finding || lanes.error ||
            pn_format_text(&finding->summary,
                           "No light reaches %s%s, which had a link before: the fibre is dark.",
                           nic->id.v, lanes.len ? lanes.data : "") < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice,
                           "The fibre is unplugged or broken, or the other end is off or sends "
                           "nothing. Check both plugs, and the module and port at the other end.");
}

static int weak(PnFacts *facts, const PnNic *nic, unsigned lane, const PnModuleLane *reading,
                const PnModuleLimits *limits)
{
        bool below_alarm = reading->rx_power_mw.v < limits->low_alarm.v;
        PnFinding *finding =
            add(facts, PN_CODE_module_power_low, below_alarm ? "warning" : "notice", nic);
        char which[32] = "";
        Words level;

        say_level(level, reading->rx_power_dbm, reading->rx_power_mw);
        if (nic->module.v->diagnostics.v->lanes.n > 1)
                (void)snprintf(which, sizeof which, " on lane %u", lane + 1);
        if (!finding ||
            pn_format_text(&finding->summary,
                           "Little light reaches %s%s: %s; its module warns below %.2f dBm.",
                           nic->id.v, which, level, pn_decibel(limits->low_warning.v)) < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice,
                           "Clean both plugs, and look for a fibre that is bent, too long, or of "
                           "the wrong kind (single-mode against multi-mode).");
}

static int weak_laser(PnFacts *facts, const PnNic *nic, unsigned lane, const PnModuleLane *reading)
{
        PnFinding *finding = add(facts, PN_CODE_module_power_low, "warning", nic);
        char which[32] = "", name[160];
        Words level;

        if (!finding)
                return -ENOMEM;
        name_module(nic, name, sizeof name);
        say_level(level, reading->tx_power_dbm, reading->tx_power_mw);
        if (nic->module.v->diagnostics.v->lanes.n > 1)
                (void)snprintf(which, sizeof which, " on lane %u", lane + 1);
        if (pn_format_text(&finding->summary, "The laser of %s fails%s: it sends %s.", name, which,
                           level) < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice, "Replace the module.");
}

/* One finding a module: the worst of its lanes. A module in a port that nobody uses is left alone:
 * many have a spare one plugged in. */
static int power_low(PnFacts *facts, const PnNic *nic)
{
        const PnModuleDiagnostics *diagnostics = nic->module.v->diagnostics.v;
        const PnModuleThresholds *thresholds = diagnostics->thresholds.v;
        const PnModuleLimits *rx = thresholds ? usable_limits(thresholds->rx_power.v) : NULL;
        const PnModuleLimits *tx = thresholds ? usable_limits(thresholds->tx_power.v) : NULL;
        bool carrier = pn_is_true(nic->carrier);
        bool had_link = pn_int_or(nic->carrier_changes, 0) >= 2;
        unsigned n = diagnostics->lanes.n, n_dark = 0, weakest = UINT32_MAX;

        if (!pn_is_true(nic->enabled) || nic->carrier.state == PN_ABSENT ||
            (nic->carrier.state == PN_KNOWN && !carrier && !had_link))
                return 0;
        for (unsigned i = 0; i < n; i++) {
                const PnModuleLane *lane = &diagnostics->lanes.v[i];

                n_dark += is_dark(lane->rx_power_mw);
                if (rx && lane->rx_power_mw.state == PN_KNOWN && !is_dark(lane->rx_power_mw) &&
                    lane->rx_power_mw.v < rx->low_warning.v &&
                    (weakest == UINT32_MAX ||
                     lane->rx_power_mw.v < diagnostics->lanes.v[weakest].rx_power_mw.v))
                        weakest = i;
        }
        /* With a link, lanes without light are not in use. */
        if (n_dark && nic->carrier.state == PN_KNOWN && !carrier)
                return dark(facts, nic, n_dark);
        if (n && n_dark == n)
                return 0;
        /* No light sent by no current, and yet a link: that is not measured. */
        for (unsigned i = 0; carrier && tx && i < n; i++)
                if (diagnostics->lanes.v[i].tx_power_mw.state == PN_KNOWN &&
                    diagnostics->lanes.v[i].tx_power_mw.v < tx->low_alarm.v &&
                    (diagnostics->lanes.v[i].tx_power_mw.v > 0 ||
                     value_or(diagnostics->lanes.v[i].bias_ma, 1) > 0))
                        return weak_laser(facts, nic, i, &diagnostics->lanes.v[i]);
        if (weakest != UINT32_MAX)
                return weak(facts, nic, weakest, &diagnostics->lanes.v[weakest], rx);
        return 0;
}

/* Beyond an alarm limit, by the reading: what the module flags it may have flagged long ago. From
 * `most` on it is no reading. */
static bool is_beyond(PnReal reading, const PnModuleLimits *limits, bool high_only, double most)
{
        if (reading.state != PN_KNOWN || !limits || reading.v >= most)
                return false;
        return (limits->high_alarm.state == PN_KNOWN && reading.v > limits->high_alarm.v) ||
               (!high_only && limits->low_alarm.state == PN_KNOWN &&
                reading.v < limits->low_alarm.v);
}

/* On all lanes: a transmitter with a fault sends none. */
static bool sends_light(const PnModuleDiagnostics *diagnostics)
{
        for (unsigned i = 0; i < diagnostics->lanes.n; i++)
                if (value_or(diagnostics->lanes.v[i].tx_power_mw, 0) <= DARK_MW)
                        return false;
        return diagnostics->lanes.n > 0;
}

static int beyond_limits(PnFacts *facts, const PnNic *nic)
{
        const PnModuleDiagnostics *diagnostics = nic->module.v->diagnostics.v;
        const PnModuleThresholds *thresholds = diagnostics->thresholds.v;
        _cleanup_buf_ PnBuf what = {0};
        PnFinding *finding;
        char name[160];

        for (unsigned i = 0; i < diagnostics->flags.n; i++)
                if (pn_startswith(diagnostics->flags.v[i], "tx_fault") &&
                    !(pn_is_true(nic->carrier) && sends_light(diagnostics)))
                        pn_buf_printf(&what, "%s%s", what.len ? ", " : "", "transmitter fault");
        if (thresholds && value_or(diagnostics->voltage_v, 0) >= LEAST_V &&
            is_beyond(diagnostics->voltage_v, thresholds->voltage.v, false, MOST_V))
                pn_buf_printf(&what, "%s%.2f V", what.len ? ", " : "", diagnostics->voltage_v.v);
        for (unsigned i = 0; thresholds && i < diagnostics->lanes.n; i++) {
                const PnModuleLane *lane = &diagnostics->lanes.v[i];
                Words level;

                if (is_beyond(lane->rx_power_mw, thresholds->rx_power.v, true, MOST_MW)) {
                        say_level(level, lane->rx_power_dbm, lane->rx_power_mw);
                        pn_buf_printf(&what, "%stoo much light received (%s)", what.len ? ", " : "",
                                      level);
                }
                if (is_beyond(lane->tx_power_mw, thresholds->tx_power.v, true, MOST_MW)) {
                        say_level(level, lane->tx_power_dbm, lane->tx_power_mw);
                        pn_buf_printf(&what, "%stoo much light sent (%s)", what.len ? ", " : "",
                                      level);
                }
                if (pn_is_true(nic->carrier) &&
                    is_beyond(lane->bias_ma, thresholds->bias.v, true, MOST_MA))
                        pn_buf_printf(&what, "%slaser current %.1f mA", what.len ? ", " : "",
                                      lane->bias_ma.v);
        }
        if (what.error)
                return what.error;
        if (!what.len)
                return 0;
        finding = add(facts, PN_CODE_module_alarm, "warning", nic);
        if (!finding)
                return -ENOMEM;
        name_module(nic, name, sizeof name);
        if (pn_format_text(&finding->summary, "Beyond the limits of %s: %s.", name, what.data) < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice,
                           "`pnhwctl show` has each reading and its limits. Too much light needs "
                           "an attenuator or a module for shorter distances; a rising current or a "
                           "fault a new module.");
}

/* What a module measured before may still be so. */
static int hold_module(PnFacts *facts, const PnNic *nic)
{
        static const PnCode codes[] = {PN_CODE_module_hot, PN_CODE_module_power_low,
                                       PN_CODE_module_alarm};

        for (size_t i = 0; i < PN_ELEMENTS(codes); i++)
                if (pn_finding_hold_for_nic(facts, codes[i], nic) < 0)
                        return -ENOMEM;
        return 0;
}

static int judge_module(PnFacts *facts, const PnNic *nic)
{
        static int (*const rules[])(PnFacts *, const PnNic *) = {unsupported, unreadable};
        static int (*const diagnostics_rules[])(PnFacts *, const PnNic *) = {hot, power_low,
                                                                             beyond_limits};

        if (!nic->module.v)
                return pn_is_unread(nic->module.state) ? hold_module(facts, nic) : 0;
        if (!nic->module.v->diagnostics.v && !pn_text_is(&nic->module.v->status, "none") &&
            hold_module(facts, nic) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < PN_ELEMENTS(rules); i++)
                if (rules[i](facts, nic) < 0)
                        return -ENOMEM;
        for (size_t i = 0; nic->module.v->diagnostics.v && i < PN_ELEMENTS(diagnostics_rules); i++)
                if (diagnostics_rules[i](facts, nic) < 0)
                        return -ENOMEM;
        return 0;
}

int pn_rules_nic(PnFacts *facts)
{
        for (unsigned i = 0; i < facts->ports->n; i++)
                if (judge_port(facts, &facts->ports->v[i]) < 0)
                        return -ENOMEM;
        for (unsigned i = 0; i < facts->ratings->n; i++)
                if (pcie_short(facts, &facts->ratings->v[i]) < 0)
                        return -ENOMEM;
        for (unsigned i = 0; i < facts->inventory->nics.n; i++) {
                const PnNic *nic = &facts->inventory->nics.v[i];

                if (judge_bond(facts, nic) < 0 || judge_module(facts, nic) < 0)
                        return -ENOMEM;
        }
        return 0;
}
