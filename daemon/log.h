/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One line to standard error; the journal takes the priority from its prefix. */
#pragma once

#include "base.h"

typedef enum PnLogLevel {
        PN_LOG_ERROR = 3,
        PN_LOG_WARNING = 4,
        PN_LOG_NOTICE = 5,
        PN_LOG_INFO = 6,
} PnLogLevel;

void pn_log(PnLogLevel level, const char *format, ...) _printf_(2, 3);
