/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/recordings.h"

#include <string.h>

#include "base/alloc.h"
#include "weights/safetensors_write.h"

enum { KINDS = 3 };

struct kind {
    uint32_t what;
    const char *start; /* of the tensors' names */
    const char *path;  /* NULL: not wanted */
};

static void list_kinds(const struct graft_options *options, struct kind kinds[KINDS]) {
    kinds[0] = (struct kind){GRAFT_RECORD_HIDDEN_STATES, "hidden_states.", options->hidden_states};
    kinds[1] = (struct kind){GRAFT_RECORD_ATTENTIONS, "attentions.", options->attentions};
    kinds[2] = (struct kind){GRAFT_RECORD_ROUTER_LOGITS, "router.", options->router_logits};
}

uint32_t graft_recordings_wanted(const struct graft_options *options) {
    struct kind kinds[KINDS];
    uint32_t what = 0;
    list_kinds(options, kinds);
    for (size_t i = 0; i < KINDS; i++) {
        what |= kinds[i].path != NULL ? kinds[i].what : 0;
    }
    return what;
}

static struct graft_tensor_view view_of(const struct graft_recorded *recorded) {
    struct graft_tensor_view view = {
        .name = recorded->name, .dtype = GRAFT_DTYPE_F32, .rank = recorded->rank, .data = recorded->data};
    view.bytes = (int64_t)sizeof *recorded->data;
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        view.shape[i] = 1;
    }
    for (int32_t i = 0; i < recorded->rank && i < GRAFT_RECORDED_RANK; i++) {
        view.shape[i] = recorded->shape[i];
        view.bytes *= recorded->shape[i];
    }
    return view;
}

static int write_kind(const struct kind *kind, const struct graft_recording *recording, struct graft_error *error) {
    const struct graft_recorded *recorded;
    size_t count = 0;
    size_t n = 0;
    while (graft_recording_at(recording, count) != NULL) {
        count++;
    }
    struct graft_tensor_view *views = graft_alloc(count, sizeof *views);
    if (views == NULL) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, kind->path, "out of memory");
    }
    for (size_t i = 0; (recorded = graft_recording_at(recording, i)) != NULL; i++) {
        if (strncmp(recorded->name, kind->start, strlen(kind->start)) == 0) {
            views[n++] = view_of(recorded);
        }
    }
    int status = graft_safetensors_write(kind->path, views, n, NULL, error);
    graft_free(views);
    return status;
}

int graft_recordings_write(const struct graft_options *options, const struct graft_recording *recording,
                           struct graft_error *error) {
    struct kind kinds[KINDS];
    int status = GRAFT_OK;
    list_kinds(options, kinds);
    for (size_t i = 0; i < KINDS && status == GRAFT_OK; i++) {
        status = kinds[i].path != NULL ? write_kind(&kinds[i], recording, error) : GRAFT_OK;
    }
    return status;
}
