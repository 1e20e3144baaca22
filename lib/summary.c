/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Says in a sentence or two whether all is at its best; looks at the finished status alone. */

#include <stdio.h>

#include "assess.h"
#include "index.h"
#include "rules.h"

#define RANK_WARNING 2

typedef struct Count {
        unsigned judged, below, unjudged, asleep, elsewhere, broken;
} Count;

static bool is_below(const PnRating *rating)
{
        return pn_text_is(&rating->verdict, "slot_limited") ||
               pn_text_is(&rating->verdict, "degraded") ||
               pn_text_is(&rating->verdict, "path_limited");
}

static bool is_judged(const PnRating *rating)
{
        return is_below(rating) || pn_text_is(&rating->verdict, "full") ||
               pn_text_is(&rating->verdict, "idle");
}

static const char *plural(unsigned n)
{
        return n == 1 ? "" : "s";
}

/* Chips that the board's design limits are told as `info`, and are no part of the headline. `told`
 * has the findings about links by address. */
static bool is_worth_a_headline(const PnIndex *told, const PnRating *rating)
{
        const PnFinding *finding = pn_index_find(told, rating->address.v, NULL);

        return !finding || !pn_text_is(&finding->severity, "info");
}

static int index_links(const PnStatus *status, PnIndex *ret)
{
        int r = pn_index_init(ret, status->findings.n);

        if (r < 0)
                return r;
        for (unsigned i = 0; i < status->findings.n; i++)
                if (pn_startswith(status->findings.v[i].code.v, "pcie."))
                        pn_index_add(ret, pn_text(&status->findings.v[i].address),
                                     &status->findings.v[i]);
        pn_index_sort(ret);
        return 0;
}

static void add(Count *group, const PnIndex *told, const PnRating *rating)
{
        if (is_judged(rating))
                group->judged++;
        else if (pn_text_is(&rating->verdict, "asleep"))
                group->asleep++;
        else if (pn_text_is(&rating->verdict, "unknown"))
                group->unjudged++;
        else
                group->elsewhere++;
        if (is_below(rating) && is_worth_a_headline(told, rating))
                group->below++;
}

/* A drive with two ports has two links and is one drive: their ratings, by what both belong to. */
typedef struct DriveLink {
        const char *subsystem; /* NQN; the link's own address where there is none */
        const PnRating *rating;
        bool broken;
} DriveLink;

static int compare_links(const void *a, const void *b)
{
        const DriveLink *one = a, *other = b;

        return strcmp(one->subsystem, other->subsystem);
}

/* A good link to a drive that does not work is nothing to praise. */
static bool is_broken(const PnNvme *drive)
{
        return drive && drive->state.state == PN_KNOWN && !pn_text_is(&drive->state, "live") &&
               !pn_text_is(&drive->state, "new");
}

static int index_drives(const PnInventory *inventory, PnIndex *ret)
{
        int r = pn_index_init(ret, inventory->nvme.n);

        if (r < 0)
                return r;
        for (unsigned i = 0; i < inventory->nvme.n; i++)
                pn_index_add(ret, pn_text(&inventory->nvme.v[i].name), &inventory->nvme.v[i]);
        pn_index_sort(ret);
        return 0;
}

static int count_drives(const PnInventory *inventory, const PnStatus *status, const PnIndex *told,
                        Count *drives)
{
        _cleanup_free_ DriveLink *links = calloc((size_t)status->ratings.n + 1, sizeof *links);
        PnIndex by_name;
        size_t n = 0;

        if (!links || index_drives(inventory, &by_name) < 0)
                return -ENOMEM;
        for (unsigned i = 0; i < status->ratings.n; i++) {
                const PnRating *rating = &status->ratings.v[i];
                const PnNvme *drive = pn_index_find(&by_name, pn_text(&rating->name), NULL);

                if (pn_text_is(&rating->kind, "nvme"))
                        links[n++] =
                            (DriveLink){drive && pn_text(&drive->subsystem) ? drive->subsystem.v
                                                                            : rating->address.v,
                                        rating, is_broken(drive)};
        }
        pn_index_done(&by_name);
        qsort(links, n, sizeof *links, compare_links);
        for (size_t i = 0; i < n;) {
                Count all_links = {0};
                size_t first = i;

                for (; i < n && strcmp(links[i].subsystem, links[first].subsystem) == 0; i++)
                        if (links[i].broken)
                                all_links.broken++;
                        else
                                add(&all_links, told, links[i].rating);
                if (all_links.judged)
                        drives->judged++;
                else if (all_links.unjudged)
                        drives->unjudged++;
                else if (all_links.asleep)
                        drives->asleep++;
                else if (all_links.elsewhere)
                        drives->elsewhere++;
                else
                        drives->broken++;
                drives->below += all_links.below > 0;
        }
        return 0;
}

