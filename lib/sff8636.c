/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes the memory map of QSFP+, QSFP28 and cables of that form (SNIA SFF-8636, revision 2.10a,
 * which extends SFF-8436). Knows the bytes that were read, not how. */
#include "sff8636.h"

#include "sff8024.h"

#define LOWER  PN_MODULE_LOWER
#define UPPER  PN_MODULE_PAGE_00
#define LIMITS PN_MODULE_PAGE_03

#define N_LANES 4u

/* Lower memory, 6.2. */
#define MAP_REVISION    1u
#define STATUS          2u
#define LOS             3u /* received light in the low nibble, a bit for each lane */
#define FAULT           4u /* of the transmitters, likewise */
#define FLAGS_MODULE    6u /* temperature, then voltage, in the high nibbles */
#define FLAGS_LANES     9u /* a nibble a lane: two bytes each of rx power, bias, tx power */
#define TEMPERATURE     22u
#define VOLTAGE         26u
#define RX_POWER        34u
#define BIAS            42u
#define TX_POWER        50u
#define NOT_IMPLEMENTED 113u /* lanes, in the low nibble */

#define STATUS_FLAT      0x04u
#define STATUS_NOT_READY 0x01u

/* From this revision on, byte 220 says whether temperature and voltage are measured. */
#define MAP_REVISION_2_8 8u

/* Page 00h, 6.3. */
#define IDENTIFIER    128u
#define CONNECTOR     130u
#define ETHERNET      131u
#define RATE          140u
#define LENGTH_KM     142u
#define LENGTH_OM3    143u /* 2 m */
#define LENGTH_OM2    144u
#define LENGTH_OM1    145u
#define LENGTH_COPPER 146u /* of a cable, metres; of 850 nm lasers OM4, 2 m */
#define TECHNOLOGY    147u
#define VENDOR        148u
#define OUI           165u
#define PART          168u
#define REVISION      184u
#define WAVELENGTH    186u /* 0.05 nm; of copper, attenuations */
#define CC_BASE       191u
#define COMPLIANCE    192u
#define OPTIONS       195u
#define SERIAL        196u
#define DATE          212u
#define MONITORING    220u
#define RATE_250      222u
#define CC_EXT        223u

#define ETHERNET_EXTENDED 0x80u
#define ETHERNET_CR4      0x08u

#define TECHNOLOGY_850_VCSEL      0x0u
#define TECHNOLOGY_PASSIVE_COPPER 0xau
#define TECHNOLOGY_ACTIVE_COPPER  0xcu

#define OPTION_TX_FAULT 0x08u

#define MONITORING_TEMPERATURE 0x20u
#define MONITORING_VOLTAGE     0x10u
#define MONITORING_RX_AVERAGE  0x08u
#define MONITORING_TX_POWER    0x04u

/* Page 03h, 6.6. */
#define LIMITS_TEMPERATURE 128u
#define LIMITS_VOLTAGE     144u
#define LIMITS_RX_POWER    176u
#define LIMITS_BIAS        184u
#define LIMITS_TX_POWER    192u

static const PnModuleLimitsAt limits_at = {
    .area = LIMITS,
    .temperature = LIMITS_TEMPERATURE,
    .voltage = LIMITS_VOLTAGE,
    .rx_power = LIMITS_RX_POWER,
    .tx_power = LIMITS_TX_POWER,
    .bias = LIMITS_BIAS,
};

const PnModuleSpan pn_sff8636_serial = {UPPER, CC_BASE, CC_EXT + 1 - CC_BASE};

static uint8_t lower(const PnModulePages *pages, size_t at)
{
        return pn_module_u8(pages, LOWER, at);
}

static uint8_t upper(const PnModulePages *pages, size_t at)
{
        return pn_module_u8(pages, UPPER, at);
}

static unsigned technology(const PnModulePages *pages)
{
        return upper(pages, TECHNOLOGY) >> 4;
}

/* The extended compliance code; older modules set it without the bit that points to it. */
static const PnSffCompliance *compliance_of(const PnModulePages *pages)
{
        return pn_sff8024_compliance(upper(pages, COMPLIANCE));
}

