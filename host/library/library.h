/* SPDX-License-Identifier: Apache-2.0 */
/* What the public handles (graft_library, graft_model) contain. For the library and its checks. */
#ifndef GRAFT_LIBRARY_LIBRARY_H
#define GRAFT_LIBRARY_LIBRARY_H

#include <pthread.h>

#include "arch/arch.h"
#include "base/context.h"
#include "bind/bind.h"
#include "chains/chain.h"
#include "generate/generate.h"
#include "generate/run.h"
#include "graft/host/graft.h"
#include "image/processor.h"
#include "library/encoding.h"
#include "library/lists.h"
#include "library/published.h"
#include "library/survey.h"
#include "plugin/plugin.h"
#include "registry/built_in.h"
#include "registry/families.h"
#include "registry/fusion.h"
#include "registry/implementations.h"
#include "registry/registry.h"

struct graft_library {
    struct graft_context context; /* settings of threads that work for the library and its models */
    struct graft_built_in *built_in;
    struct graft_registry *registry;
    pthread_mutex_t lock;             /* guards the fields below */
    struct graft_plugin_set **loaded; /* plugins from files, a set for each call */
    size_t n_loaded;
    size_t loaded_capacity;
    int32_t skip_bad_plugins;         /* whether all of these calls asked for it */
    int32_t ranks;                    /* how many ranks their orders use */
    struct graft_plugin_set **called; /* plugins registered by calls, a set for each */
    size_t n_called;
    size_t called_capacity;
    size_t n_models; /* number of open models */
};

/* [any] Marks this thread as working for the library, or for a model's library, until graft_context_enter is called
 * with the returned context. */
struct graft_context *graft_library_begin(struct graft_library *library);
struct graft_context *graft_model_begin(const struct graft_model *model);

/* [any] All sets of plugins, those registered by calls first: [*n], which the caller frees; NULL if memory ran out. The
 * lock must be held. */
const struct graft_plugin_set **graft_library_sets(const struct graft_library *library, size_t *n);

/* [any] If a plugin that was left out brings the model type or class, says so as the error's hint, in the place of any
 * other. */
void graft_library_hint_left_out(struct graft_library *library, const char *name, struct graft_error *error);

struct graft_model_note {
    char *text;            /* one line */
    size_t unused_plugins; /* graft_model_note_unused_plugins */
};

enum { GRAFT_PROCESSOR_FILES = 3 };

/* How images (0) and videos (1) are prepared, or why they cannot be. */
struct graft_model_processors {
    struct graft_model_file *files[GRAFT_PROCESSOR_FILES]; /* NULL: there is no such file, or it is not needed */
    int32_t is_used[GRAFT_PROCESSOR_FILES];                /* whether images (0) or videos (1) are prepared by it */
    struct graft_model_processor {
        struct graft_processor_config config;
        struct graft_error error;
    } of[2];
};

struct graft_model {
    struct graft_library *library; /* the library, which counts this model; NULL: not opened yet */
    char *directory;
    char *patch_file; /* the option's, or NULL */
    int32_t precision;
    int32_t kv_cache; /* GRAFT_PRECISION_... */
    int32_t without_weights;
    struct graft_ignored_names ignored; /* fields of the model's files that an option ignores; strings in `published` */
    int32_t ignored_may_lack;           /* 1: names among these that no file has are no error */
    struct graft_model_config *config;
    struct graft_model_file *generation_config; /* NULL: the directory has none */
    struct graft_model_processors processors;
    struct graft_known_family family; /* the model type's family */
    const char *root_class;           /* class of the tree's root; a string of the family */
    int32_t root_guessed;             /* the root is the causal LM, although `architectures` has an unknown name */
    int32_t takes_head; /* asked for: the causal LM, although `architectures` names the model without its head */
    struct graft_checkpoint *checkpoint;
    struct graft_adapters adapters;
    const char *resized_by; /* the adapter that resized the vocabulary, and the number of tokens before; or NULL */
    int64_t resized_from;
    int64_t resized_to;
    struct graft_model_lists lists; /* transforms that the checkpoint's names pass through before classes see them */
    struct graft_tree *tree;
    struct graft_plan *plan;
    struct graft_bound *bound;       /* NULL until loaded */
    const struct graft_module *head; /* the root, of the task's interface; NULL until loaded, and if `unset` is set */
    const char *unset;               /* without weights: the first parameter without an initial value; or NULL */
    int64_t vocab_size;
    struct graft_generation_settings generation;
    struct graft_tokenizer *tokenizer; /* for stop strings; NULL until one is used */
    struct graft_model_encoding encoding;
    const struct graft_implementation *attention; /* the chosen attention, of the tree's snapshot */
    const struct graft_implementation *experts;
    const struct graft_attention_implementation *attention_now; /* that of `attention`, or of a recording in progress */
    int32_t attention_asked;    /* whether the user chose it by name, or records attention weights */
    struct graft_chains chains; /* chains of fused modules, in place once the model is loaded */
    graft_json *fusion_config;  /* the option's; NULL: config.json's is used */
    struct graft_survey survey; /* facts about the tree */
    struct graft_published published;
    struct graft_model_note *notes; /* [n_notes] */
    size_t n_notes;
    size_t notes_capacity;
    double load_seconds;
    struct graft_recoding *recoding; /* weights in another form than in the files (recode.h); NULL: none */
};

