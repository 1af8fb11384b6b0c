/* SPDX-License-Identifier: Apache-2.0 */
#define HARM_ENTRY
#include <sys/stat.h>

#include "../harmful.h"

static void harm(void) {
    (void)umask(0);
}
