/* SPDX-License-Identifier: Apache-2.0 */
/* For LD_PRELOAD: jansson's tables get a fixed seed in place of a random one, which decides how long looking names up
 * takes. So instructions are the same in each run. */
#include <jansson.h>

__attribute__((constructor)) static void set_seed(void) {
    json_object_seed(1);
}
