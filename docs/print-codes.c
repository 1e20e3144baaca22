/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the table of finding codes for readers: `markdown` for docs/findings.md, `man` for
 * pnhw-findings(7), `catalog` for the journal's message catalog, `list` for tests. Runs while pnhw
 * is built, so it needs nothing but the table. */

#include <ctype.h>
#include <stdio.h>

#include "codes.h"

#define WIDTH 78

static const struct {
        const char *prefix, *title;
} areas[] = {
    {"pcie.", "PCI Express"},  {"nvme.", "NVMe drives"},  {"disk.", "Other disks"},
    {"nic.", "Network ports"}, {"bond.", "Bonds"},        {"module.", "Modules and cables"},
    {"sensor.", "Sensors"},    {"probe.", "pnhw itself"},
};

static const char about[] =
    "A finding is something that is wrong with the hardware, or could be better. What kind it is, "
    "its code says. Codes and their meaning never change; new ones are added.";

static const char about_severity[] =
    "Severities are those of the journal: `info` is only to be known, `notice` is no fault but "
    "worth a look, `warning` is a fault, and `critical` is one that endangers data or service. For "
    "each code the worst that it can be is given.";

static const char about_journal[] =
    "A finding is shown at once. The journal is told when it has lasted for the time given, and "
    "once more when it has been gone for the time given, so that what comes and goes makes no "
    "noise. A source that could not be read neither raises nor clears what depends on it.";

/* Prints what is between blanks, each line at most WIDTH columns wide. */
static void wrap(const char *text)
{
        size_t column = 0;

        while (*text) {
                size_t n = strcspn(text, " "), columns = 0;

                /* A character is its first byte and those that continue it. */
                for (size_t i = 0; i < n; i++)
                        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
                if (column && column + 1 + columns > WIDTH) {
                        (void)putchar('\n');
                        column = 0;
                } else if (column) {
                        (void)putchar(' ');
                        column++;
                }
                (void)printf("%.*s", (int)n, text);
                column += columns;
                text += n;
                text += *text == ' ';
        }
        (void)putchar('\n');
}

static void print_time(int seconds)
{
        if (seconds >= 120 && seconds % 60 == 0)
                (void)printf("%d minutes", seconds / 60);
        else
                (void)printf("%d seconds", seconds);
}

static void print_sources(const char *names)
{
        for (const char *at = names; *at; at++)
                if (*at == ' ')
                        (void)fputs(", ", stdout);
                else
                        (void)putchar(*at);
        if (!*names)
                (void)fputs("none", stdout);
}

/* ---- Markdown ---- */

static void markdown_code(const PnCodeInfo *info)
{
        (void)printf("\n### %s\n\n**%s.**\n", info->name, info->title);
        wrap(info->meaning);
        (void)printf("\n*What to do.*\n");
        wrap(info->remedy);
        (void)printf("\nAt worst `%s` · told after ", info->worst);
        print_time(info->raise_s);
        (void)printf(", over after ");
        print_time(info->clear_s);
        (void)printf(" · sources: ");
        print_sources(info->sources);
        (void)printf("\n· `MESSAGE_ID=%s`\n", info->message_id);
}

static void markdown(void)
{
        (void)printf("<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->\n"
                     "<!-- Written by docs/print-codes.c from lib/codes.h: change it there. -->\n"
                     "# What pnhw finds\n\n");
        wrap(about);
        (void)printf("\n");
        wrap(about_severity);
        (void)printf("\n");
        wrap(about_journal);
        (void)printf(
            "\n`pnhwctl findings --explain CODE` shows the same on a terminal, and `man "
            "pnhw-findings`\nall of it.\n\n| Code | At worst | What it is |\n|---|---|---|\n");
        for (unsigned i = 0; i < PN_N_CODES; i++) {
                const PnCodeInfo *info = pn_code_info((PnCode)i);

                /* As the anchors of headings are made: without the dot. */
                (void)printf("| [%s](#", info->name);
                for (const char *at = info->name; *at; at++)
                        if (*at != '.')
                                (void)putchar(*at);
                (void)printf(") | %s | %s |\n", info->worst, info->title);
        }
        for (size_t k = 0; k < PN_ELEMENTS(areas); k++) {
                (void)printf("\n## %s\n", areas[k].title);
                for (unsigned i = 0; i < PN_N_CODES; i++)
                        if (pn_startswith(pn_code_info((PnCode)i)->name, areas[k].prefix))
                                markdown_code(pn_code_info((PnCode)i));
        }
}

/* ---- The manual page ---- */

