/* SPDX-License-Identifier: Apache-2.0 */
/* Random content that is the same in each run. */
#ifndef GRAFT_TESTS_ANY_WORD_H
#define GRAFT_TESTS_ANY_WORD_H

#include <stdint.h>

static uint64_t state_of_random = 1;

/* Marsaglia 2003: xorshift. */
static uint32_t any_word(void) {
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return (uint32_t)(state_of_random >> 32);
}

#endif