/* A switch is no device that anybody wants to use: what hangs on it is counted. But its own link
 * can be the fault. */
static int count_others(const PnStatus *status, const PnIndex *told, Count *others, Count *switches)
{
        _cleanup_(pn_index_done) PnIndex cards = {0};

        /* A card with a switch on it is one thing (case 004): what it is for is counted, and is
         * held back by the card's own link. */
        if (pn_index_init(&cards, status->ratings.n) < 0)
                return -ENOMEM;
        for (unsigned i = 0; i < status->ratings.n; i++) {
                const PnRating *rating = &status->ratings.v[i];

                if (is_below(rating) && !pn_text_is(&rating->kind, "switch") &&
                    pn_text(&rating->slot))
                        pn_index_add(&cards, pn_text(&rating->limit), rating);
        }
        pn_index_sort(&cards);
        for (unsigned i = 0; i < status->ratings.n; i++) {
                const PnRating *rating = &status->ratings.v[i];
                const PnRating *on_card = pn_index_find(&cards, rating->address.v, NULL);

                if (pn_text_is(&rating->kind, "nvme") ||
                    (pn_text_is(&rating->kind, "switch") && on_card && pn_text(&rating->slot) &&
                     strcmp(rating->slot.v, on_card->slot.v) == 0))
                        continue;
                add(pn_text_is(&rating->kind, "switch") ? switches : others, told, rating);
        }
        return 0;
}

static unsigned all(const Count *count)
{
        return count->judged + count->unjudged + count->asleep + count->elsewhere + count->broken;
}

/* "The drive", "2 of 5 drives"; "the other device" where it comes second. */
static void say_how_many(PnBuf *buf, unsigned n, const Count *count, const char *noun, bool second)
{
        unsigned total = all(count);
        const char *other = second ? "other " : "";

        if (n == total && total == 1)
                pn_buf_printf(buf, "%s %s%s", second ? "the" : "The", other, noun);
        else if (n == total && second)
                pn_buf_printf(buf, "%u other %ss", n, noun);
        else if (n == total && total == 2)
                pn_buf_printf(buf, "Both %ss", noun);
        else if (n == total)
                pn_buf_printf(buf, "All %u %ss", n, noun);
        else
                pn_buf_printf(buf, "%u of %u %s%s%s", n, total, other, noun, plural(total));
}

/* "2 of 5 drives, 1 of 3 other devices and 1 switch run below what they could." */
static void say_below(PnBuf *buf, const Count *drives, const Count *others, const Count *switches)
{
        unsigned below = drives->below + others->below + switches->below;
        unsigned parts =
            (drives->below ? 1u : 0u) + (others->below ? 1u : 0u) + (switches->below ? 1u : 0u);

        if (drives->below) {
                say_how_many(buf, drives->below, drives, "drive", false);
                pn_buf_puts(buf, parts == 3 ? ", " : parts == 2 ? " and " : "");
        }
        if (others->below) {
                say_how_many(buf, others->below, others, "device", all(drives) > 0);
                pn_buf_puts(buf, switches->below ? " and " : "");
        }
        if (switches->below)
                pn_buf_printf(buf, "%u switch%s", switches->below,
                              switches->below == 1 ? "" : "es");
        pn_buf_printf(buf, " run%s below what %s could.", below == 1 ? "s" : "",
                      below == 1 ? "it" : "they");
}

