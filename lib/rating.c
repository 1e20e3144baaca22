/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rates links: compares a hop's two ends, then walks the path to the root. Knows nothing of
 * findings, wording or clocks. */

#include "rating.h"

#include <stdio.h>

#include "index.h"
#include "pcie.h"
#include "topology.h"

/* Lane rates as generations (pcie.h), 0 where unknown. */
typedef struct Rate {
        unsigned gen, width;
} Rate;

typedef enum Verdict {
        FULL,
        SLOT_LIMITED,
        DEGRADED,
        PATH_LIMITED,
        IDLE,
        ASLEEP,
        TUNNELLED,
        PASSED_THROUGH,
        UNKNOWN,
} Verdict;

static const char *const verdict_names[] = {
    [FULL] = "full",           [SLOT_LIMITED] = "slot_limited",
    [DEGRADED] = "degraded",   [PATH_LIMITED] = "path_limited",
    [IDLE] = "idle",           [ASLEEP] = "asleep",
    [TUNNELLED] = "tunnelled", [PASSED_THROUGH] = "passed_through",
    [UNKNOWN] = "unknown",
};

/* One link. Its upper end is a root port or a switch's downstream port; its lower end is every
 * function that the port leads to directly. */
typedef struct Hop {
        uint32_t port;  /* node, or PN_NOBODY where the port is hidden (a virtual machine) */
        uint32_t lower; /* node of the first function */
        uint32_t above; /* the next hop towards the root, or PN_NOBODY */
        Rate current, rated, best;
        Verdict verdict;
        const char *reason;
        uint32_t limit;    /* the narrowest hop from here to the root */
        uint64_t children; /* sum of the bandwidths of the hops that share this one */
        bool display_below;
} Hop;

typedef struct Rater {
        const PnInventory *inventory;
        PnTopology topology;
        Hop *hops;
        uint32_t n_hops;
        uint32_t *hop_of; /* node -> the hop whose lower end it is part of, or PN_NOBODY */
        PnIndex nics;     /* ports that have a name, by address */
} Rater;

static const PnPci *function_of(const Rater *rater, uint32_t node)
{
        return rater->topology.v[node].pci;
}

static unsigned known_generation(PnReal speed)
{
        return speed.state == PN_KNOWN ? pn_pcie_generation(speed.v) : 0;
}

static unsigned known_width(PnInt width)
{
        if (width.state != PN_KNOWN || width.v < 0 || width.v > 32)
                return 0;
        return pn_pcie_width_valid((unsigned)width.v) ? (unsigned)width.v : 0;
}

static Rate current_of(const PnPci *pci)
{
        if (pci->link.state != PN_KNOWN)
                return (Rate){0};
        return (Rate){known_generation(pci->link.v->current_speed),
                      known_width(pci->link.v->current_width)};
}

static Rate maximum_of(const PnPci *pci)
{
        if (pci->link.state != PN_KNOWN)
                return (Rate){0};
        return (Rate){known_generation(pci->link.v->max_speed),
                      known_width(pci->link.v->max_width)};
}

static bool rate_known(Rate rate)
{
        return rate.gen && rate.width;
}

static uint64_t bandwidth(Rate rate)
{
        return pn_pcie_bandwidth(rate.gen, rate.width);
}

static unsigned smaller(unsigned a, unsigned b)
{
        return a < b ? a : b;
}

/* Functions that can be the lower end of a link. Virtual functions have none of their own, and a
 * function without PCI Express capability below a port would not be there on a real machine. */
static bool can_have_link(const PnPci *pci)
{
        return (pci->link.state == PN_KNOWN || pn_is_unread(pci->link.state)) &&
               !pn_text_is(&pci->kind, "virtual_function") &&
               !pn_text_is(&pci->kind, "integrated") && !pn_text_is(&pci->kind, "conventional");
}

