/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Network ports and what is built on them: identity and totals from sysfs, links from the driver by
 * ethtool's netlink family or ioctl, bonds, bridges and VLANs from rtnetlink and sysfs. Knows
 * nothing of what is plugged in, nor whether a speed is good.
 *
 * A driver is asked only where that wakes no device, and an adapter without a link only where it
 * sits on PCI: some on USB take seconds to say that they have none. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "niccounters.h"
#include "nics.h"
#include "pci.h"
#include "sysfs.h"
#include "text.h"
#include "walk.h"

#define ETHERNET "1"

/* From here on links have forward error correction, of one lane or several, but for those of four
 * old lanes of 10 Gb/s each. */
#define FEC_FROM_MBPS    25000
#define WITHOUT_FEC_MBPS 40000

/* What a port is asked by netlink in a run, besides its link modes. With the five areas of the
 * module that has most to read that makes eight. */
#define MORE_REQUESTS 2

static int read_mac(const uint8_t *bytes, size_t n, PnText *ret)
{
        static const uint8_t none[8];

        if (n != 6 || memcmp(bytes, none, n) == 0)
                return 0;
        return pn_format_text(ret, "%02x:%02x:%02x:%02x:%02x:%02x", bytes[0], bytes[1], bytes[2],
                              bytes[3], bytes[4], bytes[5]);
}

static int read_device_text(const char *s, PnText *ret)
{
        char *text;
        int r = pn_text_from_bytes(s, strlen(s), &text);

        if (r > 0)
                pn_take_text(ret, text);
        return r < 0 ? r : 0;
}

static void read_bool(int dir, const char *name, PnBool *ret)
{
        PnInt value = {0};

        pn_sysfs_int(dir, name, &value);
        ret->state = value.state;
        ret->v = value.v != 0;
        /* An interface that is not set up has no carrier to speak of. */
        if (pn_is_unread(value.state))
                *ret = (PnBool){0};
}

/* ---- A function without an interface ---- */

/* Whether it made one that is seen in another name space: the folder of a class is there as long as
 * something is in it, seen or not. Of a virtio function it is in the folder of the device that the
 * function is. */
static bool has_hidden_interface(int dir)
{
        _cleanup_names_ PnNames names = {0};

        if (faccessat(dir, "net", F_OK, 0) == 0)
                return true;
        if (pn_sysfs_names(dir, ".", &names) < 0)
                return false;
        for (size_t i = 0; i < names.n; i++) {
                char path[NAME_MAX + sizeof "/net"];

                if (!pn_startswith(names.v[i], "virtio"))
                        continue;
                (void)snprintf(path, sizeof path, "%s/net", names.v[i]);
                if (faccessat(dir, path, F_OK, 0) == 0)
                        return true;
        }
        return false;
}

static int read_function(const PnNicEntry *entry, PnNic *nic)
{
        _cleanup_close_ int dir = pn_sysfs_open(AT_FDCWD, entry->path);
        char driver[NAME_MAX + 1];
        const char *reason = "no_driver";
        int r;

        if (dir < 0)
                return -ENODEV;
        if (pn_sysfs_link(dir, "driver", driver, sizeof driver) == 0) {
                if ((r = pn_set_text(&nic->driver, driver)) < 0)
                        return r;
                reason = pn_driver_passes_through(driver) ? "passed_through"
                         : has_hidden_interface(dir)      ? "other_namespace"
                                                          : "none_made";
        }
        if ((r = pn_set_text(&nic->id, entry->address)) < 0 ||
            (r = pn_set_text(&nic->address, entry->address)) < 0 ||
            (r = pn_set_text(&nic->kind, "physical")) < 0 ||
            (r = pn_set_text(&nic->reason, reason)) < 0)
                return r;
        return 0;
}

/* ---- What is known without asking a driver ---- */

static const PnNetLink *link_at(const PnNics *nics, unsigned index)
{
        for (size_t i = 0; index && i < nics->n_links; i++)
                if (nics->links[i].index == index)
                        return &nics->links[i];
        return NULL;
}

