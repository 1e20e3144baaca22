/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes findings: what each is about, its id, and its first fields. Knows no rule and no words of
 * theirs. */

#include "finding.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- What there is, by name ---- */

/* As strcmp(), with nothing before everything. */
static int compare_texts(const PnText *one, const PnText *other)
{
        const char *a = pn_text(one), *b = pn_text(other);

        return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int compare_makes(const PnNvme *one, const PnNvme *other)
{
        int r = compare_texts(&one->serial, &other->serial);

        return r ? r : compare_texts(&one->model, &other->model);
}

static int compare_serials(const void *a, const void *b)
{
        const PnNvme *const *one = a, *const *other = b;
        int r = compare_makes(*one, *other);

        return r ? r : compare_texts(&(*one)->subsystem, &(*other)->subsystem);
}

static int compare_readings(const void *a, const void *b)
{
        const PnReadingBefore *one = a, *other = b;
        int r = strcmp(one->chip->chip.v, other->chip->chip.v);

        if (r == 0)
                r = compare_texts(&one->chip->device, &other->chip->device);
        return r ? r : compare_texts(&one->reading->feature, &other->reading->feature);
}

static int list_readings(const PnInventory *before, PnNames *names)
{
        size_t n = 0;

        for (unsigned i = 0; before && i < before->sensors.n; i++)
                n += before->sensors.v[i].readings.n;
        if (!n)
                return 0;
        names->readings_before = calloc(n, sizeof *names->readings_before);
        if (!names->readings_before)
                return -ENOMEM;
        for (unsigned i = 0; i < before->sensors.n; i++)
                for (unsigned k = 0; k < before->sensors.v[i].readings.n; k++)
                        names->readings_before[names->n_readings_before++] = (PnReadingBefore){
                            &before->sensors.v[i], &before->sensors.v[i].readings.v[k]};
        qsort(names->readings_before, names->n_readings_before, sizeof *names->readings_before,
              compare_readings);
        return 0;
}

const PnReading *pn_reading_before(const PnNames *names, const PnChip *chip,
                                   const PnReading *reading)
{
        const PnReadingBefore key = {chip, reading}, *found = NULL;

        if (names->n_readings_before)
                found = bsearch(&key, names->readings_before, names->n_readings_before, sizeof key,
                                compare_readings);
        return found ? found->reading : NULL;
}

/* Rooms for all, so that the lists can be filled without a failure. */
static int make_room(const PnInventory *inventory, const PnInventory *before, PnNames *names)
{
        const struct {
                PnIndex *index;
                unsigned most;
        } rooms[] = {
            {&names->drives_by_name, inventory->nvme.n},
            {&names->drives_by_address, inventory->nvme.n},
            {&names->drives_before, before ? before->nvme.n : 0},
            {&names->nics_by_mac, inventory->nics.n},
            {&names->nics_by_id, inventory->nics.n},
            {&names->nics_by_name, inventory->nics.n},
            {&names->nics_by_address, inventory->nics.n},
            {&names->nics_by_lower, inventory->nics.n},
            {&names->slots_by_name, inventory->host.v ? inventory->host.v->slots.n : 0},
        };

        for (size_t i = 0; i < PN_ELEMENTS(rooms); i++)
                if (pn_index_init(rooms[i].index, rooms[i].most) < 0)
                        return -ENOMEM;
        names->by_serial = calloc((size_t)inventory->nvme.n + 1, sizeof *names->by_serial);
        return names->by_serial ? list_readings(before, names) : -ENOMEM;
}

static void add_drives(const PnInventory *inventory, const PnInventory *before, PnNames *names)
{
        for (unsigned i = 0; i < inventory->nvme.n; i++) {
                const PnNvme *drive = &inventory->nvme.v[i];

                pn_index_add(&names->drives_by_name, pn_text(&drive->name), drive);
                pn_index_add(&names->drives_by_address, pn_text(&drive->address), drive);
                if (pn_text(&drive->serial))
                        names->by_serial[names->n_serials++] = drive;
        }
        for (unsigned i = 0; before && i < before->nvme.n; i++)
                if (before->nvme.v[i].health.state == PN_KNOWN)
                        pn_index_add(&names->drives_before, pn_text(&before->nvme.v[i].name),
                                     &before->nvme.v[i]);
}

static void add_nics(const PnInventory *inventory, PnNames *names)
{
        for (unsigned i = 0; i < inventory->nics.n; i++) {
                const PnNic *nic = &inventory->nics.v[i];

                pn_index_add(&names->nics_by_mac, pn_text(&nic->permanent_mac), nic);
                pn_index_add(&names->nics_by_id, pn_text(&nic->id), nic);
                pn_index_add(&names->nics_by_name, pn_text(&nic->name), nic);
                pn_index_add(&names->nics_by_address, pn_text(&nic->address), nic);
                pn_index_add(&names->nics_by_lower, pn_text(&nic->lower), nic);
        }
}

int pn_names_build(const PnInventory *inventory, const PnInventory *before, PnNames *ret)
{
        PnNames names = {0};

        if (make_room(inventory, before, &names) < 0) {
                pn_names_done(&names);
                return -ENOMEM;
        }
        add_drives(inventory, before, &names);
        add_nics(inventory, &names);
        for (unsigned i = 0; inventory->host.v && i < inventory->host.v->slots.n; i++)
                pn_index_add(&names.slots_by_name,
                             pn_text(&inventory->host.v->slots.v[i].designation),
                             &inventory->host.v->slots.v[i]);
        pn_index_sort(&names.drives_by_name);
        pn_index_sort(&names.drives_by_address);
        pn_index_sort(&names.drives_before);
        pn_index_sort(&names.nics_by_mac);
        pn_index_sort(&names.nics_by_id);
        pn_index_sort(&names.nics_by_name);
        pn_index_sort(&names.nics_by_address);
        pn_index_sort(&names.nics_by_lower);
        pn_index_sort(&names.slots_by_name);
        qsort(names.by_serial, names.n_serials, sizeof *names.by_serial, compare_serials);
        *ret = names;
        return 0;
}

void pn_names_done(PnNames *names)
{
        pn_index_done(&names->drives_by_name);
        pn_index_done(&names->drives_by_address);
        pn_index_done(&names->drives_before);
        pn_index_done(&names->nics_by_mac);
        pn_index_done(&names->nics_by_id);
        pn_index_done(&names->nics_by_name);
        pn_index_done(&names->nics_by_address);
        pn_index_done(&names->nics_by_lower);
        pn_index_done(&names->slots_by_name);
        free(names->by_serial);
        free(names->readings_before);
        *names = (PnNames){0};
}

const PnNic *pn_nic_named(const PnNames *names, const char *id)
{
        return pn_index_find(&names->nics_by_id, id, NULL);
}

const PnNvme *pn_drive_named(const PnNames *names, const char *name)
{
        return pn_index_find(&names->drives_by_name, name, NULL);
}

const PnNvme *pn_drive_at(const PnNames *names, const char *address)
{
        return pn_index_find(&names->drives_by_address, address, NULL);
}

/* The first drive whose serial and model are not below those of `drive`, or with `beyond` are above
 * them. */
static unsigned bound(const PnNames *names, const PnNvme *drive, bool beyond)
{
        unsigned low = 0, high = names->n_serials;

        while (low < high) {
                unsigned middle = low + (high - low) / 2;
                int r = compare_makes(names->by_serial[middle], drive);

                if (r < 0 || (beyond && r == 0))
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* Two drives with one serial (cheap ones all say the same) need another name; two controllers of
 * one subsystem are one drive. */
static bool has_unique_serial(const PnNames *names, const PnNvme *drive)
{
        unsigned first, end;

        if (drive->serial.state != PN_KNOWN)
                return false;
        first = bound(names, drive, false);
        end = bound(names, drive, true);
        /* Sorted: if the ends belong to its subsystem, so do all between them. */
        return first == end ||
               (compare_texts(&names->by_serial[first]->subsystem, &drive->subsystem) == 0 &&
                compare_texts(&names->by_serial[end - 1]->subsystem, &drive->subsystem) == 0);
}

/* Two ports with one address of their own (cards that nobody gave one) need another name. */
static bool has_unique_mac(const PnNames *names, const PnNic *nic)
{
        unsigned n;
        const PnNic *first = pn_index_find(&names->nics_by_mac, pn_text(&nic->permanent_mac), &n);

        return nic->permanent_mac.state == PN_KNOWN && (n == 0 || (n == 1 && first == nic));
}

/* ---- Subjects ---- */

/* Where a function sits, in terms that survive renumbered buses: the device and function of each
 * port from the root down, and what the device is. */
static int write_place(const PnTopology *topology, const char *address, PnBuf *buf)
{
        uint32_t chain[64], node = pn_topology_find(topology, address);
        size_t n = 0;

        if (node == PN_NOBODY) {
                pn_buf_printf(buf, "pci %s", address);
                return buf->error;
        }
        pn_buf_printf(buf, "pci %04x", topology->v[node].address.domain);
        for (uint32_t up = node; up != PN_NOBODY && n < PN_ELEMENTS(chain);
             up = topology->v[up].parent)
                chain[n++] = up;
        while (n-- > 0)
                pn_buf_printf(buf, "/%02x.%x", topology->v[chain[n]].address.device,
                              topology->v[chain[n]].address.function);
        if (topology->v[node].pci->vendor_id.state == PN_KNOWN &&
            topology->v[node].pci->device_id.state == PN_KNOWN)
                pn_buf_printf(buf, " %s:%s", topology->v[node].pci->vendor_id.v,
                              topology->v[node].pci->device_id.v);
        return buf->error;
}

int pn_finding_subject_for_drive(const PnFacts *facts, const PnNvme *drive, const char *address,
                                 const char *other, PnText *ret)
{
        _cleanup_buf_ PnBuf buf = {0};
        char *text;

        if (drive && has_unique_serial(facts->names, drive)) {
                pn_buf_printf(&buf, "drive %s", drive->serial.v);
                /* One with several controllers has a link and counters for each. */
                if (address &&
                    bound(facts->names, drive, true) - bound(facts->names, drive, false) > 1) {
                        pn_buf_puts(&buf, " at ");
                        (void)write_place(facts->topology, address, &buf);
                }
        } else if (address)
                (void)write_place(facts->topology, address, &buf);
        else
                pn_buf_puts(&buf, other ? other : "host");
        if (pn_buf_take(&buf, &text, NULL) < 0)
                return -ENOMEM;
        pn_take_text(ret, text);
        return 0;
}

int pn_finding_subject_for_nic(const PnFacts *facts, const PnNic *nic, PnText *ret)
{
        const char *address = pn_text(&nic->address);

        if (has_unique_mac(facts->names, nic))
                return pn_format_text(ret, "port %s", nic->permanent_mac.v);
        if (address)
                return pn_finding_subject_for_drive(facts, NULL, address, NULL, ret);
        return pn_format_text(ret, "interface %s", nic->id.v);
}

void pn_finding_subject_for_sensor(const PnChip *chip, const PnReading *reading,
                                   PnSensorSubject ret)
{
        (void)snprintf(ret, sizeof(PnSensorSubject), "sensor %.80s %.40s of %.80s", chip->chip.v,
                       pn_text(&reading->feature) ? reading->feature.v : reading->label.v,
                       pn_text(&chip->device) ? chip->device.v : "host");
}

/* FNV-1a, 64 bits: short, fast, and the same on every machine and in every version. Ids need to
 * be stable, not secret. */
static uint64_t hash(uint64_t state, const char *s)
{
        for (; *s; s++) {
                state ^= (unsigned char)*s;
                state *= UINT64_C(0x100000001b3);
        }
        return state * UINT64_C(0x100000001b3);
}

void pn_finding_id(PnCode code, const char *subject, char ret[static 13])
{
        uint64_t id = hash(hash(UINT64_C(0xcbf29ce484222325), pn_code_info(code)->name), subject);

        (void)snprintf(ret, 13, "%012" PRIx64, id & UINT64_C(0xffffffffffff));
}

/* ---- Findings ---- */

/* A finding that has its subject, which is freed if it comes to nothing. */
static PnFinding *finish_finding(PnFacts *facts, PnFinding *finding, PnCode code,
                                 const char *severity, const char *device, const char *address)
{
        char id[13];

        pn_finding_id(code, finding->subject.v, id);
        if (pn_set_text(&finding->id, id) < 0 ||
            pn_set_text(&finding->code, pn_code_info(code)->name) < 0 ||
            pn_set_text(&finding->state, "new") < 0 ||
            pn_set_text(&finding->severity, severity) < 0 ||
            pn_set_text(&finding->device, device) < 0 ||
            pn_set_text(&finding->address, address) < 0 ||
            pn_set_text(&finding->since, facts->now) < 0)
                return NULL;
        finding->accepted = pn_bool(false);
        return finding;
}

PnFinding *pn_finding_add(PnFacts *facts, PnCode code, const char *severity, const PnNvme *drive,
                          const char *address, const char *other_subject)
{
        PnFinding *finding = PN_APPEND(&facts->findings);

        if (!finding || pn_finding_subject_for_drive(facts, drive, address, other_subject,
                                                     &finding->subject) < 0)
                return NULL;
        return finish_finding(facts, finding, code, severity, drive ? drive->name.v : address,
                              address);
}

PnFinding *pn_finding_add_for_nic(PnFacts *facts, PnCode code, const char *severity,
                                  const PnNic *nic)
{
        PnFinding *finding = PN_APPEND(&facts->findings);

        if (!finding || pn_finding_subject_for_nic(facts, nic, &finding->subject) < 0)
                return NULL;
        return finish_finding(facts, finding, code, severity, nic->id.v, pn_text(&nic->address));
}

static int hold(PnFacts *facts, PnCode code, const char *subject)
{
        char id[13];

        pn_finding_id(code, subject, id);
        /* Most are not remembered: nothing needs to be held. */
        return pn_memory_alert(facts->memory, id) ? pn_texts_append(&facts->held, id) : 0;
}

int pn_finding_hold(PnFacts *facts, PnCode code, const PnNvme *drive, const char *address,
                    const char *other_subject)
{
        PnText subject = {0};
        int r;

        if (!facts->memory)
                return 0;
        r = pn_finding_subject_for_drive(facts, drive, address, other_subject, &subject);
        if (r == 0)
                r = hold(facts, code, subject.v);
        free(subject.v);
        return r;
}

int pn_finding_hold_for_nic(PnFacts *facts, PnCode code, const PnNic *nic)
{
        PnText subject = {0};
        int r;

        if (!facts->memory)
                return 0;
        r = pn_finding_subject_for_nic(facts, nic, &subject);
        if (r == 0)
                r = hold(facts, code, subject.v);
        free(subject.v);
        return r;
}

bool pn_is_fresh(const PnInventory *inventory, const char *source)
{
        for (unsigned i = 0; source && i < inventory->sources.n; i++)
                if (pn_text_is(&inventory->sources.v[i].name, source))
                        return pn_text_is(&inventory->sources.v[i].state, "fresh");
        return false;
}
