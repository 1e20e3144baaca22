/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What NVMe drives say of themselves: the one file that sends commands to drives, and the one that
 * includes libnvme. Knows nothing of what a reading means.
 *
 * Commands disturb. A timed-out one makes the kernel reset the controller, one a second keeps the
 * drive from sleeping, and one to a sick drive can be its last. So:
 *  - Only Identify (Controller once an appearance; Namespace when something was written, and at
 *    most once an hour) and Get Log Page (SMART once an interval; errors when their counter grew)
 *    are sent, to PCIe controllers in state live, never with a shorter timeout than the kernel's.
 *  - Each drive has a record (record.h). Its lock keeps a second process from the drive as long as
 *    a command is out; its memory keeps the interval, whoever asks, and answers in between.
 *  - A drive whose command did not come back is left alone for ten minutes after it began, then
 *    twice as long, up to the longest interval; one that answers slowly is asked half as often
 *    each time, up to the same.
 *
 * Controllers of one subsystem are one drive: only the first of them that can be asked is. */
#include <fcntl.h>
#include <libnvme.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "config.h"
#include "record.h"
#include "smart.h"
#include "source.h"
#include "sysfs.h"
#include "walk.h"

#define CONTROLLERS   "/sys/class/nvme"
#define SUBSYSTEMS    "/sys/class/nvme-subsystem"
#define ADMIN_TIMEOUT "/sys/module/nvme_core/parameters/admin_timeout"

/* A slow drive is waited for a little longer than an attribute; then the others are not. */
#define PATIENCE_MS 4000
#define WORKERS     6

#define SLOW_MS               1000
#define AFTER_TIMEOUT_MS      (10 * 60 * 1000)
#define NAMESPACE_INTERVAL_MS (60 * 60 * 1000)

/* A timer that fires a moment early must not cost a whole turn. */
#define TOLERANCE_MS 1000

/* Above freezing by so much it is close (case 044): then the drive is asked more often. */
#define NEAR_C 5

#define NAMESPACES_MAX 16
#define ERRORS_MAX     64

typedef struct Health {
        int dir;
        PnNames names;
        size_t *before; /* of each controller, the one before it in its subsystem; SIZE_MAX: none */
        PnPolicy policy;
        unsigned timeout_ms;
} Health;

/* The memory between two runs. Times are of CLOCK_BOOTTIME in ms, but for `updated`. */
typedef struct Record {
        char identity[256]; /* of the controller, and of its appearance */

        int64_t begun;         /* when the last reading did; 0: never */
        int64_t in_flight;     /* since when a command is out; 0: none is */
        int64_t namespaces_at; /* when they were asked; 0: never */
        uint32_t n_timeouts;   /* in a row */
        uint32_t slowness;     /* how often the interval is doubled */
        bool is_hot, is_idle;

        PnState health;  /* of the last reading: known, or why not */
        int64_t updated; /* s since 1970 */
        uint8_t log[PN_SMART_LOG_SIZE];

        PnState identified; /* absent: was not asked yet */
        PnSmartIdentify identify;

        bool has_errors; /* the next two mean something */
        bool has_count;
        uint64_t refused, failed;
        int64_t error_count; /* up to which errors were looked at */

        int64_t namespaces_writes; /* the drive's write commands when they were asked */
        uint32_t n_namespaces;
        struct {
                uint32_t nsid;
                PnInt used;
        } namespaces[NAMESPACES_MAX];
} Record;

#define RECORD_KIND UINT32_C(0x68310001)

/* A controller, as sysfs shows it. */
typedef struct Drive {
        const Health *health;
        const char *name;
        int dir;
        PnText transport, state, model, serial, firmware, address;
        char identity[256];
        Record record;
        PnRecord file;
        int fd;
        void *buffer; /* of PN_IDENTIFY_SIZE, aligned to a page */
} Drive;

