/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The picture of the links: what hangs on what, that nothing covers anything else, what folds, and
 * where arrows lead. */

#include "machine.h"

#include <stdio.h>

#include "assess.h"
#include "picture.h"

static const PnPictureMeasures measures = {.width = 900,
                                           .margin = 5,
                                           .indent = 150,
                                           .trunk = 18,
                                           .least = 300,
                                           .row = 50,
                                           .root = 30,
                                           .gap = 8,
                                           .lane = 16,
                                           .boxes = 20};

typedef struct Case {
        PnInventory inventory;
        PnStatus status;
        PnPicture picture;
} Case;

static void lay_out(Case *c, const PnPictureMeasures *m)
{
        assert_int_equal(pn_join(&c->inventory), 0);
        assert_int_equal(
            pn_assess(&c->inventory, (PnBefore){0}, NULL, "2026-01-02T03:04:05Z", &c->status), 0);
        assert_int_equal(pn_picture_lay_out(&c->inventory, &c->status, m, &c->picture), 0);
}

static void done(Case *c)
{
        pn_picture_done(&c->picture);
        pn_done(pn_type_Status(), &c->status);
        forget(&c->inventory);
}

static uint32_t box_of(const PnPicture *picture, const char *address)
{
        for (uint32_t i = 0; i < picture->n_boxes; i++)
                for (uint32_t k = 0; k < picture->boxes[i].n_members; k++) {
                        const PnPictureMember *member =
                            &picture->members[picture->boxes[i].first_member + k];

                        if (pn_streq(member->rating ? member->rating->address.v
                                                    : member->place->address,
                                     address))
                                return i;
                }
        fail_msg("no box for %s", address);
        return PN_NO_BOX;
}

/* Boxes lie inside the picture and apart, children right of and below their parents, lines and
 * arrows cross no box, and each link and place is in one box. */
static void check(const Case *c, const PnPictureMeasures *m)
{
        const PnPicture *picture = &c->picture;
        uint32_t n_members = 0;

        for (uint32_t i = 0; i < picture->n_boxes; i++) {
                const PnBox *box = &picture->boxes[i];

                assert_true(box->x >= m->margin && box->y >= m->margin);
                assert_true(box->width >= m->least);
                assert_true(box->x + box->width <= picture->width - m->margin);
                assert_true(box->y + box->height <= picture->height - m->margin);
                n_members += box->n_members;
                if (i > 0)
                        assert_true(box->y >= box[-1].y + box[-1].height + m->gap);
                if (box->kind == PN_BOX_ROOT) {
                        assert_int_equal(box->parent, PN_NO_BOX);
                        assert_true(box->trunk_end > 0);
                        continue;
                }
                assert_true(box->parent < i);
                assert_int_equal(box->x, picture->boxes[box->parent].x + m->indent);
                assert_true(box->hop_x < box->x && box->hop_x > picture->boxes[box->parent].x);
                assert_int_equal(box->hop_x, picture->boxes[box->parent].trunk_x);
                assert_true(picture->boxes[box->parent].trunk_end >= box->hop_y);
                assert_true(box->hop_y > box->y && box->hop_y < box->y + box->height);
                /* What the trunk passes on its way down is right of it. */
                for (uint32_t k = i + 1;
                     k < picture->n_boxes && picture->boxes[k].y < box->trunk_end; k++)
                        assert_true(picture->boxes[k].x > box->trunk_x);
        }
        assert_int_equal(n_members, picture->n_members);
        assert_int_equal(n_members, c->status.ratings.n + picture->places.n);
        for (uint32_t i = 0; i < picture->n_arrows; i++) {
                const PnArrow *arrow = &picture->arrows[i];

                assert_true(arrow->x < picture->width);
                for (uint32_t k = 0; k < picture->n_boxes; k++)
                        assert_true(picture->boxes[k].x + picture->boxes[k].width < arrow->x);
                for (uint32_t k = 0; k < i; k++) {
                        const PnArrow *other = &picture->arrows[k];
                        uint32_t low = arrow->from < arrow->to ? arrow->from : arrow->to;
                        uint32_t high = arrow->from + arrow->to - low;

                        assert_true(other->x != arrow->x ||
                                    (other->from < low && other->to < low) ||
                                    (other->from > high && other->to > high));
                }
        }
}

static void add_drive(PnInventory *inventory, const char *parent, unsigned bus, Ends upper,
                      Ends lower, const char *kind)
{
        char root[32], address[32], name[32], serial[32];

        (void)snprintf(root, sizeof root, "0000:%s:%02x.0", parent ? "02" : "00", bus & 31);
        if (!parent)
                (void)snprintf(root, sizeof root, "0000:00:%02x.%u", bus >> 3, bus & 7);
        (void)snprintf(address, sizeof address, "0000:%02x:00.0", bus);
        (void)snprintf(name, sizeof name, "nvme%u", bus);
        (void)snprintf(serial, sizeof serial, "S%u", bus);
        port(inventory, root, kind, parent, upper);
        endpoint(inventory, address, root, NVME_CLASS, lower);
        drive(inventory, name, address, serial);
}

