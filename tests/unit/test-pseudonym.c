/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests lib/pseudonym.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "pseudonym.h"

/* Random enough, and the same in each run. */
static int numbers(void *userdata, void *bytes, size_t n)
{
        uint64_t *state = userdata;
        unsigned char *at = bytes;

        for (size_t i = 0; i < n; i++) {
                *state = *state * 6364136223846793005u + 1442695040888963407u;
                at[i] = (unsigned char)(*state >> 33);
        }
        return 0;
}

static int no_numbers(void *userdata _unused_, void *bytes _unused_, size_t n _unused_)
{
        return -ENOSYS;
}

static bool is_text(const PnField *field)
{
        return field->kind == PN_KIND_KEY || field->kind == PN_KIND_TEXT ||
               field->kind == PN_KIND_TEXTS;
}

/* Each text that an inventory can hold is decided, so that a new one is not forgotten. */
static unsigned undecided(const PnType *type)
{
        unsigned n = 0;

        for (unsigned i = 0; i < type->n_fields; i++) {
                PnTreatment treatment;

                if (is_text(&type->fields[i]) &&
                    pn_treatment_of(type->name, type->fields[i].name, &treatment) < 0) {
                        (void)fprintf(stderr,
                                      "lib/pseudonym.c does not say whether %s.%s "
                                      "identifies a machine\n",
                                      type->name, type->fields[i].name);
                        n++;
                }
                if (type->fields[i].type)
                        n += undecided(type->fields[i].type());
        }
        return n;
}

static bool has_field(const PnType *type, const char *name, const char *field)
{
        if (strcmp(type->name, name) == 0)
                return pn_field(type, field) && is_text(pn_field(type, field));
        for (unsigned i = 0; i < type->n_fields; i++)
                if (type->fields[i].type && has_field(type->fields[i].type(), name, field))
                        return true;
        return false;
}

static void test_every_text_is_decided(void **state _unused_)
{
        const char *type, *field;
        PnTreatment treatment;

        assert_int_equal(undecided(pn_type_Inventory()), 0);
        for (size_t i = 0; pn_treatment_row(i, &type, &field); i++)
                if (!has_field(pn_type_Inventory(), type, field))
                        fail_msg("lib/pseudonym.c decides %s.%s, which there is not", type, field);
        assert_int_equal(pn_treatment_of("Nvme", "serial", &treatment), 0);
        assert_int_equal(treatment, PN_TREAT_SERIAL);
        assert_int_equal(pn_treatment_of("Nvme", "colour", &treatment), -ENOENT);
}

static PnNvme *add_drive(PnInventory *inventory, const char *name, const char *serial,
                         const char *subsystem)
{
        PnNvme *drive = PN_APPEND(&inventory->nvme);

        assert_non_null(drive);
        assert_int_equal(pn_set_text(&drive->name, name), 0);
        assert_int_equal(pn_set_text(&drive->serial, serial), 0);
        assert_int_equal(pn_set_text(&drive->subsystem, subsystem), 0);
        return drive;
}

static PnNic *add_port(PnInventory *inventory, const char *name, const char *mac)
{
        PnNic *nic = PN_APPEND(&inventory->nics);

        assert_non_null(nic);
        assert_int_equal(pn_set_text(&nic->id, name), 0);
        assert_int_equal(pn_set_text(&nic->name, name), 0);
        assert_int_equal(pn_set_text(&nic->mac, mac), 0);
        return nic;
}

static void add_use(PnNvme *drive, const char *name, const char *mount)
{
        PnNamespace *ns = PN_APPEND(&drive->namespaces);
        PnUse *use;

        assert_non_null(ns);
        assert_int_equal(pn_set_text(&ns->name, "nvme0n1"), 0);
        use = PN_APPEND(&ns->uses);
        assert_non_null(use);
        assert_int_equal(pn_set_text(&use->type, "zfs_member"), 0);
        assert_int_equal(pn_set_text(&use->name, name), 0);
        assert_int_equal(pn_set_text(&use->mount, mount), 0);
}

static PnPseudonymsMade run(PnInventory *inventory, bool keep_names, uint64_t seed)
{
        PnPseudonymsMade made = {0};

        assert_int_equal(pn_pseudonymise(inventory, keep_names, numbers, &seed, &made), 0);
        return made;
}

static void done(PnInventory *inventory)
{
        pn_done(pn_type_Inventory(), inventory);
}

