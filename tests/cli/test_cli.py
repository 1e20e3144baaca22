#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the real pnhwctl: on saved inventories, in terminals of several widths, in a pipe, against
daemons that behave and daemons that do not, and against probes that do not.

Usage: test_cli.py BUILD_DIR
"""

import fcntl
import json
import os
import pty
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
CTL = os.path.join(sys.argv[1] if len(sys.argv) > 1 else "build", "cli", "pnhwctl")
TMP = tempfile.TemporaryDirectory(prefix="pnhw-cli-")
failed = 0


def inventory(name):
    return os.path.join(HERE, name + ".json")


def environment(**extra):
    """Ours alone: nothing of the caller's terminal or language gets in."""
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "TMPDIR") or
            k.startswith(("ASAN_", "UBSAN_", "LSAN_", "LD_"))}
    ours = {"LANG": "C.UTF-8", "TZ": "UTC", "PNHW_SOCKET": os.path.join(TMP.name, "none")}
    return {k: v for k, v in {**keep, **ours, **extra}.items() if v is not None}


class Result:
    def __init__(self, code, out, err=""):
        self.code, self.out, self.err = code, out, err


def run(*args, stdin=None, timeout=60, **env):
    """In a pipe."""
    r = subprocess.run([CTL, *args], input=stdin, capture_output=True, timeout=timeout,
                       env=environment(**env))
    return Result(r.returncode, r.stdout.decode(), r.stderr.decode())


def run_tty(*args, width=80, rows=500, **env):
    """In a terminal. Returns all that was written to it."""
    main, sub = pty.openpty()
    fcntl.ioctl(sub, termios.TIOCSWINSZ, struct.pack("HHHH", rows, width, 0, 0))
    attributes = termios.tcgetattr(sub)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(sub, termios.TCSANOW, attributes)
    child = subprocess.Popen([CTL, *args], stdin=subprocess.DEVNULL, stdout=sub, stderr=sub,
                             env=environment(**{"TERM": "xterm-256color", **env}))
    os.close(sub)
    out = b""
    while True:
        try:
            chunk = os.read(main, 65536)
        except OSError:
            break
        if not chunk:
            break
        out += chunk
    os.close(main)
    return Result(child.wait(), out.decode())


def columns(text):
    """Display columns, by another table than the program's."""
    n = 0
    for c in text:
        if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Me"):
            continue
        n += 2 if unicodedata.east_asian_width(c) in "WF" else 1
    return n


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def check(condition, why):
    if not condition:
        raise AssertionError(why)


def has(text, *parts):
    for part in parts:
        check(part in text, "%r is not in:\n%s" % (part, text))


def has_not(text, *parts):
    for part in parts:
        check(part not in text, "%r is in:\n%s" % (part, text))


def fits(text, width):
    for line in text.split("\n"):
        check(columns(plain(line)) <= width, "%d columns: %r" % (columns(plain(line)), line))


def harmless(text, colours=False):
    """Nothing but text and newlines, and, in colour, the escape sequences for that."""
    rest = plain(text) if colours else text
    for c in rest:
        check(c == "\n" or not unicodedata.category(c).startswith("C"),
              "control or format character %r in %r" % (c, rest[max(0, rest.find(c) - 40):][:80]))
        check(c not in "\u2028\u2029", "line separator")


def document(result):
    check(result.out.endswith("\n"), "no newline at the end")
    return json.loads(result.out)


def file(name, data):
    path = os.path.join(TMP.name, name)
    with open(path, "wb" if isinstance(data, bytes) else "w") as f:
        f.write(data if isinstance(data, (bytes, str)) else json.dumps(data))
    return path


def executable(name, script):
    path = file(name, script)
    os.chmod(path, 0o755)
    return path


tests = []


def test(function):
    tests.append(function)
    return function


# ---- the status page ----

@test
def status_of_the_first_customer():
    r = run("--from=" + inventory("first-customer"))
    check(r.code == 0 and r.err == "", r.err)
    lines = r.out.split("\n")
    has(lines[0], "serverhost1", "X570", "Ryzen 9 3950X, 16 cores", "64 GiB", "Proxmox VE 7.0.2")
    has(lines[1], "2 of 5 drives", "rpool")
    x1 = next(line for line in lines if re.match(r"^▲ nvme3 ", line))
    has(x1, "PCIEX1_1", "16 GT/s x1", "16 GT/s x4", "2.0", "25 %", "zpool rpool")
    m2 = next(line for line in lines if re.match(r"^▲ nvme1 ", line))
    has(m2, "M2_2", "8 GT/s x4", "16 GT/s x4", "3.9", "50 %", "zpool rpool")
    for good in "nvme0", "nvme2", "nvme4":
        has(next(line for line in lines if line.startswith("● " + good)), "100 %", "7.9")
    has(r.out, "Move it to PCIEX16_4", "show nvme3", "as of 2021-08-14 10:04:31",
        "all sources fresh")
    check(not any(line.endswith(" ") for line in lines), "blanks at the end of a line")


@test
def pages_fit_every_terminal():
    for name in "first-customer", "empty", "hostile", "vm", "unread", "ports":
        for verb in "status", "nvme", "pcie", "net", "modules", "disks", "findings":
            for width in 20, 40, 60, 80, 100, 132, 200:
                for extra in (), ("--all",):
                    r = run_tty("--no-pager", "--from=" + inventory(name), verb, *extra,
                                width=width)
                    check(r.code == 0, "%s %s %d: %s" % (name, verb, width, r.out))
                    try:
                        fits(r.out, width)
                        harmless(r.out, colours=True)
                    except AssertionError as e:
                        raise AssertionError("%s %s at %d: %s" % (name, verb, width, e)) from e


