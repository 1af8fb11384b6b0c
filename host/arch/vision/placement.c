/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/vision/placement.h"

/* Far larger than any image, and small enough that products of three fit 64 bits. */
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
            return graft_error_set(
                error, GRAFT_ERROR_USAGE, graft_placement_image(args, i)->is_video ? "video" : "image",
                "number %d: its grid of %lld x %lld x %lld patches cannot be divided into squares of %lld", (int)i + 1,
                (long long)grid[0], (long long)grid[1], (long long)grid[2], (long long)merge);
        }
        *tokens += tokens_of(graft_placement_image(args, i), merge);
    }
    return GRAFT_OK;
}

/* The state of one walk over the tokens of a batch. */
struct walk {
    const struct graft_base_model_args *args;
    const struct graft_placement *placement;
    const struct graft_placeholders *placeholders;
    int64_t merge;
    int32_t image;  /* the next image or video */
    int64_t time;   /* frames of `image` (along time) placed so far */
    int64_t filled; /* entries of placement->rows written so far */
    int64_t next;   /* rotary position of the next token */
};

static void put(struct walk *walk, int64_t token, int64_t time, int64_t height, int64_t width) {
    int64_t tokens = walk->args->batch->tokens;
    const int64_t values[3] = {time, height, width};
    for (int32_t i = 0; i < 3; i++) {
        walk->placement->positions[i * tokens + token] = values[i];
    }
}

/* The distance, in positions, from one frame of a video to the next, computed in f32 as the reference does. */
static float time_step(const struct walk *walk, const struct graft_image *image) {
    const double rate = walk->placeholders->time_rate;
    const double seconds = GRAFT_HAS(image, struct graft_image, seconds) ? image->seconds : 0.0;
    return rate < 0.0 || !image->is_video ? 1.0f : (float)rate * (float)(seconds > 0.0 ? seconds : 1.0);
}

/* The number of frames of the next image or video that one run of tokens stands for. */
static int64_t times_of(const struct walk *walk, const struct graft_image *image) {
    return walk->placeholders->by_frame && image->is_video ? 1 : image->grid[0];
}

/* The number of tokens in a run. */
static int64_t run_of(const struct walk *walk, const struct graft_image *image) {
    return tokens_of(image, walk->merge) / image->grid[0] * times_of(walk, image);
}

/* Places a run of tokens that begins at `token`. Rotary positions have time, height and width: start + frame, start +
 * row, start + column. The next token's position is start + the larger side of a frame, however long the video is. */
static void put_run(struct walk *walk, int64_t token, const struct graft_image *image) {
    int64_t height = image->grid[1] / walk->merge;
    int64_t width = image->grid[2] / walk->merge;
    int64_t start = walk->next;
    const float step = time_step(walk, image);
    for (int64_t i = 0; i < run_of(walk, image); i++) {
        const int64_t frame = i / width / height;
        put(walk, token + i, start + (int64_t)((float)frame * step), start + i / width % height, start + i % width);
        walk->placement->rows[walk->filled++] = (int32_t)(token + i);
    }
    walk->next += height > width ? height : width;
    walk->time += times_of(walk, image);
    if (walk->time == image->grid[0]) {
        walk->time = 0;
        walk->image++;
    }
}

/* Whether `id` stands for an image or a video. */
static int32_t is_placeholder(const struct walk *walk, int64_t id) {
    return id == walk->placeholders->image_token_id || id == walk->placeholders->video_token_id;
}

/* Whether the next image or video belongs to this sequence, and a run of its length begins at `token`. */
static int32_t fits(const struct walk *walk, int32_t sequence, int64_t token, int64_t end) {
    if (walk->image == walk->args->n_images || graft_placement_image(walk->args, walk->image)->sequence != sequence) {
        return 0;
    }
    const struct graft_image *image = graft_placement_image(walk->args, walk->image);
    int64_t id = image->is_video ? walk->placeholders->video_token_id : walk->placeholders->image_token_id;
    int64_t count = run_of(walk, image);
    for (int64_t i = 0; i < count; i++) {
        if (token + i >= end || walk->args->input_ids[token + i] != id) {
            return 0;
        }
    }
    return 1;
}

static int mismatch(int32_t sequence, int32_t is_video, struct graft_error *error) {
    const char *kind = is_video ? "video" : "image";
    return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt",
                           "the %s tokens of prompt %d do not match its %ss: expected one run of tokens for each %s, "
                           "with one token per merged patch",
                           kind, (int)sequence + 1, kind, kind);
}

static int walk_sequence(struct walk *walk, int32_t sequence, struct graft_error *error) {
    const struct graft_batch *batch = walk->args->batch;
    int64_t first = batch->cu_seqlens[sequence];
    int64_t end = batch->cu_seqlens[sequence + 1];
    int64_t offset = batch->rotary_offsets != NULL ? batch->rotary_offsets[sequence] : 0;
    int64_t last = end > first ? batch->positions[end - 1] : -1;
    walk->next = end > first ? batch->positions[first] + offset : 0;
    for (int64_t token = first; token < end;) {
        if (walk->args->n_images == 0 || !is_placeholder(walk, walk->args->input_ids[token])) {
            put(walk, token, walk->next, walk->next, walk->next);
            walk->next++;
            token++;
        } else if (fits(walk, sequence, token, end)) {
            const struct graft_image *image = graft_placement_image(walk->args, walk->image);
            put_run(walk, token, image);
            token += run_of(walk, image);
        } else {
            return mismatch(sequence, walk->args->input_ids[token] != walk->placeholders->image_token_id, error);
        }
    }
    if (walk->image < walk->args->n_images && graft_placement_image(walk->args, walk->image)->sequence <= sequence) {
        return mismatch(sequence, graft_placement_image(walk->args, walk->image)->is_video, error);
    }
    if (batch->next_rotary_offsets != NULL && !walk->placeholders->is_plain) {
        batch->next_rotary_offsets[sequence] = end > first ? walk->next - 1 - last : offset;
    }
    return GRAFT_OK;
}

int graft_placement_fill(const struct graft_base_model_args *args, const struct graft_placeholders *placeholders,
                         int64_t merge, const struct graft_placement *placement, struct graft_error *error) {
    struct walk walk = {.args = args, .placement = placement, .placeholders = placeholders, .merge = merge};
    int status = GRAFT_OK;
    for (int32_t s = 0; s < args->batch->sequences && status == GRAFT_OK; s++) {
        status = walk_sequence(&walk, s, error);
    }
    return status;
}
