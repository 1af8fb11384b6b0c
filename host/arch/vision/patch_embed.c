/* SPDX-License-Identifier: Apache-2.0 */
/* Patches into vectors: a convolution whose kernel is a patch. */
#include "arch/role.h"
#include "arch/vision/choices.h"
#include "graft/describe.h"

struct patch_embed {
    struct graft_instance base;
    const struct graft_module *proj; /* Conv3d */
    int64_t temporal_patch_size;
    int64_t patch_size;
};

/* What the parent gives. */
struct sizes {
    int64_t patch_size;
    int64_t temporal_patch_size;
    int64_t in_channels;
    int64_t embed_dim;
};

int graft_patch_embed_describe(const struct graft_class *self, const struct graft_config *config,
                               const struct graft_args *args, const struct graft_sink *sink,
                               struct graft_error *error) {
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error);
    if (sizes == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct {
        const char *name;
        int64_t *value;
    } fields[] = {
        {"patch_size", &sizes->patch_size},
        {"temporal_patch_size", &sizes->temporal_patch_size},
        {"in_channels", &sizes->in_channels},
        {"embed_dim", &sizes->embed_dim},
    };
    struct graft_vision_reader reader;
    graft_vision_reader_start(&reader, self->data, config, error);
    const int32_t bias = graft_read_bool(&reader.of, V_PATCH_BIAS);
    int status = reader.of.status;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && status == GRAFT_OK; i++) {
        *fields[i].value = graft_args_int(args, fields[i].name, 0);
        status = sink->attribute(sink->data, fields[i].name, fields[i].value, 1, error);
    }
    int64_t frames = sizes->temporal_patch_size;
    int64_t side = sizes->patch_size;
    const struct graft_arg proj[] = {
        graft_int_arg("in_channels", sizes->in_channels),
        graft_int_arg("out_channels", sizes->embed_dim),
        graft_int_arg("bias", bias),
        graft_int_arg("kernel_t", frames),
        graft_int_arg("kernel_h", side),
        graft_int_arg("kernel_w", side),
        graft_int_arg("stride_t", frames),
        graft_int_arg("stride_h", side),
        graft_int_arg("stride_w", side),
    };
    return status == GRAFT_OK ? graft_describe_child(sink, "proj", "Conv3d", GRAFT_INTERFACE_CONV3D, proj,
                                                     (int32_t)(sizeof proj / sizeof proj[0]), error)
                              : status;
}

int graft_patch_embed_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                             struct graft_error *error) {
    const struct sizes *sizes = build->kept;
    struct patch_embed *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->temporal_patch_size = sizes->temporal_patch_size;
    self->patch_size = sizes->patch_size;
    self->proj = graft_build_child(build, "proj", error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_patch_embed_args *args,
                   struct graft_error *error) {
    const struct patch_embed *self = instance;
    const struct graft_conv3d_args proj_args = {
        .struct_size = sizeof proj_args,
        .count = args->patches,
        .size = {self->temporal_patch_size, self->patch_size, self->patch_size},
        .output_size = {1, 1, 1},
        .x = args->pixel_values,
        .y = args->output,
    };
    return graft_conv3d_forward(self->proj, call, &proj_args, error);
}

const struct graft_patch_embed graft_patch_embed_vtable = {
    .struct_size = sizeof graft_patch_embed_vtable,
    .forward = forward,
};
