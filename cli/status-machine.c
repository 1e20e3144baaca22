/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The first line of the status page: which machine this is, in as many words as fit. */

#include <stdio.h>

#include "say.h"
#include "status.h"
#include "units.h"

/* What board makers leave in the fields that they did not fill in. */
static bool is_placeholder(const char *s)
{
        static const char *const fillers[] = {"System Product Name",
                                              "To Be Filled By O.E.M.",
                                              "To be filled by O.E.M.",
                                              "Default string",
                                              "Not Specified",
                                              "Not Applicable",
                                              "Unknown",
                                              "None",
                                              "N/A",
                                              "System Name",
                                              "Base Board Product Name"};

        for (size_t i = 0; i < PN_ELEMENTS(fillers); i++)
                if (strcmp(s, fillers[i]) == 0)
                        return true;
        return !*s;
}

static const char *product(const PnProduct *thing)
{
        const char *name = thing ? pn_text(&thing->product) : NULL;

        return name && !is_placeholder(name) ? name : NULL;
}

/* The parts of the line in their order; what matters least leaves first when they do not fit. */
typedef struct Part {
        char *text;
        unsigned drop;
} Part;

enum { PART_HOST, PART_MACHINE, PART_BOARD, PART_CPU, PART_MEMORY, PART_OS, N_PARTS };

static int say_cpu(const PnCpu *cpu, char **ret)
{
        _cleanup_free_ char *model = NULL;
        char sockets[32] = "", cores[32] = "";

        if (!cpu || !pn_text(&cpu->model))
                return 0;
        model = units_cpu(cpu->model.v);
        if (!model)
                return -ENOMEM;
        if (pn_int_or(cpu->sockets, 1) > 1)
                (void)snprintf(sockets, sizeof sockets, "%lld × ", (long long)cpu->sockets.v);
        if (cpu->cores.state == PN_KNOWN)
                (void)snprintf(cores, sizeof cores,
                               say_n(", %u core", ", %u cores", (unsigned)cpu->cores.v),
                               (unsigned)cpu->cores.v);
        return asprintf(ret, "%s%s%s", sockets, model, cores) < 0 ? -ENOMEM : 0;
}

/* What is installed where all modules are known, else what the kernel has. */
static int say_memory(const PnHost *host, char **ret)
{
        int64_t installed = 0;
        Units units;

        for (unsigned i = 0; i < host->dimms.n; i++) {
                PnInt size = host->dimms.v[i].size_bytes;

                if (pn_is_unread(size.state) || pn_int_or(size, 0) < 0 ||
                    __builtin_add_overflow(installed, pn_int_or(size, 0), &installed)) {
                        installed = 0;
                        break;
                }
        }
        if (installed < pn_int_or(host->memory_bytes, 0))
                installed = host->memory_bytes.v;
        if (installed <= 0)
                return 0;
        *ret = strdup(units_memory(units, installed));
        return *ret ? 0 : -ENOMEM;
}

static int copy(const char *text, char **ret)
{
        if (!text)
                return 0;
        *ret = strdup(text);
        return *ret ? 0 : -ENOMEM;
}

static int collect_parts(const PnHost *host, Part parts[static N_PARTS])
{
        const char *machine = product(host->machine.v), *board = product(host->board.v);
        const char *hypervisor = pn_text(&host->virtualization);
        bool is_virtual = hypervisor && strcmp(hypervisor, "none") != 0;
        int r = copy(pn_text(&host->hostname), &parts[PART_HOST].text);

        if (is_virtual) {
                if (r == 0 && asprintf(&parts[PART_MACHINE].text, _("virtual machine (%s)"),
                                       hypervisor) < 0) {
                        parts[PART_MACHINE].text = NULL;
                        r = -ENOMEM;
                }
                board = NULL;
        } else if (r == 0 && !(machine && board && strcmp(machine, board) == 0)) {
                r = copy(machine, &parts[PART_MACHINE].text);
        }
        if (r == 0)
                r = copy(board, &parts[PART_BOARD].text);
        if (r == 0)
                r = say_cpu(host->cpu.v, &parts[PART_CPU].text);
        if (r == 0)
                r = say_memory(host, &parts[PART_MEMORY].text);
        if (r == 0 && pn_text(&host->proxmox_version)) {
                if (asprintf(&parts[PART_OS].text, "Proxmox VE %s", host->proxmox_version.v) < 0) {
                        parts[PART_OS].text = NULL;
                        r = -ENOMEM;
                }
        } else if (r == 0) {
                r = copy(pn_text(&host->os), &parts[PART_OS].text);
        }
        parts[PART_HOST].drop = 0;
        parts[PART_CPU].drop = 2;
        parts[PART_MEMORY].drop = 3;
        parts[PART_OS].drop = 4;
        parts[PART_MACHINE].drop = is_virtual ? 1 : board ? 6 : 5;
        parts[PART_BOARD].drop = parts[PART_MACHINE].text ? 7 : 5;
        return r;
}

static unsigned parts_width(const Term *term, const Part *parts)
{
        unsigned width = 0;

        for (unsigned i = 0; i < N_PARTS; i++)
                if (parts[i].text)
                        width += term_columns(term, parts[i].text) + (width ? 3 : 0);
        return width;
}

static int clean_parts(const Term *term, Part *parts)
{
        for (unsigned i = 0; i < N_PARTS; i++) {
                char *clean;

                if (!parts[i].text)
                        continue;
                clean = term_clean(term, parts[i].text);
                if (!clean)
                        return -ENOMEM;
                free(parts[i].text);
                parts[i].text = clean;
        }
        return 0;
}

static void fit_parts(const Term *term, Part *parts)
{
        while (term->width && parts_width(term, parts) > term->width) {
                Part *victim = NULL;

                for (unsigned i = 0; i < N_PARTS; i++)
                        if (parts[i].text && parts[i].drop &&
                            (!victim || parts[i].drop > victim->drop))
                                victim = &parts[i];
                if (!victim)
                        break;
                free(PN_STEAL(victim->text));
        }
}

int status_put_machine(Cli *cli, const PnHost *host)
{
        Part parts[N_PARTS] = {{0}};
        const Term *term = &cli->term;
        bool first = true;
        int r = collect_parts(host, parts);

        if (r == 0)
                r = clean_parts(term, parts);
        if (r == 0) {
                fit_parts(term, parts);
                for (unsigned i = 0; i < N_PARTS; i++) {
                        _cleanup_free_ char *cut = NULL;

                        if (!parts[i].text)
                                continue;
                        if (!first)
                                term_put_styled(term, &cli->page, STYLE_DIM, " · ");
                        cut = term->width ? term_cut(term, parts[i].text, term->width)
                                          : strdup(parts[i].text);
                        if (cut)
                                term_put_styled(term, &cli->page,
                                                i == PART_HOST ? STYLE_BOLD : STYLE_PLAIN, cut);
                        else
                                r = -ENOMEM;
                        first = false;
                }
                pn_buf_puts(&cli->page, first ? "" : "\n");
        }
        for (unsigned i = 0; i < N_PARTS; i++)
                free(parts[i].text);
        return r;
}
