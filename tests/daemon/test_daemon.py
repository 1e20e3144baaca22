#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_daemon.py BUILD_DIR [WORD...]: pnhwd against a probe that does as it is told, over real
sockets. Prints one line a case, `ok - name`, `not ok - name: why` or `skip - name: why`; with words
only the cases that have one of them in their name."""

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from cases import Skip, alone, check, equal, run_cases  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
PNHWD = os.path.join(BUILD, "daemon", "pnhwd")
FAKE_PROBE = os.path.join(HERE, "fake-probe")
HARDWARE = "io.pnhw.Hardware."
SERVICE = "org.varlink.service."
SOURCES = ("host", "pci", "nvme", "block", "net", "module", "health", "sensors")


def eventually(what, condition, seconds=30):
    """Waits until condition() is true; its last value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        check(time.monotonic() < end, f"not within {seconds} s: {what}")
        time.sleep(0.02)


class Machine:
    """What the probe finds: a folder with its lines, one file a source."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder)
        self.healthy()

    def healthy(self):
        """Two drives, the second in a slot of four lanes that runs with four."""
        self.host()
        self.pci()
        self.nvme(["S0", "S1"])
        self.block()
        self.net()
        self.health()
        self.sensors()

    def lines(self, source, objects, count=None, end=True, reason=None):
        text = "".join(json.dumps({"source": source, "kind": kind, "object": item}) + "\n"
                       for kind, item in objects)
        if end:
            text += json.dumps({"end": source, "count": len(objects) if count is None else count,
                                "took_ms": 1, "reason": reason}) + "\n"
        return text

    def write(self, source, text):
        """Prints `text` from now on."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(self.folder, source + ".sh"))
        path = os.path.join(self.folder, source)
        with open(path + ".new", "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        os.rename(path + ".new", path)

    def script(self, source, text):
        """Runs a piece of shell from now on."""
        path = os.path.join(self.folder, source + ".sh")
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(path + ".new", path)

    def host(self):
        self.write("host", self.lines("host", [("host", {"hostname": "tester"})]))

    def functions(self, width=4, extra=0):
        def function(address, kind, parent):
            port = kind == "root_port"
            return ("pci", {
                "address": address, "kind": kind, "parent": parent,
                "class": "0x060400" if port else "0x010802",
                "driver": "pcieport" if port else "nvme", "power": "active",
                "link": {"current_speed": 16, "current_width": 4 if address[5:7] in ("00", "01")
                         and address != "0000:00:03.0" else width,
                         "max_speed": 16, "max_width": 4}})
        found = [function("0000:00:01.0", "root_port", None),
                 function("0000:01:00.0", "endpoint", "0000:00:01.0"),
                 function("0000:00:03.0", "root_port", None),
                 function("0000:03:00.0", "endpoint", "0000:00:03.0")]
        found += [("pci", {"address": f"0001:{n >> 8:02x}:{n >> 3 & 31:02x}.{n & 7}",
                           "kind": "integrated", "name": "x" * 200}) for n in range(extra)]
        return found

    def pci(self, width=4, extra=0):
        self.write("pci", self.lines("pci", self.functions(width, extra)))

    def drives(self, serials):
        return [("nvme", {"name": f"nvme{n}", "address": f"0000:0{1 + 2 * n}:00.0",
                          "transport": "pcie", "state": "live", "model": "DISK", "serial": serial,
                          "namespaces": [{"name": f"nvme{n}n1", "nsid": 1,
                                          "device_number": f"259:{n}"}]})
                for n, serial in enumerate(serials) if serial]

    def nvme(self, serials):
        self.write("nvme", self.lines("nvme", self.drives(serials)))

    def block(self):
        uses = [("namespace_uses", {"name": f"nvme{n}n1", "device_number": f"259:{n}",
                                    "uses": [{"type": "zfs_member", "name": "rpool"}]})
                for n in range(2)]
        self.write("block", self.lines("block", uses + [("disk", {"name": "sda"})]))

    def net(self, name="eno1", serial="M1"):
        """A port at its best with a module."""
        self.write("net", self.lines("net", [("nic", {
            "id": name, "name": name, "kind": "physical", "enabled": True, "carrier": True,
            "speed_mbps": 10000, "supported_mbps": [10000], "duplex": "full"})]))
        self.write("module", self.lines("module", [("port_module", {
            "name": name, "module": {"status": "present", "serial": serial}})]))

    def health(self, serials=("S0", "S1")):
        self.write("health", self.lines("health", [
            ("nvme_health", {"name": f"nvme{n}", "serial": serial, "health": {
                "critical_warnings": [], "temperature_c": 40, "spare_percent": 100,
                "spare_threshold_percent": 10, "used_percent": 1}})
            for n, serial in enumerate(serials) if serial]))

    def sensors(self, celsius=45):
        self.write("sensors", self.lines("sensors", [("sensor", {
            "chip": "k10temp-pci-00c3", "device": "0000:00:18.3", "readings": [
                {"label": "Tdie", "feature": "temp1", "kind": "temperature", "value": celsius,
                 "unit": "\u00b0C", "max": 90, "plausible": True}]})]))

    def starts(self):
        """The sources, in the order in which the probe was started for them."""
        try:
            with open(os.path.join(self.folder, "starts"), encoding="utf-8") as file:
                return [line.split()[0] for line in file]
        except FileNotFoundError:
            return []


class Connection:
    def __init__(self, path, timeout=30):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        self.socket.connect(path)
        self.data = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def ask(self, method, parameters=None, end=b"\0", **flags):
        call = {"method": method, **flags}
        if parameters is not None:
            call["parameters"] = parameters
        self.send(json.dumps(call).encode() + end)

    def receive(self, end=b"\0"):
        """One answer, parsed; None when the connection is closed."""
        while end not in self.data:
            try:
                more = self.socket.recv(1 << 20)
            except ConnectionResetError:
                more = b""
            if not more:
                check(not self.data, f"closed in the middle of an answer: {self.data[:80]!r}")
                return None
            self.data += more
        answer, self.data = self.data.split(end, 1)
        return json.loads(answer)

    def call(self, method, parameters=None, **flags):
        self.ask(method, parameters, **flags)
        answer = self.receive()
        check(answer is not None, "closed instead of an answer")
        return answer

    def is_closed(self):
        """Nothing more comes, not even an answer."""
        return self.receive() is None


class Daemon:
    """A running pnhwd; `with` stops it and looks at how it ended."""

    def __init__(self, folder, *options, machine=None, wait=True, activate=None, environment=None,
                 probe=FAKE_PROBE, path=None, program=PNHWD):
        self.folder = folder
        self.path = path or os.path.join(folder, "s")
        self.machine = machine
        self.notify_path = os.path.join(folder, "notify")
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.notify_path)
        self.notify.bind(self.notify_path)
        self.notify.setblocking(False)
        self.told = []
        self.log_path = os.path.join(folder, "log")
        env = dict(os.environ, NOTIFY_SOCKET=self.notify_path,
                   PNHW_FAKE=machine.folder if machine else "/nonexistent", **(environment or {}))
        env.pop("JOURNAL_STREAM", None)
        # What this machine's own daemon learned is not a test's.
        env.setdefault("STATE_DIRECTORY", folder)
        command = [program, f"--probe={probe}", *options]
        if activate:
            # As systemd does it: the socket is descriptor 3, and a variable names the process.
            fd = activate.fileno()
            env.update(LISTEN_FDS="1", LISTEN_FDNAMES="x")
            command = ["sh", "-c", f'exec 3<&{fd}; LISTEN_PID=$$ exec "$@"', "sh"] + command
        else:
            command.append(f"--socket={self.path}")
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                pass_fds=[activate.fileno()] if activate else ())
        if wait:
            self.wait_ready()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.notify.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                check(kind, "it did not stop within 10 s")
        if kind is None:
            check(self.process.returncode == 0,
                  f"ended with {self.process.returncode}: {self.log()[-2000:]}")

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def messages(self):
        """All that it told systemd so far."""
        while True:
            try:
                self.told += self.notify.recv(4096).decode().split("\n")
            except BlockingIOError:
                return self.told

    def wait_ready(self, seconds=20):
        eventually("READY=1", lambda: "READY=1" in self.messages() or self.process.poll()
                   is not None, seconds)
        check(self.process.poll() is None, f"it ended: {self.log()}")

    def connect(self, **options):
        return Connection(self.path, **options)

    def call(self, method, parameters=None, **flags):
        with self.connect() as connection:
            return connection.call(HARDWARE + method if "." not in method else method, parameters,
                                   **flags)

    def ok(self, method, parameters=None):
        answer = self.call(method, parameters)
        check("error" not in answer, f"{method}: {answer}")
        return answer["parameters"]

    def source(self, name):
        return next(s for s in self.ok("GetStatus")["sources"] if s["name"] == name)

    def rescan(self, *sources):
        """Reads again, now."""
        time.sleep(2.05)  # the minimum interval
        return self.ok("Refresh", {"sources": list(sources)} if sources else None)["generation"]

    def status_of_process(self, field):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            for line in file:
                if line.startswith(field + ":"):
                    return int(line.split()[1])
        raise AssertionError(f"no {field}")


