/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pnhwctl: asks whether each piece of hardware runs as well as it could, and shows the answer.
 * This file knows the options and the verbs; each verb has a file of its own. */

#include <getopt.h>
#include <stdio.h>

#include "client.h"
#include "codes.h"
#include "near.h"
#include "source.h"
#include "view.h"

typedef struct Verb {
        const char *name;
        const char *argument; /* as shown in the help; NULL: takes none */
        const char *help;
        VerbFunction run;
} Verb;

/* The first is what `pnhwctl` alone does. */
static const Verb verbs[] = {
    {"status", NULL, "Is everything at its best? If not: what, why, and what to do", cmd_status},
    {"findings", NULL, "What is wrong, one line each", cmd_findings},
    {"nvme", NULL, "NVMe drives: identity, size, slot, link, health, use", cmd_nvme},
    {"pcie", NULL, "The tree of PCI Express links, actual against possible", cmd_pcie},
    {"net", NULL, "Network ports and bonds: speed of what it could be, partner, slot", cmd_net},
    {"modules", NULL, "What is plugged into network ports: kind, reach, light", cmd_modules},
    {"sensors", NULL, "Temperatures, fans and voltages by device, with limits", cmd_sensors},
    {"disks", NULL, "Other disks: SATA, SAS, USB, virtual", cmd_disks},
    {"metrics", NULL, "All that is measured and judged, as a page for Prometheus", cmd_metrics},
    {"show", "DEVICE", "Everything about one device: nvme0, enp4s0f0, sda, 01:00.0", cmd_show},
};

typedef enum OptionId {
        OPTION_JSON = 256,
        OPTION_NO_LEGEND,
        OPTION_NO_PAGER,
        OPTION_SOCKET,
        OPTION_FROM,
        OPTION_ONCE,
        OPTION_EXPLAIN,
        OPTION_FORMAT,
        OPTION_OUTPUT,
        OPTION_VERSION,
        OPTION_COMPLETE,
} OptionId;

typedef struct Option {
        const char *name;
        const char *argument; /* NULL: takes none */
        int id;               /* a letter, if there is a short form */
        const char *help;     /* NULL: not for people */
} Option;

static const Option options[] = {
    {"all", NULL, 'a', "Show also what is folded away"},
    {"explain", "CODE", OPTION_EXPLAIN, "With findings: what a code means, and what to do"},
    {"json", "MODE", OPTION_JSON, "Write JSON: pretty, short or off"},
    {"", NULL, 'j', "The same as --json=pretty on a terminal, --json=short otherwise"},
    {"once", NULL, OPTION_ONCE, "Ask no daemon: read the hardware now (best as root)"},
    {"from", "FILE", OPTION_FROM, "Show a saved inventory (- for standard input)"},
    {"socket", "PATH", OPTION_SOCKET, "The daemon's socket (also $PNHW_SOCKET)"},
    {"format", "FORM", OPTION_FORMAT, "Of metrics: openmetrics, or the older prometheus"},
    {"output", "FILE", OPTION_OUTPUT, "Write metrics to a file; *.prom gets the older format"},
    {"no-legend", NULL, OPTION_NO_LEGEND, "No headings and no footers"},
    {"no-pager", NULL, OPTION_NO_PAGER, "Do not pipe long output into a pager"},
    {"help", NULL, 'h', "Show this help"},
    {"version", NULL, OPTION_VERSION, "Show the version"},
    {"complete", "WHAT", OPTION_COMPLETE, NULL},
};

static int help(Cli *cli)
{
        PnBuf *out = &cli->page;

        term_put(&cli->term, out, "pnhwctl [OPTION…] [VERB]");
        pn_buf_puts(out, "\n\n");
        term_put_wrapped(&cli->term, out, 0, 0, STYLE_BOLD,
                         "Is each piece of hardware in this machine running as well as it could?");
        pn_buf_puts(out, "\nVerbs:\n");
        for (size_t i = 0; i < PN_ELEMENTS(verbs); i++) {
                _cleanup_free_ char *name = NULL;

                if (asprintf(&name, "%s%s%s", verbs[i].name, verbs[i].argument ? " " : "",
                             verbs[i].argument ? verbs[i].argument : "") < 0) {
                        name = NULL;
                        out->error = -ENOMEM;
                        return EXIT_FAILURE;
                }
                pn_buf_printf(out, "  %-15s", name);
                term_put_wrapped(&cli->term, out, 17, 17, STYLE_PLAIN, verbs[i].help);
        }
        pn_buf_puts(out, "\nOptions:\n");
        for (size_t i = 0; i < PN_ELEMENTS(options); i++) {
                const Option *option = &options[i];
                char shown[40] = "";

                if (!option->help)
                        continue;
                if (option->id < 256)
                        (void)snprintf(shown, sizeof shown, "-%c%s", option->id,
                                       *option->name ? " " : "");
                else
                        (void)snprintf(shown, sizeof shown, "   ");
                pn_buf_printf(out, "  %s%s%s", shown, *option->name ? "--" : "", option->name);
                pn_buf_printf(out, "%s%-*s", option->argument ? "=" : "",
                              (int)(18 - strlen(shown) -
                                    (*option->name ? 2 + strlen(option->name) : 0) -
                                    (option->argument ? 1 : 0)),
                              option->argument ? option->argument : "");
                term_put_wrapped(&cli->term, out, 20, 20, STYLE_PLAIN, option->help);
        }
        return EXIT_SUCCESS;
}

