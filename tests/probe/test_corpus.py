#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_corpus.py BUILD_DIR CORPUS_DIR: runs the probe on every machine of the corpus and holds what
it says of each link against the corpus's oracle, which other people's decoders made.

Exits 77 where there is no corpus or no fake host to run on. The corpus is only read.
"""

import json
import os
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MKCORPUS = os.path.join(SOURCE, "tests", "bed", "mkcorpus")
WIDTHS = (1, 2, 4, 8, 12, 16, 32)
CODES = {1: 2.5, 2: 5, 3: 8, 4: 16, 5: 32, 6: 64}
# Made by its authors out of one machine, with the same addresses below several roots.
EDITED = ("hwloc-fakepcilocalities",)
KINDS = {
    "Endpoint": "endpoint", "Legacy Endpoint": "endpoint", "Root Port": "root_port",
    "Upstream Port": "upstream_port", "Downstream Port": "downstream_port",
    "Root Complex Integrated Endpoint": "integrated", "RC Integrated Endpoint": "integrated",
    "RCiEP": "integrated", "Root Complex Event Collector": "integrated",
    "PCI-Express to PCI/PCI-X Bridge": "bridge", "PCIe-to-PCI bridge": "bridge",
}
failed = 0


def report(name, wrong):
    global failed
    if wrong:
        failed += 1
        print(f"not ok - {name}: {'; '.join(wrong)}")
    else:
        print(f"ok - {name}")


def rate(text):
    """A lane rate out of "8GT/s", "8.0" or 8.0; None for what is no rate."""
    try:
        number = float(str(text).replace("GT/s", ""))
    except ValueError:
        return None
    return number if number in CODES.values() else None


def lanes(number):
    return number if number in WIDTHS else None


class Expected:
    """What an oracle says of one function, from whichever form it has; None is: it does not say."""

    def __init__(self, device):
        self.kind = self.current = self.max = self.target = self.supported = None
        self.virtual = False
        if "parsed" in device:                        # out of sysfs attributes
            parsed = device["parsed"]
            self.current = (rate(parsed.get("cur_GTs")), lanes(parsed.get("cur_width")))
            if "max_GTs" in parsed:
                self.max = (rate(parsed["max_GTs"]), lanes(parsed.get("max_width")))
        elif "lnkcap" in device:                      # out of lspci's text
            if "lnksta" in device:
                self.current = (rate(device["lnksta"]["speed"]), lanes(device["lnksta"]["width"]))
            self.max = (rate(device["lnkcap"]["speed"]), lanes(device["lnkcap"]["width"]))
        elif "max_width" in (device.get("pcie") or {}):  # out of config space
            pcie = device["pcie"]
            speeds = [rate(text) for text in pcie.get("lnkcap2_speeds_GTs", [])]
            top = max(speeds) if speeds else CODES.get(pcie["max_speed_code"])
            self.current = (CODES.get(pcie["cur_speed_code"]), lanes(pcie["cur_width"]))
            self.max = (top, lanes(pcie["max_width"]))
            self.supported = speeds or None
            target = pcie.get("lnkctl2_target_speed_code")
            if pcie["type_name"] in ("Root Port", "Downstream Port") and pcie["version"] >= 2:
                self.target = CODES.get(target)
        word = device.get("express_type") or (device.get("pcie") or {}).get("type_name") or ""
        self.kind = KINDS.get(word.split(" (")[0])
        self.pair = None
        pair = device.get("pair_capability")
        if pair:
            self.pair = (rate(pair["GTs"]), lanes(pair["width"]))
        link = device.get("link")
        if isinstance(link, dict) and "pair_max_width" in link:
            speed = link.get("pair_max_speed_GTs", link.get("pair_max_GTs"))
            self.pair = (rate(speed), lanes(link["pair_max_width"]))
        self.parent = device.get("parent")


def oracle_devices(path):
    with open(path, encoding="utf-8") as file:
        devices = json.load(file)["devices"]
    if isinstance(devices, dict):
        devices = [dict(device, address=address) for address, device in devices.items()]
    return {device["address"]: Expected(device) for device in devices}


def minimum(a, b):
    return tuple(None if None in pair else min(pair) for pair in zip(a, b))


def has_evidence(tree, address):
    folder = os.path.join(tree, "sys/bus/pci/devices", address)
    if not os.path.exists(folder):                    # only another function's path leads there
        found = [path for path, folders, _ in os.walk(os.path.join(tree, "sys/devices"))
                 if os.path.basename(path) == address]
        folder = found[0] if found else folder
    return any(os.path.exists(os.path.join(folder, name))
               for name in ("config", "current_link_speed", "max_link_speed"))


def compare(name, inventory, expected, tree):
    listed = os.listdir(os.path.join(tree, "sys/bus/pci/devices"))
    found = {function["address"]: function for function in inventory["pci"]}
    counts = {"links": 0, "pairs": 0, "kinds": 0}
    wrong = []

    def same(address, what, ours, theirs):
        if ours != theirs:
            wrong.append(f"{address} {what}: {ours}, not {theirs}")

    for address, device in expected.items():
        function = found.get(address)
        if not function and address not in listed:
            continue                                  # not collected as a device
        if not function:
            wrong.append(f"{address} is missing")
            continue
        if name not in EDITED:
            same(address, "parent", function["parent"], device.parent)
        link = function["link"]
        if not has_evidence(tree, address):
            # Collected without config space and link attributes, which a kernel always shows for
            # PCI Express: nothing then tells of it.
            same(address, "link", link, None)
            continue
        if device.kind:
            counts["kinds"] += 1
            same(address, "kind", function["kind"], device.kind)
        if function["kind"] in ("integrated", "virtual_function"):
            same(address, "link", link, None)
            continue
        if not device.current and not device.max:
            continue
        if not link:
            wrong.append(f"{address} has no link")
            continue
        counts["links"] += 1
        if device.current:
            same(address, "current", (link["current_speed"], link["current_width"]), device.current)
        if device.max:
            same(address, "max", (link["max_speed"], link["max_width"]), device.max)
        if device.supported:
            same(address, "supported", link["supported_speeds"], device.supported)
        if device.target:
            same(address, "target", link["target_speed"], device.target)
        port = found.get(function["parent"])
        if device.pair and port and port["link"]:
            counts["pairs"] += 1
            ends = [(end["link"]["max_speed"], end["link"]["max_width"])
                    for end in (function, port)]
            same(address, "pair", minimum(*ends), device.pair)
    report(f"{name}: {counts['links']} links, {counts['pairs']} pairs of ends, "
           f"{counts['kinds']} kinds", wrong)


def check(name, corpus, probe, fakehost, tree):
    subprocess.run([sys.executable, MKCORPUS, corpus, name, tree], check=True)
    run = subprocess.run([fakehost, "--quiet", tree, "--", probe], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, check=False)
    errors = run.stderr.decode(errors="replace").strip()
    if run.returncode == 77:
        print(f"skip - corpus: {errors}")
        sys.exit(77)
    if run.returncode != 0 or errors:
        report(f"{name} is read", [f"exit {run.returncode}, {errors}"])
        return
    inventory = json.loads(run.stdout)
    report(f"{name} is read", [f"{source['name']}: {source['reason']}"
                               for source in inventory["sources"] if source["reason"]])
    oracle = os.path.join(corpus, "pcie-oracle", f"{name}.json")
    if os.path.exists(oracle):
        compare(name, inventory, oracle_devices(oracle), tree)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    build, corpus = sys.argv[1:]
    probe = os.path.join(build, "daemon", "probe", "pnhw-probe")
    fakehost = os.path.join(build, "tests", "bed", "fakehost")
    if not os.path.isdir(os.path.join(corpus, "sysfs")):
        print(f"skip - corpus: there is no {corpus}/sysfs here")
        sys.exit(77)
    names = sorted(name[:-7] for name in os.listdir(os.path.join(corpus, "sysfs"))
                   if name.endswith(".tar.gz"))
    for name in names:
        with tempfile.TemporaryDirectory(prefix="pnhw-corpus-") as folder:
            check(name, corpus, probe, fakehost, os.path.join(folder, "tree"))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
