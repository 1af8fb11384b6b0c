/* SPDX-License-Identifier: Apache-2.0 */
/* A JSON file of a model directory, whose ledger records what of it is asked for. */
#ifndef GRAFT_CONFIG_MODEL_FILE_H
#define GRAFT_CONFIG_MODEL_FILE_H

#include <stddef.h>

#include "base/json.h"
#include "config/ledger.h"
#include "graft/config.h"

/* Paths of fields that a user wants ignored: nobody is to see them. */
struct graft_ignored_names {
    const char *const *names; /* [n] */
    int32_t n;
};

/* A field that was taken out of a document for that reason. */
struct graft_ignored_field {
    char *path;
    graft_json *value;
};

struct graft_model_file {
    char *file;                          /* "DIR/generation_config.json" */
    graft_json *json;                    /* an object */
    struct graft_ledger *ledger;         /* of it */
    struct graft_config view;            /* how it is read: recorded in the ledger */
    struct graft_ignored_field *ignored; /* [n_ignored] */
    size_t n_ignored;
    size_t ignored_capacity;
};

/* [load] Reads DIRECTORY/NAME, an object without strings that have a NUL inside, and takes out what is to be ignored.
 * The caller frees the result, which does not move. */
int graft_model_file_read(const char *directory, const char *name, size_t max_bytes,
                          const struct graft_ignored_names *ignored, struct graft_model_file **document,
                          struct graft_error *error);

/* [load] The same where the file is there; else the result is NULL. */
int graft_model_file_read_if_there(const char *directory, const char *name, size_t max_bytes,
                                   const struct graft_ignored_names *ignored, struct graft_model_file **document,
                                   struct graft_error *error);

/* [load] The same for a file whose strings may have a NUL inside, and whose members nobody reads by the view. */
int graft_model_file_read_any_strings(const char *directory, const char *name, size_t max_bytes,
                                      const struct graft_ignored_names *ignored, struct graft_model_file **document,
                                      struct graft_error *error);

/* [load] Takes those fields that `names` has out of the object at a path of the document ("" is the document itself),
 * under which their paths go on. */
int graft_model_file_ignore(struct graft_model_file *document, const char *below,
                            const struct graft_ignored_names *names, struct graft_error *error);

/* [any] Accepts NULL. */
void graft_model_file_free(struct graft_model_file *document);

#endif
