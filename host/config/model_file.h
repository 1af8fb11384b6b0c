/* SPDX-License-Identifier: Apache-2.0 */
/* A JSON file of a model directory, with a ledger that records which of its fields are asked for. */
#ifndef GRAFT_CONFIG_MODEL_FILE_H
#define GRAFT_CONFIG_MODEL_FILE_H

#include <stddef.h>

#include "base/json.h"
#include "config/ledger.h"
#include "graft/config.h"

/* Paths of fields that the user wants ignored. */
struct graft_ignored_names {
    const char *const *names; /* [n] */
    int32_t n;
};

/* An ignored field that was removed from a document. */
struct graft_ignored_field {
    char *path;
    graft_json *value;
};

struct graft_model_file {
    char *file;                          /* "DIR/generation_config.json" */
    graft_json *json;                    /* an object */
    struct graft_ledger *ledger;         /* records what is asked of `json` */
    struct graft_config view;            /* reads `json`, and records in the ledger */
    struct graft_ignored_field *ignored; /* [n_ignored] */
    size_t n_ignored;
    size_t ignored_capacity;
};

/* [load] Reads DIRECTORY/NAME, an object whose strings contain no NUL, and removes ignored fields. The caller frees the
 * result, whose address does not change. */
int graft_model_file_read(const char *directory, const char *name, size_t max_bytes,
                          const struct graft_ignored_names *ignored, struct graft_model_file **document,
                          struct graft_error *error);

/* [load] The same if the file exists; else the result is NULL. */
int graft_model_file_read_if_there(const char *directory, const char *name, size_t max_bytes,
                                   const struct graft_ignored_names *ignored, struct graft_model_file **document,
                                   struct graft_error *error);

/* [load] The same for a file whose strings may contain a NUL, and whose members are not read through `view`. */
int graft_model_file_read_any_strings(const char *directory, const char *name, size_t max_bytes,
                                      const struct graft_ignored_names *ignored, struct graft_model_file **document,
                                      struct graft_error *error);

/* [load] Removes the fields in `names` from the object at a path of the document ("" is the document itself). Their
 * paths are relative to that object. */
int graft_model_file_ignore(struct graft_model_file *document, const char *below,
                            const struct graft_ignored_names *names, struct graft_error *error);

/* [any] Accepts NULL. */
void graft_model_file_free(struct graft_model_file *document);

#endif
