/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests lib/module.c, sff8472.c, sff8636.c and cmis.c on memories built here, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "module.h"
#include "sff8024.h"

/* A memory in the making. Offsets are the specifications'; `at` of a page adds where it is. */
typedef struct Memory {
        uint8_t bytes[768];
        size_t n;
} Memory;

/* Where upper pages are in a memory, so that byte 128 of page 03h is at PAGE_03 + 128. */
#define PAGE_00 0u
#define PAGE_01 128u
#define PAGE_02 256u
#define PAGE_03 384u
#define PAGE_11 512u /* behind what ethtool hands out */
#define A2      256u

static void put8(Memory *memory, size_t at, unsigned value)
{
        memory->bytes[at] = (uint8_t)value;
}

static void put16(Memory *memory, size_t at, int value)
{
        put8(memory, at, (unsigned)value >> 8 & 0xff);
        put8(memory, at + 1, (unsigned)value & 0xff);
}

static void put_float(Memory *memory, size_t at, float value)
{
        uint32_t bits;

        memcpy(&bits, &value, sizeof bits);
        put16(memory, at, (int)(bits >> 16));
        put16(memory, at + 2, (int)(bits & 0xffff));
}

static void put_text(Memory *memory, size_t at, size_t n, const char *text)
{
        memset(memory->bytes + at, ' ', n);
        memcpy(memory->bytes + at, text, strlen(text));
}

static void put_sum(Memory *memory, size_t from, size_t end)
{
        unsigned sum = 0;

        for (size_t i = from; i < end; i++)
                sum += memory->bytes[i];
        put8(memory, end, sum & 0xff);
}

/* High alarm, low alarm, high warning, low warning: the order of every map. */
static void put_limits(Memory *memory, size_t at, int high_alarm, int low_alarm, int high_warning,
                       int low_warning)
{
        put16(memory, at, high_alarm);
        put16(memory, at + 2, low_alarm);
        put16(memory, at + 4, high_warning);
        put16(memory, at + 6, low_warning);
}

static PnModulePages pages_of(const Memory *memory)
{
        PnModulePages pages;

        assert_int_equal(pn_module_from_flat(memory->bytes, memory->n, &pages), 0);
        if (memory->n == sizeof memory->bytes)
                pages.area[PN_MODULE_PAGE_11] =
                    (PnModulePage){.bytes = memory->bytes + 640, .n = 128};
        return pages;
}

static PnModule decode_pages(const PnModulePages *pages)
{
        PnModule module;

        assert_int_equal(pn_module_decode(pages, &module), 0);
        assert_int_equal(module.status.state, PN_KNOWN);
        return module;
}

static PnModule decode(const Memory *memory)
{
        PnModulePages pages = pages_of(memory);

        return decode_pages(&pages);
}

static void done(PnModule *module)
{
        pn_done(pn_type_Module(), module);
}
#define _cleanup_module_ _cleanup_(done)

static void assert_text(const PnText *text, const char *wanted)
{
        if (wanted) {
                assert_int_equal(text->state, PN_KNOWN);
                assert_string_equal(text->v, wanted);
        } else
                assert_int_equal(text->state, PN_ABSENT);
}

static void assert_real(PnReal real, double wanted)
{
        assert_int_equal(real.state, PN_KNOWN);
        assert_true(real.v > wanted - 1e-9 && real.v < wanted + 1e-9);
}

#define assert_state(field, wanted) assert_int_equal((field).state, (wanted))

static void assert_limits(PnState state, const PnModuleLimits *limits, double high_alarm,
                          double low_alarm, double high_warning, double low_warning)
{
        assert_int_equal(state, PN_KNOWN);
        assert_real(limits->high_alarm, high_alarm);
        assert_real(limits->low_alarm, low_alarm);
        assert_real(limits->high_warning, high_warning);
        assert_real(limits->low_warning, low_warning);
}

/* All lengths in their order, "OM1 220, OM2 220". */
static void assert_lengths(const PnModule *module, const char *wanted)
{
        _cleanup_buf_ PnBuf buf = {0};

        assert_state(module->lengths, PN_KNOWN);
        for (unsigned i = 0; i < module->lengths.n; i++)
                pn_buf_printf(&buf, "%s%s %g", i > 0 ? ", " : "", module->lengths.v[i].medium.v,
                              module->lengths.v[i].metres.v);
        pn_buf_puts(&buf, "");
        assert_string_equal(buf.data ? buf.data : "", wanted);
}

static void assert_flags(const PnModuleDiagnostics *diagnostics, const char *wanted)
{
        _cleanup_buf_ PnBuf buf = {0};

        assert_state(diagnostics->flags, PN_KNOWN);
        for (unsigned i = 0; i < diagnostics->flags.n; i++)
                pn_buf_printf(&buf, "%s%s", i > 0 ? " " : "", diagnostics->flags.v[i]);
        assert_string_equal(buf.data ? buf.data : "", wanted);
}

/* --- SFF-8472 -------------------------------------------------------------------------------- */

static void sum_sfp(Memory *memory)
{
        put_sum(memory, 0, 63);
        put_sum(memory, 64, 95);
        put_sum(memory, A2, A2 + 95);
}

/* An optic with LC connector that monitors nothing yet: no compliance, no length. */
static Memory sfp(unsigned rate, int nm)
{
        Memory memory = {.n = 512};

        put8(&memory, 0, 0x03);
        put8(&memory, 1, 0x04);
        put8(&memory, 2, 0x07);
        put8(&memory, 11, 0x06);
        put8(&memory, 12, rate);
        put_text(&memory, 20, 16, "EXAMPLE");
        put8(&memory, 37, 0x00);
        put8(&memory, 38, 0x17);
        put8(&memory, 39, 0x6a);
        put_text(&memory, 40, 16, "PART-1");
        put_text(&memory, 56, 4, "A1");
        put16(&memory, 60, nm);
        put_text(&memory, 68, 16, "SERIAL0001");
        put_text(&memory, 84, 8, "240131");
        sum_sfp(&memory);
        return memory;
}

/* The same with monitoring, internally calibrated, limits, and flags implemented. */
static Memory sfp_monitored(unsigned rate, int nm)
{
        Memory memory = sfp(rate, nm);

        put8(&memory, 92, 0x68);
        put8(&memory, 93, 0xf0);
        put_limits(&memory, A2, 0x4b00, 0xfb00, 0x4600, 0);
        put_limits(&memory, A2 + 8, 36000, 30000, 35000, 31000);
        put_limits(&memory, A2 + 16, 7500, 500, 6500, 1000);
        put_limits(&memory, A2 + 24, 15849, 1259, 12589, 1585);
        put_limits(&memory, A2 + 32, 19953, 100, 15849, 158);
        put16(&memory, A2 + 96, 0x3917);
        put16(&memory, A2 + 98, 33000);
        put16(&memory, A2 + 100, 3000);
        put16(&memory, A2 + 102, 5806);
        put16(&memory, A2 + 104, 6770);
        sum_sfp(&memory);
        return memory;
}

static void test_sfp_identity(void **state)
{
        Memory memory = sfp(0x67, 850);
        _cleanup_module_ PnModule module = {0};

        (void)state;
        put8(&memory, 3, 0x10);
        put8(&memory, 16, 8);
        put8(&memory, 17, 3);
        put8(&memory, 18, 40);
        put8(&memory, 19, 30);
        sum_sfp(&memory);
        module = decode(&memory);
        assert_text(&module.status, "present");
        assert_text(&module.form, "SFP+");
        assert_text(&module.standard, "SFF-8472");
        assert_text(&module.vendor, "EXAMPLE");
        assert_text(&module.oui, "00:17:6a");
        assert_text(&module.part_number, "PART-1");
        assert_text(&module.revision, "A1");
        assert_text(&module.serial, "SERIAL0001");
        assert_text(&module.date_code, "240131");
        assert_text(&module.type, "10GBASE-SR");
        assert_text(&module.connector, "LC");
        assert_real(module.wavelength_nm, 850);
        assert_int_equal(pn_int_or(module.nominal_mbd, 0), 10300);
        /* Byte 18 of an optic is OM4 in units of 10 m. */
        assert_lengths(&module, "OM1 30, OM2 80, OM3 300, OM4 400");
        assert_true(pn_is_true(module.checksum_ok));
        assert_state(module.diagnostics, PN_ABSENT);
}

/* HP J9152D as its owner's switch showed it: SFP+ LRM, LC, 1310 nm, 220 m on each fibre. */
static void test_lrm(void **state)
{
        /* What the module gives, nothing, and what a draft of the standard had. */
        static const uint8_t given[][3] = {{22, 22, 22}, {0, 0, 0}, {22, 22, 30}};

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(given); i++) {
                Memory memory = sfp(0x67, 1310);
                _cleanup_module_ PnModule module = {0};

                put_text(&memory, 20, 16, "HP");
                put_text(&memory, 40, 16, "J9152D");
                put8(&memory, 3, 0x40);
                put8(&memory, 16, given[i][0]);
                put8(&memory, 17, given[i][1]);
                put8(&memory, 19, given[i][2]);
                sum_sfp(&memory);
                module = decode(&memory);
                assert_text(&module.form, "SFP+");
                assert_text(&module.type, "10GBASE-LRM");
                assert_text(&module.connector, "LC");
                assert_real(module.wavelength_nm, 1310);
                assert_lengths(&module, "OM1 220, OM2 220, OM3 220");
        }
}

typedef struct TypeCase {
        const char *type, *form;
        unsigned rate;
        int nm;
        uint8_t connector, ethernet_10g, ethernet_1g, cable, compliance;
        uint8_t km, om2, byte_18, om3;
        const char *part;
} TypeCase;

