/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/choices.h"

#include "arch/data/choice_rows.h"

enum { MAX_VOCABULARY = 1 << 28, MAX_POSITIONS = 1 << 30, MAX_MIXER_HEADS = 1 << 14, MAX_MIXER_DIM = 1 << 12 };

#define ANY_REAL (-1e300)

static const struct graft_choice_info infos[D_COUNT] = {
#define CHOICE(number, kind, ...) [number] = kind(__VA_ARGS__),
#include "arch/decoder/choice_list.h"
#undef CHOICE
};

const struct graft_choices graft_decoder_choices = {infos, D_COUNT};
