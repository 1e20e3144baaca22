/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Words and marks for network ports. Knows no page. */

#include "portview.h"

#include <inttypes.h>
#include <stdio.h>

#include "say.h"

static bool is(const PnPort *port, const char *verdict)
{
        return pn_text_is(&port->verdict, verdict);
}

/* A finding about a member is one about its bond, too. */
static bool concerns(const PnFinding *finding, const PnPort *port)
{
        if (pn_text_is(&finding->device, port->id.v))
                return !pn_startswith(finding->code.v, "pcie.");
        if (!pn_text_is(&port->kind, "bond") || pn_startswith(finding->code.v, "module."))
                return false;
        for (unsigned i = 0; i < finding->affects.n; i++)
                if (pn_startswith(finding->affects.v[i], "bond ") &&
                    strcmp(finding->affects.v[i] + strlen("bond "), port->id.v) == 0)
                        return true;
        return false;
}

/* The worst finding about a port that is worse than `*worst`, which it makes that; NULL if there is
 * none. */
static const PnFinding *worst_finding(const View *view, const PnPort *port, Mark *worst)
{
        const PnFinding *found = NULL;
        unsigned n;
        const PnIndexEntry *about = pn_index_range(&view->by_device, port->id.v, &n);

        for (unsigned i = 0; i < n; i++) {
                const PnFinding *finding = about[i].object;
                Mark mark = view_severity(&finding->severity);

                if (mark > *worst && !pn_is_true(finding->accepted) && concerns(finding, port)) {
                        *worst = mark;
                        found = finding;
                }
        }
        return found;
}

Mark port_mark(const View *view, const PnPort *port)
{
        Mark worst = is(port, "full")                                   ? MARK_GOOD
                     : is(port, "unknown") && pn_is_true(port->carrier) ? MARK_UNJUDGED
                     : is(port, "unknown")                              ? MARK_UNKNOWN
                                                                        : MARK_UNJUDGED;

        (void)worst_finding(view, port, &worst);
        return worst;
}

const char *port_speed(Units buf, const PnInt *mbps)
{
        if (pn_is_unread(mbps->state))
                return "?";
        if (mbps->state != PN_KNOWN)
                return "";
        if (mbps->v >= 1000)
                (void)snprintf(buf, sizeof(Units), "%g G", (double)mbps->v / 1000);
        else
                (void)snprintf(buf, sizeof(Units), "%" PRId64 " M", mbps->v);
        return buf;
}

static const char *limiter_words(const char *limiter)
{
        static const char *const words[] = {N_("module"), N_("cable"), N_("partner"),
                                            N_("setting")};

        for (size_t i = 0; i < PN_ELEMENTS(words); i++)
                if (strcmp(limiter, words[i]) == 0)
                        return _(words[i]);
        return limiter;
}

/* What is wrong with a port that runs at its best speed; NULL if nothing is. */
static const char *fault_words(const View *view, const PnPort *port)
{
        static const struct {
                const char *code, *words;
        } words[] = {
            {"nic.slow", N_("slower than it should be")},
            {"nic.half_duplex", N_("half duplex")},
            {"nic.errors_rising", N_("errors on the line")},
            {"nic.pcie_short", N_("PCIe too slow for all ports")},
            {"bond.degraded", N_("degraded")},
            {"bond.member_down", N_("a member is down")},
            {"module.unsupported", N_("module not supported")},
            {"module.unreadable", N_("module unreadable")},
            {"module.hot", N_("module hot")},
            {"module.power_low", N_("light too weak")},
            {"module.alarm", N_("module raises an alarm")},
        };
        Mark worst = MARK_UNKNOWN;
        const PnFinding *finding = worst_finding(view, port, &worst);

        if (!finding)
                return NULL;
        for (size_t i = 0; i < PN_ELEMENTS(words); i++)
                if (pn_text_is(&finding->code, words[i].code))
                        return _(words[i].words);
        return finding->code.v;
}

static const char *speed_verdict(const PnPort *port, char *buf, size_t size)
{
        static const struct {
                const char *verdict, *words;
        } verdicts[] = {
            {"full", N_("at its best")},
            {"half_duplex", N_("half duplex")},
            {"no_link", N_("no link")},
            {"off", N_("off")},
            {"no_interface", N_("no interface")},
            {"other_namespace", N_("given to a container")},
            {"passed_through", N_("given to a guest")},
            {"unknown", N_("cannot tell")},
        };

        if (is(port, "degraded")) {
                (void)snprintf(buf, size, _("%d of %d work"),
                               (int)pn_int_or(port->working_members, 0),
                               (int)pn_int_or(port->members, 0));
                return buf;
        }
        if (is(port, "limited") || is(port, "slow")) {
                const char *limiter = pn_text(&port->limiter);

                if (!limiter || strcmp(limiter, "unknown") == 0)
                        return is(port, "slow") ? _("slower than it should be")
                                                : _("slower than its best");
                (void)snprintf(buf, size,
                               is(port, "slow") ? _("slow: its %s") : _("limited: its %s"),
                               limiter_words(limiter));
                return buf;
        }
        for (size_t i = 0; i < PN_ELEMENTS(verdicts); i++)
                if (is(port, verdicts[i].verdict))
                        return _(verdicts[i].words);
        return _("cannot tell");
}

const char *port_verdict(const View *view, const PnPort *port, char *buf, size_t size)
{
        const char *fault = is(port, "full") ? fault_words(view, port) : NULL;

        return fault ? fault : speed_verdict(port, buf, size);
}

const char *port_module(const PnPort *port)
{
        static const struct {
                const char *status, *words;
        } statuses[] = {
            {"unsupported_map", N_("unknown kind")},
            {"permission_denied", N_("? (needs root)")},
            {"unreadable", N_("unreadable")},
        };

        if (pn_text(&port->module))
                return port->module.v;
        if (pn_is_unread(port->module_status.state))
                return "?";
        for (size_t i = 0; i < PN_ELEMENTS(statuses); i++)
                if (pn_text_is(&port->module_status, statuses[i].status))
                        return _(statuses[i].words);
        return pn_text_is(&port->module_status, "present") ? _("present") : "";
}
