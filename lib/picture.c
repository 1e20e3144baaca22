/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lays out the tree of PCI Express links; knows no wording, no colour and no file format. */

#include "picture.h"

#include "index.h"
#include "topology.h"

/* As few alike are as quickly read one by one. */
#define ALIKE_MIN 3

/* What may become a box: a link with what is at its lower end, a free place, or a root. */
typedef struct Item {
        PnBoxKind kind;
        const PnRating *rating;
        const PnPlace *place;
        int64_t numa_node;
        uint32_t parent, first_child, last_child, next;
        uint32_t box;
        uint32_t folded_into; /* the item whose box stands for this one, or PN_NO_BOX */
        uint32_t n_alike;     /* items that this one's box stands for, itself included */
        bool keep;            /* a finding is about it, or an arrow leads to it */
} Item;

typedef struct Layout {
        const PnInventory *inventory;
        const PnStatus *status;
        const PnPictureMeasures *measures;
        PnTopology topology;
        uint32_t *item_of; /* by node: the item whose link this function is at the lower end of */
        Item *items;
        uint32_t n_items, n_links;
        PnIndex by_link;  /* items of links, by what findings call their devices */
        PnIndex by_place; /* items of free places, by what findings call them */
        PnPicture picture;
} Layout;

/* Known, and no "none". */
static int64_t numa_of(const PnPci *pci)
{
        int64_t node = pn_int_or(pci->numa_node, -1);

        return node >= 0 ? node : -1;
}

static Item *add_item(Layout *layout, PnBoxKind kind)
{
        Item *item = &layout->items[layout->n_items++];

        *item = (Item){.kind = kind,
                       .numa_node = -1,
                       .parent = PN_NO_BOX,
                       .first_child = PN_NO_BOX,
                       .last_child = PN_NO_BOX,
                       .next = PN_NO_BOX,
                       .box = PN_NO_BOX,
                       .folded_into = PN_NO_BOX,
                       .n_alike = 1};
        return item;
}

static void add_links(Layout *layout)
{
        for (unsigned i = 0; i < layout->status->ratings.n; i++) {
                const PnRating *rating = &layout->status->ratings.v[i];
                uint32_t index = layout->n_items, node;
                Item *item = add_item(layout, PN_BOX_DEVICE);

                item->rating = rating;
                node = pn_topology_find(&layout->topology, rating->address.v);
                if (node != PN_NOBODY) {
                        layout->item_of[node] = index;
                        item->numa_node = numa_of(layout->topology.v[node].pci);
                }
                pn_index_add(&layout->by_link, rating->address.v, item);
                pn_index_add(&layout->by_link, pn_text(&rating->name), item);
                for (unsigned k = 0; k < rating->functions.n; k++) {
                        pn_index_add(&layout->by_link, rating->functions.v[k], item);
                        node = pn_topology_find(&layout->topology, rating->functions.v[k]);
                        if (node != PN_NOBODY)
                                layout->item_of[node] = index;
                }
        }
        layout->n_links = layout->n_items;
        pn_index_sort(&layout->by_link);
}

static void add_places(Layout *layout)
{
        for (size_t i = 0; i < layout->picture.places.n; i++) {
                const PnPlace *place = &layout->picture.places.v[i];
                uint32_t node = pn_topology_find(&layout->topology, place->address);
                Item *item = add_item(layout, PN_BOX_FREE);

                item->place = place;
                pn_index_add(&layout->by_place, place->address ? place->address : place->name,
                             item);
                if (node != PN_NOBODY)
                        item->numa_node = numa_of(layout->topology.v[node].pci);
        }
        pn_index_sort(&layout->by_place);
}

/* The nearest link on the way from a function to the root, other than its own. */
static uint32_t link_above(const Layout *layout, uint32_t node, uint32_t own)
{
        while (node != PN_NOBODY) {
                if (layout->item_of[node] != PN_NO_BOX && layout->item_of[node] != own)
                        return layout->item_of[node];
                node = layout->topology.v[node].parent;
        }
        return PN_NO_BOX;
}

