/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What each method answers. Nothing here waits; Refresh, Accept and Unaccept change something, and
 * nothing else does. */

#include "methods.h"

#include <grp.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

#include "assess.h"
#include "when.h"

/* Members may ask for a reading now. */
#define GROUP "pnhw"

/* Bytes of an administrator's reason. */
#define REASON_MAX 1024

typedef struct Request {
        PnManager *manager;
        PnSnapshot *snapshot;
        const PnCall *call;
        int fd;
} Request;

static int take_blob(PnBuf *buf, PnAnswer *ret)
{
        ret->blob = pn_blob_new(buf);
        return ret->blob ? 0 : -ENOMEM;
}

static int share_blob(PnBlob *blob, PnAnswer *ret)
{
        ret->blob = pn_blob_ref(blob);
        return 0;
}

PnBlob *pn_error_answer(const char *error, const char *name, const char *value)
{
        _cleanup_buf_ PnBuf buf = {0};

        pn_write_error(&buf, error, name, value);
        return pn_blob_new(&buf);
}

static int answer_error(PnAnswer *ret, const char *error, const char *name, const char *value)
{
        ret->blob = pn_error_answer(error, name, value);
        return ret->blob ? 0 : -ENOMEM;
}

static int answer_invalid(PnAnswer *ret, const char *parameter)
{
        return answer_error(ret, PN_SERVICE ".InvalidParameter", "parameter", parameter);
}

static int answer_info(PnAnswer *ret)
{
        _cleanup_buf_ PnBuf buf = {0};

        pn_reply_begin(&buf);
        pn_buf_puts(
            &buf,
            "{\"vendor\":\"pnhw\",\"product\":\"pnhw hardware daemon\",\"version\":\"" PN_VERSION
            "\",\"url\":\"man:pnhwd(8)\",\"interfaces\":[\"" PN_SERVICE "\",\"" PN_INTERFACE
            "\"]}");
        pn_reply_end(&buf, false);
        return take_blob(&buf, ret);
}

static int answer_description(const PnDescribeIn *in, PnAnswer *ret)
{
        _cleanup_buf_ PnBuf text = {0}, buf = {0};
        int r;

        r = pn_describe_interface(&text, in->interface.v);
        if (r == -ENOENT)
                return answer_error(ret, PN_SERVICE ".InterfaceNotFound", "interface",
                                    in->interface.v);
        if (r < 0)
                return r;
        pn_reply_begin(&buf);
        pn_buf_puts(&buf, "{\"description\":");
        pn_buf_json_string(&buf, text.data);
        pn_buf_puts(&buf, "}");
        pn_reply_end(&buf, false);
        return take_blob(&buf, ret);
}

static int answer_status(const Request *request, PnAnswer *ret)
{
        PnBlob *blob;
        int r = pn_snapshot_status(request->snapshot, &blob);

        return r < 0 ? r : share_blob(blob, ret);
}

static int answer_inventory(const Request *request, const PnGetInventoryIn *in, PnAnswer *ret)
{
        PnParts parts = in->kinds.state == PN_KNOWN ? 0 : PN_ALL_PARTS;
        PnBlob *blob;
        int r;

        for (unsigned i = 0; i < in->kinds.n; i++) {
                PnParts part;

                if (pn_part_from_name(in->kinds.v[i], &part) < 0)
                        return answer_invalid(ret, "kinds");
                parts |= part;
        }
        r = pn_snapshot_inventory(request->snapshot, parts, &blob);
        return r < 0 ? r : share_blob(blob, ret);
}

static int answer_metrics(const Request *request, PnAnswer *ret)
{
        PnBlob *blob;
        int r = pn_snapshot_metrics(request->snapshot, &blob);

        return r < 0 ? r : share_blob(blob, ret);
}

static int answer_device(const Request *request, const PnGetDeviceIn *in, PnAnswer *ret)
{
        _cleanup_buf_ PnBuf buf = {0};
        int r = pn_snapshot_device(request->snapshot, in->name.v, &buf);

        if (r == -ENOENT)
                return answer_error(ret, PN_INTERFACE ".NoSuchDevice", "name", in->name.v);
        return r < 0 ? r : take_blob(&buf, ret);
}

/* The rank of a severity that a caller gave, or the default; -EINVAL for another word. */
static int rank_or(const PnText *severity, const char *otherwise)
{
        const char *word = pn_text(severity);

        return pn_severity_rank(word ? word : otherwise);
}

static int answer_findings(const Request *request, const PnListFindingsIn *in, PnAnswer *ret)
{
        int r, rank = rank_or(&in->min_severity, "info");
        PnBlob *blob;

        if (rank < 0)
                return answer_invalid(ret, "min_severity");
        r = pn_snapshot_findings(request->snapshot, rank, pn_is_true(in->include_accepted), &blob);
        return r < 0 ? r : share_blob(blob, ret);
}