CASES = []


def case(function):
    CASES.append(function)
    return function


@contextlib.contextmanager
def running(*options, prepare=None, **more):
    with tempfile.TemporaryDirectory(prefix="pnhwd-") as folder:
        machine = Machine(os.path.join(folder, "machine"))
        if prepare:
            prepare(machine)
        with Daemon(folder, *options, machine=machine, **more) as daemon:
            yield daemon


# Methods and errors


@case
def every_method_answers():
    with running() as d:
        status = d.ok("GetStatus")
        equal(sorted(status), sorted(["schema", "generation", "host", "sources", "ratings",
                                      "findings", "summary"]))
        equal(status["generation"], 1)
        equal(status["host"]["hostname"], "tester")
        equal([(s["name"], s["state"]) for s in status["sources"]],
              [(n, "fresh") for n in SOURCES])
        check(len(status["ratings"]) == 2, status["ratings"])
        inventory = d.ok("GetInventory")
        equal(sorted(inventory), ["generation", "inventory", "schema"])
        equal(len(inventory["inventory"]["pci"]), 4)
        equal([n["lost"] for n in inventory["inventory"]["nvme"]], [False, False])
        only = d.ok("GetInventory", {"kinds": ["nvme", "host"]})["inventory"]
        equal((len(only["nvme"]), only["pci"], only["disks"], only["host"]["hostname"]),
              (2, [], [], "tester"))
        equal(d.ok("GetInventory", {"kinds": []})["inventory"]["nvme"], [])
        device = d.ok("GetDevice", {"name": "nvme1n1"})["device"]
        equal(device["nvme"]["serial"], "S1")
        equal(d.ok("ListFindings"), {"findings": status["findings"]})
        equal(d.ok("ListAlerts"), {"alerts": []})
        answer = d.ok("Check")
        equal((answer["status"], answer["code"]), ("OK", 0))
        check("\n" not in answer["line"], answer)
        equal(d.ok("Check", {"device": "nvme0"})["code"], 0)
        info = d.ok(SERVICE + "GetInfo")
        equal(info["interfaces"], ["org.varlink.service", "io.pnhw.Hardware"])
        check(info["vendor"] == "pnhw" and info["version"] and info["product"], info)
        for name in info["interfaces"]:
            text = d.ok(SERVICE + "GetInterfaceDescription", {"interface": name})["description"]
            check(f"interface {name}\n" in text, text[:100])


@case
def findings_have_severities():
    with running(prepare=lambda m: m.pci(width=1)) as d:
        findings = d.ok("ListFindings")["findings"]
        check(any(f["code"] == "pcie.degraded" for f in findings), findings)
        worst = d.ok("Check")
        check(worst["code"] in (1, 2) and worst["status"] in ("WARNING", "CRITICAL"), worst)
        equal(d.ok("Check", {"device": "nvme0"})["code"], 0)
        equal(d.ok("ListFindings", {"min_severity": "critical"})["findings"],
              [f for f in findings if f["severity"] == "critical"])


@case
def metrics_are_a_page_of_what_is_known():
    with running() as d:
        page = d.ok("GetMetrics")["openmetrics"]
        check(page.startswith("# TYPE pnhw_build info\n") and page.endswith("\n# EOF\n"), page[-80:])
        status = d.ok("GetStatus")
        for rating in status["ratings"]:
            check(f'address="{rating["address"]}",verdict="{rating["verdict"]}"' in page,
                  f'{rating["address"]} has no verdict')
        for finding in status["findings"]:
            check(f'pnhw_finding{{id="{finding["id"]}",code="{finding["code"]}"' in page,
                  f'{finding["id"]} is not there')
        equal(d.call("GetMetrics", {"format": "x"})["error"], SERVICE + "InvalidParameter")


@case
def every_error():
    with running() as d:
        def error(method, parameters=None, **flags):
            answer = d.call(method, parameters, **flags)
            check("error" in answer, f"{method} {parameters}: {answer}")
            return answer["error"], answer["parameters"]

        invalid = SERVICE + "InvalidParameter"
        equal(error("com.example.Nothing.Get"),
              (SERVICE + "InterfaceNotFound", {"interface": "com.example.Nothing"}))
        equal(error("GetEverything"),
              (SERVICE + "MethodNotFound", {"method": HARDWARE + "GetEverything"}))
        equal(error("Accept"), (invalid, {"parameter": "id"}))
        equal(error("Accept", {"id": "0" * 12})[0],
              HARDWARE + "NoSuchFinding" if os.geteuid() == 0 else SERVICE + "PermissionDenied")
        if os.geteuid() == 0:
            equal(error("Unaccept", {"id": "x"}), (HARDWARE + "NoSuchFinding", {"id": "x"}))
            equal(error("Accept", {"id": "x", "until": "soon"}), (invalid, {"parameter": "until"}))
            equal(error("Accept", {"id": "x", "until": "2001-01-01"}),
                  (invalid, {"parameter": "until"}))
        equal(error(SERVICE + "GetInterfaceDescription", {"interface": "x.y"}),
              (SERVICE + "InterfaceNotFound", {"interface": "x.y"}))
        equal(error("GetDevice", {"name": "nvme77"}),
              (HARDWARE + "NoSuchDevice", {"name": "nvme77"}))
        equal(error("Check", {"device": "nvme77"})[0], HARDWARE + "NoSuchDevice")
        equal(error("GetDevice"), (invalid, {"parameter": "name"}))
        equal(error("GetDevice", {"name": 7}), (invalid, {"parameter": "name"}))
        equal(error("GetStatus", {"verbose": True}), (invalid, {"parameter": "verbose"}))
        equal(error("GetInventory", {"kinds": ["disks", "floppies"]}),
              (invalid, {"parameter": "kinds"}))
        equal(error("ListFindings", {"min_severity": "bad"}),
              (invalid, {"parameter": "min_severity"}))
        equal(error("ListAlerts", {"min_severity": "bad"}),
              (invalid, {"parameter": "min_severity"}))
        equal(error("Check", {"min_severity": "bad"}), (invalid, {"parameter": "min_severity"}))
        equal(error("Refresh", {"sources": ["gpu"]}), (invalid, {"parameter": "sources"}))
        equal(error("Subscribe"), (SERVICE + "ExpectedMore", {}))
        equal(error("GetStatus", upgrade=True), (invalid, {"parameter": "upgrade"}))
        equal(error("GetStatus", color="red"), (invalid, {"parameter": "color"}))
        equal(error("GetStatus", more="yes"), (invalid, {"parameter": "more"}))
        with d.connect() as c:
            for text in b'{}', b'{"method":7}', b'{"method":"GetStatus"}':
                c.send(text + b"\0")
                answer = c.receive()
                equal((answer["error"], answer["parameters"]), (invalid, {"parameter": "method"}))
            # It is a client that errs, not one that must go.
            check("parameters" in c.call(HARDWARE + "GetStatus"), "closed after an error")


