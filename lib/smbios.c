/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes what an SMBIOS structure table says of slots and memory. Knows the table's bytes alone.
 */
#include "smbios.h"

#include <strings.h>

#include "text.h"

#define TYPE_SLOT   9u
#define TYPE_MEMORY 17u
#define TYPE_END    127u

/* Type, length, handle (6.1.2). */
#define HEADER_SIZE 4u

typedef struct Cursor {
        const uint8_t *next;
        size_t left;
} Cursor;

/* A structure's formatted area, whose `length` bytes include the header, and its strings, each with
 * its NUL as far as the table holds it. */
typedef struct Structure {
        const uint8_t *bytes;
        size_t length;
        const uint8_t *strings;
        size_t strings_size;
} Structure;

/* Takes the next structure off the table. Returns 1; 0 at its end, with *ret_truncated set if that
 * is not where a structure ends. A structure whose strings are cut is still returned. */
static int structure_next(Cursor *cursor, Structure *ret, bool *ret_truncated)
{
        const uint8_t *bytes = cursor->next;
        size_t length, end;

        if (cursor->left == 0)
                return 0;
        if (cursor->left < HEADER_SIZE || bytes[1] < HEADER_SIZE || bytes[1] > cursor->left) {
                *ret_truncated = true;
                return 0;
        }
        if (bytes[0] == TYPE_END)
                return 0;

        /* The strings end with a NUL after the last one's; without strings there are two NULs all
         * the same (6.1.3). Either way the end is two NULs in a row. */
        length = bytes[1];
        for (end = length; end + 1 < cursor->left; end++)
                if (bytes[end] == 0 && bytes[end + 1] == 0)
                        break;
        if (end + 1 < cursor->left) {
                *ret = (Structure){bytes, length, bytes + length, end + 1 - length};
                end += 2;
        } else {
                *ret_truncated = true;
                end = cursor->left;
                *ret = (Structure){bytes, length, bytes + length, end - length};
        }

        cursor->next += end;
        cursor->left -= end;
        return 1;
}

/* Fields of the formatted area; a structure that ends before the field lacks it, and has `absent`
 * in its place. */
static uint8_t field8(const Structure *structure, size_t offset, uint8_t absent)
{
        return offset < structure->length ? structure->bytes[offset] : absent;
}

static uint16_t field16(const Structure *structure, size_t offset, uint16_t absent)
{
        if (offset + 2 > structure->length)
                return absent;
        return (uint16_t)(structure->bytes[offset] | structure->bytes[offset + 1] << 8);
}

static uint32_t field32(const Structure *structure, size_t offset, uint32_t absent)
{
        if (offset + 4 > structure->length)
                return absent;
        return (uint32_t)field16(structure, offset + 2, 0) << 16 | field16(structure, offset, 0);
}

/* The string that the field at `offset` numbers, from 1; 0 is none. Returns as pn_text_from_utf8().
 * A number that has no string, and a string that the table's end cuts, are no text. */
static int field_text(const Structure *structure, size_t offset, char **ret)
{
        const uint8_t *string = structure->strings;
        size_t left = structure->strings_size;
        unsigned number = field8(structure, offset, 0);

        *ret = NULL;
        while (number > 0 && left > 0) {
                const uint8_t *nul = memchr(string, '\0', left);
                size_t size;

                if (!nul)
                        break;
                size = (size_t)(nul - string);
                if (number == 1)
                        return pn_text_from_utf8(string, size, ret);
                number--;
                string += size + 1;
                left -= size + 1;
        }
        return 0;
}

/* What firmware writes where it has nothing to say. */
static bool is_placeholder(const char *text)
{
        static const char *const words[] = {
            "-",
            "<OUT OF SPEC>",
            "[Empty]",
            "Default string",
            "Empty",
            "Fill By OEM",
            "N/A",
            "NA",
            "NO DIMM",
            "No Module Installed",
            "None",
            "Not Available",
            "Not Specified",
            "Null",
            "O.E.M.",
            "OEM",
            "To Be Filled By O.E.M.",
            "To Be Filled By OEM",
            "Undefined",
            "Unknown",
            "Unspecified",
        };

        for (size_t i = 0; i < PN_ELEMENTS(words); i++)
                if (strcasecmp(text, words[i]) == 0)
                        return true;
        /* Bytes of an SPD that was not read: 00 00, 0000, ffff, 0xffff. */
        if (pn_startswith(text, "0x") || pn_startswith(text, "0X"))
                text += 2;
        return strspn(text, "0 ") == strlen(text) || strspn(text, "fF ") == strlen(text);
}

