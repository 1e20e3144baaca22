#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The report in all its formats: well-formed, harmless whatever devices are called, in the reader's
language, and, where chromium is installed, as a browser draws it.

Usage: test_report.py BUILD_DIR
"""

import html.parser
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unicodedata
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(os.path.dirname(HERE), "golden")
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
CTL = os.path.join(BUILD, "cli", "pnhwctl")
TMP = tempfile.TemporaryDirectory(prefix="pnhw-report-")
MACHINES = ("first-customer", "bonded", "gpu-server", "crowd")
VOID = {"meta", "br", "hr", "img", "link", "input"}
tests = []


def test(function):
    tests.append(function)
    return function


def check(condition, why):
    if not condition:
        raise AssertionError(why)


def has(text, *parts):
    for part in parts:
        check(part in text, "%r is not in:\n%s" % (part, text[:3000]))


def has_not(text, *parts):
    for part in parts:
        at = text.find(part)
        check(at < 0, "%r is in: …%s" % (part, text[max(0, at - 100):at + 100]))


def path_of(name):
    return os.path.join(TMP.name, name)


def saved(machine):
    return os.path.join(GOLDEN, machine + ".inventory.json")


def run(*args, **env):
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "TMPDIR") or
            k.startswith(("ASAN_", "UBSAN_", "LSAN_", "LD_"))}
    ours = {"LANG": "C.UTF-8", "TZ": "UTC", "PNHW_SOCKET": path_of("none"), **env}
    r = subprocess.run([CTL, *args], capture_output=True, timeout=60, check=False,
                       env={**keep, **ours})
    return r.returncode, r.stdout.decode(), r.stderr.decode()


def report(source, form, *args, **env):
    code, out, err = run("--from=" + source, "report", "--format=" + form, *args, **env)
    check(code == 0 and err == "", (code, err))
    return out


class Page(html.parser.HTMLParser):
    """Fails where an element is not closed, or closed twice; keeps what matters to us."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.text, self.attributes = [], [], [], []
        self.feed(text)
        self.close()
        check(not self.open, "not closed: %s" % self.open)

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        check(self.open and self.open[-1] == tag, "</%s> in %s" % (tag, self.open))
        self.open.pop()

    def handle_data(self, data):
        self.text.append(data)


def tables(markdown):
    """The tables of a page: rows of cells, escaped pipes as what they are."""
    found, fence = [], None
    for line in markdown.split("\n"):
        ticks = re.match(r"`{3,}", line)
        if ticks and (fence is None or line == fence):
            fence = ticks.group() if fence is None else None
        elif fence is None and line.startswith("|"):
            cells = re.split(r"(?<!\\)(?:\\\\)*\|", line)
            if not found or found[-1] is None:
                found = [t for t in found if t is not None] + [[]]
            found[-1].append(cells)
            continue
        if found and found[-1] is not None:
            found.append(None)
    return [t for t in found if t is not None]


# ---- what it says ----

@test
def the_page_that_was_typed_by_hand():
    page = report(saved("first-customer"), "markdown")
    check(page == report(saved("first-customer"), "markdown", LANG="C"), "another in the C locale")
    has(page, "# Hardware of serverhost1\n", "Zpool rpool is held back", "## Board",
        "ASUSTeK COMPUTER INC. Pro WS X570-ACE", "AMD Ryzen 9 3950X", "DIMM_A1", "/dev/nvme0n1",
        "PK4620000104", "2.00 TB / 2.00 TB", "512 B + 0 B", "EGFM11.2", "PCIEX1_1", "zpool rpool",
        "Transceiver in enp4s0f0\n", " Connector Type    : LC\n", " Wavelength        : 850 nm\n",
        "300 m (50um OM3)", "SYSTIN", "- Proxmox VE: 7.0-2", "5.11.22-1-pve",
        "  - → Move it to PCIEX16\\_4" if "PCIEX16\\_4" in page else "  - → Move it to PCIEX16_4")
    for table in tables(page):
        check(len({len(row) for row in table}) == 1, table)
        check(len(table) > 2, table)
    has(report(saved("bonded"), "markdown"), "### Bonds", "balance-alb", "enp4s0f1")
    has(report(saved("empty"), "markdown"), "## What is wrong", "Nothing.")
    wrong, notes = report(saved("first-customer"), "markdown").split("## Notes that need no action")
    check("**note:**" not in wrong and "**note:** USB controller" in notes, "notes among faults")


