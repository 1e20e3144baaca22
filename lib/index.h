/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds objects by a name, however many there are: a document may be made to have very many. Keys
 * and objects belong to somebody else and must outlive the index. */
#pragma once

#include "base.h"

typedef struct PnIndexEntry {
        const char *key;
        unsigned order;
        const void *object;
} PnIndexEntry;

/* Zeroed is empty. */
typedef struct PnIndex {
        unsigned n;
        PnIndexEntry *v;
} PnIndex;

/* Room for `most` objects. 0 or -ENOMEM. */
int pn_index_init(PnIndex *index, unsigned most);
void pn_index_done(PnIndex *index);

/* Adds an object, of which there are no more than there is room; a NULL key is passed over. */
void pn_index_add(PnIndex *index, const char *key, const void *object);

/* Call when all are added, before anything is looked up. */
void pn_index_sort(PnIndex *index);

/* The first that was added with this key, and the number of them; NULL and 0 if there is none, and
 * for a NULL key. `ret_n` may be NULL. */
const void *pn_index_find(const PnIndex *index, const char *key, unsigned *ret_n);

/* All of them, in the order in which they were added; NULL if there is none. */
const PnIndexEntry *pn_index_range(const PnIndex *index, const char *key, unsigned *ret_n);
