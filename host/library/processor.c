/* SPDX-License-Identifier: Apache-2.0 */
/* Reads how a model directory wants images and videos to be prepared. This is read while the model is opened, so that
 * unused fields are known; errors are reported only if there are images. */
#include "arch/section.h"
#include "graft/host/image.h"
#include "library/library.h"

enum { MAX_BYTES = 1 << 20 };

static const char *const names[GRAFT_PROCESSOR_FILES] = {"processor_config.json", "preprocessor_config.json",
                                                         "video_preprocessor_config.json"};

/* Where a config may be: in a file of the directory, or in its member `part`. */
struct place {
    int file;
    const char *part;
};

/* Reads the config at a place. `*found` says whether there is one. */
static int read_place(struct graft_model *model, const struct place *place, int32_t is_video,
                      struct graft_processor_config *config, int *found, struct graft_error *error) {
    struct graft_model_file **file = &model->processors.files[place->file];
    static const int32_t kinds[][2] = {
        [GRAFT_VIDEO_WHOLE] = {GRAFT_PROCESSOR_IMAGE, GRAFT_PROCESSOR_VIDEO},
        [GRAFT_VIDEO_SECONDS_BEFORE] = {GRAFT_PROCESSOR_IMAGE, GRAFT_PROCESSOR_COUNTED_VIDEO},
        [GRAFT_VIDEO_SECONDS_AFTER] = {GRAFT_PROCESSOR_GLM_IMAGE, GRAFT_PROCESSOR_GLM_VIDEO},
    };
    const int is_fixed = graft_model_say(model, "image_side", 0) > 0;
    const int32_t kind = is_fixed ? GRAFT_PROCESSOR_CLIP : kinds[graft_model_video_form(model)][is_video != 0];
    struct graft_config_section section;
    int status = *file == NULL ? graft_model_file_read_if_there(model->directory, names[place->file], MAX_BYTES,
                                                                &model->ignored, file, error)
                               : GRAFT_OK;
    if (status != GRAFT_OK || *file == NULL ||
        (place->part != NULL && !graft_config_has(&(*file)->view, place->part))) {
        return status;
    }
    *found = 1;
    model->processors.is_used[place->file] = 1;
    if (place->part == NULL) {
        return graft_processor_config_read(&(*file)->view, kind, config, error);
    }
    status = graft_config_section(&(*file)->view, place->part, &section, error);
    return status == GRAFT_OK ? graft_processor_config_read(&section.view, kind, config, error) : status;
}

/* Searches the places in the order in which transformers does. */
static int find_config(struct graft_model *model, int32_t is_video, struct graft_processor_config *config,
                       struct graft_error *error) {
    static const struct place image[] = {{0, "image_processor"}, {1, NULL}, {-1, NULL}};
    static const struct place video[] = {{0, "video_processor"}, {2, NULL}, {1, NULL}, {-1, NULL}};
    const struct place *place = is_video ? video : image;
    int found = 0;
    int status = GRAFT_OK;
    for (; place->file >= 0 && status == GRAFT_OK && !found; place++) {
        status = read_place(model, place, is_video, config, &found, error);
    }
    if (status == GRAFT_OK && !found) {
        status = graft_error_set(
            error, GRAFT_ERROR_MODEL, model->directory, "has no %s, which says how %s are prepared",
            is_video ? "video_preprocessor_config.json or preprocessor_config.json" : "preprocessor_config.json",
            is_video ? "videos" : "images");
    }
    return status;
}

int graft_model_read_processors(struct graft_model *model, struct graft_error *error) {
    const int32_t ids[] = {graft_model_image_token_id(model), graft_model_video_token_id(model)};
    for (int32_t i = 0; i < 2; i++) {
        struct graft_model_processor *processor = &model->processors.of[i];
        processor->error = graft_error_none();
        if (ids[i] >= 0 && find_config(model, i, &processor->config, &processor->error) == GRAFT_ERROR_INTERNAL) {
            *error = processor->error;
            return GRAFT_ERROR_INTERNAL;
        }
    }
    return GRAFT_OK;
}

const char *graft_model_processor_file(const struct graft_model *model, size_t i) {
    return i < GRAFT_PROCESSOR_FILES && model->processors.is_used[i] &&
                   model->processors.of[0].error.code == GRAFT_OK && model->processors.of[1].error.code == GRAFT_OK
               ? names[i]
               : NULL;
}

void graft_model_processors_finish(struct graft_model *model) {
    for (size_t i = 0; i < GRAFT_PROCESSOR_FILES; i++) {
        graft_model_file_free(model->processors.files[i]);
    }
}