/* The one link named lower_NAME of a VLAN. */
static int read_lower(int dir, PnText *ret)
{
        _cleanup_names_ PnNames names = {0};
        int r = pn_sysfs_names(dir, ".", &names);

        for (size_t i = 0; r >= 0 && i < names.n; i++)
                if (pn_startswith(names.v[i], "lower_"))
                        return pn_set_text(ret, names.v[i] + strlen("lower_"));
        return r == -ENOMEM ? r : 0;
}

static int read_relations(const PnNics *nics, int dir, const PnNetLink *link, PnNic *nic)
{
        const PnNetLink *other = link ? link_at(nics, link->master) : NULL;
        char buf[NAME_MAX + 1];
        int r;

        if (other)
                r = pn_set_text(&nic->master, other->name);
        else
                r = pn_sysfs_link(dir, "master", buf, sizeof buf) == 0
                        ? pn_set_text(&nic->master, buf)
                        : 0;
        if (r < 0 || !pn_text_is(&nic->kind, "vlan"))
                return r;
        if (link && link->vlan_id >= 0)
                nic->vlan_id = pn_int(link->vlan_id);
        other = link ? link_at(nics, link->lower) : NULL;
        return other ? pn_set_text(&nic->lower, other->name) : read_lower(dir, &nic->lower);
}

static void read_enabled(int dir, const PnNetLink *link, PnBool *ret)
{
        char buf[32];

        if (link)
                *ret = pn_bool(link->enabled);
        else if (pn_sysfs_read(dir, "flags", buf, sizeof buf) > 0)
                *ret = pn_bool(strtoul(buf, NULL, 16) & IFF_UP);
}

static int read_errors(int dir, PnNic *nic)
{
        PnNicErrors *errors = PN_NEW(&nic->errors);

        if (!errors)
                return -ENOMEM;
        pn_sysfs_int(dir, "statistics/rx_crc_errors", &errors->rx_crc);
        pn_sysfs_int(dir, "statistics/rx_errors", &errors->rx_errors);
        pn_sysfs_int(dir, "statistics/tx_errors", &errors->tx_errors);
        pn_sysfs_int(dir, "statistics/rx_dropped", &errors->rx_dropped);
        return 0;
}

static int read_basics(const PnNics *nics, const PnNicEntry *entry, int dir, const PnNetLink *link,
                       PnNic *nic)
{
        const char *state = link ? pn_link_operstate((unsigned)link->operstate) : NULL;
        char buf[NAME_MAX + 1];
        int r;

        if ((r = pn_set_text(&nic->id, entry->name)) < 0 ||
            (r = pn_set_text(&nic->name, entry->name)) < 0 ||
            (r = pn_set_text(&nic->kind, entry->is_physical ? "physical" : entry->kind)) < 0 ||
            (r = link ? read_mac(link->mac, link->mac_length, &nic->mac)
                      : pn_sysfs_text(dir, "address", &nic->mac)) < 0 ||
            (r = state ? pn_set_text(&nic->state, state)
                       : pn_sysfs_text(dir, "operstate", &nic->state)) < 0 ||
            (r = read_relations(nics, dir, link, nic)) < 0)
                return r;
        read_enabled(dir, link, &nic->enabled);
        if (link && link->carrier >= 0)
                nic->carrier = pn_bool(link->carrier);
        else
                read_bool(dir, "carrier", &nic->carrier);
        if (link && link->carrier_changes >= 0)
                nic->carrier_changes = pn_int(link->carrier_changes);
        else
                pn_sysfs_int(dir, "carrier_changes", &nic->carrier_changes);
        if (link && link->mtu >= 0)
                nic->mtu = pn_int(link->mtu);
        else
                pn_sysfs_int(dir, "mtu", &nic->mtu);
        if (!entry->is_physical)
                return 0;
        if (*entry->address) {
                if ((r = pn_set_text(&nic->address, entry->address)) < 0)
                        return r;
                pn_sysfs_int(dir, "dev_port", &nic->port_number);
                pn_sysfs_int(dir, "device/sriov_numvfs", &nic->vf_count);
        }
        if (pn_sysfs_link(dir, "device/driver", buf, sizeof buf) == 0 &&
            (r = pn_set_text(&nic->driver, buf)) < 0)
                return r;
        return read_errors(dir, nic);
}

