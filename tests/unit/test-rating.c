/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rating: every verdict, and the field cases 001, 004-006, 009, 011, 012, 015-018. */

#include "machine.h"
#include "rating.h"

#include <stdio.h>

#define RP "0000:00:01.1"
#define EP "0000:01:00.0"

static PnRatings rate(PnInventory *inventory)
{
        PnRatings ratings = {0};

        assert_int_equal(pn_join(inventory), 0);
        assert_int_equal(pn_rate(inventory, &ratings), 0);
        return ratings;
}

static const PnRating *at(const PnRatings *ratings, const char *address)
{
        const PnRating *rating = pn_rating_at(ratings, address);

        if (!rating)
                fail_msg("no rating at %s", address);
        return rating;
}

static void check(const PnRating *rating, const char *verdict, const char *reason)
{
        assert_string_equal(rating->verdict.v, verdict);
        if (reason)
                assert_string_equal(pn_text(&rating->reason) ? rating->reason.v : "(none)", reason);
        else
                assert_null(pn_text(&rating->reason));
}

/* One port, one drive: the table of section 4. */
static void test_two_ends(void **state)
{
        static const struct {
                Ends port, device;
                const char *verdict, *reason;
                int percent; /* -1: none */
        } rows[] = {
            /* at its best */
            {{16, 4, 16, 16}, {16, 4, 16, 4}, "full", NULL, 100},
            /* 005: a Gen4 device in a Gen3 board is limited, not degraded */
            {{8, 4, 8, 4}, {8, 4, 16, 4}, "slot_limited", "speed", 50},
            /* 012: by design x1; width by design and speed a fault; width a fault */
            {{5, 1, 5, 1}, {5, 1, 8, 4}, "slot_limited", "both", 13},
            {{5, 2, 8, 2}, {5, 2, 8, 4}, "degraded", "speed", 25},
            {{5, 1, 5, 16}, {5, 1, 5, 4}, "degraded", "width", 25},
            /* 018: all lanes at 2.5 GT/s after failed equalisation */
            {{2.5, 4, 8, 4}, {2.5, 4, 16, 4}, "degraded", "speed", 13},
            {{2.5, 1, 8, 4}, {2.5, 1, 16, 4}, "degraded", "both", 3},
            /* the customer's x1 slot */
            {{16, 1, 16, 1}, {16, 1, 16, 4}, "slot_limited", "width", 25},
            /* a narrow card in a wide slot is at its best */
            {{8, 1, 16, 16}, {8, 1, 8, 1}, "full", NULL, 100},
            /* the fastest there is */
            {{64, 16, 64, 16}, {64, 16, 64, 16}, "full", NULL, 100},
            /* 006: nothing to compare with */
            {{8, 4, 8, 4}, {0, 0, 8, 4}, "full", NULL, -2},
            {{8, 4, 0, 0}, {8, 4, 8, 4}, "unknown", "port_unread", -1},
            {{8, 4, 8, 4}, {8, 4, 0, 0}, "unknown", "device_unread", -1},
            {{0, 0, 8, 4}, {0, 0, 8, 4}, "unknown", "port_unread", -1},
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                PnInventory inventory = {0};
                PnRatings ratings;
                const PnRating *rating;

                port(&inventory, RP, "root_port", NULL, rows[i].port);
                endpoint(&inventory, EP, RP, NVME_CLASS, rows[i].device);
                ratings = rate(&inventory);
                assert_int_equal(ratings.n, 1);
                rating = at(&ratings, EP);
                check(rating, rows[i].verdict, rows[i].reason);
                if (rows[i].percent >= 0)
                        assert_int_equal(pn_int_or(rating->percent, -1), rows[i].percent);
                else if (rows[i].percent == -1)
                        assert_int_equal(rating->percent.state, PN_ABSENT);
                assert_string_equal(rating->port.v, RP);
                pn_ratings_done(&ratings);
                forget(&inventory);
        }
}

static void test_bandwidth_as_the_kernel_computes(void **state)
{
        PnInventory inventory = {0};
        PnRatings ratings;
        const PnRating *rating;

        (void)state;
        port(&inventory, RP, "root_port", NULL, (Ends){8, 4, 8, 4});
        endpoint(&inventory, EP, RP, NVME_CLASS, (Ends){8, 4, 16, 4});
        ratings = rate(&inventory);
        rating = at(&ratings, EP);
        assert_int_equal(rating->current.v->bandwidth.v, 31504);
        assert_int_equal(rating->best.v->bandwidth.v, 63012);
        assert_int_equal(rating->current.v->width.v, 4);
        pn_ratings_done(&ratings);
        forget(&inventory);
}

