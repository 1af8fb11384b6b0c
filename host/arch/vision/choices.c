/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/vision/choices.h"

#include "arch/data/choice_rows.h"

/* Far larger than in any published model, and small enough that products of four sizes fit 64 bits. */
enum { MAX_SIZE = 1 << 20, MAX_LAYERS = 4096, MAX_PATCH = 1024, MAX_MERGE = 64, MAX_WINDOW = 1 << 20 };

static const struct graft_choice_info infos[V_COUNT] = {
#define CHOICE(number, kind, ...) [number] = kind(__VA_ARGS__),
#include "arch/vision/choice_list.h"
#undef CHOICE
};

const struct graft_choices graft_vision_choices = {infos, V_COUNT};
