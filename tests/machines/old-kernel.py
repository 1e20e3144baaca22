# SPDX-License-Identifier: LGPL-2.1-or-later
"""Kernel 5.4: speeds without decimals ("8 GT/s", "Unknown speed"), no power_state, and 64 bytes of
config space whoever reads (case 006).

Expected: nvme0 slot_limited (8 GT/s x4 of 16 GT/s x4) from the attributes alone; the integrated
graphics has no link.
"""

from nic_data import link_settings


def build(m):
    m.host("oldhost", kernel="5.4.0-42-generic", os="debian11")
    m.cpu("Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz", cores=6, threads=12, vendor="GenuineIntel",
          family=6, number=158, mhz=3200, socket="LGA1151")
    m.memory_bytes = 16 << 30
    m.short_config = True
    m.board("Gigabyte Technology Co., Ltd.", "H370M D3H-CF", bios_version="F13",
            bios_date="03/12/2019")
    for locator in ("ChannelA-DIMM1", "ChannelB-DIMM1"):
        m.dimm(locator, 8 << 30, speed=2666, manufacturer="Samsung", part="M378A1K43CB2-CTD",
               bank="BANK 0")

    m.function("0000:00:00.0", "8086:3ec2", 0x060000, revision=7)
    m.integrated("0000:00:02.0", "8086:3e92", 0x030000, driver="i915")
    port = m.root_port("0000:00:1b.0", ids="8086:a340", gen=3, width=4, slot=True)
    m.nvme(port, "nvme0", model="Samsung SSD 980 PRO 500GB", serial="S5GYNG0N100001",
           firmware="2B2QGXA7", ids="144d:a80a", size=500107862016)
    slot = m.root_port("0000:00:01.0", ids="8086:1901", gen=3, width=16, slot=1)
    m.nic(slot, "8086:10fb", gen=2, width=8, driver="ixgbe", names=("enp2s0f0", "enp2s0f1"),
          macs=("90:e2:ba:00:02:00", "90:e2:ba:00:02:01"), firmware="0x61c10001",
          settings=link_settings(10000, port="fibre", autoneg=False,
                                 supported=("FIBRE", "1000baseT/Full", "10000baseT/Full")))