static void test_sfp_types(void **state)
{
        static const TypeCase cases[] = {
            {"10GBASE-LR", "SFP+", 0x67, 1310, 7, 0x20, 0, 0, 0, 10, 0, 0, 0, "P"},
            {"10GBASE-ER", "SFP+", 0x67, 1550, 7, 0x80, 0, 0, 0, 40, 0, 0, 0, "P"},
            {"10GBASE-ZR", "SFP+", 0x67, 1550, 7, 0x80, 0, 0, 0, 80, 0, 0, 0, "P"},
            {"10GBASE-ZR DWDM", "SFP+", 0x67, 1550, 7, 0x80, 0, 0, 0, 80, 0, 0, 0, "DWDM-SFP10G"},
            /* Two rates: the faster one counts. */
            {"10GBASE-SR", "SFP+", 0x67, 850, 7, 0x10, 0x01, 0, 0, 0, 8, 0, 30, "P"},
            /* No bit: by wavelength and reach. */
            {"10GBASE-SR", "SFP+", 0x67, 850, 7, 0, 0, 0, 0, 0, 8, 0, 30, "P"},
            {"10GBASE-LR", "SFP+", 0x67, 1310, 7, 0, 0, 0, 0, 10, 0, 0, 0, "P"},
            {"10GBASE-LRM", "SFP+", 0x67, 1310, 7, 0, 0, 0, 0, 0, 22, 0, 22, "P"},
            {"10GBASE-ER", "SFP+", 0x67, 1550, 7, 0, 0, 0, 0, 40, 0, 0, 0, "P"},
            {"10GBASE-ZR", "SFP+", 0x67, 1550, 7, 0, 0, 0, 0, 80, 0, 0, 0, "P"},
            {NULL, "SFP+", 0x67, 1550, 7, 0, 0, 0, 0, 0, 0, 0, 0, "P"},
            {NULL, "SFP+", 0x55, 850, 7, 0, 0, 0, 0, 0, 15, 0, 30, "P"},
            {"10GBASE-LR BiDi", "SFP+", 0x67, 1270, 7, 0x20, 0, 0, 0, 10, 0, 0, 0, "SFP-10G-BX10"},
            {"10GBASE-LR", "SFP+", 0x67, 1270, 7, 0x20, 0, 0, 0, 10, 0, 0, 0, "CWDM-SFP10G"},
            {"1000BASE-SX", "SFP", 0x0d, 850, 7, 0, 0x01, 0, 0, 0, 55, 0, 0, "P"},
            {"1000BASE-LX", "SFP", 0x0d, 1310, 7, 0, 0x02, 0, 0, 10, 0, 0, 0, "P"},
            {"1000BASE-T", "SFP", 0x0d, 0, 0, 0, 0x08, 0, 0, 0, 0, 100, 0, "P"},
            {"1000BASE-BX10", "SFP", 0x0d, 1310, 7, 0, 0x40, 0, 0, 10, 0, 0, 0, "P"},
            {"100BASE-FX", "SFP", 0x01, 1310, 7, 0, 0x20, 0, 0, 2, 0, 0, 0, "P"},
            {"25GBASE-SR", "SFP28", 0xff, 850, 7, 0, 0, 0, 0x02, 0, 2, 10, 7, "P"},
            {"25GBASE-LR", "SFP28", 0xff, 1310, 7, 0, 0, 0, 0x03, 10, 0, 0, 0, "P"},
            {"50GBASE-SR", "SFP56", 0xff, 850, 7, 0, 0, 0, 0x41, 0, 0, 10, 7, "P"},
            {"100GBASE-LR1", "SFP112", 0xff, 1310, 7, 0, 0, 0, 0x2b, 10, 0, 0, 0, "P"},
            {"passive copper", "SFP28", 0xff, 0, 0x21, 0, 0, 0x04, 0x0b, 0, 0, 2, 0, "P"},
            {"passive copper", "SFP+", 0x67, 0x100, 0x21, 0, 0, 0x04, 0, 0, 0, 3, 0, "P"},
            {"active copper", "SFP+", 0x67, 0x400, 0x21, 0, 0, 0x08, 0, 0, 0, 7, 0, "P"},
            /* Cables that do not say so in byte 8. */
            {"passive copper", "SFP+", 0x67, 0, 0x21, 0x01, 0, 0, 0, 0, 0, 3, 0, "P"},
            {"active copper", "SFP+", 0x67, 0, 0x21, 0x02, 0, 0, 0, 0, 0, 3, 0, "P"},
            {"active copper", "SFP28", 0xff, 0, 0x23, 0, 0, 0, 0x08, 0, 0, 3, 0, "P"},
            {"active optical cable", "SFP28", 0xff, 850, 0x23, 0, 0, 0, 0x18, 0, 0, 5, 0, "P"},
            {"active optical cable", "SFP+", 0x67, 0x400, 0x07, 0x10, 0, 0x08, 0, 0, 0, 5, 0, "P"},
            {"active optical cable", "SFP+", 0x67, 850, 0x23, 0, 0, 0, 0, 0, 0, 5, 0, "P"},
            /* Liars. */
            {"2.5GBASE-T", "SFP", 0x19, 850, 7, 0, 0, 0, 0, 0, 30, 0, 0, "SFP-2.5G-T"},
            {"10GBASE-T", "SFP+", 0x67, 850, 7, 0x10, 0, 0, 0, 0, 8, 0, 30, "SFP-10G-T"},
            {"10GBASE-T", "SFP+", 0x67, 850, 7, 0x10, 0, 0, 0, 0, 8, 0, 30, "SFP-10G-T80"},
            {"10GBASE-SR", "SFP+", 0x67, 850, 7, 0x10, 0, 0, 0, 0, 8, 0, 30, "SFP-10G-TX"},
            {"1000BASE-T", "SFP", 0x0c, 850, 7, 0, 0x02, 0, 0, 0, 0, 0, 0, "SFP-GE-T"},
            {"5GBASE-T", "SFP", 0x32, 0, 0x22, 0, 0, 0, 0, 0, 0, 0, 0, "P"},
            {"10GBASE-T", "SFP+", 0x67, 0, 0x22, 0, 0, 0, 0x1c, 0, 0, 30, 0, "P"},
            {"GPON", "SFP", 0x0d, 1310, 1, 0, 0x02, 0, 0, 20, 0, 0, 0, "DFP-34X-2C2"},
            {"XGS-PON", "SFP+", 0x64, 1270, 1, 0x20, 0, 0, 0, 20, 0, 0, 0, "XGS-ONU-25-20NI"},
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                const TypeCase *c = &cases[i];
                Memory memory = sfp(c->rate, c->nm);
                _cleanup_module_ PnModule module = {0};

                put8(&memory, 2, c->connector);
                put8(&memory, 3, c->ethernet_10g);
                put8(&memory, 6, c->ethernet_1g);
                put8(&memory, 8, c->cable);
                put8(&memory, 14, c->km);
                put8(&memory, 16, c->om2);
                put8(&memory, 18, c->byte_18);
                put8(&memory, 19, c->om3);
                put8(&memory, 36, c->compliance);
                put_text(&memory, 40, 16, c->part);
                put8(&memory, 66, c->rate == 0xff ? 103 : 0);
                sum_sfp(&memory);
                module = decode(&memory);
                if (!!c->type != (module.type.state == PN_KNOWN) ||
                    (c->type && !pn_text_is(&module.type, c->type)))
                        fail_msg("case %zu: %s, expected %s", i, module.type.v, c->type);
                assert_text(&module.form, c->form);
        }
}

static void test_sfp_cable(void **state)
{
        Memory memory = sfp(0x67, 0x0100);
        _cleanup_module_ PnModule module = {0};

        (void)state;
        put8(&memory, 2, 0x21);
        put8(&memory, 8, 0x04);
        put8(&memory, 18, 3);
        sum_sfp(&memory);
        module = decode(&memory);
        assert_text(&module.connector, "copper pigtail");
        assert_lengths(&module, "copper 3");
        /* Bytes 60 and 61 are what the cable complies with. */
        assert_state(module.wavelength_nm, PN_ABSENT);
        assert_state(module.diagnostics, PN_ABSENT);
        assert_int_equal(pn_module_wanted(&(PnModulePages){{{memory.bytes, 128, 0}}}, false),
                         1u << PN_MODULE_LOWER);
}

/* It claims LC, 850 nm and fibre; the light that it measures is made up. */
static void test_sfp_base_t_liar(void **state)
{
        Memory memory = sfp_monitored(0x19, 850);
        _cleanup_module_ PnModule module = {0};

        (void)state;
        put_text(&memory, 40, 16, "SFP-2.5G-T");
        put8(&memory, 16, 30);
        put8(&memory, A2 + 112, 0xff);
        put8(&memory, A2 + 113, 0xff);
        sum_sfp(&memory);
        module = decode(&memory);
        assert_text(&module.connector, "RJ45");
        assert_state(module.wavelength_nm, PN_ABSENT);
        assert_lengths(&module, "");
        assert_real(module.diagnostics.v->voltage_v, 3.3);
        assert_state(module.diagnostics.v->lanes, PN_ABSENT);
        assert_state(module.diagnostics.v->thresholds.v->rx_power, PN_ABSENT);
        assert_flags(module.diagnostics.v, "temperature_high_alarm temperature_low_alarm "
                                           "voltage_high_alarm voltage_low_alarm");
}

static void test_sfp_lengths_and_rate(void **state)
{
        Memory memory = sfp(0xff, 1310);
        _cleanup_module_ PnModule module = {0}, again = {0};

        (void)state;
        put8(&memory, 66, 112);
        put8(&memory, 14, 2);
        put8(&memory, 15, 14); /* the finer one */
        module = decode(&memory);
        assert_int_equal(pn_int_or(module.nominal_mbd, 0), 28000);
        assert_lengths(&module, "SMF 1400");

        put8(&memory, 12, 0);
        put8(&memory, 14, 0xff);
        put8(&memory, 15, 0xff); /* more than 254 of both */
        again = decode(&memory);
        assert_state(again.nominal_mbd, PN_ABSENT);
        assert_lengths(&again, "SMF 254000");
}

