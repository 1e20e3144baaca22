/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where facts come from: the daemon, a saved inventory, or the probe. Knows no layout. */

#include "source.h"

#include <fcntl.h>
#include <grp.h>
#include <json-c/json.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "assess.h"
#include "client.h"
#include "device.h"
#include "facts.h"
#include "interface.h"
#include "join.h"
#include "metrics.h"
#include "near.h"
#include "probe.h"
#include "remote.h"
#include "say.h"
#include "snapshot.h"
#include "text.h"

#define ANSWER_TIMEOUT_MS 5000
#define FILE_MAX          ((size_t)256 << 20)

void facts_done(Facts *facts)
{
        pn_done(pn_type_Status(), &facts->status);
        pn_ports_done(&facts->ports);
        pn_done(pn_type_Inventory(), &facts->inventory);
        free(facts->status_text);
        *facts = (Facts){0};
}

/* ---- the daemon ---- */

static const char *start_it(void)
{
        return _("start it:          systemctl start pnhwd\n"
                 "or do without it:  pnhwctl --once status   (as root, to see everything)");
}

static int cannot_connect(Cli *cli, int error, const char *sentence)
{
        _cleanup_free_ char *made = NULL;
        struct stat st;

        switch (error) {
        case -ENOENT:
                return cli_fail(cli, "NoDaemon", "pnhwd is not running: %s does not exist\n%s",
                                cli->socket, start_it());
        case -ECONNREFUSED:
                return cli_fail(cli, "NoDaemon", "pnhwd is not running: nobody listens on %s\n%s",
                                cli->socket, start_it());
        case -EACCES: {
                struct group *group = NULL;

                if (stat(cli->socket, &st) == 0 && st.st_mode & S_IWGRP && st.st_gid != 0)
                        group = getgrgid(st.st_gid);
                if (group)
                        return cli_fail(cli, "PermissionDenied",
                                        "you may not connect to %s: it is for members of the group "
                                        "%s\njoin it:   sudo adduser $USER %s   (then log in again)"
                                        "\nor ask as root",
                                        cli->socket, group->gr_name, group->gr_name);
                return cli_fail(cli, "PermissionDenied", "you may not connect to %s; ask as root",
                                cli->socket);
        }
        case -ENOMEM:
                return cli_out_of_memory(cli);
        case -ETIMEDOUT:
                return cli_fail(cli, "Timeout",
                                "pnhwd took the connection at %s, but gave no answer within %d "
                                "seconds\nwhat it is doing:  systemctl status pnhwd",
                                cli->socket, ANSWER_TIMEOUT_MS / 1000);
        default:
                /* Most sentences have the name already. */
                if (sentence && strstr(sentence, cli->socket))
                        return cli_fail(cli, error == -EIO ? "IO" : "BadAnswer", "%s",
                                        say_complaint(sentence, &made));
                return cli_fail(cli, error == -EIO ? "IO" : "BadAnswer", "%s: %s", cli->socket,
                                sentence ? say_complaint(sentence, &made) : say_error(-error));
        }
}

static const char *short_error(const char *name)
{
        const char *dot = strrchr(name, '.');

        return dot ? dot + 1 : name;
}

static int varlink_error(Cli *cli, const PnReply *reply)
{
        _cleanup_free_ char *sentence = pn_reply_describe_error(reply), *made = NULL;

        if (!sentence)
                return cli_out_of_memory(cli);
        return cli_fail(cli, short_error(reply->error), "%s", say_complaint(sentence, &made));
}

/* Calls a method. 0 and a reply that is no error, or the exit code. */
static int call(Cli *cli, PnClient *client, const char *method, const char *parameters,
                PnReply *ret)
{
        _cleanup_free_ char *sentence = NULL;
        int r = pn_client_call(client, method, parameters, false, ret, &sentence);

        if (r < 0)
                return cannot_connect(cli, r, sentence);
        return ret->error ? varlink_error(cli, ret) : 0;
}

static int connect_daemon(Cli *cli, PnClient **ret)
{
        _cleanup_free_ char *sentence = NULL;
        int r = pn_client_connect(cli->socket, ANSWER_TIMEOUT_MS, ret, &sentence);

        return r < 0 ? cannot_connect(cli, r, sentence) : 0;
}

