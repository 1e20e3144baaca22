# SPDX-License-Identifier: LGPL-2.1-or-later
"""A QEMU q35 guest: virtio disk and network, and an emulated NVMe controller on the root bus, where
no port is above it. Its link registers are QEMU's defaults.

Expected: no finding about any link.
"""

GIB = 1 << 30


def build(m):
    m.host("guest1", kernel="6.1.0-28-amd64", os="debian12")
    m.virtual = "kvm"
    m.cpu("QEMU Virtual CPU version 2.5+", cores=2, threads=2, vendor="AuthenticAMD", family=15,
          number=107, mhz=2994, socket="CPU 0")
    m.memory_bytes = 4 * GIB
    m.board("QEMU", "Standard PC (Q35 + ICH9, 2009)", version="pc-q35-8.2", system_vendor="QEMU",
            system_product="Standard PC (Q35 + ICH9, 2009)", bios_vendor="SeaBIOS",
            bios_version="rel-1.16.3-0", bios_date="04/01/2014")
    m.dimm("DIMM 0", 4 * GIB, kind="DDR4", speed=0, manufacturer="QEMU", part="", bank="")

    m.function("0000:00:00.0", "8086:29c0", 0x060000, subsystem="1af4:1100")
    m.function("0000:00:01.0", "1234:1111", 0x030000, driver="bochs-drm", revision=2,
               subsystem="1af4:1100")
    port = m.root_port("0000:00:02.0", ids="1b36:000c", gen=4, width=32, slot=2, hotplug=True)
    net_port = m.root_port("0000:00:02.1", ids="1b36:000c", gen=4, width=32, slot=3, hotplug=True)
    m.function("0000:00:1f.0", "8086:2918", 0x060100, revision=2, driver="lpc_ich",
               subsystem="1af4:1100")
    m.function("0000:00:1f.2", "8086:2922", 0x010601, revision=2, driver="ahci",
               subsystem="1af4:1100")

    virtio = m.endpoint(port, "1af4:1042", 0x010000, gen=1, width=1, driver="virtio-pci",
                        revision=1, subsystem="1af4:1100")
    disk = m.virtio_disk("vda", virtio, size=32 * GIB)
    root = disk.partition(1, 1 << 20, 31 * GIB, type_uuid=m.LINUX)
    m.filesystem(root, "ext4")
    m.mount(root, "/")
    m.nic(net_port, "1af4:1041", gen=1, width=1, driver="virtio-pci", revision=1, names=("enp2s0",),
          macs=("52:54:00:12:34:56",), speed=0, subsystem="1af4:1100")
    m.nvme("0000:00:04.0", "nvme0", model="QEMU NVMe Ctrl", serial="guest1-0", firmware="8.2.2",
           ids="1b36:0010", subsystem_ids="1af4:1100", gen=1, width=1, size=16 * GIB,
           nqn="nqn.2019-08.org.qemu:guest1-0", revision=2)
