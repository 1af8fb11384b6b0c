/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tensors and config fields that formats of packed.h share: `qweight`, `qzeros` [groups, out * bits / 32], both
 * I32, `scales` [groups, out] and perhaps `bias`; `quantization_config.bits` and `.group_size`, which have been called
 * `w_bit` and `q_group_size` as well.
 */
#ifndef GRAFT_PACKED_TENSORS_H
#define GRAFT_PACKED_TENSORS_H

#include "describe.h"
#include "packed.h"
#include "quantization_fields.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_PACKED_BITS_NAMES "bits", "w_bit", "wbits"
#define GRAFT_PACKED_GROUP_NAMES "group_size", "q_group_size"

/* [load] A field of the module's own, at `place`, or else of all modules, at "quantization_config". */
GRAFT_INLINE int graft_packed_field(const struct graft_config *config, const char *place, const char *name,
                                    int64_t minimum, int64_t maximum, int64_t *value, struct graft_error *error) {
    char own[128], all[128];
    (void)snprintf(own, sizeof own, "%.90s.%.30s", place, name);
    (void)snprintf(all, sizeof all, "quantization_config.%.30s", name);
    return graft_config_int(config, graft_config_has(config, own) ? own : all, minimum, maximum, value, error);
}

/* [load] `bits` and `group_size` of a module: at `place`, or else what all modules have. */
GRAFT_INLINE int graft_packed_bits_and_groups(const struct graft_config *config, const char *place, int64_t *bits,
                                              int64_t *group_size, struct graft_error *error) {
    static const char *const of_bits[] = {GRAFT_PACKED_BITS_NAMES, NULL};
    static const char *const of_groups[] = {GRAFT_PACKED_GROUP_NAMES, NULL};
    int status = graft_quantization_int(config, of_bits, 1, 32, bits, error);
    if (status == GRAFT_OK && *bits == 0) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "quantization_config.bits: missing, expected an integer");
    }
    if (status == GRAFT_OK) {
        status = graft_quantization_int(config, of_groups, -1, INT32_MAX, group_size, error);
    }
    if (status == GRAFT_OK) {
        status = graft_packed_field(config, place, "bits", 1, 32, bits, error);
    }
    return status == GRAFT_OK ? graft_packed_field(config, place, "group_size", -1, INT32_MAX, group_size, error)
                              : status;
}

/* [load] In `describe`: fills in the sizes of a module from its arguments and the config, and checks that they fit.
 * What the config says of this module alone is at `place`; "quantization_config": nothing. `self->bits` is what there
 * are where the config does not say it, or 0: it has to. Bits of `widths`, a bit each (1 << 4), are allowed. */
GRAFT_INLINE int graft_packed_sizes_of(const struct graft_config *config, const char *place,
                                       const struct graft_args *args, const char *path, uint32_t widths,
                                       struct graft_packed *self, struct graft_error *error) {
    static const char bits_field[] = "quantization_config.bits", group_field[] = "quantization_config.group_size";
    int64_t bits = self->bits, group_size = 128; /* transformers' own */
    int status = graft_packed_bits_and_groups(config, place, &bits, &group_size, error);
    if (status == GRAFT_OK && (bits > 8 || (widths & 1U << bits) == 0)) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected %s, got %lld (%s)", bits_field,
                                 (widths & 1U << 3) != 0   ? "2 to 8"
                                 : (widths & 1U << 8) != 0 ? "4 or 8"
                                                           : "4",
                                 (long long)bits, path);
    }
    if (status == GRAFT_OK && group_size == 0) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "%s: expected a number of inputs, or -1 for all, got 0", group_field);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    self->bits = (int32_t)bits;
    self->in_features = graft_args_int(args, "in_features", 0);
    self->out_features = graft_args_int(args, "out_features", 0);
    self->group_size = group_size < 0 ? self->in_features : group_size;
    if (self->in_features < 1 || self->out_features < 1 || self->in_features * bits % 32 != 0 ||
        self->out_features * bits % 32 != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, path,
                               "%s is %lld, but %lld inputs and %lld outputs do not fill words of 32 bits", bits_field,
                               (long long)bits, (long long)self->in_features, (long long)self->out_features);
    }
    self->groups = (self->in_features + self->group_size - 1) / self->group_size;
    return GRAFT_OK;
}

