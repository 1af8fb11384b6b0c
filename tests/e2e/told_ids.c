/* SPDX-License-Identifier: Apache-2.0 */
/* Logits processors that record the ids they receive and compare them with the sequence. "told" forbids ids that
 * occurred, as no_repeat_ngram_size 1 does; "told_anew" does the same without `fork`; "fails" fails at the third
 * token. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graft/logits_processor.h"
#include "graft/plugin.h"

enum { MOST = 4096 };

struct said {
    int32_t ids[MOST];
    int64_t n;
};

static int create(const struct graft_logits_sequence *sequence, void **state, struct graft_error *error) {
    struct said *said = calloc(1, sizeof *said);
    if (said == NULL || sequence->count > MOST || sequence->directory == NULL || sequence->vocab_size <= 0) {
        free(said);
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "no room for the prompt");
    }
    memcpy(said->ids, sequence->ids, (size_t)sequence->count * sizeof said->ids[0]);
    said->n = sequence->count;
    *state = said;
    return GRAFT_OK;
}

static int accept(void *state, int32_t id, struct graft_error *error) {
    struct said *said = state;
    if (said->n == MOST) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "no room for a token");
    }
    said->ids[said->n++] = id;
    return GRAFT_OK;
}

static int process(void *state, const struct graft_logits_args *args, struct graft_error *error) {
    const struct said *said = state;
    if (said->n != args->count || memcmp(said->ids, args->ids, (size_t)said->n * sizeof said->ids[0]) != 0) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "was told %lld tokens, and there are %lld others",
                               (long long)said->n, (long long)args->count);
    }
    for (int64_t i = 0; i < said->n; i++) {
        args->scores[said->ids[i]] = -INFINITY;
    }
    return GRAFT_OK;
}

static int fail(void *state, const struct graft_logits_args *args, struct graft_error *error) {
    (void)state;
    return args->count - args->prompt < 2 ? GRAFT_OK
                                          : graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "two tokens are enough");
}

static int fork_state(const void *state, void **copy, struct graft_error *error) {
    struct said *said = malloc(sizeof *said);
    if (said == NULL) {
        return graft_fail_memory(error, "");
    }
    *copy = memcpy(said, state, sizeof *said);
    return GRAFT_OK;
}

static const struct graft_logits_processor processors[] = {
    {.struct_size = sizeof processors[0],
     .interface_id = GRAFT_INTERFACE_LOGITS_PROCESSOR,
     .name = "told",
     .create = create,
     .process = process,
     .accept = accept,
     .fork = fork_state,
     .destroy = free},
    {.struct_size = sizeof processors[0],
     .interface_id = GRAFT_INTERFACE_LOGITS_PROCESSOR,
     .name = "told_anew",
     .create = create,
     .process = process,
     .accept = accept,
     .destroy = free},
    {.struct_size = sizeof processors[0],
     .interface_id = GRAFT_INTERFACE_LOGITS_PROCESSOR,
     .name = "fails",
     .process = fail},
};
static const struct graft_plugin plugin = {GRAFT_PLUGIN_HEADER,
                                           .id = "told_ids",
                                           .version = "1.0.0",
                                           .license = "Apache-2.0",
                                           .description = "Logits processors for tests",
                                           .logits_processors = processors,
                                           .n_logits_processors = 3,
                                           .logits_processor_stride = sizeof processors[0]};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
