#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_net.py BUILD_DIR: the sources net and module, on fake hosts whose drivers answer by ioctl, and
on real kernel objects (veth, bridge, tap) in private network namespaces, for netlink.

One line a test: "ok - name", "not ok - name: why", "skip - name: why". Exits 1 if one failed, 77 if
this machine can run no fake host.
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "bed")]

import test_probe as base
from machine import Machine
from nic_data import COPPER, link_settings, sfp
from test_probe import NOBODY, Skip, equal, one, parse, replace, unread

base.tests.clear()
test = base.test

SR = dict(ethernet_10g=0x10, om=(3, 8, 30))
FIBRE = ("FIBRE", "10000baseT/Full")


def build(bed, describe):
    """A tree of a machine that a test describes itself."""
    path = tempfile.mkdtemp(prefix="net", dir=bed.folder)
    machine = Machine(path)
    describe(machine)
    machine.write()
    return path


def card(m, *names, driver="ixgbe", ids="8086:10fb", **more):
    port = m.root_port("0000:00:01.0", gen=3, width=8, secondary=1, slot=1)
    m.nic(port, ids, gen=2, width=8, driver=driver, names=names,
          macs=[f"a0:36:9f:00:00:{i:02x}" for i in range(len(names))], **more)
    return m.nets


def nics(bed, tree, *arguments, user=None):
    document = bed.document(tree, "net", "module", *arguments, user=user)
    return {nic["id"]: nic for nic in document["nics"]}


def logged(bed, tree, *sources, options=()):
    """The requests that the probe made of drivers, one line each, and its document."""
    log = os.path.join(bed.folder, "log")
    if os.path.exists(log):
        os.unlink(log)
    run = subprocess.run([bed.fakehost, "--quiet", "--log", log, *options, tree, "--", bed.probe,
                          *(sources or ("net", "module"))], capture_output=True, check=False)
    if run.returncode == 77:
        raise Skip(run.stderr.decode(errors="replace").strip())
    equal("exit status", run.returncode, 0)
    with open(log, encoding="utf-8") as file:
        return [line.rstrip() for line in file if " ethtool " in line], parse(run.stdout)


@test
def first_customers_ports(bed):
    document = bed.machine("first-customer")
    equal("ports", [(n["id"], n["name"], n["kind"], n["reason"]) for n in document["nics"]],
          [("bond0", "bond0", "bond", None), ("enp4s0f0", "enp4s0f0", "physical", None),
           ("enp7s0", "enp7s0", "physical", None), ("enp11s0f0", "enp11s0f0", "physical", None),
           ("enp11s0f1", "enp11s0f1", "physical", None), ("vmbr0", "vmbr0", "bridge", None),
           ("0000:04:00.1", None, "physical", "no_driver")])
    port = one(document["nics"], id="enp4s0f0")
    right = dict(address="0000:04:00.0", mac="a0:36:9f:00:04:00", permanent_mac="a0:36:9f:00:04:00",
                 driver="ixgbe", firmware="0x800003df", state="up", enabled=True, carrier=True,
                 carrier_changes=2, mtu=1500, speed_mbps=10000, duplex="full",
                 autonegotiation=False, supported_mbps=[10000], partner_mbps=[], port="fibre",
                 master="vmbr0", vf_count=None, bond=None)
    equal("port", {key: port[key] for key in right}, right)
    equal("nothing unread", unread(port), {})
    module = port["module"]
    equal("module", (module["status"], module["form"], module["type"], module["vendor"],
                     module["part_number"], module["wavelength_nm"], module["checksum_ok"]),
          ("present", "SFP+", "10GBASE-SR", "Intel Corp", "E10GSFPSR", 850, True))
    equal("light", [lane["rx_power_mw"] for lane in module["diagnostics"]["lanes"]], [0.52])
    equal("nothing is left to join", document["port_modules"], [])
    bond = one(document["nics"], id="bond0")
    equal("bond", (bond["bond"]["mode"], [m["name"] for m in bond["bond"]["members"]],
                   bond["speed_mbps"], bond["mtu"]),
          ("802.3ad", ["enp11s0f0", "enp11s0f1"], 20000, 9000))
    second = one(document["nics"], id="enp11s0f1")
    equal("a member's address", (second["mac"], second["permanent_mac"]),
          (bond["mac"], "a8:5e:45:00:0b:01"))
    copper = one(document["nics"], id="enp7s0")
    equal("copper", (copper["supported_mbps"], copper["port"], copper["module"]["status"]),
          ([10, 100, 1000], "tp", "none"))


@test
def bonds_bridges_vlans(bed):
    found = {nic["id"]: nic for nic in bed.machine("lacp")["nics"]}
    bond = found["bond0"]["bond"]
    equal("bond", (bond["mode"], bond["active_aggregator"], bond["active_member"]),
          ("802.3ad", 2, None))
    equal("members", [(m["name"], m["mii_up"], m["aggregator"], m["actor_state"],
                       m["partner_mac"]) for m in bond["members"]],
          [("enp129s0f0", True, 1, 5, "00:1c:73:00:00:01"),
           ("enp129s0f1", True, 2, 61, "00:1c:73:00:00:02")])
    equal("down", found["bond1"]["bond"]["members"][1]["mii_up"], False)
    equal("masters", [found[n]["master"] for n in ("enp129s0f0", "bond0", "enp130s0f1")],
          ["bond0", "vmbr0", "bond1"])
    equal("VLAN", (found["bond1.20"]["kind"], found["bond1.20"]["lower"]), ("vlan", "bond1"))
    equal("a cable measures nothing", found["enp129s0f0"]["module"]["diagnostics"], None)
    alb = one(bed.machine("bonded")["nics"], id="bond0")["bond"]
    equal("no LACP", (alb["mode"], alb["active_aggregator"], alb["members"][0]["aggregator"]),
          ("balance-alb", None, None))


@test
def without_the_bonding_text(bed):
    """Who may not see partners does not take them for none."""
    tree = bed.copy("lacp")
    shutil.rmtree(os.path.join(tree, "proc/net/bonding"))
    bond = nics(bed, tree)["bond0"]["bond"]
    equal("partner", unread(bond["members"][0]), {"partner_mac": "permission"})
    equal("the rest", (bond["members"][0]["mii_up"], bond["members"][0]["aggregator"]), (True, 1))


@test
def virtual_functions_stay_out(bed):
    requests, document = logged(bed, bed.tree("sriov"))
    equal("ports", [(n["id"], n["vf_count"]) for n in document["nics"]],
          [("enp65s0f0np0", 64), ("enp65s0f1np1", 0)])
    assert not [line for line in requests if re.search(r"f0v\d", line)], requests


@test
def what_a_driver_says_of_speed(bed):
    def describe(m):
        ports = card(m, *(f"ens1f{i}" for i in range(5)))
        for port, speed in zip(ports, (None, 0, 65535, 100, 25000)):
            m.settings(port, link_settings(speed, duplex="half" if speed == 100 else "full",
                                           supported=COPPER, partner=("100baseT/Full",)))
    found = nics(bed, build(bed, describe))
    equal("speeds", [found[f"ens1f{i}"]["speed_mbps"] for i in range(5)],
          [None, None, None, 100, 25000])
    equal("duplex", found["ens1f3"]["duplex"], "half")
    equal("modes", (found["ens1f0"]["supported_mbps"], found["ens1f0"]["partner_mbps"]),
          ([10, 100, 1000], [100]))
    equal("nothing unread", unread(found["ens1f2"]), {})


