/* SPDX-License-Identifier: Apache-2.0 */
/* Options that act on an open model: --fuse, --check-finite and --trace. */
#include <string.h>

#include "base/alloc.h"
#include "cli/setup.h"

enum { MAX_PATHS = 64 };

/* Splits "GLOB,GLOB" in place into a spec for each path. */
static int read_specs(char *list, struct graft_module_spec specs[MAX_PATHS], size_t *n, struct graft_error *error) {
    *n = 0;
    for (char *at = list; at != NULL; (*n)++) {
        char *comma = strchr(at, ',');
        if (comma != NULL) {
            *comma++ = '\0';
        }
        if (*at == '\0' || *n == MAX_PATHS) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "--fuse", "%s",
                                   *at == '\0' ? "expected module paths separated by commas" : "too many paths");
        }
        specs[*n] = (struct graft_module_spec){.struct_size = sizeof specs[*n], .path = at};
        at = comma;
    }
    return GRAFT_OK;
}

static int fuse(struct graft_model *model, const char *value, struct graft_error *error) {
    struct graft_module_spec specs[MAX_PATHS];
    size_t n;
    char *list = graft_strdup(value);
    if (list == NULL) {
        return graft_fail_memory(error, "--fuse");
    }
    int status = read_specs(list, specs, &n, error);
    if (status == GRAFT_OK) {
        status = graft_model_fuse_modules(model, specs, n, error);
    }
    graft_free(list);
    return status;
}

int graft_setup_fuse(const struct graft_options *options, struct graft_model *model, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < options->fuse.count && status == GRAFT_OK; i++) {
        status = fuse(model, options->fuse.items[i], error);
    }
    return status;
}

int graft_setup_watch(const struct graft_options *options, struct graft_model *model, struct graft_watch **watch,
                      struct graft_error *error) {
    const struct graft_watch_options wanted = {
        .struct_size = sizeof wanted, .check_finite = options->check_finite, .trace = options->trace};
    *watch = NULL;
    return wanted.check_finite || wanted.trace != NULL ? graft_model_watch(model, &wanted, watch, error) : GRAFT_OK;
}

int graft_setup_unwatch(struct graft_watch *watch, int status, struct graft_error *error) {
    int ended = graft_watch_end(watch, status == GRAFT_OK ? error : NULL); /* an earlier error is kept */
    return status == GRAFT_OK ? ended : status;
}
