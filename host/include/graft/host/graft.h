/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libgraft: loading a Hugging Face model directory with module classes replaced, and running it.
 *
 *     struct graft_error error = graft_error_none();
 *     struct graft_library *library;
 *     struct graft_model *model;
 *     graft_library_create(&library, &error);
 *     graft_library_load_plugins(library, directories, 1, NULL, &error);
 *     graft_model_open(library, "model", NULL, &model, &error);   // decides everything, reads no weight
 *     graft_model_load(model, &error);                            // binds the weights, makes the modules
 *     graft_model_generate(model, prompts, 1, NULL, on_token, data, &error);
 *
 * Functions return GRAFT_OK or a code of error.h, with the reason in `error`. Nothing here prints or exits. Elements of
 * arrays, those that these functions take and those that they return, are reached by graft_struct_at (abi.h).
 */
#ifndef GRAFT_HOST_GRAFT_H
#define GRAFT_HOST_GRAFT_H

#include <stddef.h>
#include <stdint.h>

#include "graft/call.h"
#include "graft/error.h"
#include "graft/host/classes.h"
#include "graft/host/encode.h"
#include "graft/host/families.h"
#include "graft/host/fields.h"
#include "graft/host/fuse.h"
#include "graft/host/generation.h"
#include "graft/host/implementations.h"
#include "graft/host/modules.h"
#include "graft/host/patch.h"
#include "graft/host/plan.h"
#include "graft/host/plugins.h"
#include "graft/host/recording.h"
#include "graft/host/registry.h"
#include "graft/host/sequences.h"
#include "graft/image.h"
#include "graft/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Plugins and the registries they fill. */
struct graft_library;

/* A model directory opened by a library, with the replacements registered at that moment. */
struct graft_model;

/* [any] A library with the built-in classes. The caller frees it, after its models. */
int graft_library_create(struct graft_library **library, struct graft_error *error);

/* [any] Frees a library whose models are freed, and calls `deinit` of those of its plugins that no other library has
 * loaded. Accepts NULL. */
void graft_library_free(struct graft_library *library);

struct graft_library_options {
    uint32_t struct_size;
    /* 1: a plugin that cannot be used, or whose pattern matches classes of another interface in a model, becomes a note
     * instead of an error; in models only if all calls of the library say so. */
    int32_t skip_bad_plugins;
    const char *const *allow; /* ids of the plugins wanted; their order decides if several want one module; NULL: all */
    int32_t n_allow;
    /* 1: plugins are validated and can be inspected (graft/host/plugins.h), but are neither initialised nor
     * registered. */
    int32_t inspect_only;
    /* What is chosen of the plugins' options (graft/option.h): "ID.NAME=VALUE". One for a plugin that is not loaded or
     * has no such option, a value that it cannot have, and one that is given twice are errors (GRAFT_ERROR_USAGE), as
     * are other values than a plugin has that another library of this process uses. */
    const char *const *plugin_options; /* [n_plugin_options] */
    int32_t n_plugin_options;
    int32_t n_directories;
    const char *const *directories;     /* [n_directories]: of graft_library_load_plugin; NULL: none */
    graft_plugin_file_function on_file; /* which files may be opened, by what is in them; NULL: all */
    void *on_file_data;                 /* for `on_file` */
};

#define GRAFT_LIBRARY_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_library_options, on_file_data)

/* [load] Loads the plugins found in `n` directories and registers what they bring: all of them, or none. `options` may
 * be NULL. A later call, of this or of graft_library_load_plugin, adds plugins to those that are there, as if they were
 * found behind them: an id that one of them has is taken, and where options->allow of both calls orders plugins, those
 * of the first call go first. Options of plugins are for those of this call. While a model of the library is open that
 * is an error (GRAFT_ERROR_USAGE). */
int graft_library_load_plugins(struct graft_library *library, const char *const *directories, int32_t n,
                               const struct graft_library_options *options, struct graft_error *error);

/* [any] Notes on plugins (files that are not plugins, plugins skipped) and on registered keys (graft/host/registry.h):
 * number `i`, or NULL after the last. */
const char *graft_library_note(const struct graft_library *library, size_t i);

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
    /* Changes for this load only (graft/host/patch.h); NULL: none. */
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
    const char *quantize; /* quantized as this format says, "int4" or "int4:32", where groups have 32 weights; of the
                             plugins that are loaded one has to have it. NULL: not */
    int32_t dequantize;   /* 1: those of a quantized checkpoint are floats, of the type that config.json names (bf16,
                             where it names none) */
    uint32_t reserved;
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

/* A prompt: `count` token ids and their images (graft/host/images.h). Each run of image tokens takes one image, in
 * order, and has one token for each of its merged patches. */
struct graft_prompt {
    uint32_t struct_size;
    uint32_t reserved;
    const int32_t *ids;               /* [count] */
    size_t count;                     /* tokens; > 0 */
    const struct graft_image *images; /* [n_images] and videos, which take runs of video tokens: graft_struct_at */
    size_t n_images;
    /* The only adapter that takes effect on this prompt and what follows it, by its name, or GRAFT_BASE_MODEL; NULL:
     * all adapters of the model. An error (GRAFT_ERROR_USAGE) where a class applies its adapters to all sequences. */
    const char *adapter;
};

#define GRAFT_PROMPT_SIZE_1_0 GRAFT_END_OF(struct graft_prompt, adapter)

/* [any] Called for each new token, on the thread that generates; `last` is 1 for the one that ends its sequence. With
 * num_return_sequences prompt number i has the sequences from i * num_return_sequences on; those of beams come when the
 * prompt is done. Any status but GRAFT_OK stops generation. */
typedef int (*graft_token_function)(void *data, size_t sequence, int32_t id, int last, struct graft_error *error);

/* [any] Fills `generation`, whose struct_size is set, with the settings of the model directory (generation_config.json)
 * and our defaults for the rest. Its struct_size is then how much of it is filled. */
void graft_model_generation(const struct graft_model *model, struct graft_generation *generation);

/* [any, one thread per model] Generates from `n` prompts as one ragged batch, each until an end-of-sequence id or the
 * maximum. `generation` NULL: as the model directory says. A prompt that the model cannot take (no tokens, ids
 * outside its vocabulary, more of them than it has positions for) is GRAFT_ERROR_USAGE, here and below. */
int graft_model_generate(struct graft_model *model, const struct graft_prompt *prompts, size_t n,
                         const struct graft_generation *generation, graft_token_function on_token, void *data,
                         struct graft_error *error);

/* [any] Called for each new token, on the thread that generates. `token->sequence` is as of graft_token_function.
 * `token->logits` are those that the model gave, before penalties, temperature and the like; NULL with beams, and where
 * another process has chosen the token. Both are valid during the call. Any status but GRAFT_OK stops generation. */
typedef int (*graft_generated_function)(void *data, const struct graft_sequence_token *token,
                                        struct graft_error *error);

/* [any, one thread per model] graft_model_generate for who wants to know why a sequence ends, or how probable its
 * tokens are. */
int graft_model_generate_tokens(struct graft_model *model, const struct graft_prompt *prompts, size_t n,
                                const struct graft_generation *generation, graft_generated_function on_token,
                                void *data, struct graft_error *error);

/* [any, one thread per model] The logits of every position of `n` prompts, one ragged batch: [sum of counts,
 * vocab_size] f32, one prompt after another, into the caller's memory. */
int graft_model_logits(struct graft_model *model, const struct graft_prompt *prompts, size_t n, float *logits,
                       struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif
