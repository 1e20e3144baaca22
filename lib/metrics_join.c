/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes one OpenMetrics page of the pages of several hosts. Knows no series but the one that it
 * adds. */

#include "metrics_join.h"

#include <stdio.h>

/* Ours has some hundred. */
#define FAMILIES_MAX 2000u

/* One bad page must not spoil that of all, so what is said about a family has to fit it. */
static const struct Type {
        const char *name;
        const char *suffixes[5]; /* of its samples' names */
} types[] = {
    {"gauge", {""}},
    {"counter", {"_total", "_created"}},
    {"info", {"_info"}},
    {"stateset", {""}},
    {"unknown", {""}},
    {"histogram", {"_bucket", "_sum", "_count", "_created"}},
    {"gaugehistogram", {"_bucket", "_gsum", "_gcount"}},
    {"summary", {"", "_sum", "_count", "_created"}},
};

typedef struct Family {
        char *name;
        const struct Type *type;
        PnBuf about;   /* its lines TYPE, UNIT, HELP, as the first page has them */
        PnBuf samples; /* of all hosts */
        unsigned page; /* the last one that had it */
} Family;

struct PnMetricsJoin {
        Family *v;
        unsigned n, n_pages;
        PnBuf up;
};

PnMetricsJoin *pn_metrics_join_new(void)
{
        return calloc(1, sizeof(PnMetricsJoin));
}

void pn_metrics_join_free(PnMetricsJoin *join)
{
        if (!join)
                return;
        for (unsigned i = 0; i < join->n; i++) {
                free(join->v[i].name);
                pn_buf_done(&join->v[i].about);
                pn_buf_done(&join->v[i].samples);
        }
        free(join->v);
        pn_buf_done(&join->up);
        free(join);
}

/* ---- a line's parts ---- */

typedef struct Line {
        const char *at, *end;
} Line;

