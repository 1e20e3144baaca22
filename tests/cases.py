# SPDX-License-Identifier: LGPL-2.1-or-later
"""What tests in Python have in common: cases that check, skip or fail, each with a line of its own.
Knows no program of the project."""

import concurrent.futures
import itertools


class Skip(Exception):
    """Raised by a case that cannot be run here, with the reason."""


def check(truth, why):
    if not truth:
        raise AssertionError(why)


def equal(got, expected, what=""):
    check(got == expected, f"{what}{': ' if what else ''}got {got!r}, expected {expected!r}")


def has(text, *parts):
    for part in parts:
        check(part in text, f"{part!r} is not in: {text}")


def has_not(text, *parts):
    for part in parts:
        check(part not in text, f"{part!r} is in: {text}")


def name_of(function):
    return function.__name__.replace("_", " ")


def outcome(function):
    try:
        function()
        return f"ok - {name_of(function)}"
    except Skip as reason:
        return f"skip - {name_of(function)}: {reason}"
    except Exception as error:  # whatever went wrong, the other cases are run
        words = " ".join(str(error).split()) or type(error).__name__
        return f"not ok - {name_of(function)}: {words[:800]}"


def alone(case):
    """Marks a case that measures time or memory, or changes the whole process, as its user is:
    nothing runs beside it."""
    case.is_alone = True
    return case


def run_cases(cases, words, at_once=1):
    """Runs the cases that have one of the words in their name, all without words; the exit status.
    One at a time in this thread, or several at once, for cases that wait most of the time; then
    those that have to be alone."""
    wanted = [c for c in cases if not words or any(word in name_of(c) for word in words)]
    if not wanted:
        print(f"not ok - no case has any of these words in its name: {' '.join(words)}")
        return 1
    failed = False
    together = [c for c in wanted if at_once > 1 and not hasattr(c, "is_alone")]
    one_by_one = [c for c in wanted if c not in together]
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for line in itertools.chain(pool.map(outcome, together), map(outcome, one_by_one)):
            print(line, flush=True)
            failed |= line.startswith("not ok")
    return 1 if failed else 0
