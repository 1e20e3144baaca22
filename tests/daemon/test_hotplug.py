#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_hotplug.py BUILD_DIR [WORD...]: what pnhwd does when devices come, go and change hands, and
when links go down: in a network name space of its own, in which udev's messages can be sent and
interfaces made. The interval is a minute, so what is seen sooner was seen by its event. Prints one
line a case, as test_daemon.py."""

import concurrent.futures
import ctypes
import os
import platform
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import test_daemon
from test_daemon import (BUILD, FAKE_PROBE, HARDWARE, PNHWD, SOURCES, Daemon, Machine, Skip, check,
                         equal, eventually, running)

UEVENT = os.path.join(BUILD, "tests", "bed", "uevent")
INSIDE = "PNHW_TEST_INSIDE"
PORTS = {1: "/devices/pci0000:00/0000:00:01.0", 3: "/devices/pci0000:00/0000:00:03.0"}

CASES = []


def case(function):
    CASES.append(function)
    return function


def uevent(action, path, subsystem, *properties, count=1):
    subprocess.run([UEVENT, "-n", str(count), action, path, f"SUBSYSTEM={subsystem}", *properties],
                   check=True)


def function_event(action, bus=3, pci_class="10802"):
    uevent(action, f"{PORTS[bus]}/0000:0{bus}:00.0", "pci", f"PCI_CLASS={pci_class}")


def drive_event(action, number=1):
    bus = 1 + 2 * number
    uevent(action, f"{PORTS[bus]}/0000:0{bus}:00.0/nvme/nvme{number}", "nvme")
    uevent(action, f"{PORTS[bus]}/0000:0{bus}:00.0/nvme/nvme{number}/nvme{number}n1", "block",
           "DEVTYPE=disk")


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def functions(machine, driver, passed_through=False, present=True):
    """The second drive's function has this driver, or none."""
    found = machine.functions()
    if present:
        found[3][1]["driver"] = driver
        found[3][1]["passed_through"] = passed_through
    else:
        del found[3]
    machine.write("pci", machine.lines("pci", found))


def drives(d):
    found = d.ok("GetInventory", {"kinds": ["nvme"]})["inventory"]["nvme"]
    return {n["name"]: "lost" if n["lost"] else "here" for n in found}


def count(d):
    starts = d.machine.starts()
    return {s: starts.count(s) for s in SOURCES}


def settled(d, seconds=2.5):
    """Waits until no source has been started for so long; how often each was."""
    last, since = count(d), time.monotonic()
    while time.monotonic() < since + seconds:
        time.sleep(0.1)
        now = count(d)
        if now != last:
            last, since = now, time.monotonic()
    return last


class Subscriber(threading.Thread):
    """Keeps the codes of each snapshot's findings."""

    def __init__(self, d):
        super().__init__(daemon=True)
        self.connection = d.connect()
        self.connection.ask(HARDWARE + "Subscribe", more=True)
        self.seen = [self.codes()]
        self.ended = False
        self.start()

    def codes(self):
        event = self.connection.receive()
        check(event is not None, "the daemon is gone")
        return {f["code"] for f in event["parameters"]["status"]["findings"]}

    def run(self):
        while not self.ended:
            if select.select([self.connection.socket], [], [], 0.1)[0]:
                self.seen.append(self.codes())

    def end(self):
        self.ended = True
        self.join()
        return self.seen


# Drives


@case
def a_drive_that_appears_is_seen():
    with running(prepare=lambda m: m.nvme(["S0"])) as d:
        equal(drives(d), {"nvme0": "here"})
        d.machine.nvme(["S0", "S1"])
        start = time.monotonic()
        function_event("add")
        function_event("bind")
        drive_event("add")
        eventually("the drive", lambda: drives(d) == {"nvme0": "here", "nvme1": "here"}, 60)
        took = time.monotonic() - start
        check(took > 0.4, f"not debounced: {took:.1f} s")
        starts = settled(d)
        equal([starts[s] for s in ("pci", "nvme", "block", "health")], [2, 2, 2, 2])
        equal([starts[s] for s in ("host", "net", "module", "sensors")], [1, 1, 1, 1])


