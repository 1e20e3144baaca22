/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads attributes and links below an open directory, and turns a failure into the state of a
 * value; knows no attribute by name. */
#pragma once

#include <sys/types.h>

#include "value.h"

/* An attribute is at most a page, the kernel says. What is longer is cut there, not trusted. */
#define PN_ATTRIBUTE_MAX 4096

/* Opens a directory for use as `at`, following links: ".." inside it is the real parent. A
 * descriptor or a negative errno. */
int pn_sysfs_open(int at, const char *path);

/* Reads an attribute: open, read, close and nothing else. `buf` is NUL-terminated; a newline at
 * the end stays. Returns the length (at most size - 1), or a negative errno. */
ssize_t pn_sysfs_read(int at, const char *name, char *buf, size_t size);

/* Each of these reads one attribute into a field: known; absent if there is no such attribute or
 * it is empty; unread, with the reason, otherwise. They return 0, or -ENOMEM. */
int pn_sysfs_text(int at, const char *name, PnText *ret);  /* bytes of a device: ASCII (text.h) */
int pn_sysfs_label(int at, const char *name, PnText *ret); /* made by people: UTF-8 (text.h) */
void pn_sysfs_int(int at, const char *name, PnInt *ret);   /* decimal, perhaps negative */

/* The last part of a symbolic link's target, NUL-terminated. 0, -ENOENT if there is no such link,
 * or another negative errno. */
int pn_sysfs_link(int at, const char *name, char *buf, size_t size);

/* A whole decimal number without anything around it but one newline at the end: known; otherwise
 * unread as malformed, or as overflow above 2^63-1. */
PnInt pn_parse_int(const char *s);

/* Reads a file up to `max` bytes into a malloc'ed, NUL-terminated string; what is longer is cut.
 * 0 or a negative errno. */
int pn_read_file(int at, const char *path, size_t max, char **ret, size_t *ret_n);

/* The names in a directory without those that start with a dot, sorted; an empty list if there is
 * no such directory. Release with pn_names_done(). 0 or a negative errno. */
typedef struct PnNames {
        char **v;
        size_t n;
} PnNames;

int pn_sysfs_names(int at, const char *path, PnNames *ret);
void pn_names_done(PnNames *names);
#define _cleanup_names_ _cleanup_(pn_names_done)
