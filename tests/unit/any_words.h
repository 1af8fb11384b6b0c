/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of random content, for tests of loops. Include it after cmocka.h. */
#ifndef GRAFT_TESTS_ANY_WORDS_H
#define GRAFT_TESTS_ANY_WORDS_H

#include <stdlib.h>

#include "any_word.h"

/* Arrays end where their memory ends, so that sanitizers detect loops that read further. */
static void *need(size_t bytes) {
    void *memory = malloc(bytes);
    assert_non_null(memory);
    return memory;
}

#endif
