/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rules: what is a finding, and the words for it. Pure functions of the facts; a value that
 * could not be read never makes a finding and never hides one. */

#include "rules.h"
#include "learn.h"

#include <inttypes.h>
#include <stdio.h>

#include "pcie.h"
#include "when.h"

/* Words for one rating, made once and used in its sentences. */
typedef struct Words {
        char name[80];                         /* "nvme3", or the address */
        const char *noun;                      /* "drive" */
        char slot[80];                         /* " in slot PCIEX1_1", or nothing */
        char current[24], rated[24], best[24]; /* "16 GT/s x4" */
        int64_t lost;                          /* percent of best */
} Words;

static const char *noun_for(const PnFacts *facts, const PnRating *rating)
{
        static const struct {
                const char *kind, *noun;
        } nouns[] = {
            {"nvme", "drive"},
            {"network", "network card"},
            {"display", "graphics card"},
            {"storage", "storage controller"},
            {"switch", "switch"},
        };
        /* PCI Code and ID Assignment Specification, of what else is met behind a link. */
        static const struct {
                const char *class, *noun;
        } classes[] = {
            {"0x0403", "sound device"},   {"0x04", "multimedia device"},
            {"0x0805", "card reader"},    {"0x0c00", "FireWire controller"},
            {"0x0c03", "USB controller"}, {"0x0c0a", "CXL device"},
            {"0x0d", "wireless card"},    {"0x10", "encryption device"},
            {"0x12", "accelerator"},
        };
        uint32_t at = pn_topology_find(facts->topology, rating->address.v);
        const char *class = at == PN_NOBODY ? NULL : pn_text(&facts->topology->v[at].pci->class);

        for (size_t i = 0; i < PN_ELEMENTS(nouns); i++)
                if (pn_text_is(&rating->kind, nouns[i].kind))
                        return nouns[i].noun;
        for (size_t i = 0; class && i < PN_ELEMENTS(classes); i++)
                if (pn_startswith(class, classes[i].class))
                        return classes[i].noun;
        return "device";
}

static void write_rate(const PnLinkRate *rate, char *ret, size_t size)
{
        if (rate)
                (void)snprintf(ret, size, "%g GT/s x%" PRId64, rate->speed.v, rate->width.v);
        else
                (void)snprintf(ret, size, "unknown");
}

/* Gigabytes a second as the client's tables show them: two digits below 1. */
typedef char Amount[16];

/* What a link did once. */
typedef char Once[96];

static const char *gigabytes(Amount amount, uint64_t mbps)
{
        double v = (double)mbps / 8000;

        (void)snprintf(amount, sizeof(Amount), "%.*f", v < 1 ? 2 : 1, v);
        return amount;
}

static const char *rate_gigabytes(Amount amount, const PnLinkRate *rate)
{
        return gigabytes(amount, rate ? (uint64_t)rate->bandwidth.v : 0);
}

/* The function after `node` on a walk through all below `top`, parents before their children. */
static uint32_t next_below(const PnTopology *topology, uint32_t top, uint32_t node)
{
        if (topology->v[node].first_child != PN_NOBODY)
                return topology->v[node].first_child;
        while (node != top && topology->v[node].next_sibling == PN_NOBODY)
                node = topology->v[node].parent;
        return node == top ? PN_NOBODY : topology->v[node].next_sibling;
}

/* Whether a switch is a part of a graphics card (case 004): the display is below it, in the same
 * slot. */
static bool is_on_graphics_card(const PnFacts *facts, const PnRating *rating)
{
        const PnTopology *topology = facts->topology;
        uint32_t top = pn_topology_find(topology, rating->address.v);

        if (top == PN_NOBODY || !pn_text(&rating->slot))
                return false;
        for (uint32_t node = next_below(topology, top, top); node != PN_NOBODY;
             node = next_below(topology, top, node)) {
                const PnPci *pci = topology->v[node].pci;

                if (pn_text(&pci->class) && pn_startswith(pci->class.v, "0x03") &&
                    pn_text_is(&pci->slot, rating->slot.v))
                        return true;
        }
        return false;
}

