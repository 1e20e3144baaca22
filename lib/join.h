/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Puts together what different sources know of the same thing; a pure function over an inventory,
 * knows nothing of how it was read. */
#pragma once

#include "model.h"

/* Joins an inventory in place; joining it again changes nothing.
 *  - What lives on an NVMe namespace (`namespace_uses`, by block device number, else by name)
 *    moves to the namespace. A namespace for which the block source had no answer gets `uses`
 *    unread, reason cannot_join: never "nothing lives on it".
 *  - What drives say of themselves (`nvme_health`, by name and serial number) moves to the drive,
 *    and to the other controllers of the same drive. A PCIe drive of which nothing came gets
 *    `health` unread, reason cannot_join: never "it has none". Drives that are lost and those
 *    behind a network have none.
 *  - A PCI function without a slot gets the one that SMBIOS gives for its address, else its nearest
 *    ancestor's.
 *  - What is plugged into a port (`port_modules`, by PCI address and port number, else by name)
 *    moves to the port. A port for which the module source had no answer gets `module` unread,
 *    reason cannot_join: never "nothing is plugged in".
 *  - Chips that measure are told what they are part of (parts.h).
 *  - Lists are sorted: PCI by address, drives and disks by name with numbers in order.
 * 0 or -ENOMEM. */
int pn_join(PnInventory *inventory);

/* Compares names as people sort them: nvme2 before nvme10. */
int pn_name_compare(const char *a, const char *b);
