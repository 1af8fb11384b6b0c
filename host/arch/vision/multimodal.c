/* SPDX-License-Identifier: Apache-2.0 */
/* A language model with a vision tower, whose outputs for an image or video replace the embeddings of its tokens. */
#include "arch/role.h"
#include "arch/vision/choices.h"
#include "arch/vision/placement.h"
#include "graft/describe.h"

struct sizes {
    int64_t hidden_size; /* width of the language model */
    int64_t merge;
    int64_t tower_size;     /* width of the tower's outputs; with a projector, that of a patch */
    int64_t sees;           /* V_SEES_... */
    int64_t deepstack;      /* number of layers of the language model that get outputs of the tower */
    int64_t video_token_id; /* id of video tokens in prompts; -1: none */
    int64_t video_by_frame; /* V_VIDEO_... */
    struct graft_placeholders placeholders;
};

struct multimodal {
    struct graft_instance base;
    const struct graft_module *visual;
    const struct graft_module *projector; /* NULL: none */
    const struct graft_module *language_model;
    struct sizes sizes;
};

static int read_config(const struct graft_config *config, const struct graft_description *description,
                       struct sizes *sizes, struct graft_error *error) {
    struct graft_vision_reader vision;
    struct graft_vision_sizes tower;
    struct graft_reader reader;
    graft_vision_reader_start(&vision, description, config, error);
    graft_vision_sizes_read(&vision, &tower);
    tower.merge = graft_read_int(&vision.of, V_MERGER_SIDE);
    graft_reader_start(&reader, description, config, -1, error);
    reader.config = config; /* the description's defaults are for vision_config, not for this level */
    reader.status = vision.of.status;
    const int64_t text_size = graft_read_int(&reader, V_MODEL_TEXT_SIZE);
    const int32_t is_timed = !graft_read_is_null(&reader, V_MODEL_TIME_RATE);
    *sizes = (struct sizes){
        .hidden_size = tower.output_size,
        .merge = tower.merge,
        .sees = graft_read_word(&reader, V_MODEL_SEES),
        .tower_size =
            graft_description_name(description, V_MODEL_PROJECTOR) != NULL ? tower.hidden_size : tower.output_size,
        .deepstack = tower.deepstack,
        .video_token_id =
            graft_read_is_null(&reader, V_MODEL_VIDEO_TOKEN) ? -1 : graft_read_int(&reader, V_MODEL_VIDEO_TOKEN),
        .video_by_frame = graft_read_word(&reader, V_MODEL_VIDEO),
        .placeholders = {.image_token_id = graft_read_int(&reader, V_MODEL_IMAGE_TOKEN),
                         .time_rate = is_timed ? graft_read_real(&reader, V_MODEL_TIME_RATE) : -1.0},
    };
    struct graft_placeholders *placeholders = &sizes->placeholders;
    placeholders->is_plain = graft_read_word(&reader, V_MODEL_POSITIONS) == V_POSITIONS_TOKENS;
    placeholders->by_frame = sizes->video_by_frame != V_VIDEO_WHOLE;
    placeholders->video_token_id = sizes->video_by_frame == V_VIDEO_SECONDS_BEHIND && sizes->video_token_id >= 0
                                       ? placeholders->image_token_id
                                       : sizes->video_token_id;
    if (reader.status == GRAFT_OK && tower.output_size != text_size) {
        graft_reader_fail(&vision.of, V_OUTPUT_SIZE, "expected the language model's hidden_size (%lld), got %lld",
                          (long long)text_size, (long long)tower.output_size);
        reader.status = vision.of.status;
    }
    if (reader.status == GRAFT_OK && placeholders->image_token_id == sizes->video_token_id) {
        graft_reader_fail(&reader, V_MODEL_VIDEO_TOKEN, "expected an id other than image_token_id, got %lld",
                          (long long)sizes->video_token_id);
    }
    return reader.status;
}

