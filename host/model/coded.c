/* SPDX-License-Identifier: Apache-2.0 */
#include "model/coded.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "model/describe.h"
#include "model/join.h"
#include "model/node.h"

enum { MAX_TENSORS = 32, MAX_CONTEXT = 1 << 20, ALIGNMENT = 64 };

/* Memory allocated for a class. */
struct graft_node_memory {
    struct graft_node_memory *next;
    void *bytes;
};

/* --- Describing --- */

static int refuse(const struct builder *builder, const char *what, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_PLUGIN, builder->describing->path, "%s describes a coded parameter %s",
                           builder->describing_class->cls->name, what);
}

static const struct graft_parameter_info *tensor_at(const struct graft_coded_info *info, int32_t i) {
    return (const struct graft_parameter_info *)(const void *)((const char *)info->tensors +
                                                               (size_t)i * info->tensor_stride);
}

/* The number of tensors with a role. */
static int32_t count(const struct graft_coded_info *info, int32_t role) {
    int32_t n = 0;
    for (int32_t i = 0; i < info->n_tensors; i++) {
        n += info->roles[i] == role;
    }
    return n;
}

static int check(const struct builder *builder, const struct graft_coded_info *info, struct graft_error *error) {
    if (info->struct_size < GRAFT_CODED_INFO_SIZE_1_0 || info->name == NULL || info->codec == NULL ||
        info->tensors == NULL || info->roles == NULL || info->n_tensors < 1 || info->n_tensors > MAX_TENSORS ||
        info->context_bytes < 0 || info->context_bytes > MAX_CONTEXT ||
        (info->context_bytes > 0 && info->context == NULL)) {
        return refuse(builder, "whose struct is too short or lacks something", error);
    }
    for (int32_t i = 0; i < info->n_tensors; i++) {
        const int32_t role = info->roles[i];
        if (role < GRAFT_CODED_CODES || role > GRAFT_CODED_OTHER) {
            return refuse(builder, "with a tensor of an unknown role", error);
        }
        if (role != GRAFT_CODED_OTHER && count(info, role) > 1) {
            return refuse(builder, "with two tensors of one role", error);
        }
    }
    if (graft_node_parameter(builder->describing, info->name) != NULL ||
        graft_node_coded(builder->describing, info->name) != NULL) {
        return refuse(builder, "under the name of another one", error);
    }
    return GRAFT_OK;
}

static void free_parameter(struct graft_coded_parameter *parameter) {
    for (int32_t i = 0; i < parameter->n; i++) {
        graft_free(parameter->tensors[i]);
    }
    graft_coded_weight_free(parameter->weight);
    graft_free(parameter->tensors);
    graft_free(parameter->roles);
    graft_free(parameter->context);
    graft_free(parameter->name);
}

/* Copies a description. Returns 0, or -1 if memory ran out. */
static int copy(const struct graft_coded_info *info, struct graft_coded_parameter *parameter) {
    *parameter =
        (struct graft_coded_parameter){.flags = GRAFT_HAS(info, struct graft_coded_info, flags) ? info->flags : 0,
                                       .finish = info->finish,
                                       .context_bytes = info->context_bytes};
    graft_struct_copy(&parameter->codec, sizeof parameter->codec, info->codec);
    parameter->codec.struct_size = sizeof parameter->codec;
    parameter->name = graft_strdup(info->name);
    parameter->tensors = graft_alloc((size_t)info->n_tensors, sizeof *parameter->tensors);
    parameter->roles = graft_alloc((size_t)info->n_tensors, sizeof *parameter->roles);
    parameter->context = graft_alloc(1, (size_t)info->context_bytes);
    if (parameter->name == NULL || parameter->tensors == NULL || parameter->roles == NULL ||
        parameter->context == NULL) {
        return -1;
    }
    if (info->context_bytes > 0) {
        memcpy(parameter->context, info->context, (size_t)info->context_bytes);
    }
    for (int32_t i = 0; i < info->n_tensors; i++) {
        parameter->roles[i] = info->roles[i];
        parameter->tensors[i] = graft_strdup(tensor_at(info, i)->name);
        parameter->n++;
        if (parameter->tensors[i] == NULL) {
            return -1;
        }
    }
    return 0;
}

