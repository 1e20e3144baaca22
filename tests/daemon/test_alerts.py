#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_alerts.py BUILD_DIR [WORD...]: what pnhwd tells the journal over time, what it keeps over a
restart, and what an administrator accepts. The clock and the journal are the test's own
(tests/bed/observe.c). Output as test_daemon.py's."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_daemon import BUILD, HARDWARE, SERVICE, Daemon, Machine, eventually  # noqa: E402
from cases import Skip, check, equal, run_cases  # noqa: E402

OBSERVE = os.path.join(BUILD, "tests", "bed", "observe.so")
CASES = []


def case(function):
    CASES.append(function)
    return function


class World:
    """A machine, a clock, a journal and a folder for state; daemons come and go."""

    def __init__(self, folder):
        self.folder = folder
        self.machine = Machine(os.path.join(folder, "machine"))
        self.state = os.path.join(folder, "state")
        self.clock = os.path.join(folder, "clock")
        self.journal = os.path.join(folder, "journal")
        self.seconds = 0
        self.read = 0
        os.mkdir(self.state)
        self.daemon = None

    def start(self, **environment):
        asan = os.environ.get("ASAN_OPTIONS", "")
        self.daemon = Daemon(self.folder, "--interval=3600", machine=self.machine, environment={
            "LD_PRELOAD": OBSERVE, "PNHW_CLOCK": self.clock, "PNHW_JOURNAL": self.journal,
            "STATE_DIRECTORY": self.state,
            "ASAN_OPTIONS": asan + ":verify_asan_link_order=0", **environment})
        return self.daemon.__enter__()

    def stop(self):
        self.daemon.__exit__(None, None, None)
        self.daemon = None

    def __exit__(self, kind, *rest):
        if self.daemon:
            self.daemon.__exit__(kind, *rest)

    def later(self, seconds, *sources):
        """Some time passes, and the sources are read again. Refresh wants two real seconds between
        two readings: each source has its turn."""
        self.seconds += seconds
        with open(self.clock + ".new", "w", encoding="ascii") as file:
            file.write(str(self.seconds))
        os.rename(self.clock + ".new", self.clock)
        return self.daemon.rescan(*sources)

    def events(self):
        """The entries that came since the last call."""
        try:
            with open(self.journal, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return []
        new, self.read = data[self.read:], len(data)
        return [dict(field.decode().split("=", 1) for field in entry.split(b"\0"))
                for entry in new.split(b"\0\0") if entry]

    def told(self):
        return [(e["PNHW_STATE"], e["PNHW_CODE"], e.get("PNHW_DEVICE")) for e in self.events()]

    def finding(self, code):
        found = [f for f in self.daemon.ok("GetStatus")["findings"] if f["code"] == code]
        equal(len(found), 1, code)
        return found[0]

    def standing(self):
        return self.daemon.ok("ListAlerts")["alerts"]

    def codes(self):
        return sorted(f["code"] for f in self.daemon.ok("GetStatus")["findings"])

    def saved(self):
        with open(os.path.join(self.state, "state.json"), encoding="utf-8") as file:
            return json.load(file)


@contextlib.contextmanager
def world():
    with tempfile.TemporaryDirectory(prefix="pnhwd-") as folder:
        it = World(folder)
        try:
            yield it
        except BaseException:
            it.__exit__(AssertionError)
            raise
        it.__exit__(None)


SLOW = ("raised", "pcie.degraded", "nvme1")
FAST = ("cleared", "pcie.degraded", "nvme1")


@case
def told_once_and_over_once():
    with world() as w:
        w.machine.pci(width=1)
        w.start()
        equal(w.finding("pcie.degraded")["state"], "new")
        equal((w.told(), w.standing()), ([], []))
        w.later(61, "pci", "nvme")
        equal(w.finding("pcie.degraded")["state"], "raised")
        events = w.events()
        equal(len(events), 1)
        entry = events[0]
        finding = json.loads(entry["PNHW_FINDING"])
        equal((entry["PNHW_STATE"], entry["PNHW_CODE"], entry["PNHW_DEVICE"], entry["PRIORITY"],
               entry["PNHW_SUBJECT"]), ("raised", "pcie.degraded", "nvme1", "4", "drive S1"))
        equal((finding["id"], finding["state"]), (entry["PNHW_ID"], "raised"))
        check(len(entry["MESSAGE_ID"]) == 32, entry)
        check("nvme1 uses 1 of 4 lanes" in entry["MESSAGE"], entry["MESSAGE"])
        equal(w.standing(), [finding])
        w.later(61, "pci", "nvme")
        equal(w.told(), [])
        w.machine.pci(width=4)
        w.later(61, "pci", "nvme")
        # The finding is gone and the alert is not; and its end, which no finding shows, is heard of.
        equal((w.codes(), w.told(), [a["id"] for a in w.standing()]), ([], [], [entry["PNHW_ID"]]))
        with w.daemon.connect() as subscriber:
            subscriber.ask(HARDWARE + "Subscribe", more=True)
            subscriber.receive()
            generation = w.later(301, "pci", "nvme")
            heard = subscriber.receive()["parameters"]
        equal((heard["changed"], heard["generation"], w.standing()), ([], generation, []))
        events = w.events()
        equal([(e["PNHW_STATE"], e["PRIORITY"]) for e in events], [("cleared", "5")])
        check(events[0]["MESSAGE"].startswith("Over: "), events[0]["MESSAGE"])
        check("pnhwd: raised: nvme1" in w.daemon.log(), "nothing on standard error")


@case
def over_a_restart():
    with world() as w:
        w.machine.pci(width=1)
        w.start()
        since = w.finding("pcie.degraded")["since"]
        w.stop()
        w.start()
        w.later(61, "pci", "nvme")
        equal(w.told(), [SLOW])
        equal(w.finding("pcie.degraded")["since"], since)
        w.stop()
        w.start()
        equal(w.finding("pcie.degraded")["state"], "raised")
        w.later(3700, "pci", "nvme")
        equal(w.told(), [])
        w.stop()
        w.machine.pci(width=4)
        w.start()
        w.later(301, "pci", "nvme")
        equal(w.told(), [FAST])


@case
def what_cannot_be_read_ends_nothing():
    with world() as w:
        w.machine.pci(width=1)
        w.start()
        w.later(61, "pci", "nvme")
        equal(w.told(), [SLOW])
        w.machine.write("pci", "rubbish\n")
        w.stop()
        w.start()
        for _ in range(2):
            w.later(400, "pci", "nvme")
        told = w.told()
        check(FAST not in told, told)


@case
def a_drive_that_is_missing_after_a_restart():
    with world() as w:
        w.start()
        w.stop()
        w.machine.nvme(["S0", None])
        w.start()
        equal(w.codes(), ["nvme.lost"])
        lost = w.finding("nvme.lost")
        equal((lost["device"], lost["subject"], lost["severity"]), ("nvme1", "drive S1", "critical"))
        w.later(61, "nvme", "pci", "health")
        check(("raised", "nvme.lost", "nvme1") in w.told(), "not told")
        # It was taken out, says the administrator: it is forgotten for good.
        if os.geteuid() != 0:
            raise Skip("accepting needs root")
        check(lost["id"] in lost["advice"], lost["advice"])
        w.daemon.ok("Accept", {"id": lost["id"]})
        check("nvme.lost" not in w.codes(), w.codes())
        w.stop()
        w.start()
        check("nvme.lost" not in w.codes(), w.codes())


@case
def a_first_reading_that_fails_loses_no_drive():
    with world() as w:
        w.start()
        w.stop()
        w.machine.write("nvme", "rubbish\n")
        w.start()
        check("nvme.lost" not in w.codes(), w.codes())
        w.machine.nvme(["S0", "S1"])
        w.later(61, "nvme")
        equal(w.codes(), [])


@case
def accepted_until_it_gets_worse():
    if os.geteuid() != 0:
        raise Skip("accepting needs root")
    with world() as w:
        w.machine.pci(width=2)
        w.start()
        finding = w.finding("pcie.degraded")
        equal((finding["accepted"], finding["extent"]), (False, 50))
        w.daemon.ok("Accept", {"id": finding["id"], "reason": "no money"})
        finding = w.finding("pcie.degraded")
        equal((finding["accepted"], finding["reason"], finding["until"]), (True, "no money", None))
        equal(w.daemon.ok("ListFindings")["findings"], [])
        equal(len(w.daemon.ok("ListFindings", {"include_accepted": True})["findings"]), 1)
        equal(w.daemon.ok("Check")["code"], 0)
        w.later(61, "pci", "nvme")
        equal(w.told(), [])
        w.stop()
        w.start()
        equal(w.finding("pcie.degraded")["reason"], "no money")
        w.machine.pci(width=1)
        w.later(61, "pci", "nvme")
        finding = w.finding("pcie.degraded")
        equal((finding["accepted"], finding["reason"]), (False, None))
        w.later(61, "pci", "nvme")
        equal([t[0] for t in w.told()], ["raised"])
        w.daemon.ok("Accept", {"id": finding["id"], "until": "2099-01-01"})
        equal(w.finding("pcie.degraded")["until"], "2099-01-01T00:00:00Z")
        w.daemon.ok("Unaccept", {"id": finding["id"]})
        equal(w.finding("pcie.degraded")["accepted"], False)
        equal(w.daemon.call("Unaccept", {"id": finding["id"]})["error"], HARDWARE + "NoSuchFinding")


@case
def only_root_accepts():
    if os.geteuid() != 0 or not shutil.which("setpriv") or not shutil.which("socat"):
        raise Skip("needs root, setpriv and socat")
    with world() as w:
        w.machine.pci(width=1)
        w.start()
        finding = w.finding("pcie.degraded")
        os.chmod(w.folder, 0o755)
        answer = subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "socat", "-t5", "-",
             f"UNIX-CONNECT:{w.daemon.path}"], capture_output=True, check=True,
            input=json.dumps({"method": HARDWARE + "Accept",
                              "parameters": {"id": finding["id"]}}).encode() + b"\0").stdout
        equal(json.loads(answer.rstrip(b"\0"))["error"], SERVICE + "PermissionDenied")
        equal(w.finding("pcie.degraded")["accepted"], False)


