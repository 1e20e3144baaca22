/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes the memory map of SFP, SFP+, SFP28 and cables of that form (SNIA SFF-8472, revision
 * 12.4). Knows the bytes that were read, not how. */
#include "sff8472.h"

#include <math.h>

#include "sff8024.h"

#define A0 PN_MODULE_LOWER
#define A2 PN_MODULE_A2

/* A0h, 4.1 to 8.13. */
#define CONNECTOR     2u
#define ETHERNET_10G  3u /* and InfiniBand copper in the low bits */
#define ETHERNET_1G   6u
#define CABLE         8u /* cable technology in bits 3 and 2 */
#define RATE          12u
#define LENGTH_KM     14u
#define LENGTH_100M   15u
#define LENGTH_OM2    16u
#define LENGTH_OM1    17u
#define LENGTH_COPPER 18u /* of a cable, metres; else OM4, 10 m */
#define LENGTH_OM3    19u
#define VENDOR        20u
#define COMPLIANCE    36u
#define OUI           37u
#define PART          40u
#define REVISION      56u
#define WAVELENGTH    60u /* of a cable, what it complies with */
#define CC_BASE       63u
#define OPTIONS       64u
#define RATE_250      66u
#define SERIAL        68u
#define DATE          84u
#define MONITORING    92u
#define ENHANCED      93u
#define CC_EXT        95u

#define ETHERNET_10G_ER  0x80u
#define ETHERNET_10G_LRM 0x40u
#define ETHERNET_10G_LR  0x20u
#define ETHERNET_10G_SR  0x10u
#define ETHERNET_10G_ALL 0xf0u
#define IB_ACTIVE        0x02u
#define IB_PASSIVE       0x01u
#define ETHERNET_1G_T    0x08u

#define CABLE_ACTIVE  0x08u
#define CABLE_PASSIVE 0x04u

#define OPTION_TUNABLE      0x40u /* byte 65, as the next */
#define OPTION_LOS_INVERTED 0x04u

#define MONITORING_DDM            0x40u
#define MONITORING_EXTERNAL       0x10u
#define MONITORING_ADDRESS_CHANGE 0x04u

#define ENHANCED_FLAGS    0x80u
#define ENHANCED_TX_FAULT 0x20u
#define ENHANCED_RX_LOS   0x10u

/* A2h, 9.1 to 9.11. */
#define LIMITS      0u /* of temperature, voltage, bias, transmitted and received power, 8 each */
#define CALIBRATION 56u
#define CC_DMI      95u
#define READINGS    96u
#define STATUS      110u
#define ALARMS      112u
#define WARNINGS    116u

#define STATUS_TX_FAULT  0x04u
#define STATUS_RX_LOS    0x02u
#define STATUS_NOT_READY 0x01u

const PnModuleSpan pn_sff8472_serial = {A0, CC_BASE, CC_EXT + 1 - CC_BASE};
const PnModuleSpan pn_sff8472_readings = {A2, READINGS, WARNINGS + 2 - READINGS};

/* In the order in which A2h has them. */
typedef enum Quantity { TEMPERATURE, VOLTAGE, BIAS, TX_POWER, RX_POWER, N_QUANTITIES } Quantity;

/* How far 10GBASE-LRM reaches: IEEE 802.3, 68.5, gives 220 m for OM1, OM2 and OM3 alike. */
#define LRM_METRES 220

/* What a module is, whatever it claims. */
typedef struct Identity {
        PnSffKind kind;
        const char *type;   /* static; NULL if nothing tells */
        const char *suffix; /* " BiDi", " DWDM" or "" */
} Identity;

static uint8_t a0(const PnModulePages *pages, size_t at)
{
        return pn_module_u8(pages, A0, at);
}

static bool between(unsigned value, unsigned low, unsigned high)
{
        return value >= low && value <= high;
}

/* Passive optical network sticks look like an Ethernet transceiver to the host and say so; what
 * they are is known by name only. */