@test
def a_driver_without_settings(bed):
    """Then sysfs has the speed, if any; what it says of none is null."""
    def describe(m):
        card(m, "ens1f0", "ens1f1", driver="virtio-pci")
    tree = build(bed, describe)
    folder = os.path.realpath(os.path.join(tree, "sys/class/net/ens1f1"))
    replace(os.path.join(folder, "speed"), b"-1\n")
    replace(os.path.join(folder, "duplex"), b"unknown\n")
    found = nics(bed, tree)
    equal("speed in sysfs", (found["ens1f0"]["speed_mbps"], found["ens1f0"]["duplex"]),
          (10000, "full"))
    equal("none", (found["ens1f1"]["speed_mbps"], found["ens1f1"]["duplex"]), (None, None))


def module_answers(*lines):
    """A machine whose only port's module is asked of a script."""
    def describe(m):
        net = card(m, "ens1f0")[0]
        m.settings(net, link_settings(10000, port="fibre", autoneg=False, supported=FIBRE))
        m.files.write("/ethtool/sr.bin", sfp("ACME", "SR", "S1", **SR))
        m.files.write("/ethtool/short.bin", sfp("ACME", "SR", "S1", **SR)[:100])
        m.ethtool += [f"ens1f0 module {line}" for line in lines]
    return describe


@test
def modules_that_do_not_answer(bed):
    for lines, status in (
            (["errno:EIO"], "unreadable"),
            (["errno:EBUSY"], "unreadable"),
            (["errno:ETIMEDOUT"], "unreadable"),
            (["errno:EINVAL"], "unsupported_by_driver"),
            (["errno:EOPNOTSUPP"], "unsupported_by_driver"),
            (["errno:EPERM"], "permission_denied"),
            (["file:ethtool/short.bin type=SFF-8472"], "unsupported_by_driver"),
            # Busy once, then well: one more try.
            (["errno:EBUSY times=1", "file:ethtool/sr.bin type=SFF-8472"], "present"),
            # Pulled out after its first page was read (the first of these is GMODULEINFO).
            (["file:ethtool/sr.bin type=SFF-8472 times=2", "errno:EIO"], "unreadable")):
        port = nics(bed, build(bed, module_answers(*lines)))["ens1f0"]
        equal(f"status after {lines}", port["module"]["status"], status)
        equal(f"the port itself after {lines}", (port["speed_mbps"], unread(port)), (10000, {}))


@test
def a_page_that_fails(bed):
    """The module stays; what was on that page is unread, and nothing else."""
    tree = build(bed, module_answers("file:ethtool/sr.bin type=SFF-8472 times=2",
                                     "errno:EIO times=2", "file:ethtool/sr.bin type=SFF-8472"))
    module = nics(bed, tree)["ens1f0"]["module"]
    equal("identity", (module["status"], module["serial"]), ("present", "S1"))
    equal("diagnostics", (module["diagnostics"], unread(module)), (None, {"diagnostics": "io"}))


@test
def an_empty_cage(bed):
    def describe(m):
        net = card(m, "ens1f0", state="down")[0]
        m.settings(net, link_settings(None, duplex=None, port="none", autoneg=False,
                                      supported=FIBRE))
        m.ethtool.append("ens1f0 module errno:EIO")
    port = nics(bed, build(bed, describe))["ens1f0"]
    equal("port", (port["port"], port["carrier"], port["speed_mbps"]), ("none", False, None))
    equal("module", port["module"]["status"], "none")


@test
def copper_ports(bed):
    """Most have no cage, but a copper module has a memory: what is known is what the driver says."""
    for answer, status in (("errno:EOPNOTSUPP", "none"), ("errno:EINVAL", "none"),
                           ("errno:EIO", "unreadable"), ("errno:EPERM", "permission_denied")):
        def describe(m):
            net = card(m, "ens1f0")[0]
            m.settings(net, link_settings(1000, supported=COPPER))
            m.ethtool.append(f"ens1f0 module {answer}")
        equal(answer, nics(bed, build(bed, describe))["ens1f0"]["module"]["status"], status)


@test
def modules_alone(bed):
    """Asked for modules alone, the probe has no ports to put them in."""
    document = bed.document(bed.tree("lacp"), "module")
    equal("modules", [(m["name"], m["module"]["status"]) for m in document["port_modules"]],
          [(name, "present") for name in ("enp129s0f0", "enp129s0f1", "enp130s0f0", "enp130s0f1")])


@test
def few_reads_of_a_module(bed):
    """A cable's A0h alone; of a module with diagnostics A2h as well; nothing twice."""
    requests, _ = logged(bed, bed.tree("lacp"), "module")
    reads = {}
    for line in requests:
        name = line.split()[0]
        reads[name] = reads.get(name, 0) + ("module command=0x43" in line)
    equal("reads", reads, {"enp129s0f0": 1, "enp129s0f1": 1, "enp130s0f0": 2, "enp130s0f1": 2})


# ---- what is kept of a module between runs ----

CORPUS = os.path.join(os.path.dirname(HERE), "fuzz", "corpus", "module")


def stored(name):
    with open(os.path.join(CORPUS, name), "rb") as file:
        return file.read()


def one_module(*lines, state="up"):
    """A machine with one port; `lines` answer for its module from files a.bin, b.bin, ...."""
    def describe(m):
        net = card(m, "ens1f0", state=state)[0]
        m.settings(net, link_settings(10000 if state == "up" else None, port="fibre",
                                      autoneg=False, supported=FIBRE))
        m.files.write("/ethtool/a.bin", sfp("ACME", "SR", "S1", temperature=30, **SR))
        m.files.write("/ethtool/b.bin", sfp("ACME", "SR", "S2", temperature=40, **SR))
        # The same module, later, and as if somebody had changed what does not change.
        m.files.write("/ethtool/later.bin", sfp("OTHER", "XX", "S1", temperature=50, **SR))
        m.files.write("/ethtool/qsfp.bin", stored("qsfp-sr4"))
        m.files.write("/ethtool/cmis.bin", stored("cmis-dr4"))
        m.ethtool += [f"ens1f0 module {line}" for line in lines]
    return describe


def runs(bed, tree, *steps):
    """Runs the probe, then each step, a line of shell, and the probe again. For each run the spans
    of the module's memory that were read, and the module."""
    log = os.path.join(bed.folder, "log")
    if os.path.exists(log):
        os.unlink(log)
    line = f"{bed.probe} net module; echo '#' >>{log}"
    lines = "N=/sys/class/net/ens1f0 R=/run/pnhw-probe/pages-ens1f0; "
    lines += "; ".join([line] + [f"{step}; {line}" for step in steps])
    run = subprocess.run([bed.fakehost, "--quiet", "--log", log, tree, "--", "sh", "-c", lines],
                         capture_output=True, check=False)
    if run.returncode == 77:
        raise Skip(run.stderr.decode(errors="replace").strip())
    equal("exit status and complaints", (run.returncode, run.stderr), (0, b""))
    modules = [parse(line)["nics"][0]["module"] for line in run.stdout.splitlines()]
    with open(log, encoding="utf-8") as file:
        parts = file.read().split("#\n")[:-1]
    reads = [re.findall(r"command=0x43 offset=(\d+) length=(\d+)", part) for part in parts]
    return [([(int(at), int(n)) for at, n in part], module)
            for part, module in zip(reads, modules, strict=True)]