/* Reads an object out of an answer of the daemon's, which may be newer than we are. */
static int read_answer(Cli *cli, const PnType *type, struct json_object *json, void *ret)
{
        _cleanup_free_ char *sentence = NULL, *made = NULL;
        int r = pn_read_json(type, json, PN_JSON_ALLOW_UNKNOWN, ret, &sentence, NULL);

        if (r == -ENOMEM)
                return cli_out_of_memory(cli);
        if (r < 0)
                return cli_fail(
                    cli, "BadAnswer", "what listens on %s gave an answer that makes no sense: %s",
                    cli->socket,
                    sentence ? say_complaint(sentence, &made) : _("for no known reason"));
        return 0;
}

static int daemon_inventory(Cli *cli, PnClient *client, const char *parameters, PnInventory *ret)
{
        _cleanup_(pn_reply_done) PnReply reply = {0};
        int r = call(cli, client, "io.pnhw.Hardware.GetInventory", parameters, &reply);

        if (r)
                return r;
        return read_answer(cli, pn_type_Inventory(),
                           json_object_object_get(reply.parameters, "inventory"), ret);
}

/* The answer's own words, for JSON: they may have fields that we do not know. */
static int keep_status_text(Cli *cli, struct json_object *status, Facts *ret)
{
        const char *text = json_object_to_json_string_length(
            status, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &ret->status_length);

        ret->status_text = text ? strndup(text, ret->status_length) : NULL;
        return ret->status_text ? 0 : cli_out_of_memory(cli);
}

/* {"kinds":["host","pci"]} */
static void write_kinds(Want want, char *ret, size_t size)
{
        static const struct {
                int wants;
                const char *kind;
        } kinds[] = {
            {WANT_HOST, "host"},   {WANT_PCI, "pci"},   {WANT_NVME | WANT_SENSORS, "nvme"},
            {WANT_DISKS, "disks"}, {WANT_NICS, "nics"}, {WANT_SENSORS, "sensors"},
        };
        size_t n = 0;

        for (size_t i = 0; i < PN_ELEMENTS(kinds) && n < size; i++)
                if ((int)want & kinds[i].wants)
                        n += (size_t)snprintf(ret + n, size - n, "%s\"%s\"",
                                              n ? "," : "{\"kinds\":[", kinds[i].kind);
        if (n < size)
                (void)snprintf(ret + n, size - n, "]}");
}

static int daemon_facts(Cli *cli, Want want, Facts *ret)
{
        /* The first answer is never released: that takes a quarter of what the whole page takes,
         * and the process is about to end. */
        static PnReply kept;
        _cleanup_(pn_client_freep) PnClient *client = NULL;
        _cleanup_(pn_reply_done) PnReply later = {0};
        PnReply *reply = kept.json ? &later : &kept;
        int r = connect_daemon(cli, &client);

        if (r == 0)
                r = call(cli, client, "io.pnhw.Hardware.GetStatus", NULL, reply);
        if (r)
                return r;
        if (want == WANT_STATUS && cli->json != JSON_OFF) {
                r = keep_status_text(cli, reply->parameters, ret);
                if (r)
                        return r;
        }
        r = read_answer(cli, pn_type_Status(), reply->parameters, &ret->status);
        if (r == 0 && want != WANT_STATUS) {
                char parameters[96];

                write_kinds(want, parameters, sizeof parameters);
                r = daemon_inventory(cli, client, parameters, &ret->inventory);
        }
        return r;
}

/* ---- other machines ---- */

