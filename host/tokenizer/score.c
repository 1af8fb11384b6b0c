/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/score.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double power_of_ten(struct graft_score_powers *powers, int exponent) {
    if (powers->of_ten[exponent] == 0.0) {
        char digits[16];
        (void)snprintf(digits, sizeof digits, "1e%d", exponent);
        powers->of_ten[exponent] = strtod(digits, NULL);
    }
    return powers->of_ten[exponent];
}

/* Reads digits into `*digits`, as far as 64 bits hold them. Returns how many there were; `*lost` is how many did not
 * fit. */
static size_t read_digits(struct graft_json_cursor *cursor, uint64_t *digits, size_t *lost) {
    size_t start = cursor->at;
    *lost = 0;
    for (; cursor->at < cursor->length && cursor->text[cursor->at] >= '0' && cursor->text[cursor->at] <= '9';
         cursor->at++) {
        uint64_t digit = (uint64_t)(cursor->text[cursor->at] - '0');
        if (*lost > 0 || *digits > (UINT64_MAX - digit) / 10) {
            ++*lost;
        } else {
            *digits = *digits * 10 + digit;
        }
    }
    return cursor->at - start;
}

static int take_any(struct graft_json_cursor *cursor, char one, char other) {
    int taken = cursor->at < cursor->length && (cursor->text[cursor->at] == one || cursor->text[cursor->at] == other);
    cursor->at += (size_t)taken;
    return taken;
}

/* Reads an exponent such as "e-05"; without one it is 0. Returns 0, or -1 if it is malformed. */
static int read_exponent(struct graft_json_cursor *cursor, int *exponent) {
    uint64_t digits = 0;
    size_t lost;
    *exponent = 0;
    if (!take_any(cursor, 'e', 'E')) {
        return 0;
    }
    int negative = cursor->at < cursor->length && cursor->text[cursor->at] == '-';
    (void)take_any(cursor, '+', '-');
    if (read_digits(cursor, &digits, &lost) == 0) {
        return -1;
    }
    int magnitude = lost > 0 || digits > 100000 ? 100000 : (int)digits;
    *exponent = negative ? -magnitude : magnitude;
    return 0;
}

int graft_score_read(struct graft_json_cursor *cursor, struct graft_score_powers *powers, double *score) {
    int negative = graft_json_cursor_take(cursor, '-'), given = 0;
    uint64_t digits = 0;
    size_t lost, fraction = 0, fraction_lost = 0;
    if (read_digits(cursor, &digits, &lost) == 0) {
        return -1;
    }
    if (take_any(cursor, '.', '.')) {
        uint64_t before = digits;
        fraction = read_digits(cursor, &digits, &fraction_lost);
        if (fraction == 0) {
            return -1;
        }
        if (lost > 0) { /* once digits did not fit, all that follow are dropped */
            digits = before;
            fraction_lost = fraction;
        }
    }
    if (read_exponent(cursor, &given) != 0 || lost > 100000 || fraction > 100000) {
        return -1;
    }
    int exponent = given + (int)lost - (int)(fraction - fraction_lost);
    double number = (double)digits;
    while (exponent < -GRAFT_SCORE_MAX_POWER && number != 0.0) {
        number /= power_of_ten(powers, GRAFT_SCORE_MAX_POWER);
        exponent += GRAFT_SCORE_MAX_POWER;
    }
    if (number != 0.0) {
        if (exponent > GRAFT_SCORE_MAX_POWER) {
            return -1;
        }
        number = exponent < 0 ? number / power_of_ten(powers, -exponent) : number * power_of_ten(powers, exponent);
    }
    *score = negative ? -number : number;
    return isfinite(number) ? 0 : -1;
}