/* Whether "there is no link" would be more than is known. */
static bool may_have_missed(const PnInventory *inventory)
{
        for (unsigned i = 0; i < inventory->sources.n; i++)
                if (pn_text_is(&inventory->sources.v[i].name, "pci") &&
                    !pn_text_is(&inventory->sources.v[i].state, "fresh"))
                        return true;
        for (unsigned i = 0; i < inventory->nvme.n; i++)
                if (pn_text_is(&inventory->nvme.v[i].transport, "pcie") ||
                    !pn_text(&inventory->nvme.v[i].transport))
                        return true;
        return false;
}

/* A link at its best to a drive that fails is no best of the drive. */
static void say_best(PnBuf *buf, const PnInventory *inventory, const Count *drives,
                     const Count *others, bool healthy)
{
        unsigned n = drives->judged + others->judged;

        if (n == 0) {
                pn_buf_puts(
                    buf, all(drives) + all(others)    ? "No PCI Express link can be judged here."
                         : may_have_missed(inventory) ? "The PCI Express links could not be read."
                                                      : "There is no PCI Express link to judge.");
                return;
        }
        if (drives->judged)
                say_how_many(buf, drives->judged, drives, "drive", false);
        if (drives->judged && others->judged)
                pn_buf_puts(buf, " and ");
        if (others->judged)
                say_how_many(buf, others->judged, others, "device", all(drives) > 0);
        if (healthy)
                pn_buf_printf(buf, " run%s at %s best.", n == 1 ? "s" : "",
                              n == 1 ? "its" : "their");
        else
                pn_buf_printf(buf, " run%s at full speed.", n == 1 ? "s" : "");
}

/* A drive that nobody can judge is said, so that "at their best" does not seem to include it. */
static void say_unjudged(PnBuf *buf, const Count *drives, const Count *others)
{
        if (drives->unjudged && drives->judged + others->judged)
                pn_buf_printf(buf, " %u drive%s cannot be judged.", drives->unjudged,
                              plural(drives->unjudged));
        if (drives->elsewhere && drives->judged)
                pn_buf_printf(buf, " %u drive%s %s with a guest or in a tunnel.", drives->elsewhere,
                              plural(drives->elsewhere), drives->elsewhere == 1 ? "is" : "are");
        if (drives->asleep)
                pn_buf_printf(buf, " %u drive%s %s asleep.", drives->asleep, plural(drives->asleep),
                              drives->asleep == 1 ? "is" : "are");
}

static bool is_storage(const char *affected)
{
        return pn_startswith(affected, "zpool ") || pn_startswith(affected, "array ") ||
               pn_startswith(affected, "volume group ");
}

/* The pools and arrays that findings name, each once, in their order. */
static int find_affected(const PnStatus *status, PnTexts *ret)
{
        PnIndex told;
        unsigned most = 0;
        int r;

        for (unsigned i = 0; i < status->findings.n; i++)
                most += status->findings.v[i].affects.n;
        r = pn_index_init(&told, most);
        for (unsigned i = 0; i < status->findings.n && r == 0; i++) {
                const PnTexts *affects = &status->findings.v[i].affects;

                for (unsigned k = 0; k < affects->n; k++)
                        if (is_storage(affects->v[k]))
                                pn_index_add(&told, affects->v[k], affects->v[k]);
        }
        if (r == 0)
                pn_index_sort(&told);
        for (unsigned i = 0; i < status->findings.n && r == 0; i++) {
                const PnTexts *affects = &status->findings.v[i].affects;

                for (unsigned k = 0; k < affects->n && r == 0; k++)
                        if (pn_index_find(&told, affects->v[k], NULL) == affects->v[k])
                                r = pn_texts_append(ret, affects->v[k]);
        }
        pn_index_done(&told);
        return r;
}

