/* SPDX-License-Identifier: Apache-2.0 */
/* The values of 4-bit codes, with bitsandbytes' own digits. Those of NF4 (Dettmers et al. 2023) are quantiles of the
 * normal distribution; those of FP4 have a sign, two bits of exponent and one of mantissa, divided by 12. */
#ifndef BITSANDBYTES_NUMBERS_H
#define BITSANDBYTES_NUMBERS_H

static const float nf4_numbers[16] = {
    -1.0F,
    -0.6961928009986877F,
    -0.5250730514526367F,
    -0.39491748809814453F,
    -0.28444138169288635F,
    -0.18477343022823334F,
    -0.09105003625154495F,
    0.0F,
    0.07958029955625534F,
    0.16093020141124725F,
    0.24611230194568634F,
    0.33791524171829224F,
    0.44070982933044434F,
    0.5626170039176941F,
    0.7229568362236023F,
    1.0F,
};

static const float fp4_numbers[16] = {
    0.0F, 0.0625F / 12,  8.0F / 12,  1.0F,  4.0F / 12,  0.5F,  2.0F / 12,  0.25F,
    0.0F, -0.0625F / 12, -8.0F / 12, -1.0F, -4.0F / 12, -0.5F, -2.0F / 12, -0.25F,
};

#endif
