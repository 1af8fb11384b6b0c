/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for `describe` and `create`. All are [load]. Errors are latched in `error`: call the helpers without checks,
 * look at error->code before computing with their results, and return it at the end. */
#ifndef GRAFT_DESCRIBE_H
#define GRAFT_DESCRIBE_H

#include <string.h>

#include "activation.h"
#include "class.h"
#include "embedding.h"
#include "linear.h"
#include "norm.h"
#include "state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A size that the parent passes, from 1 to `maximum`. The error names the module: `path` is sink->path or
 * build->path. */
GRAFT_INLINE int graft_args_size(const struct graft_args *args, const char *name, int64_t maximum, const char *path,
                                 int64_t *value, struct graft_error *error) {
    *value = graft_args_int(args, name, 0);
    return *value >= 1 && *value <= maximum
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                                 "argument %s: expected 1 to %lld from the parent, got %lld", name, (long long)maximum,
                                 (long long)*value);
}

/* The arguments that the parent of experts (experts.h) passes. */
struct graft_expert_sizes {
    int64_t num_experts;       /* up to 4096 */
    int64_t hidden_size;       /* up to 2^20: inputs and outputs of each expert */
    int64_t intermediate_size; /* up to 2^20: width of each expert */
};

GRAFT_ASSERT_SIZE(struct graft_expert_sizes, 24);

/* [load] Reads these arguments, each at least 1; errors are as in graft_args_size. */
GRAFT_INLINE int graft_args_expert_sizes(const struct graft_args *args, const char *path,
                                         struct graft_expert_sizes *sizes, struct graft_error *error) {
    graft_args_size(args, "num_experts", 4096, path, &sizes->num_experts, error);
    graft_args_size(args, "hidden_size", 1 << 20, path, &sizes->hidden_size, error);
    graft_args_size(args, "intermediate_size", 1 << 20, path, &sizes->intermediate_size, error);
    return error->code;
}

/* Declares a parameter of `rank` dimensions; `shape` is [rank]. */
GRAFT_INLINE int graft_describe_parameter(const struct graft_sink *sink, const char *name, int32_t rank,
                                          const int64_t *shape, uint32_t flags, int32_t init,
                                          struct graft_error *error) {
    struct graft_parameter_info info;
    memset(&info, 0, sizeof info);
    info.struct_size = (uint32_t)sizeof info;
    info.flags = flags;
    info.name = name;
    info.rank = rank;
    info.init = init;
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        info.shape[i] = i < rank ? shape[i] : 1;
    }
    return sink->parameter(sink->data, &info, error);
}

/* Declares a parameter that has one dtype, such as GRAFT_DTYPE_I8, and needs a single block: the output of a custom
 * operation, or a tensor of a file in the runtime layout. */
GRAFT_INLINE int graft_describe_typed(const struct graft_sink *sink, const char *name, int32_t rank,
                                      const int64_t *shape, graft_dtype dtype, struct graft_error *error) {
    struct graft_parameter_info info;
    memset(&info, 0, sizeof info);
    info.struct_size = (uint32_t)sizeof info;
    info.flags = GRAFT_PARAMETER_CONTIGUOUS;
    info.name = name;
    info.rank = rank;
    info.dtype = dtype;
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        info.shape[i] = i < rank ? shape[i] : 1;
    }
    return sink->parameter(sink->data, &info, error);
}

/* A struct graft_join (class.h) of GRAFT_JOIN_ROWS: outputs, or inputs, are along dimension `dim`, `rows` of them for
 * each step. */
GRAFT_INLINE struct graft_join graft_join_rows(int32_t dim, int64_t rows) {
    struct graft_join join;
    join.kind = GRAFT_JOIN_ROWS;
    join.dim = dim;
    join.rows = (int32_t)rows;
    join.reserved = 0;
    return join;
}

/* A struct graft_join of GRAFT_JOIN_EACH or GRAFT_JOIN_EQUAL. */
GRAFT_INLINE struct graft_join graft_join_whole(int32_t kind) {
    struct graft_join join;
    memset(&join, 0, sizeof join);
    join.kind = kind;
    return join;
}