int graft_builder_coded(void *data, const struct graft_coded_info *info, struct graft_error *error) {
    struct builder *builder = data;
    struct graft_node *node = builder->describing;
    builder->n_by_place++; /* a coded parameter is the node's own */
    int status = check(builder, info, error);
    for (int32_t i = 0; i < (status == GRAFT_OK ? info->n_tensors : 0) && status == GRAFT_OK; i++) {
        status = builder->sink->parameter(data, tensor_at(info, i), error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    if (graft_grow(&node->coded, &node->coded_capacity, node->n_coded, sizeof *node->coded) != 0) {
        return graft_fail_memory(error, node->path);
    }
    struct graft_coded_parameter *parameter = &node->coded[node->n_coded];
    if (copy(info, parameter) != 0) { /* the code below needs all names */
        free_parameter(parameter);
        return graft_fail_memory(error, node->path);
    }
    node->n_coded++;
    return GRAFT_OK;
}

static int is_same_codec(const struct graft_codec *a, const struct graft_codec *b) {
    return a->kind == b->kind && a->bits == b->bits && a->layout == b->layout && a->rows == b->rows &&
           a->columns == b->columns && a->block_rows == b->block_rows && a->group_size == b->group_size &&
           a->by_turns == b->by_turns && a->input_bits == b->input_bits && a->zero == b->zero &&
           a->divisor == b->divisor && a->factor == b->factor && a->table == b->table;
}

static int is_same(const struct graft_coded_parameter *a, const struct graft_coded_parameter *b) {
    int same = strcmp(a->name, b->name) == 0 && a->n == b->n && a->flags == b->flags && a->finish == b->finish &&
               is_same_codec(&a->codec, &b->codec) && a->context_bytes == b->context_bytes &&
               memcmp(a->context, b->context, (size_t)a->context_bytes) == 0;
    for (int32_t i = 0; same && i < a->n; i++) {
        same = a->roles[i] == b->roles[i] && strcmp(a->tensors[i], b->tensors[i]) == 0;
    }
    return same;
}

int graft_node_same_coded(const struct graft_node *a, const struct graft_node *b) {
    int same = a->n_coded == b->n_coded;
    for (size_t i = 0; same && i < a->n_coded; i++) {
        same = is_same(&a->coded[i], &b->coded[i]);
    }
    return same;
}

/* --- Instances --- */

/* A weight and its only block. */
struct part {
    struct graft_weight weight;
    struct graft_row_block block;
};

/* A bound parameter; if all parts of a joined module share it, that of the first part. NULL if it is absent, or memory
 * ran out and `status` says so. */
static const struct graft_weight *bound(struct graft_node *node, const char *name, int *status,
                                        struct graft_error *error) {
    const struct graft_parameter *parameter = graft_node_parameter(node, name);
    const struct graft_weight *weight = parameter != NULL ? parameter->weight : NULL;
    const int64_t parts = graft_join_count(node);
    if (weight == NULL || parameter->join.kind != GRAFT_JOIN_EQUAL || parts < 2) {
        return weight;
    }
    struct part *first = graft_node_memory(node, (int64_t)sizeof *first);
    if (first == NULL) {
        *status = graft_fail_memory(error, node->path);
        return NULL;
    }
    *first = (struct part){*weight, *graft_weight_block(weight, 0)};
    first->weight.rows = first->block.rows = first->weight.shape[0] = weight->rows / parts;
    first->weight.blocks = &first->block;
    first->weight.n_blocks = 1;
    first->weight.block_stride = sizeof first->block;
    return &first->weight;
}

/* Reads a parameter of one number, which joined parts share. */
static int read_number(const struct graft_weight *weight, const char *path, const char *name, float *number,
                       struct graft_error *error) {
    const struct graft_row_block *block = graft_weight_block(weight, 0);
    if (block->dtype != GRAFT_DTYPE_F32) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, path, "%s: expected F32, got %s", name,
                               graft_dtype_name(block->dtype));
    }
    memcpy(number, block->data, sizeof *number);
    return *number > 0.0F && *number < HUGE_VALF
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, path, "%s: expected a finite number above 0, got %g", name,
                                 (double)*number);
}

