/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Block devices that are not NVMe: what they are, where they hang, what lives on them. */

#include <inttypes.h>

#include "say.h"
#include "source.h"
#include "table.h"
#include "units.h"
#include "view.h"

enum { DISK, MODEL, SERIAL, TRANSPORT, KIND, SIZE, BLOCKS, WWN, ADDRESS, USED_BY };

static const Column columns[] = {
    [DISK] = {"DISK", 0, 0, 0},
    [MODEL] = {"MODEL", 0, 14, 0},
    [SERIAL] = {"SERIAL", 0, 10, 4},
    [TRANSPORT] = {"BY", 0, 0, 5},
    [KIND] = {"KIND", 0, 0, 3},
    [SIZE] = {"SIZE", COLUMN_RIGHT, 0, 1},
    [BLOCKS] = {"BLOCKS", COLUMN_RIGHT, 0, 7},
    [WWN] = {"WWN", COLUMN_SHY, 0, 9},
    [ADDRESS] = {"CONTROLLER", 0, 0, 6},
    [USED_BY] = {"USED BY", 0, 11, 2},
};

static const char *text_or_question(const PnText *text)
{
        return pn_is_unread(text->state) ? "?" : pn_text(text);
}

static int add_disk(Table *table, const PnDisk *disk)
{
        _cleanup_free_ char *uses = view_uses(disk->uses.state, disk->uses.v, disk->uses.n);
        Units units;

        if (!uses)
                return -ENOMEM;
        (void)table_row(table, TABLE_NO_PARENT);
        table_set_styled(table, DISK, STYLE_BOLD, disk->name.v);
        table_set(table, MODEL, text_or_question(&disk->model));
        table_set(table, SERIAL, text_or_question(&disk->serial));
        table_set(table, TRANSPORT, text_or_question(&disk->transport));
        table_set(table, KIND, view_disk_kind(disk));
        if (disk->size_bytes.state == PN_KNOWN)
                table_set(table, SIZE, units_size(units, disk->size_bytes.v));
        else if (pn_is_unread(disk->size_bytes.state))
                table_set(table, SIZE, "?");
        if (disk->logical_block_size.state == PN_KNOWN &&
            disk->physical_block_size.state == PN_KNOWN)
                table_format(table, BLOCKS, "%" PRId64 "/%" PRId64, disk->logical_block_size.v,
                             disk->physical_block_size.v);
        table_set(table, WWN, text_or_question(&disk->wwn));
        if (pn_text(&disk->address))
                table_set(table, ADDRESS, view_address(disk->address.v));
        table_set(table, USED_BY, uses);
        return 0;
}

static int put_table(Cli *cli, const PnInventory *inventory)
{
        _cleanup_table_ Table *table = table_new(&cli->term, columns, PN_ELEMENTS(columns));

        if (!table)
                return -ENOMEM;
        for (unsigned i = 0; i < inventory->disks.n; i++)
                if (add_disk(table, &inventory->disks.v[i]) < 0)
                        return -ENOMEM;
        cli_put_table(cli, table, _("There is no disk in this machine besides NVMe drives."));
        return 0;
}

int cmd_disks(Cli *cli, _unused_ const char *argument)
{
        Facts facts = {0};
        int r = source_facts(cli, WANT_DISKS, &facts);

        if (r == 0 && cli->json != JSON_OFF)
                cli_put_json_list(cli, pn_type_Disk(), facts.inventory.disks.v,
                                  facts.inventory.disks.n);
        else if (r == 0 && put_table(cli, &facts.inventory) < 0)
                r = cli_out_of_memory(cli);
        facts_done(&facts);
        return r;
}
