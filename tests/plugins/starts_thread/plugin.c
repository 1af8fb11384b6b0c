/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a thread that nothing ends. */
#include <pthread.h>
#include <unistd.h>

#define INIT start
#include "../behaving.h"

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
