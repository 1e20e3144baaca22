#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_health.py BUILD_DIR: runs pnhw-probe's sources health and sensors on fake hosts whose drives
answer as scripts say, and holds every command that it sends against what it may send.

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
import threading
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MKMACHINE = os.path.join(SOURCE, "tests", "bed", "mkmachine")
sys.path.insert(0, os.path.join(SOURCE, "tests", "bed"))
sys.path.insert(0, os.path.join(SOURCE, "tests"))
import nvme_data  # noqa: E402  pylint: disable=wrong-import-position
from cases import Skip, run_cases  # noqa: E402  pylint: disable=wrong-import-position

# With the time-out that goes to the drive, which is the kernel's own where nobody changed that.
IDENTIFY = "opcode=0x06 cdw10=0x00000001 nsid=0x0 length=4096 timeout=60000"
SMART = "opcode=0x02 cdw10=0x007f0002 nsid=0xffffffff length=512 timeout=60000"
NAMESPACE = "opcode=0x06 cdw10=0x00000000 nsid=0x1 length=4096 timeout=60000"

tests = []


def test(function):
    tests.append(function)
    function.waits = False
    return function


def slow_test(function):
    """A case that takes seconds, most of which it waits: begun first, beside others."""
    test(function)
    function.waits = True
    return function


def equal(what, ours, right):
    assert ours == right, f"{what} is {ours!r}, not {right!r}"


def unread(thing):
    return {entry["field"]: entry["reason"] for entry in thing.get("unread", [])}


