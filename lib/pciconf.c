/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes the configuration space of a PCI function from its bytes. Knows neither files nor
 * devices. */
#include "pciconf.h"

#include <linux/pci_regs.h>

#include "pcie.h"

/* The capability list and all it points at lie in the first 256 bytes (7.5.1, 7.5.3): what follows
 * belongs to the extended capabilities, which are another list. */
#define CAPABILITIES_END 256u

/* Link Capabilities 2: Supported Link Speeds Vector, bits 7:1, of which 7 is reserved (7.5.3.18).
 */
#define LNKCAP2_SPEEDS_SHIFT 1u
#define LNKCAP2_SPEEDS_MASK  0x3fu

typedef struct Image {
        const uint8_t *bytes;
        size_t n; /* at least 64, at most CAPABILITIES_END */
} Image;

/* Registers are little-endian, whatever the machine. These two are the only ways to the bytes;
 * false means that the image does not hold the register. */
static bool read16(const Image *image, size_t offset, uint16_t *ret)
{
        if (offset + 2 > image->n)
                return false;
        *ret = (uint16_t)(image->bytes[offset] | image->bytes[offset + 1] << 8);
        return true;
}

static bool read32(const Image *image, size_t offset, uint32_t *ret)
{
        uint16_t low, high;

        if (!read16(image, offset, &low) || !read16(image, offset + 2, &high))
                return false;
        *ret = (uint32_t)high << 16 | low;
        return true;
}

/* A register of the PCI Express capability: 0, its "unknown", and a note of it, when the image does
 * not hold it or it reads all ones, which no register does in a device that answers. */
static uint16_t pcie_read16(const Image *image, size_t offset, PnPciConf *conf)
{
        uint16_t value;

        if (!read16(image, offset, &value) || value == UINT16_MAX) {
                conf->capabilities_truncated = true;
                return 0;
        }
        return value;
}

static uint32_t pcie_read32(const Image *image, size_t offset, PnPciConf *conf)
{
        uint32_t value;

        if (!read32(image, offset, &value) || value == UINT32_MAX) {
                conf->capabilities_truncated = true;
                return 0;
        }
        return value;
}

/* Finds the first capability with an id (7.5.1.1.11). Returns its offset; 0 if there is none or,
 * with *ret_truncated set, if the list could not be followed to the end. */
static size_t find_capability(const Image *image, uint8_t header_type, uint8_t id,
                              bool *ret_truncated)
{
        size_t pointer_at =
            header_type == PCI_HEADER_TYPE_CARDBUS ? PCI_CB_CAPABILITY_LIST : PCI_CAPABILITY_LIST;
        uint64_t seen = 0; /* a bit for each aligned offset in 256 bytes */
        uint16_t status;

        if (!read16(image, PCI_STATUS, &status) || !(status & PCI_STATUS_CAP_LIST))
                return 0;

        for (;;) {
                /* The two low bits are reserved: software must mask them. */
                size_t at = image->bytes[pointer_at] & ~(size_t)3;
                uint16_t header;

                if (at == 0)
                        return 0;
                if (at < PCI_STD_HEADER_SIZEOF || seen & UINT64_C(1) << at / 4 ||
                    !read16(image, at, &header)) {
                        *ret_truncated = true;
                        return 0;
                }
                seen |= UINT64_C(1) << at / 4;

                if ((header & 0xff) == id)
                        return at;
                pointer_at = at + PCI_CAP_LIST_NEXT;
        }
}

static PnPcieType port_type(unsigned flags)
{
        unsigned code = (flags & PCI_EXP_FLAGS_TYPE) >> 4;

        switch (code) {
        case PN_PCIE_ENDPOINT:
        case PN_PCIE_LEGACY_ENDPOINT:
        case PN_PCIE_ROOT_PORT:
        case PN_PCIE_UPSTREAM_PORT:
        case PN_PCIE_DOWNSTREAM_PORT:
        case PN_PCIE_PCIE_TO_PCI:
        case PN_PCIE_PCI_TO_PCIE:
        case PN_PCIE_RCIEP:
        case PN_PCIE_RCEC:
                return (PnPcieType)code;
        default:
                return PN_PCIE_UNKNOWN;
        }
}

static bool type_has_link(PnPcieType type)
{
        return type != PN_PCIE_RCIEP && type != PN_PCIE_RCEC && type != PN_PCIE_UNKNOWN;
}

/* Whether the link is below the function, so that it is this end that trains it and knows of a
 * slot. */
static bool type_is_downstream(PnPcieType type)
{
        return type == PN_PCIE_ROOT_PORT || type == PN_PCIE_DOWNSTREAM_PORT ||
               type == PN_PCIE_PCI_TO_PCIE;
}

/* A speed field's code is the generation itself, or reserved. */
static uint8_t speed_code(unsigned code)
{
        return code <= PN_PCIE_GENERATION_MAX ? (uint8_t)code : 0;
}

static uint8_t width_code(unsigned code)
{
        return pn_pcie_width_valid(code) ? (uint8_t)code : 0;
}