static Words words_for(const PnFacts *facts, const PnRating *rating)
{
        Words words = {.noun = noun_for(facts, rating)};
        const char *name = pn_text(&rating->name), *slot = pn_text(&rating->slot);

        /* What sits in a slot and has a switch is a card, and so is it called. */
        if (slot && pn_text_is(&rating->kind, "switch"))
                words.noun = is_on_graphics_card(facts, rating) ? "graphics card" : "card";
        if (name)
                (void)snprintf(words.name, sizeof words.name, "%s", name);
        else
                (void)snprintf(words.name, sizeof words.name, "%s %s", words.noun,
                               rating->address.v);
        if (slot)
                (void)snprintf(words.slot, sizeof words.slot, " in slot %s", slot);
        write_rate(rating->current.v, words.current, sizeof words.current);
        write_rate(rating->rated.v, words.rated, sizeof words.rated);
        write_rate(rating->best.v, words.best, sizeof words.best);
        words.lost = 100 - pn_int_or(rating->percent, 100);
        return words;
}

/* What reaches the device in Mb/s: its own link, or the narrowest above it. */
static uint64_t effective(const PnFacts *facts, const PnRating *rating)
{
        const PnRating *limit = pn_rating_at(facts->ratings, pn_text(&rating->limit));

        if (!limit || limit->current.state != PN_KNOWN)
                return 0;
        return (uint64_t)limit->current.v->bandwidth.v;
}

static const PnNvme *drive_named(const PnFacts *facts, const PnRating *rating)
{
        return pn_drive_named(facts->names, pn_text(&rating->name));
}

/* Whether the link is as the administrator says that it is meant to be: then it is a note. */
static bool is_expected(const PnFacts *facts, const PnRating *rating)
{
        const PnNvme *drive = drive_named(facts, rating);
        const char *const names[] = {pn_text(&rating->name), rating->address.v,
                                     drive ? pn_text(&drive->serial) : NULL};
        const PnExpectedLink *link = pn_policy_link(facts->policy, names, PN_ELEMENTS(names));
        const PnLinkRate *now = rating->current.v;

        return link && now && now->speed.state == PN_KNOWN && now->width.state == PN_KNOWN &&
               now->speed.v >= link->speed && now->width.v >= link->width;
}

static PnFinding *add_for(PnFacts *facts, const PnRating *rating, PnCode code, const char *severity)
{
        PnFinding *finding = pn_finding_add(facts, code, severity, drive_named(facts, rating),
                                            rating->address.v, NULL);

        if (finding && pn_text(&rating->name) && pn_set_text(&finding->device, rating->name.v) < 0)
                return NULL;
        if (finding && is_expected(facts, rating) && pn_set_text(&finding->severity, "info") < 0)
                return NULL;
        for (unsigned i = 0; finding && i < rating->affects.n; i++)
                if (pn_texts_append(&finding->affects, rating->affects.v[i]) < 0)
                        return NULL;
        return finding;
}

static int advise_degraded(const PnRating *rating, const Words *words, PnText *ret)
{
        const char *port = pn_text(&rating->port);

        if (pn_text_is(&rating->reason, "target_speed"))
                return pn_format_text(
                    ret,
                    "Port %s is set to go no faster. Set the link speed of this slot to Auto "
                    "in the firmware setup; if it is, look for a tool or boot script that "
                    "sets LNKCTL2 of the port.",
                    port);
        if (pn_text_is(&rating->reason, "speed"))
                return pn_format_text(
                    ret,
                    "All lanes work, but not at full speed: a marginal connection. Power off, "
                    "reseat the %s, replace a riser, adapter or cable by one made for %g "
                    "GT/s, and check that the firmware setup does not limit the slot's speed.",
                    words->noun, rating->rated.v->speed.v);
        return pn_format_text(ret,
                              "Lanes are missing: power off, reseat the %s and any riser or "
                              "adapter, clean the contacts, and check how the firmware setup "
                              "splits (bifurcates) the lanes of this slot.",
                              words->noun);
}

static const char *label(const PnRating *rating)
{
        return pn_text(&rating->name) ? rating->name.v : rating->address.v;
}

