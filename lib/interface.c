/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The methods and errors of io.pnhw.Hardware, expanded from their lists. */

#include "interface.h"

#include <json-c/json.h>

#include "fields.h"
#include "varlink.h"

PN_DEFINE_CLEANUP(struct json_object *, json_object_put);

PN_PARAMETER_TYPES(PN_DEFINE_TYPE)

#define METHOD(name, in, out, more, doc) {PN_METHOD_##name, #name, in, out, more, doc},
static const PnMethod methods[] = {PN_METHODS(METHOD)};
static const PnMethod service_methods[] = {PN_SERVICE_METHODS(METHOD)};
#undef METHOD

#define ERROR(name, parameter, doc) {#name, parameter, doc},
static const struct {
        const char *name, *parameter, *doc;
} errors[] = {PN_ERRORS(ERROR)};
#undef ERROR

/* The standard's interface (https://varlink.org/Service); names and types are as published. */
static const char service_text[] =
    "# What every Varlink service offers: who it is, and what it can be asked.\n"
    "interface org.varlink.service\n"
    "\n"
    "# Who serves here, and with which interfaces.\n"
    "method GetInfo() -> (\n"
    "  vendor: string,\n"
    "  product: string,\n"
    "  version: string,\n"
    "  url: string,\n"
    "  interfaces: []string\n"
    ")\n"
    "\n"
    "# The text of one of them.\n"
    "method GetInterfaceDescription(interface: string) -> (description: string)\n"
    "\n"
    "# There is no such interface here.\n"
    "error InterfaceNotFound (interface: string)\n"
    "\n"
    "# The interface has no such method.\n"
    "error MethodNotFound (method: string)\n"
    "\n"
    "# The method exists, but not here.\n"
    "error MethodNotImplemented (method: string)\n"
    "\n"
    "# A parameter is missing, unknown or has an impossible value.\n"
    "error InvalidParameter (parameter: string)\n"
    "\n"
    "# The caller may not do this.\n"
    "error PermissionDenied ()\n"
    "\n"
    "# The method must be called with `more`.\n"
    "error ExpectedMore ()\n";

int pn_method_find(const char *full_name, const PnMethod **ret)
{
        const PnMethod *table;
        const char *dot = strrchr(full_name, '.');
        size_t n, length = dot ? (size_t)(dot - full_name) : 0;

        if (length == strlen(PN_INTERFACE) && pn_startswith(full_name, PN_INTERFACE)) {
                table = methods;
                n = PN_ELEMENTS(methods);
        } else if (length == strlen(PN_SERVICE) && pn_startswith(full_name, PN_SERVICE)) {
                table = service_methods;
                n = PN_ELEMENTS(service_methods);
        } else
                return -ENXIO;
        for (size_t i = 0; i < n; i++)
                if (strcmp(table[i].name, dot + 1) == 0) {
                        *ret = &table[i];
                        return 0;
                }
        return -ENOENT;
}

int pn_read_parameters(const PnMethod *method, struct json_object *json, void *in,
                       char **ret_parameter)
{
        _cleanup_(json_object_putp) struct json_object *none = NULL;
        const PnType *type = method->in ? method->in() : NULL;

        if (json) {
                json_object_object_foreach(json, name, value)
                {
                        (void)value;
                        if (type && pn_field(type, name))
                                continue;
                        if (ret_parameter && !(*ret_parameter = strdup(name)))
                                return -ENOMEM;
                        return -EINVAL;
                }
        }
        if (!type)
                return 0;
        if (!json)
                json = none = json_object_new_object();
        if (!json)
                return -ENOMEM;
        return pn_read_json(type, json, PN_JSON_STRICT, in, NULL, ret_parameter);
}

#define TYPE(T, FIELDS, doc) pn_type_##T,
static const PnType *(*const types[])(void) = {PN_TYPES(TYPE)};
#undef TYPE

static void mark_used(const PnType *type, bool *used)
{
        for (unsigned i = 0; i < type->n_fields; i++)
                for (size_t k = 0; k < PN_ELEMENTS(types); k++)
                        if (type->fields[i].type == types[k])
                                used[k] = true;
}

/* The types that a method's parameters or results lead to; the model may have more. */
static void write_types(PnBuf *buf)
{
        bool used[PN_ELEMENTS(types)] = {false};

        for (size_t i = 0; i < PN_ELEMENTS(methods); i++)
                if (methods[i].out)
                        mark_used(methods[i].out(), used);
        /* A type comes after those that it contains (model.h). */
        for (size_t k = PN_ELEMENTS(types); k-- > 0;)
                if (used[k])
                        mark_used(types[k](), used);
        for (size_t k = 0; k < PN_ELEMENTS(types); k++)
                if (used[k]) {
                        pn_buf_put(buf, "\n", 1);
                        pn_write_idl_type(buf, types[k]());
                }
}

static void write_field_docs(PnBuf *buf, const PnType *type)
{
        for (unsigned i = 0; i < type->n_fields; i++)
                pn_buf_printf(buf, "#   %s: %s\n", type->fields[i].name,
                              pn_field_doc(&type->fields[i]));
}

static void write_method(PnBuf *buf, const PnMethod *method)
{
        pn_buf_printf(buf, "\n# %s\n", method->doc);
        if (method->in)
                write_field_docs(buf, method->in());
        /* The fields of a type that has its own place are explained there. */
        if (method->out && method->out != pn_type_Status)
                write_field_docs(buf, method->out());
        pn_buf_printf(buf, "method %s", method->name);
        if (method->in)
                pn_write_idl_struct(buf, method->in());
        else
                pn_buf_puts(buf, "()");
        pn_buf_puts(buf, " -> ");
        if (method->out)
                pn_write_idl_struct(buf, method->out());
        else
                pn_buf_puts(buf, "()");
        pn_buf_put(buf, "\n", 1);
}

void pn_write_interface(PnBuf *buf)
{
        pn_buf_puts(buf,
                    "# Is each piece of hardware in this machine running as fast and as "
                    "healthily as it could;\n# if not, why, and what to do.\n"
                    "interface " PN_INTERFACE "\n\n"
                    "# A field that could not be read, and why: permission, asleep, timeout, "
                    "stuck, malformed,\n# unsupported, overflow, cannot_join, io or excluded.\n"
                    "type Unread (field: string, reason: string)\n");
        write_types(buf);
        for (size_t i = 0; i < PN_ELEMENTS(methods); i++)
                write_method(buf, &methods[i]);
        for (size_t i = 0; i < PN_ELEMENTS(errors); i++) {
                pn_buf_printf(buf, "\n# %s\nerror %s (%s%s)\n", errors[i].doc, errors[i].name,
                              errors[i].parameter, *errors[i].parameter ? ": string" : "");
        }
}

int pn_describe_interface(PnBuf *buf, const char *name)
{
        if (strcmp(name, PN_INTERFACE) == 0)
                pn_write_interface(buf);
        else if (strcmp(name, PN_SERVICE) == 0)
                pn_buf_puts(buf, service_text);
        else
                return -ENOENT;
        return buf->error;
}
