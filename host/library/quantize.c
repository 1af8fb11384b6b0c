/* SPDX-License-Identifier: Apache-2.0 */
/* Quantizes float weights to a plugin's format (graft/quantization.h). */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/context.h"
#include "base/crash_context.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "base/text.h"
#include "config/quantization.h"
#include "graft/convert.h"
#include "graft/experts.h"
#include "graft/host/process.h"
#include "kernels/threads.h"
#include "library/recode.h"
#include "registry/quantizations.h"

enum { MAX_TENSORS = 16, MAX_NAME = 128, PIECE = 1 << 16, SHOWN = 3 };

/* Suffix of a format's name: modules right below the root, such as lm_head, are quantized as well. */
#define HEADS "+head"

/* A question to the format about a weight. */
struct asked {
    struct graft_value_info weight;
    struct graft_value_info tensors[MAX_TENSORS];
    struct graft_quantize_shapes shapes; /* points to the members above */
};

static int32_t count_tensors(const struct graft_quantization *format) {
    int32_t n = 0;
    while (format->tensors[n] != NULL) {
        n++;
    }
    return n;
}

/* Asks the format about the weight of an item, with its matrices in the orientation in which they are multiplied. */
static int ask(const struct graft_recoding *recoding, const struct recoded *item, struct asked *asked,
               struct graft_error *error) {
    const struct graft_quantization *format = recoding->format;
    const struct graft_tensor_view *tensor = item->tensor;
    *asked =
        (struct asked){.weight = {.struct_size = sizeof asked->weight, .dtype = tensor->dtype, .rank = tensor->rank}};
    memcpy(asked->weight.shape, tensor->shape, sizeof asked->weight.shape);
    if (item->transposed > 0) {
        asked->weight.shape[tensor->rank - 2] = tensor->shape[tensor->rank - 1];
        asked->weight.shape[tensor->rank - 1] = tensor->shape[tensor->rank - 2];
    }
    asked->shapes = (struct graft_quantize_shapes){
        .struct_size = sizeof asked->shapes,
        .n_tensors = count_tensors(format),
        .info_stride = sizeof asked->tensors[0],
        .name = tensor->name,
        .weight = &asked->weight,
        .tensors = asked->tensors,
    };
    for (int32_t i = 0; i < asked->shapes.n_tensors; i++) {
        asked->tensors[i].struct_size = sizeof asked->tensors[i];
    }
    const struct graft_plugin_call task = {"shape", tensor->name, format->name, recoding->plugin, NULL};
    const struct graft_crash_context before = graft_crash_context_begin(&task);
    int status = format->shape(format, &asked->shapes, error);
    graft_crash_context_end(before);
    for (int32_t i = 0; status == GRAFT_OK && !asked->shapes.stays && i < asked->shapes.n_tensors; i++) {
        const struct graft_value_info *info = &asked->tensors[i];
        if (info->rank < 1 || info->rank > GRAFT_MAX_RANK ||
            graft_tensor_view_size(info->dtype, info->rank, info->shape) <= 0) {
            status = graft_error_set(error, GRAFT_ERROR_PLUGIN, tensor->name, "%s gives tensor \"%s\" no type or shape",
                                     format->name, format->tensors[i]);
        }
    }
    return status == GRAFT_OK
               ? status
               : graft_error_complete(error, status, tensor->name, "%s failed with status %d and recorded no error",
                                      format->name, status);
}

/* --- Planning --- */

struct planning {
    struct graft_recoding *recoding;
    int takes_heads;        /* whether modules right below the root are quantized as well */
    struct graft_text left; /* the first few modules that are not quantized, as text */
    size_t n_left;
    graft_json *list; /* all of them, for config.json */
};

/* Notes a module that is not quantized; `length` bytes of `name` are its path. */
static int leave(struct planning *planning, const char *name, size_t length, struct graft_error *error) {
    if (planning->n_left < SHOWN) {
        graft_text_printf(&planning->left, "%s%.*s", planning->n_left > 0 ? ", " : "", (int)length, name);
    }
    planning->n_left++;
    return graft_json_append_take(planning->list, graft_json_new_string_n(name, length)) == 0 && !planning->left.failed
               ? GRAFT_OK
               : graft_fail_memory(error, name);
}

