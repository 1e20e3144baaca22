#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs probe and client on every machine of the corpus and holds each rating against the oracle,
which other decoders made: what a link's two ends could do together, whether it runs below that, and
whether the card alone could do more.

usage: test_ratings.py BUILD_DIR CORPUS_DIR; exits 77 where there is no corpus or no fake host.
"""

import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WIDTHS = (1, 2, 4, 8, 12, 16, 32)
# The oracle and we disagree here, for a reason that was looked into.
KNOWN = {
    'procfs-fixtures': ('0000:03:00.0: no rating',),  # in no list of devices: its authors cut it
}


def number(value):
    if value is None:
        return None
    return float(str(value).replace('GT/s', '').split()[0])


def links(oracle):
    """address -> (rated speed, rated width, runs below that, card could do more, class)."""
    devices = oracle['devices']
    rows = devices.items() if isinstance(devices, dict) else [(d['address'], d) for d in devices]
    for address, device in rows:
        if 'link' in device:
            link = device['link']
            yield (address, number(link.get('pair_max_speed_GTs', link.get('pair_max_GTs'))),
                   link['pair_max_width'], link['below_pair_capability'],
                   link['card_below_own_rating'])
        elif 'pair_capability' in device:
            pair = device['pair_capability']
            yield (address, pair['GTs'], pair['width'], device['below_pair_capability'],
                   device['below_own_rating'])


def expected(below, card_below):
    if below:
        return ('degraded', 'idle')
    return ('slot_limited',) if card_below else ('full', 'path_limited')


def check(status, oracle):
    by_function = {function: rating for rating in status['ratings']
                   for function in rating['functions']}
    seen, wrong = 0, []
    for address, speed, width, below, card_below in links(oracle):
        rating = by_function.get(address)
        if rating is None:
            wrong.append(f'{address}: no rating')
            continue
        if rating['verdict'] in ('tunnelled', 'asleep', 'passed_through'):
            continue
        seen += 1
        if width not in WIDTHS or not speed:
            if rating['verdict'] != 'unknown':
                wrong.append(f'{address}: {rating["verdict"]}, although a width of {width} is none')
            continue
        rated = rating['rated']
        if rated is None:
            wrong.append(f'{address}: {rating["verdict"]} ({rating["reason"]}), not rated')
            continue
        if (rated['speed'], rated['width']) != (speed, width):
            wrong.append(f'{address}: rated {rated["speed"]} x{rated["width"]}, '
                         f'oracle {speed} x{width}')
        if rating['verdict'] not in expected(below, card_below):
            wrong.append(f'{address}: {rating["verdict"]}, oracle says '
                         f'{"/".join(expected(below, card_below))}')
    return seen, wrong


def main():
    build, corpus = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    if not os.path.isdir(corpus):
        print('the corpus of real machines is not here: no rating is compared with the oracle')
        return 77
    bed = os.path.join(ROOT, 'tests', 'bed')
    failed = total = 0
    for name in sorted(os.listdir(os.path.join(corpus, 'pcie-oracle'))):
        if not name.endswith('.json'):
            continue
        machine = name[:-5]
        with open(os.path.join(corpus, 'pcie-oracle', name), encoding='utf-8') as file:
            oracle = json.load(file)
        with tempfile.TemporaryDirectory() as where:
            tree = os.path.join(where, 'm')
            subprocess.run([os.path.join(bed, 'mkcorpus'), corpus, machine, tree], check=True,
                           stdout=subprocess.DEVNULL)
            probe = subprocess.run([os.path.join(build, 'tests/bed/fakehost'), tree, '--',
                                    os.path.join(build, 'daemon/probe/pnhw-probe')],
                                   capture_output=True, text=True, check=False)
            if probe.returncode == 77:
                print(probe.stderr.strip())
                return 77
            status = subprocess.run([os.path.join(build, 'cli/pnhwctl'), '--from=-',
                                     '--json=short', 'status'], input=probe.stdout,
                                    capture_output=True, text=True, check=False)
        if status.returncode != 0:
            failed += 1
            print(f'not ok - {machine}: exit {status.returncode}: {status.stderr} {probe.stderr}')
            continue
        seen, wrong = check(json.loads(status.stdout), oracle)
        wrong = [w for w in wrong if w not in KNOWN.get(machine, ())]
        total += seen
        failed += bool(wrong)
        print(f'{"not ok" if wrong else "ok"} - {machine}: {seen} links'
              + (': ' + '; '.join(wrong) if wrong else ''))
    print(f'{"ok" if total >= 90 else "not ok"} - {total} links compared in all')
    return 1 if failed or total < 90 else 0


sys.exit(main())
