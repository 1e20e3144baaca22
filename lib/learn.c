/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Learns from each reading what later ones are held against. */

#include "learn.h"

#include <inttypes.h>
#include <stdio.h>

#include "when.h"

/* How long after its last error a counter's growth is told of. */
#define QUIET_ERRORS PN_DAY
#define QUIET_MEDIA  (7 * PN_DAY)

/* A speed that a port had so long ago is no measure any more; nor is a fan that turned. */
#define BEST_PORT_KEPT (90 * PN_DAY)
#define FAN_KEPT       (30 * PN_DAY)

typedef char Key[512];

/* The subject first: devices are looked at in its order, so that most new keys are added at the end
 * of their list, or near it. */
static bool make_key(Key key, const char *what, const PnText *subject)
{
        return subject->v && (size_t)snprintf(key, sizeof(Key), "%s%s%s", subject->v,
                                              *what ? " " : "", what) < sizeof(Key);
}

/* ---- Keys: what a finding about the same thing is about ---- */

static bool key_of_drive(const PnFacts *facts, const char *what, const PnNvme *drive, Key key)
{
        PnText subject = {0};
        bool ok = pn_finding_subject_for_drive(facts, drive, pn_text(&drive->address), NULL,
                                               &subject) == 0 &&
                  (drive->serial.state == PN_KNOWN || drive->address.state == PN_KNOWN) &&
                  make_key(key, what, &subject);

        free(subject.v);
        return ok;
}

static bool key_of_function(const PnFacts *facts, const char *what, const PnPci *pci, Key key)
{
        PnText subject = {0};
        bool ok = pn_finding_subject_for_drive(facts, pn_drive_at(facts->names, pci->address.v),
                                               pci->address.v, NULL, &subject) == 0 &&
                  make_key(key, what, &subject);

        free(subject.v);
        return ok;
}

static bool key_of_port(const PnFacts *facts, const char *what, const PnNic *nic, Key key)
{
        PnText subject = {0};
        bool ok =
            pn_finding_subject_for_nic(facts, nic, &subject) == 0 && make_key(key, what, &subject);

        free(subject.v);
        return ok;
}

/* The device, and where it is: in another slot it may well be slower. */
static bool key_of_link(const PnFacts *facts, const PnRating *rating, Key key)
{
        const PnNvme *drive = pn_drive_named(facts->names, pn_text(&rating->name));
        PnText subject = {0}, place = {0};
        bool ok =
            pn_finding_subject_for_drive(facts, NULL, rating->address.v, NULL, &place) == 0 &&
            pn_finding_subject_for_drive(facts, drive, rating->address.v, NULL, &subject) == 0 &&
            (size_t)snprintf(key, sizeof(Key), "%s at %s", subject.v, place.v) < sizeof(Key);

        free(subject.v);
        free(place.v);
        return ok;
}

static bool key_of_fan(const PnChip *chip, const PnReading *fan, Key key)
{
        const char *feature = pn_text(&fan->feature) ? fan->feature.v : fan->label.v;

        return (size_t)snprintf(key, sizeof(Key), "%s %s of %s", chip->chip.v, feature,
                                pn_text(&chip->device) ? chip->device.v : "host") < sizeof(Key);
}

/* ---- Counters ---- */

