/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers the SIOCETHTOOL requests that a script names; every other one, and all of ethtool's
 * netlink, is the kernel's. */

#include <inttypes.h>
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>

#include "fakehost.h"

enum { MAX_READ = 4096 };

static FhAnswer *find_answer(FhScript *script, const char *interface, const char *command)
{
        for (size_t i = 0; i < script->n_answers; i++) {
                FhAnswer *answer = &script->answers[i];

                if ((answer->times == 0 || answer->used < answer->times) &&
                    (pn_streq(answer->device, "*") || pn_streq(answer->device, interface)) &&
                    (pn_streq(answer->command, "any") || pn_streq(answer->command, command)))
                        return answer;
        }
        return NULL;
}

static const char *name_of(uint32_t command)
{
        switch (command) {
        case ETHTOOL_GDRVINFO:
                return "drvinfo";
        case ETHTOOL_GMODULEINFO:
        case ETHTOOL_GMODULEEEPROM:
                return "module";
        case ETHTOOL_GPERMADDR:
                return "permaddr";
        case ETHTOOL_GLINKSETTINGS:
                return "settings";
        case ETHTOOL_GSTRINGS:
        case ETHTOOL_GSTATS:
                return "stats";
        default:
                return NULL;
        }
}

static void copy_text(char *to, size_t size, const char *from)
{
        (void)snprintf(to, size, "%s", from ? from : "");
}

/* Takes the next "NAME VALUE" line off the front of a file. false at its end. */
static bool next_counter(const FhAnswer *answer, size_t *at, char name[static ETH_GSTRING_LEN + 1],
                         uint64_t *ret)
{
        char line[128];
        size_t n = 0;

        while (*at < answer->size && answer->bytes[*at] != '\n' && n < sizeof line - 1)
                line[n++] = (char)answer->bytes[(*at)++];
        line[n] = '\0';
        if (*at < answer->size)
                (*at)++;
        return sscanf(line, "%32s %" SCNu64, name, ret) == 2;
}

static uint32_t count_counters(const FhAnswer *answer)
{
        char name[ETH_GSTRING_LEN + 1];
        uint64_t value;
        uint32_t n = 0;

        for (size_t at = 0; answer && next_counter(answer, &at, name, &value);)
                n++;
        return n;
}

/* As most kernels do, writes them all whatever the caller has room for. */
static int reply_counters(const FhAnswer *answer, uint32_t command, uint64_t data, FhReply *reply)
{
        enum { MAX_BYTES = 4096 };
        static uint8_t bytes[MAX_BYTES];
        const uint32_t n = count_counters(answer);
        const struct ethtool_gstrings names = {ETHTOOL_GSTRINGS, ETH_SS_STATS, n};
        const struct ethtool_stats values = {ETHTOOL_GSTATS, n};
        size_t size = command == ETHTOOL_GSTATS ? sizeof values : sizeof names;
        const size_t each = command == ETHTOOL_GSTATS ? sizeof(uint64_t) : ETH_GSTRING_LEN;
        char name[ETH_GSTRING_LEN + 1] = "";
        uint64_t value;

        if (size + n * each > sizeof bytes)
                return -ENOMEM;
        memset(bytes, 0, sizeof bytes);
        memcpy(bytes, command == ETHTOOL_GSTATS ? (const void *)&values : &names, size);
        for (size_t at = 0; next_counter(answer, &at, name, &value); size += each) {
                if (command == ETHTOOL_GSTATS)
                        memcpy(bytes + size, &value, sizeof value);
                else
                        memcpy(bytes + size, name, strlen(name));
        }
        return fh_reply_write(reply, data, bytes, size, size);
}

static int reply_drvinfo(const FhAnswer *answer, const FhAnswer *counters, uint64_t data,
                         FhReply *reply)
{
        struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO,
                                       .n_stats = count_counters(counters)};

        copy_text(info.driver, sizeof info.driver, answer->driver);
        copy_text(info.version, sizeof info.version, answer->version);
        copy_text(info.fw_version, sizeof info.fw_version, answer->firmware);
        copy_text(info.bus_info, sizeof info.bus_info, answer->bus);
        return fh_reply_write(reply, data, &info, sizeof info, sizeof info);
}

static int reply_module_info(const FhAnswer *answer, uint64_t data, FhReply *reply)
{
        struct ethtool_modinfo info = {
            .cmd = ETHTOOL_GMODULEINFO,
            .type = answer->module_type ? answer->module_type : ETH_MODULE_SFF_8472,
            .eeprom_len = (uint32_t)answer->size,
        };

        return fh_reply_write(reply, data, &info, sizeof info, sizeof info);
}

