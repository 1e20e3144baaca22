/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lays out the tree of PCI Express links as boxes, the lines between them, and arrows to better
 * places. A pure function; knows no wording, no colour and no file format. */
#pragma once

#include "model.h"
#include "places.h"

#define PN_NO_BOX UINT32_MAX

typedef enum PnBoxKind {
        PN_BOX_ROOT,   /* the processor, or the part of it that a NUMA node is */
        PN_BOX_SWITCH, /* something with links below it */
        PN_BOX_DEVICE,
        PN_BOX_FREE, /* an empty slot */
} PnBoxKind;

/* A box takes a row of its own, right of the box that it hangs on; the line to it (its link) leaves
 * the other's trunk at `hop_x` and arrives at the middle of its left edge. */
typedef struct PnBox {
        PnBoxKind kind;
        uint32_t parent; /* PN_NO_BOX for a root */
        unsigned depth;
        int x, y, width, height;
        int hop_x, hop_y;
        int trunk_x, trunk_end; /* from its bottom down to here hang its children; 0 for none */
        int64_t numa_node;      /* of a root; -1 where there is one alone, or it is not known */
        const PnRating
            *rating; /* of the link above a device or switch; of several alike, the first */
        const PnPlace *place; /* that is free; of several alike, the first */
        /* What is folded into this box, itself included: `n_members` of the picture's `members`. */
        uint32_t first_member, n_members;
        double ratio; /* what hangs on a switch, over what its own link carries; 0: unknown */
        uint32_t offered_to; /* of a free place: the box of the device that is told to move here */
        uint64_t offered_mbps; /* what that would get */
} PnBox;

/* Something that is folded: one of both is set. */
typedef struct PnPictureMember {
        const PnRating *rating;
        const PnPlace *place;
} PnPictureMember;

/* From the right edge of one box to the right edge of another, by way of `x`. */
typedef struct PnArrow {
        uint32_t from, to;
        int x;
} PnArrow;

typedef struct PnPicture {
        int width, height;
        uint32_t n_boxes, n_members, n_arrows;
        PnBox *boxes; /* from top to bottom */
        PnPictureMember *members;
        PnArrow *arrows;
        PnPlaces places;
        uint32_t n_folded; /* links that have no box of their own */
} PnPicture;

/* All lengths in the same unit, such as pixels. */
typedef struct PnPictureMeasures {
        int width;     /* that the whole should take; it takes more where boxes need it */
        int margin;    /* around everything */
        int indent;    /* from a box to one that hangs on it */
        int trunk;     /* from a box's left edge to its trunk; less than `indent` */
        int least;     /* a box is at least as wide */
        int row, root; /* heights of boxes */
        int gap;       /* between rows */
        int lane;      /* between arrows */
        unsigned
            boxes; /* beyond as many, siblings that are alike and at their best fold into one */
} PnPictureMeasures;

/* Draws nothing, and refers to `inventory` and `status`, which must outlive the result. Links that
 * are not at their best, and those that a finding is about, are never folded. 0 or -ENOMEM. */
int pn_picture_lay_out(const PnInventory *inventory, const PnStatus *status,
                       const PnPictureMeasures *measures, PnPicture *ret);
void pn_picture_done(PnPicture *picture);
