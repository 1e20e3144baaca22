/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a source's objects go: a line each, at once, or one document at the end. Knows nothing of
 * where objects come from. */
#include "emit.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "join.h"

static const struct {
        const char *name; /* in a line: the inventory's field in the singular */
        const PnType *(*type)(void);
        size_t list; /* of the inventory; the host is no list */
} kinds[PN_N_OBJECT_KINDS] = {
    [PN_OBJECT_HOST] = {"host", pn_type_Host, 0},
    [PN_OBJECT_PCI] = {"pci", pn_type_Pci, offsetof(PnInventory, pci)},
    [PN_OBJECT_NVME] = {"nvme", pn_type_Nvme, offsetof(PnInventory, nvme)},
    [PN_OBJECT_DISK] = {"disk", pn_type_Disk, offsetof(PnInventory, disks)},
    [PN_OBJECT_NAMESPACE_USES] = {"namespace_uses", pn_type_BlockUses,
                                  offsetof(PnInventory, namespace_uses)},
    [PN_OBJECT_NIC] = {"nic", pn_type_Nic, offsetof(PnInventory, nics)},
    [PN_OBJECT_PORT_MODULE] = {"port_module", pn_type_PortModule,
                               offsetof(PnInventory, port_modules)},
    [PN_OBJECT_NVME_HEALTH] = {"nvme_health", pn_type_NvmeHealth,
                               offsetof(PnInventory, nvme_health)},
    [PN_OBJECT_CHIP] = {"sensor", pn_type_Chip, offsetof(PnInventory, sensors)},
};

const PnType *pn_object_type(PnObjectKind kind)
{
        return kinds[kind].type();
}

void pn_report_reason(PnReport *report, const char *format, ...)
{
        va_list args;

        if (*report->reason)
                return;
        va_start(args, format);
        (void)vsnprintf(report->reason, sizeof report->reason, format, args);
        va_end(args);
}

static void write_out(PnEmit *emit, PnBuf *buf)
{
        if (buf->error < 0)
                emit->error = buf->error;
        for (size_t done = 0; emit->error == 0 && done < buf->len;) {
                ssize_t n = write(STDOUT_FILENO, buf->data + done, buf->len - done);

                if (n >= 0) {
                        done += (size_t)n;
                } else if (errno == EAGAIN) {
                        struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};

                        (void)poll(&output, 1, -1);
                } else if (errno != EINTR) {
                        emit->error = -errno;
                }
        }
}

static void *place_in_inventory(PnEmit *emit, PnObjectKind kind)
{
        if (kind == PN_OBJECT_HOST)
                return emit->inventory.host.v ? NULL : PN_NEW(&emit->inventory.host);
        return pn_list_append((char *)&emit->inventory + kinds[kind].list,
                              kinds[kind].type()->size);
}

void pn_emit_object(PnEmit *emit, const char *source, PnObjectKind kind, void *object)
{
        const PnType *type = kinds[kind].type();

        if (emit->error == 0 && emit->lines) {
                _cleanup_buf_ PnBuf line = {0};

                pn_buf_printf(&line, "{\"source\":\"%s\",\"kind\":\"%s\",\"object\":", source,
                              kinds[kind].name);
                pn_write_json(&line, type, object);
                pn_buf_puts(&line, "}\n");
                write_out(emit, &line);
        } else if (emit->error == 0) {
                void *place = place_in_inventory(emit, kind);

                if (place) {
                        memcpy(place, object, type->size);
                        memset(object, 0, type->size);
                        return;
                }
                emit->error = -ENOMEM;
        }
        pn_done(type, object);
}

static int add_source(PnInventory *inventory, const char *name, const PnReport *report,
                      int64_t took_ms)
{
        PnSource *source = PN_APPEND(&inventory->sources);
        char now[32];
        time_t t = time(NULL);
        struct tm utc;

        if (!source || !gmtime_r(&t, &utc) ||
            strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
                return -ENOMEM;
        source->took_ms = pn_int(took_ms);
        if (pn_set_text(&source->name, name) < 0 || pn_set_text(&source->updated, now) < 0 ||
            pn_set_text(&source->state, *report->reason ? "failed" : "fresh") < 0 ||
            pn_set_text(&source->reason, *report->reason ? report->reason : NULL) < 0)
                return -ENOMEM;
        return 0;
}

void pn_emit_end(PnEmit *emit, const char *source, const PnReport *report, int64_t took_ms)
{
        if (emit->error < 0)
                return;
        if (emit->lines) {
                _cleanup_buf_ PnBuf line = {0};

                pn_buf_printf(&line,
                              "{\"end\":\"%s\",\"count\":%u,\"took_ms\":%lld,\"reason\":", source,
                              report->count, (long long)took_ms);
                pn_buf_json_string(&line, *report->reason ? report->reason : NULL);
                pn_buf_puts(&line, "}\n");
                write_out(emit, &line);
        } else {
                emit->error = add_source(&emit->inventory, source, report, took_ms);
        }
}

int pn_emit_finish(PnEmit *emit)
{
        _cleanup_buf_ PnBuf inventory = {0}, document = {0};

        if (emit->error == 0 && !emit->lines)
                emit->error = pn_join(&emit->inventory);
        if (emit->error < 0 || emit->lines)
                return emit->error;
        /* The schema's version is the document's, not a field of the inventory: it goes in front
         * of the inventory's own members. */
        pn_write_json(&inventory, pn_type_Inventory(), &emit->inventory);
        pn_buf_printf(&document, "{\"schema\":%d,", PN_SCHEMA_VERSION);
        if (inventory.error == 0)
                pn_buf_put(&document, inventory.data + 1, inventory.len - 1);
        else
                document.error = inventory.error;
        pn_buf_puts(&document, "\n");
        write_out(emit, &document);
        return emit->error;
}

void pn_emit_done(PnEmit *emit)
{
        pn_done(pn_type_Inventory(), &emit->inventory);
}
