/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tells readings of hwmon chips that can be believed from those that cannot. Pure; knows the
 * kernel's drivers by name, and what the sensors of boards that nobody wired show. */
#pragma once

#include "model.h"

/* Completes a reading whose label, feature, kind, unit and value are set, and whose limits are as
 * the chip gives them: sets `plausible`, takes away a value that nothing can have and limits that
 * make no sense, and makes a temperature that is meant for fan control one of kind `control`. */
int pn_reading_judge(const PnChip *chip, PnReading *reading);

/* Whether a reading may make a finding. Those of a board's Super I/O chip may not, unless its owner
 * gave it a name of his own: too many of its channels are wired to nothing. */
bool pn_reading_may_alarm(const PnChip *chip, const PnReading *reading);
