#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""update.py NEW OLD [KEPT…]: makes OLD have the files that NEW has. Those that are the same are not
touched, so that a build in OLD compiles what has changed; nor is what is below KEPT, patterns of names
in OLD itself. Everything else that NEW has not is removed."""

import filecmp
import fnmatch
import os
import shutil
import sys


def files(folder, kept=()):
    for path, folders, names in os.walk(folder):
        if path == folder:
            folders[:] = [n for n in folders if not any(fnmatch.fnmatch(n, k) for k in kept)]
        for name in names + [n for n in folders if os.path.islink(os.path.join(path, n))]:
            yield os.path.relpath(os.path.join(path, name), folder)


def same(one, other):
    if os.path.islink(one) or os.path.islink(other):
        return os.path.islink(one) and os.path.islink(other) and os.readlink(one) == os.readlink(other)
    return (os.path.isfile(other) and os.stat(one).st_mode == os.stat(other).st_mode
            and filecmp.cmp(one, other, shallow=False))


def main():
    new, old, kept = sys.argv[1], sys.argv[2], sys.argv[3:]
    wanted = set(files(new))
    for path in set(files(old, kept)) - wanted:
        os.unlink(os.path.join(old, path))
    for path in wanted:
        source, target = os.path.join(new, path), os.path.join(old, path)
        if os.path.lexists(target) and same(source, target):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.lexists(target):
            os.unlink(target)
        # With the time of now, which is what a build goes by.
        shutil.copyfile(source, target, follow_symlinks=False)
        if not os.path.islink(target):
            shutil.copymode(source, target)


main()
