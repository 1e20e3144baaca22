# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a network card's driver and a transceiver say, as bytes: ethtool's link settings and the
memory of an SFP or QSFP+. Offsets and codes are those of linux/ethtool.h, SFF-8472 and SFF-8636;
knows nothing of pnhw."""

import math
import struct

# Link modes by name: bit numbers of enum ethtool_link_mode_bit_indices.
MODES = {"10baseT/Half": 0, "10baseT/Full": 1, "100baseT/Half": 2, "100baseT/Full": 3,
         "1000baseT/Half": 4, "1000baseT/Full": 5, "Autoneg": 6, "TP": 7, "FIBRE": 10,
         "10000baseT/Full": 12, "2500baseT/Full": 47, "5000baseT/Full": 48,
         "1000baseX/Full": 41, "10000baseCR/Full": 42, "10000baseSR/Full": 43,
         "10000baseLR/Full": 44, "10000baseLRM/Full": 45, "25000baseCR/Full": 31,
         "25000baseSR/Full": 33, "100000baseSR4/Full": 37, "100000baseCR4/Full": 38}
PORTS = {"tp": 0, "fibre": 3, "da": 5, "none": 0xef, "other": 0xff}
COPPER = ("10baseT/Half", "10baseT/Full", "100baseT/Half", "100baseT/Full", "1000baseT/Full")
WORDS = 4


def mode_words(names):
    bits = 0
    for name in names:
        bits |= 1 << MODES[name]
    return struct.pack(f"={WORDS}I", *(bits >> 32 * i & 0xffffffff for i in range(WORDS)))


def link_settings(speed, *, duplex="full", port="tp", autoneg=True, supported=(), advertised=None,
                  partner=()):
    """The answer to ETHTOOL_GLINKSETTINGS; a speed of None is unknown."""
    advertised = supported if advertised is None else advertised
    head = struct.pack("=II8BBBBB28x", 0x4c, 0xffffffff if speed is None else speed,
                       {"half": 0, "full": 1}.get(duplex, 0xff), PORTS[port], 0, int(autoneg), 0,
                       0, 0, WORDS, 0, 0, 0, 0)
    return head + mode_words(supported) + mode_words(advertised) + mode_words(partner)


def text(value, size):
    return value.encode().ljust(size)[:size]


def checksum(data):
    return sum(data) & 0xff


def sfp(vendor, part, serial, *, oui="000000", revision="A", date="200706  ", ethernet_10g=0,
        ethernet_1g=0, cable=0, rate=103, wavelength=850, connector=0x07, km=0, om=(0, 0, 0),
        copper_metres=0, temperature=34.5, voltage=3.3, bias=6.0, tx_mw=0.58, rx_mw=0.52, dom=True,
        limits=True):
    """An SFP's 512 bytes, A0h then A2h. `om`: tens of metres on OM1, OM2 and OM3."""
    a0 = bytearray(256)
    a0[0:3] = bytes((3, 4, connector))
    a0[3], a0[6], a0[8] = ethernet_10g, ethernet_1g, cable
    a0[11], a0[12] = 6, rate
    a0[14], a0[15] = km, min(km * 10, 255)
    a0[16], a0[17], a0[18], a0[19] = om[1], om[0], copper_metres, om[2]
    a0[20:36] = text(vendor, 16)
    a0[37:40] = bytes.fromhex(oui)
    a0[40:56] = text(part, 16)
    a0[56:60] = text(revision, 4)
    a0[60:62] = struct.pack(">H", wavelength if not cable else 0)
    a0[63] = checksum(a0[0:63])
    a0[65] = 0x1a
    a0[68:84] = text(serial, 16)
    a0[84:92] = text(date, 8)
    if dom:
        a0[92], a0[93], a0[94] = 0x68, 0xf0, 5
    a0[95] = checksum(a0[64:95])
    if not dom:
        return bytes(a0)

    def words(celsius, volts, milliamperes, tx, rx):
        return [int(celsius * 256) & 0xffff, int(volts * 10000), int(milliamperes * 500),
                int(tx * 10000), int(rx * 10000)]

    a2 = bytearray(256)
    if limits:
        high = words(78, 3.7, 11.8, 0.8318, 1.0)
        low = words(-13, 2.9, 4.0, 0.251, 0.01)
        high_warning = words(73, 3.6, 10.8, 0.6607, 0.7943)
        low_warning = words(-8, 3.0, 5.0, 0.3162, 0.0158)
        for i in range(5):
            a2[8 * i:8 * i + 8] = struct.pack(">4H", high[i], low[i], high_warning[i],
                                              low_warning[i])
    for i in range(4):
        a2[68 + 4 * i:72 + 4 * i] = struct.pack(">f", 1.0 if i == 3 else 0.0)
    for i in range(4):
        a2[76 + 4 * i:80 + 4 * i] = struct.pack(">2H", 0x100, 0)
    a2[95] = checksum(a2[0:95])
    a2[96:106] = struct.pack(">5H", *words(temperature, voltage, bias, tx_mw, rx_mw))
    if rx_mw < 0.001:
        a2[110] |= 0x02
        a2[113] |= 0x40
    return bytes(a0 + a2)


def qsfp(vendor, part, serial, *, oui="000000", revision="1 ", date="200706  ", ethernet=0,
         rate=103, wavelength=850, connector=0x0c, km=0, om=(0, 0, 0, 0), temperature=34.5,
         voltage=3.3, bias=6.0, tx_mw=0.58, rx_mw=(0.52, 0.52, 0.52, 0.52)):
    """A QSFP+'s 640 bytes: lower memory, then pages 00h to 03h. `om`: metres on OM1 to OM4."""
    memory = bytearray(640)
    memory[0:3] = bytes((0x0d, 8, 0))
    memory[22:24] = struct.pack(">h", int(temperature * 256))
    memory[26:28] = struct.pack(">H", int(voltage * 10000))
    memory[34:58] = struct.pack(">12H", *(int(mw * 10000) for mw in rx_mw), *4 * [int(bias * 500)],
                                *4 * [int(tx_mw * 10000)])
    memory[128:132] = bytes((0x0d, 0, connector, ethernet))
    memory[139:141] = bytes((5, rate))
    # Of OM3 and OM4 in units of 2 m; 850 nm lasers.
    memory[142:148] = bytes((km, om[2] // 2, om[1], om[0], om[3] // 2, 0))
    memory[148:164] = text(vendor, 16)
    memory[165:168] = bytes.fromhex(oui)
    memory[168:184] = text(part, 16)
    memory[184:186] = text(revision, 2)
    memory[186:188] = struct.pack(">H", wavelength * 20)
    memory[191] = checksum(memory[128:191])
    memory[196:212] = text(serial, 16)
    memory[212:220] = text(date, 8)
    # It measures temperature, voltage, received (on average) and sent light.
    memory[220] = 0x3c
    memory[223] = checksum(memory[192:223])
    page = 512 - 128
    for at, (high, low, high_warning, low_warning) in (
            (128, (78 * 256, -13 * 256 & 0xffff, 73 * 256, -8 * 256 & 0xffff)),
            (144, (37000, 29000, 36000, 30000)), (176, (21878, 100, 17378, 500)),
            (184, (5900, 2000, 5400, 2500)), (192, (21878, 100, 17378, 500))):
        memory[page + at:page + at + 8] = struct.pack(">4H", high, low, high_warning, low_warning)
    return bytes(memory)


def dbm(level):
    return math.pow(10, level / 10)