/* Declares a parameter that may be joined with those of other modules; `dtype` 0: any that kernels read. */
GRAFT_INLINE int graft_describe_joined(const struct graft_sink *sink, const char *name, int32_t rank,
                                       const int64_t *shape, graft_dtype dtype, uint32_t flags, struct graft_join join,
                                       struct graft_error *error) {
    struct graft_parameter_info info;
    memset(&info, 0, sizeof info);
    info.struct_size = (uint32_t)sizeof info;
    info.flags = flags;
    info.name = name;
    info.rank = rank;
    info.dtype = dtype;
    info.join = join;
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        info.shape[i] = i < rank ? shape[i] : 1;
    }
    return sink->parameter(sink->data, &info, error);
}

/* Declares a vector of `length` that needs a single block, such as a norm's weight. */
GRAFT_INLINE int graft_describe_vector(const struct graft_sink *sink, const char *name, int64_t length,
                                       struct graft_error *error) {
    return graft_describe_parameter(sink, name, 1, &length, GRAFT_PARAMETER_CONTIGUOUS, GRAFT_INIT_NONE, error);
}

/* Declares a property of one number, such as those that the root of a family has to declare (family.h). */
GRAFT_INLINE int graft_describe_number(const struct graft_sink *sink, const char *name, int64_t value,
                                       struct graft_error *error) {
    return sink->attribute(sink->data, name, &value, 1, error);
}

/* Declares a child with `count` arguments (NULL for none). */
GRAFT_INLINE int graft_describe_child(const struct graft_sink *sink, const char *name, const char *class_name,
                                      const char *interface_id, const struct graft_arg *args, int32_t count,
                                      struct graft_error *error) {
    struct graft_args list = graft_args_of(args, count);
    struct graft_child_info info;
    memset(&info, 0, sizeof info);
    info.struct_size = (uint32_t)sizeof info;
    info.name = name;
    info.class_name = class_name;
    info.interface_id = interface_id;
    info.args = &list;
    return sink->child(sink->data, &info, error);
}

/* Declares a child that gets all the arguments of this module, as a decoder layer's children do. */
GRAFT_INLINE int graft_describe_given(const struct graft_sink *sink, const char *name, const char *class_name,
                                      const char *interface_id, const struct graft_args *args,
                                      struct graft_error *error) {
    struct graft_child_info info;
    memset(&info, 0, sizeof info);
    info.struct_size = (uint32_t)sizeof info;
    info.name = name;
    info.class_name = class_name;
    info.interface_id = interface_id;
    info.args = args;
    return sink->child(sink->data, &info, error);
}

/* A `describe` for classes that differ from their base only in conversions or functions. */
GRAFT_INLINE int graft_describe_base(const struct graft_class *self, const struct graft_config *config,
                                     const struct graft_args *args, const struct graft_sink *sink,
                                     struct graft_error *error) {
    (void)self;
    (void)config;
    (void)args;
    return sink->base(sink->data, NULL, error);
}

/* Declares a child Linear: weight [out_features, in_features] and, if `bias`, bias [out_features]. */
GRAFT_INLINE int graft_describe_linear(const struct graft_sink *sink, const char *name, int64_t in_features,
                                       int64_t out_features, int32_t bias, struct graft_error *error) {
    struct graft_arg args[3];
    args[0] = graft_int_arg("in_features", in_features);
    args[1] = graft_int_arg("out_features", out_features);
    args[2] = graft_int_arg("bias", bias);
    return graft_describe_child(sink, name, "Linear", GRAFT_INTERFACE_LINEAR, args, 3, error);
}

/* Declares a child embedding [rows, width] of graft.embedding/1. */
GRAFT_INLINE int graft_describe_embedding(const struct graft_sink *sink, const char *name, const char *class_name,
                                          int64_t rows, int64_t width, struct graft_error *error) {
    struct graft_arg args[2];
    args[0] = graft_int_arg("num_embeddings", rows);
    args[1] = graft_int_arg("embedding_dim", width);
    return graft_describe_child(sink, name, class_name, GRAFT_INTERFACE_EMBEDDING, args, 2, error);
}

