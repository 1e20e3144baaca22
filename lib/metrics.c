/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A page of metrics from an inventory and a status: one row for each family, one visitor for each
 * kind of thing that has samples. Knows no clock, no file and no way to be served. */

#include "metrics.h"

#include <math.h>
#include <stdio.h>

#include "ports.h"
#include "when.h"

typedef enum Type { GAUGE, COUNTER, INFO } Type;

/* What a family has samples of. */
typedef enum Subject {
        BUILD,
        SOURCE,
        SEVERITY,
        FINDING,
        LINK,
        LINK_RATE,
        UPLINK,
        AER,
        DIMM,
        DRIVE,
        HEALTH,
        WARNING_BIT,
        DRIVE_SENSOR,
        NAMESPACE,
        READING,
        PORT,
        NIC,
        NIC_ERRORS,
        MEMBER,
        MODULE,
        PRESENT_MODULE,
        DIAGNOSTICS,
        LANE,
        TEMPERATURE_LIMITS,
        RX_LIMITS,
        TX_LIMITS,
        N_SUBJECTS,
} Subject;

typedef enum Kind {
        KIND_NONE,
        KIND_INT,
        KIND_REAL,
        KIND_BOOL, /* 0 or 1 */
        KIND_TEXT, /* as a value: a moment (RFC 3339) */
} Kind;

/* A field of a subject's object. `word` is the value of the family's part label, or the name of a
 * label that the field's text is the value of. */
typedef struct Field {
        char word[16];
        Kind kind;
        unsigned offset;
} Field;

/* Words lie in the row. Pointers to them would have to be adjusted at each start of each program
 * that the table is in, which took pnhwctl a sixth of what /bin/true takes. */
typedef struct Family {
        char name[56]; /* without `_total` and `_info` */
        Type type;
        char unit[24]; /* which the name ends in; "" for none */
        Subject subject;
        char only[16];       /* READING: of this kind alone; "": of all */
        char part[16];       /* label that tells the fields apart; "" for one field */
        Field fields[5];     /* none: the value is 1 */
        Field labels[9];     /* labels that it has besides its subject's */
        int64_t times, over; /* from the field's unit to the family's; 0 is 1 */
        char help[192];
} Family;

#define OF(word, T, field)                                                                         \
        {                                                                                          \
                word,                                                                              \
                    _Generic(((T *)0)->field, PnInt                                                \
                             : KIND_INT, PnReal                                                    \
                             : KIND_REAL, PnBool                                                   \
                             : KIND_BOOL, PnText                                                   \
                             : KIND_TEXT),                                                         \
                    offsetof(T, field)                                                             \
        }
#define VALUE(T, field) .fields = {OF("", T, field)}
#define LABEL(T, field) OF(#field, T, field)
#define SCALE(from, to) .times = (from), .over = (to)

#define MB_PER_S SCALE(125000, 1)
#define PERCENT  SCALE(1, 100)
#define MINUTES  SCALE(60, 1)
#define MILLI    SCALE(1, 1000)

/* What the rows are made for that are not fields of the model. */
typedef struct Count {
        PnInt n;
} Count;

typedef struct Flag {
        PnBool on;
} Flag;

#define RATES(field, from) .subject = LINK_RATE, VALUE(PnLinkRate, field), SCALE(from, 1)
#define LIMITS(which)                                                                              \
        .subject = which, .part = "limit",                                                         \
        .fields = {OF("high_alarm", PnModuleLimits, high_alarm),                                   \
                   OF("high_warning", PnModuleLimits, high_warning),                               \
                   OF("low_warning", PnModuleLimits, low_warning),                                 \
                   OF("low_alarm", PnModuleLimits, low_alarm)}

