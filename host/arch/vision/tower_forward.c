/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

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
static struct graft_batch make_batch(const struct graft_pass *pass, int64_t *cu_seqlens, int64_t sequences) {
    const int64_t tokens = cu_seqlens[sequences];
    int64_t *positions = graft_scratch_zeroed(pass->call, tokens * (int64_t)sizeof *positions, pass->error);
    int32_t *slots = graft_scratch_ints(pass->call, sequences, pass->error);
    for (int64_t s = 0; graft_pass_ok(pass) && s < sequences; s++) {
        slots[s] = (int32_t)s;
        for (int64_t i = cu_seqlens[s]; i < cu_seqlens[s + 1]; i++) {
            positions[i] = i - cu_seqlens[s];
        }
    }
    return (struct graft_batch){
        .struct_size = sizeof(struct graft_batch),
        .sequences = (int32_t)sequences,
        .tokens = tokens,
        .cu_seqlens = cu_seqlens,
        .positions = positions,
        .slots = slots,
    };
}

static int64_t *lengths(const struct graft_pass *pass, int64_t sequences) {
    return graft_scratch_zeroed(pass->call, (sequences + 1) * (int64_t)sizeof(int64_t), pass->error);
}

static void make_frames(const struct graft_pass *pass, struct patches *patches) {
    const int64_t frames = patches->image->grid[0];
    int64_t *cu_seqlens = lengths(pass, frames);
    for (int64_t f = 0; cu_seqlens != NULL && f <= frames; f++) {
        cu_seqlens[f] = f * (patches->count / frames) + (f > 0 ? patches->extra : 0);
    }
    if (cu_seqlens != NULL) {
        patches->seen = make_batch(pass, cu_seqlens, frames);
    }
}

