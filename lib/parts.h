/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Says what a chip that measures is part of, in words that people use. Pure; knows the kernel's
 * drivers by name, and what else the inventory has of the device. */
#pragma once

#include "model.h"

/* Sets `part` and `part_name` of each chip; they are absent where they are not known. Expects an
 * inventory whose other lists are joined. 0 or -ENOMEM. */
int pn_parts_name(PnInventory *inventory);
