/* SPDX-License-Identifier: Apache-2.0 */
/* Makes coded weights. Everything that a plugin or a file says about them is checked first. */
#include <float.h>
#include <string.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "kernels/coded/rows.h"

enum { MAX_SIZE = INT32_MAX, TABLE_NUMBERS = 16 };

extern const struct graft_coded_loops *const graft_coded_uint4[GRAFT_ISA_BUILDS];
extern const struct graft_coded_loops *const graft_coded_uint4_abreast[GRAFT_ISA_BUILDS];
extern const struct graft_coded_loops *const graft_coded_uint8[GRAFT_ISA_BUILDS];
extern const struct graft_coded_loops *const graft_coded_int8[GRAFT_ISA_BUILDS];
extern const struct graft_coded_loops *const graft_coded_float8[GRAFT_ISA_BUILDS];
extern const struct graft_coded_loops *const graft_coded_float4[GRAFT_ISA_BUILDS];
extern const struct graft_coded_loops *const graft_coded_table4[GRAFT_ISA_BUILDS];

const struct graft_coded_loops *graft_coded_loops_of(int32_t kind, int32_t bits) {
    const int32_t build = graft_isa_choose(GRAFT_ISA_BUILDS);
    switch (kind) {
    case GRAFT_CODE_UINT:
        return bits == 4 ? graft_coded_uint4[build] : bits == 8 ? graft_coded_uint8[build] : NULL;
    case GRAFT_CODE_INT:
        return bits == 8 ? graft_coded_int8[build] : NULL;
    case GRAFT_CODE_FLOAT8:
        return bits == 8 ? graft_coded_float8[build] : NULL;
    case GRAFT_CODE_FLOAT4:
        return bits == 4 ? graft_coded_float4[build] : NULL;
    case GRAFT_CODE_TABLE:
        return bits == 4 ? graft_coded_table4[build] : NULL;
    default:
        return NULL;
    }
}

/* --- Checks --- */

/* The bits of a code in the layout of the loops. */
static int32_t stored_bits(const struct graft_codec *codec) {
    return codec->bits <= 4 ? 4 : 8;
}

/* Whether the codes are integers, which have zero points of the same size. */
static int has_zero(const struct graft_codec *codec) {
    const int32_t most = codec->kind == GRAFT_CODE_UINT || codec->kind == GRAFT_CODE_INT ? 1 << codec->bits : 0;
    return codec->zero >= -most && codec->zero <= most;
}

static int is_strips(const struct graft_codec *codec) {
    return codec->layout == GRAFT_CODED_STRIPS || codec->layout == GRAFT_CODED_STRIPS_UPWARDS;
}

/* Whether codes of this layout and number of bits can be rearranged. */
static int is_arranged(const struct graft_codec *codec) {
    switch (codec->layout) {
    case GRAFT_CODED_COLUMN_WORDS:
        return codec->bits >= 2 && codec->bits <= 8;
    case GRAFT_CODED_ROW_WORDS:
        return codec->bits == 4;
    case GRAFT_CODED_STRIPS:
        return graft_coded_strips(codec->bits) > 0;
    case GRAFT_CODED_STRIPS_UPWARDS:
        return graft_coded_strips(codec->bits) > 0 && codec->bits != 3;
    default:
        return 0;
    }
}

static int check_kind(const struct graft_codec *codec, const char *path, struct graft_error *error) {
    const int fits = codec->layout == GRAFT_CODED_ROWS
                         ? graft_coded_loops_of(codec->kind, codec->bits) != NULL
                         : codec->kind == GRAFT_CODE_UINT && codec->by_turns == 0 &&
                               (codec->block_rows == 1 || is_strips(codec)) && is_arranged(codec) &&
                               (codec->group_index == NULL || !is_strips(codec));
    if (!fits || codec->codes == NULL || codec->scales == NULL || (codec->input_bits != 0 && codec->input_bits != 8) ||
        (codec->kind == GRAFT_CODE_TABLE && codec->table == NULL)) {
        return graft_error_set(
            error, GRAFT_ERROR_PLUGIN, path,
            "cannot use a codec of kind %d, %d bits and layout %d, which this host does not multiply", (int)codec->kind,
            (int)codec->bits, (int)codec->layout);
    }
    return has_zero(codec) ? GRAFT_OK
                           : graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                                             "a codec of kind %d and %d bits with a zero point of %d", (int)codec->kind,
                                             (int)codec->bits, (int)codec->zero);
}

