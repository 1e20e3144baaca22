/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Listeners and connections. A request costs one read and one write; answers are shared with the
 * snapshot and not copied; a connection that waits for its next request has no buffer and no
 * timer. One coarse timer watches those that take too long, and runs only while there are any. */

#include "server.h"

#include <linux/sockios.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "listen.h"
#include "log.h"
#include "methods.h"
#include "wire.h"

#define LISTENERS_MAX 8
#define TICK          ((uint64_t)1000 * 1000)

/* Of the connections, the part that is kept for the administrator. */
#define RESERVED_PART (PN_CONNECTIONS_MAX / PN_CONNECTIONS_RESERVED)

/* What the daemon itself may have open: each source three pipes, the journal, netlink, the state.
 */
#define DESCRIPTORS_OF_OURS 64

/* How long, and for how much, a connection that we end is read on: closed with bytes unread, the
 * kernel would tell the client of a reset instead of our last words. */
#define LINGER_SECONDS   2
#define LINGER_BYTES_MAX ((size_t)1 << 20)

typedef enum Waiting {
        WAITING_NOT = 0,
        WAITING_SNAPSHOT, /* the call is held until there is one */
        WAITING_REFRESH,  /* the answer comes when the reading has ended */
        WAITING_CHANGE,   /* a subscription */
} Waiting;

typedef struct Out {
        PnBlob *blob;
        char ending;
} Out;

typedef struct Peer {
        PnServer *server;
        struct Peer *next, **at;
        sd_event_source *io;
        int fd;
        uid_t uid;
        uint32_t events; /* that the loop watches for */

        PnWire in;
        bool eof;     /* nothing more comes */
        bool closing; /* after what is queued, the end */
        bool shut;    /* we have said that nothing more comes from us */
        size_t lingered;

        Out out[PN_IN_FLIGHT_MAX + 1]; /* a ring; one more for the last words */
        unsigned first, n_out;
        size_t sent; /* of the first */
        int unread;  /* bytes that the client had not read at the last look */

        Waiting waiting;
        char ending;         /* of the request that waits */
        PnCall call;         /* WAITING_SNAPSHOT */
        PnSourceSet sources; /* WAITING_REFRESH */
        PnSnapshot *last;    /* WAITING_CHANGE: what the subscriber has */

        /* Since when, on CLOCK_MONOTONIC, µs; 0 for not. */
        uint64_t partial_since, stalled_since, held_since, closing_since;
        uint64_t heard; /* when something came last */
} Peer;

typedef struct Listener {
        PnServer *server;
        PnListener socket;
        sd_event_source *io;     /* NULL while the socket is gone and cannot be made again */
        sd_event_source *folder; /* watches where the socket is; NULL if that cannot be watched */
        bool complained;
} Listener;

struct PnServer {
        sd_event *event;
        PnManager *manager;
        sd_event_source *tick;
        bool ticking;
        bool paused; /* no descriptors left: no accept() until the next tick */
        Listener listeners[LISTENERS_MAX];
        unsigned n_listeners;
        Peer *peers;
        unsigned n_peers, most;

        /* The last event that was made, for it is the same for nearly every subscriber; no blob if
         * there was nothing to tell. */
        PnSnapshot *event_before, *event_after;
        PnBlob *event_blob;

        /* The last question that was answered from the current snapshot, byte by byte. */
        char known_question[256];
        size_t known_length;
        PnBlob *known_answer;
};

static uint64_t now_usec(const PnServer *server)
{
        uint64_t now = 1;

        (void)sd_event_now(server->event, CLOCK_MONOTONIC, &now);
        return now;
}

static void start_ticking(PnServer *server)
{
        if (server->ticking)
                return;
        server->ticking = true;
        (void)sd_event_source_set_time_relative(server->tick, TICK);
        (void)sd_event_source_set_enabled(server->tick, SD_EVENT_ONESHOT);
}

/* Starts or stops the clock of something that must not take for ever. */
static void watch(Peer *peer, uint64_t *since, bool on)
{
        if (!on)
                *since = 0;
        else if (*since == 0) {
                *since = now_usec(peer->server);
                start_ticking(peer->server);
        }
}

