/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rules about what drives and sensors say of themselves, and the words for them. Pure functions
 * of the facts; a value that could not be read never makes a finding and never hides one.
 *
 * Only what is true of this reading is judged, with the one before as a witness against single
 * freak values, and minutes that the drive itself has counted. What else needs a memory is in
 * rules_growth.c. */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "learn.h"
#include "plausible.h"
#include "rules.h"
#include "smart.h"
#include "when.h"

/* Above all its sensors by so much, a drive's one temperature is not believed at once (°C). */
#define SPIKE_C 30

/* Between two readings of a chip's sensor (°C). */
#define JUMP_C 50

/* So close below its limit, a drive is worth a note (°C). */
#define NEAR_C 5

/* More drives of one name than there can be: further ones are not looked at. */
#define NAMESAKES_MAX 16

/* ---- Words ---- */

static const char *model_of(const PnNvme *drive)
{
        return pn_text(&drive->model) ? drive->model.v : "unknown model";
}

static PnFinding *add(PnFacts *facts, const PnNvme *drive, PnCode code, const char *severity)
{
        const PnRating *rating = pn_rating_at(facts->ratings, pn_text(&drive->address));
        PnFinding *finding =
            pn_finding_add(facts, code, severity, drive, pn_text(&drive->address), NULL);

        for (unsigned i = 0; finding && rating && i < rating->affects.n; i++)
                if (pn_texts_append(&finding->affects, rating->affects.v[i]) < 0)
                        return NULL;
        return finding;
}

static bool has_warning(const PnHealth *health, const char *word)
{
        for (unsigned i = 0; i < health->critical_warnings.n; i++)
                if (strcmp(health->critical_warnings.v[i], word) == 0)
                        return true;
        return false;
}

static const PnHealth *health_before(const PnFacts *facts, const PnNvme *drive)
{
        unsigned n;
        const PnIndexEntry *named = pn_index_range(&facts->names->drives_before, drive->name.v, &n);

        /* Two have one name where a lost drive's was given to another. */
        for (unsigned i = 0; i < n && i < NAMESAKES_MAX; i++) {
                const PnNvme *other = named[i].object;

                if (pn_streq(pn_text(&other->serial), pn_text(&drive->serial)))
                        return other->health.v;
        }
        return NULL;
}

/* ---- Spare blocks and wear ---- */

/* A limit of 0 or 100 is none: no drive could be below or above it. */
static bool is_spare_low(const PnHealth *health)
{
        return health->spare_percent.state == PN_KNOWN &&
               health->spare_threshold_percent.state == PN_KNOWN &&
               health->spare_threshold_percent.v < 100 &&
               health->spare_percent.v < health->spare_threshold_percent.v;
}

static int spare_low(PnFacts *facts, const PnNvme *drive)
{
        const PnHealth *health = drive->health.v;
        PnFinding *finding;

        if (!is_spare_low(health))
                return 0;
        finding = add(facts, drive, PN_CODE_nvme_spare_low, "critical");
        if (!finding ||
            pn_format_text(&finding->summary,
                           "%s has %" PRId64 " %% of its spare blocks left; its maker's limit is "
                           "%" PRId64 " %%.",
                           drive->name.v, health->spare_percent.v,
                           health->spare_threshold_percent.v) < 0 ||
            pn_format_text(&finding->detail,
                           "Blocks that fail are replaced by spare ones. %s will soon have none "
                           "left, and then it loses data or turns read-only.",
                           model_of(drive)) < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice, "Replace the drive now; check that backups are good.");
}

static bool is_worn_out(const PnHealth *health)
{
        return health->used_percent.state == PN_KNOWN && health->used_percent.v >= 100;
}

/* The reliability bit of a drive that is worn and works (case 026): all its spare blocks are there.
 * Media errors must not have grown since the reading before, if there was one. */
static bool is_worn_but_works(const PnFacts *facts, const PnNvme *drive)
{
        const PnHealth *health = drive->health.v, *before;

        if (!is_worn_out(health) || health->spare_percent.state != PN_KNOWN ||
            health->spare_threshold_percent.state != PN_KNOWN ||
            health->spare_percent.v < health->spare_threshold_percent.v ||
            health->media_errors.state != PN_KNOWN)
                return false;
        before = health_before(facts, drive);
        return !before || before->media_errors.state != PN_KNOWN ||
               health->media_errors.v <= before->media_errors.v;
}