@case
def a_link_that_was_wider_once():
    with world() as w:
        def ends(width):
            objects = w.machine.functions(width)
            for _, function in objects[2:]:
                function["link"]["max_width"] = width
            w.machine.write("pci", w.machine.lines("pci", objects))

        ends(4)
        w.start()
        equal(w.codes(), [])
        w.stop()
        ends(2)
        w.start()
        finding = w.finding("pcie.degraded")
        check("runs at 16 GT/s x2; until 20" in finding["summary"] and
              "it ran at 16 GT/s x4 here" in finding["summary"], finding["summary"])
        equal(finding["extent"], 50)


@case
def media_errors_count_from_a_baseline():
    with world() as w:
        def errors(n):
            w.machine.write("health", w.machine.lines("health", [
                ("nvme_health", {"name": "nvme0", "serial": "S0", "health": {
                    "critical_warnings": [], "temperature_c": 40, "spare_percent": 100,
                    "spare_threshold_percent": 10, "used_percent": 1, "media_errors": n}})]))

        errors(3)
        w.start()
        eventually("health", lambda: w.codes() == ["nvme.media_errors_rising"])
        finding = w.finding("nvme.media_errors_rising")
        equal((finding["severity"], finding["extent"]), ("notice", 3))
        w.later(61, "health")
        equal(w.told(), [("raised", "nvme.media_errors_rising", "nvme0")])
        w.later(8 * 86400, "health")
        equal(w.codes(), [])
        w.later(301, "health")
        equal(w.told(), [("cleared", "nvme.media_errors_rising", "nvme0")])
        errors(5)
        w.later(3600, "health")
        finding = w.finding("nvme.media_errors_rising")
        equal(finding["severity"], "warning")
        check("from 3 to 5 since" in finding["summary"], finding["summary"])


