/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Varlink's messages: what a call must look like, and how an answer is written. */

#include "varlink.h"

#include <json-c/json.h>

#include "schema.h"

void pn_call_done(PnCall *call)
{
        json_object_put(call->json);
        *call = (PnCall){0};
}

/* The part before the last dot is the interface, the part after it the method; neither is empty. */
static bool is_method_name(struct json_object *json)
{
        const char *s, *dot;

        if (!json_object_is_type(json, json_type_string))
                return false;
        s = json_object_get_string(json);
        dot = strrchr(s, '.');
        return strlen(s) == (size_t)json_object_get_string_len(json) && dot && dot != s && dot[1];
}

/* Takes in one member; -EINVAL if it is not as it must be. */
static int read_member(PnCall *call, const char *name, struct json_object *value)
{
        bool *flag = NULL, upgrade = false;

        if (strcmp(name, "method") == 0) {
                if (!is_method_name(value))
                        return -EINVAL;
                call->method = json_object_get_string(value);
                return 0;
        }
        if (strcmp(name, "parameters") == 0) {
                if (value && !json_object_is_type(value, json_type_object))
                        return -EINVAL;
                call->parameters = value;
                return 0;
        }
        if (strcmp(name, "more") == 0)
                flag = &call->more;
        else if (strcmp(name, "oneway") == 0)
                flag = &call->oneway;
        else if (strcmp(name, "upgrade") == 0)
                flag = &upgrade;
        else
                return -EINVAL;
        if (value && !json_object_is_type(value, json_type_boolean))
                return -EINVAL;
        *flag = value && json_object_get_boolean(value);
        return upgrade ? -EINVAL : 0;
}

int pn_call_parse(const char *text, size_t n, PnCall *ret, char **ret_error, char **ret_member)
{
        _cleanup_(pn_call_done) PnCall call = {0};
        const char *wrong = NULL;
        int r;

        r = pn_parse_json(text, n, &call.json, ret_error);
        if (r < 0)
                return r == -ENOMEM ? r : -EBADMSG;
        if (!json_object_is_type(call.json, json_type_object)) {
                if (ret_error && !(*ret_error = strdup("not a JSON object")))
                        return -ENOMEM;
                return -EBADMSG;
        }
        json_object_object_foreach(call.json, name, value)
        {
                if (read_member(&call, name, value) < 0) {
                        wrong = name;
                        break;
                }
        }
        if (!wrong && !call.method)
                wrong = "method";
        if (wrong) {
                if (ret_member && !(*ret_member = strdup(wrong)))
                        return -ENOMEM;
                return -EINVAL;
        }
        *ret = call;
        call = (PnCall){0};
        return 0;
}

void pn_reply_begin(PnBuf *buf)
{
        pn_buf_puts(buf, "{\"parameters\":");
}

void pn_reply_end(PnBuf *buf, bool continues)
{
        pn_buf_puts(buf, continues ? ",\"continues\":true}" : "}");
}

void pn_write_error(PnBuf *buf, const char *error, const char *name, const char *value)
{
        pn_buf_puts(buf, "{\"error\":");
        pn_buf_json_string(buf, error);
        pn_buf_puts(buf, ",\"parameters\":{");
        if (name) {
                pn_buf_json_string(buf, name);
                pn_buf_put(buf, ":", 1);
                pn_buf_json_string(buf, value);
        }
        pn_buf_puts(buf, "}}");
}

void pn_write_call(PnBuf *buf, const char *method, const char *parameters, bool more)
{
        pn_buf_puts(buf, "{\"method\":");
        pn_buf_json_string(buf, method);
        if (parameters) {
                pn_buf_puts(buf, ",\"parameters\":");
                pn_buf_puts(buf, parameters);
        }
        pn_buf_puts(buf, more ? ",\"more\":true}" : "}");
}
