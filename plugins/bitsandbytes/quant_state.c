/* SPDX-License-Identifier: Apache-2.0 */
#include "quant_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graft/dtype.h"

enum { LEAST_BLOCK = 32, MOST_BLOCK = 4096 };

static const struct graft_json_service *json;

void bnb_set_json(const struct graft_json_service *service) {
    json = service;
}

struct bnb_name bnb_name_of(const char *path, const char *tensor) {
    struct bnb_name name;
    (void)snprintf(name.text, sizeof name.text, "%s.%s", path, tensor);
    return name;
}

static int64_t element_bytes(graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F32 ? 4 : 1; /* the tensors described in this plugin are F32 or U8 */
}

/* The row block that has element `*at` of a vector; `*at` becomes the element's index within the block. NULL: the
 * vector is shorter. */
static const struct graft_row_block *find_block(const struct graft_weight *vector, int64_t *at) {
    for (int32_t i = 0; i < vector->n_blocks; i++) {
        const struct graft_row_block *block = graft_weight_block(vector, i);
        if (*at < block->rows) {
            return block;
        }
        *at -= block->rows;
    }
    return NULL;
}

const void *bnb_elements(const struct graft_weight *vector, int64_t first, int64_t n) {
    int64_t at = first;
    const struct graft_row_block *block = find_block(vector, &at);
    return block != NULL && n <= block->rows - at ? (const char *)block->data + at * element_bytes(block->dtype) : NULL;
}

static int read_string(const struct graft_config *text, const char *field, const char *expected,
                       struct graft_error *error) {
    const char *value = "nothing";
    graft_config_string(text, field, &value, error);
    return strcmp(value, expected) != 0 ? graft_error_set(error, GRAFT_ERROR_MODEL, text->file,
                                                          "%s: expected \"%s\", got \"%s\"", field, expected, value)
                                        : error->code;
}

static int read_block(const struct graft_config *text, int64_t *block, struct graft_error *error) {
    graft_config_need_int(text, "blocksize", LEAST_BLOCK, MOST_BLOCK, block, error);
    return error->code == GRAFT_OK && (*block & (*block - 1)) != 0
               ? graft_error_set(error, GRAFT_ERROR_MODEL, text->file, "blocksize: expected a power of two, got %lld",
                                 (long long)*block)
               : error->code;
}

static int read_shape(const struct graft_config *text, struct bnb_quant_state *state, struct graft_error *error) {
    if (text->kind(text->data, "shape") != GRAFT_FIELD_ARRAY || text->size(text->data, "shape") != 2) {
        return graft_config_expected(text, "shape", "an array of two sizes", error);
    }
    graft_config_need_int(text, "shape.0", 1, INT32_MAX, &state->rows, error);
    graft_config_need_int(text, "shape.1", 1, INT32_MAX, &state->columns, error);
    return error->code;
}

static int read_nested(const struct graft_config *text, struct bnb_quant_state *state, struct graft_error *error) {
    double offset = 0;
    graft_config_need_int(text, "nested_blocksize", 1, INT32_MAX, &state->nested_block, error);
    read_string(text, "nested_dtype", "float32", error);
    if (!graft_config_has(text, "nested_offset")) {
        graft_config_expected(text, "nested_offset", "a number", error);
    }
    graft_config_real(text, "nested_offset", -(double)INFINITY, &offset, error);
    state->nested_offset = (float)offset;
    return error->code;
}

static int read_fields(const struct graft_config *text, const char *type, int is_nested, struct bnb_quant_state *state,
                       struct graft_error *error) {
    memset(state, 0, sizeof *state);
    read_string(text, "quant_type", type, error);
    read_block(text, &state->block, error);
    read_shape(text, state, error);
    return is_nested ? read_nested(text, state, error) : error->code;
}

int bnb_quant_state_read(const struct graft_weight *tensor, const char *name, const char *type, int is_nested,
                         int64_t *at, struct bnb_quant_state *state, struct graft_error *error) {
    int64_t first = *at;
    const struct graft_row_block *block = find_block(tensor, &first);
    if (block == NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, name, "ends before all outputs are described");
    }
    /* The object contains no objects, so the first closing brace ends it. If that brace is within a string, what was
     * cut out is not valid JSON, and refused. */
    const char *begin = (const char *)block->data + first;
    const char *end = memchr(begin, '}', (size_t)(block->rows - first));
    const int64_t length = end != NULL ? end - begin + 1 : block->rows - first;
    const struct graft_config *text = json->read(begin, length, name, error);
    if (text == NULL) {
        return GRAFT_ERROR_MODEL;
    }
    int status = read_fields(text, type, is_nested, state, error);
    json->free(text);
    *at += length;
    return status;
}
