/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "graft/attention.h"
#include "graft/base_model.h"
#include "graft/decoder_layer.h"
#include "graft/embedding.h"
#include "graft/experts.h"
#include "graft/router.h"
#include "hooks/recording.h"
#include "kernels/attention.h"

static const char embeddings_name[] = "hidden_states.embeddings";

/* --- Where a module is --- */

static int is_layer(const struct graft_node *node) {
    return graft_node_has_interface(node, GRAFT_INTERFACE_DECODER_LAYER);
}

/* The number of the layer that the module is or belongs to; -1 if there is none. */
static int64_t layer_of(const struct graft_node *node) {
    while (node != NULL && !is_layer(node)) {
        node = node->parent;
    }
    if (node == NULL || node->name[0] == '\0' || node->name[strspn(node->name, "0123456789")] != '\0') {
        return -1;
    }
    return strtoll(node->name, NULL, 10);
}

/* Whether a tensor of the module has a name of its own in the recording. */
static int is_named(const struct graft_recording *recording, const struct graft_node *node) {
    int hidden = is_layer(node) || graft_node_has_interface(node, GRAFT_INTERFACE_BASE_MODEL);
    return ((recording->what & GRAFT_RECORD_HIDDEN_STATES) != 0 && hidden) ||
           ((recording->what & GRAFT_RECORD_ROUTER_LOGITS) != 0 &&
            graft_node_has_interface(node, GRAFT_INTERFACE_ROUTER)) ||
           ((recording->what & GRAFT_RECORD_ATTENTIONS) != 0 &&
            graft_node_has_interface(node, GRAFT_INTERFACE_SELF_ATTENTION));
}

static int wants(void *data, const struct graft_node *node) {
    const struct graft_recording *recording = data;
    return is_named(recording, node) || ((recording->what & GRAFT_RECORD_OUTPUTS) != 0 && graft_can_hook(node));
}

/* --- Recorded outputs --- */

static int64_t count_tokens(const struct graft_recording *recording) {
    int64_t tokens = 0;
    for (size_t s = 0; s < recording->n; s++) {
        tokens += recording->lengths[s];
    }
    return tokens;
}

/* Records rows of `columns` numbers for each token, as one tensor for each sequence. */
static int add_rows(struct graft_recording *recording, const char *name, const struct graft_node *node,
                    const float *from, int64_t columns, struct graft_error *error) {
    for (size_t s = 0; s < recording->n; s++) {
        const int64_t shape[] = {recording->lengths[s], columns};
        float *to = graft_recording_add(recording, name, s, 2, shape);
        if (to == NULL) {
            return graft_fail_memory(error, node->path);
        }
        memcpy(to, from, (size_t)(shape[0] * shape[1]) * sizeof *to);
        from += shape[0] * shape[1];
    }
    return GRAFT_OK;
}

/* Records a view of the whole batch. */
static int add_view(struct graft_recording *recording, const char *name, const struct graft_hooked_call *hooked,
                    const char *view_name, struct graft_error *error) {
    const struct graft_view *view = NULL;
    for (int32_t i = 0; i < hooked->n_views; i++) {
        view = strcmp(hooked->views[i].name, view_name) == 0 ? &hooked->views[i] : view;
    }
    if (view == NULL || view->rows != count_tokens(recording)) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, hooked->node->path,
                               "cannot be recorded: the size of %s does not match the prompts", view_name);
    }
    return add_rows(recording, name, hooked->node, view->data, view->columns, error);
}

/* Whether the module is below the experts, where rows belong to chosen tokens, one expert after another. */
static int is_of_experts(const struct graft_node *node) {
    for (node = node->parent; node != NULL; node = node->parent) {
        if (graft_node_has_interface(node, GRAFT_INTERFACE_EXPERTS)) {
            return 1;
        }
    }
    return 0;
}