static void test_target_speed(void **state)
{
        static const struct {
                double target;
                const char *reason;
        } rows[] = {{8, "target_speed"}, {16, "speed"}, {5, "speed"}, {0, "speed"}};

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                PnInventory inventory = {0};
                PnRatings ratings;
                PnPci *root = port(&inventory, RP, "root_port", NULL, (Ends){8, 4, 16, 4});

                if (rows[i].target > 0)
                        root->link.v->target_speed = pn_real(rows[i].target);
                endpoint(&inventory, EP, RP, NVME_CLASS, (Ends){8, 4, 16, 4});
                ratings = rate(&inventory);
                check(at(&ratings, EP), "degraded", rows[i].reason);
                pn_ratings_done(&ratings);
                forget(&inventory);
        }
}

/* 001: graphics devices lower the speed when idle; a missing lane is a fault all the same. */
static void test_idle_display(void **state)
{
        static const struct {
                Ends now;
                const char *verdict, *reason;
        } rows[] = {
            {{2.5, 16, 16, 16}, "idle", "speed"},
            {{2.5, 8, 16, 16}, "degraded", "width"},
            {{16, 16, 16, 16}, "full", NULL},
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                PnInventory inventory = {0};
                PnRatings ratings;

                port(&inventory, RP, "root_port", NULL, rows[i].now);
                endpoint(&inventory, EP, RP, VGA_CLASS, rows[i].now);
                endpoint(&inventory, "0000:01:00.1", RP, "0x040300", rows[i].now);
                ratings = rate(&inventory);
                assert_int_equal(ratings.n, 1);
                assert_int_equal(ratings.v[0].functions.n, 2);
                check(at(&ratings, EP), rows[i].verdict, rows[i].reason);
                pn_ratings_done(&ratings);
                forget(&inventory);
        }
}

/* 004: the card's own switch is full; the slot's link is the one that matters. */
static void test_card_with_switch(void **state)
{
        PnInventory inventory = {0};
        PnRatings ratings;

        (void)state;
        port(&inventory, RP, "root_port", NULL, (Ends){16, 8, 32, 16});
        port(&inventory, EP, "upstream_port", RP, (Ends){16, 8, 32, 16});
        port(&inventory, "0000:02:00.0", "downstream_port", EP, (Ends){32, 16, 32, 16});
        endpoint(&inventory, "0000:03:00.0", "0000:02:00.0", VGA_CLASS, (Ends){32, 16, 32, 16});
        ratings = rate(&inventory);
        assert_int_equal(ratings.n, 2);
        check(at(&ratings, EP), "degraded", "width");
        check(at(&ratings, "0000:03:00.0"), "path_limited", "path");
        assert_string_equal(at(&ratings, "0000:03:00.0")->limit.v, EP);
        pn_ratings_done(&ratings);
        forget(&inventory);
}

/* A degraded uplink holds back four drives; each is at its own best. */
static void test_path_and_shared(void **state)
{
        PnInventory inventory = {0};
        PnRatings ratings;
        char address[16], down[16];

        (void)state;
        port(&inventory, RP, "root_port", NULL, (Ends){8, 4, 16, 16});
        port(&inventory, EP, "upstream_port", RP, (Ends){8, 4, 16, 16});
        for (int i = 0; i < 4; i++) {
                (void)snprintf(down, sizeof down, "0000:02:%02x.0", i);
                (void)snprintf(address, sizeof address, "0000:%02x:00.0", 3 + i);
                port(&inventory, down, "downstream_port", EP, (Ends){16, 4, 16, 4});
                endpoint(&inventory, address, down, NVME_CLASS, (Ends){16, 4, 16, 4});
        }
        ratings = rate(&inventory);
        assert_int_equal(ratings.n, 5);
        check(at(&ratings, EP), "degraded", "both");
        for (int i = 0; i < 4; i++) {
                const PnRating *rating;

                (void)snprintf(address, sizeof address, "0000:%02x:00.0", 3 + i);
                rating = at(&ratings, address);
                check(rating, "path_limited", "path");
                assert_string_equal(rating->limit.v, EP);
                assert_int_equal(rating->percent.v, 50);
                assert_string_equal(rating->shared.v->uplink.v, EP);
                assert_true(rating->shared.v->ratio.v > 7.99 && rating->shared.v->ratio.v < 8.01);
        }
        pn_ratings_done(&ratings);
        forget(&inventory);
}