def celsius(module):
    return module["diagnostics"]["temperature_c"]


ALL_OF_SFP, READINGS, SERIAL = [(0, 128), (256, 128)], (352, 22), (63, 33)


@test
def pages_are_read_once(bed):
    """Then readings alone; what does not change comes from the first time."""
    lines = ("file:ethtool/a.bin type=SFF-8472 times=3", "file:ethtool/later.bin type=SFF-8472")
    first, second, third = runs(bed, build(bed, one_module(*lines)), "true", "true")
    equal("first", (first[0], celsius(first[1])), (ALL_OF_SFP, 30))
    equal("second", (second[0], celsius(second[1])), ([READINGS], 50))
    equal("identity", [second[1][key] for key in ("vendor", "part_number", "serial")],
          ["ACME", "SR", "S1"])
    equal("the same limits", second[1]["diagnostics"]["thresholds"],
          first[1]["diagnostics"]["thresholds"])
    equal("third", third, second)


@test
def pages_of_other_maps(bed):
    for name, whole, again in (("qsfp", [(0, 128), (128, 128), (512, 128)], [(0, 128)]),
                               ("cmis", [(0, 128), (128, 128), (256, 128), (384, 128)],
                                [(0, 128)])):
        first, second = runs(bed, build(bed, one_module(f"file:ethtool/{name}.bin type=SFF-8636")),
                             "true")
        equal(f"{name}: reads", (first[0], second[0]), (whole, again))
        equal(f"{name}: modules", first[1], second[1])
        assert first[1]["serial"], first[1]


@test
def pages_are_read_anew(bed):
    """After a change of carrier or interface, or of the record; none of these is trusted less than
    wholly."""
    for what, step in (("carrier", "echo 4 >$N/carrier_changes"), ("index", "echo 99 >$N/ifindex"),
                       ("torn", "truncate -s 700 $R"), ("empty", "truncate -s 0 $R"),
                       ("gone", "rm $R"),
                       ("changed", "printf x | dd of=$R bs=1 seek=600 conv=notrunc 2>/dev/null"),
                       ("no counter", "rm $N/carrier_changes")):
        lines = ("file:ethtool/a.bin type=SFF-8472 times=3", "file:ethtool/b.bin type=SFF-8472")
        first, second = runs(bed, build(bed, one_module(*lines)), step)
        equal(f"{what}: reads", (first[0], second[0]), (ALL_OF_SFP, ALL_OF_SFP))
        equal(f"{what}: serial", (first[1]["serial"], second[1]["serial"]), ("S1", "S2"))


@test
def another_module_without_a_link(bed):
    """Nobody counts when a module is exchanged that had no link: its serial number tells."""
    lines = ("file:ethtool/a.bin type=SFF-8472 times=6", "file:ethtool/b.bin type=SFF-8472")
    first, second, third, fourth = runs(bed, build(bed, one_module(*lines, state="down")), "true",
                                        "true", "true")
    equal("the same", (second[0], second[1]["serial"]), ([SERIAL, READINGS], "S1"))
    equal("another", (third[0], third[1]["serial"], celsius(third[1])),
          ([SERIAL] + ALL_OF_SFP, "S2", 40))
    equal("then that", (fourth[0], fourth[1]["serial"]), ([SERIAL, READINGS], "S2"))
    equal("first", first[1]["serial"], "S1")


@test
def doubtful_pages_are_not_kept(bed):
    """A page that failed, and a checksum that is wrong: it may be the reading that was."""
    bad = bytearray(sfp("ACME", "SR", "S1", **SR))
    bad[63] ^= 1

    def damaged(m):
        one_module("file:ethtool/bad.bin type=SFF-8472")(m)
        m.files.write("/ethtool/bad.bin", bytes(bad))
    for describe, expected in (
            (damaged, [ALL_OF_SFP, ALL_OF_SFP]),
            (one_module("file:ethtool/a.bin type=SFF-8472 times=2", "errno:EIO times=2",
                        "file:ethtool/a.bin type=SFF-8472"),
             [[(0, 128), (256, 128), (256, 128), (0, 128)], ALL_OF_SFP])):
        found = runs(bed, build(bed, describe), "true")
        equal("reads", [reads for reads, _ in found], expected)


@test
def pages_that_are_not_there_yet(bed):
    """A module that was just pushed in may show blank pages, or say that it has no readings yet."""
    ready = bytearray(sfp("ACME", "SR", "S1", **SR))
    early = bytearray(ready)
    early[256 + 96:256 + 106] = bytes(10)
    early[256 + 110] |= 1
    whole = bytearray(stored("qsfp-sr4"))
    blank = whole[:512] + bytes(128)
    for what, before, after, kind in (("no readings", early, ready, "SFF-8472"),
                                      ("a blank page", blank, whole, "SFF-8636")):
        def describe(m):
            one_module(f"file:ethtool/before.bin type={kind} times={3 if kind[-1] == '2' else 4}",
                       f"file:ethtool/after.bin type={kind}")(m)
            m.files.write("/ethtool/before.bin", bytes(before))
            m.files.write("/ethtool/after.bin", bytes(after))
        first, second, third = runs(bed, build(bed, describe), "true", "true")
        equal(f"{what}: as many reads", second[0], first[0])
        assert len(third[0]) == 1, third[0]
        assert second[1]["diagnostics"]["thresholds"]["temperature"], second[1]
        equal(f"{what}: kept", third[1], second[1])


@test
def records_of_root(bed):
    """What root reads by hand is for the probe's own user as well, by the group of the folder."""
    runs(bed, build(bed, one_module("file:ethtool/a.bin type=SFF-8472")),
         "test $(id -u) != 0 || test $(stat -c %a $R) = 660 || exit 9")


@test
def readings_that_fail(bed):
    """Then the module is read as if it were new, and is what it is then: nothing is left over."""
    for answer, status in (("errno:EIO", "unreadable"), ("errno:EBUSY", "unreadable"),
                           ("errno:EPERM", "permission_denied"),
                           ("errno:EOPNOTSUPP", "unsupported_by_driver")):
        lines = ("file:ethtool/a.bin type=SFF-8472 times=3", answer)
        first, second = runs(bed, build(bed, one_module(*lines)), "true")
        equal(answer, (first[1]["status"], second[1]["status"], second[1]["serial"],
                       second[1]["diagnostics"]), ("present", status, None, None))
    # Busy once: one more try, and still only the readings.
    lines = ("file:ethtool/a.bin type=SFF-8472 times=4", "errno:EBUSY times=1",
             "file:ethtool/later.bin type=SFF-8472")
    _, second = runs(bed, build(bed, one_module(*lines)), "true")
    equal("busy", (second[0], second[1]["serial"], celsius(second[1])),
          ([READINGS, READINGS], "S1", 50))


@test
def without_a_place_for_records(bed):
    tree = build(bed, one_module("file:ethtool/a.bin type=SFF-8472"))
    found = runs(bed, tree, "rmdir /run/pnhw-probe 2>/dev/null || rm -r /run/pnhw-probe; "
                 "touch /run/pnhw-probe; unset XDG_RUNTIME_DIR")
    equal("reads", [reads for reads, _ in found], [ALL_OF_SFP] * 2)
    equal("modules", found[0][1], found[1][1])


# ---- what goes wrong between two questions ----

