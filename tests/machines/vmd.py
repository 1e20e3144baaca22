# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two drives behind an Intel Volume Management Device: a domain of five digits, whose ports carry
slot numbers that mean nothing (case 016).

Expected: both drives full; their path ends at the VMD function, whose link is not compared.
"""


def build(m):
    m.host("vmdhost", kernel="6.1.0-28-amd64", os="debian12")
    m.cpu("Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz", cores=20, threads=40, vendor="GenuineIntel",
          sockets=2, family=6, number=85, mhz=2500, socket="LGA3647")
    m.memory_bytes = 192 << 30
    m.numa_node = 1
    m.function("0000:00:00.0", "8086:2020", 0x060000, numa_node=0)
    vmd = m.vmd("0000:e2:05.5")
    for i, serial in enumerate(("PHLJ000000AA1P0FGN", "PHLJ000000AB1P0FGN")):
        port = m.root_port(f"10000:e0:{2 + i:02x}.0", ids="8086:2032", parent=vmd, gen=3, width=4,
                           secondary=0xe1 + i, slot=str(220297880 + i), slot_number=8191 - i)
        m.nvme(port, f"nvme{i}", model="INTEL SSDPE2KX010T8", serial=serial, firmware="VDV10131",
               ids="8086:0a54", gen=3, width=4, size=1000204886016, warning=70, critical=80)
