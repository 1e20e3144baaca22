#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the decoders with what other programs said of real machines' data.

usage: test_decoders.py BUILD_TOOL CORPUS_DIR

BUILD_TOOL is the built decode.c of this folder. The corpus is not part of this repository; without
it the test is skipped (exit status 77). One line for each machine, totals at the end.
"""
import csv
import errno
import json
import pathlib
import re
import struct
import subprocess
import sys
import tarfile
import tempfile

WIDTHS = (1, 2, 4, 8, 12, 16, 32)
GENERATIONS = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}
HAS_LINK = (0, 1, 4, 5, 6, 7, 8)
HAS_SLOT = (4, 6, 8)
ADDRESS = re.compile(r"^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$")
# Words of firmware for "nothing", as the corpus has them; the decoder may drop these and no others.
PLACEHOLDERS = {"", "Not Specified", "Unknown", "UNKNOWN", "None", "NO DIMM", "N/A", "Undefined",
                "To Be Filled By O.E.M.", "[Empty]", "Empty", "NOT AVAILABLE", "<OUT OF SPEC>",
                "0000", "Fill By OEM"}


class Report:
    def __init__(self):
        self.machines = 0
        self.failed = 0

    def machine(self, name, checks, problems):
        self.machines += 1
        self.failed += bool(problems)
        print("%sok %d - %s: %s" % ("not " if problems else "", self.machines, name, checks))
        for problem in problems:
            print("#   " + problem)


def run(tool, kind, arguments):
    """One line of output for each argument; started a few times for very many arguments."""
    lines = []
    for i in range(0, len(arguments), 500):
        batch = [str(a) for a in arguments[i:i + 500]]
        done = subprocess.run([tool, kind, *batch], check=True, stdout=subprocess.PIPE, text=True)
        lines += done.stdout.splitlines()
    assert len(lines) == len(arguments), "decode %s: lines missing" % kind
    return lines


def differ(problems, where, what, ours, theirs):
    if ours != theirs:
        problems.append("%s: %s is %r, expected %r" % (where, what, ours, theirs))


# --- configuration space and link attributes ------------------------------------------------------

def expected_pcie(device):
    """What an oracle's raw register fields mean, by the rules of lib/pciconf.h."""
    pcie = device.get("pcie") if isinstance(device.get("pcie"), dict) else None
    expected = {"has_pcie": pcie is not None, "class24": int(device["class"], 16),
                "vendor_id": int(device["vendor"], 16), "device_id": int(device["device"], 16),
                "header_type": device["hdr_type"], "multifunction": device["multifunction"]}
    if device["hdr_type"] == 1:
        expected.update(primary_bus=device["primary"], secondary_bus=device["secondary"],
                        subordinate_bus=device["subordinate"])
    if pcie is None:
        return expected

    kind = pcie["type"]
    link = kind in HAS_LINK
    slot = kind in HAS_SLOT and pcie["slot_implemented"]
    speeds = [GENERATIONS[float(s)] for s in pcie.get("lnkcap2_speeds_GTs") or []]
    if not speeds:
        speeds = range(1, pcie.get("max_speed_code", 0) + 1)

    def width(key):
        return pcie.get(key, 0) if link and pcie.get(key) in WIDTHS else 0

    expected.update(
        pcie_version=pcie["version"], port_type=kind, has_link=link,
        slot_implemented=slot,
        physical_slot=pcie.get("physical_slot", 0) if slot else 0,
        hotplug_capable=slot and pcie.get("hotplug_capable", False),
        presence_detect=slot and pcie.get("presence_detect", False),
        supported=sum(1 << (s - 1) for s in speeds) if link else 0,
        max_gen=max(speeds, default=0) if link else 0,
        lnkcap_gen=pcie["max_speed_code"] if link else 0,
        current_gen=pcie["cur_speed_code"] if link else 0,
        max_width=width("max_width"), current_width=width("cur_width"),
        port_number=pcie["port"] if link else 0,
        dll_active_reporting=link and pcie["dll_active_capable"],
        dll_active=link and pcie["dll_active_capable"] and pcie["dll_active"],
        target_gen=pcie.get("lnkctl2_target_speed_code", 0) if link and pcie["version"] >= 2 else 0)
    return expected


