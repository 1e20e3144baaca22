#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""machine.py IMAGE FILE…: boots what tests/vm/image made under QEMU, without hardware virtualisation,
with NVMe drives behind root ports and a switch, two network ports whose cables end at two others, and
an empty slot; gives it FILEs (*.deb: the package to install, the one to upgrade to; kernel modules) and
tests/vm/guest.py to run. Prints a line for each proof. The exit status is 0 if all hold."""

import argparse
import glob
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = ("guest.py", "ports.py", "proof.py", "ask.py", "../bed/nic_data.py")
QEMU = "qemu-system-x86_64"
KERNEL_ARGUMENTS = (
    "root=/dev/vda rw console=ttyS0 quiet loglevel=4 nokaslr mitigations=off audit=0 nowatchdog "
    "panic=-1 oops=panic tsc=reliable no_timer_check cryptomgr.notests random.trust_cpu=on "
    "i8042.noaux i8042.nopnp systemd.show_status=0")


class Machine:
    """The command line of QEMU, and the files that it names."""

    def __init__(self, image, folder):
        self.folder = folder
        self.n_ports = 0
        self.arguments = [
            QEMU, "-nodefaults", "-no-user-config", "-nographic",
            "-machine", "q35,smm=off,vmport=off", "-m", "1024", "-smp", "2",
            "-accel", "tcg,thread=multi,tb-size=512",
            # With rdrand nothing waits for entropy.
            "-cpu", "qemu64,+rdrand",
            "-kernel", f"{image}/kernel", "-initrd", f"{image}/initrd",
            "-append", KERNEL_ARGUMENTS,
            "-smbios", "type=1,manufacturer=pnhw,product=VM,serial=SECRET",
            "-serial", f"file:{folder}/console",
            "-serial", f"unix:{folder}/proofs,server=on,wait=on",
            "-qmp", f"unix:{folder}/qmp,server=on,wait=off",
            # Hot-plug by the ports themselves, as on a server.
            "-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off",
        ]
        self.disk("root", f"{image}/root.ext4", 2)
        self.disk("input", f"{folder}/input.tar", 3)
        self.port("rp0")
        self.drive("nvme0", "rp0", "VM0")
        self.port("rp1")
        self.device("x3130-upstream,id=up,bus=rp1")
        for n in range(2):
            self.device(f"xio3130-downstream,id=down{n},bus=up,addr={n},chassis={20 + n},slot={20 + n}")
            self.drive(f"switched{n}", f"down{n}", f"SWITCHED{n}")
        for n in range(2):
            self.port(f"rpnet{n}")
            self.cable(n)
            self.device(f"e1000e,id=net{n},bus=rpnet{n},netdev=near{n},mac=52:54:00:00:01:0{n},romfile=")
            # What is at the cable's other end is on no bus that has links.
            self.device(f"virtio-net-pci,id=far{n},addr={16 + n},netdev=far{n},mac=52:54:00:00:01:1{n},"
                        "speed=1000,duplex=full,disable-legacy=on,romfile=")
        self.port("spare")
        self.blank("dspare")

    def device(self, words):
        self.arguments += ["-device", words]

    def disk(self, name, path, slot):
        self.arguments += ["-drive", f"file={path},format=raw,if=none,id={name},cache=unsafe,snapshot=on"]
        self.device(f"virtio-blk-pci,drive={name},addr={slot},disable-legacy=on")

    def blank(self, name):
        path = f"{self.folder}/{name}.img"
        with open(path, "wb") as file:
            file.truncate(64 << 20)
        self.arguments += ["-blockdev", f"driver=raw,node-name={name},file.driver=file,"
                           f"file.filename={path},file.locking=off"]

    def port(self, name):
        self.n_ports += 1
        self.device(f"pcie-root-port,id={name},bus=pcie.0,addr=8.{self.n_ports - 1},multifunction=on,"
                    f"chassis={self.n_ports},slot={self.n_ports},x-speed=16,x-width=4")

    def cable(self, n):
        for end in "near", "far":
            self.arguments += ["-netdev", f"hubport,id={end}{n},hubid={n}"]

    def drive(self, name, bus, serial):
        self.blank(f"d{name}")
        self.device(f"nvme,id={name},bus={bus},drive=d{name},serial={serial}")


class Lines:
    """A Unix socket to QEMU, line by line."""

    def __init__(self, path, process, seconds=30):
        self.socket, self.rest = socket.socket(socket.AF_UNIX), b""
        end = time.monotonic() + seconds
        while True:
            try:
                self.socket.connect(path)
                return
            except OSError:
                if process.poll() is not None or time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def write(self, text):
        self.socket.sendall(text.encode() + b"\n")

    def read(self, end):
        """The next line; None at the end of the connection or when it is `end`."""
        while b"\n" not in self.rest:
            wait = end - time.monotonic()
            if wait <= 0 or not select.select([self.socket], [], [], wait)[0]:
                return None
            data = self.socket.recv(65536)
            if not data:
                return None
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode(errors="replace").rstrip("\r")


def monitor(qmp, command):
    """One command to QEMU; what it said, in JSON."""
    end = time.monotonic() + 30
    qmp.write(command)
    while (line := qmp.read(end)) is not None:
        if "return" in (answer := json.loads(line)) or "error" in answer:
            return json.dumps(answer)
    return '{"error": {"desc": "QEMU does not answer"}}'


def named(line, name):
    """With the machine's name in it."""
    return re.sub(r"^(ok - |not ok - |skip - |# )", rf"\1{name}: ", line) if name else line


