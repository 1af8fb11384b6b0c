/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the attention of each layer from config.json: `layer_types`, an array with one of two names for each layer. A
 * family without the field, or whose published configs lack it, has a rule of its own. All functions are [any]. */
#ifndef GRAFT_LAYER_TYPES_H
#define GRAFT_LAYER_TYPES_H

#include <stdio.h>
#include <string.h>

#include "abi.h"
#include "config.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether layer `layer` of `layers` has the type `name` (1) and not `other` (0). Without the field *is is unchanged. */
GRAFT_INLINE int graft_layer_type(const struct graft_config *config, int64_t layers, int64_t layer, const char *name,
                                  const char *other, int32_t *is, struct graft_error *error) {
    char path[40];
    int64_t size = config->size(config->data, "layer_types");
    if (!graft_config_has(config, "layer_types")) {
        return GRAFT_OK;
    }
    if (config->kind(config->data, "layer_types") != GRAFT_FIELD_ARRAY) {
        return graft_config_expected(config, "layer_types", "an array", error);
    }
    if (size != layers) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "layer_types: expected %s (%lld) entries, got %lld",
                               graft_config_spelling(config, "num_hidden_layers"), (long long)layers, (long long)size);
    }
    (void)snprintf(path, sizeof path, "layer_types.%lld", (long long)layer);
    const char *type = config->string(config->data, path);
    if (type == NULL) {
        return graft_config_expected(config, path, "a string", error);
    }
    *is = strcmp(type, name) == 0;
    return *is || strcmp(type, other) == 0
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected \"%s\" or \"%s\", got \"%s\"",
                                 path, other, name, type);
}

/* Fills in windows [layers], the number of keys that a query of each layer sees (0: all): `sliding_window` (0: the
 * model has none) for "sliding_attention", and 0 for "full_attention". Without the field `layer_types` they are
 * unchanged. */
GRAFT_INLINE int graft_layer_windows(const struct graft_config *config, int64_t layers, int64_t sliding_window,
                                     int64_t *windows, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int64_t i = 0; i < layers && graft_config_has(config, "layer_types") && status == GRAFT_OK; i++) {
        int32_t slides = 0;
        status = graft_layer_type(config, layers, i, "sliding_attention", "full_attention", &slides, error);
        windows[i] = slides ? sliding_window : 0;
        if (slides && sliding_window == 0) {
            status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                     "layer_types.%lld: \"sliding_attention\" needs a window, but sliding_window is "
                                     "null or not used",
                                     (long long)i);
        }
    }
    return status;
}

/* Fills in windows [layers] with `sliding_window` for every layer, or 0 if that is null or absent; does not read
 * `layer_types`. */
GRAFT_INLINE int graft_same_windows(const struct graft_config *config, int64_t layers, int64_t *windows,
                                    struct graft_error *error) {
    int64_t window = 0;
    int status = graft_config_int(config, "sliding_window", 1, INT32_MAX, &window, error);
    for (int64_t i = 0; i < layers; i++) {
        windows[i] = window;
    }
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
