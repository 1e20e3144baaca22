/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tree of PCI Express links, from the root ports down: what each hop runs at, what it could. A
 * line is a link: the device at its lower end, and the port at its upper one beside it. */

#include <stdio.h>

#include "pcie.h"
#include "places.h"
#include "say.h"
#include "source.h"
#include "table.h"
#include "topology.h"
#include "units.h"
#include "view.h"

/* In a longer tree what is at its best folds away. */
#define ROWS_MAX 40
#define FREE_MAX 4

enum { ADDRESS, PORT, DEVICE, SLOT, NOW, RATED, BEST, OF_BEST, VERDICT, SHARED };

static const Column columns[] = {
    [ADDRESS] = {"ADDRESS", COLUMN_TREE, 0, 0},
    [PORT] = {"PORT", 0, 0, 8},
    [DEVICE] = {"DEVICE", 0, 14, 0},
    [SLOT] = {"SLOT", 0, 9, 3},
    [NOW] = {"NOW", 0, 0, 0},
    [RATED] = {"RATED", 0, 0, 9},
    [BEST] = {"BEST", 0, 0, 7},
    [OF_BEST] = {"OF BEST", COLUMN_RIGHT, 0, 4},
    [VERDICT] = {"VERDICT", 0, 18, 0},
    [SHARED] = {"SHARED", COLUMN_RIGHT, 0, 6},
};

/* What the command knows of each function. */
typedef struct Node {
        const PnRating
            *rating; /* of the link whose lower end begins here; NULL: none begins here */
        Mark mark;
        unsigned functions; /* that share the link */
        bool shared;        /* its link is another function's, too, and told there */
        bool shown;
        int row;
} Node;

typedef struct Tree {
        const Facts *facts;
        PnTopology topology;
        View view;
        Node *nodes;
        /* What is not shown. */
        unsigned n_good, n_linkless, n_empty;
} Tree;

static const PnPci *pci_of(const Tree *tree, uint32_t node)
{
        return tree->topology.v[node].pci;
}

static int attach_ratings(Tree *tree)
{
        const PnStatus *status = &tree->facts->status;

        for (unsigned i = 0; i < status->ratings.n; i++) {
                const PnRating *rating = &status->ratings.v[i];
                uint32_t node = pn_topology_find(&tree->topology, rating->address.v);

                if (node == PN_NOBODY)
                        continue;
                tree->nodes[node].rating = rating;
                tree->nodes[node].mark = view_rating_mark(&tree->view, rating);
                tree->nodes[node].functions = rating->functions.n;
                for (unsigned k = 0; k < rating->functions.n; k++) {
                        uint32_t other = pn_topology_find(&tree->topology, rating->functions.v[k]);

                        if (other != PN_NOBODY && other != node)
                                tree->nodes[other].shared = true;
                }
        }
        return 0;
}

/* Marks what is shown: what was asked for, and the way to it from the root. */
static void choose(Tree *tree, bool all)
{
        unsigned links = tree->facts->status.ratings.n;
        bool fold_good = links > ROWS_MAX && !all;

        for (uint32_t i = 0; i < tree->topology.n; i++) {
                Node *node = &tree->nodes[i];
                const PnPci *pci = pci_of(tree, i);
                bool empty = pn_is_downward_port(pci) && pn_topology_is_empty(&tree->topology, i);
                uint32_t up = i;

                if (!all && !node->rating) {
                        tree->n_empty += empty;
                        tree->n_linkless += !node->shared && !pn_is_downward_port(pci);
                        continue;
                }
                if (fold_good && node->mark == MARK_GOOD) {
                        tree->n_good += !pn_text_is(&node->rating->kind, "switch");
                        continue;
                }
                while (up != PN_NOBODY && !tree->nodes[up].shown) {
                        tree->nodes[up].shown = true;
                        up = tree->topology.v[up].parent;
                }
        }
}

static const char *kind_words(const PnPci *pci)
{
        static const struct {
                const char *kind, *words;
        } words[] = {
            {"root_port", N_("root port")},
            {"upstream_port", N_("switch")},
            {"downstream_port", N_("switch port")},
            {"bridge", N_("bridge")},
        };

        for (size_t i = 0; i < PN_ELEMENTS(words); i++)
                if (pn_text_is(&pci->kind, words[i].kind))
                        return _(words[i].words);
        return NULL;
}