/* Declares how prompts with images differ from others. */
static int describe_prompt(const struct graft_config *config, const struct graft_description *description,
                           const struct graft_sink *sink, struct graft_error *error) {
    static const struct {
        const char *attribute;
        int32_t choice;
    } tokens[] = {{"image_place_id", V_MODEL_PLACE_TOKEN},
                  {"image_place_end_id", V_MODEL_PLACE_END},
                  {"image_bos_id", V_MODEL_BOS_BEHIND}};
    struct graft_reader reader;
    graft_reader_start(&reader, description, config, -1, error);
    reader.config = config; /* the description's defaults are for vision_config, not for this level */
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0] && reader.status == GRAFT_OK; i++) {
        if (!graft_read_is_null(&reader, tokens[i].choice)) {
            const int64_t id = graft_read_int(&reader, tokens[i].choice);
            reader.status =
                reader.status == GRAFT_OK ? graft_describe_number(sink, tokens[i].attribute, id, error) : reader.status;
        }
    }
    return reader.status;
}

int graft_multimodal_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_description *description = self->data;
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error);
    (void)args;
    int status = sizes != NULL ? read_config(config, description, sizes, error) : GRAFT_ERROR_INTERNAL;
    if (status != GRAFT_OK) {
        return status;
    }
    const char *projector = graft_description_name(description, V_MODEL_PROJECTOR);
    const struct graft_arg tower_args[] = {graft_int_arg("hidden_size", sizes->tower_size),
                                           graft_int_arg("spatial_merge_size", projector != NULL ? 1 : sizes->merge),
                                           graft_int_arg("patch_square", sizes->merge)};
    const struct graft_arg projector_args[] = {graft_int_arg("context_dim", sizes->tower_size),
                                               graft_int_arg("hidden_size", sizes->hidden_size),
                                               graft_int_arg("spatial_merge_size", sizes->merge)};
    status = graft_describe_number(sink, "spatial_merge_size", sizes->merge, error);
    if (status == GRAFT_OK) {
        status = sink->attribute(sink->data, "image_token_id", &sizes->placeholders.image_token_id, 1, error);
    }
    if (status == GRAFT_OK && sizes->placeholders.by_frame) {
        status = graft_describe_number(sink, "video_by_frame", sizes->video_by_frame, error);
    }
    if (status == GRAFT_OK) {
        status = describe_prompt(config, description, sink, error);
    }
    if (status == GRAFT_OK && sizes->video_token_id >= 0) {
        status = graft_describe_number(sink, "video_token_id", sizes->video_token_id, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_child(sink, graft_description_name(description, V_MODEL_TOWER),
                                      graft_description_name(description, V_CLASS_TOWER), GRAFT_INTERFACE_VISION_TOWER,
                                      tower_args, 3, error);
    }
    if (status == GRAFT_OK && projector != NULL) {
        status = graft_describe_child(sink, projector, graft_description_name(description, V_CLASS_MERGER),
                                      GRAFT_INTERFACE_PATCH_MERGER, projector_args, 3, error);
    }
    return status == GRAFT_OK ? graft_describe_child(sink, graft_description_name(description, V_MODEL_TEXT),
                                                     graft_description_name(description, V_CLASS_TEXT_MODEL),
                                                     GRAFT_INTERFACE_BASE_MODEL, NULL, 0, error)
                              : status;
}

int graft_multimodal_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                            struct graft_error *error) {
    const struct sizes *sizes = build->kept;
    const struct graft_description *description = cls->data;
    struct multimodal *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *sizes;
    const char *projector = graft_description_name(description, V_MODEL_PROJECTOR);
    self->projector = projector != NULL ? graft_build_child(build, projector, error) : NULL;
    self->visual = graft_build_child(build, graft_description_name(description, V_MODEL_TOWER), error);
    self->language_model = graft_build_child(build, graft_description_name(description, V_MODEL_TEXT), error);
    return graft_instance_finish(self, instance, error);
}

/* output [merged, hidden_size] = embeddings of an image or video for the language model. */
static int see_one(const struct multimodal *self, const struct graft_call *call, const struct graft_image *image,
                   float *output, int64_t stride, struct graft_error *error) {
    const int64_t patches = image->grid[0] * image->grid[1] * image->grid[2];
    float *hidden =
        self->projector != NULL ? graft_scratch_floats(call, patches, self->sizes.tower_size, error) : output;
    const struct graft_vision_tower_args tower_args = {sizeof tower_args,
                                                       self->sizes.deepstack > 0 ? GRAFT_VISION_TOWER_DEEPSTACK : 0,
                                                       image,
                                                       hidden,
                                                       output + stride,
                                                       stride};
    const struct graft_patch_merger_args merger_args = {sizeof merger_args, 0, patches, hidden, output};
    int status =
        hidden != NULL ? graft_vision_tower_forward(self->visual, call, &tower_args, error) : GRAFT_ERROR_INTERNAL;
    return status == GRAFT_OK && self->projector != NULL
               ? graft_patch_merger_forward(self->projector, call, &merger_args, error)
               : status;
}

