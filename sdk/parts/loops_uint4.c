/* SPDX-License-Identifier: Apache-2.0 */
#include "loops_kind.h"

LOOPS_KIND(uint4, UINT4)
