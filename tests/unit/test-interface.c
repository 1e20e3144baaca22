/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests lib/interface.c: validation of parameters, and the interface text against Varlink's
 * grammar as systemd's parser has it (the strictest that we know). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <json-c/json.h>
#include <stdio.h>

#include "base.h"
#include "interface.h"

/* A small parser of interface texts. It fails the test at the first thing that it does not like,
 * and gathers the names that are defined and used. */
typedef struct Parser {
        const char *p;
        char defined[64][64], used[512][64];
        unsigned n_defined, n_used, n_methods, n_errors;
} Parser;

/* White space, and comments where the grammar has them. */
static void pass_over(Parser *parser, bool comments)
{
        for (;;) {
                parser->p += strspn(parser->p, " \t\n");
                if (!comments || *parser->p != '#')
                        return;
                parser->p += strcspn(parser->p, "\n");
        }
}

static bool take(Parser *parser, const char *word)
{
        pass_over(parser, false);
        if (!pn_startswith(parser->p, word))
                return false;
        parser->p += strlen(word);
        return true;
}

static void name(Parser *parser, char ret[static 64], bool upper)
{
        size_t n = 0;

        pass_over(parser, false);
        while (isalnum((unsigned char)parser->p[n]) || parser->p[n] == '_')
                n++;
        assert_in_range(n, 1, 63);
        memcpy(ret, parser->p, n);
        ret[n] = '\0';
        parser->p += n;
        if (upper) {
                assert_true(isupper((unsigned char)*ret));
                assert_null(strchr(ret, '_'));
        } else {
                assert_true(isalpha((unsigned char)*ret));
                assert_null(strstr(ret, "__"));
                assert_int_not_equal(ret[n - 1], '_');
        }
}

static void type(Parser *parser)
{
        static const char *const simple[] = {"bool", "int", "float", "string", "object"};

        pass_over(parser, false);
        (void)take(parser, "?");
        (void)take(parser, "[]");
        for (size_t i = 0; i < PN_ELEMENTS(simple); i++)
                if (take(parser, simple[i])) {
                        assert_false(isalnum((unsigned char)*parser->p));
                        return;
                }
        assert_true(parser->n_used < PN_ELEMENTS(parser->used));
        name(parser, parser->used[parser->n_used++], true);
}

static void fields(Parser *parser, bool may_be_empty)
{
        char field[64];

        assert_true(take(parser, "("));
        pass_over(parser, true);
        if (may_be_empty && take(parser, ")"))
                return;
        do {
                pass_over(parser, true);
                name(parser, field, false);
                assert_true(take(parser, ":"));
                type(parser);
        } while (take(parser, ","));
        /* No comment here: systemd takes none before the closing parenthesis. */
        assert_true(take(parser, ")"));
}

static void parse(Parser *parser, const char *text, const char *interface)
{
        parser->p = text;
        pass_over(parser, true);
        assert_true(take(parser, "interface "));
        assert_true(take(parser, interface));
        for (pass_over(parser, true); *parser->p; pass_over(parser, true)) {
                char symbol[64];

                if (take(parser, "type ")) {
                        assert_true(parser->n_defined < PN_ELEMENTS(parser->defined));
                        name(parser, parser->defined[parser->n_defined++], true);
                        fields(parser, false);
                } else if (take(parser, "method ")) {
                        name(parser, symbol, true);
                        fields(parser, true);
                        assert_true(take(parser, "->"));
                        fields(parser, true);
                        parser->n_methods++;
                } else {
                        assert_true(take(parser, "error "));
                        name(parser, symbol, true);
                        fields(parser, true);
                        parser->n_errors++;
                }
        }
        for (unsigned i = 0; i < parser->n_used; i++) {
                unsigned n = 0;

                for (unsigned k = 0; k < parser->n_defined; k++)
                        n += strcmp(parser->used[i], parser->defined[k]) == 0;
                assert_int_equal(n, 1);
        }
        /* And nothing is defined that nobody uses. */
        for (unsigned k = 0; k < parser->n_defined; k++) {
                unsigned n = 0;

                for (unsigned i = 0; i < parser->n_used; i++)
                        n += strcmp(parser->used[i], parser->defined[k]) == 0;
                if (n == 0)
                        fail_msg("nobody uses the type %s", parser->defined[k]);
        }
}

static void test_text(void **state _unused_)
{
        /* These lines are contract: design, section 6. */
        static const char *const lines[] = {
            "interface io.pnhw.Hardware\n",
            "type Unread (field: string, reason: string)\n",
            "method GetStatus() -> (schema: int, generation: int, host: Host, sources: []Source, "
            "ratings: []Rating, findings: []Finding, summary: string)\n",
            "method GetInventory(kinds: ?[]string) -> (schema: int, generation: int, inventory: "
            "Inventory)\n",
            "method GetDevice(name: string) -> (device: Device)\n",
            "method ListFindings(min_severity: ?string, include_accepted: ?bool) -> (findings: "
            "[]Finding)\n",
            "method ListAlerts() -> (alerts: []Finding)\n",
            "method Check(device: ?string, min_severity: ?string) -> (status: string, code: int, "
            "line: string, perfdata: string)\n",
            "method Subscribe() -> (generation: int, changed: []Finding, status: Status)\n",
            "method Refresh(sources: ?[]string) -> (generation: int)\n",
            "method Accept(id: string, reason: ?string, until: ?string) -> ()\n",
            "method Unaccept(id: string) -> ()\n",
            "method GetMetrics() -> (openmetrics: string)\n",
            "error NoSuchDevice (name: string)\n",
            "error NoSuchFinding (id: string)\n",
            "error NotReady ()\n",
            "error Busy ()\n",
        };
        _cleanup_free_ Parser *parser = calloc(1, sizeof *parser);
        _cleanup_buf_ PnBuf buf = {0};

        assert_non_null(parser);
        pn_write_interface(&buf);
        assert_int_equal(buf.error, 0);
        for (size_t i = 0; i < PN_ELEMENTS(lines); i++)
                if (!strstr(buf.data, lines[i]))
                        fail_msg("not in the interface: %s", lines[i]);
        parse(parser, buf.data, "io.pnhw.Hardware");
        assert_int_equal(parser->n_methods, 11);
}

