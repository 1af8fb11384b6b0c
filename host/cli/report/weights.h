/* SPDX-License-Identifier: Apache-2.0 */
/* What a model's weights take, as `bench` and `perplexity` report it. */
#ifndef GRAFT_CLI_REPORT_WEIGHTS_H
#define GRAFT_CLI_REPORT_WEIGHTS_H

#include "base/json_writer.h"
#include "graft/host/observe.h"

/* Scales and the like included. */
double graft_bits_per_weight(const struct graft_weight_use *use);

/* Sets `weights`, `bits_per_weight` and `bytes_per_token` of an object. */
void graft_weights_json(struct graft_writer *writer, graft_json *object, const struct graft_weight_use *use);

#endif
