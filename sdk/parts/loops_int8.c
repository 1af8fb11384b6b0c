/* SPDX-License-Identifier: Apache-2.0 */
#include "loops_kind.h"

LOOPS_KIND(int8, INT8)