/* Parses a host's answer. While nobody has been asked yet, notes what to ask and ends the verb. */
static int remote_answer(Cli *cli, const char *wanted, struct json_object **ret)
{
        _cleanup_free_ char *sentence = NULL, *made = NULL;
        struct json_object *json = NULL, *error = NULL, *message = NULL;
        const Remote *remote = cli->remote;
        int r;

        if (!remote->host) {
                cli->remote->wanted = strdup(wanted);
                return cli->remote->wanted ? EXIT_FAILURE : cli_out_of_memory(cli);
        }
        r = pn_parse_json(remote->answer, remote->length, &json, &sentence);
        if (r == -ENOMEM)
                return cli_out_of_memory(cli);
        if (r < 0)
                return cli_fail(cli, "BadAnswer", "its answer makes no sense: %s",
                                sentence ? say_complaint(sentence, &made) : _("no JSON"));
        if (json_object_is_type(json, json_type_object) &&
            json_object_object_get_ex(json, "error", &error) &&
            json_object_object_get_ex(json, "message", &message)) {
                const char *code = json_object_get_string(error);
                const char *why = json_object_get_string(message);

                if (pn_streq(code, "Usage"))
                        r = cli_fail(cli, "Usage",
                                     "its pnhwctl does not know the question; is it older than "
                                     "this one? (%s)",
                                     why ? why : _("no reason"));
                else
                        r = cli_fail(cli, code ? code : "BadAnswer", "%s",
                                     why ? why : _("no reason"));
                json_object_put(json);
                return r;
        }
        *ret = json;
        return 0;
}

static int read_remote(Cli *cli, const PnType *type, struct json_object *json, void *ret)
{
        _cleanup_free_ char *sentence = NULL, *made = NULL;
        int r = pn_read_json(type, json, PN_JSON_ALLOW_UNKNOWN, ret, &sentence, NULL);

        if (r == -ENOMEM)
                return cli_out_of_memory(cli);
        return r < 0
                   ? cli_fail(cli, "BadAnswer", "its answer makes no sense: %s",
                              sentence ? say_complaint(sentence, &made) : _("for no known reason"))
                   : 0;
}

static struct json_object *member(struct json_object *json, const char *name);

static int remote_object(Cli *cli, const char *wanted, const char *name, const PnType *type,
                         void *ret)
{
        struct json_object *json = NULL;
        int r = remote_answer(cli, wanted, &json);

        if (r == 0)
                r = read_remote(cli, type, member(json, name), ret);
        json_object_put(json);
        return r;
}

static int remote_facts(Cli *cli, Want want, Facts *ret)
{
        struct json_object *json = NULL;
        int r = remote_answer(cli, facts_word((int)want), &json);

        if (r)
                return r;
        ret->origin = cli->once ? ORIGIN_PROBE : ORIGIN_DAEMON;
        r = read_remote(cli, pn_type_Status(), member(json, "status"), &ret->status);
        if (r == 0 && want == WANT_STATUS && cli->json != JSON_OFF)
                r = keep_status_text(cli, member(json, "status"), ret);
        if (r == 0 && want != WANT_STATUS)
                r = read_remote(cli, pn_type_Inventory(), member(json, "inventory"),
                                &ret->inventory);
        json_object_put(json);
        return r;
}

static int remote_device(Cli *cli, const char *name, PnDevice *ret)
{
        _cleanup_free_ char *wanted = NULL;

        if (asprintf(&wanted, FACTS_DEVICE "%s", name) < 0) {
                wanted = NULL;
                return cli_out_of_memory(cli);
        }
        return remote_object(cli, wanted, "device", pn_type_Device(), ret);
}

static int remote_metrics(Cli *cli, PnBuf *ret)
{
        PnGetMetricsOut out = {0};
        int r = remote_object(cli, FACTS_METRICS, "metrics", pn_type_GetMetricsOut(), &out);

        if (r == 0)
                pn_buf_puts(ret, out.openmetrics.v);
        pn_done(pn_type_GetMetricsOut(), &out);
        return r;
}

static int remote_check(Cli *cli, const char *device, const char *severity, PnCheckOut *ret)
{
        _cleanup_free_ char *wanted = NULL;

        if (asprintf(&wanted, FACTS_CHECK "%s%s%s", severity, device ? "," : "",
                     device ? device : "") < 0) {
                wanted = NULL;
                return cli_out_of_memory(cli);
        }
        return remote_object(cli, wanted, "check", pn_type_CheckOut(), ret);
}

/* ---- documents ---- */