@case
def refresh_is_for_root_and_the_group():
    if os.geteuid() != 0:
        raise Skip("needs root, to be somebody else")
    with running() as d:
        os.chmod(d.folder, 0o755)

        def as_user(uid, gid, groups):
            code = ("import json,os,socket,sys;os.setgroups(json.loads(sys.argv[2]));"
                    "os.setgid(int(sys.argv[3]));os.setuid(int(sys.argv[4]));"
                    "s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1]);"
                    "s.sendall(b'{\"method\":\"io.pnhw.Hardware.Refresh\"}\\n');"
                    "print(s.makefile().readline())")
            out = subprocess.run([sys.executable, "-c", code, d.path, json.dumps(groups), str(gid),
                                  str(uid)], capture_output=True, text=True, check=True)
            return json.loads(out.stdout)

        equal(as_user(65534, 65534, [])["error"], SERVICE + "PermissionDenied")
        equal(as_user(65534, 65534, [65534, 12345])["error"], SERVICE + "PermissionDenied")
        check("generation" in as_user(0, 0, [])["parameters"], "root may")
        try:
            with open("/etc/group", encoding="utf-8") as file:
                group = next(int(line.split(":")[2]) for line in file if line.startswith("pnhw:"))
        except StopIteration:
            return
        check("error" not in as_user(65534, 65534, [group]), "a member may")
        check("error" not in as_user(65534, group, []), "a member may")


# Framing


@case
def both_endings():
    call = b'{"method":"org.varlink.service.GetInfo"}'
    pretty = b'{\n  "method": "org.varlink.service.GetInfo",\r\n  "parameters": {}\n}'
    with running() as d, d.connect() as c:
        c.send(call + b"\0")
        check(c.receive(b"\0"), "NUL")
        c.send(call + b"\n")
        check(c.receive(b"\n"), "newline")
        c.send(pretty + b"\r\n" + pretty + b"\0")
        check(c.receive(b"\n"), "pretty, CRLF")
        check(c.receive(b"\0"), "pretty, NUL")
        c.send(b"\0\n\r\n \0" + call + b"\n")
        check(c.receive(b"\n"), "empty messages")
        equal(c.data, b"", "nothing more")


@case
def byte_by_byte():
    with running() as d, d.connect() as c:
        for byte in b'{"method":"io.pnhw.Hardware.GetDevice","parameters":{"name":"nvme0"}}\n':
            c.send(bytes([byte]))
            time.sleep(0.001)
        equal(c.receive(b"\n")["parameters"]["device"]["name"], "nvme0")


@case
def half_close_after_the_request():
    with running() as d, d.connect() as c:
        c.send(b'{"method":"io.pnhw.Hardware.GetStatus"}\n')
        c.socket.shutdown(socket.SHUT_WR)
        equal(c.receive(b"\n")["parameters"]["generation"], 1)
        check(c.is_closed(), "left open")


@case
def pipelining():
    with running() as d, d.connect() as c:
        n = 1000
        request = b"".join(
            json.dumps({"method": HARDWARE + "GetDevice",
                        "parameters": {"name": f"none{i}"}}).encode() + b"\0" for i in range(n))
        sent = 0
        c.socket.setblocking(False)
        got = 0
        data = b""
        end = time.monotonic() + 20
        while got < n:
            check(time.monotonic() < end, f"only {got} answers")
            readable, writable, _ = select.select([c.socket], [c.socket] if sent < len(request)
                                                  else [], [], 1)
            if writable:
                sent += c.socket.send(request[sent:sent + 100000])
            if readable:
                data += c.socket.recv(1 << 20)
                *answers, data = data.split(b"\0")
                for answer in answers:
                    equal(json.loads(answer)["parameters"], {"name": f"none{got}"})
                    got += 1


@case
def pipelining_is_bounded():
    """Answers that nobody reads do not pile up: the daemon stops reading."""
    with running(prepare=lambda m: m.pci(extra=1500)) as d, d.connect() as c:
        c.socket.setblocking(False)
        call = b'{"method":"io.pnhw.Hardware.GetInventory"}\0'
        sent = 0
        end = time.monotonic() + 2
        while time.monotonic() < end:
            try:
                sent += c.socket.send(call * 1000)
            except BlockingIOError:
                time.sleep(0.05)
        check(sent < 2_000_000, f"it took {sent} bytes of requests without an answer being read")
        # And goes on when they are read.
        c.socket.settimeout(10)
        for _ in range(100):
            equal(c.receive()["parameters"]["generation"], 1)


@case
def oneway():
    with running() as d, d.connect() as c:
        c.ask(HARDWARE + "GetStatus", oneway=True)
        c.ask(HARDWARE + "Nothing", oneway=True)
        c.ask(HARDWARE + "Subscribe", oneway=True, more=True)
        c.ask(HARDWARE + "GetDevice", {"name": "nvme1"})
        equal(c.receive()["parameters"]["device"]["name"], "nvme1")


@case
def the_same_question_again():
    """A remembered answer is never an old one."""
    with running() as d, d.connect() as c:
        for _ in range(3):
            equal(c.call(HARDWARE + "GetStatus")["parameters"]["generation"], 1)
        generation = d.rescan()
        for _ in range(3):
            equal(c.call(HARDWARE + "GetStatus")["parameters"]["generation"], generation)
        for _ in range(2):
            c.send(b'{"method":"io.pnhw.Hardware.GetStatus"}\n')
            equal(c.receive(b"\n")["parameters"]["generation"], generation)


@case
def two_clients():
    with running() as d, d.connect() as a, d.connect() as b:
        a.send(b'{"method":')
        equal(b.call(HARDWARE + "GetStatus")["parameters"]["generation"], 1)
        a.send(b'"io.pnhw.Hardware.GetStatus"}\0')
        equal(a.receive()["parameters"]["generation"], 1)


# Bad clients


def still_serves(d):
    equal(d.ok("GetStatus")["schema"], 1)


@case
def garbage():
    with running() as d, d.connect() as good:
        for text, end in ((b"hello\n", b"\n"), (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\n"),
                          (b"[1,2,3]\0", b"\0"), (b'{"method":\0', b"\0"), (b'{"a":[}\n', b"\n"),
                          (b'{"method":"a.b"} {}\n', b"\n"), (b"\xff\xfe\xfd\0", b"\0")):
            with d.connect() as c:
                c.send(text)
                answer = c.receive(end)
                equal(answer["error"], HARDWARE + "InvalidRequest", text)
                check(answer["parameters"]["reason"], text)
                check(c.is_closed(), f"left open after {text}")
        equal(good.call(HARDWARE + "GetStatus")["parameters"]["generation"], 1)


@case
def half_a_message_and_gone():
    with running() as d:
        for _ in range(50):
            with d.connect() as c:
                c.send(b'{"method":"io.pnhw.Hardware.Get')
        with d.connect() as c:
            c.send(b'{"method":"io.pnhw.Hardware.Get')
            c.socket.shutdown(socket.SHUT_WR)
            equal(c.receive()["error"], HARDWARE + "InvalidRequest")
            check(c.is_closed(), "left open")
        still_serves(d)


@case
def gone_before_the_answer():
    with running(prepare=lambda m: m.pci(extra=3000)) as d:
        for _ in range(70):
            with d.connect() as c:
                c.ask(HARDWARE + "GetInventory")
        still_serves(d)


@case
def a_huge_request():
    with running() as d:
        head, tail = b'{"method":"org.varlink.service.GetInfo"', b"}"
        for size, fits in ((65536, True), (65537, False), (70 << 10, False)):
            with d.connect() as c:
                c.send(head + b" " * (size - len(head) - len(tail)) + tail + b"\0")
                answer = c.receive()
                equal("error" not in answer, fits, f"{size} bytes: {answer}")
                if not fits:
                    check("64 KiB" in answer["parameters"]["reason"], answer)
                    check(c.is_closed(), "left open")
        with d.connect() as c:
            c.socket.settimeout(5)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError, socket.timeout):
                c.send(b"x" * (64 << 20))
            equal(c.receive()["error"], HARDWARE + "InvalidRequest", "64 MiB of garbage")
        still_serves(d)


