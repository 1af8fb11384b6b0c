/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/named_processors.h"

#include "base/alloc.h"
#include "base/crash_context.h"

/* Records for crash reports that a function of the processor is being called. Returns the previous record, for `end`.
 */
static struct graft_crash_context begin(const struct graft_named_processor *item, struct graft_plugin_call *task,
                                        const char *what) {
    *task = (struct graft_plugin_call){.what = what, .class_name = item->name, .plugin = item->plugin};
    return graft_crash_context_begin(task);
}

/* Ends such a call. An error of the processor gets its plugin as the source, and its name in the message. */
static int end(const struct graft_named_processor *item, struct graft_crash_context before, int status,
               struct graft_error *error) {
    struct graft_error found = graft_error_none();
    graft_crash_context_end(before);
    if (status == GRAFT_OK) {
        return GRAFT_OK;
    }
    if (error != NULL && error->code != GRAFT_OK) {
        found = *error;
        *error = graft_error_none();
    }
    (void)graft_error_set(error, found.code != GRAFT_OK ? found.code : GRAFT_ERROR_PLUGIN, item->plugin,
                          "logits processor %s: %s", item->name,
                          found.message[0] != '\0' ? found.message : "it failed and said no reason");
    return error != NULL ? error->code : status;
}

static void destroy(const struct graft_named_processor *item, void *state) {
    struct graft_plugin_call task;
    if (item->processor->destroy != NULL && state != NULL) {
        const struct graft_crash_context before = begin(item, &task, "destroy");
        item->processor->destroy(state);
        graft_crash_context_end(before);
    }
}

static int create(const struct graft_named_processor *item, const struct graft_logits_sequence *sequence, void **state,
                  struct graft_error *error) {
    struct graft_logits_sequence begins = *sequence;
    struct graft_plugin_call task;
    if (item->processor->create == NULL) {
        return GRAFT_OK;
    }
    begins.setting = item->setting;
    begins.data = item->data;
    const struct graft_crash_context before = begin(item, &task, "create");
    return end(item, before, item->processor->create(&begins, state, error), error);
}

static int accept(const struct graft_named_processor *item, void *state, int32_t id, struct graft_error *error) {
    struct graft_plugin_call task;
    if (item->processor->accept == NULL) {
        return GRAFT_OK;
    }
    const struct graft_crash_context before = begin(item, &task, "accept");
    return end(item, before, item->processor->accept(state, id, error), error);
}

static int copy(const struct graft_named_processor *item, const void *state, void **made, struct graft_error *error) {
    struct graft_plugin_call task;
    const struct graft_crash_context before = begin(item, &task, "fork");
    return end(item, before, item->processor->fork(state, made, error), error);
}

void graft_processor_states_finish(struct graft_processor_states *states) {
    for (size_t i = 0; i < states->processors.n && states->states != NULL; i++) {
        destroy(&states->processors.items[i], states->states[i]);
    }
    graft_free(states->states);
    states->states = NULL;
}

static int accept_all(struct graft_processor_states *states, int32_t id, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < states->processors.n && status == GRAFT_OK; i++) {
        status = accept(&states->processors.items[i], states->states[i], id, error);
    }
    if (status != GRAFT_OK) {
        graft_processor_states_finish(states);
    }
    return status;
}

int graft_processor_states_start(struct graft_processor_states *states, const struct graft_logits_sequence *sequence,
                                 const int32_t *ids, size_t n, struct graft_error *error) {
    int status = GRAFT_OK;
    if (states->processors.n == 0 || states->states != NULL) {
        return GRAFT_OK;
    }
    states->states = graft_alloc(states->processors.n, sizeof *states->states);
    if (states->states == NULL) {
        return graft_fail_memory(error, "generation");
    }
    for (size_t i = 0; i < states->processors.n && status == GRAFT_OK; i++) {
        status = create(&states->processors.items[i], sequence, &states->states[i], error);
    }
    if (status != GRAFT_OK) {
        graft_processor_states_finish(states);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = accept_all(states, ids[i], error);
    }
    return status;
}

int graft_processor_states_run(const struct graft_processor_states *states, const struct graft_logits_args *args,
                               struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < states->processors.n && status == GRAFT_OK; i++) {
        const struct graft_named_processor *item = &states->processors.items[i];
        struct graft_logits_args own = *args;
        struct graft_plugin_call task;
        own.flags &= i == states->processors.n - 1 ? UINT64_MAX : ~GRAFT_LOGITS_ONLY_LARGEST;
        const struct graft_crash_context before = begin(item, &task, "process");
        status = end(item, before, item->processor->process(states->states[i], &own, error), error);
    }
    return status;
}

int graft_processor_states_accept(struct graft_processor_states *states, int32_t id, struct graft_error *error) {
    return states->states != NULL ? accept_all(states, id, error) : GRAFT_OK;
}

static int can_be_copied(const struct graft_processor_states *states) {
    int can = states->states != NULL;
    for (size_t i = 0; i < states->processors.n && can; i++) {
        const struct graft_logits_processor *processor = states->processors.items[i].processor;
        can = processor->fork != NULL || processor->create == NULL;
    }
    return can;
}

int graft_processor_states_fork(struct graft_processor_states *to, const struct graft_processor_states *from,
                                struct graft_error *error) {
    int status = GRAFT_OK;
    graft_processor_states_finish(to);
    if (!can_be_copied(from)) {
        return GRAFT_OK;
    }
    to->states = graft_alloc(from->processors.n, sizeof *to->states);
    if (to->states == NULL) {
        return graft_fail_memory(error, "generation");
    }
    for (size_t i = 0; i < from->processors.n && status == GRAFT_OK; i++) {
        if (from->processors.items[i].processor->create != NULL) {
            status = copy(&from->processors.items[i], from->states[i], &to->states[i], error);
        }
    }
    if (status != GRAFT_OK) {
        graft_processor_states_finish(to);
    }
    return status;
}