static void test_same_value_same_pseudonym(void **state _unused_)
{
        _cleanup_(done) PnInventory inventory = {0}, again = {0};
        PnPseudonymsMade made;
        PnNvmeHealth *health;

        for (unsigned i = 0; i < 2; i++) {
                PnInventory *which = i ? &again : &inventory;

                (void)add_drive(which, "nvme0", "7QH00RTP", NULL);
                (void)add_drive(which, "nvme1", "7QH00RTP", NULL);
                (void)add_drive(which, "nvme2", "PK4620000104", NULL);
                health = PN_APPEND(&which->nvme_health);
                assert_non_null(health);
                assert_int_equal(pn_set_text(&health->name, "nvme2"), 0);
                assert_int_equal(pn_set_text(&health->serial, "PK4620000104"), 0);
        }
        made = run(&inventory, false, 1);
        (void)run(&again, false, 2);
        assert_int_equal(made.n[PN_TREAT_SERIAL], 2);
        assert_string_equal(inventory.nvme.v[0].serial.v, inventory.nvme.v[1].serial.v);
        assert_string_equal(inventory.nvme.v[2].serial.v, inventory.nvme_health.v[0].serial.v);
        assert_string_not_equal(inventory.nvme.v[0].serial.v, "7QH00RTP");
        assert_string_not_equal(inventory.nvme.v[0].serial.v, again.nvme.v[0].serial.v);
        assert_int_equal(strlen(inventory.nvme.v[2].serial.v), 12);
        assert_int_equal(strspn(inventory.nvme.v[2].serial.v + 2, "0123456789"), 10);
        assert_string_equal(inventory.nvme.v[1].name.v, "nvme1");
}

static void test_no_two_get_the_same(void **state _unused_)
{
        _cleanup_(done) PnInventory inventory = {0};
        char serial[8];

        /* More values than their shape has members. */
        for (int i = 0; i < 150; i++) {
                (void)snprintf(serial, sizeof serial, i < 10 ? "%d" : "%02d", i);
                (void)add_drive(&inventory, "nvme", serial, NULL);
        }
        (void)run(&inventory, false, 3);
        for (unsigned i = 0; i < 150; i++)
                for (unsigned k = 0; k < i; k++)
                        assert_string_not_equal(inventory.nvme.v[i].serial.v,
                                                inventory.nvme.v[k].serial.v);
}

static void test_macs_keep_their_maker(void **state _unused_)
{
        _cleanup_(done) PnInventory inventory = {0};
        char compact[16] = "enx";
        const char *mac;

        (void)add_port(&inventory, "eno1", "a0:36:9f:12:34:56");
        (void)add_port(&inventory, "enxa0369f123456", "a0:36:9f:12:34:56");
        (void)add_port(&inventory, "bond0", "00:00:00:00:00:00");
        (void)add_port(&inventory, "vmbr0", "02:36:9f:12:34:56");
        (void)add_port(&inventory, "enxa0369faabbcc", NULL);
        (void)run(&inventory, false, 4);
        mac = inventory.nics.v[0].mac.v;
        assert_true(pn_startswith(mac, "a0:36:9f:"));
        assert_string_not_equal(mac, "a0:36:9f:12:34:56");
        assert_int_equal(strlen(mac), 17);
        for (size_t i = 0, n = 3; mac[i]; i++)
                if (mac[i] != ':')
                        compact[n++] = mac[i];
        assert_string_equal(inventory.nics.v[1].name.v, compact);
        assert_string_equal(inventory.nics.v[1].id.v, compact);
        assert_string_equal(inventory.nics.v[2].mac.v, "00:00:00:00:00:00");
        assert_true(pn_startswith(inventory.nics.v[3].mac.v, "02:"));
        assert_null(strstr(inventory.nics.v[3].mac.v, "36:9f:12"));
        assert_true(pn_startswith(inventory.nics.v[4].name.v, "enxa0369f"));
        assert_string_not_equal(inventory.nics.v[4].name.v, "enxa0369faabbcc");
        assert_string_equal(inventory.nics.v[0].name.v, "eno1");
}

