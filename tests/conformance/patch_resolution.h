/* SPDX-License-Identifier: Apache-2.0 */
/* The two kinds of cases in patch_resolution.json. */
#ifndef GRAFT_TEST_CONFORMANCE_PATCH_RESOLUTION_H
#define GRAFT_TEST_CONFORMANCE_PATCH_RESOLUTION_H

#include "runner.h"

/* One mapping, many class names: patch_resolution.c. */
enum verdict resolution_judge(const graft_json *row, struct graft_text *why);

/* Sequences of registry calls: patch_sequence.c. */
enum verdict sequence_judge(const graft_json *row, struct graft_text *why);

#endif