static const Family families[] = {
    {"pnhw_build", INFO, "", BUILD, .help = "The version of pnhw that made this page."},
    {"pnhw_source_state", GAUGE, "", SOURCE, .labels = {LABEL(PnSource, state)},
     .help = "1 with the state of a part of the inventory: fresh, stale, failed or never."},
    {"pnhw_source_read_timestamp_seconds", GAUGE, "seconds", SOURCE, VALUE(PnSource, updated),
     .help = "When a part of the inventory was last read in full."},
    {"pnhw_source_read_duration_seconds", GAUGE, "seconds", SOURCE, VALUE(PnSource, took_ms), MILLI,
     .help = "How long its last reading took."},

    {"pnhw_findings", GAUGE, "", SEVERITY, VALUE(Count, n), .help = "How many findings there are."},
    {"pnhw_finding", GAUGE, "", FINDING,
     .labels = {LABEL(PnFinding, severity), LABEL(PnFinding, state), LABEL(PnFinding, accepted)},
     .help = "1 for each thing that is wrong; state is new, or raised when it has held."},
    {"pnhw_finding_first_seen_timestamp_seconds", GAUGE, "seconds", FINDING,
     VALUE(PnFinding, since), .help = "When a finding was first seen."},

    {"pnhw_pcie_link", INFO, "", LINK,
     .labels = {LABEL(PnRating, port), LABEL(PnRating, kind), LABEL(PnRating, model),
                LABEL(PnRating, slot), LABEL(PnRating, limit)},
     .help = "A PCI Express link: the device below it, the port above it, the slot, and the "
             "narrowest hop on the way to the processor."},
    {"pnhw_pcie_link_verdict", GAUGE, "", LINK,
     .labels = {LABEL(PnRating, verdict), LABEL(PnRating, reason)},
     .help = "1 with the verdict on a link: full, slot_limited, degraded, path_limited, idle, "
             "asleep, tunnelled, passed_through or unknown."},
    {"pnhw_pcie_link_bandwidth_bytes_per_second", GAUGE, "bytes_per_second",
     RATES(bandwidth, 125000),
     .help = "What a link carries in one direction, after line coding: now, at what both its ends "
             "could do, and in an ideal slot."},
    {"pnhw_pcie_link_speed_transfers_per_second", GAUGE, "transfers_per_second",
     RATES(speed, 1000000000),
     .help =
         "Transfers of one lane of a link: now, at what both its ends could do, and in an ideal "
         "slot."},
    {"pnhw_pcie_link_width_lanes", GAUGE, "lanes", RATES(width, 1),
     .help = "Lanes of a link: now, what both its ends have, and in an ideal slot."},
    {"pnhw_pcie_link_of_best_ratio", GAUGE, "ratio", LINK, VALUE(PnRating, percent), PERCENT,
     .help = "What reaches a device, of what it could do in an ideal slot."},
    {"pnhw_pcie_link_oversubscription_ratio", GAUGE, "ratio", UPLINK, VALUE(PnShared, ratio),
     .help = "What the links below the uplink that a link shares could carry together, of what the "
             "uplink carries."},
    {"pnhw_pcie_errors", COUNTER, "", AER, .part = "severity",
     .fields = {OF("correctable", PnAer, correctable), OF("nonfatal", PnAer, nonfatal),
                OF("fatal", PnAer, fatal)},
     .help = "Errors that Advanced Error Reporting counted since boot."},

    {"pnhw_memory_module_size_bytes", GAUGE, "bytes", DIMM, VALUE(PnDimm, size_bytes),
     .help = "Size of a memory module."},
    {"pnhw_memory_module_speed_transfers_per_second", GAUGE, "transfers_per_second", DIMM,
     .part = "what",
     .fields = {OF("configured", PnDimm, configured_mts), OF("rated", PnDimm, speed_mts)},
     SCALE(1000000, 1), .help = "Transfers of a memory module: as configured, and at most."},

    {"pnhw_nvme", INFO, "", DRIVE,
     .labels = {LABEL(PnNvme, address), LABEL(PnNvme, model), LABEL(PnNvme, serial),
                LABEL(PnNvme, firmware), LABEL(PnNvme, transport)},
     .help = "An NVMe drive."},
    {"pnhw_nvme_state", GAUGE, "", DRIVE, .labels = {LABEL(PnNvme, state)},
     .help = "1 with a drive's state: live, resetting, connecting, dead, ..."},
    {"pnhw_nvme_temperature_celsius", GAUGE, "celsius", HEALTH, VALUE(PnHealth, temperature_c),
     .help = "The drive's one temperature."},
    {"pnhw_nvme_temperature_limit_celsius", GAUGE, "celsius", HEALTH, .part = "limit",
     .fields = {OF("warning", PnHealth, warning_temperature_c),
                OF("critical", PnHealth, critical_temperature_c)},
     .help = "Hot, and too hot, says the drive's maker."},
    {"pnhw_nvme_sensor_temperature_celsius", GAUGE, "celsius", DRIVE_SENSOR,
     VALUE(PnNvmeSensor, temperature_c), .help = "What a sensor of a drive measures."},
    {"pnhw_nvme_critical_warning", GAUGE, "", WARNING_BIT, VALUE(Flag, on),
     .help = "Whether a drive warns of this."},
    {"pnhw_nvme_spare_ratio", GAUGE, "ratio", HEALTH, VALUE(PnHealth, spare_percent), PERCENT,
     .help = "Spare blocks that are left."},
    {"pnhw_nvme_spare_limit_ratio", GAUGE, "ratio", HEALTH,
     VALUE(PnHealth, spare_threshold_percent), PERCENT,
     .help = "The drive warns when fewer spare blocks are left."},
    {"pnhw_nvme_used_ratio", GAUGE, "ratio", HEALTH, VALUE(PnHealth, used_percent), PERCENT,
     .help = "Of a drive's rated life; may go beyond 1."},
    {"pnhw_nvme_read_bytes", COUNTER, "bytes", HEALTH, VALUE(PnHealth, bytes_read),
     .help = "What was read from a drive in its life, rounded up to 512,000."},
    {"pnhw_nvme_written_bytes", COUNTER, "bytes", HEALTH, VALUE(PnHealth, bytes_written),
     .help = "What was written to a drive in its life, rounded up to 512,000."},
    {"pnhw_nvme_read_commands", COUNTER, "", HEALTH, VALUE(PnHealth, host_reads),
     .help = "Read commands that a drive completed."},
    {"pnhw_nvme_write_commands", COUNTER, "", HEALTH, VALUE(PnHealth, host_writes),
     .help = "Write commands that a drive completed."},
    {"pnhw_nvme_busy_seconds", COUNTER, "seconds", HEALTH, VALUE(PnHealth, busy_minutes), MINUTES,
     .help = "Time in which a drive had commands to do."},
    {"pnhw_nvme_power_cycles", COUNTER, "", HEALTH, VALUE(PnHealth, power_cycles),
     .help = "Times that a drive was switched on."},
    {"pnhw_nvme_power_on_seconds", COUNTER, "seconds", HEALTH, VALUE(PnHealth, power_on_hours),
     SCALE(3600, 1), .help = "Time in which a drive had power."},
    {"pnhw_nvme_unsafe_shutdowns", COUNTER, "", HEALTH, VALUE(PnHealth, unsafe_shutdowns),
     .help = "Times that power went without notice."},
    {"pnhw_nvme_media_errors", COUNTER, "", HEALTH, VALUE(PnHealth, media_errors),
     .help = "Times that a drive could not recover data."},
    {"pnhw_nvme_error_log_entries", COUNTER, "", HEALTH, VALUE(PnHealth, error_log_entries),
     .help = "Entries of a drive's error log; commands that it refused are among them."},
    {"pnhw_nvme_hot_seconds", COUNTER, "seconds", HEALTH, .part = "limit",
     .fields = {OF("warning", PnHealth, warning_temperature_minutes),
                OF("critical", PnHealth, critical_temperature_minutes)},
     MINUTES, .help = "Time that a drive spent above a limit of its temperature."},
    {"pnhw_nvme_health_read_timestamp_seconds", GAUGE, "seconds", HEALTH, VALUE(PnHealth, updated),
     .help = "When a drive was asked for its health."},
    {"pnhw_nvme_namespace_capacity_bytes", GAUGE, "bytes", NAMESPACE,
     VALUE(PnNamespace, capacity_bytes), .help = "Size of a namespace."},
    {"pnhw_nvme_namespace_used_bytes", GAUGE, "bytes", NAMESPACE, VALUE(PnNamespace, used_bytes),
     .help = "What of a namespace holds data, as the drive counts."},

    {"pnhw_sensor_temperature_celsius", GAUGE, "celsius", READING, "temperature",
     VALUE(PnReading, value), .help = "A temperature that can be believed."},
    {"pnhw_sensor_temperature_limit_celsius", GAUGE, "celsius", READING, "temperature",
     .part = "limit",
     .fields = {OF("low", PnReading, min), OF("high", PnReading, max),
                OF("critical", PnReading, critical)},
     .help = "Limits of a temperature, where they make sense."},
    {"pnhw_sensor_fan_speed_rpm", GAUGE, "rpm", READING, "fan", VALUE(PnReading, value),
     .help = "Turns of a fan in a minute."},
    {"pnhw_sensor_voltage_volts", GAUGE, "volts", READING, "voltage", VALUE(PnReading, value),
     .help = "A voltage."},
    {"pnhw_sensor_current_amperes", GAUGE, "amperes", READING, "current", VALUE(PnReading, value),
     .help = "A current."},
    {"pnhw_sensor_power_watts", GAUGE, "watts", READING, "power", VALUE(PnReading, value),
     .help = "A power."},
    {"pnhw_sensor_energy_joules", COUNTER, "joules", READING, "energy", VALUE(PnReading, value),
     .help = "Energy since the sensor was reset."},
    {"pnhw_sensor_humidity_ratio", GAUGE, "ratio", READING, "humidity", VALUE(PnReading, value),
     PERCENT, .help = "Relative humidity."},
    {"pnhw_sensor_alarm", GAUGE, "", READING, VALUE(PnReading, alarm),
     .help = "Whether the chip raises an alarm about a sensor."},

    {"pnhw_port", INFO, "", PORT,
     .labels = {LABEL(PnPort, kind), LABEL(PnPort, address), LABEL(PnPort, driver),
                LABEL(PnPort, model), LABEL(PnPort, slot), LABEL(PnPort, module),
                OF("part_of", PnPort, master)},
     .help = "A network port or a bond."},
    {"pnhw_port_verdict", GAUGE, "", PORT,
     .labels = {LABEL(PnPort, verdict), LABEL(PnPort, limiter)},
     .help = "1 with the verdict on a port: full, limited, slow, half_duplex, degraded, no_link, "
             "off, no_interface, other_namespace, passed_through or unknown."},
    {"pnhw_port_speed_bytes_per_second", GAUGE, "bytes_per_second", PORT, .part = "what",
     .fields = {OF("current", PnPort, speed_mbps), OF("expected", PnPort, expected_mbps),
                OF("best", PnPort, best_mbps)},
     MB_PER_S,
     .help = "What a port runs at, what it, its module and its partner have in common, and the "
             "fastest that it supports."},
    {"pnhw_port_enabled", GAUGE, "", PORT, VALUE(PnPort, enabled),
     .help = "Whether an administrator set a port up."},
    {"pnhw_port_carrier", GAUGE, "", PORT, VALUE(PnPort, carrier),
     .help = "Whether there is a link."},
    {"pnhw_port_carrier_changes", COUNTER, "", NIC, VALUE(PnNic, carrier_changes),
     .help = "How often the link came or went."},
    {"pnhw_port_errors", COUNTER, "", NIC_ERRORS, .part = "kind",
     .fields = {OF("receive_crc", PnNicErrors, rx_crc), OF("receive", PnNicErrors, rx_errors),
                OF("transmit", PnNicErrors, tx_errors),
                OF("receive_dropped", PnNicErrors, rx_dropped)},
     .help = "Errors since the driver was loaded; receive has all bad frames, receive_crc those "
             "with a wrong checksum, receive_dropped good ones that found no room."},
    {"pnhw_bond_members", GAUGE, "", PORT, VALUE(PnPort, members), .help = "Members of a bond."},
    {"pnhw_bond_working_members", GAUGE, "", PORT, VALUE(PnPort, working_members),
     .help = "Members of a bond that carry traffic, by what LACP says where it is in use."},
    {"pnhw_bond_member_working", GAUGE, "", MEMBER, VALUE(Flag, on),
     .help = "Whether a member of a bond carries traffic."},

    {"pnhw_module_status", GAUGE, "", MODULE, .labels = {LABEL(PnModule, status)},
     .help = "1 with what is known of a port's module: present, none, unsupported_map, "
             "permission_denied, unsupported_by_driver or unreadable."},
    {"pnhw_module", INFO, "", PRESENT_MODULE,
     .labels = {LABEL(PnModule, form), LABEL(PnModule, type), LABEL(PnModule, vendor),
                LABEL(PnModule, part_number), LABEL(PnModule, serial), LABEL(PnModule, connector)},
     .help = "What is plugged into a port."},
    {"pnhw_module_temperature_celsius", GAUGE, "celsius", DIAGNOSTICS,
     VALUE(PnModuleDiagnostics, temperature_c), .help = "Temperature of a module."},
    {"pnhw_module_temperature_limit_celsius", GAUGE, "celsius", LIMITS(TEMPERATURE_LIMITS),
     .help = "A module's own limits of its temperature."},
    {"pnhw_module_voltage_volts", GAUGE, "volts", DIAGNOSTICS,
     VALUE(PnModuleDiagnostics, voltage_v), .help = "Supply voltage of a module."},
    {"pnhw_module_receive_power_watts", GAUGE, "watts", LANE, VALUE(PnModuleLane, rx_power_mw),
     MILLI, .help = "Light that a lane receives; 0 is dark."},
    {"pnhw_module_receive_power_limit_watts", GAUGE, "watts", LIMITS(RX_LIMITS), MILLI,
     .help = "A module's own limits of the light that it receives."},
    {"pnhw_module_transmit_power_watts", GAUGE, "watts", LANE, VALUE(PnModuleLane, tx_power_mw),
     MILLI, .help = "Light that a lane sends; 0 is dark."},
    {"pnhw_module_transmit_power_limit_watts", GAUGE, "watts", LIMITS(TX_LIMITS), MILLI,
     .help = "A module's own limits of the light that it sends."},
    {"pnhw_module_bias_amperes", GAUGE, "amperes", LANE, VALUE(PnModuleLane, bias_ma), MILLI,
     .help = "Current through the laser of a lane."},
};

