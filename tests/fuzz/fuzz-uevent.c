/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes lib/uevent.c: the input is a message of udev's, or notifications of rtnetlink's. */
#include "base.h"
#include "uevent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
        if (!truth)
                abort();
}

/* Within the message, and ended there. */
static void require_text(const char *text, const uint8_t *data, size_t size)
{
        size_t at = (size_t)((const uint8_t *)text - data);

        require(at < size && strnlen(text, size - at) < size - at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        size_t offset = 0;
        PnUevent event;
        PnLinkEvent link;

        if (pn_uevent_parse(data, size, &event) == 0) {
                require_text(event.action, data, size);
                require_text(event.devpath, data, size);
                require_text(event.subsystem, data, size);
                if (event.pci_class)
                        require_text(event.pci_class, data, size);
                (void)pn_uevent_hash(event.subsystem);
        }
        for (;;) {
                size_t before = offset;
                int r = pn_link_event_next(data, size, &offset, &link);

                if (r <= 0)
                        break;
                require(offset > before);
                require(strnlen(link.name, sizeof link.name) < sizeof link.name);
                require(strnlen(link.kind, sizeof link.kind) < sizeof link.kind);
                (void)pn_link_is_up(&link.state);
        }
        return 0;
}
