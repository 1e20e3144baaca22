/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests lib/metrics_join.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "metrics_join.h"

static int add(PnMetricsJoin *join, const char *host, const char *page)
{
        char *error = NULL;
        int r = pn_metrics_join_add(join, host, page, strlen(page), &error);

        assert_true((r == -EBADMSG) == (error != NULL));
        free(error);
        return r;
}

static void assert_page(const PnMetricsJoin *join, const char *expected)
{
        _cleanup_buf_ PnBuf out = {0};

        assert_int_equal(pn_metrics_join_write(join, &out), 0);
        assert_string_equal(out.data, expected);
}

static void test_families_are_there_once(void **state _unused_)
{
        _cleanup_(pn_metrics_join_freep) PnMetricsJoin *join = pn_metrics_join_new();

        assert_page(join, "# EOF\n");
        assert_int_equal(add(join, "web1", "# TYPE a gauge\n# UNIT a_seconds seconds\n# EOF\n"),
                         -EBADMSG);
        assert_int_equal(add(join, "web1",
                             "# TYPE a_seconds gauge\n# UNIT a_seconds seconds\n"
                             "# HELP a_seconds How \"long\".\na_seconds 1.5e+3\n"
                             "a_seconds{x=\"} \\\" \\\\ \\n ,\",y=\"\"} -Inf 12.5\n"
                             "# TYPE b counter\nb_total 3\n# EOF\n"),
                         0);
        assert_int_equal(add(join, "web2",
                             "# TYPE c info\nc_info{host=\"x\",hosts=\"y\"} 1\n"
                             "# TYPE a_seconds gauge\n# HELP a_seconds Another text.\n"
                             "a_seconds{} NaN\n# EOF\n"),
                         0);
        pn_metrics_join_answered(join, "web1", true);
        pn_metrics_join_answered(join, "web3", false);
        assert_page(join, "# TYPE pnhw_host_up gauge\n"
                          "# HELP pnhw_host_up Whether the host was asked and answered.\n"
                          "pnhw_host_up{host=\"web1\"} 1\npnhw_host_up{host=\"web3\"} 0\n"
                          "# TYPE a_seconds gauge\n# UNIT a_seconds seconds\n"
                          "# HELP a_seconds How \"long\".\n"
                          "a_seconds{host=\"web1\"} 1.5e+3\n"
                          "a_seconds{host=\"web1\",x=\"} \\\" \\\\ \\n ,\",y=\"\"} -Inf 12.5\n"
                          "a_seconds{host=\"web2\"} NaN\n"
                          "# TYPE b counter\nb_total{host=\"web1\"} 3\n"
                          "# TYPE c info\n"
                          "c_info{host=\"web2\",exported_host=\"x\",hosts=\"y\"} 1\n# EOF\n");
}

static void test_pages_are_taken_whole_or_not(void **state _unused_)
{
        static const char *const bad[] = {
            "",
            "# EOF",
            "# TYPE a gauge\na 1\n",
            "# TYPE a gauge\na 1\n# EOF\nb 1\n",
            "a 1\n# EOF\n",
            "# HELP a What.\n# EOF\n",
            "# TYPE a gauge\n# HELP b What.\n# EOF\n",
            "# TYPE a colour\na 1\n# EOF\n",
            "# TYPE a gauge \na 1\n# EOF\n",
            "# TYPE a\na 1\n# EOF\n",
            "# TYPE  gauge\n# EOF\n",
            "# TYPE 1a gauge\n# EOF\n",
            "# TYPE a counter\na 1\n# EOF\n",
            "# TYPE a gauge\na_total 1\n# EOF\n",
            "# TYPE a gauge\nab 1\n# EOF\n",
            "# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\n# TYPE a gauge\na{x=\"\"} 1\n# EOF\n",
            "# TYPE a gauge\na\n# EOF\n",
            "# TYPE a gauge\na \n# EOF\n",
            "# TYPE a gauge\na  1\n# EOF\n",
            "# TYPE a gauge\na 1 2 3\n# EOF\n",
            "# TYPE a gauge\na 1 \n# EOF\n",
            "# TYPE a gauge\na 1#2\n# EOF\n",
            "# TYPE a gauge\na{ 1\n# EOF\n",
            "# TYPE a gauge\na{x} 1\n# EOF\n",
            "# TYPE a gauge\na{x=1} 1\n# EOF\n",
            "# TYPE a gauge\na{x=\"} 1\n# EOF\n",
            "# TYPE a gauge\na{x=\"\\\"} 1\n# EOF\n",
            "# TYPE a gauge\na{x=\"\\t\"} 1\n# EOF\n",
            "# TYPE a gauge\na{x=\"\",} 1\n# EOF\n",
            "# TYPE a gauge\na{x=\"\"}1\n# EOF\n",
            "# TYPE a gauge\na{x:y=\"\"} 1\n# EOF\n",
            "# TYPE a gauge\n\na 1\n# EOF\n",
            "# TYPE good counter\ngood_total 1\n# EOF\n",
        };
        _cleanup_(pn_metrics_join_freep) PnMetricsJoin *join = pn_metrics_join_new();

        assert_int_equal(add(join, "one", "# TYPE good gauge\ngood 1\n# EOF\n"), 0);
        for (size_t i = 0; i < PN_ELEMENTS(bad); i++)
                if (add(join, "two", bad[i]) != -EBADMSG)
                        fail_msg("was taken: %s", bad[i]);
        assert_page(join, "# TYPE good gauge\ngood{host=\"one\"} 1\n# EOF\n");
        /* What a page that was refused had first may come in another. */
        assert_int_equal(add(join, "three", "# TYPE a info\na_info 1\n# EOF\n"), 0);
        assert_page(join, "# TYPE good gauge\ngood{host=\"one\"} 1\n"
                          "# TYPE a info\na_info{host=\"three\"} 1\n# EOF\n");
}

static void test_endless_families_are_refused(void **state _unused_)
{
        _cleanup_(pn_metrics_join_freep) PnMetricsJoin *join = pn_metrics_join_new();
        _cleanup_buf_ PnBuf page = {0};

        for (unsigned i = 0; i < 3000; i++)
                pn_buf_printf(&page, "# TYPE f%u gauge\n", i);
        pn_buf_puts(&page, "# EOF\n");
        assert_int_equal(page.error, 0);
        assert_int_equal(add(join, "one", page.data), -EBADMSG);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_families_are_there_once),
            cmocka_unit_test(test_pages_are_taken_whole_or_not),
            cmocka_unit_test(test_endless_families_are_refused),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
