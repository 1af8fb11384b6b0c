/* SPDX-License-Identifier: Apache-2.0 */
/* config.json of a model directory, as classes read it. */
#ifndef GRAFT_CONFIG_CONFIG_H
#define GRAFT_CONFIG_CONFIG_H

#include "base/json.h"
#include "config/model_file.h"
#include "graft/config.h"
#include "graft/family.h"

struct graft_model_config {
    struct graft_model_file *source; /* the file DIR/config.json; NULL if the config was made in memory */
    char *file;                      /* "DIR/config.json" */
    graft_json *document;            /* owned by `source` */
    const char *model_type;          /* "qwen2_moe" */
    const char *architecture;        /* the first of `architectures`, or NULL if there is none */
    struct graft_config whole;       /* reads the document unchanged */
    struct graft_config view;        /* the config for classes: `whole`, or the family's view of it */
    const struct graft_family *family;
    size_t n_adapters; /* adapters added to the document */
};

/* [any] A JSON object as a config for classes; `file` is named in errors. Both outlive the view. */
struct graft_config graft_config_view(const graft_json *document, const char *file);

/* [any] Refuses a document that is not an object. */
int graft_config_check_object(const graft_json *document, const char *file, struct graft_error *error);

/* [any] The same, and refuses strings that contain a NUL, as classes would see only the text before it. */
int graft_config_check_document(const graft_json *document, const char *file, struct graft_error *error);

/* [any] Gives `view` the family's aliases and defaults. The family outlives the config. */
void graft_model_config_read_as(struct graft_model_config *config, const struct graft_family *family);

/* [any] The name that the family's classes use for a field that the file calls `spelling`: "hidden_size" for "n_embd".
 * NULL if it is the same name. */
const char *graft_model_config_name(const struct graft_model_config *config, const char *spelling);

/* [load] Adds an adapter to the config: `adapter.NAME` becomes the object of DIRECTORY/adapter_config.json, and
 * `adapters` an array with `name`, `directory` and `scale` of each adapter, in order. `ignored` may be NULL. Errors are
 * GRAFT_ERROR_MODEL. */
int graft_model_config_add_adapter(struct graft_model_config *config, const char *name, const char *directory,
                                   double scale, const struct graft_ignored_names *ignored, struct graft_error *error);

/* [load] Reads DIR/config.json without the fields in `ignored` (NULL: none). The caller frees the result, which is
 * immutable. */
int graft_model_config_read(const char *directory, const struct graft_ignored_names *ignored,
                            struct graft_model_config **config, struct graft_error *error);
void graft_model_config_free(struct graft_model_config *config);

#endif
