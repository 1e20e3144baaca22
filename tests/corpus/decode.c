/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints what the decoders make of a file or a string, as JSON, for the scripts of this folder.
 * Knows nothing of what would be right. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base.h"
#include "module.h"
#include "pciconf.h"
#include "pcie.h"
#include "smart.h"
#include "smbios.h"

/* Larger than any SMBIOS table that an entry point of version 2 can name. */
#define FILE_MAX 0x100000u

static int read_file(const char *path, uint8_t **ret, size_t *ret_size)
{
        _cleanup_free_ uint8_t *bytes = malloc(FILE_MAX);
        FILE *file = fopen(path, "re");

        if (!file || !bytes) {
                if (file)
                        (void)fclose(file);
                return -errno;
        }
        *ret_size = fread(bytes, 1, FILE_MAX, file);
        (void)fclose(file);
        *ret = PN_STEAL(bytes);
        return 0;
}

static void print_text(const char *key, const char *text)
{
        if (!text) {
                printf("\"%s\": null, ", key);
                return;
        }
        printf("\"%s\": \"", key);
        for (; *text; text++) {
                if (*text == '"' || *text == '\\')
                        (void)putchar('\\');
                (void)putchar(*text);
        }
        printf("\", ");
}

static void print_number(const char *key, uint64_t number)
{
        printf("\"%s\": %" PRIu64 ", ", key, number);
}

static void print_bool(const char *key, bool value)
{
        printf("\"%s\": %s, ", key, value ? "true" : "false");
}

static void decode_pciconf(const uint8_t *bytes, size_t n)
{
        PnPciConf conf;
        int r = pn_pciconf_decode(bytes, n, &conf);

        printf("{");
        if (r >= 0) {
                print_number("vendor_id", conf.vendor_id);
                print_number("device_id", conf.device_id);
                print_number("class24", conf.class24);
                print_number("header_type", conf.header_type);
                print_bool("multifunction", conf.multifunction);
                print_number("primary_bus", conf.primary_bus);
                print_number("secondary_bus", conf.secondary_bus);
                print_number("subordinate_bus", conf.subordinate_bus);
                print_bool("capabilities_truncated", conf.capabilities_truncated);
                print_bool("has_pcie", conf.has_pcie);
                print_number("pcie_version", conf.pcie_version);
                print_number("port_type", conf.port_type);
                print_bool("slot_implemented", conf.slot_implemented);
                print_number("physical_slot", conf.physical_slot);
                print_bool("hotplug_capable", conf.hotplug_capable);
                print_bool("presence_detect", conf.presence_detect);
                print_bool("has_link", conf.has_link);
                print_number("max_gen", conf.max_gen);
                print_number("lnkcap_gen", conf.lnkcap_gen);
                print_number("max_width", conf.max_width);
                print_number("port_number", conf.port_number);
                print_number("supported", conf.supported);
                print_number("current_gen", conf.current_gen);
                print_number("current_width", conf.current_width);
                print_bool("dll_active_reporting", conf.dll_active_reporting);
                print_bool("dll_active", conf.dll_active);
                print_bool("training", conf.training);
                print_number("target_gen", conf.target_gen);
        }
        printf("\"r\": %d}\n", r);
}

static int decode_smbios(const uint8_t *bytes, size_t n)
{
        static const char *const usages[] = {"unknown", "free", "in_use", "unavailable"};
        static const char *const forms[] = {"unknown", "card",  "m2",  "u2",
                                            "mini",    "edsff", "ocp", "other"};
        char address[PN_PCI_ADDRESS_MAX];
        PnSmbios smbios;
        int r = pn_smbios_decode(bytes, n, &smbios);

        if (r < 0)
                return r;
        printf("{\"slots\": [");
        for (size_t i = 0; i < smbios.n_slots; i++) {
                const PnSmbiosSlot *slot = &smbios.slots[i];

                printf("%s{", i > 0 ? ", " : "");
                print_text("designation", slot->designation);
                print_text("type", slot->type_name);
                print_text("form", forms[slot->form]);
                print_number("generation", slot->generation);
                print_number("lanes", slot->lanes);
                print_text("address", slot->has_address
                                          ? pn_pci_address_format(&slot->address, address)
                                          : NULL);
                printf("\"usage\": \"%s\"}", usages[slot->in_use]);
        }
        printf("], \"dimms\": [");
        for (size_t i = 0; i < smbios.n_dimms; i++) {
                const PnSmbiosDimm *dimm = &smbios.dimms[i];

                printf("%s{", i > 0 ? ", " : "");
                print_text("locator", dimm->locator);
                print_text("type", dimm->type_name);
                print_text("manufacturer", dimm->manufacturer);
                print_text("part_number", dimm->part_number);
                print_bool("size_known", dimm->size_known);
                print_number("size_bytes", dimm->size_bytes);
                print_number("speed", dimm->speed_mts);
                printf("\"configured\": %" PRIu32 "}", dimm->configured_mts);
        }
        printf("], \"truncated\": %s}\n", smbios.truncated ? "true" : "false");
        pn_smbios_done(&smbios);
        return 0;
}