@test
def columns_leave_in_a_sensible_order():
    for width, there, gone in ((80, ["MODEL", "SLOT", "LINK", "OF BEST", "USED BY"],
                                ["COULD BE", "VERDICT"]),
                               (100, ["MODEL", "COULD BE", "GB/s"], ["VERDICT"]),
                               (200, ["ADDRESS", "VERDICT", "0000:05:00.0"], ["…"])):
        r = run_tty("--from=" + inventory("first-customer"), width=width, NO_COLOR="1")
        table = r.out.split("\n\n")[1]
        has(table, *there)
        has_not(table, *gone)


@test
def a_pipe_cuts_nothing():
    r = run("--from=" + inventory("first-customer"))
    has(r.out, "Seagate FireCuda 520 SSD ZP2000GM30002", "ADDRESS", "VERDICT")
    has_not(r.out, "…", "\x1b")
    r = run("--from=" + inventory("first-customer"), COLUMNS="80")
    fits(r.out, 80)


@test
def colour_only_where_it_is_wanted():
    first = "--from=" + inventory("first-customer")
    has(run_tty(first).out, "\x1b[33m▲ nvme3")
    for env in {"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}:
        has_not(run_tty(first, **env).out, "\x1b")
    has(run_tty(first, NO_COLOR="").out, "\x1b[33m")
    has_not(run(first, TERM="xterm-256color").out, "\x1b")


@test
def ascii_where_the_locale_has_no_more():
    for verb in "status", "pcie", "nvme", "findings", "disks", "net", "modules":
        for name in "first-customer", "hostile", "unread", "ports":
            for env in {"LANG": "C"}, {"LANG": None}, {"LC_ALL": "POSIX"}:
                r = run("--from=" + inventory(name), verb, **env)
                check(r.code == 0, r.err)
                check(r.out.isascii(), "%s %s: %r" % (verb, name, r.out))
                harmless(r.out)
    r = run("--from=" + inventory("first-customer"), LANG="C")
    has(r.out, "! nvme3", "* nvme0", "-> Move it")


@test
def a_locale_that_is_not_installed_still_means_utf8():
    has(run("--from=" + inventory("first-customer"), LANG="xx_YY.UTF-8").out, "▲ nvme3")


@test
def hostile_strings_stay_text():
    for verb in ["status"], ["nvme"], ["pcie"], ["disks"], ["findings"], ["show", "nvme3"], \
            ["show", "sda"]:
        for width in 80, 200:
            r = run_tty("--no-pager", "--from=" + inventory("hostile"), *verb, width=width,
                        NO_COLOR="1")
            check(r.code == 0, r.out)
            harmless(r.out)
            fits(r.out, width)
        r = run("--from=" + inventory("hostile"), *verb)
        harmless(r.out)
        r = run("--json=short", "--from=" + inventory("hostile"), *verb)
        harmless(r.out)
        has(json.dumps(document(r)), "script" if verb[0] in ("status", "nvme") else "")
    document_ = document(run("-j", "--from=" + inventory("hostile"), "nvme"))
    with open(inventory("hostile")) as f:
        check([d["model"] for d in document_] == [d["model"] for d in json.load(f)["nvme"]],
              "JSON changes strings")


@test
def network_ports():
    ports = "--from=" + inventory("ports")
    lines = run(ports, "net").out.splitlines()

    def line(name):
        return next(line for line in lines if line[2:].startswith(name))
    has(line("eno1"), "▲", "100 M", "1 G", "slow: its cable", "tp")
    has(line("ens5f0"), "●", "10 G", "at its best", "10GBASE-LRM HP J9152D")
    has(line("bond0"), "802.3ad" if "802.3ad" in line("bond0") else "bond", "1 of 2 work", "vmbr0")
    has(line("ens8"), "?", "needs root")
    has(line("90:00.0"), "no interface")
    has(line("90:00.1"), "given to a guest")
    has(line("enp130s0f0"), "▲", "10 G", "module hot")
    has_not(line("enp130s0f0"), "at its best")
    has(line("ens6"), "▲", "light too weak")
    has(line("enp129s0f0"), "●", "at its best")
    has_not(line("enp129s0f0"), "PCIe")
    has(line("enp129s0f0"), "8 GT/s x8", "bond0")
    page = run(ports).out
    has(page, "1 network port has no interface.", "2 bonds are degraded.")
    has(run(ports, "--all").out, "90:00.1")
    has_not(page, "90:00.1")
    check(len(document(run("-j", ports, "net"))) == 15, "JSON")
    check(document(run("-j", ports, "show", "eno1"))["port"]["limiter"] == "cable", "show")
    has(run(ports, "show", "bond0").out, "802.3ad", "00:1c:73:00:00:02", "is degraded")
    has(run(ports, "show", "en01").err, "did you mean eno1")
    golden = os.path.join(HERE, "..", "golden", "first-customer.inventory.json")
    for width in ("80", "200"):
        lines = run("--from=" + golden, "net", COLUMNS=width).out.splitlines()
        has(line("enp4s0f0"), "▲", "PCIe slot: few lanes")
        has(line("enp7s0"), "●", "at its best")
        has(line("04:00.1"), "no interface", "; PCIe ")


@test
def sensors_are_grouped_in_words():
    golden = os.path.join(HERE, "..", "golden", "first-customer.inventory.json")
    with open(golden, encoding="utf-8") as f:
        facts = json.load(f)
    drives = {drive["name"]: drive["health"] for drive in facts["nvme"]}
    drives["nvme1"]["temperature_c"] = 95
    drives["nvme2"]["temperature_c"] = 75
    lines = run("--from=-", "sensors", stdin=json.dumps(facts).encode()).out.splitlines()
    has("\n".join(lines), "CPU · 00:18.3 · k10temp-pci-00c3", "board · nct6798.656")

    def drive(name):
        return lines[next(i for i, line in enumerate(lines) if line.startswith(name)) + 1]
    check(drive("nvme1").endswith("  too hot"), drive("nvme1"))
    check(drive("nvme2").endswith("  hot"), drive("nvme2"))
    check(drive("nvme3").endswith("90 °C"), drive("nvme3"))


@test
def modules_in_ports():
    """The HP J9152D shows what the first customer's switch showed of it."""
    ports = "--from=" + inventory("ports")
    lines = run(ports, "modules").out.splitlines()

    def line(name):
        return next(line for line in lines if line[2:].startswith(name))
    has(line("ens5f0"), "10GBASE-LRM", "J9152D", "LC", "1310 nm", "220 m OM1, OM2, OM3", "42 °C")
    has(line("ens6"), "▲", "100GBASE-SR4", "100 m OM4", "-13.01 dBm")
    has(line("enp130s0f1"), "dark")
    has(line("enp129s0f0"), "passive copper", "1 m copper")
    has(line("ens7"), "unreadable")
    has(line("ens8"), "needs root")
    check(not any(line[2:].startswith("eno1") for line in lines), "a port without a cage is listed")
    page = run(ports, "show", "ens6").out
    has(page, "light received, lane 3", "-13.01 dBm", "-12.22 dBm", "temperature", "44.0 °C",
        "●", "─", "FLAGS", "70 m OM3, 100 m OM4")
    check(len(document(run("-j", ports, "modules"))) == 8, "JSON")
    harmless(run(ports, "show", "ens7").out)
    empty = run("--from=" + inventory("vm"), "modules")
    has(empty.out, "No network port")


@test
def an_empty_machine_is_an_answer():
    for name in inventory("empty"), file("nothing.json", "{}"):
        for verb in "status", "nvme", "pcie", "net", "modules", "disks", "findings":
            r = run("--from=" + name, verb)
            check(r.code == 0 and r.err == "" and r.out.strip(), (verb, r.out, r.err))
    has(run("--from=" + inventory("empty"), "nvme").out, "no NVMe drive")
    has_not(run("--from=" + inventory("empty"), "--no-legend", "nvme").out, "n")


@test
def a_virtual_machine_says_why_it_cannot_tell():
    r = run("--from=" + inventory("vm"))
    has(r.out, "? nvme0", "cannot be judged", "virtual machine")
    has_not(r.out, "OF BEST", "at its best", "● ")


@test
def what_was_not_read_is_said():
    r = run("--from=" + inventory("unread"))
    has(r.out, "Not readable without privileges: dimms, slots", "as root", "asleep", "idle",
        "block has not been read", "2 of 4 sources fresh")
    has(run("--from=" + inventory("unread"), "nvme").out, "dead")
    r = run("--from=" + inventory("unread"), "show", "02:00.0")
    has(r.out, "? (permission)")


def many_drives(n, limited):
    """A storage server: n drives behind root ports, the last few in narrow slots."""
    pci, nvme = [], []
    for i in range(n):
        width = 2 if i >= n - limited else 4
        port, drive = "0000:%02x:00.0" % (2 * i), "0000:%02x:00.0" % (2 * i + 1)
        pci.append({"address": port, "class": "0x060400", "kind": "root_port",
                    "slot_implemented": True, "slot": "Bay %d" % i,
                    "link": {"current_speed": 16, "current_width": width, "max_speed": 16,
                             "max_width": width}})
        pci.append({"address": drive, "class": "0x010802", "kind": "endpoint", "parent": port,
                    "slot": "Bay %d" % i,
                    "link": {"current_speed": 16, "current_width": width, "max_speed": 16,
                             "max_width": 4}})
        nvme.append({"name": "nvme%d" % i, "address": drive, "transport": "pcie", "state": "live",
                     "model": "KCD61LUL7T68", "serial": "S%04d" % i, "namespaces": [
                         {"name": "nvme%dn1" % i, "uses": [{"type": "zfs_member",
                                                            "name": "tank"}]}]})
    return {"schema": 1, "pci": pci, "nvme": nvme}


@test
def fine_drives_fold_and_bad_ones_come_first():
    path = file("many.json", many_drives(36, 2))
    r = run_tty("--from=" + path, width=80, NO_COLOR="1")
    rows = [line for line in r.out.split("\n\n")[1].split("\n")][1:]
    check(len(rows) == 3, r.out)
    has(rows[0], "▲ nvme34", "50 %")
    has(rows[1], "▲ nvme35", "50 %")
    has(rows[2], "● 34 drives", "KCD61LUL7T68", "100 %", "zpool tank")
    has(r.out, "--all shows every device")
    r = run("--from=" + path, "--all")
    check(sum(line.startswith("● nvme") for line in r.out.split("\n")) == 34, r.out)
    first = r.out.index("nvme2 "), r.out.index("nvme10 ")
    check(first[0] < first[1], "nvme10 comes before nvme2")
    r = run("--from=" + file("all-bad.json", many_drives(36, 36)))
    check(len(r.out.split("\n")) < 60, "36 limited drives make a page of %d lines" %
          len(r.out.split("\n")))
    has(r.out, "16 more drives", "33 more of pcie.slot_limited: nvme")


# ---- what a code means ----

@test
def codes_are_explained():
    codes = [line.split(":")[0] for line in run("--complete=codes").out.splitlines()]
    check(len(codes) == 30 and "nvme.hot" in codes, "%r" % codes)
    for code in codes:
        r = run("findings", "--explain", code, "-j")
        check(r.code == 0, r.err)
        row = json.loads(r.out)
        check(row["code"] == code and row["title"] and row["meaning"] and row["remedy"], r.out)
        check(re.fullmatch("[0-9a-f]{32}", row["message_id"]), r.out)
        check(bool(row["sources"]) != code.startswith("probe."), r.out)
        # No daemon is asked, and the verb may be left out.
        r = run("--explain=" + code)
        check(r.code == 0 and r.err == "", r.err)
        has(r.out, code + ": " + row["title"], row["meaning"], row["remedy"], row["worst_severity"],
            "journalctl MESSAGE_ID=" + row["message_id"], ", ".join(row["sources"]))
        for width in 40, 80:
            page = plain(run_tty("--no-pager", "findings", "--explain", code, width=width).out)
            check(max(map(columns, page.split("\n"))) <= width, page)


@test
def codes_that_do_not_exist_are_refused_with_what_there_is():
    for typed, near in (("nvme.hott", "; did you mean nvme.hot?"), ("pcie_degraded",
                        "; did you mean pcie.degraded?"), ("worn", "; did you mean nvme.worn?"),
                        ("xyzzy", "\n"), ("\x1b[31m", "\n"), ("x" * 5000, "\n")):
        r = run("findings", "--explain", typed)
        check(r.code == 1 and r.out == "" and "\x1b" not in r.err, r.err)
        has(r.err, near, "nvme.hot ", "probe.stale")
        r = run("findings", "--explain", typed, "-j")
        check(r.code == 1 and json.loads(r.out)["error"] == "NoSuchCode", r.out)
    r = run("findings", "--explain=")
    check(r.code == 1, r.out)
    has(r.err, 'there is no code ""', "probe.stale")
    r = run("status", "--explain", "nvme.hot")
    check(r.code == 1, r.out)
    has(r.err, "--explain goes with the verb findings, not with status")


def bash_completes(*words, **env):
    """What bash would offer for the last of the words."""
    script = os.path.join(HERE, "..", "..", "cli", "completion", "pnhwctl.bash")
    env.setdefault("PATH", os.path.dirname(os.path.abspath(CTL)) + ":" + os.environ["PATH"])
    r = subprocess.run(
        ["bash", "-c", 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pnhwctl; '
         'printf "%s\\n" "${COMPREPLY[@]}"', script, "pnhwctl", *words], capture_output=True,
        text=True, timeout=60, cwd=TMP.name, stdin=subprocess.DEVNULL, env=environment(**env))
    check(r.stderr == "", r.stderr)
    return [line for line in r.stdout.split("\n") if line]


@test
def bash_completes_words():
    for words, found in (
            (["findings", "--explain", "nvme.h"], ["nvme.hot"]),
            (["findings", "--explain", "=", "nvme.h"], ["nvme.hot"]),
            (["metrics", "--format", "=", "o"], ["openmetrics"]),
            (["metrics", "--format", "="], ["openmetrics", "prometheus"]),
            (["report", "--format", "=", ""], ["markdown", "html", "svg", "json"]),
            (["report", "--format", "sv"], ["svg"]), (["metr"], ["metrics"]), (["--outp"], ["--output="]),
            (["--json", "=", "p"], ["pretty"]), (["check", "--at-least", "=", "c"], ["critical"]),
            (["--timeout", ""], []), (["status", ""], []), (["--json", "short", "sho"], ["show"]),
            (["--socket", "=", "/show", "sens"], ["sensors"])):
        check(bash_completes(*words) == found, (words, bash_completes(*words)))


@test
def completions_have_all_that_the_help_has():
    words = run("--help").out.split("\nOptions:\n")
    verbs = re.findall(r"^  (\w+)", words[0].split("Verbs:\n")[1], re.MULTILINE)
    options = re.findall(r"^[ ]{2}(?:-\w|  ) (--[\w-]+=?)", words[1], re.MULTILINE)
    check(len(verbs) >= 17 and len(options) >= 24, (verbs, options))
    check(bash_completes("") == verbs, bash_completes(""))
    check(bash_completes("--") == options, bash_completes("--"))
    # What takes a value is known as such to both, so that the value is not taken for a verb.
    for name in "pnhwctl.bash", "_pnhwctl":
        with open(os.path.join(HERE, "..", "..", "cli", "completion", name), encoding="utf-8") as f:
            script = f.read()
        for option in options:
            if option.endswith("="):
                check(option[:-1] in script, "%s does not know %s" % (name, option))


@test
def bash_completes_names_of_devices_and_runs_none():
    evil = ["$(touch a)", "`touch b`", "x;touch c", "${HOME}", "a'b", 'q"q', "w\\w", "*", "~", "-x", "é"]
    with open(inventory("ports")) as f:
        ports = json.load(f)
    for i, name in enumerate(evil):
        ports["nics"].append({**ports["nics"][-1], "id": name, "name": name, "kind": "physical",
                              "address": "0000:9%x:00.0" % i})
    path = file("evil-ports.json", ports)
    status = document(run("-j", "--from=" + path))

    def behave(request):
        if request["method"].endswith("GetStatus"):
            return answer({**status, "generation": 1})
        return answer({"inventory": {"nics": ports["nics"]}, "generation": 1})
    daemon = Daemon("completion", behave)
    for words in (["show", ""], ["check", ""], ["--socket", "=", daemon.path, "show", ""]):
        found = bash_completes(*words, PNHW_SOCKET=daemon.path)
        check("enp129s0f0" in found, found)
        # What the shell makes of the words when they are entered is the names, and nothing else.
        r = subprocess.run(["bash", "-c", "printf '%s\\n' " + " ".join(found)], capture_output=True,
                           text=True, cwd=TMP.name, env=environment())
        check(set(evil) <= set(r.stdout.split("\n")), (found, r.stdout))
    found = bash_completes("show", "$(", PNHW_SOCKET=daemon.path)
    check(found == ["\\$\\(touch\\ a\\)"], found)
    check(bash_completes("show", "\\$", PNHW_SOCKET=daemon.path)[0].startswith("\\$"), "quoted")
    check(bash_completes("show", "enp129s0f1", PNHW_SOCKET=daemon.path) == ["enp129s0f1"], "one")
    check(not [name for name in "abc" if os.path.exists(os.path.join(TMP.name, name))], "was run")
    check(bash_completes("show", "", PNHW_SOCKET=os.path.join(TMP.name, "none")) == [], "no daemon")


@test
def devices_are_completed_once_and_drives_alone():
    golden = "--from=" + os.path.join(HERE, "..", "golden", "first-customer.inventory.json")
    devices = run(golden, "--complete=devices").out.split()
    check(len(devices) == len(set(devices)), devices)
    check({"nvme0", "enp4s0f0", "enp7s0", "04:00.1"} <= set(devices), devices)
    check(sorted(run(golden, "--complete=drives").out.split()) == [f"nvme{i}" for i in range(5)], "drives")


@test
def a_socket_that_is_none_is_named_once():
    path = file("no-socket", {})
    r = run("--socket=" + path)
    check(r.code == 1 and r.err == "pnhwctl: %s is not a socket\n" % path, r.err)


@test
def an_older_daemon_has_no_metrics():
    daemon = Daemon("older", lambda request: answer(
        {"method": request["method"]}, "org.varlink.service.MethodNotFound"))
    r = run("--socket=" + daemon.path, "metrics")
    check(r.code == 1 and r.out == "", r.out)
    has(r.err, "GetMetrics")


# ---- the other verbs ----

@test
def nvme_lists_what_nvme_list_does():
    r = run("--from=" + inventory("first-customer"), "nvme")
    row = next(line for line in r.out.split("\n") if "/dev/nvme3n1" in line)
    has(row, "7QH00RTP", "Seagate FireCuda 520 SSD ZP2000GM30002", " 1 ", "2.00 TB",
        "512 B + 0 B", "STNSC014", "PCIEX1_1", "16 GT/s x1", "25 %", "zpool rpool")


@test
def pcie_is_a_tree():
    r = run("--from=" + inventory("first-customer"), "pcie")
    has(r.out, "02:00.0", "├─04:00.0", "├─05:00.0", "slot: few lanes", "Free: PCIEX16_4",
        "2 functions without a link", "00:01.1")
    has_not(r.out, "SMBus", "06:00.1")
    r = run("--from=" + inventory("first-customer"), "pcie", "--all")
    has(r.out, "SMBus", "06:00.1", "root port", "free")
    has_not(r.out, "Not shown")
    r = run("--from=" + file("many.json", many_drives(60, 1)), "pcie")
    check(len(r.out.split("\n")) < 8, r.out)
    has(r.out, "nvme59", "59 links at their best")


@test
def a_tree_needs_no_library():
    os.makedirs(os.path.join(TMP.name, "lib"), exist_ok=True)
    file("lib/libsmartcols.so.1", "no library")
    first = "--from=" + inventory("first-customer")
    r = run(first, "pcie", LD_LIBRARY_PATH=os.path.join(TMP.name, "lib"))
    check(r.code == 0 and r.err == "", r.err)
    has(r.out, "\n  05:00.0 ", "\n02:00.0 ")
    with_library = run(first, "pcie").out
    check(re.sub("[├└─]", " ", with_library) == r.out, r.out)


@test
def show_takes_every_name():
    first = "--from=" + inventory("first-customer")
    for name in "nvme3", "nvme3n1", "0000:05:00.0", "05:00.0":
        r = run(first, "show", name)
        check(r.code == 0, r.err)
        has(r.out, "7QH00RTP", "PCIEX1_1", "has 1 lane", "0000:02:00.0", "MAX WIDTH", "4 lanes")
    r = run(first, "show", "nvme33")
    check(r.code == 1 and r.out == "", r.out)
    has(r.err, "nvme33", "did you mean nvme3")
    r = run(first, "show", "zzz")
    has(r.err, "there are for example nvme0")
    r = run("--from=" + inventory("empty"), "show", "sda")
    has(r.err, "nothing was found")


# ---- JSON ----

@test
def json_is_one_document_of_the_same_facts():
    first = "--from=" + inventory("first-customer")
    status = document(run("--json=short", first))
    check(set(status) >= {"schema", "generation", "host", "sources", "ratings", "findings",
                          "summary"}, status.keys())
    has(run(first, "--all").out, status["summary"], *(f["summary"] for f in status["findings"]))
    page = run(first).out
    has(page, *(f["summary"] for f in status["findings"] if f["severity"] != "info"))
    has_not(page, *(f["summary"] for f in status["findings"] if f["severity"] == "info"))
    has(page, "1 note that needs no action")
    check(document(run("--json=pretty", first)) == status, "pretty and short differ")
    check(document(run("-j", first)) == status, "-j differs")
    check(run("-j", first).out.count("\n") == 1, "-j in a pipe is more than a line")
    check(run_tty("--no-pager", "-j", first).out.count("\n") > 20, "-j in a terminal is one line")
    check(len(document(run("-j", first, "nvme"))) == 5, "nvme")
    check(document(run("-j", first, "disks")) == [], "disks")
    check(len(document(run("-j", first, "findings"))) == len(status["findings"]), "findings")
    pcie = document(run("-j", first, "pcie"))
    check(set(pcie) == {"pci", "ratings"} and pcie["ratings"] == status["ratings"], "pcie")
    device = document(run("-j", first, "show", "nvme3"))
    check(device["nvme"]["serial"] == "7QH00RTP", device)
    check(document(run("-j", "--from=" + inventory("empty")))["ratings"] == [], "empty")


@test
def errors_are_json_where_json_was_asked_for():
    for args in (["-j", "bogus"], ["--json=pretty", "--bogus"], ["--bogus", "-j"], ["-j"],
                 ["bogus", "--json=short"], ["-j", "--from=/nonexistent/x"], ["-j", "show"],
                 ["-j", "--from=" + inventory("empty"), "show", "x\"\u202e"]):
        r = run(*args)
        check(r.code == 1, args)
        error = document(r)
        check(set(error) == {"error", "message"} and error["message"], r.out)
        check(r.err == "", r.err)


# ---- options ----

@test
def usage_errors_name_what_was_meant():
    for args, parts in ((["stauts"], ["stauts", "status"]), (["nvmee"], ["nvme?"]),
                        (["whatever"], ["no verb whatever"]), (["--jsn=short"], ["--json"]),
                        (["--frm=x"], ["--from"]), (["-x"], ["-x"]), (["--from"], ["value"]),
                        (["--json=yes"], ["pretty, short and off"]), (["status", "x"], ["x"]),
                        (["--once", "--from=x"], ["exclude"]), (["show"], ["DEVICE"])):
        r = run(*args)
        check(r.code == 1 and r.out == "", (args, r.out))
        has(r.err, *parts)
        check(r.err.count("\n") == 1, r.err)


@test
def help_and_version():
    r = run("--help")
    check(r.code == 0, r.err)
    for word in "status", "nvme", "pcie", "net", "modules", "disks", "show DEVICE", "findings", "--json", "--from", \
            "--once", "--socket", "--no-legend", "--no-pager", "--all", "--version":
        has(r.out, word)
    fits(run_tty("--help", width=60).out, 60)
    check(run("--help", LANG="C").out.isascii(), "not ASCII")
    check(run("--version").out.startswith("pnhw "), "version")


@test
def errors_are_in_the_readers_language():
    if not os.path.exists(os.path.join(os.path.dirname(os.path.dirname(CTL)), "po", "de", "LC_MESSAGES",
                                       "pnhw.mo")):
        return "gettext was not installed when this was built"
    german = {"LANG": "de_DE.UTF-8"}
    for args, parts in (((), ["pnhwd läuft nicht", "gibt es nicht", "\n  starten:", "pnhwctl --once"]),
                        (("stauts",), ["es gibt kein Verb stauts; ist status gemeint?"]),
                        (("--jsn",), ["es gibt keine Option --jsn; ist --json gemeint?"]),
                        (("nvme", "--until=x"), ["--until gehört zum Verb accept, nicht zu nvme"]),
                        (("nvme", "--format=x"), ["gehört zu den Verben report metrics", "--from"]),
                        (("show",), ["show braucht GERÄT: Alles über ein Gerät"]),
                        (("--from=" + inventory("first-customer"), "show", "nvme33"),
                         ["ein Gerät nvme33 gibt es hier nicht; ist nvme3", " oder "]),
                        (("--from=" + file("list.json", "[1]"),), ["enthält kein Inventar"]),
                        (("-H", "a b", "nvme"), ["a b ist kein Name eines Rechners"]),
                        (("watch", "--once"), ["beobachtet wird der Dienst"]),
                        (("findings", "--explain=nvme.hit"), ["ist nvme.hot gemeint?"])):
        r = run(*args, **german)
        check(r.code == 1 and r.out == "", (args, r.out))
        has(r.err, *parts)
    has(run("findings", "--explain=nvme.hot", **german).out, "Was zu tun ist", "Höchstens   kritisch\n",
        "Quellen     nvme, health\n")
    # Without the letters; and what programs read is English.
    has(run("--frm=x", LC_ALL="de_DE").err, "es gibt keine Option --frm")
    has(run("show", LC_ALL="de_DE").err, "Alles ueber ein Geraet")
    for args in ("-j",), ("check",), ("stauts", "-j"), ("check", "--foo"), ("check", "-j"):
        r, english = run(*args, **german), run(*args)
        check((r.code, r.out, r.err) == (english.code, english.out, english.err), (args, r.out, r.err))
    has(run("-j", "--json=off", **german).err, "läuft nicht")
    return None


# ---- files ----

@test
def broken_files_are_named():
    with open(inventory("first-customer")) as f:
        good = json.load(f)
    bad = json.loads(json.dumps(good))
    bad["pci"][3]["link"]["current_width"] = "four"
    odd = json.loads(json.dumps(good))
    odd["nvme"][0]["modell"] = "x"
    status = document(run("-j", "--from=" + inventory("first-customer")))
    for name, data, parts in (("half.json", json.dumps(good)[:500], ["line 1, column"]),
                              ("syntax.json", "{\n  \"host\": {,}\n}", ["line 2, column"]),
                              ("type.json", bad, ["pci[3].link.current_width", "integer"]),
                              ("odd.json", odd, ["nvme[0]", "does not know"]),
                              ("zero.json", "", ["empty"]),
                              ("binary.json", b"\x7fELF\xff\xfe\x00", ["line 1"]),
                              ("list.json", "[1]", ["no inventory"]),
                              ("other.json", {"a": 1}, ["no inventory"]),
                              ("status.json", status, ["status", "pnhw-probe"]),
                              ("error.json", {"error": "x"}, ["error message"]),
                              ("deep.json", "[" * 5000, ["deep.json"])):
        r = run("--from=" + file(name, data))
        check(r.code == 1 and r.out == "", (name, r.out))
        has(r.err, name, *parts)
        harmless(r.err)
    r = run("--from=" + os.path.join(TMP.name, "not-there"))
    has(r.err, "not-there", "No such file")
    r = run("--from=" + TMP.name)
    has(r.err, "directory")


@test
def files_of_every_wrapping_are_read():
    with open(inventory("first-customer")) as f:
        good = json.load(f)
    bare = {k: v for k, v in good.items() if k != "schema"}
    reply = {"schema": 1, "generation": 7, "inventory": bare}
    newer = {**json.loads(json.dumps(good)), "schema": 99, "quantum": [1]}
    newer["nvme"][0]["mood"] = "fine"
    results = [run("--from=-", stdin=json.dumps(d).encode(), COLUMNS="90")
               for d in (good, bare, reply, {"parameters": reply}, newer)]
    pages = [r.out for r in results]
    check(all(page == pages[0] and "nvme3" in page for page in pages), pages)
    # Only what a newer one wrote may say more than is shown.
    check(not any(r.err for r in results[:-1]), [r.err for r in results])
    has(results[-1].err, "standard input", "newer pnhw", "left out")


@test
def a_number_too_small_is_refused_where_it_stands():
    data = '{"schema": 1, "pci": [\n {"address": "a", "numa_node": -9223372036854775809}]}'
    r = run("--from=-", stdin=data.encode())
    check(r.code == 1 and r.out == "", r.out)
    has(r.err, "line 2, column 32", "-2^63")


@test
def an_empty_socket_is_a_mistake():
    for verb in ([], ["pcie"]):
        r = run("--socket=", *verb)
        check(r.code == 1 and r.out == "", (r.code, r.out))
        has(r.err, "--socket= needs the path of a socket")


# ---- daemons ----

class Daemon:
    """Answers each message with what `behave` gives: bytes, or None to close; a number waits."""

    def __init__(self, name, behave):
        self.path = os.path.join(TMP.name, name)
        self.behave = behave
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.path)
        self.socket.listen(8)
        self.requests = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            peer, _ = self.socket.accept()
            threading.Thread(target=self.talk, args=(peer,), daemon=True).start()

    def talk(self, peer):
        data = b""
        with peer:
            while True:
                chunk = peer.recv(65536)
                if not chunk:
                    return
                data += chunk
                while b"\0" in data:
                    message, data = data.split(b"\0", 1)
                    self.requests.append(json.loads(message))
                    answer = self.behave(self.requests[-1])
                    if isinstance(answer, (int, float)):
                        time.sleep(answer)
                        return
                    if answer is None:
                        return
                    peer.sendall(answer)
                    if not answer.endswith(b"\0"):
                        return


