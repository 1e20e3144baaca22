/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The vocabulary of PCI Express: addresses, lane rates, widths, bandwidth. Knows no device and no
 * file; whoever read a sysfs attribute or a register brings the text or the number here. */
#pragma once

#include "base.h"

/* A function's address. `domain` may need more than 16 bits: those that the kernel makes up (Intel
 * VMD, Hyper-V) have five and more hex digits. `device` is 0..31, `function` 0..7. */
typedef struct PnPciAddress {
        uint32_t domain;
        uint8_t bus;
        uint8_t device;
        uint8_t function;
} PnPciAddress;

/* Bytes that hold any formatted address with its NUL: "ffffffff:ff:1f.7". */
#define PN_PCI_ADDRESS_MAX 17

/* Reads "0000:01:00.0": 4 to 8 hex digits of domain, 2 of bus, 2 of device, 1 of function, in
 * either case and with nothing before or after (no newline). Returns 0; -EINVAL for anything else,
 * a device above 31, a function above 7, and NULL. */
int pn_pci_address_parse(const char *s, PnPciAddress *ret);

/* Numeric order: domain, bus, device, function. Negative, 0 or positive, as for qsort(). */
int pn_pci_address_compare(const PnPciAddress *a, const PnPciAddress *b);

/* Writes the address as the kernel spells it: lower case, at least four digits of domain. Returns
 * `buf`, for use as an argument of printf(). */
char *pn_pci_address_format(const PnPciAddress *address, char buf[static PN_PCI_ADDRESS_MAX]);

/* The highest lane rate known here. A lane rate is its generation: 1 = 2.5 GT/s, 2 = 5, 3 = 8,
 * 4 = 16, 5 = 32, 6 = 64; 0 means unknown. These are also the codes of the link registers (PCI
 * Express Base Specification 6.0, 7.5.3.6 Max Link Speed). */
#define PN_PCIE_GENERATION_MAX 6u

/* The generation in a sysfs attribute current_link_speed or max_link_speed: "8 GT/s" (until Linux
 * 5.6), "8.0 GT/s PCIe" (since), with or without the newline. 0 for "Unknown", "Unknown speed", ""
 * and NULL, and for every text that is not exactly one of the six rates. */
unsigned pn_pcie_speed_parse(const char *sysfs);

/* The lanes in a sysfs attribute current_link_width or max_link_width, with or without the newline.
 * 0 for what is no width: 0 itself, 63 (a register of all ones), 255 (the kernel's "unknown"), NULL
 * and any other text. */
unsigned pn_pcie_width_parse(const char *sysfs);

/* Whether links of so many lanes exist: 1, 2, 4, 8, 12, 16, 32 (7.5.3.6 Maximum Link Width). */
bool pn_pcie_width_valid(unsigned width);

/* GT/s per lane of a generation; 0.0 for one that is unknown. */
double pn_pcie_gts(unsigned gen);

/* The generation of a rate in GT/s, which must be one of the six exactly; otherwise 0. */
unsigned pn_pcie_generation(double gts);

/* What one lane carries in one direction after line coding (8b/10b, 128b/130b, 1b/1b), in Mb/s,
 * rounded as the kernel rounds: 2000, 4000, 7876, 15753, 31507, 64000; 0 if unknown. */
uint64_t pn_pcie_lane_mbps(unsigned gen);

/* What a link carries in one direction, in Mb/s: the lane's figure times the width, as the kernel
 * computes "available PCIe bandwidth". 0 when either is unknown or no width of a link. */
uint64_t pn_pcie_bandwidth(unsigned gen, unsigned width);
