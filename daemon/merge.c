/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Brings what one reading found together with what was known before. Sorting and not searching, so
 * that a probe that prints 100,000 objects in any order costs no more than it should. */

#include "merge.h"

/* An object's key, and where the object is. */
typedef struct Ref {
        const char *key;
        void *object;
        bool fresh;
        unsigned order;
} Ref;

static int compare_refs(const void *a, const void *b)
{
        const Ref *one = a, *other = b;
        int r = strcmp(one->key, other->key);

        if (r)
                return r;
        if (one->fresh != other->fresh)
                return one->fresh ? 1 : -1;
        return one->order < other->order ? -1 : one->order > other->order;
}

static int compare_keys(const void *a, const void *b)
{
        return strcmp(((const Ref *)a)->key, ((const Ref *)b)->key);
}

static PnList get_list(const void *at)
{
        PnList list;

        memcpy(&list, at, sizeof list);
        return list;
}

static void *element(const PnType *type, const PnList *list, unsigned i)
{
        return (char *)list->v + (size_t)i * type->size;
}

/* The key is the first field of every type that comes in lists (model.h). */
static const char *key_of(const void *object)
{
        const PnText *key = object;

        return key->v ? key->v : "";
}

static void list_done(const PnType *type, void *at)
{
        PnList list = get_list(at);

        for (unsigned i = 0; i < list.n; i++)
                pn_done(type, element(type, &list, i));
        free(list.v);
        list = (PnList){0};
        memcpy(at, &list, sizeof list);
}

/* An empty list with room for n. pn_list_append() counts on a capacity that is a power of two. */
static int list_reserve(const PnType *type, size_t n, PnList *ret)
{
        size_t capacity = 1;

        while (capacity < n)
                capacity *= 2;
        *ret = (PnList){.state = PN_KNOWN, .v = calloc(capacity, type->size)};
        return ret->v ? 0 : -ENOMEM;
}

/* Moves an object to the end of a list that has room. */
static void list_move(const PnType *type, PnList *list, void *object)
{
        memcpy(element(type, list, list->n), object, type->size);
        memset(object, 0, type->size);
        list->n++;
}

static void fill_refs(const PnType *type, const PnList *list, bool fresh, Ref *refs)
{
        for (unsigned i = 0; i < list->n; i++) {
                void *object = element(type, list, i);

                refs[i] = (Ref){key_of(object), object, fresh, i};
        }
}

/* What changes while a device stays the same; everything else identifies it or says where it is. */
static bool is_live_field(const PnField *field)
{
        static const char *const live[] = {"link", "aer", "power", "state"};

        for (size_t i = 0; i < PN_ELEMENTS(live); i++)
                if (strcmp(field->name, live[i]) == 0)
                        return true;
        return false;
}

static bool did_not_answer(PnState state)
{
        return state == PN_UNREAD_TIMEOUT || state == PN_UNREAD_STUCK;
}

/* The old object is freed later, with what the new one had. */
static void swap_field(const PnType *type, const PnField *field, void *old, void *new)
{
        size_t end = field + 1 < type->fields + type->n_fields ? field[1].offset : type->size;
        size_t n = end - field->offset;
        char *a = pn_field_at(field, old), *b = pn_field_at(field, new);

        for (size_t i = 0; i < n; i++) {
                char byte = a[i];

                a[i] = b[i];
                b[i] = byte;
        }
}

/* A device that does not answer is still the device that it was: what identified it stays, and what
 * it does now is unread. */
static void keep_what_it_was(const PnType *type, void *old, void *new)
{
        for (unsigned i = 0; i < type->n_fields; i++) {
                const PnField *field = &type->fields[i];
                PnState before, now;

                memcpy(&before, pn_field_at(field, old), sizeof before);
                memcpy(&now, pn_field_at(field, new), sizeof now);
                if (before == PN_KNOWN && did_not_answer(now) && !is_live_field(field))
                        swap_field(type, field, old, new);
        }
}