static void test_tree(void **state)
{
        Case c = {0};
        const PnBox *boxes;
        uint32_t uplink;

        (void)state;
        port(&c.inventory, "0000:00:01.0", "root_port", NULL, (Ends){16, 4, 16, 4});
        port(&c.inventory, "0000:01:00.0", "upstream_port", "0000:00:01.0", (Ends){16, 4, 16, 4});
        add_drive(&c.inventory, "0000:01:00.0", 0x10, (Ends){16, 4, 16, 4}, (Ends){16, 4, 16, 4},
                  "downstream_port");
        add_drive(&c.inventory, "0000:01:00.0", 0x11, (Ends){16, 1, 16, 1}, (Ends){16, 1, 16, 4},
                  "downstream_port");
        add_drive(&c.inventory, NULL, 0x20, (Ends){16, 4, 16, 4}, (Ends){16, 4, 16, 4},
                  "root_port");
        lay_out(&c, &measures);
        check(&c, &measures);
        boxes = c.picture.boxes;
        assert_int_equal(c.picture.n_boxes, 5);
        assert_int_equal(boxes[0].kind, PN_BOX_ROOT);
        uplink = box_of(&c.picture, "0000:01:00.0");
        assert_int_equal(boxes[uplink].kind, PN_BOX_SWITCH);
        assert_int_equal(boxes[uplink].parent, 0);
        assert_true(boxes[uplink].ratio > 1.2 && boxes[uplink].ratio < 1.3);
        assert_int_equal(boxes[box_of(&c.picture, "0000:11:00.0")].parent, uplink);
        assert_int_equal(boxes[box_of(&c.picture, "0000:20:00.0")].parent, 0);
        assert_int_equal(c.picture.width, 900);
        done(&c);
}

/* A free place is a box, and the advice an arrow to it; its finding names it. */
static void test_arrow(void **state)
{
        Case c = {0};
        const PnBox *place;
        PnPci *empty;

        (void)state;
        add_drive(&c.inventory, NULL, 0x10, (Ends){16, 1, 16, 1}, (Ends){16, 1, 16, 4},
                  "root_port");
        add_drive(&c.inventory, NULL, 0x11, (Ends){16, 2, 16, 2}, (Ends){16, 2, 16, 4},
                  "root_port");
        empty = port(&c.inventory, "0000:00:1f.0", "root_port", NULL, (Ends){2.5, 1, 16, 4});
        empty->slot_implemented = pn_bool(true);
        slot(&c.inventory, "PCIEX16_5", "PCIe 4.0 x16", 16, 16, false, NULL);
        lay_out(&c, &measures);
        check(&c, &measures);
        assert_int_equal(c.picture.n_arrows, 2);
        place = &c.picture.boxes[box_of(&c.picture, "0000:00:1f.0")];
        assert_int_equal(place->kind, PN_BOX_FREE);
        assert_int_equal(place->offered_to, box_of(&c.picture, "0000:10:00.0"));
        assert_int_equal(place->offered_mbps, 63012);
        place = &c.picture.boxes[box_of(&c.picture, NULL)];
        assert_int_equal(place->offered_to, box_of(&c.picture, "0000:11:00.0"));
        /* They pass each other, so each has a lane of its own. */
        assert_true(c.picture.arrows[0].x != c.picture.arrows[1].x);

        /* An accepted finding is no advice any more. */
        pn_picture_done(&c.picture);
        for (unsigned i = 0; i < c.status.findings.n; i++)
                c.status.findings.v[i].accepted = pn_bool(true);
        assert_int_equal(pn_picture_lay_out(&c.inventory, &c.status, &measures, &c.picture), 0);
        assert_int_equal(c.picture.n_arrows, 0);
        done(&c);
}

