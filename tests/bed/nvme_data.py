# SPDX-License-Identifier: LGPL-2.1-or-later
"""The data that an NVMe controller answers with (NVM Express Base Specification 1.4): Identify
Controller, Identify Namespace, the namespace descriptor list and the SMART / Health log."""

import struct


def padded(text, length):
    data = text if isinstance(text, bytes) else text.encode()
    return data[:length].ljust(length, b" ")


def identify_controller(*, model, serial, firmware, vendor=0, subsystem_vendor=0, controller_id=0,
                        warning_k=None, critical_k=None, namespaces=1):
    data = bytearray(4096)
    struct.pack_into("<HH", data, 0, vendor, subsystem_vendor)
    data[4:24] = padded(serial, 20)
    data[24:64] = padded(model, 40)
    data[64:72] = padded(firmware, 8)
    struct.pack_into("<H", data, 78, controller_id)
    struct.pack_into("<I", data, 80, 0x00010400)
    struct.pack_into("<HH", data, 266, warning_k or 0, critical_k or 0)
    data[512], data[513] = 0x66, 0x44
    struct.pack_into("<I", data, 516, namespaces)
    return bytes(data)


def identify_namespace(*, size, block_size=512, used=None):
    data = bytearray(4096)
    blocks = size // block_size
    struct.pack_into("<QQQ", data, 0, blocks, blocks, blocks if used is None else used // block_size)
    struct.pack_into("<I", data, 128, (block_size.bit_length() - 1) << 16)
    return bytes(data)


def namespace_descriptors(eui64):
    """One EUI-64 descriptor."""
    return bytes([1, 8, 0, 0]) + eui64.to_bytes(8, "big") + bytes(4096 - 12)


def smart_log(*, temperature_c=40, sensors=(), spare=100, spare_threshold=10, used=3, warning=0,
              units_read=21_000_000, units_written=34_000_000, host_reads=400_000_000,
              host_writes=700_000_000, busy_minutes=5_000, power_cycles=40, power_on_hours=8_760,
              unsafe_shutdowns=12, media_errors=0, error_log_entries=0, warning_minutes=0,
              critical_minutes=0):
    """Temperatures in degrees Celsius; a sensor of None is not implemented."""
    data = bytearray(512)
    data[0] = warning
    struct.pack_into("<H", data, 1, temperature_c + 273)
    data[3], data[4], data[5] = spare, spare_threshold, used
    counters = (units_read, units_written, host_reads, host_writes, busy_minutes, power_cycles,
                power_on_hours, unsafe_shutdowns, media_errors, error_log_entries)
    for i, counter in enumerate(counters):
        data[32 + 16 * i:48 + 16 * i] = counter.to_bytes(16, "little")
    struct.pack_into("<II", data, 192, warning_minutes, critical_minutes)
    for i, sensor in enumerate(sensors):
        struct.pack_into("<H", data, 200 + 2 * i, 0 if sensor is None else sensor + 273)
    return bytes(data)
