# SPDX-License-Identifier: LGPL-2.1-or-later
"""Identity strings that break the standard's rules (case 039), a controller in the middle of a reset
(case 037), and links whose attributes are sentinels (case 006).

Expected: valid UTF-8 JSON; nvme0 trimmed; nvme1's model null; nvme2's firmware all 8 characters;
nvme3 without raw newline or byte above 0x7e; nvme4 not live, its strings not believed; nvme5 and
nvme6 share one serial; nvme7's link unknown.
"""


def build(m):
    m.host("dirty1", kernel="6.8.12-4-pve", os="debian12")
    m.cpu("AMD Ryzen 9 5950X 16-Core Processor", cores=16, threads=32, vendor="AuthenticAMD",
          family=25, number=33, mhz=3400)
    drives = (
        dict(model="  Padded Drive  ", serial="EXAMPLE0001", firmware="1.0"),
        dict(model=b"\0" * 40, serial="EXAMPLE0002", firmware="1.0"),
        dict(model="Full Firmware", serial="EXAMPLE0003", firmware="QDV10130"),
        dict(model=b"Bad \xc2\xa0 \xff\x01\x7f bytes \"\\</script>", serial=b"EXAMPLE-3\n",
             firmware=b"\xe4\xf6\xfc\x00junk"),
        dict(model="@", serial="", firmware="p;", state="resetting"),
        dict(model="Twin", serial="SAME0000001", firmware="1.0"),
        dict(model="Twin", serial="SAME0000001", firmware="1.0"),
        dict(model="No Link", serial="EXAMPLE0007", firmware="1.0"),
    )
    for i, drive in enumerate(drives):
        port = m.root_port(f"0000:00:01.{i}", gen=4, width=4, slot=i + 1)
        nqn = f"nqn.2024-01.org.example:drive{i}"
        m.nvme(port, f"nvme{i}", ids="1987:5018", nqn=nqn, **drive)
    silent = m.controllers[7].function
    silent.gen, silent.width, silent.current = 0, 255, (0, 0)