static void test_sfp_checksums(void **state)
{
        static const size_t wrong[] = {63, 95, A2 + 95};

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(wrong); i++) {
                Memory memory = sfp_monitored(0x67, 850);
                _cleanup_module_ PnModule module = {0};

                memory.bytes[wrong[i]] ^= 1;
                module = decode(&memory);
                assert_state(module.checksum_ok, PN_KNOWN);
                assert_false(module.checksum_ok.v);
                assert_text(&module.vendor, "EXAMPLE");
                assert_real(module.diagnostics.v->voltage_v, 3.3);
        }
}

static void test_sfp_texts(void **state)
{
        Memory memory = sfp(0x67, 850);
        _cleanup_module_ PnModule module = {0};

        (void)state;
        memcpy(memory.bytes + 20, "OEMOEMOEMOEMOEMO", 16); /* no padding */
        memset(memory.bytes + 37, 0, 3);
        memset(memory.bytes + 40, 0xff, 16);
        memset(memory.bytes + 56, 0, 4);
        memcpy(memory.bytes + 68, "A\x01\xff\0garbage12345", 16);
        memcpy(memory.bytes + 84, "15161001", 8); /* month 16 */
        put8(&memory, 2, 0x99);
        module = decode(&memory);
        assert_text(&module.vendor, "OEMOEMOEMOEMOEMO");
        assert_text(&module.oui, NULL);
        assert_text(&module.part_number, NULL);
        assert_text(&module.revision, NULL);
        assert_text(&module.serial, "A??");
        assert_text(&module.date_code, "15161001");
        assert_text(&module.connector, NULL);
}

static void test_sfp_internal(void **state)
{
        Memory memory = sfp_monitored(0x67, 850);
        _cleanup_module_ PnModule module = decode(&memory);
        const PnModuleDiagnostics *diagnostics = module.diagnostics.v;
        const PnModuleThresholds *thresholds = diagnostics->thresholds.v;

        (void)state;
        assert_state(module.diagnostics, PN_KNOWN);
        assert_real(diagnostics->temperature_c, 0x3917 / 256.0); /* 57.09 */
        assert_real(diagnostics->voltage_v, 3.3);
        assert_int_equal(diagnostics->lanes.n, 1);
        assert_real(diagnostics->lanes.v[0].bias_ma, 6);
        assert_real(diagnostics->lanes.v[0].tx_power_mw, 0.5806);
        assert_real(diagnostics->lanes.v[0].tx_power_dbm, -2.36);
        assert_real(diagnostics->lanes.v[0].rx_power_mw, 0.677);
        assert_real(diagnostics->lanes.v[0].rx_power_dbm, -1.69);
        assert_limits(thresholds->temperature.state, thresholds->temperature.v, 75, -5, 70, 0);
        assert_limits(thresholds->voltage.state, thresholds->voltage.v, 3.6, 3, 3.5, 3.1);
        assert_limits(thresholds->bias.state, thresholds->bias.v, 15, 1, 13, 2);
        assert_limits(thresholds->tx_power.state, thresholds->tx_power.v, 1.5849, 0.1259, 1.2589,
                      0.1585);
        assert_limits(thresholds->rx_power.state, thresholds->rx_power.v, 1.9953, 0.01, 1.5849,
                      0.0158);
        assert_flags(diagnostics, "");
}

static void test_sfp_power(void **state)
{
        static const struct {
                int raw;
                double mw, dbm;
        } cases[] = {{1, 0.0001, -40}, {10000, 1, 0}, {65535, 6.5535, 8.16}, {6770, 0.677, -1.69}};

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                Memory memory = sfp_monitored(0x67, 850);
                _cleanup_module_ PnModule module = {0};

                put16(&memory, A2 + 104, cases[i].raw);
                module = decode(&memory);
                assert_real(module.diagnostics.v->lanes.v[0].rx_power_mw, cases[i].mw);
                assert_real(module.diagnostics.v->lanes.v[0].rx_power_dbm, cases[i].dbm);
        }
}

/* Dark is 0 mW and no level; not measured is unread. JSON has both. */
static void test_sfp_dark(void **state)
{
        Memory memory = sfp_monitored(0x67, 850);
        _cleanup_module_ PnModule dark = {0}, erased = {0};
        _cleanup_buf_ PnBuf json = {0};

        (void)state;
        put16(&memory, A2 + 104, 0);
        put8(&memory, A2 + 110, 0x02);
        put8(&memory, A2 + 113, 0x40);
        put8(&memory, A2 + 117, 0x40);
        dark = decode(&memory);
        assert_real(dark.diagnostics.v->lanes.v[0].rx_power_mw, 0);
        assert_state(dark.diagnostics.v->lanes.v[0].rx_power_dbm, PN_ABSENT);
        assert_flags(dark.diagnostics.v, "rx_los rx_power_low_alarm rx_power_low_warning");
        pn_write_json(&json, pn_type_Module(), &dark);
        assert_non_null(strstr(json.data, "\"rx_power_mw\":0,\"rx_power_dbm\":null"));

        put16(&memory, A2 + 104, 0xffff);
        memset(memory.bytes + A2 + 32, 0xff, 8);
        erased = decode(&memory);
        assert_state(erased.diagnostics.v->lanes.v[0].rx_power_mw, PN_UNREAD_UNSUPPORTED);
        assert_state(erased.diagnostics.v->lanes.v[0].rx_power_dbm, PN_UNREAD_UNSUPPORTED);
        assert_flags(erased.diagnostics.v, "rx_los");
}

static void test_sfp_negative_temperature(void **state)
{
        Memory memory = sfp_monitored(0x67, 850);
        _cleanup_module_ PnModule module = {0};

        (void)state;
        put16(&memory, A2 + 96, 0xf880);
        put_limits(&memory, A2, 0x5f00, 0xce00, 0x5a00, 0xd300);
        module = decode(&memory);
        assert_real(module.diagnostics.v->temperature_c, -7.5);
        assert_limits(module.diagnostics.v->thresholds.v->temperature.state,
                      module.diagnostics.v->thresholds.v->temperature.v, 95, -50, 90, -45);
}

static void put_calibration(Memory *memory)
{
        /* Real ones, of a transceiver whose readings are known: 37.5 °C, 3.3243 V, 0.526 mA. */
        put_float(memory, A2 + 56, 7.511e-9f);
        put_float(memory, A2 + 60, -7.2859e-6f);
        put_float(memory, A2 + 64, 0.0038487f);
        put_float(memory, A2 + 68, 1.46272f);
        put_float(memory, A2 + 72, -0.69708f);
        put16(memory, A2 + 76, 0x09c0);
        put16(memory, A2 + 80, 0x0100);
        put16(memory, A2 + 84, 0xdcb7);
        put16(memory, A2 + 86, 0x9135);
        put16(memory, A2 + 88, 0x30a6);
        put16(memory, A2 + 90, 0xfe5a);
        put16(memory, A2 + 96, 0x00ac);
        put16(memory, A2 + 98, 0x02b4);
        put16(memory, A2 + 100, 0x001b);
        put16(memory, A2 + 102, 0x4576);
        put16(memory, A2 + 104, 0x0000);
        put_limits(memory, A2, 0x00ef, 0x0080, 0x00ef, 0x0080);
        put_limits(memory, A2 + 8, 0x02f2, 0x026b, 0x02d0, 0x028d);
        put_limits(memory, A2 + 32, 0x01f6, 0x000b, 0x01f6, 0x000b);
        put8(memory, 92, 0x58);
}

static void test_sfp_external(void **state)
{
        Memory memory = sfp_monitored(0x0d, 1310);
        _cleanup_module_ PnModule module = {0};
        const PnModuleDiagnostics *diagnostics;

        (void)state;
        put_calibration(&memory);
        module = decode(&memory);
        diagnostics = module.diagnostics.v;
        assert_real(diagnostics->temperature_c, 37.5);
        assert_real(diagnostics->voltage_v, 3.3243);
        assert_real(diagnostics->lanes.v[0].bias_ma, 0.526);
        assert_real(diagnostics->lanes.v[0].tx_power_mw, 1.7782);
        /* The polynomial ends below zero, which is dark. */
        assert_real(diagnostics->lanes.v[0].rx_power_mw, 0);
        assert_state(diagnostics->lanes.v[0].rx_power_dbm, PN_ABSENT);
        assert_limits(diagnostics->thresholds.v->temperature.state,
                      diagnostics->thresholds.v->temperature.v, 95.265625, -0.4375, 95.265625,
                      -0.4375);
        assert_limits(diagnostics->thresholds.v->voltage.state,
                      diagnostics->thresholds.v->voltage.v, 3.6259, 2.9691, 3.4605, 3.1345);
        /* All terms of the polynomial: -9.0 and -28.0 dBm. */
        assert_limits(diagnostics->thresholds.v->rx_power.state,
                      diagnostics->thresholds.v->rx_power.v, 0.1259, 0.0016, 0.1259, 0.0016);
}