/* field_text() without placeholders. */
static int field_name(const Structure *structure, size_t offset, char **ret)
{
        int r = field_text(structure, offset, ret);

        if (r > 0 && is_placeholder(*ret)) {
                free(*ret);
                *ret = NULL;
                return 0;
        }
        return r;
}

/* Slot Type (7.10.1). */
typedef struct SlotType {
        const char *name;
        PnSlotForm form;
        uint8_t generation;
        uint8_t lanes; /* that the type itself names */
} SlotType;

static const SlotType slot_types[256] = {
    [0x01] = {NULL, PN_SLOT_FORM_OTHER, 0, 0},
    [0x03] = {"ISA", PN_SLOT_FORM_OTHER, 0, 0},
    [0x04] = {"MCA", PN_SLOT_FORM_OTHER, 0, 0},
    [0x05] = {"EISA", PN_SLOT_FORM_OTHER, 0, 0},
    [0x06] = {"PCI", PN_SLOT_FORM_CARD, 0, 0},
    [0x07] = {"PC Card", PN_SLOT_FORM_OTHER, 0, 0},
    [0x08] = {"VL-VESA", PN_SLOT_FORM_OTHER, 0, 0},
    [0x09] = {"proprietary", PN_SLOT_FORM_OTHER, 0, 0},
    [0x0a] = {"processor card", PN_SLOT_FORM_OTHER, 0, 0},
    [0x0b] = {"memory card", PN_SLOT_FORM_OTHER, 0, 0},
    [0x0c] = {"I/O riser", PN_SLOT_FORM_OTHER, 0, 0},
    [0x0d] = {"NuBus", PN_SLOT_FORM_OTHER, 0, 0},
    [0x0e] = {"PCI 66 MHz", PN_SLOT_FORM_CARD, 0, 0},
    [0x0f] = {"AGP", PN_SLOT_FORM_CARD, 0, 0},
    [0x10] = {"AGP 2x", PN_SLOT_FORM_CARD, 0, 0},
    [0x11] = {"AGP 4x", PN_SLOT_FORM_CARD, 0, 0},
    [0x12] = {"PCI-X", PN_SLOT_FORM_CARD, 0, 0},
    [0x13] = {"AGP 8x", PN_SLOT_FORM_CARD, 0, 0},
    [0x14] = {"M.2 socket 1-DP", PN_SLOT_FORM_M2, 0, 0},
    [0x15] = {"M.2 socket 1-SD", PN_SLOT_FORM_M2, 0, 0},
    [0x16] = {"M.2 socket 2", PN_SLOT_FORM_M2, 0, 0},
    [0x17] = {"M.2 socket 3", PN_SLOT_FORM_M2, 0, 0},
    [0x18] = {"MXM type I", PN_SLOT_FORM_OTHER, 0, 0},
    [0x19] = {"MXM type II", PN_SLOT_FORM_OTHER, 0, 0},
    [0x1a] = {"MXM type III standard", PN_SLOT_FORM_OTHER, 0, 0},
    [0x1b] = {"MXM type III HE", PN_SLOT_FORM_OTHER, 0, 0},
    [0x1c] = {"MXM type IV", PN_SLOT_FORM_OTHER, 0, 0},
    [0x1d] = {"MXM 3.0 type A", PN_SLOT_FORM_OTHER, 0, 0},
    [0x1e] = {"MXM 3.0 type B", PN_SLOT_FORM_OTHER, 0, 0},
    [0x1f] = {"PCIe 2.0 U.2", PN_SLOT_FORM_U2, 2, 0},
    [0x20] = {"PCIe 3.0 U.2", PN_SLOT_FORM_U2, 3, 0},
    [0x21] = {"PCIe Mini 52-pin", PN_SLOT_FORM_MINI, 0, 0},
    [0x22] = {"PCIe Mini 52-pin", PN_SLOT_FORM_MINI, 0, 0},
    [0x23] = {"PCIe Mini 76-pin", PN_SLOT_FORM_MINI, 0, 0},
    [0x24] = {"PCIe 4.0 U.2", PN_SLOT_FORM_U2, 4, 0},
    [0x25] = {"PCIe 5.0 U.2", PN_SLOT_FORM_U2, 5, 0},
    [0x26] = {"OCP 3.0 small", PN_SLOT_FORM_OCP, 0, 0},
    [0x27] = {"OCP 3.0 large", PN_SLOT_FORM_OCP, 0, 0},
    [0x28] = {"OCP before 3.0", PN_SLOT_FORM_OCP, 0, 0},
    [0x30] = {"CXL 1.0", PN_SLOT_FORM_CARD, 0, 0},
    [0xa0] = {"PC-98/C20", PN_SLOT_FORM_OTHER, 0, 0},
    [0xa1] = {"PC-98/C24", PN_SLOT_FORM_OTHER, 0, 0},
    [0xa2] = {"PC-98/E", PN_SLOT_FORM_OTHER, 0, 0},
    [0xa3] = {"PC-98/local bus", PN_SLOT_FORM_OTHER, 0, 0},
    [0xa4] = {"PC-98/card", PN_SLOT_FORM_OTHER, 0, 0},
    [0xa5] = {"PCIe", PN_SLOT_FORM_CARD, 0, 0},
    [0xa6] = {"PCIe x1", PN_SLOT_FORM_CARD, 0, 1},
    [0xa7] = {"PCIe x2", PN_SLOT_FORM_CARD, 0, 2},
    [0xa8] = {"PCIe x4", PN_SLOT_FORM_CARD, 0, 4},
    [0xa9] = {"PCIe x8", PN_SLOT_FORM_CARD, 0, 8},
    [0xaa] = {"PCIe x16", PN_SLOT_FORM_CARD, 0, 16},
    [0xab] = {"PCIe 2.0", PN_SLOT_FORM_CARD, 2, 0},
    [0xac] = {"PCIe 2.0 x1", PN_SLOT_FORM_CARD, 2, 1},
    [0xad] = {"PCIe 2.0 x2", PN_SLOT_FORM_CARD, 2, 2},
    [0xae] = {"PCIe 2.0 x4", PN_SLOT_FORM_CARD, 2, 4},
    [0xaf] = {"PCIe 2.0 x8", PN_SLOT_FORM_CARD, 2, 8},
    [0xb0] = {"PCIe 2.0 x16", PN_SLOT_FORM_CARD, 2, 16},
    [0xb1] = {"PCIe 3.0", PN_SLOT_FORM_CARD, 3, 0},
    [0xb2] = {"PCIe 3.0 x1", PN_SLOT_FORM_CARD, 3, 1},
    [0xb3] = {"PCIe 3.0 x2", PN_SLOT_FORM_CARD, 3, 2},
    [0xb4] = {"PCIe 3.0 x4", PN_SLOT_FORM_CARD, 3, 4},
    [0xb5] = {"PCIe 3.0 x8", PN_SLOT_FORM_CARD, 3, 8},
    [0xb6] = {"PCIe 3.0 x16", PN_SLOT_FORM_CARD, 3, 16},
    [0xb8] = {"PCIe 4.0", PN_SLOT_FORM_CARD, 4, 0},
    [0xb9] = {"PCIe 4.0 x1", PN_SLOT_FORM_CARD, 4, 1},
    [0xba] = {"PCIe 4.0 x2", PN_SLOT_FORM_CARD, 4, 2},
    [0xbb] = {"PCIe 4.0 x4", PN_SLOT_FORM_CARD, 4, 4},
    [0xbc] = {"PCIe 4.0 x8", PN_SLOT_FORM_CARD, 4, 8},
    [0xbd] = {"PCIe 4.0 x16", PN_SLOT_FORM_CARD, 4, 16},
    [0xbe] = {"PCIe 5.0", PN_SLOT_FORM_CARD, 5, 0},
    [0xbf] = {"PCIe 5.0 x1", PN_SLOT_FORM_CARD, 5, 1},
    [0xc0] = {"PCIe 5.0 x2", PN_SLOT_FORM_CARD, 5, 2},
    [0xc1] = {"PCIe 5.0 x4", PN_SLOT_FORM_CARD, 5, 4},
    [0xc2] = {"PCIe 5.0 x8", PN_SLOT_FORM_CARD, 5, 8},
    [0xc3] = {"PCIe 5.0 x16", PN_SLOT_FORM_CARD, 5, 16},
    [0xc4] = {"PCIe 6.0", PN_SLOT_FORM_CARD, 6, 0}, /* "and beyond" */
    [0xc5] = {"EDSFF E1", PN_SLOT_FORM_EDSFF, 0, 0},
    [0xc6] = {"EDSFF E3", PN_SLOT_FORM_EDSFF, 0, 0},
};