static void hang(Layout *layout, uint32_t child, uint32_t parent)
{
        Item *above = &layout->items[parent];

        layout->items[child].parent = parent;
        if (above->last_child == PN_NO_BOX)
                above->first_child = child;
        else
                layout->items[above->last_child].next = child;
        above->last_child = child;
        if (above->kind == PN_BOX_DEVICE)
                above->kind = PN_BOX_SWITCH;
}

static void find_parents(Layout *layout)
{
        for (uint32_t i = 0; i < layout->n_items; i++) {
                const Item *item = &layout->items[i];
                const char *address = item->rating ? item->rating->address.v : item->place->address;
                uint32_t node = pn_topology_find(&layout->topology, address);
                uint32_t above = node == PN_NOBODY ? PN_NO_BOX : link_above(layout, node, i);

                if (above != PN_NO_BOX)
                        hang(layout, i, above);
        }
}

/* One root, or one for each NUMA node where there are several. */
static void add_roots(Layout *layout)
{
        uint32_t n = layout->n_items;
        int64_t last = -2;

        for (;;) {
                int64_t least = INT64_MAX;
                uint32_t root = layout->n_items;

                for (uint32_t i = 0; i < n; i++)
                        if (layout->items[i].parent == PN_NO_BOX &&
                            layout->items[i].numa_node > last && layout->items[i].numa_node < least)
                                least = layout->items[i].numa_node;
                if (least == INT64_MAX)
                        break;
                last = least;
                add_item(layout, PN_BOX_ROOT)->numa_node = least;
                for (uint32_t i = 0; i < n; i++)
                        if (layout->items[i].parent == PN_NO_BOX &&
                            layout->items[i].numa_node == least)
                                hang(layout, i, root);
        }
        /* What belongs to no known node where all that do belong to one: it is there, too. */
        if (layout->n_items == n + 2 && layout->items[n].numa_node == -1) {
                Item *unknown = &layout->items[n], *known = &layout->items[n + 1];

                for (uint32_t i = unknown->first_child; i != PN_NO_BOX; i = layout->items[i].next)
                        layout->items[i].parent = n + 1;
                layout->items[known->last_child].next = unknown->first_child;
                known->last_child = unknown->last_child;
                *unknown = *known;
                for (uint32_t i = unknown->first_child; i != PN_NO_BOX; i = layout->items[i].next)
                        layout->items[i].parent = n;
                layout->n_items--;
        }
        if (layout->n_items == n + 1)
                layout->items[n].numa_node = -1;
}

/* The free place that a finding's advice names. */
static uint32_t item_of_place(const Layout *layout, const PnFinding *finding)
{
        const Item *item = pn_index_find(&layout->by_place, pn_text(&finding->place), NULL);

        return item ? (uint32_t)(item - layout->items) : PN_NO_BOX;
}

static uint32_t item_of_finding(const Layout *layout, const PnFinding *finding)
{
        const char *address = pn_text(&finding->address);
        uint32_t node = address ? pn_topology_find(&layout->topology, address) : PN_NOBODY;
        const Item *item;

        if (node != PN_NOBODY)
                return layout->item_of[node];
        item = pn_index_find(&layout->by_link, address ? address : pn_text(&finding->device), NULL);
        return item ? (uint32_t)(item - layout->items) : PN_NO_BOX;
}

static void keep_what_is_told(Layout *layout)
{
        for (unsigned i = 0; i < layout->status->findings.n; i++) {
                const PnFinding *finding = &layout->status->findings.v[i];
                uint32_t device = item_of_finding(layout, finding);
                uint32_t place = item_of_place(layout, finding);

                if (device != PN_NO_BOX && !pn_text_is(&finding->severity, "info"))
                        layout->items[device].keep = true;
                if (place != PN_NO_BOX)
                        layout->items[place].keep = true;
        }
}

