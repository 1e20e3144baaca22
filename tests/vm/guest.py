#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs as root in the virtual machine, once it is up: installs the package, and shows that it does
under a real kernel and a real systemd what it promises. A line for each proof, to the second serial
port; a line there that begins with @ is for QEMU's monitor, which answers in one line. The machine is
rebooted in between: what comes after has its own list."""

import contextlib
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

import ports
from proof import (DEADLINE, FEW, HOST, INTERVAL, MEMORY, PROBE, SOCKET, STATE, active,
                   after_reading, all_fresh, Aside, asking, call, check, drive, equal,
                   eventually, exchange, finding, findings, forget_health, health_of,
                   healthy_links, inventory, is_plugged, journal, main_pid, parent, proof, read,
                   remembered, run, set_link, Skip, smart, source, standing, told, unfresh,
                   write)

ADMIN_SOCKET = "/run/pnhw-probe/admin.sock"
UNITS = ("pnhwd.service", "pnhwd.socket", "pnhwd-events.socket", "pnhw-probe-admin.socket",
         "pnhw-probe-net.socket")
EXPOSURE = {"pnhwd.service": 0.8, "pnhw-probe-admin@.service": 1.0, "pnhw-probe-net@.service": 1.2,
            "pnhw-textfile.service": 1.0}
HOME = os.path.expanduser("~root")
UNITS_OF_TEST = "/run/systemd/system"
SLOW = "/etc/systemd/system/pnhwd.service.d"
EXAMPLES = "/usr/share/doc/pnhw/examples"
METRICS = "/var/lib/prometheus/node-exporter/pnhw.prom"
MAIL = "/var/lib/vm-mail"


# ---- What a unit lets a process do ----------------------------------------------------------------

# Runs in the place of the unit's program, and prints a line for each thing that is not as it should
# be. In one process, without pipes: a unit may have no leave for more.
SANDBOXED = r"""
import ctypes, glob, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def can(what, call):
    try:
        call()
    except (OSError, PermissionError):
        return
    print(what)
def must(what, call):
    try:
        call()
    except OSError as error:
        print(what, error)
def read(path, n=1):
    with open(path, "rb", buffering=0) as file:
        return file.read(n)
def opened(path, flags):
    os.close(os.open(path, flags))
def paths(*patterns):
    for pattern in patterns:
        yield from glob.glob(pattern) or ([] if "*" in pattern else [pattern])
def readable(*patterns):
    for path in paths(*patterns):
        must("cannot read", lambda: read(path))
def unreadable(*patterns):
    for path in paths(*patterns):
        can(f"reads {path}", lambda: read(path))
def unwritable(*patterns):
    for path in paths(*patterns):
        flags = os.O_WRONLY | (0 if path.startswith(("/dev", "/proc", "/sys")) else os.O_CREAT)
        can(f"writes {path}", lambda: opened(path, flags))
def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)
def process():
    return dict(line.split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)
def has_network():
    if all(line.split(":")[0].strip() == "lo" for line in list(open("/proc/self/net/dev"))[2:]):
        raise OSError
def config(path):
    if len(read(path, 256)) < 256:
        raise OSError(0, path)
def capabilities(*numbers):
    for name in "CapEff", "CapPrm", "CapBnd":
        if int(process()[name], 16) != sum(1 << n for n in numbers):
            print("has capabilities:", name, process()[name])
    if process()["NoNewPrivs"].strip() != "1":
        print("may gain privileges")
    if process()["Seccomp"].strip() != "2":
        print("has no filter of system calls")

# What none of the units may do.
unreadable("/etc/shadow", "@HOME@/.secret", "/var/lib/vm-test/secret", "/proc/1/environ", "/dev/vda",
           "/dev/mem", "/dev/port", "/dev/nvme?n1", "/sys/kernel/debug/sched/debug")
# It may have a /run and a /tmp of its own: guest.py looks for what got out.
for place in "/run", "/tmp", "/dev", "/dev/shm", "/var/tmp":
    try:
        opened(place + "/vm-mark", os.O_WRONLY | os.O_CREAT)
    except OSError:
        pass
unwritable("/usr/vm-mark", "/etc/vm-mark", "/var/vm-mark", "/run/pnhw/vm-mark",
           "/run/pnhw/mountinfo", "/vm-mark", "/sys/power/pm_test", "/sys/bus/pci/rescan",
           "/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/dev/kmsg", "/dev/nvme?")
