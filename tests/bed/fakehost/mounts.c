/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The private namespaces and what the command finds at its paths; knows nothing of answers to
 * system calls. Everything is mounted in a private mount namespace, which ends with its last
 * process, so nothing has to be undone. */

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "fakehost.h"

/* The parts of /sys that are replaced, by an empty folder where the tree has none, so that no
 * hardware of the real machine shows through. /sys itself stays the real sysfs: libsensors and
 * others ask for the file system type of "/sys". */
static const char *const replaced_in_sys[] = {"block",   "bus",      "class", "dev",
                                              "devices", "firmware", "module"};
/* What of the real /dev stays reachable. */
static const char *const kept_in_dev[] = {"fuse", "full",    "loop-control", "mqueue", "net",
                                          "null", "ptmx",    "pts",          "random", "shm",
                                          "tty",  "urandom", "zero"};

/* Folders that a package or systemd would have made: writable by the command. */
static const char *const made_in_run[] = {"lock", "pnhw", "pnhw-probe", "udev"};
static const char *const made_in_var_lib[] = {"dpkg", "pnhw"};

typedef char Path[PATH_MAX];

static void path_print(Path path, const char *format, ...) _printf_(2, 3);
static void path_print(Path path, const char *format, ...)
{
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(path, PATH_MAX, format, args);
        va_end(args);
        if (n < 0 || n >= PATH_MAX)
                fh_fail(FH_EXIT_SETUP, "a path is too long");
}

static bool exists(const char *path)
{
        return access(path, F_OK) == 0;
}

static bool is_directory(const char *path)
{
        struct stat st;

        return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void bind_mount(const char *from, const char *to)
{
        if (mount(from, to, NULL, MS_BIND | MS_REC, NULL) < 0)
                fh_fail_errno(FH_EXIT_SETUP, "cannot bind %s over %s", from, to);
}

static void mount_tmpfs(const char *at)
{
        if (mount("tmpfs", at, "tmpfs", 0, "mode=755") < 0)
                fh_fail_errno(FH_EXIT_SKIP,
                              "this machine refuses a tmpfs in a private mount namespace (%s)", at);
}

static void make_directory(const char *path)
{
        if (mkdir(path, 0755) < 0 && errno != EEXIST)
                fh_fail_errno(FH_EXIT_SETUP, "%s", path);
}

static void make_file(const char *path, mode_t mode)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);

        if (fd < 0)
                fh_fail_errno(FH_EXIT_SETUP, "%s", path);
        pn_close(fd);
}

