/* SPDX-License-Identifier: Apache-2.0 */
/* How much the processors' last caches hold. */
#ifndef GRAFT_KERNELS_L3_CACHE_H
#define GRAFT_KERNELS_L3_CACHE_H

#include <stdint.h>

/* [any] The bytes of the third-level caches of processors 0 .. `processors` - 1, each counted once however many share
 * it, as `folder` says, laid out like /sys/devices/system/cpu; 0 if it does not say. */
int64_t graft_l3_cache_bytes(const char *folder, int64_t processors);

#endif
