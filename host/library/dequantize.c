/* SPDX-License-Identifier: Apache-2.0 */
/* Dequantizes: each coded weight of the source becomes the tensor of floats that the class without codes expects. */
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/context.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "config/quantization.h"
#include "graft/convert.h"
#include "graft/host/process.h"
#include "kernels/coded/rows.h"
#include "kernels/threads.h"
#include "library/recode.h"
#include "model/join.h"
#include "plugin/host_services.h"

/* --- Planning --- */

struct planning {
    struct graft_recoding *recoding;
    struct graft_tree *plain; /* the tree that is built if config.json has no quantization_config */
    graft_dtype dtype;
};

/* The element type that the model's weights have when they are not quantized. */
static graft_dtype float_type(const struct graft_config *config) {
    static const char *const fields[] = {"dtype", "torch_dtype", "text_config.dtype", "text_config.torch_dtype"};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const char *name = config->string(config->data, fields[i]);
        if (name != NULL && strcmp(name, "float32") == 0) {
            return GRAFT_DTYPE_F32;
        }
        if (name != NULL && strcmp(name, "float16") == 0) {
            return GRAFT_DTYPE_F16;
        }
    }
    return GRAFT_DTYPE_BF16;
}

static int is_of_codes(const struct graft_node *node, const char *name) {
    for (size_t i = 0; i < node->n_coded; i++) {
        for (int32_t k = 0; k < node->coded[i].n; k++) {
            if (strcmp(node->coded[i].tensors[k], name) == 0) {
                return 1;
            }
        }
    }
    return 0;
}

/* Whether the class without codes has the parameter as well, such as a bias, which is kept. */
static int stays(const struct planning *planning, const struct graft_node *node, const char *name) {
    const struct graft_node *plain = graft_node_find(planning->plain->root, node->path);
    return !is_of_codes(node, name) &&
           (plain != NULL ? graft_node_parameter(plain, name) != NULL : strcmp(name, "bias") == 0);
}

static const struct graft_parameter *codes_of(const struct graft_node *node,
                                              const struct graft_coded_parameter *coded) {
    int32_t i = 0;
    while (coded->roles[i] != GRAFT_CODED_CODES) {
        i++;
    }
    return graft_node_parameter(node, coded->tensors[i]);
}

/* The name of the tensor of floats: next to the codes, below the checkpoint's name for the module. NULL if memory ran
 * out. */
static char *name_of(const struct graft_node *node, const struct graft_coded_parameter *coded,
                     const struct graft_tensor_view *codes, const char *own_name) {
    const size_t length = codes->computed == NULL ? strlen(codes->name) : 0, own = strlen(own_name);
    char path[GRAFT_NAME_BYTES];
    if (length > own && strcmp(codes->name + length - own, own_name) == 0) {
        return graft_format("%.*s%s", (int)(length - own), codes->name, coded->name);
    }
    graft_join_config_path(node, 0, path);
    return graft_format("%s.%s", path, coded->name);
}

static int add(const struct planning *planning, struct graft_node *node, const struct graft_coded_parameter *coded,
               struct graft_error *error) {
    struct graft_recoding *recoding = planning->recoding;
    const struct graft_codec *codec = &coded->codec;
    const struct graft_node *plain = graft_node_find(planning->plain->root, node->path);
    const struct graft_parameter *parameter = plain != NULL ? graft_node_parameter(plain, coded->name) : NULL;
    const struct graft_parameter *codes = codes_of(node, coded);
    const struct graft_value *value = &recoding->source->plan->bindings[codes->index].value;
    struct recoded item = {.node = node, .coded = coded, .made = recoding->n_made};
    int64_t shape[GRAFT_MAX_RANK] = {codec->rows, codec->columns};
    int32_t rank = 2;
    if (parameter != NULL && parameter->rank > 2) {
        rank = parameter->rank;
        memcpy(shape, parameter->shape, sizeof shape);
        if (graft_recoding_is_transposed(plain, coded->name)) {
            item.transposed = shape[rank - 2];
            shape[rank - 2] = shape[rank - 1];
            shape[rank - 1] = item.transposed;
        }
    }
    const struct graft_tensor_view *tensor = value->parts[0].tensor;
    if (graft_grow(&recoding->items, &recoding->capacity, recoding->n, sizeof item) != 0 ||
        graft_recoding_add(recoding, name_of(node, coded, tensor, codes->own_name), planning->dtype, rank, shape,
                           tensor->file) != 0) {
        return graft_fail_memory(error, node->path);
    }
    recoding->items[recoding->n++] = item;
    return GRAFT_OK;
}

/* Whether a plugin's class for the method has parameters whose numbers only its own loops know. */
static int has_own_loops(const struct graft_node *node) {
    int has = 0;
    for (size_t i = 0; i < node->n_parameters; i++) {
        has |= node->parameters[i]->dtype != GRAFT_DTYPE_NONE;
    }
    return has && node->original != NULL && node->n_coded == 0;
}

/* Whether the class does more than multiply, such as normalizing its inputs. Replacing it by a plain Linear would
 * change the model. */
static int does_more(const struct planning *planning, const struct graft_node *node) {
    const struct graft_node *plain = graft_node_find(planning->plain->root, node->path);
    return node->n_coded > 0 && node->n_children > 0 && (plain == NULL || plain->n_children < node->n_children);
}

