/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds inventories for tests in a machine's own words; knows no rule. */
#pragma once

/* cmocka.h needs these four before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "join.h"
#include "model.h"

/* A link as "speed in GT/s, width", now and at most. */
typedef struct Ends {
        double now_speed;
        int now_width;
        double max_speed;
        int max_width;
} Ends;

static inline PnPci *pci(PnInventory *inventory, const char *address, const char *kind,
                         const char *parent, const char *class)
{
        PnPci *pci = PN_APPEND(&inventory->pci);

        assert_non_null(pci);
        assert_int_equal(pn_set_text(&pci->address, address), 0);
        assert_int_equal(pn_set_text(&pci->kind, kind), 0);
        assert_int_equal(pn_set_text(&pci->parent, parent), 0);
        assert_int_equal(pn_set_text(&pci->class, class), 0);
        assert_int_equal(pn_set_text(&pci->power, "active"), 0);
        return pci;
}

static inline PnPci *with_link(PnPci *pci, Ends ends)
{
        PnLink *link = PN_NEW(&pci->link);

        assert_non_null(link);
        if (ends.now_speed > 0)
                link->current_speed = pn_real(ends.now_speed);
        if (ends.now_width)
                link->current_width = pn_int(ends.now_width);
        if (ends.max_speed > 0)
                link->max_speed = pn_real(ends.max_speed);
        if (ends.max_width)
                link->max_width = pn_int(ends.max_width);
        return pci;
}

static inline PnPci *port(PnInventory *inventory, const char *address, const char *kind,
                          const char *parent, Ends ends)
{
        return with_link(pci(inventory, address, kind, parent, "0x060400"), ends);
}

static inline PnPci *endpoint(PnInventory *inventory, const char *address, const char *parent,
                              const char *class, Ends ends)
{
        return with_link(pci(inventory, address, "endpoint", parent, class), ends);
}

#define NVME_CLASS "0x010802"
#define VGA_CLASS  "0x030000"
#define NIC_CLASS  "0x020000"

static inline PnNvme *drive(PnInventory *inventory, const char *name, const char *address,
                            const char *serial)
{
        PnNvme *drive = PN_APPEND(&inventory->nvme);

        assert_non_null(drive);
        assert_int_equal(pn_set_text(&drive->name, name), 0);
        assert_int_equal(pn_set_text(&drive->address, address), 0);
        assert_int_equal(pn_set_text(&drive->serial, serial), 0);
        assert_int_equal(pn_set_text(&drive->model, "Example SSD"), 0);
        assert_int_equal(pn_set_text(&drive->state, "live"), 0);
        return drive;
}

/* Gives a drive one namespace that is a member of a pool. */
static inline void in_pool(PnNvme *drive, const char *pool)
{
        PnNamespace *namespace = PN_APPEND(&drive->namespaces);
        PnUse *use;

        assert_non_null(namespace);
        assert_true(pn_format_text(&namespace->name, "%sn1", drive->name.v) == 0);
        use = PN_APPEND(&namespace->uses);
        assert_non_null(use);
        assert_int_equal(pn_set_text(&use->type, "zfs_member"), 0);
        assert_int_equal(pn_set_text(&use->name, pool), 0);
}

static inline PnSlot *slot(PnInventory *inventory, const char *designation, const char *type,
                           double speed, int width, bool in_use, const char *address)
{
        PnHost *host = inventory->host.v ? inventory->host.v : PN_NEW(&inventory->host);
        PnSlot *slot = host ? PN_APPEND(&host->slots) : NULL;

        assert_non_null(slot);
        assert_int_equal(pn_set_text(&slot->designation, designation), 0);
        assert_int_equal(pn_set_text(&slot->type, type), 0);
        assert_int_equal(pn_set_text(&slot->address, address), 0);
        slot->speed = pn_real(speed);
        slot->width = pn_int(width);
        slot->in_use = pn_bool(in_use);
        return slot;
}

static inline void forget(PnInventory *inventory)
{
        pn_done(pn_type_Inventory(), inventory);
}
