/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sorted list of names and what they stand for; knows nothing of the objects. */

#include "index.h"

int pn_index_init(PnIndex *index, unsigned most)
{
        *index = (PnIndex){.v = calloc((size_t)most + 1, sizeof *index->v)};
        return index->v ? 0 : -ENOMEM;
}

void pn_index_done(PnIndex *index)
{
        free(index->v);
        *index = (PnIndex){0};
}

void pn_index_add(PnIndex *index, const char *key, const void *object)
{
        if (!key)
                return;
        index->v[index->n] = (PnIndexEntry){key, index->n, object};
        index->n++;
}

static int compare(const void *a, const void *b)
{
        const PnIndexEntry *one = a, *other = b;
        int r = strcmp(one->key, other->key);

        return r ? r : (one->order > other->order) - (one->order < other->order);
}

void pn_index_sort(PnIndex *index)
{
        if (index->n)
                qsort(index->v, index->n, sizeof *index->v, compare);
}

/* The first entry whose key is not below `key`, or with `beyond` is above it. */
static unsigned bound(const PnIndex *index, const char *key, bool beyond)
{
        unsigned low = 0, high = index->n;

        while (low < high) {
                unsigned middle = low + (high - low) / 2;
                int r = strcmp(index->v[middle].key, key);

                if (r < 0 || (beyond && r == 0))
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

const PnIndexEntry *pn_index_range(const PnIndex *index, const char *key, unsigned *ret_n)
{
        unsigned first = key ? bound(index, key, false) : 0;
        unsigned n = key ? bound(index, key, true) - first : 0;

        *ret_n = n;
        return n ? &index->v[first] : NULL;
}

const void *pn_index_find(const PnIndex *index, const char *key, unsigned *ret_n)
{
        unsigned n;
        const PnIndexEntry *first = pn_index_range(index, key, &n);

        if (ret_n)
                *ret_n = n;
        return first ? first->object : NULL;
}
