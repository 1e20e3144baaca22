# SPDX-License-Identifier: LGPL-2.1-or-later
"""A compute node with an Intel X550-T2 whose two 10GBASE-T ports are a bond (balance-alb), one of
them slowed to 1 Gb/s by its cable, and an onboard gigabit port that is not plugged in.

Expected: enp4s0f1 slow, limited by its cable; bond0 with two working members; enp6s0 without a link
and without a finding.
"""

from nic_data import COPPER, link_settings

TEN = ("TP", "Autoneg", "100baseT/Full", "1000baseT/Full", "2500baseT/Full", "5000baseT/Full",
       "10000baseT/Full")


def build(m):
    m.host("node-2", kernel="5.5.3-1.el8.elrepo", os="debian11")
    m.cpu("AMD Ryzen 5 3600 6-Core Processor", cores=6, threads=12, vendor="AuthenticAMD")
    m.memory_bytes = 64 << 30
    m.board("ASUSTeK COMPUTER INC.", "TUF GAMING X570-PLUS")
    m2 = m.root_port("0000:00:01.1", gen=4, width=4, secondary=0x01, slot=True)
    slot = m.root_port("0000:00:03.1", gen=4, width=16, secondary=0x04, slot=True)
    onboard = m.root_port("0000:00:01.3", gen=4, width=1, secondary=0x06)
    m.nvme(m2, "nvme0", model="GIGABYTE GP-AG41TB", serial="SN201908950123", firmware="EGFM11.0",
           ids="1987:5016", size=1000204886016)
    m.filesystem(m.controllers[0].block, "ext4")
    m.mount(m.controllers[0].block, "/apps")

    m.nic(slot, "8086:1563", gen=3, width=4, driver="ixgbe", names=("enp4s0f0", "enp4s0f1"),
          macs=("a0:36:9f:27:b5:50", "a0:36:9f:27:b5:52"), firmware="0x80000aee")
    m.nic(onboard, "10ec:8168", gen=1, width=1, driver="r8169", names=("enp6s0",),
          macs=("a8:5e:45:e2:f1:04",), speed=None, state="down",
          settings=link_settings(None, duplex=None, supported=("TP", "Autoneg") + COPPER))
    first, second, _ = m.nets
    m.settings(first, link_settings(10000, supported=TEN, partner=TEN))
    m.settings(second, link_settings(1000, supported=TEN, partner=TEN))
    second["speed"] = 1000
    for net in (first, second):
        net["mtu"] = 9000
    m.bond("bond0", [first, second], mode="balance-alb", speed=11000)
