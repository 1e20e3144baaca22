/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides when the hardware is read, and makes a snapshot of what came. */

#include "manager.h"

#include <malloc.h>
#include <stdio.h>
#include <systemd/sd-id128.h>
#include <time.h>

#include "assess.h"
#include "handover.h"
#include "join.h"
#include "journal.h"
#include "learn.h"
#include "log.h"
#include "merge.h"
#include "state.h"
#include "when.h"

/* What hardly changes while a machine runs is read once an hour. */
#define HOST_INTERVAL ((uint64_t)3600 * 1000 * 1000)

/* Reading a module is slow and may hold up its port. */
#define MODULE_INTERVAL ((uint64_t)300 * 1000 * 1000)
#define MODULE_MIN      ((uint64_t)60 * 1000 * 1000) /* whoever asks for it */

/* When one source has ended and another takes long, how long the first waits for the other before
 * it is shown. */
#define GRACE ((uint64_t)500 * 1000)

/* What is learned with each reading is saved so often, what alerts depend on at once. What was not
 * seen for so many days is forgotten. */
#define SAVE_INTERVAL ((uint64_t)3600 * 1000 * 1000)
#define KEPT_DAYS     400

/* A source that was touched is read when nothing more has happened for a while, or after so long.
 */
#define TOUCH_QUIET ((uint64_t)500 * 1000)
#define TOUCH_MAX   ((uint64_t)2 * 1000 * 1000)

/* In a storm: so far apart, and of these readings so many at once, then one each so often. */
#define TOUCH_APART  ((uint64_t)1 * 1000 * 1000)
#define TOUCH_BURST  6
#define TOUCH_REFILL ((uint64_t)15 * 1000 * 1000)

/* How long what was read is held back while a device is between two drivers. */
#define HANDOVER_MAX ((uint64_t)3 * 1000 * 1000)

/* What waits for devices to answer: the first snapshot does not wait for it. */
#define SLOW_SOURCES (1u << PN_SOURCE_health | 1u << PN_SOURCE_sensors)

/* What makes this machine's id ours (sd_id128_get_machine_app_specific(3)). */
#define APPLICATION SD_ID128_MAKE(5b, 9e, 9a, 7a, 3c, 4f, 4e, 0b, 9d, 26, 1f, 47, 8c, 5d, 61, e2)

typedef struct Source {
        PnInventory incoming; /* what its run has sent so far; only its own lists are used */
        uint64_t last_start;  /* CLOCK_MONOTONIC, µs; 0 before the first */
        uint64_t due;
        uint64_t touched, touched_last; /* first and last time since its last start, or 0 */
        uint64_t paid;                  /* until when its touches have used up what they may cost */
        bool is_unpublished;            /* it has ended since the last snapshot */
        bool has_objects;               /* something of it ever came */
        bool was_complete;              /* at least one run ended well */
        bool failed;                    /* the last run did not */
        bool logged;                    /* and the journal has it */
        PnSource shown;                 /* as the inventory shows it */
} Source;

struct PnManager {
        sd_event *event;
        PnManagerOptions options;
        PnCollector *collector;
        sd_event_source *timer, *grace, *touch;
        uint64_t held;   /* since when a snapshot is held back; 0 if none is */
        PnInventory raw; /* what is known, before it is joined */
        Source sources[PN_N_SOURCES];
        PnSnapshot *snapshot;
        int64_t generation;
        PnMemory memory;
        PnStateFile *state;
        uint64_t saved; /* CLOCK_MONOTONIC, µs */
        int64_t last;   /* the moment of the snapshot before, s since 1970 */
        bool has_recalled;
        PnSnapshotHandler handler;
        void *userdata;
};

/* Which objects a source may send, and in which list of the inventory they go. */
static const struct {
        PnSourceId source;
        const char *kind;  /* in the probe's lines */
        const char *field; /* of PnInventory */
} kinds[] = {
    {PN_SOURCE_host, "host", "host"},
    {PN_SOURCE_pci, "pci", "pci"},
    {PN_SOURCE_nvme, "nvme", "nvme"},
    {PN_SOURCE_block, "disk", "disks"},
    {PN_SOURCE_block, "namespace_uses", "namespace_uses"},
    {PN_SOURCE_net, "nic", "nics"},
    {PN_SOURCE_module, "port_module", "port_modules"},
    {PN_SOURCE_health, "nvme_health", "nvme_health"},
    {PN_SOURCE_sensors, "sensor", "sensors"},
};