def follow(process, folder, end, name):
    """Prints what the guest says; its verdict, or None if it did not get to one."""
    guest = Lines(f"{folder}/proofs", process)
    qmp = Lines(f"{folder}/qmp", process)
    qmp.read(time.monotonic() + 30)
    monitor(qmp, '{"execute": "qmp_capabilities"}')
    while (line := guest.read(end)) is not None:
        if line.startswith("@ "):
            guest.write(monitor(qmp, line[2:]))
        elif line.startswith("end "):
            return line == "end 0"
        else:
            print(named(line, name), flush=True)
    return None


def last_lines(path, n=40):
    with open(path, encoding="utf-8", errors="replace") as file:
        return "".join(file.readlines()[-n:])


def run(arguments, folder):
    with tarfile.open(f"{folder}/input.tar", "w") as tar:
        for name in PROGRAMS:
            tar.add(os.path.join(HERE, name), os.path.basename(name))
        if arguments.only:
            with open(f"{folder}/only", "w", encoding="utf-8") as file:
                file.write("\n".join(arguments.only))
            tar.add(f"{folder}/only", "only")
        packages = [path for path in arguments.file if path.endswith(".deb")]
        for n, package in enumerate(packages):
            tar.add(package, f"{n}.deb")
        for path in set(arguments.file) - set(packages):
            tar.add(path, os.path.basename(path))
    command = Machine(arguments.image, folder).arguments
    verdict = None
    with open(f"{folder}/qemu", "w", encoding="utf-8") as log, \
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process:
        try:
            verdict = follow(process, folder, time.monotonic() + arguments.timeout, arguments.name)
            if verdict is not None and arguments.log:
                # The journal follows on the console, then the machine goes off.
                process.wait(300)
        except (OSError, subprocess.TimeoutExpired) as error:
            print(f"# {error}")
        finally:
            process.kill()
    if verdict is None:
        print(last_lines(f"{folder}/qemu"), last_lines(f"{folder}/console"), sep="", file=sys.stderr)
        print(named("not ok - the machine gets to the end of the proofs: it did not, within "
                    f"{arguments.timeout:g} s", arguments.name))
    return verdict


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("image")
    parser.add_argument("file", nargs="+")
    parser.add_argument("--name", help="of the machine, for each line")
    parser.add_argument("--log", help="a folder for the console, which has the journal")
    parser.add_argument("--only", action="append", metavar="WORD",
                        help="only proofs that have WORD in their name; may be given repeatedly")
    parser.add_argument("--timeout", type=float, default=2400, help="seconds, of all; default 2400")
    arguments = parser.parse_args()
    if not shutil.which(QEMU):
        print(named(f"skip - the virtual machine: needs {QEMU}, of Debian's package qemu-system-x86",
                    arguments.name))
        return 77
    # QEMU must not outlive this.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pnhw-vm-") as folder:
        try:
            verdict = run(arguments, folder)
        finally:
            if arguments.log:
                os.makedirs(arguments.log, exist_ok=True)
                for name in ("console", "qemu"):
                    for path in glob.glob(f"{folder}/{name}"):
                        shutil.copy(path, os.path.join(arguments.log, f"{name}.txt"))
    print(named(f"# the machine ran for {time.monotonic() - start:.0f} s", arguments.name))
    return 0 if verdict else 1


sys.exit(main())