static void peer_free(Peer *peer)
{
        *peer->at = peer->next;
        if (peer->next)
                peer->next->at = peer->at;
        peer->server->n_peers--;
        sd_event_source_disable_unref(peer->io);
        pn_close(peer->fd);
        pn_wire_done(&peer->in);
        while (peer->n_out > 0) {
                pn_blob_unref(peer->out[peer->first].blob);
                peer->first = (peer->first + 1) % PN_ELEMENTS(peer->out);
                peer->n_out--;
        }
        pn_call_done(&peer->call);
        pn_snapshot_unref(peer->last);
        free(peer);
}

/* Queues an answer, whose reference it takes. There is room: the caller has looked. */
static void push(Peer *peer, PnBlob *blob, char ending)
{
        unsigned i = (peer->first + peer->n_out) % PN_ELEMENTS(peer->out);

        peer->out[i] = (Out){blob, ending};
        peer->n_out++;
}

/* The last words to a client, after which the connection ends. 0 or -ENOMEM. */
static int push_last(Peer *peer, const char *error, const char *name, const char *value)
{
        PnBlob *blob = pn_error_answer(error, name, value);

        if (!blob)
                return -ENOMEM;
        push(peer, blob, peer->ending);
        peer->closing = true;
        return 0;
}

static int refuse_request(Peer *peer, const char *reason)
{
        return push_last(peer, PN_INTERFACE ".InvalidRequest", "reason", reason);
}

/* Takes note of what was sent: whole answers, and a part of the next. */
static void sent(Peer *peer, size_t n)
{
        peer->sent += n;
        while (peer->n_out > 0) {
                Out *out = &peer->out[peer->first];

                if (peer->sent < out->blob->length + 1)
                        return;
                peer->sent -= out->blob->length + 1;
                pn_blob_unref(out->blob);
                peer->first = (peer->first + 1) % PN_ELEMENTS(peer->out);
                peer->n_out--;
        }
}

/* Sends what is queued, as far as the client takes it: one call for all of it. 0 or -errno, and
 * then the connection is dead. */
