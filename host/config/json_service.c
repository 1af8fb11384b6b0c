/* SPDX-License-Identifier: Apache-2.0 */
#include "config/json_service.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "config/config.h"

struct read_text {
    struct graft_config view; /* the view that the caller gets */
    graft_json *document;
    char *source;
};

static void free_text(struct read_text *text) {
    if (text != NULL) {
        graft_json_free(text->document);
        graft_free(text->source);
        graft_free(text);
    }
}

static void free_config(const struct graft_config *config) {
    free_text((struct read_text *)(uintptr_t)config);
}

static const struct graft_config *read_config(const char *text, int64_t length, const char *source,
                                              struct graft_error *error) {
    struct read_text *result = graft_alloc(1, sizeof *result);
    int status =
        result != NULL && (result->source = graft_strdup(source)) != NULL ? GRAFT_OK : graft_fail_memory(error, source);
    if (status == GRAFT_OK) {
        status = graft_json_parse(text, length > 0 ? (size_t)length : 0, source, &result->document, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_check_document(result->document, source, error);
    }
    if (status != GRAFT_OK) {
        free_text(result);
        return NULL;
    }
    result->view = graft_config_view(result->document, result->source);
    return &result->view;
}

const struct graft_json_service *graft_json_service_get(void) {
    static const struct graft_json_service service = {
        .struct_size = sizeof service, .read = read_config, .free = free_config};
    return &service;
}
