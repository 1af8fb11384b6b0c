/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a model besides its weights. Used in this folder only. */
#ifndef GRAFT_SAVE_SIDECAR_H
#define GRAFT_SAVE_SIDECAR_H

#include "base/text.h"
#include "save/save.h"
#include "save/staging.h"

/* [load] Copies config.json, tokenizer files, the folders that modules.json of sentence-transformers names and what
 * else describes the model, byte for byte, from `directory`; only config.json may have changes (NULL: none). Links
 * are followed. Names that are left behind, other than weights that
 * were read, are added to `left`, separated by commas; to `linked` those of files that links led to outside of the
 * directory, other than the blobs of its hub cache. */
int graft_save_sidecars(const char *directory, const struct graft_config_changes *changes,
                        const struct save_staging *staging, struct graft_text *left, struct graft_text *linked,
                        struct graft_error *error);

#endif
