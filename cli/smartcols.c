/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads libsmartcols. */

#include "smartcols.h"

#include <dlfcn.h>

const Smartcols *smartcols(void)
{
        static Smartcols functions;
        static bool tried, complete;
        void *library;

        if (tried)
                return complete ? &functions : NULL;
        tried = true;
        library = dlopen("libsmartcols.so.1", RTLD_LAZY | RTLD_LOCAL);
        if (!library)
                return NULL;
        complete = true;
#define SMARTCOLS_LOAD(name)                                                                       \
        {                                                                                          \
                void *found = dlsym(library, #name);                                               \
                                                                                                   \
                memcpy(&functions.name, &found, sizeof found);                                     \
                complete &= found != NULL;                                                         \
        }
        SMARTCOLS_FUNCTIONS(SMARTCOLS_LOAD)
#undef SMARTCOLS_LOAD
        return complete ? &functions : NULL;
}