/* [load] The same of codes of 4 or 8 bits, which the config has to say. */
GRAFT_INLINE int graft_packed_sizes(const struct graft_config *config, const char *place, const struct graft_args *args,
                                    const char *path, struct graft_packed *self, struct graft_error *error) {
    self->bits = 0;
    return graft_packed_sizes_of(config, place, args, path, 1U << 4 | 1U << 8, self, error);
}

/* [load] Describes those tensors but the bias. `words` is the shape of qweight, whose columns are `word_rows` outputs
 * each; `flags` are GRAFT_PARAMETER_... */
GRAFT_INLINE int graft_packed_describe_tensors(const struct graft_sink *sink, const struct graft_packed *self,
                                               const int64_t words[2], int64_t word_rows, uint32_t flags,
                                               struct graft_error *error) {
    const int64_t zeros[2] = {self->groups, self->out_features * self->bits / 32};
    const int64_t scales[2] = {self->groups, self->out_features};
    int status =
        graft_describe_joined(sink, "qweight", 2, words, GRAFT_DTYPE_I32, flags, graft_join_rows(1, word_rows), error);
    if (status == GRAFT_OK) {
        status = graft_describe_joined(sink, "qzeros", 2, zeros, GRAFT_DTYPE_I32, flags,
                                       graft_join_rows(1, 32 / self->bits), error);
    }
    return status == GRAFT_OK
               ? graft_describe_joined(sink, "scales", 2, scales, GRAFT_DTYPE_NONE, flags, graft_join_rows(1, 1), error)
               : status;
}

/* [load] Describes the module's tensors, but for those of one format only. A bias may be in the checkpoint where the
 * architecture has none: old tools wrote zeros, and some corrections are kept there. Where a class above has but some
 * of the inputs read, it adds the bias to the sum (linear.h). */
GRAFT_INLINE int graft_packed_describe(const struct graft_sink *sink, const struct graft_packed *self,
                                       const struct graft_args *args, const int64_t words[2], int64_t word_rows,
                                       struct graft_error *error) {
    const int64_t sizes[2] = {self->in_features, self->out_features};
    const int32_t is_part = graft_args_int(args, "whole_in_features", self->in_features) > self->in_features;
    int32_t bias = graft_args_int(args, "bias", 1) != 0 ? GRAFT_INIT_NONE : GRAFT_INIT_ABSENT;
    int status = sink->attribute(sink->data, "in_features", &sizes[0], 1, error);
    if (status == GRAFT_OK) {
        status = sink->attribute(sink->data, "out_features", &sizes[1], 1, error);
    }
    if (status == GRAFT_OK) {
        status = graft_packed_describe_tensors(sink, self, words, word_rows, GRAFT_PARAMETER_CONTIGUOUS, error);
    }
    return status == GRAFT_OK && !is_part ? graft_describe_parameter(sink, "bias", 1, &sizes[1], 0, bias, error)
                                          : status;
}

/* [load] In `create`: points to what was described. */
GRAFT_INLINE int graft_packed_bind(const struct graft_build *build, struct graft_packed *self,
                                   struct graft_error *error) {
    int status = GRAFT_OK;
    const struct graft_weight *words = graft_build_weight(build, "qweight", &status, error);
    const struct graft_weight *zeros = graft_build_weight(build, "qzeros", &status, error);
    const struct graft_weight *scales = graft_build_weight(build, "scales", &status, error);
    self->bias = build->weight(build->data, "bias"); /* or NULL */
    if (status == GRAFT_OK) {
        self->words = (const int32_t *)graft_weight_block(words, 0)->data;
        self->zeros = (const int32_t *)graft_weight_block(zeros, 0)->data;
        self->scales = graft_weight_block(scales, 0);
    }
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
