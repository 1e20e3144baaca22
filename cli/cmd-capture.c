/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes an inventory that may be shown to strangers: what identifies the machine is replaced.
 * Knows no field; lib/pseudonym.c does. */

#include <stdio.h>
#include <sys/random.h>

#include "pseudonym.h"
#include "save.h"
#include "say.h"
#include "source.h"

static int random_bytes(_unused_ void *userdata, void *bytes, size_t n)
{
        unsigned char *at = bytes;

        while (n > 0) {
                ssize_t got = getrandom(at, n, 0);

                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return -errno;
                at += got;
                n -= (size_t)got;
        }
        return 0;
}

/* "Replaced: 1 host name, 5 serial numbers. Kept: …" */
static void tell(Cli *cli, const PnPseudonymsMade *made)
{
        static const struct {
                PnTreatment treatment;
                const char *one, *many; /* with their number */
        } words[] = {
            {PN_TREAT_HOST, NN_("%u part of host names", "%u parts of host names")},
            {PN_TREAT_SERIAL, NN_("%u serial number", "%u serial numbers")},
            {PN_TREAT_MAC, NN_("%u MAC address (its maker's part kept)",
                               "%u MAC addresses (their makers' part kept)")},
            {PN_TREAT_NQN, NN_("%u NQN", "%u NQNs")},
            {PN_TREAT_WWN,
             NN_("%u WWN (its maker's part kept)", "%u WWNs (their makers' part kept)")},
            {PN_TREAT_INTERFACE, NN_("%u name of interfaces", "%u names of interfaces")},
            {PN_TREAT_NAME, NN_("%u name of pools, groups or file systems",
                                "%u names of pools, groups or file systems")},
            {PN_TREAT_PATH, NN_("%u part of mount points", "%u parts of mount points")},
        };
        _cleanup_buf_ PnBuf text = {0};
        unsigned total = 0;
        const char *separator = "";

        if (cli->output && strcmp(cli->output, "-") != 0) {
                pn_buf_printf(&text, _("wrote %s"), cli->output);
                pn_buf_puts(&text, "\n");
        }
        for (size_t i = 0; i < PN_ELEMENTS(words); i++)
                total += made->n[words[i].treatment];
        pn_buf_puts(&text,
                    total ? _("replaced by pseudonyms: ") : _("there was nothing to replace"));
        for (size_t i = 0; i < PN_ELEMENTS(words); i++) {
                unsigned n = made->n[words[i].treatment];

                if (!n)
                        continue;
                pn_buf_puts(&text, separator);
                pn_buf_printf(&text, say_n(words[i].one, words[i].many, n), n);
                separator = ", ";
        }
        pn_buf_puts(&text, "\n");
        pn_buf_printf(&text,
                      _("kept: makers, models, firmware, versions, PCI addresses, slots, labels of "
                        "sensors, sizes, counters, times, %s"),
                      cli->keep_names ? _("names of interfaces, pools and mount points")
                                      : _("names that every installation has"));
        pn_buf_puts(&text, "\n");
        pn_buf_puts(&text, _("read it before you send it; pnhwctl --from=FILE shows what others "
                             "will see"));
        if (!text.error)
                cli_note(cli, text.data);
}

static int put_inventory(Cli *cli, const PnInventory *inventory)
{
        _cleanup_buf_ PnBuf fields = {0}, text = {0};
        JsonMode asked = cli->json;

        pn_write_json(&fields, pn_type_Inventory(), inventory);
        if (fields.error)
                return cli_out_of_memory(cli);
        pn_buf_printf(&text, "{\"schema\":%d,", PN_SCHEMA_VERSION);
        pn_buf_put(&text, fields.data + 1, fields.len - 1);
        /* It is there to be read, by its owner first. */
        if (cli->json == JSON_OFF)
                cli->json = JSON_PRETTY;
        cli_put_json_buffer(cli, &text);
        cli->json = asked;
        if (cli->page.error)
                return cli_out_of_memory(cli);
        /* For its owner alone: what is in it is the owner's to give. */
        return save_page(cli, SAVE_FOR_OWNER);
}

int cmd_capture(Cli *cli, _unused_ const char *argument)
{
        PnInventory inventory = {0};
        PnPseudonymsMade made = {0};
        int r;

        if (cli->output && !*cli->output)
                return cli_fail(cli, "Usage", "--output needs the name of a file");
        r = source_inventory(cli, &inventory);
        if (r == 0) {
                int failed =
                    pn_pseudonymise(&inventory, cli->keep_names, random_bytes, NULL, &made);

                if (failed == -ENOMEM)
                        r = cli_out_of_memory(cli);
                else if (failed < 0)
                        r = cli_fail(cli, "IO", "the kernel gives no random bytes: %s",
                                     say_error(-failed));
        }
        if (r == 0)
                r = put_inventory(cli, &inventory);
        if (r == 0 && !cli->no_legend)
                tell(cli, &made);
        pn_done(pn_type_Inventory(), &inventory);
        return r;
}
