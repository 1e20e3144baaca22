/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The words of pnhwd.conf and what they mean; knows not where it lies, and reads no file. */

#include "policy.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

typedef enum ValueKind {
        VALUE_TIME, /* seconds; a number with s, min, h */
        VALUE_CELSIUS,
        VALUE_PERCENT,
        VALUE_BOOL,
        VALUE_DEVICES,
        VALUE_LINK,
} ValueKind;

typedef struct Key {
        const char *section, *name;
        ValueKind kind;
        size_t offset; /* in PnPolicy, of an int64_t or a bool */
        int64_t least, most;
} Key;

static const Key keys[] = {
    {"Daemon", "Interval", VALUE_TIME, offsetof(PnPolicy, interval_s), 1, 86400},
    {"Health", "Interval", VALUE_TIME, offsetof(PnPolicy, health_interval_s), 30, 86400},
    {"Health", "HotInterval", VALUE_TIME, offsetof(PnPolicy, health_hot_interval_s), 30, 86400},
    {"Health", "LongestInterval", VALUE_TIME, offsetof(PnPolicy, health_longest_interval_s), 30,
     604800},
    {"Health", "EmulatedDrives", VALUE_BOOL, offsetof(PnPolicy, health_of_emulated), 0, 1},
    {"Sensors", "SlowBuses", VALUE_BOOL, offsetof(PnPolicy, sensors_of_slow_buses), 0, 1},
    {"Limits", "DriveWarning", VALUE_CELSIUS, offsetof(PnPolicy, nvme_warning_c), 30, 110},
    {"Limits", "DriveCritical", VALUE_CELSIUS, offsetof(PnPolicy, nvme_critical_c), 30, 120},
    {"Limits", "WornInfo", VALUE_PERCENT, offsetof(PnPolicy, worn_info), 1, 255},
    {"Limits", "WornWarning", VALUE_PERCENT, offsetof(PnPolicy, worn_warning), 1, 255},
    {"Devices", "Exclude", VALUE_DEVICES, 0, 0, 0},
    {"Links", "Expect", VALUE_LINK, 0, 0, 0},
};

static void clear_links(PnPolicy *policy)
{
        for (unsigned i = 0; i < policy->n_links; i++)
                free(policy->links[i].device);
        free(policy->links);
        policy->links = NULL;
        policy->n_links = 0;
}

static void clear_texts(PnTexts *texts)
{
        for (unsigned i = 0; i < texts->n; i++)
                free(texts->v[i]);
        free(texts->v);
        *texts = (PnTexts){0};
}

void pn_policy_done(PnPolicy *policy)
{
        clear_texts(&policy->excluded);
        clear_links(policy);
}

static int fail(char **ret_error, const char *format, ...) _printf_(2, 3);
static int fail(char **ret_error, const char *format, ...)
{
        va_list args;
        int n;

        va_start(args, format);
        n = vasprintf(ret_error, format, args);
        va_end(args);
        if (n < 0) {
                *ret_error = NULL;
                return -ENOMEM;
        }
        return -EINVAL;
}

/* More than any value may be: a longer number counts as this, and is out of range. */
#define NUMBER_MAX 1000000000

/* A whole number; returns the rest, which is a unit or nothing, or NULL if there is no number. */
static const char *read_number(const char *s, int64_t *ret)
{
        int64_t v = 0;
        const char *start = s;

        for (; *s >= '0' && *s <= '9'; s++) {
                v = v * 10 + (*s - '0');
                if (v > NUMBER_MAX)
                        v = NUMBER_MAX;
        }
        if (s == start)
                return NULL;
        while (*s == ' ')
                s++;
        *ret = v;
        return s;
}

