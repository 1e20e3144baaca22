/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's numbers for network links, in words and Mb/s. Knows no device. */
#include "linkmode.h"

/* Runs of link modes of one speed, by bit number. Bits between them are no speeds: connectors,
 * pause, forward error correction. */
static const struct {
        uint8_t first, last;
        int32_t mbps;
} runs[] = {
    {0, 1, 10},       {2, 3, 100},        {4, 5, 1000},       {12, 12, 10000},    {15, 15, 2500},
    {17, 17, 1000},   {18, 20, 10000},    {21, 22, 20000},    {23, 26, 40000},    {27, 30, 56000},
    {31, 33, 25000},  {34, 35, 50000},    {36, 39, 100000},   {40, 40, 50000},    {41, 41, 1000},
    {42, 46, 10000},  {47, 47, 2500},     {48, 48, 5000},     {52, 56, 50000},    {57, 61, 100000},
    {62, 66, 200000}, {67, 67, 100},      {68, 68, 1000},     {69, 73, 400000},   {75, 79, 100000},
    {80, 84, 200000}, {85, 89, 400000},   {90, 91, 100},      {92, 92, 10},       {93, 98, 800000},
    {99, 102, 10},    {103, 108, 200000}, {109, 114, 400000}, {115, 120, 800000},
};

/* Modes that exist on a backplane alone: KX, KX4, KR and their kin. */
static const uint8_t backplane_bits[] = {17, 18, 19, 22, 23, 27, 32, 35,
                                         36, 52, 57, 62, 69, 75, 80, 85};

#define BIT_BACKPLANE 16u

bool pn_link_mode_is_set(const uint32_t modes[static PN_LINK_MODE_WORDS], unsigned bit)
{
        return modes[bit / 32] >> bit % 32 & 1;
}

static bool has_speed(const PnReals *speeds, double mbps)
{
        for (unsigned i = 0; i < speeds->n; i++)
                if ((int64_t)speeds->v[i] == (int64_t)mbps)
                        return true;
        return false;
}

static int compare_reals(const void *a, const void *b)
{
        const double *one = a, *other = b;

        return (*one > *other) - (*one < *other);
}

int pn_link_mode_speeds(const uint32_t modes[static PN_LINK_MODE_WORDS], PnReals *ret)
{
        for (size_t i = 0; i < PN_ELEMENTS(runs); i++)
                for (unsigned bit = runs[i].first; bit <= runs[i].last; bit++)
                        if (pn_link_mode_is_set(modes, bit) && !has_speed(ret, runs[i].mbps) &&
                            pn_reals_append(ret, runs[i].mbps) < 0)
                                return -ENOMEM;
        if (ret->n > 1)
                qsort(ret->v, ret->n, sizeof *ret->v, compare_reals);
        return 0;
}

PnInt pn_link_speed(int64_t raw)
{
        return raw <= 0 || raw == 65535 || raw > INT32_MAX ? (PnInt){0} : pn_int(raw);
}

const char *pn_link_duplex(unsigned raw)
{
        return raw == 0 ? "half" : raw == 1 ? "full" : NULL;
}

static bool is_backplane(const uint32_t *supported)
{
        bool any = pn_link_mode_is_set(supported, BIT_BACKPLANE);

        for (size_t i = 0; i < PN_ELEMENTS(backplane_bits); i++)
                any |= pn_link_mode_is_set(supported, backplane_bits[i]);
        return any;
}

const char *pn_link_port(unsigned raw, const uint32_t supported[static PN_LINK_MODE_WORDS])
{
        switch (raw) {
        case 0x00:
                return "tp";
        case 0x03:
                return "fibre";
        case 0x05:
                return "da";
        case 0xef:
                return is_backplane(supported) ? "backplane" : "none";
        case 0x01:
        case 0x02:
        case 0x04:
        case 0xff:
                return is_backplane(supported) ? "backplane" : "other";
        default:
                return NULL;
        }
}

const char *pn_link_fec(int bit)
{
        switch (bit) {
        case 49:
                return "none";
        case 50:
                return "rs";
        case 51:
                return "baser";
        case 74:
                return "llrs";
        default:
                return NULL;
        }
}

const char *pn_link_reason(int state, int substate)
{
        static const struct {
                int state, substate;
                const char *words;
        } reasons[] = {
            {0, 1, "no partner"},
            {0, -1, "autonegotiation failed"},
            {1, -1, "link training failed"},
            {2, -1, "the partner's signal does not fit"},
            {3, -1, "bad signal"},
            {4, -1, "no cable"},
            {5, 1, "unsupported cable"},
            {5, 2, "the cable failed its test"},
            {5, -1, "cable fault"},
            {6, -1, "the module's memory cannot be read"},
            {7, -1, "calibration failed"},
            {8, -1, "the module wants more power than the port gives"},
            {9, -1, "too hot"},
            {10, -1, "the module is not ready"},
        };

        for (size_t i = 0; i < PN_ELEMENTS(reasons); i++)
                if (reasons[i].state == state &&
                    (reasons[i].substate < 0 || reasons[i].substate == substate))
                        return reasons[i].words;
        return NULL;
}

const char *pn_bond_mode(unsigned mode)
{
        static const char *const modes[] = {"balance-rr", "active-backup", "balance-xor",
                                            "broadcast",  "802.3ad",       "balance-tlb",
                                            "balance-alb"};

        return mode < PN_ELEMENTS(modes) ? modes[mode] : NULL;
}

const char *pn_link_operstate(unsigned state)
{
        static const char *const states[] = {"unknown", "notpresent", "down", "lowerlayerdown",
                                             "testing", "dormant",    "up"};

        return state < PN_ELEMENTS(states) ? states[state] : NULL;
}
