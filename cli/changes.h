/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a status changes in what is known of a machine, and how that is told. */
#pragma once

#include "cli.h"
#include "model.h"

typedef enum Form { FORM_PAGE, FORM_LINES, FORM_JSON } Form;

typedef PN_LIST(PnFinding) Findings;

void findings_done(Findings *findings);
int findings_append(Findings *findings, const PnFinding *finding);

/* The one with the same id, or NULL. */
const PnFinding *findings_find(unsigned n, const PnFinding *findings, const PnFinding *wanted);

/* Zeroed but for its form and host, nothing is known. */
typedef struct Changes {
        Form form;
        const char *host;    /* NULL: this machine, which is not named */
        unsigned host_width; /* columns that names of hosts take up in lines */
        bool is_known;       /* there was a status */
        Findings findings;   /* what it had, and what nobody can tell the end of */
} Changes;

void changes_done(Changes *changes);

/* Tells of each difference, writes it out, and remembers the status. 0 or a negative errno. */
int changes_take(Cli *cli, Changes *changes, const PnStatus *status);

/* Tells of the status that comes first, in a line. */
void changes_begin(Cli *cli, const Changes *changes, const PnStatus *status);

/* Whether the sources without which nobody can tell of a finding have been read: right after its
 * start a daemon does not have them all. */
bool changes_can_tell(const PnStatus *status, const PnFinding *finding);

/* The time now, as it is shown. */
const char *changes_time(char buf[static 32]);
