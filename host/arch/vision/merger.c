/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbouring patches into one vector for the language model: normed each, then a small MLP over them joined. */
#include <string.h>

#include "arch/role.h"
#include "arch/vision/choices.h"
#include "graft/describe.h"

struct sizes {
    int64_t context_dim;
    int64_t merged; /* patches in a vector */
    int64_t normed; /* numbers that the norm is of: context_dim, or those of a vector */
};

struct merger {
    struct graft_instance base;
    const struct graft_module *norm;
    const struct graft_module *first; /* context_dim * merged -> the same */
    const struct graft_module *act;
    const struct graft_module *second; /* -> hidden_size */
    struct sizes sizes;
};

/* A step that the joined patches go through: a child, or one of a Sequential, "mlp.0". */
static void describe_step(const struct graft_sink *sink, const char *name, const char *class_name,
                          const char *interface_id, const struct graft_arg *args, int32_t count,
                          struct graft_error *error) {
    const struct graft_args list = graft_args_of(args, count);
    const struct graft_child_info info = {
        .struct_size = sizeof info,
        .flags = strchr(name, '.') != NULL ? GRAFT_CHILD_SEQUENTIAL : 0,
        .name = name,
        .class_name = class_name,
        .interface_id = interface_id,
        .args = &list,
    };
    sink->child(sink->data, &info, error);
}

int graft_patch_merger_describe(const struct graft_class *self, const struct graft_config *config,
                                const struct graft_args *args, const struct graft_sink *sink,
                                struct graft_error *error) {
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error);
    int64_t side = graft_args_int(args, "spatial_merge_size", 0);
    const struct graft_description *description = self->data;
    struct graft_vision_reader reader;
    if (sizes == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_vision_reader_start(&reader, description, config, error);
    const int64_t width = graft_args_int(args, "context_dim", 0);
    const int64_t joined = width * side * side;
    *sizes = (struct sizes){width, side * side, graft_args_int(args, "joined_norm", 0) != 0 ? joined : width};
    const struct graft_arg first[] = {graft_int_arg("in_features", joined), graft_int_arg("out_features", joined),
                                      graft_int_arg("bias", 1)};
    const struct graft_arg second[] = {graft_int_arg("in_features", joined),
                                       graft_int_arg("out_features", graft_args_int(args, "hidden_size", 0)),
                                       graft_int_arg("bias", 1)};
    const double eps = graft_read_real(&reader.of, V_NORM_EPS);
    if (reader.of.status == GRAFT_OK) {
        graft_describe_norm(sink, graft_description_name(description, V_MERGER_NORM),
                            graft_description_name(description, V_CLASS_NORM), sizes->normed, eps, error);
        describe_step(sink, graft_description_name(description, V_MERGER_FIRST), "Linear", GRAFT_INTERFACE_LINEAR,
                      first, 3, error);
        describe_step(sink, graft_description_name(description, V_MERGER_ACT), "GELU", GRAFT_INTERFACE_ACTIVATION, NULL,
                      0, error);
        describe_step(sink, graft_description_name(description, V_MERGER_SECOND), "Linear", GRAFT_INTERFACE_LINEAR,
                      second, 3, error);
    }
    return error->code;
}

int graft_patch_merger_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                              struct graft_error *error) {
    const struct sizes *sizes = build->kept;
    const struct graft_description *description = cls->data;
    struct merger *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *sizes;
    self->norm = graft_build_child(build, graft_description_name(description, V_MERGER_NORM), error);
    self->first = graft_build_child(build, graft_description_name(description, V_MERGER_FIRST), error);
    self->act = graft_build_child(build, graft_description_name(description, V_MERGER_ACT), error);
    self->second = graft_build_child(build, graft_description_name(description, V_MERGER_SECOND), error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_patch_merger_args *args,
                   struct graft_error *error) {
    const struct merger *self = instance;
    int64_t vectors = args->patches / self->sizes.merged;
    int64_t count = args->patches * self->sizes.context_dim;
    float *normed = graft_scratch_floats(call, args->patches, self->sizes.context_dim, error);
    float *inner = graft_scratch_floats(call, args->patches, self->sizes.context_dim, error);
    const struct graft_norm_args norm_args = {sizeof norm_args,    0,    count / self->sizes.normed,
                                              args->hidden_states, NULL, normed};
    const struct graft_linear_args first = {sizeof first, 0, vectors, normed, inner};
    const struct graft_activation_args act_args = {sizeof act_args, 0, count, inner, inner};
    const struct graft_linear_args second = {sizeof second, 0, vectors, inner, args->output};
    if (normed == NULL || inner == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_norm_forward(self->norm, call, &norm_args, error);
    if (status == GRAFT_OK) {
        status = graft_linear_forward(self->first, call, &first, error);
    }
    if (status == GRAFT_OK) {
        status = graft_activation_forward(self->act, call, &act_args, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->second, call, &second, error) : status;
}

const struct graft_patch_merger graft_patch_merger_vtable = {
    .struct_size = sizeof graft_patch_merger_vtable,
    .forward = forward,
};
