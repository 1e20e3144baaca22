/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes the Common Management Interface Specification of QSFP-DD, OSFP and their kin (OIF-CMIS-
 * 05.2, which kept what 4.0 defined). Knows the bytes that were read, not how. */
#include "cmis.h"

#include "sff8024.h"

#define LOWER     PN_MODULE_LOWER
#define PAGE_00   PN_MODULE_PAGE_00
#define ADVERTISE PN_MODULE_PAGE_01
#define LIMITS    PN_MODULE_PAGE_02
#define LANES     PN_MODULE_PAGE_11

#define N_LANES 8u

/* Lower memory, 8.2. */
#define CHARACTERISTICS 2u
#define MODULE_STATE    3u
#define FLAGS_MODULE    9u
#define TEMPERATURE     14u
#define VOLTAGE         16u
#define MEDIA_TYPE      85u
#define APPLICATION     86u /* the first: host interface, then media interface */

#define CHARACTERISTICS_FLAT 0x80u

/* Table 6-13, as bits 3..1 of byte 3 have them. */
#define STATE_LOW_POWER  1u
#define STATE_POWER_UP   2u
#define STATE_POWER_DOWN 4u
#define STATE_FAULT      5u

/* Page 00h, 8.3. */
#define IDENTIFIER    128u
#define VENDOR        129u
#define OUI           145u
#define PART          148u
#define REVISION      164u
#define SERIAL        166u
#define DATE          182u
#define CABLE_LENGTH  202u
#define CONNECTOR     203u
#define MISSING_LANES 210u
#define TECHNOLOGY    212u
#define CHECKSUM_00   222u

#define TECHNOLOGY_COPPER_FIRST  0x0au
#define TECHNOLOGY_COPPER_ACTIVE 0x0cu
#define TECHNOLOGY_COPPER_LAST   0x0fu

/* Page 01h, 8.4. */
#define CHECKED_01      130u
#define LENGTH_SMF      132u
#define LENGTH_OM5      133u /* 2 m, as the two after it */
#define LENGTH_OM4      134u
#define LENGTH_OM3      135u
#define LENGTH_OM2      136u /* 1 m */
#define WAVELENGTH      138u /* 0.05 nm */
#define MONITORS_MODULE 159u
#define MONITORS_LANES  160u
#define CHECKSUM_01     255u

#define MONITOR_TEMPERATURE 0x01u
#define MONITOR_VOLTAGE     0x02u
#define MONITOR_BIAS        0x01u
#define MONITOR_TX_POWER    0x02u
#define MONITOR_RX_POWER    0x04u

/* Page 02h, 8.5. */
#define LIMITS_TEMPERATURE 128u
#define LIMITS_VOLTAGE     136u
#define LIMITS_TX_POWER    176u
#define LIMITS_BIAS        184u
#define LIMITS_RX_POWER    192u
#define CHECKSUM_02        255u

/* Page 11h, 8.9: each flag byte has a bit a lane. */
#define FLAG_TX_FAULT  135u
#define FLAGS_TX_POWER 139u /* high alarm, low alarm, high warning, low warning */
#define FLAGS_BIAS     143u
#define FLAG_RX_LOS    147u
#define FLAGS_RX_POWER 149u
#define TX_POWER       154u
#define BIAS           170u
#define RX_POWER       186u

/* All of the page, of which it is the most: of another module it is then read already. */
const PnModuleSpan pn_cmis_serial = {PAGE_00, 128, 128};

static uint8_t lower(const PnModulePages *pages, size_t at)
{
        return pn_module_u8(pages, LOWER, at);
}

/* Whether it has no pages but 00h. */
static bool is_flat(const PnModulePages *pages)
{
        return lower(pages, CHARACTERISTICS) & CHARACTERISTICS_FLAT;
}

/* Whether page 01h tells about `n` bytes from `at`. Where a driver has no such page, it may hand
 * out zeros: that page of a module is never blank, since it starts with versions and pages. */
static bool is_told(const PnModulePages *pages, size_t at, size_t n)
{
        const PnModulePage *page = &pages->area[ADVERTISE];
        bool blank = true;

        if (is_flat(pages) || !pn_module_has(pages, ADVERTISE, at, n))
                return false;
        for (size_t i = 0; i < page->n && blank; i++)
                blank = page->bytes[i] == 0;
        return !blank;
}

/* Why it does not tell. */
static PnState untold(const PnModulePages *pages, size_t at, size_t n)
{
        return pn_module_has(pages, ADVERTISE, at, n) ? PN_UNREAD_MALFORMED
                                                      : pn_module_reason(pages, ADVERTISE);
}

