/* SPDX-License-Identifier: Apache-2.0 */
#include "base/progress.h"

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static graft_progress_told sink;
static void *sink_data;

void graft_progress_set(graft_progress_told told, void *data) {
    (void)pthread_mutex_lock(&lock);
    sink = told;
    sink_data = data;
    (void)pthread_mutex_unlock(&lock);
}

void graft_progress_tell(int32_t what, int64_t done, int64_t total) {
    (void)pthread_mutex_lock(&lock);
    if (sink != NULL) {
        sink(sink_data, what, done, total);
    }
    (void)pthread_mutex_unlock(&lock);
}