static int compare_pointers(const void *a, const void *b)
{
        const PnRating *const *one = a, *const *other = b;

        return (*one > *other) - (*one < *other);
}

/* Devices behind a link that is itself the fault or the limit belong to its finding, in the order
 * of their addresses. */
static int add_devices_behind(const PnFacts *facts, const PnRating *uplink, PnFinding *finding)
{
        uint32_t top = pn_topology_find(facts->topology, uplink->address.v);
        _cleanup_free_ const PnRating **behind = NULL;
        PnIndex told = {0};
        unsigned n = 0;
        int r;

        if (top == PN_NOBODY || facts->topology->v[top].first_child == PN_NOBODY)
                return 0; /* most links end at a device */
        behind = calloc((size_t)facts->ratings->n + 1, sizeof *behind);
        if (!behind)
                return -ENOMEM;
        for (uint32_t node = next_below(facts->topology, top, top);
             node != PN_NOBODY && n < facts->ratings->n;
             node = next_below(facts->topology, top, node)) {
                const PnRating *rating =
                    pn_rating_at(facts->ratings, pn_text(&facts->topology->v[node].pci->address));

                if (rating && rating != uplink && !pn_text_is(&rating->kind, "switch"))
                        behind[n++] = rating;
        }
        qsort(behind, n, sizeof *behind, compare_pointers);
        r = pn_index_init(&told, n + finding->affects.n);
        for (unsigned i = 0; r == 0 && i < finding->affects.n; i++)
                pn_index_add(&told, finding->affects.v[i], finding);
        for (unsigned i = 0; r == 0 && i < n; i++)
                pn_index_add(&told, label(behind[i]), behind[i]);
        if (r == 0)
                pn_index_sort(&told);
        for (unsigned i = 0; r == 0 && i < n; i++)
                if (pn_index_find(&told, label(behind[i]), NULL) == behind[i] &&
                    (i == 0 || behind[i] != behind[i - 1]))
                        r = pn_texts_append(&finding->affects, label(behind[i]));
        pn_index_done(&told);
        return r;
}

/* What a link carries for its fault: where lanes are missing, at the speed that it can do, since a
 * graphics device's speed is low only because it has nothing to do. */
static uint64_t carries(const PnRating *rating)
{
        const PnLinkRate *now = rating->current.v;

        if (pn_text_is(&rating->reason, "width"))
                return pn_pcie_bandwidth(pn_pcie_generation(rating->rated.v->speed.v),
                                         (unsigned)now->width.v);
        return (uint64_t)now->bandwidth.v;
}

/* What the link did here once, if that is clearly more than now. */
static const PnBest *once_better(const PnFacts *facts, const PnRating *rating)
{
        const PnBest *best = pn_best_of_link(facts, rating);

        return best && best->value.v >
                           rating->current.v->bandwidth.v + rating->current.v->bandwidth.v / 50
                   ? best
                   : NULL;
}

/* " It ran at 16 GT/s x4 until 2026-01-02.", or nothing. */
static const char *say_once(const PnFacts *facts, const PnRating *rating, Once once)
{
        const PnBest *best = once_better(facts, rating);
        PnWhen when;

        once[0] = '\0';
        if (best)
                (void)snprintf(once, sizeof(Once), " It ran at %g GT/s x%" PRId64 " here until %s.",
                               best->speed.v, best->width.v, pn_when_date(when, best->last.v));
        return once;
}