@case
def clients_that_take_too_long():
    """An unfinished request, and a reader that does not read, for ten seconds; side by side."""
    with running(prepare=lambda m: m.pci(extra=3000)) as d, d.connect(timeout=30) as slow, \
            d.connect() as deaf, d.connect() as idle, d.connect() as steady, \
            d.connect() as subscriber:
        subscriber.ask(HARDWARE + "Subscribe", more=True)
        check(subscriber.receive()["continues"], "subscribed")
        slow.send(b'{"method":')
        for _ in range(10):
            deaf.ask(HARDWARE + "GetInventory")
            steady.ask(HARDWARE + "GetInventory")
        # One that reads, if only a little at a time, is left in peace.
        end = time.monotonic() + 13
        while time.monotonic() < end:
            steady.data += steady.socket.recv(4096)
            still_serves(d)
            time.sleep(0.3)
        answer = slow.receive()
        equal(answer["error"], HARDWARE + "InvalidRequest")
        check("10 s" in answer["parameters"]["reason"], answer)
        check(slow.is_closed(), "the slow one is left open")
        got = 0
        with contextlib.suppress(ConnectionResetError):
            while True:
                data = deaf.socket.recv(1 << 20)
                if not data:
                    break
                got += len(data)
        check(got < 1 << 20, f"{got} bytes were held for one that does not read")
        for _ in range(10):
            equal(steady.receive()["parameters"]["generation"], 1)
        # Those that only wait are not late.
        equal(idle.call(HARDWARE + "Check")["parameters"]["code"], 0)
        check(not select.select([subscriber.socket], [], [], 0)[0], "the subscriber was disturbed")


@case
def three_hundred_connections():
    with running() as d, contextlib.ExitStack() as stack:
        first = stack.enter_context(d.connect())
        equal(first.call(HARDWARE + "GetStatus")["parameters"]["generation"], 1)
        connections = [stack.enter_context(d.connect()) for _ in range(299)]
        answers = []
        for c in connections:
            with contextlib.suppress(BrokenPipeError):
                c.ask(HARDWARE + "GetStatus")
            answers.append(c.receive())
        served = sum("error" not in a for a in answers)
        equal(served, 63, "served beside the first")
        equal({a["error"] for a in answers if "error" in a}, {HARDWARE + "Busy"})
        check(connections[-1].is_closed(), "one too many is left open")
        equal(first.call(HARDWARE + "GetStatus")["parameters"]["generation"], 1)
        for c in connections:
            c.socket.close()
        eventually("room again", lambda: "error" not in d.call("GetStatus"))