static uint64_t now_usec(const PnManager *manager)
{
        uint64_t now = 0;

        (void)sd_event_now(manager->event, CLOCK_MONOTONIC, &now);
        return now;
}

static int on_object(void *userdata, PnSourceId source, const char *kind, struct json_object *json,
                     char **ret_error)
{
        PnManager *manager = userdata;
        PnInventory *incoming = &manager->sources[source].incoming;

        for (size_t i = 0; i < PN_ELEMENTS(kinds); i++) {
                const PnField *field;
                void *object;
                int r;

                if (kinds[i].source != source || strcmp(kinds[i].kind, kind) != 0)
                        continue;
                field = pn_field(pn_type_Inventory(), kinds[i].field);
                if (field->kind == PN_KIND_OBJ) {
                        if (incoming->host.v) {
                                *ret_error = strdup("a second host");
                                return -EINVAL;
                        }
                        object = PN_NEW(&incoming->host);
                } else
                        object = pn_list_append(pn_field_at(field, incoming), field->type()->size);
                if (!object)
                        return -ENOMEM;
                r = pn_read_json(field->type(), json, PN_JSON_STRICT, object, ret_error, NULL);
                if (r < 0) {
                        /* A failed object must not stay as an empty one. */
                        if (field->kind == PN_KIND_OBJ) {
                                pn_free(field->type(), object);
                                memset(&incoming->host, 0, sizeof incoming->host);
                        } else {
                                PnList list;

                                memcpy(&list, pn_field_at(field, incoming), sizeof list);
                                pn_list_remove(field->type(), pn_field_at(field, incoming),
                                               list.n - 1);
                        }
                        return r;
                }
                manager->sources[source].has_objects = true;
                return 0;
        }
        *ret_error = strdup("an object of a kind that this source does not have");
        return -EINVAL;
}

/* The drives that were there before the daemon was started count as lost until they are seen: asked
 * for once, when all drives were read for the first time. */
static int recall_drives(PnManager *manager)
{
        const PnMemory *memory = &manager->memory;

        if (manager->has_recalled)
                return 0;
        for (unsigned i = 0; i < memory->drives.n; i++) {
                const PnSeen *seen = &memory->drives.v[i];
                PnNvme *drive = PN_APPEND(&manager->raw.nvme);

                if (!drive ||
                    pn_set_text(&drive->name, pn_text(&seen->name) ? seen->name.v : "?") < 0 ||
                    pn_set_text(&drive->address, pn_text(&seen->address)) < 0 ||
                    pn_set_text(&drive->transport, pn_text(&seen->transport)) < 0 ||
                    pn_set_text(&drive->model, pn_text(&seen->model)) < 0 ||
                    pn_set_text(&drive->serial, pn_text(&seen->serial)) < 0 ||
                    pn_set_text(&drive->subsystem, pn_text(&seen->subsystem)) < 0)
                        return -ENOMEM;
                drive->lost = pn_bool(true);
        }
        manager->has_recalled = true;
        return 0;
}

