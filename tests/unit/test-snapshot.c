/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests lib/snapshot.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <json-c/json.h>
#include <stdio.h>

#include "base.h"
#include "snapshot.h"

static void add_finding(PnStatus *status, const char *id, const char *severity, const char *summary)
{
        PnFinding *finding = PN_APPEND(&status->findings);

        assert_non_null(finding);
        assert_int_equal(pn_set_text(&finding->id, id), 0);
        assert_int_equal(pn_set_text(&finding->code, "pcie.degraded"), 0);
        assert_int_equal(pn_set_text(&finding->state, "new"), 0);
        assert_int_equal(pn_set_text(&finding->severity, severity), 0);
        assert_int_equal(pn_set_text(&finding->summary, summary), 0);
}

/* A snapshot of two drives, a disk, and what findings are given as triples. */
static PnSnapshot *make(int64_t generation, const char *source_state, const char *const *findings)
{
        PnInventory inventory = {0};
        PnStatus status = {0};
        PnSnapshot *snapshot;
        PnSource *source;

        assert_int_equal(pn_set_text(&PN_APPEND(&inventory.nvme)->name, "nvme0"), 0);
        assert_int_equal(pn_set_text(&PN_APPEND(&inventory.nvme)->name, "nvme1"), 0);
        assert_int_equal(pn_set_text(&PN_APPEND(&inventory.disks)->name, "sda"), 0);
        assert_int_equal(pn_set_text(&PN_NEW(&inventory.host)->hostname, "tester"), 0);
        assert_int_equal(pn_set_text(&PN_NEW(&status.host)->hostname, "tester"), 0);
        source = PN_APPEND(&status.sources);
        assert_int_equal(pn_set_text(&source->name, "pci"), 0);
        assert_int_equal(pn_set_text(&source->state, source_state), 0);
        source->took_ms = pn_int(generation);
        for (; findings && *findings; findings += 3)
                add_finding(&status, findings[0], findings[1], findings[2]);
        assert_int_equal(pn_set_text(&status.summary, "All is well."), 0);
        assert_int_equal(pn_snapshot_new(&inventory, &status, generation, &snapshot), 0);
        assert_null(inventory.nvme.v);
        assert_null(status.host.v);
        return snapshot;
}

static struct json_object *parse(const char *text, size_t n)
{
        struct json_object *json = NULL;

        assert_int_equal(pn_parse_json(text, n, &json, NULL), 0);
        return json;
}

/* The value at a path such as "parameters.inventory.nvme". */
static struct json_object *at(struct json_object *json, const char *path)
{
        while (*path) {
                char name[64];
                size_t n = strcspn(path, ".");

                memcpy(name, path, n);
                name[n] = '\0';
                path += n + (path[n] == '.');
                if (!json_object_object_get_ex(json, name, &json))
                        fail_msg("no %s", name);
        }
        return json;
}

static void test_status_is_made_once(void **state _unused_)
{
        PnSnapshot *snapshot = make(7, "fresh", NULL);
        PnBlob *blob, *again;
        struct json_object *json;
        PnStatus status = {0};

        assert_int_equal(pn_snapshot_status(snapshot, &blob), 0);
        assert_int_equal(pn_snapshot_status(snapshot, &again), 0);
        assert_ptr_equal(blob, again);
        assert_int_equal(blob->length, strlen(blob->data));
        json = parse(blob->data, blob->length);
        assert_int_equal(json_object_object_length(json), 1);
        assert_int_equal(pn_read_json(pn_type_Status(), at(json, "parameters"), PN_JSON_STRICT,
                                      &status, NULL, NULL),
                         0);
        assert_int_equal(status.generation.v, 7);
        pn_done(pn_type_Status(), &status);
        json_object_put(json);
        /* The answer outlives the snapshot for whoever still sends it. */
        (void)pn_blob_ref(blob);
        pn_snapshot_unref(snapshot);
        assert_int_equal(blob->n_refs, 1);
        pn_blob_unref(blob);
}

