/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Takes out of an inventory what identifies a machine or its owner, so that it can be shown to
 * strangers; pure but for the random bytes that the caller lends. */
#pragma once

#include "model.h"

/* What becomes of a text. Every text of an inventory has one of these (lib/pseudonym.c has the
 * list, and tests/unit/test-pseudonym.c holds it to the field lists). */
typedef enum PnTreatment {
        PN_TREAT_KEEP,      /* words of ours, the kernel's or a standard's */
        PN_TREAT_SCRUB,     /* kept, but for secrets that may stand in it: makers, models, labels */
        PN_TREAT_REASON,    /* free text: the same, and names are secrets there, too */
        PN_TREAT_REFERENCE, /* kept, unless it is an interface's name that was replaced */
        PN_TREAT_HOST,      /* a host name, part by part */
        PN_TREAT_SERIAL,
        PN_TREAT_MAC,       /* keeps its maker's three bytes */
        PN_TREAT_NQN,       /* keeps the prefix that the standard gives */
        PN_TREAT_WWN,       /* keeps the kind and the maker's three bytes */
        PN_TREAT_INTERFACE, /* what the kernel or udev made up is kept */
        PN_TREAT_NAME,      /* pools, groups, arrays, labels; what installers always use is kept */
        PN_TREAT_PATH,      /* mount points, part by part, the same way */
        PN_N_TREATMENTS,
} PnTreatment;

/* How a text field of a type is treated; -ENOENT if nobody decided. */
int pn_treatment_of(const char *type, const char *field, PnTreatment *ret);

/* The types and fields that are decided, by index, for the test; false beyond the last. */
bool pn_treatment_row(size_t index, const char **ret_type, const char **ret_field);

/* Fills `n` bytes at random. 0 or a negative errno. */
typedef int (*PnRandom)(void *userdata, void *bytes, size_t n);

typedef struct PnPseudonymsMade {
        unsigned n[PN_N_TREATMENTS]; /* different values that were replaced, by treatment */
} PnPseudonymsMade;

/* Replaces in place. A value gets the same pseudonym wherever it stands, and no two get the same,
 * so that what was joined by serial number, address or name still is. A pseudonym is drawn at
 * random and only remembered meanwhile: nothing leads back from it, and two captures of one machine
 * have nothing in common. It has the shape of its value: digits for digits, letters for letters.
 * `keep_names` leaves names of interfaces, pools and mount points. 0, -ENOMEM, or what `random`
 * failed with; then the inventory may be half done and must not be shown. */
int pn_pseudonymise(PnInventory *inventory, bool keep_names, PnRandom random, void *userdata,
                    PnPseudonymsMade *ret);
