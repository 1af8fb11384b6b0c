/* SPDX-License-Identifier: Apache-2.0 */
/* Weights in another form than in the model's files, as the options `quantize` and `dequantize` ask. First the
 * directory is opened without replacements; this model is the source. From it follow the tensors of the checkpoint that
 * are replaced by others, and the changes to config.json. Then the model is opened like any other; before it is bound,
 * the new tensors are filled in, and the source is freed. */
#ifndef GRAFT_LIBRARY_RECODE_H
#define GRAFT_LIBRARY_RECODE_H

#include "graft/quantization.h"
#include "library/library.h"
#include "model/coded.h"
#include "save/save.h"

/* A weight of the source, and the tensors made from it. */
struct recoded {
    struct graft_node *node;
    const struct graft_coded_parameter
        *coded; /* the node's coded parameter, to be dequantized; NULL: the weight is quantized */
    const struct graft_tensor_view *tensor; /* the tensor to be quantized */
    size_t made;                            /* index in `made` of the first tensor made from it */
    int64_t transposed;                     /* rows of each float matrix that is stored transposed; 0: none is */
};

/* The index of the first number of a row of a tensor's matrices; its `columns` numbers are `*step` apart. `transposed`
 * is that of the item. */
static inline int64_t graft_recoded_row(int64_t transposed, int64_t row, int64_t columns, int64_t *step) {
    *step = transposed > 0 ? transposed : 1;
    return transposed > 0 ? row / transposed * transposed * columns + row % transposed : row * columns;
}

struct graft_recoding {
    struct graft_model *source; /* NULL once all tensors are filled in */
    unsigned char *removed;     /* [tensors of its checkpoint] */
    struct graft_tensor_view *made;
    size_t n_made;
    size_t made_capacity;
    struct recoded *items;
    size_t n;
    size_t capacity;
    const char *field;                       /* name of the field of config.json that changes */
    graft_json *config;                      /* its new value, until the document owns it; NULL: the field is removed */
    graft_json *detached;                    /* its old value, or NULL */
    int unties;                              /* 1: the head is quantized, so it is no longer tied to the embedding */
    graft_json *not_tied;                    /* JSON false: the tie_word_embeddings to save; NULL: not made yet */
    char *note;                              /* a note for the user, one line */
    const struct graft_quantization *format; /* NULL: the model is dequantized */
    const char *plugin;                      /* id of the format's plugin */
};

/* --- For opening a model --- */

/* [load] Opens the source of a model whose directory and library are set, if the options (NULL: none) ask for it, and
 * plans how its weights are recoded. */
int graft_recoding_open(struct graft_model *model, const struct graft_model_options *options,
                        struct graft_error *error);

/* [load] Edit model->config and model->checkpoint so that they describe the recoded weights. To be called before the
 * model reads either. */
int graft_recoding_edit_config(struct graft_model *model, struct graft_error *error);
int graft_recoding_edit_checkpoint(struct graft_model *model, struct graft_error *error);

/* [load] Fills in the tensors that are not in files; called once, before the model is bound. */
int graft_recoding_fill(struct graft_model *model, struct graft_error *error);

/* [load] Adds the changes to config.json for saving. */
void graft_recoding_changes(const struct graft_model *model, struct graft_config_changes *changes);

/* [load] Accepts NULL. */
void graft_recoding_free(struct graft_recoding *recoding);

/* --- For quantize.c and dequantize.c --- */

/* [load] Removes the tensors to which a parameter of the source is bound. */
void graft_recoding_remove(struct graft_recoding *recoding, const struct graft_parameter *parameter);

/* [load] Adds a new tensor. Takes ownership of `name_take`, which may be NULL because memory ran out. */
int graft_recoding_add(struct graft_recoding *recoding, char *name_take, graft_dtype dtype, int32_t rank,
                       const int64_t *shape, const char *file);

/* [load] Whether the class of a node transposes the tensor that becomes its parameter `name`. */
int graft_recoding_is_transposed(const struct graft_node *node, const char *name);

/* [load] Plan how the source's weights are recoded, and fill in the new tensors (dequantize.c, quantize.c). */
int graft_quantize_plan(struct graft_recoding *recoding, const char *wanted, struct graft_error *error);
int graft_quantize_fill(struct graft_recoding *recoding, const struct graft_checkpoint *checkpoint,
                        struct graft_error *error);
int graft_dequantize_plan(struct graft_recoding *recoding, struct graft_error *error);
int graft_dequantize_fill(struct graft_recoding *recoding, const struct graft_checkpoint *checkpoint,
                          struct graft_error *error);

#endif