static PnSffKind identify(const PnModulePages *pages)
{
        uint8_t technology = pn_module_u8(pages, PAGE_00, TECHNOLOGY);
        bool copper = technology >= TECHNOLOGY_COPPER_FIRST && technology <= TECHNOLOGY_COPPER_LAST;

        switch (lower(pages, MEDIA_TYPE)) {
        case PN_SFF_MEDIA_PASSIVE_COPPER:
                return PN_SFF_PASSIVE_COPPER;
        case PN_SFF_MEDIA_ACTIVE_CABLE:
                return copper ? PN_SFF_ACTIVE_COPPER : PN_SFF_ACTIVE_OPTICAL;
        case PN_SFF_MEDIA_BASE_T:
                return PN_SFF_BASE_T;
        case PN_SFF_MEDIA_MMF:
        case PN_SFF_MEDIA_SMF:
                return PN_SFF_OPTICAL;
        default:
                return !copper                                 ? PN_SFF_OPTICAL
                       : technology < TECHNOLOGY_COPPER_ACTIVE ? PN_SFF_PASSIVE_COPPER
                                                               : PN_SFF_ACTIVE_COPPER;
        }
}

/* The type is that of the first application, which is the one that the module starts with. */
static int decode_type(const PnModulePages *pages, PnSffKind kind, PnText *ret)
{
        const char *type = pn_sff8024_cable(kind);

        if (!pn_module_has(pages, LOWER, MEDIA_TYPE, 3)) {
                ret->state = pn_module_reason(pages, LOWER);
                return 0;
        }
        /* Active cables are told apart by page 00h. */
        if (lower(pages, MEDIA_TYPE) == PN_SFF_MEDIA_ACTIVE_CABLE &&
            !pn_module_has(pages, PAGE_00, TECHNOLOGY, 1)) {
                ret->state = pn_module_reason(pages, PAGE_00);
                return 0;
        }
        /* An interface that is not used ends the list. */
        if (!type && lower(pages, APPLICATION) != 0xff)
                type = pn_sff8024_media(lower(pages, MEDIA_TYPE), lower(pages, APPLICATION + 1));
        return type ? pn_set_text(ret, type) : 0;
}

static int decode_cable_length(const PnModulePages *pages, PnSffKind kind, PnModule *module)
{
        static const double units[] = {0, 1, 10, 100};
        uint8_t byte = pn_module_u8(pages, PAGE_00, CABLE_LENGTH);
        unsigned base = byte & 0x3f, unit = byte >> 6;

        if (!pn_module_has(pages, PAGE_00, CABLE_LENGTH, 1)) {
                module->lengths.state = pn_module_reason(pages, PAGE_00);
                return 0;
        }
        module->lengths.state = PN_KNOWN;
        return pn_module_add_length(module, kind == PN_SFF_ACTIVE_OPTICAL ? "cable" : "copper",
                                    unit == 0 ? base / 10.0 : base * units[unit]);
}

static int decode_lengths(const PnModulePages *pages, PnModule *module)
{
        static const unsigned units[] = {100, 1000, 10000, 0};
        static const struct {
                const char *medium;
                uint8_t at;
                unsigned unit;
        } multi_mode[] = {
            {"OM2", LENGTH_OM2, 1},
            {"OM3", LENGTH_OM3, 2},
            {"OM4", LENGTH_OM4, 2},
            {"OM5", LENGTH_OM5, 2},
        };
        uint8_t smf = pn_module_u8(pages, ADVERTISE, LENGTH_SMF);
        int r;

        if (is_flat(pages))
                return 0;
        if (!is_told(pages, LENGTH_SMF, LENGTH_OM2 + 1 - LENGTH_SMF)) {
                module->lengths.state = untold(pages, LENGTH_SMF, LENGTH_OM2 + 1 - LENGTH_SMF);
                return 0;
        }
        module->lengths.state = PN_KNOWN;
        r = pn_module_add_length(module, "SMF", (smf & 0x3f) * units[smf >> 6]);
        for (size_t i = 0; i < PN_ELEMENTS(multi_mode) && r >= 0; i++)
                r = pn_module_add_length(module, multi_mode[i].medium,
                                         pn_module_u8(pages, ADVERTISE, multi_mode[i].at) *
                                             multi_mode[i].unit);
        return r;
}

