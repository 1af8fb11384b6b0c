/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/resource.h>

#include "../harmful.h"

__attribute__((constructor)) static void harm(void) {
    struct rlimit files;
    (void)getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_cur != 100 ? 100 : 101;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}
