/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of an adapter's tensors to parameters: with the option `dtype` all of them are rounded to bf16, so that
 * forwards need not know about it. */
#ifndef LORA_STORED_H
#define LORA_STORED_H

#include "graft/class.h"

/* Sets whether tensors are rounded; called before anything is described. */
void lora_set_rounding(int32_t rounds);

/* [load] Declares that the tensor `source` becomes the parameter `target`, both below the module of `sink`; with
 * `transposed`, a matrix is transposed. */
int lora_describe_stored(const struct graft_sink *sink, const char *source, const char *target, int transposed,
                         struct graft_error *error);

/* [load] Declares that a custom operation makes the parameter `target` from the tensors `sources`, all below the module
 * of `sink`. */
int lora_describe_operation(const struct graft_sink *sink, const char *const *sources, int32_t n_sources,
                            const char *target, const struct graft_custom_operation *operation,
                            struct graft_error *error);

/* [load] Declares the same for a child that an adapter stores whole: its weight, and its bias if it has one. */
int lora_describe_whole(const struct graft_sink *sink, const char *child, struct graft_error *error);

#endif
