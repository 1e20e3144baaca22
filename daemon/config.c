/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads pnhwd.conf and its drop-ins; knows no key. */

#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <ini.h>
#include <stdio.h>
#include <sys/stat.h>

/* In the order of precedence. */
static const char *const folders[] = {"/etc/pnhw", "/run/pnhw", "/usr/lib/pnhw"};

#define DROP_INS_MAX 256

/* Keys that are held against each other once all is read. */
enum { DRIVE_LIMITS, WORN_LIMITS, HEALTH_INTERVALS, N_PAIRS };

static const struct {
        const char *section, *low, *high;
} pairs[N_PAIRS] = {
    [DRIVE_LIMITS] = {"Limits", "DriveWarning", "DriveCritical"},
    [WORN_LIMITS] = {"Limits", "WornInfo", "WornWarning"},
    [HEALTH_INTERVALS] = {"Health", "Interval", "LongestInterval"},
};

typedef struct Reader {
        PnPolicy *policy;
        PnConfigProblem problem;
        void *userdata;
        const char *path;
        FILE *file;
        unsigned line;
        bool lost; /* in a section whose name cannot be read: its keys are nobody's */
        int error;
        char set_at[N_PAIRS][544]; /* "FILE:LINE" of the last line that set one of a pair */
} Reader;

static void complain(const Reader *reader, unsigned line, const char *problem)
{
        if (reader->problem)
                reader->problem(reader->userdata, reader->path, line, problem);
}

static bool is_end_of_section(const char *s)
{
        while (isspace((unsigned char)*s))
                s++;
        return !*s || *s == '#' || *s == ';';
}

/* A line for libinih, which passes in silence over what is no line of an INI file. */
static char *next_line(char *line, int size, void *userdata)
{
        Reader *reader = userdata;
        const char *s;

        if (!fgets(line, size, reader->file))
                return NULL;
        reader->line++;
        if (!strchr(line, '\n') && !feof(reader->file)) {
                int c;

                complain(reader, reader->line, "the line is too long");
                while ((c = getc(reader->file)) != '\n' && c != EOF)
                        continue;
                *line = '\0';
                return line;
        }
        if (reader->line == 1 && pn_startswith(line, "\xef\xbb\xbf"))
                return line;
        for (s = line; isspace((unsigned char)*s); s++)
                continue;
        /* To libinih an indented line belongs to the value above it; here it is one like others. */
        memmove(line, s, strlen(s) + 1);
        s = line;
        if (*s == '[')
                reader->lost = !strchr(s, ']') || !is_end_of_section(strchr(s, ']') + 1);
        if (*s == '[' && reader->lost)
                complain(reader, reader->line,
                         strchr(s, ']') ? "there is something behind the name of the section"
                                        : "the name of the section has no ]");
        else if (*s && *s != '#' && *s != ';' && *s != '[' && !strchr(s, '='))
                complain(reader, reader->line, "neither [Section] nor Key=Value");
        else
                return line;
        *line = '\0';
        return line;
}

static void remember_place(Reader *reader, const char *section, const char *name)
{
        for (size_t i = 0; i < N_PAIRS; i++)
                if (pn_streq(section, pairs[i].section) &&
                    (strcmp(name, pairs[i].low) == 0 || strcmp(name, pairs[i].high) == 0))
                        (void)snprintf(reader->set_at[i], sizeof reader->set_at[i], "%s:%u",
                                       reader->path, reader->line);
}

static int take_line(void *userdata, const char *section, const char *name, const char *value)
{
        Reader *reader = userdata;
        _cleanup_free_ char *problem = NULL;
        int r;

        if (!name || reader->lost)
                return 1;
        r = pn_policy_set(reader->policy, section, name, value ? value : "", &problem);
        if (r == -EINVAL && problem)
                complain(reader, reader->line, problem);
        else if (r < 0)
                reader->error = r;
        else
                remember_place(reader, section, name);
        return 1;
}

/* In /run a service may have been given a folder: only what is root's alone counts there. */
static bool may_count(const Reader *reader)
{
        struct stat st;

        return !pn_startswith(reader->path, "/run/") ||
               (fstat(fileno(reader->file), &st) == 0 && st.st_uid == 0 && !(st.st_mode & 022));
}