/* The port at the other end of a function's link: PN_NOBODY if it has none, or none can be seen. */
static uint32_t port_above(const Rater *rater, uint32_t node)
{
        uint32_t parent = rater->topology.v[node].parent;

        return parent != PN_NOBODY && pn_is_downward_port(function_of(rater, parent)) ? parent
                                                                                      : PN_NOBODY;
}

/* A switch's downstream port has no link to its upstream port, and a root port none to anything
 * above; every other function that has a link register but no visible port above it belongs to a
 * virtual machine, which shows the device and hides the port. */
static bool port_is_hidden(const PnPci *pci)
{
        return pn_text_is(&pci->kind, "endpoint") || pn_text_is(&pci->kind, "upstream_port");
}

static int find_hops(Rater *rater)
{
        const PnTopology *topology = &rater->topology;
        uint32_t *hop_of_port;

        rater->hops = calloc(topology->n + 1, sizeof *rater->hops);
        rater->hop_of = calloc(topology->n + 1, sizeof *rater->hop_of);
        hop_of_port = calloc(topology->n + 1, sizeof *hop_of_port);
        if (!rater->hops || !rater->hop_of || !hop_of_port) {
                free(hop_of_port);
                return -ENOMEM;
        }
        for (uint32_t i = 0; i < topology->n; i++)
                rater->hop_of[i] = hop_of_port[i] = PN_NOBODY;

        /* In the order of addresses, so that the first function found is function 0. */
        for (uint32_t i = 0; i < topology->n; i++) {
                uint32_t node = topology->order[i], port = port_above(rater, node);
                const PnPci *pci = function_of(rater, node);

                /* A function whose address is none (a damaged file) cannot be named in an
                 * answer. */
                if (!can_have_link(pci) || topology->v[node].address.domain == UINT32_MAX ||
                    (port == PN_NOBODY && !port_is_hidden(pci)))
                        continue;
                if (port != PN_NOBODY && hop_of_port[port] != PN_NOBODY) {
                        rater->hop_of[node] = hop_of_port[port];
                        continue;
                }
                rater->hops[rater->n_hops] = (Hop){.port = port, .lower = node, .above = PN_NOBODY};
                rater->hop_of[node] = rater->n_hops;
                if (port != PN_NOBODY)
                        hop_of_port[port] = rater->n_hops;
                rater->n_hops++;
        }
        free(hop_of_port);

        for (uint32_t i = 0; i < rater->n_hops; i++) {
                uint32_t node = rater->hops[i].port;

                while (node != PN_NOBODY && rater->hop_of[node] == PN_NOBODY)
                        node = topology->v[node].parent;
                rater->hops[i].above = node == PN_NOBODY ? PN_NOBODY : rater->hop_of[node];
        }
        return 0;
}

static bool is_display(const PnPci *pci)
{
        const char *class = pn_text(&pci->class);

        return class && pn_startswith(class, "0x03");
}

static void mark_displays(Rater *rater)
{
        for (uint32_t node = 0; node < rater->topology.n; node++) {
                uint32_t above = node;

                if (!is_display(function_of(rater, node)))
                        continue;
                while (above != PN_NOBODY) {
                        if (rater->hop_of[above] != PN_NOBODY)
                                rater->hops[rater->hop_of[above]].display_below = true;
                        above = rater->topology.v[above].parent;
                }
        }
}

static bool is_asleep(const PnPci *pci)
{
        return pn_text_is(&pci->power, "suspended") || pci->link.state == PN_UNREAD_ASLEEP;
}

/* What the functions at the lower end report together: each value from the first that has it. */
static void read_lower_end(const Rater *rater, uint32_t index, Rate *ret_current, Rate *ret_best,
                           bool *ret_all_passed_through, bool *ret_asleep)
{
        const Hop *hop = &rater->hops[index];
        Rate current = {0}, best = {0};
        bool all_passed_through = true, asleep = false;

        for (uint32_t node = hop->lower; node != PN_NOBODY;
             node = rater->topology.v[node].next_sibling) {
                const PnPci *pci = function_of(rater, node);
                Rate now = current_of(pci), most = maximum_of(pci);

                if (rater->hop_of[node] != index)
                        continue;
                if (!rate_known(current) && rate_known(now))
                        current = now;
                if (most.gen > best.gen)
                        best.gen = most.gen;
                if (most.width > best.width)
                        best.width = most.width;
                if (!pn_is_true(pci->passed_through))
                        all_passed_through = false;
                if (is_asleep(pci))
                        asleep = true;
        }
        *ret_current = current;
        *ret_best = best;
        *ret_all_passed_through = all_passed_through;
        *ret_asleep = asleep && !rate_known(current);
}

