#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs probe and client on every machine of tests/machines and compares what they say, in full,
with what was recorded and read by a person.

usage: golden.py [--update] BUILD_DIR [MACHINE...]
"""

import difflib
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BED = os.path.join(ROOT, 'tests', 'bed')
# Machines whose page of metrics is recorded, too: drives and a module, bonds, what measures little.
METRICS = {'first-customer', 'lacp', 'vm'}
# Whose report is recorded, in English and in German: drives and modules, bonds, faults, and little.
REPORTS = {'first-customer', 'lacp', 'degraded', 'vm'}
LANGUAGES = {'': 'C.UTF-8', '.de': 'de_DE.UTF-8'}
OPTIONS = {'crowd': ['--drives', '12', '--functions', '80']}


# Times differ from run to run. What stands for them still has the field's type: the recorded
# inventories are shown where a fake host cannot run (`./run status --demo`).
TIMES = {'updated': '2021-06-01T00:00:00Z', 'since': '2021-06-01T00:00:00Z', 'took_ms': 0}


def without_times(value):
    """Replaces times; that they are there is other tests' business."""
    if isinstance(value, dict):
        return {key: TIMES[key] if key in TIMES and item is not None else without_times(item)
                for key, item in value.items()}
    if isinstance(value, list):
        return [without_times(item) for item in value]
    return value


def without_clock(page):
    return ''.join(line.split('as of ')[0].rstrip() + '\n' if 'as of ' in line else line
                   for line in page.splitlines(keepends=True))


def run(command, language='C.UTF-8', **arguments):
    environment = {name: value for name, value in os.environ.items() if name != 'LANGUAGE'}
    environment.update(LC_ALL=language, NO_COLOR='1', COLUMNS='100', TZ='UTC')
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False,
                          timeout=120, **arguments)


def has_catalogue(build):
    return os.path.exists(os.path.join(build, 'po', 'de', 'LC_MESSAGES', 'pnhw.mo'))


def reports(build, machine, inventory):
    """The pages that an administrator would type, from an inventory without times of its own."""
    answers = {}
    with tempfile.NamedTemporaryFile('w', suffix='.json') as saved:
        json.dump(inventory, saved)
        saved.flush()
        for name, language in LANGUAGES.items():
            if name and not has_catalogue(build):
                print(f'skip - {machine}.report{name}.md: gettext was not installed when this was built')
                continue
            page = run([os.path.join(build, 'cli', 'pnhwctl'), '--from=' + saved.name, 'report',
                        '--format=markdown'], language)
            if page.returncode != 0:
                raise RuntimeError(f'pnhwctl report: exit {page.returncode}: {page.stderr}')
            answers[f'{machine}.report{name}.md'] = re.sub(r'(?<=: pnhw )\S+', 'VERSION', page.stdout)
    return answers


def metrics(build, inventory):
    """As node_exporter reads them."""
    with tempfile.NamedTemporaryFile('w', suffix='.json') as saved:
        json.dump(inventory, saved)
        saved.flush()
        page = run([os.path.join(build, 'cli', 'pnhwctl'), '--from=' + saved.name, 'metrics',
                    '--format=prometheus'])
    if page.returncode != 0:
        raise RuntimeError(f'pnhwctl metrics: exit {page.returncode}: {page.stderr}')
    return re.sub(r'(?<=^pnhw_build_info{version=")[^"]*', 'VERSION', page.stdout,
                  flags=re.MULTILINE)