/* ---- What the driver says ---- */

static bool any_mode(const uint32_t *modes)
{
        for (size_t i = 0; i < PN_LINK_MODE_WORDS; i++)
                if (modes[i])
                        return true;
        return false;
}

/* Asks by netlink (if any), and by ioctl where that has no answer or none of link modes: some
 * drivers give them in one way only. An ioctl knows an interface by name alone, so its answer
 * counts only if that is still the interface that it was. */
static int ask_link(const PnNicEntry *entry, unsigned index, PnEthtoolNetlink *netlink, int fd,
                    bool with_state, PnEthtoolLink *ret)
{
        PnEthtoolLink by_ioctl = {.duplex = 0xff, .ext_state = -1, .ext_substate = -1};
        int r = -EOPNOTSUPP, s;

        *ret = by_ioctl;
        if (netlink)
                r = pn_ethtool_netlink_link(netlink, index, entry->name, with_state, ret);
        if (r == -ENOMEM || (r == 0 && any_mode(ret->supported)))
                return r;
        s = pn_ethtool_link(fd, entry->name, &by_ioctl);
        if (pn_nic_index(entry) != index)
                return -ENODEV;
        /* An interface that is there, of which the driver's side knows nothing. Where netlink had
         * no way to ask, it is the ioctl's error that counts. */
        if (s < 0) {
                if (r == -ENODEV || r == -EOPNOTSUPP)
                        r = s;
                return r == -ENODEV ? -EOPNOTSUPP : r;
        }
        by_ioctl.ext_state = ret->ext_state;
        by_ioctl.ext_substate = ret->ext_substate;
        *ret = by_ioctl;
        return 0;
}

static int set_link(const PnEthtoolLink *link, PnNic *nic)
{
        bool up = pn_is_true(nic->carrier);
        const char *duplex = pn_link_duplex(link->duplex);
        int r;

        if (link->has_settings) {
                /* Without a link these are settings or left over from the last one. */
                if (up)
                        nic->speed_mbps = pn_link_speed(link->speed);
                if (up && (r = pn_set_text(&nic->duplex, duplex)) < 0)
                        return r;
                nic->autonegotiation = pn_bool(link->autonegotiation == 1);
                if ((r = pn_link_mode_speeds(link->supported, &nic->supported_mbps)) < 0 ||
                    (r = pn_link_mode_speeds(link->advertised, &nic->advertised_mbps)) < 0 ||
                    (r = pn_link_mode_speeds(link->partner, &nic->partner_mbps)) < 0)
                        return r;
        }
        if (up || link->ext_state < 0)
                return 0;
        return pn_set_text(&nic->link_reason, pn_link_reason(link->ext_state, link->ext_substate));
}

static void link_is_unread(PnNic *nic, PnState why)
{
        nic->speed_mbps.state = nic->duplex.state = nic->autonegotiation.state = why;
        nic->supported_mbps.state = nic->advertised_mbps.state = nic->partner_mbps.state = why;
        nic->port.state = why;
}

static PnInt counter(uint64_t raw)
{
        if (raw == PN_NO_COUNTER)
                return (PnInt){0};
        return raw > INT64_MAX ? (PnInt){.state = PN_UNREAD_OVERFLOW} : pn_int((int64_t)raw);
}

static int set_fec(const PnEthtoolFec *fec, PnNic *nic)
{
        int r = pn_set_text(&nic->fec, pn_link_fec(fec->active));

        if (r < 0)
                return r;
        nic->errors.v->fec_corrected = counter(fec->corrected);
        nic->errors.v->fec_uncorrectable = counter(fec->uncorrectable);
        if (!fec->has_modes)
                return 0;
        nic->fec_configured.state = PN_KNOWN;
        if (fec->automatic && (r = pn_texts_append(&nic->fec_configured, "auto")) < 0)
                return r;
        for (int bit = 0; bit < 32 * (int)PN_LINK_MODE_WORDS; bit++)
                if (pn_link_mode_is_set(fec->configured, (unsigned)bit) && pn_link_fec(bit) &&
                    (r = pn_texts_append(&nic->fec_configured, pn_link_fec(bit))) < 0)
                        return r;
        return 0;
}

