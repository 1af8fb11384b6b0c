/* SPDX-License-Identifier: Apache-2.0 */
/* The members "prefix", "section" and "decoder" of a family file: a decoder described by data (arch/decoder). */
#ifndef GRAFT_PLUGIN_FAMILY_DECODER_H
#define GRAFT_PLUGIN_FAMILY_DECODER_H

#include "plugin/family_members.h"

/* Makes file->description and file->generated, the classes that it makes; both stay as they are where the file has none
 * of these members. With `like`, choices that the file leaves out are that family's. */
int graft_family_read_decoder(struct graft_family_file *file, const char *path, struct graft_error *error);

#endif