static int read_file(Cli *cli, const char *name, PnBuf *ret)
{
        bool is_stdin = strcmp(name, "-") == 0;
        _cleanup_close_ int opened = -1;
        int fd = STDIN_FILENO;

        if (!is_stdin) {
                fd = opened = open(name, O_RDONLY | O_CLOEXEC);
                if (fd < 0)
                        return cli_fail(cli, "BadFile", "%s: %s", name, say_error(errno));
        }
        for (;;) {
                char chunk[65536];
                ssize_t n = read(fd, chunk, sizeof chunk);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return cli_fail(cli, "BadFile", "%s: %s", name, say_error(errno));
                if (n == 0)
                        return 0;
                if (ret->len + (size_t)n > FILE_MAX)
                        return cli_fail(cli, "BadFile", "%s: larger than %zu MiB", name,
                                        FILE_MAX >> 20);
                pn_buf_put(ret, chunk, (size_t)n);
        }
}

/* The length of the lines of a text that are UTF-8, up to the first that is not. */
static size_t utf8_lines(const char *text, size_t length)
{
        size_t start = 0;

        while (start < length) {
                const char *newline = memchr(text + start, '\n', length - start);
                size_t n = newline ? (size_t)(newline + 1 - (text + start)) : length - start;

                if (!pn_utf8_valid(text + start, n))
                        break;
                start += n;
        }
        return start;
}

