/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The code tables that all memory maps of pluggable transceivers share. Knows no map. */
#include "sff8024.h"

/* Table 4-1. SFP-DD's own map (1ah) and the laser source ELSFP (22h) are not CMIS as known here. */
static const struct {
        uint8_t code;
        PnSffMap map;
        const char *form;
} identifiers[] = {
    {0x01, PN_SFF_MAP_UNKNOWN, "GBIC"},
    {0x02, PN_SFF_MAP_8472, "SFF"},
    {0x03, PN_SFF_MAP_8472, "SFP"},
    {0x04, PN_SFF_MAP_UNKNOWN, "XBI"},
    {0x05, PN_SFF_MAP_UNKNOWN, "XENPAK"},
    {0x06, PN_SFF_MAP_UNKNOWN, "XFP"},
    {0x07, PN_SFF_MAP_UNKNOWN, "XFF"},
    {0x08, PN_SFF_MAP_UNKNOWN, "XFP-E"},
    {0x09, PN_SFF_MAP_UNKNOWN, "XPAK"},
    {0x0a, PN_SFF_MAP_UNKNOWN, "X2"},
    {0x0b, PN_SFF_MAP_UNKNOWN, "DWDM-SFP"},
    {0x0c, PN_SFF_MAP_8636, "QSFP"},
    {0x0d, PN_SFF_MAP_8636, "QSFP+"},
    {0x0e, PN_SFF_MAP_UNKNOWN, "CXP"},
    {0x0f, PN_SFF_MAP_UNKNOWN, "HD 4X"},
    {0x10, PN_SFF_MAP_UNKNOWN, "HD 8X"},
    {0x11, PN_SFF_MAP_8636, "QSFP28"},
    {0x12, PN_SFF_MAP_UNKNOWN, "CXP2"},
    {0x13, PN_SFF_MAP_UNKNOWN, "CDFP"},
    {0x14, PN_SFF_MAP_UNKNOWN, "HD 4X fanout"},
    {0x15, PN_SFF_MAP_UNKNOWN, "HD 8X fanout"},
    {0x16, PN_SFF_MAP_UNKNOWN, "CDFP"},
    {0x17, PN_SFF_MAP_UNKNOWN, "microQSFP"},
    {0x18, PN_SFF_MAP_CMIS, "QSFP-DD"},
    {0x19, PN_SFF_MAP_CMIS, "OSFP"},
    {0x1a, PN_SFF_MAP_UNKNOWN, "SFP-DD"},
    {0x1b, PN_SFF_MAP_CMIS, "DSFP"},
    {0x1c, PN_SFF_MAP_UNKNOWN, "MiniLink 4X"},
    {0x1d, PN_SFF_MAP_UNKNOWN, "MiniLink 8X"},
    {0x1e, PN_SFF_MAP_CMIS, "QSFP56"},
    {0x1f, PN_SFF_MAP_CMIS, "SFP-DD"},
    {0x20, PN_SFF_MAP_CMIS, "SFP56"},
    {0x21, PN_SFF_MAP_CMIS, "OSFP-XD"},
    {0x22, PN_SFF_MAP_UNKNOWN, "ELSFP"},
    {0x23, PN_SFF_MAP_CMIS, "CDFP"},
    {0x24, PN_SFF_MAP_CMIS, "CDFP"},
    {0x25, PN_SFF_MAP_CMIS, "CDFP"},
};

/* Table 4-3. */
static const struct {
        uint8_t code;
        const char *name;
} connectors[] = {
    {0x01, "SC"},
    {0x02, "FC style 1"},
    {0x03, "FC style 2"},
    {0x04, "BNC/TNC"},
    {0x05, "FC coax"},
    {0x06, "Fiber Jack"},
    {0x07, "LC"},
    {0x08, "MT-RJ"},
    {0x09, "MU"},
    {0x0a, "SG"},
    {0x0b, "optical pigtail"},
    {0x0c, "MPO"},
    {0x0d, "MPO 2x16"},
    {0x20, "HSSDC II"},
    {0x21, "copper pigtail"},
    {0x22, "RJ45"},
    {0x23, "none"},
    {0x24, "MXC 2x16"},
    {0x25, "CS"},
    {0x26, "SN"},
    {0x27, "MPO 2x12"},
    {0x28, "MPO 1x16"},
};

