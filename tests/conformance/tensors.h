/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that cases name by labels, and comparisons with them. */
#ifndef GRAFT_TEST_CONFORMANCE_TENSORS_H
#define GRAFT_TEST_CONFORMANCE_TENSORS_H

#include "base/text.h"
#include "value/value.h"

/* Opens CASES.safetensors beside CASES.json, if it exists, to look up labels in. Returns 0, or -1 after printing the
 * reason. */
int tensors_open_beside(const char *cases);
void tensors_close(void);

/* The tensor with that label, or NULL. */
const struct graft_tensor_view *tensors_find(const char *label);

/* Whether a value has a tensor's type, shape and bytes. If not, `why` says what differs. */
int tensors_same(const struct graft_value *value, const struct graft_tensor_view *wanted, const char *what,
                 struct graft_text *why);

/* Whether two tensors are equal except for their names. */
int tensors_equal(const struct graft_tensor_view *a, const struct graft_tensor_view *b);

#endif