static int check_sizes(const struct graft_codec *codec, const char *path, struct graft_error *error) {
    if (codec->rows < 1 || codec->rows > MAX_SIZE || codec->columns < 1 || codec->columns > MAX_SIZE ||
        codec->block_rows < 1 || codec->group_size < 1 || codec->by_turns < 0 || codec->by_turns % 2 != 0 ||
        (codec->by_turns > 0 && codec->rows % codec->by_turns != 0)) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                               "cannot use a codec of %lld rows and %lld columns, in blocks of %lld and groups of %lld",
                               (long long)codec->rows, (long long)codec->columns, (long long)codec->block_rows,
                               (long long)codec->group_size);
    }
    if (stored_bits(codec) == 4 && codec->group_index == NULL && codec->group_size < codec->columns &&
        codec->group_size % 2 != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, path,
                               "groups of %lld inputs, expected an even number, because a byte holds two codes",
                               (long long)codec->group_size);
    }
    if (is_strips(codec) && codec->columns % codec->group_size != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, path,
                               "groups of %lld inputs, expected a number that divides the %lld inputs of the module",
                               (long long)codec->group_size, (long long)codec->columns);
    }
    return codec->layout != GRAFT_CODED_ROW_WORDS || codec->rows % 8 == 0
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, path,
                                 "the module has %lld outputs, expected a multiple of 8, because a word holds the "
                                 "codes of 8 outputs",
                                 (long long)codec->rows);
}

static int64_t bytes_of(const struct graft_weight *weight) {
    int64_t bytes = 0;
    for (int32_t i = 0; i < weight->n_blocks; i++) {
        const struct graft_row_block *block = graft_weight_block(weight, i);
        bytes += block->rows * weight->columns * graft_dtype_size(block->dtype);
    }
    return bytes;
}

static int expect_bytes(const char *what, int64_t bytes, int64_t expected, const char *path,
                        struct graft_error *error) {
    return bytes == expected ? GRAFT_OK
                             : graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                                               "the %s of a coded weight have %lld bytes, expected %lld", what,
                                               (long long)bytes, (long long)expected);
}

static int is_scale(graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F32 || dtype == GRAFT_DTYPE_F16 || dtype == GRAFT_DTYPE_BF16 ||
           dtype == GRAFT_DTYPE_U8 || dtype == GRAFT_DTYPE_F8_E4M3;
}

/* Checks the types and the number of scales. */
static int check_scales(const struct graft_codec *codec, const char *path, struct graft_error *error) {
    const int64_t expected = graft_codec_blocks(codec) * graft_codec_groups(codec);
    int64_t n = 0;
    int is_float8 = 0;
    for (int32_t i = 0; i < codec->scales->n_blocks; i++) {
        const struct graft_row_block *block = graft_weight_block(codec->scales, i);
        if (!is_scale(block->dtype)) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, path, "scales of type %s, which no codec supports",
                                   graft_dtype_name(block->dtype));
        }
        is_float8 |= block->dtype == GRAFT_DTYPE_F8_E4M3;
        n += block->rows * codec->scales->columns;
    }
    if (n != expected) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, path, "%lld scales of a coded weight, expected %lld",
                               (long long)n, (long long)expected);
    }
    const float number = codec->factor != 0.0F ? codec->factor : codec->divisor;
    return is_float8 && !(number > 0.0F && number <= FLT_MAX)
               ? graft_error_set(error, GRAFT_ERROR_MODEL, path,
                                 "the number that scales are %s is %g, expected a finite number above 0",
                                 codec->factor != 0.0F ? "multiplied by" : "divided by", (double)number)
               : GRAFT_OK;
}

