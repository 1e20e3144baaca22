/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes the memory map of QSFP+, QSFP28 and cables of that form (SNIA SFF-8636, revision 2.10a,
 * which extends SFF-8436). Knows the bytes that were read, not how. */
#pragma once

#include "module.h"

/* Fills in a zeroed module whose identifier is one of this map; lower memory has one byte at least.
 * 0, or -ENOMEM: then what is there already must be freed. */
int pn_sff8636_decode(const PnModulePages *pages, PnModule *module);

/* As pn_module_wanted(). */
unsigned pn_sff8636_wanted(const PnModulePages *pages, bool diagnostics_only);

/* As pn_module_serial(). */
extern const PnModuleSpan pn_sff8636_serial;