/* Factors that no measurement can have are no factors. */
static void test_sfp_external_malformed(void **state)
{
        Memory memory = sfp_monitored(0x0d, 1310);
        _cleanup_module_ PnModule module = {0}, cut = {0};
        const PnModuleDiagnostics *diagnostics;

        (void)state;
        put_calibration(&memory);
        put16(&memory, A2 + 84, 0);
        put16(&memory, A2 + 68, 0x7f80); /* infinity */
        put16(&memory, A2 + 70, 0);
        module = decode(&memory);
        diagnostics = module.diagnostics.v;
        assert_state(diagnostics->temperature_c, PN_UNREAD_MALFORMED);
        assert_state(diagnostics->thresholds.v->temperature, PN_UNREAD_MALFORMED);
        assert_state(diagnostics->lanes.v[0].rx_power_mw, PN_UNREAD_MALFORMED);
        assert_state(diagnostics->thresholds.v->rx_power, PN_UNREAD_MALFORMED);
        assert_real(diagnostics->voltage_v, 3.3243);

        /* Clamped to what a word holds. */
        put16(&memory, A2 + 84, 0xffff);
        put16(&memory, A2 + 96, 0x7fff);
        memory.n = A2 + 106;
        cut = decode(&memory);
        assert_real(cut.diagnostics.v->temperature_c, 0x7fff / 256.0);
        assert_state(cut.diagnostics.v->flags, PN_UNREAD_UNSUPPORTED);
}

static void test_sfp_flags(void **state)
{
        Memory memory = sfp_monitored(0x67, 850);
        _cleanup_module_ PnModule module = {0}, inverted = {0}, without = {0};

        (void)state;
        put8(&memory, A2 + 110, 0x06);
        put8(&memory, A2 + 112, 0x95); /* temperature high, voltage low, bias low, tx low */
        put8(&memory, A2 + 113, 0x80); /* rx high */
        put8(&memory, A2 + 116, 0xa8); /* temperature, voltage and bias high */
        module = decode(&memory);
        assert_flags(module.diagnostics.v,
                     "rx_los tx_fault temperature_high_alarm temperature_high_warning "
                     "voltage_low_alarm voltage_high_warning bias_low_alarm bias_high_warning "
                     "tx_power_low_alarm rx_power_high_alarm");
        /* A pin whose sense is in doubt. */
        put8(&memory, 65, 0x04);
        inverted = decode(&memory);
        assert_true(pn_streq(inverted.diagnostics.v->flags.v[0], "tx_fault"));
        /* Not implemented, so never true. */
        put8(&memory, 93, 0);
        without = decode(&memory);
        assert_flags(without.diagnostics.v, "");
}

static void test_nonsense_limits(void **state)
{
        static const int sets[][4] = {
            {0, 0, 0, 0},
            {0x4000, 0x4000, 0x4000, 0x4000},
            {0xffff, 0xffff, 0xffff, 0xffff},
            {0xffff, 0, 0xffff, 0},
            {1000, 2000, 1100, 1900}, /* low above high */
            {2000, 1000, 2100, 1100}, /* warning beyond alarm */
            {2000, 1000, 1500, 900},  /* likewise */
            {2000, 1000, 0, 0},       /* no warnings */
            {2000, 1000, 1500, 1500}, /* warnings that are equal */
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(sets); i++) {
                Memory memory = sfp_monitored(0x67, 850);
                _cleanup_module_ PnModule module = {0};

                put_limits(&memory, A2 + 32, sets[i][0], sets[i][1], sets[i][2], sets[i][3]);
                put8(&memory, A2 + 113, 0xc0);
                put8(&memory, A2 + 112, 0x80);
                module = decode(&memory);
                assert_state(module.diagnostics.v->thresholds.v->rx_power, PN_ABSENT);
                /* A flag that compares with nonsense is nonsense. */
                assert_flags(module.diagnostics.v, "temperature_high_alarm");
        }
}

static void test_all_limits_nonsense(void **state)
{
        Memory memory = sfp_monitored(0x67, 850);
        _cleanup_module_ PnModule module = {0};

        (void)state;
        memset(memory.bytes + A2, 0, 40);
        memset(memory.bytes + A2 + 112, 0xff, 6);
        module = decode(&memory);
        assert_state(module.diagnostics.v->thresholds, PN_ABSENT);
        assert_flags(module.diagnostics.v, "");
        assert_real(module.diagnostics.v->voltage_v, 3.3);
}

static void test_sfp_nothing_measured(void **state)
{
        Memory memory = sfp_monitored(0x67, 850);
        _cleanup_module_ PnModule ones = {0}, zeros = {0}, early = {0}, moved = {0}, none = {0},
                                  cable = {0};

        (void)state;
        memset(memory.bytes + A2 + 96, 0xff, 10);
        ones = decode(&memory);
        assert_state(ones.diagnostics, PN_UNREAD_UNSUPPORTED);
        memset(memory.bytes + A2 + 96, 0, 10);
        zeros = decode(&memory);
        assert_state(zeros.diagnostics, PN_UNREAD_MALFORMED);
        put8(&memory, A2 + 110, 0x01);
        early = decode(&memory);
        assert_state(early.diagnostics, PN_UNREAD_TIMEOUT);

        memory = sfp_monitored(0x67, 850);
        put8(&memory, 92, 0x6c); /* the address must be changed */
        moved = decode(&memory);
        assert_state(moved.diagnostics, PN_UNREAD_UNSUPPORTED);
        put8(&memory, 92, 0x00); /* what A2h has is no monitoring */
        none = decode(&memory);
        assert_state(none.diagnostics, PN_ABSENT);

        /* A cable that claims to monitor and has nothing to do it with. */
        put8(&memory, 92, 0x68);
        put8(&memory, 8, 0x04);
        memset(memory.bytes + A2 + 96, 0, 10);
        cable = decode(&memory);
        assert_text(&cable.type, "passive copper");
        assert_state(cable.diagnostics, PN_UNREAD_UNSUPPORTED);
}

static void test_sfp_a2_unread(void **state)
{
        Memory memory = sfp_monitored(0x67, 850);
        PnModulePages pages = pages_of(&memory);
        _cleanup_module_ PnModule refused = {0}, cut = {0};
        const PnModuleDiagnostics *diagnostics;

        (void)state;
        pages.area[PN_MODULE_A2] = (PnModulePage){.reason = PN_UNREAD_PERMISSION};
        refused = decode_pages(&pages);
        assert_text(&refused.vendor, "EXAMPLE");
        assert_state(refused.diagnostics, PN_UNREAD_PERMISSION);
        assert_true(pn_is_true(refused.checksum_ok));

        pages.area[PN_MODULE_A2] =
            (PnModulePage){.bytes = memory.bytes + A2, .n = 103, .reason = PN_UNREAD_TIMEOUT};
        cut = decode_pages(&pages);
        diagnostics = cut.diagnostics.v;
        assert_real(diagnostics->voltage_v, 3.3);
        assert_real(diagnostics->lanes.v[0].bias_ma, 6);
        assert_state(diagnostics->lanes.v[0].tx_power_mw, PN_UNREAD_TIMEOUT);
        assert_state(diagnostics->lanes.v[0].rx_power_dbm, PN_UNREAD_TIMEOUT);
        assert_state(diagnostics->flags, PN_UNREAD_TIMEOUT);
        assert_state(diagnostics->thresholds, PN_KNOWN);
}

static void test_sfp_cut(void **state)
{
        Memory memory = sfp_monitored(0x67, 850);
        PnModulePages pages = pages_of(&memory);
        _cleanup_module_ PnModule module = {0};

        (void)state;
        pages.area[PN_MODULE_LOWER] =
            (PnModulePage){.bytes = memory.bytes, .n = 40, .reason = PN_UNREAD_IO};
        module = decode_pages(&pages);
        assert_text(&module.status, "present");
        assert_text(&module.standard, "SFF-8472");
        assert_text(&module.vendor, "EXAMPLE");
        assert_text(&module.oui, "00:17:6a");
        assert_state(module.part_number, PN_UNREAD_IO);
        assert_state(module.form, PN_UNREAD_IO);
        assert_state(module.type, PN_UNREAD_IO);
        assert_state(module.lengths, PN_UNREAD_IO);
        assert_state(module.wavelength_nm, PN_UNREAD_IO);
        assert_state(module.nominal_mbd, PN_UNREAD_IO);
        assert_state(module.checksum_ok, PN_UNREAD_IO);
        assert_state(module.diagnostics, PN_UNREAD_IO);
}

/* --- SFF-8636 -------------------------------------------------------------------------------- */

static void sum_qsfp(Memory *memory)
{
        put_sum(memory, 128, 191);
        put_sum(memory, 192, 223);
}

/* 100GBASE-SR4 with page 03h. */
static Memory qsfp(void)
{
        Memory memory = {.n = 640};

        put8(&memory, 0, 0x11);
        put8(&memory, 1, 0x08);
        put16(&memory, 22, 0x2300);
        put16(&memory, 26, 33000);
        for (size_t i = 0; i < 4; i++) {
                put16(&memory, 34 + 2 * i, 5000 + (int)i);
                put16(&memory, 42 + 2 * i, 3000 + (int)i);
                put16(&memory, 50 + 2 * i, 6000 + (int)i);
        }
        put8(&memory, 128, 0x11);
        put8(&memory, 130, 0x0c);
        put8(&memory, 131, 0x80);
        put8(&memory, 140, 0xff);
        put8(&memory, 143, 35);
        put8(&memory, 146, 50);
        put_text(&memory, 148, 16, "EXAMPLE");
        put8(&memory, 166, 0x02);
        put8(&memory, 167, 0xc9);
        put_text(&memory, 168, 16, "PART-2");
        put_text(&memory, 184, 2, "A2");
        put16(&memory, 186, 17000);
        put8(&memory, 192, 0x02);
        put8(&memory, 195, 0x08);
        put_text(&memory, 196, 16, "SERIAL0002");
        put_text(&memory, 212, 8, "180703");
        put8(&memory, 220, 0x3c);
        put8(&memory, 222, 103);
        sum_qsfp(&memory);
        put_limits(&memory, PAGE_03 + 128, 0x5000, 0xf600, 0x4600, 0);
        put_limits(&memory, PAGE_03 + 144, 35000, 31000, 34650, 31350);
        put_limits(&memory, PAGE_03 + 176, 34673, 467, 17378, 933);
        put_limits(&memory, PAGE_03 + 184, 4250, 2746, 4000, 3000);
        put_limits(&memory, PAGE_03 + 192, 34673, 724, 17378, 1445);
        return memory;
}