static PnSffKind identify(const PnModulePages *pages)
{
        const PnSffCompliance *compliance = compliance_of(pages);
        uint8_t connector = upper(pages, CONNECTOR);

        if (technology(pages) >= TECHNOLOGY_ACTIVE_COPPER)
                return PN_SFF_ACTIVE_COPPER;
        if (technology(pages) >= TECHNOLOGY_PASSIVE_COPPER)
                return PN_SFF_PASSIVE_COPPER;
        if (compliance && compliance->kind != PN_SFF_OPTICAL)
                return compliance->kind;
        if (connector == PN_SFF_CONNECTOR_COPPER_PIGTAIL ||
            (connector == PN_SFF_CONNECTOR_NONE && (upper(pages, ETHERNET) & ETHERNET_CR4)))
                return PN_SFF_PASSIVE_COPPER;
        if (connector == PN_SFF_CONNECTOR_NONE || connector == PN_SFF_CONNECTOR_OPTICAL_PIGTAIL)
                return PN_SFF_ACTIVE_OPTICAL;
        if (connector == PN_SFF_CONNECTOR_RJ45)
                return PN_SFF_BASE_T;
        return PN_SFF_OPTICAL;
}

static const char *type_of(const PnModulePages *pages, PnSffKind kind)
{
        static const struct {
                uint8_t bit;
                const char *type;
        } bits[] = {
            {0x02, "40GBASE-LR4"}, {0x04, "40GBASE-SR4"}, {0x40, "10GBASE-LRM"},
            {0x20, "10GBASE-LR"},  {0x10, "10GBASE-SR"},
        };
        const PnSffCompliance *compliance = compliance_of(pages);

        if (pn_sff8024_cable(kind))
                return pn_sff8024_cable(kind);
        if (compliance && (compliance->four || compliance->one))
                return compliance->four ? compliance->four : compliance->one;
        for (size_t i = 0; i < PN_ELEMENTS(bits); i++)
                if (upper(pages, ETHERNET) & bits[i].bit)
                        return bits[i].type;
        return NULL;
}

/* A length byte; ffh means "more than 254 units", of which 254 are certain. */
static unsigned length(const PnModulePages *pages, size_t at)
{
        unsigned units = upper(pages, at);

        return units == 0xff ? 0xfe : units;
}

static int decode_lengths(const PnModulePages *pages, PnSffKind kind, PnModule *module)
{
        unsigned om4 = length(pages, LENGTH_COPPER) * 2;
        int r;

        /* Known, and empty if it gives none. */
        module->lengths.state = PN_KNOWN;
        if (kind != PN_SFF_OPTICAL)
                return pn_module_add_length(module,
                                            kind == PN_SFF_ACTIVE_OPTICAL ? "cable" : "copper",
                                            length(pages, LENGTH_COPPER));
        if (technology(pages) != TECHNOLOGY_850_VCSEL)
                om4 = 0;
        if ((r = pn_module_add_length(module, "SMF", length(pages, LENGTH_KM) * 1000)) < 0 ||
            (r = pn_module_add_length(module, "OM1", length(pages, LENGTH_OM1))) < 0 ||
            (r = pn_module_add_length(module, "OM2", length(pages, LENGTH_OM2))) < 0 ||
            (r = pn_module_add_length(module, "OM3", length(pages, LENGTH_OM3) * 2)) < 0)
                return r;
        return pn_module_add_length(module, "OM4", om4);
}

