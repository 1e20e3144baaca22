/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps the memory in a file over restarts; knows nothing of what it remembers. The daemon never
 * waits for a disk: a child writes. */
#pragma once

#include <systemd/sd-event.h>

#include "memory.h"

typedef struct PnStateFile PnStateFile;

/* Reads state.json in a folder (NULL: there is none, and nothing is kept) into `memory`, empty
 * where there is none to use. What cannot be read is set aside under another name, and the journal
 * is told that alerts will be told anew. `machine` names this machine: another one's file is set
 * aside as well. 0 or -ENOMEM. */
int pn_state_open(sd_event *event, const char *folder, const char *machine, PnMemory *memory,
                  PnStateFile **ret);

/* Starts writing it; while a child still does, remembers to write again. What goes wrong is logged
 * once, and tried again with the next call. */
void pn_state_save(PnStateFile *state, const PnMemory *memory);

/* Writes what was not written, waits for a child that writes for a moment, and forgets it. */
void pn_state_close(PnStateFile *state, const PnMemory *memory);
