/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Walks field tables to free, copy, compare, write and read objects; knows no type by name. */

#include "schema.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>

#include "text.h"

/* Far above what the largest host needs, far below what could exhaust memory. */
#define LIST_MAX 262144
#define TEXT_MAX 65536

/* A field's memory as the engine sees it. Every kind begins with its state (value.h). */
typedef union FieldAt {
        void *any;
        PnState *state;
        PnText *text;
        PnInt *integer;
        PnReal *real;
        PnBool *boolean;
        PnTexts *texts;
        PnReals *reals;
} FieldAt;

static FieldAt at(const PnField *field, const void *object)
{
        return (FieldAt){.any = pn_field_at(field, object)};
}

/* PnRef and PnList are not the model's own types, only laid out like them: copied, not cast. */
static PnRef get_ref(FieldAt p)
{
        PnRef ref;

        memcpy(&ref, p.any, sizeof ref);
        return ref;
}

static PnList get_list(FieldAt p)
{
        PnList list;

        memcpy(&list, p.any, sizeof list);
        return list;
}

static void *element(const PnType *type, const PnList *list, unsigned i)
{
        return (char *)list->v + (size_t)i * type->size;
}

static void field_done(const PnField *field, FieldAt p)
{
        const PnType *type = field->type ? field->type() : NULL;

        switch (field->kind) {
        case PN_KIND_KEY:
        case PN_KIND_TEXT:
                free(p.text->v);
                break;
        case PN_KIND_TEXTS:
                for (unsigned i = 0; i < p.texts->n; i++)
                        free(p.texts->v[i]);
                free(p.texts->v);
                break;
        case PN_KIND_REALS:
                free(p.reals->v);
                break;
        case PN_KIND_OBJ:
        case PN_KIND_ONE:
                pn_free(type, get_ref(p).v);
                break;
        case PN_KIND_LIST:
        case PN_KIND_MANY: {
                PnList list = get_list(p);

                for (unsigned i = 0; i < list.n; i++)
                        pn_done(type, element(type, &list, i));
                free(list.v);
                break;
        }
        case PN_KIND_NUM:
        case PN_KIND_INT:
        case PN_KIND_REAL:
        case PN_KIND_BOOL:
                break;
        }
}

void pn_done(const PnType *type, void *object)
{
        for (unsigned i = 0; i < type->n_fields; i++)
                field_done(&type->fields[i], at(&type->fields[i], object));
        memset(object, 0, type->size);
}

void pn_free(const PnType *type, void *object)
{
        if (!object)
                return;
        pn_done(type, object);
        free(object);
}

void *pn_list_append(void *list_at, size_t element_size)
{
        PnList list;
        void *new_element;

        memcpy(&list, list_at, sizeof list);
        if (list.n == 0 || (list.n & (list.n - 1)) == 0) {
                void *bigger;

                if (list.n >= LIST_MAX)
                        return NULL;
                bigger = reallocarray(list.v, list.n ? (size_t)list.n * 2 : 1, element_size);
                if (!bigger)
                        return NULL;
                list.v = bigger;
        }
        new_element = (char *)list.v + (size_t)list.n * element_size;
        memset(new_element, 0, element_size);
        list.n++;
        list.state = PN_KNOWN;
        memcpy(list_at, &list, sizeof list);
        return new_element;
}

void pn_list_remove(const PnType *type, void *list_at, unsigned i)
{
        PnList list;

        memcpy(&list, list_at, sizeof list);
        pn_done(type, element(type, &list, i));
        memmove(element(type, &list, i), element(type, &list, i + 1),
                (size_t)(list.n - i - 1) * type->size);
        list.n--;
        memcpy(list_at, &list, sizeof list);
        /* pn_list_append() grows at powers of two and relies on room up to the next one. */
        if (list.n && (list.n & (list.n - 1)) == 0) {
                void *smaller = reallocarray(list.v, list.n, type->size);

                if (smaller) {
                        list.v = smaller;
                        memcpy(list_at, &list, sizeof list);
                }
        }
}

void *pn_ref_new(void *ref_at, size_t size)
{
        PnRef ref = {PN_KNOWN, calloc(1, size)};

        if (!ref.v)
                return NULL;
        memcpy(ref_at, &ref, sizeof ref);
        return ref.v;
}

