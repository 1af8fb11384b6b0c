/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses a model's implementations: attention, experts and kernels that users select by name. */
#include "kernels/kernels.h"
#include "library/library.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "graft/attention.h"
#include "graft/decoder_layer.h"
#include "graft/experts.h"
#include "graft/vision_attention.h"
#include "kernels/attention.h"
#include "parallel/ranks.h"
#include "registry/assignment.h"

int graft_model_choose_implementations(struct graft_model *model, const struct graft_model_options *options,
                                       struct graft_snapshot **snapshot, struct graft_error *error) {
    static const struct graft_model_options none = {.struct_size = sizeof none};
    const struct graft_model_options *chosen = options != NULL ? options : &none;
    const char *attention =
        chosen->attn_implementation != NULL ? chosen->attn_implementation : graft_attention_sdpa.name;
    const char *experts = chosen->experts_implementation != NULL ? chosen->experts_implementation
                                                                 : graft_experts_implementations()[0]->name;
    struct graft_snapshot *made = NULL;
    int status = graft_snapshot_implementation(*snapshot, GRAFT_IMPLEMENTATION_ATTENTION, attention,
                                               "attn_implementation", &model->attention, error);
    if (status == GRAFT_OK) {
        status = graft_snapshot_implementation(*snapshot, GRAFT_IMPLEMENTATION_EXPERTS, experts,
                                               "experts_implementation", &model->experts, error);
    }
    model->attention_asked = chosen->attn_implementation != NULL;
    model->attention_now = status == GRAFT_OK ? model->attention->declared : NULL;
    if (status == GRAFT_OK && chosen->n_kernels > 0) {
        status = graft_snapshot_with_kernels(*snapshot, chosen->kernels, (size_t)chosen->n_kernels, &made, error);
    }
    if (status == GRAFT_OK && made != NULL) {
        graft_snapshot_release(*snapshot);
        *snapshot = made;
    }
    return status;
}

/* Counts the modules of a tree that use attention, stacked experts, and the kernels of a name. */
struct users {
    const struct graft_snapshot *snapshot;
    const char *kernel; /* or NULL */
    size_t attention;
    size_t experts;
    size_t kernels;
};

/* Stacked experts are parameters of three dimensions: [experts, out, in]. */
static int is_stacked(const struct graft_node *node) {
    for (size_t i = 0; i < node->n_parameters; i++) {
        if (node->parameters[i]->rank == 3) {
            return 1;
        }
    }
    return 0;
}

static int count_users(void *data, struct graft_node *node, struct graft_error *error) {
    struct users *users = data;
    const char *interface_id = node->made_by != NULL ? node->made_by->cls->interface_id : "";
    const struct graft_implementation *kernel =
        node->known != NULL ? graft_snapshot_kernel_of(users->snapshot, node->known->cls) : NULL;
    (void)error;
    users->attention += strcmp(interface_id, GRAFT_INTERFACE_SELF_ATTENTION) == 0 ||
                        strcmp(interface_id, GRAFT_INTERFACE_VISION_ATTENTION) == 0;
    users->experts += strcmp(interface_id, GRAFT_INTERFACE_EXPERTS) == 0 && is_stacked(node);
    users->kernels += kernel != NULL && users->kernel != NULL && strcmp(kernel->name, users->kernel) == 0;
    return GRAFT_OK;
}

static struct users count(const struct graft_model *model, const char *kernel) {
    struct users users = {.snapshot = model->tree->snapshot, .kernel = kernel};
    (void)graft_tree_walk(model->tree, count_users, &users, NULL);
    return users;
}

/* Keeps the note on a kernel without effect; a later note replaces it. */
static int keep_note(void *data, char *note_take, size_t unused_plugins, struct graft_error *error) {
    (void)unused_plugins;
    char **kept = data;
    (void)error;
    if (note_take != NULL && strstr(note_take, "kernel for class") != NULL) {
        graft_free(*kept);
        *kept = note_take;
    } else {
        graft_free(note_take);
    }
    return GRAFT_OK;
}

/* Sets the error of a kernel without effect, with the reason that the assignment gives: no such class, or another
 * replacement took precedence. */
static int fail_kernel(const struct graft_model *model, const char *name, struct graft_error *error) {
    char *why = NULL;
    (void)graft_assignment_notes(model->tree->assignment, keep_note, &why, NULL);
    int status = graft_error_set(error, GRAFT_ERROR_USAGE, "kernels", "no module of this model uses \"%s\"%s%s", name,
                                 why != NULL ? ": " : "", why != NULL ? why : "");
    graft_free(why);
    return status;
}

