/* SPDX-License-Identifier: Apache-2.0 */
/* Implements graft/host/observe.h: comparing models. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "hooks/comparison.h"
#include "hooks/profile.h"
#include "library/library.h"

struct graft_comparison {
    const struct graft_model *model;
    struct graft_tree_comparison trees;
    struct graft_compared *shown; /* [trees.count] */
};

static int compare(struct graft_comparison *comparison, struct graft_model *model, struct graft_model *original,
                   int32_t n_sequences, struct graft_error *error) {
    int other_weights = strcmp(model->directory, original->directory) != 0;
    int status = other_weights ? graft_model_check_counterpart(model, original, error) : GRAFT_OK;
    comparison->model = model;
    if (status == GRAFT_OK) {
        status = graft_tree_comparison_begin(model->tree, original->tree, other_weights, n_sequences,
                                             graft_model_kv_dtype(model), &comparison->trees, error);
    }
    if (status == GRAFT_OK) {
        comparison->shown = graft_alloc(comparison->trees.count, sizeof *comparison->shown);
        status = comparison->shown != NULL ? GRAFT_OK : graft_fail_memory(error, model->directory);
    }
    return status;
}

static int begin_comparing(struct graft_model *model, struct graft_model *original, int32_t n_sequences,
                           struct graft_comparison **comparison, struct graft_error *error) {
    struct graft_comparison *result = NULL;
    int status = graft_model_check_loaded(model, error);
    if (status == GRAFT_OK) {
        status = graft_model_check_loaded(original, error);
    }
    if (status == GRAFT_OK && (result = graft_alloc(1, sizeof *result)) == NULL) {
        status = graft_fail_memory(error, model->directory);
    }
    if (status == GRAFT_OK) {
        status = compare(result, model, original, n_sequences, error);
    }
    if (status != GRAFT_OK) {
        graft_comparison_free(result);
        return status;
    }
    *comparison = result;
    return GRAFT_OK;
}

int graft_model_compare(struct graft_model *model, struct graft_model *original, int32_t n_sequences,
                        struct graft_comparison **comparison, struct graft_error *error) {
    struct graft_context *before = graft_model_begin(model);
    int status = begin_comparing(model, original, n_sequences, comparison, error);
    (void)graft_context_enter(before);
    return status;
}

const struct graft_compared *graft_comparison_at(const struct graft_comparison *comparison, size_t i) {
    if (i >= comparison->trees.count) {
        return NULL;
    }
    const struct graft_compared_node *compared = &comparison->trees.items[i];
    comparison->shown[i] = (struct graft_compared){
        .struct_size = sizeof comparison->shown[i],
        .module = graft_published_module(comparison->model, compared->node),
        .reason = compared->reason,
        .calls = compared->calls,
        .outputs = compared->largest,
        .seconds = compared->seconds,
        .original_seconds = compared->original_seconds,
        .bytes = compared->bytes,
        .original_bytes = compared->original_bytes,
    };
    return &comparison->shown[i];
}

void graft_comparison_free(struct graft_comparison *comparison) {
    if (comparison != NULL) {
        graft_tree_comparison_finish(&comparison->trees);
        graft_free(comparison->shown);
        graft_free(comparison);
    }
}

struct graft_profile {
    struct graft_tree_profile tree;
};

int graft_model_profile(struct graft_model *model, const struct graft_profile_options *options,
                        struct graft_profile **profile, struct graft_error *error) {
    int status = graft_model_check_loaded(model, error);
    if (status == GRAFT_OK) {
        status = graft_check_given(options, GRAFT_PROFILE_OPTIONS_SIZE_1_0, "struct graft_profile_options", error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    struct graft_profile *result = graft_alloc(1, sizeof *result);
    if (result == NULL) {
        return graft_fail_memory(error, model->directory);
    }
    if (options != NULL) {
        result->tree.which = options->which;
        result->tree.counterpart = options->counterpart != NULL ? options->counterpart->tree : NULL;
    }
    status = graft_tree_profile_begin(&result->tree, model->tree, error);
    if (status != GRAFT_OK) {
        graft_profile_free(result);
        return status;
    }
    *profile = result;
    return GRAFT_OK;
}

void graft_profile_set_phase(struct graft_profile *profile, int32_t phase) {
    profile->tree.phase = phase == GRAFT_PHASE_TOKEN ? GRAFT_PHASE_TOKEN : GRAFT_PHASE_PROMPT;
}

void graft_profile_stop(struct graft_profile *profile) {
    graft_tree_profile_end(&profile->tree);
}

const struct graft_profile_row *graft_profile_at(const struct graft_profile *profile, size_t i) {
    return i < profile->tree.count ? &profile->tree.rows[i] : NULL;
}

int64_t graft_profile_bytes(const struct graft_profile *profile, int32_t phase) {
    return phase >= 0 && phase < GRAFT_PHASES ? profile->tree.bytes[phase] : 0;
}

void graft_profile_free(struct graft_profile *profile) {
    if (profile != NULL) {
        graft_tree_profile_finish(&profile->tree);
        graft_free(profile);
    }
}
