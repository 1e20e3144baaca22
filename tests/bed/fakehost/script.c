/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the scripts of answers (grammar: README.md); knows no device and no system call. */

#include <ctype.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <sys/stat.h>

#include "fakehost.h"

enum { MAX_WORDS = 16, MAX_FILE_BYTES = 1 << 20 };

static const struct {
        const char *name;
        int number;
} errno_names[] = {
    {"EACCES", EACCES},       {"EAGAIN", EAGAIN}, {"EBUSY", EBUSY},           {"EINTR", EINTR},
    {"EINVAL", EINVAL},       {"EIO", EIO},       {"ENODEV", ENODEV},         {"ENOMEM", ENOMEM},
    {"ENOTTY", ENOTTY},       {"ENXIO", ENXIO},   {"EOPNOTSUPP", EOPNOTSUPP}, {"EPERM", EPERM},
    {"ETIMEDOUT", ETIMEDOUT},
};

static const struct {
        const char *name;
        uint32_t number;
} module_types[] = {
    {"SFF-8079", ETH_MODULE_SFF_8079},
    {"SFF-8436", ETH_MODULE_SFF_8436},
    {"SFF-8472", ETH_MODULE_SFF_8472},
    {"SFF-8636", ETH_MODULE_SFF_8636},
};

/* Where the reader is, for messages. */
typedef struct Position {
        const char *path;
        const char *tree_path;
        int line;
} Position;

static _Noreturn void fail_at(const Position *at, const char *what, const char *word)
{
        fh_fail(FH_EXIT_SETUP, "%s, line %d: %s \"%s\"", at->path, at->line, what, word);
}

static uint32_t parse_number(const Position *at, const char *word, const char *text)
{
        char *end;
        unsigned long value;

        errno = 0;
        value = strtoul(text, &end, 0);
        if (errno || end == text || *end || value > UINT32_MAX)
                fail_at(at, "wrong number in", word);
        return (uint32_t)value;
}

static int parse_errno(const Position *at, const char *name)
{
        for (size_t i = 0; i < PN_ELEMENTS(errno_names); i++)
                if (pn_streq(errno_names[i].name, name))
                        return errno_names[i].number;
        fail_at(at, "unknown error name", name);
}

static uint32_t parse_module_type(const Position *at, const char *name)
{
        for (size_t i = 0; i < PN_ELEMENTS(module_types); i++)
                if (pn_streq(module_types[i].name, name))
                        return module_types[i].number;
        fail_at(at, "unknown module type", name);
}

static void parse_mac(const Position *at, const char *text, uint8_t mac[6])
{
        unsigned byte[6];
        char rest;

        if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%c", &byte[0], &byte[1], &byte[2], &byte[3],
                   &byte[4], &byte[5], &rest) != 6)
                fail_at(at, "wrong MAC address", text);
        for (size_t i = 0; i < 6; i++)
                mac[i] = (uint8_t)byte[i];
}

static void read_bytes(const Position *at, const char *name, FhAnswer *answer)
{
        _cleanup_close_ int fd = -1;
        char path[4096];
        struct stat st;
        ssize_t n;

        (void)snprintf(path, sizeof path, "%s/%s", at->tree_path, name);
        fd = open(name[0] == '/' ? name : path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0)
                fail_at(at, strerror(errno), name);
        if (!S_ISREG(st.st_mode) || st.st_size > MAX_FILE_BYTES)
                fail_at(at, "not a regular file of at most 1 MiB", name);
        answer->size = (size_t)st.st_size;
        answer->bytes = malloc(answer->size + 1);
        if (!answer->bytes)
                fail_at(at, "no memory for", name);
        n = read(fd, answer->bytes, answer->size);
        if (n < 0 || (size_t)n != answer->size)
                fail_at(at, "cannot read", name);
}

static char *copy(const char *text)
{
        char *duplicate = strdup(text);

        if (!duplicate)
                fh_fail(FH_EXIT_SETUP, "no memory");
        return duplicate;
}

/* COMMAND or COMMAND:NUMBER. */
static void parse_command(const Position *at, const char *word, FhAnswer *answer)
{
        static const char *const names[] = {"any",     "identify", "log",      "opcode", "module",
                                            "drvinfo", "permaddr", "settings", "stats"};
        const char *colon = strchr(word, ':');
        size_t length = colon ? (size_t)(colon - word) : strlen(word);

        for (size_t i = 0; i < PN_ELEMENTS(names); i++)
                if (strlen(names[i]) == length && memcmp(names[i], word, length) == 0)
                        answer->command = copy(names[i]);
        if (!answer->command)
                fail_at(at, "unknown command", word);
        answer->selector = colon ? (int64_t)parse_number(at, word, colon + 1) : -1;
        if (pn_streq(answer->command, "opcode") && !colon)
                fail_at(at, "no number in", word);
}

