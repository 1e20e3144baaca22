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

typedef struct Cli {
        Term term;
        JsonMode json;
        bool no_legend, no_pager, all, once;
        const char *socket;
        const char *from;
        const char *format, *output; /* of a page for other programs; NULL: not given */
        const char *explain;         /* the code that `findings` is to explain, or NULL */
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
int cmd_metrics(Cli *cli, const char *argument);
int cmd_findings(Cli *cli, const char *argument);

/* Says why there is no answer: on standard error in words, or as the one JSON document
 * {"error", "message"} where JSON was asked for. Returns the exit code. */
int cli_fail(Cli *cli, const char *error, const char *format, ...) _printf_(3, 4);

/* Puts a JSON value (valid JSON text) on the page in the form that was asked for. Characters that
 * could harm a terminal are written as escapes: the same document. */
void cli_put_json(Cli *cli, const char *text, size_t length);

/* The same for a buffer that was written by pn_write_json(). */
void cli_put_json_buffer(Cli *cli, const PnBuf *buf);

/* The same for a list of objects of one type. */
void cli_put_json_list(Cli *cli, const PnType *type, const void *objects, unsigned n);

/* Remembers that memory is short, for cli_finish() to say. Returns the exit code. */
int cli_out_of_memory(Cli *cli);

/* Writes the page, through a pager where that helps. Returns the exit code `code`, or 1 if the page
 * could not be built or written. */
int cli_finish(Cli *cli, int code);