/* For shell completion: the words that fit, one a line; from the tables above, so that they are
 * spelled here and nowhere else. */
static int complete(Cli *cli, const char *what)
{
        if (strcmp(what, "verbs") == 0) {
                for (size_t i = 0; i < PN_ELEMENTS(verbs); i++)
                        pn_buf_printf(&cli->page, "%s:%s\n", verbs[i].name, verbs[i].help);
        } else if (strcmp(what, "devices") == 0) {
                Facts facts = {0};

                if (source_facts(cli, WANT_NICS, &facts) != 0)
                        return EXIT_FAILURE;
                for (unsigned i = 0; i < facts.status.ratings.n; i++) {
                        term_put(&cli->term, &cli->page,
                                 view_rating_name(&facts.status.ratings.v[i]));
                        pn_buf_puts(&cli->page, "\n");
                }
                for (unsigned i = 0; i < facts.ports.n; i++) {
                        term_put(&cli->term, &cli->page, facts.ports.v[i].id.v);
                        pn_buf_puts(&cli->page, "\n");
                }
                facts_done(&facts);
        } else if (strcmp(what, "codes") == 0) {
                for (unsigned i = 0; i < PN_N_CODES; i++)
                        pn_buf_printf(&cli->page, "%s:%s\n", pn_code_info((PnCode)i)->name,
                                      pn_code_info((PnCode)i)->title);
        } else if (strcmp(what, "options") == 0) {
                for (size_t i = 0; i < PN_ELEMENTS(options); i++)
                        if (options[i].help && *options[i].name)
                                pn_buf_printf(&cli->page, "--%s%s\n", options[i].name,
                                              options[i].argument ? "=" : "");
        }
        return EXIT_SUCCESS;
}

/* Names what is close to a word that is none of ours: "; did you mean status?". */
static void suggest(const char *typed, bool is_option, char *ret, size_t size)
{
        const char *best = NULL;
        int closest = 100;
        size_t n = is_option ? PN_ELEMENTS(options) : PN_ELEMENTS(verbs);

        for (size_t i = 0; i < n; i++) {
                const char *name = is_option ? options[i].name : verbs[i].name;
                int distance =
                    *name && (!is_option || options[i].help) ? near_distance(typed, name) : -1;

                if (distance >= 0 && distance < closest) {
                        closest = distance;
                        best = name;
                }
        }
        if (best)
                (void)snprintf(ret, size, "did you mean %s%s?", is_option ? "--" : "", best);
        else
                (void)snprintf(ret, size, "see pnhwctl --help");
}

static int unknown_option(Cli *cli, const char *argument)
{
        char hint[64], name[64];

        if (!pn_startswith(argument, "--"))
                return cli_fail(cli, "Usage", "there is no option %s; see pnhwctl --help",
                                argument);
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
        suggest(name, true, hint, sizeof hint);
        return cli_fail(cli, "Usage", "there is no option --%s; %s", name, hint);
}

static int set_json(Cli *cli, const char *mode)
{
        if (strcmp(mode, "pretty") == 0)
                cli->json = JSON_PRETTY;
        else if (strcmp(mode, "short") == 0)
                cli->json = JSON_SHORT;
        else if (strcmp(mode, "off") == 0)
                cli->json = JSON_OFF;
        else
                return cli_fail(cli, "Usage", "--json=%s: the modes are pretty, short and off",
                                mode);
        return 0;
}

/* Whether JSON was asked for anywhere on the command line: errors before it are JSON, too. */
static void find_json(Cli *cli, int argc, char **argv)
{
        for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
                if (strcmp(argv[i], "-j") == 0 || strcmp(argv[i], "--json=short") == 0)
                        cli->json = JSON_SHORT;
                else if (strcmp(argv[i], "--json=pretty") == 0)
                        cli->json = JSON_PRETTY;
        }
}

