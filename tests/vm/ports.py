# SPDX-License-Identifier: LGPL-2.1-or-later
"""The proofs in the virtual machine that are about network ports: what is plugged into them, by the
kernel's own ethtool (vmport.c), and a bond by 802.3ad with a partner behind cables that can be
pulled out."""

import glob
import json
import os
import time

from nic_data import qsfp, sfp
from proof import (HOST, PROBE, after_reading, check, equal, eventually, findings, inventory, proof,
                   read, run, write)

PARAMETERS = "/sys/module/vmport/parameters"

# What modules have, and what the kernel is told of it in pieces of this size.
PIECE = 128
RECEIVED_MW, SENT_MW = 0.5012, 0.6026
MODULES = {
    "vmport0": sfp("VM OPTICS", "VM-SR-10G", "SR0001", ethernet_10g=0x10, om=(3, 8, 30),
                   temperature=41.5, voltage=3.29, bias=6.2, tx_mw=SENT_MW, rx_mw=RECEIVED_MW),
    "vmport1": qsfp("VM OPTICS", "VM-SR4-40G", "SR0004", ethernet=0x04, om=(0, 0, 100, 150),
                    temperature=38.25, rx_mw=(0.5, 0.25, 0.125, 0.0625)),
}

# The kernel's numbers of errors and of connectors.
EIO, ENODEV = 5, 19
FIBRE, NONE = 3, 0xef

# What a reading takes of a module that is known: SFF-8472's diagnostics; SFF-8636's lower memory.
DIAGNOSTICS = (22, 128)


# ---- Modules ----------------------------------------------------------------------------------------


def tell(parameter, name, *words):
    write(f"{PARAMETERS}/{parameter}", " ".join([name[-1], *map(str, words)]))


def transfers():
    """Of each port: by page, in one piece, bytes."""
    return [tuple(map(int, line.split())) for line in read(f"{PARAMETERS}/transfers").split("\n")]


def plug_in():
    """Two ports with modules in them, and those at the other ends of cables, as if they had been there
    when the machine was started."""
    run("modprobe", "virtio_net")
    # Of QEMU's message-signalled interrupts none tells that a cable was pulled out.
    run("modprobe", "-r", "e1000e")
    run("modprobe", "e1000e", "IntMode=0,0")
    run("udevadm", "settle")
    run("insmod", "vmport.ko")
    for name, memory in MODULES.items():
        # What follows an SFP's first 256 bytes answers under another address.
        parts = ((0x50, memory[:256]), (0x51, memory[256:])) if len(memory) == 512 else ((0x50, memory),)
        for address, part in parts:
            for at in range(0, len(part), PIECE):
                tell("bytes", name, f"{address:x}", f"{at:x}", part[at:at + PIECE].hex())
        tell("plug", name, 1)
        run("ip", "link", "set", name, "up")


def module_of(name):
    """As the daemon has it."""
    port = next(n for n in inventory("nics")["nics"] if n["name"] == name)
    check(port.get("module"), f"no module: {port}")
    return port["module"]


def module_by_root(name):
    """As a probe reads it that root starts. Its records are not the daemon's probes'."""
    return next(m for m in json.loads(run(PROBE, "module"))["port_modules"] if m["name"] == name)["module"]


def forget_modules():
    for path in glob.glob("/run/pnhw-probe/pages-vmport*"):
        os.unlink(path)


def lengths(module):
    return {row["medium"]: row["metres"] for row in module["lengths"]}


