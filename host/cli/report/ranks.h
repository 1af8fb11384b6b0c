/* SPDX-License-Identifier: Apache-2.0 */
/* What each of several processes had of a model, and what it gave to the others. */
#ifndef GRAFT_CLI_REPORT_RANKS_H
#define GRAFT_CLI_REPORT_RANKS_H

#include "cli/options.h"
#include "graft/host/graft.h"

/* Called by all ranks when the model has run; rank 0 shows what all say, on stderr, in the form that --report and
 * --quiet ask for. Nothing where there is one process. */
int graft_report_ranks(const struct graft_options *options, const struct graft_model *model, struct graft_error *error);

#endif
