/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rates every PCI Express link of an inventory: what it runs at, what both its ends could do, what
 * the device could use, and which hop on the way to the root is the narrowest. A pure function;
 * knows nothing of findings, wording or clocks. */
#pragma once

#include "model.h"

typedef PN_LIST(PnRating) PnRatings;

/* Rates all links of a joined inventory, one rating a link, in the order of addresses. Devices
 * without a link (integrated endpoints, virtual functions, conventional PCI) have none.
 * Bandwidths are computed per lane as the kernel does (lib/pcie.h). 0 or -ENOMEM. */
int pn_rate(const PnInventory *inventory, PnRatings *ret);

void pn_ratings_done(PnRatings *ratings);

/* The rating of the link whose lower end starts at this address; NULL if there is none, and for
 * NULL. */
const PnRating *pn_rating_at(const PnRatings *ratings, const char *address);