def modules():
    @proof("a module's memory, by page through the kernel, is read as its bytes say: SFP+ SR")
    def _():
        found = module_of("vmport0")
        equal({k: found.get(k) for k in ("status", "form", "standard", "vendor", "part_number", "serial",
                                         "type", "connector", "wavelength_nm", "checksum_ok")},
              {"status": "present", "form": "SFP+", "standard": "SFF-8472", "vendor": "VM OPTICS",
               "part_number": "VM-SR-10G", "serial": "SR0001", "type": "10GBASE-SR", "connector": "LC",
               "wavelength_nm": 850, "checksum_ok": True})
        equal(lengths(found), {"OM1": 30, "OM2": 80, "OM3": 300}, "lengths")
        measured = found["diagnostics"]
        equal((measured["temperature_c"], measured["voltage_v"]), (41.5, 3.29))
        lane, = measured["lanes"]
        equal((lane["rx_power_mw"], lane["tx_power_mw"], lane["bias_ma"]), (RECEIVED_MW, SENT_MW, 6.2))
        equal(round(lane["rx_power_dbm"], 2), -3.0)
        limits = measured["thresholds"]["temperature"]
        equal((limits["high_alarm"], limits["low_alarm"]), (78, -13))
        equal(measured["flags"], [])

    @proof("and QSFP+ SR4, with four lanes")
    def _():
        found = module_of("vmport1")
        equal([found.get(k) for k in ("status", "form", "standard", "serial", "type", "connector",
                                      "wavelength_nm", "checksum_ok")],
              ["present", "QSFP+", "SFF-8636", "SR0004", "40GBASE-SR4", "MPO", 850, True])
        equal(lengths(found), {"OM3": 100, "OM4": 150}, "lengths")
        equal(found["diagnostics"]["temperature_c"], 38.25)
        equal([lane["rx_power_mw"] for lane in found["diagnostics"]["lanes"]], [0.5, 0.25, 0.125, 0.0625])

    @proof("pnhwctl modules shows an ordinary user both, and pnhwctl show its limits")
    def _():
        page = run("pnhwctl", "modules", "--no-pager", user="nobody")
        HOST.show(page)
        for words in (("vmport0", "10GBASE-SR", "VM OPTICS", "VM-SR-10G", "300 m", "-3.00 dBm"),
                      ("vmport1", "40GBASE-SR4", "VM-SR4-40G", "150 m", "-12.04 dBm")):
            check(any(all(word in line for word in words) for line in page.splitlines()), f"no {words}")
        page = run("pnhwctl", "show", "vmport0", "--no-pager", user="nobody")
        check("78" in page and "SR0001" in page, page)

    @proof("drivers of older kernels, which read all of it in one piece, give the same")
    def _():
        forget_modules()
        by_page = {name: module_by_root(name) for name in MODULES}
        for way in 1, 2:
            before = transfers()
            for name in MODULES:
                tell("way", name, way)
            forget_modules()
            for name in MODULES:
                equal(module_by_root(name), by_page[name], f"{name}, way {way}")
            now = transfers()
            for before_port, port in zip(before, now):
                check(port[1] > before_port[1], f"nothing was read in one piece: {before}, {now}")
                equal(port[0], before_port[0], "by page")
        for name in MODULES:
            tell("way", name, 0)
        forget_modules()

    @proof("pages are read once, and then what a module measures alone")
    def _():
        module_by_root("vmport0")
        before = transfers()
        module_by_root("vmport0")
        equal([b[2] - a[2] for a, b in zip(before, transfers())], list(DIAGNOSTICS), "bytes")

    @proof("pulled out, or in the middle of a reading, it is no module, and never half of one")
    def _():
        def status(error, after=0, connector=FIBRE):
            tell("fail", "vmport0", error, after)
            tell("connector", "vmport0", connector)
            found = module_by_root("vmport0")
            check(not found.get("vendor") and not found.get("diagnostics"), f"something is read: {found}")
            return found["status"]
        try:
            equal(status(EIO), "unreadable", "EIO")
            forget_modules()
            equal(status(EIO), "unreadable", "EIO, never seen")
            equal(status(EIO, after=1), "unreadable", "after one transfer")
            equal(status(EIO, connector=NONE), "none", "the driver says that the cage is empty")
            equal(status(ENODEV), "unsupported_by_driver", "ENODEV")
            equal(status(ENODEV, connector=NONE), "none", "ENODEV, and the cage is empty")
        finally:
            tell("fail", "vmport0", 0)
            tell("connector", "vmport0", FIBRE)
        equal(module_by_root("vmport0")["serial"], "SR0001")


def module_is_pulled(aside):
    """It is read once a minute at most, so this is for the side."""
    @aside.proof("a module that no longer answers is found by the daemon, and its return")
    def _():
        tell("fail", "vmport1", EIO)
        found = after_reading(lambda: findings("module.unreadable"), "module")
        equal([f["device"] for f in found], ["vmport1"])
        equal(module_of("vmport1")["status"], "unreadable")
        HOST.say(f"# {found[0]['summary']}")
        tell("fail", "vmport1", 0)
        after_reading(lambda: not findings("module.unreadable"), "module")
        equal(module_of("vmport1")["serial"], "SR0004")


# ---- A bond ---------------------------------------------------------------------------------------


def ports_of(driver):
    """Interfaces in the order of QEMU's ids, which that of their addresses is."""
    names = [os.path.basename(os.path.dirname(path)) for path in glob.glob("/sys/class/net/*/device")
             if os.path.basename(os.path.realpath(f"{path}/driver")) == driver]
    return sorted(names, key=lambda name: read(f"/sys/class/net/{name}/address"))