/* Orders patches by window. A frame's windows stay together, so `seen` remains valid. */
static void make_windows(const struct graft_tower *self, const struct graft_pass *pass, struct patches *patches) {
    const int64_t *grid = patches->image->grid, merge = self->merge;
    const struct graft_windows windows = {grid[0], grid[1] / merge, grid[2] / merge, self->window, merge};
    const int64_t count = graft_windows_count(&windows);
    int64_t *cu_seqlens = lengths(pass, count);
    patches->order = graft_scratch_ints(pass->call, patches->merged, pass->error);
    if (graft_pass_ok(pass)) {
        graft_windows_fill(&windows, patches->order, cu_seqlens);
        patches->near = make_batch(pass, cu_seqlens, count);
    }
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
static void place(const struct graft_pass *pass, int64_t merge, struct patches *patches) {
    const int64_t height = patches->image->grid[1], width = patches->image->grid[2];
    const int64_t square = merge * merge;
    patches->rows = graft_scratch_ints(pass->call, patches->count, pass->error);
    patches->columns = graft_scratch_ints(pass->call, patches->count, pass->error);
    for (int64_t i = 0; graft_pass_ok(pass) && i < patches->count; i++) {
        const int64_t merged = patches->order != NULL ? patches->order[i / square] : i / square;
        const int64_t block = merged % (height * width / square);
        const int64_t inner = i % square;
        patches->rows[i] = (int32_t)(block / (width / merge) * merge + inner / merge);
        patches->columns[i] = (int32_t)(block % (width / merge) * merge + inner % merge);
    }
}

/* patches->hidden += the learned positions, interpolated to the image's grid. */
static void add_positions(const struct graft_tower *self, const struct graft_pass *pass,
                          const struct patches *patches) {
    const int64_t *grid = patches->image->grid, width = self->sizes.hidden_size;
    const int64_t side = self->stretch.side;
    const struct graft_pass rows = {pass->call, side * side, pass->error};
    const float *table = graft_pass_table(&rows, self->positions, width);
    for (int64_t i = 0; graft_pass_ok(pass) && i < patches->count; i++) {
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
}

/* output [merged, output_size] = `merger` applied to the patches, in the image's order. */
static void merge(const struct graft_tower *self, const struct graft_module *merger, const struct graft_pass *pass,
                  const struct patches *patches, float *output) {
    const struct graft_pass of_merged = {pass->call, patches->merged, pass->error};
    float *merged = patches->order != NULL ? graft_pass_floats(&of_merged, self->sizes.output_size) : output;
    if (!graft_pass_ok(pass)) {
        return;
    }
    float *hidden = patches->hidden + patches->extra * self->sizes.hidden_size;
    const struct graft_patch_merger_args args = {sizeof args, 0, patches->count, hidden, merged};
    if (graft_patch_merger_forward(merger, pass->call, &args, pass->error) == GRAFT_OK && patches->order != NULL) {
        arrange(patches, self->sizes.output_size, 1, merged, output);
    }
}

static void run_blocks(const struct graft_tower *self, const struct graft_pass *pass, const struct patches *patches,
                       const struct graft_vision_tower_args *args) {
    const int64_t head_dim = self->sizes.head_dim;
    const int rotates = self->rotary_pos_emb != NULL;
    int64_t given = 0;
    const struct graft_vision_rotary_args rotary_args = {
        .struct_size = sizeof rotary_args,
        .patches = patches->count,
        .head_dim = head_dim,
        .rows = patches->rows,
        .columns = patches->columns,
        .cos = rotates ? graft_pass_floats(pass, head_dim) : NULL,
        .sin = rotates ? graft_pass_floats(pass, head_dim) : NULL,
    };
    if (rotates && graft_pass_ok(pass)) {
        (void)graft_vision_rotary_forward(self->rotary_pos_emb, pass->call, &rotary_args, pass->error);
    }
    for (int64_t i = 0; i < self->sizes.run && graft_pass_ok(pass); i++) {
        const struct graft_tower_block *block = &self->blocks[i];
        const struct graft_vision_block_args block_args = {
            .struct_size = sizeof block_args,
            .batch = block->windowed ? &patches->near : &patches->seen,
            .hidden_states = patches->hidden,
            .cos = rotary_args.cos,
            .sin = rotary_args.sin,
        };
        (void)graft_vision_block_forward(block->module, pass->call, &block_args, pass->error);
        if (block->merger != NULL && args->required_features != 0) {
            merge(self, block->merger, pass, patches, args->deepstack + given++ * args->deepstack_stride);
        }
    }
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

/* patches->hidden = the embedded patches, in the order of the blocks, and normed if there is a norm. */
static void embed(const struct graft_tower *self, const struct graft_pass *pass, struct patches *patches) {
    const int64_t width = self->sizes.hidden_size;
    const struct graft_pass all = {pass->call, patches->extra + patches->count, pass->error};
    float *hidden = graft_pass_floats(&all, width);
    float *ordered = patches->order != NULL ? graft_pass_floats(pass, width) : hidden;
    int32_t *places = graft_scratch_ints(pass->call, patches->count, pass->error);
    if (!graft_pass_ok(pass)) {
        return;
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
        .output = hidden + patches->extra * width,
        .places = places,
        .class_output = hidden,
    };
    if (graft_patch_embed_forward(self->patch_embed, pass->call, &args, pass->error) == GRAFT_OK &&
        patches->order != NULL) {
        arrange(patches, width * self->merge * self->merge, 0, hidden, ordered);
    }
    patches->hidden = graft_pass_normed(&all, self->patch_norm, ordered, width);
}

/* Turns each square of patches into one vector, if the tower has a convolution for it. */
static void downsample(const struct graft_tower *self, const struct graft_pass *pass, struct patches *patches) {
    const struct graft_pass of_merged = {pass->call, patches->merged, pass->error};
    const int64_t hidden = self->sizes.hidden_size, side = self->merge, square = side * side;
    if (self->conv == NULL) {
        return;
    }
    float *x = graft_pass_floats(pass, hidden); /* [merged, hidden, square] */
    float *y = graft_pass_floats(&of_merged, self->sizes.output_size);
    for (int64_t i = 0; graft_pass_ok(pass) && i < patches->count * hidden; i++) {
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
    if (graft_pass_ok(pass)) {
        (void)graft_conv3d_forward(self->conv, pass->call, &args, pass->error);
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_vision_tower_args *args,
                   struct graft_error *error) {
    const struct graft_tower *self = instance;
    const int64_t width = self->sizes.hidden_size;
    struct patches patches = {.image = args->image, .extra = self->has_class};
    patches.count = args->image->grid[0] * args->image->grid[1] * args->image->grid[2];
    patches.merged = patches.count / (self->merge * self->merge);
    const struct graft_pass pass = {call, patches.count, error};
    const struct graft_pass all = {call, patches.extra + patches.count, error};
    if (check_patches(self, args->image, error) != GRAFT_OK) {
        return error->code;
    }
    make_frames(&pass, &patches);
    if (self->window > 0) {
        make_windows(self, &pass, &patches);
    }
    place(&pass, self->merge, &patches);
    embed(self, &pass, &patches);
    if (self->positions != NULL) {
        add_positions(self, &pass, &patches);
    }
    run_blocks(self, &pass, &patches, args);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    patches.hidden = graft_pass_normed(&all, self->norms_last ? self->last_norm : NULL, patches.hidden, width);
    patches.hidden = patches.hidden != NULL ? patches.hidden + patches.extra * width : NULL;
    patches.extra = 0;
    downsample(self, &pass, &patches);
    if (self->merger != NULL) {
        merge(self, self->merger, &pass, &patches, args->output);
    } else if (error->code == GRAFT_OK) {
        memcpy(args->output, patches.hidden, (size_t)(patches.count * width) * sizeof *args->output);
    }
    return error->code;
}

const struct graft_vision_tower graft_vision_tower_vtable = {
    .struct_size = sizeof graft_vision_tower_vtable,
    .features = GRAFT_VISION_TOWER_DEEPSTACK,
    .forward = forward,
};
