/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#define HARM_ENTRY
#include <fenv.h>

#include "../harmful.h"

static void harm(void) {
    (void)feenableexcept(FE_DIVBYZERO);
}
