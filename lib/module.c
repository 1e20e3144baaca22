/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses the decoder of a pluggable transceiver's memory by its identifier, and holds what the
 * decoders share. Knows the bytes that were read, not how. */
#include "module.h"

#include <math.h>

#include "cmis.h"
#include "sff8024.h"
#include "sff8472.h"
#include "sff8636.h"
#include "text.h"

#define PAGE_SIZE 128u
#define SFP_SIZE  256u /* of each of A0h and A2h */

/* The offset of an area's first byte. */
static size_t area_base(PnModuleArea area)
{
        return area == PN_MODULE_LOWER || area == PN_MODULE_A2 ? 0 : PAGE_SIZE;
}

bool pn_module_has(const PnModulePages *pages, PnModuleArea area, size_t at, size_t n)
{
        size_t base = area_base(area);

        return at >= base && n <= pages->area[area].n && at - base <= pages->area[area].n - n;
}

uint8_t pn_module_u8(const PnModulePages *pages, PnModuleArea area, size_t at)
{
        return pn_module_has(pages, area, at, 1) ? pages->area[area].bytes[at - area_base(area)]
                                                 : 0;
}

uint16_t pn_module_u16(const PnModulePages *pages, PnModuleArea area, size_t at)
{
        if (!pn_module_has(pages, area, at, 2))
                return 0;
        return (uint16_t)(pn_module_u8(pages, area, at) << 8 | pn_module_u8(pages, area, at + 1));
}

PnState pn_module_reason(const PnModulePages *pages, PnModuleArea area)
{
        PnState reason = pages->area[area].reason;

        return pn_is_unread(reason) && reason < PN_N_STATES ? reason : PN_UNREAD_UNSUPPORTED;
}

static bool all_bytes_are(const uint8_t *bytes, size_t n, uint8_t value)
{
        for (size_t i = 0; i < n; i++)
                if (bytes[i] != value)
                        return false;
        return true;
}

int pn_module_text(const PnModulePages *pages, PnModuleArea area, size_t at, size_t n, PnText *ret)
{
        const uint8_t *bytes;
        char *text;
        int r;

        if (!pn_module_has(pages, area, at, n)) {
                ret->state = pn_module_reason(pages, area);
                return 0;
        }
        bytes = pages->area[area].bytes + (at - area_base(area));
        if (all_bytes_are(bytes, n, 0xff))
                return 0;
        r = pn_text_from_bytes(bytes, n, &text);
        if (r > 0)
                pn_take_text(ret, text);
        return r < 0 ? r : 0;
}

int pn_module_oui(const PnModulePages *pages, PnModuleArea area, size_t at, PnText *ret)
{
        const uint8_t *bytes;

        if (!pn_module_has(pages, area, at, 3)) {
                ret->state = pn_module_reason(pages, area);
                return 0;
        }
        bytes = pages->area[area].bytes + (at - area_base(area));
        if (all_bytes_are(bytes, 3, 0) || all_bytes_are(bytes, 3, 0xff))
                return 0;
        return pn_format_text(ret, "%02x:%02x:%02x", bytes[0], bytes[1], bytes[2]);
}

int pn_module_connector(const PnModulePages *pages, PnModuleArea area, size_t at, PnText *ret)
{
        if (!pn_module_has(pages, area, at, 1)) {
                ret->state = pn_module_reason(pages, area);
                return 0;
        }
        return pn_set_text(ret, pn_sff8024_connector(pn_module_u8(pages, area, at)));
}

int pn_module_add_length(PnModule *module, const char *medium, double metres)
{
        PnModuleLength *length;

        if (metres <= 0)
                return 0;
        length = PN_APPEND(&module->lengths);
        if (!length)
                return -ENOMEM;
        length->metres = pn_real(metres);
        return pn_set_text(&length->medium, medium);
}

void pn_module_check(const PnModulePages *pages, PnModuleArea area, size_t from, size_t end,
                     PnBool *ret)
{
        unsigned sum = 0;

        if (!pn_module_has(pages, area, from, end + 1 - from))
                return;
        for (size_t at = from; at < end; at++)
                sum += pn_module_u8(pages, area, at);
        if ((sum & 0xff) != pn_module_u8(pages, area, end))
                *ret = pn_bool(false);
        else if (ret->state != PN_KNOWN)
                *ret = pn_bool(true);
}

