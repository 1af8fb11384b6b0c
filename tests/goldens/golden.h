/* SPDX-License-Identifier: Apache-2.0 */
/* One case: golden.json and golden.safetensors of its directory (README.md). */
#ifndef GRAFT_GOLDENS_GOLDEN_H
#define GRAFT_GOLDENS_GOLDEN_H

#include <stdint.h>

#include "base/json.h"
#include "weights/safetensors.h"

struct golden {
    const char *directory;
    graft_json *document;
    struct graft_safetensors *tensors; /* NULL where the reference could not run */
    int32_t *ids;                      /* [n_ids]: the prompt */
    size_t n_ids;
    int32_t *greedy_ids; /* [n_greedy] */
    size_t n_greedy;
};

/* Reads a case; ends the program where that fails. */
void golden_open(struct golden *golden, const char *directory);
void golden_close(struct golden *golden);

/* An array of ids, `*count` of them; the caller frees them. */
int32_t *golden_ids(const graft_json *document, const char *key, size_t *count);

/* The tensor called `name`, of `rows` rows of `columns` f32 numbers (leading dimensions of 1 do not count); ends the
 * program where there is none such. */
const float *golden_tensor(const struct golden *golden, const char *name, size_t rows, size_t columns);

/* How far the reference's own run in `dtype` ("bfloat16") is from its f32 run; negative where it has none. */
double golden_spread(const struct golden *golden, const char *dtype);

/* How far the reference's run in f64 is from that in f32; 0 where it has none. */
double golden_f64_difference(const struct golden *golden);

/* How far the reference's greedy logits with a cache are from those without one. It is much where the rotation of a key
 * depends on the length at which it was made (rope type dynamic): there, one piece is not the same as two. */
double golden_cache_difference(const struct golden *golden);

#endif
