/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Disks that are not NVMe, and what lives on disks and on NVMe namespaces: from sysfs, udev's
 * findings, mounts and swaps. Opens no device node, and needs no privilege.
 *
 * What lives on a disk is found by going from it to its partitions, and from each device to what
 * is built on it (its holders: device mapper, md, bcache), to a bounded depth and number. Without
 * udev's database the holders, mounts and swaps still tell most of it. */
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "mounts.h"
#include "pcie.h"
#include "source.h"
#include "sysfs.h"
#include "text.h"
#include "udev.h"
#include "walk.h"

/* How many more mounts of one file system are listed. */
#define OTHER_MOUNTS_MAX 8

#define BLOCK "/sys/class/block"
#define BTRFS "/sys/fs/btrfs"

#define SECTOR_SIZE 512

/* Partition, encryption, volume, array and file system make four or five. */
#define DEPTH_MAX 10

/* A thin pool may have a thousand volumes, each of which is "on" each of its disks. */
#define VISITS_MAX 256u

typedef enum Category {
        CATEGORY_OTHER, /* virtual, or not for storing: loop, ram, dm, md, zd, sr, … */
        CATEGORY_PARTITION,
        CATEGORY_DISK,
        CATEGORY_NAMESPACE,
} Category;

typedef struct Node {
        char *name;
        char *path; /* the link's target: the real directory */
        Category category;
        size_t first_partition, next_partition; /* SIZE_MAX: none */
} Node;

/* A member of a btrfs file system, and the file system's mount, if it has one. */
typedef struct Btrfs {
        char *device;
        const PnMount *mount;
} Btrfs;

typedef struct Block {
        int dir;
        Node *nodes; /* sorted by name */
        size_t n;
        size_t *disks, *namespaces; /* indexes of nodes */
        size_t n_disks, n_namespaces;
        PnMounts mounts;
        Btrfs *btrfs;
        size_t n_btrfs;
} Block;

static void block_done(Block *block)
{
        for (size_t i = 0; i < block->n; i++) {
                free(block->nodes[i].name);
                free(block->nodes[i].path);
        }
        for (size_t i = 0; i < block->n_btrfs; i++)
                free(block->btrfs[i].device);
        free(block->nodes);
        free(block->disks);
        free(block->namespaces);
        free(block->btrfs);
        pn_mounts_done(&block->mounts);
        pn_close(block->dir);
}

/* ---- The list of block devices ---- */

static int compare_nodes(const void *a, const void *b)
{
        const Node *x = a, *y = b;

        return strcmp(x->name, y->name);
}

/* The node with the n characters at `name`; SIZE_MAX if there is none. */
static size_t find_node(const Block *block, const char *name, size_t n)
{
        char copy[NAME_MAX + 1];
        Node key = {.name = copy};
        const Node *found;

        if (n >= sizeof copy || block->n == 0)
                return SIZE_MAX;
        memcpy(copy, name, n);
        copy[n] = '\0';
        found = bsearch(&key, block->nodes, block->n, sizeof *block->nodes, compare_nodes);
        return found ? (size_t)(found - block->nodes) : SIZE_MAX;
}

/* Whether a name is a pattern's; in that, '#' stands for a number, and '*' at the end for anything.
 */
static bool matches(const char *s, const char *pattern)
{
        for (; *pattern; pattern++) {
                if (*pattern == '*')
                        return true;
                if (*pattern == '#') {
                        size_t n = strspn(s, "0123456789");

                        if (n == 0)
                                return false;
                        s += n;
                } else if (*s++ != *pattern) {
                        return false;
                }
        }
        return *s == '\0';
}

static Category categorise(const char *name, const char *path)
{
        static const char *const others[] = {
            "loop*", "ram*", "zram*", "dm-*", "md*",          "sr*",         "nbd*",   "zd*",
            "fd#",   "rbd*", "drbd*", "mtd*", "mmcblk#boot*", "mmcblk#rpmb", "nullb*", "bcache*",
        };

        if (matches(name, "nvme#n#"))
                return CATEGORY_NAMESPACE;
        if (matches(name, "nvme*"))
                return CATEGORY_OTHER; /* a path to a namespace: nvme0c1n1 */
        for (size_t i = 0; i < PN_ELEMENTS(others); i++)
                if (matches(name, others[i]))
                        return CATEGORY_OTHER;
        return strstr(path, "/devices/virtual/") ? CATEGORY_OTHER : CATEGORY_DISK;
}