static void parse_answer(const Position *at, const char *word, FhAnswer *answer)
{
        if (pn_streq(word, "hang"))
                answer->kind = FH_ANSWER_HANG;
        else if (pn_streq(word, "ok"))
                answer->kind = FH_ANSWER_BYTES;
        else if (pn_startswith(word, "file:")) {
                answer->kind = FH_ANSWER_BYTES;
                read_bytes(at, word + strlen("file:"), answer);
        } else if (pn_startswith(word, "status:")) {
                answer->kind = FH_ANSWER_STATUS;
                answer->status = parse_number(at, word, word + strlen("status:"));
        } else if (pn_startswith(word, "errno:")) {
                answer->kind = FH_ANSWER_ERRNO;
                answer->error = parse_errno(at, word + strlen("errno:"));
        } else
                fail_at(at, "unknown answer", word);
}

static void parse_option(const Position *at, const char *word, FhAnswer *answer)
{
        const char *equals = strchr(word, '=');
        const char *value = equals ? equals + 1 : "";

        if (pn_startswith(word, "delay="))
                answer->delay_ms = parse_number(at, word, value);
        else if (pn_startswith(word, "times="))
                answer->times = parse_number(at, word, value);
        else if (pn_startswith(word, "nsid="))
                answer->nsid = parse_number(at, word, value);
        else if (pn_startswith(word, "result="))
                answer->result = parse_number(at, word, value);
        else if (pn_startswith(word, "type="))
                answer->module_type = parse_module_type(at, value);
        else if (pn_startswith(word, "driver="))
                answer->driver = copy(value);
        else if (pn_startswith(word, "version="))
                answer->version = copy(value);
        else if (pn_startswith(word, "firmware="))
                answer->firmware = copy(value);
        else if (pn_startswith(word, "bus="))
                answer->bus = copy(value);
        else if (pn_startswith(word, "mac="))
                parse_mac(at, value, answer->mac);
        else
                fail_at(at, "unknown option", word);
}

static void parse_line(FhScript *script, const Position *at, char **words, size_t n_words)
{
        FhAnswer answer = {.selector = -1, .nsid = -1, .line = at->line};
        FhAnswer *grown;

        if (n_words < 3)
                fail_at(at, "DEVICE COMMAND ANSWER expected after", words[0]);
        answer.device = copy(words[0]);
        parse_command(at, words[1], &answer);
        parse_answer(at, words[2], &answer);
        for (size_t i = 3; i < n_words; i++)
                parse_option(at, words[i], &answer);

        grown = reallocarray(script->answers, script->n_answers + 1, sizeof *grown);
        if (!grown)
                fh_fail(FH_EXIT_SETUP, "no memory");
        script->answers = grown;
        script->answers[script->n_answers++] = answer;
}

void fh_script_read(FhScript *script, const char *path, const char *tree_path)
{
        Position at = {.path = path, .tree_path = tree_path};
        FILE *file = fopen(path, "re");
        char line[1024];

        if (!file) {
                if (errno == ENOENT)
                        return;
                fh_fail_errno(FH_EXIT_SETUP, "%s", path);
        }
        while (fgets(line, sizeof line, file)) {
                char *words[MAX_WORDS], *save = NULL;
                size_t n_words = 0;

                at.line++;
                line[strcspn(line, "#\n")] = '\0';
                for (char *word = strtok_r(line, " \t", &save); word && n_words < MAX_WORDS;
                     word = strtok_r(NULL, " \t", &save))
                        words[n_words++] = word;
                if (n_words > 0)
                        parse_line(script, &at, words, n_words);
        }
        (void)fclose(file);
}

unsigned fh_script_unused(const FhScript *script, FILE *out)
{
        unsigned n = 0;

        for (size_t i = 0; i < script->n_answers; i++) {
                const FhAnswer *answer = &script->answers[i];

                if (answer->used >= answer->times)
                        continue;
                n++;
                if (out)
                        fprintf(out, "# unused: script line %d (%s %s): %u of %u answers given\n",
                                answer->line, answer->device, answer->command, answer->used,
                                answer->times);
        }
        return n;
}

void fh_script_free(FhScript *script)
{
        for (size_t i = 0; i < script->n_answers; i++) {
                FhAnswer *answer = &script->answers[i];

                free(answer->device);
                free(answer->command);
                free(answer->bytes);
                free(answer->driver);
                free(answer->version);
                free(answer->firmware);
                free(answer->bus);
        }
        free(script->answers);
        *script = (FhScript){0};
}