/* Takes over what a run sent. After a bad end what it did not send may still be there. */
static int merge(PnManager *manager, PnSourceId source, bool complete)
{
        PnInventory *raw = &manager->raw, *incoming = &manager->sources[source].incoming;
        int r;

        switch (source) {
        case PN_SOURCE_host:
                if (incoming->host.v) {
                        pn_free(pn_type_Host(), raw->host.v);
                        raw->host.v = PN_STEAL(incoming->host.v);
                        raw->host.state = PN_KNOWN;
                        incoming->host.state = PN_ABSENT;
                }
                return 0;
        case PN_SOURCE_pci:
                return pn_merge_list(pn_type_Pci(), &raw->pci, &incoming->pci, complete);
        case PN_SOURCE_nvme:
                r = complete ? recall_drives(manager) : 0;
                return r < 0 ? r : pn_merge_nvme(raw, incoming, complete);
        case PN_SOURCE_block:
                r = pn_merge_list(pn_type_Disk(), &raw->disks, &incoming->disks, complete);
                if (r < 0)
                        return r;
                return pn_merge_list(pn_type_BlockUses(), &raw->namespace_uses,
                                     &incoming->namespace_uses, complete);
        case PN_SOURCE_net:
                return pn_merge_list(pn_type_Nic(), &raw->nics, &incoming->nics, complete);
        case PN_SOURCE_module:
                return pn_merge_list(pn_type_PortModule(), &raw->port_modules,
                                     &incoming->port_modules, complete);
        case PN_SOURCE_health:
                return pn_merge_list(pn_type_NvmeHealth(), &raw->nvme_health,
                                     &incoming->nvme_health, complete);
        case PN_SOURCE_sensors:
                return pn_merge_list(pn_type_Chip(), &raw->sensors, &incoming->sensors, complete);
        case PN_N_SOURCES:
                break;
        }
        return -EINVAL;
}

/* How the inventory shows a source; what the clock says goes in on success only. */
static int describe(Source *source, const char *reason, int64_t took_ms)
{
        PnWhen now;
        int r;

        r = pn_set_text(&source->shown.reason, reason);
        if (reason) {
                bool stale = source->has_objects || source->was_complete;

                if (r == 0)
                        r = pn_set_text(&source->shown.state, stale ? "stale" : "failed");
        } else {
                if (r == 0)
                        r = pn_set_text(&source->shown.state, "fresh");
                if (r == 0)
                        r = pn_set_text(&source->shown.updated,
                                        pn_when_format(now, (int64_t)time(NULL)));
        }
        if (took_ms >= 0)
                source->shown.took_ms = pn_int(took_ms);
        return r;
}

/* On change only: the same line each minute for years helps nobody. */
static void log_change(Source *source, const char *name, const char *reason)
{
        if (reason && !source->logged)
                pn_log(PN_LOG_WARNING, "source %s cannot be read: %s", name, reason);
        else if (!reason && source->logged)
                pn_log(PN_LOG_NOTICE, "source %s can be read again", name);
        source->logged = reason;
}

/* Tells the journal what is new to it, and then saves that it was told: after a crash between the
 * two it is told again, and never not at all. */
static void remember(PnManager *manager, PnOverTime *over_time)
{
        uint64_t now = now_usec(manager);

        for (unsigned i = 0; i < over_time->events.n; i++)
                pn_journal_tell(&over_time->events.v[i]);
        pn_events_done(&over_time->events);
        if (!over_time->learned && now - manager->saved < SAVE_INTERVAL)
                return;
        pn_memory_forget(&manager->memory, over_time->now, KEPT_DAYS);
        pn_state_save(manager->state, &manager->memory);
        manager->saved = now;
}

/* Puts together what is known and shows it. With memory short the snapshot before stands. */
static int make_snapshot(PnManager *manager, PnSnapshot **ret)
{
        PnInventory inventory = {0};
        PnStatus status = {0};
        PnOverTime over_time = {.memory = &manager->memory, .now = (int64_t)time(NULL)};
        PnBefore before = {0};
        PnEvents alerts = {0};
        PnWhen now;
        int r;

        if (manager->snapshot)
                before = (PnBefore){&manager->snapshot->inventory, &manager->snapshot->status};
        (void)pn_when_format(now, over_time.now);
        /* The clock was set back. */
        if (over_time.now < manager->last)
                pn_memory_limit(&manager->memory, over_time.now);
        manager->last = over_time.now;
        r = pn_copy(pn_type_Inventory(), &inventory, &manager->raw);
        for (size_t i = 0; r >= 0 && i < PN_N_SOURCES; i++) {
                PnSource *source = PN_APPEND(&inventory.sources);

                r = source ? pn_copy(pn_type_Source(), source, &manager->sources[i].shown)
                           : -ENOMEM;
        }
        if (r >= 0)
                r = pn_join(&inventory);
        if (r >= 0)
                r = pn_assess_over_time(&inventory, before, manager->options.policy, now,
                                        &over_time, &status);
        remember(manager, &over_time);
        if (r >= 0)
                r = pn_alerts_standing(&manager->memory, &alerts);
        if (r >= 0) {
                r = pn_snapshot_new(&inventory, &status, manager->generation + 1, ret);
                if (r >= 0) {
                        (*ret)->alerts = alerts;
                        return r;
                }
        }
        pn_events_done(&alerts);
        pn_done(pn_type_Inventory(), &inventory);
        pn_done(pn_type_Status(), &status);
        return r;
}