static void test_qsfp(void **state)
{
        Memory memory = qsfp();
        _cleanup_module_ PnModule module = decode(&memory);
        const PnModuleDiagnostics *diagnostics = module.diagnostics.v;
        const PnModuleThresholds *thresholds = diagnostics->thresholds.v;

        (void)state;
        assert_text(&module.form, "QSFP28");
        assert_text(&module.standard, "SFF-8636");
        assert_text(&module.vendor, "EXAMPLE");
        assert_text(&module.oui, "00:02:c9");
        assert_text(&module.part_number, "PART-2");
        assert_text(&module.revision, "A2");
        assert_text(&module.serial, "SERIAL0002");
        assert_text(&module.date_code, "180703");
        assert_text(&module.type, "100GBASE-SR4");
        assert_text(&module.connector, "MPO");
        assert_real(module.wavelength_nm, 850);
        assert_int_equal(pn_int_or(module.nominal_mbd, 0), 25750);
        assert_lengths(&module, "OM3 70, OM4 100");
        assert_true(pn_is_true(module.checksum_ok));
        assert_real(diagnostics->temperature_c, 35);
        assert_real(diagnostics->voltage_v, 3.3);
        assert_int_equal(diagnostics->lanes.n, 4);
        for (unsigned i = 0; i < 4; i++) {
                assert_real(diagnostics->lanes.v[i].rx_power_mw, (5000 + i) / 10000.0);
                assert_real(diagnostics->lanes.v[i].tx_power_mw, (6000 + i) / 10000.0);
                assert_real(diagnostics->lanes.v[i].bias_ma, (3000 + i) / 500.0);
        }
        assert_limits(thresholds->temperature.state, thresholds->temperature.v, 80, -10, 70, 0);
        assert_limits(thresholds->voltage.state, thresholds->voltage.v, 3.5, 3.1, 3.465, 3.135);
        assert_limits(thresholds->rx_power.state, thresholds->rx_power.v, 3.4673, 0.0467, 1.7378,
                      0.0933);
        assert_limits(thresholds->bias.state, thresholds->bias.v, 8.5, 5.492, 8, 6);
        assert_limits(thresholds->tx_power.state, thresholds->tx_power.v, 3.4673, 0.0724, 1.7378,
                      0.1445);
        assert_flags(diagnostics, "");
}

static void test_qsfp_flags(void **state)
{
        Memory memory = qsfp();
        _cleanup_module_ PnModule module = {0};

        (void)state;
        put8(&memory, 3, 0xf5);  /* no light on 1 and 3; what the host sends is its business */
        put8(&memory, 4, 0x02);  /* transmitter 2 */
        put8(&memory, 6, 0x81);  /* temperature high; it has been initialised */
        put8(&memory, 7, 0x10);  /* voltage low warning */
        put8(&memory, 9, 0x52);  /* rx: lane 1 low alarm and warning, lane 2 high warning */
        put8(&memory, 12, 0x08); /* bias: lane 4 high alarm */
        put8(&memory, 14, 0x40); /* tx: lane 3 low alarm */
        module = decode(&memory);
        assert_flags(module.diagnostics.v,
                     "rx_los_1 tx_fault_2 rx_los_3 temperature_high_alarm voltage_low_warning "
                     "rx_power_low_alarm_1 rx_power_low_warning_1 rx_power_high_warning_2 "
                     "bias_high_alarm_4 tx_power_low_alarm_3");
}

/* Drivers that hand out 256 bytes, and modules that have no more. */
static void test_qsfp_without_page_03(void **state)
{
        Memory memory = qsfp();
        _cleanup_module_ PnModule unread = {0}, flat = {0};
        PnModulePages pages;

        (void)state;
        memory.n = 256;
        put8(&memory, 9, 0x50);
        unread = decode(&memory);
        assert_state(unread.diagnostics.v->thresholds, PN_UNREAD_UNSUPPORTED);
        /* The module knows its limits, though they were not read. */
        assert_flags(unread.diagnostics.v, "rx_power_low_alarm_1 rx_power_low_warning_1");

        put8(&memory, 2, 0x04);
        memory.n = 640;
        flat = decode(&memory);
        assert_state(flat.diagnostics.v->thresholds, PN_ABSENT);
        assert_flags(flat.diagnostics.v, "");

        pages = pages_of(&memory);
        assert_int_equal(pn_module_wanted(&pages, false),
                         1u << PN_MODULE_LOWER | 1u << PN_MODULE_PAGE_00);
        put8(&memory, 2, 0);
        assert_int_equal(pn_module_wanted(&pages, false),
                         1u << PN_MODULE_LOWER | 1u << PN_MODULE_PAGE_00 | 1u << PN_MODULE_PAGE_03);
        assert_int_equal(pn_module_wanted(&pages, true), 1u << PN_MODULE_LOWER);
}

static void test_qsfp_single_lambda(void **state)
{
        Memory memory = qsfp();
        _cleanup_module_ PnModule module = {0}, masked = {0};

        (void)state;
        put8(&memory, 192, 0x25);
        put8(&memory, 147, 0x60);
        put16(&memory, 186, 26200);
        put8(&memory, 142, 2);
        put8(&memory, 146, 0);
        memset(memory.bytes + 36, 0, 6); /* lanes 2 to 4 of everything */
        memset(memory.bytes + 44, 0, 6);
        memset(memory.bytes + 52, 0, 6);
        put8(&memory, 9, 0x55);
        module = decode(&memory);
        assert_text(&module.type, "100GBASE-DR");
        assert_real(module.wavelength_nm, 1310);
        assert_lengths(&module, "SMF 2000, OM3 70");
        assert_int_equal(module.diagnostics.v->lanes.n, 1);
        assert_flags(module.diagnostics.v, "rx_power_low_alarm rx_power_low_warning");

        put8(&memory, 192, 0x02);
        put8(&memory, 113, 0x0c); /* lanes 3 and 4 are not implemented */
        masked = decode(&memory);
        assert_int_equal(masked.diagnostics.v->lanes.n, 2);
        assert_real(masked.diagnostics.v->lanes.v[1].rx_power_mw, 0);
}

static Memory qsfp_dac(void)
{
        Memory memory = qsfp();

        put8(&memory, 130, 0x23);
        put8(&memory, 143, 0);
        put8(&memory, 146, 1);
        put8(&memory, 147, 0xa0);
        put16(&memory, 186, 0x0608); /* attenuations */
        put8(&memory, 192, 0x0b);
        put8(&memory, 220, 0);
        sum_qsfp(&memory);
        return memory;
}

static void test_qsfp_dac(void **state)
{
        Memory memory = qsfp_dac();
        _cleanup_module_ PnModule module = {0}, zeros = {0};

        (void)state;
        memset(memory.bytes + 34, 0, 24);
        module = decode(&memory);
        assert_text(&module.type, "passive copper");
        assert_text(&module.connector, "none");
        assert_state(module.wavelength_nm, PN_ABSENT);
        assert_lengths(&module, "copper 1");
        assert_real(module.diagnostics.v->temperature_c, 35);
        assert_state(module.diagnostics.v->lanes, PN_ABSENT);
        assert_state(module.diagnostics.v->thresholds.v->rx_power, PN_ABSENT);
        assert_state(module.diagnostics.v->thresholds.v->temperature, PN_KNOWN);

        memset(memory.bytes + 22, 0, 12);
        zeros = decode(&memory);
        assert_state(zeros.diagnostics, PN_ABSENT);
}

/* Two identifiers that disagree, and monitors of ones: it is a cable that works. */
static void test_qsfp_dac_ones(void **state)
{
        Memory memory = qsfp_dac();
        _cleanup_module_ PnModule module = {0};

        (void)state;
        memory.n = 256;
        memset(memory.bytes + 3, 0xff, 124);
        put8(&memory, 0, 0x0d);
        put8(&memory, 1, 0x00);
        put8(&memory, 2, 0x23); /* data not ready */
        put8(&memory, 86, 0x0f);
        module = decode(&memory);
        assert_text(&module.status, "present");
        assert_text(&module.form, "QSFP28");
        assert_text(&module.type, "passive copper");
        assert_lengths(&module, "copper 1");
        assert_state(module.diagnostics, PN_UNREAD_UNSUPPORTED);
}

static void test_qsfp_not_measured(void **state)
{
        Memory memory = qsfp();
        _cleanup_module_ PnModule no_tx = {0}, dark = {0}, nothing = {0}, zeros = {0}, early = {0};

        (void)state;
        memset(memory.bytes + 50, 0, 8);
        put8(&memory, 220, 0x38); /* it does not measure what it sends */
        no_tx = decode(&memory);
        assert_state(no_tx.diagnostics.v->lanes.v[0].tx_power_mw, PN_UNREAD_UNSUPPORTED);
        assert_real(no_tx.diagnostics.v->lanes.v[0].rx_power_mw, 0.5);

        memset(memory.bytes + 34, 0, 24);
        put8(&memory, 220, 0x3c);
        dark = decode(&memory);
        assert_real(dark.diagnostics.v->lanes.v[3].tx_power_mw, 0);
        assert_state(dark.diagnostics.v->lanes.v[3].tx_power_dbm, PN_ABSENT);
        assert_real(dark.diagnostics.v->lanes.v[3].bias_ma, 0);

        put8(&memory, 220, 0x30);
        nothing = decode(&memory);
        assert_real(nothing.diagnostics.v->temperature_c, 35);
        assert_state(nothing.diagnostics.v->lanes.v[0].rx_power_mw, PN_UNREAD_UNSUPPORTED);
        assert_state(nothing.diagnostics.v->lanes.v[0].bias_ma, PN_UNREAD_UNSUPPORTED);

        memset(memory.bytes + 22, 0, 6);
        zeros = decode(&memory);
        assert_state(zeros.diagnostics, PN_UNREAD_MALFORMED);

        memory = qsfp();
        put8(&memory, 2, 0x01);
        early = decode(&memory);
        assert_state(early.diagnostics, PN_UNREAD_TIMEOUT);
}

