/* SPDX-License-Identifier: Apache-2.0 */
#define HARM_ENTRY
#include <pthread.h>

#include "../harmful.h"

static void *wait(void *data) {
    (void)pause();
    return data;
}

static void harm(void) {
    pthread_t thread;
    (void)pthread_create(&thread, NULL, wait, NULL);
}