/* Runs the tower on all images and videos, one after another: embeddings [1 + deepstack, count, hidden_size]. Each
 * image uses the adapter of its sequence. */
static int see(const struct multimodal *self, const struct graft_call *call, const struct graft_base_model_args *args,
               int64_t count, float *embeddings, struct graft_error *error) {
    const int64_t stride = count * self->sizes.hidden_size;
    int status = GRAFT_OK;
    for (int32_t i = 0; i < args->n_images && status == GRAFT_OK; i++) {
        const struct graft_image *image = graft_placement_image(args, i);
        const int32_t *adapters = args->batch->adapters;
        const struct graft_row_adapters own = {.struct_size = sizeof own,
                                               .adapter = adapters != NULL ? adapters[image->sequence] : 0};
        struct graft_call tower_call = *call;
        tower_call.row_adapters = adapters != NULL ? &own : NULL;
        status = see_one(self, &tower_call, image, embeddings, stride, error);
        embeddings += image->grid[0] * (image->grid[1] / self->sizes.merge) * (image->grid[2] / self->sizes.merge) *
                      self->sizes.hidden_size;
    }
    return status;
}

/* Fills blocks [tokens], for attention: tokens in the same block see each other. 0 for all tokens of a sequence with
 * images or, depending on the model, a block for each image; -1 for other tokens. */
static void fill_blocks(const struct multimodal *self, const struct graft_base_model_args *args, int64_t count,
                        const int32_t *rows, int32_t *blocks) {
    const struct graft_batch *batch = args->batch;
    int32_t block = -1;
    for (int64_t t = 0; t < batch->tokens; t++) {
        blocks[t] = -1;
    }
    for (int64_t i = 0; i < count && self->sizes.sees == V_SEES_IMAGE; i++) {
        block += i == 0 || rows[i] != rows[i - 1] + 1;
        blocks[rows[i]] = block;
    }
    for (int32_t i = 0; i < args->n_images && self->sizes.sees == V_SEES_PROMPT; i++) {
        const int32_t sequence = graft_placement_image(args, i)->sequence;
        for (int64_t t = batch->cu_seqlens[sequence]; t < batch->cu_seqlens[sequence + 1]; t++) {
            blocks[t] = 0;
        }
    }
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
    int32_t *blocks = graft_scratch_ints(call, args->batch->tokens, error);
    float *embeddings = graft_scratch_floats(call, (1 + self->sizes.deepstack) * count, self->sizes.hidden_size, error);
    if (positions == NULL || rows == NULL || blocks == NULL || embeddings == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_placement placement = {positions, rows};
    struct graft_batch batch = *args->batch;
    batch.rotary_positions = self->sizes.placeholders.is_plain ? NULL : positions;
    const struct graft_base_model_args text_args = {
        .struct_size = sizeof text_args,
        .batch = &batch,
        .input_ids = args->input_ids,
        .last_hidden_state = args->last_hidden_state,
        .n_embeddings = count,
        .embedding_rows = rows,
        .embeddings = embeddings,
        .required_features = (self->sizes.deepstack > 0 && count > 0 ? (uint32_t)GRAFT_BASE_MODEL_DEEPSTACK : 0) |
                             (self->sizes.sees != V_SEES_BEFORE && count > 0 ? (uint32_t)GRAFT_BASE_MODEL_BLOCKS : 0),
        .deepstack = embeddings + count * self->sizes.hidden_size,
        .n_deepstack = self->sizes.deepstack,
        .blocks = blocks,
    };
    status = graft_placement_fill(args, &self->sizes.placeholders, self->sizes.merge, &placement, error);
    if (status == GRAFT_OK) {
        fill_blocks(self, args, count, rows, blocks);
        status = see(self, call, args, count, embeddings, error);
    }
    return status == GRAFT_OK ? graft_base_model_forward(self->language_model, call, &text_args, error) : status;
}

const struct graft_base_model graft_multimodal_vtable = {
    .struct_size = sizeof graft_multimodal_vtable,
    .forward = forward,
};
