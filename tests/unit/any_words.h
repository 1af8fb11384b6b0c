/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of random content, for tests of loops. To be included after cmocka.h. */
#ifndef GRAFT_TESTS_ANY_WORDS_H
#define GRAFT_TESTS_ANY_WORDS_H

#include <stdint.h>
#include <stdlib.h>

static uint64_t state_of_random = 1;

/* Marsaglia 2003: xorshift. */
static uint32_t any_word(void) {
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return (uint32_t)(state_of_random >> 32);
}

/* Arrays end where memory of theirs ends, so that sanitizers see a loop that reads on. */
static void *need(size_t bytes) {
    void *memory = malloc(bytes);
    assert_non_null(memory);
    return memory;
}

#endif
