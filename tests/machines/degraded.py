# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every way in which a link runs below what both of its ends can do (cases 012 and 018).

Expected: nvme0 degraded (width, x1 of x4, 25 %); nvme1 degraded (speed, 2.5 of 8 GT/s, in a slot
that limits it to 8 anyway); nvme2 degraded (target_speed: LNKCTL2 of the port asks for 8); nvme3
degraded (speed only) in a slot wired x2; nvme4 slot_limited (5 GT/s x1 by design); one finding for
the uplink 0000:05:00.0 (x4 of x16) that names nvme5 to nvme8, which are not findings themselves.
"""


def drive(m, port, number, **more):
    m.nvme(port, f"nvme{number}", model="Samsung SSD 990 PRO 2TB", firmware="4B2QJXD7",
           serial=f"S6Z2NJ0W00001{number}", ids="144d:a80c", warning=82, critical=85, **more)


def build(m):
    m.host("faulty", kernel="6.8.12-4-pve", os="debian12", proxmox=("8.2.0", "8.2.7"))
    m.cpu("AMD EPYC 7313 16-Core Processor", cores=16, threads=32, vendor="AuthenticAMD",
          family=25, number=1, mhz=3000, socket="SP3")
    m.memory_bytes = 128 << 30
    m.board("ASRockRack", "ROMED8-2T", system_vendor="ASRockRack", system_product="ROMED8-2T",
            bios_version="P3.50", bios_date="11/03/2022")

    narrow = m.root_port("0000:00:01.1", gen=4, width=4, secondary=0x01, slot=1)
    slow = m.root_port("0000:00:01.2", gen=3, width=4, secondary=0x02, slot=2)
    asked = m.root_port("0000:00:01.3", gen=4, width=4, secondary=0x03, slot=3, target=3)
    two = m.root_port("0000:00:01.4", gen=3, width=2, secondary=0x04, slot=4)
    uplink = m.root_port("0000:00:03.1", gen=4, width=16, secondary=0x05, slot=5)
    one = m.root_port("0000:00:01.5", gen=2, width=1, secondary=0x0b, slot=6)
    drive(m, narrow, 0, current=(4, 1))
    drive(m, slow, 1, current=(1, 4))
    drive(m, asked, 2, current=(3, 4))
    drive(m, two, 3, current=(2, 2))
    drive(m, one, 4)
    switch = m.switch(uplink, ids="10b5:8733", gen=4, width=16, current=(4, 4), secondary=0x06)
    for i in range(4):
        bay = m.downstream(switch, 4 + i, ids="10b5:8733", gen=4, width=4, secondary=0x07 + i,
                           slot=10 + i)
        drive(m, bay, 5 + i)
    m.functions[0].aer = {"correctable": {"RxErr": 1200, "BadTLP": 17}}
    m.smbios_slot("PCIE1", "PCIe4", 4, address="0000:01:00.0", in_use=True, id=1)
    m.smbios_slot("PCIE5", "PCIe4", 16, address="0000:05:00.0", in_use=True, id=5)