can("makes a user name space", lambda: call("unshare", 0x10000000))
can("makes a mount name space", lambda: call("unshare", 0x20000))
can("mounts", lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, None))
can("changes its root", lambda: call("chroot", b"/usr"))
can("makes IP sockets", lambda: socket.socket(socket.AF_INET))
can("makes packet sockets", lambda: socket.socket(socket.AF_PACKET))
"""


def in_sandbox(unit, script):
    """What SANDBOXED and `script` print under all that `unit` imposes, but for its program."""
    os.makedirs("/usr/local/lib/vm-test", exist_ok=True)
    write("/usr/local/lib/vm-test/script.py",
          SANDBOXED.replace("@HOME@", HOME) + script + '\nprint("end")\n')
    with contextlib.suppress(FileNotFoundError):
        os.unlink("/run/vm-test.out")
    dropped = re.compile(r"(ExecStart|Type|Standard\w+|Watchdog\w+|NotifyAccess|Restart\w*|LogLevelMax|"
                         r"RuntimeMaxSec|Requires|Wants|After|WantedBy|CollectMode)=")
    text = "\n".join(line for line in run("systemctl", "cat", "--no-pager", unit).splitlines()
                     if not dropped.match(line))
    write(f"{UNITS_OF_TEST}/vm-sandbox.service", text.replace("[Service]", (
        "[Service]\nType=oneshot\nExecStart=/usr/bin/python3 -I /usr/local/lib/vm-test/script.py\n"
        "StandardOutput=truncate:/run/vm-test.out\nStandardError=journal\n"), 1))
    run("systemctl", "daemon-reload")
    run("systemctl", "start", "vm-sandbox.service")
    os.unlink(f"{UNITS_OF_TEST}/vm-sandbox.service")
    return read("/run/vm-test.out").split("\n")


def marks():
    """What the units wrote that got out of them; the next proof finds it no more."""
    found = run("find", "/", "-path", "/proc", "-prune", "-o", "-name", "vm-mark", "-print").split()
    for path in found:
        os.unlink(path)
    return found


@contextlib.contextmanager
def replaced_probe(command):
    """The privileged probe does something else for a while."""
    folder = f"{UNITS_OF_TEST}/pnhw-probe-admin@.service.d"
    os.makedirs(folder)
    write(f"{folder}/test.conf", f"[Service]\nExecStart=\nExecStart={command}\n")
    run("systemctl", "daemon-reload")
    try:
        yield
    finally:
        os.unlink(f"{folder}/test.conf")
        os.rmdir(folder)
        run("systemctl", "daemon-reload")


# ---- The proofs: before the reboot -----------------------------------------------------------------


def slow_machine():
    """Without hardware virtualisation, beside other work, a reading may take many times what it takes
    on a server; the daemon is to wait for it."""
    os.makedirs(SLOW)
    write(f"{SLOW}/slow.conf", "[Service]\nExecStart=\nExecStart=/usr/sbin/pnhwd "
          f"--probe-deadline={DEADLINE} --interval={INTERVAL}\nWatchdogSec=300\n")


def first_boot():
    for path in (f"{STATE}/secret", f"{HOME}/.secret"):
        write(path, "secret")
        os.chmod(path, 0o600)
    run("udevadm", "settle")
    slow_machine()
    ports.plug_in()

    @proof("the package installs, and its units run")
    def _():
        run("dpkg", "-i", "0.deb", timeout=900)
        active(*UNITS)

    @proof("right after, pnhwctl status answers an ordinary user")
    def _():
        page = run("pnhwctl", "status", "--no-pager", user="nobody")
        check(page.strip(), "nothing was printed")
        HOST.show(page)

    @proof("all eight sources are fresh, those with probes behind sockets too")
    def _():
        all_fresh()
        read_by_units = {line.split("@")[0] for line in run(
            "journalctl", "-b", "--no-pager", "-o", "cat", "-F", "UNIT", good=False).splitlines()}
        HOST.say(f"# units in the journal: {sorted(u for u in read_by_units if 'pnhw' in u)}")

    privileges()
    readings()
    ports.modules()
    speed()
    hardware_that_changes()
    life()
    decisions()


def decisions():
    fault = (findings("pcie.degraded") or [{"id": ""}])[0]["id"]

    @proof("a fault that lasts was told to the journal, once")
    def _():
        after_reading(lambda: told(fault, "raised"), "pci", "nvme")
        equal((len(told(fault, "raised")), len(told(fault, "cleared"))), (1, 0), "entries")
        equal(len(standing(fault)), 1, "alerts")

    @proof("neither an ordinary user nor a member of the group pnhw can accept a finding")
    def _():
        for who in ("nobody",), ("nobody", "-g", "pnhw"):
            question = json.dumps({"method": "io.pnhw.Hardware.Accept", "parameters": {"id": fault}})
            text = run("runuser", "-u", *who, "--", *asking(SOCKET, question))
            equal(json.loads(text).get("error"), "org.varlink.service.PermissionDenied", str(who))
        said = run("runuser", "-u", "nobody", "--", "sh", "-c",
                   f"pnhwctl accept {fault} 2>&1 && echo done", good=False)
        check("root" in said and "done" not in said, said)
        HOST.say(f"# {said.strip()}")
        check(not finding(fault).get("accepted"), "it is accepted")

    @proof("root can, and then it counts no more")
    def _():
        run("pnhwctl", "accept", fault, "--until=+2d", "--reason=narrow on purpose")
        equal(findings("pcie.degraded"), [])
        equal((finding(fault)["accepted"], finding(fault)["reason"]), (True, "narrow on purpose"))

    @proof("a restart keeps what was found and what was accepted, and tells the journal nothing twice")
    def _():
        before = {f["id"] for f in call("ListFindings")["findings"]}
        entries = len(journal("PNHW_STATE=raised"))
        run("systemctl", "restart", "pnhwd.service")
        all_fresh()
        equal({f["id"] for f in call("ListFindings")["findings"]}, before, "findings")
        equal((finding(fault)["accepted"], finding(fault)["reason"]), (True, "narrow on purpose"))
        equal(len(journal("PNHW_STATE=raised")), entries, "entries")

    @proof("root takes it back: it counts again, and the journal, which knows it, is not told again")
    def _():
        run("pnhwctl", "unaccept", fault)
        equal([f["id"] for f in findings("pcie.degraded")], [fault])
        after_reading(lambda: not finding(fault).get("accepted"), "pci", "nvme")
        equal((len(told(fault, "raised")), len(standing(fault))), (1, 1), "entries, alerts")


def privileges():
    @proof("the daemon has a user of its own, no capability, no way to any, and a seccomp filter")
    def _():
        status = dict(line.split(":\t", 1) for line in read(f"/proc/{main_pid()}/status").splitlines()
                      if ":\t" in line)
        for name in ("CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb"):
            equal(int(status[name], 16), 0, name)
        equal((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"), "NoNewPrivs, Seccomp")
        equal(run("stat", "-c", "%U", f"/proc/{main_pid()}").strip(), "pnhw", "user")

    run("modprobe", "md_mod")

    @proof("pnhw-textfile.service writes metrics where node_exporter has a folder, and only there")
    def _():
        run("systemctl", "start", "pnhw-textfile.service")
        equal(run("find", "/var/lib/prometheus", "-type", "f", good=False), "")
        os.makedirs(os.path.dirname(METRICS))
        run("systemctl", "start", "pnhw-textfile.service")
        equal(os.listdir(os.path.dirname(METRICS)), ["pnhw.prom"])
        page = run("cat", METRICS, user="nobody")
        names = set(re.findall(r"^# TYPE (pnhw_\w+) ", page, re.MULTILINE))
        check(len(names) > 20, f"{len(names)} metrics: {page[:200]}")
        check(page.endswith("\n") and "# EOF" not in page, "not the older text format")
        HOST.say(f"# {len(names)} metrics in {len(page.splitlines())} lines")
        check(run("systemctl", "is-enabled", "pnhw-textfile.timer", good=False).strip() == "disabled",
              "nobody asked for the timer")

    @proof("pnhw-textfile.service can do nothing that it must not, though it is root")
    def _():
        out = in_sandbox("pnhw-textfile.service", r"""
