/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs rating and rules over an inventory and puts the status together; knows no rule. */

#include "assess.h"

#include "learn.h"
#include "rules.h"

static const char *const severities[] = {"info", "notice", "warning", "critical"};

int pn_severity_rank(const char *severity)
{
        for (size_t i = 0; i < PN_ELEMENTS(severities); i++)
                if (severity && strcmp(severities[i], severity) == 0)
                        return (int)i;
        return -EINVAL;
}

const char *pn_severity_name(int rank)
{
        int last = (int)PN_ELEMENTS(severities) - 1;

        return severities[rank < 0 ? 0 : rank > last ? last : rank];
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
        PnNames names;
        int r = pn_topology_build(inventory, &topology);

        if (r < 0)
                return r;
        r = pn_names_build(inventory, facts->before, &names);
        if (r < 0) {
                pn_topology_done(&topology);
                return r;
        }
        facts->names = &names;
        facts->ratings = ratings;
        facts->topology = &topology;
        facts->ports = ports;
        if (facts->memory)
                pn_learn(facts);
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
                r = pn_rules_growth(facts);
        if (r == 0)
                r = pn_rules_probe(facts);
        pn_places_done(&facts->places);
        pn_names_done(&names);
        pn_topology_done(&topology);
        facts->topology = NULL;
        facts->names = NULL;
        return r;
}

static void texts_done(PnTexts *texts)
{
        for (unsigned i = 0; i < texts->n; i++)
                free(texts->v[i]);
        free(texts->v);
}

int pn_assess_over_time(const PnInventory *inventory, PnBefore before, const PnPolicy *policy,
                        const char *now, PnOverTime *time, PnStatus *ret)
{
        static const PnPolicy fresh = PN_POLICY_DEFAULT;
        PnStatus status = {0};
        PnRatings ratings = {0};
        PnPorts ports = {0};
        PnFacts facts = {.inventory = inventory,
                         .before = before.inventory,
                         .policy = policy ? policy : &fresh,
                         .memory = time ? time->memory : NULL,
                         .when = time ? time->now : 0,
                         .now = now};
        bool changed = false;
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
        if (r == 0 && time)
                r = pn_alerts_judge(time->memory, &status, &facts.held, time->now, &time->events,
                                    &changed);
        if (time)
                time->learned |= changed || facts.learned;
        texts_done(&facts.held);
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

int pn_assess(const PnInventory *inventory, PnBefore before, const PnPolicy *policy,
              const char *now, PnStatus *ret)
{
        return pn_assess_over_time(inventory, before, policy, now, NULL, ret);
}