/* What is known so far of an answer, and how many requests by netlink it took. */
typedef struct Asked {
        PnEthtoolNetlink *netlink; /* NULL: there is no such way */
        int fd;
        unsigned n;
        const PnEthtoolDriver *driver;
} Asked;

static bool may_have_fec(const PnNic *nic)
{
        return nic->speed_mbps.v >= FEC_FROM_MBPS && nic->speed_mbps.v != WITHOUT_FEC_MBPS;
}

static bool has_counters(const PnNicErrors *errors)
{
        return errors->fec_corrected.state != PN_ABSENT ||
               errors->fec_uncorrectable.state != PN_ABSENT || errors->fcs.state != PN_ABSENT ||
               errors->symbol.state != PN_ABSENT || errors->oversize.state != PN_ABSENT;
}

/* By netlink (Linux 5.13), where kernel and driver have that. */
static int ask_standard_counters(const PnNicEntry *entry, unsigned index, Asked *asked, PnNic *nic)
{
        PnEthtoolStats stats;
        PnEthtoolFec fec;
        int r;

        if (may_have_fec(nic)) {
                asked->n++;
                r = pn_ethtool_netlink_fec(asked->netlink, index, entry->name, &fec);
                if (r == 0)
                        r = set_fec(&fec, nic);
                if (r == -ENOMEM || has_counters(nic->errors.v))
                        return r;
        }
        asked->n++;
        r = pn_ethtool_netlink_stats(asked->netlink, index, entry->name, &stats);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        nic->errors.v->fcs = counter(stats.fcs_errors);
        if (!may_have_fec(nic) || pn_text_is(&nic->fec, "none"))
                nic->errors.v->symbol = counter(stats.symbol_errors);
        nic->errors.v->oversize = counter(stats.oversize);
        return 0;
}

static void take_named_counter(const char *name, uint64_t value, void *context)
{
        PnNic *nic = context;
        PnNicErrors *errors = nic->errors.v;

        switch (pn_nic_counter(nic->driver.v, name)) {
        case PN_NIC_COUNTER_FCS:
                errors->fcs = counter(value);
                break;
        case PN_NIC_COUNTER_SYMBOL:
                if (!may_have_fec(nic) || pn_text_is(&nic->fec, "none"))
                        errors->symbol = counter(value);
                break;
        case PN_NIC_COUNTER_OVERSIZE:
                errors->oversize = counter(value);
                break;
        case PN_NIC_COUNTER_FEC_CORRECTED:
                errors->fec_corrected = counter(value);
                break;
        case PN_NIC_COUNTER_FEC_UNCORRECTABLE:
                errors->fec_uncorrectable = counter(value);
                break;
        case PN_NIC_COUNTER_OTHER:
                break;
        }
}

/* What a link's errors are by the standards: few requests, to see that a port with a module is
 * asked no more than eight things. A fast link corrects errors all the time, and only what it could
 * not correct counts; on others, each symbol does. Only with a link. Where the standard ones are
 * not to be had, counters of those drivers whose names for them are known: no other is asked for
 * its counters, of which some have thousands. */
static int ask_counters(const PnNicEntry *entry, unsigned index, Asked *asked, PnNic *nic)
{
        int r;

        if (!pn_is_true(nic->carrier) || nic->speed_mbps.state != PN_KNOWN)
                return 0;
        r = asked->netlink ? ask_standard_counters(entry, index, asked, nic) : 0;
        if (r < 0 || has_counters(nic->errors.v) || !*entry->address ||
            !pn_nic_counters_are_known(pn_text(&nic->driver)))
                return r;
        r = pn_ethtool_counters(asked->fd, entry->name, asked->driver->n_counters,
                                take_named_counter, nic);
        return r == -ENOMEM ? r : 0;
}

