/* SPDX-License-Identifier: Apache-2.0 */
#include "encode/encode_session.h"

#include <string.h>

#include "base/alloc.h"
#include "base/crash_context.h"
#include "base/fail.h"
#include "graft/base_model.h"
#include "graft/causal_lm.h"
#include "graft/masked_lm.h"
#include "graft/sequence_classifier.h"
#include "graft/token_classifier.h"
#include "kernels/kernels.h"

/* The arrays of a ragged batch. */
struct arrays {
    int64_t *cu_seqlens; /* [n + 1] */
    int64_t *positions;  /* [tokens] */
    int32_t *slots;      /* [n] */
    int32_t *ids;        /* [tokens] */
    int32_t *types;      /* [tokens] */
};

/* How to run modules of an interface. */
struct reader {
    const char *interface_id;
    int32_t task;
    int (*run)(const struct graft_module *module, const struct graft_call *call, const struct graft_batch *batch,
               const struct arrays *arrays, const struct graft_encoder_outputs *outputs, struct graft_error *error);
};

struct graft_encode_session {
    const struct graft_module *module;
    const struct reader *reader;
    struct graft_encode_limits limits;
    struct graft_scratch *scratch;
    struct graft_call call;
};

static int run_base_model(const struct graft_module *module, const struct graft_call *call,
                          const struct graft_batch *batch, const struct arrays *arrays,
                          const struct graft_encoder_outputs *outputs, struct graft_error *error) {
    const struct graft_base_model_args args = {
        .struct_size = sizeof args,
        .batch = batch,
        .input_ids = arrays->ids,
        .token_type_ids = arrays->types,
        .last_hidden_state = outputs->last_hidden_state,
        .pooler_output = outputs->pooler_output,
    };
    return graft_base_model_forward(module, call, &args, error);
}

static int run_masked_lm(const struct graft_module *module, const struct graft_call *call,
                         const struct graft_batch *batch, const struct arrays *arrays,
                         const struct graft_encoder_outputs *outputs, struct graft_error *error) {
    const struct graft_masked_lm_args args = {
        .struct_size = sizeof args,
        .batch = batch,
        .input_ids = arrays->ids,
        .token_type_ids = arrays->types,
        .n_rows = outputs->logits != NULL ? outputs->n_rows : 0,
        .rows = outputs->rows,
        .logits = outputs->logits,
        .last_hidden_state = outputs->last_hidden_state,
    };
    return graft_masked_lm_forward(module, call, &args, error);
}

static int run_sequence_classifier(const struct graft_module *module, const struct graft_call *call,
                                   const struct graft_batch *batch, const struct arrays *arrays,
                                   const struct graft_encoder_outputs *outputs, struct graft_error *error) {
    const struct graft_sequence_classifier_args args = {
        .struct_size = sizeof args,
        .batch = batch,
        .input_ids = arrays->ids,
        .token_type_ids = arrays->types,
        .logits = outputs->logits,
        .last_hidden_state = outputs->last_hidden_state,
    };
    return graft_sequence_classifier_forward(module, call, &args, error);
}

static int run_token_classifier(const struct graft_module *module, const struct graft_call *call,
                                const struct graft_batch *batch, const struct arrays *arrays,
                                const struct graft_encoder_outputs *outputs, struct graft_error *error) {
    const struct graft_token_classifier_args args = {
        .struct_size = sizeof args,
        .batch = batch,
        .input_ids = arrays->ids,
        .token_type_ids = arrays->types,
        .logits = outputs->logits,
        .last_hidden_state = outputs->last_hidden_state,
    };
    return graft_token_classifier_forward(module, call, &args, error);
}

static const struct reader *find_reader(const char *interface_id) {
    static const struct reader readers[] = {
        {GRAFT_INTERFACE_CAUSAL_LM, GRAFT_TASK_CAUSAL_LM, NULL},
        {GRAFT_INTERFACE_BASE_MODEL, GRAFT_TASK_FEATURES, run_base_model},
        {GRAFT_INTERFACE_MASKED_LM, GRAFT_TASK_MASKED_LM, run_masked_lm},
        {GRAFT_INTERFACE_SEQUENCE_CLASSIFIER, GRAFT_TASK_SEQUENCE_CLASSIFICATION, run_sequence_classifier},
        {GRAFT_INTERFACE_TOKEN_CLASSIFIER, GRAFT_TASK_TOKEN_CLASSIFICATION, run_token_classifier},
    };
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        if (strcmp(readers[i].interface_id, interface_id) == 0) {
            return &readers[i];
        }
    }
    return NULL;
}

int32_t graft_task_of(const char *interface_id, int answers) {
    const struct reader *reader = find_reader(interface_id);
    int32_t task = reader != NULL ? reader->task : GRAFT_TASK_NONE;
    return task == GRAFT_TASK_TOKEN_CLASSIFICATION && answers ? GRAFT_TASK_QUESTION_ANSWERING : task;
}

