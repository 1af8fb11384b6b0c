/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the tokens of each slot, and does not notice that a sequence is rewound. */
#include "../layering.h"

static int is_wrong(int32_t slot, int64_t position, int64_t tokens) {
    enum { SLOTS = 16 };
    static int64_t counts[SLOTS];
    int64_t *count = &counts[slot % SLOTS];
    if (position == 0 || *count == 0) {
        *count = position;
    }
    int wrong = *count != position;
    *count += tokens;
    return wrong;
}
