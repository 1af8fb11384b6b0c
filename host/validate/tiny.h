/* SPDX-License-Identifier: Apache-2.0 */
/* Tiny models with random weights: a config.json for each model type, and a tensor for each parameter that the type's
 * own classes declare. The first check that needs them makes them, in the validation's folder. */
#ifndef GRAFT_VALIDATE_TINY_H
#define GRAFT_VALIDATE_TINY_H

#include "graft/family.h"
#include "validate/validation.h"

/* Sizes that models may vary in. */
struct graft_tiny_sizes {
    int hidden; /* heads * head_dim */
    int heads;
    int kv_heads; /* divides heads */
    int head_dim; /* even */
    int intermediate;
    int experts;
    int vocab;
    int layers;
};

extern const struct graft_tiny_sizes graft_tiny_usual;

/* [load] Makes the model directory `directory` of a model type. */
int graft_tiny_write(struct graft_library *library, const char *model_type, const char *architecture,
                     const struct graft_tiny_sizes *sizes, const char *directory, struct graft_error *error);

/* [load] Writes the weights that the directory's config.json asks for. */
int graft_tiny_write_weights(struct graft_library *library, const char *directory, struct graft_error *error);

/* [load] Makes FOLDER/NAME, with an adapter if the library's plugin has classes for adapters. */
int graft_tiny_make(const struct graft_validation *validation, struct graft_library *library, const char *model_type,
                    const char *architecture, const struct graft_tiny_sizes *sizes, const char *name,
                    struct graft_error *error);

/* [any] Fills in random numbers at most 1/8 away from `base`, as weights are. */
void graft_tiny_fill(float *values, int64_t count, float base, uint64_t seed);

/* [load] Makes an adapter for the model, in its directory, if the library's plugin has classes for adapters. */
int graft_tiny_make_adapter(struct graft_library *library, const char *directory, struct graft_error *error);

/* [any] Whether graft_tiny_make_adapter has made an adapter in the directory. */
int graft_tiny_has_adapter(const char *directory);

/* [load] graft_model_open, with the model's adapter if it has one. */
int graft_tiny_open(struct graft_library *library, const char *directory, const struct graft_model_options *options,
                    struct graft_model **model, struct graft_error *error);

/* [any] Model type number `i` for which the host makes tiny models, and its architecture; NULL after the last. */
const char *graft_tiny_type(size_t i, const char **architecture);

/* [any] The architecture of a model type for which the host makes tiny models; NULL: it makes none. */
const char *graft_tiny_architecture(const char *model_type);

/* A tiny model that the plugin has an effect on, or the given model, opened with the plugin. */
struct graft_subject {
    struct graft_validation *validation;
    const char *model_type;
    int number; /* number of models */
    int models;
    char *directory;
    struct graft_library *library;
    struct graft_model *model; /* loaded with the plugin */
    int is_own_type;           /* 1: the plugin brings the model type */
    int is_lossy;              /* 1: a class of the plugin is lossy, so results differ from the original's */
    int is_on_request;         /* 1: a replacement is used on request only, so results may differ */
    int is_adapted;            /* 1: an adapter is in effect, so results differ */
    const char *left;          /* why the check does not apply to this model; NULL: it does */
};

typedef int (*graft_subject_function)(struct graft_subject *subject, struct graft_error *error);

/* Records that the check does not apply to this model. Returns GRAFT_OK. A check that applies to none is skipped. */
int graft_subject_leave(struct graft_subject *subject, const char *why);

/* Records why no tiny model of a type that the plugin brings can be made. */
void graft_tiny_refused(const struct graft_validation *validation, const char *model_type,
                        const struct graft_error *why);

/* Skips a check because there are no tiny models, and gives the recorded reasons. Returns GRAFT_OK. */
int graft_tiny_skip(struct graft_validation *validation);

/* Calls `check` with each model. If there are none, the check is skipped, with the recorded reasons. */
int graft_tiny_each(struct graft_validation *validation, graft_subject_function check, struct graft_error *error);

/* Like graft_tiny_each, for checks that open the model themselves: `model` is NULL. */
int graft_tiny_each_closed(struct graft_validation *validation, graft_subject_function check,
                           struct graft_error *error);

/* [load] Opens and loads a directory with the plugin or, with `without`, without replacements. The caller frees library
 * and model. */
int graft_subject_open(const struct graft_subject *subject, int without, struct graft_library **library,
                       struct graft_model **model, struct graft_error *error);

/* [load] Frees the subject's library and model. */
void graft_subject_close(struct graft_subject *subject);

/* [any] Whether the class of this module, or the class of one of the model's modules, comes from the plugin. */
int graft_module_is_plugins(const struct graft_named_module *module, const char *id);
int graft_subject_is_plugins(const struct graft_model *model, const char *id);

#endif