static void drive_done(Drive *drive)
{
        free(drive->transport.v);
        free(drive->state.v);
        free(drive->model.v);
        free(drive->serial.v);
        free(drive->firmware.v);
        free(drive->address.v);
        pn_close(drive->dir);
        pn_close(drive->fd);
        pn_record_close(&drive->file);
        free(drive->buffer);
}

static int64_t now_ms(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_BOOTTIME, &t);
        return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- Commands ---- */

/* libnvme answers 0, -1 and errno, or the status that the drive gave. */
static int answer_of(int r)
{
        unsigned type = (unsigned)r >> 8 & 7, code = (unsigned)r & 0xff;

        if (r == 0)
                return 0;
        if (r < 0)
                return errno ? -errno : -EIO;
        /* Invalid opcode, field, namespace; log page that there is not. */
        if ((type == 0 && (code == 0x01 || code == 0x02 || code == 0x0b)) ||
            (type == 1 && code == 0x09))
                return -EOPNOTSUPP;
        /* Aborted on request, or by the host: what a reset after a timeout leaves behind. */
        if ((type == 0 && code == 0x07) || (type == 3 && code == 0x71))
                return -ETIMEDOUT;
        return -EIO;
}

/* Says in the record that a command is on its way, until the next such call or finish(). */
static int announce(Drive *drive)
{
        drive->record.in_flight = now_ms();
        memset(drive->buffer, 0, PN_IDENTIFY_SIZE);
        return pn_record_write(&drive->file, RECORD_KIND, &drive->record, sizeof drive->record);
}

static int get_log(Drive *drive, enum nvme_cmd_get_log_lid page, uint32_t size)
{
        struct nvme_get_log_args args = {
            .log = drive->buffer,
            .args_size = sizeof args,
            .fd = drive->fd,
            .timeout = drive->health->timeout_ms,
            .lid = page,
            .len = size,
            .nsid = NVME_NSID_ALL,
            .csi = NVME_CSI_NVM,
            .lsi = NVME_LOG_LSI_NONE,
            .lsp = NVME_LOG_LSP_NONE,
            .uuidx = NVME_UUID_NONE,
        };
        int r = announce(drive);

        return r < 0 ? r : answer_of(nvme_get_log(&args));
}

static int identify(Drive *drive, enum nvme_identify_cns what, uint32_t nsid)
{
        struct nvme_identify_args args = {
            .data = drive->buffer,
            .args_size = sizeof args,
            .fd = drive->fd,
            .timeout = drive->health->timeout_ms,
            .cns = what,
            .csi = NVME_CSI_NVM,
            .nsid = nsid,
            .cntid = NVME_CNTLID_NONE,
            .cns_specific_id = NVME_CNSSPECID_NONE,
            .uuidx = NVME_UUID_NONE,
        };
        int r = announce(drive);

        return r < 0 ? r : answer_of(nvme_identify(&args));
}

/* ---- A reading ---- */

static PnState reason_of(int r)
{
        return r == -EBADMSG ? PN_UNREAD_MALFORMED : pn_reason_from_errno(r);
}

/* Whether an answer is about the one command and not about the drive: then others may follow. */
static bool may_go_on(int r)
{
        return r == 0 || r == -EOPNOTSUPP || r == -EBADMSG || r == -EINVAL;
}

static int read_identity(Drive *drive)
{
        Record *record = &drive->record;
        int r;

        if (record->identified != PN_ABSENT)
                return 0;
        r = identify(drive, NVME_IDENTIFY_CNS_CTRL, NVME_NSID_NONE);
        if (!may_go_on(r))
                return r;
        if (r == 0)
                r = pn_smart_identify_controller(drive->buffer, PN_IDENTIFY_SIZE,
                                                 &record->identify);
        record->identified = r == 0 ? PN_KNOWN : reason_of(r);
        return 0;
}

/* What changed between two logs tells whether the drive had anything to do but answer us. */
static bool is_idle(const PnHealth *before, const PnHealth *now)
{
        return before->host_reads.state == PN_KNOWN && before->host_writes.state == PN_KNOWN &&
               before->host_reads.v == now->host_reads.v &&
               before->host_writes.v == now->host_writes.v;
}

