#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the rules say is in the book of phrases (lib/phrasebook.c), from which pnhwctl says it in other
languages: each text of the sources is one of the book's, or a piece of some.

usage: test_phrases.py
"""

import itertools
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Where sentences are made, and what in them is no text for a reader.
SOURCES = {
    'lib/rules.c': [], 'lib/rules_growth.c': [], 'lib/rules_health.c': [], 'lib/rules_nic.c': [],
    'lib/summary.c': [], 'lib/rating.c': None, 'lib/linkmode.c': None, 'lib/alerts.c': None,
    'daemon/collect.c': None, 'lib/client.c': None, 'lib/schema.c': None,
}
# Of these, what the pattern finds.
ONLY = {
    'lib/rating.c': r'what = ("[^"]+");',
    'lib/linkmode.c': r'\{\d+, -?\d+, ("[^"]+")\}',
    'lib/alerts.c': r'("(?:It|The)\b[^"]*")',
    'lib/client.c': r'(?:ret_error|NULL|"\w+"),\s*("[^"]+ [^"]+")',
    'lib/schema.c': r'''(?:fail\(reader,|what = (?:r == -EINVAL \? )?|[?:]\s)\s*("[a-z](?:[^"\\\n]|\\.)+ (?:[^"\\\n]|\\.)+")''',
    'daemon/collect.c': r'run_fail\(run,\s*("[^"]+")',
}
LITERALS = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"|\bPRI[du]64\b)(?:\s*(?:"(?:[^"\\\n]|\\.)*"|\bPRI[du]64\b))*')
CONVERSION = re.compile(r'%[-+ #0]*\d*(?:\.(?:\d+|\*))?(?:ll|l|z)?[a-zA-Z]')
PLACE = '\x1a'
# What a place that touches a word may hold: nothing, an ending, or a word before it.
ENDINGS = ('', 's', 'es', 'critical ')


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as file:
        return file.read()


def join(literals):
    """Literals next to one another, as one text with its conversions made places."""
    text = re.sub(r'PRI[du]64', '"d"', literals)
    text = ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace('\\"', '"')
    return CONVERSION.sub(PLACE, text.replace('%%', '\x00')).replace('\x00', '%')


def texts_of(path):
    text = re.sub(r'/\*.*?\*/', '', read(path), flags=re.DOTALL)
    text = re.sub(r'#include.*', '', text)
    if path in ONLY:
        text = ' ; '.join(re.findall(ONLY[path], re.sub(r'"\s*\n\s*"', '', text)))
    found = {join(match.group(0)) for match in LITERALS.finditer(text)}
    # Words: two with a blank between them, or a whole sentence; in tables, any.
    if path == 'lib/rating.c':
        return sorted(t + ' ' + PLACE for t in found)
    return sorted(t for t in found if path in ONLY or
                  re.search(r"[a-z]{2,}[,:;]? [a-z`]{2,}|[a-z] |\w\.$", t.strip(' ' + PLACE)))


def nouns():
    """The words of rules.c for kinds of devices, which stand alone in tables."""
    text = read('lib/rules.c')
    start = text.index('noun_for(')
    return set(re.findall(r'\{"[^"]+", "([^"]+)"\}', text[start:text.index('\n}\n', start)]))


class Book:
    def __init__(self):
        rows = re.sub(r'"\s*\n\s*"', '', read('lib/phrasebook.c'))
        self.sentences, self.phrases, self.kinds = [], [], {}
        for places, english in re.findall(r'\bS\("([^"]*)", "((?:[^"\\]|\\.)*)"\)', rows):
            self.sentences.append(self.pattern(english))
            self.check(places, english)
        for kind, _, places, english in re.findall(
                r'\bP\("(.)", "([^"]*)", "([^"]*)", "((?:[^"\\]|\\.)*)"\)', rows):
            self.kinds.setdefault(kind, set()).add(english)
            # A row that is nothing but a place fits everything, and proves nothing.
            if english != '%s':
                self.phrases.append(self.pattern(english))
            self.check(places, english)
        self.text = '\n'.join(join('"' + t + '"') for t in re.findall(
            r'\b[SP]\((?:"[^"]*", )+"((?:[^"\\]|\\.)*)"\)', rows))

    @staticmethod
    def check(places, english):
        if len(places) != english.replace('%%', '').count('%s'):
            raise ValueError(f'{english}: {len(places)} kinds of places')

    @staticmethod
    def pattern(english):
        pieces = english.replace('\\"', '"').replace('%%', '\x00').split('%s')
        return re.compile('(.+?)'.join(re.escape(p.replace('\x00', '%')) for p in pieces), re.DOTALL)

    def is_told(self, text):
        """Whether it is sentences of the book with blanks between them, or a phrase of it. A place
        may be all of the text's own last or first sentence."""
        text = text.strip(' ')
        if any(p.fullmatch(text) for p in self.phrases):
            return True
        ends = [m.end() - 1 for m in re.finditer(r'[.' + PLACE + r'](?= )', text)] + [len(text) - 1]
        starts = {0}
        for end in ends:
            for start in sorted(starts):
                piece = text[start:end + 1]
                if piece in (PLACE, PLACE + '.') or any(p.fullmatch(piece) for p in self.sentences):
                    starts.add(end + 2)
                    break
                # " … slot.%s": the place brings its own blank.
                if piece.endswith('.' + PLACE) and \
                        any(p.fullmatch(piece[:-1]) for p in self.sentences):
                    starts.add(end + 2)
                    break
        return len(text) + 1 in starts

    def is_piece(self, text):
        """Whether all words of it are next to one another somewhere in the book."""
        words = [w.strip(' .') for w in text.split(PLACE) if re.search(r'[a-z]', w)]
        return all(w in self.text for w in words)


def variants(text):
    """With places that touch a word filled as the sources do."""
    touching = [m.start() for m in re.finditer(PLACE, text)
                if (m.start() and text[m.start() - 1].isalpha()) or
                (m.end() < len(text) and text[m.end()].isalpha())]
    for endings in itertools.product(ENDINGS, repeat=len(touching)) if len(touching) < 4 else ():
        filled = text
        for at, ending in reversed(list(zip(touching, endings))):
            filled = filled[:at] + ending + filled[at + 1:]
        yield filled


def report(name, problems):
    shown = ' / '.join(t.replace(PLACE, '%s') for t in problems[:4])
    print(f'not ok - {name}: {shown}' if problems else f'ok - {name}')
    return bool(problems)


def main():
    book, failed, n = Book(), False, 0
    for path in SOURCES:
        texts = texts_of(path)
        n += len(texts)
        # The summary is put together of pieces; and so is what is no whole sentence.
        failed |= report(f'what {path} says is in lib/phrasebook.c and po/', [
            t for t in texts if not any(map(book.is_told, variants(t)))
            and not ((path == 'lib/summary.c' or not t.endswith('.') or t.startswith(PLACE * 2))
                     and book.is_piece(t))])
    failed |= report('enough texts were found', [] if n > 150 else [str(n)])
    failed |= report('each kind of device has its cases', sorted(
        noun for noun in nouns() for kind in 'na' if noun not in book.kinds[kind]))
    return failed


sys.exit(main())
