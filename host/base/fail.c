/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fail.h"

#include <string.h>

int graft_fail_errno(struct graft_error *error, int code, const char *source, const char *what, int number) {
    char words[128];
    if (strerror_r(number, words, sizeof words) != 0) {
        (void)snprintf(words, sizeof words, "error %d", number);
    }
    return graft_error_set(error, code, source, "%s: %s", what, words);
}