static int field_copy(const PnField *field, FieldAt to, FieldAt from)
{
        const PnType *type = field->type ? field->type() : NULL;

        *to.state = *from.state;
        switch (field->kind) {
        case PN_KIND_KEY:
        case PN_KIND_TEXT:
                if (!from.text->v)
                        return 0;
                to.text->v = strdup(from.text->v);
                return to.text->v ? 0 : -ENOMEM;
        case PN_KIND_NUM:
        case PN_KIND_INT:
                *to.integer = *from.integer;
                return 0;
        case PN_KIND_REAL:
                *to.real = *from.real;
                return 0;
        case PN_KIND_BOOL:
                *to.boolean = *from.boolean;
                return 0;
        case PN_KIND_TEXTS:
                for (unsigned i = 0; i < from.texts->n; i++)
                        if (pn_texts_append(to.texts, from.texts->v[i]) < 0)
                                return -ENOMEM;
                return 0;
        case PN_KIND_REALS:
                for (unsigned i = 0; i < from.reals->n; i++)
                        if (pn_reals_append(to.reals, from.reals->v[i]) < 0)
                                return -ENOMEM;
                return 0;
        case PN_KIND_OBJ:
        case PN_KIND_ONE: {
                PnRef source = get_ref(from);
                void *copy;

                if (!source.v)
                        return 0;
                copy = pn_ref_new(to.any, type->size);
                return copy ? pn_copy(type, copy, source.v) : -ENOMEM;
        }
        case PN_KIND_LIST:
        case PN_KIND_MANY: {
                PnList source = get_list(from);

                for (unsigned i = 0; i < source.n; i++) {
                        void *copy = pn_list_append(to.any, type->size);

                        if (!copy || pn_copy(type, copy, element(type, &source, i)) < 0)
                                return -ENOMEM;
                }
                return 0;
        }
        }
        return -EINVAL;
}

int pn_copy(const PnType *type, void *to, const void *from)
{
        pn_done(type, to);
        for (unsigned i = 0; i < type->n_fields; i++) {
                const PnField *field = &type->fields[i];
                int r = field_copy(field, at(field, to), at(field, from));

                if (r < 0) {
                        pn_done(type, to);
                        return r;
                }
        }
        return 0;
}

static bool is_plural(PnKind kind)
{
        return kind == PN_KIND_LIST || kind == PN_KIND_MANY || kind == PN_KIND_TEXTS ||
               kind == PN_KIND_REALS;
}

static bool list_equal(const PnField *field, FieldAt a, FieldAt b)
{
        if (field->kind == PN_KIND_TEXTS) {
                if (a.texts->n != b.texts->n)
                        return false;
                for (unsigned i = 0; i < a.texts->n; i++)
                        if (strcmp(a.texts->v[i], b.texts->v[i]) != 0)
                                return false;
        } else if (field->kind == PN_KIND_REALS) {
                if (a.reals->n != b.reals->n)
                        return false;
                for (unsigned i = 0; i < a.reals->n; i++)
                        if (a.reals->v[i] < b.reals->v[i] || a.reals->v[i] > b.reals->v[i])
                                return false;
        } else {
                const PnType *type = field->type();
                PnList one = get_list(a), other = get_list(b);

                if (one.n != other.n)
                        return false;
                for (unsigned i = 0; i < one.n; i++)
                        if (!pn_equal(type, element(type, &one, i), element(type, &other, i)))
                                return false;
        }
        return true;
}

static bool field_equal(const PnField *field, FieldAt a, FieldAt b)
{
        /* Most are absent. */
        if (*a.state == *b.state && *a.state != PN_KNOWN)
                return true;
        /* A list that is absent and one that is empty look the same in JSON: they are the same. */
        if (is_plural(field->kind) && !pn_is_unread(*a.state) && !pn_is_unread(*b.state))
                return list_equal(field, a, b);
        if (*a.state != *b.state)
                return false;
        switch (field->kind) {
        case PN_KIND_KEY:
        case PN_KIND_TEXT:
                return strcmp(a.text->v, b.text->v) == 0;
        case PN_KIND_NUM:
        case PN_KIND_INT:
                return a.integer->v == b.integer->v;
        case PN_KIND_REAL:
                return !(a.real->v < b.real->v) && !(a.real->v > b.real->v);
        case PN_KIND_BOOL:
                return a.boolean->v == b.boolean->v;
        case PN_KIND_OBJ:
        case PN_KIND_ONE:
                return pn_equal(field->type(), get_ref(a).v, get_ref(b).v);
        case PN_KIND_TEXTS:
        case PN_KIND_REALS:
        case PN_KIND_LIST:
        case PN_KIND_MANY:
                break;
        }
        return false;
}

