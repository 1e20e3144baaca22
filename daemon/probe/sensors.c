/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What hwmon chips measure, through libsensors and with the administrator's /etc/sensors3.conf and
 * sensors.d; the one file that includes it. Every chip but `nvme`, each attribute of which is a
 * command to the drive. Knows nothing of what a value means.
 *
 * Chips that are known to be slow, or to be disturbed by reading, are read on request alone (policy
 * key SlowBuses), sleeping devices not at all. A chip that took long is read half as often each
 * time, down to every 15 minutes; in between a record (record.h) answers for it. */
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <math.h>
#include <sensors/error.h>
#include <sensors/sensors.h>
#include <stdio.h>
#include <time.h>

#include "config.h"
#include "pcie.h"
#include "plausible.h"
#include "record.h"
#include "source.h"
#include "sysfs.h"
#include "text.h"
#include "walk.h"

#define WORKERS 4

#define SLOW_MS             200
#define SLOW_INTERVAL_MS    (60 * 1000)
#define LONGEST_INTERVAL_MS (15 * 60 * 1000)

typedef struct SensorChip {
        const sensors_chip_name *name; /* libsensors' own */
        char text[128];
} SensorChip;

typedef struct Sensors {
        SensorChip *chips;
        size_t n;
        PnPolicy policy;
} Sensors;

/* The memory of a slow chip. */
typedef struct Record {
        int64_t begun; /* CLOCK_BOOTTIME, ms */
        uint32_t slowness;
        uint32_t length;
        char json[12000]; /* the object */
} Record;

#define RECORD_KIND UINT32_C(0x63310001)

/* libsensors tells of mistakes in its files through a pointer to a function without context. */
static char config_problem[200];

static void on_parse_error(const char *error, const char *file, int line)
{
        if (*config_problem)
                return;
        (void)snprintf(config_problem, sizeof config_problem, "%s:%d: %s",
                       file ? file : "sensors3.conf", line, error);
}

static void on_old_parse_error(const char *error, int line)
{
        on_parse_error(error, NULL, line);
}

static int64_t now_ms(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_BOOTTIME, &t);
        return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- What a chip is part of ---- */

static bool is_hwmon(const char *name)
{
        return pn_startswith(name, "hwmon");
}

/* The name of the block device of a SCSI target, else its own. */
static int name_disk(const char *path, const char *last, PnText *ret)
{
        _cleanup_close_ int dir = pn_sysfs_open(AT_FDCWD, path);
        _cleanup_names_ PnNames names = {0};

        if (dir >= 0 && pn_sysfs_names(dir, "block", &names) == 0 && names.n == 1)
                last = names.v[0];
        return pn_set_text(ret, last);
}

/* The nearest thing above the chip that has a name which survives a reboot: an interface, a PCI
 * function, a disk; else its place in the system. */
static int name_device(const char *chip_path, PnText *ret)
{
        char path[PATH_MAX], *last;
        PnPciAddress address;

        if ((size_t)snprintf(path, sizeof path, "%s", chip_path) >= sizeof path)
                return 0;
        while ((last = strrchr(path, '/')) && is_hwmon(last + 1))
                *last = '\0';
        if (!last || !last[1])
                return 0;
        if (strstr(path, "/target") && pn_pci_address_parse(last + 1, &address) < 0)
                return name_disk(path, last + 1, ret);
        if (pn_set_text(ret, last + 1) < 0)
                return -ENOMEM;
        for (; last; last = strrchr(path, '/')) {
                const char *name = last + 1, *above;
                bool found;

                *last = '\0';
                above = strrchr(path, '/');
                found = pn_pci_address_parse(name, &address) == 0 ||
                        (above && strcmp(above, "/net") == 0);
                if (found)
                        return pn_set_text(ret, name);
        }
        return 0;
}

/* Whether the device in a folder of sysfs sleeps. An I2C adapter is "suspended" from its first
 * moment on, as the kernel keeps no account of it: what has no power/control cannot be put to
 * sleep. */
static bool sleeps(char *path)
{
        size_t n = strlen(path);
        char state[32];
        bool suspended;

        memcpy(path + n, "/power/runtime_status", sizeof "/power/runtime_status");
        suspended = pn_sysfs_read(AT_FDCWD, path, state, sizeof state) > 0 &&
                    pn_startswith(state, "suspend");
        if (suspended) {
                memcpy(path + n, "/power/control", sizeof "/power/control");
                suspended = access(path, F_OK) == 0;
        }
        path[n] = '\0';
        return suspended;
}

