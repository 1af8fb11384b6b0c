/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens, loads and saves models.
 *
 *     struct graft_model *model;
 *     graft_model_open(library, "model", NULL, &model, &error);   // plans the model, reads no weights
 *     graft_model_load(model, &error);                            // binds the weights, creates the modules
 *     graft_model_free(model);
 *
 * modules.h and plan.h describe an open model; generate.h, sequences.h and encode.h run it; observe.h observes it.
 */
#ifndef GRAFT_HOST_MODEL_H
#define GRAFT_HOST_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "graft/call.h"
#include "graft/error.h"
#include "graft/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_library;
struct graft_load_patch;
struct graft_model;

/* An adapter to use: a directory with adapter_config.json and adapter_model.safetensors, as PEFT writes them. Its
 * tensors are offered to the model's classes, and classes of plugins apply them; an adapter that is not applied in full
 * is an error. Borrowed until graft_model_open returns. */
struct graft_adapter_options {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;      /* unique; up to 64 letters, digits, '_' and '-'; not GRAFT_BASE_MODEL */
    const char *directory; /* must not be NULL */
    double scale;          /* factor for its effect; 1: as trained */
};

#define GRAFT_ADAPTER_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_adapter_options, scale)

/* A tensor in memory. The struct is borrowed until graft_model_open returns, but `data` must stay valid until
 * graft_model_free: the model reads it whenever it runs, so numbers written there take effect from the next run on. */
struct graft_given_tensor {
    uint32_t struct_size;
    graft_dtype dtype; /* GRAFT_DTYPE_... */
    const char
        *name;    /* name of a tensor as in a checkpoint, or of a parameter, which is then used without conversion */
    int32_t rank; /* 0 to GRAFT_MAX_RANK */
    uint32_t reserved;
    int64_t shape[GRAFT_MAX_RANK]; /* [rank] */
    const void *data;              /* row-major */
};

#define GRAFT_GIVEN_TENSOR_SIZE_1_0 GRAFT_END_OF(struct graft_given_tensor, data)

struct graft_model_options {
    uint32_t struct_size;
    int32_t precision; /* GRAFT_PRECISION_... */
    /* GRAFT_PRECISION_...: the type of cached keys and values. AUTO: bf16 if most of the weights are bf16 and
     * `precision` is not FLOAT32; else f32. */
    int32_t kv_cache;
    /* 1: no weight files are read, and config.json is enough. Parameters get the initial values that their classes
     * declare. If one has none, the model can be loaded and inspected, but not run. */
    int32_t without_weights;
    /* 1: nothing is replaced, not even by patches. For a quantized checkpoint, the replacements that read its
     * quant_method stay, since its weights make no sense without them. */
    int32_t without_replacements;
    int32_t n_kernels;
    /* Which fusion families to use, as a JSON object: "{\"patch_embeddings\": true}". Values are true, false or an
     * object of options; "{}": none. It is stored by graft_model_save. NULL: as config.json says. */
    const char *fusion_config;
    /* Implementations chosen by name, from the host or from plugins. An unknown name is an error (GRAFT_ERROR_USAGE)
     * that lists the names available. Attention: "sdpa" (NULL), "eager"; experts: "grouped_mm" (NULL), "eager",
     * "batched_mm"; kernels: other forwards for named classes (graft/kernel_override.h), from plugins only. */
    const char *attn_implementation;
    const char *experts_implementation; /* likewise */
    const char *const *kernels;         /* [n_kernels] likewise */
    /* Changes for this load only (graft/host/registry.h); NULL: none. */
    const struct graft_load_patch *patch;
    const char *patch_file;                       /* a JSON file, in place of `patch`; NULL: none */
    const struct graft_adapter_options *adapters; /* [n_adapters] all of them are in effect */
    int32_t n_adapters;
    uint32_t adapter_stride;
    /* Paths of fields that are ignored in all of the model's JSON files ("rope_scaling", "text_config.clip_qkv"), as if
     * they were absent. A field that no file has is GRAFT_ERROR_USAGE unless `ignored_may_lack` is 1. */
    const char *const *ignored_fields; /* [n_ignored_fields] */
    int32_t n_ignored_fields;
    int32_t ignored_may_lack; /* 1: ignored fields need not exist */
    /* Later than 1.0. Quantize or dequantize weights when loading: at most one of the two, not with a patch, and not
     * for a directory in the runtime layout. The model behaves as if its files had these weights, and saving it in the
     * original layout writes them. */
    const char *quantize; /* the format that weights are quantized to, "int4" or "int4:32" with groups of 32 weights;
                             one of the loaded plugins has to offer it. With "+head" after it, modules right below the
                             root, such as the language model head, are quantized as well. NULL: none */
    int32_t dequantize;   /* 1: loads a quantized checkpoint's weights as floats, in the type that config.json names
                             (default bf16) */
    uint32_t reserved;
    /* Later than 1.0. With without_weights: tensors in memory that take the place of weight files. They are used in
     * place, without a copy. Such a model cannot be saved. */
    const struct graft_given_tensor *tensors; /* [n_tensors] graft_struct_at */
    size_t n_tensors;
};

