/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a fusion_config. */
#include "base/alloc.h"
#include "base/fail.h"
#include "registry/fusion.h"

static void add_known(const struct graft_snapshot *snapshot, struct graft_text *text) {
    const struct graft_known_fusion *known;
    for (size_t i = 0; (known = graft_snapshot_fusion_at(snapshot, i)) != NULL; i++) {
        graft_text_printf(text, "%s%s", i > 0 ? ", " : "", graft_fusion_family_of(known)->name);
    }
    if (text->length == 0) {
        graft_text_add_string(text, "none (plugins bring them)");
    }
}

static int unknown(const struct graft_snapshot *snapshot, const char *name, const struct graft_fusion_source *source,
                   struct graft_error *error) {
    struct graft_text names = {0};
    add_known(snapshot, &names);
    int status = names.failed
                     ? graft_fail_memory(error, source->name)
                     : graft_error_set(error, source->code, source->name,
                                       "fusion_config: there is no fusion family \"%s\"; known: %s", name, names.bytes);
    graft_error_hint(error, "load the plugin that provides it, or turn fusion off: fusion_config {}");
    graft_text_free(&names);
    return status;
}

/* Whether a value asks for the family: 1 for true or an object, 0 for false, -1 for any other value. */
static int is_wanted(const graft_json *value) {
    switch (graft_json_type(value)) {
    case GRAFT_JSON_BOOL:
        return graft_json_bool(value);
    case GRAFT_JSON_OBJECT:
        return 1;
    default:
        return -1;
    }
}

static int bad_value(const struct graft_snapshot *snapshot, const char *name, const graft_json *value,
                     const struct graft_fusion_source *source, struct graft_error *error) {
    struct graft_text names = {0};
    add_known(snapshot, &names);
    int status =
        names.failed
            ? graft_fail_memory(error, source->name)
            : graft_error_set(error, source->code, source->name,
                              "fusion_config.%s: expected true, false or an object of options, got %s; known: %s", name,
                              graft_json_type_name(value), names.bytes);
    graft_text_free(&names);
    return status;
}

static int read_member(const struct graft_snapshot *snapshot, const char *name, const graft_json *value,
                       const struct graft_fusion_source *source, struct graft_fusion_request *request,
                       struct graft_error *error) {
    const struct graft_known_fusion *known = graft_snapshot_fusion(snapshot, name);
    int wanted = is_wanted(value);
    if (known == NULL) {
        return unknown(snapshot, name, source, error);
    }
    if (wanted < 0) {
        return bad_value(snapshot, name, value, source, error);
    }
    if (wanted) {
        const graft_json *options = graft_json_type(value) == GRAFT_JSON_OBJECT ? value : NULL;
        request->choices[request->n++] = (struct graft_fusion_choice){known, options};
    }
    return GRAFT_OK;
}

int graft_fusion_request_read(const struct graft_snapshot *snapshot, const graft_json *fusion_config,
                              const struct graft_fusion_source *source, struct graft_fusion_request *request,
                              struct graft_error *error) {
    void *iterator = NULL;
    const char *name = NULL;
    const graft_json *value = NULL;
    enum graft_json_type type = graft_json_type(fusion_config);
    int status = GRAFT_OK;
    *request = (struct graft_fusion_request){0};
    if (type == GRAFT_JSON_ABSENT || type == GRAFT_JSON_NULL) {
        return GRAFT_OK;
    }
    if (type != GRAFT_JSON_OBJECT) {
        return graft_error_set(error, source->code, source->name,
                               "fusion_config: expected an object of fusion families, got %s",
                               graft_json_type_name(fusion_config));
    }
    request->choices = graft_alloc(graft_json_size(fusion_config) + 1, sizeof *request->choices);
    if (request->choices == NULL) {
        return graft_fail_memory(error, source->name);
    }
    while (status == GRAFT_OK && graft_json_next(fusion_config, &iterator, &name, &value)) {
        status = read_member(snapshot, name, value, source, request, error);
    }
    return status;
}

void graft_fusion_request_finish(struct graft_fusion_request *request) {
    graft_free(request->choices);
    *request = (struct graft_fusion_request){0};
}
