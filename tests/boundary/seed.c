/* SPDX-License-Identifier: Apache-2.0 */
/* For LD_PRELOAD: gives jansson's hash tables a fixed seed instead of a random one. The seed affects how long look-ups
 * take, so with it each run executes the same number of instructions. */
#include <jansson.h>

__attribute__((constructor)) static void set_seed(void) {
    json_object_seed(1);
}