static int decode_kind(const PnModulePages *pages, PnModule *module, PnSffKind *ret)
{
        uint8_t identifier = upper(pages, IDENTIFIER);
        unsigned mbd, wavelength = pn_module_u16(pages, UPPER, WAVELENGTH);
        const char *type;
        int r;

        *ret = PN_SFF_OPTICAL;
        /* Where the two identifiers disagree, the one beside the part number is right. */
        if (pn_sff8024_map(identifier) != PN_SFF_MAP_8636)
                identifier = lower(pages, 0);
        r = pn_set_text(&module->form, pn_sff8024_form(identifier));
        if (r < 0)
                return r;

        if (!pn_module_has(pages, UPPER, IDENTIFIER, RATE_250 + 1 - IDENTIFIER)) {
                PnState reason = pn_module_reason(pages, UPPER);

                module->type.state = reason;
                module->wavelength_nm.state = reason;
                module->nominal_mbd.state = reason;
                module->lengths.state = reason;
                return 0;
        }
        *ret = identify(pages);
        mbd =
            upper(pages, RATE) == 0xff ? upper(pages, RATE_250) * 250u : upper(pages, RATE) * 100u;
        if (mbd > 0)
                module->nominal_mbd = pn_int(mbd);
        if ((*ret == PN_SFF_OPTICAL || *ret == PN_SFF_ACTIVE_OPTICAL) && wavelength != 0 &&
            wavelength != 0xffff)
                module->wavelength_nm = pn_real(wavelength / 20.0);
        type = type_of(pages, *ret);
        r = type ? pn_set_text(&module->type, type) : 0;
        return r < 0 ? r : decode_lengths(pages, *ret, module);
}

static double milliamperes(const void *context, uint16_t raw)
{
        (void)context;
        return raw / 500.0;
}

/* Whether all words from `at` are this value; bytes that were not read are not. */
static bool words_are(const PnModulePages *pages, size_t at, size_t n, uint16_t value)
{
        if (!pn_module_has(pages, LOWER, at, 2 * n))
                return false;
        for (size_t i = 0; i < n; i++)
                if (pn_module_u16(pages, LOWER, at + 2 * i) != value)
                        return false;
        return true;
}

static bool monitors_are(const PnModulePages *pages, uint16_t value)
{
        return words_are(pages, TEMPERATURE, 1, value) && words_are(pages, VOLTAGE, 1, value) &&
               words_are(pages, RX_POWER, 3 * N_LANES, value);
}

/* Temperature or voltage. Modules before revision 2.8 do not say whether they measure it, and later
 * ones do not always: what is not zero is a reading. */
static PnReal monitor(const PnModulePages *pages, size_t at, PnModuleConvert convert, uint8_t bit,
                      const void *limits)
{
        uint16_t raw = pn_module_u16(pages, LOWER, at);
        bool measured = raw != 0 || at == TEMPERATURE;

        if (raw == 0 && lower(pages, MAP_REVISION) >= MAP_REVISION_2_8 &&
            pn_module_has(pages, UPPER, MONITORING, 1))
                measured = upper(pages, MONITORING) & bit;
        /* No module runs on 0 V: where it says 0 °C as well, it says nothing. */
        if (raw == 0 && words_are(pages, TEMPERATURE, 1, 0) && words_are(pages, VOLTAGE, 1, 0))
                measured = false;
        if (pn_module_has(pages, LOWER, at, 2) && !measured)
                return (PnReal){.state = PN_UNREAD_UNSUPPORTED};
        return pn_module_reading(pages, LOWER, at, convert, NULL, limits);
}

/* How many lanes there are. A module for one wavelength at 100 Gb/s has one, in spite of its form;
 * what the other lanes say is nothing. */
static unsigned count_lanes(const PnModulePages *pages)
{
        const PnSffCompliance *compliance = compliance_of(pages);
        uint8_t missing = lower(pages, NOT_IMPLEMENTED) & 0xf;
        unsigned n = N_LANES;

        if (compliance && compliance->single)
                return 1;
        if (missing != 0xf)
                while (n > 1 && missing & 1u << (n - 1))
                        n--;
        return n;
}

/* Why words of light that are zero are no darkness, PN_KNOWN if they are. */
static PnState zero_is(const PnModulePages *pages, bool transmitted)
{
        uint8_t monitoring = upper(pages, MONITORING);

        if (transmitted && words_are(pages, TX_POWER, N_LANES, 0)) {
                if (!pn_module_has(pages, UPPER, MONITORING, 1))
                        return pn_module_reason(pages, UPPER);
                if (!(monitoring & MONITORING_TX_POWER))
                        return PN_UNREAD_UNSUPPORTED;
        }
        /* Nothing on any lane, and no word on how it would be measured. */
        if (words_are(pages, RX_POWER, 3 * N_LANES, 0) &&
            pn_module_has(pages, UPPER, MONITORING, 1) &&
            !(monitoring & (MONITORING_TX_POWER | MONITORING_RX_AVERAGE)))
                return PN_UNREAD_UNSUPPORTED;
        return PN_KNOWN;
}

