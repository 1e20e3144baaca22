/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Alerts: when the journal is told that something began, changed and ended, over restarts, gaps
 * and a year of random weather; and the file that remembers it. */

/* cmocka.h needs these four before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>

#include "alerts.h"
#include "when.h"

#define START INT64_C(1767225600) /* 2026-01-01 */

typedef struct World {
        PnMemory memory;
        PnEvents events;
        int64_t now;
        bool stale; /* the pci source */
        bool held;
        unsigned reading;
} World;

static World world(void)
{
        World world = {.now = START};

        pn_memory_init(&world.memory);
        return world;
}

static void done(World *world)
{
        pn_done(pn_type_Memory(), &world->memory);
        pn_events_done(&world->events);
}

static void add_source(PnStatus *status, const World *world, const char *name)
{
        PnSource *source = PN_APPEND(&status->sources);

        assert_non_null(source);
        assert_int_equal(pn_set_text(&source->name, name), 0);
        assert_int_equal(pn_set_text(&source->state, world->stale ? "stale" : "fresh"), 0);
        assert_int_equal(pn_format_text(&source->updated, "reading %u", world->reading), 0);
}

static PnFinding *add_finding(PnStatus *status, const char *severity, const char *id)
{
        PnFinding *finding = PN_APPEND(&status->findings);

        assert_non_null(finding);
        assert_int_equal(pn_set_text(&finding->id, id), 0);
        assert_int_equal(pn_set_text(&finding->code, "pcie.degraded"), 0);
        assert_int_equal(pn_set_text(&finding->subject, "drive A"), 0);
        assert_int_equal(pn_set_text(&finding->severity, severity), 0);
        assert_int_equal(pn_set_text(&finding->summary, "It is slow."), 0);
        finding->accepted = pn_bool(false);
        return finding;
}

/* One snapshot; `severity` NULL: nothing is wrong. Gives the finding's state and acceptance. */
static const char *look(World *world, const char *severity, int64_t extent, bool *ret_accepted)
{
        static char state[16];
        PnStatus status = {0};
        PnTexts held = {0};
        bool changed;

        status.findings.state = status.sources.state = PN_KNOWN;
        add_source(&status, world, "pci");
        if (severity) {
                PnFinding *finding = add_finding(&status, severity, "0123456789ab");

                if (extent >= 0)
                        finding->extent = pn_int(extent);
        }
        if (world->held)
                assert_int_equal(pn_texts_append(&held, "0123456789ab"), 0);
        assert_int_equal(
            pn_alerts_judge(&world->memory, &status, &held, world->now, &world->events, &changed),
            0);
        state[0] = '\0';
        if (severity)
                (void)snprintf(state, sizeof state, "%s", status.findings.v[0].state.v);
        if (ret_accepted)
                *ret_accepted = severity && pn_is_true(status.findings.v[0].accepted);
        for (unsigned i = 0; i < held.n; i++)
                free(held.v[i]);
        free(held.v);
        pn_done(pn_type_Status(), &status);
        return state;
}

/* A new reading after some seconds. */
static const char *after(World *world, int64_t seconds, const char *severity)
{
        world->now += seconds;
        world->reading++;
        return look(world, severity, -1, NULL);
}

/* Takes the events since the last call, as "raised:warning cleared:warning". */
static void expect(World *world, const char *wanted)
{
        _cleanup_buf_ PnBuf buf = {0};

        for (unsigned i = 0; i < world->events.n; i++)
                pn_buf_printf(&buf, "%s%s:%s", i ? " " : "", world->events.v[i].state.v,
                              world->events.v[i].severity.v);
        assert_string_equal(buf.data ? buf.data : "", wanted);
        pn_events_done(&world->events);
}

/* Stops and starts: what is not in the text is gone. */
static void restart(World *world)
{
        _cleanup_buf_ PnBuf buf = {0};
        _cleanup_free_ char *error = NULL;

        pn_memory_write(&buf, &world->memory);
        assert_int_equal(buf.error, 0);
        pn_done(pn_type_Memory(), &world->memory);
        assert_int_equal(
            pn_memory_read(buf.data, buf.len, world->now, &world->memory, NULL, &error), 0);
        world->reading += 1000;
}

