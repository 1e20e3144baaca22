/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes what an SMBIOS structure table says of slots and memory. Knows the table's bytes alone,
 * not where they come from, and does not judge whether the firmware tells the truth.
 *
 * Section numbers are those of the SMBIOS Reference Specification (DMTF DSP0134), version 3.7. */
#pragma once

#include "base.h"
#include "pcie.h"

/* Current Usage (7.10.3). */
typedef enum PnSlotUsage {
        PN_SLOT_UNKNOWN,
        PN_SLOT_FREE,
        PN_SLOT_IN_USE,
        PN_SLOT_UNAVAILABLE, /* for example that of a processor that is not installed */
} PnSlotUsage;

/* What fits mechanically, as far as the type byte tells. */
typedef enum PnSlotForm {
        PN_SLOT_FORM_UNKNOWN,
        PN_SLOT_FORM_CARD, /* add-in card: PCI, PCI-X, AGP, PCIe */
        PN_SLOT_FORM_M2,
        PN_SLOT_FORM_U2,
        PN_SLOT_FORM_MINI,
        PN_SLOT_FORM_EDSFF,
        PN_SLOT_FORM_OCP,
        PN_SLOT_FORM_OTHER, /* something else: ISA, MXM, memory card, riser... */
} PnSlotForm;

/* A system slot: structure type 9 (7.10). */
typedef struct PnSmbiosSlot {
        char *designation;     /* as printed on the board; NULL if empty */
        const char *type_name; /* "PCIe 4.0 x16", "M.2 socket 3"; static; NULL if unknown */
        unsigned generation;   /* of PCIe, as the type byte implies: 1..6; 0 unknown. A plain "PCIe
                                * x8" implies none: firmware uses it for slots of any generation */
        PnSlotForm form;
        unsigned lanes; /* electrical width: 1, 2, 4, 8, 12, 16, 32; 0 unknown or no lanes */
        PnSlotUsage in_use;
        bool has_address; /* placeholders are no address; an address does not mean that a card is
                           * there, nor its absence that the slot is empty */
        PnPciAddress address;
} PnSmbiosSlot;

/* A memory device, a socket or soldered chips: structure type 17 (7.18). */
typedef struct PnSmbiosDimm {
        char *locator;           /* as printed on the board; NULL if empty */
        bool size_known;         /* false: cannot tell whether there is one */
        uint64_t size_bytes;     /* 0: empty socket */
        const char *type_name;   /* "DDR4"; static; NULL if unknown */
        uint32_t speed_mts;      /* what the module can do, MT/s; 0 unknown */
        uint32_t configured_mts; /* what it runs at, MT/s; 0 unknown */
        char *manufacturer;      /* NULL if empty or one of firmware's words for that */
        char *part_number;       /* likewise */
} PnSmbiosDimm;

typedef struct PnSmbios {
        PnSmbiosSlot *slots; /* in the order of the table */
        size_t n_slots;
        PnSmbiosDimm *dimms;
        size_t n_dimms;
        bool truncated; /* the table ends within a structure, or holds one that is broken: there may
                         * be more slots and memory than these */
} PnSmbios;

/* Decodes a structure table of n bytes (/sys/firmware/dmi/tables/DMI, without entry point). Fields
 * that a structure is too short for are unknown. Any bytes are survived: what precedes the damage
 * is returned and `truncated` is set. An empty table is valid. Returns 0, to be ended with
 * pn_smbios_done(), or -ENOMEM. */
int pn_smbios_decode(const uint8_t *table, size_t n, PnSmbios *ret);

/* Frees the content and zeroes the struct; NULL and a zeroed struct are allowed. */
void pn_smbios_done(PnSmbios *smbios);
