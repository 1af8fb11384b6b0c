/* SPDX-License-Identifier: Apache-2.0 */
/* config.json of a model directory, as plugins and built-in classes read it. */
#ifndef GRAFT_CONFIG_CONFIG_H
#define GRAFT_CONFIG_CONFIG_H

#include "base/json.h"
#include "base/text.h"
#include "graft/config.h"
#include "graft/family.h"

struct graft_model_config {
    char *file; /* "DIR/config.json" */
    graft_json *document;
    const char *model_type;    /* "qwen2_moe" */
    const char *architecture;  /* the first of `architectures`, or NULL when there is none */
    struct graft_config whole; /* the document as it is */
    struct graft_config view;  /* what classes are given: `whole`, or as the family reads it */
    const struct graft_family *family;
    size_t n_adapters; /* that were added to the document */
};

/* [any] A JSON object as classes are given a config; `file` is named in errors. Both outlive the view. */
struct graft_config graft_config_view(const graft_json *document, const char *file);

/* [any] Refuses what is no object, and strings with a NUL inside: classes would see only what is before it. */
int graft_config_check_document(const graft_json *document, const char *file, struct graft_error *error);

/* [any] From now on, what this thread looks for in configs is added to `names`: of each path the first part, and a line
 * feed. NULL: no more. */
void graft_config_note(struct graft_text *names);

/* [any] From now on `view` has the family's aliases and defaults. The family outlives the config. */
void graft_model_config_read_as(struct graft_model_config *config, const struct graft_family *family);

/* [load] Shows classes an adapter beside config.json: `adapter.NAME` is the object of DIRECTORY/adapter_config.json,
 * and `adapters` an array of `name`, `directory` and `scale` of each, in order. Errors are GRAFT_ERROR_MODEL. */
int graft_model_config_add_adapter(struct graft_model_config *config, const char *name, const char *directory,
                                   double scale, struct graft_error *error);

/* [any] Reads DIR/config.json. The caller frees the result, which is immutable until then. */
int graft_model_config_read(const char *directory, struct graft_model_config **config, struct graft_error *error);
void graft_model_config_free(struct graft_model_config *config);

#endif
