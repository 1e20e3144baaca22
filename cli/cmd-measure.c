/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures how fast drives read, and says whether that is the drive's doing or a link's. Opens
 * devices for reading alone, and never one that fails or hangs unless it is told to. */

#include "measure.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "say.h"
#include "source.h"

/* Sixteen reads of half a megabyte keep the fastest drive of today busy: they are 8 MiB, half a
 * millisecond's worth. */
#define SEQUENTIAL_BLOCK (512u << 10)
#define SEQUENTIAL_DEPTH 16u
#define RANDOM_BLOCK     4096u
#define SECONDS          3.0
#define DEVICES_MAX      256u

static volatile sig_atomic_t interrupted;

static void interrupt(_unused_ int signal_number)
{
        interrupted = 1;
}

static void measurement_done(Measurement *all)
{
        for (unsigned i = 0; i < all->n; i++) {
                pn_done(pn_type_Device(), &all->v[i].device);
                free(all->v[i].node);
                pn_close(all->v[i].fd);
        }
        free(all->v);
}

/* ---- which device ---- */

/* Where nodes are. Tests put files in their place. */
static const char *node_folder(bool *ret_is_test)
{
        const char *folder = getenv("PNHW_TEST_DEV");

        *ret_is_test = folder && *folder;
        return *ret_is_test ? folder : "/dev";
}

/* The name by which pnhwd knows a device: of a link below /dev, what it points to. malloc'ed. */
static char *known_name(const char *name)
{
        char path[PATH_MAX];

        if (!pn_startswith(name, "/dev/"))
                return strdup(name);
        if (realpath(name, path) && pn_startswith(path, "/dev/"))
                return strdup(path + strlen("/dev/"));
        return strdup(name + strlen("/dev/"));
}

/* The block device of a target, and its number as the inventory has it. */
static const char *choose_node(const Target *target, const char *name, const PnText **ret_number)
{
        const PnNvme *drive = target->device.nvme.v;

        if (target->device.disk.v) {
                *ret_number = &target->device.disk.v->device_number;
                return target->device.disk.v->name.v;
        }
        for (unsigned i = 0; drive && i < drive->namespaces.n; i++) {
                const PnNamespace *ns = &drive->namespaces.v[i];

                /* A controller is measured by its first namespace. */
                if (!pn_text_is(&target->device.kind, "namespace") ||
                    strcmp(ns->name.v, name) == 0) {
                        *ret_number = &ns->device_number;
                        return ns->name.v;
                }
        }
        return NULL;
}

static int check_node(Cli *cli, const Target *target, const PnText *number, bool is_test)
{
        struct stat st;
        char is[32];

        if (fstat(target->fd, &st) < 0)
                return cli_fail(cli, "IO", "%s: %s", target->node, say_error(errno));
        if (is_test && S_ISREG(st.st_mode))
                return 0;
        if (!S_ISBLK(st.st_mode))
                return cli_fail(cli, "NotABlockDevice", "/dev/%s is no block device", target->node);
        (void)snprintf(is, sizeof is, "%u:%u", major(st.st_rdev), minor(st.st_rdev));
        if (pn_text(number) && strcmp(number->v, is) != 0)
                return cli_fail(cli, "NoSuchDevice",
                                "/dev/%s is another device by now (%s, and it was %s); try again",
                                target->node, is, number->v);
        return 0;
}

static int find_size(Cli *cli, Target *target)
{
        struct stat st;
        int sector = 512;

        if (fstat(target->fd, &st) == 0 && S_ISREG(st.st_mode))
                target->size = (uint64_t)st.st_size;
        else if (ioctl(target->fd, BLKGETSIZE64, &target->size) < 0 ||
                 ioctl(target->fd, BLKSSZGET, &sector) < 0)
                return cli_fail(cli, "IO", "/dev/%s does not tell its size: %s", target->node,
                                say_error(errno));
        if (sector < 512 || (unsigned)sector > SEQUENTIAL_BLOCK || sector & (sector - 1))
                return cli_fail(cli, "IO", "/dev/%s has sectors of %d bytes", target->node, sector);
        target->sector = (unsigned)sector;
        target->size -= target->size % target->sector;
        if (!target->size)
                return cli_fail(cli, "Empty", "/dev/%s is empty: there is nothing to read",
                                target->node);
        return 0;
}

static int open_node(Cli *cli, Target *target, const PnText *number)
{
        _cleanup_free_ char *path = NULL;
        bool is_test;
        const char *folder = node_folder(&is_test);
        int r;

        if (asprintf(&path, "%s/%s", folder, target->node) < 0) {
                path = NULL;
                return cli_out_of_memory(cli);
        }
        /* O_NONBLOCK: whatever else is there by mistake (a pipe) must not make it wait. */
        target->fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC | O_NONBLOCK);
        /* Some file systems that tests keep their files on cannot do without a cache. */
        if (target->fd < 0 && errno == EINVAL && is_test)
                target->fd = open(path, O_RDONLY | O_CLOEXEC);
        if (target->fd < 0 && (errno == EACCES || errno == EPERM))
                return cli_fail(cli, "PermissionDenied",
                                geteuid()
                                    ? N_("you may not read %s: measure as root")
                                    : N_("even root may not read %s here: this is a container that "
                                         "was not given the device"),
                                path);
        if (target->fd < 0)
                return cli_fail(cli, "IO", "cannot open %s: %s", path, say_error(errno));
        r = check_node(cli, target, number, is_test);
        return r ? r : find_size(cli, target);
}

