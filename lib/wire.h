/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cuts a stream of bytes into messages; does no I/O and knows nothing of what a message says.
 *
 * A message is a JSON object ended by a NUL byte (Varlink, varlink.org) or, for people at a shell,
 * by a newline after the object. Inside an object a newline is white space. Empty messages (a NUL
 * or newline by itself, with or without white space before it) are passed over. Anything else that
 * a NUL or newline ends is handed out as a message too, so that it can be refused in words. Every
 * byte is looked at once, however the stream is cut up. */
#pragma once

#include "base.h"

/* The longest request, without its terminator. */
#define PN_REQUEST_MAX ((size_t)64 << 10)

typedef enum PnWireState {
        PN_WIRE_BETWEEN = 0, /* white space before a message */
        PN_WIRE_OBJECT,      /* inside the braces */
        PN_WIRE_STRING,      /* inside a string inside them */
        PN_WIRE_ESCAPE,      /* after a backslash in that string */
        PN_WIRE_AFTER,       /* after the last brace: white space, then the terminator */
        PN_WIRE_GARBAGE,     /* not an object: up to the terminator */
} PnWireState;

/* Zeroed is empty. `max` (bytes of one message; 0 stands for PN_REQUEST_MAX) may be set before the
 * first byte comes; the rest is private. */
typedef struct PnWire {
        size_t max;
        char *data;
        size_t start;   /* first byte of the message in progress */
        size_t scanned; /* first byte not looked at yet */
        size_t end;     /* end of what was received */
        size_t capacity;
        unsigned depth; /* of braces */
        PnWireState state;
} PnWire;

typedef struct PnMessage {
        const char *text; /* inside the wire's buffer, until the next call on the wire; not
                             NUL-terminated */
        size_t length;
        char ending; /* '\0' or '\n': what ended it, and so has to end its answer */
} PnMessage;

/* Frees the buffer; the wire is empty again. */
void pn_wire_done(PnWire *wire);

/* Where to put received bytes, and how many: at least one. Grows the buffer when it is full, to at
 * most the room for one message and a little more. 0; -ENOMEM; -ENOBUFS when the buffer is full of
 * messages that pn_wire_next() has not handed out. */
int pn_wire_reserve(PnWire *wire, char **ret_at, size_t *ret_room);

/* Says that the first `n` bytes of the room given were filled. */
void pn_wire_filled(PnWire *wire, size_t n);

/* Hands out the next message: 1; 0 if it is not complete yet; -EMSGSIZE if it is too long, and
 * then on every further call. With 0 and nothing left over the buffer is released, so a wire that
 * waits for a request costs nothing but its struct. */
int pn_wire_next(PnWire *wire, PnMessage *ret);

/* Whether the beginning of a message has come and not its end. */
bool pn_wire_is_partial(const PnWire *wire);

/* Whether bytes wait that pn_wire_next() has not looked at. */
static inline bool pn_wire_has_bytes(const PnWire *wire)
{
        return wire->scanned < wire->end;
}
