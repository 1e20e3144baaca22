/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds everything about one device by any of its names; a pure function. */
#pragma once

#include "model.h"

/* Looks up `name` (nvme0, nvme0n1, sda, enp4s0f0, a PCI address with or without its domain) and
 * gathers its objects, its links from the device up to the root, and the findings about it. 0,
 * -ENOENT if nothing has that name, or -ENOMEM. */
int pn_device_find(const PnInventory *inventory, const PnStatus *status, const char *name,
                   PnDevice *ret);