#define GRAFT_MODEL_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_model_options, adapter_stride)

/* [any] Reads config and weight headers, and plans the model: module tree, replacements, conversions. Later changes of
 * the library's registrations do not affect this model. `options` may be NULL. The caller frees the model. */
int graft_model_open(struct graft_library *library, const char *directory, const struct graft_model_options *options,
                     struct graft_model **model, struct graft_error *error);

/* [any] Binds the weights and creates the modules. A parameter that the checkpoint lacks, or has with another shape, is
 * an error. */
int graft_model_load(struct graft_model *model, struct graft_error *error);

/* [any] Frees a model, loaded or not, with everything that it handed out. Accepts NULL. */
void graft_model_free(struct graft_model *model);

/* [any] Note `i` on the model, such as that a plugin matched nothing in it; NULL after the last. */
const char *graft_model_note(const struct graft_model *model, size_t i);

/* [any] The number of plugins that note `i` reports as loaded but unused in this model, either because they have no
 * effect on it or because nobody asked for them; 0 if the note is about something else. */
size_t graft_model_note_unused_plugins(const struct graft_model *model, size_t i);

/* [any] Number of logits per token. */
int64_t graft_model_vocab_size(const struct graft_model *model);

/* [any] The maximum number of positions of a sequence; 0: no limit. */
int64_t graft_model_max_positions(const struct graft_model *model);

/* [any] The name of the class at a module path ("" is the model itself), "ModuleList" or "Sequential" for a list; NULL
 * if there is no such module. */
const char *graft_model_class_at(const struct graft_model *model, const char *path);

/* Stands for the model without adapters where the name of an adapter is expected. */
#define GRAFT_BASE_MODEL "__base__"

/* --- Saving --- */

/* The original layout is written by running this load's conversions backwards from the bound parameters: the same
 * tensors, bit for bit, whatever replacements are active. The runtime layout has one tensor for each parameter and a
 * journal for going back; docs/save.md has the details. */

struct graft_save_options {
    uint32_t struct_size;
    int32_t runtime_layout;  /* 1: write the runtime layout */
    int64_t max_shard_bytes; /* of a file's tensors; 0: 50 GB, transformers' default */
    /* [load] Called on the calling thread with the bytes written so far and the total; may be NULL. Any status but
     * GRAFT_OK cancels the save, and nothing is left behind. */
    int (*on_progress)(void *data, int64_t done, int64_t total, struct graft_error *error);
    /* [load] Called on the calling thread with each note for the user, a single line; may be NULL. */
    void (*on_note)(void *data, const char *text);
    void *data; /* passed to both functions */
};

#define GRAFT_SAVE_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_save_options, data)

/* [load] Writes an open model, loaded or not, to a directory that is empty or does not exist. The directory is filled
 * under a temporary name and then renamed, so it is complete or absent. A missing or mismatched parameter is an error
 * before anything is written, unless it is missing because a load patch (graft/host/registry.h) asked for another
 * layout. `options` may be NULL. */
int graft_model_save(struct graft_model *model, const char *directory, const struct graft_save_options *options,
                     struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif
