/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes lib/varlink.c and lib/interface.c: the input is one message, as a client sends it, up to
 * the method's parameters. */
#include "base.h"
#include "interface.h"
#include "varlink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
        if (!truth)
                abort();
}

static void check_parameters(const PnCall *call)
{
        _cleanup_free_ char *wrong = NULL;
        const PnMethod *method;
        void *in = NULL;
        int r;

        r = pn_method_find(call->method, &method);
        require(r == 0 || r == -ENOENT || r == -ENXIO);
        if (r < 0)
                return;
        if (method->in) {
                in = calloc(1, method->in()->size);
                require(in);
        }
        r = pn_read_parameters(method, call->parameters, in, &wrong);
        require(r == 0 || (r == -EINVAL && wrong));
        if (method->in)
                pn_free(method->in(), in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *error = NULL, *member = NULL;
        PnCall call;
        int r;

        r = pn_call_parse((const char *)data, size, &call, &error, &member);
        require(r == 0 || (r == -EBADMSG && error) || (r == -EINVAL && member));
        if (r < 0)
                return 0;
        require(strrchr(call.method, '.'));
        check_parameters(&call);
        pn_call_done(&call);
        return 0;
}
