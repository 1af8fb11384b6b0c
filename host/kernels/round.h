/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_KERNELS_ROUND_H
#define GRAFT_KERNELS_ROUND_H

#include <stdint.h>

/* [any] The next multiple of `step`. */
static inline int64_t graft_round_up(int64_t count, int64_t step) {
    return (count + step - 1) / step * step;
}

#endif
