/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every verb gets: the options, the terminal, and the page that is written once at the end. */
#pragma once

#include "schema.h"
#include "term.h"

typedef enum JsonMode {
        JSON_OFF,
        JSON_SHORT,  /* one line */
        JSON_PRETTY, /* indented */
} JsonMode;

typedef struct Table Table;

typedef struct Cli {
        Term term;
        JsonMode json;
        bool no_legend, no_pager, all, once;
        const char *socket;
        const char *from;
        const char *explain; /* the code that `findings` is to explain, or NULL */
        const char *format;  /* report, metrics: NULL: as the file's name tells */
        const char *output; /* capture, report, metrics: the file to write; NULL: standard output */
        bool keep_names;    /* capture: of pools, interfaces and mount points */
        char **words;       /* measure: the devices */
        unsigned n_words;
        double seconds;               /* measure: of each device; 0: as is usual */
        bool random, together, force; /* measure */
        char *hosts;           /* other machines to ask, separated by commas; NULL: this one */
        double timeout;        /* seconds to wait for each of them; 0: as is usual */
        bool socket_given;     /* by an option, and so for them too */
        struct Remote *remote; /* the one whose answer is shown; see remote.h */
        Table **join;          /* where tables of several hosts become one; NULL: they do not */
        bool has_joined;
        void
            *collected; /* check, metrics: where several hosts' answers become one; NULL: nowhere */
        const char *reason, *until; /* accept */
        const char *exec;           /* watch: the program to run for alerts */
        const char *at_least;       /* check: the mildest severity that is a problem */
        bool checkmk;               /* check: as a local check of checkmk */
        const char *checked;        /* check: the device, or NULL */
        bool for_monitoring;        /* what goes wrong is told as monitoring plug-ins do */
        PnBuf page;
} Cli;

/* A verb fills the page and returns the exit code: 0 whenever it could answer. */
typedef int (*VerbFunction)(Cli *cli, const char *argument);

int cmd_status(Cli *cli, const char *argument);
int cmd_pcie(Cli *cli, const char *argument);
int cmd_nvme(Cli *cli, const char *argument);
int cmd_net(Cli *cli, const char *argument);
int cmd_modules(Cli *cli, const char *argument);
int cmd_sensors(Cli *cli, const char *argument);
int cmd_disks(Cli *cli, const char *argument);
int cmd_show(Cli *cli, const char *argument);
int cmd_report(Cli *cli, const char *argument);
/* Whether the report that is asked for can be of several hosts: 0, or the exit code. */
int report_of_hosts(Cli *cli);
int cmd_metrics(Cli *cli, const char *argument);
int cmd_findings(Cli *cli, const char *argument);
int cmd_measure(Cli *cli, const char *argument);
int cmd_facts(Cli *cli, const char *argument);
int cmd_capture(Cli *cli, const char *argument);
int cmd_watch(Cli *cli, const char *argument);
int cmd_check(Cli *cli, const char *argument);
int cmd_accept(Cli *cli, const char *argument);
int cmd_unaccept(Cli *cli, const char *argument);

/* The exit status of a check that could not be made. */
#define CHECK_UNKNOWN 3

/* Says why there is no answer: on standard error in words, or as the one JSON document
 * {"error", "message"} where JSON was asked for. The format is an English text, translated here.
 * Returns the exit code. */
int cli_fail(Cli *cli, const char *error, const char *format, ...) _printf_(3, 4);

/* Says something that is no answer and no failure, on standard error. */
void cli_note(Cli *cli, const char *message);

/* Puts a table on the page; or, if it has no row, a sentence. Of several hosts, joins it to those
 * of the others. */
void cli_put_table(Cli *cli, Table *table, const char *otherwise);

/* Puts a JSON value (valid JSON text) on the page in the form that was asked for. Characters that
 * could harm a terminal are written as escapes: the same document. */
void cli_put_json(Cli *cli, const char *text, size_t length);

/* The same for a buffer that was written by pn_write_json(). */
void cli_put_json_buffer(Cli *cli, const PnBuf *buf);

/* The same for a list of objects of one type. */
void cli_put_json_list(Cli *cli, const PnType *type, const void *objects, unsigned n);

/* Remembers that memory is short, for cli_finish() to say. Returns the exit code. */
int cli_out_of_memory(Cli *cli);

/* Puts the start of a line for checkmk: the status, and the name of the service, which is the same
 * whatever happens; of another host, with the host's. */
void cli_put_service(Cli *cli, int code);

/* Writes what is on the page now, and empties it. 0 or a negative errno. */
int cli_flush(Cli *cli);

/* Writes the page, through a pager where that helps. Returns the exit code `code`, or 1 if the page
 * could not be built or written. */
int cli_finish(Cli *cli, int code);
