/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rules about what changed over time (counters that grow, fans that stop, disks that are gone),
 * and the words for them. Pure functions of the facts, of which the memory is one; without a memory
 * they cannot tell. */

#include <inttypes.h>
#include <stdio.h>

#include "learn.h"
#include "rules.h"
#include "when.h"

/* Errors that are repaired on the way are told of from so many in a day, and are a warning from so
 * many: each link has one now and then. */
#define CORRECTABLE_NOTICE  10
#define CORRECTABLE_WARNING 1000
#define FRAMES_WARNING      10

/* A chip's temperature from which a fan that stands is a danger, where it gives no limit; so near
 * to a limit that it gives; and so much since the reading before (°C). */
#define WARM_C 70
#define NEAR_C 10
#define RISE_C 3

/* "from 3 to 5 since 2026-01-02" */
typedef char Span[96];

static const char *say_span(Span span, const PnGrowth *growth)
{
        PnWhen date;

        (void)snprintf(span, sizeof(Span), "from %" PRId64 " to %" PRId64 " since %s", growth->from,
                       growth->to, pn_when_date(date, growth->since));
        return span;
}

/* ---- NVMe ---- */

static int add_uses(const PnFacts *facts, const char *address, PnFinding *finding)
{
        const PnRating *rating = pn_rating_at(facts->ratings, address);

        for (unsigned i = 0; rating && i < rating->affects.n; i++)
                if (pn_texts_append(&finding->affects, rating->affects.v[i]) < 0)
                        return -ENOMEM;
        return 0;
}

static int media_errors(PnFacts *facts, const PnNvme *drive)
{
        PnFinding *finding;
        PnGrowth growth;
        Span span;
        int r;

        if (!pn_grew_of_drive(facts, PN_COUNTS_MEDIA_ERRORS, drive, &growth))
                return 0;
        finding = pn_finding_add(facts, PN_CODE_nvme_media_errors_rising,
                                 growth.found ? "notice" : "warning", drive,
                                 pn_text(&drive->address), NULL);
        if (!finding || add_uses(facts, pn_text(&drive->address), finding) < 0)
                return -ENOMEM;
        finding->extent = pn_int(growth.to);
        if (growth.found)
                r = pn_format_text(&finding->summary,
                                   "%s has lost data %" PRId64
                                   " time%s before it was watched (media errors).",
                                   drive->name.v, growth.to, growth.to == 1 ? "" : "s");
        else
                r = pn_format_text(&finding->summary, "Media errors of %s went %s: data was lost.",
                                   drive->name.v, say_span(span, &growth));
        if (r == 0)
                r = pn_format_text(&finding->detail,
                                   "The drive could not read back what was written to it, or not "
                                   "repair it (%s, serial %s).",
                                   pn_text(&drive->model) ? drive->model.v : "unknown model",
                                   pn_text(&drive->serial) ? drive->serial.v : "unknown");
        if (r == 0)
                r = pn_set_text(&finding->advice,
                                growth.found
                                    ? "Nothing to do unless the number grows, of which you will "
                                      "be told. This note goes by itself after a week without."
                                    : "Check that backups are good, let the pool or array on it "
                                      "verify its data (scrub), and replace the drive if the "
                                      "number goes on growing.");
        return r;
}

/* ---- PCI Express ---- */

static void name_function(const PnFacts *facts, const PnPci *pci, char *ret, size_t size)
{
        const PnNvme *drive = pn_drive_at(facts->names, pci->address.v);

        if (drive)
                (void)snprintf(ret, size, "%s", drive->name.v);
        else
                (void)snprintf(ret, size, "%s%s%s", pci->address.v, pn_text(&pci->name) ? " " : "",
                               pn_text(&pci->name) ? pci->name.v : "");
}

static PnFinding *add_for_function(PnFacts *facts, const PnPci *pci, PnCode code,
                                   const char *severity)
{
        const PnNvme *drive = pn_drive_at(facts->names, pci->address.v);
        PnFinding *finding = pn_finding_add(facts, code, severity, drive, pci->address.v, NULL);

        return finding && add_uses(facts, pci->address.v, finding) == 0 ? finding : NULL;
}

static int corrected_errors(PnFacts *facts, const PnPci *pci)
{
        PnFinding *finding;
        PnGrowth growth;
        char name[160];
        int64_t more;
        Span span;

        if (!pn_grew_of_function(facts, PN_COUNTS_CORRECTABLE, pci, &growth))
                return 0;
        more = growth.to - growth.from;
        if (more < CORRECTABLE_NOTICE)
                return 0;
        finding = add_for_function(facts, pci, PN_CODE_pcie_aer_rising,
                                   more >= CORRECTABLE_WARNING ? "warning" : "notice");
        if (!finding)
                return -ENOMEM;
        finding->extent = pn_int(more);
        name_function(facts, pci, name, sizeof name);
        if (pn_format_text(&finding->summary,
                           "Corrected errors on the link of %s went %s (PCI Express).", name,
                           say_span(span, &growth)) < 0 ||
            pn_set_text(&finding->detail,
                        "Each was repaired by sending again, which costs time; many of them say "
                        "that the connection is marginal.") < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice,
                           "Power off, reseat the device and any riser, adapter or cable. If they "
                           "go on, set the slot one generation slower in the firmware setup.");
}

