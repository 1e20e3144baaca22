/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Starts the command under a seccomp filter, hears of the few system calls that it stops, and
 * replies when the time has come; what the replies say is nvme.c's and ethtool.c's. */

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

#include "fakehost.h"

/* From kernel 5.19: a waiting caller can be killed, but no handled signal makes it ask again. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#if defined __x86_64__
#define FH_ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define FH_ARCH AUDIT_ARCH_AARCH64
#elif defined __riscv && __riscv_xlen == 64
#define FH_ARCH AUDIT_ARCH_RISCV64
#elif defined __powerpc64__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FH_ARCH AUDIT_ARCH_PPC64LE
#elif defined __i386__
#define FH_ARCH AUDIT_ARCH_I386
#elif defined __arm__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FH_ARCH AUDIT_ARCH_ARM
#endif

#ifndef SYS_open
#define SYS_open SYS_openat /* the newer architectures have no other */
#endif

/* A reply that waits for its time. */
typedef struct Pending {
        uint64_t due_ms;
        FhCall call;
        FhReply reply;
} Pending;

typedef struct Loop {
        FhSupervisor *supervisor;
        int listener;
        int signals;
        pid_t child;
        uint64_t
            patience_ms; /* when a command that was told to end is killed with all it started */
        Pending *pending;
        size_t n_pending;
} Loop;

enum { PATIENCE_MS = 10000 };

static uint64_t now_ms(void)
{
        struct timespec now;

        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void fh_log(FhSupervisor *supervisor, const char *format, ...)
{
        FILE *log = supervisor->options->log;
        va_list args;

        if (!log)
                return;
        va_start(args, format);
        (void)vfprintf(log, format, args);
        va_end(args);
        fputc('\n', log);
}

/* ---- the caller ---- */

int fh_caller_read(const FhCall *call, uint64_t address, void *buffer, size_t size)
{
        struct iovec local = {buffer, size};
        struct iovec remote = {(void *)(uintptr_t)address, size};
        ssize_t n = process_vm_readv(call->pid, &local, 1, &remote, 1, 0);

        return n == (ssize_t)size ? 0 : -EFAULT;
}

static int caller_write(const FhCall *call, uint64_t address, void *bytes, size_t size)
{
        struct iovec local = {bytes, size};
        struct iovec remote = {(void *)(uintptr_t)address, size};
        ssize_t n = process_vm_writev(call->pid, &local, 1, &remote, 1, 0);

        return n == (ssize_t)size ? 0 : -EFAULT;
}

bool fh_caller_can(const FhCall *call, int capability)
{
        unsigned long long effective = 0;
        char path[64], line[256];
        FILE *file;

        (void)snprintf(path, sizeof path, "/proc/%d/status", call->pid);
        file = fopen(path, "re");
        if (!file)
                return false;
        while (fgets(line, sizeof line, file))
                if (sscanf(line, "CapEff: %llx", &effective) == 1)
                        break;
        (void)fclose(file);
        return (effective >> capability & 1) != 0;
}

int fh_reply_write(FhReply *reply, uint64_t address, const void *bytes, size_t n_bytes, size_t size)
{
        uint8_t *copy;

        if (size == 0)
                return 0;
        if (reply->n_writes == PN_ELEMENTS(reply->writes))
                return -ENOMEM;
        copy = calloc(1, size);
        if (!copy)
                return -ENOMEM;
        if (n_bytes > 0)
                memcpy(copy, bytes, n_bytes < size ? n_bytes : size);
        reply->writes[reply->n_writes].address = address;
        reply->writes[reply->n_writes].bytes = copy;
        reply->writes[reply->n_writes].size = size;
        reply->n_writes++;
        return 0;
}

/* ---- replies ---- */

static void free_reply(FhReply *reply)
{
        for (size_t i = 0; i < reply->n_writes; i++)
                free(reply->writes[i].bytes);
        reply->n_writes = 0;
}

static void send_reply(int listener, const FhCall *call, FhReply *reply, bool resume)
{
        struct seccomp_notif_resp response = {
            .id = call->id,
            .val = reply->value,
            .error = -reply->error,
            .flags = resume ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0,
        };

        if (resume)
                response.val = response.error = 0;
        /* A caller that was killed meanwhile may have left its number to another process. */
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->id) == 0) {
                for (size_t i = 0; i < reply->n_writes; i++)
                        if (caller_write(call, reply->writes[i].address, reply->writes[i].bytes,
                                         reply->writes[i].size) < 0) {
                                response.error = -EFAULT;
                                response.val = 0;
                        }
                (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
        }
        free_reply(reply);
}

