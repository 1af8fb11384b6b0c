/* SPDX-License-Identifier: Apache-2.0 */
/* Both processes go on. */
#define HARM_ENTRY
#include "../harmful.h"

static void harm(void) {
    (void)!fork();
}
