/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests lib/speed.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "speed.h"

static void device_done(PnDevice *device)
{
        pn_done(pn_type_Device(), device);
}
#define _cleanup_device_ _cleanup_(device_done)

/* Adds the next hop on the way to the root. */
static void add_hop(PnDevice *device, const char *address, const char *verdict, const char *reason,
                    double speed, int64_t width, int64_t mbps)
{
        PnRating *hop = PN_APPEND(&device->path);
        PnLinkRate *now;

        assert_non_null(hop);
        assert_int_equal(pn_set_text(&hop->address, address), 0);
        assert_int_equal(pn_set_text(&hop->verdict, verdict), 0);
        assert_int_equal(pn_set_text(&hop->reason, reason), 0);
        if (!mbps)
                return;
        now = PN_NEW(&hop->current);
        assert_non_null(now);
        *now = (PnLinkRate){pn_real(speed), pn_int(width), pn_int(mbps)};
}

static void make_drive(PnDevice *device)
{
        assert_non_null(PN_NEW(&device->nvme));
}

static PnSpeedLimit expect(const PnDevice *device, double mbs, const char *expected)
{
        _cleanup_buf_ PnBuf out = {0};
        PnSpeed speed;

        pn_speed_judge(device, mbs * 1e6, &speed);
        pn_speed_sentence(&out, &speed, NULL);
        assert_string_equal(out.data, expected);
        return speed.limit;
}

/* The five drives of the first customer, as measured; the manual page shows these sentences. */
static void test_first_customer(void **state _unused_)
{
        static const struct {
                double mbs;
                const char *verdict, *reason;
                double speed;
                int64_t width, mbps;
                bool chipset;
                PnSpeedLimit limit;
                const char *sentence;
        } drives[] = {
            {4450.32, "full", NULL, 16, 4, 63012, false, PN_SPEED_DRIVE,
             "4,450 MB/s, 57 % of the link: the drive is the limit."},
            {2626.10, "slot_limited", "speed", 8, 4, 31504, true, PN_SPEED_EITHER,
             "2,626 MB/s, 67 % of an 8 GT/s link: the drive or the link is the limit."},
            {4391.14, "full", NULL, 16, 4, 63012, false, PN_SPEED_DRIVE,
             "4,391 MB/s, 56 % of the link: the drive is the limit."},
            {1624.21, "slot_limited", "width", 16, 1, 15753, true, PN_SPEED_SLOT,
             "1,624 MB/s, 82 % of an x1 link: the slot is the limit."},
            {4518.85, "full", NULL, 16, 4, 63012, false, PN_SPEED_DRIVE,
             "4,519 MB/s, 57 % of the link: the drive is the limit."},
        };

        for (size_t i = 0; i < PN_ELEMENTS(drives); i++) {
                _cleanup_device_ PnDevice device = {0};

                make_drive(&device);
                add_hop(&device, "0000:05:00.0", drives[i].verdict, drives[i].reason,
                        drives[i].speed, drives[i].width, drives[i].mbps);
                if (drives[i].chipset)
                        add_hop(&device, "0000:02:00.0", "full", NULL, 16, 4, 63012);
                assert_int_equal(expect(&device, drives[i].mbs, drives[i].sentence),
                                 drives[i].limit);
        }
}

static void test_other_limits(void **state _unused_)
{
        _cleanup_device_ PnDevice full = {0}, broken = {0}, below = {0}, even = {0}, slow = {0};

        make_drive(&full);
        add_hop(&full, "0000:01:00.0", "full", NULL, 16, 4, 63012);
        assert_int_equal(expect(&full, 7100,
                                "7,100 MB/s, 90 % of the link: the link is the limit, and it is "
                                "at its best."),
                         PN_SPEED_LINK);
        make_drive(&broken);
        add_hop(&broken, "0000:01:00.0", "degraded", "both", 8, 1, 7876);
        assert_int_equal(expect(&broken, 850,
                                "850 MB/s, 86 % of an 8 GT/s x1 link: the link is the limit, and "
                                "it runs below what it could."),
                         PN_SPEED_FAULT);
        make_drive(&below);
        add_hop(&below, "0000:05:00.0", "path_limited", NULL, 16, 4, 63012);
        add_hop(&below, "0000:02:00.0", "slot_limited", "width", 8, 2, 15752);
        assert_int_equal(expect(&below, 1700,
                                "1,700 MB/s, 86 % of the link at 0000:02:00.0 above it: that link "
                                "is the limit."),
                         PN_SPEED_PATH);
        make_drive(&even);
        add_hop(&even, "0000:05:00.0", "full", NULL, 16, 4, 63012);
        add_hop(&even, "0000:02:00.0", "full", NULL, 16, 4, 63012);
        assert_int_equal(expect(&even, 7100,
                                "7,100 MB/s, 90 % of the link: the link is the limit, and it is "
                                "at its best."),
                         PN_SPEED_LINK);
        make_drive(&slow);
        add_hop(&slow, "0000:05:00.0", "slot_limited", "target_speed", 2.5, 4, 8000);
        assert_int_equal(
            expect(&slow, 9.96, "10.0 MB/s, 1 % of a 2.5 GT/s link: the drive is the limit."),
            PN_SPEED_DRIVE);
}

