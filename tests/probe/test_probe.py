#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_probe.py BUILD_DIR: runs pnhw-probe on the machines of tests/machines and on damaged copies of
them, and holds its documents against what those machines are.

One line a test: "ok - name", "not ok - name: why", "skip - name: why". Exits 1 if one failed, 77 if
this machine can run no fake host.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MKMACHINE = os.path.join(SOURCE, "tests", "bed", "mkmachine")
UNSAFE = ("config", "vpd", "current_link_speed", "current_link_width", "max_link_speed",
          "max_link_width", "secondary_bus_number")
NOBODY = "65534"
LISTING = ("host", "pci", "nvme", "block")
SOURCES = LISTING + ("net", "module", "health", "sensors")
# The leak checker cannot work under strace: both want to trace.
NO_LEAKS = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
GIB = 1 << 30

tests = []
skipped_all = None


class Skip(Exception):
    pass


def test(function):
    tests.append(function)
    return function


def equal(what, ours, right):
    assert ours == right, f"{what} is {ours!r}, not {right!r}"


class Bed:
    """Trees, and the probe on them."""

    def __init__(self, build, folder):
        self.folder = folder
        # A copy that other users can run: the build may lie where they cannot go, as in /root.
        os.chmod(folder, 0o755)
        self.probe = shutil.copy(os.path.join(build, "daemon", "probe", "pnhw-probe"), folder)
        self.fakehost = os.path.join(build, "tests", "bed", "fakehost")
        self.trees = {}
        self.documents = {}

    def tree(self, name, *options):
        """The tree of a machine; not to be changed."""
        key = (name, options)
        if key not in self.trees:
            path = os.path.join(self.folder, "-".join((name,) + options).replace("/", ""))
            subprocess.run([sys.executable, MKMACHINE, name, path, *options], check=True)
            self.trees[key] = path
        return self.trees[key]

    def copy(self, name, *options):
        """A tree of a machine that a test may damage: built again, for an ordinary user cannot copy
        the files that can only be written."""
        path = tempfile.mkdtemp(prefix=name, dir=self.folder)
        os.chmod(path, 0o755)
        subprocess.run([sys.executable, MKMACHINE, name, path, *options], check=True)
        return path

    def run(self, tree, *command, user=None, stdin=None, timeout=120):
        """Runs a command on a tree: the result, with what the probe wrote to stderr."""
        line = [self.fakehost, "--quiet"] + (["--uid", user] if user else [])
        run = subprocess.run(line + [tree, "--", *command], input=stdin, timeout=timeout,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                             env=dict(os.environ, ASAN_OPTIONS=NO_LEAKS) if "strace" in command
                             else None)
        if run.returncode == 77:
            raise Skip(run.stderr.decode(errors="replace").strip())
        assert run.returncode != 125, run.stderr.decode(errors="replace")
        return run

    def document(self, tree, *arguments, user=None):
        run = self.run(tree, self.probe, *arguments, user=user)
        equal("exit status", run.returncode, 0)
        equal("stderr", run.stderr, b"")
        return parse(run.stdout)

    def machine(self, name):
        if name not in self.documents:
            self.documents[name] = self.document(self.tree(name))
        return self.documents[name]

    def lines(self, tree, *arguments, prefix=(), user=None):
        """--lines: the objects by kind, and the closing lines by source."""
        run = self.run(tree, *prefix, self.probe, "--lines", *arguments, user=user)
        equal("exit status", run.returncode, 0)
        return split(run.stdout)


def split(output):
    assert output.endswith(b"\n"), "the last line has no end"
    objects, ends = {}, {}
    count = 0
    for line in output.splitlines():
        line = parse(line)
        if "end" in line:
            equal("members of a closing line", sorted(line), ["count", "end", "reason", "took_ms"])
            equal("count", line["count"], count)
            ends[line["end"]] = line
            count = 0
        else:
            equal("members of a line", list(line), ["source", "kind", "object"])
            objects.setdefault(line["kind"], []).append(line["object"])
            count += 1
    return objects, ends


def parse(data):
    def refuse(word):
        raise AssertionError(f"the document has {word}")

    return json.loads(data.decode("utf-8"), parse_constant=refuse)


def one(objects, **keys):
    """The only object whose members have these values."""
    found = [o for o in objects if all(o[key] == value for key, value in keys.items())]
    assert len(found) == 1, f"{len(found)} objects have {keys}"
    return found[0]


def function(document, address):
    return one(document["pci"], address=address)


def link(document, address):
    link = function(document, address)["link"]
    return link and (link["current_speed"], link["current_width"], link["max_speed"],
                     link["max_width"])


def unread(thing):
    return {entry["field"]: entry["reason"] for entry in thing.get("unread", [])}


def uses(thing):
    return [(use["type"], use["name"], use["device"], use["mount"]) for use in thing["uses"]]


def directory(tree, address):
    return os.path.realpath(os.path.join(tree, "sys/bus/pci/devices", address))


def controller(tree, name):
    return os.path.realpath(os.path.join(tree, "sys/class/nvme", name))


def replace(path, content):
    os.unlink(path)
    with open(path, "wb") as file:
        file.write(content)


def make_hanging(path):
    """Opening it takes for ever, as reading an attribute of a device does that is gone."""
    os.unlink(path)
    os.mkfifo(path)


def make_failing(path):
    """Reading it fails with an I/O error of the kind that no errno of ours stands for."""
    os.unlink(path)
    os.mkdir(path)


# ---- what the machines are ----

