/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was learned over time: its lists, and its form as text. */

#include "memory.h"

#include <json-c/json.h>

#include "fields.h"
#include "when.h"

PN_DEFINE_CLEANUP(struct json_object *, json_object_put);

PN_MEMORY_TYPES(PN_DEFINE_TYPE)

void pn_memory_init(PnMemory *memory)
{
        *memory = (PnMemory){.schema = pn_int(PN_MEMORY_SCHEMA)};
}

/* ---- Lists in the order of their keys, which are their objects' first field ---- */

static const char *key_at(const PnList *list, size_t size, unsigned i)
{
        PnText key;

        memcpy(&key, (const char *)list->v + (size_t)i * size, sizeof key);
        return key.v;
}

/* Where an object with this key is, or belongs. */
static unsigned place_of(const PnList *list, size_t size, const char *key, bool *ret_found)
{
        unsigned low = 0, high = list->n;

        *ret_found = false;
        while (low < high) {
                unsigned middle = low + (high - low) / 2;
                int order = strcmp(key_at(list, size, middle), key);

                if (order == 0) {
                        *ret_found = true;
                        return middle;
                }
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static void *find(const void *list_of, size_t size, const char *key)
{
        PnList list;
        bool found;
        unsigned i;

        memcpy(&list, list_of, sizeof list);
        i = place_of(&list, size, key, &found);
        return found ? (char *)list.v + (size_t)i * size : NULL;
}

static void *make(void *list_of, const PnType *type, const char *key)
{
        PnText text = {0};
        PnList list;
        unsigned i;
        bool found;
        char *at;

        memcpy(&list, list_of, sizeof list);
        i = place_of(&list, type->size, key, &found);
        if (found)
                return (char *)list.v + (size_t)i * type->size;
        if (list.n >= PN_MEMORY_MAX || pn_set_text(&text, key) < 0)
                return NULL;
        if (!pn_list_append(list_of, type->size)) {
                free(text.v);
                return NULL;
        }
        memcpy(&list, list_of, sizeof list);
        at = (char *)list.v + (size_t)i * type->size;
        memmove(at + type->size, at, (size_t)(list.n - 1 - i) * type->size);
        memset(at, 0, type->size);
        memcpy(at, &text, sizeof text);
        return at;
}

#define FIND(name, list, Type)                                                                     \
        Pn##Type *pn_memory_##name(const PnMemory *memory, const char *key)                        \
        {                                                                                          \
                return find(&memory->list, sizeof(Pn##Type), key);                                 \
        }
#define LIST(name, list, Type)                                                                     \
        FIND(name, list, Type)                                                                     \
        Pn##Type *pn_memory_make_##name(PnMemory *memory, const char *key)                         \
        {                                                                                          \
                return make(&memory->list, pn_type_##Type(), key);                                 \
        }

FIND(alert, alerts, Alert)
LIST(acceptance, acceptances, Acceptance)
LIST(counter, counters, Counter)
LIST(link, links, Best)
LIST(port, ports, Best)
LIST(fan, fans, Best)
LIST(drive, drives, Seen)
LIST(disk, disks, Seen)

static int compare_keys(const void *a, const void *b)
{
        PnText one, other;

        memcpy(&one, a, sizeof one);
        memcpy(&other, b, sizeof other);
        return strcmp(one.v, other.v);
}

/* Frees the objects that are marked, and closes the gaps. */
static void compact(void *list_of, const PnType *type, const bool *gone)
{
        PnList list;
        unsigned n = 0;
        char *at;

        memcpy(&list, list_of, sizeof list);
        at = list.v;
        for (unsigned i = 0; i < list.n; i++) {
                char *object = at + (size_t)i * type->size;

                if (gone[i])
                        pn_done(type, object);
                else {
                        if (n != i)
                                memcpy(at + (size_t)n * type->size, object, type->size);
                        n++;
                }
        }
        list.n = n;
        if (n == 0) {
                free(list.v);
                list.v = NULL;
        }
        memcpy(list_of, &list, sizeof list);
}

/* A file may have been edited: puts a list in order, and keeps one object of each key. */
static void put_in_order(void *list_of, const PnType *type)
{
        _cleanup_free_ bool *gone = NULL;
        PnList list;

        memcpy(&list, list_of, sizeof list);
        if (list.n < 2)
                return;
        qsort(list.v, list.n, type->size, compare_keys);
        gone = calloc(list.n, sizeof *gone);
        for (unsigned i = 1; gone && i < list.n; i++)
                gone[i] =
                    strcmp(key_at(&list, type->size, i), key_at(&list, type->size, i - 1)) == 0;
        if (gone)
                compact(list_of, type, gone);
}

int pn_memory_make_alerts(PnMemory *memory, unsigned n, const char *const *ids)
{
        const PnType *type = pn_type_Alert();
        PnList known;
        int r = 0;

        memcpy(&known, &memory->alerts, sizeof known);
        for (unsigned i = 0; i < n && r >= 0 && memory->alerts.n < PN_MEMORY_MAX; i++) {
                PnAlert *alert;
                bool found;

                /* Those that were known are still in order; those that are new come in order. */
                known.v = memory->alerts.v;
                (void)place_of(&known, type->size, ids[i], &found);
                if (found || (i && strcmp(ids[i], ids[i - 1]) == 0))
                        continue;
                alert = PN_APPEND(&memory->alerts);
                if (!alert)
                        r = -ENOMEM;
                else if (pn_set_text(&alert->id, ids[i]) < 0) {
                        pn_list_remove(type, &memory->alerts, memory->alerts.n - 1);
                        r = -ENOMEM;
                }
        }
        if (memory->alerts.n > known.n)
                qsort(memory->alerts.v, memory->alerts.n, type->size, compare_keys);
        return r;
}

void pn_memory_drop_alerts(PnMemory *memory, const bool *gone)
{
        compact(&memory->alerts, pn_type_Alert(), gone);
}

static void forget(void *list_of, const PnType *type, const char *seen, int64_t before)
{
        const PnField *field = pn_field(type, seen);
        _cleanup_free_ bool *gone = NULL;
        PnList list;

        memcpy(&list, list_of, sizeof list);
        gone = list.n ? calloc(list.n, sizeof *gone) : NULL;
        for (unsigned i = 0; gone && i < list.n; i++) {
                PnInt when;

                memcpy(&when, pn_field_at(field, (char *)list.v + (size_t)i * type->size),
                       sizeof when);
                gone[i] = when.v < before;
        }
        if (gone)
                compact(list_of, type, gone);
}

void pn_memory_forget(PnMemory *memory, int64_t now, int64_t days)
{
        int64_t before = now - days * PN_DAY;

        forget(&memory->counters, pn_type_Counter(), "seen", before);
        forget(&memory->links, pn_type_Best(), "seen", before);
        forget(&memory->ports, pn_type_Best(), "seen", before);
        forget(&memory->fans, pn_type_Best(), "seen", before);
        forget(&memory->drives, pn_type_Seen(), "last", before);
        forget(&memory->disks, pn_type_Seen(), "last", before);
}

/* ---- As text ---- */

void pn_memory_write(PnBuf *buf, const PnMemory *memory)
{
        pn_write_json(buf, pn_type_Memory(), memory);
        pn_buf_puts(buf, "\n");
}

/* A clock that went back must not make anything wait for years. */
static void limit_moments(const PnType *type, void *object, int64_t now)
{
        for (unsigned i = 0; i < type->n_fields; i++) {
                const PnField *field = &type->fields[i];
                PnInt when;

                if ((field->kind != PN_KIND_INT && field->kind != PN_KIND_NUM) ||
                    strcmp(pn_field_unit(field), "s") != 0 || strcmp(field->name, "until") == 0)
                        continue;
                memcpy(&when, pn_field_at(field, object), sizeof when);
                if (when.state == PN_KNOWN && (when.v > now || when.v < 0)) {
                        when.v = when.v < 0 ? 0 : now - 1;
                        memcpy(pn_field_at(field, object), &when, sizeof when);
                }
        }
}

void pn_memory_limit(PnMemory *memory, int64_t now)
{
        const PnType *type = pn_type_Memory();

        for (unsigned i = 0; i < type->n_fields; i++) {
                const PnField *field = &type->fields[i];
                PnList list;

                if (field->kind != PN_KIND_MANY)
                        continue;
                memcpy(&list, pn_field_at(field, memory), sizeof list);
                for (unsigned k = 0; k < list.n; k++)
                        limit_moments(field->type(),
                                      (char *)list.v + (size_t)k * field->type()->size, now);
        }
        for (unsigned i = 0; i < memory->alerts.n; i++)
                for (unsigned k = 0; k < memory->alerts.v[i].turns.n; k++)
                        if (memory->alerts.v[i].turns.v[k] > (double)now)
                                memory->alerts.v[i].turns.v[k] = (double)(now - 1);
}

static void settle(PnMemory *memory, int64_t now)
{
        const PnType *type = pn_type_Memory();

        for (unsigned i = 0; i < type->n_fields; i++)
                if (type->fields[i].kind == PN_KIND_MANY)
                        put_in_order(pn_field_at(&type->fields[i], memory), type->fields[i].type());
        pn_memory_limit(memory, now);
}

static int check(const PnMemory *memory, char **ret_error)
{
        static const char sizes[] = "a list is longer than pnhwd ever writes one";
        static const char ranks[] = "a rank is not one from -1 to 3";
        static const char counts[] = "a count is below 0, or beyond all reason";
        const PnType *type = pn_type_Memory();
        const char *problem = NULL;

        for (unsigned i = 0; i < type->n_fields; i++) {
                PnList list;

                if (type->fields[i].kind != PN_KIND_MANY)
                        continue;
                memcpy(&list, pn_field_at(&type->fields[i], memory), sizeof list);
                if (list.n > PN_MEMORY_MAX)
                        problem = sizes;
        }
        for (unsigned i = 0; i < memory->alerts.n; i++) {
                const PnAlert *alert = &memory->alerts.v[i];
                const PnInt all[] = {alert->level, alert->target, alert->told, alert->peak};

                for (size_t k = 0; k < PN_ELEMENTS(all); k++)
                        if (all[k].v < -1 || all[k].v > 3)
                                problem = ranks;
                if (alert->samples.v < 0 || alert->samples.v > INT32_MAX)
                        problem = counts;
        }
        for (unsigned i = 0; i < memory->counters.n; i++)
                if (memory->counters.v[i].baseline.v < 0)
                        problem = counts;
        if (!problem)
                return 0;
        if (ret_error)
                *ret_error = strdup(problem);
        return -EINVAL;
}

int pn_memory_read(const char *text, size_t n, int64_t now, PnMemory *ret, bool *ret_newer,
                   char **ret_error)
{
        _cleanup_(json_object_putp) struct json_object *json = NULL;
        PnMemory memory = {0};
        int r = pn_parse_json(text, n, &json, ret_error);

        if (r < 0)
                return r;
        r = pn_read_json(pn_type_Memory(), json, PN_JSON_ALLOW_UNKNOWN, &memory, ret_error, NULL);
        if (r < 0)
                return r;
        r = check(&memory, ret_error);
        if (r < 0) {
                pn_done(pn_type_Memory(), &memory);
                return r;
        }
        settle(&memory, now);
        if (ret_newer)
                *ret_newer = memory.schema.v > PN_MEMORY_SCHEMA;
        memory.schema = pn_int(PN_MEMORY_SCHEMA);
        *ret = memory;
        return 0;
}