@test
def a_link_that_is_not_told(bed):
    """Each error of a driver is an unread speed with its reason, where sysfs has none either."""
    for answer, reason in (("EBUSY", "io"), ("EIO", "io"), ("EINVAL", "malformed"),
                           ("EPERM", "permission"), ("EOPNOTSUPP", "unsupported"),
                           ("ENODEV", "unsupported")):
        def describe(m):
            card(m, "ens1f0")
            m.ethtool = [line for line in m.ethtool if " settings " not in line]
            m.ethtool.append(f"ens1f0 settings errno:{answer}")
        tree = build(bed, describe)
        folder = os.path.realpath(os.path.join(tree, "sys/class/net/ens1f0"))
        replace(os.path.join(folder, "speed"), b"-1\n")
        port = nics(bed, tree)["ens1f0"]
        equal(answer, (port["speed_mbps"], port["supported_mbps"], port["port"]), (None, None, None))
        equal(f"{answer}: why", {unread(port)[key] for key in ("speed_mbps", "supported_mbps",
                                                               "port")}, {reason})


@test
def cut_pages(bed):
    """A driver that hands out less than a page: what is on it is unread, and nothing else."""
    def describe(m):
        one_module("file:ethtool/cut.bin type=SFF-8472")(m)
        m.files.write("/ethtool/cut.bin", sfp("ACME", "SR", "S1", **SR)[:256 + 64])
    module = nics(bed, build(bed, describe))["ens1f0"]["module"]
    equal("identity", (module["status"], module["serial"]), ("present", "S1"))
    equal("diagnostics", unread(module), {"diagnostics": "unsupported"})


@test
def another_module_in_the_middle(bed):
    """One was pulled out and another pushed in while pages were read: neither is told of."""
    tree = build(bed, one_module("file:ethtool/a.bin type=SFF-8472 times=2", "errno:EIO times=2",
                                 "file:ethtool/qsfp.bin type=SFF-8636"))
    module = nics(bed, tree)["ens1f0"]["module"]
    equal("module", (module["status"], module["serial"]), ("unreadable", None))


def changed_while_asked(bed, command, change, source):
    """The objects of a port that changes while its driver is asked `command`. Whether the change
    came in time is a matter of luck on a busy machine: so it is tried a few times."""
    def describe(m):
        nets = card(m, "ens1f0", "ens1f1")
        for net in nets:
            m.settings(net, link_settings(10000, port="fibre", autoneg=False, supported=FIBRE))
            m.files.write("/ethtool/a.bin", sfp("ACME", "SR", "S1", **SR))
        m.ethtool.insert(0, f"ens1f0 {command[0]} {command[1]} delay=1000 times=1")
        m.ethtool += ["ens1f0 module file:ethtool/a.bin type=SFF-8472",
                      "ens1f1 module file:ethtool/a.bin type=SFF-8472"]
    log = os.path.join(bed.folder, "log")
    script = (f"N=/sys/class/net/ens1f0; {bed.probe} {source} & "
              f"until grep -q 'ens1f0 ethtool {command[0]}' {log}; do sleep 0.02; done; {change}; "
              "wait $!")
    for _ in range(5):
        if os.path.exists(log):
            os.unlink(log)
        run = subprocess.run([bed.fakehost, "--quiet", "--log", log, build(bed, describe), "--",
                              "sh", "-c", script], capture_output=True, check=False, timeout=120)
        if run.returncode == 77:
            raise Skip(run.stderr.decode(errors="replace").strip())
        document = parse(run.stdout)
        names = [o["name"] for o in document["nics" if source == "net" else "port_modules"]
                 if o["name"]]
        if "ens1f0" not in names:
            break
    return names


@test
def interfaces_that_change_while_asked(bed):
    """Renamed, gone, or moved to another name space between two questions: what was answered may be
    another's, so the port is left to the next run. The others are told of."""
    drvinfo = ("drvinfo", "ok driver=ixgbe")
    for change in ("echo 99 >$N/ifindex", "rm $N/ifindex"):
        equal(f"net: {change}", changed_while_asked(bed, drvinfo, change, "net"), ["ens1f1"])
    module = ("module", "file:ethtool/a.bin type=SFF-8472")
    for change in ("echo 99 >$N/ifindex", "rm $N/ifindex"):
        equal(f"module: {change}", changed_while_asked(bed, module, change, "module"), ["ens1f1"])


@test
def names_that_change_places(bed):
    """Asked by index and name, the kernel answers for neither where these have come apart."""
    def describe(m):
        nets = card(m, "ens1f0", "ens1f1")
        for net, speed in zip(nets, (10000, 100)):
            net["speed"] = speed
            m.ethtool.append(f"{net['name']} settings errno:EOPNOTSUPP")
    tree = build(bed, describe)
    swap = ("for n in ens1f0 ens1f1; do ip link set $n down; done; ip link set ens1f0 name x && "
            "ip link set ens1f1 name ens1f0 && ip link set x name ens1f1 && "
            "ip link set ens1f0 up && ip link set ens1f1 up || exit 78; exec \"$0\" net")
    if not shutil.which("ip"):
        raise Skip("ip is not installed")
    run = subprocess.run([bed.fakehost, "--quiet", "--links", tree, "--", "sh", "-c", swap,
                          bed.probe], capture_output=True, check=False)
    if run.returncode in (77, 78):
        raise Skip(run.stderr.decode(errors="replace").strip())
    found = {nic["id"]: nic for nic in parse(run.stdout)["nics"]}
    equal("speeds", [found[name]["speed_mbps"] for name in ("ens1f0", "ens1f1")], [10000, 100])
    for name in ("ens1f0", "ens1f1"):
        equal(name, unread(found[name]).get("supported_mbps"), "unsupported")


@test
def without_privileges(bed):
    port = nics(bed, bed.tree("first-customer"), user=NOBODY)["enp4s0f0"]
    equal("module", port["module"]["status"], "permission_denied")
    equal("speed", port["speed_mbps"], 10000)


@test
def asleep_stays_asleep(bed):
    def describe(m):
        net = card(m, "ens1f0")[0]
        m.settings(net, link_settings(10000, supported=COPPER))
        m.suspend(m.functions[-1])
    requests, document = logged(bed, build(bed, describe))
    port = document["nics"][0]
    equal("requests", requests, [])
    assert set(unread(port).values()) == {"asleep"}, unread(port)
    assert {"speed_mbps", "supported_mbps", "firmware", "module"} <= set(unread(port)), unread(port)
    equal("what sysfs says", (port["carrier"], port["mac"]), (True, "a0:36:9f:00:00:00"))


@test
def unplugged_usb_adapter(bed):
    """Some take seconds to say that they have no link: they are not asked."""
    def describe(m):
        port = m.root_port("0000:00:01.0", gen=3, width=4, secondary=1)
        usb = m.endpoint(port, "1022:149c", 0x0c0330, gen=3, width=4, driver="xhci_hcd")
        device = f"{usb.path}/usb1/1-2/1-2:1.0"
        m.files.write(f"{device}/uevent", b"DEVTYPE=usb_interface\nDRIVER=r8152\n")
        m.net("enxa", device=device, mac="00:e0:4c:00:00:01", state="down")
        m.ethtool += ["enxa settings hang", "enxa drvinfo hang", "enxa permaddr hang",
                      "enxa module hang"]
    requests, document = logged(bed, build(bed, describe))
    equal("requests", requests, [])
    adapter = document["nics"][0]
    equal("adapter", (adapter["id"], adapter["address"], adapter["carrier"],
                      adapter["module"]["status"]), ("enxa", None, False, "none"))


