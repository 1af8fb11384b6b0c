/* SPDX-License-Identifier: Apache-2.0 */
#define HARM_ENTRY
#include <locale.h>

#include "../harmful.h"

static void harm(void) {
    (void)setlocale(LC_ALL, "C.UTF-8");
}