/* Table 4-4. */
static const PnSffCompliance compliances[] = {
    {0x01, PN_SFF_ACTIVE_OPTICAL, 25, false, NULL, NULL},
    {0x02, PN_SFF_OPTICAL, 25, false, "25GBASE-SR", "100GBASE-SR4"},
    {0x03, PN_SFF_OPTICAL, 25, false, "25GBASE-LR", "100GBASE-LR4"},
    {0x04, PN_SFF_OPTICAL, 25, false, "25GBASE-ER", "100GBASE-ER4"},
    {0x05, PN_SFF_OPTICAL, 10, false, NULL, "100GBASE-SR10"},
    {0x06, PN_SFF_OPTICAL, 0, false, NULL, "100G CWDM4"},
    {0x07, PN_SFF_OPTICAL, 0, false, NULL, "100G PSM4"},
    {0x08, PN_SFF_ACTIVE_COPPER, 25, false, NULL, NULL},
    {0x0b, PN_SFF_PASSIVE_COPPER, 25, false, NULL, NULL},
    {0x0c, PN_SFF_PASSIVE_COPPER, 25, false, NULL, NULL},
    {0x0d, PN_SFF_PASSIVE_COPPER, 25, false, NULL, NULL},
    {0x10, PN_SFF_OPTICAL, 0, false, NULL, "40GBASE-ER4"},
    {0x11, PN_SFF_OPTICAL, 10, false, "10GBASE-SR", "4x10GBASE-SR"},
    {0x12, PN_SFF_OPTICAL, 0, false, NULL, "40G PSM4"},
    {0x16, PN_SFF_BASE_T, 10, false, "10GBASE-T", "10GBASE-T"},
    {0x17, PN_SFF_OPTICAL, 0, false, NULL, "100G CLR4"},
    {0x18, PN_SFF_ACTIVE_OPTICAL, 25, false, NULL, NULL},
    {0x19, PN_SFF_ACTIVE_COPPER, 25, false, NULL, NULL},
    {0x1a, PN_SFF_OPTICAL, 0, false, NULL, "100GE-DWDM2"},
    {0x1b, PN_SFF_OPTICAL, 0, false, NULL, "100G 1550 nm WDM"},
    {0x1c, PN_SFF_BASE_T, 10, false, "10GBASE-T", "10GBASE-T"},
    {0x1d, PN_SFF_BASE_T, 5, false, "5GBASE-T", "5GBASE-T"},
    {0x1e, PN_SFF_BASE_T, 2, false, "2.5GBASE-T", "2.5GBASE-T"},
    {0x1f, PN_SFF_OPTICAL, 0, false, NULL, "40G SWDM4"},
    {0x20, PN_SFF_OPTICAL, 0, false, NULL, "100G SWDM4"},
    {0x21, PN_SFF_OPTICAL, 0, false, NULL, "100G PAM4 BiDi"},
    {0x22, PN_SFF_OPTICAL, 0, false, NULL, "100G 4WDM-10"},
    {0x23, PN_SFF_OPTICAL, 0, false, NULL, "100G 4WDM-20"},
    {0x24, PN_SFF_OPTICAL, 0, false, NULL, "100G 4WDM-40"},
    {0x25, PN_SFF_OPTICAL, 100, true, "100GBASE-DR", "100GBASE-DR"},
    {0x26, PN_SFF_OPTICAL, 100, true, "100GBASE-FR1", "100GBASE-FR1"},
    {0x27, PN_SFF_OPTICAL, 100, true, "100GBASE-LR1", "100GBASE-LR1"},
    {0x28, PN_SFF_OPTICAL, 100, true, "100GBASE-SR1", "100GBASE-SR1"},
    {0x29, PN_SFF_OPTICAL, 100, false, "100GBASE-SR1", "400GBASE-SR4"},
    {0x2a, PN_SFF_OPTICAL, 100, false, "100GBASE-FR1", NULL},
    {0x2b, PN_SFF_OPTICAL, 100, false, "100GBASE-LR1", NULL},
    {0x2c, PN_SFF_OPTICAL, 100, true, "100G-LR1-20", "100G-LR1-20"},
    {0x2d, PN_SFF_OPTICAL, 100, true, "100G-ER1-30", "100G-ER1-30"},
    {0x2e, PN_SFF_OPTICAL, 100, true, "100G-ER1-40", "100G-ER1-40"},
    {0x2f, PN_SFF_OPTICAL, 100, false, "100G-LR1-20", NULL},
    {0x30, PN_SFF_ACTIVE_COPPER, 50, false, NULL, NULL},
    {0x31, PN_SFF_ACTIVE_OPTICAL, 50, false, NULL, NULL},
    {0x32, PN_SFF_ACTIVE_COPPER, 50, false, NULL, NULL},
    {0x33, PN_SFF_ACTIVE_OPTICAL, 50, false, NULL, NULL},
    {0x34, PN_SFF_OPTICAL, 100, false, "100G-ER1-30", NULL},
    {0x35, PN_SFF_OPTICAL, 100, false, "100G-ER1-40", NULL},
    {0x36, PN_SFF_OPTICAL, 100, false, "100GBASE-VR1", "400GBASE-VR4"},
    {0x37, PN_SFF_OPTICAL, 10, false, "10GBASE-BR", NULL},
    {0x38, PN_SFF_OPTICAL, 25, false, "25GBASE-BR", NULL},
    {0x39, PN_SFF_OPTICAL, 50, false, "50GBASE-BR", NULL},
    {0x3a, PN_SFF_OPTICAL, 100, true, "100GBASE-VR1", "100GBASE-VR1"},
    {0x3f, PN_SFF_PASSIVE_COPPER, 100, false, NULL, NULL},
    {0x40, PN_SFF_PASSIVE_COPPER, 50, false, NULL, NULL},
    {0x41, PN_SFF_OPTICAL, 50, false, "50GBASE-SR", "200GBASE-SR4"},
    {0x42, PN_SFF_OPTICAL, 50, false, "50GBASE-FR", "200GBASE-DR4"},
    {0x43, PN_SFF_OPTICAL, 0, false, NULL, "200GBASE-FR4"},
    {0x44, PN_SFF_OPTICAL, 0, false, NULL, "200G 1550 nm PSM4"},
    {0x45, PN_SFF_OPTICAL, 50, false, "50GBASE-LR", NULL},
    {0x46, PN_SFF_OPTICAL, 0, false, NULL, "200GBASE-LR4"},
    {0x47, PN_SFF_OPTICAL, 0, false, NULL, "400GBASE-DR4"},
    {0x48, PN_SFF_OPTICAL, 0, false, NULL, "400GBASE-FR4"},
    {0x49, PN_SFF_OPTICAL, 0, false, NULL, "400GBASE-LR4-6"},
    {0x4a, PN_SFF_OPTICAL, 50, false, "50GBASE-ER", NULL},
};

