/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The schema engine: round trips, strictness, and that unknown stays unknown. */

#include "machine.h"

#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>

static char *write_inventory(const PnInventory *inventory)
{
        PnBuf buf = {0};
        char *text = NULL;

        pn_write_json(&buf, pn_type_Inventory(), inventory);
        assert_int_equal(pn_buf_take(&buf, &text, NULL), 0);
        return text;
}

static int read_inventory(const char *text, PnJsonFlags flags, PnInventory *ret, char **ret_error,
                          char **ret_field)
{
        struct json_object *json = NULL;
        int r = pn_parse_json(text, strlen(text), &json, ret_error);

        if (r == 0)
                r = pn_read_json(pn_type_Inventory(), json, flags, ret, ret_error, ret_field);
        json_object_put(json);
        return r;
}

static void test_round_trip(void **state)
{
        PnInventory inventory = {0}, copy = {0}, again = {0};
        PnPci *function;
        char *text;

        (void)state;
        function = port(&inventory, "10000:e0:02.0", "root_port", NULL, (Ends){2.5, 4, 16, 16});
        assert_int_equal(pn_reals_append(&function->link.v->supported_speeds, 2.5), 0);
        assert_int_equal(pn_reals_append(&function->link.v->supported_speeds, 5), 0);
        function->link.v->target_speed.state = PN_UNREAD_PERMISSION;
        function->aer.state = PN_UNREAD_ASLEEP;
        function->numa_node = pn_int(INT64_MAX);
        function->iommu_group = pn_int(INT64_MIN);
        function->removable = pn_bool(true);
        in_pool(drive(&inventory, "nvme0", "0000:01:00.0", "S\"\\/\x01\x7f\xc3\xa9"), "rpool");
        slot(&inventory, "M.2_1", "M.2 socket 3", 16, 4, true, NULL);

        text = write_inventory(&inventory);
        assert_int_equal(read_inventory(text, PN_JSON_STRICT, &again, NULL, NULL), 0);
        assert_true(pn_equal(pn_type_Inventory(), &inventory, &again));
        assert_int_equal(again.pci.v[0].aer.state, PN_UNREAD_ASLEEP);
        assert_int_equal(again.pci.v[0].link.v->target_speed.state, PN_UNREAD_PERMISSION);
        free(text);

        assert_int_equal(pn_copy(pn_type_Inventory(), &copy, &inventory), 0);
        assert_true(pn_equal(pn_type_Inventory(), &inventory, &copy));
        copy.pci.v[0].aer.state = PN_UNREAD_IO;
        assert_false(pn_equal(pn_type_Inventory(), &inventory, &copy));
        forget(&inventory);
        forget(&copy);
        forget(&again);
}

