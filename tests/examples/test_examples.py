#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_examples.py: what docs/examples has works: the hook for guests of Proxmox VE, called as that
calls it, on a tree like /etc/pve and with a daemon that says what the test says; the unit and the
program that mail. Prints one line a case."""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from cases import Skip, check, equal, has, run_cases  # noqa: E402

EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "docs", "examples")
HOOK = os.path.join(EXAMPLES, "pnhw-guest-hook.pl")
SECONDS = 60
CASES = []


def case(function):
    CASES.append(function)
    return function


STORAGE = """\
dir: local
\tpath /var/lib/vz
\tcontent iso,vztmpl,backup,snippets

zfspool: local-zfs
\tpool rpool/data
\tcontent images,rootdir
\tsparse 1

lvmthin: thin
\tthinpool data
\tvgname fast
\tcontent rootdir,images

nfs: far
\tpath /mnt/pve/far
\tserver 192.0.2.1
\texport /far
"""

MAPPING = """\
card
\tmap id=8086:1572,node=here,path=0000:81:00.0
\tmap id=8086:1572,node=here,path=0000:82:00.0
\tmap id=8086:1572,node=there,path=0000:01:00.0

gpu
\tmap id=10de:2204,iommugroup=25,node=here,path=0000:0a:00.0;0000:0a:00.1
"""

MOUNTS = r"""rpool/ROOT/pve-1 / zfs rw 0 0
/dev/mapper/big--vg-vz /var/lib/vz ext4 rw 0 0
/dev/sdb1 /srv/with\040space ext4 rw 0 0
"""


def finding(severity="critical", **more):
    return {"id": "0123456789ab", "code": "nvme.hot", "state": "raised", "severity": severity,
            "device": None, "address": None, "affects": [], "summary": "It is hot: 90\u00a0\u00b0C.",
            **more}


class Daemon:
    """Answers each question with these findings, or not at all."""

    def __init__(self, path, findings, answer=None):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(5)
        self.answer = json.dumps({"parameters": {"findings": findings}}) + "\0" \
            if answer is None else answer
        self.asked = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                peer = self.listener.accept()[0]
                call = b""
                while b"\0" not in call:
                    call += peer.recv(65536)
                self.asked.append(json.loads(call[:-1]))
                peer.sendall(self.answer.encode())
                peer.close()


def hook(config, *findings, kind="qemu-server", vmid="100", phase="pre-start", defaults=None,
         daemon=True, answer=None, **env):
    """Exit status and what it says."""
    if not shutil.which("perl"):
        raise Skip("needs perl")
    with tempfile.TemporaryDirectory(prefix="pnhw-hook-") as folder:
        def write(name, text):
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return path
        write("pve/storage.cfg", STORAGE)
        write("pve/mapping/pci.cfg", MAPPING)
        if config is not None:
            write(f"pve/{kind}/100.conf", config)
        path = os.path.join(folder, "s")
        listening = Daemon(path, findings, answer) if daemon else None
        done = subprocess.run(
            ["perl", HOOK, vmid, phase], capture_output=True, check=False, timeout=SECONDS,
            env={"PATH": os.environ["PATH"], "PNHW_PVE_DIR": os.path.join(folder, "pve"),
                 "PNHW_NODE": "here", "PNHW_SOCKET": path,
                 "PNHW_MOUNTS": write("mounts", MOUNTS),
                 "PNHW_HOOK_DEFAULTS": write("defaults", defaults) if defaults
                 else os.path.join(folder, "none"), **env})
        if listening:
            listening.listener.close()
        equal(done.stdout, b"")
        return done.returncode, done.stderr.decode()


@case
def it_is_good_perl():
    if not shutil.which("perl"):
        raise Skip("needs perl")
    for flags in ["-c"], ["-T", "-c"]:
        done = subprocess.run(["perl", "-w", *flags, HOOK], capture_output=True, text=True,
                              check=False)
        equal((done.returncode, done.stderr.strip()), (0, f"{HOOK} syntax OK"))


@case
def addresses_of_devices():
    at = {"0000:01:00.0": finding(address="0000:01:00.0"),
          "0000:01:00.1": finding(address="0000:01:00.1"),
          "0001:01:00.0": finding(address="0001:01:00.0"),
          "link": finding(code="pcie.degraded", address="0000:01:00.0"),
          "above": finding(code="pcie.degraded", address="0000:00:01.0",
                           affects=["zpool x", "0000:01:00.0"])}
    for value, which, refused in (
            ("0000:01:00.0", "0000:01:00.0", True), ("01:00.0", "0000:01:00.0", True),
            ("01:00", "0000:01:00.0", True), ("01:00", "0000:01:00.1", True),
            ("0000:01:00,pcie=1,x-vga=1", "0000:01:00.1", True),
            ("host=01:00.0,pcie=1", "0000:01:00.0", True),
            ("pcie=1,host=0000:01:00", "0000:01:00.1", True),
            ("02:00.0;01:00.1", "0000:01:00.1", True), ("02:00;01:00", "0000:01:00.0", True),
            ("01:00.0", "0000:01:00.1", False), ("01:00.1", "0000:01:00.0", False),
            ("01:00.0", "0001:01:00.0", False), ("0001:01:00.0", "0001:01:00.0", True),
            ("02:00", "0000:01:00.0", False), ("01:00.1", "link", True), ("01:00.1", "above", True),
            ("02:00.0", "above", False)):
        code, text = hook(f"memory: 512\nhostpci0: {value}\n", at[which])
        equal(code, 1 if refused else 0, f"{value} and {which}: {text}")
        if refused:
            has(text, "pnhw: hostpci0: critical: It is hot: 90\u00a0\u00b0C.",
                "pnhwctl accept 0123456789ab", "pnhw: guest 100 is not started")
        else:
            equal(text, "")
    code, text = hook("hostpci0: nonsense\n")
    equal((code, text), (0, "pnhw: hostpci0: cannot read the address nonsense\n"))


@case
def mapped_devices():
    one, other = finding(address="0000:81:00.0"), finding(address="0000:82:00.0")
    # One of two may be taken: the other is well.
    code, text = hook("hostpci1: mapping=card,pcie=1\n", one)
    equal(code, 0, text)
    has(text, "pnhw: hostpci1 (mapping card): critical: ")
    equal(hook("hostpci1: mapping=card\n", one, dict(other, id="000000000001"))[0], 1)
    equal(hook("hostpci1: mapping=card\n", finding(address="0000:01:00.0")), (0, ""))
    equal(hook("hostpci1: mapping=gpu\n", finding(address="0000:0a:00.1"))[0], 1)
    code, text = hook("hostpci1: mapping=none\n", one)
    equal(code, 0)
    has(text, "no device for mapping none on node here")


@case
def disks_and_their_storage():
    for config, which, refused in (
            ("scsi0: local-zfs:vm-100-disk-0,size=32G", {"affects": ["zpool rpool"]}, True),
            ("scsi0: local-zfs:vm-100-disk-0,size=32G", {"affects": ["zpool other"]}, False),
            ("virtio1: file=thin:vm-100-disk-0", {"affects": ["volume group fast"]}, True),
            ("ide2: local:iso/debian.iso,media=cdrom", {"affects": ["mount /var/lib/vz"]}, False),
            ("ide2: none,media=cdrom", {"affects": ["mount /"]}, False),
            ("sata0: local:100/vm-100-disk-0.qcow2", {"affects": ["mount /var/lib/vz"]}, True),
            ("sata0: local:100/vm-100-disk-0.qcow2", {"affects": ["volume group big-vg"]}, True),
            ("sata0: local:100/vm-100-disk-0.qcow2", {"affects": ["zpool rpool"]}, False),
            ("efidisk0: local-zfs:vm-100-disk-1,size=1M", {"affects": ["zpool rpool"]}, True),
            ("unused0: local-zfs:vm-100-disk-2", {"affects": ["zpool rpool"]}, False),
            ("scsi1: far:100/vm-100-disk-0.raw", {"affects": ["zpool rpool"]}, False),
            ("scsi1: gone:vm-100-disk-0", {"affects": ["zpool rpool"]}, False),
            ("scsi1: /dev/nvme3n1,size=2T", {"device": "nvme3"}, True),
            ("scsi1: /dev/nvme3n1p2", {"device": "nvme3"}, True),
            ("scsi1: /dev/nvme30n1", {"device": "nvme3"}, False),
            ("scsi1: /dev/sdb2", {"device": "sdb"}, True),
            ("scsi1: /srv/with space/disk.raw", {"device": "sdb"}, True),
            ("net0: virtio=00:00:00:00:00:01,bridge=vmbr0", {"affects": ["zpool rpool"]}, False),
            ("[snap]\nscsi0: local-zfs:vm-100-disk-0", {"affects": ["zpool rpool"]}, False)):
        code, text = hook(f"name: x\n{config}\n", finding(**which))
        equal(code, 1 if refused else 0, f"{config!r} and {which}: {text}")
    # One of two disks on the same pool is enough to be told.
    _, text = hook("scsi0: local-zfs:vm-100-disk-0\nscsi1: local-zfs:vm-100-disk-1\n",
                   finding(affects=["zpool rpool"]))
    equal(text.count("It is hot"), 1)


@case
def containers():
    for config, which, refused in (
            ("rootfs: local-zfs:subvol-100-disk-0,size=8G", {"affects": ["zpool rpool"]}, True),
            ("mp0: thin:vm-100-disk-0,mp=/data", {"affects": ["volume group fast"]}, True),
            ("mp0: /srv/with space,mp=/data", {"affects": ["mount /srv/with space"]}, True),
            ("mp0: volume=local-zfs:x,mp=/data", {"affects": ["zpool rpool"]}, True),
            ("dev0: /dev/nvme3n1", {"device": "nvme3"}, True),
            ("dev0: path=/dev/nvme3n1,mode=0660", {"device": "nvme3"}, True),
            ("scsi0: local-zfs:x", {"affects": ["zpool rpool"]}, False)):
        code, text = hook(f"arch: amd64\n{config}\nlxc.apparmor.profile: x\n", finding(**which),
                          kind="lxc")
        equal(code, 1 if refused else 0, f"{config!r} and {which}: {text}")


@case
def severities():
    config = "hostpci0: 01:00.0\n"

    def at(severity):
        return finding(severity, address="0000:01:00.0")

    for severity, code, says in (("info", 0, False), ("notice", 0, False), ("warning", 0, True),
                                 ("critical", 1, True), ("of a later version", 1, True)):
        got, text = hook(config, at(severity))
        equal((got, bool(text)), (code, says), severity)
    equal(hook(config, at("warning"), PNHW_HOOK_REFUSE="warning")[0], 1)
    equal(hook(config, at("warning"), defaults="# mine\nREFUSE=\"warning\"  # all\n")[0], 1)
    equal(hook(config, at("critical"), defaults="REFUSE=never\nWARN=never\n"), (0, ""))
    has(hook(config, at("notice"), defaults="WARN=notice\n")[1], "hostpci0: notice: It is hot")
    code, text = hook(config, at("critical"), defaults="REFUSE=lots\n")
    equal(code, 1)
    has(text, "REFUSE=lots is no severity")


@case
def the_question_leaves_out_what_is_accepted():
    with tempfile.TemporaryDirectory(prefix="pnhw-hook-") as folder:
        os.makedirs(folder + "/qemu-server")
        with open(folder + "/qemu-server/7.conf", "w", encoding="utf-8") as file:
            file.write("hostpci0: 01:00\n")
        if not shutil.which("perl"):
            raise Skip("needs perl")
        daemon = Daemon(folder + "/s", [])
        subprocess.run(["perl", HOOK, "7", "pre-start"], check=True, timeout=SECONDS,
                       env={"PATH": os.environ["PATH"], "PNHW_PVE_DIR": folder,
                            "PNHW_SOCKET": folder + "/s"})
        equal(daemon.asked, [{"method": "io.pnhw.Hardware.ListFindings", "parameters": {
            "min_severity": "info", "include_accepted": False}}])
        daemon.listener.close()


@case
def nothing_else_stops_a_guest():
    config, bad = "hostpci0: 01:00.0\n", finding(address="0000:01:00.0")
    for phase in "post-start", "pre-stop", "post-stop", "of-a-later-version":
        equal(hook(config, bad, phase=phase), (0, ""), phase)
    code, text = hook(config, daemon=False)
    equal(code, 0)
    has(text, "pnhwd cannot be asked, so nothing is checked: cannot connect to ")
    for answer in ("", "nonsense\0", "{}\0", '{"parameters":{"find', "[1]\0",
                   '{"error":"io.pnhw.Hardware.NotReady","parameters":{}}\0'):
        code, text = hook(config, answer=answer)
        equal(code, 0, f"{answer!r}: {text}")
        has(text, "pnhwd cannot be asked, so nothing is checked: ")
    code, text = hook(None, bad)
    equal(code, 0)
    has(text, "there is no configuration of guest 100")
    # Nothing to look at, nobody to ask.
    equal(hook("memory: 512\n", daemon=False), (0, ""))
    for vmid in "x", "0", "../../etc/passwd", "1;2", "":
        code, text = hook(config, bad, vmid=vmid)
        equal(code, 2, vmid)
        has(text, "usage: ")


# ---- mail ----


@case
def the_unit_is_one_that_systemd_takes():
    if not shutil.which("systemd-analyze"):
        raise Skip("needs systemd-analyze, of Debian's package systemd")
    with tempfile.TemporaryDirectory(prefix="pnhw-unit-") as folder:
        with open(os.path.join(EXAMPLES, "pnhw-notify@.service"), encoding="utf-8") as file:
            text = file.read()
        has(text, "ExecStart=/usr/bin/pnhwctl watch --exec=/usr/local/bin/pnhw-mail\n")
        # Neither program is where it would be.
        path = os.path.join(folder, "pnhw-notify@admin@example.org.service")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("/usr/bin/pnhwctl", "/bin/true"))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", path], text=True,
                              capture_output=True, check=False)
        mine = [line for line in (done.stdout + done.stderr).splitlines() if "pnhw-notify" in line]
        equal(mine, [])


@case
def what_is_mailed():
    with tempfile.TemporaryDirectory(prefix="pnhw-mail-") as folder:
        sendmail = os.path.join(folder, "sendmail")
        with open(sendmail, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\necho "$@" >{folder}/to; cat >{folder}/mail\n')
        os.chmod(sendmail, 0o755)

        def mail(state, to="root", **more):
            subprocess.run([os.path.join(EXAMPLES, "pnhw-mail")], check=True, text=True,
                           input='{"id":"0123456789ab"}\n', timeout=SECONDS, env={
                               "PATH": os.environ["PATH"], "PNHW_SENDMAIL": sendmail,
                               "PNHW_MAILTO": to, "PNHW_STATE": state, "PNHW_ID": "0123456789ab",
                               "PNHW_CODE": "nvme.hot", "PNHW_SEVERITY": "critical",
                               "PNHW_DEVICE": "nvme3", "PNHW_SUBJECT": "drive S3",
                               "PNHW_SUMMARY": "It is hot: 90\u00a0\u00b0C.",
                               "PNHW_ADVICE": "Cool it.", **more})
            with open(folder + "/to", encoding="utf-8") as file:
                arguments = file.read().strip()
            with open(folder + "/mail", encoding="utf-8") as file:
                head, body = file.read().split("\n\n", 1)
            return arguments, dict(line.split(": ", 1) for line in head.split("\n")), body

        arguments, head, body = mail("raised", "admin@example.org")
        equal(arguments, "-oi -- admin@example.org")
        equal(head["To"], "admin@example.org")
        check(re.fullmatch(r"\[pnhw [^]]+\] critical: nvme3 nvme\.hot", head["Subject"]), head)
        has(body, "It is hot: 90\u00a0\u00b0C.\n", "Cool it.\n", '{"id":"0123456789ab"}\n',
            "pnhwctl accept 0123456789ab\n", "--explain nvme.hot\n")
        arguments, head, body = mail("cleared")
        has(head["Subject"], "] over: nvme3 nvme.hot")
        has(body, "This is over.\n")
        check("Cool it" not in body, body)
        # No line of another's making gets into the header.
        _, head, _ = mail("raised", PNHW_DEVICE="x\nBcc: all@example.org")
        check("Bcc" not in head, head)
        _, head, _ = mail("raised", PNHW_DEVICE="", PNHW_CODE="bond.degraded")
        has(head["Subject"], "] critical: bond.degraded")


sys.exit(run_cases(CASES, sys.argv[1:]))
