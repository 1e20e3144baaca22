#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_man.py BUILD_DIR [--update]: the manual pages are well-formed, say what the programs' help
says, and show what the programs print. --update writes the output into them anew."""

import os
import re
import shutil
import subprocess
import sys

BUILD = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = os.path.join(ROOT, "docs", "man")
OUTPUT = re.compile(r'(?P<head>^\.\\" output: (?P<command>[^\n]+)\n\.Bd -literal\n)'
                    r'(?P<text>.*?)(?P<tail>^\.Ed$)', re.MULTILINE | re.DOTALL)
PROGRAMS = {"pnhwctl.1": "cli/pnhwctl", "pnhwd.8": "daemon/pnhwd",
            "pnhw-probe.8": "daemon/probe/pnhw-probe"}
failures = 0


def result(name, problem):
    global failures
    failures += bool(problem)
    print(f"not ok - {name}: {problem}" if problem else f"ok - {name}")


def literal(text):
    """As mdoc wants it in a literal block."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def run(command):
    path = ":".join([os.path.join(BUILD, "cli"), os.path.join(BUILD, "daemon"), os.environ["PATH"]])
    environment = {"PATH": path, "LC_ALL": "C.UTF-8"}
    return subprocess.run(["bash", "-eo", "pipefail", "-c", command], cwd=ROOT, env=environment,
                          check=True, stdout=subprocess.PIPE, text=True).stdout


def with_output(text):
    return OUTPUT.sub(lambda m: m["head"] + literal(run(m["command"])) + m["tail"], text)


def plain(page):
    """A page's words without markup."""
    text = re.sub(r"\\&|\\e", "", page).replace("\\-", "-")
    return re.sub(r"\bFl (\w)\b", r"-\1", text.replace("Fl Fl ", "--"))


def documents(name, page):
    """Each option and each verb or source of the program's help is in its page."""
    text = subprocess.run([os.path.join(BUILD, PROGRAMS[name]), "--help"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    words = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))
    items = set(re.findall(r"^  ([a-z]+)\s+\S", text, re.MULTILINE))
    page = plain(page)
    missing = [word for word in sorted(words) if not re.search(re.escape(word) + r"(?![\w-])", page)]
    missing += [item for item in sorted(items) if f".It Cm {item}" not in page]
    return ", ".join(missing) and "does not have " + ", ".join(missing)


def main():
    for name in sorted(os.listdir(PAGES)):
        if name == "meson.build":
            continue
        path = os.path.join(PAGES, name)
        with open(path, encoding="utf-8") as file:
            page = file.read()
        if "jq" in "".join(m["command"] for m in OUTPUT.finditer(page)) and not shutil.which("jq"):
            print(f"skip - {name} shows what the programs print: needs jq")
        else:
            new = with_output(page)
            if "--update" in sys.argv and new != page:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(new)
                page = new
            result(f"{name} shows what the programs print", new != page and
                   f"write it anew: tests/man/test_man.py {os.path.relpath(BUILD)} --update")
        if name in PROGRAMS:
            result(f"{name} has what --help has", documents(name, page))
        if shutil.which("mandoc"):
            lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", path], check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            result(f"{name} is well-formed", " / ".join(lint.stdout.splitlines()[:5]))
        else:
            print(f"skip - {name} is well-formed: needs mandoc")
    return failures > 0


sys.exit(main())
