/* SPDX-License-Identifier: Apache-2.0 */
/* Grammars in GBNF: a grammar that is accepted can be walked, and one that is refused comes with a message. */
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