bool pn_equal(const PnType *type, const void *a, const void *b)
{
        for (unsigned i = 0; i < type->n_fields; i++)
                if (!field_equal(&type->fields[i], at(&type->fields[i], a),
                                 at(&type->fields[i], b)))
                        return false;
        return true;
}

static const char *behind(const char *text)
{
        return text + strlen(text) + 1;
}

const char *pn_field_unit(const PnField *field)
{
        return behind(field->name);
}

const char *pn_field_heading(const PnField *field)
{
        return behind(pn_field_unit(field));
}

const char *pn_field_doc(const PnField *field)
{
        return behind(pn_field_heading(field));
}

const PnField *pn_field(const PnType *type, const char *name)
{
        for (unsigned i = 0; i < type->n_fields; i++)
                if (strcmp(type->fields[i].name, name) == 0)
                        return &type->fields[i];
        return NULL;
}

static void write_value(PnBuf *buf, const PnField *field, FieldAt p)
{
        const PnType *type = field->type ? field->type() : NULL;

        if (*p.state != PN_KNOWN) {
                pn_buf_puts(buf, is_plural(field->kind) && *p.state == PN_ABSENT ? "[]" : "null");
                return;
        }
        switch (field->kind) {
        case PN_KIND_KEY:
        case PN_KIND_TEXT:
                pn_buf_json_string(buf, p.text->v);
                break;
        case PN_KIND_NUM:
        case PN_KIND_INT:
                pn_buf_printf(buf, "%" PRId64, p.integer->v);
                break;
        case PN_KIND_REAL:
                pn_buf_json_real(buf, p.real->v);
                break;
        case PN_KIND_BOOL:
                pn_buf_puts(buf, p.boolean->v ? "true" : "false");
                break;
        case PN_KIND_TEXTS:
                pn_buf_put(buf, "[", 1);
                for (unsigned i = 0; i < p.texts->n; i++) {
                        if (i)
                                pn_buf_put(buf, ",", 1);
                        pn_buf_json_string(buf, p.texts->v[i]);
                }
                pn_buf_put(buf, "]", 1);
                break;
        case PN_KIND_REALS:
                pn_buf_put(buf, "[", 1);
                for (unsigned i = 0; i < p.reals->n; i++) {
                        if (i)
                                pn_buf_put(buf, ",", 1);
                        pn_buf_json_real(buf, p.reals->v[i]);
                }
                pn_buf_put(buf, "]", 1);
                break;
        case PN_KIND_OBJ:
        case PN_KIND_ONE:
                pn_write_json(buf, type, get_ref(p).v);
                break;
        case PN_KIND_LIST:
        case PN_KIND_MANY: {
                PnList list = get_list(p);

                pn_buf_put(buf, "[", 1);
                for (unsigned i = 0; i < list.n; i++) {
                        if (i)
                                pn_buf_put(buf, ",", 1);
                        pn_write_json(buf, type, element(type, &list, i));
                }
                pn_buf_put(buf, "]", 1);
                break;
        }
        }
}

void pn_write_json(PnBuf *buf, const PnType *type, const void *object)
{
        unsigned n_unread = 0;

        pn_buf_put(buf, "{", 1);
        for (unsigned i = 0; i < type->n_fields; i++) {
                const PnField *field = &type->fields[i];
                FieldAt p = at(field, object);

                if (i)
                        pn_buf_put(buf, ",", 1);
                pn_buf_put(buf, "\"", 1);
                pn_buf_puts(buf, field->name);
                pn_buf_put(buf, "\":", 2);
                write_value(buf, field, p);
                if (pn_is_unread(*p.state))
                        n_unread++;
        }
        if (n_unread) {
                const char *separator = ",\"unread\":[";

                for (unsigned i = 0; i < type->n_fields; i++) {
                        const PnField *field = &type->fields[i];
                        PnState state = *at(field, object).state;

                        if (!pn_is_unread(state))
                                continue;
                        pn_buf_printf(buf, "%s{\"field\":\"%s\",\"reason\":\"%s\"}", separator,
                                      field->name, pn_reason_name(state));
                        separator = ",";
                }
                pn_buf_put(buf, "]", 1);
        }
        pn_buf_put(buf, "}", 1);
}

