/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/coded/kind.h"

LOOPS_KIND(int8, INT8)
