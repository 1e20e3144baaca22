/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The vocabulary of PCI Express: addresses, lane rates, widths, bandwidth. Knows no device and no
 * file. */
#include "pcie.h"

#include <stdio.h>

/* Indexed by generation. A text is the number as the kernel has ever printed it before " GT/s". */
static const struct {
        const char *text[2];
        double gts;
        uint64_t lane_mbps;
} generations[PN_PCIE_GENERATION_MAX + 1] = {
    [1] = {{"2.5", NULL}, 2.5, 2000},    [2] = {{"5.0", "5"}, 5.0, 4000},
    [3] = {{"8.0", "8"}, 8.0, 7876},     [4] = {{"16.0", "16"}, 16.0, 15753},
    [5] = {{"32.0", "32"}, 32.0, 31507}, [6] = {{"64.0", "64"}, 64.0, 64000},
};

static const struct {
        const char *text;
        unsigned lanes;
} widths[] = {{"1", 1}, {"2", 2}, {"4", 4}, {"8", 8}, {"12", 12}, {"16", 16}, {"32", 32}};

/* Reads between min and max hex digits, stopping at the first character that is none. The locale
 * has no say, unlike with isxdigit() and strtoul(), which take signs and white space besides. */
static int parse_hex(const char **s, unsigned min, unsigned max, uint32_t *ret)
{
        uint32_t value = 0;
        unsigned n = 0;

        for (; n < max; n++) {
                char c = (*s)[n];
                uint32_t digit;

                if (c >= '0' && c <= '9')
                        digit = (uint32_t)(c - '0');
                else if (c >= 'a' && c <= 'f')
                        digit = (uint32_t)(c - 'a') + 10;
                else if (c >= 'A' && c <= 'F')
                        digit = (uint32_t)(c - 'A') + 10;
                else
                        break;
                value = value << 4 | digit;
        }
        if (n < min)
                return -EINVAL;

        *s += n;
        *ret = value;
        return 0;
}

int pn_pci_address_parse(const char *s, PnPciAddress *ret)
{
        uint32_t domain, bus, device, function;

        if (!s || parse_hex(&s, 4, 8, &domain) < 0 || *s++ != ':' ||
            parse_hex(&s, 2, 2, &bus) < 0 || *s++ != ':' || parse_hex(&s, 2, 2, &device) < 0 ||
            *s++ != '.' || parse_hex(&s, 1, 1, &function) < 0 || *s != '\0')
                return -EINVAL;
        if (device > 31 || function > 7)
                return -EINVAL;

        *ret = (PnPciAddress){.domain = domain,
                              .bus = (uint8_t)bus,
                              .device = (uint8_t)device,
                              .function = (uint8_t)function};
        return 0;
}

int pn_pci_address_compare(const PnPciAddress *a, const PnPciAddress *b)
{
        if (a->domain != b->domain)
                return a->domain < b->domain ? -1 : 1;
        if (a->bus != b->bus)
                return a->bus < b->bus ? -1 : 1;
        if (a->device != b->device)
                return a->device < b->device ? -1 : 1;
        if (a->function != b->function)
                return a->function < b->function ? -1 : 1;
        return 0;
}

char *pn_pci_address_format(const PnPciAddress *address, char buf[static PN_PCI_ADDRESS_MAX])
{
        /* The masks keep a struct that was filled in by hand within the buffer. */
        (void)snprintf(buf, PN_PCI_ADDRESS_MAX, "%04x:%02x:%02x.%x", (unsigned)address->domain,
                       (unsigned)address->bus, address->device & 0x1fu, address->function & 0x7u);
        return buf;
}

/* Whether s is `number`, then `unit`, then perhaps the newline that ends every sysfs attribute. */
static bool attribute_is(const char *s, const char *number, const char *unit)
{
        if (!pn_startswith(s, number))
                return false;
        s += strlen(number);
        if (!pn_startswith(s, unit))
                return false;
        s += strlen(unit);
        return *s == '\0' || pn_streq(s, "\n");
}

unsigned pn_pcie_speed_parse(const char *sysfs)
{
        if (!sysfs)
                return 0;
        for (unsigned gen = 1; gen <= PN_PCIE_GENERATION_MAX; gen++)
                for (size_t i = 0; i < PN_ELEMENTS(generations[gen].text); i++) {
                        const char *text = generations[gen].text[i];

                        if (text && (attribute_is(sysfs, text, " GT/s") ||
                                     attribute_is(sysfs, text, " GT/s PCIe")))
                                return gen;
                }
        return 0;
}

unsigned pn_pcie_width_parse(const char *sysfs)
{
        if (!sysfs)
                return 0;
        for (size_t i = 0; i < PN_ELEMENTS(widths); i++)
                if (attribute_is(sysfs, widths[i].text, ""))
                        return widths[i].lanes;
        return 0;
}

bool pn_pcie_width_valid(unsigned width)
{
        for (size_t i = 0; i < PN_ELEMENTS(widths); i++)
                if (widths[i].lanes == width)
                        return true;
        return false;
}

double pn_pcie_gts(unsigned gen)
{
        return gen <= PN_PCIE_GENERATION_MAX ? generations[gen].gts : 0.0;
}

unsigned pn_pcie_generation(double gts)
{
        /* All six are exact in binary, so equality is what is meant; NaN equals none of them. */
        for (unsigned gen = 1; gen <= PN_PCIE_GENERATION_MAX; gen++)
                if (generations[gen].gts == gts)
                        return gen;
        return 0;
}

uint64_t pn_pcie_lane_mbps(unsigned gen)
{
        return gen <= PN_PCIE_GENERATION_MAX ? generations[gen].lane_mbps : 0;
}

uint64_t pn_pcie_bandwidth(unsigned gen, unsigned width)
{
        return pn_pcie_width_valid(width) ? pn_pcie_lane_mbps(gen) * width : 0;
}
