/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens that take the place of an image or a video in a prompt. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "graft/host/image.h"
#include "graft/host/tokenizer.h"
#include "library/library.h"

int graft_model_videos_by_frame(const struct graft_model *model) {
    return graft_model_say(model, "video_by_frame", 0) != 0;
}

static void add_run(int32_t id, int64_t count, struct graft_ids *ids) {
    for (int64_t i = 0; i < count; i++) {
        graft_ids_add(ids, id);
    }
}

/* The mean time, in seconds, of the frames in temporal patch `patch` of a video; `each` is the number of frames in a
 * patch. */
static double time_of(const struct graft_image *video, int64_t each, int64_t patch) {
    const double seconds = GRAFT_HAS(video, struct graft_image, seconds) ? video->seconds : 0.0;
    const int64_t given = GRAFT_HAS(video, struct graft_image, frames) ? video->frames : 0;
    const int64_t last_frame = (given > 0 ? given : video->grid[0] * each) - 1;
    const double rate = (double)each / (seconds > 0.0 ? seconds : 1.0);
    const int64_t first = patch * each, last = first + each - 1 < last_frame ? first + each - 1 : last_frame;
    return ((double)first / rate + (double)last / rate) / 2.0;
}

/* The tokens around each frame, as the reference's processors write them. */
struct marks {
    int32_t start;
    int32_t end;
};

static int find_marks(const struct graft_tokenizer *tokenizer, struct marks *marks, struct graft_error *error) {
    static const char start[] = "<|vision_start|>", end[] = "<|vision_end|>";
    *marks = (struct marks){tokenizer != NULL ? graft_tokenizer_id(tokenizer, start) : -1,
                            tokenizer != NULL ? graft_tokenizer_id(tokenizer, end) : -1};
    return marks->start >= 0 && marks->end >= 0
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_USAGE, "video",
                                 "the times of its frames need a tokenizer with the tokens %s and %s", start, end);
}

static int add_frames(const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                      const struct graft_image *video, int64_t tokens, struct graft_ids *ids,
                      struct graft_error *error) {
    const int64_t each = graft_model_say(model, "temporal_patch_size", 1);
    struct marks marks;
    int status = find_marks(tokenizer, &marks, error);
    for (int64_t i = 0; i < video->grid[0] && status == GRAFT_OK; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "<%.1f seconds>", time_of(video, each, i));
        status = graft_tokenizer_encode(tokenizer, text, strlen(text), 0, ids, error);
        graft_ids_add(ids, marks.start);
        add_run(graft_model_video_token_id(model), tokens / video->grid[0], ids);
        graft_ids_add(ids, marks.end);
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
