/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of AutoRound (quant_method "auto-round"; before version 0.5 "intel/auto-round"). Their tensors have the
 * layout of GPTQ or of AWQ: `packing_format`, or in old ones `backend`, names it. This header holds what plugins that
 * read these layouts share: the conditions under which they apply, and how to read a module's settings from the config.
 */
#ifndef GRAFT_AUTO_ROUND_H
#define GRAFT_AUTO_ROUND_H

#include <stdio.h>
#include <string.h>

#include "condition.h"
#include "config.h"
#include "regex.h"
#include "word_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The values of `quant_method`, for lists of strings. */
#define GRAFT_AUTO_ROUND_METHODS "auto-round", "intel/auto-round"

/* Initialisers of a replacement's conditions: `quant_method` is one of `methods`, the layout is one of `layouts`, and
 * the module has one of `tensors`. There are two fields that name a layout, and a replacement for each of them: if
 * `packing_format` is present, `backend` is only the backend that was chosen for running the model. Some names of
 * layouts are also used for codes that are not integers (`types`). */
#define GRAFT_AUTO_ROUND_PACKING_FORMAT(methods, types, layouts, tensors)                  \
    GRAFT_AUTO_ROUND_CONDITION(CONFIG, "quantization_config.quant_method", methods),       \
        GRAFT_AUTO_ROUND_CONDITION(CONFIG, "quantization_config.packing_format", layouts), \
        GRAFT_AUTO_ROUND_CONDITION(NO_CONFIG, "quantization_config.data_type", types),     \
        GRAFT_AUTO_ROUND_CONDITION(TENSOR, NULL, tensors)
#define GRAFT_AUTO_ROUND_BACKEND(methods, types, layouts, tensors)                         \
    GRAFT_AUTO_ROUND_CONDITION(CONFIG, "quantization_config.quant_method", methods),       \
        GRAFT_AUTO_ROUND_CONDITION(NO_CONFIG, "quantization_config.packing_format", NULL), \
        GRAFT_AUTO_ROUND_CONDITION(CONFIG, "quantization_config.backend", layouts),        \
        GRAFT_AUTO_ROUND_CONDITION(NO_CONFIG, "quantization_config.data_type", types),     \
        GRAFT_AUTO_ROUND_CONDITION(TENSOR, NULL, tensors)
