/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures what it takes to compare two snapshots of an inventory, in which nothing has changed (so
 * that all is looked at), and to serialise one of them. Prints the microseconds of both, and the
 * numbers of functions and of findings. */

#include <json-c/json.h>
#include <stdio.h>
#include <time.h>

#include "assess.h"
#include "join.h"
#include "snapshot.h"

#define ROUNDS 41

static double now_us(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare_times(const void *a, const void *b)
{
        const double *x = a, *y = b;

        return (*x > *y) - (*x < *y);
}

static double median(double times[static ROUNDS])
{
        qsort(times, ROUNDS, sizeof *times, compare_times);
        return times[ROUNDS / 2];
}

static int read_text(const char *path, PnBuf *ret)
{
        FILE *file = fopen(path, "re");
        char chunk[65536];
        size_t n;

        if (!file)
                return -errno;
        while ((n = fread(chunk, 1, sizeof chunk, file)) > 0)
                pn_buf_put(ret, chunk, n);
        (void)fclose(file);
        return ret->error;
}

static int make_snapshot(const PnBuf *text, PnSnapshot **ret)
{
        struct json_object *json = NULL;
        PnInventory inventory = {0};
        PnStatus status;
        int r = pn_parse_json(text->data, text->len, &json, NULL);

        if (r == 0)
                r = pn_read_json(pn_type_Inventory(), json, PN_JSON_ALLOW_UNKNOWN, &inventory, NULL,
                                 NULL);
        json_object_put(json);
        if (r == 0)
                r = pn_join(&inventory);
        if (r == 0)
                r = pn_assess(&inventory, (PnBefore){0}, NULL, "2026-01-02T03:04:05Z", &status);
        return r == 0 ? pn_snapshot_new(&inventory, &status, 1, ret) : r;
}

static int measure(const PnSnapshot *a, const PnSnapshot *b)
{
        double diffs[ROUNDS], texts[ROUNDS];

        for (unsigned i = 0; i < ROUNDS; i++) {
                _cleanup_buf_ PnBuf buf = {0};
                PnSubscribeOut out = {0};
                double start = now_us();
                bool differs = pn_snapshot_differs(a, b);

                if (pn_findings_changed(&a->status, &b->status, &out) < 0)
                        return -ENOMEM;
                diffs[i] = now_us() - start;
                if (differs || out.changed.n)
                        return -EINVAL; /* then it would not be what is measured */
                start = now_us();
                pn_write_json(&buf, pn_type_Inventory(), &a->inventory);
                pn_write_json(&buf, pn_type_Status(), &a->status);
                texts[i] = now_us() - start;
                if (buf.error)
                        return buf.error;
        }
        printf("%.1f %.1f %u %u\n", median(diffs), median(texts), a->inventory.pci.n,
               a->status.findings.n);
        return 0;
}

int main(int argc, char **argv)
{
        _cleanup_(pn_snapshot_unrefp) PnSnapshot *a = NULL, *b = NULL;
        _cleanup_buf_ PnBuf text = {0};
        int r = argc == 2 ? read_text(argv[1], &text) : -EINVAL;

        if (r == 0)
                r = make_snapshot(&text, &a);
        if (r == 0)
                r = make_snapshot(&text, &b);
        if (r == 0)
                r = measure(a, b);
        if (r < 0)
                fprintf(stderr, "usage: diff INVENTORY (%s)\n", strerror(-r));
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