def expected_attribute(name, text):
    """Independently of the decoder: the number that the text starts with, if it is a link's."""
    match = re.match(r"[0-9.]+", text)
    number = float(match.group()) if match else 0
    if name.endswith("speed"):
        return GENERATIONS.get(number, 0)
    return int(number) if number in WIDTHS else 0


def test_sysfs(report, tool, archive, oracle_path, scratch):
    problems, configs, attributes = [], {}, []
    with tarfile.open(archive) as tar:
        for member in tar:
            path = pathlib.PurePosixPath(member.name)
            if not member.isfile() or not ADDRESS.match(path.parent.name):
                continue
            if path.name == "config":
                # Machines put together from several have an address twice; the file names differ.
                where = scratch / ("%s-%d" % (archive.name, len(configs)))
                where.write_bytes(tar.extractfile(member).read())
                configs[str(path)] = where
            elif re.fullmatch(r"(current|max)_link_(speed|width)", path.name):
                text = tar.extractfile(member).read().decode("ascii")
                attributes.append((str(path), path.name, text))

    for kind in ("speed", "width"):
        some = [a for a in attributes if a[1].endswith(kind)]
        for (where, name, text), line in zip(some, run(tool, kind, [a[2] for a in some])):
            differ(problems, where, name, int(line), expected_attribute(name, text))

    oracle = {}
    if oracle_path.exists():
        devices = json.loads(oracle_path.read_text())["devices"]
        if isinstance(devices, list):
            oracle = {d["address"]: d for d in devices if "config_len" in d}

    compared = links = 0
    for path, line in zip(configs, run(tool, "pciconf", list(configs.values()))):
        ours = json.loads(line)
        address = pathlib.PurePosixPath(path).parent.name
        image = configs[path].read_bytes()
        asleep = image[:64] == b"\xff" * 64
        differ(problems, path, "result", ours["r"], -errno.ENODEV if asleep else 0)
        if asleep:
            oracle.pop(address, None)
            continue
        if len(image) == 64:
            # What an unprivileged reader gets: there may be capabilities, out of sight.
            differ(problems, path, "truncated", ours["capabilities_truncated"],
                   bool(image[6] & 0x10))
        if address not in oracle:
            continue
        compared += 1
        expected = expected_pcie(oracle.pop(address))
        links += ours["has_link"]
        for key, value in expected.items():
            differ(problems, address, key, ours[key], value)
    for address in oracle:
        problems.append("%s: the oracle has it, the archive has no config" % address)

    report.machine(archive.name.removesuffix(".tar.gz"),
                   "%d configs decoded, %d compared, %d links, %d link attributes"
                   % (len(configs), compared, links, len(attributes)), problems)


