/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looks up rows of the table of finding codes; knows no rule. */

#include "codes.h"

static const PnCodeInfo codes[PN_N_CODES] = {
#define PN_CODE_ROW(id, code, worst, raise, clear, sources, title, meaning, remedy, message_id)    \
        [PN_CODE_##id] = {code, worst, raise, clear, sources, title, meaning, remedy, message_id},
    PN_CODES(PN_CODE_ROW)
#undef PN_CODE_ROW
};

const PnCodeInfo *pn_code_info(PnCode code)
{
        return &codes[code];
}

int pn_code_from_name(const char *name, PnCode *ret)
{
        for (unsigned i = 0; name && i < PN_N_CODES; i++)
                if (strcmp(codes[i].name, name) == 0) {
                        *ret = (PnCode)i;
                        return 0;
                }
        return -EINVAL;
}
