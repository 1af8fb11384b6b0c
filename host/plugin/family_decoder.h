/* SPDX-License-Identifier: Apache-2.0 */
/* What a family file describes by data: "prefix", "section" and "decoder" (arch/decoder), "vision" (arch/vision). */
#ifndef GRAFT_PLUGIN_FAMILY_DECODER_H
#define GRAFT_PLUGIN_FAMILY_DECODER_H

#include "plugin/family_members.h"

/* Makes file->description of the first three; it stays as it is where the file has none of them. With `like`, choices
 * that the file leaves out are that family's. */
int graft_family_read_decoder(struct graft_family_file *file, const char *path, struct graft_error *error);

/* The description of an encoder in file->description, if it has one by the file or by `like`; the names of its classes
 * begin with `prefix`, unless that is NULL. */
int graft_family_read_encoder(struct graft_family_file *file, const char *path, const char *prefix,
                              struct graft_error *error);

/* Makes file->vision, likewise. */
int graft_family_read_vision(struct graft_family_file *file, const char *path, struct graft_error *error);

/* The description of a family's decoder; NULL if it has none. */
const struct graft_description *graft_family_description(const struct graft_family *family);

/* Makes file->generated, the classes of all of these. */
int graft_family_generate(struct graft_family_file *file, const char *path, struct graft_error *error);

#endif