def test_bandwidth(report, tool, path):
    """What kernels printed: "GBPS available PCIe bandwidth (GTS xWIDTH link)"."""
    problems, cases = [], []
    with path.open(newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            for total, speed, width in (("capable_Gbps", "capable_GTs", "capable_width"),
                                        ("available_Gbps", "limit_GTs", "limit_width"),
                                        ("available_Gbps", "unlimited_GTs", "unlimited_width")):
                if row[total] and row[speed] and row[width]:
                    cases.append((float(row[total]), float(row[speed]), int(row[width]),
                                  row["line"]))
    arguments = ["%d,%d" % (GENERATIONS[speed], width) for _, speed, width, _ in cases]
    for (total, _, width, line), ours in zip(cases, run(tool, "bandwidth", arguments)):
        differ(problems, line, "Mb/s", int(ours), round(total * 1000) if width in WIDTHS else 0)
    report.machine(path.name, "%d bandwidths" % len(cases), problems)


# --- SMBIOS ---------------------------------------------------------------------------------------

def smbios_table(image):
    """The structure table in an image that starts with an entry point, or is the table alone."""
    if image.startswith(b"_SM3_"):
        size, offset = struct.unpack_from("<IQ", image, 0x0c)
        return image[offset:offset + size]
    if image.startswith(b"_SM_"):
        size, offset = struct.unpack_from("<HI", image, 0x16)
        return image[offset:offset + size]
    return image


def dmidecode_blocks(text, kind):
    for block in re.split(r"^Handle ", text, flags=re.M)[1:]:
        if ", DMI type %d, " % kind in block.splitlines()[0]:
            yield dict(re.findall(r"^\t(\S[^:\n]*): ?(.*)$", block, flags=re.M))


def expected_slot(block):
    width, name = re.match(r"(?:x(\d+) |\d+-bit )?(.*)", block["Type"]).groups()
    name = re.sub(r"^PCI Express (\d)(?= |$)", r"PCIe \1.0", name)
    name = name.replace("PCI Express", "PCIe").replace("Socket", "socket")
    named = re.search(r" x(\d+)$", name)
    address = block.get("Bus Address")
    if address and (":ff:" in address or address == "0000:00:00.0"):
        address = None
    usage = {"Available": "free", "In Use": "in_use", "Unavailable": "unavailable"}
    if name in ("Other", "Unknown", "<OUT OF SPEC>"):
        name = None
    return {"designation": block["Designation"].strip(), "type": name, "address": address,
            "lanes": int(width or (named and named.group(1)) or 0),
            "usage": usage.get(block["Current Usage"], "unknown")}


def expected_size(text):
    if text == "No Module Installed":
        return True, 0
    if text == "Unknown":
        return False, 0
    number, unit = text.split()
    power = {"bytes": 0, "kB": 1, "MB": 2, "GB": 3, "TB": 4}[unit]
    return True, int(number) << (10 * power)


def compare_dimm(problems, where, ours, block):
    differ(problems, where, "locator", ours["locator"], block["Locator"].strip())
    differ(problems, where, "size", (ours["size_known"], ours["size_bytes"]),
           expected_size(block["Size"]))
    if "Type" in block:
        kind = None if block["Type"] in ("Unknown", "Other", "<OUT OF SPEC>") else block["Type"]
        differ(problems, where, "type", ours["type"], kind)
    # dmidecode prints none of these for an empty socket.
    for key, names in (("speed", ("Speed",)),
                       ("configured", ("Configured Memory Speed", "Configured Clock Speed"))):
        for name in names:
            if name in block:
                value = block[name].split()[0]
                differ(problems, where, key, ours[key], int(value) if value.isdigit() else 0)
    for key, name in (("manufacturer", "Manufacturer"), ("part_number", "Part Number")):
        if name in block:
            text = block[name].strip()
            differ(problems, where, key, ours[key], None if text in PLACEHOLDERS else text)


def test_smbios(report, tool, path, scratch):
    problems = []
    image = scratch / path.name
    image.write_bytes(smbios_table(path.read_bytes()))
    ours = json.loads(run(tool, "smbios", [image])[0])
    text = (path.parent / (path.name + ".dmidecode.txt")).read_text(errors="replace")

    slots = [expected_slot(b) for b in dmidecode_blocks(text, 9)]
    differ(problems, path.name, "number of slots", len(ours["slots"]), len(slots))
    for slot, expected in zip(ours["slots"], slots):
        for key, value in expected.items():
            differ(problems, "slot %s" % expected["designation"], key, slot[key], value)

    dimms = list(dmidecode_blocks(text, 17))
    differ(problems, path.name, "number of memory devices", len(ours["dimms"]), len(dimms))
    for dimm, block in zip(ours["dimms"], dimms):
        compare_dimm(problems, "memory %s" % block["Locator"], dimm, block)

    differ(problems, path.name, "truncated", ours["truncated"], "truncated" in text)
    report.machine(path.name, "%d slots, %d memory devices" % (len(slots), len(dimms)), problems)


def main():
    if len(sys.argv) != 3:
        print(__doc__.strip().splitlines()[2], file=sys.stderr)
        return 2
    tool, corpus = sys.argv[1], pathlib.Path(sys.argv[2])
    if not corpus.is_dir():
        print("1..0 # SKIP there is no corpus at %s" % corpus)
        return 77

    report = Report()
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        for archive in sorted((corpus / "sysfs").glob("*.tar.gz")):
            oracle = corpus / "pcie-oracle" / archive.name.replace(".tar.gz", ".json")
            test_sysfs(report, tool, archive, oracle, scratch)
        test_bandwidth(report, tool, corpus / "pcie-oracle" / "kernel-bandwidth-lines.tsv")
        for text in sorted((corpus / "dmi" / "raw").glob("*.dmidecode.txt")):
            image = text.parent / text.name.removesuffix(".dmidecode.txt")
            test_smbios(report, tool, image, scratch)

    print("1..%d" % report.machines)
    print("# %d machines, %d passed, %d failed"
          % (report.machines, report.machines - report.failed, report.failed))
    return 1 if report.failed or report.machines == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
