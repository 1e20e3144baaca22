/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests lib/smbios.c on tables built here, field by field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base.h"
#include "smbios.h"

typedef struct Table {
        uint8_t bytes[65536];
        size_t n;
} Table;

/* A structure in the making: fields are put by the specification's offsets. */
typedef struct Maker {
        uint8_t bytes[256];
} Maker;

static void put8(Maker *maker, size_t at, unsigned value)
{
        maker->bytes[at] = (uint8_t)value;
}

static void put16(Maker *maker, size_t at, unsigned value)
{
        put8(maker, at, value & 0xff);
        put8(maker, at + 1, value >> 8 & 0xff);
}

static void put32(Maker *maker, size_t at, uint32_t value)
{
        put16(maker, at, value & 0xffff);
        put16(maker, at + 2, value >> 16);
}

/* Appends the first `length` bytes; `strings` is each string with its NUL, "" for none. A literal's
 * own NUL is the one that ends the set; a structure without strings needs one more. */
static void append(Table *table, const Maker *maker, unsigned length, const char *strings,
                   size_t strings_size)
{
        memcpy(table->bytes + table->n, maker->bytes, length);
        table->bytes[table->n + 1] = (uint8_t)length;
        table->n += length;
        if (strings_size == 1)
                table->bytes[table->n++] = 0;
        memcpy(table->bytes + table->n, strings, strings_size);
        table->n += strings_size;
}

#define APPEND(table, maker, length, strings) append(table, maker, length, strings, sizeof(strings))

static void append_end(Table *table)
{
        const Maker end = {{127}};

        APPEND(table, &end, 4, "");
}

/* A free PCIe 4.0 x16 slot with eight lanes at 0000:c1:00.0. */
static Maker slot_maker(void)
{
        Maker maker = {{9}};

        put8(&maker, 0x04, 1);
        put8(&maker, 0x05, 0xbd);
        put8(&maker, 0x06, 0x0b);
        put8(&maker, 0x07, 0x03);
        put16(&maker, 0x0d, 0);
        put8(&maker, 0x0f, 0xc1);
        put8(&maker, 0x10, 0x00);
        return maker;
}

/* 16 GiB of DDR4 that could do 3200 MT/s and runs at 2933. */
static Maker dimm_maker(void)
{
        Maker maker = {{17}};

        put16(&maker, 0x0c, 16384);
        put8(&maker, 0x10, 1);
        put8(&maker, 0x12, 0x1a);
        put16(&maker, 0x15, 3200);
        put8(&maker, 0x17, 2);
        put8(&maker, 0x1a, 3);
        put16(&maker, 0x20, 2933);
        return maker;
}

/* Decodes a copy of exactly n bytes, so that a sanitizer sees a read past the end. */
static PnSmbios decoded(const Table *table, size_t n)
{
        _cleanup_free_ uint8_t *exact = malloc(n > 0 ? n : 1);
        PnSmbios smbios;

        assert_non_null(exact);
        memcpy(exact, table->bytes, n);
        assert_int_equal(pn_smbios_decode(exact, n, &smbios), 0);
        return smbios;
}

static PnSmbios decoded_slot(const Maker *maker, unsigned length)
{
        Table table = {.n = 0};
        PnSmbios smbios;

        APPEND(&table, maker, length, "Slot 1\0");
        append_end(&table);
        smbios = decoded(&table, table.n);
        assert_int_equal(smbios.n_slots, 1);
        assert_false(smbios.truncated);
        return smbios;
}

static PnSmbios decoded_dimm(const Maker *maker, unsigned length)
{
        Table table = {.n = 0};
        PnSmbios smbios;

        APPEND(&table, maker, length, "DIMM A1\0Maker\0PART-1  \0");
        append_end(&table);
        smbios = decoded(&table, table.n);
        assert_int_equal(smbios.n_dimms, 1);
        assert_false(smbios.truncated);
        return smbios;
}

static void assert_text(const char *text, const char *expected)
{
        if (!expected) {
                assert_null(text);
                return;
        }
        assert_non_null(text);
        assert_string_equal(text, expected);
}

