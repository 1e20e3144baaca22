# SPDX-License-Identifier: LGPL-2.1-or-later
"""A dual-port drive with two controllers in one subsystem, its namespace below the subsystem with
hidden path nodes below the controllers, and one controller of NVMe over TCP (case 040). The numbers
of controller and namespace do not match.

Expected: two drives by NVMe over PCIe and TCP; nvme0n1 once, by nvme0 and nvme1; nvme0c0n1 and
nvme0c1n1 are no namespaces.
"""

from machine import Namespace

SIZE = 1600321314816


def build(m):
    m.host("dual1", kernel="6.10.11-amd64", os="debian13")
    m.cpu("AMD EPYC 7543 32-Core Processor", cores=32, threads=64, vendor="AuthenticAMD",
          family=25, number=1, mhz=2800, socket="SP3")
    drive = dict(model="SAMSUNG MZWLR1T6HBJR-00007", serial="S6EUNA0R000001", firmware="MPP94B5Q",
                 ids="144d:a824", gen=4, width=2, size=SIZE, warning=80, critical=85,
                 nqn="nqn.1994-11.com.samsung:nvme:PM1735a:2.5-inch:S6EUNA0R000001")
    ports = [m.root_port(f"{domain}:00:00.0", ids="1022:1483", gen=4, width=2, secondary=1, slot=i)
             for i, domain in ((1, "0001"), (2, "0002"))]
    first = m.nvme(ports[0], "nvme0", controller_id=33, namespaces=[], **drive)
    m.nvme(ports[1], "nvme1", controller_id=65, subsystem=first.subsystem, **drive)
    shared = first.subsystem.shared_namespace(Namespace(1, SIZE))
    m.filesystem(shared, "xfs", label="data")
    m.mount(shared, "/srv/data")

    m.fabrics("nvme3", transport="tcp", address="traddr=192.0.2.5,trsvcid=4420,src_addr=192.0.2.9",
              model="Linux", serial="dc0a1b2c3d4e5f60", firmware="6.10.11-",
              nqn="nqn.2024-01.org.example:storage1", size=64 << 30)