/* Slot Data Bus Width (7.10.2) as lanes; values below 8 are bits of a parallel bus, or unknown. */
static unsigned bus_width_lanes(uint8_t code)
{
        static const uint8_t lanes[] = {1, 2, 4, 8, 12, 16, 32};

        return code >= 0x08 && code < 0x08 + PN_ELEMENTS(lanes) ? lanes[code - 0x08] : 0;
}

/* The electrical width of a slot. Byte 06h says it; firmware that leaves that unknown may still
 * give the lanes of the slot's own address and, for a bifurcated slot, those of the others in its
 * peer groups (3.2, 7.10.8 and 7.10.9): together they are the slot. What the type byte names comes
 * last, being the connector as often as the lanes; Slot Physical Width (3.4) is never used, since a
 * card in a x16 connector with four lanes behind it has four. */
static unsigned slot_lanes(const Structure *structure, const SlotType *type)
{
        unsigned lanes = bus_width_lanes(field8(structure, 0x06, 0));
        unsigned peers, sum;

        if (lanes > 0)
                return lanes;

        sum = field8(structure, 0x11, 0);
        peers = field8(structure, 0x12, 0);
        for (size_t i = 0; i < peers; i++)
                sum += field8(structure, 0x13 + 5 * i + 4, 0);
        return pn_pcie_width_valid(sum) ? sum : type->lanes;
}

