/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hears of devices and links, and tells the manager which sources that touches. What comes is only
 * ever a reason to look: nothing of it is believed beyond that, and how often somebody looks is
 * bounded by the manager. */

#include "hotplug.h"

#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "log.h"
#include "uevent.h"

/* udev's broadcast, sent when it is done with an event; group 1 has the kernel's own. */
#define GROUP_UDEV 2

/* After clients, and after the lines of probes, which a storm must not hold up: what is not read in
 * time overflows, and is one event more. */
#define PRIORITY (SD_EVENT_PRIORITY_NORMAL + 20)

/* What may wait in a socket; where we may not have that much, the kernel gives what we may. */
#define RECEIVE_BUFFER (2 << 20)

/* Messages between two looks at whoever else waits. */
#define MESSAGES_MAX 256

/* Far more than the largest message: 8 KiB of properties, 4 KiB of an interface. */
#define MESSAGE_SIZE ((size_t)32 << 10)

/* Interfaces that are remembered. Beyond them each notification counts as a difference. */
#define LINKS_MAX 1024

typedef struct Link {
        int32_t index;
        char name[16];
        PnLinkState state;
} Link;

struct PnHotplug {
        sd_event *event;
        PnManager *manager;
        sd_event_source *uevents, *links;
        Link *known; /* as they were last told, in no order */
        size_t n_known, capacity;
        uint8_t message[MESSAGE_SIZE];
};

/* ---- Devices ---- */

static const char *const subsystems[] = {"pci", "nvme", "block", "net", "hwmon"};

/* A drive that is handed to a guest goes from its driver before it comes to the guest's: what one
 * source says of it is to be read together with what the other does. */
static PnSourceSet sources_of_function(const PnUevent *event)
{
        unsigned long class = event->pci_class ? strtoul(event->pci_class, NULL, 16) : 0;
        PnSourceSet sources = 1u << PN_SOURCE_pci;

        if (class == 0 || class >> 8 == 0x0108)
                sources |= 1u << PN_SOURCE_nvme;
        if (class == 0 || class >> 16 == 0x02)
                sources |= 1u << PN_SOURCE_net;
        return sources;
}

static PnSourceSet sources_of(const PnUevent *event)
{
        const char *name = strrchr(event->devpath, '/');
        bool comes = pn_streq(event->action, "add"), goes = pn_streq(event->action, "remove");

        if (pn_streq(event->subsystem, "pci"))
                return sources_of_function(event);
        if (pn_streq(event->subsystem, "nvme"))
                /* A change is also how a drive says that its health got worse. */
                return 1u << PN_SOURCE_nvme | 1u << PN_SOURCE_health |
                       (comes || goes ? 1u << PN_SOURCE_pci : 0);
        if (pn_streq(event->subsystem, "block")) {
                /* udev tells of a change each time when somebody closes what he had open for
                 * writing: volumes of guests do that all day. They are no hardware; who uses a
                 * drive for what is seen when the manager next reads by itself. */
                if (pn_startswith(event->devpath, "/devices/virtual/block/"))
                        return 0;
                return 1u << PN_SOURCE_block |
                       (name && pn_startswith(name, "/nvme") ? 1u << PN_SOURCE_nvme : 0);
        }
        if (pn_streq(event->subsystem, "net")) {
                /* Guests' interfaces; of bonds, rtnetlink tells. */
                if (pn_startswith(event->devpath, "/devices/virtual/"))
                        return 0;
                return 1u << PN_SOURCE_net | (comes ? 1u << PN_SOURCE_module : 0);
        }
        if (pn_streq(event->subsystem, "hwmon"))
                return 1u << PN_SOURCE_sensors;
        return 0;
}

/* Lets the kernel drop what is of another subsystem, so that we sleep through it. Without it we
 * drop it ourselves. */
