/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replaces what identifies a machine by pseudonyms that are drawn at random, and knows of each text
 * field whether it does. No clock, no I/O; the caller lends the random bytes. */

#include "pseudonym.h"

#include <ctype.h>
#include <stdio.h>

/* A new text field of an inventory belongs here. One that is not is replaced as a name. */
static const struct {
        const char *type, *field;
        PnTreatment treatment;
} decided[] = {
    {"Product", "vendor", PN_TREAT_SCRUB},
    {"Product", "product", PN_TREAT_SCRUB},
    {"Bios", "version", PN_TREAT_SCRUB},
    {"Bios", "date", PN_TREAT_KEEP},
    {"Cpu", "model", PN_TREAT_SCRUB},
    {"Dimm", "locator", PN_TREAT_SCRUB},
    {"Dimm", "type", PN_TREAT_KEEP},
    {"Dimm", "manufacturer", PN_TREAT_SCRUB},
    {"Dimm", "part_number", PN_TREAT_SCRUB},
    {"Slot", "designation", PN_TREAT_SCRUB},
    {"Slot", "type", PN_TREAT_KEEP},
    {"Slot", "address", PN_TREAT_KEEP},
    {"Hottest", "name", PN_TREAT_REFERENCE},
    {"Hottest", "part", PN_TREAT_KEEP},
    {"Hottest", "part_name", PN_TREAT_REFERENCE},
    {"Hottest", "label", PN_TREAT_SCRUB},
    {"MostWorn", "name", PN_TREAT_KEEP},
    {"Host", "hostname", PN_TREAT_HOST},
    {"Host", "kernel", PN_TREAT_SCRUB},
    {"Host", "os", PN_TREAT_SCRUB},
    {"Host", "proxmox_version", PN_TREAT_KEEP},
    {"Host", "virtualization", PN_TREAT_KEEP},
    {"Pci", "address", PN_TREAT_KEEP},
    {"Pci", "class", PN_TREAT_KEEP},
    {"Pci", "vendor_id", PN_TREAT_KEEP},
    {"Pci", "device_id", PN_TREAT_KEEP},
    {"Pci", "subsystem_vendor_id", PN_TREAT_KEEP},
    {"Pci", "subsystem_device_id", PN_TREAT_KEEP},
    /* From the hardware database, by the ids above. */
    {"Pci", "vendor", PN_TREAT_KEEP},
    {"Pci", "name", PN_TREAT_KEEP},
    {"Pci", "driver", PN_TREAT_KEEP},
    {"Pci", "kind", PN_TREAT_KEEP},
    {"Pci", "parent", PN_TREAT_KEEP},
    {"Pci", "slot", PN_TREAT_SCRUB},
    {"Pci", "power", PN_TREAT_KEEP},
    {"Pci", "physical_function", PN_TREAT_KEEP},
    {"Use", "type", PN_TREAT_KEEP},
    {"Use", "name", PN_TREAT_NAME},
    {"Use", "device", PN_TREAT_SCRUB},
    {"Use", "mount", PN_TREAT_PATH},
    {"Namespace", "name", PN_TREAT_KEEP},
    {"Namespace", "device_number", PN_TREAT_KEEP},
    {"Health", "critical_warnings", PN_TREAT_KEEP},
    {"Health", "updated", PN_TREAT_KEEP},
    {"Nvme", "name", PN_TREAT_KEEP},
    {"Nvme", "address", PN_TREAT_KEEP},
    {"Nvme", "transport", PN_TREAT_KEEP},
    {"Nvme", "state", PN_TREAT_KEEP},
    {"Nvme", "model", PN_TREAT_SCRUB},
    {"Nvme", "serial", PN_TREAT_SERIAL},
    {"Nvme", "firmware", PN_TREAT_SCRUB},
    {"Nvme", "subsystem", PN_TREAT_NQN},
    {"NvmeHealth", "name", PN_TREAT_KEEP},
    {"NvmeHealth", "serial", PN_TREAT_SERIAL},
    {"Disk", "name", PN_TREAT_KEEP},
    {"Disk", "model", PN_TREAT_SCRUB},
    {"Disk", "serial", PN_TREAT_SERIAL},
    {"Disk", "wwn", PN_TREAT_WWN},
    {"Disk", "transport", PN_TREAT_KEEP},
    {"Disk", "address", PN_TREAT_KEEP},
    {"Disk", "device_number", PN_TREAT_KEEP},
    {"BlockUses", "name", PN_TREAT_KEEP},
    {"BlockUses", "device_number", PN_TREAT_KEEP},
    {"Reading", "label", PN_TREAT_SCRUB},
    {"Reading", "feature", PN_TREAT_KEEP},
    {"Reading", "kind", PN_TREAT_KEEP},
    {"Reading", "unit", PN_TREAT_KEEP},
    {"Chip", "chip", PN_TREAT_SCRUB},
    {"Chip", "device", PN_TREAT_REFERENCE},
    {"Chip", "part", PN_TREAT_KEEP},
    {"Chip", "part_name", PN_TREAT_REFERENCE},
    {"ModuleLength", "medium", PN_TREAT_KEEP},
    {"ModuleDiagnostics", "flags", PN_TREAT_KEEP},
    {"Module", "status", PN_TREAT_KEEP},
    {"Module", "form", PN_TREAT_KEEP},
    {"Module", "standard", PN_TREAT_KEEP},
    {"Module", "vendor", PN_TREAT_SCRUB},
    {"Module", "oui", PN_TREAT_KEEP},
    {"Module", "part_number", PN_TREAT_SCRUB},
    {"Module", "revision", PN_TREAT_SCRUB},
    {"Module", "serial", PN_TREAT_SERIAL},
    {"Module", "date_code", PN_TREAT_SCRUB},
    {"Module", "type", PN_TREAT_KEEP},
    {"Module", "connector", PN_TREAT_KEEP},
    {"BondMember", "name", PN_TREAT_INTERFACE},
    {"BondMember", "partner_mac", PN_TREAT_MAC},
    {"Bond", "mode", PN_TREAT_KEEP},
    {"Bond", "active_member", PN_TREAT_INTERFACE},
    {"Nic", "id", PN_TREAT_INTERFACE},
    {"Nic", "name", PN_TREAT_INTERFACE},
    {"Nic", "reason", PN_TREAT_KEEP},
    {"Nic", "kind", PN_TREAT_KEEP},
    {"Nic", "address", PN_TREAT_KEEP},
    {"Nic", "mac", PN_TREAT_MAC},
    {"Nic", "permanent_mac", PN_TREAT_MAC},
    {"Nic", "driver", PN_TREAT_KEEP},
    {"Nic", "fec", PN_TREAT_KEEP},
    {"Nic", "fec_configured", PN_TREAT_KEEP},
    {"Nic", "firmware", PN_TREAT_SCRUB},
    {"Nic", "state", PN_TREAT_KEEP},
    {"Nic", "link_reason", PN_TREAT_KEEP},
    {"Nic", "duplex", PN_TREAT_KEEP},
    {"Nic", "port", PN_TREAT_KEEP},
    {"Nic", "master", PN_TREAT_INTERFACE},
    {"Nic", "lower", PN_TREAT_INTERFACE},
    {"PortModule", "name", PN_TREAT_INTERFACE},
    {"PortModule", "address", PN_TREAT_KEEP},
    {"Source", "name", PN_TREAT_KEEP},
    {"Source", "state", PN_TREAT_KEEP},
    {"Source", "updated", PN_TREAT_KEEP},
    {"Source", "reason", PN_TREAT_REASON},
};

