/* SPDX-License-Identifier: Apache-2.0 */
/* Logits processors of plugins (graft/logits_processor.h), at work on a sequence. */
#ifndef GRAFT_GENERATE_NAMED_PROCESSORS_H
#define GRAFT_GENERATE_NAMED_PROCESSORS_H

#include "graft/logits_processor.h"

/* One that was chosen by name. */
struct graft_named_processor {
    const struct graft_logits_processor *processor;
    const char *plugin;  /* its id, for messages */
    const char *name;    /* likewise */
    const char *setting; /* given to `create` */
    void *data;          /* likewise */
};

enum { GRAFT_MAX_NAMED_PROCESSORS = 16 };

/* Those that were chosen, in the order in which they run. They outlive all sequences. */
struct graft_named_processors {
    struct graft_named_processor items[GRAFT_MAX_NAMED_PROCESSORS];
    size_t n;
    const char *directory; /* of the model */
};

/* Their states of one sequence. Starts as {0}. */
struct graft_processor_states {
    struct graft_named_processors processors;
    void **states; /* [n]; NULL: not made yet */
};

/* [forward] Makes the states, unless they are there, and tells them the ids [n] behind the prompt. */
int graft_processor_states_start(struct graft_processor_states *states, const struct graft_logits_sequence *sequence,
                                 const int32_t *ids, size_t n, struct graft_error *error);
void graft_processor_states_finish(struct graft_processor_states *states);

/* [forward] Lets each of them change the scores. */
int graft_processor_states_run(const struct graft_processor_states *states, const struct graft_logits_args *args,
                               struct graft_error *error);

/* [forward] Tells them a token. After an error they are to be started again. */
int graft_processor_states_accept(struct graft_processor_states *states, int32_t id, struct graft_error *error);

/* [forward] Frees the states of `to` and makes them a copy of those of `from`, which has the same processors. Where one
 * of the processors cannot be copied, `to` has no states afterwards and must be started again. */
int graft_processor_states_fork(struct graft_processor_states *to, const struct graft_processor_states *from,
                                struct graft_error *error);

#endif