static void learn_counter(PnFacts *facts, const char *key, PnInt value, int64_t quiet,
                          bool old_ones_count)
{
        PnCounter *counter;
        int64_t now = facts->when;
        bool is_new;

        if (value.state != PN_KNOWN || value.v < 0)
                return;
        is_new = !pn_memory_counter(facts->memory, key);
        counter = pn_memory_make_counter(facts->memory, key);
        if (!counter)
                return;
        if (is_new) {
                bool found = old_ones_count && value.v > 0;

                counter->baseline = found ? pn_int(0) : value;
                counter->grew = found ? pn_int(now) : (PnInt){0};
                counter->found = pn_bool(found);
                counter->since = pn_int(now);
                facts->learned = true;
        } else if (value.v < counter->value.v) {
                /* It starts again, as most do when a machine or a driver is started. */
                counter->baseline = value;
                counter->grew = (PnInt){0};
                counter->found = pn_bool(false);
                counter->since = pn_int(now);
                facts->learned = true;
        } else if (value.v > counter->value.v) {
                if (counter->grew.state != PN_KNOWN || pn_is_true(counter->found)) {
                        counter->baseline = counter->value;
                        counter->since = counter->seen;
                        counter->found = pn_bool(false);
                        facts->learned = true;
                }
                counter->grew = pn_int(now);
        } else if (counter->grew.state == PN_KNOWN && now - counter->grew.v >= quiet) {
                counter->baseline = value;
                counter->grew = (PnInt){0};
                counter->found = pn_bool(false);
                counter->since = pn_int(now);
                facts->learned = true;
        }
        counter->value = value;
        counter->seen = pn_int(now);
}

static void learn_drive_counters(PnFacts *facts, const PnNvme *drive)
{
        const PnHealth *health = drive->health.v;
        const struct {
                const char *what;
                PnInt value;
                int64_t quiet;
                bool old_ones_count;
        } counters[] = {
            {PN_COUNTS_MEDIA_ERRORS, health->media_errors, QUIET_MEDIA, true},
            {PN_COUNTS_HOT, health->warning_temperature_minutes, QUIET_ERRORS, false},
            {PN_COUNTS_TOO_HOT, health->critical_temperature_minutes, QUIET_ERRORS, false},
        };
        Key key;

        for (size_t i = 0; i < PN_ELEMENTS(counters); i++)
                if (counters[i].value.state == PN_KNOWN &&
                    key_of_drive(facts, counters[i].what, drive, key))
                        learn_counter(facts, key, counters[i].value, counters[i].quiet,
                                      counters[i].old_ones_count);
}

static void learn_function_counters(PnFacts *facts, const PnPci *pci)
{
        const PnAer *aer = pci->aer.v;
        const struct {
                const char *what;
                PnInt value;
        } counters[] = {
            {PN_COUNTS_CORRECTABLE, aer->correctable},
            {PN_COUNTS_NONFATAL, aer->nonfatal},
            {PN_COUNTS_FATAL, aer->fatal},
        };
        Key key;

        for (size_t i = 0; i < PN_ELEMENTS(counters); i++)
                if (counters[i].value.state == PN_KNOWN &&
                    key_of_function(facts, counters[i].what, pci, key))
                        learn_counter(facts, key, counters[i].value, QUIET_ERRORS, false);
}

static void learn_port_counters(PnFacts *facts, const PnNic *nic)
{
        const PnNicErrors *errors = nic->errors.v;
        const struct {
                const char *what;
                PnInt value;
        } counters[] = {
            {PN_COUNTS_RX_CRC, errors->rx_crc},         {PN_COUNTS_FCS, errors->fcs},
            {PN_COUNTS_RX_ERRORS, errors->rx_errors},   {PN_COUNTS_TX_ERRORS, errors->tx_errors},
            {PN_COUNTS_FEC, errors->fec_uncorrectable},
        };
        Key key;

        for (size_t i = 0; i < PN_ELEMENTS(counters); i++)
                if (counters[i].value.state == PN_KNOWN &&
                    key_of_port(facts, counters[i].what, nic, key))
                        learn_counter(facts, key, counters[i].value, QUIET_ERRORS, false);
}

static bool grew(const PnFacts *facts, const char *key, PnGrowth *ret)
{
        const PnCounter *counter = pn_memory_counter(facts->memory, key);

        if (!counter || counter->grew.state != PN_KNOWN || counter->value.v <= counter->baseline.v)
                return false;
        *ret = (PnGrowth){
            .from = counter->baseline.v,
            .to = counter->value.v,
            .since = counter->since.v,
            .found = pn_is_true(counter->found),
        };
        return true;
}