static void test_names(void **state _unused_)
{
        static const char *const kept[] = {"eno1",  "enp4s0f0",  "ens3f0np0", "eth0",
                                           "vmbr0", "bond0.100", "enP2p1s0",  "0000:05:00.0"};
        _cleanup_(done) PnInventory inventory = {0}, kept_names = {0};

        for (unsigned k = 0; k < 2; k++) {
                PnInventory *which = k ? &kept_names : &inventory;

                for (size_t i = 0; i < PN_ELEMENTS(kept); i++)
                        (void)add_port(which, kept[i], NULL);
                assert_int_equal(pn_set_text(&add_port(which, "uplink", NULL)->master, "customer"),
                                 0);
                (void)add_port(which, "customer", NULL);
                add_use(add_drive(which, "nvme0", "S3Z8NB0K", NULL), "rpool", "/var/lib/vz");
                add_use(add_drive(which, "nvme1", "S3Z8NB0L", NULL), "secret/vault",
                        "/srv/S3Z8NB0L/secret");
        }
        (void)run(&inventory, false, 5);
        for (size_t i = 0; i < PN_ELEMENTS(kept); i++)
                assert_string_equal(inventory.nics.v[i].name.v, kept[i]);
        assert_string_not_equal(inventory.nics.v[PN_ELEMENTS(kept)].name.v, "uplink");
        assert_string_equal(inventory.nics.v[PN_ELEMENTS(kept)].master.v,
                            inventory.nics.v[PN_ELEMENTS(kept) + 1].name.v);
        assert_string_not_equal(inventory.nics.v[PN_ELEMENTS(kept) + 1].name.v, "customer");
        assert_string_equal(inventory.nvme.v[0].namespaces.v[0].uses.v[0].name.v, "rpool");
        assert_string_equal(inventory.nvme.v[0].namespaces.v[0].uses.v[0].mount.v, "/var/lib/vz");
        {
                const PnUse *use = &inventory.nvme.v[1].namespaces.v[0].uses.v[0];

                assert_null(strstr(use->name.v, "secret"));
                assert_null(strstr(use->name.v, "vault"));
                assert_true(pn_startswith(use->mount.v, "/srv/"));
                assert_null(strstr(use->mount.v, "S3Z8NB0L"));
                assert_null(strstr(use->mount.v, "secret"));
                /* One part, one pseudonym, in a name and in a path. */
                assert_int_equal(strncmp(strrchr(use->mount.v, '/') + 1, use->name.v, 6), 0);
        }
        (void)run(&kept_names, true, 5);
        assert_string_equal(kept_names.nics.v[PN_ELEMENTS(kept)].name.v, "uplink");
        {
                const PnUse *use = &kept_names.nvme.v[1].namespaces.v[0].uses.v[0];

                assert_string_equal(use->name.v, "secret/vault");
                assert_null(strstr(use->mount.v, "S3Z8NB0L"));
                assert_true(pn_startswith(use->mount.v, "/srv/"));
                assert_non_null(strstr(use->mount.v, "/secret"));
        }
}

static void test_secrets_inside_of_texts(void **state _unused_)
{
        _cleanup_(done) PnInventory inventory = {0};
        PnNvme *drive = add_drive(&inventory, "nvme0", "7QH00RTP", NULL);
        PnSource *source = PN_APPEND(&inventory.sources);
        PnHost *host = PN_NEW(&inventory.host);

        assert_non_null(source);
        assert_non_null(host);
        add_use(drive, "vault", NULL);
        assert_int_equal(pn_set_text(&host->hostname, "db1.example.org"), 0);
        assert_int_equal(pn_set_text(&host->os, "example Linux, examples, 00:1b:21:aa:bb:cc"), 0);
        assert_int_equal(pn_set_text(&drive->model, "Drive x7QH00RTPx vault"), 0);
        assert_int_equal(pn_set_text(&source->name, "block"), 0);
        assert_int_equal(
            pn_set_text(&source->reason,
                        "/vault: 7QH00RTP on 123e4567-e89b-12d3-a456-426614174000 is stuck"),
            0);
        (void)run(&inventory, false, 6);
        assert_null(strstr(drive->model.v, "7QH00RTP"));
        assert_true(pn_startswith(drive->model.v, "Drive x"));
        /* A pool's name is a word, and a model is no place for it. */
        assert_non_null(strstr(drive->model.v, "vault"));
        assert_null(strstr(source->reason.v, "vault"));
        assert_null(strstr(source->reason.v, "7QH00RTP"));
        assert_null(strstr(source->reason.v, "123e4567"));
        assert_non_null(strstr(source->reason.v, "is stuck"));
        assert_null(strstr(host->hostname.v, "example"));
        assert_int_equal(strlen(host->hostname.v), strlen("db1.example.org"));
        assert_false(pn_startswith(host->os.v, "example"));
        assert_non_null(strstr(host->os.v, "Linux, examples, 00:1b:21:"));
        assert_null(strstr(host->os.v, "aa:bb:cc"));
}

