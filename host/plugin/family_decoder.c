/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/family_decoder.h"

#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/decoder/choices.h"
#include "arch/decoder/predictors.h"
#include "arch/decoder/roles.h"
#include "plugin/family_choices.h"

/* Names the classes: by the prefix, unless the file names them. LayerNorm keeps its common name unless the file gives
 * another. */
static int name_classes(struct graft_family_file *file, const char *path, const char *prefix, int is_new,
                        struct graft_error *error) {
    static const struct graft_value layer_norm = {.kind = GRAFT_VALUE_TEXT, .text = "LayerNorm"};
    const graft_json *decoder = graft_json_get(file->document, "decoder");
    const graft_json *kind = graft_json_get(graft_json_get(decoder, "norm"), "kind");
    int status = prefix != NULL ? graft_decoder_name_classes(file->description, prefix, is_new, error) : GRAFT_OK;
    if (status == GRAFT_OK && kind != NULL && graft_json_type(kind) == GRAFT_JSON_STRING &&
        strcmp(graft_json_string(kind, NULL), "layer") == 0) {
        status = graft_description_set(file->description, D_CLASS_NORM, &layer_norm, path, error);
    }
    return status;
}

/* Copies the parts of the description that are for the host rather than for a class. */
static void tell(struct graft_family_file *file) {
    const int32_t predictors = graft_description_word(file->description, D_MODEL_PREDICTORS);
    file->family.ignores = predictors == D_PREDICTORS_AFTER ? graft_decoder_is_predictor : NULL;
}

const struct graft_description *graft_family_description(const struct graft_family *family) {
    for (int32_t i = 0; i < family->n_classes; i++) {
        const struct graft_description *description = graft_decoder_description(graft_family_class(family, i));
        if (description != NULL) {
            return description;
        }
    }
    return NULL;
}

static int start(struct graft_family_file *file, const char *path, const char *prefix, struct graft_error *error) {
    if (prefix == NULL) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                               "prefix: missing; the names of a decoder's classes begin with it");
    }
    if (file->like == NULL) {
        file->description = graft_description_create(&graft_decoder_choices, error);
        return file->description != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    }
    const struct graft_description *like = graft_family_description(file->like);
    if (like == NULL) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                               "like: %s is not described by data, so \"prefix\", \"section\" and \"decoder\" mean "
                               "nothing",
                               file->like->model_type);
    }
    file->description = graft_description_copy(like, error);
    return file->description != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
}

/* Whether the file only adds a vision tower to the other family's language model: it has a "vision", and its "decoder"
 * has nothing but "class" and "head". */
static int adds_tower(const struct graft_family_file *file) {
    const graft_json *value;
    const char *key;
    void *iterator = NULL;
    while (graft_json_next(graft_json_get(file->document, "decoder"), &iterator, &key, &value)) {
        if (strcmp(key, "class") != 0 && strcmp(key, "head") != 0) {
            return 0;
        }
    }
    return graft_json_get(file->document, "vision") != NULL;
}

/* Checks that the prefix differs from the other family's, whose classes of the same names would hide the
 * description. */
static int check_prefix(const struct graft_family_file *file, const char *path, const char *prefix,
                        struct graft_error *error) {
    const struct graft_description *like = file->like != NULL ? graft_family_description(file->like) : NULL;
    const char *own = graft_description_name(file->description, D_CLASS_LAYER);
    const char *other = like != NULL ? graft_description_name(like, D_CLASS_LAYER) : NULL;
    return prefix == NULL || own == NULL || other == NULL || strcmp(own, other) != 0 || adds_tower(file)
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                                 "prefix: names of classes of \"%.100s\" begin with %.100s already, and these do not "
                                 "change; choose another",
                                 file->like->model_type, prefix);
}

int graft_family_read_decoder(struct graft_family_file *file, const char *path, struct graft_error *error) {
    struct fields {
        const char *prefix, *section;
        const graft_json *decoder;
    } fields = {0};
    static const struct graft_member members[] = {
        {"prefix", .offset = offsetof(struct fields, prefix), .is_optional = 1},
        {"section", .offset = offsetof(struct fields, section), .is_optional = 1},
        {"decoder", GRAFT_MEMBER_OBJECT, .offset = offsetof(struct fields, decoder), .is_optional = 1},
        {0},
    };
    int status = graft_field_read_some(&file->root, members, &fields, error);
    const char *prefix = fields.prefix, *section = fields.section;
    const graft_json *decoder = fields.decoder;
    if (status != GRAFT_OK || (prefix == NULL && section == NULL && decoder == NULL)) {
        return status;
    }
    const struct graft_place place = {.file = path, .index = -1};
    if (prefix != NULL) {
        status = graft_check_class_name(&place, "prefix", prefix, error);
    }
    if (status == GRAFT_OK && section != NULL) {
        status = graft_check_path(&place, "section", section, error);
    }
    if (status == GRAFT_OK) {
        status = start(file, path, prefix, error);
    }
    const struct graft_family_part part = {"decoder", path, &graft_decoder_choices, file->description};
    if (status == GRAFT_OK) {
        status = name_classes(file, path, prefix, file->like == NULL, error);
    }
    if (status == GRAFT_OK && (decoder != NULL || section != NULL)) {
        status = check_prefix(file, path, prefix, error);
    }
    if (status == GRAFT_OK && section != NULL) {
        status = graft_description_set_section(file->description, section, error);
    }
    if (status == GRAFT_OK) {
        status = graft_family_read_defaults(&part, graft_json_get(file->document, "defaults"), 1, error);
    }
    if (status == GRAFT_OK) {
        status = graft_family_read_choices(&part, decoder, NULL, error);
    }
    if (status == GRAFT_OK) {
        status = graft_family_read_encoder(file, path, prefix, error);
    }
    if (status == GRAFT_OK) {
        tell(file);
    }
    return status;
}