#define GRAFT_AUTO_ROUND_CONDITION(kind, field, values) \
    { sizeof(struct graft_condition), GRAFT_CONDITION_##kind, field, values }

/* The values of `data_type` for codes other than integers, for `types`. */
#define GRAFT_AUTO_ROUND_OTHER_TYPES \
    "fp", "fp8", "fp8_e4m3", "fp8_e5m2", "fp8_sym", "mx_fp", "mx_fp_rceil", "mx_int", "nv_fp", "nv_fp4"

/* Defines `replacements` for a plugin that reads the method `method`, and AutoRound's checkpoints in these `layouts`;
 * both are NULL-terminated lists. `linear` replaces Linears that have a "qweight", `experts` replaces experts that the
 * checkpoint stores one by one (expert_parts.h), as stacked parameters cannot hold them. */
#define GRAFT_AUTO_ROUND_REPLACEMENTS(linear, experts, method, layouts)                        \
    static const char *const auto_round[] = {GRAFT_AUTO_ROUND_METHODS, NULL};                  \
    static const char *const other_types[] = {GRAFT_AUTO_ROUND_OTHER_TYPES, NULL};             \
    static const char *const packed_tensors[] = {"qweight", NULL};                             \
    static const char *const expert_tensors[] = {"0.gate_proj.qweight", "0.w1.qweight", NULL}; \
    static const struct graft_condition conditions[][2] = {                                    \
        {GRAFT_AUTO_ROUND_CONDITION(CONFIG, "quantization_config.quant_method", method),       \
         GRAFT_AUTO_ROUND_CONDITION(TENSOR, NULL, packed_tensors)},                            \
        {GRAFT_AUTO_ROUND_CONDITION(CONFIG, "quantization_config.quant_method", method),       \
         GRAFT_AUTO_ROUND_CONDITION(TENSOR, NULL, expert_tensors)},                            \
    };                                                                                         \
    static const struct graft_condition packing_format[][4] = {                                \
        {GRAFT_AUTO_ROUND_PACKING_FORMAT(auto_round, other_types, layouts, packed_tensors)},   \
        {GRAFT_AUTO_ROUND_PACKING_FORMAT(auto_round, other_types, layouts, expert_tensors)},   \
    };                                                                                         \
    static const struct graft_condition backend[][5] = {                                       \
        {GRAFT_AUTO_ROUND_BACKEND(auto_round, other_types, layouts, packed_tensors)},          \
        {GRAFT_AUTO_ROUND_BACKEND(auto_round, other_types, layouts, expert_tensors)},          \
    };                                                                                         \
    static const struct graft_replacement replacements[] = {                                   \
        GRAFT_SCHEME_LINEARS(linear, conditions[0]),                                           \
        GRAFT_SCHEME_LINEARS(linear, packing_format[0]),                                       \
        GRAFT_SCHEME_LINEARS(linear, backend[0]),                                              \
        {GRAFT_PARTS_LISTED_EXPERTS(experts, conditions[1])},                                  \
        {GRAFT_PARTS_LISTED_EXPERTS(experts, packing_format[1])},                              \
        {GRAFT_PARTS_LISTED_EXPERTS(experts, backend[1])},                                     \
    }

/* Field rules (field_rule.h) for settings of AutoRound's tuning, and for lists of modules whose tensors already show
 * how they are quantized. */
#define GRAFT_AUTO_ROUND_FIELD_RULES                                                                                   \
    {.name = "quantization_config.amp"}, {.name = "quantization_config.autoround_version"},                            \
        {.name = "quantization_config.batch_size"}, {.name = "quantization_config.data_type"},                         \
        {.name = "quantization_config.enable_minmax_tuning"}, {.name = "quantization_config.enable_norm_bias_tuning"}, \
        {.name = "quantization_config.enable_quanted_input"}, {.name = "quantization_config.extra_config"},            \
        {.name = "quantization_config.gradient_accumulate_steps"}, {.name = "quantization_config.iters"},              \
        {.name = "quantization_config.low_gpu_mem_usage"}, {.name = "quantization_config.lr"},                         \
        {.name = "quantization_config.minmax_lr"}, {.name = "quantization_config.nsamples"},                           \
        {.name = "quantization_config.scale_dtype"}, {.name = "quantization_config.seqlen"}, {                         \
        .name = "quantization_config.to_quant_block_names"                                                             \
    }

/* Bytes of a field's path, including the NUL. */
enum { GRAFT_AUTO_ROUND_PLACE = 64 };

/* [load] The layout of an AutoRound checkpoint; NULL if the method is another one or no layout is named. */
GRAFT_INLINE const char *graft_auto_round_layout(const struct graft_config *config) {
    static const char *const methods[] = {GRAFT_AUTO_ROUND_METHODS};
    static const char field[] = "quantization_config.packing_format";
    const char *method = config->string(config->data, "quantization_config.quant_method");
    size_t i = 0;
    while (i < sizeof methods / sizeof methods[0] && (method == NULL || strcmp(methods[i], method) != 0)) {
        i++;
    }
    return i < sizeof methods / sizeof methods[0]
               ? config->string(config->data, graft_config_has(config, field) ? field : "quantization_config.backend")
               : NULL;
}

/* [load] Whether the member `key` of `extra_config`, whose object is at `own`, applies to the module at `path`: the key
 * is a pattern that is found in the path, and the object has a setting. A key whose only special characters are dots is
 * a name, not a pattern. Objects of 16 bits are skipped: those modules are not quantized, which their tensors show. */
GRAFT_INLINE int graft_auto_round_match(const struct graft_config *config, const struct graft_regexes *regexes,
                                        const char *key, const char *own, const char *path, int32_t *found,
                                        struct graft_error *error) {
    char bits[GRAFT_AUTO_ROUND_PLACE + 8];
    const int is_name = strcmp(key, path) == 0;
    *found = 0;
    if (!is_name && strpbrk(key, "*+?^$()[]{}|\\") == NULL) {
        return GRAFT_OK;
    }
    (void)snprintf(bits, sizeof bits, "%s.bits", own);
    if (config->size(config->data, own) == 0 || config->integer(config->data, bits) >= 16) {
        return GRAFT_OK;
    }
    *found = is_name;
    return is_name ? GRAFT_OK : regexes->search(key, path, config->file, found, error);
}

/* [load] Finds the settings of the module at `path`: the member of `extra_config` with that name, else the first
 * pattern that matches, else "quantization_config". */
GRAFT_INLINE int graft_auto_round_find(const struct graft_config *config, const struct graft_regexes *regexes,
                                       const char *path, char place[GRAFT_AUTO_ROUND_PLACE],
                                       struct graft_error *error) {
    static const char extra[] = "quantization_config.extra_config";
    char own[GRAFT_AUTO_ROUND_PLACE];
    const char *key;
    int32_t is_found = 0;
    (void)snprintf(place, GRAFT_AUTO_ROUND_PLACE, "quantization_config");
    if (graft_config_has(config, extra) && config->kind(config->data, extra) != GRAFT_FIELD_OBJECT) {
        return graft_config_expected(config, extra, "an object", error);
    }
    for (int64_t i = 0; (key = config->key(config->data, extra, i)) != NULL; i++) {
        const int is_name = strcmp(key, path) == 0;
        int32_t hit = 0;
        (void)snprintf(own, sizeof own, "%s.#%lld", extra, (long long)i);
        int status =
            is_found && !is_name ? GRAFT_OK : graft_auto_round_match(config, regexes, key, own, path, &hit, error);
        if (status != GRAFT_OK) {
            return status;
        }
        if (hit) {
            is_found = 1;
            memcpy(place, own, sizeof own);
        }
        if (is_name) {
            break;
        }
    }
    return GRAFT_OK;
}

/* [load] Refuses settings at `place`, or else those of all modules, that ask for codes other than integers or for
 * quantized activations. */
GRAFT_INLINE int graft_auto_round_check(const struct graft_config *config, const char *place,
                                        struct graft_error *error) {
    static const char *const turned[] = {"rotation_config", "rotation_configs", "spinquant_config"};
    char own[GRAFT_AUTO_ROUND_PLACE + 32], all[GRAFT_AUTO_ROUND_PLACE + 32];
    const char *type = "int";
    int64_t bits = 16;
    for (size_t i = 0; i < sizeof turned / sizeof turned[0]; i++) {
        (void)snprintf(all, sizeof all, "quantization_config.%s", turned[i]);
        if (config->size(config->data, all) > 0) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: not read by this plugin", all);
        }
    }
    (void)snprintf(own, sizeof own, "%s.data_type", place);
    (void)snprintf(all, sizeof all, "quantization_config.data_type");
    const char *path = graft_config_has(config, own) ? own : all;
    graft_config_string(config, path, &type, error);
    if (strcmp(type, "int") != 0 && strcmp(type, "int_sym") != 0 && strcmp(type, "int_asym") != 0) {
        graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected \"int\", got \"%s\"", path, type);
    }
    graft_word_field(config, place, "act_bits", 1, 64, &bits, error);
    return bits < 16 ? graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                       "quantization_config.act_bits: expected 16, got %lld", (long long)bits)
                     : error->code;
}

/* [load] For `describe` with an AutoRound checkpoint: finds the settings of the module that config.json calls `path`,
 * and refuses those that these plugins cannot read. */
GRAFT_INLINE int graft_auto_round_read(const struct graft_config *config, const struct graft_regexes *regexes,
                                       const char *path, char place[GRAFT_AUTO_ROUND_PLACE],
                                       struct graft_error *error) {
    int status = graft_auto_round_find(config, regexes, path, place, error);
    return status == GRAFT_OK ? graft_auto_round_check(config, place, error) : status;
}

#ifdef __cplusplus
}
#endif

#endif