static bool is_hot(const Drive *drive, PnHealth *health)
{
        int64_t warning, critical;

        if (drive->record.identified == PN_KNOWN) {
                health->warning_temperature_c = drive->record.identify.warning_c;
                health->critical_temperature_c = drive->record.identify.critical_c;
        }
        pn_nvme_limits(health, &drive->health->policy, &warning, &critical);
        return health->temperature_c.state == PN_KNOWN &&
               health->temperature_c.v >= warning - NEAR_C;
}

static int read_smart(Drive *drive, PnHealth *ret)
{
        Record *record = &drive->record;
        PnHealth before = {0};
        int r = get_log(drive, NVME_LOG_LID_SMART, PN_SMART_LOG_SIZE);

        if (r == 0)
                r = pn_smart_decode(drive->buffer, PN_SMART_LOG_SIZE, ret);
        if (r < 0) {
                record->health = r == -ENOMEM ? record->health : reason_of(r);
                return r;
        }
        record->is_idle = record->health == PN_KNOWN &&
                          pn_smart_decode(record->log, sizeof record->log, &before) == 0 &&
                          is_idle(&before, ret);
        pn_done(pn_type_Health(), &before);
        record->is_hot = is_hot(drive, ret);
        memcpy(record->log, drive->buffer, sizeof record->log);
        record->health = PN_KNOWN;
        record->updated = time(NULL);
        return 0;
}

/* Looks at the new entries alone, and at none at first: those are of a time before us. */
static int read_errors(Drive *drive, const PnHealth *health)
{
        Record *record = &drive->record;
        int64_t count = health->error_log_entries.v, grown;
        unsigned refused, failed, n = record->identify.error_entries;
        int r;

        if (health->error_log_entries.state != PN_KNOWN)
                return 0;
        grown = record->has_count ? count - record->error_count : 0;
        record->has_count = true;
        record->error_count = count;
        if (grown <= 0 || record->identified != PN_KNOWN)
                return 0;
        if (n > ERRORS_MAX)
                n = ERRORS_MAX;
        if ((int64_t)n > grown)
                n = (unsigned)grown;
        r = get_log(drive, NVME_LOG_LID_ERROR, n * PN_ERROR_ENTRY_SIZE);
        if (r < 0)
                return may_go_on(r) ? 0 : r;
        pn_smart_count_errors(drive->buffer, (size_t)n * PN_ERROR_ENTRY_SIZE, n, &refused, &failed);
        record->has_errors = true;
        record->refused += refused;
        record->failed += failed;
        return 0;
}

/* The namespaces that the controller reaches: its own, or with native multipath its path nodes. */
static int list_namespaces(const Drive *drive, uint32_t nsids[static NAMESPACES_MAX],
                           unsigned *ret_n)
{
        _cleanup_names_ PnNames names = {0};
        unsigned n = 0;
        int r = pn_sysfs_names(drive->dir, ".", &names);

        for (size_t i = 0; i < names.n && n < NAMESPACES_MAX; i++) {
                const char *s = names.v[i];
                char path[PATH_MAX];
                bool known = false;
                PnInt nsid;

                if (!pn_startswith(s, "nvme") || !strchr(s + 4, 'n') ||
                    (size_t)snprintf(path, sizeof path, "%s/nsid", s) >= sizeof path)
                        continue;
                pn_sysfs_int(drive->dir, path, &nsid);
                if (nsid.state != PN_KNOWN || nsid.v < 1 || nsid.v >= UINT32_MAX)
                        continue;
                for (unsigned k = 0; k < n; k++)
                        known |= nsids[k] == nsid.v;
                if (!known)
                        nsids[n++] = (uint32_t)nsid.v;
        }
        *ret_n = n;
        return r == -ENOMEM ? r : 0;
}

static const PnInt *find_used(const Record *record, uint32_t nsid)
{
        for (unsigned i = 0; i < record->n_namespaces && i < NAMESPACES_MAX; i++)
                if (record->namespaces[i].nsid == nsid)
                        return &record->namespaces[i].used;
        return NULL;
}

static int read_namespaces(Drive *drive, const PnHealth *health)
{
        Record *record = &drive->record;
        int64_t writes = pn_int_or(health->host_writes, -1), now = now_ms();
        bool changed = record->namespaces_writes != writes || writes < 0;
        uint32_t nsids[NAMESPACES_MAX];
        unsigned n;
        int r = list_namespaces(drive, nsids, &n);

        if (r < 0)
                return r;
        for (unsigned i = 0; i < n; i++)
                changed |= !find_used(record, nsids[i]);
        changed |= n != record->n_namespaces;
        if (record->namespaces_at &&
            (!changed || now - record->namespaces_at < NAMESPACE_INTERVAL_MS - TOLERANCE_MS))
                return 0;
        record->namespaces_at = now;
        record->namespaces_writes = writes;
        record->n_namespaces = 0;
        for (unsigned i = 0; i < n; i++) {
                PnInt used;

                r = identify(drive, NVME_IDENTIFY_CNS_NS, nsids[i]);
                if (!may_go_on(r))
                        return r;
                used = r < 0 ? (PnInt){.state = reason_of(r)}
                             : pn_smart_namespace_used(drive->buffer, PN_IDENTIFY_SIZE);
                record->namespaces[record->n_namespaces].nsid = nsids[i];
                record->namespaces[record->n_namespaces++].used = used;
        }
        return 0;
}

/* Sends what is due. What fails says so in the record. -ENODEV if the drive has gone. */
static int ask(Drive *drive)
{
        Record *record = &drive->record;
        int64_t begun = now_ms(), took;
        PnHealth health = {0};
        int r;

        record->begun = begun;
        r = read_identity(drive);
        if (r == 0)
                r = read_smart(drive, &health);
        else
                record->health = reason_of(r);
        if (r == 0)
                r = read_errors(drive, &health);
        if (r == 0)
                r = read_namespaces(drive, &health);
        pn_done(pn_type_Health(), &health);
        took = now_ms() - begun;
        record->in_flight = 0;
        record->n_timeouts = r == -ETIMEDOUT ? record->n_timeouts + 1 : 0;
        if (took > SLOW_MS)
                record->slowness += record->slowness < 16;
        else
                record->slowness -= record->slowness > 0;
        (void)pn_record_write(&drive->file, RECORD_KIND, record, sizeof *record);
        if (r == -ENXIO || r == -ENODEV)
                return -ENODEV;
        return r == -ENOMEM ? r : 0;
}

/* ---- When ---- */

static int64_t shift(int64_t ms, unsigned by, int64_t most)
{
        while (by-- > 0 && ms < most)
                ms *= 2;
        return ms < most ? ms : most;
}

/* How long after the last one began the next reading may. */
static int64_t interval(const PnPolicy *policy, const Record *record)
{
        int64_t most = policy->health_longest_interval_s * 1000;
        int64_t normal = policy->health_interval_s * 1000;

        if (most < normal)
                most = normal;
        if (record->n_timeouts || record->in_flight)
                return shift(AFTER_TIMEOUT_MS, record->n_timeouts - (record->in_flight == 0),
                             most < AFTER_TIMEOUT_MS ? AFTER_TIMEOUT_MS : most);
        if (record->is_hot && policy->health_hot_interval_s * 1000 < normal)
                normal = policy->health_hot_interval_s * 1000;
        else if (record->is_idle)
                normal *= 2;
        return shift(normal, record->slowness, most);
}

static bool is_due(const Drive *drive)
{
        const Record *record = &drive->record;
        int64_t since = record->in_flight ? record->in_flight : record->begun;
        int64_t now = now_ms();

        return !since || now < since ||
               now - since >= interval(&drive->health->policy, record) - TOLERANCE_MS;
}

/* ---- An object ---- */