static int degraded(PnFacts *facts, const PnRating *rating)
{
        Words words = words_for(facts, rating);
        Once once;
        uint64_t now = carries(rating), rated = (uint64_t)rating->rated.v->bandwidth.v;
        PnFinding *finding =
            add_for(facts, rating, PN_CODE_pcie_degraded, now * 4 < rated ? "critical" : "warning");

        if (!finding)
                return -ENOMEM;
        if (pn_text_is(&rating->reason, "width")) {
                if (pn_format_text(&finding->summary,
                                   "%s%s uses %" PRId64 " of %" PRId64
                                   " lanes that both ends of the link have. %" PRIu64
                                   " %% lost (%s of %s GB/s).",
                                   words.name, words.slot, rating->current.v->width.v,
                                   rating->rated.v->width.v, (rated - now) * 100 / rated,
                                   gigabytes((Amount){0}, now), gigabytes((Amount){0}, rated)) < 0)
                        return -ENOMEM;
        } else if (pn_format_text(&finding->summary,
                                  "%s%s runs at %s although both ends of the link can do %s. "
                                  "%" PRIu64 " %% lost (%s of %s GB/s).",
                                  words.name, words.slot, words.current, words.rated,
                                  (rated - now) * 100 / rated, gigabytes((Amount){0}, now),
                                  gigabytes((Amount){0}, rated)) < 0) {
                return -ENOMEM;
        }
        finding->extent = pn_int((int64_t)((rated - now) * 100 / rated));
        if (pn_format_text(&finding->detail,
                           "The link to port %s runs at %s and is rated for %s: a fault, not a "
                           "limit of the slot.%s",
                           rating->port.v, words.current, words.rated,
                           say_once(facts, rating, once)) < 0 ||
            advise_degraded(rating, &words, &finding->advice) < 0)
                return -ENOMEM;
        return add_devices_behind(facts, rating, finding);
}

/* A link that its ends can do no better now, and once did: an end has lost lanes or speed, or the
 * firmware was set to give it less. */
static int fell_back(PnFacts *facts, const PnRating *rating)
{
        const PnBest *best = once_better(facts, rating);
        int64_t now = rating->current.v->bandwidth.v;
        Words words = words_for(facts, rating);
        PnFinding *finding = add_for(facts, rating, PN_CODE_pcie_degraded, "warning");
        PnWhen when;

        if (!finding)
                return -ENOMEM;
        finding->extent = pn_int((best->value.v - now) * 100 / best->value.v);
        if (pn_format_text(&finding->summary,
                           "%s%s runs at %s; until %s it ran at %g GT/s x%" PRId64 " here. %" PRId64
                           " %% lost (%s of %s GB/s).",
                           words.name, words.slot, words.current, pn_when_date(when, best->last.v),
                           best->speed.v, best->width.v, finding->extent.v,
                           gigabytes((Amount){0}, (uint64_t)now),
                           gigabytes((Amount){0}, (uint64_t)best->value.v)) < 0 ||
            pn_format_text(&finding->detail,
                           "The link's ends now say that %s is all they have in common: lanes or "
                           "speed that were there are no longer offered.",
                           words.rated) < 0)
                return -ENOMEM;
        if (pn_format_text(&finding->advice,
                           "If nobody changed the firmware setup (bifurcation, link speed) or what "
                           "else is plugged in: power off, reseat the %s and any riser or adapter, "
                           "and clean the contacts.",
                           words.noun) < 0)
                return -ENOMEM;
        return add_devices_behind(facts, rating, finding);
}

/* Whether what a device hangs on is a card with a switch, which is what sits in the slot. */
static bool sits_on_card(const PnFacts *facts, const PnRating *rating)
{
        uint32_t port = pn_topology_find(facts->topology, pn_text(&rating->port));
        uint32_t above = port == PN_NOBODY ? PN_NOBODY : facts->topology->v[port].parent;

        return above != PN_NOBODY && rating->slot.state == PN_KNOWN &&
               pn_text_is(&facts->topology->v[above].pci->slot, rating->slot.v);
}