/* What is held back. */
static int say_affected(PnBuf *buf, const PnStatus *status)
{
        PnTexts held = {0};
        int r = find_affected(status, &held);

        for (unsigned i = 0; i < held.n && i < 3; i++) {
                pn_buf_puts(buf, i == 0 ? " " : i + 1 == held.n ? " and " : ", ");
                if (i == 0 && held.v[0][0] >= 'a')
                        pn_buf_printf(buf, "%c%s", held.v[0][0] - 'a' + 'A', held.v[0] + 1);
                else
                        pn_buf_puts(buf, held.v[i]);
        }
        if (held.n > 3)
                pn_buf_printf(buf, " and %u more", held.n - 3);
        if (held.n)
                pn_buf_printf(buf, " %s held back.", held.n == 1 ? "is" : "are");
        for (unsigned i = 0; i < held.n; i++)
                free(held.v[i]);
        free(held.v);
        return r;
}

/* What counts: not what is accepted, and of health only what needs somebody. */
static bool is_trouble(const PnFinding *finding)
{
        return !pn_is_true(finding->accepted) &&
               pn_severity_rank(finding->severity.v) >= RANK_WARNING;
}

static bool is_about_health(const PnFinding *finding)
{
        static const char *const codes[] = {"nvme.critical_warning", "nvme.spare_low", "nvme.worn",
                                            "nvme.media_errors_rising", "nvme.hot"};

        for (size_t i = 0; i < PN_ELEMENTS(codes); i++)
                if (pn_text_is(&finding->code, codes[i]))
                        return is_trouble(finding);
        return false;
}

/* Devices with findings that `is_told` picks, each once; the first finding of each says whether it
 * counts. */
static int count_devices(const PnStatus *status, bool (*is_told)(const PnFinding *finding),
                         bool (*counts)(const PnFinding *finding), unsigned *ret)
{
        PnIndex told;
        int r = pn_index_init(&told, status->findings.n);

        if (r < 0)
                return r;
        for (unsigned i = 0; i < status->findings.n; i++)
                if (is_told(&status->findings.v[i]))
                        pn_index_add(&told, pn_text(&status->findings.v[i].device),
                                     &status->findings.v[i]);
        pn_index_sort(&told);
        *ret = 0;
        for (unsigned i = 0; i < status->findings.n; i++) {
                const PnFinding *finding = &status->findings.v[i];

                *ret += counts(finding) &&
                        pn_index_find(&told, pn_text(&finding->device), NULL) == finding;
        }
        pn_index_done(&told);
        return 0;
}

/* "2 drives are not healthy. 1 sensor is too hot." */
static void say_health(PnBuf *buf, const PnStatus *status, unsigned unhealthy)
{
        static const struct {
                const char *codes[2], *one, *many;
        } rows[] = {
            {{"disk.lost", NULL}, "disk is gone", "disks are gone"},
            {{"sensor.hot", NULL}, "sensor is too hot", "sensors are too hot"},
            {{"sensor.alarm", NULL}, "sensor raises an alarm", "sensors raise an alarm"},
            {{"sensor.fan_stopped", NULL}, "fan stands", "fans stand"},
            {{"pcie.aer_rising", "pcie.aer_fatal"},
             "PCI Express link has errors",
             "PCI Express links have errors"},
            {{"nic.errors_rising", NULL}, "network port has errors", "network ports have errors"},
        };

        if (unhealthy)
                pn_buf_printf(buf, " %u drive%s %s not healthy.", unhealthy, plural(unhealthy),
                              unhealthy == 1 ? "is" : "are");
        for (size_t i = 0; i < PN_ELEMENTS(rows); i++) {
                unsigned n = 0;

                for (unsigned k = 0; k < status->findings.n; k++) {
                        const PnFinding *finding = &status->findings.v[k];

                        n += is_trouble(finding) &&
                             (pn_text_is(&finding->code, rows[i].codes[0]) ||
                              (rows[i].codes[1] && pn_text_is(&finding->code, rows[i].codes[1])));
                }
                if (n)
                        pn_buf_printf(buf, " %u %s.", n, n == 1 ? rows[i].one : rows[i].many);
        }
}