static void set_device(Table *table, const Node *node, const PnPci *pci)
{
        const char *port = kind_words(pci),
                   *name = node->rating ? pn_text(&node->rating->name) : NULL;
        const char *model = node->rating ? pn_text(&node->rating->model) : NULL;
        char count[32] = "", text[256];

        if (node->functions > 1)
                (void)snprintf(count, sizeof count, _(" (%u functions)"), node->functions);
        if (!model)
                model = pn_text(&pci->name);
        if (!model)
                model = pn_text(&pci->class);
        if (port)
                (void)snprintf(text, sizeof text, "%s", port);
        else
                (void)snprintf(text, sizeof text, "%s%s%s%s", name ? name : "",
                               name && model ? " " : "", model ? model : "", count);
        table_set_styled(table, DEVICE, node->rating ? STYLE_PLAIN : STYLE_DIM, text);
}

static void set_link(const Tree *tree, Table *table, const Node *node)
{
        const PnRating *rating = node->rating;
        Style style = node->mark == MARK_GOOD ? STYLE_PLAIN : view_mark_style(node->mark);
        char buf[96];
        Units units;

        table_set(table, NOW, view_rating_link(rating, buf, sizeof buf));
        table_set(table, RATED, units_rate(units, rating->rated.v));
        table_set(table, BEST, units_rate(units, rating->best.v));
        table_set_styled(table, OF_BEST, style, view_rating_percent(rating, buf, sizeof buf));
        (void)snprintf(buf, sizeof buf, "%s %s", view_mark(node->mark),
                       view_device_verdict(&tree->view, rating));
        table_set_styled(table, VERDICT, view_mark_style(node->mark), buf);
        if (rating->shared.v && rating->shared.v->ratio.state == PN_KNOWN &&
            rating->shared.v->ratio.v > 1)
                table_format(table, SHARED, "%.1f : 1", rating->shared.v->ratio.v);
}

static void add_row(Tree *tree, Table *table, uint32_t i, bool all)
{
        Node *node = &tree->nodes[i];
        const PnPci *pci = pci_of(tree, i);
        uint32_t parent = tree->topology.v[i].parent;
        const char *slot = pn_text(&pci->slot);

        node->row = parent == PN_NOBODY ? TABLE_NO_PARENT : tree->nodes[parent].row;
        if (!all && pn_is_downward_port(pci))
                return; /* told on the line of what is below it */
        node->row = table_row(table, node->row);
        if (node->rating && pn_text(&node->rating->port))
                table_set_styled(table, PORT, STYLE_DIM, view_address(node->rating->port.v));
        table_set_styled(table, ADDRESS, node->rating ? STYLE_PLAIN : STYLE_DIM,
                         view_address(pci->address.v));
        set_device(table, node, pci);
        /* A port's slot is its device's slot: once is enough. */
        if (!pn_is_downward_port(pci) || pn_topology_is_empty(&tree->topology, i))
                table_set(table, SLOT, slot);
        if (node->rating)
                set_link(tree, table, node);
        else if (pn_is_downward_port(pci) && pn_topology_is_empty(&tree->topology, i))
                table_set_styled(table, VERDICT, STYLE_DIM,
                                 pn_is_true(pci->slot_implemented) ? _("free")
                                                                   : _("nothing behind it"));
}

/* Walks the tree without recursion: down, else along, else up and along. */
static void walk(Tree *tree, Table *table, bool all)
{
        for (uint32_t i = 0; i < tree->topology.n; i++) {
                uint32_t root = tree->topology.order[i], node = root;

                if (tree->topology.v[root].parent != PN_NOBODY)
                        continue;
                while (node != PN_NOBODY) {
                        uint32_t next = PN_NOBODY;

                        if (tree->nodes[node].shown) {
                                add_row(tree, table, node, all);
                                next = tree->topology.v[node].first_child;
                        }
                        while (next == PN_NOBODY && node != root) {
                                next = tree->topology.v[node].next_sibling;
                                if (next == PN_NOBODY)
                                        node = tree->topology.v[node].parent;
                        }
                        node = next;
                }
        }
}

/* Where something could be moved to: what the advice of findings chooses from. */
static int put_free(Cli *cli, const Facts *facts, bool *ret_put)
{
        const PnRatings ratings = {PN_KNOWN, facts->status.ratings.n, facts->status.ratings.v};
        _cleanup_buf_ PnBuf line = {0};
        PnPlaces places;
        int r = pn_places_find(&facts->inventory, &ratings, &places);

        *ret_put = false;
        if (r < 0)
                return r;
        for (size_t i = 0; i < places.n && i < FREE_MAX; i++) {
                const PnPlace *place = &places.v[i];
                Units units;

                pn_buf_printf(&line, "%s%s (%s%s)", i == 0 ? _("Free: ") : ", ",
                              view_address(place->name),
                              units_link(units, &(PnReal){PN_KNOWN, pn_pcie_gts(place->gen)},
                                         &(PnInt){PN_KNOWN, place->width}),
                              place->is_listed ? _(", says the firmware") : "");
        }
        if (places.n > FREE_MAX)
                pn_buf_printf(&line, _(" and %zu more"), places.n - FREE_MAX);
        r = line.error;
        if (r == 0 && places.n) {
                pn_buf_puts(&cli->page, "\n");
                term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_PLAIN, line.data);
                *ret_put = true;
        }
        pn_places_done(&places);
        return r;
}