/* Objects in objects: as deep as pn_parse_json() lets a document be, twice for lists. */
#define READ_DEPTH_MAX 66

/* Where in a document a reader stands, and the sentence about what it did not like. The steps are
 * put into words only when something is wrong. Names come from our own tables, never from the
 * input. */
typedef struct Reader {
        PnJsonFlags flags;
        struct {
                const char *name; /* of a field; NULL for an element of a list */
                unsigned index;
        } steps[READ_DEPTH_MAX];
        unsigned n_steps;
        char *error;
        bool no_memory;
} Reader;

static void enter(Reader *reader, const char *name, unsigned index)
{
        if (reader->n_steps < READ_DEPTH_MAX) {
                reader->steps[reader->n_steps].name = name;
                reader->steps[reader->n_steps].index = index;
        }
        reader->n_steps++;
}

static void leave(Reader *reader)
{
        reader->n_steps--;
}

static int fail(Reader *reader, const char *what)
{
        _cleanup_buf_ PnBuf buf = {0};

        if (reader->error)
                return -EINVAL;
        for (unsigned i = 0; i < reader->n_steps && i < READ_DEPTH_MAX; i++)
                if (reader->steps[i].name)
                        pn_buf_printf(&buf, "%s%s", i ? "." : "", reader->steps[i].name);
                else
                        pn_buf_printf(&buf, "[%u]", reader->steps[i].index);
        pn_buf_printf(&buf, "%s%s", reader->n_steps ? ": " : "", what);
        reader->no_memory = pn_buf_take(&buf, &reader->error, NULL) < 0;
        return reader->no_memory ? -ENOMEM : -EINVAL;
}

static int out_of_memory(Reader *reader)
{
        reader->no_memory = true;
        return -ENOMEM;
}

static int read_string(Reader *reader, struct json_object *json, char **ret)
{
        const char *s;
        size_t n;

        if (!json_object_is_type(json, json_type_string))
                return fail(reader, "expected a string");
        s = json_object_get_string(json);
        n = (size_t)json_object_get_string_len(json);
        if (n > TEXT_MAX)
                return fail(reader, "the string is too long");
        if (strlen(s) != n)
                return fail(reader, "the string contains a NUL character");
        *ret = strdup(s);
        return *ret ? 0 : out_of_memory(reader);
}

static int read_real(Reader *reader, struct json_object *json, double *ret)
{
        double v;

        if (!json_object_is_type(json, json_type_double) &&
            !json_object_is_type(json, json_type_int))
                return fail(reader, "expected a number");
        v = json_object_get_double(json);
        if (!isfinite(v))
                return fail(reader, "the number is not finite");
        *ret = v;
        return 0;
}

static int read_object(Reader *reader, const PnType *type, struct json_object *json, void *object);

static int read_list(Reader *reader, const PnField *field, struct json_object *json, FieldAt p)
{
        const PnType *type = field->type ? field->type() : NULL;
        size_t n;

        if (!json_object_is_type(json, json_type_array))
                return fail(reader, "expected an array");
        n = json_object_array_length(json);
        if (n > LIST_MAX)
                return fail(reader, "the array is too long");
        *p.state = PN_KNOWN;
        for (size_t i = 0; i < n; i++) {
                struct json_object *item = json_object_array_get_idx(json, i);
                int r = 0;

                enter(reader, NULL, (unsigned)i);
                if (field->kind == PN_KIND_TEXTS) {
                        _cleanup_free_ char *s = NULL;

                        r = read_string(reader, item, &s);
                        if (r == 0 && pn_texts_append(p.texts, s) < 0)
                                r = out_of_memory(reader);
                } else if (field->kind == PN_KIND_REALS) {
                        double v = 0;

                        r = read_real(reader, item, &v);
                        if (r == 0 && pn_reals_append(p.reals, v) < 0)
                                r = out_of_memory(reader);
                } else {
                        void *object = pn_list_append(p.any, type->size);

                        r = object ? read_object(reader, type, item, object)
                                   : out_of_memory(reader);
                }
                if (r < 0)
                        return r;
                leave(reader);
        }
        return 0;
}