def make_bond(name, members, *inside):
    """By 802.3ad, and its address. `inside`: where, for ip."""
    def ip(*words):
        return run("ip", *inside, *words)
    ip("link", "add", name, "type", "bond", "mode", "802.3ad", "miimon", "100", "lacp_rate", "fast")
    for member in members:
        ip("link", "set", member, "down")
        ip("link", "set", member, "master", name)
    ip("link", "set", name, "up")
    return json.loads(ip("-j", "link", "show", name))[0]["address"]


def bond():
    return next(n for n in inventory("nics")["nics"] if n["name"] == "bond0")["bond"]


def as_sysfs_says(port):
    folder = f"/sys/class/net/{port}/bonding_slave"
    return {"name": port, "mii_up": read(f"{folder}/mii_status") == "up",
            "aggregator": int(read(f"{folder}/ad_aggregator_id")),
            "actor_state": int(read(f"{folder}/ad_actor_oper_port_state")),
            "partner_state": int(read(f"{folder}/ad_partner_oper_port_state"))}


def bonds(seen):
    """`seen(condition, since, what)` waits without asking for a reading."""
    ports, others = ports_of("e1000e"), ports_of("virtio_net")
    inside = ("-n", "switch")

    @proof("a bond by 802.3ad has the mode, partner and aggregator that the kernel and its partner say")
    def _():
        equal((len(ports), len(others)), (2, 2), "ports")
        run("modprobe", "bonding")
        # The other ends of both cables, in a machine of their own as far as the daemon can see.
        run("ip", "netns", "add", "switch")
        for other in others:
            run("ip", "link", "set", other, "netns", "switch")
        partner = make_bond("bond9", others, *inside)
        make_bond("bond0", ports)

        def joined():
            found = bond()
            equal(found["mode"], "802.3ad")
            # Bits 4 to 6 of a state: in sync, collecting, distributing.
            equal([(m["partner_mac"], m["mii_up"], m["actor_state"] & 0x38, m["partner_state"] & 0x38)
                   for m in found["members"]], 2 * [(partner, True, 0x38, 0x38)])
            equal([m["aggregator"] for m in found["members"]], 2 * [found["active_aggregator"]])
            return found
        found = after_reading(joined, "net")
        equal(found["active_aggregator"], int(read("/sys/class/net/bond0/bonding/ad_aggregator")))
        equal(read("/sys/class/net/bond0/bonding/ad_partner_mac"), partner, "the kernel's")
        equal([{k: m[k] for k in as_sysfs_says(m["name"])} for m in found["members"]],
              [as_sysfs_says(m["name"]) for m in found["members"]])
        after_reading(lambda: not findings("bond.degraded") + findings("bond.member_down"), "net")

    @proof("ports that another name space has are no fault")
    def _():
        reasons = [n.get("reason") for n in inventory("nics")["nics"] if not n.get("name")]
        equal((reasons, findings("nic.no_interface")), (2 * ["other_namespace"], []))

    @proof("a cable that is pulled out of a bond is found within a few seconds, and its return")
    def _():
        HOST.qemu("set_link", name="net1", up=False)
        try:
            eventually(lambda: read(f"/sys/class/net/{ports[1]}/carrier") == "0")
            seen(lambda: findings("bond.member_down"), time.monotonic(), "its link was gone")
            found = findings("bond.member_down")
            equal(([f["device"] for f in found], findings("bond.degraded")), ([ports[1]], []))
            HOST.say(f"# {found[0]['summary']}")
        finally:
            HOST.qemu("set_link", name="net1", up=True)
        eventually(lambda: read(f"/sys/class/net/{ports[1]}/carrier") == "1")
        seen(lambda: not findings("bond.member_down"), time.monotonic(), "its link was back")
        after_reading(lambda: not findings("bond.degraded"), "net")

    @proof("a partner that leaves a port out of its group is told from a link: the bond is degraded")
    def _():
        run("ip", *inside, "link", "set", others[0], "nomaster")
        run("ip", *inside, "link", "set", others[0], "up")
        found = after_reading(lambda: findings("bond.degraded"), "net")
        equal(([f["device"] for f in found], findings("bond.member_down")), (["bond0"], []))
        check(ports[0] in found[0]["summary"], found[0]["summary"])
        equal(read(f"/sys/class/net/{ports[0]}/carrier"), "1", "its link")
        HOST.say(f"# {found[0]['summary']}")
        run("ip", *inside, "link", "set", others[0], "down")
        run("ip", *inside, "link", "set", others[0], "master", "bond9")
        after_reading(lambda: not findings("bond.degraded"), "net")
