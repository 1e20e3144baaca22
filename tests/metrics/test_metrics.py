#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_metrics.py BUILD_DIR: the pages that pnhwctl writes are what their readers take (OpenMetrics,
promtool, node_exporter), the file that it writes is whole at each moment, and the rules and the
dashboard name only series that exist.

promtool and prometheus-node-exporter are looked for in $PATH and in build-tools/, where ./run test
puts them."""

import json
import math
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

BUILD = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CTL = os.path.join(BUILD, "cli", "pnhwctl")
GOLDEN = os.path.join(ROOT, "tests", "golden")
PROMETHEUS = os.path.join(ROOT, "docs", "prometheus")
SAMPLE = re.compile(r'^(?P<name>[a-z_]+)(?:\{(?P<labels>(?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})?'
                    r' (?P<value>\S+)$')
tests = []
failures = 0


class Skip(Exception):
    pass


def test(function):
    tests.append(function)
    return function


def check(truth, why):
    if not truth:
        raise AssertionError(why)


def tool(name):
    """The path of a program that is not pnhw's."""
    path = os.environ["PATH"] + ":" + os.path.join(ROOT, "build-tools")
    found = shutil.which(name, path=path)
    if not found:
        raise Skip(f"needs {name}, which ./run test fetches where Debian's packages can be had")
    return found


def ctl(*arguments, code=0, **more):
    """What it prints, its line ends as they are; or, where it is to fail, what it says."""
    done = subprocess.run([CTL, *arguments], capture_output=True, timeout=60, check=False, **more)
    check(done.returncode == code, f"{arguments}: exit {done.returncode}: {done.stderr}")
    return (done.stdout if code == 0 else done.stderr).decode()


def inventories():
    for folder, ending in ((GOLDEN, ".inventory.json"), (os.path.join(ROOT, "tests", "cli"), ".json"),
                           (os.path.join(ROOT, "tests", "metrics"), ".json")):
        for name in sorted(os.listdir(folder)):
            if name.endswith(ending):
                yield name, os.path.join(folder, name)


def pages(form):
    return {name: ctl("--from=" + path, "metrics", "--format=" + form)
            for name, path in inventories()}


def is_ended(page):
    return page.endswith("\n# EOF\n") and page.count("# EOF") == 1


def samples(page):
    """Each sample as its series and its value; fails on a line that is neither that nor a comment."""
    found = []
    for line in page.rstrip("\n").split("\n"):
        if line.startswith("# "):
            continue
        match = SAMPLE.match(line)
        check(match, f"what is {line!r}?")
        value = float(match["value"])
        check(not math.isnan(value), f"no number: {line}")
        found.append((line[:match.end("value") - len(match["value"]) - 1], value))
    return found


