/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Asks a driver about one interface by the ioctl SIOCETHTOOL, which every kernel has; only requests
 * that change nothing. Knows no sysfs and no netlink.
 *
 * Each request makes the kernel wake the device: ask only those that are awake. */
#pragma once

#include "linkmode.h"

/* What is asked of a driver about its link, by ioctl or netlink. */
typedef struct PnEthtoolLink {
        bool has_settings; /* speed, duplex, autonegotiation and the modes are there */
        uint32_t speed;    /* Mb/s as the driver says it: pn_link_speed() */
        uint8_t duplex, autonegotiation;
        uint32_t supported[PN_LINK_MODE_WORDS];
        uint32_t advertised[PN_LINK_MODE_WORDS];
        uint32_t partner[PN_LINK_MODE_WORDS];

        bool has_port;
        uint8_t port;

        int ext_state, ext_substate; /* -1: none */
} PnEthtoolLink;

typedef struct PnEthtoolDriver {
        char driver[32];
        char firmware[32];
        uint32_t n_counters; /* how many it has names for */
} PnEthtoolDriver;

/* Takes one counter of a driver's own. `name` is the driver's, of at most 32 bytes. */
typedef void (*PnEthtoolCounter)(const char *name, uint64_t value, void *context);

/* A socket for the requests. A descriptor or a negative errno. */
int pn_ethtool_open(void);

/* ETHTOOL_GDRVINFO. 0 or a negative errno. */
int pn_ethtool_driver(int fd, const char *interface, PnEthtoolDriver *ret);

/* ETHTOOL_GLINKSETTINGS: fills the settings and the port. 0 or a negative errno. */
int pn_ethtool_link(int fd, const char *interface, PnEthtoolLink *ret);

/* ETHTOOL_GPERMADDR, for addresses of six bytes. 0, -ENODATA if the driver has none, or another
 * negative errno. */
int pn_ethtool_permanent_address(int fd, const char *interface, uint8_t ret[static 6]);

/* ETHTOOL_GSTRINGS and ETHTOOL_GSTATS: hands all `n` counters that the driver has to `take`, in its
 * order. 0, -EAGAIN if there was another number of them meanwhile, or another negative errno; then
 * none was taken. */
int pn_ethtool_counters(int fd, const char *interface, uint32_t n, PnEthtoolCounter take,
                        void *context);

/* ETHTOOL_GMODULEINFO. The type is one of ETH_MODULE_SFF_*. 0 or a negative errno. */
int pn_ethtool_module_info(int fd, const char *interface, uint32_t *ret_type, uint32_t *ret_length);

/* ETHTOOL_GMODULEEEPROM: at most 256 bytes from an offset of what is laid out as
 * pn_module_from_flat() says. 0 or a negative errno. */
int pn_ethtool_module_read(int fd, const char *interface, uint32_t offset, uint32_t n,
                           uint8_t *ret);