static const char *below_what(bool speed, bool width)
{
        return speed && width ? "both" : speed ? "speed" : width ? "width" : NULL;
}

/* LNKCTL2's target limits a link only in the port above it, and only speed. */
static bool target_explains(const Hop *hop, const PnPci *port)
{
        unsigned target =
            port->link.state == PN_KNOWN ? known_generation(port->link.v->target_speed) : 0;

        return target && target < hop->rated.gen && hop->current.gen <= target;
}

static void judge(Rater *rater, uint32_t index)
{
        Hop *hop = &rater->hops[index];
        const PnPci *port = hop->port == PN_NOBODY ? NULL : function_of(rater, hop->port);
        bool passed_through, asleep, slow, narrow, disagree = false;

        read_lower_end(rater, index, &hop->current, &hop->best, &passed_through, &asleep);
        if (port) {
                Rate most = maximum_of(port);

                Rate above = asleep || is_asleep(port) ? (Rate){0} : current_of(port);

                if (!rate_known(hop->current))
                        hop->current = above;
                disagree = rate_known(above) &&
                           (above.gen != hop->current.gen || above.width != hop->current.width);
                if (rate_known(hop->best) && rate_known(most))
                        hop->rated = (Rate){smaller(hop->best.gen, most.gen),
                                            smaller(hop->best.width, most.width)};
        }
        hop->verdict = UNKNOWN;
        if (passed_through) {
                hop->verdict = PASSED_THROUGH;
                return;
        }
        if (pn_topology_is_tunnelled(&rater->topology, hop->lower)) {
                hop->verdict = TUNNELLED;
                return;
        }
        if (asleep || (port && is_asleep(port))) {
                hop->verdict = ASLEEP;
                return;
        }
        if (!port) {
                hop->reason = "port_hidden";
                return;
        }
        if (!rate_known(hop->current) || !rate_known(hop->rated)) {
                hop->reason = rate_known(hop->best) ? "port_unread" : "device_unread";
                return;
        }
        /* A link is one thing: two ends that tell of it differently were read while it changed, or
         * one of them makes it up. Neither is a fault that anybody could be sent to. */
        if (disagree) {
                hop->reason = "ends_disagree";
                return;
        }
        if (hop->current.gen > hop->rated.gen || hop->current.width > hop->rated.width) {
                hop->reason = "above_rated";
                return;
        }
        slow = hop->current.gen < hop->rated.gen;
        narrow = hop->current.width < hop->rated.width;
        if (slow && hop->display_below) {
                /* Graphics devices lower the lane rate when they have nothing to do; that says
                 * nothing. A missing lane does. */
                if (!narrow) {
                        hop->verdict = IDLE;
                        hop->reason = "speed";
                        return;
                }
                slow = false;
        }
        if (slow || narrow) {
                hop->verdict = DEGRADED;
                hop->reason = slow && !narrow && target_explains(hop, port)
                                  ? "target_speed"
                                  : below_what(slow, narrow);
                return;
        }
        slow = hop->rated.gen < hop->best.gen;
        narrow = hop->rated.width < hop->best.width;
        hop->verdict = slow || narrow ? SLOT_LIMITED : FULL;
        hop->reason = below_what(slow, narrow);
}

/* What a hop carries when it is asked to: an idle link comes back to its rated speed. 0 where the
 * registers do not tell. */
