/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looks for a better place for a device that its slot holds back; pure, knows no wording. */
#pragma once

#include "model.h"
#include "rating.h"

/* A free place: an empty port that leads to a slot, or a slot that the board lists as free. */
typedef struct PnPlace {
        const char *name;    /* as printed on the board, else the port's address; owned elsewhere */
        const char *address; /* of the port, NULL for a slot whose port is not known */
        unsigned gen, width;
        uint64_t bandwidth; /* what reaches it from the root, Mb/s */
        bool is_m2;         /* takes an M.2 drive without an adapter, and nothing else */
        bool is_bay;        /* takes a drive in its own case, and nothing else */
        bool is_listed;     /* free by the firmware's word alone: its port is not known */
        bool is_shared;     /* behind a switch that others use too */
        bool taken;         /* already recommended to another device */
} PnPlace;

typedef struct PnPlaces {
        size_t n;
        PnPlace *v;
} PnPlaces;

/* All free places of an inventory, which must outlive the result. 0 or -ENOMEM. */
int pn_places_find(const PnInventory *inventory, const PnRatings *ratings, PnPlaces *ret);
void pn_places_done(PnPlaces *places);

/* What a device would get in a place in Mb/s: both ends' minimum, and never more than arrives. */
uint64_t pn_place_offers(const PnPlace *place, const PnLinkRate *best);

/* The best place that would give a device (its best rate and what it gets now in Mb/s) more, that
 * takes such a device (a drive, or a card), and that has not been recommended; marks it as taken
 * and gives the bandwidth that the device would have there. NULL if there is none. */
const PnPlace *pn_places_take(PnPlaces *places, const PnLinkRate *best, bool is_drive, uint64_t now,
                              uint64_t *ret_bandwidth);