/* A partition's directory is in that of its disk. */
static void find_partitions(Block *block)
{
        /* Backwards, so that the list of each disk comes out in order. */
        for (size_t i = block->n; i-- > 0;) {
                Node *node = &block->nodes[i];
                const char *end = strrchr(node->path, '/');
                const char *start = end;
                size_t disk;

                if (!end)
                        continue;
                while (start > node->path && start[-1] != '/')
                        start--;
                disk = find_node(block, start, (size_t)(end - start));
                if (disk == SIZE_MAX || disk == i)
                        continue;
                node->category = CATEGORY_PARTITION;
                node->next_partition = block->nodes[disk].first_partition;
                block->nodes[disk].first_partition = i;
        }
}

static int list_nodes(Block *block, PnReport *report)
{
        _cleanup_names_ PnNames names = {0};
        int r;

        block->dir = pn_sysfs_open(AT_FDCWD, BLOCK);
        if (block->dir == -ENOENT)
                return 0;
        r = block->dir < 0 ? block->dir : pn_sysfs_names(block->dir, ".", &names);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                pn_report_reason(report, "%s: %s", BLOCK, strerror(-r));
                return 0;
        }
        block->nodes = calloc(names.n + 1, sizeof *block->nodes);
        block->disks = calloc(names.n + 1, sizeof *block->disks);
        block->namespaces = calloc(names.n + 1, sizeof *block->namespaces);
        if (!block->nodes || !block->disks || !block->namespaces)
                return -ENOMEM;
        for (size_t i = 0; i < names.n; i++) {
                Node *node = &block->nodes[block->n];
                char target[PATH_MAX];
                ssize_t length = readlinkat(block->dir, names.v[i], target, sizeof target - 1);

                if (length < 0 && errno == ENOENT)
                        continue;
                target[length < 0 ? 0 : length] = '\0';
                *node = (Node){.name = PN_STEAL(names.v[i]),
                               .path = strdup(target),
                               .first_partition = SIZE_MAX,
                               .next_partition = SIZE_MAX};
                block->n++;
                if (!node->path)
                        return -ENOMEM;
                node->category = categorise(node->name, node->path);
        }
        find_partitions(block);
        for (size_t i = 0; i < block->n; i++)
                if (block->nodes[i].category == CATEGORY_DISK)
                        block->disks[block->n_disks++] = i;
                else if (block->nodes[i].category == CATEGORY_NAMESPACE)
                        block->namespaces[block->n_namespaces++] = i;
        return 0;
}

/* ---- btrfs ---- */

static int compare_btrfs(const void *a, const void *b)
{
        const Btrfs *x = a, *y = b;

        return strcmp(x->device, y->device);
}

/* The device mapper's device with this name. */
static size_t find_mapped(const Block *block, const char *name)
{
        for (size_t i = 0; i < block->n; i++) {
                char path[NAME_MAX + sizeof "/dm/name"], buf[256];

                if (!matches(block->nodes[i].name, "dm-#"))
                        continue;
                (void)snprintf(path, sizeof path, "%s/dm/name", block->nodes[i].name);
                if (pn_sysfs_read(block->dir, path, buf, sizeof buf) < 0)
                        continue;
                buf[strcspn(buf, "\n")] = '\0';
                if (pn_streq(buf, name))
                        return i;
        }
        return SIZE_MAX;
}

/* The block device that a mount's source or a swap is. */
static size_t find_source(const Block *block, const char *source)
{
        if (!pn_startswith(source, "/dev/"))
                return SIZE_MAX;
        source += strlen("/dev/");
        if (pn_startswith(source, "mapper/"))
                return find_mapped(block, source + strlen("mapper/"));
        return find_node(block, source, strlen(source));
}

static int add_btrfs(Block *block, const char *device, const PnMount *mount)
{
        Btrfs *grown = reallocarray(block->btrfs, block->n_btrfs + 1, sizeof *grown);

        if (!grown)
                return -ENOMEM;
        block->btrfs = grown;
        grown[block->n_btrfs] = (Btrfs){.device = strdup(device), .mount = mount};
        return grown[block->n_btrfs++].device ? 0 : -ENOMEM;
}

static const PnMount *find_btrfs(const Block *block, size_t n, const char *device)
{
        for (size_t i = 0; i < n; i++)
                if (pn_streq(block->btrfs[i].device, device))
                        return block->btrfs[i].mount;
        return NULL;
}

/* Adds all the devices of a file system of which one is known to be mounted. */
static int add_btrfs_members(Block *block, size_t n_mounted, const PnNames *devices)
{
        const PnMount *mount = NULL;

        for (size_t i = 0; i < devices->n && !mount; i++)
                mount = find_btrfs(block, n_mounted, devices->v[i]);
        for (size_t i = 0; mount && i < devices->n; i++)
                if (!find_btrfs(block, n_mounted, devices->v[i])) {
                        int r = add_btrfs(block, devices->v[i], mount);

                        if (r < 0)
                                return r;
                }
        return 0;
}

/* The number of a mounted btrfs is none of a device, and its source names only one of its devices:
 * the kernel lists them all. */
static int list_btrfs(Block *block)
{
        _cleanup_names_ PnNames systems = {0};
        _cleanup_close_ int dir = -1;
        const char *last = NULL;
        size_t n_mounted;
        int r = 0;

        for (size_t i = 0; i < block->mounts.n && r == 0; i++) {
                const PnMount *mount = &block->mounts.mounts[i];
                size_t at;

                /* There may be thousands of mounts of one file system, next to each other. */
                if (!pn_streq(mount->fstype, "btrfs") || pn_streq(mount->source, last))
                        continue;
                last = mount->source;
                at = find_source(block, last);
                if (at != SIZE_MAX && !find_btrfs(block, block->n_btrfs, block->nodes[at].name))
                        r = add_btrfs(block, block->nodes[at].name, mount);
        }
        if (r < 0 || block->n_btrfs == 0)
                return r;
        n_mounted = block->n_btrfs;
        dir = pn_sysfs_open(AT_FDCWD, BTRFS);
        if (dir >= 0 && pn_sysfs_names(dir, ".", &systems) == -ENOMEM)
                return -ENOMEM;
        for (size_t i = 0; i < systems.n; i++) {
                _cleanup_names_ PnNames devices = {0};
                char path[NAME_MAX + sizeof "/devices"];

                (void)snprintf(path, sizeof path, "%s/devices", systems.v[i]);
                if (pn_sysfs_names(dir, path, &devices) == -ENOMEM)
                        return -ENOMEM;
                r = add_btrfs_members(block, n_mounted, &devices);
                if (r < 0)
                        return r;
        }
        if (block->n_btrfs > 1)
                qsort(block->btrfs, block->n_btrfs, sizeof *block->btrfs, compare_btrfs);
        return 0;
}

static const PnMount *find_mount(const Block *block, const Node *node, uint64_t device)
{
        const PnMount *mount = pn_mounts_find(&block->mounts, device);
        Btrfs key = {.device = node->name};
        const Btrfs *found;

        if (mount || block->n_btrfs == 0)
                return mount;
        found = bsearch(&key, block->btrfs, block->n_btrfs, sizeof *block->btrfs, compare_btrfs);
        return found ? found->mount : NULL;
}

/* ---- Texts from udev ---- */

/* udev writes blanks and other unsafe bytes in some properties as \x20. */
static int take_encoded(PnText *text, const char *s)
{
        _cleanup_free_ char *copy = strdup(s);
        char *to = copy, *clean;
        int r;

        if (!copy)
                return -ENOMEM;
        for (const char *from = copy; *from;) {
                if (from[0] == '\\' && from[1] == 'x' && isxdigit((unsigned char)from[2]) &&
                    isxdigit((unsigned char)from[3])) {
                        const char digits[3] = {from[2], from[3], '\0'};

                        *to++ = (char)strtoul(digits, NULL, 16);
                        from += 4;
                } else {
                        *to++ = *from++;
                }
        }
        r = pn_text_from_utf8(copy, (size_t)(to - copy), &clean);
        if (r < 0)
                return r;
        pn_take_text(text, clean);
        return 0;
}

static int take_clean(PnText *text, const char *s)
{
        char *clean;
        int r;

        if (!s)
                return 0;
        r = pn_text_from_utf8(s, strlen(s), &clean);
        if (r < 0)
                return r;
        pn_take_text(text, clean);
        return 0;
}

/* ---- What is on a device ---- */

/* One device on the way, and what was read of it. */
typedef struct Visit {
        size_t at;
        unsigned depth;
} Visit;

typedef struct Visits {
        Visit stack[VISITS_MAX];
        size_t n_stack;
        size_t seen[VISITS_MAX];
        size_t n_seen;
} Visits;