/* Tables 4-6 and 4-7, without Fibre Channel, InfiniBand, OTN and what is still a draft. Indexed by
 * the code. */
static const char *const mmf[] = {
    [0x01] = "10GBASE-SW",     [0x02] = "10GBASE-SR",    [0x03] = "25GBASE-SR",
    [0x04] = "40GBASE-SR4",    [0x05] = "40G SWDM4",     [0x06] = "40G BiDi",
    [0x07] = "50GBASE-SR",     [0x08] = "100GBASE-SR10", [0x09] = "100GBASE-SR4",
    [0x0a] = "100G SWDM4",     [0x0b] = "100G BiDi",     [0x0c] = "100GBASE-SR2",
    [0x0d] = "100GBASE-SR1",   [0x0e] = "200GBASE-SR4",  [0x0f] = "400GBASE-SR16",
    [0x10] = "400GBASE-SR8",   [0x11] = "400GBASE-SR4",  [0x12] = "800GBASE-SR8",
    [0x1a] = "400GBASE-SR4.2", [0x1b] = "200GBASE-SR2",  [0x1d] = "100GBASE-VR1",
    [0x1e] = "200GBASE-VR2",   [0x1f] = "400GBASE-VR4",  [0x20] = "800GBASE-VR8",
    [0x21] = "800G-VR4.2",     [0x22] = "800G-SR4.2",
};

