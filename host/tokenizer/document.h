/* SPDX-License-Identifier: Apache-2.0 */
/* A tokenizer.json that was read: a small JSON document, and apart from it the two members that make up nearly all of
 * the file. */
#ifndef GRAFT_TOKENIZER_DOCUMENT_H
#define GRAFT_TOKENIZER_DOCUMENT_H

#include "base/json.h"
#include "base/json_cursor.h"
#include "graft/error.h"

/* Starts as {0}. */
struct graft_document {
    char *text;       /* the whole file; it is valid UTF-8 */
    graft_json *rest; /* the document, in which `model.vocab` and `model.merges` are empty */
    /* The two members as they are in the file, from bracket to bracket; a length of 0 means that the member is missing.
     */
    struct graft_json_cursor vocab;
    struct graft_json_cursor merges;
};

/* [load] Errors are GRAFT_ERROR_MODEL. The caller finishes it, even on failure. */
int graft_document_read(struct graft_document *document, const char *path, struct graft_error *error);
void graft_document_finish(struct graft_document *document);

#endif