static void set_filter(int fd)
{
        enum { N = PN_ELEMENTS(subsystems) };
        struct sock_filter code[2 + 1 + N + 2];
        struct sock_fprog program = {.filter = code};
        unsigned n = 0;

        code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, PN_UEVENT_AT_MAGIC);
        code[n++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PN_UEVENT_MAGIC, 0, 1 + N);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, PN_UEVENT_AT_SUBSYSTEM);
        for (unsigned i = 0; i < N; i++)
                code[n++] = (struct sock_filter)BPF_JUMP(
                    BPF_JMP | BPF_JEQ | BPF_K, pn_uevent_hash(subsystems[i]), (uint8_t)(N - i), 0);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
        program.len = (unsigned short)n;
        (void)setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

/* ---- Links ---- */

/* Whether the inventory has it as a thing of hardware, or as a bond of such things. */
static bool is_listed(const PnHotplug *hotplug, const char *name)
{
        const PnSnapshot *snapshot = pn_manager_snapshot(hotplug->manager);

        for (unsigned i = 0; snapshot && i < snapshot->inventory.nics.n; i++) {
                const PnNic *nic = &snapshot->inventory.nics.v[i];

                if (pn_text_is(&nic->name, name))
                        return pn_text_is(&nic->kind, "physical") || pn_text_is(&nic->kind, "bond");
        }
        return false;
}

/* Whether the inventory can be asked what it leaves out. */
static bool is_complete(const PnHotplug *hotplug)
{
        const PnSnapshot *snapshot = pn_manager_snapshot(hotplug->manager);

        return snapshot && snapshot->inventory.sources.n > PN_SOURCE_net &&
               pn_text_is(&snapshot->inventory.sources.v[PN_SOURCE_net].state, "fresh");
}

static Link *find_link(PnHotplug *hotplug, int32_t index)
{
        for (size_t i = 0; i < hotplug->n_known; i++)
                if (hotplug->known[i].index == index)
                        return &hotplug->known[i];
        return NULL;
}

/* NULL when there are too many, or memory is short. */
static Link *add_link(PnHotplug *hotplug, int32_t index)
{
        if (hotplug->n_known == hotplug->capacity) {
                size_t capacity = hotplug->capacity ? hotplug->capacity * 2 : 16;
                Link *bigger;

                if (capacity > LINKS_MAX)
                        return NULL;
                bigger = reallocarray(hotplug->known, capacity, sizeof *bigger);
                if (!bigger)
                        return NULL;
                hotplug->known = bigger;
                hotplug->capacity = capacity;
        }
        hotplug->known[hotplug->n_known] = (Link){.index = index};
        return &hotplug->known[hotplug->n_known++];
}

/* Guests' interfaces come and go by the hundred, and are never asked for: a virtual interface
 * counts if it is a bond, or if the inventory says that it is none. The driver of a real one gives
 * no kind. Of real ones that the inventory leaves out (virtual functions), that they come and go
 * counts. */
static PnSourceSet sources_of_link(PnHotplug *hotplug, const PnLinkEvent *event)
{
        Link *link = find_link(hotplug, event->index);
        bool listed = is_listed(hotplug, event->name) || (link && is_listed(hotplug, link->name));
        bool watched = listed || !*event->kind || pn_streq(event->kind, "bond");
        PnSourceSet sources = 0;

        if (event->is_loopback)
                return 0;
        if (event->is_gone) {
                if (link)
                        *link = hotplug->known[--hotplug->n_known];
                return watched ? 1u << PN_SOURCE_net : 0;
        }
        if (!watched && !link && !event->is_answer)
                return 0;
        if (watched && !event->is_answer) {
                if (!link || !pn_streq(link->name, event->name) ||
                    ((listed || !is_complete(hotplug)) &&
                     memcmp(&link->state, &event->state, sizeof link->state) != 0))
                        sources = 1u << PN_SOURCE_net;
                /* Who plugs something in wants to see what it is. */
                if (sources && link && !pn_link_is_up(&link->state) && pn_link_is_up(&event->state))
                        sources |= 1u << PN_SOURCE_module;
        }
        if (!link)
                link = add_link(hotplug, event->index);
        if (link) {
                link->state = event->state;
                memcpy(link->name, event->name, sizeof link->name);
        }
        return sources;
}

