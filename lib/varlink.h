/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Varlink's messages (varlink.org): what a call must look like, and how an answer is written;
 * knows no method, no connection and no terminator. */
#pragma once

#include "buf.h"

struct json_object;

#define PN_SERVICE "org.varlink.service"

/* A call, as read from one message. */
typedef struct PnCall {
        struct json_object *json;       /* owns the rest */
        const char *method;             /* with its interface: "io.pnhw.Hardware.GetStatus" */
        struct json_object *parameters; /* an object, or NULL for none */
        bool more;                      /* several answers are welcome */
        bool oneway;                    /* no answer is */
} PnCall;

/* Reads a call, strictly: JSON as RFC 8259 has it; an object; `method` a dotted name; `parameters`
 * an object; `more`, `oneway` and `upgrade` booleans; nothing else. JSON null counts as left out.
 *
 * 0; -EBADMSG if it is not a JSON object at all (`ret_error`, may be NULL, gets a malloc'ed
 * sentence); -EINVAL if a member is wrong or unknown (`ret_member`, may be NULL, gets its
 * malloc'ed name; `upgrade: true` is one: nothing here upgrades); -ENOMEM. */
int pn_call_parse(const char *text, size_t n, PnCall *ret, char **ret_error, char **ret_member);

/* Releases a call and empties it; a zeroed one is allowed. */
void pn_call_done(PnCall *call);

/* `{"parameters":` … `}`: an answer around parameters that are written between the two calls.
 * `continues` announces a further answer to the same call. */
void pn_reply_begin(PnBuf *buf);
void pn_reply_end(PnBuf *buf, bool continues);

/* An error with one string parameter, or with none if `name` is NULL. */
void pn_write_error(PnBuf *buf, const char *error, const char *name, const char *value);

/* A call; `parameters` is the text of a JSON object, or NULL. */
void pn_write_call(PnBuf *buf, const char *method, const char *parameters, bool more);
