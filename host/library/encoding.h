/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a model's handle that concerns whole texts. */
#ifndef GRAFT_LIBRARY_ENCODING_H
#define GRAFT_LIBRARY_ENCODING_H

#include "encode/encode_session.h"
#include "encode/sentence.h"
#include "model/tree.h"

struct graft_model_encoding {
    int32_t task; /* GRAFT_TASK_... */
    struct graft_encoder_info info;
    const struct graft_node *reader;      /* the module that computes hidden states; NULL: none does */
    int32_t is_decoder;                   /* whether it declares no token types, which an encoder's base model does */
    char **labels;                        /* [info.n_labels], or NULL */
    struct graft_encode_session *session; /* NULL until first used */
    struct graft_sentence sentence;
    int32_t has_sentence; /* whether `sentence` was read */
};

/* [load] Reads the fields of config.json that concern encoding, once the tree is built. Errors are the config's. */
int graft_model_encoding_read(struct graft_model *model, struct graft_error *error);
void graft_model_encoding_finish(struct graft_model_encoding *encoding);

#endif