@test
def first_customer_host(bed):
    host = bed.machine("first-customer")["host"]
    equal("hostname", host["hostname"], "serverhost1")
    equal("board", host["board"], {"vendor": "ASUSTeK COMPUTER INC.", "product": "Pro WS X570-ACE"})
    equal("machine, which is filler", host["machine"], {"vendor": None, "product": None})
    equal("bios", host["bios"], {"version": "3302", "date": "03/05/2021"})
    equal("cpu", host["cpu"], {"model": "AMD Ryzen 9 3950X 16-Core Processor", "sockets": 1,
                               "cores": 16, "threads": 32})
    equal("memory", host["memory_bytes"], (64 * GIB // 1024 - 64 * GIB // 1024 // 64) * 1024)
    equal("kernel", host["kernel"], "5.11.22-1-pve")
    equal("os", host["os"], "Debian GNU/Linux 11 (bullseye)")
    equal("proxmox", host["proxmox_version"], "7.0-2")
    equal("virtualization", host["virtualization"], None)
    equal("memory sockets", [d["locator"] for d in host["dimms"]],
          ["DIMM_A1", "DIMM_A2", "DIMM_B1", "DIMM_B2"])
    equal("a module", host["dimms"][0], {
        "locator": "DIMM_A1", "size_bytes": 16 * GIB, "type": "DDR4", "speed_mts": 3200,
        "configured_mts": 3200, "manufacturer": "Kingston", "part_number": "KF3200C16D4/16GX"})
    slot = one(host["slots"], designation="PCIEX16_4")
    equal("free slot", (slot["in_use"], slot["address"], slot["width"], slot["speed"]),
          (False, "0000:08:00.0", 4, 16))


@test
def first_customer_tree(bed):
    document = bed.machine("first-customer")
    for address, kind, parent in (
            ("0000:00:00.0", "conventional", None),
            ("0000:00:01.2", "root_port", None),
            ("0000:02:00.0", "upstream_port", "0000:00:01.2"),
            ("0000:03:03.0", "downstream_port", "0000:02:00.0"),
            ("0000:06:00.0", "endpoint", "0000:03:03.0"),
            ("0000:0e:00.3", "endpoint", "0000:00:08.1")):
        equal(f"kind of {address}", function(document, address)["kind"], kind)
        equal(f"parent of {address}", function(document, address)["parent"], parent)
    for address, right in (("0000:01:00.0", (16, 4, 16, 4)), ("0000:05:00.0", (8, 4, 16, 4)),
                           ("0000:06:00.0", (16, 1, 16, 4)), ("0000:03:03.0", (16, 1, 16, 1)),
                           ("0000:03:05.0", (2.5, None, 16, 4)), ("0000:04:00.1", (5, 4, 5, 8)),
                           ("0000:00:00.0", None)):
        equal(f"link of {address}", link(document, address), right)
    port = function(document, "0000:03:02.0")
    equal("target", port["link"]["target_speed"], 8)
    equal("speeds", port["link"]["supported_speeds"], [2.5, 5, 8])
    equal("bus below", port["secondary_bus"], 5)
    equal("slot implemented", port["slot_implemented"], True)
    equal("no slot", function(document, "0000:03:04.0")["slot_implemented"], False)
    drive = function(document, "0000:05:00.0")
    equal("no target at the lower end", drive["link"]["target_speed"], None)
    equal("ids", [drive[key] for key in ("class", "vendor_id", "device_id", "subsystem_vendor_id",
                                         "subsystem_device_id")],
          ["0x010802", "0x1bb1", "0x5016", "0x1bb1", "0x5016"])
    equal("driver", drive["driver"], "nvme")
    equal("power", drive["power"], "active")
    equal("passed through", drive["passed_through"], False)
    equal("slot by SMBIOS", drive["slot"], "M.2_2")
    equal("NUMA node -1", drive["numa_node"], None)
    equal("errors", drive["aer"], {"correctable": 0, "nonfatal": 0, "fatal": 0})
    equal("IOMMU group", isinstance(drive["iommu_group"], int), True)
    equal("refused port", function(document, "0000:04:00.1")["driver"], None)


@test
def first_customer_drives(bed):
    document = bed.machine("first-customer")
    equal("drives", [(d["name"], d["address"], d["serial"]) for d in document["nvme"]],
          [("nvme0", "0000:01:00.0", "PK4620000104"), ("nvme1", "0000:05:00.0", "7QH00RZ9"),
           ("nvme2", "0000:0c:00.0", "7QH00SLV"), ("nvme3", "0000:06:00.0", "7QH00RTP"),
           ("nvme4", "0000:0d:00.0", "7QH00WDX")])
    drive = document["nvme"][1]
    equal("drive", (drive["transport"], drive["state"], drive["model"], drive["firmware"]),
          ("pcie", "live", "Seagate FireCuda 520 SSD ZP2000GM30002", "STNSC014"))
    equal("namespaces", len(drive["namespaces"]), 1)
    namespace = drive["namespaces"][0]
    equal("namespace", (namespace["name"], namespace["nsid"], namespace["capacity_bytes"],
                        namespace["block_size"]), ("nvme1n1", 1, 2000398934016, 512))
    equal("uses", uses(namespace), [("partition", None, "nvme1n1p1", None),
                                    ("filesystem", "vfat", "nvme1n1p2", None),
                                    ("zfs_member", "rpool", "nvme1n1p3", None)])
    equal("nothing is left to join", document["namespace_uses"], [])
    equal("disks", document["disks"], [])


@test
def document_form(bed):
    document = bed.machine("first-customer")
    equal("schema", list(document.items())[0], ("schema", 1))
    equal("sources", [(s["name"], s["state"], s["reason"]) for s in document["sources"]],
          [(name, "fresh", None) for name in SOURCES])
    for source in document["sources"]:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", source["updated"]), source
        assert isinstance(source["took_ms"], int), source
    part = bed.document(bed.tree("first-customer"), "nvme")
    equal("one source", [s["name"] for s in part["sources"]], ["nvme"])
    equal("no host", part["host"], None)
    equal("no pci", part["pci"], [])
    equal("health without its source", unread(part["nvme"][0]), {"health": "cannot_join"})
    equal("uses without the block source", unread(part["nvme"][0]["namespaces"][0]),
          {"uses": "cannot_join"})


@test
def lines_form(bed):
    objects, ends = bed.lines(bed.tree("first-customer"))
    equal("kinds", {kind: len(found) for kind, found in objects.items()},
          {"host": 1, "pci": 47, "nvme": 5, "namespace_uses": 5, "nic": 7, "port_module": 4,
           "nvme_health": 5, "sensor": 2})
    equal("ends", {name: end["reason"] for name, end in ends.items()}, dict.fromkeys(SOURCES))
    equal("uses", uses(one(objects["namespace_uses"], name="nvme3n1"))[2],
          ("zfs_member", "rpool", "nvme3n1p3", None))
    objects, ends = bed.lines(bed.tree("storage"), "block")
    equal("disks", [d["name"] for d in objects["disk"]], ["sda", "sdb", "sdc", "sdd"])
    equal("only what was asked for", list(ends), ["block"])


@test
def empty_machine(bed):
    document = bed.machine("empty")
    for field in ("pci", "nvme", "disks"):
        equal(field, document[field], [])
    equal("states", [s["state"] for s in document["sources"]], ["fresh"] * len(SOURCES))
    host = document["host"]
    equal("no firmware", (host["board"], host["dimms"], host["slots"]), (None, [], []))
    equal("nothing unread", unread(host), {})


@test
def degraded_links(bed):
    document = bed.machine("degraded")
    for address, right in (("0000:01:00.0", (16, 1, 16, 4)), ("0000:02:00.0", (2.5, 4, 16, 4)),
                           ("0000:03:00.0", (8, 4, 16, 4)), ("0000:05:00.0", (16, 4, 16, 16))):
        equal(f"link of {address}", link(document, address), right)
    equal("target of the port", function(document, "0000:00:01.3")["link"]["target_speed"], 8)
    equal("slots", [function(document, a)["slot"] for a in ("0000:01:00.0", "0000:07:00.0")],
          ["1", "10"])


@test
def sleeping_machine(bed):
    document = bed.machine("sleeping")
    for address, kind in (("0000:00:01.1", "root_port"), ("0000:01:00.0", "endpoint"),
                          ("0000:01:00.1", "endpoint"), ("0000:02:00.0", "endpoint")):
        asleep = function(document, address)
        equal(f"power of {address}", asleep["power"], "suspended")
        equal(f"kind of {address}", asleep["kind"], kind)
        equal(f"link of {address}", asleep["link"], None)
        reasons = unread(asleep)
        equal(f"unread of {address}", (reasons["link"], reasons["aer"]), ("asleep", "asleep"))
        equal(f"driver of {address}", asleep["driver"] is not None, True)
    equal("awake", link(document, "0000:03:00.0"), (8, 4, 8, 4))
    equal("drives", [d["model"] for d in document["nvme"]], ["WD_BLACK SN750"] * 2)


def opened(bed, tree, *arguments):
    """The paths that the probe opens, in the fake host's terms."""
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    trace = os.path.join(bed.folder, "trace")
    run = bed.run(tree, "strace", "-f", "-y", "-qq", "-e", "trace=open,openat,openat2", "-o", trace,
                  bed.probe, *arguments)
    equal("exit status", run.returncode, 0)
    paths = []
    with open(trace, encoding="utf-8", errors="replace") as file:
        for line in file:
            found = re.search(r'open(?:at2?)?\((?:AT_FDCWD|\d+)?(?:<([^>]*)>)?,? ?"([^"]*)"', line)
            if found:
                paths.append(os.path.normpath(os.path.join(found.group(1) or "/", found.group(2))))
    assert len(paths) > 50, "the trace has no opens"
    return paths


@test
def sleeping_devices_are_left_alone(bed):
    for name, addresses in (("sleeping", ("0000:00:01.1", "0000:01:00.0", "0000:01:00.1",
                                          "0000:00:02.1", "0000:02:00.0")),
                            ("passthrough", ("0000:01:00.0",))):
        tree = bed.tree(name)
        paths = opened(bed, tree)
        for address in addresses:
            folder = directory(tree, address)[len(os.path.realpath(tree)):]
            touched = [path for path in paths for unsafe in UNSAFE
                       if path in (f"{folder}/{unsafe}", f"/sys/bus/pci/devices/{address}/{unsafe}")]
            equal(f"unsafe opens of {name} {address}", touched, [])
            assert f"{folder}/power/runtime_status" in paths, f"{folder} was not asked"
    folder = directory(tree, "0000:03:00.0")[len(os.path.realpath(tree)):]
    assert f"{folder}/current_link_speed" in paths, "awake and passed through: no link read"
    assert f"{folder}/config" not in paths, "a passed-through device's config space was read"


@test
def a_suspended_parent_is_enough(bed):
    tree = bed.copy("first-customer")
    replace(os.path.join(directory(tree, "0000:00:01.2"), "power/runtime_status"), b"suspended\n")
    document = bed.document(tree, "pci")
    for address in ("0000:02:00.0", "0000:03:03.0", "0000:06:00.0"):
        equal(address, (function(document, address)["power"],
                        unread(function(document, address))["link"]), ("suspended", "asleep"))
    paths = opened(bed, tree, "pci")
    touched = [path for path in paths if "0000:00:01.2" in path and path.endswith(UNSAFE)]
    equal("unsafe opens", touched, [])
    for word, power in (("suspending", "suspended"), ("resuming", "suspended"),
                        ("unsupported", "unknown"), ("active", "active")):
        replace(os.path.join(directory(tree, "0000:00:01.2"), "power/runtime_status"),
                word.encode())
        document = bed.document(tree, "pci")
        equal(word, function(document, "0000:00:01.2")["power"], power)


@test
def drives_are_not_disturbed(bed):
    for name in ("first-customer", "multipath", "storage", "sleeping"):
        for path in opened(bed, bed.tree(name), *LISTING):
            assert not path.endswith("/nuse"), path
            assert "hwmon" not in path, path
            assert not re.match(r"/dev/(nvme|sd|vd|dm|md|mapper)", path), path
            assert not path.endswith("/vpd"), path


@test
def passed_through(bed):
    document = bed.machine("passthrough")
    given, card = function(document, "0000:01:00.0"), function(document, "0000:03:00.0")
    equal("drive", (given["passed_through"], given["driver"], given["power"]),
          (True, "vfio-pci", "suspended"))
    equal("its link", unread(given)["link"], "asleep")
    equal("card", (card["passed_through"], card["kind"]), (True, "endpoint"))
    equal("its link", link(document, "0000:03:00.0"), (8, 4, 8, 8))
    equal("host's own", function(document, "0000:02:00.0")["passed_through"], False)
    equal("drives", [d["name"] for d in document["nvme"]], ["nvme0"])


@test
def virtual_functions(bed):
    document = bed.machine("sriov")
    virtual = [f for f in document["pci"] if f["kind"] == "virtual_function"]
    equal("virtual functions", len(virtual), 68)
    for f in virtual:
        equal(f"link, errors, slot of {f['address']}", (f["link"], f["aer"], f["slot"]), (None,) * 3)
        equal(f"nothing unread of {f['address']}", unread(f), {})
    equal("physical function", function(document, "0000:41:02.0")["physical_function"],
          "0000:41:00.0")
    equal("counts", [function(document, a)["vf_count"] for a in
                     ("0000:41:00.0", "0000:41:00.1", "0000:c1:00.0", "0000:40:01.1")],
          [64, 0, 4, None])


@test
def vmd_domain(bed):
    document = bed.machine("vmd")
    equal("VMD", (function(document, "0000:e2:05.5")["kind"],
                  function(document, "0000:e2:05.5")["link"]), ("integrated", None))
    port = function(document, "10000:e0:02.0")
    equal("port", (port["kind"], port["parent"]), ("root_port", "0000:e2:05.5"))
    drive = function(document, "10000:e1:00.0")
    equal("drive", (drive["kind"], drive["parent"], drive["slot"]),
          ("endpoint", "10000:e0:02.0", None))
    equal("order", [f["address"] for f in document["pci"]][-1], "10000:e2:00.0")
    equal("drive", document["nvme"][0]["address"], "10000:e1:00.0")
    equal("two sockets", (document["host"]["cpu"]["sockets"], document["host"]["cpu"]["threads"]),
          (2, 80))


@test
def multipath_namespaces(bed):
    document = bed.machine("multipath")
    equal("paths", [(d["name"], [n["name"] for n in d["namespaces"]]) for d in document["nvme"]],
          [("nvme0", ["nvme0n1"]), ("nvme1", ["nvme0n1"]), ("nvme3", ["nvme3n1"])])
    equal("one subsystem", document["nvme"][0]["subsystem"], document["nvme"][1]["subsystem"])
    equal("controller ids", [d["controller_id"] for d in document["nvme"]], [33, 65, 1])
    remote = document["nvme"][2]
    equal("over TCP", (remote["transport"], remote["address"]), ("tcp", None))
    for drive in document["nvme"][:2]:
        equal("uses", uses(drive["namespaces"][0]),
              [("filesystem", "data", "nvme0n1", "/srv/data")])


@test
def dirty_strings(bed):
    document = bed.machine("dirty")
    drives = {d["name"]: d for d in document["nvme"]}
    equal("trimmed", (drives["nvme0"]["model"], drives["nvme0"]["serial"]),
          ("Padded Drive", "EXAMPLE0001"))
    equal("NULs", drives["nvme1"]["model"], None)
    equal("eight characters", drives["nvme2"]["firmware"], "QDV10130")
    for field in ("model", "serial", "firmware"):
        assert all(" " <= c <= "~" for c in drives["nvme3"][field]), drives["nvme3"]
    equal("state", drives["nvme4"]["state"], "resetting")
    equal("empty", drives["nvme4"]["serial"], None)
    equal("twins", drives["nvme5"]["serial"], drives["nvme6"]["serial"])
    equal("sentinels", link(document, drives["nvme7"]["address"]), (None, None, None, None))


@test
def old_kernel(bed):
    document = bed.machine("old-kernel")
    port = function(document, "0000:00:1b.0")
    equal("port", (port["kind"], link(document, "0000:00:1b.0")), ("root_port", (8, 4, 8, 4)))
    equal("registers", (unread(port)["slot_implemented"], unread(port["link"])),
          ("permission", {"target_speed": "permission", "supported_speeds": "permission"}))
    equal("graphics", (function(document, "0000:00:02.0")["kind"],
                       function(document, "0000:00:02.0")["link"]), ("integrated", None))
    equal("drive", (function(document, "0000:01:00.0")["kind"], link(document, "0000:01:00.0")),
          ("endpoint", (8, 4, 16, 4)))
    equal("slot", function(document, "0000:02:00.1")["slot"], "1")


@test
def thunderbolt_and_gpus(bed):
    document = bed.machine("thunderbolt")
    equal("removable", [function(document, a)["removable"] for a in
                        ("0000:20:00.0", "0000:22:00.0", "0000:01:00.0")], [True, True, None])
    document = bed.machine("gpu-server")
    equal("card's switch", [function(document, a)["kind"] for a in
                            ("0000:44:00.0", "0000:45:00.0", "0000:46:00.0")],
          ["upstream_port", "downstream_port", "endpoint"])
    equal("idle", link(document, "0000:41:00.0"), (2.5, 16, 16, 16))


@test
def virtual_machine(bed):
    document = bed.machine("vm")
    equal("virtualization", document["host"]["virtualization"], "qemu")
    equal("disk", [(d["name"], d["transport"], d["address"], uses(d)) for d in document["disks"]],
          [("vda", "virtio", "0000:01:00.0", [("filesystem", "ext4", "vda1", "/")])])


STORED = [("filesystem", "EFI", "nvme0n1p1", "/boot/efi"),
          ("linux_raid_member", "md0", "nvme0n1p2", None), ("lvm2_member", "vg0", "md0", None),
          ("filesystem", "ext4", "dm-0", "/"), ("filesystem", "ext4", "dm-1", "/srv/images"),
          ("filesystem", "ext4", "dm-1", "/var/lib/libvirt/images"),
          ("swap", None, "nvme0n1p3", None)]


@test
def storage_uses(bed):
    document = bed.machine("storage")
    equal("RAID, LVM", uses(document["nvme"][0]["namespaces"][0]), STORED)
    disks = {d["name"]: d for d in document["disks"]}
    equal("btrfs", [uses(disks[name]) for name in ("sda", "sdb")],
          [[("filesystem", "data", name, "/data")] for name in ("sda", "sdb")])
    equal("stale signature", uses(disks["sdc"]), [("filesystem", "old", "sdc1", None)])
    equal("encrypted", uses(disks["sdd"]),
          [("crypto_luks", "backup", "sdd", None), ("filesystem", "backup", "dm-2", "/mnt/my backup")])
    sda = disks["sda"]
    equal("disk", [sda[key] for key in ("model", "serial", "wwn", "transport", "rotational",
                                        "size_bytes", "physical_block_size", "address",
                                        "device_number")],
          ["ST16000NM001G-2KK103", "ZL20000a", "0x5000c500c0000000", "sata", True, 16000900661248,
           4096, "0000:00:17.0", "8:0"])
    equal("others", [(disks[n]["transport"], disks[n]["model"], disks[n]["rotational"])
                     for n in ("sdc", "sdd")],
          [("sata", "Samsung SSD 870 EVO 1TB", False), ("usb", "Seagate Expansion HDD", True)])


@test
def storage_without_udev(bed):
    tree = bed.copy("storage")
    shutil.rmtree(os.path.join(tree, "run/udev"))
    os.makedirs(os.path.join(tree, "run/udev"))
    # A volume that is a layer of another is no member of a volume group.
    volumes = [os.path.realpath(os.path.join(tree, "sys/class/block", name))
               for name in ("dm-0", "dm-1")]
    os.symlink("../../dm-1", os.path.join(volumes[0], "holders/dm-1"))
    document = bed.document(tree)
    equal("RAID, LVM", uses(document["nvme"][0]["namespaces"][0]),
          [("mount", "vfat", "nvme0n1p1", "/boot/efi"),
           ("linux_raid_member", "md0", "nvme0n1p2", None), ("lvm2_member", "vg0", "md0", None),
           ("mount", "ext4", "dm-0", "/"), ("mount", "ext4", "dm-1", "/srv/images"),
           ("mount", "ext4", "dm-1", "/var/lib/libvirt/images"),
           ("swap", None, "nvme0n1p3", None)])
    disks = {d["name"]: d for d in document["disks"]}
    equal("btrfs", uses(disks["sdb"]), [("mount", "btrfs", "sdb", "/data")])
    shutil.rmtree(os.path.join(tree, "sys/fs"))
    again = {d["name"]: d for d in bed.document(tree, "block")["disks"]}
    equal("btrfs, its devices unknown", [uses(again[name]) for name in ("sda", "sdb")],
          [[("mount", "btrfs", "sda", "/data")], []])
    equal("encrypted", uses(disks["sdd"])[0], ("crypto_luks", "backup", "sdd", None))
    equal("transport", disks["sdd"]["transport"], "usb")


# ---- without privileges ----

@test
def ordinary_user(bed):
    tree = bed.tree("first-customer")
    document = bed.document(tree, user=NOBODY)
    full = bed.machine("first-customer")
    equal("unread of the host", unread(document["host"]),
          {"dimms": "permission", "slots": "permission"})
    for ours, right in zip(document["pci"], full["pci"]):
        for field in ("address", "kind", "parent", "class", "driver", "power", "aer",
                      "secondary_bus"):
            equal(f"{field} of {right['address']}", ours[field], right[field])
        equal(f"link of {right['address']}", link(document, right["address"]),
              link(full, right["address"]))
        if right["kind"] in ("root_port", "downstream_port"):
            equal("port", (unread(ours), unread(ours["link"])),
                  ({"slot_implemented": "permission"},
                   {"target_speed": "permission", "supported_speeds": "permission"}))
    for ours, right in zip(document["nvme"], full["nvme"]):
        equal("health", unread(ours), {"health": "permission"})
        for field in set(right) - {"health", "namespaces"}:
            equal(f"{field} of {right['name']}", ours[field], right[field])


# ---- devices that misbehave ----

def check_hung(bed, tree, prefix=()):
    start = time.monotonic()
    objects, ends = bed.lines(tree, prefix=prefix)
    took = time.monotonic() - start
    return objects, ends, took


@test
def hung_drive_costs_itself(bed):
    tree = bed.copy("first-customer")
    make_hanging(os.path.join(controller(tree, "nvme2"), "model"))
    objects, ends, took = check_hung(bed, tree)
    equal("drives", len(objects["nvme"]), 5)
    hung = one(objects["nvme"], name="nvme2")
    equal("hung", set(unread(hung).values()), {"timeout"})
    equal("only its key", [key for key in hung if hung[key] not in (None, [])], ["name", "unread"])
    whole = {d["name"]: d for d in bed.machine("first-customer")["nvme"]}
    for drive in objects["nvme"]:
        if drive["name"] != "nvme2":
            equal(drive["name"], (drive["serial"], unread(drive)),
                  (whole[drive["name"]]["serial"], {}))
    equal("reasons", {end["reason"] for end in ends.values()}, {None})
    assert 2 <= took < 6, f"took {took:.1f} s"


@test
def hung_functions(bed):
    tree = bed.copy("first-customer")
    make_hanging(os.path.join(directory(tree, "0000:02:00.0"), "config"))
    make_hanging(os.path.join(directory(tree, "0000:06:00.0"), "current_link_speed"))
    objects, ends, took = check_hung(bed, tree)
    equal("functions", len(objects["pci"]), 47)
    for address in ("0000:02:00.0", "0000:06:00.0"):
        equal(address, set(unread(one(objects["pci"], address=address)).values()), {"timeout"})
    below = one(objects["pci"], address="0000:03:03.0")
    equal("below a hung port", (below["kind"], below["parent"]), ("downstream_port", "0000:02:00.0"))
    assert took < 9, f"took {took:.1f} s"
    run = bed.run(tree, bed.probe)
    equal("exit status", run.returncode, 0)
    equal("document", len(parse(run.stdout)["pci"]), 47)


@test
def hung_partition(bed):
    tree = bed.copy("first-customer")
    block = os.path.realpath(os.path.join(tree, "sys/class/block/nvme2n1p3"))
    make_hanging(os.path.join(block, "dev"))
    objects, ends, _ = check_hung(bed, tree)
    equal("namespaces", len(objects["namespace_uses"]), 5)
    hung = one(objects["namespace_uses"], name="nvme2n1")
    equal("hung", unread(hung), {"device_number": "timeout", "uses": "timeout"})
    equal("others", uses(one(objects["namespace_uses"], name="nvme4n1"))[2][0], "zfs_member")


@test
def remembered_as_stuck(bed):
    """The lock of a reader that has not come back, which here is flock(1)'s."""
    if not shutil.which("flock"):
        raise Skip("flock is not installed")
    tree = bed.tree("first-customer")
    lock = "/run/pnhw-probe/nvme-nvme2"
    objects, _, took = check_hung(bed, tree, prefix=("flock", "-o", lock))
    equal("stuck", set(unread(one(objects["nvme"], name="nvme2")).values()), {"stuck"})
    equal("others", [unread(d) for d in objects["nvme"] if d["name"] != "nvme2"], [{}] * 4)
    assert took < 2, f"took {took:.1f} s"
    run = bed.run(tree, "sh", "-c", 'touch "$0"; "$1" nvme; ls -A /run/pnhw-probe', lock, bed.probe)
    document, _, rest = run.stdout.partition(b"\n")
    equal("left over", [unread(d) for d in parse(document)["nvme"]],
          [{"health": "cannot_join"}] * 5)
    equal("lock files", rest, b"")


@test
def a_hung_device_leaves_a_lock(bed):
    tree = bed.copy("first-customer")
    make_hanging(os.path.join(controller(tree, "nvme2"), "serial"))
    run = bed.run(tree, "sh", "-c", '"$0" --lines nvme >/dev/null; ls -A /run/pnhw-probe', bed.probe)
    equal("lock files", run.stdout, b"nvme-nvme2\n")
    run = bed.run(tree, "sh", "-c", 'rmdir /run/pnhw-probe; "$0" --lines nvme', bed.probe,
                  user=NOBODY)
    objects, _ = split(run.stdout)
    equal("without a place for locks", len(objects["nvme"]), 5)


@test
def many_hung_drives(bed):
    """Eight are waited for; then the source ends with a reason, before the daemon ends it."""
    tree = bed.copy("crowd", "--drives", "12", "--functions", "40")
    for i in range(10):
        make_hanging(os.path.join(controller(tree, f"nvme{i}"), "model"))
    objects, ends, _ = check_hung(bed, tree)
    hung = [d for d in objects["nvme"] if set(unread(d).values()) == {"timeout"}]
    equal("given up", len(hung), 8)
    assert "8 devices did not answer" in ends["nvme"]["reason"], ends["nvme"]
    equal("other sources", {e["reason"] for n, e in ends.items()
                            if n not in ("nvme", "health")}, {None})
    # pnhwd reads each source for itself, with a deadline (--probe-deadline).
    assert ends["nvme"]["took_ms"] < 10000, ends["nvme"]


@test
def nonsense_attributes(bed):
    tree = bed.copy("first-customer")
    folder = directory(tree, "0000:05:00.0")
    replace(os.path.join(folder, "vendor"), b"0xzz\n")
    replace(os.path.join(folder, "device"), b"0x123456789\n")
    replace(os.path.join(folder, "class"), b"")
    replace(os.path.join(folder, "numa_node"), b"99999999999999999999\n")
    replace(os.path.join(folder, "current_link_speed"), b"9.9 GT/s PCIe\n")
    replace(os.path.join(folder, "max_link_width"), b"255\n")
    replace(os.path.join(folder, "config"), b"\xff" * 4096)
    replace(os.path.join(folder, "aer_dev_fatal"), b"TOTAL_ERR_FATAL x\n")
    replace(os.path.join(folder, "power/runtime_status"), b"\xff" * 100000)
    other = directory(tree, "0000:06:00.0")
    make_failing(os.path.join(other, "current_link_width"))
    make_failing(os.path.join(other, "aer_dev_nonfatal"))
    make_failing(os.path.join(other, "vendor"))
    replace(os.path.join(other, "power/runtime_status"), b"active\n")
    drive = controller(tree, "nvme1")
    replace(os.path.join(drive, "model"), b"\xff\x00" * 500000)
    replace(os.path.join(drive, "serial"), b"A" * 100000)
    replace(os.path.join(drive, "cntlid"), b"twelve\n")
    make_failing(os.path.join(drive, "firmware_rev"))
    replace(os.path.join(drive, "nvme1n1/size") if os.path.isdir(os.path.join(drive, "nvme1n1"))
            else os.path.join(controller(tree, "nvme1"), "nvme1n1/size"), b"9223372036854775807\n")
    document = bed.document(tree)
    f = function(document, "0000:05:00.0")
    equal("not active", (f["power"], unread(f)["link"]), ("suspended", "asleep"))
    reasons = unread(f)
    equal("ids", [reasons[key] for key in ("vendor_id", "device_id", "class", "numa_node")],
          ["malformed", "malformed", "malformed", "overflow"])
    replace(os.path.join(folder, "power/runtime_status"), b"active\n")
    again = bed.document(tree)
    equal("link", link(again, "0000:05:00.0"), (None, 4, 16, None))
    equal("errors", unread(function(again, "0000:05:00.0")["aer"]), {"fatal": "malformed"})
    g = function(document, "0000:06:00.0")
    equal("registers stand in", link(document, "0000:06:00.0"), (16, 1, 16, 4))
    equal("errors", unread(g["aer"]), {"nonfatal": "io"})
    equal("vendor", unread(g)["vendor_id"], "io")
    d = one(document["nvme"], name="nvme1")
    equal("cut", (d["model"], d["serial"]), ("?", "A" * 4096))
    equal("unread", unread(d), {"firmware": "io", "controller_id": "malformed"})
    equal("capacity", unread(d["namespaces"][0]), {"capacity_bytes": "overflow"})


@test
def random_damage(bed):
    """Attributes of random bytes, directories for files, dangling links: always a document."""
    random = __import__("random").Random(20240229)
    for machine in ("first-customer", "storage", "multipath"):
        tree = bed.copy(machine)
        files = sorted(os.path.join(folder, name) for part in ("sys/devices", "sys/bus/pci/slots",
                                                               "run/udev", "sys/fs")
                       for folder, _, names in os.walk(os.path.join(tree, part))
                       for name in names)
        for i in range(8):
            for path in random.sample(files, len(files) // 8):
                try:
                    if os.path.isdir(path) and not os.path.islink(path):
                        continue
                    os.unlink(path)
                    if random.random() < 0.9:
                        size = random.choice((0, 1, 2, 7, 64, 300, 5000))
                        with open(path, "wb") as file:
                            file.write(random.randbytes(size) if random.random() < 0.7 else
                                       random.choice((b"0", b"9", b"a/", b"\xff", b"-")) * size)
                    elif random.random() < 0.5:
                        os.mkdir(path)
                    else:
                        os.symlink("../nowhere", path)
                except FileNotFoundError:
                    pass
            document = bed.document(tree)
            equal(f"states, round {i} of {machine}",
                  [s["state"] for s in document["sources"]], ["fresh"] * len(SOURCES))


@test
def registers_alone(bed):
    """A kernel that shows no link attributes, or that fails to read them."""
    tree = bed.copy("first-customer")
    for address in ("0000:06:00.0", "0000:03:03.0"):
        for name in UNSAFE[2:6]:
            os.unlink(os.path.join(directory(tree, address), name))
    document = bed.document(tree, "pci")
    equal("drive", link(document, "0000:06:00.0"), (16, 1, 16, 4))
    equal("port", (link(document, "0000:03:03.0"), function(document, "0000:03:03.0")["kind"]),
          ((16, 1, 16, 1), "downstream_port"))


@test
def devices_that_go(bed):
    tree = bed.copy("first-customer")
    shutil.rmtree(directory(tree, "0000:0d:00.0"))
    for folder, name in (("sys/bus/pci/devices", "0000:0f:00.0"), ("sys/class/nvme", "nvme9"),
                         ("sys/class/block", "nvme9n1"), ("sys/class/block", "sdz")):
        os.symlink("../../nowhere/" + name, os.path.join(tree, folder, name))
    document = bed.document(tree)
    equal("functions", len(document["pci"]), 46)
    equal("drives", [d["name"] for d in document["nvme"]], ["nvme0", "nvme1", "nvme2", "nvme3"])
    equal("disks", document["disks"], [])
    equal("states", [s["state"] for s in document["sources"]], ["fresh"] * len(SOURCES))


@test
def slots(bed):
    tree = bed.copy("first-customer")
    for name, address in (("220297880", "0000:0c:00"), ("220297880-1", "0000:0c:00"), ("3-1", "0000:0d:00"), ("x", "nonsense"),
                          ("B\xe4y".encode("latin-1"), "0000:01:00")):
        base = os.path.join(os.fsencode(tree), b"sys/bus/pci/slots")
        folder = os.path.join(base, name if isinstance(name, bytes) else name.encode())
        os.makedirs(folder)
        with open(os.path.join(folder, b"address"), "w", encoding="ascii") as file:
            file.write(address + "\n")
    document = bed.document(tree, "pci")
    equal("made up", function(document, "0000:0c:00.0")["slot"], None)
    equal("text", function(document, "0000:0d:00.0")["slot"], "3-1")
    equal("no UTF-8", function(document, "0000:01:00.0")["slot"], "B?y")


# ---- the command line and requests ----

@test
def command_lines(bed):
    def run(*arguments):
        return subprocess.run([bed.probe, *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30,
                              check=False)

    for arguments in (("--nonsense",), ("nonsense",), ("pci", ""), ("../pci",), ("--lines=1",),
                      ("-x",), ("pci", "--json"), ("--request", "pci"), ("NVME",)):
        bad = run(*arguments)
        equal(f"exit status of {arguments}", bad.returncode, 2)
        equal(f"output of {arguments}", bad.stdout, b"")
        assert b"pnhw-probe:" in bad.stderr, arguments
    for word in (b"host", b"pci", b"nvme", b"block", b"--lines"):
        assert word in run("nonsense").stderr, f"{word} is not offered"
        assert word in run("--help").stdout, f"{word} is not explained"
    equal("--help", run("--help").returncode, 0)
    version = run("--version")
    assert version.returncode == 0 and re.fullmatch(rb"pnhw-probe \d+\.\d+\.\d+\n", version.stdout)


@test
def requests(bed):
    tree = bed.tree("first-customer")

    def run(data):
        return bed.run(tree, bed.probe, "--request", stdin=data)

    good = run(b"host nvme\n")
    equal("exit status", good.returncode, 0)
    objects, ends = split(good.stdout)
    equal("ends", list(ends), ["host", "nvme"])
    equal("objects", {kind: len(v) for kind, v in objects.items()}, {"host": 1, "nvme": 5})
    for data in (b"", b"\n", b"nvme", b"nonsense\n", b"nvme nonsense\n", b"nvme\0\n", b"\0\n",
                 b"/etc/passwd\n", b"../nvme\n", b"nvme\nhost\n", b"nvme\n\n", b" nvme\n",
                 b"nvme  host\n", b"nvme \n", b"NVME\n", b"nvme\thost\n", b"nvme\r\n", b"--help\n",
                 b"nvme " * 13 + b"nvme\n", b"x" * 65, b"x" * 100000, b"\xff\xfe\n"):
        bad = run(data)
        assert bad.returncode not in (0, None) and bad.returncode < 128, \
            f"{data[:20]!r} gives {bad.returncode}"
        equal(f"output for {data[:20]!r}", bad.stdout, b"")
    equal("12 names in 64 bytes", run(b"host " * 11 + b"block\n").returncode, 0)


@test
def a_request_that_never_comes(bed):
    reader, writer = os.pipe()
    try:
        start = time.monotonic()
        run = subprocess.run([bed.probe, "--request"], stdin=reader, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, timeout=30, check=False)
        equal("exit status", run.returncode, 1)
        assert time.monotonic() - start < 10
    finally:
        os.close(reader)
        os.close(writer)


@test
def a_reader_that_goes(bed):
    for arguments in ((), ("--lines",)):
        reader, writer = os.pipe()
        os.close(reader)
        run = subprocess.run([bed.probe, *arguments], stdout=writer, stderr=subprocess.PIPE,
                             timeout=30, check=False)
        os.close(writer)
        equal("exit status", run.returncode, 1)
        assert b"Broken pipe" in run.stderr, run.stderr


@test
def nothing_is_left_open(bed):
    """A hung read must not hold back whoever waits for the end of the output."""
    tree = bed.copy("first-customer")
    make_hanging(os.path.join(controller(tree, "nvme0"), "state"))
    start = time.monotonic()
    process = subprocess.Popen([bed.fakehost, "--quiet", tree, "--", bed.probe, "--lines", "nvme"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = process.stdout.read()
    if process.wait(timeout=10) == 77:
        raise Skip("fakehost refuses")
    assert time.monotonic() - start < 5, "the output has no end"
    equal("exit status", process.returncode, 0)
    equal("drives", len(split(output)[0]["nvme"]), 5)


# ---- cost ----

def scalars(thing):
    if isinstance(thing, dict):
        return sum(scalars(value) for value in thing.values())
    if isinstance(thing, list):
        return sum(scalars(value) for value in thing)
    return thing is not None


def system_calls(bed, tree):
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    counts = os.path.join(bed.folder, "counts")
    run = bed.run(tree, "strace", "-f", "-c", "-o", counts, bed.probe)
    equal("exit status", run.returncode, 0)
    with open(counts, encoding="utf-8") as file:
        total = int([line for line in file if line.rstrip().endswith("total")][-1].split()[3])
    return total, scalars(parse(run.stdout))


@test
def cost_is_linear(bed):
    few = bed.tree("crowd", "--drives", "24", "--functions", "120")
    many = bed.tree("crowd", "--drives", "96", "--functions", "480")
    calls, values = system_calls(bed, few)
    more_calls, more_values = system_calls(bed, many)
    assert calls <= 6 * values, f"{calls} system calls for {values} scalars"
    assert more_calls <= 6 * more_values, f"{more_calls} system calls for {more_values} scalars"
    assert more_calls <= 4 * calls, f"{more_calls} system calls after {calls} for a quarter"
    calls, values = system_calls(bed, bed.tree("first-customer"))
    assert calls <= 6 * values, f"first customer: {calls} system calls for {values} scalars"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    wanted = sys.argv[2:]
    failed = passed = 0
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    with tempfile.TemporaryDirectory(prefix="pnhw-probe-test-") as folder:
        bed = Bed(os.path.abspath(sys.argv[1]), folder)
        os.chmod(folder, 0o755)
        for function in tests:
            if wanted and function.__name__ not in wanted:
                continue
            name = "probe: " + function.__name__.replace("_", " ")
            start = time.monotonic()
            try:
                function(bed)
            except Skip as skip:
                print(f"skip - {name}: {skip}")
                continue
            except Exception as error:  # a test must not take the others with it
                failed += 1
                where = traceback.extract_tb(error.__traceback__)[-1]
                text = str(error) if isinstance(error, AssertionError) else repr(error)
                if not isinstance(error, AssertionError):
                    text += f" (line {where.lineno})"
                print(f"not ok - {name}: {text[:500]}", flush=True)
                continue
            passed += 1
            print(f"ok - {name}", flush=True)
            if "PNHW_TEST_TIMES" in os.environ:
                print(f"# {time.monotonic() - start:.1f} s", flush=True)
    sys.exit(1 if failed else 0 if passed else 77)


if __name__ == "__main__":
    main()
