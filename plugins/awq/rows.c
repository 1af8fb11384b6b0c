/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <string.h>

#include "graft/dtype.h"

/* Codes of a word, and words that are turned side by side. */
enum { SLOTS = 8, SIDE = 16 };

/* The slots of a word's outputs. */
static const int slots[SLOTS] = {0, 4, 1, 5, 2, 6, 3, 7};

static const struct graft_threads *host_threads;

void awq_set_threads(const struct graft_threads *threads) {
    host_threads = threads;
}

/* Words that are turned, or turned back. */
struct turn {
    const uint32_t *from;
    uint32_t *to;
    int64_t rows;    /* of AWQ's words: inputs or groups */
    int64_t columns; /* of these: an eighth of the outputs */
    int32_t is_back; /* 1: `to` is AWQ's */
};

/* --- Codes: squares of eight inputs and eight outputs, turned --- */

/* Fields of `width` bits change places between words: the upper ones of `a` with the lower ones of `b`; `lower` has the
 * bits of the lower ones. */
static void exchange(uint32_t *restrict a, uint32_t *restrict b, int width, uint32_t lower) {
    for (int c = 0; c < SIDE; c++) {
        const uint32_t first = (a[c] & lower) | (b[c] << width & ~lower);
        b[c] = (a[c] >> width & lower) | (b[c] & ~lower);
        a[c] = first;
    }
}

/* Slot s of word k becomes slot k of word s, and the other way round. */
static void turn_squares(uint32_t words[SLOTS][SIDE]) {
    static const uint32_t lower[] = {0x0f0f0f0f, 0x00ff00ff, 0x0000ffff};
    for (int round = 0; round < 3; round++) {
        const int apart = 1 << round;
        for (int k = 0; k < SLOTS; k++) {
            if ((k & apart) == 0) {
                exchange(words[k], words[k + apart], 4 * apart, lower[round]);
            }
        }
    }
}

/* Eight inputs, the first of them in number `word` of a row's words, of n columns from `first` on. */
static void turn_side(const struct turn *turn, int64_t word, int64_t first, int64_t n) {
    const int64_t length = turn->rows / SLOTS; /* words of an output, in row number 8 * first + i */
    const int64_t row = word * SLOTS * turn->columns + first;
    uint32_t words[SLOTS][SIDE] = {{0}};
    for (int k = 0; k < SLOTS && !turn->is_back; k++) {
        memcpy(words[k], turn->from + row + k * turn->columns, (size_t)n * sizeof **words);
    }
    for (int64_t i = 0; i < n * SLOTS && turn->is_back; i++) {
        words[slots[i % SLOTS]][i / SLOTS] = turn->from[(first * SLOTS + i) * length + word];
    }
    turn_squares(words);
    for (int64_t i = 0; i < n * SLOTS && !turn->is_back; i++) {
        turn->to[(first * SLOTS + i) * length + word] = words[slots[i % SLOTS]][i / SLOTS];
    }
    for (int k = 0; k < SLOTS && turn->is_back; k++) {
        memcpy(turn->to + row + k * turn->columns, words[k], (size_t)n * sizeof **words);
    }
}

/* A body: strips [begin, end) of SIDE columns. */
static void turn_strips(void *data, int64_t begin, int64_t end) {
    const struct turn *turn = data;
    for (int64_t first = begin * SIDE; first < end * SIDE && first < turn->columns; first += SIDE) {
        const int64_t n = turn->columns - first < SIDE ? turn->columns - first : SIDE;
        for (int64_t word = 0; word < turn->rows / SLOTS; word++) {
            turn_side(turn, word, first, n);
        }
    }
}

static void turn_codes(struct turn *turn) {
    host_threads->parallel_for((turn->columns + SIDE - 1) / SIDE, 1, turn_strips, turn);
}

/* --- Zero points --- */

/* The codes of a word in the order of its outputs, or back. */
static uint32_t order(uint32_t word, int is_back) {
    uint32_t ordered = 0;
    for (int k = 0; k < SLOTS; k++) {
        ordered |= (word >> 4 * (is_back ? k : slots[k]) & 15) << 4 * (is_back ? slots[k] : k);
    }
    return ordered;
}

static void turn_zeros(struct turn *turn) {
    for (int64_t i = 0; i < turn->rows * turn->columns; i++) {
        const int64_t turned = i % turn->columns * turn->rows + i / turn->columns;
        turn->to[turn->is_back ? i : turned] = order(turn->from[turn->is_back ? turned : i], turn->is_back);
    }
}

/* --- The operations --- */

/* The `data` of one. */
struct kind {
    int64_t unit; /* inputs, or groups, that share a word of the result */
    void (*turn)(struct turn *turn);
};

static int infer(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                 struct graft_error *error) {
    const struct kind *kind = self->data;
    const struct graft_value_info *input = shapes->inputs;
    if (shapes->n_inputs != 1 || shapes->n_outputs != 1) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, self->name, "expected 1 value and 1 target, got %d and %d",
                               (int)shapes->n_inputs, (int)shapes->n_outputs);
    }
    if (input->dtype != GRAFT_DTYPE_I32 || input->rank != 2 || input->shape[0] % kind->unit != 0 ||
        input->shape[1] > INT32_MAX / SLOTS) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, self->name,
                               "expected a matrix of I32 with a multiple of %d rows", (int)kind->unit);
    }
    struct graft_value_info *output = graft_custom_output(shapes, 0);
    output->dtype = GRAFT_DTYPE_I32;
    output->rank = 2;
    output->shape[0] = input->shape[1] * kind->unit;
    output->shape[1] = input->shape[0] / kind->unit;
    return GRAFT_OK;
}

static int run(const struct graft_custom_operation *self, const struct graft_custom_work *work, int32_t is_back) {
    const struct kind *kind = self->data;
    struct turn turn = {work->from[0], work->to[0], work->inputs[0].shape[0], work->inputs[0].shape[1], is_back};
    kind->turn(&turn);
    return GRAFT_OK;
}

static int apply(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                 struct graft_error *error) {
    (void)error;
    return run(self, work, 0);
}

static int reverse(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                   struct graft_error *error) {
    (void)error;
    return run(self, work, 1);
}

static const struct kind codes = {SLOTS, turn_codes}, zeros = {1, turn_zeros};

#define OPERATION(operation_name, kind)                                                                  \
    {                                                                                                    \
        .struct_size = sizeof(struct graft_custom_operation), .name = (operation_name), .data = &(kind), \
        .infer = infer, .apply = apply, .reverse = reverse                                               \
    }

const struct graft_custom_operation awq_operations[AWQ_OPERATIONS] = {
    [AWQ_CODES] = OPERATION("awq_codes_in_rows", codes),
    [AWQ_ZEROS] = OPERATION("awq_zeros_in_rows", zeros),
};