static void test_inventory_parts(void **state _unused_)
{
        static const struct {
                const char *name;
                const char *path;
        } parts[] = {{"host", "parameters.inventory.host"},
                     {"pci", "parameters.inventory.pci"},
                     {"nvme", "parameters.inventory.nvme"},
                     {"disks", "parameters.inventory.disks"}};
        PnSnapshot *snapshot = make(7, "fresh", NULL);
        PnParts part;

        assert_int_equal(pn_part_from_name("sources", &part), -EINVAL);
        assert_int_equal(pn_part_from_name("", &part), -EINVAL);
        for (size_t i = 0; i < PN_ELEMENTS(parts); i++) {
                struct json_object *json;
                PnBlob *blob, *again;

                assert_int_equal(pn_part_from_name(parts[i].name, &part), 0);
                assert_int_equal(part, 1u << i);
                assert_int_equal(pn_snapshot_inventory(snapshot, part, &blob), 0);
                assert_int_equal(pn_snapshot_inventory(snapshot, part, &again), 0);
                assert_ptr_equal(blob, again);
                json = parse(blob->data, blob->length);
                for (size_t k = 0; k < PN_ELEMENTS(parts); k++) {
                        struct json_object *value = at(json, parts[k].path);
                        bool empty = !value || (json_object_is_type(value, json_type_array) &&
                                                json_object_array_length(value) == 0);

                        assert_int_equal(empty, k != i || i == 1);
                }
                json_object_put(json);
        }
        assert_int_equal(snapshot->inventory.nvme.n, 2);
        pn_snapshot_unref(snapshot);
}

static const char *const some_findings[] = {"a",      "critical", "first",  "b",     "warning",
                                            "second", "c",        "notice", "third", NULL};

static void test_findings(void **state _unused_)
{
        PnSnapshot *snapshot = make(7, "fresh", some_findings);

        snapshot->status.findings.v[1].accepted = pn_bool(true);
        for (int rank = 0; rank < 4; rank++)
                for (int accepted = 0; accepted < 2; accepted++) {
                        static const unsigned expected[4][2] = {{2, 3}, {2, 3}, {1, 2}, {1, 1}};
                        struct json_object *json;
                        PnBlob *blob;

                        assert_int_equal(pn_snapshot_findings(snapshot, rank, accepted, &blob), 0);
                        json = parse(blob->data, blob->length);
                        assert_int_equal(json_object_array_length(at(json, "parameters.findings")),
                                         expected[rank][accepted]);
                        json_object_put(json);
                }
        pn_snapshot_unref(snapshot);
}

static void check(const char *const *findings, bool accept, const char *source_state, int min_rank,
                  const char *status, int code, const char *line)
{
        PnSnapshot *snapshot = make(7, source_state, findings);
        _cleanup_buf_ PnBuf buf = {0};
        struct json_object *json;

        for (unsigned i = 0; accept && i < snapshot->status.findings.n; i++)
                snapshot->status.findings.v[i].accepted = pn_bool(true);
        assert_int_equal(pn_snapshot_check(snapshot, NULL, min_rank, &buf), 0);
        json = parse(buf.data, buf.len);
        assert_string_equal(json_object_get_string(at(json, "parameters.status")), status);
        assert_int_equal(json_object_get_int(at(json, "parameters.code")), code);
        assert_string_equal(json_object_get_string(at(json, "parameters.line")), line);
        json_object_put(json);
        pn_snapshot_unref(snapshot);
}