/* Asks for all links as they are, without their statistics and never with virtual functions, for
 * which the kernel would ask the card. If it cannot, the first notification of each is a
 * difference. */
static void ask_links(int fd)
{
        struct {
                struct nlmsghdr header;
                struct ifinfomsg body;
                struct nlattr mask;
                uint32_t skipped;
        } request = {
            .header = {.nlmsg_len = sizeof request,
                       .nlmsg_type = RTM_GETLINK,
                       .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
            .mask = {sizeof request.mask + sizeof request.skipped, IFLA_EXT_MASK},
            .skipped = RTEXT_FILTER_SKIP_STATS,
        };
        const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};

        (void)sendto(fd, &request, sizeof request, MSG_DONTWAIT, (const struct sockaddr *)&kernel,
                     sizeof kernel);
}

/* ---- Sockets ---- */

/* One message, and who it is from: -EAGAIN, -ENOBUFS when some were lost, -EMSGSIZE for one that is
 * too long, -EPERM for one that is not from where it should be. */
static ssize_t receive(PnHotplug *hotplug, int fd, bool by_kernel)
{
        union {
                struct cmsghdr header;
                uint8_t space[CMSG_SPACE(sizeof(struct ucred))];
        } control;
        struct sockaddr_nl from = {0};
        struct iovec part = {hotplug->message, sizeof hotplug->message};
        struct msghdr message = {
            .msg_name = &from,
            .msg_namelen = sizeof from,
            .msg_iov = &part,
            .msg_iovlen = 1,
            .msg_control = &control,
            .msg_controllen = sizeof control,
        };
        const struct cmsghdr *header;
        struct ucred sender;
        ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

        if (n < 0)
                return -errno;
        if (message.msg_flags & MSG_TRUNC)
                return -EMSGSIZE;
        if (by_kernel)
                return from.nl_pid == 0 ? n : -EPERM;
        /* udevd is root's, and speaks to its group. */
        header = CMSG_FIRSTHDR(&message);
        if (from.nl_groups != GROUP_UDEV || !header || header->cmsg_level != SOL_SOCKET ||
            header->cmsg_type != SCM_CREDENTIALS || header->cmsg_len < CMSG_LEN(sizeof sender))
                return -EPERM;
        memcpy(&sender, CMSG_DATA(header), sizeof sender);
        return sender.uid == 0 ? n : -EPERM;
}

static void stop(sd_event_source **source, const char *what, int error)
{
        pn_log(PN_LOG_WARNING, "no more events of %s: %s", what, strerror(-error));
        *source = sd_event_source_disable_unref(*source);
}

static int on_uevent(sd_event_source *source _unused_, int fd, uint32_t events _unused_,
                     void *userdata)
{
        PnHotplug *hotplug = userdata;
        PnSourceSet touched = 0;

        for (unsigned i = 0; i < MESSAGES_MAX; i++) {
                ssize_t n = receive(hotplug, fd, /* by_kernel= */ false);
                PnUevent event;

                if (n == -EAGAIN)
                        break;
                if (n == -ENOBUFS || n == -EMSGSIZE)
                        touched = PN_ALL_SOURCES;
                else if (n < 0 && n != -EPERM && n != -EINTR) {
                        stop(&hotplug->uevents, "devices", (int)n);
                        break;
                } else if (n > 0 && pn_uevent_parse(hotplug->message, (size_t)n, &event) == 0)
                        touched |= sources_of(&event);
        }
        pn_manager_touch(hotplug->manager, touched);
        return 0;
}

