/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tells the journal of alerts. */

/* Which line of this file says it is of no use to anybody. */
#define SD_JOURNAL_SUPPRESS_LOCATION

#include "journal.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>

#include "assess.h"
#include "codes.h"
#include "log.h"

#define FIELDS_MAX 16

typedef struct Entry {
        PnBuf texts[FIELDS_MAX];
        struct iovec parts[FIELDS_MAX];
        int n;
} Entry;

static void add(Entry *entry, const char *field, const char *value)
{
        PnBuf *buf = &entry->texts[entry->n];

        if (!value || entry->n == FIELDS_MAX)
                return;
        pn_buf_printf(buf, "%s=%s", field, value);
        if (buf->error)
                return; /* the rest is still worth something */
        entry->parts[entry->n++] = (struct iovec){buf->data, buf->len};
}

/* The journal's own numbers: 2 critical, 4 warning, 5 notice, 6 informational. */
static int priority_of(const PnFinding *event)
{
        static const int priorities[] = {6, 5, 4, 2};
        int rank = pn_severity_rank(event->severity.v);

        if (pn_text_is(&event->state, "cleared"))
                return 5;
        return rank < 0 ? 4 : priorities[rank];
}

/* Whether what goes to standard error is in the journal anyway (systemd.exec(5),
 * $JOURNAL_STREAM). */
static bool stderr_is_journal(void)
{
        const char *stream = getenv("JOURNAL_STREAM");
        unsigned long long device, inode;
        struct stat st;

        return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
               fstat(STDERR_FILENO, &st) == 0 && st.st_dev == (dev_t)device &&
               st.st_ino == (ino_t)inode;
}

void pn_journal_tell(const PnFinding *event)
{
        bool over = pn_text_is(&event->state, "cleared");
        _cleanup_buf_ PnBuf message = {0}, json = {0};
        Entry entry = {0};
        char number[12];
        PnCode code;

        pn_buf_printf(&message, "%s%s", over ? "Over: " : "", event->summary.v);
        if (!over && pn_text(&event->advice))
                pn_buf_printf(&message, " %s", event->advice.v);
        pn_write_json(&json, pn_type_Finding(), event);
        (void)snprintf(number, sizeof number, "%d", priority_of(event));
        add(&entry, "MESSAGE", message.data);
        if (pn_code_from_name(event->code.v, &code) == 0)
                add(&entry, "MESSAGE_ID", pn_code_info(code)->message_id);
        add(&entry, "PRIORITY", number);
        add(&entry, "SYSLOG_IDENTIFIER", "pnhwd");
        add(&entry, "PNHW_ID", pn_text(&event->id));
        add(&entry, "PNHW_CODE", pn_text(&event->code));
        add(&entry, "PNHW_STATE", pn_text(&event->state));
        add(&entry, "PNHW_SUBJECT", pn_text(&event->subject));
        add(&entry, "PNHW_DEVICE", pn_text(&event->device));
        /* The catalog's entries name these, and an absent field would be shown as its name. */
        add(&entry, "PNHW_SUMMARY", pn_text(&event->summary) ? event->summary.v : "");
        add(&entry, "PNHW_DETAIL", pn_text(&event->detail));
        add(&entry, "PNHW_ADVICE", pn_text(&event->advice) ? event->advice.v : "");
        add(&entry, "PNHW_FINDING", json.data);
        if (sd_journal_sendv(entry.parts, entry.n) < 0 || !stderr_is_journal())
                pn_log((PnLogLevel)priority_of(event), "%s: %s", event->state.v,
                       message.data ? message.data : event->code.v);
        for (int i = 0; i < FIELDS_MAX; i++)
                pn_buf_done(&entry.texts[i]);
}
