/* SPDX-License-Identifier: Apache-2.0 */
/* Images of a chat: parts of messages that hold a PNG or JPEG as a data: URL. Nothing is fetched from elsewhere. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/data_url.h"
#include "graft/host/image.h"
#include "graft/host/model.h"
#include "serve/request.h"

/* The images read so far. */
struct gathering {
    struct graft_request *request;
    const struct graft_model *model;
    struct graft_image_processor **processor;
    size_t capacity;
    int64_t tokens;
    struct graft_fault *fault;
};

/* Where a part is, for messages: "messages[0].content[1]". */
struct place {
    char name[64];
};

static int refuse(const struct gathering *to, const struct place *place, const char *code, const char *member,
                  const char *message) {
    char name[96];
    (void)snprintf(name, sizeof name, "%s%s", place->name, member);
    return graft_fault_set(to->fault, 400, code, name, "%s: %s", name, message);
}

/* A fault from the library's error, with the place in its message. */
static int fail(const struct gathering *to, const struct place *place, const char *member,
                const struct graft_error *error) {
    struct graft_fault cause = {0};
    char name[96];
    (void)snprintf(name, sizeof name, "%s%s", place->name, member);
    (void)graft_fault_from_error(&cause, error, name);
    return graft_fault_set(to->fault, cause.http, cause.code, name, "%s: %s", name, cause.message);
}

/* Adds an image, if there is room for its tokens. */
static int add_image(struct gathering *to, const struct place *place, const struct graft_text *bytes) {
    struct graft_request *request = to->request;
    struct graft_error error = graft_error_none();
    const int64_t positions = graft_model_max_positions(to->model);
    if (*to->processor == NULL && graft_image_processor_open(to->model, to->processor, &error) != GRAFT_OK) {
        return graft_fault_from_error(to->fault, &error, place->name);
    }
    if (graft_grow(&request->images, &to->capacity, request->n_images, sizeof *request->images) != 0) {
        return graft_fault_memory(to->fault);
    }
    struct graft_image *image = &request->images[request->n_images];
    *image = (struct graft_image){.struct_size = sizeof *image};
    if (graft_image_processor_decode(*to->processor, bytes->bytes, bytes->length, place->name, image, &error) !=
        GRAFT_OK) {
        return fail(to, place, "", &error);
    }
    request->n_images++;
    to->tokens += graft_model_image_tokens(to->model, image);
    request->image_bytes +=
        image->grid[0] * image->grid[1] * image->grid[2] * image->patch_dim * (int64_t)sizeof *image->pixel_values;
    if (positions > 0 && to->tokens > positions) {
        return graft_fault_set(to->fault, 400, "invalid_value", place->name,
                               "%s: the images have more tokens than the model has positions for: %lld of %lld",
                               place->name, (long long)to->tokens, (long long)positions);
    }
    return 0;
}

/* Checks {"url": URL, "detail": ...}: there is only one degree of detail, that of the model's processor. */
static int read_url(const struct gathering *to, const struct place *place, const graft_json *image,
                    struct graft_text *bytes) {
    static const char *const keys[] = {"url", "detail", NULL};
    const graft_json *detail = graft_json_get(image, "detail");
    const char *degree = graft_json_string(detail, NULL);
    const char *other = graft_json_other_key(image, keys);
    size_t length = 0;
    struct graft_error error = graft_error_none();
    const char *url = graft_json_string(graft_json_get(image, "url"), &length);
    if (url == NULL) {
        return refuse(to, place, "invalid_type", ".image_url", "expected an object with \"url\", a string");
    }
    if (other != NULL) {
        return graft_fault_set(to->fault, 400, "unknown_parameter", place->name,
                               "%s.image_url: there is no member \"%.60s\"", place->name, other);
    }
    if (graft_json_type(detail) > GRAFT_JSON_NULL &&
        (degree == NULL || (strcmp(degree, "auto") != 0 && strcmp(degree, "high") != 0))) {
        return refuse(to, place, "unsupported_value", ".image_url.detail",
                      "expected \"auto\" or \"high\": images are read as the model's processor reads them");
    }
    return graft_data_url_decode(url, length, place->name, bytes, &error) == GRAFT_OK
               ? 0
               : fail(to, place, ".image_url.url", &error);
}

/* Reads an image and leaves {"type": "image"} in its place, which is what templates look for. */
static int read_image(struct gathering *to, const struct place *place, graft_json *part) {
    struct graft_text bytes = {0};
    if (to->model == NULL || graft_model_image_token_id(to->model) < 0) {
        return refuse(to, place, "unsupported_value", ".type", "the model takes no images");
    }
    if (to->request->n_images == GRAFT_REQUEST_MAX_IMAGES) {
        return graft_fault_set(to->fault, 400, "invalid_value", place->name, "%s: expected at most %d images",
                               place->name, GRAFT_REQUEST_MAX_IMAGES);
    }
    int failed =
        read_url(to, place, graft_json_get(part, "image_url"), &bytes) != 0 || add_image(to, place, &bytes) != 0;
    graft_text_free(&bytes);
    if (failed) {
        return -1;
    }
    graft_json_free(graft_json_detach(part, "image_url"));
    return graft_json_set_take(part, "type", graft_json_new_string("image")) == 0 ? 0 : graft_fault_memory(to->fault);
}

static int read_part(struct gathering *to, const struct place *place, graft_json *part) {
    const char *type = graft_json_string(graft_json_get(part, "type"), NULL);
    char message[128];
    if (type != NULL && strcmp(type, "text") == 0) {
        return graft_json_string(graft_json_get(part, "text"), NULL) != NULL
                   ? 0
                   : refuse(to, place, "invalid_type", ".text", "expected a string");
    }
    if (type != NULL && strcmp(type, "image_url") == 0) {
        return read_image(to, place, part);
    }
    (void)snprintf(message, sizeof message, "expected \"text\" or \"image_url\", got \"%.60s\"",
                   type != NULL ? type : "");
    return refuse(to, place, "unsupported_value", ".type", message);
}

int graft_request_has_images(const struct graft_request *request) {
    for (size_t i = 0; i < graft_json_size(request->messages); i++) {
        const graft_json *content = graft_json_get(graft_json_at(request->messages, i), "content");
        const size_t n = graft_json_type(content) == GRAFT_JSON_ARRAY ? graft_json_size(content) : 0;
        for (size_t j = 0; j < n; j++) {
            if (graft_json_get(graft_json_at(content, j), "image_url") != NULL) {
                return 1;
            }
        }
    }
    return 0;
}

int graft_request_read_images(struct graft_request *request, const struct graft_model *model,
                              struct graft_image_processor **processor, struct graft_fault *fault) {
    struct gathering to = {.request = request, .model = model, .processor = processor, .fault = fault};
    for (size_t i = 0; i < graft_json_size(request->messages); i++) {
        const graft_json *content = graft_json_get(graft_json_at(request->messages, i), "content");
        const size_t n = graft_json_type(content) == GRAFT_JSON_ARRAY ? graft_json_size(content) : 0;
        for (size_t j = 0; j < n; j++) {
            struct place place;
            (void)snprintf(place.name, sizeof place.name, "messages[%zu].content[%zu]", i, j);
            if (read_part(&to, &place, (graft_json *)graft_json_at(content, j)) != 0) {
                return -1;
            }
        }
    }
    return 0;
}