static uint64_t usable(const Hop *hop)
{
        switch (hop->verdict) {
        case FULL:
        case SLOT_LIMITED:
        case PATH_LIMITED:
                return bandwidth(hop->current);
        case DEGRADED:
                return hop->display_below ? bandwidth((Rate){hop->rated.gen, hop->current.width})
                                          : bandwidth(hop->current);
        case IDLE:
                return bandwidth((Rate){hop->rated.gen, hop->current.width});
        case ASLEEP:
        case TUNNELLED:
        case PASSED_THROUGH:
        case UNKNOWN:
                break;
        }
        return 0;
}

static void find_limit(Rater *rater, uint32_t index)
{
        Hop *hop = &rater->hops[index];
        uint64_t least = usable(hop);

        hop->limit = index;
        if (!least)
                return;
        for (uint32_t above = hop->above; above != PN_NOBODY; above = rater->hops[above].above) {
                uint64_t carries = usable(&rater->hops[above]);

                if (carries && carries < least) {
                        least = carries;
                        hop->limit = above;
                }
        }
}

/* The nearest link above that other devices use too: the one into a switch. */
static uint32_t uplink_of(const Rater *rater, uint32_t index)
{
        uint32_t above = rater->hops[index].above;

        while (above != PN_NOBODY &&
               !pn_text_is(&function_of(rater, rater->hops[above].lower)->kind, "upstream_port"))
                above = rater->hops[above].above;
        return above;
}

/* Whether a link is one in name only: a chipset shows its own controllers (USB, SATA) behind links
 * of sixteen lanes that nobody wired, and that carry what the chipset's own link does. They sit in
 * no slot and come from its maker. What they do with it is not known, so it counts as nothing. */
static bool is_internal(const Rater *rater, uint32_t index, uint32_t uplink)
{
        const Hop *hop = &rater->hops[index];
        const PnPci *lower = function_of(rater, hop->lower);
        const PnPci *switch_ = function_of(rater, rater->hops[uplink].lower);
        uint64_t carries = usable(&rater->hops[uplink]);

        return hop->port != PN_NOBODY && carries && usable(hop) > carries &&
               function_of(rater, hop->port)->slot_implemented.state == PN_KNOWN &&
               !function_of(rater, hop->port)->slot_implemented.v &&
               switch_->vendor_id.state == PN_KNOWN &&
               pn_text_is(&lower->vendor_id, switch_->vendor_id.v) &&
               !pn_text_is(&lower->kind, "upstream_port");
}

static int set_rate(void *field, Rate rate)
{
        PnLinkRate *out;

        if (!rate_known(rate))
                return 0;
        out = pn_ref_new(field, sizeof *out);
        if (!out)
                return -ENOMEM;
        out->speed = pn_real(pn_pcie_gts(rate.gen));
        out->width = pn_int(rate.width);
        out->bandwidth = pn_int((int64_t)bandwidth(rate));
        return 0;
}

static const char *kind_of(const PnPci *pci)
{
        const char *class = pn_text(&pci->class);

        if (!class)
                return "other";
        if (pn_startswith(class, "0x0108"))
                return "nvme";
        if (pn_startswith(class, "0x01"))
                return "storage";
        if (pn_startswith(class, "0x02"))
                return "network";
        if (pn_startswith(class, "0x03"))
                return "display";
        if (pn_startswith(class, "0x0604"))
                return "switch";
        return "other";
}

/* "Advanced Micro Devices, Inc. [AMD]" is AMD to an administrator, "Intel Corporation" Intel. */
static int short_vendor(const char *vendor, char *ret, size_t size)
{
        static const char *const endings[] = {",",     " Corp",       " Inc",  " Co.",
                                              " Ltd",  " Technology", " Tech", " Semiconductor",
                                              " GmbH", " Electronics"};
        const char *open = strrchr(vendor, '['), *close = open ? strchr(open, ']') : NULL;
        size_t length = strlen(vendor);

        if (open && close && close > open + 1)
                return snprintf(ret, size, "%.*s", (int)(close - open - 1), open + 1);
        for (size_t i = 0; i < PN_ELEMENTS(endings); i++) {
                const char *end = strstr(vendor, endings[i]);

                if (end && end > vendor && (size_t)(end - vendor) < length)
                        length = (size_t)(end - vendor);
        }
        return snprintf(ret, size, "%.*s", (int)(length < 64 ? length : 64), vendor);
}