static void test_qsfp_types(void **state)
{
        static const struct {
                const char *type;
                uint8_t connector, ethernet, technology, compliance;
                const char *lengths; /* of 35, 0, 0 and 50 in bytes 143 to 146 */
        } cases[] = {
            {"40GBASE-SR4", 0x0c, 0x04, 0x00, 0, "OM3 70, OM4 100"},
            {"40GBASE-LR4", 0x07, 0x02, 0x40, 0, "OM3 70"},
            {"10GBASE-SR", 0x0c, 0x10, 0x00, 0, "OM3 70, OM4 100"},
            {"100GBASE-LR4", 0x07, 0x80, 0x40, 0x03, "OM3 70"},
            {"100G CWDM4", 0x07, 0x80, 0x40, 0x06, "OM3 70"},
            {"200GBASE-SR4", 0x0c, 0x80, 0x00, 0x41, "OM3 70, OM4 100"},
            {"passive copper", 0x23, 0x08, 0x00, 0, "copper 50"},
            {"active copper", 0x23, 0x80, 0xf0, 0x08, "copper 50"},
            {"active optical cable", 0x23, 0x80, 0x00, 0x18, "cable 50"},
            {"active optical cable", 0x23, 0x01, 0x00, 0, "cable 50"},
            {NULL, 0x0c, 0x00, 0x00, 0, "OM3 70, OM4 100"},
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                Memory memory = qsfp();
                _cleanup_module_ PnModule module = {0};

                put8(&memory, 130, cases[i].connector);
                put8(&memory, 131, cases[i].ethernet);
                put8(&memory, 147, cases[i].technology);
                put8(&memory, 192, cases[i].compliance);
                module = decode(&memory);
                assert_text(&module.type, cases[i].type);
                assert_lengths(&module, cases[i].lengths);
        }
}

static void test_qsfp_checksums(void **state)
{
        static const size_t wrong[] = {191, 223};

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(wrong); i++) {
                Memory memory = qsfp();
                _cleanup_module_ PnModule module = {0};

                memory.bytes[wrong[i]] ^= 0x10;
                module = decode(&memory);
                assert_state(module.checksum_ok, PN_KNOWN);
                assert_false(module.checksum_ok.v);
        }
}

static void test_qsfp_pages_unread(void **state)
{
        Memory memory = qsfp();
        PnModulePages pages = pages_of(&memory);
        _cleanup_module_ PnModule module = {0}, cut = {0};

        (void)state;
        pages.area[PN_MODULE_PAGE_00] = (PnModulePage){.reason = PN_UNREAD_IO};
        pages.area[PN_MODULE_PAGE_03] = (PnModulePage){.reason = PN_UNREAD_STUCK};
        module = decode_pages(&pages);
        assert_text(&module.form, "QSFP28");
        assert_state(module.vendor, PN_UNREAD_IO);
        assert_state(module.type, PN_UNREAD_IO);
        assert_state(module.connector, PN_UNREAD_IO);
        assert_state(module.checksum_ok, PN_UNREAD_IO);
        assert_real(module.diagnostics.v->temperature_c, 35);
        assert_state(module.diagnostics.v->lanes, PN_UNREAD_IO);
        assert_state(module.diagnostics.v->thresholds, PN_UNREAD_STUCK);

        pages = pages_of(&memory);
        pages.area[PN_MODULE_LOWER].n = 40;
        pages.area[PN_MODULE_LOWER].reason = PN_UNREAD_TIMEOUT;
        pages.area[PN_MODULE_PAGE_03].n = 40;
        cut = decode_pages(&pages);
        assert_real(cut.diagnostics.v->lanes.v[2].rx_power_mw, 0.5002);
        assert_state(cut.diagnostics.v->lanes.v[3].rx_power_mw, PN_UNREAD_TIMEOUT);
        assert_state(cut.diagnostics.v->lanes.v[0].bias_ma, PN_UNREAD_TIMEOUT);
        assert_state(cut.diagnostics.v->thresholds.v->voltage, PN_KNOWN);
        assert_state(cut.diagnostics.v->thresholds.v->rx_power, PN_UNREAD_UNSUPPORTED);
}

/* --- CMIS ------------------------------------------------------------------------------------ */

/* 400GBASE-DR4 in QSFP-DD, ready, with all pages. */
static Memory cmis(void)
{
        Memory memory = {.n = 768};

        put8(&memory, 0, 0x18);
        put8(&memory, 1, 0x40);
        put8(&memory, 3, 0x06);
        put16(&memory, 14, 0x1f08);
        put16(&memory, 16, 0x8103);
        put8(&memory, 85, 0x02);
        put8(&memory, 86, 0x11);
        put8(&memory, 87, 0x1c);
        put8(&memory, 88, 0x84);
        put8(&memory, 89, 0x01);
        put8(&memory, 90, 0x0d);
        put8(&memory, 91, 0x15);
        put8(&memory, 94, 0xff);
        put8(&memory, 128, 0x18);
        put_text(&memory, 129, 16, "EXAMPLE");
        put8(&memory, 146, 0x17);
        put8(&memory, 147, 0x6a);
        put_text(&memory, 148, 16, "PART-3");
        put_text(&memory, 164, 2, "01");
        put_text(&memory, 166, 16, "SERIAL0003");
        put_text(&memory, 182, 8, "201007");
        put8(&memory, 203, 0x0c);
        put8(&memory, 210, 0xf0);
        put8(&memory, 212, 0x06);
        put8(&memory, PAGE_01 + 132, 0x05); /* 0.5 km */
        put16(&memory, PAGE_01 + 138, 26220);
        put8(&memory, PAGE_01 + 159, 0x03);
        put8(&memory, PAGE_01 + 160, 0x0f); /* bias in units of 4 µA */
        put_limits(&memory, PAGE_02 + 128, 0x4b00, 0xfb00, 0x4600, 0);
        put_limits(&memory, PAGE_02 + 136, 36000, 30000, 35000, 31000);
        put_limits(&memory, PAGE_02 + 176, 34673, 724, 17378, 1445);
        put_limits(&memory, PAGE_02 + 184, 50000, 5000, 45000, 10000);
        put_limits(&memory, PAGE_02 + 192, 34673, 467, 17378, 933);
        for (size_t i = 0; i < 8; i++) {
                put16(&memory, PAGE_11 + 154 + 2 * i, 19422 + (int)i);
                put16(&memory, PAGE_11 + 170 + 2 * i, 22471 + (int)i);
                put16(&memory, PAGE_11 + 186 + 2 * i, 18259 + (int)i);
        }
        put_sum(&memory, 128, 222);
        put_sum(&memory, PAGE_01 + 130, PAGE_01 + 255);
        put_sum(&memory, PAGE_02 + 128, PAGE_02 + 255);
        return memory;
}

static void test_cmis(void **state)
{
        Memory memory = cmis();
        _cleanup_module_ PnModule module = decode(&memory);
        const PnModuleDiagnostics *diagnostics = module.diagnostics.v;
        const PnModuleThresholds *thresholds = diagnostics->thresholds.v;

        (void)state;
        assert_text(&module.form, "QSFP-DD");
        assert_text(&module.standard, "CMIS");
        assert_text(&module.vendor, "EXAMPLE");
        assert_text(&module.oui, "00:17:6a");
        assert_text(&module.part_number, "PART-3");
        assert_text(&module.revision, "01");
        assert_text(&module.serial, "SERIAL0003");
        assert_text(&module.date_code, "201007");
        assert_text(&module.type, "400GBASE-DR4");
        assert_text(&module.connector, "MPO");
        assert_real(module.wavelength_nm, 1311);
        assert_state(module.nominal_mbd, PN_ABSENT);
        assert_lengths(&module, "SMF 500");
        assert_true(pn_is_true(module.checksum_ok));
        assert_real(diagnostics->temperature_c, 31.03125);
        assert_real(diagnostics->voltage_v, 3.3027);
        assert_int_equal(diagnostics->lanes.n, 4);
        for (unsigned i = 0; i < 4; i++) {
                assert_real(diagnostics->lanes.v[i].tx_power_mw, (19422 + i) / 10000.0);
                assert_real(diagnostics->lanes.v[i].rx_power_mw, (18259 + i) / 10000.0);
                assert_real(diagnostics->lanes.v[i].bias_ma, (22471 + i) / 250.0);
        }
        assert_limits(thresholds->temperature.state, thresholds->temperature.v, 75, -5, 70, 0);
        assert_limits(thresholds->voltage.state, thresholds->voltage.v, 3.6, 3, 3.5, 3.1);
        assert_limits(thresholds->tx_power.state, thresholds->tx_power.v, 3.4673, 0.0724, 1.7378,
                      0.1445);
        assert_limits(thresholds->bias.state, thresholds->bias.v, 200, 20, 180, 40);
        assert_limits(thresholds->rx_power.state, thresholds->rx_power.v, 3.4673, 0.0467, 1.7378,
                      0.0933);
        assert_flags(diagnostics, "");
}