static void test_not_judged(void **state)
{
        PnInventory inventory = {0};
        PnRatings ratings;
        PnPci *guest, *sleeper, *tunnel;

        (void)state;
        /* 017: handed to a guest */
        port(&inventory, "0000:00:01.0", "root_port", NULL, (Ends){2.5, 1, 16, 4});
        guest =
            endpoint(&inventory, "0000:01:00.0", "0000:00:01.0", NVME_CLASS, (Ends){2.5, 1, 16, 4});
        guest->passed_through = pn_bool(true);
        /* 009: asleep, so nothing was read */
        port(&inventory, "0000:00:02.0", "root_port", NULL, (Ends){2.5, 1, 16, 16});
        sleeper = pci(&inventory, "0000:02:00.0", "endpoint", "0000:00:02.0", VGA_CLASS);
        assert_int_equal(pn_set_text(&sleeper->power, "suspended"), 0);
        sleeper->link.state = PN_UNREAD_ASLEEP;
        /* 011: below a port that leads out of the case */
        port(&inventory, "0000:00:03.0", "root_port", NULL, (Ends){2.5, 4, 2.5, 4});
        tunnel =
            port(&inventory, "0000:03:00.0", "upstream_port", "0000:00:03.0", (Ends){2.5, 4, 8, 4});
        tunnel->removable = pn_bool(true);
        port(&inventory, "0000:04:00.0", "downstream_port", "0000:03:00.0", (Ends){8, 4, 16, 16});
        endpoint(&inventory, "0000:05:00.0", "0000:04:00.0", NVME_CLASS, (Ends){8, 4, 16, 4});
        /* a virtual machine: the port is hidden */
        endpoint(&inventory, "0000:00:1f.0", NULL, NVME_CLASS, (Ends){8, 4, 16, 4});
        /* 015 and integrated: no rating at all */
        port(&inventory, "0000:00:04.0", "root_port", NULL, (Ends){8, 8, 8, 8});
        endpoint(&inventory, "0000:06:00.0", "0000:00:04.0", NIC_CLASS, (Ends){8, 8, 8, 8});
        with_link(pci(&inventory, "0000:06:10.0", "virtual_function", "0000:00:04.0", NIC_CLASS),
                  (Ends){0, 0, 0, 0});
        with_link(pci(&inventory, "0000:00:14.0", "integrated", NULL, "0x0c0330"),
                  (Ends){2.5, 1, 2.5, 1});
        pci(&inventory, "0000:00:1e.0", "conventional", NULL, "0x060401");
        /* an empty port with a stale width */
        port(&inventory, "0000:00:05.0", "root_port", NULL, (Ends){2.5, 1, 16, 16});

        ratings = rate(&inventory);
        check(at(&ratings, "0000:01:00.0"), "passed_through", NULL);
        check(at(&ratings, "0000:02:00.0"), "asleep", NULL);
        check(at(&ratings, "0000:03:00.0"), "tunnelled", NULL);
        check(at(&ratings, "0000:05:00.0"), "tunnelled", NULL);
        check(at(&ratings, "0000:00:1f.0"), "unknown", "port_hidden");
        check(at(&ratings, "0000:06:00.0"), "full", NULL);
        assert_int_equal(at(&ratings, "0000:06:00.0")->functions.n, 1);
        assert_int_equal(ratings.n, 6);
        pn_ratings_done(&ratings);
        forget(&inventory);
}

/* 016: a five-digit domain; its chain ends at the VMD endpoint, whose link is not compared. */
static void test_vmd(void **state)
{
        PnInventory inventory = {0};
        PnRatings ratings;

        (void)state;
        with_link(pci(&inventory, "0000:e2:00.5", "integrated", NULL, "0x010400"),
                  (Ends){0, 0, 0, 0});
        port(&inventory, "10000:e0:02.0", "root_port", "0000:e2:00.5", (Ends){16, 4, 16, 4});
        endpoint(&inventory, "10000:e1:00.0", "10000:e0:02.0", NVME_CLASS, (Ends){16, 4, 16, 4});
        ratings = rate(&inventory);
        assert_int_equal(ratings.n, 1);
        check(at(&ratings, "10000:e1:00.0"), "full", NULL);
        assert_string_equal(ratings.v[0].limit.v, "10000:e1:00.0");
        pn_ratings_done(&ratings);
        forget(&inventory);
}

/* Files can say anything: loops of parents, addresses that are none. */
static void test_hostile_topology(void **state)
{
        PnInventory inventory = {0};
        PnRatings ratings;

        (void)state;
        port(&inventory, "0000:00:01.0", "root_port", "0000:00:02.0", (Ends){8, 4, 8, 4});
        port(&inventory, "0000:00:02.0", "root_port", "0000:00:01.0", (Ends){8, 4, 8, 4});
        endpoint(&inventory, "0000:00:03.0", "0000:00:03.0", NVME_CLASS, (Ends){8, 4, 8, 4});
        endpoint(&inventory, "nonsense", "0000:00:01.0", NVME_CLASS, (Ends){8, 4, 8, 4});
        endpoint(&inventory, "", "nonsense", NVME_CLASS, (Ends){8, 4, 8, 4});
        ratings = rate(&inventory);
        pn_ratings_done(&ratings);
        forget(&inventory);
}

