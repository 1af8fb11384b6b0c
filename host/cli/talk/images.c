/* SPDX-License-Identifier: Apache-2.0 */
/* Images of a conversation. Messages contain the paths of their files, so that a saved conversation can be loaded with
 * its images. */
#include <string.h>

#include "base/alloc.h"
#include "cli/talk/talk.h"

static int read_image(struct graft_talk *talk, const char *file, struct graft_error *error) {
    struct graft_image_processor *processor = NULL;
    if (graft_model_image_token_id(talk->model) < 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "/image", "this model takes no images");
    }
    if (graft_grow(&talk->images, &talk->images_capacity, talk->n_images, sizeof *talk->images) != 0) {
        return graft_fail_memory(error, file);
    }
    struct graft_image *image = &talk->images[talk->n_images];
    *image = (struct graft_image){.struct_size = sizeof *image};
    int status = graft_image_processor_open(talk->model, &processor, error);
    if (status == GRAFT_OK) {
        status = graft_image_processor_read(processor, file, image, error);
    }
    talk->n_images += status == GRAFT_OK;
    graft_image_processor_free(processor);
    return status;
}

int graft_talk_add_image(struct graft_talk *talk, const char *file, struct graft_error *error) {
    int status = read_image(talk, file, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (talk->next_parts == NULL) {
        talk->next_parts = graft_json_new_array();
    }
    graft_json *part = graft_json_new_object();
    if (graft_json_set_take(part, "type", graft_json_new_string("image")) != 0 ||
        graft_json_set_take(part, "path", graft_json_new_string(file)) != 0) {
        graft_json_free(part);
        return graft_fail_memory(error, file);
    }
    return graft_json_append_take(talk->next_parts, part) == 0 ? GRAFT_OK : graft_fail_memory(error, file);
}

void graft_talk_drop_images(struct graft_talk *talk) {
    for (size_t i = 0; i < talk->n_images; i++) {
        graft_image_finish(&talk->images[i]);
    }
    talk->n_images = 0;
    graft_json_free(talk->next_parts);
    talk->next_parts = NULL;
}

int graft_talk_take_messages(struct graft_talk *talk, graft_json *messages_take, struct graft_error *error) {
    int status = GRAFT_OK;
    graft_talk_drop_images(talk);
    graft_json_free(talk->messages);
    talk->messages = messages_take;
    for (size_t i = 0; i < graft_json_size(talk->messages) && status == GRAFT_OK; i++) {
        const graft_json *content = graft_json_get(graft_json_at(talk->messages, i), "content");
        for (size_t k = 0; graft_json_type(content) == GRAFT_JSON_ARRAY && k < graft_json_size(content); k++) {
            const graft_json *part = graft_json_at(content, k);
            const char *type = graft_json_string(graft_json_get(part, "type"), NULL);
            const char *path = graft_json_string(graft_json_get(part, "path"), NULL);
            if (type == NULL || strcmp(type, "image") != 0 || status != GRAFT_OK) {
                continue;
            }
            status = path != NULL ? read_image(talk, path, error)
                                  : graft_error_set(error, GRAFT_ERROR_USAGE, "messages",
                                                    "message %zu has an image without a \"path\"", i + 1);
        }
    }
    return status;
}
