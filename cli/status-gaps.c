/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The last paragraph of the status page: what could not be read or judged, and how it could. */

#include <stdio.h>

#include "say.h"
#include "status.h"
#include "units.h"

#define UNREAD_MAX 6

typedef PnTexts Unread[PN_N_STATES];

/* Collects the names of unread fields by reason. Recursion follows our types, not the input. */
static int collect_unread(const PnType *type, const void *object, const char *prefix, Unread unread)
{
        int r = 0;

        for (unsigned i = 0; i < type->n_fields && r == 0; i++) {
                const PnField *field = &type->fields[i];
                const PnState *state = pn_field_at(field, object);
                _cleanup_free_ char *name = NULL;

                if (pn_is_unread(*state) || (field->type && *state == PN_KNOWN)) {
                        if (asprintf(&name, "%s%s%s", prefix, *prefix ? " " : "", field->name) <
                            0) {
                                name = NULL;
                                return -ENOMEM;
                        }
                        for (char *c = name; *c; c++)
                                if (*c == '_')
                                        *c = ' ';
                }
                if (pn_is_unread(*state)) {
                        r = pn_texts_append_unique(&unread[*state], name);
                } else if (name && (field->kind == PN_KIND_OBJ || field->kind == PN_KIND_ONE)) {
                        PnRef ref;

                        memcpy(&ref, pn_field_at(field, object), sizeof ref);
                        r = collect_unread(field->type(), ref.v, name, unread);
                } else if (name) {
                        PnList list;

                        memcpy(&list, pn_field_at(field, object), sizeof list);
                        for (unsigned k = 0; k < list.n && r == 0; k++)
                                r = collect_unread(field->type(),
                                                   (char *)list.v + k * field->type()->size, name,
                                                   unread);
                }
        }
        return r;
}

static const char *unread_words(PnState reason)
{
        switch (reason) {
        case PN_UNREAD_PERMISSION:
                return _("Not readable without privileges");
        case PN_UNREAD_ASLEEP:
                return _("Left asleep, for reading would wake it");
        case PN_UNREAD_TIMEOUT:
                return _("No answer in time");
        case PN_UNREAD_STUCK:
                return _("An earlier read has not come back");
        case PN_UNREAD_MALFORMED:
                return _("The answer makes no sense");
        case PN_UNREAD_IO:
                return _("The kernel reports an I/O error");
        case PN_UNREAD_CANNOT_JOIN:
                return _("Cannot be told");
        default:
                /* Unsupported or too large for a number: nothing that anybody could change. */
                return NULL;
        }
}

static const char *how_to_permit(Origin origin)
{
        switch (origin) {
        case ORIGIN_DAEMON:
                return _(". pnhwd's probe was not allowed to: see journalctl -u pnhwd, or run "
                         "pnhwctl --once as root.");
        case ORIGIN_FILE:
                return _(". Save the inventory as root to have it all.");
        case ORIGIN_PROBE:
                break;
        }
        return _(". Run this as root to see it all.");
}

static int put_unread_reason(Cli *cli, Origin origin, PnState reason, const PnTexts *names)
{
        const char *words = unread_words(reason);
        _cleanup_buf_ PnBuf line = {0};

        if (!names->n || !words)
                return 0;
        pn_buf_printf(&line, "%s: ", words);
        for (unsigned i = 0; i < names->n && i < UNREAD_MAX; i++)
                pn_buf_printf(&line, "%s%s", i ? ", " : "", names->v[i]);
        if (names->n > UNREAD_MAX)
                pn_buf_printf(&line, _(" and %u more"), names->n - UNREAD_MAX);
        pn_buf_puts(&line, reason == PN_UNREAD_PERMISSION ? how_to_permit(origin) : ".");
        if (line.error)
                return line.error;
        status_put_marked(cli, MARK_UNKNOWN, STYLE_PLAIN, line.data);
        return 0;
}

