/* SPDX-License-Identifier: Apache-2.0 */
/* A language model with a vision tower, whose outputs for an image or video replace the embeddings of its tokens. */
#include "arch/pass.h"
#include "arch/role.h"
#include "arch/vision/choices.h"
#include "arch/vision/placement.h"

struct multimodal {
    struct graft_instance base;
    int64_t hidden_size; /* width of the language model */
    int64_t merge;       /* patches, in each direction, that become one vector */
    int64_t tower_size;  /* width of the tower's outputs; with a projector, that of a patch */
    int32_t sees;        /* V_SEES_... */
    int64_t deepstack;   /* number of layers of the language model that get outputs of the tower */
    struct graft_placeholders placeholders;
    const struct graft_module *visual;
    const struct graft_module *projector; /* NULL: none */
    const struct graft_module *language_model;
};

/* Reads the sizes of tower and language model, and declares what prompts need to know. */
static void read_config(struct graft_outline *of, struct multimodal *self) {
    struct graft_reader *reader = &of->reader, vision;
    struct graft_vision_sizes tower;
    graft_reader_start_in(&vision, reader->description, reader->whole, GRAFT_VISION_SECTION, -1, of->error);
    graft_vision_sizes_read(&vision, &tower);
    self->merge = graft_read_int(&vision, V_MERGER_SIDE);
    self->hidden_size = tower.output_size;
    self->tower_size = graft_outline_name(of, V_MODEL_PROJECTOR) != NULL ? tower.hidden_size : tower.output_size;
    self->deepstack = tower.deepstack;
    reader->layer = -1;
    reader->config = reader->whole; /* the description's defaults are for vision_config, not for this level */
    reader->status = vision.status;
    self->sees = graft_read_word(reader, V_MODEL_SEES);
    const int64_t text_size = graft_read_int(reader, V_MODEL_TEXT_SIZE);
    if (tower.output_size != text_size) {
        graft_reader_fail(&vision, V_OUTPUT_SIZE, "expected the language model's hidden_size (%lld), got %lld",
                          (long long)text_size, (long long)tower.output_size);
    }
}

/* Reads which tokens stand for images and videos, and declares them with what prompts have besides. */
static void read_tokens(struct graft_outline *of, struct multimodal *self) {
    static const struct {
        const char *attribute;
        int32_t choice;
    } tokens[] = {{"image_place_id", V_MODEL_PLACE_TOKEN},
                  {"image_place_end_id", V_MODEL_PLACE_END},
                  {"image_bos_id", V_MODEL_BOS_AFTER},
                  {"video_token_id", V_MODEL_VIDEO_TOKEN}};
    struct graft_reader *reader = &of->reader;
    struct graft_placeholders *placeholders = &self->placeholders;
    const int32_t by_frame = graft_read_word(reader, V_MODEL_VIDEO);
    const int is_timed = !graft_read_is_null(reader, V_MODEL_TIME_RATE);
    const int64_t image = graft_read_int(reader, V_MODEL_IMAGE_TOKEN);
    const int64_t video =
        graft_read_is_null(reader, V_MODEL_VIDEO_TOKEN) ? -1 : graft_read_int(reader, V_MODEL_VIDEO_TOKEN);
    placeholders->image_token_id = image;
    placeholders->video_token_id = by_frame == V_VIDEO_SECONDS_AFTER && video >= 0 ? image : video;
    placeholders->time_rate = is_timed ? graft_read_real(reader, V_MODEL_TIME_RATE) : -1.0;
    placeholders->is_plain = graft_read_word(reader, V_MODEL_POSITIONS) == V_POSITIONS_TOKENS;
    placeholders->by_frame = by_frame != V_VIDEO_WHOLE;
    if (image == video) {
        graft_reader_fail(reader, V_MODEL_VIDEO_TOKEN, "expected an id other than image_token_id, got %lld",
                          (long long)video);
    }
    graft_outline_number(of, "spatial_merge_size", self->merge);
    graft_outline_number(of, "image_token_id", image);
    if (placeholders->by_frame) {
        graft_outline_number(of, "video_by_frame", by_frame);
    }
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        if (!graft_read_is_null(reader, tokens[i].choice)) {
            graft_outline_number(of, tokens[i].attribute, graft_read_int(reader, tokens[i].choice));
        }
    }
}

static void outline(struct graft_outline *of, struct multimodal *self) {
    read_config(of, self);
    read_tokens(of, self);
    const char *projector = graft_outline_name(of, V_MODEL_PROJECTOR);
    const struct graft_arg tower_args[] = {graft_int_arg("hidden_size", self->tower_size),
                                           graft_int_arg("spatial_merge_size", projector != NULL ? 1 : self->merge),
                                           graft_int_arg("patch_square", self->merge)};
    const struct graft_arg projector_args[] = {graft_int_arg("context_dim", self->tower_size),
                                               graft_int_arg("hidden_size", self->hidden_size),
                                               graft_int_arg("spatial_merge_size", self->merge)};
    graft_outline_child(of, &self->visual, graft_outline_name(of, V_MODEL_TOWER), graft_outline_name(of, V_CLASS_TOWER),
                        GRAFT_INTERFACE_VISION_TOWER, tower_args, 3);
    graft_outline_child(of, &self->projector, projector, graft_outline_name(of, V_CLASS_MERGER),
                        GRAFT_INTERFACE_PATCH_MERGER, projector_args, 3);
    graft_outline_child(of, &self->language_model, graft_outline_name(of, V_MODEL_TEXT),
                        graft_outline_name(of, V_CLASS_TEXT_MODEL), GRAFT_INTERFACE_BASE_MODEL, NULL, 0);
}