int pn_merge_list(const PnType *type, void *kept_at, void *incoming_at, bool complete)
{
        PnList kept = get_list(kept_at), incoming = get_list(incoming_at), merged;
        size_t n = (size_t)kept.n + incoming.n;
        _cleanup_free_ Ref *refs = calloc(n + 1, sizeof *refs);

        /* Runs that fail drop nothing; what many of them left must not pile up without end. */
        if (n > PN_KEPT_MAX && incoming.n <= PN_KEPT_MAX) {
                list_done(type, kept_at);
                kept = get_list(kept_at);
                n = incoming.n;
        }
        if (!refs || list_reserve(type, n, &merged) < 0)
                return -ENOMEM;
        fill_refs(type, &kept, false, refs);
        fill_refs(type, &incoming, true, refs + kept.n);
        qsort(refs, n, sizeof *refs, compare_refs);
        for (size_t i = 0; i < n; i++) {
                bool last = i + 1 == n || compare_keys(&refs[i], &refs[i + 1]) != 0;

                if (!last && !refs[i].fresh && refs[i + 1].fresh)
                        keep_what_it_was(type, refs[i].object, refs[i + 1].object);
                if (last && (refs[i].fresh || !complete))
                        list_move(type, &merged, refs[i].object);
        }
        list_done(type, kept_at);
        list_done(type, incoming_at);
        memcpy(kept_at, &merged, sizeof merged);
        return 0;
}

static bool in_reset(const PnNvme *drive)
{
        return drive->state.state == PN_KNOWN && !pn_text_is(&drive->state, "live");
}

/* Whether two of the same name, the old and the new, may be one drive: nothing that is known of
 * both says otherwise. */
static bool same_drive(const PnNvme *a, const PnNvme *b)
{
        const char *serial_a = pn_text(&a->serial), *serial_b = pn_text(&b->serial);
        const char *model_a = pn_text(&a->model), *model_b = pn_text(&b->model);

        /* In a reset a controller says anything (case 037): what stays is where it is. */
        if (in_reset(b) && a->address.state == PN_KNOWN && pn_text_is(&b->address, a->address.v))
                return true;
        return !(serial_a && serial_b && strcmp(serial_a, serial_b) != 0) &&
               !(model_a && model_b && strcmp(model_a, model_b) != 0);
}

/* What an old drive tells of the new one that it is: all that did not answer; and, of a controller
 * that is not live, all that it might say wrongly now. */
static void keep_identity(PnNvme *old, PnNvme *new)
{
        static const char *const doubtful[] = {"model",     "serial",        "firmware",
                                               "subsystem", "controller_id", "namespaces"};
        const PnType *type = pn_type_Nvme();

        keep_what_it_was(type, old, new);
        for (size_t i = 0; in_reset(new) && i < PN_ELEMENTS(doubtful); i++) {
                const PnField *field = pn_field(type, doubtful[i]);
                PnState before;

                memcpy(&before, pn_field_at(field, old), sizeof before);
                if (before != PN_KNOWN)
                        continue;
                swap_field(type, field, old, new);
        }
}

/* Keeps what identifies a drive and where it was. */
static void make_lost(PnNvme *drive)
{
        pn_take_text(&drive->state, NULL);
        list_done(pn_type_Namespace(), &drive->namespaces);
        drive->controller_id = (PnInt){0};
        drive->lost = pn_bool(true);
}

static Ref *find_ref(Ref *refs, size_t n, const char *key)
{
        Ref wanted = {.key = key};

        return n && key ? bsearch(&wanted, refs, n, sizeof *refs, compare_keys) : NULL;
}

/* What is needed to tell which old drive is which new one. */
typedef struct Match {
        Ref *by_name;   /* the new drives */
        Ref *by_serial; /* those of them that took over no old one's place */
        size_t n_names, n_serials;
        bool *claimed; /* of each new drive, by its index */
        bool *gone;    /* of each old drive: it is one of the new ones */
} Match;

static void match_done(Match *match)
{
        free(match->by_name);
        free(match->by_serial);
        free(match->claimed);
        free(match->gone);
}

