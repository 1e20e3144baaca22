/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The code tables that all memory maps of pluggable transceivers share. Knows no map.
 *
 * Table numbers are those of SFF-8024, "SFF Module Management Reference Code Tables", revision
 * 4.11. */
#pragma once

#include "base.h"

#define PN_SFF_ID_SOLDERED 0x02u
#define PN_SFF_ID_SFP      0x03u

#define PN_SFF_CONNECTOR_OPTICAL_PIGTAIL 0x0bu
#define PN_SFF_CONNECTOR_COPPER_PIGTAIL  0x21u
#define PN_SFF_CONNECTOR_RJ45            0x22u
#define PN_SFF_CONNECTOR_NONE            0x23u /* a cable that is one with its ends */

/* Which memory map an identifier (table 4-1) stands for. */
typedef enum PnSffMap {
        PN_SFF_MAP_UNKNOWN, /* another one, or none that is known here */
        PN_SFF_MAP_8472,
        PN_SFF_MAP_8636, /* SFF-8436 with it, whose map it extends */
        PN_SFF_MAP_CMIS,
} PnSffMap;

PnSffMap pn_sff8024_map(uint8_t identifier);

/* The form factor of an identifier: "QSFP28", "OSFP"; "SFP" for SFP+ and SFP28 too, which have the
 * same. Static; NULL for what is reserved or unspecified. */
const char *pn_sff8024_form(uint8_t identifier);

/* The connector of a code of table 4-3: "LC", "MPO". Static; NULL if reserved or unspecified. */
const char *pn_sff8024_connector(uint8_t code);

/* What carries the signal. */
typedef enum PnSffKind {
        PN_SFF_OPTICAL,
        PN_SFF_PASSIVE_COPPER,
        PN_SFF_ACTIVE_COPPER,
        PN_SFF_ACTIVE_OPTICAL,
        PN_SFF_BASE_T,
} PnSffKind;

/* "passive copper", "active copper", "active optical cable"; NULL for the other kinds, whose type
 * is a standard's. */
const char *pn_sff8024_cable(PnSffKind kind);

/* An extended specification compliance code (table 4-4). One code names what a module does with
 * one lane and what it does with four; a name is NULL where the code says nothing of that. */
typedef struct PnSffCompliance {
        uint8_t code;
        PnSffKind kind;
        uint8_t gigabits; /* of one lane, as SFP uses it; 0 where there is none */
        bool single;      /* one optical lane, in a form that has room for four */
        const char *one;
        const char *four;
} PnSffCompliance;

/* NULL for 0, reserved and obsolete codes. */
const PnSffCompliance *pn_sff8024_compliance(uint8_t code);

/* CMIS's media types (CMIS 5.2, table 8-18), which select the table of a media interface code. */
#define PN_SFF_MEDIA_MMF            1u
#define PN_SFF_MEDIA_SMF            2u
#define PN_SFF_MEDIA_PASSIVE_COPPER 3u
#define PN_SFF_MEDIA_ACTIVE_CABLE   4u
#define PN_SFF_MEDIA_BASE_T         5u

/* The media interface of a code in the table of a media type (tables 4-6, 4-7, 4-10): "400GBASE-
 * DR4". Static; NULL for cables, which have no standard of that kind, and for unknown codes. */
const char *pn_sff8024_media(uint8_t media_type, uint8_t code);
