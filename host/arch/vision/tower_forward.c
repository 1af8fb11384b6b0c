/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "arch/table.h"
#include "arch/vision/tower.h"
#include "arch/vision/windows.h"
#include "graft/kernels.h"

/* The patches of an image or video on their way through the tower. `hidden`, `rows` and `columns` are in the order of
 * the blocks, which `order` defines. */
struct patches {
    const struct graft_image *image;
    int64_t count;
    int64_t merged;          /* count / merge^2 */
    int32_t *order;          /* [merged]: position in the image of each merged patch; NULL: the same order */
    float *hidden;           /* [extra + count, hidden_size] */
    int32_t *rows;           /* [count]: row of each patch, and its column */
    int32_t *columns;        /* [count] */
    int64_t extra;           /* 1 if a class vector precedes the patches, else 0 */
    struct graft_batch seen; /* sequences are frames, or a single frame with a class vector */
    struct graft_batch near; /* sequences are windows */
};

/* Makes a batch whose sequences begin at cu_seqlens [sequences + 1]. */
static int make_batch(const struct graft_call *call, int64_t *cu_seqlens, int64_t sequences, struct graft_batch *batch,
                      struct graft_error *error) {
    const int64_t tokens = cu_seqlens[sequences];
    int64_t *positions = (int64_t *)(void *)graft_scratch_floats(call, tokens, 2, error);
    int32_t *slots = graft_scratch_ints(call, sequences, error);
    if (positions == NULL || slots == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t s = 0; s < sequences; s++) {
        slots[s] = (int32_t)s;
        for (int64_t i = cu_seqlens[s]; i < cu_seqlens[s + 1]; i++) {
            positions[i] = i - cu_seqlens[s];
        }
    }
    *batch = (struct graft_batch){
        .struct_size = sizeof *batch,
        .sequences = (int32_t)sequences,
        .tokens = tokens,
        .cu_seqlens = cu_seqlens,
        .positions = positions,
        .slots = slots,
    };
    return GRAFT_OK;
}

static int make_frames(const struct graft_call *call, struct patches *patches, struct graft_error *error) {
    const int64_t frames = patches->image->grid[0];
    int64_t *cu_seqlens = (int64_t *)(void *)graft_scratch_floats(call, frames + 1, 2, error);
    if (cu_seqlens == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t f = 0; f <= frames; f++) {
        cu_seqlens[f] = f * (patches->count / frames) + (f > 0 ? patches->extra : 0);
    }
    return make_batch(call, cu_seqlens, frames, &patches->seen, error);
}