/* First by name, then the rest by serial number: a drive that comes back may get another name. */
static int match_drives(Match *match, PnInventory *kept, PnInventory *incoming)
{
        match->n_names = incoming->nvme.n;
        match->by_name = calloc((size_t)incoming->nvme.n + 1, sizeof *match->by_name);
        match->by_serial = calloc((size_t)incoming->nvme.n + 1, sizeof *match->by_serial);
        match->claimed = calloc((size_t)incoming->nvme.n + 1, sizeof *match->claimed);
        match->gone = calloc((size_t)kept->nvme.n + 1, sizeof *match->gone);
        if (!match->by_name || !match->by_serial || !match->claimed || !match->gone)
                return -ENOMEM;
        for (unsigned i = 0; i < incoming->nvme.n; i++)
                match->by_name[i] =
                    (Ref){key_of(&incoming->nvme.v[i]), &incoming->nvme.v[i], true, i};
        qsort(match->by_name, match->n_names, sizeof *match->by_name, compare_refs);
        for (unsigned i = 0; i < kept->nvme.n; i++) {
                const PnNvme *drive = &kept->nvme.v[i];
                Ref *ref = find_ref(match->by_name, match->n_names, drive->name.v);

                if (!ref || match->claimed[ref->order] || !same_drive(drive, ref->object))
                        continue;
                match->claimed[ref->order] = true;
                match->gone[i] = true;
                keep_identity(&kept->nvme.v[i], ref->object);
        }
        for (unsigned i = 0; i < incoming->nvme.n; i++) {
                PnNvme *drive = &incoming->nvme.v[i];

                if (!match->claimed[i] && pn_text(&drive->serial))
                        match->by_serial[match->n_serials++] =
                            (Ref){drive->serial.v, drive, true, i};
        }
        qsort(match->by_serial, match->n_serials, sizeof *match->by_serial, compare_refs);
        for (unsigned i = 0; i < kept->nvme.n; i++) {
                const PnNvme *drive = &kept->nvme.v[i];
                Ref *ref;

                if (match->gone[i])
                        continue;
                ref = find_ref(match->by_serial, match->n_serials, pn_text(&drive->serial));
                if (!ref || match->claimed[ref->order] || !same_drive(drive, ref->object))
                        continue;
                match->claimed[ref->order] = true;
                match->gone[i] = true;
        }
        return 0;
}

int pn_merge_nvme(PnInventory *kept, PnInventory *incoming, bool complete)
{
        const PnType *type = pn_type_Nvme();
        _cleanup_(match_done) Match match = {0};
        PnInventory none = {0};
        unsigned n_lost = 0;
        PnList merged;

        /* Of two new ones with the same name, one goes. */
        if (pn_merge_list(type, &none.nvme, &incoming->nvme, true) < 0)
                return -ENOMEM;
        incoming->nvme = none.nvme;
        /* As in pn_merge_list(). */
        if ((size_t)kept->nvme.n + incoming->nvme.n > PN_KEPT_MAX &&
            incoming->nvme.n <= PN_KEPT_MAX)
                list_done(type, &kept->nvme);
        if (match_drives(&match, kept, incoming) < 0 ||
            list_reserve(type, (size_t)kept->nvme.n + incoming->nvme.n, &merged) < 0)
                return -ENOMEM;
        /* The living first: who asks for a name means the drive that has it now. */
        for (unsigned i = 0; i < incoming->nvme.n; i++) {
                incoming->nvme.v[i].lost = pn_bool(false);
                list_move(type, &merged, &incoming->nvme.v[i]);
        }
        for (unsigned i = 0; i < kept->nvme.n; i++) {
                PnNvme *drive = &kept->nvme.v[i];

                if (match.gone[i])
                        continue;
                if (complete || pn_is_true(drive->lost) ||
                    find_ref(match.by_name, match.n_names, drive->name.v)) {
                        if (n_lost++ >= PN_LOST_MAX)
                                continue;
                        make_lost(drive);
                }
                list_move(type, &merged, drive);
        }
        list_done(type, &kept->nvme);
        list_done(type, &incoming->nvme);
        memcpy(&kept->nvme, &merged, sizeof merged);
        return 0;
}