/* Firmware marks "no address" with all ones, with bus 0xff alone, or with zeros, which would be the
 * host bridge. */
static bool slot_address(const Structure *structure, PnPciAddress *ret)
{
        uint16_t segment = field16(structure, 0x0d, 0xffff);
        uint8_t bus = field8(structure, 0x0f, 0xff);
        uint8_t devfn = field8(structure, 0x10, 0xff);

        if (segment == 0xffff || bus == 0xff || devfn == 0xff ||
            (segment == 0 && bus == 0 && devfn == 0))
                return false;
        *ret = (PnPciAddress){
            .domain = segment, .bus = bus, .device = devfn >> 3, .function = devfn & 7};
        return true;
}

static PnSlotUsage slot_usage(uint8_t code)
{
        switch (code) {
        case 0x03:
                return PN_SLOT_FREE;
        case 0x04:
                return PN_SLOT_IN_USE;
        case 0x05:
                return PN_SLOT_UNAVAILABLE;
        default:
                return PN_SLOT_UNKNOWN;
        }
}

static int decode_slot(const Structure *structure, PnSmbiosSlot *slot)
{
        const SlotType *type = &slot_types[field8(structure, 0x05, 0)];
        int r;

        slot->type_name = type->name;
        slot->generation = type->generation;
        slot->form = type->form;
        slot->lanes = slot_lanes(structure, type);
        slot->in_use = slot_usage(field8(structure, 0x07, 0));
        slot->has_address = slot_address(structure, &slot->address);

        r = field_text(structure, 0x04, &slot->designation);
        return r < 0 ? r : 0;
}

/* Memory Device - Type (7.18.2). */
static const char *memory_type_name(uint8_t code)
{
        static const char *const names[] = {
            [0x03] = "DRAM",   [0x04] = "EDRAM",        [0x05] = "VRAM",   [0x06] = "SRAM",
            [0x07] = "RAM",    [0x08] = "ROM",          [0x09] = "Flash",  [0x0a] = "EEPROM",
            [0x0b] = "FEPROM", [0x0c] = "EPROM",        [0x0d] = "CDRAM",  [0x0e] = "3DRAM",
            [0x0f] = "SDRAM",  [0x10] = "SGRAM",        [0x11] = "RDRAM",  [0x12] = "DDR",
            [0x13] = "DDR2",   [0x14] = "DDR2 FB-DIMM", [0x18] = "DDR3",   [0x19] = "FBD2",
            [0x1a] = "DDR4",   [0x1b] = "LPDDR",        [0x1c] = "LPDDR2", [0x1d] = "LPDDR3",
            [0x1e] = "LPDDR4", [0x1f] = "non-volatile", [0x20] = "HBM",    [0x21] = "HBM2",
            [0x22] = "DDR5",   [0x23] = "LPDDR5",       [0x24] = "HBM3",
        };

        return code < PN_ELEMENTS(names) ? names[code] : NULL;
}