static void test_raise_and_clear(void **state)
{
        World w = world();

        (void)state;
        assert_string_equal(look(&w, "warning", -1, NULL), "new");
        expect(&w, "");
        assert_string_equal(after(&w, 60, "warning"), "raised");
        expect(&w, "raised:warning");
        for (int i = 0; i < 2000; i++)
                (void)after(&w, 60, "warning");
        expect(&w, "");
        (void)after(&w, 60, NULL);
        (void)after(&w, 240, NULL);
        expect(&w, "");
        (void)after(&w, 60, NULL);
        expect(&w, "cleared:warning");
        for (int i = 0; i < 100; i++)
                (void)after(&w, 60, NULL);
        expect(&w, "");
        assert_int_equal(w.memory.alerts.n, 0);
        done(&w);
}

/* What the journal was told and is not over, as "raised:warning". */
static void expect_standing(const World *world, const char *wanted)
{
        _cleanup_buf_ PnBuf buf = {0};
        PnEvents standing = {0};

        assert_int_equal(pn_alerts_standing(&world->memory, &standing), 0);
        for (unsigned i = 0; i < standing.n; i++)
                pn_buf_printf(&buf, "%s%s:%s", i ? " " : "", standing.v[i].state.v,
                              standing.v[i].severity.v);
        assert_string_equal(buf.data ? buf.data : "", wanted);
        pn_events_done(&standing);
}

/* It stands from the first entry in the journal to the last, with the severity that is told there,
 * also while the finding itself is not there. */
static void test_standing(void **state)
{
        World w = world();

        (void)state;
        (void)look(&w, "warning", -1, NULL);
        expect_standing(&w, "");
        (void)after(&w, 60, "warning");
        expect_standing(&w, "raised:warning");
        (void)after(&w, 60, "notice");
        expect_standing(&w, "raised:warning");
        (void)after(&w, 60, "critical");
        expect_standing(&w, "raised:warning");
        (void)after(&w, 60, "critical");
        expect_standing(&w, "raised:critical");
        restart(&w);
        (void)after(&w, 60, NULL);
        (void)after(&w, 240, NULL);
        expect_standing(&w, "raised:critical");
        (void)after(&w, 60, NULL);
        expect_standing(&w, "");
        done(&w);
}

/* A snapshot is made whenever a source ends: the same reading again proves nothing. */
static void test_two_readings(void **state)
{
        World w = world();

        (void)state;
        (void)look(&w, "warning", -1, NULL);
        w.now += 600;
        assert_string_equal(look(&w, "warning", -1, NULL), "new");
        expect(&w, "");
        assert_string_equal(after(&w, 1, "warning"), "raised");
        expect(&w, "raised:warning");
        done(&w);
}

static void test_one_sample(void **state)
{
        World w = world();

        (void)state;
        for (int i = 0; i < 100; i++) {
                (void)after(&w, 60, "critical");
                (void)after(&w, 60, NULL);
                (void)after(&w, 60, NULL);
        }
        expect(&w, "");
        done(&w);
}

static void test_info_is_not_told(void **state)
{
        World w = world();

        (void)state;
        (void)look(&w, "info", -1, NULL);
        assert_string_equal(after(&w, 60, "info"), "raised");
        (void)after(&w, 60, "warning");
        expect(&w, "");
        (void)after(&w, 60, "warning");
        expect(&w, "raised:warning");
        /* Near the limit: it is not over. */
        w.held = true;
        for (int i = 0; i < 20; i++)
                (void)after(&w, 60, "info");
        expect(&w, "");
        w.held = false;
        for (int i = 0; i < 6; i++)
                (void)after(&w, 60, "info");
        expect(&w, "cleared:info");
        done(&w);
}

static void test_worse_and_milder(void **state)
{
        World w = world();

        (void)state;
        (void)look(&w, "warning", -1, NULL);
        (void)after(&w, 60, "warning");
        expect(&w, "raised:warning");
        (void)after(&w, 60, "critical");
        expect(&w, "");
        (void)after(&w, 60, "critical");
        expect(&w, "changed:critical");
        /* Milder: not at once, and not each time. */
        for (int i = 0; i < 40; i++)
                (void)after(&w, 60, i % 10 < 8 ? "warning" : "critical");
        expect(&w, "");
        for (int i = 0; i < 40; i++)
                (void)after(&w, 60, "warning");
        expect(&w, "changed:warning");
        done(&w);
}

