/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads block devices by io_uring: many reads under way, and one system call for many of them. Asks
 * the ring for reads alone. */

#include "reader.h"

#if PN_HAVE_LIBURING

#include <liburing.h>

#define ENTRIES_MAX      4096u
#define BUFFER_ALIGNMENT 4096u

typedef struct Slot {
        ReadJob *job;
        unsigned char *buffer;
        uint64_t offset;
        int64_t started;
} Slot;

typedef struct Ring {
        struct io_uring ring;
        Slot *slots;
        unsigned char *buffers;
        unsigned n, under_way;
} Ring;

/* Asks for a slot's next block. */
static void submit(Ring *ring, Slot *slot, const ReadPlan *plan)
{
        struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->ring);
        unsigned length;

        if (!sqe)
                return; /* there are as many entries as slots: it cannot be */
        read_next(slot->job, plan, &slot->offset, &length);
        slot->started = read_now();
        io_uring_prep_read(sqe, slot->job->fd, slot->buffer, length, slot->offset);
        io_uring_sqe_set_data(sqe, slot);
        slot->job->under_way++;
        ring->under_way++;
}

/* Takes all answers that are there, and asks for more if there shall be more. */
static void take(Ring *ring, const ReadRun *run)
{
        bool over = read_is_over(run);
        struct io_uring_cqe *cqe;

        while (io_uring_peek_cqe(&ring->ring, &cqe) == 0) {
                Slot *slot = io_uring_cqe_get_data(cqe);
                int result = cqe->res;

                io_uring_cqe_seen(&ring->ring, cqe);
                slot->job->under_way--;
                ring->under_way--;
                if (read_account(slot->job, result, slot->offset, slot->started) && !over)
                        submit(ring, slot, run->plan);
        }
}

static int loop(Ring *ring, const ReadRun *run)
{
        int64_t patience = 0, told = read_now();

        for (unsigned i = 0; i < ring->n; i++)
                submit(ring, &ring->slots[i], run->plan);
        while (ring->under_way) {
                struct __kernel_timespec wait = {.tv_nsec = 100000000};
                struct io_uring_cqe *cqe;
                int r = io_uring_submit(&ring->ring);

                if (r < 0 && r != -EINTR && r != -EAGAIN && r != -EBUSY)
                        return r;
                r = io_uring_wait_cqe_timeout(&ring->ring, &cqe, &wait);
                if (r < 0 && r != -ETIME && r != -EINTR && r != -EAGAIN)
                        return r;
                take(ring, run);
                if (run->plan->progress && read_now() - told >= 100000000) {
                        told = read_now();
                        run->plan->progress(run->plan->userdata);
                }
                if (read_is_over(run) && !patience)
                        patience = read_now() + READ_PATIENCE_NS;
                if (patience && read_now() >= patience)
                        break;
        }
        for (unsigned i = 0; i < run->n; i++)
                run->jobs[i].is_stuck = run->jobs[i].under_way > 0;
        return 0;
}

int read_with_ring(ReadRun *run)
{
        unsigned depth = run->plan->depth;
        Ring ring = {0};
        void *buffers = NULL;
        int r;

        if (run->n * depth > ENTRIES_MAX)
                depth = ENTRIES_MAX / run->n ? ENTRIES_MAX / run->n : 1;
        ring.n = run->n * depth;
        r = io_uring_queue_init(ring.n, &ring.ring, 0);
        if (r < 0)
                return r;
        ring.slots = calloc(ring.n, sizeof *ring.slots);
        if (!ring.slots ||
            posix_memalign(&buffers, BUFFER_ALIGNMENT, (size_t)ring.n * run->plan->block) != 0) {
                free(ring.slots);
                io_uring_queue_exit(&ring.ring);
                return -ENOMEM;
        }
        ring.buffers = buffers;
        for (unsigned i = 0; i < ring.n; i++)
                ring.slots[i] = (Slot){.job = &run->jobs[i % run->n],
                                       .buffer = ring.buffers + (size_t)i * run->plan->block};
        r = loop(&ring, run);
        /* What is still under way goes to these buffers, and is ended by the kernel with us. */
        if (ring.under_way)
                return r;
        io_uring_queue_exit(&ring.ring);
        free(ring.slots);
        free(ring.buffers);
        return r;
}

#else

int read_with_ring(_unused_ ReadRun *run)
{
        return -ENOSYS;
}

#endif
