/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tells a device that changes hands from one that is lost. A drive goes from the nvme source a
 * moment before its function has a driver that hands it to a guest, and comes back a moment after
 * it has none; what is read in between would be a lost drive, or one that nobody drives. */

#include "handover.h"

#include "log.h"
#include "pcie.h"

/* As an inventory is sorted that has been joined. */
static int compare_address(const void *key, const void *element)
{
        const PnPciAddress *wanted = key;
        const PnPci *pci = element;
        PnPciAddress address;

        if (pn_pci_address_parse(pn_text(&pci->address), &address) < 0)
                return -1; /* these come last */
        return pn_pci_address_compare(wanted, &address);
}

static const PnPci *find_shown(const PnInventory *shown, const PnPci *pci)
{
        PnPciAddress address;

        if (!shown->pci.n || pn_pci_address_parse(pn_text(&pci->address), &address) < 0)
                return NULL;
        return bsearch(&address, shown->pci.v, shown->pci.n, sizeof *shown->pci.v, compare_address);
}

static bool has_lost_driver(const PnInventory *raw, const PnInventory *shown)
{
        for (unsigned i = 0; i < raw->pci.n; i++) {
                const PnPci *pci = &raw->pci.v[i], *was;

                if (pci->driver.state != PN_ABSENT)
                        continue;
                was = find_shown(shown, pci);
                if (was && was->driver.state == PN_KNOWN)
                        return true;
        }
        return false;
}

static bool is_with_guest(const PnInventory *raw, const char *address)
{
        for (unsigned i = 0; address && i < raw->pci.n; i++)
                if (pn_text_is(&raw->pci.v[i].address, address))
                        return pn_is_true(raw->pci.v[i].passed_through);
        return false;
}

static bool is_shown_lost(const PnInventory *shown, const PnNvme *drive)
{
        for (unsigned i = 0; i < shown->nvme.n; i++) {
                const PnNvme *other = &shown->nvme.v[i];

                if (pn_is_true(other->lost) && pn_streq(other->name.v, drive->name.v) &&
                    pn_streq(pn_text(&other->serial), pn_text(&drive->serial)))
                        return true;
        }
        return false;
}

static bool has_new_loss(const PnInventory *raw, const PnInventory *shown)
{
        for (unsigned i = 0; i < raw->nvme.n; i++) {
                const PnNvme *drive = &raw->nvme.v[i];

                if (pn_is_true(drive->lost) && !is_shown_lost(shown, drive) &&
                    !is_with_guest(raw, pn_text(&drive->address)))
                        return true;
        }
        return false;
}

PnHandover pn_handover(const PnInventory *raw, const PnInventory *shown)
{
        return has_lost_driver(raw, shown) ? PN_HANDOVER_UNBOUND
               : has_new_loss(raw, shown)  ? PN_HANDOVER_LOST
                                           : PN_HANDOVER_NONE;
}

void pn_handover_log(const PnInventory *before, const PnInventory *now)
{
        for (unsigned i = 0; i < now->pci.n; i++) {
                const PnPci *pci = &now->pci.v[i], *was = find_shown(before, pci);
                const char *driver = pn_text(&pci->driver), *name = pn_text(&pci->name);

                if (!was || pn_is_unread(pci->passed_through.state) ||
                    pn_is_unread(was->passed_through.state) ||
                    pn_is_true(pci->passed_through) == pn_is_true(was->passed_through))
                        continue;
                if (pn_is_true(pci->passed_through))
                        pn_log(PN_LOG_INFO, "%s (%s) was handed over to %s", pci->address.v,
                               name ? name : "no name", driver ? driver : "a guest");
                else
                        pn_log(PN_LOG_INFO, "%s (%s) was given back, %s%s", pci->address.v,
                               name ? name : "no name", driver ? "to " : "without a driver",
                               driver ? driver : "");
        }
}
