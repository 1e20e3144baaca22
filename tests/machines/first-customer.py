# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first customer's virtual machine host: five PCIe 4.0 drives in one zpool, two of which sit in
slots that cannot carry them, and a 10 GbE card of whose second port the driver refused the module.
What he does not have are two ports of 10GBASE-T that are a bond, as another host's are: they sit on
the board here, so that all else is in its place.

Expected: nvme0, nvme2, nvme4 full; nvme1 slot_limited (8 GT/s x4 of 16 GT/s x4, 50 %); nvme3
slot_limited (16 GT/s x1, 25 %), better in PCIEX16_4; 0000:04:00.1 without an interface; bond0 with
two working members.
"""

from nic_data import COPPER, link_settings, sfp

GIB = 1 << 30
SIZE = 2000398934016
TEN = ("TP", "Autoneg", "100baseT/Full", "1000baseT/Full", "10000baseT/Full")
FIRECUDA = dict(model="Seagate FireCuda 520 SSD ZP2000GM30002", firmware="STNSC014",
                ids="1bb1:5016", subsystem_ids="1bb1:5016", size=SIZE, warning=70, critical=90)


def proxmox_layout(m, drive):
    """What its installer makes of each drive of a ZFS root."""
    disk = drive.block
    disk.partition(1, 17 << 10, 1007 << 10, type_uuid=m.BIOS_BOOT)
    disk.partition(2, 1 << 20, 512 << 20, type_uuid=m.EFI).carries("vfat", "filesystem",
                                                                   uuid=drive.serial[-4:] + "-5016")
    zfs = disk.partition(3, 513 << 20, disk.size - (514 << 20), type_uuid=m.ZFS)
    m.zpool_member(zfs, "rpool")


def build(m):
    m.host("serverhost1", kernel="5.11.22-1-pve", os="debian11", proxmox=("7.0-2", "7.0-2"))
    m.cpu("AMD Ryzen 9 3950X 16-Core Processor", cores=16, threads=32, vendor="AuthenticAMD")
    m.memory_bytes = 64 * GIB
    for channel in "AB":
        for slot in "12":
            m.dimm(f"DIMM_{channel}{slot}", 16 * GIB, manufacturer="Kingston",
                   part="KF3200C16D4/16GX", bank=f"P0 CHANNEL {channel}")
    m.board("ASUSTeK COMPUTER INC.", "Pro WS X570-ACE")

    # The processor.
    m.function("0000:00:00.0", "1022:1480", 0x060000, subsystem="1043:8808")
    m.function("0000:00:00.2", "1022:1481", 0x080600, subsystem="1043:8808")
    for device in (1, 2, 3, 4, 5, 7, 8):
        m.function(f"0000:00:{device:02x}.0", "1022:1482", 0x060000)
    m2_1 = m.root_port("0000:00:01.1", gen=4, width=4, secondary=0x01, slot=True)
    chipset = m.root_port("0000:00:01.2", gen=4, width=4, secondary=0x02)
    x16_1 = m.root_port("0000:00:03.1", gen=4, width=8, secondary=0x0c, slot=True)
    x16_2 = m.root_port("0000:00:03.2", gen=4, width=8, secondary=0x0d, slot=True)
    internal = m.root_port("0000:00:08.1", gen=4, width=16, secondary=0x0e, ids="1022:1484")
    m.function("0000:00:14.0", "1022:790b", 0x0c0500, revision=0x61, driver="piix4_smbus")
    m.function("0000:00:14.3", "1022:790e", 0x060100, revision=0x51)
    for number in range(8):
        data_fabric = m.function(f"0000:00:18.{number}", f"1022:144{number}", 0x060000,
                                 driver="k10temp" if number == 3 else None)
        if number == 3:
            m.chip("k10temp", {"temp1_input": 45125, "temp1_label": "Tctl", "temp3_input": 43000,
                               "temp3_label": "Tccd1"}, data_fabric)

    m.chip("nct6798", {f"fan{i}_input": rpm for i, rpm in enumerate((820, 640, 655, 1210, 2900), 1)} |
           {"in0_input": 1016, "temp1_input": 34000, "temp1_label": "SYSTIN"})

    # The chipset's switch.
    switch = m.switch(chipset, gen=4, width=4, secondary=0x03)
    x16_3 = m.downstream(switch, 1, gen=4, width=4, secondary=0x04, slot=True)
    m2_2 = m.downstream(switch, 2, gen=3, width=4, secondary=0x05, slot=True)
    x1_1 = m.downstream(switch, 3, gen=4, width=1, secondary=0x06, slot=True)
    onboard = m.downstream(switch, 4, gen=4, width=1, secondary=0x07)
    x16_4 = m.downstream(switch, 5, gen=4, width=4, secondary=0x08, slot=True)
    onboard_10g = m.downstream(switch, 6, gen=4, width=4, secondary=0x0b)
    usb = m.downstream(switch, 8, gen=4, width=16, secondary=0x09, ids="1022:57a4")
    ports = m.downstream(switch, 9, gen=4, width=16, secondary=0x0a, ids="1022:57a4")

    m.nvme(m2_1, "nvme0", model="XPG GAMMIX S50", serial="PK4620000104", firmware="EGFM11.2",
           ids="1987:5016", size=SIZE, warning=70, critical=90, health=dict(temperature_c=41))
    m.nvme(m2_2, "nvme1", serial="7QH00RZ9", health=dict(temperature_c=47, used=4), **FIRECUDA)
    m.nvme(x16_1, "nvme2", serial="7QH00SLV", health=dict(temperature_c=40, used=4), **FIRECUDA)
    m.nvme(x1_1, "nvme3", serial="7QH00RTP", health=dict(temperature_c=38, used=4), **FIRECUDA)
    m.nvme(x16_2, "nvme4", serial="7QH00WDX", health=dict(temperature_c=40, used=4), **FIRECUDA)
    for drive in m.controllers:
        proxmox_layout(m, drive)
    m.mount("rpool/ROOT/pve-1", "/", "zfs", options="rw,xattr,noacl")
    for dataset in ("rpool", "rpool/ROOT", "rpool/data"):
        m.mount(dataset, "/" + dataset, "zfs", options="rw,xattr,noacl")

    m.nic(x16_3, "8086:10fb", gen=2, width=8, driver="ixgbe", subsystem="8086:7a11", revision=1,
          names=("enp4s0f0", None), macs=("a0:36:9f:00:04:00",), firmware="0x800003df",
          settings=link_settings(10000, port="fibre", autoneg=False,
                                 supported=("FIBRE", "10000baseT/Full", "10000baseSR/Full")),
          module=("SFF-8472", "e10gsfpsr.bin",
                  sfp("Intel Corp", "E10GSFPSR", "AD1442A05LQ", oui="001b21", revision="A",
                      date="141018", ethernet_10g=0x10, om=(3, 8, 30))))
    m.nic(onboard, "8086:1539", gen=1, width=1, driver="igb", subsystem="1043:85f0", revision=3,
          names=("enp7s0",), macs=("a8:5e:45:00:07:00",), speed=1000, firmware="0.6-1",
          settings=link_settings(1000, supported=("TP", "Autoneg") + COPPER))
    m.nic(onboard_10g, "8086:1563", gen=3, width=4, driver="ixgbe", subsystem="1043:8808",
          revision=1, names=("enp11s0f0", "enp11s0f1"),
          macs=("a8:5e:45:00:0b:00", "a8:5e:45:00:0b:01"), firmware="0x80000aee",
          settings=link_settings(10000, supported=TEN, partner=TEN))
    m.bridge("vmbr0", [m.nets[0]])
    m.nets[3]["mac"] = m.nets[2]["mac"]  # as the bond sets it
    bond = m.bond("bond0", m.nets[2:4], speed=20000)
    for net in (*m.nets[2:4], bond):
        net["mtu"] = 9000
    m.endpoint(usb, "1022:149c", 0x0c0330, gen=4, width=16, driver="xhci_hcd")
    m.sata(ports, revision=0x51)
    m.endpoint(internal, "1022:1485", 0x130000, gen=4, width=16)
    m.endpoint(internal, "1022:149c", 0x0c0330, gen=4, width=16, number=3, driver="xhci_hcd")

    m.smbios_slot("PCIEX16_1", "PCIe4", 8, address="0000:0c:00.0", in_use=True, id=1)
    m.smbios_slot("PCIEX16_2", "PCIe4", 8, address="0000:0d:00.0", in_use=True, id=2)
    m.smbios_slot("PCIEX16_3", "PCIe4", 4, address="0000:04:00.0", in_use=True, id=3)
    m.smbios_slot("PCIEX1_1", "PCIe4", 1, address="0000:06:00.0", in_use=True, id=4)
    m.smbios_slot("PCIEX16_4", "PCIe4", 4, address="0000:08:00.0", in_use=False, id=5)
    m.smbios_slot("M.2_1", "M.2", 4, address="0000:01:00.0", in_use=True, id=6)
    m.smbios_slot("M.2_2", "M.2", 4, address="0000:05:00.0", in_use=True, id=7)
    assert x16_4.children == []
