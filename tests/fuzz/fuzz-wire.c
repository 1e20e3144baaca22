/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes lib/wire.c: the first byte says how the stream is cut, the rest is the stream. However it
 * is cut, the messages must be the same. */
#include "base.h"
#include "wire.h"

#define LIMIT 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
        if (!truth)
                abort();
}

/* A digest of all messages, their endings, and how the stream ended. */
static uint64_t read_all(const uint8_t *data, size_t size, size_t piece)
{
        PnWire wire = {.max = LIMIT};
        uint64_t digest = 14695981039346656037u;
        PnMessage message;
        int r = 0;

        for (size_t i = 0; i < size && r >= 0;) {
                size_t room, n = size - i < piece ? size - i : piece;
                char *at;

                require(pn_wire_reserve(&wire, &at, &room) == 0);
                require(room > 0);
                n = n < room ? n : room;
                memcpy(at, data + i, n);
                pn_wire_filled(&wire, n);
                i += n;
                while ((r = pn_wire_next(&wire, &message)) > 0) {
                        require(message.length > 0 && message.length <= LIMIT);
                        require(message.ending == '\0' || message.ending == '\n');
                        require(memchr(message.text, '\0', message.length) == NULL);
                        for (size_t k = 0; k < message.length; k++)
                                digest = (digest ^ (unsigned char)message.text[k]) * 1099511628211u;
                        digest = (digest ^ (message.ending ? 256u : 257u)) * 1099511628211u;
                }
                require(r == 0 || r == -EMSGSIZE);
                require(r != 0 || !pn_wire_has_bytes(&wire));
                require(wire.capacity <= LIMIT + 2);
        }
        digest = (digest ^ (r < 0 ? 258u : 259u)) * 1099511628211u;
        digest = (digest ^ (pn_wire_is_partial(&wire) ? 260u : 261u)) * 1099511628211u;
        pn_wire_done(&wire);
        return digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size == 0)
                return 0;
        require(read_all(data + 1, size - 1, 1u + data[0]) == read_all(data + 1, size - 1, 1));
        return 0;
}