static int forbid(Cli *cli, const Target *target, const char *name)
{
        const PnFinding *finding = pn_speed_forbids(&target->device);
        _cleanup_free_ char *made = NULL;
        const PnNvme *drive = target->device.nvme.v;

        if (cli->force)
                return 0;
        if (finding)
                return cli_fail(
                    cli, "Unhealthy",
                    "%s had better be left alone: %s\nsave what is on it first; --force "
                    "measures it all the same",
                    name,
                    pn_text(&finding->summary) ? say_told(finding->summary.v, &made)
                                               : finding->code.v);
        if (drive && (pn_is_true(drive->lost) || drive->health.state == PN_UNREAD_STUCK ||
                      drive->health.state == PN_UNREAD_TIMEOUT))
                return cli_fail(cli, "Unhealthy",
                                pn_is_true(drive->lost)
                                    ? N_("%s had better be left alone: it is gone\n--force "
                                         "measures it all the same")
                                    : N_("%s had better be left alone: it does not answer in "
                                         "time\n--force measures it all the same"),
                                name);
        return 0;
}

static bool is_there(const Measurement *all, const char *node)
{
        for (unsigned i = 0; i < all->n; i++)
                if (strcmp(all->v[i].node, node) == 0)
                        return true;
        return false;
}

static int add_target(Measurement *all, const char *word)
{
        Cli *cli = all->cli;
        Target *target = &all->v[all->n];
        _cleanup_free_ char *name = known_name(word);
        const PnText *number = NULL;
        const char *node;
        int r;

        if (!name)
                return cli_out_of_memory(cli);
        *target = (Target){.fd = -1};
        r = source_device(cli, name, &target->device);
        if (r)
                return r;
        node = choose_node(target, name, &number);
        if (!node) {
                r = cli_fail(cli, "NotABlockDevice",
                             target->device.nvme.v
                                 ? N_("%s holds nothing that could be read: it has no namespace")
                                 : N_("%s holds nothing that could be read: it is no drive"),
                             word);
        } else if (strchr(node, '/')) {
                r = cli_fail(cli, "BadAnswer", "%s is no name of a block device", node);
        } else if (is_there(all, node)) {
                /* The same by another name: once is enough. */
                pn_done(pn_type_Device(), &target->device);
                return 0;
        } else {
                r = forbid(cli, target, word);
        }
        if (r == 0 && !(target->node = strdup(node)))
                r = cli_out_of_memory(cli);
        if (r) {
                pn_done(pn_type_Device(), &target->device);
                return r;
        }
        all->n++;
        target->model = target->device.nvme.v   ? &target->device.nvme.v->model
                        : target->device.disk.v ? &target->device.disk.v->model
                                                : NULL;
        return open_node(cli, target, number);
}

/* ---- reading ---- */

static double rate_of(const ReadJob *job, int64_t until)
{
        return until > job->started ? (double)job->bytes / ((double)(until - job->started) / 1e9)
                                    : 0;
}

/* "nvme0n1  ████████······  4,450 MB/s", over itself, on a terminal. */
static void show_progress(void *userdata)
{
        Measurement *all = userdata;
        bool utf8 = all->cli->term.utf8;
        unsigned width = 24, done;
        _cleanup_buf_ PnBuf line = {0};
        double rate = 0, share;
        int64_t now = read_now();

        for (unsigned i = 0; i < all->count; i++)
                rate += rate_of(&all->jobs[i], now);
        share = (double)(now - all->jobs[0].started) / 1e9 / all->seconds;
        done = share >= 1 ? width : (unsigned)(share * width);
        pn_buf_puts(&line, "\r");
        if (all->count == 1)
                term_put(&all->cli->term, &line, all->v[all->first].node);
        else
                pn_buf_printf(&line, _("%u devices"), all->count);
        pn_buf_puts(&line, "  ");
        for (unsigned i = 0; i < width; i++)
                pn_buf_puts(&line, i < done ? utf8 ? "█" : "#" : utf8 ? "·" : ".");
        pn_buf_puts(&line, "  ");
        pn_speed_put(&line, rate, utf8 ? say : NULL);
        pn_buf_puts(&line, "      ");
        all->progress_shown = true;
        if (!line.error)
                (void)!write(STDERR_FILENO, line.data, line.len);
}

static void hide_progress(Measurement *all)
{
        if (all->progress_shown)
                (void)!write(STDERR_FILENO, "\r\033[K", 4);
        all->progress_shown = false;
}