static int is_float(graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F32 || dtype == GRAFT_DTYPE_F16 || dtype == GRAFT_DTYPE_BF16;
}

/* The one tensor that holds the whole parameter, in row order or with its matrices transposed; NULL if there is no such
 * tensor. */
static const struct graft_tensor_view *whole_tensor(const struct graft_binding *binding, int is_transposed) {
    const struct graft_value *value = &binding->value;
    if (binding->status != GRAFT_BINDING_FOUND || value->n_parts == 0) {
        return NULL;
    }
    const struct graft_tensor_view *tensor = value->parts[0].tensor;
    const int64_t count = graft_value_extent(value, 0, value->rank);
    int is_whole = tensor->computed == NULL && graft_tensor_view_size(tensor->dtype, tensor->rank, tensor->shape) ==
                                                   count * graft_dtype_size(tensor->dtype);
    for (size_t i = 1; i < value->n_parts; i++) {
        is_whole &= value->parts[i].tensor == tensor;
    }
    const int in_order = value->n_parts == 1 && graft_box_together(&value->parts[0].box) == count;
    return is_whole && is_float(tensor->dtype) && tensor->rank >= 2 && (is_transposed || in_order) ? tensor : NULL;
}

/* Length of the module's name in the checkpoint, including the dot: the beginning of a tensor's name. 0 if the tensor's
 * name does not end with the parameter's. */
static size_t prefix_of(const struct graft_tensor_view *tensor, const char *weight) {
    const size_t length = strlen(tensor->name), own = strlen(weight);
    return length > own + 1 && tensor->name[length - own - 1] == '.' && strcmp(tensor->name + length - own, weight) == 0
               ? length - own
               : 0;
}

/* The full name of tensor `name` of a module. `weight` is the full name of the module's weight, and its first `prefix`
 * bytes are the module's path. The caller frees it; NULL: memory ran out. */
static char *name_in(const char *weight, size_t prefix, const char *name) {
    const int is_suffix = name[0] == '*';
    return graft_format("%.*s%s", is_suffix ? (int)strlen(weight) : (int)prefix, weight, name + is_suffix);
}

/* Adds the tensors that the format makes of a module's weight. `name` is the full name of the weight, and its first
 * `prefix` bytes are the module's path. */
static int add_as(struct planning *planning, const struct graft_tensor_view *tensor, const char *name, size_t prefix,
                  int64_t transposed, struct graft_error *error) {
    struct graft_recoding *recoding = planning->recoding;
    const struct graft_quantization *format = recoding->format;
    const struct recoded item = {.tensor = tensor, .made = recoding->n_made, .transposed = transposed};
    struct asked asked;
    int status = ask(recoding, &item, &asked, error);
    if (status != GRAFT_OK || asked.shapes.stays) {
        return status == GRAFT_OK ? leave(planning, name, prefix - 1, error) : status;
    }
    for (int32_t i = 0; i < asked.shapes.n_tensors; i++) {
        const struct graft_value_info *info = &asked.tensors[i];
        if (graft_recoding_add(recoding, name_in(name, prefix, format->tensors[i]), info->dtype, info->rank,
                               info->shape, tensor->file) != 0) {
            return graft_fail_memory(error, tensor->name);
        }
    }
    if (graft_grow(&recoding->items, &recoding->capacity, recoding->n, sizeof item) != 0) {
        return graft_fail_memory(error, tensor->name);
    }
    recoding->items[recoding->n++] = item;
    return GRAFT_OK;
}

/* Adds a weight with its own tensor, which is removed; the module calls it `weight`. */
static int add(struct planning *planning, const struct graft_tensor_view *tensor, const char *weight,
               int64_t transposed, struct graft_error *error) {
    struct graft_recoding *recoding = planning->recoding;
    const size_t n = recoding->n;
    int status = add_as(planning, tensor, tensor->name, prefix_of(tensor, weight), transposed, error);
    if (recoding->n > n) {
        recoding->removed[graft_checkpoint_number(recoding->source->checkpoint, tensor)] = 1;
    }
    return status;
}