static int read_value(Reader *reader, const PnField *field, struct json_object *json, FieldAt p)
{
        int r;

        switch (field->kind) {
        case PN_KIND_KEY:
        case PN_KIND_TEXT:
                r = read_string(reader, json, &p.text->v);
                if (r < 0)
                        return r;
                break;
        case PN_KIND_NUM:
        case PN_KIND_INT: {
                if (!json_object_is_type(json, json_type_int))
                        return fail(reader, "expected an integer");
                p.integer->v = json_object_get_int64(json);
                if (p.integer->v > 0 && json_object_get_uint64(json) > INT64_MAX)
                        return fail(reader, "the integer is larger than 2^63-1");
                break;
        }
        case PN_KIND_REAL:
                r = read_real(reader, json, &p.real->v);
                if (r < 0)
                        return r;
                break;
        case PN_KIND_BOOL:
                if (!json_object_is_type(json, json_type_boolean))
                        return fail(reader, "expected true or false");
                p.boolean->v = json_object_get_boolean(json);
                break;
        case PN_KIND_TEXTS:
        case PN_KIND_REALS:
        case PN_KIND_LIST:
        case PN_KIND_MANY:
                return read_list(reader, field, json, p);
        case PN_KIND_OBJ:
        case PN_KIND_ONE: {
                const PnType *type = field->type();
                void *object = pn_ref_new(p.any, type->size);

                return object ? read_object(reader, type, json, object) : out_of_memory(reader);
        }
        }
        *p.state = PN_KNOWN;
        return 0;
}

static bool is_required(PnKind kind)
{
        return kind == PN_KIND_KEY || kind == PN_KIND_NUM || kind == PN_KIND_ONE ||
               kind == PN_KIND_MANY;
}

/* The `unread` array: which fields were not read, and why. */
static int read_unread(Reader *reader, const PnType *type, struct json_object *json, void *object)
{
        bool lenient = reader->flags & PN_JSON_ALLOW_UNKNOWN;

        if (!json)
                return 0;
        if (!json_object_is_type(json, json_type_array))
                return fail(reader, "expected an array");
        for (size_t i = 0; i < json_object_array_length(json); i++) {
                struct json_object *item = json_object_array_get_idx(json, i);
                struct json_object *name = NULL, *reason = NULL;
                const PnField *field;
                PnState state;

                if (!json_object_is_type(item, json_type_object) ||
                    !json_object_object_get_ex(item, "field", &name) ||
                    !json_object_object_get_ex(item, "reason", &reason) ||
                    !json_object_is_type(name, json_type_string) ||
                    !json_object_is_type(reason, json_type_string))
                        return fail(reader, "expected {\"field\": string, \"reason\": string}");
                field = pn_field(type, json_object_get_string(name));
                if (!field && lenient)
                        continue;
                if (!field)
                        return fail(reader, "names a field that this type does not have");
                if (pn_reason_from_name(json_object_get_string(reason), &state) < 0) {
                        if (!lenient)
                                return fail(reader, "gives a reason that does not exist");
                        state = PN_UNREAD_IO;
                }
                if (is_required(field->kind) || *at(field, object).state == PN_KNOWN)
                        return fail(reader, "names a field that has a value");
                *at(field, object).state = state;
        }
        return 0;
}

static int read_object(Reader *reader, const PnType *type, struct json_object *json, void *object)
{
        struct json_object *unread = NULL;
        unsigned hint = 0;
        int r;

        if (!json_object_is_type(json, json_type_object))
                return fail(reader, "expected an object");
        json_object_object_foreach(json, name, value)
        {
                const PnField *field;

                /* Our own writer keeps the order of the table, so the next field is the likely
                 * one; any other order works too. */
                if (hint < type->n_fields && strcmp(type->fields[hint].name, name) == 0)
                        field = &type->fields[hint];
                else
                        field = pn_field(type, name);
                if (!field) {
                        if (strcmp(name, "unread") == 0) {
                                unread = value;
                                continue;
                        }
                        if (reader->flags & PN_JSON_ALLOW_UNKNOWN)
                                continue;
                        return fail(reader, "has a field that this type does not know");
                }
                hint = (unsigned)(field - type->fields) + 1;
                if (!value)
                        continue;
                enter(reader, field->name, 0);
                r = read_value(reader, field, value, at(field, object));
                if (r < 0)
                        return r;
                leave(reader);
        }
        for (unsigned i = 0; i < type->n_fields; i++)
                if (is_required(type->fields[i].kind) &&
                    *at(&type->fields[i], object).state != PN_KNOWN) {
                        enter(reader, type->fields[i].name, 0);
                        return fail(reader, "is missing");
                }
        enter(reader, "unread", 0);
        r = read_unread(reader, type, unread, object);
        if (r < 0)
                return r;
        leave(reader);
        return 0;
}