void pn_module_set_power(PnReal power, PnReal *ret_mw, PnReal *ret_dbm)
{
        *ret_mw = power;
        *ret_dbm = (PnReal){.state = power.state == PN_KNOWN ? PN_ABSENT : power.state};
        if (power.state == PN_KNOWN && power.v > 0) {
                double hundredths = round(1000 * log10(power.v));

                /* 1 mW is 0 dBm, never minus zero. */
                *ret_dbm = pn_real(hundredths != 0 ? hundredths / 100 : 0);
        }
}

double pn_module_celsius(const void *context, uint16_t raw)
{
        (void)context;
        return (raw < 0x8000 ? raw : raw - 0x10000) / 256.0;
}

double pn_module_volts(const void *context, uint16_t raw)
{
        (void)context;
        return raw / 10000.0;
}

double pn_module_milliwatts(const void *context, uint16_t raw)
{
        (void)context;
        return raw / 10000.0;
}

int pn_module_limits(const PnModulePages *pages, PnModuleArea area, size_t at, bool is_signed,
                     PnModuleConvert convert, const void *context, void *ref)
{
        PnState *state = ref;
        double high_alarm, low_alarm, high_warning, low_warning;
        PnModuleLimits *object;

        if (!pn_module_has(pages, area, at, 8)) {
                *state = pn_module_reason(pages, area);
                return 0;
        }
        /* An unsigned word of ones is memory that was never written. */
        for (size_t i = 0; i < 8 && !is_signed; i += 2)
                if (pn_module_u16(pages, area, at + i) == 0xffff)
                        return 0;

        high_alarm = convert(context, pn_module_u16(pages, area, at));
        low_alarm = convert(context, pn_module_u16(pages, area, at + 2));
        high_warning = convert(context, pn_module_u16(pages, area, at + 4));
        low_warning = convert(context, pn_module_u16(pages, area, at + 6));
        /* Leaves out zeros and equal values, too, and what a calibration makes NaN of. */
        if (!(low_alarm <= low_warning && low_warning < high_warning && high_warning <= high_alarm))
                return 0;

        object = pn_ref_new(ref, sizeof *object);
        if (!object)
                return -ENOMEM;
        object->high_alarm = pn_real(high_alarm);
        object->high_warning = pn_real(high_warning);
        object->low_warning = pn_real(low_warning);
        object->low_alarm = pn_real(low_alarm);
        return 0;
}

int pn_module_flag(PnTexts *flags, const char *word, unsigned lane)
{
        _cleanup_(pn_buf_cleanup) PnBuf buf = {0};

        pn_buf_puts(&buf, word);
        if (lane > 0)
                pn_buf_printf(&buf, "_%u", lane);
        return buf.error ? buf.error : pn_texts_append(flags, buf.data);
}

int pn_module_flags(PnTexts *flags, const char *quantity, unsigned bits, unsigned lane,
                    const void *limits)
{
        static const char *const words[] = {"high_alarm", "low_alarm", "high_warning",
                                            "low_warning"};

        if (*(const PnState *)limits == PN_ABSENT)
                return 0;
        for (unsigned i = 0; i < PN_ELEMENTS(words); i++) {
                _cleanup_(pn_buf_cleanup) PnBuf buf = {0};
                int r;

                if (!(bits & 8u >> i))
                        continue;
                pn_buf_printf(&buf, "%s_%s", quantity, words[i]);
                r = buf.error ? buf.error : pn_module_flag(flags, buf.data, lane);
                if (r < 0)
                        return r;
        }
        return 0;
}

bool pn_module_is_erased(uint16_t raw, const void *limits)
{
        return raw == 0xffff && *(const PnState *)limits != PN_KNOWN;
}

PnReal pn_module_reading(const PnModulePages *pages, PnModuleArea area, size_t at,
                         PnModuleConvert convert, const void *context, const void *limits)
{
        uint16_t raw = pn_module_u16(pages, area, at);

        if (!pn_module_has(pages, area, at, 2))
                return (PnReal){.state = pn_module_reason(pages, area)};
        if (pn_module_is_erased(raw, limits))
                return (PnReal){.state = PN_UNREAD_UNSUPPORTED};
        return pn_real(convert(context, raw));
}

PnModuleDiagnostics *pn_module_new_diagnostics(PnModule *module)
{
        PnModuleDiagnostics *diagnostics = PN_NEW(&module->diagnostics);

        return diagnostics && PN_NEW(&diagnostics->thresholds) ? diagnostics : NULL;
}

