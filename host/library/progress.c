/* SPDX-License-Identifier: Apache-2.0 */
#include "base/progress.h"

#include "graft/host/process.h"

void graft_progress_set_sink(graft_progress_sink sink, void *data) {
    graft_progress_set(sink, data);
}