@case
def a_drive_that_was_taken_out_is_lost():
    with running() as d:
        d.machine.nvme(["S0", None])
        functions(d.machine, None, present=False)
        drive_event("remove")
        function_event("unbind")
        function_event("remove")
        eventually("the loss", lambda: drives(d) == {"nvme0": "here", "nvme1": "lost"}, 60)
        check(any(f["code"] == "nvme.lost" for f in d.ok("ListFindings")["findings"]), "no finding")


@case
def a_drive_that_died_is_lost():
    """Its function stays, without a driver: that is not what a guest's looks like for long."""
    with running() as d:
        subscriber = Subscriber(d)
        d.machine.nvme(["S0", None])
        functions(d.machine, None)
        drive_event("remove")
        function_event("unbind")
        eventually("the loss", lambda: drives(d) == {"nvme0": "here", "nvme1": "lost"}, 60)
        equal([c for c in subscriber.end() if "nvme.not_live" in c and "nvme.lost" not in c], [])


def hand_over(d, driver, passed_through, after):
    """From nvme to a guest's driver or back, so long after the last event of the old one."""
    functions(d.machine, None)
    if passed_through:
        d.machine.nvme(["S0", None])
        drive_event("remove")
    function_event("unbind")
    after()
    if not passed_through:
        d.machine.nvme(["S0", "S1"])
    functions(d.machine, driver, passed_through)
    function_event("bind")
    if not passed_through:
        drive_event("add")


def hand_over_and_back(d):
    """Twice, the second time with a reading in between. The codes of all snapshots; None if this
    machine was too slow for what the daemon waits for."""
    def verdict():
        return next((r["verdict"] for r in d.ok("GetStatus")["ratings"]
                     if r["address"] == "0000:03:00.0"), None)

    def in_between():
        """The next driver comes after the change has been read."""
        before = count(d)["pci"]
        eventually("a reading in between", lambda: count(d)["pci"] > before, 60)

    subscriber = Subscriber(d)
    took = []
    for after in (lambda: None), in_between:
        for driver, passed_through, there in (("vfio-pci", True, {"nvme0": "here"}),
                                              ("nvme", False, {"nvme0": "here", "nvme1": "here"})):
            start = time.monotonic()
            hand_over(d, driver, passed_through, after)
            took.append(time.monotonic() - start)
            eventually("the drive is where it belongs", lambda: drives(d) == there, 60)
            eventually("the verdict", lambda: verdict() == ("passed_through" if passed_through
                                                            else "full"), 60)
            settled(d, 1.2)
    # It holds a loss back for 3 s, and has to read what was last in the end.
    return subscriber.end() if max(took) < 1.5 else None


@case
def a_drive_for_a_guest_is_not_lost():
    for _ in range(4):
        with running() as d:
            seen = hand_over_and_back(d)
            if seen is None:
                continue
            check(len(seen) > 3, f"{len(seen)} snapshots")
            equal([c for c in seen if c & {"nvme.lost", "nvme.not_live"}], [])
            for words in "was handed over to vfio-pci", "was given back, to nvme":
                equal(d.log().count(words), 2, d.log())
            return
    raise Skip("this machine is too busy for what has to happen within 3 s")


@case
def a_drive_that_goes_before_its_function_is_not_lost():
    """The order in time: the drive is gone, and what was read of its function is from before."""
    with running() as d:
        subscriber = Subscriber(d)
        d.machine.nvme(["S0", None])
        # The first reading of pci finds nvme as the driver still, all later ones the guest's.
        found = d.machine.functions()
        found[3][1].update(driver="vfio-pci", passed_through=True)
        later = os.path.join(d.machine.folder, "later")
        with open(later, "w", encoding="utf-8") as file:
            file.write(d.machine.lines("pci", found))
        d.machine.script("pci", "cd $PNHW_FAKE; mv pci before; mv later pci; rm pci.sh; cat before")
        drive_event("remove")
        eventually("gone from the list", lambda: drives(d) == {"nvme0": "here"}, 60)
        equal([c for c in subscriber.end() if "nvme.lost" in c], [])