static int uncorrected_errors(PnFacts *facts, const PnPci *pci)
{
        PnGrowth fatal = {0}, nonfatal = {0};
        bool is_fatal = pn_grew_of_function(facts, PN_COUNTS_FATAL, pci, &fatal);
        PnFinding *finding;
        char name[160];
        Span span;

        if (!is_fatal && !pn_grew_of_function(facts, PN_COUNTS_NONFATAL, pci, &nonfatal))
                return 0;
        finding =
            add_for_function(facts, pci, PN_CODE_pcie_aer_fatal, is_fatal ? "critical" : "warning");
        if (!finding)
                return -ENOMEM;
        finding->extent = pn_int(fatal.to - fatal.from + nonfatal.to - nonfatal.from);
        name_function(facts, pci, name, sizeof name);
        if (pn_format_text(&finding->summary,
                           "%s errors of %s that could not be corrected went %s (PCI Express).",
                           is_fatal ? "Fatal" : "Non-fatal", name,
                           say_span(span, is_fatal ? &fatal : &nonfatal)) < 0 ||
            pn_set_text(&finding->detail, is_fatal
                                              ? "The link itself failed and had to be reset."
                                              : "A transfer failed; the link itself went on.") < 0)
                return -ENOMEM;
        return pn_set_text(&finding->advice,
                           "Look at `journalctl -k` for what failed. Power off and reseat the "
                           "device, its riser and cables; if it happens again, try another slot, "
                           "and then another device.");
}

/* ---- Network ports ---- */

static int port_errors(PnFacts *facts, const PnNic *nic)
{
        static const struct {
                const char *counter, *before, *after; /* around the port's name */
                const char *advice;
        } kinds[] = {
            {PN_COUNTS_RX_CRC, "Frames that ", " received with a wrong checksum",
             "Almost always the cable, a plug or the module: replace the cable, clean fibre plugs, "
             "try another port of the switch."},
            {PN_COUNTS_FCS, "Frames that ", " received with a wrong checksum",
             "Almost always the cable, a plug or the module: replace the cable, clean fibre plugs, "
             "try another port of the switch."},
            {PN_COUNTS_FEC, "Blocks that ", " received and could not repair (FEC)",
             "The signal is too weak or too noisy: clean fibre plugs, look at the light that the "
             "module receives (`pnhwctl modules`), replace the cable or the module."},
            {PN_COUNTS_RX_ERRORS, "Bad frames that ", " received",
             "Check the cable and the module, and that both ends agree on speed, duplex and the "
             "size of frames."},
            {PN_COUNTS_TX_ERRORS, "Frames that ", " could not send",
             "Look at `journalctl -k` for what the driver says; check the cable and the duplex of "
             "both ends."},
        };

        for (size_t i = 0; i < PN_ELEMENTS(kinds); i++) {
                PnFinding *finding;
                PnGrowth growth;
                Span span;

                if (!pn_grew_of_port(facts, kinds[i].counter, nic, &growth) ||
                    growth.to - growth.from < FRAMES_WARNING)
                        continue;
                finding = pn_finding_add_for_nic(facts, PN_CODE_nic_errors_rising, "warning", nic);
                if (!finding)
                        return -ENOMEM;
                finding->extent = pn_int(growth.to - growth.from);
                if (pn_format_text(&finding->summary, "%s%s%s: %s.", kinds[i].before, nic->id.v,
                                   kinds[i].after, say_span(span, &growth)) < 0)
                        return -ENOMEM;
                return pn_set_text(&finding->advice, kinds[i].advice);
        }
        return 0;
}

/* ---- Fans ---- */

/* The chip's temperature that says that a fan is needed, or NULL. */
static const PnReading *warm_reading(const PnFacts *facts, const PnChip *chip)
{
        for (unsigned i = 0; i < chip->readings.n; i++) {
                const PnReading *it = &chip->readings.v[i], *before;
                double limit = it->max.state == PN_KNOWN        ? it->max.v - NEAR_C
                               : it->critical.state == PN_KNOWN ? it->critical.v - NEAR_C
                                                                : WARM_C;

                if (!pn_text_is(&it->kind, "temperature") || it->value.state != PN_KNOWN ||
                    !pn_is_true(it->plausible))
                        continue;
                if (it->value.v >= limit)
                        return it;
                before = pn_reading_before(facts->names, chip, it);
                if (before && before->value.state == PN_KNOWN &&
                    it->value.v - before->value.v >= RISE_C)
                        return it;
        }
        return NULL;
}

