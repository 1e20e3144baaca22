# SPDX-License-Identifier: LGPL-2.1-or-later
"""Four GPUs and four drives. Two GPUs idle at 2.5 GT/s x16 (case 001), one has trained at x8 in an x16
slot, and the fourth is an AMD card whose slot link is on its internal switch (case 004).

Expected: 0000:41:00.0 and 0000:42:00.0 idle, no finding; 0000:43:00.0 degraded (width) at once;
the AMD card judged at its upstream port 0000:44:00.0 (16 GT/s x8 in an x16 slot: degraded by width,
display class, so speed is not judged), never at the GPU's full internal link; the drives full.
"""


def build(m):
    m.host("gpu1", kernel="6.8.0-49-generic", os="debian12")
    m.cpu("AMD EPYC 9354 32-Core Processor", cores=32, threads=64, vendor="AuthenticAMD", family=25,
          number=17, mhz=3250, socket="SP5")
    m.memory_bytes = 384 << 30
    m.board("Supermicro", "H13SSL-N", system_vendor="Supermicro", system_product="AS -2015CS-TNR",
            bios_version="1.6", bios_date="09/15/2023")
    for i in range(12):
        m.dimm(f"DIMM{chr(65 + i)}1", 32 << 30, kind="DDR5", speed=4800, manufacturer="Micron",
               part="MTC20F1045S1RC48BA2", bank=f"P0_Node0_Channel{i}_Dimm0", ecc=True)

    slots = [m.root_port(f"0000:40:0{i}.1", ids="1022:14ab", gen=5, width=16, secondary=0x40 + i,
                         slot=i) for i in (1, 2, 3, 4)]
    for slot, current in zip(slots, ((1, 16), (1, 16), (1, 8))):
        m.gpu(slot, "10de:2684", gen=4, width=16, current=current, audio="10de:22ba",
              revision=0xa1, subsystem="10de:16f4")
    card = m.switch(slots[3], ids="1002:1478", gen=5, width=16, current=(4, 8), secondary=0x45)
    inner = m.downstream(card, 0, ids="1002:1479", gen=5, width=16, secondary=0x46)
    m.gpu(inner, "1002:744c", gen=5, width=16, driver="amdgpu", audio="1002:ab30", revision=0xc8)

    for i in range(4):
        port = m.root_port(f"0000:c0:0{i + 1}.1", ids="1022:14ac", gen=4, width=4,
                           secondary=0xc1 + i, slot=10 + i)
        m.nvme(port, f"nvme{i}", model="KIOXIA KCD8XRUG3T84", serial=f"7DE0A00{i}T1S8",
               firmware="0106", ids="1e0f:0011", size=3840755982336, warning=77, critical=85)
    for i, slot in enumerate(slots):
        m.smbios_slot(f"SLOT{i + 1} PCIe 5.0 X16", "PCIe5", 16, address=slot.children[0], id=i + 1)
