/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens that rank 0 chooses in a step, to be sent to the other ranks. With a single process nobody reads them. */
#ifndef GRAFT_GENERATE_CHOICES_H
#define GRAFT_GENERATE_CHOICES_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

/* Starts as {0}. */
struct graft_choices {
    int32_t *ids;
    size_t n;
    size_t capacity;
    size_t read;
};

void graft_choices_clear(struct graft_choices *choices);
void graft_choices_finish(struct graft_choices *choices);

int graft_choices_add(struct graft_choices *choices, int32_t id, struct graft_error *error);

/* On rank 0: sends the ids to the other ranks, as a message of `most` ids. */
int graft_choices_send(struct graft_choices *choices, size_t most, struct graft_error *error);

/* On the other ranks: waits for that message. */
int graft_choices_receive(struct graft_choices *choices, size_t most, struct graft_error *error);

/* The next id received; -1 after the last. */
int32_t graft_choices_next(struct graft_choices *choices);

#endif
