#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""vmlinux.py BZIMAGE OUT: the kernel as it is inside Debian's compressed one. QEMU starts that
directly (PVH); to unpack it in an emulated processor takes seconds at each boot."""

import struct
import subprocess
import sys

# How a compressed kernel begins, and what undoes it.
TOOLS = {b"\xfd7zXZ\0": ["xz", "-dc", "--single-stream"], b"\x28\xb5\x2f\xfd": ["zstd", "-dc"],
         b"\x1f\x8b\x08": ["gzip", "-dc"]}


def main():
    source, target = sys.argv[1:]
    with open(source, "rb") as file:
        image = file.read()
    # Linux' Documentation/arch/x86/boot.rst: setup_sects, payload_offset and payload_length.
    start = ((image[0x1F1] or 4) + 1) * 512
    offset, length = struct.unpack_from("<II", image, 0x248)
    payload = image[start + offset:start + offset + length]
    for magic, tool in TOOLS.items():
        if payload.startswith(magic):
            break
    else:
        sys.exit(f"vmlinux.py: no known compression: {payload[:8].hex()}")
    # The length of the unpacked kernel follows; zstd complains about that.
    out = subprocess.run(tool, input=payload[:-4] if tool[0] != "gzip" else payload,
                         stdout=subprocess.PIPE, check=False).stdout
    if not out.startswith(b"\x7fELF"):
        sys.exit(f"vmlinux.py: {tool[0]} gave no kernel")
    with open(target, "wb") as file:
        file.write(out)


main()
