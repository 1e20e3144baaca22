/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pnhwctl: asks whether each piece of hardware runs as well as it could, and shows the answer.
 * This file knows the options and the verbs; each verb has a file of its own. */

#include <getopt.h>
#include <stdio.h>

#include "client.h"
#include "codes.h"
#include "near.h"
#include "remote.h"
#include "say.h"
#include "source.h"
#include "view.h"

typedef struct Verb {
        const char *name;
        const char *argument; /* as shown in the help; NULL: takes none; in brackets: not needed */
        const char *help;     /* NULL: not for people */
        VerbFunction run;
        enum {
                EVERYWHERE, /* run for each of the other hosts */
                ITSELF,     /* asks the other hosts itself, for one answer of all */
                ONLY_HERE
        } where;
} Verb;

/* The first is what `pnhwctl` alone does. */
static const Verb verbs[] = {
    {"status", NULL, N_("Is everything at its best? If not: what, why, and what to do"), cmd_status,
     EVERYWHERE},
    {"findings", NULL, N_("What is wrong, one line each"), cmd_findings, EVERYWHERE},
    {"nvme", NULL, N_("NVMe drives: identity, size, slot, link, health, use"), cmd_nvme,
     EVERYWHERE},
    {"pcie", NULL, N_("The tree of PCI Express links, actual against possible"), cmd_pcie,
     EVERYWHERE},
    {"net", NULL, N_("Network ports and bonds: speed of what it could be, partner, slot"), cmd_net,
     EVERYWHERE},
    {"modules", NULL, N_("What is plugged into network ports: kind, reach, light"), cmd_modules,
     EVERYWHERE},
    {"sensors", NULL, N_("Temperatures, fans and voltages by device, with limits"), cmd_sensors,
     EVERYWHERE},
    {"disks", NULL, N_("Other disks: SATA, SAS, USB, virtual"), cmd_disks, EVERYWHERE},
    {"metrics", NULL, N_("All that is measured and judged, as a page for Prometheus"), cmd_metrics,
     ITSELF},
    {"report", NULL, N_("All of it as a page: Markdown, HTML with a picture of the links, JSON"),
     cmd_report, EVERYWHERE},
    {"show", N_("DEVICE"), N_("Everything about one device: nvme0, enp4s0f0, sda, 01:00.0"),
     cmd_show, EVERYWHERE},
    {"watch", NULL, N_("The status page, drawn at each change; or run a program for each alert"),
     cmd_watch, ITSELF},
    {"check", N_("[DEVICE]"),
     N_("A verdict for monitoring: one line, and exit status 0, 1, 2 or 3"), cmd_check, ITSELF},
    {"accept", N_("ID"), N_("Say that a finding is known and may stay (as root)"), cmd_accept,
     ONLY_HERE},
    {"unaccept", N_("ID"), N_("Take that back: the finding counts again (as root)"), cmd_unaccept,
     ONLY_HERE},
    {"capture", NULL, N_("Write an inventory for strangers: without serials, MACs and names"),
     cmd_capture, EVERYWHERE},
    {"measure", N_("DEVICE"), N_("How fast drives read, and what the limit is (as root)"),
     cmd_measure, ONLY_HERE},
    {"facts", "WHAT", NULL, cmd_facts, EVERYWHERE},
};

typedef enum OptionId {
        OPTION_JSON = 256,
        OPTION_NO_LEGEND,
        OPTION_NO_PAGER,
        OPTION_SOCKET,
        OPTION_FROM,
        OPTION_ONCE,
        OPTION_EXPLAIN,
        OPTION_TIMEOUT,
        OPTION_OUTPUT,
        OPTION_SECONDS,
        OPTION_RANDOM,
        OPTION_TOGETHER,
        OPTION_FORCE,
        OPTION_KEEP_NAMES,
        OPTION_FORMAT,
        OPTION_REASON,
        OPTION_UNTIL,
        OPTION_EXEC,
        OPTION_AT_LEAST,
        OPTION_CHECKMK,
        OPTION_VERSION,
        OPTION_COMPLETE,
} OptionId;

typedef struct Option {
        const char *name;
        const char *argument; /* NULL: takes none */
        int id;               /* a letter, if there is a short form */
        const char *verbs;    /* the only ones that take it, in words; NULL: all do */
        const char *help;     /* NULL: not for people */
} Option;

