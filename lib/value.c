/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Making and naming values; knows no field by name. */

#include "value.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const reason_names[PN_N_STATES] = {
#define PN_REASON_NAME(id, word) [PN_UNREAD_##id] = word,
    PN_UNREAD_REASONS(PN_REASON_NAME)
#undef PN_REASON_NAME
};

const char *pn_reason_name(PnState state)
{
        return state < PN_N_STATES ? reason_names[state] : NULL;
}

int pn_reason_from_name(const char *name, PnState *ret)
{
        for (PnState state = PN_KNOWN + 1; state < PN_N_STATES; state++)
                if (strcmp(reason_names[state], name) == 0) {
                        *ret = state;
                        return 0;
                }
        return -EINVAL;
}

PnState pn_reason_from_errno(int error)
{
        switch (abs(error)) {
        case EACCES:
        case EPERM:
                return PN_UNREAD_PERMISSION;
        case ETIMEDOUT:
        case ETIME:
                return PN_UNREAD_TIMEOUT;
        case EOPNOTSUPP:
        case ENOTTY:
        case ENOSYS:
                return PN_UNREAD_UNSUPPORTED;
        case EINVAL:
        case ERANGE:
                return PN_UNREAD_MALFORMED;
        case EOVERFLOW:
                return PN_UNREAD_OVERFLOW;
        default:
                return PN_UNREAD_IO;
        }
}

int pn_set_text(PnText *text, const char *s)
{
        char *copy = NULL;

        if (s) {
                copy = strdup(s);
                if (!copy)
                        return -ENOMEM;
        }
        pn_take_text(text, copy);
        return 0;
}

void pn_take_text(PnText *text, char *s)
{
        free(text->v);
        *text = (PnText){s ? PN_KNOWN : PN_ABSENT, s};
}

int pn_format_text(PnText *text, const char *format, ...)
{
        va_list args;
        char *s;
        int n;

        va_start(args, format);
        n = vasprintf(&s, format, args);
        va_end(args);
        if (n < 0)
                return -ENOMEM;
        pn_take_text(text, s);
        return 0;
}

/* Room for one more element in an array that grows when its length is a power of two, so that no
 * capacity has to be stored. */
static int grow(void *array_at, unsigned n, size_t element_size)
{
        void *array, *bigger;

        if (n != 0 && (n & (n - 1)) != 0)
                return 0;
        if (n > UINT32_MAX / 2)
                return -ENOMEM;
        memcpy(&array, array_at, sizeof array);
        bigger = reallocarray(array, n == 0 ? 1 : (size_t)n * 2, element_size);
        if (!bigger)
                return -ENOMEM;
        memcpy(array_at, &bigger, sizeof bigger);
        return 0;
}

int pn_texts_append(PnTexts *texts, const char *s)
{
        _cleanup_free_ char *copy = strdup(s);

        if (!copy || grow(&texts->v, texts->n, sizeof *texts->v) < 0)
                return -ENOMEM;
        texts->v[texts->n++] = PN_STEAL(copy);
        texts->state = PN_KNOWN;
        return 0;
}

int pn_texts_append_unique(PnTexts *texts, const char *s)
{
        for (unsigned i = 0; i < texts->n; i++)
                if (strcmp(texts->v[i], s) == 0)
                        return 0;
        return pn_texts_append(texts, s);
}

int pn_reals_append(PnReals *reals, double v)
{
        if (grow(&reals->v, reals->n, sizeof *reals->v) < 0)
                return -ENOMEM;
        reals->v[reals->n++] = v;
        reals->state = PN_KNOWN;
        return 0;
}
