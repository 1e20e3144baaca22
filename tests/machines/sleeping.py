# SPDX-License-Identifier: LGPL-2.1-or-later
"""A suspended graphics card below a suspended port: its registers read as all ones, so its link files
say 63 lanes of an unknown speed, and reading them would wake it (cases 009 and 010). A second port
sleeps, but the drive below it says active.

Expected: 0000:01:00.0 and .1 asleep; nvme0 asleep through its port; nvme1 full. No file of a
sleeping function is opened but the cached ones.
"""


def build(m):
    m.host("laptop", kernel="6.17.0-4-amd64", os="debian13")
    m.cpu("AMD Ryzen 7 5800H", cores=8, threads=16, vendor="AuthenticAMD", family=25, number=80,
          mhz=3200, socket="FP6")
    gpu_port = m.root_port("0000:00:01.1", gen=3, width=8, ids="1022:1633")
    gpu = m.gpu(gpu_port, "10de:2560", gen=4, width=16, driver="nvidia", audio="10de:228e",
                revision=0xa1)
    for function in gpu_port.children:
        m.suspend(function, ancestors=True)
    odd_port = m.root_port("0000:00:02.1", gen=3, width=4, ids="1022:1634")
    m.nvme(odd_port, "nvme0", model="WD_BLACK SN750", serial="2010AA000001", firmware="111110WD",
           ids="15b7:5006", gen=3, size=1000204886016)
    m.suspend(odd_port, state="D3hot")
    port = m.root_port("0000:00:02.2", gen=3, width=4, ids="1022:1634")
    m.nvme(port, "nvme1", model="WD_BLACK SN750", serial="2010AA000002", firmware="111110WD",
           ids="15b7:5006", gen=3, size=1000204886016)
    assert gpu.runtime_status == "suspended"
