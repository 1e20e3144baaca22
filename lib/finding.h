/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a finding is made: what the rules look at, what a finding is about, and the name that it
 * keeps over reboots and renumbering. Knows no rule. */
#pragma once

#include "codes.h"
#include "index.h"
#include "memory.h"
#include "model.h"
#include "places.h"
#include "policy.h"
#include "ports.h"
#include "rating.h"
#include "topology.h"

typedef struct PnReadingBefore {
        const PnChip *chip;
        const PnReading *reading;
} PnReadingBefore;

/* What an inventory has by name; see pn_names_build(). */
typedef struct PnNames {
        PnIndex drives_by_name, drives_by_address;
        PnIndex nics_by_mac, nics_by_id, nics_by_name, nics_by_address, nics_by_lower;
        PnIndex slots_by_name; /* the board's */
        PnIndex drives_before; /* those of the inventory before whose health is known, by name */
        unsigned n_serials;
        const PnNvme **by_serial; /* those that have one, sorted by serial, model and subsystem */
        unsigned n_readings_before;
        PnReadingBefore *readings_before; /* sorted by chip, device and feature */
} PnNames;

/* What rules look at; nothing in it changes while they run but `findings`, `held` and `places`. */
typedef struct PnFacts {
        const PnInventory *inventory;
        const PnNames *names; /* of that inventory */
        const PnRatings *ratings;
        const PnTopology *topology;
        const PnPorts *ports;
        const PnInventory *before; /* the inventory before this one; NULL: none is known */
        const PnPolicy *policy;
        PnMemory *memory; /* NULL: nothing is remembered */
        int64_t when;     /* now, in seconds since 1970; 0 where nothing is remembered */
        const char *now;  /* the same, RFC 3339, UTC */
        PnPlaces places;
        PN_LIST(PnFinding) findings;
        PnTexts held; /* ids of findings of which this reading cannot tell that they are over */
        bool learned; /* the memory has changed, and should be saved soon */
} PnFacts;

/* Sorts what an inventory has, and what the one before had (NULL: none is known), once for all
 * findings; they must outlive the result. 0 or -ENOMEM. */
int pn_names_build(const PnInventory *inventory, const PnInventory *before, PnNames *ret);
void pn_names_done(PnNames *names);

/* The drive (the first, should there be two) with this name or PCI address; NULL if there is none,
 * and for NULL. */
const PnNvme *pn_drive_named(const PnNames *names, const char *name);
const PnNvme *pn_drive_at(const PnNames *names, const char *address);

/* What the same sensor of the same chip said in the inventory before; NULL if that is not known. */
const PnReading *pn_reading_before(const PnNames *names, const PnChip *chip,
                                   const PnReading *reading);

/* The port with this interface name (or, without one, address); NULL if there is none. */
const PnNic *pn_nic_named(const PnNames *names, const char *id);

/* What a finding about a drive, a function or something else is about: the drive's serial number
 * if no other has it (and where it is, if it has several controllers), else the way from the root
 * to the function, else `other`. Drive, address and `other` may be NULL. 0 or -ENOMEM. */
int pn_finding_subject_for_drive(const PnFacts *facts, const PnNvme *drive, const char *address,
                                 const char *other, PnText *ret);

/* The same for a port or a bond: the address that it was made with, if no other has it. */
int pn_finding_subject_for_nic(const PnFacts *facts, const PnNic *nic, PnText *ret);

/* The same for what a chip measures: the chip by libsensors' name and the kernel's name of the
 * feature, neither of which depends on hwmon's numbers. */
typedef char PnSensorSubject[256];

void pn_finding_subject_for_sensor(const PnChip *chip, const PnReading *reading,
                                   PnSensorSubject ret);

/* The id of a finding: 12 hex digits that depend on nothing but code and subject. */
void pn_finding_id(PnCode code, const char *subject, char ret[static 13]);

/* Adds a finding with its code, severity, device and stable subject; the rule then writes the
 * words. NULL when memory is short. `drive` and `address` may be NULL. */
PnFinding *pn_finding_add(PnFacts *facts, PnCode code, const char *severity, const PnNvme *drive,
                          const char *address, const char *other_subject);

/* The same for a port or a bond: its subject is the address that it was made with. */
PnFinding *pn_finding_add_for_nic(PnFacts *facts, PnCode code, const char *severity,
                                  const PnNic *nic);

/* Says of a finding that this reading cannot tell whether it still holds, or that it is too near to
 * its limit to be over. Of no effect without a memory. 0 or -ENOMEM. */
int pn_finding_hold(PnFacts *facts, PnCode code, const PnNvme *drive, const char *address,
                    const char *other_subject);
int pn_finding_hold_for_nic(PnFacts *facts, PnCode code, const PnNic *nic);

/* Whether a source was read in full; NULL or unknown ones were not. */
bool pn_is_fresh(const PnInventory *inventory, const char *source);
