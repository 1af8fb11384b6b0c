/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiny models with random weights: a config.json of our own for each model type, and a tensor for each parameter that
 * the type's own classes declare. They are made once, in the validation's folder, by the first check that needs them.
 */
#ifndef GRAFT_VALIDATE_TINY_H
#define GRAFT_VALIDATE_TINY_H

#include "graft/family.h"
#include "validate/validation.h"

/* Sizes that vary. */
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

/* [load] Makes FOLDER/NAME, with an adapter where the library's plugin has classes for such. */
int graft_tiny_make(const struct graft_validation *validation, struct graft_library *library, const char *model_type,
                    const char *architecture, const struct graft_tiny_sizes *sizes, const char *name,
                    struct graft_error *error);

/* [any] Numbers below 1/8, as weights are, around `base`. */
void graft_tiny_fill(float *values, int64_t count, float base, uint64_t seed);

/* [load] Makes an adapter for the model in the directory, inside of it, where the library's plugin has classes for
 * such. */
int graft_tiny_make_adapter(struct graft_library *library, const char *directory, struct graft_error *error);

/* [any] Whether there is one. */
int graft_tiny_has_adapter(const char *directory);

/* [load] graft_model_open, with the adapter that was made for the model, if one was. */
int graft_tiny_open(struct graft_library *library, const char *directory, const struct graft_model_options *options,
                    struct graft_model **model, struct graft_error *error);

/* [any] Model type number `i` of the host's that tiny models are made of, and its architecture; NULL after the last. */
const char *graft_tiny_type(size_t i, const char **architecture);

/* A tiny model that the plugin has an effect on, or the given one: opened with it. */
struct graft_subject {
    struct graft_validation *validation;
    const char *model_type;
    int number; /* of so many models */
    int models;
    char *directory;
    struct graft_library *library;
    struct graft_model *model; /* loaded, with the plugin */
    int is_own_type;           /* the plugin brings it */
    int is_lossy;              /* some class of the plugin is, so results differ from the original's */
    int is_on_request;         /* some replacement is, so results may differ */
    int is_adapted;            /* an adapter is in effect, so results differ */
    const char *left;          /* why the check does not apply to this model; NULL: it was made */
};

typedef int (*graft_subject_function)(struct graft_subject *subject, struct graft_error *error);

/* The check does not apply to this model. Returns GRAFT_OK. Where it applies to none, it is skipped. */
int graft_subject_leave(struct graft_subject *subject, const char *why);

/* Says why there is no tiny model of a type that the plugin brings. */
void graft_tiny_refused(const struct graft_validation *validation, const char *model_type,
                        const struct graft_error *why);

/* Skips a check because there are no tiny models, with the reasons there are. Returns GRAFT_OK. */
int graft_tiny_skip(struct graft_validation *validation);

/* Calls `check` with each. Where there is none, the check is skipped, with the reasons there are. */
int graft_tiny_each(struct graft_validation *validation, graft_subject_function check, struct graft_error *error);

/* The same, for checks that open the model themselves: `model` is NULL. */
int graft_tiny_each_closed(struct graft_validation *validation, graft_subject_function check,
                           struct graft_error *error);

/* [load] Opens and loads a directory with the plugin, or without replacements. The caller frees both. */
int graft_subject_open(const struct graft_subject *subject, int without, struct graft_library **library,
                       struct graft_model **model, struct graft_error *error);

/* [load] Frees both. */
void graft_subject_close(struct graft_subject *subject);

/* [any] Whether a module is the plugin's. */
int graft_subject_is_plugins(const struct graft_model *model, const char *id);

#endif