static void test_service_text(void **state _unused_)
{
        _cleanup_free_ Parser *parser = calloc(1, sizeof *parser);
        _cleanup_buf_ PnBuf buf = {0};

        assert_non_null(parser);
        assert_int_equal(pn_describe_interface(&buf, "org.varlink.service"), 0);
        parse(parser, buf.data, "org.varlink.service");
        assert_int_equal(parser->n_methods, 2);
        assert_int_equal(parser->n_errors, 6);
        assert_int_equal(pn_describe_interface(&buf, "io.pnhw.Hardwar"), -ENOENT);
        assert_int_equal(pn_describe_interface(&buf, ""), -ENOENT);
}

static void test_find(void **state _unused_)
{
        const PnMethod *method;

        assert_int_equal(pn_method_find("io.pnhw.Hardware.GetStatus", &method), 0);
        assert_int_equal(method->id, PN_METHOD_GetStatus);
        assert_int_equal(pn_method_find("org.varlink.service.GetInfo", &method), 0);
        assert_int_equal(method->id, PN_METHOD_GetInfo);
        assert_int_equal(pn_method_find("io.pnhw.Hardware.Reject", &method), -ENOENT);
        assert_int_equal(pn_method_find("io.pnhw.Hardware.getstatus", &method), -ENOENT);
        assert_int_equal(pn_method_find("io.pnhw.Hardware.", &method), -ENOENT);
        assert_int_equal(pn_method_find("org.varlink.service.GetStatus", &method), -ENOENT);
        assert_int_equal(pn_method_find("io.pnhw.GetStatus", &method), -ENXIO);
        assert_int_equal(pn_method_find("io.pnhw.Hardware.x.GetStatus", &method), -ENXIO);
        assert_int_equal(pn_method_find("GetStatus", &method), -ENXIO);
        assert_int_equal(pn_method_find("", &method), -ENXIO);
}

static void test_parameters(void **state _unused_)
{
        static const struct {
                const char *method, *parameters, *wrong;
        } cases[] = {
            {"io.pnhw.Hardware.GetStatus", NULL, NULL},
            {"io.pnhw.Hardware.GetStatus", "{}", NULL},
            {"io.pnhw.Hardware.GetStatus", "{\"x\":1}", "x"},
            {"io.pnhw.Hardware.GetStatus", "{\"unread\":[]}", "unread"},
            {"io.pnhw.Hardware.GetDevice", "{\"name\":\"nvme0\"}", NULL},
            {"io.pnhw.Hardware.GetDevice", NULL, "name"},
            {"io.pnhw.Hardware.GetDevice", "{}", "name"},
            {"io.pnhw.Hardware.GetDevice", "{\"name\":null}", "name"},
            {"io.pnhw.Hardware.GetDevice", "{\"name\":7}", "name"},
            {"io.pnhw.Hardware.GetDevice", "{\"name\":\"a\\u0000b\"}", "name"},
            {"io.pnhw.Hardware.GetDevice", "{\"name\":\"nvme0\",\"unread\":[]}", "unread"},
            {"io.pnhw.Hardware.GetInventory", "{\"kinds\":null}", NULL},
            {"io.pnhw.Hardware.GetInventory", "{\"kinds\":[]}", NULL},
            {"io.pnhw.Hardware.GetInventory", "{\"kinds\":[\"pci\"]}", NULL},
            {"io.pnhw.Hardware.GetInventory", "{\"kinds\":\"pci\"}", "kinds"},
            {"io.pnhw.Hardware.GetInventory", "{\"kinds\":[1]}", "kinds"},
            {"io.pnhw.Hardware.ListFindings", "{\"include_accepted\":1}", "include_accepted"},
            {"org.varlink.service.GetInterfaceDescription", NULL, "interface"},
        };

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                _cleanup_free_ char *wrong = NULL;
                struct json_object *json = NULL;
                union {
                        PnGetInventoryIn inventory;
                        PnGetDeviceIn device;
                        PnListFindingsIn findings;
                        PnDescribeIn describe;
                } in;
                const PnMethod *method;
                int r;

                memset(&in, 0, sizeof in);
                assert_int_equal(pn_method_find(cases[i].method, &method), 0);
                if (cases[i].parameters)
                        assert_int_equal(pn_parse_json(cases[i].parameters,
                                                       strlen(cases[i].parameters), &json, NULL),
                                         0);
                r = pn_read_parameters(method, json, &in, &wrong);
                assert_int_equal(r, cases[i].wrong ? -EINVAL : 0);
                if (cases[i].wrong)
                        assert_string_equal(wrong, cases[i].wrong);
                if (method->in)
                        pn_done(method->in(), &in);
                json_object_put(json);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_text),
            cmocka_unit_test(test_service_text),
            cmocka_unit_test(test_find),
            cmocka_unit_test(test_parameters),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