/* Adds the weight of a head that is tied to the embedding. The embedding keeps its tensor, and the two are no longer
 * tied. */
static int add_tied(struct planning *planning, const struct graft_node *node, const struct graft_tensor_view *tensor,
                    const char *weight, struct graft_error *error) {
    char *name = graft_format("%s.%s", node->path, weight);
    int status = name != NULL ? add_as(planning, tensor, name, strlen(node->path) + 1, 0, error)
                              : graft_fail_memory(error, node->path);
    planning->recoding->unties = 1;
    graft_free(name);
    return status;
}

static int add_weight(struct planning *planning, const struct graft_node *node, const char *name,
                      struct graft_error *error) {
    const struct graft_parameter *parameter = graft_node_parameter(node, name);
    if (parameter == NULL) {
        return GRAFT_OK;
    }
    const int is_transposed = graft_recoding_is_transposed(node, name);
    const struct graft_binding *bindings = planning->recoding->source->plan->bindings;
    const struct graft_binding *binding = &bindings[parameter->index];
    const int is_head = strchr(node->path, '.') == NULL,
              is_tied = parameter->tied_to != NULL && binding->status == GRAFT_BINDING_TIED;
    const struct graft_tensor_view *tensor =
        whole_tensor(is_tied ? &bindings[parameter->tied_to->index] : binding, is_transposed);
    if (tensor == NULL || ((is_head || is_tied) && !planning->takes_heads)) {
        return leave(planning, node->path, strlen(node->path), error);
    }
    if (is_tied) {
        return add_tied(planning, node, tensor, name, error);
    }
    return prefix_of(tensor, name) == 0
               ? leave(planning, node->path, strlen(node->path), error)
               : add(planning, tensor, name, is_transposed ? tensor->shape[tensor->rank - 1] : 0, error);
}

/* Adds the matrices from which stacks are made, if there is one for each expert. */
static int add_experts(struct planning *planning, const struct graft_node *node, struct graft_error *error) {
    const struct graft_model *source = planning->recoding->source;
    int status = GRAFT_OK;
    for (size_t i = 0; i < node->n_parameters && status == GRAFT_OK; i++) {
        const struct graft_value *value = &source->plan->bindings[node->parameters[i]->index].value;
        for (size_t k = 0; k < value->n_parts && status == GRAFT_OK; k++) {
            const struct graft_tensor_view *tensor = value->parts[k].tensor;
            const int is_taken = tensor->computed != NULL ||
                                 planning->recoding->removed[graft_checkpoint_number(source->checkpoint, tensor)];
            if (!is_taken && tensor->rank == 2 && is_float(tensor->dtype) && prefix_of(tensor, "weight") > 0) {
                status = add(planning, tensor, "weight", 0, error);
            }
        }
    }
    return status;
}

static int look_at(void *data, struct graft_node *node, struct graft_error *error) {
    struct planning *planning = data;
    const struct graft_quantization *format = planning->recoding->format;
    int status = GRAFT_OK;
    if ((format->flags & GRAFT_QUANTIZATION_EXPERTS) != 0 && graft_node_has_interface(node, GRAFT_INTERFACE_EXPERTS)) {
        return add_experts(planning, node, error);
    }
    if (node->path[0] == '\0' || strcmp(node->class_name, format->module) != 0) {
        return GRAFT_OK;
    }
    for (size_t i = 0; format->weights[i] != NULL && status == GRAFT_OK; i++) {
        status = add_weight(planning, node, format->weights[i], error);
    }
    return status;
}

/* Makes config.json's quantization_config: the format's, with the modules that are not quantized. Takes ownership of
 * the list. */
static int make_config(struct planning *planning, struct graft_error *error) {
    struct graft_recoding *recoding = planning->recoding;
    const struct graft_quantization *format = recoding->format;
    int status = graft_json_parse(format->config, strlen(format->config), format->name, &recoding->config, error);
    graft_json *list = planning->list;
    planning->list = NULL;
    if (status != GRAFT_OK || format->left_out == NULL) {
        graft_json_free(list);
        return status;
    }
    return graft_json_set_take(recoding->config, format->left_out, list) == 0 ? GRAFT_OK
                                                                              : graft_fail_memory(error, format->name);
}

