/* SPDX-License-Identifier: Apache-2.0 */
/* Reports what part of a model each of several processes holds and how much it sent to the others. */
#ifndef GRAFT_CLI_REPORT_RANKS_H
#define GRAFT_CLI_REPORT_RANKS_H

#include "cli/options.h"
#include "graft/host/graft.h"

/* Call it on all ranks when the model has run. Rank 0 prints the counts of all to stderr, in the form of --report,
 * unless --quiet is given. Does nothing if there is one process. */
int graft_report_ranks(const struct graft_options *options, const struct graft_model *model, struct graft_error *error);

#endif
