/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What udev knows: the hardware database, and the properties that its rules found out about block
 * devices. The one file that uses libudev; knows nothing of the model. */
#pragma once

#include "base.h"

/* The hardware database's names. */
typedef struct PnHwdb PnHwdb;

/* NULL where there is no database (or no memory): then names are unknown, which is no error. */
PnHwdb *pn_hwdb_new(void);
void pn_hwdb_free(PnHwdb *hwdb);

/* Looks up a modalias. Sets each of the two to a malloc'ed string, or to NULL if the database has
 * none. May be called from several threads. 0 or -ENOMEM. */
int pn_hwdb_names(PnHwdb *hwdb, const char *modalias, char **ret_vendor, char **ret_model);

/* The properties of one block device. */
typedef struct PnUdev PnUdev;

/* Finds a block device by name. Returns 0; -ENOENT where udev has not (yet) looked at it, or does
 * not run; -ENOMEM. */
int pn_udev_block(const char *name, PnUdev **ret);
void pn_udev_free(PnUdev *udev);
PN_DEFINE_CLEANUP(PnUdev *, pn_udev_free);

/* A property's value, NULL if the device has no such property or `udev` is NULL. */
const char *pn_udev_get(PnUdev *udev, const char *key);
