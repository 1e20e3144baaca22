/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matches texts with the rows of a book. Recursion follows the rows, not the text, and never
 * further than DEPTH_MAX. */

#include "phrase.h"

#include <limits.h>

#include "buf.h"

#define PLACES_MAX    9
#define DEPTH_MAX     6
#define NODES_MAX     96
#define SENTENCES_MAX 12

/* What is enough for all texts of ours, in rows that are looked at, and takes less than a
 * millisecond. To look for a place's end costs as much as some rows. */
#define STEPS_MAX   50000
#define SEARCH_COST 16

#define NOBODY UINT16_MAX

typedef struct Piece {
        const char *at;
        size_t n;
} Piece;

typedef struct Row {
        const char *key;
        const char *places;
        char *english; /* "%%" made "%", and "%s" made nothing */
        Piece pieces[PLACES_MAX + 1];
        unsigned n_places;
        size_t n_literal;
        char kind;
} Row;

struct PnPhrases {
        unsigned n;
        Row *rows;                     /* by kind, those with the most text of their own first */
        unsigned first[UCHAR_MAX + 2]; /* of each kind, and of the one behind it */
};

/* A row that fits, and what is in its places: text, and phrases one after the other. */
typedef struct Node {
        const Row *row;
        Piece places[PLACES_MAX];
        uint16_t first[PLACES_MAX];
        uint16_t next; /* in a list */
        char separator;
} Node;

typedef struct Match {
        const PnPhrases *phrases;
        Node nodes[NODES_MAX];
        unsigned n, steps, depth;
} Match;

/* ---- the book ---- */

static int read_template(Row *row, const char *template)
{
        char *out = malloc(strlen(template) + 1);

        if (!out)
                return -ENOMEM;
        row->english = out;
        row->pieces[0].at = out;
        for (const char *in = template; *in; in++) {
                if (*in != '%') {
                        *out++ = *in;
                } else if (*++in == '%') {
                        *out++ = '%';
                } else if (*in == 's' && row->n_places < PLACES_MAX) {
                        row->pieces[row->n_places].n =
                            (size_t)(out - row->pieces[row->n_places].at);
                        row->pieces[++row->n_places].at = out;
                } else {
                        return -EINVAL;
                }
        }
        *out = '\0';
        row->pieces[row->n_places].n = (size_t)(out - row->pieces[row->n_places].at);
        row->n_literal = (size_t)(out - row->english);
        /* Two places with nothing between them could be told apart by nobody. */
        for (unsigned i = 1; i < row->n_places; i++)
                if (row->pieces[i].n == 0)
                        return -EINVAL;
        return strlen(row->places) == row->n_places ? 0 : -EINVAL;
}

static int compare_rows(const void *a, const void *b)
{
        const Row *one = a, *other = b;

        if (one->kind != other->kind)
                return (unsigned char)one->kind < (unsigned char)other->kind ? -1 : 1;
        if (one->n_literal != other->n_literal)
                return one->n_literal > other->n_literal ? -1 : 1;
        return strcmp(one->key, other->key);
}

int pn_phrases_new(const char *book, size_t size, PnPhrases **ret)
{
        _cleanup_(pn_phrases_freep) PnPhrases *phrases = calloc(1, sizeof *phrases);
        unsigned room = 0;

        if (!phrases)
                return -ENOMEM;
        if (!size || book[size - 1] != '\0')
                return -EINVAL;
        for (size_t i = 0; i < size; i++)
                room += book[i] == '\0';
        phrases->rows = calloc(room / 2 + 1, sizeof *phrases->rows);
        if (!phrases->rows)
                return -ENOMEM;
        for (const char *at = book; at < book + size;) {
                Row *row = &phrases->rows[phrases->n];
                const char *key = at + strlen(at) + 1, *context;
                int r;

                if (!*at || key >= book + size)
                        return -EINVAL;
                row->kind = *at;
                row->places = at + 1;
                row->key = key;
                context = strchr(key, '\4');
                phrases->n++;
                r = read_template(row, context ? context + 1 : key);
                if (r < 0)
                        return r;
                at = key + strlen(key) + 1;
        }
        qsort(phrases->rows, phrases->n, sizeof *phrases->rows, compare_rows);
        for (unsigned i = 0; i < phrases->n; i++)
                phrases->first[(unsigned char)phrases->rows[i].kind + 1]++;
        for (unsigned i = 0; i <= UCHAR_MAX; i++)
                phrases->first[i + 1] += phrases->first[i];
        *ret = PN_STEAL(phrases);
        return 0;
}