class Host:
    """A fake host of a test's own: its tree, its script, and what a shell script on it printed."""

    def __init__(self, bed, machine, *options):
        self.bed = bed
        self.made = bed.tree(machine, *options)
        self.folder = bed.borrow(self.made)
        self.tree = os.path.join(self.folder, "tree")

    def script(self, *lines, keep=False):
        rest = ""
        if keep:
            with open(os.path.join(self.made, "nvme-script"), encoding="utf-8") as file:
                rest = file.read()
        self.write("nvme-script", "\n".join(lines) + "\n" + rest)

    def write(self, path, data):
        path = os.path.join(self.tree, path.lstrip("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.lexists(path):
            os.unlink(path)
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())

    def config(self, text):
        self.write("/etc/pnhw/pnhwd.conf", text)

    def smart(self, name, **health):
        self.write(f"/nvme/{name}/smart-log", nvme_data.smart_log(**health))

    def shell(self, command, timeout=120, user=None):
        """Runs a shell command with $P as the probe: what it printed, its commands, its end."""
        log = os.path.join(self.folder, "log")
        if os.path.exists(log):
            os.unlink(log)
        line = [self.bed.fakehost, "--quiet", "--log", log] + (["--uid", user] if user else [])
        environment = dict(os.environ, P=self.bed.probe)
        if "strace" in command:                       # the leak checker wants to trace, too
            environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        run = subprocess.run(line + [self.tree, "--", "sh", "-c", command], timeout=timeout,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                             env=environment)
        if run.returncode == 77:
            raise Skip(run.stderr.decode(errors="replace").strip())
        assert run.returncode == 0, (run.returncode, run.stderr.decode(errors="replace"))
        with open(log, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.end = lines[-1]
        commands = {}
        for line in lines[:-1]:
            if line.startswith("nvme"):
                name, queue, what = line.split(" ", 2)
                assert queue == "admin", line
                commands.setdefault(name, []).append(what)
        return run.stdout, commands

    def health(self, command="$P --lines health", **arguments):
        """The objects by drive, the closing line, and the commands."""
        out, commands = self.shell(command, **arguments)
        objects, end = {}, None
        for line in out.splitlines():
            line = json.loads(line)
            if "end" in line:
                end = line
            else:
                equal("kind", line["kind"], "nvme_health")
                objects[line["object"]["name"]] = line["object"]
        return objects, end, commands


def restore(folder, made):
    """Makes a tree of links what it was made from: what is not the same file was changed."""
    ours = {entry.name: entry for entry in os.scandir(folder)}
    for entry in os.scandir(made):
        own, path = ours.pop(entry.name, None), os.path.join(folder, entry.name)
        if own and own.is_dir(follow_symlinks=False) and entry.is_dir(follow_symlinks=False):
            restore(path, entry.path)
        elif not own or own.inode() != entry.inode():
            if own:
                os.unlink(path)
            os.link(entry.path, path, follow_symlinks=False)
    for entry in ours.values():
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


class Bed:
    def __init__(self, build, folder):
        self.folder = folder
        self.probe = os.path.join(build, "daemon", "probe", "pnhw-probe")
        self.fakehost = os.path.join(build, "tests", "bed", "fakehost")
        self.client = os.path.join(build, "cli", "pnhwctl")
        self.daemon = os.path.join(build, "daemon", "pnhwd")
        self.clock = os.path.join(folder, "clock.py")
        with open(self.clock, "w", encoding="utf-8") as file:
            file.write(CLOCK)
        self.trees = {}
        self.lock = threading.Lock()
        self.free = {}
        self.borrowed = threading.local()

    def tree(self, name, *options):
        """The machine as it was made, which no case may change; made once."""
        key = (name, options)
        with self.lock:
            making = self.trees.setdefault(key, threading.Lock())
        path = os.path.join(self.folder, "-".join((name,) + options).replace("/", ""))
        with making:
            if not os.path.exists(path):
                subprocess.run([sys.executable, MKMACHINE, name, path + ".new", *options],
                               check=True, stdout=subprocess.DEVNULL)
                os.rename(path + ".new", path)
        return path

    def borrow(self, made):
        """A folder with a copy of a tree, until the case ends. The copy is links, for a tree is
        thousands of small files; what a case changes it makes anew."""
        with self.lock:
            free = self.free.setdefault(made, [])
            folder = free.pop() if free else None
        if not folder:
            folder = tempfile.mkdtemp(dir=self.folder)
            subprocess.run(["cp", "-al", made, os.path.join(folder, "tree")], check=True)
        self.borrowed.list.append((folder, made))
        return folder

    def run(self, case):
        self.borrowed.list = []
        try:
            case(self)
        finally:
            for folder, made in self.borrowed.list:
                restore(os.path.join(folder, "tree"), made)
                with self.lock:
                    self.free[made].append(folder)


# ---- which commands ----

@test
def first_look(bed):
    host = Host(bed, "first-customer")
    objects, end, commands = host.health()
    equal("drives", sorted(objects), [f"nvme{i}" for i in range(5)])
    equal("end", (end["reason"], end["count"]), (None, 5))
    for i in range(5):
        equal(f"nvme{i}", commands[f"nvme{i}"],
              [f"{IDENTIFY} ok", f"{SMART} ok", f"{NAMESPACE} ok"])
    assert "unexpected=0" in host.end and "unused-answers=0" in host.end, host.end
    health = objects["nvme1"]["health"]
    equal("health", [health[key] for key in (
        "temperature_c", "warning_temperature_c", "critical_temperature_c", "spare_percent",
        "spare_threshold_percent", "used_percent", "data_units_written", "bytes_written",
        "critical_warnings", "sensors")],
          [47, 70, 90, 100, 10, 4, 34_000_000, 34_000_000 * 512_000, [], []])
    equal("namespaces", objects["nvme1"]["namespaces"],
          [{"nsid": 1, "used_bytes": 2000398934016}])


@test
def the_document_has_it_joined(bed):
    out, _ = Host(bed, "first-customer").shell("$P")
    document = json.loads(out)
    equal("nothing left over", document["nvme_health"], [])
    for drive in document["nvme"]:
        equal(drive["name"], (unread(drive), drive["health"]["critical_temperature_c"]), ({}, 90))
        equal("used", drive["namespaces"][0]["used_bytes"], 2000398934016)


@test
def one_look_an_interval_whoever_asks(bed):
    """Ten runs: one set of commands, and the same answer each time."""
    host = Host(bed, "first-customer")
    out, commands = host.shell("for i in 1 2 3 4 5 6 7 8 9 10; do $P health; done")
    temperatures = {tuple(h["health"]["temperature_c"] for h in json.loads(line)["nvme_health"])
                    for line in out.splitlines()}
    equal("answers", len(temperatures), 1 if "nvme_health" in out.decode() else 0)
    for name in commands:
        equal(name, len(commands[name]), 3)


@slow_test
def commands_of_a_day(bed):
    """What a drive costs: the record's clock is set back by five minutes, for a quarter of a day."""
    for busy, most in ((False, 150), (True, 288 + 24)):
        host = Host(bed, "first-customer")
        host.config("[Devices]\nExclude=nvme1 nvme2 nvme3 nvme4\n")
        lines = []
        for i in range(73 if busy else 0):
            # A busy drive: its counters grow.
            host.write(f"/nvme/log{i}", nvme_data.smart_log(host_writes=1000 + i))
            lines.append(f"nvme0 log:2 file:nvme/log{i} times=1")
        host.script(*lines, keep=True)
        _, commands = host.shell(f"""
            $P --lines health >/dev/null
            python3 {bed.clock} /run/pnhw-probe/drive-nvme0 300 72 $P""", timeout=300)
        first = 3
        count = (len(commands["nvme0"]) - first) * 4
        print(f"# {count} commands a day to {'a busy' if busy else 'an idle'} drive")
        assert 140 <= count <= most, count


@test
def error_log_when_its_counter_grew(bed):
    host = Host(bed, "first-customer")
    host.config("[Devices]\nExclude=nvme1 nvme2 nvme3 nvme4\n")
    host.smart("nvme0", error_log_entries=900)
    entries = b"".join((900 + n).to_bytes(8, "little") + bytes(4) + status.to_bytes(2, "little")
                       + bytes(50) for n, status in ((3, 0x4004), (2, 0x0502), (1, 0x2002)))
    host.write("/nvme/errors", entries)
    host.write("/new-log", nvme_data.smart_log(error_log_entries=903))
    host.script("nvme0 log:2 file:nvme/nvme0/smart-log times=1", "nvme0 log:2 file:new-log",
                "nvme0 log:1 file:nvme/errors", keep=True)
    objects, _, commands = host.health(f"""
        $P --lines health >/dev/null
        python3 {bed.clock} /run/pnhw-probe/drive-nvme0 700
        $P --lines health""")
    # One entry of the log's one (ELPE 0): no more than the drive has.
    equal("commands", commands["nvme0"],
          [f"{IDENTIFY} ok", f"{SMART} ok", f"{NAMESPACE} ok", f"{SMART} ok",
           "opcode=0x02 cdw10=0x000f0001 nsid=0xffffffff length=64 timeout=60000 ok"])
    health = objects["nvme0"]["health"]
    equal("errors", (health["error_log_entries"], health["refused_commands"],
                     health["failed_commands"]), (903, 1, 0))


# ---- drives that are not asked ----

@test
def fabrics_and_second_controllers(bed):
    host = Host(bed, "multipath")
    objects, _, commands = host.health()
    equal("asked", sorted(commands), ["nvme0"])
    equal("objects", sorted(objects), ["nvme0"])
    out, _ = host.shell("$P")
    drives = {d["name"]: d for d in json.loads(out)["nvme"]}
    equal("by TCP", (drives["nvme3"]["health"], unread(drives["nvme3"])), (None, {}))
    equal("the other controller", drives["nvme1"]["health"], drives["nvme0"]["health"])
    host.write("/sys/class/nvme/nvme0/state", "dead\n")
    _, _, commands = host.health()
    equal("asked instead", sorted(commands), ["nvme1"])


@test
def other_states(bed):
    host = Host(bed, "first-customer")
    for state in ("resetting", "connecting", "dead", "deleting", "new"):
        host.write("/sys/class/nvme/nvme2/state", state + "\n")
        objects, _, commands = host.health()
        assert "nvme2" not in commands, (state, commands)
        equal(state, unread(objects["nvme2"]), {"health": "io"})
        equal("others", unread(objects["nvme1"]), {})


@test
def the_last_good_answer_of_a_drive_that_resets(bed):
    host = Host(bed, "first-customer")
    objects, _, commands = host.health(
        f"$P --lines health >/dev/null; s={host.tree}/sys/class/nvme/nvme2/state; rm $s; "
        "echo resetting >$s; "
        "$P --lines health")
    equal("commands", len(commands["nvme2"]), 3)
    equal("health", objects["nvme2"]["health"]["temperature_c"], 40)


@test
def clouds_and_excluded(bed):
    host = Host(bed, "first-customer")
    host.write("/sys/class/nvme/nvme0/model", "Amazon EC2 NVMe Instance Storage       \n")
    host.config("[Devices]\nExclude=7QH00RZ9 0000:0c:00.0\nExclude=nvme[4]\n")
    objects, _, commands = host.health("strace -f -qq -e trace=openat -o /tmp/trace.$$ "
                                       "$P --lines health; grep -o '/dev/nvme[0-9]' /tmp/trace.$$ "
                                       "| sort -u >&2; rm /tmp/trace.$$"
                                       if shutil.which("strace") else "$P --lines health")
    equal("asked", sorted(commands), ["nvme3"])
    equal("why", {name: unread(objects[name])["health"] for name in objects if name != "nvme3"},
          {"nvme0": "unsupported", "nvme1": "excluded", "nvme2": "excluded", "nvme4": "excluded"})
    host.config("[Health]\nEmulatedDrives=yes\n")
    equal("on request", len(host.health()[2]["nvme0"]), 3)


@test
def without_privileges(bed):
    objects, _, commands = Host(bed, "first-customer").health(user="65534")
    equal("commands", commands, {})
    for drive in objects.values():
        equal(drive["name"], unread(drive)["health"], "permission")


@test
def without_a_place_to_remember(bed):
    """No record, no command: nothing would keep the interval."""
    objects, end, commands = Host(bed, "first-customer").health(
        "rmdir /run/pnhw-probe; touch /run/pnhw-probe; XDG_RUNTIME_DIR= $P --lines health")
    equal("commands", commands, {})
    equal("reasons", {unread(d)["health"] for d in objects.values()}, {"permission"})
    equal("end", end["reason"], None)


# ---- drives that misbehave ----

@slow_test
def every_status(bed):
    host = Host(bed, "first-customer")
    for answer, reason in (("status:0x4001", "unsupported"), ("status:0x4002", "unsupported"),
                           ("status:0x0006", "io"), ("status:0x0281", "io"),
                           ("status:0x0007", "timeout"), ("status:0x0371", "timeout"),
                           ("status:0x0109", "unsupported"), ("errno:EIO", "io"),
                           ("errno:EINTR", "io"), ("errno:ETIMEDOUT", "timeout"),
                           ("errno:EACCES", "permission"), ("ok", "malformed")):
        host.script(f"nvme1 log:2 {answer}", keep=True)
        objects, end, commands = host.health("$P --lines health >/dev/null; $P --lines health")
        equal(answer, unread(objects["nvme1"]), {"health": reason})
        equal("commands", len(commands["nvme1"]), 2)
        equal("others", [unread(objects[f"nvme{i}"]) for i in (0, 2, 3, 4)], [{}] * 4)
        equal("end", end["reason"], None)


@test
def identify_fails_once(bed):
    """Refused: limits are unknown, the rest is there. Failed: the drive is left alone."""
    host = Host(bed, "first-customer")
    for answer, fields, n in (("status:0x4002", {"warning_temperature_c", "critical_temperature_c"},
                               3), ("status:0x0006", None, 1), ("ok", None, 3)):
        host.script(f"nvme1 identify:1 {answer}", keep=True)
        objects, _, commands = host.health(f"""
            $P --lines health >/dev/null
            python3 {bed.clock} /run/pnhw-probe/drive-nvme1 200
            $P --lines health""")
        equal(answer, len(commands["nvme1"]), n)
        if fields:
            equal("unread", set(unread(objects["nvme1"]["health"])), fields)
    host.script("nvme1 identify:1 status:0x4002", keep=True)
    _, _, commands = host.health(f"""
        $P --lines health >/dev/null
        python3 {bed.clock} /run/pnhw-probe/drive-nvme1 400
        $P --lines health""")
    equal("not again", [c.split()[1] for c in commands["nvme1"]].count("cdw10=0x00000001"), 1)


@slow_test
def one_that_never_answers(bed):
    """Its own line alone; the others fresh; a clean and prompt end."""
    host = Host(bed, "first-customer")
    host.script("nvme2 log:2 hang", keep=True)
    start = time.monotonic()
    objects, end, commands = host.health()
    took = time.monotonic() - start
    assert took < 10, f"took {took:.1f} s"
    equal("hung", set(unread(objects["nvme2"]).values()), {"timeout"})
    equal("others", [unread(objects[f"nvme{i}"]) for i in (0, 1, 3, 4)], [{}] * 4)
    equal("end", end["reason"], None)
    equal("commands", commands["nvme2"], [f"{IDENTIFY} ok", f"{SMART} hang"])


@slow_test
def one_that_never_answered(bed):
    """Whoever asks again: no second command, and the others are there."""
    host = Host(bed, "first-customer")
    host.script("nvme2 log:2 hang", keep=True)
    objects, _, commands = host.health("""
        $P --lines health >/dev/null; $P --lines health >/dev/null; $P --lines health""")
    equal("stuck", unread(objects["nvme2"]), {"health": "stuck"})
    equal("no second command", commands["nvme2"], [f"{IDENTIFY} ok", f"{SMART} hang"])
    equal("others", [unread(objects[f"nvme{i}"]) for i in (0, 1, 3, 4)], [{}] * 4)


@slow_test
def one_that_never_answers_when_asked_again(bed):
    host = Host(bed, "first-customer")
    host.script("nvme2 log:2 hang", keep=True)
    # After ten minutes one more; after that, twenty.
    objects, _, commands = host.health(f"""
        $P --lines health >/dev/null
        python3 {bed.clock} /run/pnhw-probe/drive-nvme2 590; $P --lines health >/dev/null
        python3 {bed.clock} /run/pnhw-probe/drive-nvme2 10; $P --lines health >/dev/null
        python3 {bed.clock} /run/pnhw-probe/drive-nvme2 1100; $P --lines health""")
    equal("two in half an hour", commands["nvme2"].count(f"{SMART} hang"), 2)
    equal("stuck", unread(objects["nvme2"]), {"health": "stuck"})


@test
def one_whose_command_is_still_out(bed):
    """Another process holds the record: nothing is sent."""
    if not shutil.which("flock"):
        raise Skip("flock is not installed")
    objects, _, commands = Host(bed, "first-customer").health(
        "touch /run/pnhw-probe/drive-nvme2; "
        "flock -o /run/pnhw-probe/drive-nvme2 $P --lines health")
    equal("stuck", unread(objects["nvme2"]), {"health": "stuck"})
    assert "nvme2" not in commands, commands


@slow_test
def one_that_answers_late(bed):
    """After 90 s: given up; while the process waits nobody asks again; the others go on."""
    host = Host(bed, "first-customer")
    host.script("nvme2 log:2 file:nvme/nvme2/smart-log delay=90000", keep=True)
    start = time.monotonic()
    objects, _, commands = host.health("$P --lines health >/dev/null; $P --lines health")
    assert time.monotonic() - start < 12
    equal("late", unread(objects["nvme2"]), {"health": "stuck"})
    equal("asked once", len(commands["nvme2"]), 2)
    equal("others", [unread(objects[f"nvme{i}"]) for i in (0, 1, 3, 4)], [{}] * 4)


@slow_test
def a_slow_one_is_asked_less(bed):
    host = Host(bed, "first-customer")
    host.script("nvme2 log:2 file:nvme/nvme2/smart-log delay=1300", keep=True)
    objects, _, commands = host.health(f"""
        $P --lines health >/dev/null
        python3 {bed.clock} /run/pnhw-probe/drive-nvme2 590; $P --lines health >/dev/null
        python3 {bed.clock} /run/pnhw-probe/drive-nvme2 10; $P --lines health >/dev/null
        python3 {bed.clock} /run/pnhw-probe/drive-nvme2 1000; $P --lines health""")
    equal("looks", [c for c in commands["nvme2"] if "0x007f0002" in c], [f"{SMART} ok"] * 2)
    equal("health", unread(objects["nvme2"]), {})


@test
def a_hot_one_is_asked_more(bed):
    host = Host(bed, "first-customer")
    host.smart("nvme2", temperature_c=66)
    _, _, commands = host.health(f"""
        $P --lines health >/dev/null
        python3 {bed.clock} /run/pnhw-probe/drive-nvme2 60
        python3 {bed.clock} /run/pnhw-probe/drive-nvme1 60
        $P --lines health""")
    equal("hot", len(commands["nvme2"]), 4)
    equal("cool", len(commands["nvme1"]), 3)


@test
def one_that_vanishes(bed):
    host = Host(bed, "first-customer")
    host.script("nvme2 log:2 errno:ENODEV", keep=True)
    objects, end, _ = host.health()
    equal("still listed", unread(objects["nvme2"]), {"health": "io"})
    host.script("nvme2 log:2 errno:ENODEV delay=1000", keep=False)
    objects, end, _ = host.health(f"(sleep 0.4; rm {host.tree}/sys/class/nvme/nvme2) & "
                                  "$P --lines health")
    assert "nvme2" not in objects, objects["nvme2"]
    equal("end", end["reason"], None)


@test
def a_new_drive_of_the_same_name(bed):
    """Another serial number: another drive, which is asked at once."""
    host = Host(bed, "first-customer")
    objects, _, commands = host.health(
        f"$P --lines health >/dev/null; s={host.tree}/sys/class/nvme/nvme2/serial; rm $s; "
        "echo OTHER >$s; $P --lines health")
    equal("commands", len(commands["nvme2"]), 6)
    equal("serial", objects["nvme2"]["serial"], "OTHER")


@test
def damaged_records(bed):
    host = Host(bed, "first-customer")
    objects, _, commands = host.health("""
        $P --lines health >/dev/null
        cd /run/pnhw-probe
        : >drive-nvme0
        head -c 700 drive-nvme1 >x; cat x >drive-nvme1; rm x
        dd if=/dev/urandom of=drive-nvme2 bs=1 seek=300 count=64 conv=notrunc 2>/dev/null
        dd if=/dev/urandom of=drive-nvme3 bs=9000 count=1 2>/dev/null
        $P --lines health""")
    equal("asked again", [len(commands[f"nvme{i}"]) for i in range(5)], [6, 6, 6, 6, 3])
    equal("all there", [unread(d) for d in objects.values()], [{}] * 5)


def add_drives(host, first, end):
    """More drives, of which there is no more than what sources of health look at."""
    like = "/sys/class/nvme/nvme1/"
    for i in range(first, end):
        path = f"/sys/class/nvme/nvme{i}/"
        for name in ("transport", "state", "model", "firmware_rev", "cntlid"):
            with open(host.tree + like + name, "rb") as file:
                host.write(path + name, file.read())
        host.write(path + "address", f"1000:{i:02x}:00.0\n")
        host.write(path + "serial", f"SERIAL{i:014}\n")
        with open(host.tree + "/dev/nvme1", encoding="utf-8") as file:
            host.write(f"/dev/nvme{i}", file.read().replace(":1", f":{i}"))


@slow_test
def a_hundred_of_which_three_hang(bed):
    host = Host(bed, "first-customer")
    add_drives(host, 5, 100)
    host.script(*(f"nvme{i} log:2 hang" for i in (3, 50, 99)),
                *(f"nvme{i} {answer}" for i in range(5, 100) for answer in (
                    "identify:1 file:nvme/nvme1/identify-controller",
                    "log:2 file:nvme/nvme1/smart-log")), keep=True)
    start = time.monotonic()
    objects, end, commands = host.health()
    took = time.monotonic() - start
    print(f"# 100 drives, 3 of which hang: {took:.1f} s")
    equal("drives", len(objects), 100)
    equal("marked", sorted(n for n, d in objects.items() if unread(d)), ["nvme3", "nvme50", "nvme99"])
    equal("end", end["reason"], None)
    assert took < 10, f"took {took:.1f} s"


@test
def never_less_than_the_kernels_timeout(bed):
    """What goes to the drive with each command; 0 is the kernel's own."""
    path = "/sys/module/nvme_core/parameters/admin_timeout"
    host = Host(bed, "first-customer")
    for kernels, right in ((None, 60000), ("60", 60000), ("30", 60000), ("61", 61000),
                           ("120", 120000), ("3600", 3600000), ("86400", 0), ("nonsense", 0)):
        if kernels:
            host.write(path, f"{kernels}\n")
        _, _, commands = host.health()
        found = {word for sent in commands.values() for command in sent
                 for word in command.split() if word.startswith("timeout=")}
        equal(f"for {kernels}", found, {f"timeout={right}"})
        equal("commands", sum(map(len, commands.values())), 15)
    os.unlink(host.tree + path)
    _, _, commands = host.health()
    assert all(" timeout=0 " in command for sent in commands.values() for command in sent), commands


# ---- sensors ----

def chips(host, command="$P sensors"):
    out, commands = host.shell(command)
    equal("commands to drives", commands, {})
    return {chip["chip"]: chip for chip in json.loads(out)["sensors"]}, json.loads(out)["sources"][0]


def readings(chip):
    return {r["feature"]: r for r in chip["readings"]}


@test
def network_cards_are_named(bed):
    """A chip of a card is called after its interface, without one after its slot."""
    host = Host(bed, "first-customer")
    for n, (address, name) in enumerate((("0000:04:00.0", "ixgbe"), ("0000:04:00.1", "ixgbe"))):
        device = "/" + os.path.relpath(os.path.realpath(
            host.tree + "/sys/bus/pci/devices/" + address), os.path.realpath(host.tree))
        host.write(f"{device}/hwmon/hwmon{70 + n}/name", name + "\n")
        host.write(f"{device}/hwmon/hwmon{70 + n}/temp1_input", f"{60000 + n * 20000}\n")
        os.symlink(f"../../../{address}", host.tree + f"{device}/hwmon/hwmon{70 + n}/device")
        os.symlink(f"../../..{device}/hwmon/hwmon{70 + n}",
                   host.tree + f"/sys/class/hwmon/hwmon{70 + n}")
    out, _ = host.shell(f"$P >/run/i; {bed.client} --from=/run/i sensors; "
                        f"{bed.client} --from=/run/i status; "
                        f"{bed.client} --from=/run/i sensors --json=short")
    words = out.decode()
    assert "network card enp4s0f0 \u00b7 04:00.0 \u00b7 ixgbe-pci-0400" in words, words
    assert "network card PCIEX16_3 \u00b7 04:00.1 \u00b7 ixgbe-pci-0401" in words, words
    assert "hottest sensor network card PCIEX16_3 temp1" in " ".join(words.split()), words


@test
def chips_of_the_first_customer(bed):
    found, source = chips(Host(bed, "first-customer"))
    equal("state", source["state"], "fresh")
    equal("chips", sorted(found), ["k10temp-pci-00c3", "nct6798-isa-0290"])
    equal("device", found["k10temp-pci-00c3"]["device"], "0000:00:18.3")
    tctl, tccd = (readings(found["k10temp-pci-00c3"])[f] for f in ("temp1", "temp3"))
    equal("Tctl", (tctl["label"], tctl["kind"], tctl["value"]), ("Tctl", "control", 45.125))
    equal("Tccd1", (tccd["kind"], tccd["value"], tccd["unit"]), ("temperature", 43, "\u00b0C"))
    fan = readings(found["nct6798-isa-0290"])["fan5"]
    equal("fan", (fan["kind"], fan["value"], fan["unit"], fan["plausible"]),
          ("fan", 2900, "RPM", True))


def hwmon(host, chip):
    base = os.path.join(host.tree, "sys/class/hwmon")
    for name in os.listdir(base):
        with open(os.path.join(base, name, "name"), encoding="utf-8") as file:
            if file.read().strip() == chip:
                return os.path.join(base, name)
    raise AssertionError(f"no chip {chip}")


@test
def sentinels_and_nonsense(bed):
    """Cases 069 and 070."""
    host = Host(bed, "first-customer")
    values = {2: 127000, 3: -128000, 4: 3892313987, 5: 255000, 6: 511000, 7: -263000, 8: 0,
              9: 89000}
    for n, value in values.items():
        host.write(os.path.join(os.path.relpath(hwmon(host, "nct6798"), host.tree),
                                f"temp{n}_input"), f"{value}\n")
    host.write(os.path.relpath(hwmon(host, "nct6798"), host.tree) + "/temp9_max", "127000\n")
    host.write(os.path.relpath(hwmon(host, "nct6798"), host.tree) + "/temp9_crit", "-128000\n")
    found = readings(chips(host)[0]["nct6798-isa-0290"])
    for n, value in values.items():
        equal(f"temp{n}", found[f"temp{n}"]["plausible"], n == 9)
        if n in (4, 5, 6, 7):
            equal("no value", (found[f"temp{n}"]["value"], unread(found[f"temp{n}"])),
                  (None, {"value": "malformed"}))
    equal("limits", (found["temp9"]["max"], found["temp9"]["critical"]), (None, None))
    # What is no number is not a lack of privileges; limits that nobody set raise no alarm.
    base = os.path.relpath(hwmon(host, "nct6798"), host.tree)
    for name, text in (("temp10_input", "garbage\n"), ("temp11_input", ""), ("temp12_input", "nan\n"),
                       ("in5_input", "4080\n"), ("in5_min", "0\n"), ("in5_max", "0\n"),
                       ("in5_alarm", "1\n"), ("in6_input", "4080\n"), ("in6_min", "0\n"),
                       ("in6_max", "3000\n"), ("in6_alarm", "1\n")):
        host.write(f"{base}/{name}", text)
    found = readings(chips(host)[0]["nct6798-isa-0290"])
    for name in ("temp10", "temp11", "temp12"):
        equal(name, unread(found[name]), {"value": "malformed"})
    equal("alarms", (found["in5"]["alarm"], found["in6"]["alarm"]), (None, True))


@test
def limits_of_a_drive_that_make_no_sense(bed):
    """Are no limits on any page; the rules take others (case 044)."""
    host = Host(bed, "first-customer")
    host.config("[Devices]\nExclude=nvme3 nvme4\n")
    for i, (warning, critical) in enumerate(((273, 300), (358, 353), (353, 358))):
        host.write(f"/nvme/nvme{i}/identify-controller", nvme_data.identify_controller(
            model="M", serial="S", firmware="F", warning_k=warning, critical_k=critical))
        host.smart(f"nvme{i}", temperature_c=66)
    out, _ = host.shell(f"$P >/run/i; COLUMNS=120 {bed.client} --from=/run/i sensors")
    lines = [" ".join(line.split()[1:]) for line in out.decode().splitlines() if "Drive" in line]
    equal("lines", lines, ["66 \u00b0C", "66 \u00b0C 85 \u00b0C", "66 \u00b0C 80 \u00b0C 85 \u00b0C"])


@test
def the_administrators_files(bed):
    host = Host(bed, "first-customer")
    host.write("/etc/sensors3.conf", 'chip "nct6798-*"\n  label fan1 "Pump"\n  ignore fan2\n'
                                     '  compute in0 @*2, @/2\n')
    found, source = chips(host)
    equal("state", source["state"], "fresh")
    found = readings(found["nct6798-isa-0290"])
    equal("label", found["fan1"]["label"], "Pump")
    assert "fan2" not in found
    equal("computed", found["in0"]["value"], 2.032)
    host.write("/etc/sensors3.conf", 'chip "nct6798-*"\n  label fan1\n')
    found, source = chips(host)
    equal("chips all the same", len(found), 2)
    equal("state", source["state"], "failed")
    assert "sensors3.conf:" in source["reason"], source["reason"]


@slow_test
def slow_buses_delay_nobody(bed):
    """A chip that hangs costs its own line; those that are slow by nature are left alone."""
    host = Host(bed, "first-customer")
    slowfile = os.path.join(os.path.dirname(bed.fakehost), "slowfile")
    if os.path.exists(slowfile) and os.access("/dev/fuse", os.W_OK):
        name = os.path.basename(hwmon(host, "nct6798"))
        start = time.monotonic()
        found, _ = chips(host, f"""
            {slowfile} "$(readlink -f /sys/class/hwmon/{name})/fan3_input" -1 x & sleep 0.5
            # Its thread is in the kernel for good: the process cannot end, and is not waited for.
            $P sensors >/run/out & sleep 4; cat /run/out""")
        assert time.monotonic() - start < 10
        equal("hung", set(unread(found["nct6798-isa-0290"]).values()), {"timeout"})
        equal("the other", unread(found["k10temp-pci-00c3"]), {})
    host = Host(bed, "first-customer")
    host.write(os.path.relpath(hwmon(host, "k10temp"), host.tree) + "/name", "power_meter\n")
    found, _ = chips(host)
    left = next(c for name, c in found.items() if name.startswith("power_meter"))
    equal("left alone", unread(left), {"readings": "unsupported"})
    host.config("[Sensors]\nSlowBuses=yes\n")
    left = next(c for name, c in chips(host)[0].items() if name.startswith("power_meter"))
    equal("on request", len(left["readings"]), 2)


@test
def a_sleeping_chip_sleeps_on(bed):
    host = Host(bed, "first-customer")
    power = os.path.relpath(os.path.realpath(os.path.join(
        host.tree, "sys/bus/pci/devices/0000:00:18.3")), host.tree) + "/power/"
    host.write(power + "runtime_status", "suspended\n")
    host.write(power + "control", "auto\n")
    found, _ = chips(host)
    equal("asleep", unread(found["k10temp-pci-00c3"]), {"readings": "asleep"})


@test
def what_cannot_be_put_to_sleep_is_read(bed):
    """An I2C adapter says "suspended" all its life; it has no power/control."""
    host = Host(bed, "first-customer")
    power = os.path.relpath(os.path.realpath(os.path.join(
        host.tree, "sys/bus/pci/devices/0000:00:18.3")), host.tree) + "/power/"
    host.write(power + "runtime_status", "suspended\n")
    if os.path.exists(os.path.join(host.tree, power + "control")):
        os.unlink(os.path.join(host.tree, power + "control"))
    found, _ = chips(host)
    equal("read", unread(found["k10temp-pci-00c3"]), {})


@test
def drives_hwmon_is_not_read(bed):
    """Each of those attributes is a command to the drive (case 022)."""
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    host = Host(bed, "first-customer")
    out, _ = host.shell("strace -f -y -qq -e trace=openat,open -o /proc/self/fd/1 $P sensors")
    for line in out.decode(errors="replace").splitlines():
        if "hwmon" in line and re.search(r"/(temp|fan|in)\d+_", line):
            chip = re.search(r'hwmon/(hwmon\d+)', line)
            if chip:
                with open(os.path.join(host.tree, "sys/class/hwmon", chip.group(1), "name"),
                          encoding="utf-8") as file:
                    assert file.read().strip() != "nvme", line


@slow_test
def forty_chips_cost_what_libsensors_costs(bed):
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    counts = []
    host = Host(bed, "first-customer")
    for n in (1, 41):
        folder = hwmon(host, "nct6798")
        for i in range(2, n + 1):
            host.write(os.path.relpath(folder, host.tree) + f"/temp{i}_input", "41000\n")
        out, _ = host.shell("strace -f -c -o /proc/self/fd/2 $P sensors 2>&1 >/dev/null")
        counts.append(int(re.findall(rb"^100\.00.*?(\d+) +\d* *total", out, re.M)[0]))
    each = (counts[1] - counts[0]) / 40
    print(f"# {each:.1f} system calls a reading")
    # Of libsensors: the label and the value, each open, fstat, read (twice) and close.
    assert each <= 12, each


# ---- the policy file ----

@test
def mistakes_in_the_policy(bed):
    """Each is said with file and line, and the rest counts."""
    host = Host(bed, "first-customer")
    check = f"{bed.daemon} --check-config 2>&1 && echo good || true"
    equal("none", host.shell(check)[0], b"The configuration is good.\ngood\n")
    host.config("""# ours
[Health]
Interval = 10min
Intervall=5min
HotInterval=5 parsecs
[Limits]
DriveWarning=hot
hello
[Nonsense]
a=b
[Devices]
Exclude=nvme1 nvme2
Exclude=nvme3 nvme4
""" + "x" * 5000 + "\n[Links]\nExpect=nvme3 9 GT/s x4\n")
    host.write("/etc/pnhw/pnhwd.conf.d/20-b.conf", "[Devices]\nExclude=\nExclude=nvme0\n")
    host.write("/etc/pnhw/pnhwd.conf.d/10-a.conf", "[Devices]\nExclude=nvme4\n[Health\n")
    host.write("/etc/pnhw/pnhwd.conf.d/30-c.txt", "nonsense\n")
    out = host.shell(check)[0].decode().splitlines()
    places = [(line.split(":")[0].rsplit("/", 1)[1], int(line.split(":")[1])) for line in out]
    equal("places", places, [("pnhwd.conf", n) for n in (4, 5, 7, 8, 10, 14, 16)]
          + [("10-a.conf", 3)])
    for word, line in zip(("Intervall", "parsecs", "degrees", "Key=Value", "[Nonsense]", "long",
                           "9 GT/s", "no ]"), out):
        assert word in line, (word, line)
    objects, _, commands = host.health()
    equal("the rest counts, later lines win", sorted(commands),
          ["nvme1", "nvme2", "nvme3", "nvme4"])
    equal("excluded", unread(objects["nvme0"])["health"], "excluded")


@test
def mistakes_in_several_lines_of_the_policy(bed):
    """Of keys that contradict each other, the last that was set is named."""
    host = Host(bed, "first-customer")
    host.config("[Limits]\nDriveWarning=80\nDriveCritical=70\n[Daemon]\nInterval=60\n")
    host.write("/etc/pnhw/pnhwd.conf.d/10-a.conf", "[Limits]\nWornInfo=90\nWornWarning=80\n")
    out = host.shell(f"{bed.daemon} --check-config 2>&1 || true")[0].decode().splitlines()
    equal("places", [line.split(": ")[0] for line in out[:2]],
          ["/etc/pnhw/pnhwd.conf:3", "/etc/pnhw/pnhwd.conf.d/10-a.conf:3"])
    assert "DriveWarning is not below DriveCritical" in out[0], out
    assert "WornInfo is above WornWarning" in out[1], out


@test
def the_policys_interval(bed):
    host = Host(bed, "first-customer")
    host.config("[Health]\nInterval=30s\n")
    _, _, commands = host.health(f"""
        $P --lines health >/dev/null
        python3 {bed.clock} /run/pnhw-probe/drive-nvme2 28; $P --lines health >/dev/null
        python3 {bed.clock} /run/pnhw-probe/drive-nvme2 33; $P --lines health >/dev/null""")
    equal("asked", len(commands["nvme2"]), 4)
    equal("not asked", len(commands["nvme1"]), 3)


@test
def where_the_policy_lies(bed):
    """As with systemd: by name, one in /etc in the place of one in /run, nothing where it is masked;
    and what lies in /run counts only where root alone can write."""
    host = Host(bed, "first-customer")
    check = f"{bed.daemon} --check-config 2>&1; echo $?"

    def complaints():
        *lines, status = host.shell(check)[0].decode().splitlines()
        equal("status", status, "0" if lines == ["The configuration is good."] else "1")
        return [line.split(":")[0] for line in lines if line.startswith("/")]

    drop_ins = "pnhw/pnhwd.conf.d/"
    host.write("/run/pnhw/pnhwd.conf", "in run\n")
    equal("in /run alone", complaints(), ["/run/pnhw/pnhwd.conf"])
    host.config("  [Health]\n  Interval=10min\n\tHotInterval=2min\n")
    equal("/etc goes before, and is indented", complaints(), [])
    host.write("/run/" + drop_ins + "50-both.conf", "in run\n")
    host.write("/run/" + drop_ins + "20-run.conf", "in run\n")
    host.write("/etc/" + drop_ins + "50-both.conf", "in etc\n")
    host.write("/etc/" + drop_ins + "10-etc.conf", "in etc\n")
    host.write("/etc/" + drop_ins + "99-etc.conf~", "in etc\n")
    equal("by name", complaints(), ["/etc/" + drop_ins + "10-etc.conf",
                                    "/run/" + drop_ins + "20-run.conf",
                                    "/etc/" + drop_ins + "50-both.conf"])
    host.write("/etc/" + drop_ins + "10-etc.conf", "")
    host.write("/etc/" + drop_ins + "20-run.conf", "")
    os.unlink(host.tree + "/etc/" + drop_ins + "50-both.conf")
    os.symlink("/dev/null", host.tree + "/etc/" + drop_ins + "50-both.conf")
    equal("masked", complaints(), [])
    host.write("/run/" + drop_ins + "60-open.conf", "[Health]\nInterval=1h\n")
    equal("root's", complaints(), [])
    os.chmod(host.tree + "/run/" + drop_ins + "60-open.conf", 0o664)
    equal("not root's alone", complaints(), ["/run/" + drop_ins + "60-open.conf"])


@test
def keys_of_a_section_that_cannot_be_read(bed):
    """They are not taken for keys of the section before."""
    host = Host(bed, "first-customer")
    host.config("[Daemon]\nInterval=60\n[Health\nInterval=1s\n[Limits] x\nInterval=2s\n"
                "[Health]\nInterval=3s\n")
    out = host.shell(f"{bed.daemon} --check-config 2>&1 || true")[0].decode().splitlines()
    equal("lines", [line.split(":")[1] for line in out], ["3", "5", "8"])


@test
def excluded_is_said(bed):
    """Unknown is information: on each page, why it is not known. And nothing is opened."""
    host = Host(bed, "first-customer")
    host.config("[Devices]\nExclude=nvme1 nct6798-* 0000:0c:00.0\n")
    ctl = f"{bed.client} --from=/run/inventory"
    out, commands = host.shell(f"""
        $P >/run/inventory
        for page in nvme sensors 'show nvme1' 'report --format=markdown'; do
            echo "page $page"; COLUMNS=160 {ctl} $page || exit 1
        done""")
    assert "nvme1" not in commands, commands
    pages = dict(page.split("\n", 1) for page in out.decode().split("page ")[1:])
    line = next(line for line in pages["nvme"].splitlines() if "/dev/nvme1n1" in line)
    equal("nvme", line.split().count("excluded"), 2)
    assert "board" in pages["sensors"] and " excluded" in pages["sensors"], pages["sensors"]
    equal("show", re.findall(r"(HEALTH|IN USE) +(.*)", pages["show nvme1"]),
          [("IN USE", "? (excluded)"), ("HEALTH", "? (excluded)")])
    report = pages["report --format=markdown"]
    equal("report, drive", any("nvme1" in line and "excluded" in line
                               for line in report.splitlines()), True)
    equal("report, sensors", any("board" in line and "excluded" in line
                                 for line in report.splitlines()), True)
    if not shutil.which("strace"):
        return
    out, _ = host.shell("strace -f -qq -y -e trace=openat,open -o /run/trace $P >/dev/null; "
                        "cat /run/trace")
    opened = re.findall(r'"config".*?/([0-9a-f:.]+)/config>', out.decode(errors="replace"))
    assert opened and "0000:0c:00.0" not in opened, opened
    nodes = set(re.findall(r'"/dev/(nvme\d)"', out.decode(errors="replace")))
    equal("nodes", nodes, {"nvme0", "nvme3", "nvme4"})


# ---- running ----

CLOCK = r'''
"""RECORD SECONDS [TURNS PROBE]: sets the times of a record back, the three numbers behind the
identity; then has the probe look, as often as told, and each time again."""
import struct, subprocess, sys


def set_back(path, seconds):
    data = bytearray(open(path, "rb").read())
    body = data[24:]
    for at in (256, 264, 272):
        value, = struct.unpack_from("<q", body, at)
        if value:
            struct.pack_into("<q", body, at, value - seconds * 1000)
    state = 0xcbf29ce484222325
    for byte in body:
        state = (state ^ byte) * 0x100000001b3 & (1 << 64) - 1
    struct.pack_into("<Q", data, 16, state)
    with open(path, "r+b") as file:
        file.write(data[:24] + body)


set_back(sys.argv[1], int(sys.argv[2]))
for turn in range(1, int(sys.argv[3]) + 1 if len(sys.argv) > 3 else 1):
    subprocess.run([sys.argv[4], "--lines", "health"], stdout=subprocess.DEVNULL, check=True)
    if turn < int(sys.argv[3]):
        set_back(sys.argv[1], int(sys.argv[2]))
'''


def times_of(trees):
    return {os.path.join(folder, name): os.lstat(os.path.join(folder, name)).st_mtime_ns
            for tree in trees for folder, _, names in os.walk(tree) for name in names}


def main():
    def bind(function):
        def case():
            bed.run(function)
        case.__name__ = function.__name__
        return case

    with tempfile.TemporaryDirectory() as folder:
        bed = Bed(os.path.abspath(sys.argv[1]), folder)
        made = times_of([bed.tree("first-customer"), bed.tree("multipath")])
        cases = [bind(f) for f in sorted(tests, key=lambda f: not f.waits)]
        status = run_cases(cases, sys.argv[2:], at_once=8)
        # A case that writes through a link would change the machine of the others.
        changed = [path for path, when in made.items() if os.lstat(path).st_mtime_ns != when]
        if changed:
            print(f"not ok - the machines are as they were made: {changed[0]}")
    return 1 if changed else status


if __name__ == "__main__":
    sys.exit(main())