static void test_slot(void **state _unused_)
{
        Maker maker = slot_maker();
        PnSmbios smbios = decoded_slot(&maker, 0x11);
        const PnSmbiosSlot *slot = &smbios.slots[0];

        assert_text(slot->designation, "Slot 1");
        assert_text(slot->type_name, "PCIe 4.0 x16");
        assert_int_equal(slot->generation, 4);
        assert_int_equal(slot->form, PN_SLOT_FORM_CARD);
        assert_int_equal(slot->lanes, 8);
        assert_int_equal(slot->in_use, PN_SLOT_FREE);
        assert_true(slot->has_address);
        assert_int_equal(slot->address.domain, 0);
        assert_int_equal(slot->address.bus, 0xc1);
        assert_int_equal(slot->address.device, 0);
        assert_int_equal(slot->address.function, 0);
        assert_int_equal(smbios.n_dimms, 0);
        pn_smbios_done(&smbios);
        assert_null(smbios.slots);
        assert_int_equal(smbios.n_slots, 0);
        pn_smbios_done(&smbios);
        pn_smbios_done(NULL);
}

static void test_slot_types(void **state _unused_)
{
        static const struct {
                unsigned code;
                const char *name;
                unsigned generation;
                PnSlotForm form;
        } cases[] = {
            {0x00, NULL, 0, PN_SLOT_FORM_UNKNOWN},
            {0x01, NULL, 0, PN_SLOT_FORM_OTHER},
            {0x02, NULL, 0, PN_SLOT_FORM_UNKNOWN},
            {0x06, "PCI", 0, PN_SLOT_FORM_CARD},
            {0x0c, "I/O riser", 0, PN_SLOT_FORM_OTHER},
            {0x12, "PCI-X", 0, PN_SLOT_FORM_CARD},
            {0x16, "M.2 socket 2", 0, PN_SLOT_FORM_M2},
            {0x17, "M.2 socket 3", 0, PN_SLOT_FORM_M2},
            {0x1f, "PCIe 2.0 U.2", 2, PN_SLOT_FORM_U2},
            {0x20, "PCIe 3.0 U.2", 3, PN_SLOT_FORM_U2},
            {0x21, "PCIe Mini 52-pin", 0, PN_SLOT_FORM_MINI},
            {0x24, "PCIe 4.0 U.2", 4, PN_SLOT_FORM_U2},
            {0x25, "PCIe 5.0 U.2", 5, PN_SLOT_FORM_U2},
            {0x26, "OCP 3.0 small", 0, PN_SLOT_FORM_OCP},
            {0x27, "OCP 3.0 large", 0, PN_SLOT_FORM_OCP},
            {0x29, NULL, 0, PN_SLOT_FORM_UNKNOWN},
            {0xa5, "PCIe", 0, PN_SLOT_FORM_CARD},
            {0xaa, "PCIe x16", 0, PN_SLOT_FORM_CARD},
            {0xab, "PCIe 2.0", 2, PN_SLOT_FORM_CARD},
            {0xb0, "PCIe 2.0 x16", 2, PN_SLOT_FORM_CARD},
            {0xb1, "PCIe 3.0", 3, PN_SLOT_FORM_CARD},
            {0xb6, "PCIe 3.0 x16", 3, PN_SLOT_FORM_CARD},
            {0xb7, NULL, 0, PN_SLOT_FORM_UNKNOWN},
            {0xb8, "PCIe 4.0", 4, PN_SLOT_FORM_CARD},
            {0xbd, "PCIe 4.0 x16", 4, PN_SLOT_FORM_CARD},
            {0xbe, "PCIe 5.0", 5, PN_SLOT_FORM_CARD},
            {0xc3, "PCIe 5.0 x16", 5, PN_SLOT_FORM_CARD},
            {0xc4, "PCIe 6.0", 6, PN_SLOT_FORM_CARD},
            {0xc5, "EDSFF E1", 0, PN_SLOT_FORM_EDSFF},
            {0xc6, "EDSFF E3", 0, PN_SLOT_FORM_EDSFF},
            {0xc7, NULL, 0, PN_SLOT_FORM_UNKNOWN},
            {0xff, NULL, 0, PN_SLOT_FORM_UNKNOWN},
        };

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                Maker maker = slot_maker();
                PnSmbios smbios;

                put8(&maker, 0x05, cases[i].code);
                smbios = decoded_slot(&maker, 0x11);
                assert_text(smbios.slots[0].type_name, cases[i].name);
                assert_int_equal(smbios.slots[0].generation, cases[i].generation);
                assert_int_equal(smbios.slots[0].form, cases[i].form);
                pn_smbios_done(&smbios);
        }
}