static int flush(Peer *peer)
{
        struct iovec parts[2 * PN_ELEMENTS(peer->out)];
        struct msghdr message = {.msg_iov = parts};
        ssize_t n;

        if (peer->n_out == 0)
                return 0;
        for (unsigned k = 0; k < peer->n_out; k++) {
                Out *out = &peer->out[(peer->first + k) % PN_ELEMENTS(peer->out)];
                size_t skip = k == 0 ? peer->sent : 0;

                /* A blob has a NUL behind it. */
                size_t length = out->blob->length + (out->ending == '\0');

                if (skip < length)
                        parts[message.msg_iovlen++] =
                            (struct iovec){out->blob->data + skip, length - skip};
                if (out->ending != '\0')
                        parts[message.msg_iovlen++] = (struct iovec){&out->ending, 1};
        }
        do
                n = sendmsg(peer->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        while (n < 0 && errno == EINTR);
        if (n < 0 && errno != EAGAIN)
                return -errno;
        if (n > 0) {
                peer->stalled_since = 0;
                sent(peer, (size_t)n);
        }
        watch(peer, &peer->stalled_since, peer->n_out > 0);
        return 0;
}

static void forget_event(PnServer *server)
{
        pn_blob_unref(PN_STEAL(server->event_blob));
        pn_snapshot_unref(PN_STEAL(server->event_before));
        pn_snapshot_unref(PN_STEAL(server->event_after));
}

/* Queues the newest status for a subscriber that has taken all before. 0 or -ENOMEM. */
static int push_event(Peer *peer)
{
        PnServer *server = peer->server;
        PnSnapshot *now = pn_manager_snapshot(server->manager);

        if (peer->last == now)
                return 0;
        if (server->event_before != peer->last || server->event_after != now) {
                _cleanup_(pn_blob_unrefp) PnBlob *blob = NULL;
                _cleanup_buf_ PnBuf buf = {0};

                if (pn_snapshot_differs(peer->last, now)) {
                        if (pn_snapshot_event(peer->last, now, &buf) < 0 ||
                            !(blob = pn_blob_new(&buf)))
                                return -ENOMEM;
                }
                forget_event(server);
                server->event_blob = PN_STEAL(blob);
                server->event_before = pn_snapshot_ref(peer->last);
                server->event_after = pn_snapshot_ref(now);
        }
        if (server->event_blob)
                push(peer, pn_blob_ref(server->event_blob), peer->ending);
        pn_snapshot_unref(peer->last);
        peer->last = pn_snapshot_ref(now);
        return 0;
}

static void forget_question(PnServer *server)
{
        pn_blob_unref(PN_STEAL(server->known_answer));
        server->known_length = 0;
}

/* Keeps a question and its answer: programs that watch ask the same again and again. */
static void learn(PnServer *server, const PnMessage *message, PnBlob *blob)
{
        if (message->length > sizeof server->known_question)
                return;
        forget_question(server);
        memcpy(server->known_question, message->text, message->length);
        server->known_length = message->length;
        server->known_answer = pn_blob_ref(blob);
}

static bool is_known(const PnServer *server, const PnMessage *message)
{
        return server->known_answer && message->length == server->known_length &&
               memcmp(message->text, server->known_question, message->length) == 0;
}

/* Answers a call, or lets it wait; the call stays the caller's. `message` is what it came in, or
 * NULL if that is gone. 0 or -ENOMEM. */
static int answer(Peer *peer, const PnCall *call, const PnMessage *message)
{
        PnServer *server = peer->server;
        PnAnswer got;
        int r;

        r = pn_methods_answer(server->manager, call, peer->fd, &got);
        if (r < 0)
                return r;
        if (got.blob && call->oneway) {
                pn_blob_unref(got.blob);
                return 0;
        }
        if (got.blob) {
                if (got.repeatable && message)
                        learn(server, message, got.blob);
                push(peer, got.blob, peer->ending);
        }
        switch (got.kind) {
        case PN_ANSWER_NOW:
                break;
        case PN_ANSWER_HELD:
                peer->waiting = WAITING_SNAPSHOT;
                watch(peer, &peer->held_since, true);
                break;
        case PN_ANSWER_REFRESH:
                if (call->oneway)
                        break;
                peer->waiting = WAITING_REFRESH;
                peer->sources = got.wait;
                break;
        case PN_ANSWER_SUBSCRIBE:
                peer->waiting = WAITING_CHANGE;
                peer->last = pn_snapshot_ref(pn_manager_snapshot(server->manager));
                break;
        }
        return 0;
}

/* One message from the client. 0 or -ENOMEM. */
static int receive(Peer *peer, const PnMessage *message)
{
        _cleanup_free_ char *error = NULL, *member = NULL;
        _cleanup_(pn_call_done) PnCall call = {0};
        int r;

        peer->ending = message->ending;
        if (is_known(peer->server, message)) {
                push(peer, pn_blob_ref(peer->server->known_answer), peer->ending);
                return 0;
        }
        r = pn_call_parse(message->text, message->length, &call, &error, &member);
        if (r == -EBADMSG)
                return refuse_request(peer, error ? error : "not JSON");
        if (r == -EINVAL) {
                PnBlob *blob = pn_error_answer(PN_SERVICE ".InvalidParameter", "parameter",
                                               member ? member : "?");

                if (!blob)
                        return -ENOMEM;
                push(peer, blob, peer->ending);
                return 0;
        }
        if (r < 0)
                return r;
        r = answer(peer, &call, message);
        if (r >= 0 && peer->waiting == WAITING_SNAPSHOT) {
                peer->call = call;
                call = (PnCall){0};
        }
        return r;
}

/* Whether the next request may be taken up: answers come in the order of their questions, and not
 * too many at once. */
static bool is_open(const Peer *peer)
{
        return !peer->closing && peer->waiting == WAITING_NOT && peer->n_out < PN_IN_FLIGHT_MAX;
}

/* Takes up what has been received. 0 or -errno. */
static int take_up(Peer *peer)
{
        while (is_open(peer)) {
                PnMessage message;
                int r = pn_wire_next(&peer->in, &message);

                if (r == 0)
                        break;
                if (r > 0) {
                        peer->partial_since = 0;
                        r = receive(peer, &message);
                } else if (r == -EMSGSIZE)
                        r = refuse_request(peer, "the request is longer than 64 KiB");
                if (r < 0)
                        return r;
        }
        if (peer->eof && is_open(peer) && pn_wire_is_partial(&peer->in)) {
                int r =
                    refuse_request(peer, "the request is not complete: a NUL or a newline ends it");

                if (r < 0)
                        return r;
        }
        watch(peer, &peer->partial_since, !peer->closing && pn_wire_is_partial(&peer->in));
        return 0;
}

static int set_events(Peer *peer)
{
        uint32_t events = 0;
        int r;

        if (!peer->eof && (peer->shut || (is_open(peer) && !pn_wire_has_bytes(&peer->in))))
                events |= EPOLLIN;
        if (peer->n_out > 0)
                events |= EPOLLOUT;
        if (events == peer->events)
                return 0;
        r = sd_event_source_set_io_events(peer->io, events);
        if (r < 0)
                return r;
        peer->events = events;
        return 0;
}

/* Does all that can be done now; false if the connection is over. */
static bool advance(Peer *peer)
{
        do {
                if (take_up(peer) < 0 || flush(peer) < 0)
                        return false;
                /* Only with all of the last event gone: were the rest of it sent here, nobody would
                 * come back for the next. */
                if (peer->waiting == WAITING_CHANGE && peer->n_out == 0 &&
                    (push_event(peer) < 0 || flush(peer) < 0))
                        return false;
                /* Once more if there is room again for what was left lying. */
        } while (is_open(peer) && pn_wire_has_bytes(&peer->in));
        if (peer->n_out == 0 && peer->closing && !peer->shut) {
                peer->shut = true;
                (void)shutdown(peer->fd, SHUT_WR);
                watch(peer, &peer->closing_since, true);
        }
        if (peer->eof && peer->n_out == 0 && (peer->closing || peer->waiting == WAITING_NOT))
                return false;
        return set_events(peer) >= 0;
}

/* Reads once. Only a read that filled the buffer is followed by another, when the loop says so. */
static int read_some(Peer *peer)
{
        char *at, scratch[4096];
        size_t room;
        ssize_t n;
        int r;

        if (peer->closing) {
                at = scratch;
                room = sizeof scratch;
        } else {
                r = pn_wire_reserve(&peer->in, &at, &room);
                if (r < 0)
                        return r;
        }
        peer->heard = now_usec(peer->server);
        n = recv(peer->fd, at, room, MSG_DONTWAIT);
        if (n < 0)
                return errno == EAGAIN || errno == EINTR ? 0 : -errno;
        if (n == 0)
                peer->eof = true;
        else if (peer->closing) {
                peer->lingered += (size_t)n;
                if (peer->lingered > LINGER_BYTES_MAX)
                        return -EMSGSIZE;
        } else
                pn_wire_filled(&peer->in, (size_t)n);
        return 0;
}

static int on_peer(sd_event_source *io _unused_, int fd _unused_, uint32_t events, void *userdata)
{
        Peer *peer = userdata;
        bool gone = false;

        if (events & EPOLLIN)
                gone = read_some(peer) < 0;
        else if (events & (EPOLLHUP | EPOLLERR))
                gone = true; /* and there is nobody left to wait with */
        if (gone || !advance(peer))
                peer_free(peer);
        return 0;
}

/* Whether the client has read something since the last look. The kernel takes more of us only when
 * most of what it holds has been read, which a client that reads a little at a time needs long
 * for. */
static bool has_read(Peer *peer)
{
        int before = peer->unread;

        if (ioctl(peer->fd, SIOCOUTQ, &peer->unread) < 0)
                return false;
        return peer->unread < before;
}

/* One look at the clock for a connection; false if it is over. */
static bool check_clock(Peer *peer, uint64_t now, bool *watched)
{
        const uint64_t second = 1000 * 1000;

        if (peer->stalled_since && has_read(peer))
                peer->stalled_since = now;
        if (peer->stalled_since && now - peer->stalled_since >= PN_STALL_SECONDS * second)
                return false;
        if (peer->closing_since && now - peer->closing_since >= LINGER_SECONDS * second)
                return false;
        if (peer->partial_since && now - peer->partial_since >= PN_REQUEST_SECONDS * second) {
                peer->partial_since = 0;
                peer->ending = '\0';
                if (refuse_request(peer, "the request did not end within 10 s") < 0 ||
                    !advance(peer))
                        return false;
        }
        if (peer->held_since && now - peer->held_since >= PN_HOLD_SECONDS * second) {
                PnBlob *blob = pn_error_answer(PN_INTERFACE ".NotReady", NULL, NULL);

                if (!blob)
                        return false;
                peer->held_since = 0;
                peer->waiting = WAITING_NOT;
                if (peer->call.oneway)
                        pn_blob_unref(blob);
                else
                        push(peer, blob, peer->ending);
                pn_call_done(&peer->call);
                if (!advance(peer))
                        return false;
        }
        *watched = *watched || peer->stalled_since || peer->closing_since || peer->partial_since ||
                   peer->held_since;
        return true;
}

static void set_listening(PnServer *server, bool on)
{
        server->paused = !on;
        for (unsigned i = 0; i < server->n_listeners; i++)
                if (server->listeners[i].io)
                        (void)sd_event_source_set_enabled(server->listeners[i].io,
                                                          on ? SD_EVENT_ON : SD_EVENT_OFF);
}

static bool find_lost_sockets(PnServer *server);

static int on_tick(sd_event_source *tick _unused_, uint64_t usec _unused_, void *userdata)
{
        PnServer *server = userdata;
        uint64_t now = now_usec(server);
        bool watched = false;

        if (server->paused)
                set_listening(server, true);
        for (Peer *peer = server->peers, *next; peer; peer = next) {
                next = peer->next;
                if (!check_clock(peer, now, &watched))
                        peer_free(peer);
        }
        server->ticking = false;
        watched |= find_lost_sockets(server);
        if (watched)
                start_ticking(server);
        return 0;
}

/* After a new snapshot; false if the connection is over. */
static bool resume(Peer *peer)
{
        switch (peer->waiting) {
        case WAITING_NOT:
                return true;
        case WAITING_SNAPSHOT: {
                _cleanup_(pn_call_done) PnCall call = peer->call;

                peer->call = (PnCall){0};
                peer->waiting = WAITING_NOT;
                peer->held_since = 0;
                if (answer(peer, &call, NULL) < 0)
                        return false;
                break;
        }
        case WAITING_REFRESH: {
                PnBlob *blob;

                if (peer->sources & pn_manager_busy(peer->server->manager))
                        return true;
                blob = pn_refresh_answer(peer->server->manager);
                if (!blob)
                        return false;
                peer->waiting = WAITING_NOT;
                push(peer, blob, peer->ending);
                break;
        }
        case WAITING_CHANGE:
                break;
        }
        return advance(peer);
}

void pn_server_on_snapshot(PnServer *server, PnSnapshot *before _unused_, PnSnapshot *now _unused_)
{
        forget_question(server);
        (void)find_lost_sockets(server);
        for (Peer *peer = server->peers, *next; peer; peer = next) {
                next = peer->next;
                if (!resume(peer))
                        peer_free(peer);
        }
        /* Nobody who is up to date needs it again. */
        forget_event(server);
}

static unsigned count_of(const PnServer *server, uid_t uid)
{
        unsigned n = 0;

        for (const Peer *peer = server->peers; peer; peer = peer->next)
                n += peer->uid == uid;
        return n;
}

/* The administrator, who must still be able to look when all others are too many. */
static bool is_privileged(uid_t uid)
{
        return uid == 0 || uid == geteuid();
}

static bool is_idle(const Peer *peer)
{
        return peer->waiting == WAITING_NOT && peer->n_out == 0 && !peer->closing &&
               !pn_wire_has_bytes(&peer->in);
}

/* When there is no room, the one goes that has been asking for nothing for the longest time: users
 * who keep connections lying about must not keep others out. False if there is none. */
static bool make_room(PnServer *server)
{
        Peer *longest = NULL;

        for (Peer *peer = server->peers; peer; peer = peer->next)
                if (!is_privileged(peer->uid) && is_idle(peer) &&
                    (!longest || peer->heard < longest->heard))
                        longest = peer;
        if (longest)
                peer_free(longest);
        return longest;
}

/* Tells one too many why it is not served. */
static void turn_away(int fd)
{
        static const char words[] = "{\"error\":\"" PN_INTERFACE ".Busy\",\"parameters\":{}}";
        char scratch[4096];

        (void)send(fd, words, sizeof words, MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)shutdown(fd, SHUT_WR);
        for (unsigned i = 0; i < 32; i++)
                if (recv(fd, scratch, sizeof scratch, MSG_DONTWAIT) <= 0)
                        break;
}

static int add_peer(PnServer *server, int *fd, uid_t uid)
{
        Peer *peer = calloc(1, sizeof *peer);
        int r;

        if (!peer)
                return -ENOMEM;
        r = sd_event_add_io(server->event, &peer->io, *fd, EPOLLIN, on_peer, peer);
        if (r < 0) {
                free(peer);
                return r;
        }
        peer->server = server;
        peer->fd = PN_STEAL_FD(*fd);
        peer->uid = uid;
        peer->heard = now_usec(server);
        peer->events = EPOLLIN;
        peer->next = server->peers;
        peer->at = &server->peers;
        if (peer->next)
                peer->next->at = &peer->next;
        server->peers = peer;
        server->n_peers++;
        return 0;
}

static int on_listener(sd_event_source *io _unused_, int listener, uint32_t events _unused_,
                       void *userdata)
{
        PnServer *server = ((Listener *)userdata)->server;
        _cleanup_close_ int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        struct ucred credentials = {.uid = (uid_t)-1};
        socklen_t length = sizeof credentials;
        unsigned most;

        if (fd < 0) {
                if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
                        set_listening(server, false);
                        start_ticking(server);
                }
                return 0;
        }
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0)
                return 0;
        /* A user with subordinate uids has as many quotas as he likes. */
        most = is_privileged(credentials.uid) ? server->most
                                              : server->most - server->most / RESERVED_PART;
        if (count_of(server, credentials.uid) >= PN_CONNECTIONS_PER_UID_MAX ||
            (server->n_peers >= most && !make_room(server)) ||
            add_peer(server, &fd, credentials.uid) < 0)
                turn_away(fd);
        return 0;
}

