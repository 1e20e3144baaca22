/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The first page: is all at its best; if not, which device in which slot, how much is lost, why,
 * what to do, and what it affects. Made of the status alone, so it says what its JSON says. */

#include "say.h"
#include "status.h"
#include "units.h"

/* ---- the second line: is all at its best ---- */

bool status_is_fresh(const PnSource *source)
{
        return pn_text_is(&source->state, "fresh");
}

static Mark overall(const PnStatus *status, const View *view)
{
        Mark worst = MARK_GOOD;
        bool judged = false, unknown = false;

        for (unsigned i = 0; i < status->findings.n; i++) {
                Mark mark = view_severity(&status->findings.v[i].severity);

                if (!pn_is_true(status->findings.v[i].accepted) && mark > worst)
                        worst = mark;
        }
        if (worst > MARK_UNKNOWN)
                return worst;
        for (unsigned i = 0; i < status->sources.n; i++)
                if (!status_is_fresh(&status->sources.v[i]))
                        return MARK_UNKNOWN;
        for (unsigned i = 0; i < status->ratings.n; i++) {
                Mark mark = view_rating_mark(view, &status->ratings.v[i]);

                judged |= mark == MARK_GOOD || mark > MARK_UNKNOWN;
                unknown |= mark == MARK_UNKNOWN;
        }
        return judged ? MARK_GOOD : unknown ? MARK_UNKNOWN : MARK_UNJUDGED;
}

void status_put_marked(Cli *cli, Mark mark, Style style, const char *text)
{
        term_put_styled(&cli->term, &cli->page, view_mark_style(mark), view_mark(mark));
        pn_buf_puts(&cli->page, " ");
        term_put_wrapped(&cli->term, &cli->page, 2, 2, style, text);
}

/* ---- the last line: how old is this ---- */

static void put_age(Cli *cli, const Facts *facts, bool folded)
{
        const PnStatus *status = &facts->status;
        const char *oldest = NULL;
        unsigned fresh = 0;
        _cleanup_buf_ PnBuf line = {0};
        Units time;

        for (unsigned i = 0; i < status->sources.n; i++) {
                const PnSource *source = &status->sources.v[i];
                const char *updated = pn_text(&source->updated);

                if (!status_is_fresh(source))
                        continue;
                fresh++;
                if (updated && (!oldest || strcmp(updated, oldest) < 0))
                        oldest = updated;
        }
        if (facts->origin == ORIGIN_FILE && strcmp(cli->from, "-") == 0)
                pn_buf_puts(&line, _("from standard input"));
        else if (facts->origin == ORIGIN_FILE)
                pn_buf_printf(&line, _("from %s"), cli->from);
        else if (facts->origin == ORIGIN_PROBE)
                pn_buf_puts(&line, _("read just now"));
        if (oldest)
                pn_buf_printf(&line, "%s", line.len ? ", " : "");
        if (oldest)
                pn_buf_printf(&line, _("as of %s"), units_time(time, oldest));
        if (status->sources.n)
                pn_buf_puts(&line, line.len ? " · " : "");
        if (status->sources.n && fresh == status->sources.n)
                pn_buf_puts(&line, _("all sources fresh"));
        else if (status->sources.n)
                pn_buf_printf(&line, _("%u of %u sources fresh"), fresh, status->sources.n);
        if (folded)
                pn_buf_printf(&line, "%s%s", line.len ? " · " : "", _("--all shows every device"));
        if (line.error)
                cli->page.error = line.error;
        else if (line.len)
                term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_DIM, line.data);
}

int status_put_page(Cli *cli, const Facts *facts)
{
        const PnStatus *status = &facts->status;
        _cleanup_free_ char *made = NULL;
        View view = {0};
        bool folded = false;
        int r = view_init(&view, status);

        if (r < 0)
                return r;
        r = status_put_machine(cli, status->host.v);
        if (r == 0) {
                status_put_marked(cli, overall(status, &view), STYLE_BOLD,
                                  say_told(status->summary.v, &made));
                r = status_put_devices(cli, &view, &folded);
        }
        if (r == 0 && cli->all)
                r = status_put_ports(cli, &view, &facts->ports);
        if (r == 0)
                r = status_put_vitals(cli, status->host.v);
        if (r == 0)
                r = status_put_findings(cli, facts);
        if (r == 0)
                r = status_put_gaps(cli, facts);
        if (r == 0 && !cli->no_legend)
                put_age(cli, facts, folded);
        view_done(&view);
        return r;
}

int cmd_status(Cli *cli, _unused_ const char *argument)
{
        /* The last are never released: that takes a twentieth of what the whole page takes, and the
         * process is about to end. */
        static Facts facts;
        int r;

        facts_done(&facts);
        /* Every port takes a second question, and twice the time; what is wrong with one is among
         * the findings anyway. */
        r = source_facts(cli, cli->all && cli->json == JSON_OFF ? WANT_NICS : WANT_STATUS, &facts);

        if (r == 0 && facts.status_text) {
                cli_put_json(cli, facts.status_text, facts.status_length);
        } else if (r == 0 && cli->json != JSON_OFF) {
                _cleanup_buf_ PnBuf json = {0};

                pn_write_json(&json, pn_type_Status(), &facts.status);
                cli_put_json_buffer(cli, &json);
        } else if (r == 0 && status_put_page(cli, &facts) < 0) {
                r = cli_out_of_memory(cli);
        }
        return r;
}