bool pn_grew_of_drive(const PnFacts *facts, const char *what, const PnNvme *drive, PnGrowth *ret)
{
        Key key;

        return facts->memory && key_of_drive(facts, what, drive, key) && grew(facts, key, ret);
}

bool pn_grew_of_function(const PnFacts *facts, const char *what, const PnPci *pci, PnGrowth *ret)
{
        Key key;

        return facts->memory && key_of_function(facts, what, pci, key) && grew(facts, key, ret);
}

bool pn_grew_of_port(const PnFacts *facts, const char *what, const PnNic *nic, PnGrowth *ret)
{
        Key key;

        return facts->memory && key_of_port(facts, what, nic, key) && grew(facts, key, ret);
}

/* ---- Temperatures that do not change ---- */

#define FROZEN "frozen_temperature"

/* So long, and after so many thousands of 512,000 bytes (50 GB), a drive has been warmer once. */
#define FROZEN_TIME  (2 * PN_DAY)
#define FROZEN_UNITS 100000

static PnInt units_moved(const PnHealth *health)
{
        if (health->data_units_read.state != PN_KNOWN ||
            health->data_units_written.state != PN_KNOWN ||
            health->data_units_read.v > INT64_MAX - health->data_units_written.v)
                return (PnInt){0};
        return pn_int(health->data_units_read.v + health->data_units_written.v);
}

/* Kept as a counter: the value is the temperature, the baseline the work that the drive had done
 * when it was another one. */
static void learn_temperature(PnFacts *facts, const PnNvme *drive)
{
        const PnHealth *health = drive->health.v;
        PnInt moved = units_moved(health);
        PnCounter *counter;
        Key key;

        if (health->temperature_c.state != PN_KNOWN || moved.state != PN_KNOWN ||
            !key_of_drive(facts, FROZEN, drive, key))
                return;
        counter = pn_memory_make_counter(facts->memory, key);
        if (!counter)
                return;
        if (counter->seen.state != PN_KNOWN || counter->value.v != health->temperature_c.v ||
            moved.v < counter->baseline.v) {
                counter->value = health->temperature_c;
                counter->baseline = moved;
                counter->since = pn_int(facts->when);
        }
        counter->seen = pn_int(facts->when);
}

bool pn_is_frozen(const PnFacts *facts, const PnNvme *drive, int64_t *ret_since)
{
        const PnHealth *health = drive->health.v;
        const PnCounter *counter;
        PnInt moved;
        Key key;

        if (!facts->memory || !health || !key_of_drive(facts, FROZEN, drive, key))
                return false;
        counter = pn_memory_counter(facts->memory, key);
        moved = units_moved(health);
        if (!counter || moved.state != PN_KNOWN || health->temperature_c.state != PN_KNOWN ||
            counter->value.v != health->temperature_c.v ||
            facts->when - counter->since.v < FROZEN_TIME ||
            moved.v - counter->baseline.v < FROZEN_UNITS)
                return false;
        *ret_since = counter->since.v;
        return true;
}

/* ---- The best that was seen ---- */

static void learn_best(PnFacts *facts, PnBest *best, int64_t value, int64_t kept)
{
        if (!best)
                return;
        if (best->last.state != PN_KNOWN || value > best->value.v ||
            facts->when - best->last.v > kept) {
                facts->learned |= best->value.v != value;
                best->value = pn_int(value);
                best->speed = (PnReal){0};
                best->width = (PnInt){0};
                best->last = pn_int(facts->when);
        } else if (value == best->value.v)
                best->last = pn_int(facts->when);
        best->seen = pn_int(facts->when);
}

/* Of a link that rests, sleeps or is not seen nothing can be learned. */
static bool is_judged(const PnRating *rating)
{
        static const char *const verdicts[] = {"full", "slot_limited", "path_limited", "degraded"};
        const PnLinkRate *now = rating->current.v;

        if (!now || now->speed.state != PN_KNOWN || now->width.state != PN_KNOWN ||
            now->bandwidth.state != PN_KNOWN)
                return false;
        for (size_t i = 0; i < PN_ELEMENTS(verdicts); i++)
                if (pn_text_is(&rating->verdict, verdicts[i]))
                        return true;
        return false;
}