@test
def the_web_page_is_whole_and_needs_nothing_else():
    for machine in MACHINES + ("empty", "vm", "multipath"):
        text = report(saved(machine), "html")
        page = Page(text)
        check("script" not in page.seen and "link" not in page.seen and "img" not in page.seen,
              page.seen)
        for name, value in page.attributes:
            check(not name.startswith("on") and name not in ("src", "href", "srcset", "data"), name)
            check("url(" not in (value or "") or "url(#" in value, value)
        style = "".join(re.findall(r"<style>(.*?)</style>", text, re.DOTALL))
        has_not(style, "@import", "url(")
        has(style, "prefers-color-scheme", "@media print")
        has(text, "default-src 'none'", '<html lang="en">')
    has("".join(Page(report(saved("first-customer"), "html")).text), "nvme3", "PCIEX16_4",
        "better for nvme3: 7.9 GB/s", "could be 16 GT/s x4", "shared 1.5 : 1")


@test
def the_picture_is_xml():
    for machine in sorted(name.split(".")[0] for name in os.listdir(GOLDEN)
                          if name.endswith(".inventory.json")):
        root = xml.etree.ElementTree.fromstring(report(saved(machine), "svg"))
        check(root.tag == "{http://www.w3.org/2000/svg}svg", root.tag)
        for element in root.iter():
            check(not any(name.endswith("href") for name in element.attrib), element.attrib)
    picture = report(saved("first-customer"), "svg")
    has(picture, 'class="pn-arrow"', 'class="pn-free"', "slot: few lanes")
    with open(saved("crowd"), encoding="utf-8") as file:
        has(report(saved("crowd"), "svg"), *[d["name"] for d in json.load(file)["nvme"]])