static int64_t bytes_of(const struct graft_recoding *recoding) {
    int64_t bytes = 0;
    for (size_t i = 0; i < recoding->n; i++) {
        bytes += recoding->items[i].tensor->bytes;
    }
    return bytes;
}

static int make_note(struct planning *planning, struct graft_error *error) {
    struct graft_recoding *recoding = planning->recoding;
    int64_t bytes = 0;
    char more[32] = "";
    for (size_t i = 0; i < recoding->n_made; i++) {
        const struct graft_tensor_view *made = &recoding->made[i];
        bytes += graft_tensor_view_size(made->dtype, made->rank, made->shape);
    }
    if (planning->n_left > SHOWN) {
        (void)snprintf(more, sizeof more, " and %zu more", planning->n_left - SHOWN);
    }
    recoding->note =
        graft_format("quantized: %zu weights are %s by %s, %lld bytes instead of %lld; not quantized: %s%s",
                     recoding->n, recoding->format->name, recoding->plugin, (long long)bytes,
                     (long long)bytes_of(recoding), planning->n_left > 0 ? planning->left.bytes : "none", more);
    return recoding->note != NULL ? GRAFT_OK : graft_fail_memory(error, recoding->source->directory);
}

int graft_quantize_plan(struct graft_recoding *recoding, const char *wanted, struct graft_error *error) {
    const struct graft_model *source = recoding->source;
    const char *method = graft_quantization_method(&source->config->view);
    const size_t length = strlen(wanted), own = sizeof HEADS - 1;
    struct planning planning = {.recoding = recoding};
    char name[MAX_NAME];
    planning.takes_heads = length > own && strcmp(wanted + length - own, HEADS) == 0;
    (void)snprintf(name, sizeof name, "%.*s", (int)(length - (planning.takes_heads ? own : 0)), wanted);
    if (method != NULL) {
        (void)graft_error_set(error, GRAFT_ERROR_USAGE, source->config->file,
                              "quantization_config: the weights are quantized already, by \"%s\"", method);
        graft_error_hint(error, "open the model so that they become floats, and save that first");
        return GRAFT_ERROR_USAGE;
    }
    int status = graft_snapshot_quantization(source->tree->snapshot, name, &recoding->format, &recoding->plugin, error);
    if (status == GRAFT_OK && (planning.list = graft_json_new_array()) == NULL) {
        status = graft_fail_memory(error, source->directory);
    }
    if (status == GRAFT_OK) {
        struct graft_error cause = graft_error_none();
        status = graft_tree_walk(source->tree, look_at, &planning, &cause);
        status = status == GRAFT_OK ? status : graft_model_name_file(source, &cause, error);
    }
    if (status == GRAFT_OK && recoding->n == 0) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, source->directory,
                                 "quantize: the model has no weight that becomes %s (those of modules of class %s%s)",
                                 recoding->format->name, recoding->format->module,
                                 planning.takes_heads ? "" : ", but for the ones right below the root");
    }
    if (status == GRAFT_OK) {
        status = make_config(&planning, error);
    }
    if (status == GRAFT_OK) {
        status = make_note(&planning, error);
    }
    graft_json_free(planning.list);
    graft_text_free(&planning.left);
    return status;
}

/* --- Filling --- */

struct filling {
    const struct graft_quantization *format;
    const char *plugin;
    const struct recoded *item;
    struct graft_quantize_work work; /* complete except for rows and weights */
    int64_t piece;                   /* number of rows per piece of work */
    atomic_int failed;               /* -1: a weight was infinite or NaN; 1: memory ran out */
};

static float number_at(const struct graft_tensor_view *tensor, int64_t i) {
    uint16_t half;
    float number;
    if (tensor->dtype == GRAFT_DTYPE_F32) {
        memcpy(&number, (const char *)tensor->data + i * 4, sizeof number);
        return number;
    }
    memcpy(&half, (const char *)tensor->data + i * 2, sizeof half);
    return graft_f32_at(&half, tensor->dtype, 0);
}

