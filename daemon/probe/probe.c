/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pnhw-probe: reads hardware, judges nothing, prints what it found and exits. Knows sources by name
 * only. */
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "source.h"
#include "walk.h"

/* A request is one line of so many bytes at most, its newline not counted, within this time. */
#define REQUEST_MAX        64
#define REQUEST_TIMEOUT_MS 5000

static const struct {
        const char *name;
        PnSourceFunction *run;
        const char *doc;
} sources[] = {
    {"host", pn_source_host, "the machine, its board, processors, memory and software"},
    {"pci", pn_source_pci, "PCI functions and their links"},
    {"nvme", pn_source_nvme, "NVMe controllers and their namespaces"},
    {"block", pn_source_block, "other disks, and what lives on disks and namespaces"},
    {"net", pn_source_net, "network ports, bonds, bridges and VLANs"},
    {"module", pn_source_module, "what is plugged into network ports"},
    {"health", pn_source_health,
     "what NVMe drives say of themselves: as root, a few commands each"},
    {"sensors", pn_source_sensors, "temperatures, fans and voltages by libsensors"},
};

#define N_SOURCES PN_ELEMENTS(sources)

/* Sets the flag of a source. The name need not be terminated. -EINVAL if there is none such. */
static int wish(const char *name, size_t n, bool wanted[static N_SOURCES])
{
        for (size_t i = 0; i < N_SOURCES; i++)
                if (strlen(sources[i].name) == n && memcmp(sources[i].name, name, n) == 0) {
                        wanted[i] = true;
                        return 0;
                }
        return -EINVAL;
}

/* Reads the request: source names from the table with single blanks between, and a newline. Every
 * other byte, and every byte after that line, makes it invalid: this is all that a privileged probe
 * ever accepts. */
static int read_request(bool wanted[static N_SOURCES])
{
        char line[REQUEST_MAX + 1];
        size_t n = 0;

        while (n == 0 || line[n - 1] != '\n') {
                struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
                ssize_t got;

                if (n == sizeof line || poll(&input, 1, REQUEST_TIMEOUT_MS) <= 0)
                        return -EINVAL;
                got = read(STDIN_FILENO, line + n, sizeof line - n);
                if (got <= 0)
                        return -EINVAL;
                n += (size_t)got;
                if (memchr(line, '\n', n - 1))
                        return -EINVAL;
        }
        for (size_t start = 0; start < n;) {
                size_t length = 0;

                while (line[start + length] != ' ' && line[start + length] != '\n')
                        length++;
                if (wish(line + start, length, wanted) < 0)
                        return -EINVAL;
                start += length + 1;
        }
        return 0;
}

static int64_t now_ms(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC, &t);
        return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int run(PnEmit *emit, const bool wanted[static N_SOURCES])
{
        for (size_t i = 0; i < N_SOURCES && emit->error == 0; i++) {
                PnReport report = {0};
                int64_t start = now_ms();
                int r;

                if (!wanted[i])
                        continue;
                r = sources[i].run(emit, &report);
                if (r < 0)
                        return r;
                pn_emit_end(emit, sources[i].name, &report, now_ms() - start);
        }
        return pn_emit_finish(emit);
}

static void print_help(void)
{
        printf("pnhw-probe [OPTION…] [SOURCE…]\n\n"
               "Reads this machine's hardware without disturbing it and prints one JSON document.\n"
               "Without SOURCE it reads all. What it could not read is in the document, with the\n"
               "reason; more can be read as root.\n\nSources:\n");
        for (size_t i = 0; i < N_SOURCES; i++)
                printf("  %-10s%s\n", sources[i].name, sources[i].doc);
        printf("\nOptions:\n"
               "  --lines   print each object as a line as soon as it is read\n"
               "  --request read the sources' names as one line from standard input; with --lines\n"
               "  --help    print this\n"
               "  --version print the version\n");
}

static int unknown(const char *what, const char *word)
{
        fprintf(stderr, "pnhw-probe: there is no %s \"%s\".\nSources:", what, word);
        for (size_t i = 0; i < N_SOURCES; i++)
                fprintf(stderr, " %s", sources[i].name);
        fprintf(stderr, "\nOptions: --lines --request --help --version\n");
        return 2;
}

/* A thread that hangs in the kernel keeps this process and its descriptors: it must hold back
 * neither whoever waits for the end of our output, which may be a socket that is standard input as
 * well, nor our exit. Nothing is left to clean up for the others. */
static _Noreturn void finish(int status)
{
        if (fflush(stdout) != 0 && status == 0)
                status = 1;
        if (pn_walk_any_abandoned()) {
                for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
                        (void)close(fd);
                _exit(status);
        }
        exit(status);
}

int main(int argc, char **argv)
{
        static const struct option options[] = {{"lines", no_argument, NULL, 'l'},
                                                {"request", no_argument, NULL, 'r'},
                                                {"help", no_argument, NULL, 'h'},
                                                {"version", no_argument, NULL, 'v'},
                                                {0}};
        bool wanted[N_SOURCES] = {0}, request = false;
        PnEmit emit = {0};
        int option, r;

        opterr = 0;
        while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
                switch (option) {
                case 'l':
                        emit.lines = true;
                        break;
                case 'r':
                        request = emit.lines = true;
                        break;
                case 'h':
                        print_help();
                        finish(0);
                case 'v':
                        printf("pnhw-probe %s\n", PN_VERSION);
                        finish(0);
                default:
                        return unknown("option", argv[optind - (*argv[optind - 1] == '-')]);
                }
        if (request && optind < argc) {
                fprintf(stderr, "pnhw-probe: --request takes its sources from standard input, so "
                                "none can be named here.\n");
                return 2;
        }
        if (request && read_request(wanted) < 0) {
                fprintf(stderr,
                        "pnhw-probe: the request is not one line of at most %d bytes with "
                        "names of sources.\n",
                        REQUEST_MAX);
                return 1;
        }
        for (int i = optind; i < argc; i++)
                if (wish(argv[i], strlen(argv[i]), wanted) < 0)
                        return unknown("source", argv[i]);
        if (!request && optind == argc)
                for (size_t i = 0; i < N_SOURCES; i++)
                        wanted[i] = true;

        /* Whoever stops reading ends us by an error of write(), not by a signal. */
        (void)signal(SIGPIPE, SIG_IGN);
        r = run(&emit, wanted);
        if (r < 0)
                fprintf(stderr, "pnhw-probe: cannot produce a document: %s\n", strerror(-r));
        if (!pn_walk_any_abandoned())
                pn_emit_done(&emit);
        finish(r < 0 ? 1 : 0);
}