static int look_at(void *data, struct graft_node *node, struct graft_error *error) {
    const struct planning *planning = data;
    int status = GRAFT_OK;
    if (does_more(planning, node)) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, node->path,
                               "%s has a module of its own, \"%s\", which the class of floats has not",
                               node->class_name, node->children[0]->name);
    }
    if (has_own_loops(node)) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, node->path,
                               "%s multiplies codes by itself, and does not say what numbers they stand for",
                               node->class_name);
    }
    for (size_t i = 0; i < node->n_coded && status == GRAFT_OK; i++) {
        status = add(planning, node, &node->coded[i], error);
    }
    for (size_t i = 0; i < node->n_parameters && node->n_coded > 0; i++) {
        if (!stays(planning, node, node->parameters[i]->own_name)) {
            graft_recoding_remove(planning->recoding, node->parameters[i]);
        }
    }
    return status;
}

static int build_plain(const struct graft_model *source, struct graft_tree **plain, struct graft_error *error) {
    const struct graft_tree_options options = {
        .config = source->config,
        .snapshot = source->tree->snapshot,
        .without_replacements = 1,
        .class_name = source->root_class,
        .family = &source->family,
        .adapters = &source->adapters,
    };
    return graft_tree_build(&options, plain, error);
}

int graft_dequantize_plan(struct graft_recoding *recoding, struct graft_error *error) {
    const struct graft_model *source = recoding->source;
    const struct graft_config *config = &source->config->view;
    const char *method = graft_quantization_method(config);
    struct planning planning = {.recoding = recoding, .dtype = float_type(config)};
    if (method == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, source->config->file,
                               "quantization_config: missing, so there is nothing to dequantize");
    }
    int status = build_plain(source, &planning.plain, error);
    if (status == GRAFT_OK) {
        status = graft_tree_walk(source->tree, look_at, &planning, error);
    }
    graft_tree_free(planning.plain);
    if (status == GRAFT_OK && recoding->n == 0) {
        status =
            graft_error_set(error, GRAFT_ERROR_MODEL, source->config->file,
                            "quantization_config: no weight is stored as codes of quant_method \"%s\", so there is "
                            "nothing to dequantize",
                            method);
    }
    if (status == GRAFT_OK &&
        (recoding->note = graft_format("dequantized: %zu weights of quant_method \"%s\" are %s", recoding->n, method,
                                       graft_dtype_name(planning.dtype))) == NULL) {
        status = graft_fail_memory(error, source->directory);
    }
    return status;
}

/* --- Filling --- */

struct filling {
    const struct graft_coded_weight *weight;
    const struct graft_tensor_view *to;
    int64_t transposed;
    atomic_int failed; /* whether memory ran out */
};

static void put_row(const struct filling *filling, int64_t row, const float *numbers) {
    void *to = (void *)(uintptr_t)filling->to->data;
    const int64_t columns = filling->weight->weight.columns;
    int64_t step;
    const int64_t first = graft_recoded_row(filling->transposed, row, columns, &step);
    for (int64_t i = 0; i < columns; i++) {
        graft_set_f32_at(to, filling->to->dtype, first + i * step, numbers[i]);
    }
}

static void fill_rows(void *data, int64_t begin, int64_t end) {
    struct filling *filling = data;
    float *numbers = graft_alloc((size_t)filling->weight->weight.columns, sizeof *numbers);
    if (numbers == NULL) {
        atomic_store(&filling->failed, 1);
        return;
    }
    for (int64_t row = begin; row < end; row++) {
        graft_coded_read_stored(filling->weight, row, 1, numbers);
        put_row(filling, row, numbers);
    }
    graft_free(numbers);
}

static int fill(const struct graft_tree *tree, const struct recoded *item, const struct graft_tensor_view *to,
                struct graft_error *error) {
    enum { ROWS = 16 };
    const struct graft_build build = graft_node_build(item->node, tree, graft_host_get());
    int status = graft_node_make_coded(item->node, &build, 1, error);
    if (status == GRAFT_OK) {
        struct filling filling = {item->coded->weight, to, item->transposed, 0};
        graft_threads_get()->parallel_for(filling.weight->weight.rows, ROWS, fill_rows, &filling);
        status = atomic_load(&filling.failed) ? graft_fail_memory(error, item->node->path) : GRAFT_OK;
    }
    graft_node_release_coded(item->node);
    return status;
}

int graft_dequantize_fill(struct graft_recoding *recoding, const struct graft_checkpoint *checkpoint,
                          struct graft_error *error) {
    const struct graft_model *source = recoding->source;
    struct graft_bound *bound = NULL;
    const int64_t total = graft_checkpoint_made_bytes(checkpoint);
    int64_t done = 0;
    int status = graft_bind(source->plan, &bound, error);
    for (size_t i = 0; i < recoding->n && status == GRAFT_OK; i++) {
        const struct graft_tensor_view *to = graft_checkpoint_made_at(checkpoint, recoding->items[i].made);
        status = fill(source->tree, &recoding->items[i], to, error);
        graft_context_tell(GRAFT_PROGRESS_LOAD, done += to->bytes, total);
    }
    graft_bound_free(bound);
    return status;
}
