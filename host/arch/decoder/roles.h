/* SPDX-License-Identifier: Apache-2.0 */
/* The classes that a decoder's description makes. */
#ifndef GRAFT_ARCH_DECODER_ROLES_H
#define GRAFT_ARCH_DECODER_ROLES_H

#include "arch/data/description.h"
#include "graft/class.h"

/* [load] Names the classes of a description after `prefix`: of "Llama", LlamaDecoderLayer. With `is_new` 0 the
 * description is a copy of another family's, and classes that have no name there get none. */
int graft_decoder_name_classes(struct graft_description *description, const char *prefix, int is_new,
                               struct graft_error *error);

/* [any] How many classes there may be. */
int32_t graft_decoder_n_classes(void);

/* [load] Class number `i` of the description, which is its `data`: 1; 0 where the family has no such class. Names live
 * as long as the description. */
int graft_decoder_class(const struct graft_description *description, int32_t i, struct graft_class *cls);

/* [any] The description behind a class that was made by one; NULL of any other. */
const struct graft_description *graft_decoder_description(const struct graft_class *cls);

/* [any] The name of a class, of D_CLASS_...; where the family says nothing, of D_CLASS_BASE_MODEL that of the model,
 * and of D_CLASS_HEAD_NORM, D_CLASS_LAST_NORM and D_CLASS_STEP_NORM that of other norms. */
const char *graft_decoder_class_name(const struct graft_description *description, int32_t choice);

/* [any] Whether such a class can be the root of a model. */
int graft_decoder_is_root(const struct graft_class *cls);

#endif
