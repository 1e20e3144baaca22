/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a source is: it walks its devices, fills objects of the model and emits them, and says what
 * it could not read. Knows no source but by its name. */
#pragma once

#include "emit.h"

/* Emits all that the source finds. What a source cannot read of one device is in that device's
 * object; `report` says only what ails the source as a whole. -ENOMEM, or 0. */
typedef int PnSourceFunction(PnEmit *emit, PnReport *report);

PnSourceFunction pn_source_host, pn_source_pci, pn_source_nvme, pn_source_block, pn_source_net,
    pn_source_module, pn_source_health, pn_source_sensors;
