/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One logarithm; knows no module. */

#include "decibel.h"

#include <math.h>

#define DARK_DBM -40.0

double pn_decibel(double mw)
{
        int exponent = 0;
        double mantissa, t, square, power, sum = 0;

        if (!(mw > 0))
                return DARK_DBM;
        for (mantissa = mw; mantissa >= 1 && exponent < 1024; exponent++)
                mantissa /= 2;
        for (; mantissa < 0.5 && exponent > -1024; exponent--)
                mantissa *= 2;
        /* ln m = 2 artanh((m-1)/(m+1)); with 0.5 <= m < 1 each term is at most a ninth of the one
         * before. */
        t = (mantissa - 1) / (mantissa + 1);
        square = t * t;
        power = t;
        for (int odd = 1; odd < 24; odd += 2) {
                sum += power / odd;
                power *= square;
        }
        return 10 * (2 * sum + exponent * M_LN2) / M_LN10;
}