@case
def a_bad_state_file():
    for text, word in ((b"", "damaged"), (b"{\"schema\":1,", "damaged"), (b"\0" * 100, "damaged"),
                       (b"[1,2,3]", "damaged"), (None, "no regular file")):
        with world() as w:
            path = os.path.join(w.state, "state.json")
            if text is None:
                os.mkdir(path)
            else:
                with open(path, "wb") as file:
                    file.write(text)
            w.machine.pci(width=1)
            w.start()
            equal(w.codes(), ["pcie.degraded"])
            log = w.daemon.log()
            check(word in log and "will be told again" in log, log)
            w.later(61, "pci", "nvme")
            equal(w.told(), [SLOW])
            check(os.path.exists(path + ".bad.1"), os.listdir(w.state))
            w.stop()
            equal(w.saved()["schema"], 1)


@case
def another_machine_s_state():
    with world() as w:
        w.machine.pci(width=1)
        w.start()
        w.later(61, "pci", "nvme")
        equal(w.told(), [SLOW])
        w.stop()
        state = w.saved()
        if state["machine"] is None:
            raise Skip("this machine has no /etc/machine-id")
        state["machine"] = "f" * 32
        with open(os.path.join(w.state, "state.json"), "w", encoding="utf-8") as file:
            json.dump(state, file)
        w.start()
        check("is of another machine" in w.daemon.log(), w.daemon.log())
        w.later(61, "pci", "nvme")
        equal(w.told(), [SLOW])