/* Whether the chip or something above it sleeps, and reading might wake it. */
static bool is_asleep(const char *device_path)
{
        char path[PATH_MAX], *slash;

        if (strlen(device_path) >= sizeof path - sizeof "/power/runtime_status")
                return false;
        (void)snprintf(path, sizeof path, "%s", device_path);
        while ((slash = strrchr(path, '/')) && slash != path) {
                if (strcmp(path, "/sys/devices") == 0)
                        return false;
                if (sleeps(path))
                        return true;
                *slash = '\0';
        }
        return false;
}

/* Reading these costs seconds, or a message in the kernel's log, or wakes a disk. */
static bool is_slow_by_nature(const char *prefix)
{
        static const char *const prefixes[] = {"w1_slave", "power_meter", "dell_smm",
                                               "i8k",      "drivetemp",   "applesmc"};

        for (size_t i = 0; i < PN_ELEMENTS(prefixes); i++)
                if (pn_startswith(prefix, prefixes[i]))
                        return true;
        return false;
}

/* ---- Readings ---- */

typedef struct Feature {
        sensors_feature_type type;
        const char *kind, *unit;
        int input, instead; /* subfeatures; -1: none */
        int min, max, critical;
        int alarms[4];
        int fault;
} Feature;

#define S(name) SENSORS_SUBFEATURE_##name

static const Feature features[] = {
    {SENSORS_FEATURE_TEMP,
     "temperature",
     "°C",
     S(TEMP_INPUT),
     -1,
     S(TEMP_MIN),
     S(TEMP_MAX),
     S(TEMP_CRIT),
     {S(TEMP_ALARM), S(TEMP_MAX_ALARM), S(TEMP_CRIT_ALARM), S(TEMP_MIN_ALARM)},
     S(TEMP_FAULT)},
    {SENSORS_FEATURE_FAN,
     "fan",
     "RPM",
     S(FAN_INPUT),
     -1,
     S(FAN_MIN),
     S(FAN_MAX),
     -1,
     {S(FAN_ALARM), S(FAN_MIN_ALARM), S(FAN_MAX_ALARM), -1},
     S(FAN_FAULT)},
    {SENSORS_FEATURE_IN,
     "voltage",
     "V",
     S(IN_INPUT),
     S(IN_AVERAGE),
     S(IN_MIN),
     S(IN_MAX),
     S(IN_CRIT),
     {S(IN_ALARM), S(IN_MIN_ALARM), S(IN_MAX_ALARM), S(IN_CRIT_ALARM)},
     -1},
    {SENSORS_FEATURE_POWER,
     "power",
     "W",
     S(POWER_INPUT),
     S(POWER_AVERAGE),
     -1,
     S(POWER_MAX),
     S(POWER_CRIT),
     {S(POWER_ALARM), S(POWER_MAX_ALARM), S(POWER_CRIT_ALARM), -1},
     -1},
    {SENSORS_FEATURE_CURR,
     "current",
     "A",
     S(CURR_INPUT),
     S(CURR_AVERAGE),
     S(CURR_MIN),
     S(CURR_MAX),
     S(CURR_CRIT),
     {S(CURR_ALARM), S(CURR_MIN_ALARM), S(CURR_MAX_ALARM), S(CURR_CRIT_ALARM)},
     -1},
    {SENSORS_FEATURE_ENERGY, "energy", "J", S(ENERGY_INPUT), -1, -1, -1, -1, {-1, -1, -1, -1}, -1},
    {SENSORS_FEATURE_HUMIDITY,
     "humidity",
     "%",
     S(HUMIDITY_INPUT),
     -1,
     -1,
     -1,
     -1,
     {-1, -1, -1, -1},
     -1},
};

static PnReal get_value(const sensors_chip_name *chip, const sensors_feature *feature, int which)
{
        const sensors_subfeature *subfeature =
            which < 0 ? NULL
                      : sensors_get_subfeature(chip, feature, (sensors_subfeature_type)which);
        double v;
        int r;

        if (!subfeature || !(subfeature->flags & SENSORS_MODE_R))
                return (PnReal){.state = PN_ABSENT};
        errno = 0;
        r = sensors_get_value(chip, subfeature->number, &v);
        if (r == 0 && isfinite(v))
                return pn_real(v);
        if (r == -SENSORS_ERR_NO_ENTRY)
                return (PnReal){.state = PN_ABSENT};
        /* The library says "cannot read" of what the driver refused, and of what is no number; why
         * it could not be opened is in errno alone. */
        if (r == -SENSORS_ERR_ACCESS_R || r == -SENSORS_ERR_KERNEL)
                return (PnReal){.state = errno ? pn_reason_from_errno(errno) : PN_UNREAD_MALFORMED};
        return (PnReal){.state = r == 0 ? PN_UNREAD_MALFORMED : PN_UNREAD_IO};
}

