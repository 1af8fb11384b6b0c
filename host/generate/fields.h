/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of generation_config.json, into a struct graft_generation. */
#ifndef GRAFT_GENERATE_FIELDS_H
#define GRAFT_GENERATE_FIELDS_H

#include "graft/config.h"
#include "graft/host/generate.h"

/* A struct graft_generation in which nothing takes effect but the usual maximum length and top_k. */
struct graft_generation graft_generation_default(void);

/* [any] Reads the fields that a document has, over `generation`; what lists point to is added to `owner`. A field that
 * is wrong, or asks for what is not done, is GRAFT_ERROR_MODEL with the document's file and the field's name. */
int graft_generation_read_fields(const struct graft_config *document, struct graft_generation *generation,
                                 struct graft_generation_fields *owner, struct graft_error *error);

/* [any] An error if the document asks for a way of generating that is not done, with what `generation` holds by then:
 * what has no effect in the way that was asked for is passed over, as the reference does. */
int graft_generation_refuse_fields(const struct graft_config *document, const struct graft_generation *generation,
                                   struct graft_error *error);

/* [any] Ids of a field that is one id, or an array of them, but negative ones, which no token has; they belong to
 * `owner` and are not NULL, even where there are none. Without the field nothing changes. */
int graft_generation_read_ids(const struct graft_config *document, const char *name, struct graft_id_list *list,
                              struct graft_generation_fields *owner, struct graft_error *error);

/* [any] NULL if memory ran out. */
struct graft_generation_fields *graft_generation_fields_create(void);

/* [any] Zeroed memory that `owner` frees; NULL if there is none left. */
void *graft_generation_fields_alloc(struct graft_generation_fields *owner, size_t count, size_t size);

/* [any] Makes the lists of `generation` copies that belong to `owner`. */
int graft_generation_own(struct graft_generation *generation, struct graft_generation_fields *owner,
                         struct graft_error *error);

#endif