/* Orders patches by window. A frame's windows stay together, so `seen` remains valid. */
static int make_windows(const struct graft_tower *self, const struct graft_call *call, struct patches *patches,
                        struct graft_error *error) {
    const int64_t *grid = patches->image->grid, merge = self->sizes.merge;
    const struct graft_windows windows = {grid[0], grid[1] / merge, grid[2] / merge, self->window, merge};
    const int64_t count = graft_windows_count(&windows);
    int64_t *cu_seqlens = (int64_t *)(void *)graft_scratch_floats(call, count + 1, 2, error);
    patches->order = graft_scratch_ints(call, patches->merged, error);
    if (cu_seqlens == NULL || patches->order == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_windows_fill(&windows, patches->order, cu_seqlens);
    return make_batch(call, cu_seqlens, count, &patches->near, error);
}

/* Copies merged patches of `numbers` floats each from the image's order to that of the blocks or, with `back`, the
 * other way. */
static void arrange(const struct patches *patches, int64_t numbers, int32_t back, const float *from, float *to) {
    for (int64_t i = 0; i < patches->merged; i++) {
        const int64_t lies = patches->order[i];
        memcpy(to + (back ? lies : i) * numbers, from + (back ? i : lies) * numbers, (size_t)numbers * sizeof *to);
    }
}

/* Finds the row and column of each patch. In the image's order, patches of a frame come in squares of `merge` x
 * `merge`. */
static int place(const struct graft_call *call, int64_t merge, struct patches *patches, struct graft_error *error) {
    const int64_t height = patches->image->grid[1], width = patches->image->grid[2];
    const int64_t square = merge * merge;
    patches->rows = graft_scratch_ints(call, patches->count, error);
    patches->columns = graft_scratch_ints(call, patches->count, error);
    if (patches->rows == NULL || patches->columns == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t i = 0; i < patches->count; i++) {
        const int64_t merged = patches->order != NULL ? patches->order[i / square] : i / square;
        const int64_t block = merged % (height * width / square);
        const int64_t inner = i % square;
        patches->rows[i] = (int32_t)(block / (width / merge) * merge + inner / merge);
        patches->columns[i] = (int32_t)(block % (width / merge) * merge + inner % merge);
    }
    return GRAFT_OK;
}

/* patches->hidden += the learned positions, interpolated to the image's grid. */
static int add_positions(const struct graft_tower *self, const struct graft_call *call, const struct patches *patches,
                         struct graft_error *error) {
    const int64_t *grid = patches->image->grid, width = self->sizes.hidden_size;
    const int64_t side = self->stretch.side;
    const float *table = graft_table_read(self->positions, call, side * side, width, error);
    for (int64_t i = 0; table != NULL && i < patches->count; i++) {
        const struct graft_taps down = graft_stretch_taps(&self->stretch, patches->rows[i], grid[1]);
        const struct graft_taps across = graft_stretch_taps(&self->stretch, patches->columns[i], grid[2]);
        float *hidden = patches->hidden + i * width;
        for (int32_t k = 0; k < down.n * across.n; k++) {
            const float *row = table + (down.rows[k / across.n] * side + across.rows[k % across.n]) * width;
            const float weight = down.weights[k / across.n] * across.weights[k % across.n];
            for (int64_t j = 0; j < width; j++) {
                hidden[j] += weight * row[j];
            }
        }
    }
    return table != NULL ? GRAFT_OK : error->code;
}

/* output [merged, output_size] = `merger` applied to the patches, in the image's order. */
static int merge(const struct graft_tower *self, const struct graft_module *merger, const struct graft_call *call,
                 const struct patches *patches, float *output, struct graft_error *error) {
    float *merged =
        patches->order != NULL ? graft_scratch_floats(call, patches->merged, self->sizes.output_size, error) : output;
    float *hidden = patches->hidden + patches->extra * self->sizes.hidden_size;
    const struct graft_patch_merger_args args = {sizeof args, 0, patches->count, hidden, merged};
    int status = merged != NULL ? graft_patch_merger_forward(merger, call, &args, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK && patches->order != NULL) {
        arrange(patches, self->sizes.output_size, 1, merged, output);
    }
    return status;
}

static int run_blocks(const struct graft_tower *self, const struct graft_call *call, const struct patches *patches,
                      const struct graft_vision_tower_args *args, struct graft_error *error) {
    const int64_t count = patches->count, head_dim = self->sizes.head_dim;
    const int rotates = self->rotary_pos_emb != NULL;
    float *angles = rotates ? graft_scratch_floats(call, 2 * count, head_dim, error) : NULL;
    int64_t given = 0;
    if (rotates && angles == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_vision_rotary_args rotary_args = {
        .struct_size = sizeof rotary_args,
        .patches = count,
        .head_dim = head_dim,
        .rows = patches->rows,
        .columns = patches->columns,
        .cos = angles,
        .sin = rotates ? angles + count * head_dim : NULL,
    };
    int status = rotates ? graft_vision_rotary_forward(self->rotary_pos_emb, call, &rotary_args, error) : GRAFT_OK;
    for (int64_t i = 0; i < self->sizes.run && status == GRAFT_OK; i++) {
        const struct graft_vision_block_args block_args = {
            .struct_size = sizeof block_args,
            .batch = self->blocks[i].windowed ? &patches->near : &patches->seen,
            .hidden_states = patches->hidden,
            .cos = rotary_args.cos,
            .sin = rotary_args.sin,
        };
        status = graft_vision_block_forward(self->blocks[i].module, call, &block_args, error);
        if (status == GRAFT_OK && self->blocks[i].merger != NULL && args->required_features != 0) {
            status = merge(self, self->blocks[i].merger, call, patches,
                           args->deepstack + given++ * args->deepstack_stride, error);
        }
    }
    return status;
}

static int check_patches(const struct graft_tower *self, const struct graft_image *image, struct graft_error *error) {
    const int64_t patch_dim = self->sizes.channels * self->sizes.frames * self->sizes.patch * self->sizes.patch;
    const int64_t *grid = image->grid, square = self->square;
    if (square > 0 && (grid[0] != 1 || grid[1] != square || grid[2] != square)) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "image",
                               "expected 1 x %lld x %lld patches, as image_size and patch_size say, got %lld x %lld x "
                               "%lld",
                               (long long)square, (long long)square, (long long)grid[0], (long long)grid[1],
                               (long long)grid[2]);
    }
    return image->patch_dim == patch_dim
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_USAGE, "image",
                                 "expected %lld pixel values in a patch, as in_channels, temporal_patch_size and "
                                 "patch_size say, got %lld",
                                 (long long)patch_dim, (long long)image->patch_dim);
}

