# SPDX-License-Identifier: LGPL-2.1-or-later
"""Many drives behind switches and many other functions, for tests of scale (case 082): mkmachine
--drives N --functions M, where M counts the drives' functions and their ports too.

Expected: every drive full, no finding.
"""

BAYS = 24  # drives a switch


def build(m):
    drives, functions = m.option("drives", 100), m.option("functions", 500)
    m.lean = True
    m.host("crowd", kernel="6.8.12-4-pve", os="debian12")
    m.cpu("AMD EPYC 9354 32-Core Processor", cores=32, threads=64, vendor="AuthenticAMD",
          family=25, number=17, mhz=3250, socket="SP5")
    m.memory_bytes = 384 << 30
    for first in range(0, drives, BAYS):
        domain = first // BAYS
        uplink = m.root_port(f"{domain:04x}:00:01.1", ids="1022:14ab", gen=5, width=16,
                             secondary=1, slot=True)
        switch = m.switch(uplink, ids="1000:c040", gen=5, width=16, secondary=2)
        for bay in range(min(BAYS, drives - first)):
            number = first + bay
            port = m.downstream(switch, bay, ids="1000:c040", gen=4, width=4, secondary=3 + bay,
                                slot=number + 1)
            m.nvme(port, f"nvme{number}", model="KIOXIA KCD8XRUG3T84",
                   serial=f"7DE0A{number:05}T1S8", firmware="0106", ids="1e0f:0011",
                   size=3840755982336, warning=77, critical=85)
    # Data fabric functions fill up: 8 a device, 32 devices a bus, 16 buses a domain.
    for n in range(functions - len(m.functions)):
        domain, bus, device = 0x1000 + n // 4096, n // 256 % 16, n // 8 % 32
        m.function(f"{domain:04x}:{bus:02x}:{device:02x}.{n % 8}", "1022:14f4", 0x060000)