static const struct {
        const char *part;
        const char *type;
} sticks[] = {
    {"3FE46541AA", "GPON"},        {"DFP-34X-2C2", "GPON"},
    {"DFP-34X-2C3", "GPON"},       {"G-010S-A", "GPON"},
    {"G-010S-P", "GPON"},          {"G010SP", "GPON"},
    {"GPON-ONU-34-20BI", "GPON"},  {"HL-GSFP", "GPON"},
    {"HPSP2120", "GPON"},          {"LTE3415-SCA+", "GPON"},
    {"MA5671A", "GPON"},           {"UF-INSTANT", "GPON"},
    {"WAS-110", "XGS-PON"},        {"XGS-ONU-25-20NI", "XGS-PON"},
    {"XGSFPP-OMAC-V1", "XGS-PON"}, {"ZXOS11NPI", "XGS-PON"},
};

/* Twisted-pair modules copy the identity of an optic, since hosts accept that, LC connector,
 * wavelength and all; their names still tell. Longer words first where one contains another. */
static const struct {
        const char *word;
        const char *type;
} twisted_pairs[] = {
    {"10GBASE-T", "10GBASE-T"},   {"10GM-T", "10GBASE-T"},      {"10G-T", "10GBASE-T"},
    {"RTSFP-10", "10GBASE-T"},    {"RTSFP-10G", "10GBASE-T"},   {"S+RJ10", "10GBASE-T"},
    {"2.5GBASE-T", "2.5GBASE-T"}, {"2.5G-T", "2.5GBASE-T"},     {"5GBASE-T", "5GBASE-T"},
    {"5G-T", "5GBASE-T"},         {"1000BASE-T", "1000BASE-T"}, {"1G-T", "1000BASE-T"},
    {"GE-T", "1000BASE-T"},
};

