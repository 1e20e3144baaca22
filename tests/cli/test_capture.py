#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Captures every recorded machine, and holds the capture to two promises: nothing of what identifies
the machine is in it, and every verb shows the same of it, but for names.

Usage: test_capture.py BUILD_DIR
"""

import glob
import json
import os
import re
import stat
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CTL = os.path.join(sys.argv[1] if len(sys.argv) > 1 else "build", "cli", "pnhwctl")
TMP = tempfile.TemporaryDirectory(prefix="pnhw-capture-")
MACHINES = sorted(glob.glob(os.path.join(HERE, "..", "golden", "*.inventory.json"))) + [
    os.path.join(HERE, name + ".json") for name in ("first-customer", "ports", "vm", "unread")]
failed = 0


def run(*args, stdin=None, **env):
    r = subprocess.run([CTL, *args], input=stdin, capture_output=True, text=True, timeout=60,
                       check=False, env={**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC",
                                         "PNHW_SOCKET": os.path.join(TMP.name, "none"), **env})
    return r


def check(condition, why):
    if not condition:
        raise AssertionError(why)


def texts(value, path=""):
    """Every text of a document, with the place that it stands at."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from texts(item, path + "." + key)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from texts(item, path + "[%d]" % number)
    elif isinstance(value, str):
        yield path, value


def without_nulls(value):
    """A document as it is after it was read: what is null or empty need not be written."""
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v not in (None, [])}
    return [without_nulls(v) for v in value] if isinstance(value, list) else value


def capture(path, *args):
    r = run("--from=" + path, "--json=short", "capture", *args)
    check(r.returncode == 0, r.stderr)
    with open(path, encoding="utf-8") as f:
        return json.load(f), json.loads(r.stdout), r


def name_of(path):
    return os.path.basename(path).split(".")[0]


def nothing_identifies_the_machine(path):
    before, after, _ = capture(path)
    everything = json.dumps(after, ensure_ascii=False)
    for place, value in texts(before):
        field = place.rsplit(".", 1)[1].split("[")[0]
        secret = field in ("serial", "hostname", "wwn") or \
            field in ("mac", "permanent_mac", "partner_mac") and set(value) != set("0:")
        if field == "subsystem":
            secret, value = True, value.rsplit(":", 1)[1]
        if secret and len(value) > 4 and re.search("[0-9A-Za-z]", value):
            check(value not in everything, "%s (%s) is still there" % (value, place))


def nothing_else_changes(path):
    """Same fields, same types, same numbers; texts alone may differ, and those of a set of fields."""
    may = {"serial", "hostname", "wwn", "mac", "permanent_mac", "partner_mac", "subsystem", "name",
           "id", "mount", "master", "lower", "active_member", "device"}
    before, after, _ = capture(path)
    before, after = without_nulls(before), without_nulls(after)
    old, new = dict(texts(before)), dict(texts(after))
    check(old.keys() == new.keys(), set(old) ^ set(new))
    for place, value in old.items():
        field = place.rsplit(".", 1)[1].split("[")[0]
        check(value == new[place] or field in may, "%s: %s is %s" % (place, value, new[place]))

    def numbers(value):
        if isinstance(value, dict):
            return {k: numbers(v) for k, v in value.items()}
        return [numbers(v) for v in value] if isinstance(value, list) else \
            "" if isinstance(value, str) else value
    check(numbers(before) == numbers(after), "something that is no text changed")


def verdicts_are_the_same(path):
    before, after, r = capture(path)
    saved = os.path.join(TMP.name, name_of(path) + ".json")
    with open(saved, "w", encoding="utf-8") as f:
        f.write(r.stdout)
    old, new = dict(texts(before)), dict(texts(after))
    changed = sorted({(value, new[place]) for place, value in old.items() if new.get(place) != value and place != ".host.hostname"},
                     key=lambda pair: -len(pair[0]))

    def renamed(value):
        if isinstance(value, dict):
            return {k: renamed(v) for k, v in value.items()}
        if isinstance(value, list):
            return [renamed(v) for v in value]
        if isinstance(value, str):
            for name, pseudonym in changed:
                value = re.sub(r"(?<![\w])%s(?![\w])" % re.escape(name),
                               lambda _, p=pseudonym: p, value)
        return value

    def judged(name, verb):
        r = run("--from=" + name, "--json=short", verb)
        check(r.returncode == 0, r.stderr)
        return json.loads(r.stdout)

    def findings(status):
        """Ids are made of serial numbers; without them, in no order."""
        return sorted(json.dumps({k: v for k, v in finding.items() 
                                  if k not in ("id", "subject", "since")})
                      for finding in status["findings"])

    a, b = renamed(judged(path, "status")), judged(saved, "status")
    check(findings(a) == findings(b), sorted(set(findings(a)) ^ set(findings(b))))
    for key in "ratings", "sources", "summary":
        check(a[key] == b[key], "%s: %s" % (key, [a[key], b[key]]))
    for verb in "nvme", "pcie", "net", "modules", "sensors", "disks":
        r = run("--from=" + saved, verb)
        check(r.returncode == 0 and r.stderr == "", verb + r.stderr)