/* ---- Writing ---- */

typedef struct Slot {
        uint64_t hash;
        size_t at, length; /* of a series in the page; 0: free */
} Slot;

typedef struct Writer {
        PnBuf *page;
        PnBuf labels; /* of the object that is visited */
        const PnInventory *inventory;
        const PnStatus *status;
        PnPorts ports;
        const Family *family;
        bool is_announced;
        Slot *slots; /* every series of the page, so that none comes twice */
        size_t n_slots, n_series;
        int error;
} Writer;

static void put(PnBuf *buf, const char *s)
{
        pn_buf_put(buf, s, strlen(s));
}

/* U+0000 to U+001F, U+007F to U+009F: bytes of one that is at `s`, else 0. */
static size_t control_character(const char *s)
{
        const unsigned char *u = (const unsigned char *)s;

        if (*u < ' ' || *u == 0x7f)
                return 1;
        return *u == 0xc2 && u[1] >= 0x80 && u[1] < 0xa0 ? 2 : 0;
}

/* A label's value: backslash, quote and newline are escaped. Other control characters, of which no
 * probe's text has any, would get to whoever looks at the page in a terminal. */
static void put_escaped(PnBuf *buf, const char *s)
{
        const char *plain = s;

        while (*s) {
                size_t n = control_character(s);

                if (!n && *s != '\\' && *s != '"') {
                        s++;
                        continue;
                }
                pn_buf_put(buf, plain, (size_t)(s - plain));
                if (!n)
                        pn_buf_put(buf, (const char[]){'\\', *s}, 2);
                else if (*s == '\n')
                        pn_buf_put(buf, "\\n", 2);
                else
                        pn_buf_put(buf, "\xef\xbf\xbd", 3);
                s += n ? n : 1;
                plain = s;
        }
        pn_buf_put(buf, plain, (size_t)(s - plain));
}

