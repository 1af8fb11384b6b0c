/* SPDX-License-Identifier: Apache-2.0 */
#define HARM_ENTRY
#include "../harmful.h"

static void harm(void) {
    (void)setenv("OMP_NUM_THREADS", "1", 1);
}
