/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/message_images.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/data_url.h"
#include "base/fail.h"

static int is_type(const graft_json *part, const char *type) {
    const char *found = graft_json_string(graft_json_get(part, "type"), NULL);
    return found != NULL && strcmp(found, type) == 0;
}

static int is_picture(const graft_json *part) {
    return is_type(part, "image") || is_type(part, "video");
}

static int read_video(const struct graft_model *model, const char *directory, struct graft_image *video,
                      struct graft_error *error) {
    struct graft_video_processor *processor = NULL;
    int status = graft_video_processor_open(model, &processor, error);
    if (status == GRAFT_OK) {
        status = graft_video_processor_read(processor, directory, video, error);
    }
    graft_video_processor_free(processor);
    return status;
}

/* Reads the image in a file or, if `path` is NULL, in a data: URL. */
static int read_image(const struct graft_model *model, const char *path, const graft_json *url, size_t i,
                      struct graft_image *image, struct graft_error *error) {
    struct graft_image_processor *processor = NULL;
    struct graft_text bytes = {0};
    char source[48];
    size_t length = 0;
    const char *text = graft_json_string(url, &length);
    (void)snprintf(source, sizeof source, "message %zu", i + 1);
    int status = graft_image_processor_open(model, &processor, error);
    if (status == GRAFT_OK && path != NULL) {
        status = graft_image_processor_read(processor, path, image, error);
    } else if (status == GRAFT_OK) {
        status = graft_data_url_decode(text, length, source, &bytes, error);
        if (status == GRAFT_OK) {
            status = graft_image_processor_decode(processor, bytes.bytes, bytes.length, source, image, error);
        }
    }
    graft_text_free(&bytes);
    graft_image_processor_free(processor);
    return status;
}

int graft_message_images_add(const struct graft_model *model, const graft_json *part, size_t i,
                             struct graft_message_images *images, struct graft_error *error) {
    const int is_video = is_type(part, "video");
    const char *name = is_video ? "video" : "image";
    const char *path = graft_json_string(graft_json_get(part, "path"), NULL);
    const graft_json *url = is_video ? NULL : graft_json_get(part, "url");
    if ((is_video ? graft_model_video_token_id(model) : graft_model_image_token_id(model)) < 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "messages", "this model takes no %ss", name);
    }
    if (path == NULL && graft_json_string(url, NULL) == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "messages", "message %zu has %s without a \"path\"", i + 1,
                               is_video ? "a video" : "an image");
    }
    if (graft_grow(&images->items, &images->capacity, images->n, sizeof *images->items) != 0) {
        return graft_fail_memory(error, "messages");
    }
    struct graft_image *image = &images->items[images->n];
    *image = (struct graft_image){.struct_size = sizeof *image};
    int status = is_video ? read_video(model, path, image, error) : read_image(model, path, url, i, image, error);
    images->n += status == GRAFT_OK;
    return status;
}

/* The parts of message number `i`; NULL if its content is a text. */
static const graft_json *parts_of(const graft_json *messages, size_t i) {
    const graft_json *content = graft_json_get(graft_json_at(messages, i), "content");
    return graft_json_type(content) == GRAFT_JSON_ARRAY ? content : NULL;
}

int graft_message_images_are_named(const graft_json *messages) {
    for (size_t i = 0; i < graft_json_size(messages); i++) {
        const graft_json *parts = parts_of(messages, i);
        for (size_t k = 0; k < graft_json_size(parts); k++) {
            const graft_json *part = graft_json_at(parts, k);
            if (is_picture(part) && (graft_json_get(part, "path") != NULL || graft_json_get(part, "url") != NULL)) {
                return 1;
            }
        }
    }
    return 0;
}

int graft_message_images_read(const struct graft_model *model, const graft_json *messages,
                              struct graft_message_images *images, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < graft_json_size(messages); i++) {
        const graft_json *parts = parts_of(messages, i);
        for (size_t k = 0; k < graft_json_size(parts) && status == GRAFT_OK; k++) {
            const graft_json *part = graft_json_at(parts, k);
            status = is_picture(part) ? graft_message_images_add(model, part, i, images, error) : GRAFT_OK;
        }
    }
    return status;
}

void graft_message_images_free(struct graft_message_images *images) {
    for (size_t i = 0; i < images->n; i++) {
        graft_image_finish(&images->items[i]);
    }
    graft_free(images->items);
    *images = (struct graft_message_images){0};
}
