/* SPDX-License-Identifier: Apache-2.0 */
/* A logits processor: the more tokens a sequence has got, the less likely its last one comes again. */
#include "graft/logits_processor.h"

#include <stdlib.h>

#include "acme.h"

struct state {
    int64_t accepted;
    const int32_t *ids; /* kept by mistakes that use them after the call */
};

static int64_t calls;

static int create(const struct graft_logits_sequence *sequence, void **state, struct graft_error *error) {
    struct state *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "acme", "out of memory");
    }
    self->ids = sequence->ids;
    *state = self;
    return GRAFT_OK;
}

static int process(void *state, const struct graft_logits_args *args, struct graft_error *error) {
    struct state *self = state;
    volatile float sum = 0.0F;
    (void)error;
    sum += is("processor_reads_past_ids") ? *numbers_at(args->ids, args->count) : 0.0F;
    sum += is("processor_keeps_ids") ? *numbers_at(self->ids, 0) : 0.0F;
    if (is("processor_writes_past_scores")) {
        write_at(args->scores, args->vocab_size, 0.0F);
    }
    if (is("processor_writes_in_front_of_scores")) {
        write_at(args->scores, -1, 0.0F);
    }
    if (is("processor_counts_calls")) {
        calls++;
    }
    if (is("processor_counts_itself")) {
        self->accepted++;
    }
    args->scores[args->ids[args->count - 1]] -= 0.5F * (float)self->accepted;
    return is("processor_fails_silently") ? GRAFT_ERROR_MODEL : GRAFT_OK;
}

static int accept(void *state, int32_t id, struct graft_error *error) {
    struct state *self = state;
    (void)id, (void)error;
    self->accepted++;
    return GRAFT_OK;
}

static int fork_state(const void *state, void **copy, struct graft_error *error) {
    struct state *made = malloc(sizeof *made);
    if (made == NULL) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "acme", "out of memory");
    }
    *made = *(const struct state *)state;
    if (is("processor_forks_from_nothing")) {
        made->accepted = 0;
    }
    *copy = made;
    return GRAFT_OK;
}

const struct graft_logits_processor acme_processor = {.struct_size = sizeof acme_processor,
                                                      .interface_id = GRAFT_INTERFACE_LOGITS_PROCESSOR,
                                                      .name = "acme",
                                                      .create = create,
                                                      .process = process,
                                                      .accept = accept,
                                                      .fork = fork_state,
                                                      .destroy = free};