/* The connector. Where the counters took all requests there are, an ioctl says the same. */
static int ask_port(const PnNicEntry *entry, unsigned index, const Asked *asked,
                    PnEthtoolLink *answer, PnNic *nic)
{
        if (!answer->has_port && asked->netlink && asked->n < MORE_REQUESTS) {
                (void)pn_ethtool_netlink_port(asked->netlink, index, entry->name, answer);
        } else if (!answer->has_port) {
                PnEthtoolLink by_ioctl;

                if (pn_ethtool_link(asked->fd, entry->name, &by_ioctl) == 0) {
                        answer->has_port = by_ioctl.has_port;
                        answer->port = by_ioctl.port;
                }
        }
        return pn_set_text(&nic->port,
                           answer->has_port ? pn_link_port(answer->port, answer->supported) : NULL);
}

static int ask_driver(const PnNics *nics, const PnNicEntry *entry, unsigned index,
                      const PnNetLink *link, PnNic *nic)
{
        _cleanup_(pn_ethtool_netlink_freep) PnEthtoolNetlink *netlink = NULL;
        _cleanup_close_ int fd = pn_ethtool_open();
        PnEthtoolDriver driver = {0};
        Asked asked = {.fd = fd, .driver = &driver};
        PnEthtoolLink answer;
        bool with_state = !pn_is_true(nic->carrier) && pn_is_true(nic->enabled);
        uint8_t mac[6];
        int r;

        if (fd < 0) {
                link_is_unread(nic, pn_reason_from_errno(fd));
                return 0;
        }
        r = pn_ethtool_driver(fd, entry->name, &driver);
        if (r == 0) {
                if ((nic->driver.state != PN_KNOWN &&
                     (r = read_device_text(driver.driver, &nic->driver)) < 0) ||
                    (r = read_device_text(driver.firmware, &nic->firmware)) < 0)
                        return r;
                if (pn_text_is(&nic->firmware, "N/A"))
                        pn_take_text(&nic->firmware, NULL);
        }
        if (link && link->permanent_mac_length)
                r = read_mac(link->permanent_mac, link->permanent_mac_length, &nic->permanent_mac);
        else if (pn_ethtool_permanent_address(fd, entry->name, mac) == 0)
                r = read_mac(mac, sizeof mac, &nic->permanent_mac);
        else
                r = 0;
        if (r < 0)
                return r;
        if (pn_ethtool_netlink_new(nics->ethtool, &netlink) == -ENOMEM)
                return -ENOMEM;
        asked.netlink = netlink;
        r = ask_link(entry, index, netlink, fd, with_state, &answer);
        if (r == 0) {
                asked.n = with_state;
                r = set_link(&answer, nic);
                if (r == 0)
                        r = ask_counters(entry, index, &asked, nic);
                return r < 0 ? r : ask_port(entry, index, &asked, &answer, nic);
        }
        if (r == -ENOMEM || r == -ENODEV)
                return r;
        link_is_unread(nic, pn_reason_from_errno(r));
        return 0;
}

/* What sysfs says of a speed, which asks the driver, too, but only while there is a link. */
static int read_speed(int dir, PnNic *nic)
{
        PnInt raw = {0};
        int r;

        if (!pn_is_true(nic->carrier))
                return 0;
        pn_sysfs_int(dir, "speed", &raw);
        nic->speed_mbps = raw.state == PN_KNOWN ? pn_link_speed(raw.v) : (PnInt){0};
        r = pn_sysfs_text(dir, "duplex", &nic->duplex);
        if (r < 0)
                return r;
        if (!pn_text_is(&nic->duplex, "full") && !pn_text_is(&nic->duplex, "half"))
                pn_take_text(&nic->duplex, NULL);
        return 0;
}

static int read_physical(const PnNics *nics, const PnNicEntry *entry, int dir,
                         const PnNetLink *link, unsigned index, PnNic *nic)
{
        int r;

        if (pn_path_is_asleep(entry->path)) {
                link_is_unread(nic, PN_UNREAD_ASLEEP);
                nic->firmware.state = nic->permanent_mac.state = PN_UNREAD_ASLEEP;
                return 0;
        }
        if (!*entry->address && !pn_is_true(nic->carrier))
                return 0;
        r = ask_driver(nics, entry, index, link, nic);
        if (r < 0)
                return r;
        /* A driver that answers neither way may still have a speed in sysfs. */
        if (nic->speed_mbps.state != PN_KNOWN && nic->supported_mbps.state != PN_KNOWN) {
                PnState why = nic->speed_mbps.state;

                r = read_speed(dir, nic);
                if (pn_is_unread(why) && nic->speed_mbps.state == PN_ABSENT)
                        nic->speed_mbps.state = why;
        }
        return r;
}

