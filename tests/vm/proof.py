# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the proofs in the virtual machine share: how one is run and told to the host, what they ask
of the system, of the daemon and of QEMU, and its emulated hardware. Knows no proof."""

import glob
import json
import os
import subprocess
import sys
import threading
import time
import tty

from ask import SOCKET, exchange

PROBE = "/usr/libexec/pnhw/pnhw-probe"
SOURCES = {"host", "pci", "nvme", "block", "net", "module", "health", "sensors"}
STATE = "/var/lib/vm-test"
SETS = "/sys/module/vmlink/parameters/set"
MEMORY = "/var/lib/pnhw/state.json"

# Seconds that a reading may take here.
DEADLINE = 30

# Seconds between two readings of the daemon's own: what is seen earlier was asked for, or an event.
INTERVAL = 900

# What "within a few seconds" may be without hardware virtualisation, beside other work; what it was is
# printed.
FEW = 60

# Registers' codes of speeds, in GT/s.
GTS = {2.5: 1, 5: 2, 8: 3, 16: 4}


class Skip(Exception):
    """What this machine cannot show, and why."""


# ---- Saying ---------------------------------------------------------------------------------------


class Host:
    """The other end of the serial port."""

    def __init__(self):
        self.fd = os.open("/dev/ttyS1", os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.fd)
        self.file = os.fdopen(os.dup(self.fd), "rb")
        self.lock = threading.RLock()
        self.failed = False

    def say(self, text):
        data = (text.replace("\n", " / ") + "\n").encode()
        with self.lock:
            while data:
                data = data[os.write(self.fd, data):]

    def show(self, page):
        """What a program printed."""
        for line in page.splitlines():
            if line.strip():
                self.say("# " + line)

    def qemu(self, command, **arguments):
        """One command to QEMU's monitor."""
        with self.lock:
            self.say("@ " + json.dumps({"execute": command, "arguments": arguments}))
            answer = json.loads(self.file.readline())
        check("return" in answer, f"QEMU, {command}: {answer.get('error')}")
        return answer["return"]


HOST = Host()

# Words of the proofs that are wanted; empty: all.
ONLY = []
if os.path.exists("only"):
    with open("only", encoding="utf-8") as words_wanted:
        ONLY = words_wanted.read().split("\n")


def check(truth, why):
    if not truth:
        raise AssertionError(why)


def equal(got, expected, what=""):
    check(got == expected, f"{what}{': ' if what else ''}got {got!r}, expected {expected!r}")


def outcome(name, function):
    """Runs a proof, and prints its line."""
    start = time.monotonic()
    try:
        function()
        line = f"ok - {name}"
    except Skip as why:
        line = f"skip - {name}: {why}"
    except Exception as error:  # pylint: disable=broad-exception-caught
        HOST.failed = True
        why = str(error) or type(error).__name__
        if not isinstance(error, AssertionError):
            why = f"{type(error).__name__}: {why}"
        line = f"not ok - {name}: {why[:1500]}"
    HOST.say(line)
    print(f"took {time.monotonic() - start:.1f} s: {name}", flush=True)


def is_wanted(name):
    return not ONLY or any(word in name for word in ONLY)


def proof(name):
    """Runs what follows at once, as a proof of that name."""
    def decorate(function):
        if is_wanted(name):
            outcome(name, function)
        return function
    return decorate


class Aside:
    """Proofs that wait most of their time, one after the other beside those that are run at once.
    They must change nothing that others look at."""

    def __init__(self):
        self.proofs, self.thread = [], None

    def proof(self, name):
        """Keeps what follows for start(), as a proof of that name."""
        def decorate(function):
            if is_wanted(name):
                self.proofs.append((name, function))
            return function
        return decorate

    def start(self):
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        for name, function in self.proofs:
            outcome(name, function)

    def join(self):
        if self.thread:
            self.thread.join()


# ---- Doing ----------------------------------------------------------------------------------------


def run(*command, user=None, stdin=None, timeout=240, good=True):
    """Its output; with `good` it has to succeed."""
    words = ["runuser", "-u", user, "--", *command] if user else list(command)
    done = subprocess.run(words, input=stdin, capture_output=True, text=True, timeout=timeout,
                          check=False, stdin=None if stdin is not None else subprocess.DEVNULL)
    check(done.returncode == 0 or not good,
          f"{' '.join(command)[:200]}: exit {done.returncode}: {(done.stdout + done.stderr)[-800:]}")
    return done.stdout


def eventually(condition, seconds=240, pause=0.2):
    """Until `condition` is true, or no longer raises; its last value."""
    end = time.monotonic() + seconds
    while True:
        error = "it is not so"
        try:
            value = condition()
            if value:
                return value
        except (AssertionError, OSError, KeyError, IndexError, ValueError) as why:
            error = f"{type(why).__name__}: {why}"
        check(time.monotonic() < end, f"after {seconds} s: {error}")
        time.sleep(pause)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().strip()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def asking(path, text):
    """A command that asks: for run(), as somebody else."""
    return sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "ask.py"), path, text


