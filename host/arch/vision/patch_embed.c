/* SPDX-License-Identifier: Apache-2.0 */
/* Turns patches into vectors by a convolution whose kernel is a patch. Some towers also have learned positions, and a
 * class vector that stands for the whole image. */
#include <string.h>

#include "arch/role.h"
#include "arch/table.h"
#include "arch/vision/choices.h"
#include "graft/describe.h"
#include "graft/kernels.h"

/* Sizes from the parent, and what the tower has besides the convolution. */
struct sizes {
    int64_t patch_size;
    int64_t temporal_patch_size;
    int64_t in_channels;
    int64_t embed_dim;
    int64_t positions; /* 0: none */
};

struct patch_embed {
    struct graft_instance base;
    const struct graft_module *proj;         /* Conv3d or Conv2d */
    const struct graft_module *positions;    /* NULL: none */
    const struct graft_weight *class_vector; /* [embed_dim] the class vector; NULL: none */
    struct sizes sizes;
};

static int describe_conv(struct graft_vision_reader *reader, const struct sizes *sizes, const struct graft_sink *sink,
                         struct graft_error *error) {
    const int64_t frames = sizes->temporal_patch_size, side = sizes->patch_size;
    const int32_t is_flat = graft_read_bool(&reader->of, V_PATCH_FLAT);
    const struct graft_arg args[] = {
        graft_int_arg("in_channels", sizes->in_channels),
        graft_int_arg("out_channels", sizes->embed_dim),
        graft_int_arg("bias", graft_read_bool(&reader->of, V_PATCH_BIAS)),
        graft_int_arg("kernel_t", frames),
        graft_int_arg("kernel_h", side),
        graft_int_arg("kernel_w", side),
        graft_int_arg("stride_t", frames),
        graft_int_arg("stride_h", side),
        graft_int_arg("stride_w", side),
    };
    return reader->of.status == GRAFT_OK
               ? graft_describe_child(sink, graft_description_name(reader->of.description, V_PATCH_CONV),
                                      is_flat ? "Conv2d" : "Conv3d", GRAFT_INTERFACE_CONV3D, args,
                                      (int32_t)(sizeof args / sizeof args[0]), error)
               : reader->of.status;
}

/* Declares the class vector and the learned positions, the first of which is that of the class vector. */
static int describe_learned(struct graft_vision_reader *reader, struct sizes *sizes, const struct graft_sink *sink,
                            struct graft_error *error) {
    const struct graft_description *description = reader->of.description;
    const char *vector = graft_description_name(description, V_PATCH_CLASS);
    const char *positions = graft_description_name(description, V_PATCH_POSITIONS);
    int status = vector != NULL ? graft_describe_vector(sink, vector, sizes->embed_dim, error) : GRAFT_OK;
    if (status == GRAFT_OK && positions != NULL) {
        sizes->positions = graft_read_int(&reader->of, V_POSITION_ROWS) + (vector != NULL);
        status = reader->of.status == GRAFT_OK
                     ? graft_describe_embedding(sink, positions, "Embedding", sizes->positions, sizes->embed_dim, error)
                     : reader->of.status;
    }
    return status;
}

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
    int status = reader.of.status;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && status == GRAFT_OK; i++) {
        *fields[i].value = graft_args_int(args, fields[i].name, 0);
        status = sink->attribute(sink->data, fields[i].name, fields[i].value, 1, error);
    }
    sizes->positions = 0;
    if (status == GRAFT_OK) {
        status = describe_learned(&reader, sizes, sink, error);
    }
    return status == GRAFT_OK ? describe_conv(&reader, sizes, sink, error) : status;
}

int graft_patch_embed_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                             struct graft_error *error) {
    const char *vector = graft_description_name(cls->data, V_PATCH_CLASS);
    const char *positions = graft_description_name(cls->data, V_PATCH_POSITIONS);
    struct patch_embed *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *(const struct sizes *)build->kept;
    self->proj = graft_build_child(build, graft_description_name(cls->data, V_PATCH_CONV), error);
    self->positions = positions != NULL ? graft_build_child(build, positions, error) : NULL;
    self->class_vector = vector != NULL ? graft_build_weight(build, vector, error) : NULL;
    return graft_instance_finish(self, instance, error);
}

/* output [embed_dim] = the class vector, which is stored as rows of a weight. */
static int read_class(const struct patch_embed *self, const struct graft_call *call, float *output,
                      struct graft_error *error) {
    const int64_t width = self->sizes.embed_dim;
    int32_t *ids = graft_scratch_ints(call, width, error);
    for (int32_t i = 0; ids != NULL && i < width; i++) {
        ids[i] = i;
    }
    return ids != NULL ? call->kernels->embedding(call, self->class_vector, ids, width, output, error)
                       : GRAFT_ERROR_INTERNAL;
}

/* Adds the learned positions; the first one belongs to the class vector, if there is one. */
static int add_positions(const struct patch_embed *self, const struct graft_call *call,
                         const struct graft_patch_embed_args *args, struct graft_error *error) {
    const int64_t width = self->sizes.embed_dim;
    const int64_t first = self->class_vector != NULL;
    const float *table = graft_table_read(self->positions, call, self->sizes.positions, width, error);
    int status = table != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK && first > 0) {
        status = call->kernels->add(call, args->class_output, table, width, error);
    }
    for (int64_t i = 0; i < args->patches && status == GRAFT_OK; i++) {
        status =
            call->kernels->add(call, args->output + i * width, table + (first + args->places[i]) * width, width, error);
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_patch_embed_args *args,
                   struct graft_error *error) {
    const struct patch_embed *self = instance;
    const uint32_t wanted = (self->positions != NULL ? GRAFT_PATCH_EMBED_PLACES : 0u) |
                            (self->class_vector != NULL ? GRAFT_PATCH_EMBED_CLASS : 0u);
    const struct graft_conv3d_args proj_args = {
        .struct_size = sizeof proj_args,
        .count = args->patches,
        .size = {self->sizes.temporal_patch_size, self->sizes.patch_size, self->sizes.patch_size},
        .output_size = {1, 1, 1},
        .x = args->pixel_values,
        .y = args->output,
    };
    if ((args->required_features & wanted) != wanted) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, self->base.path,
                               "the caller does not say where patches are, or takes no vector of the whole image");
    }
    int status = graft_conv3d_forward(self->proj, call, &proj_args, error);
    if (status == GRAFT_OK && self->class_vector != NULL) {
        status = read_class(self, call, args->class_output, error);
    }
    return status == GRAFT_OK && self->positions != NULL ? add_positions(self, call, args, error) : status;
}

const struct graft_patch_embed graft_patch_embed_vtable = {
    .struct_size = sizeof graft_patch_embed_vtable,
    .features = GRAFT_PATCH_EMBED_PLACES | GRAFT_PATCH_EMBED_CLASS,
    .forward = forward,
};
