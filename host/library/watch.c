/* SPDX-License-Identifier: Apache-2.0 */
/* Implements graft/host/observe.h: watching module calls. */
#include "graft/host/observe.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "hooks/finite.h"
#include "hooks/trace.h"
#include "library/library.h"

struct graft_watch {
    struct graft_watch_options options;
    struct graft_call_trace trace;
    struct graft_hook_handle *handle;
};

static int before(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct graft_watch *watch = data;
    return watch->options.trace != NULL ? graft_trace_before(&watch->trace, hooked, error) : GRAFT_OK;
}

static int after(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct graft_watch *watch = data;
    if (watch->options.trace != NULL) {
        graft_trace_after(&watch->trace, hooked);
    }
    return watch->options.check_finite ? graft_check_finite(hooked, error) : GRAFT_OK;
}

int graft_model_watch(struct graft_model *model, const struct graft_watch_options *options, struct graft_watch **watch,
                      struct graft_error *error) {
    int status = graft_model_check_loaded(model, error);
    if (status == GRAFT_OK) {
        status = graft_check_given(options, GRAFT_WATCH_OPTIONS_SIZE_1_0, "struct graft_watch_options", error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    struct graft_watch *made = graft_alloc(1, sizeof *made);
    if (made == NULL) {
        return graft_fail_memory(error, model->directory);
    }
    graft_struct_copy(&made->options, sizeof made->options, options);
    made->trace.start = graft_seconds();
    const struct graft_forward_hooks hooks = {NULL, before, after, made};
    status = graft_forward_hooks_register(model->tree, &hooks, &made->handle, error);
    if (status != GRAFT_OK) {
        graft_free(made);
        return status;
    }
    *watch = made;
    return GRAFT_OK;
}

static int write_trace(const struct graft_watch *watch, struct graft_error *error) {
    graft_json *document = graft_trace_document(&watch->trace);
    char *text = document != NULL ? graft_json_dump(document, 0) : NULL;
    graft_json_free(document);
    if (text == NULL) {
        return graft_fail_memory(error, watch->options.trace);
    }
    const struct graft_file_piece pieces[] = {{text, strlen(text)}, {"\n", 1}};
    int status = graft_file_write(watch->options.trace, pieces, 2, error);
    graft_free(text);
    return status;
}

int graft_watch_end(struct graft_watch *watch, struct graft_error *error) {
    if (watch == NULL) {
        return GRAFT_OK;
    }
    graft_forward_hooks_remove(watch->handle);
    int status = watch->options.trace != NULL ? write_trace(watch, error) : GRAFT_OK;
    graft_trace_finish(&watch->trace);
    graft_free(watch);
    return status;
}
