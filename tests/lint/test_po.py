#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every text of the client has a German translation that fits it.

usage: test_po.py [--update]

--update takes new texts into po/headings.in and po/*.po, where they wait for their translation.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PO = os.path.join(ROOT, 'po')
# What else the client alone says.
WITH_SENTENCES = ['lib/phrasebook.c', 'lib/speed.c']
HEAD = '''/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Headings of fields and of tables' columns, and what lib/codes.h says of each kind of finding, for
 * translators: made by tests/lint/test_po.py --update, and compiled nowhere. */
'''


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as file:
        return file.read()


def client_files():
    return sorted('cli/' + name for name in os.listdir(os.path.join(ROOT, 'cli'))
                  if name.endswith('.c'))


def headings():
    """Texts that are translated where they are shown and stand unmarked in tables."""
    found = re.findall(r'F\(T, \w+, \w+, [^,]+, "([^"]+)",', read('lib/model.h'))
    for path in client_files():
        text = read(path)
        for table in re.findall(r'static const Column \w+\[\] = \{(.*?)\n\};', text, re.DOTALL):
            found += re.findall(r'\] = \{"([^"]+)"', table)
    return HEAD + ''.join(f'N_("{text}")\n' for text in sorted(set(found))) + explanations()


def explanations():
    """Title, meaning and remedy of each row of the table of codes."""
    rows = re.sub(r'"\s*\\\n\s*"', '', read('lib/codes.h'))
    found = re.findall(r'\bC\(\w+, "[^"]*", "[^"]*", \d+, \d+, "[^"]*",[\s\\]*("[^"]*"),[\s\\]*'
                       r'("[^"]*"),[\s\\]*("[^"]*"),[\s\\]*"[0-9a-f]{32}"\)', rows)
    return ''.join(f'N_({text})\n' for texts in found for text in texts)


def template(path):
    files = client_files() + WITH_SENTENCES + ['po/headings.in']
    command = ["xgettext", "-L", "C", "--from-code=UTF-8", "-k", "-k_", "-kN_", "-ksay_n:1,2",
               "-kNN_:1,2", "-kcli_fail:3", "-ktell:2", "-ktranslated:2", "-kS:2", "-kP:2c,4",
               "--flag=S:2:c-format", "--flag=P:4:c-format",
               "--add-comments=Translators",
               '--package-name=pnhw', '--no-location', '-o', path, *files]
    subprocess.run(command, cwd=ROOT, check=True)


def files_listed():
    """po/POTFILES, which meson's pnhw-pot target reads."""
    return ''.join(path + '\n' for path in client_files()
                   if re.search(r'\b(N?N?_|say_n|cli_fail)\(', read(path))) + \
        ''.join(path + '\n' for path in [*WITH_SENTENCES, 'po/headings.in'])


def report(name, problem):
    print(f'not ok - {name}: {problem}' if problem else f'ok - {name}')
    return bool(problem)


def main():
    generated = {'headings.in': headings(), 'POTFILES': files_listed()}
    if '--update' in sys.argv:
        for name, text in generated.items():
            with open(os.path.join(PO, name), 'w', encoding='utf-8') as file:
                file.write(text)
    failed = False
    for name, text in generated.items():
        path = os.path.join(PO, name)
        failed |= report(f'po/{name} is up to date', '' if os.path.exists(path) and
                         read('po/' + name) == text else
                         'write it anew: tests/lint/test_po.py --update')
    if not shutil.which('xgettext') or not shutil.which('msgcmp'):
        print('skip - every text has a German translation: gettext is not installed')
        return failed
    with tempfile.TemporaryDirectory() as where:
        pot = os.path.join(where, 'pnhw.pot')
        template(pot)
        for language in read('po/LINGUAS').split():
            po = os.path.join(PO, language + '.po')
            if '--update' in sys.argv:
                subprocess.run(['msgmerge', '--quiet', '--update', '--backup=none', '--no-wrap',
                                '--no-fuzzy-matching', '--no-location', po, pot], check=True)
                subprocess.run(['msgattrib', '--no-obsolete', '--no-wrap', '-o', po, po], check=True)
            missing = subprocess.run(['msgcmp', po, pot], capture_output=True, text=True, check=False)
            failed |= report(f'every text has a translation: {language}',
                             '' if missing.returncode == 0 else
                             ' / '.join(missing.stderr.splitlines()[:6]))
            wrong = subprocess.run(['msgfmt', '--check', '-o', os.devnull, po],
                                   capture_output=True, text=True, check=False)
            failed |= report(f'translations fit their texts: {language}',
                             '' if wrong.returncode == 0 else
                             ' / '.join(wrong.stderr.splitlines()[:6]))
    return failed


sys.exit(main())
