/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes lib/smbios.c: the input is a structure table. */
#include "base.h"
#include "smbios.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
        if (!truth)
                abort();
}

static void require_text(const char *text)
{
        if (!text)
                return;
        require(*text != '\0' && pn_utf8_valid(text, strlen(text)));
        for (; *text; text++)
                require((unsigned char)*text >= 0x20 && *text != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        PnSmbios smbios;

        require(pn_smbios_decode(data, size, &smbios) == 0);
        /* A structure is six bytes at least, but for one that the end cuts. */
        require(smbios.n_slots + smbios.n_dimms <= size / 6 + 1);
        for (size_t i = 0; i < smbios.n_slots; i++) {
                const PnSmbiosSlot *slot = &smbios.slots[i];

                require_text(slot->designation);
                require_text(slot->type_name);
                require(slot->generation <= PN_PCIE_GENERATION_MAX);
                require(slot->lanes == 0 || pn_pcie_width_valid(slot->lanes));
                if (slot->has_address) {
                        require(slot->address.bus != 0xff && slot->address.device <= 31 &&
                                slot->address.function <= 7);
                        require(slot->address.domain < 0xffff);
                }
        }
        for (size_t i = 0; i < smbios.n_dimms; i++) {
                const PnSmbiosDimm *dimm = &smbios.dimms[i];

                require_text(dimm->locator);
                require_text(dimm->type_name);
                require_text(dimm->manufacturer);
                require_text(dimm->part_number);
                require(dimm->size_known || dimm->size_bytes == 0);
                require(dimm->size_bytes <= UINT64_C(0x7fffffff) << 20);
                require(dimm->speed_mts <= INT32_MAX && dimm->configured_mts <= INT32_MAX);
        }
        pn_smbios_done(&smbios);
        return 0;
}