static bool may_fold(const Item *item)
{
        if (item->keep || item->first_child != PN_NO_BOX)
                return false;
        return item->kind == PN_BOX_FREE ||
               (item->kind == PN_BOX_DEVICE && pn_text_is(&item->rating->verdict, "full"));
}

static bool same_rate(const PnLinkRate *one, const PnLinkRate *other)
{
        return one && other && one->bandwidth.v == other->bandwidth.v &&
               one->width.v == other->width.v;
}

static bool is_alike(const Item *one, const Item *other)
{
        if (one->kind != other->kind || !may_fold(other))
                return false;
        if (one->kind == PN_BOX_FREE)
                return one->place->gen == other->place->gen &&
                       one->place->width == other->place->width &&
                       one->place->bandwidth == other->place->bandwidth;
        return pn_streq(pn_text(&one->rating->kind), pn_text(&other->rating->kind)) &&
               same_rate(one->rating->current.v, other->rating->current.v);
}

static void fold_children(Layout *layout, uint32_t parent)
{
        for (uint32_t i = layout->items[parent].first_child; i != PN_NO_BOX;
             i = layout->items[i].next) {
                Item *item = &layout->items[i];
                uint32_t alike = 1;

                if (item->folded_into != PN_NO_BOX || !may_fold(item))
                        continue;
                for (uint32_t k = item->next; k != PN_NO_BOX; k = layout->items[k].next)
                        alike += layout->items[k].folded_into == PN_NO_BOX &&
                                 is_alike(item, &layout->items[k]);
                if (alike < ALIKE_MIN)
                        continue;
                for (uint32_t k = item->next; k != PN_NO_BOX; k = layout->items[k].next)
                        if (layout->items[k].folded_into == PN_NO_BOX &&
                            is_alike(item, &layout->items[k]))
                                layout->items[k].folded_into = i;
                item->n_alike = alike;
        }
}

static void add_box(Layout *layout, uint32_t index, int *y)
{
        const PnPictureMeasures *m = layout->measures;
        PnPicture *picture = &layout->picture;
        Item *item = &layout->items[index];
        PnBox *box = &picture->boxes[picture->n_boxes];

        *box = (PnBox){.kind = item->kind,
                       .parent = PN_NO_BOX,
                       .y = *y,
                       .height = item->kind == PN_BOX_ROOT ? m->root : m->row,
                       .numa_node = item->kind == PN_BOX_ROOT ? item->numa_node : -1,
                       .rating = item->rating,
                       .place = item->place,
                       .first_member = picture->n_members,
                       .n_members = item->kind == PN_BOX_ROOT ? 0 : item->n_alike,
                       .offered_to = PN_NO_BOX};
        if (item->parent != PN_NO_BOX) {
                PnBox *above;

                box->parent = layout->items[item->parent].box;
                above = &picture->boxes[box->parent];
                box->depth = above->depth + 1;
                box->hop_x = above->x + m->trunk;
                box->hop_y = box->y + box->height / 2;
                above->trunk_x = box->hop_x;
                above->trunk_end = box->hop_y;
        }
        box->x = m->margin + (int)box->depth * m->indent;
        *y += box->height + m->gap;
        item->box = picture->n_boxes++;
        for (uint32_t i = index, left = box->n_members; left; i = layout->items[i].next)
                if (i == index || layout->items[i].folded_into == index) {
                        picture->members[picture->n_members++] =
                            (PnPictureMember){layout->items[i].rating, layout->items[i].place};
                        left--;
                }
        if (item->rating && item->n_alike > 1)
                picture->n_folded += item->n_alike;
}

