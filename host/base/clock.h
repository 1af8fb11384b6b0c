/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_BASE_CLOCK_H
#define GRAFT_BASE_CLOCK_H

/* [any] Seconds since a fixed moment; for differences only. */
double graft_seconds(void);

#endif