@test
def a_driver_that_hangs(bed):
    def describe(m):
        first, second = card(m, "ens1f0", "ens1f1")
        m.ethtool.append("ens1f0 settings hang")
        m.settings(second, link_settings(10000, supported=COPPER))
    objects, ends = bed.lines(build(bed, describe), "net")
    hung, other = objects["nic"]
    equal("key alone", (hung["id"], set(unread(hung).values())), ("ens1f0", {"timeout"}))
    equal("the other", (other["id"], other["speed_mbps"]), ("ens1f1", 10000))
    equal("the source is well", ends["net"]["reason"], None)


@test
def functions_without_an_interface(bed):
    def describe(m):
        port = m.root_port("0000:00:01.0", gen=3, width=8, secondary=1)
        for number, driver in enumerate(("vfio-pci", "ixgbe", "ixgbe", None, "virtio-pci", "virtio-pci")):
            m.endpoint(port, "8086:10fb", 0x020000, gen=2, width=8, number=number, driver=driver)
        m.files.folder(f"{m.functions[3].path}/net")
        m.files.folder(f"{m.functions[5].path}/virtio0")
        m.files.folder(f"{m.functions[6].path}/virtio1/net")
    found = nics(bed, build(bed, describe))
    equal("reasons", {nic["id"]: nic["reason"] for nic in found.values()},
          {"0000:01:00.0": "passed_through", "0000:01:00.1": "none_made",
           "0000:01:00.2": "other_namespace", "0000:01:00.3": "no_driver",
           "0000:01:00.4": "none_made", "0000:01:00.5": "other_namespace"})
    equal("modules", {nic["module"] is None for nic in found.values()}, {True})


@test
def another_interface_of_the_same_name(bed):
    """What the kernel of this machine says of an interface with the same name and another index is
    not about the one in sysfs."""
    tree = bed.copy("first-customer")
    folder = os.path.realpath(os.path.join(tree, "sys/class/net/enp4s0f0"))
    replace(os.path.join(folder, "ifindex"), b"77\n")
    _, document = logged(bed, tree, options=("--links",))
    port = one(document["nics"], id="enp4s0f0")
    equal("from sysfs", (port["master"], port["state"], port["speed_mbps"]), ("vmbr0", "up", 10000))


# ---- netlink, on recorded replies ----

# Commands of ethtool's family, and those of their answers (linux/ethtool_netlink.h).
PORT, MODES, STATE, FEC, STATS = (2, 2), (4, 4), (6, 6), (29, 30), (32, 33)


def attr(kind, content):
    """A number is (size, value), a list a nest."""
    if isinstance(content, list):
        kind, content = kind | 0x8000, b"".join(content)
    elif isinstance(content, tuple):
        content = content[1].to_bytes(content[0], sys.byteorder)
    return struct.pack("=HH", 4 + len(content), kind) + content + bytes(-len(content) % 4)


def bits(*numbers):
    return sum(1 << n for n in numbers).to_bytes(16, "little")


def modes(speed, supported, autoneg=1):
    """10000baseSR is 43, 25000baseSR 33, 400000baseDR4 72."""
    return MODES, [attr(2, (1, autoneg)), attr(3, [attr(2, (4, 121)), attr(4, bits(*supported)),
                                                   attr(5, bits(10, *supported))]),
                   attr(5, (4, speed)), attr(6, (1, 1))]


def fec(active, *configured, corrected=None, lost=None):
    counters = [attr(number, struct.pack("=Q", value))
                for number, value in ((2, corrected), (3, lost)) if value is not None]
    return FEC, [attr(2, [attr(1, b""), attr(2, (4, 121)), attr(4, bits(*configured))]),
                 attr(3, (1, 1)), attr(4, (4, active)), attr(5, counters)]


def stats(fcs, symbol, oversize):
    """Without those that are None."""
    groups = [(0, 0, symbol), (1, 4, fcs), (3, 1, oversize)]
    return STATS, [attr(4, [attr(2, (4, group)), attr(3, (4, 18)),
                            *([attr(4, [attr(number, struct.pack("=Q", value))])]
                              if value is not None else [])]) for group, number, value in groups]


def replayed(bed, replies, files=None, state="up", speed=10000, steps=("",), driver="ixgbe",
             more=lambda machine: None):
    """Runs the probe on a port whose driver answers by netlink. For each of the steps, which are
    shell before the run: the requests, and the port. `files`: what else is in the folder; `more`
    describes more of the machine."""
    library = os.path.join(os.path.dirname(bed.fakehost), "libnetlinkreplay.so")
    folder = tempfile.mkdtemp(prefix="replay", dir=bed.folder)

    def describe(m):
        card(m, "ens1f0", state=state, speed=speed, driver=driver)
        # By ioctl a driver of these days has the same; here none, to tell the two ways apart.
        m.ethtool = [line for line in m.ethtool if " settings " not in line]
        more(m)
        m.ethtool += ["ens1f0 settings errno:EOPNOTSUPP", "ens1f0 module errno:EOPNOTSUPP"]
    for (command, reply), content in replies:
        with open(os.path.join(folder, f"ens1f0-{command}"), "wb") as file:
            file.write(struct.pack("=BBH", reply, 1, 0) + b"".join(content))
    for name, content in (files or {}).items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    line = (f"LD_PRELOAD={library} NETLINK_REPLAY={folder} {bed.probe} net module; "
            f"echo '#' >>{folder}/log")
    script = f"R={folder}; N=/sys/class/net/ens1f0; " + "; ".join(
        f"{step}; {line}" if step else line for step in steps)
    run = subprocess.run([bed.fakehost, "--quiet", build(bed, describe), "--", "sh", "-c", script],
                         capture_output=True, check=False, timeout=120,
                         env=dict(os.environ, ASAN_OPTIONS="verify_asan_link_order=0:"
                                  + base.NO_LEAKS))
    if run.returncode == 77:
        raise Skip(run.stderr.decode(errors="replace").strip())
    equal("exit status and complaints", (run.returncode, run.stderr), (0, b""))
    with open(os.path.join(folder, "log"), encoding="utf-8") as file:
        logs = [part.splitlines() for part in file.read().split("#\n")[:-1]]
    ports = [one(parse(line)["nics"], id="ens1f0") for line in run.stdout.splitlines()]
    found = [([line.replace("ens1f0-", "") for line in log], port)
             for log, port in zip(logs, ports, strict=True)]
    if not any(log for log, _ in found):
        raise Skip("this kernel has no ethtool netlink family")
    return found


def pages_of(name):
    """What the kernel would read of a stored module: {page: 256 bytes}, as replayed() has them."""
    content = stored(name)
    if name.startswith("sfp"):
        return {"ens1f0-50-0": content[:256], "ens1f0-51-0": content[256:]}
    order = (0, 1, 2, 3, 0x11)
    pages = {f"ens1f0-50-{page:x}": bytes(128) + content[128 * i + 128:128 * i + 256]
             for i, page in enumerate(order)}
    pages["ens1f0-50-0"] = content[:256]
    return pages


