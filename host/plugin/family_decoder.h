/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the descriptions in a family file: "prefix", "section" and "decoder" (arch/decoder), "encoder", "vision"
 * (arch/vision). */
#ifndef GRAFT_PLUGIN_FAMILY_DECODER_H
#define GRAFT_PLUGIN_FAMILY_DECODER_H

#include "plugin/family_members.h"

/* Makes file->description from "prefix", "section" and "decoder"; it is left alone if the file has none of them. With
 * `like`, choices that the file leaves out are those of that family. */
int graft_family_read_decoder(struct graft_family_file *file, const char *path, struct graft_error *error);

/* Adds the description of an encoder to file->description, if the file or the family in `like` has an encoder. The
 * names of its classes begin with `prefix`, unless that is NULL. */
int graft_family_read_encoder(struct graft_family_file *file, const char *path, const char *prefix,
                              struct graft_error *error);

/* Makes file->vision from "vision", in the same way; "like" in it names another family for the tower alone. */
int graft_family_read_vision(struct graft_family_file *file, const char *path, const struct graft_family_finder *finder,
                             struct graft_error *error);

/* Finds the family of a model type that the member `key` names. An unknown one is an error that lists those known. */
int graft_family_find_like(const char *path, const char *key, const char *like,
                           const struct graft_family_finder *finder, const struct graft_family **found,
                           struct graft_error *error);

/* The description of a family's decoder; NULL if it has none. */
const struct graft_description *graft_family_description(const struct graft_family *family);

/* Makes file->generated, the classes of all descriptions. */
int graft_family_generate(struct graft_family_file *file, const char *path, struct graft_error *error);

#endif