def pages(build, machine, tree):
    """What is compared: file name -> text."""
    fakehost = [os.path.join(build, 'tests', 'bed', 'fakehost'), tree, '--']
    probe = run(fakehost + [os.path.join(build, 'daemon', 'probe', 'pnhw-probe')])
    if probe.returncode == 77:
        return probe.stderr.strip()
    if probe.returncode != 0:
        raise RuntimeError(f'pnhw-probe: exit {probe.returncode}: {probe.stderr}')
    inventory = without_times(json.loads(probe.stdout))
    with tempfile.NamedTemporaryFile('w', suffix='.json') as saved:
        saved.write(probe.stdout)
        saved.flush()
        client = [os.path.join(build, 'cli', 'pnhwctl'), '--from=' + saved.name]
        answers = {}
        for verb in ('status', 'pcie', 'nvme', 'net', 'modules', 'sensors', 'disks'):
            page = run(client + [verb])
            if page.returncode != 0:
                raise RuntimeError(f'pnhwctl {verb}: exit {page.returncode}: {page.stderr}')
            answers[f'{machine}.{verb}.txt'] = without_clock(page.stdout.replace(saved.name, 'FILE'))
        status = json.loads(run(client + ['--json=short', 'status']).stdout)
    if machine in METRICS:
        answers[f'{machine}.prom'] = metrics(build, inventory)
    if machine in REPORTS:
        answers.update(reports(build, machine, inventory))
    answers[f'{machine}.inventory.json'] = json.dumps(inventory, indent=1, ensure_ascii=False) + '\n'
    answers[f'{machine}.status.json'] = json.dumps(
        without_times({key: status[key] for key in ('summary', 'findings', 'ratings')}),
        indent=1, ensure_ascii=False) + '\n'
    return answers


def recorded_page_is_shown(build, machine):
    """The recorded inventory gives the recorded page, without a fake host."""
    inventory = os.path.join(HERE, machine + '.inventory.json')
    with open(inventory, encoding='utf-8') as file:
        text = file.read()
    with tempfile.NamedTemporaryFile('w', suffix='.json') as saved:
        saved.write(text)
        saved.flush()
        page = run([os.path.join(build, 'cli', 'pnhwctl'), '--from=' + saved.name, 'status'])
    with open(os.path.join(HERE, machine + '.status.txt'), encoding='utf-8') as file:
        good = without_clock(page.stdout.replace(saved.name, 'FILE')) == file.read()
    print(f'{"ok" if good else "not ok"} - {machine}: from the recorded inventory')
    if not good:
        print('    ' + (page.stderr.strip() or 'another page'))
    return good


def main():
    arguments = sys.argv[1:]
    update = '--update' in arguments
    arguments = [a for a in arguments if a != '--update']
    build, wanted = os.path.abspath(arguments[0]), arguments[1:]
    names = sorted(name[:-3] for name in os.listdir(os.path.join(ROOT, 'tests', 'machines'))
                   if name.endswith('.py'))
    failed = False
    for machine in wanted or names:
        if not update:
            failed |= not recorded_page_is_shown(build, machine)
        with tempfile.TemporaryDirectory() as tree:
            subprocess.run([os.path.join(BED, 'mkmachine'), *OPTIONS.get(machine, []), machine,
                            os.path.join(tree, 'm')], check=True, stdout=subprocess.DEVNULL)
            try:
                answers = pages(build, machine, os.path.join(tree, 'm'))
            except (RuntimeError, subprocess.TimeoutExpired, ValueError) as error:
                failed = True
                print(f'not ok - {machine}: {error}')
                continue
        if isinstance(answers, str):
            print(f'skip - {machine}: {answers}')
            continue
        for name, text in answers.items():
            path = os.path.join(HERE, name)
            if update:
                with open(path, 'w', encoding='utf-8') as file:
                    file.write(text)
            recorded = ''
            if os.path.exists(path):
                with open(path, encoding='utf-8') as file:
                    recorded = file.read()
            if recorded == text:
                print(f'ok - {name}')
                continue
            failed = True
            print(f'not ok - {name}')
            for line in list(difflib.unified_diff(recorded.splitlines(), text.splitlines(),
                                                  'recorded', 'now', lineterm='', n=2))[:60]:
                print('    ' + line)
    return 1 if failed else 0


sys.exit(main())
