/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes what an NVMe controller says of its health; knows no drive, no clock and no transport. */

#include "smart.h"

/* Nothing that works is colder or hotter (K): what lies outside is a mistake of the firmware. */
#define KELVIN_MIN 173
#define KELVIN_MAX 473

#define N_SENSORS 8

static uint16_t le16(const uint8_t *p)
{
        return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t le32(const uint8_t *p)
{
        return (uint32_t)le16(p) | (uint32_t)le16(p + 2) << 16;
}

static uint64_t le64(const uint8_t *p)
{
        return (uint64_t)le32(p) | (uint64_t)le32(p + 4) << 32;
}

static PnInt unsigned_int(uint64_t v)
{
        return v > INT64_MAX ? (PnInt){.state = PN_UNREAD_OVERFLOW} : pn_int((int64_t)v);
}

static PnInt counter(const uint8_t *p)
{
        return le64(p + 8) ? (PnInt){.state = PN_UNREAD_OVERFLOW} : unsigned_int(le64(p));
}

static PnInt times(PnInt a, int64_t factor)
{
        int64_t v;

        if (a.state != PN_KNOWN)
                return a;
        if (__builtin_mul_overflow(a.v, factor, &v))
                return (PnInt){.state = PN_UNREAD_OVERFLOW};
        return pn_int(v);
}

static PnInt celsius(uint16_t kelvin)
{
        if (kelvin == 0 || kelvin == UINT16_MAX)
                return (PnInt){.state = PN_ABSENT};
        if (kelvin < KELVIN_MIN || kelvin > KELVIN_MAX)
                return (PnInt){.state = PN_UNREAD_MALFORMED};
        return pn_int(kelvin - 273);
}

static PnInt share(uint8_t percent)
{
        return percent > 100 ? (PnInt){.state = PN_UNREAD_MALFORMED} : pn_int(percent);
}

/* Memory that nobody wrote, or a device that is not there any more. */
static bool is_blank(const uint8_t *p, size_t n)
{
        return (*p == 0 || *p == 0xff) && memcmp(p, p + 1, n - 1) == 0;
}

static int read_warnings(uint8_t bits, PnTexts *ret)
{
        static const char *const words[8] = {
            "spare",           "temperature",       "reliability", "read_only",
            "volatile_backup", "persistent_memory", "bit_6",       "bit_7",
        };

        ret->state = PN_KNOWN;
        for (unsigned i = 0; i < 8; i++)
                if (bits & 1u << i && pn_texts_append(ret, words[i]) < 0)
                        return -ENOMEM;
        return 0;
}

static int read_sensors(const uint8_t *words, PnHealth *health)
{
        health->sensors.state = PN_KNOWN;
        for (unsigned i = 0; i < N_SENSORS; i++) {
                PnInt temperature = celsius(le16(words + 2 * i));
                PnNvmeSensor *sensor;

                if (temperature.state == PN_ABSENT)
                        continue;
                sensor = PN_APPEND(&health->sensors);
                if (!sensor)
                        return -ENOMEM;
                sensor->index = pn_int(i + 1);
                sensor->temperature_c = temperature;
        }
        return 0;
}

int pn_smart_decode(const void *log, size_t n, PnHealth *ret)
{
        const uint8_t *p = log;
        PnHealth health = {0};

        if (n < PN_SMART_LOG_SIZE)
                return -EINVAL;
        if (is_blank(p, PN_SMART_LOG_SIZE))
                return -EBADMSG;
        health.temperature_c = celsius(le16(p + 1));
        health.spare_percent = share(p[3]);
        health.spare_threshold_percent = share(p[4]);
        health.used_percent = pn_int(p[5]);
        health.data_units_read = counter(p + 32);
        health.data_units_written = counter(p + 48);
        health.bytes_read = times(health.data_units_read, 512000);
        health.bytes_written = times(health.data_units_written, 512000);
        health.host_reads = counter(p + 64);
        health.host_writes = counter(p + 80);
        health.busy_minutes = counter(p + 96);
        health.power_cycles = counter(p + 112);
        health.power_on_hours = counter(p + 128);
        health.unsafe_shutdowns = counter(p + 144);
        health.media_errors = counter(p + 160);
        health.error_log_entries = counter(p + 176);
        health.warning_temperature_minutes = pn_int(le32(p + 192));
        health.critical_temperature_minutes = pn_int(le32(p + 196));
        if (read_warnings(p[0], &health.critical_warnings) < 0 ||
            read_sensors(p + 200, &health) < 0) {
                pn_done(pn_type_Health(), &health);
                return -ENOMEM;
        }
        *ret = health;
        return 0;
}

int pn_smart_identify_controller(const void *data, size_t n, PnSmartIdentify *ret)
{
        const uint8_t *p = data;

        if (n < PN_IDENTIFY_SIZE)
                return -EINVAL;
        if (is_blank(p, PN_IDENTIFY_SIZE))
                return -EBADMSG;
        *ret = (PnSmartIdentify){
            .warning_c = celsius(le16(p + 266)),
            .critical_c = celsius(le16(p + 268)),
            .error_entries = p[262] + 1u,
        };
        return 0;
}

PnInt pn_smart_namespace_used(const void *data, size_t n)
{
        const uint8_t *p = data;
        unsigned format, shift;
        uint64_t size, used;

        if (n < PN_IDENTIFY_SIZE)
                return (PnInt){.state = PN_UNREAD_MALFORMED};
        size = le64(p);
        used = le64(p + 16);
        /* FLBAS: bits 3:0, and 6:5 above them where there are more than 16 formats. */
        format = p[26] & 0x0fu;
        if (p[25] > 15)
                format |= (unsigned)(p[26] & 0x60) >> 1;
        shift = p[128 + 4 * format + 2];
        if (size == 0 || shift < 9)
                return (PnInt){.state = PN_ABSENT};
        if (used > size || shift > 32)
                return (PnInt){.state = PN_UNREAD_MALFORMED};
        return times(unsigned_int(used), INT64_C(1) << shift);
}

/* A status that says that the command was not understood or not allowed, not that it failed:
 * generic status Invalid Opcode, Invalid Field, Invalid Namespace, …, and all command specific
 * ones. */
static bool is_refusal(uint16_t status)
{
        unsigned type = status >> 9 & 7, code = status >> 1 & 0xff;

        if (type == 1)
                return true;
        return type == 0 && (code == 0x01 || code == 0x02 || code == 0x0b || code == 0x0c ||
                             code == 0x15 || code == 0x16 || code == 0x1d);
}

void pn_smart_count_errors(const void *log, size_t n, unsigned max, unsigned *ret_refused,
                           unsigned *ret_failed)
{
        const uint8_t *p = log;

        *ret_refused = *ret_failed = 0;
        for (unsigned i = 0; i < max && n >= PN_ERROR_ENTRY_SIZE; i++) {
                uint16_t status = le16(p + 12);

                /* An error count of 0 is an entry that is not in use. */
                if (le64(p) != 0 && (status >> 1) != 0) {
                        if (is_refusal(status))
                                ++*ret_refused;
                        else
                                ++*ret_failed;
                }
                p += PN_ERROR_ENTRY_SIZE;
                n -= PN_ERROR_ENTRY_SIZE;
        }
}

void pn_nvme_limits(const PnHealth *health, const PnPolicy *policy, int64_t *ret_warning,
                    int64_t *ret_critical)
{
        int64_t warning = pn_int_or(health->warning_temperature_c, 0);
        int64_t critical = pn_int_or(health->critical_temperature_c, 0);

        /* A limit that a drive reaches in a cold room is a mistake. */
        if (warning < 40 || warning > 120)
                warning = 0;
        if (critical < 40 || critical > 130 || (warning && critical < warning))
                critical = 0;
        if (!warning && !critical) {
                warning = policy->nvme_warning_c;
                critical = policy->nvme_critical_c;
        } else if (!warning) {
                warning = critical - 10;
        } else if (!critical) {
                critical = warning + 10;
        }
        *ret_warning = warning;
        *ret_critical = critical;
}

bool pn_nvme_is_emulated(const char *model)
{
        static const char *const starts[] = {"Amazon ", "Microsoft ", "MSFT ", "VMware ",
                                             "nvme_card"};

        for (size_t i = 0; i < PN_ELEMENTS(starts); i++)
                if (model && pn_startswith(model, starts[i]))
                        return true;
        return false;
}