/* Runs a text through: that of a reason, which stands for all free ones. */
static const char *reason_of(PnInventory *inventory, const char *text)
{
        PnSource *source = PN_APPEND(&inventory->sources);

        assert_non_null(source);
        assert_int_equal(pn_set_text(&source->name, "block"), 0);
        assert_int_equal(pn_set_text(&source->reason, text), 0);
        (void)run(inventory, false, 11);
        return source->reason.v;
}

static PnInventory with_secrets(void)
{
        PnInventory inventory = {0};
        PnHost *host = PN_NEW(&inventory.host);
        PnDisk *disk = PN_APPEND(&inventory.disks);

        assert_non_null(host);
        assert_non_null(disk);
        assert_int_equal(pn_set_text(&host->hostname, "db1"), 0);
        (void)add_drive(&inventory, "nvme0", "S4EVNX0R", NULL);
        (void)add_drive(&inventory, "nvme1", "000000123456789", NULL);
        (void)add_drive(&inventory, "nvme2", "PK-46 200x", NULL);
        (void)add_drive(&inventory, "nvme3", "ab12",
                        "nqn.2014-08.org.nvmexpress:uuid:123e4567-e89b-12d3-a456-426614174000");
        (void)add_port(&inventory, "eno1", "a0:36:9f:c2:34:56");
        assert_int_equal(pn_set_text(&disk->name, "sda"), 0);
        assert_int_equal(pn_set_text(&disk->wwn, "naa.5002538e40a3b1c2"), 0);
        return inventory;
}

static void test_other_spellings(void **state _unused_)
{
        static const char *const leaks[][2] = {
            {"s4evnx0r", "4evnx0r"},
            {"x S4EV-NX0R y", "NX0R"},
            {"x S4 EV NX:0r y", "NX:0r"},
            {"(123456789)", "456"},
            {"x00123456789", "456789"},
            {"PK46200X", "46200"},
            {"pk_46.200x", "200x"},
            {"nvme-eui.123E4567E89B12D3A456426614174000", "426614174000"},
            {"123e4567-E89B-12d3-a456-426614174000", "426614174000"},
            {"A0:36:9F:C2:34:56", "C2:34:56"},
            {"a0-36-9f-c2-34-56", "c2-34-56"},
            {"a036.9fc2.3456", "c2.3456"},
            {"enxa0369fc23456", "c23456"},
            {"a2369ffffec23456", "c23456"},
            {"fe80::a236:9fff:fec2:3456", "c2:3456"},
            {"0xa0369f0300c23456", "c23456"},
            {"wwn-0x5002538e40a3b1c2-part1", "40a3b1c2"},
            {"5002538E40A3B1C2", "40A3B1C2"},
            /* What no field has. */
            {"00-1B-21-AA-BB-CC", "AA-BB-CC"},
            {"001b.21aa.bbcc", "aa.bbcc"},
            {"wwn-0x50014ee2b5a1c9d0", "2b5a1c9d0"},
            {"36d0946607a1b2c3d4e5f60718293a4b", "b2c3d4e5f6"},
            {"db1: refused", "db1"},
            {"DB1", "DB1"},
            {"root@db1.corp.example.org.", "example"},
        };
        static const char *const kept[] = {"ab 12, AB-12",   "S4EVN",
                                           "0000:05:00.0",   "0x8000a4ae 1.2926.0",
                                           "2026.0110.1200", "Db1",
                                           "x123456",        "20-26-12-01-10-00",
                                           "errno 5",        "/sys/block/sda: I/O error"};

        for (size_t i = 0; i < PN_ELEMENTS(leaks); i++) {
                _cleanup_(done) PnInventory inventory = with_secrets();
                const char *got = reason_of(&inventory, leaks[i][0]);

                if (strstr(got, leaks[i][1]))
                        fail_msg("%s became %s", leaks[i][0], got);
                assert_int_equal(strlen(got), strlen(leaks[i][0]));
        }
        for (size_t i = 0; i < PN_ELEMENTS(kept); i++) {
                _cleanup_(done) PnInventory inventory = with_secrets();

                assert_string_equal(reason_of(&inventory, kept[i]), kept[i]);
        }
}

