# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the folder tree of a fake host, in the words of the hardware.

A machine description (tests/machines/NAME.py) calls the methods of Machine; write() then makes
TREE/{sys,proc,dev,run,etc,var} as fakehost binds it. Everything is what a real kernel of the
machine's version shows for that hardware, from the four link attributes to the registers in config
space that they come from. Knows nothing of pnhw: a test that needs its program's words belongs
elsewhere.

Speeds are PCIe generations (1 = 2.5 GT/s ... 6 = 64 GT/s), widths are lanes, a link is (gen, width).
"""

import os
import uuid

GENERATIONS = {1: "2.5", 2: "5.0", 3: "8.0", 4: "16.0", 5: "32.0", 6: "64.0"}
SECTOR = 512

CORRECTABLE = ("RxErr BadTLP BadDLLP Rollover Timeout NonFatalErr CorrIntErr HeaderOF").split()
UNCORRECTABLE = ("Undefined DLP SDES TLP FCP CmpltTO CmpltAbrt UnxCmplt RxOF MalfTLP ECRC UnsupReq "
                 "ACSViol UncorrIntErr BlockedTLP AtomicOpBlocked TLPBlockedErr "
                 "PoisonTLPBlocked").split()


def hex4(number):
    return f"0x{number:04x}"


def pair(ids):
    """("0x1022", "0x57ad") as numbers, from "1022:57ad"."""
    return tuple(int(word, 16) for word in ids.split(":"))


class Files:
    """Writes files and links below TREE; knows paths only."""

    def __init__(self, tree):
        self.tree = tree
        self.folders = set()
        self.count = 0

    def folder(self, path):
        if path not in self.folders:
            os.makedirs(self.tree + path, exist_ok=True)
            self.folders.add(path)

    def write(self, path, content, mode=0o444):
        """`content`: bytes as they are, everything else with a newline, None for no file."""
        if content is None:
            return
        data = content if isinstance(content, bytes) else f"{content}\n".encode()
        self.folder(os.path.dirname(path))
        fd = os.open(self.tree + path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        os.write(fd, data)
        os.close(fd)
        self.count += 1

    def write_all(self, folder, attributes, mode=0o444):
        for name, content in attributes.items():
            self.write(f"{folder}/{name}", content, mode)

    def link(self, path, target):
        """A relative link, as in sysfs."""
        self.folder(os.path.dirname(path))
        os.symlink(os.path.relpath(target, os.path.dirname(path)), self.tree + path)
        self.count += 1


class Function:
    """One PCI function."""

    def __init__(self, machine, address, ids, cls, kind, *, parent=None, gen=0, width=0,
                 current=None, target=None, driver=None, subsystem="0000:0000", revision=0,
                 numa_node=None, removable=False, slot=None, slot_number=None, secondary=None,
                 stale=(1, 0), express=True, version=2, aer=None, hotplug=False):
        self.machine = machine
        self.address = address
        domain, bus, rest = address.split(":")
        self.domain, self.bus = int(domain, 16), int(bus, 16)
        self.device_number, self.function_number = (int(x, 16) for x in rest.split("."))
        self.vendor, self.device = pair(ids)
        self.subsystem_vendor, self.subsystem_device = pair(subsystem)
        self.cls, self.kind, self.revision = cls, kind, revision
        self.parent, self.children = parent, []
        self.gen, self.width = gen, width
        self.current, self.target, self.stale = current, target, stale
        self.driver = driver
        self.numa_node = machine.numa_node if numa_node is None else numa_node
        self.removable = removable
        self.slot, self.slot_number, self.hotplug = slot, slot_number, hotplug
        self.secondary = secondary
        self.express, self.version = express, version
        self.aer = aer or {}
        self.group = machine.next_group()
        self.runtime_status, self.power_state = "active", "D0"
        self.vfs, self.physical, self.total_vfs = [], None, 0
        self.nets, self.controller = [], None
        self.extra = {}
        if parent is not None:
            parent.children.append(self)

    @property
    def path(self):
        if isinstance(self.parent, Vmd):
            return f"{self.parent.path}/pci{self.domain:04x}:{self.bus:02x}/{self.address}"
        if self.parent:
            return f"{self.parent.path}/{self.address}"
        return f"/sys/devices/pci{self.domain:04x}:{self.bus:02x}/{self.address}"

    @property
    def is_port(self):
        return self.kind in ("root_port", "upstream_port", "downstream_port", "bridge")

    @property
    def has_downward_link(self):
        return self.kind in ("root_port", "downstream_port")

    def link(self):
        """(gen, width) that the link of this function runs at."""
        if self.has_downward_link:
            below = [child for child in self.children if child.kind != "virtual_function"]
            return below[0].link() if below else self.stale
        if self.current:
            return self.current
        above = self.parent
        if isinstance(above, Function) and above.has_downward_link:
            return (min(self.gen, above.gen), min(self.width, above.width))
        return (self.gen, self.width)

    def unreachable(self):
        """Whether its registers read as all ones: it has no power, or a port above it sleeps."""
        above = self.parent
        while isinstance(above, Function):
            if above.runtime_status == "suspended":
                return True
            above = above.parent
        return self.power_state == "D3cold"

    def subordinate(self):
        buses = [child.bus for child in self.children]
        buses += [child.subordinate() for child in self.children if child.secondary is not None]
        return max(buses + [self.secondary])

    def bus_below(self):
        return f"{self.domain:04x}:{self.secondary:02x}"


class Vmd(Function):
    """Intel's Volume Management Device: the root of a domain of its own."""


