/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tells the journal of alerts, with fields that programs can match; decides nothing. */
#pragma once

#include "alerts.h"

/* One entry: MESSAGE_ID of its code, PRIORITY of its severity, PNHW_CODE, PNHW_SUBJECT,
 * PNHW_DEVICE, PNHW_STATE, PNHW_ID, PNHW_SUMMARY, PNHW_DETAIL, PNHW_ADVICE, and PNHW_FINDING, which
 * is the finding as JSON. Where standard error is not the journal, a line goes there as well. */
void pn_journal_tell(const PnFinding *event);