static void test_where_nothing_is_known(void **state _unused_)
{
        _cleanup_device_ PnDevice nothing = {0}, asleep = {0}, disk = {0};

        assert_int_equal(expect(&nothing, 540,
                                "540 MB/s; its link is not known, so there is nothing to hold "
                                "this against."),
                         PN_SPEED_UNKNOWN);
        make_drive(&asleep);
        add_hop(&asleep, "0000:01:00.0", "asleep", NULL, 0, 0, 0);
        assert_int_equal(expect(&asleep, 4450,
                                "4,450 MB/s; its link is not known, so there is nothing to hold "
                                "this against."),
                         PN_SPEED_UNKNOWN);
        assert_non_null(PN_NEW(&disk.disk));
        add_hop(&disk, "0000:03:00.0", "full", NULL, 8, 2, 15752);
        assert_int_equal(expect(&disk, 540, "540 MB/s, 27 % of its controller's link."),
                         PN_SPEED_UNKNOWN);
        assert_int_equal(expect(&disk, 1800,
                                "1,800 MB/s, 91 % of the link: the link is the limit, and it is "
                                "at its best."),
                         PN_SPEED_LINK);
}

static void test_a_shared_uplink(void **state _unused_)
{
        _cleanup_device_ PnDevice a = {0}, b = {0}, c = {0};
        const PnDevice *const all[] = {&a, &b, &c};
        PnDevice *const drives[] = {&a, &b, &c};
        static const char *const names[] = {"0000:04:00.0", "0000:05:00.0", "0000:01:00.0"};
        _cleanup_buf_ PnBuf out = {0}, line = {0}, idle = {0};
        PnSpeedShared shared;
        PnSpeed speeds[3];

        for (size_t i = 0; i < 3; i++) {
                make_drive(drives[i]);
                add_hop(drives[i], names[i], "full", NULL, 16, 4, 63012);
                if (i < 2)
                        add_hop(drives[i], "0000:02:00.0", "full", NULL, 16, 4, 63012);
                pn_speed_judge(all[i], 3.4e9, &speeds[i]);
        }
        pn_speed_share(all, speeds, 3, &shared);
        assert_true(shared.is_limit);
        assert_int_equal(shared.devices, 2);
        assert_int_equal(speeds[0].limit, PN_SPEED_SHARED);
        assert_int_equal(speeds[2].limit, PN_SPEED_DRIVE);
        pn_speed_shared_sentence(&out, &shared, NULL);
        assert_string_equal(out.data, "Together 6,800 MB/s over 0000:02:00.0, which 2 of them "
                                      "share, 86 % of that link: it is the limit.");
        pn_speed_sentence(&line, &speeds[0], NULL);
        assert_string_equal(line.data,
                            "3,400 MB/s, 43 % of the link: what it shares with others is the "
                            "limit.");
        for (size_t i = 0; i < 3; i++)
                pn_speed_judge(all[i], 1e9, &speeds[i]);
        pn_speed_share(all, speeds, 3, &shared);
        assert_false(shared.is_limit);
        assert_int_equal(speeds[0].limit, PN_SPEED_DRIVE);
        pn_speed_shared_sentence(&idle, &shared, NULL);
        assert_non_null(strstr(idle.data, "it is not the limit."));
        pn_speed_share(all + 1, speeds + 1, 2, &shared);
        assert_null(shared.hop);
        assert_false(shared.is_limit);
}

/* Another language, of which a few words will do. */
static const char *foreign(const char *text)
{
        return strcmp(text, ",") == 0             ? "'"
               : strcmp(text, "of the link") == 0 ? "del link"
               : text[0] == ':'                   ? ": basta."
                                                  : text;
}

static void test_other_languages(void **state _unused_)
{
        const PnRating hop = {0};
        const PnSpeed speed = {
            .bytes_per_second = 4.45e9, .limit = PN_SPEED_DRIVE, .hop = &hop, .percent = 57};
        _cleanup_buf_ PnBuf out = {0};

        pn_speed_sentence(&out, &speed, foreign);
        assert_string_equal(out.data, "4'450 MB/s, 57 % del link: basta.");
}

static void test_random_reads(void **state _unused_)
{
        _cleanup_buf_ PnBuf out = {0}, slow = {0};

        pn_speed_random_sentence(&out, 9090.9, 4096, 110, 2345, NULL);
        assert_string_equal(out.data, "9,091 reads a second of 4 KiB, one at a time: each takes "
                                      "110 µs, the longest took 2.3 ms.");
        pn_speed_random_sentence(&slow, 80, 4096, 12500, 1.5e6, NULL);
        assert_string_equal(slow.data, "80 reads a second of 4 KiB, one at a time: each takes "
                                       "12.5 ms, the longest took 1500 ms.");
}

static void test_what_must_not_be_read(void **state _unused_)
{
        static const struct {
                const char *code, *severity;
                bool forbids;
        } cases[] = {
            {"nvme.critical_warning", "warning", true},
            {"nvme.not_live", "warning", true},
            {"nvme.lost", "warning", true},
            {"disk.lost", "warning", true},
            {"probe.stuck", "warning", true},
            {"nvme.spare_low", "critical", true},
            {"nvme.spare_low", "warning", false},
            {"pcie.degraded", "critical", false},
            {"pcie.slot_limited", "notice", false},
        };

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                _cleanup_device_ PnDevice device = {0};
                PnFinding *finding = PN_APPEND(&device.findings);

                assert_non_null(finding);
                assert_int_equal(pn_set_text(&finding->code, cases[i].code), 0);
                assert_int_equal(pn_set_text(&finding->severity, cases[i].severity), 0);
                if ((pn_speed_forbids(&device) != NULL) != cases[i].forbids)
                        fail_msg("%s, %s", cases[i].code, cases[i].severity);
        }
        assert_null(pn_speed_forbids(&(PnDevice){0}));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_first_customer),         cmocka_unit_test(test_other_limits),
            cmocka_unit_test(test_where_nothing_is_known), cmocka_unit_test(test_a_shared_uplink),
            cmocka_unit_test(test_other_languages),        cmocka_unit_test(test_random_reads),
            cmocka_unit_test(test_what_must_not_be_read),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
