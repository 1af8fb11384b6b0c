/* SPDX-License-Identifier: Apache-2.0 */
#include "names/legacy.h"

static const char *const gamma[] = {"LayerNorm.gamma"}, *const weight[] = {"LayerNorm.weight"};
static const char *const beta[] = {"LayerNorm.beta"}, *const bias[] = {"LayerNorm.bias"};
static const char *const weight_g[] = {".weight_g"}, *const original0[] = {".parametrizations.weight.original0"};
static const char *const weight_v[] = {".weight_v"}, *const original1[] = {".parametrizations.weight.original1"};
static const char *const doubled[] = {"^model\\.language_model\\.model", "^language_model\\.model\\.model"};
static const char *const language_model[] = {"model.language_model"};

#define RENAME(sources, n, targets)                                                            \
    {                                                                                          \
        .struct_size = sizeof(struct graft_weight_transform), .kind = GRAFT_TRANSFORM_RENAME,  \
        .source_patterns = sources, .n_sources = n, .target_patterns = targets, .n_targets = 1 \
    }

const struct graft_weight_transform *graft_legacy_transforms(size_t *n) {
    static const struct graft_weight_transform transforms[] = {
        RENAME(gamma, 1, weight),           RENAME(beta, 1, bias),
        RENAME(weight_g, 1, original0),     RENAME(weight_v, 1, original1),
        RENAME(doubled, 2, language_model),
    };
    *n = sizeof transforms / sizeof transforms[0];
    return transforms;
}