/* "has 1 lane; the drive could use 4" */
static int say_limit(const PnFacts *facts, const PnRating *rating, const Words *words, PnText *ret)
{
        const PnLinkRate *rated = rating->rated.v, *best = rating->best.v;
        bool slow = rated->speed.v < best->speed.v, narrow = rated->width.v < best->width.v;
        char place[112];

        if (rating->slot.state == PN_KNOWN && sits_on_card(facts, rating))
                (void)snprintf(place, sizeof place, "the card in slot %s", rating->slot.v);
        else if (rating->slot.state == PN_KNOWN)
                (void)snprintf(place, sizeof place, "slot %s", rating->slot.v);
        else
                (void)snprintf(place, sizeof place, "its port %s", rating->port.v);
        if (narrow && !slow)
                return pn_format_text(ret,
                                      "%s: %s has %" PRId64 " lane%s; the %s could use %" PRId64
                                      ". %" PRId64 " %% lost (%s of %s GB/s).",
                                      words->name, place, rated->width.v,
                                      rated->width.v == 1 ? "" : "s", words->noun, best->width.v,
                                      words->lost, gigabytes((Amount){0}, effective(facts, rating)),
                                      rate_gigabytes((Amount){0}, best));
        if (slow && !narrow)
                return pn_format_text(ret,
                                      "%s: %s offers %g GT/s at most; the %s could run at %g "
                                      "GT/s. %" PRId64 " %% lost (%s of %s GB/s).",
                                      words->name, place, rated->speed.v, words->noun,
                                      best->speed.v, words->lost,
                                      gigabytes((Amount){0}, effective(facts, rating)),
                                      rate_gigabytes((Amount){0}, best));
        return pn_format_text(ret,
                              "%s: %s offers %s at most; the %s could run at %s. %" PRId64
                              " %% lost (%s of %s GB/s).",
                              words->name, place, words->rated, words->noun, words->best,
                              words->lost, gigabytes((Amount){0}, effective(facts, rating)),
                              rate_gigabytes((Amount){0}, best));
}

/* Only what sits in a slot can be moved: a chip on the board cannot. */
static bool can_be_moved(const PnFacts *facts, const PnRating *rating)
{
        uint32_t port = pn_topology_find(facts->topology, pn_text(&rating->port));

        return pn_text_is(&rating->kind, "nvme") || rating->slot.state == PN_KNOWN ||
               (port != PN_NOBODY && pn_is_true(facts->topology->v[port].pci->slot_implemented));
}

static bool sits_in_m2(const PnFacts *facts, const PnRating *rating)
{
        const PnSlot *slot =
            pn_index_find(&facts->names->slots_by_name, pn_text(&rating->slot), NULL);

        return slot && slot->type.state == PN_KNOWN && strstr(slot->type.v, "M.2");
}

static int advise_move(PnFacts *facts, const PnRating *rating, const Words *words,
                       PnFinding *finding)
{
        PnText *ret = &finding->advice;
        uint64_t gets = 0;
        const PnPlace *place =
            can_be_moved(facts, rating)
                ? pn_places_take(&facts->places, rating->best.v, pn_text_is(&rating->kind, "nvme"),
                                 effective(facts, rating), &gets)
                : NULL;
        const char *adapter = "";

        if (!can_be_moved(facts, rating))
                return pn_format_text(ret,
                                      "A limit of the board's design: there is nothing to do.");
        if (!place)
                return pn_format_text(ret,
                                      "A limit of the design, not a fault. No free place is known "
                                      "that would give this %s more.",
                                      words->noun);
        if (pn_set_text(&finding->place, place->address ? place->address : place->name) < 0)
                return -ENOMEM;
        if (sits_in_m2(facts, rating) && !place->is_m2)
                adapter = " (with an M.2 adapter card)";
        return pn_format_text(
            ret, "Move it to %s%s%s: %s, %g GT/s x%u, it would get %s GB/s there.",
            place->address && strcmp(place->name, place->address) == 0 ? "the slot behind port "
                                                                       : "",
            place->name, adapter, place->is_listed ? "free, says the firmware" : "free",
            pn_pcie_gts(place->gen), place->width, gigabytes((Amount){0}, gets));
}

static int slot_limited(PnFacts *facts, const PnRating *rating)
{
        Words words = words_for(facts, rating);
        PnFinding *finding = add_for(facts, rating, PN_CODE_pcie_slot_limited, "notice");

        if (finding)
                finding->extent = pn_int(words.lost);
        if (!finding || say_limit(facts, rating, &words, &finding->summary) < 0 ||
            pn_format_text(&finding->detail,
                           "The link runs at %s, which is all that port %s and the %s have in "
                           "common; in an ideal slot the %s would run at %s.",
                           words.current, rating->port.v, words.noun, words.noun, words.best) < 0 ||
            advise_move(facts, rating, &words, finding) < 0)
                return -ENOMEM;
        return pn_text_is(&rating->kind, "switch") ? add_devices_behind(facts, rating, finding) : 0;
}