/* Findings that are not about links come after: they are never hidden by a good first half. */
static void say_rest(PnBuf *buf, const PnStatus *status)
{
        unsigned gone = 0, not_live = 0, stuck = 0, unread = 0;

        for (unsigned i = 0; i < status->findings.n; i++) {
                const PnText *code = &status->findings.v[i].code;

                gone += pn_text_is(code, "nvme.lost");
                not_live += pn_text_is(code, "nvme.not_live");
                stuck += pn_text_is(code, "probe.stuck");
                unread += pn_text_is(code, "probe.stale");
        }
        if (gone)
                pn_buf_printf(buf, " %u drive%s %s gone.", gone, plural(gone),
                              gone == 1 ? "is" : "are");
        if (not_live)
                pn_buf_printf(buf, " %u drive%s do%s not work.", not_live, plural(not_live),
                              not_live == 1 ? "es" : "");
        if (stuck)
                pn_buf_printf(buf, " %u device%s do%s not answer.", stuck, plural(stuck),
                              stuck == 1 ? "es" : "");
        if (unread)
                pn_buf_puts(buf, " Some of this could not be read.");
}

static bool is_about_module(const PnFinding *finding)
{
        return pn_startswith(finding->code.v, "module.");
}

/* Findings of mere information come last. */
static bool is_more_than_info(const PnFinding *finding)
{
        return !pn_text_is(&finding->severity, "info");
}

static int say_ports(PnBuf *buf, const PnPorts *ports, const PnStatus *status)
{
        unsigned without = 0, slow = 0, bonds = 0, modules;

        if (count_devices(status, is_about_module, is_more_than_info, &modules) < 0)
                return -ENOMEM;
        for (unsigned i = 0; i < status->findings.n; i++) {
                const PnFinding *finding = &status->findings.v[i];

                if (pn_text_is(&finding->severity, "info"))
                        continue;
                without += pn_text_is(&finding->code, "nic.no_interface");
                slow += pn_text_is(&finding->code, "nic.slow") ||
                        pn_text_is(&finding->code, "nic.half_duplex");
        }
        for (unsigned i = 0; i < ports->n; i++)
                bonds += pn_text_is(&ports->v[i].kind, "bond") &&
                         (pn_text_is(&ports->v[i].verdict, "degraded") ||
                          pn_text_is(&ports->v[i].verdict, "no_link"));
        if (without)
                pn_buf_printf(buf, " %u network port%s %s no interface.", without, plural(without),
                              without == 1 ? "has" : "have");
        if (slow)
                pn_buf_printf(buf, " %u network port%s run%s slower than %s should.", slow,
                              plural(slow), slow == 1 ? "s" : "", slow == 1 ? "it" : "they");
        if (bonds)
                pn_buf_printf(buf, " %u bond%s %s degraded.", bonds, plural(bonds),
                              bonds == 1 ? "is" : "are");
        if (modules)
                pn_buf_printf(buf, " %u module%s need%s attention.", modules, plural(modules),
                              modules == 1 ? "s" : "");
        return 0;
}

int pn_summarise(const PnInventory *inventory, const PnPorts *ports, PnStatus *status)
{
        _cleanup_buf_ PnBuf buf = {0};
        Count drives = {0}, others = {0}, switches = {0};
        unsigned unhealthy = 0;
        PnIndex told = {0};
        char *text;
        int r;

        r = count_devices(status, is_about_health, is_about_health, &unhealthy);
        if (r < 0)
                return r;
        r = index_links(status, &told);
        if (r == 0)
                r = count_drives(inventory, status, &told, &drives);
        if (r == 0)
                r = count_others(status, &told, &others, &switches);
        pn_index_done(&told);
        if (r < 0)
                return r;
        if (drives.below + others.below + switches.below) {
                say_below(&buf, &drives, &others, &switches);
                r = say_affected(&buf, status);
                if (r < 0)
                        return r;
        } else {
                say_best(&buf, inventory, &drives, &others, !unhealthy);
        }
        say_unjudged(&buf, &drives, &others);
        say_health(&buf, status, unhealthy);
        r = say_ports(&buf, ports, status);
        if (r < 0)
                return r;
        say_rest(&buf, status);
        r = pn_buf_take(&buf, &text, NULL);
        if (r < 0)
                return r;
        pn_take_text(&status->summary, text);
        return 0;
}
