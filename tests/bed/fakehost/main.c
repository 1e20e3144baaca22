/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fakehost: runs an unmodified program on a fake host. The command line and the order of the
 * steps; what the fake host looks like is mounts.c's, what it answers is supervisor.c's. */

#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "fakehost.h"

static const char usage[] =
    "Usage: fakehost [OPTIONS] TREE -- COMMAND...\n"
    "Run COMMAND, unmodified, on the fake host that TREE describes.\n"
    "\n"
    "  --net                   private network namespace (with only lo)\n"
    "  --links                 --net, with the interfaces of TREE/net-interfaces as taps\n"
    "  --user                  user namespace first; by itself when not root\n"
    "  --uid N                 run COMMAND as this user\n"
    "  --script FILE           NVMe answers (default TREE/nvme-script); \"none\" for none\n"
    "  --ethtool-script FILE   SIOCETHTOOL answers (default TREE/ethtool-script)\n"
    "  --log FILE              append one line for each command that a device got\n"
    "  --quiet                 no summary of unexpected commands on stderr\n"
    "  --verbose               say what of TREE is shown to opens only, or not at all\n"
    "\n"
    "Exit status: COMMAND's; 77 where this machine refuses what is needed; 125 on an error\n"
    "of the set-up; 127 when COMMAND cannot be executed; 128+N when signal N ended it.\n";

static void complain(const char *format, va_list args)
{
        fputs("fakehost: ", stderr);
        (void)vfprintf(stderr, format, args);
}

void fh_fail(int status, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        complain(format, args);
        va_end(args);
        fputc('\n', stderr);
        exit(status);
}

void fh_fail_errno(int status, const char *format, ...)
{
        int saved = errno;
        va_list args;

        va_start(args, format);
        complain(format, args);
        va_end(args);
        fprintf(stderr, ": %s\n", strerror(saved));
        exit(status);
}

static uid_t parse_uid(const char *text)
{
        char *end;
        unsigned long value;

        errno = 0;
        value = strtoul(text, &end, 10);
        if (errno || end == text || *end || value >= FH_UID_UNSET)
                fh_fail(FH_EXIT_SETUP, "--uid wants a number, not \"%s\"", text);
        return (uid_t)value;
}

static FILE *open_log(const char *path)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        FILE *log = fd < 0 ? NULL : fdopen(fd, "a");

        if (!log)
                fh_fail_errno(FH_EXIT_SETUP, "%s", path);
        /* A test may look at the log while the command runs. */
        (void)setvbuf(log, NULL, _IOLBF, 0);
        return log;
}

static void open_tree_directory(FhOptions *options)
{
        struct stat st;
        int fd = open(options->tree, O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0)
                fh_fail_errno(FH_EXIT_SETUP, "%s", options->tree);
        if (fstatat(fd, "sys", &st, 0) < 0 || !S_ISDIR(st.st_mode))
                fh_fail(FH_EXIT_SETUP, "%s has no sys folder", options->tree);
        options->tree_fd = fd;
        (void)snprintf(options->tree_path, sizeof options->tree_path, "/proc/self/fd/%d", fd);
}

/* Reads a script given by the caller, or else the tree's own. */
static void read_script(FhScript *script, const FhOptions *options, const char *given,
                        const char *name)
{
        char path[4096];

        if (pn_streq(given, "none"))
                return;
        if (given && access(given, R_OK) < 0)
                fh_fail_errno(FH_EXIT_SETUP, "%s", given);
        (void)snprintf(path, sizeof path, "%s/%s", options->tree_path, name);
        fh_script_read(script, given ? given : path, options->tree_path);
}

/* The tree's kernel release, for uname(2); NULL when the tree has none. */
static char *read_release(const FhOptions *options)
{
        char path[4096], line[128];
        FILE *file;

        (void)snprintf(path, sizeof path, "%s/proc/sys/kernel/osrelease", options->tree_path);
        file = fopen(path, "re");
        if (!file)
                return NULL;
        if (!fgets(line, sizeof line, file))
                line[0] = '\0';
        (void)fclose(file);
        line[strcspn(line, "\n")] = '\0';
        return line[0] ? strdup(line) : NULL;
}

int main(int argc, char **argv)
{
        enum { NET = 256, LINKS, USER, UID, SCRIPT, ETHTOOL_SCRIPT, LOG, QUIET, VERBOSE, HELP };
        static const struct option long_options[] = {
            {"net", no_argument, NULL, NET},
            {"links", no_argument, NULL, LINKS},
            {"user", no_argument, NULL, USER},
            {"uid", required_argument, NULL, UID},
            {"script", required_argument, NULL, SCRIPT},
            {"ethtool-script", required_argument, NULL, ETHTOOL_SCRIPT},
            {"log", required_argument, NULL, LOG},
            {"quiet", no_argument, NULL, QUIET},
            {"verbose", no_argument, NULL, VERBOSE},
            {"help", no_argument, NULL, HELP},
            {NULL, 0, NULL, 0},
        };
        FhOptions options = {.tree_fd = -1, .uid = FH_UID_UNSET};
        FhSupervisor supervisor = {.options = &options};
        const char *script = NULL, *ethtool_script = NULL;
        int option, status;

        /* "+": options after TREE belong to the command. */
        while ((option = getopt_long(argc, argv, "+", long_options, NULL)) != -1) {
                switch (option) {
                case NET:
                        options.net = true;
                        break;
                case LINKS:
                        options.net = options.links = true;
                        break;
                case USER:
                        options.user = true;
                        break;
                case UID:
                        options.uid = parse_uid(optarg);
                        break;
                case SCRIPT:
                        script = optarg;
                        break;
                case ETHTOOL_SCRIPT:
                        ethtool_script = optarg;
                        break;
                case LOG:
                        options.log = open_log(optarg);
                        break;
                case QUIET:
                        options.quiet = true;
                        break;
                case VERBOSE:
                        options.verbose = true;
                        break;
                case HELP:
                        fputs(usage, stdout);
                        return 0;
                default:
                        fputs(usage, stderr);
                        return FH_EXIT_SETUP;
                }
        }
        argv += optind;
        if (argv[0]) {
                options.tree = *argv++;
                if (pn_streq(argv[0], "--"))
                        argv++;
        }
        if (!options.tree || !argv[0]) {
                fputs(usage, stderr);
                return FH_EXIT_SETUP;
        }

        open_tree_directory(&options);
        read_script(&supervisor.nvme, &options, script, "nvme-script");
        read_script(&supervisor.ethtool, &options, ethtool_script, "ethtool-script");
        supervisor.release = read_release(&options);

        fh_enter_namespaces(&options);
        fh_build_host(&options);
        if (options.links)
                fh_make_links(&options);
        status = fh_supervise(&supervisor, argv);
        fh_script_free(&supervisor.nvme);
        fh_script_free(&supervisor.ethtool);
        free(supervisor.release);
        fh_missing_free(&options.missing);
        if (options.log)
                (void)fclose(options.log);
        return status;
}
