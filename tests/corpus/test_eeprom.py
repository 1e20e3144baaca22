#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the decoder of transceivers' memory with what the sources of real dumps stated, and with
what ethtool 6.1 made of the same bytes.

usage: test_eeprom.py DECODE_TOOL CORPUS_DIR

DECODE_TOOL is the built decode.c of this folder. The corpus is not part of this repository; without
it the test is skipped (exit status 77). Where the decoder is right to differ, the reason stands in
DIFFERENT below, and that it does differ is checked.
"""
import hashlib
import json
import math
import pathlib
import re
import subprocess
import sys

CONNECTORS = {'unknown or unspecified': None, 'SC': 'SC', 'LC': 'LC', 'MPO Parallel Optic': 'MPO',
              'Copper pigtail': 'copper pigtail', 'No separable connector': 'none',
              # 26h was renamed after this ethtool (SFF-8024 4.7: SN, before it mini CS).
              'Mini CS optical connector': 'SN'}
# Of the types that ethtool lists, the one that counts; SFP and QSFP read one code differently.
TYPES = [('100G Base-SR4 or 25GBase-SR', {'SFP': '25GBASE-SR', 'QSFP': '100GBASE-SR4'}),
         ('100GBASE-DR (clause 140)', '100GBASE-DR'), ('40G Base-SR4', '40GBASE-SR4'),
         ('100G Base-CR4', 'passive copper'), ('Passive Cable', 'passive copper'),
         ('10G Base-SR', '10GBASE-SR'), ('10G Base-LR', '10GBASE-LR'),
         ('BASE-BX10', '1000BASE-BX10'),
         ('1000BASE-SX', '1000BASE-SX'), ('1000BASE-LX', '1000BASE-LX'),
         ('1000BASE-T', '1000BASE-T')]
QUANTITIES = {'Laser bias current': 'bias', 'Laser output power': 'tx_power',
              'Laser tx power': 'tx_power', 'Module temperature': 'temperature',
              'Module voltage': 'voltage', 'Laser rx power': 'rx_power'}
LEVELS = ['high alarm', 'low alarm', 'high warning', 'low warning']
UNITS = {'temperature': 0.01, 'voltage': 0.0002, 'bias': 0.003, 'tx_power': 0.0001,
         'rx_power': 0.0001}

LIAR = 'a twisted-pair module that claims to be an optic'
FLAGS_ALONE = 'ethtool shows flags only beside limits; bytes 9 and 10 have them'
BYTE_222 = 'a rate byte of ffh refers to byte 222; ethtool 6.1 multiplies it'
# File -> what differs from a source or ethtool -> (ours, why).
DIFFERENT = {
    'avago-afct-93drphz-400g-cmis4-page0': {
        'length OM2': (None, 'page 01h was not read; ethtool shows 17 m of it'),
        'wavelength': (None, 'page 01h was not read; ethtool shows 0 nm')},
    'odi-dfp-34x-2c2-gpon-stick': {
        'type': ('GPON', 'a passive optical network stick that claims 1000BASE-LX')},
    'flexoptix-p.b1696.10.da-10g-bidi1330': {
        'type': ('10GBASE-LR BiDi', 'one fibre, which no compliance bit says')},
    'oem-sfp-2.5g-t': {
        'type': ('2.5GBASE-T', LIAR), 'connector': ('RJ45', LIAR), 'wavelength': (None, LIAR),
        'length OM1': (None, LIAR), 'length OM2': (None, LIAR), 'lanes': (0, LIAR),
        'thresholds bias': (None, LIAR), 'thresholds tx_power': (None, LIAR),
        'thresholds rx_power': (None, LIAR)},
    'qsfp-passive-copper-attenuation': {
        'rate': (25750, BYTE_222), 'lanes': (0, 'copper carries no light'),
        'thresholds bias': (None, 'copper carries no light'),
        'thresholds tx_power': (None, 'copper carries no light'),
        'thresholds rx_power': (None, 'copper carries no light')},
    'mellanox-mma1b00-ss1-qsfp28-640B': {'rate': (25750, BYTE_222)},
    'mellanox-mma1b00-ss1-qsfp28-256B-old-driver': {
        'rate': (25750, BYTE_222),
        'flags': (sorted(f'rx_power_low_{level}_{lane}' for level in ('alarm', 'warning')
                         for lane in (1, 2, 3, 4)), FLAGS_ALONE)},
    'fit-afct-89sfdz-qsfp28-smf': {
        'rate': (25750, BYTE_222), 'lanes': (1, 'one wavelength, so one lane'),
        'flags': (['rx_power_low_alarm', 'rx_power_low_warning'], FLAGS_ALONE)},
    'huawei-hpsp2120-gpon-EXTCAL': {
        'type': ('GPON', 'it sets no compliance bit; the part is a GPON transceiver'),
        'thresholds rx_power': (
            {'high_alarm': 0.1259, 'high_warning': 0.1259, 'low_warning': 0.0016,
             'low_alarm': 0.0016},
            'ethtool 6.1 drops the terms above the first of the polynomial; with them the limits '
            'are -9.0 and -28.0 dBm')},
}
# Readings in these sources were taken at another moment than the dump, as their notes say.
OTHER_MOMENT = {'oem-sfp-2.5g-t', 'dell-m14mk-sfp28-dualrate-via-e810'}
# Sentences of sources as what they mean here: file -> key -> {path in our JSON: value}; None where
# a sentence says nothing about a decoded value, or, with a reason, what is wrong about it.
LANE_1 = 'diagnostics.lanes.0.'
STATED = {
    'NEG-ats-sfp-ge-t-cc_ext-bad-96B': {'kernel': {'checksum_ok': False}},
    'avago-afct-93drphz-400g-cmis4-page0': {
        'decoded': {'vendor': 'AVAGO', 'part_number': 'AFCT-93DRPHZ-AZ2', 'serial': 'FD2038FG0FK',
                    'date_code': '201007', 'form': 'QSFP-DD', 'standard': 'CMIS'},
        'temperature': {'diagnostics.temperature_c': 31.03125},
        'voltage': {'diagnostics.voltage_v': 3.3027}},
    'brocade-57-1000042-02-twinax': {
        'Wavelength': {'wavelength_nm': None}, 'lasers': None,
        'error': {'diagnostics': None}},
    'dell-m14mk-sfp28-dualrate-via-bcm57414': {'claim': {'part_number': 'M14MK'}},
    'finisar-ftlf8536p4bcl-25g-sr': {'claim': {'type': '25GBASE-SR', 'nominal_mbd': 28000}},
    'finisar-qsfp-oom': {'tables': None},
    'fit-afct-89sfdz-qsfp28-smf': {
        'formula': {LANE_1 + 'rx_power_mw': 0, LANE_1 + 'rx_power_dbm': None,
                    LANE_1 + 'tx_power_mw': 1.7999, LANE_1 + 'bias_ma': 92.412},
        'vendor': {'vendor': 'FIT'}, 'PN': {'part_number': 'AFCT-89SFDZ-AZ1'},
        'SN': {'serial': 'FD1942AZ2RT'}, 'date': {'date_code': '191021'}},
    'flexoptix-p.b1696.10.da-10g-bidi1330': {
        'Identifier': {'form': 'SFP+'}, 'Connector': {'connector': 'LC'}, 'Encoding': None,
        'PowerClass': None, 'SignalingRate': {'nominal_mbd': 10300},
        'Date': {'date_code': '191218'},
        # The source asserts 20:00:00; bytes 37 to 39 are 00:02:c9, which ethtool shows, too.
        'Vendor OUI': {'oui': '00:02:c9'}, 'Wavelength': {'wavelength_nm': 1330},
        'tx power high alarm': {'diagnostics.thresholds.tx_power.high_alarm': 1.7783}},
    'huawei-hpsp2120-gpon-EXTCAL': {
        'connector': {'connector': 'SC'}, 'encoding': None,
        'length sm': {'lengths': [{'medium': 'SMF', 'metres': 20000}]},
        'Date': {'date_code': '11041403'}, 'wavelength': {'wavelength_nm': 1310},
        # The source leaves the calibration out: its temperature, voltage and bias are wrong.
        'temperature': {'diagnostics.temperature_c': 37.5},
        'voltage': {'diagnostics.voltage_v': 3.3243}, 'tx bias': {LANE_1 + 'bias_ma': 0.526},
        'tx power': {LANE_1 + 'tx_power_dbm': 2.5}, 'eeprom-checksum': {'checksum_ok': True}},
    'intel-ftlx8574d3bnl-it-10g-sr': {'claim': {'checksum_ok': True}},
    'mellanox-mma1b00-ss1-qsfp28-256B-old-driver': {
        'claim': {'diagnostics.thresholds': None}},
    'mikrotik-s-85dlc05d-1g-sx': {
        'connector': {'connector': 'LC'},
        'length OM1': {'lengths': [{'medium': 'OM1', 'metres': 500},
                                   {'medium': 'OM2', 'metres': 550}]},
        'length OM2': None, 'Date': {'date_code': '130424'}, 'wavelength': {'wavelength_nm': 850},
        'temperature': {'diagnostics.temperature_c': 33.484375},
        'voltage': {'diagnostics.voltage_v': 3.237}, 'tx bias': {LANE_1 + 'bias_ma': 2.638},
        'tx power': {LANE_1 + 'tx_power_dbm': -5.79}, 'rx power': {LANE_1 + 'rx_power_dbm': -5.22},
        'eeprom-checksum': {'checksum_ok': True}},
    'netgear-agm734-1000base-t-nodom': {'claim': {'connector': None, 'diagnostics': None}},
    'oem-sfp-10g-sr-it-dpdk': {
        'identifier': {'form': 'SFP+'}, 'class': {'type': '10GBASE-SR'},
        'connector': {'connector': 'LC'}, 'vendor_name': {'vendor': 'OEMOEMOEMOEMOEMO'},
        'vendor_pn': {'part_number': 'SFP-10G-SR-IT'}, 'vendor_sn': {'serial': 'WQ160412A115'},
        'vendor_oui': {'oui': '00:8b:21'}, 'diag_type': None, 'date': {'date_code': '151610'},
        'temperature_C': {'diagnostics.temperature_c': 44.34765625},
        'voltage_V': {'diagnostics.voltage_v': 3.3034},
        'rx_power_mW': {LANE_1 + 'rx_power_mw': 0.0001},
        'tx_power_mW': {LANE_1 + 'tx_power_mw': 0.597},
        'high_rx_power_alarm_thresh': {'diagnostics.thresholds.rx_power.high_alarm': 1}},
    'oem-sfp-2.5g-t': {'stated_note': {'diagnostics.temperature_c': 41.1015625,
                                       'diagnostics.voltage_v': 3.3345}},
    'qsfp-passive-copper-attenuation': {
        'NonOptical': {'type': 'passive copper'}, 'Wavelength': {'wavelength_nm': None},
        'att 2.5GHz': None, 'att 5GHz': None, 'att 7GHz': None, 'att 12.9GHz': None},
    'recon-cab-10gsfp-p1m-passive-dac': {
        'Length (SMF)': None, 'Length (OM2)': None, 'Length (OM1)': None,
        'Length (Copper or Active cable)': {'lengths': [{'medium': 'copper', 'metres': 1}]},
        'Passive Cu cmplnce.': None, 'BR margin max': None, 'BR margin min': None,
        'Date code': {'date_code': '22011000'}},
    'recon-fs-xgspon-1270-no-fiber': {'Vendor OUI': {'oui': None}},
    'sonic-hld-qsfpdd-page11-only': {
        'tx1power': {LANE_1 + 'tx_power_mw': 1.9422}, 'rx1power': {LANE_1 + 'rx_power_mw': 1.8259},
        # The source takes 0ch for flags of tx power; by the map they are losses of received light,
        # and lanes 3 and 4 do receive 0.1 µW.
        'flags': {'diagnostics.flags': ['rx_los_3', 'rx_los_4', 'rx_power_low_alarm_3',
                                        'rx_power_low_warning_3', 'rx_power_low_alarm_4',
                                        'rx_power_low_warning_4']}},
}


class Compare:
    """One file's decoded object against one source; every check counts."""

    def __init__(self, name, ours):
        self.name, self.ours = name, ours
        self.different = dict(DIFFERENT.get(name, {}))
        self.checks, self.problems, self.kept = 0, [], set()

    def same(self, what, ours, theirs, tolerance=0.0):
        """Equal within the tolerance, or different as DIFFERENT says."""
        self.checks += 1
        if what in self.different:
            wanted, _ = self.different[what]
            self.kept.add(what)
            if not equal(ours, wanted, tolerance):
                self.problems.append(f'{what} is {ours!r}, the exception says {wanted!r}')
        elif not equal(ours, theirs, tolerance):
            self.problems.append(f'{what} is {ours!r}, expected {theirs!r}')

    def at(self, path):
        value = self.ours
        for part in path.split('.'):
            if value is None:
                return None
            value = value[int(part)] if part.isdigit() else value.get(part)
        return value