int graft_encode_session_create(const struct graft_module *module, const char *interface_id,
                                const struct graft_encode_limits *limits, int32_t precision,
                                struct graft_encode_session **session, struct graft_error *error) {
    struct graft_encode_session *result = graft_alloc(1, sizeof *result);
    if (result == NULL || (result->scratch = graft_scratch_create()) == NULL) {
        graft_free(result);
        return graft_fail_memory(error, "encoder");
    }
    result->module = module;
    result->reader = find_reader(interface_id);
    result->limits = *limits;
    graft_call_init(&result->call, precision, result->scratch);
    *session = result;
    return GRAFT_OK;
}

void graft_encode_session_use(struct graft_encode_session *session,
                              const struct graft_attention_implementation *attention, int32_t asked) {
    session->call.attention = attention;
    session->call.asked_attention = asked ? attention : NULL;
}

void graft_encode_session_free(struct graft_encode_session *session) {
    if (session != NULL) {
        graft_scratch_destroy(session->scratch);
        graft_free(session);
    }
}

static int check_range(size_t text, const char *what, const int32_t *ids, size_t count, int64_t limit,
                       struct graft_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (ids[i] < 0 || ids[i] >= limit) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt", "sequence %zu: %s %ld, expected 0 to %lld", text,
                                   what, (long)ids[i], (long long)limit - 1);
        }
    }
    return GRAFT_OK;
}

static int check(const struct graft_encode_session *session, const struct graft_encoder_prompt *prompt, size_t text,
                 struct graft_error *error) {
    const struct graft_encode_limits *limits = &session->limits;
    if (prompt->reserved != 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "struct graft_encoder_prompt", "reserved: expected 0");
    }
    if (prompt->count == 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt", "sequence %zu has no tokens", text);
    }
    if ((uint64_t)prompt->count > (uint64_t)limits->max_tokens) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt",
                               "sequence %zu: %zu tokens, but the model reads at most %lld", text, prompt->count,
                               (long long)limits->max_tokens);
    }
    int status = check_range(text, "token id", prompt->ids, prompt->count, limits->vocab_size, error);
    return status == GRAFT_OK && prompt->token_type_ids != NULL
               ? check_range(text, "token type id", prompt->token_type_ids, prompt->count, limits->token_types, error)
               : status;
}

static void arrays_finish(struct arrays *arrays) {
    graft_free(arrays->cu_seqlens);
    graft_free(arrays->positions);
    graft_free(arrays->slots);
    graft_free(arrays->ids);
    graft_free(arrays->types);
}

static int arrays_init(struct arrays *arrays, const struct graft_encoder_prompt *prompts, size_t n) {
    size_t tokens = 0;
    for (size_t i = 0; i < n; i++) {
        const struct graft_encoder_prompt *prompt = graft_struct_at(prompts, i);
        tokens += prompt->count;
    }
    *arrays = (struct arrays){
        .cu_seqlens = graft_alloc(n + 1, sizeof *arrays->cu_seqlens),
        .positions = graft_alloc(tokens, sizeof *arrays->positions),
        .slots = graft_alloc(n, sizeof *arrays->slots),
        .ids = graft_alloc(tokens, sizeof *arrays->ids),
        .types = graft_alloc(tokens, sizeof *arrays->types),
    };
    if (tokens > INT32_MAX || arrays->cu_seqlens == NULL || arrays->positions == NULL || arrays->slots == NULL ||
        arrays->ids == NULL || arrays->types == NULL) {
        return -1;
    }
    int64_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const struct graft_encoder_prompt *prompt = graft_struct_at(prompts, i);
        for (size_t j = 0; j < prompt->count; j++, at++) {
            arrays->positions[at] = (int64_t)j;
            arrays->ids[at] = prompt->ids[j];
            arrays->types[at] = prompt->token_type_ids != NULL ? prompt->token_type_ids[j] : 0;
        }
        arrays->slots[i] = (int32_t)i;
        arrays->cu_seqlens[i + 1] = at;
    }
    return 0;
}

/* The session's call, for the current thread. */
static struct graft_call call_here(const struct graft_encode_session *session) {
    struct graft_call call = session->call;
    call.running = &graft_crash_context()->module;
    return call;
}

int graft_encode_session_run(struct graft_encode_session *session, const struct graft_encoder_prompt *prompts, size_t n,
                             const struct graft_encoder_outputs *outputs, struct graft_error *error) {
    struct arrays arrays = {0};
    int status = GRAFT_OK;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = check(session, graft_struct_at(prompts, i), i, error);
    }
    if (status == GRAFT_OK && arrays_init(&arrays, prompts, n) != 0) {
        status = graft_fail_memory(error, "encoder");
    }
    if (status == GRAFT_OK) {
        const struct graft_batch batch = {
            .struct_size = sizeof batch,
            .sequences = (int32_t)n,
            .tokens = arrays.cu_seqlens[n],
            .cu_seqlens = arrays.cu_seqlens,
            .positions = arrays.positions,
            .slots = arrays.slots,
        };
        const struct graft_call call = call_here(session);
        struct graft_error own = graft_error_none(); /* modules stop once an error is recorded */
        const struct graft_watched before = graft_crash_context_watch();
        status = session->reader->run(session->module, &call, &batch, &arrays, outputs, &own);
        status = graft_crash_context_unwatch(before, graft_fail_with(error, &own, status), error);
    }
    arrays_finish(&arrays);
    return status;
}
