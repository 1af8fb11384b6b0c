/* SPDX-License-Identifier: Apache-2.0 */
/* How fast this machine reads memory: the bound of generating tokens, which reads every weight for each. */
#ifndef GRAFT_KERNELS_BANDWIDTH_H
#define GRAFT_KERNELS_BANDWIDTH_H

#include <stdint.h>

/* [load] Bytes a second: the best of some passes over `bytes` of memory of its own, by all threads. 0 when there is not
 * that much memory. `bytes` should be many times what the caches hold. */
double graft_read_bandwidth(int64_t bytes);

#endif