capabilities()
unreadable("/sys/firmware/dmi/tables/DMI", "/dev/nvme?", "/proc/cpuinfo", "/var/lib/pnhw/state.json")
can("has a network", has_network)
unwritable("/run/pnhw-probe/vm-mark", "/run/pnhw/vm-mark")
can("has probes", lambda: socket.socket(socket.AF_UNIX).connect("/run/pnhw-probe/admin.sock"))
must("no daemon", lambda: socket.socket(socket.AF_UNIX).connect("/run/pnhw/pnhwd.sock"))
must("no folder", lambda: opened("/var/lib/prometheus/node-exporter/test", os.O_WRONLY | os.O_CREAT))
""")
        equal(out, ["end"])
        equal(marks(), [], "files that got out")
        os.unlink("/var/lib/prometheus/node-exporter/test")

    @proof("pnhwd.service reads what it must, and can do nothing that it must not")
    def _():
        out = in_sandbox("pnhwd.service", r"""
capabilities()
unreadable("/sys/firmware/dmi/tables/DMI", "/dev/nvme?")
can("has a network", has_network)
unwritable("/run/pnhw-probe/vm-mark")
readable("/proc/swaps", "/proc/mdstat", "/run/pnhw/mountinfo", "/sys/class/nvme/*/model",
         "/sys/bus/pci/devices/*/current_link_speed", "/sys/block/nvme*/size",
         "/sys/class/hwmon/*/name", "/sys/bus/pci/slots/*/address", "/run/udev/data/b*")
must("no probe", lambda: socket.socket(socket.AF_UNIX).connect("/run/pnhw-probe/admin.sock"))
must("keeps no state", lambda: opened(os.environ["STATE_DIRECTORY"] + "/test", os.O_WRONLY | os.O_CREAT))
""")
        equal(out, ["end"])
        equal(marks(), [], "files that got out")

    @proof("pnhw-probe-admin@.service reads what it must, and can do nothing that it must not")
    def _():
        out = in_sandbox("pnhw-probe-admin@.service", r"""
capabilities(2, 21)
can("has a network", has_network)
can("makes sockets", lambda: socket.socket(socket.AF_UNIX))
readable("/sys/firmware/dmi/tables/DMI", "/proc/cpuinfo", "/proc/meminfo", "/sys/class/nvme/*/serial")
for path in paths("/sys/bus/pci/devices/*/config"):
    must("cannot read config space", lambda: config(path))
for path in ("/dev/nvme0", *paths("/dev/nvme?")):
    must("cannot open", lambda: opened(path, os.O_RDONLY))
must("keeps no records", lambda: opened("/run/pnhw-probe/vm-test", os.O_WRONLY | os.O_CREAT))
""")
        equal(out, ["end"])
        equal(marks(), [], "files that got out")
        os.unlink("/run/pnhw-probe/vm-test")

    @proof("pnhw-probe-net@.service reads what it must, and can do nothing that it must not")
    def _():
        out = in_sandbox("pnhw-probe-net@.service", r"""
capabilities(12)
unreadable("/sys/firmware/dmi/tables/DMI", "/dev/nvme?")
if not glob.glob("/sys/class/net/*/device"):
    print("sees no ports")
