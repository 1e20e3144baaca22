/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs rating and rules over an inventory and puts the status together; knows no rule. */

#include "assess.h"

#include <inttypes.h>
#include <stdio.h>

#include "rules.h"

static const char *const severities[] = {"info", "notice", "warning", "critical"};

int pn_severity_rank(const char *severity)
{
        for (size_t i = 0; i < PN_ELEMENTS(severities); i++)
                if (severity && strcmp(severities[i], severity) == 0)
                        return (int)i;
        return -EINVAL;
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

/* Two drives with one serial (cheap ones all say the same) need another name. */
static bool has_unique_serial(const PnInventory *inventory, const PnNvme *drive)
{
        if (drive->serial.state != PN_KNOWN)
                return false;
        for (unsigned i = 0; i < inventory->nvme.n; i++) {
                const PnNvme *other = &inventory->nvme.v[i];

                if (other != drive && pn_text_is(&other->serial, drive->serial.v) &&
                    pn_streq(pn_text(&other->model), pn_text(&drive->model)) &&
                    !pn_streq(pn_text(&other->subsystem), pn_text(&drive->subsystem)))
                        return false;
        }
        return true;
}

static int write_subject(const PnFacts *facts, const PnNvme *drive, const char *address,
                         const char *other_subject, PnText *ret)
{
        _cleanup_buf_ PnBuf buf = {0};
        char *text;

        if (drive && has_unique_serial(facts->inventory, drive))
                pn_buf_printf(&buf, "drive %s", drive->serial.v);
        else if (address)
                (void)write_place(facts->topology, address, &buf);
        else
                pn_buf_puts(&buf, other_subject ? other_subject : "host");
        if (pn_buf_take(&buf, &text, NULL) < 0)
                return -ENOMEM;
        pn_take_text(ret, text);
        return 0;
}

/* A finding that has its subject, which is freed if it comes to nothing. */
static PnFinding *finish_finding(PnFacts *facts, PnFinding *finding, const char *code,
                                 const char *severity, const char *device, const char *address)
{
        if (pn_format_text(&finding->id, "%012" PRIx64,
                           hash(hash(UINT64_C(0xcbf29ce484222325), code), finding->subject.v) &
                               UINT64_C(0xffffffffffff)) < 0 ||
            pn_set_text(&finding->code, code) < 0 || pn_set_text(&finding->state, "new") < 0 ||
            pn_set_text(&finding->severity, severity) < 0 ||
            pn_set_text(&finding->device, device) < 0 ||
            pn_set_text(&finding->address, address) < 0 ||
            pn_set_text(&finding->since, facts->now) < 0)
                return NULL;
        finding->accepted = pn_bool(false);
        return finding;
}

PnFinding *pn_finding_add(PnFacts *facts, const char *code, const char *severity,
                          const PnNvme *drive, const char *address, const char *other_subject)
{
        PnFinding *finding = PN_APPEND(&facts->findings);

        if (!finding || write_subject(facts, drive, address, other_subject, &finding->subject) < 0)
                return NULL;
        return finish_finding(facts, finding, code, severity, drive ? drive->name.v : address,
                              address);
}

/* Two ports with one address of their own (cards that nobody gave one) need another name. */
static bool has_unique_mac(const PnInventory *inventory, const PnNic *nic)
{
        if (nic->permanent_mac.state != PN_KNOWN)
                return false;
        for (unsigned i = 0; i < inventory->nics.n; i++)
                if (&inventory->nics.v[i] != nic &&
                    pn_text_is(&inventory->nics.v[i].permanent_mac, nic->permanent_mac.v))
                        return false;
        return true;
}

PnFinding *pn_finding_add_for_nic(PnFacts *facts, const char *code, const char *severity,
                                  const PnNic *nic)
{
        PnFinding *finding = PN_APPEND(&facts->findings);
        const char *address = pn_text(&nic->address);
        int r = -ENOMEM;

        if (!finding)
                return NULL;
        if (has_unique_mac(facts->inventory, nic))
                r = pn_format_text(&finding->subject, "port %s", nic->permanent_mac.v);
        else if (address)
                r = write_subject(facts, NULL, address, NULL, &finding->subject);
        else
                r = pn_format_text(&finding->subject, "interface %s", nic->id.v);
        return r < 0 ? NULL : finish_finding(facts, finding, code, severity, nic->id.v, address);
}

/* Worst first; of equals, in the order in which the rules told them, which is drives before others
 * and the greatest loss first. */
static int sort_findings(PnFacts *facts, PnStatus *status)
{
        unsigned n = facts->findings.n, next = 0;
        PnFinding *sorted = n ? calloc(n, sizeof *sorted) : NULL;

        if (n && !sorted)
                return -ENOMEM;
        for (int rank = (int)PN_ELEMENTS(severities) - 1; rank >= 0; rank--)
                for (unsigned i = 0; i < n; i++)
                        if (pn_severity_rank(facts->findings.v[i].severity.v) == rank)
                                sorted[next++] = facts->findings.v[i];
        status->findings.state = PN_KNOWN;
        status->findings.n = next;
        /* Room up to a power of two, as pn_list_append() wants it, is not needed: nothing is ever
         * added to a finished status. */
        status->findings.v = sorted;
        free(facts->findings.v);
        facts->findings.v = NULL;
        facts->findings.n = 0;
        return 0;
}

static int compare_ids(const void *a, const void *b)
{
        const PnFinding *const *one = a, *const *other = b;

        return strcmp((*one)->id.v, (*other)->id.v);
}

static int keep_history(const PnStatus *previous, PnStatus *status)
{
        _cleanup_free_ const PnFinding **old = NULL;

        if (!previous || previous->findings.n == 0)
                return 0;
        old = calloc(previous->findings.n, sizeof *old);
        if (!old)
                return -ENOMEM;
        for (unsigned i = 0; i < previous->findings.n; i++)
                old[i] = &previous->findings.v[i];
        qsort(old, previous->findings.n, sizeof *old, compare_ids);
        for (unsigned i = 0; i < status->findings.n; i++) {
                const PnFinding *now = &status->findings.v[i], **before;

                before = bsearch(&now, old, previous->findings.n, sizeof *old, compare_ids);
                if (before && (*before)->since.state == PN_KNOWN &&
                    pn_set_text(&status->findings.v[i].since, (*before)->since.v) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int copy_host(const PnInventory *inventory, PnStatus *status)
{
        PnHost *host = PN_NEW(&status->host);

        if (!host)
                return -ENOMEM;
        if (inventory->host.state != PN_KNOWN)
                return 0;
        if (pn_copy(pn_type_Host(), host, inventory->host.v) < 0)
                return -ENOMEM;
        /* A saved one may have those of another time. */
        pn_free(pn_type_Vitals(), host->vitals.v);
        memset(&host->vitals, 0, sizeof host->vitals);
        return 0;
}

static int copy_sources(const PnInventory *inventory, PnStatus *status)
{
        status->sources.state = PN_KNOWN;
        for (unsigned i = 0; i < inventory->sources.n; i++) {
                PnSource *source = PN_APPEND(&status->sources);

                if (!source || pn_copy(pn_type_Source(), source, &inventory->sources.v[i]) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int run_rules(PnRatings *ratings, const PnPorts *ports, PnFacts *facts)
{
        const PnInventory *inventory = facts->inventory;
        PnTopology topology;
        int r = pn_topology_build(inventory, &topology);

        if (r < 0)
                return r;
        facts->ratings = ratings;
        facts->topology = &topology;
        facts->ports = ports;
        r = pn_places_find(inventory, ratings, &facts->places);
        if (r == 0)
                r = pn_rules_pcie(facts);
        if (r == 0)
                r = pn_rules_nvme(facts);
        if (r == 0)
                r = pn_rules_nic(facts);
        if (r == 0)
                r = pn_rules_health(facts);
        if (r == 0)
                r = pn_rules_sensors(facts);
        if (r == 0)
                r = pn_rules_probe(facts);
        pn_places_done(&facts->places);
        pn_topology_done(&topology);
        facts->topology = NULL;
        return r;
}

int pn_assess(const PnInventory *inventory, PnBefore before, const PnPolicy *policy,
              const char *now, PnStatus *ret)
{
        static const PnPolicy fresh = PN_POLICY_DEFAULT;
        PnStatus status = {0};
        PnRatings ratings = {0};
        PnPorts ports = {0};
        PnFacts facts = {.inventory = inventory,
                         .before = before.inventory,
                         .policy = policy ? policy : &fresh,
                         .now = now};
        int r;

        status.schema = pn_int(PN_SCHEMA_VERSION);
        status.generation = pn_int(0);
        r = pn_rate(inventory, &ratings);
        if (r == 0)
                r = pn_ports_judge(inventory, &ratings, &ports);
        if (r == 0)
                r = run_rules(&ratings, &ports, &facts);
        /* The list changes owner; the anonymous types are laid out alike (schema.h). */
        status.ratings.state = PN_KNOWN;
        status.ratings.n = ratings.n;
        status.ratings.v = ratings.v;
        if (r == 0)
                r = sort_findings(&facts, &status);
        if (r == 0)
                r = copy_host(inventory, &status);
        if (r == 0)
                r = pn_find_vitals(inventory, facts.policy, &status);
        if (r == 0)
                r = copy_sources(inventory, &status);
        if (r == 0)
                r = keep_history(before.status, &status);
        if (r == 0)
                r = pn_summarise(inventory, &ports, &status);
        pn_ports_done(&ports);
        if (r < 0) {
                for (unsigned i = 0; i < facts.findings.n; i++)
                        pn_done(pn_type_Finding(), &facts.findings.v[i]);
                free(facts.findings.v);
                pn_done(pn_type_Status(), &status);
                return r;
        }
        *ret = status;
        return 0;
}
