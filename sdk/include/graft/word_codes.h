/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors and config fields that GPTQ and AWQ share, whose codes are packed in words of 32 bits
 * (GRAFT_CODED_COLUMN_WORDS, GRAFT_CODED_ROW_WORDS): `qweight` and `qzeros` [groups, out * bits / 32], both I32, and
 * `scales` [groups, out]; and `quantization_config.bits` and `.group_size`, which some files call `w_bit` and
 * `q_group_size`. */
#ifndef GRAFT_WORD_CODES_H
#define GRAFT_WORD_CODES_H

#include "quant_format.h"
#include "quantization_fields.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_WORD_BITS_NAMES "bits", "w_bit", "wbits"
#define GRAFT_WORD_GROUP_NAMES "group_size", "q_group_size"

/* [load] The path of a module's own field, at `place`, or else of the field for all modules, at "quantization_config".
 */
GRAFT_INLINE int graft_word_field(const struct graft_config *config, const char *place, const char *name,
                                  int64_t minimum, int64_t maximum, int64_t *value, struct graft_error *error) {
    char own[128], all[128];
    (void)snprintf(own, sizeof own, "%.90s.%.30s", place, name);
    (void)snprintf(all, sizeof all, "quantization_config.%.30s", name);
    return graft_config_int(config, graft_config_has(config, own) ? own : all, minimum, maximum, value, error);
}

/* [load] Reads `bits` and `group_size` of a module: its own, at `place`, or else those of all modules. */
GRAFT_INLINE int graft_word_bits_and_groups(const struct graft_config *config, const char *place, int64_t *bits,
                                            int64_t *group_size, struct graft_error *error) {
    static const char *const of_bits[] = {GRAFT_WORD_BITS_NAMES, NULL};
    static const char *const of_groups[] = {GRAFT_WORD_GROUP_NAMES, NULL};
    graft_quantization_int(config, of_bits, 1, 32, bits, error);
    if (*bits == 0) {
        graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                        "quantization_config.bits: missing, expected an integer");
    }
    graft_quantization_int(config, of_groups, -1, INT32_MAX, group_size, error);
    graft_word_field(config, place, "bits", 1, 32, bits, error);
    graft_word_field(config, place, "group_size", -1, INT32_MAX, group_size, error);
    return error->code;
}

/* [load] Reads bits and groups of a Linear whose sizes are in the scheme, and checks them. Settings of this module
 * alone are at `place`; "quantization_config": there are none. codec.bits is the default, or 0 if the config has to
 * have it. `widths` has a bit set for each allowed number of bits (1 << 4). */
GRAFT_INLINE int graft_word_codes_read(struct graft_scheme *scheme, const struct graft_config *config,
                                       const char *place, const char *path, uint32_t widths,
                                       struct graft_error *error) {
    static const char bits_field[] = "quantization_config.bits", group_field[] = "quantization_config.group_size";
    struct graft_codec *codec = &scheme->codec;
    int64_t bits = codec->bits, group_size = 128; /* transformers' own */
    graft_word_bits_and_groups(config, place, &bits, &group_size, error);
    if (error->code == GRAFT_OK && (bits > 8 || (widths & 1U << bits) == 0)) {
        graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected %s, got %lld (%s)", bits_field,
                        (widths & 1U << 3) != 0 ? "2 to 8" : "4", (long long)bits, path);
    }
    if (group_size == 0) {
        graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected a number of inputs, or -1 for all, got 0",
                        group_field);
    }
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    codec->kind = GRAFT_CODE_UINT;
    codec->bits = (int32_t)bits;
    codec->group_size = group_size < 0 ? codec->columns : group_size;
    return codec->columns * bits % 32 == 0 && codec->rows * bits % 32 == 0
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, path,
                                 "%s is %lld, but %lld inputs and %lld outputs do not fill words of 32 bits",
                                 bits_field, (long long)bits, (long long)codec->columns, (long long)codec->rows);
}

/* [load] Adds a tensor in which a column is `rows` outputs, and a row is `inputs` inputs. 0: columns or rows do not
 * correspond to whole outputs or inputs, so such modules are not joined or divided. */
GRAFT_INLINE void graft_word_codes_tensor(struct graft_scheme *scheme, int32_t role, const char *name,
                                          graft_dtype dtype, const int64_t shape[2], int64_t rows, int64_t inputs) {
    struct graft_parameter_info *info = graft_scheme_add(scheme, role, name, dtype, 2, shape);
    info->flags = GRAFT_PARAMETER_CONTIGUOUS;
    if (rows > 0) {
        info->join = graft_join_rows(1, rows);
    }
    if (inputs > 0) {
        info->inputs = graft_join_rows(0, inputs);
    }
}

/* [load] Adds all three tensors. `words` is the shape of qweight, in which a column is `word_rows` outputs. */
GRAFT_INLINE void graft_word_codes_add(struct graft_scheme *scheme, const int64_t words[2], int64_t word_rows) {
    const struct graft_codec *codec = &scheme->codec;
    const int64_t groups = graft_codec_groups(codec);
    const int64_t zeros[2] = {groups, codec->rows * codec->bits / 32}, scales[2] = {groups, codec->rows};
    graft_word_codes_tensor(scheme, GRAFT_CODED_CODES, "qweight", GRAFT_DTYPE_I32, words, word_rows,
                            codec->columns % words[0] == 0 ? codec->columns / words[0] : 0);
    graft_word_codes_tensor(scheme, GRAFT_CODED_ZEROS, "qzeros", GRAFT_DTYPE_I32, zeros,
                            32 % codec->bits == 0 ? 32 / codec->bits : 0, codec->group_size);
    graft_word_codes_tensor(scheme, GRAFT_CODED_SCALES, "scales", GRAFT_DTYPE_NONE, scales, 1, codec->group_size);
}

#ifdef __cplusplus
}
#endif

#endif