static int set_label(const sensors_chip_name *chip, const sensors_feature *feature,
                     PnReading *reading)
{
        _cleanup_free_ char *label = sensors_get_label(chip, feature);
        char *clean;
        int r = label ? pn_text_from_utf8(label, strlen(label), &clean) : 0;

        if (r < 0)
                return r;
        if (r > 0)
                pn_take_text(&reading->label, clean);
        else
                r = pn_set_text(&reading->label, feature->name);
        return r < 0 ? r : pn_set_text(&reading->feature, feature->name);
}

static int read_feature(const sensors_chip_name *chip, const sensors_feature *feature,
                        const Feature *how, PnChip *object)
{
        PnReading *reading = PN_APPEND(&object->readings);

        if (!reading || set_label(chip, feature, reading) < 0 ||
            pn_set_text(&reading->kind, how->kind) < 0 ||
            pn_set_text(&reading->unit, how->unit) < 0)
                return -ENOMEM;
        reading->value = get_value(chip, feature, how->input);
        if (reading->value.state == PN_ABSENT)
                reading->value = get_value(chip, feature, how->instead);
        reading->min = get_value(chip, feature, how->min);
        reading->max = get_value(chip, feature, how->max);
        reading->critical = get_value(chip, feature, how->critical);
        for (size_t i = 0; i < PN_ELEMENTS(how->alarms); i++) {
                PnReal alarm = get_value(chip, feature, how->alarms[i]);

                if (alarm.state == PN_KNOWN)
                        reading->alarm = pn_bool(pn_is_true(reading->alarm) || alarm.v > 0);
        }
        if (pn_reading_judge(object, reading) < 0)
                return -ENOMEM;
        if (get_value(chip, feature, how->fault).v > 0)
                reading->plausible = pn_bool(false);
        return 0;
}

static int read_readings(const sensors_chip_name *chip, PnChip *object)
{
        const sensors_feature *feature;
        int at = 0;

        object->readings.state = PN_KNOWN;
        while ((feature = sensors_get_features(chip, &at)))
                for (size_t i = 0; i < PN_ELEMENTS(features); i++)
                        if (feature->type == features[i].type &&
                            read_feature(chip, feature, &features[i], object) < 0)
                                return -ENOMEM;
        return 0;
}

/* ---- Slow chips ---- */

static void record_name(const SensorChip *chip, char *buf, size_t size)
{
        (void)snprintf(buf, size, "chip-%s", chip->text);
        for (char *c = buf; *c; c++)
                if (*c == '/')
                        *c = '_';
}

/* What a slow chip said, if it is not time to ask again. */
static bool recall(const Record *record, PnChip *object)
{
        struct json_object *json;
        int64_t interval = SLOW_INTERVAL_MS;
        bool good;

        for (uint32_t i = 0; i < record->slowness && interval < LONGEST_INTERVAL_MS; i++)
                interval *= 2;
        if (interval > LONGEST_INTERVAL_MS)
                interval = LONGEST_INTERVAL_MS;
        if (now_ms() < record->begun || now_ms() - record->begun >= interval ||
            record->length >= sizeof record->json ||
            pn_parse_json(record->json, record->length, &json, NULL) < 0)
                return false;
        good = pn_read_json(pn_type_Chip(), json, PN_JSON_STRICT, object, NULL, NULL) == 0;
        json_object_put(json);
        return good;
}

static void remember(const SensorChip *chip, int64_t begun, Record *record, PnRecord *file,
                     const PnChip *object)
{
        _cleanup_buf_ PnBuf json = {0};
        char name[NAME_MAX + 1];

        record->begun = begun;
        if (now_ms() - begun > SLOW_MS)
                record->slowness += record->slowness < 16;
        else
                record->slowness -= record->slowness > 0;
        pn_write_json(&json, pn_type_Chip(), object);
        record_name(chip, name, sizeof name);
        if (json.error || json.len >= sizeof record->json ||
            (file->fd < 0 && pn_record_open(name, file) < 0))
                return;
        record->length = (uint32_t)json.len;
        memcpy(record->json, json.data, json.len);
        (void)pn_record_write(file, RECORD_KIND, record, sizeof *record);
}

/* ---- A chip ---- */

