/* SPDX-License-Identifier: Apache-2.0 */
/* `run` for encoders, which read texts as a whole: shared by the files that run them and that print results. */
#ifndef GRAFT_CLI_COMMANDS_ENCODE_H
#define GRAFT_CLI_COMMANDS_ENCODE_H

#include "cli/texts.h"
#include "graft/host/graft.h"

/* Texts that run in one forward. */
struct graft_text_batch {
    struct graft_text_ids *texts;         /* [count] */
    struct graft_encoder_prompt *prompts; /* [count], pointing into `texts` */
    size_t count;
    size_t capacity;
    size_t tokens;
    size_t first; /* index of the first one among all texts */
};

struct graft_encode_run {
    const struct graft_options *options;
    struct graft_model *model;
    struct graft_tokenizer *tokenizer; /* NULL if neither texts nor results need it */
    int32_t mask_id;                   /* id of [MASK], for a masked model; -1: no predictions are printed */
    int32_t cls_id;                    /* id of [CLS], for question answering; -1: there is none */
    float *results;                    /* [capacity], memory for printers, reused by each batch */
    size_t results_capacity;
};

/* `run` with a loaded model that does not generate, or with --embed. */
int graft_encode_command(const struct graft_options *options, struct graft_model *model, struct graft_error *error);

/* Grows run->results to `rows` * `columns` numbers. */
int graft_encode_reserve(struct graft_encode_run *run, size_t rows, size_t columns, struct graft_error *error);

/* [printers] Run a batch and print a result per text, in order. */
int graft_print_vectors(struct graft_encode_run *run, const struct graft_text_batch *batch, struct graft_error *error);
int graft_print_labels(struct graft_encode_run *run, const struct graft_text_batch *batch, struct graft_error *error);
int graft_print_tokens(struct graft_encode_run *run, const struct graft_text_batch *batch, struct graft_error *error);
int graft_print_answers(struct graft_encode_run *run, const struct graft_text_batch *batch, struct graft_error *error);
int graft_print_fill_mask(struct graft_encode_run *run, const struct graft_text_batch *batch,
                          struct graft_error *error);

/* The id of the tokenizer's mask token, such as [MASK]; -1 and an error if there is none. */
int32_t graft_fill_mask_token(const char *directory, const struct graft_tokenizer *tokenizer,
                              struct graft_error *error);

/* --logits FILE: tensor `logits`, or of several texts `logits.0`, `logits.1`, ...: [tokens, vocab_size] of a masked
 * model, [1, labels] of a classifier, [tokens, labels] of one of tokens, [tokens, 2] of answers. */
int graft_encoder_logits_write(struct graft_model *model, const struct graft_text_batch *batch, const char *path,
                               struct graft_error *error);

#endif
