/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads block devices and counts; where there is no io_uring, with threads. Knows no names, no
 * links and no page. */

#include "reader.h"

#include <poll.h>
#include <pthread.h>
#include <time.h>

/* Threads in all: 16 are enough for one device. */
#define THREADS_MAX      256u
#define BUFFER_ALIGNMENT 4096u

int64_t read_now(void)
{
        struct timespec ts;

        (void)clock_gettime(CLOCK_MONOTONIC, &ts);
        return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

bool read_is_over(const ReadRun *run)
{
        return *run->plan->stop || read_now() >= run->deadline;
}

/* xorshift64: any sequence that no cache and no read-ahead foresees. */
static uint64_t random_number(ReadJob *job)
{
        job->state ^= job->state << 13;
        job->state ^= job->state >> 7;
        job->state ^= job->state << 17;
        return job->state;
}

void read_next(ReadJob *job, const ReadPlan *plan, uint64_t *ret_offset, unsigned *ret_length)
{
        uint64_t offset = job->next, left;

        if (plan->random && job->size > plan->block)
                offset = random_number(job) % (job->size / plan->block) * plan->block;
        left = job->size - offset;
        *ret_offset = offset;
        *ret_length = left < plan->block ? (unsigned)left : plan->block;
        if (plan->random)
                return;
        job->next = offset + *ret_length;
        if (job->next >= job->size) {
                job->next = 0;
                job->passes++;
        }
}

bool read_account(ReadJob *job, int64_t result, uint64_t offset, int64_t started)
{
        int64_t now = read_now();

        if (result == -EINTR || result == -EAGAIN)
                return !job->error;
        if (result <= 0) {
                /* Nothing where there was something: the device has become smaller. */
                if (!job->error) {
                        job->error = result ? (int)-result : ENODATA;
                        job->error_at = offset;
                }
                return false;
        }
        job->bytes += (uint64_t)result;
        job->reads++;
        job->ended = now;
        if (now - started > job->longest)
                job->longest = now - started;
        return !job->error;
}

/* ---- threads ---- */

typedef struct Pool {
        ReadRun *run;
        pthread_mutex_t lock;
        pthread_cond_t changed;
        unsigned running;
} Pool;

typedef struct Worker {
        Pool *pool;
        ReadJob *job;
        void *buffer;
} Worker;

static void *work(void *argument)
{
        Worker *worker = argument;
        Pool *pool = worker->pool;
        ReadJob *job = worker->job;
        bool go_on = true;

        (void)pthread_mutex_lock(&pool->lock);
        /* However little time there is, each reads once, as with io_uring. */
        while (go_on && !job->error) {
                uint64_t offset;
                unsigned length;
                int64_t started = read_now();
                ssize_t n;

                read_next(job, pool->run->plan, &offset, &length);
                job->under_way++;
                (void)pthread_mutex_unlock(&pool->lock);
                n = pread(job->fd, worker->buffer, length, (off_t)offset);
                if (n < 0)
                        n = -errno;
                (void)pthread_mutex_lock(&pool->lock);
                job->under_way--;
                go_on = read_account(job, n, offset, started) && !read_is_over(pool->run);
        }
        pool->running--;
        (void)pthread_cond_signal(&pool->changed);
        (void)pthread_mutex_unlock(&pool->lock);
        return NULL;
}

static int start_worker(Pool *pool, Worker *worker)
{
        pthread_attr_t attributes;
        pthread_t thread;
        int r;

        if (posix_memalign(&worker->buffer, BUFFER_ALIGNMENT, pool->run->plan->block) != 0)
                return -ENOMEM;
        /* One that a device holds cannot be joined. */
        r = pthread_attr_init(&attributes);
        if (r)
                return -r;
        (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pool->running++;
        r = pthread_create(&thread, &attributes, work, worker);
        (void)pthread_attr_destroy(&attributes);
        if (r)
                pool->running--;
        return -r;
}

/* Waits for the workers, at most until `deadline` plus patience. */
static void wait_for_workers(Pool *pool)
{
        const ReadPlan *plan = pool->run->plan;
        int64_t patience = 0;

        while (pool->running) {
                struct timespec until;
                int64_t at;

                if (read_is_over(pool->run) && !patience)
                        patience = read_now() + READ_PATIENCE_NS;
                if (patience && read_now() >= patience)
                        break;
                (void)clock_gettime(CLOCK_MONOTONIC, &until);
                at = (int64_t)until.tv_sec * 1000000000 + until.tv_nsec + 100000000;
                until = (struct timespec){at / 1000000000, at % 1000000000};
                (void)pthread_cond_timedwait(&pool->changed, &pool->lock, &until);
                if (plan->progress)
                        plan->progress(plan->userdata);
        }
        for (unsigned i = 0; i < pool->run->n; i++)
                pool->run->jobs[i].is_stuck = pool->run->jobs[i].under_way > 0;
}

static int read_with_threads(ReadRun *run)
{
        unsigned depth = run->plan->depth, n;
        _cleanup_free_ Worker *workers = NULL;
        _cleanup_free_ Pool *pool = calloc(1, sizeof *pool);
        _cleanup_free_ ReadRun *own = malloc(sizeof *own);
        pthread_condattr_t attributes;
        int r = 0;

        if (run->n * depth > THREADS_MAX)
                depth = THREADS_MAX / run->n ? THREADS_MAX / run->n : 1;
        n = run->n * depth;
        workers = calloc(n, sizeof *workers);
        if (!pool || !own || !workers)
                return -ENOMEM;
        *own = *run;
        pool->run = own;
        (void)pthread_mutex_init(&pool->lock, NULL);
        (void)pthread_condattr_init(&attributes);
        (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        (void)pthread_cond_init(&pool->changed, &attributes);
        (void)pthread_condattr_destroy(&attributes);
        (void)pthread_mutex_lock(&pool->lock);
        for (unsigned i = 0; i < n && r == 0; i++) {
                workers[i] = (Worker){.pool = pool, .job = &run->jobs[i % run->n]};
                r = start_worker(pool, &workers[i]);
        }
        if (r < 0)
                own->deadline = 0;
        wait_for_workers(pool);
        if (pool->running) {
                /* Whoever comes back finds all of it still there. */
                (void)pthread_mutex_unlock(&pool->lock);
                (void)PN_STEAL(pool);
                (void)PN_STEAL(own);
                (void)PN_STEAL(workers);
                return r;
        }
        (void)pthread_mutex_unlock(&pool->lock);
        (void)pthread_cond_destroy(&pool->changed);
        (void)pthread_mutex_destroy(&pool->lock);
        for (unsigned i = 0; i < n; i++)
                free(workers[i].buffer);
        return r;
}

int read_devices(ReadJob *jobs, unsigned n, const ReadPlan *plan, const char **ret_engine)
{
        int64_t now = read_now();
        ReadRun run = {
            .jobs = jobs, .n = n, .plan = plan, .deadline = now + (int64_t)(plan->seconds * 1e9)};
        int r;

        for (unsigned i = 0; i < n; i++)
                jobs[i].started = jobs[i].ended = now;
        *ret_engine = "io_uring";
        r = plan->without_ring ? -ENOSYS : read_with_ring(&run);
        if (r != -ENOSYS && r != -EPERM && r != -EACCES && r != -ENOMEM)
                return r;
        *ret_engine = "threads";
        return read_with_threads(&run);
}
