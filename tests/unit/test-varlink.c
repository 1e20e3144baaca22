/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests lib/varlink.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <json-c/json.h>

#include "base.h"
#include "varlink.h"

static void test_calls(void **state _unused_)
{
        static const struct {
                const char *text, *method, *parameters;
                bool more, oneway;
        } cases[] = {
            {"{\"method\":\"a.B\"}", "a.B", NULL, false, false},
            {" {\n\"method\" : \"io.pnhw.Hardware.GetStatus\" }\r", "io.pnhw.Hardware.GetStatus",
             NULL, false, false},
            {"{\"method\":\"a.B\",\"parameters\":{}}", "a.B", "{}", false, false},
            {"{\"parameters\":{\"x\":[1]},\"method\":\"a.B\",\"more\":true}", "a.B", "{\"x\":[1]}",
             true, false},
            {"{\"method\":\"a.B\",\"oneway\":true,\"more\":false}", "a.B", NULL, false, true},
            {"{\"method\":\"a.B\",\"parameters\":null,\"more\":null,\"upgrade\":false}", "a.B",
             NULL, false, false},
        };

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                PnCall call;
                int r = pn_call_parse(cases[i].text, strlen(cases[i].text), &call, NULL, NULL);

                assert_int_equal(r, 0);
                assert_string_equal(call.method, cases[i].method);
                assert_int_equal(call.more, cases[i].more);
                assert_int_equal(call.oneway, cases[i].oneway);
                if (cases[i].parameters)
                        assert_string_equal(
                            json_object_to_json_string_ext(call.parameters, JSON_C_TO_STRING_PLAIN),
                            cases[i].parameters);
                else
                        assert_null(call.parameters);
                pn_call_done(&call);
        }
}

static void test_refused(void **state _unused_)
{
        static const struct {
                const char *text, *member; /* no member: it is not a JSON object */
        } cases[] = {
            {"", NULL},
            {"hello", NULL},
            {"[]", NULL},
            {"\"x\"", NULL},
            {"{\"method\":\"a.B\"", NULL},
            {"{\"method\":\"a.B\"} x", NULL},
            {"{\"method\":\"a.B\"}{}", NULL},
            {"{'method':'a.B'}", NULL},
            {"{\"method\":\"a.B\",}", NULL},
            {"{\"method\":\"a.\xff\"}", NULL},
            {"{}", "method"},
            {"{\"method\":null}", "method"},
            {"{\"method\":1}", "method"},
            {"{\"method\":\"\"}", "method"},
            {"{\"method\":\"GetStatus\"}", "method"},
            {"{\"method\":\".GetStatus\"}", "method"},
            {"{\"method\":\"a.\"}", "method"},
            {"{\"method\":\"a.B\\u0000C\"}", "method"},
            {"{\"method\":\"a.B\",\"parameters\":[]}", "parameters"},
            {"{\"method\":\"a.B\",\"parameters\":\"x\"}", "parameters"},
            {"{\"method\":\"a.B\",\"more\":1}", "more"},
            {"{\"method\":\"a.B\",\"oneway\":\"true\"}", "oneway"},
            {"{\"method\":\"a.B\",\"upgrade\":true}", "upgrade"},
            {"{\"method\":\"a.B\",\"id\":7}", "id"},
        };

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                _cleanup_free_ char *error = NULL, *member = NULL;
                PnCall call;
                int r;

                r = pn_call_parse(cases[i].text, strlen(cases[i].text), &call, &error, &member);
                if (cases[i].member) {
                        assert_int_equal(r, -EINVAL);
                        assert_string_equal(member, cases[i].member);
                } else {
                        assert_int_equal(r, -EBADMSG);
                        assert_non_null(error);
                        assert_null(member);
                }
                assert_int_equal(
                    pn_call_parse(cases[i].text, strlen(cases[i].text), &call, NULL, NULL), r);
        }
}

static void test_writing(void **state _unused_)
{
        _cleanup_buf_ PnBuf buf = {0};

        pn_write_error(&buf, "a.Error", "name", "x\"y");
        pn_write_error(&buf, "a.Error", NULL, NULL);
        pn_write_call(&buf, "a.B", NULL, false);
        pn_write_call(&buf, "a.B", "{\"x\":1}", true);
        pn_reply_begin(&buf);
        pn_buf_puts(&buf, "{}");
        pn_reply_end(&buf, false);
        pn_reply_begin(&buf);
        pn_buf_puts(&buf, "{}");
        pn_reply_end(&buf, true);
        assert_string_equal(buf.data, "{\"error\":\"a.Error\",\"parameters\":{\"name\":\"x\\\"y\"}}"
                                      "{\"error\":\"a.Error\",\"parameters\":{}}"
                                      "{\"method\":\"a.B\"}"
                                      "{\"method\":\"a.B\",\"parameters\":{\"x\":1},\"more\":true}"
                                      "{\"parameters\":{}}"
                                      "{\"parameters\":{},\"continues\":true}");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_calls),
            cmocka_unit_test(test_refused),
            cmocka_unit_test(test_writing),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