/* patches->hidden = the embedded patches, in the order of the blocks. */
static int embed(const struct graft_tower *self, const struct graft_call *call, struct patches *patches,
                 struct graft_error *error) {
    const int64_t hidden_size = self->sizes.hidden_size;
    float *hidden = graft_scratch_floats(call, patches->extra + patches->count, hidden_size, error);
    float *ordered = patches->order != NULL ? graft_scratch_floats(call, patches->count, hidden_size, error) : hidden;
    int32_t *places = graft_scratch_ints(call, patches->count, error);
    if (hidden == NULL || ordered == NULL || places == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t i = 0; i < patches->count; i++) {
        places[i] = patches->rows[i] * (int32_t)self->square + patches->columns[i];
    }
    const struct graft_patch_embed_args args = {
        .struct_size = sizeof args,
        .required_features =
            (self->has_places ? GRAFT_PATCH_EMBED_PLACES : 0u) | (self->has_class ? GRAFT_PATCH_EMBED_CLASS : 0u),
        .patches = patches->count,
        .pixel_values = patches->image->pixel_values,
        .output = hidden + patches->extra * hidden_size,
        .places = places,
        .class_output = hidden,
    };
    int status = graft_patch_embed_forward(self->patch_embed, call, &args, error);
    if (status == GRAFT_OK && patches->order != NULL) {
        arrange(patches, hidden_size * self->sizes.merge * self->sizes.merge, 0, hidden, ordered);
    }
    patches->hidden = ordered;
    return status;
}

/* patches->hidden = norm(patches->hidden), in new memory, if there is a norm. */
static int norm(const struct graft_tower *self, const struct graft_module *module, const struct graft_call *call,
                struct patches *patches, struct graft_error *error) {
    if (module == NULL) {
        return GRAFT_OK;
    }
    const int64_t rows = patches->extra + patches->count;
    float *normed = graft_scratch_floats(call, rows, self->sizes.hidden_size, error);
    const struct graft_norm_args args = {sizeof args, 0, rows, patches->hidden, NULL, normed};
    patches->hidden = normed;
    return normed != NULL ? graft_norm_forward(module, call, &args, error) : GRAFT_ERROR_INTERNAL;
}

/* Turns each square of patches into one vector, if the tower has a convolution for it. */
static int downsample(const struct graft_tower *self, const struct graft_call *call, struct patches *patches,
                      struct graft_error *error) {
    const int64_t hidden = self->sizes.hidden_size, side = self->sizes.merge, square = side * side;
    if (self->conv == NULL) {
        return GRAFT_OK;
    }
    float *x = graft_scratch_floats(call, patches->count, hidden, error); /* [merged, hidden, square] */
    float *y = graft_scratch_floats(call, patches->merged, self->sizes.output_size, error);
    if (x == NULL || y == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t i = 0; i < patches->count * hidden; i++) {
        const int64_t patch = i / hidden;
        x[(patch / square * hidden + i % hidden) * square + patch % square] = patches->hidden[i];
    }
    const struct graft_conv3d_args args = {
        .struct_size = sizeof args,
        .count = patches->merged,
        .size = {1, side, side},
        .output_size = {1, 1, 1},
        .x = x,
        .y = y,
    };
    patches->hidden = y;
    patches->count = patches->merged;
    return graft_conv3d_forward(self->conv, call, &args, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_vision_tower_args *args,
                   struct graft_error *error) {
    const struct graft_tower *self = instance;
    struct patches patches = {.image = args->image, .extra = self->has_class};
    patches.count = args->image->grid[0] * args->image->grid[1] * args->image->grid[2];
    patches.merged = patches.count / (self->sizes.merge * self->sizes.merge);
    int status = check_patches(self, args->image, error);
    if (status == GRAFT_OK) {
        status = make_frames(call, &patches, error);
    }
    if (status == GRAFT_OK && self->window > 0) {
        status = make_windows(self, call, &patches, error);
    }
    if (status == GRAFT_OK) {
        status = place(call, self->sizes.merge, &patches, error);
    }
    if (status == GRAFT_OK) {
        status = embed(self, call, &patches, error);
    }
    if (status == GRAFT_OK) {
        status = norm(self, self->patch_norm, call, &patches, error);
    }
    if (status == GRAFT_OK && self->positions != NULL) {
        status = add_positions(self, call, &patches, error);
    }
    if (status == GRAFT_OK) {
        status = run_blocks(self, call, &patches, args, error);
    }
    if (status == GRAFT_OK) {
        status = norm(self, self->last_norm, call, &patches, error);
    }
    if (status == GRAFT_OK) {
        patches.hidden += patches.extra * self->sizes.hidden_size;
        patches.extra = 0;
        status = downsample(self, call, &patches, error);
    }
    if (status == GRAFT_OK && self->merger == NULL) {
        memcpy(args->output, patches.hidden, (size_t)(patches.count * self->sizes.hidden_size) * sizeof *args->output);
        return GRAFT_OK;
    }
    return status == GRAFT_OK ? merge(self, self->merger, call, &patches, args->output, error) : status;
}

const struct graft_vision_tower graft_vision_tower_vtable = {
    .struct_size = sizeof graft_vision_tower_vtable,
    .features = GRAFT_VISION_TOWER_DEEPSTACK,
    .forward = forward,
};