static int answer_alerts(const Request *request, PnAnswer *ret)
{
        PnBlob *blob;
        int r = pn_snapshot_alerts(request->snapshot, &blob);

        return r < 0 ? r : share_blob(blob, ret);
}

static int answer_check(const Request *request, const PnCheckIn *in, PnAnswer *ret)
{
        int r, rank = rank_or(&in->min_severity, "warning");
        const char *device = pn_text(&in->device);
        _cleanup_buf_ PnBuf buf = {0};

        if (rank < 0)
                return answer_invalid(ret, "min_severity");
        r = pn_snapshot_check(request->snapshot, device, rank, &buf);
        if (r == -ENOENT)
                return answer_error(ret, PN_INTERFACE ".NoSuchDevice", "name", device);
        return r < 0 ? r : take_blob(&buf, ret);
}

static int answer_subscribe(const Request *request, PnAnswer *ret)
{
        _cleanup_buf_ PnBuf buf = {0};
        int r;

        if (!request->call->more)
                return answer_error(ret, PN_SERVICE ".ExpectedMore", NULL, NULL);
        r = pn_snapshot_event(NULL, request->snapshot, &buf);
        if (r < 0)
                return r;
        ret->kind = PN_ANSWER_SUBSCRIBE;
        return take_blob(&buf, ret);
}

/* The local group alone, read anew: the name service could block, and the group may come later. */
static bool find_group(gid_t *ret)
{
        FILE *file = fopen("/etc/group", "re");
        struct group *group;
        bool found = false;

        if (!file)
                return false;
        while (!found && (group = fgetgrent(file)))
                if (strcmp(group->gr_name, GROUP) == 0) {
                        *ret = group->gr_gid;
                        found = true;
                }
        (void)fclose(file);
        return found;
}

static bool may_refresh(int fd)
{
        _cleanup_free_ gid_t *groups = NULL;
        struct ucred peer;
        socklen_t length = sizeof peer;
        gid_t wanted;

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
                return false;
        if (peer.uid == 0 || peer.uid == geteuid())
                return true;
        if (!find_group(&wanted))
                return false;
        if (peer.gid == wanted)
                return true;
        length = 0;
        if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &length) == 0 || errno != ERANGE)
                return false; /* it is in no group */
        groups = malloc(length);
        if (!groups || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &length) < 0)
                return false;
        for (size_t i = 0; i < length / sizeof *groups; i++)
                if (groups[i] == wanted)
                        return true;
        return false;
}

static int answer_refresh(const Request *request, const PnRefreshIn *in, PnAnswer *ret)
{
        PnSourceSet sources = in->sources.state == PN_KNOWN ? 0 : PN_ALL_SOURCES;

        for (unsigned i = 0; i < in->sources.n; i++) {
                PnSourceId source;

                if (pn_source_from_name(in->sources.v[i], &source) < 0)
                        return answer_invalid(ret, "sources");
                sources |= 1u << source;
        }
        if (!may_refresh(request->fd))
                return answer_error(ret, PN_SERVICE ".PermissionDenied", NULL, NULL);
        ret->wait = pn_manager_refresh(request->manager, sources);
        if (ret->wait) {
                ret->kind = PN_ANSWER_REFRESH;
                return 0;
        }
        ret->blob = pn_refresh_answer(request->manager);
        return ret->blob ? 0 : -ENOMEM;
}

PnBlob *pn_refresh_answer(const PnManager *manager)
{
        PnRefreshOut out = {.generation = pn_manager_snapshot(manager)->status.generation};
        _cleanup_buf_ PnBuf buf = {0};

        pn_reply_begin(&buf);
        pn_write_json(&buf, pn_type_RefreshOut(), &out);
        pn_reply_end(&buf, false);
        return pn_blob_new(&buf);
}

static bool is_root(int fd)
{
        struct ucred peer;
        socklen_t length = sizeof peer;

        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == 0;
}

static int answer_decision(int r, const char *id, PnAnswer *ret)
{
        _cleanup_buf_ PnBuf buf = {0};

        if (r == -ENOENT)
                return answer_error(ret, PN_INTERFACE ".NoSuchFinding", "id", id);
        if (r == -ENOSPC)
                return answer_error(ret, PN_INTERFACE ".Busy", NULL, NULL);
        if (r < 0)
                return r;
        pn_reply_begin(&buf);
        pn_buf_puts(&buf, "{}");
        pn_reply_end(&buf, false);
        return take_blob(&buf, ret);
}

