/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The other end of --host: hands the facts that a verb wants to the pnhwctl that asked. Not for
 * people, and no contract: both ends belong to pnhw. */

#include "assess.h"
#include "facts.h"
#include "say.h"
#include "source.h"

static const struct {
        const char *name;
        Want want;
} wants[] = {
    {"status", WANT_STATUS},   {"pci", WANT_PCI},     {"links", WANT_HOST | WANT_PCI},
    {"nvme", WANT_NVME},       {"disks", WANT_DISKS}, {"nics", WANT_NICS},
    {"sensors", WANT_SENSORS}, {"all", WANT_ALL},
};

const char *facts_word(int want)
{
        for (size_t i = 0; i < PN_ELEMENTS(wants); i++)
                if ((int)wants[i].want == want)
                        return wants[i].name;
        return NULL;
}

static int put_facts(Cli *cli, Want want)
{
        _cleanup_buf_ PnBuf json = {0};
        Facts facts = {0};
        int r = source_facts(cli, want, &facts);

        if (r == 0) {
                pn_buf_puts(&json, "{\"status\":");
                if (facts.status_text)
                        pn_buf_put(&json, facts.status_text, facts.status_length);
                else
                        pn_write_json(&json, pn_type_Status(), &facts.status);
                if (want != WANT_STATUS) {
                        pn_buf_puts(&json, ",\"inventory\":");
                        pn_write_json(&json, pn_type_Inventory(), &facts.inventory);
                }
                pn_buf_puts(&json, "}");
                cli_put_json_buffer(cli, &json);
        }
        facts_done(&facts);
        return r;
}

static int put_inventory(Cli *cli)
{
        _cleanup_buf_ PnBuf json = {0};
        PnInventory inventory = {0};
        int r = source_inventory(cli, &inventory);

        if (r == 0) {
                pn_buf_puts(&json, "{\"inventory\":");
                pn_write_json(&json, pn_type_Inventory(), &inventory);
                pn_buf_puts(&json, "}");
                cli_put_json_buffer(cli, &json);
        }
        pn_done(pn_type_Inventory(), &inventory);
        return r;
}

static int put_device(Cli *cli, const char *name)
{
        _cleanup_buf_ PnBuf json = {0};
        PnDevice device = {0};
        int r = source_device(cli, name, &device);

        if (r == 0) {
                pn_buf_puts(&json, "{\"device\":");
                pn_write_json(&json, pn_type_Device(), &device);
                pn_buf_puts(&json, "}");
                cli_put_json_buffer(cli, &json);
        }
        pn_done(pn_type_Device(), &device);
        return r;
}

/* Puts {"NAME": object}, and releases the object. */
static void put_object(Cli *cli, const char *name, const PnType *type, void *object)
{
        _cleanup_buf_ PnBuf json = {0};

        pn_buf_printf(&json, "{\"%s\":", name);
        pn_write_json(&json, type, object);
        pn_buf_puts(&json, "}");
        cli_put_json_buffer(cli, &json);
        pn_done(type, object);
}

static int put_metrics(Cli *cli)
{
        _cleanup_buf_ PnBuf page = {0};
        PnGetMetricsOut out = {0};
        int r = source_metrics(cli, &page);

        if (r)
                return r;
        if (pn_set_text(&out.openmetrics, page.error ? NULL : page.data) < 0 || page.error)
                return cli_out_of_memory(cli);
        put_object(cli, "metrics", pn_type_GetMetricsOut(), &out);
        return 0;
}

/* "check=warning", or "check=warning,nvme3" */
static int put_check(Cli *cli, const char *argument)
{
        const char *asked = argument + strlen(FACTS_CHECK);
        const char *comma = strchr(asked, ',');
        _cleanup_free_ char *severity = strndup(asked, strcspn(asked, ","));
        PnCheckOut verdict = {0};
        int r;

        if (!severity)
                return cli_out_of_memory(cli);
        if (pn_severity_rank(severity) < 0)
                return cli_fail(cli, "Usage", "there are no facts %s", argument);
        r = source_check(cli, comma ? comma + 1 : NULL, severity, &verdict);
        if (r == 0)
                put_object(cli, "check", pn_type_CheckOut(), &verdict);
        return r;
}

int cmd_facts(Cli *cli, const char *argument)
{
        cli->json = JSON_SHORT;
        /* Why there is no answer is shown to whom asked; ssh brings the language along. */
        say_in_english(false);
        if (pn_startswith(argument, FACTS_DEVICE))
                return put_device(cli, argument + strlen(FACTS_DEVICE));
        if (pn_startswith(argument, FACTS_CHECK))
                return put_check(cli, argument);
        if (strcmp(argument, FACTS_WATCH) == 0)
                return facts_watch(cli);
        if (strcmp(argument, FACTS_METRICS) == 0)
                return put_metrics(cli);
        if (strcmp(argument, FACTS_INVENTORY) == 0)
                return put_inventory(cli);
        for (size_t i = 0; i < PN_ELEMENTS(wants); i++)
                if (strcmp(wants[i].name, argument) == 0)
                        return put_facts(cli, wants[i].want);
        return cli_fail(cli, "Usage", "there are no facts %s", argument);
}