static void push(Visits *visits, size_t at, unsigned depth)
{
        for (size_t i = 0; i < visits->n_seen; i++)
                if (visits->seen[i] == at)
                        return;
        if (depth > DEPTH_MAX || visits->n_seen == VISITS_MAX)
                return;
        visits->seen[visits->n_seen++] = at;
        visits->stack[visits->n_stack++] = (Visit){at, depth};
}

/* The volume group in the name of a logical volume: the part before the first single hyphen, those
 * of its own being doubled. */
static int volume_group(const char *mapped, PnText *ret)
{
        _cleanup_free_ char *group = strdup(mapped);
        char *to = group;

        if (!group)
                return -ENOMEM;
        for (const char *from = mapped; *from; from++) {
                if (*from == '-' && from[1] != '-')
                        break;
                if (*from == '-')
                        from++;
                *to++ = *from;
        }
        *to = '\0';
        return take_clean(ret, group);
}

/* Whether a device is one of the device mapper's whose UUID begins so. */
static bool is_mapped_by(const Block *block, const char *name, const char *prefix)
{
        char path[NAME_MAX + sizeof "/dm/uuid"], uuid[256];

        if (!matches(name, "dm-#"))
                return false;
        (void)snprintf(path, sizeof path, "%s/dm/uuid", name);
        return pn_sysfs_read(block->dir, path, uuid, sizeof uuid) >= 0 &&
               pn_startswith(uuid, prefix);
}

/* What a holder tells of the device below it: the type of use, and its name. */
static int ask_holder(const Block *block, const Node *node, const char *holder,
                      const char **ret_type, PnText *name)
{
        char path[NAME_MAX + sizeof "/dm/name"], uuid[256], mapped[256];

        if (matches(holder, "md#") || matches(holder, "md_*") || matches(holder, "md#p#")) {
                _cleanup_(pn_udev_freep) PnUdev *udev = NULL;
                const char *array;

                if (pn_udev_block(holder, &udev) == -ENOMEM)
                        return -ENOMEM;
                array = pn_udev_get(udev, "MD_DEVNAME");
                /* A name of digits alone is that of the kernel without its letters. */
                if (!array || array[strspn(array, "0123456789")] == '\0')
                        array = holder;
                *ret_type = "linux_raid_member";
                return take_clean(name, array);
        }
        if (matches(holder, "bcache#")) {
                *ret_type = "bcache";
                return take_clean(name, holder);
        }
        if (!matches(holder, "dm-#"))
                return 0;
        (void)snprintf(path, sizeof path, "%s/dm/uuid", holder);
        if (pn_sysfs_read(block->dir, path, uuid, sizeof uuid) < 0)
                return 0;
        (void)snprintf(path, sizeof path, "%s/dm/name", holder);
        if (pn_sysfs_read(block->dir, path, mapped, sizeof mapped) < 0)
                return 0;
        mapped[strcspn(mapped, "\n")] = '\0';
        if (pn_startswith(uuid, "LVM-")) {
                /* Between volumes these are layers of one: a thin pool and its data, a mirror and
                 * its legs. */
                if (is_mapped_by(block, node->name, "LVM-"))
                        return 0;
                *ret_type = "lvm2_member";
                return volume_group(mapped, name);
        }
        if (pn_startswith(uuid, "CRYPT-")) {
                *ret_type = "crypto_luks";
                return take_clean(name, mapped);
        }
        if (pn_startswith(uuid, "mpath-")) {
                *ret_type = "mpath_member";
                return take_clean(name, mapped);
        }
        return 0;
}

static bool is_swapped_to(const Block *block, const Node *node)
{
        for (size_t i = 0; i < block->mounts.n_swaps; i++) {
                const char *path = block->mounts.swaps[i];

                if (pn_startswith(path, "/dev/") && pn_streq(path + strlen("/dev/"), node->name))
                        return true;
        }
        return false;
}

/* A file system's or pool's label; the encoded form is exact, the other has underscores in it. */
static int take_label(PnUdev *udev, PnText *ret)
{
        const char *encoded = pn_udev_get(udev, "ID_FS_LABEL_ENC");

        return encoded ? take_encoded(ret, encoded)
                       : take_clean(ret, pn_udev_get(udev, "ID_FS_LABEL"));
}

/* The name of a use: what is built on the device knows best, then the device's label. */
static int name_use(const char *type, PnUdev *udev, const PnText *from_holder, PnText *ret)
{
        int r;

        if (!pn_streq(type, "filesystem") && from_holder->state == PN_KNOWN)
                return pn_set_text(ret, from_holder->v);
        if (pn_streq(type, "lvm2_member"))
                return 0; /* a volume group's name is in no label */
        r = take_label(udev, ret);
        if (r == 0 && pn_streq(type, "filesystem") && ret->state != PN_KNOWN)
                r = take_clean(ret, pn_udev_get(udev, "ID_FS_TYPE"));
        return r;
}

