/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coded weights: quantized ones, which the host multiplies as they are stored.
 *
 *     W[o, i] = scale[o / block_rows, g] * (value(code[o, i]) - zero[o, g]),   g the group of input i
 *
 * A codec says what the codes of a weight mean and where its scales and zero points are. A class describes it, with
 * the tensors of the checkpoint that it is made of (`coded` of struct graft_sink). Its `create` is given a graft_weight
 * like any other for graft_kernels: linear, embedding, experts and widen take it; no other class is ever given one
 * unless it asks for the product of a Linear (graft_linear.as_product).
 *
 * Most plugins have no need to do this themselves: quant_format.h has classes that are made of a table.
 */
#ifndef GRAFT_CODEC_H
#define GRAFT_CODEC_H

#include "abi.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a code stands for. */
enum {
    GRAFT_CODE_UINT = 0,   /* an integer from 0 on, of 2 to 8 bits, less a zero point */
    GRAFT_CODE_INT = 1,    /* an integer with a sign, of 8 bits */
    GRAFT_CODE_FLOAT8 = 2, /* F8_E4M3 */
    GRAFT_CODE_FLOAT4 = 3, /* E2M1: a sign, then one of 0, 0.5, 1, 1.5, 2, 3, 4 and 6 */
    GRAFT_CODE_TABLE = 4   /* one of the 16 numbers of `table`; the first of two codes is in the upper half of their
                              byte, as bitsandbytes has them */
};

/* How codes, zero points and scales of a weight of `rows` x `columns` are stored. */
enum {
    /* Codes: a row of bytes, or of words of 32 bits, for each row of the weight, the first code in the lowest bits.
     * Zero points: I32 [ceil(rows * bits / 32), groups], words along the rows of the weight; or numbers [rows, groups].
     * Scales: [ceil(rows / block_rows), groups]. The host reads these where they are. */
    GRAFT_CODED_ROWS = 0,
    /* As GPTQ has them. Codes: I32 [columns * bits / 32, rows], words along the columns of the weight. Zero points:
     * I32 [groups, rows * bits / 32]. Scales: [groups, rows]. The host arranges them in rows when the weight is made.
     */
    GRAFT_CODED_COLUMN_WORDS = 1,
    /* As AWQ has them, of 4 bits. Codes: I32 [columns, rows / 8]; zero points: I32 [groups, rows / 8]; both words along
     * the rows of the weight, whose rows 0 to 7 are in places 0, 4, 1, 5, 2, 6, 3 and 7. Scales: [groups, rows].
     * Likewise. */
    GRAFT_CODED_ROW_WORDS = 2,
    /* As HQQ has them, of 2, 3, 4 or 8 bits. Codes: [ceil(rows * groups / n), group_size], where U8 has n = 8 / bits
     * codes, and I32 has 10 of 3 bits. The groups of all rows, one behind the other, are cut in n strips of as many;
     * the last may end early. Code k of a strip is in number k, that of the first strip in the highest of its
     * n * bits bits. Groups have the same size. Zero points and scales: as GRAFT_CODED_ROWS. The host arranges codes in
     * rows when the weight is made. */
    GRAFT_CODED_STRIPS = 3,
    /* As Quanto has them, of 2, 4 or 8 bits: the same, with that of the first strip in the lowest bits. */
    GRAFT_CODED_STRIPS_UPWARDS = 4
};

/* The class's; the host copies it. What it points to stays valid until the instance is destroyed. */
struct graft_codec {
    uint32_t struct_size;
    int32_t kind;       /* GRAFT_CODE_... */
    int32_t bits;       /* of a code: 4 or 8; of words also 2, 3, 5, 6 and 7 */
    int32_t layout;     /* GRAFT_CODED_... */
    int64_t rows;       /* of the weight: outputs; of stacked experts, all of theirs */
    int64_t columns;    /* inputs */
    int64_t block_rows; /* rows that share their scales; 1 at least */
    int64_t group_size; /* columns that share a scale and follow each other; of 4 bits a multiple of 2 */
    /* Of stacked matrices of so many rows each, rows are stored 0, n / 2, 1, n / 2 + 1, ...: those of gate and of up by
     * turns; and so are the numbers of a bias of theirs. 0: they are not. */
    int64_t by_turns;
    int32_t input_bits;                /* 8: activations of many tokens may be rounded to so many; else 0 */
    int32_t zero;                      /* the zero point; where `zeros` has them, what is to be added to these */
    const struct graft_weight *codes;  /* as `layout` says */
    const struct graft_weight *scales; /* F32, F16, BF16; U8: E8M0, 2^(byte - 127); F8_E4M3, over `divisor` or times
                                          `factor` */
    const struct graft_weight *zeros;  /* NULL: all are `zero`. I32: as `layout` says. F32, F16, BF16: numbers, which
                                          need not be whole, of unsigned integers in rows or strips; `zero` is 0 */
    const struct graft_weight *group_index; /* I32 [columns]: the group of each column; NULL: column / group_size */
    float divisor;                          /* of scales that are F8_E4M3; > 0 */
    float factor;                           /* likewise, instead of a divisor; 0: there is a divisor */
    const float *table;                     /* [16] of GRAFT_CODE_TABLE */
    /* [any] The host's, in the codec of a weight that it has made: out [n, columns] = rows [first, first + n) of the
     * weight as it is multiplied with --dtype float32. */
    void (*read_rows)(const struct graft_weight *weight, int64_t first, int64_t n, float *out);
};

GRAFT_ASSERT_SIZE(struct graft_codec, 120);

/* [any] How many groups of columns a weight has. */
GRAFT_INLINE int64_t graft_codec_groups(const struct graft_codec *codec) {
    return codec->columns / codec->group_size + (codec->columns % codec->group_size != 0);
}

/* [any] How many blocks of rows share scales. */
GRAFT_INLINE int64_t graft_codec_blocks(const struct graft_codec *codec) {
    return codec->rows / codec->block_rows + (codec->rows % codec->block_rows != 0);
}

/* [any] Bytes of the codes of a row that is stored as one. */
GRAFT_INLINE int64_t graft_codec_row_bytes(const struct graft_codec *codec) {
    return (codec->columns * codec->bits + 7) / 8;
}

#ifdef __cplusplus
}
#endif

#endif
