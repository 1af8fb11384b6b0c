/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/recordings.h"

#include <string.h>

#include "base/alloc.h"

enum { KINDS = 4 };

struct kind {
    uint32_t what;
    const char *start; /* beginning of the tensors' names */
    const char *path;  /* NULL: not wanted */
};

static void list_kinds(const struct graft_options *options, struct kind kinds[KINDS]) {
    kinds[0] = (struct kind){GRAFT_RECORD_HIDDEN_STATES, "hidden_states.", options->hidden_states};
    kinds[1] = (struct kind){GRAFT_RECORD_ATTENTIONS, "attentions.", options->attentions};
    kinds[2] = (struct kind){GRAFT_RECORD_ROUTER_LOGITS, "router.", options->router_logits};
    kinds[3] = (struct kind){GRAFT_RECORD_OUTPUTS, "outputs.", options->module_outputs};
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

static int write_kind(const struct kind *kind, const struct graft_recording *recording, struct graft_error *error) {
    const struct graft_recorded *recorded;
    size_t count = 0;
    size_t n = 0;
    while (graft_recording_at(recording, count) != NULL) {
        count++;
    }
    struct graft_recorded *tensors = graft_alloc(count, sizeof *tensors);
    if (tensors == NULL) {
        return graft_fail_memory(error, kind->path);
    }
    for (size_t i = 0; (recorded = graft_recording_at(recording, i)) != NULL; i++) {
        if (strncmp(recorded->name, kind->start, strlen(kind->start)) == 0) {
            tensors[n++] = *recorded;
        }
    }
    int status = graft_recorded_write(kind->path, tensors, n, error);
    graft_free(tensors);
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