static int worn(PnFacts *facts, const PnNvme *drive)
{
        const PnHealth *health = drive->health.v;
        int64_t used = pn_int_or(health->used_percent, 0);
        PnFinding *finding;

        if (used < facts->policy->worn_info)
                return 0;
        finding = add(facts, drive, PN_CODE_nvme_worn,
                      used >= facts->policy->worn_warning ? "warning" : "info");
        if (!finding ||
            pn_format_text(&finding->summary,
                           used >= 255
                               ? "%s has used up its rated life more than twice over (%" PRId64
                                 " %% or more)."
                           : used >= 100 ? "%s has used up its rated life (%" PRId64 " %%)."
                                         : "%s has used %" PRId64 " %% of its rated life.",
                           drive->name.v, used) < 0)
                return -ENOMEM;
        if (health->bytes_written.state == PN_KNOWN &&
            pn_format_text(&finding->detail,
                           "%.1f TB were written to it. The figure is the maker's estimate: a "
                           "drive beyond 100 %% may work on for long.",
                           (double)health->bytes_written.v / 1e12) < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice,
                           used >= 100 ? "Plan its replacement, and keep an eye on its spare "
                                         "blocks and media errors."
                                       : "Nothing to do yet; plan its replacement.");
}

/* ---- Temperature ---- */

/* A known bug of firmware (case 032): for a second the drive's one temperature is that of nothing
 * in it. Believed only when the reading before says the same. */
static bool is_spike(const PnHealth *now, const PnHealth *before, int64_t limit)
{
        unsigned n = 0;

        for (unsigned i = 0; i < now->sensors.n; i++) {
                if (now->sensors.v[i].temperature_c.state != PN_KNOWN)
                        continue;
                if (now->sensors.v[i].temperature_c.v + SPIKE_C >= now->temperature_c.v)
                        return false;
                n++;
        }
        if (!n)
                return false;
        return !(before && !pn_streq(pn_text(&before->updated), pn_text(&now->updated)) &&
                 pn_int_or(before->temperature_c, 0) >= limit);
}

static int say_heat(const PnNvme *drive, PnFinding *finding, int64_t limit, int64_t critical)
{
        const PnHealth *health = drive->health.v;
        int64_t hot = pn_int_or(health->warning_temperature_minutes, 0);
        int64_t too_hot = pn_int_or(health->critical_temperature_minutes, 0);
        bool own = health->warning_temperature_c.state == PN_KNOWN ||
                   health->critical_temperature_c.state == PN_KNOWN;

        if (pn_format_text(&finding->summary,
                           health->temperature_c.v >= critical ? "%s is too hot: %" PRId64
                                                                 " °C, and its critical limit is "
                                                                 "%" PRId64 " °C."
                           : health->temperature_c.v >= limit
                               ? "%s is hot: %" PRId64 " °C, and its limit is %" PRId64 " °C."
                               : "%s is close to hot: %" PRId64 " °C, and its limit is %" PRId64
                                 " °C.",
                           drive->name.v, health->temperature_c.v,
                           health->temperature_c.v >= critical ? critical : limit) < 0 ||
            pn_format_text(&finding->detail,
                           "%s. In its life it spent %" PRId64 " minutes above its first limit "
                           "and %" PRId64 " above its second.",
                           own ? "The limits are the drive's own; above them it slows down"
                               : "The drive gives no limits that make sense, so those of the "
                                 "policy are taken",
                           hot, too_hot) < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice,
                           "Check its airflow and heat sink, and what it sits next to.");
}

/* A drive that is cool when it is looked at, and was hot in between, by its own count. */
static int was_hot(PnFacts *facts, const PnNvme *drive)
{
        PnGrowth growth = {0};
        bool too_hot = pn_grew_of_drive(facts, PN_COUNTS_TOO_HOT, drive, &growth);
        PnFinding *finding;
        PnWhen when;

        if (!too_hot && !pn_grew_of_drive(facts, PN_COUNTS_HOT, drive, &growth))
                return 0;
        finding = add(facts, drive, PN_CODE_nvme_hot, "notice");
        if (!finding ||
            pn_format_text(&finding->summary,
                           "%s was above its %stemperature limit for %" PRId64
                           " minute%s since %s; now it is at %" PRId64 " °C.",
                           drive->name.v, too_hot ? "critical " : "", growth.to - growth.from,
                           growth.to - growth.from == 1 ? "" : "s",
                           pn_when_date(when, growth.since),
                           drive->health.v->temperature_c.v) < 0 ||
            pn_set_text(&finding->detail,
                        "The drive counts these minutes itself; while it is hot it slows down.") <
                0)
                return -ENOMEM;
        finding->extent = pn_int(growth.to - growth.from);
        return pn_set_text(&finding->advice,
                           "Look at what it does at that time, and at its airflow and heat sink.");
}