@test
def fast_links_by_netlink(bed):
    """With error correction that counts, without which the standard counters do."""
    replies = [modes(25000, (33,)), (PORT, [attr(2, (1, 3))]),
               fec(50, 50, 51, corrected=1234567, lost=2), stats(1, 2, 3)]
    [(requests, port)] = replayed(bed, replies, speed=25000)
    # The last two are about a module that the driver does not hand out.
    equal("requests", requests, ["4 0 0", "29 0 0", "2 0 0", "50-0 0 128", "2 0 0"])
    equal("link", (port["speed_mbps"], port["duplex"], port["supported_mbps"], port["port"]),
          (25000, "full", [25000], "fibre"))
    equal("correction", (port["fec"], port["fec_configured"]), ("rs", ["auto", "rs", "baser"]))
    equal("counters", {key: port["errors"][key] for key in
                       ("fec_corrected", "fec_uncorrectable", "fcs", "symbol", "oversize")},
          dict(fec_corrected=1234567, fec_uncorrectable=2, fcs=None, symbol=None, oversize=None))
    equal("nothing unread", unread(port), {})
    # Then the connector is asked for by ioctl, since that makes three requests already.
    settings = link_settings(25000, port="da", autoneg=False, supported=FIBRE)
    [(requests, port)] = replayed(bed, [*replies[:2], fec(49, 49), replies[3]], speed=25000,
                                  more=lambda m: m.settings(m.nets[0], settings))
    equal("none", (port["fec"], port["errors"]["fec_corrected"], port["errors"]["symbol"]),
          ("none", None, 2))
    equal("requests", (requests[:-2], port["port"]), (["4 0 0", "29 0 0", "32 0 0"], "da"))
    # One that counts no blocks, or does not say whether there is correction: not symbols, which may
    # have been corrected.
    for without in (fec(50, 50), None):
        found = replayed(bed, [*replies[:2], *([without] if without else []), replies[3]],
                         speed=25000)
        equal("requests", found[0][0][:3], ["4 0 0", "29 0 0", "32 0 0"])
        equal("counters", [found[0][1]["errors"][key] for key in ("fcs", "symbol", "oversize")],
              [1, None, 3])
    # Of four lanes of 10 Gb/s nobody expects correction.
    [(requests, port)] = replayed(bed, [modes(40000, (23,)), replies[1], replies[3]], speed=40000)
    equal("40 Gb/s", (requests[:-2], port["port"], port["errors"]["symbol"]),
          (["4 0 0", "32 0 0", "2 0 0"], "fibre", 2))


@test
def counters_by_netlink(bed):
    replies = [modes(10000, (43,)), (PORT, [attr(2, (1, 3))]), stats(4, None, 1 << 63)]
    [(requests, port)] = replayed(bed, replies)
    equal("requests", requests, ["4 0 0", "32 0 0", "2 0 0", "50-0 0 128", "2 0 0"])
    equal("counters", [port["errors"][key] for key in ("fcs", "symbol", "oversize")],
          [4, None, None])
    equal("too large", unread(port["errors"]), {"oversize": "overflow"})
    equal("no correction is asked for", (port["fec"], unread(port)), (None, {}))
    # A kernel before 5.13, or a driver that has none: they do not apply.
    [(_, port)] = replayed(bed, replies[:2])
    equal("none", [port["errors"][key] for key in ("fcs", "symbol", "oversize")], [None] * 3)
    equal("nothing unread", (unread(port), unread(port["errors"])), ({}, {}))
    for answer in (b"16", b"5", b"19", b"22", b"1"):
        [(_, port)] = replayed(bed, replies[:2], {"ens1f0-32.errno": answer})
        equal(f"error {answer}", (port["speed_mbps"], port["errors"]["fcs"]), (10000, None))


@test
def counters_by_name(bed):
    """What standard counters are with those drivers that have none by netlink, or on kernels that
    have no such way: of each driver the names that it has, and each is asked once."""
    for driver, speed, values, right in (
            ("ixgbe", 10000, dict(rx_crc_errors=4, rx_long_length_errors=2, rx_errors=9), (4, None, 2)),
            ("i40e", 10000, dict(rx_crc_errors=1, port__rx_crc_errors=5, port__rx_oversize=0,
                                 port__illegal_bytes=7), (5, None, 0)),
            ("ice", 10000, dict(rx_crc_errors__nic=6, rx_oversize__nic=1), (6, None, 1)),
            ("igb", 1000, dict(rx_crc_errors=3, rx_long_length_errors=0), (3, None, 0)),
            ("tg3", 1000, dict(rx_fcs_errors=8, rx_frame_too_long_errors=5), (8, None, None)),
            ("mlx5_core", 10000, dict(rx_crc_errors_phy=2, rx_symbol_err_phy=3,
                                      rx_oversize_pkts_phy=4), (2, 3, None)),
            ("mlx5_core", 25000, dict(rx_crc_errors_phy=2, rx_symbol_err_phy=3), (2, None, None)),
            # Of others their names mean nothing here, and they are not asked.
            ("r8169", 1000, dict(align_errors=3, rx_crc_errors=5), None),
            ("acme", 10000, dict(rx_crc_errors=3), None)):
        def describe(m):
            net = card(m, "ens1f0", driver=driver, speed=speed)[0]
            m.settings(net, link_settings(speed, supported=COPPER))
            m.counters(net, **values)
        requests, document = logged(bed, build(bed, describe), "net")
        errors = document["nics"][0]["errors"]
        equal(f"{driver}: counters", [errors[key] for key in ("fcs", "symbol", "oversize")],
              list(right or [None] * 3))
        equal(f"{driver}: requests", [line.split()[-1] for line in requests if " stats " in line],
              ["command=0x1b", "command=0x1d"] if right else [])

    blocks = dict(rx_fcs_err_frames=1, rx_fec_corrected_blocks=70000, rx_fec_uncorrectable_blocks=2,
                  rx_pcs_symbol_err=5, rx_ovrsz_frames=1 << 63)
    def describe(m):
        net = card(m, "ens1f0", driver="bnxt_en", speed=25000)[0]
        m.settings(net, link_settings(25000, supported=FIBRE))
        m.counters(net, **blocks)
    errors = nics(bed, build(bed, describe))["ens1f0"]["errors"]
    equal("blocks", [errors[key] for key in ("fcs", "fec_corrected", "fec_uncorrectable", "symbol")],
          [1, 70000, 2, None])
    equal("too large", unread(errors), {"oversize": "overflow"})


@test
def counters_by_name_that_fail(bed):
    """They are left out; nothing else of the port is."""
    def describe(m, state="up"):
        net = card(m, "ens1f0", state=state)[0]
        m.settings(net, link_settings(10000 if state == "up" else None, supported=COPPER))
        m.counters(net, rx_crc_errors=4)
    for answers in (["errno:EIO"], ["file:ethtool/ens1f0.stats times=1", "errno:EOPNOTSUPP"],
                    # Others than the driver said that it has, and more than there were a moment ago.
                    ["file:ethtool/ens1f0.stats times=1", "file:ethtool/more.stats"]):
        def failing(m):
            describe(m)
            m.files.write("/ethtool/more.stats", b"".join(b"q%d 7\n" % i for i in range(90)))
            m.ethtool[-1:] = [f"ens1f0 stats {answer}" for answer in answers]
        port = nics(bed, build(bed, failing))["ens1f0"]
        equal(f"{answers}", (port["errors"]["fcs"], port["speed_mbps"], unread(port["errors"]),
                             unread(port)), (None, 10000, {}, {}))
    requests, _ = logged(bed, build(bed, lambda m: describe(m, "down")), "net")
    equal("without a link", [line for line in requests if " stats " in line], [])