/* A lane's word; `zero` says what zero means, as zero_is() does. */
static PnReal lane_reading(const PnModulePages *pages, size_t at, PnState zero,
                           PnModuleConvert convert, const void *limits)
{
        if (pn_module_has(pages, LOWER, at, 2) && pn_module_u16(pages, LOWER, at) == 0 &&
            zero != PN_KNOWN)
                return (PnReal){.state = zero};
        return pn_module_reading(pages, LOWER, at, convert, NULL, limits);
}

static int decode_lanes(const PnModulePages *pages, unsigned n, const PnModuleThresholds *limits,
                        PnModuleDiagnostics *diagnostics)
{
        PnState rx_zero = zero_is(pages, false), tx_zero = zero_is(pages, true);
        PnState bias_zero = rx_zero == PN_KNOWN ? PN_KNOWN : PN_UNREAD_UNSUPPORTED;

        for (unsigned i = 0; i < n; i++) {
                PnModuleLane *lane = PN_APPEND(&diagnostics->lanes);
                size_t at = 2 * (size_t)i;

                if (!lane)
                        return -ENOMEM;
                pn_module_set_power(lane_reading(pages, RX_POWER + at, rx_zero,
                                                 pn_module_milliwatts, &limits->rx_power),
                                    &lane->rx_power_mw, &lane->rx_power_dbm);
                pn_module_set_power(lane_reading(pages, TX_POWER + at, tx_zero,
                                                 pn_module_milliwatts, &limits->tx_power),
                                    &lane->tx_power_mw, &lane->tx_power_dbm);
                lane->bias_ma =
                    lane_reading(pages, BIAS + at, bias_zero, milliamperes, &limits->bias);
        }
        return 0;
}

/* A nibble of flags a lane. */
static unsigned lane_flags(const PnModulePages *pages, PnModuleLaneFlags quantity, unsigned lane)
{
        uint8_t byte = lower(pages, FLAGS_LANES + 2 * (size_t)quantity + lane / 2);

        return lane % 2 == 0 ? byte >> 4 : byte & 0xf;
}

static int decode_flags(const PnModulePages *pages, unsigned n, const PnModuleThresholds *limits,
                        PnTexts *flags)
{
        int r;

        if (!pn_module_has(pages, LOWER, LOS, FLAGS_LANES + 6 - LOS)) {
                flags->state = pn_module_reason(pages, LOWER);
                return 0;
        }
        flags->state = PN_KNOWN;
        for (unsigned i = 0; i < n; i++) {
                unsigned lane = n > 1 ? i + 1 : 0;

                if (lower(pages, LOS) & 1u << i && (r = pn_module_flag(flags, "rx_los", lane)) < 0)
                        return r;
                if (lower(pages, FAULT) & 1u << i && upper(pages, OPTIONS) & OPTION_TX_FAULT &&
                    (r = pn_module_flag(flags, "tx_fault", lane)) < 0)
                        return r;
        }
        if ((r = pn_module_flags(flags, "temperature", lower(pages, FLAGS_MODULE) >> 4, 0,
                                 &limits->temperature)) < 0 ||
            (r = pn_module_flags(flags, "voltage", lower(pages, FLAGS_MODULE + 1) >> 4, 0,
                                 &limits->voltage)) < 0)
                return r;
        return pn_module_lane_flags(pages, n, limits, lane_flags, flags);
}

/* Whether there is nothing to show, as *ret says: absent or unread. */
static bool nothing_measured(const PnModulePages *pages, bool light, PnState *ret)
{
        bool not_ready = lower(pages, STATUS) & STATUS_NOT_READY;

        if (!pn_module_has(pages, LOWER, TEMPERATURE, 2)) {
                *ret = pn_module_reason(pages, LOWER);
                return true;
        }
        if (monitors_are(pages, 0xffff)) {
                *ret = PN_UNREAD_UNSUPPORTED;
                return true;
        }
        if (not_ready) {
                /* A cable without monitors may say so for good. */
                *ret = light ? PN_UNREAD_TIMEOUT : PN_UNREAD_UNSUPPORTED;
                return true;
        }
        if (monitors_are(pages, 0)) {
                bool says_none = pn_module_has(pages, UPPER, MONITORING, 1) &&
                                 !(upper(pages, MONITORING) & 0x3c);

                /* An optic that answers has more than 0 V. */
                *ret = !light ? PN_ABSENT : says_none ? PN_UNREAD_UNSUPPORTED : PN_UNREAD_MALFORMED;
                return true;
        }
        return false;
}

