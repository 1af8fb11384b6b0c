/* SPDX-License-Identifier: Apache-2.0 */
/* RoBERTa's heads, which are not those of BERT. */
#ifndef ROBERTA_H
#define ROBERTA_H

#include "graft/encoder_parts.h"
#include "graft/head.h"

graft_parts_describe roberta_lm_head_describe, roberta_classification_head_describe;
graft_parts_create roberta_lm_head_create, roberta_classification_head_create;
extern const struct graft_head roberta_lm_head_vtable, roberta_classification_head_vtable;

#endif