/* A path to a folder that works even when something is mounted over it later. */
static int open_path(const char *path)
{
        return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Makes TO, of the same type as FROM, and binds FROM over it. A symbolic link is copied. */
static void graft(const char *from, const char *to)
{
        struct stat st;

        if (lstat(from, &st) < 0)
                return;
        if (S_ISLNK(st.st_mode)) {
                Path target;
                ssize_t n = readlink(from, target, sizeof target - 1);

                if (n < 0)
                        return;
                target[n] = '\0';
                if (symlink(target, to) < 0 && errno != EEXIST)
                        fh_fail_errno(FH_EXIT_SETUP, "%s", to);
                return;
        }
        if (S_ISDIR(st.st_mode))
                make_directory(to);
        else
                make_file(to, 0644);
        bind_mount(from, to);
}

/* Calls graft() for each entry of one folder that the other does not have yet. */
static void graft_entries(const char *from, const char *to)
{
        DIR *directory = opendir(from);
        const struct dirent *entry;

        if (!directory)
                return;
        while ((entry = readdir(directory))) {
                Path source, target;
                struct stat st;

                if (pn_streq(entry->d_name, ".") || pn_streq(entry->d_name, ".."))
                        continue;
                path_print(source, "%s/%s", from, entry->d_name);
                path_print(target, "%s/%s", to, entry->d_name);
                if (lstat(target, &st) < 0)
                        graft(source, target);
        }
        (void)closedir(directory);
}

/* ---- namespaces ---- */

static int write_text(const char *path, const char *text)
{
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

        if (fd < 0 || write(fd, text, strlen(text)) < 0)
                return -errno;
        return 0;
}

/* The command's user is the caller, who may have another number inside. */
static void map_caller(uid_t outside_uid, gid_t outside_gid, uid_t inside)
{
        char map[64];

        (void)write_text("/proc/self/setgroups", "deny");
        (void)snprintf(map, sizeof map, "%u %u 1", inside, outside_uid);
        if (write_text("/proc/self/uid_map", map) < 0)
                fh_fail_errno(FH_EXIT_SKIP, "this machine refuses the user namespace's uid map");
        (void)snprintf(map, sizeof map, "%u %u 1", inside, outside_gid);
        if (write_text("/proc/self/gid_map", map) < 0)
                fh_fail_errno(FH_EXIT_SKIP, "this machine refuses the user namespace's gid map");
}

void fh_enter_namespaces(FhOptions *options)
{
        int flags = CLONE_NEWNS | CLONE_NEWUTS | (options->net ? CLONE_NEWNET : 0);
        _cleanup_close_ int tree_fd = -1;
        uid_t uid = geteuid();
        gid_t gid = getegid();

        if (uid != 0)
                options->user = true;
        /* Root in a container often lacks CAP_SYS_ADMIN but may have a user namespace. */
        if (!options->user && unshare(flags) < 0) {
                if (errno != EPERM)
                        fh_fail_errno(FH_EXIT_SKIP,
                                      "this machine refuses private mount, host name%s namespaces",
                                      options->net ? " and network" : "");
                options->user = true;
        }
        if (options->user) {
                if (unshare(CLONE_NEWUSER | flags) < 0)
                        fh_fail_errno(FH_EXIT_SKIP, "this machine refuses user namespaces");
                map_caller(uid, gid, options->uid == FH_UID_UNSET ? 0 : options->uid);
        }
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                fh_fail_errno(FH_EXIT_SKIP, "this machine refuses private mounts");

        /* A descriptor keeps the mount namespace that it was opened in, and nothing can be bound
         * from another one. */
        tree_fd = open_path(options->tree);
        if (tree_fd < 0 || dup3(tree_fd, options->tree_fd, O_CLOEXEC) < 0)
                fh_fail_errno(FH_EXIT_SETUP, "%s", options->tree);
}

/* ---- folders that the tree adds to ---- */

static void make_writable_directories(const FhOptions *options, const char *at,
                                      const char *const *names, size_t n_names)
{
        uid_t owner = options->uid == FH_UID_UNSET ? 0 : options->uid;

        for (size_t i = 0; i < n_names; i++) {
                Path path;

                path_print(path, "%s/%s", at, names[i]);
                if (exists(path))
                        continue;
                make_directory(path);
                if (chown(path, owner, owner) < 0)
                        fh_fail_errno(FH_EXIT_SETUP, "%s", path);
        }
}

/* Covers a folder with a tmpfs that shows the tree's entries and, for all other names, the real
 * ones: so entries can appear that the real folder does not have. */
static void overlay(const FhOptions *options, const char *at, const char *const *made,
                    size_t n_made)
{
        _cleanup_close_ int real = open_path(at);
        Path path;

        if (real < 0)
                return;
        mount_tmpfs(at);
        path_print(path, "%s%s", options->tree_path, at);
        graft_entries(path, at);
        make_writable_directories(options, at, made, n_made);
        path_print(path, "/proc/self/fd/%d", real);
        graft_entries(path, at);
}

/* ---- /sys ---- */

static void build_sys(const FhOptions *options, const char *empty)
{
        Path from, to;

        for (size_t i = 0; i < PN_ELEMENTS(replaced_in_sys); i++) {
                path_print(from, "%s/sys/%s", options->tree_path, replaced_in_sys[i]);
                path_print(to, "/sys/%s", replaced_in_sys[i]);
                if (is_directory(to))
                        bind_mount(is_directory(from) ? from : empty, to);
                else if (options->verbose)
                        fprintf(stderr, "fakehost: this kernel has no %s\n", to);
        }
        /* This one holds the control groups, so the tree's entries are added to it. */
        path_print(from, "%s/sys/fs", options->tree_path);
        if (is_directory(from))
                overlay(options, "/sys/fs", NULL, 0);
}

/* ---- /proc ---- */

/* Binds each file below FROM over the same file below TO. A file that the real procfs does not have
 * cannot be made there: open.c opens it. `depth` bounds the folders: procfs's own are at most five
 * deep. */
static void bind_files(FhOptions *options, const char *from, const char *to, int depth)
{
        DIR *directory = opendir(from);
        const struct dirent *entry;

        if (!directory || depth == 0) {
                if (directory)
                        (void)closedir(directory);
                return;
        }
        while ((entry = readdir(directory))) {
                Path source, target;

                if (entry->d_name[0] == '.')
                        continue;
                path_print(source, "%s/%s", from, entry->d_name);
                path_print(target, "%s/%s", to, entry->d_name);
                if (is_directory(source))
                        bind_files(options, source, target, depth - 1);
                else if (exists(target))
                        bind_mount(source, target);
                else {
                        fh_missing_add(&options->missing, target);
                        if (options->verbose)
                                fprintf(stderr, "fakehost: this kernel has no %s\n", target);
                }
        }
        (void)closedir(directory);
}

static void build_proc(FhOptions *options)
{
        Path path;
        char name[65] = "";
        FILE *file;

        /* The host name is the UTS namespace's; procfs and uname(2) both show it. */
        path_print(path, "%s/proc/sys/kernel/hostname", options->tree_path);
        file = fopen(path, "re");
        if (file) {
                if (!fgets(name, sizeof name, file))
                        name[0] = '\0';
                (void)fclose(file);
                name[strcspn(name, "\n")] = '\0';
                if (sethostname(name, strlen(name)) < 0)
                        fh_fail_errno(FH_EXIT_SETUP, "cannot set the host name \"%s\"", name);
        }
        path_print(path, "%s/proc", options->tree_path);
        bind_files(options, path, "/proc", 6);
}

/* ---- /dev ---- */

/* A node of TREE/dev is a text file "char MODE" or "block MODE" (octal), since an ordinary user
 * cannot make real ones. */
static bool read_node(const char *path, bool *ret_block, mode_t *ret_mode)
{
        char kind[8], line[32] = "";
        unsigned mode;
        FILE *file = fopen(path, "re");
        bool ok;

        if (!file)
                return false;
        ok = fgets(line, sizeof line, file) && sscanf(line, "%7s %o", kind, &mode) == 2 &&
             (pn_streq(kind, "char") || pn_streq(kind, "block"));
        (void)fclose(file);
        if (!ok)
                fh_fail(FH_EXIT_SETUP, "%s must say \"char MODE\" or \"block MODE\"", path);
        *ret_block = pn_streq(kind, "block");
        *ret_mode = mode & 0777;
        return true;
}

/* A block device that can be opened and holds nothing: an unattached loop device. */
static dev_t find_empty_block_device(void)
{
        for (unsigned minor_number = 0; minor_number < 256; minor_number++) {
                Path path;

                path_print(path, "/sys/block/loop%u/loop/backing_file", minor_number);
                if (!exists(path))
                        return makedev(7, minor_number);
        }
        return makedev(7, 255);
}

static void make_node(const FhOptions *options, const char *description, const char *to,
                      dev_t block)
{
        bool is_block;
        mode_t mode;

        if (!read_node(description, &is_block, &mode))
                return;
        /* A clone of /dev/null is a character device whose ioctls the supervisor answers. */
        if (!options->user &&
            mknod(to, (is_block ? S_IFBLK : S_IFCHR) | mode, is_block ? block : makedev(1, 3)) == 0)
                return;
        /* A user namespace, our own or a container's, allows no nodes; the real null can be bound.
         */
        if (!is_block) {
                make_file(to, 0600);
                bind_mount("/dev/null", to);
        } else if (options->verbose)
                fprintf(stderr, "fakehost: this machine refuses the block node %s\n", to);
}

/* Nodes, symbolic links, and folders of them ("mapper", "disk/by-id"). */
static void build_dev_nodes(const FhOptions *options, const char *from, const char *to, dev_t block,
                            int depth)
{
        DIR *directory = depth > 0 ? opendir(from) : NULL;
        const struct dirent *entry;

        if (!directory)
                return;
        while ((entry = readdir(directory))) {
                Path source, target;
                struct stat st;

                if (entry->d_name[0] == '.')
                        continue;
                path_print(source, "%s/%s", from, entry->d_name);
                path_print(target, "%s/%s", to, entry->d_name);
                if (lstat(source, &st) < 0)
                        fh_fail_errno(FH_EXIT_SETUP, "%s", source);
                if (S_ISLNK(st.st_mode))
                        graft(source, target);
                else if (S_ISDIR(st.st_mode)) {
                        make_directory(target);
                        build_dev_nodes(options, source, target, block, depth - 1);
                } else
                        make_node(options, source, target, block);
        }
        (void)closedir(directory);
}

static void build_dev(const FhOptions *options, dev_t block)
{
        static const struct {
                const char *name, *target;
        } links[] = {
            {"/dev/fd", "/proc/self/fd"},
            {"/dev/stdin", "/proc/self/fd/0"},
            {"/dev/stdout", "/proc/self/fd/1"},
            {"/dev/stderr", "/proc/self/fd/2"},
        };
        _cleanup_close_ int real = open_path("/dev");
        Path tree;

        if (real < 0)
                fh_fail_errno(FH_EXIT_SETUP, "/dev");
        mount_tmpfs("/dev");
        for (size_t i = 0; i < PN_ELEMENTS(kept_in_dev); i++) {
                Path from, to;

                path_print(from, "/proc/self/fd/%d/%s", real, kept_in_dev[i]);
                path_print(to, "/dev/%s", kept_in_dev[i]);
                graft(from, to);
        }
        for (size_t i = 0; i < PN_ELEMENTS(links); i++)
                if (symlink(links[i].target, links[i].name) < 0)
                        fh_fail_errno(FH_EXIT_SETUP, "%s", links[i].name);
        path_print(tree, "%s/dev", options->tree_path);
        build_dev_nodes(options, tree, "/dev", block, 4);
}

/* ---- /run, /var/lib, /etc ---- */

/* /run is fresh: nothing of the real one can be reached, so neither can its journal or sockets. */
static void build_run(const FhOptions *options)
{
        Path path;

        path_print(path, "%s/run", options->tree_path);
        mount_tmpfs("/run");
        graft_entries(path, "/run");
        make_writable_directories(options, "/run", made_in_run, PN_ELEMENTS(made_in_run));
}

static void build_var_lib(const FhOptions *options)
{
        overlay(options, "/var/lib", made_in_var_lib, PN_ELEMENTS(made_in_var_lib));
}

/* Bound file by file, through symbolic links (/etc/os-release is one); the folder is covered only
 * when the tree has a file that the machine lacks. */
static void build_etc(FhOptions *options)
{
        Path path;
        DIR *directory;
        const struct dirent *entry;
        bool missing = false;

        path_print(path, "%s/etc", options->tree_path);
        directory = opendir(path);
        if (!directory)
                return;
        while ((entry = readdir(directory))) {
                path_print(path, "/etc/%s", entry->d_name);
                missing = missing || !exists(path);
        }
        (void)closedir(directory);
        if (missing)
                overlay(options, "/etc", NULL, 0);
        else {
                path_print(path, "%s/etc", options->tree_path);
                bind_files(options, path, "/etc", 2);
        }
}

/* ---- what an unprivileged command sees ---- */

/* Reads of config space by others than root end after 64 bytes; a plain file cannot do that. */
static void shorten_config(const char *device, const char *scratch, unsigned number)
{
        _cleanup_close_ int fd = -1, copy = -1;
        Path path, short_path;
        uint8_t header[64];

        path_print(path, "%s/config", device);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || read(fd, header, sizeof header) != (ssize_t)sizeof header)
                return;
        path_print(short_path, "%s/config%u", scratch, number);
        copy = open(short_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (copy < 0 || write(copy, header, sizeof header) != (ssize_t)sizeof header)
                fh_fail_errno(FH_EXIT_SETUP, "%s", short_path);
        bind_mount(short_path, path);
}

/* In a user namespace the command owns the tree's files, so their modes do not stop it. */
static void hide_root_only_files(const char *folder, const char *unreadable)
{
        DIR *directory = opendir(folder);
        const struct dirent *entry;

        if (!directory)
                return;
        while ((entry = readdir(directory))) {
                Path path;
                struct stat st;

                path_print(path, "%s/%s", folder, entry->d_name);
                if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0444) == 0400)
                        bind_mount(unreadable, path);
        }
        (void)closedir(directory);
}