static bool is_letter(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The length of a name that begins here; 0: none does. */
static size_t name_length(const Line *line, bool colons)
{
        const char *s = line->at;

        while (s < line->end &&
               (is_letter(*s) || (colons && *s == ':') || (s > line->at && *s >= '0' && *s <= '9')))
                s++;
        return (size_t)(s - line->at);
}

static bool take_char(Line *line, char c)
{
        if (line->at == line->end || *line->at != c)
                return false;
        line->at++;
        return true;
}

/* A text in quotation marks, with its escapes. */
static bool take_quoted(Line *line)
{
        if (!take_char(line, '"'))
                return false;
        for (; line->at < line->end; line->at++) {
                if (*line->at == '"') {
                        line->at++;
                        return true;
                }
                if (*line->at == '\\' && (++line->at == line->end || !strchr("\\\"n", *line->at)))
                        return false;
        }
        return false;
}

/* A number, and perhaps a time. */
static bool is_value(const Line *line)
{
        const char *s = line->at;
        unsigned words = 1;

        for (; s < line->end; s++)
                if (*s == ' ' && s > line->at && s[-1] != ' ' && s + 1 < line->end)
                        words++;
                else if (!is_letter(*s) && !(*s >= '0' && *s <= '9') && !strchr("+-.", *s))
                        return false;
        return s > line->at && words <= 2;
}

/* Whether a sample of this name belongs to the family. */
static bool is_of_family(const Family *family, const char *name, size_t n)
{
        const char *const *suffixes = family->type->suffixes;
        size_t stem = strlen(family->name);

        if (n < stem || memcmp(name, family->name, stem) != 0)
                return false;
        for (size_t i = 0; i < 5 && suffixes[i]; i++)
                if (strlen(suffixes[i]) == n - stem &&
                    memcmp(name + stem, suffixes[i], n - stem) == 0)
                        return true;
        return false;
}

static void put_host(PnBuf *out, const char *host)
{
        pn_buf_puts(out, "host=\"");
        for (; *host; host++) {
                if (*host == '"' || *host == '\\')
                        pn_buf_puts(out, "\\");
                pn_buf_put(out, host, 1);
        }
        pn_buf_puts(out, "\"");
}

/* Reads a sample, and puts it with its host where `out` is not NULL. */
static bool take_sample(const Family *family, const char *host, Line line, PnBuf *out)
{
        size_t n = name_length(&line, true);

        if (!n || !is_of_family(family, line.at, n))
                return false;
        if (out) {
                pn_buf_put(out, line.at, n);
                pn_buf_puts(out, "{");
                put_host(out, host);
        }
        line.at += n;
        if (take_char(&line, '{') && !take_char(&line, '}')) {
                do {
                        const char *label = line.at;
                        bool clashes;

                        n = name_length(&line, false);
                        line.at += n;
                        if (!n || !take_char(&line, '=') || !take_quoted(&line))
                                return false;
                        clashes = n == 4 && memcmp(label, "host", 4) == 0;
                        if (out) {
                                pn_buf_puts(out, clashes ? ",exported_" : ",");
                                pn_buf_put(out, label, (size_t)(line.at - label));
                        }
                } while (take_char(&line, ','));
                if (!take_char(&line, '}'))
                        return false;
        }
        if (!take_char(&line, ' ') || !is_value(&line))
                return false;
        if (out) {
                pn_buf_puts(out, "} ");
                pn_buf_put(out, line.at, (size_t)(line.end - line.at));
                pn_buf_puts(out, "\n");
        }
        return true;
}

/* ---- a page ---- */

static Family *find(const PnMetricsJoin *join, const char *name, size_t n)
{
        for (unsigned i = 0; i < join->n; i++)
                if (strlen(join->v[i].name) == n && memcmp(join->v[i].name, name, n) == 0)
                        return &join->v[i];
        return NULL;
}

static int make_family(PnMetricsJoin *join, const char *name, size_t n, Family **ret)
{
        Family *grown = reallocarray(join->v, join->n + 1, sizeof *grown);

        if (!grown)
                return -ENOMEM;
        join->v = grown;
        grown[join->n] = (Family){.name = strndup(name, n)};
        if (!grown[join->n].name)
                return -ENOMEM;
        *ret = &grown[join->n++];
        return 0;
}

static const struct Type *find_type(const Line *line)
{
        size_t n = (size_t)(line->end - line->at);

        for (size_t i = 0; i < PN_ELEMENTS(types); i++)
                if (strlen(types[i].name) == n && memcmp(types[i].name, line->at, n) == 0)
                        return &types[i];
        return NULL;
}

/* Whether the name ends with the unit, as it has to. */
static bool has_unit(const Family *family, const Line *unit)
{
        size_t n = (size_t)(unit->end - unit->at), length = strlen(family->name);

        return n && length > n && family->name[length - n - 1] == '_' &&
               memcmp(family->name + length - n, unit->at, n) == 0;
}

static bool begins_with(const Line *line, const char *with)
{
        size_t n = strlen(with);

        return (size_t)(line->end - line->at) >= n && memcmp(line->at, with, n) == 0;
}

/* Goes through a page; the first time (`is_trial`) to find out whether it is one: families that are
 * new are made then already, and stay empty if it is none. NULL, or what is wrong with it. */
static const char *go_through(PnMetricsJoin *join, const char *host, const char *page, size_t n,
                              bool is_trial, unsigned *ret_line, int *ret_error)
{
        const char *end = page + n;
        Family *family = NULL;
        bool is_new = false;

        *ret_line = 0;
        for (const char *at = page; at < end;) {
                const char *newline = memchr(at, '\n', (size_t)(end - at));
                Line line = {at, newline}, rest;
                const struct Type *type;
                size_t length;

                (*ret_line)++;
                if (!newline)
                        return "ends in the middle of a line";
                at = newline + 1;
                if (begins_with(&line, "# EOF") && line.end - line.at == 5)
                        return at == end ? NULL : "goes on after its end";
                if (!begins_with(&line, "# TYPE ") && !family)
                        return "has something before its first family";
                if (begins_with(&line, "# TYPE ") || begins_with(&line, "# UNIT ") ||
                    begins_with(&line, "# HELP ")) {
                        rest = (Line){line.at + 7, line.end};
                        length = name_length(&rest, true);
                        rest.at += length;
                        if (!length || !take_char(&rest, ' '))
                                return "has a description of nothing";
                        if (begins_with(&line, "# TYPE ")) {
                                type = find_type(&rest);
                                family = find(join, line.at + 7, length);
                                if (!type)
                                        return "has a family of a type that there is not";
                                if (family && family->page == join->n_pages)
                                        return "has a family twice";
                                is_new = !family || !family->about.len;
                                if (!is_new && family->type != type)
                                        return "has a family of another type than others have";
                                if (!family && join->n >= FAMILIES_MAX)
                                        return "has too many families";
                                if (!family)
                                        *ret_error =
                                            make_family(join, line.at + 7, length, &family);
                                if (*ret_error < 0)
                                        return "";
                                family->page = join->n_pages;
                                family->type = type;
                        } else if (strlen(family->name) != length ||
                                   memcmp(family->name, line.at + 7, length) != 0) {
                                return "has a description outside of its family";
                        } else if (begins_with(&line, "# UNIT ") && !has_unit(family, &rest)) {
                                return "has a family without its unit in its name";
                        }
                        if (is_new && !is_trial)
                                pn_buf_put(&family->about, line.at, (size_t)(at - line.at));
                } else if (!take_sample(family, host, line, is_trial ? NULL : &family->samples))
                        return "has a line that is no sample";
        }
        return "has no end";
}

int pn_metrics_join_add(PnMetricsJoin *join, const char *host, const char *page, size_t n,
                        char **ret_error)
{
        for (int is_trial = 1; is_trial >= 0; is_trial--) {
                unsigned line;
                int r = 0;
                const char *wrong;

                join->n_pages++;
                wrong = go_through(join, host, page, n, is_trial, &line, &r);
                if (r < 0)
                        return r;
                if (!wrong)
                        continue;
                if (ret_error && asprintf(ret_error, "line %u: the page %s", line, wrong) < 0) {
                        *ret_error = NULL;
                        return -ENOMEM;
                }
                return -EBADMSG;
        }
        return 0;
}

void pn_metrics_join_answered(PnMetricsJoin *join, const char *host, bool up)
{
        pn_buf_puts(&join->up, "pnhw_host_up{");
        put_host(&join->up, host);
        pn_buf_puts(&join->up, up ? "} 1\n" : "} 0\n");
}

int pn_metrics_join_write(const PnMetricsJoin *join, PnBuf *buf)
{
        int r = join->up.error;

        if (join->up.len) {
                pn_buf_puts(buf, "# TYPE pnhw_host_up gauge\n"
                                 "# HELP pnhw_host_up Whether the host was asked and answered.\n");
                pn_buf_put(buf, join->up.data, join->up.len);
        }
        for (unsigned i = 0; i < join->n && r == 0; i++) {
                const Family *family = &join->v[i];

                r = family->about.error ? family->about.error : family->samples.error;
                if (r < 0 || !family->about.len)
                        continue;
                pn_buf_put(buf, family->about.data, family->about.len);
                if (family->samples.len)
                        pn_buf_put(buf, family->samples.data, family->samples.len);
        }
        pn_buf_puts(buf, "# EOF\n");
        return r ? r : buf->error;
}