class Namespace:
    def __init__(self, nsid, size, block_size=512, partitions=()):
        self.nsid, self.size, self.block_size = nsid, size, block_size
        self.partitions = list(partitions)
        self.block = None


class Block:
    """One block device: a disk, a partition, a dm or md device."""

    def __init__(self, machine, name, path, number, size, *, kind="disk", parent=None, hidden=False,
                 rotational=0, logical=512, physical=512, removable=0, device=None, udev=None,
                 attributes=None):
        self.machine, self.name, self.path, self.number = machine, name, path, number
        self.size, self.kind, self.parent, self.hidden = size, kind, parent, hidden
        self.rotational, self.logical, self.physical = rotational, logical, physical
        self.removable, self.device = removable, device
        self.udev = dict(udev or {})
        self.links = []
        self.attributes = dict(attributes or {})
        self.holders, self.slaves, self.partitions = [], [], []
        machine.blocks.append(self)

    @property
    def dev(self):
        return f"{self.number[0]}:{self.number[1]}"

    def partition(self, number, start, size, *, type_uuid, name=None, udev=None):
        """A GPT partition; `start` and `size` in bytes."""
        separator = "p" if self.name[-1].isdigit() else ""
        part_name = f"{self.name}{separator}{number}"
        major, minor = self.number
        device = self.machine.next_block_number() if major == 259 else (major, minor + number)
        part = Block(self.machine, part_name, f"{self.path}/{part_name}", device, size,
                     kind="partition", parent=self, rotational=self.rotational,
                     logical=self.logical, physical=self.physical)
        part.attributes.update({"partition": number, "start": start // SECTOR})
        part.udev.update({
            "ID_PART_ENTRY_SCHEME": "gpt",
            "ID_PART_ENTRY_UUID": self.machine.uuid(part_name),
            "ID_PART_ENTRY_TYPE": type_uuid,
            "ID_PART_ENTRY_NUMBER": number,
            "ID_PART_ENTRY_OFFSET": start // SECTOR,
            "ID_PART_ENTRY_SIZE": size // SECTOR,
            "ID_PART_ENTRY_DISK": self.dev,
        })
        if name:
            part.udev["ID_PART_ENTRY_NAME"] = name
        part.udev.update(udev or {})
        self.udev.setdefault("ID_PART_TABLE_TYPE", "gpt")
        self.udev.setdefault("ID_PART_TABLE_UUID", self.machine.uuid(self.name))
        self.partitions.append(part)
        return part

    def holds(self, other):
        """`other` is built on this device."""
        self.holders.append(other)
        other.slaves.append(self)

    def carries(self, kind, usage, label=None, uuid=None, **more):
        """What blkid found on it."""
        self.udev.update({"ID_FS_TYPE": kind, "ID_FS_USAGE": usage})
        if label is not None:
            self.udev.update({"ID_FS_LABEL": label, "ID_FS_LABEL_ENC": label})
        identifier = uuid or self.machine.uuid("fs" + self.name)
        self.udev.update({"ID_FS_UUID": identifier, "ID_FS_UUID_ENC": identifier})
        self.udev.update({key: value for key, value in more.items() if value is not None})
        return self


class Machine:
    # The GPT type of each kind of partition that the descriptions use.
    BIOS_BOOT = "21686148-6449-6e6f-744e-656564454649"
    EFI = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"
    LINUX = "0fc63daf-8483-4772-8e79-3d69d8477de4"
    SWAP = "0657fd6d-a4ab-43c4-84e5-0933c84b4f4f"
    LVM = "e6d6d379-f507-44c2-a23c-238f2a3df928"
    RAID = "a19d880f-05fc-4d3b-a006-743f0f84911e"
    ZFS = "6a898cc3-1dd2-11b2-99a6-080020736631"

    def __init__(self, tree, options=None):
        self.files = Files(tree)
        self.options = options or {}
        self.lean = False  # leaves out attributes that pnhw and its peers do not read
        self.short_config = False  # config space of 64 bytes, as others than root get it
        self.numa_node = -1
        self.virtual = None
        self.functions, self.blocks, self.subsystems, self.controllers = [], [], [], []
        self.nets, self.chips, self.mounts, self.swaps, self.arrays = [], [], [], [], []
        self.slots, self.dimms, self.script, self.ethtool = [], [], [], []
        self.packages, self.modules = [], {}
        self.buses, self.groups, self.block_numbers, self.net_numbers = {}, -1, -1, 0
        self.anonymous = 23
        self._siblings = None
        self.board_facts = None
        self.btrfs_filesystems = []
        self.host("testhost", kernel="6.8.12-4-pve", os="debian12")
        self.cpu("Test CPU", cores=4, threads=8, vendor="AuthenticAMD")
        self.memory_bytes = 16 << 30

    def shares_device(self, function):
        """Whether another function has the same bus and device number: the multi-function bit."""
        if self._siblings is None:
            self._siblings = {}
            for each in self.functions:
                key = each.address.rsplit(".", 1)[0]
                self._siblings[key] = self._siblings.get(key, 0) + 1
        return self._siblings.get(function.address.rsplit(".", 1)[0], 0) > 1

    def option(self, name, default):
        """A number from mkmachine's command line."""
        value = self.options.get(name)
        return default if value is None else value

    def next_group(self):
        self.groups += 1
        return self.groups

    def next_block_number(self):
        self.block_numbers += 1
        return (259, self.block_numbers)

    def next_bus(self, domain=0):
        self.buses[domain] = self.buses.get(domain, 0) + 1
        return self.buses[domain]

    def uuid(self, seed):
        """The same one for the same seed."""
        return str(uuid.uuid5(uuid.NAMESPACE_DNS, seed))

    # ---- the host ----

    def host(self, name, *, kernel, os="debian12", proxmox=None):
        self.hostname, self.kernel = name, kernel
        self.kernel_version = tuple(int(x) for x in kernel.split("-")[0].split(".")[:2])
        self.os_release = {"debian11": ("11", "bullseye"), "debian12": ("12", "bookworm"),
                           "debian13": ("13", "trixie")}[os]
        if proxmox:
            # pveversion takes both from dpkg: the release is the package proxmox-ve's version.
            release, manager = proxmox
            self.packages = [("proxmox-ve", release, "all"), ("pve-manager", manager, "amd64"),
                             (f"pve-kernel-{kernel}", f"{kernel.split('-')[0]}-2", "amd64")]

    def cpu(self, model, *, cores, threads, vendor, sockets=1, family=23, number=113, mhz=3500,
            socket="AM4"):
        self.cpu_facts = dict(model=model, cores=cores, threads=threads, vendor=vendor,
                              sockets=sockets, family=family, number=number, mhz=mhz, socket=socket)

    def board(self, vendor, product, *, version="Rev X.0x", serial="200366000000000",
              system_vendor="System manufacturer", system_product="System Product Name",
              bios_vendor="American Megatrends Inc.", bios_version="3302", bios_date="03/05/2021"):
        self.board_facts = dict(vendor=vendor, product=product, version=version, serial=serial,
                                system_vendor=system_vendor, system_product=system_product,
                                bios_vendor=bios_vendor, bios_version=bios_version,
                                bios_date=bios_date)

    def dimm(self, locator, size, *, kind="DDR4", speed=3200, configured=None, manufacturer="",
             part="", serial="00000000", bank="P0 CHANNEL A", ecc=False):
        """One memory socket; size 0 is an empty one."""
        self.dimms.append(dict(locator=locator, size=size, kind=kind, speed=speed,
                               configured=configured or speed, manufacturer=manufacturer,
                               part=part, serial=serial, bank=bank, ecc=ecc))

    def smbios_slot(self, designation, kind, width, *, address=None, in_use=None, id=0):
        """A slot of type 9. `kind`: "PCIe3", "PCIe4", "M.2"; `address`: a function, an address or
        None for the placeholder that many boards have."""
        if isinstance(address, Function):
            in_use = True if in_use is None else in_use
            address = address.address
        self.slots.append(dict(designation=designation, kind=kind, width=width, address=address,
                               in_use=bool(in_use), id=id))

    def package(self, name, version, architecture="amd64"):
        self.packages.append((name, version, architecture))

    # ---- PCI ----

    def function(self, address, ids, cls, *, kind="conventional", **more):
        """Any function; `kind` as in pnhw's inventory."""
        more.setdefault("express", kind != "conventional")
        function = Function(self, address, ids, cls, kind, **more)
        self.functions.append(function)
        return function

    def root_port(self, address, *, gen, width, secondary=None, ids="1022:1483", parent=None,
                  slot=None, driver="pcieport", **more):
        """`slot`: its number (or True) when Slot Implemented is set, None for a soldered device."""
        domain = int(address.split(":")[0], 16)
        secondary = self.next_bus(domain) if secondary is None else secondary
        return self.function(address, ids, 0x060400, kind="root_port", parent=parent, gen=gen,
                             width=width, secondary=secondary, slot=slot, driver=driver, **more)

    def switch(self, port, *, gen, width, ids="1022:57ad", secondary=None, **more):
        """The upstream port of a switch below `port`; see downstream()."""
        secondary = self.next_bus(port.domain) if secondary is None else secondary
        return self.function(f"{port.bus_below()}:00.0", ids, 0x060400, kind="upstream_port",
                             parent=port, gen=gen, width=width, secondary=secondary,
                             driver="pcieport", **more)

    def downstream(self, upstream, device, *, gen, width, secondary=None, ids="1022:57a3",
                   slot=None, **more):
        secondary = self.next_bus(upstream.domain) if secondary is None else secondary
        return self.function(f"{upstream.bus_below()}:{device:02x}.0", ids, 0x060400,
                             kind="downstream_port", parent=upstream, gen=gen, width=width,
                             secondary=secondary, slot=slot, driver="pcieport", **more)

    def endpoint(self, port, ids, cls, *, gen, width, number=0, **more):
        """A function below a port; `number` is its function number. A port given as a string is
        the address of a function on the root bus, with no port above it."""
        if isinstance(port, str):
            return self.function(port, ids, cls, kind="endpoint", gen=gen, width=width, **more)
        return self.function(f"{port.bus_below()}:00.{number}", ids, cls, kind="endpoint",
                             parent=port, gen=gen, width=width, **more)

    def integrated(self, address, ids, cls, **more):
        """A root complex integrated endpoint: an Express capability without a link."""
        return self.function(address, ids, cls, kind="integrated", **more)

    def sata(self, port, ids="1022:7901", *, gen=4, width=16, **more):
        more.setdefault("driver", "ahci")
        return self.endpoint(port, ids, 0x010601, gen=gen, width=width, **more)

    def gpu(self, port, ids, *, gen, width, current=None, driver="nvidia", audio=None, **more):
        """A graphics card; `audio` is the ids of its function 1."""
        gpu = self.endpoint(port, ids, 0x030000, gen=gen, width=width, current=current,
                            driver=driver, **more)
        if audio:
            self.endpoint(port, audio, 0x040300, gen=gen, width=width, current=current,
                          number=1, driver="snd_hda_intel")
        return gpu

    def vmd(self, address, ids="8086:201d"):
        vmd = Vmd(self, address, ids, 0x010400, "integrated", driver="vmd")
        self.functions.append(vmd)
        return vmd

    def virtual_functions(self, physical, n, *, ids, total=None, driver=None, offset=0x10):
        """n virtual functions of a physical one, with routing IDs from `offset` on."""
        physical.total_vfs = total or n
        first = physical.bus << 8 | physical.device_number << 3 | physical.function_number
        for i in range(n):
            rid = first + offset + i
            address = (f"{physical.domain:04x}:{rid >> 8:02x}:{rid >> 3 & 31:02x}.{rid & 7}")
            vf = self.function(address, ids, physical.cls, kind="virtual_function",
                               parent=physical.parent, gen=physical.gen, width=physical.width,
                               driver=driver)
            vf.current = (0, 0)
            vf.physical = physical
            vf.subsystem_vendor = physical.subsystem_vendor
            physical.vfs.append(vf)

    def suspend(self, function, *, ancestors=False, state="D3cold"):
        """Runtime-suspended. In D3cold, and below a suspended port, registers read as all ones,
        and so the link files say 63 lanes of an unknown speed."""
        while isinstance(function, Function):
            function.runtime_status, function.power_state = "suspended", state
            function = function.parent if ancestors else None

    def passthrough(self, function, driver="vfio-pci"):
        """Given to a virtual machine: no NVMe controller, no interface."""
        function.driver = driver
        if function.controller:
            self.controllers.remove(function.controller)
            self.subsystems.remove(function.controller.subsystem)
            gone = {ns.block for ns in function.controller.namespaces}
            self.blocks = [b for b in self.blocks if b not in gone and b.parent not in gone]
            function.controller = None
        for net in function.nets:
            self.nets.remove(net)
        function.nets = []

    def thunderbolt(self, function):
        """Below an external-facing port: the kernel calls it removable."""
        function.removable = True
        for child in function.children:
            self.thunderbolt(child)

    # ---- NVMe ----

    def nvme(self, port, name, *, model, serial, firmware, ids="144d:a80a", subsystem_ids=None,
             gen=4, width=4, current=None, target=None, size=2000398934016, block_size=512,
             namespaces=None, controller_id=0, state="live", nqn=None, subsystem=None,
             revision=1, numa_node=None, warning=None, critical=None, health=None, answers=True,
             **more):
        """An NVMe drive below a port. model, serial and firmware may be bytes that no standard
        allows. `health`: keywords of nvme_data.smart_log()."""
        function = self.endpoint(port, ids, 0x010802, gen=gen, width=width, current=current,
                                 target=target, driver="nvme", revision=revision,
                                 subsystem=subsystem_ids or ids, numa_node=numa_node, **more)
        controller = Controller(self, name, function=function, model=model, serial=serial,
                                firmware=firmware, controller_id=controller_id, state=state,
                                nqn=nqn, subsystem=subsystem, warning=warning, critical=critical,
                                health=health, answers=answers)
        function.controller = controller
        if namespaces is None and subsystem is None:
            namespaces = [Namespace(1, size, block_size)]
        controller.add_namespaces(namespaces or [])
        return controller

    def fabrics(self, name, *, transport, address, model, serial, firmware, nqn, size,
                controller_id=1, state="live"):
        """A controller of NVMe over Fabrics."""
        controller = Controller(self, name, transport=transport, address=address, model=model,
                                serial=serial, firmware=firmware, nqn=nqn, state=state,
                                controller_id=controller_id, answers=True)
        controller.add_namespaces([Namespace(1, size)])
        return controller

    # ---- storage ----

    def disk(self, name, function, *, model, serial, size, bus="ata", host=0, rotational=0,
             wwn=None, logical=512, physical=512, vendor="ATA", revision="1.00"):
        """A SCSI disk: `bus` is "ata" or "usb"."""
        index = ord(name[2]) - ord("a")
        target = f"host{host}/target{host}:0:0/{host}:0:0:0"
        above = f"ata{host + 1}" if bus == "ata" else "usb1/1-2/1-2:1.0"
        device = f"{function.path}/{above}/{target}"
        files = self.files
        files.write_all(device, {"vendor": vendor.ljust(8), "model": model[:16].ljust(16),
                                 "rev": revision.ljust(4), "type": 0, "state": "running",
                                 "uevent": b"DEVTYPE=scsi_device\nDRIVER=sd\n"})
        files.link(f"{device}/subsystem", "/sys/bus/scsi")
        if bus == "usb":
            usb = f"{function.path}/usb1/1-2"
            files.write_all(usb, {"idVendor": "0bc2", "idProduct": "ab38", "speed": 5000,
                                  "serial": serial, "product": model, "manufacturer": vendor,
                                  "uevent": b"DEVTYPE=usb_device\nDRIVER=usb\n"})
            files.link(f"{usb}/subsystem", "/sys/bus/usb")
        block = Block(self, name, f"{device}/block/{name}", (8, index * 16), size, device=device,
                      rotational=rotational, logical=logical, physical=physical)
        under = model.replace(" ", "_")
        block.udev.update({"ID_BUS": bus, "ID_TYPE": "disk", "ID_MODEL": under,
                           "ID_SERIAL": f"{under}_{serial}", "ID_SERIAL_SHORT": serial,
                           "ID_REVISION": revision})
        if bus == "ata":
            block.udev.update({"ID_ATA": 1, "ID_PATH": f"pci-{function.address}-ata-{host + 1}",
                               "ID_ATA_ROTATION_RATE_RPM": 7200 if rotational else 0})
        else:
            block.udev.update({"ID_VENDOR": vendor, "ID_USB_DRIVER": "uas",
                               "ID_PATH": f"pci-{function.address}-usb-0:2:1.0-scsi-0:0:0:0"})
        if wwn:
            block.udev.update({"ID_WWN": wwn, "ID_WWN_WITH_EXTENSION": wwn})
        block.links.append(f"disk/by-id/{bus}-{under}_{serial}")
        return block

    def virtio_disk(self, name, function, *, size, serial=None, number=1):
        device = f"{function.path}/virtio{number}"
        self.files.write_all(device, {"device": "0x0002", "vendor": "0x1af4",
                                      "status": "0x0000000f", "uevent": b"DRIVER=virtio_blk\n"})
        self.files.link(f"{device}/subsystem", "/sys/bus/virtio")
        index = ord(name[2]) - ord("a")
        attributes = {"serial": serial.encode()} if serial else {"serial": b""}
        return Block(self, name, f"{device}/block/{name}", (254, index * 16), size, device=device,
                     rotational=1, attributes=attributes)

    def zpool_member(self, block, pool):
        # Both identifiers are decimal: the pool's, which all members share, and the member's own.
        block.carries("zfs_member", "filesystem", label=pool, uuid=str(hash_text(pool)),
                      ID_FS_VERSION="5000", ID_FS_UUID_SUB=str(hash_text(block.name)))

    def filesystem(self, block, kind, label=None):
        return block.carries(kind, "filesystem", label=label)

    def swap(self, block, priority=-2):
        block.carries("swap", "other")
        self.swaps.append((f"/dev/{block.name}", "partition", block.size // 1024 - 4, priority))

    def luks(self, name, on):
        """Opens an encrypted volume: the clear device."""
        on.carries("crypto_LUKS", "crypto", ID_FS_VERSION="2")
        return self._dm(name, f"CRYPT-LUKS2-{self.uuid(name).replace('-', '')}-{name}", [on],
                        on.size - (16 << 20))

    def lvm_member(self, block):
        block.carries("LVM2_member", "raid", ID_FS_VERSION="LVM2 001")
        return block

    def lvm(self, group, volume, members, size):
        """A logical volume on members of one volume group."""
        escaped = f"{group.replace('-', '--')}-{volume.replace('-', '--')}"
        uuid = f"LVM-{self.uuid(group).replace('-', '')}{self.uuid(volume).replace('-', '')}"
        block = self._dm(escaped, uuid, members, size)
        block.udev.update({"DM_VG_NAME": group, "DM_LV_NAME": volume, "DM_LV_LAYER": ""})
        block.links.append(f"{group}/{volume}")
        return block

    def _dm(self, name, uuid, members, size):
        number = sum(1 for b in self.blocks if b.name.startswith("dm-"))
        block = Block(self, f"dm-{number}", f"/sys/devices/virtual/block/dm-{number}",
                      (253, number), size,
                      attributes={"dm/name": name, "dm/uuid": uuid, "dm/suspended": 0})
        block.udev.update({"DM_NAME": name, "DM_UUID": uuid, "DM_SUSPENDED": 0,
                           "DM_ACTIVATION": 1})
        block.links.append(f"mapper/{name}")
        for member in members:
            member.holds(block)
        return block

    def md(self, number, level, members, size, *, name, failed=0):
        """A software RAID array, with all members active but the last `failed`."""
        active = len(members) - failed
        block = Block(self, f"md{number}", f"/sys/devices/virtual/block/md{number}", (9, number),
                      size, attributes={
                          "md/level": level, "md/raid_disks": len(members),
                          "md/array_state": "clean", "md/degraded": failed,
                          "md/metadata_version": "1.2", "md/sync_action": "idle"})
        uuid = self.uuid(f"md{number}")
        block.udev.update({"MD_LEVEL": level, "MD_DEVICES": len(members), "MD_METADATA": "1.2",
                           "MD_UUID": uuid, "MD_NAME": f"{self.hostname}:{name}",
                           "MD_DEVNAME": name})
        block.links.append(f"md/{name}")
        for i, member in enumerate(members):
            member.carries("linux_raid_member", "raid", label=f"{self.hostname}:{name}",
                           uuid=uuid, ID_FS_VERSION="1.2", ID_FS_UUID_SUB=self.uuid(member.name))
            member.holds(block)
            state = "in_sync" if i < active else "faulty"
            block.attributes.update({f"md/dev-{member.name}/state": state,
                                     f"md/dev-{member.name}/slot": i if i < active else "none"})
        self.arrays.append((block, level, members, active))
        return block

    def btrfs(self, label, members, mount_point):
        """One file system over several devices: the mount names only the first."""
        uuid = self.uuid("btrfs" + label)
        for i, member in enumerate(members):
            member.carries("btrfs", "filesystem", label=label, uuid=uuid,
                           ID_FS_UUID_SUB=self.uuid(f"{label}{i}"), ID_BTRFS_READY="1")
        self.btrfs_filesystems.append((uuid, label, members))
        self.mount(f"/dev/{members[0].name}", mount_point, "btrfs",
                   options="rw,space_cache=v2,subvolid=5,subvol=/")

    def mount(self, what, where, kind=None, options="rw"):
        """`what`: a block device, or a source as mountinfo shows it."""
        if isinstance(what, Block):
            kind = kind or what.udev.get("ID_FS_TYPE", "ext4")
            source, device = self.node_of(what), what.dev
        else:
            self.anonymous += 1
            source, device = what, f"0:{self.anonymous}"
        self.mounts.append((device, where, kind, source, options))

    def node_of(self, block):
        name = block.attributes.get("dm/name")
        return f"/dev/mapper/{name}" if name else f"/dev/{block.name}"

    # ---- network ----

    def nic(self, port, ids, *, gen, width, driver, names=(None,), macs=(), current=None,
            speed=10000, firmware="", cls=0x020000, module=None, state="up", settings=None,
            **more):
        """A network card with one function a name; a name of None is a function that its driver
        refused, so without a driver and an interface. Returns the functions."""
        functions = []
        for i, name in enumerate(names):
            function = self.endpoint(port, ids, cls, gen=gen, width=width, current=current,
                                     number=i, driver=driver if name else None, **more)
            functions.append(function)
            if name:
                self.net(name, function=function, mac=macs[i], speed=speed, state=state,
                         driver=driver, firmware=firmware, module=module, settings=settings)
        return functions

    def net(self, name, *, function=None, mac, speed=None, state="up", mtu=1500, driver="",
            firmware="", module=None, virtual=None, master=None, device=None, devtype=None,
            permanent=None, kind=1, settings=None, errors=None, enabled=True):
        """A network interface. `virtual`: "bond", "bridge" ... for one without hardware.
        `settings`: nic_data.link_settings(); without them a port is plain gigabit copper or 10G
        fibre, by its speed, as far as its driver is one that says so."""
        self.net_numbers += 1
        net = dict(name=name, index=self.net_numbers, function=function, mac=mac, speed=speed,
                   state=state, mtu=mtu, driver=driver, firmware=firmware, virtual=virtual,
                   master=master, device=device, devtype=devtype or virtual, kind=kind,
                   permanent=permanent or mac, lower=[], errors=errors or {}, enabled=enabled,
                   bond=None, vlan=None)
        self.nets.append(net)
        if function:
            function.nets.append(net)
            self.ethtool.append(f"{name} drvinfo ok driver={driver} version={self.kernel} "
                                f"firmware={firmware.replace(' ', '_')} bus={function.address}")
            self.ethtool.append(f"{name} permaddr ok mac={permanent or mac}")
        if settings:
            self.settings(net, settings)
        if module:
            self.module(net, module[0], module[2], file=module[1])
        return net

    def settings(self, net, data):
        """nic_data.link_settings()."""
        path = f"ethtool/{net['name']}.settings"
        self.files.write(f"/{path}", data)
        self.ethtool.append(f"{net['name']} settings file:{path}")

    def counters(self, net, **values):
        """The driver's own counters, by its names for them; "." in a name is written "__"."""
        path = f"ethtool/{net['name']}.stats"
        lines = "".join(f"{name.replace('__', '.')} {value}\n" for name, value in values.items())
        self.files.write(f"/{path}", lines.encode())
        self.ethtool.append(f"{net['name']} stats file:{path}")

    def module(self, net, kind, data, *, file=None):
        """The memory of what is plugged in, as the ioctl gives it: SFF-8472, SFF-8636 …."""
        path = f"ethtool/{file or net['name'] + '.module'}"
        self.files.write(f"/{path}", data)
        self.ethtool.append(f"{net['name']} module file:{path} type={kind}")

    def bond(self, name, members, *, mode="802.3ad", mac=None, state="up", speed=None, active=0,
             aggregator=1, states=(), master=None):
        """A bond of interfaces. `states`: for each member (mii_up, aggregator, actor state,
        partner state, partner's MAC); what is left out is well."""
        bond = self.net(name, mac=mac or members[0]["mac"], virtual="bond", state=state,
                        speed=speed, master=master)
        well = (True, aggregator, 61, 61, "70:10:6f:00:00:01")
        states = [*states, *([well] * (len(members) - len(states)))]
        bond["bond"] = dict(mode=mode, members=members, states=states, aggregator=aggregator,
                            active=members[active]["name"])
        for member in members:
            member["master"] = bond
        return bond

    def bridge(self, name, members, *, mac=None, state="up"):
        bridge = self.net(name, mac=mac or members[0]["mac"], virtual="bridge", state=state)
        for member in members:
            member["master"] = bridge
        return bridge

    def vlan(self, name, lower, number, *, master=None):
        vlan = self.net(name, mac=lower["mac"], virtual="vlan", state=lower["state"],
                        master=master)
        vlan["vlan"] = (lower, number)
        return vlan

    # ---- sensors ----

    def chip(self, name, attributes, device=None):
        """A hwmon chip; `device` is a function, a controller, or None for a platform device."""
        self.chips.append((name, attributes, device))

    # ---- writing ----

    def write(self):
        from machine_writer import write
        write(self)


class Controller:
    """An NVMe controller, and its subsystem when it is the first of it."""

    def __init__(self, machine, name, *, function=None, transport="pcie", address=None, model,
                 serial, firmware, controller_id, state, nqn=None, subsystem=None, warning=None,
                 critical=None, health=None, answers=False):
        self.machine, self.name, self.function = machine, name, function
        self.index = int(name[4:])
        self.transport = transport
        self.address = function.address if function else address
        self.model, self.serial, self.firmware = model, serial, firmware
        self.controller_id, self.state = controller_id, state
        self.warning, self.critical, self.health, self.answers = warning, critical, health, answers
        self.namespaces = []
        if subsystem is None:
            if nqn is None:
                vendor = function.vendor if function else 0
                short = serial if isinstance(serial, str) else f"dirty{self.index}"
                nqn = f"nqn.2014.08.org.nvmexpress:{vendor:04x}{vendor:04x}{short}"
            subsystem = Subsystem(machine, self.index, nqn, self)
            machine.subsystems.append(subsystem)
        self.subsystem = subsystem
        subsystem.controllers.append(self)
        machine.controllers.append(self)

    @property
    def path(self):
        if self.function:
            return f"{self.function.path}/nvme/{self.name}"
        return f"/sys/devices/virtual/nvme-fabrics/ctl/{self.name}"

    @property
    def block(self):
        """The block device of the only namespace."""
        return self.namespaces[0].block

    def add_namespaces(self, namespaces):
        for namespace in namespaces:
            name = f"nvme{self.subsystem.index}n{namespace.nsid}"
            self.namespaces.append(namespace)
            namespace.block = self._block(namespace, name, f"{self.path}/{name}", self.path)

    def _block(self, namespace, name, path, device):
        machine = self.machine
        block = Block(machine, name, path, machine.next_block_number(), namespace.size,
                      device=device, logical=namespace.block_size,
                      physical=namespace.block_size)
        text = [part if isinstance(part, str) else "dirty" for part in (self.model, self.serial)]
        model, serial = (part.strip().replace(" ", "_") for part in text)
        eui = f"{hash_text(serial) & (1 << 64) - 1:016x}"
        block.attributes.update({"nsid": namespace.nsid, "wwid": f"eui.{eui}",
                                 "eui": " ".join(eui[i:i + 2] for i in range(0, 16, 2))})
        if machine.kernel_version >= (6, 8):
            used = namespace.size // namespace.block_size
            block.attributes.update({"csi": 0, "metadata_bytes": 0, "nuse": used})
        block.udev.update({"ID_SERIAL_SHORT": serial, "ID_WWN": f"eui.{eui}", "ID_MODEL": model,
                           "ID_SERIAL": f"{model}_{serial}"})
        block.links += [f"disk/by-id/nvme-{model}_{serial}", f"disk/by-id/nvme-eui.{eui}"]
        return block


class Subsystem:
    def __init__(self, machine, index, nqn, first):
        self.machine, self.index, self.nqn, self.first = machine, index, nqn, first
        self.controllers, self.namespaces = [], []
        self.path = f"/sys/devices/virtual/nvme-subsystem/nvme-subsys{index}"

    def shared_namespace(self, namespace):
        """With native multipath: one namespace below the subsystem and a hidden path node below
        each of the controllers that are there."""
        name = f"nvme{self.index}n{namespace.nsid}"
        self.namespaces.append(namespace)
        block = self.first._block(namespace, name, f"{self.path}/{name}", self.path)
        namespace.block = block
        for controller in self.controllers:
            path_name = f"nvme{self.index}c{controller.index}n{namespace.nsid}"
            node = controller._block(namespace, path_name, f"{controller.path}/{path_name}",
                                     controller.path)
            node.hidden = True
            node.udev.clear()
            node.links.clear()
            node.attributes.update({"ana_grpid": 1, "ana_state": "optimized"})
        return block


def hash_text(text):
    """A stable 63-bit number."""
    return uuid.uuid5(uuid.NAMESPACE_DNS, text).int >> 65