def answer(parameters=None, error=None):
    message = {"parameters": parameters or {}}
    if error:
        message["error"] = error
    return json.dumps(message).encode() + b"\0"


def proper(request):
    method = request["method"].rsplit(".", 1)[1]
    first = "--from=" + inventory("first-customer")
    if method == "GetStatus":
        return answer({**document(run("-j", first)), "generation": 12, "newer": True})
    if method == "GetInventory":
        with open(inventory("first-customer")) as f:
            whole = json.load(f)
        kinds = request.get("parameters", {}).get("kinds") or list(whole)
        return answer({"schema": 1, "generation": 12,
                       "inventory": {k: v for k, v in whole.items() if k in kinds}})
    if method == "GetDevice":
        name = request["parameters"]["name"]
        r = run("-j", first, "show", name)
        if r.code:
            return answer({"name": name}, "io.pnhw.Hardware.NoSuchDevice")
        return answer({"device": document(r)})
    if method == "GetMetrics":
        return answer({"openmetrics": run(first, "metrics").out})
    return answer({"method": method}, "org.varlink.service.MethodNotFound")


@test
def a_proper_daemon_gives_the_same_as_a_file():
    daemon = Daemon("proper", proper)
    first = "--from=" + inventory("first-customer")
    for verb in ["nvme"], ["pcie"], ["disks"], ["sensors"], ["metrics"], ["show", "nvme3"]:
        direct, saved = run("--socket=" + daemon.path, *verb), run(first, *verb)
        check(direct.code == 0 and direct.out == saved.out, direct.out + direct.err)
        check(document(run("-j", "--socket=" + daemon.path, *verb)) ==
              document(run("-j", first, *verb)), verb)
    for verb in ["report"], ["report", "--format=html"], ["report", "--format=svg"]:
        check(run("--socket=" + daemon.path, *verb).out == run(first, *verb).out, verb)
    daemon.requests.clear()
    run("--socket=" + daemon.path, "pcie")
    run("--socket=" + daemon.path, "report")
    check([r["parameters"]["kinds"] for r in daemon.requests if "parameters" in r] ==
          [["host", "pci"], ["host", "pci", "nvme", "disks", "nics", "sensors"]], daemon.requests)
    page = run(PNHW_SOCKET=daemon.path)
    check(page.code == 0, page.err)
    has(page.out, "▲ nvme3", "since 2021-08-14 10:04:31", "pnhwctl show nvme3")
    status = document(run("-j", PNHW_SOCKET=daemon.path))
    check(status["generation"] == 12 and status["newer"] is True, "a newer field is lost")
    daemon.requests.clear()
    run("--socket=" + daemon.path, "metrics", "--format=prometheus")
    check([r["method"] for r in daemon.requests] == ["io.pnhw.Hardware.GetMetrics"],
          daemon.requests)
    daemon.requests.clear()
    run("--socket=" + daemon.path)
    check([r["method"].rsplit(".", 1)[1] for r in daemon.requests] == ["GetStatus"],
          daemon.requests)
    daemon.requests.clear()
    run("--all", "--socket=" + daemon.path)
    check([r["method"].rsplit(".", 1)[1] for r in daemon.requests] == ["GetStatus", "GetInventory"]
          and daemon.requests[1]["parameters"] == {"kinds": ["nics"]}, daemon.requests)
    daemon.requests.clear()
    run("-j", "--socket=" + daemon.path)
    check([r["method"] for r in daemon.requests] == ["io.pnhw.Hardware.GetStatus"],
          daemon.requests)
    r = run("--socket=" + daemon.path, "show", "nvme44")
    check(r.code == 1, r.out)
    has(r.err, "nvme44", "did you mean nvme4")


