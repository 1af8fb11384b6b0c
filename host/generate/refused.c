/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of generation_config.json that ask for ways of generating that are not supported. */
#include <string.h>

#include "generate/fields.h"

/* When a field has an effect in the reference. */
enum when {
    ALWAYS,
    WITHOUT_CHANCE, /* in greedy search without beams */
    WITH_BEAMS
};

/* A field and its values that mean "off": null, numbers equal to `number`, and false. */
struct refused {
    const char *name;
    double off;
    enum when when;
};

static const struct refused refused[] = {
    {"watermarking_config", 0.0, ALWAYS},
    {"constraints", 0.0, ALWAYS},
    {"force_words_ids", 0.0, ALWAYS},
    {"custom_generate", 0.0, ALWAYS},
    {"dola_layers", 0.0, ALWAYS},
    {"penalty_alpha", 0.0, WITHOUT_CHANCE},
    {"num_beam_groups", 1.0, WITH_BEAMS},
    {"low_memory", 0.0, WITH_BEAMS},
    {"token_healing", 0.0, ALWAYS},
    {"max_time", 0.0, ALWAYS},
    {"is_assistant", 0.0, ALWAYS},
    {"assistant_early_exit", 0.0, ALWAYS},
    {"use_mtp", 0.0, ALWAYS},
    {"speculation_type", 0.0, ALWAYS},
};

static int is_off(const struct graft_config *document, const char *name, double off) {
    int32_t kind = document->kind(document->data, name);
    switch (kind) {
    case GRAFT_FIELD_BOOL:
        return document->integer(document->data, name) == 0;
    case GRAFT_FIELD_INT:
    case GRAFT_FIELD_REAL:
        return document->real(document->data, name) == off;
    case GRAFT_FIELD_ABSENT:
    case GRAFT_FIELD_NULL:
        return 1;
    default:
        return 0;
    }
}

static int has_effect(enum when when, const struct graft_generation *generation) {
    int has_beams = generation->num_beams > 1;
    switch (when) {
    case WITHOUT_CHANCE:
        return !generation->do_sample && !has_beams;
    case WITH_BEAMS:
        return has_beams;
    default:
        return 1;
    }
}

/* Refuses quantized caches, which would change the logits. */
static int refuse_cache(const struct graft_config *document, struct graft_error *error) {
    const char *cache = document->string(document->data, "cache_implementation");
    return cache != NULL && strcmp(cache, "quantized") == 0
               ? graft_error_set(error, GRAFT_ERROR_MODEL, document->file,
                                 "cache_implementation: \"%s\" is not supported", cache)
               : GRAFT_OK;
}

int graft_generation_refuse_fields(const struct graft_config *document, const struct graft_generation *generation,
                                   struct graft_error *error) {
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const struct refused *field = &refused[i];
        if (has_effect(field->when, generation) && !is_off(document, field->name, field->off)) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, document->file,
                                   "%s: this way of generating is not supported", field->name);
        }
    }
    if (generation->num_beams > 1 && generation->guidance_scale != 0.0 && generation->guidance_scale != 1.0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, document->file,
                               "guidance_scale: guidance together with num_beams is not supported");
    }
    return refuse_cache(document, error);
}