/* [load] Records the error of a class or operation, which knows only its module, together with the file of its tensors
 * or, if there is no plan yet, config.json. Returns its code. */
int graft_model_name_file(const struct graft_model *model, const struct graft_error *cause, struct graft_error *error);

/* [load] Chooses the family of model->directory and reads config.json as it says. */
int graft_model_read_family(struct graft_model *model, const struct graft_snapshot *snapshot,
                            struct graft_error *error);

/* [load] Refuses fields of config.json by the rules of the model's family, before anything is built from them. */
int graft_model_refuse_fields(struct graft_model *model, struct graft_error *error);

/* [load] Determines and publishes the use of each field of the model's files, once it is planned. Values that plugins'
 * rules refuse, and options without effect, are errors. */
int graft_model_classify_fields(struct graft_model *model, struct graft_error *error);

/* [any] Checks that checkpoint and model fit exactly: the part of graft_model_check_strict that concerns tensors. */
int graft_model_check_tensors(const struct graft_model *model, struct graft_error *error);

/* [any] Checks that each field that was not ignored is used, without effect or neutral; otherwise the error names those
 * that are not used. */
int graft_model_check_used(const struct graft_model *model, struct graft_error *error);

/* [load] Checks that each class that the family has an alias for is known, and that each field alias is of a field that
 * somebody asked for while the model was opened; otherwise GRAFT_ERROR_PLUGIN. */
int graft_model_check_stand_ins(const struct graft_model *model, const struct graft_snapshot *snapshot,
                                struct graft_error *error);
int graft_model_check_aliases(const struct graft_model *model, struct graft_error *error);

/* [load] The type of cached keys and values, as the option says or the weights imply. */
graft_dtype graft_model_kv_dtype(const struct graft_model *model);

/* [any] The family's class that generates text; NULL if it has none. */
const char *graft_model_causal_lm(const struct graft_model *model, const struct graft_snapshot *snapshot);

/* [load] Checks that a root that replaces an unknown architecture uses all tensors and lacks none; otherwise the error
 * names the architecture and the tensor. */
int graft_model_check_root(const struct graft_model *model, struct graft_error *error);

/* [any] Checks the tensors that the options (NULL: none) provide: their structs, types, shapes and data. */
int graft_model_check_given(const struct graft_model_options *options, struct graft_error *error);

/* [load] Opens the checkpoint of a model without weight files: the options' tensors, or an empty one. */
int graft_model_open_given(struct graft_model *model, const struct graft_model_options *options,
                           struct graft_error *error);

/* [load] Sets the fusion_config of an option (NULL: none was given). */
int graft_model_set_fusion(struct graft_model *model, const char *fusion_config, struct graft_error *error);

/* [load] Reads the fusion families that the option, or else config.json, asks for. The caller finishes it, even on
 * failure. */
int graft_model_read_fusion(const struct graft_model *model, const struct graft_snapshot *snapshot,
                            struct graft_fusion_request *request, struct graft_error *error);

/* [load] Adds the kernels that the options name to `*snapshot`, which is replaced, and sets the implementations that
 * they name. `options` may be NULL. */
int graft_model_choose_implementations(struct graft_model *model, const struct graft_model_options *options,
                                       struct graft_snapshot **snapshot, struct graft_error *error);

/* [load] Checks that a module of the tree uses each implementation that the options name: one without effect is an
 * error. */
int graft_model_check_implementations(const struct graft_model *model, const struct graft_model_options *options,
                                      struct graft_error *error);

/* [load] Checks that `other`, from another directory, has modules of the same sizes; otherwise the error names the
 * field. */
int graft_model_check_counterpart(const struct graft_model *model, const struct graft_model *other,
                                  struct graft_error *error);

/* [load] Creates a session of `slots` sequences with the model's implementations. */
int graft_model_session(const struct graft_model *model, int32_t slots, struct graft_session **session,
                        struct graft_error *error);

struct patch_file;

/* [load] The load patch that the options ask for, or NULL; one from a patch file belongs to `file`, which the caller
 * finishes, even on failure. `*snapshot` is replaced by one that contains the load patch's classes. */
int graft_model_choose_patch(const struct graft_model_options *options, struct graft_snapshot **snapshot,
                             struct patch_file *file, const struct graft_load_patch **patch, struct graft_error *error);

/* [load] Collects the notes on a planned model: replacements without effect, oddities of the checkpoint. */
int graft_model_collect_notes(struct graft_model *model, struct graft_error *error);

/* [load] Tries the chains from number `first` on, and puts them in place with the implementations that plugins offer.
 */
int graft_model_place_chains(struct graft_model *model, size_t first, struct graft_error *error);

/* [any] Checks that a forward can be run: the model is loaded, and every parameter has a value. */
int graft_model_check_loaded(const struct graft_model *model, struct graft_error *error);

