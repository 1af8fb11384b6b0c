/* SPDX-License-Identifier: Apache-2.0 */
#define HARM_ENTRY
#include "../harmful.h"

static void harm(void) {
    (void)alarm(3600);
}
