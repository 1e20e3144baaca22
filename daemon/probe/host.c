/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The machine: firmware's names, processors, memory, and the software that runs it. Knows nothing
 * of devices. */
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "pcie.h"
#include "smbios.h"
#include "source.h"
#include "sysfs.h"
#include "text.h"
#include "walk.h"

#define DMI    "/sys/class/dmi/id"
#define SMBIOS "/sys/firmware/dmi/tables/DMI"
#define CPUS   "/sys/devices/system/cpu"

/* Bounds for what a kernel or a package manager could ever write there. */
#define CPUINFO_MAX     ((size_t)32 << 20)
#define SMBIOS_MAX      ((size_t)1 << 20)
#define DPKG_STATUS_MAX ((size_t)256 << 20)
#define CPUS_MAX        65536u
#define READ_BUFFER     65536u

/* ---- Firmware's names ---- */

/* What board makers leave in a field that they did not fill in; without regard to case. */
static bool is_filler(const char *s)
{
        static const char *const fillers[] = {
            "to be filled by o.e.m.",
            "to be filled by o.e.m",
            "to be filled",
            "system product name",
            "system manufacturer",
            "system version",
            "system serial number",
            "base board product name",
            "default string",
            "o.e.m.",
            "oem",
            "oem_string",
            "none",
            "n/a",
            "not applicable",
            "not available",
            "not specified",
            "not present",
            "unspecified",
            "unknown",
            "undefined",
            "empty",
            "invalid",
            "product name",
            "manufacturer",
            "type1productconfigid",
            "sku",
            "???",
        };

        if (s[strspn(s, " .-_0xX*?")] == '\0')
                return true;
        for (size_t i = 0; i < PN_ELEMENTS(fillers); i++)
                if (strcasecmp(s, fillers[i]) == 0)
                        return true;
        return false;
}

static int read_dmi(int dir, const char *name, PnText *ret)
{
        int r = pn_sysfs_label(dir, name, ret);

        if (r == 0 && ret->state == PN_KNOWN && is_filler(ret->v))
                pn_take_text(ret, NULL);
        return r;
}

static int read_product(int dir, const char *vendor, const char *product, PnProduct *ret)
{
        int r = read_dmi(dir, vendor, &ret->vendor);

        return r < 0 ? r : read_dmi(dir, product, &ret->product);
}

static int read_firmware(PnHost *host)
{
        _cleanup_close_ int dir = pn_sysfs_open(AT_FDCWD, DMI);
        PnProduct *machine, *board;
        PnBios *bios;
        int r;

        if (dir < 0)
                return 0; /* no DMI, as on many Arm and POWER machines */
        machine = PN_NEW(&host->machine);
        board = machine ? PN_NEW(&host->board) : NULL;
        bios = board ? PN_NEW(&host->bios) : NULL;
        if (!bios)
                return -ENOMEM;
        if ((r = read_product(dir, "sys_vendor", "product_name", machine)) < 0 ||
            (r = read_product(dir, "board_vendor", "board_name", board)) < 0 ||
            (r = read_dmi(dir, "bios_version", &bios->version)) < 0)
                return r;
        return read_dmi(dir, "bios_date", &bios->date);
}

/* ---- SMBIOS ---- */

static int fill_slot(const PnSmbiosSlot *from, PnSlot *to)
{
        char address[PN_PCI_ADDRESS_MAX];
        int r;

        if ((r = pn_set_text(&to->designation, from->designation)) < 0 ||
            (r = pn_set_text(&to->type, from->type_name)) < 0)
                return r;
        if (from->generation)
                to->speed = pn_real(pn_pcie_gts(from->generation));
        if (from->lanes)
                to->width = pn_int(from->lanes);
        if (from->in_use == PN_SLOT_FREE || from->in_use == PN_SLOT_IN_USE)
                to->in_use = pn_bool(from->in_use == PN_SLOT_IN_USE);
        return pn_set_text(&to->address, from->has_address
                                             ? pn_pci_address_format(&from->address, address)
                                             : NULL);
}