/* No label for an empty value: to Prometheus they are the same. */
static void put_label(PnBuf *buf, const char *name, const char *value)
{
        if (!value || !*value)
                return;
        if (buf->len)
                pn_buf_put(buf, ",", 1);
        put(buf, name);
        pn_buf_put(buf, "=\"", 2);
        put_escaped(buf, value);
        pn_buf_put(buf, "\"", 1);
}

static void put_int(PnBuf *buf, int64_t v)
{
        char text[24];
        size_t at = sizeof text;
        uint64_t rest = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

        do {
                text[--at] = (char)('0' + rest % 10);
                rest /= 10;
        } while (rest);
        if (v < 0)
                text[--at] = '-';
        pn_buf_put(buf, text + at, sizeof text - at);
}

/* Nothing measures to more than twelve digits, and the thirteenth would show the conversion. */
static void put_real(PnBuf *buf, double v)
{
        char text[32];
        int n;

        if (v == floor(v) && fabs(v) < 1e15) {
                put_int(buf, (int64_t)v);
                return;
        }
        n = snprintf(text, sizeof text, "%.12g", v);
        if (n > 0 && (size_t)n < sizeof text)
                pn_buf_put(buf, text, (size_t)n);
}

typedef struct Number {
        bool is_known, is_int;
        int64_t i;
        double d;
} Number;

static Number scaled_int(const Family *family, int64_t v)
{
        int64_t times = family->times ? family->times : 1, over = family->over ? family->over : 1;
        int64_t product;

        if (__builtin_mul_overflow(v, times, &product))
                return (Number){true, false, 0, (double)v * (double)times / (double)over};
        if (product % over == 0)
                return (Number){true, true, product / over, 0};
        return (Number){true, false, 0, (double)product / (double)over};
}

static Number read_field(const Family *family, const Field *field, const void *object)
{
        const void *at = (const char *)object + field->offset;
        int64_t moment;

        /* Every kind of field starts with its state. */
        if (*(const PnState *)at != PN_KNOWN)
                return (Number){0};
        switch (field->kind) {
        case KIND_INT:
                return scaled_int(family, ((const PnInt *)at)->v);
        case KIND_BOOL:
                return (Number){true, true, ((const PnBool *)at)->v, 0};
        case KIND_REAL:
                return (Number){.is_known = true,
                                .d = ((const PnReal *)at)->v *
                                     (double)(family->times ? family->times : 1) /
                                     (double)(family->over ? family->over : 1)};
        case KIND_TEXT:
                if (pn_when_parse(((const PnText *)at)->v, &moment) < 0)
                        return (Number){0};
                return (Number){true, true, moment, 0};
        case KIND_NONE:
                break;
        }
        return (Number){0};
}

static uint64_t hash(const char *s, size_t n)
{
        uint64_t h = n;

        while (n > 0) {
                uint64_t chunk = 0;
                size_t k = n < sizeof chunk ? n : sizeof chunk;

                memcpy(&chunk, s, k);
                h = (h ^ chunk) * UINT64_C(0x9e3779b97f4a7c15);
                h ^= h >> 29;
                s += k;
                n -= k;
        }
        return h;
}