static void test_unknown(void **state)
{
        World w = world();

        (void)state;
        (void)look(&w, "warning", -1, NULL);
        w.stale = true;
        for (int i = 0; i < 50; i++)
                assert_string_equal(after(&w, 60, "warning"), "new");
        expect(&w, "");
        w.stale = false;
        (void)after(&w, 60, "warning");
        (void)after(&w, 60, "warning");
        expect(&w, "raised:warning");
        w.stale = true;
        for (int i = 0; i < 50; i++)
                (void)after(&w, 60, NULL);
        expect(&w, "");
        w.stale = false;
        w.held = true; /* this device cannot be read */
        for (int i = 0; i < 50; i++)
                (void)after(&w, 60, NULL);
        expect(&w, "");
        w.held = false;
        for (int i = 0; i < 6; i++)
                (void)after(&w, 60, NULL);
        expect(&w, "cleared:warning");
        done(&w);
}

static void test_restart(void **state)
{
        World w = world();

        (void)state;
        (void)look(&w, "warning", -1, NULL);
        restart(&w);
        (void)after(&w, 60, "warning");
        expect(&w, "raised:warning");
        for (int i = 0; i < 10; i++) {
                restart(&w);
                (void)after(&w, 3600, "warning");
        }
        expect(&w, "");
        restart(&w);
        (void)after(&w, 60, NULL);
        restart(&w);
        (void)after(&w, 400, NULL);
        expect(&w, "cleared:warning");
        done(&w);
}

static void test_repeat(void **state)
{
        World w = world();

        (void)state;
        (void)look(&w, "warning", -1, NULL);
        (void)after(&w, 60, "warning");
        for (int i = 0; i < 6; i++)
                (void)after(&w, 60, NULL);
        expect(&w, "raised:warning cleared:warning");
        for (int i = 0; i < 30; i++)
                assert_string_equal(after(&w, 60, "warning"), i ? "raised" : "new");
        expect(&w, "");
        for (int i = 0; i < 30; i++)
                (void)after(&w, 60, "warning");
        expect(&w, "raised:warning");
        done(&w);
}

static void test_flapping(void **state)
{
        World w = world();
        bool said = false;

        (void)state;
        for (int round = 0; round < 40; round++) {
                for (int i = 0; i < 3; i++)
                        (void)after(&w, 60, "warning");
                for (int i = 0; i < 6; i++)
                        (void)after(&w, 60, NULL);
        }
        for (unsigned i = 0; i < w.events.n; i++)
                if (pn_text(&w.events.v[i].detail))
                        said |= strstr(w.events.v[i].detail.v, "comes and goes") != NULL;
        assert_true(said);
        expect(&w, "raised:warning cleared:warning raised:warning");
        for (int i = 0; i < 58; i++)
                (void)after(&w, 60, NULL);
        expect(&w, "");
        for (int i = 0; i < 4; i++)
                (void)after(&w, 60, NULL);
        expect(&w, "cleared:warning");
        done(&w);
}

static void test_accept(void **state)
{
        World w = world();
        PnFinding finding = {0};
        bool accepted;

        (void)state;
        (void)look(&w, "warning", 3, NULL);
        w.now += 60;
        w.reading++;
        (void)look(&w, "warning", 3, NULL);
        expect(&w, "raised:warning");
        assert_int_equal(pn_copy(pn_type_Finding(), &finding, w.memory.alerts.v[0].finding.v), 0);
        assert_int_equal(pn_alerts_accept(&w.memory, &finding, "known", (PnInt){0}, w.now), 0);
        (void)look(&w, "warning", 3, &accepted);
        assert_true(accepted);
        restart(&w);
        (void)look(&w, "warning", 3, &accepted);
        assert_true(accepted);
        expect(&w, "");
        /* It grows. */
        (void)look(&w, "warning", 4, &accepted);
        assert_false(accepted);
        expect(&w, "changed:warning");
        /* Accepted again, and worse. */
        assert_int_equal(pn_alerts_accept(&w.memory, &finding, NULL, (PnInt){0}, w.now), 0);
        (void)look(&w, "critical", 3, &accepted);
        assert_false(accepted);
        pn_events_done(&w.events);
        /* For a time. */
        assert_int_equal(pn_alerts_accept(&w.memory, &finding, NULL, pn_int(w.now + PN_DAY), w.now),
                         0);
        (void)after(&w, 600, "warning");
        (void)look(&w, "warning", 3, &accepted);
        assert_true(accepted);
        w.now += PN_DAY;
        pn_events_done(&w.events);
        (void)look(&w, "warning", 3, &accepted);
        assert_false(accepted);
        expect(&w, "changed:warning");
        assert_int_equal(pn_alerts_unaccept(&w.memory, "0123456789ab"), -ENOENT);
        /* What is accepted before it is told is not told, nor is its end. */
        pn_done(pn_type_Memory(), &w.memory);
        pn_memory_init(&w.memory);
        assert_int_equal(pn_alerts_accept(&w.memory, &finding, NULL, (PnInt){0}, w.now), 0);
        for (int i = 0; i < 10; i++)
                (void)after(&w, 60, "warning");
        for (int i = 0; i < 10; i++)
                (void)after(&w, 60, NULL);
        expect(&w, "");
        pn_done(pn_type_Finding(), &finding);
        done(&w);
}

