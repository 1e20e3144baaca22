/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* "Did you mean": which names are close to a mistyped one. Pure. */

#include "near.h"

#include <stdio.h>

#include "codes.h"
#include "say.h"

#define NAME_MAX_LENGTH 63
#define SHOWN           4

static unsigned least(unsigned a, unsigned b, unsigned c)
{
        unsigned ab = a < b ? a : b;

        return ab < c ? ab : c;
}

/* Insertions, deletions and changes that turn one name into the other (Levenshtein). */
static unsigned edits(const char *a, const char *b)
{
        unsigned row[NAME_MAX_LENGTH + 1];
        size_t n = strlen(b);

        for (unsigned j = 0; j <= n; j++)
                row[j] = j;
        for (unsigned i = 1; a[i - 1]; i++) {
                unsigned diagonal = row[0];

                row[0] = i;
                for (unsigned j = 1; j <= n; j++) {
                        unsigned above = row[j];

                        row[j] = least(above + 1, row[j - 1] + 1,
                                       diagonal + (a[i - 1] == b[j - 1] ? 0 : 1));
                        diagonal = above;
                }
        }
        return row[n];
}

int near_distance(const char *typed, const char *name)
{
        size_t typed_length = strlen(typed), length = strlen(name);
        unsigned distance;

        if (!typed_length || typed_length > NAME_MAX_LENGTH || length > NAME_MAX_LENGTH)
                return -1;
        if (strncmp(typed, name, typed_length) == 0 || strncmp(typed, name, length) == 0)
                return 1;
        distance = edits(typed, name);
        return distance <= (length < 4 ? 1 : 2) ? (int)distance : -1;
}

/* The closest names so far, closest first. */
typedef struct Closest {
        const char *names[SHOWN];
        int distances[SHOWN];
        unsigned n;
        const char *first[SHOWN]; /* what there is at all */
        unsigned n_first;
} Closest;

static void offer_at(Closest *closest, const char *name, int distance)
{
        unsigned at;

        if (distance < 0)
                return;
        for (at = closest->n; at > 0 && closest->distances[at - 1] > distance; at--)
                if (at < SHOWN) {
                        closest->names[at] = closest->names[at - 1];
                        closest->distances[at] = closest->distances[at - 1];
                }
        if (at >= SHOWN)
                return;
        closest->names[at] = name;
        closest->distances[at] = distance;
        if (closest->n < SHOWN)
                closest->n++;
}

static void offer(Closest *closest, const char *typed, const PnText *text)
{
        const char *name = pn_text(text);
        int distance = name ? near_distance(typed, name) : -1;

        if (!name)
                return;
        if (closest->n_first < SHOWN)
                closest->first[closest->n_first++] = name;
        /* An address without its domain is an address as well. */
        if (distance < 0 && pn_startswith(name, "0000:"))
                distance = near_distance(typed, name + 5);
        offer_at(closest, name, distance);
}

/* `format` is for the names. */
static char *sentence(const char *format, const char *const *names, unsigned n)
{
        _cleanup_buf_ PnBuf buf = {0};
        char *text;

        for (unsigned i = 0; i < n; i++)
                pn_buf_printf(&buf, "%s%s", i == 0 ? "" : i + 1 == n ? _(" or ") : ", ", names[i]);
        if (buf.error || asprintf(&text, format, buf.data) < 0)
                return NULL;
        return text;
}

char *near_devices(const PnInventory *inventory, const char *typed)
{
        Closest closest = {0};

        for (unsigned i = 0; i < inventory->nvme.n; i++) {
                offer(&closest, typed, &inventory->nvme.v[i].name);
                for (unsigned k = 0; k < inventory->nvme.v[i].namespaces.n; k++)
                        offer(&closest, typed, &inventory->nvme.v[i].namespaces.v[k].name);
        }
        for (unsigned i = 0; i < inventory->disks.n; i++)
                offer(&closest, typed, &inventory->disks.v[i].name);
        for (unsigned i = 0; i < inventory->nics.n; i++)
                if (pn_text(&inventory->nics.v[i].name))
                        offer(&closest, typed, &inventory->nics.v[i].name);
        for (unsigned i = 0; i < inventory->pci.n; i++)
                offer(&closest, typed, &inventory->pci.v[i].address);
        if (closest.n)
                return sentence(_("; did you mean %s?"), closest.names, closest.n);
        if (closest.n_first)
                return sentence(_("; there are for example %s"), closest.first, closest.n_first);
        return strdup(_("; nothing was found on this machine"));
}

char *near_codes(const char *typed)
{
        Closest closest = {0};

        for (unsigned i = 0; i < PN_N_CODES; i++) {
                const char *name = pn_code_info((PnCode)i)->name;
                int distance = near_distance(typed, name);

                /* "hot", or "nvme_hot". */
                if (distance < 0)
                        distance = near_distance(typed, strchr(name, '.') + 1);
                offer_at(&closest, name, distance);
        }
        /* The nearest alone: all of them are listed anyhow. */
        while (closest.n && closest.distances[closest.n - 1] > closest.distances[0])
                closest.n--;
        if (closest.n)
                return sentence(_("; did you mean %s?"), closest.names, closest.n);
        return strdup("");
}
