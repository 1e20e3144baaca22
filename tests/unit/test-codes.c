/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the table of finding codes, of what findings are about, and of the index of names. */
#include "machine.h"

#include <stdio.h>

#include "assess.h"
#include "finding.h"

static bool is_source(const char *word, size_t n)
{
        static const char *const names[] = {"host", "pci",    "nvme",   "block",
                                            "net",  "module", "health", "sensors"};

        for (size_t i = 0; i < PN_ELEMENTS(names); i++)
                if (strlen(names[i]) == n && strncmp(names[i], word, n) == 0)
                        return true;
        return false;
}

static void sources_are_valid(const PnCodeInfo *info)
{
        const char *at = info->sources;

        /* The probe's own troubles must be told whatever could not be read. */
        assert_int_equal(*at == '\0', pn_startswith(info->name, "probe."));
        while (*at) {
                size_t n = strcspn(at, " ");

                if (!is_source(at, n))
                        fail_msg("%s: no source \"%.*s\"", info->name, (int)n, at);
                at += n;
                if (*at == ' ') {
                        at++;
                        assert_true(*at != '\0');
                }
        }
}

static unsigned sentences(const char *text)
{
        unsigned n = 0;

        for (const char *at = text; *at; at++)
                n += (*at == '.' || *at == '?') && (at[1] == ' ' || at[1] == '\0');
        return n;
}

/* Text that a reader can be shown: no control characters, no blank at an end, none doubled. */
static void is_text(const char *name, const char *text)
{
        size_t n = strlen(text);

        if (!n || text[0] == ' ' || text[n - 1] == ' ' || strstr(text, "  "))
                fail_msg("%s: \"%s\"", name, text);
        for (size_t i = 0; i < n; i++)
                assert_true((unsigned char)text[i] >= ' ');
}

static void rows_are_complete(_unused_ void **state)
{
        assert_int_equal(PN_N_CODES, 30);
        for (unsigned i = 0; i < PN_N_CODES; i++) {
                const PnCodeInfo *info = pn_code_info((PnCode)i);
                PnCode found;

                assert_int_equal(pn_code_from_name(info->name, &found), 0);
                assert_int_equal(found, i);
                assert_true(pn_severity_rank(info->worst) > pn_severity_rank("info"));
                assert_true(info->raise_s > 0 && info->clear_s >= info->raise_s);
                sources_are_valid(info);
                is_text(info->name, info->title);
                is_text(info->name, info->meaning);
                is_text(info->name, info->remedy);
                assert_true(strlen(info->title) <= 60);
                assert_null(strchr(info->title, ':')); /* completion shows "code:title" */
                assert_true(info->title[strlen(info->title) - 1] != '.');
                if (sentences(info->meaning) < 2 || info->meaning[strlen(info->meaning) - 1] != '.')
                        fail_msg("%s: %u sentences", info->name, sentences(info->meaning));
                assert_true(info->remedy[strlen(info->remedy) - 1] == '.');
        }
}

static void message_ids_are_unique(_unused_ void **state)
{
        for (unsigned i = 0; i < PN_N_CODES; i++) {
                const char *id = pn_code_info((PnCode)i)->message_id;

                assert_int_equal(strlen(id), 32);
                assert_int_equal(strspn(id, "0123456789abcdef"), 32);
                for (unsigned k = 0; k < i; k++)
                        assert_string_not_equal(id, pn_code_info((PnCode)k)->message_id);
        }
}

static void unknown_names_are_refused(_unused_ void **state)
{
        PnCode code = PN_CODE_nvme_hot;

        assert_int_equal(pn_code_from_name(NULL, &code), -EINVAL);
        assert_int_equal(pn_code_from_name("", &code), -EINVAL);
        assert_int_equal(pn_code_from_name("nvme", &code), -EINVAL);
        assert_int_equal(pn_code_from_name("nvme.hotter", &code), -EINVAL);
        assert_int_equal(code, PN_CODE_nvme_hot);
}

/* What is accepted today must be the same finding after every update: these are contract. */
static void ids_never_change(_unused_ void **state)
{
        char id[13];

        pn_finding_id(PN_CODE_pcie_slot_limited, "drive S1", id);
        assert_string_equal(id, "20247d1d8c51");
        pn_finding_id(PN_CODE_nvme_hot, "drive S1", id);
        assert_string_equal(id, "d1d0c6515aa6");
}

static PnNvme *make_drive(PnInventory *inventory, const char *name, const char *serial,
                          const char *model, const char *subsystem)
{
        PnNvme *one = PN_APPEND(&inventory->nvme);

        assert_non_null(one);
        assert_int_equal(pn_set_text(&one->name, name), 0);
        assert_int_equal(pn_set_text(&one->serial, serial), 0);
        assert_int_equal(pn_set_text(&one->model, model), 0);
        assert_int_equal(pn_set_text(&one->subsystem, subsystem), 0);
        return one;
}

static PnNic *make_nic(PnInventory *inventory, const char *id, const char *mac)
{
        PnNic *port = PN_APPEND(&inventory->nics);

        assert_non_null(port);
        assert_int_equal(pn_set_text(&port->id, id), 0);
        assert_int_equal(pn_set_text(&port->permanent_mac, mac), 0);
        return port;
}

