# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two 802.3ad bonds of a Proxmox host: bond0, whose members are up but sit in different aggregators
because they end on two switches that know nothing of each other (case 063), and bond1, a member of
which has no link.

Expected: bond.degraded for bond0, naming enp129s0f1; bond.member_down for enp130s0f1; both affect
the bridge above. Passive copper cables without diagnostics in bond0's ports (case 047), a dark
fibre in enp130s0f1 (case 049), a hot module in enp130s0f0 (case 059).
"""

from nic_data import link_settings, sfp

FIBRE = ("FIBRE", "10000baseT/Full", "10000baseSR/Full")
COPPER_CABLE = ("FIBRE", "10000baseCR/Full")


def build(m):
    m.host("pve-lacp", kernel="6.8.12-4-pve", os="debian12", proxmox=("8.2.0", "8.2.7"))
    m.cpu("AMD EPYC 7302P 16-Core Processor", cores=16, threads=32, vendor="AuthenticAMD",
          family=23, number=49, mhz=3000, socket="SP3")
    m.memory_bytes = 128 << 30
    first = m.root_port("0000:80:01.1", gen=4, width=8, secondary=0x81, slot=1)
    second = m.root_port("0000:80:01.2", gen=4, width=8, secondary=0x82, slot=2)
    m.nic(first, "8086:1572", gen=3, width=8, driver="i40e", names=("enp129s0f0", "enp129s0f1"),
          macs=("3c:fd:fe:81:00:00", "3c:fd:fe:81:00:01"), firmware="8.30 0x8000a49d 1.2926.0")
    m.nic(second, "8086:10fb", gen=2, width=8, driver="ixgbe", names=("enp130s0f0", "enp130s0f1"),
          macs=("90:e2:ba:82:00:00", "90:e2:ba:82:00:01"), firmware="0x61c10001")
    for number, net in enumerate(m.nets[:2]):
        m.settings(net, link_settings(10000, port="da", autoneg=False, supported=COPPER_CABLE))
        m.module(net, "SFF-8472", sfp("FS", "SFPP-PC01", f"G2004{number:05}", cable=0x04,
                                      connector=0x21, copper_metres=1, dom=False))
    sr = dict(ethernet_10g=0x10, om=(3, 8, 30))
    up, dark = m.nets[2:4]
    m.settings(up, link_settings(10000, port="fibre", autoneg=False, supported=FIBRE))
    m.module(up, "SFF-8472", sfp("FINISAR CORP.", "FTLX8571D3BCL", "UGT0001", temperature=75.2,
                                 **sr))
    dark["state"] = "down"
    m.settings(dark, link_settings(None, duplex=None, port="fibre", autoneg=False,
                                   supported=FIBRE))
    m.module(dark, "SFF-8472", sfp("FINISAR CORP.", "FTLX8571D3BCL", "UGT0002", rx_mw=0, **sr))

    partner = "00:1c:73:00:00:02"
    bond0 = m.bond("bond0", m.nets[:2], speed=10000, aggregator=2,
                   states=((True, 1, 5, 61, "00:1c:73:00:00:01"), (True, 2, 61, 61, partner)))
    m.bond("bond1", [up, dark], speed=10000,
           states=((True, 1, 61, 61, partner), (False, 2, 69, 1, "00:00:00:00:00:00")))
    m.bridge("vmbr0", [bond0])
    m.vlan("bond1.20", m.nets[5], 20)