@case
def a_newer_version_s_state():
    with world() as w:
        w.machine.pci(width=1)
        w.start()
        w.later(61, "pci", "nvme")
        w.told()
        w.stop()
        state = w.saved()
        state.update(schema=9, dreams=[{"of": "sheep"}])
        for alert in state["alerts"]:
            alert["mood"] = "good"
        with open(os.path.join(w.state, "state.json"), "w", encoding="utf-8") as file:
            json.dump(state, file)
        w.start()
        w.later(61, "pci", "nvme")
        equal(w.told(), [])
        check("of a newer pnhwd" in w.daemon.log(), w.daemon.log())
        with open(os.path.join(w.state, "state.json.newer"), encoding="utf-8") as file:
            equal(json.load(file)["dreams"], [{"of": "sheep"}])


@case
def a_folder_that_cannot_be_written():
    with world() as w:
        w.machine.pci(width=1)
        os.rmdir(w.state)
        w.start()
        check("is forgotten at the end" in w.daemon.log(), w.daemon.log())
        w.later(61, "pci", "nvme")
        equal(w.told(), [SLOW])
    with world() as w:
        # No file takes the place of a folder.
        w.start()
        path = os.path.join(w.state, "state.json")
        eventually("a file", lambda: os.path.exists(path))
        os.unlink(path)
        os.makedirs(os.path.join(path, "x"))
        w.machine.pci(width=1)
        w.later(1, "pci", "nvme")
        eventually("a warning", lambda: "cannot be written" in w.daemon.log())
        w.later(61, "pci", "nvme")
        equal(w.told(), [SLOW])
        equal(w.daemon.log().count("cannot be written"), 1)
        shutil.rmtree(path)
        w.machine.pci(width=4)
        w.later(61, "pci", "nvme")
        eventually("a notice", lambda: "can be written again" in w.daemon.log())
        eventually("nothing left", lambda: not any(name.startswith(".")
                                                   for name in os.listdir(w.state)))


@case
def a_clock_that_goes_back():
    with world() as w:
        w.machine.pci(width=1)
        w.start()
        w.later(-86400, "pci", "nvme")
        w.later(61, "pci", "nvme")
        equal(w.told(), [SLOW])
        w.later(-86400, "pci", "nvme")
        w.machine.pci(width=4)
        w.later(61, "pci", "nvme")
        w.later(301, "pci", "nvme")
        equal(w.told(), [FAST])


@case
def a_quiet_month():
    """A month in steps of a day: nothing is wrong, and nothing is told."""
    with world() as w:
        w.start()
        for day in range(10):
            w.machine.sensors(45 + day % 3)
            w.later(3 * 86400)
        equal(w.told(), [])


if __name__ == "__main__":
    if not os.path.exists(OBSERVE):
        print(f"not ok - observe: {OBSERVE} is missing")
        sys.exit(1)
    # Several worlds at once: each waits most of the time.
    sys.exit(run_cases(CASES, sys.argv[2:], at_once=4))
