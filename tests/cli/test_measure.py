#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs pnhwctl measure on files in place of devices: what it says, what it refuses, and that nothing
can ever be written.

Usage: test_measure.py BUILD_DIR
"""

import hashlib
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CTL = os.path.abspath(os.path.join(sys.argv[1] if len(sys.argv) > 1 else "build", "cli", "pnhwctl"))
TMP = tempfile.TemporaryDirectory(prefix="pnhw-measure-")
DEV = os.path.join(TMP.name, "dev")
SIZE = 1024 * 1024 + 512 * 3  # ends within a block; the first 16 reads go over it five times
failed = 0


class Skip(Exception):
    pass


def probe(machine):
    """A probe that finds this machine."""
    path = os.path.join(TMP.name, "probe-%d" % len(os.listdir(TMP.name)))
    with open(path + ".json", "w", encoding="utf-8") as f:
        json.dump(machine, f)
    with open(path, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\nexec cat '%s.json'\n" % path)
    os.chmod(path, 0o755)
    return path


def first_customer():
    with open(os.path.join(HERE, "first-customer.json"), encoding="utf-8") as f:
        return json.load(f)


def environment(**extra):
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "TMPDIR") or
            k.startswith(("ASAN_", "UBSAN_", "LSAN_", "LD_"))}
    return {**keep, "LANG": "C.UTF-8", "TZ": "UTC", "PNHW_PROBE": FIRST, "PNHW_TEST_DEV": DEV, **extra}


def run(*args, before=(), **env):
    if before:
        # The leak checker traces, too, and there can be one tracer only.
        env["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    return subprocess.run([*before, CTL, "--once", "measure", "--seconds=0.1", *args], text=True,
                          capture_output=True, timeout=120, check=False, env=environment(**env))


def check(condition, why):
    if not condition:
        raise AssertionError(why)


def has(text, *parts):
    for part in parts:
        check(part in text, "%r is not in:\n%s" % (part, text))


def strace(*options):
    """The tool, if it may trace here."""
    path = shutil.which("strace")
    if not path:
        raise Skip("needs strace")
    if subprocess.run([path, "-o", "/dev/null", "true"], capture_output=True, check=False).returncode:
        raise Skip("strace may not trace here")
    return [path, "-f", *options]


tests = []


def test(function):
    tests.append(function)
    return function


@test
def it_says_what_the_limit_is():
    r = run("nvme3", "--seconds=1")
    check(r.returncode == 0 and r.stderr == "", r.stderr)
    has(r.stdout, "nvme3n1 · Seagate FireCuda 520 SSD ZP2000GM30002 · PCIEX1_1 · 16 GT/s x1",
        " % of an x1 link: the ", "read ", " times over", "sequential reads of 512 KiB, 16 at a time")
    check(re.search(r"\n  [\d,.]+ MB/s, \d+ % of an x1 link: the (drive|slot|drive or the link) is the "
                    "limit", r.stdout), r.stdout)
    check("sequential" not in run("nvme3", "--no-legend").stdout, "--no-legend")


@test
def it_says_so_in_german():
    if not os.path.exists(os.path.join(os.path.dirname(os.path.dirname(CTL)), "po", "de", "LC_MESSAGES",
                                       "pnhw.mo")):
        raise Skip("gettext was not installed when this was built")
    r = run("nvme3", LANG="de_DE.UTF-8")
    has(r.stdout, " % einer Verbindung mit x1: ", "ist die Grenze", "Mal gelesen",
        "fortlaufend gelesen, je 512 KiB, 16 gleichzeitig")
    has(run("nvme3", "--random", LANG="de_DE.UTF-8").stdout, "Lesezugriffe je Sekunde von 4 KiB")
    check(" of an x1 link: " in json.loads(run("nvme3", "-j", LANG="de_DE.UTF-8").stdout)[0]["sentence"],
          "JSON is translated")


@test
def every_name_of_a_device_is_taken():
    for name in "nvme1", "nvme1n1", "/dev/nvme1n1", "/dev/nvme1", "0000:04:00.0", "04:00.0":
        r = run(name, "--json=short")
        check(r.returncode == 0 and json.loads(r.stdout)[0]["device"] == "nvme1n1", (name, r.stderr))
    r = run("nvme1", "nvme1n1", "-j")
    check(len(json.loads(r.stdout)) == 1, "one device is measured twice")


@test
def both_engines_read_all_of_it_over_and_over():
    for env, engine in ({}, None), ({"PNHW_NO_IO_URING": "1"}, "threads"):
        r = run("nvme0", "-j", "--seconds=1", **env)
        result = json.loads(r.stdout)[0]
        check(engine in (None, result["engine"]), result)
        check(result["engine"] in ("io_uring", "threads"), result)
        check(result["bytes"] > SIZE and result["error"] is None, result)
        check(abs(result["bytes_per_second"] * result["seconds"] / result["bytes"] - 1) < 1e-6, result)
        check(result["limit"] and result["percent"] >= 0 and result["link"] == "0000:01:00.0", result)
        check(result["sentence"] in run("nvme0", **env).stdout or result["sentence"], result)


@test
def offsets_are_aligned_and_inside():
    out = os.path.join(TMP.name, "trace-offsets")
    run("nvme0", before=strace("-s", "0", "-o", out, "-P", os.path.join(DEV, "nvme0n1"),
                               "-e", "trace=pread64"), PNHW_NO_IO_URING="1")
    with open(out, encoding="utf-8") as f:
        reads = re.findall(r"pread64.*, (\d+), (\d+)\) += \d", f.read())
    check(len(reads) >= 16, "no reads were seen")
    ends = set()
    for length, offset in ((int(a), int(b)) for a, b in reads):
        check(offset % 512 == 0 and length % 512 == 0 and 0 < length <= 512 * 1024, (offset, length))
        check(offset + length <= SIZE, (offset, length))
        ends.add(offset + length)
    check(SIZE in ends, "the end was never read")


@test
def io_uring_that_is_forbidden_is_done_without():
    out = os.path.join(TMP.name, "trace-forbidden")
    for error in "EPERM", "ENOSYS":
        r = run("nvme0", "-j", before=strace("-o", out, "-e", "trace=io_uring_setup", "-e",
                                             "inject=io_uring_setup:error=" + error))
        check(r.returncode == 0, r.stderr)
        check(json.loads(r.stdout)[0]["engine"] == "threads", r.stdout)


@test
def random_reads_are_told_by_their_time():
    r = run("nvme0", "--random")
    check(r.returncode == 0, r.stderr)
    check(re.search(r"\n  [\d,]+ reads a second of 4 KiB, one at a time: each takes [\d.]+ .s, the "
                    r"longest took [\d.]+ .s\.", r.stdout), r.stdout)
    result = json.loads(run("nvme0", "--random", "-j").stdout)[0]
    check(result["block_bytes"] == 4096 and result["queue_depth"] == 1 and result["mean_us"] > 0 and
          result["limit"] is None, result)


@test
def together_shows_what_is_shared():
    r = run("nvme1", "nvme3", "nvme0", "--together")
    check(r.returncode == 0, r.stderr)
    has(r.stdout, "nvme1n1", "nvme3n1", "nvme0n1", "Together ",
        " over 0000:02:00.0, which 2 of them share, ")
    check("Together" not in run("nvme0", "nvme2", "--together").stdout, "nothing is shared")


@test
def nothing_is_ever_written():
    def state():
        found = {}
        for name in os.listdir(DEV):
            path = os.path.join(DEV, name)
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    found[name] = (hashlib.sha256(f.read()).hexdigest(), os.stat(path).st_mtime_ns)
        return found

    before = state()
    for name, env in ("ring", {}), ("threads", {"PNHW_NO_IO_URING": "1"}):
        for extra in [], ["--random"], ["--together", "nvme1"]:
            out = os.path.join(TMP.name, "trace-" + name)
            r = run("nvme0", *extra, before=strace("-y", "-o", out, "-e", "trace=!pread64,read"), **env)
            check(r.returncode == 0, r.stderr)
            with open(out, encoding="utf-8", errors="replace") as f:
                lines = [line for line in f if DEV in line]
            opened = [line for line in lines if re.search(r"\bopen(at2?)?\(", line)]
            check(opened and all("O_RDONLY" in line and "O_RDWR" not in line and
                                 "O_WRONLY" not in line and "O_TRUNC" not in line and
                                 "O_CREAT" not in line for line in opened), opened)
            # Through a descriptor for reading alone the kernel lets nobody write, io_uring included.
            calls = {re.sub(r"^\d+ +", "", line).split("(")[0] for line in lines} - {
                "execve", "openat", "open", "newfstatat", "fstat", "close", "ioctl", "pread64", "<..."}
            check(not calls, "other calls on the device: %s" % calls)
    check(state() == before, "a file has changed")


@test
def a_read_that_fails_is_told_with_its_place():
    out = os.path.join(TMP.name, "trace-eio")
    # Of each thread the second read, of this device alone.
    inject = strace("-o", out, "-P", os.path.join(DEV, "nvme0n1"), "-e", "trace=pread64",
                    "-e", "inject=pread64:error=EIO:when=2")
    r = run("nvme0", "-j", "--seconds=60", before=inject, PNHW_NO_IO_URING="1")
    result = json.loads(r.stdout)[0]
    check(r.returncode == 1, r.stdout)
    check(result["error_at"] % 512 == 0 and 0 <= result["error_at"] < SIZE, result)
    has(result["error"], "failed to read at byte %d" % result["error_at"], "Input/output error")
    r = run("nvme0", "nvme2", "--seconds=2", before=inject, PNHW_NO_IO_URING="1")
    check(r.returncode == 1, r.stdout)
    has(r.stdout, "✗ nvme0n1", "failed to read at byte", "dmesg", "nvme2n1")


@test
def a_device_that_ends_early_is_told():
    """It becomes smaller while it is read: the one fault that io_uring shows without a broken drive."""
    for env in {}, {"PNHW_NO_IO_URING": "1"}:
        path = os.path.join(DEV, "nvme2n1")
        with subprocess.Popen([CTL, "--once", "measure", "nvme2", "-j", "--seconds=100"], text=True,
                              stdout=subprocess.PIPE, env=environment(**env)) as child:
            end = time.monotonic() + 60
            while not any(os.path.realpath("/proc/%d/fd/%s" % (child.pid, fd)) == path
                          for fd in os.listdir("/proc/%d/fd" % child.pid)):
                check(time.monotonic() < end, "was never opened")
                time.sleep(0.01)
            os.truncate(path, 4096)
            out, _ = child.communicate(timeout=90)
        os.truncate(path, SIZE)
        result = json.loads(out)[0]
        check(child.returncode == 1 and 0 < result["error_at"] < SIZE, result)


@test
def what_fails_is_left_alone():
    machine = first_customer()
    machine["nvme"][0]["state"] = "dead"
    machine["nvme"][1]["health"]["critical_warnings"] = ["reliability"]
    machine["nvme"][2]["health"] = None
    machine["nvme"][2]["unread"] = [{"field": "health", "reason": "stuck"}]
    sick = probe(machine)
    for name in "nvme0", "nvme1", "nvme2":
        r = run("nvme4", name, PNHW_PROBE=sick)
        check(r.returncode == 1 and r.stdout == "", (name, r.stdout))
        has(r.stderr, name, "left alone", "--force")
        r = run(name, "--force", PNHW_PROBE=sick)
        check(r.returncode == 0 and "MB/s" in r.stdout, (name, r.stderr))
    check(run("nvme4", PNHW_PROBE=sick).returncode == 0, "a healthy one")


@test
def what_cannot_be_read_is_said():
    for name, part in (("nvme44", "did you mean nvme4"), ("06:00.0", "is no drive"),
                       ("nvme9n1", "no device"), ("../etc/passwd", "no device"), ("", "no device")):
        r = run(name)
        check(r.returncode == 1 and r.stdout == "", (name, r.stdout))
        has(r.stderr, part)
    machine = first_customer()
    for name, part in (("null", "no block device"), ("gone", "No such file"), ("void", "is empty"),
                       ("folder", "no block device"), ("../x", "no name")):
        machine["nvme"][0]["namespaces"][0]["name"] = name
        r = run("nvme0", PNHW_PROBE=probe(machine))
        check(r.returncode == 1 and r.stdout == "", (name, r.stdout))
        has(r.stderr, part)
        check(set(json.loads(run("-j", "nvme0", PNHW_PROBE=probe(machine)).stdout)) ==
              {"error", "message"}, name)
    machine["nvme"][0]["namespaces"] = []
    has(run("nvme0", PNHW_PROBE=probe(machine)).stderr, "no namespace")


@test
def a_device_of_a_few_sectors_is_read_too():
    machine = first_customer()
    for name in "tiny", "odd":
        machine["nvme"][0]["namespaces"][0]["name"] = name
        for extra in [], ["--random"]:
            r = run("nvme0", "-j", *extra, PNHW_PROBE=probe(machine))
            check(r.returncode == 0 and json.loads(r.stdout)[0]["bytes"] >= 512, r.stdout + r.stderr)


@test
def root_is_asked_for():
    if os.geteuid() != 0:
        raise Skip("needs root to become another user")
    path = os.path.join(DEV, "nvme4n1")
    os.chmod(path, 0o600)
    os.chmod(TMP.name, 0o755)
    try:
        r = subprocess.run([CTL, "--once", "measure", "nvme4"], text=True, capture_output=True,
                           check=False, user=65534, group=65534, extra_groups=[], env=environment())
    except PermissionError as e:
        raise Skip("the program is not readable for another user") from e
    check(r.returncode == 1, r.stdout)
    has(r.stderr, "nvme4n1", "as root")


@test
def options_that_do_not_go_together():
    for args, part in ((["--seconds=0", "measure", "nvme0"], "0.1 to 3600"),
                       (["--seconds=nan", "measure", "nvme0"], "0.1 to 3600"),
                       (["--seconds=1x", "measure", "nvme0"], "0.1 to 3600"),
                       (["measure"], "DEVICE"), (["--random"], "measure"),
                       (["--force", "nvme"], "measure"), (["--seconds=2", "status"], "measure"),
                       (["-H", "web1", "measure", "nvme0"], "run it there")):
        r = subprocess.run([CTL, *args], text=True, capture_output=True, check=False,
                           env=environment())
        check(r.returncode == 1 and r.stdout == "", args)
        has(r.stderr, part)
    r = subprocess.run([CTL, "--from=" + os.path.join(HERE, "first-customer.json"), "measure", "nvme0"],
                       text=True, capture_output=True, check=False, env=environment())
    has(r.stderr, "--from")


@test
def an_interrupt_shows_the_result_so_far():
    main_end, sub = pty.openpty()
    with subprocess.Popen([CTL, "--once", "measure", "nvme0", "nvme1", "--seconds=600"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=sub, text=True,
                          env=environment(TERM="xterm")) as child:
        os.close(sub)
        shown, end = b"", time.monotonic() + 60
        while b"MB/s" not in shown:
            check(time.monotonic() < end, "no progress is shown: %r" % shown)
            shown += os.read(main_end, 4096)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
    os.close(main_end)
    check(b"\rnvme0n1  " in shown, shown)
    check(child.returncode == 1, child.returncode)
    check(re.search(r"nvme0n1.*\n  [\d,.]+ MB/s, .* Interrupted after [\d.]+ s\.", out), out)
    has(out, "nvme1n1", "Not measured.")


def main():
    global failed
    for function in tests:
        name = function.__name__.replace("_", " ")
        try:
            function()
        except Skip as e:
            print("skip - %s: %s" % (name, e))
        except Exception as e:  # pylint: disable=broad-except
            failed += 1
            print("not ok - %s: %s" % (name, str(e)[:2000]))
        else:
            print("ok - %s" % name)
        sys.stdout.flush()
    return 1 if failed else 0


os.mkdir(DEV)
os.mkdir(os.path.join(DEV, "folder"))
os.symlink("/dev/null", os.path.join(DEV, "null"))
for number in range(5):
    with open(os.path.join(DEV, "nvme%dn1" % number), "wb") as device:
        device.write(os.urandom(SIZE + 100))
for filename, length in ("tiny", 512), ("odd", 1000), ("void", 100):
    with open(os.path.join(DEV, filename), "wb") as device:
        device.write(b"x" * length)
FIRST = probe(first_customer())
if __name__ == "__main__":
    sys.exit(main())
