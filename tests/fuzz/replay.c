/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a fuzz target over stored inputs, so that a build without libFuzzer, too, tests with them:
 * each file as it is, cut at each length, and with single bytes changed. Knows no target. */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Cuts of a file are as many as its bytes up to here, then evenly spread: the work is quadratic. */
#define CUTS_MAX    4096u
#define CHANGES     256u
#define FILE_MAX    (1u << 20)
#define RANDOM_SEED UINT64_C(0x9e3779b97f4a7c15)

static size_t inputs_run;

/* xorshift64: the same on every machine and in every run. */
static uint64_t random_next(void)
{
        static uint64_t state = RANDOM_SEED;

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
}

/* Hands over a copy of the exact size, so that a sanitizer sees the first byte too far. */
static int run(const uint8_t *bytes, size_t n)
{
        _cleanup_free_ uint8_t *exact = malloc(n > 0 ? n : 1);

        if (!exact)
                return -ENOMEM;
        if (n > 0)
                memcpy(exact, bytes, n);
        (void)LLVMFuzzerTestOneInput(exact, n);
        inputs_run++;
        return 0;
}

static int run_variants(uint8_t *bytes, size_t n)
{
        size_t step = n / CUTS_MAX + 1;
        int r = run(bytes, n);

        for (size_t cut = 0; cut < n && r >= 0; cut += step)
                r = run(bytes, cut);
        for (unsigned i = 0; i < CHANGES && n > 0 && r >= 0; i++) {
                size_t at = random_next() % n;
                uint8_t change = (uint8_t)(1 + random_next() % 255);

                bytes[at] ^= change;
                r = run(bytes, n);
                bytes[at] ^= change;
        }
        return r;
}

static int run_file(const char *path)
{
        _cleanup_free_ uint8_t *bytes = malloc(FILE_MAX);
        FILE *file;
        size_t n;
        int r;

        if (!bytes)
                return -ENOMEM;
        file = fopen(path, "re");
        if (!file)
                return -errno;
        n = fread(bytes, 1, FILE_MAX, file);
        r = ferror(file) ? -EIO : 0;
        (void)fclose(file);
        return r < 0 ? r : run_variants(bytes, n);
}

static int visible(const struct dirent *entry)
{
        return entry->d_name[0] != '.';
}

/* The files of a directory in the order of their names, without its subdirectories. */
static int run_directory(const char *path)
{
        struct dirent **entries;
        int n = scandir(path, &entries, visible, alphasort), r = 0;

        if (n < 0)
                return -errno;
        for (int i = 0; i < n; i++) {
                _cleanup_free_ char *name = NULL;
                struct stat status;

                if (r >= 0 && asprintf(&name, "%s/%s", path, entries[i]->d_name) < 0) {
                        name = NULL;
                        r = -ENOMEM;
                }
                free(entries[i]);
                if (r < 0)
                        continue;
                if (stat(name, &status) < 0)
                        r = -errno;
                else if (S_ISREG(status.st_mode))
                        r = run_file(name);
        }
        free(entries);
        return r;
}

int main(int argc, char **argv)
{
        for (int i = 1; i < argc; i++) {
                struct stat status;
                int r;

                if (stat(argv[i], &status) < 0)
                        r = -errno;
                else
                        r = S_ISDIR(status.st_mode) ? run_directory(argv[i]) : run_file(argv[i]);
                if (r < 0) {
                        fprintf(stderr, "%s: %s\n", argv[i], strerror(-r));
                        return 1;
                }
        }
        printf("%zu inputs run\n", inputs_run);
        return inputs_run > 0 ? 0 : 1;
}