static const char *const smf[] = {
    [0x01] = "10GBASE-LW",     [0x02] = "10GBASE-EW",   [0x03] = "10G-ZW",
    [0x04] = "10GBASE-LR",     [0x05] = "10GBASE-ER",   [0x06] = "10GBASE-ZR",
    [0x07] = "25GBASE-LR",     [0x08] = "25GBASE-ER",   [0x09] = "40GBASE-LR4",
    [0x0a] = "40GBASE-FR",     [0x0b] = "50GBASE-FR",   [0x0c] = "50GBASE-LR",
    [0x0d] = "100GBASE-LR4",   [0x0e] = "100GBASE-ER4", [0x0f] = "100G PSM4",
    [0x10] = "100G CWDM4",     [0x11] = "100G 4WDM-10", [0x12] = "100G 4WDM-20",
    [0x13] = "100G 4WDM-40",   [0x14] = "100GBASE-DR",  [0x15] = "100GBASE-FR1",
    [0x16] = "100GBASE-LR1",   [0x17] = "200GBASE-DR4", [0x18] = "200GBASE-FR4",
    [0x19] = "200GBASE-LR4",   [0x1a] = "400GBASE-FR8", [0x1b] = "400GBASE-LR8",
    [0x1c] = "400GBASE-DR4",   [0x1d] = "400GBASE-FR4", [0x1e] = "400G-LR4-10",
    [0x34] = "100G CWDM4-OCP", [0x3e] = "400ZR",        [0x3f] = "400ZR",
    [0x40] = "50GBASE-ER",     [0x41] = "200GBASE-ER4", [0x42] = "400GBASE-ER8",
    [0x43] = "400GBASE-LR4-6", [0x44] = "100GBASE-ZR",  [0x4a] = "100G-LR1-20",
    [0x4b] = "100G-ER1-30",    [0x4c] = "100G-ER1-40",  [0x4d] = "400GBASE-ZR",
    [0x4e] = "10GBASE-BR",     [0x4f] = "25GBASE-BR",   [0x50] = "50GBASE-BR",
    [0x55] = "400GBASE-DR4-2", [0x56] = "800GBASE-DR8", [0x57] = "800GBASE-DR8-2",
};

/* Table 4-10. */
static const char *const base_t[] = {
    [0x01] = "1000BASE-T",
    [0x02] = "2.5GBASE-T",
    [0x03] = "5GBASE-T",
    [0x04] = "10GBASE-T",
};

PnSffMap pn_sff8024_map(uint8_t identifier)
{
        for (size_t i = 0; i < PN_ELEMENTS(identifiers); i++)
                if (identifiers[i].code == identifier)
                        return identifiers[i].map;
        return PN_SFF_MAP_UNKNOWN;
}

const char *pn_sff8024_form(uint8_t identifier)
{
        for (size_t i = 0; i < PN_ELEMENTS(identifiers); i++)
                if (identifiers[i].code == identifier)
                        return identifiers[i].form;
        return NULL;
}

const char *pn_sff8024_connector(uint8_t code)
{
        for (size_t i = 0; i < PN_ELEMENTS(connectors); i++)
                if (connectors[i].code == code)
                        return connectors[i].name;
        return NULL;
}

const char *pn_sff8024_cable(PnSffKind kind)
{
        switch (kind) {
        case PN_SFF_PASSIVE_COPPER:
                return "passive copper";
        case PN_SFF_ACTIVE_COPPER:
                return "active copper";
        case PN_SFF_ACTIVE_OPTICAL:
                return "active optical cable";
        case PN_SFF_OPTICAL:
        case PN_SFF_BASE_T:
                break;
        }
        return NULL;
}

const PnSffCompliance *pn_sff8024_compliance(uint8_t code)
{
        for (size_t i = 0; i < PN_ELEMENTS(compliances); i++)
                if (compliances[i].code == code)
                        return &compliances[i];
        return NULL;
}

const char *pn_sff8024_media(uint8_t media_type, uint8_t code)
{
        switch (media_type) {
        case PN_SFF_MEDIA_MMF:
                return code < PN_ELEMENTS(mmf) ? mmf[code] : NULL;
        case PN_SFF_MEDIA_SMF:
                return code < PN_ELEMENTS(smf) ? smf[code] : NULL;
        case PN_SFF_MEDIA_BASE_T:
                return code < PN_ELEMENTS(base_t) ? base_t[code] : NULL;
        default:
                return NULL;
        }
}