static void test_check(void **state _unused_)
{
        static const char *const bar[] = {"a", "warning", "x | y\nz", NULL};
        static const char *const odd[] = {"a", "dreadful", "odd", NULL};
        enum { INFO, NOTICE, WARNING, CRITICAL };

        check(NULL, false, "fresh", WARNING, "OK", 0, "PNHW OK - All is well.");
        check(some_findings, false, "fresh", WARNING, "CRITICAL", 2,
              "PNHW CRITICAL - first (and 1 more)");
        check(some_findings + 3, false, "fresh", WARNING, "WARNING", 1, "PNHW WARNING - second");
        check(some_findings + 3, false, "fresh", CRITICAL, "OK", 0, "PNHW OK - All is well.");
        check(some_findings + 6, false, "fresh", WARNING, "OK", 0, "PNHW OK - All is well.");
        check(some_findings + 6, false, "fresh", NOTICE, "WARNING", 1, "PNHW WARNING - third");
        check(some_findings, true, "fresh", INFO, "OK", 0, "PNHW OK - All is well.");
        /* What could not be read is not well, but what is known to be broken comes first. */
        check(NULL, false, "failed", WARNING, "UNKNOWN", 3,
              "PNHW UNKNOWN - source pci is not fresh: no reason is known");
        check(NULL, false, "never", WARNING, "UNKNOWN", 3,
              "PNHW UNKNOWN - source pci is not fresh: no reason is known");
        check(some_findings + 3, false, "failed", WARNING, "WARNING", 1, "PNHW WARNING - second");
        /* One line, and no bar, whatever a summary has. */
        check(bar, false, "fresh", WARNING, "WARNING", 1, "PNHW WARNING - x   y z");
        /* A severity that we do not know must not hide a finding. */
        check(odd, false, "fresh", WARNING, "CRITICAL", 2, "PNHW CRITICAL - odd");
}

static void test_differs(void **state _unused_)
{
        static const char *const other[] = {"a", "critical", "1st", NULL};
        PnSnapshot *a = make(1, "fresh", some_findings), *b = make(2, "fresh", some_findings);
        PnSnapshot *stale = make(3, "stale", some_findings), *c = make(4, "fresh", other);

        assert_false(pn_snapshot_differs(a, a));
        assert_false(pn_snapshot_differs(a, b)); /* the generation and took_ms alone */
        assert_true(pn_snapshot_differs(a, stale));
        assert_true(pn_snapshot_differs(a, c));
        assert_int_equal(pn_set_text(&b->inventory.nvme.v[1].serial, "S1"), 0);
        assert_true(pn_snapshot_differs(a, b));
        pn_snapshot_unref(b);
        b = make(5, "fresh", some_findings);
        assert_int_equal(pn_set_text(&PN_APPEND(&b->alerts)->id, "a"), 0);
        assert_true(pn_snapshot_differs(a, b)); /* the journal was told, and nothing else */
        pn_snapshot_unref(a);
        pn_snapshot_unref(b);
        pn_snapshot_unref(c);
        pn_snapshot_unref(stale);
}

/* The changes between two lists of findings, as "id:state id:state". */
static void changes(const char *const *before, const char *const *after, const char *expected)
{
        PnSnapshot *a = make(1, "fresh", before), *b = make(2, "fresh", after);
        PnSubscribeOut out = {0};
        char text[256] = "";

        assert_int_equal(pn_findings_changed(&a->status, &b->status, &out), 0);
        for (unsigned i = 0; i < out.changed.n; i++)
                (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s:%s",
                               i ? " " : "", out.changed.v[i].id.v, out.changed.v[i].state.v);
        assert_string_equal(text, expected);
        pn_done(pn_type_SubscribeOut(), &out);
        pn_snapshot_unref(a);
        pn_snapshot_unref(b);
}

static void test_changes(void **state _unused_)
{
        static const char *const different[] = {"a",       "warning", "first", "b",
                                                "warning", "second",  NULL};

        changes(NULL, NULL, "");
        changes(some_findings, some_findings, "");
        changes(NULL, some_findings, "a:new b:new c:new");
        changes(some_findings, NULL, "a:cleared b:cleared c:cleared");
        changes(some_findings, different, "a:new c:cleared");
        changes(some_findings, some_findings + 3, "a:cleared");
}

static void test_event(void **state _unused_)
{
        PnSnapshot *a = make(1, "fresh", NULL), *b = make(2, "fresh", some_findings);
        _cleanup_buf_ PnBuf first = {0}, second = {0};
        struct json_object *json;

        assert_int_equal(pn_snapshot_event(NULL, b, &first), 0);
        json = parse(first.data, first.len);
        assert_true(json_object_get_boolean(at(json, "continues")));
        assert_int_equal(json_object_array_length(at(json, "parameters.changed")), 0);
        assert_int_equal(json_object_array_length(at(json, "parameters.status.findings")), 3);
        json_object_put(json);
        assert_int_equal(pn_snapshot_event(a, b, &second), 0);
        json = parse(second.data, second.len);
        assert_int_equal(json_object_array_length(at(json, "parameters.changed")), 3);
        assert_int_equal(json_object_get_int(at(json, "parameters.generation")), 2);
        /* These three and no other: contract. */
        assert_int_equal(json_object_object_length(at(json, "parameters")), 3);
        json_object_put(json);
        pn_snapshot_unref(a);
        pn_snapshot_unref(b);
}

