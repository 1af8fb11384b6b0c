/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the model handle that reads whole texts. */
#ifndef GRAFT_LIBRARY_ENCODING_H
#define GRAFT_LIBRARY_ENCODING_H

#include "encode/encode_session.h"
#include "encode/sentence.h"
#include "model/tree.h"

struct graft_model_encoding {
    int32_t task; /* GRAFT_TASK_... */
    struct graft_encoder_info info;
    const struct graft_node *reader;      /* the module that texts are run through; NULL: none gives hidden states */
    int32_t is_decoder;                   /* whether it has no token types, as an encoder's base model has */
    char **labels;                        /* [info.n_labels], or NULL */
    struct graft_encode_session *session; /* NULL until first used */
    struct graft_sentence sentence;
    int32_t has_sentence; /* whether `sentence` was read */
};

/* [load] Reads what the config of a model whose tree is built says about encoding. Errors are those of the config. */
int graft_model_encoding_read(struct graft_model *model, struct graft_error *error);
void graft_model_encoding_finish(struct graft_model_encoding *encoding);

#endif
