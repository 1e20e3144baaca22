/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hears of devices that come, go and change, from udev, and of links, from rtnetlink, and tells the
 * manager which sources that touches. Reads no hardware, and decides nothing of when it is read. */
#pragma once

#include "manager.h"

typedef struct PnHotplug PnHotplug;

/* The manager must outlive it. */
int pn_hotplug_new(sd_event *event, PnManager *manager, PnHotplug **ret);
void pn_hotplug_free(PnHotplug *hotplug);
PN_DEFINE_CLEANUP(PnHotplug *, pn_hotplug_free);

/* Takes over a bound netlink socket that systemd made in the machine's own network name space, and
 * closes it some time: a daemon in a private one would hear of nothing there. 1; 0 for a descriptor
 * that is no netlink socket, which stays the caller's; or -errno. */
int pn_hotplug_adopt(PnHotplug *hotplug, int fd);

/* Makes those sockets that were not handed over. Where that is not possible, it says so once, and
 * changes are seen when the manager next reads by itself. */
void pn_hotplug_start(PnHotplug *hotplug);