def families():
    """From the description: series -> its labels."""
    with open(os.path.join(ROOT, "docs", "metrics.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| `(pnhw_\w+)` \| \w+ \| (.*?) \|", file.read(), re.MULTILINE)
    return {name: set(re.sub(r"\([^)]*\)", "", labels).replace(" ", "").split(","))
            for name, labels in rows}


@test
def pages_are_openmetrics():
    suffixes = {"gauge": "", "counter": "_total", "info": "_info"}
    for name, page in pages("openmetrics").items():
        check(is_ended(page), f"{name}: no end")
        family, seen = None, set()
        for line in page.split("\n")[:-2]:
            words = line.split(" ")
            if words[:2] == ["#", "TYPE"]:
                family, kind = words[2], words[3]
                check(family not in seen, f"{name}: {family} is there in two places")
                seen.add(family)
            elif words[0] == "#":
                check(words[2] == family, f"{name}: {line}")
                check(words[1] != "UNIT" or family.endswith("_" + words[3]), f"{name}: {line}")
            else:
                check(SAMPLE.match(line)["name"] == family + suffixes[kind], f"{name}: {line}")
        series = [sample[0] for sample in samples(page)]
        check(len(series) == len(set(series)), f"{name}: a series comes twice")
        check(not (seen - {re.sub("_(total|info)$", "", n) for n in families()}),
              f"{name}: a family that docs/metrics.md does not have")


@test
def a_strict_parser_takes_them():
    script = ("import sys\nfrom prometheus_client.openmetrics.parser import "
              "text_string_to_metric_families as parse\n"
              "print(sum(len(f.samples) for f in parse(sys.stdin.read())))")
    for python in sys.executable, "/usr/bin/python3":
        if os.path.exists(python) and subprocess.run(
                [python, "-c", "import prometheus_client.openmetrics.parser"], check=False,
                stderr=subprocess.DEVNULL).returncode == 0:
            break
    else:
        raise Skip("needs Debian's package python3-prometheus-client")
    for name, page in pages("openmetrics").items():
        done = subprocess.run([python, "-c", script], input=page, capture_output=True, text=True,
                              check=False)
        check(done.returncode == 0, f"{name}: {done.stderr.splitlines()[-1:]}")
        check(int(done.stdout) == len(samples(page)), f"{name}: {done.stdout} samples")


@test
def both_forms_say_the_same():
    # Where an inventory does not say when it was read, findings are seen now.
    def lasting(page):
        return [s for s in samples(page) if "_first_seen_" not in s[0]]

    older = pages("prometheus")
    for name, page in pages("openmetrics").items():
        check(lasting(page) == lasting(older[name]), f"{name}: other samples")
        check("# UNIT" not in older[name] and "# EOF" not in older[name], f"{name}: not the older form")


@test
def promtool_has_nothing_to_say():
    promtool = tool("promtool")
    for name, page in pages("prometheus").items():
        done = subprocess.run([promtool, "check", "metrics"], input=page, capture_output=True, text=True,
                              check=False)
        check(done.returncode == 0 and not done.stdout + done.stderr,
              f"{name}: {done.stdout}{done.stderr}")


@test
def hostile_names_stay_in_their_labels():
    page = ctl("--from=" + os.path.join(ROOT, "tests", "cli", "hostile.json"), "metrics")
    check(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", page), "a control character")
    samples(page)
    check("tab\ufffdhere\\nand newline" in page, "the model is not there")


@test
def node_exporter_shows_every_sample():
    program = tool("prometheus-node-exporter")
    page = ctl("--from=" + os.path.join(GOLDEN, "first-customer.inventory.json"), "metrics",
               "--format=prometheus")
    with tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, "pnhw.prom"), "w", encoding="utf-8") as file:
            file.write(page)
        for port in range(19731, 19741):
            url = f"http://127.0.0.1:{port}/metrics"
            process = subprocess.Popen(
                [program, "--collector.disable-defaults", "--collector.textfile",
                 "--collector.textfile.directory=" + where, f"--web.listen-address=127.0.0.1:{port}"],
                stderr=subprocess.DEVNULL)
            try:
                shown = None
                end = time.monotonic() + 60
                while shown is None and process.poll() is None and time.monotonic() < end:
                    try:
                        with urllib.request.urlopen(url, timeout=30) as answer:
                            shown = answer.read().decode()
                    except OSError:
                        time.sleep(0.05)
                if process.poll() is None and shown is not None:
                    break
            finally:
                process.kill()
                process.wait()
        else:
            raise AssertionError("node_exporter does not start")
    check("node_textfile_scrape_error 0" in shown, "node_exporter could not read the page")
    ours = [line for line in shown.splitlines() if line.startswith("pnhw_")]
    check(len(ours) == len(samples(page)), f"{len(ours)} of {len(samples(page))} samples")


@test
def a_file_is_always_whole():
    source = "--from=" + os.path.join(GOLDEN, "vm.inventory.json")
    with tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, "pnhw.prom")
        ctl(source, "metrics", "--output=" + path, preexec_fn=lambda: os.umask(0o077))
        first = os.stat(path)
        check(stat.S_IMODE(first.st_mode) == 0o644, oct(first.st_mode))
        check(os.listdir(where) == ["pnhw.prom"], os.listdir(where))
        with open(path, encoding="utf-8") as file:
            whole = file.read()
        check(whole == ctl(source, "metrics", "--format=prometheus"), "not the older form")

        # Who reads while it is written anew sees one page or the other, and nothing else.
        stop, broken = threading.Event(), []

        def read():
            while not stop.is_set():
                with open(path, encoding="utf-8") as file:
                    if file.read() != whole:
                        broken.append(1)

        reader = threading.Thread(target=read)
        reader.start()
        try:
            for _ in range(20):
                ctl(source, "metrics", "--output=" + path)
        finally:
            stop.set()
            reader.join()
        check(not broken, "a part of a page was seen")
        check(os.stat(path).st_ino != first.st_ino or len(os.listdir(where)) == 1, "no new file")

        # What cannot be made leaves the page before alone.
        said = ctl("--from=/nonexistent", "metrics", "--output=" + path, code=1)
        check("/nonexistent" in said, said)
        with open(path, encoding="utf-8") as file:
            check(file.read() == whole, "the page before is gone")
        check(os.listdir(where) == ["pnhw.prom"], os.listdir(where))


