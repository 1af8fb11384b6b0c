/* SPDX-License-Identifier: Apache-2.0 */
/* The vision tower: patches into vectors, blocks in which the patches of a frame see each other, a merger. */
#include "arch/role.h"
#include "arch/vision/vision_config.h"
#include "graft/describe.h"

struct tower {
    struct graft_instance base;
    const struct graft_module *patch_embed;
    const struct graft_module *rotary_pos_emb;
    const struct graft_module *merger;
    struct graft_vision_config config;
    const struct graft_module *blocks[]; /* [depth] */
};

enum { MAX_NAME = 32 };

static void block_name(int64_t i, char name[MAX_NAME]) {
    (void)snprintf(name, MAX_NAME, "blocks.%lld", (long long)i);
}

static int describe_sizes(const struct graft_vision_config *vision, const struct graft_sink *sink,
                          struct graft_error *error) {
    const struct graft_arg attributes[] = {graft_int_arg("spatial_merge_size", vision->spatial_merge_size),
                                           graft_int_arg("patch_size", vision->patch_size),
                                           graft_int_arg("temporal_patch_size", vision->temporal_patch_size)};
    int status = GRAFT_OK;
    for (int32_t i = 0; i < 3 && status == GRAFT_OK; i++) {
        status = sink->attribute(sink->data, attributes[i].name, &attributes[i].integer, 1, error);
    }
    return status;
}

static int describe_ends(const struct graft_vision_traits *traits, const struct graft_vision_config *vision,
                         const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_arg patch_args[] = {graft_int_arg("in_channels", vision->in_channels),
                                           graft_int_arg("temporal_patch_size", vision->temporal_patch_size),
                                           graft_int_arg("patch_size", vision->patch_size),
                                           graft_int_arg("embed_dim", vision->embed_dim)};
    const struct graft_arg merger_args[] = {graft_int_arg("context_dim", vision->embed_dim),
                                            graft_int_arg("hidden_size", vision->hidden_size),
                                            graft_int_arg("spatial_merge_size", vision->spatial_merge_size)};
    int status = graft_describe_child(sink, "patch_embed", traits->patch_embed, GRAFT_INTERFACE_PATCH_EMBED, patch_args,
                                      4, error);
    if (status == GRAFT_OK) {
        status = graft_describe_child(sink, "rotary_pos_emb", traits->rotary_embedding, GRAFT_INTERFACE_VISION_ROTARY,
                                      NULL, 0, error);
    }
    return status == GRAFT_OK ? graft_describe_child(sink, "merger", traits->merger, GRAFT_INTERFACE_PATCH_MERGER,
                                                     merger_args, 3, error)
                              : status;
}

int graft_vision_tower_describe(const struct graft_class *self, const struct graft_config *config,
                                const struct graft_args *args, const struct graft_sink *sink,
                                struct graft_error *error) {
    const struct graft_vision_traits *traits = self->data;
    const struct graft_vision_config *vision;
    (void)args;
    int status = graft_vision_config_keep(config, sink, &vision, error);
    if (status == GRAFT_OK) {
        status = describe_sizes(vision, sink, error);
    }
    if (status == GRAFT_OK) {
        status = describe_ends(traits, vision, sink, error);
    }
    for (int64_t i = 0; status == GRAFT_OK && i < vision->depth; i++) {
        const struct graft_arg block_args[] = {graft_int_arg("layer_idx", i),
                                               graft_int_arg("hidden_size", vision->embed_dim)};
        char name[MAX_NAME];
        block_name(i, name);
        status = graft_describe_child(sink, name, traits->block, GRAFT_INTERFACE_VISION_BLOCK, block_args, 2, error);
    }
    return status;
}

