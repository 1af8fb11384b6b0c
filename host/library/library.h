/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the public handles, for the library itself and the program's reports. */
#ifndef GRAFT_LIBRARY_LIBRARY_H
#define GRAFT_LIBRARY_LIBRARY_H

#include <pthread.h>

#include "arch/arch.h"
#include "base/context.h"
#include "bind/bind.h"
#include "fuse/chain.h"
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
    struct graft_context context; /* that threads work by for it and its models */
    struct graft_built_in *built_in;
    struct graft_registry *registry;
    pthread_mutex_t lock;             /* guards the fields below */
    struct graft_plugin_set **loaded; /* from files, a set for each call */
    size_t n_loaded;
    size_t loaded_capacity;
    int32_t skip_bad_plugins;         /* as asked for by all of these calls */
    int32_t ranks;                    /* that their orders take up */
    struct graft_plugin_set **called; /* registered by calls, a set each */
    size_t n_called;
    size_t called_capacity;
    size_t n_models; /* that are open */
};

/* [any] This thread works for the library, or for a model's, until graft_context_enter is given what they return. */
struct graft_context *graft_library_begin(struct graft_library *library);
struct graft_context *graft_model_begin(const struct graft_model *model);

/* [any] All sets of plugins, those registered by calls first: [*n], the caller's to free; NULL without memory. With the
 * lock held. */
const struct graft_plugin_set **graft_library_sets(const struct graft_library *library, size_t *n);

struct graft_model_note {
    char *text;            /* one line */
    size_t unused_plugins; /* graft_model_note_unused_plugins */
};

enum { GRAFT_PROCESSOR_FILES = 3 };

/* How images (0) and videos (1) are prepared, or why they cannot be. */
struct graft_model_processors {
    struct graft_model_file *files[GRAFT_PROCESSOR_FILES]; /* NULL: there is no such file, or nobody needs it */
    int32_t is_used[GRAFT_PROCESSOR_FILES];                /* whether one of the two is in it */
    struct graft_model_processor {
        struct graft_processor_config config;
        struct graft_error error;
    } of[2];
};

struct graft_model {
    struct graft_library *library; /* which counts it; NULL: not yet */
    char *directory;
    char *patch_file; /* of the options; or NULL */
    int32_t precision;
    int32_t kv_cache; /* GRAFT_PRECISION_... */
    int32_t without_weights;
    struct graft_ignored_names ignored; /* by an option: what nobody is to see of the model's files; in `published` */
    int32_t ignored_may_lack;           /* 1: names among these that no file has are no error */
    struct graft_model_config *config;
    struct graft_model_file *generation_config; /* NULL: the directory has none */
    struct graft_model_processors processors;
    struct graft_known_family family; /* of the model type */
    const char *root_class;           /* of the tree; the family's */
    int32_t root_guessed;             /* the causal LM, which `architectures` does not name */
    int32_t takes_head;               /* asked for: it, where `architectures` names the model without its head */
    struct graft_checkpoint *checkpoint;
    struct graft_adapters adapters;
    const char *resized_by; /* the adapter for which the vocabulary was resized, from so many tokens; or NULL */
    int64_t resized_from;
    int64_t resized_to;
    struct graft_model_lists lists; /* what the checkpoint goes through before classes see it */
    struct graft_tree *tree;
    struct graft_plan *plan;
    struct graft_bound *bound;       /* NULL until loaded */
    const struct graft_module *head; /* of the task's interface; NULL until loaded, and with `unset` */
    const char *unset;               /* without weights: the first parameter that has no initial value; or NULL */
    int64_t vocab_size;
    struct graft_generation_settings generation;
    struct graft_tokenizer *tokenizer; /* for stop strings; NULL until there are any */
    struct graft_model_encoding encoding;
    const struct graft_implementation *attention; /* in force; of the tree's snapshot */
    const struct graft_implementation *experts;
    const struct graft_attention_implementation *attention_now; /* that of `attention`, or of a recording under way */
    int32_t attention_asked;                                    /* whether the user named it, or records its weights */
    struct graft_chains fusions; /* chains of modules, in place once the model is loaded */
    graft_json *fusion_config;   /* asked for by an option; NULL: config.json's holds */
    struct graft_survey survey;  /* of the tree */
    struct graft_published published;
    struct graft_model_note *notes; /* [n_notes] */
    size_t n_notes;
    size_t notes_capacity;
    double load_seconds;
    struct graft_recoding *recoding; /* weights in another form than the files' (recode.h); NULL: none are */
};

/* [load] Records the error of a class or operation, which know their module only, with the file of its tensors or, as
 * long as there is no plan, config.json. Returns its code. */
int graft_model_name_file(const struct graft_model *model, const struct graft_error *cause, struct graft_error *error);

/* [load] Reads config.json of model->directory as its family does, which becomes the model's. */
int graft_model_read_family(struct graft_model *model, const struct graft_snapshot *snapshot,
                            struct graft_error *error);

/* [load] Refuses fields of config.json by the rules of the model's family, before anything is built by them. */
int graft_model_refuse_fields(struct graft_model *model, struct graft_error *error);

/* [load] What became of each field of the model's files, once it is planned: published for whoever asks. What the rules
 * of plugins refuse, and options that nothing came of, are errors. */
int graft_model_settle_fields(struct graft_model *model, struct graft_error *error);

/* [any] Whether checkpoint and model fit exactly: what graft_model_check_strict says of tensors. */
int graft_model_check_tensors(const struct graft_model *model, struct graft_error *error);

/* [any] Whether each field that was not ignored is used, without effect or neutral; else an error that names those that
 * are not used. */
int graft_model_check_used(const struct graft_model *model, struct graft_error *error);

/* [load] Whether each class that the model's family has a stand-in for is known, and each alias that it gives is one of
 * a field that somebody asked for while the model was opened; else GRAFT_ERROR_PLUGIN. */
int graft_model_check_stand_ins(const struct graft_model *model, const struct graft_snapshot *snapshot,
                                struct graft_error *error);
int graft_model_check_aliases(const struct graft_model *model, struct graft_error *error);

/* [load] What keys and values are kept as, by the option or the weights. */
graft_dtype graft_model_kv_dtype(const struct graft_model *model);

/* [any] The class of the family that generates text; NULL: it has none. */
const char *graft_model_causal_lm(const struct graft_model *model, const struct graft_snapshot *snapshot);

/* [load] Whether a root that was taken in the place of an architecture that nobody knows takes all tensors and lacks
 * none: an error that names the architecture and the tensor otherwise. */
int graft_model_check_root(const struct graft_model *model, struct graft_error *error);

/* [any] Checks the tensors that the options (NULL: none) bring: their structs, types, shapes and data. */
int graft_model_check_given(const struct graft_model_options *options, struct graft_error *error);

/* [load] Opens the checkpoint of a model without weight files: of the options' tensors, or an empty one. */
int graft_model_open_given(struct graft_model *model, const struct graft_model_options *options,
                           struct graft_error *error);

/* [load] Takes the fusion_config of an option (NULL: none was given). */
int graft_model_set_fusion(struct graft_model *model, const char *fusion_config, struct graft_error *error);

/* [load] What the option, or else config.json, asks for. The caller finishes it, also after an error. */
int graft_model_read_fusion(const struct graft_model *model, const struct graft_snapshot *snapshot,
                            struct graft_fusion_request *request, struct graft_error *error);

/* [load] `*snapshot`, which is consumed, with the kernels that the options name; the implementations that they name
 * become the model's. `options` may be NULL. */
int graft_model_choose_implementations(struct graft_model *model, const struct graft_model_options *options,
                                       struct graft_snapshot **snapshot, struct graft_error *error);

/* [load] Whether each implementation that the options name is used by a module of the tree: one that would do nothing
 * is an error. */
int graft_model_check_implementations(const struct graft_model *model, const struct graft_model_options *options,
                                      struct graft_error *error);

/* [load] Whether `other`, of another directory, has modules of the same sizes; else an error that names the field. */
int graft_model_check_counterpart(const struct graft_model *model, const struct graft_model *other,
                                  struct graft_error *error);

/* [load] A session of `slots` sequences with the model's implementations. */
int graft_model_session(const struct graft_model *model, int32_t slots, struct graft_session **session,
                        struct graft_error *error);

struct patch_file;

/* [load] The load patch that the options ask for, or NULL; one from a patch file belongs to `file`, which the caller
 * finishes, also after an error. `*snapshot` becomes one that contains the load patch's classes. */
int graft_model_choose_patch(const struct graft_model_options *options, struct graft_snapshot **snapshot,
                             struct patch_file *file, const struct graft_load_patch **patch, struct graft_error *error);

/* [load] Collects the notes on a planned model: replacements that do nothing here, oddities of the checkpoint. */
int graft_model_collect_notes(struct graft_model *model, struct graft_error *error);

/* [load] Tries the chains from number `first` on and puts them in place, with the implementations offered for them. */
int graft_model_place_chains(struct graft_model *model, size_t first, struct graft_error *error);

/* [any] Whether a forward can be run: the model is loaded, and every parameter has a value. */
int graft_model_check_loaded(const struct graft_model *model, struct graft_error *error);

/* [any] Whether the model can generate text: it is loaded and has a language model head. */
int graft_model_check_ready(const struct graft_model *model, struct graft_error *error);

/* [any] The value of an attribute, of the first module that has it; `fallback` if none has. Walks over all modules. */
int64_t graft_model_say(const struct graft_model *model, const char *attribute, int64_t fallback);

