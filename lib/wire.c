/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cuts a stream of bytes into messages; does no I/O and knows nothing of what a message says. */

#include "wire.h"

/* What most requests fit in. */
#define FIRST_CAPACITY 1000

static size_t max_of(const PnWire *wire)
{
        return wire->max ? wire->max : PN_REQUEST_MAX;
}

void pn_wire_done(PnWire *wire)
{
        free(wire->data);
        *wire = (PnWire){.max = wire->max};
}

int pn_wire_reserve(PnWire *wire, char **ret_at, size_t *ret_room)
{
        /* One byte more than a message and its terminator: enough to see that one is too long. */
        size_t limit = max_of(wire) + 2;

        if (wire->start > 0 && wire->end == wire->capacity) {
                memmove(wire->data, wire->data + wire->start, wire->end - wire->start);
                wire->end -= wire->start;
                wire->scanned -= wire->start;
                wire->start = 0;
        }
        if (wire->end == wire->capacity) {
                size_t capacity = wire->capacity ? wire->capacity * 2 : FIRST_CAPACITY;
                char *bigger;

                if (wire->capacity >= limit)
                        return -ENOBUFS;
                if (capacity > limit)
                        capacity = limit;
                bigger = realloc(wire->data, capacity);
                if (!bigger)
                        return -ENOMEM;
                wire->data = bigger;
                wire->capacity = capacity;
        }
        *ret_at = wire->data + wire->end;
        *ret_room = wire->capacity - wire->end;
        return 0;
}

void pn_wire_filled(PnWire *wire, size_t n)
{
        wire->end += n;
}

static bool is_blank(char c)
{
        return c == ' ' || c == '\t' || c == '\r';
}

/* The state after one more byte, which does not end a message. Only braces are counted: brackets
 * that do not match are for the JSON parser to refuse, and must not swallow what follows. */
static PnWireState step(PnWire *wire, char c)
{
        switch (wire->state) {
        case PN_WIRE_BETWEEN:
                if (is_blank(c))
                        return PN_WIRE_BETWEEN;
                wire->depth = 1;
                return c == '{' ? PN_WIRE_OBJECT : PN_WIRE_GARBAGE;
        case PN_WIRE_OBJECT:
                if (c == '"')
                        return PN_WIRE_STRING;
                if (c == '{')
                        wire->depth++;
                else if (c == '}' && --wire->depth == 0)
                        return PN_WIRE_AFTER;
                return PN_WIRE_OBJECT;
        case PN_WIRE_STRING:
                return c == '"' ? PN_WIRE_OBJECT : c == '\\' ? PN_WIRE_ESCAPE : PN_WIRE_STRING;
        case PN_WIRE_ESCAPE:
                return PN_WIRE_STRING;
        case PN_WIRE_AFTER:
                return is_blank(c) ? PN_WIRE_AFTER : PN_WIRE_GARBAGE;
        case PN_WIRE_GARBAGE:
                break;
        }
        return PN_WIRE_GARBAGE;
}

/* Whether a newline or NUL ends something here. A NUL always does: JSON has none. A newline does
 * except between the tokens of an object; in a string it is never allowed, so there is nothing to
 * wait for. */
static bool ends_here(const PnWire *wire, char c)
{
        return c == '\0' || (c == '\n' && wire->state != PN_WIRE_OBJECT);
}

int pn_wire_next(PnWire *wire, PnMessage *ret)
{
        while (wire->scanned < wire->end) {
                char c = wire->data[wire->scanned];
                size_t length = wire->scanned - wire->start;

                if (!ends_here(wire, c)) {
                        if (length >= max_of(wire))
                                return -EMSGSIZE;
                        wire->state = step(wire, c);
                        wire->scanned++;
                        if (wire->state == PN_WIRE_BETWEEN)
                                wire->start = wire->scanned;
                        continue;
                }
                wire->scanned++;
                if (wire->state == PN_WIRE_BETWEEN) {
                        wire->start = wire->scanned;
                        continue;
                }
                *ret = (PnMessage){wire->data + wire->start, length, c};
                wire->start = wire->scanned;
                wire->state = PN_WIRE_BETWEEN;
                return 1;
        }
        if (wire->start == wire->end)
                pn_wire_done(wire);
        return 0;
}

bool pn_wire_is_partial(const PnWire *wire)
{
        return wire->state != PN_WIRE_BETWEEN;
}