static const Option options[] = {
    {"all", NULL, 'a', NULL, N_("Show also what is folded away")},
    {"json", N_("MODE"), OPTION_JSON, NULL, N_("Write JSON: pretty, short or off")},
    {"", NULL, 'j', NULL, N_("The same as --json=pretty on a terminal, --json=short otherwise")},
    {"host", N_("HOST"), 'H', NULL, N_("Ask other machines over ssh: [USER@]HOST[,HOST…]")},
    {"timeout", "N", OPTION_TIMEOUT, NULL, N_("Wait so many seconds for each of them (20)")},
    {"once", NULL, OPTION_ONCE, NULL, N_("Ask no daemon: read the hardware now (best as root)")},
    {"from", N_("FILE"), OPTION_FROM, NULL, N_("Show a saved inventory (- for standard input)")},
    {"socket", N_("PATH"), OPTION_SOCKET, NULL, N_("The daemon's socket (also $PNHW_SOCKET)")},
    {"explain", N_("CODE"), OPTION_EXPLAIN, "findings", N_("What a code means, and what to do")},
    {"format", N_("NAME"), OPTION_FORMAT, "report metrics",
     N_("markdown, html, svg, json; or openmetrics, prometheus")},
    {"output", N_("FILE"), OPTION_OUTPUT, "report metrics capture",
     N_("Write this file, whose name may tell the format")},
    {"keep-names", NULL, OPTION_KEEP_NAMES, "capture",
     N_("Keep names of pools, mounts and interfaces")},
    {"seconds", "N", OPTION_SECONDS, "measure", N_("Read so many seconds (3)")},
    {"random", NULL, OPTION_RANDOM, "measure", N_("4 KiB here and there, one at a time")},
    {"together", NULL, OPTION_TOGETHER, "measure", N_("All at once, which shows what they share")},
    {"force", NULL, OPTION_FORCE, "measure", N_("Also what fails or hangs")},
    {"exec", N_("PROGRAM"), OPTION_EXEC, "watch",
     N_("Run it once for each alert, and when it is over")},
    {"at-least", N_("SEVERITY"), OPTION_AT_LEAST, "check",
     N_("The mildest that is a problem (warning)")},
    {"checkmk", NULL, OPTION_CHECKMK, "check", N_("As a local check of checkmk")},
    {"reason", N_("TEXT"), OPTION_REASON, "accept", N_("Why, for those who read it later")},
    {"until", N_("DATE"), OPTION_UNTIL, "accept", N_("Until then: 2031-12-31, or +30d from now")},
    {"no-legend", NULL, OPTION_NO_LEGEND, NULL, N_("No headings and no footers")},
    {"no-pager", NULL, OPTION_NO_PAGER, NULL, N_("Do not pipe long output into a pager")},
    {"help", NULL, 'h', NULL, N_("Show this help")},
    {"version", NULL, OPTION_VERSION, NULL, N_("Show the version")},
    {"complete", "WHAT", OPTION_COMPLETE, NULL, NULL},
};

/* Which of them were given. */
static bool given[PN_ELEMENTS(options)];

/* Puts spaces, so that what was put since `begin` takes up as many columns. */
static void pad(Cli *cli, size_t begin, unsigned columns)
{
        unsigned has = cli->page.error ? columns : term_columns(&cli->term, cli->page.data + begin);

        pn_buf_printf(&cli->page, "%*s", (int)(has < columns ? columns - has : 0), "");
}

