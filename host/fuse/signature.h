/* SPDX-License-Identifier: Apache-2.0 */
/* What an interface takes and gives, for the interfaces whose modules can be fused. */
#ifndef GRAFT_FUSE_SIGNATURE_H
#define GRAFT_FUSE_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

enum { SIGNATURE_MAX_INPUTS = 2 };

/* Offsets are those of pointers in the interface's args. Each such module has one output, and the first of its inputs
 * is required. */
struct signature {
    const char *interface_id;
    size_t inputs[SIGNATURE_MAX_INPUTS];
    int32_t n_inputs;
    size_t output;
};

/* [any] NULL for other interfaces: those whose modules work in place, take ids, or give several outputs. */
const struct signature *graft_signature_find(const char *interface_id);

#endif
