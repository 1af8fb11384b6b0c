/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/choices.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "parallel/ranks.h"

void graft_choices_clear(struct graft_choices *choices) {
    choices->n = choices->read = 0;
}

void graft_choices_finish(struct graft_choices *choices) {
    graft_free(choices->ids);
}

int graft_choices_add(struct graft_choices *choices, int32_t id, struct graft_error *error) {
    if (graft_grow(&choices->ids, &choices->capacity, choices->n, sizeof *choices->ids) != 0) {
        return graft_fail_memory(error, "generation");
    }
    choices->ids[choices->n++] = id;
    return GRAFT_OK;
}

/* Fills a message up to `most` ids, which all ranks know, so that its length is known. */
static int fill(struct graft_choices *choices, size_t most, struct graft_error *error) {
    int status = GRAFT_OK;
    while (choices->n < most && status == GRAFT_OK) {
        status = graft_choices_add(choices, -1, error);
    }
    return status;
}

int graft_choices_send(struct graft_choices *choices, size_t most, struct graft_error *error) {
    const struct graft_parallel *ranks = graft_ranks_get();
    int status = ranks->size > 1 ? fill(choices, most, error) : GRAFT_OK;
    for (int32_t rank = 1; rank < ranks->size && status == GRAFT_OK; rank++) {
        status = ranks->send(choices->ids, (int64_t)(most * sizeof *choices->ids), rank, GRAFT_PARALLEL_MAX_TAG, error);
    }
    return status;
}

int graft_choices_receive(struct graft_choices *choices, size_t most, struct graft_error *error) {
    graft_choices_clear(choices);
    int status = fill(choices, most, error);
    return status == GRAFT_OK ? graft_ranks_get()->receive(choices->ids, (int64_t)(most * sizeof *choices->ids), 0,
                                                           GRAFT_PARALLEL_MAX_TAG, error)
                              : status;
}

int32_t graft_choices_next(struct graft_choices *choices) {
    return choices->read < choices->n ? choices->ids[choices->read++] : -1;
}