static unsigned lanes_of(const Maker *maker, unsigned length)
{
        PnSmbios smbios = decoded_slot(maker, length);
        unsigned lanes = smbios.slots[0].lanes;

        pn_smbios_done(&smbios);
        return lanes;
}

static void test_slot_lanes(void **state _unused_)
{
        static const unsigned lanes[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 12, 16, 32, 0};
        Maker maker = slot_maker();

        put8(&maker, 0x05, 0xbe); /* "PCIe 5.0" names no lanes */
        for (unsigned code = 0; code < PN_ELEMENTS(lanes); code++) {
                put8(&maker, 0x06, code);
                assert_int_equal(lanes_of(&maker, 0x11), lanes[code]);
        }
        put8(&maker, 0x06, 0xff);
        assert_int_equal(lanes_of(&maker, 0x11), 0);

        /* The type's own lanes, when nothing else is known. */
        put8(&maker, 0x06, 0x02);
        put8(&maker, 0x05, 0xb4);
        assert_int_equal(lanes_of(&maker, 0x11), 4);

        /* 3.2: the base width. */
        put8(&maker, 0x11, 2);
        assert_int_equal(lanes_of(&maker, 0x13), 2);
        put8(&maker, 0x11, 3);
        assert_int_equal(lanes_of(&maker, 0x13), 4);

        /* A x16 slot in four parts. */
        put8(&maker, 0x05, 0xb1);
        put8(&maker, 0x11, 4);
        put8(&maker, 0x12, 3);
        for (size_t i = 0; i < 3; i++)
                put8(&maker, 0x13 + 5 * i + 4, 4);
        assert_int_equal(lanes_of(&maker, 0x13 + 15), 16);
        /* Slot Physical Width (3.4) is no electrical width. */
        put8(&maker, 0x11, 0);
        put8(&maker, 0x12, 0);
        put8(&maker, 0x14, 0x0d);
        assert_int_equal(lanes_of(&maker, 0x18), 0);

        /* Peer groups that the structure is too short for. */
        put8(&maker, 0x11, 4);
        put8(&maker, 0x12, 255);
        memset(maker.bytes + 0x13, 0, sizeof maker.bytes - 0x13);
        assert_int_equal(lanes_of(&maker, 0x14), 4);

        /* Byte 06h prevails. */
        put8(&maker, 0x06, 0x0d);
        assert_int_equal(lanes_of(&maker, 0x14), 16);
}

static void test_slot_usage(void **state _unused_)
{
        static const PnSlotUsage usages[] = {PN_SLOT_UNKNOWN, PN_SLOT_UNKNOWN, PN_SLOT_UNKNOWN,
                                             PN_SLOT_FREE,    PN_SLOT_IN_USE,  PN_SLOT_UNAVAILABLE,
                                             PN_SLOT_UNKNOWN};

        for (unsigned code = 0; code < PN_ELEMENTS(usages); code++) {
                Maker maker = slot_maker();
                PnSmbios smbios;

                put8(&maker, 0x07, code);
                smbios = decoded_slot(&maker, 0x11);
                assert_int_equal(smbios.slots[0].in_use, usages[code]);
                pn_smbios_done(&smbios);
        }
}

static void test_slot_address(void **state _unused_)
{
        static const struct {
                unsigned segment, bus, devfn;
                const char *address;
        } cases[] = {
            {0x0000, 0xc1, 0x00, "0000:c1:00.0"}, {0x0000, 0x00, 0x0a, "0000:00:01.2"},
            {0x0001, 0x00, 0x00, "0001:00:00.0"}, {0xfffe, 0xfe, 0xfe, "fffe:fe:1f.6"},
            {0x0000, 0x00, 0x00, NULL},           {0x0000, 0xff, 0x00, NULL},
            {0x0000, 0xff, 0xff, NULL},           {0x0000, 0xff, 0x08, NULL},
            {0x0000, 0x05, 0xff, NULL},           {0xffff, 0xff, 0xff, NULL},
            {0xffff, 0x01, 0x00, NULL},
        };

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                char text[PN_PCI_ADDRESS_MAX];
                Maker maker = slot_maker();
                PnSmbios smbios;

                put16(&maker, 0x0d, cases[i].segment);
                put8(&maker, 0x0f, cases[i].bus);
                put8(&maker, 0x10, cases[i].devfn);
                smbios = decoded_slot(&maker, 0x11);
                assert_true(smbios.slots[0].has_address == (cases[i].address != NULL));
                if (cases[i].address)
                        assert_string_equal(pn_pci_address_format(&smbios.slots[0].address, text),
                                            cases[i].address);
                pn_smbios_done(&smbios);
        }
}

