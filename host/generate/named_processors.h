/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins' logits processors (graft/logits_processor.h), applied to a sequence. */
#ifndef GRAFT_GENERATE_NAMED_PROCESSORS_H
#define GRAFT_GENERATE_NAMED_PROCESSORS_H

#include "graft/logits_processor.h"

/* A processor that was chosen by name. */
struct graft_named_processor {
    const struct graft_logits_processor *processor;
    const char *plugin;  /* the plugin's id, for messages */
    const char *name;    /* likewise */
    const char *setting; /* passed to `create` */
    void *data;          /* likewise */
};

enum { GRAFT_MAX_NAMED_PROCESSORS = 16 };

/* The chosen processors, in the order in which they run. They outlive all sequences. */
struct graft_named_processors {
    struct graft_named_processor items[GRAFT_MAX_NAMED_PROCESSORS];
    size_t n;
    const char *directory; /* directory of the model */
};

/* The processors' states for one sequence. Starts as {0}. */
struct graft_processor_states {
    struct graft_named_processors processors;
    void **states; /* [n]; NULL: not created yet */
};

/* [forward] Creates the states, unless they exist, and passes them the ids [n] after the prompt. */
int graft_processor_states_start(struct graft_processor_states *states, const struct graft_logits_sequence *sequence,
                                 const int32_t *ids, size_t n, struct graft_error *error);
void graft_processor_states_finish(struct graft_processor_states *states);

/* [forward] Runs each processor on the scores. */
int graft_processor_states_run(const struct graft_processor_states *states, const struct graft_logits_args *args,
                               struct graft_error *error);

/* [forward] Passes a token to the states. After an error they have to be started again. */
int graft_processor_states_accept(struct graft_processor_states *states, int32_t id, struct graft_error *error);

/* [forward] Frees the states of `to` and makes them a copy of those of `from`, which has the same processors. Where one
 * of the processors cannot be copied, `to` has no states afterwards and must be started again. */
int graft_processor_states_fork(struct graft_processor_states *to, const struct graft_processor_states *from,
                                struct graft_error *error);

#endif