/* Down, else along, else up and along: no recursion. */
static void add_boxes(Layout *layout)
{
        int y = layout->measures->margin;

        for (uint32_t root = layout->n_links; root < layout->n_items; root++) {
                uint32_t i = root;

                if (layout->items[root].kind != PN_BOX_ROOT)
                        continue;
                while (i != PN_NO_BOX) {
                        uint32_t next = PN_NO_BOX;

                        if (layout->items[i].folded_into == PN_NO_BOX) {
                                add_box(layout, i, &y);
                                next = layout->items[i].first_child;
                        }
                        while (next == PN_NO_BOX && i != root) {
                                next = layout->items[i].next;
                                if (next == PN_NO_BOX)
                                        i = layout->items[i].parent;
                        }
                        i = next;
                }
        }
        layout->picture.height =
            y - (layout->picture.n_boxes ? layout->measures->gap : 0) + layout->measures->margin;
}

static void find_ratios(Layout *layout)
{
        for (uint32_t i = 0; i < layout->n_links; i++) {
                const Item *item = &layout->items[i];
                const PnShared *shared = item->rating->shared.v;
                uint32_t node, uplink;

                if (!shared || shared->ratio.state != PN_KNOWN)
                        continue;
                node = pn_topology_find(&layout->topology, pn_text(&shared->uplink));
                uplink = node == PN_NOBODY ? PN_NO_BOX : layout->item_of[node];
                if (uplink != PN_NO_BOX && layout->items[uplink].box != PN_NO_BOX)
                        layout->picture.boxes[layout->items[uplink].box].ratio = shared->ratio.v;
        }
}

static void add_arrows(Layout *layout)
{
        PnPicture *picture = &layout->picture;

        for (unsigned i = 0; i < layout->status->findings.n; i++) {
                const PnFinding *finding = &layout->status->findings.v[i];
                uint32_t from = item_of_finding(layout, finding);
                uint32_t to = item_of_place(layout, finding);
                PnBox *target;

                if (from == PN_NO_BOX || to == PN_NO_BOX || pn_is_true(finding->accepted))
                        continue;
                from = layout->items[from].box;
                to = layout->items[to].box;
                if (from == PN_NO_BOX || to == PN_NO_BOX)
                        continue;
                target = &picture->boxes[to];
                if (target->offered_to != PN_NO_BOX)
                        continue;
                target->offered_to = from;
                if (picture->boxes[from].rating->best.v)
                        target->offered_mbps =
                            pn_place_offers(target->place, picture->boxes[from].rating->best.v);
                picture->arrows[picture->n_arrows++] = (PnArrow){.from = from, .to = to};
        }
}

static bool overlap(const PnArrow *one, const PnArrow *other)
{
        uint32_t one_low = one->from < one->to ? one->from : one->to;
        uint32_t one_high = one->from < one->to ? one->to : one->from;
        uint32_t low = other->from < other->to ? other->from : other->to;
        uint32_t high = other->from < other->to ? other->to : other->from;

        return one_low <= high && low <= one_high;
}

/* Puts each arrow into the first lane in which no other passes by. */
static int choose_lanes(PnPicture *picture, int *ret_lanes)
{
        /* By lane: the last arrow for which it was found to be taken, counted from 1. */
        _cleanup_free_ uint32_t *taken = calloc((size_t)picture->n_arrows + 1, sizeof *taken);
        int n_lanes = 0;

        if (!taken)
                return -ENOMEM;
        for (uint32_t i = 0; i < picture->n_arrows; i++) {
                int lane = 0;

                for (uint32_t k = 0; k < i; k++)
                        if (overlap(&picture->arrows[k], &picture->arrows[i]))
                                taken[picture->arrows[k].x] = i + 1;
                while (taken[lane] == i + 1)
                        lane++;
                picture->arrows[i].x = lane;
                if (lane + 1 > n_lanes)
                        n_lanes = lane + 1;
        }
        *ret_lanes = n_lanes;
        return 0;
}

