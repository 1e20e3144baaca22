/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* "Did you mean": which names are close to a mistyped one. Pure. */
#pragma once

#include "model.h"

/* Whether two names are so close that one may be the other, mistyped; also if one begins with the
 * other. Smaller is closer, -1 is not close. */
int near_distance(const char *typed, const char *name);

/* The end of a sentence about a device that is not there: "; did you mean nvme1 or nvme2?", or
 * what there is to choose from. malloc'ed, NULL without memory. */
char *near_devices(const PnInventory *inventory, const char *typed);

/* The same about a code of findings; "" if none is close. */
char *near_codes(const char *typed);