/* Where the parser gave up, as line and column. */
static void find_place(const char *text, size_t length, unsigned *ret_line, unsigned *ret_column)
{
        struct json_tokener *tokener = json_tokener_new_ex(32);
        _cleanup_free_ char *ascii = malloc(length + 1);
        size_t end, valid = utf8_lines(text, length);

        *ret_line = *ret_column = 1;
        if (!tokener || !ascii || length > INT32_MAX) {
                json_tokener_free(tokener);
                return;
        }
        /* See pn_parse_json(): places stay the same. */
        for (size_t i = 0; i < length; i++)
                ascii[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
        json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
        json_object_put(json_tokener_parse_ex(tokener, ascii, (int)length));
        end = json_tokener_get_parse_end(tokener);
        json_tokener_free(tokener);
        if (end > valid)
                end = valid;
        if (end > pn_json_too_small(text, length))
                end = pn_json_too_small(text, length);
        for (size_t i = 0; i < end && i < length; i++) {
                if (text[i] == '\n') {
                        (*ret_line)++;
                        *ret_column = 1;
                } else {
                        (*ret_column)++;
                }
        }
}

static bool has(struct json_object *json, const char *name)
{
        return json_object_object_get_ex(json, name, NULL);
}

static struct json_object *member(struct json_object *json, const char *name)
{
        struct json_object *value = NULL;

        return json_object_is_type(json, json_type_object) &&
                       json_object_object_get_ex(json, name, &value) &&
                       json_object_is_type(value, json_type_object)
                   ? value
                   : NULL;
}

/* Says what is in a document, if it is no inventory (a format for its name); NULL if it is one. */
static const char *other_than_inventory(struct json_object *json)
{
        const PnType *type = pn_type_Inventory();

        if (!json_object_is_type(json, json_type_object))
                return N_("%s: holds no inventory: that is a JSON object");
        if (has(json, "findings") && has(json, "summary"))
                return N_("%s: holds a status, which holds verdicts and not the facts behind them; "
                          "an inventory is needed: pnhw-probe >FILE (as root) writes one");
        for (unsigned i = 0; i < type->n_fields; i++)
                if (has(json, type->fields[i].name))
                        return NULL;
        if (json_object_object_length(json) == 0)
                return NULL;
        if (has(json, "error"))
                return N_("%s: holds an error message, not an inventory");
        return N_("%s: holds no inventory: it has neither host nor pci, nvme, disks or nics");
}

/* On standard error, so that what is shown stays what it is. */
static void tell_of_newer(Cli *cli, const char *name)
{
        _cleanup_free_ char *words = NULL;

        if (asprintf(&words, "%s: a newer pnhw wrote it; what this one does not know is left out",
                     name) < 0)
                words = NULL;
        else
                cli_note(cli, words);
}

/* Reads an inventory: bare, as the daemon answers it, or with the message around that. */
static int read_document(Cli *cli, const char *name, const char *code, const PnBuf *text,
                         PnInventory *ret)
{
        _cleanup_free_ char *sentence = NULL, *made = NULL;
        struct json_object *json = NULL, *inventory, *outer, *schema = NULL;
        PnJsonFlags flags = PN_JSON_ALLOW_UNKNOWN;
        bool is_newer;
        const char *other;
        int r;

        if (text->error)
                return cli_out_of_memory(cli);
        if (!text->data || !text->data[strspn(text->data, " \t\r\n")])
                return cli_fail(cli, code, "%s: is empty", name);
        r = pn_parse_json(text->data, text->len, &json, &sentence);
        if (r == -ENOMEM)
                return cli_out_of_memory(cli);
        if (r < 0) {
                unsigned line, column;

                find_place(text->data, text->len, &line, &column);
                return cli_fail(cli, code, "%s: line %u, column %u: %s", name, line, column,
                                sentence ? say_complaint(sentence, &made) : _("no JSON"));
        }
        outer = member(json, "parameters") ? member(json, "parameters") : json;
        inventory = member(outer, "inventory") ? member(outer, "inventory") : outer;
        other = other_than_inventory(inventory);
        if (other) {
                r = cli_fail(cli, code, other, name);
                json_object_put(json);
                return r;
        }
        /* What says that it is as old as we are is held to our field lists, so that a mistyped
         * field of a hand-written file is found. */
        if (json_object_object_get_ex(outer, "schema", &schema) &&
            json_object_get_int64(schema) <= PN_SCHEMA_VERSION) {
                flags = PN_JSON_STRICT;
                if (inventory == outer) {
                        json_object_object_del(outer, "schema");
                        json_object_object_del(outer, "generation");
                }
        }
        is_newer = schema && json_object_get_int64(schema) > PN_SCHEMA_VERSION;
        r = pn_read_json(pn_type_Inventory(), inventory, flags, ret, &sentence, NULL);
        json_object_put(json);
        if (r == -ENOMEM)
                return cli_out_of_memory(cli);
        if (r < 0)
                return cli_fail(cli, code, "%s: %s", name,
                                sentence ? say_complaint(sentence, &made) : _("is no inventory"));
        if (is_newer)
                tell_of_newer(cli, name);
        return 0;
}

/* The time to give to findings: when the facts were read, else now. */
static const char *time_of(const PnInventory *inventory, char now[static 32])
{
        const char *newest = NULL;
        time_t t = time(NULL);
        struct tm tm;

        for (unsigned i = 0; i < inventory->sources.n; i++) {
                const char *updated = pn_text(&inventory->sources.v[i].updated);

                if (updated && (!newest || strcmp(updated, newest) > 0))
                        newest = updated;
        }
        if (newest)
                return newest;
        if (!gmtime_r(&t, &tm) || !strftime(now, 32, "%Y-%m-%dT%H:%M:%SZ", &tm))
                return "1970-01-01T00:00:00Z";
        return now;
}

/* The inventory of a file or of a probe that is run now, as it stands there. */
static int document_inventory(Cli *cli, PnInventory *ret)
{
        _cleanup_buf_ PnBuf text = {0};
        int r;

        if (cli->from) {
                r = read_file(cli, cli->from, &text);
                if (r == 0)
                        r = read_document(cli,
                                          strcmp(cli->from, "-") ? cli->from : _("standard input"),
                                          "BadFile", &text, ret);
        } else {
                r = probe_run(cli, &text);
                if (r == 0)
                        r = read_document(cli, _("what pnhw-probe printed"), "BadProbe", &text,
                                          ret);
        }
        return r;
}

static int document_facts(Cli *cli, Facts *ret)
{
        char now[32];
        int r = document_inventory(cli, &ret->inventory);

        if (r)
                return r;
        ret->origin = cli->from ? ORIGIN_FILE : ORIGIN_PROBE;
        if (pn_join(&ret->inventory) < 0 ||
            pn_assess(&ret->inventory, (PnBefore){0}, NULL, time_of(&ret->inventory, now),
                      &ret->status) < 0)
                return cli_out_of_memory(cli);
        return 0;
}

int source_inventory(Cli *cli, PnInventory *ret)
{
        _cleanup_(pn_client_freep) PnClient *client = NULL;
        int r;

        if (cli->remote)
                return remote_object(cli, FACTS_INVENTORY, "inventory", pn_type_Inventory(), ret);
        if (cli->from || cli->once)
                return document_inventory(cli, ret);
        r = connect_daemon(cli, &client);
        return r ? r : daemon_inventory(cli, client, NULL, ret);
}

int source_facts(Cli *cli, Want want, Facts *ret)
{
        int r = cli->remote              ? remote_facts(cli, want, ret)
                : cli->from || cli->once ? document_facts(cli, ret)
                                         : daemon_facts(cli, want, ret);

        if (r == 0 && want & WANT_NICS) {
                const PnRatings ratings = {PN_KNOWN, ret->status.ratings.n, ret->status.ratings.v};

                if (pn_ports_judge(&ret->inventory, &ratings, &ret->ports) < 0)
                        r = cli_out_of_memory(cli);
        }
        return r;
}

/* ---- metrics ---- */

static int daemon_metrics(Cli *cli, PnBuf *ret)
{
        _cleanup_(pn_client_freep) PnClient *client = NULL;
        _cleanup_(pn_reply_done) PnReply reply = {0};
        PnGetMetricsOut out = {0};
        int r = connect_daemon(cli, &client);

        if (r == 0)
                r = call(cli, client, "io.pnhw.Hardware.GetMetrics", NULL, &reply);
        if (r == 0)
                r = read_answer(cli, pn_type_GetMetricsOut(), reply.parameters, &out);
        if (r == 0)
                pn_buf_puts(ret, out.openmetrics.v);
        pn_done(pn_type_GetMetricsOut(), &out);
        return r;
}

int source_metrics(Cli *cli, PnBuf *ret)
{
        Facts facts = {0};
        int r;

        if (cli->remote)
                return remote_metrics(cli, ret);
        if (!cli->from && !cli->once)
                return daemon_metrics(cli, ret);
        r = document_facts(cli, &facts);
        if (r == 0 && pn_metrics_write(ret, &facts.inventory, &facts.status) < 0)
                r = cli_out_of_memory(cli);
        facts_done(&facts);
        return r;
}

/* ---- one device ---- */

static int no_such_device(Cli *cli, const char *name, const PnInventory *inventory)
{
        _cleanup_free_ char *similar = near_devices(inventory, name);

        if (!similar)
                return cli_out_of_memory(cli);
        return cli_fail(cli, "NoSuchDevice", "there is no device %s here%s", name, similar);
}

static int daemon_device(Cli *cli, const char *name, PnDevice *ret)
{
        _cleanup_(pn_client_freep) PnClient *client = NULL;
        _cleanup_(pn_reply_done) PnReply reply = {0};
        _cleanup_free_ char *sentence = NULL;
        _cleanup_buf_ PnBuf parameters = {0};
        int r = connect_daemon(cli, &client);

        if (r)
                return r;
        pn_buf_puts(&parameters, "{\"name\":");
        pn_buf_json_string(&parameters, name);
        pn_buf_puts(&parameters, "}");
        if (parameters.error)
                return cli_out_of_memory(cli);
        r = pn_client_call(client, "io.pnhw.Hardware.GetDevice", parameters.data, false, &reply,
                           &sentence);
        if (r < 0)
                return cannot_connect(cli, r, sentence);
        if (reply.error && strcmp(short_error(reply.error), "NoSuchDevice") == 0) {
                PnInventory inventory = {0};

                r = daemon_inventory(cli, client, NULL, &inventory);
                if (r == 0)
                        r = no_such_device(cli, name, &inventory);
                pn_done(pn_type_Inventory(), &inventory);
                return r;
        }
        if (reply.error)
                return varlink_error(cli, &reply);
        return read_answer(cli, pn_type_Device(),
                           json_object_object_get(reply.parameters, "device"), ret);
}

int source_device(Cli *cli, const char *name, PnDevice *ret)
{
        Facts facts = {0};
        int r;

        if (cli->remote)
                return remote_device(cli, name, ret);
        if (!cli->from && !cli->once)
                return daemon_device(cli, name, ret);
        r = document_facts(cli, &facts);
        if (r == 0) {
                int found = pn_device_find(&facts.inventory, &facts.status, name, ret);

                if (found == -ENOENT)
                        r = no_such_device(cli, name, &facts.inventory);
                else if (found < 0)
                        r = cli_out_of_memory(cli);
        }
        facts_done(&facts);
        return r;
}

/* ---- verdicts, and what changes something ---- */

static int daemon_check(Cli *cli, const char *device, const char *severity, PnCheckOut *ret)
{
        _cleanup_(pn_reply_done) PnReply reply = {0};
        _cleanup_buf_ PnBuf parameters = {0};
        int r;

        pn_buf_puts(&parameters, "{\"device\":");
        pn_buf_json_string(&parameters, device);
        pn_buf_puts(&parameters, ",\"min_severity\":");
        pn_buf_json_string(&parameters, severity);
        pn_buf_puts(&parameters, "}");
        if (parameters.error)
                return cli_out_of_memory(cli);
        r = source_ask(cli, "io.pnhw.Hardware.Check", parameters.data, &reply);
        if (r)
                return r;
        if (reply.error && strcmp(source_short_error(&reply), "NoSuchDevice") == 0) {
                _cleanup_(pn_client_freep) PnClient *client = NULL;
                PnInventory inventory = {0};

                r = connect_daemon(cli, &client);
                if (r == 0)
                        r = daemon_inventory(cli, client, NULL, &inventory);
                if (r == 0)
                        r = no_such_device(cli, device, &inventory);
                pn_done(pn_type_Inventory(), &inventory);
                return r;
        }
        if (reply.error)
                return varlink_error(cli, &reply);
        return read_answer(cli, pn_type_CheckOut(), reply.parameters, ret);
}

/* As the daemon would answer about the same inventory. */
static int document_check(Cli *cli, const char *device, int rank, PnCheckOut *ret)
{
        _cleanup_(pn_snapshot_unrefp) PnSnapshot *snapshot = NULL;
        _cleanup_(facts_done) Facts facts = {0};
        _cleanup_buf_ PnBuf answer = {0};
        struct json_object *json = NULL;
        int r = document_facts(cli, &facts);

        if (r)
                return r;
        if (pn_snapshot_new(&facts.inventory, &facts.status, 1, &snapshot) < 0)
                return cli_out_of_memory(cli);
        r = pn_snapshot_check(snapshot, device, rank, &answer);
        if (r == -ENOENT)
                return no_such_device(cli, device, &snapshot->inventory);
        if (r < 0 || pn_parse_json(answer.data, answer.len, &json, NULL) < 0)
                return cli_out_of_memory(cli);
        r = read_answer(cli, pn_type_CheckOut(), json_object_object_get(json, "parameters"), ret);
        json_object_put(json);
        return r;
}

int source_check(Cli *cli, const char *device, const char *severity, PnCheckOut *ret)
{
        return cli->remote ? remote_check(cli, device, severity, ret)
               : cli->from || cli->once
                   ? document_check(cli, device, pn_severity_rank(severity), ret)
                   : daemon_check(cli, device, severity, ret);
}

int source_ask(Cli *cli, const char *method, const char *parameters, PnReply *ret)
{
        _cleanup_(pn_client_freep) PnClient *client = NULL;
        _cleanup_free_ char *sentence = NULL;
        int r = connect_daemon(cli, &client);

        if (r)
                return r;
        r = pn_client_call(client, method, parameters, false, ret, &sentence);
        if (r < 0)
                return cannot_connect(cli, r, sentence);
        ret->text = NULL;
        ret->text_length = 0;
        return 0;
}

int source_cannot_ask(Cli *cli, int error, const char *sentence)
{
        return cannot_connect(cli, error, sentence);
}

int source_refused(Cli *cli, const PnReply *reply)
{
        return varlink_error(cli, reply);
}

const char *source_short_error(const PnReply *reply)
{
        return short_error(reply->error);
}
