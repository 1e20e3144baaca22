/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps the memory in a file over restarts. */

#include "state.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "log.h"

#define NAME     "state.json"
#define NEW_NAME ".state.json.new." /* and the writer's pid */

/* How long the end waits for the last write: systemd would wait longer, an administrator not. */
#define LAST_WAIT_MS 2000

/* The only descriptor of the writer beside the standard ones. */
#define FOLDER_FD (STDERR_FILENO + 1)

struct PnStateFile {
        sd_event *event;
        char *path; /* of the folder, for messages */
        int folder;
        pid_t writer; /* 0: none */
        sd_event_source *on_written;
        bool again;             /* something changed since the writer started */
        bool unsaved;           /* the last write failed */
        int logged;             /* errno that the journal has, 0 for none */
        const PnMemory *memory; /* to write again */
};

/* ---- Reading ---- */

static int read_text(int folder, char **ret, size_t *ret_n)
{
        _cleanup_close_ int fd =
            openat(folder, NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        _cleanup_free_ char *text = NULL;
        struct stat st;
        size_t n = 0;

        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode))
                return -EINVAL;
        if ((uintmax_t)st.st_size > PN_MEMORY_SIZE_MAX)
                return -EFBIG;
        text = malloc((size_t)st.st_size + 1);
        if (!text)
                return -ENOMEM;
        while (n < (size_t)st.st_size) {
                ssize_t got = read(fd, text + n, (size_t)st.st_size - n);

                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return -errno;
                if (got == 0)
                        break;
                n += (size_t)got;
        }
        text[n] = '\0';
        *ret = PN_STEAL(text);
        *ret_n = n;
        return 0;
}

