/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors that cases name by labels, and comparisons with them. */
#ifndef GRAFT_TEST_CONFORMANCE_TENSORS_H
#define GRAFT_TEST_CONFORMANCE_TENSORS_H

#include "base/text.h"
#include "value/value.h"

/* Opens CASES.safetensors beside CASES.json, if it is there, for labels to be looked for in. Returns 0, or -1 with the
 * reason printed. */
int tensors_open_beside(const char *cases);
void tensors_close(void);

/* NULL when there is none of that label. */
const struct graft_tensor_view *tensors_find(const char *label);

/* Whether a value has a tensor's type, shape and bytes. When not, `why` says what differs. */
int tensors_same(const struct graft_value *value, const struct graft_tensor_view *wanted, const char *what,
                 struct graft_text *why);

/* Whether two tensors are the same but for their names. */
int tensors_equal(const struct graft_tensor_view *a, const struct graft_tensor_view *b);

#endif
