/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads devices, one after the other or a few at a time, in such a way that a device that hangs
 * costs itself alone. Knows nothing of what is read.
 *
 * Worker threads read; the main thread watches the clock. A thread that sleeps in the kernel
 * because a device does not answer cannot be ended, so it is left behind: main emits the device as
 * unread and starts another worker in its place. Whatever the first worker still brings, if it
 * ever comes back, is thrown away.
 *
 * The memory between runs is a directory of lock files, one for each device that is stuck, named
 * after it. It is looked at once a walk, and is empty or missing on a healthy host, so that healthy
 * devices cost nothing. Whoever gives a device up makes its file and locks it; the lock then lives
 * as long as the process, which is as long as the thread that the kernel holds: exit() does not end
 * that. A file whose lock can be had is left over from a read that did come back, and is removed.
 */
#include "walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/file.h>
#include <time.h>

#include "record.h"
#include "sysfs.h"

/* Attributes are read into buffers on the stack, a page or two at a time. */
#define WORKER_STACK (256 * 1024)

typedef struct Walker {
        PnWalk walk; /* a copy: a late worker may outlive the caller's */
        PnEmit *emit;
        PnReport *report;
        PnNames locks;   /* names of lock files at the start */
        int lock_dir;    /* -1: there are no locks */
        unsigned n_used; /* threads that may still use this */

        pthread_mutex_t mutex; /* for what follows and for emitting */
        pthread_cond_t changed;
        struct Worker *workers[PN_WALK_MAX_WORKERS]; /* whose results count; others are late */
        unsigned n_workers;                          /* of them that are there */
        size_t next;                                 /* the first device that nobody has taken */
        int error;
} Walker;

/* Only the walker's mutex and `workers` say whether a worker is still one of ours. */
typedef struct Worker {
        Walker *walker;
        unsigned slot;
        size_t at;        /* the device that it is at */
        int64_t until_ms; /* when it is given up */
} Worker;

static bool any_abandoned;

bool pn_walk_any_abandoned(void)
{
        return any_abandoned;
}

static int64_t now_ms(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC, &t);
        return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The object of a device that could not be read at all: its key, and why the rest is missing. */
static int fill_unread(const PnType *type, const char *name, PnState why, void *object)
{
        for (unsigned i = 0; i < type->n_fields; i++) {
                const PnField *field = &type->fields[i];

                if (field->kind == PN_KIND_KEY) {
                        int r = pn_set_text(pn_field_at(field, object), name);

                        if (r < 0)
                                return r;
                } else {
                        memcpy(pn_field_at(field, object), &why, sizeof why);
                }
        }
        return 0;
}

/* With the mutex held. */
static void emit_object(Walker *walker, void *object)
{
        pn_emit_object(walker->emit, walker->walk.source, walker->walk.kind, object);
        walker->report->count++;
        if (walker->emit->error < 0)
                walker->error = walker->emit->error;
}

static void emit_unread(Walker *walker, size_t i, PnState why)
{
        const PnWalk *walk = &walker->walk;
        const PnType *type = pn_object_type(walk->kind);
        void *object = calloc(1, type->size);

        if (!object || fill_unread(type, walk->name(walk->context, i), why, object) < 0 ||
            (walk->known && walk->known(walk->context, i, object) < 0))
                walker->error = -ENOMEM;
        else
                emit_object(walker, object);
        pn_free(type, object);
}

/* A file name for a device of a source: those are names out of directories, so without a slash. */
static void lock_name(const Walker *walker, const char *source, size_t i, char *buf, size_t size)
{
        (void)snprintf(buf, size, "%s-%s", source, walker->walk.name(walker->walk.context, i));
}

static void find_locks(Walker *walker)
{
        walker->lock_dir = pn_record_directory(/* create= */ false);
        if (walker->lock_dir >= 0)
                (void)pn_sysfs_names(walker->lock_dir, ".", &walker->locks);
}

/* Remembers, beyond the end of this program, that a read of a device has not come back. The
 * descriptor is meant to be left open. */