/* It is the same pseudonym, spelled as the value was. */
static void test_spellings_of_one_value_stay_alike(void **state _unused_)
{
        _cleanup_(done) PnInventory inventory = with_secrets();
        const char *got = reason_of(&inventory, "S4EVNX0R, s4evnx0r, S4EV-NX0R; a0369fc23456 "
                                                "a0-36-9f-c2-34-56");
        const char *serial = inventory.nvme.v[0].serial.v, *mac = inventory.nics.v[0].mac.v;
        char wanted[128];

        for (size_t i = 0; i < 8; i++) {
                assert_int_equal(got[i], serial[i]);
                assert_int_equal(got[10 + i] & ~0x20, serial[i] & ~0x20);
                assert_int_equal(got[20 + i + (i >= 4)], serial[i]);
        }
        assert_int_equal(got[24], '-');
        (void)snprintf(wanted, sizeof wanted, "a0369f%.2s%.2s%.2s a0-36-9f-%.2s-%.2s-%.2s", mac + 9,
                       mac + 12, mac + 15, mac + 9, mac + 12, mac + 15);
        assert_string_equal(got + 31, wanted);
}

static void test_nqns_and_wwns(void **state _unused_)
{
        static const char *const nqns[] = {
            "nqn.2014-08.org.nvmexpress:uuid:123e4567-e89b-12d3-a456-426614174000",
            "nqn.2014.08.org.nvmexpress:1cc11cc17QH00RTP            Drive",
            "nqn.2020-01.com.acme:x1"};
        static const char *const wwns[] = {"naa.5002538e40a3b1c2", "eui.0025385b71b00f2a",
                                           "0x5002538e40a3b1c2", "t10.ATA     Drive    S3Z8NB0K"};
        static const size_t prefixes[] = {32, 27, 4}, wwn_prefixes[] = {11, 10, 9, 4};
        _cleanup_(done) PnInventory inventory = {0};

        for (size_t i = 0; i < PN_ELEMENTS(nqns); i++)
                (void)add_drive(&inventory, "nvme", NULL, nqns[i]);
        for (size_t i = 0; i < PN_ELEMENTS(wwns); i++) {
                PnDisk *disk = PN_APPEND(&inventory.disks);

                assert_non_null(disk);
                assert_int_equal(pn_set_text(&disk->name, "sda"), 0);
                assert_int_equal(pn_set_text(&disk->wwn, wwns[i]), 0);
        }
        (void)run(&inventory, false, 7);
        for (size_t i = 0; i < PN_ELEMENTS(nqns); i++) {
                const char *got = inventory.nvme.v[i].subsystem.v;

                assert_int_equal(strlen(got), strlen(nqns[i]));
                assert_int_equal(strncmp(got, nqns[i], prefixes[i]), 0);
                assert_string_not_equal(got + prefixes[i], nqns[i] + prefixes[i]);
                assert_null(strstr(got, "acme"));
        }
        for (size_t i = 0; i < PN_ELEMENTS(wwns); i++) {
                const char *got = inventory.disks.v[i].wwn.v;

                assert_int_equal(strlen(got), strlen(wwns[i]));
                assert_int_equal(strncmp(got, wwns[i], wwn_prefixes[i]), 0);
                assert_string_not_equal(got, wwns[i]);
        }
        assert_null(strstr(inventory.disks.v[3].wwn.v, "S3Z8NB0K"));
}

static void test_odd_values(void **state _unused_)
{
        static const char *const odd[] = {"",       " ",       "----", "\xc3\xa4\xc3\xb6",
                                          "x\x01y", "\xff\xfe"};
        _cleanup_(done) PnInventory inventory = {0}, failing = {0};
        PnPseudonymsMade made;

        for (size_t i = 0; i < PN_ELEMENTS(odd); i++)
                (void)add_drive(&inventory, "nvme", odd[i], odd[i]);
        (void)run(&inventory, false, 8);
        assert_string_equal(inventory.nvme.v[2].serial.v, "----");
        assert_int_equal(strlen(inventory.nvme.v[3].serial.v), 2);
        (void)add_drive(&failing, "nvme0", "7QH00RTP", NULL);
        assert_int_equal(pn_pseudonymise(&failing, false, no_numbers, NULL, &made), -ENOSYS);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_every_text_is_decided),
            cmocka_unit_test(test_same_value_same_pseudonym),
            cmocka_unit_test(test_no_two_get_the_same),
            cmocka_unit_test(test_macs_keep_their_maker),
            cmocka_unit_test(test_names),
            cmocka_unit_test(test_secrets_inside_of_texts),
            cmocka_unit_test(test_other_spellings),
            cmocka_unit_test(test_spellings_of_one_value_stay_alike),
            cmocka_unit_test(test_nqns_and_wwns),
            cmocka_unit_test(test_odd_values),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