static void publish(PnManager *manager)
{
        _cleanup_(pn_snapshot_unrefp) PnSnapshot *before = NULL;
        PnSnapshot *now;
        int r;

        (void)sd_event_source_set_enabled(manager->grace, SD_EVENT_OFF);
        r = make_snapshot(manager, &now);
        if (r < 0) {
                pn_log(PN_LOG_ERROR, "cannot make a snapshot: %s", strerror(-r));
                return;
        }
        for (size_t i = 0; i < PN_N_SOURCES; i++)
                manager->sources[i].is_unpublished = false;
        before = manager->snapshot;
        manager->snapshot = now;
        manager->generation++;
        if (before)
                pn_handover_log(&before->inventory, &now->inventory);
        manager->handler(manager->userdata, before, now);
        pn_snapshot_unref(PN_STEAL(before));
        /* What a reading needed for a moment goes back to the system. */
        (void)malloc_trim(0);
}

/* Shows what has ended: next if nothing else is on its way, else a little later. The first snapshot
 * waits for every source that lists devices, each of which ends at its deadline at the latest.
 * Always by way of the loop, so that a caller never finds the snapshot changed under its hands. */
static void publish_soon(PnManager *manager)
{
        PnSourceSet running = pn_collector_running(manager->collector);
        int enabled = SD_EVENT_OFF;

        if ((running & ~SLOW_SOURCES) && !manager->snapshot)
                return;
        (void)sd_event_source_get_enabled(manager->grace, &enabled);
        if (running && enabled != SD_EVENT_OFF)
                return;
        (void)sd_event_source_set_time_relative(manager->grace, running ? GRACE : 0);
        (void)sd_event_source_set_enabled(manager->grace, SD_EVENT_ONESHOT);
}

static void source_ended(PnManager *manager, PnSourceId id, const char *reason, int64_t took_ms)
{
        Source *source = &manager->sources[id];

        if (merge(manager, id, !reason) < 0)
                reason = "memory is short";
        pn_done(pn_type_Inventory(), &source->incoming);
        if (!reason)
                source->was_complete = true;
        if (describe(source, reason, took_ms) < 0)
                pn_log(PN_LOG_ERROR, "memory is short");
        log_change(source, pn_source_name(id), reason);
        source->failed = reason;
        source->is_unpublished = true;
}

static void set_touch_timer(PnManager *manager);

static void on_ended(void *userdata, PnSourceId id, const char *reason, uint64_t took_ms)
{
        source_ended(userdata, id, reason, (int64_t)took_ms);
        publish_soon(userdata);
        set_touch_timer(userdata);
}

static uint64_t interval_of(const PnManager *manager, PnSourceId source)
{
        uint64_t interval = manager->options.interval;
        uint64_t least = source == PN_SOURCE_host     ? HOST_INTERVAL
                         : source == PN_SOURCE_module ? MODULE_INTERVAL
                                                      : 0;

        return interval < least ? least : interval;
}

static void start_source(PnManager *manager, PnSourceId id)
{
        Source *source = &manager->sources[id];
        _cleanup_free_ char *error = NULL;

        source->last_start = now_usec(manager);
        source->touched = 0;
        source->due = source->last_start + interval_of(manager, id);
        if (pn_collector_start(manager->collector, id, &error) < 0)
                source_ended(manager, id, error ? error : "memory is short", -1);
}

/* Sets the one timer to the source that is due first. */
static void set_timer(PnManager *manager)
{
        uint64_t due = UINT64_MAX;

        for (size_t i = 0; i < PN_N_SOURCES; i++)
                if (manager->sources[i].due < due)
                        due = manager->sources[i].due;
        (void)sd_event_source_set_time(manager->timer, due);
        (void)sd_event_source_set_enabled(manager->timer, SD_EVENT_ONESHOT);
}