static bool is_letter(char c)
{
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

/* Whether `word` is in `text` and no letter follows it, nor a letter or digit precedes it. */
static bool has_word(const char *text, const char *word)
{
        const char *at = text;

        while ((at = strstr(at, word))) {
                if (!is_letter(at[strlen(word)]) &&
                    (at == text || !(is_letter(at[-1]) || is_digit(at[-1]))))
                        return true;
                at++;
        }
        return false;
}

/* MBd; 0 if the module does not say. */
static unsigned nominal_rate(const PnModulePages *pages)
{
        if (a0(pages, RATE) == 0xff)
                return a0(pages, RATE_250) * 250u;
        return a0(pages, RATE) * 100u;
}

/* A length byte; ffh means "more than 254 units", of which 254 are certain. */
static unsigned length(const PnModulePages *pages, size_t at)
{
        unsigned units = a0(pages, at);

        return units == 0xff ? 0xfe : units;
}

static unsigned single_mode_metres(const PnModulePages *pages)
{
        /* The finer of the two, unless it is at the end of its scale. */
        if (a0(pages, LENGTH_100M) != 0 && a0(pages, LENGTH_100M) != 0xff)
                return a0(pages, LENGTH_100M) * 100u;
        return length(pages, LENGTH_KM) * 1000;
}

static const char *twisted_pair_by_rate(unsigned mbd)
{
        return mbd >= 9000   ? "10GBASE-T"
               : mbd >= 4500 ? "5GBASE-T"
               : mbd >= 2000 ? "2.5GBASE-T"
               : mbd >= 900  ? "1000BASE-T"
                             : NULL;
}

/* Whether nothing but the cable's ends can be unplugged, and of what it is. */
static bool identify_cable(const PnModulePages *pages, PnSffKind *ret)
{
        const PnSffCompliance *compliance = pn_sff8024_compliance(a0(pages, COMPLIANCE));
        uint8_t connector = a0(pages, CONNECTOR), cable = a0(pages, CABLE);
        uint8_t ethernet_10g = a0(pages, ETHERNET_10G);

        if (cable & CABLE_PASSIVE) {
                *ret = PN_SFF_PASSIVE_COPPER;
                return true;
        }
        if (cable & CABLE_ACTIVE) {
                bool optical = (ethernet_10g & ETHERNET_10G_ALL) || connector == 0x07 ||
                               connector == PN_SFF_CONNECTOR_OPTICAL_PIGTAIL ||
                               (compliance && compliance->kind == PN_SFF_ACTIVE_OPTICAL);

                *ret = optical ? PN_SFF_ACTIVE_OPTICAL : PN_SFF_ACTIVE_COPPER;
                return true;
        }
        if (compliance && pn_sff8024_cable(compliance->kind)) {
                *ret = compliance->kind;
                return true;
        }
        if (connector == PN_SFF_CONNECTOR_OPTICAL_PIGTAIL) {
                *ret = PN_SFF_ACTIVE_OPTICAL;
                return true;
        }
        if (connector == PN_SFF_CONNECTOR_COPPER_PIGTAIL || connector == PN_SFF_CONNECTOR_NONE) {
                bool optical = connector == PN_SFF_CONNECTOR_NONE &&
                               ((ethernet_10g & ETHERNET_10G_ALL) ||
                                between(pn_module_u16(pages, A0, WAVELENGTH), 800, 1700));

                *ret = optical                    ? PN_SFF_ACTIVE_OPTICAL
                       : ethernet_10g & IB_ACTIVE ? PN_SFF_ACTIVE_COPPER
                                                  : PN_SFF_PASSIVE_COPPER;
                return true;
        }
        return false;
}

/* The type of an optic for 10 Gb/s: by its compliance bits, or, where it sets none, by wavelength
 * and reach. */
static const char *identify_10g(const PnModulePages *pages)
{
        unsigned nm = pn_module_u16(pages, A0, WAVELENGTH), metres = single_mode_metres(pages);
        uint8_t bits = a0(pages, ETHERNET_10G) & ETHERNET_10G_ALL;
        bool far = metres >= 70000, rate = between(nominal_rate(pages), 9800, 11800);

        if (bits & ETHERNET_10G_LRM)
                return "10GBASE-LRM";
        /* ZR is no standard of IEEE's, so that it has no bit and borrows another's. */
        if (bits & (ETHERNET_10G_ER | ETHERNET_10G_LR) && far)
                return "10GBASE-ZR";
        if (bits & ETHERNET_10G_ER)
                return "10GBASE-ER";
        if (bits & ETHERNET_10G_LR)
                return "10GBASE-LR";
        if (bits & ETHERNET_10G_SR)
                return "10GBASE-SR";

        if (!rate)
                return NULL;
        if (between(nm, 830, 870))
                return "10GBASE-SR";
        if (between(nm, 1260, 1360)) {
                if (metres >= 2000)
                        return "10GBASE-LR";
                if (a0(pages, LENGTH_OM1) || a0(pages, LENGTH_OM2) || a0(pages, LENGTH_OM3))
                        return "10GBASE-LRM";
        }
        if (between(nm, 1520, 1620) && metres >= 20000)
                return far ? "10GBASE-ZR" : "10GBASE-ER";
        return NULL;
}

static const char *identify_1g(const PnModulePages *pages)
{
        static const struct {
                uint8_t bit;
                const char *type;
        } bits[] = {
            {0x40, "1000BASE-BX10"}, {0x02, "1000BASE-LX"}, {0x01, "1000BASE-SX"},
            {0x04, "1000BASE-CX"},   {0x80, "1000BASE-PX"}, {0x10, "100BASE-LX10"},
            {0x20, "100BASE-FX"},
        };
        uint8_t set = a0(pages, ETHERNET_1G);

        if (set & 0x40 && between(nominal_rate(pages), 1, 500))
                return "100BASE-BX10";
        for (size_t i = 0; i < PN_ELEMENTS(bits); i++)
                if (set & bits[i].bit)
                        return bits[i].type;
        return NULL;
}

/* What a name adds to an optic's type. Wavelengths alone do not tell a single-fibre module from one
 * of coarse wavelength division. */
static const char *identify_suffix(const PnModulePages *pages, const char *type, const char *vendor,
                                   const char *part)
{
        static const char *const words[] = {"BIDI", "BiDi", "-BX",  "BX-", "BXD",
                                            "BXU",  "BX10", "BX20", "BX40"};
        unsigned nm = pn_module_u16(pages, A0, WAVELENGTH);

        if (between(nm, 1525, 1570) &&
            (strstr(part, "DWDM") || (a0(pages, OPTIONS + 1) & OPTION_TUNABLE)))
                return " DWDM";
        if (strstr(type, "-BX") || strstr(type, "-BR") || single_mode_metres(pages) == 0)
                return "";
        if (pn_streq(vendor, "FLEXOPTIX") && strstr(part, ".B") && between(nm, 1260, 1610))
                return " BiDi";
        for (size_t i = 0; i < PN_ELEMENTS(words); i++)
                if (strstr(part, words[i]))
                        return " BiDi";
        return "";
}

static Identity identify(const PnModulePages *pages, const PnModule *module)
{
        const PnSffCompliance *compliance = pn_sff8024_compliance(a0(pages, COMPLIANCE));
        const char *vendor = pn_text(&module->vendor), *part = pn_text(&module->part_number);
        bool rj45 = a0(pages, CONNECTOR) == PN_SFF_CONNECTOR_RJ45;
        Identity identity = {PN_SFF_OPTICAL, NULL, ""};

        vendor = vendor ? vendor : "";
        part = part ? part : "";
        for (size_t i = 0; i < PN_ELEMENTS(sticks); i++)
                if (strstr(part, sticks[i].part)) {
                        identity.type = sticks[i].type;
                        return identity;
                }
        if (identify_cable(pages, &identity.kind)) {
                identity.type = pn_sff8024_cable(identity.kind);
                return identity;
        }

        if (compliance && compliance->kind == PN_SFF_BASE_T)
                return (Identity){PN_SFF_BASE_T, compliance->one, ""};
        for (size_t i = 0; i < PN_ELEMENTS(twisted_pairs) && !strstr(part, "DWDM"); i++)
                if (has_word(part, twisted_pairs[i].word))
                        return (Identity){PN_SFF_BASE_T, twisted_pairs[i].type, ""};
        if (rj45 || (a0(pages, ETHERNET_1G) & ETHERNET_1G_T)) {
                const char *type = twisted_pair_by_rate(nominal_rate(pages));

                if (!type && (a0(pages, ETHERNET_1G) & ETHERNET_1G_T))
                        type = "1000BASE-T";
                return (Identity){PN_SFF_BASE_T, type, ""};
        }

        identity.type = compliance ? compliance->one : NULL;
        if (!identity.type)
                identity.type = identify_10g(pages);
        if (!identity.type)
                identity.type = identify_1g(pages);
        if (identity.type)
                identity.suffix = identify_suffix(pages, identity.type, vendor, part);
        return identity;
}

/* SFP, SFP+ and SFP28 have the same identifier and differ in the rate that they are made for. */
static const char *form(const PnModulePages *pages, const Identity *identity)
{
        const PnSffCompliance *compliance = pn_sff8024_compliance(a0(pages, COMPLIANCE));
        unsigned mbd = nominal_rate(pages), gigabits = compliance ? compliance->gigabits : 0;

        if (a0(pages, 0) == PN_SFF_ID_SOLDERED)
                return pn_sff8024_form(PN_SFF_ID_SOLDERED);
        if (gigabits >= 100)
                return "SFP112";
        if (gigabits >= 50)
                return "SFP56";
        if (gigabits >= 25 || mbd >= 24000)
                return "SFP28";
        if (gigabits >= 10 || mbd >= 8000 || (a0(pages, ETHERNET_10G) & ETHERNET_10G_ALL) ||
            pn_streq(identity->type, "10GBASE-T") || pn_streq(identity->type, "XGS-PON"))
                return "SFP+";
        return "SFP";
}

static int decode_lengths(const PnModulePages *pages, const Identity *identity, PnModule *module)
{
        unsigned om1 = length(pages, LENGTH_OM1) * 10, om2 = length(pages, LENGTH_OM2) * 10;
        unsigned om3 = length(pages, LENGTH_OM3) * 10, om4 = 0;
        int r;

        /* Known, and empty if it gives none. */
        module->lengths.state = PN_KNOWN;
        switch (identity->kind) {
        case PN_SFF_PASSIVE_COPPER:
        case PN_SFF_ACTIVE_COPPER:
        case PN_SFF_BASE_T:
                return pn_module_add_length(module, "copper", length(pages, LENGTH_COPPER));
        case PN_SFF_ACTIVE_OPTICAL:
                return pn_module_add_length(module, "cable", length(pages, LENGTH_COPPER));
        case PN_SFF_OPTICAL:
                om4 = length(pages, LENGTH_COPPER) * 10;
                break;
        }

        /* Modules for LRM leave some of these out, or give what drafts of the standard had: then
         * the figures are the standard's, not the module's. They agree where a module is right. */
        if (pn_streq(identity->type, "10GBASE-LRM"))
                om1 = om2 = om3 = LRM_METRES;

        if ((r = pn_module_add_length(module, "SMF", single_mode_metres(pages))) < 0 ||
            (r = pn_module_add_length(module, "OM1", om1)) < 0 ||
            (r = pn_module_add_length(module, "OM2", om2)) < 0 ||
            (r = pn_module_add_length(module, "OM3", om3)) < 0)
                return r;
        return pn_module_add_length(module, "OM4", om4);
}

/* What depends on several bytes of the base fields, all of which must be there. */
static int decode_kind(const PnModulePages *pages, PnModule *module, PnSffKind *ret)
{
        unsigned nm = pn_module_u16(pages, A0, WAVELENGTH), mbd;
        Identity identity;
        int r;

        if (!pn_module_has(pages, A0, 0, RATE_250 + 1)) {
                PnState reason = pn_module_reason(pages, A0);

                module->form.state = reason;
                module->type.state = reason;
                module->wavelength_nm.state = reason;
                module->nominal_mbd.state = reason;
                module->lengths.state = reason;
                *ret = PN_SFF_OPTICAL;
                return 0;
        }

        identity = identify(pages, module);
        *ret = identity.kind;
        mbd = nominal_rate(pages);
        if (mbd > 0)
                module->nominal_mbd = pn_int(mbd);
        if (identity.kind == PN_SFF_OPTICAL && nm != 0 && nm != 0xffff)
                module->wavelength_nm = pn_real(nm);
        /* An optic's connector, on a module that has none. */
        if (identity.kind == PN_SFF_BASE_T && module->connector.state == PN_KNOWN) {
                r = pn_set_text(&module->connector, pn_sff8024_connector(PN_SFF_CONNECTOR_RJ45));
                if (r < 0)
                        return r;
        }
        r = pn_set_text(&module->form, form(pages, &identity));
        if (r >= 0 && identity.type)
                r = pn_format_text(&module->type, "%s%s", identity.type, identity.suffix);
        return r < 0 ? r : decode_lengths(pages, &identity, module);
}

/* How words of A2h become values (9.3): as they are, or by factors that the module carries. */
typedef struct Calibration {
        bool external;
        PnState state[N_QUANTITIES]; /* PN_KNOWN, or why there is none */
        double slope[RX_POWER], offset[RX_POWER];
        double rx[5]; /* coefficients, that of the highest power first */
} Calibration;

/* An IEEE 754 single, as bytes 56..75 have them. */
static double float_at(const PnModulePages *pages, size_t at)
{
        uint32_t bits = (uint32_t)pn_module_u16(pages, A2, at) << 16;
        float value;

        _Static_assert(sizeof value == sizeof bits, "float is no IEEE 754 single");
        bits |= pn_module_u16(pages, A2, at + 2);
        memcpy(&value, &bits, sizeof value);
        return (double)value;
}

static double signed16(uint16_t raw)
{
        return raw < 0x8000 ? raw : raw - 0x10000;
}

static void read_calibration(const PnModulePages *pages, Calibration *ret)
{
        /* Where slope and offset of each quantity are. */
        static const uint8_t at[RX_POWER] = {
            [TEMPERATURE] = 84, [VOLTAGE] = 88, [BIAS] = 76, [TX_POWER] = 80};
        bool external = a0(pages, MONITORING) & MONITORING_EXTERNAL, finite = true, any = false;

        *ret = (Calibration){.external = external};
        for (Quantity q = 0; q < N_QUANTITIES; q++)
                ret->state[q] = PN_KNOWN;
        if (!external)
                return;
        if (!pn_module_has(pages, A2, CALIBRATION, 36)) {
                for (Quantity q = 0; q < N_QUANTITIES; q++)
                        ret->state[q] = pn_module_reason(pages, A2);
                return;
        }
        for (Quantity q = 0; q < RX_POWER; q++) {
                ret->slope[q] = pn_module_u16(pages, A2, at[q]) / 256.0;
                ret->offset[q] = signed16(pn_module_u16(pages, A2, at[q] + 2u));
                /* Nothing is measured with a slope of nothing. */
                if (!(ret->slope[q] > 0))
                        ret->state[q] = PN_UNREAD_MALFORMED;
        }
        for (size_t i = 0; i < PN_ELEMENTS(ret->rx); i++) {
                ret->rx[i] = float_at(pages, CALIBRATION + 4 * i);
                finite = finite && isfinite(ret->rx[i]);
                any = any || ret->rx[i] < 0 || ret->rx[i] > 0;
        }
        if (!finite || !any)
                ret->state[RX_POWER] = PN_UNREAD_MALFORMED;
}

/* A word in the unit of the internal calibration, as whole units and within what a word holds: a
 * polynomial may well end below zero in the dark. */
static double calibrate(const Calibration *calibration, Quantity q, uint16_t raw)
{
        double x = q == TEMPERATURE ? signed16(raw) : raw, low = 0, high = 0xffff;

        if (!calibration->external)
                return x;
        if (q == RX_POWER) {
                double sum = 0;

                for (size_t i = 0; i < PN_ELEMENTS(calibration->rx); i++)
                        sum = sum * x + calibration->rx[i];
                x = sum;
        } else
                x = calibration->slope[q] * x + calibration->offset[q];
        if (q == TEMPERATURE) {
                low = -0x8000;
                high = 0x7fff;
        }
        return x < low ? low : x > high ? high : round(x) + 0.0; /* never minus zero */
}

static double celsius(const void *context, uint16_t raw)
{
        return calibrate(context, TEMPERATURE, raw) / 256;
}

static double volts(const void *context, uint16_t raw)
{
        return calibrate(context, VOLTAGE, raw) / 10000;
}

static double milliamperes(const void *context, uint16_t raw)
{
        return calibrate(context, BIAS, raw) / 500;
}

static double tx_milliwatts(const void *context, uint16_t raw)
{
        return calibrate(context, TX_POWER, raw) / 10000;
}

static double rx_milliwatts(const void *context, uint16_t raw)
{
        return calibrate(context, RX_POWER, raw) / 10000;
}

static const struct {
        const char *name;
        PnModuleConvert convert;
} quantities[N_QUANTITIES] = {
    [TEMPERATURE] = {"temperature", celsius}, [VOLTAGE] = {"voltage", volts},
    [BIAS] = {"bias", milliamperes},          [TX_POWER] = {"tx_power", tx_milliwatts},
    [RX_POWER] = {"rx_power", rx_milliwatts},
};

/* A quantity's limits, an OBJ field of ModuleLimits. */
static void *limits_of(PnModuleThresholds *thresholds, Quantity q)
{
        switch (q) {
        case TEMPERATURE:
                return &thresholds->temperature;
        case VOLTAGE:
                return &thresholds->voltage;
        case BIAS:
                return &thresholds->bias;
        case TX_POWER:
                return &thresholds->tx_power;
        case RX_POWER:
        case N_QUANTITIES:
                break;
        }
        return &thresholds->rx_power;
}

static PnReal reading(const PnModulePages *pages, const Calibration *calibration, Quantity q,
                      const void *limits)
{
        size_t at = READINGS + 2 * (size_t)q;

        if (pn_module_has(pages, A2, at, 2) && calibration->state[q] != PN_KNOWN)
                return (PnReal){.state = calibration->state[q]};
        return pn_module_reading(pages, A2, at, quantities[q].convert, calibration, limits);
}

static int decode_flags(const PnModulePages *pages, bool light, PnModuleThresholds *thresholds,
                        PnTexts *flags)
{
        uint8_t enhanced = a0(pages, ENHANCED), status = pn_module_u8(pages, A2, STATUS);
        unsigned alarms = pn_module_u16(pages, A2, ALARMS);
        unsigned warnings = pn_module_u16(pages, A2, WARNINGS);
        int r;

        if (!pn_module_has(pages, A0, ENHANCED, 1)) {
                flags->state = pn_module_reason(pages, A0);
                return 0;
        }
        if (!pn_module_has(pages, A2, STATUS, WARNINGS + 2 - STATUS)) {
                flags->state = pn_module_reason(pages, A2);
                return 0;
        }
        flags->state = PN_KNOWN;
        /* The state is that of the pin, which means nothing where its sense is in doubt. */
        if (light && enhanced & ENHANCED_RX_LOS && status & STATUS_RX_LOS &&
            !(a0(pages, OPTIONS + 1) & OPTION_LOS_INVERTED) &&
            (r = pn_module_flag(flags, "rx_los", 0)) < 0)
                return r;
        if (light && enhanced & ENHANCED_TX_FAULT && status & STATUS_TX_FAULT &&
            (r = pn_module_flag(flags, "tx_fault", 0)) < 0)
                return r;
        if (!(enhanced & ENHANCED_FLAGS))
                return 0;
        /* High and low of each quantity, from the top bit down. */
        for (Quantity q = 0; q < N_QUANTITIES; q++) {
                unsigned shift = 14 - 2 * (unsigned)q;
                unsigned bits = (alarms >> shift & 3u) << 2 | (warnings >> shift & 3u);

                r = pn_module_flags(flags, quantities[q].name, bits, 0, limits_of(thresholds, q));
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Whether there are no readings in A2h, and why. */
static bool nothing_measured(const PnModulePages *pages, bool light, PnState *ret)
{
        bool zeros = true, ones = true;

        if (!pn_module_has(pages, A2, READINGS, 2 * N_QUANTITIES))
                return false;
        for (size_t q = 0; q < N_QUANTITIES; q++) {
                uint16_t raw = pn_module_u16(pages, A2, READINGS + 2 * q);

                zeros = zeros && raw == 0;
                ones = ones && raw == 0xffff;
        }
        /* Cables may claim to monitor, and have nothing to do it with. */
        if (ones || !light)
                *ret = PN_UNREAD_UNSUPPORTED;
        else if (pn_module_u8(pages, A2, STATUS) & STATUS_NOT_READY)
                *ret = PN_UNREAD_TIMEOUT;
        else
                /* It answers, so it has more than 0 V. Drivers are known to hand out zeros. */
                *ret = PN_UNREAD_MALFORMED;
        return zeros || ones;
}

static int decode_diagnostics(const PnModulePages *pages, PnSffKind kind, PnModule *module)
{
        bool light = kind == PN_SFF_OPTICAL || kind == PN_SFF_ACTIVE_OPTICAL;
        uint8_t monitoring = a0(pages, MONITORING);
        PnModuleDiagnostics *diagnostics;
        PnModuleThresholds *thresholds;
        Calibration calibration;
        PnModuleLane *lane;
        PnState why;
        int r;

        if (!pn_module_has(pages, A0, MONITORING, 1)) {
                module->diagnostics.state = pn_module_reason(pages, A0);
                return 0;
        }
        if (!(monitoring & MONITORING_DDM))
                return 0;
        /* Its A2h is at the address of A0h, behind a sequence that no driver knows. */
        if (monitoring & MONITORING_ADDRESS_CHANGE) {
                module->diagnostics.state = PN_UNREAD_UNSUPPORTED;
                return 0;
        }
        if (pages->area[A2].n == 0) {
                module->diagnostics.state = pn_module_reason(pages, A2);
                return 0;
        }
        if (nothing_measured(pages, light, &why)) {
                module->diagnostics.state = why;
                return 0;
        }

        diagnostics = pn_module_new_diagnostics(module);
        if (!diagnostics)
                return -ENOMEM;
        thresholds = diagnostics->thresholds.v;
        read_calibration(pages, &calibration);
        for (Quantity q = 0; q < N_QUANTITIES; q++) {
                if (!light && q >= BIAS)
                        break;
                if (calibration.state[q] != PN_KNOWN) {
                        *(PnState *)limits_of(thresholds, q) = calibration.state[q];
                        continue;
                }
                r = pn_module_limits(pages, A2, LIMITS + 8 * (size_t)q, q == TEMPERATURE,
                                     quantities[q].convert, &calibration, limits_of(thresholds, q));
                if (r < 0)
                        return r;
        }

        diagnostics->temperature_c =
            reading(pages, &calibration, TEMPERATURE, &thresholds->temperature);
        diagnostics->voltage_v = reading(pages, &calibration, VOLTAGE, &thresholds->voltage);
        if (light) {
                lane = PN_APPEND(&diagnostics->lanes);
                if (!lane)
                        return -ENOMEM;
                pn_module_set_power(reading(pages, &calibration, RX_POWER, &thresholds->rx_power),
                                    &lane->rx_power_mw, &lane->rx_power_dbm);
                pn_module_set_power(reading(pages, &calibration, TX_POWER, &thresholds->tx_power),
                                    &lane->tx_power_mw, &lane->tx_power_dbm);
                lane->bias_ma = reading(pages, &calibration, BIAS, &thresholds->bias);
        }
        r = decode_flags(pages, light, thresholds, &diagnostics->flags);
        pn_module_settle_thresholds(diagnostics);
        return r;
}

int pn_sff8472_decode(const PnModulePages *pages, PnModule *module)
{
        PnSffKind kind;
        int r;

        if ((r = pn_set_text(&module->standard, "SFF-8472")) < 0 ||
            (r = pn_module_text(pages, A0, VENDOR, 16, &module->vendor)) < 0 ||
            (r = pn_module_oui(pages, A0, OUI, &module->oui)) < 0 ||
            (r = pn_module_text(pages, A0, PART, 16, &module->part_number)) < 0 ||
            (r = pn_module_text(pages, A0, REVISION, 4, &module->revision)) < 0 ||
            (r = pn_module_text(pages, A0, SERIAL, 16, &module->serial)) < 0 ||
            (r = pn_module_text(pages, A0, DATE, 8, &module->date_code)) < 0 ||
            (r = pn_module_connector(pages, A0, CONNECTOR, &module->connector)) < 0 ||
            (r = decode_kind(pages, module, &kind)) < 0)
                return r;

        pn_module_check(pages, A0, 0, CC_BASE, &module->checksum_ok);
        pn_module_check(pages, A0, CC_BASE + 1, CC_EXT, &module->checksum_ok);
        if ((a0(pages, MONITORING) & (MONITORING_DDM | MONITORING_ADDRESS_CHANGE)) ==
            MONITORING_DDM)
                pn_module_check(pages, A2, 0, CC_DMI, &module->checksum_ok);
        if (module->checksum_ok.state != PN_KNOWN)
                module->checksum_ok.state = pn_module_reason(pages, A0);
        return decode_diagnostics(pages, kind, module);
}

unsigned pn_sff8472_wanted(const PnModulePages *pages, bool diagnostics_only)
{
        unsigned lower = 1u << A0, a2 = 0;
        uint8_t monitoring = a0(pages, MONITORING);

        if ((monitoring & MONITORING_DDM) && !(monitoring & MONITORING_ADDRESS_CHANGE))
                a2 = 1u << A2;
        return diagnostics_only ? a2 : lower | a2;
}