/* How a video stands in a prompt: all its tokens together, or those of each patch along time with the text of their
 * time, which is before them, or behind them, where image tokens stand for videos, too. */
enum { GRAFT_VIDEO_WHOLE, GRAFT_VIDEO_SECONDS_BEFORE, GRAFT_VIDEO_SECONDS_BEHIND };

/* [any] GRAFT_VIDEO_..., the attribute video_by_frame. */
int32_t graft_model_video_form(const struct graft_model *model);

/* [any] What the model's processor makes of a prompt with images before it repeats image tokens. Without a tokenizer it
 * stays as it is. An error leaves it so, too. */
int graft_model_prepare_prompt(const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                               struct graft_ids *ids, struct graft_error *error);

/* [any] Whether prompts and their images are sound structs, and those that have image or video tokens have images or
 * videos, too: without them such tokens would be read as words that mean nothing. */
int graft_model_check_prompts(const struct graft_model *model, const struct graft_prompt *prompts, size_t n,
                              struct graft_error *error);

/* [any] Fills in the caller's image, as far as it goes, unless there is an error: then it has no pixels. Returns
 * `status`. */
int graft_image_give(int status, const struct graft_image *made, struct graft_image *image);

/* [any] Returns what came of pixels that the caller has in memory, which failed with `cause` unless `status` is
 * GRAFT_OK: no file was read, so an argument is at fault. */
int graft_fail_pixels(int status, const struct graft_error *cause, struct graft_error *error);

/* [any] Converts a prompt for a session: of a model with an encoder, the prompt is the source, and the sequence is
 * decoder_ids or the token that the decoder starts with. */
int graft_model_view_prompt(const struct graft_model *model, const struct graft_prompt *prompt,
                            struct graft_ids_view *view, struct graft_error *error);

/* [any] Whether a prompt has decoder_ids, which a program of an older version does not know. */
int graft_prompt_has_decoder_ids(const struct graft_prompt *prompt);

/* [any] Whether the model has an encoder, which reads prompts, before its decoder. */
int graft_model_has_encoder(const struct graft_model *model);

/* [load] Feeds one token to an empty slot. What the model keeps of a token, and in which layers, is known afterwards.
 */
int graft_model_feed_token(const struct graft_model *model, struct graft_session *session, int32_t slot,
                           enum graft_logits_rows which, struct graft_error *error);

/* [load] Where an adapter's tables have another number of tokens than config.json says, it is read as if it said so,
 * and the adapter's entry of `adapters` has `vocab_size`. */
int graft_model_resize_vocabulary(struct graft_model *model, struct graft_error *error);

/* [any] Which adapter each prompt names, as in graft_batch: adapters [n]. */
int graft_model_find_adapters(const struct graft_model *model, const struct graft_prompt *prompts, size_t n,
                              int32_t *adapters, struct graft_error *error);

/* [any] How sequences of the model run, up to `slots` at once, without other limits. */
struct graft_run_options graft_model_run_options(const struct graft_model *model, int32_t slots);

/* [any] Whether the ids in generation_config.json are of the model's vocabulary, where they have to be. */
int graft_model_check_fields(const struct graft_model *model, struct graft_error *error);

/* [load] The settings of the model directory with those over them that a program gives (NULL: none), and what these
 * need. What cannot be used is GRAFT_ERROR_USAGE with the name of the field. Lists stay where they are. */
int graft_model_choose_generation(struct graft_model *model, const struct graft_generation *given,
                                  struct graft_generation_settings *settings, struct graft_error *error);

/* [load] What tokens stand for, if these settings have stop strings. It goes with the model. */
int graft_model_token_texts(struct graft_model *model, const struct graft_generation *generation,
                            struct graft_token_texts *texts, struct graft_error *error);

/* [load] The bytes of each token's text, one token after another: token `id` has bytes[places[id]] to
 * bytes[places[id + 1] - 1], and `*size` is the number of ids. Special tokens have none. The caller frees both; on
 * failure they are empty. */
int graft_token_bytes(const struct graft_tokenizer *tokenizer, struct graft_text *bytes, size_t **places, size_t *size,
                      struct graft_error *error);

/* [load] Reads how images and videos are prepared, of a model that takes them; what is wrong with that is kept for
 * those who have some. */
int graft_model_read_processors(struct graft_model *model, struct graft_error *error);

/* [load] The name of file number `i` of those that say so, if it was read without an error; else NULL. */
const char *graft_model_processor_file(const struct graft_model *model, size_t i);

/* [any] */
void graft_model_processors_finish(struct graft_model *model);

/* [load] How the model directory says that images, or videos, are prepared; checked against the model. */
int graft_model_read_processor(const struct graft_model *model, int32_t is_video, struct graft_processor_config *config,
                               struct graft_error *error);

#endif