static void test_alerts(void **state _unused_)
{
        PnSnapshot *a = make(1, "fresh", some_findings), *b = make(2, "fresh", some_findings);
        _cleanup_buf_ PnBuf event = {0};
        PnListAlertsOut out = {0};
        PnBlob *blob, *again;
        struct json_object *json;

        assert_int_equal(pn_snapshot_alerts(a, &blob), 0);
        assert_string_equal(blob->data, "{\"parameters\":{\"alerts\":[]}}");
        assert_int_equal(
            pn_copy(pn_type_Finding(), PN_APPEND(&b->alerts), &b->status.findings.v[1]), 0);
        assert_int_equal(pn_snapshot_alerts(b, &blob), 0);
        assert_int_equal(pn_snapshot_alerts(b, &again), 0);
        assert_ptr_equal(blob, again);
        json = parse(blob->data, blob->length);
        assert_int_equal(pn_read_json(pn_type_ListAlertsOut(), at(json, "parameters"),
                                      PN_JSON_STRICT, &out, NULL, NULL),
                         0);
        assert_int_equal(out.alerts.n, 1);
        assert_true(pn_equal(pn_type_Finding(), &out.alerts.v[0], &b->status.findings.v[1]));
        pn_done(pn_type_ListAlertsOut(), &out);
        json_object_put(json);
        /* They alone are worth an answer, in which nothing changed. */
        assert_true(pn_snapshot_differs(a, b));
        assert_int_equal(pn_snapshot_event(a, b, &event), 0);
        json = parse(event.data, event.len);
        assert_int_equal(json_object_array_length(at(json, "parameters.changed")), 0);
        json_object_put(json);
        pn_snapshot_unref(a);
        pn_snapshot_unref(b);
}

/* An empty machine is an answer. */
static void test_nothing(void **state _unused_)
{
        PnInventory inventory = {0};
        PnStatus status = {0}, read = {0};
        PnSnapshot *snapshot;
        struct json_object *json;
        PnBlob *blob;

        assert_int_equal(pn_snapshot_new(&inventory, &status, 1, &snapshot), 0);
        assert_int_equal(pn_snapshot_status(snapshot, &blob), 0);
        json = parse(blob->data, blob->length);
        assert_int_equal(pn_read_json(pn_type_Status(), at(json, "parameters"), PN_JSON_STRICT,
                                      &read, NULL, NULL),
                         0);
        pn_done(pn_type_Status(), &read);
        json_object_put(json);
        pn_snapshot_unref(snapshot);
}

static void metrics_are_written_once(_unused_ void **state)
{
        PnSnapshot *snapshot = make(1, "fresh", NULL);
        PnBlob *first, *second;
        struct json_object *json;
        const char *page;

        assert_int_equal(pn_snapshot_metrics(snapshot, &first), 0);
        assert_int_equal(pn_snapshot_metrics(snapshot, &second), 0);
        assert_ptr_equal(first, second);
        json = parse(first->data, first->length);
        page = json_object_get_string(
            json_object_object_get(json_object_object_get(json, "parameters"), "openmetrics"));
        assert_non_null(page);
        assert_non_null(strstr(page, "pnhw_source_state{source=\"pci\",state=\"fresh\"} 1\n"));
        json_object_put(json);
        pn_snapshot_unref(snapshot);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_status_is_made_once),
            cmocka_unit_test(test_inventory_parts),
            cmocka_unit_test(test_findings),
            cmocka_unit_test(test_check),
            cmocka_unit_test(test_differs),
            cmocka_unit_test(test_changes),
            cmocka_unit_test(test_event),
            cmocka_unit_test(test_alerts),
            cmocka_unit_test(test_nothing),
            cmocka_unit_test(metrics_are_written_once),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