static void put_off(Loop *loop, const FhCall *call, const FhReply *reply)
{
        Pending *grown = reallocarray(loop->pending, loop->n_pending + 1, sizeof *grown);

        if (!grown)
                fh_fail(FH_EXIT_SETUP, "no memory");
        loop->pending = grown;
        loop->pending[loop->n_pending++] = (Pending){
            .due_ms = now_ms() + reply->delay_ms,
            .call = *call,
            .reply = *reply,
        };
}

/* Sends what is due. Returns the milliseconds until the next is, -1 when none waits. */
static int send_due(Loop *loop)
{
        uint64_t now = now_ms();
        int64_t next = -1;

        for (size_t i = 0; i < loop->n_pending;) {
                Pending *pending = &loop->pending[i];

                if (pending->due_ms <= now) {
                        send_reply(loop->listener, &pending->call, &pending->reply, false);
                        *pending = loop->pending[--loop->n_pending];
                        continue;
                }
                if (next < 0 || (int64_t)(pending->due_ms - now) < next)
                        next = (int64_t)(pending->due_ms - now);
                i++;
        }
        return next > INT32_MAX ? INT32_MAX : (int)next;
}

/* uname(2) with the tree's kernel release. The rest is this machine's; the node name is already
 * right, since the supervisor is in the command's UTS namespace. */
static FhVerdict answer_uname(const FhSupervisor *supervisor, const FhCall *call, FhReply *reply)
{
        struct utsname names;

        if (uname(&names) < 0 || !supervisor->release)
                return FH_CONTINUE;
        (void)snprintf(names.release, sizeof names.release, "%s", supervisor->release);
        reply->error = -fh_reply_write(reply, call->address, &names, sizeof names, sizeof names);
        return FH_REPLY;
}

static void handle_call(Loop *loop)
{
        FhSupervisor *supervisor = loop->supervisor;
        struct seccomp_notif notification = {0};
        FhReply reply = {0};
        FhVerdict verdict;
        FhCall call;

        if (ioctl(loop->listener, SECCOMP_IOCTL_NOTIF_RECV, &notification) < 0)
                return; /* the caller was killed */
        call = (FhCall){
            .id = notification.id,
            .pid = (pid_t)notification.pid,
            .number = notification.data.nr,
            .fd = (int)notification.data.args[0],
            .request = (uint32_t)notification.data.args[1],
            .address = notification.data.args[2],
        };
        if (call.number == SYS_openat || call.number == SYS_open) {
                bool at = call.number == SYS_openat;

                call.fd = at ? call.fd : AT_FDCWD;
                call.address = notification.data.args[at ? 1 : 0];
                verdict = fh_open_missing(supervisor, loop->listener, &call, &reply);
        } else if (call.number == SYS_uname) {
                call.address = notification.data.args[0];
                verdict = answer_uname(supervisor, &call, &reply);
        } else if (call.request == SIOCETHTOOL)
                verdict = fh_ethtool_ioctl(supervisor, &call, &reply);
        else
                verdict = fh_nvme_ioctl(supervisor, &call, &reply);

        if (verdict == FH_SILENCE)
                supervisor->n_silent++;
        else if (verdict == FH_REPLY && reply.delay_ms > 0)
                put_off(loop, &call, &reply);
        else
                send_reply(loop->listener, &call, &reply, verdict == FH_CONTINUE);
}

/* ---- the filter ---- */

/* Stops ioctl() of type 'N' and SIOCETHTOOL; uname() when the tree has a kernel release; opens when
 * it has files that cannot be bound. Every other call is the kernel's and costs nothing more.
 * Returns the listener or a negative errno. */
static int install_filter(bool with_uname, bool with_open)
{
#ifdef FH_ARCH
        const uint32_t never = UINT32_MAX;
        struct sock_filter filter[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FH_ARCH, 0, 10),
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, with_uname ? SYS_uname : never, 7, 0),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, with_open ? SYS_openat : never, 6, 0),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, with_open ? SYS_open : never, 5, 0),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 5),
            /* The lower half of the request, on the little-endian architectures above. */
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SIOCETHTOOL, 2, 0),
            BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff00),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 'N' << 8, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        const struct sock_fprog program = {PN_ELEMENTS(filter), filter};
        static const unsigned long flags[] = {
            SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
            SECCOMP_FILTER_FLAG_NEW_LISTENER,
        };

        /* Root may install a filter and keep what set-user-ID and file capabilities do; others must
         * give that up. */
        for (int privileges = 0; privileges < 2; privileges++) {
                for (size_t i = 0; i < PN_ELEMENTS(flags); i++) {
                        long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags[i], &program);

                        if (fd >= 0)
                                return (int)fd;
                        if (errno != EINVAL)
                                break;
                }
                if (errno != EACCES || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                        break;
        }
        return -errno;