static int frozen(PnFacts *facts, const PnNvme *drive, int64_t since)
{
        PnFinding *finding = add(facts, drive, PN_CODE_nvme_hot, "notice");
        PnWhen when;

        if (!finding ||
            pn_format_text(
                &finding->summary,
                "%s has said %" PRId64 " °C since %s, whatever it did: that cannot be believed.",
                drive->name.v, drive->health.v->temperature_c.v, pn_when_date(when, since)) < 0 ||
            pn_set_text(&finding->detail,
                        "It has moved a lot of data since, which warms every drive.") < 0)
                return -ENOMEM;
        return pn_set_text(
            &finding->advice,
            "Nobody can tell whether it is too hot. Look for a newer firmware of the "
            "drive, and see to its airflow.");
}

static int hot(PnFacts *facts, const PnNvme *drive, bool *ret_told)
{
        const PnHealth *health = drive->health.v;
        int64_t since;
        int64_t warning, critical;
        PnFinding *finding;

        pn_nvme_limits(health, facts->policy, &warning, &critical);
        /* One that is hot all the time is told as hot. */
        if (health->temperature_c.state == PN_KNOWN && health->temperature_c.v < warning &&
            pn_is_frozen(facts, drive, &since))
                return frozen(facts, drive, since);
        if (health->temperature_c.state != PN_KNOWN)
                return pn_finding_hold(facts, PN_CODE_nvme_hot, drive, pn_text(&drive->address),
                                       NULL);
        if (health->temperature_c.v < warning - NEAR_C ||
            is_spike(health, health_before(facts, drive), warning - NEAR_C))
                return was_hot(facts, drive);
        /* So near below a limit it has not cooled down yet. */
        if ((health->temperature_c.v < warning || (health->temperature_c.v < critical &&
                                                   health->temperature_c.v >= critical - NEAR_C)) &&
            pn_finding_hold(facts, PN_CODE_nvme_hot, drive, pn_text(&drive->address), NULL) < 0)
                return -ENOMEM;
        *ret_told = health->temperature_c.v >= warning;
        finding = add(facts, drive, PN_CODE_nvme_hot,
                      health->temperature_c.v >= critical  ? "critical"
                      : health->temperature_c.v >= warning ? "warning"
                                                           : "info");
        return finding ? say_heat(drive, finding, warning, critical) : -ENOMEM;
}

/* ---- The drive's own warnings ---- */

static const struct {
        const char *word, *means;
} meanings[] = {
    {"spare", "its spare blocks run out"},
    {"temperature", "its temperature is outside of its limits"},
    {"reliability", "it is no longer reliable"},
    {"read_only", "it has turned read-only"},
    {"volatile_backup", "its backup of what it holds in memory has failed"},
    {"persistent_memory", "its persistent memory region is no longer reliable"},
};

static int say_warnings(const PnHealth *health, bool spare_told, bool heat_told, PnBuf *buf)
{
        for (unsigned i = 0; i < health->critical_warnings.n; i++) {
                const char *word = health->critical_warnings.v[i], *means = NULL;

                if ((spare_told && strcmp(word, "spare") == 0) ||
                    (heat_told && strcmp(word, "temperature") == 0))
                        continue;
                for (size_t k = 0; k < PN_ELEMENTS(meanings); k++)
                        if (strcmp(meanings[k].word, word) == 0)
                                means = meanings[k].means;
                pn_buf_puts(buf, buf->len ? "; " : "");
                if (means)
                        pn_buf_puts(buf, means);
                else
                        pn_buf_printf(buf, "it sets %s, which has no meaning yet", word);
        }
        return buf->error;
}