static void learn_link(PnFacts *facts, const PnRating *rating)
{
        PnBest *best;
        Key key;

        if (!is_judged(rating) || !key_of_link(facts, rating, key))
                return;
        best = pn_memory_make_link(facts->memory, key);
        learn_best(facts, best, rating->current.v->bandwidth.v, INT64_MAX);
        if (best && best->value.v == rating->current.v->bandwidth.v) {
                best->speed = rating->current.v->speed;
                best->width = rating->current.v->width;
        }
}

const PnBest *pn_best_of_link(const PnFacts *facts, const PnRating *rating)
{
        const PnBest *best;
        Key key;

        if (!facts->memory || !is_judged(rating) || !key_of_link(facts, rating, key))
                return NULL;
        best = pn_memory_link(facts->memory, key);
        return best && best->speed.state == PN_KNOWN && best->width.state == PN_KNOWN ? best : NULL;
}

static void learn_port(PnFacts *facts, const PnNic *nic)
{
        Key key;

        if (!pn_is_true(nic->carrier) || nic->speed_mbps.state != PN_KNOWN ||
            !key_of_port(facts, "", nic, key))
                return;
        learn_best(facts, pn_memory_make_port(facts->memory, key), nic->speed_mbps.v,
                   BEST_PORT_KEPT);
}

const PnBest *pn_best_of_port(const PnFacts *facts, const PnNic *nic)
{
        const PnBest *best;
        Key key;

        if (!facts->memory || !key_of_port(facts, "", nic, key))
                return NULL;
        best = pn_memory_port(facts->memory, key);
        return best && facts->when - best->last.v <= BEST_PORT_KEPT ? best : NULL;
}

static void learn_fan(PnFacts *facts, const PnChip *chip, const PnReading *fan)
{
        PnBest *best;
        Key key;

        if (!pn_text_is(&fan->kind, "fan") || fan->value.state != PN_KNOWN ||
            !pn_is_true(fan->plausible) || !key_of_fan(chip, fan, key))
                return;
        if (fan->value.v > 0) {
                best = pn_memory_make_fan(facts->memory, key);
                learn_best(facts, best, (int64_t)fan->value.v, INT64_MAX);
                if (best)
                        best->last = pn_int(facts->when);
                return;
        }
        best = pn_memory_fan(facts->memory, key);
        if (best)
                best->seen = pn_int(facts->when);
}

const PnBest *pn_best_of_fan(const PnFacts *facts, const PnChip *chip, const PnReading *fan)
{
        const PnBest *best;
        Key key;

        if (!facts->memory || !key_of_fan(chip, fan, key))
                return NULL;
        best = pn_memory_fan(facts->memory, key);
        return best && facts->when - best->last.v <= FAN_KEPT ? best : NULL;
}

/* ---- What there is ---- */

static int set_seen(PnSeen *seen, const PnText *name, const PnText *address,
                    const PnText *transport, const PnText *model, const PnText *serial)
{
        if (pn_set_text(&seen->name, pn_text(name)) < 0 ||
            pn_set_text(&seen->address, pn_text(address)) < 0 ||
            pn_set_text(&seen->transport, pn_text(transport)) < 0 ||
            pn_set_text(&seen->model, pn_text(model)) < 0)
                return -ENOMEM;
        return pn_set_text(&seen->serial, pn_text(serial));
}

/* Drives of a fabric come and go as they are connected; one without a serial number cannot be told
 * from its replacement. */
static void learn_drive(PnFacts *facts, const PnNvme *drive)
{
        PnSeen *seen;
        Key key;

        if (pn_is_true(drive->lost) || !pn_text(&drive->serial) || !pn_text(&drive->address) ||
            (drive->transport.state == PN_KNOWN && !pn_text_is(&drive->transport, "pcie")) ||
            !key_of_drive(facts, "", drive, key))
                return;
        facts->learned |= !pn_memory_drive(facts->memory, key);
        seen = pn_memory_make_drive(facts->memory, key);
        if (!seen || set_seen(seen, &drive->name, &drive->address, &drive->transport, &drive->model,
                              &drive->serial) < 0)
                return;
        (void)pn_set_text(&seen->subsystem, pn_text(&drive->subsystem));
        seen->last = pn_int(facts->when);
}

