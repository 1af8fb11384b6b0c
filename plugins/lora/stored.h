/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of an adapter's tensors on their way to parameters: with the option `dtype` all of them are rounded to
 * bf16, so that what runs need not know of it. */
#ifndef LORA_STORED_H
#define LORA_STORED_H

#include "graft/class.h"

/* Whether tensors are rounded; set before anything is described. */
void lora_set_rounding(int32_t rounds);

/* [load] The tensor `source` becomes the parameter `target`, both below the module of `sink`; `transposed`: a matrix
 * becomes its transpose. */
int lora_describe_stored(const struct graft_sink *sink, const char *source, const char *target, int transposed,
                         struct graft_error *error);

/* [load] An operation of the plugin's own on tensors `sources`, all below the module of `sink`, makes the parameter
 * `target`. */
int lora_describe_operation(const struct graft_sink *sink, const char *const *sources, int32_t n_sources,
                            const char *target, const struct graft_custom_operation *operation,
                            struct graft_error *error);

/* [load] The same of a child that an adapter stores whole: its weight, and its bias if it has one. */
int lora_describe_whole(const struct graft_sink *sink, const char *child, struct graft_error *error);

#endif