static void subjects(_unused_ void **state)
{
        static const struct {
                const char *name, *serial, *model, *subsystem, *right;
        } drives[] = {
            {"nvme0", "S1", "M", "nqn.1", "drive S1"},
            {"nvme1", "S2", "M", "nqn.2", "other"}, /* the same as nvme2 */
            {"nvme2", "S2", "M", "nqn.3", "other"},
            {"nvme3", "S2", "N", "nqn.4", "drive S2"}, /* another model may have it */
            {"nvme4", "S3", "M", "nqn.5", "drive S3"}, /* one drive, two controllers */
            {"nvme5", "S3", "M", "nqn.5", "drive S3"},
            {"nvme6", NULL, "M", "nqn.6", "other"},
            {"nvme7", "S4", NULL, NULL, "drive S4"},
            {"nvme8", "S5", "M", NULL, "other"},
            {"nvme9", "S5", "M", "nqn.7", "other"},
        };
        static const struct {
                const char *id, *mac, *right;
        } nics[] = {
            {"eno1", "02:00:00:00:00:01", "port 02:00:00:00:00:01"},
            {"eno2", "02:00:00:00:00:02", "interface eno2"},
            {"eno3", "02:00:00:00:00:02", "interface eno3"},
            {"eno4", NULL, "interface eno4"},
        };
        PnInventory inventory = {0};
        PnTopology topology = {0};
        PnNames names;
        PnFacts facts = {.inventory = &inventory, .names = &names, .topology = &topology};

        for (size_t i = 0; i < PN_ELEMENTS(drives); i++)
                (void)make_drive(&inventory, drives[i].name, drives[i].serial, drives[i].model,
                                 drives[i].subsystem);
        for (size_t i = 0; i < PN_ELEMENTS(nics); i++)
                (void)make_nic(&inventory, nics[i].id, nics[i].mac);
        assert_int_equal(pn_names_build(&inventory, NULL, &names), 0);
        for (size_t i = 0; i < PN_ELEMENTS(drives); i++) {
                PnText subject = {0};

                assert_int_equal(pn_finding_subject_for_drive(&facts, &inventory.nvme.v[i], NULL,
                                                              "other", &subject),
                                 0);
                assert_string_equal(subject.v, drives[i].right);
                free(subject.v);
        }
        for (size_t i = 0; i < PN_ELEMENTS(nics); i++) {
                PnText subject = {0};

                assert_int_equal(pn_finding_subject_for_nic(&facts, &inventory.nics.v[i], &subject),
                                 0);
                assert_string_equal(subject.v, nics[i].right);
                free(subject.v);
        }
        pn_names_done(&names);
        pn_done(pn_type_Inventory(), &inventory);
}

static void index_finds(_unused_ void **state)
{
        static const char *const keys[] = {"b", "a", "b", NULL, "c", "b"};
        PnIndex index;
        unsigned n;

        assert_int_equal(pn_index_init(&index, PN_ELEMENTS(keys)), 0);
        pn_index_sort(&index);
        assert_null(pn_index_find(&index, "a", &n));
        for (size_t i = 0; i < PN_ELEMENTS(keys); i++)
                pn_index_add(&index, keys[i], &keys[i]);
        pn_index_sort(&index);
        assert_ptr_equal(pn_index_find(&index, "b", &n), &keys[0]);
        assert_int_equal(n, 3);
        assert_ptr_equal(pn_index_find(&index, "c", &n), &keys[4]);
        assert_int_equal(n, 1);
        assert_null(pn_index_find(&index, "bb", &n));
        assert_int_equal(n, 0);
        assert_null(pn_index_find(&index, NULL, NULL));
        pn_index_done(&index);
}

/* A document of this size must not take minutes, whatever its names are: each of these drives and
 * ports makes a finding, and all have the names of one another. */
static void many_alike_are_quick(_unused_ void **state)
{
        PnInventory inventory = {0};
        PnStatus status = {0};
        const unsigned n = 100000;

        for (unsigned i = 0; i < n; i++) {
                PnNvme *one =
                    make_drive(&inventory, "nvme0", "SAME", "M", i % 2 ? "nqn.1" : "nqn.2");

                assert_int_equal(pn_set_text(&one->state, "dead"), 0);
        }
        assert_int_equal(
            pn_assess(&inventory, (PnBefore){0}, NULL, "2026-01-02T03:04:05Z", &status), 0);
        assert_int_equal(status.findings.n, n);
        pn_done(pn_type_Status(), &status);
        pn_done(pn_type_Inventory(), &inventory);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(rows_are_complete),
            cmocka_unit_test(message_ids_are_unique),
            cmocka_unit_test(unknown_names_are_refused),
            cmocka_unit_test(ids_never_change),
            cmocka_unit_test(subjects),
            cmocka_unit_test(index_finds),
            cmocka_unit_test(many_alike_are_quick),
        };

        return cmocka_run_group_tests_name("codes", tests, NULL, NULL);
}