static int read_chip(const void *context, size_t i, void *object_at, void *fact _unused_)
{
        const Sensors *sensors = context;
        const SensorChip *chip = &sensors->chips[i];
        _cleanup_free_ char *path = realpath(chip->name->path, NULL);
        _cleanup_free_ Record *record = calloc(1, sizeof *record);
        _cleanup_record_ PnRecord file = {-1};
        char name[NAME_MAX + 1];
        PnChip *object = object_at;
        int64_t begun = now_ms();
        int r;

        if (!path)
                return errno == ENOMEM ? -ENOMEM : -ENODEV;
        if (!record || pn_set_text(&object->chip, chip->text) < 0 ||
            name_device(path, &object->device) < 0)
                return -ENOMEM;
        if (pn_policy_excludes(&sensors->policy,
                               (const char *const[]){chip->text, pn_text(&object->device)}, 2)) {
                object->readings.state = PN_UNREAD_EXCLUDED;
                return 0;
        }
        if (!sensors->policy.sensors_of_slow_buses && is_slow_by_nature(chip->name->prefix)) {
                object->readings.state = PN_UNREAD_UNSUPPORTED;
                return 0;
        }
        if (is_asleep(path)) {
                object->readings.state = PN_UNREAD_ASLEEP;
                return 0;
        }
        record_name(chip, name, sizeof name);
        r = pn_record_find(name, &file);
        if (r == -EWOULDBLOCK) {
                object->readings.state = PN_UNREAD_STUCK;
                return 0;
        }
        if (r == 0 && pn_record_read(&file, RECORD_KIND, record, sizeof *record)) {
                pn_done(pn_type_Chip(), object);
                if (recall(record, object))
                        return 0;
                if (pn_set_text(&object->chip, chip->text) < 0 ||
                    name_device(path, &object->device) < 0)
                        return -ENOMEM;
        }
        r = read_readings(chip->name, object);
        if (r == 0 && (file.fd >= 0 || now_ms() - begun > SLOW_MS))
                remember(chip, begun, record, &file, object);
        return r;
}

static const char *chip_name(const void *context, size_t i)
{
        const Sensors *sensors = context;

        return sensors->chips[i].text;
}

/* ---- The source ---- */

/* Two chips of one name (a driver with two instances on one bus) get a number. */
static void make_unique(Sensors *sensors, SensorChip *chip)
{
        size_t n = strlen(chip->text);
        unsigned number = 1;

        for (size_t i = 0; i < sensors->n; i++)
                if (strcmp(sensors->chips[i].text, chip->text) == 0 && n < sizeof chip->text - 8) {
                        (void)snprintf(chip->text + n, sizeof chip->text - n, "#%u", ++number);
                        i = SIZE_MAX; /* from the start */
                }
}

static int list_chips(Sensors *sensors)
{
        const sensors_chip_name *name;
        size_t capacity = 0;
        int at = 0;

        while ((name = sensors_get_detected_chips(NULL, &at))) {
                SensorChip *chip;

                if (strcmp(name->prefix, "nvme") == 0)
                        continue;
                if (sensors->n == capacity) {
                        size_t bigger = capacity ? capacity * 2 : 16;
                        SensorChip *grown = reallocarray(sensors->chips, bigger, sizeof *grown);

                        if (!grown)
                                return -ENOMEM;
                        sensors->chips = grown;
                        capacity = bigger;
                }
                chip = &sensors->chips[sensors->n];
                chip->name = name;
                if (sensors_snprintf_chip_name(chip->text, sizeof chip->text - 8, name) < 0)
                        continue;
                make_unique(sensors, chip);
                sensors->n++;
        }
        return 0;
}

/* With the administrator's files; without any if they cannot be used, which is said. */
static bool start_library(PnReport *report)
{
        FILE *empty;
        int r;

        sensors_parse_error = on_old_parse_error;
        sensors_parse_error_wfn = on_parse_error;
        r = sensors_init(NULL);
        if (r == 0) {
                if (*config_problem)
                        pn_report_reason(report, "%s", config_problem);
                return true;
        }
        pn_report_reason(report, "%s", *config_problem ? config_problem : sensors_strerror(r));
        sensors_cleanup();
        empty = fopen("/dev/null", "re");
        r = empty ? sensors_init(empty) : -1;
        if (empty)
                (void)fclose(empty);
        return r == 0;
}

int pn_source_sensors(PnEmit *emit, PnReport *report)
{
        Sensors *sensors = calloc(1, sizeof *sensors);
        PnWalk walk = {.source = "sensors",
                       .kind = PN_OBJECT_CHIP,
                       .context = sensors,
                       .n_workers = WORKERS,
                       .name = chip_name,
                       .read = read_chip};
        bool abandoned = false;
        int r;

        if (!sensors)
                return -ENOMEM;
        r = pn_config_load(&sensors->policy, NULL, NULL);
        if (r == 0 && access("/sys/class/hwmon", F_OK) == 0 && start_library(report)) {
                r = list_chips(sensors);
                walk.n = sensors->n;
                if (r == 0)
                        r = pn_walk(&walk, emit, report, &abandoned);
                if (!abandoned)
                        sensors_cleanup();
        }
        if (!abandoned) {
                pn_policy_done(&sensors->policy);
                free(sensors->chips);
                free(sensors);
        }
        return r;
}
