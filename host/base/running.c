/* SPDX-License-Identifier: Apache-2.0 */
#include "base/running.h"

static _Thread_local struct graft_running running;

struct graft_running *graft_running(void) {
    return &running;
}

struct graft_running graft_running_begin(const struct graft_task *task) {
    struct graft_running before = running;
    running = (struct graft_running){NULL, task};
    return before;
}

void graft_running_end(struct graft_running before) {
    running = before;
}
