/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares videos from frames in files of a directory, or in memory. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "graft/host/image.h"
#include "image/decode.h"
#include "image/frames.h"
#include "image/processor.h"
#include "library/library.h"

struct graft_video_processor {
    struct graft_processor_config config;
};

int graft_video_processor_open(const struct graft_model *model, struct graft_video_processor **processor,
                               struct graft_error *error) {
    struct graft_processor_config config;
    *processor = NULL;
    int status = graft_model_read_processor(model, 1, &config, error);
    if (status == GRAFT_OK) {
        *processor = graft_alloc(1, sizeof **processor);
        status = *processor != NULL ? GRAFT_OK : graft_fail_memory(error, model->directory);
    }
    if (status == GRAFT_OK) {
        (*processor)->config = config;
    }
    return status;
}

void graft_video_processor_free(struct graft_video_processor *processor) {
    graft_free(processor);
}

static int read_file(void *data, size_t i, struct graft_pixels *pixels, const char **source,
                     struct graft_error *error) {
    const struct graft_frame_files *files = data;
    *source = files->paths[i];
    return graft_pixels_read(files->paths[i], pixels, error);
}

int graft_video_processor_read(const struct graft_video_processor *processor, const char *directory,
                               struct graft_image *video, struct graft_error *error) {
    struct graft_frame_files files;
    struct graft_image made = {.struct_size = sizeof made};
    int status = graft_check_given(video, GRAFT_IMAGE_SIZE_1_0, "struct graft_image", error);
    if (status != GRAFT_OK) {
        return status;
    }
    status = graft_frame_files_find(directory, &files, error);
    if (status == GRAFT_OK) {
        const struct graft_frames frames = {files.count, read_file, &files};
        status = graft_process_frames(&processor->config, &frames, directory, &made, error);
    }
    graft_frame_files_finish(&files);
    return graft_image_give(status, &made, video);
}

/* Frames in memory, one after another. */
struct memory {
    const uint8_t *rgb; /* [frames, height, width, 3] */
    int64_t width;
    int64_t height;
};

static int read_memory(void *data, size_t i, struct graft_pixels *pixels, const char **source,
                       struct graft_error *error) {
    const struct memory *memory = data;
    int status = graft_pixels_init(pixels, memory->width, memory->height, *source, error);
    if (status == GRAFT_OK) {
        size_t bytes = (size_t)(memory->width * memory->height) * 3;
        memcpy(pixels->rgb, memory->rgb + i * bytes, bytes);
    }
    return status;
}

int graft_video_processor_rgb(const struct graft_video_processor *processor, const uint8_t *rgb, size_t frames,
                              int64_t width, int64_t height, struct graft_image *video, struct graft_error *error) {
    struct memory memory = {rgb, width, height};
    const struct graft_frames from = {frames, read_memory, &memory};
    struct graft_error cause = graft_error_none();
    struct graft_image made;
    int status = graft_check_given(video, GRAFT_IMAGE_SIZE_1_0, "struct graft_image", error);
    if (status != GRAFT_OK) {
        return status;
    }
    status = graft_process_frames(&processor->config, &from, "video", &made, &cause);
    return graft_image_give(graft_fail_pixels(status, &cause, error), &made, video);
}
