#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the seed inputs of the decoders' fuzz targets: module/, netlink/, pciconf/, smart/,
smbios/, text/, uevent/."""
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


def put(image, at, *values):
    """Bytes, texts padded with blanks to (length, text), and numbers as big-endian words."""
    for value in values:
        if isinstance(value, tuple):
            value = value[1].ljust(value[0])
        elif isinstance(value, int):
            value = struct.pack(">H", value & 0xffff)
        image[at:at + len(value)] = value
        at += len(value)


def check(image, start, end):
    image[end] = sum(image[start:end]) & 0xff


def sfp(head, rate, lengths, compliance=0, nm=850, part=b"PART-1", monitoring=0, calibration=None,
        readings=(0x1a80, 33000, 3000, 5806, 1)):
    """A0h and, if it monitors, A2h. `head` is byte 2 and the compliance codes behind it."""
    image = bytearray(512 if monitoring else 256)
    put(image, 0, b"\x03\x04" + head)
    put(image, 11, bytes((6, rate, 0)) + lengths, (16, b"EXAMPLE"), bytes((compliance, 0, 1, 2)),
        (16, part), (4, b"A"), nm)
    put(image, 64, b"\x00\x1a\x70\x01", (16, b"EXAMPLE0001"), (8, b"240131"),
        bytes((monitoring, 0xf0, 8)))
    check(image, 0, 63)
    check(image, 64, 95)
    if monitoring:
        put(image, 256, 0x4b00, 0xfb00, 0x4600, 0, 36000, 30000, 35000, 31000,
            7500, 500, 6500, 1000, 15849, 1259, 12589, 1585, 19953, 100, 15849, 158)
        put(image, 256 + 56, calibration or struct.pack(">5f8H", 0, 0, 0, 1, 0,
                                                        *(256, 0) * 4))
        put(image, 256 + 96, *readings)
        put(image, 256 + 110, b"\x02\x00\x00\x40\x00\x00\x00\x40")
        check(image, 256, 256 + 95)
    return bytes(image)


def qsfp(head, rest, technology, compliance, size=640, monitors=None):
    image = bytearray(size)
    put(image, 0, b"\x11\x08\x00\x0c")
    put(image, 9, b"\x00\x55")
    put(image, 22, monitors or struct.pack(">H2xH6x12H", 0x2300, 33000, 5000, 5100, 0, 0,
                                           *(3000,) * 4, *(6000,) * 4))
    put(image, 128, b"\x11\xcc" + head)
    put(image, 140, rest, bytes((technology,)), (16, b"EXAMPLE"), b"\0\0\1\2", (16, b"PART-2"),
        b"A1", 17000, 300)
    put(image, 192, bytes((compliance,)), b"\0\0\x08", (16, b"EXAMPLE0002"), (8, b"240131"),
        b"\x3c\0\x67")
    check(image, 128, 191)
    check(image, 192, 223)
    if size > 512:
        put(image, 512, 0x4b00, 0xfb00, 0x4600, 0)
        put(image, 512 + 16, 36000, 30000, 35000, 31000)
        put(image, 512 + 48, 21878, 450, 17378, 900, 8000, 1000, 7000, 2000, 21878, 724, 17378,
            1445)
    return bytes(image)


def cmis(media, technology, flat=False):
    """Lower memory, pages 00h to 03h, and 11h behind them."""
    image = bytearray(256 if flat else 768)
    put(image, 0, bytes((0x18, 0x40, flat << 7, 6)))
    put(image, 9, b"\x01")
    put(image, 14, 0x2300, 33000)
    put(image, 85, bytes(media) + b"\xff")
    put(image, 128, b"\x18", (16, b"EXAMPLE"), b"\0\1\2", (16, b"PART-3"), b"01",
        (16, b"EXAMPLE0003"), (8, b"240131"))
    put(image, 202, b"\x05\x0c")
    put(image, 210, b"\xf0\0" + bytes((technology,)))
    check(image, 128, 222)
    if not flat:
        put(image, 256 + 4, b"\x05\0\0\0\0\0", 26200)
        put(image, 256 + 31, b"\x03\x0f")
        check(image, 256 + 2, 256 + 127)
        put(image, 384, 0x4b00, 0xfb00, 0x4600, 0, 36000, 30000, 35000, 31000)
        put(image, 384 + 48, 21878, 450, 17378, 900, 8000, 1000, 7000, 2000, 21878, 724, 17378,
            1445)
        check(image, 384, 384 + 127)
        put(image, 640 + 19, b"\x0c\0\0\x0c\0\x0c")
        put(image, 640 + 26, *(19000,) * 4)
        put(image, 640 + 42, *(20000,) * 4)
        put(image, 640 + 58, 18000, 17000, 1, 0)
    return bytes(image)


LOOP = b"\x09\x40" + bytes(126)  # from 0x80 back to 0x40
END = structure(127, b"")
def smart(warning=0, kelvin=314, shares=(100, 10, 3), counters=(), sensors=(), tail=b""):
    """A SMART log, with what follows it up to an Identify structure."""
    log = bytearray(512)
    struct.pack_into("<BH3B", log, 0, warning, kelvin, *shares)
    for i, counter in enumerate(counters):
        log[32 + 16 * i:48 + 16 * i] = counter.to_bytes(16, "little")
    struct.pack_into("<II", log, 192, 72, 1)
    struct.pack_into(f"<{len(sensors)}H", log, 200, *sensors)
    return bytes(log) + tail


def identify(size, used, block=9, warning=353, critical=358, elpe=63):
    """Identify Controller and Identify Namespace in one: they use different bytes."""
    data = bytearray(4096)
    struct.pack_into("<QQQ", data, 0, size, size, used)
    data[130] = block
    data[262] = elpe
    struct.pack_into("<HH", data, 266, warning, critical)
    return bytes(data)


def errors(*statuses):
    return b"".join(struct.pack("<QHHH", 900 - i, 0, i, status) + bytes(50)
                    for i, status in enumerate(statuses))


def padded(content):
    return content + bytes(-len(content) % 4)


def attr(kind, content):
    """A netlink attribute: a number is (size, value), a list a nest."""
    if isinstance(content, list):
        kind, content = kind | 0x8000, b"".join(content)
    elif isinstance(content, tuple):
        content = content[1].to_bytes(content[0], "little")
    return padded(struct.pack("<HH", 4 + len(content), kind) + content)


def message(kind, content, flags=0):
    return padded(struct.pack("<IHHII", 16 + len(content), kind, flags, 1, 0x1234) + content)


def interface(index, name, *attributes, flags=2):
    head = struct.pack("<BxHiII", 0, 1, index, 0x1043, 0)
    return message(16, head + attr(3, name + b"\0") + b"".join(attributes), flags)


def ethtool(command, *attributes, header=1):
    about = attr(header, [attr(1, (4, 2)), attr(2, b"ens1f0\0")])
    return message(21, struct.pack("<BBxx", command, 1) + about + b"".join(attributes)) + ACK


def bond_member(number):
    lacp = [attr(1, (1, 0)), attr(2, (1, 0)), attr(6, (2, 1 + number // 8)), attr(7, (1, 61)),
            attr(8, (2, 61))]
    return interface(10 + number, b"ens%d" % number, attr(10, (4, 5)),
                     attr(18, [attr(4, b"bond\0"), attr(5, lacp)]))


DONE = message(3, bytes(4), 2)
ACK = message(2, bytes(4) + struct.pack("<IHHII", 32, 21, 5, 1, 0), 0x100)
ERROR = message(2, struct.pack("<iIHHII", -22, 32, 21, 5, 1, 0)
                + attr(1, b"reading cross half page boundary is illegal\0"), 0x300)
BOND = interface(5, b"bond0", attr(1, bytes(6)), attr(4, (4, 9000)), attr(16, (1, 6)),
                 attr(33, (1, 1)), attr(35, (4, 2)),
                 attr(18, [attr(1, b"bond\0"),
                           attr(2, [attr(1, (1, 4)), attr(2, (4, 10)),
                                    attr(23, [attr(1, (2, 1)), attr(2, (2, 8))])])]))
WORDS = struct.pack("<4I", 0x1400, 0x80c0800, 0, 0)
COMPACT = [attr(2, (4, 121)), attr(4, WORDS), attr(5, WORDS)]
VERBOSE = [attr(2, (4, 121)),
           attr(3, [attr(1, [attr(1, (4, 12)), attr(2, b"10000baseT/Full\0"), attr(3, b"")]),
                    attr(1, [attr(1, (4, 102)), attr(2, b"10baseT1S\0")])])]


def uevent(*properties):
    text = b"".join(p + b"\0" for p in properties)
    return b"libudev\0\xfe\xed\xca\xfe" + struct.pack("<IIIIIII", 40, 40, len(text), 0, 0, 0,
                                                        0) + text


def attribute(kind, value):
    return struct.pack("<HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def link(kind, index, flags, *attributes, family=0):
    body = struct.pack("<BBHiII", family, 0, 1, index, flags, 0) + b"".join(attributes)
    return struct.pack("<IHHII", 16 + len(body), kind, 0, 0, 0) + body


SEEDS = {
    "smart": {
        "healthy": smart(counters=range(1000, 1010), sensors=(314, 320)),
        "worn": smart(4, shares=(100, 10, 100), counters=(21 << 20, 34 << 20)),
        "all-bits": smart(0xff, 0, (101, 255, 255), [1 << 64, (1 << 63) - 1, (1 << 128) - 1]),
        "gaps": smart(sensors=(0, 316, 65535, 900, 0, 0, 0, 310)),
        "identify": identify(1000, 10),
        "identify-no-limits": identify(1 << 62, 1 << 61, 12, 0, 65535),
        "errors": errors(0x6004, 0x2002, 0x502, 0x20c),
        "zeros": bytes(512),
        "short": smart()[:511],
    },
    "module": {
        "sfp-lrm": sfp(b"\x07\x40", 0x67, b"\0\0\x16\x16\0\x16", nm=1310, monitoring=0x68),
        "sfp-external": sfp(b"\x01", 0x0d, b"\x14\xc8\0\0\0\0", nm=1310, monitoring=0x58,
                            calibration=struct.pack(">5f8H", 7.5e-9, -7.3e-6, 0.0038, 1.46, -0.7,
                                                    2496, 0, 256, 0, 0xdcb7, 0x9135, 0x30a6,
                                                    0xfe5a)),
        "sfp-25g": sfp(b"\x07", 0xff, b"\0\0\0\0\x0a\x07", compliance=2, monitoring=0x68),
        "sfp-bidi": sfp(b"\x07\x20", 0x67, b"\x0a\x64\0\0\0\0", nm=1330, part=b"SFP-10G-BX10",
                        monitoring=0x68),
        "sfp-t": sfp(b"\x07", 0x19, b"\0\0\x1e\x14\0\0", part=b"SFP-2.5G-T", monitoring=0x68),
        "sfp-dac": sfp(b"\x21\0\0\0\0\0\x04", 0x67, b"\0\0\0\0\x01\0", nm=0x100),
        "sfp-cut": sfp(b"\x07\x10", 0x67, b"\0\0\x08\x03\0\x1e", monitoring=0x68)[:384],
        "qsfp-sr4": qsfp(b"\x0c\x80", b"\xff\0\0\x23\0\0\x32", 0, 2),
        "qsfp-dr": qsfp(b"\x07\x80", b"\xff\0\x02\0\0\0\0", 0x60, 0x25, 256),
        "qsfp-dac-ff": qsfp(b"\x23\x80", b"\xff\0\0\0\0\0\x01", 0xa0, 0x0b, 256, b"\xff" * 36),
        "cmis-dr4": cmis((2, 0x11, 0x1c, 0x84, 1), 6),
        "cmis-aoc": cmis((4, 0x11, 1, 0x88, 1), 0),
        "cmis-dac": cmis((3, 0x11, 1, 0x88, 1), 0x0a, flat=True),
        "stranger": b"\x06" + bytes(range(1, 128)),
        "zeros": bytes(256),
    },
    "netlink": {
        "bond": b"r" + BOND + b"".join(bond_member(i) for i in range(16)) + DONE,
        "virtual": b"r" + interface(3, b"bond0.20", attr(5, (4, 5)),
                                    attr(18, [attr(1, b"vlan\0"), attr(2, [attr(1, (2, 20))])]))
                   + interface(4, b"vmbr0", attr(18, [attr(1, b"bridge\0")]))
                   + interface(6, b"veth0", attr(5, (4, 2)), attr(37, (4, 0))) + DONE,
        "interrupted": b"r" + interface(2, b"ens1", flags=0x12) + DONE,
        "family": b"n" + message(16, b"\1\2\0\0" + attr(2, b"ethtool\0") + attr(1, (2, 21))) + ACK,
        "modes-compact": b"\0" + ethtool(4, attr(2, (1, 1)), attr(3, COMPACT), attr(4, COMPACT),
                                        attr(5, (4, 10000)), attr(6, (1, 1))),
        "modes-verbose": b"\0" + ethtool(4, attr(2, (1, 0)), attr(3, VERBOSE),
                                        attr(4, [attr(1, b""), *VERBOSE])),
        "port": b"\1" + ethtool(2, attr(2, (1, 3))),
        "state": b"\2" + ethtool(6, attr(2, (1, 0)), attr(5, (1, 5)), attr(6, (1, 1))),
        "fec": b"f" + ethtool(30, attr(2, COMPACT), attr(3, (1, 1)), attr(4, (4, 50)),
                              attr(5, [attr(2, bytes(24)), attr(3, bytes(8))])),
        "stats": b"s" + ethtool(33, *(attr(4, [attr(2, (4, group)), attr(3, (4, 18)),
                                               attr(4, [attr(counter, (8, 7))])])
                                      for group, counter in ((0, 0), (1, 4), (3, 1))), header=2),
        "eeprom": b"e" + ethtool(32, attr(7, bytes(range(3, 131)))),
        "error": b"e" + ERROR,
    },
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
    "uevent": {
        "bind": uevent(b"ACTION=bind", b"DEVPATH=/devices/pci0000:00/0000:01:00.0",
                       b"SUBSYSTEM=pci", b"DRIVER=vfio-pci", b"PCI_CLASS=10802", b"SEQNUM=1"),
        "no-subsystem": uevent(b"ACTION=add", b"DEVPATH=/devices/x"),
        "empty": uevent(b"", b"ACTION=", b"DEVPATH=", b"SUBSYSTEM="),
        "links": link(16, 2, 0x11043, attribute(3, b"enp4s0f0\0"), attribute(16, b"\6"),
                      attribute(33, b"\1"), attribute(35, struct.pack("<I", 2)),
                      attribute(4, struct.pack("<I", 1500)))
                 + link(16, 2, 0, family=7)
                 + link(17, 3, 0, attribute(3, b"veth0\0"),
                        attribute(18, attribute(1, b"veth\0"))),
    },
}

for folder, seeds in SEEDS.items():
    (HERE / folder).mkdir(exist_ok=True)
    for name, content in seeds.items():
        (HERE / folder / name).write_bytes(content)