/* Those that are not running yet. */
static void start_sources(PnManager *manager, PnSourceSet sources)
{
        sources &= ~pn_collector_running(manager->collector);
        for (PnSourceId id = 0; id < PN_N_SOURCES; id++)
                if (sources & 1u << id)
                        start_source(manager, id);
        set_timer(manager);
}

static bool has_unpublished(const PnManager *manager)
{
        for (size_t i = 0; i < PN_N_SOURCES; i++)
                if (manager->sources[i].is_unpublished)
                        return true;
        return false;
}

static int on_timer(sd_event_source *timer _unused_, uint64_t usec _unused_, void *userdata)
{
        PnManager *manager = userdata;
        uint64_t now = now_usec(manager), slack = manager->options.interval / 2;
        PnSourceSet sources = 0;

        /* What is due soon is read now, so that one wake-up serves for all. */
        for (PnSourceId id = 0; id < PN_N_SOURCES; id++)
                if (manager->sources[id].due <= now + slack) {
                        sources |= 1u << id;
                        manager->sources[id].due = now + interval_of(manager, id);
                }
        start_sources(manager, sources);
        if (has_unpublished(manager))
                publish_soon(manager);
        return 0;
}

/* ---- What happens between two readings ---- */

/* When a source that was touched is to be read; UINT64_MAX while it is being read, or if it was
 * not. */
static uint64_t touch_due(const PnManager *manager, PnSourceId id)
{
        const Source *source = &manager->sources[id];
        uint64_t due, apart = id == PN_SOURCE_module ? MODULE_MIN : TOUCH_APART;

        if (!source->touched || pn_collector_running(manager->collector) & 1u << id)
                return UINT64_MAX;
        due = source->touched_last + TOUCH_QUIET;
        if (due > source->touched + TOUCH_MAX)
                due = source->touched + TOUCH_MAX;
        if (due < source->last_start + apart)
                due = source->last_start + apart;
        if (source->paid > due + (TOUCH_BURST - 1) * TOUCH_REFILL)
                due = source->paid - (TOUCH_BURST - 1) * TOUCH_REFILL;
        return due;
}

