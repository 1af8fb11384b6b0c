/* SPDX-License-Identifier: Apache-2.0 */
/* Forks in the entry, and both processes continue. */
#define HARM_ENTRY
#include "../harmful.h"

static void harm(void) {
    (void)!fork();
}
