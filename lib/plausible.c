/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tells readings that can be believed from those that cannot. */

#include "plausible.h"

#include <math.h>

/* What hwmon chips are made for (°C); the rest is a scale's end or a wire that hangs in the air. */
#define TEMPERATURE_MIN (-55.0)
#define TEMPERATURE_MAX 150.0

static bool starts_with_any(const char *s, const char *const *starts, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (pn_startswith(s, starts[i]))
                        return true;
        return false;
}

static bool is_super_io(const PnChip *chip)
{
        static const char *const starts[] = {"nct", "it8", "w83", "f71", "f81", "sch5", "smsc47"};

        return starts_with_any(chip->chip.v, starts, PN_ELEMENTS(starts));
}

static bool is_exactly(double a, double b)
{
        return fabs(a - b) < 0.0005;
}

static bool is_temperature(const PnReading *reading)
{
        return pn_text_is(&reading->kind, "temperature") || pn_text_is(&reading->kind, "control");
}

/* The end of a scale: 8 bits with and without a sign, 9 bits. */
static bool is_scale_end(double v)
{
        return is_exactly(v, 127) || is_exactly(v, -128) || is_exactly(v, 255) ||
               is_exactly(v, 511) || is_exactly(v, -127);
}

static bool is_possible(const PnReading *reading)
{
        static const struct {
                const char *kind;
                double least, most;
        } ranges[] = {
            {"temperature", TEMPERATURE_MIN, TEMPERATURE_MAX},
            {"control", TEMPERATURE_MIN, TEMPERATURE_MAX},
            {"fan", 0, 50000},
            {"voltage", -500, 500},
            {"power", -20000, 20000},
            {"current", -2000, 2000},
            {"humidity", 0, 100},
        };

        for (size_t i = 0; i < PN_ELEMENTS(ranges); i++)
                if (pn_text_is(&reading->kind, ranges[i].kind))
                        return reading->value.v >= ranges[i].least &&
                               reading->value.v <= ranges[i].most;
        return true;
}

/* A channel that is wired to nothing: the end of the scale, or nothing at all. */
static bool is_unconnected(const PnChip *chip, const PnReading *reading)
{
        if (!is_temperature(reading))
                return false;
        return is_scale_end(reading->value.v) ||
               (is_super_io(chip) && is_exactly(reading->value.v, 0));
}

static void drop(PnReal *limit)
{
        *limit = (PnReal){.state = limit->state == PN_KNOWN ? PN_ABSENT : limit->state};
}

static void judge_limits(PnReading *reading)
{
        PnReal *const limits[] = {&reading->min, &reading->max, &reading->critical};

        if (is_temperature(reading)) {
                for (size_t i = 0; i < PN_ELEMENTS(limits); i++)
                        if (limits[i]->state == PN_KNOWN &&
                            (limits[i]->v < TEMPERATURE_MIN || limits[i]->v > TEMPERATURE_MAX ||
                             is_scale_end(limits[i]->v)))
                                drop(limits[i]);
                /* An upper limit that a cold room reaches is none. */
                if (reading->max.state == PN_KNOWN && reading->max.v < 30)
                        drop(&reading->max);
                if (reading->critical.state == PN_KNOWN && reading->critical.v < 40)
                        drop(&reading->critical);
        }
        if (reading->min.state == PN_KNOWN && reading->max.state == PN_KNOWN &&
            reading->min.v >= reading->max.v) {
                drop(&reading->min);
                drop(&reading->max);
                /* Nobody set them, and then the alarm means nothing either. */
                if (reading->critical.state != PN_KNOWN && reading->alarm.state == PN_KNOWN)
                        reading->alarm = (PnBool){.state = PN_ABSENT};
        }
        if (reading->max.state == PN_KNOWN && reading->critical.state == PN_KNOWN &&
            reading->critical.v < reading->max.v)
                drop(&reading->max);
        /* A fan has no upper limit that anybody set, and a lower one of 0 is none. */
        if (pn_text_is(&reading->kind, "fan")) {
                drop(&reading->max);
                if (reading->min.state == PN_KNOWN && reading->min.v <= 0)
                        drop(&reading->min);
        }
}

int pn_reading_judge(const PnChip *chip, PnReading *reading)
{
        judge_limits(reading);
        /* Made for fan control, and up to 27 °C above the temperature of the die (case 075). */
        if (pn_text_is(&reading->kind, "temperature") && pn_text_is(&reading->label, "Tctl") &&
            pn_set_text(&reading->kind, "control") < 0)
                return -ENOMEM;
        if (reading->value.state != PN_KNOWN)
                return 0;
        if (!isfinite(reading->value.v) || !is_possible(reading)) {
                reading->value = (PnReal){.state = PN_UNREAD_MALFORMED};
                reading->plausible = pn_bool(false);
                return 0;
        }
        reading->plausible = pn_bool(!is_unconnected(chip, reading));
        return 0;
}

bool pn_reading_may_alarm(const PnChip *chip, const PnReading *reading)
{
        /* What drivers call the channels of such chips, whatever is at their other ends. */
        static const char *const generic[] = {
            "SYSTIN", "CPUTIN", "AUXTIN", "PECI", "SMBUS",     "PCH_",  "TSI",      "temp",
            "in",     "fan",    "AUX",    "VIN",  "intrusion", "BYTE_", "Virtual_", "Agent"};

        return !is_super_io(chip) ||
               !starts_with_any(reading->label.v, generic, PN_ELEMENTS(generic));
}