/* Checks zero points that are stored as numbers: there must be one for each group, in one block. */
static int check_zero_numbers(const struct graft_codec *codec, const char *path, struct graft_error *error) {
    const int is_read = codec->layout == GRAFT_CODED_ROWS || is_strips(codec);
    const int64_t expected = codec->rows * graft_codec_groups(codec);
    if (codec->kind != GRAFT_CODE_UINT || !is_read || codec->zero != 0 || codec->zeros->n_blocks != 1) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                               "zero points that are numbers: expected one block of them, of unsigned integers in rows "
                               "or strips, with no other zero point");
    }
    const int64_t n = graft_weight_block(codec->zeros, 0)->rows * codec->zeros->columns;
    return n == expected
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_PLUGIN, path, "%lld zero points of a coded weight, expected %lld",
                                 (long long)n, (long long)expected);
}

/* Whether zero points are stored as numbers instead of codes. */
static int has_zero_numbers(const struct graft_codec *codec) {
    const graft_dtype dtype = codec->zeros != NULL && codec->zeros->n_blocks > 0
                                  ? graft_weight_block(codec->zeros, 0)->dtype
                                  : GRAFT_DTYPE_NONE;
    return dtype == GRAFT_DTYPE_F32 || dtype == GRAFT_DTYPE_F16 || dtype == GRAFT_DTYPE_BF16;
}

static int check_zeros(const struct graft_codec *codec, const char *path, struct graft_error *error) {
    if (codec->zeros == NULL) {
        return GRAFT_OK;
    }
    if (has_zero_numbers(codec)) {
        return check_zero_numbers(codec, path, error);
    }
    if (codec->kind != GRAFT_CODE_UINT || is_strips(codec) || codec->zeros->n_blocks != 1 ||
        graft_weight_block(codec->zeros, 0)->dtype != GRAFT_DTYPE_I32) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                               "zero points of codes of kind %d in %d blocks, expected one block of I32, of unsigned "
                               "integers",
                               (int)codec->kind, (int)codec->zeros->n_blocks);
    }
    const int64_t words = (codec->rows * codec->bits + 31) / 32;
    return expect_bytes("zero points", bytes_of(codec->zeros), words * graft_codec_groups(codec) * 4, path, error);
}

/* The bytes of codes stored in strips. */
static int64_t strip_bytes(const struct graft_codec *codec) {
    const int64_t strips = graft_coded_strips(codec->bits), groups = codec->rows * graft_codec_groups(codec);
    return (groups + strips - 1) / strips * codec->group_size * (codec->bits == 3 ? 4 : 1);
}

static int check_tensors(const struct graft_codec *codec, const char *path, struct graft_error *error) {
    const int64_t bits = codec->bits;
    const int64_t words_of_columns = (codec->columns * bits + 31) / 32, words_of_rows = (codec->rows * bits + 31) / 32;
    const int64_t row_bytes = bytes_of(codec->codes) / codec->rows;
    const int64_t expected = is_strips(codec)                            ? strip_bytes(codec)
                             : codec->layout == GRAFT_CODED_COLUMN_WORDS ? words_of_columns * codec->rows * 4
                             : codec->layout == GRAFT_CODED_ROW_WORDS    ? codec->columns * words_of_rows * 4
                             : row_bytes == words_of_columns * 4         ? row_bytes * codec->rows
                                                                         : graft_codec_row_bytes(codec) * codec->rows;
    int status = expect_bytes("codes", bytes_of(codec->codes), expected, path, error);
    if (status == GRAFT_OK) {
        status = check_scales(codec, path, error);
    }
    return status == GRAFT_OK ? check_zeros(codec, path, error) : status;
}

