#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A German reader is shown nothing of the daemon's English: the findings of each recorded machine, and
whatever a device or another machine calls itself.

usage: test_german.py BUILD_DIR [WORD...]
"""

import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, TESTS)

from cases import Skip, check, equal, has, has_not, run_cases  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
CTL = os.path.join(BUILD, "cli", "pnhwctl")
GOLDEN = os.path.join(TESTS, "golden")
TMP = tempfile.TemporaryDirectory(prefix="pnhw-german-")


def run(*args, **env):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG"))}
    environment.update({"COLUMNS": "200", "NO_COLOR": "1", "TZ": "UTC", "LANG": "C.UTF-8", **env})
    r = subprocess.run([CTL, *args], capture_output=True, env=environment, timeout=60, check=False)
    check(r.returncode == 0, f"{args}: exit {r.returncode}: {r.stderr.decode(errors='replace')}")
    return r.stdout.decode()


def german(*args):
    """On one line: sentences are broken wherever the page ends."""
    return " ".join(run(*args, LANG="de_DE.UTF-8").split())


def need_catalogue():
    if not os.path.exists(os.path.join(BUILD, "po", "de", "LC_MESSAGES", "pnhw.mo")):
        raise Skip("gettext was not installed when this was built")


def machines():
    for name in sorted(os.listdir(GOLDEN)):
        if name.endswith(".inventory.json"):
            yield os.path.join(GOLDEN, name)
    for name in ("empty", "first-customer", "ports", "unread", "vm"):
        yield os.path.join(HERE, name + ".json")


def saved(name, text):
    path = os.path.join(TMP.name, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text if isinstance(text, str) else json.dumps(text))
    return path


def said(status):
    """All that the rules have said, in English."""
    yield status["summary"]
    for finding in status["findings"]:
        for key in ("summary", "detail", "advice"):
            if finding.get(key):
                yield finding[key]


def no_english_finding_is_left_on_any_machine():
    need_catalogue()
    n = 0
    for path in machines():
        status = json.loads(run("--from=" + path, "-j", "status"))
        pages = [german("--from=" + path, *verb) for verb in (
            ["status", "--all"], ["findings", "--all"],
            ["report", "--all", "--format=markdown"], ["report", "--all", "--format=html"])]
        # Of ports.json some functions are not there.
        pages += [german("--from=" + path, "show", device) for device in
                  sorted({f["device"] for f in status["findings"] if f["device"]})[:6]
                  if not path.endswith("ports.json")]
        for text in said(status):
            n += 1
            # Each sentence of its own, and as the formats write it.
            for sentence in re.split(r"(?<=\.) ", text):
                for page in pages:
                    has_not(page.replace("\\", "").replace("&#39;", "'"), sentence)
        has_not(pages[3], 'lang="en"')
        for word in ("affects ", "zpool rpool is", "volume group "):
            has_not(pages[0], word)
    check(n > 100, f"only {n} texts were looked at")


def json_and_programs_get_english():
    need_catalogue()
    path = os.path.join(GOLDEN, "lacp.inventory.json")
    for args in (["-j", "status"], ["-j", "findings"], ["check"], ["metrics"],
                 ["report", "--format=json"], ["findings", "--explain=nvme.hot", "-j"]):
        source = [] if "--explain=nvme.hot" in args else ["--from=" + path]
        command = [CTL, *source, *args]
        pages = []
        for language in ("C.UTF-8", "de_DE.UTF-8"):
            environment = dict(os.environ, LC_ALL=language, NO_COLOR="1", TZ="UTC")
            pages.append(subprocess.run(command, capture_output=True, env=environment, timeout=60,
                                        check=False).stdout)
        equal(pages[1], pages[0], " ".join(args))


def each_code_is_explained():
    need_catalogue()
    codes = [line.split(":")[0] for line in run("--complete=codes").splitlines()] \
        if "--complete" in run("--help") else []
    if not codes:
        with open(os.path.join(TESTS, "..", "lib", "codes.h"), encoding="utf-8") as file:
            codes = re.findall(r'\bC\(\w+, "([a-z_.]+)"', file.read())
    check(len(codes) > 25, f"{len(codes)} codes were found")
    for code in codes:
        english = json.loads(run("findings", "--explain=" + code, "-j"))
        page = german("findings", "--explain=" + code)
        has(page, code + ": ", "Was zu tun ist")
        for key in ("title", "meaning", "remedy"):
            for sentence in re.split(r"(?<=\.) ", english[key]):
                has_not(page, sentence)


def plural_and_order_are_german():
    need_catalogue()
    page = german("--from=" + os.path.join(GOLDEN, "first-customer.inventory.json"), "status")
    has(page, "2 von 5 Laufwerken und 1 von 6 anderen Geräten laufen unter ihren Möglichkeiten.",
        "Zpool rpool wird ausgebremst. 1 Netzwerkanschluss hat kein Interface.",
        "nvme3: Slot PCIEX1_1 hat 1 Lane; das Laufwerk könnte 4 nutzen. 75 % gehen verloren",
        "enp4s0f0: Slot PCIEX16_3 hat 4 Lanes; die Netzwerkkarte könnte 8 nutzen.",
        "betrifft zpool rpool")
    page = german("--from=" + os.path.join(GOLDEN, "lacp.inventory.json"), "status")
    has(page, "75 °C im Modul in enp130s0f0 (FTLX8571D3BCL, Seriennummer UGT0001); es warnt ab 73 °C.")


def hostile(model, slot):
    """A machine with a drive in a slow slot, and names that somebody chose."""
    def link(width, most):
        return {"current_speed": 16, "current_width": width, "max_speed": 16, "max_width": most}
    return {
        "schema": 1, "host": {"hostname": "h"},
        "pci": [{"address": "0000:00:01.0", "class": "0x060400", "kind": "root_port", "slot": slot,
                 "slot_implemented": True, "link": link(1, 1)},
                {"address": "0000:01:00.0", "class": "0x010802", "kind": "endpoint", "slot": slot,
                 "parent": "0000:00:01.0", "driver": "nvme", "link": link(1, 4)}],
        "nvme": [{"name": "nvme0", "address": "0000:01:00.0", "transport": "pcie", "state": "dead",
                  "model": model, "serial": "S", "subsystem": "nqn", "namespaces": [
                      {"name": "nvme0n1", "nsid": 1, "uses": [
                          {"type": "zfs_member", "name": model}]}]}]}


def hostile_names_stay_what_they_are():
    need_catalogue()
    for name in ("%s%n%1$s", "has 1 lane; the drive could use 4. 75 % lost (1 of 2 GB/s).",
                 "a. b. c. d. e. f. g. h. i. j. k. l. m. n. o.", "is held back. ",
                 "; the " * 200, " and " * 300, "x is x. " * 200, "\u202e", "ü" * 500, "%"):
        path = saved("hostile.json", hostile("M " + name, "S " + name))
        english = " ".join(run("--from=" + path, "status", "--all").split())
        page = german("--from=" + path, "status", "--all")
        # As many findings, and nothing of a name that English does not show, too.
        equal(page.count("▲") + page.count("✗"), english.count("▲") + english.count("✗"), name[:20])
        has(page, "nvme0 arbeitet nicht: Sein Zustand ist dead.")
        if "%" in name:
            equal(page.count("%s%n%1$s"), english.count("%s%n%1$s"))


def what_is_not_known_stays_english():
    """Of another version, or an old capture."""
    need_catalogue()
    path = saved("unknown.json", {**hostile("M", "S"), "sources": [
        {"name": "nvme", "state": "failed", "reason": "the daemon of 2040 says so"},
        {"name": "pci", "state": "failed", "reason": "the probe crashed (Aborted): no luck"}]})
    page = german("--from=" + path, "status", "--all")
    has(page, "the daemon of 2040 says so", "die Sonde ist abgestürzt (Aborted): no luck")


def what_is_wrong_with_a_document_or_the_daemon_is_german():
    need_catalogue()
    for arguments, expected in (
            (["--from=" + saved("wrong.json", {"pci": [{"address": 3}]})],
             "pci[0].address: erwartet wird ein Text"),
            (["--from=" + saved("cut.json", '{"pci":')], "der Text endet mitten in einem Wert"),
            (["--socket=/dev/null"], "/dev/null ist kein Socket")):
        r = subprocess.run([CTL, *arguments], capture_output=True, timeout=60, check=False,
                           env={**os.environ, "LC_ALL": "de_DE.UTF-8"})
        equal(r.returncode, 1)
        has(r.stderr.decode(), expected)


CASES = [no_english_finding_is_left_on_any_machine, json_and_programs_get_english,
         each_code_is_explained, plural_and_order_are_german, hostile_names_stay_what_they_are,
         what_is_not_known_stays_english,
         what_is_wrong_with_a_document_or_the_daemon_is_german]

sys.exit(run_cases(CASES, sys.argv[2:]))