static int grow_slots(Writer *w)
{
        size_t n = w->n_slots ? w->n_slots * 2 : 1024;
        Slot *slots = calloc(n, sizeof *slots);

        if (!slots)
                return -ENOMEM;
        for (size_t i = 0; i < w->n_slots; i++) {
                size_t k = w->slots[i].hash & (n - 1);

                if (!w->slots[i].length)
                        continue;
                while (slots[k].length)
                        k = (k + 1) & (n - 1);
                slots[k] = w->slots[i];
        }
        free(w->slots);
        w->slots = slots;
        w->n_slots = n;
        return 0;
}

/* Whether the series that was just written, from `at` to the end of the page, is there already. */
static bool is_twice(Writer *w, size_t at)
{
        size_t length = w->page->len - at, k;
        const char *text = w->page->data + at;
        uint64_t h;

        if (w->n_series * 2 >= w->n_slots && grow_slots(w) < 0) {
                w->error = -ENOMEM;
                return false;
        }
        h = hash(text, length);
        for (k = h & (w->n_slots - 1); w->slots[k].length; k = (k + 1) & (w->n_slots - 1))
                if (w->slots[k].hash == h && w->slots[k].length == length &&
                    memcmp(w->page->data + w->slots[k].at, text, length) == 0)
                        return true;
        w->slots[k] = (Slot){h, at, length};
        w->n_series++;
        return false;
}

static const char *type_name(Type type)
{
        static const char *const names[] = {
            [GAUGE] = "gauge", [COUNTER] = "counter", [INFO] = "info"};

        return names[type];
}

static const char *suffix(Type type)
{
        return type == COUNTER ? "_total" : type == INFO ? "_info" : "";
}

/* A family is announced by its first sample: one without any is not on the page. */
static void announce(Writer *w)
{
        const Family *family = w->family;

        if (w->is_announced)
                return;
        w->is_announced = true;
        pn_buf_printf(w->page, "# TYPE %s %s\n", family->name, type_name(family->type));
        if (*family->unit)
                pn_buf_printf(w->page, "# UNIT %s %s\n", family->name, family->unit);
        pn_buf_printf(w->page, "# HELP %s %s\n", family->name, family->help);
}

static void put_more_labels(Writer *w, const void *object)
{
        const Family *family = w->family;

        for (const Field *field = family->labels; *field->word; field++) {
                const void *at = (const char *)object + field->offset;

                if (field->kind == KIND_BOOL)
                        put_label(&w->labels, field->word,
                                  pn_is_true(*(const PnBool *)at) ? "true" : "false");
                else
                        put_label(&w->labels, field->word, pn_text(at));
        }
}

static void put_sample(Writer *w, Number number)
{
        size_t at, announced_at = w->page->len;
        bool was_announced = w->is_announced;

        if (w->page->error || w->labels.error || w->error)
                return;
        announce(w);
        at = w->page->len;
        put(w->page, w->family->name);
        put(w->page, suffix(w->family->type));
        if (w->labels.len) {
                pn_buf_put(w->page, "{", 1);
                pn_buf_put(w->page, w->labels.data, w->labels.len);
                pn_buf_put(w->page, "}", 1);
        }
        if (w->page->error)
                return;
        if (is_twice(w, at)) {
                w->page->len = was_announced ? at : announced_at;
                w->page->data[w->page->len] = '\0';
                w->is_announced = was_announced;
                return;
        }
        pn_buf_put(w->page, " ", 1);
        if (number.is_int)
                put_int(w->page, number.i);
        else
                put_real(w->page, number.d);
        pn_buf_put(w->page, "\n", 1);
}

static void cut_labels(Writer *w, size_t length)
{
        w->labels.len = length;
}

/* The samples of the family that an object has; its subject's labels are in place. */
static void put_object(Writer *w, const void *object)
{
        const Family *family = w->family;
        size_t length = w->labels.len;

        if (family->fields[0].kind == KIND_NONE) {
                /* One that says a word has no sample without it; an `info` may have gaps. */
                if (family->type != INFO && *family->labels[0].word &&
                    *(const PnState *)((const char *)object + family->labels[0].offset) != PN_KNOWN)
                        return;
                put_more_labels(w, object);
                put_sample(w, (Number){true, true, 1, 0});
                cut_labels(w, length);
                return;
        }
        for (const Field *field = family->fields;
             field < family->fields + PN_ELEMENTS(family->fields) && field->kind != KIND_NONE;
             field++) {
                Number number = read_field(family, field, object);

                if (!number.is_known)
                        continue;
                put_label(&w->labels, family->part, field->word);
                put_more_labels(w, object);
                put_sample(w, number);
                cut_labels(w, length);
        }
}

/* Starts the labels of an object. */
static void name_it(Writer *w, const char *label, const char *value)
{
        cut_labels(w, 0);
        put_label(&w->labels, label, value);
}

/* ---- What there are samples of ---- */

static void visit_build(Writer *w)
{
        name_it(w, "version", PN_VERSION);
        put_object(w, NULL);
}

static void visit_sources(Writer *w)
{
        for (unsigned i = 0; i < w->status->sources.n; i++) {
                const PnSource *source = &w->status->sources.v[i];

                name_it(w, "source", source->name.v);
                put_object(w, source);
        }
}

/* All severities, so that none is a number and not a gap. */
static void visit_severities(Writer *w)
{
        static const char *const words[] = {"info", "notice", "warning", "critical"};

        for (size_t i = 0; i < PN_ELEMENTS(words); i++)
                for (int accepted = 0; accepted < 2; accepted++) {
                        Count count = {pn_int(0)};

                        for (unsigned k = 0; k < w->status->findings.n; k++) {
                                const PnFinding *finding = &w->status->findings.v[k];

                                count.n.v += pn_text_is(&finding->severity, words[i]) &&
                                             pn_is_true(finding->accepted) == accepted;
                        }
                        name_it(w, "severity", words[i]);
                        put_label(&w->labels, "accepted", accepted ? "true" : "false");
                        put_object(w, &count);
                }
}

