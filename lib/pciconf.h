/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes the configuration space of a PCI function from its bytes. Knows neither files nor
 * devices, and never looks at a byte that is not in the image.
 *
 * Section numbers are those of the PCI Express Base Specification, revision 6.0. */
#pragma once

#include "base.h"

/* Device/Port Type (7.5.3.2). The values are the register's codes. */
typedef enum PnPcieType {
        PN_PCIE_ENDPOINT = 0x0,
        PN_PCIE_LEGACY_ENDPOINT = 0x1,
        PN_PCIE_ROOT_PORT = 0x4,
        PN_PCIE_UPSTREAM_PORT = 0x5,
        PN_PCIE_DOWNSTREAM_PORT = 0x6,
        PN_PCIE_PCIE_TO_PCI = 0x7,
        PN_PCIE_PCI_TO_PCIE = 0x8,
        PN_PCIE_RCIEP = 0x9,    /* Root Complex Integrated Endpoint: has no link */
        PN_PCIE_RCEC = 0xa,     /* Root Complex Event Collector: has no link */
        PN_PCIE_UNKNOWN = 0xff, /* no PCI Express capability, or a reserved code */
} PnPcieType;

typedef struct PnPciConf {
        /* The header (7.5.1). A virtual function's ids read 0xffff: the kernel's attributes
         * `vendor` and `device` have the right ones. */
        uint16_t vendor_id;
        uint16_t device_id;
        uint32_t class24;    /* base class, subclass, interface: 0x010802 is NVMe */
        uint8_t header_type; /* 7 bits: 0 device, 1 bridge, 2 CardBus bridge */
        bool multifunction;
        uint8_t primary_bus; /* the three buses: bridges only, otherwise 0 */
        uint8_t secondary_bus;
        uint8_t subordinate_bus;

        /* The list of capabilities could not be followed as far as needed: it left the image (a
         * reader without privilege gets 64 bytes), runs in a circle or is nonsense. What was not
         * found may then exist all the same: "no capability" is "cannot tell". Also set when the
         * image lacks a register of the PCI Express capability, or that register reads all ones, as
         * from a device that goes away in the middle: then a 0 or false below is "cannot tell". */
        bool capabilities_truncated;

        /* The PCI Express capability (7.5.3). */
        bool has_pcie;
        uint8_t pcie_version; /* 1: has no LNKCAP2, LNKCTL2; 2 since PCIe 2.0 */
        PnPcieType port_type;

        /* The slot below a root port or downstream port (7.5.3.9, 7.5.3.11). Everything is false
         * and 0 unless slot_implemented, and that is never set for other types, where the
         * specification leaves the bit undefined. */
        bool slot_implemented;
        uint16_t physical_slot; /* 0..8191; 0 is what many boards leave there */
        bool hotplug_capable;
        bool presence_detect; /* a card is there, by in-band or out-of-band detection */

        /* The link (7.5.3.6 to 7.5.3.8, 7.5.3.18, 7.5.3.19). Rates are generations 1..6, widths are
         * lanes 1, 2, 4, 8, 12, 16, 32; 0 is unknown, and stands for every other code as well.
         * `has_link` is false where there can be none (integrated endpoints, event collectors,
         * reserved types), whatever those registers hold. */
        bool has_link;
        uint8_t max_gen;    /* the best of `supported`, as the kernel's max_link_speed until Linux
                             * 6.12; later ones take the lower of this and lnkcap_gen */
        uint8_t lnkcap_gen; /* Max Link Speed of LNKCAP alone, as lspci's LnkCap */
        uint8_t max_width;
        uint8_t port_number;
        uint8_t supported; /* bit n-1 = generation n: LNKCAP2's vector; where that is empty or does
                            * not exist, every generation up to LNKCAP's */
        uint8_t current_gen;
        uint8_t current_width;     /* an empty port keeps stale values: look at dll_active */
        bool dll_active_reporting; /* dll_active means something */
        bool dll_active;           /* the data link layer is up: somebody is at the other end */
        bool training;             /* ports above a link only: elsewhere reserved, thus false */
        uint8_t target_gen;        /* LNKCTL2 Target Link Speed: limits a link when set in the port
                                    * above it; 0 means none */
} PnPciConf;

/* Decodes an image of n bytes: 64 (what everybody may read), 256, 4096, or cut anywhere after 64.
 * Any bytes are survived. Returns 0; -EINVAL if n < 64; -ENODEV if the header is all ones, which is
 * what a function reads as that is gone or asleep in D3cold. */
int pn_pciconf_decode(const uint8_t *config, size_t n, PnPciConf *ret);