@test
def a_name_tells_the_form_and_an_option_tells_it_better():
    source = "--from=" + os.path.join(GOLDEN, "empty.inventory.json")
    with tempfile.TemporaryDirectory() as where:
        for name, options, is_open in (("a.prom", [], False), ("a.txt", [], True),
                                       ("b.prom", ["--format=openmetrics"], True),
                                       ("b.txt", ["--format=prometheus"], False)):
            path = os.path.join(where, name)
            check(ctl(source, "metrics", "--output=" + path, *options) == "", "it says something")
            with open(path, encoding="utf-8") as file:
                check(is_ended(file.read()) == is_open, name)
    check(is_ended(ctl(source, "metrics", "--output=-")), "- is not standard output")
    check(is_ended(ctl(source, "metrics", "--output=/dev/stdout")), "/dev/stdout was replaced")
    answer = json.loads(ctl(source, "metrics", "--json=short"))
    check(is_ended(answer["openmetrics"]) and len(answer) == 1, answer)


@test
def what_makes_no_sense_is_refused():
    source = "--from=" + os.path.join(GOLDEN, "empty.inventory.json")
    for arguments, words in ((["metrics", "--format=xml"], "openmetrics and prometheus"),
                             (["status", "--output=x"], "metrics"),
                             (["nvme", "--format=prometheus"], "metrics"),
                             (["metrics", "--output="], "needs the name"),
                             (["metrics", "--output=/nonexistent/x"], "/nonexistent/x: No such file"),
                             (["metrics", "now"], "now")):
        said = ctl(source, *arguments, code=1)
        check(words in said, f"{arguments}: {said}")
    said = json.loads(subprocess.run([CTL, source, "metrics", "-j", "--format=prometheus"], text=True,
                                     capture_output=True, check=False).stdout)
    check("older format" in said["message"], said)


@test
def every_metric_is_shown_by_some_machine():
    shown = {re.match(r"\w+", series)[0] for page in pages("openmetrics").values()
             for series, _ in samples(page)}
    missing = set(families()) - shown
    check(not missing, f"never seen: {sorted(missing)}")


def names_only_what_exists(where, expression):
    """Series, the labels that are asked for, and functions' arguments aside."""
    known = families()
    used = set()
    for name, matchers in re.findall(r"\b(pnhw_\w+)(?:\{([^}]*)\})?", expression):
        check(name in known, f"{where}: there is no {name}")
        used |= known[name]
        for label in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers):
            check(label in known[name] | {"instance", "job"}, f"{where}: {name} has no label {label}")
    return used | {"instance", "job"}


@test
def rules_hold():
    promtool = tool("promtool")
    with open(os.path.join(PROMETHEUS, "pnhw.rules.yml"), encoding="utf-8") as file:
        names_only_what_exists("pnhw.rules.yml", re.sub(r"#.*", "", file.read()))
    cases = sorted(name for name in os.listdir(PROMETHEUS) if name.endswith(".test.yml"))
    for command in (["check", "rules", "pnhw.rules.yml"], ["test", "rules", *cases]):
        done = subprocess.run([promtool, *command], cwd=PROMETHEUS, capture_output=True, text=True,
                              check=False)
        check(done.returncode == 0, done.stdout + done.stderr)


@test
def every_alert_has_a_test():
    with open(os.path.join(PROMETHEUS, "pnhw.rules.yml"), encoding="utf-8") as file:
        alerts = re.findall(r"- alert: (\w+)", file.read())
    tested = ""
    for name in os.listdir(PROMETHEUS):
        if name.endswith(".test.yml"):
            with open(os.path.join(PROMETHEUS, name), encoding="utf-8") as file:
                tested += file.read()
    check(alerts, "no alerts")
    for alert in alerts:
        check(re.search(rf"alertname: {alert}\n\s+exp_alerts:\n\s+- ", tested), f"{alert} is never told")


