/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models: opening a directory, loading, saving.
 *
 *     struct graft_model *model;
 *     graft_model_open(library, "model", NULL, &model, &error);   // decides everything, reads no weight
 *     graft_model_load(model, &error);                            // binds the weights, makes the modules
 *     graft_model_free(model);
 *
 * modules.h and plan.h have what was decided; generate.h, sequences.h and encode.h run a model, observe.h looks on.
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

/* A directory as PEFT writes it, adapter_config.json and adapter_model.safetensors, whose tensors classes see beside
 * the model's own. Classes of plugins apply it; one that nothing applies in full is an error. Borrowed until
 * graft_model_open returns. */
struct graft_adapter_options {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;      /* at most 64 letters, digits, '_' and '-', not GRAFT_BASE_MODEL; each has its own */
    const char *directory; /* must not be NULL */
    double scale;          /* how strongly it takes effect; 1: as it was trained */
};

#define GRAFT_ADAPTER_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_adapter_options, scale)

/* A tensor in memory. The struct is borrowed until graft_model_open returns, but `data` must stay valid until
 * graft_model_free: the model reads it whenever it runs, so numbers written there take effect from the next run on. */
struct graft_given_tensor {
    uint32_t struct_size;
    graft_dtype dtype; /* GRAFT_DTYPE_... */
    const char *name;  /* as in a checkpoint, or the name of a parameter, which is then used without conversion */
    int32_t rank;      /* 0 to GRAFT_MAX_RANK */
    uint32_t reserved;
    int64_t shape[GRAFT_MAX_RANK]; /* [rank] */
    const void *data;              /* row-major */
};

#define GRAFT_GIVEN_TENSOR_SIZE_1_0 GRAFT_END_OF(struct graft_given_tensor, data)

struct graft_model_options {
    uint32_t struct_size;
    int32_t precision; /* GRAFT_PRECISION_... */
    /* GRAFT_PRECISION_...: what keys and values of earlier tokens are kept as. AUTO: bf16 where most of the weights
     * are, unless `precision` is FLOAT32; else f32. */
    int32_t kv_cache;
    /* 1: weight files are ignored, config.json is enough. Parameters get the initial values that their classes declare.
     * If one has none, the model can be loaded and inspected, but not run. */
    int32_t without_weights;
    /* 1: every class is the original one, whatever would replace it, patches included. Of a quantized checkpoint
     * those stay that read its quant_method: without them its weights mean nothing. */
    int32_t without_replacements;
    int32_t n_kernels;
    /* Which fusion families to use, as a JSON object: "{\"patch_embeddings\": true}"; values are true, false or an
     * object of options. "{}": none. Saving stores it. NULL: as config.json says. */
    const char *fusion_config;
    /* Implementations chosen by name, from the host or from plugins. An unknown name is an error (GRAFT_ERROR_USAGE)
     * that lists the names available. Attention: "sdpa" (NULL), "eager"; experts: "grouped_mm" (NULL), "eager",
     * "batched_mm"; kernels: other forwards for named classes (graft/kernel_override.h), from plugins only. */
    const char *attn_implementation;
    const char *experts_implementation; /* likewise */
    const char *const *kernels;         /* [n_kernels] likewise */
    /* Changes for this load only (graft/host/registry.h); NULL: none. */
    const struct graft_load_patch *patch;
    const char *patch_file;                       /* the same as a JSON file, in the place of `patch`; NULL: none */
    const struct graft_adapter_options *adapters; /* [n_adapters] in effect all at once */
    int32_t n_adapters;
    uint32_t adapter_stride;
    /* Paths of fields that are ignored wherever the model's JSON files have them ("rope_scaling",
     * "text_config.clip_qkv"): everything is as if they were not there, whatever follows from that. One that no file
     * has is an error (GRAFT_ERROR_USAGE) unless `ignored_may_lack` is 1. */
    const char *const *ignored_fields; /* [n_ignored_fields] */
    int32_t n_ignored_fields;
    int32_t ignored_may_lack; /* 1: names among these that no file has are no error */
    /* Later than 1.0. Weights that the model has in another form than its files; no more than one of the two, neither
     * with a patch, and not of a directory in the runtime layout. The model computes as one whose files have them, and
     * in the original layout it is saved as one. */
    const char *quantize; /* the format that weights are quantized to, "int4" or "int4:32" with groups of 32 weights;
                             one of the loaded plugins has to offer it. With "+head" behind it, modules right below the
                             root, such as the language model head, are quantized as well. NULL: none */
    int32_t dequantize;   /* 1: those of a quantized checkpoint are floats, of the type that config.json names (bf16,
                             where it names none) */
    uint32_t reserved;
    /* Later than 1.0. With without_weights: tensors that take the place of weight files; they are used in place,
     * without a copy. Such a model cannot be saved. */
    const struct graft_given_tensor *tensors; /* [n_tensors] graft_struct_at */
    size_t n_tensors;
};

#define GRAFT_MODEL_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_model_options, adapter_stride)

/* [any] Reads config and weight headers and plans: module tree, replacements, conversions. Registering something later
 * does not change this model. `options` may be NULL. The caller frees the model. */
int graft_model_open(struct graft_library *library, const char *directory, const struct graft_model_options *options,
                     struct graft_model **model, struct graft_error *error);

/* [any] Binds the weights and creates the modules. A parameter that the checkpoint lacks, or has in another shape, is
 * an error. */
int graft_model_load(struct graft_model *model, struct graft_error *error);

/* [any] Frees a model, loaded or not, and what it has handed out. Accepts NULL. */
void graft_model_free(struct graft_model *model);

/* [any] Notes on the model (plugins that matched nothing in it): number `i`, or NULL after the last. */
const char *graft_model_note(const struct graft_model *model, size_t i);

/* [any] How many plugins note number `i` says to be loaded and not used in this model: those that have no effect on it,
 * and those that nobody has asked for. 0: the note is about something else. */
size_t graft_model_note_unused_plugins(const struct graft_model *model, size_t i);

/* [any] Number of logits per token. */
int64_t graft_model_vocab_size(const struct graft_model *model);

/* [any] How many positions a sequence may have; 0: there is no limit. */
int64_t graft_model_max_positions(const struct graft_model *model);

/* [any] The class built at a module path ("" is the model itself), "ModuleList" or "Sequential" for lists; NULL if
 * there is none. */
const char *graft_model_class_at(const struct graft_model *model, const char *path);

/* In the place of an adapter's name: the model without any. */
#define GRAFT_BASE_MODEL "__base__"

/* --- Saving --- */

/*
 * The original layout is written by running this load's conversions backwards from the bound parameters: the same
 * tensors, bit for bit, whatever replacements are active. The runtime layout has one tensor for each parameter and a
 * journal that leads back; docs/save.md has the details.
 */

struct graft_save_options {
    uint32_t struct_size;
    int32_t runtime_layout;  /* 1: write the runtime layout */
    int64_t max_shard_bytes; /* of a file's tensors; 0: 50 GB, as transformers has it */
    /* [load] Called on the calling thread with the number of bytes written and of all bytes; may be NULL. Any status
     * but GRAFT_OK stops the save, and nothing is left. */
    int (*on_progress)(void *data, int64_t done, int64_t total, struct graft_error *error);
    /* [load] Called on the calling thread with each note for the user, one line that is not an error; may be NULL. */
    void (*on_note)(void *data, const char *text);
    void *data; /* the caller's own, for both */
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