static int say_when(int64_t updated, PnText *ret)
{
        time_t t = updated;
        struct tm utc;
        char text[32];

        if (!gmtime_r(&t, &utc) || strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
                return 0;
        return pn_set_text(ret, text);
}

static PnInt unless_identified(const Record *record, PnInt v)
{
        return record->identified == PN_KNOWN ? v : (PnInt){.state = record->identified};
}

/* What the record knows, as an object. */
static int fill_from_record(const Record *record, PnNvmeHealth *object)
{
        PnHealth *health;
        int r;

        if (record->health != PN_KNOWN) {
                object->health.state = pn_is_unread(record->health) && record->health < PN_N_STATES
                                           ? record->health
                                           : PN_UNREAD_IO;
                return 0;
        }
        health = PN_NEW(&object->health);
        if (!health)
                return -ENOMEM;
        r = pn_smart_decode(record->log, sizeof record->log, health);
        if (r < 0)
                return r;
        health->warning_temperature_c = unless_identified(record, record->identify.warning_c);
        health->critical_temperature_c = unless_identified(record, record->identify.critical_c);
        if (record->has_errors) {
                health->refused_commands = pn_int((int64_t)record->refused);
                health->failed_commands = pn_int((int64_t)record->failed);
        }
        object->namespaces.state = PN_KNOWN;
        for (unsigned i = 0; i < record->n_namespaces && i < NAMESPACES_MAX; i++) {
                PnNamespaceUsed *used = PN_APPEND(&object->namespaces);

                if (!used)
                        return -ENOMEM;
                used->nsid = pn_int(record->namespaces[i].nsid);
                used->used_bytes = record->namespaces[i].used;
        }
        return say_when(record->updated, &health->updated);
}

static void set_unread(PnNvmeHealth *object, PnState why)
{
        object->health.state = why;
}

/* Opens record and node, and asks if it is time. */
static int fill_health(Drive *drive, PnNvmeHealth *object)
{
        Record *record = &drive->record;
        char name[NAME_MAX + 1], node[NAME_MAX + 8];
        bool live = pn_text_is(&drive->state, "live");
        int r;

        (void)snprintf(name, sizeof name, "drive-%s", drive->name);
        r = pn_record_open(name, &drive->file);
        if (r == -EWOULDBLOCK) {
                set_unread(object, PN_UNREAD_STUCK);
                return 0;
        }
        /* Without a memory nothing would keep the interval. */
        if (r < 0) {
                set_unread(object, PN_UNREAD_PERMISSION);
                return 0;
        }
        if (!pn_record_read(&drive->file, RECORD_KIND, record, sizeof *record) ||
            strncmp(record->identity, drive->identity, sizeof record->identity) != 0) {
                *record = (Record){0};
                memcpy(record->identity, drive->identity, sizeof record->identity);
        }
        if (!live || !is_due(drive)) {
                /* A command that was sent and of which nothing came back: its process has gone. */
                if (live && record->in_flight) {
                        set_unread(object, PN_UNREAD_STUCK);
                        return 0;
                }
                return fill_from_record(record, object);
        }
        (void)snprintf(node, sizeof node, "/dev/%s", drive->name);
        drive->fd = open(node, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (drive->fd < 0) {
                r = -errno;
                if (r == -ENXIO || r == -ENODEV)
                        return -ENODEV;
                set_unread(object, pn_reason_from_errno(r));
                return 0;
        }
        if (record->in_flight)
                record->n_timeouts++;
        drive->buffer = aligned_alloc(PN_IDENTIFY_SIZE, PN_IDENTIFY_SIZE);
        if (!drive->buffer)
                return -ENOMEM;
        r = ask(drive);
        return r < 0 ? r : fill_from_record(record, object);
}

/* ---- Controllers ---- */

/* Whether the drive is to be asked through this controller: an earlier one of its subsystem that
 * can be asked goes before. */
static bool has_better_sibling(const Health *health, size_t i)
{
        for (size_t k = health->before[i]; k != SIZE_MAX; k = health->before[k]) {
                _cleanup_close_ int dir = pn_sysfs_open(health->dir, health->names.v[k]);
                char transport[32], state[32];

                if (dir >= 0 && pn_sysfs_read(dir, "state", state, sizeof state) > 0 &&
                    pn_sysfs_read(dir, "transport", transport, sizeof transport) > 0 &&
                    strcmp(state, "live\n") == 0 && strcmp(transport, "pcie\n") == 0)
                        return true;
        }
        return false;
}

static int read_attributes(Drive *drive, PnNvmeHealth *object)
{
        struct stat st = {0};
        PnInt id;
        int r;

        if ((r = pn_sysfs_text(drive->dir, "transport", &drive->transport)) < 0 ||
            (r = pn_sysfs_text(drive->dir, "state", &drive->state)) < 0 ||
            (r = pn_sysfs_text(drive->dir, "address", &drive->address)) < 0 ||
            (r = pn_sysfs_text(drive->dir, "model", &drive->model)) < 0 ||
            (r = pn_sysfs_text(drive->dir, "serial", &drive->serial)) < 0 ||
            (r = pn_sysfs_text(drive->dir, "firmware_rev", &drive->firmware)) < 0 ||
            (r = pn_set_text(&object->name, drive->name)) < 0 ||
            (r = pn_set_text(&object->serial, pn_text(&drive->serial))) < 0)
                return r;
        if (pn_is_unread(drive->serial.state))
                object->serial.state = drive->serial.state;
        pn_sysfs_int(drive->dir, "cntlid", &id);
        /* Each appearance has a directory of its own; new firmware may have new limits. */
        (void)fstat(drive->dir, &st);
        (void)snprintf(
            drive->identity, sizeof drive->identity, "%llu %s %lld %.32s %.48s %.96s",
            (unsigned long long)st.st_ino, pn_text(&drive->address) ? drive->address.v : "",
            (long long)pn_int_or(id, -1), pn_text(&drive->firmware) ? drive->firmware.v : "",
            pn_text(&drive->serial) ? drive->serial.v : "",
            pn_text(&drive->model) ? drive->model.v : "");
        return 0;
}

static int read_drive(const void *context, size_t i, void *object_at, void *fact _unused_)
{
        const Health *health = context;
        const char *name = health->names.v[i];
        _cleanup_(drive_done) Drive drive = {.health = health,
                                             .name = name,
                                             .dir = pn_sysfs_open(health->dir, name),
                                             .fd = -1,
                                             .file = {-1}};
        PnNvmeHealth *object = object_at;
        int r;

        if (drive.dir < 0)
                return -ENODEV;
        r = read_attributes(&drive, object);
        if (r < 0)
                return r;
        /* Before Linux 4.13 there are no transports but these two, and no name for them. */
        if (!pn_text_is(&drive.transport, "pcie") && drive.transport.state != PN_ABSENT)
                return -ENODEV;
        if (has_better_sibling(health, i))
                return -ENODEV;
        if (pn_policy_excludes(&health->policy,
                               (const char *const[]){name, pn_text(&drive.address),
                                                     pn_text(&drive.serial), pn_text(&drive.model)},
                               4)) {
                set_unread(object, PN_UNREAD_EXCLUDED);
                return 0;
        }
        if (!health->policy.health_of_emulated && pn_nvme_is_emulated(pn_text(&drive.model))) {
                set_unread(object, PN_UNREAD_UNSUPPORTED);
                return 0;
        }
        r = fill_health(&drive, object);
        if (r == -ENODEV && faccessat(health->dir, name, F_OK, 0) == 0) {
                set_unread(object, PN_UNREAD_IO);
                return 0;
        }
        /* A record that cannot be decoded is a mistake of ours. */
        if (r < 0 && r != -ENOMEM && r != -ENODEV) {
                set_unread(object, PN_UNREAD_MALFORMED);
                return 0;
        }
        return r;
}

static const char *drive_name(const void *context, size_t i)
{
        const Health *health = context;

        return health->names.v[i];
}

/* ---- The source ---- */

static void health_done(Health *health)
{
        free(health->before);
        pn_names_done(&health->names);
        pn_policy_done(&health->policy);
        pn_close(health->dir);
}

static bool is_controller(const char *name)
{
        return pn_startswith(name, "nvme") && name[4] &&
               strspn(name + 4, "0123456789") == strlen(name + 4);
}

static int compare_strings(const void *a, const void *b)
{
        const char *const *x = a, *const *y = b;

        return strcmp(*x, *y);
}

/* Chains the controllers of each subsystem, in the order of their names. */
static int list_siblings(Health *health)
{
        _cleanup_names_ PnNames subsystems = {0};
        _cleanup_close_ int dir = pn_sysfs_open(AT_FDCWD, SUBSYSTEMS);
        int r = dir < 0 ? 0 : pn_sysfs_names(dir, ".", &subsystems);

        health->before = calloc(health->names.n + 1, sizeof *health->before);
        if (!health->before || r == -ENOMEM)
                return -ENOMEM;
        for (size_t i = 0; i < health->names.n; i++)
                health->before[i] = SIZE_MAX;
        for (size_t i = 0; i < subsystems.n; i++) {
                _cleanup_names_ PnNames members = {0};
                size_t before = SIZE_MAX;

                if (pn_sysfs_names(dir, subsystems.v[i], &members) == -ENOMEM)
                        return -ENOMEM;
                for (size_t k = 0; k < members.n; k++) {
                        char **found = bsearch(&members.v[k], health->names.v, health->names.n,
                                               sizeof *health->names.v, compare_strings);

                        if (!found)
                                continue;
                        health->before[found - health->names.v] = before;
                        before = (size_t)(found - health->names.v);
                }
        }
        return 0;
}

static int list_drives(Health *health, PnReport *report)
{
        size_t kept = 0;
        int r;

        health->dir = pn_sysfs_open(AT_FDCWD, CONTROLLERS);
        if (health->dir == -ENOENT)
                return 0;
        r = health->dir < 0 ? health->dir : pn_sysfs_names(health->dir, ".", &health->names);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                pn_report_reason(report, "%s: %s", CONTROLLERS, strerror(-r));
                return 0;
        }
        for (size_t i = 0; i < health->names.n; i++)
                if (is_controller(health->names.v[i]))
                        health->names.v[kept++] = health->names.v[i];
                else
                        free(health->names.v[i]);
        health->names.n = kept;
        return list_siblings(health);
}

/* The kernel's own, so that it is the kernel that gives up first, and never less than its default.
 * 0 leaves it to the kernel: where its own is not known, or none that fits our number. */
static unsigned admin_timeout(void)
{
        PnInt seconds;

        pn_sysfs_int(AT_FDCWD, ADMIN_TIMEOUT, &seconds);
        if (seconds.state != PN_KNOWN || seconds.v > 3600)
                return 0;
        return (seconds.v > 60 ? (unsigned)seconds.v : 60) * 1000;
}

int pn_source_health(PnEmit *emit, PnReport *report)
{
        Health *health = calloc(1, sizeof *health);
        PnWalk walk = {.source = "health",
                       .kind = PN_OBJECT_NVME_HEALTH,
                       .heeds = "nvme",
                       .context = health,
                       .n_workers = WORKERS,
                       .patience_ms = PATIENCE_MS,
                       .name = drive_name,
                       .read = read_drive};
        bool abandoned = false;
        int r;

        if (!health)
                return -ENOMEM;
        health->dir = -1;
        health->timeout_ms = admin_timeout();
        r = pn_config_load(&health->policy, NULL, NULL);
        if (r == 0)
                r = list_drives(health, report);
        if (r == 0) {
                walk.n = health->names.n;
                r = pn_walk(&walk, emit, report, &abandoned);
        }
        if (!abandoned) {
                health_done(health);
                free(health);
        }
        return r;
}
