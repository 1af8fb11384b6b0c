/* SPDX-License-Identifier: Apache-2.0 */
/* Begins and ends jobs: adds and removes their sequences, or computes their vectors. */
#include <string.h>

#include "base/alloc.h"
#include "graft/host/encode.h"
#include "graft/host/model.h"
#include "graft/logits_processor.h"
#include "serve/engine_parts.h"

/* Adds a sequence. Each answer gets its own seed. */
static int add(struct graft_engine *engine, struct graft_job *job, size_t choice) {
    const struct graft_request *request = &job->request;
    const struct graft_ids *ids = &job->prompts[choice / (size_t)request->n];
    struct graft_generation generation = request->generation;
    struct graft_processor_choice processors[sizeof request->processors / sizeof request->processors[0] + 1];
    const struct graft_prompt prompt = {.struct_size = sizeof prompt,
                                        .ids = ids->ids,
                                        .count = ids->n,
                                        .images = request->images,
                                        .n_images = request->n_images,
                                        .adapter = request->adapter};
    const struct graft_sequence_options options = {.struct_size = sizeof options,
                                                   .gives_logits = request->wants_logprobs,
                                                   .generation = &generation,
                                                   .stop_ids = request->stop_ids,
                                                   .n_stop_ids = request->n_stop_ids};
    struct graft_making *making = &job->making[choice];
    size_t n = 0;
    if (request->frequency_penalty != 0.0 || request->presence_penalty != 0.0) {
        processors[n++] = (struct graft_processor_choice){.processor = &graft_penalties, .data = &job->request};
    }
    memcpy(processors + n, request->processors, request->n_processors * sizeof processors[0]);
    n += request->n_processors;
    generation.processors = processors;
    generation.n_processors = n;
    generation.seed = request->generation.seed + choice % (size_t)request->n;
    int status = GRAFT_OK;
    if (engine->options.tokenizer != NULL) {
        status = graft_decode_stream_create(engine->options.tokenizer, 0, &making->stream, &job->error);
    }
    if (status == GRAFT_OK && choice % (size_t)request->n == 0 && request->n_images == 0) {
        graft_engine_load_session(engine, ids);
    }
    if (status == GRAFT_OK) {
        status = graft_sequences_add(engine->sequences, &prompt, &options, &making->number, &job->error);
    }
    if (status != GRAFT_OK) {
        return -1;
    }
    making->is_running = 1;
    job->n_running++;
    return 0;
}

static int post_started(struct graft_engine *engine, struct graft_job *job) {
    struct graft_event *event = graft_alloc(1, sizeof *event);
    if (event == NULL) {
        (void)graft_fail_memory(&job->error, "serve");
        return -1;
    }
    *event = (struct graft_event){.job = job, .kind = GRAFT_EVENT_STARTED};
    graft_engine_post(engine, event);
    return 0;
}

int graft_engine_begin(struct graft_engine *engine, struct graft_job *job) {
    if (job->request.kind == GRAFT_REQUEST_EMBEDDING) {
        return graft_engine_embed(engine, job);
    }
    for (size_t i = 0; i < job->n_choices; i++) {
        if (add(engine, job, i) != 0) {
            return -1;
        }
    }
    return post_started(engine, job);
}

void graft_engine_remove(struct graft_engine *engine, struct graft_job *job) {
    for (size_t i = 0; i < job->n_choices; i++) {
        if (job->making[i].is_running) {
            (void)graft_sequences_remove(engine->sequences, job->making[i].number, NULL);
            job->making[i].is_running = 0;
        }
    }
    job->n_running = 0;
}

/* Embeds one text at a time, so that memory does not grow with their number. */
int graft_engine_embed(struct graft_engine *engine, struct graft_job *job) {
    struct graft_embedding_info info = {.struct_size = sizeof info};
    int status = graft_model_embedding(engine->options.model, &info, &job->error);
    if (status == GRAFT_OK) {
        job->vector_size = info.size;
        job->vectors = graft_alloc(job->n_prompts * (size_t)info.size, sizeof *job->vectors);
        status = job->vectors != NULL ? GRAFT_OK : graft_fail_memory(&job->error, "embeddings");
    }
    for (size_t i = 0; i < job->n_prompts && status == GRAFT_OK && !atomic_load(&job->is_cancelled); i++) {
        const struct graft_encoder_prompt prompt = {
            .struct_size = sizeof prompt, .ids = job->prompts[i].ids, .count = job->prompts[i].n};
        status =
            graft_model_embed(engine->options.model, &prompt, 1, job->vectors + i * (size_t)info.size, &job->error);
    }
    return status == GRAFT_OK ? 0 : -1;
}
