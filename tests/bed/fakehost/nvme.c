/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers NVMe ioctls as the script says; knows the ioctls' layout, not how they were intercepted.
 * The checks come in the order of the kernel's: copy in, permission, then the device. */

#include <linux/capability.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>

#include "fakehost.h"

enum {
        OPCODE_GET_LOG_PAGE = 0x02,
        OPCODE_IDENTIFY = 0x06,

        STATUS_INVALID_OPCODE = 0x4001, /* with "do not retry" */

        MAX_TRANSFER = 1 << 20,
};

/* The node that the descriptor was opened from: "nvme0", "nvme0n1". Returns 0 or -ENOTTY. */
static int find_device(const FhCall *call, char ret_name[static 32])
{
        char link[64], path[256];
        const char *name;
        ssize_t n;

        (void)snprintf(link, sizeof link, "/proc/%d/fd/%d", call->pid, call->fd);
        n = readlink(link, path, sizeof path - 1);
        if (n < 0)
                return -ENOTTY;
        path[n] = '\0';
        name = strrchr(path, '/');
        name = name ? name + 1 : path;
        /* The name only: a service may see the nodes in a folder of its own. */
        if (!pn_startswith(name, "nvme") || strlen(name) >= 32)
                return -ENOTTY;
        memcpy(ret_name, name, strlen(name) + 1);
        return 0;
}

/* Whether a script's device is this node: itself, or the controller whose namespace it is. */
static bool device_matches(const char *scripted, const char *node)
{
        size_t length = strlen(scripted);

        if (pn_streq(scripted, "*") || pn_streq(scripted, node))
                return true;
        return pn_startswith(node, scripted) && node[length] == 'n' &&
               !strchr(scripted + strlen("nvme"), 'n');
}

/* What an admin command selects: the CNS, the log page, or nothing. */
static int64_t selector_of(const struct nvme_passthru_cmd *command)
{
        switch (command->opcode) {
        case OPCODE_IDENTIFY:
        case OPCODE_GET_LOG_PAGE:
                return command->cdw10 & 0xff;
        default:
                return command->opcode;
        }
}

static bool command_matches(const FhAnswer *answer, const struct nvme_passthru_cmd *command)
{
        if (answer->nsid >= 0 && answer->nsid != command->nsid)
                return false;
        if (pn_streq(answer->command, "any"))
                return true;
        if (pn_streq(answer->command, "opcode"))
                return answer->selector == command->opcode;
        if (answer->selector >= 0 && answer->selector != selector_of(command))
                return false;
        if (pn_streq(answer->command, "identify"))
                return command->opcode == OPCODE_IDENTIFY;
        return pn_streq(answer->command, "log") && command->opcode == OPCODE_GET_LOG_PAGE;
}

static FhAnswer *find_answer(FhScript *script, const char *node,
                             const struct nvme_passthru_cmd *command)
{
        for (size_t i = 0; i < script->n_answers; i++) {
                FhAnswer *answer = &script->answers[i];

                if ((answer->times == 0 || answer->used < answer->times) &&
                    device_matches(answer->device, node) && command_matches(answer, command))
                        return answer;
        }
        return NULL;
}

static void log_command(FhSupervisor *supervisor, const char *node, const char *queue,
                        const struct nvme_passthru_cmd *command, const char *outcome)
{
        supervisor->n_commands++;
        fh_log(supervisor, "%s %s opcode=0x%02x cdw10=0x%08x nsid=0x%x length=%u timeout=%u %s",
               node, queue, command->opcode, command->cdw10, command->nsid, command->data_len,
               command->timeout_ms, outcome);
}

/* Bytes from the offset that a Get Log Page asks for, then zeros. */
static int write_data(const FhAnswer *answer, const struct nvme_passthru_cmd *command,
                      FhReply *reply)
{
        uint64_t offset = 0;
        size_t available = 0;

        if (command->data_len > MAX_TRANSFER)
                return -EINVAL;
        if (command->opcode == OPCODE_GET_LOG_PAGE)
                offset = command->cdw12 | (uint64_t)command->cdw13 << 32;
        if (offset < answer->size)
                available = answer->size - (size_t)offset;
        return fh_reply_write(reply, command->addr, available > 0 ? answer->bytes + offset : NULL,
                              available, command->data_len);
}

/* The result field is 32 bits at the end of the old layout and 64 bits at the end of the new one.
 */
