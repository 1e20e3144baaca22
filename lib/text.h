/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text out of devices' bytes: what comes out is always printable and valid UTF-8, whatever went in.
 * Knows no device and no encoding but ASCII and UTF-8. */
#pragma once

#include "base.h"

/* Makes a string of a fixed-length field of a device (NVMe serial and model, SFF vendor name...):
 * cut at the first NUL, white space (blank, \t, \n, \v, \f, \r) trimmed at both ends, and every
 * byte outside 0x20..0x7e replaced by '?'. The bytes need no terminator; NULL with n = 0 is
 * allowed.
 *
 * Returns 1 and a string to free(); 0 and NULL if nothing is left, which means that the field is
 * absent; -ENOMEM. */
int pn_text_from_bytes(const void *bytes, size_t n, char **ret);

/* The same for labels and names made by people (hwmon labels, mount points, SMBIOS strings): keeps
 * well-formed UTF-8. Control characters (C0, DEL, C1) become one '?' each, and so does each byte
 * that starts no well-formed sequence (RFC 3629: overlong forms, surrogates and what lies above
 * U+10FFFF are not). Never longer than what went in. */
int pn_text_from_utf8(const void *bytes, size_t n, char **ret);

/* Whether all n bytes are well-formed UTF-8 (RFC 3629). NUL and other controls are; nothing is. */
bool pn_utf8_valid(const char *s, size_t n);