/* Every length from none to all: what is not there is unknown. */
static void test_slot_short(void **state _unused_)
{
        Maker maker = slot_maker();

        for (unsigned length = 4; length <= 0x11; length++) {
                PnSmbios smbios = decoded_slot(&maker, length);
                const PnSmbiosSlot *slot = &smbios.slots[0];

                assert_text(slot->designation, length > 0x04 ? "Slot 1" : NULL);
                assert_text(slot->type_name, length > 0x05 ? "PCIe 4.0 x16" : NULL);
                assert_int_equal(slot->lanes, length > 0x06 ? 8 : length > 0x05 ? 16 : 0);
                assert_int_equal(slot->in_use, length > 0x07 ? PN_SLOT_FREE : PN_SLOT_UNKNOWN);
                assert_true(slot->has_address == (length > 0x10));
                pn_smbios_done(&smbios);
        }
}

static void test_dimm(void **state _unused_)
{
        Maker maker = dimm_maker();
        PnSmbios smbios = decoded_dimm(&maker, 0x22);
        const PnSmbiosDimm *dimm = &smbios.dimms[0];

        assert_text(dimm->locator, "DIMM A1");
        assert_true(dimm->size_known);
        assert_int_equal(dimm->size_bytes, UINT64_C(16) << 30);
        assert_text(dimm->type_name, "DDR4");
        assert_int_equal(dimm->speed_mts, 3200);
        assert_int_equal(dimm->configured_mts, 2933);
        assert_text(dimm->manufacturer, "Maker");
        assert_text(dimm->part_number, "PART-1");
        pn_smbios_done(&smbios);
}

static void test_dimm_size(void **state _unused_)
{
        static const struct {
                unsigned size;
                uint32_t extended;
                unsigned length;
                bool known;
                uint64_t bytes;
        } cases[] = {
            {0, 0, 0x22, true, 0},
            {1, 0, 0x22, true, UINT64_C(1) << 20},
            {0x7ffe, 0, 0x22, true, UINT64_C(0x7ffe) << 20},
            {0x8001, 0, 0x22, true, 1024}, /* kilobytes */
            {0x8000 | 512, 0, 0x22, true, 512 * 1024},
            {0xffff, 0, 0x22, false, 0},
            {0xffff, 32768, 0x22, false, 0},
            {0x7fff, 32768, 0x20, true, UINT64_C(32) << 30},
            {0x7fff, 0x7fffffff, 0x22, true, UINT64_C(0x7fffffff) << 20},
            {0x7fff, 0x80008000, 0x22, true, UINT64_C(32) << 30}, /* bit 31 is reserved */
            {0x7fff, 0, 0x22, false, 0},
            {0x7fff, 32768, 0x1f, false, 0}, /* cut within it */
            {0x7fff, 32768, 0x1c, false, 0},
            {16384, 0, 0x0d, false, 0},
        };

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                Maker maker = dimm_maker();
                PnSmbios smbios;

                put16(&maker, 0x0c, cases[i].size);
                put32(&maker, 0x1c, cases[i].extended);
                smbios = decoded_dimm(&maker, cases[i].length);
                assert_true(smbios.dimms[0].size_known == cases[i].known);
                assert_true(smbios.dimms[0].size_bytes == cases[i].bytes);
                pn_smbios_done(&smbios);
        }
}

