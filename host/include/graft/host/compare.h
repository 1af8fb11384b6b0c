/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares a model with replacements with the same model without them, or with another checkpoint of it: while the
 * model runs, each replaced module and its original get the same input.
 *
 *     struct graft_comparison *comparison;
 *     graft_model_compare(model, original, 1, &comparison, &error);
 *     graft_model_logits(model, &prompt, 1, logits, &error);
 *     for (size_t i = 0; (compared = graft_comparison_at(comparison, i)) != NULL; i++) { ... }
 *     graft_comparison_free(comparison);
 */
#ifndef GRAFT_HOST_COMPARE_H
#define GRAFT_HOST_COMPARE_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_model;
struct graft_named_module;

/* The largest absolute difference between two arrays, and the largest absolute value of the reference. Equal numbers,
 * and NaN on both sides, differ by 0; one NaN makes the difference infinite. Never grows. */
struct graft_difference {
    double difference; /* the largest |value - reference| */
    double value;      /* the largest |reference| */
};

/* [any] Adds two arrays of `count` numbers to `found`, which starts as {0}. */
void graft_difference_add(struct graft_difference *found, const float *values, const float *reference, int64_t count);

/* [any] How large a difference may be that is rounding: `tolerance` times the largest value of the reference, or
 * `tolerance` itself where that value is below 1 or not finite. The rounding errors of f32 grow with the numbers:
 * logits of 40 differ by 1e-4 between two correct orders of the same sums. */
double graft_difference_limit(const struct graft_difference *found, double tolerance);

/* One replaced module, or one with other weights. */
struct graft_compared {
    uint32_t struct_size;
    uint32_t reserved;
    const struct graft_named_module *module; /* graft/host/modules.h: the replacement */
    const char *reason;                      /* why it is not compared; NULL: it is */
    int64_t calls;                           /* of the module, so far */
    struct graft_difference outputs;         /* of all calls: replacement against original */
    double seconds;                          /* that all calls of the replacement took */
    double original_seconds;                 /* and those of the original */
    int64_t bytes;                           /* of weights that the replacement is bound to */
    int64_t original_bytes;                  /* and those of the original */
};

struct graft_comparison;

/* [load] Starts comparing the replaced modules of `model` with `original`: the same model opened without replacements,
 * or another checkpoint of the same architecture, such as the one that a quantized one was made from; then modules that
 * only have other weights are compared, too. One of other sizes is an error (GRAFT_ERROR_MODEL) that names the field.
 * From now on each run of `model`, with at most `n_sequences` sequences, runs the originals as well. Both models
 * outlive the comparison, and one model takes part in one comparison or profile at a time. */
int graft_model_compare(struct graft_model *model, struct graft_model *original, int32_t n_sequences,
                        struct graft_comparison **comparison, struct graft_error *error);

/* [load] Replaced module number `i`, in the order of modules, with its current numbers; NULL after the last. Owned by
 * the comparison and valid until that is freed. */
const struct graft_compared *graft_comparison_at(const struct graft_comparison *comparison, size_t i);

/* [load] Ends the comparison: models run as before. Accepts NULL. */
void graft_comparison_free(struct graft_comparison *comparison);

#ifdef __cplusplus
}
#endif

#endif