def first():
    return "--from=" + os.path.join(HERE, "first-customer.json")


def two_captures_have_nothing_in_common():
    a = json.loads(run(first(), "--json=short", "capture").stdout)
    b = json.loads(run(first(), "--json=short", "capture").stdout)
    for x, y in zip(a["nvme"], b["nvme"]):
        check(x["serial"] != y["serial"], x)
        check(x["model"] == y["model"], x)


def it_says_what_it_did():
    r = run(first(), "capture")
    check(json.loads(r.stdout)["schema"] == 1 and r.stdout.count("\n") > 20, "not pretty")
    for part in "5 serial numbers", "5 NQNs", "kept:", "models", "before you send it":
        check(part in r.stderr, r.stderr)
    check(run(first(), "--no-legend", "capture").stderr == "", "--no-legend")
    r = run("--from=-", "capture", stdin="{}")
    check(r.returncode == 0 and "nothing to replace" in r.stderr, r.stderr)


def it_writes_a_file():
    path = os.path.join(TMP.name, "out.json")
    r = run(first(), "capture", "--output=" + path)
    check(r.returncode == 0 and r.stdout == "" and path in r.stderr, r.stderr)
    check(stat.S_IMODE(os.stat(path).st_mode) == 0o600, "others may read it")
    check(run("--from=" + path).returncode == 0, "cannot be shown")
    r = run(first(), "capture", "--output=/nonexistent/x")
    check(r.returncode == 1 and "/nonexistent/x" in r.stderr, r.stderr)
    r = run(first(), "capture", "--output=/dev/full")
    check(r.returncode == 1 and "No space" in r.stderr, r.stderr)
    r = run(first(), "capture", "--output=")
    check(r.returncode == 1 and "--output" in r.stderr, r.stderr)
    r = run(first(), "--output=" + path)
    check(r.returncode == 1 and "capture" in r.stderr, r.stderr)
    r = run(first(), "capture", "--output=-")
    check(json.loads(r.stdout), r.stderr)


def names_may_be_kept():
    machine = {"schema": 1, "nvme": [{"name": "nvme0", "serial": "S1SECRET", "namespaces": [
        {"name": "nvme0n1", "uses": [{"type": "zfs_member", "name": "acme", "device": "nvme0n1p1",
                                      "mount": "/srv/acme"}]}]}]}
    text = json.dumps(machine)
    r = run("--from=-", "capture", stdin=text)
    check("acme" not in r.stdout and "/srv/" in r.stdout and "nvme0n1p1" in r.stdout, r.stdout)
    r = run("--from=-", "capture", "--keep-names", stdin=text)
    check("/srv/acme" in r.stdout and "S1SECRET" not in r.stdout, r.stdout)
    check("names of interfaces, pools" in r.stderr, r.stderr)


def hostile_text_stays_text():
    r = run("--from=" + os.path.join(HERE, "hostile.json"), "capture")
    check(r.returncode == 0, r.stderr)
    check(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", r.stdout + r.stderr), "control characters")
    check(run("--from=-", "status", stdin=r.stdout).returncode == 0, "cannot be shown")


def main():
    global failed
    cases = [(name_of(path) + ": " + case.__name__, lambda case=case, path=path: case(path))
             for path in MACHINES
             for case in (nothing_identifies_the_machine, nothing_else_changes,
                          verdicts_are_the_same)]
    cases += [(case.__name__, case) for case in (
        two_captures_have_nothing_in_common, it_says_what_it_did, it_writes_a_file,
        names_may_be_kept, hostile_text_stays_text)]
    for name, case in cases:
        name = name.replace("_", " ")
        try:
            case()
        except Exception as e:  # pylint: disable=broad-except
            failed += 1
            print("not ok - %s: %s" % (name, str(e)[:2000]))
        else:
            print("ok - %s" % name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
