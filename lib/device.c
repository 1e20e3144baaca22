/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds one device by any of its names and gathers what is known of it; does no I/O. */

#include "device.h"

#include <stdio.h>

#include "ports.h"
#include "rating.h"
#include "topology.h"

typedef struct Match {
        const char *kind;
        const PnNvme *nvme;
        const PnDisk *disk;
        const PnNic *nic;
        const char *address; /* of the PCI function that it is or sits on */
} Match;

static bool match_nvme(const PnInventory *inventory, const char *name, Match *match)
{
        for (unsigned i = 0; i < inventory->nvme.n; i++) {
                const PnNvme *drive = &inventory->nvme.v[i];

                if (pn_text_is(&drive->name, name)) {
                        *match = (Match){"nvme", drive, NULL, NULL, pn_text(&drive->address)};
                        return true;
                }
        }
        for (unsigned i = 0; i < inventory->nvme.n; i++) {
                const PnNvme *drive = &inventory->nvme.v[i];

                for (unsigned k = 0; k < drive->namespaces.n; k++)
                        if (pn_text_is(&drive->namespaces.v[k].name, name)) {
                                *match = (Match){"namespace", drive, NULL, NULL,
                                                 pn_text(&drive->address)};
                                return true;
                        }
        }
        return false;
}

static bool match_disk(const PnInventory *inventory, const char *name, Match *match)
{
        for (unsigned i = 0; i < inventory->disks.n; i++)
                if (pn_text_is(&inventory->disks.v[i].name, name)) {
                        *match = (Match){"disk", NULL, &inventory->disks.v[i], NULL,
                                         pn_text(&inventory->disks.v[i].address)};
                        return true;
                }
        return false;
}

static bool match_pci(const PnTopology *topology, const PnInventory *inventory, const char *name,
                      Match *match)
{
        uint32_t node = pn_topology_find(topology, name);
        char full[32];

        if (node == PN_NOBODY && snprintf(full, sizeof full, "0000:%s", name) < (int)sizeof full)
                node = pn_topology_find(topology, full);
        if (node == PN_NOBODY)
                return false;
        *match = (Match){"pci", NULL, NULL, NULL, topology->v[node].pci->address.v};
        for (unsigned i = 0; i < inventory->nvme.n; i++)
                if (pn_text_is(&inventory->nvme.v[i].address, match->address))
                        match->nvme = &inventory->nvme.v[i];
        for (unsigned i = 0; i < inventory->nics.n && !match->nic; i++)
                if (pn_text_is(&inventory->nics.v[i].address, match->address))
                        match->nic = &inventory->nics.v[i];
        return true;
}

/* Interfaces by name; a function without one is found by its address. */
static bool match_nic(const PnInventory *inventory, const char *name, Match *match)
{
        for (unsigned i = 0; i < inventory->nics.n; i++)
                if (pn_text_is(&inventory->nics.v[i].name, name)) {
                        *match = (Match){"nic", NULL, NULL, &inventory->nics.v[i],
                                         pn_text(&inventory->nics.v[i].address)};
                        return true;
                }
        return false;
}

static const PnRating *rating_with(const PnStatus *status, const char *function)
{
        for (unsigned i = 0; i < status->ratings.n; i++)
                for (unsigned k = 0; k < status->ratings.v[i].functions.n; k++)
                        if (strcmp(status->ratings.v[i].functions.v[k], function) == 0)
                                return &status->ratings.v[i];
        return NULL;
}

/* The link that a port leads to, which is told under what is at its other end. */
static int gather_own_link(const PnStatus *status, const char *port, PnDevice *device)
{
        for (unsigned i = 0; i < status->ratings.n; i++) {
                PnRating *copy;

                if (!pn_text_is(&status->ratings.v[i].port, port))
                        continue;
                copy = PN_APPEND(&device->path);
                return copy ? pn_copy(pn_type_Rating(), copy, &status->ratings.v[i]) : -ENOMEM;
        }
        return 0;
}

