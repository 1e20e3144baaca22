#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_catalog.py BUILD_DIR: the journal's catalog has an entry for each finding code, relies only
on fields that each entry of the journal has, and is one that journalctl itself takes and shows."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
CATALOG = os.path.join(BUILD, "docs", "pnhw.catalog")
# A field that an entry lacks is shown as its bare name.
FIELDS = {"PNHW_CODE", "PNHW_STATE", "PNHW_SUMMARY", "PNHW_ADVICE"}
failures = 0


def result(name, problem):
    global failures
    failures += bool(problem)
    print(f"not ok - {name}: {problem}" if problem else f"ok - {name}")


def journalctl(root, *args):
    done = subprocess.run(["journalctl", f"--root={root}", "--no-pager", *args],
                          capture_output=True, text=True, check=False,
                          env=dict(os.environ, LC_ALL="C.UTF-8"))
    return done.stdout, done.stderr.strip().replace("\n", " / ") or (
        done.returncode and f"exit status {done.returncode}")


def main():
    codes = dict(line.split() for line in subprocess.run(
        [os.path.join(BUILD, "docs", "print-codes"), "list"], capture_output=True, text=True,
        check=True).stdout.splitlines())
    with open(CATALOG, encoding="utf-8") as file:
        text = file.read()
    entries = {part[:32]: part[32:] for part in re.split(r"^-- ", text, flags=re.MULTILINE)[1:]}
    result("the catalog has an entry for each code",
           set(entries) ^ set(codes) and f"{set(entries) ^ set(codes)}")
    result("an entry relies on no field that may be missing", ", ".join(
        sorted(set(re.findall(r"@(\w+)@", text)) - FIELDS)))
    result("an entry has a subject, a body, and lines that fit", ", ".join(
        codes.get(id, id) for id, entry in entries.items()
        if not re.search(r"^Subject: \S", entry, re.MULTILINE) or len(entry.split("\n\n")) < 3 or
        max(map(len, entry.split("\n"))) > 80))

    if not shutil.which("journalctl"):
        print("skip - journalctl takes the catalog: needs journalctl")
        return failures > 0
    with tempfile.TemporaryDirectory(prefix="pnhw-catalog-") as root:
        folder = os.path.join(root, "usr", "lib", "systemd", "catalog")
        os.makedirs(folder)
        os.makedirs(os.path.join(root, "var", "lib", "systemd", "catalog"))
        shutil.copy(CATALOG, folder)
        _, error = journalctl(root, "--update-catalog")
        result("journalctl takes the catalog", error)
        listed, error = journalctl(root, "--list-catalog")
        missing = [code for id, code in codes.items() if f"{id} pnhw: " not in listed]
        result("journalctl knows each code", error or ", ".join(missing))
        id = next(id for id, code in codes.items() if code == "nvme.hot")
        shown, error = journalctl(root, "--dump-catalog", id)
        result("journalctl shows what an entry says", error or (
            not all(words in shown for words in ("Subject: NVMe drive is hot", "@PNHW_SUMMARY@",
                                                 "heat sink", f"MESSAGE_ID={id}")) and shown))
    return failures > 0


sys.exit(main())