static void take_lock(Walker *walker, size_t i)
{
        char name[NAME_MAX + 1];
        int fd;

        if (walker->lock_dir < 0)
                walker->lock_dir = pn_record_directory(/* create= */ true);
        if (walker->lock_dir < 0)
                return;
        lock_name(walker, walker->walk.source, i, name, sizeof name);
        /* For reading: root's may be there already, which a probe that is not root cannot write. */
        fd = openat(walker->lock_dir, name, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
                pn_close(fd);
}

static int compare_names(const void *a, const void *b)
{
        const char *const *x = a, *const *y = b;

        return strcmp(*x, *y);
}

/* Whether a read of a device by a source has not come back. A lock that is left over goes. */
static bool is_locked(Walker *walker, const char *source, size_t i)
{
        _cleanup_close_ int fd = -1;
        char name[NAME_MAX + 1];
        const char *key = name;

        lock_name(walker, source, i, name, sizeof name);
        if (!bsearch(&key, walker->locks.v, walker->locks.n, sizeof *walker->locks.v,
                     compare_names))
                return false;
        fd = openat(walker->lock_dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0)
                return false;
        if (flock(fd, LOCK_EX | LOCK_NB) < 0)
                return errno == EWOULDBLOCK;
        (void)unlinkat(walker->lock_dir, name, 0);
        return false;
}

static bool is_stuck(Walker *walker, size_t i)
{
        const PnWalk *walk = &walker->walk;

        if (walker->locks.n == 0)
                return false;
        return is_locked(walker, walk->source, i) ||
               (walk->heeds && is_locked(walker, walk->heeds, i));
}

static void release(Walker *walker)
{
        bool last;

        (void)pthread_mutex_lock(&walker->mutex);
        last = --walker->n_used == 0;
        (void)pthread_mutex_unlock(&walker->mutex);
        if (!last)
                return;
        pn_names_done(&walker->locks);
        pn_close(walker->lock_dir);
        (void)pthread_cond_destroy(&walker->changed);
        (void)pthread_mutex_destroy(&walker->mutex);
        free(walker);
}

static unsigned patience(const Walker *walker)
{
        unsigned most = walker->walk.patience_ms ? walker->walk.patience_ms : PN_WALK_PATIENCE_MS;

        return walker->report->timeouts == 0      ? most
               : walker->report->timeouts == 1    ? most / 2
               : most < PN_WALK_LEAST_PATIENCE_MS ? most
                                                  : PN_WALK_LEAST_PATIENCE_MS;
}

/* Takes the next device; false if there is none. With the mutex held. */
static bool take_next(Worker *worker)
{
        Walker *walker = worker->walker;

        if (walker->error < 0 || walker->next >= walker->walk.n)
                return false;
        worker->at = walker->next++;
        worker->until_ms = now_ms() + patience(walker);
        return true;
}

/* With the mutex held. */
static void leave(Worker *worker)
{
        worker->walker->workers[worker->slot] = NULL;
        worker->walker->n_workers--;
        (void)pthread_cond_signal(&worker->walker->changed);
}

/* Reads the device that the worker has taken, and takes the next. Returns false if this worker is
 * to end. */
static bool work(Worker *worker, void *object, void *fact)
{
        Walker *walker = worker->walker;
        const PnWalk *walk = &walker->walk;
        const PnType *type = pn_object_type(walk->kind);
        size_t i = worker->at;
        bool go_on = false;
        int r;

        if (fact)
                memset(fact, 0, walk->fact_size);
        r = is_stuck(walker, i) ? -EBUSY : walk->read(walk->context, i, object, fact);

        (void)pthread_mutex_lock(&walker->mutex);
        /* A late one finds another worker, or none, in its place: main has answered for it. */
        if (walker->workers[worker->slot] == worker) {
                if (r == 0) {
                        if (fact)
                                memcpy((char *)walk->facts + i * walk->fact_size, fact,
                                       walk->fact_size);
                        emit_object(walker, object);
                } else if (r == -EBUSY) {
                        emit_unread(walker, i, PN_UNREAD_STUCK);
                } else if (r == -ENOMEM) {
                        walker->error = r;
                } else if (r != -ENODEV) {
                        emit_unread(walker, i, pn_reason_from_errno(r)); /* there, but not for us */
                }
                go_on = take_next(worker);
                if (!go_on)
                        leave(worker);
        }
        (void)pthread_mutex_unlock(&walker->mutex);
        pn_done(type, object);
        return go_on;
}

static void *run_worker(void *argument)
{
        Worker *worker = argument;
        Walker *walker = worker->walker;
        const PnWalk *walk = &walker->walk;
        void *object = calloc(1, pn_object_type(walk->kind)->size);
        void *fact = walk->fact_size ? malloc(walk->fact_size) : NULL;

        if (!object || (walk->fact_size && !fact)) {
                (void)pthread_mutex_lock(&walker->mutex);
                walker->error = -ENOMEM;
                if (walker->workers[worker->slot] == worker)
                        leave(worker);
                (void)pthread_mutex_unlock(&walker->mutex);
        } else {
                while (work(worker, object, fact))
                        continue;
        }
        free(object);
        free(fact);
        free(worker);
        release(walker);
        return NULL;
}

/* Starts a worker in a slot that has none, if there is a device left for it. With the mutex held.
 */
static int start_worker(Walker *walker, unsigned slot)
{
        Worker *worker = calloc(1, sizeof *worker);
        pthread_attr_t attributes;
        pthread_t thread;
        int r;

        if (!worker)
                return -ENOMEM;
        *worker = (Worker){.walker = walker, .slot = slot};
        if (!take_next(worker)) {
                free(worker);
                return 0;
        }
        walker->workers[slot] = worker;
        walker->n_workers++;
        walker->n_used++;
        (void)pthread_attr_init(&attributes);
        (void)pthread_attr_setstacksize(&attributes, WORKER_STACK);
        (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        r = pthread_create(&thread, &attributes, run_worker, worker);
        (void)pthread_attr_destroy(&attributes);
        if (r != 0) {
                walker->n_used--;
                leave(worker);
                free(worker);
                return -ENOMEM;
        }
        return 0;
}

/* Gives up on the device that a worker is at, and lets another worker go on. With the mutex held.
 */
static void give_up(Walker *walker, unsigned slot)
{
        const PnWalk *walk = &walker->walk;
        PnReport *report = walker->report;
        size_t at = walker->workers[slot]->at;

        any_abandoned = true;
        walker->workers[slot] = NULL;
        walker->n_workers--;
        take_lock(walker, at);
        emit_unread(walker, at, PN_UNREAD_TIMEOUT);
        report->timeouts++;
        if (report->timeouts >= PN_WALK_MAX_STUCK && walker->next < walk->n) {
                pn_report_reason(report,
                                 "%u devices did not answer in time; %zu more were not tried",
                                 report->timeouts, walk->n - walker->next);
                walker->next = walk->n;
        }
        if (walker->error == 0)
                walker->error = start_worker(walker, slot);
}

/* Until all workers have gone, or an error leaves those that are still there behind. */
static void watch(Walker *walker, bool *ret_abandoned)
{
        while (walker->error == 0 && walker->n_workers) {
                int64_t now = now_ms(), deadline = INT64_MAX;
                struct timespec t;

                for (unsigned i = 0; i < PN_WALK_MAX_WORKERS && walker->error == 0; i++) {
                        if (walker->workers[i] && now >= walker->workers[i]->until_ms) {
                                give_up(walker, i);
                                *ret_abandoned = true;
                        }
                        if (walker->workers[i] && walker->workers[i]->until_ms < deadline)
                                deadline = walker->workers[i]->until_ms;
                }
                if (walker->error < 0 || !walker->n_workers)
                        break;
                t = (struct timespec){.tv_sec = deadline / 1000,
                                      .tv_nsec = deadline % 1000 * 1000000};
                (void)pthread_cond_timedwait(&walker->changed, &walker->mutex, &t);
        }
        for (unsigned i = 0; i < PN_WALK_MAX_WORKERS; i++)
                if (walker->workers[i]) {
                        any_abandoned = *ret_abandoned = true;
                        walker->workers[i] = NULL;
                }
}

int pn_walk(const PnWalk *walk, PnEmit *emit, PnReport *report, bool *ret_abandoned)
{
        unsigned n_workers = walk->n_workers ? walk->n_workers : 1;
        pthread_condattr_t attributes;
        Walker *walker;
        int r;

        *ret_abandoned = false;
        if (walk->n == 0 || report->timeouts >= PN_WALK_MAX_STUCK)
                return 0;
        walker = calloc(1, sizeof *walker);
        if (!walker)
                return -ENOMEM;
        walker->walk = *walk;
        walker->emit = emit;
        walker->report = report;
        walker->n_used = 1;
        (void)pthread_mutex_init(&walker->mutex, NULL);
        (void)pthread_condattr_init(&attributes);
        (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        (void)pthread_cond_init(&walker->changed, &attributes);
        (void)pthread_condattr_destroy(&attributes);
        find_locks(walker);

        (void)pthread_mutex_lock(&walker->mutex);
        for (unsigned i = 0; i < n_workers && i < PN_WALK_MAX_WORKERS && walker->error == 0; i++)
                walker->error = start_worker(walker, i);
        watch(walker, ret_abandoned);
        r = walker->error;
        (void)pthread_mutex_unlock(&walker->mutex);
        release(walker);
        return r;
}