static int check_groups(const struct graft_codec *codec, const char *path, const char *name,
                        struct graft_error *error) {
    const struct graft_weight *index = codec->group_index;
    const int64_t groups = graft_codec_groups(codec);
    if (index == NULL) {
        return GRAFT_OK;
    }
    if (index->n_blocks != 1 || graft_weight_block(index, 0)->dtype != GRAFT_DTYPE_I32) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, path, "the groups of columns are not one block of I32");
    }
    int status = expect_bytes("groups", bytes_of(index), codec->columns * 4, path, error);
    const int32_t *group_of = graft_weight_block(index, 0)->data;
    for (int64_t i = 0; i < codec->columns && status == GRAFT_OK; i++) {
        if (group_of[i] < 0 || group_of[i] >= groups) {
            status =
                graft_error_set(error, GRAFT_ERROR_MODEL, path, "%s: element %lld is %d, expected a group, 0 to %lld",
                                name, (long long)i, (int)group_of[i], (long long)groups - 1);
        }
    }
    return status;
}

/* --- Making the weight --- */

/* Reads `from` as rows of `row` elements, or bytes if it has bytes: checkpoints may store it as a vector, or with more
 * dimensions. */
static int lay(const struct graft_weight *from, int64_t row, int is_bytes, struct graft_row_block *blocks,
               struct graft_weight *to) {
    *to = (struct graft_weight){.struct_size = sizeof *to,
                                .rank = 2,
                                .columns = row,
                                .blocks = blocks,
                                .n_blocks = from->n_blocks,
                                .block_stride = sizeof *blocks};
    int64_t left = 0;
    for (int32_t i = 0; i < from->n_blocks; i++) {
        const struct graft_row_block *block = graft_weight_block(from, i);
        const int64_t all = block->rows * from->columns * (is_bytes ? graft_dtype_size(block->dtype) : 1);
        blocks[i] = (struct graft_row_block){sizeof *blocks, block->dtype, block->data, all / row};
        to->rows += blocks[i].rows;
        left += all % row;
    }
    return left == 0;
}

static void point_to_zeros(const struct graft_codec *codec, struct graft_coded *rows) {
    const struct graft_row_block *block = codec->zeros != NULL ? graft_weight_block(codec->zeros, 0) : NULL;
    if (has_zero_numbers(codec)) {
        rows->zero_numbers = block->data;
        rows->zero_dtype = block->dtype;
    } else {
        rows->zeros = block != NULL ? block->data : NULL;
    }
}

/* Sets scales and zero points that are stored in rows, and codes if they are too, to be used in place. */
static int point_to_rows(struct graft_coded_weight *weight, const char *path, struct graft_error *error) {
    const struct graft_codec *codec = &weight->codec;
    struct graft_coded *rows = &weight->rows;
    int status = GRAFT_OK, fits = 1;
    weight->blocks = graft_alloc((size_t)(codec->codes->n_blocks + codec->scales->n_blocks), sizeof *weight->blocks);
    if (weight->blocks == NULL) {
        return graft_fail_memory(error, path);
    }
    if (is_strips(codec)) {
        status = graft_coded_arrange_strips(weight, weight->blocks, path, error);
    } else {
        rows->row_bytes = bytes_of(codec->codes) / codec->rows;
        fits = lay(codec->codes, rows->row_bytes, 1, weight->blocks, &weight->codes);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    point_to_zeros(codec, rows);
    if (!fits || !lay(codec->scales, rows->groups, 0, weight->blocks + codec->codes->n_blocks, &weight->scales)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, path, "codes or scales of a part end inside a row");
    }
    return GRAFT_OK;
}

/* If all zero points are equal, as in symmetric checkpoints, replaces them by one number, which costs no time. */
static void join_zeros(struct graft_coded *rows, int64_t stored_rows) {
    const uint32_t repeated = rows->bits == 4 ? 0x11111111U : 0x01010101U;
    const int64_t slots = 32 / rows->bits, whole = stored_rows / slots * rows->groups;
    if (rows->zeros == NULL || whole == 0 || stored_rows % slots != 0) {
        return;
    }
    const int32_t code = rows->zeros[0] & ((1 << rows->bits) - 1);
    int64_t i = 0;
    while (i < whole && (uint32_t)rows->zeros[i] == (uint32_t)code * repeated) {
        i++;
    }
    if (i == whole) {
        rows->zeros = NULL;
        rows->zero += code;
    }
}

