/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs two programs in turn, many times, and prints what each took as a whole process, from its
 * start to its end, and its page faults; knows nothing of what they do.
 *
 * In turn, so that whatever else the machine does while it is measured befalls both. And the tenth
 * part of the runs that were fastest is told beside the median: what disturbs a run only ever makes
 * it longer, and the longer one of two programs is disturbed more often. */

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base.h"

#define WARM_UP 20

static double now_us(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare_times(const void *a, const void *b)
{
        const double *x = a, *y = b;

        return (*x > *y) - (*x < *y);
}

/* Microseconds, or a negative number if the program could not be run, or failed. */
static double run(char **argv, const posix_spawn_file_actions_t *actions, long *ret_faults)
{
        double start = now_us(), took;
        struct rusage usage;
        int status;
        pid_t pid;

        if (posix_spawn(&pid, argv[0], actions, NULL, argv, environ) != 0)
                return -1;
        if (wait4(pid, &status, 0, &usage) != pid)
                return -1;
        took = now_us() - start;
        *ret_faults = usage.ru_minflt + usage.ru_majflt;
        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? took : -1;
}

int main(int argc, char **argv)
{
        posix_spawn_file_actions_t actions;
        _cleanup_free_ double *times = NULL;
        char **commands[2] = {argv + 2, NULL};
        long faults[2] = {0};
        long n = argc > 2 ? strtol(argv[1], NULL, 10) : 0;

        for (int i = 3; i < argc - 1 && !commands[1]; i++)
                if (strcmp(argv[i], "--") == 0) {
                        argv[i] = NULL;
                        commands[1] = argv + i + 1;
                }
        if (n < 10 || n > 1000000 || !commands[1]) {
                (void)fprintf(stderr, "usage: %s COUNT PROGRAM [WORD…] -- PROGRAM [WORD…]\n",
                              argv[0]);
                return 2;
        }
        times = calloc((size_t)n * 2, sizeof *times);
        if (!times || posix_spawn_file_actions_init(&actions) != 0 ||
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) !=
                0)
                return 1;
        for (long i = -WARM_UP; i < n; i++)
                for (long which = 0; which < 2; which++) {
                        double took = run(commands[which], &actions, &faults[which]);

                        if (took < 0) {
                                (void)fprintf(stderr, "%s failed\n", commands[which][0]);
                                return 1;
                        }
                        if (i >= 0)
                                times[which * n + i] = took;
                }
        (void)posix_spawn_file_actions_destroy(&actions);
        for (long which = 0; which < 2; which++) {
                double *own = times + which * n;

                qsort(own, (size_t)n, sizeof *own, compare_times);
                printf("%.1f %.1f %ld\n", own[n / 10], own[n / 2], faults[which]);
        }
        return 0;
}
