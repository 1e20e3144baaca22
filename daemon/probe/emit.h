/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a source's objects go: a line each, at once, or one document at the end. Knows nothing of
 * where objects come from. */
#pragma once

#include "model.h"

typedef enum PnObjectKind {
        PN_OBJECT_HOST,
        PN_OBJECT_PCI,
        PN_OBJECT_NVME,
        PN_OBJECT_DISK,
        PN_OBJECT_NAMESPACE_USES,
        PN_OBJECT_NIC,
        PN_OBJECT_PORT_MODULE,
        PN_OBJECT_NVME_HEALTH,
        PN_OBJECT_CHIP,
        PN_N_OBJECT_KINDS,
} PnObjectKind;

/* How a source went. `reason` is "" when it was read in full. */
typedef struct PnReport {
        unsigned count;    /* objects emitted */
        unsigned timeouts; /* devices that did not answer */
        char reason[256];
} PnReport;

/* Keeps the first reason that is given. */
void pn_report_reason(PnReport *report, const char *format, ...) _printf_(2, 3);

typedef struct PnEmit {
        bool lines;
        int error; /* the first that happened; nothing more is written after it */
        PnInventory inventory;
} PnEmit;

const PnType *pn_object_type(PnObjectKind kind);

/* Writes an object as a line, or keeps it for the document. The object is empty afterwards in
 * either case. */
void pn_emit_object(PnEmit *emit, const char *source, PnObjectKind kind, void *object);

/* Says that a source is through: its closing line, or its entry in `sources`. */
void pn_emit_end(PnEmit *emit, const char *source, const PnReport *report, int64_t took_ms);

/* Joins and writes the document, where there is to be one. 0, or the first error of this or of
 * any earlier call. */
int pn_emit_finish(PnEmit *emit);

void pn_emit_done(PnEmit *emit);