@test
def no_daemon_says_how_to_go_on():
    r = run()
    check(r.code == 1 and r.out == "", r.out)
    has(r.err, os.path.join(TMP.name, "none"), "does not exist", "systemctl start pnhwd",
        "pnhwctl --once status", "root")
    left = os.path.join(TMP.name, "left")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(left)
    r = run("--socket=" + left)
    has(r.err, left, "not running", "systemctl start pnhwd")
    r = run("--socket=" + file("plain", "x"))
    check(r.code == 1, r.out)
    has(r.err, "plain")
    r = run("--socket=/" + "x" * 200)
    check(r.code == 1 and r.err.count("\n") == 1, r.err)
    check(document(run("-j"))["error"] == "NoDaemon", "json")


@test
def no_permission_says_so():
    if os.geteuid() == 0:
        directory = os.path.join(TMP.name, "closed")
        os.mkdir(directory, 0o755)
        os.chmod(TMP.name, 0o755)
        path = os.path.join(directory, "s")
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(path)
            s.listen(1)
            os.chmod(path, 0o660)
            try:
                r = subprocess.run([CTL, "--socket=" + path], capture_output=True, user=65534,
                                   group=65534, extra_groups=[], env=environment(), text=True)
            except PermissionError:
                return "the program is not readable for another user"
            has(r.stderr, path, "may not connect", "root")
            check(r.returncode == 1, r.stdout)
            return None
    return "needs root to become another user"