static const char *without_0x(const char *id)
{
        return pn_startswith(id, "0x") ? id + 2 : id;
}

static int set_model(const PnNvme *drive, const PnPci *pci, PnText *ret)
{
        const char *vendor = pn_text(&pci->vendor), *name = pn_text(&pci->name);
        char maker[72] = "";

        if (drive && pn_text(&drive->model))
                return pn_set_text(ret, drive->model.v);
        if (vendor)
                (void)short_vendor(vendor, maker, sizeof maker);
        if (name)
                return pn_format_text(ret, "%s%s%s", maker, *maker ? " " : "", name);
        if (pci->vendor_id.state == PN_KNOWN && pci->device_id.state == PN_KNOWN)
                return pn_format_text(ret, "%s%s%s:%s", maker, *maker ? " " : "",
                                      without_0x(pci->vendor_id.v), without_0x(pci->device_id.v));
        return 0;
}

/* How an administrator calls what depends on a use; 0 also for uses on which nothing depends. */
static int add_affected(PnTexts *affects, const PnUse *use)
{
        _cleanup_free_ char *words = NULL;
        const char *what = NULL, *name = pn_text(&use->name);

        if (pn_text_is(&use->type, "zfs_member"))
                what = "zpool";
        else if (pn_text_is(&use->type, "lvm2_member"))
                what = "volume group";
        else if (pn_text_is(&use->type, "linux_raid_member"))
                what = "array";
        else if (pn_text_is(&use->type, "swap")) {
                what = "swap";
                name = pn_text(&use->device);
        } else if (use->mount.state == PN_KNOWN) {
                what = "mount";
                name = use->mount.v;
        }
        if (!what || !name)
                return 0;
        if (asprintf(&words, "%s %s", what, name) < 0) {
                words = NULL;
                return -ENOMEM;
        }
        return pn_texts_append(affects, words);
}

/* Keeps each text once, where it came first. */
static int drop_doubles(PnTexts *texts)
{
        _cleanup_(pn_index_done) PnIndex index = {0};
        unsigned kept = 0;

        if (texts->n < 2)
                return 0;
        if (pn_index_init(&index, texts->n) < 0)
                return -ENOMEM;
        for (unsigned i = 0; i < texts->n; i++)
                pn_index_add(&index, texts->v[i], &texts->v[i]);
        pn_index_sort(&index);
        /* Which go is decided before any does: keys are the texts themselves. */
        for (unsigned i = 0; i < index.n; i++)
                if (i > 0 && strcmp(index.v[i].key, index.v[i - 1].key) == 0)
                        index.v[i].object = NULL;
        for (unsigned i = 0; i < index.n; i++)
                if (!index.v[i].object) {
                        free(texts->v[index.v[i].order]);
                        texts->v[index.v[i].order] = NULL;
                }
        for (unsigned i = 0; i < texts->n; i++)
                if (texts->v[i])
                        texts->v[kept++] = texts->v[i];
        texts->n = kept;
        return 0;
}

/* Adds what lives on a device to its own rating and to that of every link above it. */
static int spread_affected(Rater *rater, PnRating *ratings, const char *address, const PnUse *uses,
                           unsigned n_uses)
{
        uint32_t node = pn_topology_find(&rater->topology, address);

        for (; node != PN_NOBODY; node = rater->topology.v[node].parent) {
                uint32_t hop = rater->hop_of[node];

                if (hop == PN_NOBODY)
                        continue;
                for (unsigned i = 0; i < n_uses; i++)
                        if (add_affected(&ratings[hop].affects, &uses[i]) < 0)
                                return -ENOMEM;
        }
        return 0;
}