int pn_treatment_of(const char *type, const char *field, PnTreatment *ret)
{
        for (size_t i = 0; i < PN_ELEMENTS(decided); i++)
                if (strcmp(decided[i].type, type) == 0 && strcmp(decided[i].field, field) == 0) {
                        *ret = decided[i].treatment;
                        return 0;
                }
        return -ENOENT;
}

bool pn_treatment_row(size_t index, const char **ret_type, const char **ret_field)
{
        if (index >= PN_ELEMENTS(decided))
                return false;
        *ret_type = decided[index].type;
        *ret_field = decided[index].field;
        return true;
}

/* ---- what is remembered ---- */

#define BUCKETS 16384u

/* A longer one is not looked for inside of other texts. */
#define LETTERS_MAX 256u

typedef struct Secret {
        char *value, *pseudonym;
        size_t length; /* of the value */
        PnTreatment treatment;
        struct Secret *next_value, *next_pseudonym;
} Secret;

/* A secret by its letters and digits alone, as it may be spelled inside of another text: in small
 * letters, without what is between them, and perhaps without its leading zeros. */
typedef struct Spelling {
        const Secret *secret;
        char *letters;
        size_t n, skipped; /* letters, and zeros before them that are left out */
        struct Spelling *next;
} Spelling;

typedef struct Work {
        Secret *by_value[BUCKETS], *by_pseudonym[BUCKETS];
        Spelling *by_letters[BUCKETS]; /* those to look for inside of other texts */
        size_t longest;                /* of these */
        bool keep_names;
        PnRandom random;
        void *userdata;
        unsigned char pool[256];
        size_t left; /* of the pool */
        PnPseudonymsMade made;
} Work;

#define HASH_BEGIN 2166136261u

static uint32_t hash_on(uint32_t h, char c)
{
        return (h ^ (unsigned char)c) * 16777619u;
}

static unsigned hash(const char *s)
{
        uint32_t h = HASH_BEGIN;

        for (; *s; s++)
                h = hash_on(h, *s);
        return h % BUCKETS;
}

static const Secret *find(const Work *work, const char *value)
{
        const Secret *secret = work->by_value[hash(value)];

        while (secret && strcmp(secret->value, value) != 0)
                secret = secret->next_value;
        return secret;
}

static bool is_taken(const Work *work, const char *pseudonym)
{
        const Secret *secret = work->by_pseudonym[hash(pseudonym)];

        while (secret && strcmp(secret->pseudonym, pseudonym) != 0)
                secret = secret->next_pseudonym;
        return secret;
}

