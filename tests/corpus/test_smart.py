#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_smart.py DECODE CORPUS: holds lib/smart.c against every SMART log of the corpus and what its
source printed of it. One line a log; exit status 77 without the corpus."""
import glob
import json
import os
import subprocess
import sys

NAMES = {"available_spare": "spare_percent", "available_spare_threshold": "spare_threshold_percent",
         "percentage_used": "used_percent", "controller_busy_time": "busy_minutes",
         "num_err_log_entries": "error_log_entries",
         "warning_temp_time": "warning_temperature_minutes",
         "critical_comp_time": "critical_temperature_minutes", "temperature": "temperature_c"}
SAME = ("data_units_read", "data_units_written", "host_reads", "host_writes", "power_cycles",
        "power_on_hours", "unsafe_shutdowns", "media_errors")
BITS = ("spare", "temperature", "reliability", "read_only", "volatile_backup", "persistent_memory")
# Logs of the corpus that do not hold what is written beside them: the bytes count.
CONTRADICTIONS = {"HUADISK_HYV128_HYV128X3_HXY__C7888057D90F": {"unsafe_shutdowns": 10}}


def compare(ours, expected):
    wrong = []

    def check(name, value):
        if ours[name] != value:
            wrong.append(f"{name} is {ours[name]}, not {value}")

    for theirs, name in {**NAMES, **{name: name for name in SAME}}.items():
        if theirs in expected:
            check(name, expected[theirs])
    if "temperature_kelvin" in expected and "temperature" not in expected:
        check("temperature_c", expected["temperature_kelvin"] - 273)
    check("critical_warnings", [word for bit, word in enumerate(BITS)
                                if expected["critical_warning"] & 1 << bit])
    check("bytes_read", expected["data_units_read"] * 512000)
    check("bytes_written", expected["data_units_written"] * 512000)
    if "temperature_sensors" in expected:
        check("sensors", [{"index": i, "temperature_c": celsius} for i, celsius in
                          enumerate(expected["temperature_sensors"], 1) if celsius is not None])
    return wrong


def main():
    decode, corpus = sys.argv[1:3]
    files = sorted(glob.glob(os.path.join(corpus, "nvme", "smart-raw", "*.bin")))
    if not files:
        print(f"no SMART logs in {corpus}")
        return 77
    output = subprocess.run([decode, "smart", *files], check=True, capture_output=True,
                            text=True).stdout.splitlines()
    failed = len(output) != len(files)
    for path, line in zip(files, output):
        name = os.path.basename(path)[:-len(".bin")]
        with open(path[:-len("bin")] + "json", encoding="utf-8") as file:
            expected = json.load(file)["expected"] | CONTRADICTIONS.get(name, {})
        wrong = compare(json.loads(line), expected)
        failed |= bool(wrong)
        print(f"not ok - {name}: {'; '.join(wrong)}" if wrong else f"ok - {name}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
