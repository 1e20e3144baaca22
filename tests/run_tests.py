#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the tree in each way that counts, runs the tests of each, and counts single cases.

Every test is registered in meson and prints TAP-like lines: `ok`, `not ok` or `ok … # SKIP` as
cmocka does, or `skip - name: why`. The last line of the output counts them all.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# (directory, compiler, meson options, suites to run or None to compile alone, what it is for)
BUILDS = [
    ('build', 'gcc', ['-Dwerror=true'], ['unit', 'package', 'system', 'lint'], 'as it ships'),
    ('build-sanitize', 'gcc',
     ['-Dwerror=true', '-Db_sanitize=address,undefined', '-Db_lundef=false'],
     ['unit', 'sanitize'], 'with ASan and UBSan'),
    ('build-clang', 'clang', ['-Dwerror=true'], None, 'with clang, compiled alone'),
]

# Releases of Debian in virtual machines.
MACHINES = ['bookworm', 'trixie']

LINE = re.compile(r'^(?P<result>ok|not ok|skip)\b(?:\s+\d+)?\s*(?:-\s*)?(?P<name>.*)$')


class Count:
    def __init__(self):
        self.passed, self.failures, self.skips = 0, [], []


def run(command, **arguments):
    return subprocess.run(command, cwd=ROOT, text=True, **arguments)