int pn_module_thresholds(const PnModulePages *pages, const PnModuleLimitsAt *at, bool light,
                         PnModuleConvert milliamperes, const void *context, PnModuleThresholds *ret)
{
        int r;

        if ((r = pn_module_limits(pages, at->area, at->temperature, true, pn_module_celsius, NULL,
                                  &ret->temperature)) < 0 ||
            (r = pn_module_limits(pages, at->area, at->voltage, false, pn_module_volts, NULL,
                                  &ret->voltage)) < 0 ||
            !light)
                return r;
        if ((r = pn_module_limits(pages, at->area, at->rx_power, false, pn_module_milliwatts, NULL,
                                  &ret->rx_power)) < 0 ||
            (r = pn_module_limits(pages, at->area, at->tx_power, false, pn_module_milliwatts, NULL,
                                  &ret->tx_power)) < 0)
                return r;
        return pn_module_limits(pages, at->area, at->bias, false, milliamperes, context,
                                &ret->bias);
}

int pn_module_lane_flags(const PnModulePages *pages, unsigned n, const PnModuleThresholds *limits,
                         unsigned (*bits)(const PnModulePages *pages, PnModuleLaneFlags quantity,
                                          unsigned lane),
                         PnTexts *flags)
{
        const struct {
                const char *name;
                const void *limits;
        } quantities[PN_N_MODULE_LANE_FLAGS] = {
            [PN_MODULE_FLAGS_RX_POWER] = {"rx_power", &limits->rx_power},
            [PN_MODULE_FLAGS_BIAS] = {"bias", &limits->bias},
            [PN_MODULE_FLAGS_TX_POWER] = {"tx_power", &limits->tx_power},
        };

        for (PnModuleLaneFlags q = 0; q < PN_N_MODULE_LANE_FLAGS; q++)
                for (unsigned i = 0; i < n; i++) {
                        int r = pn_module_flags(flags, quantities[q].name, bits(pages, q, i),
                                                n > 1 ? i + 1 : 0, quantities[q].limits);

                        if (r < 0)
                                return r;
                }
        return 0;
}

void pn_module_settle_thresholds(PnModuleDiagnostics *diagnostics)
{
        const PnType *type = pn_type_ModuleThresholds();
        PnModuleThresholds *thresholds = diagnostics->thresholds.v;
        PnState whole = PN_ABSENT;

        if (!thresholds)
                return;
        for (unsigned i = 0; i < type->n_fields; i++) {
                const PnState *state = pn_field_at(&type->fields[i], thresholds);

                if (*state == PN_KNOWN)
                        return;
                if (whole == PN_ABSENT)
                        whole = *state;
        }
        pn_free(type, thresholds);
        diagnostics->thresholds.v = NULL;
        diagnostics->thresholds.state = whole;
}

/* Marks every field that is not known. */
static void mark_unread(PnModule *module, PnState reason)
{
        const PnType *type = pn_type_Module();

        for (unsigned i = 0; i < type->n_fields; i++) {
                PnState *state = pn_field_at(&type->fields[i], module);

                if (*state == PN_ABSENT)
                        *state = reason;
        }
}

static int fail(PnModule *module, const char *status, PnState reason)
{
        int r = pn_set_text(&module->status, status);

        mark_unread(module, reason);
        return r;
}

/* Whether the first bytes are those of an empty bus or of memory that a driver did not fill. A
 * module cannot begin so: 00h is no identifier, nor is ffh. */
static bool is_blank(const PnModulePage *lower)
{
        size_t n = lower->n < PAGE_SIZE ? lower->n : PAGE_SIZE;

        return all_bytes_are(lower->bytes, n, 0) || all_bytes_are(lower->bytes, n, 0xff);
}

