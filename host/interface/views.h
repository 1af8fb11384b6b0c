/* SPDX-License-Identifier: Apache-2.0 */
/* How sizes of arrays are found. Shared by the units of this folder only. */
#ifndef GRAFT_INTERFACE_VIEWS_H
#define GRAFT_INTERFACE_VIEWS_H

enum graft_size_from {
    GRAFT_SIZE_ONE,
    GRAFT_SIZE_FIELD,     /* an int64_t in args */
    GRAFT_SIZE_TOKENS,    /* of the batch */
    GRAFT_SIZE_SEQUENCES, /* of the batch */
    GRAFT_SIZE_WIDTH,     /* one of struct graft_widths */
    GRAFT_SIZE_ARG,       /* what the parent gives under that name */
    GRAFT_SIZE_FUNCTION
};

#endif