/* ---- Bonds ---- */

/* A number that is the second word of "802.3ad 4". */
static int read_mode(int dir, const PnNetLink *link, PnText *ret)
{
        char buf[64];
        const char *mode = link ? pn_bond_mode((unsigned)link->bond_mode) : NULL;

        if (mode)
                return pn_set_text(ret, mode);
        if (pn_sysfs_read(dir, "bonding/mode", buf, sizeof buf) < 0)
                return 0;
        buf[strcspn(buf, " \n")] = '\0';
        return read_device_text(buf, ret);
}

static void read_member_files(int at, PnBondMember *member)
{
        char buf[32];
        ssize_t n = pn_sysfs_read(at, "bonding_slave/mii_status", buf, sizeof buf);

        if (n > 0)
                member->mii_up = pn_bool(strcmp(buf, "up\n") == 0);
        pn_sysfs_int(at, "bonding_slave/ad_aggregator_id", &member->aggregator);
        pn_sysfs_int(at, "bonding_slave/ad_actor_oper_port_state", &member->actor_state);
        pn_sysfs_int(at, "bonding_slave/ad_partner_oper_port_state", &member->partner_state);
}

static int read_member(const PnNics *nics, int dir, unsigned bond, const char *name, PnBond *ret)
{
        _cleanup_close_ int at = -1;
        PnBondMember *member = PN_APPEND(&ret->members);
        char path[NAME_MAX + 16];
        const PnNetLink *link = NULL;

        if (!member || pn_set_text(&member->name, name) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < nics->n_links && !link; i++)
                if (strcmp(nics->links[i].name, name) == 0 && nics->links[i].master == bond &&
                    nics->links[i].is_slave)
                        link = &nics->links[i];
        if (link) {
                const PnSlaveInfo *slave = &link->slave;

                if (slave->mii_up >= 0)
                        member->mii_up = pn_bool(slave->mii_up);
                if (slave->aggregator >= 0)
                        member->aggregator = pn_int(slave->aggregator);
                if (slave->actor_state >= 0)
                        member->actor_state = pn_int(slave->actor_state);
                if (slave->partner_state >= 0)
                        member->partner_state = pn_int(slave->partner_state);
                return 0;
        }
        (void)snprintf(path, sizeof path, "lower_%s", name);
        at = pn_sysfs_open(dir, path);
        if (at >= 0)
                read_member_files(at, member);
        return 0;
}

/* Which member, by name, a text says that something is about: NULL if none that is known. */
static PnBondMember *member_named(PnBond *bond, const char *name, size_t n)
{
        for (unsigned i = 0; i < bond->members.n; i++)
                if (strlen(bond->members.v[i].name.v) == n &&
                    memcmp(bond->members.v[i].name.v, name, n) == 0)
                        return &bond->members.v[i];
        return NULL;
}

/* The partner of each member, and what neither sysfs nor netlink of an older kernel said, from the
 * text that the bonding driver writes for people. It shows partners to the privileged only. */
static int read_bond_text(const char *bond_name, PnBond *bond)
{
        char path[NAME_MAX + 32];
        _cleanup_free_ char *text = NULL;
        PnBondMember *member = NULL;
        bool partner = false;
        size_t n;

        (void)snprintf(path, sizeof path, "/proc/net/bonding/%s", bond_name);
        if (pn_read_file(AT_FDCWD, path, 1 << 20, &text, &n) < 0)
                return 0;
        for (char *line = text, *end; *line; line = end) {
                const char *value;

                end = line + strcspn(line, "\n");
                if (*end)
                        *end++ = '\0';
                line += strspn(line, " \t");
                value = strstr(line, ": ");
                value = value ? value + 2 : "";
                if (pn_startswith(line, "Slave Interface: ")) {
                        member = member_named(bond, value, strlen(value));
                        partner = false;
                } else if (pn_startswith(line, "details ")) {
                        partner = pn_startswith(line, "details partner");
                } else if (member && partner && pn_startswith(line, "system mac address: ")) {
                        int r = read_device_text(value, &member->partner_mac);

                        if (r < 0)
                                return r;
                } else if (member && pn_startswith(line, "MII Status: ") &&
                           member->mii_up.state != PN_KNOWN) {
                        member->mii_up = pn_bool(strcmp(value, "up") == 0);
                } else if (member && pn_startswith(line, "Aggregator ID: ") &&
                           member->aggregator.state != PN_KNOWN) {
                        member->aggregator = pn_parse_int(value);
                }
        }
        return 0;
}

