/* SPDX-License-Identifier: Apache-2.0 */
/* Coded weights: quantized weights, which the host multiplies as they are stored.
 *
 *   W[o, i] = scale[o / block_rows, g] * (value(code[o, i]) - zero[o, g]), where g is the group of input i
 *
 * A codec says what the codes of a weight mean, and where its scales and zero points are. A class describes it,
 * together with the tensors of the checkpoint that the weight consists of (`coded` of struct graft_sink). Its `create`
 * gets a graft_weight that works like any other with graft_kernels: linear, embedding, experts and widen accept it. No
 * other class is given a coded weight unless it asks for the product of a Linear (graft_linear.as_product). Most
 * plugins need not do this themselves: quant_format.h makes classes from a table. */
#ifndef GRAFT_CODEC_H
#define GRAFT_CODEC_H

#include "abi.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a code means. */
enum {
    GRAFT_CODE_UINT = 0,   /* an unsigned integer of 2 to 8 bits, from which the zero point is subtracted */
    GRAFT_CODE_INT = 1,    /* a signed integer of 8 bits */
    GRAFT_CODE_FLOAT8 = 2, /* F8_E4M3 */
    GRAFT_CODE_FLOAT4 = 3, /* E2M1: a sign and one of 0, 0.5, 1, 1.5, 2, 3, 4 and 6 */
    GRAFT_CODE_TABLE = 4   /* index into the 16 numbers of `table`; the first of two codes is in the upper half of their
                              byte, as in bitsandbytes */
};

/* How the codes, zero points and scales of a weight of `rows` x `columns` are stored. */
enum {
    /* Codes: for each row of the weight a row of bytes, or of words of 32 bits, with the first code in the lowest bits.
       Zero points: I32 [ceil(rows * bits / 32), groups], packed along the rows of the weight; or numbers [rows,
       groups]. Scales: [ceil(rows / block_rows), groups]. The host uses these in place. */
    GRAFT_CODED_ROWS = 0,
    /* GPTQ's. Codes: I32 [columns * bits / 32, rows], packed along the columns of the weight. Zero points: I32 [groups,
       rows * bits / 32]. Scales: [groups, rows]. The host rearranges them in rows when the weight is created. */
    GRAFT_CODED_COLUMN_WORDS = 1,
    /* AWQ's, of 4 bits. Codes: I32 [columns, rows / 8]; zero points: I32 [groups, rows / 8]; both are packed along the
       rows of the weight, and rows 0 to 7 are in positions 0, 4, 1, 5, 2, 6, 3 and 7 of a word. Scales: [groups, rows].
       The host rearranges them in rows. */
    GRAFT_CODED_ROW_WORDS = 2,
    /* HQQ's, of 2, 3, 4 or 8 bits. Codes: [ceil(rows * groups / n), group_size], where a U8 holds n = 8 / bits codes,
       and an I32 holds 10 of 3 bits. The groups of all rows, concatenated, are cut into n strips of equal length; the
       last may be shorter. Element k has code k of every strip, that of the first strip in the highest of its n * bits
       bits. All groups have the same size. Zero points and scales: as GRAFT_CODED_ROWS. The host rearranges codes in
       rows when the weight is created. */
    GRAFT_CODED_STRIPS = 3,
    /* Quanto's, of 2, 4 or 8 bits: like GRAFT_CODED_STRIPS, but the code of the first strip is in the lowest bits. */
    GRAFT_CODED_STRIPS_UPWARDS = 4
};

/* Filled in by the class; the host copies it. What it points to must stay valid until the instance is destroyed. */
struct graft_codec {
    uint32_t struct_size;
    int32_t kind;       /* GRAFT_CODE_... */
    int32_t bits;       /* bits of a code: 4 or 8; packed in words also 2, 3, 5, 6 and 7 */
    int32_t layout;     /* GRAFT_CODED_... */
    int64_t rows;       /* outputs of the weight; of stacked experts the sum over all */
    int64_t columns;    /* inputs */
    int64_t block_rows; /* rows that share their scales; at least 1 */
    int64_t group_size; /* consecutive columns that share a scale; a multiple of 2 for 4 bits */
    /* n: in stacked matrices of n rows each, rows are stored in the order 0, n / 2, 1, n / 2 + 1, ..., so that rows of
     * gate and up alternate; so are the numbers of their bias. 0: rows are in order. */
    int64_t by_turns;
    int32_t input_bits;               /* 8: activations of many tokens may be rounded to 8 bits; else 0 */
    int32_t zero;                     /* the zero point; if there are `zeros`, what is to be added to each of them */
    const struct graft_weight *codes; /* stored as `layout` says */
    const struct graft_weight
        *scales; /* F32, F16, BF16; U8: E8M0, 2^(byte - 127); F8_E4M3: divided by `divisor` or multiplied by `factor` */
    const struct graft_weight
        *zeros; /* NULL: all are `zero`. I32: packed as `layout` says. F32, F16, BF16: zero points that need not be
                   integers, for unsigned integers in rows or strips; `zero` is 0 then */
    const struct graft_weight *group_index; /* I32 [columns]: index of each column's group; NULL: column / group_size */
    float divisor;                          /* for scales of type F8_E4M3; > 0 */
    float factor;                           /* used instead of a divisor; 0: there is a divisor */
    const float *table;                     /* [16] the numbers of GRAFT_CODE_TABLE */
    /* [any] Set by the host in the codec of a weight that it has created: out [n, columns] = rows [first, first + n) of
     * the weight, with the values that products with --dtype float32 use. */
    void (*read_rows)(const struct graft_weight *weight, int64_t first, int64_t n, float *out);
};

GRAFT_ASSERT_SIZE(struct graft_codec, 120);

/* [any] How many groups of columns a weight has. */
GRAFT_INLINE int64_t graft_codec_groups(const struct graft_codec *codec) {
    return codec->columns / codec->group_size + (codec->columns % codec->group_size != 0);
}

/* [any] The number of blocks of rows that share scales. */
GRAFT_INLINE int64_t graft_codec_blocks(const struct graft_codec *codec) {
    return codec->rows / codec->block_rows + (codec->rows % codec->block_rows != 0);
}

/* [any] Bytes of the codes of one row, in a layout by rows. */
GRAFT_INLINE int64_t graft_codec_row_bytes(const struct graft_codec *codec) {
    return (codec->columns * codec->bits + 7) / 8;
}

#ifdef __cplusplus
}
#endif

#endif
