/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the classes of a family file's descriptions. */
#include <string.h>

#include "arch/decoder/roles.h"
#include "arch/vision/roles.h"
#include "plugin/family_decoder.h"

/* Whether a class of that name exists in the family that this file, or its tower, is like. This file then uses that
 * class instead of making one. The other family may list the class, or take it from a third family: then only its
 * description names the class. */
static int is_shared(const struct graft_family_file *file, const char *name) {
    const struct graft_description *like = file->like != NULL ? graft_family_description(file->like) : NULL;
    struct graft_class cls;
    if ((file->like != NULL && graft_family_find_class(file->like, name) != NULL) ||
        (file->tower != NULL && graft_family_find_class(file->tower, name) != NULL)) {
        return 1;
    }
    for (int32_t i = 0; like != NULL && i < graft_decoder_n_classes(); i++) {
        if (graft_decoder_class(like, i, &cls) && strcmp(cls.name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Whether there is a generated class of that name already, as two choices may have the same name. */
static int is_generated(const struct graft_family_file *file, const char *name) {
    for (int32_t i = 0; i < file->n_generated; i++) {
        if (strcmp(file->generated[i].name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

static void keep_new(struct graft_family_file *file, const struct graft_class *cls) {
    if (!is_shared(file, cls->name) && !is_generated(file, cls->name)) {
        file->generated[file->n_generated++] = *cls;
    }
}

/* Adds the classes of a decoder's or an encoder's description, if it is not NULL. */
static void keep_described(struct graft_family_file *file, const struct graft_description *description) {
    struct graft_class cls;
    for (int32_t i = 0; description != NULL && i < graft_decoder_n_classes(); i++) {
        if (graft_decoder_class(description, i, &cls)) {
            keep_new(file, &cls);
        }
    }
}

int graft_family_generate(struct graft_family_file *file, const char *path, struct graft_error *error) {
    const int32_t decoder = file->description != NULL ? graft_decoder_n_classes() : 0;
    const int32_t vision = file->vision != NULL ? graft_vision_n_classes() : 0;
    struct graft_class cls;
    if (decoder + vision == 0) {
        return GRAFT_OK;
    }
    file->generated = graft_family_room(file, path, (size_t)(2 * decoder + vision), sizeof *file->generated, error);
    if (file->generated == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    keep_described(file, file->description);
    keep_described(file, decoder > 0 ? graft_description_encoder(file->description) : NULL);
    for (int32_t i = 0; i < vision; i++) {
        graft_vision_class(file->vision, i, &cls);
        keep_new(file, &cls);
    }
    return GRAFT_OK;
}
