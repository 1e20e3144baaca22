/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes the memory map of SFP, SFP+, SFP28 and cables of that form (SNIA SFF-8472,
 * revision 12.4). Knows the bytes that were read, not how. */
#pragma once

#include "module.h"

/* Fills in a zeroed module whose identifier is one of this map; lower memory has one byte at least.
 * 0, or -ENOMEM: then what is there already must be freed. */
int pn_sff8472_decode(const PnModulePages *pages, PnModule *module);

/* As pn_module_wanted(). */
unsigned pn_sff8472_wanted(const PnModulePages *pages, bool diagnostics_only);

/* As pn_module_serial() and pn_module_readings(): of A2h the readings, status and flags. */
extern const PnModuleSpan pn_sff8472_serial, pn_sff8472_readings;
