/* SPDX-License-Identifier: Apache-2.0 */
/* Inserts the tokens of an image or a video into a prompt, in place of its placeholder. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "graft/host/image.h"
#include "graft/host/tokenizer.h"
#include "library/library.h"

int32_t graft_model_video_form(const struct graft_model *model) {
    const int64_t form = graft_model_say(model, "video_by_frame", GRAFT_VIDEO_WHOLE);
    return form >= GRAFT_VIDEO_WHOLE && form <= GRAFT_VIDEO_SECONDS_AFTER ? (int32_t)form : GRAFT_VIDEO_SECONDS_BEFORE;
}

int graft_model_videos_by_frame(const struct graft_model *model) {
    return graft_model_video_form(model) != GRAFT_VIDEO_WHOLE;
}

static void add_run(int32_t id, int64_t count, struct graft_ids *ids) {
    for (int64_t i = 0; i < count; i++) {
        graft_ids_add(ids, id);
    }
}

/* The times, in seconds, of the first frame in temporal patch `patch` of a video and of the last one that is not
 * repeated; `each` is the number of frames in a patch. */
static void times_of(const struct graft_image *video, int64_t each, int64_t patch, double times[2]) {
    const double seconds = GRAFT_HAS(video, struct graft_image, seconds) ? video->seconds : 0.0;
    const int64_t given = GRAFT_HAS(video, struct graft_image, frames) ? video->frames : 0;
    const int64_t last_frame = (given > 0 ? given : video->grid[0] * each) - 1;
    const double rate = (double)each / (seconds > 0.0 ? seconds : 1.0);
    const int64_t first = patch * each, last = first + each - 1 < last_frame ? first + each - 1 : last_frame;
    times[0] = (double)first / rate;
    times[1] = (double)last / rate;
}

/* The tokens around each frame, as the reference's processors write them. */
struct marks {
    int32_t start;
    int32_t end;
};

static int find_marks(const struct graft_tokenizer *tokenizer, int32_t form, struct marks *marks,
                      struct graft_error *error) {
    static const char *const names[][2] = {
        [GRAFT_VIDEO_SECONDS_BEFORE] = {"<|vision_start|>", "<|vision_end|>"},
        [GRAFT_VIDEO_SECONDS_AFTER] = {"<|begin_of_image|>", "<|end_of_image|>"},
    };
    const char *start = names[form][0], *end = names[form][1];
    *marks = (struct marks){tokenizer != NULL ? graft_tokenizer_id(tokenizer, start) : -1,
                            tokenizer != NULL ? graft_tokenizer_id(tokenizer, end) : -1};
    return marks->start >= 0 && marks->end >= 0
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_USAGE, "video",
                                 "the times of its frames need a tokenizer with the tokens %s and %s", start, end);
}

static int add_text(const struct graft_tokenizer *tokenizer, const char *text, struct graft_ids *ids,
                    struct graft_error *error) {
    return graft_tokenizer_encode(tokenizer, text, strlen(text), 0, ids, error);
}

static int add_frames(const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                      const struct graft_image *video, int64_t tokens, struct graft_ids *ids,
                      struct graft_error *error) {
    const int64_t each = graft_model_say(model, "temporal_patch_size", 1);
    const int32_t form = graft_model_video_form(model);
    const int after = form == GRAFT_VIDEO_SECONDS_AFTER;
    const int32_t id = after ? graft_model_image_token_id(model) : graft_model_video_token_id(model);
    struct marks marks;
    int status = find_marks(tokenizer, form, &marks, error);
    for (int64_t i = 0; i < video->grid[0] && status == GRAFT_OK; i++) {
        char text[64];
        double times[2];
        times_of(video, each, i, times);
        if (after) {
            (void)snprintf(text, sizeof text, "%.0f", floor(times[0]));
        } else {
            (void)snprintf(text, sizeof text, "<%.1f seconds>", (times[0] + times[1]) / 2.0);
            status = add_text(tokenizer, text, ids, error);
        }
        graft_ids_add(ids, marks.start);
        add_run(id, tokens / video->grid[0], ids);
        graft_ids_add(ids, marks.end);
        if (after && status == GRAFT_OK) {
            status = add_text(tokenizer, text, ids, error);
        }
    }
    return status;
}

