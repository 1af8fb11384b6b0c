/* SPDX-License-Identifier: Apache-2.0 */
/* Penalties: the score of a token that occurs `count` > 0 times in the answer loses count * frequency_penalty +
 * presence_penalty. */
#include "base/alloc.h"
#include "graft/logits_processor.h"
#include "serve/engine_parts.h"

/* The tokens of an answer so far. */
struct said {
    const struct graft_request *request;
    int32_t *counts; /* [vocab_size] */
    int32_t *ids;    /* [n] distinct tokens that occur */
    size_t n;
    size_t capacity;
};

static void destroy(void *state) {
    struct said *said = state;
    graft_free(said->counts);
    graft_free(said->ids);
    graft_free(said);
}

static int create(const struct graft_logits_sequence *sequence, void **state, struct graft_error *error) {
    struct said *said = graft_alloc(1, sizeof *said);
    if (said == NULL) {
        return graft_fail_memory(error, "penalties");
    }
    said->request = sequence->data;
    said->counts = graft_alloc((size_t)sequence->vocab_size, sizeof *said->counts);
    if (said->counts == NULL) {
        destroy(said);
        return graft_fail_memory(error, "penalties");
    }
    *state = said;
    return GRAFT_OK;
}

static int process(void *state, const struct graft_logits_args *args, struct graft_error *error) {
    const struct said *said = state;
    (void)error;
    for (size_t i = 0; i < said->n; i++) {
        const double count = (double)said->counts[said->ids[i]];
        args->scores[said->ids[i]] -=
            (float)(count * said->request->frequency_penalty + said->request->presence_penalty);
    }
    return GRAFT_OK;
}

static int accept(void *state, int32_t id, struct graft_error *error) {
    struct said *said = state;
    if (said->counts[id] == 0) {
        if (graft_grow(&said->ids, &said->capacity, said->n, sizeof *said->ids) != 0) {
            return graft_fail_memory(error, "penalties");
        }
        said->ids[said->n++] = id;
    }
    said->counts[id]++;
    return GRAFT_OK;
}

const struct graft_logits_processor graft_penalties = {
    .struct_size = sizeof graft_penalties,
    .interface_id = GRAFT_INTERFACE_LOGITS_PROCESSOR,
    .name = "penalties",
    .create = create,
    .process = process,
    .accept = accept,
    .destroy = destroy,
};
