# SPDX-License-Identifier: LGPL-2.1-or-later
"""A host without PCI, NVMe, disks, sensors or DMI: their folders are not there (case 079).

Expected: everything is empty, nothing is an error.
"""


def build(m):
    m.host("empty", kernel="6.1.0-28-amd64")
    m.cpu("Test CPU", cores=1, threads=1, vendor="GenuineIntel", family=6, number=85)
    m.memory_bytes = 1 << 30
    m.mount("overlay", "/", "overlay")
