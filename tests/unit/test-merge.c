/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is kept from one reading to the next does not grow without end. */

#include "machine.h"

#include <stdio.h>

#include "merge.h"

static void many_drives(PnInventory *inventory, unsigned run, unsigned n)
{
        for (unsigned i = 0; i < n; i++) {
                char name[32];

                (void)snprintf(name, sizeof name, "nvme%u", run * n + i);
                drive(inventory, name, NULL, NULL);
        }
}

static void test_failed_runs_do_not_pile_up(void **state)
{
        PnInventory kept = {0};
        unsigned n = PN_KEPT_MAX / 4 + 1;

        (void)state;
        for (unsigned run = 0; run < 6; run++) {
                PnInventory incoming = {0};

                many_drives(&incoming, run, n);
                assert_int_equal(pn_merge_nvme(&kept, &incoming, /* complete= */ false), 0);
                assert_int_equal(incoming.nvme.n, 0);
                assert_in_range(kept.nvme.n, n, PN_KEPT_MAX);
                /* What came last is always there, and first. */
                assert_true(pn_text_is(&kept.nvme.v[0].model, "Example SSD"));
        }
        forget(&kept);
}

/* A run that was cut short takes nothing away, and one that was not tells what is lost. */
static void test_drives_stay_or_are_lost(void **state)
{
        PnInventory kept = {0}, incoming = {0};

        (void)state;
        drive(&incoming, "nvme0", "0000:01:00.0", "S0");
        drive(&incoming, "nvme1", "0000:02:00.0", "S1");
        assert_int_equal(pn_merge_nvme(&kept, &incoming, true), 0);
        drive(&incoming, "nvme0", "0000:01:00.0", "S0");
        assert_int_equal(pn_merge_nvme(&kept, &incoming, false), 0);
        assert_int_equal(kept.nvme.n, 2);
        assert_false(pn_is_true(kept.nvme.v[1].lost));
        drive(&incoming, "nvme0", "0000:01:00.0", "S0");
        assert_int_equal(pn_merge_nvme(&kept, &incoming, true), 0);
        assert_int_equal(kept.nvme.n, 2);
        assert_false(pn_is_true(kept.nvme.v[0].lost));
        assert_true(pn_is_true(kept.nvme.v[1].lost));
        forget(&kept);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_failed_runs_do_not_pile_up),
            cmocka_unit_test(test_drives_stay_or_are_lost),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
