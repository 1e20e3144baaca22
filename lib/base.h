/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The few words of C that every other file uses; knows nothing of hardware, JSON or I/O. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Releases through FUNC when the variable leaves its scope: `_cleanup_(freep) char *p = NULL;` */
#define _cleanup_(func) __attribute__((__cleanup__(func)))
#define _cleanup_free_  _cleanup_(pn_freep)
#define _cleanup_close_ _cleanup_(pn_closep)

#define _unused_             __attribute__((__unused__))
#define _printf_(fmt, args)  __attribute__((__format__(__printf__, fmt, args)))
#define _warn_unused_result_ __attribute__((__warn_unused_result__))

#define PN_ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

/* Takes the value of a variable and leaves NULL (or -1 for a descriptor) behind, so that the
 * variable's cleanup does nothing. */
#define PN_STEAL(ptr)                                                                              \
        ({                                                                                         \
                __typeof__(ptr) *pn_steal_at = &(ptr);                                             \
                __typeof__(ptr) pn_steal_value = *pn_steal_at;                                     \
                *pn_steal_at = NULL;                                                               \
                pn_steal_value;                                                                    \
        })

#define PN_STEAL_FD(fd)                                                                            \
        ({                                                                                         \
                int *pn_steal_at = &(fd);                                                          \
                int pn_steal_value = *pn_steal_at;                                                 \
                *pn_steal_at = -1;                                                                 \
                pn_steal_value;                                                                    \
        })

/* Defines FUNCp(), which calls FUNC on a non-NULL pointer variable: for use with _cleanup_(). */
#define PN_DEFINE_CLEANUP(type, func)                                                              \
        static inline void func##p(type *p)                                                        \
        {                                                                                          \
                if (*p)                                                                            \
                        func(*p);                                                                  \
        }                                                                                          \
        struct pn_swallow_semicolon

static inline void pn_freep(void *p)
{
        void *memory;

        memcpy(&memory, p, sizeof memory);
        free(memory);
}

/* Closes a descriptor and keeps errno; -1 is allowed. */
static inline void pn_close(int fd)
{
        int saved = errno;

        if (fd >= 0)
                (void)close(fd);
        errno = saved;
}

static inline void pn_closep(int *fd)
{
        pn_close(*fd);
}

/* Equality of strings of which either may be NULL; two NULLs are equal. */
static inline bool pn_streq(const char *a, const char *b)
{
        if (!a || !b)
                return a == b;
        return strcmp(a, b) == 0;
}

static inline bool pn_startswith(const char *s, const char *prefix)
{
        return strncmp(s, prefix, strlen(prefix)) == 0;
}