static void set_touch_timer(PnManager *manager)
{
        uint64_t next = UINT64_MAX;

        for (PnSourceId id = 0; id < PN_N_SOURCES; id++) {
                uint64_t due = touch_due(manager, id);

                next = due < next ? due : next;
        }
        (void)sd_event_source_set_time(manager->touch, next);
        (void)sd_event_source_set_enabled(manager->touch,
                                          next == UINT64_MAX ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

static int on_touch(sd_event_source *touch _unused_, uint64_t usec _unused_, void *userdata)
{
        PnManager *manager = userdata;
        uint64_t now = now_usec(manager);
        PnSourceSet sources = 0;

        for (PnSourceId id = 0; id < PN_N_SOURCES; id++) {
                Source *source = &manager->sources[id];
                uint64_t due = touch_due(manager, id);

                /* One event is told of in several messages: what was touched together is read
                 * together. */
                if (due == UINT64_MAX || due > now + TOUCH_QUIET / 2)
                        continue;
                source->paid = (source->paid > now ? source->paid : now) + TOUCH_REFILL;
                sources |= 1u << id;
        }
        start_sources(manager, sources);
        set_touch_timer(manager);
        if (has_unpublished(manager))
                publish_soon(manager);
        return 0;
}

void pn_manager_touch(PnManager *manager, PnSourceSet sources)
{
        uint64_t now = now_usec(manager);

        if (!sources)
                return;
        for (PnSourceId id = 0; id < PN_N_SOURCES; id++) {
                Source *source = &manager->sources[id];

                if (!(sources & 1u << id))
                        continue;
                source->touched_last = now;
                if (!source->touched)
                        source->touched = now;
        }
        set_touch_timer(manager);
}

/* A drive that goes, or a function that loses its driver, may be on its way to a guest or back:
 * then what was read is not shown yet, but read again. */
static bool must_wait(PnManager *manager)
{
        const PnSourceSet both = 1u << PN_SOURCE_pci | 1u << PN_SOURCE_nvme;
        const Source *pci = &manager->sources[PN_SOURCE_pci];
        const Source *nvme = &manager->sources[PN_SOURCE_nvme];
        uint64_t now = now_usec(manager);
        PnHandover handover;

        if (!manager->snapshot)
                return false;
        handover = pn_handover(&manager->raw, &manager->snapshot->inventory);
        if (!manager->held)
                manager->held = now;
        if (handover == PN_HANDOVER_NONE || now - manager->held >= HANDOVER_MAX)
                return false;
        if (!(pn_collector_running(manager->collector) & both)) {
                bool again = pci->last_start >= manager->held && nvme->last_start >= manager->held;

                if (handover == PN_HANDOVER_LOST && again)
                        return false;
                if (!again || now - pci->last_start >= TOUCH_APART)
                        start_sources(manager, both | 1u << PN_SOURCE_net);
        }
        (void)sd_event_source_set_time_relative(manager->grace, TOUCH_APART);
        (void)sd_event_source_set_enabled(manager->grace, SD_EVENT_ONESHOT);
        return true;
}

static int on_grace(sd_event_source *grace _unused_, uint64_t usec _unused_, void *userdata)
{
        PnManager *manager = userdata;

        if (!manager->snapshot && pn_collector_running(manager->collector) & ~SLOW_SOURCES)
                return 0;
        if (must_wait(manager))
                return 0;
        manager->held = 0;
        publish(manager);
        return 0;
}

int pn_manager_new(sd_event *event, const PnManagerOptions *options, PnManager **ret)
{
        static const PnCollectorHandlers handlers = {on_object, on_ended};
        _cleanup_(pn_manager_freep) PnManager *manager = calloc(1, sizeof *manager);
        uint64_t accuracy = options->interval / 8;
        char machine[SD_ID128_STRING_MAX];
        sd_id128_t machine_id;
        int r;

        if (!manager)
                return -ENOMEM;
        manager->event = sd_event_ref(event);
        manager->options = *options;
        r = sd_id128_get_machine_app_specific(APPLICATION, &machine_id);
        r = pn_state_open(event, options->state,
                          r < 0 ? NULL : sd_id128_to_string(machine_id, machine), &manager->memory,
                          &manager->state);
        if (r < 0)
                return r;
        manager->saved = now_usec(manager);
        for (PnSourceId id = 0; id < PN_N_SOURCES; id++) {
                PnSource *shown = &manager->sources[id].shown;

                if (pn_set_text(&shown->name, pn_source_name(id)) < 0 ||
                    pn_set_text(&shown->state, "never") < 0)
                        return -ENOMEM;
        }
        r = pn_collector_new(event, options->probe, options->sockets, options->deadline, &handlers,
                             manager, &manager->collector);
        if (r < 0)
                return r;
        r = sd_event_add_time(event, &manager->timer, CLOCK_MONOTONIC, UINT64_MAX, accuracy,
                              on_timer, manager);
        if (r < 0)
                return r;
        r = sd_event_add_time(event, &manager->grace, CLOCK_MONOTONIC, UINT64_MAX, GRACE / 4,
                              on_grace, manager);
        if (r < 0)
                return r;
        (void)sd_event_source_set_enabled(manager->grace, SD_EVENT_OFF);
        /* Before the next question: whoever changed something finds it changed. */
        (void)sd_event_source_set_priority(manager->grace, SD_EVENT_PRIORITY_IMPORTANT);
        r = sd_event_add_time(event, &manager->touch, CLOCK_MONOTONIC, UINT64_MAX, TOUCH_QUIET / 4,
                              on_touch, manager);
        if (r < 0)
                return r;
        (void)sd_event_source_set_enabled(manager->touch, SD_EVENT_OFF);
        *ret = PN_STEAL(manager);
        return 0;
}

void pn_manager_free(PnManager *manager)
{
        if (!manager)
                return;
        pn_collector_free(manager->collector);
        sd_event_source_disable_unref(manager->timer);
        sd_event_source_disable_unref(manager->grace);
        sd_event_source_disable_unref(manager->touch);
        pn_done(pn_type_Inventory(), &manager->raw);
        for (size_t i = 0; i < PN_N_SOURCES; i++) {
                pn_done(pn_type_Inventory(), &manager->sources[i].incoming);
                pn_done(pn_type_Source(), &manager->sources[i].shown);
        }
        pn_snapshot_unref(manager->snapshot);
        pn_state_close(manager->state, &manager->memory);
        pn_done(pn_type_Memory(), &manager->memory);
        sd_event_unref(manager->event);
        free(manager);
}

int pn_manager_start(PnManager *manager, PnSnapshotHandler handler, void *userdata)
{
        manager->handler = handler;
        manager->userdata = userdata;
        start_sources(manager, PN_ALL_SOURCES);
        if (has_unpublished(manager))
                publish_soon(manager);
        return 0;
}

PnSnapshot *pn_manager_snapshot(const PnManager *manager)
{
        return manager->snapshot;
}

PnSourceSet pn_manager_busy(const PnManager *manager)
{
        PnSourceSet busy = pn_collector_running(manager->collector);

        for (PnSourceId id = 0; id < PN_N_SOURCES; id++)
                if (manager->sources[id].is_unpublished)
                        busy |= 1u << id;
        return busy;
}

PnSourceSet pn_manager_refresh(PnManager *manager, PnSourceSet sources)
{
        uint64_t now = now_usec(manager);
        PnSourceSet start = 0;

        for (PnSourceId id = 0; id < PN_N_SOURCES; id++)
                if (sources & 1u << id &&
                    now - manager->sources[id].last_start >=
                        (id == PN_SOURCE_module ? MODULE_MIN : PN_REFRESH_MIN))
                        start |= 1u << id;
        start_sources(manager, start);
        if (has_unpublished(manager))
                publish_soon(manager);
        return sources & pn_manager_busy(manager);
}

static const PnFinding *finding_with(const PnManager *manager, const char *id)
{
        const PnSnapshot *snapshot = manager->snapshot;

        for (unsigned i = 0; snapshot && i < snapshot->status.findings.n; i++)
                if (pn_text_is(&snapshot->status.findings.v[i].id, id))
                        return &snapshot->status.findings.v[i];
        return NULL;
}

/* What an administrator just decided is in the next snapshot, and that is the next event. */
static void publish_now(PnManager *manager)
{
        pn_state_save(manager->state, &manager->memory);
        (void)sd_event_source_set_time_relative(manager->grace, 0);
        (void)sd_event_source_set_enabled(manager->grace, SD_EVENT_ONESHOT);
}

static bool is_lost_for(const PnNvme *drive, const PnFinding *finding)
{
        const char *serial = pn_text(&drive->serial), *subject = finding->subject.v;
        size_t n = serial ? strlen(serial) : 0;

        if (!pn_is_true(drive->lost) || !pn_text_is(&finding->device, drive->name.v))
                return false;
        return !serial || !pn_startswith(subject, "drive ") ||
               (strncmp(subject + strlen("drive "), serial, n) == 0 &&
                (subject[strlen("drive ") + n] == '\0' || subject[strlen("drive ") + n] == ' '));
}

int pn_manager_accept(PnManager *manager, const char *id, const char *reason, PnInt until)
{
        const PnFinding *finding = finding_with(manager, id);
        int r = 0;

        if (!finding)
                return -ENOENT;
        if (pn_text_is(&finding->code, "nvme.lost") || pn_text_is(&finding->code, "disk.lost")) {
                pn_forget_lost(&manager->memory, finding);
                for (unsigned i = manager->raw.nvme.n; i-- > 0;)
                        if (pn_text_is(&finding->code, "nvme.lost") &&
                            is_lost_for(&manager->raw.nvme.v[i], finding))
                                pn_list_remove(pn_type_Nvme(), &manager->raw.nvme, i);
        } else
                r = pn_alerts_accept(&manager->memory, finding, reason, until, (int64_t)time(NULL));
        if (r == 0)
                publish_now(manager);
        return r;
}

int pn_manager_unaccept(PnManager *manager, const char *id)
{
        int r = pn_alerts_unaccept(&manager->memory, id);

        if (r == 0)
                publish_now(manager);
        return r;
}