/* An idle link's speed says nothing, but what its two ends could do together does: a graphics card
 * in a slot that holds it back is told whether it works at the moment or not. */
static int idle(PnFacts *facts, const PnRating *rating)
{
        if (rating->rated.state != PN_KNOWN || rating->best.state != PN_KNOWN ||
            rating->rated.v->bandwidth.v >= rating->best.v->bandwidth.v)
                return 0;
        return slot_limited(facts, rating);
}

static int path_limited(PnFacts *facts, const PnRating *rating)
{
        const PnRating *limit = pn_rating_at(facts->ratings, pn_text(&rating->limit));
        Words words = words_for(facts, rating);
        PnFinding *finding;
        char above[24];

        if (!limit || limit->current.state != PN_KNOWN)
                return 0;
        /* A limiting hop that has a finding of its own lists this device there. */
        if (pn_text_is(&limit->verdict, "degraded") || pn_text_is(&limit->verdict, "slot_limited"))
                return 0;
        /* Nobody can do anything about a chip on the board that sits behind the chipset. */
        finding = add_for(facts, rating, PN_CODE_pcie_path_limited,
                          can_be_moved(facts, rating) ? "notice" : "info");
        if (!finding)
                return -ENOMEM;
        finding->extent = pn_int(words.lost);
        write_rate(limit->current.v, above, sizeof above);
        if (pn_format_text(&finding->summary,
                           "%s%s runs at its best, but the link above it at %s carries only %s. "
                           "%" PRId64 " %% lost (%s of %s GB/s).",
                           words.name, words.slot, limit->address.v, above, words.lost,
                           gigabytes((Amount){0}, effective(facts, rating)),
                           rate_gigabytes((Amount){0}, rating->best.v)) < 0 ||
            pn_format_text(&finding->detail,
                           "The %s's own link runs at %s; everything it sends goes through %s.",
                           words.noun, words.current, limit->address.v) < 0)
                return -ENOMEM;
        return advise_move(facts, rating, &words, finding);
}

/* Drives first, then by loss: in this order findings are told and free slots are given away. */
typedef struct Loss {
        const PnRating *rating;
        uint64_t mbps;
} Loss;

static int compare_loss(const void *a, const void *b)
{
        const Loss *one = a, *other = b;

        if (pn_text_is(&one->rating->kind, "nvme") != pn_text_is(&other->rating->kind, "nvme"))
                return pn_text_is(&one->rating->kind, "nvme") ? -1 : 1;
        if (one->mbps != other->mbps)
                return one->mbps > other->mbps ? -1 : 1;
        return strcmp(one->rating->address.v, other->rating->address.v);
}

static uint64_t loss(const PnFacts *facts, const PnRating *rating)
{
        uint64_t best, gets = effective(facts, rating);

        if (rating->best.state != PN_KNOWN)
                return 0;
        best = (uint64_t)rating->best.v->bandwidth.v;
        return best > gets ? best - gets : 0;
}

/* Whether what the link was found to be is neither confirmed nor refuted by this reading. */
static bool cannot_tell(const PnRating *rating)
{
        static const char *const verdicts[] = {"idle", "asleep", "passed_through", "unknown"};

        for (size_t i = 0; i < PN_ELEMENTS(verdicts); i++)
                if (pn_text_is(&rating->verdict, verdicts[i]))
                        return true;
        return false;
}

static int hold(PnFacts *facts, const PnRating *rating)
{
        static const PnCode codes[] = {PN_CODE_pcie_degraded, PN_CODE_pcie_slot_limited,
                                       PN_CODE_pcie_path_limited};

        for (size_t i = 0; i < PN_ELEMENTS(codes); i++)
                if (pn_finding_hold(facts, codes[i], drive_named(facts, rating), rating->address.v,
                                    NULL) < 0)
                        return -ENOMEM;
        return 0;
}