/* Records the module's first output, if it has the same number of rows for every token. */
static int add_output(struct graft_recording *recording, const struct graft_hooked_call *hooked,
                      struct graft_error *error) {
    const int64_t tokens = count_tokens(recording);
    const struct graft_view *view = NULL;
    for (int32_t i = hooked->n_views - 1; i >= 0; i--) {
        const int is_out = hooked->views[i].direction == GRAFT_VIEW_OUT;
        /* a norm may add a residual to its input in place, but its result is its output */
        view = is_out || (hooked->views[i].direction == GRAFT_VIEW_IN_OUT && view == NULL) ? &hooked->views[i] : view;
    }
    if (view == NULL || view->dtype != GRAFT_DTYPE_F32 || view->data == NULL || view->rows == 0 ||
        is_of_experts(hooked->node)) {
        return GRAFT_OK;
    }
    /* an activation is called with a count of numbers, not with rows */
    const int64_t numbers = view->rows * view->columns;
    const int is_whole = view->rows % tokens == 0 || (view->rows == 1 && numbers % tokens == 0);
    char *name = is_whole ? graft_format("outputs.%s", hooked->node->path) : NULL;
    int status = !is_whole      ? GRAFT_OK
                 : name != NULL ? add_rows(recording, name, hooked->node, view->data, numbers / tokens, error)
                                : graft_fail_memory(error, hooked->node->path);
    graft_free(name);
    return status;
}

/* --- While the model runs --- */

static int before(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct graft_recording *recording = data;
    const struct graft_node *node = hooked->node;
    if (!is_named(recording, node)) {
        return GRAFT_OK;
    }
    if (graft_node_has_interface(node, GRAFT_INTERFACE_SELF_ATTENTION)) {
        hooked->mark = recording->layer;
        recording->layer = layer_of(node);
    }
    /* the input of the first layer is recorded, since positions and other embeddings are added to the output of the
     * embedding module */
    return is_layer(node) && !graft_recording_has(recording, embeddings_name)
               ? add_view(recording, embeddings_name, hooked, "hidden_states", error)
               : GRAFT_OK;
}

static int after_attention(struct graft_recording *recording, const struct graft_hooked_call *hooked,
                           struct graft_error *error) {
    char name[48];
    int64_t layer = recording->layer;
    recording->layer = hooked->mark;
    (void)snprintf(name, sizeof name, "attentions.%lld%s", (long long)layer, recording->n > 1 ? ".0" : "");
    if (layer < 0 || graft_recording_find(recording, name) != NULL) {
        return GRAFT_OK;
    }
    (void)graft_error_set(error, GRAFT_ERROR_USAGE, hooked->node->path,
                          "%s uses no attention implementation, so there are no weights to record",
                          hooked->node->class_name);
    graft_error_hint(error, "record without its plugin");
    return GRAFT_ERROR_USAGE;
}

static int after(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct graft_recording *recording = data;
    const struct graft_node *node = hooked->node;
    char name[48];
    int status = (recording->what & GRAFT_RECORD_OUTPUTS) != 0 ? add_output(recording, hooked, error) : GRAFT_OK;
    if (status != GRAFT_OK || !is_named(recording, node)) {
        return status;
    }
    if (graft_node_has_interface(node, GRAFT_INTERFACE_SELF_ATTENTION)) {
        return after_attention(recording, hooked, error);
    }
    if (graft_node_has_interface(node, GRAFT_INTERFACE_BASE_MODEL)) {
        return add_view(recording, "hidden_states.final_norm", hooked, "last_hidden_state", error);
    }
    int is_router = graft_node_has_interface(node, GRAFT_INTERFACE_ROUTER);
    (void)snprintf(name, sizeof name, is_router ? "router.%lld.logits" : "hidden_states.layer.%lld",
                   (long long)layer_of(node));
    return layer_of(node) >= 0 ? add_view(recording, name, hooked, is_router ? "logits" : "hidden_states", error)
                               : GRAFT_OK;
}

/* Allocates the attention weights of each sequence. */
static int with_weights(struct graft_recording *recording, const struct graft_attention_input *input,
                        struct graft_attention_sequence *sequences, struct graft_error *error) {
    char name[48];
    (void)snprintf(name, sizeof name, "attentions.%lld", (long long)recording->layer);
    for (int32_t s = 0; s < input->n_sequences; s++) {
        const struct graft_attention_sequence *sequence = graft_attention_sequence_at(input, s);
        const int64_t shape[] = {input->heads, sequence->tokens, sequence->length};
        sequences[s] = *sequence;
        sequences[s].weights = graft_recording_add(recording, name, (size_t)s, 3, shape);
        if (sequences[s].weights == NULL) {
            return graft_fail_memory(error, name);
        }
    }
    return GRAFT_OK;
}