/* A partition that nobody knows: by the name in its table, which the kernel tells as well. */
static int name_partition(int dir, PnUdev *udev, PnText *ret)
{
        const char *name = pn_udev_get(udev, "ID_PART_ENTRY_NAME");
        char uevent[PN_ATTRIBUTE_MAX + 1], *at;

        if (name)
                return take_encoded(ret, name);
        if (udev || pn_sysfs_read(dir, "uevent", uevent, sizeof uevent) < 0)
                return 0;
        at = strstr(uevent, "\nPARTNAME=");
        if (!at)
                return 0;
        at += strlen("\nPARTNAME=");
        at[strcspn(at, "\n")] = '\0';
        return take_clean(ret, at);
}

/* udev's word for what is there, in lower case: "LVM2_member" is lvm2_member. File systems are
 * `filesystem`, but for zfs, of which this is a member of a pool. */
static const char *udev_type(PnUdev *udev, char buf[static 64])
{
        const char *type = pn_udev_get(udev, "ID_FS_TYPE");
        size_t n = 0;

        if (!type || !*type)
                return NULL;
        for (; type[n] && n < 63; n++)
                buf[n] = (char)tolower((unsigned char)type[n]);
        buf[n] = '\0';
        if (!pn_streq(buf, "zfs_member") &&
            pn_streq(pn_udev_get(udev, "ID_FS_USAGE"), "filesystem"))
                return "filesystem";
        return buf;
}

/* Appends what lives on a device that has no partitions, if anything does. */
/* The same use once more for each other place at which all of the file system is mounted; parts of
 * it (bind mounts, of which containers make hundreds) say nothing new of the disk. */