static void take_result(Target *target, const ReadJob *job)
{
        target->is_done = true;
        target->bytes = job->bytes;
        target->reads = job->reads;
        target->passes = job->passes;
        target->seconds = (double)(job->ended - job->started) / 1e9;
        target->bytes_per_second = rate_of(job, job->ended);
        target->longest_us = (double)job->longest / 1e3;
        target->error = job->error;
        target->error_at = job->error_at;
        target->is_stuck = job->is_stuck;
        pn_speed_judge(&target->device, target->bytes_per_second, &target->speed);
}

/* Reads from `count` targets at the same time. */
static int read_targets(Measurement *all, unsigned first, unsigned count)
{
        Cli *cli = all->cli;
        ReadPlan *plan = calloc(1, sizeof *plan);
        ReadJob *jobs = calloc(count, sizeof *jobs);
        bool is_stuck = false;
        int r = plan && jobs ? 0 : -ENOMEM;

        if (r == 0) {
                *plan = (ReadPlan){.random = cli->random,
                                   .block = all->block,
                                   .depth = all->depth,
                                   .seconds = all->seconds,
                                   .without_ring = getenv("PNHW_NO_IO_URING") != NULL,
                                   .stop = &interrupted,
                                   .userdata = all};
                if (isatty(STDERR_FILENO) && cli->json == JSON_OFF)
                        plan->progress = show_progress;
                for (unsigned i = 0; i < count; i++) {
                        Target *target = &all->v[first + i];

                        jobs[i].fd = target->fd;
                        jobs[i].size = target->size;
                        jobs[i].sector = target->sector;
                        if (getrandom(&jobs[i].state, sizeof jobs[i].state, 0) < 0 ||
                            !jobs[i].state)
                                jobs[i].state = 88172645463325252u;
                }
                all->jobs = jobs;
                all->first = first;
                all->count = count;
                r = read_devices(jobs, count, plan, &all->engine);
                hide_progress(all);
        }
        for (unsigned i = 0; r == 0 && i < count; i++) {
                take_result(&all->v[first + i], &jobs[i]);
                is_stuck |= jobs[i].is_stuck;
        }
        if (!is_stuck) {
                free(jobs);
                free(plan);
        }
        if (r == -ENOMEM)
                return cli_out_of_memory(cli);
        return r < 0 ? cli_fail(cli, "IO", "cannot read: %s", say_error(-r)) : 0;
}

static int read_all(Measurement *all)
{
        struct sigaction action = {.sa_handler = interrupt}, before;
        int r = 0;

        (void)sigaction(SIGINT, &action, &before);
        if (all->cli->together) {
                r = read_targets(all, 0, all->n);
        } else {
                for (unsigned i = 0; i < all->n && r == 0 && !interrupted; i++)
                        r = read_targets(all, i, 1);
        }
        (void)sigaction(SIGINT, &before, NULL);
        return r;
}

/* What several devices share shows when they are read at once. */
static int judge_together(Measurement *all)
{
        _cleanup_free_ const PnDevice **devices = calloc(all->n, sizeof *devices);
        _cleanup_free_ PnSpeed *speeds = calloc(all->n, sizeof *speeds);

        if (!devices || !speeds)
                return cli_out_of_memory(all->cli);
        for (unsigned i = 0; i < all->n; i++) {
                devices[i] = &all->v[i].device;
                speeds[i] = all->v[i].speed;
        }
        pn_speed_share(devices, speeds, all->n, &all->shared);
        for (unsigned i = 0; i < all->n; i++)
                all->v[i].speed = speeds[i];
        return 0;
}

int cmd_measure(Cli *cli, _unused_ const char *argument)
{
        _cleanup_(measurement_done) Measurement all = {
            .cli = cli,
            .block = cli->random ? RANDOM_BLOCK : SEQUENTIAL_BLOCK,
            .depth = cli->random ? 1 : SEQUENTIAL_DEPTH,
            .seconds = cli->seconds > 0 ? cli->seconds : SECONDS,
        };
        int r = 0;

        if (cli->from)
                return cli_fail(cli, "Usage",
                                "measure is for this machine: --from has no place "
                                "here");
        if (cli->n_words > DEVICES_MAX)
                return cli_fail(cli, "Usage", "measure: more than %u devices", DEVICES_MAX);
        all.v = calloc(cli->n_words, sizeof *all.v);
        if (!all.v)
                return cli_out_of_memory(cli);
        for (unsigned i = 0; i < cli->n_words && r == 0; i++)
                r = add_target(&all, cli->words[i]);
        for (unsigned i = 0; i < all.n && r == 0; i++)
                if (all.block < all.v[i].sector)
                        all.block = all.v[i].sector;
        if (r == 0)
                r = read_all(&all);
        if (r == 0 && cli->together && !cli->random)
                r = judge_together(&all);
        if (r)
                return r;
        all.interrupted = interrupted;
        if (cli->json != JSON_OFF)
                measure_put_json(&all);
        else
                measure_put_page(&all);
        for (unsigned i = 0; i < all.n; i++)
                if (!all.v[i].is_done || all.v[i].error || all.v[i].is_stuck)
                        r = EXIT_FAILURE;
        return interrupted ? EXIT_FAILURE : r;
}
