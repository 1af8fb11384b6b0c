/* SPDX-License-Identifier: Apache-2.0 */
#include "loops_kind.h"

LOOPS_KIND(float4, FLOAT4)