@test
def standard_counters_come_first(bed):
    """What the kernel calls standard wins; a driver that has them is not asked for its own."""
    replies = [modes(10000, (43,)), (PORT, [attr(2, (1, 3))])]
    for answer, right in ((stats(1, 2, 3), (1, 2, 3)), (stats(None, None, 3), (None, None, 3)),
                          (stats(None, None, None), (40, None, 50)), (None, (40, None, 50))):
        [(requests, port)] = replayed(
            bed, [*replies, *([answer] if answer else [])],
            more=lambda m: m.counters(m.nets[0], rx_crc_errors=40, rx_long_length_errors=50))
        equal("counters", tuple(port["errors"][key] for key in ("fcs", "symbol", "oversize")), right)
        equal("requests", requests[:3], ["4 0 0", "32 0 0", "2 0 0"])


@test
def no_link_by_netlink(bed):
    replies = [modes(0xffffffff, (43,)), (PORT, [attr(2, (1, 5))]),
               (STATE, [attr(2, (1, 0)), attr(5, (1, 5)), attr(6, (1, 1))])]
    [(requests, port)] = replayed(bed, replies, state="down")
    equal("port", (port["speed_mbps"], port["port"], port["link_reason"]),
          (None, "da", "unsupported cable") if port["enabled"] else (None, "da", None))
    assert not [line for line in requests if line.startswith(("29", "32"))], requests


@test
def module_pages_by_netlink(bed):
    """All that is ever asked of a port in a run: eight requests, for a CMIS module the first time;
    then its lower memory and page 11h alone."""
    replies = [modes(400000, (72,)), (PORT, [attr(2, (1, 3))]), fec(50, 50, corrected=9, lost=0),
               stats(1, 1, 1)]
    first, second, third = replayed(bed, replies, pages_of("cmis-dr4"), speed=400000,
                                    steps=("", "true", "echo 9 >$N/carrier_changes"))
    pages = ["50-0 0 128", "50-0 128 128", "50-1 128 128", "50-2 128 128", "50-11 128 128"]
    equal("first", first[0], ["4 0 0", "29 0 0", "2 0 0", *pages])
    equal("second", second[0], ["4 0 0", "29 0 0", "2 0 0", pages[0], pages[4]])
    equal("after a change of carrier", third[0], first[0])
    equal("module", (first[1]["module"]["standard"], first[1]["module"]["status"]),
          ("CMIS", "present"))
    assert first[1]["module"]["diagnostics"]["lanes"], first[1]["module"]
    equal("the same", second[1]["module"], first[1]["module"])

    for name, whole, again in (("qsfp-sr4", ["50-0 0 128", "50-0 128 128", "50-3 128 128"],
                                ["50-0 0 128"]),
                               ("sfp-lrm", ["50-0 0 128", "51-0 0 128"], ["51-0 96 22"])):
        first, second = replayed(bed, replies[:2], pages_of(name), steps=("", "true"))
        equal(f"{name}: first", [r for r in first[0] if "-" in r], whole)
        equal(f"{name}: second", [r for r in second[0] if "-" in r], again)
        equal(f"{name}: the same", second[1]["module"], first[1]["module"])


@test
def never_more_than_eight_requests(bed):
    """Of the port whose module has most to read: without error correction, when standard counters
    are asked for as well; and where a module was exchanged without a link, which its identity tells,
    that is of the other one then and not read twice."""
    replies = [modes(400000, (72,)), (PORT, [attr(2, (1, 3))]), fec(49, 49), stats(1, 2, 3)]
    [(requests, port)] = replayed(bed, replies, pages_of("cmis-dr4"), speed=400000)
    equal("without correction", (len(requests), port["errors"]["symbol"], port["module"]["status"]),
          (8, 2, "present"))

    files = pages_of("cmis-dr4")
    other = bytearray(files["ens1f0-50-0"])
    other[166:182] = b"ANOTHER".ljust(16)
    other[222] = sum(other[128:222]) & 0xff
    small = pages_of("sfp-lrm")
    replies = [modes(0xffffffff, (72,)), (PORT, [attr(2, (1, 3))]),
               (STATE, [attr(2, (1, 0))])]
    files |= {"other": bytes(other), "small-50-0": small["ens1f0-50-0"],
              "small-51-0": small["ens1f0-51-0"]}
    found = replayed(bed, replies, files, state="down", speed=400000, steps=(
        "", "true", "cp $R/other $R/ens1f0-50-0", "true",
        "for a in 50 51; do cp $R/small-$a-0 $R/ens1f0-$a-0; done", "true"))
    link = [3 if port["enabled"] else 2 for _, port in found]
    serials = [port["module"]["serial"] for _, port in found]
    equal("the same", (serials[1], len(found[1][0])), (serials[0], link[1] + 3))
    pages = ["50-0 128 128", "50-0 0 128", "50-1 128 128", "50-2 128 128", "50-11 128 128"]
    equal("another", (found[2][0][link[2]:], serials[2:4]), (pages, ["ANOTHER"] * 2))
    equal("then that", found[3][0][link[3]:], [pages[0], pages[1], pages[4]])
    equal("of another kind", (found[4][0][link[4]:], found[4][1]["module"]["standard"]),
          (["50-0 128 128", "50-0 0 128", "51-0 0 128"], "SFF-8472"))
    equal("then that", found[5][0][link[5]:], ["50-0 63 33", "51-0 96 22"])
    assert max(len(requests) for requests, _ in found) <= 8, found


@test
def module_errors_by_netlink(bed):
    replies = [modes(10000, (43,)), (PORT, [attr(2, (1, 3))])]
    for number, status in ((5, "unreadable"), (16, "unreadable"), (110, "unreadable"),
                           (1, "permission_denied"), (22, "unsupported_by_driver"),
                           (95, "unsupported_by_driver")):
        [(_, port)] = replayed(bed, replies, {"ens1f0-50-0.errno": b"%d" % number})
        equal(f"error {number}", (port["module"]["status"], port["speed_mbps"]), (status, 10000))
    # Busy once, then well; and a page that the driver does not have is that page's loss alone.
    [(requests, port)] = replayed(bed, replies, {**pages_of("sfp-lrm"),
                                                 "ens1f0-50-0.errno.once": b"16"})
    equal("busy once", (port["module"]["status"], requests.count("50-0 0 128")), ("present", 2))
    [(_, port)] = replayed(bed, replies, {**pages_of("qsfp-sr4"), "ens1f0-50-3.errno": b"22"})
    equal("no limits", (port["module"]["status"], unread(port["module"]["diagnostics"])),
          ("present", {"thresholds": "unsupported"}))
    # Pulled out between two runs: nothing is left of what was kept.
    _, (_, port) = replayed(bed, replies, pages_of("sfp-lrm"),
                            steps=("", "for a in 50 51; do echo 5 >$R/ens1f0-$a-0.errno; done"))
    equal("pulled out", (port["module"]["status"], port["module"]["serial"]), ("unreadable", None))


# ---- netlink, on real kernel objects ----

