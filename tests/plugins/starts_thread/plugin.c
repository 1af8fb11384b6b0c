/* SPDX-License-Identifier: Apache-2.0 */
/* Nobody ends the thread that it starts. */
#include <pthread.h>
#include <unistd.h>

struct graft_error;
static int start(struct graft_error *error);
#define INIT start
#include "../behaving.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    return original(self, call, args, error);
}

static void *wait(void *data) {
    (void)pause();
    return data;
}

static int start(struct graft_error *error) {
    pthread_t thread;
    (void)error;
    (void)pthread_create(&thread, NULL, wait, NULL);
    return GRAFT_OK;
}
