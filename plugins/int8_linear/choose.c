/* SPDX-License-Identifier: Apache-2.0 */
#include "loops.h"

#include "graft/isa.h"

GRAFT_ISA_DECLARE(const struct int8_loops, int8_loops);

static const struct int8_loops *const tables[] = GRAFT_ISA_TABLES(int8_loops);

enum { TABLES = sizeof tables / sizeof tables[0] };

const struct int8_loops *int8_loops_at(int32_t i) {
    return i >= 0 && i < TABLES && i < graft_isa_runnable() ? tables[i] : NULL;
}

const struct int8_loops *int8_loops_get(void) {
    return tables[graft_isa_choose(TABLES)];
}