int graft_model_image_ids(const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                          const struct graft_image *image, struct graft_ids *ids, struct graft_error *error) {
    const int64_t tokens = graft_model_image_tokens(model, image);
    if (image->is_video && graft_model_videos_by_frame(model)) {
        return add_frames(model, tokenizer, image, tokens, ids, error);
    }
    add_run(image->is_video ? graft_model_video_token_id(model) : graft_model_image_token_id(model), tokens, ids);
    return GRAFT_OK;
}

/* --- A whole prompt --- */

/* Which token an image or a video has as its placeholder. */
static int32_t token_of(const struct graft_model *model, int32_t is_video) {
    return is_video ? graft_model_video_token_id(model) : graft_model_image_token_id(model);
}

static int is_placeholder(const struct graft_model *model, int32_t id) {
    return id >= 0 && (id == token_of(model, 0) || id == token_of(model, 1));
}

static size_t run_length(const struct graft_ids *ids, size_t at) {
    size_t length = 1;
    while (at + length < ids->n && ids->ids[at + length] == ids->ids[at]) {
        length++;
    }
    return length;
}

/* Adds what takes the place of a run of `length` tokens `id`, which stands for image number `i`. The run has one token,
 * or already as many as the image takes; for a video whose frames the model separates, only one. */
static int place(const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                 const struct graft_image *image, size_t i, int32_t id, size_t length, struct graft_ids *to,
                 struct graft_error *error) {
    const char *name = image->is_video ? "video" : "image";
    const int64_t tokens = graft_model_image_tokens(model, image);
    const int by_frame = image->is_video && graft_model_videos_by_frame(model);
    if (id != token_of(model, image->is_video)) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt",
                               "placeholder %zu is not for %s, which is given for it", i + 1,
                               image->is_video ? "a video" : "an image");
    }
    if (tokens < 1 || (length != 1 && (by_frame || length != (size_t)tokens))) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt",
                               "%s %zu needs %lld %s tokens, but its placeholder in the prompt has %zu", name, i + 1,
                               (long long)tokens, name, length);
    }
    return graft_model_image_ids(model, tokenizer, image, to, error);
}

int graft_model_place_images(const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                             const struct graft_image *images, size_t n, struct graft_ids *ids,
                             struct graft_error *error) {
    struct graft_ids to = {0};
    size_t placed = 0;
    int status = graft_check_structs(images, n, GRAFT_IMAGE_SIZE_1_0, "struct graft_image", error);
    if (status == GRAFT_OK && n > 0) {
        status = graft_model_prepare_prompt(model, tokenizer, ids, error);
    }
    for (size_t at = 0; at < ids->n && status == GRAFT_OK;) {
        const int32_t id = ids->ids[at];
        const size_t length = is_placeholder(model, id) ? run_length(ids, at) : 1;
        if (!is_placeholder(model, id)) {
            graft_ids_add(&to, id);
        } else if (placed++ < n) {
            status = place(model, tokenizer, graft_struct_at(images, placed - 1), placed - 1, id, length, &to, error);
        }
        at += length;
    }
    if (status == GRAFT_OK && placed != n) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, "prompt",
                                 "got %zu images and videos, but the prompt has placeholders for %zu", n, placed);
    }
    if (status == GRAFT_OK && to.failed) {
        status = graft_fail_memory(error, "prompt");
    }
    if (status == GRAFT_OK) {
        graft_ids_free(ids);
        *ids = to;
    } else {
        graft_ids_free(&to);
    }
    return status;
}