# How often


@case
def a_storm_costs_few_readings():
    with running() as d:
        before = count(d)
        for subsystem, path in (("nvme", PORTS[1] + "/0000:01:00.0/nvme/nvme0"),
                                ("block", PORTS[1] + "/ata1/block/sda"),
                                ("pci", PORTS[1] + "/0000:01:00.0"),
                                ("hwmon", "/devices/platform/hwmon/hwmon3"),
                                ("net", PORTS[3] + "/net/eno1")):
            uevent("change", path, subsystem, count=2000)
        eventually("an answer", lambda: d.ok("GetStatus"), 10)
        after = settled(d)
        for source in "pci", "nvme", "block", "net", "sensors":
            check(1 <= after[source] - before[source] <= 4, f"{source}: {after[source]} starts")
        equal(after["module"], 1, "a module is read once a minute at most")


@case
def a_storm_that_goes_on_costs_less_and_less():
    with running() as d:
        before = count(d)["sensors"]
        end = time.monotonic() + 17
        while time.monotonic() < end:
            uevent("change", "/devices/platform/hwmon/hwmon3", "hwmon")
            time.sleep(1.05 - 0.5 * (time.monotonic() % 0.2))
        n = count(d)["sensors"] - before
        check(5 <= n <= 8, f"{n} readings in 17 s")


@case
def an_overflow_reads_everything():
    with running() as d:
        before = count(d)
        d.process.send_signal(signal.SIGSTOP)
        # These touch the sensors alone.
        uevent("change", "/devices/platform/hwmon/hwmon3", "hwmon", "FILL=" + "x" * 2000,
               count=20000)
        d.process.send_signal(signal.SIGCONT)
        wanted = [s for s in SOURCES if s != "module"]  # that one a minute later
        eventually("all sources", lambda: all(count(d)[s] > before[s] for s in wanted), 60)
        after = settled(d)
        check(all(after[s] - before[s] <= 4 for s in wanted), after)


@case
def what_happens_during_a_reading_is_read_after_it():
    with running() as d:
        gate = os.path.join(d.machine.folder, "gate")
        d.machine.script("sensors", "until [ -e $PNHW_FAKE/gate ]; do sleep 0.05; done; "
                                    "cat $PNHW_FAKE/sensors")
        uevent("add", "/devices/platform/hwmon/hwmon3", "hwmon")
        eventually("a reading", lambda: count(d)["sensors"] == 2, 60)
        uevent("add", "/devices/platform/hwmon/hwmon4", "hwmon")
        time.sleep(1)
        equal(count(d)["sensors"], 2, "not while it is being read")
        with open(gate, "w", encoding="ascii"):
            pass
        eventually("one more", lambda: count(d)["sensors"] == 3, 60)
        equal(settled(d)["sensors"], 3)


@case
def noise_is_not_read():
    with running() as d:
        before = settled(d)
        for path in "zd0", "loop3", "dm-1", "md127", "zram0":
            uevent("change", "/devices/virtual/block/" + path, "block", "DEVTYPE=disk", count=20)
        uevent("add", "/devices/virtual/net/veth0", "net", count=20)
        uevent("add", "/devices/virtual/net/veth0/queues/rx-0", "queues", count=20)
        uevent("add", PORTS[1], "tty", count=20)
        equal(settled(d), before)