def equal(ours, theirs, tolerance):
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(
            equal(ours[k], theirs[k], tolerance) for k in ours)
    if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
        return abs(ours - theirs) <= tolerance + 1e-9
    return ours == theirs


def number(text):
    match = re.match(r'-?\d+(\.\d+)?', text)
    return float(match.group()) if match else None


def length(ours, medium):
    found = [entry['metres'] for entry in ours['lengths'] or [] if entry['medium'] == medium]
    return found[0] if found else None


def compare_power(compare, what, mw, dbm, text):
    """"0.8153 mW / -0.89 dBm"; no level for no light."""
    match = re.fullmatch(r'(\S+) mW / (\S+) dBm', text)
    compare.same(what + ' mW', mw, float(match[1]), UNITS['rx_power'])
    level = float(match[2])
    compare.same(what + ' dBm', dbm, None if math.isinf(level) else level, 0.0101)


def sane(limits):
    """The rule for sets of limits, over what ethtool printed."""
    high, low, high_warning, low_warning = (limits[level] for level in LEVELS)
    return low <= low_warning < high_warning <= high and not (
        6.5535 in limits.values() and 0 in limits.values())


def compare_thresholds(compare, texts):
    thresholds = compare.at('diagnostics.thresholds')
    limits = {}
    for key, text in texts.items():
        match = re.fullmatch(r'(.*?) (high|low) (alarm|warning) +threshold', key)
        if match:
            limits.setdefault(QUANTITIES[match[1]], {})[f'{match[2]} {match[3]}'] = number(text)
    for quantity, theirs in limits.items():
        if len(theirs) != len(LEVELS):
            continue
        wanted = {level.replace(' ', '_'): value for level, value in theirs.items()}
        compare.same('thresholds ' + quantity, (thresholds or {}).get(quantity),
                     wanted if sane(theirs) else None, UNITS[quantity])


