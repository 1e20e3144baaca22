#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks what a compiler does not: who may include what, how a file opens, forbidden calls,
formatting, and that what is generated in docs/ is up to date.

usage: lint.py SOURCE_ROOT BUILD_DIR
"""

import os
import re
import shutil
import subprocess
import sys

ROOT, BUILD = sys.argv[1], sys.argv[2]
failures = 0


def result(name, problems):
    global failures
    if problems:
        failures += 1
        print(f'not ok - {name}: {"; ".join(problems[:10])}'
              + (f' and {len(problems) - 10} more' if len(problems) > 10 else ''))
    else:
        print(f'ok - {name}')


def sources(*folders, ends=('.c', '.h')):
    for folder in folders:
        for path, folders_below, names in os.walk(os.path.join(ROOT, folder)):
            folders_below[:] = [f for f in folders_below if not f.startswith(('build', '__'))]
            for name in sorted(names):
                if name.endswith(ends):
                    yield os.path.relpath(os.path.join(path, name), ROOT)


def text(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as file:
        return file.read()


def includes(path):
    return re.findall(r'^\s*#\s*include\s+([<"][^>"]+[>"])', text(path), re.MULTILINE)


def who_includes(header, allowed):
    """`header` occurs in these files alone: the rest must not depend on the library behind it."""
    found = {path for path in sources('lib', 'daemon', 'cli') if header in includes(path)}
    return [f'{path} includes {header}' for path in sorted(found - set(allowed))]


def generated(path, source, command):
    """A file that is kept in the tree is the one that a program of the build prints."""
    name = f'{path} is what {source} give' + ('s' if source.startswith('the table') else '')
    program = os.path.join(BUILD, command[0])
    if not os.path.exists(program):
        result(name, [f'{command[0]} was not built'])
        return
    printed = subprocess.run([program, *command[1:]], capture_output=True, text=True,
                             check=True).stdout
    shown = os.path.relpath(program, ROOT) + ''.join(f' {word}' for word in command[1:])
    result(name, [] if text(path) == printed else [f'write it anew: {shown} > {path}'])


def main():
    files = list(sources('lib', 'daemon', 'cli', 'docs', 'tests'))
    programs = list(sources('lib', 'daemon', 'cli'))

    result('every field library has one file', [
        *who_includes('<libudev.h>', ['daemon/probe/udev.c']),
        *who_includes('<libnvme.h>', ['daemon/probe/nvme_health.c']),
        *who_includes('<sensors/sensors.h>', ['daemon/probe/sensors.c']),
        *who_includes('<libmnl/libmnl.h>', ['daemon/probe/netlink.c']),
        *who_includes('<linux/rtnetlink.h>',
                      ['daemon/probe/netlink.c', 'daemon/probe/netlink_answers.c',
                       'daemon/hotplug.c', 'lib/uevent.c']),
        *who_includes('<linux/ethtool_netlink.h>',
                      ['daemon/probe/netlink.c', 'daemon/probe/netlink_answers.c']),
    ])
    result('what reads devices has no call that writes', [
        f'{path}: {match.group(0)}' for path in ('cli/reader.c', 'cli/reader-ring.c')
        for match in re.finditer(r'\bp?writev?\w*\s*\(|io_uring_prep_(?!read\b)\w+|O_RDWR|O_WRONLY',
                                 text(path))] + who_includes('<liburing.h>', ['cli/reader-ring.c']))
    result('nothing asks a card about its virtual functions', [
        path for path in programs
        if re.search(r'RTEXT_FILTER_VF\b', re.sub(r'/\*.*?\*/', '', text(path), flags=re.DOTALL))])
    result('the client and the library know no systemd', [
        f'{path} includes {header}' for path in sources('lib', 'cli')
        for header in includes(path) if header.startswith('<systemd/')])
    result('the probe knows no daemon, the daemon no probe', [
        f'{path} includes {header}' for path in sources('daemon', 'cli')
        for header in includes(path)
        if ('probe/' in header and path != 'cli/probe.c') or
        (path.startswith('daemon/probe/') and '<systemd/' in header)])
    pure = [
        'daemon/probe/netlink_answers.c',
        'lib/alerts.c',
        'lib/assess.c',
        'lib/cmis.c',
        'lib/codes.c',
        'lib/decibel.c',
        'lib/device.c',
        'lib/finding.c',
        'lib/index.c',
        'lib/join.c',
        'lib/learn.c',
        'lib/linkmode.c',
        'lib/metrics.c',
        'lib/module.c',
        'lib/niccounters.c',
        'lib/pciconf.c',
        'lib/pcie.c',
        'lib/phrase.c',
        'lib/phrasebook.c',
        'lib/picture.c',
        'lib/places.c',
        'lib/plausible.c',
        'lib/ports.c',
        'lib/pseudonym.c',
        'lib/rating.c',
        'lib/rules.c',
        'lib/rules_growth.c',
        'lib/rules_health.c',
        'lib/rules_nic.c',
        'lib/sff8024.c',
        'lib/sff8472.c',
        'lib/sff8636.c',
        'lib/smart.c',
        'lib/smbios.c',
        'lib/summary.c',
        'lib/speed.c',
        'lib/text.c',
        'lib/topology.c',
        'lib/uevent.c',
    ]
    result('rules, rating and decoders are pure', [
        f'{path} includes {header}' for path in pure for header in includes(path)
        if header in ('<json-c/json.h>', '<time.h>', '<fcntl.h>', '<sys/stat.h>', '<syslog.h>',
                      '<sys/socket.h>', '<dirent.h>')])
    result('a file opens with its licence and its purpose', [
        path for path in files
        if not re.match(r'/\* SPDX-License-Identifier: LGPL-2\.1-or-later \*/\n/\* ', text(path))])
    result('scripts carry their licence', [
        path for path in sources('tests', ends=('.py', '.sh', 'meson.build'))
        if 'SPDX-License-Identifier: LGPL-2.1-or-later' not in text(path)[:300]])
    forbidden = re.compile(r'(?<![\w.>])(sprintf|strcpy|strcat|gets|atoi|atol|alloca|strtok)\s*\(')
    result('no call that cannot be used safely', [
        f'{path}: {match.group(1)}' for path in programs
        for match in forbidden.finditer(text(path))])
    result('no trailing white space or tab', [
        path for path in files if re.search(r'[ \t]+$|\t', text(path), re.MULTILINE)])

    for name in ('clang-format', 'clang-format-14'):
        version = ''
        if shutil.which(name):
            version = subprocess.run([name, '--version'], capture_output=True, text=True,
                                     check=False).stdout
        if ' version 14.' in version:
            problems = subprocess.run([name, '--dry-run', '--Werror', *files], cwd=ROOT,
                                      capture_output=True, text=True, check=False).stderr
            result('formatted as .clang-format says (./run format does it)', sorted(
                {line.split(':')[0] for line in problems.splitlines() if ': error:' in line}))
            break
    else:
        print('skip - formatted as .clang-format says: needs clang-format 14, whose rules the '
              'tree follows; other versions differ in details')

    generated('docs/io.pnhw.Hardware.varlink', 'the field lists', ['tests/print-interface'])
    generated('docs/findings.md', 'the table of codes', ['docs/print-codes', 'markdown'])
    generated('docs/man/pnhw-findings.7', 'the table of codes', ['docs/print-codes', 'man'])
    generated('docs/metrics.md', 'the table of metrics', ['tests/print-metrics'])
    return 1 if failures else 0


sys.exit(main())
