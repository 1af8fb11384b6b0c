/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates many blocks of memory in `create` without checking for NULL. */
#define DESCRIBE describe_nothing
#define CREATE create
#include "../behaving.h"

static int create(const struct graft_class *self, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    enum { BLOCKS = 2000 };
    (void)self, (void)error;
    for (int i = 0; i < BLOCKS; i++) {
        char *block = build->host->alloc(1);
        block[0] = 1;
        build->host->free(block);
    }
    *instance = (void *)(uintptr_t)build->super;
    return GRAFT_OK;
}
