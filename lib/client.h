/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A blocking client of the daemon with a deadline for everything it waits for; knows Varlink's
 * messages and no method, and links neither libsystemd nor libudev, so that a command starts fast.
 *
 *         _cleanup_(pn_client_freep) PnClient *client = NULL;
 *         _cleanup_(pn_reply_done) PnReply reply = {0};
 *         _cleanup_free_ char *error = NULL;
 *
 *         r = pn_client_connect(PN_SOCKET_PATH, 5000, &client, &error);
 *         if (r >= 0)
 *                 r = pn_client_call(client, "io.pnhw.Hardware.GetStatus", NULL, false, &reply,
 *                                    &error);
 *         if (r < 0)
 *                 ... error is a sentence for a person, r says which of the cases below it was
 *         else if (reply.error)
 *                 ... the daemon's answer is a Varlink error
 *         else
 *                 r = pn_read_json(pn_type_Status(), reply.parameters, PN_JSON_ALLOW_UNKNOWN, ...)
 */
#pragma once

#include "base.h"

struct json_object;

/* Where an installed daemon listens. */
#define PN_SOCKET_PATH "/run/pnhw/pnhwd.sock"

/* A longer answer is refused with -EMSGSIZE. The largest host that we test (1,000 drives, 5,000
 * PCI functions) answers with some 10 MB. */
#define PN_ANSWER_MAX ((size_t)256 << 20)

/* What every function here that can fail returns, so that a program may word its own advice; the
 * sentence in `ret_error` already has some. No other negative value than these is returned.
 *
 *  -ENOENT        there is no socket at the path: the daemon was never started here
 *  -ECONNREFUSED  there is a socket that nobody listens on: the daemon died, or is not started yet
 *  -EACCES        the socket's permissions (or those of a folder above it) forbid it
 *  -ENOTSOCK      what is at the path is not a socket
 *  -ENAMETOOLONG  the path is longer than a socket's may be (107 bytes)
 *  -ETIMEDOUT     the daemon took the connection and did not answer in time
 *  -ECONNRESET    the daemon closed the connection before the end of its answer
 *  -EBADMSG       what came is not a Varlink answer: something else listens there
 *  -EMSGSIZE      the answer is longer than PN_ANSWER_MAX
 *  -EINVAL        `parameters` is not a JSON object (a mistake of the caller's)
 *  -EIO           anything else that the kernel refused; the sentence has its words
 *  -ENOMEM
 */
typedef struct PnClient PnClient;

typedef struct PnReply {
        struct json_object *parameters; /* a JSON object, possibly an empty one; the reply's own */
        const char *error;  /* full name ("io.pnhw.Hardware.NoSuchDevice") of an error, else NULL */
        bool continues;     /* more answers to the same call follow: pn_client_next() */
        const char *text;   /* the whole message as it came, NUL-terminated; lives until the next */
        size_t text_length; /* call on the same client, or until the client is freed */
        struct json_object *json; /* owns `parameters` and `error`; for pn_reply_done() */
} PnReply;

/* Connects to the socket at `path`. `timeout_ms` is how long each later call may take as a whole,
 * and this one; -1 waits for ever. `ret_error` (may be NULL) gets a malloc'ed sentence without a
 * full stop on failure. 0 or one of the values above. */
int pn_client_connect(const char *path, int timeout_ms, PnClient **ret, char **ret_error);

/* Closes the connection; NULL is allowed. */
void pn_client_free(PnClient *client);
PN_DEFINE_CLEANUP(PnClient *, pn_client_free);

/* Changes the time that each call from now on may take; -1 waits for ever (for a subscription). */
void pn_client_set_timeout(PnClient *client, int timeout_ms);

/* The connection's descriptor, to poll() for a further answer beside other descriptors. An answer
 * may have been read already: call pn_client_pending() first. The client keeps owning it. */
int pn_client_fd(const PnClient *client);
bool pn_client_pending(const PnClient *client);

/* Calls `method` (with its interface) and waits for its first answer. `parameters` is the text of
 * a JSON object, or NULL for none; `more` asks for a stream of answers. 0 when an answer came,
 * also when it is a Varlink error. What `ret` held before is not released. */
int pn_client_call(PnClient *client, const char *method, const char *parameters, bool more,
                   PnReply *ret, char **ret_error);

/* The same without waiting: pn_client_next() gets the first answer, too. */
int pn_client_send(PnClient *client, const char *method, const char *parameters, bool more,
                   char **ret_error);

/* Waits for the next answer of a call with `more`. */
int pn_client_next(PnClient *client, PnReply *ret, char **ret_error);

/* Releases what a reply holds and empties it. A zeroed reply is allowed. */
void pn_reply_done(PnReply *reply);

/* A malloc'ed sentence for a Varlink error reply: "nvme9: there is no such device", "you may not do
 * this; …"; NULL when memory is short. The names of unknown errors are shown as they are. */
char *pn_reply_describe_error(const PnReply *reply);