int pn_read_json(const PnType *type, struct json_object *json, PnJsonFlags flags, void *object,
                 char **ret_error, char **ret_field)
{
        Reader reader = {.flags = flags};
        int r = read_object(&reader, type, json, object);

        if (r == 0)
                return 0;
        pn_done(type, object);
        if (ret_field)
                *ret_field =
                    strdup(reader.n_steps && reader.steps[0].name ? reader.steps[0].name : "");
        if (ret_error)
                *ret_error = PN_STEAL(reader.error);
        free(reader.error);
        return r;
}

/* Writes what is not ASCII as escapes, for json-c 0.18 takes none of it where it is strict. The
 * text is valid UTF-8. */
static int escape(const char *text, size_t n, PnBuf *ret)
{
        size_t plain = 0, backslashes = 0;

        for (size_t i = 0; i < n;) {
                unsigned char c = (unsigned char)text[i];
                size_t length = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
                uint32_t point = c & (0xffu >> (length + 1));

                if (c < 0x80) {
                        backslashes = c == '\\' ? backslashes + 1 : 0;
                        i++;
                        continue;
                }
                /* An escape of what has none, which must not become one of a backslash. */
                if (backslashes % 2 == 1)
                        return -EINVAL;
                backslashes = 0;
                pn_buf_put(ret, text + plain, i - plain);
                for (size_t k = 1; k < length; k++)
                        point = point << 6 | ((unsigned char)text[i + k] & 0x3f);
                if (point > 0xffff)
                        pn_buf_printf(ret, "\\u%04x\\u%04x", 0xd7c0 + (point >> 10),
                                      0xdc00 + (point & 0x3ff));
                else
                        pn_buf_printf(ret, "\\u%04x", point);
                i += length;
                plain = i;
        }
        pn_buf_put(ret, text + plain, n - plain);
        return ret->error;
}

/* Eight bytes at a time: most texts are, and long. */
static bool is_ascii(const char *text, size_t n)
{
        unsigned char rest = 0;
        size_t i = 0;

        for (; n - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
                uint64_t eight;

                memcpy(&eight, text + i, sizeof eight);
                if (eight & UINT64_C(0x8080808080808080))
                        return false;
        }
        for (; i < n; i++)
                rest |= (unsigned char)text[i];
        return rest < 0x80;
}

/* Whether an integer that begins here, with its sign, is below what 64 bits hold. */
static bool is_below_int64(const char *minus, const char *end)
{
        static const char least[] = "9223372036854775808";
        size_t n = 0;

        while (minus + 1 + n < end && minus[1 + n] >= '0' && minus[1 + n] <= '9')
                n++;
        /* Leading zeros are no JSON, and a fraction or an exponent makes a real of it. */
        if (n < sizeof least - 1 || (minus + 1 + n < end && memchr(".eE", minus[1 + n], 3) != NULL))
                return false;
        return n > sizeof least - 1 || strncmp(minus + 1, least, n) > 0;
}

/* Nearly no text has such a run of digits; only where one has, strings are told from numbers. */
size_t pn_json_too_small(const char *text, size_t n)
{
        const char *end = text + n, *at = text;
        bool in_string = false;

        while ((at = memchr(at, '-', (size_t)(end - at))) && !is_below_int64(at, end))
                at++;
        if (!at)
                return n;
        for (at = text; at < end; at++) {
                if (in_string && *at == '\\')
                        at++;
                else if (*at == '"')
                        in_string = !in_string;
                else if (!in_string && *at == '-' && is_below_int64(at, end))
                        return (size_t)(at - text);
        }
        return n;
}