static int write_affects(Rater *rater, PnRating *ratings)
{
        const PnInventory *inventory = rater->inventory;

        for (unsigned i = 0; i < inventory->nvme.n; i++) {
                const PnNvme *drive = &inventory->nvme.v[i];

                for (unsigned k = 0; k < drive->namespaces.n; k++)
                        if (spread_affected(rater, ratings, pn_text(&drive->address),
                                            drive->namespaces.v[k].uses.v,
                                            drive->namespaces.v[k].uses.n) < 0)
                                return -ENOMEM;
        }
        for (unsigned i = 0; i < inventory->disks.n; i++) {
                const PnDisk *disk = &inventory->disks.v[i];

                if (spread_affected(rater, ratings, pn_text(&disk->address), disk->uses.v,
                                    disk->uses.n) < 0)
                        return -ENOMEM;
        }
        for (uint32_t i = 0; i < rater->n_hops; i++)
                if (drop_doubles(&ratings[i].affects) < 0)
                        return -ENOMEM;
        return 0;
}

static int write_functions(const Rater *rater, uint32_t index, PnTexts *ret)
{
        for (uint32_t node = rater->hops[index].lower; node != PN_NOBODY;
             node = rater->hops[index].port == PN_NOBODY ? PN_NOBODY
                                                         : rater->topology.v[node].next_sibling)
                if (rater->hop_of[node] == index &&
                    pn_texts_append(ret, function_of(rater, node)->address.v) < 0)
                        return -ENOMEM;
        return 0;
}

static int write_shared(const Rater *rater, uint32_t index, PnRating *out)
{
        uint32_t uplink = uplink_of(rater, index);
        uint64_t carries = uplink == PN_NOBODY ? 0 : usable(&rater->hops[uplink]);
        PnShared *shared;

        if (uplink == PN_NOBODY)
                return 0;
        shared = PN_NEW(&out->shared);
        if (!shared)
                return -ENOMEM;
        if (carries && rater->hops[uplink].children) {
                uint64_t hundredths = (rater->hops[uplink].children * 100 + carries / 2) / carries;

                shared->ratio = pn_real((double)hundredths / 100);
        }
        return pn_set_text(&shared->uplink,
                           function_of(rater, rater->hops[uplink].lower)->address.v);
}

/* The first port of a network card, in the order of its functions. */
static const char *port_name(const Rater *rater, const PnTexts *functions)
{
        for (unsigned i = 0; i < functions->n; i++) {
                const PnNic *nic = pn_index_find(&rater->nics, functions->v[i], NULL);

                if (nic)
                        return nic->name.v;
        }
        return NULL;
}

static int write_rating(const Rater *rater, uint32_t index, const PnNvme *drive, PnRating *out)
{
        const Hop *hop = &rater->hops[index], *limit = &rater->hops[hop->limit];
        const PnPci *lower = function_of(rater, hop->lower);
        uint64_t best = rate_known(hop->best) ? bandwidth(hop->best) : 0;
        uint64_t carries =
            hop->verdict == IDLE && hop->limit == index ? bandwidth(hop->current) : usable(limit);

        if (pn_set_text(&out->address, lower->address.v) < 0 ||
            pn_set_text(&out->port,
                        hop->port == PN_NOBODY ? NULL : function_of(rater, hop->port)->address.v) <
                0 ||
            pn_set_text(&out->name,
                        drive ? pn_text(&drive->name) : port_name(rater, &out->functions)) < 0 ||
            pn_set_text(&out->kind, kind_of(lower)) < 0 ||
            pn_set_text(&out->slot, pn_text(&lower->slot)) < 0 ||
            pn_set_text(&out->verdict, verdict_names[hop->verdict]) < 0 ||
            pn_set_text(&out->reason, hop->reason) < 0 ||
            set_model(drive, lower, &out->model) < 0 || set_rate(&out->current, hop->current) < 0 ||
            set_rate(&out->rated, hop->rated) < 0 || set_rate(&out->best, hop->best) < 0 ||
            write_shared(rater, index, out) < 0)
                return -ENOMEM;
        if (usable(hop)) {
                if (best)
                        out->percent = pn_int((int64_t)((carries * 100 + best / 2) / best));
                return pn_set_text(&out->limit, function_of(rater, limit->lower)->address.v);
        }
        return 0;
}

