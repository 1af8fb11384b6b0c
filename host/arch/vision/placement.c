/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/vision/placement.h"

/* Far more than a tower could be given, and low enough that products of three stay within 64 bits. */
enum { MAX_GRID = 1 << 16 };

const struct graft_image *graft_placement_image(const struct graft_base_model_args *args, int32_t i) {
    const char *at = (const char *)args->images + (size_t)i * args->image_stride;
    return (const struct graft_image *)(const void *)at;
}

static int64_t tokens_of(const struct graft_image *image, int64_t merge) {
    return image->grid[0] * (image->grid[1] / merge) * (image->grid[2] / merge);
}

int graft_placement_count(const struct graft_base_model_args *args, int64_t merge, int64_t *tokens,
                          struct graft_error *error) {
    *tokens = 0;
    for (int32_t i = 0; i < args->n_images; i++) {
        const int64_t *grid = graft_placement_image(args, i)->grid;
        int32_t sound = grid[0] >= 1 && grid[1] >= 1 && grid[2] >= 1 && grid[0] <= MAX_GRID && grid[1] <= MAX_GRID &&
                        grid[2] <= MAX_GRID && grid[1] % merge == 0 && grid[2] % merge == 0 && *tokens <= INT32_MAX;
        if (!sound) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "image",
                                   "image %d: its grid of %lld x %lld x %lld patches is not made of squares of %lld",
                                   (int)i + 1, (long long)grid[0], (long long)grid[1], (long long)grid[2],
                                   (long long)merge);
        }
        *tokens += tokens_of(graft_placement_image(args, i), merge);
    }
    return GRAFT_OK;
}

/* The state of one walk over the tokens of a batch. */
struct walk {
    const struct graft_base_model_args *args;
    const struct graft_placement *placement;
    int64_t merge;
    int32_t image;  /* the next one */
    int64_t filled; /* of rows */
    int64_t next;   /* rotary position of the next token */
    int64_t largest;
};

static void put(struct walk *walk, int64_t token, int64_t time, int64_t height, int64_t width) {
    int64_t tokens = walk->args->batch->tokens;
    const int64_t values[3] = {time, height, width};
    for (int32_t i = 0; i < 3; i++) {
        walk->placement->positions[i * tokens + token] = values[i];
        walk->largest = values[i] > walk->largest ? values[i] : walk->largest;
    }
}

/* The tokens of one image from `token` on: rows of the grid are heights, columns widths, all from the same start. */
static void put_image(struct walk *walk, int64_t token, const struct graft_image *image) {
    int64_t height = image->grid[1] / walk->merge;
    int64_t width = image->grid[2] / walk->merge;
    int64_t start = walk->next;
    for (int64_t i = 0; i < tokens_of(image, walk->merge); i++) {
        put(walk, token + i, start + i / width / height, start + i / width % height, start + i % width);
        walk->placement->rows[walk->filled++] = (int32_t)(token + i);
    }
    walk->next += height > width ? height : width;
}

/* Whether the next image is this sequence's and `token` starts as many image tokens as it takes. */
static int32_t fits(const struct walk *walk, int32_t sequence, int64_t image_token_id, int64_t token, int64_t end) {
    if (walk->image == walk->args->n_images || graft_placement_image(walk->args, walk->image)->sequence != sequence) {
        return 0;
    }
    int64_t count = tokens_of(graft_placement_image(walk->args, walk->image), walk->merge);
    for (int64_t i = 0; i < count; i++) {
        if (token + i >= end || walk->args->input_ids[token + i] != image_token_id) {
            return 0;
        }
    }
    return 1;
}

static int mismatch(int32_t sequence, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt",
                           "the image tokens of prompt %d do not match its images: expected one run of tokens for each "
                           "image, as many as it has merged patches",
                           (int)sequence + 1);
}

static int walk_sequence(struct walk *walk, int32_t sequence, int64_t image_token_id, struct graft_error *error) {
    const struct graft_batch *batch = walk->args->batch;
    int64_t first = batch->cu_seqlens[sequence];
    int64_t end = batch->cu_seqlens[sequence + 1];
    int64_t offset = batch->rotary_offsets != NULL ? batch->rotary_offsets[sequence] : 0;
    int64_t last = end > first ? batch->positions[end - 1] : -1;
    walk->next = end > first ? batch->positions[first] + offset : 0;
    walk->largest = walk->next - 1;
    for (int64_t token = first; token < end;) {
        if (walk->args->n_images == 0 || walk->args->input_ids[token] != image_token_id) {
            put(walk, token, walk->next, walk->next, walk->next);
            walk->next++;
            token++;
        } else if (fits(walk, sequence, image_token_id, token, end)) {
            const struct graft_image *image = graft_placement_image(walk->args, walk->image++);
            put_image(walk, token, image);
            token += tokens_of(image, walk->merge);
        } else {
            return mismatch(sequence, error);
        }
    }
    if (walk->image < walk->args->n_images && graft_placement_image(walk->args, walk->image)->sequence <= sequence) {
        return mismatch(sequence, error);
    }
    if (batch->next_rotary_offsets != NULL) {
        batch->next_rotary_offsets[sequence] = end > first ? walk->largest - last : offset;
    }
    return GRAFT_OK;
}

int graft_placement_fill(const struct graft_base_model_args *args, int64_t image_token_id, int64_t merge,
                         const struct graft_placement *placement, struct graft_error *error) {
    struct walk walk = {.args = args, .placement = placement, .merge = merge};
    int status = GRAFT_OK;
    for (int32_t s = 0; s < args->batch->sequences && status == GRAFT_OK; s++) {
        status = walk_sequence(&walk, s, image_token_id, error);
    }
    return status;
}