static int on_folder(sd_event_source *source _unused_, const struct inotify_event *event _unused_,
                     void *userdata)
{
        (void)find_lost_sockets(userdata);
        return 0;
}

/* Without it, a socket that is gone is noticed at the next reading. */
static void watch_folder(Listener *listener)
{
        _cleanup_free_ char *folder = strdup(listener->socket.path);
        char *slash = folder ? strrchr(folder, '/') : NULL;

        listener->folder = sd_event_source_disable_unref(listener->folder);
        if (!folder)
                return;
        if (slash)
                slash[slash == folder] = '\0';
        (void)sd_event_add_inotify(listener->server->event, &listener->folder, slash ? folder : ".",
                                   IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF |
                                       IN_MOVE_SELF | IN_ONLYDIR,
                                   on_folder, listener->server);
}

static int add_listener(PnServer *server, const PnListener *socket)
{
        Listener *listener = &server->listeners[server->n_listeners];
        int r;

        if (server->n_listeners >= LISTENERS_MAX)
                return -E2BIG;
        r = sd_event_add_io(server->event, &listener->io, socket->fd, EPOLLIN, on_listener,
                            listener);
        if (r < 0)
                return r;
        listener->server = server;
        listener->socket = *socket;
        if (socket->path)
                watch_folder(listener);
        server->n_listeners++;
        return 0;
}