static void test_growth(void **state)
{
        World w = world();

        (void)state;
        for (int64_t errors = 1; errors <= 1000; errors++) {
                w.now += 3600;
                w.reading++;
                (void)look(&w, "warning", errors, NULL);
        }
        /* When it is raised, and each time that the errors have doubled since. */
        assert_int_equal(w.events.n, 9);
        done(&w);
}

/* ---- A year ---- */

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
        random_state ^= random_state << 13;
        random_state ^= random_state >> 7;
        random_state ^= random_state << 17;
        return random_state % below;
}

/* True incidents last from an hour to ten days, with pauses of two hours to twenty days. Within
 * both, the reading is wrong for less than it takes to believe it, cannot be told, or the daemon is
 * restarted. */
static void test_year(void **state)
{
        World w = world();
        int64_t end = START + 365 * PN_DAY, turn = START + 3 * PN_HOUR;
        unsigned incidents = 0, wrong = 0, since_wrong = 100;
        bool firing = false;
        const char *seed = getenv("PNHW_TEST_SEED");

        (void)state;
        random_state = seed ? strtoull(seed, NULL, 0) : UINT64_C(0x5eed2026);
        random_state = random_state ? random_state : 1;
        printf("# seed 0x%" PRIx64 "\n", random_state);
        while (w.now < end || firing) {
                bool shows;

                if (w.now >= turn) {
                        firing = !firing;
                        incidents += firing;
                        turn = w.now + (firing ? PN_HOUR : 2 * PN_HOUR) +
                               (int64_t)draw((uint64_t)((firing ? 10 : 20) * PN_DAY));
                        wrong = 0;
                        since_wrong = 0;
                }
                if (wrong)
                        wrong--;
                else if (since_wrong++ > 8 && draw(20) == 0) {
                        wrong = firing ? 1 + (unsigned)draw(4) : 1;
                        since_wrong = 0;
                }
                shows = wrong ? !firing : firing;
                w.stale = draw(10) == 0;
                w.held = draw(20) == 0;
                if (draw(200) == 0)
                        restart(&w);
                (void)after(&w, 60, shows ? (draw(2) ? "warning" : "notice") : NULL);
        }
        w.stale = w.held = false;
        for (int i = 0; i < 200; i++)
                (void)after(&w, 60, NULL);
        {
                unsigned raised = 0, cleared = 0;
                bool open = false;

                for (unsigned i = 0; i < w.events.n; i++) {
                        if (pn_text_is(&w.events.v[i].state, "raised")) {
                                assert_false(open);
                                open = true;
                                raised++;
                        } else if (pn_text_is(&w.events.v[i].state, "cleared")) {
                                assert_true(open);
                                open = false;
                                cleared++;
                        } else
                                assert_true(open);
                }
                printf("# %u incidents, %u events\n", incidents, w.events.n);
                assert_true(incidents > 20);
                assert_int_equal(raised, incidents);
                assert_int_equal(cleared, incidents);
        }
        done(&w);
}

/* ---- The file ---- */

static void test_bad_files(void **state)
{
        static const char *const texts[] = {
            "",
            "{",
            "[]",
            "{\"schema\":1}",
            "{\"schema\":1,\"alerts\":{},\"acceptances\":[],\"counters\":[],\"links\":[],"
            "\"ports\":[],\"fans\":[],\"drives\":[],\"disks\":[]}",
            "{\"schema\":1,\"alerts\":[{\"id\":\"a\",\"since\":1,\"samples\":0,\"level\":9}],"
            "\"acceptances\":[],\"counters\":[],\"links\":[],\"ports\":[],\"fans\":[],"
            "\"drives\":[],\"disks\":[]}",
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(texts); i++) {
                _cleanup_free_ char *error = NULL;
                PnMemory memory;

                assert_int_equal(
                    pn_memory_read(texts[i], strlen(texts[i]), START, &memory, NULL, &error),
                    -EINVAL);
                assert_non_null(error);
        }
}

