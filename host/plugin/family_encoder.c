/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the member "encoder" of a family file: the choices in which an encoder differs from the decoder that it
 * feeds. */
#include <stdio.h>
#include <string.h>

#include "arch/decoder/choices.h"
#include "plugin/family_choices.h"
#include "plugin/family_decoder.h"

enum { MAX_NAME = 256 };

/* Names the classes of an encoder: those of the decoder, except for the model and its layers. */
static int name_classes(struct graft_description *encoder, const struct graft_description *decoder, const char *path,
                        const char *prefix, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < graft_decoder_choices.count && status == GRAFT_OK; i++) {
        char made[MAX_NAME];
        const char *name = graft_description_name(decoder, i);
        if (strncmp(graft_decoder_choices.infos[i].name, "class.", strlen("class.")) != 0) {
            continue;
        }
        if (i == D_CLASS_MODEL || i == D_CLASS_LAYER) {
            (void)snprintf(made, sizeof made, "%.200s%s", prefix, i == D_CLASS_MODEL ? "Encoder" : "EncoderLayer");
            name = made;
        }
        const struct graft_value value = {.kind = name != NULL ? GRAFT_VALUE_TEXT : GRAFT_VALUE_NULL, .text = name};
        status = graft_description_set(encoder, i, &value, path, error);
    }
    return status;
}

/* Sets `*encoder` to the encoder of the family that this one is like, changed by what the file says of the decoder, or
 * to a copy of the decoder if that family has no encoder. */
static int start(struct graft_family_file *file, const char *path, struct graft_description **encoder,
                 struct graft_error *error) {
    *encoder = graft_description_encoder(file->description);
    if (*encoder == NULL) {
        *encoder = graft_description_copy(file->description, error);
        graft_description_set_encoder(file->description, *encoder);
        return *encoder != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    }
    const struct graft_family_part part = {"decoder", path, &graft_decoder_choices, *encoder};
    int status = graft_family_read_defaults(&part, graft_json_get(file->document, "defaults"), 1, error);
    return status == GRAFT_OK ? graft_family_read_choices(&part, graft_json_get(file->document, "decoder"), NULL, error)
                              : status;
}

int graft_family_read_encoder(struct graft_family_file *file, const char *path, const char *prefix,
                              struct graft_error *error) {
    const struct graft_field field = graft_field_get(&file->root, "encoder");
    const graft_json *member = field.value;
    struct graft_description *encoder = NULL;
    if (member != NULL && graft_json_type(member) == GRAFT_JSON_NULL) {
        graft_description_set_encoder(file->description, NULL);
        return GRAFT_OK;
    }
    if (member != NULL && graft_json_type(member) != GRAFT_JSON_OBJECT) {
        return graft_field_wrong(&field, "an object or null", error);
    }
    if (graft_description_encoder(file->description) == NULL && member == NULL) {
        return GRAFT_OK;
    }
    int status = start(file, path, &encoder, error);
    if (status == GRAFT_OK && prefix != NULL) {
        status = name_classes(encoder, file->description, path, prefix, error);
    }
    const struct graft_family_part part = {"encoder", path, &graft_decoder_choices, encoder};
    return status == GRAFT_OK ? graft_family_read_choices(&part, member, NULL, error) : status;
}
