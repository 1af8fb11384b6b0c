/* SPDX-License-Identifier: Apache-2.0 */
/* Grammars in GBNF: texts can be generated from an accepted grammar, and a refused one gets a message. */
#include "fuzz/target.h"
#include "fuzz/walk.h"
#include "grammar/gbnf.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct graft_error error = graft_error_none();
    struct graft_rules rules = {0};
    const int status = graft_gbnf_read((const char *)bytes, size, "fuzz.gbnf", &rules, &error);
    use_rules(&rules, status, "fuzz.gbnf", &error, (uint32_t)size);
    return 0;
}
