/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights that a model has in another form than its files, as `quantize` and `dequantize` of its options ask.
 *
 * The directory is opened as it is first, without replacements: the source. What is found there says which tensors of
 * the checkpoint give way to others, and what config.json says from then on. The model is then opened like any other;
 * before it is bound, the tensors that are in no file are filled, and the source goes.
 */
#ifndef GRAFT_LIBRARY_RECODE_H
#define GRAFT_LIBRARY_RECODE_H

#include "graft/quantization.h"
#include "library/library.h"
#include "model/coded.h"
#include "save/save.h"

/* A weight of the source, and what is made of it. */
struct recoded {
    struct graft_node *node;
    const struct graft_coded_parameter *coded; /* of the node: to be made floats; NULL: to be quantized */
    const struct graft_tensor_view *tensor;    /* to be quantized */
    size_t made;                               /* index in `made` of the first tensor made from it */
    int64_t transposed;                        /* rows of each float matrix that is stored transposed; 0: none is */
};

/* The index of the first number of a row of a tensor's matrices; its `columns` numbers are `*step` apart. `transposed`
 * is that of the item. */
static inline int64_t graft_recoded_row(int64_t transposed, int64_t row, int64_t columns, int64_t *step) {
    *step = transposed > 0 ? transposed : 1;
    return transposed > 0 ? row / transposed * transposed * columns + row % transposed : row * columns;
}

struct graft_recoding {
    struct graft_model *source; /* NULL once all is filled */
    unsigned char *removed;     /* [tensors of its checkpoint] */
    struct graft_tensor_view *made;
    size_t n_made;
    size_t made_capacity;
    struct recoded *items;
    size_t n;
    size_t capacity;
    const char *field;                       /* the field of config.json that changes */
    graft_json *config;                      /* what it becomes, until the document has it; NULL: it goes */
    graft_json *detached;                    /* what it was; or NULL */
    int unties;                              /* 1: the head is quantized, so it is no longer tied to the embedding */
    graft_json *not_tied;                    /* JSON false: the tie_word_embeddings to save; NULL: not made yet */
    char *note;                              /* for the user, one line */
    const struct graft_quantization *format; /* NULL: what is quantized becomes floats */
    const char *plugin;                      /* whose format it is */
};

/* --- For who opens a model --- */

/* [load] Opens the source of a model whose directory and library are set, if the options (NULL: none) ask for it, and
 * plans what is made of its weights. */
int graft_recoding_open(struct graft_model *model, const struct graft_model_options *options,
                        struct graft_error *error);

/* [load] Edit model->config and model->checkpoint so that they describe the recoded weights. To be called before the
 * model reads either. */
int graft_recoding_edit_config(struct graft_model *model, struct graft_error *error);
int graft_recoding_edit_checkpoint(struct graft_model *model, struct graft_error *error);

/* [load] Fills in the tensors that are in no file, once; before the model is bound. */
int graft_recoding_fill(struct graft_model *model, struct graft_error *error);

/* [load] Adds what config.json is to say in what is saved. */
void graft_recoding_changes(const struct graft_model *model, struct graft_config_changes *changes);

/* [load] Accepts NULL. */
void graft_recoding_free(struct graft_recoding *recoding);

/* --- For the units that recode --- */

/* [load] The tensors that a parameter of the source is bound to go. */
void graft_recoding_remove(struct graft_recoding *recoding, const struct graft_parameter *parameter);

/* [load] Adds a tensor that comes; `name_take` is the recoding's from then on, and may be NULL: memory ran out. */
int graft_recoding_add(struct graft_recoding *recoding, char *name_take, graft_dtype dtype, int32_t rank,
                       const int64_t *shape, const char *file);

/* [load] Whether the class of a node transposes the tensor that becomes its parameter `name`. */
int graft_recoding_is_transposed(const struct graft_node *node, const char *name);

/* [load] Decide what becomes of the source's weights, and fill in what is made of them (dequantize.c, quantize.c). */
int graft_quantize_plan(struct graft_recoding *recoding, const char *wanted, struct graft_error *error);
int graft_quantize_fill(struct graft_recoding *recoding, const struct graft_checkpoint *checkpoint,
                        struct graft_error *error);
int graft_dequantize_plan(struct graft_recoding *recoding, struct graft_error *error);
int graft_dequantize_fill(struct graft_recoding *recoding, const struct graft_checkpoint *checkpoint,
                          struct graft_error *error);

#endif