must("has no netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
must("keeps no records", lambda: opened("/run/pnhw-probe/vm-test", os.O_WRONLY | os.O_CREAT))
""")
        equal(out, ["end"])
        equal(marks(), [], "files that got out")
        os.unlink("/run/pnhw-probe/vm-test")

    for unit, limit in EXPOSURE.items():
        @proof(f"systemd's measure of {unit} is at most {limit}")
        def _(unit=unit, limit=limit):
            text = run("systemd-analyze", "security", "--no-pager", unit.replace("@.", "@x."))
            level = re.search(r"level for \S+ ([0-9.]+)", text)
            check(level, text[-200:])
            check(float(level[1]) <= limit, f"it is {level[1]}")
            HOST.say(f"# {level[1]}")

    @proof("an ordinary user cannot start a privileged probe")
    def _():
        for path in (ADMIN_SOCKET, ADMIN_SOCKET.replace("admin", "net")):
            said = run(*asking(path, "host\n"), user="nobody")
            equal(said.strip(), "PermissionError")

    @proof("the daemon's user can")
    def _():
        said = run(*asking(ADMIN_SOCKET, "host\n"), user="pnhw")
        check('"end"' in said, said[-200:])

    @proof("a privileged probe answers nothing but names of sources, and no long line")
    def _():
        for question in ("/dev/nvme0\n", "host --help\n", "host " * 40 + "\n"):
            said = exchange(ADMIN_SOCKET, question.encode())
            equal(said, "", question[:20])

    @proof("an ordinary user reads, and cannot have the hardware read")
    def _():
        check(call("GetStatus", user="nobody")["summary"], "no summary")
        equal(call("Refresh", user="nobody"), {"error": "org.varlink.service.PermissionDenied"})

    @proof("a member of the group pnhw can have it read")
    def _():
        question = json.dumps({"method": "io.pnhw.Hardware.Refresh", "parameters": {}})
        text = run("runuser", "-u", "nobody", "-G", "pnhw", "--", *asking(SOCKET, question))
        check("generation" in json.loads(text)["parameters"], text)


def readings():
    @proof("the probe behind sockets reads what root reads: host, PCI, NVMe")
    def _():
        def stable(value):
            """Without what differs from reading to reading, or is joined from another source."""
            if isinstance(value, dict):
                return {k: stable(v) for k, v in value.items()
                        if k not in ("aer", "lost", "namespaces", "health", "vitals", "unread")
                        and v not in (None, [])}
            return [stable(v) for v in value] if isinstance(value, list) else value
        by_root = json.loads(run(PROBE, "host", "pci", "nvme"))
        by_daemon = inventory()
        for part in ("host", "pci", "nvme"):
            one, other = stable(by_root[part]), stable(by_daemon[part])
            if isinstance(one, list):
                equal(len(other), len(one), part)
                for a, b in zip(one, other):
                    equal(b, a, part)
            else:
                equal(other, one, part)

    @proof("config space is read beyond byte 64: supported speeds of links")
    def _():
        # A switch's downstream ports have none in QEMU.
        equal([f["address"] for f in inventory("pci")["pci"] if f.get("link") and
               f["link"]["max_width"] and not f["link"].get("supported_speeds")], [])

    @proof("SMBIOS, which is root's, is read")
    def _():
        host = inventory("host")["host"]
        check(host.get("dimms"), f"no memory modules: {host}")
        check(not host.get("unread"), f"unread: {host.get('unread')}")

    @proof("SMART is read by real admin commands, and says what nvme-cli says")
    def _():
        forget_health()
        after_reading(lambda: health_of("VM0"), "health")
        for serial in ("VM0", "SWITCHED0", "SWITCHED1"):
            health, log = health_of(serial), smart(serial)
            equal(health["temperature_c"], log["temperature"] - 273, "temperature")
            equal(health["used_percent"], log.get("percent_used", log.get("percentage_used")), "used")
            equal(health["spare_percent"], log["avail_spare"], "spare")
            equal(health["power_on_hours"], int(log["power_on_hours"]), "hours")
            equal(health["warning_temperature_c"], 70, "the drive's own limit")
            equal(health["critical_warnings"] or [], [], "warnings")

    @proof("a drive's own warning becomes a finding, and goes with it")
    def _():
        def warn(value):
            HOST.qemu("qom-set", path="/machine/peripheral/nvme0", property="smart_critical_warning",
                      value=value)
            forget_health()
        warn(4)
        found = after_reading(lambda: findings("nvme.critical_warning"), "health")
        equal([(f["device"], f["severity"]) for f in found], [(drive("VM0")["name"], "critical")])
        warn(0)
        after_reading(lambda: not findings("nvme.critical_warning"), "health")

    @proof("what is mounted on the machine is seen, and not the unit's own mounts")
    def _():
        disk = f"/dev/{drive('VM0')['name']}n1"
        run("mkfs.ext4", "-q", disk)
        os.makedirs("/srv/pool")
        run("udevadm", "trigger", "--settle", disk)
        run("mount", disk, "/srv/pool")
        try:
            after_reading(lambda: "/srv/pool" in json.dumps(drive("VM0")), "block")
        finally:
            run("umount", "/srv/pool")

    @proof("links at their best, of both ends by the kernel's own sysfs, are full")
    def _():
        healthy_links()
        address = drive("VM0")["address"]
        equal(read(f"/sys/bus/pci/devices/{address}/current_link_speed").split()[0], "16.0")

        def all_full():
            ratings = call("GetStatus")["ratings"]
            check(len(ratings) >= 6, f"{len(ratings)} links are rated")
            equal({r["address"]: (r["verdict"], r["reason"]) for r in ratings
                   if r["verdict"] != "full"}, {})
            return True
        after_reading(all_full, "pci")
        equal(findings("pcie.degraded"), [])

    @proof("a link below its rating is found, and named")
    def _():
        address = drive("VM0")["address"]
        set_link(address, 16, 4, 8, 2)
        equal(read(f"/sys/bus/pci/devices/{address}/current_link_width"), "2")
        found = after_reading(lambda: findings("pcie.degraded"), "pci")
        equal([f["address"] for f in found], [address])
        rating = next(r for r in call("GetStatus")["ratings"] if r["address"] == address)
        equal((rating["verdict"], rating["reason"], rating["percent"]), ("degraded", "both", 25))
        HOST.say(f"# {found[0]['summary']}")

    @proof("a switch's slow uplink is one finding, for both drives behind it")
    def _():
        uplink = parent(parent(drive("SWITCHED0")["address"]))
        set_link(uplink, 16, 4, 2.5, 4)
        found = after_reading(lambda: [f for f in findings("pcie.degraded")
                                       if f["address"] == uplink], "pci")
        names = {drive(f"SWITCHED{n}")["name"] for n in range(2)}
        check(names <= set(found[0]["affects"]), f"affects {found[0]['affects']}, not {names}")
        set_link(uplink, 16, 4)
        after_reading(lambda: len(findings("pcie.degraded")) == 1, "pci")


def speed():
    def counts(names):
        """What the drives themselves count, and the kernel: reads, sectors, writes."""
        text = {name: read(f"/sys/block/{name}n1/stat").split() for name in names}
        logs = {name: json.loads(run("nvme", "smart-log", f"/dev/{name}", "-o", "json")) for name in names}
        return {name: {"bytes": 512 * int(text[name][2]), "written": int(text[name][4]),
                       "host writes": int(logs[name]["host_write_commands"])} for name in names}

    def measure(drives, *options):
        """The results, after a look at what reached the drives."""
        before = counts(drives)
        results = json.loads(run("pnhwctl", "measure", "--seconds=1", "-j", *options, *drives))
        after = counts(drives)
        equal([r["device"] for r in results], [f"{name}n1" for name in drives])
        for name, result in zip(drives, results):
            equal((result["error"], result["engine"]), (None, "io_uring"))
            check(result["bytes"] > 0 and result["bytes_per_second"] > 0, f"{result}")
            # Nothing of it came from a cache.
            check(after[name]["bytes"] - before[name]["bytes"] >= result["bytes"],
                  f"read {result}, and the drive says {before[name]}, then {after[name]}")
            for what in "written", "host writes":
                equal(after[name][what], before[name][what], what)
        return results

    names = {serial: drive(serial)["name"] for serial in ("VM0", "SWITCHED0", "SWITCHED1")}

    @proof("pnhwctl measure reads a drive past all caches, says how fast and why, and writes nothing")
    def _():
        result, = measure([names["VM0"]])
        equal((result["link"], result["queue_depth"] > 1), (drive("VM0")["address"], True))
        check(result["limit"] and result["percent"] is not None, f"no verdict: {result}")
        page = run("pnhwctl", "measure", "--seconds=1", names["VM0"])
        check(re.search(r"\d (M|G|k)B/s, \d+ % of ", page) and "is the limit" in page, page)
        HOST.show(page)

    @proof("pnhwctl measure --random does, at random places")
    def _():
        result, = measure([names["VM0"]], "--random")
        equal((result["block_bytes"], result["queue_depth"]), (4096, 1))
        check("reads a second" in result["sentence"], result["sentence"])

    @proof("pnhwctl measure --together does, of drives behind one uplink")
    def _():
        results = measure([names["SWITCHED0"], names["SWITCHED1"]], "--together")
        equal([r["together"] for r in results], [True, True])
        page = run("pnhwctl", "measure", "--seconds=1", "--together", names["SWITCHED0"],
                   names["SWITCHED1"])
        HOST.say("# " + page.strip().splitlines()[-1])

    @proof("an ordinary user cannot measure")
    def _():
        said = run("sh", "-c", f"pnhwctl measure {names['VM0']} 2>&1; test $? != 0", user="nobody")
        check("measure as root" in said, said)


def hardware_that_changes():
    plug = {"driver": "nvme", "id": "hot", "bus": "spare", "drive": "dspare", "serial": "HOT"}

    pulled = {}

    def mails():
        return [read(path) for path in glob.glob(f"{MAIL}/*")]

    @proof("the package has its examples, and with them alerts are mailed")
    def _():
        for name in ("pnhw-mail", "pnhw-guest-hook.pl"):
            check(os.access(f"{EXAMPLES}/{name}", os.X_OK), f"{name} is not there, or no program")
        # As the unit says.
        run("cp", f"{EXAMPLES}/pnhw-notify@.service", "/etc/systemd/system/")
        run("install", f"{EXAMPLES}/pnhw-mail", "/usr/local/bin/")
        write("/usr/sbin/sendmail", f"#!/bin/sh\ncat > {MAIL}/.$$ && mv {MAIL}/.$$ {MAIL}/$$\n")
        os.chmod("/usr/sbin/sendmail", 0o755)
        run("install", "-d", "-o", "daemon", MAIL)
        run("systemctl", "daemon-reload")
        run("systemctl", "enable", "--now", "pnhw-notify@root.service")
        active("pnhw-notify@root.service")

    def seen(condition, since, what, limit=FEW):
        """Without a reading that somebody asked for."""
        eventually(condition, limit)
        HOST.say(f"# {time.monotonic() - since:.1f} s after {what}")

    @proof("a drive that is plugged in is there within a few seconds, and has its health")
    def _():
        HOST.qemu("device_add", **plug)
        eventually(lambda: is_plugged("HOT"))
        seen(lambda: not drive("HOT")["lost"], time.monotonic(), "its driver had it")
        after_reading(lambda: health_of("HOT"), "health")

    @proof("pulled out, it is lost within a few seconds, and a finding says so")
    def _():
        HOST.qemu("device_del", id="hot")
        eventually(lambda: not is_plugged("HOT"))
        pulled["at"] = time.time()
        seen(lambda: findings("nvme.lost"), time.monotonic(), "its driver had it no more")
        found = findings("nvme.lost")
        pulled["id"] = found[0]["id"]
        equal((len(found), found[0]["severity"], found[0]["state"]), (1, "critical", "new"))
        check("HOT" in found[0]["subject"], f"subject {found[0]['subject']}")
        equal(drive("HOT")["lost"], True)
        equal(told(pulled["id"], "raised"), [], "entries")
        HOST.say(f"# {found[0]['summary']}")

    @proof("10 s later the journal tells of it, and its catalog explains it")
    def _():
        fault = pulled["id"]
        after_reading(lambda: told(fault, "raised"), "nvme")
        entries = told(fault, "raised")
        equal(len(entries), 1, "entries")
        later = int(entries[0]["__REALTIME_TIMESTAMP"]) / 1e6 - pulled["at"]
        check(later > 9, f"it was told after {later:.1f} s")
        equal([entries[0].get(name) for name in ("PNHW_CODE", "PRIORITY", "SYSLOG_IDENTIFIER", "_UID")],
              ["nvme.lost", "2", "pnhwd", run("id", "-u", "pnhw").strip()])
        check(json.loads(entries[0]["PNHW_FINDING"])["id"] == fault, "another finding")
        equal(len(standing(fault)), 1, "alerts")
        page = run("journalctl", "--no-pager", "-x", f"PNHW_ID={fault}")
        page = " ".join(page.replace("░░", " ").split())
        check("@PNHW" not in page, f"a field is missing: {page}")
        for words in ("Subject: NVMe drive has disappeared", "the kernel lists it no longer",
                      "Documentation: man:pnhw-findings(7)"):
            check(words in page, f"no '{words}': {page}")
        HOST.say(f"# after {later:.0f} s: {entries[0]['MESSAGE']}")

    @proof("and it is mailed")
    def _():
        # Something else may have lasted long enough, too.
        mail = eventually(lambda: [m for m in mails() if pulled["id"] in m], FEW)[0]
        check(mail.startswith("To: root\nSubject: [pnhw pnhw-vm] critical: "), mail[:200])
        check("nvme.lost" in mail, mail)

    # Here the messages of one event come over several seconds: readings for them may already be
    # bounded as in a storm, one in 15 s.
    @proof("plugged in again, it is back by itself, and the finding is gone")
    def _():
        HOST.qemu("device_add", **plug)
        eventually(lambda: is_plugged("HOT"))
        pulled["back"] = time.time()
        seen(lambda: not drive("HOT")["lost"] and not findings("nvme.lost"), time.monotonic(),
             "its driver had it", 2 * FEW)
        equal((len(standing(pulled["id"])), told(pulled["id"], "cleared")), (1, []), "alerts, entries")

    @proof("a temperature over its limit is found, and its return")
    def _():
        run("modprobe", "i2c-stub", "chip_addr=0x18")
        run("modprobe", "-a", "jc42", "i2c-dev")
        bus = next(path.split("-")[-1] for path in glob.glob("/sys/bus/i2c/devices/i2c-*")
                   if "stub" in read(f"{path}/name").lower())

        def put(register, value):
            # The chip sends the high byte first.
            run("i2cset", "-f", "-y", bus, "0x18", hex(register),
                hex((value & 0xff) << 8 | value >> 8), "w")

        # Maker and type of a real chip, and its limits: 70 °C, critical 85 °C.
        for register, value in ((6, 0x1131), (7, 0xa201), (2, 70 << 4), (4, 85 << 4), (5, 40 << 4)):
            put(register, value)
        write(f"/sys/bus/i2c/devices/i2c-{bus}/new_device", "jc42 0x18")
        eventually(lambda: "jc42" in [read(path) for path in glob.glob("/sys/class/hwmon/*/name")])

        def seen():
            chips = inventory("sensors")["sensors"]
            check("jc42" in json.dumps(chips), f"chips {chips}, source {source('sensors')}")
            return True
        after_reading(seen, "sensors")
        equal(findings("sensor.hot"), [])
        put(5, 75 << 4)

        def hot():
            check(findings("sensor.hot"), f"chips {inventory('sensors')}, source {source('sensors')}")
            return findings("sensor.hot")
        found = after_reading(hot, "sensors")
        HOST.say(f"# {found[0]['summary']}")
        put(5, 40 << 4)
        after_reading(lambda: not findings("sensor.hot"), "sensors")

    # Aside, since modules are read once a minute at most, and a probe that hangs is waited for; ports are
    # other probes' business.
    slow_module, bad_probe = Aside(), Aside()
    ports.module_is_pulled(slow_module)
    probes_that_fail(bad_probe)
    slow_module.start()
    bad_probe.start()
    ports.bonds(seen)
    bad_probe.join()

    @proof("a drive that is back for a minute is told to be over, once, and mailed")
    def _():
        fault = pulled["id"]
        after_reading(lambda: told(fault, "cleared"), "nvme")
        entries = told(fault, "cleared")
        later = int(entries[0]["__REALTIME_TIMESTAMP"]) / 1e6 - pulled["back"]
        check(later > 59, f"it was told after {later:.1f} s")
        equal((len(entries), len(told(fault, "raised")), standing(fault)), (1, 1, []))
        equal(entries[0]["PRIORITY"], "5")
        HOST.say(f"# after {later:.0f} s: {entries[0]['MESSAGE']}")

        def over():
            return [m for m in mails() if re.search("^Subject: .* over: ", m, re.MULTILINE)
                    and "nvme.lost" in m]
        eventually(over, FEW)
        run("systemctl", "disable", "--now", "pnhw-notify@root.service")
        for path in ("/etc/systemd/system/pnhw-notify@.service", "/usr/local/bin/pnhw-mail"):
            os.unlink(path)

    slow_module.join()


def probes_that_fail(aside):
    @aside.proof("a probe that is killed costs its source, and nothing of what was known")
    def _():
        # A unit that starts with this gives the probe's place to something else.
        with replaced_probe("/usr/bin/sh -c 'kill -9 $$$$'"):
            after_reading(lambda: source("pci")["state"] == "stale", "pci")
            check(source("pci")["reason"], "no reason")
            check(len(inventory("pci")["pci"]) > 5, "functions were dropped")
            equal({name: why for name, why in unfresh().items()
                   if name in ("block", "net", "sensors", "module")}, {}, "others")

    @aside.proof("so does one that hangs, while others are answered at once")
    def _():
        with replaced_probe("/usr/bin/sleep 300"):
            deadline = time.monotonic() + 6 * DEADLINE
            with socket.socket(socket.AF_UNIX) as waiting:
                waiting.connect(SOCKET)
                time.sleep(2.1)
                waiting.sendall(b'{"method":"io.pnhw.Hardware.Refresh","parameters":'
                                b'{"sources":["pci"]}}\0')
                slowest = 0.0
                while source("pci")["state"] == "fresh" or f"{DEADLINE} s" not in source("pci")["reason"]:
                    start = time.monotonic()
                    call("GetStatus")
                    slowest = max(slowest, time.monotonic() - start)
                    check(time.monotonic() < deadline, f"source pci: {source('pci')}")
                    time.sleep(0.5)
            HOST.say(f"# the slowest answer meanwhile took {slowest:.1f} s")
            check(slowest < DEADLINE / 2, f"an answer took {slowest:.1f} s")
            check(len(inventory("pci")["pci"]) > 5, "functions were dropped")

    @aside.proof("and the source is fresh again at the next reading")
    def _():
        run("systemctl", "stop", "pnhw-probe-admin@*.service")
        all_fresh()


def life():
    @proof("a daemon that is frozen is restarted by the watchdog")
    def _():
        folder = f"{UNITS_OF_TEST}/pnhwd.service.d"
        os.makedirs(folder)
        write(f"{folder}/watchdog.conf", "[Service]\nWatchdogSec=8\n")
        run("systemctl", "daemon-reload")
        run("systemctl", "restart", "pnhwd.service")
        try:
            before = main_pid()
            os.kill(before, signal.SIGSTOP)
            eventually(lambda: main_pid() not in (0, before))
            all_fresh()
            check(journal("-u", "pnhwd.service", "--grep=[Ww]atchdog timeout"),
                  "the journal has no time-out of the watchdog")
        finally:
            os.unlink(f"{folder}/watchdog.conf")
            run("systemctl", "daemon-reload")

    @proof("one that is killed is back")
    def _():
        before = main_pid()
        os.kill(before, signal.SIGKILL)
        eventually(lambda: main_pid() not in (0, before))
        all_fresh()

    @proof("one that is stopped is started by the first who asks")
    def _():
        run("systemctl", "stop", "pnhwd.service")
        eventually(lambda: call("GetStatus")["summary"])
        active("pnhwd.service")

    def varlinkctl(*words):
        if not os.path.exists("/usr/bin/varlinkctl"):
            raise Skip(f"{run('systemctl', '--version').splitlines()[0]} has none")
        return run("varlinkctl", *words)

    @proof("varlinkctl info")
    def _():
        check("io.pnhw.Hardware" in varlinkctl("info", SOCKET), "not named")

    @proof("varlinkctl introspect")
    def _():
        text = varlinkctl("introspect", SOCKET, "io.pnhw.Hardware")
        check("method GetStatus" in re.sub(r"\x1b\[[0-9;]*m", "", text), text[-300:])

    @proof("varlinkctl call")
    def _():
        answer = json.loads(varlinkctl("call", "-j", SOCKET, "io.pnhw.Hardware.GetStatus", "{}"))
        check(answer["summary"], "no summary")


# ---- The proofs: after the reboot ---------------------------------------------------------------------


def second_boot():
    fault = read(f"{STATE}/finding")

    @proof("after a reboot it runs, and every source is fresh")
    def _():
        active(*UNITS)
        run("udevadm", "settle")
        all_fresh()
        equal(run("systemctl", "show", "-P", "NRestarts", "pnhwd.service").strip(), "0", "restarts")

    @proof("a fault that is still there has the name that it had, and the journal is not told twice")
    def _():
        healthy_links()
        address = drive("VM0")["address"]
        set_link(address, 16, 4, 8, 2)
        found = after_reading(lambda: findings("pcie.degraded"), "pci")
        equal([f["id"] for f in found], [fault], "id")
        after_reading(lambda: finding(fault)["state"] == "raised", "pci", "nvme")
        equal((len(told(fault, "raised")), len(told(fault, "cleared"))), (1, 0), "entries")

    @proof("an upgrade restarts it, and it works; what it has learned is kept")
    def _():
        before, known = main_pid(), {f["id"] for f in findings("pcie.degraded")}
        memory = remembered(fault)
        run("dpkg", "-i", "1.deb", timeout=900)
        check(main_pid() not in (0, before), "the same process runs")
        active(*UNITS)
        all_fresh()
        equal({f["id"] for f in findings("pcie.degraded")}, known, "findings")
        for name in ("since", "level", "told", "told_at", "raised_at"):
            equal(remembered(fault)[name], memory[name], name)
        equal(len(told(fault, "raised")), 1, "entries")

    @proof("the journal has no complaint about it")
    def _():
        expected = re.compile(r"watchdog|Watchdog|SIGKILL|SIGABRT|Main process exited|"
                              r"Failed with result|cannot be read|core-dump|status=9/KILL")
        entries = [json.loads(line) for line in journal(
            "-p", "warning", "-t", "systemd", "-t", "pnhwd", "-t", "pnhw-probe")]
        # Alerts are about the hardware.
        lines = [str(entry["MESSAGE"]) for entry in entries if "PNHW_CODE" not in entry]
        equal([line for line in lines if "pnhw" in line and not expected.search(line)], [])

    @proof("removed, nothing of it runs or listens")
    def _():
        shutil.rmtree(SLOW)
        run("dpkg", "-r", "pnhw", timeout=900)
        equal(glob.glob("/run/pnhw*"), [], "left in /run")
        running = run("systemctl", "list-units", "--plain", "--no-legend", "--state=running,listening",
                      "pnhw*")
        equal(running, "")
        processes = set()
        for path in glob.glob("/proc/[0-9]*/comm"):
            with contextlib.suppress(OSError):
                processes.add(read(path))
        equal([name for name in processes if name.startswith("pnhw")], [], "processes")
        check(not os.path.exists(METRICS), "the metrics are still there")
        check(remembered(fault), "what it had learned is gone")

    @proof("purged, no file of it is left, nor what it had learned")
    def _():
        run("dpkg", "-P", "pnhw", timeout=900)
        check(not os.path.exists(os.path.dirname(MEMORY)), "its folder is there")
        left = run("find", "/", "-xdev", "-name", "*pnhw*", "-not", "-path", "/var/lib/dpkg/*-old").split()
        equal([path for path in left if not path.startswith(("/proc", "/var/log"))], [])


def finish():
    HOST.say(f"end {int(HOST.failed)}")
    with open("/dev/ttyS0", "w", encoding="utf-8") as console:
        subprocess.run(["journalctl", "--no-pager", "-o", "short-monotonic"], stdout=console, check=False)
    os.sync()
    write("/proc/sysrq-trigger", "o")
    time.sleep(60)


def main():
    os.makedirs(STATE, exist_ok=True)
    phase = f"{STATE}/phase"
    now = read(phase) if os.path.exists(phase) else "first"
    HOST.failed = os.path.exists(f"{STATE}/failed")
    HOST.say(f"# {now} boot: Linux {os.uname().release}, "
             f"{run('systemctl', '--version').splitlines()[0]}; up for {read('/proc/uptime').split()[0]} s")
    try:
        if now == "first":
            write(phase, "unexpected")
            first_boot()
            write(f"{STATE}/finding", (findings("pcie.degraded") or [{"id": ""}])[0]["id"])
            if HOST.failed:
                write(f"{STATE}/failed", "")
            write(phase, "second")
            # systemd stops this, too; what it ends with says that all is well.
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            run("systemctl", "--no-block", "reboot")
            return
        check(now == "second", "the machine rebooted by itself: see the console")
        write(phase, "unexpected")
        second_boot()
    except Exception as error:  # pylint: disable=broad-exception-caught
        HOST.failed = True
        HOST.say(f"not ok - the proofs come to their end: {type(error).__name__}: {error}")
    finish()


main()
