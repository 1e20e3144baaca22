#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_exposure.py BUILD_DIR: the units keep what they promise on paper: systemd's own measure of
what a service could do, no directive that systemd does not know, and a reason for each capability.
What they do in practice, tests/vm shows."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMITS = {"pnhwd.service": 0.8, "pnhw-probe-admin@.service": 1.0,
          "pnhw-probe-net@.service": 1.2, "pnhw-textfile.service": 1.0}
failures = 0


def result(name, problem):
    global failures
    failures += bool(problem)
    print(f"not ok - {name}: {problem}" if problem else f"ok - {name}")


def measure(path):
    """systemd's exposure level, and what it complained about."""
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", path],
                          capture_output=True, text=True, check=False,
                          env=dict(os.environ, LC_ALL="C.UTF-8"))
    level = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
    return level and float(level.group(1)), done.stderr.strip().replace("\n", " / ")


def unexplained(text):
    """Capabilities that the unit keeps and no comment of it has a word about."""
    kept = set(re.findall(r"CAP_\w+", " ".join(
        re.findall(r"^(?:CapabilityBoundingSet|AmbientCapabilities)=(.*)$", text, re.MULTILINE))))
    comments = " ".join(re.findall(r"^# (CAP_\w+): ", text, re.MULTILINE))
    return ", ".join(sorted(kept - set(comments.split())))


def verify():
    """What systemd says of all units together. The programs need not be installed."""
    with tempfile.TemporaryDirectory() as where:
        for folder in os.path.join(BUILD, "systemd"), os.path.join(ROOT, "systemd"):
            for name in sorted(os.listdir(folder)):
                if not name.endswith((".service", ".socket", ".timer")):
                    continue
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    text = re.sub(r"^(ExecStart=)\S+", r"\1/bin/true", file.read(), flags=re.MULTILINE)
                with open(os.path.join(where, name), "w", encoding="utf-8") as file:
                    file.write(text)
        names = sorted(os.listdir(where))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no",
                               *[os.path.join(where, re.sub("@", "@1", n)) for n in names]],
                              capture_output=True, text=True, check=False,
                              env=dict(os.environ, LC_ALL="C.UTF-8"))
        # Other units of the machine are not ours to judge.
        ours = [line for line in (done.stdout + done.stderr).splitlines()
                if "pnhw" in line]
    result(f"{', '.join(names)}: systemd has nothing to say", " / ".join(ours))


def main():
    if shutil.which("systemd-analyze"):
        verify()
    else:
        print("skip - systemd has nothing to say of the units: needs systemd-analyze, of Debian's "
              "package systemd")
    for name, limit in LIMITS.items():
        path = os.path.join(BUILD, "systemd", name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        result(f"{name} says what it needs each capability for", unexplained(text))
        result(f"{name} has all its values", ", ".join(re.findall(r"@[a-z_]+@", text)))
        if not shutil.which("systemd-analyze"):
            print(f"skip - {name} is exposed by at most {limit}: needs systemd-analyze, of Debian's "
                  "package systemd")
            continue
        level, complaints = measure(path)
        result(f"{name} has no directive that systemd does not know", complaints)
        result(f"{name} is exposed by at most {limit}",
               "systemd-analyze gives no level" if level is None else
               level > limit and f"it is {level}")
        print(f"# {name}: {level}")
    return failures > 0


sys.exit(main())