@test
def bad_answers_get_a_sentence():
    quick = run("-j", "--from=" + inventory("first-customer")).out.encode()
    for name, behave, parts in (
            ("garbage", lambda _: b"\xff\xfe<html>\0", []),
            ("http", lambda _: b"HTTP/1.1 400 Bad Request\r\n\r\n\0", []),
            ("closes", lambda _: None, []),
            ("half", lambda _: b"{\"parameters\":" + quick[:300], []),
            ("wrong", lambda _: answer({"schema": "one"}), ["makes no sense", "schema"]),
            ("void", lambda _: answer({}), ["makes no sense", "missing"]),
            ("array", lambda _: b"[]\0", []),
            ("busy", lambda _: answer({}, "io.pnhw.Hardware.Busy"), []),
            ("notready", lambda _: answer({}, "io.pnhw.Hardware.NotReady"), []),
            ("strange", lambda _: answer({}, "com.example.Str\u001b[31mange"), ["ange"])):
        daemon = Daemon(name, behave)
        r = run("--socket=" + daemon.path)
        check(r.code == 1 and r.out == "" and r.err.startswith("pnhwctl: "), (name, r.out, r.err))
        check(len(r.err) > 20, r.err)
        harmless(r.err)
        has(r.err, *parts)
        error = document(run("-j", "--socket=" + daemon.path))
        check(set(error) == {"error", "message"}, error)
    check(error["error"].endswith("ange"), error)


