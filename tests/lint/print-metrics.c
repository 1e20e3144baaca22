/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints the description of all metrics that their table gives, for docs/ and for the test that it
 * is up to date; knows nothing else. */

#include <stdio.h>

#include "metrics.h"

int main(void)
{
        _cleanup_buf_ PnBuf buf = {0};

        pn_metrics_describe(&buf);
        if (buf.error || fputs(buf.data, stdout) < 0)
                return 1;
        return 0;
}