/* Of two hundred links those that are at their best fold into one box; others never do. */
static void test_folding(void **state)
{
        PnPictureMeasures all = measures;
        Case c = {0};

        (void)state;
        for (unsigned bus = 1; bus <= 200; bus++)
                add_drive(&c.inventory, NULL, bus,
                          bus == 77   ? (Ends){16, 1, 16, 1}
                          : bus == 99 ? (Ends){16, 2, 16, 4}
                                      : (Ends){16, 4, 16, 4},
                          bus == 77   ? (Ends){16, 1, 16, 4}
                          : bus == 99 ? (Ends){16, 2, 16, 4}
                                      : (Ends){16, 4, 16, 4},
                          "root_port");
        lay_out(&c, &measures);
        check(&c, &measures);
        assert_int_equal(c.picture.n_boxes, 4);
        assert_int_equal(c.picture.n_folded, 198);
        assert_int_equal(c.picture.boxes[1].n_members, 198);
        assert_int_equal(c.picture.boxes[box_of(&c.picture, "0000:4d:00.0")].n_members, 1);
        assert_int_equal(c.picture.boxes[box_of(&c.picture, "0000:63:00.0")].n_members, 1);

        pn_picture_done(&c.picture);
        all.boxes = UINT32_MAX;
        assert_int_equal(pn_picture_lay_out(&c.inventory, &c.status, &all, &c.picture), 0);
        check(&c, &all);
        assert_int_equal(c.picture.n_boxes, 201);
        assert_int_equal(c.picture.n_folded, 0);
        done(&c);
}

/* What hangs on several processors is drawn apart; one alone has no number. */
static void test_nodes(void **state)
{
        Case c = {0};

        (void)state;
        add_drive(&c.inventory, NULL, 0x10, (Ends){16, 4, 16, 4}, (Ends){16, 4, 16, 4},
                  "root_port");
        add_drive(&c.inventory, NULL, 0x11, (Ends){16, 4, 16, 4}, (Ends){16, 4, 16, 4},
                  "root_port");
        for (unsigned i = 0; i < c.inventory.pci.n; i++)
                if (pn_text_is(&c.inventory.pci.v[i].address, "0000:10:00.0"))
                        c.inventory.pci.v[i].numa_node = pn_int(1);
        lay_out(&c, &measures);
        check(&c, &measures);
        assert_int_equal(c.picture.n_boxes, 3);
        assert_int_equal(c.picture.boxes[0].numa_node, -1);

        pn_picture_done(&c.picture);
        for (unsigned i = 0; i < c.inventory.pci.n; i++)
                if (pn_text_is(&c.inventory.pci.v[i].address, "0000:11:00.0"))
                        c.inventory.pci.v[i].numa_node = pn_int(0);
        assert_int_equal(pn_picture_lay_out(&c.inventory, &c.status, &measures, &c.picture), 0);
        check(&c, &measures);
        assert_int_equal(c.picture.n_boxes, 4);
        assert_int_equal(c.picture.boxes[0].numa_node, 0);
        assert_int_equal(c.picture.boxes[2].numa_node, 1);
        assert_int_equal(c.picture.boxes[box_of(&c.picture, "0000:10:00.0")].parent, 2);
        done(&c);
}

/* Deep trees grow to the right rather than squeeze their boxes. */
static void test_deep(void **state)
{
        char above[32] = "0000:00:01.0", address[32];
        Case c = {0};

        (void)state;
        port(&c.inventory, above, "root_port", NULL, (Ends){16, 4, 16, 4});
        for (unsigned bus = 1; bus < 16; bus += 2) {
                (void)snprintf(address, sizeof address, "0000:%02x:00.0", bus);
                port(&c.inventory, address, "upstream_port", above, (Ends){16, 4, 16, 4});
                (void)snprintf(above, sizeof above, "0000:%02x:00.0", bus + 1);
                port(&c.inventory, above, "downstream_port", address, (Ends){16, 4, 16, 4});
        }
        endpoint(&c.inventory, "0000:20:00.0", above, NVME_CLASS, (Ends){16, 4, 16, 4});
        lay_out(&c, &measures);
        check(&c, &measures);
        assert_int_equal(c.picture.n_boxes, 10);
        assert_true(c.picture.width > 900);
        done(&c);
}

/* A status that knows links which the inventory does not: from two different moments. */
static void test_strangers(void **state)
{
        Case c = {0};

        (void)state;
        add_drive(&c.inventory, NULL, 0x10, (Ends){16, 4, 16, 4}, (Ends){16, 4, 16, 4},
                  "root_port");
        lay_out(&c, &measures);
        pn_picture_done(&c.picture);
        forget(&c.inventory);
        c.inventory = (PnInventory){0};
        assert_int_equal(pn_picture_lay_out(&c.inventory, &c.status, &measures, &c.picture), 0);
        check(&c, &measures);
        assert_int_equal(c.picture.n_boxes, 2);
        done(&c);

        c = (Case){0};
        lay_out(&c, &measures);
        assert_int_equal(c.picture.n_boxes, 0);
        done(&c);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_tree),    cmocka_unit_test(test_arrow),
            cmocka_unit_test(test_folding), cmocka_unit_test(test_nodes),
            cmocka_unit_test(test_deep),    cmocka_unit_test(test_strangers),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