def compare_flags(compare, texts):
    ours = {flag for flag in compare.at('diagnostics.flags') or []
            if not re.match(r'rx_los|tx_fault', flag)}
    lanes = len(compare.at('diagnostics.lanes') or [])
    theirs = set()
    for key, text in texts.items():
        match = re.fullmatch(r'(.*?) (high|low) (alarm|warning) *(?:\(Chan(?:nel)? (\d)\))?', key)
        if not match or text != 'On':
            continue
        quantity = QUANTITIES[match[1]]
        thresholds = compare.at('diagnostics.thresholds')
        # Without limits that make sense, a flag means nothing.
        unread = [u['field'] for u in compare.at('diagnostics.unread') or []]
        if 'thresholds' not in unread and not (thresholds or {}).get(quantity):
            continue
        lane = match[4] if lanes > 1 else None
        if match[4] and int(match[4]) > lanes:
            continue
        theirs.add(f'{quantity}_{match[2]}_{match[3]}' + (f'_{lane}' if lane else ''))
    compare.same('flags', sorted(ours), sorted(theirs))


def compare_readings(compare, texts):
    compare.same('temperature', compare.at('diagnostics.temperature_c'),
                 number(texts['Module temperature']), UNITS['temperature'])
    compare.same('voltage', compare.at('diagnostics.voltage_v'), number(texts['Module voltage']),
                 UNITS['voltage'])
    lanes = compare.at('diagnostics.lanes') or []
    theirs = [{}]
    for key, text in texts.items():
        match = re.fullmatch(r'(Laser tx bias current|Transmit avg optical power|'
                             r'(?:Rcvr signal avg optical power|Receiver signal OMA)) *'
                             r'\(Channel (\d)\)', key)
        if match:
            while len(theirs) < int(match[2]):
                theirs.append({})
            theirs[int(match[2]) - 1][match[1][:3]] = text
        elif key == 'Laser bias current':
            theirs[0]['Las'] = text
        elif key == 'Laser output power':
            theirs[0]['Tra'] = text
        elif key == 'Receiver signal average optical power':
            theirs[0]['Rcv'] = text
    theirs = [lane for lane in theirs if lane]
    compare.same('lanes', len(lanes), len(theirs))
    for i, (lane, their) in enumerate(zip(lanes, theirs)):
        received = their.get('Rcv') or their.get('Rec')
        compare_power(compare, f'lane {i + 1} rx', lane['rx_power_mw'], lane['rx_power_dbm'],
                      received)
        compare_power(compare, f'lane {i + 1} tx', lane['tx_power_mw'], lane['tx_power_dbm'],
                      their['Tra'])
        compare.same(f'lane {i + 1} bias', lane['bias_ma'], number(their['Las']), UNITS['bias'])