static void visit_findings(Writer *w)
{
        for (unsigned i = 0; i < w->status->findings.n; i++) {
                const PnFinding *finding = &w->status->findings.v[i];
                const char *device = pn_text(&finding->device);

                name_it(w, "id", finding->id.v);
                put_label(&w->labels, "code", finding->code.v);
                put_label(&w->labels, "device", device ? device : pn_text(&finding->address));
                put_object(w, finding);
        }
}

/* A device that the kernel gave no name goes by its address. */
static void name_link(Writer *w, const PnRating *rating)
{
        const char *name = pn_text(&rating->name);

        name_it(w, "device", name ? name : rating->address.v);
        put_label(&w->labels, "address", rating->address.v);
}

static void visit_links(Writer *w)
{
        for (unsigned i = 0; i < w->status->ratings.n; i++) {
                name_link(w, &w->status->ratings.v[i]);
                put_object(w, &w->status->ratings.v[i]);
        }
}

static void visit_link_rates(Writer *w)
{
        for (unsigned i = 0; i < w->status->ratings.n; i++) {
                const PnRating *rating = &w->status->ratings.v[i];
                const struct {
                        const char *what;
                        const PnLinkRate *rate;
                } rates[] = {{"current", rating->current.v},
                             {"rated", rating->rated.v},
                             {"best", rating->best.v}};

                for (size_t k = 0; k < PN_ELEMENTS(rates); k++) {
                        if (!rates[k].rate)
                                continue;
                        name_link(w, rating);
                        put_label(&w->labels, "what", rates[k].what);
                        put_object(w, rates[k].rate);
                }
        }
}

static void visit_uplinks(Writer *w)
{
        for (unsigned i = 0; i < w->status->ratings.n; i++) {
                const PnRating *rating = &w->status->ratings.v[i];

                if (!rating->shared.v)
                        continue;
                name_link(w, rating);
                put_label(&w->labels, "uplink", pn_text(&rating->shared.v->uplink));
                put_object(w, rating->shared.v);
        }
}

static void visit_aer(Writer *w)
{
        for (unsigned i = 0; i < w->inventory->pci.n; i++) {
                const PnPci *pci = &w->inventory->pci.v[i];

                if (!pci->aer.v)
                        continue;
                name_it(w, "address", pci->address.v);
                put_object(w, pci->aer.v);
        }
}

/* Boards give several sockets the same name: the number tells them apart. */
static void visit_dimms(Writer *w)
{
        const PnHost *host = w->inventory->host.v;
        char number[16];

        for (unsigned i = 0; host && i < host->dimms.n; i++) {
                (void)snprintf(number, sizeof number, "%u", i);
                name_it(w, "dimm", number);
                put_label(&w->labels, "locator", pn_text(&host->dimms.v[i].locator));
                put_object(w, &host->dimms.v[i]);
        }
}

/* The next drive from `*i` on that is there. */
static const PnNvme *next_drive(Writer *w, unsigned *i)
{
        while (*i < w->inventory->nvme.n) {
                const PnNvme *drive = &w->inventory->nvme.v[(*i)++];

                if (pn_is_true(drive->lost))
                        continue;
                name_it(w, "device", drive->name.v);
                return drive;
        }
        return NULL;
}

static void visit_drives(Writer *w)
{
        const PnNvme *drive;

        for (unsigned i = 0; (drive = next_drive(w, &i));)
                put_object(w, drive);
}

static void visit_health(Writer *w)
{
        const PnNvme *drive;

        for (unsigned i = 0; (drive = next_drive(w, &i));)
                if (drive->health.v)
                        put_object(w, drive->health.v);
}

static bool has_text(const PnTexts *texts, const char *s)
{
        for (unsigned i = 0; i < texts->n; i++)
                if (strcmp(texts->v[i], s) == 0)
                        return true;
        return false;
}

static void visit_warning_bits(Writer *w)
{
        static const char *const words[] = {"spare",     "temperature",     "reliability",
                                            "read_only", "volatile_backup", "persistent_memory"};
        const PnNvme *drive;

        for (unsigned i = 0; (drive = next_drive(w, &i));) {
                size_t length = w->labels.len;

                if (!drive->health.v || drive->health.v->critical_warnings.state != PN_KNOWN)
                        continue;
                for (size_t k = 0; k < PN_ELEMENTS(words); k++) {
                        Flag flag = {
                            pn_bool(has_text(&drive->health.v->critical_warnings, words[k]))};

                        cut_labels(w, length);
                        put_label(&w->labels, "warning", words[k]);
                        put_object(w, &flag);
                }
        }
}

static void visit_drive_sensors(Writer *w)
{
        const PnNvme *drive;
        char number[24];

        for (unsigned i = 0; (drive = next_drive(w, &i));) {
                size_t length = w->labels.len;

                for (unsigned k = 0; drive->health.v && k < drive->health.v->sensors.n; k++) {
                        const PnNvmeSensor *sensor = &drive->health.v->sensors.v[k];

                        cut_labels(w, length);
                        (void)snprintf(number, sizeof number, "%lld", (long long)sensor->index.v);
                        put_label(&w->labels, "sensor", number);
                        put_object(w, sensor);
                }
        }
}

static void visit_namespaces(Writer *w)
{
        const PnNvme *drive;

        for (unsigned i = 0; (drive = next_drive(w, &i));) {
                size_t length = w->labels.len;

                for (unsigned k = 0; k < drive->namespaces.n; k++) {
                        cut_labels(w, length);
                        put_label(&w->labels, "namespace", drive->namespaces.v[k].name.v);
                        put_object(w, &drive->namespaces.v[k]);
                }
        }
}

