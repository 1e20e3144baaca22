# SPDX-License-Identifier: LGPL-2.1-or-later
"""PCI configuration space as bytes: the header, power management, PCI Express (version 2), and the
extended capabilities AER and SR-IOV (PCI Express Base Specification 4.0, chapter 7). Knows
registers, not files."""

import struct

PORT_TYPES = {"endpoint": 0, "virtual_function": 0, "root_port": 4, "upstream_port": 5,
              "downstream_port": 6, "bridge": 7, "integrated": 9}

POWER_MANAGEMENT = 0x40
EXPRESS = 0x70
SUBSYSTEM_IDS = 0xC0
AER = 0x100
SRIOV = 0x160


class Registers:
    """Little-endian registers at offsets."""

    def __init__(self, size):
        self.bytes = bytearray(size)

    def u8(self, offset, value):
        self.bytes[offset] = value

    def u16(self, offset, value):
        struct.pack_into("<H", self.bytes, offset, value)

    def u32(self, offset, value):
        struct.pack_into("<I", self.bytes, offset, value)


def header(registers, function):
    bridge = function.is_port
    physical = function.physical is None
    # A virtual function's own identifiers read as all ones.
    registers.u16(0x00, function.vendor if physical else 0xFFFF)
    registers.u16(0x02, function.device if physical else 0xFFFF)
    # Bus master and memory space; a device that a virtual machine has left has neither.
    registers.u16(0x04, 0x0000 if function.driver == "vfio-pci" else 0x0406)
    registers.u16(0x06, 0x0010)
    registers.u8(0x08, function.revision)
    registers.u8(0x09, function.cls & 0xFF)
    registers.u8(0x0A, function.cls >> 8 & 0xFF)
    registers.u8(0x0B, function.cls >> 16)
    registers.u8(0x0C, 0x10)
    shared = function.machine.shares_device(function)
    registers.u8(0x0E, (0x01 if bridge else 0) | (0x80 if shared else 0))
    registers.u8(0x34, POWER_MANAGEMENT)
    if bridge:
        registers.u8(0x18, function.bus)
        registers.u8(0x19, function.secondary)
        registers.u8(0x1A, function.subordinate())
    else:
        registers.u16(0x2C, function.subsystem_vendor)
        registers.u16(0x2E, function.subsystem_device)
        registers.u8(0x3D, 1)


def express(registers, function):
    at = EXPRESS
    port_type = PORT_TYPES[function.kind]
    has_link = function.kind != "integrated"
    downward = function.has_downward_link
    speed, width = function.link()
    occupied = downward and bool(function.children)

    registers.u8(at, 0x10)
    registers.u8(at + 1, SUBSYSTEM_IDS if function.is_port else 0)
    registers.u16(at + 2, function.version | port_type << 4 | (0x100 if function.slot else 0))
    registers.u32(at + 0x04, 0x8002)           # DEVCAP: 512 bytes, role-based error reporting
    registers.u16(at + 0x08, 0x2830)           # DEVCTL
    if has_link:
        # A link capability of zero is what some devices show: no speed, no width.
        capabilities = function.gen and function.gen | function.width << 4 | 0x2 << 10
        if downward:
            capabilities |= 1 << 20 | 1 << 21  # link active reporting, bandwidth notification
            capabilities |= (function.device_number & 0xFF) << 24
        registers.u32(at + 0x0C, capabilities)
        registers.u16(at + 0x10, 0x0040)       # LNKCTL: common clock
        status = speed | width << 4 | 1 << 12
        if occupied:
            status |= 1 << 13                  # data link layer active
        registers.u16(at + 0x12, 0 if function.physical else status)
    if function.slot:
        number = function.slot_number if function.slot_number is not None else (
            function.slot if function.slot is not True and isinstance(function.slot, int) else 0)
        hotplug = 0x60 if function.hotplug else 0
        registers.u32(at + 0x14, number << 19 | hotplug)
        registers.u16(at + 0x1A, 0x40 if occupied else 0)   # SLTSTA: presence detect
    if function.version >= 2 and has_link:
        registers.u32(at + 0x2C, (1 << function.gen + 1) - 2)   # LNKCAP2: every speed up to gen
        target = function.target if function.target is not None else function.gen
        registers.u16(at + 0x30, target)                        # LNKCTL2


def extended(registers, function):
    total = function.total_vfs
    next_at = SRIOV if total else 0
    registers.u32(AER, 0x0001 | 2 << 16 | next_at << 20)
    if total:
        registers.u32(SRIOV, 0x0010 | 1 << 16)
        registers.u16(SRIOV + 0x08, 0x0009 if function.vfs else 0)   # VF enable, memory space
        registers.u16(SRIOV + 0x0C, total)
        registers.u16(SRIOV + 0x0E, total)
        registers.u16(SRIOV + 0x10, len(function.vfs))
        registers.u16(SRIOV + 0x14, 0x10)
        registers.u16(SRIOV + 0x16, 1)
        if function.vfs:
            registers.u16(SRIOV + 0x1A, function.vfs[0].device)


def config_space(function, size):
    """`size` bytes: 4096, or 64 as a reader without CAP_SYS_ADMIN gets them."""
    if function.unreachable():
        return b"\xff" * size
    registers = Registers(4096 if function.express else 256)
    header(registers, function)
    registers.u8(POWER_MANAGEMENT, 0x01)
    registers.u16(POWER_MANAGEMENT + 2, 0x0003)
    registers.u16(POWER_MANAGEMENT + 4, 0x0003 if function.power_state == "D3hot" else 0)
    if function.express:
        registers.u8(POWER_MANAGEMENT + 1, EXPRESS)
        express(registers, function)
        extended(registers, function)
    if function.is_port:
        registers.u8(SUBSYSTEM_IDS, 0x0D)
        registers.u16(SUBSYSTEM_IDS + 4, function.subsystem_vendor)
        registers.u16(SUBSYSTEM_IDS + 6, function.subsystem_device)
    return bytes(registers.bytes[:size])