/* Takes the options. 0 to go on, 1 to stop with `ret_code`. */
static int take_options(Cli *cli, int argc, char **argv, int *ret_code)
{
        static struct option table[PN_ELEMENTS(options) + 1];
        JsonMode asked;
        size_t n = 0;
        int c;

        for (size_t i = 0; i < PN_ELEMENTS(options); i++)
                if (*options[i].name)
                        table[n++] = (struct option){
                            options[i].name, options[i].argument ? required_argument : no_argument,
                            NULL, options[i].id};
        opterr = 0;
        find_json(cli, argc, argv);
        asked = cli->json;
        for (;;) {
                int at = optind;

                c = getopt_long(argc, argv, ":ahj", table, NULL);
                if (c < 0)
                        break;
                *ret_code = 0;
                switch (c) {
                case 'a':
                        cli->all = true;
                        break;
                case 'j':
                        cli->json = asked = cli->term.tty ? JSON_PRETTY : JSON_SHORT;
                        break;
                case OPTION_JSON:
                        *ret_code = set_json(cli, optarg);
                        asked = cli->json;
                        break;
                case OPTION_NO_LEGEND:
                        cli->no_legend = true;
                        break;
                case OPTION_NO_PAGER:
                        cli->no_pager = true;
                        break;
                case OPTION_SOCKET:
                        cli->socket = optarg;
                        break;
                case OPTION_FROM:
                        cli->from = optarg;
                        break;
                case OPTION_EXPLAIN:
                        cli->explain = optarg;
                        break;
                case OPTION_FORMAT:
                        cli->format = optarg;
                        break;
                case OPTION_OUTPUT:
                        cli->output = optarg;
                        break;
                case OPTION_ONCE:
                        cli->once = true;
                        break;
                case 'h':
                        *ret_code = help(cli);
                        return 1;
                case OPTION_VERSION:
                        pn_buf_puts(&cli->page, "pnhw " PN_VERSION "\n");
                        return 1;
                case OPTION_COMPLETE:
                        *ret_code = complete(cli, optarg);
                        return 1;
                case ':':
                        *ret_code = cli_fail(cli, "Usage", "%s needs a value", argv[optind - 1]);
                        break;
                default:
                        if (optopt >= OPTION_JSON)
                                *ret_code =
                                    cli_fail(cli, "Usage", "%s takes no value", argv[optind - 1]);
                        else if (optopt && !pn_startswith(argv[at], "--"))
                                *ret_code =
                                    cli_fail(cli, "Usage",
                                             "there is no option -%c; see pnhwctl --help", optopt);
                        else
                                *ret_code = unknown_option(cli, argv[optind - 1]);
                }
                if (*ret_code)
                        return 1;
        }
        cli->json = asked;
        return 0;
}

static int run_verb(Cli *cli, int n, char **words)
{
        const Verb *verb = n == 0 && !cli->explain ? &verbs[0] : NULL;
        char hint[64];

        if (n == 0 && cli->explain)
                return cmd_findings(cli, NULL);

        for (size_t i = 0; !verb && i < PN_ELEMENTS(verbs); i++)
                if (strcmp(words[0], verbs[i].name) == 0)
                        verb = &verbs[i];
        if (!verb && strcmp(words[0], "help") == 0)
                return help(cli);
        if (!verb) {
                suggest(words[0], false, hint, sizeof hint);
                return cli_fail(cli, "Usage", "there is no verb %s; %s", words[0], hint);
        }
        if (verb->argument && n < 2)
                return cli_fail(cli, "Usage", "%s needs a %s: %s", verb->name, verb->argument,
                                verb->help);
        if (n > (verb->argument ? 2 : 1))
                return cli_fail(cli, "Usage", "%s: too many words, starting at %s", verb->name,
                                words[verb->argument ? 2 : 1]);
        if (cli->explain && verb->run != cmd_findings)
                return cli_fail(cli, "Usage", "--explain goes with the verb findings, not with %s",
                                verb->name);
        if ((cli->format || cli->output) && verb->run != cmd_metrics)
                return cli_fail(cli, "Usage", "--%s goes with the verb metrics, not with %s",
                                cli->format ? "format" : "output", verb->name);
        if (cli->output && !*cli->output)
                return cli_fail(cli, "Usage", "--output needs the name of a file");
        return verb->run(cli, verb->argument ? words[1] : NULL);
}

int main(int argc, char **argv)
{
        Cli cli = {.socket = getenv("PNHW_SOCKET")};
        int code = 0;

        if (!cli.socket || !*cli.socket)
                cli.socket = PN_SOCKET_PATH;
        term_init(&cli.term);
        if (take_options(&cli, argc, argv, &code) == 0) {
                if (cli.from && !*cli.from)
                        code = cli_fail(&cli, "Usage", "--from needs the name of a file");
                else if (cli.from && cli.once)
                        code = cli_fail(&cli, "Usage", "--from and --once exclude each other");
                else
                        code = run_verb(&cli, argc - optind, argv + optind);
        }
        code = cli_finish(&cli, code);
        pn_buf_done(&cli.page);
        return code;
}
