#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_react.py BUILD_DIR [WORD...]: what pnhwctl does about findings: accept, check, watch. Against
the real daemon with a probe that does as it is told; and, where each answer counts, against one that
says what the test says. Prints one line a case; with words only those that have one in their name."""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(sys.argv[1])
# Only root may accept; a user name space of one's own has a root as well.
if os.geteuid() != 0 and "PNHW_TEST_INSIDE" not in os.environ and \
        shutil.which("unshare") and subprocess.run(["unshare", "-Ur", "true"], check=False,
                                                   capture_output=True).returncode == 0:
    os.environ["PNHW_TEST_INSIDE"] = "1"
    os.execvp("unshare", ["unshare", "-Ur", sys.executable, *sys.argv])
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "daemon"))
from test_daemon import Daemon, Machine, eventually  # noqa: E402
from cases import Skip, check, equal, has, has_not, run_cases  # noqa: E402

CTL = os.path.join(BUILD, "cli", "pnhwctl")
CUSTOMER = os.path.join(HERE, "first-customer.json")
SECONDS = 60  # for what should happen at once, on a machine that has a lot to do
CASES = []


def case(function):
    CASES.append(function)
    return function


def environment(**extra):
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "TMPDIR") or
            k.startswith(("ASAN_", "UBSAN_", "LSAN_", "LD_"))}
    ours = {"LANG": "C.UTF-8", "TZ": "UTC", "PNHW_SOCKET": "/nonexistent/socket"}
    return {**keep, **ours, **extra}


class Result:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr


def run(*arguments, prefix=(), **env):
    return Result(subprocess.run([*prefix, CTL, *arguments], stdin=subprocess.DEVNULL, text=True,
                                 capture_output=True, check=False, timeout=SECONDS,
                                 env=environment(**env)))


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory(prefix="pnhw-react-") as path:
        os.chmod(path, 0o755)
        yield path


@contextlib.contextmanager
def degraded():
    """A daemon, and a finding about nvme1."""
    with folder() as path:
        machine = Machine(os.path.join(path, "machine"))
        machine.pci(width=1)
        os.mkdir(os.path.join(path, "state"))
        with Daemon(path, "--interval=3600", machine=machine,
                    environment={"STATE_DIRECTORY": os.path.join(path, "state")}) as daemon:
            yield daemon


def ctl(daemon, *arguments, **options):
    return run("--socket=" + daemon.path, *arguments, **options)


# ---- accept ----


def findings(daemon):
    return json.loads(ctl(daemon, "findings", "-j").out)


def needs_root():
    if os.geteuid() != 0:
        raise Skip("needs root, or user name spaces")


def accepted(daemon, wanted):
    eventually(f"accepted is {wanted}", lambda: findings(daemon)[0]["accepted"] == wanted, SECONDS)


@case
def accept_and_take_it_back():
    needs_root()
    with degraded() as d:
        finding = findings(d)[0]["id"]
        r = ctl(d, "accept", finding, "--reason=No other slot", "--until=2099-12-31")
        equal((r.code, r.err), (0, ""))
        has(r.out, "Accepted: nvme1 uses 1 of 4 lanes", "from 2099-12-31 00:00:00 on",
            f"pnhwctl unaccept {finding}")
        accepted(d, True)
        equal(findings(d)[0]["until"], "2099-12-31T00:00:00Z")
        r = ctl(d, "findings")
        has(r.out, "Nothing was found to be wrong but what is accepted.",
            "Not shown: 1 accepted finding (--all)")
        has_not(r.out, finding)
        r = ctl(d, "findings", "--all")
        has(r.out, "warning, accepted", f"{finding} until 2099-12-31 00:00:00: No other slot")
        has(ctl(d).out, "1 accepted finding")
        equal(ctl(d, "check").code, 0)
        # Some of the id is enough, as long as it is no slip.
        r = ctl(d, "unaccept", finding[:4])
        equal((r.code, r.err), (0, ""))
        has(r.out, "Counts again: nvme1 uses 1 of 4 lanes")
        accepted(d, False)
        equal(ctl(d, "check").code, 1)
        r = ctl(d, "accept", finding[:7], "-j")
        equal(json.loads(r.out), {"id": finding, "accepted": True, "until": None, "reason": None})
        if os.path.exists(os.path.join(BUILD, "po", "de", "LC_MESSAGES", "pnhw.mo")):
            r = ctl(d, "accept", finding, LANG="de_DE.UTF-8")
            has(r.out, "Hingenommen: nvme1 nutzt 1 von 4 Lanes", "Er zählt wieder, wenn")
        has(ctl(d, "accept", finding).out, "It counts again when it gets worse, and with")
        accepted(d, True)
        has(ctl(d, "findings", "--all").out, f"{finding} for good: no reason was given")


@case
def dates_are_where_the_reader_is():
    needs_root()
    with degraded() as d:
        finding = findings(d)[0]["id"]
        for given, zone, until in (("2099-06-30", "Europe/Berlin", "2099-06-29T22:00:00Z"),
                                   ("2099-06-30 18:30", "UTC", "2099-06-30T18:30:00Z"),
                                   ("2099-06-30 18:30:59", "UTC", "2099-06-30T18:30:59Z"),
                                   ("2099-06-30T18:30:59+02:00", "UTC", "2099-06-30T16:30:59Z")):
            if zone != "UTC" and not os.path.exists("/usr/share/zoneinfo/" + zone):
                continue
            r = ctl(d, "accept", finding, "--until=" + given, "-j", TZ=zone)
            equal(json.loads(r.out)["until"], until, given)
        for given, seconds in (("+12h", 12 * 3600), ("+30d", 30 * 86400), ("+2w", 14 * 86400)):
            r = ctl(d, "accept", finding, "--until=" + given, "-j")
            until = time.mktime(time.strptime(json.loads(r.out)["until"], "%Y-%m-%dT%H:%M:%SZ"))
            check(abs(until - time.timezone - time.time() - seconds) < SECONDS, r.out)


@case
def accept_says_what_is_wrong():
    with degraded() as d:
        finding = findings(d)[0]["id"]

        def fails(*arguments):
            r = ctl(d, *arguments)
            equal((r.code, r.out), (1, ""), " ".join(arguments))
            return r.err

        has(fails("accept"), "accept needs an ID")
        for wrong in "zzzz", "":
            has(fails("accept", wrong), "there is no finding", "nvme1  pcie.degraded")
        has(fails("accept", finding[:3]), "at least four digits are needed", "nvme1  pcie.degraded")
        has(fails("accept", "nvme1"), "nvme1 is a device", f"{finding}  nvme1  pcie.degraded")
        has(fails("accept", "03:00.0"), "03:00.0 is a device", finding)
        for date, why in (("2020-01-01", "over already"), ("2099-02-31", "not a date"),
                          ("soon", "not a date"), ("", "not a date"), ("+3", "not a date"),
                          ("+999999w", "too far away"), ("2099-01-01x", "not a date")):
            has(fails("accept", finding, "--until=" + date), f"--until={date}: ", why)
        has(fails("accept", finding, "--from=" + CUSTOMER), "it is the daemon that remembers")
        has(fails("findings", "--reason=x"), "--reason goes with the verb accept, not with findings")
        if os.geteuid() == 0:
            has(fails("accept", "0123456789ab"), "there is no finding 0123456789ab now")
            has(fails("unaccept", finding), f"{finding} is not accepted: it counts already")
            has(fails("unaccept", "0123456789ab"), "is not accepted, and no finding has this id")
            has(fails("accept", finding, "--reason=" + "x" * 1025), "1024 bytes are the most")
            error = json.loads(ctl(d, "accept", "zzzz", "-j").out)
            equal(error["error"], "NoSuchFinding")


@case
def two_findings_that_begin_alike():
    with folder() as path, Server(path) as server:
        server.says(a_status(a_finding("abcd00000001"), a_finding("abcd00000002", accepted=True)))
        r = run("accept", "abcd", PNHW_SOCKET=server.path)
        equal(r.code, 1)
        has(r.err, "2 findings begin with abcd", "abcd00000001  nvme3  nvme.hot\n",
            "abcd00000002  nvme3  nvme.hot  accepted\n")
        equal(server.asked("Accept"), [])


@case
def only_root_accepts():
    if os.geteuid() != 0 or "PNHW_TEST_INSIDE" in os.environ or not shutil.which("setpriv"):
        raise Skip("needs root and setpriv")
    with degraded() as d:
        os.chmod(d.path, 0o666)
        shutil.copy(CTL, d.folder + "/pnhwctl")
        os.chmod(d.folder + "/pnhwctl", 0o755)
        finding = findings(d)[0]["id"]
        for verb in "accept", "unaccept":
            r = Result(subprocess.run(
                ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                 d.folder + "/pnhwctl", "--socket=" + d.path, verb, finding[:6]], text=True,
                capture_output=True, check=False, env=environment()))
            equal((r.code, r.out), (1, ""))
            has(r.err, f"only root may do this: sudo pnhwctl {verb} {finding}")


# ---- check ----


@case
def check_as_plugins_do():
    with degraded() as d:
        for arguments, code, line in (
                ((), 1, r"PNHW WARNING - nvme1 uses 1 of 4 lanes.*"),
                (("nvme1",), 1, r"PNHW WARNING - nvme1 uses 1 of 4 lanes.*"),
                (("nvme0",), 0, r"PNHW OK - .*"),
                (("nvme1", "--at-least=critical"), 0, r"PNHW OK - .*"),
                (("nvme1", "--at-least", "info"), 1, r"PNHW WARNING - .*")):
            r = ctl(d, "check", *arguments)
            equal((r.code, r.err), (code, ""), str(arguments))
            check(re.fullmatch(line + r" \| critical=\d+ warning=\d+ notice=\d+\n", r.out), r.out)
        verdict = json.loads(ctl(d, "check", "-j").out)
        equal((verdict["status"], verdict["code"]), ("WARNING", 1))


@case
def check_as_checkmk_wants_it():
    with degraded() as d:
        for arguments, start in (((), '1 "Hardware" critical=0|warning=1|notice=0 nvme1 uses 1'),
                                 (("nvme0",), '0 "Hardware nvme0" critical=0|warning=0|notice=0 n')):
            r = ctl(d, "check", "--checkmk", *arguments)
            equal((r.code, r.err, r.out.count("\n")), (0, "", 1))
            check(r.out.startswith(start), r.out)
    # The service is the same one when nothing is known.
    r = run("check", "nvme0", "--checkmk")
    equal((r.code, r.err), (0, ""))
    check(r.out.startswith('3 "Hardware nvme0" - pnhwd is not running'), r.out)


@case
def a_check_that_cannot_be_made_is_unknown():
    for arguments in (("check",), ("check", "--at-least=bad"), ("check", "--nonsense"),
                      ("check", "a", "b"), ("--socket", "/x|y", "check"), ("check", "--at-least"),
                      ("check", "--from=/nonexistent"), ("check", "--reason=x"),
                      ("--from=" + CUSTOMER, "check", "nvme9"), ("check", "--json=bad")):
        r = run(*arguments)
        equal((r.code, r.err, r.out.count("\n"), r.out.count("|")), (3, "", 1, 0), str(arguments))
        check(r.out.startswith("PNHW UNKNOWN - "), r.out)
    r = run("check", "-j")
    equal((r.code, json.loads(r.out)["error"]), (3, "NoDaemon"))
    # Another verb's failure is none.
    r = run("show", "check")
    equal((r.code, r.out), (1, ""))


@case
def check_without_a_daemon():
    r = run("--from=" + CUSTOMER, "check", "--at-least=notice")
    equal((r.code, r.err), (1, ""))
    check(r.out.startswith("PNHW WARNING - nvme3: slot PCIEX1_1 has 1 lane"), r.out)
    equal(run("--from=" + CUSTOMER, "check", "nvme0", "--at-least=notice").code, 0)
    has(run("--from=" + CUSTOMER, "check", "nvme9").out, "there is no device nvme9")


# ---- a daemon that says what the test says ----

TEMPLATE = None


def a_status(*found, generation=1, stale=()):
    global TEMPLATE
    if TEMPLATE is None:
        TEMPLATE = json.loads(run("--from=" + CUSTOMER, "status", "-j").out)
    status = json.loads(json.dumps(TEMPLATE))
    status.update(generation=generation, findings=list(found), summary="As the test says.")
    status["sources"] = [{"name": name, "state": "stale" if name in stale else "fresh",
                          "updated": "2026-01-02T03:04:05Z"} for name in ("pci", "nvme", "health")]
    return status


def a_finding(name, state="new", severity="warning", **more):
    return {"id": name, "code": "nvme.hot", "state": state, "subject": "drive S3",
            "device": "nvme3", "address": "0000:05:00.0", "severity": severity,
            "summary": f"{name} is hot.", "advice": "Cool it.", "affects": [], "accepted": False,
            **more}


class Server:
    """Answers GetStatus and ListAlerts with the newest, and sends the status to subscribers."""

    def __init__(self, path):
        self.path = os.path.join(path, "s")
        self.lock = threading.Condition()
        self.calls, self.event, self.alerts, self.listener = [], None, [], None
        self.peers, self.subscribers = [], []
        self.refuses = self.instead_of_alerts = None
        # Of these connections: statuses that were sent, and calls for the alerts with them.
        self.n_sent, self.n_listed, self.is_listed = 0, 0, False

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(20)
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def stop(self):
        with self.lock:
            if self.listener:
                self.listener.shutdown(socket.SHUT_RDWR)
                self.listener.close()
            for peer in self.peers:
                with contextlib.suppress(OSError):
                    peer.shutdown(socket.SHUT_RDWR)
            self.listener, self.peers, self.subscribers = None, [], []
            self.n_sent = self.n_listed = 0

    def accept(self, listener):
        while True:
            try:
                peer = listener.accept()[0]
            except OSError:
                return
            with self.lock:
                self.peers.append(peer)
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        data = b""
        while True:
            try:
                more = peer.recv(65536)
            except OSError:
                more = b""
            if not more:
                with self.lock:
                    self.subscribers = [one for one in self.subscribers if one is not peer]
                return
            data += more
            while b"\0" in data:
                call, data = data.split(b"\0", 1)
                call = json.loads(call)
                method = call["method"].rsplit(".", 1)[1]
                with self.lock:
                    if peer not in self.peers:
                        return
                    self.calls.append((method, call.get("parameters")))
                    self.lock.notify_all()
                    if self.refuses:
                        self.send(peer, {"error": self.refuses, "parameters": {}})
                    elif method == "ListAlerts":
                        self.n_listed, self.is_listed = self.n_listed + 1, True
                        self.send(peer, self.instead_of_alerts or
                                  {"parameters": {"alerts": self.alerts}})
                    elif method == "GetStatus":
                        self.send(peer, {"parameters": self.event["status"]})
                    elif method == "Subscribe":
                        self.subscribers.append(peer)
                        if self.event:
                            self.n_sent += 1
                            self.send(peer, {"parameters": self.event, "continues": True})

    @staticmethod
    def send(peer, answer):
        with contextlib.suppress(OSError):
            peer.sendall(json.dumps(answer).encode() + b"\0")

    def says(self, status, alerts=()):
        """Tells a new status. One that asks for alerts gets those with the status before first: of
        two in a row it would only see the second."""
        with self.lock:
            if self.is_listed and not self.instead_of_alerts:
                check(self.lock.wait_for(lambda: self.n_listed >= self.n_sent, SECONDS),
                      "nobody asks for alerts")
            self.event = {"generation": status["generation"], "changed": [], "status": status}
            self.alerts = list(alerts)
            for peer in self.subscribers:
                self.n_sent += 1
                self.send(peer, {"parameters": self.event, "continues": True})

    def asked(self, method):
        with self.lock:
            return [parameters for name, parameters in self.calls if name == method]

    def wait_for(self, method, n):
        eventually(f"{n} calls of {method}", lambda: len(self.asked(method)) >= n, SECONDS)


class Watch:
    """A running pnhwctl watch in pipes."""

    def __init__(self, path, *arguments, **env):
        self.process = subprocess.Popen(
            [CTL, f"--socket={path}", "watch", *arguments], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**env))
        self.text = {"out": "", "err": ""}
        for name, pipe in (("out", self.process.stdout), ("err", self.process.stderr)):
            threading.Thread(target=self.read, args=(name, pipe), daemon=True).start()

    def read(self, name, pipe):
        while True:
            data = os.read(pipe.fileno(), 65536)
            if not data:
                return
            self.text[name] += data.decode()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            code = "hung"
        if kind is None:
            equal(code, 0, f"exit status of watch ({self.text['err']})")

    def lines(self, n, name="out"):
        """The first n lines, once they are there."""
        eventually(f"{n} lines of {name}; there are {self.text}",
                   lambda: self.text[name].count("\n") >= n, SECONDS)
        return self.text[name].split("\n")[:-1]


def without_time(lines):
    return [re.sub(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ", "", line) for line in lines]


@case
def watch_writes_lines():
    with folder() as path, Server(path) as server:
        hot, other = a_finding("aaaaaaaaaaaa"), a_finding("bbbbbbbbbbbb", severity="critical")
        known, note = a_finding("cccccccccccc", accepted=True), a_finding("dddddddddddd",
                                                                          severity="info")
        server.says(a_status(hot, known, note))
        with Watch(server.path) as w:
            w.lines(2)
            # Neither the same again nor another figure is news.
            server.says(a_status(hot, known, note, generation=2))
            server.says(a_status(dict(hot, summary="It is hotter."), known, note, generation=3))
            server.says(a_status(dict(hot, state="raised"), known, note, generation=4))
            server.says(a_status(other, dict(hot, state="raised"), known, note, generation=5))
            server.says(a_status(other, dict(hot, state="raised", severity="critical"), known,
                                 note, generation=6))
            server.says(a_status(dict(other, accepted=True), known, generation=7))
            equal(without_time(w.lines(7)), [
                "As the test says.",
                "▲ new      warning  aaaaaaaaaaaa is hot. [nvme.hot aaaaaaaaaaaa]",
                "▲ raised   warning  aaaaaaaaaaaa is hot. [nvme.hot aaaaaaaaaaaa]",
                "✗ new      critical bbbbbbbbbbbb is hot. [nvme.hot bbbbbbbbbbbb]",
                "✗ changed  critical aaaaaaaaaaaa is hot. [nvme.hot aaaaaaaaaaaa]",
                "○ accepted critical bbbbbbbbbbbb is hot. [nvme.hot bbbbbbbbbbbb]",
                "● cleared  critical aaaaaaaaaaaa is hot. [nvme.hot aaaaaaaaaaaa]"])
            equal(w.text["err"], "")


@case
def watch_and_accept_in_german():
    if not os.path.exists(os.path.join(BUILD, "po", "de", "LC_MESSAGES", "pnhw.mo")):
        raise Skip("gettext was not installed when this was built")
    german = {"LANG": "de_DE.UTF-8"}
    with folder() as path, Server(path) as server:
        hot, other = a_finding("aaaaaaaaaaaa"), a_finding("bbbbbbbbbbbb", severity="critical")
        server.says(a_status(hot))
        with Watch(server.path, **german) as w:
            w.lines(2)
            server.says(a_status(dict(hot, accepted=True), other, generation=2))
            server.says(a_status(other, generation=3))
            server.says(a_status(generation=4))
            equal(without_time(w.lines(5)), [
                "As the test says.",
                "▲ neu         Warnung  aaaaaaaaaaaa is hot. [nvme.hot aaaaaaaaaaaa]",
                "○ hingenommen Warnung  aaaaaaaaaaaa is hot. [nvme.hot aaaaaaaaaaaa]",
                "✗ neu         kritisch bbbbbbbbbbbb is hot. [nvme.hot bbbbbbbbbbbb]",
                "● vorbei      kritisch bbbbbbbbbbbb is hot. [nvme.hot bbbbbbbbbbbb]"])
        server.says(a_status(hot, other))
        r = run("--socket=" + server.path, "accept", "zzzz", **german)
        equal((r.code, r.out), (1, ""))
        has(r.err, "es gibt keinen Befund zzzz; es gibt\n  aaaaaaaaaaaa  ")
        r = run("--socket=" + server.path, "accept", "aaaa", "--until=2001-01-01", **german)
        has(r.err, "--until=2001-01-01: das ist schon vorbei")
        r = run("--socket=" + server.path, "findings", **german)
        has(r.out, "▲ Warnung", "✗ kritisch", "SCHWERE")


@case
def watch_writes_json_lines():
    with folder() as path, Server(path) as server:
        hot, other = a_finding("aaaaaaaaaaaa"), a_finding("bbbbbbbbbbbb")
        server.says(a_status(hot))
        with Watch(server.path, "-j") as w:
            w.lines(1)
            server.says(a_status(hot, generation=2))
            server.says(a_status(hot, other, generation=3))
            server.says(a_status(dict(other, summary="Hotter."), generation=4))
            server.says(a_status(generation=5))
            got = [json.loads(line) for line in w.lines(4)]
        equal([(line["generation"], [(f["id"][0], f["state"]) for f in line["changed"]])
               for line in got],
              [(1, [("a", "new")]), (3, [("b", "new")]), (4, [("b", "new"), ("a", "cleared")]),
               (5, [("b", "cleared")])])
        equal(got[2]["changed"][0]["summary"], "Hotter.")


@case
def watch_waits_for_the_daemon():
    with folder() as path, Server(path) as server:
        hot, other, gone = (a_finding(c * 12) for c in "abc")
        server.says(a_status(hot, gone))
        with Watch(server.path) as w:
            w.lines(3)
            server.stop()
            has(w.lines(1, "err")[0], "pnhwd is away (it closed the connection); trying again")
            time.sleep(0.5)  # some attempts
            # What just started has not read all: nothing is over because of that.
            server.says(a_status(other, stale=["health"]))
            server.start()
            equal(without_time(w.lines(4))[3:],
                  ["▲ new      warning  bbbbbbbbbbbb is hot. [nvme.hot bbbbbbbbbbbb]"])
            equal(w.lines(2, "err")[1], "pnhwctl: pnhwd is back")
            server.says(a_status(other, hot, generation=2))
            equal(without_time(w.lines(5))[4:],
                  ["● cleared  warning  cccccccccccc is hot. [nvme.hot cccccccccccc]"])
            # A daemon that is not ready is away as well.
            server.stop()
            server.refuses = "io.pnhw.Hardware.NotReady"
            server.start()
            server.wait_for("Subscribe", 4)
            server.refuses = None
            w.lines(4, "err")
            has_not("".join(w.lines(4, "err")[3:]), "away")


@case
def watch_ends_when_nobody_reads():
    with folder() as path, Server(path) as server:
        server.says(a_status())
        w = subprocess.Popen([CTL, f"--socket={server.path}", "watch"], stdout=subprocess.PIPE,
                             stdin=subprocess.DEVNULL, env=environment())
        w.stdout.readline()
        w.stdout.close()
        w.wait(SECONDS)


@case
def watch_needs_a_daemon_to_begin_with():
    r = run("watch")
    equal((r.code, r.out), (1, ""))
    has(r.err, "pnhwd is not running")
    for arguments in ("--once",), ("--from=" + CUSTOMER,):
        has(run("watch", *arguments).err, "it is the daemon that is watched")
    for program, why in (("", "the name of a program"), ("/nonexistent", "No such file"),
                         ("no-such-program", "No such file"), ("/tmp", "no program"),
                         ("/etc/passwd", "no program")):
        r = run("watch", "--exec=" + program)
        equal(r.code, 1, program)
        has(r.err, f"--exec={program}: ", why)
    with folder() as path, Server(path) as server:
        server.refuses = "org.varlink.service.MethodNotFound"
        has(run("watch", PNHW_SOCKET=server.path).err, "too old")


# ---- programs ----


class Program:
    """Notes what it gets, then does what `then` says."""

    def __init__(self, path, then=""):
        self.file, self.log = os.path.join(path, "program"), os.path.join(path, "runs")
        with open(self.file, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n"
                       f"{{ env | grep ^PNHW_; echo; cat; echo ==; }} >>{self.log}\n{then}\n")
        os.chmod(self.file, 0o755)

    def runs(self, n):
        """Each run as (variables, finding), once n have been."""
        def whole():
            with contextlib.suppress(FileNotFoundError):
                with open(self.log, encoding="utf-8") as file:
                    parts = file.read().split("==\n")
                return parts[:-1] if len(parts) > n else None
            return [] if n == 0 else None
        parts = eventually(f"{n} runs", lambda: (whole() or None) if n else (whole(),), SECONDS)
        parts = parts if n else parts[0]
        found = []
        for part in parts or []:
            head, finding = part.split("\n\n", 1)
            found.append((dict(line.split("=", 1) for line in head.split("\n")),
                          json.loads(finding)))
        return found

    def short(self, n):
        return [v["PNHW_ID"][0] + ":" + v["PNHW_STATE"] + ":" + v["PNHW_SEVERITY"]
                for v, _ in self.runs(n)]


@case
def a_program_runs_once_for_each_alert():
    with folder() as path, Server(path) as server:
        program = Program(path)
        old, hot = (a_finding(c * 12, "raised") for c in "ab")
        server.says(a_status(old), [old])
        with Watch(server.path, "--exec=" + program.file) as w:
            has(w.lines(1, "err")[0], "1 alert was told before this began")
            # A finding is none yet, nor is one over that was not there for a moment.
            server.says(a_status(old, dict(hot, state="new"), generation=2), [old])
            server.says(a_status(old, hot, generation=3), [old, hot])
            server.says(a_status(old, generation=4), [old, hot])
            server.says(a_status(old, hot, generation=5), [old, hot])
            server.says(a_status(old, dict(hot, severity="critical"), generation=6),
                        [old, dict(hot, severity="critical")])
            server.says(a_status(generation=7), [dict(hot, severity="critical")])
            server.says(a_status(generation=8), [])
            equal(program.short(4), ["b:raised:warning", "b:changed:critical", "a:cleared:warning",
                                     "b:cleared:critical"])
            variables, finding = program.runs(4)[0]
            equal(variables, {"PNHW_ID": "b" * 12, "PNHW_CODE": "nvme.hot", "PNHW_STATE": "raised",
                              "PNHW_SEVERITY": "warning", "PNHW_DEVICE": "nvme3",
                              "PNHW_SUBJECT": "drive S3", "PNHW_SUMMARY": "b" * 12 + " is hot.",
                              "PNHW_ADVICE": "Cool it.",
                              "PNHW_SOCKET": "/nonexistent/socket"})
            equal((finding["id"], finding["state"], finding["advice"]),
                  ("b" * 12, "raised", "Cool it."))


@case
def a_daemon_that_restarts_runs_nothing_twice():
    with folder() as path, Server(path) as server:
        program = Program(path)
        hot, other, late = (a_finding(c * 12, "raised") for c in "abc")
        server.says(a_status())
        with Watch(server.path, "--exec=" + program.file) as w:
            w.lines(1)
            server.says(a_status(hot, other, generation=2), [hot, other])
            program.runs(2)
            server.stop()
            # It still knows of one, another is over, and a third came while nobody listened.
            server.says(a_status(hot, late), [hot, late])
            server.start()
            program.runs(4)
            server.stop()
            # It has forgotten all, and reads the hardware for the first time.
            server.says(a_status(stale=["health"]))
            server.start()
            server.wait_for("Subscribe", 3)
            server.says(a_status(dict(hot, state="new"), generation=2))
            server.says(a_status(hot, generation=3), [hot])
            server.says(a_status(generation=4), [])
            equal(program.short(6)[:2], ["a:raised:warning", "b:raised:warning"])
            equal(sorted(program.short(6)[2:4]), ["b:cleared:warning", "c:raised:warning"])
            equal(program.short(6)[4:], ["c:cleared:warning", "a:cleared:warning"])


@case
def what_is_accepted_no_more_is_news():
    with folder() as path, Server(path) as server:
        program = Program(path)
        hot = a_finding("a" * 12, "raised")
        server.says(a_status(hot), [hot])
        with Watch(server.path, "--exec=" + program.file) as w:
            w.lines(2)
            server.says(a_status(dict(hot, accepted=True), generation=2),
                        [dict(hot, accepted=True)])
            server.says(a_status(hot, generation=3), [hot])
            equal(program.short(1), ["a:changed:warning"])
            equal(without_time(w.lines(4))[2:], [
                "○ accepted warning  aaaaaaaaaaaa is hot. [nvme.hot aaaaaaaaaaaa]",
                "▲ counts   warning  aaaaaaaaaaaa is hot. [nvme.hot aaaaaaaaaaaa]"])


@case
def programs_that_fail_or_hang():
    with folder() as path, Server(path) as server:
        long = f"sleep 1000.{os.getpid()}"
        program = Program(path, f'case $PNHW_ID in a*) exit 3 ;; b*) {long} & {long} ;; '
                                'c*) kill -9 $$ ;; d*) echo fine ;; esac')
        alerts = [a_finding(c * 12, "raised") for c in "abcd"]
        server.says(a_status())
        with Watch(server.path, "--exec=" + program.file, PNHW_EXEC_TIMEOUT="1") as w:
            w.lines(1)
            server.says(a_status(*alerts, generation=2), alerts)
            equal(program.short(4), [f"{c}:raised:warning" for c in "abcd"])
            eventually("its output", lambda: "\nfine\n" in w.text["out"], SECONDS)
            lines = "\n".join(w.lines(3, "err"))
            has(lines, "(aaaaaaaaaaaa raised): failed with exit status 3",
                "(bbbbbbbbbbbb raised): did not end within 1 seconds and is stopped",
                "(cccccccccccc raised): ended by signal 9")
            if shutil.which("pgrep"):
                eventually("its children have ended, too", lambda: subprocess.run(
                    ["pgrep", "-fx", long], check=False, capture_output=True).returncode, SECONDS)


@case
def alerts_alone_are_news():
    with folder() as path, Server(path) as server:
        program = Program(path)
        hot = a_finding("a" * 12, "raised")
        server.says(a_status())
        with Watch(server.path, "--exec=" + program.file) as w:
            w.lines(1)
            server.says(a_status(generation=2), [hot])
            server.says(a_status(generation=3))
            equal(program.short(2), ["a:raised:warning", "a:cleared:warning"])
            equal(w.text["out"].count("\n"), 1)
            server.wait_for("ListAlerts", 3)
        equal(len(server.asked("ListAlerts")), 3)
        # Without a program nobody needs them.
        with Watch(server.path) as w:
            w.lines(1)
        equal(len(server.asked("ListAlerts")), 3)


@case
def alerts_that_cannot_be_got_are_a_lost_connection():
    """Also the first time: what cannot be compared is not taken."""
    with folder() as path, Server(path) as server:
        program = Program(path)
        old, hot, other = (a_finding(c * 12, "raised") for c in "abc")
        server.says(a_status(old), [old])
        busy = {"error": "io.pnhw.Hardware.Busy", "parameters": {}}
        server.instead_of_alerts = busy
        with Watch(server.path, "--exec=" + program.file) as w:
            has(w.lines(1, "err")[0], "pnhwd is away (the daemon has too many connections")
            server.wait_for("ListAlerts", 2)
            equal(w.text["out"], "")
            server.instead_of_alerts = None
            equal([line.split(": ", 1)[1] for line in w.lines(3, "err")[1:]], [
                "pnhwd is back",
                "1 alert was told before this began: the program is run for what comes"])
            server.says(a_status(old, hot, generation=2), [old, hot])
            equal(program.short(1), ["b:raised:warning"])
            for n, wrong in enumerate((busy, {"parameters": {"alerts": "none"}},
                                       {"parameters": {}})):
                server.instead_of_alerts = wrong
                server.says(a_status(old, hot, other, generation=3 + n), [old, hot, other])
                has(w.lines(4 + 2 * n, "err")[-1], "pnhwd is away (")
                server.instead_of_alerts = None
                has(w.lines(5 + 2 * n, "err")[-1], "pnhwd is back")
            equal(program.short(2), ["b:raised:warning", "c:raised:warning"])


@case
def a_daemon_too_old_to_tell_of_alerts():
    with folder() as path, Server(path) as server:
        program = Program(path)
        old, hot = (a_finding(c * 12, "raised") for c in "ab")
        server.says(a_status())
        server.instead_of_alerts = {"error": "org.varlink.service.MethodNotFound",
                                    "parameters": {"method": "io.pnhw.Hardware.ListAlerts"}}
        with Watch(server.path, "--exec=" + program.file) as w:
            equal(w.lines(1, "err"), ["pnhwctl: pnhwd is too old for --exec: it has no ListAlerts, "
                                      "and the program is not run"])
            server.says(a_status(old, generation=2), [old])
            # The rest is as ever, and it is neither asked nor said again.
            w.lines(2)
            equal((w.text["err"].count("\n"), len(server.asked("ListAlerts"))), (1, 1))
            # An update of the daemon ends that; what stood by then is not new.
            server.stop()
            server.instead_of_alerts = None
            server.start()
            has(w.lines(4, "err")[3], "1 alert was told before this began")
            server.says(a_status(old, hot, generation=3), [old, hot])
            equal(program.short(1), ["b:raised:warning"])


@case
def json_is_not_mixed_with_a_program():
    with folder() as path, Server(path) as server:
        program = Program(path, "echo words")
        hot = a_finding("a" * 12, "raised")
        server.says(a_status())
        with Watch(server.path, "-j", "--exec=" + program.file) as w:
            w.lines(1)
            server.says(a_status(hot, generation=2), [hot])
            eventually("its output", lambda: "words\n" in w.text["err"], SECONDS)
            for line in w.lines(2):
                json.loads(line)


@case
def a_program_and_the_real_daemon():
    """From the first reading to the end of the incident, over restarts; the clock is turned in what
    the daemon remembers."""
    def turn_back(state):
        with open(state, encoding="utf-8") as file:
            memory = json.load(file)
        for alert in memory["alerts"]:
            if alert["target_since"] is not None:
                alert["target_since"] -= 3600
                alert["samples"] = 5
        with open(state, "w", encoding="utf-8") as file:
            json.dump(memory, file)

    with folder() as path:
        machine = Machine(os.path.join(path, "machine"))
        machine.pci(width=1)
        state = os.path.join(path, "state", "state.json")
        os.mkdir(os.path.dirname(state))
        program = Program(path)

        def daemon():
            return Daemon(path, "--interval=3600", machine=machine,
                          environment={"STATE_DIRECTORY": os.path.dirname(state)})

        with contextlib.ExitStack() as stack:
            with daemon():
                watch = stack.enter_context(Watch(os.path.join(path, "s"),
                                                  "--exec=" + program.file))
                watch.lines(2)
            turn_back(state)
            with daemon():
                equal(len(program.runs(1)), 1)
                machine.pci()
            with daemon() as d:
                eventually("the finding is gone", lambda: not findings(d), SECONDS)
            turn_back(state)
            with daemon():
                got = program.runs(2)
                equal([(v["PNHW_CODE"], v["PNHW_STATE"], v["PNHW_DEVICE"]) for v, _ in got],
                      [("pcie.degraded", "raised", "nvme1"), ("pcie.degraded", "cleared", "nvme1")])
            has(without_time(watch.lines(3))[1], "new      warning  nvme1 uses 1 of 4 lanes")


# ---- the page ----


class Terminal:
    def __init__(self, *arguments, width=80, rows=30, **env):
        self.main, sub = pty.openpty()
        self.size(width, rows)
        self.sub = sub
        self.before = termios.tcgetattr(sub)
        self.process = subprocess.Popen([CTL, *arguments], stdin=sub, stdout=sub, stderr=sub,
                                        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(
                                            0, termios.TIOCSCTTY, 0),
                                        env=environment(TERM="xterm", **env))
        self.text = ""

    def size(self, width, rows):
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, width, 0, 0))

    def until(self, what, seconds=SECONDS):
        """Reads until a text comes; all since the last call."""
        end = time.monotonic() + seconds
        while what not in self.text:
            check(time.monotonic() < end, f"{what!r} does not come; there is {self.text!r}")
            if select.select([self.main], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.main, 65536).decode()
                except OSError:
                    time.sleep(0.05)
        seen, self.text = self.text.split(what, 1)
        return seen + what

    def key(self, text):
        os.write(self.main, text.encode())

    def ended(self):
        self.until("\x1b[?1049l")
        code = self.process.wait(SECONDS)
        equal(termios.tcgetattr(self.sub), self.before, "the terminal's settings")
        os.close(self.main)
        os.close(self.sub)
        return code


@case
def watch_draws_a_page():
    with folder() as path, Server(path) as server:
        hot = a_finding("aaaaaaaaaaaa")
        server.says(a_status())
        t = Terminal("--socket=" + server.path, "watch", width=60)
        t.until("\x1b[?1049h\x1b[?25l")
        has(t.until("As the test says."), "\x1b[H")
        t.until("q ends it.")
        server.says(a_status(hot, generation=2))
        page = t.until("q ends it.")
        has(page, "aaaaaaaaaaaa is hot.", "Cool it.", "\x1b[H", "\x1b[K")
        check("\x1b[2J" not in page, "it flickers")
        for line in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", page).split("\r\n"):
            check(len(line) <= 60, f"too wide: {line!r}")
        # Another size, at once; and of too few rows it uses all but says so.
        t.size(40, 8)
        t.process.send_signal(signal.SIGWINCH)
        page = t.until("This page is drawn anew when somethi")
        has(page, " more lines")
        equal(page.count("\r\n"), 7)
        t.size(100, 40)
        t.process.send_signal(signal.SIGWINCH)
        t.until("q ends it.")
        server.stop()
        has(t.until("and this is what it said last."), "aaaaaaaaaaaa is hot.",
            "pnhwd is away since")
        server.says(a_status(generation=3))
        server.start()
        has_not(t.until("q ends it."), "is hot")
        t.key("xq")
        equal(t.ended(), 0)


@case
def the_terminal_comes_back():
    with folder() as path, Server(path) as server:
        server.says(a_status())
        for end in ("\x03", signal.SIGTERM, signal.SIGHUP):
            t = Terminal("--socket=" + server.path, "watch")
            t.until("q ends it.")
            if isinstance(end, str):
                t.key(end)
            else:
                t.process.send_signal(end)
            equal(t.ended(), 0, repr(end))
        # Also for a while, and when there is nothing to show after all.
        t = Terminal("--socket=" + server.path, "watch")
        t.until("q ends it.")
        t.process.send_signal(signal.SIGTSTP)
        t.until("\x1b[?1049l")
        equal(os.waitpid(t.process.pid, os.WUNTRACED)[1] & 0xff, 0x7f, "stopped")
        t.process.send_signal(signal.SIGCONT)
        t.until("\x1b[?1049h")
        t.until("q ends it.")
        t.key("q")
        equal(t.ended(), 0)
        server.refuses = "org.varlink.service.MethodNotFound"
        t = Terminal("--socket=" + server.path, "watch")
        t.until("\x1b[?1049l")
        t.until("too old")
        equal(t.process.wait(SECONDS), 1)


@case
def a_terminal_that_cannot_gets_lines():
    with folder() as path, Server(path) as server:
        server.says(a_status(a_finding("aaaaaaaaaaaa")))
        main, sub = pty.openpty()
        process = subprocess.Popen([CTL, "--socket=" + server.path, "watch"], stdin=sub, stdout=sub,
                                   stderr=sub, env=environment(TERM="dumb"))
        os.close(sub)
        text = ""
        while "aaaaaaaaaaaa]" not in text:
            check(select.select([main], [], [], SECONDS)[0], text)
            text += os.read(main, 65536).decode()
        has_not(text, "\x1b")
        process.terminate()
        equal(process.wait(SECONDS), 0)
        os.close(main)


@case
def ids_are_completed():
    with degraded() as d:
        finding = findings(d)[0]
        r = ctl(d, "--complete=findings")
        equal(r.out, f"{finding['id']}:{finding['summary']}\n")


os.umask(0o022)
sys.exit(run_cases(CASES, sys.argv[2:]))