def call(method, user=None, timeout=120, **parameters):
    """A method's answer: its parameters, or {"error": …}."""
    question = json.dumps({"method": f"io.pnhw.Hardware.{method}", "parameters": parameters})
    if user:
        text = run(*asking(SOCKET, question), user=user)
    else:
        text = exchange(SOCKET, question.encode() + b"\0", timeout)
    answer = json.loads(text)
    return {"error": answer["error"]} if "error" in answer else answer["parameters"]


def refresh(*sources):
    """Reads again; what was read less than two seconds ago is not."""
    answer = call("Refresh", **({"sources": list(sources)} if sources else {}))
    check("generation" in answer, f"Refresh: {answer}")


def after_reading(condition, *sources, seconds=240):
    """Until `condition` is true of a new reading."""
    def once():
        refresh(*sources)
        return condition()
    return eventually(once, seconds, pause=1)


def inventory(*kinds):
    return call("GetInventory", **({"kinds": list(kinds)} if kinds else {}))["inventory"]


def source(name):
    return next(s for s in call("GetStatus")["sources"] if s["name"] == name)


def unfresh():
    """Sources that are not fresh, with why."""
    sources = {s["name"]: s for s in call("GetStatus")["sources"]}
    return {name: (sources.get(name) or {}).get("reason") or "no reason" for name in SOURCES
            if (sources.get(name) or {}).get("state") != "fresh"}


def all_fresh(seconds=400):
    """Waits until every source is; reads again what is not."""
    def once():
        why = unfresh()
        if why:
            refresh(*why)
        check(not why, f"not fresh: {why}")
        return True
    eventually(once, seconds, pause=1)


def findings(code):
    return [f for f in call("ListFindings")["findings"] if f["code"] == code]


def finding(identifier):
    """It, also if it is accepted."""
    found = [f for f in call("ListFindings", include_accepted=True)["findings"]
             if f["id"] == identifier]
    check(found, f"no finding {identifier}")
    return found[0]


def drive(serial):
    found = [d for d in inventory("nvme")["nvme"] if d["serial"] == serial]
    check(found, f"no drive {serial}")
    return found[0]


def health_of(serial):
    """It, or why there is none."""
    check(drive(serial).get("health"), f"no health: {drive(serial)}, source {source('health')}")
    return drive(serial)["health"]


def main_pid():
    return int(run("systemctl", "show", "-P", "MainPID", "pnhwd.service"))


def active(*units):
    equal(run("systemctl", "is-active", *units, good=False).split(), ["active"] * len(units))


def journal(*arguments):
    return run("journalctl", "--no-pager", "-a", "-o", "json", *arguments, good=False).splitlines()


def told(identifier, state):
    """The journal's entries of a finding that was raised or cleared, of all boots."""
    return [json.loads(line)
            for line in journal(f"PNHW_ID={identifier}", f"PNHW_STATE={state}")]


def standing(identifier):
    return [a for a in call("ListAlerts")["alerts"] if a["id"] == identifier]


def remembered(identifier):
    """What the daemon keeps of a finding over its own end."""
    return next(a for a in json.loads(read(MEMORY))["alerts"] if a["id"] == identifier)


# ---- Emulated hardware -----------------------------------------------------------------------------


def parent(address):
    return os.path.basename(os.path.dirname(os.path.realpath(f"/sys/bus/pci/devices/{address}")))


def links():
    """Addresses of functions that a port is above of."""
    return [address for address in sorted(os.listdir("/sys/bus/pci/devices"))
            if os.path.exists(f"/sys/bus/pci/devices/{address}/max_link_speed")
            and os.path.exists(f"/sys/bus/pci/devices/{parent(address)}")]


def set_link(address, speed, width, now=None, now_width=None):
    """Both ends of a link; the port that is above it has the same limits."""
    words = f"{GTS[speed]} {width} {GTS[now or speed]} {now_width or width}"
    for end in (address, parent(address)):
        write(SETS, f"{end} {words}")


def healthy_links():
    if not os.path.exists(SETS):
        run("insmod", "vmlink.ko")
    for address in links():
        nic = read(f"/sys/bus/pci/devices/{address}/class").startswith("0x02")
        set_link(address, 2.5 if nic else 16, 1 if nic else 4)


def smart(serial):
    """The log as nvme-cli reads it."""
    name = drive(serial)["name"]
    return json.loads(run("nvme", "smart-log", f"/dev/{name}", "-o", "json"))


def forget_health():
    """The interval between two commands to a drive is minutes; a proof does not wait that long."""
    for path in glob.glob("/run/pnhw-probe/drive-*"):
        os.unlink(path)


def is_plugged(serial):
    return any(read(path) == serial for path in glob.glob("/sys/class/nvme/*/serial"))