@test
def silence_ends_in_a_sentence():
    daemon = Daemon("silent", lambda _: 30)
    begin = time.monotonic()
    r = run("--socket=" + daemon.path)
    check(r.code == 1 and time.monotonic() - begin < 15, "took too long")
    has(r.err, daemon.path, "5 seconds", "systemctl status pnhwd")


# ---- --once ----

@test
def once_runs_the_probe():
    probe = executable("probe", "#!/bin/sh\ncat %s\n" % inventory("first-customer"))
    r = run("--once", PNHW_PROBE=probe)
    check(r.code == 0, r.err)
    has(r.out, "▲ nvme3", "read just now", "pnhwctl --once show nvme3")
    check(len(document(run("--once", "-j", "nvme", PNHW_PROBE=probe))) == 5, "nvme")


@test
def bad_probes_get_a_sentence():
    for name, script, parts in (
            ("crash", "kill -SEGV $$", ["crashed"]),
            ("fail", "exit 3", ["exit status 3"]),
            ("silent", "exit 0", ["empty"]),
            ("half", "head -c 700 %s" % inventory("first-customer"), ["line"]),
            ("nonsense", "echo hello", ["line 1"])):
        probe = executable("probe-" + name, "#!/bin/sh\n%s\n" % script)
        r = run("--once", PNHW_PROBE=probe)
        check(r.code == 1 and r.out == "", (name, r.out))
        has(r.err, "probe", *parts)
        check(set(document(run("--once", "-j", PNHW_PROBE=probe))) == {"error", "message"}, name)
    r = run("--once", PNHW_PROBE="/nonexistent/probe")
    has(r.err, "/nonexistent/probe", "No such file")