static int add_other_mounts(const Block *block, const PnMount *first, void *uses)
{
        const PnMount *end = block->mounts.mounts + block->mounts.n;
        unsigned n = 0;

        for (const PnMount *it = first + 1;
             first->device && it < end && it->device == first->device; it++) {
                PnUse *use, *before;
                PnList list;

                /* Whole ones come first. A subvolume of btrfs is as good as one. */
                if ((!it->whole && !pn_streq(it->fstype, "btrfs")) || n++ == OTHER_MOUNTS_MAX)
                        break;
                use = pn_list_append(uses, sizeof *use);
                if (!use)
                        return -ENOMEM;
                memcpy(&list, uses, sizeof list);
                before = (PnUse *)list.v + (list.n - 2);
                use = before + 1;
                if (pn_copy(pn_type_Use(), use, before) < 0 ||
                    pn_set_text(&use->mount, it->point) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int add_use(const Block *block, const Node *node, int dir, uint64_t number, PnUdev *udev,
                   const PnNames *holders, void *uses)
{
        const PnMount *mount = find_mount(block, node, number);
        const char *type = NULL, *holder_type = NULL;
        PnText holder_name = {0};
        char word[64];
        PnUse *use;
        int r = 0;

        for (size_t i = 0; i < holders->n && !holder_type && r == 0; i++)
                r = ask_holder(block, node, holders->v[i], &holder_type, &holder_name);
        type = udev_type(udev, word);
        if (!type)
                type = holder_type;
        if (!type && is_swapped_to(block, node))
                type = "swap";
        if (!type && mount)
                type = "mount";
        if (!type && node->category == CATEGORY_PARTITION)
                type = "partition";
        if (r < 0 || !type) {
                free(holder_name.v);
                return r;
        }

        use = pn_list_append(uses, sizeof *use);
        if (!use)
                r = -ENOMEM;
        if (r == 0)
                r = take_clean(&use->type, type);
        if (r == 0 && pn_streq(type, "mount"))
                r = take_clean(&use->name, mount->fstype);
        else if (r == 0 && pn_streq(type, "partition"))
                r = name_partition(dir, udev, &use->name);
        else if (r == 0)
                r = name_use(type, udev, &holder_name, &use->name);
        if (r == 0)
                r = pn_set_text(&use->device, node->name);
        if (r == 0)
                r = pn_set_text(&use->mount, mount ? mount->point : NULL);
        free(holder_name.v);
        return r == 0 && mount ? add_other_mounts(block, mount, uses) : r;
}

/* Visits one device: its use is appended, what is on it pushed. `udev` (may be NULL) are the
 * device's properties. */
static int visit(const Block *block, Visits *visits, const Visit *now, int dir, uint64_t number,
                 PnUdev *udev, void *uses)
{
        const Node *node = &block->nodes[now->at];
        _cleanup_names_ PnNames holders = {0};
        size_t first = visits->n_stack;
        int r;

        r = pn_sysfs_names(dir, "holders", &holders);
        if (r == -ENOMEM)
                return r;
        /* A signature on a disk with partitions is one of an earlier life. */
        if (node->first_partition == SIZE_MAX) {
                r = add_use(block, node, dir, number, udev, &holders, uses);
                if (r < 0)
                        return r;
        }
        for (size_t at = node->first_partition; at != SIZE_MAX;
             at = block->nodes[at].next_partition)
                push(visits, at, now->depth + 1);
        for (size_t i = 0; i < holders.n; i++) {
                size_t at = find_node(block, holders.v[i], strlen(holders.v[i]));

                if (at != SIZE_MAX)
                        push(visits, at, now->depth + 1);
        }
        /* What was pushed first is to be popped first. */
        for (size_t i = first, k = visits->n_stack; i + 1 < k; i++) {
                Visit swap = visits->stack[i];

                visits->stack[i] = visits->stack[--k];
                visits->stack[k] = swap;
        }
        return 0;
}

/* Finds all that lives on a device, of which directory, number and properties are at hand. */
static int find_uses(const Block *block, size_t root, int root_dir, const char *root_number,
                     PnUdev *root_udev, void *uses)
{
        _cleanup_free_ Visits *visits = calloc(1, sizeof *visits);
        int r;

        if (!visits)
                return -ENOMEM;
        push(visits, root, 0);
        while (visits->n_stack > 0) {
                _cleanup_(pn_udev_freep) PnUdev *udev = NULL;
                _cleanup_close_ int dir = -1;
                Visit now = visits->stack[--visits->n_stack];
                const Node *node = &block->nodes[now.at];
                char number[64] = "";

                if (now.at == root) {
                        r = visit(block, visits, &now, root_dir,
                                  root_number ? pn_device_number(root_number) : 0, root_udev, uses);
                } else {
                        dir = pn_sysfs_open(block->dir, node->name);
                        if (dir < 0)
                                continue;
                        if (pn_sysfs_read(dir, "dev", number, sizeof number) < 0)
                                *number = '\0';
                        if (pn_udev_block(node->name, &udev) == -ENOMEM)
                                return -ENOMEM;
                        r = visit(block, visits, &now, dir, pn_device_number(number), udev, uses);
                }
                if (r < 0)
                        return r;
        }
        return 0;
}

/* ---- Disks ---- */

/* The PCI function that a disk hangs on: the last one in its path. */
static int find_address(const char *path, PnText *ret)
{
        char address[PN_PCI_ADDRESS_MAX] = "";

        while (*path) {
                size_t n = strcspn(path, "/");
                char part[PN_PCI_ADDRESS_MAX];
                PnPciAddress parsed;

                if (n < sizeof part) {
                        memcpy(part, path, n);
                        part[n] = '\0';
                        if (pn_pci_address_parse(part, &parsed) == 0)
                                memcpy(address, part, sizeof address);
                }
                path += n;
                path += strspn(path, "/");
        }
        return pn_set_text(ret, *address ? address : NULL);
}

/* How the disk is attached, from the drivers that its path goes through. */
static const char *find_transport(const char *path, PnUdev *udev)
{
        static const struct {
                const char *part, *transport;
        } parts[] = {
            {"/usb#/*", "usb"},       {"/session#/*", "iscsi"}, {"/rport-*", "fc"},
            {"/end_device-*", "sas"}, {"/ata#/*", "sata"},      {"/mmc_host/*", "mmc"},
            {"/virtio#/*", "virtio"}, {"/vbd-*", "xen"},        {"/xen*", "xen"},
            {"/fw#*", "firewire"},    {"/ufshcd*", "ufs"},
        };
        const char *bus = pn_udev_get(udev, "ID_BUS");

        for (size_t i = 0; i < PN_ELEMENTS(parts); i++)
                for (const char *at = path; at; at = strchr(at + 1, '/'))
                        if (matches(at, parts[i].part))
                                return parts[i].transport;
        if (pn_streq(bus, "ata"))
                return "sata";
        return bus ? bus : strstr(path, "/host") ? "scsi" : NULL;
}

/* udev's plain form of a model has underscores for blanks: the last resort, and the better one
 * where the kernel's text is only its beginning. */
static int take_longer_model(const char *model, PnText *ret)
{
        _cleanup_free_ char *copy = NULL;

        if (ret->state == PN_KNOWN && strlen(ret->v) >= strlen(model))
                return 0;
        copy = strdup(model);
        if (!copy)
                return -ENOMEM;
        for (char *c = copy; *c; c++)
                if (*c == '_')
                        *c = ' ';
        return ret->state == PN_KNOWN && !pn_startswith(copy, ret->v) ? 0 : take_clean(ret, copy);
}

/* The model: udev has it in full where the kernel's has been cut to SCSI's 16 characters. */
static int read_model(int dir, PnUdev *udev, PnDisk *disk)
{
        const char *encoded = pn_udev_get(udev, "ID_MODEL_ENC");
        const char *model = pn_udev_get(udev, "ID_MODEL");
        PnText vendor = {0};
        int r;

        if (encoded && (r = take_encoded(&disk->model, encoded)) < 0)
                return r;
        if (disk->model.state != PN_KNOWN) {
                if ((r = pn_sysfs_text(dir, "device/model", &disk->model)) < 0)
                        return r;
                /* eMMC and SD cards have a name instead. */
                if (disk->model.state == PN_ABSENT &&
                    (r = pn_sysfs_text(dir, "device/name", &disk->model)) < 0)
                        return r;
                if (model && (r = take_longer_model(model, &disk->model)) < 0)
                        return r;
        }
        if (disk->model.state != PN_KNOWN)
                return 0;
        r = pn_sysfs_text(dir, "device/vendor", &vendor);
        /* SATA disks show "ATA" for a maker, virtio its PCI id. */
        if (r == 0 && vendor.state == PN_KNOWN && !pn_text_is(&vendor, "ATA") &&
            !pn_startswith(vendor.v, "0x") && !pn_startswith(disk->model.v, vendor.v)) {
                _cleanup_free_ char *model_alone = PN_STEAL(disk->model.v);

                disk->model.state = PN_ABSENT;
                r = pn_format_text(&disk->model, "%s %s", vendor.v, model_alone);
        }
        free(vendor.v);
        return r;
}

/* The serial number: the unit's own, not the enclosure's or the bridge's. */
static int read_serial(int dir, PnUdev *udev, PnDisk *disk)
{
        const char *serial = pn_udev_get(udev, "ID_SCSI_SERIAL");
        char page[256];
        ssize_t n;
        int r;

        if (!serial)
                serial = pn_udev_get(udev, "ID_SERIAL_SHORT");
        if (serial)
                return take_clean(&disk->serial, serial);
        if ((r = pn_sysfs_text(dir, "serial", &disk->serial)) < 0 || disk->serial.state == PN_KNOWN)
                return r;
        if ((r = pn_sysfs_text(dir, "device/serial", &disk->serial)) < 0 ||
            disk->serial.state == PN_KNOWN)
                return r;
        /* The kernel's copy of SCSI's vital product data, page 80h (SPC-4, 7.8.15): a header of
         * four bytes, then the text. */
        n = pn_sysfs_read(dir, "device/vpd_pg80", page, sizeof page);
        if (n > 4) {
                char *clean;

                r = pn_text_from_bytes(page + 4, (size_t)n - 4, &clean);
                if (r < 0)
                        return r;
                pn_take_text(&disk->serial, clean);
        }
        return 0;
}

static int read_wwn(int dir, PnUdev *udev, PnDisk *disk)
{
        const char *wwn = pn_udev_get(udev, "ID_WWN_WITH_EXTENSION");
        char wwid[256];

        if (!wwn)
                wwn = pn_udev_get(udev, "ID_WWN");
        if (wwn)
                return take_clean(&disk->wwn, wwn);
        if (pn_sysfs_read(dir, "device/wwid", wwid, sizeof wwid) < 0)
                return 0;
        wwid[strcspn(wwid, "\n")] = '\0';
        /* Other forms ("t10.ATA …") repeat model and serial number. */
        if (!pn_startswith(wwid, "naa.") ||
            wwid[4 + strspn(wwid + 4, "0123456789abcdefABCDEF")] != '\0')
                return 0;
        return pn_format_text(&disk->wwn, "0x%s", wwid + 4);
}

static int read_disk(const void *context, size_t i, void *object, void *fact _unused_)
{
        const Block *block = context;
        const Node *node = &block->nodes[block->disks[i]];
        _cleanup_(pn_udev_freep) PnUdev *udev = NULL;
        _cleanup_close_ int dir = pn_sysfs_open(block->dir, node->name);
        PnInt rotational, sectors;
        PnDisk *disk = object;
        int r;

        if (dir < 0)
                return dir == -ENOENT || dir == -ENOTDIR ? -ENODEV : dir;
        if (pn_udev_block(node->name, &udev) == -ENOMEM)
                return -ENOMEM;
        if ((r = pn_set_text(&disk->name, node->name)) < 0 ||
            (r = pn_sysfs_text(dir, "dev", &disk->device_number)) < 0 ||
            (r = read_model(dir, udev, disk)) < 0 || (r = read_serial(dir, udev, disk)) < 0 ||
            (r = read_wwn(dir, udev, disk)) < 0 ||
            (r = take_clean(&disk->transport, find_transport(node->path, udev))) < 0 ||
            (r = find_address(node->path, &disk->address)) < 0)
                return r;
        pn_sysfs_int(dir, "queue/rotational", &rotational);
        disk->rotational = (PnBool){rotational.state, rotational.v != 0};
        pn_sysfs_int(dir, "size", &sectors);
        disk->size_bytes = sectors;
        if (sectors.state == PN_KNOWN &&
            (sectors.v < 0 ||
             __builtin_mul_overflow(sectors.v, (int64_t)SECTOR_SIZE, &disk->size_bytes.v)))
                disk->size_bytes = (PnInt){.state = PN_UNREAD_OVERFLOW};
        pn_sysfs_int(dir, "queue/logical_block_size", &disk->logical_block_size);
        pn_sysfs_int(dir, "queue/physical_block_size", &disk->physical_block_size);
        disk->uses.state = PN_KNOWN;
        return find_uses(block, block->disks[i], dir, pn_text(&disk->device_number), udev,
                         &disk->uses);
}

static const char *disk_name(const void *context, size_t i)
{
        const Block *block = context;

        return block->nodes[block->disks[i]].name;
}

/* ---- NVMe namespaces ---- */

static int read_namespace(const void *context, size_t i, void *object, void *fact _unused_)
{
        const Block *block = context;
        const Node *node = &block->nodes[block->namespaces[i]];
        _cleanup_(pn_udev_freep) PnUdev *udev = NULL;
        _cleanup_close_ int dir = pn_sysfs_open(block->dir, node->name);
        PnBlockUses *uses = object;
        int r;

        if (dir < 0)
                return dir == -ENOENT || dir == -ENOTDIR ? -ENODEV : dir;
        if (pn_udev_block(node->name, &udev) == -ENOMEM)
                return -ENOMEM;
        if ((r = pn_set_text(&uses->name, node->name)) < 0 ||
            (r = pn_sysfs_text(dir, "dev", &uses->device_number)) < 0)
                return r;
        uses->uses.state = PN_KNOWN;
        return find_uses(block, block->namespaces[i], dir, pn_text(&uses->device_number), udev,
                         &uses->uses);
}

static const char *namespace_name(const void *context, size_t i)
{
        const Block *block = context;

        return block->nodes[block->namespaces[i]].name;
}

/* ---- The source ---- */

int pn_source_block(PnEmit *emit, PnReport *report)
{
        Block *block = calloc(1, sizeof *block);
        PnWalk disks = {.source = "block",
                        .kind = PN_OBJECT_DISK,
                        .context = block,
                        .name = disk_name,
                        .read = read_disk};
        PnWalk namespaces = {.source = "block",
                             .kind = PN_OBJECT_NAMESPACE_USES,
                             .context = block,
                             .name = namespace_name,
                             .read = read_namespace};
        bool abandoned = false, abandoned_too = false;
        int r;

        if (!block)
                return -ENOMEM;
        block->dir = -1;
        r = list_nodes(block, report);
        if (r == 0)
                r = pn_mounts_read(&block->mounts);
        if (r == 0)
                r = list_btrfs(block);
        if (r == 0) {
                disks.n = block->n_disks;
                namespaces.n = block->n_namespaces;
                r = pn_walk(&disks, emit, report, &abandoned);
        }
        if (r == 0)
                r = pn_walk(&namespaces, emit, report, &abandoned_too);
        if (!abandoned && !abandoned_too) {
                block_done(block);
                free(block);
        }
        return r;
}