/* What is pulled out as a matter of course, or exists in memory alone, is not missed. */
static bool is_fixed_disk(const PnDisk *disk)
{
        return pn_text_is(&disk->transport, "sata") || pn_text_is(&disk->transport, "sas") ||
               pn_text_is(&disk->transport, "ata");
}

static bool key_of_disk(const PnDisk *disk, Key key)
{
        int n;

        if (!is_fixed_disk(disk))
                return false;
        if (pn_text(&disk->wwn))
                n = snprintf(key, sizeof(Key), "disk %s", disk->wwn.v);
        else if (pn_text(&disk->serial))
                n = snprintf(key, sizeof(Key), "disk %s %s",
                             pn_text(&disk->model) ? disk->model.v : "", disk->serial.v);
        else
                return false;
        return (size_t)n < sizeof(Key);
}

static void learn_disk(PnFacts *facts, const PnDisk *disk)
{
        PnSeen *seen;
        Key key;

        if (!key_of_disk(disk, key))
                return;
        facts->learned |= !pn_memory_disk(facts->memory, key);
        seen = pn_memory_make_disk(facts->memory, key);
        if (!seen || set_seen(seen, &disk->name, &disk->address, &disk->transport, &disk->model,
                              &disk->serial) < 0)
                return;
        for (unsigned i = 0; i < seen->uses.n; i++)
                free(seen->uses.v[i]);
        free(seen->uses.v);
        seen->uses = (PnTexts){0};
        for (unsigned i = 0; i < disk->uses.n; i++) {
                const PnUse *use = &disk->uses.v[i];
                const char *name = pn_text(&use->name) ? use->name.v : pn_text(&use->type);

                if (name && pn_texts_append_unique(&seen->uses, name) < 0)
                        return;
        }
        seen->last = pn_int(facts->when);
}

bool pn_is_missing(const PnFacts *facts, const PnSeen *seen)
{
        return seen->last.v < facts->when;
}

static void forget_seen(void *list_of, const PnSeen *seen, unsigned n, PnCode code, const char *id)
{
        for (unsigned i = n; i-- > 0;) {
                char its_id[13];

                pn_finding_id(code, seen[i].key.v, its_id);
                if (strcmp(its_id, id) == 0) {
                        pn_list_remove(pn_type_Seen(), list_of, i);
                        return;
                }
        }
}

void pn_forget_lost(PnMemory *memory, const PnFinding *finding)
{
        forget_seen(&memory->drives, memory->drives.v, memory->drives.n, PN_CODE_nvme_lost,
                    finding->id.v);
        forget_seen(&memory->disks, memory->disks.v, memory->disks.n, PN_CODE_disk_lost,
                    finding->id.v);
}

/* ---- All of it, in the order of keys ---- */

typedef struct Lesson {
        char *key; /* NULL: nothing can be learned */
        unsigned order;
        const PnNvme *drive; /* one of these */
        const PnPci *function;
        const PnRating *link;
        const PnNic *port;
        const PnDisk *disk;
        const PnChip *chip; /* with `fan` */
        const PnReading *fan;
} Lesson;

typedef struct Lessons {
        unsigned n;
        Lesson *v;
} Lessons;

static void lessons_done(Lessons *lessons)
{
        for (unsigned i = 0; i < lessons->n; i++)
                free(lessons->v[i].key);
        free(lessons->v);
}

static int compare_lessons(const void *a, const void *b)
{
        const Lesson *one = a, *other = b;
        int r = strcmp(one->key, other->key);

        return r ? r : (one->order > other->order) - (one->order < other->order);
}