/* Links that nobody could judge: why, in one line for all of a kind. */
static void put_unjudged(Cli *cli, const PnStatus *status)
{
        unsigned hidden = 0, unread = 0, odd = 0;
        bool virtual = pn_text(&status->host.v->virtualization) &&
                       !pn_text_is(&status->host.v->virtualization, "none");
        char line[320];

        for (unsigned i = 0; i < status->ratings.n; i++) {
                const PnRating *rating = &status->ratings.v[i];

                hidden += pn_text_is(&rating->reason, "port_hidden");
                unread += pn_text_is(&rating->reason, "port_unread") ||
                          pn_text_is(&rating->reason, "device_unread");
                odd += pn_text_is(&rating->reason, "ends_disagree") ||
                       pn_text_is(&rating->reason, "above_rated");
        }
        /* Said only where the summary does: elsewhere nobody knows. */
        if (!status->ratings.n &&
            pn_startswith(status->summary.v, "There is no PCI Express link")) {
                status_put_marked(
                    cli, MARK_UNJUDGED, STYLE_PLAIN,
                    virtual ? _("This is a virtual machine, and it is shown no PCI Express "
                                "links: ask on its host. pnhwctl disks lists its disks.")
                            : _("pnhwctl disks lists disks that sit elsewhere."));
        }
        if (hidden) {
                (void)snprintf(
                    line, sizeof line,
                    say_n("%u link cannot be judged: the port at the other end is "
                          "hidden%s.",
                          "%u links cannot be judged: the port at the other end is "
                          "hidden%s.",
                          hidden),
                    hidden, virtual ? _(", for this is a virtual machine; ask on the host") : "");
                status_put_marked(cli, MARK_UNKNOWN, STYLE_PLAIN, line);
        }
        if (odd) {
                (void)snprintf(
                    line, sizeof line,
                    say_n("%u link cannot be judged: what the two ends say does not fit "
                          "together; a link that changes its speed is read like this now "
                          "and then.",
                          "%u links cannot be judged: what the two ends say does not fit "
                          "together; a link that changes its speed is read like this now "
                          "and then.",
                          odd),
                    odd);
                status_put_marked(cli, MARK_UNKNOWN, STYLE_PLAIN, line);
        }
        if (unread) {
                (void)snprintf(
                    line, sizeof line,
                    say_n("%u link cannot be judged: the kernel gives no speed or width "
                          "for one of the ends.",
                          "%u links cannot be judged: the kernel gives no speed or width "
                          "for one of the ends.",
                          unread),
                    unread);
                status_put_marked(cli, MARK_UNKNOWN, STYLE_PLAIN, line);
        }
}

/* Sources that were not read, unless a finding says so already. */
static int put_sources(Cli *cli, const PnStatus *status)
{
        bool told = false;

        for (unsigned i = 0; i < status->findings.n; i++)
                told |= pn_text_is(&status->findings.v[i].code, "probe.stale");
        for (unsigned i = 0; i < status->sources.n; i++) {
                const PnSource *source = &status->sources.v[i];
                const char *updated = pn_text(&source->updated), *reason = pn_text(&source->reason);
                _cleanup_buf_ PnBuf line = {0};
                _cleanup_free_ char *made = NULL;
                Units time;

                if (status_is_fresh(source) || (told && !pn_text_is(&source->state, "never")))
                        continue;
                pn_buf_printf(
                    &line,
                    pn_text_is(&source->state, "never") ? _("The source %s has not been read yet")
                    : pn_text_is(&source->state, "failed") ? _("The source %s could not be read")
                                                           : _("The source %s is stale"),
                    source->name.v);
                if (reason)
                        pn_buf_printf(&line, " (%s)", say_reason(reason, &made));
                if (updated)
                        pn_buf_printf(&line, _("; what is shown is from %s"),
                                      units_time(time, updated));
                pn_buf_puts(&line, ".");
                if (line.error)
                        return line.error;
                status_put_marked(cli, MARK_UNKNOWN, STYLE_PLAIN, line.data);
        }
        return 0;
}

int status_put_gaps(Cli *cli, const Facts *facts)
{
        Unread unread = {{0}};
        size_t before;
        int r = collect_unread(pn_type_Host(), facts->status.host.v, "", unread);

        pn_buf_puts(&cli->page, "\n");
        before = cli->page.len;
        put_unjudged(cli, &facts->status);
        for (PnState reason = PN_KNOWN + 1; reason < PN_N_STATES && r == 0; reason++)
                r = put_unread_reason(cli, facts->origin, reason, &unread[reason]);
        if (r == 0)
                r = put_sources(cli, &facts->status);
        if (cli->page.len > before)
                pn_buf_puts(&cli->page, "\n");
        for (PnState reason = 0; reason < PN_N_STATES; reason++) {
                for (unsigned i = 0; i < unread[reason].n; i++)
                        free(unread[reason].v[i]);
                free(unread[reason].v);
        }
        return r;
}
