/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What each method answers, from the current snapshot; knows no connection but its caller's
 * credentials. */
#pragma once

#include "manager.h"
#include "varlink.h"

typedef enum PnAnswerKind {
        PN_ANSWER_NOW,       /* `blob` is the answer */
        PN_ANSWER_HELD,      /* ask again when there is a snapshot */
        PN_ANSWER_REFRESH,   /* when none of `wait` is busy, the answer is pn_refresh_answer() */
        PN_ANSWER_SUBSCRIBE, /* `blob` is the first answer */
} PnAnswerKind;

typedef struct PnAnswer {
        PnAnswerKind kind;
        PnBlob *blob; /* a reference of the caller's own */
        PnSourceSet wait;
        bool repeatable; /* the same words get the same answer until there is a new snapshot */
} PnAnswer;

/* Answers a call. `fd` is the connection, for credentials. 0 or -ENOMEM. */
int pn_methods_answer(PnManager *manager, const PnCall *call, int fd, PnAnswer *ret);

/* The answer to Refresh. NULL when memory is short. */
PnBlob *pn_refresh_answer(const PnManager *manager);

/* An error of ours, by its full name. NULL when memory is short. */
PnBlob *pn_error_answer(const char *error, const char *name, const char *value);