static int help(Cli *cli)
{
        PnBuf *out = &cli->page;

        term_put(&cli->term, out, "pnhwctl [OPTION…] [VERB]");
        pn_buf_puts(out, "\n\n");
        term_put_wrapped(
            &cli->term, out, 0, 0, STYLE_BOLD,
            _("Is each piece of hardware in this machine running as well as it could?"));
        pn_buf_printf(out, "\n%s\n", _("Verbs:"));
        for (size_t i = 0; i < PN_ELEMENTS(verbs); i++) {
                size_t begin = out->len;

                if (!verbs[i].help)
                        continue;
                pn_buf_printf(out, "  %s%s", verbs[i].name, verbs[i].argument ? " " : "");
                if (verbs[i].argument)
                        term_put(&cli->term, out, _(verbs[i].argument));
                pad(cli, begin, 17);
                term_put_wrapped(&cli->term, out, 17, 17, STYLE_PLAIN, _(verbs[i].help));
        }
        pn_buf_printf(out, "\n%s\n", _("Options:"));
        for (size_t i = 0; i < PN_ELEMENTS(options); i++) {
                const Option *option = &options[i];
                _cleanup_free_ char *text = NULL;
                size_t begin = out->len;

                if (!option->help)
                        continue;
                if (option->id < 256)
                        pn_buf_printf(out, "  -%c%s", option->id, *option->name ? " " : "");
                else
                        pn_buf_puts(out, "     ");
                pn_buf_printf(out, "%s%s%s", *option->name ? "--" : "", option->name,
                              option->argument ? "=" : "");
                if (option->argument)
                        term_put(&cli->term, out, _(option->argument));
                pad(cli, begin, 26);
                if (asprintf(&text, "%s%s%s", option->verbs ? option->verbs : "",
                             option->verbs ? ": " : "", _(option->help)) < 0) {
                        text = NULL;
                        out->error = -ENOMEM;
                        return EXIT_FAILURE;
                }
                term_put_wrapped(&cli->term, out, 26, 26, STYLE_PLAIN, text);
        }
        return EXIT_SUCCESS;
}

static void put_word(Cli *cli, const char *word)
{
        term_put(&cli->term, &cli->page, word);
        pn_buf_puts(&cli->page, "\n");
}

/* Whether a port goes by the name of its card's link, which is listed already. */
static bool is_rated(const PnStatus *status, const char *id)
{
        for (unsigned i = 0; i < status->ratings.n; i++)
                if (strcmp(view_rating_name(&status->ratings.v[i]), view_address(id)) == 0)
                        return true;
        return false;
}

/* For shell completion: the words that fit, one a line; from the tables above, so that they are
 * spelled here and nowhere else. */