static void test_refused(void **state)
{
        static const struct {
                const char *text, *error, *field;
        } rows[] = {
            {"", "the text ends in the middle of a value", NULL},
            {"{\"pci\":[", "the text ends in the middle of a value", NULL},
            {"[]", "expected an object", ""},
            {"{\"pci\":{}}", "pci: expected an array", "pci"},
            {"{\"pci\":[{}]}", "pci[0].address: is missing", "pci"},
            {"{\"pci\":[{\"address\":7}]}", "pci[0].address: expected a string", "pci"},
            {"{\"pci\":[{\"address\":\"a\\u0000b\"}]}",
             "pci[0].address: the string contains a NUL character", "pci"},
            {"{\"pci\":[{\"address\":\"a\",\"link\":{\"current_width\":\"4\"}}]}",
             "pci[0].link.current_width: expected an integer", "pci"},
            {"{\"pci\":[{\"address\":\"a\",\"link\":{\"current_width\":4.5}}]}",
             "pci[0].link.current_width: expected an integer", "pci"},
            {"{\"pci\":[{\"address\":\"a\",\"numa_node\":9223372036854775808}]}",
             "pci[0].numa_node: the integer is larger than 2^63-1", "pci"},
            {"{\"pci\":[{\"address\":\"-9223372036854775809\",\"numa_node\":-9223372036854775809}]"
             "}",
             "an integer is smaller than -2^63", NULL},
            {"{\"pci\":[{\"address\":\"a\",\"numa_node\":-100000000000000000000}]}",
             "an integer is smaller than -2^63", NULL},
            /* In a string, and as a real, it is none. */
            {"{\"pci\":[{\"address\":\"\\\"-9223372036854775809\",\"numa_node\":-1e30}]}",
             "pci[0].numa_node: expected an integer", "pci"},
            {"{\"pci\":[{\"address\":\"a\",\"removable\":1}]}",
             "pci[0].removable: expected true or false", "pci"},
            {"{\"pci\":[{\"address\":\"a\",\"wheels\":4}]}",
             "pci[0]: has a field that this type does not know", "pci"},
            {"{\"pci\":[{\"address\":\"a\",\"unread\":[{\"field\":\"wheels\",\"reason\":"
             "\"io\"}]}]}",
             "pci[0].unread: names a field that this type does not have", "pci"},
            {"{\"pci\":[{\"address\":\"a\",\"unread\":[{\"field\":\"slot\",\"reason\":"
             "\"tired\"}]}]}",
             "pci[0].unread: gives a reason that does not exist", "pci"},
            {"{\"pci\":[{\"address\":\"a\",\"slot\":\"1\",\"unread\":[{\"field\":\"slot\","
             "\"reason\":\"io\"}]}]}",
             "pci[0].unread: names a field that has a value", "pci"},
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                PnInventory inventory = {0}, empty = {0};
                char *error = NULL, *field = NULL;

                assert_int_equal(
                    read_inventory(rows[i].text, PN_JSON_STRICT, &inventory, &error, &field),
                    -EINVAL);
                assert_non_null(error);
                assert_string_equal(error, rows[i].error);
                if (rows[i].field)
                        assert_string_equal(field, rows[i].field);
                assert_memory_equal(&inventory, &empty, sizeof empty);
                free(error);
                free(field);
        }
}

/* Fields are only ever added: an older client reads what a newer daemon saved. */
static void test_newer_schema(void **state)
{
        PnInventory inventory = {0};

        (void)state;
        assert_int_equal(
            read_inventory("{\"pci\":[{\"wheels\":4,\"address\":\"a\",\"unread\":[{\"field\":"
                           "\"wheels\",\"reason\":\"tired\"},{\"field\":\"slot\",\"reason\":"
                           "\"tired\"}]}],\"moons\":[]}",
                           PN_JSON_ALLOW_UNKNOWN, &inventory, NULL, NULL),
            0);
        assert_int_equal(inventory.pci.v[0].slot.state, PN_UNREAD_IO);
        forget(&inventory);
}

static void test_numbers(void **state)
{
        static const struct {
                double value;
                const char *text;
        } rows[] = {
            {0, "0"},
            {-0.0, "0"},
            {2.5, "2.5"},
            {16, "16"},
            {0.1, "0.1"},
            {-40.25, "-40.25"},
            {1e-7, "0.0000001"},
            {1e17, "100000000000000000"},
            {1e300, "null"},
            {1.0 / 3, "0.3333333333333333"},
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                _cleanup_buf_ PnBuf buf = {0};

                pn_buf_json_real(&buf, rows[i].value);
                assert_string_equal(buf.data, rows[i].text);
        }
}

/* Every string of two bytes gives valid JSON. */
static void test_every_byte(void **state)
{
        (void)state;
        for (unsigned i = 1; i < 65536; i++) {
                char s[3] = {(char)(i >> 8 ? i >> 8 : i), (char)(i >> 8 ? i & 0xff : 0), '\0'};
                _cleanup_buf_ PnBuf buf = {0};
                struct json_object *json = NULL;

                pn_buf_json_string(&buf, s);
                assert_int_equal(pn_parse_json(buf.data, buf.len, &json, NULL), 0);
                json_object_put(json);
        }
}