@case
@alone
def idle_connections_make_room():
    """Users who keep connections lying about keep nobody out; who waits for news is no idler."""
    if os.geteuid() != 0:
        raise Skip("needs root, to be several users")
    with running() as d, contextlib.ExitStack() as stack:
        os.chmod(d.folder, 0o755)

        def connect(uid):
            os.seteuid(uid)
            try:
                return stack.enter_context(d.connect())
            finally:
                os.seteuid(0)

        subscriber = connect(60000)
        subscriber.ask(HARDWARE + "Subscribe", more=True)
        equal(subscriber.receive()["parameters"]["generation"], 1)
        oldest = connect(60001)
        oldest.call(HARDWARE + "Check")
        idle = [connect(60001 + i // 60) for i in range(238)]
        # Each has been taken up when the last one is answered.
        equal(idle[-1].call(HARDWARE + "Check")["parameters"]["code"], 0)
        check(not select.select([oldest.socket], [], [], 0)[0], "there was room")
        late = connect(60009)
        equal(late.call(HARDWARE + "Check")["parameters"]["code"], 0)
        check(oldest.is_closed(), "the longest idle one has to go")
        check(not select.select([subscriber.socket], [], [], 0)[0], "the subscriber was disturbed")
        equal(idle[-1].call(HARDWARE + "Check")["parameters"]["code"], 0)


@case
def few_descriptors():
    """The limit is raised as far as it may be; where that is little, it is said, and readings have
    what they need however many clients there are."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(os.path.join(folder, "machine"))
        for soft, hard, words in ((40, 1024, None), (80, 80, "only 16 clients")):
            limited = os.path.join(folder, f"limited-{hard}")
            with open(limited, "w", encoding="ascii") as file:
                file.write(f"#!/bin/sh\nulimit -Sn {soft}; ulimit -Hn {hard}\nexec {PNHWD} \"$@\"\n")
            os.chmod(limited, 0o755)
            with Daemon(folder, "--interval=0.2", machine=machine, program=limited) as d, \
                    contextlib.ExitStack() as stack:
                check(words in d.log() if words else "clients can be served" not in d.log(),
                      d.log())
                first = stack.enter_context(d.connect())

                def read_last():
                    sources = first.call(HARDWARE + "GetStatus")["parameters"]["sources"]
                    equal({s["state"] for s in sources}, {"fresh"}, sources)
                    return next(s["updated"] for s in sources if s["name"] == "pci")

                before = read_last()
                for _ in range(60):
                    stack.enter_context(d.connect())
                eventually("readings go on", lambda: read_last() > before)
                with open(d.log_path, "w", encoding="utf-8"):
                    pass  # the log goes with the folder; the next daemon begins anew


@case
def a_removed_socket_is_made_again():
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(os.path.join(folder, "machine"))
        place = os.path.join(folder, "place")
        os.mkdir(place)
        path = os.path.join(place, "s")
        with Daemon(folder, "--interval=3600", machine=machine, path=path) as d, \
                d.connect() as kept:
            os.unlink(path)
            eventually("the socket", lambda: os.path.exists(path))
            eventually("an answer", lambda: "error" not in d.call("GetStatus"))
            check("was gone; it is made again" in d.log(), d.log())
            os.rename(path, path + ".old")
            eventually("a moved one", lambda: os.path.exists(path))
            equal(oct(stat.S_IMODE(os.stat(path).st_mode)), oct(0o666))
            os.unlink(path + ".old")
            # What somebody else put there is left alone, and said once.
            with open(path + ".file", "w", encoding="ascii") as file:
                file.write("precious")
            os.rename(path + ".file", path)
            eventually("a complaint", lambda: "is not a socket" in d.log())
            with open(path, encoding="ascii") as file:
                equal(file.read(), "precious")
            os.unlink(path)
            eventually("a third one", lambda: os.path.exists(path))
            eventually("an answer", lambda: "error" not in d.call("GetStatus"))
            equal(d.log().count("is not a socket"), 1)
            equal(kept.call(HARDWARE + "GetStatus")["parameters"]["generation"], 1)
        check(not os.path.exists(path), "a clean stop removes it")


# The probe


@case
def a_missing_probe():
    with running(probe="/nonexistent/probe") as d:
        status = d.ok("GetStatus")
        equal({s["state"] for s in status["sources"]}, {"failed"})
        for s in status["sources"]:
            check("/nonexistent/probe" in s["reason"], s)
        equal(d.ok("Check")["code"], 3)
        equal(d.ok("GetInventory")["inventory"]["pci"], [])
        check("generation" in d.ok("Refresh"), "refresh")
        still_serves(d)


def each_failure():
    """Name, what `pci` does, words of the reason."""
    machine = '{"source":"pci","kind":"pci","object":{"address":"0000:00:1f.0"}}'
    yield "exits", "echo 'oh dear' >&2; exit 3", ["exit status 3", "oh dear"]
    yield "crashes", "kill -SEGV $$", ["crashed"]
    yield "says nothing", "exit 0", ["middle"]
    yield "half a line", f"printf '%s' '{machine[:30]}'", ["middle"]
    yield "no end", f"echo '{machine}'", ["middle"]
    yield "nonsense", "echo hello", ["nonsense"]
    yield "binary", "head -c 100000 /dev/urandom; echo", ["nonsense"]
    yield "not an object", "echo '[1]'", ["nonsense"]
    yield "another source's objects", \
        "echo '{\"source\":\"nvme\",\"kind\":\"nvme\",\"object\":{\"name\":\"nvme9\"}}'", ["nonsense"]
    yield "another source's kind", \
        "echo '{\"source\":\"pci\",\"kind\":\"nvme\",\"object\":{\"name\":\"nvme9\"}}'", ["nonsense"]
    yield "another source's end", \
        "echo '{\"end\":\"nvme\",\"count\":0,\"took_ms\":0,\"reason\":null}'", ["nonsense"]
    yield "a wrong type", \
        "echo '{\"source\":\"pci\",\"kind\":\"pci\",\"object\":{\"address\":7}}'", ["address"]
    yield "no key", "echo '{\"source\":\"pci\",\"kind\":\"pci\",\"object\":{}}'", ["address"]
    yield "a wrong count", \
        f"echo '{machine}'; echo '{{\"end\":\"pci\",\"count\":2,\"took_ms\":0,\"reason\":null}}'", \
        ["2", "1"]
    yield "a reason", \
        "echo '{\"end\":\"pci\",\"count\":0,\"took_ms\":0,\"reason\":\"no sysfs\"}'", ["no sysfs"]
    yield "a long line", "head -c 400000 /dev/zero | tr '\\0' x", ["line"]
    yield "100 MiB of it", f"yes '{machine}' | head -c 104857600", ["more than"]
    yield "100 MiB without a newline", "head -c 104857600 /dev/zero", ["line"]


@case
def a_probe_that_fails_at_once():
    for name, script, words in each_failure():
        with running("--probe-deadline=20",
                     prepare=lambda m, s=script: m.script("pci", s)) as d:
            pci = d.source("pci")
            check(pci["state"] in ("failed", "stale"), f"{name}: {pci}")
            for word in words:
                check(word in pci["reason"], f"{name}: {pci}")
            equal({d.source(n)["state"] for n in ("host", "nvme", "block")}, {"fresh"}, name)
            equal(len(d.ok("GetInventory", {"kinds": ["nvme"]})["inventory"]["nvme"]), 2, name)
            check(d.ok("Check")["code"] != 0, f"{name}: Check says that all is well")
            equal(d.log().count("cannot be read"), 1, name)


@case
def drives_that_answer_late_delay_no_snapshot():
    """The first one does not wait for health; the next has it."""
    start = time.monotonic()
    with running(prepare=lambda m: m.script("health", "sleep 5; cat $PNHW_FAKE/health")) as d:
        drive = d.ok("GetDevice", {"name": "nvme0"})["device"]["nvme"]
        check(time.monotonic() - start < 4.5, "it answers at once")
        equal(drive["unread"], [{"field": "health", "reason": "cannot_join"}])
        deadline = time.monotonic() + 10
        while drive["health"] is None and time.monotonic() < deadline:
            time.sleep(0.2)
            drive = d.ok("GetDevice", {"name": "nvme0"})["device"]["nvme"]
        equal(drive["health"]["temperature_c"], 40)
        equal(d.ok("GetStatus")["host"]["vitals"]["hottest_drive"]["temperature_c"], 40)
        sensors = d.ok("GetInventory", {"kinds": ["sensors"]})["inventory"]["sensors"]
        equal(sensors[0]["readings"][0]["value"], 45)


@case
def a_probe_that_fails_later():
    """What was known stays, is called stale, and is fresh again when it can be read again."""
    with running() as d:
        updated = d.source("pci")["updated"]
        d.machine.script("pci", "exit 1")
        d.rescan("pci")
        pci = d.source("pci")
        equal((pci["state"], pci["updated"]), ("stale", updated))
        equal(len(d.ok("GetInventory")["inventory"]["pci"]), 4)
        d.rescan("pci")
        equal(d.log().count("cannot be read"), 1, "it is said once")
        # Some lines and then nothing: they count, and so do the old ones.
        changed = d.machine.lines("pci", [("pci", {"address": "0000:01:00.0", "name": "new"}),
                                          ("pci", {"address": "0000:09:00.0"})], end=False)
        d.machine.write("pci", changed)
        d.rescan("pci")
        functions = {p["address"]: p for p in d.ok("GetInventory")["inventory"]["pci"]}
        equal((len(functions), functions["0000:01:00.0"]["name"]), (5, "new"))
        d.machine.pci()
        d.rescan("pci")
        equal(d.source("pci")["state"], "fresh")
        equal(d.source("pci")["reason"], None)
        equal(len(d.ok("GetInventory")["inventory"]["pci"]), 4)
        equal(d.log().count("can be read again"), 1)


@case
@alone
def a_probe_that_hangs():
    """It costs its own source until the deadline, and nobody else anything."""
    line = Machine.lines(None, "nvme", [("nvme", {"name": "nvme5", "serial": "X"})], end=False)
    with running("--probe-deadline=3", wait=False, prepare=lambda m: m.script(
            "nvme", f"trap '' TERM; echo '{line.strip()}'; while :; do sleep 100; done")) as d:
        start = time.monotonic()
        d.wait_ready()
        check(2.9 < time.monotonic() - start < 20, "ready at the deadline")
        nvme = d.source("nvme")
        equal(nvme["state"], "stale")
        check("3 s" in nvme["reason"], nvme)
        equal([n["name"] for n in d.ok("GetInventory")["inventory"]["nvme"]], ["nvme5"])
        equal(d.source("pci")["state"], "fresh")
        # While it hangs again, another source is shown all the same.
        time.sleep(2.1)
        d.machine.pci(width=1)
        with d.connect() as waiting:
            waiting.ask(HARDWARE + "Refresh", {"sources": ["nvme", "pci"]})
            eventually("pci is shown", lambda: d.ok("GetStatus")["generation"] > 1, 2.9)
            check(waiting.receive()["parameters"]["generation"] > 2, "refresh waited for both")


@case
def nothing_is_left_behind():
    """At the deadline the probe's children go as well."""
    with running("--probe-deadline=3", prepare=lambda m: m.script(
            "nvme", "sleep 1234 & echo $! >$PNHW_FAKE/child; wait")) as d:
        with open(os.path.join(d.machine.folder, "child"), encoding="ascii") as file:
            child = int(file.read())

        def gone():
            try:
                with open(f"/proc/{child}/stat", encoding="ascii") as file:
                    return file.read().rsplit(")", 1)[1].split()[0] == "Z"
            except FileNotFoundError:
                return True
        eventually("the probe's child is gone", gone)


class ProbeSocket:
    """What systemd is in an installed pnhwd's eyes: a socket behind which each connection gets a
    probe of its own. `act`, if set, is called with a connection and what it asked for instead."""

    def __init__(self, folder, machine):
        os.makedirs(folder, exist_ok=True)
        self.folder, self.machine, self.requests, self.act = folder, machine, [], None
        self.path = os.path.join(folder, "admin.sock")
        os.symlink("admin.sock", os.path.join(folder, "net.sock"))
        self.listener = None
        self.listen()

    def listen(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        threading.Thread(target=self.accept, args=[self.listener], daemon=True).start()

    def close(self):
        """Stops listening, and leaves the file behind."""
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def accept(self, listener):
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.answer, args=[connection], daemon=True).start()

    def answer(self, connection):
        with connection:
            if self.act == "reset":  # with the request unread
                select.select([connection], [], [])
                return
            request = b""
            while more := connection.recv(100):
                request += more
            self.requests.append(request)
            if callable(self.act):
                self.act(connection, request)
                return
            subprocess.run([FAKE_PROBE, "--lines", request.decode().strip()], check=False,
                           env=dict(os.environ, PNHW_FAKE=self.machine.folder),
                           stdin=connection, stdout=connection, stderr=subprocess.DEVNULL)


@contextlib.contextmanager
def behind_a_socket(*options, prepare=None):
    with tempfile.TemporaryDirectory(prefix="pnhwd-") as folder:
        machine = Machine(os.path.join(folder, "machine"))
        with ProbeSocket(os.path.join(folder, "probe"), machine) as sockets:
            if prepare:
                prepare(sockets)
            with Daemon(folder, f"--probe-sockets={sockets.folder}", *options,
                        machine=machine) as d:
                yield d, sockets


@case
def sockets_answer_for_what_needs_privileges():
    with behind_a_socket() as (d, sockets):
        equal({d.source(n)["state"] for n in ("host", "pci", "nvme", "block")}, {"fresh"})
        # One line and the end of input, which is all that a privileged probe reads.
        equal(sorted(sockets.requests),
              [b"health\n", b"host\n", b"module\n", b"net\n", b"nvme\n", b"pci\n"])
        equal(sorted(d.machine.starts()), sorted(SOURCES))
        with open(os.path.join(d.machine.folder, "starts"), encoding="ascii") as file:
            block = next(line.split()[1] for line in file if line.startswith("block"))
        check(int(block) > 0, "block is a child of the daemon")
        equal(len(d.ok("GetInventory")["inventory"]["pci"]), 4)
        d.machine.pci(width=1)
        d.rescan("pci")
        equal(d.ok("GetStatus")["ratings"][1]["verdict"], "degraded")
        equal(sockets.requests.count(b"pci\n"), 2)


@case
def without_sockets_the_probe_is_started():
    with tempfile.TemporaryDirectory() as empty, running(f"--probe-sockets={empty}") as d:
        equal({d.source(n)["state"] for n in ("host", "pci", "nvme", "block")}, {"fresh"})
    with running("--probe-sockets=/nonexistent") as d:
        equal(sorted(d.machine.starts()), sorted(SOURCES))


@case
def a_probe_behind_a_socket_that_fails():
    for name, script, words in each_failure():
        if name in ("exits", "crashes", "says nothing"):
            words = ["closed without an answer", "admin.sock"]
        with behind_a_socket("--probe-deadline=20",
                             prepare=lambda p, s=script: p.machine.script("pci", s)) as (d, _):
            pci = d.source("pci")
            check(pci["state"] in ("failed", "stale"), f"{name}: {pci}")
            for word in words:
                check(word in pci["reason"], f"{name}: {pci}")
            equal({d.source(n)["state"] for n in ("host", "nvme", "block")}, {"fresh"}, name)
            check(d.ok("Check")["code"] != 0, f"{name}: Check says that all is well")
            equal(d.log().count("cannot be read"), 1, name)


@case
def a_socket_behind_which_nobody_is():
    """Refused, then reset, then silent: what was known stays, with the reason; then it is back."""
    with behind_a_socket("--probe-deadline=3") as (d, sockets):
        sockets.close()
        d.rescan("pci")
        pci = d.source("pci")
        equal(pci["state"], "stale")
        check("admin.sock" in pci["reason"] and "refused" in pci["reason"], pci)
        equal(len(d.ok("GetInventory")["inventory"]["pci"]), 4)
        equal(d.machine.starts().count("pci"), 1, "no other probe is tried")
        sockets.listen()
        sockets.act = "reset"
        d.rescan("pci")
        check("reset" in d.source("pci")["reason"], d.source("pci"))
        done = threading.Event()
        sockets.act = lambda connection, request: done.wait(20)
        start = time.monotonic()
        d.rescan("pci")
        check(time.monotonic() - start < 20, "the deadline")
        check("3 s" in d.source("pci")["reason"], d.source("pci"))
        done.set()
        # Half of it, and the connection closed in the middle of a line.
        line = d.machine.lines("pci", d.machine.functions()).encode()
        sockets.act = lambda connection, request: connection.sendall(line[:-60])
        d.rescan("pci")
        check("middle" in d.source("pci")["reason"], d.source("pci"))
        equal(len(d.ok("GetInventory")["inventory"]["pci"]), 4)
        sockets.act = None
        d.rescan("pci")
        equal(d.source("pci")["state"], "fresh")
        equal(d.log().count("cannot be read"), 1)


@case
def a_connection_is_closed_when_it_is_over():
    """A probe that goes on after its end, or beyond the deadline, finds nobody who reads."""
    closed = []

    def act(connection, request):
        source = request.decode().strip()
        with open(os.path.join(sockets.machine.folder, source), "rb") as file:
            connection.sendall(file.read() if source != "nvme" else b"")
        try:
            connection.settimeout(10)
            while True:
                connection.sendall(b"x")
                time.sleep(0.05)
        except OSError:
            closed.append(source)

    with tempfile.TemporaryDirectory(prefix="pnhwd-") as folder:
        machine = Machine(os.path.join(folder, "machine"))
        with ProbeSocket(os.path.join(folder, "probe"), machine) as sockets:
            sockets.act = act
            with Daemon(folder, f"--probe-sockets={sockets.folder}", "--probe-deadline=3",
                        machine=machine) as d:
                equal(d.source("pci")["state"], "fresh")
                check("3 s" in d.source("nvme")["reason"], d.source("nvme"))
                eventually("all are closed", lambda: len(closed) == 6)


@case
@alone
def stop_with_a_hung_probe():
    for number in signal.SIGTERM, signal.SIGINT:
        with running(wait=False, prepare=lambda m: m.script(
                "nvme", "trap '' TERM INT; while :; do sleep 100; done")) as d:
            eventually("started", lambda: "nvme" in d.machine.starts())
            time.sleep(0.2)
            start = time.monotonic()
            d.process.send_signal(number)
            equal(d.process.wait(30), 0)
            check(time.monotonic() - start < 1, f"{time.monotonic() - start:.1f} s")
            check(not os.path.exists(d.path), "the socket stays behind")


@case
def an_empty_machine():
    def prepare(machine):
        for source in SOURCES:
            machine.write(source, machine.lines(source, []))
    with running(prepare=prepare) as d:
        status = d.ok("GetStatus")
        equal({s["state"] for s in status["sources"]}, {"fresh"})
        equal((status["ratings"], status["findings"]), ([], []))
        equal(d.ok("Check")["code"], 0)


@case
def drives_come_and_go():
    with running() as d:
        def drives():
            found = d.ok("GetInventory", {"kinds": ["nvme"]})["inventory"]["nvme"]
            return sorted((n["name"], n["serial"], n["lost"]) for n in found)

        d.machine.nvme(["S0", None])
        d.rescan("nvme")
        equal(drives(), [("nvme0", "S0", False), ("nvme1", "S1", True)])
        lost = next(n for n in d.ok("GetInventory")["inventory"]["nvme"] if n["lost"])
        equal((lost["state"], lost["namespaces"], lost["model"]), (None, [], "DISK"))
        d.machine.nvme(["S0", "S1"])
        d.rescan("nvme")
        equal(drives(), [("nvme0", "S0", False), ("nvme1", "S1", False)])
        # Replaced under the same name: one is lost, another is new.
        d.machine.nvme(["S0", "S2"])
        d.rescan("nvme")
        equal(drives(), [("nvme0", "S0", False), ("nvme1", "S1", True), ("nvme1", "S2", False)])
        equal(d.ok("GetDevice", {"name": "nvme1"})["device"]["nvme"]["serial"], "S2")
        # Back, under another name.
        d.machine.nvme(["S0", "S2", "S1"])
        d.rescan("nvme")
        equal(drives(), [("nvme0", "S0", False), ("nvme1", "S2", False), ("nvme2", "S1", False)])
        # A disk or a function that is gone is simply gone.
        d.machine.write("block", d.machine.lines("block", []))
        d.rescan("block")
        equal(d.ok("GetInventory")["inventory"]["disks"], [])


@case
def scans_repeat():
    with running("--interval=1") as d:
        eventually("a third reading", lambda: d.ok("GetStatus")["generation"] >= 3, 8)
        starts = d.machine.starts()
        equal(starts.count("host"), 1, "host is read once an hour")
        check(starts.count("pci") >= 3, starts)


@case
def ports_and_modules():
    """A module is joined to its port, and read at an interval of its own, whoever asks."""
    def module(d):
        nics = d.ok("GetInventory", {"kinds": ["nics"]})["inventory"]["nics"]
        return [(nic["name"], (nic["module"] or {}).get("serial")) for nic in nics]

    with running("--interval=1") as d:
        equal(module(d), [("eno1", "M1")])
        equal(d.ok("GetInventory")["inventory"]["port_modules"], [])
        device = d.ok("GetDevice", {"name": "eno1"})["device"]
        equal((device["kind"], device["port"]["verdict"], device["nic"]["module"]["serial"]),
              ("nic", "full", "M1"))
        eventually("a third reading", lambda: d.machine.starts().count("net") >= 3, 8)
        d.rescan("module")
        equal(d.machine.starts().count("module"), 1, "modules are read every five minutes")
        # A port that is renamed has, until then, a module that cannot be told.
        d.machine.write("net", d.machine.lines("net", [("nic", {
            "id": "eno2", "name": "eno2", "kind": "physical"})]))
        eventually("the new name", lambda: module(d) == [("eno2", None)], 5)


@case
@alone
def refresh_has_a_minimum_interval():
    with running() as d:
        start = time.monotonic()
        generations = [d.ok("Refresh")["generation"] for _ in range(5)]
        check(time.monotonic() - start < 1.9, "it answers at once")
        check(d.machine.starts().count("pci") == 1, d.machine.starts())
        equal(set(generations), {1})
        equal(d.rescan("pci"), 2)
        equal(d.machine.starts().count("pci"), 2)
        equal(d.machine.starts().count("nvme"), 1)
        equal(d.rescan(), 3)
        # A module's memory is on a slow bus, and is read once a minute at most.
        equal({s: d.machine.starts().count(s) for s in SOURCES},
              {s: 3 if s == "pci" else 1 if s == "module" else 2 for s in SOURCES})


@case
def requests_in_line_behind_a_refresh():
    with running(prepare=lambda m: None) as d, d.connect() as c:
        time.sleep(2.05)
        d.machine.script("pci", "sleep 0.5; cat $PNHW_FAKE/pci")
        c.ask(HARDWARE + "Refresh", {"sources": ["pci"]})
        c.ask(HARDWARE + "GetDevice", {"name": "nvme0"})
        equal(c.receive()["parameters"], {"generation": 2})
        equal(c.receive()["parameters"]["device"]["name"], "nvme0")


# Subscribers


@case
def subscribers_hear_of_changes():
    with running() as d, d.connect() as c:
        c.ask(HARDWARE + "Subscribe", more=True)
        first = c.receive()
        check(first["continues"], first)
        equal(sorted(first["parameters"]), ["changed", "generation", "status"])
        equal((first["parameters"]["changed"], first["parameters"]["generation"]), ([], 1))
        equal(first["parameters"]["status"], d.ok("GetStatus"))
        # A reading that changes nothing is no news.
        d.rescan()
        check(not select.select([c.socket], [], [], 0.3)[0], "told of nothing")
        d.machine.pci(width=1)
        generation = d.rescan("pci")
        second = c.receive()
        equal(second["parameters"]["generation"], generation)
        check(any(f["code"] == "pcie.degraded" for f in second["parameters"]["changed"]), second)
        equal(second["parameters"]["status"]["generation"], generation)
        d.machine.pci()
        d.rescan("pci")
        third = c.receive()
        check({f["state"] for f in third["parameters"]["changed"]} >= {"cleared"}, third)


def crowd(machine, width, letters=300):
    """250 drives whose links run with `width` lanes of 4: an event is larger than what the kernel
    takes at once."""
    found = []
    for n in range(250):
        port, device = f"0000:00:{n >> 3 & 31:02x}.{n & 7}", f"0000:{1 + n:02x}:00.0"
        link = {"max_speed": 16, "max_width": 4, "current_speed": 16, "current_width": width}
        found.append(("pci", {"address": port, "kind": "root_port", "class": "0x060400",
                              "link": link}))
        found.append(("pci", {"address": device, "kind": "endpoint", "parent": port,
                              "class": "0x010802", "name": "x" * letters, "link": link}))
    machine.write("pci", machine.lines("pci", found))


@case
def a_slow_subscriber_gets_the_newest():
    """Big statuses that it does not read: it gets the oldest, and then only the newest."""
    with running(prepare=lambda m: crowd(m, 4)) as d, d.connect() as c:
        c.ask(HARDWARE + "Subscribe", more=True)
        last = 1
        for width in 1, 2, 1, 2:
            crowd(d.machine, width)
            last = d.rescan("pci")
        got = [c.receive()["parameters"]]
        while got[-1]["generation"] < last:
            got.append(c.receive()["parameters"])
        equal(got[0]["generation"], 1)
        check(len(got) < 5, f"{len(got)} events for one that does not read")
        equal(got[-1]["generation"], last)
        check(not select.select([c.socket], [], [], 0.3)[0], "and then something older")


@case
@alone
def a_subscriber_that_reads_while_news_comes():
    """The rest of an event goes out while the next is made: the next must not be forgotten."""
    if os.geteuid() != 0:
        raise Skip("news without end needs Accept, and that root")
    with running(prepare=lambda m: crowd(m, 1, 1200)) as d, d.connect() as c, d.connect() as root:
        finding = d.ok("GetStatus")["findings"][0]["id"]
        c.ask(HARDWARE + "Subscribe", more=True)
        c.receive()
        for n in range(40):
            for reason in f"{n}, first", f"{n}, last":
                answer = root.call(HARDWARE + "Accept", {"id": finding, "reason": reason})
                check("error" not in answer, answer)
                root.call(HARDWARE + "GetStatus")
            told = None
            while told != f"{n}, last":
                status = c.receive()["parameters"]["status"]
                told = next(f["reason"] for f in status["findings"] if f["id"] == finding)


# Start and stop


@case
def ready_only_with_a_snapshot():
    with running("--probe-deadline=10", wait=False, prepare=lambda m: m.script(
            "pci", "sleep 1.5; cat $PNHW_FAKE/pci")) as d:
        eventually("the socket", lambda: os.path.exists(d.path))
        with d.connect() as early, d.connect() as info:
            early.ask(HARDWARE + "GetStatus")
            # What needs no snapshot is answered.
            check("parameters" in info.call(SERVICE + "GetInfo"), "GetInfo")
            equal(info.call(HARDWARE + "Nothing")["error"], SERVICE + "MethodNotFound")
            check("READY=1" not in d.messages(), "ready too early")
            check(not select.select([early.socket], [], [], 0.3)[0], "answered too early")
            answer = early.receive()
            equal(answer["parameters"]["sources"][1]["state"], "fresh")
            d.wait_ready()
        check(any(m.startswith("STATUS=") for m in d.messages()), d.messages())
        d.process.send_signal(signal.SIGTERM)
        d.process.wait(30)
        check("STOPPING=1" in d.messages(), d.messages())


@case
@alone
def held_requests_are_not_held_for_ever():
    with running("--probe-deadline=9", wait=False, prepare=lambda m: m.script(
            "pci", "exec sleep 100")) as d:
        eventually("the socket", lambda: os.path.exists(d.path))
        with d.connect(timeout=30) as c:
            start = time.monotonic()
            answer = c.call(HARDWARE + "GetStatus")
            equal((answer["error"], answer["parameters"]), (HARDWARE + "NotReady", {}))
            check(4.5 < time.monotonic() - start < 8, f"{time.monotonic() - start:.1f} s")
            equal(c.call(HARDWARE + "GetStatus")["parameters"]["generation"], 1)


@case
def watchdog():
    with running(environment={"WATCHDOG_USEC": "1000000"}) as d:
        d.messages()
        d.told.clear()
        time.sleep(2.2)
        n = d.messages().count("WATCHDOG=1")
        check(2 <= n <= 6, f"{n} signs of life in 2.2 s")


@case
def a_second_daemon():
    with running() as d, tempfile.TemporaryDirectory() as other:
        with Daemon(other, machine=d.machine, path=d.path, wait=False) as second:
            equal(second.process.wait(30), 1)
            check("already running" in second.log(), second.log())
            second.process.returncode = 0
        still_serves(d)


@case
def a_stale_socket():
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(os.path.join(folder, "machine"))
        path = os.path.join(folder, "s")
        stale = socket.socket(socket.AF_UNIX)
        stale.bind(path)
        stale.close()
        with Daemon(folder, machine=machine) as d:
            still_serves(d)
            d.process.kill()
            d.process.wait()
            check(os.path.exists(path), "nobody was left to remove it")
            d.process.returncode = 0
        with Daemon(folder, machine=machine) as d:
            still_serves(d)
        check(not os.path.exists(path), "a clean stop removes it")


@case
def what_is_no_socket_stays():
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(os.path.join(folder, "machine"))
        path = os.path.join(folder, "s")

        def refused(word):
            with Daemon(folder, machine=machine, wait=False) as d:
                equal(d.process.wait(30), 1)
                check(word in d.log(), d.log())
                d.process.returncode = 0

        with open(path, "w", encoding="ascii") as file:
            file.write("precious")
        refused("not a socket")
        with open(path, encoding="ascii") as file:
            equal(file.read(), "precious")
        os.unlink(path)
        os.symlink("/nonexistent", path)
        refused("not a socket")
        check(os.path.islink(path), "a link was removed")
        os.unlink(path)
        live = socket.socket(socket.AF_UNIX)
        live.bind(path)
        live.listen()
        refused("another program")
        check(os.path.exists(path), "a live socket was removed")
        live.close()


@case
def the_folder_of_the_socket():
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(os.path.join(folder, "machine"))
        if os.geteuid() == 0:
            with Daemon(folder, machine=machine, path=os.path.join(folder, "new", "s")) as d:
                still_serves(d)
        with Daemon(folder, machine=machine, path=os.path.join(folder, "a", "b", "s"),
                    wait=False) as d:
            equal(d.process.wait(30), 1)
            check("--socket=PATH" in d.log(), d.log())
            d.process.returncode = 0
        with Daemon(folder, machine=machine, path=os.path.join(folder, "x" * 120),
                    wait=False) as d:
            equal(d.process.wait(30), 1)
            check("107" in d.log(), d.log())
            d.process.returncode = 0


@case
@alone
def everybody_may_connect():
    old = os.umask(0o077)
    try:
        with running() as d:
            equal(oct(stat.S_IMODE(os.stat(d.path).st_mode)), oct(0o666))
    finally:
        os.umask(old)


@case
def runtime_directory():
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(os.path.join(folder, "machine"))
        env = dict(os.environ, RUNTIME_DIRECTORY=folder + ":/nonexistent",
                   PNHW_FAKE=machine.folder)
        process = subprocess.Popen([PNHWD, f"--probe={FAKE_PROBE}"], env=env,
                                   stderr=subprocess.DEVNULL)
        try:
            eventually("the socket", lambda: os.path.exists(os.path.join(folder, "pnhwd.sock")))
        finally:
            process.terminate()
            equal(process.wait(30), 0)


@case
def socket_activation():
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(os.path.join(folder, "machine"))
        path = os.path.join(folder, "s")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()
        with Connection(path) as waiting:
            waiting.ask(HARDWARE + "GetStatus")
            with Daemon(folder, machine=machine, activate=listener) as d:
                equal(waiting.receive()["parameters"]["generation"], 1)
                still_serves(d)
        check(os.path.exists(path), "it removed a socket that is not its own")
        check(not os.path.exists(path + ".lock"), "it locked a socket that is not its own")
        listener.close()


@case
def options():
    def run(*arguments):
        done = subprocess.run([PNHWD, *arguments], capture_output=True, text=True, timeout=30,
                              check=False)
        return done.returncode, done.stdout, done.stderr

    code, out, err = run("--help")
    equal((code, err), (0, ""))
    for word in "--socket", "--probe", "--probe-sockets", "--interval", "--probe-deadline":
        check(word in out, out)
    for word in "--help", "--version":
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([PNHWD, word], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=30, check=False)
        equal(done.returncode, 1, word)
        check("cannot write" in done.stderr, done.stderr)
    code, out, _ = run("--version")
    equal(code, 0)
    check(out.startswith("pnhwd "), out)
    for bad in ["--sockets"], ["-x"], ["status"], ["--interval=0"], ["--interval=x"], \
            ["--interval=1e9"], ["--interval=nan"], ["--probe-deadline=-1"], ["--socket"]:
        code, out, err = run(*bad)
        equal((code, out), (2, ""), bad)
        check("--socket=PATH" in err, err)


# Size and quiet


@case
@alone
def an_idle_daemon_sleeps():
    with running() as d, d.connect() as c, d.connect() as subscriber:
        c.call(HARDWARE + "GetInventory")
        subscriber.ask(HARDWARE + "Subscribe", more=True)
        subscriber.receive()
        time.sleep(2.5)  # the coarse timer, if it ran at all, is over
        before = d.status_of_process("voluntary_ctxt_switches")
        time.sleep(5)
        equal(d.status_of_process("voluntary_ctxt_switches") - before, 0, "wake-ups in 5 s")


@case
@alone
def it_is_small():
    with open(PNHWD, "rb") as file:
        if b"__asan_init" in file.read():
            raise Skip("built with a sanitizer")

    def prepare(machine):
        machine.write("pci", machine.lines("pci", machine.functions(extra=60)))
    with running(prepare=prepare) as d:
        for _ in range(20):
            d.ok("GetStatus")
            d.ok("GetInventory")
            d.ok("GetDevice", {"name": "nvme0"})
        d.rescan()
        rss = d.status_of_process("VmRSS")
        check(rss <= 6 * 1024, f"{rss} KiB resident")
        with contextlib.ExitStack() as stack:
            for _ in range(60):
                stack.enter_context(d.connect()).call(HARDWARE + "GetStatus")
            more = d.status_of_process("VmRSS")
        check(more - rss <= 512, f"60 connections cost {more - rss} KiB")


@case
@alone
def it_does_not_grow():
    with open(PNHWD, "rb") as file:
        if b"__asan_init" in file.read():
            raise Skip("built with a sanitizer")
    with running("--interval=0.05", prepare=lambda m: m.pci(extra=200)) as d:
        def rest():
            with d.connect() as c:
                for n in range(300):
                    c.call(HARDWARE + "GetStatus")
                    c.call(HARDWARE + "GetInventory", {"kinds": [["pci"], ["nvme"], []][n % 3]})
                    c.call(HARDWARE + "GetDevice", {"name": "nvme0"})
            return d.status_of_process("VmRSS")
        rest()
        before = rest()
        generation = d.ok("GetStatus")["generation"]
        after = max(rest() for _ in range(3))
        check(d.ok("GetStatus")["generation"] > generation, "nothing was read meanwhile")
        check(after - before < 600, f"from {before} to {after} KiB")


def main():
    os.umask(0o022)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    # Each waits most of the time.
    return run_cases(CASES, sys.argv[2:], at_once=4)


if __name__ == "__main__":
    if shutil.which(PNHWD) is None:
        print(f"not ok - pnhwd: {PNHWD} is missing")
        sys.exit(1)
    sys.exit(main())