static void work_done(Work *work)
{
        for (size_t i = 0; i < BUCKETS; i++) {
                for (Secret *secret = work->by_value[i], *next; secret; secret = next) {
                        next = secret->next_value;
                        free(secret->value);
                        free(secret->pseudonym);
                        free(secret);
                }
                for (Spelling *spelling = work->by_letters[i], *next; spelling; spelling = next) {
                        next = spelling->next;
                        free(spelling->letters);
                        free(spelling);
                }
        }
}

/* A letter or digit; a byte of what is not ASCII counts as one. */
static bool is_letter(char c)
{
        return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

static char small(char c)
{
        return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Whether a secret may be looked for in other texts: a short one would be found by chance. */
static bool is_searched(PnTreatment treatment, const char *value)
{
        size_t length = strlen(value);

        if (treatment == PN_TREAT_HOST && length == 3)
                return strpbrk(value, "0123456789"); /* db1 */
        return length >= (treatment == PN_TREAT_SERIAL ? 5 : 4);
}

static int add_spelling(Work *work, const Secret *secret, const char *letters, size_t skipped)
{
        Spelling *spelling = calloc(1, sizeof *spelling), **at = &work->by_letters[hash(letters)];

        if (!spelling)
                return -ENOMEM;
        *spelling = (Spelling){secret, strdup(letters), strlen(letters), skipped, *at};
        if (!spelling->letters) {
                free(spelling);
                return -ENOMEM;
        }
        *at = spelling;
        if (spelling->n > work->longest)
                work->longest = spelling->n;
        return 0;
}

static int add_spellings(Work *work, const Secret *secret)
{
        char letters[LETTERS_MAX];
        size_t n = 0, zeros;
        int r;

        for (const char *s = secret->value; *s; s++)
                if (is_letter(*s)) {
                        if (n == sizeof letters - 1)
                                return 0;
                        letters[n++] = small(*s);
                }
        letters[n] = '\0';
        r = n ? add_spelling(work, secret, letters, 0) : 0;
        zeros = strspn(letters, "0");
        if (r == 0 && secret->treatment == PN_TREAT_SERIAL && zeros && n - zeros >= 6)
                r = add_spelling(work, secret, letters + zeros, zeros);
        return r;
}

static int remember(Work *work, const char *value, const char *pseudonym, PnTreatment treatment)
{
        Secret *secret = calloc(1, sizeof *secret), **at;

        if (!secret)
                return -ENOMEM;
        *secret = (Secret){strdup(value), strdup(pseudonym), strlen(value), treatment, 0, 0};
        if (!secret->value || !secret->pseudonym) {
                free(secret->value);
                free(secret->pseudonym);
                free(secret);
                return -ENOMEM;
        }
        at = &work->by_value[hash(value)];
        secret->next_value = *at;
        *at = secret;
        at = &work->by_pseudonym[hash(pseudonym)];
        secret->next_pseudonym = *at;
        *at = secret;
        return is_searched(treatment, value) ? add_spellings(work, secret) : 0;
}

/* ---- drawing ---- */

static int draw(Work *work, unsigned n, unsigned *ret)
{
        unsigned limit = 256 - 256 % n;

        for (;;) {
                unsigned byte;

                if (!work->left) {
                        int r = work->random(work->userdata, work->pool, sizeof work->pool);

                        if (r < 0)
                                return r;
                        work->left = sizeof work->pool;
                }
                byte = work->pool[--work->left];
                if (byte < limit) {
                        *ret = byte % n;
                        return 0;
                }
        }
}

static bool is_hex(const char *s)
{
        bool upper = false, lower = false, digit = false;
        size_t n = 0;

        for (; *s; s++) {
                if (!isalnum((unsigned char)*s))
                        continue;
                if (!isxdigit((unsigned char)*s))
                        return false;
                n++;
                upper |= *s >= 'A' && *s <= 'F';
                lower |= *s >= 'a' && *s <= 'f';
                digit |= *s >= '0' && *s <= '9';
        }
        return n >= 8 && digit && upper != lower;
}

/* Draws for every letter and digit after the first `keep` bytes one of its kind; of a number in
 * hexadecimal, one that leaves it that. What is not ASCII becomes a letter. */
static int draw_shape(Work *work, const char *value, size_t keep, bool hex, char *pseudonym)
{
        static const char digits[] = "0123456789", lower[] = "abcdefghijklmnopqrstuvwxyz",
                          upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", low_hex[] = "0123456789abcdef",
                          up_hex[] = "0123456789ABCDEF";
        bool up = strpbrk(value, "ABCDEF");
        size_t at = keep;

        memcpy(pseudonym, value, keep);
        for (const char *s = value + keep; *s; s++) {
                unsigned char c = (unsigned char)*s;
                const char *from = c >= 0x80 || (c >= 'a' && c <= 'z') ? lower
                                   : c >= 'A' && c <= 'Z'              ? upper
                                   : c >= '0' && c <= '9'              ? digits
                                                                       : NULL;
                unsigned i;
                int r;

                if ((c & 0xc0) == 0x80)
                        continue; /* the rest of a character */
                if (!from) {
                        pseudonym[at++] = *s;
                        continue;
                }
                if (hex)
                        from = up ? up_hex : low_hex;
                r = draw(work, (unsigned)strlen(from), &i);
                if (r < 0)
                        return r;
                pseudonym[at++] = from[i];
        }
        pseudonym[at] = '\0';
        return 0;
}

/* Whether there is anything to draw for after the first `keep` bytes. */
static bool has_shape(const char *value, size_t keep)
{
        for (const char *s = value + keep; *s; s++)
                if ((unsigned char)*s >= 0x80 || isalnum((unsigned char)*s))
                        return true;
        return false;
}

/* Finds or makes the pseudonym of a value whose first `keep` bytes stay. */
static int pseudonym_for(Work *work, const char *value, size_t keep, PnTreatment treatment)
{
        /* Where a shape has fewer members than values, digits follow it. */
        size_t room = strlen(value) + 16;
        _cleanup_free_ char *pseudonym = NULL;
        bool hex = treatment == PN_TREAT_MAC || treatment == PN_TREAT_WWN || is_hex(value + keep);

        if (find(work, value) || !has_shape(value, keep))
                return 0;
        pseudonym = malloc(room);
        if (!pseudonym)
                return -ENOMEM;
        for (unsigned attempt = 0;; attempt++) {
                int r = draw_shape(work, value, keep, hex, pseudonym);

                if (r < 0)
                        return r;
                if (attempt >= 64) {
                        size_t length = strlen(pseudonym);

                        (void)snprintf(pseudonym + length, room - length, "%u", attempt);
                }
                /* Nor may it be another's value: texts with both would say that they are one. */
                if (!is_taken(work, pseudonym) && strcmp(pseudonym, value) != 0 &&
                    !find(work, pseudonym))
                        break;
        }
        work->made.n[treatment]++;
        return remember(work, value, pseudonym, treatment);
}

/* ---- each kind of identity ---- */

/* Whether the n bytes are hexadecimal digits (`x`) and what else the pattern has. */
static bool matches(const char *s, const char *pattern)
{
        for (; *pattern; s++, pattern++)
                if (*pattern == 'x' ? !isxdigit((unsigned char)*s) : *s != *pattern)
                        return false;
        return true;
}

static const char mac_pattern[] = "xx:xx:xx:xx:xx:xx";
static const char uuid_pattern[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

/* An address of nobody and everybody's: LACP says with the first that there is no partner. */
static bool is_no_mac(const char *mac)
{
        return strspn(mac, "0:") == strlen(mac) || strspn(mac, "fF:") == strlen(mac);
}

/* A MAC without colons stands in names of interfaces; with two bytes in its middle, and perhaps
 * with the bit for universal addresses turned, in EUI-64s, GUIDs and link-local addresses. */
static int add_other_macs(Work *work, const char *mac, const char *pseudonym)
{
        static const struct {
                const char *middle;
                unsigned turn;
        } forms[] = {{"", 0}, {"fffe", 0}, {"fffe", 2}, {"0300", 0}, {"0003", 0}, {"0000", 0}};
        unsigned from[6], to[6];

        if (sscanf(mac, "%2x:%2x:%2x:%2x:%2x:%2x", &from[0], &from[1], &from[2], &from[3], &from[4],
                   &from[5]) != 6 ||
            sscanf(pseudonym, "%2x:%2x:%2x:%2x:%2x:%2x", &to[0], &to[1], &to[2], &to[3], &to[4],
                   &to[5]) != 6)
                return 0;
        for (size_t i = 0; i < PN_ELEMENTS(forms); i++) {
                char value[17], other[17];
                int r;

                (void)snprintf(value, sizeof value, "%02x%02x%02x%s%02x%02x%02x",
                               (from[0] ^ forms[i].turn) & 255, from[1] & 255, from[2] & 255,
                               forms[i].middle, from[3] & 255, from[4] & 255, from[5] & 255);
                (void)snprintf(other, sizeof other, "%02x%02x%02x%s%02x%02x%02x",
                               (to[0] ^ forms[i].turn) & 255, to[1] & 255, to[2] & 255,
                               forms[i].middle, to[3] & 255, to[4] & 255, to[5] & 255);
                r = find(work, value) ? 0 : remember(work, value, other, PN_TREAT_MAC);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int add_mac(Work *work, const char *value)
{
        const Secret *secret;
        unsigned first = 0;
        int r;

        if (!matches(value, mac_pattern) || value[17])
                return pseudonym_for(work, value, 0, PN_TREAT_SERIAL);
        if (is_no_mac(value))
                return 0;
        (void)sscanf(value, "%2x", &first);
        /* A locally administered address was made up: its first bytes name no maker. */
        r = pseudonym_for(work, value, first & 2 ? 2 : 8, PN_TREAT_MAC);
        secret = r == 0 ? find(work, value) : NULL;
        return secret ? add_other_macs(work, value, secret->pseudonym) : r;
}

static int add_nqn(Work *work, const char *value)
{
        static const char *const standard[] = {
            "nqn.2014-08.org.nvmexpress:uuid:", "nqn.2014-08.org.nvmexpress:",
            "nqn.2014.08.org.nvmexpress:"};

        for (size_t i = 0; i < PN_ELEMENTS(standard); i++)
                if (pn_startswith(value, standard[i]))
                        return pseudonym_for(work, value, strlen(standard[i]), PN_TREAT_NQN);
        return pseudonym_for(work, value, matches(value, "nqn.") ? 4 : 0, PN_TREAT_NQN);
}

static int add_wwn(Work *work, const char *value)
{
        static const struct {
                const char *prefix;
                size_t keep;
        } forms[] = {{"naa.5", 11}, {"naa.6", 11}, {"eui.", 10}, {"0x5", 9},
                     {"0x6", 9},    {"naa.", 5},   {"0x", 3},    {"uuid.", 5}};

        for (size_t i = 0; i < PN_ELEMENTS(forms); i++)
                if (pn_startswith(value, forms[i].prefix) && strlen(value) > forms[i].keep)
                        return pseudonym_for(work, value, forms[i].keep, PN_TREAT_WWN);
        /* Those of kind t10 are made of maker, model and serial number. */
        return pseudonym_for(work, value, pn_startswith(value, "t10.") ? 4 : 0, PN_TREAT_SERIAL);
}

/* What follows the words that a standard puts before an NQN or a world wide name stands alone
 * elsewhere: in names of links below /dev/disk/by-id, for example. */
static int add_tail(Work *work, const char *value)
{
        static const char *const prefixes[] = {"nqn.2014-08.org.nvmexpress:uuid:",
                                               "nqn.2014-08.org.nvmexpress:",
                                               "nqn.2014.08.org.nvmexpress:",
                                               "naa.",
                                               "eui.",
                                               "uuid.",
                                               "t10.",
                                               "0x"};
        const Secret *secret = find(work, value);

        for (size_t i = 0; secret && i < PN_ELEMENTS(prefixes); i++) {
                size_t n = strlen(prefixes[i]);

                if (pn_startswith(value, prefixes[i]))
                        return strlen(value) < n + 8 || find(work, value + n)
                                   ? 0
                                   : remember(work, value + n, secret->pseudonym + n,
                                              PN_TREAT_SERIAL);
        }
        return 0;
}

/* Names that say nothing of whose machine it is: what Debian's, Proxmox's and systemd's tools use
 * unasked, and the standard's directories. */
static bool is_common(const char *name)
{
        static const char *const common[] = {"rpool",
                                             "bpool",
                                             "pve",
                                             "boot",
                                             "efi",
                                             "EFI",
                                             "ESP",
                                             "esp",
                                             "ROOT",
                                             "root",
                                             "home",
                                             "var",
                                             "lib",
                                             "log",
                                             "tmp",
                                             "usr",
                                             "opt",
                                             "srv",
                                             "mnt",
                                             "media",
                                             "run",
                                             "etc",
                                             "local",
                                             "vz",
                                             "data",
                                             "swap",
                                             "spool",
                                             "cache",
                                             "ext2",
                                             "ext3",
                                             "ext4",
                                             "xfs",
                                             "btrfs",
                                             "vfat",
                                             "ntfs",
                                             "exfat",
                                             "f2fs",
                                             "zfs",
                                             "iso9660",
                                             "squashfs",
                                             "erofs",
                                             "System",
                                             "EFI System Partition",
                                             "cdrom",
                                             "docker",
                                             "ceph",
                                             "osd",
                                             "images",
                                             "libvirt",
                                             "backup",
                                             "snap"};

        if (strspn(name, "0123456789") == strlen(name))
                return true;
        for (size_t i = 0; i < PN_ELEMENTS(common); i++)
                if (strcmp(name, common[i]) == 0)
                        return true;
        return false;
}

/* Whether the kernel, udev's policy or a distribution's tools name interfaces like this. */
static bool is_made_up(const char *name)
{
        static const char *const stems[] = {"lo",   "eth",   "wlan", "ib",   "usb",   "bond",
                                            "br",   "vmbr",  "team", "vlan", "dummy", "veth",
                                            "tap",  "fwbr",  "fwln", "fwpr", "virbr", "docker",
                                            "wwan", "vxlan", "wg"};
        static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
        size_t stem = strspn(name, letters);
        const char *rest = name + stem;

        if (strspn(name, "0123456789") == strlen(name))
                return true;
        for (size_t i = 0; i < PN_ELEMENTS(stems); i++)
                if (strlen(stems[i]) == stem && strncmp(name, stems[i], stem) == 0 &&
                    strspn(rest, "0123456789") == strlen(rest))
                        return true;
        /* eno1, ens3f0np0, enP2p1s0: a type, and places and numbers. */
        if (strncmp(name, "en", 2) && strncmp(name, "wl", 2) && strncmp(name, "ib", 2) &&
            strncmp(name, "ww", 2) && strncmp(name, "sl", 2))
                return false;
        for (rest = name + 2; *rest;) {
                if (!strchr("opsfndubciaPvr", *rest) || !isdigit((unsigned char)rest[1]))
                        return *rest == 'n' && rest[1] == 'p' && isdigit((unsigned char)rest[2]) &&
                               strspn(rest + 2, "0123456789") == strlen(rest + 2);
                rest += 1 + strspn(rest + 1, "0123456789");
        }
        return name[2];
}

/* A port without an interface goes by its function's address, whose domain may be long. */
static bool is_address(const char *name)
{
        size_t domain = strspn(name, "0123456789abcdef");

        return domain >= 4 && matches(name + domain, ":xx:xx.x") && !name[domain + 8];
}

/* Adds the parts of a text that separators divide. */
static int add_parts(Work *work, const char *value, const char *separators, PnTreatment treatment)
{
        while (*value) {
                size_t n = strcspn(value, separators);
                _cleanup_free_ char *part = strndup(value, n);
                int r = 0;

                if (!part)
                        return -ENOMEM;
                if (n && !(treatment == PN_TREAT_HOST        ? false
                           : treatment == PN_TREAT_INTERFACE ? is_made_up(part)
                                                             : is_common(part)))
                        r = pseudonym_for(work, part, 0, treatment);
                if (r < 0)
                        return r;
                value += n + (value[n] != '\0');
        }
        return 0;
}

static const char *separators_of(PnTreatment treatment)
{
        switch (treatment) {
        case PN_TREAT_HOST:
        case PN_TREAT_INTERFACE:
                return ".";
        case PN_TREAT_PATH:
                return "/";
        default:
                return "/:";
        }
}

static bool is_name(PnTreatment treatment)
{
        return treatment == PN_TREAT_INTERFACE || treatment == PN_TREAT_NAME ||
               treatment == PN_TREAT_PATH;
}

/* enx001b21aabbcc is named after an address that may have been read nowhere else. */
static bool is_named_after_mac(const char *name)
{
        return strlen(name) == 15 && matches(name + 3, "xxxxxxxxxxxx") &&
               (pn_startswith(name, "enx") || pn_startswith(name, "wlx"));
}

static int add(Work *work, const char *value, PnTreatment treatment)
{
        switch (treatment) {
        case PN_TREAT_HOST:
                return add_parts(work, value, ".", treatment);
        case PN_TREAT_SERIAL:
                return pseudonym_for(work, value, 0, treatment);
        case PN_TREAT_MAC:
                return add_mac(work, value);
        case PN_TREAT_NQN:
                return add_nqn(work, value);
        case PN_TREAT_WWN:
                return add_wwn(work, value);
        case PN_TREAT_INTERFACE:
                if (is_named_after_mac(value))
                        return pseudonym_for(work, value + 3, 6, PN_TREAT_MAC);
                if (is_address(value))
                        return 0;
                /* fall through */
        case PN_TREAT_NAME:
        case PN_TREAT_PATH:
                if (work->keep_names)
                        return 0;
                return add_parts(work, value, separators_of(treatment), treatment);
        default:
                return 0;
        }
}

/* ---- putting them in ---- */

static bool is_boundary(char c)
{
        return !isalnum((unsigned char)c) && (unsigned char)c < 0x80;
}

/* A piece of a text that spells a secret. */
typedef struct Piece {
        const Spelling *spelling; /* NULL: there is none */
        size_t length;
} Piece;

static bool has_upper(const char *s, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (s[i] >= 'A' && s[i] <= 'Z')
                        return true;
        return false;
}

static bool has_lower(const char *s, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (s[i] >= 'a' && s[i] <= 'z')
                        return true;
        return false;
}

/* Whether a piece of a text may be taken for the secret. Host names and names, which may be words,
 * only as words; serial numbers and addresses wherever they stand, if they are spelled with the
 * same separators. */
static bool is_spelled(const Spelling *spelling, const char *text, size_t at, size_t length,
                       bool names)
{
        const Secret *secret = spelling->secret;
        bool same = spelling->skipped == 0 && length == secret->length &&
                    strncmp(text + at, secret->value, length) == 0;
        bool same_but_case = length == secret->length && !spelling->skipped;
        size_t before = at;

        if (is_name(secret->treatment) && (!names || !same))
                return false;
        for (size_t i = 0; same_but_case && i < length; i++)
                same_but_case = small(text[at + i]) == small(secret->value[i]);
        /* DB1 may be db1; but Debian is not the host debian. */
        if (secret->treatment == PN_TREAT_HOST &&
            (!same_but_case ||
             (!same && has_upper(text + at, length) && has_lower(text + at, length))))
                return false;
        if (!same_but_case) {
                bool is_whole = true, has_digit = strpbrk(spelling->letters, "0123456789");

                for (size_t i = 0; i < length; i++)
                        is_whole &= is_letter(text[at + i]);
                if (spelling->n < 6 || !has_digit)
                        return false;
                /* In one piece it is as good as the value itself. */
                same_but_case = is_whole;
        }
        if (same_but_case && spelling->n >= 6 && !is_name(secret->treatment) &&
            secret->treatment != PN_TREAT_HOST)
                return true;
        while (!same && before && text[before - 1] == '0')
                before--;
        return (!before || is_boundary(text[before - 1])) && is_boundary(text[at + length]);
}

/* The longest secret that is spelled here: the serial number in a name that has it, not a part. */
static Piece secret_at(const Work *work, const char *text, size_t at, bool names)
{
        char letters[LETTERS_MAX];
        uint32_t h = HASH_BEGIN;
        Piece best = {0};
        size_t n = 0;

        if (!is_letter(text[at]))
                return best;
        for (size_t end = at; text[end] && n < work->longest; end++) {
                if (!is_letter(text[end])) {
                        if (!strchr("-:._ ", text[end]))
                                break;
                        continue;
                }
                letters[n++] = small(text[end]);
                h = hash_on(h, letters[n - 1]);
                for (const Spelling *spelling = work->by_letters[h % BUCKETS]; spelling;
                     spelling = spelling->next)
                        if (spelling->n == n && memcmp(spelling->letters, letters, n) == 0 &&
                            is_spelled(spelling, text, at, end + 1 - at, names)) {
                                best = (Piece){spelling, end + 1 - at};
                                break;
                        }
        }
        return best;
}

/* Puts the pseudonym as the secret is spelled there. */
static void put_spelled(const Piece *piece, const char *text, PnBuf *out)
{
        const Secret *secret = piece->spelling->secret;
        const char *from = secret->pseudonym;
        bool upper = has_upper(text, piece->length), lower = has_lower(text, piece->length);

        if (piece->length == secret->length && !piece->spelling->skipped &&
            strncmp(text, secret->value, piece->length) == 0) {
                pn_buf_puts(out, secret->pseudonym);
                return;
        }
        for (size_t skip = piece->spelling->skipped; skip && *from; from++)
                skip -= is_letter(*from);
        for (size_t i = 0; i <= piece->length; i++) {
                /* After the last letter comes what the pseudonym has more of. */
                bool is_last = i == piece->length;

                if (!is_last && !is_letter(text[i])) {
                        pn_buf_put(out, text + i, 1);
                        continue;
                }
                while (*from && !is_letter(*from))
                        from++;
                do {
                        char c = *from;

                        if (!c)
                                break;
                        from++;
                        if (upper != lower)
                                c = upper ? (char)toupper((unsigned char)c) : small(c);
                        if (is_letter(c))
                                pn_buf_put(out, &c, 1);
                } while (is_last);
        }
}

/* How many hexadecimal digits there are, one after the other. */
static size_t hex_digits(const char *s)
{
        size_t n = 0;

        while (isxdigit((unsigned char)s[n]))
                n++;
        return n;
}

/* An address or a UUID that no field gave, in the middle of a text: a MAC as three kinds of makers
 * write it, and a number in hexadecimal of 64 bits or more, by which drives and ports go. */
static int add_pattern_at(Work *work, const char *text, size_t at)
{
        static const char *const macs[] = {mac_pattern, "xx-xx-xx-xx-xx-xx", "xxxx.xxxx.xxxx"};
        const char *s = text + at;
        _cleanup_free_ char *value = NULL;
        size_t digits = hex_digits(s);

        if ((at && !is_boundary(text[at - 1]) &&
             !(at >= 2 && text[at - 2] == '0' && text[at - 1] == 'x')) ||
            !digits)
                return 0;
        for (size_t i = 0; i < PN_ELEMENTS(macs); i++) {
                size_t length = strlen(macs[i]);
                char mac[18] = "";

                if (!matches(s, macs[i]) || isxdigit((unsigned char)s[length]))
                        continue;
                /* Digits alone may be a date or a version. */
                if (i && strcspn(s, "abcdefABCDEF") >= length)
                        continue;
                for (size_t k = 0, n = 0; k < length && n < 17; k++)
                        if (isxdigit((unsigned char)s[k])) {
                                mac[n++] = i ? small(s[k]) : s[k];
                                if (n % 3 == 2 && n < 17)
                                        mac[n++] = ':';
                        }
                return add_mac(work, mac);
        }
        if (matches(s, uuid_pattern))
                value = strndup(s, sizeof uuid_pattern - 1);
        else if (digits >= 16 && strspn(s, "0123456789") < digits && is_boundary(s[digits]))
                value = strndup(s, digits);
        else
                return 0;
        if (!value)
                return -ENOMEM;
        /* It may be known by another spelling. */
        if (secret_at(work, text, at, false).length >= strlen(value))
                return 0;
        return pseudonym_for(work, value, 0, PN_TREAT_SERIAL);
}

/* The domain that follows a host's name, which may have been given without. */
static int scrub_domain(Work *work, const char *text, PnBuf *out, size_t *ret_length)
{
        size_t at = 0;

        while (text[at] == '.' && isalnum((unsigned char)text[at + 1])) {
                size_t n = 1;
                _cleanup_free_ char *label = NULL;
                const Secret *secret;
                int r;

                while (isalnum((unsigned char)text[at + 1 + n]) || text[at + 1 + n] == '-')
                        n++;
                label = strndup(text + at + 1, n);
                r = label ? pseudonym_for(work, label, 0, PN_TREAT_HOST) : -ENOMEM;
                if (r < 0)
                        return r;
                secret = find(work, label);
                pn_buf_puts(out, ".");
                pn_buf_puts(out, secret ? secret->pseudonym : label);
                at += 1 + n;
        }
        *ret_length = at;
        return 0;
}

static int scrub(Work *work, const char *text, bool names, PnBuf *out)
{
        for (size_t at = 0; text[at];) {
                int r = add_pattern_at(work, text, at);
                Piece piece;
                size_t domain = 0;

                if (r < 0)
                        return r;
                piece = secret_at(work, text, at, names);
                if (!piece.spelling) {
                        pn_buf_put(out, text + at, 1);
                        at++;
                        continue;
                }
                put_spelled(&piece, text + at, out);
                at += piece.length;
                if (piece.spelling->secret->treatment == PN_TREAT_HOST)
                        r = scrub_domain(work, text + at, out, &domain);
                if (r < 0)
                        return r;
                at += domain;
        }
        return 0;
}

static void put_parts(const Work *work, const char *value, const char *separators, PnBuf *out)
{
        while (*value) {
                size_t n = strcspn(value, separators);
                _cleanup_free_ char *part = strndup(value, n);
                const Secret *secret = part ? find(work, part) : NULL;

                if (!part)
                        out->error = -ENOMEM;
                else
                        pn_buf_puts(out, secret ? secret->pseudonym : part);
                if (value[n])
                        pn_buf_put(out, value + n, 1);
                value += n + (value[n] != '\0');
        }
}

/* The text as it may be shown (malloc'ed). */
static int replaced(Work *work, const char *value, PnTreatment treatment, char **ret)
{
        const Secret *secret = treatment == PN_TREAT_KEEP ? NULL : find(work, value);
        _cleanup_buf_ PnBuf out = {0};
        int r = 0;

        if (work->keep_names && is_name(treatment))
                treatment = PN_TREAT_SCRUB;
        if (treatment == PN_TREAT_INTERFACE && is_named_after_mac(value))
                treatment = PN_TREAT_SCRUB;
        pn_buf_puts(&out, "");
        if (treatment == PN_TREAT_KEEP)
                pn_buf_puts(&out, value);
        else if (secret && treatment != PN_TREAT_SCRUB && treatment != PN_TREAT_REASON)
                pn_buf_puts(&out, secret->pseudonym);
        else if (treatment == PN_TREAT_HOST || is_name(treatment))
                put_parts(work, value, separators_of(treatment), &out);
        else
                r = scrub(work, value, treatment == PN_TREAT_REASON, &out);
        return r < 0 ? r : pn_buf_take(&out, ret, NULL);
}

static int replace(Work *work, char **value, PnTreatment treatment)
{
        char *to = NULL;
        int r = replaced(work, *value, treatment, &to);

        if (r < 0)
                return r;
        free(*value);
        *value = to;
        return 0;
}

/* ---- all texts of an inventory ---- */

typedef enum Pass { PASS_SECRETS, PASS_NAMES, PASS_REPLACE } Pass;

static int treat(Work *work, Pass pass, char **value, PnTreatment treatment)
{
        if (pass == PASS_REPLACE)
                return replace(work, value, treatment);
        if (pass == PASS_NAMES && (treatment == PN_TREAT_NQN || treatment == PN_TREAT_WWN))
                return add_tail(work, *value);
        /* Names come later: some are made of addresses and host names. */
        if (is_name(treatment) != (pass == PASS_NAMES))
                return 0;
        return add(work, *value, treatment);
}

static int treat_object(Work *work, Pass pass, const PnType *type, void *object);

static int treat_field(Work *work, Pass pass, const PnType *type, const PnField *field, void *at)
{
        PnTreatment treatment;
        PnText *text = at;
        PnTexts *texts = at;
        PnRef *ref = at;
        PnList *list = at;
        int r = 0;

        if (pn_treatment_of(type->name, field->name, &treatment) < 0)
                treatment = PN_TREAT_NAME;
        switch (field->kind) {
        case PN_KIND_KEY:
        case PN_KIND_TEXT:
                return text->v ? treat(work, pass, &text->v, treatment) : 0;
        case PN_KIND_TEXTS:
                for (unsigned i = 0; i < texts->n && r == 0; i++)
                        r = treat(work, pass, &texts->v[i], treatment);
                return r;
        case PN_KIND_OBJ:
        case PN_KIND_ONE:
                return ref->v ? treat_object(work, pass, field->type(), ref->v) : 0;
        case PN_KIND_LIST:
        case PN_KIND_MANY:
                for (unsigned i = 0; i < list->n && r == 0; i++)
                        r = treat_object(work, pass, field->type(),
                                         (char *)list->v + (size_t)i * field->type()->size);
                return r;
        default:
                return 0;
        }
}

/* Goes as deep as types contain each other, whatever the inventory holds. */
static int treat_object(Work *work, Pass pass, const PnType *type, void *object)
{
        int r = 0;

        for (unsigned i = 0; i < type->n_fields && r == 0; i++)
                r = treat_field(work, pass, type, &type->fields[i],
                                pn_field_at(&type->fields[i], object));
        return r;
}

int pn_pseudonymise(PnInventory *inventory, bool keep_names, PnRandom random, void *userdata,
                    PnPseudonymsMade *ret)
{
        _cleanup_free_ Work *work = calloc(1, sizeof *work);
        int r = 0;

        if (!work)
                return -ENOMEM;
        work->keep_names = keep_names;
        work->random = random;
        work->userdata = userdata;
        for (Pass pass = PASS_SECRETS; pass <= PASS_REPLACE && r == 0; pass++)
                r = treat_object(work, pass, pn_type_Inventory(), inventory);
        if (r == 0)
                *ret = work->made;
        work_done(work);
        return r;
}