static void lower_privileges(const char *scratch)
{
        DIR *directory = opendir("/sys/bus/pci/devices");
        const struct dirent *entry;
        unsigned number = 0;
        Path path;

        while (directory && (entry = readdir(directory))) {
                if (entry->d_name[0] == '.')
                        continue;
                path_print(path, "/sys/bus/pci/devices/%s", entry->d_name);
                shorten_config(path, scratch, number++);
        }
        if (directory)
                (void)closedir(directory);

        path_print(path, "%s/unreadable", scratch);
        make_file(path, 0);
        hide_root_only_files("/sys/class/dmi/id", path);
        hide_root_only_files("/sys/firmware/dmi/tables", path);
}

void fh_build_host(FhOptions *options)
{
        /* Both are needed before the folders that they are looked up in are covered. */
        dev_t block = find_empty_block_device();
        _cleanup_close_ int scratch = -1;
        mode_t caller_umask = umask(0);
        Path scratch_path, empty;

        /* Files that the tree does not have are made on a tmpfs of their own, which stays reachable
         * through its descriptor after /run covers it. */
        mount_tmpfs("/run");
        scratch = open_path("/run");
        if (scratch < 0)
                fh_fail_errno(FH_EXIT_SETUP, "/run");
        path_print(scratch_path, "/proc/self/fd/%d", scratch);
        path_print(empty, "%s/empty", scratch_path);
        make_directory(empty);

        build_proc(options);
        build_sys(options, empty);
        build_dev(options, block);
        build_etc(options);
        build_var_lib(options);
        build_run(options);
        if (options->uid != FH_UID_UNSET && options->uid != 0)
                lower_privileges(scratch_path);
        (void)umask(caller_umask);
}