/* Declares a child norm over `hidden_size` numbers. */
GRAFT_INLINE int graft_describe_norm(const struct graft_sink *sink, const char *name, const char *class_name,
                                     int64_t hidden_size, double eps, struct graft_error *error) {
    struct graft_arg args[2];
    args[0] = graft_int_arg("hidden_size", hidden_size);
    args[1] = graft_real_arg("eps", eps);
    return graft_describe_child(sink, name, class_name, GRAFT_INTERFACE_NORM, args, 2, error);
}

/* Declares a child LayerNorm over `hidden_size` numbers. */
GRAFT_INLINE int graft_describe_layer_norm(const struct graft_sink *sink, const char *name, int64_t hidden_size,
                                           double eps, struct graft_error *error) {
    return graft_describe_norm(sink, name, "LayerNorm", hidden_size, eps, error);
}

/* Declares a child activation: the class that transformers' ACT2FN has for the value of `field` ("hidden_act"), which
 * is the module's argument of that name or else (`args` may be NULL) the config's field; "silu" if there is neither.
 * Null names no activation and is an error. */
GRAFT_INLINE int graft_describe_activation(const struct graft_sink *sink, const char *name,
                                           const struct graft_config *config, const struct graft_args *args,
                                           const char *field, struct graft_error *error) {
    const char *act = graft_args_string(args, field, NULL);
    if (act == NULL) {
        act = "silu";
        graft_config_not_null(config, field, "a string", error);
        graft_config_string(config, field, &act, error);
    }
    const char *class_name = sink->activation_class(sink->data, act);
    if (class_name == NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: unknown activation \"%s\"",
                               graft_config_spelling(config, field), act);
    }
    return graft_describe_child(sink, name, class_name, GRAFT_INTERFACE_ACTIVATION, NULL, 0, error);
}

/* Declares a state of each sequence with `rank` dimensions; `shape` is [rank]. */
GRAFT_INLINE int graft_describe_state(const struct graft_sink *sink, const char *name, int32_t rank,
                                      const int64_t *shape, graft_dtype dtype, struct graft_error *error) {
    struct graft_state_info info;
    memset(&info, 0, sizeof info);
    info.struct_size = (uint32_t)sizeof info;
    info.name = name;
    info.dtype = dtype;
    info.rank = rank;
    for (int32_t i = 0; i < rank && i < GRAFT_MAX_RANK; i++) {
        info.shape[i] = shape[i];
    }
    return sink->state(sink->data, &info, error);
}

/* For `create`: the child `name`. If there is none, NULL with an error recorded: ask for all children, then check once,
 * with error->code or graft_instance_finish. */
GRAFT_INLINE const struct graft_module *graft_build_child(const struct graft_build *build, const char *name,
                                                          struct graft_error *error) {
    const struct graft_module *child = build->child(build->data, name);
    if (child == NULL) {
        (void)graft_error_set(error, GRAFT_ERROR_INTERNAL, build->path, "there is no child \"%s\"", name);
    }
    return child;
}

/* For `create`: the parameter `name`. If there is none, NULL with an error recorded, like graft_build_child. */
GRAFT_INLINE const struct graft_weight *graft_build_weight(const struct graft_build *build, const char *name,
                                                           struct graft_error *error) {
    const struct graft_weight *weight = build->weight(build->data, name);
    if (weight == NULL) {
        (void)graft_error_set(error, GRAFT_ERROR_INTERNAL, build->path, "parameter \"%s\" is not bound", name);
    }
    return weight;
}

/* For `create`: the state `name`. If there is none, NULL with an error recorded, like graft_build_child. */
GRAFT_INLINE const struct graft_state *graft_build_state(const struct graft_build *build, const char *name,
                                                         struct graft_error *error) {
    const struct graft_state *state = build->state(build->data, name);
    if (state == NULL) {
        (void)graft_error_set(error, GRAFT_ERROR_INTERNAL, build->path, "there is no state \"%s\"", name);
    }
    return state;
}

/* A `create` for classes without instances: the `self` of their forward is the class's `data`. */
GRAFT_INLINE int graft_create_stateless(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                        struct graft_error *error) {
    (void)build;
    (void)error;
    *instance = (void *)(uintptr_t)cls->data;
    return GRAFT_OK;
}

#ifdef __cplusplus
}
#endif

#endif
