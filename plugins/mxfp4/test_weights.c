/* SPDX-License-Identifier: Apache-2.0 */
/* test_mxfp4_weights CASE-DIRECTORY: compares the weights that each build of the host's loops reads with a checkpoint's
 * digests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256.h"
#include "kernels/coded/weight.h"
#include "tests/goldens/check.h"
#include "tests/goldens/golden.h"
#include "weights/checkpoint.h"

enum { BLOCK = 32 /* inputs that share a scale */ };

static const char *case_directory;

extern const struct graft_coded_loops *const graft_coded_float4[GRAFT_ISA_BUILDS];

/* Makes a weight of bytes with one block. */
static struct graft_weight weight_of(const struct graft_row_block *block, int64_t columns) {
    return (struct graft_weight){.struct_size = sizeof(struct graft_weight),
                                 .rank = 2,
                                 .shape = {block->rows, columns, 1, 1, 1, 1, 1, 1},
                                 .rows = block->rows,
                                 .columns = columns,
                                 .blocks = block,
                                 .n_blocks = 1,
                                 .block_stride = sizeof *block};
}

/* The digest of NAME as [experts, in, out], computed from NAME_blocks [experts, out, ..]. */
static void digest_of(const struct graft_coded_loops *loops, const struct graft_checkpoint *checkpoint,
                      const char *name, char hex[65]) {
    char tensor[256];
    (void)snprintf(tensor, sizeof tensor, "%s_blocks", name);
    const struct graft_tensor_view *blocks = graft_checkpoint_find(checkpoint, tensor);
    (void)snprintf(tensor, sizeof tensor, "%s_scales", name);
    const struct graft_tensor_view *scales = graft_checkpoint_find(checkpoint, tensor);
    assert_non_null(blocks);
    assert_non_null(scales);
    const int64_t experts = blocks->shape[0], out = blocks->shape[1], in = blocks->shape[2] * BLOCK;
    const struct graft_row_block all[] = {{sizeof all[0], GRAFT_DTYPE_U8, blocks->data, experts * out},
                                          {sizeof all[0], GRAFT_DTYPE_U8, scales->data, experts * out}};
    const struct graft_weight codes = weight_of(&all[0], in / 2), powers = weight_of(&all[1], in / BLOCK);
    const struct graft_codec codec = {.struct_size = sizeof codec,
                                      .kind = GRAFT_CODE_FLOAT4,
                                      .bits = 4,
                                      .layout = GRAFT_CODED_ROWS,
                                      .rows = experts * out,
                                      .columns = in,
                                      .block_rows = 1,
                                      .group_size = BLOCK,
                                      .codes = &codes,
                                      .scales = &powers};
    struct graft_error error = graft_error_none();
    struct graft_coded_weight *weight = NULL;
    need(graft_coded_weight_create(&codec, name, "", &weight, &error), &error);
    float *rows = need_memory((size_t)(experts * out * in), sizeof *rows);
    float *turned = need_memory((size_t)(experts * out * in), sizeof *turned);
    weight->rows.loops = loops;
    weight->codec.read_rows(&weight->weight, 0, experts * out, rows);
    graft_coded_weight_free(weight);
    for (int64_t i = 0; i < experts * out * in; i++) {
        turned[(i / in / out * in + i % in) * out + i / in % out] = rows[i];
    }
    graft_sha256_of(turned, (size_t)(experts * out * in) * sizeof *turned, hex);
    free(rows);
    free(turned);
}

static void test_digests(void **state) {
    struct graft_error error = graft_error_none();
    struct graft_checkpoint *checkpoint = NULL;
    struct golden golden;
    (void)state;
    golden_open(&golden, case_directory);
    need(graft_checkpoint_open(case_directory, &checkpoint, &error), &error);
    const graft_json *weights = graft_json_get(golden.document, "quantized_weights");
    assert_int_equal(graft_json_size(weights), 4);
    for (size_t i = 0; i < graft_json_size(weights); i++) {
        const graft_json *weight = graft_json_at(weights, i);
        for (int32_t build = 0; build < GRAFT_ISA_BUILDS; build++) {
            char hex[65];
            if (!graft_isa_runs(build)) {
                continue;
            }
            digest_of(graft_coded_float4[build], checkpoint, graft_json_string(graft_json_get(weight, "name"), NULL),
                      hex);
            assert_string_equal(hex, graft_json_string(graft_json_get(weight, "sha256"), NULL));
        }
    }
    graft_checkpoint_close(checkpoint);
    golden_close(&golden);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_digests)};
    if (argc != 2) {
        (void)fputs("usage: test_mxfp4_weights CASE-DIRECTORY\n", stderr);
        return 2;
    }
    case_directory = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
