/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The methods and errors of io.pnhw.Hardware: one list drives validation of parameters, dispatch
 * and the interface text. Knows no connection and not what a method does. */
#pragma once

#include "model.h"

struct json_object;

#define PN_INTERFACE "io.pnhw.Hardware"

/* Parameters and results, one field list each, as in model.h. A method without parameters has no
 * list. */

#define PN_GET_INVENTORY_IN_FIELDS(F, T)                                                           \
        F(T, TEXTS, kinds, "", "KINDS",                                                            \
          "Parts that are wanted: host, pci, nvme, disks, nics; all if left out.")

#define PN_GET_INVENTORY_OUT_FIELDS(F, T)                                                          \
        F(T, NUM, schema, "", "SCHEMA", "Version of these types; fields are only ever added.")     \
        F(T, NUM, generation, "", "GENERATION", "Of the snapshot that this is from.")              \
        F(T, ONE, inventory, Inventory, "INVENTORY", "What was found.")

#define PN_GET_DEVICE_IN_FIELDS(F, T)                                                              \
        F(T, KEY, name, "", "NAME", "nvme0, nvme0n1, sda, enp4s0f0 or a PCI address.")

#define PN_GET_DEVICE_OUT_FIELDS(F, T)                                                             \
        F(T, ONE, device, Device, "DEVICE", "All that is known of it.")

#define PN_LIST_FINDINGS_IN_FIELDS(F, T)                                                           \
        F(T, TEXT, min_severity, "", "SEVERITY",                                                   \
          "The mildest that is wanted: info (default), notice, warning or critical.")              \
        F(T, BOOL, include_accepted, "", "ACCEPTED",                                               \
          "Whether to list what an administrator accepted; false if left out.")

#define PN_LIST_FINDINGS_OUT_FIELDS(F, T) F(T, MANY, findings, Finding, "FINDINGS", "Worst first.")

#define PN_LIST_ALERTS_OUT_FIELDS(F, T)                                                            \
        F(T, MANY, alerts, Finding, "ALERTS",                                                      \
          "Each as it was last seen, with the severity that the journal has. Unlike findings "     \
          "these do not come and go with each reading.")

#define PN_CHECK_IN_FIELDS(F, T)                                                                   \
        F(T, TEXT, device, "", "DEVICE", "One device by any of its names; all if left out.")       \
        F(T, TEXT, min_severity, "", "SEVERITY",                                                   \
          "The mildest that is a problem: info, notice, warning (default) or critical.")

#define PN_CHECK_OUT_FIELDS(F, T)                                                                  \
        F(T, KEY, status, "", "STATUS", "OK, WARNING, CRITICAL or UNKNOWN.")                       \
        F(T, NUM, code, "", "CODE", "The same as an exit status: 0, 1, 2 or 3.")                   \
        F(T, KEY, line, "", "LINE", "One line of text.")                                           \
        F(T, KEY, perfdata, "", "PERFDATA", "Figures, as monitoring plug-ins write them.")

#define PN_SUBSCRIBE_OUT_FIELDS(F, T)                                                              \
        F(T, NUM, generation, "", "GENERATION", "Of the snapshot that this is from.")              \
        F(T, MANY, changed, Finding, "CHANGED",                                                    \
          "Findings that are new or different since the answer before, and, with state cleared, "  \
          "those that are gone; none in the first answer.")                                        \
        F(T, ONE, status, Status, "STATUS", "As GetStatus gives it.")

#define PN_REFRESH_IN_FIELDS(F, T)                                                                 \
        F(T, TEXTS, sources, "", "SOURCES",                                                        \
          "What to read again: host, pci, nvme, block, net, module; all if left out.")

#define PN_REFRESH_OUT_FIELDS(F, T)                                                                \
        F(T, NUM, generation, "", "GENERATION", "Of the snapshot that has what was read.")

#define PN_ACCEPT_IN_FIELDS(F, T)                                                                  \
        F(T, KEY, id, "", "ID", "Of the finding.")                                                 \
        F(T, TEXT, reason, "", "REASON", "Why, for those who read it later.")                      \
        F(T, TEXT, until, "", "UNTIL",                                                             \
          "A date or moment (RFC 3339) from which it counts again; never if left out.")

#define PN_UNACCEPT_IN_FIELDS(F, T) F(T, KEY, id, "", "ID", "Of the finding.")

#define PN_GET_METRICS_OUT_FIELDS(F, T)                                                            \
        F(T, KEY, openmetrics, "", "PAGE", "OpenMetrics text; docs/metrics.md has its series.")

#define PN_DESCRIBE_IN_FIELDS(F, T) F(T, KEY, interface, "", "INTERFACE", "Name of an interface.")

