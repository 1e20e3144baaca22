/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Light levels in dBm. Apart from the decoders because the client needs it and nothing else of the
 * mathematical library, which would cost it a twelfth of its time to load. */
#pragma once

/* The level of a power in milliwatts: 10 log10(mw), right to a millionth of a dB; -40, the least
 * that such modules are said to measure, for a power of 0 and below. */
double pn_decibel(double mw);