@test
def netlink_of_taps(bed):
    """With --links the fake host's ports exist, as taps: how they are comes by netlink."""
    tree = bed.copy("first-customer")
    for name in ("enp4s0f0", "enp7s0"):
        folder = os.path.realpath(os.path.join(tree, f"sys/class/net/{name}"))
        replace(os.path.join(folder, "mtu"), b"4321\n")
        replace(os.path.join(folder, "operstate"), b"testing\n")
    with open(os.path.join(tree, "ethtool-script"), encoding="utf-8") as file:
        script = [line for line in file if " settings " not in line]
    with open(os.path.join(tree, "ethtool-script"), "w", encoding="utf-8") as file:
        file.writelines(script)
    _, document = logged(bed, tree, options=("--links",))
    port = one(document["nics"], id="enp4s0f0")
    equal("from the kernel", (port["mtu"], port["carrier"], port["enabled"], port["speed_mbps"],
                              port["mac"]), (1500, True, True, 10000, "a0:36:9f:00:04:00"))
    assert port["state"] != "testing", port["state"]


def in_namespace(bed, commands, *probe):
    """Runs the probe on real interfaces: a private network namespace, and its own sysfs."""
    for tool in ("ip", "unshare"):
        if not shutil.which(tool):
            raise Skip(f"{tool} is not installed")
    script = ("mount -t sysfs sysfs /sys 2>/dev/null || exit 77\n"
              "ip -batch - >/dev/null 2>&1 || exit 77\nexec \"$@\"")
    run = subprocess.run(["unshare", "-rnm", "sh", "-c", script, "sh", *probe],
                         input=commands.encode(), capture_output=True, check=False, timeout=120,
                         env=dict(os.environ, ASAN_OPTIONS=base.NO_LEAKS))
    if run.returncode == 77 or b"unshare" in run.stderr:
        raise Skip("no private network namespace with veth and bridges here")
    equal("exit status", run.returncode, 0)
    return run.stdout


def crowd_of_links(pairs, bridges):
    lines = [f"link add v{i}a type veth peer name v{i}b" for i in range(pairs)]
    lines += [f"link add br{i} type bridge" for i in range(bridges)]
    lines += [f"link set v{i}a master br{i % bridges}" for i in range(pairs)] if bridges else []
    lines += [f"link set br{i} up" for i in range(bridges)]
    return "\n".join(lines) + "\n"


@test
def real_bridges_and_veths(bed):
    output = in_namespace(bed, crowd_of_links(10, 2), bed.probe, "net")
    document = json.loads(output)
    found = [nic for nic in document["nics"] if nic["name"]]
    equal("interfaces", [(nic["id"], nic["kind"], nic["enabled"]) for nic in found],
          [("br0", "bridge", True), ("br1", "bridge", True)])
    assert re.fullmatch(r"([0-9a-f]{2}:){5}[0-9a-f]{2}", found[0]["mac"]), found[0]["mac"]
    equal("nothing unread", unread(found[0]), {})


def netlink_requests(bed, commands, *sources):
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    trace = os.path.join(bed.folder, "trace")
    in_namespace(bed, commands, "strace", "-f", "-v", "-e", "trace=sendto,sendmsg,ioctl", "-o",
                 trace, bed.probe, *sources)
    with open(trace, encoding="utf-8", errors="replace") as file:
        return [line for line in file if "sendto(" in line or "sendmsg(" in line
                or "SIOCETHTOOL" in line]


@test
def virtual_interfaces_cost_nothing(bed):
    """One dump each for net and module, however many there are, and never about virtual
    functions."""
    requests = netlink_requests(bed, crowd_of_links(250, 16), "net", "module")
    equal("requests", len(requests), 2)
    for line in requests:
        assert "RTM_GETLINK" in line, line
        assert "RTEXT_FILTER_SKIP_STATS" in line and "RTEXT_FILTER_VF" not in line, line


def requests_of(line):
    """The bytes of a netlink request, from strace's words."""
    found = re.search(r'"((?:\\x[0-9a-f]{2})+)"', line)
    return bytes.fromhex(found[1].replace("\\x", "")) if found else b""


@test
def few_requests_a_port(bed):
    """32 ports with modules, 16 bonds of them and 500 other interfaces. A port is asked three things
    about its link; of the memory of a module at most five areas are read (CMIS), so that eight are
    never exceeded; virtual interfaces cost nothing beyond the two dumps."""
    for tool in ("strace", "ip"):
        if not shutil.which(tool):
            raise Skip(f"{tool} is not installed")

    def describe(m):
        ports = []
        for number in range(16):
            root = m.root_port(f"0000:{number:02x}:01.0", gen=3, width=8, secondary=0x80 + number)
            speed, state = (25000, "up") if number % 2 else (10000, "up" if number % 4 else "down")
            names = (f"ens{number}f0", f"ens{number}f1")
            m.nic(root, "8086:1572", gen=3, width=8, driver="i40e", names=names, speed=speed,
                  state=state, macs=[f"a0:36:9f:00:{number:02x}:0{i}" for i in range(2)])
            for net in m.nets[-2:]:
                m.settings(net, link_settings(speed if state == "up" else None, port="fibre",
                                              autoneg=False, supported=FIBRE))
                m.module(net, "SFF-8472", sfp("ACME", "SR", net["name"], **SR))
            ports.append(m.nets[-2:])
        for number, members in enumerate(ports):
            m.bond(f"bond{number}", members, speed=20000)
        for number in range(500):  # of which nothing but their links in sysfs may matter
            path = f"/sys/devices/virtual/net/veth{number}"
            m.files.folder(path)
            m.files.link(f"/sys/class/net/veth{number}", path)
    tree = build(bed, describe)
    batch = os.path.join(bed.folder, "batch")
    with open(batch, "w", encoding="utf-8") as file:
        file.writelines(f"link add veth{i} type veth peer name veth{i + 1}\n"
                        for i in range(0, 500, 2))
    trace = os.path.join(bed.folder, "trace")
    run = subprocess.run([bed.fakehost, "--quiet", "--links", tree, "--", "sh", "-c",
                          f"ip -batch {batch} || exit 77; exec \"$@\"", "sh", "strace", "-f", "-v",
                          "-xx", "-s", "512", "-e", "trace=sendto,sendmsg", "-o", trace, bed.probe,
                          "net", "module"],
                         capture_output=True, check=False, timeout=280,
                         env=dict(os.environ, ASAN_OPTIONS=base.NO_LEAKS))
    if run.returncode == 77:
        raise Skip(run.stderr.decode(errors="replace").strip())
    equal("exit status", run.returncode, 0)
    document = parse(run.stdout)
    bonds = [nic for nic in document["nics"] if nic["kind"] == "bond"]
    equal("bonds", (len(bonds), {len(nic["bond"]["members"]) for nic in bonds}), (16, {2}))
    ports = {nic["name"]: nic for nic in document["nics"] if nic["kind"] == "physical"}
    equal("modules", {nic["module"]["status"] for nic in ports.values()}, {"present"})
    equal("kinds", {nic["kind"] for nic in document["nics"]}, {"physical", "bond"})

    counts, others = dict.fromkeys(ports, 0), []
    with open(trace, encoding="utf-8", errors="replace") as file:
        for line in file:
            if "sendto(" not in line and "sendmsg(" not in line:
                continue
            name = re.search(rb"\x02\x00([a-z0-9]+)\0", requests_of(line))
            if name and name[1].decode() in counts:
                counts[name[1].decode()] += 1
            else:
                others.append(line)
    equal("requests that are about no port: two dumps, and ethtool's number twice", len(others), 4)
    # One to three about the link, since taps have no modes and the ioctl that has them tells the
    # connector as well; and one that tells that they have no module.
    equal("requests about a port", set(counts.values()), {2, 3, 4})


if __name__ == "__main__":
    base.main()