def many(n):
    """A machine with so many drives, all at their best but one."""
    pci, nvme = [], []
    link = {"current_speed": 16, "current_width": 4, "max_speed": 16, "max_width": 4}
    for i in range(n):
        port, drive = "0000:%02x:%02x.%x" % (0, i >> 3, i & 7), "0000:%02x:00.0" % (i + 1)
        upper = dict(link, max_width=1, current_width=1) if i == 5 else link
        lower = dict(link, current_width=1) if i == 5 else link
        pci.append({"address": port, "class": "0x060400", "kind": "root_port", "link": upper})
        pci.append({"address": drive, "class": "0x010802", "kind": "endpoint", "parent": port,
                    "link": lower})
        nvme.append({"name": "nvme%d" % i, "address": drive, "transport": "pcie", "state": "live"})
    path = path_of("many.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"pci": pci, "nvme": nvme}, file)
    return path


@test
def what_is_at_its_best_folds():
    path = many(100)
    picture = report(path, "svg")
    has(picture, "99 drives at their best", "nvme6 … nvme99", "slot: few lanes")
    check(picture.count("<g>") < 6, picture.count("<g>"))
    check(report(path, "svg", "--all").count("<g>") > 100, "--all folds, too")
    has(run("--from=" + path, "pcie")[1], "nvme5", "99 links at their best")
    has(run("--from=" + saved("crowd"), "pcie")[1], "nvme11")
    with open(path, encoding="utf-8") as file:
        inventory = json.load(file)
    inventory["pci"] = [p for p in inventory["pci"] if p["link"]["current_width"] == 4]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(inventory, file)
    code, out, _ = run("--from=" + path, "pcie")
    has(out, "All 99 links run at their best.", "--all")
    check(code == 0 and "nvme" not in out, out)


@test
def the_tree_lists_the_places_that_advice_chooses_from():
    with open(saved("first-customer"), encoding="utf-8") as file:
        inventory = json.load(file)
    has(run("--from=" + saved("first-customer"), "pcie")[1], "Free: PCIEX16_4 (16 GT/s x4)\n")
    # One that the firmware alone knows of is a place; one that takes no such card is none.
    inventory["host"]["slots"] += [
        {"designation": "SPARE_1", "type": "PCIe 4.0 x8", "speed": 16, "width": 8, "in_use": False},
        {"designation": "OCP_1", "type": "PCIe OCP 3.0", "speed": 16, "width": 16, "in_use": False}]
    path = path_of("places.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(inventory, file)
    out = run("--from=" + path, "pcie")[1]
    has(out, "SPARE_1 (16 GT/s x8, says the firmware)")
    has_not(out, "OCP_1")


@test
def json_has_all_facts_and_comes_back():
    text = report(saved("first-customer"), "json")
    facts = json.loads(text)
    check(set(facts) == {"status", "inventory"}, set(facts))
    check(len(facts["inventory"]["nvme"]) == 5 and facts["status"]["findings"], "facts are missing")
    places = {f["device"]: f["place"] for f in facts["status"]["findings"] if f["place"]}
    check(places == {"nvme3": "0000:03:05.0"}, places)
    path = path_of("facts.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    for form in ("json", "markdown", "svg"):
        check(report(path, form) == report(saved("first-customer"), form), form)
    check(run("--from=" + path, "report", "--json=short")[1] == text, "--json=short is another")


# ---- hostile names ----

HOSTILE = ("<script>alert(1)</script>", "a|b|c", "`x` ``y`` ```z```", "*bold* _it_ __un__", "<!--",
           "]]>", "\"'><svg onload=alert(1)>", "[a](http://x.example) ![b](y)", "# head", "- item",
           "1. one", "&amp; &#60;", "line\nbreak\r\n\n# head", "tab\t\u001b[31m\u0085\u009b",
           "\u202eright\u2066", "https://x.example www.x.example m@x.example", "\\|\\`", "~~s~~",
           "```", "漢字ドライブ", "e\u0301 \U0001f680", "trailing\\", "+ plus", "=====", "", "   ", "</title>",
           "</style><script>x", "${x} {{x}} %s%n")


def hostile():
    """The first customer's machine with such words in every text that may be any."""
    with open(saved("first-customer"), encoding="utf-8") as file:
        inventory = json.load(file)
    fixed = {"address", "parent", "kind", "class", "status", "state", "power", "transport", "medium",
             "name", "unit", "updated", "physical_function", "reason", "master", "id", "mode"}
    words = iter(HOSTILE * 100)

    def spoil(value, key=None):
        if isinstance(value, dict):
            return {k: spoil(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [spoil(v, key) for v in value]
        if isinstance(value, str) and key not in fixed:
            return next(words)
        return value

    inventory = spoil(inventory)
    for drive, word in zip(inventory["nvme"], HOSTILE):
        drive["model"] = word
    path = path_of("hostile.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(inventory, file)
    return path


def printable(text):
    for c in text:
        check(c == "\n" or unicodedata.category(c) not in ("Cc", "Cf", "Zl", "Zp") or
              c in "\u200d", "character %r" % c)


@test
def names_are_never_markup():
    for source in (hostile(), os.path.join(HERE, "hostile.json")):
        text = report(source, "html")
        printable(text)
        page = Page(text)
        has_not(text, "<script", "<!--", "]]>")
        check("script" not in page.seen and text.count("<svg") == 2, "markup came through")
        check(not any(name.startswith("on") for name, _ in page.attributes), "a handler came through")
        text = report(source, "svg")
        printable(text)
        has_not(text, "<script")
        elements = {e.tag.split("}")[1] for e in xml.etree.ElementTree.fromstring(text).iter()}
        check(elements <= {"svg", "title", "style", "defs", "pattern", "path", "rect", "g", "text"},
              elements)
        text = report(source, "json")
        json.loads(text)
        printable(text)


@test
def names_break_no_table():
    page = report(hostile(), "markdown")
    printable(page)
    # Between fences nothing is markup.
    outside = re.sub(r"^(`{3,})\n.*?^\1\n", "", page, flags=re.MULTILINE | re.DOTALL)
    has_not(outside, "<script", "http://", "https://")
    check(not re.search(r"(?<!\\)\]\(", outside), "a link came through")
    for table in tables(page):
        check(len({len(row) for row in table}) == 1, [len(row) for row in table])
    # Every line is of our making: a heading, a row, an item, or inside a fence.
    fence = None
    for line in page.split("\n"):
        if fence:
            fence = None if line == fence else fence
        elif re.fullmatch(r"`{3,}", line):
            fence = line
        else:
            check(not line or re.match(r"(# H|#{2,3} [A-Z]|\|.*\|$| *- |As of|Nothing|[^ #`>+=~-])", line),
                  line)
    check(fence is None, "a fence is open at the end")
    headings = [l for l in page.split("\n") if l.startswith("#")]
    check("# head" not in headings, headings)


# ---- options and files ----

@test
def a_file_is_whole_or_not_there():
    source = "--from=" + saved("first-customer")
    target = path_of("page.html")
    code, out, err = run(source, "report", "--output=" + target)
    check((code, out, err) == (0, "", ""), (code, out, err))
    with open(target, encoding="utf-8") as file:
        check(file.read() == report(saved("first-customer"), "html"), "the file differs")
    check(stat.S_IMODE(os.stat(target).st_mode) & 0o600 == 0o600, "unreadable")
    for name, start in (("a.md", "# Hard"), ("a.svg", "<svg"), ("a.json", "{"), ("a", "# Hard"),
                        ("a.HTM", "<!DOCTYPE")):
        run(source, "report", "--output=" + path_of(name))
        with open(path_of(name), encoding="utf-8") as file:
            check(file.read().startswith(start), name)
    code, out, err = run(source, "report", "--output=" + path_of("x.pdf"))
    check(code == 1 and not os.path.exists(path_of("x.pdf")), "a PDF that is none")
    has(err, "no format for .pdf files", "--format=NAME")
    for arguments in (["--format=html", "--output=" + path_of("x.pdf")],
                      ["--output=" + path_of("plain")]):
        code, out, err = run(source, "report", *arguments)
        check(code == 0, err)
    code, out, err = run(source, "report", "--output=" + path_of("no/such/dir"))
    check(code == 1 and "No such file" in err and "no/such/dir" in err, err)
    check(run(source, "report", "--output=-")[1].startswith("# Hard"), "- is standard output")
    check(run(source, "report", "--format=svg", "--output=/dev/null")[0] == 0, "/dev/null")
    check(stat.S_ISCHR(os.stat("/dev/null").st_mode), "replaced /dev/null")
    code, _, err = run(source, "report", "--output=/dev/full")
    check(code == 1 and "No space left" in err, err)
    left = [name for name in os.listdir(TMP.name) if re.search(r"\.[A-Za-z0-9]{6}$", name)]
    check(not left, "left behind: %s" % left)


@test
def wrong_options_get_a_sentence():
    source = "--from=" + saved("first-customer")
    for args, part in ((("report", "--format=pdf"), "markdown, html, svg and json"),
                       (("nvme", "--format=html"), "--format goes with the verbs report metrics, not with nvme"),
                       (("status", "--output=x"), "--output goes with the verbs report metrics capture"),
                       (("report", "--output="), "needs the name of a file"),
                       (("report", "now"), "too many words")):
        code, out, err = run(source, *args)
        check(code == 1 and out == "" and part in err, (args, err))
    code, out, _ = run(source, "report", "--format=html", "--json=short")
    check(code == 1 and "exclude" in json.loads(out)["message"], out)


# ---- languages ----

@test
def germans_read_german():
    catalogue = os.path.join(BUILD, "po", "de", "LC_MESSAGES", "pnhw.mo")
    if not os.path.exists(catalogue):
        return "gettext was not installed when this was built"
    page = report(saved("first-customer"), "markdown", LANG="de_DE.UTF-8")
    has(page, "# Hardware von serverhost1", "## Mainboard", "## Arbeitsspeicher", "### Gerätenamen",
        "## Netzwerkanschlüsse", "Seriennummer", "Wellenlänge", "bestmöglich")
    has_not(page, "| at its best", "Of best")
    text = report(saved("first-customer"), "html", LANG="de_DE.UTF-8")
    Page(text)
    has(text, '<html lang="de">', 'class="summary">nvme3: Slot PCIEX1_1 hat 1 Lane', "besser für nvme3")
    has_not(text, 'lang="en"')
    xml.etree.ElementTree.fromstring(report(saved("first-customer"), "svg", LC_ALL="de_AT.UTF-8"))
    has(run("--from=" + saved("first-customer"), "nvme", LANG="de_DE.UTF-8")[1], "SERIENNUMMER")
    has(run("--from=" + saved("first-customer"), "show", "nvme3", LC_ALL="de_DE.UTF-8")[1],
        "HERSTELLER", "BETRIEBSZEIT")
    has(run("--help", LANG="de_DE.UTF-8")[1], "Verben:", "Größe")
    has(run("--from=" + saved("vm"), LANG="de_DE.UTF-8")[1], "virtuelle Maschine", "GERÄT",
        "1 Verbindung ist nicht zu beurteilen", "alle Quellen frisch")
    # A terminal without the letters gets others; JSON and other languages are as ever.
    has(run("--from=" + saved("first-customer"), "pcie", LC_ALL="de_DE")[1], "bestmoeglich")
    check(report(saved("first-customer"), "json", LANG="de_DE.UTF-8") ==
          report(saved("first-customer"), "json"), "JSON is translated")
    for language in ("C", "en_US.UTF-8", "C.UTF-8", "xx_XX.UTF-8", ""):
        has(report(saved("first-customer"), "markdown", LANG=language), "# Hardware of serverhost1")
    return None


# ---- in a browser ----

MEASURE = """<script>
onload = function () {
  const problems = [], shown = [...document.querySelectorAll('svg')].filter(s => s.clientWidth ||
    s.getBoundingClientRect().width);
  if (document.documentElement.scrollWidth > innerWidth)
    problems.push('wider than the window: ' + document.documentElement.scrollWidth);
  if (document.scripts.length != 1) problems.push('scripts: ' + document.scripts.length);
  if (performance.getEntriesByType('resource').length)
    problems.push('asked for ' + performance.getEntriesByType('resource')[0].name);
  if (shown.length != WANTED) problems.push('pictures: ' + shown.length);
  for (const table of document.querySelectorAll('.scroll'))
    if (table.scrollWidth > table.clientWidth + 1 && NAME != 'hostile')
      problems.push('has to be scrolled: ' + table.textContent.slice(0, 60));
  for (const svg of shown) {
    const edge = svg.getBoundingClientRect(), rects = [];
    for (const text of svg.querySelectorAll('text')) {
      const r = text.getBoundingClientRect();
      if (r.left < edge.left - 1 || r.right > edge.right + 1 || r.bottom > edge.bottom + 1)
        problems.push('cut off: ' + text.textContent);
      for (const [o, words] of rects)
        if (r.left < o.right - 1 && o.left < r.right - 1 && r.top < o.bottom - 4 &&
            o.top < r.bottom - 4)
          problems.push('"' + text.textContent + '" covers "' + words + '"');
      rects.push([r, text.textContent]);
    }
    for (const box of svg.querySelectorAll('rect.pn-box')) {
      const b = box.getBoundingClientRect();
      for (const [o, words] of rects)
        if (o.left > b.left && o.left < b.right && o.top > b.top && o.bottom < b.bottom + 2 &&
            o.right > b.right)
          problems.push('leaves its box: ' + words);
    }
  }
  parent.postMessage([NAME, innerWidth, problems], '*');
};
</script>"""

COLLECT = """<!DOCTYPE html><title>waiting</title><pre id=result></pre><script>
const all = [];
onmessage = function (e) {
  all.push(e.data);
  document.getElementById('result').textContent = JSON.stringify(all);
};
</script>"""


def browse(chromium, pages):
    """All pages in frames of both widths, in one run. Returns [name, width, problems] of each."""
    frames = COLLECT
    for name, text in pages:
        wanted = str(text.count("<svg") // 2)
        text = re.sub(r"<meta http-equiv[^>]*>", "", text)
        text = text.replace("</body>", MEASURE.replace("NAME", json.dumps(name))
                            .replace("WANTED", wanted) + "</body>")
        with open(path_of(name + ".page.html"), "w", encoding="utf-8") as file:
            file.write(text)
        for width in (1280, 390):
            frames += '<iframe width=%d height=900 style="border:0" src="%s.page.html"></iframe>' % (
                width, name)
    with open(path_of("frames.html"), "w", encoding="utf-8") as file:
        file.write(frames)
    r = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu",
                        "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                        "--disable-component-update", "--disable-extensions",
                        "--user-data-dir=" + path_of("profile"), "--window-size=1400,1000",
                        "--virtual-time-budget=20000", "--dump-dom",
                        "file://" + path_of("frames.html")],
                       capture_output=True, timeout=240, check=False)
    found = re.search(r'<pre id="result">(.*?)</pre>', r.stdout.decode(), re.DOTALL)
    check(found and found.group(1), "chromium shows nothing: %s" % r.stderr.decode()[-500:])
    return json.loads(html.unescape(found.group(1)))


@test
def a_browser_shows_it_whole():
    chromium = next((c for c in map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
                     if c), None)
    if not chromium:
        return "chromium is not installed"
    pages = [(machine, report(saved(machine), "html")) for machine in MACHINES + ("empty", "vmd")]
    pages.append(("german", report(saved("first-customer"), "html", LANG="de_DE.UTF-8")))
    pages.append(("hostile", report(hostile(), "html")))
    pages.append(("many", report(many(100), "html")))
    results = browse(chromium, pages)
    check(len(results) == 2 * len(pages), "%d of %d frames answered" % (len(results), 2 * len(pages)))
    for name, width, problems in results:
        check(width in (390, 1280) and not problems, "%s at %d: %s" % (name, width, problems[:4]))
    return None


def main():
    failed = 0
    if not os.access(CTL, os.X_OK):
        print("not ok - pnhwctl: %s is not there; build it first" % CTL)
        return 1
    for function in tests:
        name = function.__name__.replace("_", " ")
        try:
            reason = function()
        except Exception as e:  # pylint: disable=broad-except
            failed += 1
            print("not ok - %s: %s" % (name, e))
        else:
            print("skip - %s: %s" % (name, reason) if reason else "ok - %s" % name)
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
