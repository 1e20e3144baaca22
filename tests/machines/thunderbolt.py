# SPDX-License-Identifier: LGPL-2.1-or-later
"""A drive in a 40 Gb/s enclosure: the tunnel's ports report 2.5 GT/s whatever the true rate (case
011).

Expected: every hop below 0000:00:07.0 tunnelled, without a verdict; nvme1 too; nvme0 full.
"""


def build(m):
    m.host("laptop2", kernel="6.12.6-amd64", os="debian13")
    m.cpu("12th Gen Intel(R) Core(TM) i7-1260P", cores=12, threads=16, vendor="GenuineIntel",
          family=6, number=154, mhz=2100, socket="U3E1")
    own = m.root_port("0000:00:06.0", ids="8086:464d", gen=4, width=4, secondary=0x01)
    m.nvme(own, "nvme0", model="SAMSUNG MZVL21T0HCLR-00B00", serial="S676NX0R000001",
           firmware="GXA7801Q", ids="144d:a80a", size=1024209543168)

    tunnel = m.root_port("0000:00:07.0", ids="8086:466e", gen=1, width=4, secondary=0x20, slot=1,
                         hotplug=True)
    dock = m.switch(tunnel, ids="8086:15ef", gen=1, width=4, secondary=0x21)
    port = m.downstream(dock, 1, ids="8086:15ef", gen=3, width=4, secondary=0x22)
    m.downstream(dock, 2, ids="8086:15ef", gen=1, width=4, secondary=0x23, slot=2, hotplug=True)
    m.nvme(port, "nvme1", model="Samsung SSD 990 PRO 2TB", serial="S6Z2NJ0W000001",
           firmware="4B2QJXD7", ids="144d:a80c", gen=4, width=4)
    m.thunderbolt(dock)
