/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes the memory of pluggable transceivers: SFF-8472, SFF-8636 or CMIS, chosen by the
 * identifier in its first byte. Knows the bytes that were read, not how. */
#pragma once

#include "model.h"

/* The parts of a transceiver's memory that are decoded. */
typedef enum PnModuleArea {
        PN_MODULE_LOWER,   /* two-wire address 50h from byte 0: SFF-8472's A0h (96 bytes matter, 256
                            * may be given), the lower memory of the others (128 bytes) */
        PN_MODULE_A2,      /* SFF-8472's A2h, address 51h from byte 0 (120 bytes matter) */
        PN_MODULE_PAGE_00, /* upper pages of SFF-8636 and CMIS, bytes 128..255 */
        PN_MODULE_PAGE_01,
        PN_MODULE_PAGE_02,
        PN_MODULE_PAGE_03,
        PN_MODULE_PAGE_11, /* bank 0: lanes 1 to 8 */
        PN_N_MODULE_AREAS,
} PnModuleArea;

typedef struct PnModulePage {
        const uint8_t *bytes; /* from the area's first byte on; borrowed */
        size_t n;             /* how many were read: 0 for none, fewer than there are if cut */
        PnState reason;       /* why the others were not; PN_ABSENT counts as PN_UNREAD_UNSUPPORTED,
                               * which is right for what a driver does not hand out */
} PnModulePage;

typedef struct PnModulePages {
        PnModulePage area[PN_N_MODULE_AREAS];
} PnModulePages;

/* Decodes what was read. What was not is unread, with its area's reason; nothing becomes zero. Any
 * bytes are survived. A wrong checksum is reported (`checksum_ok`) and the rest decoded all the
 * same.
 *
 *   status: `present`; `unsupported_map` for an identifier without a map here (`form` says which);
 *   `unreadable` when the first bytes are all 00h or all ffh, or were not read for another reason
 *   than PN_UNREAD_PERMISSION (`permission_denied`) or PN_UNREAD_UNSUPPORTED
 *   (`unsupported_by_driver`). `none` is the caller's to say.
 *   diagnostics: absent where there is nothing to measure or the module says that it measures
 *   nothing (a copper cable), unread where it does and the bytes were not had.
 *   lanes: 0 mW and no level is dark; power that is absent does not apply, and one that is unread,
 *   `unsupported`, is not measured.
 *   thresholds: a set that makes no sense is absent, and with it what the module flags by it.
 *
 * Returns 0, with *ret to be ended by pn_done(pn_type_Module(), ret); or -ENOMEM. */
int pn_module_decode(const PnModulePages *pages, PnModule *ret);

/* Which areas are worth reading, a bit (1u << area) each, as far as what was read already tells:
 * start with PN_MODULE_LOWER (128 bytes) alone and ask again after each area. With
 * `diagnostics_only`, those without which nothing that changes can be decoded anew, for a module
 * whose pages are kept. Never an area that the module says it lacks. */
unsigned pn_module_wanted(const PnModulePages *pages, bool diagnostics_only);

/* Some bytes of an area; `at` counts as the specifications do. */
typedef struct PnModuleSpan {
        PnModuleArea area;
        uint8_t at, n; /* n 0: none */
} PnModuleSpan;

/* What tells one module from another: its serial number, and the checksums of the rest of its
 * identity; or the whole page that has them. None for a map that is not known. */
PnModuleSpan pn_module_serial(const PnModulePages *pages);

/* What may change of an area, of those that pn_module_wanted() gives with `diagnostics_only`. */
PnModuleSpan pn_module_readings(PnModuleArea area);

/* Finds the areas in the bytes of ETHTOOL_GMODULEEEPROM and `ethtool -m raw on`: SFP has A0h's 256
 * bytes, then A2h's; the others 128 bytes of lower memory, then the pages 00h, 01h, 02h and 03h.
 * What the bytes do not reach is not there. `bytes` is borrowed. Returns 0; -EINVAL for none. */
int pn_module_from_flat(const uint8_t *bytes, size_t n, PnModulePages *ret);

/* What follows is for the decoders of the maps. Offsets are the specifications': 0..127 in the
 * lower memory (0..255 in A0h and A2h), 128..255 in a page. */

/* Whether `n` bytes from `at` were read. */
bool pn_module_has(const PnModulePages *pages, PnModuleArea area, size_t at, size_t n);

/* The byte, or big-endian word, at an offset; 0 if it was not read. */
uint8_t pn_module_u8(const PnModulePages *pages, PnModuleArea area, size_t at);
uint16_t pn_module_u16(const PnModulePages *pages, PnModuleArea area, size_t at);

/* Why bytes of an area were not read. */
PnState pn_module_reason(const PnModulePages *pages, PnModuleArea area);

