/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes lib/pciconf.c: the input is a configuration space image. */
#include "base.h"
#include "pciconf.h"
#include "pcie.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
        if (!truth)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        PnPciConf conf;
        int r = pn_pciconf_decode(data, size, &conf);

        if (size < 64) {
                require(r == -EINVAL);
                return 0;
        }
        if (r < 0) {
                require(r == -ENODEV && data[0] == 0xff && data[63] == 0xff);
                return 0;
        }

        require(conf.class24 <= 0xffffff);
        require(conf.header_type <= 0x7f);
        require(conf.max_gen <= PN_PCIE_GENERATION_MAX);
        require(conf.lnkcap_gen <= PN_PCIE_GENERATION_MAX);
        require(conf.current_gen <= PN_PCIE_GENERATION_MAX);
        require(conf.target_gen <= PN_PCIE_GENERATION_MAX);
        require(conf.max_width == 0 || pn_pcie_width_valid(conf.max_width));
        require(conf.current_width == 0 || pn_pcie_width_valid(conf.current_width));
        require(conf.supported >> conf.max_gen == 0);
        require(conf.physical_slot <= 8191);
        require(!conf.dll_active || conf.dll_active_reporting);
        if (!conf.has_link)
                require(conf.supported == 0 && conf.max_width == 0 && conf.current_gen == 0 &&
                        conf.current_width == 0 && conf.target_gen == 0 && !conf.training &&
                        !conf.dll_active_reporting);
        if (!conf.slot_implemented)
                require(conf.physical_slot == 0 && !conf.hotplug_capable && !conf.presence_detect);
        if (!conf.has_pcie)
                require(!conf.has_link && !conf.slot_implemented &&
                        conf.port_type == PN_PCIE_UNKNOWN);
        return 0;
}
