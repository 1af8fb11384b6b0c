/* SPDX-License-Identifier: Apache-2.0 */
/* A language model with a vision tower: what the tower makes of an image or a video takes the place of its tokens. */
#include "arch/role.h"
#include "arch/vision/placement.h"
#include "arch/vision/vision_config.h"
#include "graft/describe.h"

struct sizes {
    int64_t hidden_size;
    int64_t merge;
    struct graft_placeholders placeholders;
};

struct multimodal {
    struct graft_instance base;
    const struct graft_module *visual;
    const struct graft_module *language_model;
    struct sizes sizes;
};

static int read_config(const struct graft_config *config, const struct graft_vision_traits *traits, struct sizes *sizes,
                       struct graft_error *error) {
    int64_t text_size = traits->text_size;
    struct graft_vision_config vision;
    struct graft_placeholders *placeholders = &sizes->placeholders;
    const char *field = graft_config_has(config, "text_config") ? "text_config.hidden_size" : "hidden_size";
    int status = graft_config_int(config, field, 1, INT32_MAX, &text_size, error);
    if (status == GRAFT_OK) {
        status = graft_vision_config_read(config, &vision, error);
    }
    if (status == GRAFT_OK && vision.hidden_size != text_size) {
        status =
            graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                            "vision_config.hidden_size: expected the language model's hidden_size (%lld), got %lld",
                            (long long)text_size, (long long)vision.hidden_size);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    *sizes = (struct sizes){
        .hidden_size = vision.hidden_size,
        .merge = vision.spatial_merge_size,
        .placeholders = {traits->image_token_id, traits->video_token_id},
    };
    status = graft_config_int(config, "image_token_id", 0, INT32_MAX, &placeholders->image_token_id, error);
    if (status == GRAFT_OK) {
        status = graft_config_int(config, "video_token_id", 0, INT32_MAX, &placeholders->video_token_id, error);
    }
    if (status == GRAFT_OK && placeholders->image_token_id == placeholders->video_token_id) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "video_token_id: expected an id other than image_token_id, got %lld",
                                 (long long)placeholders->video_token_id);
    }
    return status;
}

int graft_multimodal_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_vision_traits *traits = self->data;
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error);
    (void)args;
    int status = sizes != NULL ? read_config(config, traits, sizes, error) : GRAFT_ERROR_INTERNAL;
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_arg tower_args[] = {graft_int_arg("hidden_size", sizes->hidden_size),
                                           graft_int_arg("spatial_merge_size", sizes->merge)};
    status = sink->attribute(sink->data, "image_token_id", &sizes->placeholders.image_token_id, 1, error);
    if (status == GRAFT_OK) {
        status = sink->attribute(sink->data, "video_token_id", &sizes->placeholders.video_token_id, 1, error);
    }
    if (status == GRAFT_OK) {
        status =
            graft_describe_child(sink, "visual", traits->tower, GRAFT_INTERFACE_VISION_TOWER, tower_args, 2, error);
    }
    return status == GRAFT_OK ? graft_describe_child(sink, "language_model", traits->text_model,
                                                     GRAFT_INTERFACE_BASE_MODEL, NULL, 0, error)
                              : status;
}

int graft_multimodal_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                            struct graft_error *error) {
    const struct sizes *sizes = build->kept;
    (void)cls;
    struct multimodal *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *sizes;
    self->visual = graft_build_child(build, "visual", error);
    self->language_model = graft_build_child(build, "language_model", error);
    return graft_instance_finish(self, instance, error);
}

/* embeddings [as many as were counted, hidden_size] of all images and videos, one after another. Adapters are those of
 * the sequence that an image is in, for all of its rows. */
static int see(const struct multimodal *self, const struct graft_call *call, const struct graft_base_model_args *args,
               float *embeddings, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < args->n_images && status == GRAFT_OK; i++) {
        const struct graft_image *image = graft_placement_image(args, i);
        const struct graft_vision_tower_args tower_args = {sizeof tower_args, 0, image, embeddings};
        const int32_t *adapters = args->batch->adapters;
        const struct graft_row_adapters own = {.struct_size = sizeof own,
                                               .adapter = adapters != NULL ? adapters[image->sequence] : 0};
        struct graft_call tower_call = *call;
        tower_call.row_adapters = adapters != NULL ? &own : NULL;
        status = graft_vision_tower_forward(self->visual, &tower_call, &tower_args, error);
        embeddings += image->grid[0] * (image->grid[1] / self->sizes.merge) * (image->grid[2] / self->sizes.merge) *
                      self->sizes.hidden_size;
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_base_model_args *args,
                   struct graft_error *error) {
    const struct multimodal *self = instance;
    int64_t count;
    int status = graft_placement_count(args, self->sizes.merge, &count, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (count > args->batch->tokens) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt",
                               "the images and videos need %lld tokens, but the prompt has %lld", (long long)count,
                               (long long)args->batch->tokens);
    }
    int64_t *positions = (int64_t *)(void *)graft_scratch_floats(call, 3 * args->batch->tokens, 2, error);
    int32_t *rows = graft_scratch_ints(call, count, error);
    float *embeddings = graft_scratch_floats(call, count, self->sizes.hidden_size, error);
    if (positions == NULL || rows == NULL || embeddings == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_placement placement = {positions, rows};
    struct graft_batch batch = *args->batch;
    batch.rotary_positions = positions;
    const struct graft_base_model_args text_args = {
        .struct_size = sizeof text_args,
        .batch = &batch,
        .input_ids = args->input_ids,
        .last_hidden_state = args->last_hidden_state,
        .n_embeddings = count,
        .embedding_rows = rows,
        .embeddings = embeddings,
    };
    status = graft_placement_fill(args, &self->sizes.placeholders, self->sizes.merge, &placement, error);
    if (status == GRAFT_OK) {
        status = see(self, call, args, embeddings, error);
    }
    return status == GRAFT_OK ? graft_base_model_forward(self->language_model, call, &text_args, error) : status;
}

const struct graft_base_model graft_multimodal_vtable = {
    .struct_size = sizeof graft_multimodal_vtable,
    .forward = forward,
};