/* "90", "90s", "1min 30s": the units are systemd's, from the second up. */
static bool read_time(const char *s, int64_t *ret)
{
        static const struct {
                int64_t seconds;
                const char *units[6];
        } rows[] = {
            {1, {"s", "sec", "second", "seconds"}}, {60, {"m", "min", "minute", "minutes"}},
            {3600, {"h", "hr", "hour", "hours"}},   {86400, {"d", "day", "days"}},
            {7 * 86400, {"w", "week", "weeks"}},
        };
        int64_t sum = 0, v = 0;

        for (unsigned parts = 0;; parts++) {
                int64_t seconds = 0;
                size_t n;

                s = read_number(s, &v);
                if (!s)
                        return false;
                if (!*s && parts == 0) {
                        *ret = v;
                        return true;
                }
                n = strspn(s, "abcdefghijklmnopqrstuvwxyz");
                for (size_t i = 0; i < PN_ELEMENTS(rows); i++)
                        for (size_t k = 0; k < PN_ELEMENTS(rows[i].units) && rows[i].units[k]; k++)
                                if (strlen(rows[i].units[k]) == n &&
                                    memcmp(rows[i].units[k], s, n) == 0)
                                        seconds = rows[i].seconds;
                if (!seconds)
                        return false;
                sum += v * seconds;
                if (sum > NUMBER_MAX)
                        sum = NUMBER_MAX;
                s += n + strspn(s + n, " ");
                if (!*s) {
                        *ret = sum;
                        return true;
                }
        }
}

static int set_number(const Key *key, const char *value, void *at, char **ret_error)
{
        static const char *const words[] = {
            [VALUE_TIME] = "a time such as 90s, 5min or 1h",
            [VALUE_CELSIUS] = "a whole number of degrees Celsius",
            [VALUE_PERCENT] = "a whole number of percent",
        };
        int64_t v = 0;
        const char *unit;
        bool good = false;

        if (key->kind == VALUE_TIME) {
                good = read_time(value, &v);
        } else {
                unit = read_number(value, &v);
                if (unit && key->kind == VALUE_CELSIUS)
                        good = !*unit || strcmp(unit, "C") == 0 || strcmp(unit, "°C") == 0;
                if (unit && key->kind == VALUE_PERCENT)
                        good = !*unit || strcmp(unit, "%") == 0;
        }
        if (!good)
                return fail(ret_error, "%s=%s: expected %s", key->name, value, words[key->kind]);
        if (v < key->least || v > key->most)
                return fail(ret_error, "%s=%s: expected %lld to %lld%s", key->name, value,
                            (long long)key->least, (long long)key->most,
                            key->kind == VALUE_TIME      ? " seconds"
                            : key->kind == VALUE_CELSIUS ? " °C"
                                                         : " %");
        memcpy(at, &v, sizeof v);
        return 0;
}

static int set_bool(const Key *key, const char *value, bool *at, char **ret_error)
{
        static const char *const words[] = {"no", "yes", "false", "true", "off", "on",
                                            "n",  "y",   "f",     "t",    "0",   "1"};

        for (size_t i = 0; i < PN_ELEMENTS(words); i++)
                if (strcasecmp(value, words[i]) == 0) {
                        *at = i % 2;
                        return 0;
                }
        return fail(ret_error, "%s=%s: expected yes or no", key->name, value);
}

/* A name or a pattern: what begins like this was meant as something else. */
static bool is_odd_name(const char *s)
{
        return *s && strchr("#;\"'\\", *s);
}

static int add_devices(PnPolicy *policy, const Key *key, const char *value, char **ret_error)
{
        for (const char *s = value; *s; s += strcspn(s, " \t")) {
                s += strspn(s, " \t");
                if (is_odd_name(s))
                        return fail(ret_error,
                                    "%s=%s: expected names with spaces between them, without "
                                    "quotes, and comments in lines of their own",
                                    key->name, value);
        }
        while (*value) {
                size_t n = strcspn(value, " \t");
                _cleanup_free_ char *word = NULL;

                if (n) {
                        word = strndup(value, n);
                        if (!word || pn_texts_append_unique(&policy->excluded, word) < 0)
                                return -ENOMEM;
                }
                value += n + strspn(value + n, " \t");
        }
        return 0;
}