def compare_text(compare, texts, readings):
    """Against the lines that `ethtool -m` prints."""
    ours = compare.ours
    sfp = texts.get('Identifier', '').startswith('0x03')
    for key, field in (('Vendor name', 'vendor'), ('Vendor PN', 'part_number'),
                       ('Vendor rev', 'revision'), ('Vendor SN', 'serial'),
                       ('Date code', 'date_code')):
        if key in texts:
            # ethtool prints a NUL as an underscore.
            compare.same(field, ours[field], texts[key].strip('_ ') or None)
    if 'Vendor OUI' in texts:
        zero = texts['Vendor OUI'] == '00:00:00'
        compare.same('oui', ours['oui'], None if zero else texts['Vendor OUI'])
    if 'Identifier' in texts:
        form = re.search(r'\((\S+?)(?:\)| )', texts['Identifier'])[1]
        if sfp:
            compare.same('form', ours['form'].rstrip('+28'), form)
        else:
            compare.same('form', ours['form'], form)
    if 'Connector' in texts:
        name = re.search(r'\((.*)\)', texts['Connector'])[1]
        compare.same('connector', ours['connector'], CONNECTORS[name])
    if 'Identifier' in texts and ours['standard'] != 'CMIS':
        listed = texts.get('Transceiver type') or []
        listed = listed if isinstance(listed, list) else [listed]
        found = [kind for part, kind in TYPES if any(part in line for line in listed)]
        kind = found[0] if found else None
        compare.same('type', ours['type'],
                     kind['SFP' if sfp else 'QSFP'] if isinstance(kind, dict) else kind)
    if 'BR, Nominal' in texts:
        compare.same('rate', ours['nominal_mbd'], number(texts['BR, Nominal']) or None)
    if 'Laser wavelength' in texts:
        compare.same('wavelength', ours['wavelength_nm'],
                     number(texts['Laser wavelength']) or None, 0.001)
    elif 'Identifier' in texts:
        compare.same('wavelength', ours['wavelength_nm'], None)

    copper = texts.get('Length (Copper)', texts.get('Length (Copper or Active cable)'))
    cable = ours['type'] and ('copper' in ours['type'] or ours['type'].endswith('BASE-T'))
    for key, medium in (('Length (SMF)', 'SMF'), ('Length (62.5um)', 'OM1'),
                        ('Length (50um)', 'OM2'), ('Length (OM3)', 'OM3'),
                        ('Length (OM1 62.5um)', 'OM1'),
                        ('Length (OM2 50um)', 'OM2'), ('Length (OM3 50um)', 'OM3'),
                        ('Length (OM3 50/125um)', 'OM3'), ('Length (OM4)', 'OM4'),
                        ('Length (OM2 50/125um)', 'OM2'), ('Length (OM5)', 'OM5')):
        if key in texts:
            metres = number(texts[key]) * (1000 if texts[key].endswith('km') else 1)
            compare.same('length ' + medium, length(ours, medium), metres or None)
    if 'Length (SMF,km)' in texts and not sfp:
        compare.same('length SMF', length(ours, 'SMF'),
                     number(texts['Length (SMF,km)']) * 1000 or None)
    if copper is not None:
        # What ethtool prints as metres of copper is OM4 in units of 10 m (QSFP: 2 m) for an optic.
        metres = number(copper) * (1 if cable else 10 if sfp else 2)
        compare.same('length by byte 18 or 146', length(ours, 'copper' if cable else 'OM4'),
                     metres or None)
    if readings and 'Module temperature' in texts:
        compare_readings(compare, texts)
        compare_flags(compare, texts)
    compare_thresholds(compare, texts)


