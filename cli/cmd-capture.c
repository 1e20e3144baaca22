/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes an inventory that may be shown to strangers: what identifies the machine is replaced.
 * Knows no field; lib/pseudonym.c does. */

#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>

#include "pseudonym.h"
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
                const char *one, *many;
        } words[] = {
            {PN_TREAT_HOST, "part of host names", "parts of host names"},
            {PN_TREAT_SERIAL, "serial number", "serial numbers"},
            {PN_TREAT_MAC, "MAC address (its maker's part kept)",
             "MAC addresses (their makers' part kept)"},
            {PN_TREAT_NQN, "NQN", "NQNs"},
            {PN_TREAT_WWN, "WWN (its maker's part kept)", "WWNs (their makers' part kept)"},
            {PN_TREAT_INTERFACE, "name of interfaces", "names of interfaces"},
            {PN_TREAT_NAME, "name of pools, groups or file systems",
             "names of pools, groups or file systems"},
            {PN_TREAT_PATH, "part of mount points", "parts of mount points"},
        };
        _cleanup_buf_ PnBuf text = {0};
        const char *separator = "replaced by pseudonyms: ";

        if (cli->output && strcmp(cli->output, "-") != 0)
                pn_buf_printf(&text, "wrote %s\n", cli->output);
        for (size_t i = 0; i < PN_ELEMENTS(words); i++) {
                unsigned n = made->n[words[i].treatment];

                if (n)
                        pn_buf_printf(&text, "%s%u %s", separator, n,
                                      n == 1 ? words[i].one : words[i].many);
                if (n)
                        separator = ", ";
        }
        if (*separator != ',')
                pn_buf_puts(&text, "there was nothing to replace");
        pn_buf_printf(&text,
                      "\nkept: makers, models, firmware, versions, PCI addresses, slots, labels of "
                      "sensors, sizes, counters, times%s",
                      cli->keep_names ? ", names of interfaces, pools and mount points"
                                      : ", names that every installation has");
        pn_buf_puts(&text, "\nread it before you send it; pnhwctl --from=FILE shows what others "
                           "will see");
        if (!text.error)
                cli_note(cli, text.data);
}

static int write_file(Cli *cli, const char *name)
{
        /* For its owner alone: what is in it is the owner's to give. */
        _cleanup_close_ int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        size_t at = 0;

        if (fd < 0)
                return cli_fail(cli, "BadFile", "%s: %s", name, strerror(errno));
        while (at < cli->page.len) {
                ssize_t n = write(fd, cli->page.data + at, cli->page.len - at);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return cli_fail(cli, "WriteFailed", "%s: %s", name, strerror(errno));
                at += (size_t)n;
        }
        if (close(PN_STEAL_FD(fd)) < 0)
                return cli_fail(cli, "WriteFailed", "%s: %s", name, strerror(errno));
        pn_buf_done(&cli->page);
        return 0;
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
        return cli->output && strcmp(cli->output, "-") != 0 ? write_file(cli, cli->output) : 0;
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
                                     strerror(-failed));
        }
        if (r == 0)
                r = put_inventory(cli, &inventory);
        if (r == 0 && !cli->no_legend)
                tell(cli, &made);
        pn_done(pn_type_Inventory(), &inventory);
        return r;
}