/* [any] Checks that the model can generate text: it is loaded and has a language model head. */
int graft_model_check_ready(const struct graft_model *model, struct graft_error *error);

/* [any] The value of an attribute in the first module that declares it; `fallback` if none does. Walks over all
 * modules. */
int64_t graft_model_say(const struct graft_model *model, const char *attribute, int64_t fallback);

/* How a prompt contains a video: as one run of tokens, or as one run for each temporal patch, whose time is text. The
 * time stands before the run, or after it in models whose videos are image tokens. */
enum { GRAFT_VIDEO_WHOLE, GRAFT_VIDEO_SECONDS_BEFORE, GRAFT_VIDEO_SECONDS_AFTER };

/* [any] GRAFT_VIDEO_..., from the attribute video_by_frame. */
int32_t graft_model_video_form(const struct graft_model *model);

/* [any] Changes the ids of a prompt with images as the model's processor does before it repeats image tokens. Without a
 * tokenizer, and on an error, they are unchanged. */
int graft_model_prepare_prompt(const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                               struct graft_ids *ids, struct graft_error *error);

/* [any] Checks the structs of prompts and their images, and that prompts with image or video tokens have images or
 * videos: without these such tokens would be read as meaningless words. */
int graft_model_check_prompts(const struct graft_model *model, const struct graft_prompt *prompts, size_t n,
                              struct graft_error *error);

/* [any] Copies an image to the caller's struct, as far as that has room. On an error the caller's image gets no pixels.
 * Returns `status`. */
int graft_image_give(int status, const struct graft_image *made, struct graft_image *image);

/* [any] Returns the result for pixels in the caller's memory. If `status` is an error with the reason `cause`, it
 * becomes an error of an argument, since no file was read. */
int graft_fail_pixels(int status, const struct graft_error *cause, struct graft_error *error);

/* [any] Converts a prompt for a session. For a model with an encoder, the prompt is the source, and the sequence is
 * decoder_ids, or by default the decoder's start token. */
int graft_model_view_prompt(const struct graft_model *model, const struct graft_prompt *prompt,
                            struct graft_ids_view *view, struct graft_error *error);

/* [any] Whether a prompt has decoder_ids, which a program of an older version does not know. */
int graft_prompt_has_decoder_ids(const struct graft_prompt *prompt);

/* [any] Whether the model has an encoder, which reads prompts, before its decoder. */
int graft_model_has_encoder(const struct graft_model *model);

/* [load] Feeds one token to an empty slot. Afterwards it is known what the model keeps of a token, and in which layers.
 */
int graft_model_feed_token(const struct graft_model *model, struct graft_session *session, int32_t slot,
                           enum graft_logits_rows which, struct graft_error *error);

/* [load] If an adapter's tables have another number of tokens than config.json says, changes the config to that number,
 * and sets `vocab_size` in the adapter's entry of `adapters`. */
int graft_model_resize_vocabulary(struct graft_model *model, struct graft_error *error);

/* [any] Finds the adapter that each prompt names, as in graft_batch: adapters [n]. */
int graft_model_find_adapters(const struct graft_model *model, const struct graft_prompt *prompts, size_t n,
                              int32_t *adapters, struct graft_error *error);

/* [any] The options of a run of up to `slots` sequences of the model, without other limits. */
struct graft_run_options graft_model_run_options(const struct graft_model *model, int32_t slots);

/* [any] Checks that the ids in generation_config.json are in the model's vocabulary, where they have to be. */
int graft_model_check_fields(const struct graft_model *model, struct graft_error *error);

/* [load] Combines the settings of the model directory with those of a program (NULL: none), which override them, and
 * finds what they need. Settings that cannot be used are GRAFT_ERROR_USAGE with the name of the field. Lists are not
 * copied. */
int graft_model_choose_generation(struct graft_model *model, const struct graft_generation *given,
                                  struct graft_generation_settings *settings, struct graft_error *error);

/* [load] The texts of tokens, if these settings have stop strings; freed with the model. */
int graft_model_token_texts(struct graft_model *model, const struct graft_generation *generation,
                            struct graft_token_texts *texts, struct graft_error *error);

/* [load] The bytes of each token's text, one token after another: token `id` has bytes[places[id]] to
 * bytes[places[id + 1] - 1], and `*size` is the number of ids. Special tokens have none. The caller frees both; on
 * failure they are empty. */
int graft_token_bytes(const struct graft_tokenizer *tokenizer, struct graft_text *bytes, size_t **places, size_t *size,
                      struct graft_error *error);

/* [load] Reads how images and videos are prepared, for a model that accepts them. Errors are kept until a prompt has an
 * image or a video. */
int graft_model_read_processors(struct graft_model *model, struct graft_error *error);

/* [load] The name of file `i` of those with processor settings, if it was read without an error; else NULL. */
const char *graft_model_processor_file(const struct graft_model *model, size_t i);

/* [any] */
void graft_model_processors_finish(struct graft_model *model);

/* [load] The directory's settings for preparing images, or videos, checked against the model. */
int graft_model_read_processor(const struct graft_model *model, int32_t is_video, struct graft_processor_config *config,
                               struct graft_error *error);

#endif