GRAFT_OUTLINED(graft_multimodal, struct multimodal)

/* output [merged, hidden_size] = embeddings of an image or video for the language model. */
static void see_one(const struct multimodal *self, const struct graft_call *call, const struct graft_image *image,
                    float *output, int64_t stride, struct graft_error *error) {
    const struct graft_pass patches = {call, image->grid[0] * image->grid[1] * image->grid[2], error};
    float *hidden = self->projector != NULL ? graft_pass_floats(&patches, self->tower_size) : output;
    const struct graft_vision_tower_args tower_args = {sizeof tower_args,
                                                       self->deepstack > 0 ? GRAFT_VISION_TOWER_DEEPSTACK : 0,
                                                       image,
                                                       hidden,
                                                       output + stride,
                                                       stride};
    const struct graft_patch_merger_args merger_args = {sizeof merger_args, 0, patches.rows, hidden, output};
    if (error->code == GRAFT_OK) {
        (void)graft_vision_tower_forward(self->visual, call, &tower_args, error);
    }
    if (self->projector != NULL && error->code == GRAFT_OK) {
        (void)graft_patch_merger_forward(self->projector, call, &merger_args, error);
    }
}

/* Runs the tower on all images and videos, one after another: embeddings [1 + deepstack, count, hidden_size]. Each
 * image uses the adapter of its sequence. */
static void see(const struct multimodal *self, const struct graft_call *call, const struct graft_base_model_args *args,
                int64_t count, float *embeddings, struct graft_error *error) {
    const int64_t stride = count * self->hidden_size;
    for (int32_t i = 0; i < args->n_images && error->code == GRAFT_OK; i++) {
        const struct graft_image *image = graft_placement_image(args, i);
        const int32_t *adapters = args->batch->adapters;
        const struct graft_row_adapters own = {.struct_size = sizeof own,
                                               .adapter = adapters != NULL ? adapters[image->sequence] : 0};
        struct graft_call tower_call = *call;
        tower_call.row_adapters = adapters != NULL ? &own : NULL;
        see_one(self, &tower_call, image, embeddings, stride, error);
        embeddings +=
            image->grid[0] * (image->grid[1] / self->merge) * (image->grid[2] / self->merge) * self->hidden_size;
    }
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
    for (int64_t i = 0; i < count && self->sees == V_SEES_IMAGE; i++) {
        block += i == 0 || rows[i] != rows[i - 1] + 1;
        blocks[rows[i]] = block;
    }
    for (int32_t i = 0; i < args->n_images && self->sees == V_SEES_PROMPT; i++) {
        const int32_t sequence = graft_placement_image(args, i)->sequence;
        for (int64_t t = batch->cu_seqlens[sequence]; t < batch->cu_seqlens[sequence + 1]; t++) {
            blocks[t] = 0;
        }
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_base_model_args *args,
                   struct graft_error *error) {
    const struct multimodal *self = instance;
    const int64_t tokens = args->batch->tokens;
    int64_t count;
    int status = graft_placement_count(args, self->merge, &count, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (count > tokens) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt",
                               "the images and videos need %lld tokens, but the prompt has %lld", (long long)count,
                               (long long)tokens);
    }
    const int opens = self->sees != V_SEES_BEFORE && count > 0;
    int64_t *positions = graft_scratch_zeroed(call, 3 * tokens * (int64_t)sizeof *positions, error);
    int32_t *rows = graft_scratch_ints(call, count, error);
    int32_t *blocks = opens ? graft_scratch_ints(call, tokens, error) : NULL;
    float *embeddings = graft_scratch_floats(call, (1 + self->deepstack) * count, self->hidden_size, error);
    const struct graft_placement placement = {positions, rows};
    if (error->code != GRAFT_OK ||
        graft_placement_fill(args, &self->placeholders, self->merge, &placement, error) != GRAFT_OK) {
        return error->code;
    }
    struct graft_batch batch = *args->batch;
    batch.rotary_positions = self->placeholders.is_plain ? NULL : positions;
    const struct graft_base_model_args text_args = {
        .struct_size = sizeof text_args,
        .batch = &batch,
        .input_ids = args->input_ids,
        .last_hidden_state = args->last_hidden_state,
        .n_embeddings = count,
        .embedding_rows = rows,
        .embeddings = embeddings,
        .required_features = (self->deepstack > 0 && count > 0 ? (uint32_t)GRAFT_BASE_MODEL_DEEPSTACK : 0) |
                             (opens ? (uint32_t)GRAFT_BASE_MODEL_BLOCKS : 0),
        .deepstack = embeddings + count * self->hidden_size,
        .n_deepstack = self->deepstack,
        .blocks = blocks,
    };
    if (opens) {
        fill_blocks(self, args, count, rows, blocks);
    }
    see(self, call, args, count, embeddings, error);
    return error->code == GRAFT_OK ? graft_base_model_forward(self->language_model, call, &text_args, error)
                                   : error->code;
}

const struct graft_base_model graft_multimodal_vtable = {.struct_size = sizeof graft_multimodal_vtable,
                                                         .forward = forward};
