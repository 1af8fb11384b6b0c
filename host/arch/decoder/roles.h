/* SPDX-License-Identifier: Apache-2.0 */
/* The classes that a decoder's description defines. */
#ifndef GRAFT_ARCH_DECODER_ROLES_H
#define GRAFT_ARCH_DECODER_ROLES_H

#include "arch/data/description.h"
#include "graft/class.h"

/* [load] Names the classes of a description after `prefix`: LlamaDecoderLayer for "Llama". With `is_new` 0 the
 * description is a copy of another family's, and classes without a name there get none. */
int graft_decoder_name_classes(struct graft_description *description, const char *prefix, int is_new,
                               struct graft_error *error);

/* [any] The maximum number of classes of a description. */
int32_t graft_decoder_n_classes(void);

/* [load] Gets class `i` of the description, which is the class's `data`: returns 1, or 0 if the family has no such
 * class. Names live as long as the description. */
int graft_decoder_class(const struct graft_description *description, int32_t i, struct graft_class *cls);

/* [any] The description that defines a class; NULL for any other class. */
const struct graft_description *graft_decoder_description(const struct graft_class *cls);

/* [any] The name of a class, D_CLASS_.... The default of D_CLASS_BASE_MODEL is the name of the model's class, that of
 * D_CLASS_HEAD_NORM, D_CLASS_LAST_NORM and D_CLASS_STEP_NORM is the name of other norms' class. */
const char *graft_decoder_class_name(const struct graft_description *description, int32_t choice);

/* [any] Whether the class can be the root of a model. */
int graft_decoder_is_root(const struct graft_class *cls);

#endif
