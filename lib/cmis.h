/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes the Common Management Interface Specification of QSFP-DD, OSFP and their kin
 * (OIF-CMIS-05.2, which
 * kept what 4.0 defined). Knows the bytes that were read, not how. */
#pragma once

#include "module.h"

/* Fills in a zeroed module whose identifier is one of this map; lower memory has one byte at least.
 * 0, or -ENOMEM: then what is there already must be freed. */
int pn_cmis_decode(const PnModulePages *pages, PnModule *module);

/* As pn_module_wanted(). */
unsigned pn_cmis_wanted(const PnModulePages *pages, bool diagnostics_only);

/* As pn_module_serial(). */
extern const PnModuleSpan pn_cmis_serial;