static int on_link(sd_event_source *source _unused_, int fd, uint32_t events _unused_,
                   void *userdata)
{
        PnHotplug *hotplug = userdata;
        PnSourceSet touched = 0;

        for (unsigned i = 0; i < MESSAGES_MAX; i++) {
                ssize_t n = receive(hotplug, fd, /* by_kernel= */ true);
                size_t offset = 0;
                PnLinkEvent event;

                if (n == -EAGAIN)
                        break;
                if (n == -ENOBUFS || n == -EMSGSIZE) {
                        /* What was known may be out of date. */
                        hotplug->n_known = 0;
                        ask_links(fd);
                        touched |= 1u << PN_SOURCE_net;
                } else if (n < 0 && n != -EPERM && n != -EINTR) {
                        stop(&hotplug->links, "links", (int)n);
                        break;
                }
                while (n > 0 &&
                       pn_link_event_next(hotplug->message, (size_t)n, &offset, &event) > 0)
                        touched |= sources_of_link(hotplug, &event);
        }
        pn_manager_touch(hotplug->manager, touched);
        return 0;
}

/* Begins to listen to a bound socket, which is ours from then on. */
static int watch(PnHotplug *hotplug, int fd, bool by_kernel)
{
        sd_event_source **at = by_kernel ? &hotplug->links : &hotplug->uevents;
        int r, on = 1;

        if (*at)
                return -EEXIST;
        if (!by_kernel) {
                if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0)
                        return -errno;
                set_filter(fd);
        }
        r = sd_event_add_io(hotplug->event, at, fd, EPOLLIN, by_kernel ? on_link : on_uevent,
                            hotplug);
        if (r < 0)
                return r;
        (void)sd_event_source_set_priority(*at, PRIORITY);
        (void)sd_event_source_set_io_fd_own(*at, true);
        if (by_kernel)
                ask_links(fd);
        return 0;
}

static int open_socket(PnHotplug *hotplug, bool by_kernel)
{
        struct sockaddr_nl address = {
            .nl_family = AF_NETLINK,
            .nl_groups = by_kernel ? RTMGRP_LINK : GROUP_UDEV,
        };
        _cleanup_close_ int fd = -1;
        int size = RECEIVE_BUFFER, r;

        fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    by_kernel ? NETLINK_ROUTE : NETLINK_KOBJECT_UEVENT);
        if (fd < 0)
                return -errno;
        if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) < 0)
                (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
        if (bind(fd, (const struct sockaddr *)&address, sizeof address) < 0)
                return -errno;
        r = watch(hotplug, fd, by_kernel);
        if (r >= 0)
                (void)PN_STEAL_FD(fd);
        return r;
}

int pn_hotplug_new(sd_event *event, PnManager *manager, PnHotplug **ret)
{
        PnHotplug *hotplug = calloc(1, sizeof *hotplug);

        if (!hotplug)
                return -ENOMEM;
        hotplug->event = sd_event_ref(event);
        hotplug->manager = manager;
        *ret = hotplug;
        return 0;
}

void pn_hotplug_free(PnHotplug *hotplug)
{
        if (!hotplug)
                return;
        sd_event_source_disable_unref(hotplug->uevents);
        sd_event_source_disable_unref(hotplug->links);
        free(hotplug->known);
        sd_event_unref(hotplug->event);
        free(hotplug);
}

int pn_hotplug_adopt(PnHotplug *hotplug, int fd)
{
        int domain, protocol, r;
        socklen_t size = sizeof domain;

        if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0 || domain != AF_NETLINK)
                return 0;
        size = sizeof protocol;
        if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) < 0)
                return -errno;
        if (protocol != NETLINK_ROUTE && protocol != NETLINK_KOBJECT_UEVENT)
                return -EPROTONOSUPPORT;
        r = watch(hotplug, fd, protocol == NETLINK_ROUTE);
        return r < 0 ? r : 1;
}

void pn_hotplug_start(PnHotplug *hotplug)
{
        int devices = hotplug->uevents ? 0 : open_socket(hotplug, /* by_kernel= */ false);
        int links = hotplug->links ? 0 : open_socket(hotplug, /* by_kernel= */ true);

        if (devices < 0 || links < 0)
                pn_log(PN_LOG_NOTICE,
                       "changes of %s are not told to us (%s): they are seen at the next reading",
                       devices == 0 ? "links"
                       : links == 0 ? "devices"
                                    : "devices and links",
                       strerror(devices < 0 ? -devices : -links));
}