static int reply_module_bytes(const FhAnswer *answer, const FhCall *call, uint64_t data,
                              FhReply *reply)
{
        struct ethtool_eeprom request;
        int r = fh_caller_read(call, data, &request, sizeof request);

        if (r < 0)
                return r;
        if (request.len > MAX_READ || request.offset > answer->size ||
            request.len > answer->size - request.offset)
                return -EINVAL;
        return fh_reply_write(reply, data + sizeof request, answer->bytes + request.offset,
                              request.len, request.len);
}

static int reply_permanent_address(const FhAnswer *answer, uint64_t data, FhReply *reply)
{
        struct {
                uint32_t cmd, size;
                uint8_t mac[6];
        } address = {.cmd = ETHTOOL_GPERMADDR, .size = sizeof answer->mac};

        memcpy(address.mac, answer->mac, sizeof address.mac);
        return fh_reply_write(reply, data, &address, sizeof address, 8 + sizeof address.mac);
}

/* The file is what a caller gets who asks with the right number of words for a set of modes: struct
 * ethtool_link_settings and three sets. Who asks with another is told the number, negated. */
static int reply_settings(const FhAnswer *answer, const FhCall *call, uint64_t data, FhReply *reply)
{
        struct ethtool_link_settings asked, settings;
        int r = fh_caller_read(call, data, &asked, sizeof asked);

        if (r < 0)
                return r;
        if (answer->size < sizeof settings)
                return -EINVAL;
        memcpy(&settings, answer->bytes, sizeof settings);
        if (settings.link_mode_masks_nwords <= 0 ||
            answer->size != sizeof settings + 12 * (size_t)settings.link_mode_masks_nwords)
                return -EINVAL;
        if (asked.link_mode_masks_nwords == settings.link_mode_masks_nwords)
                return fh_reply_write(reply, data, answer->bytes, answer->size, answer->size);
        settings = (struct ethtool_link_settings){
            .cmd = ETHTOOL_GLINKSETTINGS,
            .link_mode_masks_nwords = (int8_t)-settings.link_mode_masks_nwords,
        };
        return fh_reply_write(reply, data, &settings, sizeof settings, sizeof settings);
}

FhVerdict fh_ethtool_ioctl(FhSupervisor *supervisor, const FhCall *call, FhReply *reply)
{
        struct ethtool_eeprom eeprom;
        struct ifreq request;
        char where[64] = "";
        const char *name;
        FhAnswer *answer;
        uint32_t command;
        uint64_t data;
        int r = 0;

        if (fh_caller_read(call, call->address, &request, sizeof request) < 0)
                return FH_CONTINUE;
        request.ifr_name[IFNAMSIZ - 1] = '\0';
        data = (uintptr_t)request.ifr_data;
        if (fh_caller_read(call, data, &command, sizeof command) < 0)
                return FH_CONTINUE;
        name = name_of(command);
        answer = name ? find_answer(&supervisor->ethtool, request.ifr_name, name) : NULL;
        if (!answer)
                return FH_CONTINUE;

        supervisor->n_commands++;
        if (command == ETHTOOL_GMODULEEEPROM &&
            fh_caller_read(call, data, &eeprom, sizeof eeprom) == 0)
                (void)snprintf(where, sizeof where, " offset=%u length=%u", eeprom.offset,
                               eeprom.len);
        fh_log(supervisor, "%s ethtool %s command=0x%02x%s", request.ifr_name, name, command,
               where);
        if (pn_streq(name, "module") && !fh_caller_can(call, CAP_NET_ADMIN)) {
                reply->error = EPERM;
                return FH_REPLY;
        }
        answer->used++;
        reply->delay_ms = answer->delay_ms;
        if (answer->kind == FH_ANSWER_HANG)
                return FH_SILENCE;
        if (answer->kind != FH_ANSWER_BYTES) {
                reply->error = answer->error ? answer->error : EIO;
                return FH_REPLY;
        }
        switch (command) {
        case ETHTOOL_GDRVINFO:
                r = reply_drvinfo(answer,
                                  find_answer(&supervisor->ethtool, request.ifr_name, "stats"),
                                  data, reply);
                break;
        case ETHTOOL_GSTRINGS:
        case ETHTOOL_GSTATS:
                r = reply_counters(answer, command, data, reply);
                break;
        case ETHTOOL_GMODULEINFO:
                r = reply_module_info(answer, data, reply);
                break;
        case ETHTOOL_GMODULEEEPROM:
                r = reply_module_bytes(answer, call, data, reply);
                break;
        case ETHTOOL_GPERMADDR:
                r = reply_permanent_address(answer, data, reply);
                break;
        case ETHTOOL_GLINKSETTINGS:
                r = reply_settings(answer, call, data, reply);
                break;
        default:
                break;
        }
        reply->error = -r;
        return FH_REPLY;
}
