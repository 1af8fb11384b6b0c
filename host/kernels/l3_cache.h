/* SPDX-License-Identifier: Apache-2.0 */
/* The size of the processors' last-level caches. */
#ifndef GRAFT_KERNELS_L3_CACHE_H
#define GRAFT_KERNELS_L3_CACHE_H

#include <stdint.h>

/* [any] The bytes of the third-level caches of processors 0 .. `processors` - 1, where a shared cache counts once, read
 * from `folder`, which is laid out like /sys/devices/system/cpu; 0 if that is unknown. */
int64_t graft_l3_cache_bytes(const char *folder, int64_t processors);

#endif
