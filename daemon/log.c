/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One line to standard error. */

#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/uio.h>

void pn_log(PnLogLevel level, const char *format, ...)
{
        char line[1024];
        va_list args;
        int n = 0, m;

        /* Only the journal reads "<4>" as a warning; a person would wonder. */
        n = snprintf(line, sizeof line, getenv("JOURNAL_STREAM") ? "<%d>" : "pnhwd: ", (int)level);
        va_start(args, format);
        m = vsnprintf(line + n, sizeof line - (size_t)n, format, args);
        va_end(args);
        if (m < 0)
                return;
        n = (size_t)m < sizeof line - (size_t)n ? n + m : (int)sizeof line - 1;
        line[n++] = '\n';
        (void)!write(STDERR_FILENO, line, (size_t)n);
}