/* Reads a row of a matrix, which may be stored transposed. */
static void read_row(const struct recoded *item, int64_t row, int64_t columns, float *out) {
    int64_t step;
    const int64_t first = graft_recoded_row(item->transposed, row, columns, &step);
    for (int64_t i = 0; i < columns; i++) {
        out[i] = number_at(item->tensor, first + i * step);
    }
}

static void fill_pieces(void *data, int64_t begin, int64_t end) {
    struct filling *filling = data;
    struct graft_quantize_work work = filling->work;
    float *weights = graft_alloc((size_t)(filling->piece * work.columns), sizeof *weights);
    if (weights == NULL) {
        atomic_store(&filling->failed, 1);
        return;
    }
    for (int64_t i = begin; i < end && atomic_load(&filling->failed) == 0; i++) {
        work.begin = i * filling->piece;
        work.end = work.begin + filling->piece < work.rows ? work.begin + filling->piece : work.rows;
        work.weights = weights;
        for (int64_t row = work.begin; row < work.end; row++) {
            read_row(filling->item, row, work.columns, weights + (row - work.begin) * work.columns);
        }
        const struct graft_plugin_call task = {"quantize", filling->item->tensor->name, filling->format->name,
                                               filling->plugin, NULL};
        const struct graft_crash_context before = graft_crash_context_begin(&task);
        if (filling->format->quantize(filling->format, &work) != 0) {
            atomic_store(&filling->failed, -1);
        }
        graft_crash_context_end(before);
    }
    graft_free(weights);
}

static int fill(const struct graft_recoding *recoding, const struct recoded *item,
                const struct graft_checkpoint *checkpoint, struct graft_error *error) {
    const struct graft_quantization *format = recoding->format;
    struct asked asked;
    void *tensors[MAX_TENSORS];
    int status = ask(recoding, item, &asked, error);
    if (status != GRAFT_OK) {
        return status;
    }
    for (int32_t i = 0; i < asked.shapes.n_tensors; i++) {
        const struct graft_tensor_view *made = graft_checkpoint_made_at(checkpoint, item->made + (size_t)i);
        tensors[i] = (void *)(uintptr_t)made->data;
        memset(tensors[i], 0, (size_t)made->bytes);
    }
    struct filling filling = {
        .format = format,
        .plugin = recoding->plugin,
        .item = item,
        .work = {.struct_size = sizeof filling.work, .shapes = &asked.shapes, .rows = 1, .tensors = tensors},
    };
    struct graft_quantize_work *work = &filling.work;
    work->columns = asked.weight.shape[asked.weight.rank - 1];
    for (int32_t i = 0; i < asked.weight.rank - 1; i++) {
        work->rows *= asked.weight.shape[i];
    }
    const int64_t steps = PIECE / (format->row_step * work->columns);
    filling.piece = format->row_step * (steps > 0 ? steps : 1);
    graft_threads_get()->parallel_for((work->rows + filling.piece - 1) / filling.piece, 1, fill_pieces, &filling);
    const int failed = atomic_load(&filling.failed);
    return failed == 0  ? GRAFT_OK
           : failed > 0 ? graft_fail_memory(error, item->tensor->name)
                        : graft_error_set(error, GRAFT_ERROR_MODEL, item->tensor->name,
                                          "cannot be quantized: a weight is infinite or not a number");
}

int graft_quantize_fill(struct graft_recoding *recoding, const struct graft_checkpoint *checkpoint,
                        struct graft_error *error) {
    const int64_t total = bytes_of(recoding);
    int64_t done = 0;
    int status = GRAFT_OK;
    for (size_t i = 0; i < recoding->n && status == GRAFT_OK; i++) {
        status = fill(recoding, &recoding->items[i], checkpoint, error);
        graft_context_tell(GRAFT_PROGRESS_LOAD, done += recoding->items[i].tensor->bytes, total);
    }
    return status;
}