int graft_vision_tower_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                              struct graft_error *error) {
    const struct graft_vision_config *vision = build->kept;
    (void)cls;
    struct tower *self =
        graft_instance_new(build, sizeof *self + (size_t)vision->depth * sizeof self->blocks[0], error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->config = *vision;
    self->patch_embed = graft_build_child(build, "patch_embed", error);
    self->rotary_pos_emb = graft_build_child(build, "rotary_pos_emb", error);
    self->merger = graft_build_child(build, "merger", error);
    for (int64_t i = 0; i < vision->depth && error->code == GRAFT_OK; i++) {
        char name[MAX_NAME];
        block_name(i, name);
        self->blocks[i] = graft_build_child(build, name, error);
    }
    return graft_instance_finish(self, instance, error);
}

/* Rows and columns of an image's patches, [patches] each: frame by frame, in each by squares of `merge` x `merge`. */
static void place_patches(const struct graft_image *image, int64_t merge, int32_t *rows, int32_t *columns) {
    int64_t height = image->grid[1], width = image->grid[2];
    int64_t square = merge * merge;
    for (int64_t i = 0; i < image->grid[0] * height * width; i++) {
        int64_t in_frame = i % (height * width);
        int64_t block = in_frame / square;
        int64_t inner = in_frame % square;
        rows[i] = (int32_t)(block / (width / merge) * merge + inner / merge);
        columns[i] = (int32_t)(block % (width / merge) * merge + inner % merge);
    }
}

/* hidden [patches, embed_dim] through the blocks; a frame is a sequence of its own. */
static int run_blocks(const struct tower *self, const struct graft_call *call, const struct graft_image *image,
                      float *hidden, struct graft_error *error) {
    int64_t frames = image->grid[0];
    int64_t frame = image->grid[1] * image->grid[2];
    int64_t patches = frames * frame;
    int64_t head_dim = self->config.head_dim;
    int64_t *numbers = (int64_t *)(void *)graft_scratch_floats(call, frames + 1 + patches, 2, error);
    int32_t *places = graft_scratch_ints(call, 2 * patches + frames, error);
    float *angles = graft_scratch_floats(call, 2 * patches, head_dim, error);
    if (numbers == NULL || places == NULL || angles == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int64_t *positions = numbers + frames + 1;
    int32_t *slots = places + 2 * patches;
    for (int64_t f = 0; f <= frames; f++) {
        numbers[f] = f * frame;
    }
    for (int64_t f = 0; f < frames; f++) {
        slots[f] = (int32_t)f;
    }
    for (int64_t i = 0; i < patches; i++) {
        positions[i] = i % frame;
    }
    place_patches(image, self->config.spatial_merge_size, places, places + patches);
    const struct graft_batch batch = {
        .struct_size = sizeof batch,
        .sequences = (int32_t)frames,
        .tokens = patches,
        .cu_seqlens = numbers,
        .positions = positions,
        .slots = slots,
    };
    const struct graft_vision_rotary_args rotary_args = {
        .struct_size = sizeof rotary_args,
        .patches = patches,
        .head_dim = head_dim,
        .rows = places,
        .columns = places + patches,
        .cos = angles,
        .sin = angles + patches * head_dim,
    };
    const struct graft_vision_block_args block_args = {
        .struct_size = sizeof block_args,
        .batch = &batch,
        .hidden_states = hidden,
        .cos = rotary_args.cos,
        .sin = rotary_args.sin,
    };
    int status = graft_vision_rotary_forward(self->rotary_pos_emb, call, &rotary_args, error);
    for (int64_t i = 0; i < self->config.depth && status == GRAFT_OK; i++) {
        status = graft_vision_block_forward(self->blocks[i], call, &block_args, error);
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_vision_tower_args *args,
                   struct graft_error *error) {
    const struct tower *self = instance;
    const struct graft_image *image = args->image;
    int64_t patches = image->grid[0] * image->grid[1] * image->grid[2];
    int64_t patch_dim =
        self->config.in_channels * self->config.temporal_patch_size * self->config.patch_size * self->config.patch_size;
    if (image->patch_dim != patch_dim) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "image",
                               "expected %lld pixel values in a patch, as in_channels, temporal_patch_size and "
                               "patch_size say, got %lld",
                               (long long)patch_dim, (long long)image->patch_dim);
    }
    float *hidden = graft_scratch_floats(call, patches, self->config.embed_dim, error); /* [patches, embed_dim] */
    const struct graft_patch_embed_args patch_args = {sizeof patch_args, 0, patches, image->pixel_values, hidden};
    const struct graft_patch_merger_args merger_args = {sizeof merger_args, 0, patches, hidden, args->output};
    if (hidden == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_patch_embed_forward(self->patch_embed, call, &patch_args, error);
    if (status == GRAFT_OK) {
        status = run_blocks(self, call, image, hidden, error);
    }
    return status == GRAFT_OK ? graft_patch_merger_forward(self->merger, call, &merger_args, error) : status;
}

const struct graft_vision_tower graft_vision_tower_vtable = {
    .struct_size = sizeof graft_vision_tower_vtable,
    .forward = forward,
};