/* A text, absent if it is blank or erased (all ffh). 0 or -ENOMEM, as those that follow. */
int pn_module_text(const PnModulePages *pages, PnModuleArea area, size_t at, size_t n, PnText *ret);

/* Three bytes as "00:17:6a"; absent if they are all zero, which the maps define as unspecified. */
int pn_module_oui(const PnModulePages *pages, PnModuleArea area, size_t at, PnText *ret);

int pn_module_connector(const PnModulePages *pages, PnModuleArea area, size_t at, PnText *ret);

/* Adds how far the module reaches on a medium; 0 metres add nothing. */
int pn_module_add_length(PnModule *module, const char *medium, double metres);

/* Takes a checksum into account: the low byte of the sum of `from`..`end` - 1 is the byte at `end`.
 * One that is wrong makes *ret false for good; one whose bytes were not read changes nothing. */
void pn_module_check(const PnModulePages *pages, PnModuleArea area, size_t from, size_t end,
                     PnBool *ret);

/* Sets a power in mW and its level: 10 log10(mW), to 0.01 dBm, absent for 0 mW. Where the power is
 * no number, the level is none for the same reason. */
void pn_module_set_power(PnReal power, PnReal *ret_mw, PnReal *ret_dbm);

/* What a word of a quantity means in its unit; `context` is the map's. */
typedef double (*PnModuleConvert)(const void *context, uint16_t raw);

/* Units that all three maps share, for internally calibrated modules; no context. */
double pn_module_celsius(const void *context, uint16_t raw);    /* signed, 1/256 °C */
double pn_module_volts(const void *context, uint16_t raw);      /* 0.1 mV */
double pn_module_milliwatts(const void *context, uint16_t raw); /* 0.1 µW */

/* A set of four limits, from high alarm, low alarm, high warning and low warning at `at`, which all
 * maps have in this order. `ref` is an OBJ field of ModuleLimits: absent if the set makes no sense
 * (zero, ones, or not low alarm <= low warning < high warning <= high alarm), unread if it is. */
int pn_module_limits(const PnModulePages *pages, PnModuleArea area, size_t at, bool is_signed,
                     PnModuleConvert convert, const void *context, void *ref);

/* The word at an offset as a reading: unread if it was not had, or as pn_module_is_erased() says.
 */
PnReal pn_module_reading(const PnModulePages *pages, PnModuleArea area, size_t at,
                         PnModuleConvert convert, const void *context, const void *limits);

/* Starts on what a module measures, with thresholds that are all absent. NULL: -ENOMEM. */
PnModuleDiagnostics *pn_module_new_diagnostics(PnModule *module);

/* Where a page has its limits, eight bytes each. */
typedef struct PnModuleLimitsAt {
        PnModuleArea area;
        uint8_t temperature, voltage, rx_power, tx_power, bias;
} PnModuleLimitsAt;

/* Fills thresholds from a page in the units that all maps share, those of light only if there is
 * any; the bias by `milliamperes` and its context. */
int pn_module_thresholds(const PnModulePages *pages, const PnModuleLimitsAt *at, bool light,
                         PnModuleConvert milliamperes, const void *context,
                         PnModuleThresholds *ret);

/* The quantities that lanes have flags for, in the order of both maps that have lanes. */
typedef enum PnModuleLaneFlags {
        PN_MODULE_FLAGS_RX_POWER,
        PN_MODULE_FLAGS_BIAS,
        PN_MODULE_FLAGS_TX_POWER,
        PN_N_MODULE_LANE_FLAGS,
} PnModuleLaneFlags;

/* Adds the flags of `n` lanes: `bits` gives those of a quantity of a lane (from 0), as below. */
int pn_module_lane_flags(const PnModulePages *pages, unsigned n, const PnModuleThresholds *limits,
                         unsigned (*bits)(const PnModulePages *pages, PnModuleLaneFlags quantity,
                                          unsigned lane),
                         PnTexts *flags);

/* Adds the flags of a quantity. `bits` has high alarm 8, low alarm 4, high warning 2, low warning
 * 1; `lane` from 1, 0 if there is but one; `limits` the quantity's ModuleLimits field: where it is
 * absent, the flags mean nothing. */
int pn_module_flags(PnTexts *flags, const char *quantity, unsigned bits, unsigned lane,
                    const void *limits);

/* Whether a reading is all ones with no limits (ModuleLimits field) to be seen against: then nobody
 * measures it. With limits it is the end of the scale. */
bool pn_module_is_erased(uint16_t raw, const void *limits);

/* Ends the work on thresholds: without a single set, they are as a whole what the sets are. */
void pn_module_settle_thresholds(PnModuleDiagnostics *diagnostics);

/* Adds `rx_los`, `tx_fault` or the like, with the lane if it is not 0. */
int pn_module_flag(PnTexts *flags, const char *word, unsigned lane);