void pn_phrases_free(PnPhrases *phrases)
{
        if (!phrases)
                return;
        for (unsigned i = 0; i < phrases->n; i++)
                free(phrases->rows[i].english);
        free(phrases->rows);
        free(phrases);
}

/* ---- matching ---- */

static bool is_number(Piece text)
{
        bool digit = false;

        for (size_t i = 0; i < text.n; i++) {
                char c = text.at[i];

                if (c >= '0' && c <= '9')
                        digit = true;
                else if (!memchr("+-.e", c, 4))
                        return false;
        }
        return digit;
}

static uint16_t match_kind(Match *match, char kind, Piece text);

/* "a, b, c": each of a kind. A separator may also be in a phrase, so that the shortest piece that
 * is one counts. */
static uint16_t match_list(Match *match, char kind, Piece text)
{
        static const char *const separators[] = {", ", "; "};
        uint16_t first = NOBODY, last = NOBODY;

        for (size_t start = 0, end = 0; end <= text.n; end++) {
                char separator = '\0';
                uint16_t node;

                if (end < text.n) {
                        for (size_t k = 0; k < PN_ELEMENTS(separators); k++)
                                if (text.n - end > 2 &&
                                    memcmp(text.at + end, separators[k], 2) == 0)
                                        separator = separators[k][0];
                        if (!separator)
                                continue;
                }
                node = match_kind(match, kind, (Piece){text.at + start, end - start});
                if (node == NOBODY)
                        continue;
                match->nodes[node].separator = separator;
                if (first == NOBODY)
                        first = node;
                else
                        match->nodes[last].next = node;
                last = node;
                if (!separator)
                        return first;
                start = end + 2;
                end = start;
        }
        return NOBODY;
}

static bool match_place(Match *match, unsigned node, unsigned place, Piece text)
{
        char kind = match->nodes[node].row->places[place];
        uint16_t first = NOBODY;

        if (text.n == 0)
                return false;
        if (kind == '#') {
                if (!is_number(text))
                        return false;
        } else if (kind != '*') {
                first = kind >= 'A' && kind <= 'Z'
                            ? match_list(match, (char)(kind - 'A' + 'a'), text)
                            : match_kind(match, kind, text);
                if (first == NOBODY)
                        return false;
        }
        match->nodes[node].places[place] = text;
        match->nodes[node].first[place] = first;
        return true;
}

/* Whether the text fits from a place on. The piece before the place is passed already. */
static bool match_places(Match *match, unsigned node, unsigned place, Piece text)
{
        const Row *row = match->nodes[node].row;
        Piece behind;

        if (place == row->n_places)
                return text.n == 0;
        behind = row->pieces[place + 1];
        if (text.n < behind.n)
                return false;
        if (place + 1 == row->n_places) {
                size_t n = text.n - behind.n;

                return memcmp(text.at + n, behind.at, behind.n) == 0 &&
                       match_place(match, node, place, (Piece){text.at, n});
        }
        for (size_t n = 1; n + behind.n <= text.n;) {
                const char *found = memmem(text.at + n, text.n - n, behind.at, behind.n);
                unsigned kept = match->n;

                match->steps += SEARCH_COST;
                if (!found || match->steps > STEPS_MAX)
                        return false;
                n = (size_t)(found - text.at);
                if (match_place(match, node, place, (Piece){text.at, n}) &&
                    match_places(match, node, place + 1,
                                 (Piece){found + behind.n, text.n - n - behind.n}))
                        return true;
                match->n = kept;
                n++;
        }
        return false;
}

static bool may_fit(const Row *row, Piece text)
{
        Piece first = row->pieces[0], last = row->pieces[row->n_places];

        return text.n >= row->n_literal + row->n_places && (row->n_places || text.n == first.n) &&
               memcmp(text.at, first.at, first.n) == 0 &&
               memcmp(text.at + text.n - last.n, last.at, last.n) == 0;
}

static uint16_t match_kind(Match *match, char kind, Piece text)
{
        const unsigned *first = &match->phrases->first[(unsigned char)kind];
        uint16_t found = NOBODY;

        if (match->depth >= DEPTH_MAX)
                return NOBODY;
        match->depth++;
        match->steps += first[1] - first[0];
        for (unsigned i = first[0]; i < first[1] && found == NOBODY; i++) {
                const Row *row = &match->phrases->rows[i];
                unsigned node = match->n;

                if (!may_fit(row, text))
                        continue;
                if (match->steps > STEPS_MAX || node >= NODES_MAX)
                        break;
                match->nodes[match->n++] = (Node){.row = row, .next = NOBODY};
                if (match_places(match, node, 0,
                                 (Piece){text.at + row->pieces[0].n, text.n - row->pieces[0].n}))
                        found = (uint16_t)node;
                else
                        match->n = node;
        }
        match->depth--;
        return found;
}

