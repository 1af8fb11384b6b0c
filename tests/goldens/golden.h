/* SPDX-License-Identifier: Apache-2.0 */
/* A case: golden.json and golden.safetensors of its directory (README.md). */
#ifndef GRAFT_GOLDENS_GOLDEN_H
#define GRAFT_GOLDENS_GOLDEN_H

#include <stdint.h>

#include "base/json.h"
#include "weights/safetensors.h"

struct golden {
    const char *directory;
    graft_json *document;
    struct graft_safetensors *tensors; /* NULL if the reference could not run the case */
    int32_t *ids;                      /* [n_ids]: the prompt */
    size_t n_ids;
    int32_t *greedy_ids; /* [n_greedy] */
    size_t n_greedy;
};

/* Reads a case; ends the program on failure. */
void golden_open(struct golden *golden, const char *directory);
void golden_close(struct golden *golden);

/* An array of ids and its length `*count`; the caller frees it. */
int32_t *golden_ids(const graft_json *document, const char *key, size_t *count);

/* The tensor `name` of [rows, columns] f32 numbers (leading dimensions of 1 do not count); ends the program if there is
 * none. */
const float *golden_tensor(const struct golden *golden, const char *name, size_t rows, size_t columns);

/* The distance between the reference's runs in `dtype` ("bfloat16") and in f32; negative if it did not run in that
 * type. */
double golden_spread(const struct golden *golden, const char *dtype);

/* The distance between the reference's runs in f64 and in f32; 0 if it did not run in f64. */
double golden_f64_difference(const struct golden *golden);

/* The distance between the reference's greedy logits with a cache and without. It is large if the rotation of a key
 * depends on the length at which it was made (rope type dynamic): then a prompt in pieces gives other logits than one
 * at once. */
double golden_cache_difference(const struct golden *golden);

#endif
