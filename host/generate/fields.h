/* SPDX-License-Identifier: Apache-2.0 */
/* Reads fields of generation_config.json into a struct graft_generation. */
#ifndef GRAFT_GENERATE_FIELDS_H
#define GRAFT_GENERATE_FIELDS_H

#include "graft/config.h"
#include "graft/host/generate.h"

/* Settings in which everything is off, except for the default maximum length and top_k. */
struct graft_generation graft_generation_default(void);

/* [any] Reads the fields that a document has into `generation`; lists are allocated by `owner`. A field that is wrong,
 * or asks for something unsupported, is GRAFT_ERROR_MODEL with the document's file and the field's name. */
int graft_generation_read_fields(const struct graft_config *document, struct graft_generation *generation,
                                 struct graft_generation_fields *owner, struct graft_error *error);

/* [any] Sets an error if the document asks for an unsupported way of generating, given the settings in `generation`:
 * fields without effect on the chosen way are ignored, as in the reference. */
int graft_generation_refuse_fields(const struct graft_config *document, const struct graft_generation *generation,
                                   struct graft_error *error);

/* [any] Reads the ids of a field that is an id or an array of ids, without negative ones, which no token has. The list
 * belongs to `owner` and is not NULL, even if it is empty. Without the field nothing changes. */
int graft_generation_read_ids(const struct graft_config *document, const char *name, struct graft_id_list *list,
                              struct graft_generation_fields *owner, struct graft_error *error);

/* [any] NULL if memory ran out. */
struct graft_generation_fields *graft_generation_fields_create(void);

/* [any] Zeroed memory that `owner` frees; NULL if memory ran out. */
void *graft_generation_fields_alloc(struct graft_generation_fields *owner, size_t count, size_t size);

/* [any] Replaces the lists of `generation` by copies that belong to `owner`. */
int graft_generation_own(struct graft_generation *generation, struct graft_generation_fields *owner,
                         struct graft_error *error);

#endif