def build(directory, compiler, options):
    """Configures and compiles; returns the log on failure."""
    environment = dict(os.environ, CC=compiler)
    if not os.path.exists(os.path.join(ROOT, directory, 'build.ninja')):
        result = run(['meson', 'setup', directory] + options, env=environment,
                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    else:
        result = run(['meson', 'configure', directory] + [o for o in options],
                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode == 0:
        result = run(['meson', 'compile', '-C', directory], stdout=subprocess.PIPE,
                     stderr=subprocess.STDOUT)
    return None if result.returncode == 0 else result.stdout


def count_lines(text, where, count):
    """Counts the cases that a text has lines for; how many, and how many of them failed."""
    seen, failed = 0, 0
    for line in text.splitlines():
        match = LINE.match(line.strip())
        if not match or re.match(r'^1\.\.\d+$', line):
            continue
        seen += 1
        name = f'{where}: {match["name"]}'
        if match['result'] == 'not ok':
            count.failures.append(name)
            failed += 1
        elif match['result'] == 'skip' or '# SKIP' in line.upper():
            count.skips.append(name)
        else:
            count.passed += 1
    return seen, failed


def count_cases(test, where, count):
    """Counts the cases that one meson test printed; a test that printed none is one case."""
    output = test.get('stdout') or ''
    name = f'{where}: {test["name"]}'
    seen, failed_here = count_lines(output, name, count)
    result = test['result']
    if result == 'SKIP' and not seen:
        why = output.strip().splitlines()
        count.skips.append(f'{name}: {why[-1] if why else "skipped"}')
    elif result in ('OK', 'EXPECTEDFAIL') and not seen:
        count.passed += 1
    elif result not in ('OK', 'EXPECTEDFAIL', 'SKIP') and not failed_here:
        count.failures.append(f'{name}: {result}')
    return result in ('OK', 'EXPECTEDFAIL', 'SKIP')


def run_suites(directory, suites, where, count):
    command = ['meson', 'test', '-C', directory, '--no-rebuild', '--timeout-multiplier', '2']
    for suite in suites:
        command += ['--suite', suite]
    run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = os.path.join(ROOT, directory, 'meson-logs', 'testlog.json')
    tests = 0
    with open(log, encoding='utf-8', errors='replace') as lines:
        for line in lines:
            test = json.loads(line)
            tests += 1
            good = count_cases(test, where, count)
            print(f'  {"ok  " if good else "FAIL"} {test["name"]}  {test["duration"]:.1f} s')
            if not good:
                for text in (test.get('stdout') or '', test.get('stderr') or ''):
                    print('\n'.join('    | ' + row for row in text.splitlines()[-60:]))
    if not tests:
        count.failures.append(f'{where}: no test ran')


class Machines:
    """The virtual machines: they and their packages are made while other tests are run, and with what
    those leave of the processors; started they are when nothing else runs, as what they prove has to do
    with time."""

    def __init__(self):
        self.output = tempfile.TemporaryFile(mode='w+', encoding='utf-8', errors='replace')
        self.making = subprocess.Popen(['nice', '-n', '19', './run', 'vm-test', '--prepare', *MACHINES],
                                       cwd=ROOT, stdin=subprocess.DEVNULL, stdout=self.output,
                                       stderr=self.output, start_new_session=True)

    def stop(self):
        if self.making.poll() is None:
            os.killpg(self.making.pid, signal.SIGTERM)

    def run(self, count):
        print(f'virtual machines: {", ".join(MACHINES)}', flush=True)
        waiting = time.monotonic()
        status = self.making.wait()
        print(f'  {"ok  " if status == 0 else "FAIL"} prepared  '
              f'(waited for {time.monotonic() - waiting:.1f} s)', flush=True)
        if status:
            self.output.seek(0)
            for row in self.output.read().splitlines()[-60:]:
                print('    | ' + row)
        start = time.monotonic()
        status, rows = self.prove(MACHINES)
        failed = [row for row in rows if row.startswith('not ok')]
        # Emulated processors on processors that others use, too, are sometimes too slow for a proof that
        # has to do with time: what fails is told, and tried once more in a new machine.
        again = [suite for suite in MACHINES
                 if any(row.startswith(f'not ok - {suite}: ') for row in failed)]
        if again:
            print(f'  once more: {", ".join(again)}, after {time.monotonic() - start:.1f} s, because of')
            for row in rows:
                print('    | ' + row)
            second = self.prove(again)
            status, rows = second[0], second[1] + [
                row for row in rows if not any(f' - {suite}: ' in row for suite in again)]
        seen, n_failed = count_lines('\n'.join(rows), 'vm-test', count)
        good = status == 0 and seen > 0 and not n_failed
        if not good and not n_failed:
            count.failures.append(f'vm-test: exit status {status}, {seen} lines')
        print(f'  {"ok  " if good else "FAIL"} vm-test: {seen} lines  {time.monotonic() - start:.1f} s')
        for row in rows:
            if not good or row.startswith('run: ') or 'the machine ran for' in row:
                print('    | ' + row)

    @staticmethod
    def prove(suites):
        """The exit status, and the lines of these suites."""
        result = run(['./run', 'vm-test', *suites], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                     stderr=subprocess.STDOUT, errors='replace')
        return result.returncode, result.stdout.splitlines()


def run_all(arguments, machines, count):
    for directory, compiler, options, suites, purpose in BUILDS[:1 if arguments.quick else None]:
        print(f'{directory}: {compiler}, {purpose}', flush=True)
        log = build(directory, compiler, options)
        if log is not None:
            print('\n'.join('    | ' + row for row in log.splitlines()[-80:]))
            count.failures.append(f'{directory}: does not compile')
            continue
        if suites is None:
            count.passed += 1
            continue
        run_suites(directory, suites, directory, count)
    if machines:
        machines.run(count)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--quick', action='store_true', help='the build that ships, and no other')
    parser.add_argument('--vm', action='store_true', help='and the virtual machines')
    arguments = parser.parse_args()
    count, start = Count(), time.monotonic()
    machines = Machines() if arguments.vm else None
    try:
        run_all(arguments, machines, count)
    finally:
        if machines:
            machines.stop()

    for title, names in (('skipped', count.skips), ('FAILED', count.failures)):
        for name in names:
            print(f'{title}: {name}')
    print(f'took {time.monotonic() - start:.0f} s')
    print(f'{count.passed} passed, {len(count.failures)} failed, {len(count.skips)} skipped')
    return 1 if count.failures else 0


if __name__ == '__main__':
    sys.exit(main())