/* All boxes end at the same line; right of it are the arrows. */
static int set_widths(Layout *layout)
{
        const PnPictureMeasures *m = layout->measures;
        PnPicture *picture = &layout->picture;
        int n_lanes, deepest = m->margin, edge;

        if (choose_lanes(picture, &n_lanes) < 0)
                return -ENOMEM;
        for (uint32_t i = 0; i < picture->n_boxes; i++)
                if (picture->boxes[i].x > deepest)
                        deepest = picture->boxes[i].x;
        edge = m->width - m->margin - n_lanes * m->lane;
        if (edge < deepest + m->least)
                edge = deepest + m->least;
        for (uint32_t i = 0; i < picture->n_boxes; i++)
                picture->boxes[i].width = edge - picture->boxes[i].x;
        for (uint32_t i = 0; i < picture->n_arrows; i++)
                picture->arrows[i].x = edge + (picture->arrows[i].x + 1) * m->lane;
        picture->width = edge + n_lanes * m->lane + m->margin;
        return 0;
}

static int lay_out(Layout *layout)
{
        PnPicture *picture = &layout->picture;
        uint32_t most = 0, names = 0;

        for (unsigned i = 0; i < layout->status->ratings.n; i++)
                if (__builtin_add_overflow(names, layout->status->ratings.v[i].functions.n,
                                           &names) ||
                    __builtin_add_overflow(names, 2u, &names))
                        return -ENOMEM;
        /* Each root has something below it. */
        if (__builtin_add_overflow(layout->status->ratings.n, picture->places.n, &most) ||
            __builtin_mul_overflow(most, 2u, &most) || most == UINT32_MAX)
                return -ENOMEM;
        most++;
        layout->item_of = calloc((size_t)layout->topology.n + 1, sizeof *layout->item_of);
        layout->items = calloc(most, sizeof *layout->items);
        picture->boxes = calloc(most, sizeof *picture->boxes);
        picture->members = calloc(most, sizeof *picture->members);
        picture->arrows = calloc((size_t)layout->status->findings.n + 1, sizeof *picture->arrows);
        if (!layout->item_of || !layout->items || !picture->boxes || !picture->members ||
            !picture->arrows || pn_index_init(&layout->by_link, names) < 0 ||
            pn_index_init(&layout->by_place, (unsigned)picture->places.n) < 0)
                return -ENOMEM;
        for (uint32_t i = 0; i < layout->topology.n; i++)
                layout->item_of[i] = PN_NO_BOX;
        add_links(layout);
        add_places(layout);
        find_parents(layout);
        add_roots(layout);
        keep_what_is_told(layout);
        if (layout->n_items > layout->measures->boxes)
                for (uint32_t i = 0; i < layout->n_items; i++)
                        fold_children(layout, i);
        add_boxes(layout);
        find_ratios(layout);
        add_arrows(layout);
        return set_widths(layout);
}

int pn_picture_lay_out(const PnInventory *inventory, const PnStatus *status,
                       const PnPictureMeasures *measures, PnPicture *ret)
{
        const PnRatings ratings = {PN_KNOWN, status->ratings.n, status->ratings.v};
        Layout layout = {.inventory = inventory, .status = status, .measures = measures};
        int r = pn_topology_build(inventory, &layout.topology);

        if (r == 0)
                r = pn_places_find(inventory, &ratings, &layout.picture.places);
        if (r == 0)
                r = lay_out(&layout);
        pn_topology_done(&layout.topology);
        pn_index_done(&layout.by_link);
        pn_index_done(&layout.by_place);
        free(layout.item_of);
        free(layout.items);
        if (r < 0) {
                pn_picture_done(&layout.picture);
                return r;
        }
        *ret = layout.picture;
        return 0;
}

void pn_picture_done(PnPicture *picture)
{
        pn_places_done(&picture->places);
        free(picture->boxes);
        free(picture->members);
        free(picture->arrows);
        *picture = (PnPicture){0};
}