static int complete(Cli *cli, const char *what)
{
        if (strcmp(what, "verbs") == 0) {
                for (size_t i = 0; i < PN_ELEMENTS(verbs); i++)
                        if (verbs[i].help)
                                pn_buf_printf(&cli->page, "%s:%s\n", verbs[i].name,
                                              _(verbs[i].help));
        } else if (strcmp(what, "devices") == 0) {
                Facts facts = {0};

                if (source_facts(cli, WANT_NICS, &facts) != 0)
                        return EXIT_FAILURE;
                for (unsigned i = 0; i < facts.status.ratings.n; i++)
                        put_word(cli, view_rating_name(&facts.status.ratings.v[i]));
                for (unsigned i = 0; i < facts.ports.n; i++)
                        if (!is_rated(&facts.status, facts.ports.v[i].id.v))
                                put_word(cli, view_address(facts.ports.v[i].id.v));
                facts_done(&facts);
        } else if (strcmp(what, "drives") == 0) {
                Facts facts = {0};

                if (source_facts(cli, WANT_STATUS, &facts) != 0)
                        return EXIT_FAILURE;
                for (unsigned i = 0; i < facts.status.ratings.n; i++)
                        if (pn_text_is(&facts.status.ratings.v[i].kind, "nvme") &&
                            pn_text(&facts.status.ratings.v[i].name))
                                put_word(cli, facts.status.ratings.v[i].name.v);
                facts_done(&facts);
        } else if (strcmp(what, "findings") == 0) {
                Facts facts = {0};

                if (source_facts(cli, WANT_STATUS, &facts) != 0)
                        return EXIT_FAILURE;
                for (unsigned i = 0; i < facts.status.findings.n; i++) {
                        const PnFinding *finding = &facts.status.findings.v[i];
                        _cleanup_free_ char *made = NULL;

                        pn_buf_printf(&cli->page, "%s:", finding->id.v);
                        term_put(&cli->term, &cli->page,
                                 pn_text(&finding->summary) ? say_told(finding->summary.v, &made)
                                                            : finding->code.v);
                        pn_buf_puts(&cli->page, "\n");
                }
                facts_done(&facts);
        } else if (strcmp(what, "codes") == 0) {
                for (unsigned i = 0; i < PN_N_CODES; i++)
                        pn_buf_printf(&cli->page, "%s:%s\n", pn_code_info((PnCode)i)->name,
                                      _(pn_code_info((PnCode)i)->title));
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
                int distance = *name && (is_option ? options[i].help : verbs[i].help)
                                   ? near_distance(typed, name)
                                   : -1;

                if (distance >= 0 && distance < closest) {
                        closest = distance;
                        best = name;
                }
        }
        if (best)
                (void)snprintf(ret, size, _("did you mean %s%s?"), is_option ? "--" : "", best);
        else
                (void)snprintf(ret, size, "%s", _("see pnhwctl --help"));
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

/* More than one --host adds up. */
static int add_hosts(Cli *cli, const char *list)
{
        char *all = NULL;

        if (asprintf(&all, "%s%s%s", cli->hosts ? cli->hosts : "", cli->hosts ? "," : "", list) < 0)
                return cli_out_of_memory(cli);
        free(cli->hosts);
        cli->hosts = all;
        return 0;
}

static int set_seconds(Cli *cli, const char *option, const char *text, double *ret)
{
        char *end;
        double seconds = strtod(text, &end);

        if (*text < '0' || *text > '9' || *end || !(seconds >= 0.1 && seconds <= 3600))
                return cli_fail(cli, "Usage", "--%s=%s: from 0.1 to 3600 seconds are possible",
                                option, text);
        *ret = seconds;
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

/* JSON, and the line of a check, in which monitoring systems look for words. */
static bool is_for_programs(const Cli *cli)
{
        return cli->for_monitoring || cli->json != JSON_OFF;
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
        say_in_english(is_for_programs(cli));
        asked = cli->json;
        for (;;) {
                int at = optind;

                c = getopt_long(argc, argv, ":ahjH:", table, NULL);
                if (c < 0)
                        break;
                *ret_code = 0;
                for (size_t i = 0; i < PN_ELEMENTS(options); i++)
                        given[i] |= options[i].id == c;
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
                case 'H':
                        *ret_code = add_hosts(cli, optarg);
                        break;
                case OPTION_TIMEOUT:
                        *ret_code = set_seconds(cli, "timeout", optarg, &cli->timeout);
                        break;
                case OPTION_SECONDS:
                        *ret_code = set_seconds(cli, "seconds", optarg, &cli->seconds);
                        break;
                case OPTION_RANDOM:
                        cli->random = true;
                        break;
                case OPTION_TOGETHER:
                        cli->together = true;
                        break;
                case OPTION_FORCE:
                        cli->force = true;
                        break;
                case OPTION_SOCKET:
                        cli->socket = optarg;
                        cli->socket_given = true;
                        if (!*optarg)
                                *ret_code =
                                    cli_fail(cli, "Usage", "--socket= needs the path of a socket");
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
                case OPTION_KEEP_NAMES:
                        cli->keep_names = true;
                        break;
                case OPTION_REASON:
                        cli->reason = optarg;
                        break;
                case OPTION_UNTIL:
                        cli->until = optarg;
                        break;
                case OPTION_EXEC:
                        cli->exec = optarg;
                        break;
                case OPTION_AT_LEAST:
                        cli->at_least = optarg;
                        break;
                case OPTION_CHECKMK:
                        cli->checkmk = true;
                        break;
                case OPTION_ONCE:
                        cli->once = true;
                        break;
                case 'h':
                        say_in_english(false);
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
        say_in_english(is_for_programs(cli));
        return 0;
}

/* Whether the verb is `check`: then even a mistyped option is told as monitoring wants it. */
static bool is_check(int argc, char **argv)
{
        for (int i = 1; i < argc; i++) {
                bool is_short = argv[i][0] == '-' && argv[i][1] && argv[i][1] != '-';
                bool has_value = is_short && argv[i][strcspn(argv[i], "H")] == 'H' &&
                                 !argv[i][strcspn(argv[i], "H") + 1];

                if (argv[i][0] != '-')
                        return strcmp(argv[i], "check") == 0;
                for (size_t k = 0; k < PN_ELEMENTS(options); k++)
                        has_value |= options[k].argument && pn_startswith(argv[i], "--") &&
                                     strcmp(argv[i] + 2, options[k].name) == 0;
                i += has_value;
        }
        return false;
}

/* Whether `word` is one of those in `words`. */
static bool is_among(const char *words, const char *word)
{
        size_t n = strlen(word);

        for (const char *at = words; (at = strstr(at, word)); at += n)
                if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
                        return true;
        return false;
}

/* An option that a verb does not take was meant for another. 0, or the exit status. */
static int check_options(Cli *cli, const Verb *verb)
{
        for (size_t i = 0; i < PN_ELEMENTS(options); i++) {
                const Option *option = &options[i];

                if (!given[i] || !option->verbs || is_among(option->verbs, verb->name))
                        continue;
                return cli_fail(
                    cli, "Usage",
                    strchr(option->verbs, ' ') ? N_("--%s goes with the verbs %s, not with %s%s")
                                               : N_("--%s goes with the verb %s, not with %s%s"),
                    option->name, option->verbs, verb->name,
                    option->id == OPTION_FORMAT ? _("; a saved inventory is shown by --from") : "");
        }
        return 0;
}

static int run_verb(Cli *cli, int n, char **words)
{
        const Verb *verb = n == 0 && !cli->explain ? &verbs[0] : NULL;
        char hint[64];
        int r;

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
        if (verb->argument && *verb->argument != '[' && n < 2)
                return cli_fail(cli, "Usage",
                                verb->argument[0] == 'I' ? N_("%s needs an %s: %s")
                                                         : N_("%s needs a %s: %s"),
                                verb->name, _(verb->argument), _(verb->help));
        if (n > (verb->argument ? 2 : 1) && verb->run != cmd_measure)
                return cli_fail(cli, "Usage", "%s: too many words, starting at %s", verb->name,
                                words[verb->argument ? 2 : 1]);
        r = check_options(cli, verb);
        if (r)
                return r;
        if (cli->output && !*cli->output)
                return cli_fail(cli, "Usage", "--output needs the name of a file");
        if (verb->argument) {
                cli->words = words + 1;
                cli->n_words = (unsigned)n - 1;
        }
        if (cli->hosts && verb->where == ONLY_HERE)
                return cli_fail(cli, "Usage", "%s is not for other hosts: run it there",
                                verb->name);
        if (cli->hosts && verb->run == cmd_capture && strchr(cli->hosts, ','))
                return cli_fail(cli, "Usage", "%s: of one host at a time", verb->name);
        if (cli->hosts && verb->run == cmd_report && strchr(cli->hosts, ',')) {
                r = report_of_hosts(cli);
                if (r)
                        return r;
        }
        if (cli->hosts && verb->where != ITSELF)
                return remote_run(cli, verb->run, verb->argument && n > 1 ? words[1] : NULL);
        if (cli->timeout > 0 && !cli->hosts)
                return cli_fail(cli, "Usage", "--timeout is for --host alone");
        return verb->run(cli, verb->argument && n > 1 ? words[1] : NULL);
}

int main(int argc, char **argv)
{
        Cli cli = {.socket = getenv("PNHW_SOCKET")};
        int code = 0;

        if (!cli.socket || !*cli.socket)
                cli.socket = PN_SOCKET_PATH;
        term_init(&cli.term);
        cli.for_monitoring = is_check(argc, argv);
        for (int i = 1; cli.for_monitoring && i < argc; i++)
                cli.checkmk |= strcmp(argv[i], "--checkmk") == 0;
        if (take_options(&cli, argc, argv, &code) == 0) {
                if (cli.from && !*cli.from)
                        code = cli_fail(&cli, "Usage", "--from needs the name of a file");
                else if (cli.from && cli.once)
                        code = cli_fail(&cli, "Usage", "--from and --once exclude each other");
                else if (cli.from && cli.hosts)
                        code = cli_fail(&cli, "Usage", "--from and --host exclude each other");
                else
                        code = run_verb(&cli, argc - optind, argv + optind);
        }
        /* Its line has the status, and checkmk's agent may drop the output of what fails. */
        if (cli.checkmk && cli.for_monitoring && cli.json == JSON_OFF)
                code = 0;
        code = cli_finish(&cli, code);
        pn_buf_done(&cli.page);
        free(cli.hosts);
        return code;
}
