/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Joining: slots (case 020), uses by device number, multipath (040), guests (017). */

#include "machine.h"

static const PnPci *find(const PnInventory *inventory, const char *address)
{
        for (unsigned i = 0; i < inventory->pci.n; i++)
                if (pn_text_is(&inventory->pci.v[i].address, address))
                        return &inventory->pci.v[i];
        fail_msg("no %s", address);
        return NULL;
}

static void check_slot(const PnInventory *inventory, const char *address, const char *expected)
{
        const char *name = pn_text(&find(inventory, address)->slot);

        if (!expected)
                assert_null(name);
        else
                assert_string_equal(name ? name : "(none)", expected);
}

static void test_slots(void **state)
{
        PnInventory inventory = {0};
        Ends x4 = {16, 4, 16, 4};

        (void)state;
        /* The kernel's own slot name wins over the board's. */
        port(&inventory, "0000:00:01.1", "root_port", NULL, x4);
        endpoint(&inventory, "0000:01:00.0", "0000:00:01.1", NVME_CLASS, x4);
        assert_int_equal(pn_set_text(&inventory.pci.v[1].slot, "3-1"), 0);
        slot(&inventory, "BOARD NAME", "PCIe 4.0 x16", 16, 4, true, "0000:01:00.0");
        /* SMBIOS gives the device; the card's second function has the same slot. */
        port(&inventory, "0000:00:02.0", "root_port", NULL, x4);
        endpoint(&inventory, "0000:02:00.0", "0000:00:02.0", NIC_CLASS, x4);
        endpoint(&inventory, "0000:02:00.1", "0000:00:02.0", NIC_CLASS, x4);
        slot(&inventory, "PCIEX16_3", "PCIe 4.0 x16", 16, 4, true, "0000:02:00.0");
        /* SMBIOS gives the port, next to another port of the same device number; below it a
         * switch: everything on the card inherits, the neighbour does not. */
        port(&inventory, "0000:00:03.1", "root_port", NULL, x4);
        port(&inventory, "0000:00:03.2", "root_port", NULL, x4);
        port(&inventory, "0000:03:00.0", "upstream_port", "0000:00:03.1", x4);
        port(&inventory, "0000:04:00.0", "downstream_port", "0000:03:00.0", x4);
        endpoint(&inventory, "0000:05:00.0", "0000:04:00.0", NVME_CLASS, x4);
        endpoint(&inventory, "0000:07:00.0", "0000:00:03.2", NVME_CLASS, x4);
        slot(&inventory, "SLOT4", "PCIe 4.0 x16", 16, 4, true, "0000:00:03.1");
        /* An empty slot: SMBIOS gives the bus below the port. */
        port(&inventory, "0000:00:04.0", "root_port", NULL, x4)->secondary_bus = pn_int(9);
        slot(&inventory, "FREE", "PCIe 4.0 x4", 16, 4, false, "0000:09:00.0");
        /* Two slots with one address: the one that is in use, wherever it is in the list. */
        port(&inventory, "0000:00:05.0", "root_port", NULL, x4);
        endpoint(&inventory, "0000:0a:00.0", "0000:00:05.0", NVME_CLASS, x4);
        slot(&inventory, "TWIN_1", "PCIe 4.0 x4", 16, 4, false, "0000:0a:00.0");
        slot(&inventory, "TWIN_2", "PCIe 4.0 x4", 16, 4, true, "0000:0a:00.0");
        /* A placeholder names nothing. */
        slot(&inventory, "GHOST", "PCIe 4.0 x4", 16, 4, false, "0000:ff:00.0");

        for (int round = 0; round < 2; round++) {
                assert_int_equal(pn_join(&inventory), 0);
                check_slot(&inventory, "0000:01:00.0", "3-1");
                check_slot(&inventory, "0000:0a:00.0", "TWIN_2");
                check_slot(&inventory, "0000:02:00.0", "PCIEX16_3");
                check_slot(&inventory, "0000:02:00.1", "PCIEX16_3");
                check_slot(&inventory, "0000:00:03.1", "SLOT4");
                check_slot(&inventory, "0000:05:00.0", "SLOT4");
                check_slot(&inventory, "0000:00:03.2", NULL);
                check_slot(&inventory, "0000:07:00.0", NULL);
                check_slot(&inventory, "0000:00:04.0", "FREE");
        }
        forget(&inventory);
}

static PnNamespace *namespace_of(PnNvme *drive, const char *name, const char *number)
{
        PnNamespace *namespace = PN_APPEND(&drive->namespaces);

        assert_non_null(namespace);
        assert_int_equal(pn_set_text(&namespace->name, name), 0);
        assert_int_equal(pn_set_text(&namespace->device_number, number), 0);
        return namespace;
}