static void test_one_end_is_silent(void **state)
{
        PnInventory inventory = {0};
        PnRatings ratings;

        (void)state;
        /* The device's current values are unread: the port speaks for the link. */
        port(&inventory, RP, "root_port", NULL, (Ends){16, 4, 16, 4});
        endpoint(&inventory, EP, RP, NVME_CLASS, (Ends){0, 0, 16, 4});
        ratings = rate(&inventory);
        check(at(&ratings, EP), "full", NULL);
        pn_ratings_done(&ratings);
        forget(&inventory);
}

/* 002: what the two ends say differently was read while the link changed. */
static void test_ends_disagree(void **state)
{
        static const struct {
                Ends port, device;
                const char *reason;
        } rows[] = {
            {{16, 4, 16, 4}, {2.5, 4, 16, 4}, "ends_disagree"},
            {{2.5, 4, 16, 4}, {16, 4, 16, 4}, "ends_disagree"},
            {{16, 4, 16, 4}, {16, 2, 16, 4}, "ends_disagree"},
            {{16, 4, 8, 4}, {16, 4, 16, 4}, "above_rated"},
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                PnInventory inventory = {0};
                PnRatings ratings;

                port(&inventory, RP, "root_port", NULL, rows[i].port);
                endpoint(&inventory, EP, RP, NVME_CLASS, rows[i].device);
                ratings = rate(&inventory);
                check(at(&ratings, EP), "unknown", rows[i].reason);
                pn_ratings_done(&ratings);
                forget(&inventory);
        }
}

/* A chipset's own controllers have links of sixteen lanes in name only; a real one counts. */
static void test_internal_links_do_not_share(void **state)
{
        PnInventory inventory = {0};
        PnRatings ratings;
        Ends x4 = {16, 4, 16, 4}, x16 = {16, 16, 16, 16};
        static const struct {
                const char *port, *device, *vendor;
                bool slot;
        } rows[] = {
            {"0000:03:01.0", "0000:04:00.0", "0x1022", false}, /* internal */
            {"0000:03:02.0", "0000:05:00.0", "0x1022", true},  /* a card of the same maker */
            {"0000:03:03.0", "0000:06:00.0", "0x10de", false}, /* soldered on, another's */
        };

        (void)state;
        port(&inventory, "0000:00:01.0", "root_port", NULL, x4);
        assert_int_equal(
            pn_set_text(
                &port(&inventory, "0000:02:00.0", "upstream_port", "0000:00:01.0", x4)->vendor_id,
                "0x1022"),
            0);
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                port(&inventory, rows[i].port, "downstream_port", "0000:02:00.0", x16)
                    ->slot_implemented = pn_bool(rows[i].slot);
                assert_int_equal(
                    pn_set_text(&endpoint(&inventory, rows[i].device, rows[i].port, "0x0c0330", x16)
                                     ->vendor_id,
                                rows[i].vendor),
                    0);
        }
        assert_int_equal(pn_join(&inventory), 0);
        assert_int_equal(pn_rate(&inventory, &ratings), 0);
        assert_int_equal(ratings.n, 4);
        assert_true(ratings.v[1].shared.v->ratio.v > 7.99 && ratings.v[1].shared.v->ratio.v < 8.01);
        pn_ratings_done(&ratings);
        /* With nothing but such a link, nothing shares. */
        for (size_t i = 1; i < PN_ELEMENTS(rows); i++)
                for (unsigned k = 0; k < inventory.pci.n; k++)
                        if (pn_text_is(&inventory.pci.v[k].address, rows[i].device))
                                pn_list_remove(pn_type_Pci(), &inventory.pci, k);
        assert_int_equal(pn_rate(&inventory, &ratings), 0);
        assert_int_equal(ratings.n, 2);
        assert_int_equal(ratings.v[1].shared.v->ratio.state, PN_ABSENT);
        pn_ratings_done(&ratings);
        forget(&inventory);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_two_ends),
            cmocka_unit_test(test_bandwidth_as_the_kernel_computes),
            cmocka_unit_test(test_target_speed),
            cmocka_unit_test(test_idle_display),
            cmocka_unit_test(test_card_with_switch),
            cmocka_unit_test(test_path_and_shared),
            cmocka_unit_test(test_not_judged),
            cmocka_unit_test(test_vmd),
            cmocka_unit_test(test_hostile_topology),
            cmocka_unit_test(test_one_end_is_silent),
            cmocka_unit_test(test_ends_disagree),
            cmocka_unit_test(test_internal_links_do_not_share),
        };

        return cmocka_run_group_tests_name("rating", tests, NULL, NULL);
}