int pn_parse_json(const char *text, size_t n, struct json_object **ret, char **ret_error)
{
        struct json_tokener *tokener;
        struct json_object *json;
        enum json_tokener_error error;
        _cleanup_buf_ PnBuf escaped = {0};
        const char *what = NULL;

        if (!is_ascii(text, n)) {
                int r = pn_utf8_valid(text, n) ? escape(text, n, &escaped) : -EILSEQ;

                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        what = r == -EINVAL ? "an escape of what cannot be escaped"
                                            : "the text is not valid UTF-8";
                text = escaped.data;
                n = escaped.len;
        }
        if (!what && n > INT32_MAX)
                what = "the text is too long";
        else if (!what && memchr(text, '\0', n)) /* where json-c would stop, and call it complete */
                what = "the text contains a NUL";
        else if (!what && pn_json_too_small(text, n) < n)
                what = "an integer is smaller than -2^63";
        tokener = what ? NULL : json_tokener_new_ex(32);
        if (!tokener && !what)
                return -ENOMEM;
        if (!what) {
                /* Not its own check of UTF-8, by which json-c 0.18 refuses all that is not ASCII.
                 */
                json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
                json = json_tokener_parse_ex(tokener, text, (int)n);
                error = json_tokener_get_error(tokener);
                /* A number at the very end is complete only once something follows it. */
                if (error == json_tokener_continue)
                        json = json_tokener_parse_ex(tokener, "", 1);
                error = json_tokener_get_error(tokener);
                json_tokener_free(tokener);
                if (error == json_tokener_success) {
                        *ret = json;
                        return 0;
                }
                json_object_put(json);
                what = error == json_tokener_continue || error == json_tokener_error_parse_eof
                           ? "the text ends in the middle of a value"
                           : json_tokener_error_desc(error);
        }
        if (ret_error) {
                *ret_error = strdup(what);
                if (!*ret_error)
                        return -ENOMEM;
        }
        return -EINVAL;
}

static void write_idl_kind(PnBuf *buf, const PnField *field)
{
        switch (field->kind) {
        case PN_KIND_KEY:
                pn_buf_puts(buf, "string");
                break;
        case PN_KIND_TEXT:
                pn_buf_puts(buf, "?string");
                break;
        case PN_KIND_NUM:
                pn_buf_puts(buf, "int");
                break;
        case PN_KIND_INT:
                pn_buf_puts(buf, "?int");
                break;
        case PN_KIND_REAL:
                pn_buf_puts(buf, "?float");
                break;
        case PN_KIND_BOOL:
                pn_buf_puts(buf, "?bool");
                break;
        case PN_KIND_TEXTS:
                pn_buf_puts(buf, "?[]string");
                break;
        case PN_KIND_REALS:
                pn_buf_puts(buf, "?[]float");
                break;
        case PN_KIND_OBJ:
                pn_buf_printf(buf, "?%s", field->type()->name);
                break;
        case PN_KIND_ONE:
                pn_buf_puts(buf, field->type()->name);
                break;
        case PN_KIND_LIST:
                pn_buf_printf(buf, "?[]%s", field->type()->name);
                break;
        case PN_KIND_MANY:
                pn_buf_printf(buf, "[]%s", field->type()->name);
                break;
        }
}

/* In ASCII, as parsers of the language want it: of a degree sign nothing is left. */
static void write_idl_unit(PnBuf *buf, const char *unit)
{
        pn_buf_puts(buf, " [");
        for (; *unit; unit++)
                if ((unsigned char)*unit < 0x80)
                        pn_buf_put(buf, unit, 1);
        pn_buf_puts(buf, "]");
}

void pn_write_idl_type(PnBuf *buf, const PnType *type)
{
        pn_buf_printf(buf, "# %s\ntype %s (\n", type->doc, type->name);
        for (unsigned i = 0; i < type->n_fields; i++) {
                const PnField *field = &type->fields[i];
                const char *unit = pn_field_unit(field);

                pn_buf_printf(buf, "  # %s", pn_field_doc(field));
                if (*unit)
                        write_idl_unit(buf, unit);
                pn_buf_printf(buf, "\n  %s: ", field->name);
                write_idl_kind(buf, field);
                pn_buf_puts(buf, ",\n");
        }
        pn_buf_puts(buf, "  # Fields that could not be read, and why.\n  unread: ?[]Unread\n)\n");
}

void pn_write_idl_struct(PnBuf *buf, const PnType *type)
{
        pn_buf_put(buf, "(", 1);
        for (unsigned i = 0; i < type->n_fields; i++) {
                pn_buf_printf(buf, "%s%s: ", i ? ", " : "", type->fields[i].name);
                write_idl_kind(buf, &type->fields[i]);
        }
        pn_buf_put(buf, ")", 1);
}