def compare_stated(compare, stated, ethtool):
    """Lines that the source has in ethtool's words, and its other statements by hand."""
    special = STATED.get(compare.name, {})
    lines = {key: value for key, value in stated.items()
             if key not in special and key in ethtool or key.startswith(('Vendor ', 'Module '))}
    same = {key: value for key, value in lines.items() if key not in special}
    cut = {key: value for key, value in same.items()
           if isinstance(value, str) and isinstance(ethtool.get(key), str) and
           value != ethtool[key] and ethtool[key].startswith(value)}
    same = {key: ethtool[key] if key in cut else value for key, value in same.items()}
    complete = {**ethtool, **same} if set(same) & {'Module temperature'} else same
    compare_text(compare, complete, 'Module temperature' in same and
                 compare.name not in OTHER_MOMENT)
    for key in stated:
        if key in special:
            for path, value in (special[key] or {}).items():
                compare.same(path, compare.at(path), value, 1e-6)
        elif key not in same:
            compare.problems.append(f'nobody compares what the source states as {key!r}')


def checksums_hold(kind, image):
    """Independently of the decoder: the checksums of what is in a file."""
    def holds(start, end):
        return end >= len(image) or sum(image[start:end]) & 0xff == image[end]
    if kind.startswith('SFF-8472'):
        return holds(0, 63) and holds(64, 95) and (not image[92] & 0x40 or holds(256, 256 + 95))
    if kind == 'SFF-8636':
        return holds(128, 191) and holds(192, 223)
    return holds(128, 222)