/* What cannot be believed is no measurement, nor is a temperature that is made for fan control. */
static bool is_measured(const Writer *w, const PnReading *reading)
{
        if ((reading->plausible.state == PN_KNOWN && !reading->plausible.v) ||
            pn_text_is(&reading->kind, "control"))
                return false;
        return !*w->family->only || pn_text_is(&reading->kind, w->family->only);
}

static void visit_readings(Writer *w)
{
        for (unsigned i = 0; i < w->inventory->sensors.n; i++) {
                const PnChip *chip = &w->inventory->sensors.v[i];

                for (unsigned k = 0; k < chip->readings.n; k++) {
                        const PnReading *reading = &chip->readings.v[k];

                        if (!is_measured(w, reading))
                                continue;
                        name_it(w, "chip", chip->chip.v);
                        put_label(&w->labels, "device", pn_text(&chip->device));
                        put_label(&w->labels, "feature", pn_text(&reading->feature));
                        put_label(&w->labels, "sensor", reading->label.v);
                        put_object(w, reading);
                }
        }
}

static void visit_ports(Writer *w)
{
        for (unsigned i = 0; i < w->ports.n; i++) {
                name_it(w, "device", w->ports.v[i].id.v);
                put_object(w, &w->ports.v[i]);
        }
}

/* The next interface that is a port, or a bond, as pn_ports_judge() has them. */
static const PnNic *next_nic(Writer *w, unsigned *i)
{
        while (*i < w->inventory->nics.n) {
                const PnNic *nic = &w->inventory->nics.v[(*i)++];

                if (!pn_text_is(&nic->kind, "physical") && !pn_text_is(&nic->kind, "bond"))
                        continue;
                name_it(w, "device", nic->id.v);
                return nic;
        }
        return NULL;
}

static void visit_nics(Writer *w)
{
        const PnNic *nic;

        for (unsigned i = 0; (nic = next_nic(w, &i));)
                put_object(w, nic);
}

static void visit_nic_errors(Writer *w)
{
        const PnNic *nic;

        for (unsigned i = 0; (nic = next_nic(w, &i));)
                if (nic->errors.v)
                        put_object(w, nic->errors.v);
}

static void visit_members(Writer *w)
{
        const PnNic *nic;

        for (unsigned i = 0; (nic = next_nic(w, &i));) {
                size_t length = w->labels.len;

                for (unsigned k = 0; nic->bond.v && k < nic->bond.v->members.n; k++) {
                        const PnBondMember *member = &nic->bond.v->members.v[k];
                        Flag flag = {{0}};

                        if (pn_member_state(nic->bond.v, member) != PN_MEMBER_UNKNOWN)
                                flag.on = pn_bool(pn_member_carries(nic->bond.v, member));
                        cut_labels(w, length);
                        put_label(&w->labels, "member", member->name.v);
                        put_object(w, &flag);
                }
        }
}

/* The next interface with something in its cage, or nothing; copper ports have no cage. */
static const PnModule *next_module(Writer *w, unsigned *i)
{
        const PnNic *nic;

        while ((nic = next_nic(w, i)))
                if (nic->module.v && !(pn_text_is(&nic->port, "tp") &&
                                       pn_text_is(&nic->module.v->status, "permission_denied")))
                        return nic->module.v;
        return NULL;
}

static void visit_modules(Writer *w)
{
        const PnModule *module;

        for (unsigned i = 0; (module = next_module(w, &i));)
                if (w->family->subject == MODULE || pn_text_is(&module->status, "present"))
                        put_object(w, module);
}

static void visit_diagnostics(Writer *w)
{
        const PnModule *module;

        for (unsigned i = 0; (module = next_module(w, &i));) {
                const PnModuleDiagnostics *diagnostics = module->diagnostics.v;
                const PnModuleThresholds *limits = diagnostics ? diagnostics->thresholds.v : NULL;
                const void *object = diagnostics;

                if (w->family->subject == TEMPERATURE_LIMITS)
                        object = limits ? limits->temperature.v : NULL;
                else if (w->family->subject == RX_LIMITS)
                        object = limits ? limits->rx_power.v : NULL;
                else if (w->family->subject == TX_LIMITS)
                        object = limits ? limits->tx_power.v : NULL;
                if (object)
                        put_object(w, object);
        }
}

static void visit_lanes(Writer *w)
{
        const PnModule *module;
        char number[16];

        for (unsigned i = 0; (module = next_module(w, &i));) {
                const PnModuleDiagnostics *diagnostics = module->diagnostics.v;
                size_t length = w->labels.len;

                for (unsigned k = 0; diagnostics && k < diagnostics->lanes.n; k++) {
                        cut_labels(w, length);
                        (void)snprintf(number, sizeof number, "%u", k + 1);
                        put_label(&w->labels, "lane", number);
                        put_object(w, &diagnostics->lanes.v[k]);
                }
        }
}