@case
def what_it_does_not_want_does_not_wake_it():
    with running() as d:
        settled(d)
        before = d.status_of_process("voluntary_ctxt_switches")
        uevent("add", "/devices/virtual/net/veth0/queues/rx-0", "queues", count=1000)
        time.sleep(1)
        equal(d.status_of_process("voluntary_ctxt_switches") - before, 0, "wake-ups")


@case
def messages_that_are_none():
    """Root alone may send any, and yet."""
    with running() as d:
        before = settled(d)
        sender = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15)
        for message in (b"x", b"libudev\0", b"libudev\0\xfe\xed\xca\xfe" + b"\xff" * 28,
                        b"add@/devices/x\0ACTION=add\0SUBSYSTEM=pci\0DEVPATH=/devices/x\0",
                        os.urandom(9000)):
            sender.sendto(message, (0, 2))
        sender.close()
        equal(settled(d), before)
        equal(d.log().count("\n"), 1, d.log())


# Links


def with_port(function):
    """With a port eno1, which the inventory has; here it is a virtual one, as its kind says."""
    def run():
        ip("link", "add", "eno1", "type", "veth", "peer", "name", "peer0")
        try:
            ip("link", "set", "peer0", "up")
            ip("link", "set", "eno1", "up")
            with running() as d:
                settled(d)
                function(d)
        finally:
            ip("link", "del", "peer0")
    run.__name__ = function.__name__
    return run


@case
@with_port
def a_link_that_goes_down_is_seen(d):
    for n, (interface, state) in enumerate([("eno1", "down"), ("eno1", "up"), ("peer0", "down"),
                                            ("peer0", "up")]):
        before = count(d)
        ip("link", "set", interface, state)
        eventually(f"{interface} {state}", lambda: count(d)["net"] > before["net"], 60)
        after = settled(d)
        check(after["net"] - before["net"] <= 2, f"{n}: {after}")
        equal(after["pci"], before["pci"], "what has nothing to do with it")


@case
@with_port
def a_notification_without_a_difference_is_not_read(d):
    before = count(d)
    for n in range(30):
        ip("link", "set", "eno1", "alias", f"alias{n}")
        ip("link", "set", "eno1", "promisc", "on" if n % 2 == 0 else "off")
    equal(settled(d), before)
    ip("link", "set", "eno1", "mtu", "1400")
    eventually("a difference", lambda: count(d)["net"] > before["net"], 60)


@case
@with_port
def interfaces_of_guests_are_not_read(d):
    before = count(d)
    for n in range(20):
        ip("link", "add", f"guest{n}", "type", "veth", "peer", "name", f"host{n}")
        ip("link", "set", f"host{n}", "up")
        ip("link", "del", f"guest{n}")
    ip("link", "set", "peer0", "mtu", "1300")
    equal(settled(d), before)


@case
@with_port
def a_port_that_is_renamed_or_vanishes_is_seen(d):
    before = count(d)
    ip("link", "set", "eno1", "name", "eno9")
    eventually("a new name", lambda: count(d)["net"] > before["net"], 60)
    before = settled(d)
    ip("link", "set", "eno9", "name", "eno1")
    eventually("the old name", lambda: count(d)["net"] > before["net"], 60)
    before = settled(d)
    ip("link", "del", "eno1")
    eventually("gone", lambda: count(d)["net"] > before["net"], 60)
    ip("link", "add", "peer0", "type", "veth")


# Sockets