#define PN_PARAMETER_TYPES(T)                                                                      \
        T(GetInventoryIn, PN_GET_INVENTORY_IN_FIELDS, "Parameters of GetInventory.")               \
        T(GetInventoryOut, PN_GET_INVENTORY_OUT_FIELDS, "Results of GetInventory.")                \
        T(GetDeviceIn, PN_GET_DEVICE_IN_FIELDS, "Parameters of GetDevice.")                        \
        T(GetDeviceOut, PN_GET_DEVICE_OUT_FIELDS, "Results of GetDevice.")                         \
        T(ListFindingsIn, PN_LIST_FINDINGS_IN_FIELDS, "Parameters of ListFindings.")               \
        T(ListFindingsOut, PN_LIST_FINDINGS_OUT_FIELDS, "Results of ListFindings.")                \
        T(ListAlertsOut, PN_LIST_ALERTS_OUT_FIELDS, "Results of ListAlerts.")                      \
        T(CheckIn, PN_CHECK_IN_FIELDS, "Parameters of Check.")                                     \
        T(CheckOut, PN_CHECK_OUT_FIELDS, "Results of Check.")                                      \
        T(SubscribeOut, PN_SUBSCRIBE_OUT_FIELDS, "Results of Subscribe.")                          \
        T(RefreshIn, PN_REFRESH_IN_FIELDS, "Parameters of Refresh.")                               \
        T(RefreshOut, PN_REFRESH_OUT_FIELDS, "Results of Refresh.")                                \
        T(AcceptIn, PN_ACCEPT_IN_FIELDS, "Parameters of Accept.")                                  \
        T(UnacceptIn, PN_UNACCEPT_IN_FIELDS, "Parameters of Unaccept.")                            \
        T(GetMetricsOut, PN_GET_METRICS_OUT_FIELDS, "Results of GetMetrics.")                      \
        T(DescribeIn, PN_DESCRIBE_IN_FIELDS, "Parameters of GetInterfaceDescription.")

PN_PARAMETER_TYPES(PN_DECLARE_TYPE)

/* M(name, parameters or NULL, results, needs `more`, doc) */
#define PN_METHODS(M)                                                                              \
        M(GetStatus, NULL, pn_type_Status, false,                                                  \
          "Is everything at its best? The machine, every link rated, and what is wrong.")          \
        M(GetInventory, pn_type_GetInventoryIn, pn_type_GetInventoryOut, false,                    \
          "The hardware that was found.")                                                          \
        M(GetDevice, pn_type_GetDeviceIn, pn_type_GetDeviceOut, false,                             \
          "Everything about one device, and its links up to the root.")                            \
        M(ListFindings, pn_type_ListFindingsIn, pn_type_ListFindingsOut, false,                    \
          "What is wrong, worst first.")                                                           \
        M(ListAlerts, NULL, pn_type_ListAlertsOut, false,                                          \
          "What the journal was told and not yet told to be over.")                                \
        M(Check, pn_type_CheckIn, pn_type_CheckOut, false,                                         \
          "A verdict for monitoring: one word, one line, figures. UNKNOWN if nothing is wrong in " \
          "what is known but a part could not be read.")                                           \
        M(Subscribe, NULL, pn_type_SubscribeOut, true,                                             \
          "The status at once, and again at each change, also when only what ListAlerts gives "    \
          "or the inventory changed. Must be called with `more`. A reader that falls behind gets " \
          "the newest status, not each one between.")                                              \
        M(Refresh, pn_type_RefreshIn, pn_type_RefreshOut, false,                                   \
          "Reads the hardware now, and answers when it is done. For root and the group pnhw. A "   \
          "source that was started less than two seconds ago is not started again.")               \
        M(Accept, pn_type_AcceptIn, NULL, false,                                                   \
          "Says that a finding is known and may stay: it counts no more, until it gets worse. "    \
          "For "                                                                                   \
          "root. A drive that was taken out is forgotten.")                                        \
        M(Unaccept, pn_type_UnacceptIn, NULL, false,                                               \
          "Takes that back: the finding counts again. For root.")                                  \
        M(GetMetrics, NULL, pn_type_GetMetricsOut, false,                                          \
          "All that is measured and judged, as a page for Prometheus and its like.")

/* The methods of org.varlink.service; its text is the standard's, not generated. */
#define PN_SERVICE_METHODS(M)                                                                      \
        M(GetInfo, NULL, NULL, false, "")                                                          \
        M(GetInterfaceDescription, pn_type_DescribeIn, NULL, false, "")

/* E(name, its parameter (always a string) or "", doc) */
#define PN_ERRORS(E)                                                                               \
        E(NoSuchDevice, "name", "No device has this name.")                                        \
        E(NoSuchFinding, "id", "No finding has this id, or, to Unaccept, none that is accepted.")  \
        E(NotReady, "", "The first reading of the hardware has not ended; ask again.")             \
        E(Busy, "", "Too many connections; this one is closed.")                                   \
        E(InvalidRequest, "reason",                                                                \
          "What came is not a Varlink call, is too long, or did not end in time; the connection "  \
          "is closed.")

typedef enum PnMethodId {
#define PN_METHOD_ID(name, in, out, more, doc) PN_METHOD_##name,
        PN_METHODS(PN_METHOD_ID) PN_SERVICE_METHODS(PN_METHOD_ID)
#undef PN_METHOD_ID
            PN_N_METHODS,
} PnMethodId;

typedef struct PnMethod {
        PnMethodId id;
        const char *name;           /* without the interface */
        const PnType *(*in)(void);  /* NULL for a method without parameters */
        const PnType *(*out)(void); /* NULL for none, and org.varlink.service's */
        bool needs_more;
        const char *doc;
} PnMethod;

/* The method with this full name. 0; -ENXIO if there is no such interface; -ENOENT if the
 * interface has no such method. */
int pn_method_find(const char *full_name, const PnMethod **ret);

/* Reads and checks a call's parameters (`json` may be NULL: none) into `in`, a zeroed object of
 * the type method->in. 0; -EINVAL, and `ret_parameter` (may be NULL) gets the malloc'ed name of the
 * one at fault, unknown ones too; -ENOMEM. */
int pn_read_parameters(const PnMethod *method, struct json_object *json, void *in,
                       char **ret_parameter);

/* Appends the text of io.pnhw.Hardware in Varlink's interface language: all types with a comment
 * for each field, the methods, the errors. */
void pn_write_interface(PnBuf *buf);

/* The text of the interface with this name; -ENOENT if it is not one of the two. */
int pn_describe_interface(PnBuf *buf, const char *name);