static void test_dimm_speed(void **state _unused_)
{
        static const struct {
                unsigned speed;
                uint32_t extended;
                unsigned length;
                uint32_t mts;
        } cases[] = {
            {0, 0, 0x5c, 0},
            {0, 99, 0x5c, 0},
            {5600, 0, 0x5c, 5600},
            {0xfffe, 0, 0x5c, 0xfffe},
            {0xffff, 70000, 0x5c, 70000},
            {0xffff, 0x80000000 | 70000, 0x5c, 70000}, /* bit 31 is reserved */
            {0xffff, 0, 0x5c, 0},
            {0xffff, 70000, 0x54, 0}, /* older than 3.3 */
            {0xffff, 70000, 0x57, 0},
        };

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                Maker maker = dimm_maker();
                PnSmbios smbios;

                put16(&maker, 0x15, cases[i].speed);
                put16(&maker, 0x20, cases[i].speed);
                put32(&maker, 0x54, cases[i].extended);
                put32(&maker, 0x58, cases[i].extended);
                smbios = decoded_dimm(&maker, cases[i].length);
                assert_int_equal(smbios.dimms[0].speed_mts, cases[i].mts);
                assert_int_equal(smbios.dimms[0].configured_mts, cases[i].mts);
                pn_smbios_done(&smbios);
        }
}

static void test_dimm_types(void **state _unused_)
{
        static const struct {
                unsigned code;
                const char *name;
        } cases[] = {
            {0x00, NULL},     {0x01, NULL},   {0x02, NULL},     {0x03, "DRAM"},
            {0x12, "DDR"},    {0x13, "DDR2"}, {0x15, NULL},     {0x17, NULL},
            {0x18, "DDR3"},   {0x1a, "DDR4"}, {0x1e, "LPDDR4"}, {0x22, "DDR5"},
            {0x23, "LPDDR5"}, {0x24, "HBM3"}, {0x25, NULL},     {0xff, NULL},
        };

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                Maker maker = dimm_maker();
                PnSmbios smbios;

                put8(&maker, 0x12, cases[i].code);
                smbios = decoded_dimm(&maker, 0x22);
                assert_text(smbios.dimms[0].type_name, cases[i].name);
                pn_smbios_done(&smbios);
        }
}

static void test_dimm_short(void **state _unused_)
{
        Maker maker = dimm_maker();

        for (unsigned length = 4; length <= 0x22; length++) {
                PnSmbios smbios = decoded_dimm(&maker, length);
                const PnSmbiosDimm *dimm = &smbios.dimms[0];

                assert_true(dimm->size_known == (length >= 0x0e));
                assert_text(dimm->locator, length > 0x10 ? "DIMM A1" : NULL);
                assert_text(dimm->type_name, length > 0x12 ? "DDR4" : NULL);
                assert_int_equal(dimm->speed_mts, length >= 0x17 ? 3200 : 0);
                assert_text(dimm->manufacturer, length > 0x17 ? "Maker" : NULL);
                assert_text(dimm->part_number, length > 0x1a ? "PART-1" : NULL);
                assert_int_equal(dimm->configured_mts, length >= 0x22 ? 2933 : 0);
                pn_smbios_done(&smbios);
        }
}

static void test_dimm_placeholders(void **state _unused_)
{
        static const char *const words[] = {
            "Not Specified", "Unknown",     "UNKNOWN",   "None",      "To Be Filled By O.E.M.",
            "N/A",           "NO DIMM",     "Undefined", "undefined", "[Empty]",
            "NOT AVAILABLE", "  Unknown  ", "   ",       "0000",      "0x0000",
            "FFFF",          "00 00",
        };
        static const char *const names[] = {
            "Unknown Corp.", "Nonesuch", "0001", "0x80CE", "80CE000080CE", "F1", "Samsung",
        };

        for (size_t i = 0; i < PN_ELEMENTS(words) + PN_ELEMENTS(names); i++) {
                bool junk = i < PN_ELEMENTS(words);
                const char *text = junk ? words[i] : names[i - PN_ELEMENTS(words)];
                Maker maker = dimm_maker();
                Table table = {.n = 0};
                char strings[64] = {0};
                PnSmbios smbios;

                memcpy(strings, text, strlen(text));
                put8(&maker, 0x10, 1);
                put8(&maker, 0x17, 1);
                put8(&maker, 0x1a, 1);
                append(&table, &maker, 0x22, strings, strlen(text) + 2);
                smbios = decoded(&table, table.n);
                assert_int_equal(smbios.n_dimms, 1);
                assert_text(smbios.dimms[0].manufacturer, junk ? NULL : text);
                assert_text(smbios.dimms[0].part_number, junk ? NULL : text);
                pn_smbios_done(&smbios);
        }
}