#else
        (void)with_uname;
        (void)with_open;
        return -ENOSYS;
#endif
}

/* ---- the command ---- */

static int send_descriptor(int socket, int fd)
{
        union {
                char bytes[CMSG_SPACE(sizeof(int))];
                struct cmsghdr align;
        } control = {0};
        char byte = 0;
        struct iovec data = {&byte, 1};
        struct msghdr message = {
            .msg_iov = &data,
            .msg_iovlen = 1,
            .msg_control = control.bytes,
            .msg_controllen = sizeof control.bytes,
        };
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);

        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(header), &fd, sizeof fd);
        return sendmsg(socket, &message, 0) < 0 ? -errno : 0;
}

static int receive_descriptor(int socket)
{
        union {
                char bytes[CMSG_SPACE(sizeof(int))];
                struct cmsghdr align;
        } control = {0};
        char byte;
        struct iovec data = {&byte, 1};
        struct msghdr message = {
            .msg_iov = &data,
            .msg_iovlen = 1,
            .msg_control = control.bytes,
            .msg_controllen = sizeof control.bytes,
        };
        const struct cmsghdr *header;
        int fd;

        if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) <= 0)
                return -EPIPE;
        header = CMSG_FIRSTHDR(&message);
        if (!header || header->cmsg_type != SCM_RIGHTS)
                return -EPIPE;
        memcpy(&fd, CMSG_DATA(header), sizeof fd);
        return fd;
}

static _Noreturn void run_command(const FhSupervisor *supervisor, int socket, char **command,
                                  const sigset_t *mask)
{
        const FhOptions *options = supervisor->options;
        int listener = install_filter(supervisor->release != NULL, options->missing.n_paths > 0);

        if (listener == -ENOSYS)
                fh_fail(FH_EXIT_SKIP, "fakehost does not know seccomp on this architecture");
        if (listener < 0) {
                errno = -listener;
                fh_fail_errno(FH_EXIT_SKIP,
                              "this machine refuses a seccomp filter with user notification%s",
                              errno == EBUSY ? " (another one is above this process)" : "");
        }
        if (send_descriptor(socket, listener) < 0)
                fh_fail_errno(FH_EXIT_SETUP, "cannot hand over the seccomp listener");
        pn_close(listener);
        pn_close(socket);

        /* In a user namespace the map has given the command its number. */
        if (options->uid != FH_UID_UNSET && !options->user &&
            (setgroups(0, NULL) < 0 || setresgid(options->uid, options->uid, options->uid) < 0 ||
             setresuid(options->uid, options->uid, options->uid) < 0))
                fh_fail_errno(FH_EXIT_SETUP, "cannot become user %u", options->uid);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        /* libudev and sd-device check that each device is on a real sysfs. */
        (void)setenv("SYSTEMD_DEVICE_VERIFY_SYSFS", "0", 1);
        (void)sigprocmask(SIG_SETMASK, mask, NULL);
        (void)execvp(command[0], command);
        fh_fail_errno(FH_EXIT_EXEC, "%s", command[0]);
}

