/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the generation settings of a model directory. */
#include "arch/section.h"
#include "base/fail.h"
#include "generate/fields.h"
#include "generate/generate.h"

/* Reads eos_token_id, an id or an array of ids, from the first document that has it, even if it says that no token ends
 * a text. */
static int read_eos(const struct graft_config *document, struct graft_generation_settings *settings,
                    struct graft_error *error) {
    return settings->eos.ids == NULL
               ? graft_generation_read_ids(document, "eos_token_id", &settings->eos, settings->fields, error)
               : GRAFT_OK;
}

/* Finds the start token of a decoder with an encoder: decoder_start_token_id of the first document that has it, else
 * bos_token_id of the first that has that; -1 if none has either. */
static int read_start(const struct graft_config *const *documents, size_t n, int32_t *start,
                      struct graft_error *error) {
    static const char *const names[] = {"decoder_start_token_id", "bos_token_id"};
    *start = -1;
    for (size_t i = 0; i < 2 * n && *start < 0; i++) {
        const struct graft_config *document = documents[i % n];
        const char *name = names[i / n];
        const int32_t kind = document != NULL ? document->kind(document->data, name) : GRAFT_FIELD_ABSENT;
        if (kind == GRAFT_FIELD_INT) {
            const int64_t id = document->integer(document->data, name);
            if (id < 0 || id > INT32_MAX) {
                return graft_error_set(error, GRAFT_ERROR_MODEL, document->file, "%s: expected a token id, got %lld",
                                       name, (long long)id);
            }
            *start = (int32_t)id;
        } else if (i < n && kind != GRAFT_FIELD_ABSENT && kind != GRAFT_FIELD_NULL) {
            return graft_config_expected(document, name, "a token id", error);
        }
    }
    return GRAFT_OK;
}

static int read_fields(const struct graft_config *document, struct graft_generation_settings *settings,
                       struct graft_error *error) {
    return graft_generation_read_fields(document, &settings->generation, settings->fields, error);
}

/* Reads config.json. Without a generation_config.json the reference reads its fields from config.json, as older files
 * have them, and those that are missing there from its text_config. The end-of-sequence ids are read from there in any
 * case, since no one wants a model that never ends. */
static int read_config(const struct graft_config *config, int is_there, struct graft_generation_settings *settings,
                       struct graft_error *error) {
    struct graft_config_section section;
    const struct graft_config *text = NULL;
    int status = read_eos(config, settings, error);
    if (status == GRAFT_OK && config->kind(config->data, "text_config") == GRAFT_FIELD_OBJECT) {
        status = graft_config_section(config, "text_config", &section, error);
        text = &section.view;
    }
    if (status == GRAFT_OK && text != NULL) {
        status = read_eos(text, settings, error);
    }
    if (status == GRAFT_OK && text != NULL && !is_there) {
        status = read_fields(text, settings, error);
    }
    return status == GRAFT_OK && !is_there ? read_fields(config, settings, error) : status;
}

int graft_generation_settings_read(const struct graft_config *generation, const struct graft_config *config,
                                   struct graft_generation_settings *settings, struct graft_error *error) {
    *settings = (struct graft_generation_settings){.generation = graft_generation_default(),
                                                   .file = generation != NULL ? generation->file : config->file,
                                                   .fields = graft_generation_fields_create()};
    int status = settings->fields != NULL ? GRAFT_OK : graft_fail_memory(error, config->file);
    if (status == GRAFT_OK && generation != NULL) {
        status = read_eos(generation, settings, error);
    }
    if (status == GRAFT_OK && generation != NULL) {
        status = read_fields(generation, settings, error);
    }
    const struct graft_config *const documents[] = {generation, config};
    if (status == GRAFT_OK) {
        status = read_start(documents, 2, &settings->decoder_start, error);
    }
    return status == GRAFT_OK ? read_config(config, generation != NULL, settings, error) : status;
}

void graft_generation_settings_finish(struct graft_generation_settings *settings) {
    graft_generation_fields_free(settings->fields);
    settings->fields = NULL;
}
