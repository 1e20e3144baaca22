/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of fakehost tell each other; knows nothing of the programs that run inside. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base.h"

/* Exit statuses of fakehost itself; every other one is the command's. */
enum {
        FH_EXIT_SKIP = 77,   /* this machine refuses namespaces or seccomp: meson skips the test */
        FH_EXIT_SETUP = 125, /* the tree, a script or the machine is not as it must be */
        FH_EXIT_EXEC = 127,  /* the command could not be executed */
};

#define FH_UID_UNSET ((uid_t)-1)

/* Paths of /proc that the tree has and this kernel has not. */
typedef struct FhMissing {
        char **paths;
        size_t n_paths;
} FhMissing;

typedef struct FhOptions {
        const char *tree;   /* as given on the command line */
        int tree_fd;        /* O_PATH: reaches the tree even when a mount covers its path */
        char tree_path[32]; /* "/proc/self/fd/N" of tree_fd, a prefix for every path below it */
        bool net;           /* private network namespace */
        bool links;         /* and the tree's interfaces in it */
        bool user;          /* user namespace first */
        uid_t uid;          /* of the command, or FH_UID_UNSET */
        bool quiet;
        bool verbose;
        FILE *log; /* one line a command, or NULL */
        FhMissing missing;
} FhOptions;

/* Prints "fakehost: " and the sentence, and exits. */
_Noreturn void fh_fail(int status, const char *format, ...) _printf_(2, 3);
/* The same with ": " and strerror(errno). */
_Noreturn void fh_fail_errno(int status, const char *format, ...) _printf_(2, 3);

/* mounts.c: everything that a program finds at its paths. */

/* Enters the private namespaces; exits with FH_EXIT_SKIP where the kernel refuses. May set `user`.
 */
void fh_enter_namespaces(FhOptions *options);
/* Builds /sys, /proc, /dev, /run, /etc, /var/lib and the host name from the tree. */
void fh_build_host(FhOptions *options);

/* links.c: makes the interfaces of TREE/net-interfaces; exits with FH_EXIT_SKIP where it cannot. */
void fh_make_links(const FhOptions *options);

/* script.c: scripted answers. */

typedef enum FhAnswerKind {
        FH_ANSWER_BYTES,  /* success, with bytes from a file or zeros */
        FH_ANSWER_STATUS, /* a positive NVMe status */
        FH_ANSWER_ERRNO,  /* the system call fails */
        FH_ANSWER_HANG,   /* no answer, ever */
} FhAnswerKind;

/* One line of a script. It answers calls that match its first part, until used `times` times. */
typedef struct FhAnswer {
        char *device;     /* "nvme0", an interface name, or "*" */
        char *command;    /* as written: "log", "module", "any" */
        int64_t selector; /* CNS, log page identifier or opcode; -1 matches every one */
        int64_t nsid;     /* -1 matches every one */

        FhAnswerKind kind;
        uint8_t *bytes;
        size_t size;
        unsigned status;
        int error; /* positive errno */
        uint32_t result;
        unsigned delay_ms;
        unsigned times; /* 0: without limit */
        unsigned used;

        uint32_t module_type; /* ethtool: ETH_MODULE_SFF_8472 ... */
        char *driver, *version, *firmware, *bus;
        uint8_t mac[6];

        int line;
} FhAnswer;

typedef struct FhScript {
        FhAnswer *answers;
        size_t n_answers;
} FhScript;

/* Reads a script (grammar: README.md); a file that is not there is an empty script. Exits with
 * FH_EXIT_SETUP and the line number when a line is wrong. FILE: names are relative to the tree. */
void fh_script_read(FhScript *script, const char *path, const char *tree_path);
/* The number of answers with times=N that were not all asked for; each is named on `out`. */
unsigned fh_script_unused(const FhScript *script, FILE *out);

void fh_script_free(FhScript *script);

/* supervisor.c: the intercepted system calls. */

typedef struct FhCall {
        uint64_t id;
        pid_t pid; /* the calling thread */
        int number;
        int fd;
        uint32_t request; /* of ioctl() */
        uint64_t address; /* its argument */
} FhCall;

typedef enum FhVerdict {
        FH_CONTINUE, /* the kernel shall do it */
        FH_REPLY,
        FH_SILENCE, /* the caller waits until it is killed */
} FhVerdict;

/* The reply to one call. The writes happen at the time of the reply, not before. */
typedef struct FhReply {
        int64_t value;
        int error; /* positive errno, or 0 */
        unsigned delay_ms;
        struct {
                uint64_t address;
                uint8_t *bytes; /* owned */
                size_t size;
        } writes[2];
        size_t n_writes;
} FhReply;

typedef struct FhSupervisor {
        const FhOptions *options;
        FhScript nvme, ethtool;
        char *release; /* uname(2) tells this one, or NULL */
        unsigned n_commands, n_unexpected, n_silent;
} FhSupervisor;

/* Runs the command under supervision and returns the exit status. */
int fh_supervise(FhSupervisor *supervisor, char **command);

/* Copies from the caller's memory. Returns 0 or -EFAULT. */
int fh_caller_read(const FhCall *call, uint64_t address, void *buffer, size_t size);
/* Whether the caller has this capability (CAP_SYS_ADMIN ...) effective in its user namespace. */
bool fh_caller_can(const FhCall *call, int capability);
/* Adds a write of a copy of `bytes`, zero-filled up to `size`. Returns 0 or -ENOMEM. */
int fh_reply_write(FhReply *reply, uint64_t address, const void *bytes, size_t n_bytes,
                   size_t size);
/* One line for --log, printf-like, without the newline. */
void fh_log(FhSupervisor *supervisor, const char *format, ...) _printf_(2, 3);

/* nvme.c and ethtool.c: what one ioctl() is answered with. */

FhVerdict fh_nvme_ioctl(FhSupervisor *supervisor, const FhCall *call, FhReply *reply);
FhVerdict fh_ethtool_ioctl(FhSupervisor *supervisor, const FhCall *call, FhReply *reply);

/* open.c: opens of files that cannot be bound. */

void fh_missing_add(FhMissing *missing, const char *path);
void fh_missing_free(FhMissing *missing);
/* `call->address` is the path's, `call->fd` the folder's or AT_FDCWD. */
FhVerdict fh_open_missing(const FhSupervisor *supervisor, int listener, const FhCall *call,
                          FhReply *reply);