static int read_bond(const PnNics *nics, const PnNicEntry *entry, int dir, const PnNetLink *link,
                     unsigned index, PnNic *nic)
{
        PnBond *bond = PN_NEW(&nic->bond);
        const PnNetLink *active = link ? link_at(nics, link->bond_active) : NULL;
        char slaves[PN_ATTRIBUTE_MAX + 1];
        int r;

        if (!bond)
                return -ENOMEM;
        r = read_mode(dir, link, &bond->mode);
        if (r < 0)
                return r;
        bond->members.state = PN_KNOWN;
        if (pn_sysfs_read(dir, "bonding/slaves", slaves, sizeof slaves) >= 0) {
                char *rest = NULL;

                for (char *name = strtok_r(slaves, " \n", &rest); name && r == 0;
                     name = strtok_r(NULL, " \n", &rest))
                        r = read_member(nics, dir, index, name, bond);
        } else {
                for (size_t i = 0; i < nics->n_links && r == 0; i++)
                        if (nics->links[i].is_slave && nics->links[i].master == index)
                                r = read_member(nics, dir, index, nics->links[i].name, bond);
        }
        if (r < 0)
                return r;
        if (active)
                r = pn_set_text(&bond->active_member, active->name);
        else
                r = pn_sysfs_text(dir, "bonding/active_slave", &bond->active_member);
        if (r < 0 || !pn_text_is(&bond->mode, "802.3ad"))
                return r;
        if (link && link->bond_aggregator >= 0)
                bond->active_aggregator = pn_int(link->bond_aggregator);
        else
                pn_sysfs_int(dir, "bonding/ad_aggregator", &bond->active_aggregator);
        r = read_bond_text(entry->name, bond);
        for (unsigned i = 0; i < bond->members.n; i++)
                if (bond->members.v[i].partner_mac.state == PN_ABSENT)
                        bond->members.v[i].partner_mac.state = PN_UNREAD_PERMISSION;
        return r;
}

/* ---- The walk ---- */

static int read_nic(const void *context, size_t i, void *object, void *fact _unused_)
{
        const PnNics *nics = context;
        const PnNicEntry *entry = &nics->v[i];
        const PnNetLink *link = entry->link;
        _cleanup_close_ int dir = -1;
        PnNic *nic = object;
        unsigned index;
        int r;

        if (!entry->name)
                return read_function(entry, nic);
        dir = pn_sysfs_open(AT_FDCWD, entry->path);
        index = dir < 0 ? 0 : pn_nic_index(entry);
        if (!index)
                return -ENODEV;
        if (link && link->index != index)
                link = NULL;
        r = read_basics(nics, entry, dir, link, nic);
        if (r == 0 && entry->is_physical)
                r = read_physical(nics, entry, dir, link, index, nic);
        else if (r == 0)
                r = read_speed(dir, nic);
        if (r == 0 && !entry->is_physical && strcmp(entry->kind, "bond") == 0)
                r = read_bond(nics, entry, dir, link, index, nic);
        if (r < 0)
                return r;
        /* One that went, or got another name, while it was read is told of by the next run. */
        return pn_nic_index(entry) == index ? 0 : -ENODEV;
}

int pn_source_net(PnEmit *emit, PnReport *report)
{
        const PnWalk walk = {.source = "net", .kind = PN_OBJECT_NIC, .read = read_nic};

        return pn_nics_walk(&walk, /* physical_only= */ false, emit, report);
}