static void decode_link(const Image *image, size_t at, PnPciConf *conf)
{
        uint32_t lnkcap = pcie_read32(image, at + PCI_EXP_LNKCAP, conf);
        unsigned lnksta = pcie_read16(image, at + PCI_EXP_LNKSTA, conf);
        unsigned supported = 0;

        conf->has_link = true;
        conf->lnkcap_gen = speed_code(lnkcap & PCI_EXP_LNKCAP_SLS);
        conf->max_width = width_code((lnkcap & PCI_EXP_LNKCAP_MLW) >> 4);
        conf->port_number = (uint8_t)(lnkcap >> 24);
        conf->current_gen = speed_code(lnksta & PCI_EXP_LNKSTA_CLS);
        conf->current_width = width_code((lnksta & PCI_EXP_LNKSTA_NLW) >> PCI_EXP_LNKSTA_NLW_SHIFT);
        conf->dll_active_reporting = lnkcap & PCI_EXP_LNKCAP_DLLLARC;
        conf->dll_active = conf->dll_active_reporting && lnksta & PCI_EXP_LNKSTA_DLLLA;
        conf->training = type_is_downstream(conf->port_type) && lnksta & PCI_EXP_LNKSTA_LT;

        /* What a version 1 capability has at these offsets belongs to someone else. */
        if (conf->pcie_version >= 2) {
                uint32_t lnkcap2 = pcie_read32(image, at + PCI_EXP_LNKCAP2, conf);
                unsigned lnkctl2 = pcie_read16(image, at + PCI_EXP_LNKCTL2, conf);

                supported = lnkcap2 >> LNKCAP2_SPEEDS_SHIFT & LNKCAP2_SPEEDS_MASK;
                conf->target_gen = speed_code(lnkctl2 & PCI_EXP_LNKCTL2_TLS);
        }
        if (supported == 0)
                supported = (1u << conf->lnkcap_gen) - 1;
        conf->supported = (uint8_t)supported;
        for (uint8_t gen = 1; gen <= PN_PCIE_GENERATION_MAX; gen++)
                if (supported & 1u << (gen - 1))
                        conf->max_gen = gen;
}

static void decode_slot(const Image *image, size_t at, PnPciConf *conf)
{
        uint32_t sltcap = pcie_read32(image, at + PCI_EXP_SLTCAP, conf);
        unsigned sltsta = pcie_read16(image, at + PCI_EXP_SLTSTA, conf);

        conf->slot_implemented = true;
        conf->physical_slot = (uint16_t)(sltcap >> 19); /* 13 bits: 8191 at most */
        conf->hotplug_capable = sltcap & PCI_EXP_SLTCAP_HPC;
        conf->presence_detect = sltsta & PCI_EXP_SLTSTA_PDS;
}

static void decode_pcie(const Image *image, size_t at, PnPciConf *conf)
{
        unsigned flags = pcie_read16(image, at + PCI_EXP_FLAGS, conf);

        /* 0 is version 0, which does not exist: the register is missing or the device has gone. */
        if (flags == 0) {
                conf->capabilities_truncated = true;
                return;
        }

        conf->has_pcie = true;
        conf->pcie_version = (uint8_t)(flags & PCI_EXP_FLAGS_VERS);
        conf->port_type = port_type(flags);
        if (type_has_link(conf->port_type))
                decode_link(image, at, conf);
        if (type_is_downstream(conf->port_type) && flags & PCI_EXP_FLAGS_SLOT)
                decode_slot(image, at, conf);
}

static bool all_ones(const uint8_t *bytes, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (bytes[i] != 0xff)
                        return false;
        return true;
}

int pn_pciconf_decode(const uint8_t *config, size_t n, PnPciConf *ret)
{
        PnPciConf conf = {.port_type = PN_PCIE_UNKNOWN};
        Image image;
        size_t at;

        if (!config || n < PCI_STD_HEADER_SIZEOF)
                return -EINVAL;
        /* The whole header: a virtual function, too, reads 0xffff for its ids. */
        if (all_ones(config, PCI_STD_HEADER_SIZEOF))
                return -ENODEV;

        image = (Image){.bytes = config, .n = n < CAPABILITIES_END ? n : CAPABILITIES_END};
        (void)read16(&image, PCI_VENDOR_ID, &conf.vendor_id);
        (void)read16(&image, PCI_DEVICE_ID, &conf.device_id);
        (void)read32(&image, PCI_CLASS_REVISION, &conf.class24);
        conf.class24 >>= 8;
        conf.header_type = config[PCI_HEADER_TYPE] & 0x7f;
        conf.multifunction = config[PCI_HEADER_TYPE] & 0x80;
        if (conf.header_type == PCI_HEADER_TYPE_BRIDGE ||
            conf.header_type == PCI_HEADER_TYPE_CARDBUS) {
                /* A CardBus bridge has them at the same offsets under other names. */
                conf.primary_bus = config[PCI_PRIMARY_BUS];
                conf.secondary_bus = config[PCI_SECONDARY_BUS];
                conf.subordinate_bus = config[PCI_SUBORDINATE_BUS];
        }

        at =
            find_capability(&image, conf.header_type, PCI_CAP_ID_EXP, &conf.capabilities_truncated);
        if (at != 0)
                decode_pcie(&image, at, &conf);

        *ret = conf;
        return 0;
}