static int fill_dimm(const PnSmbiosDimm *from, PnDimm *to)
{
        int r;

        if ((r = pn_set_text(&to->locator, from->locator)) < 0 ||
            (r = pn_set_text(&to->type, from->type_name)) < 0 ||
            (r = pn_set_text(&to->manufacturer, from->manufacturer)) < 0)
                return r;
        if (from->size_known && from->size_bytes > INT64_MAX)
                to->size_bytes.state = PN_UNREAD_OVERFLOW;
        else if (from->size_known && from->size_bytes > 0)
                to->size_bytes = pn_int((int64_t)from->size_bytes);
        if (from->speed_mts)
                to->speed_mts = pn_int(from->speed_mts);
        if (from->configured_mts)
                to->configured_mts = pn_int(from->configured_mts);
        return pn_set_text(&to->part_number, from->part_number);
}

static int read_smbios(PnHost *host)
{
        _cleanup_(pn_smbios_done) PnSmbios smbios = {0};
        _cleanup_free_ char *table = NULL;
        size_t n;
        int r = pn_read_file(AT_FDCWD, SMBIOS, SMBIOS_MAX, &table, &n);

        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                if (r != -ENOENT)
                        host->slots.state = host->dimms.state = pn_reason_from_errno(r);
                return 0;
        }
        r = pn_smbios_decode((const uint8_t *)table, n, &smbios);
        if (r < 0)
                return r;
        host->slots.state = host->dimms.state = PN_KNOWN;
        for (size_t i = 0; i < smbios.n_slots; i++) {
                PnSlot *slot = PN_APPEND(&host->slots);

                if (!slot || fill_slot(&smbios.slots[i], slot) < 0)
                        return -ENOMEM;
        }
        for (size_t i = 0; i < smbios.n_dimms; i++) {
                PnDimm *dimm = PN_APPEND(&host->dimms);

                if (!dimm || fill_dimm(&smbios.dimms[i], dimm) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* ---- Processors ---- */

/* The value of a line "key<blanks>: value" with this key, or NULL. The line is NUL-terminated. */
static const char *colon_value(const char *line, const char *key)
{
        size_t n = strlen(key);

        if (strncmp(line, key, n) != 0)
                return NULL;
        line += n;
        line += strspn(line, " \t");
        if (*line != ':')
                return NULL;
        line++;
        return line + strspn(line, " \t");
}

/* Counts distinct 64-bit numbers by sorting them. */
static int compare_u64(const void *a, const void *b)
{
        const uint64_t *x = a, *y = b;

        return *x < *y ? -1 : *x > *y;
}

static int64_t count_distinct(uint64_t *v, size_t n)
{
        int64_t distinct = 0;

        if (n > 1)
                qsort(v, n, sizeof *v, compare_u64);
        for (size_t i = 0; i < n; i++)
                if (i == 0 || v[i] != v[i - 1])
                        distinct++;
        return distinct;
}

typedef struct Topology {
        uint64_t *packages; /* one entry a processor */
        uint64_t *cores;    /* package in the high half */
        size_t n;
} Topology;

static void topology_done(Topology *topology)
{
        free(topology->packages);
        free(topology->cores);
}

static int topology_add(Topology *topology, uint32_t package, uint32_t core)
{
        if ((topology->n & (topology->n - 1)) == 0) {
                size_t bigger = topology->n ? topology->n * 2 : 1;
                uint64_t *packages =
                    reallocarray(topology->packages, bigger, sizeof *topology->packages);
                uint64_t *cores;

                if (!packages)
                        return -ENOMEM;
                topology->packages = packages;
                cores = reallocarray(topology->cores, bigger, sizeof *topology->cores);
                if (!cores)
                        return -ENOMEM;
                topology->cores = cores;
        }
        topology->packages[topology->n] = package;
        topology->cores[topology->n++] = (uint64_t)package << 32 | core;
        return 0;
}

/* Where /proc/cpuinfo does not tell packages and cores (Arm, POWER, RISC-V), the kernel's topology
 * does. A package of -1 is one that the firmware did not describe: then it is one. */
static int read_topology(int64_t threads, Topology *topology)
{
        _cleanup_close_ int dir = pn_sysfs_open(AT_FDCWD, CPUS);

        for (unsigned i = 0; dir >= 0 && i < CPUS_MAX && (int64_t)topology->n < threads; i++) {
                char path[64];
                PnInt package, core;
                int r;

                (void)snprintf(path, sizeof path, "cpu%u/topology/physical_package_id", i);
                pn_sysfs_int(dir, path, &package);
                (void)snprintf(path, sizeof path, "cpu%u/topology/core_id", i);
                pn_sysfs_int(dir, path, &core);
                if (package.state != PN_KNOWN || core.state != PN_KNOWN)
                        break;
                r = topology_add(topology, package.v < 0 ? 0 : (uint32_t)package.v,
                                 (uint32_t)core.v);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Reads the processors, and whether they say that a hypervisor is below them. */
static int read_cpu(PnHost *host, bool *ret_hypervisor)
{
        _cleanup_(topology_done) Topology topology = {0};
        _cleanup_free_ char *text = NULL;
        int64_t threads = 0, package = -1, core = -1;
        PnCpu *cpu;
        size_t n;
        int r = pn_read_file(AT_FDCWD, "/proc/cpuinfo", CPUINFO_MAX, &text, &n);

        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                host->cpu.state = pn_reason_from_errno(r);
                return 0;
        }
        cpu = PN_NEW(&host->cpu);
        if (!cpu)
                return -ENOMEM;
        for (char *line = text, *next; line; line = next) {
                const char *value;

                next = strchr(line, '\n');
                if (next)
                        *next++ = '\0';
                if ((value = colon_value(line, "processor")) && isdigit((unsigned char)*value)) {
                        threads++;
                        package = core = -1;
                } else if ((value = colon_value(line, "physical id"))) {
                        package = pn_int_or(pn_parse_int(value), -1);
                } else if ((value = colon_value(line, "core id"))) {
                        core = pn_int_or(pn_parse_int(value), -1);
                        if (package >= 0 && core >= 0 &&
                            topology_add(&topology, (uint32_t)package, (uint32_t)core) < 0)
                                return -ENOMEM;
                } else if (cpu->model.state != PN_KNOWN &&
                           ((value = colon_value(line, "model name")) ||
                            (value = colon_value(line, "cpu")))) { /* the latter: POWER */
                        char *model;

                        r = pn_text_from_utf8(value, strlen(value), &model);
                        if (r < 0)
                                return r;
                        pn_take_text(&cpu->model, model);
                } else if ((value = colon_value(line, "flags"))) {
                        const char *flag = strstr(value, " hypervisor");

                        if (flag && (flag[11] == ' ' || flag[11] == '\0'))
                                *ret_hypervisor = true;
                }
        }
        if (threads)
                cpu->threads = pn_int(threads);
        if (topology.n == 0 && (r = read_topology(threads, &topology)) < 0)
                return r;
        if (topology.n) {
                cpu->sockets = pn_int(count_distinct(topology.packages, topology.n));
                cpu->cores = pn_int(count_distinct(topology.cores, topology.n));
        }
        return 0;
}

static int read_memory(PnHost *host)
{
        _cleanup_free_ char *text = NULL;
        const char *value;
        size_t n;
        int r = pn_read_file(AT_FDCWD, "/proc/meminfo", PN_ATTRIBUTE_MAX, &text, &n);
        int64_t kib;

        if (r == -ENOMEM)
                return r;
        value = r < 0 ? NULL : colon_value(text, "MemTotal");
        if (!value || sscanf(value, "%15" SCNd64 " kB", &kib) != 1) {
                host->memory_bytes.state = r < 0 ? pn_reason_from_errno(r) : PN_UNREAD_MALFORMED;
                return 0;
        }
        host->memory_bytes = pn_int(kib * 1024);
        return 0;
}

/* ---- Software ---- */

static int read_kernel(PnHost *host)
{
        struct utsname uts;
        int r;

        if ((r = pn_sysfs_label(AT_FDCWD, "/proc/sys/kernel/hostname", &host->hostname)) < 0 ||
            (r = pn_sysfs_label(AT_FDCWD, "/proc/sys/kernel/osrelease", &host->kernel)) < 0)
                return r;
        if (uname(&uts) < 0)
                return 0;
        if (host->hostname.state != PN_KNOWN &&
            (r = pn_set_text(&host->hostname, uts.nodename)) < 0)
                return r;
        return host->kernel.state == PN_KNOWN ? 0 : pn_set_text(&host->kernel, uts.release);
}

/* A value of os-release, which is written as a shell would read it: perhaps in quotes, with
 * backslashes before special characters. */
static void unquote(char *s)
{
        char quote = *s == '"' || *s == '\'' ? *s : '\0';
        char *to = s;

        for (const char *from = quote ? s + 1 : s; *from && *from != quote; from++) {
                if (*from == '\\' && quote != '\'' && from[1])
                        from++;
                *to++ = *from;
        }
        *to = '\0';
}

static int read_os(PnHost *host)
{
        _cleanup_free_ char *text = NULL;
        size_t n;
        int r = pn_read_file(AT_FDCWD, "/etc/os-release", PN_ATTRIBUTE_MAX * 4, &text, &n);

        if (r == -ENOENT)
                r = pn_read_file(AT_FDCWD, "/usr/lib/os-release", PN_ATTRIBUTE_MAX * 4, &text, &n);
        if (r < 0) {
                if (r != -ENOENT)
                        host->os.state = pn_reason_from_errno(r);
                return r == -ENOMEM ? r : 0;
        }
        for (char *line = text, *next; line; line = next) {
                char *clean;

                next = strchr(line, '\n');
                if (next)
                        *next++ = '\0';
                if (!pn_startswith(line, "PRETTY_NAME="))
                        continue;
                line += strlen("PRETTY_NAME=");
                unquote(line);
                r = pn_text_from_utf8(line, strlen(line), &clean);
                if (r < 0)
                        return r;
                pn_take_text(&host->os, clean);
                break;
        }
        return 0;
}

/* The version of Proxmox VE is that of the package pve-manager. The package manager's file has
 * megabytes, so it is read line by line and no further than that. */
static int read_proxmox(PnHost *host)
{
        _cleanup_free_ char *buffer = malloc(READ_BUFFER);
        FILE *file = buffer ? fopen("/var/lib/dpkg/status", "re") : NULL;
        bool here = false, installed = false;
        char line[512], version[sizeof line] = "";
        size_t total = 0;

        if (!buffer)
                return -ENOMEM;
        if (!file) {
                if (errno != ENOENT)
                        host->proxmox_version.state = pn_reason_from_errno(errno);
                return 0;
        }
        (void)setvbuf(file, buffer, _IOFBF, READ_BUFFER);
        while (total < DPKG_STATUS_MAX && fgets(line, sizeof line, file)) {
                size_t n = strlen(line);

                total += n;
                if (*line == '\n') { /* the end of a package */
                        if (here)
                                break;
                } else if (*line == 'P' && strcmp(line, "Package: pve-manager\n") == 0) {
                        here = true;
                } else if (here && pn_startswith(line, "Status: ")) {
                        installed = strstr(line, " installed\n") != NULL;
                } else if (here && pn_startswith(line, "Version: ")) {
                        (void)snprintf(version, sizeof version, "%.*s",
                                       (int)strcspn(line + 9, "\n"), line + 9);
                }
        }
        (void)fclose(file);
        if (installed && *version) {
                char *clean;
                int r = pn_text_from_utf8(version, strlen(version), &clean);

                if (r < 0)
                        return r;
                pn_take_text(&host->proxmox_version, clean);
        }
        return 0;
}

/* ---- Virtualization ---- */

/* Firmware's words for hypervisors, as systemd-detect-virt knows them. */
static const struct {
        const char *prefix, *name;
} hypervisors[] = {
    {"KVM", "kvm"},
    {"OpenStack", "kvm"},
    {"KubeVirt", "kvm"},
    {"Amazon EC2", "amazon"},
    {"QEMU", "qemu"},
    {"VMware", "vmware"},
    {"VMW", "vmware"},
    {"innotek GmbH", "oracle"},
    {"VirtualBox", "oracle"},
    {"Oracle Corporation", "oracle"},
    {"Xen", "xen"},
    {"Bochs", "bochs"},
    {"Parallels", "parallels"},
    {"BHYVE", "bhyve"},
    {"Hyper-V", "microsoft"},
    {"Apple Virtualization", "apple"},
    {"Google Compute Engine", "google"},
};

static const char *from_firmware(int dir)
{
        static const char *const attributes[] = {"product_name", "sys_vendor", "board_vendor",
                                                 "bios_vendor", "product_version"};
        char text[256];
        bool microsoft = false;

        for (size_t i = 0; i < PN_ELEMENTS(attributes); i++) {
                if (pn_sysfs_read(dir, attributes[i], text, sizeof text) < 0)
                        continue;
                for (size_t k = 0; k < PN_ELEMENTS(hypervisors); k++)
                        if (pn_startswith(text, hypervisors[k].prefix))
                                return hypervisors[k].name;
                /* Their virtual machine is named so; their laptops have the same vendor. */
                if (i == 0)
                        microsoft = pn_startswith(text, "Virtual Machine");
                else if (i == 1 && microsoft && pn_startswith(text, "Microsoft"))
                        return "microsoft";
        }
        return NULL;
}

static int read_virtualization(PnHost *host, bool hypervisor)
{
        _cleanup_close_ int dir = pn_sysfs_open(AT_FDCWD, DMI);
        const char *name = dir < 0 ? NULL : from_firmware(dir), *product;
        char text[256];

        product = host->machine.v ? pn_text(&host->machine.v->product) : NULL;
        if (pn_streq(name, "amazon") && product && strlen(product) > 6 &&
            pn_streq(product + strlen(product) - 6, ".metal"))
                name = NULL; /* their bare machines have the same vendor */
        if (!name && !hypervisor)
                return 0;
        if (!name && pn_sysfs_read(AT_FDCWD, "/sys/hypervisor/type", text, sizeof text) >= 0 &&
            pn_startswith(text, "xen")) {
                /* Xen's first domain runs the machine: it is no guest. */
                if (pn_sysfs_read(AT_FDCWD, "/proc/xen/capabilities", text, sizeof text) >= 0 &&
                    strstr(text, "control_d"))
                        return 0;
                name = "xen";
        }
        /* QEMU's firmware is the same with and without KVM, whose clock gives it away. */
        if ((!name || pn_streq(name, "qemu")) &&
            pn_sysfs_read(AT_FDCWD,
                          "/sys/devices/system/clocksource/clocksource0/available_clocksource",
                          text, sizeof text) >= 0 &&
            strstr(text, "kvm-clock"))
                name = "kvm";
        return pn_set_text(&host->virtualization, name ? name : "vm-other");
}

/* ---- The source ---- */

static int read_host(const void *context _unused_, size_t i _unused_, void *object,
                     void *fact _unused_)
{
        PnHost *host = object;
        bool hypervisor = false;
        int r;

        if ((r = read_kernel(host)) < 0 || (r = read_firmware(host)) < 0 ||
            (r = read_smbios(host)) < 0 || (r = read_cpu(host, &hypervisor)) < 0 ||
            (r = read_memory(host)) < 0 || (r = read_os(host)) < 0 || (r = read_proxmox(host)) < 0)
                return r;
        return read_virtualization(host, hypervisor);
}

static const char *host_name(const void *context _unused_, size_t i _unused_)
{
        return "host";
}

int pn_source_host(PnEmit *emit, PnReport *report)
{
        const PnWalk walk = {
            .source = "host", .kind = PN_OBJECT_HOST, .n = 1, .name = host_name, .read = read_host};
        bool abandoned;

        return pn_walk(&walk, emit, report, &abandoned);
}