/* What other rules tell with figures is theirs. */
static int warned(PnFacts *facts, const PnNvme *drive, bool spare_told, bool heat_told)
{
        const PnHealth *health = drive->health.v;
        bool only_worn, only_heat;
        _cleanup_buf_ PnBuf words = {0};
        PnFinding *finding;
        unsigned left = health->critical_warnings.n;

        left -= spare_told && has_warning(health, "spare");
        left -= heat_told && has_warning(health, "temperature");
        if (say_warnings(health, spare_told, heat_told, &words) < 0)
                return -ENOMEM;
        if (!left)
                return 0;
        only_worn =
            left == 1 && has_warning(health, "reliability") && is_worn_but_works(facts, drive);
        only_heat = left == 1 && !heat_told && has_warning(health, "temperature");
        finding = add(facts, drive, PN_CODE_nvme_critical_warning,
                      only_worn || only_heat ? "warning" : "critical");
        if (!finding)
                return -ENOMEM;
        if (only_worn) {
                if (pn_format_text(&finding->summary,
                                   "%s says that it is worn out (%" PRId64
                                   " %% of its rated life); it works, with %" PRId64
                                   " %% of its spare blocks left.",
                                   drive->name.v, health->used_percent.v,
                                   health->spare_percent.v) < 0 ||
                    pn_set_text(&finding->detail,
                                "Some makers set the reliability warning when the rated life is "
                                "used up. Spare blocks and media errors say that data is not in "
                                "danger.") < 0)
                        return -ENOMEM;
                return pn_set_text(&finding->advice, "Plan its replacement.");
        }
        if (pn_format_text(&finding->summary, "%s warns: %s.", drive->name.v, words.data) < 0)
                return -ENOMEM;
        if (only_heat)
                return pn_set_text(&finding->advice,
                                   "Check its airflow, and that it is not too cold either.");
        if (pn_format_text(&finding->detail,
                           "The drive itself says so (%s; %" PRId64 " media errors).",
                           model_of(drive), pn_int_or(health->media_errors, 0)) < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice, "Replace the drive now; check that backups are good.");
}

/* ---- Drives that do not answer ---- */

static int no_answer(PnFacts *facts, const PnNvme *drive)
{
        PnFinding *finding = add(facts, drive, PN_CODE_probe_stuck, "warning");

        if (!finding ||
            pn_format_text(&finding->summary, "%s does not answer when it is asked for its health.",
                           drive->name.v) < 0 ||
            pn_set_text(&finding->detail,
                        drive->health.state == PN_UNREAD_STUCK
                            ? "A command that was sent to it has not come back. It is sent no "
                              "other for ten minutes at least."
                            : "A command that was sent to it did not come back in time.") < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice,
                           "Look at `journalctl -k` for timeouts and resets of the drive, and have "
                           "a replacement at hand.");
}

/* A drive that did not say how it is may be as ill as it was. */
static int hold(PnFacts *facts, const PnNvme *drive)
{
        static const PnCode codes[] = {PN_CODE_nvme_critical_warning, PN_CODE_nvme_spare_low,
                                       PN_CODE_nvme_worn, PN_CODE_nvme_hot,
                                       PN_CODE_nvme_media_errors_rising};

        for (size_t i = 0; i < PN_ELEMENTS(codes); i++)
                if (pn_finding_hold(facts, codes[i], drive, pn_text(&drive->address), NULL) < 0)
                        return -ENOMEM;
        return 0;
}