static int write_result(const FhCall *call, uint32_t result, FhReply *reply)
{
        if (call->request == NVME_IOCTL_ADMIN64_CMD) {
                uint64_t wide = result;

                return fh_reply_write(reply,
                                      call->address + offsetof(struct nvme_passthru_cmd64, result),
                                      &wide, sizeof wide, sizeof wide);
        }
        return fh_reply_write(reply, call->address + offsetof(struct nvme_passthru_cmd, result),
                              &result, sizeof result, sizeof result);
}

static FhVerdict give_answer(FhSupervisor *supervisor, const FhCall *call, const char *node,
                             FhAnswer *answer, const struct nvme_passthru_cmd *command,
                             FhReply *reply)
{
        char outcome[32] = "ok";
        int r = 0;

        answer->used++;
        reply->delay_ms = answer->delay_ms;
        switch (answer->kind) {
        case FH_ANSWER_HANG:
                log_command(supervisor, node, "admin", command, "hang");
                return FH_SILENCE;
        case FH_ANSWER_ERRNO:
                reply->error = answer->error;
                (void)snprintf(outcome, sizeof outcome, "errno=%d", answer->error);
                break;
        case FH_ANSWER_STATUS:
                reply->value = answer->status;
                (void)snprintf(outcome, sizeof outcome, "status=0x%x", answer->status);
                r = write_result(call, answer->result, reply);
                break;
        case FH_ANSWER_BYTES:
                r = write_data(answer, command, reply);
                if (r == 0)
                        r = write_result(call, answer->result, reply);
                break;
        }
        if (r < 0)
                reply->error = -r;
        log_command(supervisor, node, "admin", command, outcome);
        return FH_REPLY;
}

static FhVerdict answer_admin(FhSupervisor *supervisor, const FhCall *call, const char *node,
                              FhReply *reply)
{
        struct nvme_passthru_cmd command;
        FhAnswer *answer;

        /* The 64-bit layout differs after timeout_ms only. */
        reply->error = -fh_caller_read(call, call->address, &command, sizeof command);
        if (reply->error)
                return FH_REPLY;
        if (!fh_caller_can(call, CAP_SYS_ADMIN)) {
                reply->error = EACCES;
                log_command(supervisor, node, "admin", &command, "denied");
                return FH_REPLY;
        }
        answer = find_answer(&supervisor->nvme, node, &command);
        if (answer)
                return give_answer(supervisor, call, node, answer, &command, reply);
        supervisor->n_unexpected++;
        reply->value = STATUS_INVALID_OPCODE;
        log_command(supervisor, node, "admin", &command, "unexpected");
        return FH_REPLY;
}

/* The namespace's number from its attribute; a controller has none. */
static void answer_id(const char *node, FhReply *reply)
{
        char path[128], line[32];
        FILE *file;

        (void)snprintf(path, sizeof path, "/sys/class/block/%s/nsid", node);
        file = fopen(path, "re");
        if (!file) {
                reply->error = ENOTTY;
                return;
        }
        if (fgets(line, sizeof line, file))
                reply->value = strtol(line, NULL, 10);
        (void)fclose(file);
}

FhVerdict fh_nvme_ioctl(FhSupervisor *supervisor, const FhCall *call, FhReply *reply)
{
        struct nvme_passthru_cmd command = {0};
        const char *what = "ioctl";
        char node[32];

        if (find_device(call, node) < 0)
                return FH_CONTINUE;
        switch (call->request) {
        case NVME_IOCTL_ID:
                answer_id(node, reply);
                return FH_REPLY;
        case NVME_IOCTL_ADMIN_CMD:
        case NVME_IOCTL_ADMIN64_CMD:
                return answer_admin(supervisor, call, node, reply);
        case NVME_IOCTL_RESET:
                what = "reset";
                break;
        case NVME_IOCTL_SUBSYS_RESET:
                what = "subsystem-reset";
                break;
        case NVME_IOCTL_RESCAN:
                what = "rescan";
                break;
        case NVME_IOCTL_IO_CMD:
        case NVME_IOCTL_IO64_CMD:
                what = "io";
                (void)fh_caller_read(call, call->address, &command, sizeof command);
                break;
        default:
                break;
        }
        /* No script can allow these. */
        supervisor->n_unexpected++;
        reply->error = ENOTTY;
        log_command(supervisor, node, what, &command, "unexpected");
        return FH_REPLY;
}
