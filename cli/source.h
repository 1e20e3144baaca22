/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where facts come from: the daemon, a saved inventory, or the probe, run once. Every verb asks
 * here and cannot tell the difference. Knows no layout. */
#pragma once

#include "cli.h"
#include "client.h"
#include "interface.h"
#include "model.h"
#include "ports.h"

typedef enum Origin {
        ORIGIN_DAEMON,
        ORIGIN_FILE,
        ORIGIN_PROBE,
} Origin;

/* What a verb needs of an inventory; a daemon sends no more than that. */
typedef enum Want {
        WANT_STATUS = 0, /* no inventory at all */
        WANT_PCI = 1 << 0,
        WANT_NVME = 1 << 1,
        WANT_DISKS = 1 << 2,
        WANT_NICS = 1 << 3,
        WANT_SENSORS = 1 << 4, /* and what drives measure */
        WANT_HOST = 1 << 5,    /* in the inventory: a status has it, too */
        WANT_ALL = (1 << 6) - 1,
} Want;

typedef struct Facts {
        Origin origin;
        PnStatus status;
        PnInventory inventory;
        PnPorts ports; /* judged from both, where network ports are wanted */
        char *
            status_text; /* the daemon's own words, for JSON: may have fields that we do not know */
        size_t status_length;
} Facts;

/* Gets the status, and those parts of the inventory that are wanted. 0; or the exit code, after
 * having said what is wrong. */
int source_facts(Cli *cli, Want want, Facts *ret);
void facts_done(Facts *facts);

/* Gets the whole inventory, as it was read: what --from reads. */
int source_inventory(Cli *cli, PnInventory *ret);

/* Gets the page of metrics, as OpenMetrics text. */
int source_metrics(Cli *cli, PnBuf *ret);

/* Gets everything about one device; for an unknown one, names those whose names are similar. */
int source_device(Cli *cli, const char *name, PnDevice *ret);

/* Gets the verdict for monitoring about one device, or (NULL) about all; `severity` is the mildest
 * that is a problem. */
int source_check(Cli *cli, const char *device, const char *severity, PnCheckOut *ret);

/* Asks the daemon for something that changes what it knows. 0 and an answer, which may be a Varlink
 * error (its `text` is gone); or the exit code, after having said what is wrong. */
int source_ask(Cli *cli, const char *method, const char *parameters, PnReply *ret);

/* Say what is wrong, and return the exit code: for a negative errno of lib/client.h and its
 * sentence (may be NULL), and for a Varlink error. */
int source_cannot_ask(Cli *cli, int error, const char *sentence);
int source_refused(Cli *cli, const PnReply *reply);

/* The last word of a Varlink error's name: "NoSuchFinding". */
const char *source_short_error(const PnReply *reply);