int pn_rules_health(PnFacts *facts)
{
        for (unsigned i = 0; i < facts->inventory->nvme.n; i++) {
                const PnNvme *drive = &facts->inventory->nvme.v[i];
                bool heat_told = false, spare_told;

                if (pn_is_true(drive->lost))
                        continue;
                if ((drive->health.state == PN_UNREAD_TIMEOUT ||
                     drive->health.state == PN_UNREAD_STUCK) &&
                    no_answer(facts, drive) < 0)
                        return -ENOMEM;
                if (drive->health.state != PN_KNOWN) {
                        if (hold(facts, drive) < 0)
                                return -ENOMEM;
                        continue;
                }
                spare_told = is_spare_low(drive->health.v);
                if (spare_low(facts, drive) < 0 || hot(facts, drive, &heat_told) < 0 ||
                    warned(facts, drive, spare_told, heat_told) < 0)
                        return -ENOMEM;
                if (!(has_warning(drive->health.v, "reliability") &&
                      is_worn_out(drive->health.v)) &&
                    worn(facts, drive) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* ---- Sensors ---- */

static int hold_sensor(PnFacts *facts, const PnChip *chip, const PnReading *reading, PnCode code)
{
        PnSensorSubject subject;

        pn_finding_subject_for_sensor(chip, reading, subject);
        return pn_finding_hold(facts, code, NULL, NULL, subject);
}

/* A temperature that is not clearly below its limit: what was too hot has not cooled down yet. */
static bool is_near_limit(const PnReading *reading)
{
        PnReal limit = reading->max.state == PN_KNOWN ? reading->max : reading->critical;

        return pn_text_is(&reading->kind, "temperature") && limit.state == PN_KNOWN &&
               reading->value.v > limit.v - NEAR_C;
}

/* A jump that no mass of metal makes: believed when the next reading says so too (case 070). */
static bool is_jump(const PnFacts *facts, const PnChip *chip, const PnReading *reading)
{
        const PnReading *before = pn_reading_before(facts->names, chip, reading);

        return before && pn_text_is(&reading->kind, "temperature") &&
               before->value.state == PN_KNOWN && pn_is_true(before->plausible) &&
               reading->value.v > before->value.v + JUMP_C;
}

static PnFinding *add_sensor(PnFacts *facts, const PnChip *chip, const PnReading *reading,
                             PnCode code, const char *severity)
{
        const char *device = pn_text(&chip->device);
        PnFinding *finding;
        PnSensorSubject subject;

        pn_finding_subject_for_sensor(chip, reading, subject);
        finding = pn_finding_add(facts, code, severity, NULL, NULL, subject);
        if (finding && pn_set_text(&finding->device, device) < 0)
                return NULL;
        return finding;
}

/* "CPU Tccd1", to begin a sentence with; NULL if memory is short. */
static char *name_reading(const PnChip *chip, const PnReading *reading)
{
        const char *part = pn_text(&chip->part), *name = pn_text(&chip->part_name);
        char *text;

        if (asprintf(&text, "%s%s%s%s%s", part ? part : "", part && name ? " " : "",
                     part && name ? name : "", part ? " " : "", reading->label.v) < 0)
                return NULL;
        if (part)
                text[0] = (char)toupper((unsigned char)text[0]);
        return text;
}

static int judge_reading(PnFacts *facts, const PnChip *chip, const PnReading *reading)
{
        const char *unit = pn_text(&reading->unit) ? reading->unit.v : "";
        _cleanup_free_ char *name = NULL;
        bool too_hot, hot_now;
        PnFinding *finding;

        if (!pn_reading_may_alarm(chip, reading))
                return 0;
        if (reading->value.state != PN_KNOWN || !pn_is_true(reading->plausible) ||
            is_jump(facts, chip, reading))
                return hold_sensor(facts, chip, reading, PN_CODE_sensor_hot) < 0
                           ? -ENOMEM
                           : hold_sensor(facts, chip, reading, PN_CODE_sensor_alarm);
        if (is_near_limit(reading) && hold_sensor(facts, chip, reading, PN_CODE_sensor_hot) < 0)
                return -ENOMEM;
        too_hot = pn_text_is(&reading->kind, "temperature") &&
                  reading->critical.state == PN_KNOWN && reading->value.v >= reading->critical.v;
        hot_now = pn_text_is(&reading->kind, "temperature") && reading->max.state == PN_KNOWN &&
                  reading->value.v >= reading->max.v;
        if (!too_hot && !hot_now && !pn_is_true(reading->alarm))
                return 0;
        name = name_reading(chip, reading);
        if (!name)
                return -ENOMEM;
        if (too_hot || hot_now) {
                finding = add_sensor(facts, chip, reading, PN_CODE_sensor_hot,
                                     too_hot ? "critical" : "warning");
                if (!finding ||
                    pn_format_text(&finding->summary,
                                   "%s (%s) measures %g %s; its %slimit is %g %s.", name,
                                   chip->chip.v, reading->value.v, unit, too_hot ? "critical " : "",
                                   too_hot ? reading->critical.v : reading->max.v, unit) < 0)
                        return -ENOMEM;
                return pn_set_text(&finding->advice, "Check fans, filters and the air around it.");
        }
        finding = add_sensor(facts, chip, reading, PN_CODE_sensor_alarm, "warning");
        if (!finding ||
            pn_format_text(&finding->summary, "%s (%s) raises an alarm; it measures %g %s.", name,
                           chip->chip.v, reading->value.v, unit) < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice,
                           "If the value is good, correct its limits in /etc/sensors.d.");
}

int pn_rules_sensors(PnFacts *facts)
{
        for (unsigned i = 0; i < facts->inventory->sensors.n; i++) {
                const PnChip *chip = &facts->inventory->sensors.v[i];

                for (unsigned k = 0; k < chip->readings.n; k++)
                        if (judge_reading(facts, chip, &chip->readings.v[k]) < 0)
                                return -ENOMEM;
        }
        return 0;
}

/* ---- The worst of all ---- */

static int set_hottest(PnHottest *hottest, const char *name, const char *label, double value,
                       PnReal limit)
{
        hottest->temperature_c = pn_real(value);
        hottest->limit_c = limit;
        if (pn_set_text(&hottest->name, name) < 0)
                return -ENOMEM;
        return pn_set_text(&hottest->label, label);
}

static int find_drives(const PnInventory *inventory, const PnPolicy *policy, PnVitals *vitals)
{
        const PnNvme *hottest = NULL, *worn_most = NULL;
        int64_t least = 0, limit = 0;
        PnHottest *heat;
        PnMostWorn *wear;

        for (unsigned i = 0; i < inventory->nvme.n; i++) {
                const PnNvme *drive = &inventory->nvme.v[i];
                const PnHealth *health = drive->health.v;
                int64_t warning, critical;

                if (!health)
                        continue;
                pn_nvme_limits(health, policy, &warning, &critical);
                if (health->temperature_c.state == PN_KNOWN &&
                    (!hottest || warning - health->temperature_c.v < least)) {
                        hottest = drive;
                        least = warning - health->temperature_c.v;
                        limit = warning;
                }
                if (health->used_percent.state == PN_KNOWN &&
                    (!worn_most || health->used_percent.v > worn_most->health.v->used_percent.v))
                        worn_most = drive;
        }
        if (hottest) {
                heat = PN_NEW(&vitals->hottest_drive);
                if (!heat || set_hottest(heat, hottest->name.v, NULL,
                                         (double)hottest->health.v->temperature_c.v,
                                         pn_real((double)limit)) < 0)
                        return -ENOMEM;
        }
        if (worn_most) {
                wear = PN_NEW(&vitals->most_worn);
                if (!wear || pn_set_text(&wear->name, worn_most->name.v) < 0)
                        return -ENOMEM;
                wear->used_percent = worn_most->health.v->used_percent;
                wear->spare_percent = worn_most->health.v->spare_percent;
        }
        return 0;
}

static int find_sensor(const PnInventory *inventory, PnVitals *vitals)
{
        const PnReading *hottest = NULL;
        const PnChip *of = NULL;
        PnReal limit = {0};
        double least = 0;
        PnHottest *heat;

        for (unsigned i = 0; i < inventory->sensors.n; i++)
                for (unsigned k = 0; k < inventory->sensors.v[i].readings.n; k++) {
                        const PnChip *chip = &inventory->sensors.v[i];
                        const PnReading *reading = &chip->readings.v[k];
                        PnReal own =
                            reading->max.state == PN_KNOWN ? reading->max : reading->critical;
                        /* Without a limit it is as far from one as most things are. */
                        double far;

                        if (!pn_text_is(&reading->kind, "temperature") ||
                            reading->value.state != PN_KNOWN || !pn_is_true(reading->plausible) ||
                            !pn_reading_may_alarm(chip, reading))
                                continue;
                        far = (own.state == PN_KNOWN ? own.v : 100) - reading->value.v;
                        if (hottest && far >= least)
                                continue;
                        hottest = reading;
                        of = chip;
                        limit = own.state == PN_KNOWN ? own : (PnReal){0};
                        least = far;
                }
        if (!hottest)
                return 0;
        heat = PN_NEW(&vitals->hottest_sensor);
        if (!heat || pn_set_text(&heat->part, pn_text(&of->part)) < 0 ||
            pn_set_text(&heat->part_name, pn_text(&of->part_name)) < 0)
                return -ENOMEM;
        return set_hottest(heat, pn_text(&of->device) ? of->device.v : of->chip.v, hottest->label.v,
                           hottest->value.v, limit);
}

int pn_find_vitals(const PnInventory *inventory, const PnPolicy *policy, PnStatus *status)
{
        PnHost *host = status->host.v;
        PnVitals *vitals = PN_NEW(&host->vitals);

        if (!vitals || find_drives(inventory, policy, vitals) < 0 ||
            find_sensor(inventory, vitals) < 0)
                return -ENOMEM;
        if (!vitals->hottest_drive.v && !vitals->hottest_sensor.v && !vitals->most_worn.v) {
                pn_free(pn_type_Vitals(), vitals);
                memset(&host->vitals, 0, sizeof host->vitals);
        }
        return 0;
}