/* Whatever the version of json-c: it is valid UTF-8 that is taken, and nothing else. */
static void test_utf8(void **state)
{
        static const struct {
                const char *text;
                int result;
        } rows[] = {
            {"\"\xc3\xa9\"", 0},         {"\"\xe2\x96\xb2 \xf0\x9f\x98\x80\"", 0},
            {"\"\xff\"", -EINVAL},       {"\"\xc3\"", -EINVAL},
            {"\"\\\xc3\xa9\"", -EINVAL}, {"\xc3\xa9", -EINVAL},
            {"\"\xc0\xaf\"", -EINVAL},   {"\"\xed\xa0\x80\"", -EINVAL},
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                struct json_object *json = NULL;

                assert_int_equal(pn_parse_json(rows[i].text, strlen(rows[i].text), &json, NULL),
                                 rows[i].result);
                if (json) /* the same bytes come out, escaped by nobody */
                        assert_memory_equal(json_object_get_string(json), rows[i].text + 1,
                                            strlen(rows[i].text) - 2);
                json_object_put(json);
        }
}

static void test_lists(void **state)
{
        PnInventory inventory = {0};

        (void)state;
        /* Removal and growth do not disagree about how much room there is. */
        for (unsigned round = 0; round < 3; round++) {
                for (unsigned i = 0; i < 33; i++)
                        pci(&inventory, "0000:00:00.0", "endpoint", NULL, NIC_CLASS);
                for (unsigned i = 0; i < 30; i++)
                        pn_list_remove(pn_type_Pci(), &inventory.pci, i % 2);
        }
        assert_int_equal(inventory.pci.n, 9);
        forget(&inventory);
}

/* A field that is in the struct is in the JSON, in the interface text, and has its words. */
static void check_type(const PnType *type)
{
        _cleanup_buf_ PnBuf json = {0}, idl = {0};
        void *object = calloc(1, type->size);

        assert_non_null(object);
        pn_write_json(&json, type, object);
        pn_write_idl_type(&idl, type);
        for (unsigned i = 0; i < type->n_fields; i++) {
                const PnField *field = &type->fields[i];
                char quoted[80], declared[80];

                (void)snprintf(quoted, sizeof quoted, "\"%s\":", field->name);
                (void)snprintf(declared, sizeof declared, "\n  %s: ", field->name);
                assert_non_null(strstr(json.data, quoted));
                assert_non_null(strstr(idl.data, declared));
                assert_true(strlen(pn_field_doc(field)) > 4 && *pn_field_heading(field));
                assert_ptr_equal(pn_field(type, field->name), field);
        }
        free(object);
}

static void test_every_type(void **state)
{
        (void)state;
#define CHECK(T, FIELDS, doc) check_type(pn_type_##T());
        PN_TYPES(CHECK)
}

static void test_reasons(void **state)
{
        (void)state;
        for (PnState s = PN_KNOWN + 1; s < PN_N_STATES; s++) {
                PnState back;

                assert_int_equal(pn_reason_from_name(pn_reason_name(s), &back), 0);
                assert_int_equal(back, s);
        }
        assert_null(pn_reason_name(PN_KNOWN));
        assert_null(pn_reason_name(PN_ABSENT));
        assert_int_equal(pn_reason_from_errno(-EACCES), PN_UNREAD_PERMISSION);
        assert_int_equal(pn_reason_from_errno(EIO), PN_UNREAD_IO);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_refused),
            cmocka_unit_test(test_newer_schema), cmocka_unit_test(test_numbers),
            cmocka_unit_test(test_every_byte),   cmocka_unit_test(test_utf8),
            cmocka_unit_test(test_lists),        cmocka_unit_test(test_every_type),
            cmocka_unit_test(test_reasons),
        };

        return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
