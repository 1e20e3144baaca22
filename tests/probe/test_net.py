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
          [("enp4s0f0", "enp4s0f0", "physical", None), ("enp7s0", "enp7s0", "physical", None),
           ("vmbr0", "vmbr0", "bridge", None),
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
def few_reads_of_a_module(bed):
    """A cable's A0h alone; of a module with diagnostics A2h as well; nothing twice."""
    requests, _ = logged(bed, bed.tree("lacp"), "module")
    reads = {}
    for line in requests:
        name = line.split()[0]
        reads[name] = reads.get(name, 0) + ("module command=0x43" in line)
    equal("reads", reads, {"enp129s0f0": 1, "enp129s0f1": 1, "enp130s0f0": 2, "enp130s0f1": 2})


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
        for number, driver in enumerate(("vfio-pci", "ixgbe", "ixgbe", None)):
            m.endpoint(port, "8086:10fb", 0x020000, gen=2, width=8, number=number, driver=driver)
        m.files.folder(f"{m.functions[3].path}/net")
    found = nics(bed, build(bed, describe))
    equal("reasons", {nic["id"]: nic["reason"] for nic in found.values()},
          {"0000:01:00.0": "passed_through", "0000:01:00.1": "none_made",
           "0000:01:00.2": "other_namespace", "0000:01:00.3": "no_driver"})
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


@test
def few_requests_a_port(bed):
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    trace = os.path.join(bed.folder, "trace")
    run = subprocess.run([bed.fakehost, "--quiet", "--links", bed.tree("lacp"), "--", "strace", "-f",
                          "-e", "trace=sendto,sendmsg", "-o", trace, bed.probe, "net", "module"],
                         capture_output=True, check=False,
                         env=dict(os.environ, ASAN_OPTIONS=base.NO_LEAKS))
    if run.returncode == 77:
        raise Skip(run.stderr.decode(errors="replace").strip())
    equal("exit status", run.returncode, 0)
    with open(trace, encoding="utf-8", errors="replace") as file:
        requests = sum("sendto(" in line or "sendmsg(" in line for line in file)
    ports, dumps = 4, 2
    assert requests <= 8 * ports + dumps, f"{requests} requests for {ports} ports"


if __name__ == "__main__":
    base.main()
