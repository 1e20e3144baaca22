# SPDX-License-Identifier: LGPL-2.1-or-later
"""An SMBIOS 3.2 table (DMTF DSP0134) with the structures that describe a host: types 0, 1, 2, 3, 4,
9, 16, 17 and 127. Knows bytes, not files."""

import struct

MEMORY_TYPES = {"DDR3": 0x18, "DDR4": 0x1A, "LPDDR4": 0x1E, "DDR5": 0x22}
SLOT_WIDTHS = {1: 0x08, 2: 0x09, 4: 0x0A, 8: 0x0B, 12: 0x0C, 16: 0x0D, 32: 0x0E}
# The first type of each PCIe generation; x1, x2, x4, x8, x16 follow it.
SLOT_TYPES = {"PCIe": 0xA5, "PCIe2": 0xAB, "PCIe3": 0xB1, "PCIe4": 0xB8, "PCIe5": 0xBE}
SLOT_STEPS = {1: 1, 2: 2, 4: 3, 8: 4, 16: 5}


class Table:
    def __init__(self):
        self.bytes = bytearray()
        self.count = 0
        self.largest = 0

    def add(self, kind, body, strings=()):
        """`body` is what follows the handle; strings are numbered from 1 in it."""
        handle = self.count
        structure = struct.pack("<BBH", kind, 4 + len(body), handle) + body
        for string in strings:
            structure += string.encode() + b"\0"
        structure += b"\0" if strings else b"\0\0"
        self.bytes += structure
        self.count += 1
        self.largest = max(self.largest, len(structure))
        return handle

    def entry_point(self):
        """The 64-bit one."""
        point = bytearray(struct.pack("<5sBBBBBBBIQ", b"_SM3_", 0, 24, 3, 2, 0, 1, 0,
                                      len(self.bytes), 0x0000000000E0000))
        point[5] = -sum(point) & 0xFF
        return bytes(point)


def slot_type(kind, width):
    if kind == "M.2":
        return 0x17
    return SLOT_TYPES[kind] + SLOT_STEPS.get(width, 0)


def add_slot(table, slot):
    if slot["address"]:
        domain, bus, rest = slot["address"].split(":")
        device, function = rest.split(".")
        place = (int(domain, 16), int(bus, 16), int(device, 16) << 3 | int(function, 16))
    else:
        place = (0, 0xFF, 0x00)
    table.add(9, struct.pack("<BBBBBHBBHBB", 1, slot_type(slot["kind"], slot["width"]),
                             SLOT_WIDTHS[slot["width"]], 4 if slot["in_use"] else 3,
                             4 if slot["width"] > 4 else 3, slot["id"], 0x0C, 0x01, *place),
              [slot["designation"]])


def add_dimm(table, array, dimm):
    empty = dimm["size"] == 0
    width = 0 if empty else 72 if dimm["ecc"] else 64
    megabytes = dimm["size"] >> 20
    size, extended = (megabytes, 0) if megabytes < 0x7FFF else (0x7FFF, megabytes)
    strings = [dimm["locator"], dimm["bank"]]
    if empty:
        strings += ["Unknown"] * 3
    else:
        strings += [dimm["manufacturer"], dimm["serial"], dimm["part"]]
    body = struct.pack("<HHHHHBBBBBHHBBBBBIHHHH", array, 0xFFFE, width, min(width, 64), size, 0x09,
                       0, 1, 2, 0x02 if empty else MEMORY_TYPES[dimm["kind"]],
                       0x0004 if empty else 0x4080, 0 if empty else dimm["speed"], 3, 4, 0, 5,
                       0 if empty else 1, extended, 0 if empty else dimm["configured"],
                       1200, 1200, 1200)
    table.add(17, body, strings)


def add_cpu(table, cpu, socket):
    cores, threads = cpu["cores"], cpu["threads"]
    body = struct.pack("<BBBBQBBHHHBBHHHBBBBBBHHHHH", 1, 0x03, 0x6B, 2, 0x178BFBFF00870F10, 3, 0x8A,
                       100, cpu["mhz"] + 1200, cpu["mhz"], 0x41, 0x31, 0xFFFF, 0xFFFF, 0xFFFF, 4, 4,
                       4, min(cores, 255), min(cores, 255), min(threads, 255), 0x00FC, 0x006B,
                       cores, cores, threads)
    table.add(4, body, [f"{cpu['socket']}" + (f" {socket}" if cpu["sockets"] > 1 else ""),
                        "Advanced Micro Devices, Inc." if "AMD" in cpu["vendor"] else
                        "Intel(R) Corporation", cpu["model"], "Unknown"])


def build(machine):
    """Returns (table, entry point)."""
    table = Table()
    board = machine.board_facts
    uuid = bytes.fromhex(machine.uuid(machine.hostname).replace("-", ""))
    table.add(0, struct.pack("<BBHBBQHBBBB", 1, 2, 0xF000, 3, 0xFF, 0x08019880, 0x0D03, 5, 17, 255,
                             255),
              [board["bios_vendor"], board["bios_version"], board["bios_date"]])
    table.add(1, struct.pack("<BBBB16sBBB", 1, 2, 3, 4, uuid, 6, 5, 5),
              [board["system_vendor"], board["system_product"], "System Version",
               "System Serial Number", "To be filled by O.E.M."])
    table.add(2, struct.pack("<BBBBBBBHBB", 1, 2, 3, 4, 5, 9, 5, 3, 10, 0),
              [board["vendor"], board["product"], board["version"], board["serial"],
               "Default string"])
    table.add(3, struct.pack("<BBBBBBBBBIBBBB", 1, 3, 2, 3, 4, 3, 3, 3, 2, 0, 0, 1, 0, 0),
              ["Default string"] * 4)
    for socket in range(machine.cpu_facts["sockets"]):
        add_cpu(table, machine.cpu_facts, socket)
    for slot in machine.slots:
        add_slot(table, slot)
    if machine.dimms:
        array = table.add(16, struct.pack("<BBBIHHQ", 3, 3, 3, 0x80000000, 0xFFFE,
                                          len(machine.dimms), 128 << 30))
        for dimm in machine.dimms:
            add_dimm(table, array, dimm)
    table.add(127, b"")
    return bytes(table.bytes), table.entry_point()