/* Nothing is overwritten that somebody may still want to look at. */
static void set_aside(const PnStateFile *state, const char *why)
{
        char name[64];
        struct stat st;

        for (unsigned i = 1; i < 10; i++) {
                (void)snprintf(name, sizeof name, NAME ".bad.%u", i);
                if (fstatat(state->folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
                        break;
        }
        if (renameat(state->folder, NAME, state->folder, name) == 0)
                pn_log(PN_LOG_WARNING,
                       "%s/" NAME
                       " %s; it is kept as %s. What was accepted and learned is lost, and "
                       "what is wrong will be told again",
                       state->path, why, name);
        else
                pn_log(PN_LOG_WARNING,
                       "%s/" NAME
                       " %s, and cannot be set aside: %s. What was accepted and learned is "
                       "lost, and what is wrong will be told again",
                       state->path, why, strerror(errno));
}

/* What writers left that were killed. */
static void remove_leftovers(int folder)
{
        int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = copy < 0 ? NULL : fdopendir(copy);

        if (!dir) {
                pn_close(copy);
                return;
        }
        for (struct dirent *entry; (entry = readdir(dir));)
                if (pn_startswith(entry->d_name, NEW_NAME))
                        (void)unlinkat(folder, entry->d_name, 0);
        (void)closedir(dir);
}

/* 0, also where the file is of no use; -ENOMEM. */
static int load(PnStateFile *state, const char *machine, PnMemory *memory)
{
        _cleanup_free_ char *text = NULL, *error = NULL;
        char why[256];
        bool newer = false;
        size_t n = 0;
        int r = read_text(state->folder, &text, &n);

        if (r == -ENOENT)
                return 0;
        if (r == -ENOMEM)
                return r;
        if (r == -EACCES || r == -EPERM || r == -EIO) {
                pn_log(PN_LOG_WARNING,
                       "%s/" NAME " cannot be read: %s. What is wrong will be told again",
                       state->path, strerror(-r));
                return 0;
        }
        if (r < 0) {
                (void)snprintf(why, sizeof why, "is not what pnhwd writes: %s",
                               r == -EINVAL || r == -ELOOP ? "no regular file" : strerror(-r));
                set_aside(state, why);
                return 0;
        }
        pn_done(pn_type_Memory(), memory);
        r = pn_memory_read(text, n, (int64_t)time(NULL), memory, &newer, &error);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                (void)snprintf(why, sizeof why, "is damaged: %.200s", error ? error : "no JSON");
                pn_memory_init(memory);
                set_aside(state, why);
                return 0;
        }
        if (machine && pn_text(&memory->machine) && !pn_text_is(&memory->machine, machine)) {
                pn_done(pn_type_Memory(), memory);
                pn_memory_init(memory);
                set_aside(state, "is of another machine");
                return 0;
        }
        if (newer) {
                int failed = linkat(state->folder, NAME, state->folder, NAME ".newer", 0);

                pn_log(PN_LOG_NOTICE,
                       "%s/" NAME " is of a newer pnhwd; what this one understands of it is used%s",
                       state->path,
                       failed && errno != EEXIST ? "" : ", and it is kept as " NAME ".newer");
        }
        return 0;
}

int pn_state_open(sd_event *event, const char *folder, const char *machine, PnMemory *memory,
                  PnStateFile **ret)
{
        PnStateFile *state = calloc(1, sizeof *state);
        int r = 0;

        pn_memory_init(memory);
        if (!state)
                return -ENOMEM;
        state->folder = -1;
        state->event = sd_event_ref(event);
        state->memory = memory;
        if (folder) {
                state->path = strdup(folder);
                if (!state->path)
                        r = -ENOMEM;
                state->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (state->folder < 0 && r == 0)
                        pn_log(PN_LOG_NOTICE,
                               "%s: %s. What is learned and accepted is forgotten at the end",
                               folder, strerror(errno));
                else if (r == 0) {
                        remove_leftovers(state->folder);
                        r = load(state, machine, memory);
                }
        }
        if (r == 0)
                r = pn_set_text(&memory->machine, machine);
        if (r < 0) {
                pn_done(pn_type_Memory(), memory);
                pn_close(state->folder);
                sd_event_unref(state->event);
                free(state->path);
                free(state);
                return r;
        }
        *ret = state;
        return 0;
}

/* ---- Writing, in the child: gives an errno, or 0 ---- */

static int write_text(int folder, const char *text, size_t n)
{
        _cleanup_close_ int fd = -1;
        size_t done = 0;
        char name[64];
        int error = 0;

        (void)snprintf(name, sizeof name, NEW_NAME "%ld", (long)getpid());
        fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return errno;
        while (done < n && !error) {
                ssize_t put = write(fd, text + done, n - done);

                if (put < 0 && errno != EINTR)
                        error = errno;
                else if (put > 0)
                        done += (size_t)put;
        }
        if (!error &&
            (fsync(fd) < 0 || renameat(folder, name, folder, NAME) < 0 || fsync(folder) < 0))
                error = errno;
        if (error)
                (void)unlinkat(folder, name, 0);
        return error;
}

static void log_result(PnStateFile *state, int error)
{
        if (error == state->logged)
                return;
        if (error)
                pn_log(PN_LOG_WARNING,
                       "%s/" NAME " cannot be written: %s. After a restart, what is wrong will be "
                       "told again",
                       state->path, strerror(error));
        else
                pn_log(PN_LOG_NOTICE, "%s/" NAME " can be written again", state->path);
        state->logged = error;
}

/* For a moment; a writer that takes longer is left alone. */
static void wait_for_writer(PnStateFile *state)
{
        int status, left = LAST_WAIT_MS / 10;

        while (state->writer && left-- > 0) {
                pid_t pid = waitpid(state->writer, &status, WNOHANG);

                if (pid == 0) {
                        (void)poll(NULL, 0, 10);
                        continue;
                }
                if (pid == state->writer)
                        log_result(state, WIFEXITED(status) ? WEXITSTATUS(status) : EIO);
                state->writer = 0;
        }
}

static int on_written(_unused_ sd_event_source *source, const siginfo_t *info, void *userdata)
{
        PnStateFile *state = userdata;

        log_result(state, info->si_code == CLD_EXITED ? info->si_status : EIO);
        state->on_written = sd_event_source_disable_unref(state->on_written);
        state->writer = 0;
        if (state->again)
                pn_state_save(state, state->memory);
        return 0;
}

/* Starts a child that writes; 0, or an errno. */
static int start_writer(PnStateFile *state, const PnMemory *memory)
{
        _cleanup_buf_ PnBuf buf = {0};
        pid_t pid;

        pn_memory_write(&buf, memory);
        if (buf.error)
                return ENOMEM;
        pid = fork();
        if (pid == 0) {
                /* It must not answer for the daemon: neither to its signals nor to its clients. */
                sigset_t none;

                (void)sigemptyset(&none);
                (void)sigprocmask(SIG_SETMASK, &none, NULL);
                /* Nor hold its lock and its sockets, should the disk hang longer than it lives. */
                if (dup2(state->folder, FOLDER_FD) < 0)
                        _exit(errno & 0xff);
                (void)close_range(FOLDER_FD + 1, ~0U, 0);
                _exit(write_text(FOLDER_FD, buf.data, buf.len) & 0xff);
        }
        if (pid < 0)
                return errno;
        state->writer = pid;
        return 0;
}

void pn_state_save(PnStateFile *state, const PnMemory *memory)
{
        int error;

        state->memory = memory;
        if (state->folder < 0)
                return;
        if (state->writer) {
                state->again = true;
                return;
        }
        state->again = false;
        error = start_writer(state, memory);
        if (error) {
                log_result(state, error);
                return;
        }
        if (sd_event_add_child(state->event, &state->on_written, state->writer, WEXITED, on_written,
                               state) < 0)
                wait_for_writer(state);
}

void pn_state_close(PnStateFile *state, const PnMemory *memory)
{
        if (!state)
                return;
        state->on_written = sd_event_source_disable_unref(state->on_written);
        wait_for_writer(state);
        /* A child that still writes hangs with its disk: another one would do so, too. */
        if (state->folder >= 0 && !state->writer && start_writer(state, memory) == 0)
                wait_for_writer(state);
        pn_close(state->folder);
        sd_event_unref(state->event);
        free(state->path);
        free(state);
}