# ---- the pager ----

@test
def long_pages_are_paged_in_a_terminal_only():
    pager = executable("pager", "#!/bin/sh\necho PAGED\ncat\n")
    first = "--from=" + inventory("first-customer")
    has(run_tty(first, "show", "nvme3", rows=24, PNHW_PAGER=pager).out, "PAGED", "7QH00RTP")
    has_not(run_tty(first, "show", "nvme3", rows=200, PNHW_PAGER=pager).out, "PAGED")
    has_not(run_tty(first, "show", "nvme3", "--no-pager", rows=24, PNHW_PAGER=pager).out, "PAGED")
    has_not(run(first, "show", "nvme3", PNHW_PAGER=pager).out, "PAGED")
    has(run_tty(first, "show", "nvme3", rows=24, PNHW_PAGER="/nonexistent/pager").out, "7QH00RTP")


@test
def a_closed_pipe_is_no_disaster():
    r = subprocess.run("%s --from=%s show nvme3 | true" % (CTL, inventory("first-customer")),
                       shell=True, capture_output=True, env=environment())
    check(r.stderr == b"", r.stderr)
    with open("/dev/full", "w") as full:
        r = subprocess.run([CTL, "--from=" + inventory("empty")], stdout=full,
                           stderr=subprocess.PIPE, env=environment())
    check(r.returncode == 1 and b"No space left" in r.stderr, r)


def main():
    global failed
    if not os.access(CTL, os.X_OK):
        print("not ok - pnhwctl: %s is not there; build it first" % CTL)
        return 1
    for function in tests:
        name = function.__name__.replace("_", " ")
        try:
            reason = function()
        except Exception as e:  # pylint: disable=broad-except
            failed += 1
            print("not ok - %s: %s" % (name, e))
        else:
            print("skip - %s: %s" % (name, reason) if reason else "ok - %s" % name)
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