/* 0; -ENOENT if there is no such file; -ENOMEM. */
static int read_file(Reader *reader, const char *path)
{
        reader->path = path;
        reader->line = 0;
        reader->lost = false;
        reader->file = fopen(path, "re");
        if (!reader->file) {
                if (errno == ENOENT || errno == ENOTDIR)
                        return -ENOENT;
                complain(reader, 0, strerror(errno));
                return 0;
        }
        if (may_count(reader))
                (void)ini_parse_stream(next_line, reader, take_line, reader);
        else
                complain(reader, 0, "not written by root alone: passed over");
        if (ferror(reader->file))
                complain(reader, 0, "cannot be read");
        (void)fclose(PN_STEAL(reader->file));
        return reader->error;
}

static int is_drop_in(const struct dirent *entry)
{
        size_t n = strlen(entry->d_name);

        return entry->d_name[0] != '.' && n > strlen(".conf") &&
               strcmp(entry->d_name + n - strlen(".conf"), ".conf") == 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
        return strcmp((*a)->d_name, (*b)->d_name);
}

/* The drop-ins of all folders by name, each name once. */
static int read_drop_ins(Reader *reader)
{
        struct dirent **found[PN_ELEMENTS(folders)] = {NULL};
        int n[PN_ELEMENTS(folders)], at[PN_ELEMENTS(folders)] = {0}, r = 0;
        char path[512];

        for (size_t i = 0; i < PN_ELEMENTS(folders); i++) {
                (void)snprintf(path, sizeof path, "%s/pnhwd.conf.d", folders[i]);
                n[i] = scandir(path, &found[i], is_drop_in, compare_names);
                if (n[i] >= 0)
                        continue;
                n[i] = 0;
                reader->path = path;
                if (errno != ENOENT && errno != ENOTDIR)
                        complain(reader, 0, strerror(errno));
        }
        for (unsigned count = 0; r == 0 && count < DROP_INS_MAX; count++) {
                const char *first = NULL;
                size_t folder = 0;

                for (size_t i = 0; i < PN_ELEMENTS(folders); i++)
                        if (at[i] < n[i] &&
                            (!first || strcmp(found[i][at[i]]->d_name, first) < 0)) {
                                first = found[i][at[i]]->d_name;
                                folder = i;
                        }
                if (!first)
                        break;
                (void)snprintf(path, sizeof path, "%s/pnhwd.conf.d/%s", folders[folder], first);
                r = read_file(reader, path);
                if (r == -ENOENT)
                        r = 0;
                for (size_t i = 0; i < PN_ELEMENTS(folders); i++)
                        if (i != folder && at[i] < n[i] &&
                            strcmp(found[i][at[i]]->d_name, first) == 0)
                                at[i]++;
                at[folder]++;
        }
        for (size_t i = 0; i < PN_ELEMENTS(folders); i++) {
                for (int k = 0; k < n[i]; k++)
                        free(found[i][k]);
                free(found[i]);
        }
        return r;
}

/* What no single line is to blame for: the last of those that it comes from is named. */
static void check(Reader *reader)
{
        const PnPolicy fresh = PN_POLICY_DEFAULT;
        PnPolicy *policy = reader->policy;

        reader->path = reader->set_at[DRIVE_LIMITS];
        if (policy->nvme_warning_c >= policy->nvme_critical_c) {
                complain(reader, 0,
                         "DriveWarning is not below DriveCritical: both are taken as by default");
                policy->nvme_warning_c = fresh.nvme_warning_c;
                policy->nvme_critical_c = fresh.nvme_critical_c;
        }
        reader->path = reader->set_at[WORN_LIMITS];
        if (policy->worn_info > policy->worn_warning) {
                complain(reader, 0, "WornInfo is above WornWarning: both are taken as by default");
                policy->worn_info = fresh.worn_info;
                policy->worn_warning = fresh.worn_warning;
        }
        reader->path = reader->set_at[HEALTH_INTERVALS];
        if (policy->health_longest_interval_s < policy->health_interval_s)
                complain(reader, 0,
                         "LongestInterval is below Interval in [Health]: it counts as Interval");
}

int pn_config_load(PnPolicy *ret, PnConfigProblem problem, void *userdata)
{
        PnPolicy policy = PN_POLICY_DEFAULT;
        Reader reader = {.policy = &policy, .problem = problem, .userdata = userdata};
        int r = -ENOENT;

        for (size_t i = 0; i < PN_ELEMENTS(folders) && r == -ENOENT; i++) {
                char path[512];

                (void)snprintf(path, sizeof path, "%s/pnhwd.conf", folders[i]);
                r = read_file(&reader, path);
        }
        if (r == 0 || r == -ENOENT)
                r = read_drop_ins(&reader);
        if (r < 0) {
                pn_policy_done(&policy);
                return r;
        }
        check(&reader);
        *ret = policy;
        return 0;
}
