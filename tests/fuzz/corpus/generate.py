#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the seed inputs of the decoders' fuzz targets: pciconf/, smbios/, text/ beside this file."""
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent


def config(kind, version, slot=False, header=0, at=0x60, size=256, chain=()):
    """An image with a PCI Express capability at `at`, behind the (offset, id) of `chain`."""
    image = bytearray(size)
    struct.pack_into("<HHHHI", image, 0, 0x1234, 0xabcd, 0, 0x10, 0x01080201)
    image[0x0e] = header
    image[0x18:0x1b] = b"\x00\x01\x02"
    stops = [offset for offset, _ in chain] + [at]
    image[0x34] = stops[0]
    for (offset, ident), following in zip(chain, stops[1:]):
        image[offset:offset + 2] = bytes((ident, following))
    capability = struct.pack("<BBHIIIHHIHHIIIIIIII", 0x10, 0, version | kind << 4 | slot << 8, 0, 0,
                             0x07104084, 0, 0x2083, 3 << 19 | 0x40, 0, 0x40, 0, 0, 0, 0, 0x1e, 4, 0,
                             0)
    room = size - at
    image[at:at + len(capability)] = capability[:room]
    return bytes(image[:size])


def structure(kind, body, *strings):
    texts = b"".join(s + b"\0" for s in strings) or b"\0"
    return struct.pack("<BBH", kind, 4 + len(body), 0x1000) + body + texts + b"\0"


def slot(code, width=0x0b, usage=3, address=(0, 0xc1, 0), tail=b""):
    return structure(9, struct.pack("<BBBBBHBBHBB", 1, code, width, usage, 4, 1, 4, 1, *address)
                     + tail, b"PCIe Slot 1")


def dimm(size, kind=0x1a, speed=3200, tail=b"", names=(b"DIMM A1", b"Maker", b"PART-1")):
    return structure(17, struct.pack("<HHHHHBBBBBHHBBBBB", 0x1000, 0xfffe, 72, 64, size, 9, 0, 1, 0,
                                     kind, 0x80, speed, 2, 0, 0, 3, 1) + tail, *names)


LOOP = b"\x09\x40" + bytes(126)  # from 0x80 back to 0x40
END = structure(127, b"")
SEEDS = {
    "pciconf": {
        "endpoint": config(0, 2),
        "endpoint-version-1": config(0, 1),
        "endpoint-4096": config(0, 2, size=4096),
        "root-port-slot": config(4, 2, slot=True, header=1),
        "downstream-port": config(6, 2, header=0x81, chain=((0x40, 1), (0x50, 5))),
        "integrated": config(9, 2),
        "cut-64": config(0, 2)[:64],
        "cut-capability": config(4, 2, slot=True, header=1)[:0x72],
        "at-the-end": config(0, 2, at=0xf0, chain=((0x40, 9), (0xfc, 9))),
        "loop": config(0, 2, at=0x80, chain=((0x40, 9),))[:0x80] + LOOP,
        "asleep": b"\xff" * 64,
    },
    "smbios": {
        "slots": slot(0xbd) + slot(0x17, 0x0a, 4) + slot(0x24, 2, 5, (0, 0xff, 0)) + END,
        "slot-bifurcated": slot(0xb1, 2, 4, tail=b"\x04\x03" + b"\0\0\xc1\x08\x04" * 3) + END,
        "dimms": dimm(16384) + dimm(0, 2, 0, names=(b"A2", b"NO DIMM", b"NO DIMM")) + END,
        "dimm-extended": dimm(0x7fff, 0x22, 0xffff, struct.pack("<IHHHH", 131072, 0xffff, 0, 0, 0)
                              + bytes(0x2c) + struct.pack("<II", 70000, 70000)) + END,
        "strangers": structure(0, bytes(20), b"BIOS") + slot(0xaa) + structure(4, bytes(36)) + END,
        "no-strings": structure(9, bytes(13)) + structure(17, bytes(24)) + END,
    },
    "text": {
        "serial": b"EXAMPLE0001         ",
        "empty": bytes(40),
        "newline": b"EXAMPLE-3\n\0\0garbage",
        "bytes": b"a\xc2\xa0\xffb\x01",
        "utf8": " Lüfter 温度 \U0001f321 ".encode(),
        "broken-utf8": b"\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80\xc2\x85\xe6\xb8",
    },
}

for folder, seeds in SEEDS.items():
    (HERE / folder).mkdir(exist_ok=True)
    for name, content in seeds.items():
        (HERE / folder / name).write_bytes(content)