static int attend(const struct graft_attention_implementation *self, const struct graft_call *call,
                  const struct graft_attention_input *input, struct graft_error *error) {
    struct graft_recording *recording = (struct graft_recording *)(uintptr_t)self->data;
    const struct graft_attention_implementation *inner = recording->inner;
    struct graft_attention_input changed = *input;
    if (recording->layer < 0) {
        return inner->forward(inner, call, input, error);
    }
    struct graft_attention_sequence *sequences =
        call->scratch_alloc(call->scratch, input->n_sequences * (int64_t)sizeof *sequences);
    int status = sequences != NULL ? with_weights(recording, input, sequences, error)
                                   : graft_fail_memory(error, "attention weights");
    changed.sequences = sequences;
    changed.sequence_stride = sizeof *sequences;
    return status == GRAFT_OK ? inner->forward(inner, call, &changed, error) : status;
}

/* --- From begin to end --- */

/* Chooses who computes attention weights: sdpa and eager are the same function, while a plugin's weights come from the
 * plugin. */
static int choose_attention(struct graft_recording *recording, const struct graft_attention_implementation *wanted,
                            struct graft_error *error) {
    recording->inner = wanted;
    if ((recording->what & GRAFT_RECORD_ATTENTIONS) != 0 && (wanted->flags & GRAFT_ATTENTION_GIVES_WEIGHTS) == 0) {
        recording->inner = &graft_attention_eager;
        if (wanted != &graft_attention_sdpa) {
            (void)graft_error_set(error, GRAFT_ERROR_USAGE, "attn_implementation",
                                  "\"%s\" provides no attention weights to record", wanted->name);
            graft_error_hint(error, "choose eager");
            return GRAFT_ERROR_USAGE;
        }
    }
    recording->attention = *recording->inner;
    recording->attention.forward = attend;
    recording->attention.data = recording;
    return GRAFT_OK;
}

int graft_record_begin(struct graft_tree *tree, const struct graft_record_request *request,
                       struct graft_recording **recording, struct graft_error *error) {
    struct graft_recording *result = graft_alloc(1, sizeof *result);
    if (result == NULL || (result->lengths = graft_alloc(request->n, sizeof *result->lengths)) == NULL) {
        graft_recording_free(result);
        return graft_fail_memory(error, "recording");
    }
    memcpy(result->lengths, request->lengths, request->n * sizeof *result->lengths);
    result->n = request->n;
    result->what = request->what;
    result->layer = -1;
    const struct graft_forward_hooks hooks = {wants, before, after, result};
    int status = choose_attention(result, request->attention, error);
    if (status == GRAFT_OK) {
        status = graft_forward_hooks_register(tree, &hooks, &result->handle, error);
    }
    if (status != GRAFT_OK) {
        graft_recording_free(result);
        return status;
    }
    *recording = result;
    return GRAFT_OK;
}

const struct graft_attention_implementation *graft_record_attention(const struct graft_recording *recording) {
    return &recording->attention;
}

int graft_record_end(struct graft_recording *recording, struct graft_error *error) {
    static const struct {
        uint32_t what;
        const char *start;
        const char *missing;
    } kinds[] = {{GRAFT_RECORD_HIDDEN_STATES, "hidden_states.layer.", "layers whose hidden states could be recorded"},
                 {GRAFT_RECORD_ATTENTIONS, "attentions.", "attention whose weights could be recorded"},
                 {GRAFT_RECORD_ROUTER_LOGITS, "router.", "routers whose logits could be recorded"},
                 {GRAFT_RECORD_OUTPUTS, "outputs.", "modules whose outputs could be recorded"}};
    graft_forward_hooks_remove(recording->handle);
    recording->handle = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if ((recording->what & kinds[i].what) != 0 && !graft_recording_has(recording, kinds[i].start)) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "recording", "the model has no %s", kinds[i].missing);
        }
    }
    return GRAFT_OK;
}
