/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Says what a chip that measures is part of; see parts.h. */

#include "parts.h"

#include <stdlib.h>

#include "index.h"

/* By the driver that libsensors names a chip after. Of most cards the inventory knows better what
 * they are; these count where it does not have them. */
static const struct {
        const char *driver, *part;
} drivers[] = {
    {"k10temp", "CPU"},
    {"k8temp", "CPU"},
    {"zenpower", "CPU"},
    {"zenergy", "CPU"},
    {"coretemp", "CPU"},
    {"via_cputemp", "CPU"},
    {"cpu_thermal", "CPU"},
    {"fam15h_power", "CPU"},
    {"amd_energy", "CPU"},
    {"peci_cputemp", "CPU"},
    {"nct", "board"},
    {"it8", "board"},
    {"f71", "board"},
    {"f81", "board"},
    {"w83", "board"},
    {"sch5", "board"},
    {"smsc47", "board"},
    {"asus", "board"},
    {"gigabyte_wmi", "board"},
    {"acpi", "board"},
    {"pch_", "board"},
    {"dell_smm", "board"},
    {"jc42", "memory"},
    {"spd5118", "memory"},
    {"peci_dimmtemp", "memory"},
    {"amdgpu", "graphics card"},
    {"radeon", "graphics card"},
    {"nouveau", "graphics card"},
    {"i915", "graphics card"},
    {"xe", "graphics card"},
    {"ixgbe", "network card"},
    {"igb", "network card"},
    {"igc", "network card"},
    {"i40e", "network card"},
    {"ice", "network card"},
    {"bnxt_en", "network card"},
    {"bnx2x", "network card"},
    {"tg3", "network card"},
    {"r8169", "network card"},
    {"atlantic", "network card"},
    {"mlx4", "network card"},
    {"mlx5", "network card"},
    {"cxgb4", "network card"},
    {"nfp", "network card"},
    {"be2net", "network card"},
    {"iwlwifi", "network card"},
    {"ath1", "network card"},
    {"mt7", "network card"},
    {"corsairpsu", "power supply"},
    {"drivetemp", "disk"},
};

/* A chip's name without its bus and address: "k10temp" of "k10temp-pci-00c3". */
static size_t driver_length(const char *chip)
{
        return strcspn(chip, "-");
}

/* A short name is all of a driver's ("xe", "ice"), or the beginning of a family's ("nct", "it8"):
 * what follows a family's beginning is a number. */
static bool is_driver(const char *chip, const char *driver)
{
        size_t n = strlen(driver), length = driver_length(chip);

        return pn_startswith(chip, driver) &&
               (length == n || driver[n - 1] == '_' || n > 3 || (chip[n] >= '0' && chip[n] <= '9'));
}

static const char *part_by_driver(const char *chip)
{
        for (size_t i = 0; i < PN_ELEMENTS(drivers); i++)
                if (is_driver(chip, drivers[i].driver))
                        return drivers[i].part;
        return NULL;
}

static const char *part_by_class(const PnPci *pci)
{
        static const struct {
                const char *class, *part;
        } classes[] = {
            {"0x01", "storage controller"}, {"0x02", "network card"}, {"0x03", "graphics card"}};

        for (size_t i = 0; i < PN_ELEMENTS(classes); i++)
                if (pn_text(&pci->class) && pn_startswith(pci->class.v, classes[i].class))
                        return classes[i].part;
        return NULL;
}

/* What chips' devices are names of. */
typedef struct Devices {
        PnIndex pci, nics, ports, disks; /* `ports`: interfaces by their function's address */
} Devices;

static void devices_done(Devices *devices)
{
        pn_index_done(&devices->pci);
        pn_index_done(&devices->nics);
        pn_index_done(&devices->ports);
        pn_index_done(&devices->disks);
}