int graft_model_check_implementations(const struct graft_model *model, const struct graft_model_options *options,
                                      struct graft_error *error) {
    if (options == NULL ||
        (options->attn_implementation == NULL && options->experts_implementation == NULL && options->n_kernels == 0)) {
        return GRAFT_OK;
    }
    const struct users users = count(model, NULL);
    if (options->attn_implementation != NULL && users.attention == 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "attn_implementation",
                               "no module of this model uses \"%s\": none is an attention",
                               options->attn_implementation);
    }
    if (options->experts_implementation != NULL && users.experts == 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "experts_implementation",
                               "no module of this model uses \"%s\": none holds stacked experts",
                               options->experts_implementation);
    }
    for (int32_t i = 0; i < options->n_kernels; i++) {
        if (count(model, options->kernels[i]).kernels == 0) {
            return fail_kernel(model, options->kernels[i], error);
        }
    }
    return GRAFT_OK;
}

static int find_spread(void *data, struct graft_node *node, struct graft_error *error) {
    int32_t *is_spread = data;
    (void)error;
    *is_spread |= node->is_elsewhere && strcmp(node->known->cls->interface_id, GRAFT_INTERFACE_DECODER_LAYER) == 0;
    return GRAFT_OK;
}

/* How many groups of sequences can be in progress at once: several if other processes have some of the layers. */
static int32_t count_stages(const struct graft_model *model) {
    int32_t is_spread = 0;
    if (model->tree->n_elsewhere > 0) {
        (void)graft_tree_walk(model->tree, find_spread, &is_spread, NULL);
    }
    return is_spread ? graft_ranks_get()->size : 1;
}

/* Counts the bytes of bf16 weights in this process, and of those in other floating-point types. */
static void count_bytes(const struct graft_model *model, int64_t bytes[2]) {
    bytes[0] = bytes[1] = 0;
    for (size_t i = 0; i < model->plan->n_bindings; i++) {
        const struct graft_binding *binding = &model->plan->bindings[i];
        bytes[binding->dtype != GRAFT_DTYPE_BF16] += graft_kernels_reads(binding->dtype) ? binding->bytes : 0;
    }
}

/* Chooses the type of cached keys and values: bf16 if most weights are bf16, since transformers then rounds them as
 * well. */
static graft_dtype choose_kv_dtype(const struct graft_model *model, const int64_t bytes[2]) {
    if (model->kv_cache != GRAFT_PRECISION_AUTO) {
        return model->kv_cache == GRAFT_PRECISION_BFLOAT16 ? GRAFT_DTYPE_BF16 : GRAFT_DTYPE_F32;
    }
    return model->precision != GRAFT_PRECISION_FLOAT32 && bytes[0] > bytes[1] ? GRAFT_DTYPE_BF16 : GRAFT_DTYPE_F32;
}

graft_dtype graft_model_kv_dtype(const struct graft_model *model) {
    int64_t bytes[2];
    count_bytes(model, bytes);
    return choose_kv_dtype(model, bytes);
}

/* Chooses the type by the weights of all processes, because their caches must have the same type. */
static int find_kv_dtype(const struct graft_model *model, graft_dtype *dtype, struct graft_error *error) {
    const struct graft_parallel *ranks = graft_ranks_get();
    int64_t bytes[2], all[2] = {0, 0};
    int64_t *each = graft_alloc((size_t)ranks->size, sizeof bytes);
    count_bytes(model, bytes);
    int status = each != NULL ? ranks->allgather(bytes, sizeof bytes, each, error) : graft_fail_memory(error, "cache");
    for (int32_t i = 0; status == GRAFT_OK && i < 2 * ranks->size; i++) {
        all[i % 2] += each[i];
    }
    graft_free(each);
    *dtype = choose_kv_dtype(model, all);
    return status;
}

/* Tokens of a prompt in one forward: enough that reading the weights again costs almost nothing. */
enum { PORTION = 512 };

/* Whether prompts are split into several forwards. If layers are spread over processes, these work on several forwards
 * at once. A prompt whose tokens see later ones is a single forward. */
static int splits_prompts(const struct graft_model *model) {
    return model->published.plan.state_bytes == 0 && count_stages(model) == 1 &&
           graft_tree_number(model->tree, "bidirectional", 0) == 0;
}

int graft_model_session(const struct graft_model *model, int32_t slots, struct graft_session **session,
                        struct graft_error *error) {
    graft_dtype kv_dtype;
    int status = find_kv_dtype(model, &kv_dtype, error);
    if (status == GRAFT_OK) {
        status =
            graft_session_create(model->head, model->vocab_size, model->precision, kv_dtype, slots, session, error);
    }
    if (status == GRAFT_OK) {
        graft_session_limit(*session, graft_model_max_positions(model));
        graft_session_set_renewal(*session, graft_tree_number(model->tree, "renewed_after", 0));
        graft_session_spread(*session, count_stages(model));
        graft_session_set_portion(*session, splits_prompts(model) ? PORTION : 0);
        graft_session_use(*session, model->attention_now, model->attention_asked, model->experts->declared);
    }
    return status;
}
