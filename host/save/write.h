/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the files of a saved model. Shared by the units of this folder only. */
#ifndef GRAFT_SAVE_WRITE_H
#define GRAFT_SAVE_WRITE_H

#include "base/text.h"
#include "graft/host/model.h"
#include "save/content.h"
#include "save/staging.h"

/* [load] Writes the tensors, and an index if they take several files. `metadata` is stored in each file, or NULL. */
int graft_save_write_tensors(const struct save_staging *staging, const struct save_content *content,
                             const graft_json *metadata, const struct graft_save_options *options,
                             struct graft_error *error);

/* [load] Writes a text to a file. A text with `failed` set is an error. */
int graft_save_write_text(const struct save_staging *staging, const char *name, const struct graft_text *text,
                          struct graft_error *error);

#endif
