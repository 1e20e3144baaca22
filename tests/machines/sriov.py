# SPDX-License-Identifier: LGPL-2.1-or-later
"""A network card with 64 virtual functions and a drive with 4 (case 015).

Expected: two ports with vf_count 64 and 0, no interface, link or slot made of a virtual function;
nvme0 one drive, full.
"""

from nic_data import link_settings


def build(m):
    m.host("sriov1", kernel="6.8.12-4-pve", os="debian12", proxmox=("8.2.0", "8.2.7"))
    m.cpu("AMD EPYC 7543 32-Core Processor", cores=32, threads=64, vendor="AuthenticAMD",
          family=25, number=1, mhz=2800, socket="SP3")
    slot = m.root_port("0000:40:01.1", gen=4, width=16, secondary=0x41, slot=1)
    first, second = m.nic(slot, "15b3:101d", gen=4, width=16, driver="mlx5_core", speed=100000,
                          names=("enp65s0f0np0", "enp65s0f1np1"), subsystem="15b3:0058",
                          macs=("b8:ce:f6:00:41:00", "b8:ce:f6:00:41:01"), firmware="22.36.1010",
                          settings=link_settings(100000, port="da", supported=(
                              "FIBRE", "25000baseCR/Full", "100000baseCR4/Full")))
    m.virtual_functions(first, 64, ids="15b3:101e", total=127, offset=0x10, driver="mlx5_core")
    second.total_vfs = 127
    for i, vf in enumerate(first.vfs[:4]):
        m.net(f"enp65s0f0v{i}", function=vf, mac=f"b8:ce:f6:00:41:1{i}", speed=100000,
              driver="mlx5_core")

    bay = m.root_port("0000:c0:01.1", gen=4, width=4, secondary=0xc1, slot=20)
    drive = m.nvme(bay, "nvme0", model="SAMSUNG MZWLJ3T8HBLS-00007", serial="S5NENE0N000001",
                   firmware="EPK9AB5Q", ids="144d:a824", size=3840755982336)
    m.virtual_functions(drive.function, 4, ids="144d:a825", total=32, offset=1)
