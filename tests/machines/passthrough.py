# SPDX-License-Identifier: LGPL-2.1-or-later
"""A drive and a network card given to virtual machines, the drive asleep between runs (case 017),
beside a drive of the host's own.

Expected: 0000:01:00.0 and 0000:03:00.0 passed_through, neither lost nor judged; nvme0 full. Nothing
of the suspended drive's link or config space is read.
"""


def build(m):
    m.host("pve2", kernel="6.8.12-4-pve", os="debian12", proxmox=("8.2.0", "8.2.7"))
    m.cpu("AMD EPYC 7313 16-Core Processor", cores=16, threads=32, vendor="AuthenticAMD",
          family=25, number=1, mhz=3000, socket="SP3")
    m.memory_bytes = 128 << 30
    ports = [m.root_port(f"0000:00:01.{i}", gen=4, width=4, slot=i) for i in (1, 2, 3)]
    given = m.nvme(ports[0], "nvme1", model="SAMSUNG MZQL21T9HCJR-00A07", serial="S64GNE0R000001",
                   firmware="GDC5602Q", ids="144d:a80a", size=1920383410176)
    m.nvme(ports[1], "nvme0", model="SAMSUNG MZQL21T9HCJR-00A07", serial="S64GNE0R000002",
           firmware="GDC5602Q", ids="144d:a80a", size=1920383410176, warning=80, critical=85)
    card = m.nic(ports[2], "8086:1572", gen=3, width=8, driver="i40e", names=("enp3s0f0",),
                 macs=("3c:fd:fe:00:03:00",))[0]
    m.passthrough(given.function)
    m.suspend(given.function, state="D3cold")
    m.passthrough(card)