int pn_rules_pcie(PnFacts *facts)
{
        static const struct {
                const char *verdict;
                int (*rule)(PnFacts *facts, const PnRating *rating);
        } rules[] = {
            {"degraded", degraded},
            {"slot_limited", slot_limited},
            {"path_limited", path_limited},
            {"idle", idle},
        };
        _cleanup_free_ Loss *order = NULL;

        order = calloc((size_t)facts->ratings->n + 1, sizeof *order);
        if (!order)
                return -ENOMEM;
        for (unsigned i = 0; i < facts->ratings->n; i++)
                order[i] = (Loss){&facts->ratings->v[i], loss(facts, &facts->ratings->v[i])};
        qsort(order, facts->ratings->n, sizeof *order, compare_loss);
        for (unsigned i = 0; i < facts->ratings->n; i++) {
                const PnRating *rating = order[i].rating;

                if (!pn_text_is(&rating->verdict, "degraded") && once_better(facts, rating)) {
                        if (fell_back(facts, rating) < 0)
                                return -ENOMEM;
                        continue;
                }
                for (size_t k = 0; k < PN_ELEMENTS(rules); k++)
                        if (pn_text_is(&rating->verdict, rules[k].verdict) &&
                            rules[k].rule(facts, rating) < 0)
                                return -ENOMEM;
                if (cannot_tell(rating) && hold(facts, rating) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int lost(PnFacts *facts, const PnNvme *drive)
{
        PnFinding *finding = pn_finding_add(facts, PN_CODE_nvme_lost, "critical", drive,
                                            pn_text(&drive->address), NULL);

        if (!finding ||
            pn_format_text(&finding->summary, "%s (%s, serial %s) was here and is gone.",
                           drive->name.v, pn_text(&drive->model) ? drive->model.v : "unknown model",
                           pn_text(&drive->serial) ? drive->serial.v : "unknown") < 0 ||
            pn_set_text(&finding->detail,
                        "The kernel no longer lists the drive: it failed, lost power, or was "
                        "taken out.") < 0)
                return -ENOMEM;
        return pn_format_text(&finding->advice,
                              "If you took it out, say so: `pnhwctl accept %s`. Else look at "
                              "`journalctl -k` for what the kernel said, check power and seating, "
                              "and have a replacement at hand.",
                              finding->id.v);
}

static int not_live(PnFacts *facts, const PnNvme *drive)
{
        bool dead = pn_text_is(&drive->state, "dead");
        PnFinding *finding =
            pn_finding_add(facts, PN_CODE_nvme_not_live, dead ? "critical" : "warning", drive,
                           pn_text(&drive->address), NULL);

        if (!finding ||
            pn_format_text(&finding->summary, "%s is not working: its state is %s.", drive->name.v,
                           drive->state.v) < 0 ||
            pn_set_text(&finding->detail,
                        "A controller that works is in state `live`; in any other, reads and "
                        "writes wait or fail.") < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice,
                           dead ? "The kernel gave it up. Look at `journalctl -k` for the reason; "
                                  "save what can be saved, reseat the drive or replace it."
                                : "A reset takes seconds. If it stays like this, look at "
                                  "`journalctl -k` for the reason.");
}

/* An NVMe function that no driver works: also what is left of a drive that the kernel gave up. */
static int no_controller(PnFacts *facts, const PnPci *pci)
{
        PnFinding *finding;

        if (pn_drive_at(facts->names, pci->address.v))
                return 0;
        finding =
            pn_finding_add(facts, PN_CODE_nvme_not_live, "warning", NULL, pci->address.v, NULL);
        if (!finding ||
            pn_format_text(&finding->summary,
                           "The drive at %s is there, but the kernel drives no controller in it.",
                           pci->address.v) < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice,
                           "Look at `journalctl -k` for why the nvme driver let go of it or never "
                           "took it; a drive that failed is seen like this.");
}

static bool did_not_answer(PnState state)
{
        return state == PN_UNREAD_TIMEOUT || state == PN_UNREAD_STUCK;
}

/* A device whose reading did not come back, in this run or since an earlier one. */
static int stuck(PnFacts *facts, const PnNvme *drive, const char *address, PnState state)
{
        PnFinding *finding =
            pn_finding_add(facts, PN_CODE_probe_stuck, "warning", drive, address, "device");

        if (!finding ||
            pn_format_text(&finding->summary, "%s does not answer: %s.",
                           drive ? drive->name.v : address,
                           state == PN_UNREAD_STUCK ? "an earlier reading has not come back"
                                                    : "reading it took too long") < 0 ||
            pn_set_text(&finding->detail,
                        "What is shown of it is what was known before; it is left alone until the "
                        "reading comes back.") < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice,
                           "Look at `journalctl -k` for what the kernel says of it. A device that "
                           "hangs often needs a power cycle, and may be failing.");
}

static int rules_of_drive(PnFacts *facts, const PnNvme *drive)
{
        if (pn_is_true(drive->lost))
                return lost(facts, drive);
        if (pn_is_unread(drive->state.state) && pn_finding_hold(facts, PN_CODE_nvme_not_live, drive,
                                                                pn_text(&drive->address), NULL) < 0)
                return -ENOMEM;
        if (did_not_answer(drive->state.state))
                return stuck(facts, drive, pn_text(&drive->address), drive->state.state);
        if (drive->state.state == PN_KNOWN && !pn_text_is(&drive->state, "live") &&
            !pn_text_is(&drive->state, "new"))
                return not_live(facts, drive);
        return 0;
}

/* Whether the nvme source was read in full: only then does a missing controller say anything. */
static bool nvme_is_fresh(const PnInventory *inventory)
{
        for (unsigned i = 0; i < inventory->sources.n; i++)
                if (pn_text_is(&inventory->sources.v[i].name, "nvme"))
                        return pn_text_is(&inventory->sources.v[i].state, "fresh");
        return false;
}

int pn_rules_nvme(PnFacts *facts)
{
        const PnInventory *inventory = facts->inventory;
        bool fresh = nvme_is_fresh(inventory);

        for (unsigned i = 0; i < inventory->nvme.n; i++)
                if (rules_of_drive(facts, &inventory->nvme.v[i]) < 0)
                        return -ENOMEM;
        for (unsigned i = 0; i < inventory->pci.n; i++) {
                const PnPci *pci = &inventory->pci.v[i];
                int r = 0;

                if (did_not_answer(pci->link.state)) {
                        const PnNvme *drive = pn_drive_at(facts->names, pci->address.v);

                        /* Not if the drive's own finding says so already. */
                        if (!drive || !did_not_answer(drive->state.state))
                                r = stuck(facts, drive, pci->address.v, pci->link.state);
                } else if (fresh && pn_text_is(&pci->class, "0x010802") &&
                           pci->driver.state == PN_ABSENT && !pn_is_true(pci->passed_through) &&
                           !pn_text_is(&pci->kind, "virtual_function") &&
                           pn_text_is(&pci->power, "active")) {
                        r = no_controller(facts, pci);
                }
                if (r < 0)
                        return r;
        }
        return 0;
}

int pn_rules_probe(PnFacts *facts)
{
        for (unsigned i = 0; i < facts->inventory->sources.n; i++) {
                const PnSource *source = &facts->inventory->sources.v[i];
                const char *reason = pn_text(&source->reason);
                char subject[96];
                PnFinding *finding;

                if (!pn_text_is(&source->state, "stale") && !pn_text_is(&source->state, "failed"))
                        continue;
                (void)snprintf(subject, sizeof subject, "source %.80s", source->name.v);
                finding =
                    pn_finding_add(facts, PN_CODE_probe_stale, "warning", NULL, NULL, subject);
                if (!finding ||
                    pn_format_text(&finding->summary, "What is shown of %s is %s: %s.",
                                   source->name.v,
                                   pn_text_is(&source->state, "stale") ? "out of date" : "missing",
                                   reason ? reason : "it could not be read") < 0 ||
                    pn_set_text(&finding->advice,
                                "`journalctl -u pnhwd` says why, and `pnhwctl --once` "
                                "reads everything anew; a device that does not answer has a "
                                "finding of its own.") < 0)
                        return -ENOMEM;
        }
        return 0;
}