static void test_strings(void **state _unused_)
{
        static const struct {
                unsigned number;
                const char *text;
        } cases[] = {{0, NULL}, {1, "one"}, {2, "two ?"}, {3, "d\xc3\xa9j\xc3\xa0"},
                     {4, NULL}, {5, NULL},  {255, NULL}};

        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                Maker maker = slot_maker();
                Table table = {.n = 0};
                PnSmbios smbios;

                put8(&maker, 0x04, cases[i].number);
                APPEND(&table, &maker, 0x11, "one\0 two \xff \0d\xc3\xa9j\xc3\xa0\0");
                append_end(&table);
                smbios = decoded(&table, table.n);
                assert_int_equal(smbios.n_slots, 1);
                assert_text(smbios.slots[0].designation, cases[i].text);
                pn_smbios_done(&smbios);
        }
}

static void test_no_strings(void **state _unused_)
{
        Maker slot = slot_maker(), dimm = dimm_maker();
        Table table = {.n = 0};
        PnSmbios smbios;

        APPEND(&table, &slot, 0x11, "");
        APPEND(&table, &dimm, 0x22, "");
        append_end(&table);
        smbios = decoded(&table, table.n);
        assert_int_equal(smbios.n_slots, 1);
        assert_int_equal(smbios.n_dimms, 1);
        assert_null(smbios.slots[0].designation);
        assert_null(smbios.dimms[0].locator);
        assert_null(smbios.dimms[0].manufacturer);
        assert_false(smbios.truncated);
        pn_smbios_done(&smbios);
}

static void test_order_and_strangers(void **state _unused_)
{
        Maker slot = slot_maker(), dimm = dimm_maker(), other = {{4}};
        Table table = {.n = 0};
        PnSmbios smbios;

        APPEND(&table, &other, 40, "CPU\0");
        APPEND(&table, &slot, 0x11, "A\0");
        APPEND(&table, &dimm, 0x22, "D1\0");
        APPEND(&table, &other, 4, "");
        APPEND(&table, &slot, 0x11, "B\0");
        APPEND(&table, &dimm, 0x22, "D2\0");
        append_end(&table);
        /* What follows the end is no part of the table. */
        APPEND(&table, &slot, 0x11, "C\0");
        smbios = decoded(&table, table.n);
        assert_int_equal(smbios.n_slots, 2);
        assert_int_equal(smbios.n_dimms, 2);
        assert_text(smbios.slots[0].designation, "A");
        assert_text(smbios.slots[1].designation, "B");
        assert_text(smbios.dimms[0].locator, "D1");
        assert_text(smbios.dimms[1].locator, "D2");
        assert_false(smbios.truncated);
        pn_smbios_done(&smbios);
}

static void test_empty_table(void **state _unused_)
{
        Table table = {.n = 0};
        PnSmbios smbios = decoded(&table, 0);

        assert_false(smbios.truncated);
        assert_int_equal(smbios.n_slots + smbios.n_dimms, 0);
        assert_int_equal(pn_smbios_decode(NULL, 0, &smbios), 0);

        append_end(&table);
        smbios = decoded(&table, table.n);
        assert_false(smbios.truncated);
        assert_int_equal(smbios.n_slots + smbios.n_dimms, 0);
        pn_smbios_done(&smbios);
}

static void test_without_end(void **state _unused_)
{
        Maker slot = slot_maker();
        Table table = {.n = 0};
        PnSmbios smbios;

        APPEND(&table, &slot, 0x11, "A\0");
        smbios = decoded(&table, table.n);
        assert_int_equal(smbios.n_slots, 1);
        assert_false(smbios.truncated);
        pn_smbios_done(&smbios);
}