static void test_cmis_flags(void **state)
{
        Memory memory = cmis();
        _cleanup_module_ PnModule module = {0};

        (void)state;
        put8(&memory, 9, 0x61);             /* temperature high alarm; voltage low alarm, high w. */
        put8(&memory, PAGE_11 + 135, 0x02); /* transmitter 2 */
        put8(&memory, PAGE_11 + 139, 0x01); /* tx: lane 1 high alarm */
        put8(&memory, PAGE_11 + 146, 0x08); /* bias: lane 4 low warning */
        put8(&memory, PAGE_11 + 147, 0x1c); /* no light on 3 and 4; there is no lane 5 */
        put8(&memory, PAGE_11 + 150, 0x0c); /* rx: lanes 3 and 4 low alarm */
        put8(&memory, PAGE_11 + 152, 0xfc); /* and low warning */
        module = decode(&memory);
        assert_flags(module.diagnostics.v,
                     "temperature_high_alarm voltage_low_alarm voltage_high_warning tx_fault_2 "
                     "rx_los_3 rx_los_4 rx_power_low_alarm_3 rx_power_low_warning_3 "
                     "rx_power_low_alarm_4 rx_power_low_warning_4 bias_low_warning_4 "
                     "tx_power_high_alarm_1");
}

/* Pages that a driver fills with zeros for want of better are no pages. */
static void test_cmis_pages_blank(void **state)
{
        Memory memory = cmis();
        _cleanup_module_ PnModule module = {0};

        (void)state;
        memset(memory.bytes + PAGE_01 + 128, 0, 256);
        module = decode(&memory);
        assert_real(module.diagnostics.v->temperature_c, 31.03125);
        assert_state(module.wavelength_nm, PN_UNREAD_MALFORMED);
        assert_state(module.lengths, PN_UNREAD_MALFORMED);
        assert_state(module.diagnostics.v->lanes.v[0].bias_ma, PN_UNREAD_MALFORMED);
        assert_real(module.diagnostics.v->lanes.v[0].tx_power_mw, 1.9422);
}

/* 256 bytes: what the pages would tell is unread, and bias cannot be told without its unit. */
static void test_cmis_pages_unread(void **state)
{
        Memory memory = cmis();
        PnModulePages pages = pages_of(&memory);
        _cleanup_module_ PnModule alone = {0}, lanes = {0};
        const PnModuleDiagnostics *diagnostics;

        (void)state;
        pages.area[PN_MODULE_PAGE_01] = (PnModulePage){.reason = PN_UNREAD_IO};
        pages.area[PN_MODULE_PAGE_02] = (PnModulePage){.reason = PN_UNREAD_TIMEOUT};
        put16(&memory, PAGE_11 + 186, 0);
        lanes = decode_pages(&pages);
        diagnostics = lanes.diagnostics.v;
        assert_state(lanes.wavelength_nm, PN_UNREAD_IO);
        assert_state(lanes.lengths, PN_UNREAD_IO);
        assert_real(diagnostics->lanes.v[0].tx_power_mw, 1.9422);
        assert_state(diagnostics->lanes.v[0].bias_ma, PN_UNREAD_IO);
        /* Dark or not measured: page 01h would say. */
        assert_state(diagnostics->lanes.v[0].rx_power_mw, PN_UNREAD_IO);
        assert_state(diagnostics->thresholds, PN_UNREAD_TIMEOUT);

        memory.n = 256;
        alone = decode(&memory);
        assert_text(&alone.type, "400GBASE-DR4");
        assert_real(alone.diagnostics.v->temperature_c, 31.03125);
        assert_state(alone.diagnostics.v->lanes, PN_UNREAD_UNSUPPORTED);
        assert_state(alone.diagnostics.v->thresholds, PN_UNREAD_UNSUPPORTED);
}

static void test_cmis_not_measured(void **state)
{
        Memory memory = cmis();
        _cleanup_module_ PnModule none = {0}, dark = {0}, reserved = {0};

        (void)state;
        memset(memory.bytes + PAGE_11 + 186, 0, 16);
        dark = decode(&memory);
        assert_real(dark.diagnostics.v->lanes.v[0].rx_power_mw, 0);
        assert_state(dark.diagnostics.v->lanes.v[0].rx_power_dbm, PN_ABSENT);

        put8(&memory, PAGE_01 + 159, 0);
        put8(&memory, PAGE_01 + 160, 0);
        none = decode(&memory);
        assert_state(none.diagnostics.v->temperature_c, PN_UNREAD_UNSUPPORTED);
        assert_state(none.diagnostics.v->lanes.v[0].rx_power_mw, PN_UNREAD_UNSUPPORTED);
        assert_state(none.diagnostics.v->lanes.v[0].bias_ma, PN_UNREAD_UNSUPPORTED);

        put8(&memory, PAGE_01 + 160, 0x1f); /* a unit that is reserved */
        reserved = decode(&memory);
        assert_state(reserved.diagnostics.v->lanes.v[0].bias_ma, PN_UNREAD_MALFORMED);
        assert_state(reserved.diagnostics.v->thresholds.v->bias, PN_UNREAD_MALFORMED);
}

static void test_cmis_states(void **state)
{
        static const struct {
                uint8_t byte;
                PnState lanes;
                const char *flags;
        } cases[] = {
            {1 << 1, PN_UNREAD_ASLEEP, ""},
            {2 << 1, PN_UNREAD_TIMEOUT, ""},
            {3 << 1, PN_KNOWN, ""},
            {4 << 1, PN_UNREAD_ASLEEP, ""},
            {5 << 1, PN_UNREAD_UNSUPPORTED, "module_fault"},
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                Memory memory = cmis();
                _cleanup_module_ PnModule module = {0};

                put8(&memory, 3, cases[i].byte);
                module = decode(&memory);
                assert_state(module.diagnostics.v->lanes, cases[i].lanes);
                assert_flags(module.diagnostics.v, cases[i].flags);
                assert_real(module.diagnostics.v->temperature_c, 31.03125);
        }
}

static void test_cmis_cables(void **state)
{
        static const struct {
                uint8_t media, technology, length;
                const char *type, *lengths;
        } cases[] = {
            {3, 0x0a, 0x05, "passive copper", "copper 0.5"},
            {3, 0x00, 0x42, "passive copper", "copper 2"},
            {4, 0x0c, 0x43, "active copper", "copper 3"},
            {4, 0x00, 0x85, "active optical cable", "cable 50"},
            {5, 0x00, 0x00, "10GBASE-T", ""},
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                Memory memory = cmis();
                _cleanup_module_ PnModule module = {0};

                put8(&memory, 85, cases[i].media);
                put8(&memory, 87, 0x04);
                put8(&memory, 202, cases[i].length);
                put8(&memory, 212, cases[i].technology);
                module = decode(&memory);
                assert_text(&module.type, cases[i].type);
                assert_lengths(&module, cases[i].lengths);
        }
}

static void test_cmis_flat(void **state)
{
        Memory memory = cmis();
        PnModulePages pages = pages_of(&memory);
        _cleanup_module_ PnModule module = {0}, ones = {0};

        (void)state;
        assert_int_equal(pn_module_wanted(&pages, false),
                         1u << PN_MODULE_LOWER | 1u << PN_MODULE_PAGE_00 | 1u << PN_MODULE_PAGE_01 |
                             1u << PN_MODULE_PAGE_02 | 1u << PN_MODULE_PAGE_11);
        assert_int_equal(pn_module_wanted(&pages, true),
                         1u << PN_MODULE_LOWER | 1u << PN_MODULE_PAGE_11);
        put8(&memory, 2, 0x80);
        assert_int_equal(pn_module_wanted(&pages, false),
                         1u << PN_MODULE_LOWER | 1u << PN_MODULE_PAGE_00);

        put8(&memory, 85, 3);
        put8(&memory, 202, 0x43);
        memset(memory.bytes + 14, 0, 4);
        module = decode(&memory);
        assert_text(&module.type, "passive copper");
        assert_state(module.diagnostics, PN_ABSENT);
        memset(memory.bytes + 14, 0xff, 4);
        ones = decode(&memory);
        assert_state(ones.diagnostics, PN_UNREAD_UNSUPPORTED);
}

static void test_cmis_checksums(void **state)
{
        static const size_t wrong[] = {222, PAGE_01 + 255, PAGE_02 + 255};

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(wrong); i++) {
                Memory memory = cmis();
                _cleanup_module_ PnModule module = {0};

                memory.bytes[wrong[i]] ^= 0x80;
                module = decode(&memory);
                assert_state(module.checksum_ok, PN_KNOWN);
                assert_false(module.checksum_ok.v);
        }
}

/* --- the choice of a map ---------------------------------------------------------------------- */

static void test_identifiers(void **state)
{
        static const struct {
                uint8_t identifier;
                const char *status, *form, *standard;
        } cases[] = {
            {0x02, "present", "SFF", "SFF-8472"},
            {0x03, "present", "SFP", "SFF-8472"},
            {0x0c, "present", "QSFP", "SFF-8636"},
            {0x0d, "present", "QSFP+", "SFF-8636"},
            {0x11, "present", "QSFP28", "SFF-8636"},
            {0x18, "present", "QSFP-DD", "CMIS"},
            {0x19, "present", "OSFP", "CMIS"},
            {0x1b, "present", "DSFP", "CMIS"},
            {0x1e, "present", "QSFP56", "CMIS"},
            {0x1f, "present", "SFP-DD", "CMIS"},
            {0x06, "unsupported_map", "XFP", NULL},
            {0x1a, "unsupported_map", "SFP-DD", NULL},
            {0x7f, "unsupported_map", "identifier 0x7f", NULL},
        };

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                Memory memory = {.n = 256};
                _cleanup_module_ PnModule module = {0};

                put8(&memory, 0, cases[i].identifier);
                put_text(&memory, 20, 32, "NO TEXT OF THIS IS DECODED");
                module = decode(&memory);
                assert_text(&module.status, cases[i].status);
                assert_text(&module.form, cases[i].form);
                if (cases[i].standard)
                        assert_text(&module.standard, cases[i].standard);
                else {
                        assert_state(module.standard, PN_UNREAD_UNSUPPORTED);
                        assert_state(module.vendor, PN_UNREAD_UNSUPPORTED);
                        assert_state(module.diagnostics, PN_UNREAD_UNSUPPORTED);
                }
        }
}

