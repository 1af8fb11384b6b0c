/* SPDX-License-Identifier: Apache-2.0 */
/* --check-finite and --trace. */
#include "cli/setup.h"

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
