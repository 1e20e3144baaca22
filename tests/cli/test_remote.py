#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs pnhwctl --host against a stand-in for ssh, behind which hosts answer, hang, are away or lie.

Usage: test_remote.py BUILD_DIR
"""

import fcntl
import json
import os
import pty
import re
import select
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
CTL = os.path.abspath(os.path.join(sys.argv[1] if len(sys.argv) > 1 else "build", "cli", "pnhwctl"))
TMP = tempfile.TemporaryDirectory(prefix="pnhw-remote-")
SSH = os.path.join(TMP.name, "ssh")
failed = 0

# The stand-in notes how it was called, and each host is a saved inventory or a script.
STAND_IN = """#!/bin/bash
printf '%%s\\0' "$@" > '%(tmp)s/called'
while [ "$1" != -- ]; do shift; done
host=${2#*@} command=$3
touch "%(tmp)s/asked-$host"
if [ -x "%(tmp)s/$host.sh" ]; then exec "%(tmp)s/$host.sh" "$command"; fi
eval "${command/pnhwctl/%(ctl)s --from=%(here)s/$host.json}"
""" % {"tmp": TMP.name, "ctl": CTL, "here": HERE}


def write(name, text):
    path = os.path.join(TMP.name, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, 0o755)
    return path


def host(name, script):
    write(name + ".sh", "#!/bin/bash\n" + script + "\n")
    return name


def environment(**extra):
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "TMPDIR") or
            k.startswith(("ASAN_", "UBSAN_", "LSAN_", "LD_"))}
    return {**keep, "LANG": "C.UTF-8", "TZ": "UTC", "PNHW_SSH": SSH,
            "PNHW_SOCKET": os.path.join(TMP.name, "none"), **extra}


def run(*args, **env):
    return subprocess.run([CTL, *args], capture_output=True, text=True, timeout=120, check=False,
                          stdin=subprocess.DEVNULL, env=environment(**env))


def local(name, *args):
    return run("--from=" + os.path.join(HERE, name + ".json"), *args)


def check(condition, why):
    if not condition:
        raise AssertionError(why)


def has(text, *parts):
    for part in parts:
        check(part in text, "%r is not in:\n%s" % (part, text))


def wait_for(names, seconds=60):
    end = time.monotonic() + seconds
    while not all(os.path.exists(os.path.join(TMP.name, name)) for name in names):
        check(time.monotonic() < end, "never came: %s" % names)
        time.sleep(0.02)


tests = []


def test(function):
    tests.append(function)
    return function


@test
def one_host_is_shown_as_this_one_is():
    for verb in ["nvme"], ["pcie"], ["net"], ["modules"], ["sensors"], ["disks"], ["findings"], \
            ["show", "nvme3"]:
        there, here = run("-H", "first-customer", *verb), local("first-customer", *verb)
        check(there.returncode == 0 and there.stderr == "", there.stderr)
        check(there.stdout == here.stdout, "%s:\n%s\n%s" % (verb, there.stdout, here.stdout))
        there = run("-j", "-H", "root@first-customer", *verb)
        check(json.loads(there.stdout) == json.loads(local("first-customer", "-j", *verb).stdout),
              verb)
    page = run("--host=first-customer").stdout
    has(page, "▲ nvme3", "pnhwctl -H first-customer show nvme3")
    there = json.loads(run("-j", "-H", "first-customer").stdout)
    check(there == json.loads(local("first-customer", "-j").stdout), "status")


@test
def ssh_is_asked_not_to_ask():
    run("-H", "root@first-customer", "nvme")
    with open(os.path.join(TMP.name, "called"), encoding="utf-8") as f:
        words = f.read().split("\0")[:-1]
    check(words[-3:] == ["--", "root@first-customer", "pnhwctl --json=short facts 'nvme'"], words)
    check("BatchMode=yes" in words and any(w.startswith("ConnectTimeout=") for w in words), words)
    run("-H", "first-customer", "--once", "--socket=/a b'c", "show", "x'; touch /tmp/y '")
    with open(os.path.join(TMP.name, "called"), encoding="utf-8") as f:
        command = f.read().split("\0")[-2]
    check(command == "pnhwctl --json=short --once --socket='/a b'\\''c' facts "
          "'device=x'\\''; touch /tmp/y '\\'''", command)


@test
def tables_of_several_hosts_are_one():
    r = run("-H", "first-customer,ports", "-H", "vm", "nvme")
    check(r.returncode == 0 and r.stderr == "", r.stderr)
    lines = r.stdout.splitlines()
    check(lines[0].startswith("HOST ") and r.stdout.count("SERIAL") == 1, r.stdout)
    check(sum(line.startswith("first-customer ") for line in lines) == 5, r.stdout)
    check(sum(line.startswith("vm ") for line in lines) == 1, r.stdout)
    has(r.stdout, "\n\nports: There is no NVMe drive")
    for verb in "net", "modules", "sensors", "disks", "findings":
        r = run("-H", "vm,first-customer,ports", verb)
        check(r.returncode == 0 and r.stdout.startswith("HOST "), (verb, r.stdout, r.stderr))
        r = run("-H", "vm,first-customer,ports", "--no-legend", verb)
        check("HOST" not in r.stdout, r.stdout)
    for width in "40", "80":
        r = run("-H", "vm,first-customer", "nvme", COLUMNS=width)
        check(all(len(line) <= int(width) for line in r.stdout.splitlines()), r.stdout)


@test
def pages_of_several_hosts_follow_each_other():
    r = run("-H", "vm,first-customer")
    check(r.returncode == 0, r.stderr)
    check(re.match(r"^vm\n.*\n\nfirst-customer\nserverhost1 ", r.stdout, re.DOTALL), r.stdout)
    r = run("-H", "vm,first-customer", "pcie")
    has(r.stdout, "vm\n", "\n\nfirst-customer\n", "├─")
    r = run("-H", "vm,first-customer", "show", "nvme3")
    check(r.returncode == 1, r.stdout)
    has(r.stdout, "first-customer\n", "7QH00RTP")
    has(r.stderr, "vm: there is no device nvme3")


@test
def json_of_several_hosts_is_a_list():
    r = run("-j", "-H", "vm,first-customer,gone", "nvme")
    entries = json.loads(r.stdout)
    check(r.returncode == 1 and r.stderr == "", r.stderr)
    check([e["host"] for e in entries] == ["vm", "first-customer", "gone"], entries)
    check(entries[1]["answer"] == json.loads(local("first-customer", "-j", "nvme").stdout), "answer")
    check(set(entries[2]) == {"host", "error", "message"} and
          entries[2]["error"] == "NoConnection", entries[2])
    check(json.loads(run("-j", "-H", "gone", "nvme").stdout)["error"] == "NoConnection", "one")


@test
def hosts_are_asked_side_by_side():
    """Each answers only once all were asked."""
    names = ["side%d" % i for i in range(8)]
    for name in names:
        host(name, "for n in %s; do until [ -e %s/asked-$n ]; do sleep 0.05; done; done\n"
             "exec %s --from=%s/vm.json --json=short facts nvme"
             % (" ".join(names), TMP.name, CTL, HERE))
    r = run("-H", ",".join(names), "--timeout=100", "nvme")
    check(r.returncode == 0, r.stderr)
    check([line.split()[0] for line in r.stdout.splitlines()[1:]] == names, r.stdout)


@test
def a_slow_host_delays_nobody():
    host("slow", "exec sleep 600")
    begin = time.monotonic()
    r = run("-H", "slow,vm", "--timeout=3", "nvme")
    check(r.returncode == 1 and time.monotonic() - begin < 60, "took too long")
    has(r.stderr, "pnhwctl: slow: no answer within 3 seconds")
    has(r.stdout, "/dev/nvme0n1")


@test
def an_interrupt_shows_what_came():
    # The stand-in ends with its parent's interrupt as ssh does; what had answered is shown.
    host("sleeper", "exec sleep 600")
    for name in "asked-vm", "asked-sleeper":
        if os.path.exists(os.path.join(TMP.name, name)):
            os.unlink(os.path.join(TMP.name, name))
    host("answered", "echo $$ > %s/pid; touch %s/asked-over\n"
         "exec %s --from=%s/vm.json --json=short facts nvme" % (TMP.name, TMP.name, CTL, HERE))
    with subprocess.Popen([CTL, "-H", "answered,sleeper", "--timeout=300", "nvme"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=environment()) as child:
        wait_for(["asked-over", "asked-sleeper"])
        # What has ended and was waited for was read before.
        with open(os.path.join(TMP.name, "pid"), encoding="utf-8") as f:
            answered = "/proc/" + f.read().strip()
        end = time.monotonic() + 60
        while os.path.exists(answered):
            check(time.monotonic() < end, "was not waited for")
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    check(child.returncode == 1, child.returncode)
    has(err, "sleeper: ")
    has(out, "answered")


@test
def what_goes_wrong_is_said_of_the_host():
    host("gone", "echo 'Warning: something' >&2\n"
         "echo 'ssh: connect to host gone port 22: No route to host' >&2\nexit 255")
    host("bare", "echo 'sh: 1: pnhwctl: not found' >&2\nexit 127")
    host("old", "echo '{\"error\":\"Usage\",\"message\":\"there is no verb facts\"}'\nexit 1")
    host("stopped", "echo '{\"error\":\"NoDaemon\",\"message\":\"pnhwd is not running\"}'\nexit 1")
    host("chatty", "echo Welcome; echo '{}'")
    host("empty", "exit 0")
    host("killed", "kill -9 $$")
    host("wrong", "echo '{\"status\":{\"schema\":\"one\"}}'")
    host("list", "echo '[]'")
    host("evil", "printf '{\"error\":\"x\",\"message\":\"\\\\u001b[2Jevil\\\\u202e\"}'; exit 1")
    host("evil2", "printf '\\033[2Jevil\\r' >&2; exit 255")
    host("deep", "printf '[%.0s' $(seq 5000)")
    for name, parts in (("gone", ["No route to host"]), ("bare", ["not installed"]),
                        ("old", ["older than this one"]), ("stopped", ["pnhwd is not running"]),
                        ("chatty", ["makes no sense"]), ("empty", ["no answer"]),
                        ("killed", ["no answer"]), ("wrong", ["makes no sense", "schema"]),
                        ("list", ["makes no sense"]), ("evil", ["evil"]), ("evil2", ["evil"]),
                        ("deep", ["makes no sense"])):
        for verb in ["status"], ["nvme"], ["show", "nvme0"]:
            r = run("-H", name, *verb)
            check(r.returncode == 1 and r.stdout == "", (name, r.stdout))
            check(r.stderr.startswith("pnhwctl: %s: " % name) and r.stderr.count("\n") == 1, r.stderr)
            if verb[0] == "status":
                has(r.stderr, *parts)
            check(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", r.stderr), repr(r.stderr))
            error = json.loads(run("-j", "-H", name, *verb).stdout)
            check(set(error) == {"error", "message"}, error)
    r = run("-H", "vm", "nvme", PNHW_SSH="/nonexistent/ssh")
    has(r.stderr, "vm: cannot run /nonexistent/ssh: No such file")


@test
def hostile_facts_stay_text():
    for verb in ["status"], ["nvme"], ["pcie"], ["disks"], ["show", "nvme3"]:
        for hosts in "hostile", "hostile,vm":
            for mode in "--json=off", "--json=short":
                r = run("-H", hosts, mode, *verb)
                check(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u200b]",
                                    r.stdout + r.stderr), repr(r.stdout))


@test
def names_that_are_no_hosts_are_refused():
    for name in "-oProxyCommand=touch x", "a b", "a;b", "", "a,,b", "a,", "@a", "a@", "a@-b", "a\nb", \
            "\x1b[2J", "a@b@c", "$(x)", "x" * 300, "-v", "ä":
        before = os.path.exists(os.path.join(TMP.name, "called"))
        if before:
            os.unlink(os.path.join(TMP.name, "called"))
        r = run("--host=" + name, "nvme")
        check(r.returncode == 1 and r.stdout == "", (name, r.stdout))
        has(r.stderr, "--host")
        check(not os.path.exists(os.path.join(TMP.name, "called")), "ssh was called for %r" % name)
        check(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", r.stderr), repr(r.stderr))
    r = run("-H", "vm", "show", "a\nb")
    has(r.stderr, "no device has a name like a")


@test
def options_that_do_not_go_together():
    for args, part in ((["-H", "vm", "--from=x"], "exclude"), (["--timeout=3"], "--host"),
                       (["-H", "vm", "--timeout=0"], "0.1 to 3600"),
                       (["-H", "vm", "--timeout=x"], "0.1 to 3600"),
                       (["-H", "vm,ports", "capture"], "one host"),
                       (["-H", "vm,ports", "report", "--format=html"], "one host"),
                       (["-H", "vm,ports", "report", "--format=svg"], "one host"),
                       (["-H", "vm,ports", "report", "--output=" + TMP.name + "/r.md"], "one host")):
        r = run(*args)
        check(r.returncode == 1 and r.stdout == "", args)
        has(r.stderr, part)


@test
def a_host_can_be_captured():
    r = run("-H", "first-customer", "capture")
    check(r.returncode == 0, r.stderr)
    check("7QH00RTP" not in r.stdout and len(json.loads(r.stdout)["nvme"]) == 5, r.stdout[:500])


@test
def a_check_of_several_hosts_is_one_line_each_the_worst_first():
    r = run("-H", "first-customer", "check", "--at-least=notice")
    check(r.returncode == 1 and r.stderr == "", (r.returncode, r.stderr))
    check(re.match(r"PNHW WARNING - first-customer: nvme3: .* \| critical=0 warning=0 notice=3\n$",
                   r.stdout), r.stdout)
    for arguments in (["-H", "vm,gone,first-customer", "check", "--at-least=notice"],
                      ["check", "-H", "vm,gone", "--host", "first-customer", "--at-least=notice"]):
        r = run(*arguments)
        lines = r.stdout.splitlines()
        check(r.returncode == 1 and r.stderr == "" and len(lines) == 3, (r.returncode, r.stdout))
        check(lines[0].startswith("PNHW WARNING - first-customer: "), lines)
        check(lines[0].endswith(" | 'vm critical'=0 'vm warning'=0 'vm notice'=0 'first-customer "
                                "critical'=0 'first-customer warning'=0 'first-customer notice'=3"),
              lines[0])
        check(lines[1] == "PNHW UNKNOWN - gone: ssh: connect to host gone port 22: No route to host",
              lines)
        check(lines[2].startswith("PNHW OK - vm: "), lines)
        # Of what follows the first line a monitoring system takes all after a bar for figures.
        check(r.stdout.count("|") == 1, r.stdout)
    r = run("-H", "gone", "check")
    check(r.returncode == 3 and "UNKNOWN - gone: ssh: connect" in r.stdout, r.stdout)
    r = run("-H", "vm,gone", "check", "nvme0")
    check(r.returncode == 3 and "OK - vm: " in r.stdout, r.stdout)
    r = run("-H", "vm,first-customer", "check", "nvme3")
    check(r.returncode == 3, r.stdout)
    has(r.stdout, "UNKNOWN - vm: there is no device nvme3", "OK - first-customer: ")
    entries = json.loads(run("-j", "-H", "vm,gone", "check").stdout)
    check(entries[0]["answer"]["code"] == 0 and entries[1]["error"] == "NoConnection", entries)


@test
def what_a_host_says_cannot_break_the_line_of_a_check():
    host("sly", "echo '{\"check\":{\"status\":\"OK\",\"code\":2,\"line\":\"PNHW OK - all | is=1\\n"
         "PNHW OK - fine\",\"perfdata\":\"a=1 b|c=2 d x'\"'\"'=3\"}}'")
    for hosts in "sly", "sly,vm", "vm,sly":
        r = run("-H", hosts, "check")
        check(r.returncode == 2 and r.stdout.startswith("PNHW CRITICAL - sly: all"), r.stdout)
        check(r.stdout.count("\n") == len(hosts.split(",")) and r.stdout.count("|") <= 2, r.stdout)
    has(r.stdout, " | 'vm critical'=0 'vm warning'=0 'vm notice'=0 'sly a'=1\n")
    host("offscale", "echo '{\"check\":{\"status\":\"OK\",\"code\":7,\"line\":\"x\",\"perfdata\":\"\"}}'")
    r = run("-H", "offscale", "check")
    check(r.returncode == 3 and r.stdout.startswith("PNHW UNKNOWN - offscale: x"), r.stdout)


@test
def for_checkmk_each_host_is_a_service():
    r = run("-H", "vm,gone", "check", "--checkmk", "nvme0")
    lines = r.stdout.splitlines()
    check(r.returncode == 0 and len(lines) == 2, r.stdout)
    check(lines[0].startswith('0 "Hardware vm nvme0" critical=0|warning=0|notice=0 '), lines)
    check(lines[1].startswith('3 "Hardware gone nvme0" - ssh: connect to host gone'), lines)


@test
def metrics_of_several_hosts_are_one_page():
    r = run("-H", "vm,gone,first-customer", "metrics")
    check(r.returncode == 1, r.returncode)
    check(r.stderr == "pnhwctl: gone: ssh: connect to host gone port 22: No route to host\n", r.stderr)
    lines = r.stdout.splitlines()
    families = [line.split()[2] for line in lines if line.startswith("# TYPE ")]
    check(len(families) == len(set(families)) > 20 and lines[-1] == "# EOF", families)
    check(lines.count("# EOF") == 1, "one end")
    samples = [line for line in lines if not line.startswith("#")]
    check(all('{host="' in line for line in samples), "each has its host")
    check(lines[2:5] == ['pnhw_host_up{host="vm"} 1', 'pnhw_host_up{host="gone"} 0',
                         'pnhw_host_up{host="first-customer"} 1'], lines[:8])
    for name in "vm", "first-customer":
        here = local(name, "metrics").stdout.splitlines()
        mine = [line.replace('{host="%s"} ' % name, " ").replace('{host="%s",' % name, "{")
                for line in samples if '{host="%s"' % name in line]
        check(sorted(mine[1:]) == sorted(line for line in here if not line.startswith("#")), name)
    # Samples of a family are together.
    order, family = [], None
    for line in lines:
        family = line.split()[2] if line.startswith("# TYPE ") else family
        if not line.startswith("#"):
            check(line.startswith(family), (family, line))
            order.append(family)
    target = os.path.join(TMP.name, "hosts.prom")
    r = run("-H", "vm,gone", "metrics", "--output=" + target)
    check(r.returncode == 1 and r.stdout == "", r.stdout)
    with open(target, encoding="utf-8") as f:
        text = f.read()
    has(text, 'pnhw_host_up{host="gone"} 0', "# TYPE pnhw_build_info gauge")
    check("# EOF" not in text and "# UNIT" not in text, "the older format")
    page = json.loads(run("-j", "-H", "vm", "metrics").stdout)["openmetrics"]
    check(page == run("-H", "vm", "metrics").stdout, "JSON")
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
    except ImportError:
        print("skip - the joined page in Prometheus's own parser: python3-prometheus-client is "
              "not installed")
        return
    check(len(list(parse(run("-H", "vm,first-customer", "metrics").stdout))) == len(families), "read")


@test
def a_page_of_metrics_that_is_none_is_not_taken():
    def page(text):
        return "echo '%s'" % json.dumps({"metrics": {"openmetrics": text}}).replace("'", "'\\''")
    host("torn", page("# TYPE a gauge\na 1\n"))
    host("rude", page("# TYPE a gauge\na{x=\"\"} 1\nb 2\n# EOF\n"))
    host("nobody", "echo '{\"metrics\":{}}'")
    for name in "torn", "rude", "nobody":
        r = run("-H", name + ",vm", "metrics")
        check(r.returncode == 1, r.stdout)
        has(r.stderr, "pnhwctl: %s: its answer makes no sense" % name)
        has(r.stdout, 'pnhw_host_up{host="%s"} 0\npnhw_host_up{host="vm"} 1' % name)
        check(not re.search("^(a|b|# TYPE a)\\b", r.stdout, re.MULTILINE), r.stdout)


# ---- watch ----

class Daemon:
    """Tells subscribers of one status after the other, and can hang up on them."""

    def __init__(self, name, based_on):
        self.name, self.path = name, os.path.join(TMP.name, name + ".sock")
        self.status = json.loads(local(based_on, "-j").stdout)
        self.status.update(generation=1)
        self.lock, self.peers = threading.Lock(), []
        self.listen()
        host(name, 'command=$1\neval "${command/pnhwctl/%s --socket=%s}"' % (CTL, self.path))

    def listen(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.path)
        self.socket.listen(8)
        threading.Thread(target=self.serve, args=(self.socket,), daemon=True).start()

    def serve(self, listener):
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            request = b""
            while not request.endswith(b"\0"):
                request += peer.recv(65536) or b"\0"
            with self.lock:
                self.peers.append(peer)
                self.tell(peer)

    def tell(self, peer):
        message = {"parameters": {"status": self.status, "changed": []}, "continues": True}
        try:
            peer.sendall(json.dumps(message).encode() + b"\0")
        except OSError:
            pass

    def change(self, findings):
        with self.lock:
            self.status = {**self.status, "findings": findings,
                           "generation": self.status["generation"] + 1}
            for peer in self.peers:
                self.tell(peer)

    def hang_up(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        os.unlink(self.path)
        with self.lock:
            for peer in self.peers:
                peer.close()
            self.peers = []


class Watching:
    """pnhwctl watch in a pipe; or, with a width, on a terminal."""

    def __init__(self, *args, width=0, rows=40):
        out, child_out = pty.openpty() if width else os.pipe()
        self.errors, child_errors = os.pipe()
        self.main = out
        if width:
            self.resize(width, rows, child_out)
        self.child = subprocess.Popen([CTL, *args, "watch"], stdin=child_out if width else subprocess.DEVNULL,
                                      stdout=child_out, stderr=child_errors, start_new_session=True,
                                      env=environment(TERM="xterm-256color", LC_ALL="C.UTF-8"))
        os.close(child_out)
        os.close(child_errors)
        self.text = {self.main: "", self.errors: ""}

    def resize(self, width, rows, fd=None):
        fcntl.ioctl(self.main if fd is None else fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, width, 0, 0))

    def read_on(self, seconds):
        ready, _, _ = select.select([fd for fd in (self.main, self.errors) if fd >= 0], [], [], seconds)
        for fd in ready:
            try:
                chunk = os.read(fd, 65536)
            except OSError:
                chunk = b""
            self.text[fd] += chunk.decode(errors="replace")
            if not chunk:
                return False
        return True

    def wait_for(self, *parts, where=None, seconds=60):
        """Reads until all of them came, in any order; returns what was read so far and forgets it."""
        fd = self.main if where is None else where
        end = time.monotonic() + seconds
        while not all(part in self.text[fd] for part in parts):
            check(time.monotonic() < end, "%r never came:\n%s" % (parts, self.text))
            if not self.read_on(0.5) and not all(part in self.text[fd] for part in parts):
                check(False, "it ended: %s" % self.text)
        text, self.text[fd] = self.text[fd], ""
        return text

    def end(self, how=signal.SIGTERM):
        self.child.send_signal(how)
        code = self.child.wait(timeout=60)
        os.close(self.main)
        os.close(self.errors)
        return code


def finding(id_, severity="warning", summary="nvme0 is too hot."):
    return {"id": id_, "code": "nvme.hot", "severity": severity, "subject": "S", "device": "nvme0",
            "summary": summary, "state": "raised"}


@test
def several_hosts_are_watched_side_by_side():
    one, two = Daemon("one", "vm"), Daemon("other", "vm")
    host("hangs", "exec sleep 600")
    watching = Watching("-H", "one,hangs,other")
    watching.wait_for(" one   ", " other ")
    one.change([finding("0123456789ab", summary="This is hot.")])
    line = watching.wait_for("This is hot.", "\n").splitlines()[-1]
    check(re.match(r"\d{4}-\d\d-\d\d [\d:]{8} one   . raised .* This is hot. \[nvme.hot 0123456789ab\]$",
                   line), line)
    two.change([finding("0123456789ab", summary="This, too.")])
    has(watching.wait_for("This, too."), "other ")
    one.change([])
    has(watching.wait_for("cleared"), "one ")
    # Nothing is told twice when the connection was lost.
    two.hang_up()
    watching.wait_for("other: is away (", where=watching.errors)
    two.listen()
    watching.wait_for("other: is back", where=watching.errors)
    two.change([finding("0123456789ab", summary="This, too."), finding("ba9876543210", summary="More.")])
    check("too" not in watching.wait_for("More."), "told twice")
    check(watching.end() == 0, "status")


@test
def lines_of_json_say_which_host():
    one, two = Daemon("jone", "vm"), Daemon("jother", "first-customer")
    watching = Watching("-j", "-H", "jone,jother")
    first = [json.loads(line) for line in
             watching.wait_for('"host":"jone"', '"host":"jother"', "]}\n").splitlines()]
    check({entry["host"] for entry in first} <= {"jone", "jother"}, first)
    one.change([finding("0123456789ab", summary="Hot\x1b[2J.")])
    text = watching.wait_for("0123456789ab", "]}\n")
    entry = [json.loads(line) for line in text.splitlines() if "0123456789ab" in line][0]
    check(entry["host"] == "jone" and entry["generation"] == 2 and len(entry["changed"]) == 1, entry)
    check("\x1b" not in text, repr(text))
    check(watching.end() == 0, "status")
    two.hang_up()


@test
def a_page_of_several_hosts_is_drawn_in_place():
    one = Daemon("pone", "vm")
    host("pgone", "echo 'ssh: connect to host pgone port 22: No route to host' >&2\nexit 255")
    watching = Watching("-H", "pone,pgone", width=100)
    watching.wait_for("No PCI Express link can be judged", "No route to host", "1 host is away")
    one.change([finding("0123456789ab", summary="This is hot.")])
    watching.wait_for("This is hot.")
    for width, rows in (20, 4), (1, 1), (300, 100), (80, 24):
        watching.text[watching.main] = ""
        watching.resize(width, rows)
        watching.child.send_signal(signal.SIGWINCH)
        watching.wait_for("\x1b[H")
    one.hang_up()
    watching.wait_for("Away since", "2 hosts are away")
    os.write(watching.main, b"q")
    check(watching.child.wait(timeout=60) == 0, "status")
    watching.end()
    # Of one host it is the whole page.
    one = Daemon("ptwo", "first-customer")
    watching = Watching("-H", "ptwo", width=100)
    watching.wait_for("pnhwctl -H ptwo show nvme3", "q ends")
    # A terminal that is closed ends it, and ssh with it.
    os.close(watching.main)
    check(watching.child.wait(timeout=60) in (0, -signal.SIGHUP), watching.child.returncode)
    os.close(watching.errors)
    end = time.monotonic() + 60
    while one.peers and time.monotonic() < end:
        one.peers = [peer for peer in one.peers if peer.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) != b""] \
            if select.select(one.peers, [], [], 0.5)[0] else one.peers
    check(not one.peers, "the other end goes on")


@test
def what_cannot_be_watched_is_said():
    host("wold", "echo '{\"error\":\"Usage\",\"message\":\"there are no facts watch\"}'\nexit 1")
    host("wdown", "echo '{\"error\":\"NoDaemon\",\"message\":\"pnhwd is not running\\nstart it\"}'\nexit 1")
    host("wmad", "echo hello")
    r = run("-H", "gone,wold,wdown,wmad", "watch")
    check(r.returncode == 1 and r.stdout == "", (r.returncode, r.stdout))
    has(r.stderr, "gone: is away (ssh: connect to host gone", "wold: is away (its pnhwctl does not know",
        "wdown: is away (pnhwd is not running);", "wmad: is away (its answer makes no sense)",
        "none of the hosts can be watched")
    r = run("-H", "vm", "watch", PNHW_SSH="/nonexistent/ssh")
    check(r.returncode == 1, r.stderr)
    has(r.stderr, "vm: is away (cannot run /nonexistent/ssh")
    r = run("-H", "vm", "watch", "--exec", "true")
    check(r.returncode == 1 and "--exec" in r.stderr, r.stderr)
    r = run("-H", ",".join("h%d" % i for i in range(65)), "watch")
    check(r.returncode == 1 and "more than 64" in r.stderr, r.stderr)


def main():
    global failed
    write("ssh", STAND_IN)
    host("gone", "echo 'ssh: connect to host gone port 22: No route to host' >&2\nexit 255")
    for function in tests:
        name = function.__name__.replace("_", " ")
        try:
            function()
        except Exception as e:  # pylint: disable=broad-except
            failed += 1
            print("not ok - %s: %s" % (name, str(e)[:2000]))
        else:
            print("ok - %s" % name)
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