/* A socket whose name was removed can be reached by nobody: it is made again. What cannot be is
 * tried again each second, and said once. */
static void make_again(PnServer *server, Listener *listener)
{
        _cleanup_free_ char *error = NULL;
        int r;

        listener->io = sd_event_source_disable_unref(listener->io);
        r = pn_listener_renew(&listener->socket, &error);
        if (r >= 0)
                r = sd_event_add_io(server->event, &listener->io, listener->socket.fd, EPOLLIN,
                                    on_listener, listener);
        if (r >= 0) {
                listener->complained = false;
                watch_folder(listener);
                /* Lost once more before it was watched: nobody else would tell. */
                if (pn_listener_is_lost(&listener->socket))
                        start_ticking(server);
                pn_log(PN_LOG_WARNING, "the socket %s was gone; it is made again",
                       listener->socket.path);
                if (server->paused)
                        set_listening(server, false);
                return;
        }
        if (!listener->complained)
                pn_log(PN_LOG_ERROR, "the socket %s is gone: %s", listener->socket.path,
                       error ? error : strerror(-r));
        listener->complained = true;
        start_ticking(server);
}

/* Whether one is still lost. */
static bool find_lost_sockets(PnServer *server)
{
        bool lost = false;

        for (unsigned i = 0; i < server->n_listeners; i++) {
                Listener *listener = &server->listeners[i];

                if (pn_listener_is_lost(&listener->socket))
                        make_again(server, listener);
                lost |= listener->complained;
        }
        return lost;
}