static void add_lesson(Lessons *lessons, bool has_key, const char *key, Lesson lesson)
{
        lesson.key = has_key ? strdup(key) : NULL;
        if (!lesson.key)
                return;
        lesson.order = lessons->n;
        lessons->v[lessons->n++] = lesson;
}

/* Room for all that may be learned of. */
static int make_room(const PnFacts *facts, Lessons *ret)
{
        const PnInventory *inventory = facts->inventory;
        size_t most = (size_t)inventory->nvme.n + inventory->pci.n + facts->ratings->n +
                      inventory->nics.n + inventory->disks.n;

        for (unsigned i = 0; i < inventory->sensors.n; i++)
                most += inventory->sensors.v[i].readings.n;
        *ret = (Lessons){.v = calloc(most + 1, sizeof *ret->v)};
        return ret->v ? 0 : -ENOMEM;
}

static void collect_lessons(const PnFacts *facts, Lessons *lessons)
{
        const PnInventory *inventory = facts->inventory;
        Key key;

        for (unsigned i = 0; i < inventory->nvme.n; i++)
                add_lesson(lessons, key_of_drive(facts, "", &inventory->nvme.v[i], key), key,
                           (Lesson){.drive = &inventory->nvme.v[i]});
        for (unsigned i = 0; i < inventory->pci.n; i++)
                if (inventory->pci.v[i].aer.v)
                        add_lesson(lessons, key_of_function(facts, "", &inventory->pci.v[i], key),
                                   key, (Lesson){.function = &inventory->pci.v[i]});
        for (unsigned i = 0; i < facts->ratings->n; i++)
                add_lesson(lessons, key_of_link(facts, &facts->ratings->v[i], key), key,
                           (Lesson){.link = &facts->ratings->v[i]});
        for (unsigned i = 0; i < inventory->nics.n; i++)
                if (pn_text_is(&inventory->nics.v[i].kind, "physical"))
                        add_lesson(lessons, key_of_port(facts, "", &inventory->nics.v[i], key), key,
                                   (Lesson){.port = &inventory->nics.v[i]});
        for (unsigned i = 0; i < inventory->sensors.n; i++) {
                const PnChip *chip = &inventory->sensors.v[i];

                for (unsigned k = 0; k < chip->readings.n; k++)
                        if (pn_text_is(&chip->readings.v[k].kind, "fan"))
                                add_lesson(lessons, key_of_fan(chip, &chip->readings.v[k], key),
                                           key,
                                           (Lesson){.chip = chip, .fan = &chip->readings.v[k]});
        }
        for (unsigned i = 0; i < inventory->disks.n; i++)
                add_lesson(lessons, key_of_disk(&inventory->disks.v[i], key), key,
                           (Lesson){.disk = &inventory->disks.v[i]});
}

static void learn(PnFacts *facts, const Lesson *lesson)
{
        const PnNvme *drive = lesson->drive;

        if (drive) {
                learn_drive(facts, drive);
                if (drive->health.v && !pn_is_true(drive->lost)) {
                        learn_drive_counters(facts, drive);
                        learn_temperature(facts, drive);
                }
        } else if (lesson->function) {
                learn_function_counters(facts, lesson->function);
        } else if (lesson->link) {
                learn_link(facts, lesson->link);
        } else if (lesson->port) {
                learn_port(facts, lesson->port);
                if (lesson->port->errors.v)
                        learn_port_counters(facts, lesson->port);
        } else if (lesson->fan) {
                learn_fan(facts, lesson->chip, lesson->fan);
        } else if (lesson->disk) {
                learn_disk(facts, lesson->disk);
        }
}

void pn_learn(PnFacts *facts)
{
        _cleanup_(lessons_done) Lessons lessons = {0};

        if (make_room(facts, &lessons) < 0)
                return;
        collect_lessons(facts, &lessons);
        qsort(lessons.v, lessons.n, sizeof *lessons.v, compare_lessons);
        for (unsigned i = 0; i < lessons.n; i++)
                learn(facts, &lessons.v[i]);
}