static int devices_init(Devices *devices, const PnInventory *inventory)
{
        if (pn_index_init(&devices->pci, inventory->pci.n) < 0 ||
            pn_index_init(&devices->nics, inventory->nics.n) < 0 ||
            pn_index_init(&devices->ports, inventory->nics.n) < 0 ||
            pn_index_init(&devices->disks, inventory->disks.n) < 0)
                return -ENOMEM;
        for (unsigned i = 0; i < inventory->pci.n; i++)
                pn_index_add(&devices->pci, inventory->pci.v[i].address.v, &inventory->pci.v[i]);
        for (unsigned i = 0; i < inventory->nics.n; i++) {
                const PnNic *nic = &inventory->nics.v[i];

                if (!pn_text_is(&nic->kind, "physical"))
                        continue;
                pn_index_add(&devices->nics, pn_text(&nic->name), nic);
                if (pn_text(&nic->name))
                        pn_index_add(&devices->ports, pn_text(&nic->address), nic);
        }
        for (unsigned i = 0; i < inventory->disks.n; i++)
                pn_index_add(&devices->disks, inventory->disks.v[i].name.v, &inventory->disks.v[i]);
        pn_index_sort(&devices->pci);
        pn_index_sort(&devices->nics);
        pn_index_sort(&devices->ports);
        pn_index_sort(&devices->disks);
        return 0;
}

static int name_chip(const Devices *devices, PnChip *chip)
{
        const char *device = pn_text(&chip->device), *name = device;
        const char *part = part_by_driver(chip->chip.v), *slot;
        const PnPci *pci = pn_index_find(&devices->pci, device, NULL);
        const PnNic *port = pn_index_find(&devices->ports, device, NULL);

        if (pci && part_by_class(pci))
                part = part_by_class(pci);
        if (port || pn_index_find(&devices->nics, device, NULL))
                part = "network card";
        else if (pn_index_find(&devices->disks, device, NULL))
                part = "disk";
        slot = pci ? pn_text(&pci->slot) : NULL;
        if (port)
                name = port->name.v;
        else if (slot)
                name = slot;
        /* A driver makes a number of its own: which package it is. */
        if (part && device && pn_startswith(device, "coretemp."))
                name = device + strlen("coretemp.");
        if (pn_set_text(&chip->part, part) < 0)
                return -ENOMEM;
        return pn_set_text(&chip->part_name, part ? name : NULL);
}

static bool is_of_one(const PnChip *chip)
{
        return pn_text_is(&chip->part, "CPU") || pn_text_is(&chip->part, "memory") ||
               pn_text_is(&chip->part, "power supply");
}

static bool same_driver(const PnChip *a, const PnChip *b)
{
        size_t n = driver_length(a->chip.v);

        return n == driver_length(b->chip.v) && memcmp(a->chip.v, b->chip.v, n) == 0;
}

/* A machine has one board, and most have one CPU: where there is no other, a name would be noise.
 * Chips of one part are beside each other in no order, but there are few drivers of such parts: the
 * first chip of each is held against the others. */
static void drop_names(PnInventory *inventory)
{
        const PnChip *first[PN_ELEMENTS(drivers)] = {NULL};
        bool several[PN_ELEMENTS(drivers)] = {false};

        for (int turn = 0; turn < 2; turn++)
                for (unsigned i = 0; i < inventory->sensors.n; i++) {
                        PnChip *chip = &inventory->sensors.v[i];
                        size_t k = 0;

                        if (pn_text_is(&chip->part, "board"))
                                (void)pn_set_text(&chip->part_name, NULL);
                        if (!is_of_one(chip))
                                continue;
                        while (k < PN_ELEMENTS(first) && first[k] && !same_driver(first[k], chip))
                                k++;
                        if (k == PN_ELEMENTS(first))
                                continue;
                        if (!first[k])
                                first[k] = chip;
                        several[k] |= first[k] != chip;
                        if (turn == 1 && !several[k])
                                (void)pn_set_text(&chip->part_name, NULL);
                }
}

int pn_parts_name(PnInventory *inventory)
{
        Devices devices = {0};
        int r = devices_init(&devices, inventory);

        for (unsigned i = 0; i < inventory->sensors.n && r == 0; i++)
                r = name_chip(&devices, &inventory->sensors.v[i]);
        devices_done(&devices);
        if (r == 0)
                drop_names(inventory);
        return r;
}