def dashboard():
    with open(os.path.join(PROMETHEUS, "pnhw-dashboard.json"), encoding="utf-8") as file:
        return json.load(file)


@test
def the_dashboard_is_well_formed():
    board = dashboard()
    panels = board["panels"]
    check(board["schemaVersion"] >= 38 and board["uid"] and board["title"], "no head")
    check(len({panel["id"] for panel in panels}) == len(panels), "two panels with one id")
    variables = {variable["name"] for variable in board["templating"]["list"]}
    taken = {}
    for panel in panels:
        title = panel["title"]
        place = panel["gridPos"]
        check(place["x"] + place["w"] <= 24 and place["w"] > 0 and place["h"] > 0, f"{title}: too wide")
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                check((x, y) not in taken, f"{title} covers {taken.get((x, y))}")
                taken[x, y] = title
        check(panel["datasource"]["uid"] == "${datasource}", f"{title}: a data source of its own")
        check(panel["targets"], f"{title}: shows nothing")
        for target in panel["targets"]:
            labels = names_only_what_exists(title, target["expr"])
            for label in re.findall(r"{{(\w+)}}", target.get("legendFormat", "")):
                check(label in labels, f"{title}: no label {label}")
        used = set(re.findall(r"\$\{?(\w+)", json.dumps(panel)))
        check(used <= variables, f"{title}: no variables {used - variables}")


@test
def prometheus_takes_the_dashboards_questions():
    promtool = tool("promtool")
    lines = ["groups:", "- name: dashboard", "  rules:"]
    for number, expression in enumerate(target["expr"] for panel in dashboard()["panels"]
                                        for target in panel["targets"]):
        lines += [f"  - record: question_{number}", "    expr: " + json.dumps(expression)]
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as rules:
        rules.write("\n".join(lines) + "\n")
        rules.flush()
        done = subprocess.run([promtool, "check", "rules", rules.name], capture_output=True, text=True,
                              check=False)
    check(done.returncode == 0, done.stdout + done.stderr)


@test
def every_question_has_an_answer():
    """Asked of the recorded machines, two hours in which whatever counts has counted on."""
    promtool = tool("promtool")
    series = []
    for machine, page in pages("openmetrics").items():
        if machine == "hostile.json":  # neither YAML nor promtool's own notation has its names
            continue
        counters = set(re.findall(r"^# TYPE (\S+) counter$", page, re.MULTILINE))
        for name, value in samples(page):
            if "\ufffd" in name:
                continue
            family = re.match(r"\w+", name)[0]
            labels = name[len(family):].strip("{}")
            step = 1 if family.removesuffix("_total") in counters else 0
            series.append({"series": f'{family}{{job="node",instance="{machine}"'
                                     f'{"," if labels else ""}{labels}}}',
                           "values": f"{value:.12g}+{step}x24"})
    questions = [target["expr"].replace("$instance", ".*") for panel in dashboard()["panels"]
                 for target in panel["targets"]]
    cases = {"evaluation_interval": "1h", "tests": [
        {"interval": "5m", "input_series": series,
         "promql_expr_test": [{"expr": question, "eval_time": "2h", "exp_samples": []}
                              for question in questions]}]}
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        json.dump(cases, file, ensure_ascii=False)  # which YAML is
        file.flush()
        said = subprocess.run([promtool, "test", "rules", file.name], capture_output=True, text=True,
                              check=False)
    said = said.stdout + said.stderr
    # None is what is expected, so that promtool tells what it got.
    answered = re.findall(r'expr: "((?:[^"\\]|\\.)*)", time: 2h,\s+exp:\s*\S+\s+got:\s*\{', said)
    answered = {json.loads(f'"{question}"') for question in answered}
    for question in questions:
        check(question in answered,
              f"no answer to {question}: {said[:600] if not answered else ''}")


def main():
    global failures
    for function in tests:
        name = function.__name__.replace("_", " ")
        try:
            function()
        except Skip as reason:
            print(f"skip - {name}: {reason}")
        except Exception as error:  # pylint: disable=broad-except
            failures += 1
            print(f"not ok - {name}: {error}")
        else:
            print(f"ok - {name}")
        sys.stdout.flush()
    return failures > 0


sys.exit(main())