static const struct {
        void (*visit)(Writer *w);
        const char *labels; /* for the description */
} subjects[N_SUBJECTS] = {
    [BUILD] = {visit_build, "version"},
    [SOURCE] = {visit_sources, "source"},
    [SEVERITY] = {visit_severities, "severity, accepted"},
    [FINDING] = {visit_findings, "id, code, device"},
    [LINK] = {visit_links, "device, address"},
    [LINK_RATE] = {visit_link_rates, "device, address, what (current, rated, best)"},
    [UPLINK] = {visit_uplinks, "device, address, uplink"},
    [AER] = {visit_aer, "address"},
    [DIMM] = {visit_dimms, "dimm, locator"},
    [DRIVE] = {visit_drives, "device"},
    [HEALTH] = {visit_health, "device"},
    [WARNING_BIT] = {visit_warning_bits, "device, warning"},
    [DRIVE_SENSOR] = {visit_drive_sensors, "device, sensor"},
    [NAMESPACE] = {visit_namespaces, "device, namespace"},
    [READING] = {visit_readings, "chip, device, feature, sensor"},
    [PORT] = {visit_ports, "device"},
    [NIC] = {visit_nics, "device"},
    [NIC_ERRORS] = {visit_nic_errors, "device"},
    [MEMBER] = {visit_members, "device, member"},
    [MODULE] = {visit_modules, "device"},
    [PRESENT_MODULE] = {visit_modules, "device"},
    [DIAGNOSTICS] = {visit_diagnostics, "device"},
    [LANE] = {visit_lanes, "device, lane"},
    [TEMPERATURE_LIMITS] = {visit_diagnostics, "device"},
    [RX_LIMITS] = {visit_diagnostics, "device"},
    [TX_LIMITS] = {visit_diagnostics, "device"},
};

int pn_metrics_write(PnBuf *buf, const PnInventory *inventory, const PnStatus *status)
{
        const PnRatings ratings = {PN_KNOWN, status->ratings.n, status->ratings.v};
        Writer w = {.page = buf, .inventory = inventory, .status = status};
        int r = pn_ports_judge(inventory, &ratings, &w.ports);

        if (r < 0)
                return r;
        for (size_t i = 0; i < PN_ELEMENTS(families); i++) {
                w.family = &families[i];
                w.is_announced = false;
                subjects[w.family->subject].visit(&w);
        }
        pn_buf_puts(buf, "# EOF\n");
        r = w.error ? w.error : w.labels.error;
        pn_ports_done(&w.ports);
        pn_buf_done(&w.labels);
        free(w.slots);
        return r < 0 ? r : buf->error;
}

/* ---- The older format ---- */

/* A line's word at `*at`, which moves to the next one. */
static size_t take_word(const char **at, const char *end)
{
        const char *start = *at;
        size_t n;

        while (*at < end && **at != ' ')
                (*at)++;
        n = (size_t)(*at - start);
        if (*at < end)
                (*at)++;
        return n;
}

static bool is_word(const char *s, size_t n, const char *word)
{
        return strlen(word) == n && memcmp(s, word, n) == 0;
}

void pn_metrics_to_prometheus(PnBuf *buf, const char *openmetrics, size_t n)
{
        static const struct {
                const char *type, *older, *suffix;
        } types[] = {{"counter", "counter", "_total"},
                     {"info", "gauge", "_info"},
                     {"stateset", "gauge", ""},
                     {"unknown", "untyped", ""}};
        const char *end = openmetrics + n, *ending = "";

        for (const char *line = openmetrics, *next; line < end; line = next) {
                const char *newline = memchr(line, '\n', (size_t)(end - line));
                const char *stop = newline ? newline : end, *name, *at, *type;
                bool is_type, is_help;
                size_t length, known = 0;

                next = newline ? newline + 1 : end;
                if ((size_t)(stop - line) >= 5 && memcmp(line, "# EOF", 5) == 0)
                        break;
                if ((size_t)(stop - line) > 7 && memcmp(line, "# UNIT ", 7) == 0)
                        continue;
                is_type = (size_t)(stop - line) > 7 && memcmp(line, "# TYPE ", 7) == 0;
                is_help = (size_t)(stop - line) > 7 && memcmp(line, "# HELP ", 7) == 0;
                if (!is_type && !is_help) {
                        pn_buf_put(buf, line, (size_t)(next - line));
                        continue;
                }
                name = at = line + 7;
                length = take_word(&at, stop);
                type = at;
                if (is_type) {
                        while (known < PN_ELEMENTS(types) &&
                               !is_word(type, (size_t)(stop - type), types[known].type))
                                known++;
                        ending = known < PN_ELEMENTS(types) ? types[known].suffix : "";
                }
                pn_buf_put(buf, line, 7);
                pn_buf_put(buf, name, length);
                put(buf, ending);
                pn_buf_put(buf, " ", 1);
                if (is_type && known < PN_ELEMENTS(types))
                        put(buf, types[known].older);
                else
                        pn_buf_put(buf, at, (size_t)(stop - at));
                pn_buf_put(buf, "\n", 1);
        }
}

/* ---- The description ---- */

static void describe_labels(PnBuf *buf, const Family *family)
{
        put(buf, subjects[family->subject].labels);
        if (*family->part) {
                pn_buf_printf(buf, ", %s (", family->part);
                for (size_t i = 0; i < PN_ELEMENTS(family->fields) && *family->fields[i].word; i++)
                        pn_buf_printf(buf, "%s%s", i ? ", " : "", family->fields[i].word);
                put(buf, ")");
        }
        for (size_t i = 0; i < PN_ELEMENTS(family->labels) && *family->labels[i].word; i++)
                pn_buf_printf(buf, ", %s", family->labels[i].word);
}

void pn_metrics_describe(PnBuf *buf)
{
        put(buf,
            "<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->\n"
            "<!-- Made from the table in lib/metrics.c: build/tests/print-metrics > "
            "docs/metrics.md -->\n"
            "# Metrics\n\n"
            "What `pnhwctl metrics` and the method `GetMetrics` give, in OpenMetrics. A value that "
            "is not known has no\nsample. Serial numbers are labels of `_info` series alone, which "
            "are joined to others by `device`; there are\nno MAC addresses. A label without a "
            "value "
            "is left out.\n\n"
            "| series | type | labels | meaning |\n|---|---|---|---|\n");
        for (size_t i = 0; i < PN_ELEMENTS(families); i++) {
                const Family *family = &families[i];

                pn_buf_printf(buf, "| `%s%s` | %s | ", family->name, suffix(family->type),
                              type_name(family->type));
                describe_labels(buf, family);
                pn_buf_printf(buf, " | %s |\n", family->help);
        }
}