static int fan_stopped(PnFacts *facts, const PnChip *chip, const PnReading *fan)
{
        const char *device = pn_text(&chip->device);
        const PnReading *warm;
        const PnBest *turned;
        PnFinding *finding;
        PnSensorSubject subject;
        PnWhen when;
        int r;

        if (!pn_text_is(&fan->kind, "fan"))
                return 0;
        pn_finding_subject_for_sensor(chip, fan, subject);
        if (fan->value.state != PN_KNOWN || !pn_is_true(fan->plausible))
                return pn_finding_hold(facts, PN_CODE_sensor_fan_stopped, NULL, NULL, subject);
        if (fan->value.v > 0)
                return 0;
        turned = pn_best_of_fan(facts, chip, fan);
        if (!turned)
                return 0; /* an empty header, most likely */
        warm = warm_reading(facts, chip);
        finding = pn_finding_add(facts, PN_CODE_sensor_fan_stopped, warm ? "warning" : "info", NULL,
                                 NULL, subject);
        if (!finding || pn_set_text(&finding->device, device) < 0 ||
            pn_format_text(&finding->summary, "The fan %s (%s) stands; it turned until %s.",
                           fan->label.v, chip->chip.v, pn_when_format(when, turned->last.v)) < 0)
                return -ENOMEM;
        if (warm)
                r = pn_format_text(&finding->detail, "%s of the same chip is at %g °C.",
                                   warm->label.v, warm->value.v);
        else
                r = pn_set_text(
                    &finding->detail,
                    "Nothing near it is warm: many fans rest when they are not needed.");
        if (r < 0)
                return r;
        return pn_set_text(&finding->advice,
                           warm ? "See whether it turns; clean or replace it, and check its plug."
                                : "Nothing to do if it is meant to rest when it is cool.");
}

/* ---- Disks ---- */

static int disk_lost(PnFacts *facts, const PnSeen *disk)
{
        PnFinding *finding;
        PnWhen when;

        if (!pn_is_missing(facts, disk))
                return 0;
        finding = pn_finding_add(facts, PN_CODE_disk_lost, disk->uses.n ? "critical" : "warning",
                                 NULL, NULL, disk->key.v);
        if (!finding || pn_set_text(&finding->device, pn_text(&disk->name)) < 0)
                return -ENOMEM;
        for (unsigned i = 0; i < disk->uses.n; i++)
                if (pn_texts_append(&finding->affects, disk->uses.v[i]) < 0)
                        return -ENOMEM;
        if (pn_format_text(&finding->summary, "The disk %s (%s, serial %s) is gone.",
                           pn_text(&disk->name) ? disk->name.v : "without a name",
                           pn_text(&disk->model) ? disk->model.v : "unknown model",
                           pn_text(&disk->serial) ? disk->serial.v : "unknown") < 0 ||
            pn_format_text(&finding->detail,
                           "It was there last on %s. It failed, lost power, or was taken out.",
                           pn_when_format(when, disk->last.v)) < 0)
                return -ENOMEM;
        return pn_format_text(&finding->advice,
                              "If you took it out, say so: `pnhwctl accept %s`. Else look at "
                              "`journalctl -k`, check its cables and power, and have a replacement "
                              "at hand.",
                              finding->id.v);
}

int pn_rules_growth(PnFacts *facts)
{
        const PnInventory *inventory = facts->inventory;

        if (!facts->memory)
                return 0;
        for (unsigned i = 0; i < inventory->nvme.n; i++)
                if (inventory->nvme.v[i].health.v && !pn_is_true(inventory->nvme.v[i].lost) &&
                    media_errors(facts, &inventory->nvme.v[i]) < 0)
                        return -ENOMEM;
        for (unsigned i = 0; i < inventory->pci.n; i++)
                if (inventory->pci.v[i].aer.v &&
                    (corrected_errors(facts, &inventory->pci.v[i]) < 0 ||
                     uncorrected_errors(facts, &inventory->pci.v[i]) < 0))
                        return -ENOMEM;
        for (unsigned i = 0; i < inventory->nics.n; i++)
                if (inventory->nics.v[i].errors.v &&
                    pn_text_is(&inventory->nics.v[i].kind, "physical") &&
                    port_errors(facts, &inventory->nics.v[i]) < 0)
                        return -ENOMEM;
        for (unsigned i = 0; i < inventory->sensors.n; i++)
                for (unsigned k = 0; k < inventory->sensors.v[i].readings.n; k++)
                        if (fan_stopped(facts, &inventory->sensors.v[i],
                                        &inventory->sensors.v[i].readings.v[k]) < 0)
                                return -ENOMEM;
        for (unsigned i = 0; pn_is_fresh(inventory, "block") && i < facts->memory->disks.n; i++)
                if (disk_lost(facts, &facts->memory->disks.v[i]) < 0)
                        return -ENOMEM;
        return 0;
}