/* `paths` is a file of the layout that ethtool prints, and perhaps, after a comma, one with page
 * 11h of CMIS, which that layout has no place for. */
static int decode_module(const char *paths)
{
        _cleanup_free_ uint8_t *bytes = NULL, *page_11 = NULL;
        _cleanup_free_ char *path = strdup(paths);
        _cleanup_buf_ PnBuf json = {0};
        PnModulePages pages;
        PnModule module;
        char *comma;
        size_t n = 0;
        int r;

        if (!path)
                return -ENOMEM;
        comma = strchr(path, ',');
        if (comma)
                *comma = '\0';
        r = read_file(path, &bytes, &n);
        if (r >= 0)
                r = pn_module_from_flat(bytes, n, &pages);
        if (r >= 0 && comma) {
                r = read_file(comma + 1, &page_11, &n);
                pages.area[PN_MODULE_PAGE_11] = (PnModulePage){.bytes = page_11, .n = n};
        }
        if (r >= 0)
                r = pn_module_decode(&pages, &module);
        if (r < 0)
                return r;
        pn_write_json(&json, pn_type_Module(), &module);
        pn_done(pn_type_Module(), &module);
        if (!json.error)
                printf("%s\n", json.data);
        return json.error;
}

static int decode_smart(const uint8_t *bytes, size_t n)
{
        _cleanup_buf_ PnBuf json = {0};
        PnHealth health;
        int r = pn_smart_decode(bytes, n, &health);

        if (r < 0)
                return r;
        pn_write_json(&json, pn_type_Health(), &health);
        pn_done(pn_type_Health(), &health);
        if (!json.error)
                printf("%s\n", json.data);
        return json.error;
}

static int decode_file(const char *kind, const char *path)
{
        _cleanup_free_ uint8_t *bytes = NULL;
        size_t n = 0;
        int r = read_file(path, &bytes, &n);

        if (r < 0)
                return r;
        if (pn_streq(kind, "smbios"))
                return decode_smbios(bytes, n);
        if (pn_streq(kind, "smart"))
                return decode_smart(bytes, n);
        decode_pciconf(bytes, n);
        return 0;
}

/* Files and strings may be many: one line of output each, so that a script starts this once. */
int main(int argc, char **argv)
{
        const char *kind = argc > 1 ? argv[1] : "";

        if (argc < 3 ||
            (!pn_streq(kind, "pciconf") && !pn_streq(kind, "smbios") && !pn_streq(kind, "module") &&
             !pn_streq(kind, "smart") && !pn_streq(kind, "speed") && !pn_streq(kind, "width") &&
             !pn_streq(kind, "bandwidth"))) {
                fprintf(stderr, "usage: decode pciconf|smbios|smart FILE...\n"
                                "       decode module FILE[,PAGE_11H_FILE]...\n"
                                "       decode speed|width TEXT...\n"
                                "       decode bandwidth GENERATION,LANES...\n");
                return 2;
        }

        for (int i = 2; i < argc; i++) {
                int r = 0;

                if (pn_streq(kind, "speed"))
                        printf("%u\n", pn_pcie_speed_parse(argv[i]));
                else if (pn_streq(kind, "width"))
                        printf("%u\n", pn_pcie_width_parse(argv[i]));
                else if (pn_streq(kind, "bandwidth")) {
                        unsigned gen, width;

                        if (sscanf(argv[i], "%u,%u", &gen, &width) != 2)
                                return 2;
                        printf("%" PRIu64 "\n", pn_pcie_bandwidth(gen, width));
                } else if (pn_streq(kind, "module"))
                        r = decode_module(argv[i]);
                else
                        r = decode_file(kind, argv[i]);
                if (r < 0) {
                        fprintf(stderr, "%s: %s\n", argv[i], strerror(-r));
                        return 1;
                }
        }
        return 0;
}
