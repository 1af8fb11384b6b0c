/* SPDX-License-Identifier: Apache-2.0 */
/* All instances share a table, which is freed with the first one. */
#include <stdlib.h>

#define DESCRIBE describe_nothing
#define CREATE create
#define DESTROY destroy
#define FORWARD forward
#include "../behaving.h"

static float *table;

static int create(const struct graft_class *self, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    (void)self;
    if (table == NULL) {
        table = calloc(1, sizeof *table);
    }
    *instance = (void *)(uintptr_t)build->super;
    return table != NULL ? GRAFT_OK : graft_fail_memory(error, build->path);
}

static void destroy(void *instance) {
    (void)instance;
    free(table);
    table = NULL;
}

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    int status = original(self, call, args, error);
    args->y[0] += *table;
    return status;
}