static int answer_accept(const Request *request, const PnAcceptIn *in, PnAnswer *ret)
{
        const char *reason = pn_text(&in->reason), *until = pn_text(&in->until);
        PnInt end = {0};
        int64_t moment;

        if (!is_root(request->fd))
                return answer_error(ret, PN_SERVICE ".PermissionDenied", NULL, NULL);
        if (reason && strlen(reason) > REASON_MAX)
                return answer_invalid(ret, "reason");
        if (until) {
                if (pn_when_parse(until, &moment) < 0 || moment <= (int64_t)time(NULL))
                        return answer_invalid(ret, "until");
                end = pn_int(moment);
        }
        return answer_decision(pn_manager_accept(request->manager, in->id.v, reason, end), in->id.v,
                               ret);
}

static int answer_unaccept(const Request *request, const PnUnacceptIn *in, PnAnswer *ret)
{
        if (!is_root(request->fd))
                return answer_error(ret, PN_SERVICE ".PermissionDenied", NULL, NULL);
        return answer_decision(pn_manager_unaccept(request->manager, in->id.v), in->id.v, ret);
}

/* Every method's parameters, as pn_read_parameters() filled them in. */
typedef union Parameters {
        PnGetInventoryIn inventory;
        PnGetDeviceIn device;
        PnListFindingsIn findings;
        PnCheckIn check;
        PnRefreshIn refresh;
        PnAcceptIn accept;
        PnUnacceptIn unaccept;
        PnDescribeIn describe;
} Parameters;

static int dispatch(const Request *request, const PnMethod *method, const Parameters *in,
                    PnAnswer *ret)
{
        switch (method->id) {
        case PN_METHOD_GetStatus:
                return answer_status(request, ret);
        case PN_METHOD_GetInventory:
                return answer_inventory(request, &in->inventory, ret);
        case PN_METHOD_GetDevice:
                return answer_device(request, &in->device, ret);
        case PN_METHOD_ListFindings:
                return answer_findings(request, &in->findings, ret);
        case PN_METHOD_ListAlerts:
                return answer_alerts(request, ret);
        case PN_METHOD_Check:
                return answer_check(request, &in->check, ret);
        case PN_METHOD_Subscribe:
                return answer_subscribe(request, ret);
        case PN_METHOD_Refresh:
                return answer_refresh(request, &in->refresh, ret);
        case PN_METHOD_Accept:
                return answer_accept(request, &in->accept, ret);
        case PN_METHOD_Unaccept:
                return answer_unaccept(request, &in->unaccept, ret);
        case PN_METHOD_GetMetrics:
                return answer_metrics(request, ret);
        case PN_METHOD_GetInfo:
                return answer_info(ret);
        case PN_METHOD_GetInterfaceDescription:
                return answer_description(&in->describe, ret);
        case PN_N_METHODS:
                break;
        }
        return answer_error(ret, PN_SERVICE ".MethodNotImplemented", "method",
                            request->call->method);
}

/* Whether the same call gives the same answer to everybody, as long as the snapshot stands. */
static bool changes_nothing(const PnMethod *method)
{
        return method->id != PN_METHOD_Refresh && method->id != PN_METHOD_Subscribe &&
               method->id != PN_METHOD_Accept && method->id != PN_METHOD_Unaccept;
}

static bool needs_snapshot(const PnMethod *method)
{
        return method->id != PN_METHOD_GetInfo && method->id != PN_METHOD_GetInterfaceDescription;
}

int pn_methods_answer(PnManager *manager, const PnCall *call, int fd, PnAnswer *ret)
{
        Request request = {manager, pn_manager_snapshot(manager), call, fd};
        _cleanup_free_ char *parameter = NULL;
        PnAnswer answer = {.kind = PN_ANSWER_NOW};
        const PnMethod *method;
        Parameters in;
        int r;

        memset(&in, 0, sizeof in);
        r = pn_method_find(call->method, &method);
        if (r == -ENXIO) {
                _cleanup_free_ char *interface =
                    strndup(call->method, (size_t)(strrchr(call->method, '.') - call->method));

                if (!interface)
                        return -ENOMEM;
                r = answer_error(&answer, PN_SERVICE ".InterfaceNotFound", "interface", interface);
        } else if (r == -ENOENT)
                r = answer_error(&answer, PN_SERVICE ".MethodNotFound", "method", call->method);
        else {
                r = pn_read_parameters(method, call->parameters, &in, &parameter);
                if (r == -EINVAL)
                        r = answer_invalid(&answer, parameter ? parameter : "?");
                else if (r >= 0 && !request.snapshot && needs_snapshot(method))
                        answer.kind = PN_ANSWER_HELD;
                else if (r >= 0) {
                        answer.repeatable = changes_nothing(method);
                        r = dispatch(&request, method, &in, &answer);
                }
                if (method->in)
                        pn_done(method->in(), &in);
        }
        if (r < 0)
                return r;
        *ret = answer;
        return 0;
}