static int write_ratings(Rater *rater, PnRatings *ret)
{
        _cleanup_free_ const PnNvme **drives = calloc(rater->n_hops + 1, sizeof *drives);
        int r = 0;

        if (!drives)
                return -ENOMEM;
        for (unsigned i = 0; i < rater->inventory->nvme.n; i++) {
                const PnNvme *drive = &rater->inventory->nvme.v[i];
                uint32_t node = pn_topology_find(&rater->topology, pn_text(&drive->address));
                uint32_t hop = node == PN_NOBODY ? PN_NOBODY : rater->hop_of[node];

                if (hop != PN_NOBODY && !drives[hop])
                        drives[hop] = drive;
        }
        for (uint32_t i = 0; i < rater->n_hops && r == 0; i++) {
                PnRating *out = PN_APPEND(ret);

                if (!out)
                        return -ENOMEM;
                r = write_functions(rater, i, &out->functions);
                if (r == 0)
                        r = write_rating(rater, i, drives[i], out);
        }
        return r == 0 ? write_affects(rater, ret->v) : r;
}

static int index_nics(const PnInventory *inventory, PnIndex *ret)
{
        if (pn_index_init(ret, inventory->nics.n) < 0)
                return -ENOMEM;
        for (unsigned i = 0; i < inventory->nics.n; i++)
                if (pn_text(&inventory->nics.v[i].name))
                        pn_index_add(ret, pn_text(&inventory->nics.v[i].address),
                                     &inventory->nics.v[i]);
        pn_index_sort(ret);
        return 0;
}

int pn_rate(const PnInventory *inventory, PnRatings *ret)
{
        Rater rater = {.inventory = inventory};
        PnRatings ratings = {0};
        int r;

        r = pn_topology_build(inventory, &rater.topology);
        if (r < 0)
                return r;
        r = find_hops(&rater);
        if (r == 0)
                r = index_nics(inventory, &rater.nics);
        if (r == 0) {
                mark_displays(&rater);
                for (uint32_t i = 0; i < rater.n_hops; i++)
                        judge(&rater, i);
                for (uint32_t i = 0; i < rater.n_hops; i++) {
                        uint32_t uplink = uplink_of(&rater, i);

                        find_limit(&rater, i);
                        if (uplink != PN_NOBODY && !is_internal(&rater, i, uplink))
                                rater.hops[uplink].children += usable(&rater.hops[i]);
                }
                for (uint32_t i = 0; i < rater.n_hops; i++)
                        if (rater.hops[i].verdict == FULL && rater.hops[i].limit != i) {
                                rater.hops[i].verdict = PATH_LIMITED;
                                rater.hops[i].reason = "path";
                        }
                r = write_ratings(&rater, &ratings);
        }
        free(rater.hops);
        free(rater.hop_of);
        pn_index_done(&rater.nics);
        pn_topology_done(&rater.topology);
        if (r < 0) {
                pn_ratings_done(&ratings);
                return r;
        }
        *ret = ratings;
        return 0;
}

void pn_ratings_done(PnRatings *ratings)
{
        for (unsigned i = 0; i < ratings->n; i++)
                pn_done(pn_type_Rating(), &ratings->v[i]);
        free(ratings->v);
        *ratings = (PnRatings){0};
}

const PnRating *pn_rating_at(const PnRatings *ratings, const char *address)
{
        PnPciAddress wanted, at;
        size_t low = 0, high = ratings->n;

        if (!address || pn_pci_address_parse(address, &wanted) < 0)
                return NULL;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                int r;

                if (pn_pci_address_parse(ratings->v[middle].address.v, &at) < 0)
                        return NULL;
                r = pn_pci_address_compare(&at, &wanted);
                if (r == 0)
                        return &ratings->v[middle];
                if (r < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}
