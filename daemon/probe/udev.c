/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What udev knows: the hardware database, and the properties that its rules found out about block
 * devices. The one file that uses libudev; knows nothing of the model. */
#include "udev.h"

#include <libudev.h>
#include <pthread.h>
#include <stdio.h>

/* Few models make up the many functions of a host: names are kept for the last that were asked
 * for. */
#define CACHE_SIZE 64u

struct PnHwdb {
        pthread_mutex_t mutex; /* libudev's object must not be used by two threads at a time */
        struct udev *context;
        struct udev_hwdb *hwdb;
        struct {
                char *modalias, *vendor, *model;
        } cache[CACHE_SIZE];
};

PnHwdb *pn_hwdb_new(void)
{
        PnHwdb *hwdb = calloc(1, sizeof *hwdb);

        if (!hwdb)
                return NULL;
        hwdb->context = udev_new();
        hwdb->hwdb = hwdb->context ? udev_hwdb_new(hwdb->context) : NULL;
        (void)pthread_mutex_init(&hwdb->mutex, NULL);
        if (!hwdb->hwdb) {
                pn_hwdb_free(hwdb);
                return NULL;
        }
        return hwdb;
}

void pn_hwdb_free(PnHwdb *hwdb)
{
        if (!hwdb)
                return;
        for (size_t i = 0; i < CACHE_SIZE; i++) {
                free(hwdb->cache[i].modalias);
                free(hwdb->cache[i].vendor);
                free(hwdb->cache[i].model);
        }
        if (hwdb->hwdb)
                (void)udev_hwdb_unref(hwdb->hwdb);
        if (hwdb->context)
                (void)udev_unref(hwdb->context);
        (void)pthread_mutex_destroy(&hwdb->mutex);
        free(hwdb);
}

static size_t cache_slot(const char *modalias)
{
        uint32_t hash = 5381;

        for (const char *c = modalias; *c; c++)
                hash = hash * 33 + (uint8_t)*c;
        return hash % CACHE_SIZE;
}

/* With the mutex held. */
static int look_up(PnHwdb *hwdb, const char *modalias, size_t slot)
{
        _cleanup_free_ char *key = NULL, *vendor = NULL, *model = NULL;
        struct udev_list_entry *entry =
            udev_hwdb_get_properties_list_entry(hwdb->hwdb, modalias, 0);

        for (; entry; entry = udev_list_entry_get_next(entry)) {
                const char *name = udev_list_entry_get_name(entry);
                const char *value = udev_list_entry_get_value(entry);
                char **copy = pn_streq(name, "ID_VENDOR_FROM_DATABASE")  ? &vendor
                              : pn_streq(name, "ID_MODEL_FROM_DATABASE") ? &model
                                                                         : NULL;

                if (!copy || !value)
                        continue;
                free(*copy);
                *copy = strdup(value);
                if (!*copy)
                        return -ENOMEM;
        }
        key = strdup(modalias);
        if (!key)
                return -ENOMEM;
        free(hwdb->cache[slot].modalias);
        free(hwdb->cache[slot].vendor);
        free(hwdb->cache[slot].model);
        hwdb->cache[slot].modalias = PN_STEAL(key);
        hwdb->cache[slot].vendor = PN_STEAL(vendor);
        hwdb->cache[slot].model = PN_STEAL(model);
        return 0;
}

static int duplicate(const char *s, char **ret)
{
        *ret = s ? strdup(s) : NULL;
        return s && !*ret ? -ENOMEM : 0;
}

int pn_hwdb_names(PnHwdb *hwdb, const char *modalias, char **ret_vendor, char **ret_model)
{
        _cleanup_free_ char *vendor = NULL, *model = NULL;
        size_t slot = cache_slot(modalias);
        int r = 0;

        if (hwdb) {
                (void)pthread_mutex_lock(&hwdb->mutex);
                if (!pn_streq(hwdb->cache[slot].modalias, modalias))
                        r = look_up(hwdb, modalias, slot);
                if (r == 0)
                        r = duplicate(hwdb->cache[slot].vendor, &vendor);
                if (r == 0)
                        r = duplicate(hwdb->cache[slot].model, &model);
                (void)pthread_mutex_unlock(&hwdb->mutex);
        }
        if (r < 0)
                return r;
        *ret_vendor = PN_STEAL(vendor);
        *ret_model = PN_STEAL(model);
        return 0;
}

/* A context of its own for each device: libudev shares nothing between them, so that a thread that
 * hangs in one cannot spoil another. */
struct PnUdev {
        struct udev *context;
        struct udev_device *device;
};

int pn_udev_block(const char *name, PnUdev **ret)
{
        _cleanup_(pn_udev_freep) PnUdev *udev = calloc(1, sizeof *udev);

        if (!udev)
                return -ENOMEM;
        udev->context = udev_new();
        if (!udev->context)
                return -ENOMEM;
        udev->device = udev_device_new_from_subsystem_sysname(udev->context, "block", name);
        if (!udev->device)
                return errno == ENOMEM ? -ENOMEM : -ENOENT;
        *ret = PN_STEAL(udev);
        return 0;
}

void pn_udev_free(PnUdev *udev)
{
        if (!udev)
                return;
        if (udev->device)
                (void)udev_device_unref(udev->device);
        if (udev->context)
                (void)udev_unref(udev->context);
        free(udev);
}

const char *pn_udev_get(PnUdev *udev, const char *key)
{
        return udev ? udev_device_get_property_value(udev->device, key) : NULL;
}