static void decode_wavelength(const PnModulePages *pages, PnReal *ret)
{
        uint16_t raw = pn_module_u16(pages, ADVERTISE, WAVELENGTH);

        if (is_flat(pages))
                return;
        if (!is_told(pages, WAVELENGTH, 2))
                ret->state = untold(pages, WAVELENGTH, 2);
        else if (raw != 0 && raw != 0xffff)
                *ret = pn_real(raw / 20.0);
}

/* Temperature or voltage. Without page 01h nobody says whether it is measured; what is not zero
 * is. */
static PnReal monitor(const PnModulePages *pages, size_t at, PnModuleConvert convert, uint8_t bit,
                      const void *limits)
{
        uint16_t raw = pn_module_u16(pages, LOWER, at);
        bool told = is_told(pages, MONITORS_MODULE, 1);

        if (pn_module_has(pages, LOWER, at, 2) && told &&
            !(pn_module_u8(pages, ADVERTISE, MONITORS_MODULE) & bit))
                return (PnReal){.state = PN_UNREAD_UNSUPPORTED};
        if (pn_module_has(pages, LOWER, at, 2) && !told && raw == 0)
                return (PnReal){.state = is_flat(pages) ? PN_UNREAD_UNSUPPORTED
                                                        : untold(pages, MONITORS_MODULE, 1)};
        return pn_module_reading(pages, LOWER, at, convert, NULL, limits);
}

/* What words of bias are to be multiplied with. PN_KNOWN, or why it is not. */
static PnState bias_factor(const PnModulePages *pages, unsigned *ret)
{
        unsigned code = pn_module_u8(pages, ADVERTISE, MONITORS_LANES) >> 3 & 3u;

        *ret = 1u << code;
        if (!is_told(pages, MONITORS_LANES, 1))
                return untold(pages, MONITORS_LANES, 1);
        return code < 3 ? PN_KNOWN : PN_UNREAD_MALFORMED;
}

static double milliamperes(const void *context, uint16_t raw)
{
        const unsigned *factor = context;

        return raw * (double)*factor / 500;
}

/* A lane's word, if it is a reading. */
static PnReal lane_reading(const PnModulePages *pages, size_t at, uint8_t bit,
                           PnModuleConvert convert, const void *context, const void *limits)
{
        bool has = pn_module_has(pages, LANES, at, 2), told = is_told(pages, MONITORS_LANES, 1);

        if (has && told && !(pn_module_u8(pages, ADVERTISE, MONITORS_LANES) & bit))
                return (PnReal){.state = PN_UNREAD_UNSUPPORTED};
        if (has && !told && pn_module_u16(pages, LANES, at) == 0)
                return (PnReal){.state = untold(pages, MONITORS_LANES, 1)};
        return pn_module_reading(pages, LANES, at, convert, context, limits);
}

/* Why lanes have no readings; PN_KNOWN if they have. */
static PnState lanes_state(const PnModulePages *pages)
{
        switch (lower(pages, MODULE_STATE) >> 1 & 7u) {
        case STATE_LOW_POWER:
        case STATE_POWER_DOWN:
                return PN_UNREAD_ASLEEP;
        case STATE_POWER_UP:
                return PN_UNREAD_TIMEOUT;
        case STATE_FAULT:
                return PN_UNREAD_UNSUPPORTED;
        default:
                break;
        }
        if (!pn_module_has(pages, PAGE_00, MISSING_LANES, 1))
                return pn_module_reason(pages, PAGE_00);
        return pages->area[LANES].n > 0 ? PN_KNOWN : pn_module_reason(pages, LANES);
}

static unsigned count_lanes(const PnModulePages *pages)
{
        uint8_t missing = pn_module_u8(pages, PAGE_00, MISSING_LANES);
        unsigned n = N_LANES;

        while (n > 0 && missing & 1u << (n - 1))
                n--;
        return n;
}

static int decode_lanes(const PnModulePages *pages, unsigned n, const PnModuleThresholds *limits,
                        PnModuleDiagnostics *diagnostics)
{
        unsigned factor;
        PnState factor_state = bias_factor(pages, &factor);

        for (unsigned i = 0; i < n; i++) {
                PnModuleLane *lane = PN_APPEND(&diagnostics->lanes);
                size_t at = 2 * (size_t)i;

                if (!lane)
                        return -ENOMEM;
                pn_module_set_power(lane_reading(pages, RX_POWER + at, MONITOR_RX_POWER,
                                                 pn_module_milliwatts, NULL, &limits->rx_power),
                                    &lane->rx_power_mw, &lane->rx_power_dbm);
                pn_module_set_power(lane_reading(pages, TX_POWER + at, MONITOR_TX_POWER,
                                                 pn_module_milliwatts, NULL, &limits->tx_power),
                                    &lane->tx_power_mw, &lane->tx_power_dbm);
                lane->bias_ma = lane_reading(pages, BIAS + at, MONITOR_BIAS, milliamperes, &factor,
                                             &limits->bias);
                if (lane->bias_ma.state == PN_KNOWN && factor_state != PN_KNOWN)
                        lane->bias_ma = (PnReal){.state = factor_state};
        }
        return 0;
}