int pn_server_adopt(PnServer *server, int fd)
{
        return add_listener(server, &(PnListener){.fd = fd, .lock_fd = -1});
}

int pn_server_listen(PnServer *server, const char *path, char **ret_error)
{
        PnListener listener;
        int r = pn_listener_open(path, &listener, ret_error);

        if (r < 0)
                return r;
        r = add_listener(server, &listener);
        if (r < 0)
                pn_listener_done(&listener);
        return r;
}

/* As many as there are descriptors for: readings need some, too, and clients must not take them.
 * Raises our own limit as far as it is allowed. */
static unsigned most_connections(void)
{
        const rlim_t wanted = PN_CONNECTIONS_MAX + DESCRIPTORS_OF_OURS;
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return PN_CONNECTIONS_MAX;
        if (limit.rlim_cur < wanted && limit.rlim_cur < limit.rlim_max) {
                limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
                (void)setrlimit(RLIMIT_NOFILE, &limit);
        }
        if (limit.rlim_cur >= wanted)
                return PN_CONNECTIONS_MAX;
        return limit.rlim_cur > DESCRIPTORS_OF_OURS + 1
                   ? (unsigned)(limit.rlim_cur - DESCRIPTORS_OF_OURS)
                   : 1;
}

int pn_server_new(sd_event *event, PnManager *manager, PnServer **ret)
{
        _cleanup_(pn_server_freep) PnServer *server = calloc(1, sizeof *server);
        int r;

        if (!server)
                return -ENOMEM;
        server->event = sd_event_ref(event);
        server->manager = manager;
        server->most = most_connections();
        if (server->most < PN_CONNECTIONS_MAX)
                pn_log(PN_LOG_WARNING,
                       "only %u clients can be served at once: the limit of open files is too low "
                       "(LimitNOFILE=, ulimit -Hn)",
                       server->most);
        r = sd_event_add_time(event, &server->tick, CLOCK_MONOTONIC, UINT64_MAX, TICK / 4, on_tick,
                              server);
        if (r < 0)
                return r;
        (void)sd_event_source_set_enabled(server->tick, SD_EVENT_OFF);
        *ret = PN_STEAL(server);
        return 0;
}

void pn_server_free(PnServer *server)
{
        if (!server)
                return;
        while (server->peers)
                peer_free(server->peers);
        for (unsigned i = 0; i < server->n_listeners; i++) {
                sd_event_source_disable_unref(server->listeners[i].io);
                sd_event_source_disable_unref(server->listeners[i].folder);
                pn_listener_done(&server->listeners[i].socket);
        }
        forget_event(server);
        forget_question(server);
        sd_event_source_disable_unref(server->tick);
        sd_event_unref(server->event);
        free(server);
}
