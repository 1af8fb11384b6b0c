/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the size of a model's weights, for `bench` and `perplexity`. */
#ifndef GRAFT_CLI_REPORT_WEIGHTS_H
#define GRAFT_CLI_REPORT_WEIGHTS_H

#include "base/json_writer.h"
#include "graft/host/observe.h"

/* The mean number of bits per weight, including scales and the like. */
double graft_bits_per_weight(const struct graft_weight_use *use);

/* Sets `weights`, `bits_per_weight` and `bytes_per_token` of an object. */
void graft_weights_json(struct graft_writer *writer, graft_json *object, const struct graft_weight_use *use);

#endif
