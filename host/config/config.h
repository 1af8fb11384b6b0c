/* SPDX-License-Identifier: Apache-2.0 */
/* config.json of a model directory, as plugins and built-in classes read it. */
#ifndef GRAFT_CONFIG_CONFIG_H
#define GRAFT_CONFIG_CONFIG_H

#include "base/json.h"
#include "config/model_file.h"
#include "graft/config.h"
#include "graft/family.h"

struct graft_model_config {
    struct graft_model_file *source; /* DIR/config.json as it was read; NULL: it was made in memory */
    char *file;                      /* "DIR/config.json" */
    graft_json *document;            /* likewise of `source` */
    const char *model_type;          /* "qwen2_moe" */
    const char *architecture;        /* the first of `architectures`, or NULL when there is none */
    struct graft_config whole;       /* the document as it is */
    struct graft_config view;        /* what classes are given: `whole`, or as the family reads it */
    const struct graft_family *family;
    size_t n_adapters; /* that were added to the document */
};

/* [any] A JSON object as classes are given a config; `file` is named in errors. Both outlive the view. */
struct graft_config graft_config_view(const graft_json *document, const char *file);

/* [any] Refuses what is no object. */
int graft_config_check_object(const graft_json *document, const char *file, struct graft_error *error);

/* [any] The same, and strings with a NUL inside: classes would see only what is before it. */
int graft_config_check_document(const graft_json *document, const char *file, struct graft_error *error);

/* [any] From now on `view` has the family's aliases and defaults. The family outlives the config. */
void graft_model_config_read_as(struct graft_model_config *config, const struct graft_family *family);

/* [any] What classes of the config's family call a field that the file calls `spelling`: "hidden_size" for "n_embd".
 * NULL: nothing else. */
const char *graft_model_config_name(const struct graft_model_config *config, const char *spelling);

/* [load] Shows classes an adapter beside config.json: `adapter.NAME` is the object of DIRECTORY/adapter_config.json,
 * and `adapters` an array of `name`, `directory` and `scale` of each, in order. `ignored` may be NULL. Errors are
 * GRAFT_ERROR_MODEL. */
int graft_model_config_add_adapter(struct graft_model_config *config, const char *name, const char *directory,
                                   double scale, const struct graft_ignored_names *ignored, struct graft_error *error);

/* [load] Reads DIR/config.json, without what is to be ignored (NULL: nothing). The caller frees the result, which is
 * immutable until then. */
int graft_model_config_read(const char *directory, const struct graft_ignored_names *ignored,
                            struct graft_model_config **config, struct graft_error *error);
void graft_model_config_free(struct graft_model_config *config);

#endif