@case
def sockets_from_systemd():
    """The daemon is in a network name space in which nothing ever happens."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(os.path.join(folder, "machine"))
        path = os.path.join(folder, "s")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()
        events = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15)
        events.bind((0, 2))
        links = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        links.bind((0, 1))
        kept = [listener, events, links]
        for n, sock in enumerate(kept):
            os.dup2(sock.fileno(), 20 + n)
        env = dict(os.environ, PNHW_FAKE=machine.folder, LISTEN_FDS="3", LISTEN_FDNAMES="a:b:c")
        process = subprocess.Popen(
            ["unshare", "--net", "bash", "-c",
             'exec 3<&20 4<&21 5<&22; LISTEN_PID=$$ exec "$@"', "bash", PNHWD,
             f"--probe={FAKE_PROBE}"], env=env, pass_fds=(20, 21, 22), stderr=subprocess.PIPE)
        try:
            for n, sock in enumerate(kept):
                os.close(20 + n)
                sock.close()

            class Running:
                def __init__(self):
                    self.machine = machine
            d = Running()
            eventually("the first readings", lambda: all(count(d).values()), 60)
            before = settled(d)
            uevent("add", "/devices/platform/hwmon/hwmon3", "hwmon")
            eventually("an event", lambda: count(d)["sensors"] > before["sensors"], 60)
            ip("link", "add", "eno1", "type", "veth")
            eventually("a link", lambda: count(d)["net"] > before["net"], 60)
            ip("link", "del", "eno1")
        finally:
            process.terminate()
            log = process.communicate(timeout=20)[1].decode()
        equal(process.returncode, 0, log)
        check("not told" not in log, log)


def forbid_netlink():
    """A filter of system calls under which socket(AF_NETLINK) fails as under the daemon's unit."""
    number = {"x86_64": 41, "aarch64": 198}[platform.machine()]
    errno = 0x00050000 | 97
    code = b"".join(struct.pack("=HBBI", *row) for row in (
        (0x20, 0, 0, 0), (0x15, 0, 3, number), (0x20, 0, 0, 16), (0x15, 0, 1, 16),
        (0x06, 0, 0, errno), (0x06, 0, 0, 0x7fff0000)))
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None)
    libc.prctl(38, 1, 0, 0, 0)
    return libc.prctl(22, 2, ctypes.c_char_p(program), 0, 0)


@case
def without_netlink_it_says_so_once():
    if platform.machine() not in ("x86_64", "aarch64"):
        raise Skip(f"the numbers of system calls of {platform.machine()} are not known here")
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(os.path.join(folder, "machine"))
        probe = "pnhwd: changes of devices and links are not told to us"
        child = os.fork()
        if child == 0:
            status = 1
            try:
                check(forbid_netlink() == 0, "no filter")
                with Daemon(folder, machine=machine) as d:
                    d.ok("GetStatus")
                    equal(d.log().count(probe), 1, d.log())
                    equal(d.log().count("\n"), 2, d.log())
                status = 0
            except BaseException as error:  # it is the parent that goes on
                print(f"# {error}", flush=True)
            finally:
                os._exit(status)
        equal(os.waitpid(child, 0)[1], 0)


def run_inside(function):
    """One case, by another process, in a network name space of its own; what it printed."""
    done = subprocess.run(["unshare", "-rn", sys.executable, *sys.argv],
                          env=dict(os.environ, **{INSIDE: function.__name__}),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout or f"not ok - {function.__name__}: it printed nothing\n"


def main():
    if shutil.which("ip") is None:
        print("skip - hotplug: needs ip, of Debian's package iproute2")
        return 0
    if subprocess.run(["unshare", "-rn", "true"], stderr=subprocess.DEVNULL,
                      check=False).returncode:
        print("skip - hotplug: this kernel or container allows no network name space of one's own")
        return 0
    words = sys.argv[2:]
    cases = [f for f in CASES
             if not words or any(word in f.__name__.replace("_", " ") for word in words)]
    failed = False
    # Most of the time they wait for nothing to happen, each for itself.
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for output in pool.map(run_inside, cases):
            print(output, end="", flush=True)
            failed = failed or not output.startswith(("ok - ", "skip - "))
    return 1 if failed else 0


if __name__ == "__main__":
    wanted = os.environ.pop(INSIDE, None)
    if not wanted:
        sys.exit(main())
    ip("link", "set", "lo", "up")
    test_daemon.CASES[:] = [f for f in CASES if f.__name__ == wanted]
    sys.argv[2:] = []
    sys.exit(test_daemon.main())