/* Size and Extended Size (7.18.4, 7.18.5). Returns false if unknown. */
static bool memory_size(const Structure *structure, uint64_t *ret)
{
        uint16_t size = field16(structure, 0x0c, 0xffff);
        uint32_t extended;

        if (size == 0xffff)
                return false;
        if (size == 0x7fff) {
                extended = field32(structure, 0x1c, 0) & UINT32_C(0x7fffffff);
                if (extended == 0)
                        return false;
                *ret = (uint64_t)extended << 20;
        } else if (size & 0x8000)
                *ret = (uint64_t)(size & 0x7fff) << 10;
        else
                *ret = (uint64_t)size << 20;
        return true;
}

/* Speed or Configured Memory Speed with its extension (7.18.8): 0 is unknown in all of them, 0xffff
 * means that the extension has it. */
static uint32_t memory_speed(const Structure *structure, size_t offset, size_t extended_offset)
{
        uint16_t speed = field16(structure, offset, 0);

        if (speed == 0xffff)
                return field32(structure, extended_offset, 0) & UINT32_C(0x7fffffff);
        return speed;
}

static int decode_dimm(const Structure *structure, PnSmbiosDimm *dimm)
{
        int r;

        dimm->size_known = memory_size(structure, &dimm->size_bytes);
        dimm->type_name = memory_type_name(field8(structure, 0x12, 0));
        dimm->speed_mts = memory_speed(structure, 0x15, 0x54);
        dimm->configured_mts = memory_speed(structure, 0x20, 0x58);

        r = field_text(structure, 0x10, &dimm->locator);
        if (r >= 0)
                r = field_name(structure, 0x17, &dimm->manufacturer);
        if (r >= 0)
                r = field_name(structure, 0x1a, &dimm->part_number);
        return r < 0 ? r : 0;
}

PN_DEFINE_CLEANUP(PnSmbios *, pn_smbios_done);

int pn_smbios_decode(const uint8_t *table, size_t n, PnSmbios *ret)
{
        PnSmbios smbios = {0};
        _cleanup_(pn_smbios_donep) PnSmbios *guard = &smbios;
        size_t n_slots = 0, n_dimms = 0;
        Structure structure;
        Cursor cursor;
        int r;

        /* Counting first makes the arrays exact, and bounds them by the table. */
        cursor = (Cursor){table, n};
        while (structure_next(&cursor, &structure, &smbios.truncated) > 0) {
                n_slots += structure.bytes[0] == TYPE_SLOT;
                n_dimms += structure.bytes[0] == TYPE_MEMORY;
        }
        if (n_slots > 0) {
                smbios.slots = calloc(n_slots, sizeof *smbios.slots);
                if (!smbios.slots)
                        return -ENOMEM;
        }
        if (n_dimms > 0) {
                smbios.dimms = calloc(n_dimms, sizeof *smbios.dimms);
                if (!smbios.dimms)
                        return -ENOMEM;
        }

        cursor = (Cursor){table, n};
        while (structure_next(&cursor, &structure, &smbios.truncated) > 0) {
                r = 0;
                if (structure.bytes[0] == TYPE_SLOT)
                        r = decode_slot(&structure, &smbios.slots[smbios.n_slots++]);
                else if (structure.bytes[0] == TYPE_MEMORY)
                        r = decode_dimm(&structure, &smbios.dimms[smbios.n_dimms++]);
                if (r < 0)
                        return r;
        }

        *ret = smbios;
        guard = NULL;
        return 0;
}

void pn_smbios_done(PnSmbios *smbios)
{
        if (!smbios)
                return;
        for (size_t i = 0; i < smbios->n_slots; i++)
                free(smbios->slots[i].designation);
        free(smbios->slots);
        for (size_t i = 0; i < smbios->n_dimms; i++) {
                free(smbios->dimms[i].locator);
                free(smbios->dimms[i].manufacturer);
                free(smbios->dimms[i].part_number);
        }
        free(smbios->dimms);
        *smbios = (PnSmbios){0};
}