/* Sentences, one a line as mdoc wants it; what is between backquotes becomes .Ql. */
static void mdoc(const char *text)
{
        bool at_start = true;

        for (const char *at = text; *at;) {
                if (*at == '`') {
                        size_t n = strcspn(at + 1, "`");

                        (void)printf("%s.Ql \"", at_start ? "" : "\n");
                        for (size_t i = 1; i <= n; i++)
                                (void)printf("%s%c", at[i] == '-' ? "\\" : "", at[i]);
                        (void)putchar('"');
                        at += n + 2;
                        while (*at && strchr(".,;:)", *at))
                                (void)printf(" %c", *at++);
                        while (*at == ' ')
                                at++;
                        (void)putchar('\n');
                        at_start = true;
                        continue;
                }
                if (at_start && (*at == '.' || *at == '\''))
                        (void)fputs("\\&", stdout);
                at_start = *at == ' ' && at != text && at[-1] == '.' &&
                           (isupper((unsigned char)at[1]) || at[1] == '`');
                if (at_start || (*at == ' ' && at[1] == '`'))
                        (void)(at_start ? putchar('\n') : 0);
                else
                        (void)putchar(*at);
                at++;
        }
        if (!at_start)
                (void)putchar('\n');
}

static void man_code(const PnCodeInfo *info)
{
        (void)printf(".It Sy %s\n%s.\n", info->name, info->title);
        mdoc(info->meaning);
        (void)printf(".Pp\n.Em What to do :\n");
        mdoc(info->remedy);
        (void)printf(".Pp\nAt worst\n.Sy %s ;\ntold after ", info->worst);
        print_time(info->raise_s);
        (void)printf(", over after ");
        print_time(info->clear_s);
        (void)printf("; sources: ");
        print_sources(info->sources);
        (void)printf(".\n.br\n.Li MESSAGE_ID=%s\n", info->message_id);
}

static void man(void)
{
        (void)printf(".\\\" SPDX-License-Identifier: LGPL-2.1-or-later\n"
                     ".\\\" Written by docs/print-codes.c from lib/codes.h: change it there.\n"
                     ".Dd November 30, 2026\n.Dt PNHW-FINDINGS 7\n.Os pnhw\n"
                     ".Sh NAME\n.Nm pnhw-findings\n.Nd what pnhw finds, and what to do about it\n"
                     ".Sh DESCRIPTION\n");
        mdoc(about);
        (void)printf(".Pp\n");
        mdoc(about_severity);
        (void)printf(".Pp\n");
        mdoc(about_journal);
        (void)printf(".Pp\n.Dl $ pnhwctl findings \\-\\-explain nvme.hot\n.Pp\n"
                     "shows what is written here of one code, and\n.Pp\n"
                     ".Dl $ journalctl \\-x PNHW_CODE=nvme.hot\n.Pp\n"
                     "when it was raised and cleared.\n");
        for (size_t k = 0; k < PN_ELEMENTS(areas); k++) {
                (void)fputs(".Sh ", stdout);
                for (const char *at = areas[k].title; *at; at++)
                        (void)putchar(toupper((unsigned char)*at));
                (void)printf("\n.Bl -tag -width Ds\n");
                for (unsigned i = 0; i < PN_N_CODES; i++)
                        if (pn_startswith(pn_code_info((PnCode)i)->name, areas[k].prefix))
                                man_code(pn_code_info((PnCode)i));
                (void)printf(".El\n");
        }
        (void)printf(".Sh SEE ALSO\n.Xr journalctl 1 ,\n.Xr pnhwctl 1 ,\n.Xr io.pnhw.Hardware 7 ,\n"
                     ".Xr pnhwd 8\n");
}

/* ---- The journal's catalog ---- */

/* A field that an entry lacks is shown as its bare name, so that only those are used that each of
 * our entries has. */
static void catalog(void)
{
        (void)printf("# SPDX-License-Identifier: LGPL-2.1-or-later\n"
                     "# What pnhw tells the journal, explained: journalctl -x\n");
        for (unsigned i = 0; i < PN_N_CODES; i++) {
                const PnCodeInfo *info = pn_code_info((PnCode)i);

                (void)printf("\n-- %s\nSubject: %s\nDefined-By: pnhw\n"
                             "Documentation: man:pnhw-findings(7)\n"
                             "Documentation: man:pnhwctl(1)\n\n",
                             info->message_id, info->title);
                (void)printf("@PNHW_SUMMARY@\n(@PNHW_CODE@, @PNHW_STATE@)\n\n");
                wrap(info->meaning);
                (void)printf("\nWhat to do here:\n@PNHW_ADVICE@\n\nIn general:\n");
                wrap(info->remedy);
                (void)printf("\nEarlier ones: journalctl MESSAGE_ID=%s\n", info->message_id);
        }
}

static void list(void)
{
        for (unsigned i = 0; i < PN_N_CODES; i++)
                (void)printf("%s %s\n", pn_code_info((PnCode)i)->message_id,
                             pn_code_info((PnCode)i)->name);
}

int main(int argc, char **argv)
{
        static const struct {
                const char *name;
                void (*print)(void);
        } formats[] = {
            {"markdown", markdown},
            {"man", man},
            {"catalog", catalog},
            {"list", list},
        };

        for (size_t i = 0; argc == 2 && i < PN_ELEMENTS(formats); i++)
                if (strcmp(argv[1], formats[i].name) == 0) {
                        formats[i].print();
                        return fflush(stdout) != 0 || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
                }
        (void)fprintf(stderr, "usage: print-codes markdown|man|catalog|list\n");
        return EXIT_FAILURE;
}
