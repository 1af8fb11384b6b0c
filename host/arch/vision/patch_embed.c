/* SPDX-License-Identifier: Apache-2.0 */
/* Turns patches into vectors by a convolution whose kernel is a patch. Some towers also have learned positions, and a
 * class vector that stands for the whole image. */
#include <string.h>

#include "arch/pass.h"
#include "arch/role.h"
#include "arch/vision/choices.h"

struct patch_embed {
    struct graft_instance base;
    int64_t patch_size;
    int64_t temporal_patch_size;
    int64_t in_channels;
    int64_t embed_dim;
    int64_t n_positions;                     /* 0: none */
    const struct graft_module *proj;         /* Conv3d or Conv2d */
    const struct graft_module *positions;    /* NULL: none */
    const struct graft_weight *class_vector; /* [embed_dim] the class vector; NULL: none */
};

static void outline_conv(struct graft_outline *of, struct patch_embed *self) {
    const int64_t frames = self->temporal_patch_size, side = self->patch_size;
    const int32_t is_flat = graft_read_bool(&of->reader, V_PATCH_FLAT);
    const struct graft_arg args[] = {
        graft_int_arg("in_channels", self->in_channels),
        graft_int_arg("out_channels", self->embed_dim),
        graft_int_arg("bias", graft_read_bool(&of->reader, V_PATCH_BIAS)),
        graft_int_arg("kernel_t", frames),
        graft_int_arg("kernel_h", side),
        graft_int_arg("kernel_w", side),
        graft_int_arg("stride_t", frames),
        graft_int_arg("stride_h", side),
        graft_int_arg("stride_w", side),
    };
    graft_outline_child(of, &self->proj, graft_outline_name(of, V_PATCH_CONV), is_flat ? "Conv2d" : "Conv3d",
                        GRAFT_INTERFACE_CONV3D, args, (int32_t)(sizeof args / sizeof args[0]));
}

static void outline(struct graft_outline *of, struct patch_embed *self) {
    const struct {
        const char *name;
        int64_t *value;
    } fields[] = {
        {"patch_size", &self->patch_size},
        {"temporal_patch_size", &self->temporal_patch_size},
        {"in_channels", &self->in_channels},
        {"embed_dim", &self->embed_dim},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        *fields[i].value = graft_args_int(of->args, fields[i].name, 0);
        graft_outline_number(of, fields[i].name, *fields[i].value);
    }
    /* The first of the learned positions is that of the class vector. */
    const char *vector = graft_outline_name(of, V_PATCH_CLASS), *positions = graft_outline_name(of, V_PATCH_POSITIONS);
    graft_outline_vector(of, &self->class_vector, vector, self->embed_dim);
    if (positions != NULL) {
        self->n_positions = graft_read_int(&of->reader, V_POSITION_ROWS) + (vector != NULL);
        graft_outline_embedding(of, &self->positions, positions, self->n_positions, self->embed_dim);
    }
    outline_conv(of, self);
}

GRAFT_VISION_OUTLINED(graft_patch_embed, struct patch_embed)

/* output [embed_dim] = the class vector. */
static void read_class(const struct patch_embed *self, const struct graft_pass *pass, float *output) {
    const float *vector = graft_pass_widen(pass, self->class_vector);
    if (vector != NULL) {
        memcpy(output, vector, (size_t)self->embed_dim * sizeof *output);
    }
}

/* Adds the learned positions; the first one belongs to the class vector, if there is one. */
static void add_positions(const struct patch_embed *self, const struct graft_pass *one,
                          const struct graft_patch_embed_args *args) {
    const int64_t width = self->embed_dim, first = self->class_vector != NULL;
    const struct graft_pass rows = {one->call, self->n_positions, one->error};
    const float *table = graft_pass_table(&rows, self->positions, width);
    if (first > 0) {
        graft_pass_add(one, args->class_output, table, width);
    }
    for (int64_t i = 0; i < args->patches && graft_pass_ok(one); i++) {
        graft_pass_add(one, args->output + i * width, table + (first + args->places[i]) * width, width);
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_patch_embed_args *args,
                   struct graft_error *error) {
    const struct patch_embed *self = instance;
    const struct graft_pass one = {call, 1, error};
    const uint32_t wanted = (self->positions != NULL ? GRAFT_PATCH_EMBED_PLACES : 0u) |
                            (self->class_vector != NULL ? GRAFT_PATCH_EMBED_CLASS : 0u);
    const struct graft_conv3d_args proj_args = {
        .struct_size = sizeof proj_args,
        .count = args->patches,
        .size = {self->temporal_patch_size, self->patch_size, self->patch_size},
        .output_size = {1, 1, 1},
        .x = args->pixel_values,
        .y = args->output,
    };
    if ((args->required_features & wanted) != wanted) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, self->base.path,
                               "the caller does not say where patches are, or takes no vector of the whole image");
    }
    (void)graft_conv3d_forward(self->proj, call, &proj_args, error);
    if (self->class_vector != NULL) {
        read_class(self, &one, args->class_output);
    }
    if (self->positions != NULL) {
        add_positions(self, &one, args);
    }
    return error->code;
}

const struct graft_patch_embed graft_patch_embed_vtable = {
    .struct_size = sizeof graft_patch_embed_vtable,
    .features = GRAFT_PATCH_EMBED_PLACES | GRAFT_PATCH_EMBED_CLASS,
    .forward = forward,
};