/* Cut at every byte: whatever is whole is kept, and the cut is told unless it is between two. */
static void test_cut(void **state _unused_)
{
        Maker slot = slot_maker(), dimm = dimm_maker();
        Table table = {.n = 0};
        size_t first, second;

        APPEND(&table, &slot, 0x11, "Slot 1\0");
        first = table.n;
        APPEND(&table, &dimm, 0x22, "DIMM A1\0Maker\0PART-1\0");
        second = table.n;

        for (size_t n = 0; n <= second; n++) {
                PnSmbios smbios = decoded(&table, n);

                assert_int_equal(smbios.n_slots, n >= 0x11);
                assert_int_equal(smbios.n_dimms, n >= first + 0x22);
                assert_true(smbios.truncated == (n != 0 && n != first && n != second));
                /* A string without its NUL is not half a name. */
                if (smbios.n_slots > 0)
                        assert_text(smbios.slots[0].designation, n >= 0x11 + 7 ? "Slot 1" : NULL);
                if (smbios.n_dimms > 0)
                        assert_text(smbios.dimms[0].part_number, n >= second - 1 ? "PART-1" : NULL);
                pn_smbios_done(&smbios);
        }
}

static void test_broken_length(void **state _unused_)
{
        for (unsigned length = 0; length < 4; length++) {
                Maker slot = slot_maker();
                Table table = {.n = 0};
                PnSmbios smbios;
                size_t first;

                APPEND(&table, &slot, 0x11, "A\0");
                first = table.n;
                APPEND(&table, &slot, 0x11, "B\0");
                table.bytes[first + 1] = (uint8_t)length;
                smbios = decoded(&table, table.n);
                assert_int_equal(smbios.n_slots, 1);
                assert_true(smbios.truncated);
                pn_smbios_done(&smbios);
        }
}

static void test_length_past_the_end(void **state _unused_)
{
        Maker slot = slot_maker();
        Table table = {.n = 0};
        PnSmbios smbios;

        APPEND(&table, &slot, 0x11, "A\0");
        table.bytes[1] = 255;
        smbios = decoded(&table, table.n);
        assert_int_equal(smbios.n_slots, 0);
        assert_true(smbios.truncated);
        pn_smbios_done(&smbios);
}

static void test_many(void **state _unused_)
{
        Maker slot = {{9}};
        Table table = {.n = 0};
        PnSmbios smbios;

        while (table.n + 6 <= sizeof table.bytes)
                APPEND(&table, &slot, 4, "");
        smbios = decoded(&table, table.n);
        assert_int_equal(smbios.n_slots, sizeof table.bytes / 6);
        pn_smbios_done(&smbios);
}

static void test_noise(void **state _unused_)
{
        uint32_t seed = 1;

        for (unsigned round = 0; round < 20000; round++) {
                Table table = {.n = 0};
                PnSmbios smbios;

                for (size_t i = 0; i < 400; i++) {
                        seed = seed * 1664525 + 1013904223;
                        /* Many zeros, so that structures end. */
                        table.bytes[i] = seed >> 30 ? 0 : (uint8_t)(seed >> 16);
                }
                table.n = seed >> 8 & 0xff;
                table.bytes[0] = round % 2 ? 9 : 17;
                table.bytes[1] = (uint8_t)(4 + (seed >> 16 & 0x7f));
                smbios = decoded(&table, table.n);
                pn_smbios_done(&smbios);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_slot),
            cmocka_unit_test(test_slot_types),
            cmocka_unit_test(test_slot_lanes),
            cmocka_unit_test(test_slot_usage),
            cmocka_unit_test(test_slot_address),
            cmocka_unit_test(test_slot_short),
            cmocka_unit_test(test_dimm),
            cmocka_unit_test(test_dimm_size),
            cmocka_unit_test(test_dimm_speed),
            cmocka_unit_test(test_dimm_types),
            cmocka_unit_test(test_dimm_short),
            cmocka_unit_test(test_dimm_placeholders),
            cmocka_unit_test(test_strings),
            cmocka_unit_test(test_no_strings),
            cmocka_unit_test(test_order_and_strangers),
            cmocka_unit_test(test_empty_table),
            cmocka_unit_test(test_without_end),
            cmocka_unit_test(test_cut),
            cmocka_unit_test(test_broken_length),
            cmocka_unit_test(test_length_past_the_end),
            cmocka_unit_test(test_many),
            cmocka_unit_test(test_noise),
        };

        return cmocka_run_group_tests_name("smbios", tests, NULL, NULL);
}
