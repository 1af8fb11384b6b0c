/* SPDX-License-Identifier: Apache-2.0 */
/* Implements a library's own settings, which override those of the process. */
#include "base/context.h"

#include "base/fail.h"
#include "library/library.h"

struct graft_context *graft_library_begin(struct graft_library *library) {
    return graft_context_enter(&library->context);
}

struct graft_context *graft_model_begin(const struct graft_model *model) {
    return model->library != NULL ? graft_library_begin(model->library) : graft_context_enter(graft_context());
}

void graft_library_set_threads(struct graft_library *library, int32_t count) {
    atomic_store(&library->context.threads, count > 0 ? count : 0);
}

void graft_library_set_log(struct graft_library *library, graft_log_sink sink, void *data) {
    graft_context_set_log(&library->context, sink, data);
}

void graft_library_set_progress(struct graft_library *library, graft_progress_sink sink, void *data) {
    graft_context_set_progress(&library->context, sink, data);
}

int graft_library_set_trials(struct graft_library *library, const char *program, int32_t again,
                             struct graft_error *error) {
    const char *own = program != NULL && program[0] != '\0' ? program : NULL;
    return graft_context_set_trials(&library->context, program != NULL, own, again) == GRAFT_OK
               ? GRAFT_OK
               : graft_fail_memory(error, "trials");
}
