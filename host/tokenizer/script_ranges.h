/* SPDX-License-Identifier: Apache-2.0 */
/* The scripts of characters as UnicodeScripts has them: those of Unicode 10, in which kana are counted with Han. */
#ifndef GRAFT_TOKENIZER_SCRIPT_RANGES_H
#define GRAFT_TOKENIZER_SCRIPT_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct graft_script_range {
    uint32_t first;
    uint32_t last;
    uint8_t script; /* a number, the same for all ranges of the script */
};

/* [graft_n_script_ranges] in ascending order. Characters in none of them, such as a space, have no script. */
extern const struct graft_script_range graft_script_ranges[];
extern const size_t graft_n_script_ranges;

#endif