static int decode_thresholds(const PnModulePages *pages, bool light, PnModuleThresholds *thresholds)
{
        static const PnModuleLimitsAt at = {
            .area = LIMITS,
            .temperature = LIMITS_TEMPERATURE,
            .voltage = LIMITS_VOLTAGE,
            .rx_power = LIMITS_RX_POWER,
            .tx_power = LIMITS_TX_POWER,
            .bias = LIMITS_BIAS,
        };
        unsigned factor;
        PnState factor_state = bias_factor(pages, &factor);
        int r;

        if (is_flat(pages))
                return 0;
        r = pn_module_thresholds(pages, &at, light, milliamperes, &factor, thresholds);
        if (r < 0 || !light || factor_state == PN_KNOWN)
                return r;
        pn_free(pn_type_ModuleLimits(), thresholds->bias.v);
        thresholds->bias.v = NULL;
        thresholds->bias.state = factor_state;
        return 0;
}

/* The nibble of the four flags of a quantity: here the first one is in the lowest bit. */
static unsigned reversed(unsigned nibble)
{
        return (nibble & 1) << 3 | (nibble & 2) << 1 | (nibble >> 1 & 2) | (nibble >> 3 & 1);
}

/* The same of a lane, from four bytes that have a bit a lane. */
static unsigned lane_flags(const PnModulePages *pages, PnModuleLaneFlags quantity, unsigned lane)
{
        static const uint8_t at[PN_N_MODULE_LANE_FLAGS] = {
            [PN_MODULE_FLAGS_RX_POWER] = FLAGS_RX_POWER,
            [PN_MODULE_FLAGS_BIAS] = FLAGS_BIAS,
            [PN_MODULE_FLAGS_TX_POWER] = FLAGS_TX_POWER,
        };
        unsigned bits = 0;

        for (size_t i = at[quantity]; i < at[quantity] + 4u; i++)
                bits = bits << 1 | ((unsigned)pn_module_u8(pages, LANES, i) >> lane & 1u);
        return bits;
}

static int decode_flags(const PnModulePages *pages, unsigned n, const PnModuleThresholds *limits,
                        PnTexts *flags)
{
        uint8_t module_flags = lower(pages, FLAGS_MODULE);
        int r;

        if (!pn_module_has(pages, LOWER, MODULE_STATE, FLAGS_MODULE + 1 - MODULE_STATE)) {
                flags->state = pn_module_reason(pages, LOWER);
                return 0;
        }
        flags->state = PN_KNOWN;
        if ((lower(pages, MODULE_STATE) >> 1 & 7u) == STATE_FAULT &&
            (r = pn_module_flag(flags, "module_fault", 0)) < 0)
                return r;
        if ((r = pn_module_flags(flags, "temperature", reversed(module_flags & 0xf), 0,
                                 &limits->temperature)) < 0 ||
            (r = pn_module_flags(flags, "voltage", reversed(module_flags >> 4), 0,
                                 &limits->voltage)) < 0)
                return r;

        for (unsigned i = 0; i < n; i++) {
                unsigned lane = n > 1 ? i + 1 : 0;

                if (pn_module_u8(pages, LANES, FLAG_RX_LOS) >> i & 1 &&
                    (r = pn_module_flag(flags, "rx_los", lane)) < 0)
                        return r;
                if (pn_module_u8(pages, LANES, FLAG_TX_FAULT) >> i & 1 &&
                    (r = pn_module_flag(flags, "tx_fault", lane)) < 0)
                        return r;
        }
        return pn_module_lane_flags(pages, n, limits, lane_flags, flags);
}