static int decode_diagnostics(const PnModulePages *pages, PnSffKind kind, PnModule *module)
{
        bool light = kind == PN_SFF_OPTICAL || kind == PN_SFF_ACTIVE_OPTICAL;
        unsigned n = light ? count_lanes(pages) : 0;
        PnModuleDiagnostics *diagnostics;
        PnModuleThresholds *thresholds;
        PnState why;
        int r;

        if (nothing_measured(pages, light, &why)) {
                module->diagnostics.state = why;
                return 0;
        }
        diagnostics = pn_module_new_diagnostics(module);
        if (!diagnostics)
                return -ENOMEM;
        thresholds = diagnostics->thresholds.v;
        if (!(lower(pages, STATUS) & STATUS_FLAT) &&
            (r = pn_module_thresholds(pages, &limits_at, light, milliamperes, NULL, thresholds)) <
                0)
                return r;

        diagnostics->temperature_c = monitor(pages, TEMPERATURE, pn_module_celsius,
                                             MONITORING_TEMPERATURE, &thresholds->temperature);
        diagnostics->voltage_v =
            monitor(pages, VOLTAGE, pn_module_volts, MONITORING_VOLTAGE, &thresholds->voltage);
        /* Without page 00h it may be a cable as well: then lanes of zero are no darkness. */
        if (light && pn_module_has(pages, UPPER, TECHNOLOGY, 1))
                r = decode_lanes(pages, n, thresholds, diagnostics);
        else if (light)
                diagnostics->lanes.state = pn_module_reason(pages, UPPER);
        if (r < 0 || (r = decode_flags(pages, n, thresholds, &diagnostics->flags)) < 0)
                return r;
        pn_module_settle_thresholds(diagnostics);
        return 0;
}

int pn_sff8636_decode(const PnModulePages *pages, PnModule *module)
{
        PnSffKind kind;
        int r;

        if ((r = pn_set_text(&module->standard, "SFF-8636")) < 0 ||
            (r = pn_module_text(pages, UPPER, VENDOR, 16, &module->vendor)) < 0 ||
            (r = pn_module_oui(pages, UPPER, OUI, &module->oui)) < 0 ||
            (r = pn_module_text(pages, UPPER, PART, 16, &module->part_number)) < 0 ||
            (r = pn_module_text(pages, UPPER, REVISION, 2, &module->revision)) < 0 ||
            (r = pn_module_text(pages, UPPER, SERIAL, 16, &module->serial)) < 0 ||
            (r = pn_module_text(pages, UPPER, DATE, 8, &module->date_code)) < 0 ||
            (r = pn_module_connector(pages, UPPER, CONNECTOR, &module->connector)) < 0 ||
            (r = decode_kind(pages, module, &kind)) < 0)
                return r;

        pn_module_check(pages, UPPER, IDENTIFIER, CC_BASE, &module->checksum_ok);
        pn_module_check(pages, UPPER, COMPLIANCE, CC_EXT, &module->checksum_ok);
        if (module->checksum_ok.state != PN_KNOWN)
                module->checksum_ok.state = pn_module_reason(pages, UPPER);
        return decode_diagnostics(pages, kind, module);
}

unsigned pn_sff8636_wanted(const PnModulePages *pages, bool diagnostics_only)
{
        unsigned wanted = 1u << LOWER;

        if (diagnostics_only)
                return wanted;
        wanted |= 1u << UPPER;
        if (pn_module_has(pages, LOWER, STATUS, 1) && !(lower(pages, STATUS) & STATUS_FLAT))
                wanted |= 1u << LIMITS;
        return wanted;
}
