/* SPDX-License-Identifier: Apache-2.0 */
/* What a model directory says about generating. */
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "config/config.h"
#include "generate/fields.h"
#include "generate/generate.h"

enum { MAX_FILE_BYTES = 1 << 20 };

/* An id, or an array of ids; the first document that says anything is heard. */
static int read_eos(const struct graft_config *document, struct graft_generation_settings *settings,
                    struct graft_error *error) {
    return settings->eos.n == 0
               ? graft_generation_read_ids(document, "eos_token_id", &settings->eos, settings->fields, error)
               : GRAFT_OK;
}

static int read_fields(const struct graft_config *document, struct graft_generation_settings *settings,
                       struct graft_error *error) {
    return graft_generation_read_fields(document, &settings->generation, settings->fields, error);
}

/* Reads generation_config.json; `*is_there` is 0 if there is none. */
static int read_file(const char *directory, struct graft_generation_settings *settings, int *is_there,
                     struct graft_error *error) {
    graft_json *document = NULL;
    char *file = graft_path_join(directory, "generation_config.json");
    int status = file != NULL ? GRAFT_OK : graft_fail_memory(error, directory);
    *is_there = file != NULL && graft_file_exists(file);
    if (*is_there) {
        char *name = graft_generation_fields_alloc(settings->fields, strlen(file) + 1, 1);
        settings->file = name != NULL ? strcpy(name, file) : settings->file;
    }
    if (*is_there) {
        status = graft_json_read(file, MAX_FILE_BYTES, &document, error);
    }
    if (*is_there && status == GRAFT_OK) {
        status = graft_config_check_document(document, file, error);
    }
    if (*is_there && status == GRAFT_OK) {
        const struct graft_config view = graft_config_view(document, file);
        status = read_eos(&view, settings, error);
        status = status == GRAFT_OK ? read_fields(&view, settings, error) : status;
    }
    graft_json_free(document);
    graft_free(file);
    return status;
}

/* Without a generation_config.json the reference looks for its fields in config.json, as older files have them, and for
 * those that are lacking there in its text_config. The end of a sequence is looked for there either way: a model that
 * never ends is nobody's wish. */
static int read_config(const graft_json *config, int is_there, struct graft_generation_settings *settings,
                       struct graft_error *error) {
    const struct graft_config whole = graft_config_view(config, "config.json");
    const struct graft_config text = graft_config_view(graft_json_get(config, "text_config"), "config.json");
    int status = read_eos(&whole, settings, error);
    if (status == GRAFT_OK) {
        status = read_eos(&text, settings, error);
    }
    if (status == GRAFT_OK && !is_there) {
        status = read_fields(&text, settings, error);
    }
    return status == GRAFT_OK && !is_there ? read_fields(&whole, settings, error) : status;
}

int graft_generation_settings_read(const char *directory, const graft_json *config,
                                   struct graft_generation_settings *settings, struct graft_error *error) {
    int is_there = 0;
    *settings = (struct graft_generation_settings){
        .generation = graft_generation_default(), .file = "config.json", .fields = graft_generation_fields_create()};
    int status = settings->fields != NULL ? read_file(directory, settings, &is_there, error)
                                          : graft_fail_memory(error, directory);
    return status == GRAFT_OK ? read_config(config, is_there, settings, error) : status;
}

void graft_generation_settings_finish(struct graft_generation_settings *settings) {
    graft_generation_fields_free(settings->fields);
    settings->fields = NULL;
}