static void block_use(PnInventory *inventory, const char *name, const char *number,
                      const char *pool)
{
        PnBlockUses *uses = PN_APPEND(&inventory->namespace_uses);
        PnUse *use;

        assert_non_null(uses);
        assert_int_equal(pn_set_text(&uses->name, name), 0);
        assert_int_equal(pn_set_text(&uses->device_number, number), 0);
        uses->uses.state = PN_KNOWN;
        if (!pool)
                return;
        use = PN_APPEND(&uses->uses);
        assert_non_null(use);
        assert_int_equal(pn_set_text(&use->type, "zfs_member"), 0);
        assert_int_equal(pn_set_text(&use->name, pool), 0);
}

static void test_uses(void **state)
{
        PnInventory inventory = {0};
        PnNvme *one;

        (void)state;
        one = drive(&inventory, "nvme10", "0000:01:00.0", "A");
        namespace_of(one, "nvme10n1", "259:0");
        one = drive(&inventory, "nvme2", "0000:02:00.0", "B");
        /* The number decides, not the name. */
        namespace_of(one, "nvme2n1", "259:9");
        /* Two controllers of one subsystem show one namespace. */
        one = drive(&inventory, "nvme3", "0000:03:00.0", "B");
        namespace_of(one, "nvme2n1", "259:9");
        one = drive(&inventory, "nvme4", "0000:04:00.0", "C");
        namespace_of(one, "nvme4n1", "259:7");
        one = drive(&inventory, "nvme5", "0000:05:00.0", "D");
        namespace_of(one, "nvme5n1", NULL);
        block_use(&inventory, "nvme10n1", "259:0", NULL);
        block_use(&inventory, "renamed", "259:9", "tank");
        block_use(&inventory, "nvme4n1", "259:8", "wrong");
        block_use(&inventory, "nvme5n1", "259:5", "byname");

        for (int round = 0; round < 2; round++) {
                assert_int_equal(pn_join(&inventory), 0);
                /* In the order that people expect. */
                assert_string_equal(inventory.nvme.v[0].name.v, "nvme2");
                assert_string_equal(inventory.nvme.v[4].name.v, "nvme10");
                for (int i = 0; i < 2; i++) {
                        assert_int_equal(inventory.nvme.v[i].namespaces.v[0].uses.n, 1);
                        assert_string_equal(inventory.nvme.v[i].namespaces.v[0].uses.v[0].name.v,
                                            "tank");
                }
                /* Known to carry nothing, and not known at all, are two things. */
                assert_int_equal(inventory.nvme.v[4].namespaces.v[0].uses.state, PN_KNOWN);
                assert_int_equal(inventory.nvme.v[4].namespaces.v[0].uses.n, 0);
                assert_int_equal(inventory.nvme.v[2].namespaces.v[0].uses.state,
                                 PN_UNREAD_CANNOT_JOIN);
                assert_string_equal(inventory.nvme.v[3].namespaces.v[0].uses.v[0].name.v, "byname");
                assert_int_equal(inventory.namespace_uses.n, 0);
        }
        forget(&inventory);
}

static void test_guest_is_not_lost(void **state)
{
        PnInventory inventory = {0};

        (void)state;
        port(&inventory, "0000:00:01.1", "root_port", NULL, (Ends){8, 4, 8, 4});
        endpoint(&inventory, "0000:01:00.0", "0000:00:01.1", NVME_CLASS, (Ends){8, 4, 8, 4})
            ->passed_through = pn_bool(true);
        drive(&inventory, "nvme0", "0000:01:00.0", "A")->lost = pn_bool(true);
        drive(&inventory, "nvme1", "0000:02:00.0", "B")->lost = pn_bool(true);
        assert_int_equal(pn_join(&inventory), 0);
        assert_int_equal(inventory.nvme.n, 1);
        assert_string_equal(inventory.nvme.v[0].name.v, "nvme1");
        forget(&inventory);
}

static void test_names(void **state)
{
        static const char *const sorted[] = {"",      "a",        "nvme0",  "nvme0n1",
                                             "nvme2", "nvme2n10", "nvme10", "sda"};

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(sorted); i++)
                for (size_t k = 0; k < PN_ELEMENTS(sorted); k++) {
                        int r = pn_name_compare(sorted[i], sorted[k]);

                        assert_true(i == k ? r == 0 : i < k ? r < 0 : r > 0);
                }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_slots),
            cmocka_unit_test(test_uses),
            cmocka_unit_test(test_guest_is_not_lost),
            cmocka_unit_test(test_names),
        };

        return cmocka_run_group_tests_name("join", tests, NULL, NULL);
}