static int decode(const PnModulePages *pages, PnModule *module)
{
        uint8_t identifier = pn_module_u8(pages, PN_MODULE_LOWER, 0);
        const char *form = pn_sff8024_form(identifier);
        int r;

        if (!pn_module_has(pages, PN_MODULE_LOWER, 0, 1)) {
                PnState reason = pn_module_reason(pages, PN_MODULE_LOWER);

                return fail(module,
                            reason == PN_UNREAD_PERMISSION    ? "permission_denied"
                            : reason == PN_UNREAD_UNSUPPORTED ? "unsupported_by_driver"
                                                              : "unreadable",
                            reason);
        }
        if (is_blank(&pages->area[PN_MODULE_LOWER]))
                return fail(module, "unreadable", PN_UNREAD_MALFORMED);

        r = pn_set_text(&module->status, "present");
        if (r < 0)
                return r;
        switch (pn_sff8024_map(identifier)) {
        case PN_SFF_MAP_8472:
                return pn_sff8472_decode(pages, module);
        case PN_SFF_MAP_8636:
                return pn_sff8636_decode(pages, module);
        case PN_SFF_MAP_CMIS:
                return pn_cmis_decode(pages, module);
        case PN_SFF_MAP_UNKNOWN:
                break;
        }
        r = form ? pn_set_text(&module->form, form)
                 : pn_format_text(&module->form, "identifier 0x%02x", identifier);
        return r < 0 ? r : fail(module, "unsupported_map", PN_UNREAD_UNSUPPORTED);
}

int pn_module_decode(const PnModulePages *pages, PnModule *ret)
{
        PnModule module = {0};
        int r = decode(pages, &module);

        if (r < 0) {
                pn_done(pn_type_Module(), &module);
                return r;
        }
        *ret = module;
        return 0;
}

unsigned pn_module_wanted(const PnModulePages *pages, bool diagnostics_only)
{
        unsigned lower = 1u << PN_MODULE_LOWER;

        if (!pn_module_has(pages, PN_MODULE_LOWER, 0, 1))
                return lower;
        switch (pn_sff8024_map(pn_module_u8(pages, PN_MODULE_LOWER, 0))) {
        case PN_SFF_MAP_8472:
                return pn_sff8472_wanted(pages, diagnostics_only);
        case PN_SFF_MAP_8636:
                return pn_sff8636_wanted(pages, diagnostics_only);
        case PN_SFF_MAP_CMIS:
                return pn_cmis_wanted(pages, diagnostics_only);
        case PN_SFF_MAP_UNKNOWN:
                break;
        }
        return diagnostics_only ? 0 : lower;
}

PnModuleSpan pn_module_serial(const PnModulePages *pages)
{
        if (pn_module_has(pages, PN_MODULE_LOWER, 0, 1))
                switch (pn_sff8024_map(pn_module_u8(pages, PN_MODULE_LOWER, 0))) {
                case PN_SFF_MAP_8472:
                        return pn_sff8472_serial;
                case PN_SFF_MAP_8636:
                        return pn_sff8636_serial;
                case PN_SFF_MAP_CMIS:
                        return pn_cmis_serial;
                case PN_SFF_MAP_UNKNOWN:
                        break;
                }
        return (PnModuleSpan){0};
}

PnModuleSpan pn_module_readings(PnModuleArea area)
{
        if (area == PN_MODULE_A2)
                return pn_sff8472_readings;
        return (PnModuleSpan){area, area == PN_MODULE_LOWER ? 0 : PAGE_SIZE, PAGE_SIZE};
}

int pn_module_from_flat(const uint8_t *bytes, size_t n, PnModulePages *ret)
{
        PnModulePages pages = {0};

        if (!bytes || n == 0)
                return -EINVAL;
        if (pn_sff8024_map(bytes[0]) == PN_SFF_MAP_8472) {
                pages.area[PN_MODULE_LOWER].bytes = bytes;
                pages.area[PN_MODULE_LOWER].n = n < SFP_SIZE ? n : SFP_SIZE;
                if (n > SFP_SIZE) {
                        pages.area[PN_MODULE_A2].bytes = bytes + SFP_SIZE;
                        pages.area[PN_MODULE_A2].n =
                            n - SFP_SIZE < SFP_SIZE ? n - SFP_SIZE : SFP_SIZE;
                }
        } else {
                static const PnModuleArea order[] = {PN_MODULE_LOWER, PN_MODULE_PAGE_00,
                                                     PN_MODULE_PAGE_01, PN_MODULE_PAGE_02,
                                                     PN_MODULE_PAGE_03};

                for (size_t i = 0; i < PN_ELEMENTS(order) && i * PAGE_SIZE < n; i++) {
                        size_t left = n - i * PAGE_SIZE;

                        pages.area[order[i]].bytes = bytes + i * PAGE_SIZE;
                        pages.area[order[i]].n = left < PAGE_SIZE ? left : PAGE_SIZE;
                }
        }
        *ret = pages;
        return 0;
}