static void test_edited_file(void **state)
{
        static const char text[] =
            "{\"schema\":7,\"alerts\":[],\"acceptances\":[{\"id\":\"b\",\"at\":1,\"rank\":2},"
            "{\"id\":\"a\",\"at\":99999999999,\"rank\":2},{\"id\":\"b\",\"at\":2,\"rank\":1}],"
            "\"counters\":[],\"links\":[],\"ports\":[],\"fans\":[],\"drives\":[],\"disks\":[],"
            "\"of_the_future\":{\"x\":1}}";
        PnMemory memory;
        bool newer = false;

        (void)state;
        assert_int_equal(pn_memory_read(text, strlen(text), START, &memory, &newer, NULL), 0);
        assert_true(newer);
        assert_int_equal(memory.acceptances.n, 2);
        assert_non_null(pn_memory_acceptance(&memory, "a"));
        assert_non_null(pn_memory_acceptance(&memory, "b"));
        assert_int_equal(pn_memory_acceptance(&memory, "a")->at.v, START - 1);
        pn_done(pn_type_Memory(), &memory);
}

static void test_lists(void **state)
{
        PnMemory memory;
        char key[32];

        (void)state;
        pn_memory_init(&memory);
        for (unsigned i = 0; i < PN_MEMORY_MAX; i++) {
                (void)snprintf(key, sizeof key, "%06u", i ^ 1);
                assert_non_null(pn_memory_make_counter(&memory, key));
                pn_memory_counter(&memory, key)->seen = pn_int(i);
        }
        assert_null(pn_memory_make_counter(&memory, "one more"));
        assert_non_null(pn_memory_make_counter(&memory, "000017"));
        assert_int_equal(memory.counters.n, PN_MEMORY_MAX);
        pn_memory_forget(&memory, 100 * PN_DAY + 5000, 100);
        assert_int_equal(memory.counters.n, PN_MEMORY_MAX - 5000);
        pn_done(pn_type_Memory(), &memory);
}

static void test_when(void **state)
{
        static const struct {
                const char *text;
                int64_t seconds; /* -1: not accepted */
        } cases[] = {
            {"1970-01-01", 0},
            {"2026-01-02T03:04:05Z", 1767323045},
            {"2026-01-02T03:04:05.678Z", 1767323045},
            {"2026-01-02T04:04:05+01:00", 1767323045},
            {"2024-02-29", 1709164800},
            {"2026-02-29", -1},
            {"2026-13-01", -1},
            {"2026-1-1", -1},
            {"tomorrow", -1},
            {"2026-01-02T03:04", -1},
            {"2026-01-02T25:00:00Z", -1},
            {"2026-01-02T03:04:05Zulu", -1},
            {"1969-12-31", -1},
            {"", -1},
        };
        PnWhen when;

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                int64_t seconds = -1;

                assert_int_equal(pn_when_parse(cases[i].text, &seconds),
                                 cases[i].seconds < 0 ? -EINVAL : 0);
                assert_int_equal(seconds, cases[i].seconds);
        }
        assert_string_equal(pn_when_format(when, 1767323045), "2026-01-02T03:04:05Z");
        assert_string_equal(pn_when_date(when, 1767323045), "2026-01-02");
        assert_string_equal(pn_when_date(when, INT64_MAX), "9999-12-31");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_raise_and_clear),
            cmocka_unit_test(test_standing),
            cmocka_unit_test(test_two_readings),
            cmocka_unit_test(test_one_sample),
            cmocka_unit_test(test_info_is_not_told),
            cmocka_unit_test(test_worse_and_milder),
            cmocka_unit_test(test_unknown),
            cmocka_unit_test(test_restart),
            cmocka_unit_test(test_repeat),
            cmocka_unit_test(test_flapping),
            cmocka_unit_test(test_accept),
            cmocka_unit_test(test_growth),
            cmocka_unit_test(test_year),
            cmocka_unit_test(test_bad_files),
            cmocka_unit_test(test_edited_file),
            cmocka_unit_test(test_lists),
            cmocka_unit_test(test_when),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
