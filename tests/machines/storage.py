# SPDX-License-Identifier: LGPL-2.1-or-later
"""Everything that a drive can serve: LVM on a RAID 1 of two NVMe drives, btrfs over two SATA disks,
swap, ext4, an encrypted USB disk, and a disk with a stale signature of an earlier life that its
partitions contradict.

Expected uses: nvme0n1p2 and nvme1n1p2 linux_raid_member, then lvm2_member "vg0", then the mounts /,
/srv/images and /var/lib/libvirt/images (one file system, twice); sda and sdb filesystem btrfs, mount
/data on both; sdc's zfs_member not believed; sdd (USB) through the crypt device a mount of /mnt/my
backup.
"""

GIB = 1 << 30


def build(m):
    m.host("store1", kernel="6.1.0-28-amd64", os="debian12")
    m.cpu("Intel(R) Xeon(R) E-2336 CPU @ 2.90GHz", cores=6, threads=12, vendor="GenuineIntel",
          family=6, number=167, mhz=2900, socket="LGA1200")
    m.memory_bytes = 32 * GIB
    ports = [m.root_port(f"0000:00:1b.{i}", ids="8086:43c0", gen=3, width=4, slot=i + 1)
             for i in range(2)]
    members = []
    for i, port in enumerate(ports):
        drive = m.nvme(port, f"nvme{i}", model="INTEL SSDPELKX010T8", serial=f"PHLN0000000{i}1P0H",
                       firmware="VCV10162", ids="8086:0a54", gen=3, size=1000204886016)
        esp = drive.block.partition(1, 1 << 20, 512 << 20, type_uuid=m.EFI)
        m.filesystem(esp, "vfat", label="EFI")
        members.append(drive.block.partition(2, 513 << 20, 900 * GIB, type_uuid=m.RAID))
        m.swap(drive.block.partition(3, 901 * GIB, 8 * GIB, type_uuid=m.SWAP))
        if i == 0:
            m.mount(esp, "/boot/efi")
    array = m.lvm_member(m.md(0, "raid1", members, 900 * GIB - (128 << 20), name="0"))
    for name, size, where in (("root", 50 * GIB, "/"), ("my-images", 800 * GIB, "/srv/images")):
        volume = m.filesystem(m.lvm("vg0", name, [array], size), "ext4")
        m.mount(volume, where)
    m.mount(volume, "/var/lib/libvirt/images")

    ahci = m.function("0000:00:17.0", "8086:43d2", 0x010601, driver="ahci", revision=0x11)
    disk = dict(model="ST16000NM001G-2KK103", size=16000900661248, rotational=1, physical=4096)
    halves = [m.disk(f"sd{name}", ahci, serial=f"ZL20000{name}", host=i,
                     wwn=f"0x5000c500c000000{i}", **disk) for i, name in enumerate("ab")]
    m.btrfs("data", halves, "/data")
    stale = m.disk("sdc", ahci, model="Samsung SSD 870 EVO 1TB", serial="S6PUNX0T000001", host=2,
                   size=1000204886016, wwn="0x5002538f00000001")
    m.filesystem(stale.partition(1, 1 << 20, 900 * GIB, type_uuid=m.LINUX), "ext4", label="old")
    m.zpool_member(stale, "formerpool")
    usb = m.function("0000:00:14.0", "8086:43ed", 0x0c0330, driver="xhci_hcd", revision=0x11)
    backup = m.disk("sdd", usb, model="Expansion HDD", serial="NT100001", bus="usb", host=6,
                    vendor="Seagate", rotational=1, size=4000787029504, physical=4096)
    clear = m.filesystem(m.luks("backup", backup), "ext4", label="backup")
    m.mount(clear, "/mnt/my backup")