/* The parent of a process, or -1 when it has gone. */
static pid_t parent_of(pid_t pid)
{
        char path[64], line[512];
        const char *after_name;
        int parent = -1;
        FILE *file;

        (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
        file = fopen(path, "re");
        if (!file)
                return -1;
        /* "PID (NAME) STATE PPID ...", where the name may contain anything. */
        after_name = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
        if (after_name && sscanf(after_name, ") %*c %d", &parent) != 1)
                parent = -1;
        (void)fclose(file);
        return parent;
}

static bool is_descendant(pid_t pid)
{
        pid_t self = getpid();

        for (pid = parent_of(pid); pid > 1; pid = parent_of(pid))
                if (pid == self)
                        return true;
        return false;
}

/* Kills whatever the command left behind. All of it descends from this process, which is the
 * subreaper. Not only the children: one of them may wait, beyond any signal, for its own child. */
static void kill_remaining(void)
{
        for (uint64_t end = now_ms() + 5000; now_ms() < end;) {
                const struct dirent *entry;
                DIR *directory;
                pid_t pid;

                while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
                        ;
                if (pid < 0)
                        return;
                directory = opendir("/proc");
                while (directory && (entry = readdir(directory))) {
                        pid = (pid_t)strtol(entry->d_name, NULL, 10);
                        if (pid > 1 && is_descendant(pid))
                                (void)kill(pid, SIGKILL);
                }
                if (directory)
                        (void)closedir(directory);
                (void)poll(NULL, 0, 2);
        }
        fprintf(stderr, "fakehost: a process of the command cannot be killed\n");
}

/* Returns true when the command has ended, with its status. */
static bool handle_signal(Loop *loop, int *ret_status)
{
        struct signalfd_siginfo info;
        bool ended = false;
        pid_t pid;
        int status;

        if (read(loop->signals, &info, sizeof info) != (ssize_t)sizeof info)
                return false;
        if (info.ssi_signo != SIGCHLD) {
                /* The terminal has sent its signals to the command as well. */
                if (info.ssi_code != SI_KERNEL)
                        (void)kill(loop->child, (int)info.ssi_signo);
                if (info.ssi_signo != SIGUSR1 && info.ssi_signo != SIGUSR2 &&
                    info.ssi_signo != SIGHUP && loop->patience_ms == 0)
                        loop->patience_ms = now_ms() + PATIENCE_MS;
                return false;
        }
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
                if (pid == loop->child) {
                        *ret_status = status;
                        ended = true;
                }
        return ended;
}

static int run_loop(Loop *loop)
{
        struct pollfd polled[] = {
            {.fd = loop->listener, .events = POLLIN},
            {.fd = loop->signals, .events = POLLIN},
        };
        int status = 0;

        for (;;) {
                int timeout = send_due(loop);

                if (loop->patience_ms > 0) {
                        if (now_ms() >= loop->patience_ms) {
                                fprintf(stderr, "fakehost: the command does not end: killed\n");
                                return 128 + SIGKILL;
                        }
                        if (timeout < 0 || timeout > 100)
                                timeout = 100;
                }
                if (poll(polled, PN_ELEMENTS(polled), timeout) < 0) {
                        if (errno == EINTR)
                                continue;
                        fh_fail_errno(FH_EXIT_SETUP, "poll");
                }
                if (polled[0].revents & POLLIN)
                        handle_call(loop);
                else if (polled[0].revents)
                        polled[0].fd = -1; /* the last process under the filter has gone */
                if (polled[1].revents & POLLIN && handle_signal(loop, &status))
                        break;
        }
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The summary goes to the log, and to stderr when something is not as the script has it. */
static void summarise(const FhSupervisor *supervisor)
{
        const FhOptions *options = supervisor->options;
        unsigned unused = fh_script_unused(&supervisor->nvme, options->log) +
                          fh_script_unused(&supervisor->ethtool, options->log);
        const char *format = "%scommands=%u unexpected=%u never-answered=%u unused-answers=%u\n";

        if (options->log)
                fprintf(options->log, format, "# end: ", supervisor->n_commands,
                        supervisor->n_unexpected, supervisor->n_silent, unused);
        if (!options->quiet && (supervisor->n_unexpected > 0 || unused > 0))
                fprintf(stderr, format, "fakehost: ", supervisor->n_commands,
                        supervisor->n_unexpected, supervisor->n_silent, unused);
}

int fh_supervise(FhSupervisor *supervisor, char **command)
{
        static const int handled[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
        Loop loop = {.supervisor = supervisor, .listener = -1, .signals = -1};
        int sockets[2], status;
        sigset_t signals, old;

        (void)sigemptyset(&signals);
        for (size_t i = 0; i < PN_ELEMENTS(handled); i++)
                (void)sigaddset(&signals, handled[i]);
        (void)sigprocmask(SIG_BLOCK, &signals, &old);
        (void)signal(SIGPIPE, SIG_IGN);
        loop.signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
        if (loop.signals < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0 ||
            prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
                fh_fail_errno(FH_EXIT_SETUP, "cannot prepare the supervision");

        fflush(NULL);
        loop.child = fork();
        if (loop.child < 0)
                fh_fail_errno(FH_EXIT_SETUP, "fork");
        if (loop.child == 0) {
                (void)signal(SIGPIPE, SIG_DFL);
                run_command(supervisor, sockets[1], command, &old);
        }
        pn_close(sockets[1]);
        loop.listener = receive_descriptor(sockets[0]);
        pn_close(sockets[0]);
        if (loop.listener < 0) {
                /* The child has said why. */
                if (waitpid(loop.child, &status, 0) < 0 || !WIFEXITED(status))
                        return FH_EXIT_SETUP;
                return WEXITSTATUS(status);
        }
        status = run_loop(&loop);
        /* From here on a call that waits gets an error and, for most, an end. */
        kill_remaining();
        pn_close(loop.listener);
        for (size_t i = 0; i < loop.n_pending; i++)
                free_reply(&loop.pending[i].reply);
        free(loop.pending);
        summarise(supervisor);
        return status;
}