/* "0000:01:00.0 8 x4", "nvme3 16GT/s x1" */
static int add_link(PnPolicy *policy, const Key *key, const char *value, char **ret_error)
{
        static const double speeds[] = {2.5, 5, 8, 16, 32, 64};
        _cleanup_free_ char *device = NULL;
        PnExpectedLink *links;
        double speed = 0;
        int width = 0, end = 0;
        bool good = false;

        if (sscanf(value, "%ms %lf%*[ GTs/] x%d%n", &device, &speed, &width, &end) == 3 &&
            end > 0 && !value[end])
                for (size_t i = 0; i < PN_ELEMENTS(speeds); i++)
                        good |= speed >= speeds[i] && speed <= speeds[i];
        if (!good || (width != 1 && width != 2 && width != 4 && width != 8 && width != 12 &&
                      width != 16 && width != 32))
                return fail(ret_error,
                            "%s=%s: expected a device, a speed and lanes, such as nvme3 8 GT/s x4",
                            key->name, value);
        links = reallocarray(policy->links, policy->n_links + 1, sizeof *links);
        if (!links)
                return -ENOMEM;
        policy->links = links;
        links[policy->n_links++] = (PnExpectedLink){PN_STEAL(device), speed, width};
        return 0;
}

static int reset(PnPolicy *policy, const Key *key)
{
        PnPolicy fresh = PN_POLICY_DEFAULT;
        size_t size = key->kind == VALUE_BOOL ? sizeof(bool) : sizeof(int64_t);

        if (key->kind == VALUE_DEVICES)
                clear_texts(&policy->excluded);
        else if (key->kind == VALUE_LINK)
                clear_links(policy);
        else
                memcpy((char *)policy + key->offset, (char *)&fresh + key->offset, size);
        return 0;
}

static int no_such_key(const char *section, const char *name, char **ret_error)
{
        char known[256] = "";
        size_t n = 0;

        if (!*name)
                return fail(ret_error, "there is no key before the =");
        for (size_t i = 0; i < PN_ELEMENTS(keys); i++)
                if (strcmp(keys[i].section, section) == 0 && n < sizeof known)
                        n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "",
                                              keys[i].name);
        if (n)
                return fail(ret_error, "there is no key %s in [%s]: its keys are %s", name, section,
                            known);
        return fail(ret_error,
                    "%s%s%s: the sections are [Daemon], [Health], [Sensors], [Limits], [Devices] "
                    "and [Links]",
                    *section ? "there is no section [" : "the line is in no section", section,
                    *section ? "]" : "");
}

int pn_policy_set(PnPolicy *policy, const char *section, const char *name, const char *value,
                  char **ret_error)
{
        const Key *key = NULL;
        void *at;

        for (size_t i = 0; i < PN_ELEMENTS(keys) && !key; i++)
                if (strcmp(keys[i].section, section) == 0 && strcmp(keys[i].name, name) == 0)
                        key = &keys[i];
        if (!key)
                return no_such_key(section, name, ret_error);
        if (!*value)
                return reset(policy, key);
        at = (char *)policy + key->offset;
        switch (key->kind) {
        case VALUE_TIME:
        case VALUE_CELSIUS:
        case VALUE_PERCENT:
                return set_number(key, value, at, ret_error);
        case VALUE_BOOL:
                return set_bool(key, value, at, ret_error);
        case VALUE_DEVICES:
                return add_devices(policy, key, value, ret_error);
        case VALUE_LINK:
                return add_link(policy, key, value, ret_error);
        }
        return -EINVAL;
}

static bool matches(const char *pattern, const char *const *names, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (names[i] && fnmatch(pattern, names[i], 0) == 0)
                        return true;
        return false;
}

bool pn_policy_excludes(const PnPolicy *policy, const char *const *names, size_t n)
{
        for (unsigned i = 0; i < policy->excluded.n; i++)
                if (matches(policy->excluded.v[i], names, n))
                        return true;
        return false;
}

const PnExpectedLink *pn_policy_link(const PnPolicy *policy, const char *const *names, size_t n)
{
        for (unsigned i = 0; policy && i < policy->n_links; i++)
                if (matches(policy->links[i].device, names, n))
                        return &policy->links[i];
        return NULL;
}