def test_file(tool, path):
    """Prints one line; returns whether it was fine."""
    about = json.loads(path.with_suffix('.json').read_text())
    name, image = path.stem, path.read_bytes()
    argument = str(path)
    if about['kind'] == 'CMIS-page11':
        # A page alone: with the lower memory and page 00h that the same document has.
        argument = f'{path.parent / "avago-afct-93drphz-400g-cmis4-page0.bin"},{path}'
    done = subprocess.run([tool, 'module', argument], check=True, stdout=subprocess.PIPE, text=True)
    ours = json.loads(done.stdout)
    compare = Compare(name, ours)

    compare.same('status', ours['status'], 'present')
    compare.same('standard', ours['standard'], about['kind'].removesuffix('-partial')
                 .removesuffix('-page11'))
    if about['kind'] != 'CMIS-page11':
        compare.same('checksum_ok', ours['checksum_ok'], checksums_hold(about['kind'], image))
    if hashlib.sha256(image).hexdigest() != about['sha256']:
        # Then the statements are about other bytes.
        if compare.problems:
            print(f'not ok - {name}: {"; ".join(compare.problems)}')
            return False
        print(f'skip - {name}: it is not the file that its .json describes (sha256); decoded, its '
              f'checksum_ok is {json.dumps(ours["checksum_ok"])}')
        return True

    ethtool = about.get('ethtool_6_1_decode', {})
    compare_text(compare, ethtool, readings=True)
    compare_stated(compare, about['stated_by_source'], ethtool)
    unused = set(compare.different) - compare.kept
    if unused:
        compare.problems.append(f'no comparison came to the exceptions {sorted(unused)}')
    if compare.problems:
        print(f'not ok - {name}: {"; ".join(compare.problems)}')
    else:
        print(f'ok - {name}: {compare.checks} values')
    return not compare.problems


def main():
    if len(sys.argv) != 3:
        print(__doc__.strip().splitlines()[3], file=sys.stderr)
        return 2
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2]) / 'eeprom'
    files = sorted(folder.glob('*.bin'))
    if not files:
        print('There is no corpus of transceivers beside this repository, so nothing is compared.')
        return 77
    results = [test_file(tool, path) for path in files]
    print(f'# {len(results)} files, {results.count(False)} with differences')
    return 0 if all(results) else 1


if __name__ == '__main__':
    sys.exit(main())