static void put_hidden(Cli *cli, const Tree *tree, bool first)
{
        const struct {
                unsigned n;
                const char *format;
        } parts[] = {
            {tree->n_good, say_n("%u link at its best", "%u links at their best", tree->n_good)},
            {tree->n_linkless,
             say_n("%u function without a link", "%u functions without a link", tree->n_linkless)},
            {tree->n_empty, say_n("%u empty port", "%u empty ports", tree->n_empty)},
        };
        _cleanup_buf_ PnBuf line = {0};

        for (size_t i = 0; i < PN_ELEMENTS(parts); i++) {
                char part[96];

                if (!parts[i].n)
                        continue;
                (void)snprintf(part, sizeof part, parts[i].format, parts[i].n);
                pn_buf_printf(&line, "%s%s", line.len ? ", " : _("Not shown: "), part);
        }
        if (!line.len)
                return;
        pn_buf_puts(&line, _(" (--all shows everything)"));
        pn_buf_puts(&cli->page, first ? "\n" : "");
        if (line.error)
                cli->page.error = line.error;
        else
                term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_DIM, line.data);
}

/* Instead of a tree in which nothing is shown: because all is well, or because there is nothing. */
static void put_nothing(Cli *cli, const Tree *tree)
{
        char line[96];

        if (tree->n_good > 1)
                (void)snprintf(line, sizeof line, _("All %u links run at their best."),
                               tree->n_good);
        else
                (void)snprintf(line, sizeof line, "%s",
                               tree->n_good ? _("The link runs at its best.")
                                            : _("No PCI Express link can be seen here."));
        term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_PLAIN, line);
}

static int put_tree(Cli *cli, const Facts *facts)
{
        bool is_free = false;
        _cleanup_table_ Table *table = table_new(&cli->term, columns, PN_ELEMENTS(columns));
        Tree tree = {.facts = facts};
        int r = pn_topology_build(&facts->inventory, &tree.topology);

        if (r < 0)
                return r;
        tree.nodes = calloc((size_t)tree.topology.n + 1, sizeof *tree.nodes);
        r = tree.nodes && table ? view_init(&tree.view, &facts->status) : -ENOMEM;
        if (r == 0)
                r = attach_ratings(&tree);
        if (r == 0) {
                choose(&tree, cli->all);
                walk(&tree, table, cli->all);
                table_print(table, &cli->page, !cli->no_legend);
                if (!cli->no_legend && !facts->inventory.pci.n)
                        term_put_wrapped(&cli->term, &cli->page, 0, 0, STYLE_PLAIN,
                                         _("There are no PCI functions in this machine."));
                else if (!cli->no_legend && !table_rows(table))
                        put_nothing(cli, &tree);
                if (!cli->no_legend)
                        r = put_free(cli, facts, &is_free);
                if (!cli->no_legend)
                        put_hidden(cli, &tree, !is_free);
        }
        view_done(&tree.view);
        free(tree.nodes);
        pn_topology_done(&tree.topology);
        return r;
}

static void put_json(Cli *cli, const Facts *facts)
{
        _cleanup_buf_ PnBuf buf = {0};

        pn_buf_puts(&buf, "{\"pci\":[");
        for (unsigned i = 0; i < facts->inventory.pci.n; i++) {
                pn_buf_puts(&buf, i ? "," : "");
                pn_write_json(&buf, pn_type_Pci(), &facts->inventory.pci.v[i]);
        }
        pn_buf_puts(&buf, "],\"ratings\":[");
        for (unsigned i = 0; i < facts->status.ratings.n; i++) {
                pn_buf_puts(&buf, i ? "," : "");
                pn_write_json(&buf, pn_type_Rating(), &facts->status.ratings.v[i]);
        }
        pn_buf_puts(&buf, "]}");
        cli_put_json_buffer(cli, &buf);
}

int cmd_pcie(Cli *cli, _unused_ const char *argument)
{
        Facts facts = {0};
        int r = source_facts(cli, WANT_HOST | WANT_PCI, &facts);

        if (r == 0 && cli->json != JSON_OFF)
                put_json(cli, &facts);
        else if (r == 0 && put_tree(cli, &facts) < 0)
                r = cli_out_of_memory(cli);
        facts_done(&facts);
        return r;
}