/* Sentences with blanks between them: looked for from the end, so that each end is tried once. */
static bool match_sentences(Match *match, const char *text, uint16_t ret[SENTENCES_MAX],
                            unsigned *ret_n)
{
        size_t starts[SENTENCES_MAX + 1], length = strlen(text);
        unsigned n = 1, next[SENTENCES_MAX];
        uint16_t nodes[SENTENCES_MAX];

        starts[0] = 0;
        for (size_t i = 1; i + 1 < length; i++)
                if (text[i - 1] == '.' && text[i] == ' ') {
                        if (n == SENTENCES_MAX)
                                return false;
                        starts[n++] = i + 1;
                }
        starts[n] = length + 1;
        for (unsigned i = n; i-- > 0;) {
                nodes[i] = NOBODY;
                for (unsigned k = i + 1; k <= n && nodes[i] == NOBODY; k++) {
                        if (k < n && nodes[k] == NOBODY)
                                continue;
                        next[i] = k;
                        nodes[i] = match_kind(match, '.',
                                              (Piece){text + starts[i], starts[k] - 1 - starts[i]});
                }
        }
        *ret_n = 0;
        for (unsigned i = 0; i < n; i = next[i]) {
                if (nodes[i] == NOBODY)
                        return false;
                ret[(*ret_n)++] = nodes[i];
        }
        return true;
}

/* ---- saying ---- */

static int say_node(const Match *match, uint16_t at, PnPhraseSay *say, PnBuf *out);

static int say_place(const Match *match, const Node *node, unsigned place, PnPhraseSay *say,
                     PnBuf *out)
{
        int r = 1;

        if (node->first[place] == NOBODY)
                pn_buf_put(out, node->places[place].at, node->places[place].n);
        for (uint16_t i = node->first[place]; i != NOBODY && r == 1; i = match->nodes[i].next) {
                char separator[3] = {match->nodes[i].separator, ' ', '\0'};

                r = say_node(match, i, say, out);
                pn_buf_puts(out, *separator ? separator : "");
        }
        return r;
}

/* 1 if all of it could be said, else 0. */
static int say_node(const Match *match, uint16_t at, PnPhraseSay *say, PnBuf *out)
{
        const Node *node = &match->nodes[at];
        const char *in = say(node->row->key);
        unsigned place = 0;

        while (in && *in) {
                size_t plain = strcspn(in, "%");

                pn_buf_put(out, in, plain);
                in += plain;
                if (!*in)
                        break;
                in++;
                if (*in == '%') {
                        pn_buf_puts(out, "%");
                } else {
                        unsigned which = place++;

                        if (*in >= '1' && *in <= '9' && in[1] == '$') {
                                which = (unsigned)(*in - '1');
                                in += 2;
                        }
                        if (*in != 's' || which >= node->row->n_places ||
                            say_place(match, node, which, say, out) != 1)
                                return 0;
                }
                in++;
        }
        return in != NULL;
}

int pn_phrases_translate(const PnPhrases *phrases, char kind, const char *text, PnPhraseSay *say,
                         char **ret)
{
        _cleanup_free_ Match *match = NULL;
        _cleanup_buf_ PnBuf out = {0};
        uint16_t found[SENTENCES_MAX];
        unsigned n = 1;

        if (strnlen(text, PN_PHRASE_TEXT_MAX + 1) > PN_PHRASE_TEXT_MAX || !*text)
                return 0;
        match = malloc(sizeof *match);
        if (!match)
                return -ENOMEM;
        match->phrases = phrases;
        match->n = match->steps = match->depth = 0;
        if (kind == '.') {
                if (!match_sentences(match, text, found, &n))
                        return 0;
        } else {
                found[0] = match_kind(match, kind, (Piece){text, strlen(text)});
                if (found[0] == NOBODY)
                        return 0;
        }
        for (unsigned i = 0; i < n; i++) {
                pn_buf_puts(&out, i ? " " : "");
                if (say_node(match, found[i], say, &out) != 1)
                        return out.error;
        }
        return out.error ? out.error : pn_buf_take(&out, ret, NULL) < 0 ? -ENOMEM : 1;
}