/* Points the codec to a tensor. Only zero points and group indices may be absent. */
static int point(struct graft_node *node, const struct graft_coded_parameter *parameter, int32_t i,
                 struct graft_codec *codec, struct graft_error *error) {
    int status = GRAFT_OK;
    const struct graft_weight *weight = bound(node, parameter->tensors[i], &status, error);
    const int32_t role = parameter->roles[i];
    if (status != GRAFT_OK) {
        return status;
    }
    if (weight == NULL) {
        return role == GRAFT_CODED_OTHER || role == GRAFT_CODED_GROUP_INDEX || role == GRAFT_CODED_ZEROS
                   ? GRAFT_OK
                   : graft_error_set(error, GRAFT_ERROR_INTERNAL, node->path, "parameter \"%s\" is not bound",
                                     parameter->tensors[i]);
    }
    switch (role) {
    case GRAFT_CODED_CODES:
        codec->codes = weight;
        return GRAFT_OK;
    case GRAFT_CODED_SCALES:
        codec->scales = weight;
        return GRAFT_OK;
    case GRAFT_CODED_ZEROS:
        codec->zeros = weight;
        return GRAFT_OK;
    case GRAFT_CODED_GROUP_INDEX:
        codec->group_index = weight;
        return GRAFT_OK;
    case GRAFT_CODED_DIVISOR:
        return read_number(weight, node->path, parameter->tensors[i], &codec->divisor, error);
    case GRAFT_CODED_FACTOR:
        return read_number(weight, node->path, parameter->tensors[i], &codec->factor, error);
    default:
        return GRAFT_OK;
    }
}

static const char *name_of(const struct graft_coded_parameter *parameter, int32_t role) {
    int32_t i = 0;
    while (i < parameter->n && parameter->roles[i] != role) {
        i++;
    }
    return i < parameter->n ? parameter->tensors[i] : parameter->name;
}

static int make(struct graft_node *node, struct graft_coded_parameter *parameter, const struct graft_build *build,
                struct graft_error *error) {
    struct graft_codec codec = parameter->codec;
    int status = GRAFT_OK;
    for (int32_t i = 0; i < parameter->n && status == GRAFT_OK; i++) {
        status = point(node, parameter, i, &codec, error);
    }
    if (status == GRAFT_OK && parameter->finish != NULL) {
        status = parameter->finish(build, parameter->context, &codec, error);
    }
    return status == GRAFT_OK
               ? graft_coded_weight_create(&codec, node->path, name_of(parameter, GRAFT_CODED_GROUP_INDEX),
                                           &parameter->weight, error)
               : status;
}

int graft_node_make_coded(struct graft_node *node, const struct graft_build *build, int all,
                          struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < node->n_coded && status == GRAFT_OK; i++) {
        const int is_wanted = all || (node->coded[i].flags & GRAFT_CODED_OWN_LOOPS) == 0;
        status = is_wanted ? make(node, &node->coded[i], build, error) : GRAFT_OK;
    }
    return status;
}

const struct graft_weight *graft_node_coded(const struct graft_node *node, const char *name) {
    for (size_t i = 0; i < node->n_coded; i++) {
        if (strcmp(node->coded[i].name, name) == 0) {
            return node->coded[i].weight != NULL ? &node->coded[i].weight->weight : NULL;
        }
    }
    return NULL;
}

void *graft_node_memory(void *data, int64_t bytes) {
    struct graft_node *node = data;
    struct graft_node_memory *memory = graft_alloc(1, sizeof *memory);
    if (memory == NULL || bytes < 0 || (memory->bytes = graft_alloc_aligned(ALIGNMENT, (size_t)bytes + 1)) == NULL) {
        graft_free(memory);
        return NULL;
    }
    memset(memory->bytes, 0, (size_t)bytes);
    memory->next = node->memory;
    node->memory = memory;
    return memory->bytes;
}

void graft_node_release_coded(struct graft_node *node) {
    for (size_t i = 0; i < node->n_coded; i++) {
        graft_coded_weight_free(node->coded[i].weight);
        node->coded[i].weight = NULL;
    }
    while (node->memory != NULL) {
        struct graft_node_memory *next = node->memory->next;
        graft_free(node->memory->bytes);
        graft_free(node->memory);
        node->memory = next;
    }
}

void graft_node_free_coded(struct graft_node *node) {
    graft_node_release_coded(node);
    for (size_t i = 0; i < node->n_coded; i++) {
        free_parameter(&node->coded[i]);
    }
    graft_free(node->coded);
}