static int decode_diagnostics(const PnModulePages *pages, PnSffKind kind, PnModule *module)
{
        bool light = kind == PN_SFF_OPTICAL || kind == PN_SFF_ACTIVE_OPTICAL;
        uint16_t temperature = pn_module_u16(pages, LOWER, TEMPERATURE);
        uint16_t voltage = pn_module_u16(pages, LOWER, VOLTAGE);
        PnModuleDiagnostics *diagnostics;
        PnModuleThresholds *thresholds;
        unsigned n = 0;
        int r;

        if (!pn_module_has(pages, LOWER, TEMPERATURE, 4)) {
                module->diagnostics.state = pn_module_reason(pages, LOWER);
                return 0;
        }
        /* Memory without pages is that of cables, few of which measure anything. */
        if (is_flat(pages) && temperature == 0 && voltage == 0)
                return 0;
        if (is_flat(pages) && temperature == 0xffff && voltage == 0xffff) {
                module->diagnostics.state = PN_UNREAD_UNSUPPORTED;
                return 0;
        }

        diagnostics = pn_module_new_diagnostics(module);
        if (!diagnostics)
                return -ENOMEM;
        thresholds = diagnostics->thresholds.v;
        if ((r = decode_thresholds(pages, light, thresholds)) < 0)
                return r;
        diagnostics->temperature_c = monitor(pages, TEMPERATURE, pn_module_celsius,
                                             MONITOR_TEMPERATURE, &thresholds->temperature);
        diagnostics->voltage_v =
            monitor(pages, VOLTAGE, pn_module_volts, MONITOR_VOLTAGE, &thresholds->voltage);
        if (light && !is_flat(pages)) {
                PnState state = lanes_state(pages);

                n = state == PN_KNOWN ? count_lanes(pages) : 0;
                if (state != PN_KNOWN)
                        diagnostics->lanes.state = state;
                else if ((r = decode_lanes(pages, n, thresholds, diagnostics)) < 0)
                        return r;
        }
        /* Without page 11h the flags are those of the module; that its lanes are unread says so. */
        r = decode_flags(pages, n, thresholds, &diagnostics->flags);
        pn_module_settle_thresholds(diagnostics);
        return r;
}

int pn_cmis_decode(const PnModulePages *pages, PnModule *module)
{
        PnSffKind kind = identify(pages);
        bool light = kind == PN_SFF_OPTICAL || kind == PN_SFF_ACTIVE_OPTICAL;
        int r;

        if ((r = pn_set_text(&module->standard, "CMIS")) < 0 ||
            (r = pn_set_text(&module->form, pn_sff8024_form(lower(pages, 0)))) < 0 ||
            (r = pn_module_text(pages, PAGE_00, VENDOR, 16, &module->vendor)) < 0 ||
            (r = pn_module_oui(pages, PAGE_00, OUI, &module->oui)) < 0 ||
            (r = pn_module_text(pages, PAGE_00, PART, 16, &module->part_number)) < 0 ||
            (r = pn_module_text(pages, PAGE_00, REVISION, 2, &module->revision)) < 0 ||
            (r = pn_module_text(pages, PAGE_00, SERIAL, 16, &module->serial)) < 0 ||
            (r = pn_module_text(pages, PAGE_00, DATE, 8, &module->date_code)) < 0 ||
            (r = pn_module_connector(pages, PAGE_00, CONNECTOR, &module->connector)) < 0 ||
            (r = decode_type(pages, kind, &module->type)) < 0)
                return r;
        r = kind == PN_SFF_OPTICAL ? decode_lengths(pages, module)
                                   : decode_cable_length(pages, kind, module);
        if (r < 0)
                return r;
        if (light)
                decode_wavelength(pages, &module->wavelength_nm);

        pn_module_check(pages, PAGE_00, IDENTIFIER, CHECKSUM_00, &module->checksum_ok);
        if (!is_flat(pages)) {
                pn_module_check(pages, ADVERTISE, CHECKED_01, CHECKSUM_01, &module->checksum_ok);
                pn_module_check(pages, LIMITS, 128, CHECKSUM_02, &module->checksum_ok);
        }
        if (module->checksum_ok.state != PN_KNOWN)
                module->checksum_ok.state = pn_module_reason(pages, PAGE_00);
        return decode_diagnostics(pages, kind, module);
}

unsigned pn_cmis_wanted(const PnModulePages *pages, bool diagnostics_only)
{
        bool paged = pn_module_has(pages, LOWER, CHARACTERISTICS, 1) && !is_flat(pages);
        unsigned wanted = 1u << LOWER;

        if (!diagnostics_only)
                wanted |= 1u << PAGE_00;
        if (!paged)
                return wanted;
        if (!diagnostics_only)
                wanted |= 1u << ADVERTISE | 1u << LIMITS;
        if (lower(pages, MEDIA_TYPE) != PN_SFF_MEDIA_PASSIVE_COPPER)
                wanted |= 1u << LANES;
        return wanted;
}
