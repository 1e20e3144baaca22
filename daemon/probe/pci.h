/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What other sources have to know of a PCI function before they touch what sits on it. */
#pragma once

#include "base.h"

/* Whether a device, or any that it is reached through, is runtime-suspended: then nothing may be
 * asked that would wake it. `path` is its real directory, "/sys/devices/…". */
bool pn_path_is_asleep(const char *path);

/* Whether a driver is one that hands its function to a guest or to a program (vfio-pci, …). */
bool pn_driver_passes_through(const char *driver);
