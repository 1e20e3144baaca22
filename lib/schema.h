/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The engine behind the field lists: one table per object type drives memory, JSON in both
 * directions, comparison and the Varlink interface text; knows no type by name and does no I/O. */
#pragma once

#include "buf.h"
#include "value.h"

struct json_object;

typedef enum PnKind {
        PN_KIND_KEY,   /* PnText that every object of the type has */
        PN_KIND_TEXT,  /* PnText */
        PN_KIND_NUM,   /* PnInt that every object of the type has */
        PN_KIND_INT,   /* PnInt */
        PN_KIND_REAL,  /* PnReal */
        PN_KIND_BOOL,  /* PnBool */
        PN_KIND_TEXTS, /* PnTexts */
        PN_KIND_REALS, /* PnReals */
        PN_KIND_OBJ,   /* PnRef: one object or none */
        PN_KIND_ONE,   /* PnRef: an object that is always there */
        PN_KIND_LIST,  /* PnList: objects, in an order that is part of the answer */
        PN_KIND_MANY,  /* PnList that is always there, if only empty */
} PnKind;

typedef struct PnType PnType;

/* The unit, the heading and the sentence lie behind the name, each after a NUL. As pointers of
 * their own they would have to be adjusted at each start of each program, for hundreds of fields.
 */
typedef struct PnField {
        const char *name;
        const PnType *(*type)(void); /* of the object(s); NULL for scalars */
        PnKind kind;
        unsigned offset;
} PnField;

struct PnType {
        const char *name; /* as in the interface text: `Pci` */
        const char *doc;
        size_t size;
        const PnField *fields;
        unsigned n_fields;
};

/* What every OBJ and ONE field looks like to the engine; a model's fields have their own type. */
typedef struct PnRef {
        PnState state;
        void *v;
} PnRef;

/* What every LIST field looks like to the engine. */
typedef struct PnList {
        PnState state;
        unsigned n;
        void *v;
} PnList;

#define PN_REF(T)                                                                                  \
        struct {                                                                                   \
                PnState state;                                                                     \
                T *v;                                                                              \
        }

#define PN_LIST(T)                                                                                 \
        struct {                                                                                   \
                PnState state;                                                                     \
                unsigned n;                                                                        \
                T *v;                                                                              \
        }

/* Frees what an object holds and zeroes it (the memory of the object itself is the caller's). */
void pn_done(const PnType *type, void *object);

/* pn_done() and free(); NULL is allowed. */
void pn_free(const PnType *type, void *object);

/* Overwrites `to` (zeroed or initialised) with a deep copy of `from`. 0 or -ENOMEM. */
int pn_copy(const PnType *type, void *to, const void *from);

bool pn_equal(const PnType *type, const void *a, const void *b);

/* Appends a zeroed element to a list and makes it known; NULL when memory is short. Elements may
 * move: take no pointer to one across a call. Use PN_APPEND for a typed result. */
void *pn_list_append(void *list, size_t element_size);
#define PN_APPEND(list) ((__typeof__((list)->v))pn_list_append((list), sizeof *(list)->v))

/* Frees element `i` of a list and closes the gap. */
void pn_list_remove(const PnType *type, void *list, unsigned i);

/* Allocates the object of a PN_REF field and makes it known; NULL when memory is short. */
void *pn_ref_new(void *ref, size_t size);
#define PN_NEW(ref) ((__typeof__((ref)->v))pn_ref_new((ref), sizeof *(ref)->v))

/* The address of a field inside an object. */
static inline void *pn_field_at(const PnField *field, const void *object)
{
        return (char *)(uintptr_t)object + field->offset;
}

/* "" where there is none; scalars only. */
const char *pn_field_unit(const PnField *field);

/* Of a table's column. */
const char *pn_field_heading(const PnField *field);

/* One sentence for the interface text and the manual. */
const char *pn_field_doc(const PnField *field);

/* The field with this name, or NULL. */
const PnField *pn_field(const PnType *type, const char *name);

/* Writes an object as JSON. Absent and unread fields are null (a list that is absent is `[]`);
 * the last member, `unread`, is the list of {field, reason}, written only if a field is unread. */
void pn_write_json(PnBuf *buf, const PnType *type, const void *object);

typedef enum PnJsonFlags {
        PN_JSON_STRICT = 0,
        PN_JSON_ALLOW_UNKNOWN = 1 << 0, /* a newer pnhw may have more fields: pass over them */
} PnJsonFlags;

/* Reads an object from a parsed JSON value into `object` (zeroed). On failure the object is empty
 * again and `ret_error` (may be NULL) holds a malloc'ed sentence that names the place, as in
 * "link.current_width: expected an integer", and `ret_field` (may be NULL) the top-level field at
 * fault (malloc'ed). -EINVAL or -ENOMEM. */
int pn_read_json(const PnType *type, struct json_object *json, PnJsonFlags flags, void *object,
                 char **ret_error, char **ret_field);

/* Parses text that must be one JSON value (strict syntax, valid UTF-8, at most 32 levels deep).
 * -EINVAL with a sentence in `ret_error` (may be NULL), or -ENOMEM. Free with
 * json_object_put(). */
int pn_parse_json(const char *text, size_t n, struct json_object **ret, char **ret_error);

/* Where the first integer is that is below -2^63, of which json-c would make another one and not
 * say so; `n` if there is none. pn_parse_json() refuses such a text. */
size_t pn_json_too_small(const char *text, size_t n);

/* The type in Varlink's interface language: `type Pci (\n  # doc\n  address: string, …)`. */
void pn_write_idl_type(PnBuf *buf, const PnType *type);

/* The fields alone, in parentheses on one line, for a method's signature. */
void pn_write_idl_struct(PnBuf *buf, const PnType *type);