/* Returns the group of each column if groups are not consecutive columns in order, or if they end inside of a byte. */
static const int32_t *scattered_groups(const struct graft_codec *codec) {
    const int32_t *group_of = codec->group_index != NULL ? graft_weight_block(codec->group_index, 0)->data : NULL;
    const int is_whole = stored_bits(codec) == 8 || codec->group_size % 2 == 0 || codec->group_size >= codec->columns;
    int64_t i = 0;
    while (group_of != NULL && i < codec->columns && group_of[i] == i / codec->group_size) {
        i++;
    }
    return group_of != NULL && (i < codec->columns || !is_whole) ? group_of : NULL;
}

/* Whether codes that have to be rearranged anyway can be stored abreast: only if no word of codes spans two groups. */
static int lies_abreast(const struct graft_coded *rows) {
    enum { WORD = 8 }; /* columns */
    return rows->bits == 4 && rows->group_of == NULL && rows->columns % WORD == 0 &&
           (rows->groups == 1 || rows->group_size % WORD == 0);
}

static int fill(struct graft_coded_weight *weight, const char *path, struct graft_error *error) {
    const struct graft_codec *codec = &weight->codec;
    struct graft_coded *rows = &weight->rows;
    int status = GRAFT_OK;
    *rows = (struct graft_coded){
        .columns = codec->columns,
        .step = 1,
        .block_rows = codec->block_rows,
        .groups = graft_codec_groups(codec),
        .group_size = codec->group_size,
        .group_of = scattered_groups(codec),
        .bits = stored_bits(codec),
        .input_bits = codec->input_bits,
        .zero = codec->zero,
        .divisor = codec->divisor,
        .factor = codec->factor,
        .table = codec->table,
    };
    rows->loops = graft_coded_loops_of(codec->kind, rows->bits);
    rows->codes = &weight->codes;
    rows->scales = &weight->scales;
    if (codec->layout == GRAFT_CODED_ROWS || is_strips(codec)) {
        status = point_to_rows(weight, path, error);
    } else {
        rows->loops = lies_abreast(rows) ? graft_coded_uint4_abreast[graft_isa_choose(GRAFT_ISA_BUILDS)] : rows->loops;
        status = graft_coded_arrange(weight, path, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    join_zeros(rows, codec->rows);
    weight->codec.read_rows = graft_coded_read_rows;
    weight->weight = (struct graft_weight){
        .struct_size = sizeof weight->weight,
        .rank = 2,
        .shape = {codec->rows, codec->columns, 1, 1, 1, 1, 1, 1},
        .rows = codec->rows,
        .columns = codec->columns,
        .block_stride = sizeof(struct graft_row_block),
        .codec = &weight->codec,
    };
    return GRAFT_OK;
}

int graft_coded_weight_create(const struct graft_codec *codec, const char *path, const char *index_name,
                              struct graft_coded_weight **weight, struct graft_error *error) {
    struct graft_coded_weight *made = graft_alloc(1, sizeof *made);
    if (made == NULL) {
        return graft_fail_memory(error, path);
    }
    graft_struct_copy(&made->codec, sizeof made->codec, codec);
    made->codec.struct_size = sizeof made->codec;
    int status = check_kind(&made->codec, path, error);
    if (status == GRAFT_OK) {
        status = check_sizes(&made->codec, path, error);
    }
    if (status == GRAFT_OK) {
        status = check_tensors(&made->codec, path, error);
    }
    if (status == GRAFT_OK) {
        status = check_groups(&made->codec, path, index_name, error);
    }
    if (status == GRAFT_OK) {
        status = fill(made, path, error);
    }
    if (status != GRAFT_OK) {
        graft_coded_weight_free(made);
        return status;
    }
    *weight = made;
    return GRAFT_OK;
}

void graft_coded_weight_free(struct graft_coded_weight *weight) {
    if (weight != NULL) {
        graft_free(weight->blocks);
        graft_free(weight->code_memory);
        graft_free(weight->scale_memory);
        graft_free(weight->zero_memory);
        graft_free(weight);
    }
}