static void test_unreadable(void **state)
{
        static const struct {
                PnState reason;
                const char *status;
        } cases[] = {
            {PN_UNREAD_PERMISSION, "permission_denied"},
            {PN_UNREAD_UNSUPPORTED, "unsupported_by_driver"},
            {PN_UNREAD_TIMEOUT, "unreadable"},
            {PN_UNREAD_IO, "unreadable"},
        };
        static const uint8_t blank[] = {0x00, 0xff};

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(cases); i++) {
                PnModulePages pages = {{{.reason = cases[i].reason}}};
                _cleanup_module_ PnModule module = decode_pages(&pages);

                assert_text(&module.status, cases[i].status);
                assert_state(module.form, cases[i].reason);
                assert_state(module.serial, cases[i].reason);
                assert_state(module.lengths, cases[i].reason);
                assert_state(module.diagnostics, cases[i].reason);
        }
        for (size_t i = 0; i < PN_ELEMENTS(blank); i++) {
                Memory memory = {.n = 256};
                _cleanup_module_ PnModule module = {0};

                memset(memory.bytes, blank[i], memory.n);
                module = decode(&memory);
                assert_text(&module.status, "unreadable");
                assert_state(module.vendor, PN_UNREAD_MALFORMED);
        }
}

static void test_flat(void **state)
{
        uint8_t bytes[1024] = {0x03};
        PnModulePages pages;

        (void)state;
        assert_int_equal(pn_module_from_flat(bytes, 0, &pages), -EINVAL);
        assert_int_equal(pn_module_from_flat(NULL, 0, &pages), -EINVAL);

        assert_int_equal(pn_module_from_flat(bytes, 1024, &pages), 0);
        assert_int_equal(pages.area[PN_MODULE_LOWER].n, 256);
        assert_int_equal(pages.area[PN_MODULE_A2].n, 256);
        assert_ptr_equal(pages.area[PN_MODULE_A2].bytes, bytes + 256);
        assert_int_equal(pages.area[PN_MODULE_PAGE_00].n, 0);
        assert_int_equal(pn_module_from_flat(bytes, 96, &pages), 0);
        assert_int_equal(pages.area[PN_MODULE_LOWER].n, 96);
        assert_int_equal(pages.area[PN_MODULE_A2].n, 0);

        bytes[0] = 0x11;
        assert_int_equal(pn_module_from_flat(bytes, 640, &pages), 0);
        assert_int_equal(pages.area[PN_MODULE_LOWER].n, 128);
        assert_ptr_equal(pages.area[PN_MODULE_PAGE_03].bytes, bytes + 512);
        assert_int_equal(pages.area[PN_MODULE_PAGE_03].n, 128);
        assert_int_equal(pages.area[PN_MODULE_PAGE_11].n, 0);
        assert_int_equal(pn_module_from_flat(bytes, 300, &pages), 0);
        assert_int_equal(pages.area[PN_MODULE_PAGE_01].n, 44);
        assert_int_equal(pages.area[PN_MODULE_PAGE_02].n, 0);
}

static void test_wanted(void **state)
{
        Memory memory = sfp_monitored(0x67, 850);
        PnModulePages pages = {0};

        (void)state;
        assert_int_equal(pn_module_wanted(&pages, false), 1u << PN_MODULE_LOWER);
        assert_int_equal(pn_module_wanted(&pages, true), 1u << PN_MODULE_LOWER);
        pages.area[PN_MODULE_LOWER] = (PnModulePage){.bytes = memory.bytes, .n = 128};
        assert_int_equal(pn_module_wanted(&pages, false),
                         1u << PN_MODULE_LOWER | 1u << PN_MODULE_A2);
        assert_int_equal(pn_module_wanted(&pages, true), 1u << PN_MODULE_A2);
        put8(&memory, 92, 0x6c);
        assert_int_equal(pn_module_wanted(&pages, true), 0);
        put8(&memory, 0, 0x06);
        assert_int_equal(pn_module_wanted(&pages, false), 1u << PN_MODULE_LOWER);
        assert_int_equal(pn_module_wanted(&pages, true), 0);
}

/* Of a module whose pages are kept: the bytes that tell it from another, and those that change. */
static void test_spans(void **state)
{
        const Memory memories[] = {sfp_monitored(0x67, 850), qsfp(), cmis()};
        const PnModuleSpan serials[] = {
            {PN_MODULE_LOWER, 63, 33}, {PN_MODULE_PAGE_00, 191, 33}, {PN_MODULE_PAGE_00, 128, 128}};
        PnModulePages pages = {0};
        PnModuleSpan span;

        (void)state;
        assert_int_equal(pn_module_serial(&pages).n, 0);
        for (size_t i = 0; i < PN_ELEMENTS(memories); i++) {
                assert_int_equal(pn_module_from_flat(memories[i].bytes, memories[i].n, &pages), 0);
                span = pn_module_serial(&pages);
                assert_int_equal(span.area, serials[i].area);
                assert_int_equal(span.at, serials[i].at);
                assert_int_equal(span.n, serials[i].n);
                /* Five areas at most: what a port may be asked in a run depends on it. */
                assert_true(__builtin_popcount(pn_module_wanted(&pages, false)) <= 5);
        }
        span = pn_module_readings(PN_MODULE_A2);
        assert_int_equal(span.at, 96);
        assert_int_equal(span.n, 22);
        span = pn_module_readings(PN_MODULE_LOWER);
        assert_true(span.at == 0 && span.n == 128);
        span = pn_module_readings(PN_MODULE_PAGE_11);
        assert_true(span.at == 128 && span.n == 128);
}

/* Every cut of every map, and every reason: nothing that was not read is a number. */
static void test_every_cut(void **state)
{
        const Memory memories[] = {sfp_monitored(0x67, 850), qsfp(), cmis()};

        (void)state;
        for (size_t i = 0; i < PN_ELEMENTS(memories); i++) {
                const Memory *memory = &memories[i];

                for (size_t n = 1; n <= memory->n; n++) {
                        _cleanup_free_ uint8_t *exact = malloc(n);
                        _cleanup_module_ PnModule module = {0};
                        PnModulePages pages;

                        assert_non_null(exact);
                        memcpy(exact, memory->bytes, n);
                        assert_int_equal(pn_module_from_flat(exact, n, &pages), 0);
                        for (PnModuleArea a = 0; a < PN_N_MODULE_AREAS; a++)
                                pages.area[a].reason = PN_UNREAD_TIMEOUT;
                        module = decode_pages(&pages);
                        assert_true(module.serial.state == PN_KNOWN ||
                                    module.serial.state == PN_UNREAD_TIMEOUT);
                        if (module.diagnostics.state == PN_KNOWN)
                                assert_true(module.diagnostics.v->voltage_v.state ==
                                                PN_UNREAD_TIMEOUT ||
                                            module.diagnostics.v->voltage_v.v > 3);
                        else
                                assert_state(module.diagnostics, PN_UNREAD_TIMEOUT);
                }
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_sfp_identity),
            cmocka_unit_test(test_lrm),
            cmocka_unit_test(test_sfp_types),
            cmocka_unit_test(test_sfp_cable),
            cmocka_unit_test(test_sfp_base_t_liar),
            cmocka_unit_test(test_sfp_lengths_and_rate),
            cmocka_unit_test(test_sfp_checksums),
            cmocka_unit_test(test_sfp_texts),
            cmocka_unit_test(test_sfp_internal),
            cmocka_unit_test(test_sfp_power),
            cmocka_unit_test(test_sfp_dark),
            cmocka_unit_test(test_sfp_negative_temperature),
            cmocka_unit_test(test_sfp_external),
            cmocka_unit_test(test_sfp_external_malformed),
            cmocka_unit_test(test_sfp_flags),
            cmocka_unit_test(test_nonsense_limits),
            cmocka_unit_test(test_all_limits_nonsense),
            cmocka_unit_test(test_sfp_nothing_measured),
            cmocka_unit_test(test_sfp_a2_unread),
            cmocka_unit_test(test_sfp_cut),
            cmocka_unit_test(test_qsfp),
            cmocka_unit_test(test_qsfp_flags),
            cmocka_unit_test(test_qsfp_without_page_03),
            cmocka_unit_test(test_qsfp_single_lambda),
            cmocka_unit_test(test_qsfp_dac),
            cmocka_unit_test(test_qsfp_dac_ones),
            cmocka_unit_test(test_qsfp_not_measured),
            cmocka_unit_test(test_qsfp_types),
            cmocka_unit_test(test_qsfp_checksums),
            cmocka_unit_test(test_qsfp_pages_unread),
            cmocka_unit_test(test_cmis),
            cmocka_unit_test(test_cmis_flags),
            cmocka_unit_test(test_cmis_pages_unread),
            cmocka_unit_test(test_cmis_pages_blank),
            cmocka_unit_test(test_cmis_not_measured),
            cmocka_unit_test(test_cmis_states),
            cmocka_unit_test(test_cmis_cables),
            cmocka_unit_test(test_cmis_flat),
            cmocka_unit_test(test_cmis_checksums),
            cmocka_unit_test(test_identifiers),
            cmocka_unit_test(test_unreadable),
            cmocka_unit_test(test_flat),
            cmocka_unit_test(test_wanted),
            cmocka_unit_test(test_spans),
            cmocka_unit_test(test_every_cut),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
