/* SPDX-License-Identifier: Apache-2.0 */
/* Describes how the size of an array in args is found. Used in this folder only. */
#ifndef GRAFT_INTERFACE_VIEWS_H
#define GRAFT_INTERFACE_VIEWS_H

enum graft_size_from {
    GRAFT_SIZE_ONE,
    GRAFT_SIZE_FIELD,     /* an int64_t in args */
    GRAFT_SIZE_TOKENS,    /* tokens of the batch */
    GRAFT_SIZE_SEQUENCES, /* sequences of the batch */
    GRAFT_SIZE_WIDTH,     /* a member of struct graft_widths */
    GRAFT_SIZE_ARG,       /* an argument of the parent */
    GRAFT_SIZE_FUNCTION
};

#endif