static int gather_path(const PnTopology *topology, const PnStatus *status, const char *address,
                       PnDevice *device)
{
        uint32_t node = pn_topology_find(topology, address);

        if (node != PN_NOBODY && pn_is_downward_port(topology->v[node].pci) &&
            gather_own_link(status, address, device) < 0)
                return -ENOMEM;
        for (; node != PN_NOBODY; node = topology->v[node].parent) {
                const PnRating *rating = rating_with(status, topology->v[node].pci->address.v);
                PnRating *copy;

                if (!rating)
                        continue;
                copy = PN_APPEND(&device->path);
                if (!copy || pn_copy(pn_type_Rating(), copy, rating) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static bool is_about_port(const PnFinding *finding)
{
        return pn_startswith(finding->code.v, "module.") ||
               pn_startswith(finding->code.v, "bond.") ||
               (pn_startswith(finding->code.v, "nic.") &&
                strcmp(finding->code.v, "nic.pcie_short") != 0);
}

/* A finding is about a device if it names it, its address, or one of its links' first function. */
static bool concerns(const PnFinding *finding, const Match *match, const PnDevice *device)
{
        const char *address = pn_text(&finding->address), *name = pn_text(&finding->device);

        if (match->nvme && name && strcmp(name, match->nvme->name.v) == 0)
                return true;
        if (match->disk && name && strcmp(name, match->disk->name.v) == 0)
                return true;
        if (match->nic && name && strcmp(name, match->nic->id.v) == 0)
                return true;
        /* What is found about one port of a card is not about the next, which has the same link. */
        if (match->nic && name && is_about_port(finding))
                return false;
        if (!address)
                return false;
        if (match->address && strcmp(address, match->address) == 0)
                return true;
        for (unsigned i = 0; i < device->path.n; i++)
                if (strcmp(device->path.v[i].address.v, address) == 0)
                        return true;
        return false;
}

static int judge_port(const PnInventory *inventory, const PnStatus *status, const PnNic *nic,
                      PnDevice *device)
{
        const PnRatings ratings = {PN_KNOWN, status->ratings.n, status->ratings.v};
        PnPorts ports;
        int r = pn_ports_judge(inventory, &ratings, &ports);

        if (r < 0)
                return r;
        for (unsigned i = 0; i < ports.n && r == 0; i++)
                if (pn_text_is(&ports.v[i].id, nic->id.v)) {
                        PnPort *port = PN_NEW(&device->port);

                        r = port ? pn_copy(pn_type_Port(), port, &ports.v[i]) : -ENOMEM;
                        break;
                }
        pn_ports_done(&ports);
        return r;
}

static int gather(const PnInventory *inventory, const PnTopology *topology, const PnStatus *status,
                  const char *name, const Match *match, PnDevice *device)
{
        uint32_t node = pn_topology_find(topology, match->address);

        if (pn_set_text(&device->name, name) < 0 || pn_set_text(&device->kind, match->kind) < 0)
                return -ENOMEM;
        if (node != PN_NOBODY) {
                PnPci *pci = PN_NEW(&device->pci);

                if (!pci || pn_copy(pn_type_Pci(), pci, &inventory->pci.v[node]) < 0)
                        return -ENOMEM;
        }
        if (match->nvme) {
                PnNvme *nvme = PN_NEW(&device->nvme);

                if (!nvme || pn_copy(pn_type_Nvme(), nvme, match->nvme) < 0)
                        return -ENOMEM;
        }
        if (match->disk) {
                PnDisk *disk = PN_NEW(&device->disk);

                if (!disk || pn_copy(pn_type_Disk(), disk, match->disk) < 0)
                        return -ENOMEM;
        }
        if (match->nic) {
                PnNic *nic = PN_NEW(&device->nic);

                if (!nic || pn_copy(pn_type_Nic(), nic, match->nic) < 0 ||
                    judge_port(inventory, status, match->nic, device) < 0)
                        return -ENOMEM;
        }
        if (gather_path(topology, status, match->address, device) < 0)
                return -ENOMEM;
        for (unsigned i = 0; i < status->findings.n; i++) {
                PnFinding *copy;

                if (!concerns(&status->findings.v[i], match, device))
                        continue;
                copy = PN_APPEND(&device->findings);
                if (!copy || pn_copy(pn_type_Finding(), copy, &status->findings.v[i]) < 0)
                        return -ENOMEM;
        }
        return 0;
}

int pn_device_find(const PnInventory *inventory, const PnStatus *status, const char *name,
                   PnDevice *ret)
{
        PnDevice device = {0};
        PnTopology topology;
        Match match;
        int r;

        r = pn_topology_build(inventory, &topology);
        if (r < 0)
                return r;
        if (!match_nvme(inventory, name, &match) && !match_disk(inventory, name, &match) &&
            !match_nic(inventory, name, &match) && !match_pci(&topology, inventory, name, &match))
                r = -ENOENT;
        else
                r = gather(inventory, &topology, status, name, &match, &device);
        pn_topology_done(&topology);
        if (r < 0) {
                pn_done(pn_type_Device(), &device);
                return r;
        }
        *ret = device;
        return 0;
}
